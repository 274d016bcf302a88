/* operand_check.h - one attempt to match the operands of an instruction with a form. Shared by
 * statement.c and operand_check.c. */
#ifndef PL_PTX_SEMA_OPERAND_CHECK_H
#define PL_PTX_SEMA_OPERAND_CHECK_H

#include "ptx/internal.h"

/* An operand as written, with [a, b] and p|q split into items. */
typedef struct pl_item {
    uint32_t node;
    bool bracket; /* the first item inside [ ] */
    bool inside;  /* a later item inside [ ] */
    bool first_of_pair, second_of_pair;
} pl_item;

typedef struct pl_attempt {
    pl_parse *p;
    bool report;
    const pl_form *form;
    const uint16_t *mods;
    const pl_sym *opcode;
    pl_loc at;
    const pl_item *items;
    unsigned nitems;
    pl_operand_draft *out;
    unsigned matched;       /* items matched before the first error */
    unsigned match_quality; /* how close the failing item came: 1 a name of the wrong type, 2 an
                       element of a vector of the right length */
} pl_attempt;

/* Checks the item against operand k of the form, and fills in *o. */
bool pl_operand_check(pl_attempt *a, unsigned k, const pl_item *it, pl_operand_draft *o);
/* video_modifiers.c: a part of a register (%r1.b0, %r1.h10, %r1.b7654), which only video
 * instructions select; and -%r1 of vmad */
bool pl_video_part(pl_attempt *a, const pl_ospec *s, const pl_node *n, pl_operand_draft *o);
bool pl_video_allows_minus(const pl_attempt *a, const pl_ospec *s);
bool pl_video_check_signs(const pl_attempt *a);
/* message_text.c: "add.rn.f32", as written */
const char *pl_full_name(pl_parse *p, const pl_sym *opcode);
/* "0 to 15", "16" */
const char *pl_range_text(pl_arena *arena, int64_t low, int64_t high);
const char *pl_syntax_help(pl_parse *p, const pl_form *f);

#endif
