#!/bin/sh
# prose.sh - the pages keep to short sentences: none over 40 words, 22 on average.
#
# Counted are sentences of more than three words outside of fenced blocks and tables. A sentence ends at a full stop, a question mark, a colon
# before a capital, a heading, the end of a list item or an empty line. A page that breaks the rule fails, with the lines of its long
# sentences. `tests/prose.sh FILE...` checks other files and prints every sentence of more than 30 words.
most=40
mean=22
export LC_ALL=C
here=$PWD
cd "${srcdir:-.}" || exit 99
warn=$most
pages='README.md CONTRIBUTING.md doc/*.md'
if [ $# -gt 0 ]; then
    cd "$here" || exit 99
    pages=$*
    warn=30
fi
tests=0
failed=0
for page in $pages; do
    tests=$((tests + 1))
    if outcome=$(awk -v most="$most" -v mean="$mean" -v warn="$warn" '
        function sentence() {
            if (n > 3) {
                sentences++
                words += n
                if (n > warn) print "#   line " start ": " n " words: " substr(text, 1, 90) " ..."
                if (n > longest) longest = n
            }
            n = ended = 0
            text = ""
        }
        /^ *```/ { fenced = !fenced; sentence(); next }
        fenced || /^\|/ || /^<!--/ { sentence(); next }
        /^ *$/ { sentence(); next }
        /^#/ || /^ *([-*]|[0-9]+\.) / { sentence() }
        {
            for (i = 1; i <= NF; i++) {
                if (i == 1 && $i ~ /^(#+|[-*]|[0-9]+\.)$/) continue
                if (ended == 2 || (ended && $i ~ /^[A-Z`(*[]/)) sentence()
                if (n == 0) start = FNR
                n++
                text = text (n > 1 ? " " : "") $i
                ended = $i ~ /:[)"*_]*$/
                if ($i ~ /[A-Za-z0-9)`"%][.!?][)"*_]*$/ && $i !~ /^\(?(e\.g|i\.e|vs|cf|ch|etc)\.$/) ended = 2
            }
            if (/^#/) sentence()
        }
        END {
            sentence()
            average = sentences ? words / sentences : 0
            printf "%.1f words a sentence, at most %d\n", average, longest
            exit sentences == 0 || longest > most || average > mean
        }' "$page"); then
        echo "ok $tests - $page: $(printf '%s\n' "$outcome" | tail -n 1)"
    else
        failed=$((failed + 1))
        echo "not ok $tests - $page: $(printf '%s\n' "$outcome" | tail -n 1)"
    fi
    printf '%s\n' "$outcome" | sed '$d'
done
echo "1..$tests"
[ "$tests" -gt 0 ] && [ "$failed" -eq 0 ]
