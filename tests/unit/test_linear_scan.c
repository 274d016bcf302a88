/* test_linear_scan.c - assignment of machine registers to values: sharing, adjacency, and the
 * number of registers.
 *
 * Register 1 is the stack pointer and is never assigned to a value. For one-register values with a
 * single live range each, the minimum is known: the maximum number of simultaneously live values.
 * */
#include "tests/unit/unit.h"

#include <stdlib.h>

#include "compiler/codegen/linear_scan.h"

typedef struct bench {
    pl_arena *a;
    pl_linear_scan *c;
} bench;

static bench open_with(uint32_t values)
{
    bench b = {.a = pl_arena_open()};
    ck_assert_ptr_nonnull(b.a);
    b.c = pl_linear_scan_new(b.a, values, &(pl_register_counts){30, 8, 6});
    ck_assert_ptr_nonnull(b.c);
    return b;
}

/* Returns the number of registers and closes the bench. */
static uint32_t finish(bench *b)
{
    uint32_t n = pl_linear_scan_count(b->c, true);
    pl_arena_close(b->a);
    return n;
}

static void add(bench *b, uint32_t value, uint32_t rows, uint32_t from, uint32_t to)
{
    pl_linear_scan_value(b->c, value, rows);
    pl_linear_scan_live_range(b->c, value, from, to);
}

START_TEST(disjoint_values_share_registers)
{
    bench b = open_with(3);
    add(&b, 0, 1, 0, 4);
    add(&b, 1, 1, 4, 8);
    add(&b, 2, 1, 8, 9);
    ck_assert_uint_eq(finish(&b), 2); /* register 0, and the stack pointer */
}
END_TEST

START_TEST(interfering_values_do_not_share)
{
    bench b = open_with(3);
    add(&b, 0, 1, 0, 10);
    add(&b, 1, 1, 2, 6);
    add(&b, 2, 1, 5, 9);
    ck_assert_uint_eq(finish(&b), 4); /* 0, 2, 3 */
}
END_TEST

START_TEST(live_range_holes)
{
    bench b = open_with(2);
    add(&b, 0, 1, 0, 4);
    pl_linear_scan_live_range(b.c, 0, 10, 14);
    add(&b, 1, 1, 4, 10);
    ck_assert_uint_eq(finish(&b), 2);
}
END_TEST

START_TEST(pairs_begin_at_even_registers)
{
    bench b = open_with(2);
    add(&b, 0, 2, 0, 4); /* 2 and 3: the stack pointer is in the first pair */
    ck_assert_uint_eq(finish(&b), 4);
    b = open_with(2);
    add(&b, 0, 1, 0, 4); /* next to it, where no pair fits */
    add(&b, 1, 2, 0, 4);
    ck_assert_uint_eq(finish(&b), 4);
}
END_TEST

START_TEST(vector_parts_adjacent)
{
    bench b = open_with(5);
    for (uint32_t k = 0; k < 4; k++) add(&b, k, 1, k, 10); /* defined one after another */
    add(&b, 4, 1, 0, 10);
    pl_linear_scan_vector(b.c, (const uint32_t[]){0, 1, 2, 3}, 4);
    ck_assert_uint_eq(finish(&b), 8); /* 4 to 7; the single value 0 */
}
END_TEST

START_TEST(value_in_one_vector)
{
    bench b = open_with(3);
    for (uint32_t k = 0; k < 3; k++) add(&b, k, 1, 0, 10);
    pl_linear_scan_vector(b.c, (const uint32_t[]){0, 1}, 2);
    pl_linear_scan_vector(b.c, (const uint32_t[]){1, 2}, 2); /* too late */
    pl_linear_scan_vector(b.c, (const uint32_t[]){2, 2}, 2); /* not a vector */
    ck_assert_uint_eq(finish(&b), 4);                        /* 2 and 3, 0 */
}
END_TEST

START_TEST(bank_conflict_avoidance)
{
    bench b = open_with(4);
    for (uint32_t k = 0; k < 3; k++) add(&b, k, 1, 0, 10);
    pl_linear_scan_bank_conflict(b.c, 0, 1); /* 0 and 3: in different banks, although 2 is free */
    pl_linear_scan_bank_conflict(b.c, 0, 2);
    ck_assert_uint_eq(finish(&b), 6); /* 0, 3, 5 */
}
END_TEST

/* An operand that a queue has yet to read keeps its register if that costs no occupancy. */
START_TEST(queued_reads_keep_registers)
{
    bench b = open_with(2);
    add(&b, 0, 1, 0, 4);
    add(&b, 1, 1, 5, 9);
    pl_linear_scan_read_tail(b.c, 0, 4, 6);
    ck_assert_uint_eq(finish(&b), 3); /* 0 and 2, with the stack pointer between them */
    enum { MANY = 40 };
    for (unsigned live = 10; live <= MANY; live += 10) {
        b = open_with(2 * MANY);
        for (uint32_t k = 0; k < live; k++) {
            add(&b, k, 1, 0, 10);
            pl_linear_scan_read_tail(b.c, k, 10, 30);
            add(&b, live + k, 1, 10, 20);
        }
        /* A thread with 30 registers and two more loses no occupancy. */
        ck_assert_uint_eq(finish(&b), live == 10 ? 21 : live == 20 ? 30 : live + 1);
    }
}
END_TEST

/* A queue's result may reuse the register of its operand, such as the address last read by a
 * load. */
START_TEST(results_may_reuse_operand_registers)
{
    for (uint32_t later = 0; later < 2; later++) {
        bench b = open_with(2);
        add(&b, 0, 1, 0, 5);
        pl_linear_scan_read_tail(b.c, 0, 6, 20);
        add(&b, 1, 1, 5 + 2 * later, 30);
        ck_assert_uint_eq(finish(&b), 2 + later);
    }
}
END_TEST

/* The order number is half-way between those of two orders: by start of live ranges, here 0, 3, 5,
 * and by text lines, 3, 0, 2. */
START_TEST(program_order_affects_assignment)
{
    static const uint32_t line[] = {3, 1, 2};
    for (unsigned written = 0; written < 2; written++) {
        bench b = open_with(3);
        for (uint32_t k = 0; k < 3; k++) {
            add(&b, k, 1, 0, 10);
            pl_linear_scan_written(b.c, k, written ? line[k] : k + 1);
        }
        pl_linear_scan_bank_conflict(b.c, 0, 1);
        pl_linear_scan_bank_conflict(b.c, 0, 2);
        pl_linear_scan_read_tail(b.c, 0, 11, 12);
        ck_assert_uint_eq(finish(&b), written ? 5 : 6);
    }
}
END_TEST

/* Adds n values of one register, or of up to `widest` = 2, with short live ranges within `time`;
 * returns the maximum number of simultaneously live registers. */
static uint32_t add_at_random(bench *b, uint32_t n, uint32_t time, uint32_t widest, uint32_t *seed)
{
    enum { LONGEST = 60, TIMES = 512 };
    uint32_t live[TIMES] = {0}, most = 0;
    ck_assert_uint_le(time + LONGEST, TIMES);
    for (uint32_t k = 0; k < n; k++) {
        *seed = *seed * 1664525u + 1013904223u;
        uint32_t from = (*seed >> 8) % time, to = from + 1 + (*seed >> 20) % LONGEST,
                 rows = 1 + (*seed >> 28 & (widest - 1));
        add(b, k, rows, from, to);
        for (uint32_t t = from; t < to; t++) live[t] += rows;
    }
    for (uint32_t t = 0; t < TIMES; t++) most = live[t] > most ? live[t] : most;
    return most;
}

/* Random live ranges: the count is the maximum number of live values plus the stack pointer. */
START_TEST(scalar_register_pressure)
{
    enum { VALUES = 300, TIME = 400 };
    uint32_t seed = 1;
    for (unsigned round = 0; round < 20; round++) {
        bench b = open_with(VALUES);
        uint32_t most = add_at_random(&b, VALUES, TIME, 1, &seed);
        ck_assert_uint_eq(finish(&b), most + 1);
    }
}
END_TEST

/* Single registers and pairs: rarely more than are live at once, never fewer. */
START_TEST(pair_fragmentation)
{
    enum { VALUES = 120, TIME = 300 };
    uint32_t seed = 7, extra = 0;
    for (unsigned round = 0; round < 20; round++) {
        bench b = open_with(VALUES);
        uint32_t most = add_at_random(&b, VALUES, TIME, 2, &seed);
        uint32_t n = finish(&b);
        ck_assert_uint_gt(n, most);
        extra += n - most - 1;
    }
    ck_assert_uint_le(extra, 20); /* one on average */
}
END_TEST

/* Five values, each live together with two others in a ring, need three registers although two are
 * live at once. If so many other values are live that a thread has room for only two more, the
 * third one is not worth eight. */
START_TEST(move_takes_no_new_unit)
{
    enum { OTHERS = 35, RING = 5, ALL = OTHERS + RING };
    static const uint32_t others[] = {OTHERS - 1, OTHERS}, needed[] = {38, 38};
    for (unsigned k = 0; k < 2; k++) {
        bench b = open_with(ALL);
        for (uint32_t v = 0; v < others[k]; v++) add(&b, v, 1, 0, 2 * RING);
        for (uint32_t v = 0; v < RING; v++) {
            const uint32_t next = (v + 1) % RING;
            add(&b, OTHERS + v, 1, 2 * v, 2 * v + 2);
            pl_linear_scan_live_range(b.c, OTHERS + v, 2 * next, 2 * next + 2);
        }
        /* 34 others, 3 and the stack pointer; 35 others, 2 and the stack pointer. */
        ck_assert_uint_eq(finish(&b), needed[k]);
    }
}
END_TEST

UNIT_MAIN("colour", queued_reads_keep_registers, results_may_reuse_operand_registers,
          program_order_affects_assignment, disjoint_values_share_registers,
          interfering_values_do_not_share, live_range_holes, pairs_begin_at_even_registers,
          vector_parts_adjacent, value_in_one_vector, bank_conflict_avoidance,
          scalar_register_pressure, pair_fragmentation, move_takes_no_new_unit)
