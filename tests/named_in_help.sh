#!/bin/sh
# named_in_help.sh - what ptxloom says about itself exists: options, commands, topics, codes, queries, metrics and files.
#
# The texts are those of --help, of all messages and their remedies, of `explain`, of rules and queries, and of the manual pages.
set -u
. "$srcdir/tests/scratch.sh"

check() # NAME FILE: a file of what is missing, which must be empty
{
    n=$((n + 1))
    if [ -s "$2" ]; then
        echo "not ok $n - $1"
        sed 's/^/# there is no /' "$2"
    else
        echo "ok $n - $1"
    fi
}

"$loom" help >help.txt
sed -n 's/^  ptxloom \([a-z]*\) .*/\1/p' help.txt | sort -u >commands
: >options
while read -r command; do
    "$loom" "$command" --help >"$command.help" 2>&1
    grep -oE '^  (-[A-Za-z], |    )--[a-z][a-z-]*' "$command.help" | grep -oE -- '--[a-z-]+' >"$command.options"
    echo --help >>"$command.options"
    cat "$command.options" >>options
done <commands
printf '%s\n' --version >>options
sort -u -o options options

# --- the texts

codes=$(sed -n 's/^DIAG(\([EWN][0-9]*\),.*/\1/p' "$root/base/diag.def")
# shellcheck disable=SC2086
"$loom" explain $codes >explained.txt
"$loom" run "$root/examples/matmul.json" --trace t.db >run.txt
"$loom" query t.db --csv "SELECT name FROM query" | sed 1d | tr -d '\r' | sort >queries
"$loom" query t.db --csv "SELECT name FROM metric_info UNION SELECT name FROM counter" | sed 1d | tr -d '\r' | sort >metrics
"$loom" query t.db --csv 'SELECT "check" FROM rule UNION ALL SELECT title FROM query' >rules.txt
"$loom" query t.db --csv "SELECT DISTINCT section FROM machine_value" | sed 1d | tr -d '\r' | sort >sections
# shellcheck disable=SC2046
"$loom" explain $(cat sections) $(cat queries) >topics.txt 2>topics.err
check 'every section, and every query, is explained' topics.err
# string literals with a command in them, and the manual pages without their macros
# (without what a build in the source folder has made)
(cd "$root" && find lib cli emu arch ptx traces isa/*/ compiler -name '*.c' ! -name 'gen_*' ! -path '*/isagen/*' && echo base/diag.def) |
    sed "s|^|$root/|" | xargs cat |
    grep -v 'Use --print-limit' | # compute-sanitizer's
    grep -oE '"([^"\\]|\\.)*"' | grep -E 'ptxloom|--[a-z]|[EW][0-9]{4}' >strings.txt
sed -e 's/^\.Fl -/--/; s/ Fl -/ --/g; s/\\-/-/g' "$root"/man/*.1 "$root"/man/*.5 >man.txt
cat help.txt ./*.help explained.txt rules.txt topics.txt strings.txt man.txt >texts

# --- options

grep -oE '(^|[^-[:alnum:]])--[a-z][a-z-]*[a-z]' texts | grep -oE -- '--[a-z-]+' | grep -v '^--cuda-' | sort -u | comm -23 - options >missing # --cuda-: of clang
check 'options' missing

# --- commands in back quotes, with their options

grep -ohE '`ptxloom [^`]*`' texts | tr -d '`' | sort -u >quoted
: >missing
while read -r _ command rest; do
    case $command in help | version | --version | '' | COMMAND | %s) continue ;; esac
    if ! grep -qx "$command" commands; then
        echo "command '$command'" >>missing
        continue
    fi
    for word in $rest; do
        case $word in --[a-z]*) grep -qxe "${word%%=*}" "$command.options" || echo "option $word of $command" >>missing ;; esac
    done
    topic=${rest%% *}
    case $command:$topic in
    explain:[a-z]*) "$loom" explain "$topic" >said.txt 2>&1 || echo "topic '$topic'" >>missing ;;
    query:*)
        name=$(printf '%s' "$rest" | cut -d ' ' -f 2)
        case $name in
        --* | sqlite_schema | '') ;;
        [a-z]*) "$loom" query t.db "$name" >said.txt 2>&1 || echo "query '$name'" >>missing ;;
        esac
        ;;
    esac
done <quoted
check "commands in back quotes ($(grep -c '' quoted))" missing

# --- codes, topics, queries, metrics

grep -ohE '\b[EW]0[0-9]{3}\b' texts | sort -u >said
printf '%s\n' $codes | sort -u | comm -23 said - >missing
check "codes of messages ($(grep -c '' said))" missing
sections=$(tr '\n' '|' <sections | sed 's/|$//; s/\./\\./g')
grep -ohE "(^|[ (\`])($sections)\.[a-z_]+" help.txt ./*.help explained.txt strings.txt | tr -d ' (`' | grep -vE '\.(c|h|conf|isa|ptx|db|json)$' | sort -u >said
: >missing
while read -r key; do "$loom" explain "$key" >said.txt 2>&1 || echo "key $key" >>missing; done <said
check "keys of machine files ($(grep -c '' said))" missing
grep -ohE '\bquery [a-z]+_[a-z_]+|\(query [a-z_]+' rules.txt explained.txt topics.txt | sed 's/.* //' | sort -u >said
comm -23 said queries >missing
check "queries that rules name ($(grep -c '' said))" missing
grep -ohE '\bmetric [a-z0-9_]+(__[a-z0-9_]+)?(\.[a-z]+)*' rules.txt | cut -d ' ' -f 2 | grep _ | sort -u >said
comm -23 said metrics >missing
check "metrics that rules name ($(grep -c '' said))" missing

# --- files of the source tree

grep -ohE '\b(base|isa|ptx|emu|memmodel|traces|arch|lib|cli|include|examples|tests|doc)/[A-Za-z0-9_./-]*[a-z0-9]' texts | grep -v '^lib/ptxloom' | sort -u >said
: >missing
while read -r file; do [ -e "$root/$file" ] || echo "file $file" >>missing; done <said
check "files ($(grep -c '' said))" missing
grep -ohE '\bptxloom(-[a-z]+)?\([15]\)' texts | sort -u >said
: >missing
while read -r page; do [ -e "$root/man/$(printf '%s' "$page" | tr '(' . | tr -d ')')" ] || echo "page $page" >>missing; done <said
check "manual pages ($(grep -c '' said))" missing
echo "1..$n"
