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
echo "1..$n"
