#!/bin/sh
# programs.sh - CUDA programs under `ptxloom exec`: tests/cudart/app, which imitates programs compiled by nvcc, and, if nvcc is available, a
# program that it builds with both kinds of runtime.
srcdir=${srcdir:-.}
build=$PWD
. "$srcdir/tests/scratch.sh"
[ -x "$build/tests/cudart/app" ] || { echo "1..0 # SKIP this build has no CUDA runtime"; exit 0; }

# runs WHAT STATUS OUTPUT ERRORS COMMAND...: ERRORS is a pattern for grep, or "" for no errors
runs() {
    n=$((n + 1))
    what=$1 status=$2 output=$3 errors=$4
    shift 4
    "$@" >out 2>err
    got=$?
    if [ -z "$errors" ]; then test ! -s err; else grep -q -- "$errors" err; fi
    told=$?
    if [ $told -eq 0 ] && [ $got -eq "$status" ] && [ "$(cat out)" = "$output" ]; then
        echo "ok $n - $what"
    else
        echo "not ok $n - $what"
        echo "# status $got, expected $status"
        sed 's/^/# out: /' out
        sed 's/^/# err: /' err
    fi
}
# Most tests need no times. Later options override these.
export PTXLOOM_OPTIONS="--mode functional"
app() { "$loom" exec "$build/tests/cudart/app" "$@"; }
with() { options=$1; shift; "$loom" exec $options "$build/tests/cudart/app" "$@"; }

n=1
awk -v what=doc -f "$root/cudart/api.awk" "$root/cudart/api.def" | cmp -s - "$root/doc/cuda-api.md" && echo "ok 1 - doc/cuda-api.md is up to date" ||
    echo "not ok 1 - doc/cuda-api.md differs from api.def: make cuda-api-update"

for t in vectors symbols constants_written memory batched_calls driver_copies driver_contexts contexts_of_handles stream_values values_of_kernels values_of_host values_of_mailboxes host_function_waits host_functions_later graph_function_waits values_of_threads kernels_wait graph_waits_for_event values_in_graphs kernel_waits kernel_waits_on_device kernel_waits_in_graph kernel_waits_for_thread kernel_runs_for_long advice stream_attributes deferred_work refused graphs_refused virtual_memory ipc pool_ipc registered driver_array texture_references normalised_coordinates old_properties streams threads capture graph graph_memory graph_memory_concurrent graph_captured_memory graph_condition graph_object graph_block graphs_of_kernels graph_in_capture graph_edges graph_rules graph_capture_into grid_barrier capture_rules pool reset node_updates tensor_maps context_flags as_recorded set_launches; do runs "$t" 5 good "" app $t; done
runs "vectors, LZ4" 5 good "" env APP_FATBIN=lz4 "$loom" exec "$build/tests/cudart/app" vectors
large() { APP_FATBIN=large "$loom" exec --module-cache kept "$build/tests/cudart/app" vectors; echo "$?, $(ls kept | wc -l) kept"; }
for t in assembled loaded; do runs "module cache: $t" 0 "good
5, 1 kept" "" large; done
for f in kept/*; do head -c 1000 "$f" >damaged && cp damaged "$f"; done
runs "module cache: damaged" 0 "good
5, 1 kept" "" large
runs "module cache: rewritten" 0 0 "" sh -c 'cmp -s damaged kept/*; echo $(($? == 0))'
runs "vectors, timing mode" 5 good "" with "--mode timing" vectors
runs "first versions of calls" 5 good "cuGLGetDevices_v2 is not supported: it shares memory with OpenGL" app first_versions
runs "undocumented tables" 5 good "" app export_tables
cp "$build/tests/cudart/app" libcublas.so.13
runs "a library with machine code only is reported" 5 good "libcublas.so.13 holds machine code only" "$loom" exec ./libcublas.so.13 export_tables
n=$((n + 1))
[ "$(grep -c 'machine code' err)" = 1 ] && echo "ok $n - it is reported once" || echo "not ok $n - it is reported once"
runs "linking" 5 good "only PTX, and fat binaries, objects and libraries with PTX" app link
n=$((n + 1))
[ "$(grep -c 'is defined in two modules' err)" = 1 ] && echo "ok $n - a duplicate definition is reported once" || echo "not ok $n - a duplicate definition is reported once"
runs "assertions are on standard error" 5 good "^x:1: x: block: .0,0,0., thread: .0,0,0. Assertion .x. failed" app asserts
n=$((n + 1))
[ "$(grep -o -e '^launched' -e 'Assertion' err | head -n 1)" = launched ] && echo "ok $n - an assertion is reported when the host waits" || echo "not ok $n - an assertion is reported when the host waits"
runs "ranges are not tracked without a trace" 0 none "" env -u NVTX_INJECTION64_PATH "$loom" exec sh -c 'echo "${NVTX_INJECTION64_PATH:-none}"'
runs "errors of kernels that launch graphs" 5 good "was not instantiated for launches by kernels" app graphs_of_kernels_refused
runs "a texture reference without memory" 5 good "the texture reference has neither an array nor memory" app unbound_reference
runs "a texture that exceeds its memory" 5 good "texture fetch of 4 bytes at 0x.*, 4 bytes past the end of 'device memory'" app texture_past_end
runs "a texture that exceeds its memory, in its page" 5 good "" with "--bounds page" texture_past_end_in_page
runs "a texture that exceeds its memory, under checkers" 5 good "past the end" with "--check mem" texture_past_end
runs "a host pointer in a kernel" 5 good "is memory of the host" app host_pointer
n=$((n + 1))
grep -q '; no allocation is near' err && echo "ok $n - a meaningless distance is not reported" || echo "not ok $n - a meaningless distance is not reported"
runs "errors" 5 good "kernel 'store' failed" app errors
n=$((n + 1))
[ "$(grep -c 'cudaGraphicsMapResources is not supported' err)" = 1 ] && echo "ok $n - an unsupported call is reported once" || echo "not ok $n - an unsupported call is reported once"
runs "machine code and PTX for a newer target" 5 good "the PTX for sm_90 is executed instead" env APP_FATBIN=newer "$loom" exec --arch a100 "$build/tests/cudart/app" vectors
runs "PTX of the device library for a newer target" 5 good "" env APP_FATBIN=linked "$loom" exec "$build/tests/cudart/app" vectors
runs "PTX for a newer target without machine code" 5 good "code=compute_70" env APP_FATBIN=newer "$loom" exec --arch v100 "$build/tests/cudart/app" no_image
runs "machine code only" 5 good "code=compute_90" env APP_FATBIN=code "$loom" exec "$build/tests/cudart/app" no_image
runs "device memory is not accessible to the host" 139 "" "" sh -c '"$@" 2>/dev/null' - "$loom" exec "$build/tests/cudart/app" host_reads_device_memory
runs "kernel output appears when the host synchronises" 5 "host
launched
block
block
%.*d
host again
good" "" app printing
runs "a kernel that does not terminate" 5 good "stopped by the limit of 100000 instructions" with "--max-instructions 100000" spin
runs "the time limit" 5 good "stopped by the time limit" with "--timeout 1" spin
runs "device" 5 "NVIDIA H200, 9.0, 132 SMs, 150109880320 bytes
good" "" app device
runs "another machine" 5 "NVIDIA A100-SXM4-80GB, 8.0, 108 SMs, 85899345920 bytes
good" "" with "--arch a100" device
runs "the clock of the application" 5 good "" with "--arch toy" clock
runs "a written value ends the wait of a stream" 5 good "" with "--arch toy" values_on_the_clock
runs "a hang names the kernel that checkers hold back" 0 "cudaDeviceSynchronize() is 702, not 0" "kernel 'store' has not begun: with --check" sh -c '"$1" exec --check race "$2" kernel_waits_on_device | sed "s/.*: //"' - "$loom" "$build/tests/cudart/app"
for t in kernel_waits kernel_waits_on_device kernel_waits_in_graph kernel_runs_for_long; do runs "$t, timing mode" 5 good "" with "--mode timing" $t; done
for t in kernel_waits kernel_waits_in_graph; do runs "$t, one host thread" 5 good "" with "--threads 1" $t; done
for t in kernel_waits_in_graph kernel_waits_for_thread; do runs "$t under checkers" 5 good "" with "--check mem,init,sync" $t; done
for mode in functional timing; do runs "a kernel that waits for a copy ends with it, $mode mode" 5 good "" with "--arch toy --mode $mode" kernel_on_the_clock; done
runs "a kernel that waits when the program ends" 5 good "kernel .answer. failed: hang: threads only poll memory" app kernel_left_waiting
runs "a stream waits for a value that is never written" 5 good "stream [0-9]* waits for the 32-bit value at 0x[0-9a-f]* to be 5 (0x5), and it is 0; nothing is left that could write it" app values_never
runs "kernels wait for the program in timing mode" 5 good "" with "--mode timing --timing all" kernels_wait
runs "a kernel waits for a value that is never written" 5 good "hang: threads only poll memory, which none of them changes" app kernel_waits_for_ever
runs "a stream waits for a value that another thread does not write" 5 good "to be 5 (0x5), and it is 0; nothing has written it for long" with "--timeout 1" values_late
runs "a correct program under checkers" 5 good "" with "--check all" vectors
for t in streams threads capture graph graph_memory graph_memory_concurrent graph_condition pool; do runs "$t under checkers" 5 good "" with "--check all" $t; done
# These call cudaFree with invalid addresses, and have no other findings.
refused() {
    with "--check all" "$1" 2>all
    ended_with=$?
    grep -v -e 'mem-freed: cudaFree' -e '  help: free after' all >&2
    return $ended_with
}
for t in memory graph_captured_memory reset; do runs "$t under checkers" 5 good "" refused $t; done
runs "exits before a barrier are no race" 5 good "" with "--check race" exits_before_barrier
runs "a race under checkers" 5 good "kernel .count.: race-same-value" with "--check race" symbols
runs "a program gets the error of an invalid access skipped by a checker" 5 good "kernel .store.: mem-bounds" with "--check mem" errors
runs "a program gets the error of a misaligned access" 5 good "kernel .index.: mem-misaligned" with "--check mem" misaligned
runs "a program gets the error of a misaligned access without checkers" 5 good "not a multiple of 4" app misaligned
n=$((n + 1))
grep -q -e '--bounds page' err && echo "not ok $n - a misaligned access has no hint on bounds" || echo "ok $n - a misaligned access has no hint on bounds"
runs "access past an allocation, exact bounds" 5 good "exec --bounds page" app past_end
runs "access past an allocation, in its page" 5 good "past the end of .device memory. (2097152 bytes" with "--bounds page" past_end_in_page
runs "random schedule" 5 good "" with "--schedule random:7" vectors
runs "random schedule and timing mode" 2 "" "exclude each other" sh -c '"$@" >/dev/null' - "$loom" exec --schedule random:7 --mode timing "$build/tests/cudart/app" past_end
runs "invalid value of --schedule" 2 "" "is not a value for --schedule" sh -c '"$@" >/dev/null' - "$loom" exec --schedule 7 "$build/tests/cudart/app" past_end
runs "--bounds page and checkers" 2 "" "exclude each other" with "--bounds page --check mem" past_end
runs "a finding reports where the memory was allocated" 5 good "past the end of .device memory of cudaMalloc, call [0-9]*, in past_end+0x" with "--check mem" past_end
runs "a finding that destroys the context is reported immediately" 137 "" "mem-bounds: store of 4 bytes" with "--check mem" past_end_killed
for signal in 2 3 6 10 11 13 14 15; do
    runs "findings and trace of a program killed by signal $signal" $((128 + signal)) "" "init-output" env APP_SIGNAL=$signal "$loom" exec --check all --trace ended.db "$build/tests/cudart/app" undefined_ended
    runs "contents of its trace" 0 "1" "" sh -c '"$1" query ended.db --csv "SELECT count(*) FROM finding" | tail -n +2 | tr -d "\r"' - "$loom"
    rm -f ended.db
done
# ended WHAT STATUS OUTPUT APP_EXIT TEST: it reports its one finding once, in the trace too
ended() {
    runs "$1" "$2" "$3" "init-output" env APP_EXIT=$4 "$loom" exec --check all --trace ended.db "$build/tests/cudart/app" $5
    n=$((n + 1))
    [ "$(grep -c init-output err),$("$loom" query ended.db --csv "SELECT count(*) FROM finding" | tail -n +2 | tr -d '\r')" = 1,1 ] && echo "ok $n - the finding is reported once, and once in the trace" ||
        echo "not ok $n - the finding is reported once, and once in the trace"
    rm -f ended.db
}
for function in _exit _Exit exit; do ended "findings of a program that ends by $function" 1 "" $function undefined_exits; done
ended "findings of a program that ends by quick_exit, after its own functions" 1 bye quick_exit undefined_exits
ended "findings of a program that aborts" 134 "" abort undefined_exits
APP_FIXED=1 && export APP_FIXED
for function in _exit quick_exit; do
    case $function in quick_exit) out=bye ;; *) out= ;; esac
    runs "exit status of the program without findings: $function" 3 "$out" "" env APP_EXIT=$function "$loom" exec --check all "$build/tests/cudart/app" undefined_exits
done
unset APP_FIXED
for function in _exit exit; do
    ended "another thread exits by $function during a launch" 6 "" $function undefined_left
    ended "a signal handler exits by $function during a launch" 6 "" $function undefined_alarm
done
# What checkers find in programs with one mistake each, with all words but offsets; where $APP_FIXED mends it, nothing is found.
for t in undefined undefined_output undefined_copy refused_calls undefined_texels managed_unwritten managed_race host_race host_function_race stream_early stream_late stream_race variable_race array_race set_race copy_race graph_race dependent_race leak; do
    more=--track-origins
    [ $t = leak ] && more="--leak-check full"
    echo "== $t" >>findings
    if [ $t = managed_unwritten ] && [ ! -r /proc/self/pagemap ]; then
        sed -n '/^== managed_unwritten$/,/^== managed_race$/p' "$root/tests/cudart/findings.txt" | grep -v ^== >>findings
        continue
    fi
    "$loom" exec --check all $more "$build/tests/cudart/app" $t 2>&1 >out | sed 's/+0x[0-9a-f]*/+0x.../g' >>findings
    runs "$t, fixed" 5 good "" env APP_FIXED=1 "$loom" exec --check all $more "$build/tests/cudart/app" $t
done
# The same in the format of compute-sanitizer, and as rows of the trace.
for t in undefined_output undefined_copy refused_calls past_end leak; do
    echo "== $t, as compute-sanitizer prints it" >>findings
    "$loom" exec --check all --leak-check full --check-format compute-sanitizer --trace found.db "$build/tests/cudart/app" $t 2>&1 |
        sed 's/0x7[0-9a-f]\{9,\}/0x7.../g' >>findings
    "$loom" query found.db --csv "SELECT f.kernel, k.name, tool, f.kind, f.pc, f.count FROM finding f LEFT JOIN kernel k ON k.id = f.kernel ORDER BY f.id" | tr -d '\r' >>findings
done
n=$((n + 1))
if diff "$root/tests/cudart/findings.txt" findings >out; then echo "ok $n - complete messages of findings in programs"; else
    echo "not ok $n - complete messages of findings in programs"
    sed 's/^/# /' out
fi
runs "suppressed findings" 5 good "" sh -c 'echo "init-* pick" >known; "$@"' - "$loom" exec --check init --suppressions known "$build/tests/cudart/app" undefined
for case in "1 " "9 --error-exitcode 9" "0 --check-format compute-sanitizer" "9 --check-format compute-sanitizer --error-exitcode 9"; do
    runs "errors and warnings of a program with exit status 0: $case" 0 "good ${case%% *}" "" sh -c 'APP_STATUS=0 "$@" 2>/dev/null >all; status=$?; echo $(head -1 all) $status' - "$loom" exec --check init ${case#* } "$build/tests/cudart/app" undefined_output
done
runs "findings in another kernel" 5 good "" with "--check init --check-kernel add" undefined
for mode in functional timing; do runs "managed memory larger than the device, $mode mode" 5 good "" with "--arch toy --mode $mode" oversubscribed; done
runs "concurrent operations" 5 good "" with "--arch toy" overlap
runs "timers of the program" 5 good "" with "--arch toy --host-clock model" host_clock
runs "invalid value of --host-clock" 2 "" "'some' is not a value for --host-clock: it is real|model" with "--host-clock some" device
runs "the timer of kernels" 5 good "" with "--arch toy" global_timer
for how in on off; do
    runs "profiler control, --profile-from-start $how" 5 good "" with "--trace p.db --profile-from-start $how" profiler
    runs "recorded launches, --profile-from-start $how" 0 "$([ $how = on ] && echo 3 3 || echo 2 2)" "" sh -c '"$1" query p.db --csv "SELECT (SELECT count(*) FROM kernel) || char(32) || (SELECT count(*) FROM activity)" | tail -n +2 | tr -d "\r"' - "$loom"
done
for options in "" "--mode timing"; do runs "kernels run on the SMs of their green context $options" 5 good "" with "$options" green; done
runs "queries" 5 good "" app polling
runs "a kernel that polls its clock" 5 good "" with "--arch toy" waiting
runs "a kernel that polls its clock when the budget expires" 5 good "" with "--arch toy --timing budget=1" waiting_beyond_budget
runs "times of equal launches" 5 good "" with "--arch toy --timing first=1" equal_launches
runs "the spread of timed launches is shown with estimates" 5 good "work (2 estimated, +- 0.000 ns)" with "--arch toy --timing first=2 --summary --trace equal_launches.db" equal_launches
runs "and in the trace" 0 "work,1,0" "" sh -c '"$1" query equal_launches.db --csv "SELECT name, estimated, spread_us FROM activity WHERE spread_us >= 0" | tail -n +2 | tr -d "\r"; "$1" query equal_launches.db gpu_summary | grep -q spread_us && rm equal_launches.db' - "$loom"
runs "copies and launches with the timing model as recorded on an H100" 5 good "" env APP_TRANSFERS="$root/tests/data/micro/transfers.tsv" "$loom" exec --arch h100 --timing all "$build/tests/cudart/app" transfers
runs "copies and launches as recorded on an H100" 5 good "" env APP_TRANSFERS="$root/tests/data/micro/transfers.tsv" "$loom" exec --arch h100 "$build/tests/cudart/app" transfers
runs "the estimate of a kernel has the time of its memory" 5 good "" with "--arch h100" estimated_traffic
runs "kernels access pinned memory as recorded on an H100" 5 good "" env APP_TRANSFERS="$root/tests/data/micro/mapped.tsv" "$loom" exec --mode timing --timing all --arch h100 "$build/tests/cudart/app" mapped_memory
runs "managed memory migrates as recorded on an H200" 5 good "" env APP_TRANSFERS="$root/tests/data/micro/managed.tsv" "$loom" exec --arch h200 "$build/tests/cudart/app" managed_pages
runs "managed memory written by the host after a kernel migrates again" 5 good "" with "--arch h200" managed_written
runs "a fault on managed memory allocates the 64 KiB around it" 5 good "" with "--arch h200 --mode timing --timing all --trace migrated.db" managed_shared_block
runs "cycles of a kernel include its page faults" 0 "1 1" "" sh -c '"$1" query migrated.db --csv "SELECT (SELECT cycles > 80000 FROM kernel ORDER BY id LIMIT 1) || char(32) || (SELECT cycles < 10000 FROM kernel ORDER BY id DESC LIMIT 1)" | tail -n +2 | tr -d "\r"' - "$loom"
runs "page faults are no late stores" 0 "1 1 0" "" sh -c '"$1" query migrated.db --csv "SELECT (SELECT value > 80000 FROM counter WHERE kernel = 1 AND name = \"ptxloom__page_fault_cycles.sum\") || char(32) || (SELECT value = 0 FROM counter WHERE kernel = 2 AND name = \"ptxloom__page_fault_cycles.sum\")" | tail -n +2 | tr -d "\r\n"; "$1" query migrated.db advice | grep -c "late memory" | sed "s/^/ /"' - "$loom"
runs "page faults by the order of accesses as recorded on an H100" 5 good "" env APP_TRANSFERS="$root/tests/data/micro/managed_order.tsv" "$loom" exec --arch h100 --mode timing --timing all "$build/tests/cudart/app" managed_order
runs "memory written by the host migrates again as recorded on an H200" 5 good "" env APP_TRANSFERS="$root/tests/data/micro/managed_touch.tsv" "$loom" exec --arch h200 "$build/tests/cudart/app" managed_touched
for t in "error_names errnames" "occupancy occupancy"; do
    xz -dc "$root/tests/data/probes/host.${t#* }.tsv.xz" >table
    runs "as recorded on an H200: ${t% *}" 5 good "" env APP_TABLE="$PWD/table" "$loom" exec "$build/tests/cudart/app" ${t% *}
done
runs "a pool's memory in the stream of another device" 5 good "default stream of device 1, which nothing orders after the allocation in the default stream of device 0" with "--devices 2 --check mem" device_pools
for t in devices device_pools device_contexts device_attributes; do runs "two devices: $t" 5 good "" with "--devices 2" $t; done
runs "two devices: variables of the other one" 5 good "kernel 'store' failed" with "--devices 2" peer_variables
runs "two devices: peers" 5 good "kernel 'store' failed" with "--devices 2" peers
runs "copies between devices as recorded on two H100" 5 good "" env APP_TRANSFERS="$root/tests/data/micro/peer.tsv" "$loom" exec --devices 2 --arch h100 "$build/tests/cudart/app" peer_transfers
runs "options from the environment" 5 "toy, 9.0, 2 SMs, 1073741824 bytes
good" "" env PTXLOOM_OPTIONS="--arch toy" "$loom" exec "$build/tests/cudart/app" device
runs "an unknown machine" 2 "" "x200" with "--arch x200" device
runs "a file of suppressions that is missing" 2 "" "cannot read 'missing'" with "--check mem --suppressions missing" device
runs "a program without CUDA" 7 "a b" "" "$loom" exec -- sh -c 'echo "$0 $1"; exit 7' a b
runs "a trace" 5 good "" with "--trace t.db" vectors
runs "contents of the trace" 0 add "" sh -c '"$1" query t.db --csv "SELECT entry FROM kernel" | tail -n +2' - "$loom"
ask() { "$loom" query t.db --csv "$1" | tail -n +2 | tr -d '\r'; }
runs "activities of the streams" 0 "copy HtoD 4000 pageable device
copy HtoD 4000 pageable device
kernel add - - -
copy DtoH 4000 device pageable" "" ask "SELECT kind || ' ' || name || ' ' || ifnull(bytes, '-') || ' ' || ifnull(source, '-') || ' ' || ifnull(destination, '-') FROM activity ORDER BY start_us"
runs "each activity has its call, each launch its row" 0 "0 1 1" "" ask "SELECT (SELECT count(*) FROM activity a LEFT JOIN api_call c ON c.id = a.call WHERE c.id IS NULL) || ' ' || (SELECT count(*) FROM activity a JOIN kernel k ON k.id = a.kernel AND k.entry = a.name) || ' ' || (SELECT min(start_us < end_us) FROM api_call)"
runs "allocations" 0 "3 device 1" "" ask "SELECT count(*) || ' ' || min(memory) || ' ' || min(end_us > start_us) FROM allocation"
for q in gpu_summary gpu_trace api_summary api_trace allocations stream_overlap; do runs "query $q" 0 1 "" sh -c '"$1" query t.db --csv "$2" | awk "NR > 1 { n++ } END { print (n > 0) }"' - "$loom" $q; done
runs "a report of the program" 0 1 "" sh -c '"$1" report t.db -o t.html >log && grep -c "\"application\":{\"cut\":" t.html' - "$loom"
runs "Perfetto export of the program" 0 "cudaMalloc 3
add 2
copy HtoD 2
copy DtoH 1" "" sh -c '"$1" export t.db -f perfetto -o - >t.json && for n in cudaMalloc add "copy HtoD" "copy DtoH"; do echo "$n $(grep -c "\"name\":\"$n\"" t.json)"; done' - "$loom"
runs "a forked process cannot use CUDA" 5 good "cudaMalloc in a forked process fails" with "--trace t.db" forked
runs "a name with the number of the process" 5 good "" with "--trace t%p.db" vectors
runs "its trace" 0 add "" sh -c '"$1" query t[0-9]*.db --csv "SELECT entry FROM kernel" | tail -n +2; rm t[0-9]*.db' - "$loom"
runs "the trace of its parent is complete" 0 "store ok
store ok" "" ask "SELECT entry || ' ' || status FROM kernel"
runs "ranges" 5 good "" with "--trace t.db" ranges
runs "ranges in a trace" 0 "inner 1 0 1
outer 0 0 1
here 0 1 0
beside 1 0 1" "" ask "SELECT name || ' ' || depth || ' ' || (end_us = start_us) || ' ' || (end_us - start_us >= 60) FROM nvtx_range ORDER BY id"
runs "kernels of several streams, some of higher priority" 5 good "" with "--arch toy --trace t.db" priorities
runs "delayed kernels end later in the trace, too" 0 0 "" ask "SELECT count(*) FROM activity a JOIN activity b ON b.stream = a.stream AND b.id > a.id WHERE a.start_us < 0 OR b.start_us < a.end_us - 0.001"
runs "graphs in a trace" 5 good "" with "--trace t.db --timing first=1" graph
runs "launches beyond the first are marked" 0 "store 1 0
store 2 1" "" ask "SELECT name || ' ' || graph || ' ' || estimated FROM activity WHERE kind = 'kernel' ORDER BY id"
runs "summary" 5 good " 1 .* add$" with --summary vectors
runs "summary of copies and calls" 5 good "\[copy HtoD\]$" with --summary vectors
# cycles_of OPTION...: whether the summary has cycles
cycles_of() { "$loom" exec --arch toy "$@" --summary "$build/tests/cudart/app" vectors 2>&1 >out | awk '/^launches/ { getline; print ($2 > 0 ? "cycles" : "none") }'; }
runs "the timing model is the default, unless an option needs no times" 0 "cycles none none cycles" "" \
    sh -c 'echo "$@"' - $(unset PTXLOOM_OPTIONS; cycles_of; cycles_of --check mem; cycles_of --schedule random:1; cycles_of --check mem --mode timing)
runs "programs without options" 5 good "" env -u PTXLOOM_OPTIONS "$loom" exec "$build/tests/cudart/app" streams
runs "metrics" 5 good "^ *1 .* inst_executed" with "--metrics inst_executed,ipc" vectors
runs "unknown metrics" 2 "" "inst_exekuted" with "--metrics inst_exekuted" device
runs "sizes of --trace-limit are those of run" 5 "good" "" with "--trace limited.db --trace-limit 64mb" vectors
runs "invalid value of --timing" 2 "" "'first=' is not a value for --timing" with "--timing first=" device
runs "unknown checker" 2 "" "'mem,all,some' is not a value for --check" with "--check mem,all,some" device
for case in "'3X' is not a value for --trace-limit: it is a size such as 500M;--trace-limit 3X" "'0' is not a value for --trace-limit;--trace-limit 0" "'some' is not a value for --mode: it is timing|functional;--mode some" "'0' is not a value for --threads: it is a number from 1 to 256;--threads 0" "unknown option '--fast';--fast" "'mem,' is not a value for --check;--check mem,"; do
    runs "invalid PTXLOOM_OPTIONS, without the wrapper: ${case#*;}" 2 "" "${case%;*}" env PTXLOOM_OPTIONS="${case#*;}" LD_LIBRARY_PATH="$build/cudart" "$build/tests/cudart/app" device
done

if command -v cc >/dev/null 2>&1; then
    echo 'int main(void) { return 3; }' >host.c
    echo '__attribute__((section(".nv_fatbin"))) const int kernels[4] = {1}; int main(void) { return kernels[0]; }' >kernels.c
    if cc -static -o host host.c 2>log && cc -static -o kernels kernels.c 2>log; then
        runs "a statically linked program without kernels" 3 "" "" "$loom" exec ./host
        runs "a statically linked program with kernels" 2 "" "cannot run './kernels': it is wholly statically linked.*" "$loom" exec ./kernels
        runs "a statically linked program of the search path" 2 "" "link it without '-static'" env PATH="/:$PWD:$PATH" "$loom" exec kernels
    fi
    cat >lib.c <<'END'
#ifndef STATIC
#define STATIC __attribute__((visibility("hidden"), noinline))
#endif
volatile int calls;
STATIC void **__cudaRegisterFatBinary(void *p) { calls = 2; return p; }
STATIC int cudaMalloc(void **p, unsigned long n) { calls = n == 4 && p; return 77; }
int allocated;
__attribute__((constructor)) static void begin(void) { void *p; allocated = cudaMalloc(&p, 4); }
END
    cat >open.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    for (int k = 0; k < 2; k++) {
        void *lib = dlopen("./lib.so", RTLD_NOW);
        printf("%d ", *(int *)dlsym(lib, "allocated"));
        dlclose(lib);
    }
    puts("");
}
END
    cc -shared -fPIC -o lib.so lib.c && cc -o k open.c -ldl && runs "a library with the static runtime that is opened later" 0 "0 0 " "" "$loom" exec ./k
    command -v gdb >/dev/null 2>&1 && runs "the same under gdb" 0 "0 0 " "" sh -c '"$@" 2>&1 | grep "^0"' - "$loom" exec gdb -q -batch -ex run ./k
    mv lib.so hidden.so
    cc -shared -fPIC -DSTATIC= -Wl,-Bsymbolic -o lib.so lib.c && strip lib.so && runs "a stripped library that exports the runtime" 0 "0 0 " "" "$loom" exec ./k
    cat >stripped.c <<'END'
#include <dlfcn.h>
const char *const text[] = {"cuGetProcAddress", "cudaErrorInvalidValue"};
int allocated = 5;
__attribute__((constructor)) static void begin(void)
{
    union { void *address; int (*call)(const void **, const void *); } f = {.address = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuGetExportTable")};
    const void *table;
    for (int k = 0; k < 2; k++) allocated = f.call(&table, text) == 0;
}
END
    cc -shared -fPIC -o lib.so stripped.c && strip lib.so && runs "a stripped library with the static runtime" 0 "0 0 " "^ptxloom: ./lib.so has NVIDIA's runtime linked in and no symbol table" "$loom" exec ./k
    n=$((n + 1))
    [ "$(wc -l <err)" = 1 ] && echo "ok $n - it is reported once" || echo "not ok $n - it is reported once"
    mv hidden.so lib.so
    echo 'int printf(const char *, ...); extern int allocated; int main(void) { return printf("%d ", allocated) < 0; }' >linked.c
    cc -o k linked.c ./lib.so && runs "a library with the static runtime whose constructor calls it" 0 "0 " "" "$loom" exec ./k
fi
if command -v cc >/dev/null 2>&1 && command -v pkg-config >/dev/null 2>&1; then
    printf '%s\n' 'int printf(const char *, ...), cudaGetDeviceCount(int *), cuInit(unsigned); int main(void) { int n, e = cudaGetDeviceCount(&n); printf("%d %d %d\n", e, n, cuInit(0)); return 0; }' >k.c
    # shellcheck disable=SC2046 # one word per flag
    cc -o k k.c $(PKG_CONFIG_PATH=$build pkg-config --define-variable=cudadir="$build/cudart" --libs ptxloom-cuda) &&
        runs "a program linked by pkg-config, without the wrapper" 0 "0 2 0" "" env PTXLOOM_OPTIONS="--devices 2" ./k
    printf '%s\n' 'int printf(const char *, ...), cuInit(unsigned), cuDeviceGetCount(int *); int main(void) { int n, e = cuInit(0), f = cuDeviceGetCount(&n); printf("%d %d %d\n", e, f, n); return 0; }' >driver.c
    cc -o driver driver.c -L"$build/cudart" -lcuda && runs "a program linked with -lcuda" 0 "0 0 1" "" "$loom" exec ./driver
    runs "it is linked as with NVIDIA's driver" 0 "NEEDED libcuda.so.1
NEEDED libc.so.6" "" sh -c "LC_ALL=C objdump -p driver | awk '/NEEDED/ { print \$1, \$2 } /required from libcud/'"
    cat >open.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    for (int k = 1; k < argc; k++) {
        void *library = dlopen(argv[k], RTLD_NOW);
        union { void *address; int (*call)(unsigned); } f = {.address = library ? dlsym(library, "cuInit") : NULL};
        printf("%d\n", f.address ? f.call(0) : -1);
    }
}
END
    cc -o open open.c && runs "a program that opens libcuda.so" 0 "0
0" "" env LD_LIBRARY_PATH="$build/cudart" ./open libcuda.so libcuda.so.1
fi
if command -v nvcc >/dev/null 2>&1 && [ -z "${PTXLOOM_NO_NVCC:-}" ]; then
    cat >k.cu <<'END'
#include <cstdio>
__device__ int total; __constant__ int scale; __managed__ int number = 3;
__global__ void k(int *p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] = i * scale; atomicAdd(&total, 1); if (!i) number++; }
int main()
{
    int *p, h[100], s = 3, t;
    cudaMalloc(&p, sizeof h); cudaMemcpyToSymbol(scale, &s, 4);
    k<<<4, 32>>>(p, 100);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost); cudaMemcpyFromSymbol(&t, total, 4);
    printf("%d %d %d\n", h[99], t, number);
}
END
    for flags in "-cudart shared" "" "-arch=sm_90 --compress-mode=speed" "-rdc=true -arch=sm_90"; do
        nvcc $flags -o k k.cu >log 2>&1 || { sed 's/^/# /' log; continue; }
        runs "nvcc $flags" 0 "no error
297 128 4" "" "$loom" exec ./k
    done
    cat >a.cu <<'END'
__global__ void pass(const int *p, int *q) { q[threadIdx.x] = p[threadIdx.x]; }
void pass_on(const int *p, int *q) { pass<<<1, 32>>>(p, q); }
END
    cat >b.cu <<'END'
void pass_on(const int *p, int *q);
__global__ void test(const int *q, int *r) { if (q[threadIdx.x] > 3) *r = 1; }
int main() { int *p, *q, *r; cudaMalloc(&p, 128); cudaMalloc(&q, 128); cudaMalloc(&r, 4); pass_on(p, q); test<<<1, 32>>>(q, r); return cudaDeviceSynchronize(); }
END
    nvcc -arch=sm_90 -o k a.cu b.cu && runs "uninitialised memory passed through two modules" 1 "" "which is uninitialised: kernel 'pass(int const\*, int\*)' of another module has read it" "$loom" exec --check init ./k
    cat >k.cu <<'END'
__device__ int last;
__global__ void set(int k) { last = k; }
int main() { cudaStream_t s[2]; for (int k = 0; k < 2; k++) { cudaStreamCreate(s + k); set<<<1, 1, 0, s[k]>>>(k); } return cudaDeviceSynchronize(); }
END
    nvcc -arch=sm_90 -o k k.cu && runs "a launch is attributed to the function that contains it" 1 "" "race-stream: cudaLaunchKernel, call [0-9]*, in main+" "$loom" exec --check race ./k
    cat >names.cu <<'END'
namespace app {
template<class T> struct view { T *p; };
__device__ float table[64];
template<class T> __global__ void read(view<T> v, int n) { v.p[0] = table[n]; }
}
void launch(float *p, int n) { app::read<float><<<1, 1>>>(app::view<float>{p}, n); }
int main() { float *p; cudaMalloc(&p, 4); launch(p, 9); launch(p, 99); return cudaDeviceSynchronize() != 700; }
END
    nvcc -arch=sm_90 -o k names.cu && runs "names of C++ in messages" 0 "" "kernel 'void app::read<float>(app::view<float>, int)' failed: load of 4 bytes at 0x[0-9a-f]*, 140 bytes past the end of 'app::table'" "$loom" exec ./k
    runs "names of C++ in findings" 1 "" "kernel 'void app::read<float>(app::view<float>, int)': mem-bounds: .*'app::table'" "$loom" exec --check mem ./k
    runs "names of C++ in the log of calls" 0 "" "^ptxloom: cudaLaunchKernel -> 0, kernel void app::read<float>(app::view<float>, int)$" "$loom" exec --api-log ./k
    cat >constant.cu <<'END'
#include <cstdlib>
__constant__ float scale[16];
__global__ void use(float *p) { p[threadIdx.x] *= scale[threadIdx.x % 16]; }
int main(int argc, char **)
{
    float *p, h[16] = {1}; cudaStream_t s[2]; cudaEvent_t e;
    cudaMalloc(&p, 128); cudaMemset(p, 0, 128); cudaEventCreate(&e);
    for (cudaStream_t &t : s) cudaStreamCreate(&t);
    use<<<1, 32, 0, s[0]>>>(p); cudaEventRecord(e, s[0]);
    if (argc > 1) cudaStreamWaitEvent(s[1], e);
    cudaMemcpyToSymbolAsync(scale, h, 4, 60, cudaMemcpyHostToDevice, s[1]);
    return cudaDeviceSynchronize();
}
END
    if nvcc -arch=sm_90 -lineinfo -o k constant.cu; then
        for tools in race all; do
            runs "a copy to a constant that a kernel reads, $tools" 1 "" "writes byte 60 of variable 'scale', and kernel 'use(float\*)' in stream [0-9]* reads it at constant.cu:3" "$loom" exec --check $tools ./k
            runs "a copy to a constant after the kernel that reads it, $tools" 0 "" "" "$loom" exec --check $tools ./k ordered
        done
    fi
    printf '__global__ void k(int *p) { *p = 1; }\nint fails() { k<<<1, 1>>>(nullptr); return cudaDeviceSynchronize(); }\n' >wrong.cu
    printf 'int fails(); int main() { return fails() != 700; }\n' >main.cu
    nvcc -arch=sm_90 -shared -Xcompiler -fPIC -o libwrong.so wrong.cu && nvcc -o k main.cu ./libwrong.so && runs "a message names the library with the kernel" 0 "" "^libwrong.so:[0-9]*:.*kernel 'k(int\*)' failed" "$loom" exec ./k
    cat >long.cu <<'END'
#include <thrust/device_vector.h>
template<class A, class B> struct pair { A a; B b; };
typedef pair<pair<pair<int, float>, pair<char, double>>, pair<pair<short, long>, pair<unsigned, unsigned long>>> deep;
namespace { template<class T> __global__ void set(T *p, int *q) { q[64] = p != nullptr; } }
int main() { auto &v = *new thrust::device_vector<int>(64); set<deep><<<1, 1>>>(nullptr, v.data().get()); return cudaDeviceSynchronize() == 0; }
END
    nvcc -arch=sm_90 -o k long.cu && runs "long names have no arguments; memory is that of the program" 1 "" "kernel 'void (anonymous namespace)::set<...>(...)': mem-bounds: .* past the end of 'device memory of cudaMalloc, call [0-9]*, in main+0x" "$loom" exec --check mem ./k
    printf '__device__ int deep(int n, volatile int *q) { volatile int a[64]; a[n %% 64] = n; return n ? deep(n - 1, q) + a[n %% 64] : *q; }\n__global__ void k(int *p) { *p = deep(1000, p); }\nint main() { int *p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); return cudaDeviceSynchronize() != 700; }\n' >deep.cu
    nvcc -arch=sm_90 -o k deep.cu && runs "a stack overflow names the limit" 0 "" "cudaDeviceSetLimit(cudaLimitStackSize, BYTES) before the launch" "$loom" exec ./k
    cat >rtc.cpp <<'END'
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <nvrtc.h>
int main()
{
    const char *text = "extern \"C\" __global__ void k(int *p) { *p = 42; }", *option = "-arch=sm_90";
    nvrtcProgram p; size_t n; CUmodule m; CUfunction f; CUcontext c; CUdeviceptr d; int v = 0;
    nvrtcCreateProgram(&p, text, "k.cu", 0, nullptr, nullptr);
    printf("%d ", nvrtcCompileProgram(p, 1, &option)); nvrtcGetCUBINSize(p, &n);
    char *code = (char *)malloc(n); nvrtcGetCUBIN(p, code);
    cuInit(0); cuDevicePrimaryCtxRetain(&c, 0); cuCtxSetCurrent(c);
    printf("%d ", cuModuleLoadData(&m, code)); cuModuleGetFunction(&f, m, "k"); cuMemAlloc(&d, 4);
    void *args[] = {&d}; cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, args, nullptr); cuMemcpyDtoH(&v, d, 4);
    option = "-arch=compute_90"; /* no machine code */
    nvrtcCreateProgram(&p, text, "k.cu", 0, nullptr, nullptr); nvrtcCompileProgram(p, 1, &option); nvrtcGetCUBINSize(p, &n);
    printf("%d %d\n", v, (int)n);
}
END
    nvcc -cudart none -o k rtc.cpp -lnvrtc "$build/cudart/libptxloom_cuda.so" >log 2>&1 && runs "NVRTC to machine code" 0 "0 0 42 0" "" "$loom" exec ./k
    cat >double.cu <<'END'
__device__ int twice(int x) { return 2 * x; }
END
    cat >link.cpp <<'END'
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <nvJitLink.h>
#include <nvrtc.h>
static const char text[] = "extern __device__ int twice(int); extern \"C\" __global__ void k(int *p) { *p = twice(21); }";
static const char other[] = "__device__ int twice(int x) { return 2 * x; }";
static char *compiled(const char *source, const char *option, size_t *n)
{
    const char *options[] = {"-arch=sm_90", "-rdc=true", "-dlto"};
    nvrtcProgram p;
    nvrtcCreateProgram(&p, source, "k.cu", 0, nullptr, nullptr);
    nvrtcCompileProgram(p, option ? 3 : 2, options);
    option ? nvrtcGetLTOIRSize(p, n) : nvrtcGetCUBINSize(p, n);
    char *code = (char *)malloc(*n);
    option ? nvrtcGetLTOIR(p, code) : nvrtcGetCUBIN(p, code);
    return code;
}
static int run(void *image)
{
    CUmodule m; CUfunction f; CUdeviceptr d; int v = 0;
    void *args[] = {&d};
    if (cuModuleLoadData(&m, image) || cuModuleGetFunction(&f, m, "k")) return -1;
    cuMemAlloc(&d, 4);
    cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, args, nullptr);
    cuMemcpyDtoH(&v, d, 4);
    return v;
}
static int by_driver(int type, const char *path)
{
    CUlinkState l; void *image; size_t n;
    char *code = compiled(text, nullptr, &n);
    cuLinkCreate(0, nullptr, nullptr, &l);
    const int errors[] = {cuLinkAddData(l, CU_JIT_INPUT_CUBIN, code, n, "k", 0, nullptr, nullptr), cuLinkAddFile(l, (CUjitInputType)type, path, 0, nullptr, nullptr),
                          cuLinkAddFile(l, CU_JIT_INPUT_LIBRARY, getenv("DEVICE_LIBRARY"), 0, nullptr, nullptr), cuLinkComplete(l, &image, nullptr)};
    for (int e : errors) if (e) return -e;
    return run(image);
}
static int by_library(const char *option)
{
    const char *options[] = {"-arch=sm_90", option};
    const nvJitLinkInputType type = option ? NVJITLINK_INPUT_LTOIR : NVJITLINK_INPUT_CUBIN;
    nvJitLinkHandle l; size_t n;
    if (nvJitLinkCreate(&l, option ? 2 : 1, options)) return -1;
    char *code = compiled(text, option, &n), *more;
    if (nvJitLinkAddData(l, type, code, n, "k")) return -2;
    more = compiled(other, option, &n);
    if (nvJitLinkAddData(l, type, more, n, "twice") || nvJitLinkComplete(l) || nvJitLinkGetLinkedCubinSize(l, &n)) return -3;
    code = (char *)malloc(n);
    nvJitLinkGetLinkedCubin(l, code);
    nvJitLinkDestroy(&l);
    return l ? -4 : run(code);
}
int main()
{
    CUcontext c;
    cuInit(0); cuDevicePrimaryCtxRetain(&c, 0); cuCtxSetCurrent(c);
    printf("%d %d %d %d\n", by_driver(CU_JIT_INPUT_OBJECT, "double.o"), by_driver(CU_JIT_INPUT_LIBRARY, "double.a"), by_library(nullptr), by_library("-lto"));
}
END
    printf '#include <cstdio>\n__global__ void k(float *p, int n) { float s = 0; for (int i = 0; i < n; i++) s += p[i] * p[i + n]; p[threadIdx.x] = s; }\nint main() { float *p; cudaMalloc(&p, 128); k<<<1, 32>>>(p, 0); cudaFuncAttributes a; cudaFuncGetAttributes(&a, k); printf("%%d\\n", a.numRegs); }\n' >regs.cu
    for options in "" "-rdc=true"; do
        nvcc -arch=sm_90 $options -Xptxas -v -o k regs.cu >log 2>&1 && runs "registers as assigned by ptxas $options" 0 "$(sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' log | head -n 1)" "" "$loom" exec ./k
    done
    nvcc -gencode arch=compute_90,code=compute_90 -rdc=true -c double.cu && ar rc double.a double.o && nvcc -cudart none -o k link.cpp -lnvrtc -lnvJitLink "$build/cudart/libptxloom_cuda.so" >log 2>&1 &&
        runs "objects, libraries and nvJitLink" 0 "42 42 42 42" "" env DEVICE_LIBRARY="$(nvcc --dryrun -c double.cu 2>&1 | sed -n 's/^#. TOP=//p')/lib64/libcudadevrt.a" "$loom" exec ./k
    nvcc -o k k.cu && strip k && runs "a stripped program" 2 "" "-cudart shared" "$loom" exec ./k
    printf '#include <cstdio>\n__global__ void k() {}\nextern "C" int cuInit(unsigned n) { return n + 70; }\nint main() { k<<<1, 1>>>(); printf("%%d %%d\\n", cuInit(7), cudaDeviceSynchronize()); }\n' >own.cu
    nvcc -arch=sm_90 -o k own.cu && runs "a function of the program with a driver function's name" 0 "77 0" "" "$loom" exec ./k
    printf '#include <cstdio>\n__global__ void k() {}\nint main() { k<<<1, 1>>>(); puts(cudaGetErrorString(cudaGetLastError())); }\n' >code.cu
    nvcc -gencode arch=compute_90,code=sm_90 -o k code.cu && runs "nvcc, machine code only" 0 "no kernel image is available for execution on the device" "code=compute_90" "$loom" exec ./k
fi
echo "1..$n"
