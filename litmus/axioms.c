/* axioms.c - the outcomes of a litmus test that the axioms of the PTX memory model allow.
 *
 * PTX ISA 9.0, chapter "Memory Consistency Model"; in relations: Lustig, Sahasrabuddhe, Giroux, "A
 * Formal Analysis of the NVIDIA PTX Memory Consistency Model", ASPLOS 2019. An execution chooses
 * three things: the write that every read returns (reads-from), the order of morally strong
 * fence.sc (Fence-SC order), and the order of morally strong writes to a location (coherence
 * order). Coherence order is partial: writes that race with each other stay unordered. All choices
 * are enumerated; those consistent with the axioms give the outcomes. */
#include "litmus/litmus.h"

#include <string.h>

enum { NONE = -1 };

typedef uint64_t set; /* of events */
_Static_assert(PL_LITMUS_EVENTS <= 64, "an event is a bit of a word");

typedef struct event {
    int thread, var; /* thread: NONE for an initial value; var: NONE for fences and barriers */
    /* number: count of earlier barriers of this kind and number in the thread. */
    uint8_t kind, order, scope, number;
    bool read, write;
    bool async; /* performed by the asynchronous proxy */
    const pl_litmus_op *op;
} event;

typedef struct search {
    const pl_litmus_test *t;
    pl_litmus_set *out;
    bool alloc_ok; /* false after an allocation failure */
    event e[PL_LITMUS_EVENTS];
    unsigned n;
    set po[PL_LITMUS_EVENTS], strong[PL_LITMUS_EVENTS]; /* program order; morally strong pairs */
    unsigned read[PL_LITMUS_EVENTS], nreads;
    unsigned rf[PL_LITMUS_EVENTS]; /* by event: the write that it reads from */
    bool writes[PL_LITMUS_EVENTS]; /* in this execution: false for a failed compare-and-swap */
    uint32_t loaded[PL_LITMUS_EVENTS], stored[PL_LITMUS_EVENTS]; /* values read and written */
    uint32_t reg[PL_LITMUS_THREADS][PL_LITMUS_REGS];
    set obs[PL_LITMUS_EVENTS], sync[PL_LITMUS_EVENTS], sc[PL_LITMUS_EVENTS],
        cause[PL_LITMUS_EVENTS];
} search;

static bool has(const set *relation, unsigned a, unsigned b)
{
    return relation[a] >> b & 1;
}

static void add(set *relation, unsigned a, unsigned b)
{
    relation[a] |= 1ull << b;
}

static void close_transitively(set *relation, unsigned n)
{
    for (unsigned k = 0; k < n; k++)
        for (unsigned a = 0; a < n; a++)
            if (has(relation, a, k)) relation[a] |= relation[k];
}

static bool is_acyclic(const set *relation, unsigned n)
{
    set r[PL_LITMUS_EVENTS];
    memcpy(r, relation, n * sizeof *r);
    close_transitively(r, n);
    for (unsigned k = 0; k < n; k++)
        if (has(r, k, k)) return false;
    return true;
}

/* ---- events, and the relations independent of choices ---- */

static pl_litmus_scope common_scope(const pl_litmus_test *t, int a, int b)
{
    uint32_t x = t->thread[a].cta, y = t->thread[b].cta;
    return x == y                             ? PL_LITMUS_CTA
           : x / t->cluster == y / t->cluster ? PL_LITMUS_CLUSTER
                                              : PL_LITMUS_GPU;
}

/* True for two operations of one thread, or two strong operations whose scopes include each other's
 * threads. Memory operations must also access one location through one proxy. */
static bool are_morally_strong(const search *x, const event *a, const event *b)
{
    if (a->var != NONE && b->var != NONE && a->var != b->var) return false;
    if (a->thread == NONE || b->thread == NONE) return true;
    if (a->async != b->async && a->var != NONE && b->var != NONE) return false;
    if (a->thread == b->thread) return true;
    pl_litmus_scope d = common_scope(x->t, a->thread, b->thread);
    return a->order != PL_LITMUS_WEAK && b->order != PL_LITMUS_WEAK && a->scope >= d &&
           b->scope >= d;
}

/* Appends an event to a thread, after those from `first` on. Events of the asynchronous proxy for a
 * copy follow the issue of the copy, and precede everything after the wait for it. */
static void make_event(search *x, unsigned first, event e)
{
    unsigned n = x->n;
    for (unsigned q = first; q < n; q++) {
        bool waited = false;
        for (unsigned m = q; m < n; m++) waited |= x->e[m].kind == PL_LITMUS_DONE;
        if (!x->e[q].async || waited || e.kind == PL_LITMUS_DONE ||
            (e.async && e.write && q + 1 == n))
            add(x->po, q, n);
        uint8_t kind = e.kind == PL_LITMUS_WAIT ? PL_LITMUS_ARRIVE : e.kind;
        e.number =
            (uint8_t)(e.number + (x->e[q].kind == kind && x->e[q].op->barrier == e.op->barrier));
    }
    if (e.kind == PL_LITMUS_WAIT) e.number--; /* the number of its arrival */
    if (e.read) x->read[x->nreads++] = n;
    x->e[x->n++] = e;
}

static void make_events(search *x)
{
    const pl_litmus_test *t = x->t;
    for (unsigned k = 0; k < t->nvars; k++) {
        x->e[x->n] = (event){.thread = NONE,
                             .var = (int)k,
                             .kind = PL_LITMUS_STORE,
                             .order = PL_LITMUS_RELAXED,
                             .scope = PL_LITMUS_SYS,
                             .write = true};
        x->stored[x->n++] = t->var[k].init;
    }
    for (unsigned k = 0; k < t->nthreads; k++) {
        unsigned first = x->n;
        for (unsigned m = 0; m < t->thread[k].nops; m++) {
            const pl_litmus_op *o = &t->thread[k].op[m];
            event e = {.thread = (int)k,
                       .var = o->var,
                       .kind = o->kind,
                       .order = o->order,
                       .scope = o->scope,
                       .op = o};
            bool atomic = o->kind == PL_LITMUS_ATOM || o->kind == PL_LITMUS_RED;
            e.read = o->kind == PL_LITMUS_LOAD || atomic;
            e.write = o->kind == PL_LITMUS_STORE || atomic || o->kind == PL_LITMUS_COPY;
            e.async = o->kind == PL_LITMUS_COPY;
            if (e.async) { /* its read comes first */
                event source = e;
                source.var = o->source;
                source.read = true;
                source.write = false;
                make_event(x, first, source);
            }
            if (o->kind != PL_LITMUS_ALU) make_event(x, first, e);
        }
    }
    for (unsigned a = 0; a < x->n; a++)
        for (unsigned b = 0; b < x->n; b++)
            if (a != b && are_morally_strong(x, &x->e[a], &x->e[b])) add(x->strong, a, b);
}

/* ---- values ---- */

/* Executes the threads as far as the values of their reads are known, until a fixed point. False:
 * some values are never known, because they would appear out of thin air. */
static bool evaluate(search *x)
{
    const pl_litmus_test *t = x->t;
    bool known[PL_LITMUS_EVENTS] = {false}, changed = true, all = false;
    for (unsigned k = 0; k < t->nvars; k++) known[k] = x->writes[k] = true;
    while (changed && !all) {
        changed = false;
        all = true;
        unsigned at = t->nvars;
        for (unsigned k = 0; k < t->nthreads; k++) {
            uint32_t *reg = x->reg[k];
            bool valid[PL_LITMUS_REGS]; /* a read whose value is not known yet does not block the
                                           thread */
            memset(valid, true, sizeof valid);
            memset(reg, 0, sizeof x->reg[k]);
            for (unsigned m = 0; m < t->thread[k].nops; m++) {
                const pl_litmus_op *o = &t->thread[k].op[m];
                uint32_t a = o->a.reg ? reg[o->a.bits] : o->a.bits,
                         b = o->b.reg ? reg[o->b.bits] : o->b.bits;
                bool ready = (!o->a.reg || valid[o->a.bits]) && (!o->b.reg || valid[o->b.bits]);
                if (o->kind == PL_LITMUS_ALU) {
                    reg[o->dst] = pl_litmus_compute(o->fn, a, b, 0);
                    valid[o->dst] = ready;
                    continue;
                }
                unsigned e = at++;
                if (o->kind == PL_LITMUS_COPY) { /* the read, then the write of the value read */
                    bool available = known[x->rf[e]];
                    x->loaded[e] = available ? x->stored[x->rf[e]] : 0;
                    x->stored[at] = x->loaded[e];
                    changed |= available && !known[at];
                    known[at] = x->writes[at] = available;
                    all &= available;
                    at++;
                    continue;
                }
                bool available = !x->e[e].read || known[x->rf[e]];
                x->loaded[e] = x->e[e].read && available ? x->stored[x->rf[e]] : 0;
                if (o->dst >= 0) {
                    reg[o->dst] = x->loaded[e];
                    valid[o->dst] = available;
                }
                all &= available && ready;
                if (known[e] || !ready || !available) continue;
                known[e] = changed = true;
                x->writes[e] = x->e[e].write && !(o->fn == PL_LITMUS_CAS &&
                                                  o->kind == PL_LITMUS_ATOM && x->loaded[e] != a);
                x->stored[e] = o->kind == PL_LITMUS_STORE ? a
                               : x->e[e].write ? pl_litmus_compute(o->fn, x->loaded[e], a, b)
                                               : 0;
            }
        }
    }
    for (unsigned k = 0; k < x->nreads;
         k++) /* a failed compare-and-swap has written no value that could be read */
        all &= x->writes[x->rf[x->read[k]]];
    return all;
}

/* ---- synchronisation ---- */

static void find_observation(search *x)
{
    memset(x->obs, 0, sizeof x->obs);
    for (unsigned k = 0; k < x->nreads; k++) {
        unsigned r = x->read[k];
        if (has(x->strong, x->rf[r], r)) add(x->obs, x->rf[r], r);
    }
    close_transitively(x->obs, x->n); /* only atomic operations both read and write, so chains
                                 consist of them */
}

/* Operations that start a release pattern ending in this write. */
static set release_set(const search *x, unsigned w)
{
    const event *e = &x->e[w];
    set r = e->order & PL_LITMUS_RELEASE ? 1ull << w : 0;
    for (unsigned k = 0; e->order != PL_LITMUS_WEAK && k < x->n; k++)
        if (has(x->po, k, w) && (x->e[k].order & PL_LITMUS_RELEASE) &&
            (x->e[k].kind == PL_LITMUS_FENCE || (x->e[k].var == e->var && x->writes[k])))
            r |= 1ull << k;
    return r;
}

/* Operations that end an acquire pattern starting with this read. */
static set acquire_set(const search *x, unsigned r)
{
    const event *e = &x->e[r];
    set a = e->order & PL_LITMUS_ACQUIRE ? 1ull << r : 0;
    for (unsigned k = 0; e->order != PL_LITMUS_WEAK && k < x->n; k++)
        if (has(x->po, r, k) && (x->e[k].order & PL_LITMUS_ACQUIRE) &&
            (x->e[k].kind == PL_LITMUS_FENCE || (x->e[k].var == e->var && x->e[k].read)))
            a |= 1ull << k;
    return a;
}

static void find_synchronisation(search *x)
{
    memset(x->sync, 0, sizeof x->sync);
    for (unsigned w = 0; w < x->n; w++)
        for (unsigned r = 0; r < x->n; r++) {
            if (!has(x->obs, w, r) || x->e[w].thread == NONE) continue;
            set from = release_set(x, w), to = acquire_set(x, r);
            for (unsigned a = 0; a < x->n; a++)
                if (from >> a & 1) x->sync[a] |= to & x->strong[a];
        }
    for (unsigned a = 0; a < x->n; a++)
        for (unsigned b = 0; b < x->n; b++) {
            const event *p = &x->e[a], *q = &x->e[b];
            if (p->thread == q->thread || p->thread == NONE || q->thread == NONE ||
                p->number != q->number)
                continue;
            pl_litmus_scope d = common_scope(x->t, p->thread, q->thread);
            if ((p->kind == PL_LITMUS_BARRIER && q->kind == PL_LITMUS_BARRIER &&
                 d == PL_LITMUS_CTA && p->op->barrier == q->op->barrier) ||
                (p->kind == PL_LITMUS_ARRIVE && q->kind == PL_LITMUS_WAIT &&
                 d <= PL_LITMUS_CLUSTER && p->order == PL_LITMUS_RELEASE))
                add(x->sync, a, b);
        }
}

/* ---- coherence order, the axioms about it, and outcomes ---- */

static bool is_write(const search *x, unsigned k)
{
    return x->e[k].write && x->writes[k];
}

/* Checks SC-per-location, atomicity and causality, for a transitively closed coherence order. */
static bool is_consistent(const search *x, const set *co)
{
    set com[PL_LITMUS_EVENTS];
    for (unsigned a = 0; a < x->n;
         a++) { /* communication between morally strong operations, with program order */
        com[a] = co[a] & x->strong[a];
        for (unsigned b = 0; b < x->n; b++)
            if (has(x->po, a, b) && x->e[a].var != NONE && x->e[a].var == x->e[b].var &&
                x->e[a].async == x->e[b].async)
                add(com, a, b);
    }
    for (unsigned k = 0; k < x->nreads; k++) {
        unsigned r = x->read[k], w = x->rf[r];
        if (has(x->strong, w, r)) add(com, w, r);
        com[r] |= co[w] & x->strong[r] & ~(1ull << r);
        if (has(x->cause, r, w)) return false; /* causality: it reads from a write that it causes */
        for (unsigned v = 0; v < x->n; v++) {
            if (!has(co, w, v) || v == r) continue;
            /* Causality: it misses a write that it must observe. */
            if (has(x->cause, v, r)) return false;
            /* Atomicity: v is ordered between the read and the write. */
            if (x->writes[r] && has(x->strong, v, r) && has(co, v, r)) return false;
        }
    }
    return is_acyclic(com, x->n);
}

/* Enumerates the choices of a last write to each variable, from `var` on. */
static void emit_outcomes(search *x, const set *co, unsigned var, uint32_t final[PL_LITMUS_VARS])
{
    const pl_litmus_test *t = x->t;
    if (var == t->nvars) {
        pl_litmus_outcome o = {{0}};
        for (unsigned k = 0; k < t->nobserved; k++) {
            const pl_litmus_observed *p = &t->observed[k];
            o.value[k] = p->thread < 0 ? final[p->var] : x->reg[p->thread][p->reg];
        }
        x->alloc_ok &= pl_litmus_set_add(x->out, t, &o);
        return;
    }
    for (unsigned w = 0; w < x->n; w++)
        if (is_write(x, w) && x->e[w].var == (int)var && !co[w]) {
            final[var] = x->stored[w];
            emit_outcomes(x, co, var + 1, final);
        }
}

/* Enumerates the orders of pairs of morally strong writes, from pair (a, b) on. co is transitively
 * closed and acyclic. */
static void enumerate_coherence_orders(search *x, const set *co, unsigned a, unsigned b)
{
    for (; a < x->n; a++, b = a + 1)
        for (; b < x->n; b++) {
            if (!is_write(x, a) || !is_write(x, b) || x->e[a].var != x->e[b].var ||
                !has(x->strong, a, b) || has(co, a, b) || has(co, b, a))
                continue;
            for (int reversed = 0; reversed < 2; reversed++) {
                set next[PL_LITMUS_EVENTS];
                memcpy(next, co, sizeof next);
                add(next, reversed ? b : a, reversed ? a : b);
                close_transitively(next, x->n);
                enumerate_coherence_orders(x, next, a, b + 1);
            }
            return;
        }
    uint32_t final[PL_LITMUS_VARS];
    if (is_consistent(x, co)) emit_outcomes(x, co, 0, final);
}

/* True if a stays ordered before b, which it precedes in base causality order, although they may
 * use different proxies. Both use the generic proxy, or both use the other one in one block, or a
 * proxy fence is between them. The completion of a copy acts as such a fence for its writes. */
static bool proxies_ordered(const search *x, const set *base, unsigned a, unsigned b)
{
    const event *p = &x->e[a], *q = &x->e[b];
    if (!p->async && !q->async) return true;
    if (p->async && q->async && common_scope(x->t, p->thread, q->thread) == PL_LITMUS_CTA)
        return true;
    for (unsigned f = 0; f < x->n; f++)
        if (has(base, a, f) && has(base, f, b) &&
            (x->e[f].kind == PL_LITMUS_PROXY ||
             (x->e[f].kind == PL_LITMUS_DONE && p->async && p->thread == x->e[f].thread)))
            return true;
    return false;
}

/* Computes base causality order, causality order, and the resulting constraints on the order of
 * writes. */
static void compute_causality(search *x)
{
    set base[PL_LITMUS_EVENTS], same[PL_LITMUS_EVENTS], co[PL_LITMUS_EVENTS] = {0};
    for (unsigned k = 0; k < x->n; k++) base[k] = x->po[k] | x->sync[k] | x->sc[k];
    close_transitively(base, x->n);
    for (unsigned a = 0; a < x->n; a++)
        if (base[a] & 1ull << a && x->e[a].kind == PL_LITMUS_FENCE)
            return; /* Fence-SC order would contradict causality order */
    for (unsigned a = 0; a < x->n; a++) {
        same[a] = 0;
        for (unsigned b = 0; b < x->n; b++)
            if (has(base, a, b) && x->e[a].var != NONE && x->e[a].var == x->e[b].var &&
                proxies_ordered(x, base, a, b))
                add(same, a, b);
    }
    for (unsigned a = 0; a < x->n; a++) {
        x->cause[a] = same[a];
        for (unsigned z = 0; z < x->n; z++)
            if (has(x->obs, a, z)) x->cause[a] |= same[z];
    }
    for (unsigned a = 0; a < x->n; a++)
        for (unsigned b = 0; b < x->n; b++)
            if (is_write(x, a) && is_write(x, b) && x->e[a].var == x->e[b].var &&
                (has(x->cause, a, b) || (x->e[a].thread == NONE && a != b)))
                add(co, a, b);
    if (!is_acyclic(co, x->n)) return; /* coherence */
    close_transitively(co, x->n);
    enumerate_coherence_orders(x, co, 0, 1);
}

/* Enumerates the orders of pairs of morally strong fence.sc, from pair (a, b) on. */
static void enumerate_fence_orders(search *x, unsigned a, unsigned b)
{
    for (; a < x->n; a++, b = a + 1)
        for (; b < x->n; b++) {
            if (x->e[a].order != PL_LITMUS_SC || x->e[b].order != PL_LITMUS_SC ||
                !has(x->strong, a, b) || x->e[a].thread == x->e[b].thread)
                continue;
            add(x->sc, a, b);
            enumerate_fence_orders(x, a, b + 1);
            x->sc[a] &= ~(1ull << b);
            add(x->sc, b, a);
            enumerate_fence_orders(x, a, b + 1);
            x->sc[b] &= ~(1ull << a);
            return;
        }
    compute_causality(x);
}

/* Enumerates the writes to its location that read number k may return. */
static void enumerate_reads_from(search *x, unsigned k)
{
    if (k == x->nreads) {
        if (!evaluate(x)) return;
        find_observation(x);
        find_synchronisation(x);
        enumerate_fence_orders(x, 0, 1);
        return;
    }
    unsigned r = x->read[k];
    for (unsigned w = 0; w < x->n; w++)
        if (w != r && x->e[w].write && x->e[w].var == x->e[r].var) {
            x->rf[r] = w;
            enumerate_reads_from(x, k + 1);
        }
}

pl_status pl_litmus_allowed(const pl_litmus_test *t, pl_litmus_set *out)
{
    search x = {.t = t, .out = out, .alloc_ok = true};
    make_events(&x);
    enumerate_reads_from(&x, 0);
    return x.alloc_ok ? PL_OK : PL_NOMEM;
}
