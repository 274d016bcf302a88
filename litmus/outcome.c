/* outcome.c - outcomes of litmus tests: sets of them, conditions on them, and arithmetic on values.
 * See litmus.h. */
#include "litmus/litmus.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

static int compare(const pl_litmus_test *t, const pl_litmus_outcome *a, const pl_litmus_outcome *b)
{
    for (unsigned k = 0; k < t->nobserved; k++)
        if (a->value[k] != b->value[k]) return a->value[k] < b->value[k] ? -1 : 1;
    return 0;
}

/* The index of the outcome, or the insertion point. */
static size_t find(const pl_litmus_set *s, const pl_litmus_test *t, const pl_litmus_outcome *o)
{
    size_t lo = 0, hi = s->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (compare(t, &s->at[mid], o) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

bool pl_litmus_set_has(const pl_litmus_set *s, const pl_litmus_test *t, const pl_litmus_outcome *o)
{
    size_t k = find(s, t, o);
    return k < s->n && compare(t, &s->at[k], o) == 0;
}

bool pl_litmus_set_add(pl_litmus_set *s, const pl_litmus_test *t, const pl_litmus_outcome *o)
{
    size_t k = find(s, t, o);
    if (k < s->n && compare(t, &s->at[k], o) == 0) return true;
    if (s->n == s->cap && !pl_array_grow(&s->at, &s->cap, sizeof *s->at)) return false;
    memmove(&s->at[k + 1], &s->at[k], (s->n - k) * sizeof *s->at);
    s->at[k] = *o;
    s->n++;
    return true;
}

void pl_litmus_set_free(pl_litmus_set *s)
{
    free(s->at);
    *s = (pl_litmus_set){0};
}

bool pl_litmus_holds(const pl_litmus_test *t, const pl_litmus_outcome *o)
{
    bool stack[PL_LITMUS_TERMS];
    unsigned n = 0;
    for (unsigned k = 0; k < t->nterms; k++) {
        const pl_litmus_term *x = &t->term[k];
        switch (x->op) {
        case PL_LITMUS_EQ:
        case PL_LITMUS_NE:
            stack[n++] = (o->value[x->observed] == x->value) == (x->op == PL_LITMUS_EQ);
            break;
        case PL_LITMUS_NOT: stack[n - 1] = !stack[n - 1]; break;
        case PL_LITMUS_BOTH:
            n--;
            stack[n - 1] = stack[n - 1] && stack[n];
            break;
        case PL_LITMUS_EITHER:
            n--;
            stack[n - 1] = stack[n - 1] || stack[n];
            break;
        }
    }
    return n == 1 && stack[0];
}

uint32_t pl_litmus_compute(uint8_t fn, uint32_t a, uint32_t b, uint32_t c)
{
    switch ((pl_litmus_fn)fn) {
    case PL_LITMUS_MOV: return a;
    case PL_LITMUS_ADD: return a + b;
    case PL_LITMUS_AND: return a & b;
    case PL_LITMUS_OR: return a | b;
    case PL_LITMUS_XOR: return a ^ b;
    case PL_LITMUS_MIN: return a < b ? a : b;
    case PL_LITMUS_MAX: return a > b ? a : b;
    case PL_LITMUS_EXCH: return b;
    case PL_LITMUS_INC: return a >= b ? 0 : a + 1;
    case PL_LITMUS_CAS: return a == b ? c : a;
    }
    return a;
}
