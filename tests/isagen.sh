#!/bin/sh
# isagen.sh - the generator of the instruction table accepts valid tables and rejects each kind of invalid one.
#
#   tests/isagen/ok-NAME.isa    accepted; comment lines "# FILE: TEXT" give text that the generated FILE must contain
#   tests/isagen/refused.txt    tables that are rejected, each after a line "== NAME"; its first line "# [FILE:]LINE: TEXT" is the
#                               beginning of the only message
#
# To add a test, add a table. The tables include the other files of the folder.
srcdir=${srcdir:-.}
isagen=${builddir:-.}/isa/isagen
tables=$srcdir/tests/isagen
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/refused"
cp "$tables"/loop.isa "$scratch/refused"
awk -v folder="$scratch/refused" '/^== /{ close(file); file = folder "/err-" $2 ".isa"; next } { print >file }' "$tables/refused.txt"
tests=0
failed=0

# report NAME: prints the result for one table; $scratch/wrong has the error, or is empty.
report() {
    tests=$((tests + 1))
    if [ -s "$scratch/wrong" ]; then
        failed=$((failed + 1))
        echo "not ok $tests - $1"
        sed 's/^/#   /' "$scratch/wrong"
    else
        echo "ok $tests - $1"
    fi
}

for table in "$tables"/ok-*.isa; do
    out=$scratch/$(basename "$table" .isa)
    mkdir "$out"
    : >"$scratch/wrong"
    "$isagen" "$out" "$table" >"$scratch/said" 2>&1 || echo "isagen ended with $?" >>"$scratch/wrong"
    cat "$scratch/said" >>"$scratch/wrong"
    promises=0
    while IFS= read -r line; do
        case $line in
        '# gen_'*': '* | '# classes.md: '*) ;;
        *) continue ;;
        esac
        promises=$((promises + 1))
        line=${line#'# '}
        text=${line#*: }
        cat "$out"/${line%%: *} | grep -qF -e "$text" || echo "missing in ${line%%: *}: $text" >>"$scratch/wrong"
    done <"$table"
    [ "$promises" -gt 0 ] || echo "the table names no generated text" >>"$scratch/wrong"
    report "$(basename "$table") is taken and makes what it names"
done

for table in "$scratch"/refused/err-*.isa; do
    : >"$scratch/wrong"
    "$isagen" "$scratch" "$table" >"$scratch/said" 2>&1
    status=$?
    [ "$status" -eq 1 ] || echo "isagen ended with $status, not 1" >>"$scratch/wrong"
    read -r _ where wanted <"$table"
    case $where in
    *.isa:*) ;;
    *) where=$(basename "$table"):$where ;;
    esac
    # A message may occur once for each use of a line: all must be equal.
    sed "s|^$scratch/refused/||" "$scratch/said" | sort -u >"$scratch/messages"
    read -r message <"$scratch/messages"
    case $message in
    "$where error: $wanted"*) ;;
    *) echo "wanted: $where error: $wanted" >>"$scratch/wrong" ;;
    esac
    [ "$(grep -c '' "$scratch/messages")" -eq 1 ] || echo "not exactly one message" >>"$scratch/wrong"
    [ ! -s "$scratch/wrong" ] || sed 's/^/said: /' "$scratch/messages" >>"$scratch/wrong"
    name=$(basename "$table" .isa)
    report "${name#err-} is rejected: $wanted"
done

echo "1..$tests"
[ "$tests" -gt 1 ] && [ "$failed" -eq 0 ]
