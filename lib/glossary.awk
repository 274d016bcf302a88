# glossary.awk - writes lib/gen_glossary.c: the terms of doc/glossary.md as a table for `ptxloom explain`.
BEGIN { print "/* Written by lib/glossary.awk from doc/glossary.md. */\n#include \"lib/glossary.h\"\n\nconst pl_glossary_entry pl_glossary[] = {" }
/^\| / && !/^\| (term|---) / {
    n = split($0, field, / *\| */)
    gsub(/["\\]/, "\\\\&", field[3])
    printf "    {\"%s\", \"%s\"},\n", field[2], field[3]
}
END { print "    {0, 0},\n};" }
