/* ptxcheck.c - runs one .ptx file as one test; comments in the file specify its expected
 * behaviour.
 *
 *     // LAUNCH: add grid=1 block=32        a kernel to run; also cluster=, shared=, stack=, arch=
 *     // IN: u32 a[32] = iota(5)            its parameters in order: buffers ...
 *     // IN: u32 n = 32                     ... and scalars
 *     // OUT: u32 sum[32]                   a buffer of zeros
 *     // ARG: image {"texture": "f32"}      a parameter as launch files describe it
 *     // EXPECT: u32 sum[0..3] = 5 6 7 8    compared bit by bit after the launch
 *     // EXPECT-SAME: functional timing     run in each of these configurations: same bytes every
 *       time
 *     // METRIC: inst_executed = 12         a figure of the run, or a counter; LO..HI is a range
 *     // FAULT: CUDA_ERROR_ILLEGAL_ADDRESS  the launch must fail with this error
 *     // PRINTS: 3 hello\n                  what the kernel prints
 *     // LINK: helpers.part                 linked with files of the same folder, or alone
 *     // ERROR @+1:12 E0214: takes no       the file is rejected: position (relative to this line,
 *       or absolute), id, text
 *
 * A file without LAUNCH and ERROR must be accepted. tests/ptx/README.md documents all directives.
 * The program uses the public interface only, apart from the element types and random numbers that
 * launch files also use. */
#include "base/arena.h"
#include "lib/data/element_type.h"
#include "lib/data/initializer.h"
#include "ptxloom.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIME_LIMIT_SECONDS 300
#define BAD_TEST           99 /* automake: an error in the test itself */

typedef struct parameter {
    const char *name; /* NULL-terminated copy */
    const pl_element *type;
    uint64_t count; /* 0: a scalar */
    unsigned char *initial;
    const char *json; /* ARG: its description */
    bool again;       /* a buffer of the preceding launch */
    uint64_t bytes;   /* of the buffer, 0: a scalar */
    pl_ptr device;
    unsigned line;
} parameter;

typedef enum check_kind {
    CHECK_BYTES,
    CHECK_METRIC,
    CHECK_FAULT,
    CHECK_PRINTS,
    CHECK_MESSAGE
} check_kind;

typedef struct check {
    check_kind kind;
    unsigned line;
    const char *name; /* of the buffer, metric or error; text printed; message */
    unsigned at;      /* message: the line it refers to, 0: none */
    const pl_element *type;
    uint64_t first, count;
    unsigned char *bytes;
    double low, high;
} check;

typedef struct launch {
    const char *kernel, *arch;
    uint32_t grid[3], block[3], cluster[3], shared, stack;
    bool cooperative;
    bool after;           /* continues with the state left by the preceding launch */
    unsigned char *first; /* contents of its buffers in the first configuration */
    struct {
        parameter *at;
        size_t n, cap;
    } parameter;
    struct {
        check *at;
        size_t n, cap;
    } check;
    struct {
        const char **at;
        size_t n, cap;
    } variant;
    unsigned line;
} launch;

typedef struct expected_error {
    const char *file;                  /* from LINK, or NULL: the test itself */
    unsigned line, column, written_at; /* column 0: any */
    const char *code, *words;
    bool found;
} expected_error;

typedef struct test {
    pl_arena *arena;
    const char *path;
    char *text;
    size_t size;
    struct {
        launch *at;
        size_t n, cap;
    } launch;
    struct {
        expected_error *at;
        size_t n, cap;
    } error;
    struct {
        const char **at;
        size_t n, cap;
    } file; /* paths: the test, then those of LINK */
    bool linked;
    int failures;
} test;

__attribute__((format(printf, 3, 4))) static void fail(test *t, unsigned line, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    printf("%s:%u: ", t->path, line);
    vprintf(fmt, ap);
    putchar('\n');
    va_end(ap);
    t->failures++;
}

__attribute__((format(printf, 3, 4), noreturn)) static void bad_test(const test *t, unsigned line,
                                                                     const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    printf("%s:%u: bad test: ", t->path, line);
    vprintf(fmt, ap);
    putchar('\n');
    va_end(ap);
    exit(BAD_TEST);
}

/* ---- reading the directives ---- */

typedef struct cursor {
    const char *p;
    test *t;
    unsigned line;
} cursor;

static void skip_blanks(cursor *c)
{
    while (*c->p == ' ' || *c->p == '\t') c->p++;
}

/* The next run of characters that are not in `stop` or blank, as a copy; "" at the end. */
static const char *word(cursor *c, const char *stop)
{
    skip_blanks(c);
    const char *start = c->p;
    while (*c->p && *c->p != ' ' && *c->p != '\t' && !strchr(stop, *c->p)) c->p++;
    return pl_arena_strndup(c->t->arena, start, (size_t)(c->p - start));
}

static bool accept(cursor *c, const char *text)
{
    skip_blanks(c);
    size_t n = strlen(text);
    if (strncmp(c->p, text, n) != 0) return false;
    c->p += n;
    return true;
}

static void expect(cursor *c, const char *text)
{
    if (!accept(c, text)) bad_test(c->t, c->line, "expected '%s' at '%s'", text, c->p);
}

static uint64_t integer(cursor *c)
{
    skip_blanks(c);
    char *end;
    unsigned long long v = strtoull(c->p, &end, 0);
    if (end == c->p) bad_test(c->t, c->line, "expected a number at '%s'", c->p);
    c->p = end;
    return v;
}

static const pl_element *element_type(cursor *c)
{
    const char *name = word(c, "");
    const pl_element *e = pl_element_find(name, strlen(name));
    if (!e) bad_test(c->t, c->line, "'%s' is not an element type", name);
    return e;
}

/* 7, -1.5, nan, 0f3f800000; for floats 0x... are the bits. */
static uint64_t value_bits(cursor *c, const pl_element *e)
{
    const char *w = word(c, ",)");
    pl_number v;
    uint64_t bits;
    if (e->kind == 'f' && w[0] == '0' && (w[1] == 'x' || w[1] == 'X')) return strtoull(w, NULL, 16);
    if (!pl_number_parse(w, strlen(w), &v) || pl_element_encode(e, &v, &bits) != PL_FIT_OK)
        bad_test(c->t, c->line, "'%s' is not a valid %s", w, e->name);
    return bits;
}

/* Numbers, iota(FIRST[,STEP]), fill(V) and hash(SEED), as many as needed; "..." repeats the
 * preceding number. */
static unsigned char *values(cursor *c, const pl_element *e, uint64_t count)
{
    unsigned char *bytes = pl_arena_alloc(c->t->arena, count * e->bytes + 8);
    uint64_t i = 0, bits = 0;
    while (i < count) {
        uint64_t first = 0, step = 0;
        bool generated = true, hashed = false;
        if (accept(c, "iota(")) {
            first = value_bits(c, e);
            step = accept(c, ",") ? value_bits(c, e) : 1;
            expect(c, ")");
            if (e->kind == 'f') bad_test(c->t, c->line, "iota counts in integers");
        } else if (accept(c, "fill(")) {
            first = value_bits(c, e);
            expect(c, ")");
        } else if (accept(c, "hash(")) {
            first = integer(c);
            hashed = true;
            expect(c, ")");
        } else if (i > 0 && accept(c, "...")) {
            first = bits;
        } else {
            generated = false;
            bits = value_bits(c, e);
            memcpy(bytes + i++ * e->bytes, &bits, e->bytes);
        }
        for (uint64_t k = 0; generated && i < count; i++, k++) {
            bits = hashed ? pl_fill_hash(first, k) : first + k * step;
            memcpy(bytes + i * e->bytes, &bits, e->bytes);
        }
    }
    skip_blanks(c);
    if (*c->p) bad_test(c->t, c->line, "more than %" PRIu64 " values: '%s'", count, c->p);
    return bytes;
}

static void read_dim(cursor *c, uint32_t dim[3], uint32_t fill)
{
    dim[0] = (uint32_t)integer(c);
    dim[1] = accept(c, ",") ? (uint32_t)integer(c) : fill;
    dim[2] = accept(c, ",") ? (uint32_t)integer(c) : fill;
}

static void read_launch(cursor *c)
{
    launch *l = pl_push(c->t->arena, &c->t->launch);
    *l = (launch){.line = c->line, .grid = {1, 1, 1}, .block = {32, 1, 1}, .arch = "h200"};
    l->kernel = word(c, "");
    for (skip_blanks(c); *c->p; skip_blanks(c)) {
        if (accept(c, "grid="))
            read_dim(c, l->grid, 1);
        else if (accept(c, "block="))
            read_dim(c, l->block, 1);
        else if (accept(c, "cluster="))
            read_dim(c, l->cluster, 1);
        else if (accept(c, "shared="))
            l->shared = (uint32_t)integer(c);
        else if (accept(c, "stack="))
            l->stack = (uint32_t)integer(c);
        else if (accept(c, "arch="))
            l->arch = word(c, "");
        else if (accept(c, "cooperative"))
            l->cooperative = true;
        else if (accept(c, "after"))
            l->after = c->t->launch.n > 1;
        else
            bad_test(c->t, c->line, "unknown launch setting '%s'", c->p);
    }
}

static launch *current(cursor *c)
{
    if (c->t->launch.n == 0) bad_test(c->t, c->line, "a LAUNCH line must come first");
    return &c->t->launch.at[c->t->launch.n - 1];
}

/* A parameter in the notation of launch files, or a buffer of the preceding launch. */
static void read_named(cursor *c, bool again)
{
    parameter p = {.line = c->line, .name = word(c, ""), .again = again};
    skip_blanks(c);
    p.json = again ? NULL : c->p;
    *pl_push(c->t->arena, &current(c)->parameter) = p;
}

static void read_parameter(cursor *c, bool initialised)
{
    launch *l = current(c);
    parameter p = {.line = c->line, .type = element_type(c)};
    p.name = word(c, "[=");
    if (accept(c, "[")) {
        p.count = integer(c);
        expect(c, "]");
        if (p.count == 0) bad_test(c->t, c->line, "a buffer has elements");
    }
    if (initialised) {
        expect(c, "=");
        p.initial = values(c, p.type, p.count ? p.count : 1);
    } else {
        if (p.count == 0) bad_test(c->t, c->line, "OUT is a buffer: write its size as NAME[COUNT]");
        p.initial = pl_arena_alloc(c->t->arena, p.count * p.type->bytes);
    }
    p.bytes = p.count * p.type->bytes;
    *pl_push(c->t->arena, &l->parameter) = p;
}

static void read_expect(cursor *c)
{
    launch *l = current(c);
    check k = {.kind = CHECK_BYTES, .line = c->line, .type = element_type(c)};
    k.name = word(c, "[=");
    const parameter *p = NULL;
    for (size_t i = 0; i < l->parameter.n; i++)
        if (strcmp(l->parameter.at[i].name, k.name) == 0) p = &l->parameter.at[i];
    if (!p || (p->type && p->count == 0))
        bad_test(c->t, c->line, "no buffer '%s' in this launch", k.name);
    uint64_t available = p->type ? p->bytes / k.type->bytes : UINT32_MAX;
    k.count = p->type ? available : 0;
    if (accept(c, "[")) {
        k.first = integer(c);
        uint64_t last = accept(c, "..") ? integer(c) : k.first;
        expect(c, "]");
        if (last < k.first || last >= available)
            bad_test(c->t, c->line, "'%s' has no element %" PRIu64, k.name, last);
        k.count = last - k.first + 1;
    }
    if (k.count == 0) bad_test(c->t, c->line, "specify the elements: %s[FIRST..LAST]", k.name);
    expect(c, "=");
    k.bytes = values(c, k.type, k.count);
    *pl_push(c->t->arena, &l->check) = k;
}

static void read_metric(cursor *c)
{
    check k = {.kind = CHECK_METRIC, .line = c->line, .name = word(c, "=")};
    expect(c, "=");
    char *end;
    skip_blanks(c);
    k.low = k.high = strtod(c->p, &end);
    /* "12..14": strtod consumes the first dot too */
    if (end > c->p && end[-1] == '.') end--;
    if (end == c->p) bad_test(c->t, c->line, "expected a number at '%s'", c->p);
    c->p = end;
    if (accept(c, "..")) k.high = strtod(c->p, &end), c->p = end;
    *pl_push(c->t->arena, &current(c)->check) = k;
}

static const char *unescape(cursor *c)
{
    skip_blanks(c);
    char *text = pl_arena_strdup(c->t->arena, c->p), *to = text;
    for (const char *from = c->p; *from; from++) {
        if (*from == '\\' && from[1]) {
            from++;
            *to++ = *from == 'n' ? '\n' : *from == 't' ? '\t' : *from;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
    return text;
}

static void read_error(cursor *c)
{
    expected_error e = {.written_at = c->line};
    expect(c, "@");
    skip_blanks(c);
    if ((*c->p >= 'a' && *c->p <= 'z')) {
        e.file = word(c, ":");
        expect(c, ":");
    }
    int sign = accept(c, "+") ? 1 : accept(c, "-") ? -1 : 0;
    unsigned n = (unsigned)integer(c);
    e.line = sign > 0 ? c->line + n : sign < 0 ? c->line - n : n;
    if (accept(c, ":")) e.column = (unsigned)integer(c);
    e.code = word(c, ":");
    e.words = accept(c, ":") ? (skip_blanks(c), c->p) : "";
    *pl_push(c->t->arena, &c->t->error) = e;
}

static void read_variants(cursor *c)
{
    launch *l = current(c);
    for (skip_blanks(c); *c->p; skip_blanks(c)) *pl_push(c->t->arena, &l->variant) = word(c, "");
}

/* A directive is a comment line that begins with one of the words below and a colon (ERROR: an
 * '@'). */
static void read_directive(cursor *c)
{
    check k = {.line = c->line};
    skip_blanks(c);
    if (accept(c, "LAUNCH:")) {
        read_launch(c);
    } else if (accept(c, "IN:")) {
        read_parameter(c, true);
    } else if (accept(c, "OUT:")) {
        read_parameter(c, false);
    } else if (accept(c, "ARG:")) {
        read_named(c, false);
    } else if (accept(c, "AGAIN:")) {
        read_named(c, true);
    } else if (accept(c, "EXPECT:")) {
        read_expect(c);
    } else if (accept(c, "EXPECT-SAME:")) {
        read_variants(c);
    } else if (accept(c, "METRIC:")) {
        read_metric(c);
    } else if (accept(c, "FAULT:")) {
        k.kind = CHECK_FAULT;
        k.name = word(c, "");
        *pl_push(c->t->arena, &current(c)->check) = k;
    } else if (accept(c, "MESSAGE")) {
        k.kind = CHECK_MESSAGE;
        if (accept(c, "@")) {
            int sign = accept(c, "+") ? 1 : accept(c, "-") ? -1 : 0;
            unsigned n = (unsigned)integer(c);
            k.at = sign > 0 ? c->line + n : sign < 0 ? c->line - n : n;
        }
        expect(c, ":");
        k.name = unescape(c);
        *pl_push(c->t->arena, &current(c)->check) = k;
    } else if (accept(c, "PRINTS:")) {
        k.kind = CHECK_PRINTS;
        k.name = unescape(c);
        *pl_push(c->t->arena, &current(c)->check) = k;
    } else if (accept(c, "LINK:")) {
        const char *slash = strrchr(c->t->path, '/');
        for (skip_blanks(c); *c->p; skip_blanks(c))
            *pl_push(c->t->arena, &c->t->file) =
                pl_arena_printf(c->t->arena, "%.*s/%s", slash ? (int)(slash - c->t->path) : 1,
                                slash ? c->t->path : ".", word(c, ""));
        c->t->linked = true;
    } else if (strncmp(c->p, "ERROR @", 7) == 0) {
        c->p += 6;
        read_error(c);
    }
}

static void read_test(test *t)
{
    FILE *f = fopen(t->path, "rb");
    if (!f) bad_test(t, 0, "cannot open the file");
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    t->size = (size_t)size;
    t->text = pl_arena_alloc(t->arena, t->size + 1);
    if (fread(t->text, 1, t->size, f) != t->size) bad_test(t, 0, "cannot read the file");
    fclose(f);
    unsigned line = 1;
    for (const char *p = t->text, *end = t->text + t->size; p < end; line++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)((newline ? newline : end) - p);
        cursor c = {.p = pl_arena_strndup(t->arena, p, n), .t = t, .line = line};
        if (accept(&c, "//")) read_directive(&c);
        p += n + (newline != NULL);
    }
    if (t->launch.n > 0 && t->error.n > 0)
        bad_test(t, 0, "a file has LAUNCH or ERROR lines, not both");
    for (size_t i = 0; i < t->launch.n; i++)
        if (t->launch.at[i].check.n == 0)
            bad_test(t, t->launch.at[i].line, "this launch asserts nothing");
}

/* ---- execution ---- */

static void print_messages(pl_gpu *gpu)
{
    for (size_t i = 0; i < pl_gpu_diag_count(gpu); i++)
        fputs(pl_gpu_diag(gpu, i, false).rendered, stdout);
}

static pl_status load(test *t, pl_gpu *gpu, const pl_load_options *o, pl_module **m)
{
    if (t->file.n == 1) return pl_module_load(gpu, t->path, t->text, t->size, o, m);
    return pl_module_load_files(gpu, t->file.at, t->file.n, o, m);
}

/* True if the message is about the file named by the expectation. */
static bool in_file(const test *t, const expected_error *e, const char *file)
{
    if (!e->file) return file && strcmp(file, t->path) == 0;
    size_t n = file ? strlen(file) : 0, m = strlen(e->file);
    return n > m && strcmp(file + n - m, e->file) == 0;
}

static void check_refusal(test *t)
{
    pl_gpu *gpu;
    pl_module *m = NULL;
    if (pl_gpu_open(&gpu, "h200") != PL_OK) bad_test(t, 0, "cannot open the machine h200");
    pl_load_options o = {.opt_level = 2, .check_only = !t->linked};
    if (load(t, gpu, &o, &m) == PL_OK) {
        fail(t, 1, "the file was accepted");
        pl_module_close(m);
    }
    for (size_t i = 0; i < pl_gpu_diag_count(gpu); i++) {
        pl_message d = pl_gpu_diag(gpu, i, false);
        bool known = false;
        for (size_t k = 0; k < t->error.n && !known; k++) {
            expected_error *e = &t->error.at[k];
            if (e->found || !in_file(t, e, d.file) || e->line != d.line ||
                strcmp(e->code, d.code) != 0)
                continue;
            if ((e->column && e->column != d.column) || !strstr(d.text, e->words)) continue;
            known = e->found = true;
        }
        if (!known && !strcmp(d.severity, "error")) fail(t, d.line, "unexpected: %s", d.rendered);
    }
    for (size_t k = 0; k < t->error.n; k++) {
        const expected_error *e = &t->error.at[k];
        if (!e->found)
            fail(t, e->written_at, "expected %s at %u:%u '%s'", e->code, e->line, e->column,
                 e->words);
    }
    pl_gpu_close(gpu);
}

static void check_acceptance(test *t)
{
    for (int level = 0; level <= 2; level += 2) {
        pl_gpu *gpu;
        pl_module *m = NULL;
        if (pl_gpu_open(&gpu, "h200") != PL_OK) bad_test(t, 0, "cannot open the machine h200");
        pl_load_options o = {.opt_level = level};
        if (load(t, gpu, &o, &m) != PL_OK) {
            fail(t, 1, "rejected at -O%d:", level);
            print_messages(gpu);
        }
        pl_module_close(m);
        pl_gpu_close(gpu);
    }
}

/* The configurations that EXPECT-SAME accepts. */
typedef struct way {
    const char *name;
    pl_mode mode;
    int opt_level, threads;
    bool stack, eager, late, timed, weak;
    unsigned seed; /* of a random schedule, or of weak-consistency simulation; 0: neither */
} way;

static const way ways[] = {
    {.name = "functional", .mode = PL_MODE_FUNCTIONAL, .opt_level = 2},
    {.name = "timing", .mode = PL_MODE_TIMING, .opt_level = 2},
    {.name = "functional-O0", .mode = PL_MODE_FUNCTIONAL, .opt_level = 0},
    {.name = "timing-O0", .mode = PL_MODE_TIMING, .opt_level = 0},
    {.name = "stack", .mode = PL_MODE_FUNCTIONAL, .opt_level = 2, .stack = true},
    {.name = "late", .mode = PL_MODE_FUNCTIONAL, .opt_level = 2, .late = true},
    {.name = "timed", .mode = PL_MODE_FUNCTIONAL, .opt_level = 2, .timed = true},
    {.name = "weak-1", .mode = PL_MODE_FUNCTIONAL, .opt_level = 2, .weak = true, .seed = 1},
    {.name = "weak-2", .mode = PL_MODE_FUNCTIONAL, .opt_level = 2, .weak = true, .seed = 2},
    {.name = "weak-5", .mode = PL_MODE_FUNCTIONAL, .opt_level = 2, .weak = true, .seed = 5},
    {.name = "timing-eager", .mode = PL_MODE_TIMING, .opt_level = 2, .eager = true},
    {.name = "random-1", .mode = PL_MODE_FUNCTIONAL, .opt_level = 2, .seed = 1},
    {.name = "random-2", .mode = PL_MODE_FUNCTIONAL, .opt_level = 2, .seed = 2},
    {.name = "threads", .mode = PL_MODE_TIMING, .opt_level = 2, .threads = 3},
};

static const way *find_way(const test *t, const launch *l, const char *name)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i].name, name) == 0) return &ways[i];
    bad_test(t, l->line, "unknown EXPECT-SAME configuration '%s'", name);
}

static void check_bytes(test *t, const check *k, const unsigned char *got, const way *w)
{
    char is[64], should[64];
    int shown = 0;
    for (uint64_t i = 0; i < k->count; i++) {
        const unsigned char *a = got + (k->first + i) * k->type->bytes,
                            *b = k->bytes + i * k->type->bytes;
        if (memcmp(a, b, k->type->bytes) == 0) continue;
        if (++shown > 8) break;
        uint64_t bits_is = 0, bits_should = 0;
        memcpy(&bits_is, a, k->type->bytes);
        memcpy(&bits_should, b, k->type->bytes);
        pl_element_print(k->type, a, is, sizeof is);
        pl_element_print(k->type, b, should, sizeof should);
        fail(t, k->line, "%s[%" PRIu64 "] is %s (0x%" PRIx64 "), should be %s (0x%" PRIx64 ") [%s]",
             k->name, k->first + i, is, bits_is, should, bits_should, w->name);
    }
}

static void check_metric(test *t, const check *k, const pl_result *r, const way *w)
{
    double v = 0;
    bool known = true;
    if (strcmp(k->name, "cycles") == 0)
        v = (double)r->cycles;
    else if (strcmp(k->name, "inst_executed") == 0)
        v = (double)r->inst_executed;
    else if (strcmp(k->name, "thread_inst_executed") == 0)
        v = (double)r->thread_inst_executed;
    else if (strcmp(k->name, "registers") == 0)
        v = r->registers;
    else if (strcmp(k->name, "local_bytes") == 0)
        v = r->local_bytes;
    else if (strcmp(k->name, "static_shared") == 0)
        v = r->static_shared;
    else {
        known = false;
        for (size_t i = 0; i < r->ncounters; i++) {
            if (strcmp(r->counter[i].name, k->name) != 0) continue;
            v += (double)r->counter[i].value;
            known = true;
        }
    }
    if (!known)
        fail(t, k->line, "no figure '%s' [%s]", k->name, w->name);
    else if (v < k->low || v > k->high)
        fail(t, k->line, "%s is %.10g [%s]", k->name, v, w->name);
}

/* State shared by the launches of one run. */
typedef struct session {
    pl_gpu *gpu;
    pl_module *m;
    pl_case *given[16]; /* by launch: the owner of parameters in the notation of launch files */
    size_t ngiven;
} session;

static bool same_buffer(test *t, const launch *l, parameter *p)
{
    for (const launch *k = l; k > t->launch.at && k->after;) {
        k--;
        for (size_t i = 0; i < k->parameter.n; i++) {
            const parameter *q = &k->parameter.at[i];
            if (strcmp(q->name, p->name) != 0 || q->bytes == 0) continue;
            p->device = q->device;
            p->bytes = q->bytes;
            return true;
        }
    }
    return fail(t, p->line, "no earlier launch has a buffer '%s'", p->name), false;
}

static bool store_parameters(test *t, launch *l, session *s, unsigned char *block, uint32_t bytes)
{
    for (size_t i = 0; i < l->parameter.n; i++) {
        parameter *p = &l->parameter.at[i];
        pl_kernel_param slot = pl_module_param(s->m, l->kernel, (uint32_t)i);
        if (slot.offset + slot.size > bytes)
            return fail(t, p->line, "parameter %zu is outside the parameter block", i), false;
        if (p->json) return fail(t, p->line, "a launch with an ARG has no other parameters"), false;
        if (p->type && p->count == 0) {
            if (slot.size != p->type->bytes)
                return fail(t, p->line, "parameter %zu has %u bytes", i, slot.size), false;
            memcpy(block + slot.offset, p->initial, slot.size);
            continue;
        }
        if (slot.size != 8 && slot.size != 4)
            return fail(t, p->line, "parameter %zu is not an address", i), false;
        if (p->again) {
            if (!same_buffer(t, l, p)) return false;
        } else if (pl_alloc_device(s->gpu, p->bytes, p->name, &p->device) != PL_OK ||
                   pl_copy_to_device(s->gpu, p->device, p->initial, p->bytes) != PL_OK) {
            return fail(t, p->line, "cannot allocate '%s'", p->name), false;
        }
        if (slot.size == 4 && p->device >> 32)
            return fail(t, p->line, "the address of '%s' has more than 32 bits", p->name), false;
        memcpy(block + slot.offset, &p->device, slot.size);
    }
    return true;
}

/* Parameters in the notation of launch files: the library parses them and creates the described
 * objects. */
static bool make_parameters(test *t, launch *l, session *s, pl_launch *request)
{
    pl_case *c;
    if (s->ngiven == sizeof s->given / sizeof *s->given || pl_case_open(s->gpu, &c) != PL_OK)
        bad_test(t, l->line, "too many launches");
    s->given[s->ngiven++] = c;
    c->name = c->entry = l->kernel;
    c->ptx = t->path;
    memcpy(c->grid, l->grid, sizeof l->grid);
    memcpy(c->block, l->block, sizeof l->block);
    memcpy(c->cluster, l->cluster, sizeof l->cluster);
    c->dynamic_shared = l->shared;
    c->stack = l->stack;
    bool ok = true;
    for (size_t i = 0; i < l->parameter.n && ok; i++) {
        if (!l->parameter.at[i].json)
            bad_test(t, l->parameter.at[i].line, "a launch with an ARG has no other parameters");
        ok = pl_case_add_arg(c, l->parameter.at[i].json) == PL_OK;
    }
    if (!ok || pl_case_prepare(c, s->m, request) != PL_OK) return false;
    for (size_t i = 0; i < l->parameter.n; i++) {
        l->parameter.at[i].device = c->arg[i].address;
        l->parameter.at[i].bytes = c->arg[i].address ? c->arg[i].bytes : 0;
    }
    return true;
}

/* Checks messages and output; false if the launch failed unexpectedly. */
static bool check_end(test *t, launch *l, const way *w, session *s, pl_status status,
                      const pl_result *r)
{
    const char *fault = NULL, *printed = pl_gpu_printed(s->gpu), *prints = "";
    bool refused = false;
    unsigned prints_line = 0;
    for (size_t i = 0; i < l->check.n; i++) {
        const check *k = &l->check.at[i];
        if (k->kind == CHECK_FAULT) fault = k->name;
        if (k->kind == CHECK_MESSAGE) {
            refused |= status == PL_INVALID;
            pl_message d = pl_gpu_diag_count(s->gpu) ? pl_gpu_diag(s->gpu, 0, false)
                                                     : (pl_message){.text = "no message"};
            if (strcmp(d.text, k->name) != 0 || (k->at && k->at != d.line))
                fail(t, k->line, "message '%s' at line %u [%s]", d.text, d.line, w->name);
        }
        if (k->kind != CHECK_PRINTS) continue;
        prints = pl_arena_printf(t->arena, "%s%s", prints, k->name);
        prints_line = k->line;
    }
    if (fault && (status != PL_FAULT || !r->error || strcmp(r->error, fault) != 0))
        fail(t, l->line, "expected %s, got status %d, %s [%s]", fault, (int)status,
             r->error ? r->error : "no error", w->name);
    if (!fault && status != PL_OK && !refused) {
        fail(t, l->line, "the launch failed: status %d, %s, %s [%s]", (int)status,
             r->error ? r->error : "-", r->error_text ? r->error_text : "-", w->name);
        print_messages(s->gpu);
        return false;
    }
    if (prints_line && strcmp(printed ? printed : "", prints) != 0)
        fail(t, prints_line, "printed '%s' instead of '%s' [%s]", printed ? printed : "", prints,
             w->name);
    return true;
}

/* Checks the buffers, and compares them with those of the first configuration. */
static void check_buffers(test *t, launch *l, const way *w, session *s)
{
    uint64_t total = 0;
    for (size_t i = 0; i < l->parameter.n; i++) total += l->parameter.at[i].bytes;
    unsigned char *bytes = pl_arena_alloc(t->arena, total + 8), *at = bytes;
    for (size_t i = 0; i < l->parameter.n; i++) {
        const parameter *p = &l->parameter.at[i];
        if (p->bytes == 0) continue;
        if (pl_copy_from_device(s->gpu, at, p->device, p->bytes) != PL_OK)
            fail(t, p->line, "cannot read '%s' back", p->name);
        for (size_t k = 0; k < l->check.n; k++) {
            const check *e = &l->check.at[k];
            if (e->kind != CHECK_BYTES || strcmp(e->name, p->name) != 0) continue;
            if ((e->first + e->count) * e->type->bytes > p->bytes)
                bad_test(t, e->line, "'%s' has %" PRIu64 " bytes", p->name, p->bytes);
            check_bytes(t, e, at, w);
        }
        at += p->bytes;
    }
    if (!l->first)
        l->first = bytes;
    else if (memcmp(bytes, l->first, total) != 0)
        fail(t, l->line, "%s leaves different bytes", w->name);
}

/* Runs one launch in one configuration and checks it. False: later launches cannot run. */
static bool run_launch(test *t, launch *l, const way *w, session *s)
{
    pl_kernel_info info;
    if (pl_module_kernel(s->m, l->kernel, &info) != PL_OK)
        bad_test(t, l->line, "no kernel '%s'", l->kernel);
    if (info.nparams != l->parameter.n)
        bad_test(t, l->line, "the kernel has %u parameters, the test %zu", info.nparams,
                 l->parameter.n);
    unsigned char *block = pl_arena_alloc(t->arena, info.param_bytes + 8);
    pl_launch request = {.kernel = l->kernel,
                         .dynamic_shared = l->shared,
                         .stack = l->stack,
                         .params = block,
                         .param_bytes = info.param_bytes,
                         .mode = w->mode,
                         .threads = w->threads,
                         .async_eager = w->eager,
                         .async_late = w->late,
                         .async_timed = w->timed,
                         .simt_stack = w->stack,
                         .cooperative = l->cooperative,
                         .random = w->seed != 0 && !w->weak,
                         .weak = w->weak,
                         .seed = w->seed};
    memcpy(request.grid, l->grid, sizeof l->grid);
    memcpy(request.block, l->block, sizeof l->block);
    memcpy(request.cluster, l->cluster, sizeof l->cluster);
    pl_result r = {0};
    pl_status status = PL_INVALID;
    bool given = l->parameter.n > 0 && l->parameter.at[0].json;
    if (given ? make_parameters(t, l, s, &request)
              : store_parameters(t, l, s, block, info.param_bytes))
        status = pl_launch_kernel(s->gpu, s->m, &request, &r);
    else if (!given)
        return false;
    if (!check_end(t, l, w, s, status, &r)) return false;
    check_buffers(t, l, w, s);
    for (size_t k = 0; k < l->check.n; k++)
        if (l->check.at[k].kind == CHECK_METRIC &&
            (w->mode == PL_MODE_TIMING || strcmp(l->check.at[k].name, "cycles") != 0))
            check_metric(t, &l->check.at[k], &r, w);
    return true;
}

/* Runs a launch, and those that continue from its state, in one configuration. */
static void run_one_way(test *t, launch *head, const way *w)
{
    session s = {0};
    if (pl_gpu_open(&s.gpu, head->arch) != PL_OK)
        bad_test(t, head->line, "cannot open the machine %s", head->arch);
    pl_load_options o = {.opt_level = w->opt_level};
    if (load(t, s.gpu, &o, &s.m) != PL_OK) {
        fail(t, head->line, "refused [%s]:", w->name);
        print_messages(s.gpu);
    } else {
        const launch *end = t->launch.at + t->launch.n;
        launch *l = head;
        while (run_launch(t, l, w, &s) && ++l < end && l->after) continue;
    }
    for (size_t k = 0; k < s.ngiven; k++) pl_case_close(s.given[k]);
    pl_module_close(s.m);
    pl_gpu_close(s.gpu);
}

static void check_launch(test *t, launch *head)
{
    if (head->variant.n == 0) *pl_push(t->arena, &head->variant) = "functional";
    for (size_t v = 0; v < head->variant.n; v++)
        run_one_way(t, head, find_way(t, head, head->variant.at[v]));
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: ptxcheck FILE.ptx\n");
        return BAD_TEST;
    }
    alarm(TIME_LIMIT_SECONDS);
    test t = {.arena = pl_arena_open(), .path = argv[1]};
    *pl_push(t.arena, &t.file) = t.path;
    read_test(&t);
    if (t.error.n > 0) check_refusal(&t);
    if (t.error.n == 0 && t.launch.n == 0) check_acceptance(&t);
    for (size_t i = 0; i < t.launch.n; i++)
        if (!t.launch.at[i].after) check_launch(&t, &t.launch.at[i]);
    int failures = t.failures;
    pl_arena_close(t.arena);
    return failures > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
