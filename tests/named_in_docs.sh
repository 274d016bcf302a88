#!/bin/sh
# named_in_docs.sh - what the documentation names is there: linked files, files in back quotes, and functions and types in back quotes
# that begin with pl_ or exec_. So a renamed file or function fails a test until the pages know of it.
srcdir=${srcdir:-.}
export LC_ALL=C
cd "$srcdir" || exit 99
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
tests=0
failed=0
cat base/*.[ch] isa/*/*.[ch] compiler/*.[ch] compiler/*/*.[ch] ptx/*.[chly] ptx/*/*.[chly] arch/*.[ch] emu/*/*.[ch] emu/*/*/*.[ch] memmodel/*.[ch] traces/*.[ch] traces/*/*.[ch] lib/*.[ch] lib/*/*.[ch] cli/*.[ch] include/*.h | grep -oE '[a-z_0-9]*(pl|exec)_[a-z0-9_]+' | sort -u >"$scratch/names"

for page in README.md doc/*.md isa/*/*.md tests/*/README.md; do
    folder=$(dirname "$page")
    # Text outside of blocks, one word in back quotes or one link a line.
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
        set -- $file # a pattern may stand for several
        [ -e "$1" ] || [ -e "$1.c" ] || echo "file $file" >>"$scratch/wrong"
    done <"$scratch/files"
    grep -xE '(pl|exec)_[a-z0-9_]+' "$scratch/quoted" | sort -u | comm -23 - "$scratch/names" | sed 's/^/name /' >>"$scratch/wrong"
    tests=$((tests + 1))
    if [ -s "$scratch/wrong" ]; then
        failed=$((failed + 1))
        echo "not ok $tests - what $page names is there"
        sed 's/^/#   there is no /' "$scratch/wrong"
    else
        echo "ok $tests - what $page names is there ($(cat "$scratch/links" "$scratch/files" | grep -c '') files)"
    fi
done
echo "1..$tests"
[ "$tests" -gt 1 ] && [ "$failed" -eq 0 ]
