/* cfg.c - basic blocks and post-dominators of a function.
 *
 * Lanes that part at a branch meet at its immediate post-dominator: the first block that every path from the branch to the end of
 * the function passes. The computation is the iterative one of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm",
 * 2001) on the reversed graph, with one virtual block behind all exits. */
#include "isa/cfg.h"

#include <string.h>

typedef struct block {
    uint32_t first, end;    /* code range */
    uint32_t succ[2], nsucc;
    const uint32_t *table;  /* brx.idx: further successors as code indices */
    uint32_t ntable;
    uint32_t order;         /* number in reverse postorder of the reversed graph; UINT32_MAX: does not reach the exit */
    uint32_t ipdom;         /* block number; UINT32_MAX: none yet */
} block;

typedef struct graph {
    const pl_program *p;
    const pl_prog_func *f;
    block *b;
    uint32_t n;        /* blocks; the virtual exit is number n */
    uint32_t *of;      /* block of each instruction, relative to f->first */
    uint32_t *pred, *pred_start; /* predecessors of each block, by edge list */
} graph;

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
    return (effects(i) & PL_EF_EXIT) || ((effects(i) & PL_EF_BRANCH) && !pl_forms[i->form].noperands);
}

static uint32_t successors(const graph *g, const block *b, uint32_t k)
{
    if (k < b->nsucc)
        return b->succ[k];
    return g->of[b->table[k - b->nsucc] - g->f->first];
}

static uint32_t successor_count(const block *b)
{
    return b->nsucc + b->ntable;
}

static bool make_blocks(graph *g, pl_arena *a)
{
    const pl_insn *code = g->p->code.at;
    uint32_t first = g->f->first, count = g->f->count;
    uint8_t *leader = pl_arena_array(a, uint8_t, count + 1);
    g->of = pl_arena_array(a, uint32_t, count + 1);
    if (!pl_arena_ok(a))
        return false;
    leader[0] = 1;
    for (uint32_t k = 0; k < count; k++) {
        const pl_insn *i = &code[first + k];
        if (is_table(i)) {
            for (uint32_t t = 0; t < i->nmore; t++)
                leader[g->p->pool.at[i->more + t] - first] = 1;
        } else if (is_jump(i))
            leader[i->target - first] = 1;
        if (is_jump(i) || is_end(i))
            leader[k + 1] = 1;
    }
    for (uint32_t k = 0; k < count; k++)
        g->n += leader[k];
    g->b = pl_arena_array(a, block, g->n + 1);
    if (!pl_arena_ok(a))
        return false;
    uint32_t n = 0;
    for (uint32_t k = 0; k < count; k++) {
        if (leader[k])
            g->b[n++].first = first + k;
        g->of[k] = n - 1;
        g->b[n - 1].end = first + k + 1;
    }
    for (uint32_t k = 0; k < g->n; k++) {
        block *b = &g->b[k];
        const pl_insn *i = &code[b->end - 1];
        bool guarded = i->guard != PL_PT;
        uint32_t next = b->end < first + count ? g->of[b->end - first] : g->n;
        if (is_table(i)) {
            b->table = g->p->pool.at + i->more;
            b->ntable = i->nmore;
        } else if (is_jump(i))
            b->succ[b->nsucc++] = g->of[i->target - first];
        else if (is_end(i))
            b->succ[b->nsucc++] = g->n;
        if ((!is_jump(i) && !is_end(i)) || guarded)
            b->succ[b->nsucc++] = next;
    }
    return true;
}

static bool make_predecessors(graph *g, pl_arena *a)
{
    g->pred_start = pl_arena_array(a, uint32_t, g->n + 2);
    if (!pl_arena_ok(a))
        return false;
    uint32_t edges = 0;
    for (uint32_t k = 0; k < g->n; k++)
        for (uint32_t s = 0; s < successor_count(&g->b[k]); s++, edges++)
            g->pred_start[successors(g, &g->b[k], s) + 1]++;
    for (uint32_t k = 0; k <= g->n; k++)
        g->pred_start[k + 1] += g->pred_start[k];
    uint32_t *at = pl_arena_array(a, uint32_t, g->n + 1);
    g->pred = pl_arena_array(a, uint32_t, edges + 1);
    if (!pl_arena_ok(a))
        return false;
    memcpy(at, g->pred_start, (g->n + 1) * sizeof *at);
    for (uint32_t k = 0; k < g->n; k++)
        for (uint32_t s = 0; s < successor_count(&g->b[k]); s++)
            g->pred[at[successors(g, &g->b[k], s)]++] = k;
    return true;
}

pl_status pl_cfg_reconverge(pl_program *p, const pl_prog_func *f, pl_arena *a)
{
    graph g = {.p = p, .f = f};
    if (!f->count)
        return PL_OK;
    if (!make_blocks(&g, a) || !make_predecessors(&g, a))
        return PL_NOMEM;
    /* postorder of the reversed graph from the virtual exit, with an explicit stack */
    uint32_t *order = pl_arena_array(a, uint32_t, g.n + 1), *stack = pl_arena_array(a, uint32_t, g.n + 1);
    uint32_t *edge = pl_arena_array(a, uint32_t, g.n + 1), depth = 0, n = 0;
    if (!pl_arena_ok(a))
        return PL_NOMEM;
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
            block *b = &g.b[order[j]];
            uint32_t best = UINT32_MAX;
            for (uint32_t s = 0; s < successor_count(b); s++) {
                uint32_t x = successors(&g, b, s);
                if (g.b[x].ipdom == UINT32_MAX)
                    continue;
                if (best == UINT32_MAX) {
                    best = x;
                    continue;
                }
                uint32_t y = best;
                while (x != y) {
                    while (g.b[x].order < g.b[y].order)
                        x = g.b[x].ipdom;
                    while (g.b[y].order < g.b[x].order)
                        y = g.b[y].ipdom;
                }
                best = x;
            }
            if (best != b->ipdom) {
                b->ipdom = best;
                changed = true;
            }
        }
    }
    for (uint32_t k = 0; k < g.n; k++) {
        pl_insn *i = &p->code.at[g.b[k].end - 1];
        if (!is_jump(i) || (i->guard == PL_PT && !is_table(i)))
            continue;
        uint32_t m = g.b[k].ipdom;
        i->reconv = m == UINT32_MAX || m == g.n ? UINT32_MAX : g.b[m].first;
        if (i->reconv != UINT32_MAX)
            p->code.at[i->reconv].flags |= PL_IF_SYNC_POINT;
    }
    return PL_OK;
}
