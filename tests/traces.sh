#!/bin/sh
# traces.sh - traces from end to end: the command writes them, the command and other SQLite clients read them.
#
# Each check runs ptxloom in a scratch folder and looks at what it left. `equal NAME EXPECTED ACTUAL` is one test.
set -u
LC_ALL=C
export LC_ALL
loom=${PTXLOOM:-$PWD/ptxloom}
case $srcdir in /*) root=$srcdir ;; *) root=$PWD/$srcdir ;; esac
PTXLOOM_ARCH_PATH=$root/arch
export PTXLOOM_ARCH_PATH
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ptxloom-traces.XXXXXX") || exit 99
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
n=0

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
# The first column of the first row that SQL gives on a trace.
ask() { "$loom" query "$1" --csv "$2" 2>&1 | sed -n 2p; }

matmul=$root/examples/matmul.json
saxpy="$root/examples/saxpy.ptx -g 4 -b 256 u32:1000 f32:2 f32[1000]=iota f32[1000]=1"

# --- what the rows say

"$loom" run "$matmul" --trace m.db --trace-level mem >m.txt
equal 'a load from untouched memory comes from DRAM' 8192 "$(ask m.db "SELECT count(*) FROM mem JOIN mem_level l ON l.id = level
    JOIN access_kind k ON k.id = kind JOIN space s ON s.id = space WHERE l.name = 'dram' AND k.name = 'load' AND s.name = 'global'")"
equal 'and says how long it took' 0 "$(ask m.db "SELECT count(*) FROM mem WHERE latency = 0")"
equal 'every request has its row' 1 "$(ask m.db "SELECT sum(requests) = (SELECT count(*) FROM mem) FROM pc_stat")"
equal 'the class of an instruction is that of its variant' 'ld st' "$(ask m.db "SELECT group_concat(class, ' ')
    FROM (SELECT DISTINCT f.class FROM pc_stat s JOIN instruction i USING (module, pc) JOIN isa_form f ON f.id = i.form
    WHERE i.space = 'shared' ORDER BY 1)")"
equal 'the machine description is in the trace' "$(grep -c '^[a-z_0-9]* *=' "$root/arch/h200.conf")" "$(ask m.db \
    "SELECT count(*) FROM machine_value")"
equal 'with units and origins' 132,chosen "$(ask m.db "SELECT value, 'chosen' FROM machine_value WHERE section = 'sm' AND key = 'count'
    AND provenance IN ('documented', 'measured', 'inferred', 'guessed', 'chosen')")"

echo "1..$n"
