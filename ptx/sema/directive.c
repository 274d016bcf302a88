/* directive.c - the table of directives, and the check that a module may use one. */
#include "ptx/directive.h"
#include "ptx/internal.h"
#include "ptx/parse/parse.h"

#include <string.h>

const pl_directive pl_directives[] = {
#define DIRECTIVE(token, name, ptx, target, meaning) {name, T_##token, ptx, target, meaning},
#define PERF_DIRECTIVE(id, name, min, max, entry, func, ptx, target, meaning)                      \
    DIRECTIVE(PERF, name, ptx, target, meaning)
#include "ptx/directives.def"
#undef PERF_DIRECTIVE
#undef DIRECTIVE
};
const unsigned pl_ndirectives = sizeof pl_directives / sizeof *pl_directives;

const pl_directive *pl_directive_find(const char *name)
{
    for (unsigned k = 0; k < pl_ndirectives; k++)
        if (!strcmp(pl_directives[k].name, name)) return &pl_directives[k];
    return NULL;
}

void pl_directive_needs(pl_parse *p, pl_loc at, const char *name)
{
    const pl_directive *d = pl_directive_find(name);
    pl_module_needs(p, at, name, d->ptx, d->target);
}
