/* hoist_loads.c - speculative hoisting: loads after a branch around a block are issued before the
 * branch.
 *
 * `if (c) arm; load` becomes `load; if (c) arm`. The block before the branch (the head) and the one
 * after the arm (the join) are executed by the same lanes, and the load is in flight while the arm
 * executes. ptxas 13.0 does this regardless of the length of the arm, the number of loads and the
 * condition (90 kernels made for it, 2026-11). It does so also over several branches in sequence.
 * The conditions are:
 * - the arm is one block without barriers, fences, calls, subroutines and atomics (relaxed ones on
 *   shared memory excepted), and there is no other arm;
 * - neither the arm nor the join may overwrite the loaded memory before the load; .nc loads read
 *   memory that is constant during the launch;
 * - no predicated instruction, and no sequence with one (mufu_scaled), precedes it in the join;
 * - its address is available at the branch, or takes at most hoist_loads.address_insns instructions
 *   that may be hoisted too, none of them a load;
 * - its result has one definition, and no use before the load. */
#include <string.h>

#include "compiler/passes.h"
#include "compiler/tuning.h"
#include "isa/program/operand_plan.h"
#include "compiler/analysis/memory_clobbers.h"

/* State of a row in the arm and in the visited part of the join; valid if the number is that of
 * this join. */
typedef struct reg_state {
    uint32_t read, written;
    /* Computed in the join by instructions that may be hoisted to the head; `cost` is their
     * number. */
    uint32_t ready_at;
    uint8_t cost;
} reg_state;

typedef struct hoist {
    pl_ir *x;
    reg_state *row;
    uint32_t join_id, head, join; /* number of this join; blocks */
    pl_memory_clobbers clobbers;
    bool unsafe; /* result of the checks below */
    unsigned cost;
} hoist;

static void note_read(hoist *h, uint32_t *row, unsigned rows, unsigned use)
{
    for (unsigned k = 0; k < rows && !(use & PL_USE_PRED); k++) h->row[*row + k].read = h->join_id;
}

static void note_write(hoist *h, uint32_t *row, unsigned rows, unsigned use)
{
    for (unsigned k = 0; k < rows && !(use & PL_USE_PRED); k++)
        h->row[*row + k].written = h->join_id;
}

static void note_hoistable(hoist *h, const uint32_t *row, unsigned rows)
{
    for (unsigned k = 0; k < rows; k++) {
        h->row[*row + k].ready_at = h->join_id;
        h->row[*row + k].cost = (uint8_t)h->cost;
    }
}

/* Checks that an operand is available at the branch, and otherwise adds the cost to compute it
 * there. */
static void check_read(hoist *h, uint32_t *row, unsigned rows, unsigned use)
{
    h->unsafe |= (use & PL_USE_PRED) != 0;
    unsigned max_cost = 0;
    for (unsigned k = 0; k < rows && !h->unsafe; k++) {
        const reg_state *s = &h->row[*row + k];
        h->unsafe = s->written == h->join_id;
        max_cost = s->ready_at == h->join_id && s->cost > max_cost ? s->cost : max_cost;
    }
    h->cost += max_cost;
}

static bool is_hoistable(hoist *h, pl_insn *i)
{
    h->unsafe = i->guard != PL_PT;
    h->cost = 0;
    PL_FOR_EACH_READ(h->x->p, i, o) check_read(h, o.row, o.rows, o.use);
    if (!h->unsafe)
        PL_FOR_EACH_WRITE(h->x->p, i, o) {
            h->unsafe |= (o.use & PL_USE_PRED) != 0;
            for (unsigned k = 0; k < o.rows && !h->unsafe; k++) {
                const reg_state *s = &h->row[*o.row + k];
                h->unsafe = !pl_ir_is_value(h->x, *o.row + k, false) || s->read == h->join_id ||
                            s->written == h->join_id;
            }
        }
    return !h->unsafe;
}

/* Number of instructions for an address: two for 64 bits, three if one half is shifted too. */
static unsigned cost_of(const pl_insn *i)
{
    if (pl_insn_is_free_copy(i)) return 0;
    return !pl_insn_is_integer(i, 64) || pl_insn_mnem(i) == M_mad ? 1
           : pl_insn_mnem(i) == M__lea                            ? 3
                                                                  : 2;
}

static void hoist_insn(hoist *h, uint32_t at);

/* Hoists the instruction at position `at` of the join, preceded by the computation of its
 * operands. */
static void hoist_insn(hoist *h, uint32_t at)
{
    pl_ir *x = h->x;
    pl_insn i = x->blocks.at[h->join].code.at[at];
    if (i.form == PL_IR_DEAD) return;
    PL_FOR_EACH_READ(x->p, &i, o)
        for (unsigned k = 0; k < o.rows; k++)
            if (h->row[*o.row + k].ready_at == h->join_id)
                hoist_insn(h, h->x->regs[*o.row + k].def_index);
    pl_insn *to = pl_ir_insert(x, h->head, pl_ir_end(x, h->head));
    if (!to) return;
    *to = i;
    pl_ir_remove(x, &x->blocks.at[h->join].code.at[at]);
    PL_FOR_EACH_WRITE(x->p, &i, op) {
        for (unsigned r = 0; r < op.rows; r++) {
            h->row[*op.row + r].ready_at = 0;
            h->x->regs[*op.row + r].def_block = h->head;
            h->x->regs[*op.row + r].def_index = (uint32_t)pl_ir_end(h->x, h->head) - 1;
        }
    }
}

/* The arm between the head and the join, PL_IR_NONE: the join does not follow a branch around one
 * block. */
static uint32_t arm_of(const pl_ir *x, uint32_t join, uint32_t *head)
{
    const pl_ir_block *b = &x->blocks.at[join];
    for (uint32_t k = 0; b->npreds == 2 && k < 2; k++) {
        const uint32_t arm = x->predecessors[b->first_pred + k],
                       from = x->predecessors[b->first_pred + 1 - k];
        const pl_insn *branch = pl_ir_branch(x, from);
        if (arm != join && from != join && x->blocks.at[arm].npreds == 1 &&
            x->predecessors[x->blocks.at[arm].first_pred] == from &&
            pl_ir_successors(x, arm) == 1 && branch && branch->guard != PL_PT &&
            !pl_insn_is_table(branch) && pl_ir_successors(x, from) == 2) {
            *head = from;
            return arm;
        }
    }
    return PL_IR_NONE;
}

/* True if loads after this instruction of the join are not hoisted. */
static bool ends_hoisting(const pl_insn *i)
{
    return i->guard != PL_PT || i->latency_class == C_mufu_scaled;
}

static void scan_join(hoist *h, uint32_t arm)
{
    pl_ir *x = h->x;
    h->join_id++;
    h->clobbers = (pl_memory_clobbers){0};
    for (size_t k = 0; k < x->blocks.at[arm].code.n; k++) {
        pl_insn *i = &x->blocks.at[arm].code.at[k];
        if (i->form == PL_IR_DEAD) continue;
        if (pl_insn_mnem(i) == M__slow || pl_insn_mnem(i) == M_ret ||
            pl_insn_effects(i) & PL_EF_EXIT) /* lanes that exit do not load */
            return;
        pl_clobbers_add(&h->clobbers, i);
        PL_FOR_EACH_READ(x->p, i, o) note_read(h, o.row, o.rows, o.use);
        PL_FOR_EACH_WRITE(x->p, i, o) note_write(h, o.row, o.rows, o.use);
    }
    for (uint32_t at = 0; at < x->blocks.at[h->join].code.n; at++) {
        pl_insn *i = &x->blocks.at[h->join].code.at[at];
        if (i->form == PL_IR_DEAD) continue;
        if (ends_hoisting(i)) return;
        const bool load = pl_insn_is_hoistable_load(i),
                   may_hoist = (load ? !pl_clobbers_load(&h->clobbers, i) : pl_insn_pure(i)) &&
                               is_hoistable(h, i);
        if (load && may_hoist && h->cost <= x->p->tuning->hoist_loads.address_insns) {
            pl_insn moved = *i;
            hoist_insn(h, at);
            PL_FOR_EACH_WRITE(x->p, &moved, o) note_write(h, o.row, o.rows, o.use);
            continue;
        }
        pl_clobbers_add(&h->clobbers, i);
        PL_FOR_EACH_READ(x->p, i, o) note_read(h, o.row, o.rows, o.use);
        h->cost += cost_of(i);
        if (may_hoist && !load && h->cost <= x->p->tuning->hoist_loads.address_insns)
            PL_FOR_EACH_WRITE(x->p, i, o) note_hoistable(h, o.row, o.rows);
        else
            PL_FOR_EACH_WRITE(x->p, i, o) note_write(h, o.row, o.rows, o.use);
    }
}

bool pl_pass_hoist_loads(pl_ir *x)
{
    bool any = false;
    if (!pl_ir_any(x, pl_insn_is_hoistable_load)) return true;
    pl_ir_sweep(x);
    if (!pl_ir_graph(x)) return false;
    hoist h = {.x = x};
    for (uint32_t j = x->nrpo; j-- > 0;) { /* backwards, for branches in sequence */
        h.join = x->rpo[j];
        const uint32_t arm = arm_of(x, h.join, &h.head);
        if (arm == PL_IR_NONE) continue;
        if (!any &&
            (!pl_ir_count(x) || !(h.row = pl_arena_array(x->tmp, reg_state, x->f->rows + 4))))
            return false;
        any = true;
        scan_join(&h, arm);
    }
    pl_ir_sweep(x);
    return pl_ir_ok(x);
}
