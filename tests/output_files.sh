#!/bin/sh
# output_files.sh - files written by ptxloom: existing files of another kind are not overwritten, an unwritable output is detected
# before the work, and a failed write does not destroy an existing file.
set -u
. "$srcdir/tests/scratch.sh"

saxpy() # ARGUMENTS OPTIONS...: a launch of 128 elements
{
    wanted=$1
    shift
    status "$wanted" run saxpy.ptx -g 2 -b 64 --arch toy u32:128 f32:2 'f32[128]=iota' "$@"
}

cp "$root/examples/saxpy.ptx" "$root/examples/matmul.ptx" .
saxpy 0 'out:f32[128]=iota' --trace run.db
test_that "a trace"

# --- foreign files are preserved; own files are replaced

echo "my notes" >notes
cp notes keep
for command in "report run.db -o" "export run.db -o" "export run.db -f csv -t kernel -o" "export run.db -f ndjson -o" \
    "as matmul.ptx -o" "dis matmul.ptx -o" "dis --asm matmul.ptx -o"; do
    status 2 $command notes && grep -q "error: 'notes' exists and is not .* \[E0015\]" said && cmp -s notes keep
    test_that "$command: a file of another kind is rejected"
    status 0 $command mine && status 0 $command mine && cp notes mine && status 0 $command mine --force && ! cmp -s mine notes
    test_that "$command: a file of its own kind is replaced, any other with --force"
    status 2 $command nowhere/at/all && grep -q "No such file or directory \[E0002\]" said
    test_that "$command: nonexistent folder"
    status 2 $command . && grep -q "\[E0002\]\|\[E0016\]" said
    test_that "$command: a folder is not a file"
    status 3 $command /dev/full && grep -q "error: cannot write '/dev/full': No space left on device \[E0002\]" said
    test_that "$command: full device"
    : >mine
    status 0 $command mine && [ -s mine ]
    test_that "$command: an empty file is replaced"
    rm mine
done

saxpy 2 'out:f32[128]=iota' --trace notes && grep -q "'notes' exists and is not a trace of ptxloom \[E0015\]" said && cmp -s notes keep && [ ! -s out ]
test_that "run --trace: a file of another kind is rejected before the launch"
cp notes raw.bin
saxpy 2 'out=raw.bin:f32[128]=iota' && grep -q E0015 said && cmp -s raw.bin keep
test_that "out=: a file of another size is rejected"
saxpy 2 'out=nowhere/y.npy:f32[128]=iota' && grep -q E0002 said && ! grep -q 'on toy' out
test_that "out=: an unwritable path is detected before the launch"
saxpy 2 'out:f32[128]=iota' --trace nowhere/x.db && grep -q E0002 said && ! grep -q 'on toy' out
test_that "--trace: an unwritable path is detected before the launch"
status 2 run saxpy.ptx -g 2 -b 64 --arch toy u32:128 f32:2 'out=both.npy:f32[128]=iota' 'out=both.npy:f32[128]=iota' &&
    grep -qF "'both.npy' is the file of two outputs [E0022]" said && [ ! -e both.npy ]
test_that "out=: two arguments with one file"
saxpy 2 'out=both.raw:f32[128]=iota' --trace both.raw && grep -qF "'both.raw' is the file of two outputs [E0022]" said
test_that "out=: the file of the trace"
saxpy 0 'out=/dev/null:f32[128]=iota' && status 0 run saxpy.ptx -g 2 -b 64 --arch toy u32:128 f32:2 'out=/dev/null:f32[128]' 'out=/dev/null:f32[128]'
test_that "out=: devices take several outputs"
saxpy 0 'out=y.npy:f32[128]=iota' && saxpy 0 'out=y.npy:f32[128]=hash:1' && saxpy 0 'out=raw.bin:f32[128]=iota' --force
test_that "out=: a .npy file is replaced, any file with --force"
printf '{"ptx": "saxpy.ptx", "grid": [2], "block": [64], "args": [{"scalar": "u32", "value": 128}, {"scalar": "f32", "value": 2}, {"buffer": "f32", "count": 128}, {"buffer": "f32", "count": 128, "save": "keep.bin"}]}' >case.json
cp keep keep.bin
status 2 run case.json --mode functional && grep -q E0015 said && cmp -s keep keep.bin
test_that "save: a file of another size is rejected"

# --- tables in a folder

status 0 export run.db -f csv -o tables && status 0 export run.db -f csv -o tables
test_that "tables are written to a folder, and overwritten"
cp notes tables/
status 2 export run.db -f csv -o tables && grep -q "error: the folder 'tables' holds other files, such as 'notes' \[E0016\]" said
test_that "a folder with a foreign file is rejected"
rm tables/notes
cp notes tables/kernel.csv
rm tables/access.csv
status 2 export run.db -f csv -o tables && grep -q "'tables/kernel.csv' exists and is not" said && [ ! -e tables/access.csv ]
test_that "a folder with a foreign file named like a table is rejected before any table is written"
status 0 export run.db -f csv -o tables --force && head -n 1 tables/kernel.csv | grep -q ^id,
test_that "--force replaces the foreign file"

# --- a file size limit simulates a full disk: no existing data is lost

"$loom" report run.db -o page.html >/dev/null
"$loom" export run.db -o events.json
"$loom" as matmul.ptx -o matmul.plo
saxpy 0 'out=y.npy:f32[2048]=iota'
cp -R . ../"${scratch##*/}".copy
limited() # COMMAND...
{
    (
        ulimit -f 1
        "$loom" "$@" >/dev/null 2>/dev/null
    )
    [ $? -eq 3 ]
}
for command in "report run.db -o page.html" "export run.db -o events.json" "as matmul.ptx -o matmul.plo" "fmt -w matmul.ptx" \
    "export run.db -f csv -o tables" "run saxpy.ptx -g 2 -b 64 --arch toy u32:128 f32:2 f32[128] out=y.npy:f32[2048]" \
    "run saxpy.ptx -g 2 -b 64 --arch toy u32:128 f32:2 f32[128] f32[128] --trace run.db" "dis matmul.ptx -o new.txt"; do
    limited $command && [ ! -e new.txt ] && diff -r . ../"${scratch##*/}".copy >said
    test_that "$command: a full disk leaves existing files unchanged"
done
rm -rf ../"${scratch##*/}".copy
saxpy 3 'out=/dev/full:f32[128]=iota' && grep -q "No space left on device" said && grep -q 'timing): ok' out
test_that "a launch whose output cannot be saved is still run"

# --- file ownership and names

chmod 640 matmul.ptx
ln -s matmul.ptx link.ptx
echo "// one more line" >>matmul.ptx
status 0 fmt -w link.ptx && [ -h link.ptx ] && [ "$(ls -l matmul.ptx | cut -c1-10)" = -rw-r----- ]
test_that "fmt -w preserves links and permissions"
ln -s nowhere.html broken
status 2 report run.db -o broken && [ ! -e nowhere.html ] && [ -h broken ]
test_that "a dangling link is rejected"
status 2 fmt -w notes && cmp -s notes keep
test_that "fmt -w does not change a file that is not PTX"
long=$(printf '%0240d' 0).html
status 0 report run.db -o "$long" && [ -s "$long" ]
test_that "long file name"
status 0 report run.db -o - && [ ! -e ./- ] && head -c 15 out | grep -q '<!DOCTYPE html>' && tail -n 1 out | grep -q '</html>'
test_that "report -o -: the page on standard output"
echo first >sum.txt && "$loom" report run.db -o - >>sum.txt && "$loom" dis saxpy.ptx -o /dev/stdout >>sum.txt && "$loom" dis saxpy.ptx -o - >>sum.txt
[ "$(head -n 1 sum.txt)" = first ] && [ "$(grep -c '^saxpy:$' sum.txt)" = 2 ] && [ "$(grep -c '<!DOCTYPE html>' sum.txt)" = 1 ] && [ ! -e ./- ]
test_that "a file that standard output appends to is not replaced"
"$loom" as saxpy.ptx -o - >piped.plo && "$loom" as saxpy.ptx -o named.plo && cmp -s piped.plo named.plo
test_that "as -o -"
status 2 export run.db -f csv -t hot_lines -o - && grep -q "it is a query: .ptxloom query run.db hot_lines --csv. prints its rows" said &&
    status 2 export run.db -f ndjson -t kernle -o - && grep -q "'kernle' is not a value for --table" said
test_that "export --table of a query, and of nothing"
rm -f piped.plo named.plo sum.txt
"$loom" report run.db -o - 2>err | head -c 15 >out
[ ! -s err ] && grep -q '<!DOCTYPE html>' out
test_that "report -o -: no message when the reader ends early"
for elements in 128 2; do # the second launch has an invalid address
    {
        until [ -e left ]; do sleep 0.01; done
        "$loom" run saxpy.ptx -g 2 -b 64 --arch toy u32:128 f32:2 'f32[128]=iota' "out:f32[$elements]" --trace left.db 2>err
        echo $? >code
    } | {
        exec </dev/null
        : >left
    }
    [ "$(cat code)" = 3 ] && ! grep -q 'cannot write' err && status 0 query left.db "SELECT count(*) FROM kernel"
    test_that "the status is 3, and the trace complete, when the reader ends early ($elements elements)"
    rm -f left left.db code
done
status 0 report run.db -o whole.html && head -c $(($(wc -c <run.db) - 5000)) run.db >cut.db
status 2 query cut.db && grep -q "help: the file is damaged or incomplete: write it again with ptxloom run --trace" said
test_that "a truncated trace is recognised"
rm -f whole.html cut.db err
[ -z "$(find . -name '*.part')" ]
test_that "no partial file is left"
saxpy 0 'out:f32[128]=iota' --trace part.db && cp notes part.db.part && saxpy 2 'out:f32[128]=iota' --trace part.db && cmp -s notes part.db.part
test_that "a file named like an unfinished trace is not changed"

# --- sources copied into a trace: those beside the PTX, and those the user allows

mkdir own other
cat >own/k.ptx <<'PTX'
.version 8.0
.target sm_90
.address_size 64
.file 1 "SOURCE"
.visible .entry k() {
.loc 1 2 1
bar.sync 0;
ret;
}
PTX
printf 'first\nmarked line of the source\n' >other/k.cu
trace_of() # SOURCE OPTIONS...: .file names SOURCE; true if its text is in the trace
{
    sed "s|SOURCE|$1|" own/k.ptx >own/named.ptx
    shift
    status 0 run own/named.ptx -g 1 -b 32 --arch toy --trace own.db "$@" && grep -q 'marked line' own.db
}
! trace_of "$PWD/other/k.cu"
test_that "a source in another folder is not read"
! trace_of ../other/k.cu
test_that "a source in another folder is not read by a relative path"
trace_of "$PWD/other/k.cu" --source-dir other
test_that "--source-dir allows its folder"
trace_of /elsewhere/k.cu --source-dir nothing --source-dir other
test_that "--source-dir finds a source in its folder by its name"
ln -s ../other/k.cu own/k.cu
! trace_of k.cu
test_that "a link out of the folder is not followed"
rm own/k.cu
cp other/k.cu own/
trace_of k.cu
test_that "a source beside the PTX is read"
trace_of /elsewhere/k.cu
test_that "a source beside the PTX is read if compiled in another folder"
! trace_of k.cu --no-source
test_that "--no-source omits the text"
"$loom" query own.db "SELECT name FROM source WHERE language = 'cuda'" >out && grep -q k.cu out
test_that "--no-source retains the name"
echo "1..$n"
