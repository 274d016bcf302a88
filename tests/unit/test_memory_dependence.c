/* test_memory_dependence.c - ordering of memory accesses: the reported dependences and their
 * transitive closure equal those of a comparison of each pair of accesses. */
#include "tests/unit/unit.h"

#include "isa/program/insn.h"
#include "compiler/analysis/memory_dependence.h"

enum { MOST = 120, LOAD, STORE };

typedef struct told {
    pl_access a;
    int kind;
} told;

static told list[MOST];
static bool behind[MOST][MOST]; /* [b][a]: b stays after a, directly or transitively */

static bool conflict(const pl_access *a, const pl_access *b)
{
    if (a->space != b->space && a->space != PL_SP_GENERIC && b->space != PL_SP_GENERIC)
        return false;
    bool same = a->space == b->space && a->base == b->base && a->base != PL_UNKNOWN_BASE;
    return !same || (a->to > b->from && b->to > a->from);
}

static void order_after(uint32_t b, uint32_t a)
{
    behind[b][a] = true;
    for (uint32_t k = 0; k < a; k++) behind[b][k] |= behind[a][k];
}

static void tell(pl_memory_dependence *m, uint32_t n)
{
    const uint32_t *loads = NULL;
    uint32_t count = 0, before = list[n].kind == LOAD
                                     ? pl_memory_dependence_of_load(m, &list[n].a)
                                     : pl_memory_dependence_of_store(m, &list[n].a, &loads, &count);
    if (before != PL_NO_ACCESS) order_after(n, before);
    for (uint32_t k = 0; k < count; k++) order_after(n, loads[k]);
}

START_TEST(matches_pairwise_comparison)
{
    uint32_t seed = 5;
    pl_arena *a = pl_arena_open();
    pl_memory_dependence *m = pl_memory_dependence_new(a);
    ck_assert_ptr_nonnull(m);
    for (unsigned round = 0; round < 200; round++) {
        uint32_t bases = 1 + round % 4, bytes = 16u << round % 6;
        pl_memory_dependence_start(m);
        for (uint32_t n = 0; n < MOST; n++) {
            uint32_t r = seed = seed * 1664525u + 1013904223u;
            static const uint8_t spaces[] = {PL_SP_GLOBAL, PL_SP_GLOBAL, PL_SP_SHARED,
                                             PL_SP_GENERIC};
            /* Up to 32 bytes. */
            uint32_t base = (r >> 12) % (bases + 1), size = 1u << (r >> 15) % 6;
            int64_t from = (int64_t)((r >> 20) % bytes) - 20;
            list[n] = (told){{n, spaces[round % 3 ? (r >> 10) % 4 : 0],
                              base == bases ? PL_UNKNOWN_BASE : 100 + base, from, from + size},
                             (r >> 30) % 3 ? LOAD : STORE};
            for (uint32_t k = 0; k < MOST; k++) behind[n][k] = false;
            tell(m, n);
        }
        for (uint32_t n = 0; n < MOST; n++)
            for (uint32_t k = 0; k < n; k++) {
                bool stores = list[n].kind == STORE && list[k].kind == STORE,
                     loads = list[n].kind == LOAD && list[k].kind == LOAD;
                bool must = stores || (!loads && conflict(&list[n].a, &list[k].a));
                ck_assert(!must || behind[n][k]);
            }
        /* no unnecessary dependence is reported */
        pl_memory_dependence_start(m);
        for (uint32_t n = 0; n < MOST; n++) {
            const uint32_t *loads = NULL;
            uint32_t count = 0;
            if (list[n].kind == LOAD) {
                uint32_t s = pl_memory_dependence_of_load(m, &list[n].a);
                ck_assert(s == PL_NO_ACCESS || conflict(&list[n].a, &list[s].a));
                continue;
            }
            pl_memory_dependence_of_store(m, &list[n].a, &loads, &count);
            for (uint32_t k = 0; k < count; k++)
                ck_assert(list[loads[k]].kind == LOAD && conflict(&list[n].a, &list[loads[k]].a));
        }
    }
    pl_arena_close(a);
}
END_TEST

START_TEST(barrier_keeps_order)
{
    pl_arena *a = pl_arena_open();
    pl_memory_dependence *m = pl_memory_dependence_new(a);
    const uint32_t *loads;
    uint32_t n;
    pl_memory_dependence_of_load(m, &(pl_access){0, PL_SP_GLOBAL, 7, 0, 4});
    ck_assert_uint_eq(
        pl_memory_dependence_of_store(m, &(pl_access){1, PL_SP_GLOBAL, 7, 4, 8}, &loads, &n),
        PL_NO_ACCESS);
    ck_assert_uint_eq(n, 0); /* other bytes */
    pl_memory_dependence_of_load(m, &(pl_access){2, PL_SP_SHARED, PL_UNKNOWN_BASE, 0, 4});
    ck_assert_uint_eq(pl_memory_dependence_of_all(m, &loads, &n), 1);
    ck_assert_uint_eq(n, 2);
    pl_memory_dependence_start(m);
    ck_assert_uint_eq(pl_memory_dependence_of_load(m, &(pl_access){4, PL_SP_GENERIC, 9, 0, 4}),
                      PL_NO_ACCESS);
    ck_assert_uint_eq(pl_memory_dependence_of_all(m, &loads, &n), PL_NO_ACCESS);
    ck_assert_uint_eq(n, 1);
    pl_arena_close(a);
}
END_TEST

UNIT_MAIN("memorder", matches_pairwise_comparison, barrier_keeps_order)
