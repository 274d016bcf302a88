# embed.awk - writes traces/gen_report.c: the report's page and its queries as C strings.
#
# Arguments: panels.sql, report.html, *.css and *.js. In report.html the line {{style}} stands for all style sheets, {{script}} for all
# scripts in the order given, {{data}} for the data of a report, and {{hash}} within a line for the digest of the script.

function quoted(s,    part, n, i)
{
    n = split(s, part, /\\/) # gsub interprets backslashes in its replacement, differently in each awk
    s = part[1]
    for (i = 2; i <= n; i++) s = s "\\\\" part[i]
    gsub(/"/, "\\\"", s)
    gsub(/\t/, "\\t", s)
    gsub(/\?/, "\\?", s) # no trigraphs
    return "\"" s "\\n\""
}

function part(name) { printf ";\n\nconst char pl_report_%s[] =", name }
function put(s) { printf "\n    %s", quoted(s) }

BEGIN { print "/* Written by traces/report/embed.awk from the files of traces/report/. */\n#include \"traces/report/report.h\"\n" }

FILENAME ~ /\.sql$/ && /^-- [a-z_]+ \| / {
    if (queries) print ";\n"
    n = index($0, " | ")
    name[++queries] = substr($0, 4, n - 4)
    title[queries] = substr($0, n + 3)
    printf "static const char query_%d[] =", queries
    next
}
FILENAME ~ /\.sql$/ {
    if (queries && !/^[ \t]*$/) put($0)
    next
}
FILENAME ~ /\.html$/ { page[++lines] = $0; next }
FILENAME ~ /\.css$/ { style[++styles] = $0; next }
FILENAME ~ /\.js$/ { script[++scripts] = $0; next }

END {
    print ";\n\nconst pl_report_query pl_report_queries[] = {"
    for (i = 1; i <= queries; i++) {
        t = quoted(title[i])
        printf "    {\"%s\", %s\", query_%d},\n", name[i], substr(t, 1, length(t) - 3), i
    }
    print "    {0, 0, 0},\n};\n\nconst char pl_report_head[] ="
    for (i = 1; i <= lines; i++) {
        if (page[i] ~ /\{\{style\}\}/) for (k = 1; k <= styles; k++) put(style[k])
        else if (page[i] ~ /\{\{script\}\}/) {
            part("script")
            for (k = 1; k <= scripts; k++) put(script[k])
            part("end")
        }
        else if (page[i] ~ /\{\{data\}\}/) part("tail")
        else if ((at = index(page[i], "{{hash}}")) > 0) {
            t = quoted(substr(page[i], 1, at - 1))
            printf "\n    %s\"", substr(t, 1, length(t) - 3)
            part("body")
            put(substr(page[i], at + 8))
        }
        else put(page[i])
    }
    print ";"
}
