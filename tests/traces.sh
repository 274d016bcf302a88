#!/bin/sh
# traces.sh - end-to-end tests of traces: written by the command, read by the command and other SQLite clients.
#
# Each check runs ptxloom in a scratch folder and inspects its output. `equal NAME EXPECTED ACTUAL` is one test.
set -u
. "$srcdir/tests/scratch.sh"

ok() # NAME STATUS [REMARK]
{
    n=$((n + 1))
    if [ "$2" -eq 0 ]; then echo "ok $n - $1"; else
        echo "not ok $n - $1"
        [ $# -gt 2 ] && echo "$3" | sed 's/^/# /'
    fi
}
equal() { [ "$2" = "$3" ]; ok "$1" $? "expected: $2
found:    $3"; }
# The first column of the first row of an SQL query on a trace.
ask() { "$loom" query "$1" --csv "$2" 2>&1 | sed -n 2p; }

matmul=$root/examples/matmul.json

# --- sources named by .file

mkfifo pipe
for file in pipe .; do
    cat >named.ptx <<END
.version 8.6
.target sm_90
.address_size 64
.file 1 "$file"
.visible .entry k() { .reg .b32 %r; .loc 1 3 1
 mov.u32 %r, %clock; ret; }
END
    "$loom" run named.ptx -g 1 -b 1 --trace named.db >named.txt
    equal "a source that is not a regular file ($file) has no text" "$file 3 none" \
        "$(ask named.db "SELECT s.name || ' ' || l.line || ' ' || coalesce(l.text, 'none') FROM source s JOIN source_line l ON l.source = s.id WHERE s.name = '$file'")"
done

# --- contents of the rows

"$loom" run "$matmul" --trace m.db --trace-level mem >m.txt
"$loom" run "$root/examples/saxpy.ptx" -g 1 -b 32 u32:32 f32:2 'f32[32]=iota' 'f32[32]=1' --trace s.db --trace-level mem >s.txt
equal 'a load of uncached memory is served by DRAM' 2 "$(ask s.db "SELECT count(*) FROM mem JOIN mem_level l ON l.id = level
    JOIN access_kind k ON k.id = kind JOIN space s ON s.id = space WHERE l.name = 'dram' AND k.name = 'load' AND s.name = 'global'")"
equal 'its latency is recorded' 0 "$(ask m.db "SELECT count(*) FROM mem WHERE latency = 0")"
equal 'latency in the row of the instruction, loads and atomics' '0 0' "$(ask m.db "SELECT count(*) FILTER (WHERE i.latency <> m.latency) || ' ' ||
    count(*) FILTER (WHERE i.latency = 0) AS wrong FROM mem m JOIN inst i ON i.id = m.inst JOIN access_kind k ON k.id = m.kind WHERE k.name <> 'store'")"
"$loom" run "$matmul" --trace p.db --trace-level mem --trace-format packed >p.txt
equal 'latency in a packed trace' "$(ask m.db 'SELECT sum(latency * (id % 1000)) FROM inst')" "$(ask p.db 'SELECT sum(latency * (id % 1000)) FROM inst')"
equal 'latency if a filter omits instructions' "$(ask m.db 'SELECT sum(latency) FROM inst WHERE sm BETWEEN 3 AND 4')" "$("$loom" run "$matmul" \
    --trace f.db --trace-level inst --trace-sm 3:4 >f.txt; ask f.db 'SELECT sum(latency) FROM inst')"
equal 'every request has its row' 1 "$(ask m.db "SELECT sum(requests) = (SELECT count(*) FROM mem) FROM pc_stat")"
equal 'the numbers of a trace are consistent' 1,1,1,1,1,1 "$("$loom" query m.db --csv checks | sed -n 2p | tr -d '\r' | cut -d , -f 3-)"
equal 'the class of an instruction is that of its variant' 'ld st' "$(ask m.db "SELECT group_concat(class, ' ')
    FROM (SELECT DISTINCT f.class FROM pc_stat s JOIN instruction i USING (module, pc) JOIN isa_form f ON f.id = i.form
    WHERE i.space = 'shared' ORDER BY 1)")"
equal 'the machine description is in the trace' "$(grep -c '^[a-z_0-9]* *=' "$root/arch/h200.conf")" "$(ask m.db \
    "SELECT count(*) FROM machine_value")"
equal 'the machine description has units and origins' 132,chosen "$(ask m.db "SELECT value, 'chosen' FROM machine_value WHERE section = 'sm' AND key = 'count'
    AND provenance IN ('documented', 'measured', 'inferred', 'fitted', 'guessed', 'chosen')")"

# --- lines of CUDA, of inlined functions too

lines="$root/tests/ptx/exec/cuda/line_info.ptx"
"$loom" run "$lines" -g 1 -b 32 'f32[32]=iota' 'out:f32[32]' s32:3 --trace c.db --summary >c.txt
equal 'positions of the summary' 'line_info.cu:7 (inlined at line_info.cu:13)' "$(grep -o 'line_info.cu:7 .*' c.txt)"
equal 'positions of lines' 'line_info.cu:7 (inlined at line_info.cu:13)' "$("$loom" query c.db --csv hot_lines limit=1 | tr -d '\r' | sed -n 2p | sed 's/.*,//')"
equal 'positions of files and lines' '/src/line_info.cu,7,long_scoreboard' "$("$loom" query c.db --csv stalls_by_source limit=1 | tr -d '\r' | sed -n 2p | cut -d , -f 2-4)"
equal 'positions of three functions' 'line_info.cu:3 (inlined at line_info.cu:7, line_info.cu:13)' \
    "$("$loom" query c.db --csv "SELECT cuda FROM listing WHERE text LIKE 'ld.global%' ORDER BY pc LIMIT 1" | tr -d '\r"' | sed 1d)"
equal 'positions of advice' 2 "$("$loom" query c.db --advise | grep -cE 'bank conflicts at line_info.cu:1[35], PTX line [0-9]+:')"
"$loom" run "$lines" -g 1 -b 32 'f32[32]=iota' 'out:f32[32]' s32:3 -O0 --trace c0.db >c.txt
"$loom" diff c.db c0.db >c.txt
ok 'positions of a comparison' "$(grep -q 'mul.wide.s32.*  line_info.cu:3 (inlined at line_info.cu:7, line_info.cu:13)' c.txt; echo $?)"
awk '/\.reg/ { gsub(/<[0-9]+>/, "<400>") } { print }' "$lines" | sed '/\.reg/!s/%\(r\|rd\|f\)\([0-9]\)/%\13\2/g; s/\$L__BB0/$L__BB7/g' >renumbered.ptx
"$loom" run renumbered.ptx -g 1 -b 32 'f32[32]=iota' 'out:f32[32]' s32:3 --trace cr.db >c.txt
"$loom" diff c.db cr.db >c.txt
ok 'lines correspond if registers and labels have other numbers' "$(grep -q '^  0 of [0-9][0-9]* lines differ' c.txt; echo $?)" "$(cat c.txt)"
cat >constants.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{ .reg .u64 q; .reg .u32 i, x; .reg .pred z;
ld.param.u64 q, [p];
mov.u32 i, 0;
L:
ld.global.u32 x, [q];
add.s32 x, x, -7;
st.global.u32 [q+32], x;
add.s32 i, i, 1;
setp.lt.s32 z, i, 16;
@z bra L;
ret; }
END
sed 's/-7/9/; s/\[q\]/[q+4]/; s/i, 16/i, 20/' constants.ptx >changed.ptx
for k in constants changed; do "$loom" run $k.ptx -g 1 -b 1 'u32[64]=0' --trace $k.db >c.txt; done
"$loom" diff constants.db changed.db >c.txt
ok 'lines correspond if constants and offsets differ' "$(grep -q ' 10    10 .*add.s32 x, x, 9;  // was: add.s32 x, x, -7;$' c.txt &&
    grep -q '  9     9 .*ld.global.u32 x, \[q+4\];  // was: ld.global.u32 x, \[q\];$' c.txt; echo $?)" "$(cat c.txt)"
"$loom" run "$lines" -g 1 -b 32 'f32[32]=iota' 'out:f32[32]' s32:1000000 --trace cf.db >c.txt 2>&1
equal 'position of a fault' '3,/src/line_info.cu,line_info.cu:3 (inlined at line_info.cu:15)' \
    "$("$loom" query cf.db --csv 'SELECT src_line, src_file, cuda FROM fault' | tr -d '\r"' | sed 1d)"

"$loom" diff c.db cf.db >c.txt
ok 'a comparison names the launch that failed' "$(grep -q "^  cf.db: status 'fault', its figures cover the part before it stopped$" c.txt; echo $?)" "$(head -5 c.txt)"
"$loom" run "$lines" -g 1 -b 32 'f32[32]=iota' 'out:f32[32]' s32:3 --mode functional --trace cn.db >c.txt
"$loom" diff c.db cn.db >c.txt
ok 'a comparison names the launch without times' "$(grep -q "^  cn.db: functional mode, it has no cycles and no stalls$" c.txt; echo $?)" "$(head -5 c.txt)"
equal 'a launch of the command line has the name of its kernel' "$(ask c.db 'SELECT entry FROM kernel')" "$(ask c.db 'SELECT name FROM kernel')"

# --- a launch of several grids: its figures are the sums over them

"$loom" run "$root/tests/ptx/exec/programs/cdp.ptx" -k kernel -g 1 -b 4 'u32[1024]=hash:1' 'u32[256]' s32:1024 --trace d.db --trace-level mem >d.txt
equal 'device-side launches are included in every number' 1,1,1,1,1,1 "$("$loom" query d.db --csv checks | sed -n 2p | tr -d '\r' | cut -d , -f 3-)"
equal 'device-side launches are included in the metrics' 1 "$(ask d.db "SELECT (SELECT value FROM counter WHERE name = 'smsp__inst_executed.sum') = inst_executed AND inst_executed =
    (SELECT sum(issues) FROM pc_stat) AND cycles = (SELECT value FROM counter WHERE name = 'gpc__cycles_elapsed.max') AS same FROM kernel")"
equal 'blocks of all grids have distinct numbers' 1 "$(ask d.db "SELECT count(DISTINCT block) =
    (SELECT value FROM counter WHERE name = 'sm__ctas_launched.sum') AS same FROM inst")"
equal 'no warp issues twice in a cycle' 0 "$(ask d.db "SELECT count(*) FROM (SELECT 1 FROM inst GROUP BY block, warp, cycle HAVING count(*) > 1)")"
printf '{"ptx": "%s/tests/ptx/exec/cuda/printf.ptx", "entry": "helloCUDA", "grid": [1,1,1], "block": [5,1,1],
    "args": [{"scalar": "f32", "value": 1.2345}]}\n' "$(cd "$root" && pwd)" >hello.json
"$loom" run hello.json "$root/examples/overlap.json" hello.json --trace h.db >h.txt
for k in 1 3; do
    equal "lines printed by launch $k" "$(grep ^Hello h.txt | head -5)" "$("$loom" query h.db --csv "SELECT text AS t FROM event
        WHERE kind = 'print' AND kernel = $k ORDER BY id" | tail -n +2 | tr -d '"')"
done
equal 'no other lines were printed' 10 "$(ask h.db "SELECT count(*) FROM event")"
"$loom" run "$root/examples/overlap.json" --trace o.db --trace-level mem >o.txt
equal 'concurrent kernels: the numbers are consistent' 1,1,1,1,1,1 "$("$loom" query o.db --csv checks | sed -n 2p | tr -d '\r' | cut -d , -f 3-)"
equal 'blocks of the second start before those of the first have ended' 1 "$(ask o.db "SELECT
    min(cycle) FILTER (WHERE block >= 4) < max(cycle) FILTER (WHERE block < 4) AS early FROM inst")"

# --- slices and channels; older and newer files

# the launch itself reads 72 sectors and the kernel's code, which miss in both partitions of the L2
"$loom" query m.db --csv "WITH own(sectors) AS (SELECT (SELECT value FROM counter WHERE name = 'dram__sectors_read.sum') -
    (SELECT sum(value) FROM unit_time WHERE name = 'read_sectors'))
    SELECT (SELECT sectors BETWEEN 73 AND 400 FROM own),
    sum(value) FILTER (WHERE u.name = 'miss_sectors') + 2 * (SELECT sectors FROM own) = (SELECT value FROM counter WHERE name = 'lts__t_sectors_lookup_miss.sum'),
    max(unit) FILTER (WHERE component = 'l2 slice') < 96 FROM unit_time u" >units.txt
equal 'sums by slice and channel equal those of the whole GPU except its launch' 1,1,1 "$(sed -n 2p units.txt | tr -d '\r')"
# the L2 counters besides reads, writes and atomics: 3400 sectors, and more with the sectors requested by SMs, half of them in each
# partition
equal 'sectors not attributed to a named counter' 1,1,1 "$(ask m.db "WITH v AS (SELECT max(value) FILTER (WHERE name = 'lts__t_sectors.sum') AS s,
    sum(value) FILTER (WHERE name IN ('lts__t_sectors_op_read.sum', 'lts__t_sectors_op_write.sum', 'lts__t_sectors_op_atom.sum', 'lts__t_sectors_op_red.sum')) AS named,
    max(value) FILTER (WHERE name = 'lts__t_sectors_srcnode_gpc.sum') AS gpc, max(value) FILTER (WHERE name = 'lts__t_sectors_srcunit_ltcfabric.sum') AS far FROM counter)
    SELECT s - named > 3400, abs(s - named - 3400 - 0.16 * (gpc - (s - named - 3400) / 2)) < 1, abs(gpc + far - (s - 3400)) < 1 FROM v")"
xz -dc "$root/tests/data/old/schema-1.db.xz" >old.db
before=$(cksum <old.db)
equal 'a trace of schema 1 is read' 1 "$(ask old.db 'SELECT user_version FROM pragma_user_version')"
equal 'a trace of schema 1 has the current tables' 0 "$(ask old.db 'SELECT count(*) FROM unit_time')"
# The names of the current queries, one per line: in the shell, one process answers all of them.
"$loom" query m.db --csv 'SELECT name FROM query ORDER BY name' | tail -n +2 | tr -d '\r' >names
"$loom" shell old.db <names >q.txt 2>&1
ok 'a trace of schema 1 answers every current query' $? "$(head -20 q.txt)"
equal 'a trace of schema 1 has every current metric' "$(ask m.db 'SELECT count(*) FROM metric_info')" "$(ask old.db 'SELECT count(*) FROM metric_info')"
equal 'a trace of schema 1 has its recorded values' 100 "$(ask old.db 'SELECT value FROM gld_efficiency')"
"$loom" report old.db -o old.html >f.txt 2>f.err
equal 'a report of a trace of schema 1 is written' '0 1' "$? $(grep -c '<html' old.html)"
equal 'a trace of schema 1 is not modified' "$before" "$(cksum <old.db)"

# --- packed traces give the same results

module=${PTXLOOM_TRACE_MODULE:-$(dirname "$loom")/ptxloom_trace}
# The rows of the named queries, except the command line and the emulation time.
answers() # FILE
{
    { echo .mode csv; sed "s/.*/SELECT '& gives';\n&/" names; } | "$loom" shell "$1" 2>&1 | grep -v ',ptxloom run '
}
for case in bfs_level hgemm_async nested_divergence; do
    for format in rows packed; do
        "$loom" run "$root/tests/data/suite/cases/$case.json" -g 3 --trace $format.db --trace-level mem --trace-format $format >$format.txt
        answers $format.db >$format.answers
    done
    cmp -s rows.answers packed.answers
    ok "$case: every query gives the same result on packed events" $? "$(diff rows.answers packed.answers | head -20)"
    equal "$case: every value is the same" 0,0,0,0 "$("$loom" query rows.db --csv "ATTACH 'packed.db' AS p;
        SELECT (SELECT count(*) FROM (SELECT * FROM inst EXCEPT SELECT * FROM p.inst)) a, (SELECT count(*) FROM (SELECT * FROM p.inst
        EXCEPT SELECT * FROM inst)) b, (SELECT count(*) FROM (SELECT * FROM mem EXCEPT SELECT * FROM p.mem)) c, (SELECT count(*) FROM
        (SELECT * FROM p.mem EXCEPT SELECT * FROM mem)) d" | tail -1 | tr -d '\r')"
done
# Queries that evaluate equal accesses once, compared with the same query evaluated for each lane.
by_lane() # QUERY COLUMNS SQL
{
    for case in bfs_level hgemm_async transpose_shared; do
        equal "$1 of $case, lane by lane" "$("$loom" query $case.db --csv "$3" | tail -n +2)" \
            "$("$loom" query $case.db --csv "$1" | tail -n +2 | sed 's|"[^"]*"||' | cut -d , -f "$2")"
    done
}
for case in bfs_level hgemm_async transpose_shared; do
    "$loom" run "$root/tests/data/suite/cases/$case.json" -g 3 --trace $case.db --trace-level mem >$case.txt
done
by_lane hot_cache_lines 1-4 "SELECT kernel, space, printf('0x%x', address / 128 * 128), count(*) FROM mem_lane GROUP BY kernel, space, address / 128
    ORDER BY 4 DESC, address / 128 LIMIT 20"
by_lane shared_banks 1-4 "SELECT kernel, address / 4 % 32, count(*), count(DISTINCT address / 4) FROM mem_lane WHERE space = 'shared' GROUP BY 1, 2"
by_lane sector_reuse 1-5 "WITH s AS (SELECT DISTINCT m.kernel, m.sm, m.id, l.address >> 5 AS sector FROM mem_lane l JOIN mem m ON m.id = l.mem
    WHERE l.space = 'global' AND l.kind = 'load'), t AS (SELECT kernel, count(*) AS uses, count(DISTINCT sm) AS sms FROM s GROUP BY kernel, sector)
    SELECT kernel, uses, count(*), count(*) * 32, round(avg(sms), 1) FROM t GROUP BY 1, 2 ORDER BY 1, 2"
by_lane reuse_distance 1,2,4-7,9 "WITH a AS (SELECT DISTINCT m.kernel, m.sm, m.inst, m.pc, l.kind, m.cycle, l.address >> 7 AS line FROM mem_lane l
    JOIN mem m ON m.id = l.mem WHERE l.space = 'global'), p AS (SELECT *, dense_rank() OVER (PARTITION BY kernel, sm ORDER BY cycle, inst) AS n FROM a),
    u AS (SELECT *, n - lag(n) OVER (PARTITION BY kernel, sm, line ORDER BY n) AS distance FROM p)
    SELECT kernel, pc, count(*), count(distance), round(avg(distance), 1), min(distance), max(distance) FROM u WHERE kind = 'load' GROUP BY 1, 2"

# Conditions that skip blocks must not skip matching rows.
sums="SELECT count(*), sum(cycle * 7 + pc), min(id), max(latency) FROM"
for where in 'sm = 1' 'warp = 2' 'block IN (0, 2)' 'pc BETWEEN 3 AND 9' 'cycle > 3000' 'cycle <= 2500.5' 'kernel = 2' 'id = 700' \
    'id > 100 AND id < 300' "block = '1'" 'pc = NULL' 'warp >= -1' 'cycle < 4000 AND sm = 2 AND warp = 1' 'pc > 5 AND pc < 5'; do
    for table in inst mem; do
        echo "$sums $table WHERE $where;"
    done
done >conditions.sql
for format in rows packed; do "$loom" query $format.db --csv - <conditions.sql >$format.sums; done
equal 'conditions with sums' "$(wc -l <conditions.sql)" "$(grep -c '^[0-9]' rows.sums)"
cmp -s rows.sums packed.sums
ok 'conditions with sums on packed events' $? "$(diff rows.sums packed.sums | head -20)"
join='SELECT count(*), sum(n.stall_cycles * m.sectors) FROM mem m JOIN inst n ON n.id = m.inst WHERE m.pc % 2'
equal 'joins of mem and inst' "$("$loom" query rows.db --csv "$join")" "$("$loom" query packed.db --csv "$join")"
equal 'foreign keys of a packed trace hold' 0 "$(ask packed.db 'SELECT count(*) FROM pragma_foreign_key_check')"
equal 'foreign keys of rows hold' 0 "$(ask rows.db 'SELECT count(*) FROM pragma_foreign_key_check')"

# Other programs, if available: plain rows directly, packed events through the module.
if command -v sqlite3 >shell.txt && echo '.load ./x' | sqlite3 2>&1 | grep -qv 'unknown command'; then
    plain() { tr -d '\r"' | sed 's/\.0,/,/g; s/\.0$//'; } # both print 1.0 and quotes differently
    for q in hot_instructions warp_trace strides; do
        sql=$(sqlite3 rows.db "SELECT sql FROM query WHERE name = '$q'")
        equal "sqlite3 reads rows: $q" "$("$loom" query rows.db --csv $q | tail -n +2 | plain)" \
            "$(printf '%s\n' "$sql" | sqlite3 -csv rows.db | plain)"
        equal "sqlite3 reads packed events: $q" "$("$loom" query rows.db --csv $q | tail -n +2 | plain)" \
            "$(printf '%s\n' "$sql" | sqlite3 -csv -cmd ".load $module" packed.db | plain)"
    done
    equal 'sqlite3 without the module reports the missing module' 1 "$(sqlite3 packed.db 'SELECT count(*) FROM inst' 2>&1 |
        grep -c 'no such module: ptxloom_trace')"
    equal 'sqlite3 without the module reads everything else' "$(ask packed.db 'SELECT sum(issues) FROM pc_stat')" \
        "$(sqlite3 packed.db 'SELECT sum(issues) FROM pc_stat')"
fi
if python3 -c 'import sqlite3; sqlite3.connect(":memory:").enable_load_extension(True)' 2>python.txt; then
    cat >all.py <<'PYTHON'
import sqlite3, sys
a = sqlite3.connect("file:rows.db?mode=ro", uri=True)
b = sqlite3.connect("file:packed.db?mode=ro", uri=True)
b.enable_load_extension(True)
b.load_extension(sys.argv[1])
bad = []
for name, sql in a.execute("SELECT name, sql FROM query WHERE name <> 'run_info'").fetchall():
    values = {k: None for k in "kernel limit block warp a b from to sm pc access line".split()}
    x, y = (c.execute(sql.rstrip().rstrip(";"), values).fetchall() for c in (a, b))
    if x != y:
        bad.append(name)
print(*bad or ["same"])
PYTHON
    equal 'Python gets the same results from both' same "$(python3 all.py "$module" 2>&1 | tail -1)"
fi

# --- filters and limits

counts() { ask f.db "SELECT (SELECT count(*) FROM inst) || ' ' || (SELECT count(*) FROM mem)"; }
filtered() # OPTION ...
{
    "$loom" run "$matmul" --trace f.db --trace-level mem "$@" >f.txt 2>&1 || cat f.txt
    counts
}
count() { ask m.db "SELECT (SELECT count(*) FROM inst WHERE $1) || ' ' || (SELECT count(*) FROM mem WHERE $1)"; }
for format in rows packed; do
    f="--trace-format $format"
    equal "$format: --trace-sm" "$(count 'sm IN (3, 5, 6)')" "$(filtered $f --trace-sm 3,5:6)"
    equal "$format: --trace-block" "$(count 'block >= 60')" "$(filtered $f --trace-block 60:)"
    equal "$format: --trace-warp" "$(count 'warp = 2')" "$(filtered $f --trace-warp=2)"
    equal "$format: --trace-pc" "$(count 'pc BETWEEN 20 AND 30')" "$(filtered $f --trace-pc 20:30)"
    equal "$format: --trace-pc by line" "$(count 'pc IN (SELECT pc FROM instruction WHERE ptx_line BETWEEN 67 AND 70)')" \
        "$(filtered $f --trace-pc line:67:70)"
    equal "$format: --trace-cycles" "$(count 'cycle BETWEEN 3000 AND 4000')" "$(filtered $f --trace-cycles 3000:4000)"
    equal "$format: --trace-class" "$(count "pc IN (SELECT pc FROM instruction WHERE access = 'store')")" \
        "$(filtered $f --trace-class store)"
    equal "$format: --trace-kernel" "$(count 1)" "$(filtered $f --trace-kernel 'mat*')"
    equal "$format: --trace-kernel with another kernel" '0 0' "$(filtered $f --trace-kernel other)"
    equal "$format: all filters combined" "$(count 'sm = 1 AND warp = 3 AND pc < 40 AND cycle > 2000')" \
        "$(filtered $f --trace-sm 1 --trace-warp 3 --trace-pc :39 --trace-cycles 2001:)"
    equal "$format: statistics remain complete" "$(ask m.db 'SELECT sum(executed) FROM pc_stat')" "$(ask f.db 'SELECT sum(executed) FROM pc_stat')"
    filtered $f --trace-sample 1/8 >sample.txt
    equal "$format: --trace-sample keeps whole warps" 0 "$(ask f.db "SELECT count(*) FROM (SELECT block, warp, count(*) AS n FROM inst
        GROUP BY 1, 2) x JOIN warp w USING (block, warp) WHERE x.n <> w.executed")"
    equal "$format: about one in eight" 1 "$(ask f.db 'SELECT count(*) BETWEEN 30 AND 110 FROM (SELECT DISTINCT block, warp FROM inst)')"
    limit=6000
    [ $format = packed ] && limit=1200
    "$loom" run "$matmul" --trace f.db --trace-level mem $f --trace-limit ${limit}K >f.txt 2>f.err
    equal "$format: --trace-limit does not stop the run" "0 1 1" "$? $(grep -cF "$(grep 'instructions  ' m.txt)" f.txt) $(grep -c 'W0708' f.err)"
    equal "$format: --trace-limit does not affect the statistics" "$(ask m.db 'SELECT inst_executed FROM kernel')" "$(ask f.db 'SELECT sum(issues) FROM pc_stat')"
    equal "$format: dropped rows are counted" "$(ask m.db 'SELECT (SELECT count(*) FROM inst) + (SELECT count(*) FROM mem)')" "$(ask f.db "SELECT (SELECT count(*) FROM inst) + (SELECT count(*) FROM mem) + dropped FROM kernel")"
    [ "$(wc -c <f.db)" -le $((limit * 1024)) ]
    ok "$format: the file respects the limit" $? "$(wc -c f.db)"
    "$loom" run "$matmul" --trace f.db --trace-level mem $f --trace-limit 1200K >f.txt 2>f.err
    [ "$(wc -c <f.db)" -le 1228800 ] && [ "$(ask f.db 'SELECT count(*) FROM inst')" -gt 3000 ]
    ok "$format: the file respects a small limit" $? "$(wc -c f.db) $(ask f.db 'SELECT count(*) FROM inst')"
done
"$loom" run "$matmul" --trace f.db --trace-sm 1-3 >f.txt 2>f.err
equal 'an invalid filter is invalid input' '2 1' "$? $(grep -c "'1-3' is not a value for --trace-sm" f.err)"

equal 'foreign keys of filtered and limited traces hold' 0 "$(ask f.db 'SELECT count(*) FROM pragma_foreign_key_check')"

# --- metrics

xz -dc "$root/tests/data/suite/metrics.tsv.xz" >recorded.tsv
cut -f 2 recorded.tsv | grep -v '^metric$' | sort -u >recorded.names
equal 'every recorded Nsight Compute name is a metric' '' "$("$loom" query m.db --csv 'SELECT name FROM metric_info' | tr -d '\r' | sort -u |
    comm -23 recorded.names -)"
for m in branch_efficiency branch divergent_branch achieved_occupancy gld_throughput gst_throughput gld_efficiency gst_efficiency \
    gld_transactions gst_transactions gld_transactions_per_request gst_transactions_per_request gld_requested_throughput \
    gst_requested_throughput dram_read_throughput dram_write_throughput inst_per_warp stall_sync shared_load_transactions_per_request \
    shared_store_transactions_per_request shared_efficiency l1_shared_bank_conflict shared_load shared_store l1_local_load_hit \
    l1_local_load_miss l1_local_store_hit l1_local_store_miss l1_cache_local_hit_rate inst_executed inst_issued ipc \
    warp_execution_efficiency; do
    "$loom" query m.db "SELECT value FROM $m" >said.txt 2>&1 && "$loom" explain "$m" >>said.txt 2>&1
    ok "nvprof's $m is a view and is explained" $? "$(cat said.txt)"
done
# NULL as the definition marks metrics without a counterpart in the model; their meaning gives the reason. All others have a value
# here, except hit rates and efficiencies of operations that the launch does not perform.
"$loom" query m.db --csv "SELECT name FROM metric_info i WHERE name NOT IN (SELECT name FROM metric)
    AND (SELECT sql FROM sqlite_schema s WHERE s.name = i.name) NOT LIKE '%SELECT k.id AS kernel, NULL AS value%'" | tr -d '\r' | sed 1d >without.txt
equal 'every metric supported by the model has a value' 'l1_cache_local_hit_rate local_hit_rate ' "$(sort without.txt | tr '\n' ' ')"
equal 'unsupported metrics give a reason' 'launch__tpc_enabled - metric (ncu), in setting it has no value: nothing in the model corresponds to it' \
    "$("$loom" explain launch__tpc_enabled | sed -n '1p;/no value/p' | tr -s '\n ' ' ' | sed 's/ $//')"
"$loom" run "$root/tests/data/suite/cases/cluster_hist.json" --metrics smsp__inst_executed_pipe_tex.sum,launch__stack_size | awk '/__/ {print $1, $2}' >ours.txt
awk -F '\t' '$1 == "cluster_hist" {print $2, $3}' recorded.tsv | sort | join - ours.txt | awk '$2 != $3' >apart.txt
equal 'cluster barriers empty the L1 as recorded' "2 " "$(wc -l <ours.txt | tr -d ' ') $(cat apart.txt)"
# If addresses and shapes determine them, the numbers equal those recorded by Nsight Compute.
exact=l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
exact=$exact,l1tex__t_requests_pipe_lsu_mem_global_op_st.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
exact=$exact,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
exact=$exact,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum
exact=$exact,smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct,smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct
exact=$exact,launch__grid_size,launch__block_size,launch__thread_count,launch__shared_mem_per_block,launch__shared_mem_per_block_allocated,launch__barrier_count
exact=$exact,launch__occupancy_limit_warps,launch__occupancy_limit_blocks,launch__occupancy_limit_barriers
exact=$exact,smsp__warps_launched.sum,sm__ctas_launched.sum
for case in transpose_naive_row transpose_shared copy_strided_8 gather_idx saxpy4 stencil2d; do
    "$loom" run "$root/tests/data/suite/cases/$case.json" --metrics $exact | awk '/^  [a-z0-9]*__/ {print $1, $2 == "-" ? 0 : $2}' | sort >ours.txt
    awk -F '\t' -v c=$case '$1 == c {print $2, $3}' recorded.tsv | sort | join - ours.txt | awk '{
        d = $2 - $3; if (d < 0) d = -d; if (d > 0.0051) print }' >apart.txt # percentages were recorded with two digits
    equal "$case: 19 metrics equal the recorded ones" "19 " "$(join recorded.names ours.txt | wc -l | tr -d ' ') $(cat apart.txt)"
done
# Random bytes of a table of constants: one pass for each address, 13.8 of 16.
"$loom" run "$(dirname "$loom")/tests/corpus/cases/present_light_blocks.json" --metrics idc__requests.sum | awk '/^  idc__/ {gsub(",", "", $2); print $1, $2}' >ours.txt
xz -dc "$root/tests/data/corpus/metrics.tsv.xz" | awk -F '\t' '$1 == "present_light_blocks" && $2 == "idc__requests.sum" {print $2, $3}' >bytes.txt
equal 'bytes of constants: passes as recorded, to a thousandth' '1' "$(join ours.txt bytes.txt | awk '{d = $2 - $3; if (d < 0) d = -d; if (d < $3 / 1000) print}' | wc -l | tr -d ' ')"
# Texels are loaded through the L1, but no counter of the LSU counts them.
"$loom" run "$(dirname "$loom")/tests/corpus/cases/neighbours_fetched_linearly.json" --metrics l1tex__m_xbar2l1tex_read_sectors.sum,smsp__inst_executed_pipe_lsu.sum,l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum |
    awk '/^  [a-z0-9]*__/ {print $1, $2}' | sort >ours.txt
xz -dc "$root/tests/data/corpus/metrics.tsv.xz" | awk -F '\t' '$1 == "neighbours_fetched_linearly" {print $2, $3}' | sort >texels.txt
equal 'fetches of texels: sectors and instructions as recorded' '3' "$(join ours.txt texels.txt | awk '$2 == $3' | wc -l | tr -d ' ')"
# Copies bypassing the L1 whose lanes write different 32-byte slots of shared memory than their sectors, in tiles of 80 and 144 bytes per row and of
# core matrices.
for case in bf16_panels_by_ldmatrix hgemm_three_stages group_tiles_in_a_long_loop; do
    "$loom" run "$(dirname "$loom")/tests/corpus/cases/$case.json" --metrics l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum | awk '/^  l1tex__t_sec/ {print $1, $2}' >ours.txt
    xz -dc "$root/tests/data/corpus/metrics.tsv.xz" | awk -F '\t' -v c=$case '$1 == c {print $2, $3}' | sort >copies.txt
    equal "$case: sectors of asynchronous copies as recorded" '1' "$(join ours.txt copies.txt | awk '$2 == $3' | wc -l | tr -d ' ')"
done
equal 'metrics by a pattern, each once' 'gld_efficiency gld_requested_throughput gld_throughput gld_transactions gld_transactions_per_request' \
    "$("$loom" run "$matmul" --metrics 'gld_eff*,gld*' | sed -n 's/^  \(gld[a-z_]*\).*/\1/p' | sort | tr '\n' ' ' | sed 's/ $//')"
equal 'a pattern without a match' 2 "$("$loom" run "$matmul" --metrics 'gld*,x*' >f.txt 2>&1; echo $?)"
unknown=$(ask m.db "SELECT group_concat(name, ' ') FROM (SELECT name FROM query UNION SELECT replace(name, ' ', '_') FROM rule)" |
    tr ' ' '\n' | while read -r name; do "$loom" explain "$name" >f.txt 2>&1 || echo "$name"; done)
equal 'every query and rule is explained' '' "$unknown"
equal 'unknown metric' 2 "$("$loom" run "$matmul" --metrics gld_eficiency >f.txt 2>&1; echo $?)"
equal 'equal in output, JSON and trace' "$(ask m.db 'SELECT value FROM gld_transactions')" "$("$loom" run "$matmul" --json \
    --metrics gld_transactions | sed -n 's/.*"gld_transactions": \([0-9.]*\).*/\1/p')"

# --- advice on recorded kernels: required findings, and findings that must not be reported

advice() { "$loom" run "$root/tests/data/suite/cases/$1.json" --trace a.db --trace-level summary >a.txt && "$loom" query a.db --csv advice | tr -d '\r'; }
advice const_mem >advice.txt
equal 'serialised constants: arithmetic is not reported' '1 0' "$(grep -c ',constant divergence,' advice.txt) $(grep -c ',dependent arithmetic,' advice.txt)"
equal 'loads that would fit: the carve-out is not reported' 0 "$(advice dgemm | grep -c ',carve out,')"
equal 'loads of other data: the carve-out is not reported' 0 "$(advice wgmma_bf16 | grep -c ',carve out,')"
equal 'atomics: division is not reported' 0 "$(advice atomic_same | grep -c ',expensive instructions,')"

# --- requests that need no more sectors, and lanes that share an address

column() { "$loom" query a.db --ndjson "$1" | sed -n "s|.*\"$2\": \([^,}]*\).*|\1|p"; }
for entry in fires quiet; do
    "$loom" run "$root/tests/advice/atomic_contention.ptx" -k $entry -g 4 -b 128 'f32[65536]' u32:0 --trace a.db --trace-level mem >a.txt
    column atomics lanes/address >>lanes.txt
done
equal 'lanes per address of a request, not of the launch' '32 32 32 32 1 1 1 1' "$(echo $(cat lanes.txt))"
cat >lonely.ptx <<'END'
.version 8.6
.target sm_90
.address_size 64
.visible .entry lonely(.param .u64 x) { .reg .b32 %t; .reg .b64 %p, %o; .reg .pred %c;
 ld.param.u64 %p, [x]; mov.u32 %t, %tid.x;
 setp.eq.u32 %c, %t, 0; @%c st.global.u32 [%p], %t;
 mul.wide.u32 %o, %t, 8; add.u64 %p, %p, %o; st.global.u32 [%p], %t; ret; }
END
"$loom" run lonely.ptx -g 1 -b 32 'u32[64]' --trace a.db >a.txt
equal 'a lane that needs one sector is coalesced' '8 of 4' "$(column uncoalesced sectors/request) of $(column uncoalesced minimum)"

# --- a query of data that the trace does not have

"$loom" run "$matmul" --trace l.db --trace-level summary >f.txt
equal 'missing rows are reported' '1 mem summary' "$("$loom" query l.db hot_cache_lines 2>&1 |
    sed -n "s/.*query 'hot_cache_lines' needs rows of a trace of level \([a-z]*\), and this one has level \([a-z]*\) .*/1 \1 \2/p")"
equal 'no missing rows are reported for a complete trace' '0 0 1' "$("$loom" query m.db hot_cache_lines 2>&1 | grep -c W0710) $("$loom" query l.db hot_lines 2>&1 |
    grep -c W0710) $("$loom" query l.db slow_warps 2>&1 | grep -c W0710)"

# --- failures

expect=$(sed -n 's/.*sha256 //p' m.txt)
result() { sed -n 's/.*sha256 //p' "$1"; }
echo precious >not-a-trace
"$loom" run "$matmul" --trace not-a-trace >f.txt 2>f.err
equal 'a foreign file is not changed' precious "$(cat not-a-trace)"
mkdir closed && chmod a-w closed
if ! touch closed/x 2>f.err; then
    "$loom" run "$matmul" --trace closed/run.db >f.txt 2>f.err
    equal 'unwritable folder: status, no launch, message' "2  1" "$? $(result f.txt) $(grep -c 'closed/run.db' f.err)"
fi
"$loom" run "$matmul" --trace missing/run.db >f.txt 2>f.err
equal 'nonexistent folder: status, no launch, message' "2  1" "$? $(result f.txt) $(grep -c "missing/run.db.*No such" f.err)"
for format in rows packed; do
    rm -f full.db # the disk fills up during the launch: a packed trace begins with 0.62 MB and ends with 2.1 MB
    (ulimit -f $([ $format = rows ] && echo 8000 || echo 2400); "$loom" run "$matmul" --trace full.db --trace-level mem --trace-format $format >f.txt 2>f.err; echo $? >status)
    equal "$format: full disk: status, result, message, no file" "3 $expect 1 none" \
        "$(cat status) $(result f.txt) $(grep -c 'full.db' f.err) $(ls full.db* 2>ls.err || echo none)"
    # Killed at different moments: either no file, or a complete one.
    whole=0
    for delay in 0.02 0.05 0.1 0.2 0.3 0.5; do
        rm -f killed.db killed.db.part
        "$loom" run "$matmul" --trace killed.db --trace-level mem --trace-format $format >f.txt 2>f.err &
        pid=$!
        sleep $delay
        kill -9 $pid 2>kill.err
        wait $pid 2>kill.err
        [ ! -e killed.db ] || [ "$(ask killed.db 'SELECT integrity_check FROM pragma_integrity_check')" = ok ] || whole=1
    done
    ok "$format: killed at random times" $whole
    "$loom" run "$matmul" --trace killed.db --trace-format $format >f.txt 2>f.err
    equal "$format: the run after a kill writes the file" "0 $expect" "$? $(result f.txt)"
done
if command -v sqlite3 >shell.txt; then
    cp m.db locked.db
    cp m.db locked.db.part
    (echo 'BEGIN EXCLUSIVE;'; echo '.shell touch locked.ready'; sleep 20) | sqlite3 locked.db.part >shell.txt 2>&1 &
    holder=$!
    for wait in 1 2 3 4 5 6 7 8 9 10; do [ -e locked.ready ] || sleep 1; done
    before=$(cksum <locked.db)
    "$loom" run "$matmul" --trace locked.db >f.txt 2>f.err
    equal 'locked file: status, no launch, message' "3  1" "$? $(result f.txt) $(grep -c 'another program' f.err)"
    equal 'a locked trace is not changed' "$before" "$(cksum <locked.db)"
    kill $holder 2>kill.err
fi

echo "1..$n"
