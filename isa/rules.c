/* rules.c - lengths of brace vectors that depend on several words of a form: `{@NAME}T` in the table calls pl_count_NAME. */
#include "isa/form.h"

/* The numbers in the words of a matrix form: "m16n8k16" gives m, n and k; "x4" gives the count of matrices. */
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
    shape r = { 0 };
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

/* ldmatrix, stmatrix: one register a matrix of 8x8 16-bit elements, two for 16x16 of 8 bits. */
int pl_count_matrix(const uint16_t *mods)
{
    return shape_of(mods).x;
}

int pl_count_matrix_pairs(const uint16_t *mods)
{
    return 2 * shape_of(mods).x;
}

/* wmma: the elements of A or B, 32 lanes of 32-bit registers. */
int pl_count_wmma_a16(const uint16_t *mods)
{
    shape s = shape_of(mods);
    return s.m * s.k / 64;
}

int pl_count_wmma_b16(const uint16_t *mods)
{
    shape s = shape_of(mods);
    return s.n * s.k / 64;
}

int pl_count_wmma_a8(const uint16_t *mods)
{
    shape s = shape_of(mods);
    return s.m * s.k / 128;
}

int pl_count_wmma_b8(const uint16_t *mods)
{
    shape s = shape_of(mods);
    return s.n * s.k / 128;
}

/* wgmma: 64 x n results in 128 lanes. */
int pl_count_wgmma(const uint16_t *mods)
{
    return shape_of(mods).n / 2;
}

int pl_count_wgmma_f16(const uint16_t *mods)
{
    return shape_of(mods).n / 4;
}
