# embed.awk - writes traces/gen_sql.c: the schema, the metric views and the named queries as C strings.
#
# Arguments: schema.sql, rows.sql, packed.sql, migrate.sql, metrics.list, rules/*.sql, queries/*.sql. The short forms C{} P{} A{} B{} S{} T{} M{} N{} I{} V{} of metrics.list are spelled out here.

function quoted(s) # a C string literal without its newline
{
    gsub(/\\/, "&&", s) # not "\\\\": the resulting number of backslashes differs between awks
    gsub(/"/, "\\\"", s)
    gsub(/\t/, "\\t", s)
    return "\"" s
}

function line(s) { printf "\n    %s\\n\"", quoted(s) }

function text(s,    n, i, part) # a C string of several lines
{
    n = split(s, part, "\n")
    for (i = 1; i < n; i++) line(part[i])
}

function literal(s) # of SQL
{
    gsub(/'/, "''", s)
    return "'" s "'"
}

function end_text()
{
    if (open_text) printf ";\n\n"
    open_text = 0
}

function trim(s)
{
    gsub(/^[ \t]+|[ \t]+$/, "", s)
    return s
}

# Replaces every WORD{argument} of a formula by the corresponding subquery.
function expand(f,    at, kind, arg, out, part)
{
    out = ""
    while (match(f, /[CPABSTMNIV][{][^}]*[}]/)) {
        kind = substr(f, RSTART, 1)
        arg = substr(f, RSTART + 2, RLENGTH - 3)
        out = out substr(f, 1, RSTART - 1)
        f = substr(f, RSTART + RLENGTH)
        if (kind == "C") out = out "(SELECT sum(c.value) FROM counter c WHERE c.kernel = k.id AND c.name = '" arg "')"
        if (kind == "P") out = out "(SELECT sum(p." arg ") FROM pc_stat p WHERE p.kernel = k.id)"
        if (kind == "S") out = out "(SELECT t.cycles FROM stall_sum t WHERE t.kernel = k.id AND t.reason = '" arg "')"
        if (kind == "T") out = out "(SELECT sum(t.cycles) FROM stall_sum t WHERE t.kernel = k.id AND t.reason <> 'selected')"
        if (kind == "V") out = out "(SELECT v.value FROM \"" arg "\" v WHERE v.kernel = k.id)"
        if (kind == "M") out = out "(SELECT m." arg " FROM machine m WHERE m.id = k.machine)"
        if (kind == "N") {
            split(arg, part, ".")
            out = out "(SELECT v.value * CASE v.unit WHEN 'KiB' THEN 1024 WHEN 'MiB' THEN 1048576 ELSE 1 END FROM machine_value v " \
                "WHERE v.machine = k.machine AND v.section = '" part[1] "' AND v.key = '" part[2] "')"
        }
        if (kind == "I")
            out = out "(SELECT coalesce(sum(p.executed), 0) FROM pc_stat p JOIN instruction i ON i.module = p.module AND i.pc = p.pc " \
                "JOIN isa_form f ON f.id = i.form WHERE p.kernel = k.id AND (" arg "))"
        if (kind == "A" || kind == "B") {
            split(arg, part, ",")
            out = out "(SELECT " (kind == "B" ? "iif(count(*), sum(a." part[3] "), 0)" : "a." part[3]) " FROM access a WHERE a.kernel = k.id AND a.space = '" part[1] "' AND a.kind = '" part[2] "')"
        }
    }
    return out f
}

BEGIN { print "/* Written by traces/embed.awk from schema.sql, metrics.list and queries/. */\n#include \"traces/tracedb.h\"\n" }

FILENAME ~ /^traces\/[a-z]*\.sql$/ {
    if (FNR == 1) {
        end_text()
        printf "const char pl_tracedb_%s[] =", substr(FILENAME, 8, length(FILENAME) - 11)
        open_text = 1
    }
    if (FILENAME ~ /schema\.sql$/ && /^CREATE VIEW /) {
        joined[++views] = $3
        in_view = 1
    }
    if (in_view) {
        joined_sql[views] = joined_sql[views] $0 "\n"
        if (/;$/) in_view = 0
    } else {
        line($0)
    }
    next
}

FILENAME ~ /metrics\.list$/ {
    end_text()
    if (/^#/ || /^[ \t]*$/) next
    if (/^\[/) {
        family = substr($0, 2, length($0) - 2)
        next
    }
    if (split($0, field, / \| /) != 4) {
        print FILENAME ":" FNR ": expected four fields" > "/dev/stderr"
        failed = 1
        exit 1
    }
    name[++metrics] = trim(field[1])
    group[metrics] = family
    unit[metrics] = trim(field[2])
    formula[metrics] = expand(trim(field[3]))
    meaning[metrics] = trim(field[4])
    if (formula[metrics] == "?") {
        formula[metrics] = "NULL"
    } else if (family == "ncu") {
        own = expand("C{" name[metrics] "}")
        formula[metrics] = formula[metrics] == "-" ? own : "coalesce(" own ", " formula[metrics] ")"
    }
    next
}

FILENAME ~ /rules\/with\.sql$/ {
    if (!/^--/) common = common $0 "\n"
    next
}
FILENAME ~ /rules\// {
    end_text()
    if (FNR == 1) {
        r = FILENAME
        sub(/.*\//, "", r)
        sub(/\.sql$/, "", r)
        gsub(/_/, " ", r)
        rule[++rules] = r
        rule_title[rules] = substr($0, 4)
    } else if (/^-- of: /) {
        rule_of[rules] = substr($0, 8)
    } else if (/^-- check: /) {
        rule_check[rules] = substr($0, 11)
    } else {
        rule_sql[rules] = rule_sql[rules] $0 "\n"
    }
    next
}

FNR == 1 {
    end_text()
    q = FILENAME
    sub(/.*\//, "", q)
    sub(/\.sql$/, "", q)
    query[++queries] = q
    title[queries] = substr($0, 4)
    printf "static const char query_%d[] =", queries
    open_text = 1
}
{ line($0) }

END {
    if (failed) exit 1
    end_text()
    for (i = 1; i <= rules; i++) {
        printf "static const char rule_%d[] =", i
        text(rule_sql[i])
        print ";\n"
    }
    printf "const pl_tracedb_rule pl_tracedb_rules[] = {\n"
    for (i = 1; i <= rules; i++)
        printf "    {%s\", %s\", %s\", %s\", rule_%d},\n", quoted(rule[i]), quoted(rule_title[i]), quoted(rule_of[i]), quoted(rule_check[i]), i
    printf "    {0, 0, 0, 0, 0},\n};\n\n"
    query[++queries] = "advice"
    title[queries] = "Optimisation advice: rules that apply, with evidence, a suggested change and the affected share of the launch (most need timing mode)"
    printf "static const char query_%d[] =", queries
    text("-- " title[queries] "\n" common "r(kernel, share, rule, line, advice, evidence, \"check\", \"of\") AS (\n")
    for (i = 1; i <= rules; i++)
        text("SELECT kernel, share, " literal(rule[i]) ", line, advice, evidence, " literal(rule_check[i]) ", " literal(rule_of[i]) " FROM (\n" \
            rule_sql[i] ")" (i < rules ? " UNION ALL" : ")") "\n")
    # A CUDA line of which each PTX line has the same finding, such as an unrolled loop, is one row: that of its largest share, with their sum.
    # Stall reasons concern the launch, their line is only an example.
    text("SELECT r.kernel, round(100 * share, 1) AS \"share %\", rule, line, replace(advice, at, place) AS advice, replace(evidence, at, place) || alone AS evidence,\n" \
        "       \"check\", \"of\", cuda\n" \
        "FROM (SELECT r.*, coalesce('line ' || line, 'no line') AS at, iif(n > 1, ' (PTX line ' || line || ' alone)', '') AS alone,\n" \
        "             coalesce(cuda || ', PTX line ' || line || CASE n WHEN 1 THEN '' WHEN 2 THEN ' and 1 other' ELSE ' and ' || (n - 1) || ' others' END, 'line ' || line, 'no line') AS place\n" \
        "      FROM (SELECT kernel, rule, line, advice, evidence, \"check\", \"of\", cuda, sum(share) OVER one AS share, count(*) OVER one AS n,\n" \
        "                   row_number() OVER (PARTITION BY kernel, rule, code ORDER BY r.share DESC, line) AS place_of\n" \
        "            FROM (SELECT *, coalesce(iif(\"of\" = 'the stall cycles', NULL, cuda), line || advice, advice) AS code\n" \
        "                  FROM (SELECT r.*, (SELECT i.cuda FROM instruction i JOIN k ON k.module = i.module WHERE k.id = r.kernel AND i.ptx_line = line AND i.cuda IS NOT NULL\n" \
        "                                     ORDER BY i.pc LIMIT 1) AS cuda FROM r)) r\n" \
        "            WINDOW one AS (PARTITION BY kernel, rule, code)) r WHERE place_of = 1) r WHERE share > 0.02\n" \
        "ORDER BY kernel, share DESC, rule, line LIMIT coalesce(:limit, 40);\n")
    print ";\n"
    printf "const pl_tracedb_metric pl_tracedb_metrics[] = {\n"
    for (i = 1; i <= metrics; i++)
        printf "    {%s\", %s\", %s\",\n     %s\",\n     %s\"},\n", quoted(name[i]), quoted(group[i]), quoted(unit[i]),
            quoted(meaning[i]), quoted(formula[i])
    printf "    {0, 0, 0, 0, 0},\n};\n\nconst pl_tracedb_view pl_tracedb_views[] = {\n"
    for (i = 1; i <= views; i++) {
        sub(/;\n$/, "\n", joined_sql[i])
        printf "    {\"%s\",", joined[i]
        text(joined_sql[i])
        print "},"
    }
    all = "CREATE VIEW \"metric\" AS -- every metric of every launch\n"
    for (i = 1; i <= metrics; i++) {
        printf "    {%s\",", quoted(name[i])
        text("CREATE VIEW \"" name[i] "\" AS -- " meaning[i] " [" unit[i] "]\nSELECT k.id AS kernel, " (formula[i] == "NULL" ? "NULL" : "iif(k.status = 'ok', " formula[i] ", NULL)") " AS value FROM kernel k\n")
        print "},"
        all = all "SELECT kernel, " literal(name[i]) " AS name, value FROM \"" name[i] "\" WHERE value IS NOT NULL UNION ALL\n"
    }
    printf "    {\"metric\","
    text(all "SELECT kernel, name, sum(value) FROM counter WHERE name NOT IN (SELECT name FROM metric_info) GROUP BY kernel, name\n")
    printf "},\n    {0, 0},\n};\n\nconst pl_tracedb_query pl_tracedb_queries[] = {\n"
    for (i = 1; i <= queries; i++) printf "    {\"%s\", %s\", query_%d},\n", query[i], quoted(title[i]), i
    print "    {0, 0, 0},\n};"
}
