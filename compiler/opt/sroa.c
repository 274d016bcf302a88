/* sroa.c - scalar replacement of aggregates (SROA): promotes small arrays in local memory to
 * registers.
 *
 * ptxas 13.0 splits the local variables of a function if all accesses to them have 32-bit words and
 * their addresses do not escape. An access at a known address becomes a copy; one at a computed
 * address compares it with each address that it may have:
 *
 *     ld.local.u32 v, [a + 4 i]     ->   setp p0, 4 i == 0;  setp p1, 4 i == 4;  ...
 *                                        @p0 mov v, a0;  @p1 mov v, a1;  ...
 *     st.local.u32 [a + 4 i], v     ->   the same compares;  @p0 mov a0, v;  @p1 mov a1, v;  ...
 *
 * It does so if that costs at most sroa.max_percent of the cost of the function. An instruction
 * counts times 16 for each loop around it. The cost of an access is the number of its candidate
 * addresses: those in the array that its offset may reach, given its known divisor. This holds also
 * for an address that is known elsewhere, if it is one of several that a pointer may hold. At least
 * one access must compute its address from the array's start in its own block, and the words must
 * fit the registers in addition to the live values.
 *
 * Measured with some 800 kernels made for it (-O3, sm_90, 2026-11). The cost limit is exact to one
 * or two addresses, in loops and outside, whatever code surrounds the accesses, if all else is
 * counted as ptxas does. With the costs used here, 0.99 separates those of 130 kernels better. The
 * limit on live registers is a fit. */
#include <string.h>

#include "compiler/analysis/liveness.h"
#include "compiler/passes.h"
#include "compiler/tuning.h"
#include "isa/program/operand_plan.h"

/* Limits of the pass: bytes of the variables, divisors that are distinguished, loop depth that
 * counts; bytes of a word; words of an access. */
enum { MAX_BYTES = 4096, MAX_MULTIPLE = 1 << 12, MAX_DEPTH = 6, WORD = 4, MAX_WORDS = 4 };

/* Registers, the words included, that may be live at the end of a block: more if the cost of the
 * function is at most sroa.small_function. */

/* An address in the frame: `known` bytes from its start, plus a variable offset that is divisible
 * by `multiple`. */
typedef struct frame_address {
    bool in_frame;     /* it is a frame address */
    bool has_offset;   /* it has an offset */
    bool offset_ready; /* `row` has been computed */
    bool is_phi_like;  /* it is one of several that a pointer may hold */
    int64_t known;
    uint32_t multiple; /* 0: not known yet, divisible by everything */
    uint32_t row;      /* 32-bit register that holds the offset */
} frame_address;

typedef struct sroa {
    pl_ir *x;
    int64_t bytes;     /* size of the variables, at the start of the frame */
    frame_address *at; /* by row, for the rows that existed at the start */
    uint32_t rows;
    uint32_t *low;             /* by row of 64-bit values: row of the lower half, plus one */
    struct frame_word *word;   /* by word of the variables */
    uint32_t reads;            /* number of frame addresses that the instruction reads */
    bool has_constant_access;  /* some access is at a known address */
    uint32_t common_dominator; /* block that dominates all accesses */
    bool counting_stores;      /* note_access_words: stores first, then loads */
} sroa;

static bool is_integer64(const pl_insn *i)
{
    return pl_insn_is_integer(i, 64) && !pl_insn_has(i, W_cc);
}

static bool is_frame_address(const sroa *a, uint32_t row)
{
    return row < a->rows && a->at[row].in_frame;
}

/* For an address plus or minus an operand, or a copy of an address: the operand that is the
 * address; 0: neither. *by is the other operand, UINT32_MAX: none. */
static unsigned derived_operand(const sroa *a, const pl_insn *i, uint32_t *by)
{
    const uint16_t m = pl_insn_mnem(i);
    *by = UINT32_MAX;
    if (pl_insn_is_copy(i) && pl_type_bits(pl_insn_type(i)) == 64)
        return is_frame_address(a, i->op[1]) ? 1 : 0;
    if ((m != M_add && m != M_sub) || pl_forms[i->form].noperands != 3 || !is_integer64(i))
        return 0;
    const bool first = is_frame_address(a, i->op[1]), second = is_frame_address(a, i->op[2]);
    if (first == second || (second && m == M_sub)) return 0;
    *by = i->op[first ? 2 : 1];
    uint64_t bits;
    if (m == M_sub && !pl_ir_constant_value(a->x, *by, &bits)) return 0;
    return first ? 1 : 2;
}

/* For an access of whole words to local memory: its address operand, plus one; otherwise 0. */
static unsigned access_of(const sroa *a, const pl_insn *i)
{
    const bool load = pl_insn_mnem(i) == M_ld, store = pl_insn_mnem(i) == M_st;
    if (i->form == PL_IR_DEAD || (!load && !store) || !(i->flags & PL_IF_MEM) ||
        i->sel[PL_M_SPACE] != PL_SP_LOCAL || (i->sel[PL_M_FLAGS] & (PL_MF_POLL | PL_MF_ADDR32)) ||
        (i->flags & PL_IF_CONTROL) || i->sel[PL_M_LOG2] != 2 || i->sel[PL_M_COUNT] > MAX_WORDS ||
        (pl_forms[i->form].noperands > 2 && i->op[2] != UINT32_MAX) ||
        (pl_insn_effects(i) != PL_EF_LOAD && pl_insn_effects(i) != PL_EF_STORE))
        return 0;
    const unsigned address = load ? 2 : 1;
    return is_frame_address(a, i->op[address - 1]) ? address : 0;
}

/* True for an access at a known address outside of the variables: formal parameters and call
 * arguments are placed after them. */
static bool is_outside_variables(const sroa *a, const pl_insn *i)
{
    const unsigned address =
        i->form != PL_IR_DEAD && (i->flags & PL_IF_MEM) && i->sel[PL_M_SPACE] == PL_SP_LOCAL
            ? pl_insn_address(i)
            : 0;
    if (!address || !is_frame_address(a, i->op[address - 1])) return false;
    const frame_address *p = &a->at[i->op[address - 1]];
    return !p->has_offset && p->known + i->imm >= a->bytes;
}

/* ---- analysis of addresses ---- */

static uint32_t power_of_two_divisor(uint64_t n)
{
    const uint64_t p = n & (~n + 1);
    return p && p < MAX_MULTIPLE ? (uint32_t)p : MAX_MULTIPLE;
}

static uint32_t min_multiple(uint32_t p, uint32_t q)
{
    return !p || (q && q < p) ? q : p;
}

/* The instruction that computes a value: the only, unpredicated write of the row; else NULL. */
static const pl_insn *single_def(const pl_ir *x, uint32_t row)
{
    if (row >= x->nregs_described || x->kind.at[row] != PL_REG_VIRTUAL || x->regs[row].ndefs != 1 ||
        x->regs[row].precolored)
        return NULL;
    const pl_insn *i = pl_ir_writer(x, row);
    return i && i->guard == PL_PT && i->op[0] == row ? i : NULL;
}

/* mul.wide of 32 bits, or shl.b64, by a constant */
static bool is_scaled(const pl_ir *x, const pl_insn *i, uint64_t *by)
{
    uint64_t n;
    if (!i || pl_forms[i->form].noperands != 3 || !pl_ir_constant_value(x, i->op[2], &n))
        return false;
    const bool shift = pl_insn_mnem(i) == M_shl && pl_type_bits(pl_insn_type(i)) == 64;
    *by = shift ? n < 64 ? UINT64_C(1) << n : 0 : n;
    return shift || (pl_insn_mnem(i) == M_mul && pl_insn_has(i, W_wide) &&
                     pl_type_bits(pl_insn_type(i)) == 32);
}

static uint32_t multiple_of(const pl_ir *x, uint32_t row)
{
    uint64_t n;
    if (pl_ir_constant_value(x, row, &n)) return power_of_two_divisor(n);
    return is_scaled(x, single_def(x, row), &n) ? power_of_two_divisor(n) : 1;
}

/* Propagates addresses through copies and sums. The caller repeats this until nothing changes,
 * since a chain of copies may require several walks. False: an address is written to a register of
 * the function's interface, or to one that is not 64 bits wide. */
static bool propagate_addresses(sroa *a, bool *changed)
{
    pl_ir *x = a->x;
    for (uint32_t n = 0; n < x->nrpo; n++) {
        const pl_ir_block *b = &x->blocks.at[x->rpo[n]];
        for (size_t k = 0; k < b->code.n; k++) {
            const pl_insn *i = &b->code.at[k];
            uint32_t by;
            const unsigned from = i->form == PL_IR_DEAD ? 0 : derived_operand(a, i, &by);
            if (!from) continue;
            const uint32_t d = i->op[0];
            if (x->regs[d].precolored || x->regs[d].width != 2) return false;
            const frame_address *p = &a->at[i->op[from]];
            frame_address to = {.in_frame = true,
                                .has_offset = p->has_offset,
                                .known = p->known,
                                .multiple = p->multiple,
                                .is_phi_like = a->at[d].is_phi_like};
            uint64_t number;
            if (by != UINT32_MAX && pl_ir_constant_value(x, by, &number))
                to.known += pl_insn_mnem(i) == M_sub ? -(int64_t)number : (int64_t)number;
            else if (by != UINT32_MAX) {
                to.multiple = to.has_offset ? min_multiple(p->multiple, multiple_of(x, by))
                                            : multiple_of(x, by);
                to.has_offset = true;
            }
            /* a pointer with several writes: its whole value is in the offset register */
            if (x->regs[d].ndefs != 1 || i->guard != PL_PT) {
                to.multiple = min_multiple(min_multiple(to.has_offset ? to.multiple : 0,
                                                        power_of_two_divisor((uint64_t)to.known)),
                                           a->at[d].multiple);
                to.has_offset = true;
                to.known = 0;
                a->at[i->op[from]].is_phi_like = true;
            }
            frame_address *q = &a->at[d];
            if (q->in_frame == to.in_frame && q->has_offset == to.has_offset &&
                q->known == to.known && q->multiple == to.multiple)
                continue;
            *q = to;
            *changed = true;
        }
    }
    return true;
}

/* True if variables' addresses do not escape: each use derives another address or accesses whole
 * words, and each write of a row that holds an address is an address. */
static bool never_escapes(sroa *a)
{
    pl_ir *x = a->x;
    uint32_t *writes = pl_arena_array(x->tmp, uint32_t, x->f->rows);
    if (!writes) return false;
    for (uint32_t n = 0; n < x->nrpo; n++) {
        const pl_ir_block *b = &x->blocks.at[x->rpo[n]];
        for (size_t k = 0; k < b->code.n; k++) {
            pl_insn *i = &b->code.at[k];
            if (i->form == PL_IR_DEAD) continue;
            uint32_t by;
            a->reads = 0;
            PL_FOR_EACH_READ(x->p, i, o)
                for (unsigned r = 0; r < o.rows && !(o.use & PL_USE_PRED); r++)
                    a->reads += is_frame_address(a, *o.row + r);
            const bool derived = derived_operand(a, i, &by) != 0;
            if (derived) writes[i->op[0]]++;
            if (a->reads &&
                !(a->reads == 1 && (derived || access_of(a, i) || is_outside_variables(a, i))))
                return false;
        }
    }
    for (uint32_t r = 0; r < x->nregs_described; r++)
        if (a->at[r].in_frame && x->kind.at[r] == PL_REG_VIRTUAL && writes[r] != x->regs[r].ndefs)
            return false;
    return true;
}

/* ---- cost ---- */

/* The candidate addresses of an access in the variables: the first one, their distance, and their
 * number. */
typedef struct index_range {
    int64_t first, step;
    uint32_t n;
} index_range;

static index_range index_range_of(const sroa *a, const pl_insn *i, unsigned address)
{
    const frame_address *p = &a->at[i->op[address - 1]];
    const int64_t at = p->known + i->imm, size = WORD * i->sel[PL_M_COUNT];
    index_range r = {at, p->multiple > size ? p->multiple : size, 0};
    if (!p->has_offset) {
        r.n = at >= 0 && at % WORD == 0 && at + size <= a->bytes;
        return r;
    }
    r.first = ((at % r.step) + r.step) % r.step;
    while (r.first % size && r.first < a->bytes) /* only addresses aligned to the access */
        r.first += p->multiple;
    if (r.first + size <= a->bytes) r.n = (uint32_t)((a->bytes - size - r.first) / r.step) + 1;
    return r;
}

/* True if the product is an operand of a sum. */
static bool feeds_sum(const pl_ir *x, const pl_insn *i)
{
    uint64_t by;
    return is_scaled(x, i, &by) && x->regs[i->op[0]].nuses == 1;
}

/* The cost of an instruction. counted: by subroutine, true once its cost has been added to
 * *shared_cost. */
static uint32_t cost_of(const pl_ir *x, const pl_insn *i, bool *counted, double *shared_cost)
{
    if (i->form == PL_IR_DEAD || pl_insn_is_free_copy(i) || i->latency_class == C_mov ||
        feeds_sum(x, i))
        return 0;
    if (i->flags & PL_IF_MEM)
        return 1u + (i->imm != 0 && i->sel[PL_M_SPACE] != PL_SP_PARAM &&
                     i->sel[PL_M_SPACE] != PL_SP_CONST);
    const pl_class_info *c = &pl_classes[i->latency_class];
    uint32_t n = c->sroa_cost;
    *shared_cost += counted[c->routine] ? 0 : c->routine_cost;
    counted[c->routine] = true;
    const bool wide = pl_type_bits(pl_insn_type(i)) == 64;
    if ((pl_insn_mnem(i) == M_shl || pl_insn_mnem(i) == M_shr) && wide) n = 2;
    const bool joins = pl_insn_pure(i) && i->op[0] < x->nregs_described && i->guard == PL_PT &&
                       pl_insn_type(i) != W_none && x->regs[i->op[0]].ndefs > 1;
    return n + joins; /* a copy at each join */
}

/* True if the address of an access is evidently constant at the access: ptxas decides before it
 * propagates constants across blocks. */
static bool is_visible_constant(const sroa *a, uint32_t row, uint32_t block)
{
    const pl_ir *x = a->x;
    return x->kind.at[row] == PL_REG_PRESET ? !a->at[row].known : x->regs[row].def_block == block;
}

/* True if registers suffice for all words plus the values that are live across blocks. */
static bool fits_registers(sroa *a, uint32_t registers)
{
    pl_ir *x = a->x;
    pl_liveness *f = pl_arena_new(x->tmp, pl_liveness);
    if (!f || !pl_liveness_values(f, x, false) || !pl_liveness_solve(f)) return false;
    uint32_t max = 0;
    for (uint32_t n = 0; n < x->nrpo; n++) {
        pl_liveness_go_to_end(f, x->rpo[n]);
        max = f->reg_pressure > max ? f->reg_pressure : max;
    }
    return max + a->bytes / WORD <= registers;
}

/* True if promoting the arrays to registers is profitable. */
static bool is_profitable(sroa *a)
{
    const pl_ir *x = a->x;
    double current_cost = 0, promoted_cost = 0;
    bool counted[C_count + 1] = {false};
    for (uint32_t n = 0; n < x->nrpo; n++) {
        const pl_ir_block *b = &x->blocks.at[x->rpo[n]];
        double weight = 1;
        for (uint32_t d = 0; d < b->loop_depth && d < MAX_DEPTH; d++)
            weight *= a->x->p->tuning->sroa.loop_weight;
        for (size_t k = 0; k < b->code.n; k++) {
            const pl_insn *i = &b->code.at[k];
            current_cost += weight * cost_of(x, i, counted, &current_cost);
            const unsigned address = access_of(a, i);
            if (!address || is_outside_variables(a, i)) continue;
            const index_range r = index_range_of(a, i, address);
            if (!r.n) return false; /* out of bounds: the access is kept, and faults */
            const frame_address *p = &a->at[i->op[address - 1]];
            const bool is_constant =
                           !p->has_offset && is_visible_constant(a, i->op[address - 1], x->rpo[n]),
                       known = is_constant || (!p->has_offset && !p->is_phi_like);
            a->has_constant_access |= is_constant;
            promoted_cost +=
                known ? 0
                      : weight *
                            (p->has_offset ? r.n : (double)a->bytes / (WORD * i->sel[PL_M_COUNT]));
        }
    }
    return a->has_constant_access &&
           promoted_cost * 100 <= current_cost * a->x->p->tuning->sroa.max_percent &&
           fits_registers(a, current_cost > a->x->p->tuning->sroa.small_function
                                 ? a->x->p->tuning->sroa.max_live
                                 : a->x->p->tuning->sroa.max_live_small);
}

/* ---- offsets in registers ---- */

/* A position before which instructions are inserted, and their source line. */
typedef struct insert_point {
    uint32_t block;
    size_t at;
    uint32_t line;
} insert_point;

/* The point after the only write of a register. */
static insert_point after_definition(const pl_ir *x, uint32_t row)
{
    return (insert_point){x->regs[row].def_block, x->regs[row].def_index + 1,
                          pl_ir_writer(x, row)->line};
}

static pl_insn *insert_insn(sroa *a, insert_point at, uint16_t mnem, unsigned noperands,
                            const pl_word *words, unsigned n)
{
    pl_insn *i = pl_ir_insert_deferred(a->x, at.block, at.at);
    if (!i || !pl_insn_make(i, mnem, noperands, words, n)) return NULL;
    i->line = at.line;
    return i;
}

/* Inserts d = p op q in 32 bits, or d = p. */
static pl_insn *emit_arith(sroa *a, insert_point at, uint16_t mnem, uint32_t d, uint32_t p,
                           uint32_t q)
{
    const pl_word words[2] = {mnem == M_mov ? W_b32 : W_s32, W_lo};
    pl_insn *i = insert_insn(a, at, mnem, mnem == M_mov ? 2 : 3, words, mnem == M_mul ? 2 : 1);
    if (!i) return NULL;
    i->op[0] = d;
    i->op[1] = p;
    if (mnem != M_mov) i->op[2] = q;
    return i;
}

static pl_insn *emit_copy(sroa *a, insert_point at, uint32_t d, uint32_t p)
{
    return emit_arith(a, at, M_mov, d, p, UINT32_MAX);
}

static uint32_t emit_truncation(sroa *a, insert_point at, uint32_t row)
{
    const uint32_t d = pl_ir_new(a->x, 1);
    pl_insn *i = insert_insn(a, at, M_cvt, 2, (pl_word[]){W_u32, W_u64}, 2);
    if (i) {
        i->op[0] = d;
        i->op[1] = row;
    }
    return d;
}

/* The row of the lower half of a 64-bit number, as read at `at`. It is computed in 32 bits where
 * the number is defined. */
static uint32_t low_half_of(sroa *a, uint32_t row, insert_point at)
{
    pl_ir *x = a->x;
    uint64_t n;
    if (pl_ir_constant_value(x, row, &n)) return pl_ir_constant(x, (uint32_t)n, 32);
    if (row < x->nregs_described && a->low[row]) return a->low[row] - 1;
    const pl_insn *i = single_def(x, row);
    if (!i) return emit_truncation(a, at, row);
    const insert_point next = after_definition(x, row);
    const uint16_t m = pl_insn_mnem(i);
    uint32_t d;
    if (is_scaled(x, i, &n)) {
        const uint32_t of = m == M_mul ? i->op[1] : low_half_of(a, i->op[1], next);
        d = pl_ir_new(x, 1);
        emit_arith(a, next, M_mul, d, of, pl_ir_constant(x, (uint32_t)n, 32));
    } else if (m == M_cvt && (pl_insn_has(i, W_u32) || pl_insn_has(i, W_s32)) &&
               (pl_insn_has(i, W_u64) || pl_insn_has(i, W_s64)) && i->op[1] < x->nregs_described &&
               x->regs[i->op[1]].width == 1) {
        d = pl_ir_new(x, 1);
        emit_copy(a, next, d, i->op[1]);
    } else {
        d = emit_truncation(a, next, row);
    }
    a->low[row] = d + 1;
    return d;
}

/* The register with the offset of an address that has one write. */
static uint32_t offset_register(sroa *a, uint32_t row)
{
    pl_ir *x = a->x;
    frame_address *p = &a->at[row];
    if (p->offset_ready || !p->has_offset) return p->row;
    const pl_insn *i = pl_ir_writer(x, row);
    const insert_point next = after_definition(x, row);
    uint32_t by;
    const unsigned from = derived_operand(a, i, &by);
    const bool base_has_offset = a->at[i->op[from]].has_offset;
    uint64_t number;
    const bool is_sum = by != UINT32_MAX && !pl_ir_constant_value(x, by, &number);
    /* otherwise the base may have changed by the time the offset is used */
    const bool is_stable = single_def(x, i->op[from]) || !base_has_offset;
    const uint32_t base = base_has_offset ? offset_register(a, i->op[from]) : UINT32_MAX;
    if (is_sum) {
        const uint32_t low = low_half_of(a, by, (insert_point){next.block, next.at - 1, next.line});
        p->row = base_has_offset ? pl_ir_new(x, 1) : low;
        if (base_has_offset) emit_arith(a, next, M_add, p->row, base, low);
    } else if (is_stable) {
        p->row = base;
    } else {
        p->row = pl_ir_new(x, 1);
        emit_copy(a, next, p->row, base);
    }
    p->offset_ready = true;
    return p->row;
}

/* Updates the offset of a pointer with several writes at one of them. */
static void rewrite_phi(sroa *a, uint32_t block, size_t at)
{
    pl_ir *x = a->x;
    const pl_insn i = x->blocks.at[block].code.at[at];
    uint32_t by;
    const unsigned from = i.form == PL_IR_DEAD ? 0 : derived_operand(a, &i, &by);
    if (!from || single_def(x, i.op[0])) return;
    const frame_address *p = &a->at[i.op[from]];
    const uint32_t d = a->at[i.op[0]].row;
    const bool from_variable = p->has_offset && !single_def(x, i.op[from]);
    uint32_t base = !p->has_offset  ? UINT32_MAX
                    : from_variable ? p->row
                                    : offset_register(a, i.op[from]);
    int64_t known = from_variable ? 0 : p->known;
    uint64_t number = 0;
    uint32_t low = UINT32_MAX;
    if (by != UINT32_MAX && pl_ir_constant_value(x, by, &number))
        known += pl_insn_mnem(&i) == M_sub ? -(int64_t)number : (int64_t)number;
    else if (by != UINT32_MAX)
        low = low_half_of(a, by, (insert_point){block, at, i.line});
    const insert_point next = {block, at + 1, i.line};
    pl_insn *last = NULL;
    if (base != UINT32_MAX && low != UINT32_MAX) {
        const uint32_t sum = known ? pl_ir_new(x, 1) : d;
        last = emit_arith(a, next, M_add, sum, base, low);
        base = sum;
    } else if (low != UINT32_MAX) {
        base = low;
    }
    const uint32_t constant_part = pl_ir_constant(x, (uint32_t)known, 32);
    if (base == UINT32_MAX)
        last = emit_copy(a, next, d, constant_part);
    else if (known)
        last = emit_arith(a, next, M_add, d, base, constant_part);
    else if (base != d)
        last = emit_copy(a, next, d, base);
    if (last) {
        last->guard = i.guard;
        last->flags |= i.flags & PL_IF_GUARD_NEG;
    }
}

/* ---- accesses ---- */

/* A word of the variables. writes: number of instructions that write it; read_before_write: some
 * read is not dominated by its only write. */
typedef struct frame_word {
    uint32_t row; /* 0: not needed yet */
    uint32_t block, at, writes;
    bool guarded, read_before_write;
} frame_word;

static uint32_t word_register(sroa *a, int64_t at)
{
    frame_word *w = &a->word[at / WORD];
    if (!w->row) w->row = pl_ir_new(a->x, 1);
    return w->row;
}

/* Records the words that an access may touch; called for all accesses first with `counting_stores`,
 * then without. */
static void note_access_words(sroa *a, uint32_t block, size_t at, const pl_insn *i,
                              unsigned address)
{
    const index_range r = index_range_of(a, i, address);
    const bool store = pl_insn_mnem(i) == M_st,
               guarded = i->guard != PL_PT || (a->at[i->op[address - 1]].has_offset && r.n > 1);
    a->common_dominator = pl_ir_common_dominator(a->x, a->common_dominator, block);
    for (uint32_t n = 0; n < r.n; n++)
        for (unsigned k = 0; k < i->sel[PL_M_COUNT]; k++) {
            frame_word *w = &a->word[(r.first + n * r.step) / WORD + k];
            if (store && a->counting_stores) {
                w->writes++;
                w->guarded |= guarded;
                w->block = block;
                w->at = (uint32_t)at;
            } else if (!store && !a->counting_stores) {
                w->read_before_write |=
                    !w->writes || w->guarded ||
                    (w->block == block ? w->at > at : !pl_ir_dominates(a->x, w->block, block));
            }
        }
}

static void copy_guard(pl_insn *i, const pl_insn *of)
{
    if (!i) return;
    i->guard = of->guard;
    i->flags |= of->flags & PL_IF_GUARD_NEG;
}

/* Emits a predicate: the offset equals this constant, and the access is executed. */
static uint32_t emit_address_test(sroa *a, insert_point at, const pl_insn *access, uint32_t offset,
                                  int64_t expected)
{
    pl_ir *x = a->x;
    const bool both = access->guard != PL_PT;
    const uint32_t p = pl_ir_new_pred(x), number = pl_ir_constant(x, (uint32_t)expected, 32);
    pl_insn *i =
        insert_insn(a, at, M_setp, both ? 5 : 4, (pl_word[]){W_eq, W_s32, W_and}, both ? 3 : 2);
    if (!i) return p;
    i->op[0] = p;
    i->op[2] = offset;
    i->op[3] = number;
    if (both) {
        i->op[4] = access->guard;
        i->neg = access->flags & PL_IF_GUARD_NEG ? 1 << 4 : 0;
    }
    return p;
}

/* An access that is being replaced. */
typedef struct replaced_access {
    pl_insn i;
    insert_point at;
    bool store, wide, is_indexed; /* is_indexed: its word is only known when it is executed */
    uint32_t data[MAX_WORDS];     /* loaded or stored registers; UINT32_MAX: none */
} replaced_access;

/* The register that data word k of an access is loaded into, or stored from. */
static uint32_t data_register(sroa *a, const replaced_access *r, unsigned k)
{
    const uint32_t row = pl_ir_data_row(a->x, &r->i, r->store ? 1 : 0, k);
    if (!r->wide || row == UINT32_MAX) return row;
    return r->store ? emit_truncation(a, r->at, row) : pl_ir_new(a->x, 1);
}

/* Copies data word k from or to one candidate word, if the predicate is_target holds. */
static void emit_word_copy(sroa *a, const replaced_access *r, unsigned k, uint32_t word_row,
                           uint32_t is_target)
{
    pl_insn *c =
        emit_copy(a, r->at, r->store ? word_row : r->data[k], r->store ? r->data[k] : word_row);
    copy_guard(c, &r->i);
    if (!c || !r->is_indexed) return;
    c->guard = is_target;
    c->flags &= (uint16_t)~PL_IF_GUARD_NEG;
}

/* Selects between the first candidate and the next one. Unlike a predicated copy, this writes the
 * register unconditionally, so that its previous content is dead. */
static void emit_first_word(sroa *a, const replaced_access *r, unsigned k, uint32_t word_row,
                            uint32_t next_row, uint32_t is_target)
{
    pl_insn *c = insert_insn(a, r->at, M_selp, 4, (pl_word[]){W_b32}, 1);
    if (!c) return;
    c->op[0] = r->data[k];
    c->op[1] = word_row;
    c->op[2] = next_row;
    c->op[3] = is_target;
    copy_guard(c, &r->i);
}

/* Extends the words of a load of 64-bit registers. */
static void emit_extensions(sroa *a, const replaced_access *r)
{
    const bool sign = r->i.sel[PL_M_FLAGS] & PL_MF_SIGNED;
    for (unsigned k = 0; k < r->i.sel[PL_M_COUNT]; k++) {
        if (r->data[k] == UINT32_MAX) continue;
        pl_insn *c = insert_insn(a, r->at, M_cvt, 2,
                                 (pl_word[]){sign ? W_s64 : W_u64, sign ? W_s32 : W_u32}, 2);
        if (!c) continue;
        c->op[0] = pl_ir_data_row(a->x, &r->i, 0, k);
        c->op[1] = r->data[k];
        copy_guard(c, &r->i);
    }
}

/* Replaces an access by copies from or to each candidate word. */
static void replace_access(sroa *a, uint32_t block, size_t at)
{
    pl_ir *x = a->x;
    replaced_access r = {.i = x->blocks.at[block].code.at[at]};
    const unsigned address = access_of(a, &r.i), count = r.i.sel[PL_M_COUNT];
    if (!address || is_outside_variables(a, &r.i)) return;
    const frame_address *p = &a->at[r.i.op[address - 1]];
    const index_range range = index_range_of(a, &r.i, address);
    r.at = (insert_point){block, at, r.i.line};
    r.store = pl_insn_mnem(&r.i) == M_st;
    r.wide = r.i.sel[PL_M_FLAGS] & PL_MF_WIDE;
    r.is_indexed = range.n > 1 && p->has_offset;
    const uint32_t offset = !p->has_offset    ? UINT32_MAX
                            : p->offset_ready ? p->row
                                              : offset_register(a, r.i.op[address - 1]);
    for (unsigned k = 0; k < count; k++) r.data[k] = data_register(a, &r, k);
    for (uint32_t n = 0; n < range.n; n++) {
        const int64_t candidate = range.first + n * range.step;
        const uint32_t is_target =
            r.is_indexed ? emit_address_test(a, r.at, &r.i, offset, candidate - p->known - r.i.imm)
                         : PL_PT;
        for (unsigned k = 0; k < count; k++) {
            const uint32_t word_row = word_register(a, candidate + WORD * k);
            const int64_t next = range.first + (range.n > 1 ? range.step : 0) + WORD * k;
            const uint32_t next_row = n ? 0 : word_register(a, next);
            if (r.data[k] == UINT32_MAX) continue;
            if (r.is_indexed && !r.store && !n)
                emit_first_word(a, &r, k, word_row, next_row, is_target);
            else
                emit_word_copy(a, &r, k, word_row, is_target);
        }
    }
    if (r.wide && !r.store) emit_extensions(a, &r);
    pl_ir_remove(x, &x->blocks.at[block].code.at[at]);
}

/* ---- the pass ---- */

typedef void visit(sroa *a, uint32_t block, size_t at);

static void for_each_insn(sroa *a, visit *f)
{
    for (uint32_t n = 0; n < a->x->nrpo; n++)
        for (size_t k = 0; k < a->x->blocks.at[a->x->rpo[n]].code.n; k++) f(a, a->x->rpo[n], k);
}

static void note_access(sroa *a, uint32_t block, size_t at)
{
    const pl_insn *i = &a->x->blocks.at[block].code.at[at];
    const unsigned address = access_of(a, i);
    if (address && !is_outside_variables(a, i)) note_access_words(a, block, at, i, address);
}

/* Finds the addresses in the frame. False: not profitable, or out of memory. */
static bool find_arrays(sroa *a)
{
    pl_ir *x = a->x;
    bool any = false;
    for (size_t k = 0; k < x->f->init.n; k++) {
        const pl_frame_init *i = &x->f->init.at[k];
        if (i->reloc != PL_RELOC_FRAME) continue;
        if (i->width != 64) return false;
        a->at[i->row] =
            (frame_address){.in_frame = true, .known = (int64_t)i->bits, .row = UINT32_MAX};
        any = true;
    }
    for (bool changed = any; changed;) {
        changed = false;
        if (!propagate_addresses(a, &changed)) return false;
    }
    return any && never_escapes(a) && is_profitable(a);
}

bool pl_pass_sroa(pl_ir *x)
{
    const int64_t bytes = x->f->local_bytes;
    if (!bytes || bytes % WORD || bytes > MAX_BYTES || x->p->keeps_accesses) return true;
    if (!pl_ir_graph(x) || !pl_ir_analyze(x)) return false;
    const uint32_t rows = x->f->rows;
    sroa a = {.x = x, .bytes = bytes, .rows = rows, .common_dominator = PL_IR_NONE};
    a.at = pl_arena_array(x->tmp, frame_address, rows);
    a.low = pl_arena_array(x->tmp, uint32_t, rows);
    a.word = pl_arena_array(x->tmp, frame_word, (size_t)bytes / WORD);
    if (!pl_arena_ok(x->tmp)) return false;
    if (x->blocks.at[0].npreds || !find_arrays(&a)) {
        pl_ir_preserve_all(x);
        return pl_ir_ok(x);
    }
    for (uint32_t r = 0; r < rows; r++)
        if (a.at[r].in_frame && a.at[r].has_offset && !single_def(x, r)) {
            a.at[r].row = pl_ir_new(x, 1);
            a.at[r].offset_ready = true;
        }
    a.counting_stores = true;
    for_each_insn(&a, note_access);
    a.counting_stores = false;
    for_each_insn(&a, note_access);
    a.common_dominator = pl_ir_outside_loops(x, a.common_dominator);
    for (int64_t k = 0; k < bytes / WORD; k++) {
        const frame_word *w = &a.word[k];
        if (w->read_before_write && w->writes < 2) /* the only write must dominate the reads */
            emit_copy(&a, (insert_point){a.common_dominator, 0, 0}, word_register(&a, k * WORD),
                      pl_ir_constant(x, 0, 32));
    }
    for_each_insn(&a, rewrite_phi);
    for_each_insn(&a, replace_access);
    if (!pl_ir_flush_inserts(x)) return false;
    pl_ir_sweep(x);
    x->f->local_bytes = 0;
    pl_arena_reset(x->tmp);
    return pl_pass_split_webs(x) && pl_pass_gvn(x);
}
