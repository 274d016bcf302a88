#!/bin/sh
# reference.sh - writes the manual pages ptxloom-isa(7) and ptxloom-diag(7) from what `ptxloom explain` says.
#
#     reference.sh isa|diag LOOM SRCDIR
#
# The names come from the instruction table and from base/diag.def, the text from the program, so the three cannot disagree.
what=$1
loom=$2
srcdir=$3
export LC_ALL=C
case $what in
isa)
    title='the instructions, special registers and directives of PTX as ptxloom knows them'
    topics=$(sed -n 's/^insn \([a-z][a-z0-9]*\) .*/\1/p' "$srcdir"/isa/table/*.isa | sort -u)
    topics="$topics $(sed -n 's/^sreg \([a-z0-9_]*\) .*/%\1/p' "$srcdir"/isa/table/ptx.isa | grep -vE '^%(envreg|pm)[1-9]')"
    topics="$topics $(sed -n 's/.*DIRECTIVE([A-Z_]*, "\(\.[a-z_]*\)".*/\1/p' "$srcdir"/ptx/directives.def | sort)"
    intro='Every form of every instruction of PTX ISA 9.4: its syntax, the words that its groups stand for, the version and target that brought it, and its latency class. Then every special register and directive. A form marked as not executed is parsed and checked only.'
    ;;
diag)
    title='the messages of ptxloom'
    topics=$(sed -n 's/^DIAG(\([EW][0-9]*\),.*/\1/p' "$srcdir"/base/diag.def | sort)
    intro='Every message, why it comes, and what to write instead.'
    ;;
esac
echo ".\\\" Written by man/reference.sh; do not edit."
echo ".TH PTXLOOM-$(echo "$what" | tr a-z A-Z) 7 \"\" ptxloom"
echo ".SH NAME"
echo "ptxloom-$what \\- $title"
echo ".SH DESCRIPTION"
echo "$intro"
echo "The same text comes from"
echo ".BR \"ptxloom explain\" ,"
echo "see"
echo ".BR ptxloom (1)."
for topic in $topics; do
    "$loom" explain "$topic" >reference-"$what".txt || exit 1
    printf '.SS "%s"\n.nf\n' "$topic"
    sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^[.']/\\\\\\&&/" reference-"$what".txt
    echo ".fi"
done
rm -f reference-"$what".txt
