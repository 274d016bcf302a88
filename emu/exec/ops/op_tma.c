/* op_tma.c - the instructions of the tensor copy engine: loads, stores, reductions and prefetches
 * of tiles, one for each executing lane, and tensormap.replace.
 *
 * Faults are the H200's (driver 580.159.04, 2026-11, probe tma.faults). A misplaced tile, object or
 * map is a misaligned address. A map that is invalid or does not match the instruction is an
 * illegal instruction; a block outside of the cluster is a launch failure. Read next: tma_copy.c
 * (the copied bytes), pending.c (the time of the copy). */
#include <string.h>

#include "emu/exec/memory/address.h"
#include "emu/exec/async/async.h"
#include "emu/exec/tma/tma_operands.h"
#include "emu/exec/consistency/weak_memory.h"

enum { TILE_ALIGN = 128, MAP_ALIGN = 64 };

/* ---- checks ---- */

static bool illegal(pl_warp *w, unsigned lane, uint64_t address, const char *what, const char *why)
{
    pl_fault(w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "%s %s", what, why);
    return false;
}

static bool fetch_map(pl_warp *w, const pl_insn *i, const pl_tma_shape *s, unsigned lane,
                      pl_tma_copy *c)
{
    uint64_t address = pl_tma_address(w, i, s->map, lane), in;
    pl_space real;
    const uint8_t *p = pl_resolve(w, lane, PL_SP_GENERIC, address, PL_TENSORMAP_BYTES, &real, &in);
    if (p && (real == PL_SP_SHARED || real == PL_SP_LOCAL)) {
        pl_fault(
            w, 1u << lane, address, "CUDA_ERROR_ILLEGAL_ADDRESS",
            "a tensor map in shared or local memory; it must be a parameter, constant or global");
        return false;
    }
    if (!pl_access(w, lane, PL_SP_GENERIC, address, PL_TENSORMAP_BYTES, MAP_ALIGN, "tensor map"))
        return false;
    uint8_t observed[PL_TENSORMAP_BYTES];
    if (w->grid->weak) {
        pl_weak_read_map(w, p, observed);
        p = observed;
    }
    pl_tma_map(w, i, s, lane, p, &c->map);
    int n = pl_operand_count(&pl_forms[i->form], s->coord, i->mods);
    const char *wrong = pl_tensormap_error(&c->map);
    if (!wrong && s->base != PL_TMA_NONE && c->map.address % 16)
        return illegal(w, lane, c->map.address, "the address",
                       "that replaces the one of the tensor map is not a multiple of 16");
    if (wrong) return illegal(w, lane, address, "the tensor map", wrong);
    if ((int)c->map.rank != (s->rows4 ? 2 : n))
        return illegal(w, lane, address, "the tensor map", "has another rank than the instruction");
    if (s->im2col != (c->map.mode != PL_TENSOR_TILED))
        return illegal(w, lane, address, "the tensor map",
                       s->im2col ? "is tiled, the instruction im2col"
                                 : "is for im2col, the instruction tiled");
    if (s->rows4 && c->map.box[1] != 1)
        return illegal(w, lane, address, "the tensor map",
                       "needs boxes of one row for gather4 and scatter4");
    return true;
}

typedef struct access_check {
    const pl_memory *memory;
    const pl_alloc *last_alloc;
    bool write;
    /* The first piece that is not in an allocation, or must not be written: its bytes inside the
     * tensor. */
    uint64_t missing;
    uint32_t missing_bytes;
} access_check;

static bool is_accessible(void *ctx, const pl_tma_piece *p)
{
    access_check *r = ctx;
    if (!p->valid) return true;
    if (!r->last_alloc || p->address - r->last_alloc->address >= r->last_alloc->size)
        r->last_alloc = pl_memory_find(r->memory, p->address);
    if (r->last_alloc && !(r->write && (r->last_alloc->flags & PL_ALLOC_CONSTANT)) &&
        pl_alloc_holds(r->last_alloc, p->address, p->valid))
        return true;
    r->missing = p->address;
    r->missing_bytes = p->valid;
    return false;
}

/* Prepares the copy of a lane; false after a fault. */
static bool prepare(pl_warp *w, const pl_insn *i, const pl_tma_shape *s, unsigned lane,
                    pl_tma_copy *c)
{
    if (s->tile != PL_TMA_NONE) {
        uint64_t at = pl_tma_address(w, i, s->tile, lane);
        if (!pl_access(w, lane, PL_SP_SHARED, at, 1, 1, "tile of a tensor copy")) return false;
        if (at % TILE_ALIGN) {
            pl_access(w, lane, PL_SP_SHARED, at, TILE_ALIGN, TILE_ALIGN, "tile of a tensor copy");
            return false;
        }
    }
    if (!fetch_map(w, i, s, lane, c)) return false;
    const char *wrong = pl_tma_error(c);
    if (wrong) return illegal(w, lane, c->map.address, "tensor copy:", wrong);
    access_check r = {.memory = c->memory, .write = c->kind != PL_TMA_LOAD};
    if (!s->prefetch && !pl_tma_walk(c, is_accessible, &r)) {
        pl_bounds_fault(w, lane, PL_SP_GLOBAL, r.missing, r.missing_bytes, "tensor copy");
        return false;
    }
    return true;
}

/* ---- the copies ---- */

/* Starts the copy with the shared memory at `at`; complete_tx goes to the object at `bar`. */
static bool start_copy(pl_warp *w, unsigned lane, pl_tma_copy *c, uint64_t at, bool counted,
                       uint64_t bar)
{
    pl_async_op o = {.kind = PL_ASYNC_TENSOR,
                     .family = counted ? PL_ASYNC_MBAR : PL_ASYNC_BULK_GROUP,
                     .inspect = c->inspect,
                     .bytes = pl_tma_bytes(c)};
    uint8_t *p =
        pl_access(w, lane, PL_SP_SHARED, at, pl_tma_extent(c), TILE_ALIGN, "tile of a tensor copy");
    if (!p || (counted && !(o.bar = pl_access(w, lane, PL_SP_SHARED, bar, 8, 8,
                                              "mbarrier object of a tensor copy"))))
        return false;
    c->at = (uint32_t)(at % PL_SHARED_SLICE);
    c->tile = p;
    o.tensor = c;
    const char *wrong = pl_async_start(w, o);
    if (wrong) pl_fault(w, 1u << lane, at, "CUDA_ERROR_LAUNCH_FAILED", "%s", wrong);
    return !wrong;
}

static void run_copies(pl_warp *w, const pl_insn *i, int op)
{
    const pl_tma_shape s = pl_tma_shape_of(i);
    uint64_t address[PL_LANES] = {0};
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        pl_tma_copy c;
        pl_tma_operands(w, i, &s, l, &c);
        c.inspect = (uint8_t)pl_inspect_of(i);
        if (op) {
            c.kind = PL_TMA_REDUCE;
            c.op = op;
        }
        if (!prepare(w, i, &s, l, &c)) return;
        address[l] = c.map.address;
        if (s.prefetch) continue;
        bool counted = s.mbar != PL_TMA_NONE;
        uint64_t at = pl_tma_address(w, i, s.tile, l),
                 bar = counted ? pl_tma_address(w, i, s.mbar, l) : 0;
        if (s.mask == PL_TMA_NONE) {
            if (!start_copy(w, l, &c, at, counted, bar)) return;
            continue;
        }
        uint32_t size = w->cta->cluster ? w->cta->cluster->size : 1;
        for (uint32_t ranks = pl_row32(w, i->op[s.mask])[l] & s.ranks; ranks; ranks &= ranks - 1) {
            uint32_t r = (uint32_t)__builtin_ctz(ranks);
            if (r >= size) {
                pl_fault(w, 1u << l, at, "CUDA_ERROR_LAUNCH_FAILED",
                         "multicast to block %u of a cluster of %u", r, size);
                return;
            }
            /* for a pair of blocks, the object is in the even or the odd block, as given by the
             * operand */
            uint64_t slice = (uint64_t)r * PL_SHARED_SLICE;
            uint64_t other =
                s.pair ? ((r & ~1u) | (bar / PL_SHARED_SLICE & 1u)) * PL_SHARED_SLICE : slice;
            if (!start_copy(w, l, &c, at % PL_SHARED_SLICE + slice, counted,
                            bar % PL_SHARED_SLICE + other))
                return;
        }
    }
    pl_record_effect(w, PL_SP_GLOBAL, s.prefetch ? PL_AC_PREFETCH : PL_AC_ASYNC, 16, w->exec,
                     address, i->sel[PL_M_FLAGS]);
}

/* Loads, stores and prefetches, tiled or im2col, of boxes or of four rows. */
void exec_tma(pl_warp *w, const pl_insn *i)
{
    run_copies(w, i, 0);
}

void exec_tma_reduce(pl_warp *w, const pl_insn *i, int op)
{
    run_copies(w, i, op);
}

/* ---- tensor maps ---- */

static uint8_t *map_to_change(pl_warp *w, const pl_insn *i, unsigned lane)
{
    pl_space space = i->sel[PL_M_SPACE] ? (pl_space)i->sel[PL_M_SPACE] : PL_SP_GENERIC;
    return pl_access(w, lane, space, pl_tma_address(w, i, 0, lane), PL_TENSORMAP_BYTES, MAP_ALIGN,
                     "tensormap.replace");
}

/* A field with a value in a register, optionally preceded by the index of a dimension. */
void exec_tensormap_replace(pl_warp *w, const pl_insn *i, int field)
{
    pl_tensor_field f = field == W_global_address  ? PL_TF_ADDRESS
                        : field == W_rank          ? PL_TF_RANK
                        : field == W_box_dim       ? PL_TF_BOX_DIM
                        : field == W_global_dim    ? PL_TF_GLOBAL_DIM
                        : field == W_global_stride ? PL_TF_GLOBAL_STRIDE
                                                   : PL_TF_ELEMENT_STRIDE;
    bool counted = f != PL_TF_ADDRESS && f != PL_TF_RANK,
         wide = f == PL_TF_ADDRESS || f == PL_TF_GLOBAL_STRIDE;
    unsigned operand = counted ? 2 : 1;
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint8_t *p = map_to_change(w, i, l);
        if (!p) return;
        uint64_t value = wide ? pl_row64(w, i->op[operand])[l] : pl_row32(w, i->op[operand])[l];
        pl_tensormap_replace(p, f, counted ? i->op[1] : 0, value);
    }
}

/* A field with a constant value. */
void exec_tensormap_replace_imm(pl_warp *w, const pl_insn *i, int field)
{
    pl_tensor_field f = field == W_elemtype            ? PL_TF_TYPE
                        : field == W_interleave_layout ? PL_TF_INTERLEAVE
                        : field == W_swizzle_mode      ? PL_TF_SWIZZLE
                        : field == W_fill_mode         ? PL_TF_FILL
                                                       : PL_TF_ATOMICITY;
    for (uint32_t m = w->exec; m; m &= m - 1) {
        uint8_t *p = map_to_change(w, i, (unsigned)__builtin_ctz(m));
        if (!p) return;
        pl_tensormap_replace(p, f, 0, i->op[1]);
    }
}

/* Copies a modified map from shared to global memory and makes it visible to the copy engine; once
 * per warp. */
void exec_tensormap_cp_fence(pl_warp *w, const pl_insn *i)
{
    if (!pl_warp_sync(w, UINT32_MAX)) return;
    uint64_t address[PL_LANES] = {0};
    unsigned l = (unsigned)__builtin_ctz(w->exec);
    uint8_t *to =
        pl_access(w, l, PL_SP_GENERIC, address[l] = pl_tma_address(w, i, 0, l), PL_TENSORMAP_BYTES,
                  PL_TENSORMAP_BYTES, "destination of tensormap.cp_fenceproxy");
    const uint8_t *from =
        to ? pl_access(w, l, PL_SP_SHARED, pl_tma_address(w, i, 1, l), PL_TENSORMAP_BYTES,
                       PL_TENSORMAP_BYTES, "source of tensormap.cp_fenceproxy")
           : NULL;
    if (from) memcpy(to, from, PL_TENSORMAP_BYTES);
    pl_record_effect(w, PL_SP_GLOBAL, PL_AC_STORE, 16, 1u << l, address, 0);
}
