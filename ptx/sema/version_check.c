/* version_check.c - feature availability by .version and .target: the only place that compares
 * them. */
#include "ptx/internal.h"

bool pl_module_needs(pl_parse *p, pl_loc at, const char *what, unsigned ptx, const char *target)
{
    if (p->ast->ptx >= ptx && pl_target_has(p->ast->sm, p->ast->sm_suffix, target)) return true;
    pl_diag *d = pl_report(p->diags, PL_E0230, at, what, ptx / 10, ptx % 10,
                           pl_target_text(p->arena, target));
    d->help = pl_arena_printf(p->arena, "this module has .version %u.%u and .target %s",
                              p->ast->ptx / 10u, p->ast->ptx % 10u, p->ast->target);
    return false;
}
