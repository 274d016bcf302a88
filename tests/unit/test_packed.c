/* test_packed.c - blocks of packed events: round trip, and damage is an error, never a crash. */
#include "isa/program/insn.h"
#include "tests/unit/unit.h"
#include "traces/pack/format.h"
#include <string.h>

static uint64_t state = 88172645463325252u;

/* xorshift64, Marsaglia 2003, with a fixed seed. */
static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* A random number of up to `bits` bits, of any length. */
static uint64_t any(unsigned bits)
{
    unsigned n = (unsigned)(next_random() % (bits + 1));
    return n == 0 ? 0 : next_random() >> (64 - n);
}

static pl_packer *packer;
static pl_packed_block *block;
static pl_packed_span span[PL_SPAN_COUNT];

static void begin(pl_packed_stream stream)
{
    packer = pl_packer_open();
    block = pl_packed_new(stream);
    ck_assert_ptr_nonnull(packer);
    ck_assert_ptr_nonnull(block);
    pl_packed_clear(block, 1);
}

static void end(void)
{
    pl_packed_free(block);
    pl_packer_close(packer);
}

static void fill_warps(uint32_t n)
{
    block->nwarps = n;
    for (uint32_t i = 0; i < n; i++)
        block->warp[i] = (pl_packed_warp){(uint32_t)any(32), (uint32_t)any(32), (uint32_t)any(8)};
}

/* wild: numbers of all lengths; otherwise rows as written by a launch. */
static void fill_inst(uint32_t n, bool wild)
{
    uint64_t cycle = 1000;
    block->n = n;
    fill_warps(n < 16 ? n : 16);
    for (uint32_t i = 0; i < n; i++) {
        cycle += next_random() % 3;
        block->row.inst[i] = (pl_packed_inst){.id = wild ? any(64) : i,
                                              .cycle = wild ? any(64) : cycle,
                                              .pc = (uint32_t)(wild ? any(32) : i / 16 % 50),
                                              .mask = wild ? (uint32_t)any(32) : UINT32_MAX,
                                              .waited = (uint32_t)any(wild ? 32 : 3),
                                              .latency = (uint32_t)any(wild ? 32 : 0),
                                              .weight = (uint32_t)any(wild ? 32 : 2),
                                              .warp = (uint16_t)(next_random() % block->nwarps),
                                              .stall = (uint8_t)any(wild ? 8 : 1)};
    }
}

static void fill_mem(uint32_t n, int64_t (*offset)[PL_LANES])
{
    block->n = n;
    fill_warps(n < 9 ? n : 9);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t addr[PL_LANES];
        uint32_t pc = i % 7, mask = (uint32_t)next_random() | 1u << next_random() % 32;
        if (i % 3 == 0) mask = UINT32_MAX;
        for (unsigned l = 0; l < PL_LANES; l++)
            addr[l] = i % 4 == 1   ? any(64)
                      : i % 4 == 3 ? UINT64_C(0x7f0000000000) + 4 * any(8)
                                   : UINT64_C(0x7f0000000000) + l * l * (pc + 1) + i * 128;
        for (unsigned l = 0; l < PL_LANES; l++)
            offset[i][l] = (int64_t)(addr[l] - addr[__builtin_ctz(mask)]);
        unsigned shape = pl_packed_add_offsets(block, pc, mask, addr);
        ck_assert_uint_ne(shape, PL_SHAPE_NONE);
        block->row.mem[i] = (pl_packed_mem){.id = any(64),
                                            .inst = any(64),
                                            .cycle = any(64),
                                            .address = addr[__builtin_ctz(mask)],
                                            .stride = any(64),
                                            .access = PL_ACCESS(any(8), any(8), any(16), shape),
                                            .pc = pc,
                                            .mask = mask,
                                            .latency = (uint32_t)any(32),
                                            .warp = (uint16_t)(next_random() % block->nwarps),
                                            .sectors = (uint16_t)any(16),
                                            .wavefronts = (uint16_t)any(16),
                                            .level = (uint8_t)any(8)};
    }
}

static const uint64_t *column(pl_unpacker *u, unsigned c)
{
    const char *why;
    const uint64_t *v = pl_unpack_column(u, c, &why);
    ck_assert_msg(v != NULL, "column %u: %s", c, why ? why : "out of memory");
    return v;
}

START_TEST(instruction_round_trip)
{
    static const uint32_t sizes[] = {1, 2, 63, 64, 65, 1000, PL_PACKED_ROWS};
    for (size_t s = 0; s < 2 * sizeof sizes / sizeof *sizes; s++) {
        begin(PL_PACKED_INST_STREAM);
        fill_inst(sizes[s / 2], s % 2);
        size_t n;
        const uint8_t *bytes = pl_packer_pack(packer, block, span, &n);
        pl_unpacker u;
        const char *why;
        ck_assert(pl_unpack_open(&u, PL_PACKED_INST_STREAM, bytes, n, &why));
        ck_assert_uint_eq(u.n, block->n);
        uint64_t first = UINT64_MAX, last = 0;
        for (uint32_t i = 0; i < block->n; i++) {
            const pl_packed_inst *e = &block->row.inst[i];
            ck_assert_uint_eq(column(&u, PL_PI_ID)[i], e->id);
            ck_assert_uint_eq(column(&u, PL_PI_CYCLE)[i], e->cycle);
            ck_assert_uint_eq(column(&u, PL_PI_PC)[i], e->pc);
            ck_assert_uint_eq(column(&u, PL_PI_MASK)[i], e->mask);
            ck_assert_uint_eq(column(&u, PL_PI_WAITED)[i], e->waited);
            ck_assert_uint_eq(column(&u, PL_PI_LATENCY)[i], e->latency);
            ck_assert_uint_eq(column(&u, PL_PI_WEIGHT)[i], e->weight);
            ck_assert_uint_eq(column(&u, PL_PI_STALL)[i], e->stall);
            ck_assert_mem_eq(&u.warp[column(&u, PL_PI_WARP)[i]], &block->warp[e->warp],
                             sizeof(pl_packed_warp));
            if (e->cycle < first) first = e->cycle;
            if (e->cycle > last) last = e->cycle;
        }
        ck_assert_uint_eq(span[PL_SPAN_CYCLE].first, first);
        ck_assert_uint_eq(span[PL_SPAN_CYCLE].last, last);
        if (s % 2 == 0 && block->n == PL_PACKED_ROWS)
            ck_assert_msg(n < 3 * PL_PACKED_ROWS, "%zu bytes for a regular block", n);
        pl_unpack_close(&u);
        end();
    }
}
END_TEST

START_TEST(access_round_trip)
{
    static int64_t expected[PL_PACKED_ROWS][PL_LANES];
    begin(PL_PACKED_MEM_STREAM);
    fill_mem(2000, expected);
    size_t n;
    const uint8_t *bytes = pl_packer_pack(packer, block, span, &n);
    pl_unpacker u;
    const char *damage;
    ck_assert(pl_unpack_open(&u, PL_PACKED_MEM_STREAM, bytes, n, &damage));
    for (uint32_t i = 0; i < block->n; i++) {
        const pl_packed_mem *e = &block->row.mem[i];
        int64_t offset[PL_TRACED_LANES];
        const char *why;
        ck_assert_uint_eq(column(&u, PL_PM_ID)[i], e->id);
        ck_assert_uint_eq(column(&u, PL_PM_INST)[i], e->inst);
        ck_assert_uint_eq(column(&u, PL_PM_ADDRESS)[i], e->address);
        ck_assert_uint_eq(column(&u, PL_PM_STRIDE)[i], e->stride);
        ck_assert_uint_eq(column(&u, PL_PM_ACCESS)[i], e->access);
        ck_assert_uint_eq(column(&u, PL_PM_SECTORS)[i], e->sectors);
        ck_assert_uint_eq(column(&u, PL_PM_LEVEL)[i], e->level);
        ck_assert(pl_unpack_offsets(&u, i, offset, &why));
        for (uint64_t m = e->mask; m; m &= m - 1)
            ck_assert_int_eq(offset[__builtin_ctzll(m)], expected[i][__builtin_ctzll(m)]);
    }
    pl_unpack_close(&u);
    end();
}
END_TEST

/* Reads everything that a query could; true if all of it was readable. */
static bool read_all(const uint8_t *bytes, size_t n, pl_packed_stream stream)
{
    pl_unpacker u;
    const char *why;
    if (!pl_unpack_open(&u, stream, bytes, n, &why)) ck_assert_ptr_nonnull(why);
    for (unsigned c = 0; !why && c < pl_packed_ncolumns(stream); c++)
        if (!pl_unpack_column(&u, c, &why)) ck_assert_ptr_nonnull(why);
    for (uint32_t i = 0; !why && stream == PL_PACKED_MEM_STREAM && i < u.n; i++) {
        int64_t offset[PL_TRACED_LANES];
        char text[PL_TRACED_LANES * 22 + 2];
        const char *ignored;
        if (pl_unpack_offsets(&u, i, offset, &ignored))
            ck_assert_uint_le(pl_packed_offsets_text(text, u.column[PL_PM_MASK][i], offset),
                              sizeof text);
    }
    pl_unpack_close(&u);
    return !why;
}

START_TEST(damage_is_an_error)
{
    static int64_t expected[PL_PACKED_ROWS][PL_LANES];
    for (int stream = 0; stream < 2; stream++) {
        begin((pl_packed_stream)stream);
        if (stream == PL_PACKED_INST_STREAM)
            fill_inst(300, false);
        else
            fill_mem(300, expected);
        size_t n, noticed = 0;
        const uint8_t *bytes = pl_packer_pack(packer, block, span, &n);
        uint8_t *copy = malloc(n);
        ck_assert_ptr_nonnull(copy);
        for (size_t k = 0; k < n; k += 1 + n / 500)
            ck_assert(!read_all(bytes, k, (pl_packed_stream)stream));
        for (int k = 0; k < 3000; k++) {
            memcpy(copy, bytes, n);
            for (int m = 0; m <= k % 3; m++) copy[next_random() % n] = (uint8_t)next_random();
            noticed += !read_all(copy, n, (pl_packed_stream)stream);
            /* With a matching checksum, only the reader's own checks apply. */
            size_t length = k % 5 ? n : n - next_random() % (n / 2);
            uint32_t sum = pl_packed_checksum(copy + 4, length - 4);
            for (int i = 0; i < 4; i++) copy[i] = (uint8_t)(sum >> 8 * i);
            read_all(copy, length, (pl_packed_stream)stream);
        }
        ck_assert_uint_ge(noticed, 2900); /* a byte may have been replaced by an equal one */
        free(copy);
        end();
    }
}
END_TEST

UNIT_MAIN("packed", instruction_round_trip, access_round_trip, damage_is_an_error)
