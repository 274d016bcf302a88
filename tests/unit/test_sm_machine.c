/* test_sm_machine.c - machine descriptions: every shipped one loads and prices every class;
 * occupancy agrees with the values reported by an H200. */
#include "arch/builtin_machines.h"
#include "arch/machine.h"
#include "emu/sm/sm.h"
#include "isa/table/form.h"
#include "tests/unit/unit.h"
#include <stdio.h>
#include <string.h>

static pl_arena *arena;
static pl_diags diags;

static pl_machine *load(const char *name)
{
    arena = pl_arena_open();
    pl_diags_init(&diags, arena);
    pl_machine *m = pl_machine_load(arena, &diags, name, NULL);
    for (size_t k = 0; k < diags.list.n; k++)
        fprintf(stderr, "%s: %s\n", name, diags.list.at[k].text);
    return m;
}

START_TEST(every_machine_prices_every_class)
{
    unsigned machines = 0;
    for (const pl_machine_text *t = pl_machine_texts; t->name; t++) {
        pl_machine *m = load(t->name);
        ck_assert_msg(m != NULL, "%s does not load", t->name);
        for (unsigned k = 0; k < C_count; k++) {
            const pl_price *p = &m->price[k];
            ck_assert_msg(p->issues || p->npipes == 0,
                          "%s: class %s holds units without an instruction", t->name,
                          pl_class_text[k]);
        }
        pl_arena_close(arena);
        machines++;
    }
    ck_assert_uint_ge(machines, 12);
}
END_TEST

/* The actual requirement of the memory system, and that of an SM. */
static void ck_memsys_bytes(const pl_machine *m)
{
    const pl_model_bytes need = pl_memsys_bytes(&m->mem);
    pl_arena *a = pl_arena_open(), *tags = pl_arena_open(), *sparse = pl_arena_open_sparse();
    ck_assert_ptr_nonnull(pl_memsys_open(a, tags, sparse, &m->mem));
    const size_t dense = pl_arena_bytes(a) + pl_arena_bytes(tags);
    ck_assert_uint_ge(need.dense, dense);
    ck_assert_uint_le(need.dense, dense + dense / 16);
    ck_assert_uint_eq(need.sparse, pl_arena_bytes(sparse));
    pl_arena_close(a);
    pl_arena_close(tags);
    pl_arena_close(sparse);
}

static void ck_sm_bytes(const pl_machine *m)
{
    const pl_model_bytes need = pl_sm_bytes(m, false);
    static pl_sm sm;
    static pl_grid grid;
    const pl_decoded program = {.bytes = UINT32_MAX}; /* fills the instruction caches */
    pl_sm_status status = {0};
    pl_arena *a = pl_arena_open(), *large = pl_arena_open(), *sparse = pl_arena_open_sparse();
    pl_sm_setup x = {.arena = a,
                     .large = large,
                     .sparse = sparse,
                     .m = m,
                     .dec = &program,
                     .g = &grid,
                     .l1_bytes = m->l1.size - m->l1.reserved};
    ck_assert(pl_const_l15_init(&x.constants, large, m));
    const size_t shared = pl_arena_bytes(large);
    ck_assert(pl_sm_init(&sm, &status, 0, &x));
    const size_t dense = sizeof sm + pl_arena_bytes(a) + pl_arena_bytes(large) - shared +
                         shared / m->sm.count,
                 sparse_bytes = pl_arena_bytes(sparse) + sm.out.cap * sizeof *sm.out.at;
    ck_assert_uint_ge(need.dense, dense);
    ck_assert_uint_le(need.dense, dense + dense / 16);
    ck_assert_uint_eq(need.sparse, sparse_bytes);
    pl_arena_close(a);
    pl_arena_close(large);
    pl_arena_close(sparse);
}

/* Launches compare these requirements with the available memory. */
START_TEST(timing_model_memory)
{
    for (const pl_machine_text *t = pl_machine_texts; t->name; t++) {
        const pl_machine *m = load(t->name);
        ck_assert_ptr_nonnull(m);
        ck_memsys_bytes(m);
        ck_sm_bytes(m);
        pl_arena_close(arena);
    }
}
END_TEST

/* launch__occupancy_limit_warps and _registers of metrics.tsv (H200, driver 580.159.04,
 * 2026-11). */
static const struct {
    uint32_t threads, registers, warps, registers_limit;
} limits[] = {{256, 32, 8, 8},   {256, 16, 8, 16},  {1024, 16, 2, 4}, {64, 22, 32, 42},
              {128, 172, 16, 2}, {128, 20, 16, 21}, {128, 56, 16, 9}, {128, 72, 16, 7},
              {128, 40, 16, 12}, {32, 93, 64, 20},  {32, 22, 64, 84}, {160, 27, 12, 12},
              {512, 16, 4, 8},   {256, 55, 8, 4},   {256, 40, 8, 6}};

/* launch__shared_mem_config_size of alloca_local, vecadd, reduce_interleaved, vecadd_b1024,
 * attention_naive, cluster_hist, conv2d_3x3, dgemm, mma_tf32, flash_tile, tma1d_copy,
 * transpose_shared, hgemm_async, bigsmem_lowocc */
static const struct {
    uint32_t threads, registers;
    uint64_t shared, setting;
    uint32_t barriers;
} settings[] = {{128, 20, 0, 32768, 0},
                {256, 16, 0, 32768, 0},
                {512, 16, 0, 16384, 0},
                {1024, 16, 0, 8192, 0},
                {128, 30, 1296, 102400, 1},
                {256, 18, 1024, 32768, 1},
                {256, 55, 5184, 65536, 1},
                {256, 40, 8448, 135168, 1},
                {128, 47, 13824, 167936, 1},
                {32, 93, 8192, 200704, 0},
                {128, 22, 4104, 135168, 1},
                {256, 24, 4096, 102400, 1},
                {128, 68, 29184, 233472, 1},
                {256, 16, 163840, 167936, 1},
                /* and of one kernel with several sizes, registers and barriers: the largest for a
                   setting, and the next */
                {64, 16, 1024, 65536, 1},
                {64, 16, 1152, 102400, 1},
                {96, 16, 1152, 65536, 1},
                {96, 16, 1280, 102400, 1},
                {96, 16, 5632, 167936, 1},
                {128, 16, 128, 32768, 1},
                {128, 16, 256, 65536, 1},
                {128, 16, 1280, 65536, 1},
                {128, 16, 1408, 102400, 1},
                {128, 16, 2560, 102400, 1},
                {128, 16, 7424, 135168, 1},
                {128, 16, 8448, 167936, 1},
                {160, 16, 1664, 65536, 1},
                {160, 16, 1792, 102400, 1},
                {256, 16, 1152, 65536, 1},
                {256, 16, 37120, 233472, 1},
                {256, 16, 38144, 200704, 1},
                {256, 16, 39168, 233472, 1},
                {512, 16, 1024, 16384, 1},
                {512, 16, 1152, 32768, 1},
                {768, 16, 3072, 16384, 1},
                {768, 16, 3200, 32768, 1},
                {1024, 16, 3072, 8192, 1},
                {1024, 16, 3200, 16384, 1},
                {1024, 16, 30976, 65536, 1},
                {64, 72, 1152, 65536, 1},
                {64, 48, 1408, 102400, 1},
                {512, 72, 3968, 8192, 1},
                {512, 48, 896, 8192, 1},
                {512, 48, 1152, 16384, 1},
                {128, 16, 640, 8192, 16},
                {128, 16, 1152, 16384, 16},
                {128, 16, 640, 32768, 4},
                {128, 16, 1152, 65536, 4}};

START_TEST(occupancy_matches_h200)
{
    pl_machine *m = load("h200");
    ck_assert(m != NULL);
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        pl_occupancy o = pl_occupy(m, limits[k].threads, limits[k].registers, 0, 0);
        ck_assert_uint_eq(o.by_blocks, 32);
        ck_assert_uint_eq(o.by_warps, limits[k].warps);
        ck_assert_msg(o.by_registers == limits[k].registers_limit,
                      "%u threads, %u registers: %u blocks, recorded %u", limits[k].threads,
                      limits[k].registers, o.by_registers, limits[k].registers_limit);
    }
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        pl_occupancy o = pl_occupy(m, settings[k].threads, settings[k].registers,
                                   settings[k].shared, settings[k].barriers);
        ck_assert_msg(o.carveout == settings[k].setting,
                      "%u threads, %u registers, %u bytes: setting %u, recorded %u",
                      settings[k].threads, settings[k].registers, (unsigned)settings[k].shared,
                      (unsigned)o.carveout, (unsigned)settings[k].setting);
    }
    ck_assert_uint_eq(pl_occupy(m, 256, 32, 227 * 1024, 0).blocks, 1);
    ck_assert_uint_eq(pl_occupy(m, 256, 32, 228 * 1024, 0).blocks, 0);
    ck_assert_uint_eq(pl_occupy(m, 1024, 255, 0, 0).blocks, 0);
    ck_assert_uint_eq(pl_occupy(m, 32, 255, 0, 0).blocks, 8);
    pl_arena_close(arena);
}
END_TEST

/* A machine that is like another has all of its values except those given in its own file. */
START_TEST(wide_warp_occupancy)
{
    pl_machine *narrow = load("toy");
    pl_arena *first = arena;
    pl_machine *wide = load("wave64");
    ck_assert(narrow != NULL && wide != NULL);
    ck_assert_uint_eq(wide->sm.lanes, 64);
    ck_assert_uint_eq(wide->sm.threads, narrow->sm.threads);
    ck_assert_uint_eq(wide->l1.latency, narrow->l1.latency);
    for (uint32_t registers = 8; registers <= 255; registers++) {
        pl_occupancy n = pl_occupy(narrow, 64, registers, 0, 0),
                     w = pl_occupy(wide, 64, registers, 0, 0);
        ck_assert_uint_eq(n.warps, 2);
        ck_assert_uint_eq(w.warps, 1);
        /* Units of 256: a wide warp wastes less. */
        ck_assert_uint_le(n.by_registers, w.by_registers);
        ck_assert(registers % 8 || n.by_registers == w.by_registers);
    }
    ck_assert_uint_eq(pl_occupy(wide, 160, 16, 0, 0).warps, 3); /* the third is half empty */
    pl_arena_close(first);
    pl_arena_close(arena);
}
END_TEST

START_TEST(prices_are_sums_of_their_instructions)
{
    pl_machine *m = load("toy");
    ck_assert(m != NULL);
    const pl_price *alu = NULL, *div = NULL, *mov = NULL;
    for (unsigned k = 0; k < C_count; k++) {
        if (strcmp(pl_class_text[k], "alu") == 0) alu = &m->price[k];
        if (strcmp(pl_class_text[k], "div32_u") == 0) div = &m->price[k];
        if (strcmp(pl_class_text[k], "mov") == 0) mov = &m->price[k];
    }
    ck_assert(alu && div && mov);
    ck_assert_uint_eq(alu->issues, 1);
    ck_assert_uint_eq(alu->latency, 4);
    ck_assert_uint_eq(mov->issues, 0);
    ck_assert_uint_eq(div->issues, 18); /* xu*3 wide*2 imad*4 alu*9 */
    ck_assert_uint_eq(div->latency, 130);
    for (uint32_t k = 0; k < div->npipes; k++) {
        if (div->pipe[k].pipe == PL_PIPE_XU) ck_assert_uint_eq(div->pipe[k].cycles, 24);
        if (div->pipe[k].pipe == PL_PIPE_ALU) ck_assert_uint_eq(div->pipe[k].cycles, 9);
    }
    pl_arena_close(arena);
}
END_TEST

/* A machine file with one changed line must be rejected, with that message at the line of `place`
 * (NULL: none) and in that column. */
static void refused(const char *from, const char *to, const char *code, const char *place,
                    uint32_t column)
{
    const pl_machine_text *t = pl_machine_texts;
    while (strcmp(t->name, "toy") != 0) t++;
    const char *at = strstr(t->text, from);
    ck_assert(at != NULL);
    const char *path = "test_sm_machine_wrong.conf";
    FILE *f = fopen(path, "w");
    ck_assert(f != NULL);
    fwrite(t->text, 1, (size_t)(at - t->text), f);
    fputs(to, f);
    fputs(at + strlen(from), f);
    fclose(f);
    pl_arena *a = pl_arena_open();
    pl_diags d;
    pl_diags_init(&d, a);
    ck_assert(pl_machine_load(a, &d, path, NULL) == NULL);
    remove(path);
    uint32_t line = place != NULL;
    const char *end = place ? strstr(t->text, place) : t->text;
    ck_assert(end != NULL);
    for (const char *c = t->text; c < end; c++) line += *c == '\n';
    bool found = false;
    for (size_t k = 0; k < d.list.n; k++) {
        const pl_diag *m = &d.list.at[k];
        found |=
            strcmp(pl_diag_code(m->id), code) == 0 && m->at.line == line && m->at.column == column;
    }
    ck_assert_msg(found, "no %s at %u:%u, but %s at %u:%u", code, line, column,
                  d.list.n ? pl_diag_code(d.list.at[0].id) : "nothing",
                  d.list.n ? d.list.at[0].at.line : 0, d.list.n ? d.list.at[0].at.column : 0);
    pl_arena_close(a);
}

/* classes.isa: alu_x2 has price_as=alu64. */
START_TEST(default_class_price)
{
    const pl_machine_text *t = pl_machine_texts;
    while (strcmp(t->name, "toy") != 0) t++;
    const char *at = strstr(t->text, "\nalu_x2 ");
    ck_assert(at != NULL);
    const char *path = "test_sm_machine_without.conf";
    FILE *f = fopen(path, "w");
    ck_assert(f != NULL);
    fwrite(t->text, 1, (size_t)(at - t->text), f);
    fputs(strchr(at + 1, '\n'), f);
    fclose(f);
    arena = pl_arena_open();
    pl_diags d;
    pl_diags_init(&d, arena);
    const pl_machine *m = pl_machine_load(arena, &d, path, NULL);
    remove(path);
    ck_assert(m != NULL);
    ck_assert_uint_eq(pl_classes[C_alu_x2].price_as, C_alu64);
    ck_assert_mem_eq(&m->price[C_alu_x2], &m->price[C_alu64], sizeof m->price[0]);
    pl_arena_close(arena);
}
END_TEST

START_TEST(invalid_machine_files_are_rejected)
{
    refused("alu            =", "alu_is_missing =", "E0514", NULL, 0); /* for the whole file */
    refused("xu*3", "xv*3", "E0513", "div32_u ", 18);
    refused("subcores", "subkores", "E0502", "subcores", 1);
    refused("subcores", "subkores", "E0503", "[sm]", 2);
    refused("[l2]", "[l3]", "E0511", "[l2]", 2);
    refused("title      = toy", "like = wave64 ; chosen\ntitle      = toy", "E0508",
            "title      = toy", 8);
    refused("lanes            = 32", "lanes            = 48", "E0510", "lanes            = 32", 20);
    refused("warps            = 8", "warps            = 99", "E0510", "warps            = 8", 20);
}
END_TEST

START_TEST(an_unknown_machine_is_reported)
{
    ck_assert(load("h2000") == NULL);
    ck_assert_uint_eq(diags.list.n, 1);
    ck_assert_str_eq(pl_diag_code(diags.list.at[0].id), "E0515");
    ck_assert(diags.list.at[0].help != NULL);
    pl_arena_close(arena);
}
END_TEST

UNIT_MAIN("machines", every_machine_prices_every_class, timing_model_memory, occupancy_matches_h200,
          wide_warp_occupancy, prices_are_sums_of_their_instructions, default_class_price,
          invalid_machine_files_are_rejected, an_unknown_machine_is_reported)
