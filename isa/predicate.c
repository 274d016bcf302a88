/* predicate.c - short bodies of branches become guarded instructions, and blocks that follow each other become one.
 *
 * A branch costs ptxas three instructions where lanes may part (BSSY, BRA, BSYNC) and some twenty cycles, so it guards a body of a few
 * instructions instead. Only what takes a guard and does not stop the warp may be in such a body, and barriers where its lanes stay together;
 * ptxas does not guard atomic operations either. */
#include <string.h>

#include "isa/passes.h"
#include "isa/plan.h"
#include "isa/varies.h"

/* Instructions of a guarded body of ptxas 13.0 for sm_90 (bodies of one instruction repeated, 2026-11): 8 with the branch that ends it; 20 when
 * it waits for memory and something beside it can be done meanwhile; none when nothing can. */
enum { MOST = 8, MOST_WAITING = 20 };

/* What ptxas never guards, or counts as several, by the start of its class. */
static const struct { const char *class_name; uint8_t count; } counts[] = {
    {"clz", MOST_WAITING + 1}, {"idp", MOST_WAITING + 1}, {"div_f32_approx", 2}, {"div_f32_scaled", 4}, {"div", MOST_WAITING + 1}, {"rem", MOST_WAITING + 1}, {"slow", MOST_WAITING + 1},
    {"rsqrt_f64", MOST_WAITING + 1}, {"sqrt", MOST_WAITING + 1}, {"rcp_f", MOST_WAITING + 1}, {"mufu_scaled", 5}, {"mufu_trig", 2},
    {"alu64", 2}, {"setp64", 2}, {"mul64", 2}, {"shift64", 2}};

static unsigned weight(const pl_insn *i)
{
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        if (strncmp(pl_class_text[i->cls], counts[k].class_name, strlen(counts[k].class_name)) == 0)
            return counts[k].count;
    return pl_insn_mnem(i) == M_bfind ? MOST_WAITING + 1 : i->cls != C_free;
}

/* Copies to shared memory, which ptxas guards where all lanes do the same, or the block behind them loads something. */
static bool copies(const pl_insn *i)
{
    return i->cls == C_cp_async && pl_insn_effects(i) == (PL_EF_LOAD | PL_EF_ASYNC);
}

/* Barriers of a block without a result: ptxas guards them, in a warp that may part behind a WARPSYNC that we do not have. */
static bool meets(const pl_insn *i)
{
    return i->cls == C_barrier && !(pl_forms[i->form].noperands && pl_forms[i->form].operand[0].written);
}

/* Also arrivals at an mbarrier. together: the lanes of a warp do the same there. */
static bool can_guard(const pl_insn *i, bool together)
{
    uint32_t e = pl_insn_effects(i);
    if (i->guard == PL_PT && (copies(i) || (meets(i) && together) || (i->cls == C_mbarrier && e == PL_EF_ATOMIC)))
        return true;
    return i->guard == PL_PT && !(e & (PL_EF_ATOMIC | PL_EF_BRANCH | PL_EF_EXIT | PL_EF_CALL | PL_EF_BARRIER | PL_EF_CONVERGE | PL_EF_ASYNC | PL_EF_FENCE)) &&
           i->cls != C_sleep && i->cls != C_alloca;
}

static bool waits(const pl_insn *i)
{
    return (pl_insn_effects(i) & PL_EF_LOAD) && (i->sel[PL_M_SPACE] == PL_SP_GLOBAL || i->sel[PL_M_SPACE] == PL_SP_GENERIC);
}

static bool loads(const pl_insn *i)
{
    return waits(i) || ((pl_insn_effects(i) & PL_EF_LOAD) && (i->sel[PL_M_SPACE] == PL_SP_SHARED || i->sel[PL_M_SPACE] == PL_SP_LOCAL));
}

static bool stores(const pl_insn *i, bool shared)
{
    return (pl_insn_effects(i) & PL_EF_STORE) && (i->sel[PL_M_SPACE] == PL_SP_SHARED) == shared;
}

/* Marks parameters that are read once. */
static void find_private(pl_ir *x, uint8_t *private)
{
    for (uint32_t j = 0; j < x->nrpo; j++)
        for (size_t k = 0; k < x->b.at[x->rpo[j]].code.n; k++) {
            const pl_insn *i = &x->b.at[x->rpo[j]].code.at[k];
            if (pl_insn_mnem(i) == M_ld && i->sel[PL_M_SPACE] == PL_SP_PARAM && i->sel[PL_M_COUNT] == 1)
                private[i->op[0]] = x->row[i->op[0]].defs == 1 && x->row[i->op[0]].uses == 1;
        }
}

/* Addresses of 64 bits that the body has to fetch for itself. */
static unsigned fetches(const pl_ir *x, const uint8_t *private, const pl_insn *i)
{
    unsigned n = 0;
    const pl_form *f = &pl_forms[i->form];
    for (unsigned k = 1; k < f->noperands && k < PL_INLINE_OPERANDS; k++) {
        uint32_t row = f->operand[k].kind == PL_K_VALUE && !f->operand[k].written ? i->op[k] : UINT32_MAX;
        n += row != UINT32_MAX && private[row] && x->row[row].rows == 2;
    }
    return n;
}

/* What is known of the function. */
typedef struct facts {
    pl_ir *x;
    const uint8_t *private;   /* by row: a parameter that is read once */
    const pl_varies *varies;  /* found only where something asks for it, else NULL */
    uint32_t *row, *pred;     /* by row, by predicate: number of the question whose body decides it */
    uint32_t question;
    bool hit;
} facts;

static void decides(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    facts *a = ctx;
    for (unsigned k = 0; k < rows; k++)
        (use & PL_USE_PRED ? a->pred : a->row)[*row + k] = a->question;
}

static void waits_for(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    facts *a = ctx;
    for (unsigned k = 0; k < rows; k++)
        a->hit |= (use & PL_USE_PRED ? a->pred : a->row)[*row + k] == a->question;
}

/* Does the instruction behind the body wait for its results, be it through others? Asked from the first one on. */
static bool needs_results(facts *a, pl_insn *i)
{
    a->hit = false;
    pl_insn_reads_here(a->x->p, i, waits_for, a);
    if (a->hit)
        pl_insn_writes_here(a->x->p, i, decides, a);
    return a->hit;
}

/* A store that cannot be done before the body has loaded. */
static bool must_follow(const pl_irb *body, const pl_insn *i)
{
    bool any = false;
    for (size_t k = 0; k < body->code.n && !any; k++)
        any = waits(&body->code.at[k]) && body->code.at[k].op[1] != i->op[0];
    return any && stores(i, false) && i->sel[PL_M_COUNT] == 1;
}

/* While the body waits for memory: is there something that the block in front of it waits for too, or that the block behind it can begin? */
static bool meanwhile(facts *a, const pl_irb *head, const pl_irb *body, const pl_irb *join)
{
    bool any = false, keeps = false, barrier = false; /* keeps: loads stay behind its stores */
    for (size_t k = head->code.n; k-- > 0 && !any && !(pl_insn_effects(&head->code.at[k]) & PL_EF_BARRIER);)
        any = loads(&head->code.at[k]);
    a->question++;
    for (size_t k = 0; k < body->code.n; k++) {
        keeps |= stores(&body->code.at[k], false);
        pl_insn_writes_here(a->x->p, &body->code.at[k], decides, a);
    }
    for (size_t k = 0; k < join->code.n && !any; k++) {
        pl_insn *i = &join->code.at[k];
        const bool later = needs_results(a, i);
        barrier |= (pl_insn_effects(i) & PL_EF_BARRIER) != 0;
        any = (!barrier && (stores(i, true) || (!keeps && waits(i)))) || (!later && must_follow(body, i));
    }
    return any;
}

static bool fetches_more(const pl_ir *x, uint32_t join, unsigned further)
{
    const pl_irb *b = &x->b.at[join];
    bool any = false;
    for (size_t k = 0; k < b->code.n && !any; k++)
        any = loads(&b->code.at[k]) || copies(&b->code.at[k]);
    for (uint32_t s = 0; further && s < pl_ir_successors(x, join) && !any; s++)
        any = fetches_more(x, pl_ir_successor(x, join, s), further - 1);
    return any;
}

/* The body is one block with one way in, behind `head`, which goes on at `join`. */
static bool short_body(const pl_ir *x, facts *a, uint32_t head, uint32_t body, uint32_t join)
{
    const pl_irb *b = &x->b.at[body];
    const pl_insn *last = pl_ir_branch(x, body);
    if (b->npred != 1 || b->latches || body == join)
        return false;
    if (last) {
        if (last->guard != PL_PT || last->target != join || pl_forms[last->form].noperands != 1)
            return false;
    } else if (b->next != join)
        return false;
    bool far = false, copying = false, together = a->varies && !a->varies->pred[pl_ir_branch(x, head)->guard];
    unsigned n = last ? 1 : 0;
    for (size_t k = 0; k < b->code.n - (last ? 1u : 0u); k++) {
        const pl_insn *i = &b->code.at[k];
        if (!can_guard(i, together))
            return false;
        far |= waits(i) && !copies(i);
        copying |= copies(i);
        n += weight(i) + fetches(x, a->private, i);
    }
    if (copying && !together && !fetches_more(x, join, 1))
        return false;
    if (n > (far || copying ? MOST_WAITING : MOST) || (far && !meanwhile(a, &x->b.at[head], b, &x->b.at[join])))
        return false;
    return true;
}

/* The kernel ends in this block: lanes that skip to it leave at once. */
static bool ends(const pl_ir *x, uint32_t b)
{
    const pl_irb *j = &x->b.at[b];
    return j->code.n == 1 && pl_insn_mnem(&j->code.at[0]) == M_ret && x->f->entry;
}

typedef struct writes {
    uint32_t pred;
    bool hit;
} writes;

static void writes_pred(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    writes *w = ctx;
    (void)rows;
    w->hit |= (use & PL_USE_PRED) && *row == w->pred;
}

static bool keeps_predicate(pl_ir *x, uint32_t body, uint32_t pred)
{
    writes w = {pred, false};
    for (size_t k = 0; k < x->b.at[body].code.n; k++)
        pl_insn_writes_here(x->p, &x->b.at[body].code.at[k], writes_pred, &w);
    return !w.hit;
}

static void move_guarded(pl_ir *x, uint32_t to, uint32_t body, uint32_t guard, bool negated)
{
    const pl_irb from = x->b.at[body];
    for (size_t k = 0; k < from.code.n; k++) {
        pl_insn i = from.code.at[k];
        if (pl_insn_effects(&i) & PL_EF_BRANCH)
            continue;
        i.guard = guard;
        i.flags = (uint16_t)((i.flags & ~PL_IF_GUARD_NEG) | (negated ? PL_IF_GUARD_NEG : 0));
        *pl_push(x->a, &x->b.at[to].code) = i;
    }
    x->b.at[body].code.n = 0;
}

/* A branch to the end of a kernel is a guarded exit. It reads what the branch read. */
static void exits(pl_ir *x, uint32_t b)
{
    pl_insn *branch = pl_ir_branch(x, b);
    if (!x->f->entry || !branch || branch->guard <= PL_PF || pl_forms[branch->form].noperands != 1 || x->b.at[b].next == PL_IR_NONE)
        return;
    const pl_irb *end = &x->b.at[branch->target];
    if (end->code.n != 1 || pl_insn_mnem(&end->code.at[0]) != M_ret || end->code.at[0].guard != PL_PT)
        return;
    uint32_t guard = branch->guard;
    uint16_t negated = branch->flags & PL_IF_GUARD_NEG;
    pl_insn ret = end->code.at[0];
    ret.line = branch->line;
    ret.guard = guard;
    ret.flags = (uint16_t)((ret.flags & ~PL_IF_GUARD_NEG) | negated);
    *branch = ret;
}

/* Where the block goes on, if in one place only. */
static uint32_t only_successor(const pl_ir *x, uint32_t b)
{
    const pl_insn *jump = pl_ir_branch(x, b);
    if (!jump)
        return x->b.at[b].next;
    return jump->guard == PL_PT && pl_forms[jump->form].noperands == 1 ? jump->target : PL_IR_NONE;
}

/* if (p) body, if (p) body else other */
static bool guard_arms(pl_ir *x, facts *a, uint32_t b)
{
    pl_insn *branch = pl_ir_branch(x, b);
    if (!branch || branch->guard <= PL_PF || pl_forms[branch->form].noperands != 1 || x->b.at[b].next == PL_IR_NONE)
        return false;
    uint32_t guard = branch->guard, taken = branch->target, next = x->b.at[b].next;
    bool negated = (branch->flags & PL_IF_GUARD_NEG) != 0;
    if (taken == next || taken == b || next == b)
        return false;
    bool skip = !ends(x, taken) && short_body(x, a, b, next, taken) && keeps_predicate(x, next, guard);
    bool only = !ends(x, next) && short_body(x, a, b, taken, next) && keeps_predicate(x, taken, guard);
    uint32_t join = PL_IR_NONE;
    if (!skip && !only) {
        join = only_successor(x, next);
        if (join == PL_IR_NONE || join != only_successor(x, taken) || x->b.at[taken].npred != 1 || !short_body(x, a, b, next, join) || !keeps_predicate(x, next, guard))
            return false;
        if (ends(x, join) || !short_body(x, a, b, taken, join) || !keeps_predicate(x, taken, guard)) { /* the other arm keeps a branch, around it */
            pl_insn around = *branch;
            around.target = join;
            around.flags ^= PL_IF_GUARD_NEG;
            x->b.at[b].code.n--;
            move_guarded(x, b, next, guard, !negated);
            *pl_push(x->a, &x->b.at[b].code) = around;
            x->b.at[b].next = taken;
            return true;
        }
    }
    x->b.at[b].code.n--; /* the branch */
    if (skip || join != PL_IR_NONE)
        move_guarded(x, b, next, guard, !negated);
    if (only || join != PL_IR_NONE)
        move_guarded(x, b, taken, guard, negated);
    x->b.at[b].next = skip ? taken : only ? next : join;
    return true;
}

/* A block whose only predecessor is this one, reached in one way only. */
static bool append_next(pl_ir *x, uint32_t b)
{
    pl_insn *branch = pl_ir_branch(x, b);
    uint32_t next = x->b.at[b].next;
    if (branch && (branch->guard != PL_PT || pl_forms[branch->form].noperands != 1))
        return false;
    if (branch)
        next = branch->target;
    if (next == PL_IR_NONE || next == b || next == 0 || x->b.at[next].npred != 1)
        return false;
    x->counted = false;
    if (branch)
        x->b.at[b].code.n--;
    const pl_irb from = x->b.at[next];
    for (size_t k = 0; k < from.code.n; k++)
        *pl_push(x->a, &x->b.at[b].code) = from.code.at[k];
    x->b.at[b].next = from.next;
    x->b.at[next].code.n = 0;
    x->b.at[next].next = PL_IR_NONE;
    return true;
}

bool pl_pass_merge(pl_ir *x)
{
    pl_ir_sweep(x);
    if (!pl_ir_graph(x))
        return false;
    for (uint32_t j = 0; j < x->nrpo; j++) /* predecessors stay as they were: a block that was appended is empty and unreachable */
        while (append_next(x, x->rpo[j]) && pl_ir_ok(x)) {
        }
    return pl_ir_graph(x) && pl_ir_ok(x);
}

bool pl_pass_predicate(pl_ir *x)
{
    bool changed = true;
    for (unsigned round = 0; round < 3 && changed; round++) {
        changed = false;
        if (!pl_pass_merge(x) || !pl_ir_count(x))
            return false;
        uint8_t *private = pl_arena_array(x->tmp, uint8_t, x->f->rows + 4);
        if (!private)
            return false;
        find_private(x, private);
        pl_varies varies;
        bool ask = pl_ir_any(x, copies) || pl_ir_any(x, meets);
        if (ask && !pl_varies_find(&varies, x))
            return false;
        facts a = {.x = x, .private = private, .varies = ask ? &varies : NULL, .row = pl_arena_array(x->tmp, uint32_t, x->f->rows + 4),
                   .pred = pl_arena_array(x->tmp, uint32_t, x->f->preds + 1)};
        if (!a.row || !a.pred)
            return false;
        for (uint32_t j = 0; j < x->nrpo; j++)
            changed |= guard_arms(x, &a, x->rpo[j]);
        if (!changed)
            pl_ir_same(x);
    }
    for (uint32_t j = 0; j < x->nrpo; j++)
        exits(x, x->rpo[j]);
    return pl_pass_merge(x);
}
