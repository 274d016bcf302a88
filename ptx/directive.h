/* directive.h - the directives of PTX: directives.def as a table. */
#ifndef PL_PTX_DIRECTIVE_H
#define PL_PTX_DIRECTIVE_H

#include <stdint.h>

typedef struct pl_directive {
    const char *name; /* with its dot: ".maxntid" */
    int16_t token;    /* of the grammar */
    uint16_t ptx;     /* first version, 78 = 7.8 */
    const char *target, *meaning;
} pl_directive;

extern const pl_directive pl_directives[];
extern const unsigned pl_ndirectives;

/* NULL: PTX has no such directive. */
const pl_directive *pl_directive_find(const char *name);

#endif
