/* insert_reconvergence.c - inserts BSSY, BSYNC, BREAK, WARPSYNC and YIELD, where a diverged warp
 * reconverges.
 *
 * This follows machine code of ptxas 13.0 for sm_90 (2026-11). A branch that may diverge is
 * enclosed by BSSY and BSYNC, which name its reconvergence point. Between the two the warp may be
 * diverged. Instructions that need all lanes (barriers, shuffles, votes) are preceded by WARPSYNC,
 * which waits for the lanes, or by BRA.DIV, which branches to another version of the code if some
 * are missing. A loop there that polls memory yields to other lanes (YIELD). */
#include "compiler/codegen/reconvergence.h"

#include <string.h>

/* ---- reconvergence in loops ---- */

/* Reconvergence points of branches, from the innermost loop outwards. */
typedef struct sync_point {
    uint32_t block, next; /* next: next point of the same branch, plus one */
    bool in_loop;  /* for lanes that stay in a loop; the block may be n plus the header of the loop:
                      after an iteration */
    bool bypassed; /* some lanes leave before it and bypass it */
} sync_point;

typedef struct sync_points {
    struct {
        sync_point *at;
        size_t n, cap;
    } list;
    uint32_t *first;            /* by block: list of its branch, plus one */
    uint32_t *first_divergence; /* by sync point: the block where its lanes first diverge */
    uint32_t *outer_point;      /* by sync point: where lanes that bypass it reconverge, plus one */
    uint8_t *has_break; /* by sync point: a path to the post-dominator bypasses it, which requires a
                           BREAK */
} sync_points;

/* Adds a reconvergence point for lanes of block b. Points that lanes reach earlier precede it: a
 * point that some lanes bypass follows the one where the rest of an iteration reconverges. A point
 * that is in the list already is not added again, since it would follow itself. */
static bool add_sync_point(pl_ir *x, sync_points *m, uint32_t b, sync_point point)
{
    uint32_t *at = &m->first[b], *insert_at = NULL;
    for (; *at; at = &m->list.at[*at - 1].next) {
        sync_point *o = &m->list.at[*at - 1];
        if (o->block == point.block) {
            o->in_loop |= point.in_loop;
            return true;
        }
        if (!insert_at && o->bypassed && point.block < x->blocks.n &&
            x->blocks.at[point.block].loop == x->blocks.at[o->block].loop &&
            x->blocks.at[point.block].rpo_index < x->blocks.at[o->block].rpo_index)
            insert_at = at;
    }
    insert_at = insert_at ? insert_at : at;
    point.next = *insert_at;
    *insert_at = (uint32_t)m->list.n + 1;
    *pl_push(x->tmp, &m->list) = point;
    return pl_ir_ok(x);
}

/* The number of a branch's edges that stay in the loop, including back edges. */
static unsigned edges_inside(pl_ir *x, uint32_t b, uint32_t header)
{
    unsigned n = 0;
    for (uint32_t k = 0; k < pl_ir_successors(x, b); k++)
        n += pl_ir_loop_contains(x, pl_ir_successor(x, b, k), header);
    return n;
}

/* Gives the loop a single latch. */
static uint32_t make_single_latch(pl_ir *x, uint32_t header)
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

/* Marks the blocks on the paths from `from`, which dominates it, to block `join`, without back
 * edges of their loop; returns their number. */
static uint32_t mark_paths(const pl_ir *x, uint32_t from, uint32_t join, uint32_t *stamp,
                           uint32_t *block)
{
    uint32_t n = 0, done = 0;
    stamp[from] = join + 1;
    block[n++] = from;
    for (uint32_t b = join;; b = block[++done]) {
        for (uint32_t k = 0; k < x->blocks.at[b].npreds; k++) {
            const uint32_t q = x->predecessors[x->blocks.at[b].first_pred + k];
            if (x->blocks.at[q].rpo_index == PL_IR_NONE || stamp[q] == join + 1 || q == join)
                continue;
            stamp[q] = join + 1;
            block[n++] = q;
        }
        if (done + 1 >= n) return n;
    }
}

/* True if the block accesses memory; `non_local`: memory that other threads can access. */
static bool uses_memory(const pl_ir_block *b, bool non_local)
{
    for (size_t k = 0; k < b->code.n; k++)
        if ((b->code.at[k].flags & PL_IF_MEM) &&
            !(non_local && b->code.at[k].sel[PL_M_SPACE] == PL_SP_LOCAL))
            return true;
    return false;
}

/* Finds the blocks of the iterations that end in this latch. */
static uint32_t mark_iteration(const pl_ir *x, uint32_t header, uint32_t latch, uint32_t *stamp,
                               uint32_t *block)
{
    memset(stamp, 0, x->blocks.n * sizeof *stamp);
    const uint32_t n = latch == header ? 0 : mark_paths(x, header, latch, stamp, block);
    stamp[latch] = latch + 1;
    block[n] = latch;
    return n + 1;
}

/* True if all latches of the loop are the end of one iteration, where lanes reconverge. ptxas 13.0
 * (20 loops, 2026-11) treats the shortest of several back edges as a nested loop under two
 * conditions. That loop exits to one block only, and the rest of an iteration accesses memory that
 * other threads can access. Then its lanes reconverge after the nested loop. */
static bool iterations_end_together(pl_ir *x, uint32_t header, uint32_t *stamp, uint32_t *block)
{
    uint32_t fewest = UINT32_MAX, shortest = header, exit_block = PL_IR_NONE;
    for (uint32_t k = 0; k < x->blocks.at[header].npreds; k++) {
        const uint32_t latch = x->predecessors[x->blocks.at[header].first_pred + k];
        const uint32_t n = pl_ir_loop_contains(x, latch, header)
                               ? mark_iteration(x, header, latch, stamp, block)
                               : UINT32_MAX;
        if (n < fewest) {
            fewest = n;
            shortest = latch;
        }
    }
    const uint32_t n = mark_iteration(x, header, shortest, stamp, block);
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t s = 0; s < pl_ir_successors(x, block[j]); s++) {
            const uint32_t to = pl_ir_successor(x, block[j], s);
            if (stamp[to] == shortest + 1) continue;
            if (exit_block != PL_IR_NONE && to != exit_block) return true;
            exit_block = to;
        }
    for (uint32_t j = 0; j < x->nrpo; j++)
        if (stamp[x->rpo[j]] != shortest + 1 && pl_ir_loop_contains(x, x->rpo[j], header) &&
            uses_memory(&x->blocks.at[x->rpo[j]], true))
            return false;
    return true;
}

/* Adds reconvergence points for lanes that stay in a loop while others may leave it, for example by
 * `break`. They differ from the reconvergence point of all lanes only if the loop has several
 * exits, or if lanes return to its header early. */
static bool add_loop_sync_points(pl_ir *x, const pl_divergence *v, const uint8_t *pointers,
                                 sync_points *m)
{
    pl_post_dominance e;
    const uint32_t n = (uint32_t)x->blocks.n;
    uint8_t *exits = pl_arena_array(x->tmp, uint8_t, n + 1),
            *has_table = pl_arena_array(x->tmp, uint8_t, n + 1);
    uint32_t *latch = pl_arena_array(x->tmp, uint32_t, n + 1); /* by loop header; 0: none yet */
    uint32_t *stamp = pl_arena_array(x->tmp, uint32_t, n + 1),
             *block = pl_arena_array(x->tmp, uint32_t, n + 1);
    if (!exits || !has_table || !latch || !stamp || !block || !pl_loop_post_dominance_alloc(&e, x))
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
            if (!pl_reconv_may_diverge(x, v, pointers, b) || edges_inside(x, b, header) < 2)
                continue;
            const bool after_iteration = e.ipdom[b] == n;
            has_table[header] |= after_iteration && pl_insn_is_table(pl_ir_branch(x, b));
            if (!add_sync_point(x, m, b,
                                (sync_point){.block = after_iteration ? n + header : e.ipdom[b],
                                             .in_loop = true}))
                return false;
        }
    }
    for (size_t k = 0; k < m->list.n; k++) {
        const uint32_t header = m->list.at[k].block - n;
        if (m->list.at[k].block < n) continue;
        if (latch[header] == 0)
            latch[header] = has_table[header] ? header : make_single_latch(x, header);
        m->list.at[k].block = latch[header];
    }
    return pl_ir_ok(x);
}

/* Inserts BREAK before the branch that ends the block, for lanes that jump, or fall through. */
static bool insert_break(pl_ir *x, uint32_t b, bool jumps, bool falls)
{
    const pl_insn *i = pl_ir_branch(x, b);
    const uint32_t guard = i && !(jumps && falls) ? i->guard : PL_PT;
    const bool negated = i && guard != PL_PT && !(i->flags & PL_IF_GUARD_NEG) == falls;
    const uint32_t line = i ? i->line : 0;
    const size_t at = x->blocks.at[b].code.n - (i != NULL);
    if (!pl_reconv_insert(x, b, at, M__break, line)) return false;
    pl_insn *break_insn = &x->blocks.at[b].code.at[at];
    break_insn->guard = guard;
    break_insn->flags |= negated ? PL_IF_GUARD_NEG : 0;
    return true;
}

/* Inserts BREAK before each branch that leaves the loop on a path from the divergent branch to its
 * reconvergence point in the loop. */
static bool break_loop_exits(pl_ir *x, uint32_t from, uint32_t join, uint32_t *stamp,
                             uint32_t *stack)
{
    const uint32_t loop = x->blocks.at[join].loop;
    uint32_t depth = 0;
    if (!pl_ir_loop_contains(x, from, loop)) return true;
    stack[depth++] = from;
    stamp[from] = join + 1;
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
            if (to == join || to == loop || stamp[to] == join + 1) continue;
            stamp[to] = join + 1;
            stack[depth++] = to;
        }
        if ((jumps || falls) && !insert_break(x, b, jumps, falls)) return false;
    }
    return true;
}

/* ---- reconvergence points that some lanes bypass ---- */

/* Several conditions in sequence send lanes to the same block, while others go to the
 * post-dominator: `if (a || b)`, or `if (a && b) ... else` with tests that cannot be combined.
 * ptxas 13.0 (25 control-flow graphs, 2026-11) reconverges the lanes that reach the block before
 * it. It does so for one block per divergent branch: the one that no other candidate leads to, if
 * it or a block that it dominates accesses memory. Blocks that differ only in constants do not
 * qualify. The result is indexed by the divergent block. */
static uint32_t *find_early_joins(pl_ir *x, const pl_post_dominance *e, uint32_t *stamp,
                                  uint32_t *block)
{
    uint32_t *best = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1);
    uint8_t *accesses_memory = pl_arena_array(x->tmp, uint8_t, x->blocks.n + 1);
    if (!best || !accesses_memory) return NULL;
    memset(best, 0xff, (x->blocks.n + 1) * sizeof *best);
    for (uint32_t j = x->nrpo; j-- > 0;) {
        accesses_memory[x->rpo[j]] |= uses_memory(&x->blocks.at[x->rpo[j]], false);
        accesses_memory[x->blocks.at[x->rpo[j]].idom] |= accesses_memory[x->rpo[j]];
    }
    for (uint32_t j = 1; j < x->nrpo; j++) {
        const uint32_t to = x->rpo[j], from = x->blocks.at[to].idom;
        const pl_ir_block *t = &x->blocks.at[to];
        if (to == e->ipdom[from] || t->npreds < 2 || t->loop != x->blocks.at[from].loop ||
            t->nlatches || !accesses_memory[to])
            continue;
        if (best[from] != PL_IR_NONE) {
            mark_paths(x, from, to, stamp, block);
            if (stamp[best[from]] != to + 1) continue;
        }
        best[from] = to;
    }
    return best;
}

/* Adds reconvergence points before blocks that lanes reach from several predecessors. Inner blocks
 * first. */
static bool add_early_sync_points(pl_ir *x, const pl_divergence *v, const uint8_t *pointers,
                                  const pl_post_dominance *e, sync_points *m)
{
    uint32_t *stamp = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1),
             *block = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1);
    const uint32_t *joined = stamp && block ? find_early_joins(x, e, stamp, block) : NULL;
    if (!joined) return false;
    for (uint32_t j = x->nrpo; j-- > 0;) {
        const uint32_t from = x->rpo[j], end = e->ipdom[from], join = joined[from];
        if (join == PL_IR_NONE || !pl_reconv_may_diverge(x, v, pointers, from) ||
            (end < x->blocks.n && x->blocks.at[end].loop != x->blocks.at[from].loop))
            continue;
        memset(stamp, 0, x->blocks.n * sizeof *stamp);
        for (uint32_t k = mark_paths(x, from, join, stamp, block); k-- > 0;) {
            const uint32_t b = block[k];
            unsigned inner_edges = 0;
            for (uint32_t s = 0; s < pl_ir_successors(x, b); s++)
                inner_edges +=
                    pl_ir_successor(x, b, s) == join || stamp[pl_ir_successor(x, b, s)] == join + 1;
            if (inner_edges < 2 || e->ipdom[b] != end || !pl_reconv_may_diverge(x, v, pointers, b))
                continue;
            if (!add_sync_point(x, m, b, (sync_point){.block = join, .bypassed = true}))
                return false;
        }
        m->first_divergence[join] = from;
        m->has_break[join] = end < x->blocks.n;
    }
    return pl_ir_ok(x);
}

/* Inserts BREAK before each branch off the paths to a reconvergence point that some lanes
 * bypass. */
static bool break_bypasses(pl_ir *x, uint32_t from, uint32_t join, uint32_t *stamp, uint32_t *block)
{
    memset(stamp, 0, x->blocks.n * sizeof *stamp);
    for (uint32_t k = mark_paths(x, from, join, stamp, block); k-- > 0;) {
        const uint32_t b = block[k];
        bool jumps = false, falls = false;
        for (uint32_t s = 0; s < pl_ir_successors(x, b); s++) {
            const uint32_t to = pl_ir_successor(x, b, s);
            if (to != join && stamp[to] != join + 1)
                *(s + 1 == pl_ir_successors(x, b) && to == x->blocks.at[b].fallthrough ? &falls
                                                                                       : &jumps) =
                    true;
        }
        if ((jumps || falls) && !insert_break(x, b, jumps, falls)) return false;
    }
    return true;
}

/* Assigns to each branch its innermost reconvergence point, and to each point the next outer one.
 * They are numbered by block, plus one, until the order of blocks is known
 * (find_reconvergence.c). */
static bool number_sync_points(pl_ir *x, sync_points *m)
{
    uint32_t *stamp = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1),
             *stack = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1);
    uint8_t *may_leave =
        pl_arena_array(x->tmp, uint8_t, x->blocks.n + 1); /* by sync point: lanes may leave it */
    if (!stamp || !stack || !may_leave) return false;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        const uint32_t b = x->rpo[j];
        if (!m->first[b]) continue;
        uint32_t last = PL_IR_NONE;
        for (uint32_t k = m->first[b]; k; k = m->list.at[k - 1].next) {
            const uint32_t join = m->list.at[k - 1].block;
            if (join == last) continue;
            if (last == PL_IR_NONE) {
                pl_insn *i = &x->blocks.at[b].code.at[x->blocks.at[b].code.n - 1];
                i->imm = join + 1;
            } else if (!m->outer_point[last])
                m->outer_point[last] = join + 1;
            if (m->list.at[k - 1].in_loop) {
                may_leave[join] = 1;
                m->first_divergence[join] = pl_ir_common_dominator(x, m->first_divergence[join], b);
            }
            last = join;
        }
    }
    for (uint32_t join = 0; join < x->blocks.n; join++)
        if ((may_leave[join] &&
             !break_loop_exits(x, m->first_divergence[join], join, stamp, stack)) ||
            (m->has_break[join] &&
             !break_bypasses(x, m->first_divergence[join], join, stamp, stack)))
            return false;
    return true;
}

/* True if the post-dominator of a branch is in a loop whose lanes reconverge elsewhere in every
 * iteration. Some lanes would wait there for lanes that execute another iteration. */
static bool in_next_iteration(const pl_ir *x, const sync_points *m, uint32_t b, uint32_t join)
{
    bool next_iteration = false;
    for (uint32_t k = m->first[b]; k; k = m->list.at[k - 1].next) {
        const sync_point *at = &m->list.at[k - 1];
        if (at->block == join) return false;
        next_iteration |= at->in_loop && pl_ir_loop_contains(x, join, x->blocks.at[at->block].loop);
    }
    return next_iteration;
}

static bool needs_all_lanes(const pl_insn *i)
{
    return i->form != PL_IR_DEAD && pl_reconv_needs_all(i);
}

/* Runs before the scheduler: the version of the code for diverged lanes is another block, so no
 * instruction moves across the branch to it. */
bool pl_pass_insert_warp_sync(pl_ir *x)
{
    if (!pl_ir_any(x, needs_all_lanes)) return true;
    pl_divergence v;
    pl_post_dominance e;
    if (!pl_reconv_begin(x, &v)) return false;
    const uint8_t *pointers,
        *divergent = pl_reconv_find_divergent_blocks(x, &v, &e, &pointers, true);
    if (!divergent || !pl_reconv_insert_mask_queries(x, &v) ||
        !pl_reconv_insert_queries_where_divergent(x, &v, pointers, divergent))
        return false;
    pl_reconv_clear_sync_points(x);
    return pl_ir_ok(x);
}

bool pl_pass_insert_reconvergence(pl_ir *x)
{
    pl_divergence v;
    if (!pl_reconv_begin(x, &v) || !pl_reconv_precede_copies(x) ||
        (x->f->entry && !pl_reconv_aggregate_atomics(x, &v)))
        return false;
    pl_post_dominance e;
    const uint32_t n = (uint32_t)x->blocks.n, capacity = 2 * n + 1; /* plus a latch for each loop */
    uint32_t *from = pl_arena_array(x->tmp, uint32_t, capacity);
    sync_points in = {.first = pl_arena_array(x->tmp, uint32_t, capacity),
                      .first_divergence = from,
                      .outer_point = pl_arena_array(x->tmp, uint32_t, capacity),
                      .has_break = pl_arena_array(x->tmp, uint8_t, capacity)};
    const uint8_t *pointers,
        *divergent = pl_reconv_find_divergent_blocks(x, &v, &e, &pointers, true);
    if (!from || !in.first || !in.outer_point || !in.has_break || !divergent ||
        !pl_reconv_yield_in_polling_loops(x, &v, divergent))
        return false;
    memset(from, 0xff, capacity * sizeof *from);
    if (!add_early_sync_points(x, &v, pointers, &e, &in) ||
        !add_loop_sync_points(x, &v, pointers, &in))
        return false;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        uint32_t b = x->rpo[j];
        bool diverges = pl_reconv_may_diverge(x, &v, pointers, b);
        x->may_diverge |= diverges || pl_reconv_exits_divergent(&v, &x->blocks.at[b]);
        uint32_t join = diverges ? e.ipdom[b] : PL_IR_NONE;
        if (join == PL_IR_NONE || join == n) continue;
        if (in_next_iteration(x, &in, b, join)) continue;
        const pl_ir_block *m = &x->blocks.at[join];
        /* No code remains to be executed converged. */
        if (m->code.n && pl_forms[m->code.at[0].form].effects & PL_EF_EXIT) continue;
        if (x->f->entry && m->code.n == 1 && pl_insn_mnem(&m->code.at[0]) == M_ret) continue;
        from[join] = pl_ir_common_dominator(x, from[join], b);
        if (in.first[b] && !add_sync_point(x, &in, b, (sync_point){.block = join})) return false;
    }
    if (!number_sync_points(x, &in)) return false;
    for (uint32_t m = 0; m < x->blocks.n; m++) {
        uint32_t b = from[m];
        if (b == PL_IR_NONE) continue;
        /* outside of loops that do not contain the reconvergence point */
        while (x->blocks.at[b].loop != PL_IR_NONE &&
               x->blocks.at[b].loop_depth > x->blocks.at[m].loop_depth)
            b = x->blocks.at[x->blocks.at[b].loop].idom;
        size_t at = x->blocks.at[b].code.n;
        uint32_t line = x->blocks.at[m].code.n ? x->blocks.at[m].code.at[0].line : 0;
        if (at && pl_ir_branch(x, b)) at--;
        if (!pl_reconv_insert(x, b, at, M__bssy,
                              at ? x->blocks.at[b].code.at[at - 1].line : line) ||
            !pl_reconv_insert(x, m, 0, M__bsync, line))
            return false;
        x->blocks.at[m].code.at[0].imm = m + 1;
        x->blocks.at[m].code.at[0].target = in.outer_point[m];
    }
    return pl_ir_graph(x) && pl_ir_ok(x);
}
