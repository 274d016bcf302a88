#!/bin/sh
# named_in_docs.sh - names in the documentation exist: linked files, files in back quotes, and functions and types in back quotes that
# begin with pl_ or exec_. So a renamed file or function fails a test until the pages are updated. Statements of machine files about
# the H200 are compared with its file.
srcdir=${srcdir:-.}
export LC_ALL=C
cd "$srcdir" || exit 99
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
tests=0
failed=0

# report NAME BEFORE: prints the result; each line of $scratch/wrong is an error, printed after BEFORE.
report() {
    tests=$((tests + 1))
    if [ -s "$scratch/wrong" ]; then
        failed=$((failed + 1))
        echo "not ok $tests - $1"
        sed "s/^/#   $2/" "$scratch/wrong"
    else
        echo "ok $tests - $1"
    fi
}
cat base/*.[ch] isa/*/*.[ch] compiler/*.[ch] compiler/*/*.[ch] ptx/*.[chly] ptx/*/*.[chly] arch/*.[ch] emu/*/*.[ch] emu/*/*/*.[ch] memmodel/*.[ch] traces/*.[ch] traces/*/*.[ch] lib/*.[ch] lib/*/*.[ch] cli/*.[ch] include/*.h | grep -oE '[a-z_0-9]*(pl|exec)_[a-z0-9_]+' | sort -u >"$scratch/names"

for page in README.md CONTRIBUTING.md CHANGELOG.md labs/README.md doc/*.md isa/*/*.md tests/*/README.md; do
    folder=$(dirname "$page")
    # Text outside code blocks, one word in back quotes or one link per line.
    awk '/^```/ { on = !on; next } !on' "$page" >"$scratch/text"
    grep -oE '`[^` ]+`' "$scratch/text" | tr -d '`' | sort -u >"$scratch/quoted"
    grep -oE '\]\([^):# ]+' "$scratch/text" | cut -c3- | sort -u >"$scratch/links"
    : >"$scratch/wrong"
    while IFS= read -r link; do
        [ -e "$folder/$link" ] || echo "link to $link" >>"$scratch/wrong"
    done <"$scratch/links"
    grep -xE '(base|isa|compiler|ptx|emu|memmodel|traces|arch|lib|cli|include|examples|tests|man|doc)/[A-Za-z0-9_./*-]*' "$scratch/quoted" |
        grep -vE 'NAME|MNEMONIC|gen_|\*\*' >"$scratch/files"
    while IFS= read -r file; do
        set -- $file # a pattern may match several
        [ -e "$1" ] || [ -e "$1.c" ] || echo "file $file" >>"$scratch/wrong"
    done <"$scratch/files"
    grep -xE '(pl|exec)_[a-z0-9_]+' "$scratch/quoted" | sort -u | comm -23 - "$scratch/names" | sed 's/^/name /' >>"$scratch/wrong"
    report "names in $page exist ($(cat "$scratch/links" "$scratch/files" | grep -c '') files)" 'there is no '
done

# "As on the H200" in a machine file is a claim about arch/h200.conf, and so is "the H200 has another value".
awk '
    FNR == 1 { section = "" }
    /^\[/ { section = $1; next }
    /^[a-z]/ {
        at = index($0, ";"); value = substr($0, 1, at - 1); origin = substr($0, at + 1)
        gsub(/[ \t]+/, " ", value); sub(/ $/, "", value);
        key = section substr(value, 1, index(value, " = ") - 1)
        if (FILENAME == "arch/h200.conf") { h200[key] = value; next }
        if (origin ~ /^ guessed as on the H200$/ && h200[key] != value) print FILENAME ":" FNR ": not as on the H200: " value
        if (origin ~ /^ guessed the H200 has another value$/ && h200[key] == value) print FILENAME ":" FNR ": as on the H200: " value
    }' arch/h200.conf $(ls arch/*.conf | grep -v h200) >"$scratch/wrong"
report "statements of machine files about the H200 are true" ''
echo "1..$tests"
[ "$tests" -gt 1 ] && [ "$failed" -eq 0 ]
