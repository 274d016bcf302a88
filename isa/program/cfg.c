/* cfg.c - basic blocks and post-dominators of a function.
 *
 * Lanes that part at a branch meet at its immediate post-dominator: the first block that every path
 * from the branch to the end of the function passes. The computation is the iterative one of
 * Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm", 2001) on the reversed pl_cfg,
 * with one virtual block after all exits. */
#include "isa/program/cfg.h"

#include <string.h>

static uint32_t effects(const pl_insn *i)
{
    return pl_forms[i->form].effects;
}

static bool is_table(const pl_insn *i)
{
    return (effects(i) & PL_EF_BRANCH) && pl_forms[i->form].noperands == 2;
}

static bool is_jump(const pl_insn *i)
{
    return (effects(i) & PL_EF_BRANCH) && pl_forms[i->form].noperands >= 1;
}

/* ret, exit, trap: the end of a path */
static bool is_end(const pl_insn *i)
{
    return (effects(i) & PL_EF_EXIT) ||
           ((effects(i) & PL_EF_BRANCH) && !pl_forms[i->form].noperands);
}

uint32_t pl_cfg_successor(const pl_cfg *g, const pl_cfg_block *b, uint32_t k)
{
    if (k < b->nsucc) return b->succ[k];
    return g->of[b->table[k - b->nsucc] - g->f->first];
}

uint32_t pl_cfg_successor_count(const pl_cfg_block *b)
{
    return b->nsucc + b->ntable;
}

static bool make_blocks(pl_cfg *g, pl_arena *a)
{
    const pl_insn *code = g->p->code.at;
    uint32_t first = g->f->first, count = g->f->count;
    uint8_t *leader = pl_arena_array(a, uint8_t, count + 1);
    g->of = pl_arena_array(a, uint32_t, count + 1);
    if (!pl_arena_ok(a)) return false;
    leader[0] = 1;
    for (uint32_t k = 0; k < count; k++) {
        const pl_insn *i = &code[first + k];
        if (is_table(i)) {
            for (uint32_t t = 0; t < i->nextra; t++)
                leader[g->p->pool.at[i->extra_ops + t] - first] = 1;
        } else if (is_jump(i))
            leader[i->target - first] = 1;
        if (is_jump(i) || is_end(i)) leader[k + 1] = 1;
    }
    for (uint32_t k = 0; k < count; k++) g->n += leader[k];
    g->b = pl_arena_array(a, pl_cfg_block, g->n + 1);
    if (!pl_arena_ok(a)) return false;
    uint32_t n = 0;
    for (uint32_t k = 0; k < count; k++) {
        if (leader[k]) g->b[n++].first = first + k;
        g->of[k] = n - 1;
        g->b[n - 1].end = first + k + 1;
    }
    for (uint32_t k = 0; k < g->n; k++) {
        pl_cfg_block *b = &g->b[k];
        const pl_insn *i = &code[b->end - 1];
        bool guarded = i->guard != PL_PT;
        uint32_t next = b->end < first + count ? g->of[b->end - first] : g->n;
        if (is_table(i)) {
            b->table = g->p->pool.at + i->extra_ops;
            b->ntable = i->nextra;
        } else if (is_jump(i))
            b->succ[b->nsucc++] = g->of[i->target - first];
        else if (is_end(i))
            b->succ[b->nsucc++] = g->n;
        if ((!is_jump(i) && !is_end(i)) || guarded) b->succ[b->nsucc++] = next;
    }
    return true;
}

static bool make_predecessors(pl_cfg *g, pl_arena *a)
{
    g->pred_start = pl_arena_array(a, uint32_t, g->n + 2);
    if (!pl_arena_ok(a)) return false;
    uint32_t edges = 0;
    for (uint32_t k = 0; k < g->n; k++)
        for (uint32_t s = 0; s < pl_cfg_successor_count(&g->b[k]); s++, edges++)
            g->pred_start[pl_cfg_successor(g, &g->b[k], s) + 1]++;
    for (uint32_t k = 0; k <= g->n; k++) g->pred_start[k + 1] += g->pred_start[k];
    uint32_t *at = pl_arena_array(a, uint32_t, g->n + 1);
    g->pred = pl_arena_array(a, uint32_t, edges + 1);
    if (!pl_arena_ok(a)) return false;
    memcpy(at, g->pred_start, (g->n + 1) * sizeof *at);
    for (uint32_t k = 0; k < g->n; k++)
        for (uint32_t s = 0; s < pl_cfg_successor_count(&g->b[k]); s++)
            g->pred[at[pl_cfg_successor(g, &g->b[k], s)]++] = k;
    return true;
}

pl_status pl_cfg_make(const pl_program *p, const pl_prog_func *f, pl_arena *a, pl_cfg *g)
{
    *g = (pl_cfg){.p = p, .f = f};
    return !f->count || (make_blocks(g, a) && make_predecessors(g, a)) ? PL_OK : PL_NOMEM;
}

/* Where lanes of a loop meet that others may leave meanwhile is not a post-dominator:
 * compiler/codegen/insert_reconvergence.c has given such places names. By name; a place says itself
 * where those meet that do not come to it. */
static uint32_t *meeting_places(pl_program *p, const pl_prog_func *f, pl_arena *a)
{
    const uint32_t end = f->first + f->count;
    uint32_t most = 0;
    for (uint32_t pc = f->first; pc < end; pc++)
        if (pl_forms[p->code.at[pc].form].mnem == M__bsync && p->code.at[pc].imm > most)
            most = (uint32_t)p->code.at[pc].imm;
    uint32_t *named = pl_arena_array(a, uint32_t, (size_t)most + 1);
    if (!named) return NULL;
    memset(named, 0xff, ((size_t)most + 1) * sizeof *named);
    for (uint32_t pc = f->first; pc < end; pc++)
        if (pl_forms[p->code.at[pc].form].mnem == M__bsync && p->code.at[pc].imm)
            named[p->code.at[pc].imm] = pl_reconvergence_pc(p, pc, end);
    for (uint32_t pc = f->first; pc < end; pc++) {
        pl_insn *i = &p->code.at[pc];
        if (pl_forms[i->form].mnem != M__bsync || !i->imm) continue;
        if (i->target && i->target <= most && named[i->target] != UINT32_MAX) {
            i->reconv = named[i->target];
            p->code.at[i->reconv].flags |= PL_IF_SYNC_POINT;
        }
        i->imm = 0;
        i->target = 0;
    }
    return named;
}

/* Groups of lanes that name each other meet at the next BSYNC, if there is one before the next
 * jump. */
static void groups_meet(pl_program *p, const pl_prog_func *f)
{
    const uint32_t end = f->first + f->count;
    uint32_t meet = UINT32_MAX;
    for (uint32_t pc = end; pc-- > f->first;) {
        pl_insn *i = &p->code.at[pc];
        if (is_jump(i) || is_end(i) || (effects(i) & PL_EF_CALL))
            meet = UINT32_MAX;
        else if (pl_forms[i->form].mnem == M__bsync)
            meet = pl_reconvergence_pc(p, pc, end);
        else if (pl_forms[i->form].mnem == M__groups && meet != UINT32_MAX) {
            i->reconv = meet;
            p->code.at[meet].flags |= PL_IF_SYNC_POINT;
        }
    }
}

pl_status pl_cfg_reconverge(pl_program *p, const pl_prog_func *f, pl_arena *a)
{
    pl_cfg g;
    pl_status st = pl_cfg_make(p, f, a, &g);
    if (st != PL_OK || !f->count) return st;
    /* postorder of the reversed graph from the virtual exit, with an explicit stack */
    uint32_t *order = pl_arena_array(a, uint32_t, g.n + 1),
             *stack = pl_arena_array(a, uint32_t, g.n + 1);
    uint32_t *edge = pl_arena_array(a, uint32_t, g.n + 1), depth = 0, n = 0;
    if (!pl_arena_ok(a)) return PL_NOMEM;
    for (uint32_t k = 0; k <= g.n; k++) {
        g.b[k].order = UINT32_MAX;
        g.b[k].ipdom = UINT32_MAX;
        edge[k] = g.pred_start[k];
    }
    stack[depth++] = g.n;
    g.b[g.n].order = 0; /* seen; real numbers follow */
    while (depth) {
        uint32_t k = stack[depth - 1];
        if (edge[k] < g.pred_start[k + 1]) {
            uint32_t q = g.pred[edge[k]++];
            if (g.b[q].order == UINT32_MAX) {
                g.b[q].order = 0;
                stack[depth++] = q;
            }
        } else {
            g.b[k].order = n;
            order[n++] = k;
            depth--;
        }
    }
    g.b[g.n].ipdom = g.n;
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t j = n - 1; j-- > 0;) { /* reverse postorder, the exit left out */
            pl_cfg_block *b = &g.b[order[j]];
            uint32_t best = UINT32_MAX;
            for (uint32_t s = 0; s < pl_cfg_successor_count(b); s++) {
                uint32_t x = pl_cfg_successor(&g, b, s);
                if (g.b[x].ipdom == UINT32_MAX) continue;
                if (best == UINT32_MAX) {
                    best = x;
                    continue;
                }
                uint32_t y = best;
                while (x != y) {
                    while (g.b[x].order < g.b[y].order) x = g.b[x].ipdom;
                    while (g.b[y].order < g.b[x].order) y = g.b[y].ipdom;
                }
                best = x;
            }
            if (best != b->ipdom) {
                b->ipdom = best;
                changed = true;
            }
        }
    }
    uint32_t *named = meeting_places(p, f, a);
    if (!named) return PL_NOMEM;
    for (uint32_t k = 0; k < g.n; k++) {
        pl_insn *i = &p->code.at[g.b[k].end - 1];
        if (!is_jump(i) || (i->guard == PL_PT && !is_table(i))) continue;
        uint32_t m = g.b[k].ipdom;
        i->reconv = m == UINT32_MAX || m == g.n
                        ? UINT32_MAX
                        : pl_reconvergence_pc(p, g.b[m].first, f->first + f->count);
        if (i->imm) i->reconv = named[i->imm];
        i->imm = 0;
        if (i->reconv != UINT32_MAX) p->code.at[i->reconv].flags |= PL_IF_SYNC_POINT;
    }
    groups_meet(p, f);
    return PL_OK;
}
