/* test_live_spans.c - values live at the end of each block: compared with sets computed by a
 * straightforward data-flow solver, for random graphs. */
#include "tests/unit/unit.h"

#include <string.h>

#include "compiler/analysis/live_spans.h"

enum { BLOCKS = 90, THINGS = 200, PREDS = 3 };

typedef struct plain {
    bool in[BLOCKS][THINGS], out[BLOCKS][THINGS], reads[BLOCKS][THINGS], writes[BLOCKS][THINGS];
} plain;

static uint32_t preds[BLOCKS * PREDS], pred[BLOCKS], npred[BLOCKS];

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void solve(plain *p)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < BLOCKS; b++)
            for (uint32_t t = 0; t < THINGS; t++) {
                bool in = p->reads[b][t] || (p->out[b][t] && !p->writes[b][t]);
                changed |= in != p->in[b][t];
                p->in[b][t] = in;
                for (uint32_t k = 0; in && k < npred[b]; k++) p->out[preds[pred[b] + k]][t] = true;
            }
    }
}

/* Most blocks have the preceding block as a predecessor, and others near and far; values are
 * accessed at random places. */
START_TEST(matches_dataflow_solver)
{
    uint32_t seed = 3;
    for (unsigned round = 0; round < 40; round++) {
        pl_arena *a = pl_arena_open();
        plain *p = pl_arena_new(a, plain);
        pl_live_spans s = {.a = a,
                           .values = THINGS,
                           .blocks = BLOCKS,
                           .preds = preds,
                           .pred = pred,
                           .npred = npred};
        for (uint32_t b = 0; b < BLOCKS; b++) {
            pred[b] = b * PREDS;
            npred[b] = 0;
            if (b && next(&seed) % 8) preds[pred[b] + npred[b]++] = b - 1;
            while (npred[b] < PREDS && next(&seed) % 3 == 0)
                preds[pred[b] + npred[b]++] = next(&seed) % BLOCKS;
        }
        for (uint32_t k = 0; k < THINGS * (1 + round % 5); k++) {
            uint32_t t = next(&seed) % THINGS, b = next(&seed) % BLOCKS;
            if (p->reads[b][t] || p->writes[b][t]) continue;
            bool reads = next(&seed) & 1;
            (reads ? p->reads : p->writes)[b][t] = true;
            pl_live_spans_access(&s, t, b, reads);
        }
        solve(p);
        ck_assert(pl_live_spans_solve(&s));
        uint32_t last[THINGS];
        memset(last, 0, sizeof last);
        for (size_t k = 0; k < s.spans.n; k++) {
            const pl_live_span *q = &s.spans.at[k];
            ck_assert_uint_lt(q->first, q->end);
            /* In order, and disjoint. */
            ck_assert(!last[q->value] || q->first > last[q->value]);
            last[q->value] = q->end;
            for (uint32_t b = q->first; b < q->end; b++) {
                ck_assert(p->out[b][q->value]);
                p->out[b][q->value] = false;
            }
        }
        for (uint32_t b = 0; b < BLOCKS; b++)
            for (uint32_t t = 0; t < THINGS; t++) ck_assert(!p->out[b][t]);
        pl_arena_close(a);
    }
}
END_TEST

UNIT_MAIN("liveset", matches_dataflow_solver)
