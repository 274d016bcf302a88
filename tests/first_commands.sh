#!/bin/sh
# first_commands.sh - first commands of a new user, and the next command suggested by the response; how values are printed, saved and
# compared with expected ones.
set -u
. "$srcdir/tests/scratch.sh"

says() # STATUS TEXT COMMAND...: the error stream contains the text
{
    wanted=$1
    text=$2
    shift 2
    status "$wanted" "$@" && grep -qF -e "$text" said
    test_that "$*: $text"
}
prints() # STATUS TEXT COMMAND...: the output contains the text
{
    wanted=$1
    text=$2
    shift 2
    status "$wanted" "$@" && grep -qF -e "$text" out
    test_that "$*: $text"
}

cp "$root/examples/saxpy.ptx" .
echo '__global__ void k(float *x) { x[threadIdx.x] = 1; }' >k.cu
cp k.cu kernel.txt
printf '\177ELF\002\001\001\000\000\000\000\000\000\000\000\000\001\000\276\000\001\000\000\000' >k.cubin
printf '\177ELF\002\001\001\000\000\000\000\000\000\000\000\000\002\000\076\000\001\000\000\000' >program
printf '\120\355\125\272\001\000\020\000' >k.fatbin
printf '!<arch>\n' >k.a
printf 'BC\300\336' >k.bc
echo '{"ptx": "saxpy.ptx"}' >case.json
saxpy="run saxpy.ptx -g 2 -b 64 --arch toy u32:128 f32:2"
"$loom" $saxpy 'f32[128]=iota' 'out:f32[128]=iota' --trace run.db >/dev/null

# a list of values that the time limit cuts off is no success
status 3 run saxpy.ptx -g 2 -b 64 --arch toy u32:128 f32:2 'f32[128]' 'out=-:f32[60000000]' --timeout 1 &&
    grep -qF 'stopped by the time limit while printing argument 4 [E0420]' said
test_that "the time limit while values are printed"
status 3 run saxpy.ptx -g 2 -b 64 --arch toy u32:128 f32:2 'f32[128]' 'out=-:f32[60000000]' --timeout 1 --json && grep -q '"values": null' out
test_that "--json: no part of a list of values"
echo '{"ptx": "saxpy.ptx", "grid": 1, "block": 32, "args": [{"scalar": "u32", "value": 4}, {"scalar": "f32", "value": 2}, {"buffer": "f32", "count": 4}, {"buffer": "f32", "count": 4, "atol": 1}]}' >atol.json
says 2 "'expect'" run atol.json

# --- the first commands

status 2 && grep -q 'ptxloom run K.ptx -g 4 -b 256' out
test_that "no command: lists the commands, and a first run"
says 2 '`ptxloom run saxpy.ptx -g BLOCKS -b THREADS ARG ...`' saxpy.ptx
says 2 '`nvcc -ptx -arch=sm_90 k.cu -o kernel.ptx`' k.cu
says 2 'run it with `ptxloom run case.json`' case.json
says 2 'query it with `ptxloom query run.db summary`' run.db
says 2 "did you mean 'run'?" rnu
prints 0 '--max-instructions' help run
for command in run check as dis fmt "occupancy -b 32"; do
    says 2 "error: 'k.cu' is CUDA source, not PTX [E0017]" $command k.cu
done
prints 0 '"limit": "warps"' occupancy -b 256 -r 64 --arch t4 --json
prints 0 '"limit": "registers"' occupancy -b 256 -r 128 --arch t4 --json
says 2 'or `clang++ -S --cuda-device-only --cuda-gpu-arch=sm_80 k.cu -o kernel.ptx`' run k.cu
says 2 'nvcc -ptx -arch=sm_90 kernel.txt' run kernel.txt
says 2 "'k.cubin' is machine code for a GPU (cubin), not PTX [E0017]" run k.cubin
says 2 'cuobjdump -xptx all k.fatbin' run k.fatbin
says 2 'cuobjdump -xptx all k.a' run k.a
says 2 "'program' is a program or object for the host, not PTX [E0017]" run program
says 2 'llc -march=nvptx64 -mcpu=sm_90 k.bc' run k.bc
says 2 'query it with `ptxloom query run.db summary`' run run.db
says 2 'run it with `ptxloom run case.json`' as case.json
printf '\n// notes\nhello world\nof text\n' >notes.ptx
says 2 "error: 'notes.ptx' is text that begins with 'hello world', not PTX [E0017]" run notes.ptx
says 2 'PTX begins with .version, .target and .address_size' check notes.ptx
echo '{"ptx": "saxpy.ptx"}' >named.ptx
says 2 "'named.ptx' is JSON, not PTX [E0017]" run named.ptx
printf '\377\376.\0v\0' >wide.ptx
says 2 "'wide.ptx' is text in UTF-16, not PTX [E0017]" run wide.ptx
printf '.\0v\0e\0r\0' >wide.ptx
says 2 "'wide.ptx' is text in UTF-16, not PTX [E0017]" run wide.ptx
says 2 'iconv -f UTF-16 -t ASCII wide.ptx' run wide.ptx
printf '\357\273\277' | cat - saxpy.ptx >marked.ptx
says 2 'marked.ptx:1:1: error: the byte order mark (U+FEFF) is not allowed in PTX' check marked.ptx
says 2 'save the file without a byte order mark' check marked.ptx
printf '\357\273\277hello\n' >marked.ptx
says 2 "is text that begins with 'hello', not PTX [E0017]" check marked.ptx
printf '// \0 comment\n' | cat saxpy.ptx - >zero.ptx
says 2 ':4: error: byte 0x00 is not allowed in PTX' check zero.ptx
says 2 'remove it: a string of C ends with it' check zero.ptx
printf '\013\n' | cat saxpy.ptx - >tab.ptx
says 2 'byte 0x0b is not allowed in PTX' check tab.ptx
printf '\032' | cat saxpy.ptx - >dos.ptx
status 0 check dos.ptx
test_that "the end of a file of DOS is blank"
printf 'ab\001\002' >bytes.ptx
says 2 "'bytes.ptx' is binary data, not PTX [E0017]" run bytes.ptx
echo '.visible .entry k() { ret; }' >unversioned.ptx
says 2 'E03' check unversioned.ptx
cp saxpy.ptx saxpy.cu
status 0 check saxpy.cu
test_that "PTX files may have any name"
says 2 'PTX runs with `ptxloom run saxpy.ptx`' exec saxpy.ptx
cp /bin/true ./program2
says 2 'it is in this folder: write ./program2' exec program2
says 2 'ptxloom exec ./program' exec
says 2 'ptxloom occupancy kernel.ptx -b 256' occupancy
says 2 'its functions: saxpy' dis saxpy.ptx -k zzzzzz
says 2 "'abc' is not a value for limit: a whole number [E0005]" query run.db hot_lines limit=abc
says 0 "query 'warp_trace' has no row for block=99 [W0715]" query run.db warp_trace block=99
says 0 "query 'warp_trace' has no row for block=1 warp=7 [W0715]" query run.db warp_trace block=1 warp=7 limit=3
status 0 query run.db warp_trace block=1 && ! grep -q W0715 said
test_that "a block that exists"
says 0 'no kernel that ran fits --check-kernel main [W1008]' $saxpy 'f32[128]=iota' 'out:f32[128]=iota' --check all --check-kernel main
status 0 $saxpy 'f32[128]=iota' 'out:f32[128]=iota' --check all --check-kernel 'sax*' && ! grep -q W1008 said
test_that "--check-kernel sax* fits the kernel"
says 2 "for example -g 1 -b 32 u32:1 f32:1 'out:f32[1024]' 'out:f32[1024]'" run saxpy.ptx
says 2 "for example u32:1 f32:1 'out:f32[1024]' 'out:f32[1024]'" $saxpy
"$loom" run saxpy.ptx -g 1 -b 32 u32:1 f32:1 'out:f32[1024]' 'out:f32[1024]' >out 2>said
test_that "the example of that message runs"
says 2 'its kernels: saxpy' run saxpy.ptx -k main -g 1 -b 1
sed 's/saxpy/_Z5saxpyIfEvjT_PKS0_PS0_/' saxpy.ptx >mangled.ptx
says 2 "did you mean '_Z5saxpyIfEvjT_PKS0_PS0_'?" run mangled.ptx -k saxpy -g 1 -b 1
says 2 'a number is written u32:1024, a buffer f32[1024]=0' run saxpy.ptx -g 1 -b 32 128 2 x y
says 2 'ptxloom run kernel.ptx -g BLOCKS -b THREADS ARG ...' run
for command in check as fmt dis litmus query report diff shell explain; do
    says 2 '  help: ' $command
done
says 2 "'run.db' has no launch 9 [E0707]" query run.db hot_lines kernel=9
says 2 "'run.db' has no launch saxpy [E0707]" query run.db hot_lines kernel=saxpy
prints 0 fma query run.db hot_lines kernel=1
says 2 "'run.db' has no launch 9 [E0707]" export run.db --launch 9 -o -
says 2 "'run.db' has no launch 9 [E0707]" report run.db --launch 9 -o x.html
says 2 'the trace has no block on this multiprocessor' export run.db --sm 77 -o -

# --- files that are not there, and words of other tools

says 2 "did you mean 'saxpy.ptx'?" run sxapy.ptx
says 2 "did you mean './saxpy.ptx'?" check ./saxpi.ptx
says 2 "did you mean 'run.db'?" query ran.db
says 2 'traces are written by ptxloom run --trace FILE.db' query nothing_alike.db
says 2 "cannot read './nosuch.conf': No such file or directory [E0001]" occupancy -b 32 -r 32 --arch ./nosuch.conf
says 2 'standard input is named /dev/stdin' check -
says 2 'name a file inside the folder' run .
says 2 '`ptxloom as kernel.ptx`' compile saxpy.ptx
says 2 '`ptxloom exec --summary ./program`' ncu ./program
says 2 '`ptxloom exec --check all ./program`' compute-sanitizer ./program
says 2 '`ptxloom --version`' machines
says 2 'it is a machine: ptxloom run kernel.ptx ... --arch toy' explain toy
says 2 '--arch MACHINE: GPU to model' run --arch
says 2 '--metrics NAME,...|all: print these metrics' run saxpy.ptx --metrics
says 2 'the decimal separator is a point: 2.5' run saxpy.ptx -g 1 -b 32 u32:1 f32:2,5 'f32[4]' 'f32[4]'
says 2 'ptxloom shell F.db has commands that begin with a point' query run.db .tables
says 2 'a litmus test begins with litmus' litmus saxpy.ptx
for command in 'occupancy -b 32 -r 32' "litmus $root/examples/sb.litmus --runs 9"; do
    # shellcheck disable=SC2086
    n=$((n + 1))
    if [ "$("$loom" $command 2>&1 >/dev/full | grep -c 'No space left')" = 1 ]; then echo "ok $n - a full disk is named once: $command"; else echo "not ok $n - a full disk: $command"; fi
done

# --- names of other tools and languages, counts of one, missing options

says 2 "did you mean 'f32'?" $saxpy 'float[128]' 'f32[128]'
says 2 "did you mean 's64'?" $saxpy 'i64[128]' 'f32[128]'
says 2 "did you mean 'u8'?" $saxpy 'uint8_t[128]' 'f32[128]'
says 2 "did you mean '--mode'?" $saxpy --MODE timing
says 2 "did you mean 'l1.size'?" $saxpy --arch toy,l1.sise=4 'f32[128]' 'f32[128]'
status 2 $saxpy --arch toy,l1.size=abc 'f32[128]' 'f32[128]' && [ "$(cat said)" = "error: 'size = abc': expected a whole number [E0508]" ]
test_that "a value of the command line: one error, without a line of the file"
for price in alu sreg; do
    status 2 $saxpy --arch toy,price.$price=fast 'f32[128]' 'f32[128]' && [ "$(grep -c error: said)" = 1 ]
    test_that "the price $price of the command line: one error"
done
status 2 $saxpy --arch toy,l1.size=16 'f32[128]' 'f32[128]' && [ "$(grep -c E0510 said)" = 1 ]
test_that "sizes of shared memory that do not fit: one error"
says 2 'has 4 parameters, but 1 argument is given' run saxpy.ptx -g 1 -b 1 u32:1
says 2 '  help: A launch needs a grid and a block: -g BLOCKS -b THREADS' run saxpy.ptx -b 1 u32:1 f32:1 'f32[1]' 'f32[1]'

# --- options without effect

says 2 "'--trace-level' has no effect without '--trace' [E0020]" $saxpy 'f32[128]' 'f32[128]' --trace-level mem
says 2 "'--schedules' has no effect without '--check' [E0020]" $saxpy 'f32[128]' 'f32[128]' --mode functional --schedules 2

says 2 "error: '--schedule' cannot be used with --mode timing [E0010]" $saxpy 'f32[128]' 'f32[128]' --schedule random:1
status 0 $saxpy 'f32[128]' 'f32[128]' --schedule random:1 --mode functional
test_that "--schedule in functional mode"
prints 3 "no trace: the run was stopped before its end" $saxpy 'f32[128]' 'f32[128]' --max-cycles 9 --trace stopped.db
[ ! -e stopped.db ]
test_that "a stopped run writes no trace"
says 2 "'--max-cycles' cannot be used with --mode functional" $saxpy 'f32[128]' 'f32[128]' --max-cycles 9 --mode functional
says 0 "the trace 'n.db' has no events: nothing that ran matches --trace-kernel other [W0713]" $saxpy 'f32[128]' 'f32[128]' --trace n.db --trace-kernel other
says 0 "matches --trace-sm 99 --trace-class fma [W0713]" $saxpy 'f32[128]' 'f32[128]' --trace n.db --trace-sm 99 --trace-class fma
says 0 "matches --trace-sm 99 [W0713]" $saxpy 'f32[128]' 'f32[128]' --trace n.db --trace-sm 99 --trace-format packed
status 0 $saxpy 'f32[128]' 'f32[128]' --trace n.db --trace-warp 0 && [ ! -s said ]
test_that "no warning for a valid option"
says 0 "argument 1 (f32) is a floating-point number, but parameter 'n' is .u32 [W0433]" run saxpy.ptx -g 1 -b 32 f32:0 f32:2 'f32[32]' 'f32[32]'
says 0 "argument 2 (u32) is an integer, but parameter 'a' is .f32 [W0433]" run saxpy.ptx -g 1 -b 32 u32:0 u32:2 'f32[32]' 'f32[32]'
says 0 'write it as f32:VALUE' run saxpy.ptx -g 1 -b 32 u32:0 u32:2 'f32[32]' 'f32[32]'

# --- values

prints 0 '= 0.1 1.1 2.1 3.1 4.1 5.1 6.1 7.1 ...' $saxpy 'f32[128]=0.05' 'out:f32[128]=iota'
prints 0 '= 0 3 6 9 12 15 18 21 24 27 30 33 36 39 ...' $saxpy 'f32[128]=iota' 'out:f32[128]=iota' --print 14
prints 0 ' 375 378 381' $saxpy 'f32[128]=iota' 'out:f32[128]=iota' --print all
prints 0 ' 375 378 381' $saxpy 'f32[128]=iota' 'out=-:f32[128]=iota'
prints 0 '"values": [0.1, 0.1, 0.1]' $saxpy 'f32[128]=0' 'out:f32[128]=0.1' --print 3 --json
prints 0 '"values": ["nan", "inf"]' $saxpy 'f32[128]=[nan'"$(printf ',inf%.0s' $(seq 127))"']' 'out:f32[128]=0' --print 2 --json
status 0 $saxpy 'f32[128]=0' 'out:f32[128]=0.1' --json && ! grep -q '"values"' out
test_that "--json without --print has checksums only"
says 2 "'some' is not a value for --print" $saxpy 'f32[128]' 'f32[128]' --print some
says 2 "'y.txt' has an unknown type: outputs are .npy or .bin files [E0018]" $saxpy 'f32[128]' 'out=y.txt:f32[128]'
[ ! -e y.txt ]
test_that "no file of that name is written"

# --- variables of the module, and expected values

cat >module.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.global .u32 total = 40;
.const .f32 scale[4] = { 1.0, 2.0, 3.0, 4.0 };
.visible .entry k(.param .u64 y)
{
    .reg .b32 %r<4>; .reg .f32 %f<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [y];
    mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; mov.u64 %rd3, scale; add.u64 %rd3, %rd3, %rd2;
    ld.const.f32 %f1, [%rd3]; add.u64 %rd1, %rd1, %rd2; st.global.f32 [%rd1], %f1;
    atom.global.add.u32 %r2, [total], 1;
    ret;
}
END
k="run module.ptx -g 1 -b 4 --mode functional"
prints 0 'variable total u32[1] = 44' $k 'f32[4]' 'var=total:out:u32[]'
prints 0 'variable total u32[1] = 11' $k 'f32[4]' 'var=total:out:u32[1]=7'
prints 0 'argument 1  f32[4] = 0.1 0.2 3 4' $k 'out:f32[4]' 'var=scale:f32[2]=[0.1,0.2]'
prints 0 '"variable": "total"' $k 'f32[4]' 'var=total:out:u32[]' --json
says 2 "the module has no variable 'totl' [E0435]" $k 'f32[4]' 'var=totl:u32[1]'
says 2 "did you mean 'total'?" $k 'f32[4]' 'var=totl:u32[1]'
says 2 'its variables: total, scale' $k 'f32[4]' 'var=other:u32[1]'
says 2 "variable 'total' has 4 bytes, not 2 elements of u32 [E0436]" $k 'f32[4]' 'var=total:u32[2]'
says 2 'variables (var=...) follow the arguments of the kernel' $k 'var=total:u32[1]' 'f32[4]'

launch() # KEYS...: a launch file of the module
{
    echo "{\"ptx\": \"module.ptx\", \"grid\": 1, \"block\": 4, $1}" >launch.json
}
launch '"args": [{"buffer": "f32", "count": 4, "expect": [1, 2, 3, 4]}]'
prints 0 'k on h200 (functional): ok, grid 1,1,1 block 4,1,1' run launch.json --mode functional
launch '"args": [{"buffer": "f32", "count": 4, "expect": [1, 2.001, 3, 4.1]}]'
says 1 'argument 1: element 1 is 2, not 2.001 [E0434]' run launch.json --mode functional
says 1 'help: 2 of 4 elements differ' run launch.json --mode functional
prints 1 '(functional): differs' run launch.json --mode functional
prints 1 '"status": "differs"' run launch.json --mode functional --json
launch '"args": [{"buffer": "f32", "count": 4, "expect": [1, 2.001, 3, 4.1], "rtol": 0.001}]'
says 1 'argument 1: element 3 is 4, not 4.1 [E0434]' run launch.json --mode functional
launch '"args": [{"buffer": "f32", "count": 4, "expect": [1, 2.001, 3, 4.1], "rtol": 0.001, "atol": 0.1}]'
status 0 run launch.json --mode functional
test_that "a tolerance, absolute and relative"
launch '"args": [{"buffer": "f32", "count": 4, "expect": {"hash": 3}}]'
says 1 '[E0434]' run launch.json --mode functional
launch '"args": [{"buffer": "f32", "count": 4, "expect": [1, 2, 3]}]'
says 2 'is out of range: 4 values are needed [E0405]' run launch.json --mode functional
launch '"args": [{"buffer": "f32", "count": 1, "expect": [1, 2]}]'
says 2 'is out of range: 1 value is needed [E0405]' run launch.json --mode functional
launch '"args": [{"buffer": "f32", "count": 4, "expect": [1, 2, 3, 4], "atol": -1}]'
says 2 "'atol' is out of range" run launch.json --mode functional
launch '"args": [{"buffer": "f32", "count": 4}], "variables": {"total": {"buffer": "u32", "init": [7], "expect": [11]}, "scale": {"buffer": "f32", "output": true}}'
prints 0 'variable scale f32[4] = 1 2 3 4' run launch.json --mode functional
launch '"args": [{"buffer": "f32", "count": 4}], "variables": {"total": {"buffer": "u32", "init": [7], "expect": [12]}}'
says 1 "variable 'total': element 0 is 11, not 12 [E0434]" run launch.json
launch '"args": [{"buffer": "f32", "count": 4}], "variables": {"total": {"scalar": "u32", "value": 7}}'
says 2 "'total' must be a buffer" run launch.json
launch '"args": [{"buffer": "f32", "count": 4, "save": "-"}]'
prints 0 'f32[4] = 1 2 3 4' run launch.json
echo "1..$n"
