/* builtin_machines.h - the machine descriptions that are built into the library, as text.
 *
 * arch/NAME.conf becomes one row; the array is written at build time by arch/embed.awk. */
#ifndef PL_ARCH_BUILTIN_MACHINES_H
#define PL_ARCH_BUILTIN_MACHINES_H

#include <stddef.h>

typedef struct pl_machine_text {
    const char *name; /* "h200" */
    const char *text; /* the file as it stands in arch/ */
    size_t size;
} pl_machine_text;

extern const pl_machine_text pl_target_texts[]; /* the same of arch/NAME.target */
/* Sorted by name; ends with a row whose name is NULL. */
extern const pl_machine_text pl_machine_texts[];

#endif
