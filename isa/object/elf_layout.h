/* elf_layout.h - the sections of an object file, for its writer and its reader.
 *
 * Every object has all sections, in this order, so that section k of the file is row k here. Code,
 * data, symbols, relocations and the string table are as in any ELF object. The tables whose names
 * begin with .ptxloom contain records (isa/object/record_fields.h). */
#ifndef PL_ISA_OBJECT_ELF_LAYOUT_H
#define PL_ISA_OBJECT_ELF_LAYOUT_H

#include <elf.h>

#include "isa/object/record_fields.h"

enum {
    PL_OBJECT_FORMAT = 3
}; /* incremented by every change of the layout or of the meaning of a field */

typedef enum pl_section {
    PL_S_NULL,
    PL_S_NOTE,
    PL_S_TEXT,
    PL_S_GLOBAL,
    PL_S_CONST,
    PL_S_GLOBAL_ZERO,
    PL_S_CONST_ZERO,
    PL_S_SHARED,
    PL_S_RELA_GLOBAL,
    PL_S_RELA_CONST,
    PL_S_FUNCS,
    PL_S_ROWS,
    PL_S_PARAMS,
    PL_S_FORMALS,
    PL_S_RESULTS,
    PL_S_CALLS,
    PL_S_MOVES,
    PL_S_POOL,
    PL_S_VARS,
    PL_S_LINES,
    PL_S_INLINES,
    PL_S_FILES,
    PL_S_SOURCES,
    PL_S_PTX,
    PL_S_SYMTAB,
    PL_S_STRTAB,
    PL_S_SHSTRTAB,
    PL_S_COUNT
} pl_section;

typedef struct pl_section_row {
    const char *name;
    uint32_t type;
    uint64_t flags;
    uint32_t align;
    const pl_record *record; /* entries are these records, */
    uint32_t extra; /* preceded by this many 32-bit numbers (funcs, vars); without record: bytes of
                       an entry */
} pl_section_row;

extern const pl_section_row pl_object_section[PL_S_COUNT];

/* Numbers before a function's record: its symbol, and the number of its entries in the tables
 * below. */
enum { PL_FN_SYMBOL, PL_FN_ROWS, PL_FN_PARAMS, PL_FN_FORMALS, PL_FN_RESULTS, PL_FN_NUMBERS };
/* Numbers before a variable's record. */
enum { PL_VN_SYMBOL, PL_VN_NUMBERS };

/* Bytes of one entry of a section; 0 if its entries have no fixed size. */
size_t pl_section_entry(pl_section s);

/* Contents of the note, in order: format, optimisation, PTX version, target, then two hashes as
 * hexadecimal text. */
enum {
    PL_NOTE_TYPE = 1,
    PL_NOTE_NAME_BYTES = 8, /* "PTXLOOM" */
    PL_NOTE_FORMAT = 0,
    PL_NOTE_OPT = 4,
    PL_NOTE_PTX = 8,
    PL_NOTE_SM = 12,
    PL_NOTE_SUFFIX = 16,
    PL_NOTE_TABLE = 20,
    PL_NOTE_CONTENT = PL_NOTE_TABLE + 64, /* hash of the whole file, with this field zeroed */
    PL_NOTE_BYTES = PL_NOTE_CONTENT + 64
};

/* Type of a relocation: the kind of the address (PL_RELOC_*), bytes to fill, bits of right shift.
 */
#define PL_RELA_TYPE(kind, bytes, shift)                                                           \
    ((uint32_t)(kind) | (uint32_t)(bytes) << 8 | (uint32_t)(shift) << 16)

#endif
