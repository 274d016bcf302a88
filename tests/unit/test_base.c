/* test_base.c - arenas, maps, diagnostics and SHA-256 satisfy the contracts of their headers. */
#define _DEFAULT_SOURCE /* mincore */
#include "base/real.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/diag.h"
#include "base/guard.h"
#include "base/json_out.h"
#include "base/map.h"
#include "base/plural.h"
#include "base/printable.h"
#include "base/sha256.h"
#include "tests/unit/unit.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The text as printed to a terminal. */
static const char *shown(const char *text, size_t n)
{
    static char to[256];
    size_t k = 0;
    for (size_t i = 0; i < n;) {
        char as;
        size_t length = pl_printable(text + i, n - i, &as);
        ck_assert_uint_ge(length, 1);
        ck_assert_uint_le(length, n - i);
        if (as) to[k++] = as;
        if (!as) memcpy(to + k, text + i, length), k += length;
        i += length;
    }
    to[k] = '\0';
    return to;
}

START_TEST(plural_of_nouns)
{
    ck_assert_str_eq(pl_plural(0), "s");
    ck_assert_str_eq(pl_plural(1), "");
    ck_assert_str_eq(pl_plural(2), "s");
    ck_assert_str_eq(pl_plural(1ull << 32 | 1), "s");
}
END_TEST

START_TEST(terminals_get_no_control_characters)
{
    static const struct {
        const char *text, *expected;
    } row[] = {
        {"plain ~", "plain ~"},
        {"\033[31mred\007\177", "?[31mred??"},
        {"a\tb\r\nc", "a b  c"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\xc2\x9b"
         "31m",
         "?31m"}, /* C1: CSI */
        {"\x9b"
         "31m",
         "?31m"}, /* the same as a single byte */
        {"\xe2\x80\xae"
         "x\xe2\x81\xa6\xe2\x80\x8f",
         "?x??"},                                      /* bidirectional text */
        {"\xe2\x80\xa8\xe2\x80\x8b", "?\xe2\x80\x8b"}, /* line separator; zero-width space */
        {"\xc0\x9b\xed\xa0\x80\xf4\x90\x80\x80", "?????????"}, /* overlong, surrogate, too large */
        {"\xe2\x82", "??"},                                    /* truncated */
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        ck_assert_str_eq(shown(row[i].text, strlen(row[i].text)), row[i].expected);
    ck_assert_str_eq(shown("a\0b", 3), "a?b");
}
END_TEST

START_TEST(arena_allocations)
{
    pl_arena *a = pl_arena_open();
    unsigned char *previous = NULL;
    size_t previous_size = 0;
    for (size_t i = 1; i < 3000; i += 7) {
        size_t align = (size_t)1 << (i % 13);
        unsigned char *p = pl_arena_alloc_aligned(a, i, align);
        ck_assert_uint_eq((uintptr_t)p % align, 0);
        for (size_t k = 0; k < i; k++) ck_assert_uint_eq(p[k], 0);
        memset(p, 0xff, i);
        if (previous) ck_assert(p >= previous + previous_size || p + i <= previous);
        previous = p;
        previous_size = i;
    }
    ck_assert_uint_eq((uintptr_t)pl_arena_alloc(a, 3) % 16, 0);
    ck_assert(pl_arena_ok(a));
    pl_arena_close(a);
    pl_arena_close(NULL);
}
END_TEST

START_TEST(arena_reset_zeroes)
{
    pl_arena *a = pl_arena_open();
    for (size_t round = 0; round < 4; round++) {
        unsigned char *p[3];
        const size_t size[] = {100, 5000,
                               (size_t)3 << 20}; /* in one block, across two, in its own */
        for (size_t k = 0; k < 3; k++) {
            p[k] = pl_arena_alloc(a, size[k]);
            size_t dirty = 0;
            for (size_t b = 0; b < size[k]; b++) dirty += p[k][b] != 0;
            ck_assert_uint_eq(dirty, 0);
            memset(p[k], 0xff, size[k]);
        }
        ck_assert_uint_eq(pl_arena_bytes(a), size[0] + size[1] + size[2]);
        ck_assert(p[0] != p[1] && p[1] != p[2]);
        if (round == 2)
            pl_arena_release(a);
        else
            pl_arena_reset(a);
        ck_assert_uint_eq(pl_arena_bytes(a), 0);
    }
    ck_assert(pl_arena_ok(a));
    pl_arena_close(a);
}
END_TEST

START_TEST(arena_reuse_unzeroed)
{
    pl_arena *a = pl_arena_open();
    unsigned char *first = pl_arena_alloc(a, 100);
    memset(first, 0xff, 100);
    pl_arena_reset_unzeroed(a);
    unsigned char *again = pl_arena_alloc(a, 200);
    ck_assert_ptr_eq(again, first);
    for (size_t b = 0; b < 200; b++) ck_assert_uint_eq(again[b], b < 100 ? 0xff : 0);
    ck_assert_uint_eq(pl_arena_bytes(a), 200);
    pl_arena_close(a);
}
END_TEST

#ifdef __linux__
#include <sys/mman.h>

/* Touches one byte in every 16 KiB: the pages between them must not become resident. */
START_TEST(sparse_arena_pages)
{
    const size_t size = (size_t)4 << 20, page = 4096;
    unsigned char seen[1024];
    size_t there = 0;
    pl_arena *a = pl_arena_open_sparse();
    unsigned char *p = pl_arena_alloc_aligned(a, size, page);
    for (size_t k = 0; k < size; k += 4 * page) {
        ck_assert_uint_eq(p[k], 0);
        p[k] = 1;
    }
    ck_assert_uint_eq(size / page, sizeof seen);
    ck_assert_int_eq(mincore(p, size, seen), 0);
    for (size_t k = 0; k < sizeof seen; k++) there += seen[k] & 1;
    ck_assert_uint_le(there, sizeof seen / 2);
    pl_arena_close(a);
}
END_TEST
#endif

static bool guarded(pl_arena *a, size_t bytes)
{
    PL_GUARD(return false);
    return pl_arena_alloc(a, bytes) != NULL;
}

static bool unguarded_inside(pl_arena *a)
{
    PL_GUARD(return true);
    PL_UNGUARDED;
    return pl_arena_alloc(a, SIZE_MAX) != NULL;
}

START_TEST(arena_failure_jumps_to_the_guard)
{
    pl_arena *a = pl_arena_open();
    ck_assert(guarded(a, 100));
    ck_assert(!guarded(a, SIZE_MAX));
    ck_assert(pl_arena_ok(a));
    ck_assert(guarded(a, 100));
    ck_assert_ptr_null(pl_arena_alloc(a, SIZE_MAX)); /* the guard has ended */
    ck_assert(!pl_arena_ok(a));
    ck_assert(!unguarded_inside(a));
    pl_arena_close(a);
}
END_TEST

START_TEST(vector_grows_and_keeps_its_elements)
{
    pl_arena *a = pl_arena_open();
    struct {
        int *at;
        size_t n, cap;
    } v = {0};
    for (int i = 0; i < 1000; i++) *pl_push(a, &v) = i;
    ck_assert_uint_eq(v.n, 1000);
    for (int i = 0; i < 1000; i++) ck_assert_int_eq(v.at[i], i);
    pl_arena_alloc(a, SIZE_MAX); /* from here the vector restarts instead of overflowing */
    for (int i = 0; i < 100000; i++) *pl_push(a, &v) = i;
    ck_assert_uint_le(v.n, v.cap);
    pl_arena_close(a);
}
END_TEST

START_TEST(heap_array_grows_and_keeps_its_elements)
{
    struct {
        uint16_t *at;
        size_t n, cap;
    } v = {0};
    for (uint16_t k = 0; k < 1000; k++) {
        if (v.n == v.cap) ck_assert(pl_array_grow(&v.at, &v.cap, sizeof *v.at));
        v.at[v.n++] = k;
    }
    ck_assert_uint_eq(v.cap, 1024);
    for (uint16_t k = 0; k < 1000; k++) ck_assert_uint_eq(v.at[k], k);
    const uint16_t *before = v.at;
    ck_assert(!pl_array_grow(&v.at, &v.cap, SIZE_MAX / 4096)); /* more than malloc provides */
    ck_assert_ptr_eq(v.at, before);
    ck_assert_uint_eq(v.cap, 1024);
    free(v.at);
}
END_TEST

START_TEST(large_vector_outlives_its_arena)
{
    pl_arena *a = pl_arena_open(), *b = pl_arena_open();
    struct {
        int *at;
        size_t n, cap;
    } v = {0}, small = {0};
    for (int i = 0; i < 1 << 20; i++) *pl_push(a, &v) = i;
    *pl_push(a, &small) = 7;
    ck_assert(!pl_arena_transfer(b, a, small.at));
    ck_assert(pl_arena_transfer(b, a, v.at));
    ck_assert(!pl_arena_transfer(b, a, v.at));
    pl_arena_close(a);
    for (int i = 1 << 20; i < 1 << 21; i++) *pl_push(b, &v) = i;
    for (int i = 0; i < 1 << 21; i++) ck_assert_int_eq(v.at[i], i);
    pl_arena_close(b);
}
END_TEST

START_TEST(arena_text)
{
    pl_arena *a = pl_arena_open();
    ck_assert_str_eq(pl_arena_printf(a, "%s-%d", "x", 7), "x-7");
    ck_assert_str_eq(pl_arena_strndup(a, "abcdef", 3), "abc");
    ck_assert_str_eq(pl_arena_strdup(a, ""), "");
    pl_arena_close(a);
}
END_TEST

START_TEST(map_lookup)
{
    pl_arena *a = pl_arena_open();
    pl_map m;
    pl_map_init(&m, a);
    ck_assert_ptr_null(pl_map_get(&m, "x", 1));
    static int value[5000];
    for (int i = 0; i < 5000; i++) {
        const char *key = pl_arena_printf(a, "%%r%d", i);
        ck_assert_ptr_null(pl_map_put(&m, key, strlen(key), &value[i]));
    }
    ck_assert_uint_eq(m.n, 5000);
    for (int i = 0; i < 5000; i++) {
        const char *key = pl_arena_printf(a, "%%r%d", i);
        ck_assert_ptr_eq(pl_map_get(&m, key, strlen(key)), &value[i]);
    }
    ck_assert_ptr_null(pl_map_get(&m, "%r5000", 6));
    ck_assert_ptr_eq(pl_map_put(&m, "%r7", 3, &value[0]), &value[7]);
    ck_assert_ptr_eq(pl_map_get(&m, "%r7", 3), &value[0]);
    ck_assert_uint_eq(m.n, 5000);
    pl_arena_close(a);
}
END_TEST

static const char source[] = ".version 9.0\n\tadd.ftz.s32 %r1, %r2, %r3;\nlast";

START_TEST(diagnostic_format)
{
    pl_arena *a = pl_arena_open();
    pl_diags d;
    pl_diags_init(&d, a);
    uint32_t file = pl_diags_add_file(&d, "k.ptx", source, sizeof source - 1);
    pl_diag *m = pl_report(&d, PL_E0001, (pl_loc){file, 2, 5, 4}, "k.ptx", "no \033[31mreason");
    m->help = "write it";
    ck_assert_str_eq(pl_diag_render(&d, m, false),
                     "k.ptx:2:5: error: cannot read 'k.ptx': no ?[31mreason [E0001]\n"
                     "     2 |         add.ftz.s32 %r1, %r2, %r3;\n"
                     "       |            ^~~~\n"
                     "  help: write it\n");
    m = pl_report(&d, PL_E0001, (pl_loc){file, 3, 5, 0}, "a", "end of line");
    ck_assert_str_eq(pl_diag_render(&d, m, false),
                     "k.ptx:3:5: error: cannot read 'a': end of line [E0001]\n"
                     "     3 | last\n"
                     "       |     ^\n");
    m = pl_report(&d, PL_E0001, (pl_loc){file, 0, 0, 0}, "a", "whole file");
    ck_assert_str_eq(pl_diag_render(&d, m, false),
                     "k.ptx: error: cannot read 'a': whole file [E0001]\n");
    m = pl_report(&d, PL_E0001, (pl_loc){file, 900, 1, 0}, "a", "past the end");
    ck_assert_str_eq(pl_diag_render(&d, m, false),
                     "k.ptx:900:1: error: cannot read 'a': past the end [E0001]\n");
    ck_assert_ptr_nonnull(strstr(pl_diag_render(&d, m, true), "\033[31merror\033[0m"));
    pl_arena_close(a);
}
END_TEST

START_TEST(diagnostic_long_line)
{
    pl_arena *a = pl_arena_open();
    pl_diags d;
    pl_diags_init(&d, a);
    char line[5000];
    memset(line, 'x', sizeof line);
    line[3000] = '!';
    uint32_t file = pl_diags_add_file(&d, "k", line, sizeof line);
    pl_diag *m = pl_report(&d, PL_E0001, (pl_loc){file, 1, 3001, 1}, "a", "b");
    const char *text = pl_diag_render(&d, m, false);
    ck_assert_uint_lt(strlen(text), 400);
    const char *excerpt = strchr(text, '\n') + 1, *carets = strchr(excerpt, '\n') + 1;
    ck_assert_int_eq(strchr(excerpt, '!') - excerpt, strchr(carets, '^') - carets);
    pl_arena_close(a);
}
END_TEST

START_TEST(diagnostics_sorted_unique_limited)
{
    pl_arena *a = pl_arena_open();
    pl_diags d;
    pl_diags_init(&d, a);
    const uint32_t line[] = {3, 1, 2, 1, 3};
    for (size_t i = 0; i < 5; i++)
        pl_report(&d, PL_E0001, (pl_loc){0, line[i], 1, 1}, "f", i == 4 ? "other" : "same");
    pl_diags_sort(&d);
    ck_assert_uint_eq(d.list.n, 4);
    for (size_t i = 0; i < 4; i++) ck_assert_uint_eq(d.list.at[i].at.line, i < 3 ? i + 1 : 3);
    ck_assert_ptr_nonnull(strstr(d.list.at[3].text, "other"));
    ck_assert_uint_eq(d.errors, 5);
    for (uint32_t i = 0; i < 1000; i++) {
        pl_diag *m = pl_report(&d, PL_E0001, (pl_loc){0, 10 + i, 1, 1}, "f", "more");
        ck_assert_ptr_nonnull(m);
    }
    ck_assert_uint_eq(d.errors, 1005);
    ck_assert_uint_le(d.list.n, d.limit);
    pl_arena_close(a);
}
END_TEST

START_TEST(every_message_can_be_explained)
{
    pl_diag_id id;
    for (int i = 0; i < PL_DIAG_COUNT; i++) {
        const char *code = pl_diag_code((pl_diag_id)i);
        ck_assert_msg(strlen(code) == 5 && strchr("EWN", code[0]), "%s", code);
        ck_assert(pl_diag_by_code(code, &id));
        ck_assert_msg(id == (pl_diag_id)i, "%s is used twice", code);
        ck_assert_msg(strlen(pl_diag_format(id)) > 0, "%s has no text", code);
        ck_assert_msg(strlen(pl_diag_explanation(id)) >= 20, "%s has no explanation", code);
    }
    ck_assert(!pl_diag_by_code("E9999", &id));
}
END_TEST

/* Messages and digests of FIPS 180-4's example file, and input in pieces compared with a single
 * call. */
START_TEST(sha256_vectors)
{
    static const char *const pair[][2] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"}};
    char hex[65], again[65], text[300];
    pl_sha256 s;
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) {
        pl_sha256_init(&s);
        pl_sha256_add(&s, pair[i][0], strlen(pair[i][0]));
        pl_sha256_hex(&s, hex);
        ck_assert_str_eq(hex, pair[i][1]);
    }
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)i;
    for (size_t n = 0; n <= sizeof text; n++) {
        pl_sha256_init(&s);
        pl_sha256_add(&s, text, n);
        pl_sha256_hex(&s, hex);
        pl_sha256_init(&s);
        for (size_t i = 0, step = 1; i < n; i += step, step = step % 70 + 1)
            pl_sha256_add(&s, text + i, i + step > n ? n - i : step);
        pl_sha256_hex(&s, again);
        ck_assert_str_eq(hex, again);
    }
}
END_TEST

START_TEST(json_incremental_output)
{
    static const char expected[] =
        "{\"a\":[1,-2,0.1,null,true,\"\\\"\\\\\\n\\u0001\\u003c\xc3\xa9??"
        "\"],\"b\":{},\"c\":[\"\",\"Zg==\",\"Zm8=\","
        "\"Zm9v\"]}";
    char text[200] = "";
    FILE *f = fmemopen(text, sizeof text, "w");
    pl_json j = {.file = f, .html = true};
    pl_json_open(&j, '{');
    pl_json_key(&j, "a"), pl_json_open(&j, '[');
    pl_json_int(&j, 1), pl_json_int(&j, -2), pl_json_real(&j, 0.1), pl_json_real(&j, INFINITY);
    pl_json_bool(&j, true), pl_json_text(&j, "\"\\\n\x01<\xc3\xa9\xff\xc3");
    pl_json_close(&j);
    pl_json_key(&j, "b"), pl_json_open(&j, '{'), pl_json_close(&j);
    pl_json_key(&j, "c"), pl_json_open(&j, '[');
    for (size_t n = 0; n < 4; n++) pl_json_base64(&j, "foo", n); /* RFC 4648, section 10 */
    pl_json_close(&j);
    pl_json_close(&j);
    fclose(f);
    ck_assert_str_eq(text, expected);
}
END_TEST

START_TEST(number_format)
{
    static const struct {
        double v;
        const char *text;
    } row[] = {{0.1, "0.1"},
               {30, "30"},
               {-30, "-30"},
               {1200, "1200"},
               {123456789, "123456789"},
               {1e15, "1000000000000000"},
               {1e16, "1e+16"},
               {1.5e20, "1.5e+20"},
               {0.0001, "0.0001"},
               {1e-7, "1e-07"},
               {0, "0"},
               {-0.0, "-0"},
               {1.0 / 3, "0.3333333333333333"},
               {INFINITY, "inf"},
               {9007199254740993.0, "9007199254740992"}};
    char text[40];
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        ck_assert_int_eq(pl_print_real(row[k].v, text, sizeof text), (int)strlen(row[k].text));
        ck_assert_str_eq(text, row[k].text);
    }
    ck_assert_int_eq(pl_print_digits(16777216, 3, text, sizeof text), 8);
    ck_assert_str_eq(text, "16800000");
}
END_TEST

START_TEST(sizes)
{
    static const struct {
        const char *text;
        uint64_t bytes; /* 0: refused */
    } row[] = {{"1", 1 << 20},
               {"500K", 500 << 10},
               {"500k", 500 << 10},
               {"3000000K", UINT64_C(3000000) << 10},
               {"64MB", 64 << 20},
               {"64mb", 64 << 20},
               {"2GiB", UINT64_C(2) << 30},
               {"2g", UINT64_C(2) << 30},
               {"1048576T", UINT64_C(1) << 60},
               {"1048577T", 0},
               {"99999999999999999999K", 0},
               {"0", 0},
               {"0K", 0},
               {"", 0},
               {"-1", 0},
               {" 1", 0},
               {"K", 0},
               {"5B", 0},
               {"5MBs", 0},
               {"5 M", 0}};
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        uint64_t bytes = 0;
        const bool read = pl_read_size(row[k].text, &bytes);
        ck_assert_msg(read == (row[k].bytes != 0), "%s", row[k].text);
        if (read) ck_assert_msg(bytes == row[k].bytes, "%s", row[k].text);
    }
}
END_TEST

UNIT_MAIN("base", number_format, sizes, plural_of_nouns, terminals_get_no_control_characters,
          json_incremental_output, arena_allocations, arena_reset_zeroes, arena_reuse_unzeroed,
          sparse_arena_pages, arena_failure_jumps_to_the_guard, vector_grows_and_keeps_its_elements,
          heap_array_grows_and_keeps_its_elements, large_vector_outlives_its_arena, arena_text,
          map_lookup, diagnostic_format, diagnostic_long_line, diagnostics_sorted_unique_limited,
          every_message_can_be_explained, sha256_vectors)
