/* builtin_machines.h - the machine descriptions built into the library, as text.
 *
 * arch/NAME.conf becomes one row; arch/embed.awk writes the array at build time. */
#ifndef PL_ARCH_BUILTIN_MACHINES_H
#define PL_ARCH_BUILTIN_MACHINES_H

#include <stddef.h>

typedef struct pl_machine_text {
    const char *name; /* "h200" */
    const char *text; /* the verbatim contents of the file in arch/ */
    size_t size;
} pl_machine_text;

extern const pl_machine_text pl_target_texts[]; /* the same for arch/NAME.target */
/* Sorted by name; ends with a row whose name is NULL. */
extern const pl_machine_text pl_machine_texts[];

#endif
