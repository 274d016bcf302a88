#!/bin/sh
# prose.sh - pages and comments have short sentences: at most 40 words, and 22 on average on each page.
#
# Counted are sentences of more than three words outside of fenced blocks and tables. A sentence ends at a full stop, a question mark, a colon
# before a capital, a heading, the end of a list item or an empty line; in a comment also before an indented line. A page or folder that
# violates the limits fails, with the lines of its long sentences. `tests/prose.sh FILE...` checks other files (.c and .h: their comments) and
# prints every sentence of more than 30 words.
most=40
mean=22
export LC_ALL=C
here=$PWD
cd "${srcdir:-.}" || exit 99
warn=$most
pages='README.md CONTRIBUTING.md doc/*.md'
folders='arch base check cli compiler cudart emu include isa lib litmus memmodel ptx tests tools traces'
if [ $# -gt 0 ]; then
    cd "$here" || exit 99
    pages=$*
    folders=
    warn=30
fi
tests=0
failed=0
# sentence() ends one, take(LINE) continues it.
# shellcheck disable=SC2016
common='
    function sentence() {
        if (n > 3) {
            sentences++
            words += n
            if (n > warn) print "#   " (comments ? FILENAME ", " : "") "line " start ": " n " words: " substr(text, 1, 90) " ..."
            if (n > longest) longest = n
        }
        n = ended = 0
        text = ""
    }
    function take(line, word, count, i) {
        count = split(line, word, " ")
        for (i = 1; i <= count; i++) {
            if (i == 1 && word[i] ~ /^(#+|[-*]|[0-9]+\.)$/) continue
            if (ended == 2 || (ended && word[i] ~ /^[A-Z`(*[]/)) sentence()
            if (n == 0) start = FNR
            n++
            text = text (n > 1 ? " " : "") word[i]
            ended = word[i] ~ /:[)"*_]*$/
            if (word[i] ~ /[A-Za-z0-9)`"%][.!?][)"*_]*$/ && word[i] !~ /^\(?(e\.g|i\.e|vs|cf|ch|etc)\.$/) ended = 2
        }
    }
    END {
        sentence()
        average = sentences ? words / sentences : 0
        printf "%.1f words a sentence, at most %d\n", average, longest
        exit sentences == 0 || longest > most || (!comments && average > mean)
    }'
# shellcheck disable=SC2016
page='
    /^ *```/ { fenced = !fenced; sentence(); next }
    fenced || /^\|/ || /^<!--/ { sentence(); next }
    /^ *$/ { sentence(); next }
    /^#/ || /^ *([-*]|[0-9]+\.) / { sentence() }
    {
        take($0)
        if (/^#/) sentence()
    }'
# shellcheck disable=SC2016
comment='
    FNR == 1 { inside = 0; sentence() }
    {
        line = $0
        if (inside) {
            sub(/^ *\*( |$)/, "", line)
        } else {
            at = index(line, "/*")
            sentence()
            if (!at) next
            line = substr(line, at + 2)
        }
        end = index(line, "*/")
        if (end) line = substr(line, 1, end - 1)
        if (inside && line ~ /^ *$|^   *[^ ]|^ *([-*]|[0-9]+\.) /) sentence()
        take(line)
        inside = !end
        if (end) sentence()
    }'
# judge NAME KIND RULES FILE...
judge() {
    name=$1 kind=$2 rules=$3
    shift 3
    tests=$((tests + 1))
    if outcome=$(awk -v most="$most" -v mean="$mean" -v warn="$warn" -v comments="$kind" "$common$rules" "$@"); then
        echo "ok $tests - $name: $(printf '%s\n' "$outcome" | tail -n 1)"
    else
        failed=$((failed + 1))
        echo "not ok $tests - $name: $(printf '%s\n' "$outcome" | tail -n 1)"
    fi
    printf '%s\n' "$outcome" | sed '$d'
}
for file in $pages; do
    case $file in
    *.[ch]) judge "$file" 1 "$comment" "$file" ;;
    *) judge "$file" 0 "$page" "$file" ;;
    esac
done
for folder in $folders; do
    # An archive also contains what flex and bison generate.
    # shellcheck disable=SC2046 # one word per file
    judge "comments of $folder" 1 "$comment" $(find "$folder" -name '*.[ch]' -not -path 'tests/data/*' \
        -not -path 'ptx/parse/lex.c' -not -path 'ptx/parse/parse.[ch]' | sort)
done
echo "1..$tests"
[ "$tests" -gt 0 ] && [ "$failed" -eq 0 ]
