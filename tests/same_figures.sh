#!/bin/sh
# same_figures.sh - a value with one name is the same in all outputs.
#
# Examples and recorded launches run at both levels of optimisation, in both modes, with ordinary and packed rows. The output of
# `run`, --json, metrics, counters, tables of events, windows of time and named queries are compared; metrics also with their
# formula evaluated without the model's counter. Figures of launches that did not complete are absent or marked.
set -u
. "$srcdir/tests/scratch.sh"

# one SQL query that gives a line for each differing pair of numbers
cat >pairs.sql <<'END'
WITH k AS (SELECT * FROM kernel), n(what, a, b) AS (
    SELECT 'sum(weight) of inst', (SELECT sum(weight) FROM inst), inst_executed FROM k
    UNION ALL SELECT 'sum(issues) of pc_stat', (SELECT sum(issues) FROM pc_stat), inst_executed FROM k
    UNION ALL SELECT 'inst_executed of warp', (SELECT sum(inst_executed) FROM warp), inst_executed FROM k
    UNION ALL SELECT 'inst_executed of block', (SELECT sum(inst_executed) FROM block), inst_executed FROM k
    UNION ALL SELECT 'inst_executed of listing', (SELECT sum(issues) FROM listing), inst_executed FROM k
    UNION ALL SELECT 'metric inst_executed', (SELECT value FROM metric WHERE name = 'inst_executed'), inst_executed FROM k
    UNION ALL SELECT 'metric smsp__inst_executed.sum', (SELECT value FROM "smsp__inst_executed.sum"), inst_executed FROM k
    UNION ALL SELECT 'metric thread_inst_executed', (SELECT value FROM thread_inst_executed), thread_inst_executed FROM k
    UNION ALL SELECT 'lanes of inst', (SELECT sum(lanes * weight) FROM inst), (SELECT sum(lanes) FROM pc_stat) FROM k
    UNION ALL SELECT 'rows of warp', (SELECT sum(executed) FROM warp), (SELECT count(*) FROM inst) FROM k
    UNION ALL SELECT 'stall cycles of inst', (SELECT sum(stall_cycles) FROM inst), (SELECT sum(stall_cycles) FROM warp) FROM k
    UNION ALL SELECT 'stall cycles of pc_stat', (SELECT sum(stall_cycles) FROM pc_stat), coalesce((SELECT sum(cycles) FROM stall_sum WHERE reason <> 'selected'), 0) FROM k
    UNION ALL SELECT 'branches', (SELECT sum(branches) FROM pc_stat), (SELECT value FROM branch) FROM k
    UNION ALL SELECT 'divergent branches', (SELECT sum(divergent) FROM pc_stat), (SELECT value FROM divergent_branch) FROM k
    UNION ALL SELECT 'sectors of mem', (SELECT sum(sectors) FROM mem), (SELECT sum(sectors) FROM pc_stat) FROM k
    UNION ALL SELECT 'requests of mem', (SELECT count(*) FROM mem), (SELECT sum(requests) FROM pc_stat) FROM k
    UNION ALL SELECT 'passes of mem', (SELECT sum(wavefronts) FROM mem), (SELECT sum(wavefronts) FROM pc_stat) FROM k
    UNION ALL SELECT 'sectors of loads', (SELECT value FROM gld_transactions), (SELECT sectors FROM access WHERE space = 'global' AND kind = 'load') FROM k
    UNION ALL SELECT 'sectors of stores', (SELECT value FROM gst_transactions), (SELECT sectors FROM access WHERE space = 'global' AND kind = 'store') FROM k
    UNION ALL SELECT 'served sectors', (SELECT sum(l1_hits + from_l2 + from_dram) FROM access WHERE kind = 'load' AND space = 'global'),
                     (SELECT sectors FROM access WHERE kind = 'load' AND space = 'global') FROM k WHERE mode = 'timing'
    UNION ALL SELECT 'windows of ' || t.name, t.value, CASE t.name WHEN 'inst_executed' THEN inst_executed WHEN 'thread_inst_executed' THEN thread_inst_executed
                     WHEN 'stall_cycles' THEN (SELECT sum(stall_cycles) FROM inst) ELSE (SELECT sum(sectors) FROM pc_stat) END
              FROM k, (SELECT c.name, sum(c.value) AS value FROM counter_time c
                       WHERE c.name IN ('inst_executed', 'thread_inst_executed', 'stall_cycles', 'sectors') GROUP BY c.name) t
    UNION ALL SELECT 'L2 sectors', (SELECT value FROM "lts__t_sectors.sum"),
                     (SELECT sum(value) FROM counter WHERE name IN ('lts__t_sectors_srcunit_tex.sum', 'ptxloom__l2_sectors_other.sum')) FROM k
    UNION ALL SELECT 'L2 hit rate', round((SELECT value FROM "lts__t_sector_hit_rate.pct"), 9),
                     round((SELECT 100.0 * h.value / (h.value + m.value) FROM "lts__t_sectors_lookup_hit.sum" h, "lts__t_sectors_lookup_miss.sum" m), 9) FROM k WHERE mode = 'timing'
    UNION ALL SELECT 'DRAM sectors', (SELECT value FROM "dram__sectors_read.sum") - (SELECT value FROM "ptxloom__dram_sectors_code.sum"),
                     (SELECT sum(value) FROM unit_time WHERE component = 'dram channel' AND name = 'read_sectors') FROM k WHERE mode = 'timing'
    UNION ALL SELECT 'whole ' || name, value, round(value) FROM counter
              WHERE name LIKE '%.sum' AND name NOT LIKE '%duration%')
SELECT what || ': ' || coalesce(a, 'none') || ' and ' || coalesce(b, 'none') AS differ FROM n WHERE coalesce(a, 0) <> coalesce(b, 0)
UNION ALL SELECT 'compared ' || (count(*) > 15) FROM n;
END

# the value of a member of the first case of --json
member() { sed -n 's/^ *"'"$1"'": \([^,]*\),*$/\1/p' json | head -1; }

# the number after a label in the output of run
printed() { sed -n 's/^  '"$1"' *\([0-9.,]*\).*/\1/p' text | tr -d , | head -1; }

equal() # NAME A B
{
    n=$((n + 1))
    if [ "$2" = "$3" ] && [ -n "$2" ]; then echo "ok $n - $1"; else echo "not ok $n - $1: '$2' and '$3'"; fi
}

cases="$root/examples/matmul.json $root/examples/tensor_copy.json $root/examples/magnify.json"
for name in atomic_same bitonic_shared alloca_local cluster_hist const_mem; do cases="$cases $root/tests/data/suite/cases/$name.json"; done
# eight blocks of the large ones suffice
blocks() { case $1 in */suite/*) echo -g 8 ;; esac; }
ways='-O2 --mode timing --trace-format rows
-O0 --mode timing --trace-format packed
-O2 --mode functional --trace-format packed
-O0 --mode functional --trace-format rows'

# the metrics that have a value, one per line: one process queries all
metrics="SELECT 'inst_executed' AS name, inst_executed AS value FROM kernel"
for metric in branch_efficiency gld_efficiency ipc achieved_occupancy l2_tex_hit_rate global_hit_rate warp_execution_efficiency; do
    metrics="$metrics UNION ALL SELECT '$metric', value FROM $metric WHERE value IS NOT NULL"
done

for case in $cases; do
    name=$(basename "$case" .json)
    while read -r way; do
        # shellcheck disable=SC2046,SC2086
        "$loom" run "$case" $(blocks "$case") $way --json --metrics all --trace t.db --trace-level mem >json
        equal "$name $way: pairs of numbers" "$("$loom" query t.db - --csv <pairs.sql | sed 1d | tr '\n' ';')" "compared 1;"
        equal "$name $way: checks" "$("$loom" query t.db checks --csv | sed 1d | grep -c ',0')" 0
        "$loom" query t.db "$metrics" --csv | sed 1d >values
        while IFS=, read -r metric value; do
            equal "$name $way: $metric of --json" "$(printf '%.9g' "$(member "$metric")")" "$(printf '%.9g' "$value")"
        done <values
    done <<END
$ways
END
    # shellcheck disable=SC2046
    "$loom" run "$case" $(blocks "$case") --trace t.db >text
    equal "$name: instructions, cycles, L2 hits printed" "$(printed instructions),$(printed cycles),$(printed 'L2 hits')" \
        "$("$loom" query t.db "SELECT inst_executed, cycles, printf('%.1f', value) FROM kernel, l2_tex_hit_rate" --csv | sed 1d)"
done

# --- accesses in functional mode: counted with and without rows of events, and as in timing mode

for case in alloca_local bitonic_shared transpose_naive_col; do
    file=$root/tests/data/suite/cases/$case.json
    for level in summary inst; do
        "$loom" run "$file" -g 8 -O0 --mode functional --metrics all --json --trace t.db --trace-level $level >json
        sed -n '/"metrics"/,/}/p' json >metrics.$level
    done
    "$loom" run "$file" -g 8 -O0 --mode functional --metrics all --json >json
    sed -n '/"metrics"/,/}/p' json >metrics.none
    equal "$case: metrics of functional mode without a trace" "$(cmp metrics.none metrics.summary && cmp metrics.summary metrics.inst && wc -l <metrics.none)" \
        "$(wc -l <metrics.inst)"
    for mode in timing functional; do
        "$loom" run "$file" -g 8 -O0 --mode $mode \
            --metrics 'gld_transactions,gst_transactions,local_*_transactions,shared_load,branch,divergent_branch,smsp__inst_executed_op_branch.sum' |
            grep -E '^  (gld|gst|local|shared|branch|divergent|smsp)' >accesses.$mode
    done
    equal "$case: accesses and branches of both modes" "$(cat accesses.functional)" "$(cat accesses.timing)"
    equal "$case: functional mode has no caches" \
        "$("$loom" query t.db "SELECT count(*) FROM pc_stat WHERE coalesce(wavefronts, conflicts, l1_hits, from_l2, from_dram) IS NOT NULL" --csv | sed 1d)" 0
done
printf '.version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 y) {\n.reg .b64 %%d;\n.reg .b32 %%r;\nld.param.u64 %%d, [y];\nld.global.u32 %%r, [%%d];\nst.global.u32 [%%d+4], %%r;\nret;\n}\n' >copy.ptx
for way in 'timing 1' 'functional 1'; do
    "$loom" run copy.ptx -g 1 -b 1 'u32[2]=1' --mode "${way% *}" --trace t.db --trace-level summary >text
    equal "${way% *}: load requests in a summary" "$("$loom" query t.db smsp__sass_inst_executed_op_global_ld.sum --csv | sed 1d)" "1,${way#* }"
done

# --- launches that do not complete

cat >bad.ptx <<'END'
.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 y) {
.reg .b64 %d<3>; .reg .b32 %r<3>;
.reg .pred %p;
mov.u32 %r1, %tid.x;
setp.ne.u32 %p, %r1, 5;
@%p bra out;
ld.param.u64 %d1, [y];
st.global.u32 [%d1+16], %r1;
out:
ret;
}
.visible .entry spin() {
.reg .b32 %r<3>;
mov.u32 %r1, 0;
again:
add.u32 %r1, %r1, 1;
bra again;
}
END
for mode in timing functional; do
    "$loom" run bad.ptx -k k -g 1 -b 64 u64:0 --mode $mode --trace f.db >text 2>errors
    "$loom" run bad.ptx -k k -g 1 -b 64 u64:0 --mode $mode --json --metrics all >json 2>errors
    equal "$mode: a fault has no cycles and no metrics" \
        "$("$loom" query f.db "SELECT cycles IS NULL, inst_executed > 0, (SELECT count(*) FROM metric), (SELECT count(*) FROM counter) FROM kernel" --csv | sed 1d)" 1,1,0,0
    equal "$mode: --json of a fault has no cycles and no metrics" "$(member complete) $(member cycles) $(grep -c '"metrics": {}' json)" "false null 1"
    equal "$mode: a fault is marked in the output" "$(grep -c 'stopped after' text) $(grep -cE 'a cycle|occupancy|hits' text)" "1 0"
    "$loom" run bad.ptx -k k -g 1 -b 64 u64:0 --mode $mode --summary >text 2>errors
    equal "$mode: a fault is marked in --summary" "$(grep -c 'did not complete' text) $(grep -cE 'occupancy|hits' text)" "1 0"
    equal "$mode: thread, block and line of a fault" \
        "$("$loom" query f.db "SELECT block_x, thread_x, ptx_line, address FROM fault" --csv | sed 1d)" 0,5,11,16
    "$loom" run bad.ptx -k spin -g 1 -b 64 --mode $mode --timeout 1 >text 2>errors
    equal "$mode: time limit" "$(grep -c 'stopped after' text) $(grep -c 'a cycle' text)" "1 0"
done
echo "1..$n"
