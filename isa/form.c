/* form.c - look-ups in the generated instruction table: words, mnemonics, types, chosen modifiers. */
#include "isa/form.h"
#include "isa/types.h"

#include <stdlib.h>
#include <string.h>

/* Compares a counted string with a C string as strcmp would. */
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
        if (!c)
            return (pl_word)pl_words_sorted[mid];
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
        if (!c)
            return (int)mid;
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return -1;
}

int pl_type_bits(pl_word w)
{
    return pl_word_bits[w];
}

char pl_type_kind(pl_word w)
{
    return pl_word_kind[w];
}

pl_word pl_mod(const pl_form *f, const uint16_t *mods, pl_group g)
{
    for (unsigned k = 0; k < f->nslots; k++)
        if (f->slot[k].group == g)
            return (pl_word)mods[k];
    return W_none;
}

/* The integer type word with this kind and width. */
static pl_word sized(char kind, int bits)
{
    static const uint16_t u[] = {W_u8, W_u16, W_u32, W_u64}, s[] = {W_s8, W_s16, W_s32, W_s64}, b[] = {W_b8, W_b16, W_b32, W_b64};
    int k = bits <= 8 ? 0 : bits <= 16 ? 1 : bits <= 32 ? 2 : 3;
    if (bits > 64)
        return W_b128;
    return (pl_word)(kind == 'u' ? u[k] : kind == 's' ? s[k] : b[k]);
}

pl_word pl_operand_type(const pl_form *f, unsigned k, const uint16_t *mods)
{
    const pl_ospec *o = &f->operand[k];
    pl_word t = (pl_word)(o->slot >= 0 ? mods[o->slot] : o->type);
    if (o->tmap == PL_T_SAME)
        return t;
    int bits = pl_type_bits(t);
    char kind = pl_type_kind(t);
    switch ((pl_tmap)o->tmap) {
    case PL_T_WIDE:
        return sized(kind, bits * 2);
    case PL_T_HALF:
        return sized(kind, bits / 2);
    case PL_T_INT:
        return sized('u', bits);
    case PL_T_BITS:
        return sized('b', bits);
    case PL_T_SAME:
        break;
    }
    return t;
}

int pl_operand_count(const pl_form *f, unsigned k, const uint16_t *mods)
{
    const pl_ospec *o = &f->operand[k];
    if (o->rule)
        return o->rule(mods);
    if (o->vslot >= 0)
        return mods[o->vslot] ? atoi(pl_word_text[mods[o->vslot]] + 1) : 0;
    return o->count;
}
