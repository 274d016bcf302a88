/* test_mem_parts.c - ports, cache tags, coalescing, bank passes and the L1: each rule of memmodel
 * on numbers computed by hand. */
#include "memmodel/coalescer.h"
#include "memmodel/dram.h"
#include "memmodel/l1.h"
#include "memmodel/port.h"
#include "tests/unit/unit.h"
#include <string.h>

START_TEST(port_has_latency_and_width)
{
    pl_port p = {.latency = 10};
    uint32_t cost = pl_port_cost(64, 32); /* two cycles */
    ck_assert_uint_eq(pl_port_pass(&p, 100, cost), 112);
    ck_assert_uint_eq(pl_port_pass(&p, 100, cost), 114); /* waits for the first */
    ck_assert_uint_eq(pl_port_wait(&p, 101), 3);
    ck_assert_uint_eq(pl_port_pass(&p, 200, cost), 212); /* idle again */
    ck_assert_uint_eq(p.count, 3);
    ck_assert_uint_eq(p.busy, 3 * cost);
}
END_TEST

START_TEST(port_accumulates_fractions)
{
    pl_port p = {.latency = 1};
    uint32_t cost = pl_port_cost(32, 48); /* two thirds of a cycle */
    uint64_t last = 0;
    for (int i = 0; i < 300; i++) last = pl_port_pass(&p, 0, cost);
    ck_assert_uint_ge(last, 200);
    ck_assert_uint_le(last, 203);
}
END_TEST

START_TEST(cache_lru)
{
    pl_arena *a = pl_arena_open();
    pl_cache c;
    pl_cache_line old;
    pl_cache_init(&c, a, a, 4 * 128, 128, 4, false); /* one set of four ways */
    for (uint64_t k = 0; k < 4; k++)
        ck_assert_uint_ne(pl_cache_claim(&c, k * 128, PL_RANK_NORMAL, &old), PL_NO_LINE);
    ck_assert_uint_ne(pl_cache_find(&c, 0), PL_NO_LINE); /* line 0 is most recently used again */
    pl_cache_claim(&c, 4 * 128, PL_RANK_NORMAL, &old);
    ck_assert_uint_eq(pl_cache_address(&c, &old), 128);
    ck_assert_uint_eq(pl_cache_find(&c, 128), PL_NO_LINE);
    ck_assert_uint_ne(pl_cache_find(&c, 0), PL_NO_LINE);
    pl_arena_close(a);
}
END_TEST

/* The lines present in a cache of one set, as a mask. */
static unsigned lines_there(pl_cache *c, unsigned n)
{
    unsigned there = 0;
    for (unsigned k = 0; k < n; k++)
        for (uint32_t w = c->head; w < c->head + c->ways; w++)
            there |= (unsigned)(c->line[w].tag == k + 1) << k;
    return there;
}

/* Lines of a lower rank are evicted first, regardless of age; lines of the last rank keep a share
 * of the set. */
START_TEST(cache_replaces_lines_by_rank)
{
    pl_arena *a = pl_arena_open();
    pl_cache c;
    pl_cache_line old;
    pl_cache_init(&c, a, a, 4 * 128, 128, 4, false);
    pl_cache_set_evict_last_quota(&c, 0.5);
    static const pl_mem_rank rank[] = {PL_RANK_LAST, PL_RANK_NORMAL, PL_RANK_FIRST,
                                       PL_RANK_UNCHANGED};
    for (unsigned k = 0; k < 4; k++) pl_cache_claim(&c, k * 128, rank[k], &old);
    pl_cache_find(&c, 2 * 128);
    pl_cache_claim(&c, 4 * 128, PL_RANK_NORMAL, &old); /* replaces 2 */
    ck_assert_uint_eq(lines_there(&c, 8), 1u << 0 | 1u << 1 | 1u << 3 | 1u << 4);
    pl_cache_claim(&c, 5 * 128, PL_RANK_NORMAL, &old); /* replaces 3 */
    pl_cache_claim(&c, 6 * 128, PL_RANK_NORMAL, &old); /* replaces 1, the oldest of its rank */
    ck_assert_uint_eq(lines_there(&c, 8), 1u << 0 | 1u << 4 | 1u << 5 | 1u << 6);
    pl_cache_rank(&c, pl_cache_find(&c, 4 * 128), PL_RANK_LAST);
    /* A third one: the oldest becomes normal, and is older than 6. */
    pl_cache_rank(&c, pl_cache_find(&c, 5 * 128), PL_RANK_LAST);
    pl_cache_claim(&c, 7 * 128, PL_RANK_NORMAL, &old);
    ck_assert_uint_eq(lines_there(&c, 8), 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7);
    pl_arena_close(a);
}
END_TEST

/* Dirty lines of the first rank are retained until they fill half of the set. */
START_TEST(cache_evicts_clean_first)
{
    pl_arena *a = pl_arena_open();
    pl_cache c;
    pl_cache_line old;
    pl_cache_init(&c, a, a, 4 * 128, 128, 4, false);
    for (unsigned k = 0; k < 3; k++) pl_cache_claim(&c, k * 128, PL_RANK_NORMAL, &old);
    c.line[pl_cache_claim(&c, 3 * 128, PL_RANK_FIRST, &old)].dirty = 1;
    c.line[pl_cache_claim(&c, 4 * 128, PL_RANK_FIRST, &old)].dirty = 1; /* replaces 0 */
    ck_assert_uint_eq(lines_there(&c, 8), 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4);
    pl_cache_claim(&c, 5 * 128, PL_RANK_NORMAL, &old); /* replaces 3 */
    ck_assert_uint_eq(lines_there(&c, 8), 1u << 1 | 1u << 2 | 1u << 4 | 1u << 5);
    pl_arena_close(a);
}
END_TEST

/* The memory of the sets need not be zero: it is cleared on first access. */
START_TEST(cache_init_empty)
{
    pl_arena *a = pl_arena_open(), *tags = pl_arena_open();
    pl_cache c[2];
    pl_cache_line old;
    memset(pl_arena_alloc(tags, 60000), 0x01, 60000);
    pl_arena_reset_unzeroed(tags);
    pl_cache_init_all(c, 2, a, tags, 64 * 128, 128, 4, true);
    for (uint64_t k = 0; k < 64; k++) {
        ck_assert_uint_eq(pl_cache_find(&c[0], k * 128), PL_NO_LINE);
        ck_assert_uint_ne(pl_cache_claim(&c[0], k * 128, PL_RANK_NORMAL, &old), PL_NO_LINE);
        ck_assert_uint_eq(old.tag, 0);
        ck_assert_uint_eq(pl_cache_find(&c[1], k * 128), PL_NO_LINE);
    }
    for (uint64_t k = 0; k < 64; k++) ck_assert_uint_ne(pl_cache_find(&c[0], k * 128), PL_NO_LINE);
    pl_arena_close(a);
    pl_arena_close(tags);
}
END_TEST

START_TEST(cache_keeps_pending_lines)
{
    pl_arena *a = pl_arena_open();
    pl_cache c;
    pl_cache_line old;
    pl_cache_init(&c, a, a, 2 * 128, 128, 2, false);
    c.line[pl_cache_claim(&c, 0, PL_RANK_NORMAL, &old)].pending = 1;
    c.line[pl_cache_claim(&c, 128, PL_RANK_NORMAL, &old)].pending = 1;
    ck_assert_uint_eq(pl_cache_claim(&c, 256, PL_RANK_NORMAL, &old), PL_NO_LINE);
    pl_arena_close(a);
}
END_TEST

/* Around multiples and around the largest number for which the multiplication is exact. */
START_TEST(divider_is_exact)
{
    static const uint64_t by[] = {1,   2,   3,    5,    7,     24,       48,
                                  641, 682, 4096, 5119, 65537, 1u << 20, 0x123456789ull};
    for (size_t k = 0; k < sizeof by / sizeof *by; k++) {
        const pl_divider d = pl_divider_of(by[k]);
        for (uint64_t n = 0; n < 3000; n++) {
            const uint64_t some[] = {n,
                                     n * by[k],
                                     n * by[k] - 1,
                                     n * 0x9E3779B97F4A7C15ull >> 20,
                                     UINT64_MAX / by[k] - 1500 + n,
                                     UINT64_MAX - n};
            for (size_t s = 0; s < sizeof some / sizeof *some; s++) {
                ck_assert_uint_eq(pl_divide(some[s], &d), some[s] / by[k]);
                ck_assert_uint_eq(pl_remainder(some[s], &d), some[s] % by[k]);
            }
        }
    }
}
END_TEST

static void strided(uint64_t *addr, uint64_t base, uint64_t stride)
{
    for (uint64_t l = 0; l < 32; l++) addr[l] = base + l * stride;
}

/* 32 lanes of 4 bytes: consecutive lanes fill one line; each doubling of the stride doubles the
 * lines, and the sectors up to one per lane. */
START_TEST(coalescing_counts_lines_and_sectors)
{
    static const struct {
        uint64_t base, stride;
        uint32_t lines, sectors;
    } t[] = {{0, 4, 1, 4},     {4, 4, 2, 5}, {0, 8, 2, 8},  {0, 32, 8, 32},
             {0, 128, 32, 32}, {0, 0, 1, 1}, {0, 20, 5, 20}};
    uint64_t addr[32];
    pl_lines l;
    for (size_t k = 0; k < sizeof t / sizeof *t; k++) {
        strided(addr, t[k].base, t[k].stride);
        pl_coalesce(&l, UINT32_MAX, addr, 4, 128, 32);
        ck_assert_uint_eq(l.n, t[k].lines);
        ck_assert_uint_eq(l.sectors, t[k].sectors);
    }
    strided(addr, 0, 4);
    pl_coalesce(&l, 0x1, addr, 4, 128, 32);
    ck_assert_uint_eq(l.sectors, 1);
}
END_TEST

START_TEST(atomics_count_lanes_with_one_address)
{
    uint64_t addr[32];
    pl_lines l;
    for (uint64_t k = 0; k < 32; k++) addr[k] = k % 4 * 4;
    pl_coalesce_atomic(&l, UINT32_MAX, addr, 4, 128, 32);
    ck_assert_uint_eq(l.n, 1);
    ck_assert_uint_eq(l.unique, 4);
    ck_assert_uint_eq(l.at[0].max_same_address, 8);
    ck_assert_uint_eq(l.at[0].word_mask, 0xf);
    pl_coalesce_atomic(&l, 0x9, addr, 8, 128, 32);
    ck_assert_uint_eq(l.at[0].word_mask, 0x1b); /* the first two words, and those of lane 3 */
}
END_TEST

/* Numbers of passes consistent with the latencies of smem.tsv (H200, driver 580.159.04,
 * 2026-11): 26.75 cycles, and two more for each further pass. */
START_TEST(bank_passes_match_h200)
{
    static const pl_banks banks = {.count = 32, .width = 4, .rows = 1};
    static const struct {
        uint32_t size;
        uint64_t stride; /* in elements */
        uint32_t passes;
    } t[] = {{4, 0, 1},   {4, 1, 1},  {4, 2, 2},  {4, 3, 1},  {4, 4, 4},   {4, 8, 8},  {4, 16, 16},
             {4, 32, 32}, {4, 33, 1}, {8, 0, 1},  {8, 1, 2},  {8, 2, 4},   {8, 4, 8},  {8, 8, 16},
             {8, 16, 32}, {16, 0, 2}, {16, 1, 4}, {16, 2, 8}, {16, 4, 16}, {16, 8, 32}};
    uint64_t addr[32];
    uint32_t extra;
    for (size_t k = 0; k < sizeof t / sizeof *t; k++) {
        strided(addr, 0, t[k].stride * t[k].size);
        ck_assert_msg(
            pl_bank_passes(UINT32_MAX, addr, t[k].size, &banks, true, &extra) == t[k].passes,
            "%u bytes, stride %u: not %u passes", t[k].size, (unsigned)t[k].stride, t[k].passes);
    }
    /* lanes that share addresses: patterns pairs_same, quads_same, halves_same, quarters_same,
     * bcast2rows, bcast4rows */
    static const struct {
        uint32_t size, shift, mask, step, load, store;
    } same[] = {{8, 1, 31, 8, 1, 2},   {8, 2, 31, 8, 1, 2},   {8, 0, 15, 8, 2, 2},
                {8, 0, 7, 8, 2, 2},    {8, 0, 1, 128, 2, 4},  {8, 0, 3, 128, 8, 8},
                {16, 1, 31, 16, 2, 4}, {16, 2, 31, 16, 2, 4}, {16, 0, 15, 16, 4, 4},
                {16, 0, 7, 16, 4, 4},  {16, 0, 1, 128, 4, 8}, {16, 0, 3, 128, 16, 16}};
    for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
        for (unsigned l = 0; l < 32; l++)
            addr[l] = (l >> same[k].shift & same[k].mask) * same[k].step;
        ck_assert_uint_eq(pl_bank_passes(UINT32_MAX, addr, same[k].size, &banks, true, &extra),
                          same[k].load);
        ck_assert_uint_eq(pl_bank_passes(UINT32_MAX, addr, same[k].size, &banks, false, &extra),
                          same[k].store);
    }
    strided(addr, 0, 4);
    ck_assert_uint_eq(pl_bank_passes(0xff, addr, 4, &banks, true, &extra), 1);
    ck_assert_uint_eq(extra, 0);
    strided(addr, 0, 128);
    pl_bank_passes(UINT32_MAX, addr, 4, &banks, true, &extra);
    ck_assert_uint_eq(extra, 31);
}
END_TEST

static uint32_t woken[8], nwoken;
static void wake(void *ctx, uint32_t token)
{
    (void)ctx;
    woken[nwoken++] = token;
}

START_TEST(l1_merges_loads_of_one_sector)
{
    pl_arena *a = pl_arena_open();
    pl_l1 l;
    uint32_t first, second;
    uint8_t ask;
    pl_l1_init(&l, a, a, a,
               &(pl_l1_geometry){.bytes = 8192,
                                 .line_bytes = 128,
                                 .sector_bytes = 32,
                                 .ways = 4,
                                 .mshrs = 64,
                                 .targets = 64});
    ck_assert_uint_eq(
        pl_l1_load(&l, 0x1000, 0x3, 1, PL_L1_TAG_ALLOCATE, PL_RANK_NORMAL, &first, &ask), 1);
    ck_assert_uint_eq(ask, 0x3);
    /* Already outstanding. */
    ck_assert_uint_eq(
        pl_l1_load(&l, 0x1000, 0x2, 2, PL_L1_TAG_ALLOCATE, PL_RANK_NORMAL, &second, &ask), 1);
    ck_assert_uint_eq(ask, 0);
    /* One merged, one new. */
    ck_assert_uint_eq(
        pl_l1_load(&l, 0x1000, 0x6, 3, PL_L1_TAG_ALLOCATE, PL_RANK_NORMAL, &second, &ask), 2);
    ck_assert_uint_eq(ask, 0x4);
    nwoken = 0;
    pl_l1_fill(&l, first, wake, NULL);
    ck_assert_uint_eq(nwoken, 3);
    pl_l1_fill(&l, second, wake, NULL);
    ck_assert_uint_eq(nwoken, 4);
    ck_assert_uint_eq(woken[3], 3);
    ck_assert_uint_eq(
        pl_l1_load(&l, 0x1000, 0x7, 4, PL_L1_TAG_ALLOCATE, PL_RANK_NORMAL, &first, &ask), 0);
    ck_assert_uint_eq(l.hits, 3);
    ck_assert_uint_eq(l.merges, 2);
    ck_assert_uint_eq(l.mshrs.used, 0);
    ck_assert_uint_eq(l.mshrs.used_target, 0);
    /* A bypassing access: its fourth sector is not present afterwards. */
    ck_assert(pl_l1_store(&l, 0x1000, 0xf, PL_L1_TAG_BYPASS, PL_RANK_NORMAL));
    ck_assert_uint_eq(
        pl_l1_load(&l, 0x1000, 0xf, 6, PL_L1_TAG_ALLOCATE, PL_RANK_NORMAL, &first, &ask), 1);
    ck_assert_uint_eq(ask, 0x8);
    pl_l1_fill(&l, first, wake, NULL);
    /* Bypasses the tags. */
    ck_assert_uint_eq(
        pl_l1_load(&l, 0x1000, 0x1, 5, PL_L1_TAG_BYPASS, PL_RANK_NORMAL, &first, &ask), 1);
    pl_l1_invalidate_sectors(&l, 0x1000, 0x5);
    pl_l1_invalidate_sectors(&l, 0x8000, 0x1); /* a line that is not present */
    ck_assert_uint_eq(
        pl_l1_load(&l, 0x1000, 0xf, 7, PL_L1_TAG_ALLOCATE, PL_RANK_NORMAL, &first, &ask), 1);
    ck_assert_uint_eq(ask, 0x5);
    ck_assert(!pl_l1_store(&l, 0x2000, 0x3, PL_L1_TAG_BYPASS, PL_RANK_NORMAL));
    /* This one is allocated. */
    ck_assert(!pl_l1_store(&l, 0x2000, 0x3, PL_L1_TAG_ALLOCATE, PL_RANK_NORMAL));
    ck_assert(pl_l1_store(&l, 0x2000, 0xc, PL_L1_TAG_BYPASS, PL_RANK_NORMAL));
    ck_assert_uint_eq(
        pl_l1_load(&l, 0x2000, 0x3, 8, PL_L1_TAG_ALLOCATE, PL_RANK_NORMAL, &first, &ask), 0);
    ck_assert_uint_eq(
        pl_l1_load(&l, 0x2000, 0x4, 8, PL_L1_TAG_ALLOCATE, PL_RANK_NORMAL, &first, &ask), 1);
    pl_arena_close(a);
}
END_TEST

/* Lines 1 .. n are present, line 0 is outstanding, and all are invalidated, twice. */
static void forget_lines(uint64_t n)
{
    pl_arena *a = pl_arena_open();
    pl_l1 l;
    uint32_t late, request;
    uint8_t ask;
    pl_l1_init(&l, a, a, a,
               &(pl_l1_geometry){.bytes = 1 << 16,
                                 .line_bytes = 128,
                                 .sector_bytes = 32,
                                 .ways = 4,
                                 .mshrs = 64,
                                 .targets = 64});
    pl_l1_load(&l, 0, 0x1, 0, PL_L1_TAG_ALLOCATE, PL_RANK_NORMAL, &late, &ask);
    for (int turn = 0; turn < 2; turn++) {
        for (uint64_t k = 1; k <= n; k++) {
            ck_assert_uint_eq(
                pl_l1_load(&l, k * 128, 0x1, 1, PL_L1_TAG_ALLOCATE, PL_RANK_NORMAL, &request, &ask),
                1);
            pl_l1_fill(&l, request, wake, NULL);
            nwoken = 0;
            ck_assert_uint_eq(
                pl_l1_load(&l, k * 128, 0x1, 1, PL_L1_TAG_ALLOCATE, PL_RANK_NORMAL, &request, &ask),
                0);
        }
        pl_l1_invalidate(&l);
    }
    ck_assert_uint_eq(
        pl_l1_load(&l, 128, 0x1, 1, PL_L1_TAG_ALLOCATE, PL_RANK_NORMAL, &request, &ask), 1);
    pl_l1_fill(&l, late, wake, NULL);
    ck_assert_uint_eq(pl_l1_load(&l, 0, 0x1, 1, PL_L1_TAG_ALLOCATE, PL_RANK_NORMAL, &request, &ask),
                      0); /* it arrived after the invalidation */
    nwoken = 0;
    const uint64_t own = l.private_base = (uint64_t)1
                                          << 40; /* lines of a thread's own memory remain */
    l.private_bytes = 1 << 20;
    pl_l1_store(&l, own, 0x1, PL_L1_TAG_ALLOCATE, PL_RANK_NORMAL);
    pl_l1_invalidate(&l);
    ck_assert_uint_eq(pl_l1_load(&l, 0, 0x1, 1, PL_L1_TAG_ALLOCATE, PL_RANK_NORMAL, &request, &ask),
                      1);
    ck_assert_uint_eq(
        pl_l1_load(&l, own, 0x1, 1, PL_L1_TAG_ALLOCATE, PL_RANK_NORMAL, &request, &ask), 0);
    pl_arena_close(a);
}

START_TEST(l1_invalidation)
{
    forget_lines(3);
    forget_lines(PL_L1_RECENT - 1);
    forget_lines(PL_L1_RECENT);
    forget_lines(3 * PL_L1_RECENT);
}
END_TEST

START_TEST(l1_mshr_limit)
{
    pl_arena *a = pl_arena_open();
    pl_l1 l;
    uint32_t first, second;
    uint8_t ask;
    pl_l1_init(&l, a, a, a,
               &(pl_l1_geometry){.bytes = 8192,
                                 .line_bytes = 128,
                                 .sector_bytes = 32,
                                 .ways = 4,
                                 .mshrs = 64,
                                 .targets = 64});
    l.mshrs.max_sectors = 6;
    pl_l1_load(&l, 0x1000, 0xf, 1, PL_L1_TAG_ALLOCATE, PL_RANK_NORMAL, &first, &ask);
    ck_assert(pl_mshr_available(&l.mshrs)); /* four of six sectors */
    pl_l1_load(&l, 0x2000, 0x3, 2, PL_L1_TAG_ALLOCATE, PL_RANK_NORMAL, &second, &ask);
    ck_assert(!pl_mshr_available(&l.mshrs));
    nwoken = 0;
    pl_l1_fill(&l, second, wake, NULL);
    ck_assert(pl_mshr_available(&l.mshrs));
    pl_arena_close(a);
}
END_TEST

/* Twelve rows of 4 KiB: one word of each falls into three of six channels, which are interleaved
 * every 256 bytes. */
START_TEST(partition_camping)
{
    pl_arena *a = pl_arena_open();
    pl_dram_config c = {.channels = 6,
                        .banks = 16,
                        .row_bytes = 4096,
                        .atom_bytes = 32,
                        .bytes_per_cycle = 96,
                        .latency = 100,
                        .t_rp_rcd = 30,
                        .t_rc = 50,
                        .map = PL_MAP_INTERLEAVED};
    pl_dram d;
    uint32_t met = 0;
    pl_dram_init(&d, a, a, &c);
    for (uint64_t k = 0; k < 12; k++) met |= 1u << pl_dram_channel_of(&d, k * 4096);
    ck_assert_uint_eq(met, 1u << 0 | 1u << 2 | 1u << 4);
    for (uint64_t k = 0; k < 6; k++) ck_assert_uint_eq(pl_dram_channel_of(&d, k * 256 + 255), k);
    pl_arena_close(a);
}
END_TEST

/* Check bits use an eighth of the bus, and data wait for them. */
START_TEST(ecc_bandwidth_cost)
{
    pl_arena *a = pl_arena_open();
    pl_dram_config c = {.channels = 1,
                        .banks = 16,
                        .row_bytes = 4096,
                        .atom_bytes = 32,
                        .bytes_per_cycle = 1,
                        .latency = 100,
                        .t_rp_rcd = 30,
                        .t_rc = 50};
    pl_dram plain, checked;
    pl_dram_init(&plain, a, a, &c);
    pl_dram_config with = c;
    with.ecc_ratio = 8;
    pl_dram_init(&checked, a, a, &with);
    ck_assert_uint_eq(pl_dram_access(&checked, 0, 0, 4, 32, false),
                      pl_dram_access(&plain, 0, 0, 4, 32, false) + 16 + 50);
    ck_assert_uint_eq(pl_dram_access(&checked, 1000, 0, 4, 32, true),
                      pl_dram_access(&plain, 1000, 0, 4, 32, true) + 16);
    pl_arena_close(a);
}
END_TEST

/* An access to a row that has not been closed yet joins it, regardless of later requests to the
 * bank; a later access opens the row again. */
START_TEST(dram_row_batching)
{
    pl_arena *a = pl_arena_open();
    pl_dram_config c = {.channels = 1,
                        .banks = 1,
                        .row_bytes = 4096,
                        .atom_bytes = 32,
                        .bytes_per_cycle = 128,
                        .latency = 100,
                        .t_rp_rcd = 30,
                        .t_rc = 500,
                        .row_lookahead = 2};
    pl_dram d;
    pl_dram_init(&d, a, a, &c);
    const uint64_t first = pl_dram_access(&d, 1000, 0, 4, 32, false),
                   other = pl_dram_access(&d, 1010, 4096, 4, 32, false);
    ck_assert_uint_eq(other, first + 500);
    /* Open since 1030. */
    ck_assert_uint_eq(pl_dram_access(&d, 1400, 128, 4, 32, false), 1400 + 100 + 2);
    /* As soon as it is open. */
    ck_assert_uint_eq(pl_dram_access(&d, 1450, 4096 + 128, 4, 32, false), other);
    /* Closed at 1500. */
    ck_assert_uint_eq(pl_dram_access(&d, 1600, 256, 4, 32, false), 2000 + 30 + 100 + 2);
    ck_assert_uint_eq(d.row_hits, 2);
    pl_arena_close(a);
}
END_TEST

/* The bus turns around for a batch of writes, and reads do not wait for pending writes. */
START_TEST(dram_write_batching)
{
    pl_arena *a = pl_arena_open();
    pl_dram_config c = {.channels = 1,
                        .banks = 1,
                        .row_bytes = 4096,
                        .atom_bytes = 32,
                        .bytes_per_cycle = 1,
                        .latency = 100,
                        .turnaround = 7,
                        .write_batch = 4};
    pl_dram d;
    pl_dram_init(&d, a, a, &c);
    for (unsigned k = 0; k < 3; k++) pl_dram_access(&d, 1000, k * 128, 4, 32, true);
    ck_assert_uint_eq(pl_dram_access(&d, 1000, 0, 1, 32, false), 1000 + 100 + 32 + 1);
    pl_dram_access(&d, 2000, 3 * 128, 4, 32, true);
    ck_assert_uint_eq(pl_dram_access(&d, 2000, 0, 1, 32, false),
                      2000 + 100 + 4 * 128 + 2 * 7 + 32 + 1);
    ck_assert_uint_eq(d.sectors_written, 16);
    pl_arena_close(a);
}
END_TEST

/* Consecutive lines, except for those of eleven other slices, fill the sets in order. */
START_TEST(interleaved_slice_sets)
{
    pl_arena *a = pl_arena_open();
    pl_cache c;
    pl_cache_line old;
    pl_cache_init(&c, a, a, 8192, 128, 4, true); /* 16 sets of 4 */
    pl_cache_set_interleave(&c, 12, 2);
    for (uint64_t k = 0; k < 64; k++)
        ck_assert_uint_ne(pl_cache_claim(&c, (k / 2 * 24 + k % 2) * 128, PL_RANK_NORMAL, &old),
                          PL_NO_LINE);
    for (uint64_t k = 0; k < 64; k++)
        ck_assert_uint_ne(pl_cache_find(&c, (k / 2 * 24 + k % 2) * 128), PL_NO_LINE);
    pl_arena_close(a);
}
END_TEST

UNIT_MAIN("memmodel parts", port_has_latency_and_width, port_accumulates_fractions,
          divider_is_exact, cache_lru, cache_replaces_lines_by_rank, cache_evicts_clean_first,
          cache_init_empty, cache_keeps_pending_lines, coalescing_counts_lines_and_sectors,
          atomics_count_lanes_with_one_address, bank_passes_match_h200,
          l1_merges_loads_of_one_sector, l1_invalidation, l1_mshr_limit, partition_camping,
          ecc_bandwidth_cost, dram_row_batching, dram_write_batching, interleaved_slice_sets)
