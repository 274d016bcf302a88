/* insert_reconvergence.c - BSSY, BSYNC, BREAK, WARPSYNC: what it costs that the lanes of a warp may
 * diverge.
 *
 * Machine code of ptxas 13.0 for sm_90 (2026-11). A branch that may part a warp stands between BSSY
 * and BSYNC, which name the place where its lanes reconverge. Between the two nobody knows whether
 * all lanes of the warp are together: what needs them all (barriers, shuffles, votes) asks first: a
 * WARPSYNC waits for them, and a BRA.DIV leaves for another version of the code if they are not. A
 * loop there that looks at memory until somebody else has changed it lets other lanes run (YIELD).
 */
#include <string.h>

#include "compiler/analysis/post_dominance.h"
#include "compiler/passes.h"
#include "isa/program/operand_plan.h"
#include "compiler/analysis/divergence.h"

/* Puts an instruction without operands before instruction `at` of the block. */
static bool put(pl_ir *x, uint32_t b, size_t at, uint16_t mnem, uint32_t line)
{
    pl_insn *i = pl_ir_insert(x, b, at);
    if (!i || !pl_insn_make(i, mnem, 0, NULL, 0)) return false;
    i->line = line;
    return true;
}

/* The number in a row, also one that has been put into a register. */
static bool constant_in(const pl_ir *x, uint32_t row, uint64_t *number)
{
    const pl_insn *put = pl_ir_writer(x, row);
    if (put && x->regs[row].ndefs == 1 && put->guard == PL_PT &&
        (pl_insn_mnem(put) == M__mov || pl_insn_is_copy(put)))
        row = put->op[1];
    return pl_ir_constant_value(x, row, number);
}

/* Does it leave one lane of a warp that a predicate is true, or false? ptxas sees that of a compare
 * of %tid.x or %laneid with a constant, and of elect.sync. */
static bool names_lane(const pl_ir *x, uint32_t pred, bool holds)
{
    const pl_ir_reg *p = pred > PL_PF ? &x->preds[pred] : NULL;
    const pl_insn *test =
        p && p->ndefs == 1 ? &x->blocks.at[p->def_block].code.at[p->def_index] : NULL;
    if (test && pl_insn_mnem(test) == M_elect) return holds;
    if (!test || pl_insn_mnem(test) != M_setp || pl_forms[test->form].noperands != 4 ||
        test->op[1] != UINT32_MAX || !pl_insn_has(test, holds ? W_eq : W_ne))
        return false;
    for (unsigned side = 2; side < 4; side++) {
        uint32_t row = test->op[side];
        const pl_insn *fetch = pl_ir_writer(x, row);
        uint64_t number;
        if (fetch && pl_insn_mnem(fetch) == M__s2r) row = fetch->op[1];
        const pl_frame_init *from =
            x->regs[row].kind == PL_REG_PRESET ? &x->f->init.at[x->regs[row].init] : NULL;
        if (from && ((from->sreg == W_tid && from->sel == 0) || from->sreg == W_laneid) &&
            constant_in(x, test->op[5 - side], &number))
            return true;
    }
    return false;
}

/* Can only one lane of a warp get to instruction `at` of the block? By its guard, by ends of other
 * lanes before it, by the branches that lead there and nowhere else. */
static bool one_lane(const pl_ir *x, uint32_t b, size_t at)
{
    const pl_insn *i = &x->blocks.at[b].code.at[at];
    if (names_lane(x, i->guard, !(i->flags & PL_IF_GUARD_NEG))) return true;
    for (;;) {
        while (at-- > 0) {
            i = &x->blocks.at[b].code.at[at];
            if (pl_insn_mnem(i) == M_ret &&
                names_lane(x, i->guard, (i->flags & PL_IF_GUARD_NEG) != 0))
                return true;
        }
        uint32_t from = x->blocks.at[b].idom;
        if (from == b || from == PL_IR_NONE) return false;
        const pl_insn *branch = pl_ir_branch(x, from);
        bool alone =
            x->blocks.at[b].npreds == 1 && x->predecessors[x->blocks.at[b].first_pred] == from;
        if (alone && branch && !pl_insn_is_table(branch) &&
            branch->target != x->blocks.at[from].fallthrough &&
            names_lane(x, branch->guard,
                       !(branch->flags & PL_IF_GUARD_NEG) == (branch->target == b)))
            return true;
        b = from;
        at = x->blocks.at[b].code.n;
    }
}

typedef enum aggregation { NOT_AGGREGATED, COUNTED, SUMMED, RANKED } aggregation;

/* Integer atomic operations on an address that is the same in all lanes: one lane does them for its
 * warp. Without a reader it gets what REDUX has combined; of the same number for all lanes a reader
 * gets what the one lane found, and the number once for each lane before it. Of 64 bits only sums
 * of a number in global memory are done so. */
static aggregation aggregation_of(const pl_ir *x, const pl_divergence *v, uint32_t b, size_t at)
{
    const pl_insn *i = &x->blocks.at[b].code.at[at];
    pl_word t = pl_insn_type(i);
    bool atom = pl_insn_mnem(i) == M_atom, shared = i->sel[PL_M_SPACE] == PL_SP_SHARED;
    unsigned address = atom ? 1 : 0;
    const bool global = i->sel[PL_M_SPACE] == PL_SP_GLOBAL, wide = pl_type_bits(t) == 64;
    uint64_t number;
    if ((!atom && pl_insn_mnem(i) != M_red) ||
        (!global && !shared && i->sel[PL_M_SPACE] != PL_SP_GENERIC) ||
        i->op[address] == UINT32_MAX || v->row[i->op[address]] || pl_type_bits(t) < 32 ||
        pl_type_kind(t) == 'f' || pl_forms[i->form].operand[address].kind != PL_K_ADDR ||
        i->sel[PL_M_COUNT] > 1 || one_lane(x, b, at) ||
        (wide && !(global && pl_insn_has(i, W_add) && constant_in(x, i->op[address + 1], &number))))
        return NOT_AGGREGATED;
    bool same = !v->row[i->op[address + 1]];
    if (atom && x->regs[i->op[0]].nuses)
        return pl_insn_has(i, W_add) && same ? RANKED : NOT_AGGREGATED;
    if (pl_insn_has(i, W_add) &&
        constant_in(x, i->op[address + 1],
                    &number)) /* times the number of lanes; there is ATOMS.POPC.INC */
        return shared && number == 1 ? NOT_AGGREGATED : COUNTED;
    return pl_insn_is_warp_aggregable(i) ? SUMMED : NOT_AGGREGATED;
}

static void reads_row(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    uint32_t *wanted = ctx; /* the row; found */
    (void)use;
    wanted[1] |= wanted[0] - *row < rows;
}

/* After atomic operation `at`, before its first reader: the rank of each lane. */
static bool put_rank(pl_ir *x, uint32_t b, size_t at)
{
    pl_ir_block *k = &x->blocks.at[b];
    const bool wide = pl_type_bits(pl_insn_type(&k->code.at[at])) == 64;
    const uint32_t d = k->code.at[at].op[0], line = k->code.at[at].line,
                   found = pl_ir_new(x, wide ? 2 : 1);
    const pl_word type = wide ? W_b64 : W_b32;
    size_t to = at + 1;
    for (; to < k->code.n && !pl_insn_is_jump(&k->code.at[to]); to++) {
        uint32_t wanted[2] = {d, 0};
        pl_insn_uses(x->p, &k->code.at[to], reads_row, wanted);
        if (wanted[1]) break;
    }
    k->code.at[at].op[0] = found;
    pl_insn *i = pl_ir_insert_deferred(x, b, to);
    if (!i || !pl_insn_make(i, M__rank, 2, &type, 1)) return false;
    i->op[0] = d;
    i->op[1] = found;
    i->line = line;
    i->guard = k->code.at[at].guard;
    i->flags |= (uint16_t)(k->code.at[at].flags & PL_IF_GUARD_NEG);
    return true;
}

/* The number that all lanes add goes into the sum with how many they are: POPC writes that where a
 * move would write a one, and a rank has it anyway; with another number it is two instructions. The
 * next numbers of a block find the POPC done. */
static void multiply(pl_ir *x, pl_insn *i, aggregation how)
{
    const unsigned value = pl_insn_mnem(i) == M_atom ? 2 : 1;
    pl_insn *put = pl_ir_writer(x, i->op[value]);
    uint64_t n;
    if (!put || pl_insn_mnem(put) != M__mov || pl_type_bits(pl_insn_type(put)) != 32 ||
        !pl_ir_constant_value(x, put->op[1], &n))
        return;
    if (how == COUNTED && n != 1)
        put->latency_class = C_alu_x2;
    else if (how == RANKED && n == 1 && x->regs[i->op[value]].nuses == 1)
        put->latency_class = C_free;
}

static bool is_atomic(const pl_insn *i)
{
    return (pl_insn_effects(i) & PL_EF_ATOMIC) != 0;
}

static bool aggregate_atomics(pl_ir *x, const pl_divergence *v)
{
    if (!pl_ir_any(x, is_atomic)) return true;
    x->uses_valid = false; /* positions have moved, and writes are asked for */
    if (!pl_ir_count(x)) return false;
    for (uint32_t b = 0; b < x->blocks.n; b++) {
        bool leader = false;
        uint32_t counted = UINT32_MAX; /* the number of 64 bits that has been multiplied */
        for (size_t k = 0; x->blocks.at[b].rpo_index != PL_IR_NONE && k < x->blocks.at[b].code.n;
             k++) {
            pl_insn red = x->blocks.at[b].code.at[k];
            aggregation how = aggregation_of(x, v, b, k);
            if (how == NOT_AGGREGATED) continue;
            const bool wide = pl_type_bits(pl_insn_type(&red)) == 64;
            const uint32_t value = red.op[pl_insn_mnem(&red) == M_atom ? 2 : 1];
            for (int part = leader ? 1 : 0;
                 part < (how == SUMMED || (wide && value != counted) ? 2 : 1); part++) {
                pl_insn *i = pl_ir_insert_deferred(x, b, k);
                if (!i || !pl_insn_make(i,
                                        !part  ? M__leader
                                        : wide ? M__count
                                               : M__gather,
                                        0, NULL, 0))
                    return false;
                i->line = red.line;
                i->guard = red.guard;
                i->flags |= (uint16_t)(red.flags & PL_IF_GUARD_NEG);
            }
            if (how == RANKED && !put_rank(x, b, k)) return false;
            if (!leader) multiply(x, &x->blocks.at[b].code.at[k], how);
            leader = true;
            counted = wide ? value : counted;
        }
    }
    return pl_ir_flush_inserts(x);
}

/* ptxas 13.0 puts three loads that no lane executes before the first copy to shared memory of
 * a block, and after each barrier. */
static bool precede_copies(pl_ir *x)
{
    for (uint32_t b = 0; b < x->blocks.n; b++) {
        bool preceded = false;
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            const pl_insn copy = x->blocks.at[b].code.at[k];
            preceded &= !(pl_insn_effects(&copy) & PL_EF_BARRIER);
            if (copy.latency_class != C_cp_async || preceded) continue;
            pl_insn *i = pl_ir_insert_deferred(x, b, k);
            if (!i || !pl_insn_make(i, M__quiet, 0, NULL, 0)) return false;
            i->line = copy.line;
            preceded = true;
        }
    }
    return pl_ir_flush_inserts(x);
}

/* Do some lanes leave the function in this block, or take the slow path of a division, while others
 * go on? */
static bool exits_divergent(const pl_divergence *v, const pl_ir_block *b)
{
    for (size_t k = 0; k < b->code.n; k++) {
        const pl_insn *i = &b->code.at[k];
        bool leaves = (pl_insn_effects(i) & PL_EF_EXIT) || pl_insn_mnem(i) == M_ret;
        if (pl_insn_mnem(i) == M__slow || (leaves && i->guard > PL_PF && v->pred[i->guard]))
            return true;
    }
    return false;
}

/* Marks the blocks that lanes may reach apart because a call through a pointer sent them to
 * different functions; its own block too. */
static uint8_t *after_indirect_calls(pl_ir *x)
{
    uint8_t *apart = pl_arena_array(x->tmp, uint8_t, x->blocks.n + 1);
    uint32_t *stack = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1), depth = 0;
    if (!apart || !stack) return NULL;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        const pl_ir_block *b = &x->blocks.at[x->rpo[j]];
        for (size_t k = 0; k < b->code.n && !apart[x->rpo[j]]; k++)
            if ((pl_insn_effects(&b->code.at[k]) & PL_EF_CALL) &&
                x->p->calls.at[b->code.at[k].target].callee == UINT32_MAX) {
                apart[x->rpo[j]] = 1;
                stack[depth++] = x->rpo[j];
            }
    }
    while (depth) {
        uint32_t b = stack[--depth];
        for (uint32_t k = 0; k < pl_ir_successors(x, b); k++) {
            uint32_t to = pl_ir_successor(x, b, k);
            if (!apart[to]) {
                apart[to] = 1;
                stack[depth++] = to;
            }
        }
    }
    return apart;
}

/* ---- lanes that may be diverged ---- */

/* Does a way of the branch lead to the end of the kernel, and nothing else? */
static bool lets_lanes_exit(const pl_ir *x, uint32_t b)
{
    for (uint32_t s = 0; x->f->entry && s < pl_ir_successors(x, b); s++) {
        const pl_ir_block *to = &x->blocks.at[pl_ir_successor(x, b, s)];
        if (to->code.n == 1 && pl_insn_mnem(&to->code.at[0]) == M_ret &&
            to->code.at[0].guard == PL_PT)
            return true;
    }
    return false;
}

/* Does this branch send lanes of a warp different ways? */
static bool may_diverge(pl_ir *x, const pl_divergence *v, const uint8_t *pointers, uint32_t b)
{
    const pl_insn *i = pl_ir_branch(x, b);
    return i && ((i->guard > PL_PF && (v->pred[i->guard] || pointers[b])) ||
                 (pl_forms[i->form].noperands == 2 && v->row[i->op[0]]));
}

/* Marks the blocks that some lanes of a warp reach while others are elsewhere: those that depend on
 * a branch that parts lanes, or on any branch in such a block. A branch decides about the blocks
 * from where it leads to on the way to its post-dominator; those marked are skipped. left: lanes
 * that a branch has let leave are elsewhere too. */
static uint8_t *mark_divergent_blocks(pl_ir *x, const pl_divergence *v, const uint8_t *pointers,
                                      const pl_post_dominance *e, bool left)
{
    uint32_t n = (uint32_t)x->blocks.n, depth = 0;
    uint8_t *apart = pl_arena_array(x->tmp, uint8_t, n + 1);
    uint32_t *up = pl_arena_array(x->tmp, uint32_t, n + 1),
             *stack = pl_arena_array(x->tmp, uint32_t, 2 * (size_t)n + 1);
    if (!apart || !up || !stack) return NULL;
    for (uint32_t b = 0; b <= n; b++) up[b] = b;
    for (uint32_t j = 0; j < x->nrpo; j++)
        if (may_diverge(x, v, pointers, x->rpo[j]) && (left || !lets_lanes_exit(x, x->rpo[j])))
            stack[depth++] = x->rpo[j];
    while (depth) {
        uint32_t b = stack[--depth], stop = e->ipdom[b];
        for (uint32_t k = 0; stop != PL_IR_NONE && k < pl_ir_successors(x, b); k++)
            for (uint32_t to = pl_ir_successor(x, b, k); e->ipdom[to] != PL_IR_NONE;) {
                while (up[to] != to) /* the nearest one that is not marked */
                    to = up[to] = up[up[to]];
                if (to == n || e->rpo_index[to] >= e->rpo_index[stop]) break;
                apart[to] = 1;
                up[to] = e->ipdom[to];
                stack[depth++] = to;
            }
    }
    return apart;
}

static bool begin(pl_ir *x, pl_divergence *v)
{
    pl_ir_sweep(x);
    return pl_ir_graph(x) && pl_ir_uses(x) && pl_divergence_find(v, x);
}

/* reached_apart with what it asks for. NULL: out of memory. */
static const uint8_t *find_divergent_blocks(pl_ir *x, const pl_divergence *v, pl_post_dominance *e,
                                            const uint8_t **pointers, bool left)
{
    *pointers = after_indirect_calls(x);
    return *pointers && pl_post_dominance_find(e, x)
               ? mark_divergent_blocks(x, v, *pointers, e, left)
               : NULL;
}

bool pl_find_divergent_blocks(pl_ir *x, const pl_divergence *v, const uint8_t **apart,
                              const uint8_t **fewer)
{
    pl_post_dominance e;
    const uint8_t *pointers;
    *apart = find_divergent_blocks(x, v, &e, &pointers, false);
    *fewer = *apart ? mark_divergent_blocks(x, v, pointers, &e, true) : NULL;
    return *fewer != NULL;
}

/* What pl_pass_dce has left of an exchange that nobody reads. */
static bool only_reconverges(const pl_insn *i)
{
    return i->latency_class == C_free && pl_insn_mnem(i) == M_bar &&
           (pl_insn_effects(i) & PL_EF_CONVERGE);
}

/* Needs all lanes of the warp. */
static bool needs_all(const pl_insn *i)
{
    return only_reconverges(i) || i->latency_class == C_barrier || i->latency_class == C_shfl ||
           i->latency_class == C_vote || i->latency_class == C_match ||
           i->latency_class == C_redux || i->latency_class == C_warp_sync;
}

/* The first such instruction of a block, without a guard; or where the block ends. */
static size_t first_sync_point(const pl_ir_block *b)
{
    size_t k = 0;
    while (k < b->code.n && !(needs_all(&b->code.at[k]) && b->code.at[k].guard == PL_PT)) k++;
    return k;
}

/* Its lanes look at each other. */
static bool exchange_of_lanes(const pl_insn *i)
{
    return i->latency_class == C_shfl || i->latency_class == C_vote ||
           i->latency_class == C_match || i->latency_class == C_redux;
}

/* The lanes that such an instruction names, where they are not the same for all lanes; PL_IR_NONE:
 * they are. */
static uint32_t own_mask(const pl_divergence *v, const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    for (unsigned k = 0; k < f->noperands && k < PL_INLINE_OPERANDS && exchange_of_lanes(i); k++)
        if (strcmp(f->operand[k].name, "mask") == 0 && v->row[i->op[k]]) return i->op[k];
    return PL_IR_NONE;
}

/* Do the lanes diverge for it, group by group? ptxas 13.0 (20 kernels, 2026-11) does that for one
 * instruction of a block, for two REDUX, and for all but shuffles where the mask is what MATCH has
 * found; for others it asks whether all lanes name the same ones. */
static bool diverges_by_groups(const pl_ir *x, const pl_divergence *v, const pl_ir_block *b,
                               const pl_insn *i, uint32_t mask)
{
    const pl_insn *from = pl_ir_writer(x, mask);
    unsigned n = 0;
    for (size_t k = 0; k < b->code.n; k++) n += own_mask(v, &b->code.at[k]) == mask;
    return i->guard == PL_PT &&
           (n == 1 || (i->latency_class == C_redux && n == 2) ||
            (i->latency_class != C_shfl && from && from->latency_class == C_match));
}

/* WARPSYNC with the mask before it, between BSSY and BSYNC but for a shuffle: after that
 * groups stay apart. */
static bool diverge_by_groups(pl_ir *x, uint32_t b, size_t *at, uint32_t mask)
{
    const pl_insn i = x->blocks.at[b].code.at[*at];
    const bool meets = i.latency_class != C_shfl;
    if (meets && (!put(x, b, *at + 1, M__bsync, i.line) || !put(x, b, (*at)++, M__bssy, i.line)))
        return false;
    pl_insn *part = pl_ir_insert(x, b, *at);
    if (!part || !pl_insn_make(part, M__groups, 1, NULL, 0)) return false;
    part->op[0] = mask;
    part->line = i.line;
    *at += 1 + meets;
    return true;
}

/* Once for all that name the same ones. */
static bool insert_mask_queries(pl_ir *x, const pl_divergence *v)
{
    for (uint32_t j = 0; j < x->nrpo; j++) {
        uint32_t b = x->rpo[j], asked = PL_IR_NONE;
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            uint32_t mask = own_mask(v, &x->blocks.at[b].code.at[k]);
            if (mask == PL_IR_NONE || mask == asked) continue;
            if (!pl_ir_count(x)) return false;
            if (diverges_by_groups(x, v, &x->blocks.at[b], &x->blocks.at[b].code.at[k], mask)) {
                if (!diverge_by_groups(x, b, &k, mask)) return false;
                continue;
            }
            if (!put(x, b, k, M__agree, x->blocks.at[b].code.at[k].line)) return false;
            k++;
            asked = mask;
        }
    }
    return true;
}

/* Shuffles and votes leave for another version of themselves if lanes are missing, others wait for
 * them. */
static bool insert_lane_queries(pl_ir *x, uint32_t b, size_t k)
{
    pl_insn *at = &x->blocks.at[b].code.at[k];
    const bool leaves = at->latency_class == C_shfl || at->latency_class == C_vote;
    if (at->latency_class == C_warp_sync || only_reconverges(at)) {
        at->latency_class = C_bsync;
        return true;
    }
    return put(x, b, k, leaves ? M__apart : M__warpsync, at->line);
}

/* Marks the successors of a block that lanes reach apart, and puts those on the stack that were not
 * marked; returns its depth. */
static uint32_t mark_successors(const pl_ir *x, uint32_t b, const uint8_t *apart, uint8_t *mark,
                                uint32_t *stack, uint32_t depth)
{
    for (uint32_t k = 0; k < pl_ir_successors(x, b); k++) {
        uint32_t to = pl_ir_successor(x, b, k);
        if (!apart[to] || mark[to]) continue;
        mark[to] = 1;
        stack[depth++] = to;
    }
    return depth;
}

/* From where lanes diverge to where they meet, the first instruction on each path that needs them
 * all asks for them. */
static bool insert_queries_where_divergent(pl_ir *x, const pl_divergence *v,
                                           const uint8_t *pointers, const uint8_t *apart)
{
    uint8_t *unknown = pl_arena_array(
        x->tmp, uint8_t, x->blocks.n + 1); /* by block: lanes may be missing when it begins */
    uint32_t *stack = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1), depth = 0;
    if (!unknown || !stack) return false;
    for (uint32_t j = 0; j < x->nrpo; j++)
        if (may_diverge(x, v, pointers, x->rpo[j]))
            depth = mark_successors(x, x->rpo[j], apart, unknown, stack, depth);
    while (depth) {
        uint32_t b = stack[--depth];
        const size_t meets = first_sync_point(&x->blocks.at[b]);
        if (meets < x->blocks.at[b].code.n) {
            if (!insert_lane_queries(x, b, meets)) return false;
            continue;
        }
        depth = mark_successors(x, b, apart, unknown, stack, depth);
    }
    return true;
}

/* Lanes that are together need not meet. */
static void clear_sync_points(pl_ir *x)
{
    for (uint32_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++)
            if (x->blocks.at[b].code.at[k].form != PL_IR_DEAD &&
                only_reconverges(&x->blocks.at[b].code.at[k]))
                pl_ir_remove(x, &x->blocks.at[b].code.at[k]);
    pl_ir_sweep(x);
}

/* Does the block leave its loop as soon as memory says so? */
static bool is_polling(pl_ir *x, const pl_divergence *polled, uint32_t b)
{
    const pl_insn *i = pl_ir_branch(x, b);
    return i && i->guard > PL_PF && polled->pred[i->guard] && pl_ir_leaves_loop(x, b);
}

/* A loop that looks at memory, and does not sleep meanwhile; in that of an atomic operation one
 * lane goes on each time. */
static bool yield_in_polling_loops(pl_ir *x, const pl_divergence *v, const uint8_t *apart)
{
    uint8_t *state = pl_arena_array(
        x->tmp, uint8_t, x->blocks.n + 1); /* by header of a loop: 1: polls, 2: sleeps or goes on */
    pl_divergence polled;
    if (!state) return false;
    if (!pl_ir_any(x, pl_divergence_is_polled)) return true;
    if (!pl_divergence_find_polled(&polled, x)) return false;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        uint32_t b = x->rpo[j], loop = x->blocks.at[b].loop;
        if (loop == PL_IR_NONE) continue;
        if ((apart[b] || v->pred[pl_ir_branch(x, b) ? pl_ir_branch(x, b)->guard : PL_PT]) &&
            is_polling(x, &polled, b))
            state[loop] |= 1;
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++)
            if (x->blocks.at[b].code.at[k].latency_class == C_sleep ||
                x->blocks.at[b].code.at[k].latency_class == C_cast)
                state[loop] |= 2;
    }
    for (uint32_t b = 0; b < x->blocks.n; b++)
        if (state[b] == 1 &&
            !put(x, b, x->blocks.at[b].code.n > 1, M__yield, x->blocks.at[b].code.at[0].line))
            return false;
    return true;
}

/* ---- meeting in loops ---- */

/* Where lanes of a branch meet, from the innermost loop outwards. */
typedef struct sync_point {
    uint32_t block, next; /* next: in the list of the same branch, plus one */
    bool in_loop;  /* of those that stay in a loop; the block may be n and the header of the loop:
                     after its iterations */
    bool bypassed; /* not all pass it: others leave the way there */
} sync_point;

typedef struct sync_points {
    struct {
        sync_point *at;
        size_t n, cap;
    } list;
    uint32_t *first;            /* by block: of its branch, plus one */
    uint32_t *first_divergence; /* by sync point: where its lanes diverge first */
    uint32_t *outer_point; /* by sync point: where those meet that do not come to it, plus one */
    uint8_t *has_break;    /* by sync point: there is a way past it to where all meet, which takes a
                           BREAK */
} sync_points;

/* Lanes of block b meet here, too. A place that they come to first stands before it: where some
 * only pass lies further on than where the rest of an iteration meets. One that is named already is
 * not named again: it would lie after itself. */
static bool note(pl_ir *x, sync_points *m, uint32_t b, sync_point also)
{
    uint32_t *at = &m->first[b], *place = NULL;
    for (; *at; at = &m->list.at[*at - 1].next) {
        sync_point *o = &m->list.at[*at - 1];
        if (o->block == also.block) {
            o->in_loop |= also.in_loop;
            return true;
        }
        if (!place && o->bypassed && also.block < x->blocks.n &&
            x->blocks.at[also.block].loop == x->blocks.at[o->block].loop &&
            x->blocks.at[also.block].rpo_index < x->blocks.at[o->block].rpo_index)
            place = at;
    }
    place = place ? place : at;
    also.next = *place;
    *place = (uint32_t)m->list.n + 1;
    *pl_push(x->tmp, &m->list) = also;
    return pl_ir_ok(x);
}

/* How many of a branch's ways stay in the loop? Those back to its header count. */
static unsigned edges_inside(pl_ir *x, uint32_t b, uint32_t header)
{
    unsigned n = 0;
    for (uint32_t k = 0; k < pl_ir_successors(x, b); k++)
        n += pl_ir_loop_contains(x, pl_ir_successor(x, b, k), header);
    return n;
}

/* Every iteration of the loop ends in one block. */
static uint32_t one_latch(pl_ir *x, uint32_t header)
{
    const uint32_t latch = pl_ir_new_block(x);
    pl_ir_block *h = &x->blocks.at[header];
    x->blocks.at[latch].fallthrough = header;
    x->blocks.at[latch].loop = header;
    x->blocks.at[latch].loop_depth = h->loop_depth;
    x->blocks.at[latch].rpo_index = PL_IR_NONE;
    for (uint32_t k = 0; k < h->npreds; k++) {
        const uint32_t q = x->predecessors[h->first_pred + k];
        if (!pl_ir_loop_contains(x, q, header)) continue;
        pl_insn *i =
            x->blocks.at[q].code.n ? &x->blocks.at[q].code.at[x->blocks.at[q].code.n - 1] : NULL;
        if (i && pl_insn_is_jump(i) && !pl_insn_is_table(i) && i->target == header)
            i->target = latch;
        if (x->blocks.at[q].fallthrough == header) x->blocks.at[q].fallthrough = latch;
    }
    return latch;
}

/* Marks the blocks on the ways from `from`, which dominates it, to block `meet`, without going
 * iteration their loop; returns how many. */
static uint32_t edges_to(const pl_ir *x, uint32_t from, uint32_t meet, uint32_t *stamp,
                         uint32_t *block)
{
    uint32_t n = 0, done = 0;
    stamp[from] = meet + 1;
    block[n++] = from;
    for (uint32_t b = meet;; b = block[++done]) {
        for (uint32_t k = 0; k < x->blocks.at[b].npreds; k++) {
            const uint32_t q = x->predecessors[x->blocks.at[b].first_pred + k];
            if (x->blocks.at[q].rpo_index == PL_IR_NONE || stamp[q] == meet + 1 || q == meet)
                continue;
            stamp[q] = meet + 1;
            block[n++] = q;
        }
        if (done + 1 >= n) return n;
    }
}

/* Does the block look at memory, `others`: that others see? */
static bool uses_memory(const pl_ir_block *b, bool others)
{
    for (size_t k = 0; k < b->code.n; k++)
        if ((b->code.at[k].flags & PL_IF_MEM) &&
            !(others && b->code.at[k].sel[PL_M_SPACE] == PL_SP_LOCAL))
            return true;
    return false;
}

/* The blocks of the iterations that end in this one, which lie inside the loop. */
static uint32_t loop_of(const pl_ir *x, uint32_t header, uint32_t latch, uint32_t *stamp,
                        uint32_t *block)
{
    memset(stamp, 0, x->blocks.n * sizeof *stamp);
    const uint32_t n = latch == header ? 0 : edges_to(x, header, latch, stamp, block);
    stamp[latch] = latch + 1;
    block[n] = latch;
    return n + 1;
}

/* Several ways lead back to the header of a loop. ptxas 13.0 (20 loops, 2026-11) takes the shortest
 * of them for a loop within the loop where that is left for one block only, and what else is in an
 * iteration uses memory that others see: then its lanes reconverge after it. Otherwise all are ways
 * to the end of one iteration, and that is where lanes reconverge. Is that so? */
static bool iterations_end_together(pl_ir *x, uint32_t header, uint32_t *stamp, uint32_t *block)
{
    uint32_t least = UINT32_MAX, shortest = header, behind = PL_IR_NONE;
    for (uint32_t k = 0; k < x->blocks.at[header].npreds; k++) {
        const uint32_t latch = x->predecessors[x->blocks.at[header].first_pred + k];
        const uint32_t n = pl_ir_loop_contains(x, latch, header)
                               ? loop_of(x, header, latch, stamp, block)
                               : UINT32_MAX;
        if (n < least) {
            least = n;
            shortest = latch;
        }
    }
    const uint32_t n = loop_of(x, header, shortest, stamp, block);
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t s = 0; s < pl_ir_successors(x, block[j]); s++) {
            const uint32_t to = pl_ir_successor(x, block[j], s);
            if (stamp[to] == shortest + 1) continue;
            if (behind != PL_IR_NONE && to != behind) return true;
            behind = to;
        }
    for (uint32_t j = 0; j < x->nrpo; j++)
        if (stamp[x->rpo[j]] != shortest + 1 && pl_ir_loop_contains(x, x->rpo[j], header) &&
            uses_memory(&x->blocks.at[x->rpo[j]], true))
            return false;
    return true;
}

/* Lanes that stay in a loop meet in it although others may leave it meanwhile, as those that
 * `break` do. Only where there is more than one way out does that differ from where all meet, or
 * where lanes go back to its header early. */
static bool add_loop_sync_points(pl_ir *x, const pl_divergence *v, const uint8_t *pointers,
                                 sync_points *m)
{
    pl_post_dominance e;
    const uint32_t n = (uint32_t)x->blocks.n;
    uint8_t *exits = pl_arena_array(x->tmp, uint8_t, n + 1),
            *tables = pl_arena_array(x->tmp, uint8_t, n + 1);
    uint32_t *latch =
        pl_arena_array(x->tmp, uint32_t, n + 1); /* by header of a loop; block 0 is none */
    uint32_t *stamp = pl_arena_array(x->tmp, uint32_t, n + 1),
             *block = pl_arena_array(x->tmp, uint32_t, n + 1);
    if (!exits || !tables || !latch || !stamp || !block || !pl_loop_post_dominance_alloc(&e, x))
        return false;
    for (uint32_t j = 0; j < x->nrpo; j++)
        for (uint32_t b = x->rpo[j], l = x->blocks.at[b].loop; l != PL_IR_NONE;
             l = x->blocks.at[l].parent_loop)
            for (uint32_t k = 0; k < pl_ir_successors(x, b); k++)
                if (!pl_ir_loop_contains(x, pl_ir_successor(x, b, k), l)) {
                    exits[l] = (uint8_t)(exits[l] ? 2 : 1);
                    break;
                }
    for (uint32_t j = x->nrpo; j-- > 0;) {
        const uint32_t header = x->rpo[j];
        if (!x->blocks.at[header].nlatches ||
            (exits[header] < 2 && (x->blocks.at[header].nlatches < 2 ||
                                   !iterations_end_together(x, header, stamp, block))))
            continue;
        pl_loop_post_dominance_find(&e, x, header);
        for (uint32_t k = e.nrpo; k-- > 0;) {
            const uint32_t b = e.rpo[k];
            if (!may_diverge(x, v, pointers, b) || edges_inside(x, b, header) < 2) continue;
            const bool behind = e.ipdom[b] == n;
            tables[header] |= behind && pl_insn_is_table(pl_ir_branch(x, b));
            if (!note(x, m, b,
                      (sync_point){.block = behind ? n + header : e.ipdom[b], .in_loop = true}))
                return false;
        }
    }
    for (size_t k = 0; k < m->list.n; k++) {
        const uint32_t header = m->list.at[k].block - n;
        if (m->list.at[k].block < n) continue;
        if (latch[header] == 0) latch[header] = tables[header] ? header : one_latch(x, header);
        m->list.at[k].block = latch[header];
    }
    return pl_ir_ok(x);
}

/* Before the branch that ends the block: those who jump, or fall through, leave. */
static bool put_break(pl_ir *x, uint32_t b, bool jumps, bool falls)
{
    const pl_insn *i = pl_ir_branch(x, b);
    const uint32_t guard = i && !(jumps && falls) ? i->guard : PL_PT;
    const bool negated = i && guard != PL_PT && !(i->flags & PL_IF_GUARD_NEG) == falls;
    const uint32_t line = i ? i->line : 0;
    const size_t at = x->blocks.at[b].code.n - (i != NULL);
    if (!put(x, b, at, M__break, line)) return false;
    pl_insn *leave = &x->blocks.at[b].code.at[at];
    leave->guard = guard;
    leave->flags |= negated ? PL_IF_GUARD_NEG : 0;
    return true;
}

/* Before each branch that leaves the loop on the way from where lanes diverge to where they meet
 * in it. */
static bool leave_sync_point(pl_ir *x, uint32_t from, uint32_t meet, uint32_t *stamp,
                             uint32_t *stack)
{
    const uint32_t loop = x->blocks.at[meet].loop;
    uint32_t depth = 0;
    if (!pl_ir_loop_contains(x, from, loop)) return true;
    stack[depth++] = from;
    stamp[from] = meet + 1;
    while (depth) {
        const uint32_t b = stack[--depth];
        bool jumps = false, falls = false;
        for (uint32_t k = 0; k < pl_ir_successors(x, b); k++) {
            const uint32_t to = pl_ir_successor(x, b, k);
            if (!pl_ir_loop_contains(x, to, loop)) {
                *(k + 1 == pl_ir_successors(x, b) && to == x->blocks.at[b].fallthrough ? &falls
                                                                                       : &jumps) =
                    true;
                continue;
            }
            if (to == meet || to == loop || stamp[to] == meet + 1) continue;
            stamp[to] = meet + 1;
            stack[depth++] = to;
        }
        if ((jumps || falls) && !put_break(x, b, jumps, falls)) return false;
    }
    return true;
}

/* ---- meeting where not all come ---- */

/* Several conditions in a row send lanes to the same block, while others go where all meet at the
 * end: `if (a || b)` or `if (a && b) ... else` with tests that cannot be computed at once.
 * ptxas 13.0 (25 graphs of blocks, 2026-11) lets those who come to the block meet before it,
 * one block for each place where lanes diverge: that which no other one leads to, if it or what is
 * only reached through it looks at memory. Blocks that only differ in numbers are not worth it. By
 * the block where lanes diverge. */
static uint32_t *joins_early(pl_ir *x, const pl_post_dominance *e, uint32_t *stamp, uint32_t *block)
{
    uint32_t *best = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1);
    uint8_t *looks = pl_arena_array(x->tmp, uint8_t, x->blocks.n + 1);
    if (!best || !looks) return NULL;
    memset(best, 0xff, (x->blocks.n + 1) * sizeof *best);
    for (uint32_t j = x->nrpo; j-- > 0;) {
        looks[x->rpo[j]] |= uses_memory(&x->blocks.at[x->rpo[j]], false);
        looks[x->blocks.at[x->rpo[j]].idom] |= looks[x->rpo[j]];
    }
    for (uint32_t j = 1; j < x->nrpo; j++) {
        const uint32_t to = x->rpo[j], from = x->blocks.at[to].idom;
        const pl_ir_block *t = &x->blocks.at[to];
        if (to == e->ipdom[from] || t->npreds < 2 || t->loop != x->blocks.at[from].loop ||
            t->nlatches || !looks[to])
            continue;
        if (best[from] != PL_IR_NONE) {
            edges_to(x, from, to, stamp, block);
            if (stamp[best[from]] != to + 1) continue;
        }
        best[from] = to;
    }
    return best;
}

/* Lanes that come to a block from several sides meet before it. Inner ones first. */
static bool add_early_sync_points(pl_ir *x, const pl_divergence *v, const uint8_t *pointers,
                                  const pl_post_dominance *e, sync_points *m)
{
    uint32_t *stamp = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1),
             *block = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1);
    const uint32_t *joined = stamp && block ? joins_early(x, e, stamp, block) : NULL;
    if (!joined) return false;
    for (uint32_t j = x->nrpo; j-- > 0;) {
        const uint32_t from = x->rpo[j], end = e->ipdom[from], meet = joined[from];
        if (meet == PL_IR_NONE || !may_diverge(x, v, pointers, from) ||
            (end < x->blocks.n && x->blocks.at[end].loop != x->blocks.at[from].loop))
            continue;
        memset(stamp, 0, x->blocks.n * sizeof *stamp);
        for (uint32_t k = edges_to(x, from, meet, stamp, block); k-- > 0;) {
            const uint32_t b = block[k];
            unsigned ways = 0;
            for (uint32_t s = 0; s < pl_ir_successors(x, b); s++)
                ways +=
                    pl_ir_successor(x, b, s) == meet || stamp[pl_ir_successor(x, b, s)] == meet + 1;
            if (ways < 2 || e->ipdom[b] != end || !may_diverge(x, v, pointers, b)) continue;
            if (!note(x, m, b, (sync_point){.block = meet, .bypassed = true})) return false;
        }
        m->first_divergence[meet] = from;
        m->has_break[meet] = end < x->blocks.n;
    }
    return pl_ir_ok(x);
}

/* Before each branch away from the ways to where some meet. */
static bool note_bypass(pl_ir *x, uint32_t from, uint32_t meet, uint32_t *stamp, uint32_t *block)
{
    memset(stamp, 0, x->blocks.n * sizeof *stamp);
    for (uint32_t k = edges_to(x, from, meet, stamp, block); k-- > 0;) {
        const uint32_t b = block[k];
        bool jumps = false, falls = false;
        for (uint32_t s = 0; s < pl_ir_successors(x, b); s++) {
            const uint32_t to = pl_ir_successor(x, b, s);
            if (to != meet && stamp[to] != meet + 1)
                *(s + 1 == pl_ir_successors(x, b) && to == x->blocks.at[b].fallthrough ? &falls
                                                                                       : &jumps) =
                    true;
        }
        if ((jumps || falls) && !put_break(x, b, jumps, falls)) return false;
    }
    return true;
}

/* Branches name the innermost place where their lanes reconverge, and places the next one outwards:
 * until the order of blocks is known (isa/program/cfg.c), by their blocks plus one. */
static bool number_sync_points(pl_ir *x, sync_points *m)
{
    uint32_t *stamp = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1),
             *stack = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1);
    uint8_t *within =
        pl_arena_array(x->tmp, uint8_t, x->blocks.n + 1); /* a sync point that lanes may leave by */
    if (!stamp || !stack || !within) return false;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        const uint32_t b = x->rpo[j];
        if (!m->first[b]) continue;
        uint32_t last = PL_IR_NONE;
        for (uint32_t k = m->first[b]; k; k = m->list.at[k - 1].next) {
            const uint32_t meet = m->list.at[k - 1].block;
            if (meet == last) continue;
            if (last == PL_IR_NONE) {
                pl_insn *i = &x->blocks.at[b].code.at[x->blocks.at[b].code.n - 1];
                i->imm = meet + 1;
            } else if (!m->outer_point[last])
                m->outer_point[last] = meet + 1;
            if (m->list.at[k - 1].in_loop) {
                within[meet] = 1;
                m->first_divergence[meet] = pl_ir_common_dominator(x, m->first_divergence[meet], b);
            }
            last = meet;
        }
    }
    for (uint32_t meet = 0; meet < x->blocks.n; meet++)
        if ((within[meet] && !leave_sync_point(x, m->first_divergence[meet], meet, stamp, stack)) ||
            (m->has_break[meet] && !note_bypass(x, m->first_divergence[meet], meet, stamp, stack)))
            return false;
    return true;
}

/* Is where all lanes of a branch meet a block of a loop in which they meet already, elsewhere, in
 * every iteration? Some would wait there for those who have to go iteration again. */
static bool in_next_iteration(const pl_ir *x, const sync_points *m, uint32_t b, uint32_t meet)
{
    bool round = false;
    for (uint32_t k = m->first[b]; k; k = m->list.at[k - 1].next) {
        const sync_point *at = &m->list.at[k - 1];
        if (at->block == meet) return false;
        round |= at->in_loop && pl_ir_loop_contains(x, meet, x->blocks.at[at->block].loop);
    }
    return round;
}

static bool exchanges(const pl_insn *i)
{
    return i->form != PL_IR_DEAD && needs_all(i);
}

/* Before the scheduler: the version of the code for lanes that are diverged is another block, so
 * nothing moves past the branch to it. */
bool pl_pass_insert_warp_sync(pl_ir *x)
{
    if (!pl_ir_any(x, exchanges)) return true;
    pl_divergence v;
    pl_post_dominance e;
    if (!begin(x, &v)) return false;
    const uint8_t *pointers, *apart = find_divergent_blocks(x, &v, &e, &pointers, true);
    if (!apart || !insert_mask_queries(x, &v) ||
        !insert_queries_where_divergent(x, &v, pointers, apart))
        return false;
    clear_sync_points(x);
    return pl_ir_ok(x);
}

bool pl_pass_insert_reconvergence(pl_ir *x)
{
    pl_divergence v;
    if (!begin(x, &v) || !precede_copies(x) || (x->f->entry && !aggregate_atomics(x, &v)))
        return false;
    pl_post_dominance e;
    const uint32_t n = (uint32_t)x->blocks.n, most = 2 * n + 1; /* a latch for each loop */
    uint32_t *from = pl_arena_array(x->tmp, uint32_t, most);
    sync_points in = {.first = pl_arena_array(x->tmp, uint32_t, most),
                      .first_divergence = from,
                      .outer_point = pl_arena_array(x->tmp, uint32_t, most),
                      .has_break = pl_arena_array(x->tmp, uint8_t, most)};
    const uint8_t *pointers, *apart = find_divergent_blocks(x, &v, &e, &pointers, true);
    if (!from || !in.first || !in.outer_point || !in.has_break || !apart ||
        !yield_in_polling_loops(x, &v, apart))
        return false;
    memset(from, 0xff, most * sizeof *from);
    if (!add_early_sync_points(x, &v, pointers, &e, &in) ||
        !add_loop_sync_points(x, &v, pointers, &in))
        return false;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        uint32_t b = x->rpo[j];
        bool parts = may_diverge(x, &v, pointers, b);
        x->may_diverge |= parts || exits_divergent(&v, &x->blocks.at[b]);
        uint32_t meet = parts ? e.ipdom[b] : PL_IR_NONE;
        if (meet == PL_IR_NONE || meet == n) continue;
        if (in_next_iteration(x, &in, b, meet)) continue;
        const pl_ir_block *m = &x->blocks.at[meet];
        if (m->code.n &&
            pl_forms[m->code.at[0].form].effects & PL_EF_EXIT) /* nothing left to do together */
            continue;
        if (x->f->entry && m->code.n == 1 && pl_insn_mnem(&m->code.at[0]) == M_ret) continue;
        from[meet] = pl_ir_common_dominator(x, from[meet], b);
        if (in.first[b] && !note(x, &in, b, (sync_point){.block = meet})) return false;
    }
    if (!number_sync_points(x, &in)) return false;
    for (uint32_t m = 0; m < x->blocks.n; m++) {
        uint32_t b = from[m];
        if (b == PL_IR_NONE) continue;
        /* outside of loops that the reconvergence point is not in */
        while (x->blocks.at[b].loop != PL_IR_NONE &&
               x->blocks.at[b].loop_depth > x->blocks.at[m].loop_depth)
            b = x->blocks.at[x->blocks.at[b].loop].idom;
        size_t at = x->blocks.at[b].code.n;
        uint32_t line = x->blocks.at[m].code.n ? x->blocks.at[m].code.at[0].line : 0;
        if (at && pl_ir_branch(x, b)) at--;
        if (!put(x, b, at, M__bssy, at ? x->blocks.at[b].code.at[at - 1].line : line) ||
            !put(x, m, 0, M__bsync, line))
            return false;
        x->blocks.at[m].code.at[0].imm = m + 1;
        x->blocks.at[m].code.at[0].target = in.outer_point[m];
    }
    return pl_ir_graph(x) && pl_ir_ok(x);
}
