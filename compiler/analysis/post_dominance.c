/* post_dominance.c - see post_dominance.h. */
#include "compiler/analysis/post_dominance.h"

#include <string.h>

#include "isa/program/dominance.h"

bool pl_ir_loop_contains(const pl_ir *x, uint32_t b, uint32_t header)
{
    uint32_t loop = x->blocks.at[b].loop;
    while (loop != PL_IR_NONE && loop != header) loop = x->blocks.at[loop].parent_loop;
    return loop == header;
}

bool pl_loop_post_dominance_alloc(pl_post_dominance *to, pl_ir *x)
{
    const uint32_t n = (uint32_t)x->blocks.n;
    *to = (pl_post_dominance){.n = n,
                              .ipdom = pl_arena_array(x->tmp, uint32_t, n + 1),
                              .rpo_index = pl_arena_array(x->tmp, uint32_t, n + 1),
                              .rpo = pl_arena_array(x->tmp, uint32_t, n + 1),
                              .stack = pl_arena_array(x->tmp, uint32_t, n + 1),
                              .edge = pl_arena_array(x->tmp, uint32_t, n + 1)};
    if (!to->ipdom || !to->rpo_index || !to->rpo || !to->stack || !to->edge) return false;
    memset(to->ipdom, 0xff, (n + 1) * sizeof *to->ipdom);
    memset(to->rpo_index, 0xff, (n + 1) * sizeof *to->rpo_index);
    return true;
}

/* Postorder of the reversed graph from one block. */
static void number_from(pl_post_dominance *e, const pl_ir *x, uint32_t end, uint32_t header)
{
    uint32_t depth = 0;
    if (e->rpo_index[end] != PL_IR_NONE) return;
    e->rpo_index[end] = 0;
    e->stack[depth++] = end;
    while (depth) {
        uint32_t k = e->stack[depth - 1];
        if (k != header && e->edge[k] < x->blocks.at[k].npreds) {
            uint32_t q = x->predecessors[x->blocks.at[k].first_pred + e->edge[k]++];
            if (e->rpo_index[q] == PL_IR_NONE) {
                e->rpo_index[q] = 0;
                e->stack[depth++] = q;
            }
        } else {
            e->rpo_index[k] = e->nrpo;
            e->rpo[e->nrpo++] = k;
            depth--;
        }
    }
}

typedef struct reversed {
    const pl_post_dominance *e;
    const pl_ir *x;
    uint32_t header;
} reversed;

/* Successors; block n stands for the successor of a block without any, and for the header. */
static uint32_t successor(const void *graph, uint32_t block, uint32_t k)
{
    const reversed *g = graph;
    const uint32_t edges = pl_ir_successors(g->x, block);
    if (k >= (edges ? edges : 1)) return PL_IR_NONE;
    const uint32_t to = edges ? pl_ir_successor(g->x, block, k) : g->e->n;
    return to == g->header ? g->e->n : to;
}

static void solve(pl_post_dominance *e, pl_ir *x, uint32_t header)
{
    e->rpo_index[e->n] = e->nrpo;
    e->ipdom[e->n] = e->n;
    pl_dominance_solve(&(pl_dominance){.idom = e->ipdom,
                                       .order = e->rpo_index,
                                       .postorder = e->rpo,
                                       .n = e->nrpo,
                                       .edge = successor,
                                       .graph = &(reversed){e, x, header}});
}

bool pl_post_dominance_find(pl_post_dominance *to, pl_ir *x)
{
    if (!pl_loop_post_dominance_alloc(to, x)) return false;
    for (uint32_t end = 0; end < to->n; end++)
        if (x->blocks.at[end].rpo_index != PL_IR_NONE && !pl_ir_successors(x, end))
            number_from(to, x, end, PL_IR_NONE);
    solve(to, x, PL_IR_NONE);
    return true;
}

void pl_loop_post_dominance_find(pl_post_dominance *to, pl_ir *x, uint32_t header)
{
    for (uint32_t k = 0; k < to->nrpo; k++) {
        to->rpo_index[to->rpo[k]] = to->ipdom[to->rpo[k]] = PL_IR_NONE;
        to->edge[to->rpo[k]] = 0;
    }
    to->nrpo = 0;
    for (uint32_t k = 0; k < x->blocks.at[header].npreds; k++) {
        uint32_t latch = x->predecessors[x->blocks.at[header].first_pred + k];
        if (pl_ir_loop_contains(x, latch, header)) number_from(to, x, latch, header);
    }
    solve(to, x, header);
}
