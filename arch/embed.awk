# embed.awk - writes arch/gen_machines.c and arch/gen_targets.c: the text of every file as a C string. array: the array of them.
function close_text() {
    if (names > 0) printf ";\n"
}
FNR == 1 {
    close_text()
    name = FILENAME
    sub(/.*\//, "", name)
    sub(/\.(conf|target)$/, "", name)
    if (names == 0) print "/* Written by arch/embed.awk from the machine files. */\n#include \"arch/builtin_machines.h\"\n"
    all[names++] = name
    printf "static const char text_%d[] =", names - 1
}
{
    gsub(/\\/, "&&")
    gsub(/"/, "\\\"")
    gsub(/\t/, "\\t")
    printf "\n    \"%s\\n\"", $0
}
END {
    close_text()
    if (names == 0) print "#include \"arch/builtin_machines.h\"\n"
    print "\nconst pl_machine_text " array "[] = {"
    for (i = 0; i < names; i++) printf "    {\"%s\", text_%d, sizeof text_%d - 1},\n", all[i], i, i
    print "    {NULL, NULL, 0},\n};"
}
