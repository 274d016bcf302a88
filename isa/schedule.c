/* schedule.c - loads are issued in batches, as early as their addresses are known.
 *
 * ptxas fills the time that a load takes with further loads: of a stretch of code without barriers it first issues several loads
 * with the arithmetic of their addresses, then what waits for them (its output for sm_90, 2026-11). The order of everything else
 * stays. A load moves up only past instructions that neither make what it needs nor use or write what it writes, and past stores to
 * other spaces. */
#include <string.h>

#include "isa/passes.h"

/* Rows that the loads of a batch fill; instructions looked ahead; rows noted for one instruction. */
enum { BATCH = 8, WINDOW = 96, MOST_ROWS = 24 };

typedef struct rows {
    uint32_t read[MOST_ROWS], written[MOST_ROWS]; /* predicates with the top bit set */
    unsigned nread, nwritten;
    bool many;  /* more than fit: it stays where it is */
} rows;

typedef struct scheduler {
    pl_ir *x;
    pl_insn *code;
    rows *r;          /* by position in the segment */
    uint8_t *emitted, *chosen;
    uint32_t n;
    pl_insn *out;
    uint32_t nout;
} scheduler;

static void note(void *ctx, uint32_t *row, unsigned count, unsigned use)
{
    rows *r = ctx;
    uint32_t top = use & PL_USE_PRED ? 1u << 31 : 0;
    for (unsigned k = 0; k < (top ? 1 : count); k++) {
        if (use & PL_USE_READ) {
            if (r->nread < MOST_ROWS)
                r->read[r->nread++] = (*row + k) | top;
            else
                r->many = true;
        }
        if (use & PL_USE_WRITE) {
            if (r->nwritten < MOST_ROWS)
                r->written[r->nwritten++] = (*row + k) | top;
            else
                r->many = true;
        }
    }
}

static bool meets(const uint32_t *a, unsigned na, const uint32_t *b, unsigned nb)
{
    for (unsigned i = 0; i < na; i++)
        for (unsigned k = 0; k < nb; k++)
            if (a[i] == b[k])
                return true;
    return false;
}

static bool plain_load(const pl_insn *i)
{
    return pl_insn_effects(i) == PL_EF_LOAD && !(i->flags & PL_IF_CONTROL) && !(i->sel[PL_M_FLAGS] & PL_MF_POLL);
}

static bool waits(const pl_insn *i)
{
    return plain_load(i) && i->sel[PL_M_SPACE] != PL_SP_PARAM && i->cls != C_free;
}

static bool plain_store(const pl_insn *i)
{
    return pl_insn_effects(i) == PL_EF_STORE && !(i->flags & PL_IF_CONTROL) && (i->flags & PL_IF_MEM) && !(i->sel[PL_M_FLAGS] & PL_MF_POLL);
}

/* Ends a stretch: what others may see, what moves lanes, what reads flags or clocks. */
static bool fixed(const pl_insn *i)
{
    return !pl_forms[i->form].noperands || (!pl_insn_pure(i) && !plain_load(i) && !plain_store(i));
}

/* May the load see what the store writes? Not in another space; a generic address may be in any. */
static bool may_see(const pl_insn *load, const pl_insn *store)
{
    pl_space a = (pl_space)load->sel[PL_M_SPACE], b = (pl_space)store->sel[PL_M_SPACE];
    return a == b || a == PL_SP_GENERIC || b == PL_SP_GENERIC;
}

/* Marks what must come before `at` so that it can be emitted now; false: something in between forbids it. */
static bool choose(scheduler *s, uint32_t from, uint32_t at)
{
    if (s->chosen[at] || s->emitted[at])
        return true;
    if (s->r[at].many)
        return false;
    s->chosen[at] = 1;
    for (uint32_t k = at; k-- > from;) {
        if (s->emitted[k])
            continue;
        if (s->r[k].many || (plain_load(&s->code[at]) && plain_store(&s->code[k]) && may_see(&s->code[at], &s->code[k])))
            return false;
        bool needs = meets(s->r[at].read, s->r[at].nread, s->r[k].written, s->r[k].nwritten);
        bool clash = meets(s->r[at].written, s->r[at].nwritten, s->r[k].read, s->r[k].nread) ||
                     meets(s->r[at].written, s->r[at].nwritten, s->r[k].written, s->r[k].nwritten);
        if (needs) {
            if (waits(&s->code[k]) && !s->chosen[k])
                return false; /* its address is another load's result */
            if (!choose(s, from, k))
                return false;
        } else if (clash && !s->chosen[k])
            return false;
    }
    return true;
}

/* One stretch of movable instructions. */
static void stretch(scheduler *s)
{
    uint32_t again = 0;
    memset(s->emitted, 0, s->n);
    for (uint32_t i = 0; i < s->n; i++) {
        if (i >= again) {
            unsigned filled = 0;
            for (uint32_t k = i; k < s->n && k < i + WINDOW && filled < BATCH; k++) {
                if (s->emitted[k] || !waits(&s->code[k]))
                    continue;
                memset(s->chosen + i, 0, k - i + 1);
                if (!choose(s, i, k))
                    break;
                for (uint32_t e = i; e <= k; e++)
                    if (s->chosen[e] && !s->emitted[e]) {
                        s->emitted[e] = 1;
                        s->out[s->nout++] = s->code[e];
                    }
                filled += s->r[k].nwritten;
                again = k + 1;
            }
            if (again <= i)
                again = i + 1;
        }
        if (!s->emitted[i]) {
            s->emitted[i] = 1;
            s->out[s->nout++] = s->code[i];
        }
    }
}

bool pl_pass_schedule(pl_ir *x)
{
    size_t most = 0;
    pl_ir_sweep(x);
    for (size_t b = 0; b < x->b.n; b++)
        most = x->b.at[b].code.n > most ? x->b.at[b].code.n : most;
    scheduler s = {.x = x, .r = pl_arena_array(x->tmp, rows, most + 1), .emitted = pl_arena_array(x->tmp, uint8_t, most + 1),
                   .chosen = pl_arena_array(x->tmp, uint8_t, most + 1), .out = pl_arena_array(x->tmp, pl_insn, most + 1)};
    if (!s.r || !s.emitted || !s.chosen || !s.out)
        return false;
    for (size_t b = 0; b < x->b.n; b++) {
        pl_irb *k = &x->b.at[b];
        for (size_t at = 0; at < k->code.n;) {
            size_t end = at;
            while (end < k->code.n && !fixed(&k->code.at[end]))
                end++;
            s.code = k->code.at + at;
            s.n = (uint32_t)(end - at);
            s.nout = 0;
            for (uint32_t i = 0; i < s.n; i++) {
                s.r[i] = (rows){0};
                pl_insn_uses(x->p, &s.code[i], note, &s.r[i]);
            }
            stretch(&s);
            memcpy(s.code, s.out, s.n * sizeof *s.code);
            at = end + 1;
        }
    }
    return true;
}
