/* elf.h - a machine program as a file: an ELF object that standard ELF tools can list, or text
 * (isa/object/asm_text.h). */
#ifndef PL_ISA_OBJECT_ELF_H
#define PL_ISA_OBJECT_ELF_H

#include "base/diag.h"
#include "isa/program/program.h"

/* True for an object file, judged by its first bytes. */
bool pl_object_is(const char *bytes, size_t n);

/* Reads an object. Errors are reported at `at`: not an object, damaged, of another version
 * (PL_INVALID). The program owns its arena. */
pl_status pl_object_read(const char *bytes, size_t n, pl_diags *diags, pl_loc at, pl_program **out);

/* Creates an object from a canonical program (isa/program/canonicalize.h); identical programs give
 * identical bytes. The bytes are passed to `put` in pieces, since an object is several times as
 * large as the text. PL_IO: `put` returned false. */
typedef bool pl_object_put(void *to, const char *bytes, size_t n);
pl_status pl_object_send(const pl_program *p, pl_object_put *put, void *to);
/* The same into a single buffer, to be freed by the caller. */
pl_status pl_object_write(const pl_program *p, char **out, size_t *n);

/* The version of the instruction table: 64 hexadecimal digits that change whenever the number of a
 * form, word, type or special register changes. */
void pl_table_hash(char hex[65]);

#endif
