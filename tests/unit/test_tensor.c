/* test_tensor.c - tensor-core arithmetic compared with recordings from an H200, and fragment maps
 * with each other.
 *
 * tests/data/mma holds three files (H200, driver 580.159.04, 2026-11):
 *   fragments.bin.xz  registers in, registers out, for 24 mma and 5 wgmma variants, random and
 *                     adversarial inputs
 *   probes.tsv.xz     10,228 labelled cases whose inputs are derived from the label; FNV-1a hashes
 *     of
 *                     inputs and results
 *   bmap.tsv.xz       for 42 descriptors, the 2-byte element that each B[k][n] of wgmma was read
 *     from */
#include "emu/exec/mma/mma.h"
#include "tests/harness.h"
#include "tests/unit/unit.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LANES = PL_TENSOR_LANES };

/* ---- names ---- */

static const char *const type_names[PL_TT_COUNT] = {
    [PL_TT_F16] = "f16", [PL_TT_BF16] = "bf16", [PL_TT_TF32] = "tf32", [PL_TT_F32] = "f32",
    [PL_TT_F64] = "f64", [PL_TT_E4M3] = "e4m3", [PL_TT_E5M2] = "e5m2", [PL_TT_S8] = "s8",
    [PL_TT_U8] = "u8",   [PL_TT_S4] = "s4",     [PL_TT_U4] = "u4",     [PL_TT_B1] = "b1",
    [PL_TT_S32] = "s32",
};

static pl_tensor_type type_named(const char *s)
{
    for (int t = 0; t < PL_TT_COUNT; t++)
        if (type_names[t] && strcmp(type_names[t], s) == 0) return (pl_tensor_type)t;
    ck_abort_msg("no type '%s'", s);
}

static int split(char *s, const char *separators, char *part[], int max)
{
    int n = 0;
    for (char *p = strtok(s, separators); p && n < max; p = strtok(NULL, separators)) part[n++] = p;
    return n;
}

/* ---- running one operation on lane-major words, as in the recordings ---- */

typedef struct rows {
    uint32_t word[PL_TENSOR_MAX_REGS][2 * LANES];
    void *row[PL_TENSOR_MAX_REGS];
} rows;

static void rows_open(rows *r, const uint32_t *words, int regs, int wide)
{
    for (int i = 0; i < PL_TENSOR_MAX_REGS; i++) r->row[i] = r->word[i];
    for (int i = 0; words && i < regs; i++)
        for (int l = 0; l < LANES; l++)
            for (int h = 0; h < wide; h++)
                r->word[i][l * wide + h] = words[(l * regs + i) * wide + h];
}

static void run_mma(const pl_tensor_op *op, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                    uint32_t *d)
{
    static rows ra, rb, rc, rd;
    const int wide = op->a == PL_TT_F64 ? 2 : 1, regs = pl_tensor_regs(op, PL_TM_D);
    rows_open(&ra, a, pl_tensor_regs(op, PL_TM_A), wide);
    rows_open(&rb, b, pl_tensor_regs(op, PL_TM_B), wide);
    rows_open(&rc, c, pl_tensor_regs(op, PL_TM_C), wide);
    rows_open(&rd, NULL, 0, wide);
    pl_tensor_mma(op, rd.row, (const void *const *)ra.row, (const void *const *)rb.row,
                  (const void *const *)rc.row, NULL);
    for (int i = 0; i < regs; i++)
        for (int l = 0; l < LANES; l++)
            for (int h = 0; h < wide; h++) d[(l * regs + i) * wide + h] = rd.word[i][l * wide + h];
}

/* ---- recorded fragments ---- */

/* "mma_u8s8_s32_m16n8k32", "mma_s8_s32_sat_m16n8k32", "mma_b1_and_m16n8k256" ... */
static pl_tensor_op op_named(const char *name)
{
    pl_tensor_op op = {.family = PL_TF_MMA, .gen = PL_TG_H100};
    char copy[64], *part[6];
    snprintf(copy, sizeof copy, "%s", name);
    const int n = split(copy, "_", part, 6);
    sscanf(part[n - 1], "m%dn%dk%d", &op.m, &op.n, &op.k);
    op.saturate = strstr(name, "_sat_") != NULL;
    op.bits_and = strstr(name, "_and_") != NULL;
    if (strcmp(part[1], "u8s8") == 0) {
        op.a = PL_TT_U8;
        op.b = PL_TT_S8;
    } else if (strcmp(part[1], "e4m3e5m2") == 0) {
        op.a = PL_TT_E4M3;
        op.b = PL_TT_E5M2;
    } else {
        op.a = op.b = type_named(part[1]);
    }
    op.d = op.c = op.a == PL_TT_B1    ? PL_TT_S32
                  : op.a == PL_TT_F64 ? PL_TT_F64
                                      : type_named(part[2]);
    return op;
}

static void check_fragments(const char *name, const uint32_t *trial, const uint32_t *head)
{
    const pl_tensor_op op = op_named(name);
    const uint32_t na = 32 * head[2], nb = 32 * head[3], nc = 32 * head[4];
    uint32_t d[LANES * 16];
    run_mma(&op, trial, trial + na, trial + na + nb, d);
    for (uint32_t i = 0; i < nc; i++)
        ck_assert_msg(d[i] == trial[na + nb + nc + i], "%s: word %u is %08x, recorded %08x", name,
                      i, d[i], trial[na + nb + nc + i]);
}

/* A is 64 x 32 bytes, B 8 x 32 bytes, both stored in core matrices of 8 x 16 bytes for the
 * descriptors. */
static void check_wgmma_fragments(const char *name, const uint32_t *trial)
{
    char copy[64], *part[4];
    snprintf(copy, sizeof copy, "%s", name);
    split(copy, "_", part, 4);
    pl_wgmma_op op = {.gen = PL_TG_H100, .a = type_named(part[1]), .d = PL_TT_F32, .scale_d = true};
    int m;
    op.b = op.a;
    sscanf(part[3], "m%dn%dk%d", &m, &op.n, &op.k);
    uint32_t shared[576];
    for (int i = 0; i < 576; i++) {
        const int row = i < 512 ? i / 8 : (i - 512) / 8, w = i % 8;
        shared[(i < 512 ? 0 : 512) + row / 8 * 64 + w / 4 * 32 + row % 8 * 4 + w % 4] = trial[i];
    }
    const uint64_t desc = 128ull >> 4 << 16 | 256ull >> 4 << 32;
    for (int warp = 0; warp < 4; warp++) {
        uint32_t row[4][LANES], *d[4], fault;
        for (int r = 0; r < 4; r++) {
            d[r] = row[r];
            for (int l = 0; l < LANES; l++) row[r][l] = trial[576 + (warp * 32 + l) * 4 + r];
        }
        ck_assert(pl_wgmma_warp(&op, warp, d, NULL, desc, desc | 2048 >> 4, NULL,
                                (const uint8_t *)shared, sizeof shared, &fault));
        for (int r = 0; r < 4; r++)
            for (int l = 0; l < LANES; l++)
                ck_assert_uint_eq(row[r][l], trial[1088 + (warp * 32 + l) * 4 + r]);
    }
}

START_TEST(recorded_fragments)
{
    size_t size;
    char *path = data_path("mma/fragments.bin.xz"), *bytes = read_whole(path, &size);
    uint32_t *at = malloc(size);
    int variants = 0;
    memcpy(at, bytes, size);
    for (uint32_t *head = at, *end = at + size / 4; head < end; variants++) {
        char name[33] = {0};
        memcpy(name, head + 8, 32);
        uint32_t *trial = head + 16;
        const bool is_mma = strncmp(name, "mma", 3) == 0;
        for (uint32_t t = 0; t < head[1]; t++) {
            if (is_mma)
                check_fragments(name, trial, head);
            else
                check_wgmma_fragments(name, trial);
            trial += is_mma ? 32 * (head[2] + head[3] + 2 * head[4]) : 1600;
        }
        head = trial;
    }
    ck_assert_int_eq(variants, 29);
    free(at);
    free(bytes);
    free(path);
}
END_TEST

/* ---- probes: inputs derived from the label ---- */

/* Word I of stream SEED. */
static uint64_t hash(uint64_t seed, uint64_t i)
{
    uint64_t z = seed * 0x9E3779B97F4A7C15ull + (i + 1) * 0xD1342543DE82EF95ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

/* Element I of a stream. Modes: 0 narrow exponents, 1 wide, 2 a few large ones, 3 specials mixed
 * in, 4 small integers, 5 subnormal and tiny, 6 raw bits. */
static uint64_t probe_element(pl_tensor_type t, uint64_t seed, uint64_t i, int mode)
{
    const uint64_t r = hash(seed, i), sign = r & 1;
    uint64_t m = r >> 32;
    int eb = 8, fb = 23;
    switch (t) {
    case PL_TT_F16:
        eb = 5;
        fb = 10;
        break;
    case PL_TT_BF16: fb = 7; break;
    case PL_TT_F32:
    case PL_TT_TF32: break;
    case PL_TT_E4M3:
        eb = 4;
        fb = 3;
        break;
    case PL_TT_E5M2:
        eb = 5;
        fb = 2;
        break;
    case PL_TT_F64:
        eb = 11;
        fb = 52;
        m = hash(seed ^ 0x5555, i);
        break;
    default:
        if (mode == 4) return r % 3;
        if (mode == 1 || mode == 2) return (r & 7) ? ((r >> 8) & 1 ? 0x7f : 0x80) : r >> 32;
        return r >> 32;
    }
    const int bias = (1 << (eb - 1)) - 1, top = (1 << eb) - (t == PL_TT_E4M3 ? 1 : 2);
    const uint64_t s = sign << (eb + fb), all = ((1ull << eb) - 1) << fb;
    uint64_t f = m & ((1ull << fb) - 1), spread = r >> 8;
    int64_t e;
    switch (mode) {
    case 0: e = bias - 2 + (int64_t)(spread % 4); break;
    case 1:
        e = eb >= 8 ? bias - 30 + (int64_t)(spread % 60) : 1 + (int64_t)(spread % (uint64_t)top);
        break;
    case 2:
        e = spread % 8 == 0 ? bias + (eb >= 8   ? 12
                                      : eb == 5 ? 8
                                                : 4)
                            : bias - 3 + (int64_t)((r >> 12) % 4);
        break;
    case 3:
        switch (spread % 24) {
        case 0: return s | all;
        case 1: return s | all | (f ? f : 1);
        case 2: return s;
        case 3: return s | f;
        case 4: return s | (uint64_t)top << fb | ((1ull << fb) - 1);
        default: e = bias - 1 + (int64_t)((r >> 16) % 3);
        }
        break;
    case 4: {
        const int v = (int)(spread % 5);
        if (v == 0) return 0;
        f = fb > 2 && v == 3 ? 1ull << (fb - 1) : 0;
        e = bias + v - 2;
        break;
    }
    case 5: e = (r >> 20) % 8 == 0 ? 0 : (int64_t)(spread % 4); break;
    default: return t == PL_TT_F64 ? m : r >> 16;
    }
    if (e > top) e = top;
    if (t == PL_TT_E4M3 && e == 15 && f == 7) f = 6;
    return s | (uint64_t)e << fb | f;
}

static void probe_words(pl_tensor_type t, uint64_t seed, int mode, uint32_t *w, size_t n)
{
    const int bits = pl_tensor_bits(t);
    for (size_t i = 0; i < n; i++) {
        if (bits < 8) {
            w[i] = (uint32_t)(mode == 4 ? hash(seed, i) & hash(seed + 1, i) : hash(seed, i) >> 16);
        } else if (bits == 64) {
            w[i] = (uint32_t)(probe_element(t, seed, i / 2, mode) >> (i % 2 * 32));
        } else {
            const size_t per = 32 / (size_t)bits;
            w[i] = 0;
            for (size_t j = 0; j < per; j++) {
                const uint64_t x = probe_element(t, seed, i * per + j, mode);
                w[i] |= (uint32_t)(x & ((1ull << bits) - 1)) << (j * (size_t)bits);
            }
        }
    }
}

static uint32_t fnv(uint32_t h, const uint32_t *w, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (int b = 0; b < 4; b++) h = (h ^ (w[i] >> 8 * b & 255)) * 16777619u;
    return h;
}

enum { FNV = 0x811c9dc5 };
enum {
    HALF = 8192,
    A_REGS = 16384,
    ACC = 16896,
    WORDS = 33280
}; /* the wgmma probes' stream of words */

/* "w_f32_f16_8_s N=8 K=16 var=0 scale-d=1 seed=1000 mode=0 descA=0000001000080000+0
 * descB=...+32768" */
static void check_wgmma_probe(const char *label, uint32_t inputs, uint32_t result)
{
    static uint32_t in[WORDS], out[128 * 128], row[128][LANES], reg[4][LANES];
    static char made[128];
    char name[64], copy[64], key[128], *part[6];
    int n, k, var, scale, mode;
    unsigned long seed, da, db;
    unsigned ao, bo;
    ck_assert_int_eq(
        sscanf(label, "%63s N=%d K=%d var=%d scale-d=%d seed=%lu mode=%d descA=%lx+%u descB=%lx+%u",
               name, &n, &k, &var, &scale, &seed, &mode, &da, &ao, &db, &bo),
        11);
    snprintf(copy, sizeof copy, "%s", name);
    const int parts = split(copy, "_", part, 6); /* w, [d,] a, [b,] n, r or s */
    const bool in_regs = part[parts - 1][0] == 'r',
               wide = strcmp(part[1], "f16") == 0 || strcmp(part[1], "f32") == 0;
    pl_wgmma_op op = {.gen = PL_TG_H100, .n = n, .k = k, .scale_d = scale};
    op.a = type_named(part[wide ? 2 : 1]);
    op.b = parts - 2 > (wide ? 3 : 2) ? type_named(part[wide ? 3 : 2]) : op.a;
    op.d = wide ? type_named(part[1])
           : pl_tensor_bits(op.a) <= 8 && op.a != PL_TT_E4M3 && op.a != PL_TT_E5M2 ? PL_TT_S32
                                                                                   : PL_TT_F32;
    const bool transposes = op.a == PL_TT_F16 || op.a == PL_TT_BF16;
    const int first = !transposes ? 1 : in_regs ? 2 : 4; /* variants before the negating ones */
    if (op.d == PL_TT_S32) {
        op.saturate = var == 1;
    } else if (var < first) {
        op.a_trans = !in_regs && var >> 1;
        op.b_trans = var & 1;
    } else {
        op.negate_a = var != first + 1;
        op.negate_b = var >= first + 1;
    }
    snprintf(key, sizeof key, "%lu %d %d %d %d", seed, mode, op.a, op.b, op.d);
    if (strcmp(key, made) != 0) {
        strcpy(made, key);
        probe_words(op.a, seed, mode, in, HALF);
        probe_words(op.b, seed + 1, mode, in + HALF, HALF);
        probe_words(op.a, seed + 2, mode, in + A_REGS, ACC - A_REGS);
        probe_words(op.d, seed + 3, mode, in + ACC, WORDS - ACC);
        ck_assert_msg(fnv(FNV, in, WORDS) == inputs, "%s: the inputs differ", label);
    }
    const int regs = pl_wgmma_d_regs(&op);
    for (int warp = 0; warp < 4; warp++) {
        uint32_t *d[128], fault;
        const uint32_t *a[4];
        for (int r = 0; r < regs; r++) {
            d[r] = row[r];
            for (int l = 0; l < LANES; l++) row[r][l] = in[ACC + (warp * 32 + l) * regs + r];
        }
        for (int r = 0; r < 4; r++) {
            a[r] = reg[r];
            for (int l = 0; l < LANES; l++) reg[r][l] = in[A_REGS + (warp * 32 + l) * 4 + r];
        }
        ck_assert(pl_wgmma_warp(&op, warp, d, in_regs ? a : NULL, da | ao >> 4, db | bo >> 4, NULL,
                                (const uint8_t *)in, 65536, &fault));
        for (int r = 0; r < regs; r++)
            for (int l = 0; l < LANES; l++) out[(warp * 32 + l) * regs + r] = row[r][l];
    }
    ck_assert_msg(fnv(FNV, out, (size_t)(128 * regs)) == result, "%s: the results differ", label);
}

/* "m_m16n8k16_f32_f16_f16 mode=0 run=0" */
static void check_mma_probe(const char *label, uint32_t inputs, uint32_t result)
{
    static uint32_t a[1024], b[1024], c[1024], d[1024];
    pl_tensor_op op = {.family = PL_TF_MMA, .gen = PL_TG_H100};
    char name[64], *part[8];
    int mode, run;
    ck_assert_int_eq(sscanf(label, "%63s mode=%d run=%d", name, &mode, &run), 3);
    op.saturate = strstr(name, "satfinite") != NULL;
    op.bits_and = strstr(name, "and_popc") != NULL;
    split(name, "_", part, 8);
    sscanf(part[1], "m%dn%dk%d", &op.m, &op.n, &op.k);
    op.c = op.d = type_named(part[2]);
    op.a = type_named(part[3]);
    op.b = type_named(part[4]);
    const size_t z = op.a == PL_TT_F64 ? 64 : 32;
    const size_t na = z * (size_t)pl_tensor_regs(&op, PL_TM_A),
                 nb = z * (size_t)pl_tensor_regs(&op, PL_TM_B);
    const size_t nc = z * (size_t)pl_tensor_regs(&op, PL_TM_C);
    const uint64_t seed = 20000 + (uint64_t)mode * 1000 + (uint64_t)run * 10;
    probe_words(op.a, seed, mode, a, na);
    probe_words(op.b, seed + 1, mode, b, nb);
    probe_words(op.d, seed + 2, mode, c, nc);
    if (run & 1) memset(c, 0, sizeof c);
    ck_assert_msg(fnv(fnv(fnv(FNV, a, na), b, nb), c, nc) == inputs, "%s: the inputs differ",
                  label);
    run_mma(&op, a, b, c, d);
    ck_assert_msg(fnv(FNV, d, nc) == result, "%s: the results differ", label);
}

/* "align e0=0 de=3 s=0 c=00000000 m=512 k1=8": 2^e0 at k = 0 plus +-2^(e0-de) * (1 + m/1024) at k1,
 * added to c. */
static void check_align(const char *label, uint32_t result)
{
    pl_tensor_op op = {.family = PL_TF_MMA,
                       .gen = PL_TG_H100,
                       .m = 16,
                       .n = 8,
                       .k = 16,
                       .a = PL_TT_F16,
                       .b = PL_TT_F16,
                       .c = PL_TT_F32,
                       .d = PL_TT_F32};
    uint32_t a[128] = {0}, b[64] = {0}, c[128] = {0}, d[128];
    int e0, de, s, m, k1;
    ck_assert_int_eq(
        sscanf(label, "align e0=%d de=%d s=%d c=%x m=%d k1=%d", &e0, &de, &s, &c[0], &m, &k1), 6);
    for (int i = 0; i < 2; i++) {
        const int k = i ? k1 : 0, e = i ? e0 - de : e0, half = e / 2;
        const uint32_t x = (uint32_t)(half + 15) << 10 | (i ? (uint32_t)(m | s << 15) : 0);
        const uint32_t y = (uint32_t)(e - half + 15) << 10;
        a[k % 8 / 2 * 4 + k / 8 * 2] |= x << 16 * (k & 1);
        b[k % 8 / 2 * 2 + k / 8] |= y << 16 * (k & 1);
    }
    run_mma(&op, a, b, c, d);
    ck_assert_msg(d[0] == result, "%s: %08x, recorded %08x", label, d[0], result);
}

START_TEST(recorded_probes)
{
    char *path = data_path("mma/probes.tsv.xz");
    table t = table_read(path);
    for (size_t i = 0; i < t.rows; i++) {
        const char *label = t.row[i][0];
        const uint32_t inputs = (uint32_t)strtoul(t.row[i][1], NULL, 16),
                       result = (uint32_t)strtoul(t.row[i][2], NULL, 16);
        if (label[0] == 'w')
            check_wgmma_probe(label, inputs, result);
        else if (label[0] == 'm')
            check_mma_probe(label, inputs, result);
        else
            check_align(label, result);
    }
    ck_assert_uint_eq(t.rows, 10228);
    table_free(&t);
    free(path);
}
END_TEST

START_TEST(recorded_descriptor_map)
{
    char *path = data_path("mma/bmap.tsv.xz");
    table t = table_read(path);
    ck_assert_uint_eq(t.rows, 42);
    for (size_t i = 0; i < t.rows; i++) {
        static const uint64_t modes[] = {0, 3, 2,
                                         1}; /* the label's 0..3: none, 32, 64, 128 bytes */
        int swizzle, trans;
        unsigned lead, stride;
        ck_assert_int_eq(sscanf(t.row[i][0], "bmap sw=%d trans=%d lbo=%u sbo=%u", &swizzle, &trans,
                                &lead, &stride),
                         4);
        const pl_wgmma_desc desc = pl_wgmma_decode(
            (uint64_t)lead >> 4 << 16 | (uint64_t)stride >> 4 << 32 | modes[swizzle] << 62);
        char *s = t.row[i][1];
        for (int k = 0; k < 16; k++)
            for (int n = 0; n < 64; n++) {
                const unsigned long recorded = strtoul(s, &s, 10);
                ck_assert_uint_eq(pl_wgmma_address(&desc, 16, trans, n, k) / 2, recorded);
            }
    }
    table_free(&t);
    free(path);
}
END_TEST

/* ---- maps ---- */

typedef struct variant {
    pl_tensor_family family;
    int m, n, k;
    pl_tensor_type ab, cd;
    bool a_col, b_row;
} variant;

static const variant variants[] = {
    {PL_TF_MMA, 16, 8, 8, PL_TT_F16, PL_TT_F32, 0, 0},
    {PL_TF_MMA, 16, 8, 16, PL_TT_F16, PL_TT_F16, 0, 0},
    {PL_TF_MMA, 16, 8, 16, PL_TT_BF16, PL_TT_F32, 0, 0},
    {PL_TF_MMA, 16, 8, 4, PL_TT_TF32, PL_TT_F32, 0, 0},
    {PL_TF_MMA, 16, 8, 8, PL_TT_TF32, PL_TT_F32, 0, 0},
    {PL_TF_MMA, 8, 8, 16, PL_TT_S8, PL_TT_S32, 0, 0},
    {PL_TF_MMA, 16, 8, 16, PL_TT_S8, PL_TT_S32, 0, 0},
    {PL_TF_MMA, 16, 8, 32, PL_TT_U8, PL_TT_S32, 0, 0},
    {PL_TF_MMA, 8, 8, 32, PL_TT_S4, PL_TT_S32, 0, 0},
    {PL_TF_MMA, 16, 8, 64, PL_TT_U4, PL_TT_S32, 0, 0},
    {PL_TF_MMA, 16, 8, 32, PL_TT_E4M3, PL_TT_F32, 0, 0},
    {PL_TF_MMA, 8, 8, 4, PL_TT_F64, PL_TT_F64, 0, 0},
    {PL_TF_MMA, 16, 8, 16, PL_TT_F64, PL_TT_F64, 0, 0},
    {PL_TF_WMMA, 16, 16, 16, PL_TT_F16, PL_TT_F32, 0, 0},
    {PL_TF_WMMA, 32, 8, 16, PL_TT_F16, PL_TT_F16, 0, 0},
    {PL_TF_WMMA, 8, 32, 16, PL_TT_F16, PL_TT_F16, 0, 0},
    {PL_TF_WMMA, 8, 32, 16, PL_TT_BF16, PL_TT_F32, 0, 0},
    {PL_TF_WMMA, 32, 8, 16, PL_TT_BF16, PL_TT_F32, 0, 0},
    {PL_TF_WMMA, 16, 16, 16, PL_TT_S8, PL_TT_S32, 0, 0},
    {PL_TF_WMMA, 8, 32, 16, PL_TT_U8, PL_TT_S32, 0, 0},
    {PL_TF_WMMA, 32, 8, 16, PL_TT_S8, PL_TT_S32, 0, 0},
    {PL_TF_WMMA, 16, 16, 8, PL_TT_TF32, PL_TT_F32, 0, 0},
    {PL_TF_WMMA, 8, 8, 4, PL_TT_F64, PL_TT_F64, 0, 0},
    {PL_TF_WMMA, 8, 8, 32, PL_TT_S4, PL_TT_S32, 0, 0},
};

static pl_tensor_op op_of(const variant *v)
{
    return (pl_tensor_op){.family = v->family,
                          .gen = PL_TG_H100,
                          .m = v->m,
                          .n = v->n,
                          .k = v->k,
                          .a = v->ab,
                          .b = v->ab,
                          .c = v->cd,
                          .d = v->cd,
                          .a_col = v->a_col,
                          .b_row = v->b_row};
}

static uint64_t encode(pl_tensor_type t, int x) /* a small integer, 0..3 */
{
    static const double value[] = {0, 1, 2, 3};
    static const uint16_t f16[] = {0, 0x3c00, 0x4000, 0x4200}, bf16[] = {0, 0x3f80, 0x4000, 0x4040};
    static const uint8_t e4m3[] = {0, 0x38, 0x40, 0x44};
    uint64_t u;
    switch (t) {
    case PL_TT_F16: return f16[x];
    case PL_TT_BF16: return bf16[x];
    case PL_TT_TF32:
    case PL_TT_F32: return (uint64_t)bf16[x] << 16;
    case PL_TT_E4M3: return e4m3[x];
    case PL_TT_F64: memcpy(&u, &value[x], sizeof u); return u;
    default: return (uint64_t)x;
    }
}

/* The integer represented by a result. */
static int decode(pl_tensor_type t, uint64_t u)
{
    double x;
    if (t == PL_TT_S32) return (int)u;
    if (t == PL_TT_F64) {
        memcpy(&x, &u, sizeof x);
        return (int)x;
    }
    const int frac = t == PL_TT_F16 ? 10 : 23, bias = t == PL_TT_F16 ? 15 : 127;
    const uint64_t m = (u & ((1ull << frac) - 1)) | 1ull << frac;
    return u == 0 ? 0 : (int)(m << ((int)(u >> frac) - bias) >> frac);
}

/* Fills the registers of an operand through its map, with value[row][col] for each element. */
static void fill(const pl_tensor_op *op, pl_tensor_operand which, pl_tensor_type t,
                 int (*value)[64], rows *r)
{
    const int bits = pl_tensor_bits(t), slots = bits >= 32 ? 1 : 32 / bits;
    rows_open(r, NULL, 0, 1);
    memset(r->word, 0, sizeof r->word);
    for (int i = 0; i < pl_tensor_regs(op, which); i++)
        for (int l = 0; l < LANES; l++)
            for (int j = 0; j < slots; j++) {
                const pl_fragment_coord at = pl_fragment_coord_of(op, which, l, i, j);
                const uint64_t x = encode(t, value[at.row][at.col]);
                if (t == PL_TT_F64)
                    memcpy(&r->word[i][2 * l], &x, sizeof x);
                else
                    r->word[i][l] |= (uint32_t)x << (j * bits);
            }
}

START_TEST(maps_multiply_as_matrices)
{
    static int a[64][64], b[64][64], c[64][64];
    static rows ra, rb, rc, rd;
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        const pl_tensor_op op = op_of(&variants[v]);
        for (int i = 0; i < 64; i++)
            for (int j = 0; j < 64; j++) {
                a[i][j] = (int)(hash(v, (uint64_t)(i * 64 + j)) % 4);
                b[i][j] = (int)(hash(v + 100, (uint64_t)(i * 64 + j)) % 4);
                c[i][j] = (int)(hash(v + 200, (uint64_t)(i * 64 + j)) % 4);
            }
        fill(&op, PL_TM_A, op.a, a, &ra);
        fill(&op, PL_TM_B, op.b, b, &rb);
        fill(&op, PL_TM_C, op.c, c, &rc);
        rows_open(&rd, NULL, 0, 1);
        pl_tensor_mma(&op, rd.row, (const void *const *)ra.row, (const void *const *)rb.row,
                      (const void *const *)rc.row, NULL);
        int seen[32][32] = {{0}};
        const int bits = pl_tensor_bits(op.d), slots = bits >= 32 ? 1 : 2;
        for (int r = 0; r < pl_tensor_regs(&op, PL_TM_D); r++)
            for (int l = 0; l < LANES; l++)
                for (int j = 0; j < slots; j++) {
                    const pl_fragment_coord at = pl_fragment_coord_of(&op, PL_TM_D, l, r, j);
                    uint64_t u = op.d == PL_TT_F64
                                     ? 0
                                     : rd.word[r][l] >> (16 * j) & (slots == 2 ? 0xffff : ~0u);
                    int want = c[at.row][at.col];
                    if (op.d == PL_TT_F64) memcpy(&u, &rd.word[r][2 * l], sizeof u);
                    for (int k = 0; k < op.k; k++) want += a[at.row][k] * b[k][at.col];
                    ck_assert_msg(decode(op.d, u) == want, "variant %zu [%d][%d]: %d, not %d", v,
                                  at.row, at.col, decode(op.d, u), want);
                    seen[at.row][at.col]++;
                }
        for (int i = 0; i < op.m; i++)
            for (int j = 0; j < op.n; j++) ck_assert_int_eq(seen[i][j], 1);
    }
}
END_TEST

/* m8n8k4: four products, one for each quad pair; the maps refer to elements of the pair's own
 * matrices. */
START_TEST(volta_layouts)
{
    for (int layout = 0; layout < 8; layout++) {
        const pl_tensor_type d = layout & 4 ? PL_TT_F16 : PL_TT_F32;
        const pl_tensor_op op = {.family = PL_TF_MMA,
                                 .gen = layout & 1 ? PL_TG_V100 : PL_TG_H100,
                                 .m = 8,
                                 .n = 8,
                                 .k = 4,
                                 .a = PL_TT_F16,
                                 .b = PL_TT_F16,
                                 .c = d,
                                 .d = d,
                                 .a_col = layout & 1,
                                 .b_row = layout & 2};
        static rows ra, rb, rc, rd;
        static int a[64][64], b[64][64], c[64][64];
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++) {
                a[i][j] = (i * 3 + j) % 4;
                b[i][j] = (i + j * j) % 4;
                c[i][j] = (i ^ j) % 4;
            }
        fill(&op, PL_TM_A, op.a, a, &ra);
        fill(&op, PL_TM_B, op.b, b, &rb);
        fill(&op, PL_TM_C, op.c, c, &rc);
        rows_open(&rd, NULL, 0, 1);
        pl_tensor_mma(&op, rd.row, (const void *const *)ra.row, (const void *const *)rb.row,
                      (const void *const *)rc.row, NULL);
        for (int r = 0; r < pl_tensor_regs(&op, PL_TM_D); r++)
            for (int l = 0; l < LANES; l++)
                for (int j = 0; j < (d == PL_TT_F16 ? 2 : 1); j++) {
                    const pl_fragment_coord at = pl_fragment_coord_of(&op, PL_TM_D, l, r, j);
                    int want = c[at.row][at.col];
                    for (int k = 0; k < 4; k++) want += a[at.row][k] * b[k][at.col];
                    ck_assert_int_eq(
                        decode(d, rd.word[r][l] >> 16 * j & (d == PL_TT_F16 ? 0xffff : ~0u)), want);
                }
    }
}
END_TEST

/* mma.sp with random metadata equals a dense product in which the missing elements are zero. */
START_TEST(sparse_equals_dense_with_zeros)
{
    static const struct {
        int k, selectors;
        pl_tensor_type t;
    } cases[] = {{32, 2, PL_TT_S8},  {64, 1, PL_TT_S8},   {16, 4, PL_TT_F16}, {32, 2, PL_TT_F16},
                 {8, 4, PL_TT_TF32}, {16, 2, PL_TT_TF32}, {64, 2, PL_TT_S4}};
    static const uint32_t pairs[] = {0x4, 0x8, 0xc,
                                     0x9, 0xd, 0xe}; /* two ascending indices of four */
    for (size_t x = 0; x < sizeof cases / sizeof *cases; x++) {
        const int k = cases[x].k, bits = pl_tensor_bits(cases[x].t), unit = bits == 4 ? 2 : 1;
        for (int selector = 0; selector < cases[x].selectors; selector++) {
            const pl_tensor_type acc = bits > 8 ? PL_TT_F32 : PL_TT_S32;
            const pl_tensor_op op = {.family = PL_TF_MMA,
                                     .gen = PL_TG_H100,
                                     .m = 16,
                                     .n = 8,
                                     .k = k,
                                     .a = cases[x].t,
                                     .b = cases[x].t,
                                     .c = acc,
                                     .d = acc,
                                     .sparse = true,
                                     .selector = selector};
            static int stored[64][64], b[64][64], c[64][64], dense[64][64];
            static rows ra, rb, rc, rd;
            uint32_t meta[LANES] = {0};
            memset(dense, 0, sizeof dense);
            for (int i = 0; i < 64; i++)
                for (int j = 0; j < 64; j++) {
                    stored[i][j] = (int)(hash(x, (uint64_t)(i * 64 + j)) % 4);
                    b[i][j] = (int)(hash(x + 50, (uint64_t)(i * 64 + j)) % 4);
                    c[i][j] = 1;
                }
            const int chunk = bits == 32 ? 2 : 4 * unit, chunks = k / chunk,
                      holders = chunks / (bits >= 16 ? 4 : 8) * (bits >= 16 ? 1 : 2);
            for (int row = 0; row < 16; row++)
                for (int g = 0; g < chunks; g++) {
                    const uint64_t r = hash(x + 99, (uint64_t)(row * 64 + g));
                    const uint32_t field = bits == 32 ? (r & 1 ? 0xe : 0x4) : pairs[r % 6];
                    const int holder = bits >= 16 ? g / 4 : 2 * (g / 8) + row / 8;
                    const int at = bits >= 16 ? 16 * (row / 8) + 4 * (g % 4) : 4 * (g % 8);
                    meta[4 * (row % 8) + selector * holders + holder] |= field << at;
                    for (int e = 0; e < chunk / 2; e++) {
                        const int index =
                            bits == 32 ? (int)(r & 1)
                                       : (int)(field >> 2 * (e / unit) & 3) * unit + e % unit;
                        dense[row][g * chunk + index] = stored[row][g * chunk / 2 + e];
                    }
                }
            fill(&op, PL_TM_A, op.a, stored, &ra);
            fill(&op, PL_TM_B, op.b, b, &rb);
            fill(&op, PL_TM_C, op.c, c, &rc);
            rows_open(&rd, NULL, 0, 1);
            pl_tensor_mma(&op, rd.row, (const void *const *)ra.row, (const void *const *)rb.row,
                          (const void *const *)rc.row, meta);
            for (int r = 0; r < 4; r++)
                for (int l = 0; l < LANES; l++) {
                    const pl_fragment_coord at = pl_fragment_coord_of(&op, PL_TM_D, l, r, 0);
                    int want = 1;
                    for (int i = 0; i < k; i++) want += dense[at.row][i] * b[i][at.col];
                    ck_assert_msg(decode(acc, rd.word[r][l]) == want,
                                  "case %zu selector %d [%d][%d]", x, selector, at.row, at.col);
                }
        }
    }
}
END_TEST

/* ---- generations ---- */

/* Computes 1 + 2^-BITS, where the small term is a product at k = K; true if it is preserved after 1
 * is subtracted through C. The grid is 2^-frac, so a term of 2^-BITS survives if BITS <= frac and
 * it is added to the 1 in the same fused sum. */
static bool kept(pl_tensor_gen gen, int bits, int k)
{
    const pl_tensor_op op = {.family = PL_TF_MMA,
                             .gen = gen,
                             .m = 16,
                             .n = 8,
                             .k = 16,
                             .a = PL_TT_F16,
                             .b = PL_TT_F16,
                             .c = PL_TT_F32,
                             .d = PL_TT_F32};
    uint32_t a[128] = {0}, b[64] = {0}, c[128] = {0xbf800000u}, d[128];
    const int half = bits / 2;
    a[0] = b[0] = 0x3c00; /* 1 * 1 at k = 0 */
    a[k % 8 / 2 * 4 + k / 8 * 2] |= (uint32_t)(15 - half) << 10 << 16 * (k & 1);
    b[k % 8 / 2 * 2 + k / 8] |= (uint32_t)(15 - (bits - half)) << 10 << 16 * (k & 1);
    run_mma(&op, a, b, c, d);
    return d[0] != 0;
}

START_TEST(alignment_width_by_generation)
{
    static const struct {
        pl_tensor_gen gen;
        int frac, block;
    } machines[] = {{PL_TG_V100, 23, 4},  {PL_TG_T4, 24, 8},    {PL_TG_A100, 24, 8},
                    {PL_TG_RTX40, 24, 8}, {PL_TG_H100, 25, 16}, {PL_TG_B200, 25, 16}};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        ck_assert(kept(machines[i].gen, machines[i].frac, 1));
        ck_assert(!kept(machines[i].gen, machines[i].frac + 1, 1));
        ck_assert(!kept(machines[i].gen, machines[i].frac + 1, machines[i].block - 1));
        /* the next block starts from 0, so that no alignment shift discards the small term */
        if (machines[i].block < 16)
            ck_assert(kept(machines[i].gen, machines[i].frac + 1, machines[i].block));
    }
    ck_assert_int_eq(pl_tensor_gen_of(86), PL_TG_A100);
    ck_assert_int_eq(pl_tensor_gen_of(90), PL_TG_H100);
    ck_assert_int_eq(pl_tensor_gen_of(121), PL_TG_RTX50);
}
END_TEST

/* ---- moves and faults ---- */

START_TEST(matrix_moves)
{
    uint8_t rows8[8][16], back[8][16];
    uint32_t d[LANES], t[LANES];
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            rows8[i][2 * j] = (uint8_t)(8 * i + j);
            rows8[i][2 * j + 1] = 1;
        }
    pl_ldmatrix_8x8(d, (const uint8_t(*)[16])rows8, false);
    /* Lane 5: row 1, elements 2 and 3. */
    ck_assert_uint_eq(d[5], 0x100 + 10 + ((0x100u + 11) << 16));
    pl_ldmatrix_8x8(t, (const uint8_t(*)[16])rows8, true);
    ck_assert_uint_eq(t[5], 0x100 + 17 + ((0x100u + 25) << 16)); /* column 1, rows 2 and 3 */
    pl_movmatrix(d, d);
    ck_assert_mem_eq(d, t, sizeof d);
    pl_stmatrix_8x8(back, t, true);
    ck_assert_mem_eq(back, rows8, sizeof back);
}
END_TEST

START_TEST(descriptor_outside_shared_memory)
{
    const pl_wgmma_op op = {
        .gen = PL_TG_H100, .n = 8, .k = 16, .a = PL_TT_F16, .b = PL_TT_F16, .d = PL_TT_F32};
    uint32_t row[4][LANES], *d[4], fault = 0;
    static const uint8_t shared[4096];
    for (int r = 0; r < 4; r++) {
        d[r] = row[r];
        for (int l = 0; l < LANES; l++) row[r][l] = 7;
    }
    const uint64_t desc = 8ull << 16 | 16ull << 32;
    ck_assert(!pl_wgmma_warp(&op, 0, d, NULL, desc, desc | 4000 >> 4, NULL, shared, sizeof shared,
                             &fault));
    ck_assert_uint_eq(fault, 4128); /* column 0, k = 8: the second core matrix */
    ck_assert_uint_eq(row[0][0], 7);
}
END_TEST

UNIT_MAIN("tensor", recorded_fragments, recorded_probes, recorded_descriptor_map,
          maps_multiply_as_matrices, volta_layouts, sparse_equals_dense_with_zeros,
          alignment_width_by_generation, matrix_moves, descriptor_outside_shared_memory)
