/* dominance.c - the graph of blocks: reverse postorder, dominators (Cooper, Harvey and Kennedy),
 * loops. */
#include "compiler/ir/ir_internal.h"
#include "isa/program/dominance.h"

#include <stdlib.h>
#include <string.h>

/* ---- graph ---- */

static void postorder(pl_ir *x, uint32_t *stack, uint32_t *edge)
{
    uint32_t depth = 0, n = (uint32_t)x->blocks.n;
    stack[depth++] = 0;
    x->blocks.at[0].rpo_index = 0;
    while (depth) {
        uint32_t k = stack[depth - 1];
        if (edge[k] < pl_ir_successors(x, k)) {
            uint32_t s = pl_ir_successor(x, k, edge[k]++);
            if (x->blocks.at[s].rpo_index == PL_IR_NONE) {
                x->blocks.at[s].rpo_index = 0;
                stack[depth++] = s;
            }
        } else {
            x->rpo[--n] = k;
            depth--;
        }
    }
    x->nrpo = (uint32_t)x->blocks.n - n;
    memmove(x->rpo, x->rpo + n, x->nrpo * sizeof *x->rpo);
    for (uint32_t k = 0; k < x->nrpo; k++) x->blocks.at[x->rpo[k]].rpo_index = k;
}

static uint32_t predecessor(const void *graph, uint32_t block, uint32_t k)
{
    const pl_ir *x = graph;
    const pl_ir_block *b = &x->blocks.at[block];
    return k < b->npreds ? x->predecessors[b->first_pred + k] : PL_IR_NONE;
}

/* idom and order have one entry per block; postorder has one per reachable block. */
static void dominators(pl_ir *x, uint32_t *idom, uint32_t *order, uint32_t *postorder)
{
    memset(idom, 0xff, x->blocks.n * sizeof *idom);
    idom[0] = 0;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        order[x->rpo[j]] = x->nrpo - 1 - j;
        if (j) postorder[x->nrpo - 1 - j] = x->rpo[j];
    }
    pl_dominance_solve(&(pl_dominance){.idom = idom,
                                       .order = order,
                                       .postorder = postorder,
                                       .n = x->nrpo - 1,
                                       .edge = predecessor,
                                       .graph = x});
    for (uint32_t j = 0; j < x->nrpo; j++) x->blocks.at[x->rpo[j]].idom = idom[x->rpo[j]];
}

/* Numbers the dominator tree in preorder, so that the subtree of a block follows it. `next` is, by
 * block, the first free number among its children. */
static void number_tree(pl_ir *x, uint32_t *next)
{
    for (uint32_t j = 0; j < x->nrpo; j++) x->blocks.at[x->rpo[j]].dom_size = 1;
    for (uint32_t j = x->nrpo; j-- > 1;)
        x->blocks.at[x->blocks.at[x->rpo[j]].idom].dom_size += x->blocks.at[x->rpo[j]].dom_size;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        pl_ir_block *b = &x->blocks.at[x->rpo[j]];
        b->dom_pre = j ? next[b->idom] : 0;
        if (j) next[b->idom] += b->dom_size;
        next[x->rpo[j]] = b->dom_pre + 1;
    }
}

uint32_t pl_ir_common_dominator(const pl_ir *x, uint32_t a, uint32_t b)
{
    if (a == PL_IR_NONE) return b;
    if (pl_ir_dominates(x, a, b)) return a;
    while (a != b) {
        while (x->blocks.at[a].rpo_index > x->blocks.at[b].rpo_index) a = x->blocks.at[a].idom;
        while (x->blocks.at[b].rpo_index > x->blocks.at[a].rpo_index) b = x->blocks.at[b].idom;
    }
    return a;
}

/* Finds the natural loop of each header, inner headers first, so that each block is assigned to the
 * innermost one. `outer` is, by header, the enclosing loop. */
static void loops(pl_ir *x, uint32_t *stack, uint32_t *outer)
{
    x->has_loops = x->irreducible = false;
    for (uint32_t j = 0; j < x->nrpo; j++) outer[x->rpo[j]] = PL_IR_NONE;
    for (uint32_t j = x->nrpo; j-- > 0;) {
        uint32_t header = x->rpo[j], depth = 0;
        pl_ir_block *h = &x->blocks.at[header];
        for (uint32_t e = 0; e < h->npreds; e++) {
            const uint32_t from = x->predecessors[h->first_pred + e];
            if (pl_ir_dominates(x, header, from)) {
                h->nlatches++;
                stack[depth++] = from;
            }
            x->has_loops |= x->blocks.at[from].rpo_index >= j;
            x->irreducible |=
                x->blocks.at[from].rpo_index >= j && !pl_ir_dominates(x, header, from);
        }
        while (depth) {
            uint32_t q = stack[--depth], from = q;
            if (x->blocks.at[q].loop == PL_IR_NONE) {
                x->blocks.at[q].loop = header;
                if (q == header) continue;
            } else {
                for (q = x->blocks.at[q].loop; outer[q] != PL_IR_NONE;) q = outer[q];
                if (q == header) continue;
                outer[q] = header;
                from = q;
            }
            for (uint32_t e = 0; e < x->blocks.at[from].npreds; e++)
                stack[depth++] = x->predecessors[x->blocks.at[from].first_pred + e];
        }
    }
    for (uint32_t j = 0; j < x->nrpo; j++) {
        pl_ir_block *b = &x->blocks.at[x->rpo[j]];
        b->parent_loop = b->nlatches ? outer[x->rpo[j]] : PL_IR_NONE;
        b->loop_depth = 0;
        if (b->loop == x->rpo[j])
            b->loop_depth =
                1 + (b->parent_loop == PL_IR_NONE ? 0 : x->blocks.at[b->parent_loop].loop_depth);
        else if (b->loop != PL_IR_NONE)
            b->loop_depth = x->blocks.at[b->loop].loop_depth;
    }
}

/* Working memory is retained across calls. */
static bool reserve_graph(pl_ir *x, size_t edges)
{
    size_t n = x->blocks.n + 1;
    if (n > x->block_capacity) {
        x->block_capacity = n + n / 2;
        x->rpo = pl_arena_array(x->a, uint32_t, x->block_capacity);
        x->edge = pl_arena_array(x->a, uint32_t, x->block_capacity);
    }
    if (2 * edges + n > x->edge_capacity) {
        x->edge_capacity = 2 * edges + n + n / 2;
        x->stack = pl_arena_array(x->a, uint32_t, x->edge_capacity);
        x->predecessors = pl_arena_array(x->a, uint32_t, x->edge_capacity);
    }
    return x->rpo && x->edge && x->stack && x->predecessors && pl_arena_ok(x->a);
}

static void record_edge(pl_ir *x, size_t at, uint32_t to, bool *unchanged)
{
    if (at == x->edges.n) {
        *unchanged = false;
        pl_push(x->a, &x->edges);
    }
    *unchanged &= x->edges.at[at] == to;
    x->edges.at[at] = to;
}

/* Lists the edges, and returns their count. *unchanged: they equal the edges of the previous call.
 * Passes request the graph far more often than they change it. */
static size_t list_edges(pl_ir *x, bool *unchanged)
{
    size_t at = 0;
    *unchanged = true;
    for (uint32_t k = 0; k < x->blocks.n; k++) {
        const pl_insn *i = pl_ir_branch(x, k);
        if (i && pl_insn_is_table(i))
            for (uint32_t t = 0; t < i->nextra; t++)
                record_edge(x, at++, x->p->pool.at[i->extra_ops + t], unchanged);
        else if (i)
            record_edge(x, at++, i->target, unchanged);
        if (x->blocks.at[k].fallthrough != PL_IR_NONE)
            record_edge(x, at++, x->blocks.at[k].fallthrough, unchanged);
        record_edge(x, at++, PL_IR_NONE, unchanged);
    }
    *unchanged &= at == x->edges.n;
    x->edges.n = at;
    return at - x->blocks.n;
}

bool pl_ir_graph(pl_ir *x)
{
    size_t n = x->blocks.n;
    bool unchanged;
    if (!n || !reserve_graph(x, list_edges(x, &unchanged))) return false;
    if (unchanged) return true;
    for (size_t k = 0; k < n; k++) {
        pl_ir_block *b = &x->blocks.at[k];
        b->rpo_index = b->idom = b->loop = b->loop_depth = PL_IR_NONE;
        b->npreds = b->nlatches = b->dom_pre = b->dom_size = 0;
    }
    memset(x->edge, 0, n * sizeof *x->edge);
    postorder(x, x->stack, x->edge);
    for (uint32_t j = 0; j < x->nrpo; j++)
        for (uint32_t s = 0, m = pl_ir_successors(x, x->rpo[j]); s < m; s++)
            x->blocks.at[pl_ir_successor(x, x->rpo[j], s)].npreds++;
    uint32_t at = 0;
    for (size_t k = 0; k < n; k++) {
        x->blocks.at[k].first_pred = at;
        at += x->blocks.at[k].npreds;
        x->blocks.at[k].npreds = 0;
    }
    for (uint32_t j = 0; j < x->nrpo; j++)
        for (uint32_t s = 0, m = pl_ir_successors(x, x->rpo[j]); s < m; s++) {
            pl_ir_block *b = &x->blocks.at[pl_ir_successor(x, x->rpo[j], s)];
            x->predecessors[b->first_pred + b->npreds++] = x->rpo[j];
        }
    dominators(x, x->edge, x->stack, x->stack + n); /* each reachable block has an edge */
    number_tree(x, x->stack);
    loops(x, x->stack, x->edge);
    return true;
}
