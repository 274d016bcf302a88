#!/bin/sh
# examples.sh - the examples of instructions in `ptxloom explain` assemble, and every instruction has one.
set -u
. "$srcdir/tests/scratch.sh"
frame=$root/tests/data/ptxas/frame.ptx

sed -n 's/^EXAMPLE("\([^"]*\)", "\([^"]*\)", "\([^"]*\)", "\(.*\)")$/\1|\2|\3|\4/p' "$root/isa/table/mnemonic_examples.def" >examples
bad=
while IFS='|' read -r name version target statement; do
    while IFS= read -r line; do
        case $line in
        .version*) echo ".version $version" ;;
        .target*) echo ".target $target" ;;
        @STATEMENT@) echo "$statement" ;;
        *) echo "$line" ;;
        esac
    done <"$frame" >one.ptx
    "$loom" check one.ptx >out 2>&1 || { bad="$bad $name"; sed 's/^/# /' out; }
done <examples
n=$((n + 1))
if [ -s examples ] && [ -z "$bad" ]; then echo "ok $n - $(wc -l <examples) examples assemble"; else echo "not ok $n - examples that do not assemble:$bad"; fi

missing=
for name in $(sed -n 's/^insn \([a-z0-9]*\) .*/\1/p' "$root"/isa/table/*.isa | sort -u); do
    "$loom" explain "$name" 2>/dev/null | grep -q '^  example: ' || missing="$missing $name"
done
n=$((n + 1))
if [ -z "$missing" ]; then echo "ok $n - every instruction has an example"; else echo "not ok $n - no example of$missing"; fi
echo "1..$n"
