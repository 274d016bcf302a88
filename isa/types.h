/* types.h - width and kind of every word as arrays, for the places that ask for each operand of each instruction. Elsewhere
 * pl_type_bits and pl_type_kind (form.h) say the same. Written by isagen. */
#ifndef PL_ISA_TYPES_H
#define PL_ISA_TYPES_H

#include "isa/form.h"

extern const uint16_t pl_word_bits[W_count]; /* 0: the word is no type */
extern const char pl_word_kind[W_count];

/* pl_operand_type, the usual case in line. */
static inline pl_word pl_type_of_operand(const pl_form *f, unsigned k, const uint16_t *mods)
{
    const pl_ospec *o = &f->operand[k];
    return o->tmap != PL_T_SAME ? pl_operand_type(f, k, mods) : (pl_word)(o->slot >= 0 ? mods[o->slot] : o->type);
}

/* May the operand be a vector? Then pl_operand_count tells its length. */
static inline bool pl_operand_may_be_vector(const pl_ospec *o)
{
    return o->rule || o->vslot >= 0 || o->count;
}

#endif
