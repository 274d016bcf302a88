/* listing.c - the program side of a trace: modules, their source lines, their machine instructions
 * and the instruction forms.
 *
 * A module is identified by its content, so a kernel launched a thousand times has one listing.
 * CUDA lines are known through .loc. Their text is read from the file that .file names if that file
 * is in or below the folder of the PTX, or a folder that the user allows. A file of that name next
 * to the PTX is also accepted. Otherwise the text is NULL. A PTX file from an untrusted source must
 * not bring other files into a trace. */
#include "base/file.h"
#include "base/sha256.h"
#include "isa/table/form.h"
#include "traces/tracedb.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SOURCE_BYTES = 8 << 20 };

/* A source file: its row, and its text by line if it could be read. */
typedef struct source_file {
    int64_t id;
    const char *const *line; /* NULL: unknown */
    uint32_t nlines;
} source_file;

/* A module that the trace already contains. */
typedef struct known_module {
    int64_t id;
    uint8_t *insn_flags; /* by pc */
} known_module;

typedef struct statements {
    sqlite3_stmt *source, *line, *form, *insn;
    const pl_tracedb_kernel *kernel; /* the kernel whose module is being written */
} statements;

static bool fail_nomem(pl_tracedb *t)
{
    return pl_tracedb_fail(t, PL_NOMEM, "out of memory");
}

/* Splits text into lines in the arena, including a last line without a terminator. */
static void split_lines(pl_tracedb *t, source_file *f, const char *text, size_t bytes)
{
    uint32_t n = 0;
    for (size_t i = 0; i < bytes; i++) n += text[i] == '\n';
    if (bytes && text[bytes - 1] != '\n') n++;
    const char **line = pl_arena_array(t->arena, const char *, n + 1);
    const char *p = text, *end = text + bytes;
    for (uint32_t i = 0; i < n; i++) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        if (!stop) stop = end;
        size_t length = (size_t)(stop - p);
        if (length && p[length - 1] == '\r') length--;
        line[i] = pl_arena_strndup(t->arena, p, length);
        p = stop + 1;
    }
    f->line = line;
    f->nlines = n;
}

static bool split_lines_guarded(pl_tracedb *t, source_file *f, const char *text, size_t bytes)
{
    PL_GUARD(return false)
    split_lines(t, f, text, bytes);
    return true;
}

static source_file *add_source(pl_tracedb *t, statements *s, const char *name, const char *language)
{
    source_file *f = pl_arena_new(t->arena, source_file);
    f->id = t->next_source++;
    sqlite3_bind_int64(s->source, 1, f->id);
    pl_tracedb_text(s->source, 2, name);
    pl_tracedb_text(s->source, 3, language);
    pl_tracedb_step(t, s->source);
    return f;
}

static void add_line(pl_tracedb *t, statements *s, const source_file *f, uint32_t line)
{
    sqlite3_bind_int64(s->line, 1, f->id);
    sqlite3_bind_int64(s->line, 2, line);
    pl_tracedb_text(s->line, 3, line <= f->nlines ? f->line[line - 1] : NULL);
    pl_tracedb_step(t, s->line);
}

static void read_text(pl_tracedb *t, source_file *f, const char *path)
{
    FILE *in = pl_file_open(path);
    if (!in) return;
    char *text = malloc(MAX_SOURCE_BYTES);
    if (text) {
        size_t n = fread(text, 1, MAX_SOURCE_BYTES, in);
        if (feof(in) && !ferror(in) && !split_lines_guarded(t, f, text, n)) fail_nomem(t);
    } else
        fail_nomem(t);
    free(text);
    fclose(in);
}

/* Reads the file if it is in the folder or below it after resolving links. */
static void read_if_inside(pl_tracedb *t, source_file *f, const char *folder, const char *path)
{
    char *real = realpath(path, NULL), *base = realpath(folder, NULL);
    const size_t n = base ? strlen(base) : 0;
    if (real && base && strncmp(real, base, n) == 0 &&
        (real[n] == '/' || (n && base[n - 1] == '/')))
        read_text(t, f, real);
    free(real);
    free(base);
}

/* Searches a folder for a source file: by its path, then by its base name. */
static void search_folder(pl_tracedb *t, source_file *f, const char *folder, size_t n,
                          const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = n ? pl_arena_strndup(t->arena, folder, n) : "/";
    read_if_inside(t, f, base,
                   *path == '/' ? path : pl_arena_printf(t->arena, "%s/%s", base, path));
    if (!f->line && slash)
        read_if_inside(t, f, base, pl_arena_printf(t->arena, "%s%s", base, slash));
}

static void read_source(pl_tracedb *t, const pl_tracedb_kernel *k, source_file *f, const char *path)
{
    if (t->no_source) return;
    for (size_t i = 0; i < k->npaths && !f->line; i++) {
        const char *slash = strrchr(k->path[i], '/');
        if (slash)
            search_folder(t, f, k->path[i], (size_t)(slash - k->path[i]), path);
        else
            search_folder(t, f, ".", 1, path);
    }
    for (size_t i = 0; i < t->nsource_dirs && !f->line; i++)
        search_folder(t, f, t->source_dir[i], strlen(t->source_dir[i]), path);
}

/* The source that .loc names; adds the source and the line if they are new. */
static source_file *cuda_line(pl_tracedb *t, statements *s, const char *path, uint32_t line)
{
    source_file *f = pl_map_get(&t->sources, path, strlen(path));
    if (!f) {
        f = add_source(t, s, path, "cuda");
        read_source(t, s->kernel, f, path);
        pl_map_put(&t->sources, pl_arena_strdup(t->arena, path), strlen(path), f);
    }
    char key[48];
    int n = snprintf(key, sizeof key, "%lld:%u", (long long)f->id, line);
    if (!pl_map_put(&t->lines, pl_arena_strdup(t->arena, key), (size_t)n, f))
        add_line(t, s, f, line);
    return f;
}

/* The row of isa_form for an instruction, added if it is new. */
static int64_t form_of(pl_tracedb *t, statements *s, const pl_tracedb_insn *i)
{
    char key[120];
    int n = snprintf(key, sizeof key, "%u:%s", i->form, i->cls ? i->cls : "");
    int64_t *id = pl_map_get(&t->forms, key, (size_t)n);
    if (id) return *id;
    id = pl_arena_new(t->arena, int64_t);
    *id = (int64_t)t->forms.n + 1;
    pl_map_put(&t->forms, pl_arena_strdup(t->arena, key), (size_t)n, id);

    char effects[128] = "";
    size_t used = 0;
    for (size_t e = 0; e < PL_TRACEDB_EFFECTS; e++)
        if (i->effects >> e & 1)
            used += (size_t)snprintf(effects + used, sizeof effects - used, "%s%s", used ? " " : "",
                                     pl_tracedb_effect_names[e]);
    sqlite3_bind_int64(s->form, 1, *id);
    sqlite3_bind_int64(s->form, 2, i->form);
    pl_tracedb_text(s->form, 3, i->mnemonic ? i->mnemonic : "");
    pl_tracedb_text(s->form, 4, i->syntax ? i->syntax : "");
    pl_tracedb_text(s->form, 5, i->cls ? i->cls : "");
    pl_tracedb_text(s->form, 6, effects);
    pl_tracedb_step(t, s->form);
    return *id;
}

static void bind_position(sqlite3_stmt *s, int column, const source_file *f, uint32_t line)
{
    if (f && line) {
        sqlite3_bind_int64(s, column, f->id);
        sqlite3_bind_int64(s, column + 1, line);
    } else {
        sqlite3_bind_null(s, column);
        sqlite3_bind_null(s, column + 1);
    }
}

static void add_insn(pl_tracedb *t, statements *s, const source_file *ptx, uint32_t pc,
                     const pl_tracedb_insn *i)
{
    const char *text = i->text ? i->text : "";
    pl_tracedb_access a = pl_tracedb_opcode(text, i->effects);
    bool located = i->src_file && i->src_line;
    const source_file *cuda = located ? cuda_line(t, s, i->src_file, i->src_line) : NULL;
    sqlite3_bind_int64(s->insn, 1, t->module);
    sqlite3_bind_int64(s->insn, 2, pc);
    pl_tracedb_text(s->insn, 3, i->function ? i->function : "");
    pl_tracedb_text(s->insn, 4, text);
    sqlite3_bind_int64(s->insn, 5, form_of(t, s, i));
    bind_position(s->insn, 6, ptx, i->ptx_line <= ptx->nlines ? i->ptx_line : 0);
    bind_position(s->insn, 8, cuda, i->src_line);
    pl_tracedb_text(s->insn, 10, located ? i->cuda : NULL);
    pl_tracedb_text(s->insn, 11, a.kind);
    pl_tracedb_text(s->insn, 12, a.space);
    if (a.bytes)
        sqlite3_bind_int64(s->insn, 13, a.bytes);
    else
        sqlite3_bind_null(s->insn, 13);
    pl_tracedb_step(t, s->insn);
}

static bool add_module(pl_tracedb *t, statements *s, const pl_tracedb_kernel *k, const char *digest,
                       known_module *known)
{
    PL_GUARD(return fail_nomem(t))
    s->kernel = k;
    const char *name = k->module ? k->module : "";
    source_file *ptx = add_source(t, s, name, "ptx");
    if (k->text) split_lines(t, ptx, k->text, k->text_bytes);
    for (uint32_t i = 1; i <= ptx->nlines; i++) add_line(t, s, ptx, i);
    sqlite3_stmt *m = pl_tracedb_prepare(t, "INSERT INTO module VALUES (?, ?, ?, ?, ?, ?)");
    if (!m) return false;
    sqlite3_bind_int64(m, 1, t->module);
    pl_tracedb_text(m, 2, name);
    pl_tracedb_text(m, 3, digest);
    pl_tracedb_text(m, 4, k->target);
    sqlite3_bind_int(m, 5, k->opt_level);
    sqlite3_bind_int64(m, 6, ptx->id);
    pl_tracedb_step(t, m);
    sqlite3_finalize(m);
    for (uint32_t pc = 0; pc < k->ninsns && t->status == PL_OK; pc++) {
        pl_tracedb_insn insn = {0};
        k->insn(k->ctx, pc, &insn);
        add_insn(t, s, ptx, pc, &insn);
        known->insn_flags[pc] =
            (uint8_t)((insn.effects & PL_EF_BARRIER ? PL_TRACEDB_BARRIER : 0) |
                      (pl_tracedb_selects_insn(&t->filter, pc, &insn) ? PL_TRACEDB_SELECTED : 0));
    }
    return t->status == PL_OK;
}

static void digest_of(const pl_tracedb_kernel *k, char hex[65])
{
    pl_sha256 h;
    char level[16];
    int n = snprintf(level, sizeof level, "O%d", k->opt_level);
    pl_sha256_init(&h);
    if (k->module) pl_sha256_add(&h, k->module, strlen(k->module) + 1);
    pl_sha256_add(&h, level, (size_t)n + 1);
    if (k->text) pl_sha256_add(&h, k->text, k->text_bytes);
    pl_sha256_hex(&h, hex);
}

static known_module *new_module(pl_tracedb *t, const char *digest, uint32_t ninsns)
{
    PL_GUARD(return NULL)
    known_module *m = pl_arena_new(t->arena, known_module);
    m->id = (int64_t)t->modules.n + 1;
    m->insn_flags = pl_arena_alloc(t->arena, ninsns + 1);
    pl_map_put(&t->modules, pl_arena_strdup(t->arena, digest), 64, m);
    return m;
}

bool pl_tracedb_listing(pl_tracedb *t, const pl_tracedb_kernel *k)
{
    char digest[65];
    if (t->status != PL_OK) return false;
    digest_of(k, digest);
    known_module *m = pl_map_get(&t->modules, digest, 64);
    bool known = m != NULL;
    if (!known) m = new_module(t, digest, k->ninsns);
    if (!m) return fail_nomem(t);
    t->module = m->id;
    t->insn_flags = m->insn_flags;
    if (known) return true;
    statements s = {
        .source = pl_tracedb_prepare(t, "INSERT INTO source VALUES (?, ?, ?)"),
        .line = pl_tracedb_prepare(t, "INSERT INTO source_line VALUES (?, ?, ?)"),
        .form = pl_tracedb_prepare(t, "INSERT INTO isa_form VALUES (?, ?, ?, ?, ?, ?)"),
        .insn = pl_tracedb_prepare(
            t, "INSERT INTO instruction VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
    };
    if (t->status == PL_OK) add_module(t, &s, k, digest, m);
    sqlite3_finalize(s.source);
    sqlite3_finalize(s.line);
    sqlite3_finalize(s.form);
    sqlite3_finalize(s.insn);
    return t->status == PL_OK;
}
