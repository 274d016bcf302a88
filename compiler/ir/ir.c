/* ir.c - the block graph of a function; see ir.h.
 *
 * Dominators: Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", 2001. Loops are the
 * natural loops of back edges whose header dominates the tail; a block belongs to the innermost
 * one.
 */
#include "compiler/ir/ir.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/analysis/loop_carried.h"
#include "isa/program/operand_plan.h"
#include "isa/program/canonicalize.h"

static bool is_end(const pl_insn *i)
{
    return (pl_insn_effects(i) & PL_EF_EXIT) ||
           ((pl_insn_effects(i) & PL_EF_BRANCH) && !pl_forms[i->form].noperands);
}

/* ---- from code to blocks ---- */

static pl_ir_block empty_block(pl_insn *code)
{
    return (pl_ir_block){.code = {.at = code},
                         .fallthrough = PL_IR_NONE,
                         .rpo_index = PL_IR_NONE,
                         .idom = PL_IR_NONE,
                         .loop = PL_IR_NONE};
}

static bool make_blocks(pl_ir *x)
{
    const pl_insn *code = x->p->code.at + x->f->first;
    uint32_t first = x->f->first, count_reads_writes = x->f->count, nblocks = 0;
    uint8_t *leader = pl_arena_array(x->tmp, uint8_t, count_reads_writes + 1);
    uint32_t *of = pl_arena_array(x->tmp, uint32_t, count_reads_writes + 1);
    if (!leader || !of) return false;
    leader[0] = 1;
    for (uint32_t k = 0; k < count_reads_writes; k++) {
        if (pl_insn_is_table(&code[k]))
            for (uint32_t t = 0; t < code[k].nextra; t++)
                leader[x->p->pool.at[code[k].extra_ops + t] - first] = 1;
        else if (pl_insn_is_jump(&code[k]))
            leader[code[k].target - first] = 1;
        if (pl_insn_is_jump(&code[k]) || is_end(&code[k])) leader[k + 1] = 1;
    }
    for (uint32_t k = 0; k <= count_reads_writes; k++) {
        nblocks += leader[k] && k < count_reads_writes;
        of[k] = nblocks - 1;
    }
    x->blocks.at = pl_arena_array(x->a, pl_ir_block, nblocks);
    x->blocks.n = x->blocks.cap = nblocks;
    pl_insn *copy = pl_arena_copy(x->a, code, count_reads_writes * sizeof *copy);
    if (!x->blocks.at || !copy) return false;
    for (uint32_t k = 0; k < count_reads_writes; k++) {
        pl_ir_block *b = &x->blocks.at[of[k]];
        pl_insn *i = &copy[k];
        if (leader[k]) *b = empty_block(i);
        b->code.cap = ++b->code.n; /* a block that grows moves away */
        if (pl_insn_is_table(i))
            for (uint32_t t = 0; t < i->nextra; t++)
                x->p->pool.at[i->extra_ops + t] = of[x->p->pool.at[i->extra_ops + t] - first];
        else if (pl_insn_is_jump(i)) {
            i->flags |= (uint16_t)(code[i->target - first].flags &
                                   PL_IF_NOUNROLL); /* the loop's first instruction may go */
            i->target = of[i->target - first];
        }
        if (leader[k + 1]) {
            bool falls = (!pl_insn_is_jump(i) && !is_end(i)) || i->guard != PL_PT;
            b->fallthrough = falls && k + 1 < count_reads_writes ? of[k + 1] : PL_IR_NONE;
        }
    }
    return pl_arena_ok(x->a);
}

pl_status pl_ir_open(pl_ir *x, pl_program *p, pl_prog_func *f, uint32_t sink, pl_arena *scratch,
                     pl_arena *tmp)
{
    *x = (pl_ir){.p = p,
                 .f = f,
                 .a = scratch,
                 .tmp = tmp,
                 .discard_reg = sink < f->rows ? sink : PL_IR_NONE};
    x->kind.n = x->init.n = f->rows;
    x->kind.cap = x->init.cap = f->rows + 64;
    x->kind.at = pl_arena_array(scratch, uint8_t, x->kind.cap);
    x->init.at = pl_arena_array(scratch, uint32_t, x->init.cap);
    if (!x->kind.at || !x->init.at) return PL_NOMEM;
    for (uint32_t r = 0; r < f->rows; r++) {
        x->kind.at[r] = (uint8_t)(r - sink < 4 ? PL_REG_DISCARD : PL_REG_VIRTUAL);
        x->init.at[r] = PL_IR_NONE;
    }
    for (size_t k = 0; k < f->init.n; k++)
        for (unsigned r = 0; r < f->init.at[k].width / 32u; r++) {
            x->kind.at[f->init.at[k].row + r] = PL_REG_PRESET;
            x->init.at[f->init.at[k].row + r] = (uint32_t)k;
        }
    return make_blocks(x) ? PL_OK : PL_NOMEM;
}

/* ---- back ---- */

typedef struct renumber {
    pl_ir *x;
    uint8_t *used;
    uint32_t *to, *pred_to;
    uint8_t *pred_used;
} renumber;

static void mark(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    renumber *n = ctx;
    if (use & PL_USE_PRED) n->pred_used[*row] = 1;
    for (unsigned k = 0; !(use & PL_USE_PRED) && k < rows; k++) n->used[*row + k] = 1;
}

static void apply(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    renumber *n = ctx;
    (void)rows;
    *row = use & PL_USE_PRED ? n->pred_to[*row] : n->to[*row];
}

static void interface(pl_ir *x, pl_use_fn *fn, void *ctx)
{
    pl_prog_func *f = x->f;
    for (size_t k = 0; k < f->formal.n; k++)
        if (f->formal.at[k].reg)
            fn(ctx, &f->formal.at[k].to, f->formal.at[k].bytes > 4 ? 2 : 1,
               PL_USE_WRITE | (f->formal.at[k].pred ? PL_USE_PRED : 0));
    for (size_t k = 0; k < f->result.n; k++)
        if (f->result.at[k].reg)
            fn(ctx, &f->result.at[k].from, f->result.at[k].bytes > 4 ? 2 : 1,
               PL_USE_READ | (f->result.at[k].pred ? PL_USE_PRED : 0));
}

static inline void every_instruction(pl_ir *x, pl_use_fn *fn, void *ctx)
{
    for (size_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++)
            if (x->blocks.at[b].code.at[k].form != PL_IR_DEAD)
                pl_insn_uses_here(x->p, &x->blocks.at[b].code.at[k], fn, ctx);
}

/* Registers first, then the rows that a frame starts with; what nobody uses disappears. */
static bool compact(pl_ir *x, uint32_t *fixed)
{
    pl_prog_func *f = x->f;
    uint32_t rows = f->rows, n = 0, preds = 0;
    renumber r = {.x = x,
                  .used = pl_arena_array(x->tmp, uint8_t, rows + 4),
                  .to = pl_arena_array(x->tmp, uint32_t, rows + 4),
                  .pred_to = pl_arena_array(x->tmp, uint32_t, f->preds + 1),
                  .pred_used = pl_arena_array(x->tmp, uint8_t, f->preds + 1)};
    if (!pl_ir_ok(x)) return false;
    r.pred_used[PL_PT] = r.pred_used[PL_PF] = 1;
    every_instruction(x, mark, &r);
    interface(x, mark, &r);
    for (size_t k = 0; k < f->init.n; k++) /* both rows of a pair stay together */
        for (unsigned w = 1; w < f->init.at[k].width / 32u; w++)
            r.used[f->init.at[k].row] |= r.used[f->init.at[k].row + w],
                r.used[f->init.at[k].row + w] |= r.used[f->init.at[k].row];
    for (int kind = PL_REG_VIRTUAL; kind <= PL_REG_DISCARD; kind++) {
        for (uint32_t k = 0; k < rows; k++)
            if (x->kind.at[k] == kind && (r.used[k] || kind == PL_REG_DISCARD)) r.to[k] = n++;
        if (kind == PL_REG_VIRTUAL) {
            n = (n + 1u) & ~1u;
            *fixed = n;
        }
    }
    f->rows = (n + 1u) & ~1u;
    for (uint32_t k = 0; k < f->preds; k++) r.pred_to[k] = r.pred_used[k] ? preds++ : 0;
    f->preds = preds;
    every_instruction(x, apply, &r);
    interface(x, apply, &r);
    size_t m = 0;
    for (size_t k = 0; k < f->init.n; k++)
        if (r.used[f->init.at[k].row]) {
            f->init.at[m] = f->init.at[k];
            f->init.at[m].row = r.to[f->init.at[k].row];
            m++;
        }
    f->init.n = m;
    return true;
}

/* Order of the blocks in the code: as numbered, but each block is followed by its `next` where that
 * one is still free. */
static uint32_t *layout(pl_ir *x, uint32_t *count_reads_writes)
{
    uint32_t *order = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1), n = 0;
    uint8_t *done = pl_arena_array(x->tmp, uint8_t, x->blocks.n + 1);
    if (!pl_ir_ok(x)) return NULL;
    for (uint32_t k = 0; k < x->blocks.n; k++) {
        uint32_t b = k;
        while (b != PL_IR_NONE && !done[b] && x->blocks.at[b].rpo_index != PL_IR_NONE) {
            done[b] = 1;
            order[n++] = b;
            b = x->blocks.at[b].fallthrough;
        }
    }
    *count_reads_writes = n;
    return order;
}

/* Where control goes on from a block that does nothing. */
static uint32_t beyond_empty(const pl_ir *x, uint32_t b)
{
    for (size_t steps = 0; steps < x->blocks.n; steps++) {
        const pl_ir_block *k = &x->blocks.at[b];
        const pl_insn *i = k->code.n == 1 ? pl_ir_branch(x, b) : NULL;
        if (i && i->guard == PL_PT && !pl_insn_is_table(i))
            b = i->target;
        else if (!k->code.n && k->fallthrough != PL_IR_NONE)
            b = k->fallthrough;
        else
            break;
    }
    return b;
}

/* Branches go there: what falls into the block may have to jump from it. Has one changed? */
static bool pass_empty_blocks(pl_ir *x)
{
    bool any = false;
    for (uint32_t b = 0; b < x->blocks.n; b++) {
        pl_insn *i = x->blocks.at[b].rpo_index != PL_IR_NONE ? pl_ir_branch(x, b) : NULL;
        if (!i || pl_insn_is_table(i) || x->blocks.at[i->target].rpo_index == PL_IR_NONE) continue;
        const uint32_t target = beyond_empty(x, i->target);
        any |= target != i->target;
        i->target = target;
    }
    return any;
}

pl_status pl_ir_close(pl_ir *x, uint32_t *fixed)
{
    pl_program *p = x->p;
    pl_prog_func *f = x->f;
    pl_ir_sweep(x);
    if (!pl_ir_graph(x) || !compact(x, fixed)) return PL_NOMEM;
    if (pass_empty_blocks(x) && !pl_ir_graph(x)) return PL_NOMEM;
    uint32_t n = 0, *order = layout(x, &n),
             *start = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1);
    static const pl_word uni[] = {W_uni};
    if (!order || !start) return PL_NOMEM;
    p->code.n = f->first;
    size_t most = p->code.n + n; /* a jump for each block */
    for (uint32_t k = 0; k < n; k++) most += x->blocks.at[order[k]].code.n;
    if (most > p->code.cap)
        pl_reserve(p->arena, &p->code, most > 2 * p->code.cap ? most : 2 * p->code.cap);
    if (!pl_arena_ok(p->arena)) return PL_NOMEM;
    uint32_t line = x->blocks.n && x->blocks.at[0].code.n ? x->blocks.at[0].code.at[0].line : 0;
    for (uint32_t k = 0; k < n; k++) {
        pl_ir_block *b = &x->blocks.at[order[k]];
        const pl_insn *last = pl_ir_branch(x, order[k]);
        start[order[k]] = (uint32_t)p->code.n;
        if (last && last->guard == PL_PT && !pl_insn_is_table(last) && k + 1 < n &&
            last->target == order[k + 1]) { /* comes next anyhow */
            b->fallthrough = last->target;
            b->code.n--;
        }
        if (b->code.n) {
            memcpy(p->code.at + p->code.n, b->code.at, b->code.n * sizeof *b->code.at);
            p->code.n += b->code.n;
            line = b->code.at[b->code.n - 1].line;
        }
        if (b->fallthrough != PL_IR_NONE && (k + 1 == n || order[k + 1] != b->fallthrough)) {
            pl_insn jump = {.line = line};
            pl_insn_make(&jump, M_bra, 1, uni, 1);
            jump.target = b->fallthrough;
            *pl_push(p->arena, &p->code) = jump;
        }
        if (!pl_arena_ok(p->arena)) return PL_NOMEM;
    }
    f->count = (uint32_t)p->code.n - f->first;
    for (uint32_t k = 0; k < f->count; k++) {
        pl_insn *i = &p->code.at[f->first + k];
        if (pl_insn_is_table(i))
            for (uint32_t t = 0; t < i->nextra; t++)
                p->pool.at[i->extra_ops + t] = start[p->pool.at[i->extra_ops + t]];
        else if (pl_insn_is_jump(i))
            i->target = start[i->target];
    }
    return PL_OK;
}

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

static void dominators(pl_ir *x)
{
    bool changed = true;
    x->blocks.at[0].idom = 0;
    while (changed) {
        changed = false;
        for (uint32_t j = 1; j < x->nrpo; j++) {
            pl_ir_block *b = &x->blocks.at[x->rpo[j]];
            uint32_t best = PL_IR_NONE;
            for (uint32_t e = 0; e < b->npreds; e++) {
                uint32_t q = x->predecessors[b->first_pred + e];
                if (x->blocks.at[q].idom == PL_IR_NONE) continue;
                if (best == PL_IR_NONE) {
                    best = q;
                    continue;
                }
                while (q != best) {
                    while (x->blocks.at[q].rpo_index > x->blocks.at[best].rpo_index)
                        q = x->blocks.at[q].idom;
                    while (x->blocks.at[best].rpo_index > x->blocks.at[q].rpo_index)
                        best = x->blocks.at[best].idom;
                }
            }
            changed |= b->idom != best;
            b->idom = best;
        }
    }
}

/* A block's subtree of the dominator tree follows it in the walk; `next` is, by block, the first
 * free position among its children. */
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

/* The natural loop of each header, inner headers first, so that a block keeps the innermost one.
 * `outer` is, by header, the loop around it. */
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

/* Working memory is kept from call to call. */
static bool graph_room(pl_ir *x, size_t edges)
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

static void note_edge(pl_ir *x, size_t at, uint32_t to, bool *same)
{
    if (at == x->edges.n) {
        *same = false;
        pl_push(x->a, &x->edges);
    }
    *same &= x->edges.at[at] == to;
    x->edges.at[at] = to;
}

/* Lists the edges, and returns how many there are; *same: they are those of the last time. Passes
 * ask for the graph far more often than they change it. */
static size_t list_edges(pl_ir *x, bool *same)
{
    size_t at = 0;
    *same = true;
    for (uint32_t k = 0; k < x->blocks.n; k++) {
        const pl_insn *i = pl_ir_branch(x, k);
        if (i && pl_insn_is_table(i))
            for (uint32_t t = 0; t < i->nextra; t++)
                note_edge(x, at++, x->p->pool.at[i->extra_ops + t], same);
        else if (i)
            note_edge(x, at++, i->target, same);
        if (x->blocks.at[k].fallthrough != PL_IR_NONE)
            note_edge(x, at++, x->blocks.at[k].fallthrough, same);
        note_edge(x, at++, PL_IR_NONE, same);
    }
    *same &= at == x->edges.n;
    x->edges.n = at;
    return at - x->blocks.n;
}

bool pl_ir_graph(pl_ir *x)
{
    size_t n = x->blocks.n;
    bool same;
    if (!n || !graph_room(x, list_edges(x, &same))) return false;
    if (same) return true;
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
    dominators(x);
    number_tree(x, x->stack);
    loops(x, x->stack, x->edge);
    return true;
}

/* ---- rows ---- */

typedef struct counting {
    pl_ir *x;
    uint32_t block, at;
    bool reachable, guarded; /* the block; the instruction */
    pl_exposed_regs early;
} counting;

/* Is the register written on every path to this read, as far as it is known to be written? Where it
 * is not, and that is its only write, pl_find_carried looks closer. */
static inline bool is_written(const counting *c, const pl_ir_reg *r)
{
    if (r->ndefs != 1 || r->def_block == PL_IR_NONE) return r->ndefs != 0;
    if (!pl_ir_dominates(c->x, r->def_block, c->block)) return false;
    if (!r->predicated || !c->x->has_loops) return true;
    const pl_insn *w = &c->x->blocks.at[r->def_block].code.at[r->def_index];
    const pl_insn *i = &c->x->blocks.at[c->block].code.at[c->at];
    const pl_ir_reg *guard = &c->x->preds[w->guard];
    return r->def_block == c->block && i->guard == w->guard &&
           !((i->flags ^ w->flags) & PL_IF_GUARD_NEG) &&
           (guard->def_block != c->block || guard->def_index < r->def_index);
}

static inline void count_read(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    counting *c = ctx;
    const bool pred = (use & PL_USE_PRED) != 0;
    pl_ir_reg *r = (pred ? c->x->preds : c->x->regs) + *row;
    for (unsigned k = 0; k < rows; k++) {
        r[k].nuses++;
        if (c->reachable && !r[k].exposed && !is_written(c, &r[k])) {
            *pl_push(c->x->tmp, &c->early) = (pl_exposed_reg){*row + k, pred};
            r[k].exposed = (uint32_t)c->early.n;
        }
    }
}

static inline void count_write(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    counting *c = ctx;
    pl_ir_reg *r = (use & PL_USE_PRED ? c->x->preds : c->x->regs) + *row, *last = r + rows - 1;
    for (;; r++) {
        r->ndefs++;
        r->def_block = c->block;
        r->def_index = c->at;
        r->width = (uint8_t)rows;
        r->predicated = c->guarded;
        if (r == last) return;
    }
}

static void pin(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    pl_ir *x = ctx;
    bool pred = (use & PL_USE_PRED) != 0;
    for (unsigned k = 0; k < (pred ? 1 : rows); k++) {
        pl_ir_reg *r = &(pred ? x->preds : x->regs)[*row + k];
        r->precolored = true;
        r->ndefs += 2; /* never taken for a value */
        r->nuses += 2;
    }
}

static bool row_room(pl_ir *x, size_t rows, size_t preds)
{
    if (rows > x->reg_capacity) {
        x->reg_capacity = rows + rows / 2;
        x->regs = pl_arena_array(x->a, pl_ir_reg, x->reg_capacity);
    }
    if (preds > x->pred_capacity) {
        x->pred_capacity = preds + preds / 2;
        x->preds = pl_arena_array(x->a, pl_ir_reg, x->pred_capacity);
    }
    return x->regs && x->preds && pl_arena_ok(x->a);
}

/* Rows from `first` on that nothing is known of yet. */
static void describe(pl_ir *x, uint32_t first)
{
    static const uint8_t defs[] = {[PL_REG_VIRTUAL] = 0, [PL_REG_PRESET] = 1, [PL_REG_DISCARD] = 2};
    uint32_t rows = x->f->rows;
    for (uint32_t r = first; r < rows; r++)
        x->regs[r] = (pl_ir_reg){.kind = x->kind.at[r],
                                 .init = x->init.at[r],
                                 .def_block = PL_IR_NONE,
                                 .ndefs = defs[x->kind.at[r]]};
    x->nregs_described = rows;
}

bool pl_ir_extend_reg_info(pl_ir *x)
{
    const pl_ir_reg *old = x->regs;
    if (!row_room(x, x->f->rows + 4, 0)) return false;
    if (x->regs != old) memcpy(x->regs, old, x->nregs_described * sizeof *old);
    describe(x, x->nregs_described);
    return true;
}

static inline void note_place(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    counting *c = ctx;
    pl_ir_reg *r = (use & PL_USE_PRED ? c->x->preds : c->x->regs) + *row;
    for (unsigned k = 0; k < rows; k++) {
        r[k].def_block = c->block;
        r[k].def_index = c->at;
    }
}

/* Where each row is written last. */
static void find_places(pl_ir *x)
{
    counting c = {.x = x};
    for (; c.block < x->blocks.n; c.block++) {
        const pl_ir_block *b = &x->blocks.at[c.block];
        for (c.at = 0; c.at < b->code.n; c.at++)
            if (b->code.at[c.at].form != PL_IR_DEAD)
                pl_insn_writes_here(x->p, &b->code.at[c.at], note_place, &c);
    }
}

static bool count_all(pl_ir *x)
{
    counting c = {.x = x};
    for (; c.block < x->blocks.n; c.block++) {
        const pl_ir_block *b = &x->blocks.at[c.block];
        c.reachable = b->rpo_index != PL_IR_NONE;
        for (c.at = 0; c.at < b->code.n; c.at++) {
            c.guarded = b->code.at[c.at].guard != PL_PT;
            if (b->code.at[c.at].form != PL_IR_DEAD)
                pl_insn_reads_writes(x->p, &b->code.at[c.at], count_read, count_write, &c);
        }
    }
    interface(x, pin, x);
    return pl_find_carried(x, &c.early);
}

static bool count_reads_writes(pl_ir *x, bool places)
{
    pl_prog_func *f = x->f;
    bool known = x->uses_valid && f->rows + 4 <= x->reg_capacity;
    x->uses_valid = false;
    if (known) {
        describe(x, x->nregs_described);
        if (places && x->defs_stale) {
            find_places(x);
            x->defs_stale = false;
        }
        return true;
    }
    if (!row_room(x, f->rows + 4, f->preds + 1)) return false;
    describe(x, 0);
    for (uint32_t r = 0; r < f->preds; r++) x->preds[r] = (pl_ir_reg){.def_block = PL_IR_NONE};
    x->preds[PL_PT].ndefs = x->preds[PL_PF].ndefs = 1;
    x->defs_stale = false;
    return count_all(x);
}

bool pl_ir_count(pl_ir *x)
{
    return count_reads_writes(x, true);
}

bool pl_ir_uses(pl_ir *x)
{
    return count_reads_writes(x, false);
}

bool pl_ir_analyze(pl_ir *x)
{
    pl_ir_sweep(x);
    return pl_ir_graph(x) && pl_ir_count(x);
}

typedef struct readers {
    uint32_t row, n;
} readers;

static void count_if_same(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    readers *r = ctx;
    (void)rows;
    r->n += !(use & PL_USE_PRED) && *row == r->row;
}

uint32_t pl_ir_reads(const pl_ir *x, pl_insn *i, uint32_t row)
{
    readers r = {row, 0};
    pl_insn_reads_here(x->p, i, count_if_same, &r);
    return r.n;
}

void pl_ir_sweep(pl_ir *x)
{
    for (size_t b = 0; b < x->blocks.n && x->has_dead; b++) {
        pl_ir_block *k = &x->blocks.at[b];
        size_t n = 0;
        while (n < k->code.n && k->code.at[n].form != PL_IR_DEAD) n++;
        x->uses_valid &= n == k->code.n;
        for (size_t c = n; c < k->code.n; c++)
            if (k->code.at[c].form != PL_IR_DEAD) k->code.at[n++] = k->code.at[c];
        k->code.n = n;
    }
    x->has_dead = false;
}

uint32_t pl_ir_new(pl_ir *x, unsigned rows)
{
    uint32_t row = x->f->rows;
    for (unsigned k = 0; k < rows; k++) {
        *pl_push(x->a, &x->kind) = PL_REG_VIRTUAL;
        *pl_push(x->a, &x->init) = PL_IR_NONE;
    }
    x->f->rows += rows;
    return row;
}

uint32_t pl_ir_new_pred(pl_ir *x)
{
    return x->f->preds++;
}

/* A row that is filled with `what` when the frame starts. */
static uint32_t add_init(pl_ir *x, pl_frame_init what)
{
    const unsigned rows = what.width / 32u;
    what.row = pl_ir_new(x, rows);
    if (!pl_ir_ok(x)) return what.row;
    for (unsigned k = 0; k < rows; k++) {
        x->kind.at[what.row + k] = PL_REG_PRESET;
        x->init.at[what.row + k] = (uint32_t)x->f->init.n;
    }
    *pl_push(x->p->arena, &x->f->init) = what;
    return what.row;
}

uint32_t pl_ir_constant(pl_ir *x, uint64_t bits, unsigned width)
{
    const pl_prog_func *f = x->f;
    if (width == 32) bits = (uint32_t)bits;
    for (size_t k = f->init.n, tries = 0; k-- > 0 && tries < 256; tries++) {
        const pl_frame_init *i = &f->init.at[k];
        if (i->bits == bits && i->width == width && !i->sreg && !i->reloc) return i->row;
    }
    return add_init(x, (pl_frame_init){.width = (uint16_t)width, .bits = bits});
}

uint32_t pl_ir_frame(pl_ir *x)
{
    const pl_prog_func *f = x->f;
    for (size_t k = 0; k < f->init.n; k++)
        if (f->init.at[k].reloc == PL_RELOC_FRAME && !f->init.at[k].bits &&
            f->init.at[k].width == 64)
            return f->init.at[k].row;
    return add_init(x, (pl_frame_init){.width = 64, .reloc = PL_RELOC_FRAME});
}

uint32_t pl_ir_sreg(pl_ir *x, pl_word sreg)
{
    const pl_prog_func *f = x->f;
    for (size_t k = 0; k < f->init.n; k++)
        if (f->init.at[k].sreg == sreg && !f->init.at[k].sel && f->init.at[k].width == 32)
            return f->init.at[k].row;
    return add_init(x, (pl_frame_init){.width = 32, .sreg = (uint16_t)sreg});
}

bool pl_ir_available_at(const pl_ir *x, uint32_t row, uint32_t block)
{
    if (row == UINT32_MAX || x->kind.at[row] == PL_REG_PRESET) return true;
    const pl_ir_reg *r = row < x->nregs_described ? &x->regs[row] : NULL;
    return r && r->ndefs == 1 &&
           (r->def_block == PL_IR_NONE || pl_ir_dominates(x, r->def_block, block));
}

bool pl_ir_pred_available_at(const pl_ir *x, uint32_t pred, uint32_t block)
{
    const pl_ir_reg *p = &x->preds[pred];
    return pred <= PL_PF || (p->ndefs == 1 && (p->def_block == PL_IR_NONE ||
                                               pl_ir_dominates(x, p->def_block, block)));
}

uint32_t pl_ir_hoist_block(const pl_ir *x, uint32_t block, uint32_t a, uint32_t b)
{
    while (x->blocks.at[block].loop != PL_IR_NONE) {
        const uint32_t header = x->blocks.at[block].loop, up = x->blocks.at[header].idom;
        if (up == header || !pl_ir_available_at(x, a, up) || !pl_ir_available_at(x, b, up)) break;
        block = up;
    }
    return block;
}

/* ---- editing ---- */

pl_insn pl_ir_clone(pl_ir *x, const pl_insn *i)
{
    pl_insn c = *i;
    if (c.nextra) {
        c.extra_ops = (uint32_t)x->p->pool.n;
        for (uint32_t k = 0; k < c.nextra; k++) {
            uint32_t v = x->p->pool.at[i->extra_ops + k];
            *pl_push(x->p->arena, &x->p->pool) = v;
        }
    }
    return c;
}

static pl_insn *empty(pl_insn *i)
{
    *i = (pl_insn){.guard = PL_PT, .reconv = UINT32_MAX};
    for (int k = 0; k < PL_INLINE_OPERANDS; k++) i->op[k] = UINT32_MAX;
    return i;
}

pl_insn *pl_ir_insert(pl_ir *x, uint32_t block, size_t at)
{
    pl_ir_block *b = &x->blocks.at[block];
    x->uses_valid = false;
    pl_push(x->a, &b->code);
    if (!pl_arena_ok(x->a)) return NULL;
    memmove(b->code.at + at + 1, b->code.at + at, (b->code.n - 1 - at) * sizeof *b->code.at);
    return empty(&b->code.at[at]);
}

pl_insn *pl_ir_append(pl_ir *x, uint32_t block, uint32_t line)
{
    pl_insn *i = pl_ir_insert(x, block, x->blocks.at[block].code.n);
    if (i) i->line = line;
    return i;
}

uint32_t pl_ir_compare(pl_ir *x, uint32_t block, uint32_t line, pl_word cmp, pl_word type,
                       uint32_t a, uint32_t b, uint32_t also)
{
    pl_insn *i = pl_ir_append(x, block, line);
    uint32_t p = pl_ir_new_pred(x);
    if (!i) return p;
    if (also == PL_PT)
        pl_insn_make(i, M_setp, 4, (pl_word[]){cmp, type}, 2);
    else {
        pl_insn_make(i, M_setp, 5, (pl_word[]){cmp, W_and, type}, 3);
        i->op[4] = also;
    }
    i->op[0] = p;
    i->op[2] = a;
    i->op[3] = b;
    return p;
}

void pl_ir_jump(pl_ir *x, uint32_t block, uint32_t line, uint32_t guard, bool negated,
                uint32_t target)
{
    pl_insn *i = pl_ir_append(x, block, line);
    if (!i || !pl_insn_make(i, M_bra, 1, NULL, 0)) return;
    i->guard = guard;
    i->flags |= (uint16_t)(negated ? PL_IF_GUARD_NEG : 0);
    i->target = target;
}

/* An instruction that will stand before position `at`. */
typedef struct pl_ir_added {
    uint32_t block, at, number;
    pl_insn i;
} pl_ir_added;

pl_insn *pl_ir_insert_deferred(pl_ir *x, uint32_t block, size_t at)
{
    x->uses_valid = false;
    uint32_t number = (uint32_t)x->pending_inserts.n;
    pl_ir_added *a = pl_push(x->tmp, &x->pending_inserts);
    a->block = block;
    a->at = (uint32_t)at;
    a->number = number;
    return pl_arena_ok(x->tmp) ? empty(&a->i) : NULL;
}

static int by_place(const void *a, const void *b)
{
    const pl_ir_added *x = a, *y = b;
    if (x->block != y->block) return x->block < y->block ? -1 : 1;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Block by block, from the end: each instruction moves once. */
bool pl_ir_flush_inserts(pl_ir *x)
{
    pl_ir_added *a = x->pending_inserts.at;
    size_t n = x->pending_inserts.n;
    bool ordered = true;
    for (size_t k = 1; k < n && ordered; k++) ordered = by_place(&a[k - 1], &a[k]) < 0;
    if (!ordered) qsort(a, n, sizeof *a, by_place);
    for (size_t k = 0, end; k < n && pl_ir_ok(x); k = end) {
        pl_ir_block *b = &x->blocks.at[a[k].block];
        size_t old = b->code.n;
        for (end = k; end < n && a[end].block == a[k].block; end++) pl_push(x->a, &b->code);
        if (!pl_arena_ok(x->a)) return false;
        for (size_t from = old, to = b->code.n, next = end; next > k;) {
            next--;
            size_t moved = from - a[next].at;
            to -= moved;
            from -= moved;
            memmove(b->code.at + to, b->code.at + from, moved * sizeof *b->code.at);
            b->code.at[--to] = a[next].i;
        }
    }
    x->pending_inserts.at = NULL; /* tmp goes with the pass */
    x->pending_inserts.n = x->pending_inserts.cap = 0;
    return pl_ir_ok(x);
}

bool pl_ir_finish_inserts(pl_ir *x, bool any)
{
    if (!any) {
        pl_ir_preserve_all(x);
        return pl_ir_ok(x);
    }
    const bool settled = pl_ir_flush_inserts(x);
    pl_ir_sweep(x);
    return settled && pl_ir_ok(x);
}

void pl_ir_redirect(pl_ir *x, uint32_t from, uint32_t to, uint32_t instead)
{
    pl_insn *branch = pl_ir_branch(x, from);
    if (x->blocks.at[from].fallthrough == to) x->blocks.at[from].fallthrough = instead;
    if (!branch) return;
    if (!pl_insn_is_table(branch)) {
        branch->target = branch->target == to ? instead : branch->target;
        return;
    }
    for (uint32_t k = 0; k < branch->nextra; k++)
        if (x->p->pool.at[branch->extra_ops + k] == to)
            x->p->pool.at[branch->extra_ops + k] = instead;
}

uint32_t pl_ir_new_block(pl_ir *x)
{
    *pl_push(x->a, &x->blocks) = empty_block(NULL);
    return (uint32_t)x->blocks.n - 1;
}

uint32_t pl_ir_preheader(pl_ir *x, uint32_t header)
{
    const uint32_t idom = x->blocks.at[header].idom;
    if (pl_ir_successors(x, idom) == 1 && !pl_ir_branch(x, idom)) return idom;
    const uint32_t front = pl_ir_new_block(x);
    if (!pl_ir_ok(x)) return PL_IR_NONE;
    x->blocks.at[front].fallthrough = header;
    for (uint32_t k = 0; k < x->blocks.at[header].npreds; k++) {
        const uint32_t from = x->predecessors[x->blocks.at[header].first_pred + k];
        if (!pl_ir_in_loop(x, from, header)) pl_ir_redirect(x, from, header, front);
    }
    return front;
}

bool pl_insn_make(pl_insn *i, uint16_t mnem, unsigned noperands, const pl_word *words, unsigned n)
{
    for (unsigned v = 0; v < pl_mnems[mnem].count; v++) {
        uint16_t form = (uint16_t)(pl_mnems[mnem].first + v), mods[PL_MAX_MODS] = {0};
        const pl_form *f = &pl_forms[form];
        unsigned left = n;
        bool taken[PL_MAX_MODS] = {false}, ok = f->noperands == noperands && !f->unsupported;
        for (unsigned k = 0; k < f->nslots && ok; k++) {
            for (unsigned w = 0; w < n && !mods[k]; w++)
                for (unsigned c = 0; c < f->slot[k].n && !taken[w] && !mods[k]; c++)
                    if (f->slot[k].word[c] == words[w]) {
                        mods[k] = (uint16_t)words[w];
                        taken[w] = true;
                        left--;
                    }
            ok = mods[k] || f->slot[k].optional;
        }
        for (unsigned k = 0; k < f->nwhere && ok && !left; k++)
            ok = !f->where[k].holds || f->where[k].holds(mods);
        if (!ok || left) continue;
        i->form = form;
        memcpy(i->mods, mods, sizeof i->mods);
        pl_insn_finish(i);
        if (mnem == M_bra) {
            i->guard = PL_PT;
            i->reconv = UINT32_MAX;
            for (int k = 0; k < PL_INLINE_OPERANDS; k++) i->op[k] = UINT32_MAX;
        }
        return true;
    }
    return false;
}
