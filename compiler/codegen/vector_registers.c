/* vector_registers.c - register tuples: places the elements of vector operands in consecutive
 * registers.
 *
 * The data of a 128-bit store, a matrix fragment and the coordinates of a texture are tuples:
 * aligned runs of consecutive registers. A value that belongs to one vector is computed in its
 * slot. A value that belongs to two, or that a wide load has written to another tuple, has to be
 * copied: a transpose of four by four takes as many moves as it has values.
 *
 * ptxas 13.0 (sm_90, 25 small kernels, 2026-11) leaves values in place if it can. If most of a
 * vector is in place and the values in the other slots are dead, only the others are copied. If
 * that needs no fewer moves than there are values, all are copied to new registers. Copies are
 * reused in the same block; loop-invariant values are not copied in the loop.
 *
 * Blocks are visited in reverse postorder. An element that is assigned to a slot stays there; each
 * slot records its current element. Values that are live in one block only leave their slot after
 * their last read; variables and values that other blocks read never do. */
#include "compiler/passes.h"
#include "isa/program/operand_plan.h"

enum { SLOTS = 8, NEVER = UINT32_MAX };

typedef struct reg_tuple {
    uint32_t slot[SLOTS]; /* the last value in it, PL_IR_NONE */
} reg_tuple;

typedef struct element {
    uint32_t tuple, slot; /* PL_IR_NONE: it has no slot */
    uint32_t from, to;   /* positions of its write and last read; 0 and NEVER if not in one block */
    uint32_t block;      /* block of its last reader; PL_IR_NONE: none so far */
    uint32_t copy;       /* its last copy, PL_IR_NONE */
    uint32_t copy_block; /* the block of that copy */
} element;

typedef struct tuple_builder {
    pl_ir *x;
    struct {
        reg_tuple *at;
        size_t n, cap;
    } tuples;
    struct {
        element *at;
        size_t n, cap;
    } elements; /* by row */
    uint32_t block, pos;
} tuple_builder;

/* A candidate placement of a vector: the tuple, and the slot of its first element. */
typedef struct placement {
    uint32_t tuple, base;
    unsigned ncopies;
} placement;

/* A vector operand: its values, and the number of registers of each. */
typedef struct vector {
    uint32_t row[SLOTS];
    unsigned n, step;
} vector;

static bool reserve_elements(tuple_builder *u, uint32_t rows)
{
    while (u->elements.n < rows) {
        element *p = pl_push(u->x->tmp, &u->elements);
        if (!pl_arena_ok(u->x->tmp)) return false;
        *p = (element){.tuple = PL_IR_NONE, .block = PL_IR_NONE, .copy = PL_IR_NONE};
    }
    return true;
}

static void note_read(tuple_builder *u, uint32_t *row, unsigned use)
{
    if ((use & PL_USE_PRED) || *row >= u->elements.n) return;
    element *p = &u->elements.at[*row];
    p->to = p->block == PL_IR_NONE || p->block == u->block ? u->pos : NEVER;
    p->block = u->block;
}

static void note_written(tuple_builder *u, uint32_t *row, unsigned use)
{
    if (!(use & PL_USE_PRED) && *row < u->elements.n) u->elements.at[*row].from = u->pos;
}

/* Computes the live ranges of values. */
static void find_live_ranges(tuple_builder *u)
{
    pl_ir *x = u->x;
    u->pos = 1;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        u->block = x->rpo[j];
        for (size_t k = 0; k < x->blocks.at[u->block].code.n; k++, u->pos++) {
            pl_insn *i = &x->blocks.at[u->block].code.at[k];
            if (i->form == PL_IR_DEAD) continue;
            PL_FOR_EACH_READ(x->p, i, o) note_read(u, o.row, o.use);
            PL_FOR_EACH_WRITE(x->p, i, o) note_written(u, o.row, o.use);
        }
    }
    for (uint32_t row = 0; row < u->elements.n; row++) {
        element *p = &u->elements.at[row];
        const pl_ir_reg *r = &x->regs[row];
        if (r->ndefs != 1 || r->precolored || (p->block != PL_IR_NONE && p->block != r->def_block))
            p->from = 0, p->to = NEVER;
    }
}

/* True if the operand needs consecutive registers: of a texture fetch, the first two coordinates,
 * and the results that are used. */
static bool vector_of(const tuple_builder *u, const pl_insn *i, const pl_operand_slot *use,
                      vector *v)
{
    static const uint16_t mnems[] = {M_ld,   M_st,   M_mma,  M_ldmatrix, M_stmatrix, M_tex,
                                     M_tld4, M_suld, M_sust, M_red,      M_atom};
    const uint16_t m = pl_insn_mnem(i);
    const bool is_fetch = m == M_tex || m == M_tld4, written = (use->use & PL_USE_WRITE) != 0;
    const uint32_t first = ((const uint32_t *)(const void *)i)[use->at];
    const unsigned k = use->at - (unsigned)(offsetof(pl_insn, op) / sizeof(uint32_t));
    bool any = false;
    for (size_t w = 0; w < sizeof mnems / sizeof *mnems; w++) any |= m == mnems[w];
    if (!any || use->count < 2 || first == UINT32_MAX || (use->use & PL_USE_PRED) ||
        (use->use & PL_USE_WRITE && use->use & PL_USE_READ) ||
        pl_type_bits(pl_operand_type(&pl_forms[i->form], k, i->mods)) < 32)
        return false;
    const unsigned n = is_fetch && !written && use->count > 2 ? 2 : use->count;
    v->n = 0;
    v->step = use->rows;
    if (n * v->step > SLOTS) return false;
    for (unsigned e = 0; e < n; e++) {
        const uint32_t row = u->x->p->pool.at[i->extra_ops + first + e];
        const bool is_register = row < u->elements.n && u->x->regs[row].kind == PL_REG_VIRTUAL;
        if (!written && !is_register) return false;
        if (written && (!is_register || !u->x->regs[row].nuses) && is_fetch) continue;
        v->row[v->n++] = is_register ? row : PL_IR_NONE;
    }
    return v->n > 1;
}

static bool occupies(const tuple_builder *u, uint32_t row, uint32_t tuple, uint32_t slot)
{
    return row != PL_IR_NONE && u->elements.at[row].tuple == tuple &&
           u->elements.at[row].slot == slot && u->tuples.at[tuple].slot[slot] == row;
}

/* The value itself or its copy, if one of them is in the slot; PL_IR_NONE: neither. A copy of a
 * variable may be out of date. */
static uint32_t value_in_slot(const tuple_builder *u, uint32_t row, uint32_t tuple, uint32_t slot)
{
    const element *p = &u->elements.at[row];
    if (occupies(u, row, tuple, slot)) return row;
    return p->copy != PL_IR_NONE && p->copy_block == u->block && u->x->regs[row].ndefs == 1 &&
                   occupies(u, p->copy, tuple, slot)
               ? p->copy
               : PL_IR_NONE;
}

/* True if the slot is unoccupied while this value is live. */
static bool fits_slot(const tuple_builder *u, uint32_t row, uint32_t tuple, uint32_t slot)
{
    const uint32_t other = u->tuples.at[tuple].slot[slot];
    if (other == PL_IR_NONE) return true;
    const element *a = &u->elements.at[other], *b = &u->elements.at[row];
    return a->to <= b->from || b->to <= a->from;
}

static bool is_repeated(const vector *v, unsigned k)
{
    for (unsigned e = 0; e < k; e++)
        if (v->row[e] == v->row[k]) return true;
    return false;
}

/* The number of moves for placing the vector there; UINT32_MAX: a slot is occupied. */
static unsigned count_moves(const tuple_builder *u, const vector *v, uint32_t tuple, uint32_t base)
{
    unsigned moves = 0;
    for (unsigned k = 0; k < v->n; k++) {
        const uint32_t slot = base + k * v->step, row = v->row[k];
        if (value_in_slot(u, row, tuple, slot) != PL_IR_NONE ||
            (u->elements.at[row].tuple == PL_IR_NONE && !is_repeated(v, k) &&
             fits_slot(u, row, tuple, slot)))
            continue;
        const uint32_t other = u->tuples.at[tuple].slot[slot];
        if (other != PL_IR_NONE && u->elements.at[other].to >= u->pos) return UINT32_MAX;
        moves += v->step;
    }
    return moves;
}

static uint32_t new_tuple(tuple_builder *u)
{
    reg_tuple *t = pl_push(u->x->tmp, &u->tuples);
    if (!pl_arena_ok(u->x->tmp)) return PL_IR_NONE;
    for (unsigned k = 0; k < SLOTS; k++) t->slot[k] = PL_IR_NONE;
    return (uint32_t)u->tuples.n - 1;
}

static void assign_slot(tuple_builder *u, uint32_t row, uint32_t tuple, uint32_t slot)
{
    u->elements.at[row].tuple = tuple;
    u->elements.at[row].slot = slot;
    u->tuples.at[tuple].slot[slot] = row;
}

static placement best_placement(tuple_builder *u, const vector *v)
{
    const uint32_t size = v->n * v->step, align = size > 4 ? 8 : size > 2 ? 4 : 2;
    placement p = {.tuple = PL_IR_NONE, .ncopies = 0};
    for (unsigned k = 0; k < v->n; k++)
        p.ncopies +=
            u->elements.at[v->row[k]].tuple != PL_IR_NONE || is_repeated(v, k) ? v->step : 0;
    const unsigned fresh = p.ncopies;
    for (unsigned k = 0; k < v->n; k++)
        for (unsigned copy = 0; copy < 2; copy++) {
            const element *w = &u->elements.at[v->row[k]];
            if (copy) {
                if (w->copy == PL_IR_NONE || w->copy_block != u->block) continue;
                w = &u->elements.at[w->copy];
            }
            if (w->tuple == PL_IR_NONE || w->slot < k * v->step ||
                (w->slot - k * v->step) % align || w->slot - k * v->step + size > SLOTS)
                continue;
            const unsigned moves = count_moves(u, v, w->tuple, w->slot - k * v->step);
            if (moves < p.ncopies || (moves <= fresh && p.tuple == PL_IR_NONE))
                p = (placement){w->tuple, w->slot - k * v->step, moves};
        }
    return p;
}

/* True if the value is invariant in the current loop: its copy belongs in the preheader, where it
 * is not counted. */
static bool is_loop_invariant(const tuple_builder *u, uint32_t row)
{
    const uint32_t head = u->x->blocks.at[u->block].loop;
    return head != PL_IR_NONE && u->x->regs[row].ndefs == 1 &&
           !pl_ir_in_loop(u->x, u->x->regs[row].def_block, head);
}

/* Places the values that an instruction reads as one vector. */
static bool place_read(tuple_builder *u, size_t at, vector *v, uint32_t *pool)
{
    pl_ir *x = u->x;
    placement p = best_placement(u, v);
    if (p.tuple == PL_IR_NONE && (p.tuple = new_tuple(u)) == PL_IR_NONE) return false;
    for (unsigned k = 0; k < v->n; k++) {
        const uint32_t row = v->row[k], slot = p.base + k * v->step,
                       occupant = value_in_slot(u, row, p.tuple, slot);
        if (occupant != PL_IR_NONE) {
            pool[k] = occupant;
            if (occupant != row) u->elements.at[occupant].to = u->pos;
        } else if (u->elements.at[row].tuple == PL_IR_NONE && !is_repeated(v, k) &&
                   fits_slot(u, row, p.tuple, slot))
            assign_slot(u, row, p.tuple, slot);
        else if (!is_loop_invariant(u, row)) {
            const uint32_t copy = pl_ir_new(x, v->step);
            pl_insn *i = pl_ir_insert_deferred(x, u->block, at);
            if (!i || !pl_insn_make(i, M__mov, 2, &(pl_word){v->step == 2 ? W_b64 : W_b32}, 1) ||
                !reserve_elements(u, x->f->rows))
                return false;
            i->op[0] = copy;
            i->op[1] = row;
            i->line = x->blocks.at[u->block].code.at[at].line;
            u->elements.at[copy] =
                (element){.from = u->pos, .to = u->pos, .block = u->block, .copy = PL_IR_NONE};
            u->elements.at[row].copy = copy;
            u->elements.at[row].copy_block = u->block;
            assign_slot(u, copy, p.tuple, slot);
            pool[k] = copy;
        }
    }
    return true;
}

/* Places the values that an instruction writes as one vector: nothing is copied, and a value that
 * has a slot already keeps it. */
static bool place_written(tuple_builder *u, const vector *v)
{
    uint32_t tuple = PL_IR_NONE, base = 0;
    for (unsigned k = 0; k < v->n && tuple == PL_IR_NONE; k++) {
        const element *w = v->row[k] != PL_IR_NONE ? &u->elements.at[v->row[k]] : NULL;
        if (w && w->tuple != PL_IR_NONE && w->slot >= k * v->step) {
            tuple = w->tuple;
            base = w->slot - k * v->step;
        }
    }
    if (tuple == PL_IR_NONE && (tuple = new_tuple(u)) == PL_IR_NONE) return false;
    for (unsigned k = 0; k < v->n; k++) {
        const uint32_t row = v->row[k], slot = base + k * v->step;
        if (row != PL_IR_NONE && slot < SLOTS && u->elements.at[row].tuple == PL_IR_NONE &&
            fits_slot(u, row, tuple, slot))
            assign_slot(u, row, tuple, slot);
    }
    return true;
}

bool pl_pass_vector_registers(pl_ir *x)
{
    if (!pl_ir_analyze(x)) return false;
    tuple_builder u = {.x = x};
    if (!reserve_elements(&u, x->f->rows)) return false;
    find_live_ranges(&u);
    u.pos = 1;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        u.block = x->rpo[j];
        for (size_t k = 0; k < x->blocks.at[u.block].code.n; k++, u.pos++)
            for (unsigned written = 0; written < 2; written++) {
                pl_insn *i = &x->blocks.at[u.block].code.at[k];
                pl_operand_plan own;
                const pl_operand_plan *t = i->form == PL_IR_DEAD ? NULL : pl_plan_of(x->p, i, &own);
                for (const pl_operand_slot *use = t && t->vectors ? t->use.slot : NULL;
                     use && use < t->use.slot + t->use.n; use++) {
                    vector v;
                    if (((use->use & PL_USE_WRITE) != 0) != (written != 0) ||
                        !vector_of(&u, i, use, &v))
                        continue;
                    uint32_t *pool =
                        &x->p->pool.at[i->extra_ops + ((const uint32_t *)(const void *)i)[use->at]];
                    if (!(written ? place_written(&u, &v) : place_read(&u, k, &v, pool)))
                        return false;
                }
            }
    }
    return pl_ir_flush_inserts(x);
}
