/* if_convert.c - if-conversion: short bodies of branches are predicated, and straight-line
 * sequences of blocks are merged.
 *
 * A branch costs ptxas three instructions where lanes may diverge (BSSY, BRA, BSYNC) and some
 * twenty cycles, so it predicates a body of a few instructions instead. Such a body may contain
 * only instructions that can be predicated and do not stall the warp, and barriers where the lanes
 * stay converged; ptxas does not predicate atomic operations either. */
#include "compiler/opt/if_convert.h"

#include <string.h>

/* The conditional branch with one target that ends the block; NULL: none. */
static pl_insn *conditional_branch(const pl_ir *x, uint32_t b)
{
    pl_insn *branch = pl_ir_branch(x, b);
    return branch && branch->guard > PL_PF && pl_forms[branch->form].noperands == 1 &&
                   x->blocks.at[b].fallthrough != PL_IR_NONE
               ? branch
               : NULL;
}

/* The body of the branch that ends the block, if that may be predicated as well; PL_IR_NONE. */
static uint32_t next_body(const pl_ir *x, uint32_t block)
{
    const pl_insn *branch = conditional_branch(x, block);
    if (!branch) return PL_IR_NONE;
    const uint32_t taken = branch->target, next = x->blocks.at[block].fallthrough,
                   body = pl_ifc_only_successor(x, next) == taken ? next : taken;
    const pl_ir_block *b = &x->blocks.at[body];
    unsigned n = 0;
    if (pl_ifc_only_successor(x, body) != (body == next ? taken : next) || b->npreds != 1 ||
        b->nlatches)
        return PL_IR_NONE;
    for (size_t k = 0; k < b->code.n && n <= x->p->tuning->if_convert.max_insns_loading; k++)
        if (&b->code.at[k] != pl_ir_branch(x, body))
            n += pl_ifc_can_guard(&b->code.at[k], false, false, false)
                     ? pl_insn_cost(x, &b->code.at[k])
                     : x->p->tuning->if_convert.max_insns_loading + 1;
    return n <= x->p->tuning->if_convert.max_insns_loading ? body : PL_IR_NONE;
}

/* Accesses that must follow an access of the body, or one that waits for it. */
typedef struct ordered_accesses {
    bool other, shared; /* to global and other memory, to shared memory */
} ordered_accesses;

/* Marks the registers that depend on the body, or on its loads. */
static ordered_accesses mark_body(if_convert *a, const pl_ir_block *body, bool has_global_loads)
{
    ordered_accesses o = {false, false};
    for (size_t k = 0; k < body->code.n; k++) {
        pl_insn *i = &body->code.at[k];
        o.other |= pl_ifc_is_plain_store(i, false);
        o.shared |= pl_ifc_is_plain_store(i, true);
        if (pl_ifc_is_global_load(i) || !has_global_loads)
            pl_ifc_mark_writes(a, i);
        else
            pl_ifc_depends_on_marked(a, i);
    }
    return o;
}

/* True if the instruction depends on the body, or must follow one of its accesses. */
static bool waits_for_body(if_convert *a, pl_insn *i, ordered_accesses *o)
{
    const uint32_t e = pl_insn_effects(i), writes = e & (PL_EF_STORE | PL_EF_ATOMIC);
    const bool shared = i->sel[PL_M_SPACE] == PL_SP_SHARED, barrier = (e & PL_EF_BARRIER) != 0,
               access = (i->flags & PL_IF_MEM) && (writes || e & PL_EF_LOAD) &&
                        i->sel[PL_M_SPACE] != PL_SP_PARAM && i->sel[PL_M_SPACE] != PL_SP_CONST;
    bool waits = pl_ifc_depends_on_marked(a, i);
    if (!waits &&
        ((access && (shared ? o->shared : o->other)) || (barrier && (o->other || o->shared)))) {
        pl_ifc_mark_writes(a, i);
        waits = true;
    }
    if (e & PL_EF_FENCE) o->other = o->shared = true;
    if (!waits) return false;
    o->shared |= barrier || (access && writes && shared);
    o->other |= barrier || (access && writes && !shared);
    return true;
}

/* A position in the code after the join. */
typedef struct code_walk {
    uint32_t block, nblocks;
    size_t k;
    bool in_next_body; /* in the body of the branch that ends the join */
} code_walk;

/* The next instruction of the join, which continues in blocks that have no other predecessor, or of
 * the next body. NULL: none. */
static pl_insn *next_insn(const pl_ir *x, code_walk *w)
{
    enum { MAX_BLOCKS = 16 };
    const pl_ir_block *b = &x->blocks.at[w->block];
    while (w->k == b->code.n && !w->in_next_body && b->fallthrough != PL_IR_NONE &&
           x->blocks.at[b->fallthrough].npreds == 1 && w->nblocks++ < MAX_BLOCKS) {
        w->block = b->fallthrough;
        w->k = 0;
        b = &x->blocks.at[w->block];
    }
    return w->k < b->code.n ? &b->code.at[w->k++] : NULL;
}

/* Continues in the body of the branch that ends the join. False: it has none. */
static bool enter_next_body(const pl_ir *x, code_walk *w)
{
    const uint32_t next = w->in_next_body ? PL_IR_NONE : next_body(x, w->block);
    if (next == PL_IR_NONE) return false;
    *w = (code_walk){.block = next, .nblocks = w->nblocks, .in_next_body = true};
    return true;
}

/* Number of instructions after the join that can overlap the body while it waits for global memory
 * or executes: in the join, or in the body of the branch that ends it. Another global load is
 * sufficient by itself. */
static unsigned count_overlapped(if_convert *a, uint32_t head, uint32_t body, uint32_t join,
                                 bool has_global_loads)
{
    pl_ir *x = a->x;
    const unsigned max = x->p->tuning->if_convert.max_overlap;
    sink_count s = {.a = a, .head = head, .body = body, .join = join};
    if (!a->needs_shared_base[body])
        s.n = pl_ifc_shared_base_cost(x, a->needs_shared_base, head, join);
    pl_ifc_begin_query(a);
    if (has_global_loads) pl_ifc_sink_body(&s);
    s.words = true;
    ordered_accesses ordered = mark_body(a, &x->blocks.at[body], has_global_loads);
    code_walk w = {.block = join, .nblocks = 1};
    for (pl_insn *i; s.n < max && (i = next_insn(x, &w)) != NULL;) {
        const uint32_t e = pl_insn_effects(i);
        const bool waits = waits_for_body(a, i, &ordered);
        if (has_global_loads && !waits && pl_ifc_is_global_load(i)) return max;
        if (!w.in_next_body) pl_ifc_sink_reads(&s, i);
        s.n += pl_ifc_needs_constant(a, i);
        if (e & PL_EF_BRANCH) {
            s.n += i->guard > PL_PF;
            if (!enter_next_body(x, &w)) break;
            continue;
        }
        if (waits || e & PL_EF_EXIT || (pl_ifc_is_uniform(a, i, 0) && !a->divergent[join]))
            continue;
        if (!pl_insn_reads_cbank_word(x, i) && i->latency_class != C_mov) s.n += pl_insn_cost(x, i);
    }
    return s.n + pl_ifc_count_loads_here(a, join);
}

/* The number of instructions that must overlap a body with loads. Instructions of the body that
 * depend on its loads reduce it. So does the value that the block before the branch computes for
 * the lanes that skip the body, unless it has a register of its own. */
static unsigned required_overlap(if_convert *a, const pl_ir_block *head, const pl_ir_block *body)
{
    const pl_ir *x = a->x;
    uint32_t result = PL_IR_NONE;
    unsigned need = a->x->p->tuning->if_convert.overlap;
    bool computes = false;
    a->query++;
    for (size_t k = 0; k < body->code.n; k++) {
        pl_insn *i = &body->code.at[k];
        if (!pl_ifc_is_global_load(i) && !pl_ifc_depends_on_marked(a, i)) continue;
        pl_ifc_mark_writes(a, i);
        computes |= !(pl_insn_effects(i) & (PL_EF_LOAD | PL_EF_STORE)) &&
                    i->latency_class != C_mov && i->latency_class != C_free;
        if (pl_ifc_result_of(i) < x->nregs_described && x->regs[pl_ifc_result_of(i)].ndefs > 1)
            result = pl_ifc_result_of(i);
    }
    need -= computes ? 1u : 0u;
    for (size_t h = head->code.n; result != PL_IR_NONE && h-- > 0;) {
        const pl_insn *i = &head->code.at[h];
        /* Its computation counts as overlap. */
        if (pl_ifc_result_of(i) != result || !pl_insn_is_copy(i)) continue;
        const bool is_register =
            i->op[1] < x->nregs_described && x->regs[i->op[1]].kind == PL_REG_VIRTUAL;
        const pl_insn *from = is_register ? pl_ir_writer(x, i->op[1]) : NULL;
        return need - (unsigned)(!is_register || (from && pl_insn_mnem(from) == M_ld &&
                                                  from->sel[PL_M_SPACE] == PL_SP_PARAM));
    }
    return need - (unsigned)(result == PL_IR_NONE);
}

static bool any_insn(const pl_ir_block *b, bool is(const pl_insn *i))
{
    for (size_t k = 0; k < b->code.n; k++)
        if (is(&b->code.at[k])) return true;
    return false;
}

/* True if the latency of the body is hidden: a load before the body, or in the other arm, is in
 * flight as well, or enough independent instructions follow. A body with global loads
 * requires one of these; a longer body without them requires both, before it and after it. */
static bool is_latency_hidden(if_convert *a, uint32_t head, uint32_t body, uint32_t join,
                              bool has_global_loads)
{
    const pl_ir_block *h = &a->x->blocks.at[head], *b = &a->x->blocks.at[body];
    const pl_insn *branch = pl_ir_branch(a->x, head);
    const pl_ir_block *other =
        &a->x->blocks.at[branch->target == body ? h->fallthrough : branch->target];
    if (other != &a->x->blocks.at[join] && any_insn(other, pl_ifc_is_global_load)) return true;
    if (!has_global_loads && ((any_insn(h, pl_ifc_is_data_load) &&
                               any_insn(&a->x->blocks.at[join], pl_ifc_is_global_load)) ||
                              pl_ifc_has_predicated_load_in_flight(a, h, b)))
        return true;
    const bool before =
        pl_ifc_has_load_in_flight(a, h, b, false) || pl_ifc_has_load_in_flight(a, h, b, true);
    if (before == has_global_loads) return has_global_loads;
    unsigned other_cost = 0; /* half of the other arm overlaps it as well */
    for (size_t k = 0; has_global_loads && other != &a->x->blocks.at[join] && k < other->code.n &&
                       other_cost <= a->x->p->tuning->if_convert.max_insns_loading;
         k++)
        other_cost += pl_insn_effects(&other->code.at[k]) & PL_EF_BRANCH
                          ? 1
                          : pl_insn_cost(a->x, &other->code.at[k]);
    return count_overlapped(a, head, body, join, has_global_loads) +
               (other_cost <= a->x->p->tuning->if_convert.max_insns_loading ? other_cost / 2 : 0) >=
           (has_global_loads ? required_overlap(a, h, b) : a->x->p->tuning->if_convert.overlap + 1);
}

static bool join_loads_more(const pl_ir *x, uint32_t join, unsigned depth)
{
    bool any = any_insn(&x->blocks.at[join], pl_ifc_is_data_load) ||
               any_insn(&x->blocks.at[join], pl_ifc_is_shared_copy);
    for (uint32_t s = 0; depth && s < pl_ir_successors(x, join) && !any; s++)
        any = join_loads_more(x, pl_ir_successor(x, join, s), depth - 1);
    return any;
}

/* The body is a single block whose only predecessor is `head` and whose successor is `join`. */
static bool is_convertible(const pl_ir *x, if_convert *a, uint32_t head, uint32_t body,
                           uint32_t join)
{
    const pl_ir_block *b = &x->blocks.at[body];
    const pl_insn *last = pl_ir_branch(x, body);
    if (b->npreds != 1 || b->nlatches || body == join || pl_ifc_only_successor(x, body) != join)
        return false;
    bool has_global_loads = false, has_shared_copy = false,
         uniform_branch = a->has_collectives && !a->divergence.pred[pl_ir_branch(x, head)->guard];
    unsigned n = (last ? 1 : 0) + pl_ifc_shared_base_cost(a->x, a->needs_shared_base, head, body);
    pl_ifc_begin_query(a);
    for (size_t k = 0; k < b->code.n - (last ? 1u : 0u); k++) {
        pl_insn *i = &b->code.at[k];
        if (!pl_ifc_can_guard(i, uniform_branch,
                              uniform_branch || (a->has_collectives && !a->divergent[head]),
                              uniform_branch && !a->partial[head]))
            return false;
        has_global_loads |= pl_ifc_is_global_load(i) && !pl_ifc_is_shared_copy(i);
        has_shared_copy |= pl_ifc_is_shared_copy(i);
        n += pl_insn_cost(x, i);
        a->i = i;
        PL_FOR_EACH_READ(x->p, i, o) pl_ifc_request_parameter(a, o.row, o.use);
        n += pl_ifc_needs_constant(a, i);
    }
    n += pl_ifc_count_loads_here(a, body);
    if (has_shared_copy && !uniform_branch && !join_loads_more(x, join, 1)) return false;
    if (n > x->p->tuning->if_convert.max_insns_loading) return false;
    return has_global_loads || (n > x->p->tuning->if_convert.max_insns && !has_shared_copy)
               ? is_latency_hidden(a, head, body, join, has_global_loads)
               : true;
}

/* True if the kernel ends in this block: lanes that branch to it exit at once. */
static bool ends_kernel(const pl_ir *x, uint32_t b)
{
    const pl_ir_block *j = &x->blocks.at[b];
    return j->code.n == 1 && pl_insn_mnem(&j->code.at[0]) == M_ret && x->f->entry;
}

typedef struct writes {
    uint32_t pred;
    bool changes_guard;
} writes;

static bool preserves_guard(pl_ir *x, uint32_t body, uint32_t pred)
{
    writes w = {pred, false};
    for (size_t k = 0; k < x->blocks.at[body].code.n; k++)
        PL_FOR_EACH_WRITE(x->p, &x->blocks.at[body].code.at[k], o)
            w.changes_guard |= (o.use & PL_USE_PRED) && *o.row == w.pred;
    return !w.changes_guard;
}

static void append_predicated(pl_ir *x, uint32_t to, uint32_t body, uint32_t guard, bool negated)
{
    const pl_ir_block from = x->blocks.at[body];
    for (size_t k = 0; k < from.code.n; k++) {
        pl_insn i = from.code.at[k];
        if (pl_insn_effects(&i) & PL_EF_BRANCH) continue;
        i.guard = guard;
        i.flags = (uint16_t)((i.flags & ~PL_IF_GUARD_NEG) | (negated ? PL_IF_GUARD_NEG : 0));
        *pl_push(x->a, &x->blocks.at[to].code) = i;
    }
    x->blocks.at[body].code.n = 0;
}

/* Replaces a branch to the end of a kernel by a predicated exit with the same guard. */
static void predicate_exit(pl_ir *x, uint32_t b)
{
    pl_insn *branch = conditional_branch(x, b);
    if (!x->f->entry || !branch) return;
    const pl_ir_block *end = &x->blocks.at[branch->target];
    if (end->code.n != 1 || pl_insn_mnem(&end->code.at[0]) != M_ret ||
        end->code.at[0].guard != PL_PT)
        return;
    uint32_t guard = branch->guard;
    uint16_t negated = branch->flags & PL_IF_GUARD_NEG;
    pl_insn ret = end->code.at[0];
    ret.line = branch->line;
    ret.guard = guard;
    ret.flags = (uint16_t)((ret.flags & ~PL_IF_GUARD_NEG) | negated);
    *branch = ret;
}

/* Merges a block with its only successor, if it is the only predecessor of that. */
static bool merge_with_successor(pl_ir *x, uint32_t b)
{
    pl_insn *branch = pl_ir_branch(x, b);
    uint32_t next = x->blocks.at[b].fallthrough;
    if (branch && (branch->guard != PL_PT || pl_forms[branch->form].noperands != 1)) return false;
    if (branch) next = branch->target;
    if (next == PL_IR_NONE || next == b || next == 0 || x->blocks.at[next].npreds != 1)
        return false;
    x->uses_valid = false;
    if (branch) x->blocks.at[b].code.n--;
    const pl_ir_block from = x->blocks.at[next];
    for (size_t k = 0; k < from.code.n; k++)
        *pl_push(x->a, &x->blocks.at[b].code) = from.code.at[k];
    x->blocks.at[b].fallthrough = from.fallthrough;
    x->blocks.at[next].code.n = 0;
    x->blocks.at[next].fallthrough = PL_IR_NONE;
    return true;
}

/* if (p) body; or if (p) body else other */
static bool convert_arms(pl_ir *x, if_convert *a, uint32_t b)
{
    pl_insn *branch = conditional_branch(x, b);
    if (!branch) return false;
    uint32_t guard = branch->guard, taken = branch->target, next = x->blocks.at[b].fallthrough;
    bool negated = (branch->flags & PL_IF_GUARD_NEG) != 0;
    if (taken == next || taken == b || next == b) return false;
    bool convert_next = !ends_kernel(x, taken) && is_convertible(x, a, b, next, taken) &&
                        preserves_guard(x, next, guard);
    bool convert_taken = !ends_kernel(x, next) && is_convertible(x, a, b, taken, next) &&
                         preserves_guard(x, taken, guard);
    uint32_t join = PL_IR_NONE;
    if (!convert_next && !convert_taken) {
        join = pl_ifc_only_successor(x, next);
        if (join == PL_IR_NONE || join != pl_ifc_only_successor(x, taken) ||
            x->blocks.at[taken].npreds != 1 || !is_convertible(x, a, b, next, join) ||
            !preserves_guard(x, next, guard))
            return false;
        if (ends_kernel(x, join) || !is_convertible(x, a, b, taken, join) ||
            !preserves_guard(x, taken, guard)) { /* the other arm keeps a branch around it */
            pl_insn branch_around = *branch;
            branch_around.target = join;
            branch_around.flags ^= PL_IF_GUARD_NEG;
            x->blocks.at[b].code.n--;
            append_predicated(x, b, next, guard, !negated);
            *pl_push(x->a, &x->blocks.at[b].code) = branch_around;
            x->blocks.at[b].fallthrough = taken;
            return true;
        }
    }
    x->blocks.at[b].code.n--; /* the branch */
    if (convert_next || join != PL_IR_NONE) append_predicated(x, b, next, guard, !negated);
    if (convert_taken || join != PL_IR_NONE) append_predicated(x, b, taken, guard, negated);
    const uint32_t successor = convert_next ? taken : convert_taken ? next : join;
    x->blocks.at[b].fallthrough = successor;
    x->blocks.at[successor].npreds--;
    return true;
}

bool pl_pass_merge_blocks(pl_ir *x)
{
    pl_ir_sweep(x);
    if (!pl_ir_graph(x)) return false;
    /* Predecessor counts remain valid: a merged block becomes empty and unreachable. */
    for (uint32_t j = 0; j < x->nrpo; j++)
        while (merge_with_successor(x, x->rpo[j]) && pl_ir_ok(x)) {
        }
    return pl_ir_graph(x) && pl_ir_ok(x);
}

bool pl_pass_if_convert(pl_ir *x)
{
    enum { MAX_ITERATIONS = 32 };
    bool changed = true;
    for (unsigned iteration = 0; iteration < MAX_ITERATIONS && changed; iteration++) {
        changed = false;
        if (!pl_pass_merge_blocks(x) || !pl_ir_count(x)) return false;
        uint8_t *uses_shared_base = pl_arena_array(x->tmp, uint8_t, x->blocks.n + 1);
        if (!uses_shared_base) return false;
        for (uint32_t j = 0; j < x->nrpo; j++)
            uses_shared_base[x->rpo[j]] = pl_ifc_needs_shared_base(x, x->rpo[j]);
        bool needs_divergence = pl_ir_any(x, pl_ifc_is_shared_copy) ||
                                pl_ir_any(x, pl_ifc_is_plain_barrier) ||
                                pl_ir_any(x, pl_ifc_is_warp_query);
        if_convert a = {.x = x,
                        .needs_shared_base = uses_shared_base,
                        .has_collectives = needs_divergence,
                        .row = pl_arena_array(x->tmp, uint32_t, x->f->rows + 4),
                        .pred = pl_arena_array(x->tmp, uint32_t, x->f->preds + 1),
                        .reads = pl_arena_array(x->tmp, uint64_t, x->f->rows + 4),
                        .word = pl_arena_array(x->tmp, uint32_t, x->f->rows + 4),
                        .number = pl_arena_array(x->tmp, uint32_t, x->f->rows + 4)};
        if (!a.row || !a.pred || !a.reads || !a.word || !a.number ||
            !pl_ifc_find_constant_loads(&a) || (needs_divergence && !pl_ifc_find_divergence(&a)))
            return false;
        for (uint32_t j = x->nrpo; j-- > 0;) /* backwards, since converting later branches lengthens
                                                the code that follows a body */
            changed |= convert_arms(x, &a, x->rpo[j]);
        if (!changed) pl_ir_preserve_all(x);
    }
    for (uint32_t j = 0; j < x->nrpo; j++) predicate_exit(x, x->rpo[j]);
    return pl_pass_merge_blocks(x);
}
