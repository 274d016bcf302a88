/* op_tcgen05.c - the tensor cores of sm_100: allocation of tensor memory, its copies, products and
 * their completion.
 *
 * Every operation is applied when it is issued, so fences and waits have no effect, and a commit
 * arrives at once. The computation is in emu/exec/tcgen05. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "emu/exec/async/async.h"
#include "emu/exec/memory/address.h"
#include "isa/program/insn_query.h"
#include "emu/exec/num/modifier_words.h"
#include "emu/exec/num/sparse.h"
#include "emu/exec/tcgen05/product.h"

static void usage_fault(pl_warp *w, uint64_t address, const char *wrong)
{
    pl_fault(w, w->exec, address, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
             "tcgen05: %s (tensor memory 0x%x)", wrong, (unsigned)address);
}

/* The tensor memory of a block, allocated on first use. NULL: out of memory. */
static pl_tmem *tmem_of(pl_warp *w, pl_cta *c)
{
    if (!c->tmem) c->tmem = calloc(1, sizeof *c->tmem);
    if (!c->tmem) pl_grid_set_no_memory(w->grid);
    return c->tmem;
}

/* The other block of a pair: its rank differs in the last bit. */
static pl_cta *other_block(pl_warp *w)
{
    pl_cluster *x = w->cta->cluster;
    const uint32_t rank = w->cta->cluster_rank ^ 1;
    if (x && rank < x->size && x->cta[rank] && x->cta[rank]->live) return x->cta[rank];
    pl_fault(w, w->exec, 0, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
             "tcgen05 with .cta_group::2: the block has no other block in its cluster that runs");
    return NULL;
}

static unsigned leader(const pl_warp *w)
{
    return (unsigned)__builtin_ctz(w->exec | 1u << 31);
}

static uint32_t value32(const pl_warp *w, const pl_insn *i, unsigned k, unsigned lane)
{
    return pl_row32(w, i->op[k])[lane];
}

/* Operand k, address `which` of the instruction, in tensor memory. Offsets of further addresses
 * are part of their registers. */
static uint32_t taddr(const pl_warp *w, const pl_insn *i, unsigned which, unsigned k, unsigned lane)
{
    const uint32_t offset = (uint32_t)pl_insn_offset(i, which);
    return (i->op[k] == PL_NO_OPERAND ? 0 : value32(w, i, k, lane)) + offset;
}

/* ---- allocation ---- */

static bool check_columns(pl_warp *w, uint32_t n, bool exclusive)
{
    const bool step = exclusive ? n % PL_TMEM_UNIT == 0 : !(n & (n - 1));
    if (n >= PL_TMEM_UNIT && n <= PL_TMEM_COLUMNS && step) return true;
    pl_fault(w, w->exec, 0, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
             "tcgen05: %u column%s of tensor memory: the number is a %s from 32 to 512", n,
             pl_plural(n), exclusive ? "multiple of 32" : "power of two");
    return false;
}

/* True if the allocation would wait for an existing one. An exclusive allocation must be the only
 * one. */
static bool must_wait(const pl_tmem *t, bool exclusive)
{
    bool any = false;
    for (unsigned k = 0; k < PL_TMEM_UNITS; k++) any |= t->owner[k] != 0;
    return any && (exclusive || t->exclusive);
}

/* Returns columns that the other block has allocated for both, or allocates new ones for both. */
static uint32_t allocate_pair(pl_tmem *mine, pl_tmem *other, uint32_t n)
{
    if (mine->npairs) {
        const uint32_t at = mine->pair[0];
        memmove(mine->pair, mine->pair + 1, --mine->npairs * sizeof *mine->pair);
        return at;
    }
    for (uint32_t at = 0; at + n <= PL_TMEM_COLUMNS; at += PL_TMEM_UNIT) {
        bool is_free = other->npairs < PL_TMEM_PAIRS;
        for (uint32_t k = at / PL_TMEM_UNIT; k < (at + n) / PL_TMEM_UNIT; k++)
            is_free &= !mine->owner[k] && !other->owner[k];
        if (!is_free) continue;
        pl_tmem_take(mine, at, n);
        pl_tmem_take(other, at, n);
        other->pair[other->npairs++] = (uint16_t)at;
        return at;
    }
    return UINT32_MAX;
}

void exec_tcgen05_alloc(pl_warp *w, const pl_insn *i, int group, int exclusive)
{
    const unsigned lane = leader(w);
    const bool exclusive_alloc = exclusive != W_none;
    const uint32_t n = value32(w, i, 1, lane);
    uint64_t to[PL_LANES];
    pl_tmem *t = tmem_of(w, w->cta);
    if (!t || !check_columns(w, n, exclusive_alloc)) return;
    if (t->relinquished) {
        usage_fault(w, 0, "alloc after relinquish_alloc_permit");
        return;
    }
    uint32_t at = UINT32_MAX;
    if (group == W_cta_group__2) {
        pl_cta *o = other_block(w);
        pl_tmem *other = o ? tmem_of(w, o) : NULL;
        if (!other) return;
        if (t->npairs || (!must_wait(t, exclusive_alloc) && !must_wait(other, exclusive_alloc)))
            at = allocate_pair(t, other, n);
    } else if (!must_wait(t, exclusive_alloc)) {
        at = pl_tmem_find(t, n);
        if (at != UINT32_MAX) pl_tmem_take(t, at, n);
    }
    if (at == UINT32_MAX) {
        pl_fault(
            w, w->exec, 0, "CUDA_ERROR_LAUNCH_FAILED",
            "tcgen05.alloc of %u columns: the block's tensor memory has no such run left%s, and "
            "the warp would wait for ever",
            n, exclusive_alloc || t->exclusive ? ", or an allocation is exclusive" : "");
        return;
    }
    t->exclusive = exclusive_alloc;
    pl_addresses(w, i, 0, i->sel[PL_M_FLAGS] & PL_MF_ADDR32, i->imm, to);
    uint8_t *p = pl_access_write(w, lane, (pl_space)i->sel[PL_M_SPACE], to[lane], 4, 4,
                                 "tcgen05.alloc's address");
    if (!p) return;
    memcpy(p, &at, sizeof at);
    w->wrote = true;
    to[lane] = (uint32_t)to[lane]; /* also valid for generic addresses: the window's lower half is
                                      0 */
    pl_record_effect(w, PL_SP_SHARED, PL_AC_STORE, 4, 1u << lane, to, i->sel[PL_M_FLAGS]);
}

void exec_tcgen05_dealloc(pl_warp *w, const pl_insn *i, int exclusive)
{
    const unsigned lane = leader(w);
    const uint32_t at = value32(w, i, 0, lane), n = value32(w, i, 1, lane);
    pl_tmem *t = tmem_of(w, w->cta);
    if (!t || !check_columns(w, n, exclusive != W_none)) return;
    const char *wrong = t->exclusive != (exclusive != W_none)
                            ? "alloc and dealloc differ in .exclusive"
                            : pl_tmem_release(t, at, n);
    if (!wrong) t->exclusive = false;
    if (wrong) usage_fault(w, at, wrong);
}

void exec_tcgen05_relinquish(pl_warp *w, const pl_insn *i)
{
    (void)i;
    pl_tmem *t = tmem_of(w, w->cta);
    if (t) t->relinquished = true;
}

/* ---- registers and tensor memory ---- */

/* The location of register r of lane l, relative to the address. */
typedef struct tmem_cell {
    uint32_t lane, column;
} tmem_cell;

static tmem_cell cell_of(int shape, unsigned l, unsigned r, uint32_t split)
{
    switch (shape) {
    case W_32x32b: return (tmem_cell){l, r};
    case W_16x64b: return (tmem_cell){l / 4 + 8 * (l & 1), (l >> 1 & 1) + 2 * r};
    case W_16x128b: return (tmem_cell){l / 4 + 8 * (r & 1), l % 4 + 4 * (r >> 1)};
    case W_16x256b:
        return (tmem_cell){l / 4 + 8 * (r >> 1 & 1), 2 * (l % 4) + (r & 1) + 8 * (r >> 2)};
    default: return (tmem_cell){l % 16, r + (l < 16 ? 0 : split)}; /* 16x32bx2 */
    }
}

static unsigned registers_of(const pl_insn *i, unsigned k)
{
    return (unsigned)pl_operand_count(&pl_forms[i->form], k, i->mods);
}

/* The cells of tensor memory that a warp can access: a quarter of the lanes, and allocated columns.
 * NULL: a fault. */
static pl_tmem *accessible_cells(pl_warp *w, int shape, uint32_t address, unsigned regs,
                                 uint32_t split, bool halves)
{
    pl_tmem *t = tmem_of(w, w->cta);
    if (!t) return NULL;
    const uint32_t quarter = (uint32_t)(pl_first_thread(w) / PL_LANES % 4) * 32,
                   lane = pl_tmem_lane(address),
                   per = shape == W_16x64b    ? 2
                         : shape == W_16x128b ? 2
                         : shape == W_16x256b ? 2
                                              : 1;
    const uint32_t columns = regs * per * (halves ? 2 : 1);
    if (lane != quarter && (shape == W_32x32b || lane != quarter + 16)) {
        pl_fault(w, w->exec, address, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
                 "tcgen05: lane %u of tensor memory (0x%x): warp %u of four reaches lanes %u to %u",
                 lane, address, quarter / 32, quarter, quarter + 31);
        return NULL;
    }
    const uint32_t column = pl_tmem_column(address);
    if (pl_tmem_holds(t, column, columns) && (!split || pl_tmem_holds(t, column + split, columns)))
        return t;
    pl_fault(w, w->exec, address, "CUDA_ERROR_ILLEGAL_ADDRESS",
             "tcgen05: columns %u to %u of tensor memory are not all allocated", column,
             column + split + columns - 1);
    return NULL;
}

/* Reads all registers of an instruction. With .pack::16b the low halves of two columns form one
 * register. */
static bool load(pl_warp *w, int shape, uint32_t address, unsigned regs, uint32_t split, bool pack,
                 uint32_t (*v)[PL_LANES])
{
    const pl_tmem *t = accessible_cells(w, shape, address, regs, split, pack);
    if (!t) return false;
    for (unsigned r = 0; r < regs; r++)
        for (unsigned l = 0; l < PL_LANES; l++) {
            const tmem_cell at = cell_of(shape, l, r, pack ? 0 : split);
            const uint32_t *cell = t->cell[(pl_tmem_lane(address) + at.lane) % PL_TMEM_LANES];
            const uint32_t first = pl_tmem_column(address);
            if (!pack) {
                v[r][l] = cell[first + at.column];
                continue;
            }
            const uint32_t column =
                first + 2 * at.column + (shape == W_16x32bx2 && l >= 16 ? split : 0);
            v[r][l] = (cell[column] & 0xffff) | cell[column + 1] << 16;
        }
    return true;
}

void exec_tcgen05_ld(pl_warp *w, const pl_insn *i, int shape, int pack)
{
    uint32_t v[PL_TMEM_LANES][PL_LANES];
    const unsigned regs = registers_of(i, 0);
    const uint32_t split = shape == W_16x32bx2 ? i->op[2] : 0;
    if (!load(w, shape, taddr(w, i, 0, 1, leader(w)), regs, split, pack != W_none, v)) return;
    for (unsigned r = 0; r < regs; r++)
        pl_blend32(w, pl_row32(w, pl_more(w, i, i->op[0] + r)), v[r]);
}

/* The smaller or larger of two values. For floats a number is preferred to a NaN, unless .NaN is
 * given. */
static uint32_t min_or_max(uint32_t a, uint32_t b, int op, int nan, int type)
{
    if (type == W_f32) {
        const float x = f32_value(a), y = f32_value(b);
        if (isnan(x) || isnan(y))
            return nan != W_none || (isnan(x) && isnan(y)) ? 0x7fffffff : isnan(x) ? b : a;
        if (x == y) return op == W_min ? a | (b & 0x80000000u) : a & (b | 0x7fffffffu);
        return (x < y) == (op == W_min) ? a : b;
    }
    const bool less = type == W_s32 ? (int32_t)a < (int32_t)b : a < b;
    return less == (op == W_min) ? a : b;
}

void exec_tcgen05_ld_red(pl_warp *w, const pl_insn *i, int shape, int op, int abs, int nan,
                         int type)
{
    uint32_t v[PL_TMEM_LANES][PL_LANES], best[PL_LANES];
    const unsigned regs = registers_of(i, 0);
    const uint32_t split = shape == W_16x32bx2 ? i->op[3] : 0,
                   keep = abs != W_none ? 0x7fffffff : UINT32_MAX;
    if (!load(w, shape, taddr(w, i, 0, 2, leader(w)), regs, split, false, v)) return;
    for (unsigned l = 0; l < PL_LANES; l++) {
        best[l] = v[0][l] & keep;
        for (unsigned r = 1; r < regs; r++)
            best[l] = min_or_max(best[l], v[r][l] & keep, op, nan, type);
    }
    for (unsigned r = 0; r < regs; r++)
        pl_blend32(w, pl_row32(w, pl_more(w, i, i->op[0] + r)), v[r]);
    pl_blend32(w, pl_row32(w, i->op[1]), best);
}

/* Keeps two of four columns, in consecutive registers; their positions have two bits each. */
void exec_tcgen05_ld_sparse(pl_warp *w, const pl_insn *i, int op, int abs, int nan, int red)
{
    uint32_t v[PL_TMEM_LANES][PL_LANES], best[PL_LANES];
    const unsigned index_registers = registers_of(i, 0), kept = registers_of(i, 1);
    const uint32_t keep = abs != W_none ? 0x7fffffff : UINT32_MAX;
    uint32_t index[PL_TMEM_LANES / 32][PL_LANES] = {{0}}, out[PL_TMEM_LANES / 2][PL_LANES];
    const unsigned address = red != W_none ? 3 : 2;
    if (!load(w, W_32x32b, taddr(w, i, 0, address, leader(w)), 2 * kept, 0, false, v)) return;
    for (unsigned l = 0; l < PL_LANES; l++) {
        best[l] = v[0][l] & keep;
        for (unsigned c = 1; c < 2 * kept; c++)
            best[l] = min_or_max(best[l], v[c][l] & keep, op, nan, W_f32);
        for (unsigned g = 0; g < kept / 2; g++) {
            int64_t key[4];
            for (unsigned e = 0; e < 4; e++) {
                const uint32_t x = v[4 * g + e][l];
                key[e] =
                    sparse_key(x & PL_F32_MAG, x >> 31, PL_F32_INF, abs != W_none, op == W_min);
            }
            const unsigned two = two_of_four(key);
            out[2 * g][l] = v[4 * g + (two & 3)][l];
            out[2 * g + 1][l] = v[4 * g + (two >> 2)][l];
            index[g / 8][l] |= two << 4 * (g % 8);
        }
    }
    for (unsigned r = 0; r < index_registers; r++)
        pl_blend32(w, pl_row32(w, pl_more(w, i, i->op[0] + r)), index[r]);
    for (unsigned r = 0; r < kept; r++)
        pl_blend32(w, pl_row32(w, pl_more(w, i, i->op[1] + r)), out[r]);
    if (red != W_none) pl_blend32(w, pl_row32(w, i->op[2]), best);
}

void exec_tcgen05_st(pl_warp *w, const pl_insn *i, int shape, int unpack)
{
    const bool halves = unpack != W_none;
    const unsigned data = shape == W_16x32bx2 ? 2 : 1, regs = registers_of(i, data);
    const uint32_t split = shape == W_16x32bx2 ? i->op[1] : 0,
                   address = taddr(w, i, 0, 0, leader(w)), first = pl_tmem_column(address);
    pl_tmem *t = accessible_cells(w, shape, address, regs, split, halves);
    if (!t) return;
    for (unsigned r = 0; r < regs; r++) {
        const uint32_t *v = pl_row32(w, pl_more(w, i, i->op[data] + r));
        for (uint32_t m = w->exec; m; m &= m - 1) {
            const unsigned l = (unsigned)__builtin_ctz(m);
            const tmem_cell at = cell_of(shape, l, r, halves ? 0 : split);
            uint32_t *cell = t->cell[(pl_tmem_lane(address) + at.lane) % PL_TMEM_LANES];
            if (!halves) {
                cell[first + at.column] = v[l];
                continue;
            }
            const uint32_t column =
                first + 2 * at.column + (shape == W_16x32bx2 && l >= 16 ? split : 0);
            cell[column] = v[l] & 0xffff;
            cell[column + 1] = v[l] >> 16;
        }
    }
}

void exec_tcgen05_order(pl_warp *w, const pl_insn *i)
{
    (void)w;
    (void)i;
}

/* ---- copies ---- */

/* Converts 16 bytes of shared memory to the format of tensor memory: packed elements take a byte
 * each. */
static void expand(int format, const uint8_t *from, uint8_t to[16])
{
    if (format == W_none) {
        memcpy(to, from, 16);
        return;
    }
    for (int e = 0; e < 16; e++)
        if (format == W_b4x16_p64)
            to[e] = (uint8_t)((from[e / 2] >> 4 * (e & 1) & 15) << 2);
        else
            to[e] = (uint8_t)((from[6 * e / 8] | from[6 * e / 8 + 1] << 8) >> 6 * e % 8 & 63);
}

/* Lists the lanes to which row ROW of the source is copied. */
static unsigned lanes_of_row(int shape, int warps, unsigned row, unsigned lane[4])
{
    switch (shape) {
    case W_4x256b: lane[0] = 32 * row; return 1;
    case W_64x128b:
        lane[0] = warps == W_warpx2__02_13 ? row : row % 32 + 64 * (row / 32);
        lane[1] = lane[0] + (warps == W_warpx2__02_13 ? 64 : 32);
        return 2;
    case W_32x128b:
        for (unsigned k = 0; k < 4; k++) lane[k] = row + 32 * k;
        return 4;
    default: lane[0] = row; return 1;
    }
}

static bool copy_rows(pl_warp *w, pl_cta *c, uint32_t address, uint64_t descriptor, int shape,
                      int warps, int format)
{
    const unsigned rows = shape == W_4x256b    ? 4
                          : shape == W_64x128b ? 64
                          : shape == W_32x128b ? 32
                                               : 128,
                   pieces = shape == W_4x256b || shape == W_128x256b ? 2 : 1;
    pl_wgmma_desc desc;
    pl_tmem *t = tmem_of(w, c);
    if (!t) return false;
    const char *wrong = pl_tcgen05_matrix(descriptor, &desc);
    if (!wrong && !pl_tmem_holds(t, pl_tmem_column(address), 4 * pieces))
        wrong = "cp to columns that are not allocated";
    if (wrong) {
        usage_fault(w, address, wrong);
        return false;
    }
    for (unsigned row = 0; row < rows; row++)
        for (unsigned k = 0; k < pieces; k++) {
            const uint32_t at = pl_wgmma_address(&desc, 8, false, (int)row, 16 * (int)k);
            unsigned lane[4], n = lanes_of_row(shape, warps, row, lane);
            uint8_t bytes[16];
            if (at + 16 > c->shared_end) {
                pl_fault(
                    w, w->exec, at, "CUDA_ERROR_ILLEGAL_ADDRESS",
                    "tcgen05.cp reads shared address 0x%x, but the block's memory ends at 0x%x", at,
                    c->shared_end);
                return false;
            }
            expand(format, c->shared + at, bytes);
            while (n--)
                memcpy(&t->cell[(pl_tmem_lane(address) + lane[n]) % PL_TMEM_LANES]
                               [pl_tmem_column(address) + 4 * k],
                       bytes, sizeof bytes);
        }
    return true;
}

void exec_tcgen05_cp(pl_warp *w, const pl_insn *i, int group, int shape, int warps, int format)
{
    for (uint32_t m = w->exec; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        const uint32_t address = taddr(w, i, 0, 0, l);
        const uint64_t descriptor = pl_row64(w, i->op[1])[l];
        if (!copy_rows(w, w->cta, address, descriptor, shape, warps, format)) return;
        if (group != W_cta_group__2) continue;
        pl_cta *o = other_block(w);
        if (!o || !copy_rows(w, o, address, descriptor, shape, warps, format)) return;
    }
}

/* Moves eight columns of 32 lanes to the next lower lane; the last lane is unchanged. */
static void shift_rows(pl_warp *w, pl_cta *c, uint32_t address)
{
    pl_tmem *t = tmem_of(w, c);
    const uint32_t lane = pl_tmem_lane(address), column = pl_tmem_column(address);
    if (!t) return;
    if (lane % 32 || lane >= PL_TMEM_LANES || !pl_tmem_holds(t, column, 8)) {
        usage_fault(w, address, "shift of lanes or columns that do not exist");
        return;
    }
    for (uint32_t k = 0; k < 31; k++)
        memcpy(&t->cell[lane + k][column], &t->cell[lane + k + 1][column], 8 * sizeof(uint32_t));
}

void exec_tcgen05_shift(pl_warp *w, const pl_insn *i, int group)
{
    const uint32_t address = taddr(w, i, 0, 0, leader(w));
    pl_cta *o = group == W_cta_group__2 ? other_block(w) : NULL;
    if (group == W_cta_group__2 && !o) return;
    shift_rows(w, w->cta, address);
    if (o) shift_rows(w, o, address);
}

/* ---- products ---- */

static pl_tcgen05_kind kind_of(int kind)
{
    switch (kind) {
    case W_kind__f16: return PL_TK_F16;
    case W_kind__tf32: return PL_TK_TF32;
    case W_kind__f8f6f4: return PL_TK_F8F6F4;
    case W_kind__i8: return PL_TK_I8;
    case W_kind__mxf8f6f4: return PL_TK_MXF8F6F4;
    case W_kind__mxf4: return PL_TK_MXF4;
    default: return PL_TK_MXF4NVF4;
    }
}

static int scales_of(int kind, int size)
{
    switch (size) {
    case W_scale_vec__1X: return 1;
    case W_scale_vec__2X: return 2;
    case W_scale_vec__4X:
    case W_block16: return 4;
    default:
        return kind == W_kind__mxf8f6f4 ? 1 : kind == W_kind__mxf4 || size == W_block32 ? 2 : 0;
    }
}

/* The blocks of a product: this one, or the pair in rank order. */
static bool find_blocks(pl_warp *w, int n, pl_tcgen05_block *block)
{
    pl_cta *c[2] = {w->cta, NULL};
    if (n == 2) {
        pl_cta *o = other_block(w);
        if (!o) return false;
        c[w->cta->cluster_rank & 1] = w->cta;
        c[!(w->cta->cluster_rank & 1)] = o;
    }
    for (int b = 0; b < n; b++) {
        block[b] = (pl_tcgen05_block){tmem_of(w, c[b]), c[b]->shared, c[b]->shared_end};
        if (!block[b].tmem) return false;
    }
    return true;
}

static void multiply(pl_warp *w, pl_tcgen05_op *op)
{
    pl_tcgen05_block block[2];
    uint32_t at = 0;
    if (!find_blocks(w, op->blocks, block)) return;
    const char *wrong = pl_tcgen05_decode(op);
    if (!wrong) wrong = pl_tcgen05_product(op, block, &at);
    if (wrong)
        pl_fault(w, w->exec, at, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
                 "tcgen05.mma with instruction descriptor 0x%x: %s (address 0x%x)", op->idesc,
                 wrong, at);
}

/* The operands of all forms have one order: D, A, B, metadata, instruction descriptor, scales of A
 * and B or lanes that are not written, the accumulate predicate, the scale of D or zero columns. */
void exec_tcgen05_mma(pl_warp *w, const pl_insn *i, int group, int kind, int ashift, int sparse,
                      int ws, int size)
{
    const bool scaled =
        kind == W_kind__mxf8f6f4 || kind == W_kind__mxf4 || kind == W_kind__mxf4nvf4;
    for (uint32_t m = w->exec; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        unsigned k = 0, addresses = 0;
        pl_tcgen05_op op = {.kind = kind_of(kind),
                            .blocks = group == W_cta_group__2 ? 2 : 1,
                            .ws = ws != W_none,
                            .sparse = sparse != W_none,
                            .shift_a = ashift != W_none,
                            .a_in_tmem = pl_forms[i->form].operand[1].kind == PL_K_ADDR,
                            .scales = scaled ? scales_of(kind, size) : 0};
        op.d = taddr(w, i, addresses++, k++, l);
        if (op.a_in_tmem)
            op.a = taddr(w, i, addresses++, k++, l);
        else
            op.a_desc = pl_row64(w, i->op[k++])[l];
        op.b_desc = pl_row64(w, i->op[k++])[l];
        if (op.sparse) op.meta = taddr(w, i, addresses++, k++, l);
        op.idesc = value32(w, i, k++, l);
        if (scaled) {
            op.scale_a = taddr(w, i, addresses++, k++, l);
            op.scale_b = taddr(w, i, addresses++, k++, l);
        } else if (!op.ws) {
            for (unsigned e = 0; i->op[k] != PL_NO_OPERAND && e < registers_of(i, k); e++)
                op.off[e] = pl_row32(w, pl_more(w, i, i->op[k] + e))[l];
            k++;
        }
        op.accumulate = pl_pred_read(w, i, k++) >> l & 1;
        if (op.ws && i->op[k] != PL_NO_OPERAND) op.zero_columns = pl_row64(w, i->op[k])[l];
        if (!op.ws && !scaled && i->op[k] != PL_NO_OPERAND) op.scale_d = (int)i->op[k];
        multiply(w, &op);
    }
}

/* ---- completion ---- */

/* All operations started by the thread have completed: an arrival at the object, or at that of each
 * block in the mask. */
void exec_tcgen05_commit(pl_warp *w, const pl_insn *i, int space, int multicast)
{
    uint64_t address[PL_LANES];
    pl_addresses(w, i, 0, i->sel[PL_M_FLAGS] & PL_MF_ADDR32, i->imm, address);
    w->wrote = w->async_started = true;
    for (uint32_t m = w->exec; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t at = address[l];
        const uint32_t ranks = multicast == W_multicast__cluster__32b ? UINT32_MAX : 0xffff;
        uint32_t mask = multicast != W_none ? value32(w, i, 1, l) & ranks : 1;
        if (space == W_none) at -= PL_SHARED_WINDOW;
        for (; mask; mask &= mask - 1) {
            const uint64_t to =
                multicast != W_none
                    ? at % PL_SHARED_SLICE + PL_SHARED_SLICE * (uint32_t)__builtin_ctz(mask)
                    : at;
            uint8_t *p =
                pl_access_write(w, l, PL_SP_SHARED, to, 8, 8, "mbarrier object of tcgen05.commit");
            const char *wrong = p ? pl_mbar_arrive(p, 1, false) : NULL;
            if (wrong) pl_fault(w, 1u << l, to, "CUDA_ERROR_LAUNCH_FAILED", "%s", wrong);
            if (!p || wrong) return;
        }
    }
}
