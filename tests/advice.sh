#!/bin/sh
# advice.sh - the rules of `ptxloom query --advise`: each has a kernel that it must report, and one that it must not report.
#
# tests/advice/RULE.ptx holds both, as `fires` and `quiet`, and their launch parameters; further kernels are fires_NAME and quiet_NAME.
# A line that ends in "// xN" is repeated N times. A rule of traces/rules/ without a test fails here.
set -u
. "$srcdir/tests/scratch.sh"

for file in "$root"/traces/rules/*.sql; do
    name=$(basename "$file" .sql)
    [ "$name" = with ] && continue
    rule=$(echo "$name" | tr _ ' ')
    for entry in fires quiet $(sed -n 's|^// \([fq][a-z]*_[a-z]*\): .*|\1|p' "$root/tests/advice/$name.ptx"); do
        n=$((n + 1))
        if [ ! -f "$root/tests/advice/$name.ptx" ]; then
            echo "not ok $n - the rule '$rule' has no test"
            continue
        fi
        awk '{ n = 1; if (match($0, /\/\/ x[0-9]+$/)) { n = substr($0, RSTART + 4); $0 = substr($0, 1, RSTART - 1) } while (n-- > 0) print }' \
            "$root/tests/advice/$name.ptx" >kernel.ptx
        arguments=$(sed -n "s|^// $entry: ||p" "$root/tests/advice/$name.ptx")
        eval "\"\$loom\" run kernel.ptx -k $entry $arguments --trace run.db --trace-level summary" >said.txt 2>&1 || arguments=failed
        found=$("$loom" query run.db --csv advice | tr -d '\r' | grep -c ",$rule,")
        expected=0
        case $entry in fires*) expected=1 ;; esac
        [ "$found" -gt 0 ] && found=1
        if [ "$arguments" != failed ] && [ "$found" = $expected ]; then
            echo "ok $n - $rule: $entry"
        else
            echo "not ok $n - $rule: $entry"
            { tail -3 said.txt; "$loom" query run.db --csv advice; "$loom" query run.db stalls; } | sed 's/^/# /'
        fi
    done
done

# A CUDA line that is unrolled has one row, with the sum of the shares of its PTX lines, of which each alone may be too small to report.
unrolled() # NUMBER-OF-COPIES
{
    awk -v copies="$1" '
        /^\.visible/ && !files++ { print ".file 1 \"tile.cu\"" }
        /ld\.shared/ { print ".loc 1 7 1"; for (k = 0; k < copies; k++) print; print ".loc 1 8 1"; next }
        { print }' "$root/tests/advice/bank_conflicts.ptx" >kernel.ptx
    "$loom" run kernel.ptx -O0 -k fires -g 4 -b 128 'out:f32[65536]=1' u32:0 --trace run.db --trace-level summary >said.txt 2>&1
    "$loom" query run.db --csv "SELECT count(*), sum(conflicts > 0), 100.0 * sum(conflicts) FILTER (WHERE cuda = 'tile.cu:7') /
        (SELECT sum(wavefronts) FROM access WHERE kernel = 1) FROM pc_stat JOIN instruction USING (module, pc) WHERE cuda IS NOT NULL" | tail -1 >counted.txt
    "$loom" query run.db --csv advice | grep ',bank conflicts,.*tile.cu:7' >rows.txt
    n=$((n + 1))
    if [ "$(wc -l <rows.txt)" -eq 1 ] && grep -q "PTX line [0-9]* and $(($1 - 1)) others: .*alone" rows.txt &&
        awk -F, 'NR == FNR { expected = $3; next } { exit ($2 - expected) ^ 2 > 0.01 }' counted.txt rows.txt; then
        echo "ok $n - one row for $1 copies of a line"
    else
        echo "not ok $n - one row for $1 copies of a line"
        sed 's/^/# /' said.txt counted.txt rows.txt
    fi
}
unrolled 4
unrolled 60
echo "1..$n"
