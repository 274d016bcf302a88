/* copy_coalesce.c - copy coalescing: merges the two registers of a copy whose live ranges do not
 * interfere.
 *
 * Liveness is solved for the registers of copies only. A copy's two registers can be merged if no
 * write of either occurs while the other one is live, except for the copy itself (Chaitin,
 * "Register Allocation and Spilling via Graph Coloring", 1982). Merging two registers changes the
 * interference, so each takes part in one merge per iteration. Before that, readers of the old
 * value of a variable move before the computation of the new one, if longer chains depend on them.
 * A loop's `add n, v, w; mul t, v, v; ...; mov v, n` then needs no copy. Remaining copies become
 * MOV. */
#include <string.h>

#include "compiler/analysis/liveness.h"
#include "compiler/passes.h"
#include "isa/program/operand_plan.h"

enum { MAX_ITERATIONS = 4, WINDOW = 64, MAX_ROWS = 24 };

typedef struct copy_pair {
    uint32_t block, at, a, b; /* copy: a = b */
    bool interferes;
} copy_pair;

typedef struct coalescer {
    pl_ir *x;
    struct {
        copy_pair *at;
        size_t n, cap;
    } pairs;
    uint32_t *index; /* by row: index among the registers of copies, plus one */
    struct {
        uint32_t *at;
        size_t n, cap;
    } member; /* rows by index */
    uint32_t block;
    pl_live_spans sets; /* liveness of these registers */
    uint32_t *seen;     /* by index: last block that accesses it, plus one */
    bool *touched;      /* by block: some instruction accesses one of them; other blocks need not be
                           visited */
    bool *live, *at_end; /* by index: live here; live at the end of the block */
    struct {
        uint32_t *at;
        size_t n, cap;
    } changed;              /* indices of those that may differ */
    uint32_t *first, *next; /* pairs of a register: lists, plus one; two links per pair */
    uint8_t *width;         /* by row: width of all its uses, 255: they differ */
    bool guarded;
    uint32_t
        copy_source; /* source of the current copy, which does not interfere with its destination */
} coalescer;

static void note_width(coalescer *c, uint32_t *row, unsigned rows, unsigned use)
{
    if (use & PL_USE_PRED) return;
    for (unsigned k = 0; k < rows; k++) {
        uint8_t w = k ? 255 : (uint8_t)rows;
        uint8_t *have = &c->width[*row + k];
        *have = *have && *have != w && !(k && *have == 254) ? 255 : k ? 254 : w;
    }
}

/* True for a copy from one register to another. */
static bool is_register_copy(const pl_ir *x, const pl_insn *i)
{
    if (i->guard != PL_PT || !pl_insn_is_copy(i)) return false;
    for (unsigned k = 0; k < 2; k++)
        if (x->regs[i->op[k]].kind != PL_REG_VIRTUAL || x->regs[i->op[k]].precolored) return false;
    return i->op[0] != i->op[1];
}

/* True for such a copy whose registers are always accessed as a whole. */
static bool is_coalescable(const coalescer *c, const pl_insn *i)
{
    if (!is_register_copy(c->x, i)) return false;
    for (unsigned k = 0; k < 2; k++) {
        const uint8_t *w = &c->width[i->op[k]];
        if (*w != 1 && (*w != 2 || w[1] != 254)) return false;
    }
    return c->width[i->op[0]] == c->width[i->op[1]];
}

static uint32_t index_of(coalescer *c, uint32_t row)
{
    if (!c->index[row]) {
        *pl_push(c->x->tmp, &c->member) = row;
        c->index[row] = (uint32_t)c->member.n;
    }
    return c->index[row] - 1;
}

/* The first access in a block decides. */
static void note_access(coalescer *c, const uint32_t *row, unsigned use)
{
    if ((use & PL_USE_PRED) || !c->index[*row] || c->seen[c->index[*row] - 1] == c->block + 1)
        return;
    c->seen[c->index[*row] - 1] = c->block + 1;
    c->touched[c->block] = true;
    pl_live_spans_access(&c->sets, c->index[*row] - 1, c->block, (use & PL_USE_READ) || c->guarded);
}

static void toggle(void *ctx, uint32_t n)
{
    coalescer *c = ctx;
    c->at_end[n] = c->live[n] = !c->at_end[n];
}

/* Moves to the end of a block and restores its live-out set. */
static void go_to_end(coalescer *c, uint32_t block)
{
    for (size_t k = 0; k < c->changed.n; k++)
        c->live[c->changed.at[k]] = c->at_end[c->changed.at[k]];
    c->changed.n = 0;
    pl_live_spans_go_to(&c->sets, block, toggle, c);
}

static void set_live(coalescer *c, uint32_t n, bool live)
{
    if (c->live[n] == live) return;
    c->live[n] = live;
    *pl_push(c->x->tmp, &c->changed) = n;
}

/* A write of this register while its counterpart is live: the pair interferes. */
static void check_interference(coalescer *c, uint32_t *row, unsigned rows, unsigned use)
{
    (void)rows;
    if ((use & PL_USE_PRED) || !c->index[*row]) return;
    for (uint32_t l = c->first[c->index[*row] - 1]; l; l = c->next[l - 1]) {
        copy_pair *p = &c->pairs.at[(l - 1) / 2];
        uint32_t other = p->a == *row ? p->b : p->a, n = c->index[other] - 1;
        p->interferes |= other != c->copy_source && c->live[n];
    }
}

static void kill(coalescer *c, uint32_t *row, unsigned rows, unsigned use)
{
    (void)rows;
    if ((use & PL_USE_PRED) || (use & PL_USE_READ) || c->guarded || !c->index[*row]) return;
    set_live(c, c->index[*row] - 1, false);
}

static void mark_live(coalescer *c, uint32_t *row, unsigned rows, unsigned use)
{
    (void)rows;
    if ((use & PL_USE_PRED) || (!(use & PL_USE_READ) && !c->guarded) || !c->index[*row]) return;
    set_live(c, c->index[*row] - 1, true);
}

static bool collect_copies(coalescer *c)
{
    pl_ir *x = c->x;
    bool any = false;
    for (uint32_t j = 0; j < x->nrpo && !any; j++)
        for (uint32_t k = 0; k < x->blocks.at[x->rpo[j]].code.n && !any; k++)
            any = is_register_copy(x, &x->blocks.at[x->rpo[j]].code.at[k]);
    for (size_t b = 0; any && b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++)
            PL_FOR_EACH_USE(x->p, &x->blocks.at[b].code.at[k], o)
                note_width(c, o.row, o.rows, o.use);
    for (uint32_t j = 0; any && j < x->nrpo; j++)
        for (uint32_t k = 0; k < x->blocks.at[x->rpo[j]].code.n; k++) {
            const pl_insn *i = &x->blocks.at[x->rpo[j]].code.at[k];
            if (!is_coalescable(c, i)) continue;
            *pl_push(x->tmp, &c->pairs) = (copy_pair){x->rpo[j], k, i->op[0], i->op[1], false};
            index_of(c, i->op[0]);
            index_of(c, i->op[1]);
        }
    if (!c->pairs.n) return pl_ir_ok(x);
    if (!pl_liveness_spans(&c->sets, x)) return false;
    c->sets.values = (uint32_t)c->member.n;
    c->seen = pl_arena_array(x->tmp, uint32_t, c->member.n + 1);
    c->touched = pl_arena_array(x->tmp, bool, x->blocks.n + 1);
    c->live = pl_arena_array(x->tmp, bool, c->member.n + 1);
    c->at_end = pl_arena_array(x->tmp, bool, c->member.n + 1);
    c->first = pl_arena_array(x->tmp, uint32_t, c->member.n + 1);
    c->next = pl_arena_array(x->tmp, uint32_t, 2 * c->pairs.n + 1);
    if (!c->seen || !c->touched || !c->live || !c->at_end || !c->first || !c->next) return false;
    for (uint32_t p = 0; p < c->pairs.n; p++)
        for (uint32_t side = 0; side < 2; side++) {
            uint32_t n = c->index[side ? c->pairs.at[p].b : c->pairs.at[p].a] - 1;
            c->next[2 * p + side] = c->first[n];
            c->first[n] = 2 * p + side + 1;
        }
    return true;
}

/* Runs one iteration; *any: a copy was removed. */
static bool coalesce_once(pl_ir *x, bool *any)
{
    coalescer c = {.x = x, .copy_source = PL_IR_NONE};
    if (!pl_ir_analyze(x)) return false;
    c.index = pl_arena_array(x->tmp, uint32_t, x->f->rows + 4);
    c.width = pl_arena_array(x->tmp, uint8_t, x->f->rows + 4);
    if (!c.index || !c.width || !collect_copies(&c)) return false;
    if (!c.pairs.n) return true;
    for (c.block = 0; c.block < x->blocks.n; c.block++)
        for (size_t k = 0;
             k < x->blocks.at[c.block].code.n && x->blocks.at[c.block].rpo_index != PL_IR_NONE;
             k++) {
            pl_insn *i = &x->blocks.at[c.block].code.at[k];
            c.guarded = i->guard != PL_PT;
            PL_FOR_EACH_READ(x->p, i, o) note_access(&c, o.row, o.use);
            PL_FOR_EACH_WRITE(x->p, i, o)
                if (!(o.use & PL_USE_READ)) note_access(&c, o.row, o.use);
        }
    if (!pl_live_spans_solve(&c.sets) || !pl_live_spans_index(&c.sets)) return false;
    for (uint32_t b = 0; b < x->blocks.n; b++) {
        if (x->blocks.at[b].rpo_index == PL_IR_NONE) continue;
        go_to_end(&c, b);
        for (size_t k = c.touched[b] ? x->blocks.at[b].code.n : 0; k-- > 0;) {
            pl_insn *i = &x->blocks.at[b].code.at[k];
            c.guarded = i->guard != PL_PT;
            c.copy_source = is_coalescable(&c, i) ? i->op[1] : PL_IR_NONE;
            PL_FOR_EACH_WRITE(x->p, i, o) check_interference(&c, o.row, o.rows, o.use);
            PL_FOR_EACH_WRITE(x->p, i, op) kill(&c, op.row, op.rows, op.use);
            PL_FOR_EACH_USE(x->p, i, op) mark_live(&c, op.row, op.rows, op.use);
        }
    }
    uint32_t *to = pl_arena_array(x->tmp, uint32_t, x->f->rows + 4);
    uint8_t *merged = pl_arena_array(x->tmp, uint8_t, c.member.n + 1);
    if (!to || !merged) return false;
    memset(to, 0xff, (x->f->rows + 4) * sizeof *to);
    for (size_t p = 0; p < c.pairs.n; p++) {
        const copy_pair *q = &c.pairs.at[p];
        uint32_t a = c.index[q->a] - 1, b = c.index[q->b] - 1;
        if (q->interferes) continue;
        if (to[q->b] == q->a || to[q->a] == q->b) { /* another copy between the same two */
            pl_ir_remove(x, &x->blocks.at[q->block].code.at[q->at]);
            continue;
        }
        if (merged[a] || merged[b]) continue;
        merged[a] = merged[b] = 1;
        for (unsigned r = 0; r < c.width[q->a]; r++) to[q->b + r] = q->a + r;
        pl_ir_remove(x, &x->blocks.at[q->block].code.at[q->at]);
        *any = true;
    }
    pl_ir_sweep(x);
    for (size_t b = 0; *any && b < x->blocks.n; b++)
        for (size_t k = 0; c.touched[b] && k < x->blocks.at[b].code.n; k++)
            PL_FOR_EACH_USE(x->p, &x->blocks.at[b].code.at[k], op)
                if (!(op.use & PL_USE_PRED) && to[*op.row] != PL_IR_NONE) *op.row = to[*op.row];
    return pl_ir_ok(x);
}

/* ---- reads of the old value ---- */

typedef struct operand_set {
    uint32_t row[MAX_ROWS]; /* predicates have the top bit set */
    bool write[MAX_ROWS];
    unsigned n;
    bool overflow;
} operand_set;

static void add_operands(operand_set *t, uint32_t *row, unsigned rows, unsigned use)
{
    bool pred = (use & PL_USE_PRED) != 0;
    for (unsigned k = 0; k < (pred ? 1 : rows); k++) {
        if (t->n == MAX_ROWS) {
            t->overflow = true;
            return;
        }
        t->row[t->n] = (*row + k) | (pred ? 1u << 31 : 0);
        t->write[t->n++] = (use & PL_USE_WRITE) != 0;
    }
}

static operand_set operands_of(pl_ir *x, pl_insn *i)
{
    operand_set t = {.n = 0};
    if (i->form != PL_IR_DEAD)
        PL_FOR_EACH_USE(x->p, i, o) add_operands(&t, o.row, o.rows, o.use);
    return t;
}

static bool contains(const operand_set *t, uint32_t row, bool write)
{
    for (unsigned k = 0; k < t->n; k++)
        if (t->row[k] == row && t->write[k] == write) return true;
    return false;
}

static bool are_dependent(const operand_set *a, const operand_set *b)
{
    for (unsigned i = 0; i < a->n; i++)
        for (unsigned k = 0; k < b->n; k++)
            if (a->row[i] == b->row[k] && (a->write[i] || b->write[k])) return true;
    return a->overflow || b->overflow;
}

/* Length of the longest dependence chain from `at` that ends before `end`. */
static unsigned chain_length(pl_ir *x, const pl_ir_block *b, size_t at, size_t end)
{
    uint8_t depth[WINDOW + 1] = {0}; /* length of the longest chain from `at` to each; 0: none */
    unsigned longest = 1;
    depth[0] = 1;
    for (size_t k = at; k < end; k++) {
        operand_set w = operands_of(x, &b->code.at[k]);
        for (size_t o = k + 1; o < end && depth[k - at]; o++) {
            operand_set r = operands_of(x, &b->code.at[o]);
            for (unsigned n = 0; n < w.n; n++)
                if (w.write[n] && contains(&r, w.row[n], false) && depth[o - at] <= depth[k - at])
                    depth[o - at] = (uint8_t)(depth[k - at] + 1);
        }
        longest = depth[k - at] > longest ? depth[k - at] : longest;
    }
    return longest;
}

/* For `copy`, v = t: moves readers of v that follow the computation of t before it. That requires
 * that no dependence lies between them, and that the chain starting at the reader is not the
 * shorter one. Otherwise ptxas keeps the copy. */
static void hoist_readers(pl_ir *x, pl_ir_block *b, size_t copy)
{
    uint32_t v = b->code.at[copy].op[0], t = b->code.at[copy].op[1];
    size_t first = copy > WINDOW ? copy - WINDOW : 0, def = copy;
    for (size_t k = copy; k-- > first && def == copy;) {
        operand_set w = operands_of(x, &b->code.at[k]);
        if (contains(&w, v, true)) return;
        def = contains(&w, t, true) ? k : copy;
    }
    for (size_t k = def + 1; def < copy && k < copy; k++) {
        pl_insn i = b->code.at[k];
        operand_set r = operands_of(x, &i);
        bool movable = contains(&r, v, false) && pl_insn_pure(&i) && !pl_insn_has(&i, W_cc);
        for (size_t o = def; o < k && movable; o++) {
            operand_set w = operands_of(x, &b->code.at[o]);
            movable = !are_dependent(&r, &w);
        }
        if (!movable || chain_length(x, b, k, copy) < chain_length(x, b, def, copy)) continue;
        x->uses_valid = false;
        memmove(b->code.at + def + 1, b->code.at + def, (k - def) * sizeof i);
        b->code.at[def++] = i;
    }
}

static void hoist_loop_readers(pl_ir *x)
{
    for (uint32_t j = 0; j < x->nrpo; j++) {
        pl_ir_block *b = &x->blocks.at[x->rpo[j]];
        for (size_t k = 0; k < b->code.n; k++) {
            const pl_insn *i = &b->code.at[k];
            if (b->loop == x->rpo[j] && i->guard == PL_PT && pl_insn_is_copy(i) &&
                i->op[1] != UINT32_MAX)
                hoist_readers(x, b, k);
        }
    }
}

bool pl_pass_copy_coalesce(pl_ir *x)
{
    bool any = true;
    pl_ir_sweep(x);
    if (!pl_ir_graph(x)) return false;
    hoist_loop_readers(x);
    for (unsigned k = 0; k < MAX_ITERATIONS && any; k++) {
        any = false;
        if (!coalesce_once(x, &any)) return false;
    }
    for (size_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            pl_insn *i = &x->blocks.at[b].code.at[k];
            if (!pl_insn_is_copy(i) || pl_ir_special_register(x, i->op[1])) continue;
            int bits = pl_type_bits(pl_operand_type(&pl_forms[i->form], 0, i->mods));
            if (bits == 32 || bits == 64)
                pl_insn_make(i, M__mov, 2, &(pl_word){bits == 64 ? W_b64 : W_b32}, 1);
        }
    if (!any) /* valid since the count of the last iteration: ~mov reads and writes the same
                 registers */
        pl_ir_preserve_all(x);
    return true;
}
