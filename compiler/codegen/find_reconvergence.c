/* find_reconvergence.c - finds where the lanes of a warp that diverge at a branch reconverge.
 *
 * That is the immediate post-dominator of the branch: the first block on every path from it to the
 * end of the function. Reconvergence points of loops with early exits are not post-dominators;
 * insert_reconvergence.c has numbered them. */
#include "compiler/codegen/find_reconvergence.h"

#include <string.h>

#include "isa/program/cfg.h"
#include "isa/program/dominance.h"
#include "isa/program/insn_query.h"

/* ret, exit, trap: the end of a path */
static bool is_end(const pl_insn *i)
{
    return (pl_insn_effects(i) & PL_EF_EXIT) ||
           ((pl_insn_effects(i) & PL_EF_BRANCH) && !pl_forms[i->form].noperands);
}

/* Reconvergence points of loops with early exits are not post-dominators. insert_reconvergence
 * numbered them; this table maps the number to a pc. Lanes that bypass a point go to its `target`.
 */
static uint32_t *pcs_of_points(pl_program *p, const pl_prog_func *f, pl_arena *a)
{
    const uint32_t end = f->first + f->count;
    uint32_t max_number = 0;
    for (uint32_t pc = f->first; pc < end; pc++)
        if (pl_forms[p->code.at[pc].form].mnem == M__bsync && p->code.at[pc].imm > max_number)
            max_number = (uint32_t)p->code.at[pc].imm;
    uint32_t *pc_of = pl_arena_array(a, uint32_t, (size_t)max_number + 1);
    if (!pc_of) return NULL;
    memset(pc_of, 0xff, ((size_t)max_number + 1) * sizeof *pc_of);
    for (uint32_t pc = f->first; pc < end; pc++)
        if (pl_forms[p->code.at[pc].form].mnem == M__bsync && p->code.at[pc].imm)
            pc_of[p->code.at[pc].imm] = pl_reconvergence_pc(p, pc, end);
    for (uint32_t pc = f->first; pc < end; pc++) {
        pl_insn *i = &p->code.at[pc];
        if (pl_forms[i->form].mnem != M__bsync || !i->imm) continue;
        if (i->target && i->target <= max_number && pc_of[i->target] != UINT32_MAX) {
            i->reconv = pc_of[i->target];
            p->code.at[i->reconv].flags |= PL_IF_SYNC_POINT;
        }
        i->imm = 0;
        i->target = 0;
    }
    return pc_of;
}

/* Groups of lanes that name each other reconverge at the next BSYNC, if one precedes the next
 * jump. */
static void set_group_reconvergence(pl_program *p, const pl_prog_func *f)
{
    const uint32_t end = f->first + f->count;
    uint32_t join = UINT32_MAX;
    for (uint32_t pc = end; pc-- > f->first;) {
        pl_insn *i = &p->code.at[pc];
        if (pl_insn_is_jump(i) || is_end(i) || (pl_insn_effects(i) & PL_EF_CALL))
            join = UINT32_MAX;
        else if (pl_forms[i->form].mnem == M__bsync)
            join = pl_reconvergence_pc(p, pc, end);
        else if (pl_forms[i->form].mnem == M__groups && join != UINT32_MAX) {
            i->reconv = join;
            p->code.at[join].flags |= PL_IF_SYNC_POINT;
        }
    }
}

static uint32_t successor(const void *graph, uint32_t block, uint32_t k)
{
    const pl_cfg *g = graph;
    return k < pl_cfg_successor_count(&g->b[block]) ? pl_cfg_successor(g, &g->b[block], k)
                                                    : UINT32_MAX;
}

/* Computes post-dominators; the root is a virtual block after all exits. Returns false when out of
 * memory. */
static bool find_post_dominators(pl_cfg *g, pl_arena *a)
{
    /* postorder of the reversed graph from the virtual exit, with an explicit stack */
    uint32_t *order = pl_arena_array(a, uint32_t, g->n + 1),
             *stack = pl_arena_array(a, uint32_t, g->n + 1);
    uint32_t *edge = pl_arena_array(a, uint32_t, g->n + 1), depth = 0, n = 0;
    uint32_t *seen = pl_arena_array(a, uint32_t, g->n + 1),
             *ipdom = pl_arena_array(a, uint32_t, g->n + 1);
    if (!pl_arena_ok(a)) return false;
    for (uint32_t k = 0; k <= g->n; k++) {
        seen[k] = UINT32_MAX;
        ipdom[k] = UINT32_MAX;
        edge[k] = g->pred_start[k];
    }
    stack[depth++] = g->n;
    seen[g->n] = 0; /* visited; numbered later */
    while (depth) {
        uint32_t k = stack[depth - 1];
        if (edge[k] < g->pred_start[k + 1]) {
            uint32_t q = g->pred[edge[k]++];
            if (seen[q] == UINT32_MAX) {
                seen[q] = 0;
                stack[depth++] = q;
            }
        } else {
            seen[k] = n;
            order[n++] = k;
            depth--;
        }
    }
    ipdom[g->n] = g->n;
    pl_dominance_solve(&(pl_dominance){.idom = ipdom,
                                       .order = seen,
                                       .postorder = order,
                                       .n = n - 1, /* the root is last */
                                       .edge = successor,
                                       .graph = g});
    for (uint32_t k = 0; k <= g->n; k++) g->b[k].ipdom = ipdom[k];
    return true;
}

pl_status pl_find_reconvergence(pl_program *p, const pl_prog_func *f, pl_arena *scratch)
{
    pl_cfg g;
    pl_status st = pl_cfg_make(p, f, scratch, &g);
    if (st != PL_OK || !f->count) return st;
    if (!find_post_dominators(&g, scratch)) return PL_NOMEM;
    uint32_t *pc_of = pcs_of_points(p, f, scratch);
    if (!pc_of) return PL_NOMEM;
    for (uint32_t k = 0; k < g.n; k++) {
        pl_insn *i = &p->code.at[g.b[k].end - 1];
        if (!pl_insn_is_jump(i) || (i->guard == PL_PT && !pl_insn_is_table(i))) continue;
        uint32_t m = g.b[k].ipdom;
        i->reconv = m == UINT32_MAX || m == g.n
                        ? UINT32_MAX
                        : pl_reconvergence_pc(p, g.b[m].first, f->first + f->count);
        if (i->imm) i->reconv = pc_of[i->imm];
        i->imm = 0;
        if (i->reconv != UINT32_MAX) p->code.at[i->reconv].flags |= PL_IF_SYNC_POINT;
    }
    set_group_reconvergence(p, f);
    return PL_OK;
}
