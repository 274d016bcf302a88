/* test_mem_system.c - the memory system beyond the SMs: latencies that are sums, and invariants for
 * any traffic. */
#include "memmodel/memsys.h"
#include "tests/unit/unit.h"
#include <string.h>

static const pl_memsys_config small = {.nodes = 4,
                                       .groups = 2,
                                       .coalescers = 4,
                                       .line_bytes = 128,
                                       .sector_bytes = 32,
                                       .xbar_latency = 20,
                                       .partitions = 1,
                                       .owner_bytes = 4096,
                                       .up_bytes = 32,
                                       .down_bytes = 32,
                                       .group_down_bytes = 64,
                                       .header_bytes = 8,
                                       .l2_bytes = 64 * 1024,
                                       .slices = 2,
                                       .l2_ways = 4,
                                       .l2_latency = 40,
                                       .slice_bytes = 32,
                                       .atomic_sector = {4, 4, 4},
                                       .atomic_op_cost = {4, 4, 4},
                                       .atomic_address_interval = {2, 2, 8},
                                       .far_atomic_bytes = 1024,
                                       .up_atomic_bytes = 32,
                                       .atomic_line_interval = 2,
                                       .l2_fill_sectors = 1,
                                       .partial_write = 2,
                                       .dram = {.channels = 2,
                                                .banks = 4,
                                                .row_bytes = 1024,
                                                .atom_bytes = 32,
                                                .bytes_per_cycle = 16,
                                                .latency = 60,
                                                .t_rp_rcd = 40,
                                                .t_rc = 100},
                                       .in_flight = 4096};

static pl_mem_req boxes[4][1024];

static pl_mem_outbox outbox(unsigned node)
{
    return (pl_mem_outbox){.at = boxes[node], .n = 0, .cap = 1024};
}

static void put(pl_mem_outbox *b, unsigned node, uint64_t time, uint64_t line, uint8_t op,
                uint8_t sectors, uint32_t token)
{
    b->at[b->n++] = (pl_mem_req){.time = time,
                                 .line = line,
                                 .op = op,
                                 .sectors = sectors,
                                 .token = token,
                                 .node = (uint16_t)node,
                                 .bytes = op == PL_MEM_READ ? 0 : 8};
}

/* One read of one sector, at cycle 0: header 8 bytes at 32 per cycle, a quarter cycle, rounds up to
 * 1. Crossbar 20; slice one cycle and 40. Memory 60 + 40 for a closed row, 4 for the sector on an
 * 8-byte bus, 1. Group port half a cycle (1) + 20; SM port 1 + 1. */
START_TEST(miss_latency_sum)
{
    pl_arena *a = pl_arena_open();
    pl_memsys *m = pl_memsys_open(a, a, a, &small);
    pl_mem_outbox b = outbox(0);
    pl_mem_reply r;
    put(&b, 0, 0, 0x4000, PL_MEM_READ, 1, 7);
    pl_memsys_send(m, &b);
    pl_memsys_run(m, 10000);
    uint64_t at = pl_memsys_reply_time(m, 0);
    ck_assert_uint_eq(at, 1 + 20 + 1 + 40 + 60 + 40 + 4 + 1 + 1 + 20 + 1 + 1);
    ck_assert(!pl_memsys_reply(m, 0, at - 1, &r));
    ck_assert(pl_memsys_reply(m, 0, at, &r));
    ck_assert_uint_eq(r.token, 7);
    ck_assert_uint_eq(r.level, PL_LV_DRAM);
    /* again: now it hits, without an access to memory */
    put(&b, 0, 10000, 0x4000, PL_MEM_READ, 1, 8);
    pl_memsys_send(m, &b);
    pl_memsys_run(m, 20000);
    ck_assert_uint_eq(pl_memsys_reply_time(m, 0), 10000 + 1 + 20 + 1 + 40 + 1 + 20 + 1 + 1);
    ck_assert(pl_memsys_reply(m, 0, 20000, &r));
    ck_assert_uint_eq(r.level, PL_LV_L2);
    ck_assert_uint_eq(pl_memsys_stats(m)->fills, 1);
    ck_assert_uint_eq(pl_memsys_pending(m), 0);
    pl_arena_close(a);
}
END_TEST

/* Four nodes read a line, one of them its own sectors; returns the number of requests at the
 * slice. */
static uint64_t requests_for_one_line(uint32_t coalescers, uint32_t joined, unsigned one,
                                      uint8_t sectors)
{
    pl_memsys_config c = small;
    c.coalescers = coalescers;
    c.max_merged = joined;
    pl_arena *a = pl_arena_open();
    pl_memsys *m = pl_memsys_open(a, a, a, &c);
    pl_mem_reply r;
    uint64_t each = 0;
    for (unsigned round = 0; round < 2; round++) {
        uint64_t now = round * 10000;
        for (unsigned n = 0; n < 4; n++) {
            pl_mem_outbox b = outbox(n);
            put(&b, n, now + n * 5, 0x4000, PL_MEM_READ, n == one ? sectors : 3, 10 + n);
            pl_memsys_send(m, &b);
        }
        pl_memsys_run(m, now + 10000);
        for (unsigned n = 0; n < 4; n++) {
            ck_assert(pl_memsys_reply(m, n, now + 10000, &r));
            ck_assert_uint_eq(r.token, 10 + n);
            ck_assert_uint_eq(r.sectors, n == one ? sectors : 3);
            ck_assert(!pl_memsys_reply(m, n, now + 10000, &r));
        }
        if (round == 0)
            each = pl_memsys_stats(m)->requests;
        else
            ck_assert_uint_eq(pl_memsys_stats(m)->requests, 2 * each);
    }
    ck_assert_uint_eq(pl_memsys_pending(m), 0);
    pl_arena_close(a);
    return each;
}

/* Accesses `n` lines from `line` on with `op`, where 4 KiB at 0x4000 are host memory: arrival times
 * of the first and last reply. */
static void host_times(unsigned n, uint8_t op, uint64_t line, uint64_t *first, uint64_t *last)
{
    static const pl_mem_range range = {.address = 0x4000, .size = 0x1000};
    static pl_memsys_config c;
    pl_arena *a = pl_arena_open();
    pl_mem_outbox b = outbox(0);
    pl_mem_reply r;
    c = small;
    c.link_latency = 1000;
    c.link_read = 16;
    c.link_write = 32;
    c.link_min_bytes = 64;
    pl_memsys *m = pl_memsys_open(a, a, a, &c);
    pl_memsys_set_host(m, &range, 1);
    for (unsigned k = 0; k < n; k++) put(&b, 0, 0, line + k * 128, op, 1, k);
    pl_memsys_send(m, &b);
    pl_memsys_run(m, 20000);
    *first = pl_memsys_reply_time(m, 0);
    for (unsigned k = 0; k < n; k++) ck_assert(pl_memsys_reply(m, 0, 20000, &r));
    *last = r.time;
    ck_assert(!pl_memsys_overflowed(m));
    ck_assert_uint_eq(pl_memsys_pending(m), 0);
    pl_arena_close(a);
}

/* Reads wait for the link's latency and are serialised by its rate; writes wait for the rate alone.
 * Addresses outside the range are device memory. */
START_TEST(host_memory_link_latency)
{
    uint64_t first, last, one, device;
    host_times(1, PL_MEM_READ, 0x5000, &device, &last);
    host_times(1, PL_MEM_READ, 0x4000, &one, &last);
    ck_assert_uint_ge(one, 1000);
    ck_assert_uint_lt(device, 1000);
    host_times(32, PL_MEM_READ, 0x4000, &first, &last);
    ck_assert_uint_eq(first, one);
    ck_assert_uint_ge(last, one + 31 * 64 / 16);
    ck_assert_uint_le(last, one + 31 * 64 / 16 + 64);
    host_times(1, PL_MEM_WRITE, 0x4000, &first, &last);
    ck_assert_uint_lt(first, 1000);
}
END_TEST

/* Cycles of one access in its own launch. */
static uint64_t access_time(pl_tlb *tlb, uint64_t line, uint8_t op)
{
    static pl_memsys_config c;
    pl_arena *a = pl_arena_open();
    pl_mem_outbox b = outbox(0);
    c = small;
    c.page_bytes = 0x10000;
    c.page_walk = 500;
    pl_memsys *m = pl_memsys_open(a, a, a, &c);
    pl_memsys_set_tlb(m, tlb);
    if (tlb) pl_tlb_begin(tlb);
    put(&b, 0, 0, line, op, 1, 7);
    pl_memsys_send(m, &b);
    pl_memsys_run(m, 10000);
    const uint64_t at = pl_memsys_reply_time(m, 0);
    ck_assert(!pl_memsys_overflowed(m));
    pl_arena_close(a);
    return at;
}

START_TEST(tlb_first_access)
{
    pl_tlb tlb = {0};
    const uint64_t read = access_time(NULL, 0x4000, PL_MEM_READ),
                   write = access_time(NULL, 0x4000, PL_MEM_WRITE);
    ck_assert_uint_eq(access_time(&tlb, 0x4000, PL_MEM_READ), read + 500);
    ck_assert_uint_eq(access_time(&tlb, 0x4000, PL_MEM_READ), read);
    ck_assert_uint_eq(access_time(&tlb, 0xf000, PL_MEM_READ), read);
    ck_assert_uint_eq(access_time(&tlb, 0x10000, PL_MEM_READ), read + 500);
    /* Proceeds, and is translated. */
    ck_assert_uint_eq(access_time(&tlb, 0x20000, PL_MEM_WRITE), write);
    ck_assert_uint_eq(access_time(&tlb, 0x20000, PL_MEM_READ), read);
    for (uint64_t page = 0; page < 1000; page++) /* more than a small table holds */
        access_time(&tlb, page << 16, PL_MEM_READ);
    for (uint64_t page = 0; page < 1000; page += 99)
        ck_assert_uint_eq(access_time(&tlb, page << 16, PL_MEM_READ), read);
    pl_tlb_close(&tlb);
}
END_TEST

enum { FIRST = 1000, WAKE = 200, BATCH = 300, BLOCK = 100, CHUNK = 10, HOST_CHUNK = 40 };

/* A memory system with two blocks of managed memory; nothing of it is on the GPU. */
static pl_memsys *with_managed_memory(pl_arena *a, pl_memsys_config *c, pl_page_faults **f)
{
    *c = small;
    c->faults = (pl_fault_config){.first = FIRST,
                                  .wake = WAKE,
                                  .batch = BATCH,
                                  .block = BLOCK,
                                  .chunk = CHUNK,
                                  .host_chunk = HOST_CHUNK,
                                  .max_faults = 4};
    pl_memsys *m = pl_memsys_open(a, a, a, c);
    *f = pl_page_faults_new(a, 2);
    for (uint32_t k = 0; k < 2; k++)
        (*f)->block[k] = (pl_fault_block){.address = (uint64_t)k * PL_MANAGED_BLOCK,
                                          .managed = UINT32_MAX,
                                          .absent = UINT32_MAX,
                                          .on_host = k ? UINT32_MAX : 0};
    pl_memsys_set_page_faults(m, *f);
    return m;
}

/* Cycles until the reply to an access of node 0 that begins now. */
static uint64_t reply_after(pl_memsys *m, uint64_t *now, uint64_t line, uint8_t op)
{
    pl_mem_outbox b = outbox(0);
    pl_mem_reply r;
    put(&b, 0, *now, line, op, 1, 7);
    pl_memsys_send(m, &b);
    const uint64_t from = *now;
    pl_memsys_run(m, *now += 10000);
    ck_assert(pl_memsys_reply(m, 0, *now, &r));
    return r.time - from;
}

START_TEST(page_faults_wait_for_batches)
{
    pl_arena *a = pl_arena_open();
    pl_memsys_config c;
    pl_page_faults *f;
    pl_memsys *m = with_managed_memory(a, &c, &f);
    const uint64_t outside = 2ull * PL_MANAGED_BLOCK, one = BATCH + BLOCK + CHUNK;
    uint64_t now = 0;
    const uint64_t miss = reply_after(m, &now, outside, PL_MEM_READ);
    const uint64_t first = reply_after(m, &now, 0, PL_MEM_READ);
    ck_assert_uint_ge(first, FIRST + one + miss - 20); /* lines have other slices */
    ck_assert_uint_le(first, FIRST + one + miss + 20);
    ck_assert_uint_eq(f->block[0].absent, UINT32_MAX - 1);
    ck_assert_uint_le(reply_after(m, &now, 0x8000, PL_MEM_READ), miss + 20); /* the same chunk */
    const uint64_t second = reply_after(m, &now, PL_MANAGED_CHUNK, PL_MEM_ATOMIC);
    ck_assert_uint_ge(second, WAKE + one + miss - 40);
    ck_assert_uint_le(second, WAKE + one + miss + 40);
    /* Three of four chunks: the fourth is prefetched. */
    reply_after(m, &now, 2 * PL_MANAGED_CHUNK, PL_MEM_REDUCE);
    ck_assert_uint_eq(f->block[0].absent, UINT32_MAX << 4);
    const uint64_t of_host = reply_after(m, &now, PL_MANAGED_BLOCK, PL_MEM_READ);
    ck_assert_uint_ge(of_host, WAKE + BATCH + BLOCK + HOST_CHUNK + miss - 20);
    ck_assert_uint_eq(f->stat.batches, 4);
    ck_assert_uint_eq(f->stat.chunks, 5);
    ck_assert_uint_ge(f->stat.cycles, FIRST + 3 * WAKE + 4 * BATCH);
    pl_arena_close(a);
}
END_TEST

/* Faults that arrive before the driver reads them are one batch, up to its limit. Stores wait, and
 * the node is told. */
START_TEST(page_faults_share_batches)
{
    pl_arena *a = pl_arena_open();
    pl_memsys_config c;
    pl_page_faults *f;
    pl_memsys *m = with_managed_memory(a, &c, &f);
    pl_mem_outbox b = outbox(0);
    for (uint32_t k = 0; k < 6; k++)
        put(&b, 0, 10 * k, (uint64_t)k * 8 * PL_MANAGED_CHUNK, PL_MEM_WRITE, 1, k);
    pl_memsys_send(m, &b);
    pl_memsys_run(m, FIRST);
    ck_assert(pl_memsys_waits_for_pages(m, 0));
    ck_assert(!pl_memsys_waits_for_pages(m, 1));
    ck_assert_uint_eq(f->stat.batches, 0);
    pl_memsys_run(m, FIRST + BATCH + BLOCK);
    ck_assert_uint_eq(f->stat.batches, 1);
    pl_memsys_run(m, 10 * FIRST);
    ck_assert_uint_eq(f->stat.batches, 2);
    ck_assert_uint_eq(f->stat.chunks, 6);
    ck_assert(!pl_memsys_waits_for_pages(m, 0));
    ck_assert_uint_eq(pl_memsys_pending(m), 0);
    pl_arena_close(a);
}
END_TEST

/* Nodes 0 and 1 share a coalescer, 2 and 3 another: four reads of one line cause two requests to
 * the L2; after the replies new requests are sent. */
START_TEST(coalescer_merges_equal_reads)
{
    ck_assert_uint_eq(requests_for_one_line(4, 0, 3, 3), 4);
    ck_assert_uint_eq(requests_for_one_line(2, 0, 3, 3), 2);
    ck_assert_uint_eq(requests_for_one_line(2, 0, 3, 1), 3); /* other sectors: sent separately */
    ck_assert_uint_eq(requests_for_one_line(1, 0, 3, 3), 1);
    ck_assert_uint_eq(requests_for_one_line(1, 3, 3, 3), 2);
    ck_assert_uint_eq(requests_for_one_line(1, 0, 3, 1), 2);
    /* And also those that request the line later. */
    ck_assert_uint_eq(requests_for_one_line(1, 0, 1, 1), 4);
}
END_TEST

/* Two additions that arrive at a slice together: cycles between their replies. places: the words of
 * their sectors. lanes: operations of the first one on its word. */
static uint64_t between_additions(uint8_t alu, uint8_t lanes, uint64_t second_line, uint8_t sectors,
                                  uint8_t places, uint8_t more)
{
    pl_memsys_config c = small;
    c.atomic_word_cost = 1;
    pl_arena *a = pl_arena_open();
    pl_memsys *m = pl_memsys_open(a, a, a, &c);
    for (unsigned round = 0; round < 2; round++) { /* the first one fetches the line */
        for (unsigned n = 0; n < 2; n++) {
            pl_mem_outbox b = outbox(n);
            b.at[b.n++] = (pl_mem_req){.time = round * 10000,
                                       .line = n ? second_line : 0x4000,
                                       .op = PL_MEM_REDUCE,
                                       .sectors = n ? sectors : 1,
                                       .node = (uint16_t)n,
                                       .bytes = 1,
                                       .alu = alu,
                                       .sector_ops = n ? 1 : lanes,
                                       .max_same_address = n ? 1 : lanes,
                                       .word_mask = n ? places : 1,
                                       .extra_words = n ? more : 0};
            pl_memsys_send(m, &b);
        }
        pl_memsys_run(m, (round + 1) * 10000);
        pl_mem_reply r;
        for (unsigned n = 0; n < 2 && round == 0; n++) ck_assert(pl_memsys_reply(m, n, 10000, &r));
    }
    uint64_t out = pl_memsys_reply_time(m, 1) - pl_memsys_reply_time(m, 0);
    pl_arena_close(a);
    return out;
}

START_TEST(atomics_serialize_by_word)
{
    ck_assert_uint_eq(between_additions(PL_ALU_FLOAT, 1, 0x4000, 1, 1, 0), 8); /* same address */
    /* And other words. */
    ck_assert_uint_eq(between_additions(PL_ALU_FLOAT, 1, 0x4000, 1, 1, 3), 11);
    /* Integers: only the time slot counts. */
    ck_assert_uint_eq(between_additions(PL_ALU_INT, 1, 0x4000, 1, 1, 3), 4);
    /* the result of the first one is not needed: only its time slot counts, and its own reply waits
     * until the update has completed */
    ck_assert_uint_eq(between_additions(PL_ALU_FLOAT, 1, 0x4000, 1, 2, 0), 4);
    ck_assert_uint_eq(between_additions(PL_ALU_FLOAT, 1, 0x4000, 2, 1, 0), 4);
    /* operations that wait for each other leave half of that time to the other request */
    ck_assert_uint_eq(between_additions(PL_ALU_FLOAT, 3, 0x4000, 2, 1, 0), 0);
    ck_assert_uint_eq(between_additions(PL_ALU_INT, 3, 0x4000, 2, 1, 0), 4);
}
END_TEST

/* Cycle of the reply to a read of a line present in the only slice, after another node's requests
 * of op for another line. */
static uint64_t read_after_requests(double fill, uint32_t atomic_queue_limit, uint8_t op,
                                    unsigned requests, uint64_t later)
{
    pl_memsys_config c = small;
    c.slices = 1;
    c.l2_fill = fill;
    c.atomic_queue_limit = atomic_queue_limit;
    pl_arena *a = pl_arena_open();
    pl_memsys *m = pl_memsys_open(a, a, a, &c);
    pl_mem_reply r;
    for (unsigned warm = 0; warm < 2; warm++) { /* atomics find their line there, too */
        pl_mem_outbox b = outbox(1);
        put(&b, 1, warm * 5000, warm ? 0x8000 : 0x4000, PL_MEM_READ, 1, 7);
        if (!warm || op != PL_MEM_READ) pl_memsys_send(m, &b);
        pl_memsys_run(m, (warm + 1) * 5000);
        while (pl_memsys_reply(m, 1, 10000, &r)) {
        }
    }
    pl_mem_outbox b = outbox(0);
    for (unsigned k = 0; k < requests; k++) put(&b, 0, 10000, 0x8000, op, 1, k);
    pl_memsys_send(m, &b);
    b = outbox(1);
    put(&b, 1, 10000 + later, 0x4000, PL_MEM_READ, 1, 8);
    pl_memsys_send(m, &b);
    pl_memsys_run(m, 20000);
    uint64_t out = pl_memsys_reply_time(m, 1);
    pl_arena_close(a);
    return out;
}

START_TEST(fills_and_atomics_occupy_slice)
{
    /* the line arrives 166 cycles after its read was sent (see the first test), and the other read
     * at the slice after 160 + 21 */
    const uint64_t alone = read_after_requests(0, 0, PL_MEM_READ, 1, 160);
    ck_assert_uint_gt(read_after_requests(100, 0, PL_MEM_READ, 1, 160), alone + 50);
    ck_assert_uint_eq(read_after_requests(100, 0, PL_MEM_READ, 1, 400), alone + 240);
    const uint64_t queued = read_after_requests(0, 0, PL_MEM_REDUCE, 20, 60);
    ck_assert_uint_gt(read_after_requests(0, 4, PL_MEM_REDUCE, 20, 60), queued + 4);
    ck_assert_uint_eq(read_after_requests(0, 1000, PL_MEM_REDUCE, 20, 60), queued);
}
END_TEST

/* Two partitions: SMs of the partition that does not own a line cache what they read until a word
 * of the line changes. */
START_TEST(l2_halves_invalidate_line)
{
    static const struct {
        uint8_t op;
        unsigned node;
    } step[] = {{PL_MEM_READ, 0}, {PL_MEM_READ, 3},  {PL_MEM_READ, 0},
                {PL_MEM_READ, 3}, {PL_MEM_WRITE, 0}, {PL_MEM_READ, 0},
                {PL_MEM_READ, 3}, {PL_MEM_READ, 0},  {PL_MEM_READ, 3}};
    pl_memsys_config c = small;
    c.partitions = 2;
    c.far_latency = 10;
    pl_arena *a = pl_arena_open();
    pl_memsys *m = pl_memsys_open(a, a, a, &c);
    pl_mem_reply r;
    uint64_t far = 0, went[sizeof step / sizeof *step];
    for (unsigned k = 0; k < sizeof step / sizeof *step; k++) {
        pl_mem_outbox b = outbox(step[k].node);
        /* three sectors are read, the fourth is written */
        put(&b, step[k].node, k * 10000, 0x4000, step[k].op, step[k].op == PL_MEM_READ ? 7 : 8, k);
        pl_memsys_send(m, &b);
        pl_memsys_run(m, (k + 1) * 10000);
        ck_assert(pl_memsys_reply(m, step[k].node, (k + 1) * 10000, &r));
        went[k] = pl_memsys_stats(m)->far_requests - far;
        far = pl_memsys_stats(m)->far_requests;
    }
    /* 0 and 3 are in different partitions: the reads of one of them were sent to the other
     * partition, once before the write and once after */
    ck_assert(!went[0] != !went[1]);
    ck_assert_uint_eq(went[2] + went[3], 0);
    ck_assert_uint_eq(went[5] + went[6], went[0] + went[1]);
    ck_assert_uint_eq(went[7] + went[8], 0);
    pl_arena_close(a);
}
END_TEST

/* Groups of SMs are assigned alternately to the two partitions: of four readers of a line, one per
 * group, the second is the first in the other partition. */
START_TEST(neighbouring_groups_use_different_partitions)
{
    pl_memsys_config c = small;
    c.groups = 4;
    c.partitions = 2;
    c.far_latency = 10;
    pl_arena *a = pl_arena_open();
    pl_memsys *m = pl_memsys_open(a, a, a, &c);
    pl_mem_reply r;
    uint64_t now = 0, line = 0x4000, went[4];
    do { /* finds a line owned by the first SM's partition */
        for (unsigned n = 0; n < 4; n++, now += 10000) {
            uint64_t before = pl_memsys_stats(m)->far_requests;
            pl_mem_outbox b = outbox(n);
            put(&b, n, now, line, PL_MEM_READ, 1, n);
            pl_memsys_send(m, &b);
            pl_memsys_run(m, now + 10000);
            ck_assert(pl_memsys_reply(m, n, now + 10000, &r));
            went[n] = pl_memsys_stats(m)->far_requests - before;
        }
        line += 4096;
    } while (went[0] && now < 1000000);
    ck_assert_uint_eq(went[0], 0);
    ck_assert_uint_eq(went[1], 1);
    ck_assert_uint_eq(went[2] + went[3], 0);
    pl_arena_close(a);
}
END_TEST

START_TEST(same_address_operations_serialize)
{
    pl_arena *a = pl_arena_open();
    pl_memsys *m = pl_memsys_open(a, a, a, &small);
    pl_mem_outbox b = outbox(0);
    put(&b, 0, 0, 0x4000, PL_MEM_REDUCE, 1, 1);
    boxes[0][0].sector_ops = boxes[0][0].max_same_address = 32;
    boxes[0][0].alu = PL_ALU_FLOAT;
    pl_memsys_send(m, &b);
    pl_memsys_run(m, 10000);
    uint64_t alone = pl_memsys_stats(m)->last_effect;
    put(&b, 0, 10000, 0x4000, PL_MEM_REDUCE, 1, 1);
    boxes[0][0].sector_ops = boxes[0][0].max_same_address = 1;
    boxes[0][0].alu = PL_ALU_FLOAT;
    pl_memsys_send(m, &b);
    pl_memsys_run(m, 20000);
    uint64_t single = pl_memsys_stats(m)->last_effect - 10000;
    /* both pass the crossbar and the slice; the first adds a miss (105) and 31 further slots of 8
     * cycles */
    ck_assert_uint_eq(alone - single, 105 + 31 * 8);
    pl_arena_close(a);
}
END_TEST

/* Reductions leave an SM in packets: one for operands within a sector, an entire line of operands
 * if they span several sectors. */
START_TEST(reduction_packets)
{
    pl_memsys_config c = small;
    c.reduce_packet = 1;
    const pl_up_costs u = pl_up_costs_of(&c);
    pl_mem_req r = {
        .op = PL_MEM_REDUCE, .sectors = 1, .bytes = 1, .max_same_address = 1, .sector_ops = 1};
    ck_assert_uint_eq(pl_up_cost(&u, &r), PL_SUBCYCLES);
    r = (pl_mem_req){
        .op = PL_MEM_REDUCE, .sectors = 9, .bytes = 2, .max_same_address = 1, .sector_ops = 2};
    ck_assert_uint_eq(pl_up_cost(&u, &r), 4 * PL_SUBCYCLES);
    r = (pl_mem_req){.op = PL_MEM_REDUCE,
                     .sectors = 9,
                     .bytes = 2,
                     .max_same_address = 3,
                     .sector_ops = 4}; /* two further slots, in one sector each */
    ck_assert_uint_eq(pl_up_cost(&u, &r), 6 * PL_SUBCYCLES);
    r.sector_ops = 6; /* both sectors take three slots */
    ck_assert_uint_eq(pl_up_cost(&u, &r), 12 * PL_SUBCYCLES);
    c.atomic_packet = 3;
    r = (pl_mem_req){.op = PL_MEM_ATOMIC,
                     .sectors = 1,
                     .bytes = 1,
                     .max_same_address = 1,
                     .sector_ops = 1,
                     .bank_spread = true};
    pl_up_costs v = pl_up_costs_of(&c);
    ck_assert_uint_eq(pl_up_cost(&v, &r), 3 * PL_SUBCYCLES);
    c.atomic_bank_packet = 2; /* whose answers do not get in each other's way */
    v = pl_up_costs_of(&c);
    ck_assert_uint_eq(pl_up_cost(&v, &r), 2 * PL_SUBCYCLES);
    r.bank_spread = false;
    ck_assert_uint_eq(pl_up_cost(&v, &r), 3 * PL_SUBCYCLES);
}
END_TEST

typedef struct sum {
    uint64_t replies, hash, last;
} sum;

/* Random traffic of four nodes in windows of `window` cycles; nodes are served in the given order
 * within a window. tags: memory that need not be zeroed. */
static sum traffic_in(pl_arena *tags, const pl_memsys_config *c, unsigned window,
                      const unsigned *order, bool *early)
{
    pl_arena *a = pl_arena_open();
    pl_memsys *m = pl_memsys_open(a, tags, tags, c);
    uint64_t state[4] = {1, 2, 3, 4};
    unsigned sent[4] = {0};
    sum s = {0};
    for (uint64_t now = 0; now < 200000; now += window) {
        pl_mem_outbox b[4];
        for (unsigned k = 0; k < 4; k++) {
            unsigned n = order[k];
            b[n] = outbox(n);
            pl_mem_reply r;
            for (uint64_t t = now; t < now + window; t++) {
                while (pl_memsys_reply(m, n, t, &r)) {
                    *early |= r.time > t;
                    s.replies++;
                    /* A sum: the order of nodes may differ. */
                    s.hash = (s.hash + r.token * 31 + r.time * (n + 1)) & 0xffffffff;
                    if (r.time > s.last) s.last = r.time;
                }
                state[n] = state[n] * 6364136223846793005ull + 1442695040888963407ull;
                if (sent[n] < 1000 && state[n] >> 60 == 0) {
                    uint64_t line = (state[n] >> 20 & 0xfff) * 128;
                    put(&b[n], n, t, line, (uint8_t)(state[n] >> 40 & 3),
                        (uint8_t)((state[n] >> 44 & 15) | 1), sent[n]++);
                }
            }
        }
        for (unsigned n = 0; n < 4; n++) pl_memsys_send(m, &b[n]);
        pl_memsys_run(m, now + window + small.xbar_latency);
    }
    ck_assert(!pl_memsys_overflowed(m));
    ck_assert_uint_eq(pl_memsys_pending(m), 0);
    pl_arena_close(a);
    return s;
}

static sum traffic(unsigned window, const unsigned *order, bool *early)
{
    pl_arena *tags = pl_arena_open();
    const sum s = traffic_in(tags, &small, window, order, early);
    pl_arena_close(tags);
    return s;
}

/* Every request gets one reply, never before its time, and the results depend neither on the order
 * of the SMs nor on the length of the window. */
START_TEST(order_independence)
{
    static const unsigned forward[] = {0, 1, 2, 3}, backward[] = {3, 2, 1, 0},
                          mixed[] = {2, 0, 3, 1};
    bool early = false;
    sum a = traffic(20, forward, &early), b = traffic(20, backward, &early),
        c = traffic(20, mixed, &early);
    ck_assert_uint_eq(a.replies, 4000);
    ck_assert(!early);
    ck_assert_uint_eq(a.hash, b.hash);
    ck_assert_uint_eq(a.hash, c.hash);
    ck_assert_uint_eq(a.last, b.last);
}
END_TEST

/* Memory that an earlier launch has left changes nothing. */
START_TEST(reused_memory)
{
    enum { BYTES = 1 << 21 };
    static const unsigned order[] = {0, 1, 2, 3};
    pl_memsys_config c = small;
    c.write_read_delay = 300;
    bool early = false;
    pl_arena *fresh = pl_arena_open(), *used = pl_arena_open();
    memset(pl_arena_alloc(used, BYTES), 0x01, BYTES);
    const sum a = traffic_in(fresh, &c, 20, order, &early);
    ck_assert_uint_eq(a.replies, 4000);
    for (unsigned k = 0; k < 2; k++) { /* at last, over the contents of the same launch */
        pl_arena_reset_unzeroed(used);
        const sum b = traffic_in(used, &c, 20, order, &early);
        ck_assert_uint_le(pl_arena_bytes(used), BYTES);
        ck_assert_uint_eq(b.replies, 4000);
        ck_assert_uint_eq(a.hash, b.hash);
        ck_assert_uint_eq(a.last, b.last);
    }
    pl_arena_close(fresh);
    pl_arena_close(used);
}
END_TEST

/* So many outstanding reads that their table has to grow: reads of node 1 still merge with those of
 * node 0. */
START_TEST(l2_reads_merge)
{
    enum { READS = 1000 };
    static const struct {
        unsigned node, first;
    } turn[] = {{0, 0}, {2, 0}, {3, READS}, {1, 0}};
    pl_memsys_config c = small;
    c.coalescers = 2;
    pl_arena *a = pl_arena_open();
    pl_memsys *m = pl_memsys_open(a, a, a, &c);
    for (size_t t = 0; t < sizeof turn / sizeof *turn; t++) {
        pl_mem_outbox b = outbox(turn[t].node);
        for (unsigned k = 0; k < READS; k++)
            put(&b, turn[t].node, 0, (turn[t].first + k) * 128ull, PL_MEM_READ, 1, k);
        pl_memsys_send(m, &b);
    }
    pl_memsys_run(m, 1000000);
    ck_assert_uint_eq(pl_memsys_stats(m)->requests, 3 * READS);
    ck_assert_uint_eq(pl_memsys_pending(m), 0);
    for (unsigned n = 0; n < 4; n++) {
        pl_mem_reply r;
        unsigned replies = 0;
        while (pl_memsys_reply(m, n, UINT64_MAX - 1, &r)) replies++;
        ck_assert_uint_eq(replies, READS);
    }
    pl_arena_close(a);
}
END_TEST

START_TEST(dram_bandwidth)
{
    pl_arena *a = pl_arena_open();
    pl_memsys *m = pl_memsys_open(a, a, a, &small);
    uint64_t last = 0, bytes = 0;
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned n = 0; n < 4; n++) {
            pl_mem_outbox b = outbox(n);
            for (unsigned k = 0; k < 50; k++)
                put(&b, n, round * 20, ((round * 4 + n) * 50 + k) * 128ull, PL_MEM_READ, 15, k);
            bytes += 50 * 128;
            pl_memsys_send(m, &b);
        }
        pl_memsys_run(m, round * 20 + 40);
    }
    pl_memsys_run(m, 1000000);
    for (unsigned n = 0; n < 4; n++) {
        pl_mem_reply r;
        while (pl_memsys_reply(m, n, UINT64_MAX - 1, &r)) last = r.time > last ? r.time : last;
    }
    double rate =
        (double)bytes /
        (double)last; /* the bus delivers 16 bytes per cycle when both channels are always busy */
    ck_assert_double_gt(rate, 12.0);
    ck_assert_double_le(rate, 16.0);
    pl_arena_close(a);
}
END_TEST

/* The cycle of the last of 200 stores of `words` words to `sectors` of as many lines. */
static uint64_t written(const pl_memsys_config *c, uint8_t sectors, uint8_t words)
{
    enum { LINES = 50 };
    pl_arena *a = pl_arena_open();
    pl_memsys *m = pl_memsys_open(a, a, a, c);
    for (unsigned n = 0; n < 4; n++) {
        pl_mem_outbox b = outbox(n);
        for (unsigned k = 0; k < LINES; k++) {
            put(&b, n, 0, (n * LINES + k) * 128ull, PL_MEM_WRITE, sectors, k);
            b.at[k].bytes = words;
        }
        pl_memsys_send(m, &b);
    }
    pl_memsys_run(m, 1000000);
    uint64_t last = pl_memsys_stats(m)->last_effect;
    pl_arena_close(a);
    return last;
}

/* A written sector occupies its slice for longer than a read one, and a partially written one for
 * longer still. */
START_TEST(slice_store_rate)
{
    pl_memsys_config c = small;
    c.slices = 1;
    uint64_t as_reads = written(&c, 15, 32), in_part = written(&c, 3, 8);
    c.write = 3;
    c.partial_next = 7;
    ck_assert_uint_ge(as_reads, 200 * 4);
    ck_assert_uint_le(as_reads, 200 * 4 + 100);
    ck_assert_uint_ge(written(&c, 15, 32), 200 * 12);
    ck_assert_uint_le(written(&c, 15, 32), 200 * 12 + 100);
    ck_assert_uint_le(in_part, 200 * 2 + 100);
    ck_assert_uint_ge(written(&c, 3, 8), 200 * 9);
    ck_assert_uint_le(written(&c, 3, 8), 200 * 9 + 100);
}
END_TEST

UNIT_MAIN("memory system", miss_latency_sum, coalescer_merges_equal_reads,
          atomics_serialize_by_word, fills_and_atomics_occupy_slice, tlb_first_access,
          page_faults_wait_for_batches, page_faults_share_batches, host_memory_link_latency,
          l2_reads_merge, slice_store_rate, l2_halves_invalidate_line,
          neighbouring_groups_use_different_partitions, same_address_operations_serialize,
          reduction_packets, order_independence, reused_memory, dram_bandwidth)
