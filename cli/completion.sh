#!/bin/sh
# completion.sh - writes the completion of the ptxloom command for a shell.
#
#     completion.sh LOOM SRCDIR OUTPUT
#
# The name of OUTPUT selects the shell: ptxloom (bash), _ptxloom (zsh), ptxloom.fish. Commands, options and the values of
# options come from the help texts; the names of machines from `ptxloom --version`.
loom=$1
srcdir=$2
case $3 in
*.fish) shell=fish ;;
*/_*) shell=zsh ;;
*) shell=bash ;;
esac
export LC_ALL=C
unset COLUMNS
{
    "$loom" --version
    "$loom" help | cat
    for command in $("$loom" help | sed -n 's/^  ptxloom \([a-z]*\) .*  [a-z].*/\1/p'); do
        echo "== $command"
        "$loom" "$command" --help | cat
    done
} | awk -v shell="$shell" -f "$srcdir/cli/completion.awk"
