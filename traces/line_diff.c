/* line_diff.c - compares two launches line by line.
 *
 * The executed lines of each launch form a text; the common subsequence of the two texts with the
 * largest weight matches their lines. Lines added, removed or moved down between two versions of a
 * kernel therefore do not spoil the comparison. Compilers renumber the registers and labels when
 * a kernel changes: lines that differ in these alone correspond too, with a smaller weight. So do
 * lines that differ in constants and offsets, with the smallest weight. */
#include "traces/line_diff.h"
#include "base/array.h"
#include <ctype.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_CELLS = 1 << 24, /* of the table; larger texts are paired by line number where they are
                            equal */
    SAME_FORM = 1,       /* weight of a pair that differs in constants and offsets, too */
    SAME_SHAPE = 2,      /* weight of a pair that differs in numbers of registers and labels */
    SAME_TEXT = 4
};

typedef struct side {
    char **text, **shape; /* shape: without the numbers of registers and labels */
    char **form;          /* the shape without constants and offsets */
    pl_tracedb_line_sum *sum;
    size_t n, cap;
} side;

static void free_side(side *s)
{
    for (size_t i = 0; i < s->n; i++) free(s->text[i]);
    for (size_t i = 0; i < s->n; i++) free(s->shape[i]);
    for (size_t i = 0; i < s->n; i++) free(s->form[i]);
    for (size_t i = 0; i < s->n; i++) free((char *)s->sum[i].cuda);
    free(s->text);
    free(s->shape);
    free(s->form);
    free(s->sum);
}

static bool grow(side *s)
{
    size_t cap[3] = {s->cap, s->cap, s->cap};
    return pl_array_grow(&s->text, &cap[0], sizeof *s->text) &&
           pl_array_grow(&s->shape, &cap[1], sizeof *s->shape) &&
           pl_array_grow(&s->form, &cap[2], sizeof *s->form) &&
           pl_array_grow(&s->sum, &s->cap, sizeof *s->sum);
}

/* A copy with every run of blanks and tabs replaced by one blank, and none at the ends: lines that
 * differ only in layout compare equal. */
static char *normalise_spaces(const char *text)
{
    char *copy = malloc(strlen(text) + 1), *to = copy;
    for (; copy && *text; text++) {
        bool blank = (unsigned char)*text <= ' ';
        if (!blank)
            *to++ = *text;
        else if (to > copy && to[-1] != ' ')
            *to++ = ' ';
    }
    if (copy && to > copy && to[-1] == ' ') to--;
    if (copy) *to = '\0';
    return copy;
}

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* A copy in which registers (%r12) and labels ($L__BB0_3) have no number, and parameters
 * (name_param_2) do not have the name of their kernel. */
static char *remove_numbers(const char *text)
{
    char *copy = malloc(strlen(text) + 1), *to = copy;
    while (copy && *text) {
        size_t n = 0, keep;
        if (*text == '%' || *text == '.') *to++ = *text++;
        while (in_name(text[n])) n++;
        if (n == 0) {
            if (*text) *to++ = *text++;
            continue;
        }
        keep = n;
        const char *from = text, *parameter = NULL;
        for (size_t k = 0; k + 7 < n; k++)
            if (memcmp(text + k, "_param_", 7) == 0) parameter = text + k;
        if (parameter) {
            from = parameter;
            keep = n - (size_t)(parameter - text);
        } else if (to > copy && to[-1] == '%')
            while (keep > 1 && isdigit((unsigned char)text[keep - 1])) keep--;
        else if (n > 2 && memcmp(text, "$L", 2) == 0)
            keep = 2;
        memcpy(to, from, keep);
        to += keep;
        text += n;
    }
    if (copy) *to = '\0';
    return copy;
}

/* A copy of a shape without constants and offsets: [%r+4] becomes [%r], another number #. */
static char *remove_constants(const char *shape)
{
    char *copy = shape ? malloc(2 * strlen(shape) + 1) : NULL, *to = copy;
    while (copy && *shape) {
        size_t n = 0;
        while (in_name(shape[n]) || (n && shape[n] == '.' && isdigit((unsigned char)shape[n + 1])))
            n++;
        if (isdigit((unsigned char)*shape)) {
            const bool sign = to > copy && (to[-1] == '-' || to[-1] == '+');
            if (sign) to--;
            if (!sign || to == copy || !in_name(to[-1])) *to++ = '#';
        } else {
            if (!n) n = 1;
            memcpy(to, shape, n);
            to += n;
        }
        shape += n;
    }
    if (copy) *to = '\0';
    return copy;
}

static pl_status read_side(sqlite3 *db, int64_t kernel, side *out)
{
    static const char sql[] =
        "SELECT i.ptx_line, coalesce(l.text, i.text), sum(s.issues), sum(s.stall_cycles), "
        "sum(s.sectors), sum(s.conflicts), i.cuda "
        "FROM pc_stat s JOIN instruction i ON i.module = s.module AND i.pc = s.pc "
        "LEFT JOIN source_line l ON l.source = i.ptx_source AND l.line = i.ptx_line "
        "WHERE s.kernel = ? AND i.ptx_line > 0 GROUP BY i.ptx_line ORDER BY i.ptx_line";
    sqlite3_stmt *s = NULL;
    int code;
    bool memory = true;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) return PL_INVALID;
    sqlite3_bind_int64(s, 1, kernel);
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(s, 1);
        memory = (out->n < out->cap || grow(out)) &&
                 (out->text[out->n] = normalise_spaces(text ? text : "")) != NULL;
        if (!memory) break;
        out->shape[out->n] = remove_numbers(out->text[out->n]);
        out->form[out->n] = remove_constants(out->shape[out->n]);
        const char *cuda = (const char *)sqlite3_column_text(s, 6);
        char *copy = cuda ? strdup(cuda) : NULL;
        memory = (copy || !cuda) && out->shape[out->n] && out->form[out->n];
        out->sum[out->n++] =
            (pl_tracedb_line_sum){.cuda = copy,
                                  .line = (uint32_t)sqlite3_column_int64(s, 0),
                                  .issues = (uint64_t)sqlite3_column_int64(s, 2),
                                  .stall_cycles = (uint64_t)sqlite3_column_int64(s, 3),
                                  .sectors = (uint64_t)sqlite3_column_int64(s, 4),
                                  .conflicts = (uint64_t)sqlite3_column_int64(s, 5)};
        if (!memory) break;
    }
    code = sqlite3_finalize(s);
    if (code == SQLITE_INTERRUPT) return PL_INTERRUPTED;
    return !memory ? PL_NOMEM : code == SQLITE_OK ? PL_OK : PL_INVALID;
}

/* The weight of a pair; 0: the lines do not correspond. */
static uint32_t pair_weight(const side *a, size_t i, const side *b, size_t j)
{
    if (strcmp(a->form[i], b->form[j]) != 0) return 0;
    if (strcmp(a->shape[i], b->shape[j]) != 0) return SAME_FORM;
    return strcmp(a->text[i], b->text[j]) == 0 ? SAME_TEXT : SAME_SHAPE;
}

/* The text of a pair; i or j is SIZE_MAX if that side has none. */
static char *pair_text(const side *a, size_t i, const side *b, size_t j)
{
    static const char was[] = "  // was: ";
    const char *now = j != SIZE_MAX ? b->text[j] : a->text[i];
    if (i == SIZE_MAX || j == SIZE_MAX || pair_weight(a, i, b, j) != SAME_FORM) return strdup(now);
    const size_t n = strlen(now), m = sizeof was - 1, old = strlen(a->text[i]);
    char *text = malloc(n + m + old + 1);
    if (!text) return NULL;
    memcpy(text, now, n);
    memcpy(text + n, was, m);
    memcpy(text + n + m, a->text[i], old + 1);
    return text;
}

/* Adds a line; i or j is SIZE_MAX if that side has none. */
static bool emit(pl_tracedb_diff_lines *out, const side *a, size_t i, const side *b, size_t j)
{
    pl_tracedb_diff_line *d = &out->line[out->n];
    *d = (pl_tracedb_diff_line){.text = pair_text(a, i, b, j)};
    if (i != SIZE_MAX) d->side[0] = a->sum[i];
    if (j != SIZE_MAX) d->side[1] = b->sum[j];
    bool ok = d->text != NULL;
    for (int k = 0; k < 2; k++) {
        const char *cuda = d->side[k].cuda;
        d->side[k].cuda = cuda ? strdup(cuda) : NULL;
        ok = ok && (!cuda || d->side[k].cuda);
    }
    out->n++;
    return ok;
}

/* Pairs the lines from..na of a with from..nb of b. common[i][j] is the weight of the best common
 * subsequence of the remaining lines. */
static bool match_middle(const side *a, size_t na, const side *b, size_t nb, size_t from,
                         pl_tracedb_diff_lines *out)
{
    size_t n = na - from, m = nb - from, w = m + 1, i = 0, j = 0;
    bool table = n < MAX_CELLS / w, ok = true;
    uint32_t *common = table ? calloc((n + 1) * w, sizeof *common) : NULL;
    if (table && !common) return false;
    for (size_t x = n; table && x-- > 0;) {
        for (size_t y = m; y-- > 0;) {
            const uint32_t down = common[(x + 1) * w + y], right = common[x * w + y + 1],
                           weight = pair_weight(a, from + x, b, from + y),
                           pair = weight ? common[(x + 1) * w + y + 1] + weight : 0,
                           single = down > right ? down : right;
            common[x * w + y] = pair > single ? pair : single;
        }
    }
    while (ok && (i < n || j < m)) {
        const bool both = i < n && j < m;
        const uint32_t weight = both ? pair_weight(a, from + i, b, from + j) : 0;
        const bool equal = table
                               ? weight && common[i * w + j] == common[(i + 1) * w + j + 1] + weight
                               : weight == SAME_TEXT;
        bool left =
            i < n && (j == m || (table ? both && common[(i + 1) * w + j] >= common[i * w + j + 1]
                                       : a->sum[from + i].line <= b->sum[from + j].line));
        if (equal)
            ok = emit(out, a, from + i++, b, from + j++);
        else if (left)
            ok = emit(out, a, from + i++, b, SIZE_MAX);
        else
            ok = emit(out, a, SIZE_MAX, b, from + j++);
    }
    free(common);
    return ok;
}

static bool match_lines(const side *a, const side *b, pl_tracedb_diff_lines *out)
{
    size_t from = 0, na = a->n, nb = b->n;
    out->line = calloc(na + nb + 1, sizeof *out->line);
    if (!out->line) return false;
    for (; from < na && from < nb && strcmp(a->text[from], b->text[from]) == 0; from++)
        if (!emit(out, a, from, b, from)) return false;
    while (na > from && nb > from && strcmp(a->text[na - 1], b->text[nb - 1]) == 0) na--, nb--;
    if (!match_middle(a, na, b, nb, from, out)) return false;
    for (; na < a->n; na++, nb++)
        if (!emit(out, a, na, b, nb)) return false;
    return true;
}

pl_status pl_tracedb_diff(sqlite3 *da, int64_t ka, sqlite3 *db, int64_t kb,
                          pl_tracedb_diff_lines *out)
{
    side a = {0}, b = {0};
    *out = (pl_tracedb_diff_lines){0};
    pl_status st = read_side(da, ka, &a);
    if (st == PL_OK) st = read_side(db, kb, &b);
    if (st == PL_OK && !match_lines(&a, &b, out)) st = PL_NOMEM;
    free_side(&a);
    free_side(&b);
    if (st != PL_OK) pl_tracedb_diff_free(out);
    return st;
}

void pl_tracedb_diff_free(pl_tracedb_diff_lines *d)
{
    for (size_t i = 0; i < d->n; i++) {
        free(d->line[i].text);
        for (int k = 0; k < 2; k++) free((char *)d->line[i].side[k].cuda);
    }
    free(d->line);
    *d = (pl_tracedb_diff_lines){0};
}

/* Returns the first column of the first row, 0 if there is none, or -1 when SQLite fails.
 * Parameters: ?1 an entry or NULL, ?2 a number, ?3 a limit. */
static int64_t query_number(sqlite3 *db, const char *sql, const char *entry, int64_t number,
                            int64_t limit)
{
    sqlite3_stmt *s = NULL;
    int64_t found = 0;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) return -1;
    sqlite3_bind_text(s, 1, entry, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 2, number);
    if (sqlite3_bind_parameter_count(s) > 2) sqlite3_bind_int64(s, 3, limit);
    if (sqlite3_step(s) == SQLITE_ROW) found = sqlite3_column_int64(s, 0);
    return sqlite3_finalize(s) == SQLITE_OK ? found : -1;
}

/* The launch of b at the same position as launch `kernel` of a, among launches of that entry, or
 * among all launches if b has none of it. Launches below 1, in a damaged trace, do not count: a
 * negative result is an error. */
static int64_t find_same_position(sqlite3 *a, int64_t kernel, sqlite3 *b, const char *entry)
{
    static const char most[] =
        "SELECT count(*) FROM kernel WHERE id > 0 AND (?1 IS NULL OR entry = ?1)";
    static const char before[] = "SELECT count(*) FROM (SELECT 1 FROM kernel WHERE "
                                 "(?1 IS NULL OR entry = ?1) AND id > 0 AND id < ?2 LIMIT ?3)";
    static const char at[] = "SELECT id FROM kernel WHERE id > 0 AND (?1 IS NULL OR entry = ?1) "
                             "ORDER BY id LIMIT 1 OFFSET ?2";
    int64_t there = query_number(b, most, entry, 0, 0);
    if (there < 0) return there;
    if (!there) {
        entry = NULL;
        there = query_number(b, most, NULL, 0, 0);
    }
    const int64_t place = there < 0 ? there : query_number(a, before, entry, kernel, there);
    return place < 0 ? place : query_number(b, at, entry, place, 0);
}

int64_t pl_tracedb_matching_launch(sqlite3 *a, int64_t kernel, sqlite3 *b)
{
    sqlite3_stmt *s = NULL;
    char *entry = NULL;
    if (sqlite3_prepare_v2(a, "SELECT entry FROM kernel WHERE id = ?", -1, &s, NULL) != SQLITE_OK)
        return -1;
    sqlite3_bind_int64(s, 1, kernel);
    const bool there = sqlite3_step(s) == SQLITE_ROW;
    const char *text = there ? (const char *)sqlite3_column_text(s, 0) : NULL;
    if (text && !(entry = strdup(text))) {
        sqlite3_finalize(s);
        return -2;
    }
    /* Finalized before other queries: this would replace their error messages. */
    int64_t found = sqlite3_finalize(s) == SQLITE_OK ? 0 : -1;
    if (there && !found) found = find_same_position(a, kernel, b, entry);
    free(entry);
    return found;
}
