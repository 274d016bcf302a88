/* form.c - look-ups in the generated instruction table: words, mnemonics, types, chosen modifiers.
 */
#include "isa/table/form.h"

#include <stdlib.h>
#include <string.h>

/* Compares a counted string with a C string, like strcmp. */
static int compare(const char *s, size_t n, const char *t)
{
    int c = strncmp(s, t, n);
    return c ? c : t[n] ? -1 : 0;
}

pl_word pl_word_find(const char *s, size_t n)
{
    unsigned lo = 0, hi = W_count - 1;
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        int c = compare(s, n, pl_word_text[pl_words_sorted[mid]]);
        if (!c) return (pl_word)pl_words_sorted[mid];
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return W_none;
}

int pl_mnem_find(const char *s, size_t n)
{
    unsigned lo = 0, hi = pl_nmnems;
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        int c = compare(s, n, pl_mnems[mid].name);
        if (!c) return (int)mid;
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return -1;
}

pl_word pl_mod(const pl_form *f, const uint16_t *mods, pl_group g)
{
    for (unsigned k = 0; k < f->nslots; k++)
        if (f->slot[k].group == g) return (pl_word)mods[k];
    return W_none;
}

/* The integer type word with this kind and width. */
static pl_word sized(char kind, int bits)
{
    static const uint16_t u[] = {W_u8, W_u16, W_u32, W_u64}, s[] = {W_s8, W_s16, W_s32, W_s64},
                          b[] = {W_b8, W_b16, W_b32, W_b64};
    int k = bits <= 8 ? 0 : bits <= 16 ? 1 : bits <= 32 ? 2 : 3;
    if (bits > 64) return W_b128;
    return (pl_word)(kind == 'u' ? u[k] : kind == 's' ? s[k] : b[k]);
}

pl_word pl_type_mapped(pl_word t, pl_tmap map)
{
    int bits = pl_type_bits(t);
    char kind = pl_type_kind(t);
    switch (map) {
    case PL_T_WIDE: return sized(kind, bits * 2);
    case PL_T_HALF: return sized(kind, bits / 2);
    case PL_T_INT: return sized('u', bits);
    case PL_T_BITS: return sized('b', bits);
    case PL_T_SAME: break;
    }
    return t;
}

int pl_vector_length(const pl_ospec *o, const uint16_t *mods)
{
    if (o->rule) return o->rule(mods);
    return mods[o->vslot] ? atoi(pl_word_text[mods[o->vslot]] + 1) : 0;
}
