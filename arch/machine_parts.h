/* machine_parts.h - shared by the files that read machine descriptions. */
#ifndef PL_ARCH_MACHINE_PARTS_H
#define PL_ARCH_MACHINE_PARTS_H

#include "arch/machine.h"

/* A section, its keys, and the offset of its struct in pl_machine. */
typedef struct pl_machine_section {
    const char *name;
    const pl_conf_key *keys;
    size_t n, offset;
} pl_machine_section;

/* All sections except [op.WORD] and [price]. */
extern const pl_machine_section pl_machine_sections[];
extern const size_t pl_machine_nsections;

/* Keys with a different name until version 0.2: the error message gives the new one. */
extern const pl_conf_rename pl_machine_renames[];
extern const size_t pl_machine_nrenames;

/* The words of hardware instructions by pl_op, as in [op.WORD]. */
extern const char *const pl_op_words[PL_OP_COUNT];

/* Reads the [price] lines of a machine's file. Lines for classes that no row of the instruction
 * table uses (yet) are only checked for syntax; a misspelt name leaves a class without a price.
 * priced: by class, true if it has a price. False after an error, with diagnostics. */
bool pl_prices_read(pl_machine *m, pl_conf *c, pl_diags *d, bool *priced);
/* Reads them from the file of another machine, for the classes that have no price yet. */
bool pl_prices_complete(pl_machine *m, pl_conf *c, pl_diags *d, bool *priced);
/* A class without a price uses that of the class named in its row of classes.isa. */
void pl_prices_inherit(pl_machine *m, bool *priced);

#endif
