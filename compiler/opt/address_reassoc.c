/* address_reassoc.c - reassociation of addresses: global accesses at constant distances share one
 * base register.
 *
 * An unrolled loop adds its step to a pointer between the copies of its body, and each copy adds an
 * offset to the result: (p + 64) + x. ptxas 13.0 adds the constant last, (p + x) + 64, so that it
 * becomes the offset of the access and all copies share one sum (matrix products for sm_90,
 * 2026-11). This pass does so within a block, for sums that are used only as addresses. Constants
 * that do not fit the offset are added to the address. */
#include <string.h>

#include "compiler/passes.h"
#include "isa/program/operand_plan.h"

enum { MAX_OFFSET = 1 << 20 };

typedef struct address_reassoc {
    pl_ir *x;
    uint32_t *access_uses; /* by row: accesses of the current block that use it as an address */
    uint32_t *last_write;  /* by row: number of the last write, numbered over all blocks in order */
    uint32_t *base;        /* by register: one at a constant distance from it, PL_IR_NONE */
    int64_t *offset;       /* by row: that distance */
    struct {
        uint32_t *at;
        size_t n, cap;
    } sums; /* of the block, by position */
    uint32_t block, first,
        write_count; /* number of the first write in the block, of the next one */
} address_reassoc;

/* The operand that is the 64-bit address of a load or store, plus one; 0: none. */
static unsigned address_of(const pl_insn *i)
{
    if (i->form == PL_IR_DEAD || (pl_insn_mnem(i) != M_ld && pl_insn_mnem(i) != M_st) ||
        i->sel[PL_M_SPACE] != PL_SP_GLOBAL || (i->sel[PL_M_FLAGS] & PL_MF_ADDR32) ||
        i->imm < -MAX_OFFSET || i->imm >= MAX_OFFSET)
        return 0;
    return pl_insn_address(i);
}

/* For a 64-bit sum whose only uses are accesses of this block: the index of its first summand, else
 * 0. */
static unsigned sum_of(const address_reassoc *r, const pl_insn *i)
{
    const pl_ir *x = r->x;
    const uint16_t m = i->form == PL_IR_DEAD ? M_ret : pl_insn_mnem(i);
    if ((m != M_add && m != M_mad) || i->guard != PL_PT || !pl_insn_pure(i) ||
        pl_insn_has(i, W_cc) || x->regs[i->op[0]].ndefs != 1 || x->regs[i->op[0]].precolored ||
        !r->access_uses[i->op[0]] || r->access_uses[i->op[0]] != x->regs[i->op[0]].nuses)
        return 0;
    if (m == M_add) return pl_insn_is_integer(i, 64) ? 1 : 0;
    return pl_insn_has(i, W_wide) &&
                   pl_type_bits(pl_operand_type(&pl_forms[i->form], 3, i->mods)) == 64
               ? 3
               : 0;
}

static bool is_unchanged(const address_reassoc *r, uint32_t row, uint32_t since)
{
    return row == UINT32_MAX || row >= r->x->f->rows || r->x->regs[row].ndefs == 1 ||
           r->x->kind.at[row] != PL_REG_VIRTUAL ||
           (since >= r->first && r->last_write[row] < since);
}

/* If a summand is itself a sum with a constant, replaces it by the other summand of that sum and
 * returns the constant; otherwise returns 0. */
static int64_t split_offset(address_reassoc *r, pl_insn *i, unsigned k)
{
    const pl_ir *x = r->x;
    const uint32_t row = i->op[k];
    uint64_t n;
    if (row >= x->f->rows || x->kind.at[row] != PL_REG_VIRTUAL || x->regs[row].ndefs != 1 ||
        x->regs[row].def_block == PL_IR_NONE)
        return 0;
    const pl_insn *w = pl_ir_writer(x, row);
    if (w->form == PL_IR_DEAD || w->op[0] != row || pl_insn_mnem(w) != M_add || w->guard != PL_PT ||
        !pl_insn_is_integer(w, 64) || !pl_ir_constant_value(x, w->op[2], &n) ||
        (int64_t)n < -MAX_OFFSET || (int64_t)n >= MAX_OFFSET || w->op[1] >= x->f->rows ||
        x->kind.at[w->op[1]] != PL_REG_VIRTUAL || !is_unchanged(r, w->op[1], r->last_write[row]))
        return 0;
    i->op[k] = w->op[1];
    return (int64_t)n;
}

static bool is_same_sum(const address_reassoc *r, const pl_insn *a, const pl_insn *b)
{
    if (a->form != b->form || memcmp(a->mods, b->mods, sizeof a->mods) ||
        memcmp(a->sel, b->sel, sizeof a->sel) || a->imm != b->imm || a->neg != b->neg)
        return false;
    for (unsigned k = 1; k < pl_forms[a->form].noperands; k++)
        if (a->op[k] != b->op[k] || !is_unchanged(r, a->op[k], r->last_write[a->op[0]]))
            return false;
    return true;
}

static void sum_offsets(address_reassoc *r, uint32_t at)
{
    pl_ir_block *b = &r->x->blocks.at[r->block];
    pl_insn *i = &b->code.at[at];
    const unsigned first = sum_of(r, i);
    if (!first) return;
    int64_t displacement = 0;
    for (unsigned k = first; k < pl_forms[i->form].noperands; k++)
        displacement += split_offset(r, i, k);
    for (size_t k = r->sums.n; k-- > 0;) {
        const pl_insn *w = &b->code.at[r->sums.at[k]];
        if (!is_same_sum(r, w, i)) continue;
        r->base[i->op[0]] = w->op[0];
        r->offset[i->op[0]] = displacement;
        pl_ir_remove(r->x, i);
        return;
    }
    if (displacement) {
        r->base[i->op[0]] = i->op[0];
        r->offset[i->op[0]] = displacement;
    }
    *pl_push(r->x->tmp, &r->sums) = at;
}

static void note_write(address_reassoc *r, uint32_t *row, unsigned rows, unsigned use)
{
    for (unsigned k = 0; k < rows && !(use & PL_USE_PRED) && *row + k < r->x->f->rows; k++)
        r->last_write[*row + k] = r->write_count;
}

/* ---- out-of-range offsets ---- */

/* The part of an offset that does not fit 24 bits: a multiple of 2^24. */
static int64_t out_of_range_part(const pl_insn *i)
{
    enum { BITS = 24 };
    const bool access =
        i->form != PL_IR_DEAD && (pl_insn_mnem(i) == M_ld || pl_insn_mnem(i) == M_st ||
                                  pl_insn_mnem(i) == M_atom || pl_insn_mnem(i) == M_red);
    if (!access || (i->sel[PL_M_FLAGS] & PL_MF_ADDR32) ||
        (i->sel[PL_M_SPACE] != PL_SP_GLOBAL && i->sel[PL_M_SPACE] != PL_SP_GENERIC) ||
        !pl_insn_address(i) || i->op[pl_insn_address(i) - 1] == UINT32_MAX)
        return 0;
    return (int64_t)((uint64_t)(i->imm + ((int64_t)1 << (BITS - 1))) >> BITS << BITS);
}

static bool is_out_of_range(const pl_insn *i)
{
    return out_of_range_part(i) != 0;
}

/* Adds the nearest multiple of 2^24 to the address. pl_pass_gvn merges equal sums into one register
 * (ptxas 13.0 for sm_90, 2026-11). */
static bool rebase_access(pl_ir *x)
{
    if (!pl_ir_any(x, is_out_of_range)) return true;
    for (uint32_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            pl_insn *i = &x->blocks.at[b].code.at[k];
            const int64_t excess = out_of_range_part(i);
            if (!excess) continue;
            const uint32_t from = i->op[pl_insn_address(i) - 1], to = pl_ir_new(x, 2),
                           distance = pl_ir_constant(x, (uint64_t)excess, 64), line = i->line;
            i->imm -= excess;
            i->op[pl_insn_address(i) - 1] = to;
            pl_insn *sum = pl_ir_insert_deferred(x, b, k);
            if (!sum || !pl_insn_make(sum, M_add, 3, &(pl_word){W_s64}, 1)) return false;
            sum->op[0] = to;
            sum->op[1] = from;
            sum->op[2] = distance;
            sum->line = line;
        }
    return pl_ir_flush_inserts(x);
}

bool pl_pass_address_reassoc(pl_ir *x)
{
    enum { MAX_SUMS = 64 };
    if (!rebase_access(x) || !pl_ir_analyze(x)) return false;
    const size_t rows = x->f->rows + 4;
    address_reassoc r = {.x = x,
                         .access_uses = pl_arena_array(x->tmp, uint32_t, rows),
                         .last_write = pl_arena_array(x->tmp, uint32_t, rows),
                         .base = pl_arena_array(x->tmp, uint32_t, rows),
                         .offset = pl_arena_array(x->tmp, int64_t, rows),
                         .write_count = 1};
    if (!r.access_uses || !r.last_write || !r.base || !r.offset) return false;
    memset(r.base, 0xff, rows * sizeof *r.base);
    for (uint32_t j = 0; j < x->nrpo && pl_ir_ok(x); j++) {
        pl_ir_block *b = &x->blocks.at[r.block = x->rpo[j]];
        r.first = r.write_count;
        r.sums.n = 0;
        for (size_t k = 0; k < b->code.n; k++) {
            const unsigned address = address_of(&b->code.at[k]);
            if (address) r.access_uses[b->code.at[k].op[address - 1]]++;
        }
        for (size_t k = 0; k < b->code.n; k++) {
            pl_insn *i = &b->code.at[k];
            if (i->form == PL_IR_DEAD) continue;
            const unsigned address = address_of(i);
            const uint32_t from = address ? i->op[address - 1] : PL_IR_NONE;
            if (address && r.base[from] != PL_IR_NONE) {
                i->op[address - 1] = r.base[from];
                i->imm += r.offset[from];
            } else if (!address && r.sums.n < MAX_SUMS)
                sum_offsets(&r, (uint32_t)k);
            if (i->form != PL_IR_DEAD)
                PL_FOR_EACH_WRITE(x->p, i, o) note_write(&r, o.row, o.rows, o.use);
            r.write_count++;
        }
    }
    pl_ir_sweep(x);
    return pl_ir_ok(x);
}
