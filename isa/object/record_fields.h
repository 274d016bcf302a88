/* record_fields.h - the structures of a machine program as lists of fields, for all writers and
 * readers.
 *
 * One list serves both formats. In the object file (isa/object/elf_common.c) a record is its fields
 * in order, least significant byte first. In the text form (isa/object/asm_text.h) a field is
 * NAME=VALUE. */
#ifndef PL_ISA_OBJECT_RECORD_FIELDS_H
#define PL_ISA_OBJECT_RECORD_FIELDS_H

#include "isa/program/program.h"

typedef enum pl_field_kind {
    PL_F_NUMBER,
    PL_F_BOOL,
    PL_F_WORD /* pl_word */,
    PL_F_TEXT /* const char * */
} pl_field_kind;

typedef struct pl_field {
    const char *name;
    uint16_t at;          /* offset in the structure */
    uint8_t bytes, count; /* bytes of one element; number of elements */
    uint8_t kind;         /* pl_field_kind */
} pl_field;

typedef struct pl_record {
    const pl_field *field;
    unsigned n;
    size_t size; /* of the structure in memory */
} pl_record;

extern const pl_record pl_record_insn, pl_record_func, pl_record_var, pl_record_param,
    pl_record_row, pl_record_move, pl_record_call, pl_record_line, pl_record_inlined,
    pl_record_source;
/* In the text form only: data that symbols, relocations and the note contain in an object. */
extern const pl_record pl_record_program, pl_record_place /* of a pl_prog_var */, pl_record_reloc;

/* Bytes of a record in an object file; text fields take 4 (an offset in the string table). */
size_t pl_record_bytes(const pl_record *r);
uint64_t pl_field_get(const pl_field *f, const void *record, unsigned element);
void pl_field_set(const pl_field *f, void *record, unsigned element, uint64_t value);
const char *pl_field_text(const pl_field *f, const void *record);
void pl_field_set_text(const pl_field *f, void *record, const char *text);

#endif
