/* warp_sync.c - inserts WARPSYNC and BRA.DIV before instructions that need all lanes of a warp, and
 * YIELD in polling loops. */
#include "compiler/codegen/reconvergence.h"

#include <string.h>

/* True if some lanes may leave the function in this block, or take the slow path of a division,
 * while others continue. */
bool pl_reconv_exits_divergent(const pl_divergence *v, const pl_ir_block *b)
{
    for (size_t k = 0; k < b->code.n; k++) {
        const pl_insn *i = &b->code.at[k];
        bool leaves = (pl_insn_effects(i) & PL_EF_EXIT) || pl_insn_mnem(i) == M_ret;
        if (pl_insn_mnem(i) == M__slow || (leaves && i->guard > PL_PF && v->pred[i->guard]))
            return true;
    }
    return false;
}

/* Marks the blocks that lanes may reach diverged because an indirect call sent them to different
 * functions, including the block of the call. */
static uint8_t *find_indirect_divergence(pl_ir *x)
{
    uint8_t *divergent = pl_arena_array(x->tmp, uint8_t, x->blocks.n + 1);
    uint32_t *stack = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1), depth = 0;
    if (!divergent || !stack) return NULL;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        const pl_ir_block *b = &x->blocks.at[x->rpo[j]];
        for (size_t k = 0; k < b->code.n && !divergent[x->rpo[j]]; k++)
            if ((pl_insn_effects(&b->code.at[k]) & PL_EF_CALL) &&
                x->p->calls.at[b->code.at[k].target].callee == UINT32_MAX) {
                divergent[x->rpo[j]] = 1;
                stack[depth++] = x->rpo[j];
            }
    }
    while (depth) {
        uint32_t b = stack[--depth];
        for (uint32_t k = 0; k < pl_ir_successors(x, b); k++) {
            uint32_t to = pl_ir_successor(x, b, k);
            if (!divergent[to]) {
                divergent[to] = 1;
                stack[depth++] = to;
            }
        }
    }
    return divergent;
}

/* ---- lanes that may be diverged ---- */

/* True if an edge of the branch leads only to the end of the kernel. */
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

/* True if lanes of a warp may take different edges of this branch. */
bool pl_reconv_may_diverge(pl_ir *x, const pl_divergence *v, const uint8_t *pointers, uint32_t b)
{
    const pl_insn *i = pl_ir_branch(x, b);
    return i && ((i->guard > PL_PF && (v->pred[i->guard] || pointers[b])) ||
                 (pl_forms[i->form].noperands == 2 && v->row[i->op[0]]));
}

/* Marks the blocks that some lanes of a warp reach while others are elsewhere: those that are
 * control-dependent on a divergent branch, or on any branch in such a block. A branch affects the
 * blocks from its successors on the way to its post-dominator; those marked already are skipped.
 * count_exited: lanes that have exited by a branch count as elsewhere. */
static uint8_t *mark_divergent_blocks(pl_ir *x, const pl_divergence *v, const uint8_t *pointers,
                                      const pl_post_dominance *e, bool count_exited)
{
    uint32_t n = (uint32_t)x->blocks.n, depth = 0;
    uint8_t *divergent = pl_arena_array(x->tmp, uint8_t, n + 1);
    uint32_t *next_unmarked = pl_arena_array(x->tmp, uint32_t, n + 1),
             *stack = pl_arena_array(x->tmp, uint32_t, 2 * (size_t)n + 1);
    if (!divergent || !next_unmarked || !stack) return NULL;
    for (uint32_t b = 0; b <= n; b++) next_unmarked[b] = b;
    for (uint32_t j = 0; j < x->nrpo; j++)
        if (pl_reconv_may_diverge(x, v, pointers, x->rpo[j]) &&
            (count_exited || !lets_lanes_exit(x, x->rpo[j])))
            stack[depth++] = x->rpo[j];
    while (depth) {
        uint32_t b = stack[--depth], stop = e->ipdom[b];
        for (uint32_t k = 0; stop != PL_IR_NONE && k < pl_ir_successors(x, b); k++)
            for (uint32_t to = pl_ir_successor(x, b, k); e->ipdom[to] != PL_IR_NONE;) {
                while (next_unmarked[to] != to) /* the nearest unmarked one */
                    to = next_unmarked[to] = next_unmarked[next_unmarked[to]];
                if (to == n || e->rpo_index[to] >= e->rpo_index[stop]) break;
                divergent[to] = 1;
                next_unmarked[to] = e->ipdom[to];
                stack[depth++] = to;
            }
    }
    return divergent;
}

bool pl_reconv_begin(pl_ir *x, pl_divergence *v)
{
    pl_ir_sweep(x);
    return pl_ir_graph(x) && pl_ir_uses(x) && pl_divergence_find(v, x);
}

/* Calls mark_divergent_blocks after computing its inputs. Returns NULL when out of memory. */
const uint8_t *pl_reconv_find_divergent_blocks(pl_ir *x, const pl_divergence *v,
                                               pl_post_dominance *e, const uint8_t **pointers,
                                               bool count_exited)
{
    *pointers = find_indirect_divergence(x);
    return *pointers && pl_post_dominance_find(e, x)
               ? mark_divergent_blocks(x, v, *pointers, e, count_exited)
               : NULL;
}

bool pl_find_divergent_blocks(pl_ir *x, const pl_divergence *v, const uint8_t **divergent,
                              const uint8_t **partial)
{
    pl_post_dominance e;
    const uint8_t *pointers;
    *divergent = pl_reconv_find_divergent_blocks(x, v, &e, &pointers, false);
    *partial = *divergent ? mark_divergent_blocks(x, v, pointers, &e, true) : NULL;
    return *partial != NULL;
}

/* The remainder of an exchange whose results are unused, from pl_pass_dce. */
static bool only_reconverges(const pl_insn *i)
{
    return i->latency_class == C_free && pl_insn_mnem(i) == M_bar &&
           (pl_insn_effects(i) & PL_EF_CONVERGE);
}

/* True if the instruction needs all lanes of the warp. */
bool pl_reconv_needs_all(const pl_insn *i)
{
    return only_reconverges(i) || i->latency_class == C_barrier || i->latency_class == C_shfl ||
           i->latency_class == C_vote || i->latency_class == C_match ||
           i->latency_class == C_redux || i->latency_class == C_warp_sync;
}

/* The first such instruction of a block that is not predicated; else the end of the block. */
static size_t first_sync_point(const pl_ir_block *b)
{
    size_t k = 0;
    while (k < b->code.n && !(pl_reconv_needs_all(&b->code.at[k]) && b->code.at[k].guard == PL_PT))
        k++;
    return k;
}

/* True if lanes exchange values. */
static bool exchange_of_lanes(const pl_insn *i)
{
    return i->latency_class == C_shfl || i->latency_class == C_vote ||
           i->latency_class == C_match || i->latency_class == C_redux;
}

/* The mask operand of such an instruction, if it is divergent; PL_IR_NONE: it is uniform. */
static uint32_t divergent_mask(const pl_divergence *v, const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    for (unsigned k = 0; k < f->noperands && k < PL_INLINE_OPERANDS && exchange_of_lanes(i); k++)
        if (strcmp(f->operand[k].name, "mask") == 0 && v->row[i->op[k]]) return i->op[k];
    return PL_IR_NONE;
}

/* True if the lanes diverge into groups for the instruction. ptxas 13.0 (20 kernels, 2026-11) does
 * that for a single instruction of a block, for two REDUX, and for all but shuffles if the mask is
 * the result of MATCH. For others it tests whether all lanes name the same ones. */
static bool diverges_by_groups(const pl_ir *x, const pl_divergence *v, const pl_ir_block *b,
                               const pl_insn *i, uint32_t mask)
{
    const pl_insn *from = pl_ir_writer(x, mask);
    unsigned n = 0;
    for (size_t k = 0; k < b->code.n; k++) n += divergent_mask(v, &b->code.at[k]) == mask;
    return i->guard == PL_PT &&
           (n == 1 || (i->latency_class == C_redux && n == 2) ||
            (i->latency_class != C_shfl && from && from->latency_class == C_match));
}

/* Inserts WARPSYNC with the mask before it, enclosed by BSSY and BSYNC except for a shuffle, after
 * which the groups stay diverged. */
static bool diverge_by_groups(pl_ir *x, uint32_t b, size_t *at, uint32_t mask)
{
    const pl_insn i = x->blocks.at[b].code.at[*at];
    const bool sync_at = i.latency_class != C_shfl;
    if (sync_at && (!pl_reconv_insert(x, b, *at + 1, M__bsync, i.line) ||
                    !pl_reconv_insert(x, b, (*at)++, M__bssy, i.line)))
        return false;
    pl_insn *groups = pl_ir_insert(x, b, *at);
    if (!groups || !pl_insn_make(groups, M__groups, 1, NULL, 0)) return false;
    groups->op[0] = mask;
    groups->line = i.line;
    *at += 1 + sync_at;
    return true;
}

/* Inserts one query for all instructions that name the same lanes. */
bool pl_reconv_insert_mask_queries(pl_ir *x, const pl_divergence *v)
{
    for (uint32_t j = 0; j < x->nrpo; j++) {
        uint32_t b = x->rpo[j], queried = PL_IR_NONE;
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            uint32_t mask = divergent_mask(v, &x->blocks.at[b].code.at[k]);
            if (mask == PL_IR_NONE || mask == queried) continue;
            if (!pl_ir_count(x)) return false;
            if (diverges_by_groups(x, v, &x->blocks.at[b], &x->blocks.at[b].code.at[k], mask)) {
                if (!diverge_by_groups(x, b, &k, mask)) return false;
                continue;
            }
            if (!pl_reconv_insert(x, b, k, M__agree, x->blocks.at[b].code.at[k].line)) return false;
            k++;
            queried = mask;
        }
    }
    return true;
}

/* If lanes are missing, shuffles and votes branch to another version of themselves; other
 * instructions wait for the lanes. */
static bool insert_lane_queries(pl_ir *x, uint32_t b, size_t k)
{
    pl_insn *at = &x->blocks.at[b].code.at[k];
    const bool leaves = at->latency_class == C_shfl || at->latency_class == C_vote;
    if (at->latency_class == C_warp_sync || only_reconverges(at)) {
        at->latency_class = C_bsync;
        return true;
    }
    return pl_reconv_insert(x, b, k, leaves ? M__apart : M__warpsync, at->line);
}

/* Marks the successors of a block that lanes reach diverged, and pushes those newly marked; returns
 * the depth of the stack. */
static uint32_t mark_successors(const pl_ir *x, uint32_t b, const uint8_t *divergent, uint8_t *mark,
                                uint32_t *stack, uint32_t depth)
{
    for (uint32_t k = 0; k < pl_ir_successors(x, b); k++) {
        uint32_t to = pl_ir_successor(x, b, k);
        if (!divergent[to] || mark[to]) continue;
        mark[to] = 1;
        stack[depth++] = to;
    }
    return depth;
}

/* Synchronises lanes at the first instruction that needs all of them, on each path between a
 * divergent branch and its reconvergence point. */
bool pl_reconv_insert_queries_where_divergent(pl_ir *x, const pl_divergence *v,
                                              const uint8_t *pointers, const uint8_t *divergent)
{
    /* By block: lanes may be missing at its start. */
    uint8_t *may_miss_lanes = pl_arena_array(x->tmp, uint8_t, x->blocks.n + 1);
    uint32_t *stack = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1), depth = 0;
    if (!may_miss_lanes || !stack) return false;
    for (uint32_t j = 0; j < x->nrpo; j++)
        if (pl_reconv_may_diverge(x, v, pointers, x->rpo[j]))
            depth = mark_successors(x, x->rpo[j], divergent, may_miss_lanes, stack, depth);
    while (depth) {
        uint32_t b = stack[--depth];
        const size_t sync_at = first_sync_point(&x->blocks.at[b]);
        if (sync_at < x->blocks.at[b].code.n) {
            if (!insert_lane_queries(x, b, sync_at)) return false;
            continue;
        }
        depth = mark_successors(x, b, divergent, may_miss_lanes, stack, depth);
    }
    return true;
}

/* Removes synchronisation that remains, since a converged warp needs none. */
void pl_reconv_clear_sync_points(pl_ir *x)
{
    for (uint32_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++)
            if (x->blocks.at[b].code.at[k].form != PL_IR_DEAD &&
                only_reconverges(&x->blocks.at[b].code.at[k]))
                pl_ir_remove(x, &x->blocks.at[b].code.at[k]);
    pl_ir_sweep(x);
}

/* True if the block leaves its loop depending on polled memory. */
static bool is_polling(pl_ir *x, const pl_divergence *polled, uint32_t b)
{
    const pl_insn *i = pl_ir_branch(x, b);
    return i && i->guard > PL_PF && polled->pred[i->guard] && pl_ir_leaves_loop(x, b);
}

/* Inserts YIELD in loops that poll memory without sleeping. The loop of an atomic operation needs
 * none, since one lane makes progress in each iteration. */
bool pl_reconv_yield_in_polling_loops(pl_ir *x, const pl_divergence *v, const uint8_t *divergent)
{
    /* By loop header: 1: polls, 2: sleeps or makes progress. */
    uint8_t *state = pl_arena_array(x->tmp, uint8_t, x->blocks.n + 1);
    pl_divergence polled;
    if (!state) return false;
    if (!pl_ir_any(x, pl_divergence_is_polled)) return true;
    if (!pl_divergence_find_polled(&polled, x)) return false;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        uint32_t b = x->rpo[j], loop = x->blocks.at[b].loop;
        if (loop == PL_IR_NONE) continue;
        if ((divergent[b] || v->pred[pl_ir_branch(x, b) ? pl_ir_branch(x, b)->guard : PL_PT]) &&
            is_polling(x, &polled, b))
            state[loop] |= 1;
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++)
            if (x->blocks.at[b].code.at[k].latency_class == C_sleep ||
                x->blocks.at[b].code.at[k].latency_class == C_cast)
                state[loop] |= 2;
    }
    for (uint32_t b = 0; b < x->blocks.n; b++)
        if (state[b] == 1 && !pl_reconv_insert(x, b, x->blocks.at[b].code.n > 1, M__yield,
                                               x->blocks.at[b].code.at[0].line))
            return false;
    return true;
}
