/* elf.h - a machine program as a file: an ELF object that any ELF tool can list, or text
 * (isa/object/asm_text.h). */
#ifndef PL_ISA_OBJECT_ELF_H
#define PL_ISA_OBJECT_ELF_H

#include "base/diag.h"
#include "isa/program/program.h"

/* An object file, by its first bytes? */
bool pl_object_is(const char *bytes, size_t n);

/* Reads an object. What is wrong with it is reported at `at`: not an object, damaged, of another
 * version (PL_INVALID). The program owns its own arena. */
pl_status pl_object_read(const char *bytes, size_t n, pl_diags *diags, pl_loc at, pl_program **out);

/* Makes an object of a tidy program (isa/program/canonicalize.h): the same bytes for the same
 * program. They are given to `put` piece by piece, since they are several times as many as those of
 * the text; PL_IO: it said false. */
typedef bool pl_object_put(void *to, const char *bytes, size_t n);
pl_status pl_object_send(const pl_program *p, pl_object_put *wanted, void *to);
/* The same in one piece, to be freed. */
pl_status pl_object_write(const pl_program *p, char **out, size_t *n);

/* The generation of the instruction table: 64 hexadecimal digits that change whenever a form, word,
 * type or special register gets another number. */
void pl_table_hash(char hex[65]);

#endif
