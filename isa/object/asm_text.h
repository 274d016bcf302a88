/* asm_text.h - a machine program as text that can be parsed back into the same program.
 * doc/objects.md describes every line.
 *
 *     .ptxloom 2
 *     .module ptx=80 sm=90 opt_level=2
 *     .func "saxpy" linkage=2 entry=1 rows=12 preds=3 ...
 *         mad.lo.u32 R0, R8, R9, R0 ; line=4:5
 *         @P0 bra L3
 *     L3:
 *         ret
 *     .end */
#ifndef PL_ISA_OBJECT_ASM_TEXT_H
#define PL_ISA_OBJECT_ASM_TEXT_H

#include "base/diag.h"
#include "isa/program/program.h"

enum { PL_ASM_FORMAT = 4 };

/* True if the text is in this format, judged by its first words. */
bool pl_asm_is(const char *text, size_t n);

/* *out is allocated with malloc. The program must be canonical. */
pl_status pl_asm_write(const pl_program *p, char **out, size_t *n);

/* Reports errors in text number `file` of diags (PL_INVALID). The program owns its arena and is
 * canonical. */
pl_status pl_asm_read(const char *text, size_t n, pl_diags *diags, uint32_t file, pl_program **out);

/* The names of the flags that form and modifiers do not imply: pl_asm_flag[k] is the name of bit k,
 * or NULL. */
enum { PL_ASM_FLAGS = 7 };
extern const char *const pl_asm_flag[PL_ASM_FLAGS];

/* Assigns words to the slots of a form from left to right. False if they do not fit. */
bool pl_asm_fill(const pl_form *f, const uint16_t *words, unsigned n, uint16_t mods[PL_MAX_MODS]);

#endif
