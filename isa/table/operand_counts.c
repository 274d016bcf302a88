/* operand_counts.c - lengths of brace vectors that depend on several words of a form: `{@NAME}T` in
 * the table calls pl_operand_count_NAME. */
#include "isa/table/form.h"
#include <string.h>

/* The numbers in the words of a matrix form: "m16n8k16" gives m, n and k; "x4" gives the number of
 * matrices. */
typedef struct shape {
    int m, n, k, x;
} shape;

static int number(const char **s)
{
    int v = 0;
    while (**s >= '0' && **s <= '9') v = v * 10 + *(*s)++ - '0';
    return v;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static shape shape_of(const uint16_t *mods)
{
    shape r = {0};
    for (int i = 0; i < PL_MAX_SLOTS; i++) {
        const char *s = pl_word_text[mods[i]];
        if (s[0] == 'x' && is_digit(s[1])) {
            s++;
            r.x = number(&s);
        } else if (s[0] == 'm' && is_digit(s[1])) {
            s++;
            r.m = number(&s);
            if (*s == 'n') s++, r.n = number(&s);
            if (*s == 'k') s++, r.k = number(&s);
        }
    }
    return r;
}

/* ldmatrix, stmatrix: one register per matrix of 8x8 16-bit elements, two for 16x16 of 8 bits. */
int pl_operand_count_matrix(const uint16_t *mods)
{
    return shape_of(mods).x;
}

int pl_operand_count_matrix_pairs(const uint16_t *mods)
{
    return 2 * shape_of(mods).x;
}

/* wmma: the elements of A or B, in 32-bit registers of 32 lanes. */
int pl_operand_count_wmma_a16(const uint16_t *mods)
{
    shape s = shape_of(mods);
    return s.m * s.k / 64;
}

int pl_operand_count_wmma_b16(const uint16_t *mods)
{
    shape s = shape_of(mods);
    return s.n * s.k / 64;
}

int pl_operand_count_wmma_a8(const uint16_t *mods)
{
    shape s = shape_of(mods);
    return s.m * s.k / 128;
}

int pl_operand_count_wmma_b8(const uint16_t *mods)
{
    shape s = shape_of(mods);
    return s.n * s.k / 128;
}

/* wgmma: 64 x n results in 128 lanes. */
int pl_operand_count_wgmma(const uint16_t *mods)
{
    return shape_of(mods).n / 2;
}

int pl_operand_count_wgmma_f16(const uint16_t *mods)
{
    return shape_of(mods).n / 4;
}

/* Textures and surfaces: the geometry word, and the number of coordinates of a fetch. */
static const char *geometry(const uint16_t *mods)
{
    static const char *const names[] = {"1d",  "2d",   "3d",    "4d",   "5d",   "a1d",
                                        "a2d", "cube", "acube", "2dms", "a2dms"};
    for (int i = 0; i < PL_MAX_SLOTS; i++)
        for (unsigned k = 0; k < sizeof names / sizeof *names; k++)
            if (!strcmp(pl_word_text[mods[i]], names[k])) return names[k];
    return "1d";
}

int pl_operand_count_geometry(const uint16_t *mods)
{
    const char *g = geometry(mods);
    return !strcmp(g, "1d") ? 1 : !strcmp(g, "2d") || !strcmp(g, "a1d") ? 2 : 4;
}

/* Offsets in texels: one for each dimension, three written as four. */
int pl_operand_count_offset(const uint16_t *mods)
{
    const char *g = geometry(mods);
    return !strcmp(g, "1d") || !strcmp(g, "a1d") ? 1 : !strcmp(g, "3d") ? 4 : 2;
}

/* Derivatives: one for each dimension, three written as four. */
int pl_operand_count_gradient(const uint16_t *mods)
{
    const char *g = geometry(mods);
    return !strcmp(g, "1d") || !strcmp(g, "a1d")   ? 1
           : !strcmp(g, "2d") || !strcmp(g, "a2d") ? 2
                                                   : 4;
}

/* Tensor copies: one coordinate for each dimension; im2col has an offset for each dimension except
 * the channels and the images. */
int pl_operand_count_tensor(const uint16_t *mods)
{
    return geometry(mods)[0] - '0';
}

/* Tensor copies: a stride for each dimension but the first. */
int pl_operand_count_strides(const uint16_t *mods)
{
    return geometry(mods)[0] - '0' - 1;
}

int pl_operand_count_im2col(const uint16_t *mods)
{
    return geometry(mods)[0] - '0' - 2;
}

/* Surfaces: the registers of .v2 and .v4; a single one may be written with or without braces. */
int pl_operand_count_surface(const uint16_t *mods)
{
    for (int i = 0; i < PL_MAX_SLOTS; i++)
        if (!strcmp(pl_word_text[mods[i]], "v2") || !strcmp(pl_word_text[mods[i]], "v4"))
            return pl_word_text[mods[i]][1] - '0';
    return 1;
}

/* tcgen05.ld and st: 16 or 32 lanes with the bits that the shape specifies, times the repetition
 * count, in 32 registers of 32 bits. */
int pl_operand_count_tmem(const uint16_t *mods)
{
    int bits = 32 * 32;
    for (int i = 0; i < PL_MAX_SLOTS; i++) {
        const char *s = pl_word_text[mods[i]];
        if (!is_digit(s[0])) continue;
        bits = number(&s);
        if (*s == 'x') s++, bits *= number(&s);
        if (*s == 'b' && s[1] == 'x') bits *= 2;
    }
    return shape_of(mods).x * (bits / (32 * 32));
}

/* The sizes in the words of spcompress and spdecompress: elements and indices in bits, sp::2:4, and
 * the repetition count. */
typedef struct sparse_words {
    int element, index, kept, of, num;
} sparse_words;

static sparse_words sparse_of(const uint16_t *mods)
{
    sparse_words r = {.num = shape_of(mods).x};
    for (int i = 0; i < PL_MAX_SLOTS; i++) {
        const char *s = pl_word_text[mods[i]];
        if (!strncmp(s, "sp::", 4)) {
            s += 4;
            r.kept = number(&s);
            if (*s == ':') s++, r.of = number(&s);
        } else if (s[0] == 'b' && is_digit(s[1])) {
            s++;
            int bits = number(&s);
            if (bits < 8)
                r.index = bits;
            else
                r.element = bits;
        }
    }
    return r;
}

int pl_operand_count_sp_dense(const uint16_t *mods)
{
    return 2 * shape_of(mods).x;
}

int pl_operand_count_sp_indices(const uint16_t *mods)
{
    const sparse_words w = sparse_of(mods);
    return (w.num * w.index + w.element - 1) / w.element;
}

int pl_operand_count_spread_dense(const uint16_t *mods)
{
    const sparse_words w = sparse_of(mods);
    return (w.of * w.element * w.num + 31) / 32;
}

int pl_operand_count_spread_indices(const uint16_t *mods)
{
    const sparse_words w = sparse_of(mods);
    return (w.kept * w.index * w.num + 31) / 32;
}

int pl_operand_count_spread_kept(const uint16_t *mods)
{
    const sparse_words w = sparse_of(mods);
    return (w.kept * w.element * w.num + 31) / 32;
}

/* tcgen05.ld.spcompress: of one number per column, half are kept. */
int pl_operand_count_tmem_kept(const uint16_t *mods)
{
    return shape_of(mods).x / 2;
}

int pl_operand_count_tmem_indices(const uint16_t *mods)
{
    return (shape_of(mods).x + 31) / 32;
}

/* tcgen05.mma: a bit for each of the 128 lanes of a block's tensor memory, or of two blocks'. */
int pl_operand_count_output_lanes(const uint16_t *mods)
{
    for (int i = 0; i < PL_MAX_SLOTS; i++)
        if (!strcmp(pl_word_text[mods[i]], "cta_group::2")) return 8;
    return 4;
}

/* The five coordinates of a four-row copy: a column, and the rows. */
int pl_operand_count_rows(const uint16_t *mods)
{
    (void)mods;
    return 5;
}
