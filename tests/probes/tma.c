/* tma.c - recorded tensor copies and tensor maps (tests/data/probes/tma.*), run by the same
 * kernels as on the H200.
 *
 * Copies are recorded as byte maps. Memory holds four successive patterns whose bytes identify
 * their source position (pass 0 to 2: byte k of the position plus one; pass 3: 0xa5 and the three
 * others). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/probes/probe.h"

enum { PASSES = 4, UNTOUCHED = 0xee };
enum {
    GLOBAL_BYTES = 1 << 20,
    STORE_BYTES = 256 * 1024,
    SHARED_BYTES = 128 * 1024,
    DYNAMIC = 160 * 1024
};

/* ---- labels ---- */

/* Description of a copy, parsed from a label. */
typedef struct copy {
    pl_tensor_desc map;
    int coord[5];
    uint32_t offset[3];
    uint32_t at;        /* of the tile in shared memory */
    uint64_t global_at; /* of the tensor in the buffer */
} copy;

static const char *value(const char *label, const char *key)
{
    size_t n = strlen(key), end = strcspn(label, "\t");
    for (const char *s = label; (size_t)(s - label) < end; s++)
        if ((s == label || s[-1] == ' ') && strncmp(s, key, n) == 0 && s[n] == '=')
            return s + n + 1;
    return NULL;
}

static long long number(const char *label, const char *key)
{
    const char *s = value(label, key);
    return s ? strtoll(s, NULL, 10) : 0;
}

/* Numbers "a,b,c" after a key, up to five. */
static unsigned list(const char *label, const char *key, long long out[5])
{
    const char *s = value(label, key);
    unsigned n = 0;
    while (s && n < 5 && (*s == '-' || (*s >= '0' && *s <= '9'))) {
        char *end;
        out[n++] = strtoll(s, &end, 10);
        s = *end == ',' ? end + 1 : NULL;
    }
    return n;
}

static copy read_label(const char *label)
{
    copy c = {0};
    long long v[5];
    const char *type = value(label, "dt");
    type = type ? strchr(type, '(') : NULL;
    c.map.type = type ? atoi(type + 1) : -1;
    c.map.rank = (uint32_t)number(label, "rank");
    for (unsigned k = 0; k < 5; k++) c.map.dim[k] = c.map.box[k] = c.map.element_stride[k] = 1;
    for (unsigned k = 0, n = list(label, "dim", v); k < n; k++) c.map.dim[k] = (uint64_t)v[k];
    for (unsigned k = 0, n = list(label, "str", v); k < n && k < 4; k++)
        c.map.stride[k] = (uint64_t)v[k];
    for (unsigned k = 0, n = list(label, "box", v); k < n; k++) c.map.box[k] = (uint32_t)v[k];
    for (unsigned k = 0, n = list(label, "es", v); k < n; k++)
        c.map.element_stride[k] = (uint32_t)v[k];
    for (unsigned k = 0, n = list(label, "c", v); k < n; k++) c.coord[k] = (int)v[k];
    c.map.interleave = (int)number(label, "il");
    c.map.swizzle = (int)number(label, "sw");
    c.map.l2_promotion = (int)number(label, "l2");
    c.map.fill = (int)number(label, "fill");
    c.at = (uint32_t)number(label, "soff");
    c.global_at = (uint64_t)number(label, "gofs");
    if (!value(label, "cpp")) return c;
    c.map.mode = PL_TENSOR_IM2COL;
    c.map.channels = (uint32_t)number(label, "cpp");
    c.map.pixels = (uint32_t)number(label, "ppc");
    for (unsigned k = 0, n = list(label, "lo", v); k < n && k < 3; k++) c.map.lower[k] = (int)v[k];
    for (unsigned k = 0, n = list(label, "up", v); k < n && k < 3; k++) c.map.upper[k] = (int)v[k];
    for (unsigned k = 0, n = list(label, "off", v); k < n && k < 3; k++)
        c.offset[k] = (uint32_t)v[k];
    return c;
}

/* ---- byte maps ---- */

static uint8_t pattern(uint64_t i, int pass)
{
    uint8_t a = (uint8_t)(i + 1), b = (uint8_t)((i + 1) >> 8), c = (uint8_t)((i + 1) >> 16);
    return pass == 0 ? a : pass == 1 ? b : pass == 2 ? c : (uint8_t)(0xa5 ^ a ^ b ^ c);
}

/* The recording's run list: G from a position, C a constant, U untouched, ? anything else. */
static char kind_of(uint8_t *const *q, size_t i, long *from)
{
    uint8_t a = q[0][i], b = q[1][i], c = q[2][i], d = q[3][i];
    if (a == UNTOUCHED && b == UNTOUCHED && c == UNTOUCHED && d == UNTOUCHED) return 'U';
    if (a == b && b == c && c == d) return 'C';
    if (d != (uint8_t)(0xa5 ^ a ^ b ^ c)) return '?';
    *from = (long)(a | b << 8 | c << 16) - 1;
    return 'G';
}

/* A constant run is written with its shortest period, or, when that is 16 or more, as a run of one
 * byte. */
static size_t constant_run(const uint8_t *p, size_t i, size_t *end)
{
    size_t m = *end - i, period = 1;
    for (; period < 16 && period < m; period *= 2) {
        size_t t = i + period;
        while (t < *end && p[t] == p[t - period]) t++;
        if (t == *end) break;
    }
    if (period >= 16) {
        period = 1;
        *end = i + 1;
    }
    return period > *end - i ? *end - i : period;
}

static size_t put_runs(char *to, uint8_t *const *q, size_t n)
{
    size_t at = 0, i = 0;
    while (i < n) {
        long from = 0, next = 0;
        char k = kind_of(q, i, &from);
        size_t j = i + 1;
        if (k == 'G') {
            while (j < n && kind_of(q, j, &next) == 'G' && next == from + (long)(j - i)) j++;
            at += (size_t)sprintf(to + at, "G%ldx%zu ", from, j - i);
        } else if (k == '?') {
            at += (size_t)sprintf(to + at, "?%02x%02x%02x%02xx1 ", q[0][i], q[1][i], q[2][i],
                                  q[3][i]);
        } else {
            while (j < n && kind_of(q, j, &next) == k) j++;
            size_t period = k == 'C' ? constant_run(q[0], i, &j) : 0;
            if (k == 'C' && j == i + 1) /* no period: a run of one byte */
                while (j < n && kind_of(q, j, &next) == 'C' && q[0][j] == q[0][i]) j++;
            at += (size_t)(k == 'U'
                               ? sprintf(to + at, "Ux%zu ", j - i)
                               : sprintf(to + at, "C%sx%zu ", probe_hex(q[0] + i, period), j - i));
        }
        i = j;
    }
    to[at] = '\0';
    return at;
}

static uint8_t *plane[PASSES];
static char *text;

/* ---- copies ---- */

static const uint8_t element_bytes[16] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 1, 1, 1};

static uint64_t ceiling(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

/* Values computed by the recording program: elements of a box, expected bytes, examined bytes. */
static void sizes(const copy *c, uint32_t *expected, uint32_t *dump)
{
    const pl_tensor_desc *m = &c->map;
    bool im = m->mode == PL_TENSOR_IM2COL;
    uint64_t z = element_bytes[m->type & 15], n = 1;
    for (uint32_t k = 0; k < m->rank; k++) n *= ceiling(m->box[k], m->element_stride[k]);
    if (im)
        n = (uint64_t)m->channels * m->pixels;
    else if (!m->interleave && m->element_stride[0] > 1)
        n = n / ceiling(m->box[0], m->element_stride[0]) * m->box[0];
    uint64_t e = n * z;
    if (m->interleave)
        e = (m->interleave == 1 ? 16u : 32u) *
            (im ? m->pixels : n / ceiling(m->box[0], m->element_stride[0]));
    uint64_t inner = (im ? m->channels : m->box[0]) * z, rows = im ? m->pixels : n / m->box[0];
    uint64_t span = m->swizzle ? 16u << m->swizzle : inner,
             d = rows * (inner > span ? inner : span);
    d = (d > e ? d : e) + c->at + 1024;
    *expected = (uint32_t)e;
    *dump = (uint32_t)(((d + 3) & ~3ull) < SHARED_BYTES ? (d + 3) & ~3ull : SHARED_BYTES);
}

/* The kernels' struct of coordinates, offsets and sizes. */
static void arguments(probe *p, unsigned k, const copy *c)
{
    struct {
        int32_t coord[5], offset[3];
        uint32_t at, dump, expected, mode;
    } a = {.at = c->at};
    for (unsigned i = 0; i < 5; i++) a.coord[i] = c->coord[i];
    for (unsigned i = 0; i < 3; i++) a.offset[i] = (int32_t)c->offset[i];
    sizes(c, &a.expected, &a.dump);
    probe_arg(p, k, &a);
}

static void choose(probe *p, const char *which, const copy *c)
{
    char name[32];
    snprintf(name, sizeof name, "%sILi%uELi%dE", which, c->map.rank,
             c->map.mode == PL_TENSOR_IM2COL);
    probe_kernel(p, name);
    probe_shape(p, 1, 256);
    p->launch.dynamic_shared = DYNAMIC;
}

static const char *failure(const probe *p, const char *row)
{
    snprintf(text, 4096, "%.*s\tERROR\tsync\tlaunch=0(cudaSuccess)\tsync=%s\tsticky=1",
             (int)strcspn(row, "\t"), row, probe_error(p->result.error));
    return text;
}

static void load_row(probe *p, const char *row, pl_ptr source, uint64_t word[5])
{
    copy c = read_label(row);
    uint32_t expected, dump;
    sizes(&c, &expected, &dump);
    for (int pass = 0; pass < PASSES; pass++) {
        uint8_t map[PL_TENSORMAP_BYTES];
        c.map.address = source + (uint64_t)pass * GLOBAL_BYTES + c.global_at;
        choose(p, "k_ld", &c);
        if (pl_tensor_map(&c.map, map, NULL) != PL_OK) {
            probe_row(p, row, "the map was rejected");
            return;
        }
        probe_arg(p, 0, map);
        arguments(p, 1, &c);
        pl_ptr out = probe_buffer(p, 2, NULL, SHARED_BYTES), info = probe_buffer(p, 3, NULL, 64);
        if (!probe_run(p)) {
            probe_row(p, row, failure(p, row));
            probe_done(p);
            return;
        }
        probe_read(p, out, plane[pass], dump);
        probe_read(p, info, word, 40);
        probe_done(p);
    }
    /* the recording of the mbarrier words is faulty: they are zero there */
    int n = sprintf(text, "%.*s\tOK\texp=%u full=%" PRIu64 " mb=%016x,%016x,%016x,%016x\tdump=%u\t",
                    (int)strcspn(row, "\t"), row, expected, word[4], 0u, 0u, 0u, 0u, dump);
    put_runs(text + n, plane, dump);
    probe_row(p, row, text);
}

static void store_row(probe *p, const char *row, const uint8_t *source)
{
    copy c = read_label(row);
    uint32_t expected, dump;
    sizes(&c, &expected, &dump);
    for (int pass = 0; pass < PASSES; pass++) {
        uint8_t map[PL_TENSORMAP_BYTES];
        choose(p, "k_st", &c);
        pl_ptr out = 0;
        probe_arg(p, 0, map);
        arguments(p, 1, &c);
        probe_buffer(p, 2, source + (size_t)pass * SHARED_BYTES, SHARED_BYTES);
        memset(plane[pass], UNTOUCHED, STORE_BYTES);
        if (pl_alloc_device(p->gpu, STORE_BYTES, "tensor", &out) != PL_OK) exit(EXIT_FAILURE);
        p->buffer[p->buffers++] = out;
        pl_copy_to_device(p->gpu, out, plane[pass], STORE_BYTES);
        c.map.address = out + c.global_at;
        bool encoded = pl_tensor_map(&c.map, map, NULL) == PL_OK;
        probe_arg(p, 0, map);
        bool ran = encoded && probe_run(p);
        if (ran)
            probe_read(p, out, plane[pass], STORE_BYTES);
        else
            probe_row(p, row, encoded ? failure(p, row) : "the map was rejected");
        probe_done(p);
        if (!ran) return;
    }
    int n = sprintf(text, "%.*s\tOK\tdump=%d\t", (int)strcspn(row, "\t"), row, STORE_BYTES);
    put_runs(text + n, plane, STORE_BYTES);
    probe_row(p, row, text);
}

static void copies(const char *name, bool store)
{
    probe p;
    uint64_t word[5];
    pl_ptr source = 0;
    probe_open(&p, name, "tma");
    uint8_t *bytes = malloc((size_t)PASSES * GLOBAL_BYTES);
    size_t piece = store ? SHARED_BYTES : GLOBAL_BYTES;
    if (!bytes) exit(EXIT_FAILURE);
    for (int pass = 0; pass < PASSES; pass++)
        for (size_t k = 0; k < piece; k++) bytes[(size_t)pass * piece + k] = pattern(k, pass);
    if (!store &&
        pl_alloc_device(p.gpu, (uint64_t)PASSES * GLOBAL_BYTES, "tensor", &source) == PL_OK)
        pl_copy_to_device(p.gpu, source, bytes, (uint64_t)PASSES * GLOBAL_BYTES);
    for (size_t k = 0; k < p.lines; k++) {
        if (store)
            store_row(&p, p.line[k], bytes);
        else
            load_row(&p, p.line[k], source, word);
    }
    free(bytes);
    probe_close(&p);
}

/* ---- descriptors ---- */

static const char *word_list(const uint8_t *map)
{
    uint32_t w[PL_TENSORMAP_BYTES / 4];
    memcpy(w, map, sizeof w);
    return probe_words(w, PL_TENSORMAP_BYTES / 4);
}

/* Only the code of a rejected map is compared: its contents are unspecified. */
static void descriptors(void)
{
    probe p;
    probe_open(&p, "tma.desc", NULL);
    for (size_t k = 0; k < p.lines; k++) {
        const char *row = p.line[k], *tab = strchr(row, '\t'), *address = value(row, "addr");
        copy c = read_label(row);
        uint8_t map[PL_TENSORMAP_BYTES];
        const char *words = strchr(tab + 1, '\t');
        c.map.address = strtoull(address, NULL, 16);
        bool ok = pl_tensor_map(&c.map, map, NULL) == PL_OK;
        probe_verdict(&p, row,
                      ok ? tab[1] == '0' && strcmp(words + 1, word_list(map)) == 0 : tab[1] == '1',
                      ok ? word_list(map) : "refused");
    }
    probe_close(&p);
}

/* The baseline of the error probe: a five-dimensional tensor of `type`, with packed rows. */
static pl_tensor_desc baseline(int type, uint32_t rank, bool im2col)
{
    static const uint64_t dim[] = {64, 32, 16, 8, 4};
    static const uint32_t box[] = {16, 4, 3, 2, 1};
    pl_tensor_desc d = {.type = type,
                        .rank = rank,
                        .address = 0x7f1234567000,
                        .mode = im2col ? PL_TENSOR_IM2COL : PL_TENSOR_TILED};
    uint64_t stride = (dim[0] * element_bytes[type & 15] + 15) & ~15ull;
    for (unsigned k = 0; k < 5; k++) {
        d.dim[k] = k < rank ? dim[k] : 1;
        d.box[k] = k < rank ? box[k] : 1;
        d.element_stride[k] = 1;
        if (k && k < rank) {
            d.stride[k - 1] = stride;
            stride *= d.dim[k];
        }
    }
    d.channels = 16;
    d.pixels = 8;
    return d;
}

/* The parameters of a row of tma.encerr; false for rows about pointers, which this interface does
 * not have. */
static bool read_deviation(const char *row, pl_tensor_desc *d)
{
    unsigned a, b, at;
    unsigned long long n;
    int v;
    *d = baseline(PL_TENSOR_F16, 5, false);
    if (sscanf(row, "address %llx", &n) == 1) {
        d->address = n;
    } else if (sscanf(row, "stride0 = row bytes - %d", &v) == 1) {
        d->stride[0] -= (uint64_t)v;
    } else if (strncmp(row, "stride1 < stride0", 17) == 0) {
        d->stride[1] = d->stride[0] / 2;
    } else if (strncmp(row, "all strides 0", 13) == 0) {
        memset(d->stride, 0, sizeof d->stride);
    } else if (strncmp(row, "box 256^5", 9) == 0 || strncmp(row, "box 16^5", 8) == 0) {
        for (unsigned k = 0; k < 5; k++) d->box[k] = row[4] == '2' ? 256 : 16;
    } else if (strncmp(row, "box 128 KiB", 11) == 0 || strncmp(row, "box 256 KiB", 11) == 0) {
        /* the boxes of the preceding row, but in three dimensions */
        for (unsigned k = 0; k < 5; k++) d->box[k] = k == 3 ? 2 : 1;
        d->box[0] = 128;
        d->box[1] = 256;
        d->box[2] = row[4] == '1' ? 2 : 4;
    } else if (strncmp(row, "box larger than dim", 19) == 0) {
        d->box[1] = 200;
    } else if (sscanf(row, "dt=%*s il=%u box0=%u", &a, &b) == 2) {
        static const char *const names[] = {
            "u8",  "u16",  "u32",    "s32",  "u64",     "s64",    "f16",     "f32",
            "f64", "bf16", "f32ftz", "tf32", "tf32ftz", "16u4a8", "16u4a16", "16u6a16"};
        size_t length = strcspn(row + 3, " ");
        for (at = 0;
             at < 15 && (strlen(names[at]) != length || strncmp(names[at], row + 3, length) != 0);
             at++)
            continue;
        *d = baseline((int)at, 5, false);
        d->interleave = (int)a;
        d->swizzle = a == 2;
        d->box[0] = b;
    } else if (sscanf(row, "interleave 32B address +%u", &a) == 1) {
        d->interleave = 2;
        d->swizzle = 1;
        d->address += a;
    } else if (sscanf(row, "interleave 32B stride0 +%u", &a) == 1) {
        d->interleave = 2;
        d->swizzle = 1;
        d->stride[0] += a;
    } else if (sscanf(row, "im2col rank %u up[%u]=%d", &a, &b, &v) == 3) {
        *d = baseline(PL_TENSOR_F16, a, true);
        d->upper[b] = v;
    } else if (sscanf(row, "im2col rank %u lo[%u]=%d", &a, &b, &v) == 3) {
        *d = baseline(PL_TENSOR_F16, a, true);
        d->lower[b] = v;
    } else if (strncmp(row, "im2colWide mode", 15) == 0) {
        *d = baseline(PL_TENSOR_F16, 4, true);
        d->mode = strncmp(row + 16, "W128", 4) == 0 ? PL_TENSOR_IM2COL_W128 : PL_TENSOR_IM2COL_W;
        d->channels = 64;
        d->swizzle = 3;
    } else {
        return false;
    }
    return true;
}

static void errors(void)
{
    probe p;
    size_t skipped = 0;
    probe_open(&p, "tma.encerr", NULL);
    for (size_t k = 0; k < p.lines; k++) {
        pl_tensor_desc d;
        uint8_t map[PL_TENSORMAP_BYTES];
        const char *row = p.line[k], *tab = strchr(row, '\t'), *why = "taken";
        if (!read_deviation(row, &d)) {
            skipped++;
            continue;
        }
        bool ok = pl_tensor_map(&d, map, &why) == PL_OK;
        probe_verdict(&p, row, ok == (tab[1] == '0'), ok ? "taken" : why);
    }
    p.excepted += skipped;
    probe_close(&p);
}

/* ---- tensormap.replace ---- */

static const char *const fields[] = {
    "global_address", "rank",     "box_dim",           "global_dim",   "global_stride",
    "element_stride", "elemtype", "interleave_layout", "swizzle_mode", "fill_mode"};

static void replacements(void)
{
    probe p;
    probe_open(&p, "tma.replace", "tma");
    for (size_t k = 0; k < p.lines; k++) {
        const char *row = p.line[k];
        char field[32];
        struct {
            int32_t field, which;
            uint64_t value;
        } op = {0};
        unsigned long long v;
        int which;
        /* Whole maps: tests below. */
        if (sscanf(row, "start=%*s %31s ord=%d v=%llx", field, &which, &v) != 3) continue;
        while (op.field < 9 && strcmp(fields[op.field], field) != 0) op.field++;
        op.which = which;
        op.value = v;
        const char *before = strchr(row, '\t') + 1;
        uint32_t w[32];
        for (unsigned i = 0; i < 32; i++) w[i] = (uint32_t)strtoul(before + 9 * i, NULL, 16);
        probe_kernel(&p, "k_rep");
        probe_shape(&p, 1, 32);
        probe_buffer(&p, 0, w, sizeof w);
        probe_buffer(&p, 1, &op, sizeof op);
        probe_arg32(&p, 2, 1);
        pl_ptr out = probe_buffer(&p, 3, NULL, sizeof w);
        uint32_t got[32] = {0};
        if (probe_run(&p)) probe_read(&p, out, got, sizeof got);
        probe_verdict(&p, row, strcmp(strrchr(row, '\t') + 1, probe_words(got, 32)) == 0,
                      probe_words(got, 32));
        probe_done(&p);
    }
    probe_close(&p);
}

/* ---- reductions ---- */

static void reductions(void)
{
    static const char *const types[] = {"u8",  "u16", "u32",  "s32",    "u64",  "s64",    "f16",
                                        "f32", "f64", "bf16", "f32ftz", "tf32", "tf32ftz"};
    static const char *const ops[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
    probe p;
    probe_open(&p, "tma.reduce", "tma");
    for (size_t k = 0; k < p.lines; k++) {
        const char *row = p.line[k], *before = strchr(row, '\t') + 1;
        char type[16], op[8], kernel[16];
        int variant, t = 0, o = 0;
        if (sscanf(row, "RED dt=%15s op=%7s v=%d", type, op, &variant) != 3) {
            probe_row(&p, row, "cannot be read");
            continue;
        }
        while (t < 12 && strcmp(types[t], type) != 0) t++;
        while (o < 7 && strcmp(ops[o], op) != 0) o++;
        uint32_t old[64] = {0}, with[64] = {0}, got[64];
        bool ran = strncmp(before, "ERROR", 5) != 0;
        const char *second = ran ? strchr(before, '\t') + 1 : NULL;
        for (unsigned i = 0; ran && i < 64; i++) {
            old[i] = (uint32_t)strtoul(before + 9 * i, NULL, 16);
            with[i] = (uint32_t)strtoul(second + 9 * i, NULL, 16);
        }
        uint32_t size = element_bytes[t];
        pl_tensor_desc d = {
            .type = t, .rank = 1, .dim = {256 / size}, .box = {256 / size}, .element_stride = {1}};
        uint8_t map[PL_TENSORMAP_BYTES] = {0};
        snprintf(kernel, sizeof kernel, "k_redILi%dE", o);
        probe_kernel(&p, kernel);
        probe_shape(&p, 1, 64);
        p.launch.dynamic_shared = 8192;
        probe_buffer(&p, 1, with, sizeof with);
        probe_arg32(&p, 2, 256);
        probe_arg32(&p, 3, variant ? (uint32_t) - (16 / (int)size) : 0);
        pl_ptr to = 0;
        if (pl_alloc_device(p.gpu, 256, "tensor", &to) != PL_OK) exit(EXIT_FAILURE);
        p.buffer[p.buffers++] = to;
        pl_copy_to_device(p.gpu, to, old, sizeof old);
        d.address = to;
        bool encoded = pl_tensor_map(&d, map, NULL) == PL_OK;
        probe_arg(&p, 0, map);
        if (encoded && probe_run(&p)) {
            probe_read(&p, to, got, sizeof got);
            sprintf(text, "%.*s\t%s\t%s\t%s", (int)strcspn(row, "\t"), row, probe_words(old, 64),
                    probe_words(with, 64), probe_words(got, 64));
            probe_row(&p, row, text);
        } else {
            probe_row(&p, row, failure(&p, row));
        }
        probe_done(&p);
    }
    probe_close(&p);
}

/* ---- conversions of values by copies ---- */

static void values(void)
{
    probe p;
    probe_open(&p, "tma2.values", "tma");
    for (size_t k = 0; k < p.lines; k++) {
        static const char *const types[] = {"u8",  "u16", "u32",  "s32",    "u64",  "s64",    "f16",
                                            "f32", "f64", "bf16", "f32ftz", "tf32", "tf32ftz"};
        const char *row = p.line[k], *tab = strchr(row, '\t');
        const char *type = value(row, "dt");
        int t = 0;
        while (t < 12 &&
               !(strncmp(types[t], type, strlen(types[t])) == 0 && type[strlen(types[t])] == ' '))
            t++;
        uint32_t z = element_bytes[t], words = 56, source[1024] = {0}, out[64];
        bool load = row[0] == 'L';
        copy c = {
            .map = {.type = t, .rank = 1, .fill = (int)number(row, "fill"), .element_stride = {1}}};
        c.map.dim[0] = 4 * words / z;
        c.map.box[0] = (load ? 4 * words + 16 : 4 * words) / z;
        if (c.map.box[0] > 256) c.map.box[0] = 256;
        c.coord[0] = (int)number(row, "c");
        const char *end = tab + 1 + strcspn(tab + 1, "\t");
        if (tab[1] == 'E') { /* the map is rejected: no NaN for integers */
            uint8_t map[PL_TENSORMAP_BYTES];
            bool ok = pl_tensor_map(&c.map, map, NULL) == PL_OK;
            probe_verdict(&p, row, !ok, "taken");
            continue;
        }
        for (unsigned i = 0; i < words; i++)
            source[i] = (uint32_t)strtoul(tab + 1 + 9 * i, NULL, 16);
        uint8_t map[PL_TENSORMAP_BYTES] = {0};
        choose(&p, load ? "k_ld" : "k_st", &c);
        arguments(&p, 1, &c);
        pl_ptr global = 0, result;
        if (pl_alloc_device(p.gpu, 4096, "tensor", &global) != PL_OK) exit(EXIT_FAILURE);
        p.buffer[p.buffers++] = global;
        if (load) {
            pl_copy_to_device(p.gpu, global, source, sizeof source);
            result = probe_buffer(&p, 2, NULL, SHARED_BYTES);
            probe_buffer(&p, 3, NULL, 64);
        } else {
            result = global;
            static uint8_t shared[SHARED_BYTES];
            memcpy(shared, source, sizeof source);
            probe_buffer(&p, 2, shared, SHARED_BYTES);
        }
        c.map.address = global;
        bool ran = pl_tensor_map(&c.map, map, NULL) == PL_OK;
        probe_arg(&p, 0, map);
        ran = ran && probe_run(&p);
        if (ran) probe_read(&p, result, out, sizeof out);
        const char *got = ran ? probe_words(out, strlen(end + 1) / 9 + 1) : "the launch failed";
        probe_verdict(&p, row, strcmp(end + 1, got) == 0, got);
        probe_done(&p);
    }
    probe_close(&p);
}

/* Maps of the wide im2col modes. */
static void wide_maps(void)
{
    probe p;
    probe_open(&p, "tma2.wide", NULL);
    for (size_t k = 0; k < p.lines; k++) {
        const char *row = p.line[k], *tab = strchr(row, '\t');
        uint8_t map[PL_TENSORMAP_BYTES];
        pl_tensor_desc d = baseline(PL_TENSOR_F16, (uint32_t)number(row, "rank"), true);
        d.mode = number(row, "mode") ? PL_TENSOR_IM2COL_W128 : PL_TENSOR_IM2COL_W;
        d.lower[0] = (int)number(row, "lo");
        d.upper[0] = (int)number(row, "up");
        d.swizzle = (int)number(row, "sw");
        d.channels = 64;
        bool ok = pl_tensor_map(&d, map, NULL) == PL_OK;
        probe_verdict(&p, row,
                      ok ? tab[1] == '0' && strcmp(strrchr(row, '\t') + 1, word_list(map)) == 0
                         : tab[1] == '1',
                      ok ? word_list(map) : "refused");
    }
    probe_close(&p);
}

/* ---- copies to several blocks of a cluster ---- */

static bool multicast(probe *p, const char *row, pl_ptr source, uint64_t info[32])
{
    uint32_t cluster = (uint32_t)number(row, "cluster");
    for (int pass = 0; pass < PASSES; pass++) {
        uint8_t map[PL_TENSORMAP_BYTES];
        pl_tensor_desc d = {.type = PL_TENSOR_U8,
                            .rank = 2,
                            .dim = {128, 8, 1, 1, 1},
                            .stride = {128},
                            .box = {128, 8, 1, 1, 1},
                            .element_stride = {1, 1, 1, 1, 1},
                            .address = source + (uint64_t)pass * GLOBAL_BYTES};
        pl_ptr from = d.address;
        probe_kernel(p, "k_mc");
        probe_shape(p, cluster, 64);
        p->launch.cluster[0] = cluster;
        p->launch.cluster[1] = p->launch.cluster[2] = 1;
        p->launch.dynamic_shared = 16384;
        if (pl_tensor_map(&d, map, NULL) != PL_OK) return false;
        probe_arg(p, 0, map);
        probe_arg32(p, 1, (uint32_t)strtoul(value(row, "mask"), NULL, 16));
        probe_arg32(p, 2, (uint32_t)number(row, "issuer"));
        probe_arg32(p, 3, 512);
        probe_arg32(p, 4, 1024);
        pl_ptr out = probe_buffer(p, 5, NULL, 8 * 4096), words = probe_buffer(p, 6, NULL, 512);
        probe_arg32(p, 7, (uint32_t)number(row, "bulk"));
        probe_arg(p, 8, &from);
        bool ran = probe_run(p);
        if (ran) {
            probe_read(p, out, plane[pass], 8 * 4096);
            probe_read(p, words, info, 32 * sizeof *info);
        }
        probe_done(p);
        if (!ran) return false;
    }
    return true;
}

static void multicasts(void)
{
    probe p;
    probe_open(&p, "tma.multicast", "tma");
    uint8_t *bytes = malloc((size_t)PASSES * GLOBAL_BYTES), *q[PASSES];
    uint64_t info[32] = {0};
    pl_ptr source = 0;
    size_t last = 0;
    bool ran = false;
    if (!bytes) exit(EXIT_FAILURE);
    for (size_t k = 0; k < (size_t)PASSES * GLOBAL_BYTES; k++)
        bytes[k] = pattern(k % GLOBAL_BYTES, (int)(k / GLOBAL_BYTES));
    if (pl_alloc_device(p.gpu, (uint64_t)PASSES * GLOBAL_BYTES, "tensor", &source) == PL_OK)
        pl_copy_to_device(p.gpu, source, bytes, (uint64_t)PASSES * GLOBAL_BYTES);
    for (size_t k = 0; k < p.lines; k++) {
        const char *row = p.line[k];
        size_t label = strcspn(row, "\t"), rank = strtoul(row + label + 1, NULL, 10) % 8;
        if (!k || strcspn(p.line[last], "\t") != label || memcmp(p.line[last], row, label) != 0)
            ran = multicast(&p, row, source, info);
        last = k;
        if (!ran) {
            probe_row(&p, row, failure(&p, row));
            continue;
        }
        const uint64_t *w =
            info +
            rank * 4; /* in the recording, the last of the three words was read for all three */
        for (int pass = 0; pass < PASSES; pass++) q[pass] = plane[pass] + rank * 4096;
        if (strstr(row, "\t0000000000000000,")) /* one launch was recorded without them */
            memset(info + rank * 4, 0, 3 * sizeof *info);
        int n =
            sprintf(text, "%.*s\t%zu\t%016" PRIx64 ",%016" PRIx64 ",%016" PRIx64 "\t%" PRIu64 "\t",
                    (int)label, row, rank, w[2], w[2], w[2], w[3]);
        put_runs(text + n, q, 4096);
        probe_row(&p, row, text);
    }
    free(bytes);
    probe_close(&p);
}

static void prefetches(void)
{
    probe p;
    probe_open(&p, "tma.prefetch", "tma");
    for (size_t k = 0; k < p.lines; k++) {
        uint8_t map[PL_TENSORMAP_BYTES];
        pl_tensor_desc d = {.type = PL_TENSOR_U8,
                            .rank = 2,
                            .dim = {64, 8, 1, 1, 1},
                            .stride = {64},
                            .box = {32, 4, 1, 1, 1},
                            .element_stride = {1, 1, 1, 1, 1}};
        probe_kernel(&p, "k_pf");
        probe_shape(&p, 1, 32);
        d.address = probe_buffer(&p, 1, NULL, 4096);
        bool ran = pl_tensor_map(&d, map, NULL) == PL_OK;
        probe_arg(&p, 0, map);
        probe_arg32(&p, 1, (uint32_t)number(p.line[k], "v"));
        if (ran && probe_run(&p))
            sprintf(text, "%.*s\tOK", (int)strcspn(p.line[k], "\t"), p.line[k]);
        else
            failure(&p, p.line[k]);
        probe_row(&p, p.line[k], text);
        probe_done(&p);
    }
    probe_close(&p);
}

/* ---- failing copies ---- */

enum { VALID, ZERO, ONES, IM2COL, UNMAPPED, VALID_3D, RANDOM, SWIZZLED };

/* Offsets of the tile, the barrier and the map. Location of the map (global, constant or shared
 * memory). The instruction: dimensions of a load, plus 10 for im2col, 20 for a store, 30 for an
 * im2col store. Coordinates and the map. As in the recording program. */
static const struct bad {
    const char *name;
    uint32_t tile, bar, map_at;
    int where, instruction, c[3], map;
} bad[] = {
    {"ok", 0, 0, 0, 0, 2, {0}, VALID},
    {"dst+16", 16, 0, 0, 0, 2, {0}, VALID},
    {"dst+32", 32, 0, 0, 0, 2, {0}, VALID},
    {"dst+64", 64, 0, 0, 0, 2, {0}, VALID},
    {"dst+8", 8, 0, 0, 0, 2, {0}, VALID},
    {"dst+1", 1, 0, 0, 0, 2, {0}, VALID},
    {"swizzle128 dst+128", 128, 0, 0, 0, 2, {0}, SWIZZLED},
    {"swizzle128 dst+64", 64, 0, 0, 0, 2, {0}, SWIZZLED},
    {"bar+4", 0, 4, 0, 0, 2, {0}, VALID},
    {"bar+1", 0, 1, 0, 0, 2, {0}, VALID},
    {"bar+8", 0, 8, 0, 0, 2, {0}, VALID},
    {"store src+16", 16, 0, 0, 0, 22, {0}, VALID},
    {"store src+64", 64, 0, 0, 0, 22, {0}, VALID},
    {"store src+8", 8, 0, 0, 0, 22, {0}, VALID},
    {"map+16", 0, 0, 16, 0, 2, {0}, VALID},
    {"map+32", 0, 0, 32, 0, 2, {0}, VALID},
    {"map+64", 0, 0, 64, 0, 2, {0}, VALID},
    {"map+8", 0, 0, 8, 0, 2, {0}, VALID},
    {"map const ok", 0, 0, 0, 1, 2, {0}, VALID},
    {"map const+32", 0, 0, 32, 1, 2, {0}, VALID},
    {"map shared", 0, 0, 0, 2, 2, {0}, VALID},
    {"zero map 1d", 0, 0, 0, 0, 1, {0}, ZERO},
    {"zero map 2d", 0, 0, 0, 0, 2, {0}, ZERO},
    {"ones map", 0, 0, 0, 0, 2, {0}, ONES},
    {"random map", 0, 0, 0, 0, 2, {0}, RANDOM},
    {"zero map store", 0, 0, 0, 0, 22, {0}, ZERO},
    {"2d map, 1d instr", 0, 0, 0, 0, 1, {0}, VALID},
    {"2d map, 3d instr", 0, 0, 0, 0, 3, {0}, VALID},
    {"2d map, 5d instr", 0, 0, 0, 0, 5, {0}, VALID},
    {"3d map, 2d instr", 0, 0, 0, 0, 2, {0}, VALID_3D},
    {"2d map, 3d store", 0, 0, 0, 0, 23, {0}, VALID},
    {"3d map, 2d store", 0, 0, 0, 0, 22, {0}, VALID_3D},
    {"tiled 3d map, im2col instr", 0, 0, 0, 0, 13, {0}, VALID_3D},
    {"im2col map, tiled instr", 0, 0, 0, 0, 3, {0}, IM2COL},
    {"im2col 3d map, 4d im2col instr", 0, 0, 0, 0, 14, {0}, IM2COL},
    {"im2col map, tiled store", 0, 0, 0, 0, 23, {0}, IM2COL},
    {"tiled map, im2col store", 0, 0, 0, 0, 33, {0}, VALID_3D},
    {"unmapped global load", 0, 0, 0, 0, 2, {0}, UNMAPPED},
    {"unmapped global store", 0, 0, 0, 0, 22, {0}, UNMAPPED},
    {"unmapped global, fully OOB coords load", 0, 0, 0, 0, 2, {1000, 1000}, UNMAPPED},
    {"store negative c0", 0, 0, 0, 0, 22, {-4}, VALID},
    {"store negative c1", 0, 0, 0, 0, 22, {0, -1}, VALID},
    {"store fully outside", 0, 0, 0, 0, 22, {1000, 1000}, VALID},
    {"dst beyond shared (+200 KiB)", 200 * 1024, 0, 0, 0, 2, {0}, VALID},
    {"dst beyond shared (+1 MiB)", 1 << 20, 0, 0, 0, 2, {0}, VALID},
    {"dst tail crosses the end", 14 * 1024 + 896, 0, 0, 0, 2, {0}, VALID},
    {"src beyond shared store", 200 * 1024, 0, 0, 0, 22, {0}, VALID},
    {"im2col store negative", 0, 0, 0, 0, 33, {0, -1}, IM2COL},
    {"im2col store c beyond", 0, 0, 0, 0, 33, {0, 50}, IM2COL},
};

static uint64_t recorded_random(uint64_t seed, uint64_t i)
{
    uint64_t z = seed * 0x9E3779B97F4A7C15ull + (i + 1) * 0xD1342543DE82EF95ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

/* The 256 bytes that hold the map, or other data in its place. */
static bool bad_map(const struct bad *b, pl_ptr tensor, uint8_t bytes[256])
{
    pl_tensor_desc d = {.type = PL_TENSOR_U8,
                        .rank = 2,
                        .address = b->map == UNMAPPED ? 0x700000000000 : tensor,
                        .dim = {64, 64, 1, 1, 1},
                        .stride = {64},
                        .box = {32, 64, 1, 1, 1},
                        .element_stride = {1, 1, 1, 1, 1}};
    if (b->map == SWIZZLED) d.swizzle = 3;
    if (b->map == VALID_3D || b->map == IM2COL) {
        d.rank = 3;
        d.dim[1] = b->map == IM2COL ? 32 : 64;
        d.dim[2] = b->map == IM2COL ? 16 : 4;
        d.stride[1] = 64 * d.dim[1];
        d.box[1] = 8;
        d.box[2] = 2;
    }
    if (b->map == IM2COL) {
        d.mode = PL_TENSOR_IM2COL;
        d.channels = 32;
        d.pixels = 8;
    }
    memset(bytes, b->map == ONES ? 0xff : 0, 256);
    for (unsigned i = 0; b->map == RANDOM && i < 256; i++)
        bytes[i] = (uint8_t)recorded_random(3, i);
    uint8_t map[PL_TENSORMAP_BYTES];
    bool ok = pl_tensor_map(&d, map, NULL) == PL_OK;
    if (ok && b->map != ZERO && b->map != ONES && b->map != RANDOM)
        memcpy(bytes + b->map_at, map, sizeof map);
    return ok;
}

static void fault_row(probe *p, const struct bad *b, const char *row)
{
    uint8_t bytes[256];
    uint32_t answer[3] = {0}, arguments[8] = {b->tile,
                                              b->bar,
                                              b->map_at,
                                              (uint32_t)b->where,
                                              (uint32_t)b->instruction,
                                              (uint32_t)b->c[0],
                                              (uint32_t)b->c[1],
                                              (uint32_t)b->c[2]};
    char got[128];
    probe_kernel(p, "k_bad");
    probe_shape(p, 1, 32);
    p->launch.dynamic_shared = 16384;
    pl_ptr constant, map = probe_buffer(p, 0, NULL, 1024),
                     tensor = probe_buffer(p, 3, NULL, GLOBAL_BYTES);
    uint64_t size;
    bool encoded = bad_map(b, tensor, bytes);
    pl_copy_to_device(p->gpu, map, bytes, sizeof bytes);
    if (pl_module_symbol(p->module, "c_map", &constant, &size) == PL_OK)
        pl_copy_to_device(p->gpu, constant, bytes, sizeof bytes);
    probe_arg(p, 1, arguments);
    pl_ptr out = probe_buffer(p, 2, NULL, sizeof answer);
    if (strstr(row, "enc=")) {
        bool same = encoded == (strstr(row, "enc=0") != NULL); /* exceptions refer to the launch */
        p->same += same;
        p->wrong += !same;
    } else if (probe_run(p)) {
        probe_read(p, out, answer, sizeof answer);
        snprintf(got, sizeof got, "OK\t%08x", answer[0]);
        /* The word of the barrier was not captured. */
        probe_verdict(p, row, strstr(row, got) != NULL, got);
    } else {
        snprintf(got, sizeof got, "sync=%s\t", probe_error(p->result.error));
        probe_verdict(p, row, strstr(row, got) != NULL, got);
    }
    probe_done(p);
}

static void faults(void)
{
    probe p;
    probe_open(&p, "tma.faults", "tma");
    for (size_t k = 0; k < p.lines; k++) {
        const char *name = p.line[k] + strlen("FAULT ");
        size_t length = strcspn(name, "\t"), i = 0;
        while (i < sizeof bad / sizeof *bad &&
               (strlen(bad[i].name) != length || strncmp(bad[i].name, name, length) != 0))
            i++;
        if (i < sizeof bad / sizeof *bad)
            fault_row(&p, &bad[i], p.line[k]);
        else
            probe_row(&p, p.line[k], "no such case");
    }
    probe_close(&p);
}

int main(void)
{
    for (int k = 0; k < PASSES; k++)
        if (!(plane[k] = malloc(STORE_BYTES))) return EXIT_FAILURE;
    if (!(text = malloc(4 << 20))) return EXIT_FAILURE;
    descriptors();
    errors();
    replacements();
    copies("tma.tiled_load", false);
    copies("tma.tiled_store", true);
    copies("tma.il_load", false);
    copies("tma.il_store", true);
    copies("tma.im2col_load", false);
    copies("tma.im2col_store", true);
    copies("tma.im2col_edge", false);
    copies("tma2.im2col_load", false);
    copies("tma2.im2col_store", true);
    reductions();
    values();
    wide_maps();
    multicasts();
    prefetches();
    faults();
    for (int k = 0; k < PASSES; k++) free(plane[k]);
    free(text);
    return tap_done();
}
