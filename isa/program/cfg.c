/* cfg.c - basic blocks of a function and the edges between them. */
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

/* True for ret, exit, trap: the end of a path. */
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
