#!/bin/sh
# messages.sh - complete messages of ptxloom about options, arguments, launches, objects and traces.
#
# `says STATUS ARGUMENTS... <<END` runs ptxloom and compares its complete error stream, including positions and remedies. The last test fails for a
# message of base/diag.def that no test provokes: those about PTX belong in tests/ptx/reject (checked by tests/unit/test_messages), those about
# machine files in tests/unit/test_conf.c, the others here or in tests/first_commands.sh and tests/output_files.sh.
set -u
. "$srcdir/tests/scratch.sh"

: >seen
says() # STATUS ARGUMENTS...
{
    n=$((n + 1))
    wanted_status=$1
    shift
    cat >wanted
    "$loom" "$@" >out 2>found
    status=$?
    grep -o '\[[EWN][0-9]*\]' found | tr -d '[]' >>seen
    if [ $status -eq "$wanted_status" ] && cmp -s wanted found; then echo "ok $n - $*"; else
        echo "not ok $n - $*"
        echo "# status $status, expected $wanted_status"
        diff wanted found | sed 's/^/# /'
    fi
}

# --- input files of the tests

cat >one.ptx <<'END'
.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u32 n, .param .u64 y) {
.reg .b32 %r<3>; .reg .b64 %d<3>;
ld.param.u32 %r1, [n];
ld.param.u64 %d1, [y];
st.global.u32 [%d1+16], %r1;
ret;
}
END
cat >two.ptx <<'END'
.version 8.6
.target sm_100a
.address_size 64
.visible .entry a() { ret; }
.visible .entry b() { ret; }
END
cat >needs.ptx <<'END'
.version 8.6
.target sm_90
.address_size 64
.extern .global .u32 elsewhere;
.visible .entry k() { .reg .b32 %r; ld.global.u32 %r, [elsewhere]; ret; }
END
cat >wrong.ptx <<'END'
.version 8.6
.target sm_90
.address_size 64
.visible .entry k() { .reg .b64 %d; st.global.u32 [%d+8], 1; ret; }
END
cat >forever.ptx <<'END'
.version 8.6
.target sm_90
.address_size 64
.visible .entry k() { L: bra L; }
END
cat >widths.ptx <<'END'
.version 8.6
.target sm_90
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[5] = {37, 42, 100, 10, 0};
.visible .entry k(.param .u32 first, .param .u32 then) {
    .local .align 8 .b8 args[8]; .reg .u32 %w<3>; .reg .u64 %t, %a; .param .b64 f; .param .b64 a; .param .b32 r;
    ld.param.u32 %w1, [first]; ld.param.u32 %w2, [then]; mov.u64 %t, text; cvta.global.u64 %t, %t; mov.u64 %a, args; cvta.local.u64 %a, %a;
    st.u32 [%a], %w1; st.u32 [%a+4], 7; st.param.b64 [f], %t; st.param.b64 [a], %a;
    call.uni (r), vprintf, (f, a);
    st.u32 [%a], %w2;
    st.param.b64 [f], %t; st.param.b64 [a], %a;
L:  call.uni (r), vprintf, (f, a);
    bra L; }
END
cat >big.ptx <<'END'
.version 8.6
.target sm_90
.address_size 64
.global .b8 small[16];
.global .b8 g[4000000000];
.visible .entry k() { ret; }
END
cat >deep.ptx <<'END'
.version 8.6
.target sm_90
.address_size 64
.visible .entry k() { .local .b8 l[524288]; .reg .u64 %p; mov.u64 %p, l; cvta.local.u64 %p, %p; st.volatile.u8 [%p], 1; ret; }
END
cat >product.ptx <<'END'
.version 9.4
.target sm_107a
.address_size 64
.visible .entry k() { .reg .b32 %r<4>;
mul.f16x2.f16x2.bf16x2 %r1, %r2, %r3;
ret; }
END

# --- modules of later versions: a warning, and the first unknown construct mentions it

printf '.version 9.5\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n' >later.ptx
later="later.ptx:1:10: warning: PTX 9.5 is newer than ptxloom, which knows PTX up to 9.4 [W0319]
     1 | .version 9.5
       |          ^~~"
for command in check as fmt 'run -g 1 -b 1'; do
    says 0 $command later.ptx <<END
$later
END
done
sed 's/9.5/10.0/; s/ret;/new_add.s32 %r1, %r2; bar.new; ret;/' later.ptx >unknown.ptx
says 2 check unknown.ptx <<'END'
unknown.ptx:1:10: warning: PTX 10.0 is newer than ptxloom, which knows PTX up to 9.4 [W0319]
     1 | .version 10.0
       |          ^~~~
unknown.ptx:4:23: error: unknown instruction 'new_add' [E0201]
     4 | .visible .entry k() { new_add.s32 %r1, %r2; bar.new; ret; }
       |                       ^~~~~~~~~~~
  help: the module has .version 10.0, which is newer than ptxloom knows (9.4)
unknown.ptx:4:48: error: unknown modifier '.new' [E0220]
     4 | .visible .entry k() { new_add.s32 %r1, %r2; bar.new; ret; }
       |                                                ^~~~
  help: the form is: bar{.cta}.sync a{, b}
END
sed 's/sm_90/sm_130/' later.ptx >unknown.ptx
says 2 as unknown.ptx <<'END'
unknown.ptx:1:10: warning: PTX 9.5 is newer than ptxloom, which knows PTX up to 9.4 [W0319]
     1 | .version 9.5
       |          ^~~
unknown.ptx:2:9: error: unknown target 'sm_130' [E0313]
     2 | .target sm_130
       |         ^~~~~~
  help: the newest target that ptxloom knows is sm_121; the module has .version 9.5, which is newer than ptxloom knows (9.4)
END
sed 's/(/(.param .u64 p) .newperf 3 {/; s/3 {.*/3 { .newreg x; ret; }/; s/9.5/9.4/' later.ptx >unknown.ptx
says 2 check unknown.ptx <<'END'
unknown.ptx:4:34: error: syntax error at '.newperf' [E0100]
     4 | .visible .entry k(.param .u64 p) .newperf 3 { .newreg x; ret; }
       |                                  ^~~~~~~~
  help: no directive, modifier or type with this name may be here
unknown.ptx:4:47: error: syntax error at '.newreg' [E0100]
     4 | .visible .entry k(.param .u64 p) .newperf 3 { .newreg x; ret; }
       |                                               ^~~~~~~
  help: no directive, modifier or type with this name may be here
END
for version in 0.3 09.4 9.10 8.9 99999.1; do
    sed "s/9.5/$version/" later.ptx >unknown.ptx
    says 2 check unknown.ptx <<END
unknown.ptx:1:10: error: unknown PTX version '$version' [E0312]
     1 | .version $version
       |          $(echo $version | sed 's/./^/; s/[0-9.]/~/g')
END
done

# --- files and options

says 2 check nofile.ptx <<'END'
error: cannot read 'nofile.ptx': No such file or directory [E0001]
END
says 2 check . <<'END'
error: '.' is a folder, not a file [E0009]
  help: name a file inside the folder
END
mkfifo pipe # has no writer
says 2 check /dev/zero <<'END'
error: cannot read '/dev/zero': it is not an ordinary file [E0001]
END
says 2 run one.ptx -g 1 -b 1 u32:1 'u32[8]=@pipe' <<'END'
argument 2:1:1: error: cannot read 'pipe': it is not an ordinary file [E0001]
     1 | u32[8]=@pipe
       | ^~~~~~~~~~~~
END
echo '{"ptx": ["one.ptx", "pipe"], "grid": [1], "block": [1], "args": []}' >pipe.json
says 2 run pipe.json <<'END'
pipe.json:1:21: error: cannot read 'pipe': it is not an ordinary file [E0001]
     1 | {"ptx": ["one.ptx", "pipe"], "grid": [1], "block": [1], "args": []}
       |                     ^~~~~~
END
says 2 as one.ptx -o nowhere/x.plo <<'END'
error: cannot write 'nowhere/x.plo': No such file or directory [E0002]
END
echo "a note" >note.txt
says 2 as one.ptx -o note.txt <<'END'
error: 'note.txt' exists and is not an object of ptxloom [E0015]
  help: choose another name, or replace it with --force
END
"$loom" run one.ptx -g 1 -b 32 u32:1 'u32[64]' --trace whole.db >/dev/null
says 2 export whole.db -f csv -o . <<END
error: the folder '.' holds other files, such as '$(ls -f | grep -vx '\.\.*' | head -n 1)' [E0016]
END
says 2 fmt one.ptx --frob <<'END'
error: unknown option '--frob' of 'ptxloom fmt' [E0003]
  help: `ptxloom fmt --help` lists the options
END
says 2 run one.ptx --arch <<'END'
error: option '--arch' needs a value [E0004]
  help: --arch MACHINE: GPU to model: a name, or the path of a .conf file (h200)
END
says 2 as one.ptx -O7 <<'END'
error: '7' is not a value for -O: it is 0 or 2 [E0005]
END
says 2 as one.ptx -v=3 <<'END'
error: '3' is not a value for -v: it takes no value [E0005]
END
says 2 exec ./no-such-program <<'END'
error: cannot run './no-such-program': No such file or directory [E0030]
END
says 2 runn <<'END'
error: unknown command 'runn' [E0006]
  help: did you mean 'run'?
END
says 2 as <<'END'
error: 'ptxloom as' needs a PTX file [E0007]
  help: ptxloom as kernel.ptx -v
END
explains() # CODE TEXT
{
    n=$((n + 1))
    "$loom" explain "$1" >found 2>&1
    if [ "$(head -1 found)" = "$1: $2" ]; then echo "ok $n - explain $1"; else
        echo "not ok $n - explain $1"
        sed 's/^/# /' found
    fi
}
explains E0410 "kernel 'X' has N parameters, but N arguments given"
explains E0353 "'.vN .X' is not a vector type"
explains W1007 'X'
"$loom" explain stall_long_scoreboard race >found 2>&1
grep -q '^  waits for data from L1, L2 or DRAM' found && grep -q '^  race-raw$' found && echo "ok $((n += 1)) - explain a stall reason and a checker" ||
    echo "not ok $((n += 1)) - explain a stall reason and a checker"
for tool in mem race init sync deadlock; do "$loom" explain $("$loom" explain $tool | sed -n 's/^  \([a-z]*-[a-z-]*\)$/\1/p'); done >found 2>&1
awk 'length > 100 { long = 1 } /^[a-z].* - finding of/ { kinds++ } END { exit long || kinds < 30 }' found && echo "ok $((n += 1)) - explanations of findings have at most 100 columns" ||
    echo "not ok $((n += 1)) - explanations of findings have at most 100 columns"
names=$(sed -n 's/^sreg \([a-z0-9_]*\) .*/%\1/p' "$root/isa/table/ptx.isa"; sed -n 's/.*DIRECTIVE([A-Z_]*, "\(\.[a-z_]*\)".*/\1/p' "$root/ptx/directives.def")
"$loom" explain $names %tid.x %cluster_nctaid.z >found 2>&1
[ "$(grep -cE '^[%.][a-z0-9_]+ - (special register|directive)$' found)" -eq "$(echo $names a b | wc -w)" ] && grep -q '^  type .pred$' found && [ "$(echo $names | wc -w)" -gt 120 ] &&
    echo "ok $((n += 1)) - explain every special register and directive" || echo "not ok $((n += 1)) - explain every special register and directive"
says 2 explain %tid.u .maxntidd laneid %laneid.x <<'END'
error: unknown topic '%tid.u' [E0008]
  help: did you mean '%tid'?
error: unknown topic '.maxntidd' [E0008]
  help: did you mean '.maxntid'?
error: unknown topic 'laneid' [E0008]
  help: did you mean '%laneid'?
error: unknown topic '%laneid.x' [E0008]
  help: did you mean '%laneid'?
END
says 2 explain addd <<'END'
error: unknown topic 'addd' [E0008]
  help: did you mean 'add'?
END
says 2 explain sm__warps_act <<'END'
error: unknown topic 'sm__warps_act' [E0008]
  help: metrics with this prefix: sm__warps_active.avg.pct_of_peak_sustained_active, sm__warps_active.sum.pct_of_peak_sustained_active, sm__warps_active.max.pct_of_peak_sustained_active, sm__warps_active.min.pct_of_peak_sustained_active
END
says 2 explain hot_line <<'END'
error: unknown topic 'hot_line' [E0008]
  help: did you mean 'hot_lines'?
END
says 2 run a.json 3 <<'END'
error: '3' cannot be used with launch files [E0010]
  help: arguments are given with a PTX file, or inside launch files
END
says 2 run one.ptx --check memory <<'END'
error: 'memory' is not a value for --check: it is a list of mem, race, init, sync or all [E0005]
END

# --- checkers

cat >race.ptx <<'END'
.version 8.6
.target sm_90
.address_size 64
.visible .entry swap(.param .u64 y) {
.reg .b32 %r<6>; .reg .b64 %d<3>; .reg .pred %p;
.shared .align 4 .b8 tile[256];
ld.param.u64 %d1, [y];
mov.u32 %r1, %tid.x;
shl.b32 %r2, %r1, 2;
mov.u32 %r3, tile;
add.u32 %r2, %r2, %r3;
st.shared.u32 [%r2], %r1;
xor.b32 %r4, %r1, 32;
shl.b32 %r4, %r4, 2;
add.u32 %r4, %r4, %r3;
ld.shared.u32 %r5, [%r4];
st.global.u32 [%d1], 7;
setp.gt.u32 %p, %r5, 99;
@%p st.global.u32 [%d1], %r5;
ret;
}
END
cat >unset.ptx <<'END'
.version 8.6
.target sm_90
.address_size 64
.visible .entry unset(.param .u64 x, .param .u64 y) {
.reg .b32 %r<9>; .reg .b64 %d<4>; .reg .pred %p;
.shared .align 4 .b8 tile[12];
ld.param.u64 %d1, [x];
ld.param.u64 %d2, [y];
ld.shared.u32 %r1, [tile+8];
setp.ne.u32 %p, %r1, 0;
@%p bra done;
ld.shared.u32 %r2, [tile];
cvt.u64.u32 %d3, %r2;
add.u64 %d3, %d3, %d2;
st.global.u32 [%d3], 7;
red.global.add.u32 [%d1], 1;
ld.shared.u32 %r3, [tile+4];
shl.b32 %r4, %r3, 2;
st.global.u32 [%d2+4], %r4;
done: ret;
}
END
says 1 run unset.ptx -g 1 -b 1 'u32[1]' 'out:u32[2]' --check init --mode functional <<'END'
unset.ptx:11:5: error: kernel 'unset': init-branch: a branch depends on byte 8 of 'tile' in shared memory, which is uninitialised (thread 0,0,0 of block 0,0,0) [E1001]
    11 | @%p bra done;
       |     ^
  help: write it first, and put __syncthreads() between the write and the read
unset.ptx:9:1: note: the value comes from here: thread 0,0,0 of block 0,0,0 [N1005]
     9 | ld.shared.u32 %r1, [tile+8];
       | ^
unset.ptx:15:1: error: kernel 'unset': init-address: an address depends on byte 0 of 'tile' in shared memory, which is uninitialised (thread 0,0,0 of block 0,0,0) [E1001]
    15 | st.global.u32 [%d3], 7;
       | ^
  help: write it first, and put __syncthreads() between the write and the read
unset.ptx:12:1: note: the value comes from here: thread 0,0,0 of block 0,0,0 [N1005]
    12 | ld.shared.u32 %r2, [tile];
       | ^
unset.ptx:16:1: error: kernel 'unset': init-atomic: the result of an atomic operation depends on element 0 of argument 1 (x) (u32[1]) in global memory, which is uninitialised (thread 0,0,0 of block 0,0,0) [E1001]
    16 | red.global.add.u32 [%d1], 1;
       | ^
  help: fill it before the launch (cudaMemset, cudaMemcpy; "init" in a launch file)
unset.ptx:19:1: error: kernel 'unset': init-output: element 1 of the output argument 2 (y) depends on byte 4 of 'tile' in shared memory, which is uninitialised (thread 0,0,0 of block 0,0,0) [E1001]
    19 | st.global.u32 [%d2+4], %r4;
       | ^
  help: write it first, and put __syncthreads() between the write and the read
unset.ptx:17:1: note: the value comes from here: thread 0,0,0 of block 0,0,0 [N1005]
    17 | ld.shared.u32 %r3, [tile+4];
       | ^
END
says 0 run unset.ptx -g 1 -b 1 'u32[1]=0' 'out:u32[2]' --check mem --mode functional <<'END'
END
says 1 run race.ptx -g 1 -b 64 'u32[1]' --check race --mode functional <<'END'
race.ptx:16:1: error: kernel 'swap': race-raw: thread 32,0,0 of block 0,0,0 reads byte 0 of 'tile' in shared memory, and thread 0,0,0 of block 0,0,0 writes it at line 12 (the value 0x0); nothing orders the two (64 times) [E1001]
    16 | ld.shared.u32 %r5, [%r4];
       | ^
  help: no barrier between line 12 and line 16 orders the threads: put __syncthreads() there
race.ptx:12:1: note: the other access: thread 0,0,0 of block 0,0,0 [N1003]
    12 | st.shared.u32 [%r2], %r1;
       | ^
race.ptx:17:1: warning: kernel 'swap': race-same-value: thread 1,0,0 of block 0,0,0 writes element 0 of argument 1 (y) (u32[1]) in global memory (the value 0x7), and thread 0,0,0 of block 0,0,0 writes it by the same instruction (the value 0x7); nothing orders the two (63 times) [W1002]
    17 | st.global.u32 [%d1], 7;
       | ^
  help: the result is the same in any order; let one thread write, or write with an atomic operation
END
says 1 run race.ptx -g 1 -b 64 'u32[1]' --check all --check-limit 1 --mode functional <<'END'
race.ptx:16:1: error: kernel 'swap': race-raw: thread 32,0,0 of block 0,0,0 reads byte 0 of 'tile' in shared memory, and thread 0,0,0 of block 0,0,0 writes it at line 12 (the value 0x0); nothing orders the two (64 times) [E1001]
    16 | ld.shared.u32 %r5, [%r4];
       | ^
  help: no barrier between line 12 and line 16 orders the threads: put __syncthreads() there
race.ptx:12:1: note: the other access: thread 0,0,0 of block 0,0,0 [N1003]
    12 | st.shared.u32 [%r2], %r1;
       | ^
note: 2 more findings [N1004]
END

cat >place.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.visible .entry turn(.param .u64 y) {
.reg .b32 %r<6>; .reg .b64 %d;
.shared .align 4 .b8 tile[256];
mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; xor.b32 %r3, %r2, 128; mov.u32 %r4, tile; add.u32 %r2, %r4, %r2; add.u32 %r3, %r4, %r3;
st.shared.u32 [%r2], %r1; ld.shared.u32 %r5, [%r3];
mov.u64 %d, 4096; st.global.u32 [%d], %r5; ret; }
END
says 1 run place.ptx -g 1 -b 64 'u32[1]' --check race,mem --mode functional <<'END'
place.ptx:8:1: error: kernel 'turn': race-raw: thread 32,0,0 of block 0,0,0 reads byte 0 of 'tile' in shared memory, and thread 0,0,0 of block 0,0,0 writes it at line 8 (the value 0x0); nothing orders the two (64 times) [E1001]
     8 | st.shared.u32 [%r2], %r1; ld.shared.u32 %r5, [%r3];
       | ^
  help: both accesses are made at line 8: if threads pass values to each other, put __syncthreads() between the two; if they update one value, use an atomic operation
place.ptx:8:1: note: the other access: thread 0,0,0 of block 0,0,0 [N1003]
     8 | st.shared.u32 [%r2], %r1; ld.shared.u32 %r5, [%r3];
       | ^
place.ptx:9:1: error: kernel 'turn': mem-bounds: store of 4 bytes at 0x1000; no allocation is near (thread 0,0,0 of block 0,0,0) (64 times) [E1001]
     9 | mov.u64 %d, 4096; st.global.u32 [%d], %r5; ret; }
       | ^
  help: pass a pointer to memory of the device (cudaMalloc, cudaMallocManaged, cudaMallocHost), and check what is added to it
END

says 2 as one.ptx --skip-pass=licn <<'END'
error: no pass is called 'licn' [E0012]
  help: did you mean 'licm'?
END
says 2 as one.ptx --skip-pass=gvn,spill <<'END'
error: the pass 'spill' cannot be skipped [E0013]
END
says 2 as one.ptx --tune schedule.leed=3 <<'END'
error: 'schedule.leed=3' is not a setting of the compile target [E0019]
END
says 2 as one.ptx --tune schedule.windows= <<'END'
error: 'schedule.windows=' is not a setting of the compile target [E0019]
END

# --- launches

says 2 run one.ptx -k nix -g 1 -b 32 u32:1 'u32[4]' <<'END'
error: 'one.ptx' has no kernel 'nix' [E0408]
  help: its kernels: k
END
says 2 run two.ptx -g 1 -b 1 <<'END'
error: 'two.ptx' has 2 kernels: say which one to run [E0409]
  help: its kernels: a, b
END
says 2 run one.ptx -g 1 -b 32 u32:1 <<'END'
error: kernel 'k' has 2 parameters, but 1 argument is given [E0410]
  help: the parameters are: .u32 n, .u64 y; for example u32:1 'out:f32[1024]'
END
says 2 run one.ptx -g 1 -b 32 u64:1 u64:2 <<'END'
argument 1:1:1: error: argument 1 (u64) takes 8 bytes, but parameter 'n' has 4 (.u32) [E0411]
     1 | u64:1
       | ^~~~~
END
printf x >s.npy
"$loom" run one.ptx -g 1 -b 1 u32:1 'out=seven.npy:u32[7]' --mode functional >/dev/null
says 2 run one.ptx -g 1 -b 32 u32:1 'u32[8]=@seven.npy' <<'END'
argument 2:1:1: error: cannot take elements from 'seven.npy': it has 7, argument 2 needs 8 [E0414]
     1 | u32[8]=@seven.npy
       | ^~~~~~~~~~~~~~~~~
END
# a file holds as many elements as the buffer, unless an offset says that a part is meant
says 2 run one.ptx -g 1 -b 32 u32:1 'u32[4]=@seven.npy' <<'END'
argument 2:1:1: error: cannot take elements from 'seven.npy': it has 7, argument 2 needs 4 [E0414]
     1 | u32[4]=@seven.npy
       | ^~~~~~~~~~~~~~~~~
  help: write u32[7] to take all elements; for a part, write a launch file with {"file": PATH, "offset": BYTES}
END
printf 0123456 >seven.bin
says 2 run one.ptx -g 1 -b 32 u32:1 'u32[]=@seven.bin' <<'END'
argument 2:1:1: error: cannot take elements from 'seven.bin': it has 7 bytes, argument 2 needs 4 [E0414]
     1 | u32[]=@seven.bin
       | ^~~~~~~~~~~~~~~~
  help: an element of type u32 has 4 bytes: check the type
END
says 2 run one.ptx -g 1 -b 32 u32:1 'f32[4]=hash:1,5,1' <<'END'
argument 2:1:17: error: 'f32[4]=hash:1,5,1' is not an argument: the upper limit is below the lower one [E0416]
     1 | f32[4]=hash:1,5,1
       |                 ^
END
says 2 run one.ptx -g 1 -b 32 u32:1 'f32[4]=hash:1,0,inf' <<'END'
argument 2:1:17: error: 'f32[4]=hash:1,0,inf' is not an argument: a limit is not finite [E0416]
     1 | f32[4]=hash:1,0,inf
       |                 ^~~
END
says 2 run one.ptx -g 1 -b 32 u32:1 'out:y.npy:f32[4]' <<'END'
argument 2:1:5: error: unknown element type 'y.npy' [E0406]
     1 | out:y.npy:f32[4]
       |     ^~~~~
  help: an output to a file is written out=y.npy:f32[1024]
END
cat >dynamic.ptx <<'END'
.version 8.6
.target sm_90
.address_size 64
.extern .shared .align 4 .b8 tile[];
.visible .entry k() {
.reg .b32 %r<3>;
mov.u32 %r1, %tid.x;
mov.u32 %r2, tile;
st.shared.u32 [%r2+4], %r1;
ret;
}
END
says 1 run dynamic.ptx -g 1 -b 32 --shared 4 --mode functional <<'END'
dynamic.ptx:9:1: error: kernel 'k' failed: store of 4 bytes at shared address 0x404; the block has 4 bytes from 0x400 (block 0,0,0, thread 0,0,0) [E0418]
     9 | st.shared.u32 [%r2+4], %r1;
       | ^
  help: a CUDA program would see CUDA_ERROR_ILLEGAL_ADDRESS; 'tile' has the size that the launch gives (run --shared BYTES), here 4 bytes
END
says 2 run one.ptx -g 1 -b 32 u32:1 u32=@seven.npy <<'END'
argument 2:1:1: error: 'u32=@seven.npy' is not an argument: a ':' or '[' is missing [E0416]
     1 | u32=@seven.npy
       | ^~~~~~~~~~~~~~
  help: a buffer from a file is written f32[]=@in.npy
END
says 2 run one.ptx -g 1 -b 32 u32:1 'f16[4]=70000' <<'END'
argument 2:1:8: error: 'f16[4]=70000' is not an argument: f16 holds -65504 to 65504 [E0416]
     1 | f16[4]=70000
       |        ^~~~~
END
printf 'PK\003\004 and so on' >s.npz
says 2 run one.ptx -g 1 -b 32 u32:1 'u32[4]=@s.npz' <<'END'
argument 2:1:1: error: cannot take elements from 's.npz': it is an archive (.npz): save one array with numpy.save [E0414]
     1 | u32[4]=@s.npz
       | ^~~~~~~~~~~~~
END
says 2 run one.ptx -g 1 -b 32 u32:1 'u32[4]=@s.npy' <<'END'
argument 2:1:1: error: cannot take elements from 's.npy': it does not start as a .npy file does [E0414]
     1 | u32[4]=@s.npy
       | ^~~~~~~~~~~~~
END
says 2 run one.ptx -g 1 -b 32 u32:1 'u32[4]=@s.bin' <<'END'
argument 2:1:1: error: cannot read 's.bin': No such file or directory [E0001]
     1 | u32[4]=@s.bin
       | ^~~~~~~~~~~~~
END
cat >mask.ptx <<'END'
.version 8.6
.target sm_90
.address_size 64
.visible .entry k() { .reg .b32 %r; bar.warp.sync 0xffff; ret; }
END
says 0 run mask.ptx -g 1 -b 32 <<'END'
mask.ptx:4:37: warning: kernel 'k': lane 16 executes bar with the mask 0x0000ffff, which does not include it (block 0,0,0, thread 16,0,0) [W0432]
     4 | .visible .entry k() { .reg .b32 %r; bar.warp.sync 0xffff; ret; }
       |                                     ^
END
says 2 run one.ptx -g 1 -b 2000 u32:1 'u32[4]' <<'END'
error: block 2000,1,1: the limits are 1024,1024,64, and 1024 threads [E0415]
END
# 70 values that are live at once
{
    echo '.version 7.0 .target sm_50 .address_size 64'
    echo '.visible .entry live(.param .u64 out) { .reg .b64 %d<2>; .reg .b32 %v<71>; ld.param.u64 %d1, [out];'
    for k in $(seq 1 70); do echo "ld.volatile.global.u32 %v$k, [%d1];"; done
    for k in $(seq 1 70); do echo "st.volatile.global.u32 [%d1], %v$k;"; done
    echo 'ret; }'
} >live.ptx
says 2 run live.ptx -g 1 -b 32 --arch fermi-m2090 'out:u32[1]' <<'END'
error: 75 registers per thread: a thread of fermi-m2090 has at most 63; limit them by .maxnreg in the PTX, or by -maxrregcount of nvcc [E0415]
END
cat >row.json <<'END'
{ "ptx": "one.ptx", "grid": [1], "block": [32], "args": [ {"scalar": "u32", "value": 1}, {"buffer": "u32", "count": 8} ],
  "then": [ {"grid": [1], "block": [32], "dependent": true, "args": [ {"same": 1}, {"same": 4} ]} ] }
END
says 2 run row.json <<'END'
row.json:2:93: error: 'same' is out of range: 1 to 3 [E0405]
     2 |   "then": [ {"grid": [1], "block": [32], "dependent": true, "args": [ {"same": 1}, {"same": 4} ]} ] }
       |                                                                                             ^
END
sed 's/, {"same": 4}//' row.json >row2.json
says 2 run row2.json <<'END'
row2.json:2:13: error: kernel 'k' has 2 parameters, but 1 argument is given [E0410]
     2 |   "then": [ {"grid": [1], "block": [32], "dependent": true, "args": [ {"same": 1} ]} ] }
       |             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  help: the parameters are: .u32 n, .u64 y; for example "args": [{"scalar": "u32", "value": 1}, {"buffer": "f32", "count": 1024, "output": true}]
END
echo '{"ptx": "one.ptx", "grid": 1, "block": 1, "args": [8]}' >number.json
says 2 run number.json <<'END'
number.json:1:52: error: element 0 must be an object, such as {"scalar": "u32", "value": 8} [E0404]
     1 | {"ptx": "one.ptx", "grid": 1, "block": 1, "args": [8]}
       |                                                    ^
END
echo '{"ptx": "one.ptx", "grid": 1, "block": 1, "args": [{"scalar": "u32", "value": 1}, {"buffer": "f32", "count": 1024, "output": true}]}' >number.json
says 0 run number.json --mode functional </dev/null
says 2 run one.ptx -g 1 -b 32 u32:1 'u32[4' <<'END'
argument 2:1:5: error: 'u32[4' is not an argument: the count ends with ']' [E0416]
     1 | u32[4
       |     ^
END
long=$(printf '%040d' 0 | sed 's/0/1]1]/g')
says 2 run one.ptx -g 1 -b 32 u32:1 "u32[]=[$long" <<END
argument 2:1:8: error: 'u32[]=[1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1...' is not an argument: this is not a number that fits 64 bits [E0416]
     1 | u32[]=[1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1]1...
       |        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
END
says 2 run one.ptx -b 32 u32:1 'u32[4]' <<'END'
error: the launch has no grid [E0417]
  help: A launch needs a grid and a block: -g BLOCKS -b THREADS, such as -g 40 -b 256, or the keys "grid" and "block".
END
for mode in timing functional; do
    says 3 run forever.ptx -g 1 -b 32 --timeout 1 --mode $mode <<'END'
forever.ptx:4:26: error: stopped by the time limit while kernel 'k' was running (block 0,0,0, thread 0,0,0) [E0420]
     4 | .visible .entry k() { L: bra L; }
       |                          ^
END
    says 3 run forever.ptx -g 1 -b 32 --max-instructions 1000 --mode $mode <<'END'
forever.ptx:4:26: error: stopped by the limit of 1000 instructions while kernel 'k' was running (block 0,0,0, thread 0,0,0) [E0420]
     4 | .visible .entry k() { L: bra L; }
       |                          ^
  help: run's option --max-instructions sets it
END
done
says 3 run forever.ptx -g 1 -b 32 --max-cycles 5000 <<'END'
forever.ptx:4:26: error: stopped by the limit of 5000 cycles while kernel 'k' was running (block 0,0,0, thread 0,0,0) [E0420]
     4 | .visible .entry k() { L: bra L; }
       |                          ^
  help: run's option --max-cycles sets it
END
says 3 run widths.ptx -g 1 -b 1 --max-output 1M u32:1048500 u32:1000000000 <<'END'
widths.ptx:13:5: error: stopped by the limit of 1048576 bytes of printed text while kernel 'k' was running (block 0,0,0, thread 0,0,0) [E0420]
    13 | L:  call.uni (r), vprintf, (f, a);
       |     ^
  help: run's option --max-output sets it
END
# 1048500 characters of the first call, none of the second
test "$(head -c 1048501 out | tr -d ' ')" = 7 && test "$(head -c 1048501 out | wc -c)" = 1048501 && echo "ok $((n += 1)) - text before the limit" || echo "not ok $((n += 1)) - text before the limit"
# a file that never arrives: the time limit ends the wait
mkfifo never.ptx
says 3 run never.ptx -g 1 -b 32 --timeout 1 <<'END'
error: stopped by the time limit while reading 'never.ptx' [E0420]
END
mkfifo never.json never.conf never.npy
says 3 run never.json --timeout 1 <<'END'
error: stopped by the time limit while reading 'never.json' [E0420]
END
says 3 run one.ptx -g 1 -b 1 u32:1 'u32[8]' --arch ./never.conf --timeout 1 <<'END'
error: stopped by the time limit while reading the machine [E0420]
END
says 3 run one.ptx -g 1 -b 1 u32:1 'u32[8]' --check all --suppressions never.conf --timeout 1 <<'END'
error: stopped by the time limit while reading 'never.conf' [E0420]
END
says 3 run one.ptx -g 1 -b 1 u32:1 'out=never.npy:u32[8]' --timeout 1 <<'END'
error: stopped by the time limit while opening 'never.npy' [E0420]
END
# the reader of a pipe may come later
(sleep 1; wc -c <never.npy >read) &
says 0 run one.ptx -g 1 -b 1 u32:1 'out=never.npy:u32[8]' --timeout 60 </dev/null
wait
test "$(tr -d ' ' <read)" = 160 && echo "ok $((n += 1)) - a pipe as output" || echo "not ok $((n += 1)) - a pipe as output"
# memory: buffers, variables and local memory exceeding the host's
without_numbers() # STATUS LIMIT ARGUMENTS...: `says` under a limit of the address space in KiB, with a # for each number above a million
{
    n=$((n + 1))
    wanted_status=$1 limit=$2
    shift 2
    cat >wanted
    (ulimit -v "$limit"; exec "$loom" "$@") >out 2>err
    status=$?
    sed 's/[0-9]\{7,\}/#/g' err >found
    grep -o '\[[EWN][0-9]*\]' found | tr -d '[]' >>seen
    if [ $status -eq "$wanted_status" ] && cmp -s wanted found; then echo "ok $n - $*"; else
        echo "not ok $n - $*"
        echo "# status $status, expected $wanted_status"
        diff wanted found | sed 's/^/# /'
    fi
}
if (ulimit -v 1000000; "$loom" --version >out 2>&1); then # not with the address sanitizer
    without_numbers 2 1000000 run one.ptx -g 1 -b 32 u32:1 'f32[1000000000]' <<'END'
error: the launch needs # bytes; # is left by the limit on address space (ulimit -v) [E0412]
  help: the largest part is argument 2 (f32[#]) with # bytes: use fewer elements
END
    without_numbers 2 200000 run one.ptx -g 132 -b 32 u32:1 'f32[32]' <<'END'
error: a launch of kernel 'k' needs # bytes; # is left by the limit on address space (ulimit -v) [E0412]
  help: the largest part is the timing model of 132 SMs with # bytes: a higher limit, --mode functional, or a smaller machine
END
    without_numbers 0 200000 run one.ptx -g 132 -b 32 --mode functional u32:1 'f32[32]' </dev/null
    without_numbers 2 1000000 run big.ptx -g 1 -b 32 <<'END'
big.ptx: error: the module needs # bytes; # is left by the limit on address space (ulimit -v) [E0412]
  help: the largest part is variable 'g' with # bytes: declare it smaller
END
    without_numbers 2 1000000 run deep.ptx -g 2000 -b 1024 <<'END'
error: a launch of kernel 'k' needs # bytes; # is left by the limit on address space (ulimit -v) [E0412]
  help: the largest part is local memory of 270336 threads with # bytes: fewer or smaller .local variables, smaller blocks, or --mode functional
END
fi
says 2 as needs.ptx <<'END'
needs.ptx:4:22: error: the module needs 'elsewhere', which is defined nowhere [E0421]
     4 | .extern .global .u32 elsewhere;
       |                      ^~~~~~~~~
  help: name the file that defines it as well, and give it .visible there
END
says 2 run product.ptx -g 1 -b 32 <<'END'
product.ptx:5:1: error: 'mul' (form 'mul.f16x2.f16x2.bf16x2 d, a, c') is known but cannot be executed: the manual does not specify the rounding of bf16 to f16 [E0801]
     5 | mul.f16x2.f16x2.bf16x2 %r1, %r2, %r3;
       | ^~~~~~~~~~~~~~~~~~~~~~
END
"$loom" dis --asm two.ptx -o two.pla
cat >halves.ptx <<'END'
.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) { .reg .b32 %r<4>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [p]; ld.global.b32 %r2, [%rd1]; ld.global.b32 %r3, [%rd1+4];
mul.f16x2 %r1, %r2, %r3;
st.global.b32 [%rd1], %r1; ret; }
END
"$loom" dis --asm halves.ptx | sed 's/mul#[0-9]*.f16x2 R4, R2, R3/mul#10.f16x2.f16x2.bf16x2 R4, R2, R3/' >unsupported.pla
says 2 run unsupported.pla -g 1 -b 32 'u32[2]' <<'END'
halves.ptx:5:1: error: 'mul.f16x2.f16x2.bf16x2 d, a, c' is not executed: the manual does not specify the rounding of bf16 to f16 [E0423]
     5 | mul.f16x2 %r1, %r2, %r3;
       | ^
END
(ulimit -v 80000; { cat one.ptx; yes '.global .b32 x;' | head -200000 | awk '{ print ".global .b32 x" NR ";" }'; } >large.ptx; exec "$loom" as large.ptx) >/dev/null 2>memory
grep -q '^error: out of memory while loading a module \[E0422\]$' memory && echo E0422 >>seen
"$loom" run "$root/examples/matmul.json" --trace l.db --trace-level mem --trace-limit 100K >/dev/null 2>limit
grep -o "^warning: the trace 'l.db' reached its size limit of 100 KiB: [0-9]* events were left out \[W0708\]$" limit | grep -q . && echo W0708 >>seen

# --- traces

"$loom" run one.ptx -g 1 -b 32 u32:1 'u32[64]' --trace a.db >/dev/null
"$loom" run two.ptx -k a -g 1 -b 32 --trace b.db >/dev/null
says 0 query b.db strides <<'END'
warning: query 'strides' needs rows of a trace of level mem, and this one has level inst [W0710]
END
"$loom" run two.ptx -k a -g 1 -b 32 --mode functional --trace f.db >/dev/null
says 0 query f.db stalls <<'END'
warning: query 'stalls' needs launches in timing mode, and all of this trace ran in functional mode [W0714]
END
says 0 query f.db hot_lines </dev/null
cp a.db later.db
printf '\000\000\000\143' | dd of=later.db bs=1 seek=60 conv=notrunc 2>/dev/null
says 2 query one.ptx summary <<'END'
error: 'one.ptx' is not a ptxloom trace [E0701]
  help: traces are written by ptxloom run --trace FILE.db
END
schema=$(od -An -tu1 -j63 -N1 a.db | tr -d ' ') # the last byte of PRAGMA user_version
says 2 query later.db summary <<END
error: 'later.db' has schema 99; this ptxloom reads schema $schema [E0702]
  help: use the ptxloom that wrote it, or a later one
END
says 2 query a.db 'SELEC 1' <<'END'
error: SQL: near "SELEC": syntax error [E0703]
    SELEC 1
    ^
END
says 2 query a.db 'SELECT * FROM kernels' <<'END'
error: SQL: no such table: kernels [E0703]
  help: did you mean 'kernel'?
END
says 2 query a.db 'SELECT * FROM nothing_like_it' <<'END'
error: SQL: no such table: nothing_like_it [E0703]
  help: `ptxloom query FILE sqlite_schema` shows the tables
END
says 2 query a.db 'DELETE FROM kernel' <<'END'
error: a trace is only read, and this would change it: DELETE FROM kernel [E0704]
  help: copy the file and use sqlite3 to change the copy
END
says 2 query a.db summry <<'END'
error: no query, table or view is called 'summry' [E0705]
  help: did you mean 'summary'?
END
says 2 query a.db summary foo=1 <<'END'
error: the query has no parameter for 'foo=1' [E0706]
  help: the parameters of the query are kernel
END
says 2 query a.db 'SELECT 1' foo=1 <<'END'
error: the query has no parameter for 'foo=1' [E0706]
  help: the query has no parameters
END
# before any statement runs
[ -s out ] && echo "not ok $((n += 1)) - an unused value: nothing is printed" || echo "ok $((n += 1)) - an unused value: nothing is printed"
says 2 report a.db --launch 9 <<'END'
error: 'a.db' has no launch 9 [E0707]
  help: `ptxloom query FILE launches` lists them
END
says 3 query a.db 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c' --timeout 1 <<'END'
error: stopped by the time limit [E0712]
END
says 2 run one.ptx -g 1 -b 32 u32:1 'u32[64]' --metrics nope <<'END'
error: no metric is called 'nope' [E0709]
  help: `ptxloom query F.db metric_names` lists the metrics, `ptxloom explain NAME` says what each means.
END

# --- data files, faults, objects

printf 1234567 >y.bin
says 2 run one.ptx -g 1 -b 32 u32:1 'u32[4]=@y.bin' <<'END'
argument 2:1:1: error: 'y.bin' ends too early: argument 2 needs 16 bytes from offset 0, the file has 7 [E0413]
     1 | u32[4]=@y.bin
       | ^~~~~~~~~~~~~
END
says 1 run one.ptx -g 1 -b 1 u32:1 u64:0 --mode functional <<'END'
one.ptx:8:1: error: kernel 'k' failed: store of 4 bytes at 0x10, a null pointer (block 0,0,0, thread 0,0,0) [E0418]
     8 | st.global.u32 [%d1+16], %r1;
       | ^
  help: a CUDA program would see CUDA_ERROR_ILLEGAL_ADDRESS
END
# positions in CUDA source: of the instruction, and of inlined calls
cat >lines.ptx <<'END'
.version 8.6
.target sm_90
.address_size 64
.file 1 "/src/a.cu"
.file 2 "/src/b.cuh"
.visible .entry k(.param .u32 n) {
.reg .pred %p<4>; .reg .b32 %r<2>; .reg .b64 %d<2>;
.loc 1 9 3
ld.param.u32 %r1, [n];
mov.b64 %d1, 64;
setp.eq.u32 %p1, %r1, 1;
setp.eq.u32 %p2, %r1, 2;
.loc 2 5 1, function_name $name, inlined_at 1 9 3
@%p1 st.global.u32 [%d1], 1;
.loc 2 7 1, function_name $name, inlined_at 2 5 1
@%p2 st.global.u32 [%d1], 2;
.loc 1 10 3
st.global.u32 [%d1], 3;
ret;
}
.section .debug_str {
$name:
.b8 102, 0
}
END
"$loom" as lines.ptx -o lines.plo && "$loom" dis lines.plo --asm -o lines.pla && "$loom" as lines.pla -o again.plo
cat >at <<'END'
1 14 @%p1 st.global.u32 [%d1], 1;|b.cuh:5 (inlined at a.cu:9)
2 16 @%p2 st.global.u32 [%d1], 2;|b.cuh:7 (inlined at b.cuh:5, a.cu:9)
3 18 st.global.u32 [%d1], 3;|a.cu:10
END
while IFS='|' read -r text at; do
    argument=${text%% *} text=${text#* }
    line=${text%% *} text=${text#* }
    column=1
    case $text in @*) column=6 ;; esac
    for module in lines.ptx again.plo; do
        says 1 run $module -g 1 -b 1 u32:$argument --mode functional <<END
lines.ptx:$line:$column: error: kernel 'k' failed: store of 4 bytes at 0x40, a null pointer (block 0,0,0, thread 0,0,0) [E0418]
    $line | $text
       | $(printf "%$((column - 1))s")^
  at $at
  help: a CUDA program would see CUDA_ERROR_ILLEGAL_ADDRESS
END
    done
done <at
"$loom" as one.ptx -o one.plo
says 2 run one.plo -g 1 -b 32 u32:1 'u32[64]' --arch wave64 <<'END'
one.plo: error: an object holds a program for warps of 32 lanes, and the machine 'wave64' has warps of 64 [E0615]
END
says 2 run one.ptx -g 1 -b 32 u32:1 'u32[64]' --arch wave64 --mode functional --consistency weak <<'END'
error: weak consistency: it is defined for warps of 32 lanes, and wave64 has 64 [E0415]
END
head -c 900 one.plo >cut.plo
says 2 dis cut.plo <<'END'
cut.plo: error: the object is damaged: it ends before its section headers [E0611]
END
printf x | dd of=one.plo bs=1 seek=104 conv=notrunc 2>dd.txt # the first digit of the table's generation
says 2 dis one.plo <<'END'
one.plo: error: the object was made by another version of ptxloom: it has another instruction table [E0612]
END
{
    printf '\177ELF'
    head -c 300 /dev/zero
} >other.o
says 2 dis other.o <<'END'
other.o: error: not an object of ptxloom: it is for another machine [E0610]
END
"$loom" as one.ptx -o one.plo
says 2 as one.plo one.ptx <<'END'
one.plo: error: 'one.plo' is already linked [E0614]
END
"$loom" dis --asm one.ptx | sed 's/ret/rett/' >bad.pla
says 2 as bad.pla <<'END'
bad.pla:13:5: error: this is not an instruction [E0613]
    13 |     rett ; line=9:1 // ret
       |     ^
END

# --- many errors: only some are shown, the rest is counted

for k in 1 2 3 4; do echo "add.u32 %r$k, 1, 2;"; done | cat two.ptx - >many.ptx
sed -i 's/^\.visible .entry b() { ret; }$/.visible .entry b() {/' many.ptx
echo '}' >>many.ptx
says 2 check many.ptx --max-errors 1 <<'END'
many.ptx:6:9: error: '%r1' is not declared [E0302]
     6 | add.u32 %r1, 1, 2;
       |         ^~~
3 more errors; `ptxloom check --max-errors 0` shows all
END
says 2 as many.ptx --max-errors 3 <<'END'
many.ptx:6:9: error: '%r1' is not declared [E0302]
     6 | add.u32 %r1, 1, 2;
       |         ^~~
many.ptx:7:9: error: '%r2' is not declared [E0302]
     7 | add.u32 %r2, 1, 2;
       |         ^~~
many.ptx:8:9: error: '%r3' is not declared [E0302]
     8 | add.u32 %r3, 1, 2;
       |         ^~~
1 more error; `ptxloom check --max-errors 0` shows all
END
says 2 check many.ptx --max-errors -1 <<'END'
error: '-1' is not a value for --max-errors: a whole number, 0 to 4294967295 [E0005]
END

# --- machine files

says 2 run one.ptx --arch nomachine -g 1 -b 32 u32:1 'u32[4]' <<'END'
error: no machine is called 'nomachine' [E0515]
  help: built-in machines are a100 b200 fermi-m2090 h100 h200 kepler-k40 rtx3090 rtx4090 rtx5090 t4 toy v100 wave64
END

# --- control characters of files are not printed

printf '{ "name": "a\\u001b[31mb\\u009bc", "ptx": "one.ptx", "grid": [1], "block": [32], "args": [ {"scalar": "u32", "value": 1}, {"buffer": "u32", "count": 64} ] }' >escape.json
printf '.version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k() { /* \033[31m\302\233 */ ret; }\n' >escape.ptx
printf 'litmus "title \033]0;x\007";\nglobal x;\nthread 0 @ cta 0 { st.relaxed.gpu.global.u32 [x], 1; }\nthread 1 @ cta 1 { ld.relaxed.gpu.global.u32 r0, [x]; }\nexists 1:r0 == 1;\n' >escape.litmus
for command in "run escape.json" "run escape.json --summary" "run escape.json escape.json --summary" "dis escape.ptx" "litmus escape.litmus" \
    "run escape.json --stack 1 --kernel $(printf 'x\033[1m')"; do
    "$loom" $command >shown 2>&1
    n=$((n + 1))
    if [ -s shown ] && ! LC_ALL=C grep -q "$(printf '[\033\007]')" shown && ! LC_ALL=C grep -q "$(printf '\302\233')" shown; then echo "ok $n - no control characters: $command"; else
        echo "not ok $n - no control characters: $command"
        cat -v shown | sed 's/^/# /'
    fi
done | cat -v >outcome # the name of the last command contains one
cat outcome
n=$((n + 6))

# --- every message has a test

# Provoked above with its complete text and position, or expected elsewhere with line and column.
missing=
cat "$root/tests/first_commands.sh" "$root/tests/output_files.sh" "$root/tests/cudart/findings.txt" | grep -oE '\[[EW][0-9]+\]' | tr -d '[]' >>seen
find "$root/tests" -name '*.c' -o -name '*.ptx' -o -name '*.litmus' | xargs cat | tr -s '\n ' '  ' >tests
for id in $(sed -n -E 's/^DIAG\(([EW]0[04-9][0-9]*|[EWN]10[0-9]*),.*/\1/p' "$root/base/diag.def"); do
    grep -q "$id" seen && continue
    grep -qE "$id\"?,? ([0-9]+|NULL|\"[^\"]*\"),? [0-9]+|\"$id\", [0-9]+}|[0-9]+(:[0-9]+)? $id|[0-3], \"$id\"" tests ||
        missing="$missing $id"
done
n=$((n + 1))
if [ -z "$missing" ]; then echo "ok $n - every message has a test"; else echo "not ok $n - no test provokes$missing"; fi
echo "1..$n"
