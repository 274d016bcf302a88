/* sc.c - the outcomes of a litmus test on a single memory that every thread sees at once: all
 * interleavings, with each state visited once. */
#include "litmus/litmus.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

typedef struct state {
    uint32_t mem[PL_LITMUS_VARS];
    uint32_t reg[PL_LITMUS_THREADS][PL_LITMUS_REGS];
    uint8_t at[PL_LITMUS_THREADS];
} state;

typedef struct search {
    const pl_litmus_test *t;
    pl_litmus_set *out;
    state *seen; /* every state visited; those from `done` on have not been expanded */
    size_t n, cap, done;
    size_t *table; /* open addressing: 1 + index in seen */
    size_t size;
} search;

static uint64_t hash(const state *s)
{
    uint64_t h = 1469598103934665603ull;
    const unsigned char *p = (const unsigned char *)s;
    for (size_t k = 0; k < sizeof *s; k++) h = (h ^ p[k]) * 1099511628211ull;
    return h ^ h >> 29;
}

static bool rehash(search *x)
{
    size_t size = x->size ? 2 * x->size : 1024;
    size_t *table = calloc(size, sizeof *table);
    if (!table) return false;
    for (size_t k = 0; k < x->n; k++) {
        size_t h = hash(&x->seen[k]) % size;
        while (table[h]) h = (h + 1) % size;
        table[h] = k + 1;
    }
    free(x->table);
    x->table = table;
    x->size = size;
    return true;
}

/* False: out of memory. */
static bool visit(search *x, const state *s)
{
    if (2 * (x->n + 1) > x->size && !rehash(x)) return false;
    size_t h = hash(s) % x->size;
    for (; x->table[h]; h = (h + 1) % x->size)
        if (memcmp(&x->seen[x->table[h] - 1], s, sizeof *s) == 0) return true;
    if (x->n == x->cap && !pl_array_grow(&x->seen, &x->cap, sizeof *x->seen)) return false;
    x->seen[x->n++] = *s;
    x->table[h] = x->n;
    return true;
}

/* The number of barriers of this kind and number in the thread before position `at`. */
static unsigned barriers_before(const pl_litmus_thread *th, unsigned at, uint8_t kind,
                                uint8_t number)
{
    unsigned n = 0;
    for (unsigned k = 0; k < at; k++) n += th->op[k].kind == kind && th->op[k].barrier == number;
    return n;
}

/* True if every participating thread has reached its n-th barrier of this kind. Threads that have
 * ended count as having arrived. */
static bool barrier_is_complete(const search *x, const state *s, unsigned thread,
                                const pl_litmus_op *o)
{
    const pl_litmus_test *t = x->t;
    const pl_litmus_thread *self = &t->thread[thread];
    uint8_t kind = o->kind == PL_LITMUS_WAIT ? PL_LITMUS_ARRIVE : o->kind;
    unsigned arrivals = barriers_before(self, s->at[thread], kind, o->barrier) + (kind == o->kind);
    for (unsigned k = 0; k < t->nthreads; k++) {
        const pl_litmus_thread *other = &t->thread[k];
        bool participates = kind == PL_LITMUS_BARRIER
                                ? other->cta == self->cta
                                : other->cta / t->cluster == self->cta / t->cluster;
        unsigned position = s->at[k];
        bool at_barrier = position < other->nops && other->op[position].kind == kind &&
                          other->op[position].barrier == o->barrier;
        if (participates && position < other->nops &&
            barriers_before(other, position, kind, o->barrier) +
                    (at_barrier && kind == PL_LITMUS_BARRIER) <
                arrivals)
            return false;
    }
    return true;
}

static uint32_t value_of(const state *s, unsigned thread, pl_litmus_value v)
{
    return v.reg ? s->reg[thread][v.bits] : v.bits;
}

/* Computes the state after one instruction of a thread; false if it must wait. */
static bool step(const search *x, state *s, unsigned thread)
{
    const pl_litmus_op *o = &x->t->thread[thread].op[s->at[thread]];
    uint32_t *reg = s->reg[thread], a = value_of(s, thread, o->a), b = value_of(s, thread, o->b);
    switch ((pl_litmus_kind)o->kind) {
    case PL_LITMUS_LOAD: reg[o->dst] = s->mem[o->var]; break;
    case PL_LITMUS_STORE: s->mem[o->var] = a; break;
    case PL_LITMUS_ATOM:
    case PL_LITMUS_RED: {
        uint32_t old = s->mem[o->var];
        s->mem[o->var] = pl_litmus_compute(o->fn, old, a, b);
        if (o->dst >= 0) reg[o->dst] = old;
        break;
    }
    case PL_LITMUS_COPY: s->mem[o->var] = s->mem[o->source]; break;
    case PL_LITMUS_ALU: reg[o->dst] = pl_litmus_compute(o->fn, a, b, 0); break;
    case PL_LITMUS_BARRIER:
    case PL_LITMUS_WAIT:
        if (!barrier_is_complete(x, s, thread, o)) return false;
        break;
    case PL_LITMUS_FENCE:
    case PL_LITMUS_ARRIVE:
    case PL_LITMUS_COMMIT:
    case PL_LITMUS_DONE:
    case PL_LITMUS_PROXY: break;
    }
    s->at[thread]++;
    return true;
}

static bool add_outcome(search *x, const state *s)
{
    pl_litmus_outcome o = {{0}};
    for (unsigned k = 0; k < x->t->nobserved; k++) {
        const pl_litmus_observed *p = &x->t->observed[k];
        o.value[k] = p->thread < 0 ? s->mem[p->var] : s->reg[p->thread][p->reg];
    }
    return pl_litmus_set_add(x->out, x->t, &o);
}

pl_status pl_litmus_sequential(const pl_litmus_test *t, pl_litmus_set *out)
{
    search x = {.t = t, .out = out};
    state s;
    memset(&s, 0, sizeof s);
    for (unsigned k = 0; k < t->nvars; k++) s.mem[k] = t->var[k].init;
    bool ok = visit(&x, &s);
    while (ok && x.done < x.n) {
        const state from = x.seen[x.done++];
        bool ended = true;
        for (unsigned k = 0; ok && k < t->nthreads; k++) {
            if (from.at[k] == t->thread[k].nops) continue;
            ended = false;
            s = from;
            if (step(&x, &s, k)) ok = visit(&x, &s);
        }
        if (ok && ended) ok = add_outcome(&x, &from);
    }
    free(x.seen);
    free(x.table);
    return ok ? PL_OK : PL_NOMEM;
}
