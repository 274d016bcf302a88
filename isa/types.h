/* types.h - width and kind of every word as arrays, for the places that ask for each operand of each instruction. Elsewhere
 * pl_type_bits and pl_type_kind (form.h) say the same. Written by isagen. */
#ifndef PL_ISA_TYPES_H
#define PL_ISA_TYPES_H

#include "isa/form.h"

extern const uint16_t pl_word_bits[W_count]; /* 0: the word is no type */
extern const char pl_word_kind[W_count];

#endif
