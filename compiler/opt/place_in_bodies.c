/* place_in_bodies.c - constant loads of predicated bodies, and the shared memory window. */
#include "compiler/opt/place_constant_loads.h"

#include <string.h>

/* ---- predicated bodies, and the shared memory window ---- */

typedef struct window_use {
    const pl_ir *x;
    bool any, address; /* it refers to an address in the window; as the address of an access and not
                          in a sum */
} window_use;

static window_use window_of(const pl_ir *x, pl_insn *i)
{
    window_use w = {.x = x};
    PL_FOR_EACH_USE(x->p, i, o)
        w.any |= !(o.use & PL_USE_PRED) && w.x->kind.at[*o.row] == PL_REG_PRESET &&
                 w.x->f->init.at[w.x->init.at[*o.row]].reloc == PL_RELOC_SHARED;
    if ((i->flags & PL_IF_MEM) && i->sel[PL_M_SPACE] == PL_SP_SHARED) {
        w.any |= !pl_insn_address(i);
        w.address = w.any;
    }
    return w;
}

/* A block that has loaded a value for all blocks that it dominates. */
typedef struct load_source {
    uint32_t block, next; /* next: the preceding source, plus one */
} load_source;

/* State of a constant load while blocks are visited in dominator-tree order. */
typedef struct load_state {
    /* The last part of a block where all lanes read it, and the position of the first read. */
    uint32_t part, at;
    uint32_t source; /* the nearest source, plus one */
    /* The last part where a body needed it; the body for which it is loaded in all lanes. */
    uint32_t body_part, full_part;
    uint32_t body_id, row; /* last body that loads it by itself, and the register there */
} load_state;

typedef struct predicated_bodies {
    placement *p;
    load_state *of; /* by load; after the last one: the window */
    struct {
        load_source *at;
        size_t n, cap;
    } sources;
    struct {
        uint32_t *at;
        size_t n, cap;
    } read; /* values loaded for all lanes in the current part */
    pl_insn *i;
    uint32_t block, at;
    uint32_t load_block;   /* where constant-bank words are loaded for all lanes of this block: the
                              preheader of an innermost loop, or the block itself */
    uint32_t window_block; /* likewise for the window address: before all loops */
    uint32_t *divergent_before; /* by block: the last dominating block, plus one, in a loop that
                                   does not contain this block and has divergent lanes */
    bool window_by_address;     /* an unpredicated access uses a window address directly */
    uint32_t part_id; /* number of the current part: a new one starts where some lanes exit */
    uint32_t body_id; /* number of the current predicated body */
} predicated_bodies;

static load_state *window_state(const predicated_bodies *g)
{
    return &g->of[g->p->loads.n];
}

/* The block where the value is loaded for all lanes of this block. */
static uint32_t load_block_of(const predicated_bodies *g, const load_state *k)
{
    return k == window_state(g) ? g->window_block : g->load_block;
}

/* True if it has been loaded for all lanes before this block. */
static bool is_loaded_before(const predicated_bodies *g, load_state *k)
{
    const pl_ir *x = g->p->x;
    while (k->source && !pl_ir_dominates(x, g->sources.at[k->source - 1].block, g->block))
        k->source = g->sources.at[k->source - 1].next;
    if (!k->source) return false;
    const uint32_t from = g->sources.at[k->source - 1].block;
    return k == window_state(g) ||
           x->blocks.at[g->p->available_since[g->block]].dom_pre <= x->blocks.at[from].dom_pre;
}

static void note_common_read(predicated_bodies *g, uint32_t n)
{
    load_state *k = &g->of[n];
    if (k->part == g->part_id) return;
    k->part = g->part_id;
    k->at = g->at;
    *pl_push(g->p->x->tmp, &g->read) = n;
}

/* True if the current body must load the value by itself. A uniform register is loaded for all
 * lanes: in the preheader of a loop, and the first body shares it with the unpredicated code after
 * it in its block. */
static bool needs_own_load(predicated_bodies *g, uint32_t n, bool uniform)
{
    load_state *k = &g->of[n];
    const bool any = k->part == g->part_id, loop = load_block_of(g, k) != g->block;
    if (!uniform)
        return !any && !(is_loaded_before(g, k) &&
                         (!loop || g->sources.at[k->source - 1].block == g->load_block));
    if (loop || (any && k->at < g->at) || k->full_part == g->body_id || is_loaded_before(g, k))
        return false;
    const bool first = k->body_part != g->part_id;
    k->body_part = g->part_id;
    if (!any || !first) return true;
    k->full_part = g->body_id;
    return false;
}

/* The insertion point for an instruction with the predicate of the current body: the loop preheader
 * if the predicate is not changed in between. */
static pl_insn *insert_predicated(const predicated_bodies *g, uint32_t preheader)
{
    pl_ir *x = g->p->x;
    const pl_ir_reg *r = &x->preds[g->i->guard];
    const bool in_preheader = preheader != g->block && r->ndefs == 1 &&
                              r->def_block != PL_IR_NONE &&
                              pl_ir_dominates(x, r->def_block, preheader);
    return in_preheader ? pl_ir_insert_deferred(x, preheader, pl_ir_end(x, preheader))
                        : pl_ir_insert_deferred(x, g->block, g->at);
}

static void emit_predicated(const predicated_bodies *g, const pl_insn *load)
{
    pl_insn *at = insert_predicated(g, g->load_block);
    if (!at) return;
    *at = *load;
    at->guard = g->i->guard;
    at->flags |= g->i->flags & PL_IF_GUARD_NEG;
    at->line = g->i->line;
}

static void read_in_body(predicated_bodies *g, uint32_t *row, unsigned rows, unsigned use)
{
    placement *p = g->p;
    if ((use & PL_USE_PRED) || !p->of[*row]) return;
    const uint32_t n = p->of[*row] - 1;
    const constant_load *f = &p->loads.at[n];
    if (pl_insn_mnem(&f->i) != M_ld || f->depth || f->i.op[0] != *row || f->rows != rows) return;
    const bool wide = rows == 2, loop_access = p->x->blocks.at[g->block].loop != PL_IR_NONE &&
                                               (g->i->flags & PL_IF_MEM);
    const bool uniform = wide && pl_cbank_read_kind(g->i, row) == PL_CBANK_VIA_UNIFORM;
    load_state *k = &g->of[n];
    if (k->body_id != g->body_id && (wide ? !needs_own_load(g, n, uniform) : !loop_access)) {
        if (g->load_block != g->block) note_common_read(g, n);
        return;
    }
    if (k->body_id != g->body_id) {
        pl_insn own = f->i;
        k->body_id = g->body_id;
        k->row = own.op[0] = pl_ir_new(p->x, rows);
        emit_predicated(g, &own);
    }
    *row = k->row;
}

static bool make_window(const pl_ir *x, uint32_t block, pl_insn *i)
{
    const pl_ir_block *b = &x->blocks.at[block];
    if (!i) return false;
    i->line = b->code.n ? b->code.at[0].line : 0;
    return pl_insn_make(i, M__window, 0, NULL, 0);
}

static void window_in_body(predicated_bodies *g, bool address)
{
    const uint32_t n = (uint32_t)g->p->loads.n;
    load_state *k = &g->of[n];
    const bool loop = g->window_block != g->block;
    if (k->body_id == g->body_id) return;
    if (!(loop && address) && !needs_own_load(g, n, true)) {
        if (loop) note_common_read(g, n);
        return;
    }
    pl_insn *i = insert_predicated(g, g->window_block);
    k->body_id = g->body_id;
    if (!make_window(g->p->x, g->block, i)) return;
    i->guard = g->i->guard;
    i->flags |= g->i->flags & PL_IF_GUARD_NEG;
}

/* True if its uniform register has been released in an intervening loop. */
static bool was_evicted(const predicated_bodies *g, const load_state *k)
{
    const pl_ir_block *b = g->p->x->blocks.at;
    return g->divergent_before[g->block] && b[g->sources.at[k->source - 1].block].dom_pre <=
                                                b[g->divergent_before[g->block] - 1].dom_pre;
}

/* Places the loads of predicated bodies, and the computation of the window address, for these
 * instructions of the current block. */
static void place_part(predicated_bodies *g, uint32_t from, uint32_t to)
{
    pl_ir *x = g->p->x;
    const pl_ir_block *b = &x->blocks.at[g->block];
    const uint32_t window = (uint32_t)g->p->loads.n;
    g->part_id++;
    g->read.n = 0;
    g->window_by_address = false;
    for (g->at = from; g->at < to; g->at++) {
        pl_insn *i = &b->code.at[g->at];
        if (i->form == PL_IR_DEAD || i->guard != PL_PT) continue;
        PL_FOR_EACH_READ(x->p, i, o)
            if (!(o.use & PL_USE_PRED) && g->p->of[*o.row])
                note_common_read(g, g->p->of[*o.row] - 1);
        const window_use w = window_of(x, i);
        if (x->f->entry && w.any) note_common_read(g, window);
        g->window_by_address |= w.address;
    }
    const pl_insn *last = NULL; /* the last instruction of a body that may continue */
    for (g->at = from; g->at < to; g->at++) {
        g->i = &b->code.at[g->at];
        if (g->i->form == PL_IR_DEAD) continue;
        if (g->i->guard == PL_PT) {
            last = g->i->flags & PL_IF_MEM || pl_insn_effects(g->i) ? NULL : last;
            continue;
        }
        g->body_id +=
            !last || last->guard != g->i->guard || ((last->flags ^ g->i->flags) & PL_IF_GUARD_NEG);
        last = g->i;
        PL_FOR_EACH_READ(x->p, g->i, op) read_in_body(g, op.row, op.rows, op.use);
        const window_use w = window_of(x, g->i);
        if (x->f->entry && w.any) window_in_body(g, w.address);
    }
    for (size_t k = 0; k < g->read.n; k++) {
        load_state *f = &g->of[g->read.at[k]];
        if (g->read.at[k] == window &&
            !(is_loaded_before(g, f) && !(g->window_by_address && was_evicted(g, f))))
            make_window(
                x, g->window_block,
                g->window_block == g->block
                    ? pl_ir_insert_deferred(x, g->block, from)
                    : pl_ir_insert_deferred(x, g->window_block, pl_ir_end(x, g->window_block)));
        *pl_push(x->tmp, &g->sources) = (load_source){load_block_of(g, f), f->source};
        f->source = (uint32_t)g->sources.n;
    }
}

static void visit_block(predicated_bodies *g)
{
    const pl_ir_block *b = &g->p->x->blocks.at[g->block];
    uint32_t from = 0;
    g->load_block = pl_place_load_block(g->p, g->block);
    g->window_block = pl_ir_outside_loops(g->p->x, g->block);
    for (uint32_t to = 0; to < b->code.n; to++)
        if (b->code.at[to].form != PL_IR_DEAD && b->code.at[to].guard != PL_PT &&
            (pl_insn_effects(&b->code.at[to]) & PL_EF_EXIT)) {
            place_part(g, from, to);
            from = to;
        }
    place_part(g, from, (uint32_t)b->code.n);
}

static uint32_t last_divergence(const predicated_bodies *g, uint32_t b)
{
    const pl_ir *x = g->p->x;
    const uint32_t from = x->blocks.at[b].idom;
    for (uint32_t h = x->blocks.at[from].loop; h != PL_IR_NONE && !pl_ir_in_loop(x, b, h);
         h = x->blocks.at[h].parent_loop)
        if (g->p->loop_shapes[h].may_diverge) return from + 1;
    return b == from ? 0 : g->divergent_before[from];
}

bool pl_place_loads_in_bodies(placement *p)
{
    pl_ir *x = p->x;
    predicated_bodies g = {.p = p,
                           .of = pl_arena_array(x->tmp, load_state, p->loads.n + 1),
                           .divergent_before = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1)};
    uint32_t *order = pl_arena_array(x->tmp, uint32_t, x->nrpo + 1);
    if (!g.of || !g.divergent_before || !order) return false;
    for (uint32_t j = 0; j < x->nrpo; j++) order[x->blocks.at[x->rpo[j]].dom_pre] = x->rpo[j];
    for (uint32_t j = 0; j < x->nrpo && pl_ir_ok(x); j++) {
        g.block = order[j];
        g.divergent_before[g.block] = last_divergence(&g, g.block);
        visit_block(&g);
    }
    return pl_ir_flush_inserts(x);
}
