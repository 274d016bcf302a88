/* test_history.c - versions of memory locations and views of them
 * (emu/exec/consistency/write_history.h). */
#include "emu/exec/consistency/write_history.h"
#include "tests/unit/unit.h"
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

static alignas(16) uint8_t memory[1 << 16];

static pl_history *fresh(void)
{
    pl_history *h = malloc(sizeof *h);
    ck_assert_ptr_nonnull(h);
    memset(memory, 0, sizeof memory);
    pl_history_init(h);
    return h;
}

/* Writes one byte as a new version; the newest unless `place` specifies otherwise. */
static uint64_t write_byte(pl_history *h, unsigned at, uint8_t value, int place)
{
    pl_location *g = pl_grain_pin(h, memory + at / 16 * 16);
    pl_version *v = pl_grain_insert(h, g, place < 0 ? g->n : (unsigned)place);
    v->mask = (uint16_t)(1u << at % 16);
    v->bytes[at % 16] = value;
    pl_grain_unpin(h, g);
    return v->number;
}

static uint8_t byte_below(pl_history *h, unsigned at, unsigned end)
{
    uint8_t b[16];
    pl_grain_bytes(h, pl_grain_find(h, memory + at / 16 * 16), end, b);
    return b[at % 16];
}

START_TEST(versions_stay_ordered)
{
    pl_history *h = fresh();
    write_byte(h, 3, 1, -1);
    write_byte(h, 3, 3, -1);
    write_byte(h, 3, 2, 1); /* between them */
    for (unsigned end = 0; end <= 3; end++) ck_assert_uint_eq(byte_below(h, 3, end), end);
    ck_assert_uint_eq(byte_below(h, 4, 3), 0); /* the neighbouring byte is unchanged */
    free(h);
}
END_TEST

START_TEST(view_contents)
{
    pl_history *h = fresh();
    pl_memory_view a = {0}, b = {0};
    uint64_t one = write_byte(h, 0, 1, -1), two = write_byte(h, 1, 2, -1);
    const pl_location *g = pl_grain_find(h, memory);
    pl_view_add(h, &a, one);
    ck_assert(pl_view_has(h, &a, one) && !pl_view_has(h, &a, two));
    ck_assert_uint_eq(pl_grain_floor(h, g, &a, 1), 1);
    ck_assert_uint_eq(pl_grain_floor(h, g, &a, 2),
                      0); /* it has seen no version of the other byte */
    pl_view_add(h, &b, two);
    pl_view_join(h, &b, &a);
    ck_assert_uint_eq(pl_grain_floor(h, g, &b, 3), 2);
    pl_memory_view f = pl_view_of(h, &b, PL_FENCED);
    ck_assert(!pl_view_has(h, &f, one));
    pl_view_fence(h, &b, PL_FENCED);
    f = pl_view_of(h, &b, PL_FENCED);
    ck_assert(pl_view_has(h, &f, one) && pl_view_has(h, &f, two));
    pl_view_map(h, &b, memory, PL_GRAIN); /* no version has been published yet */
    f = pl_view_of(h, &b, PL_MAPPED);
    ck_assert(!pl_view_has(h, &f, one));
    pl_view_fence(h, &b, PL_OFFERED);
    uint64_t three = write_byte(h, 2, 3, -1);
    pl_view_add(h, &b, three);
    pl_view_map(h, &b, memory, PL_GRAIN);
    f = pl_view_of(h, &b, PL_MAPPED);
    ck_assert(pl_view_has(h, &f, one) && pl_view_has(h, &f, two) && !pl_view_has(h, &f, three));
    free(h);
}
END_TEST

START_TEST(old_versions_become_globally_visible)
{
    pl_history *h = fresh();
    pl_memory_view v = {0};
    uint64_t first = write_byte(h, 0, 7, -1);
    pl_view_add(h, &v, first);
    for (unsigned n = 0; n < PL_WINDOW; n++) write_byte(h, 16 + 16 * n, 1, -1);
    /* No version older than the newest can be read there. */
    ck_assert_ptr_null(pl_grain_find(h, memory));
    ck_assert(!pl_view_has(h, &v, first + PL_WINDOW)); /* its slot in the set is reused */
    for (unsigned n = 0; n < 2 * PL_GRAIN_VERSIONS; n++) write_byte(h, 40000, (uint8_t)n, -1);
    ck_assert_uint_eq(pl_grain_find(h, memory + 40000)->n, PL_GRAIN_VERSIONS);
    /* The version visible to all has advanced. */
    ck_assert_uint_eq(byte_below(h, 40000, 0), PL_GRAIN_VERSIONS - 1);
    free(h);
}
END_TEST

START_TEST(untracked_writes_drop_versions)
{
    pl_history *h = fresh();
    for (unsigned n = 0; n < 64; n++) write_byte(h, 16 * n, 1, -1);
    pl_history_discard(h, memory + 20, 8);
    ck_assert_ptr_null(pl_grain_find(h, memory + 16));
    ck_assert_ptr_nonnull(pl_grain_find(h, memory));
    ck_assert_ptr_nonnull(pl_grain_find(h, memory + 32));
    pl_history_discard(h, memory + 32, 40 * 16); /* a large piece */
    ck_assert_ptr_null(pl_grain_find(h, memory + 32));
    ck_assert_ptr_nonnull(pl_grain_find(h, memory + 16 * 63));
    pl_history_discard(h, NULL, 0);
    ck_assert_ptr_null(pl_grain_find(h, memory));
    free(h);
}
END_TEST

/* If a flag whose value is visible to all stood among old versions, threads that acquire from it
 * would not synchronise with its writer's release. So no version is retired before an older one.
 * This also holds for a version that is evicted, and if an instruction is about to use its
 * grain. */
START_TEST(versions_retire_in_order)
{
    enum { FLAGS = 0, BOX = 16, OTHERS = 32 };
    pl_history *h = fresh();
    const uint64_t first = write_byte(h, FLAGS, 1, -1);
    unsigned others = 0;
    while (h->next < first + 400) write_byte(h, OTHERS + 16 * others++, 1, -1);
    /* Below the first one, of another location. */
    const uint64_t box = write_byte(h, BOX, 7, -1), flag = write_byte(h, FLAGS + 4, 1, 0);
    while (h->next <= first + PL_WINDOW) write_byte(h, OTHERS + 16 * others++, 1, -1);
    const pl_location *flags = pl_grain_find(h, memory + FLAGS);
    ck_assert_ptr_nonnull(flags);
    ck_assert_uint_eq(flags->n, 1); /* only the first has been retired */
    ck_assert_uint_eq(h->version[flags->version[0]].number, flag);
    ck_assert_ptr_nonnull(pl_grain_find(h, memory + BOX));
    while (h->next < box + PL_WINDOW - PL_MAX_PINNED) write_byte(h, OTHERS + 16 * others++, 1, -1);
    ck_assert_ptr_nonnull(pl_grain_find(h, memory + BOX));
    write_byte(h, OTHERS + 16 * others++, 1, -1);
    pl_location *g = pl_grain_pin(h, memory + FLAGS);
    ck_assert_uint_eq(g->n, 0);
    ck_assert_ptr_null(pl_grain_find(h, memory + BOX));
    pl_grain_unpin(h, g);
    for (unsigned k = 0; k < PL_GRAIN_VERSIONS; k++) write_byte(h, FLAGS, (uint8_t)k, -1);
    const uint64_t last = write_byte(h, BOX, 8, -1);
    write_byte(h, FLAGS, 99,
               -1); /* the grain is full: its oldest version is retired, and the box is younger */
    ck_assert_ptr_nonnull(pl_grain_find(h, memory + BOX));
    ck_assert_uint_eq(pl_grain_find(h, memory + FLAGS)->n, PL_GRAIN_VERSIONS);
    ck_assert_uint_eq(h->version[pl_grain_find(h, memory + BOX)->version[0]].number, last);
    free(h);
}
END_TEST

UNIT_MAIN("history", versions_stay_ordered, view_contents, old_versions_become_globally_visible,
          versions_retire_in_order, untracked_writes_drop_versions)
