/* op_warp.c - shfl, vote, match, redux, elect, activemask: instructions that exchange data between
 * lanes.
 *
 * The _sync forms name the participating lanes. Divergent lanes of the mask are waited for
 * (pl_warp_sync): each of them will reach this instruction, and the last one lets all continue
 * together. Lanes that have called the function of the instruction separately hold their registers
 * in different frames; for this one instruction they are moved to one frame. */
#include "emu/exec/memory/address.h"
#include "isa/program/operand_plan.h"

/* Member mask operand k, of the first lane. */
static uint32_t member_mask(const pl_warp *w, const pl_insn *i, unsigned k)
{
    return pl_row32(w, i->op[k])[__builtin_ctz(w->exec)];
}

/* Two frames of one function, and the lanes whose values are exchanged. */
typedef struct exchange {
    uint32_t *rows[2], *preds[2], lanes;
    uint64_t seen[PL_INLINE_OPERANDS + 1]; /* one register may be used by two operands */
    unsigned n;
} exchange;

static void swap_row(exchange *x, uint32_t *row, unsigned rows, unsigned use)
{
    const uint64_t which = (uint64_t)(use & PL_USE_PRED) << 32 | *row;
    for (unsigned k = 0; k < x->n; k++)
        if (x->seen[k] == which) return;
    if (*row == PL_NO_OPERAND) return;
    x->seen[x->n++] = which;
    if (use & PL_USE_PRED) {
        uint32_t *a = &x->preds[0][*row], *b = &x->preds[1][*row], differ = (*a ^ *b) & x->lanes;
        *a ^= differ;
        *b ^= differ;
        return;
    }
    /* a pair of rows holds the 64 bits of each lane contiguously */
    uint32_t *a = x->rows[0] + (size_t)*row * PL_LANES, *b = x->rows[1] + (size_t)*row * PL_LANES;
    for (unsigned k = 0; k < rows * PL_LANES; k++) {
        uint32_t differ = x->lanes >> k / rows & 1 ? a[k] ^ b[k] : 0;
        a[k] ^= differ;
        b[k] ^= differ;
    }
}

/* True if split k has arrived at the same instruction with the same mask through another call. */
static bool is_from_other_call(const pl_warp *w, unsigned k)
{
    const pl_simt_split *s = &w->split[w->current], *o = &w->split[k];
    return k != w->current && o->synced && o->sync_mask == s->sync_mask && o->pc == w->pc &&
           o->call != s->call && w->call[o->call].func == w->call[s->call].func;
}

/* Moves the instruction's registers of lanes that have reached it through other calls to the frame
 * of the split that executes it for all, or back. */
static uint32_t exchange_registers(pl_warp *w, const pl_insn *i)
{
    uint32_t lanes = 0;
    for (unsigned k = 0; k < w->nsplits; k++)
        if (is_from_other_call(w, k)) {
            pl_program none = {0};
            pl_insn copy = *i; /* the walk takes a mutable instruction, although nothing changes */
            exchange x = {.rows = {w->regs, pl_warp_frame(w, &w->split[k])},
                          .preds = {w->pred, pl_warp_preds(w, &w->split[k])},
                          .lanes = pl_of_half(w, w->split[k].mask)};
            PL_FOR_EACH_USE(&none, &copy, o) swap_row(&x, o.row, o.rows, o.use);
            lanes |= x.lanes;
        }
    return lanes;
}

/* All lanes of the mask have arrived. Those of other calls execute the instruction here, and
 * continue after it. */
static bool execute_for_all(pl_warp *w, const pl_insn *i, uint32_t mask)
{
    const uint32_t own_lanes = w->exec;
    /* In a wide warp each call only executes with its own lanes. */
    if (w->halves > 1 || !(mask & ~own_lanes)) return true;
    const uint32_t exchanged = exchange_registers(w, i);
    if (!exchanged) return true;
    pl_warp_set_exec_mask(w, own_lanes | exchanged);
    w->split[w->current].synced = false;
    i->exec(w, i);
    pl_warp_set_exec_mask(w, own_lanes);
    exchange_registers(w, i);
    for (unsigned k = 0; k < w->nsplits; k++)
        if (is_from_other_call(w, k)) {
            w->split[k].synced = false;
            w->split[k].pc++;
        }
    return false;
}

/* Waits until all lanes of the mask are present. Returns true if they are; then the instruction
 * executes. */
static bool gather(pl_warp *w, const pl_insn *i, uint32_t mask)
{
    pl_warp_note_undefined(w, mask);
    mask &= pl_alive(w);
    if (mask & ~w->exec) return pl_warp_sync(w, mask) && execute_for_all(w, i, mask);
    w->split[w->current].synced = false;
    return true;
}

/* Computes the source lane of each lane, and the set of lanes whose source is inside their segment.
 * MODE is a constant in each copy, and the loop has no branches, so that it can be vectorised. */
__attribute__((always_inline)) static inline uint32_t
sources(int mode, const uint32_t *b, const uint32_t *c, uint32_t from[PL_LANES])
{
    uint32_t inside = 0;
    for (uint32_t l = 0; l < PL_LANES; l++) {
        uint32_t n = b[l] & 31u, clamp = c[l] & 31u, seg = (c[l] >> 8) & 31u;
        uint32_t max = (l & seg) | (clamp & ~seg), min = l & seg;
        uint32_t j = mode == W_up     ? l - n
                     : mode == W_down ? l + n
                     : mode == W_bfly ? l ^ n
                                      : min | (n & ~seg);
        uint32_t in = mode == W_up ? -(uint32_t)((int32_t)j >= (int32_t)max)
                                   : -(uint32_t)((int32_t)j <= (int32_t)max);
        from[l] = ((j & in) | (l & ~in)) & 31u;
        inside |= 1u << l & in;
    }
    return inside;
}

/* In a wide warp, a lane number, distance or clamp of 32 and more refers to the other half in code
 * for 64 lanes, and is taken modulo 32 in code for 32 lanes (PTX). No result is correct for both.
 */
static bool names_other_half(pl_warp *w, const pl_insn *i)
{
    const uint32_t *b = pl_row32(w, i->op[3]), *c = pl_row32(w, i->op[4]);
    for (uint32_t m = w->halves > 1 ? w->exec : 0; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        const uint32_t clamp = c[l] & 0xff; /* above it is the mask of segments */
        const bool lane = b[l] >= PL_LANES;
        if (!lane && clamp < PL_LANES) continue;
        pl_fault(w, 1u << l, 0, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
                 "shfl with %s %u: in a warp of 64 lanes shuffles work in each half of 32, so that "
                 "it must be below 32",
                 lane ? "lane operand" : "clamp", lane ? b[l] : clamp);
        return true;
    }
    return false;
}

void exec_shfl(pl_warp *w, const pl_insn *i, int mode)
{
    const pl_form *f = &pl_forms[i->form];
    if (names_other_half(w, i)) return;
    if (f->noperands == 6 &&
        (pl_warp_split_by_mask(w, i, 5) || !gather(w, i, member_mask(w, i, 5))))
        return;
    const uint32_t *a = pl_row32(w, i->op[2]), *b = pl_row32(w, i->op[3]),
                   *c = pl_row32(w, i->op[4]);
    uint32_t v[PL_LANES], from[PL_LANES], p;
    switch (mode) {
    case W_up: p = sources(W_up, b, c, from); break;
    case W_down: p = sources(W_down, b, c, from); break;
    case W_bfly: p = sources(W_bfly, b, c, from); break;
    default: p = sources(W_idx, b, c, from); break;
    }
    for (unsigned l = 0; l < PL_LANES; l++) v[l] = a[from[l]];
    if (i->op[0] != PL_NO_OPERAND) pl_blend32(w, pl_row32(w, i->op[0]), v);
    pl_pred_write(w, i->op[1], p);
}

static void put_all(pl_warp *w, uint32_t row, uint32_t value)
{
    uint32_t v[PL_LANES];
    for (unsigned l = 0; l < PL_LANES; l++) v[l] = value;
    if (row != PL_NO_OPERAND) pl_blend32(w, pl_row32(w, row), v);
}

/* A vote without a mask includes all lanes of the warp, but a wide warp executes by halves. */
static bool votes_across_halves(pl_warp *w)
{
    if (w->halves <= 1) return false;
    pl_fault(w, w->exec, 0, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
             "vote without .sync: a warp of 64 lanes votes in halves of 32, so that the lanes of "
             "each are named: vote.sync");
    return true;
}

void exec_vote(pl_warp *w, const pl_insn *i, int mode)
{
    /* Without a mask the active lanes vote. */
    const bool sync = pl_forms[i->form].noperands == 3;
    uint32_t mask = sync ? member_mask(w, i, 2) : w->exec;
    if (sync ? pl_warp_split_by_mask(w, i, 2) || !gather(w, i, mask) : votes_across_halves(w))
        return;
    uint32_t in = mask & w->exec, p = pl_pred_read(w, i, 1) & in;
    if (mode == W_ballot) {
        put_all(w, i->op[0], p);
        return;
    }
    bool r = mode == W_all ? p == in : mode == W_any ? p != 0 : p == in || p == 0;
    pl_pred_write(w, i->op[0], r ? UINT32_MAX : 0);
}

void exec_match(pl_warp *w, const pl_insn *i, int mode, int type)
{
    const pl_form *f = &pl_forms[i->form];
    unsigned k = f->noperands - 2u;
    uint32_t mask = member_mask(w, i, k + 1);
    if (pl_warp_split_by_mask(w, i, k + 1) || !gather(w, i, mask)) return;
    uint32_t in = mask & w->exec, v[PL_LANES] = {0};
    uint64_t x[PL_LANES];
    for (unsigned l = 0; l < PL_LANES; l++)
        x[l] = type == W_b64 ? pl_row64(w, i->op[k])[l] : pl_row32(w, i->op[k])[l];
    bool all = true;
    unsigned first = (unsigned)__builtin_ctz(w->exec);
    for (unsigned l = 0; l < PL_LANES; l++) {
        if (!((in >> l) & 1u)) continue;
        all &= x[l] == x[first];
        for (unsigned j = 0; j < PL_LANES; j++)
            v[l] |= (uint32_t)(((in >> j) & 1u) && x[j] == x[l]) << j;
    }
    if (mode == W_any) {
        unsigned n = 0;
        for (uint32_t left = in; left; left &= ~v[__builtin_ctz(left)]) n++;
        if (n > w->match_values) w->match_values = (uint8_t)n;
        pl_blend32(w, pl_row32(w, i->op[0]), v);
        return;
    }
    put_all(w, i->op[0], all ? in : 0);
    pl_pred_write(w, i->op[1], all ? UINT32_MAX : 0);
}

void exec_activemask(pl_warp *w, const pl_insn *i)
{
    put_all(w, i->op[0], w->exec);
}

void exec_redux(pl_warp *w, const pl_insn *i, int op, int type)
{
    uint32_t mask = member_mask(w, i, 2);
    if (pl_warp_split_by_mask(w, i, 2) || !gather(w, i, mask)) return;
    const uint32_t *a = pl_row32(w, i->op[1]);
    uint32_t in = mask & w->exec, r = a[__builtin_ctz(in ? in : w->exec)];
    for (uint32_t m = in & (in - 1); m; m &= m - 1) {
        uint32_t x = a[__builtin_ctz(m)];
        bool less = type == W_s32 ? (int32_t)x < (int32_t)r : x < r;
        switch (op) {
        case W_add: r += x; break;
        case W_min: r = less ? x : r; break;
        case W_max: r = less ? r : x; break;
        case W_and: r &= x; break;
        case W_or: r |= x; break;
        default: r ^= x; break;
        }
    }
    put_all(w, i->op[0], r);
}

/* redux.sync on f32 (sm_100a): by the manual, not recorded on hardware. */
void exec_redux_f32(pl_warp *w, const pl_insn *i, int op, int abs, int nan)
{
    uint32_t mask = member_mask(w, i, 2);
    if (pl_warp_split_by_mask(w, i, 2) || !gather(w, i, mask)) return;
    const uint32_t *a = pl_row32(w, i->op[1]);
    uint32_t in = mask & w->exec, sign = abs ? PL_F32_MAG : UINT32_MAX,
             r = a[__builtin_ctz(in ? in : w->exec)] & sign;
    for (uint32_t m = in & (in - 1); m; m &= m - 1) {
        uint32_t x = a[__builtin_ctz(m)] & sign;
        r = op == W_min ? f32_min(r, x, false, nan != 0, false)
                        : f32_max(r, x, false, nan != 0, false);
    }
    put_all(w, i->op[0], r);
}

/* The elected lane is the lowest of the mask (H200, driver 580.159.04, 2026-11). */
void exec_elect(pl_warp *w, const pl_insn *i)
{
    uint32_t mask = member_mask(w, i, 2);
    if (pl_warp_split_by_mask(w, i, 2) || !gather(w, i, mask)) return;
    uint32_t in = mask & w->exec, lane = (uint32_t)__builtin_ctz(in ? in : w->exec);
    put_all(w, i->op[0], lane);
    pl_pred_write(w, i->op[1], 1u << lane);
}
