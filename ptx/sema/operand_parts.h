/* operand_parts.h - checks of operands: what the files share. Private to ptx/sema/operand_*.c. */
#ifndef PL_PTX_SEMA_OPERAND_PARTS_H
#define PL_PTX_SEMA_OPERAND_PARTS_H

#include "ptx/sema/operand_check.h"

/* operand_value.c */
const pl_node *pl_opnd_node(const pl_parse *p, uint32_t n);
/* May a register of type r stand where an instruction of type t reads or writes? (PTX ISA 9.0,
 * section 9.2; ptxas 13.0 was asked about every pair.) Untyped registers fit any type of their
 * size, signed and unsigned fit each other, floating registers fit their own type or an untyped
 * one. With `relax` (ld, st, cvt) the register may also be wider. `fixed`: the type is the same in
 * every variant of the instruction; a pair of halves then counts as no integer. */
bool pl_opnd_type_fits(pl_word r, pl_word t, bool relax, bool fixed);
const char *pl_opnd_written(const pl_parse *p, const pl_node *n);
bool pl_opnd_kind_instead(pl_attempt *a, const pl_node *n, const char *wanted, const char *given);
bool pl_opnd_kind_error(pl_attempt *a, const pl_node *n, const char *wanted);
/* Is the operand's type the same in every variant, rather than the instruction's own? (Matrix
 * instructions and nanosleep check as strictly.) */
bool pl_opnd_fixed_type(const pl_attempt *a, const pl_ospec *s, pl_word t);
bool pl_opnd_chosen(const pl_attempt *a, pl_word one, pl_word other);
/* cvt takes wider registers only between the types that PTX has had from the start. */
bool pl_opnd_relaxed(const pl_attempt *a);
bool pl_opnd_special_register(pl_attempt *a, const pl_ospec *s, pl_word t, const pl_node *n,
                              pl_operand_draft *o);
bool pl_opnd_immediate(pl_attempt *a, const pl_ospec *s, pl_word t, const pl_node *n,
                       pl_operand_draft *o);
/* Parentheses around a constant. */
const pl_node *pl_opnd_unwrap(const pl_parse *p, const pl_node *n);
/* The meaning of a name, with a report when there is none. */
const pl_binding *pl_opnd_resolve(pl_attempt *a, const pl_node *n);
/* The space word of an instruction with one address, W_none for generic; false when it has several
 * addresses. */
bool pl_opnd_space_of(const pl_attempt *a, pl_word *space);
/* Does the variable lie in the space that the instruction addresses? `own` is the address's space
 * where the table gives it one, else W_b64. */
bool pl_opnd_in_space(pl_attempt *a, const pl_node *n, const pl_var *v, pl_word own);
/* The offset of NAME+4 or, in elements, NAME[1]. As ptxas 13.0 has it, the elements of an array of
 * vectors are its numbers. */
bool pl_opnd_offset(pl_attempt *a, const pl_node *n, const pl_binding *b, int64_t *bytes);
bool pl_opnd_value(pl_attempt *a, const pl_ospec *s, pl_word t, bool in_vector, const pl_node *n,
                   pl_operand_draft *o);

/* operand_vector.c */
/* Room for the elements of an operand, until the statement ends; NULL: out of memory. */
pl_operand_draft *pl_opnd_new_drafts(pl_parse *p, size_t n);
/* A vector of one element, written without braces. */
bool pl_opnd_one_element(pl_attempt *a, const pl_ospec *s, pl_word t, const pl_node *n,
                         pl_operand_draft *o);
bool pl_opnd_vector(pl_attempt *a, const pl_ospec *s, pl_word t, unsigned count, const pl_node *n,
                    pl_operand_draft *o);

/* operand_address.c */
/* [base + offset] in tensor memory: a 32-bit register */
bool pl_opnd_tensor_address(pl_attempt *a, const pl_node *n, pl_operand_draft *o);
/* [base + offset] */
bool pl_opnd_address(pl_attempt *a, pl_word own, const pl_node *n, pl_operand_draft *o);

#endif
