/* test_conf.c - the parser of machine files: values, units, provenance, and a message with line
 * number for every error. */
#include "base/conf.h"
#include "tests/unit/unit.h"
#include <stdio.h>
#include <string.h>

typedef struct l1 {
    uint32_t size, latency;
    uint64_t mask;
    double clock;
    bool sectored;
    int policy;
    const char *note;
    pl_conf_list carveouts;
} l1;

static const pl_conf_key keys[] = {
    {"size", PL_CONF_U32, "B", 1, 1 << 20, offsetof(l1, size), NULL, false, "capacity"},
    {"latency", PL_CONF_U32, "cycles", 1, 1000, offsetof(l1, latency), NULL, false, "hit latency"},
    {"mask", PL_CONF_U64, "", 0, 0, offsetof(l1, mask), NULL, false, "hash"},
    {"clock", PL_CONF_F64, "MHz", 0, 0, offsetof(l1, clock), NULL, false, "frequency"},
    {"sectored", PL_CONF_BOOL, "", 0, 0, offsetof(l1, sectored), NULL, false, "sectors"},
    {"policy", PL_CONF_WORD, "", 0, 0, offsetof(l1, policy), "lru fifo random", false,
     "replacement"},
    {"note", PL_CONF_TEXT, "", 0, 0, offsetof(l1, note), NULL, true, "remark"},
    {"carveouts", PL_CONF_LIST, "B", 0, 0, offsetof(l1, carveouts), NULL, false,
     "shared memory sizes"},
};
#define NKEYS (sizeof keys / sizeof *keys)

static const char good[] = "# a machine\n"
                           "[l1]\n"
                           "size = 4 KiB ; chosen\n"
                           "  latency=20 cycles;measured mem_latency.csv\r\n"
                           "mask = 0xffffffffffffffff ; inferred from the slice map\n"
                           "clock = 1.98 GHz ; documented data sheet\n"
                           "sectored = yes ; guessed\n"
                           "policy = fifo ; chosen\n"
                           "carveouts = 0 8 16 KiB ; chosen";

/* Parses `text`, binds section l1 and checks for unknown keys; returns all messages as "CODE line
 * column\n" lines. */
static const char *messages(pl_arena *a, const char *text, l1 *out)
{
    pl_diags d;
    pl_conf *c;
    pl_diags_init(&d, a);
    pl_status st = pl_conf_read(a, &d, "toy.conf", text, strlen(text), &c);
    bool ok = pl_conf_bind(c, "l1", keys, NKEYS, out);
    ok &= pl_conf_report_unknown(c);
    ck_assert_int_eq(st == PL_OK && ok, d.list.n == 0);
    pl_diags_sort(&d);
    const char *all = "";
    for (size_t i = 0; i < d.list.n; i++)
        all = pl_arena_printf(a, "%s%s %u %u\n", all, pl_diag_code(d.list.at[i].id),
                              d.list.at[i].at.line, d.list.at[i].at.column);
    return all;
}

START_TEST(unit_conversion)
{
    pl_arena *a = pl_arena_open();
    l1 v = {.note = "kept"};
    ck_assert_str_eq(messages(a, good, &v), "");
    ck_assert_uint_eq(v.size, 4096);
    ck_assert_uint_eq(v.latency, 20);
    ck_assert(v.mask == UINT64_MAX);
    ck_assert_double_eq_tol(v.clock, 1980, 1e-9);
    ck_assert(v.sectored);
    ck_assert_int_eq(v.policy, 1);
    ck_assert_str_eq(v.note, "kept");
    ck_assert_uint_eq(v.carveouts.n, 3);
    ck_assert(v.carveouts.at[2] == 16384);
    pl_arena_close(a);
}
END_TEST

START_TEST(entry_provenance)
{
    pl_arena *a = pl_arena_open();
    pl_diags d;
    pl_conf *c;
    pl_diags_init(&d, a);
    ck_assert_int_eq(pl_conf_read(a, &d, "toy.conf", good, sizeof good - 1, &c), PL_OK);
    const pl_conf_entry *e = pl_conf_find(c, "l1", "latency");
    ck_assert_ptr_nonnull(e);
    ck_assert_str_eq(e->value, "20");
    ck_assert_str_eq(e->unit, "cycles");
    ck_assert_str_eq(pl_provenance_word(e->provenance), "measured");
    ck_assert_str_eq(e->source, "mem_latency.csv");
    ck_assert_uint_eq(e->at.line, 4);
    ck_assert_uint_eq(e->at.column, 3);
    ck_assert_ptr_null(pl_conf_find(c, "l1", "none"));
    ck_assert(pl_conf_has_section(c, "l1"));
    ck_assert(!pl_conf_has_section(c, "l2"));
    pl_arena_close(a);
}
END_TEST

/* Each error replaces or follows lines of the valid file; the message must name its own line. */
START_TEST(every_error_message)
{
    static const struct {
        const char *from, *to, *expected;
    } change[] = {
        {"size = 4 KiB ; chosen", "size 4 KiB ; chosen", "E0503 2 2\nE0501 3 1\n"},
        {"size = 4 KiB ; chosen", "size = ; chosen", "E0503 2 2\nE0501 3 1\n"},
        {"[l1]", "[l1", "E0501 2 1\nE0512 3 1\n"},
        {"size = 4 KiB ; chosen", "size = 4 KiB ; chosen\nsiize = 4 ; chosen", "E0502 4 1\n"},
        {"size = 4 KiB ; chosen", "# nothing", "E0503 2 2\n"},
        {"size = 4 KiB ; chosen", "size = 4 KiB ; chosen\nsize = 8 KiB ; chosen", "E0504 4 1\n"},
        {"size = 4 KiB ; chosen", "size = 4 KiB", "E0505 3 1\n"},
        {"size = 4 KiB ; chosen", "size = 4 KiB ;", "E0505 3 1\n"},
        {"size = 4 KiB ; chosen", "size = 4 KiB ; known", "E0506 3 16\n"},
        {"size = 4 KiB ; chosen", "size = 4 KiB ; measured", "E0507 3 16\n"},
        {"size = 4 KiB ; chosen", "size = four ; chosen", "E0508 3 8\n"},
        {"size = 4 KiB ; chosen", "size = 4.5 B ; chosen", "E0508 3 8\n"},
        {"size = 4 KiB ; chosen", "size = 4 5 KiB ; chosen", "E0508 3 8\n"},
        {"size = 4 KiB ; chosen", "size = 99999999999999999999 B ; chosen", "E0508 3 8\n"},
        {"size = 4 KiB ; chosen", "size = 4 cycles ; chosen", "E0509 3 8\n"},
        {"size = 4 KiB ; chosen", "size = 4 ; chosen", "E0509 3 8\n"},
        {"size = 4 KiB ; chosen", "size = 4 GiB ; chosen", "E0510 3 8\n"},
        {"size = 4 KiB ; chosen", "size = 0 KiB ; chosen", "E0510 3 8\n"},
        {"sectored = yes", "sectored = maybe", "E0508 7 12\n"},
        {"policy = fifo", "policy = best", "E0508 8 10\n"},
        {"0 8 16 KiB", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 KiB", "E0508 9 13\n"},
        {"; chosen\n  latency", "; chosen\n[l2]\n  latency", "E0511 4 2\n"},
    };
    pl_arena *a = pl_arena_open();
    for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
        l1 v = {0};
        const char *at = strstr(good, change[i].from);
        ck_assert_ptr_nonnull(at);
        const char *text = pl_arena_printf(a, "%.*s%s%s", (int)(at - good), good, change[i].to,
                                           at + strlen(change[i].from));
        const char *got = messages(a, text, &v);
        bool same = strstr(got, change[i].expected) != NULL;
        ck_assert_msg(same, "'%s' gave:\n%sinstead of\n%s", change[i].to, got, change[i].expected);
    }
    pl_arena_close(a);
}
END_TEST

START_TEST(unknown_key_names_the_nearest_one)
{
    pl_arena *a = pl_arena_open();
    pl_diags d;
    pl_conf *c;
    l1 v;
    static const char text[] = "[l1]\nlatencey = 3 cycles ; chosen\n";
    pl_diags_init(&d, a);
    ck_assert_int_eq(pl_conf_read(a, &d, "toy.conf", text, sizeof text - 1, &c), PL_OK);
    pl_conf_bind(c, "l1", keys, NKEYS, &v);
    size_t missing = d.list.n;
    ck_assert(!pl_conf_report_unknown(c));
    ck_assert_uint_eq(d.list.n, missing + 1);
    ck_assert_str_eq(d.list.at[missing].help, "did you mean 'latency'?");
    pl_arena_close(a);
}
END_TEST

/* Of the section, or of all sections that begin with a word and a period. */
START_TEST(renamed_key_names_the_new_one)
{
    static const pl_conf_rename renamed[] = {
        {"l1", "delay", "latency"}, {"l2", "delay", "other"}, {"op.", "delay", "later"}};
    static const char *const sections[] = {"l1", "op.add"}, *const now[] = {"latency", "later"};
    for (size_t k = 0; k < 2; k++) {
        char text[64], help[64];
        snprintf(text, sizeof text, "[%s]\ndelay = 3 cycles ; chosen\n", sections[k]);
        snprintf(help, sizeof help, "the key is now called '%s'", now[k]);
        pl_arena *a = pl_arena_open();
        pl_diags d;
        pl_conf *c;
        l1 v;
        pl_diags_init(&d, a);
        ck_assert_int_eq(pl_conf_read(a, &d, "toy.conf", text, strlen(text), &c), PL_OK);
        pl_conf_bind(c, sections[k], keys, NKEYS, &v);
        size_t missing = d.list.n;
        pl_conf_set_renames(c, renamed, sizeof renamed / sizeof *renamed);
        ck_assert(!pl_conf_report_unknown(c));
        ck_assert_uint_eq(d.list.n, missing + 1);
        ck_assert_str_eq(d.list.at[missing].help, help);
        pl_arena_close(a);
    }
}
END_TEST

/* Arbitrary bytes: no crash, and a verdict. */
START_TEST(arbitrary_bytes)
{
    uint32_t seed = 12345;
    for (int round = 0; round < 3000; round++) {
        pl_arena *a = pl_arena_open();
        pl_diags d;
        pl_conf *c;
        l1 v = {0};
        char text[sizeof good];
        memcpy(text, good, sizeof text);
        for (int k = 0; k < 1 + round % 9; k++) {
            seed = seed * 1664525 + 1013904223;
            text[(seed >> 8) % (sizeof text - 1)] =
                round % 2 ? (char)(seed >> 24) : "[]=;#\n 9x"[(seed >> 24) % 9];
        }
        pl_diags_init(&d, a);
        pl_status st = pl_conf_read(a, &d, "toy.conf", text, sizeof text - 1, &c);
        ck_assert(st == PL_OK || d.errors > 0);
        pl_conf_bind(c, "l1", keys, NKEYS, &v);
        pl_conf_report_unknown(c);
        for (size_t i = 0; i < d.list.n; i++)
            ck_assert_ptr_nonnull(pl_diag_render(&d, &d.list.at[i], true));
        pl_arena_close(a);
    }
}
END_TEST

UNIT_MAIN("conf", unit_conversion, entry_provenance, every_error_message,
          unknown_key_names_the_nearest_one, renamed_key_names_the_new_one, arbitrary_bytes)
