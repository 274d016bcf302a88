/* operand_parts.h - declarations shared by the operand checks. Private to ptx/sema/operand_*.c. */
#ifndef PL_PTX_SEMA_OPERAND_PARTS_H
#define PL_PTX_SEMA_OPERAND_PARTS_H

#include "ptx/sema/operand_check.h"

/* operand_value.c */
const pl_node *pl_opnd_node(const pl_parse *p, uint32_t n);
/* True if a register of type r may be used where an instruction reads or writes type t (PTX ISA
 * 9.0, section 9.2; every pair was tested with ptxas 13.0). Untyped registers match any type of
 * their size, signed and unsigned match each other, floating-point registers match their own type
 * or an untyped one. With `relax` (ld, st, cvt) the register may also be wider. `fixed`: the type
 * is the same in every variant of the instruction; a packed pair of halves then does not count as
 * an integer. */
bool pl_opnd_type_fits(pl_word r, pl_word t, bool relax, bool fixed);
const char *pl_opnd_written(const pl_parse *p, const pl_node *n);
bool pl_opnd_kind_mismatch(pl_attempt *a, const pl_node *n, const char *expected,
                           const char *given);
bool pl_opnd_kind_error(pl_attempt *a, const pl_node *n, const char *expected);
/* True if the operand's type is the same in every variant, rather than the instruction's own.
 * (Matrix instructions and nanosleep check as strictly.) */
bool pl_opnd_fixed_type(const pl_attempt *a, const pl_ospec *s, pl_word t);
bool pl_opnd_chosen(const pl_attempt *a, pl_word one, pl_word other);
/* cvt accepts wider registers only between the original types of PTX. */
bool pl_opnd_relaxed(const pl_attempt *a);
/* in_braces: the register is an element of a vector. */
bool pl_opnd_special_register(pl_attempt *a, const pl_ospec *s, pl_word t, bool in_braces,
                              const pl_node *n, pl_operand_draft *o);
bool pl_opnd_immediate(pl_attempt *a, const pl_ospec *s, pl_word t, const pl_node *n,
                       pl_operand_draft *o);
/* Removes parentheses around a constant. */
const pl_node *pl_opnd_unwrap(const pl_parse *p, const pl_node *n);
/* The binding of a name; reports an error if there is none. */
const pl_binding *pl_opnd_resolve(pl_attempt *a, const pl_node *n);
/* The space word of an instruction with a single address, W_none for generic; false if it has
 * several addresses. */
bool pl_opnd_space_of(const pl_attempt *a, pl_word *space);
/* True if the variable is in the space that the instruction addresses. `own` is the address's space
 * if the table specifies one, else W_b64. */
bool pl_opnd_in_space(pl_attempt *a, const pl_node *n, const pl_var *v, pl_word own);
/* The offset of NAME+4 or, in elements, NAME[1]. As in ptxas 13.0, the elements of an array of
 * vectors are its scalars. */
bool pl_opnd_offset(pl_attempt *a, const pl_node *n, const pl_binding *b, int64_t *bytes);
bool pl_opnd_value(pl_attempt *a, const pl_ospec *s, pl_word t, bool in_vector, const pl_node *n,
                   pl_operand_draft *o);

/* operand_vector.c */
/* Allocates the elements of an operand, until the end of the statement; NULL when out of memory. */
pl_operand_draft *pl_opnd_new_drafts(pl_parse *p, size_t n);
/* A one-element vector written without braces. */
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
