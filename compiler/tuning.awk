# tuning.awk - writes compiler/gen_tuning.c: the values of arch/sm_90.target as a constant.
# The unit test test_tuning compares it with the values that the machine file reader parses.
function close_section() {
    if (section != "") print "        },"
}
BEGIN {
    print "/* Written by compiler/tuning.awk from arch/sm_90.target. */"
    print "#include \"compiler/tuning.h\"\n"
    print "const pl_tuning pl_target_tuning = {"
}
/^\[/ {
    close_section()
    section = $0
    gsub(/[][ ]/, "", section)
    printf "    .%s =\n        {\n", section
    next
}
/^[ \t]*(#|$)/ { next }
{
    value = $0
    sub(/^[^=]*=[ \t]*/, "", value)
    sub(/[ \t]*;.*/, "", value)
    n = split(value, word, /[ \t]+/)
    while (n > 1 && word[n] !~ /^-?[0-9]+$/) n-- # the unit
    if (n == 1) {
        printf "            .%s = %s,\n", $1, word[1]
        next
    }
    printf "            .%s = {.n = %d, .at = {", $1, n
    for (k = 1; k <= n; k++) printf "%s%s", word[k], k < n ? ", " : "}},\n"
}
END {
    close_section()
    print "};"
}
