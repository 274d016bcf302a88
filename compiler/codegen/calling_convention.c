/* calling_convention.c - lowers calls: return addresses, argument copies, callee-saved registers.
 *
 * This follows ptxas 13.0 for sm_90 (its output, 2026-11). A function whose callers are all known
 * shares registers with them. The call writes one half of the return address (MOV), the function
 * the other. Arguments that are live after the call are copied. The caller reloads parameters and
 * constants after a call instead of keeping them live.
 *
 * A function that is called through its address, or recursively, follows a convention. Both halves
 * of the return address are written, and arguments begin at R4. Values that are live across one of
 * its calls get callee-saved registers, each its own for the whole live range; so does the barrier
 * of each BSSY around a call. The subroutine of a quotient or root counts as a call. The function
 * saves these registers and the return address in local memory at its start (STL), restores them
 * before it returns (LDL), and adjusts the stack pointer for that. A leaf function saves one
 * register if calls.free_regs are not enough. The lanes of an indirect call reconverge after it if
 * they may call different functions (BSSY, BSYNC). */
#include <string.h>

#include "compiler/analysis/liveness.h"
#include "compiler/passes.h"
#include "compiler/tuning.h"
#include "isa/program/operand_plan.h"
#include "isa/program/canonicalize.h"
#include "compiler/analysis/divergence.h"

/* calls.free_regs: registers that a leaf function may use in addition to its arguments. R0 and R3
 * are free; then ptxas takes R2, which is not. */
enum { MAX_TRACKED_ARGS = 64 };

/* An argument of a known function, and whether every call here passes the same value. */
typedef struct invariant_argument {
    uint32_t callee, row;
    int index;
    bool is_invariant;
} invariant_argument;

typedef struct call_lowering {
    pl_ir *x;
    pl_liveness f;
    pl_divergence v;
    uint8_t *returned; /* by value: it is a call's result in its result register */
    /* Maximum rows live at once among the values that are live across a call. */
    uint32_t max_live_across;
    uint32_t max_open_bssy; /* maximum number of open BSSY at a call */
    struct {
        invariant_argument *at;
        size_t n, cap;
    } args;
} call_lowering;

static bool is_call(const pl_insn *i)
{
    return (pl_insn_effects(i) & PL_EF_CALL) != 0;
}

/* True if the instruction clobbers the caller-saved registers. This includes points where the
 * subroutine of a quotient or root may run. */
static bool clobbers_caller_saved(const pl_ir *x, const pl_insn *i)
{
    return is_call(i) || (x->f->abi_calls && pl_insn_mnem(i) == M__slow);
}

/* True for an argument, a result or a formal parameter that is passed in a register. */
static bool is_forwarded(const pl_insn *i)
{
    return i->form != PL_IR_DEAD && i->latency_class == C_free &&
           (pl_insn_mnem(i) == M_ld || pl_insn_mnem(i) == M_st) &&
           i->sel[PL_M_SPACE] == PL_SP_LOCAL && i->sel[PL_M_COUNT] == 1;
}

/* Marks the values that are live across calls. If only these have register weight, also computes
 * the maximum live at once. */
static void mark_live_across_calls(call_lowering *c)
{
    pl_ir *x = c->x;
    c->max_live_across = 0;
    for (uint32_t b = 0; b < x->blocks.n; b++) {
        if (x->blocks.at[b].rpo_index == PL_IR_NONE) continue;
        pl_liveness_go_to_end(&c->f, b);
        for (uint32_t at = (uint32_t)x->blocks.at[b].code.n; at-- > 0;) {
            const pl_insn *i = pl_liveness_visit(&c->f, b, at);
            pl_liveness_step_defs(&c->f, &x->blocks.at[b].code.at[at]);
            if (clobbers_caller_saved(x, i)) pl_liveness_mark(&c->f);
            c->max_live_across =
                c->f.reg_pressure > c->max_live_across ? c->f.reg_pressure : c->max_live_across;
            pl_liveness_step_uses(&c->f, &x->blocks.at[b].code.at[at]);
        }
    }
}

/* Counts callee-saved registers: a value that is live across a call occupies one for its whole live
 * range. */
static bool count_callee_saved(call_lowering *c)
{
    call_lowering weighted = {.x = c->x};
    if (!pl_liveness_values(&weighted.f, c->x, false) || !pl_liveness_solve(&weighted.f))
        return false;
    for (uint32_t k = 0; k < c->f.n; k++)
        weighted.f.v[k].regs = pl_liveness_was_live_at_mark(&c->f, k) ? c->f.v[k].rows : 0;
    mark_live_across_calls(&weighted);
    c->max_live_across = weighted.max_live_across;
    return true;
}

/* True if the value is live across a call of this function. */
static bool needs_callee_saved(const call_lowering *c, uint32_t value)
{
    return pl_liveness_was_live_at_mark(&c->f, value);
}

static pl_insn *insert_operation(pl_ir *x, uint32_t b, size_t at, uint16_t mnem, unsigned operands,
                                 const pl_insn *like)
{
    pl_insn *i = pl_ir_insert_deferred(x, b, at);
    if (!i || !pl_insn_make(i, mnem, operands, NULL, 0)) return NULL;
    i->line = like->line;
    i->guard = like->guard;
    i->flags |= (uint16_t)(like->flags & PL_IF_GUARD_NEG);
    return i;
}

static bool insert_plain(pl_ir *x, uint32_t b, size_t at, uint16_t mnem, const pl_insn *like)
{
    return insert_operation(x, b, at, mnem, 0, like) != NULL;
}

/* Restores a convergence barrier of the caller; k others are nested inside it. */
static bool restore_barrier(pl_ir *x, uint32_t b, size_t at, uint32_t k, const pl_insn *like)
{
    enum { MAX_DEPTH = 63 };
    pl_insn *i = insert_operation(x, b, at, M__regain, 1, like);
    if (i) i->op[0] = k < MAX_DEPTH ? k : MAX_DEPTH;
    return i;
}

/* Inserts a copy between a register and the one that the convention requires, for the value that
 * the instruction at `at` passes. */
static bool insert_copy(pl_ir *x, uint32_t b, size_t at)
{
    pl_insn move = x->blocks.at[b].code.at[at];
    bool is_store = pl_insn_mnem(&move) == M_st, wide = (move.sel[PL_M_FLAGS] & PL_MF_WIDE) != 0;
    uint32_t temp = pl_ir_new(x, wide ? 2 : 1),
             *operand = &x->blocks.at[b].code.at[at].op[is_store ? 1 : 0], row = *operand;
    *operand = temp;
    pl_insn *i = pl_ir_insert_deferred(x, b, at + (is_store ? 0 : 1));
    if (!i || !pl_insn_make(i, M__mov, 2, &(pl_word){wide ? W_b64 : W_b32}, 1)) return false;
    i->op[0] = is_store ? temp : row;
    i->op[1] = is_store ? row : temp;
    i->line = move.line;
    i->guard = move.guard;
    i->flags |= (uint16_t)(move.flags & PL_IF_GUARD_NEG);
    return true;
}

/* The index of the argument that a store before a call passes, -1: none. */
static int argument_index(const pl_program *p, const pl_insn *call, const pl_insn *i)
{
    const pl_prog_call *k = &p->calls.at[call->target];
    for (uint32_t n = 0; is_forwarded(i) && pl_insn_mnem(i) == M_st && n < k->nargs; n++) {
        const pl_call_move *m = &p->moves.at[k->first_arg + n];
        if (!m->reg && i->imm >= m->from && i->imm < m->from + m->bytes) return (int)n;
    }
    return -1;
}

static invariant_argument *invariant_argument_of(call_lowering *c, uint32_t callee, int number)
{
    for (size_t k = 0; k < c->args.n; k++)
        if (c->args.at[k].callee == callee && c->args.at[k].index == number) return &c->args.at[k];
    return NULL;
}

/* Records the arguments of calls of known functions. At most MAX_TRACKED_ARGS arguments are
 * tracked; others count as varying. */
static void find_invariant_arguments(call_lowering *c)
{
    pl_ir *x = c->x;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        const pl_ir_block *b = &x->blocks.at[x->rpo[j]];
        for (size_t at = 0; at < b->code.n; at++) {
            if (!is_call(&b->code.at[at]) || pl_call_uses_abi(x->p, &b->code.at[at])) continue;
            uint32_t callee = x->p->calls.at[b->code.at[at].target].callee;
            for (size_t k = at; k-- > 0 && !is_call(&b->code.at[k]);) {
                int n = argument_index(x->p, &b->code.at[at], &b->code.at[k]);
                invariant_argument *t = n < 0 ? NULL : invariant_argument_of(c, callee, n);
                if (t)
                    t->is_invariant &= t->row == b->code.at[k].op[1];
                else if (n >= 0 && c->args.n < MAX_TRACKED_ARGS)
                    *pl_push(x->tmp, &c->args) =
                        (invariant_argument){callee, b->code.at[k].op[1], n, true};
            }
        }
    }
}

/* True if the value's own register cannot be the one that passes this argument. */
static bool needs_copy(call_lowering *c, const pl_insn *send, const pl_insn *call, int number,
                       bool uses_abi)
{
    const invariant_argument *t =
        uses_abi ? NULL : invariant_argument_of(c, c->x->p->calls.at[call->target].callee, number);
    if (t && t->is_invariant) return false;
    uint32_t k = pl_liveness_value_of(&c->f, send->op[1], 0);
    if (!k--) /* a constant, an address */
        return true;
    if (c->returned[k]) return !uses_abi || number > 0 || needs_callee_saved(c, k);
    return needs_callee_saved(c, k);
}

/* True if the lanes of the call reconverge after it. ptxas omits that if all lanes call the same
 * address, or if neither this function nor a possible callee diverges. */
static bool reconverges_after(const call_lowering *c, const pl_insn *call)
{
    const unsigned address = pl_forms[call->form].operand[0].kind == PL_K_RETS;
    return (c->x->may_diverge || c->x->p->linked_parts) &&
           c->x->p->calls.at[call->target].callee == UINT32_MAX && c->v.row[call->op[address]];
}

/* Lowers the call at position `at`: its arguments, its return address, its reconvergence point. */
static bool lower_call(call_lowering *c, uint32_t b, size_t at)
{
    pl_ir *x = c->x;
    pl_insn call = x->blocks.at[b].code.at[at];
    bool uses_abi = pl_call_uses_abi(x->p, &call);
    for (size_t k = at; k-- > 0 && !is_call(&x->blocks.at[b].code.at[k]);) {
        int n = argument_index(x->p, &call, &x->blocks.at[b].code.at[k]);
        if (n >= 0 && needs_copy(c, &x->blocks.at[b].code.at[k], &call, n, uses_abi) &&
            !insert_copy(x, b, k))
            return false;
    }
    for (int part = 0; part < (uses_abi ? 2 : 1); part++)
        if (!insert_plain(x, b, at, M__link, &call)) return false;
    if (!reconverges_after(c, &call)) return true;
    return insert_plain(x, b, at, M__bssy, &call) && insert_plain(x, b, at + 1, M__bsync, &call);
}

/* Copies results of calls, and the function's own parameters, that a later call would overwrite in
 * the registers where they arrive. */
static bool copy_incoming(call_lowering *c, uint32_t b)
{
    pl_ir *x = c->x;
    for (size_t at = 0; at < x->blocks.at[b].code.n; at++) {
        const pl_insn *i = &x->blocks.at[b].code.at[at];
        uint32_t k = is_forwarded(i) && pl_insn_mnem(i) == M_ld
                         ? pl_liveness_value_of(&c->f, i->op[0], 0)
                         : 0;
        if (!k--) continue;
        c->returned[k] = 1;
        if (needs_callee_saved(c, k) && !insert_copy(x, b, at)) return false;
    }
    return true;
}

/* Copies results that are not computed in the register in which they are returned. */
static bool copy_results(call_lowering *c, uint32_t b)
{
    pl_ir *x = c->x;
    for (size_t at = 0; at < x->blocks.at[b].code.n; at++) {
        const pl_insn *i = &x->blocks.at[b].code.at[at];
        bool result = false;
        for (size_t n = 0; n < x->f->result.n && is_forwarded(i) && pl_insn_mnem(i) == M_st; n++) {
            const pl_call_move *m = &x->f->result.at[n];
            result |= !m->reg && i->imm >= m->from && i->imm < m->from + m->bytes;
        }
        uint32_t k = result ? pl_liveness_value_of(&c->f, i->op[1], 0) : 0;
        if (result && (!k || needs_callee_saved(c, k - 1)) && !insert_copy(x, b, at)) return false;
    }
    return true;
}

typedef struct save_area {
    /* Row of the frame address; offset of the first saved register; the registers. */
    uint32_t frame, base, rows;
    uint32_t n;
} save_area;

static bool save_or_restore(pl_ir *x, uint32_t b, size_t at, const save_area *p, uint32_t k,
                            bool save, const pl_insn *like)
{
    pl_insn *i = pl_ir_insert_deferred(x, b, at);
    if (!i || !pl_insn_make(i, save ? M__save : M__restore, 2, &(pl_word){W_b32}, 1)) return false;
    i->op[save ? 0 : 1] = p->frame;
    i->op[save ? 1 : 0] = p->rows + k;
    i->imm = p->base + 4 * k;
    i->sel[PL_M_SPACE] = PL_SP_LOCAL;
    i->line = like->line;
    i->guard = like->guard;
    i->flags |= (uint16_t)(like->flags & PL_IF_GUARD_NEG);
    pl_insn_shape(i);
    pl_insn_finish(i);
    return true;
}

/* Saves n registers at function entry and restores them before it returns; if it calls other
 * functions, the last one is the return address. */
static bool add_register_saves(const call_lowering *c, uint32_t n, bool calls)
{
    pl_ir *x = c->x;
    save_area p = {.frame = pl_ir_frame(x),
                   .base = (x->f->frame_bytes + 7u) & ~7u,
                   .rows = pl_ir_new(x, n),
                   .n = n};
    uint32_t bytes = (4 * n + 7) & ~7u;
    x->f->frame_bytes = p.base + bytes;
    x->f->local_bytes += bytes;
    x->f->spill_stores += 4 * n;
    x->f->spill_loads += 4 * n;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        uint32_t b = x->rpo[j];
        size_t last = x->blocks.at[b].code.n;
        if (!last || pl_insn_mnem(&x->blocks.at[b].code.at[last - 1]) != M_ret) continue;
        pl_insn ret = x->blocks.at[b].code.at[--last];
        for (uint32_t k = 0; k < n; k++)
            if (!save_or_restore(x, b, last, &p, k, false, &ret)) return false;
        for (uint32_t k = 0; k < c->max_open_bssy; k++)
            if (!restore_barrier(x, b, last, k, &ret)) return false;
        if (!insert_plain(x, b, last, M__frame, &ret)) return false;
        if (!calls) continue;
        pl_insn *i = &x->blocks.at[b].code.at[last];
        if (!pl_insn_make(i, M__ret, 1, NULL, 0)) return false;
        i->op[0] = p.rows + n - 1;
    }
    if (!pl_ir_flush_inserts(x)) return false;
    pl_insn first = {.line = x->blocks.at[0].code.n ? x->blocks.at[0].code.at[0].line : 0,
                     .guard = PL_PT};
    if (!insert_plain(x, 0, 0, M__frame, &first)) return false;
    for (uint32_t k = n; k-- > 0;)
        if (!save_or_restore(x, 0, 0, &p, k, true, &first)) return false;
    for (uint32_t k = 0; k < c->max_open_bssy; k++)
        if (!insert_plain(x, 0, 0, M__keep, &first)) return false;
    return pl_ir_flush_inserts(x);
}

/* A function that shares registers with its callers writes half of its return address. */
static bool write_half_return_address(pl_ir *x)
{
    for (uint32_t j = 0; j < x->nrpo; j++) {
        uint32_t b = x->rpo[j];
        size_t n = x->blocks.at[b].code.n;
        if (!n || pl_insn_mnem(&x->blocks.at[b].code.at[n - 1]) != M_ret) continue;
        pl_insn ret = x->blocks.at[b].code.at[n - 1];
        if (!insert_plain(x, b, n - 1, M__link, &ret)) return false;
    }
    return pl_ir_flush_inserts(x);
}

bool pl_pass_unify_returns(pl_ir *x)
{
    uint32_t end = PL_IR_NONE;
    unsigned n = 0;
    for (size_t b = 0; b < x->blocks.n && !x->f->entry; b++)
        n += x->blocks.at[b].code.n &&
             pl_insn_mnem(&x->blocks.at[b].code.at[x->blocks.at[b].code.n - 1]) == M_ret;
    for (size_t b = 0, blocks = x->blocks.n; b < blocks && n > 1; b++) {
        size_t last = x->blocks.at[b].code.n;
        if (!last-- || pl_insn_mnem(&x->blocks.at[b].code.at[last]) != M_ret) continue;
        pl_insn ret = x->blocks.at[b].code.at[last], jump = ret;
        if (end == PL_IR_NONE) {
            end = pl_ir_new_block(x);
            ret.guard = PL_PT;
            ret.flags &= (uint16_t)~PL_IF_GUARD_NEG;
            *pl_push(x->a, &x->blocks.at[end].code) = ret;
        }
        if (jump.guard == PL_PT) {
            x->blocks.at[b].code.n--;
            x->blocks.at[b].fallthrough = end;
            continue;
        }
        if (!pl_insn_make(&jump, M_bra, 1, NULL, 0)) return false;
        jump.guard = x->blocks.at[b].code.at[last].guard;
        jump.target = end;
        x->blocks.at[b].code.at[last] = jump;
    }
    return pl_ir_graph(x) && pl_ir_ok(x);
}

bool pl_pass_lower_calls(pl_ir *x)
{
    call_lowering c = {.x = x};
    bool any = false;
    pl_ir_sweep(x);
    for (size_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++)
            any |= clobbers_caller_saved(x, &x->blocks.at[b].code.at[k]);
    if (!any &&
        (x->f->entry ||
         (x->f->abi_calls && x->max_pressure <= x->f->formal.n + x->p->tuning->calls.free_regs)))
        return true;
    if (!pl_ir_graph(x) || !pl_ir_count(x)) return false;
    if (!any)
        return x->f->abi_calls ? add_register_saves(&c, 1, false) : write_half_return_address(x);
    if (!pl_liveness_values(&c.f, x, false) || !pl_liveness_solve(&c.f)) return false;
    for (uint32_t k = 0; k < c.f.n; k++) c.f.v[k].regs = c.f.v[k].rows;
    c.returned = pl_arena_array(x->tmp, uint8_t, c.f.n + 1);
    if (!c.returned || !pl_divergence_find(&c.v, x)) return false;
    mark_live_across_calls(&c);
    if (x->f->abi_calls && !count_callee_saved(&c)) return false;
    find_invariant_arguments(&c);
    uint32_t open = 0; /* number of open BSSY, in code order */
    for (size_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            const pl_insn *i = &x->blocks.at[b].code.at[k];
            open += pl_insn_mnem(i) == M__bssy;
            open -= open && pl_insn_mnem(i) == M__bsync;
            if (clobbers_caller_saved(x, i)) {
                const uint32_t nesting = open + (!is_call(i) || reconverges_after(&c, i) ? 1 : 0);
                c.max_open_bssy = nesting > c.max_open_bssy ? nesting : c.max_open_bssy;
            }
        }
    for (uint32_t j = 0; j < x->nrpo; j++)
        if (!copy_results(&c, x->rpo[j]) || !pl_ir_flush_inserts(x) ||
            !copy_incoming(&c, x->rpo[j]) || !pl_ir_flush_inserts(x))
            return false;
    for (uint32_t j = 0; j < x->nrpo; j++)
        for (size_t at = 0; at < x->blocks.at[x->rpo[j]].code.n; at++)
            if (is_call(&x->blocks.at[x->rpo[j]].code.at[at]) && !lower_call(&c, x->rpo[j], at))
                return false;
    if (!pl_ir_flush_inserts(x)) return false;
    if (x->f->entry) return pl_ir_ok(x);
    return (x->f->abi_calls ? add_register_saves(&c, c.max_live_across + 2 + c.max_open_bssy, true)
                            : write_half_return_address(x)) &&
           pl_ir_ok(x);
}
