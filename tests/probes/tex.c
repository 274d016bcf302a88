/* tex.c - recorded texture fetches and surface accesses (tests/data/probes/tex.*), run by the
 * same kernels as on the H200.
 *
 * A label specifies how the texture was created; rows of one label are the queries of one launch.
 * */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/probes/probe.h"

/* The kernel's numbers of fetch functions. */
enum {
    TEX1D,
    TEX2D,
    TEX3D,
    TEX1D_LAYERED,
    TEX2D_LAYERED,
    CUBE,
    CUBE_LAYERED,
    TEX1D_LOD,
    TEX2D_LOD,
    TEX2D_GRAD = 10,
    GATHER = 11,
    FETCH1D = 15,
    TEX1D_GRAD = 17
};
enum { AS_FLOAT, AS_UNSIGNED, AS_SIGNED };
enum { MOST_QUERIES = 70000 };

typedef struct query {
    float x, y, z, w, lod, a, b, c, d;
    int32_t index;
} query;

/* A texture under test, with its array. */
typedef struct texture {
    pl_array_desc array;
    pl_sampler_desc sampler;
    uint64_t array_handle, handle;
    int fetch, as;
} texture;

static query queries[MOST_QUERIES];
static uint32_t (*results)[4];

static texture plain(uint32_t width, uint32_t height, uint32_t depth)
{
    texture t = {
        .array = {
            .format = {1, 32, PL_CHANNEL_FLOAT}, .width = width, .height = height, .depth = depth}};
    memset(t.sampler.address, PL_ADDRESS_CLAMP, sizeof t.sampler.address);
    return t;
}

static void set_address(texture *t, int mode)
{
    memset(t->sampler.address, mode, sizeof t->sampler.address);
}

/* Creates the array from its bytes, level by level, and the texture. */
static bool make(probe *p, texture *t, const void *bytes)
{
    const uint8_t *from = bytes;
    if (pl_array_create(p->gpu, &t->array, "array", &t->array_handle) != PL_OK) return false;
    for (uint32_t k = 0; k < (t->array.levels ? t->array.levels : 1); k++) {
        uint64_t n = pl_array_bytes(p->gpu, t->array_handle, k);
        memcpy(pl_array_view(p->gpu, t->array_handle, k), from, n);
        from += n;
    }
    const pl_texture_desc d = {
        .source = PL_TEXTURE_ARRAY, .array = t->array_handle, .sampler = t->sampler};
    return pl_texture_create(p->gpu, &d, &t->handle, NULL) == PL_OK;
}

static void drop(probe *p, texture *t)
{
    if (t->handle) pl_resource_free(p->gpu, t->handle);
    if (t->array_handle) pl_resource_free(p->gpu, t->array_handle);
    t->handle = t->array_handle = 0;
}

static void run(probe *p, uint64_t handle, int fetch, int as, uint32_t n)
{
    probe_kernel(p, "k_f");
    probe_shape(p, (n + 127) / 128, 128);
    probe_arg(p, 0, &handle);
    probe_arg32(p, 1, (uint32_t)fetch);
    probe_arg32(p, 2, (uint32_t)as);
    probe_buffer(p, 3, queries, n * sizeof *queries);
    pl_ptr out = probe_buffer(p, 4, NULL, n * sizeof *results);
    probe_arg32(p, 5, n);
    if (probe_run(p))
        probe_read(p, out, results, n * sizeof *results);
    else
        memset(results, 0xee, n * sizeof *results);
    probe_done(p);
}

/* ---- rows of a single query ---- */

static float as_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

/* The query of a row, and the position of its results. */
static const char *read_query(const char *row, query *q)
{
    uint32_t v[8];
    int index, used = 0;
    const char *tab = strchr(row, '\t');
    if (!tab ||
        sscanf(tab + 1, "%8x,%8x,%8x l=%8x g=%8x,%8x,%8x,%8x i=%d\t%n", &v[0], &v[1], &v[2], &v[3],
               &v[4], &v[5], &v[6], &v[7], &index, &used) != 9 ||
        !used)
        return NULL;
    *q = (query){.x = as_float(v[0]),
                 .y = as_float(v[1]),
                 .z = as_float(v[2]),
                 .lod = as_float(v[3]),
                 .a = as_float(v[4]),
                 .b = as_float(v[5]),
                 .c = as_float(v[6]),
                 .d = as_float(v[7]),
                 .index = index};
    return tab + 1 + used;
}

static int number_after(const char *label, const char *key)
{
    const char *at = strstr(label, key);
    return at ? atoi(at + strlen(key)) : 0;
}

static bool has(const char *row, const char *word)
{
    const char *at = strstr(row, word), *tab = strchr(row, '\t');
    return at && (!tab || at < tab);
}

static size_t label_length(const char *row)
{
    return strcspn(row, "\t");
}

/* Bytes of a row "LABEL TAB TEXELS TAB words or bytes". */
static const void *texels_of(const char *row)
{
    static uint32_t words[64];
    const char *s = strstr(row, "TEXELS\t");
    for (unsigned k = 0; s && k < 64; k++) words[k] = (uint32_t)strtoul(s + 7 + 9 * k, NULL, 16);
    return words;
}

static const float *counting(float first, unsigned n)
{
    static float f[400];
    for (unsigned k = 0; k < n; k++) f[k] = first + (float)k;
    return f;
}

static bool open_weights(probe *p, const char *row, const char *texels, texture *t)
{
    static float one_hot[8];
    uint32_t two[2];
    const void *bytes = one_hot;
    memset(one_hot, 0, sizeof one_hot);
    if (strncmp(row, "1D", 2) == 0) {
        *t = plain(2, 0, 0);
        sscanf(strstr(row, "texels=") + 7, "%8x,%8x", &two[0], &two[1]);
        bytes = two;
    } else if (strncmp(row, "2D linear clamp", 15) == 0) {
        *t = plain(4, 4, 0);
        t->sampler.normalized = has(row, "norm=1");
        bytes = texels_of(texels);
    } else if (has(row, "one-hot")) {
        *t = plain(2, 2, row[0] == '3' ? 2 : 0);
        one_hot[number_after(row, "corner ")] = 1;
    } else {
        *t = plain(3, 3, 3);
        bytes = texels_of(texels);
    }
    t->sampler.linear = true;
    t->fetch = row[0] == '1' ? TEX1D : row[0] == '2' ? TEX2D : TEX3D;
    return make(p, t, bytes);
}

static int mode_in(const char *row)
{
    static const char *const names[] = {"wrap", "clamp", "mirror", "border "};
    for (int k = 0; k < 4; k++) {
        const char *at = strstr(row, names[k]);
        if (at && at[-1] != '=' && at < row + label_length(row)) return k;
    }
    return has(row, "x=wrap") ? 0 : has(row, "x=clamp") ? 1 : has(row, "x=mirror") ? 2 : 3;
}

static bool open_address(probe *p, const char *row, const char *texels, texture *t)
{
    static const float tens[] = {10, 20, 30, 40, 50};
    (void)texels;
    bool mixed = strncmp(row, "mixed", 5) == 0, one = row[0] == '1';
    *t = one ? plain((uint32_t)number_after(row, "width="), 0, 0) : plain(4, 3, 0);
    if (mixed)
        t->sampler.address[0] = (uint8_t)mode_in(row);
    else
        set_address(t, mode_in(row));
    t->sampler.linear = has(row, "linear");
    t->sampler.normalized = mixed || has(row, "norm=1");
    if (has(row, "border=1"))
        memcpy(t->sampler.border, (const float[]){3.25f, 7, 8, 9}, sizeof t->sampler.border);
    t->fetch = one ? TEX1D : TEX2D;
    return make(p, t, one ? tens : counting(1, 12));
}

static bool open_layered(probe *p, const char *row, const char *texels, texture *t)
{
    (void)texels;
    bool cube = strncmp(row, "cube", 4) == 0;
    *t = row[0] == '1'   ? plain(4, 0, 5)
         : row[0] == '2' ? plain(4, 4, 3)
                         : plain(4, 4, has(row, "layered") ? 12 : 6);
    t->array.layered = has(row, "layered");
    t->array.cubemap = cube;
    t->sampler.normalized = cube;
    t->sampler.linear = has(row, "linear");
    t->sampler.seamless = has(row, "seamless=1");
    if (has(row, "am=")) set_address(t, number_after(row, "am="));
    t->fetch = row[0] == '1'      ? TEX1D_LAYERED
               : row[0] == '2'    ? TEX2D_LAYERED
               : t->array.layered ? CUBE_LAYERED
                                  : CUBE;
    return make(p, t, counting(0, 192));
}

static bool open_gather(probe *p, const char *row, const char *texels, texture *t)
{
    static const uint8_t seed[16] = {253, 20, 31, 255, 250, 25, 29, 254,
                                     249, 16, 37, 253, 251, 22, 30, 250};
    uint8_t bytes[80];
    (void)texels;
    for (unsigned k = 0; k < 80; k++) bytes[k] = (uint8_t)(32 * (k % 4) + k / 4);
    bool seeded = has(row, "seed");
    *t = seeded ? plain(2, 2, 0) : plain(5, 4, 0);
    t->array.format = (pl_texel_format){4, 8, PL_CHANNEL_UNSIGNED};
    bool to_float = has(row, "readmode=1");
    if (!seeded) set_address(t, number_after(row, "am="));
    t->sampler.linear = t->sampler.to_float = to_float;
    t->sampler.normalized = has(row, "norm=1");
    t->fetch = GATHER + number_after(row, "comp=");
    t->as = to_float ? AS_FLOAT : AS_UNSIGNED;
    return make(p, t, seeded ? seed : bytes);
}

static bool open_mipmap(probe *p, const char *row, const char *texels, texture *t)
{
    static float f[400];
    bool two = row[0] == '2';
    unsigned n = 0;
    (void)texels;
    *t = plain(16, two ? 8 : 0, 0);
    t->array.levels = 5;
    for (unsigned l = 0; l < 5; l++) {
        unsigned w = 16u >> l, h = two && 8 >> l ? 8u >> l : 1, texels_here = w * h;
        for (unsigned k = 0; k < texels_here; k++) f[n++] = (float)(1000 * l + k);
    }
    int variant = number_after(row, "variant=");
    t->sampler.normalized = true;
    t->sampler.linear = !two || has(row, " filter=1");
    t->sampler.mip_linear = !two || has(row, "mipfilter=1");
    t->sampler.anisotropy = (uint32_t)number_after(row, "aniso=");
    t->sampler.lod_max = variant == 4 ? 0 : variant == 2 ? 2.5f : 10;
    t->sampler.lod_min = variant == 2 ? 1 : 0;
    t->sampler.lod_bias = variant == 1 ? 0.5f : variant == 3 ? -3.3f : 0;
    t->fetch = two ? TEX2D_LOD : TEX1D_LOD;
    return make(p, t, f);
}

/* Launches the collected queries and compares. approximate: rows that differ are counted, but are
 * not errors. */
static void settle(probe *p, const texture *t, int fetch, char *const *row, uint32_t n,
                   bool approximate, size_t *approximated)
{
    if (!n) return;
    run(p, t->handle, fetch, t->as, n);
    for (uint32_t k = 0; k < n; k++) {
        query q;
        const char *want = read_query(row[k], &q);
        size_t words = (strlen(want) + 1) / 9;
        const char *got = probe_words(results[k], words);
        bool same = strcmp(got, want) == 0;
        if (!same && approximate)
            ++*approximated, ++p->excepted;
        else
            probe_verdict(p, row[k], same, got);
    }
}

typedef bool opener(probe *p, const char *row, const char *texels, texture *t);

/* Fetch function of row number `k` of a label: mipmapped ones have levels, then gradients, then
 * plain fetches; the small gather has a row for each component. */
static int row_fetch(const texture *t, size_t k)
{
    if (t->fetch == GATHER && t->array.width == 2) return GATHER + (int)k;
    if (!t->array.levels || t->fetch == TEX2D_GRAD) return t->fetch;
    if (t->fetch == TEX1D_LOD) return k < 70 ? TEX1D_LOD : TEX1D_GRAD;
    return k < 108 ? TEX2D_LOD : k < 228 ? TEX2D_GRAD : TEX2D;
}

/* Rows whose fetch takes derivatives may differ, at most `most` of them: see
 * emu/exec/texture/texture.c, gradient_lod. */
static void replay(const char *name, opener *open, size_t most)
{
    probe p;
    size_t approximated = 0;
    probe_open(&p, name, "tex");
    for (size_t k = 0; k < p.lines;) {
        char *label = p.line[k];
        size_t length = label_length(label), end = k;
        while (end < p.lines && label_length(p.line[end]) == length &&
               memcmp(p.line[end], label, length) == 0)
            end++;
        size_t first = strstr(label, "\tTEXELS\t") ? k + 1 : k;
        texture t;
        if (!open(&p, label, label, &t)) {
            for (size_t i = first; i < end; i++)
                probe_row(&p, p.line[i], "the texture cannot be created");
        } else {
            for (size_t i = first; i < end;) {
                uint32_t n = 0;
                int fetch = row_fetch(&t, i - first);
                while (i + n < end && n < MOST_QUERIES && row_fetch(&t, i + n - first) == fetch &&
                       read_query(p.line[i + n], &queries[n]))
                    n++;
                bool approximate = fetch == TEX2D_GRAD || fetch == TEX1D_GRAD;
                settle(&p, &t, fetch, &p.line[i], n, approximate, &approximated);
                i += n ? n : 1;
            }
        }
        drop(&p, &t);
        k = end;
    }
    probe_close(&p);
    if (most)
        tap(approximated <= most, "%s: %zu fetches with derivatives are approximate, at most %zu",
            name, approximated, most);
}

/* ---- formats: rows of many results ---- */

static uint8_t *bytes_of(const char *hex, size_t *n)
{
    *n = strspn(hex, "0123456789abcdef") / 2;
    uint8_t *b = malloc(*n + 1);
    for (size_t k = 0; b && k < *n; k++) {
        unsigned v;
        sscanf(hex + 2 * k, "%2x", &v);
        b[k] = (uint8_t)v;
    }
    return b;
}

/* One row of `count` fetches with `words` results each. */
static void compare_all(probe *p, const char *row, const char *want, uint32_t count,
                        const unsigned *words, unsigned nwords)
{
    char *got = malloc((size_t)count * nwords * 9 + 1);
    size_t at = 0;
    for (uint32_t k = 0; got && k < count; k++)
        for (unsigned w = 0; w < nwords; w++)
            at += (size_t)sprintf(got + at, at ? " %08x" : "%08x", results[k][words[w]]);
    probe_verdict(p, row, got && strcmp(got, want) == 0, got ? got : "");
    free(got);
}

static void format_rows(probe *p, size_t *k)
{
    static const unsigned all[] = {0, 1, 2, 3};
    const char *row = p->line[*k];
    size_t n;
    int channels = number_after(row, " x"), bits = atoi(row + 1);
    texture t = plain(64, 0, 0);
    t.array.format = (pl_texel_format){(uint8_t)channels, (uint8_t)bits,
                                       row[0] == 'f'   ? PL_CHANNEL_FLOAT
                                       : row[0] == 'u' ? PL_CHANNEL_UNSIGNED
                                                       : PL_CHANNEL_SIGNED};
    t.sampler.to_float = has(row, "readmode=1");
    t.sampler.linear = has(row, "linear");
    t.sampler.srgb = has(row, "srgb=1");
    if (strstr(row, "\tCREATE\t")) { /* the driver rejected it: ptxloom must, for the same reason */
        uint8_t zeros[64 * 16] = {0};
        const char *why = "";
        bool made = make(p, &t, zeros);
        const pl_texture_desc d = {
            .source = PL_TEXTURE_ARRAY, .array = t.array_handle, .sampler = t.sampler};
        uint64_t handle;
        if (!made) pl_texture_create(p->gpu, &d, &handle, &why);
        probe_verdict(p, row, !made && strstr(row, why), why);
        drop(p, &t);
        ++*k;
        return;
    }
    uint8_t *bytes = bytes_of(strstr(row, "TEXELS\t") + 7, &n);
    bool made = make(p, &t, bytes);
    free(bytes);
    for (unsigned i = 0; i < 64; i++)
        queries[i] = (query){.x = (float)i + (t.sampler.linear ? 0.8125f : 0.5f)};
    for (++*k; *k < p->lines && strstr(p->line[*k], "\tas="); ++*k) {
        row = p->line[*k];
        const char *as = strstr(row, "\tas=") + 4;
        run(p, made ? t.handle : 0, TEX1D,
            *as == 'f'   ? AS_FLOAT
            : *as == 'u' ? AS_UNSIGNED
                         : AS_SIGNED,
            64);
        compare_all(p, row, strrchr(row, '\t') + 1, 64, all, 4);
    }
    drop(p, &t);
}

static void table_row(probe *p, const char *row)
{
    static const char *const names[] = {"u8 norm",  "s8 norm",  "u8 srgb", "u16 norm",
                                        "s16 norm", "f16 step", "u8x4",    "u8 elem"};
    static const unsigned first[] = {0, 3};
    static uint8_t bytes[65536 * 2];
    unsigned kind = 0;
    while (kind < 7 && strncmp(row + 6, names[kind], strlen(names[kind])) != 0) kind++;
    bool wide = kind >= 3 && kind < 6;
    uint32_t n = wide ? 65536 : 256,
             size = kind == 6 ? 4
                    : wide    ? 2
                              : 1,
             step = kind == 5 ? 3
                    : wide    ? 5
                              : 1,
             count = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t c = 0; c < size; c++) bytes[i * size + c] = (uint8_t)(wide ? i >> 8 * c : i);
    texture t = plain(n, 0, 0);
    t.array.format = (pl_texel_format){kind == 6 ? 4 : 1, wide ? 16 : 8,
                                       kind == 5                ? PL_CHANNEL_FLOAT
                                       : kind == 1 || kind == 4 ? PL_CHANNEL_SIGNED
                                                                : PL_CHANNEL_UNSIGNED};
    t.sampler.to_float = kind != 5 && kind != 7;
    t.sampler.srgb = kind == 2 || kind == 6;
    bool made = make(p, &t, bytes);
    for (uint32_t i = 0; i < n; i += step) queries[count++] = (query){.x = (float)i + 0.5f};
    run(p, made ? t.handle : 0, TEX1D, kind == 7 ? AS_UNSIGNED : AS_FLOAT, count);
    compare_all(p, row, strrchr(row, '\t') + 1, count, first, kind == 6 ? 2 : 1);
    drop(p, &t);
}

static void filter_row(probe *p, const char *row)
{
    static const uint16_t words[] = {0x8000, 0x7fff, 0x3e00, 0xc200};
    static const uint8_t bytes[] = {0, 255, 10, 200};
    static const unsigned first[] = {0};
    unsigned kind = has(row, "u8 norm") ? 0 : has(row, "s16") ? 1 : has(row, "f16") ? 2 : 3;
    bool wide = kind == 1 || kind == 2;
    texture t = plain(2, 0, 0);
    t.array.format = (pl_texel_format){1, wide ? 16 : 8,
                                       kind == 1   ? PL_CHANNEL_SIGNED
                                       : kind == 2 ? PL_CHANNEL_FLOAT
                                                   : PL_CHANNEL_UNSIGNED};
    t.sampler.linear = true;
    t.sampler.to_float = kind != 2;
    t.sampler.srgb = kind == 3;
    bool made = make(p, &t,
                     kind == 0   ? (const void *)bytes
                     : kind == 3 ? (const void *)(bytes + 2)
                     : kind == 1 ? words
                                 : words + 2);
    for (unsigned i = 0; i <= 512; i++) queries[i] = (query){.x = 0.5f + (float)i / 512.f};
    run(p, made ? t.handle : 0, TEX1D, AS_FLOAT, 513);
    compare_all(p, row, strrchr(row, '\t') + 1, 513, first, 1);
    drop(p, &t);
}

static void formats(void)
{
    probe p;
    probe_open(&p, "tex.formats", "tex");
    for (size_t k = 0; k < p.lines;) {
        const char *row = p.line[k];
        if (strncmp(row, "table", 5) == 0) {
            table_row(&p, row);
            k++;
        } else if (strncmp(row, "filter", 6) == 0) {
            filter_row(&p, row);
            k++;
        } else {
            format_rows(&p, &k);
        }
    }
    probe_close(&p);
}

/* ---- linear and pitch memory ---- */

static void linear_memory(void)
{
    probe p;
    pl_ptr memory;
    float *f;
    probe_open(&p, "tex.linear_mem", "tex");
    if (pl_alloc_device(p.gpu, 256 * sizeof(float), "memory", &memory) != PL_OK ||
        !(f = pl_device_view(p.gpu, memory, 1024)))
        exit(EXIT_FAILURE);
    for (unsigned k = 0; k < 256; k++) f[k] = (float)k + 0.5f;
    uint64_t handle = 0;
    bool pitch = false;
    for (size_t k = 0; k < p.lines; k++) {
        const char *row = p.line[k], *created = strstr(row, "\tcreate=");
        if (created) {
            pl_texture_desc d = {.source = PL_TEXTURE_LINEAR,
                                 .address = memory,
                                 .format = {1, 32, PL_CHANNEL_FLOAT},
                                 .bytes = 80};
            pitch = strncmp(row, "pitch", 5) == 0;
            memset(d.sampler.address, has(row, "am=") ? number_after(row, "am=") : PL_ADDRESS_CLAMP,
                   3);
            d.address += (uint64_t)number_after(row, "offset ");
            if (has(row, "offset")) d.bytes = 64;
            if (pitch) {
                d.source = PL_TEXTURE_PITCH;
                d.width = 8;
                d.height = 2;
                d.pitch = (uint32_t)number_after(row, "pitch=");
                d.sampler.linear = has(row, "filter=1");
            }
            if (handle) pl_resource_free(p.gpu, handle);
            bool made = pl_texture_create(p.gpu, &d, &handle, NULL) == PL_OK;
            probe_verdict(&p, row, made == (created[8] == '0'), made ? "created" : "refused");
            continue;
        }
        uint32_t want_words = pitch ? 1 : 4;
        const char *want = read_query(row, &queries[0]);
        run(&p, handle, pitch ? TEX2D : FETCH1D, AS_FLOAT, 1);
        const char *got = probe_words(results[0], want_words);
        probe_verdict(&p, row, want && strcmp(want, got) == 0, got);
    }
    probe_close(&p);
}

/* ---- surfaces ---- */

static void surfaces(const char *name)
{
    static const char *const kinds[] = {"1D b8",  "1D b16", "1D b32",        "1D v2b32", "1D v4b32",
                                        "2D b32", "3D b32", "2DLayered b32", "cube b32"};
    static const char *const kernels[] = {"k_sc", "k_sz", "k_st"};
    static const uint8_t sizes[] = {1, 2, 4, 8, 16, 4, 4, 4, 4};
    static const uint32_t value[4] = {0xa1b2c3d4, 0xa5b6c7d8, 0xa9bacbdc, 0xadbecfd0};
    probe p;
    probe_open(&p, name, "tex");
    for (size_t k = 0; k < p.lines; k++) {
        const char *row = p.line[k];
        char way[8], mode[8], got[2048];
        int x, y, z;
        unsigned kind = 0;
        const char *rest = strstr(row, "mode=");
        if (sscanf(row, "surf %7s", way) != 1 || !rest ||
            sscanf(rest, "mode=%7[a-z] x=%d y=%d z=%d", mode, &x, &y, &z) != 4) {
            probe_row(&p, row, "cannot be read");
            continue;
        }
        const char *what = row + 6 + strlen(way);
        while (kind < 8 && !(strncmp(what, kinds[kind], strlen(kinds[kind])) == 0 &&
                             what[strlen(kinds[kind])] == ' '))
            kind++;
        uint32_t size = sizes[kind], width = kind < 5 ? 8 : 4, channels = size > 4 ? size / 4 : 1;
        texture t = plain(width, kind < 5 ? 0 : 4, kind < 6 ? 0 : kind < 8 ? 3 : 6);
        t.array.format = (pl_texel_format){(uint8_t)channels, (uint8_t)(8 * size / channels),
                                           PL_CHANNEL_UNSIGNED};
        t.array.layered = kind == 7;
        t.array.cubemap = kind == 8;
        uint8_t before[400];
        for (unsigned i = 0; i < sizeof before; i++) before[i] = (uint8_t)(i + 1);
        uint64_t surface;
        bool made = make(&p, &t, before) &&
                    pl_surface_create(p.gpu, t.array_handle, 0, &surface, NULL) == PL_OK;
        probe_kernel(&p, kernels[mode[0] == 'c' ? 0 : mode[0] == 'z' ? 1 : 2]);
        probe_arg(&p, 0, &surface);
        probe_arg32(&p, 1, kind + (way[0] == 'w' ? 10 : 0));
        probe_arg32(&p, 2, (uint32_t)x);
        probe_arg32(&p, 3, (uint32_t)y);
        probe_arg32(&p, 4, (uint32_t)z);
        probe_arg(&p, 5, value);
        pl_ptr out = probe_buffer(&p, 6, NULL, 16);
        uint32_t r[4] = {0};
        int n;
        if (made && probe_run(&p)) {
            probe_read(&p, out, r, 16);
            n = snprintf(got, sizeof got, "%.*s\tOK\tread=%s\tchanged=", (int)label_length(row),
                         row, probe_words(r, 4));
            const uint8_t *now = pl_array_view(p.gpu, t.array_handle, 0);
            for (uint64_t i = 0; kind != 8 && i < pl_array_bytes(p.gpu, t.array_handle, 0); i++)
                if (now[i] != before[i])
                    n += snprintf(got + n, sizeof got - (size_t)n, "%u:%02x ", (unsigned)i, now[i]);
        } else {
            snprintf(got, sizeof got, "%.*s\tERROR\tsync\tlaunch=0(cudaSuccess)\tsync=%s\tsticky=1",
                     (int)label_length(row), row, probe_error(p.result.error));
        }
        probe_row(&p, row, got);
        pl_resource_free(p.gpu, surface);
        drop(&p, &t);
        probe_done(&p);
    }
    probe_close(&p);
}

/* ---- later recordings: texel offsets, halves, reductions, mipmaps in three dimensions ---- */

/* Rows "LABEL TAB inputs TAB result" of one label at a time; returns the end of the label's
 * rows. */
static size_t group_end(const probe *p, size_t k)
{
    size_t length = label_length(p->line[k]), end = k;
    while (end < p->lines && label_length(p->line[end]) == length &&
           memcmp(p->line[end], p->line[k], length) == 0)
        end++;
    return end;
}

static void offsets(void)
{
    probe p;
    probe_open(&p, "tex2.offsets", "tex2");
    for (size_t k = 0, end; k < p.lines; k = end) {
        const char *row = p.line[k];
        static float at[128];
        static int32_t by[128];
        static uint32_t out[64][4];
        uint32_t n = 0, kind = (uint32_t)number_after(row, "kind=");
        end = group_end(&p, k);
        texture t = plain(5, 4, 0);
        set_address(&t, number_after(row, " am="));
        t.sampler.linear = has(row, "filter=1");
        t.sampler.normalized = has(row, "norm=1");
        bool made = make(&p, &t, counting(1, 20));
        for (; k + n < end && n < 64; n++) {
            unsigned x, y;
            sscanf(strchr(p.line[k + n], '\t') + 1, "%8x,%8x %d,%d", &x, &y, &by[2 * n],
                   &by[2 * n + 1]);
            at[2 * n] = as_float(x);
            at[2 * n + 1] = as_float(y);
        }
        probe_kernel(&p, "k_off");
        probe_shape(&p, 1, 64);
        probe_arg(&p, 0, &t.handle);
        probe_arg32(&p, 1, kind);
        probe_buffer(&p, 2, at, sizeof at);
        probe_buffer(&p, 3, by, sizeof by);
        pl_ptr to = probe_buffer(&p, 4, NULL, sizeof out);
        probe_arg32(&p, 5, n);
        bool ran = made && probe_run(&p);
        if (ran) probe_read(&p, to, out, sizeof out);
        probe_done(&p);
        for (uint32_t i = 0; i < n; i++) {
            const char *got = ran ? probe_words(out[i], kind == 1 ? 4 : 1) : "the launch failed";
            probe_verdict(&p, p.line[k + i], strcmp(strrchr(p.line[k + i], '\t') + 1, got) == 0,
                          got);
        }
        drop(&p, &t);
    }
    probe_close(&p);
}

static void halves(void)
{
    probe p;
    uint32_t texels[64][4], out[64][2];
    probe_open(&p, "tex2.half", "tex2");
    uint32_t n = (uint32_t)p.lines;
    for (uint32_t k = 0; k < n && k < 64; k++)
        for (uint32_t c = 0; c < 4; c++)
            texels[k][c] = (uint32_t)strtoul(strchr(p.line[k], '\t') + 1, NULL, 16) + c;
    texture t = plain(n, 0, 0);
    t.array.format.channels = 4;
    bool made = make(&p, &t, texels);
    probe_kernel(&p, "k_half");
    probe_shape(&p, 1, 64);
    probe_arg(&p, 0, &t.handle);
    pl_ptr to = probe_buffer(&p, 1, NULL, sizeof out);
    probe_arg32(&p, 2, n);
    if (made && probe_run(&p)) probe_read(&p, to, out, sizeof out);
    probe_done(&p);
    for (uint32_t k = 0; k < n; k++)
        probe_verdict(&p, p.line[k],
                      strcmp(strrchr(p.line[k], '\t') + 1, probe_words(out[k], 2)) == 0,
                      probe_words(out[k], 2));
    drop(&p, &t);
    probe_close(&p);
}

static void surface_reductions(void)
{
    probe p;
    probe_open(&p, "tex2.sured", "tex2");
    for (size_t k = 0; k < p.lines; k++) {
        const char *row = p.line[k];
        unsigned kind;
        int x;
        unsigned long long v;
        uint32_t before[16];
        char got[512];
        uint64_t surface = 0, value;
        if (sscanf(row, "SURED k=%u x=%d y=1 v=%llx", &kind, &x, &v) != 3) {
            probe_row(&p, row, "cannot be read");
            continue;
        }
        value = v;
        for (uint32_t i = 0; i < 16; i++) before[i] = i & 1 ? 7 * i : 0x80000000u + 3 * i;
        texture t = plain(8, 2, 0);
        t.array.format.kind = PL_CHANNEL_UNSIGNED;
        bool made = make(&p, &t, before) &&
                    pl_surface_create(p.gpu, t.array_handle, 0, &surface, NULL) == PL_OK;
        probe_kernel(&p, "k_sured");
        probe_arg(&p, 0, &surface);
        probe_arg32(&p, 1, kind);
        probe_arg32(&p, 2, (uint32_t)x);
        probe_arg32(&p, 3, 1);
        probe_arg(&p, 4, &value);
        int n = snprintf(got, sizeof got, "%.*s\t", (int)label_length(row), row);
        if (made && probe_run(&p)) {
            const uint32_t *now = pl_array_view(p.gpu, t.array_handle, 0);
            for (unsigned i = 0; i < 16; i++)
                if (now[i] != before[i])
                    n += snprintf(got + n, sizeof got - (size_t)n, "%u:%08x ", i, now[i]);
        } else {
            snprintf(got + n, sizeof got - (size_t)n,
                     "ERROR\tsync\tlaunch=0(cudaSuccess)\tsync=%s\tsticky=1",
                     probe_error(p.result.error));
        }
        probe_row(&p, row, got);
        probe_done(&p);
        pl_resource_free(p.gpu, surface);
        drop(&p, &t);
    }
    probe_close(&p);
}

/* The recording programs' generator (probe.h there). */
static uint64_t generated(uint64_t seed, uint64_t i)
{
    uint64_t z = seed * 0x9E3779B97F4A7C15ull + (i + 1) * 0xD1342543DE82EF95ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

static void mipmaps_3d(void)
{
    probe p;
    float texels[64 + 8], at[512][4];
    uint32_t out[512], n = 0;
    probe_open(&p, "tex2.mip3", "tex2");
    for (uint64_t i = 0; i < 72; i++)
        texels[i] =
            (float)(generated(i < 64 ? 77 : 78, i < 64 ? i : i - 64) & 0xffffff) / 1048576.f - 8;
    texture t = plain(4, 4, 4);
    t.array.levels = 2;
    t.sampler.linear = t.sampler.mip_linear = t.sampler.normalized = true;
    t.sampler.lod_max = 10;
    bool made = make(&p, &t, texels);
    for (; n < p.lines && n < 512; n++) {
        unsigned v[4];
        sscanf(strchr(p.line[n], '\t') + 1, "%8x,%8x,%8x,%8x", &v[0], &v[1], &v[2], &v[3]);
        memcpy(at[n], v, sizeof at[n]);
    }
    probe_kernel(&p, "k_3l");
    probe_shape(&p, 4, 128);
    probe_arg(&p, 0, &t.handle);
    probe_buffer(&p, 1, at, sizeof at);
    pl_ptr to = probe_buffer(&p, 2, NULL, sizeof out);
    probe_arg32(&p, 3, n);
    if (made && probe_run(&p)) probe_read(&p, to, out, sizeof out);
    probe_done(&p);
    for (uint32_t k = 0; k < n; k++)
        probe_verdict(&p, p.line[k],
                      strcmp(strrchr(p.line[k], '\t') + 1, probe_words(&out[k], 1)) == 0,
                      probe_words(&out[k], 1));
    drop(&p, &t);
    probe_close(&p);
}

/* Footprints of anisotropic filters: textures with one column (or row) that is not 0. */
static bool open_footprint(probe *p, const char *row, const char *texels, texture *t)
{
    enum { SIZE = 256 };
    static float f[SIZE * SIZE * 3 / 2];
    bool two = has(row, "two"), vertical = has(row, "impulse y");
    unsigned n = 0;
    (void)texels;
    *t = plain(SIZE, SIZE, 0);
    t->array.levels = (uint32_t)number_after(row, "levels=");
    for (unsigned l = 0; l < t->array.levels; l++) {
        unsigned size = (unsigned)SIZE >> l;
        for (unsigned k = 0; k < size * size; k++, n++)
            f[n] = (vertical ? k / size : k % size) == size / 2 && l < 2 ? two && l ? 100 : 1 : 0;
    }
    t->sampler.normalized = true;
    t->sampler.linear = has(row, " linear");
    t->sampler.mip_linear = has(row, "trilinear");
    t->sampler.anisotropy = (uint32_t)number_after(row, "most=");
    t->sampler.lod_max = (float)t->array.levels - 1;
    t->fetch = TEX2D_GRAD;
    return make(p, t, f);
}

/* ---- queries: one module each, since the driver rejects an entire module because of some of them
 * ---- */

static void queries_of_objects(void)
{
    probe p;
    probe_open(&p, "tex.queries", "tex2");
    texture t = plain(10, 6, 0);
    static const float texels[60];
    uint64_t surface = 0;
    bool made = make(&p, &t, texels) &&
                pl_surface_create(p.gpu, t.array_handle, 0, &surface, NULL) == PL_OK;
    for (size_t k = 0; k < p.lines; k++) {
        char text[512], got[64] = "no answer";
        int n = (int)strcspn(p.line[k], "\t");
        bool of_surface = p.line[k][0] == 's';
        snprintf(text, sizeof text,
                 ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 h, "
                 ".param .u64 o)\n{\n"
                 ".reg .b32 %%r; .reg .b64 %%h, %%o;\nld.param.u64 %%h, [h];\nld.param.u64 %%o, "
                 "[o];\n%.*s.b32 %%r, [%%h];\n"
                 "st.global.u32 [%%o], %%r;\n}\n",
                 n, p.line[k]);
        pl_module *m = NULL;
        pl_result r;
        uint64_t parameters[2] = {of_surface ? surface : t.handle, 0};
        uint32_t answer = 0;
        pl_launch l = {.kernel = "k",
                       .grid = {1, 1, 1},
                       .block = {1, 1, 1},
                       .params = parameters,
                       .param_bytes = sizeof parameters};
        if (made && pl_alloc_device(p.gpu, 4, "answer", &parameters[1]) == PL_OK &&
            pl_module_load(p.gpu, "query.ptx", text, strlen(text), NULL, &m) == PL_OK &&
            pl_launch_kernel(p.gpu, m, &l, &r) == PL_OK &&
            pl_copy_from_device(p.gpu, &answer, parameters[1], sizeof answer) == PL_OK)
            snprintf(got, sizeof got, "0\t%u", answer);
        probe_verdict(&p, p.line[k], strcmp(p.line[k] + n + 1, got) == 0, got);
        pl_module_close(m);
        pl_gpu_diag_clear(p.gpu);
    }
    drop(&p, &t);
    probe_close(&p);
}

int main(void)
{
    results = calloc(MOST_QUERIES, sizeof *results);
    if (!results) return EXIT_FAILURE;
    replay("tex.weights", open_weights, 0);
    replay("tex.address", open_address, 0);
    replay("tex.layered", open_layered, 0);
    replay("tex.gather", open_gather, 0);
    replay("tex.mipmap", open_mipmap, 1344);
    replay("tex2.footprints", open_footprint, 401);
    formats();
    linear_memory();
    surfaces("tex.surface");
    surfaces("tex.surface_faults");
    offsets();
    halves();
    surface_reductions();
    mipmaps_3d();
    queries_of_objects();
    free(results);
    return tap_done();
}
