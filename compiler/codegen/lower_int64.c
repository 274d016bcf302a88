/* lower_int64.c - lowers 64-bit integer operations to 32-bit halves. A half that is known, or whose
 * uses are dead, costs nothing.
 *
 * ptxas 13.0 (sm_90, 100 small sequences compared, 2026-11) splits 64-bit logic, shifts, selects
 * and insertions into an instruction for each half. A half that is a copy of another register is
 * that register; a zero half is RZ. So `or` of an extended word and of another one shifted left by
 * 32 takes no instruction, and `shr.u64 x, 33; cvt.u32.u64` takes one. A use that takes register
 * pairs (a store, the addend of a product, a copy) needs the zero in a register, which takes a
 * move. LOP3 writes a predicate if its only use tests the result for zero.
 *
 * The instructions remain in place: their classes determine their cost. Uses follow writes, so
 * blocks are visited backwards. */
#include <string.h>

#include "compiler/passes.h"
#include "isa/program/operand_plan.h"

/* What uses demand of a row. */
enum {
    LOW = 1,
    HIGH = 2,
    BOTH = 3,
    IN_REGISTERS = 4,
    TESTED = 8,
    VARIABLE = 16 /* the row has other writes: a copy is a move */
};

enum { MAX_DEPTH = 6 }; /* depth of the search for zero halves */

typedef struct int64_lowering {
    pl_ir *x;
    uint8_t *demanded_halves; /* by row */
    pl_insn *first; /* the first of the block's products, as far as visited, to whose upper halves
                       nothing is added */
} int64_lowering;

/* The instruction that defines a value. If its guard is false, the value is undefined, so facts
 * about the value do not depend on the guard. */
static const pl_insn *def_insn(const int64_lowering *h, uint32_t row)
{
    if (row == UINT32_MAX || row >= h->x->f->rows || h->x->regs[row].ndefs != 1 ||
        h->x->regs[row].def_block == PL_IR_NONE)
        return NULL;
    const pl_insn *w = pl_ir_writer(h->x, row);
    return w->form != PL_IR_DEAD && w->op[0] == row ? w : NULL;
}

static bool is_wide(const pl_insn *i)
{
    return pl_type_bits(pl_insn_type(i)) == 64 && pl_insn_pure(i);
}

/* For an extension of 32 bits or fewer, the kind of the shorter type; 0 for other instructions. */
static char extension_kind(const pl_insn *i)
{
    if (pl_insn_mnem(i) != M_cvt || pl_forms[i->form].noperands != 2 || pl_insn_has(i, W_sat))
        return 0;
    const pl_word to = pl_operand_type(&pl_forms[i->form], 0, i->mods),
                  from = pl_operand_type(&pl_forms[i->form], 1, i->mods);
    const bool is = pl_type_bits(to) == 64 && pl_type_kind(to) != 'f' && pl_type_bits(from) <= 32 &&
                    pl_type_kind(from) != 'f';
    return is ? (char)pl_type_kind(from) : 0;
}

static bool is_zero_extension(const pl_insn *i)
{
    return extension_kind(i) == 'u';
}

static bool reads_low_half(const pl_insn *i)
{
    if (pl_insn_mnem(i) == M__narrow) return true;
    if (pl_insn_mnem(i) != M_cvt || pl_forms[i->form].noperands != 2 || pl_insn_has(i, W_sat))
        return false;
    const pl_word to = pl_operand_type(&pl_forms[i->form], 0, i->mods),
                  from = pl_operand_type(&pl_forms[i->form], 1, i->mods);
    return pl_type_bits(to) <= 32 && pl_type_kind(to) != 'f' && pl_type_bits(from) == 64 &&
           pl_type_kind(from) != 'f';
}

static bool is_logic(uint16_t m)
{
    return m == M_and || m == M_or || m == M_xor || m == M_not || m == M__lop3;
}

static uint8_t truth_table(const pl_insn *i)
{
    enum { A = 0xf0, B = 0xcc };
    switch (pl_insn_mnem(i)) {
    case M_and: return A & B;
    case M_or: return A | B;
    case M_xor: return A ^ B;
    case M_not: return (uint8_t)~A;
    default: return (uint8_t)i->op[4];
    }
}

static unsigned known_zero_halves(const int64_lowering *h, uint32_t row, unsigned steps);

static unsigned count_inputs(const pl_insn *i)
{
    return pl_insn_mnem(i) == M__lop3 ? 3 : pl_insn_mnem(i) == M_not ? 1 : 2;
}

/* Finds the halves of each input of a logic instruction that are zero. */
static void find_zero_halves(const int64_lowering *h, const pl_insn *i, unsigned steps,
                             unsigned zero[3])
{
    for (unsigned k = 0; k < count_inputs(i); k++)
        zero[k] = known_zero_halves(h, i->op[1 + k], steps);
}

/* The value of a half of a logic result: 0, 1 (all bits set), or -1 (unknown); *copy: it equals one
 * of the inputs. */
static int logic_half(const int64_lowering *h, const pl_insn *i, unsigned half,
                      const unsigned zero[3], bool *copy)
{
    static const uint8_t in[3] = {0xf0, 0xcc, 0xaa};
    static const unsigned step[3] = {4, 2, 1};
    uint8_t lut = truth_table(i);
    for (unsigned k = 0; k < count_inputs(i); k++) {
        uint64_t v;
        bool ones = pl_ir_constant_value(h->x, i->op[1 + k], &v) &&
                    (uint32_t)(v >> (half == HIGH ? 32 : 0)) == UINT32_MAX;
        if (ones) /* table entries for input 0 are replaced by those for input 1, or vice versa */
            lut = (uint8_t)((lut & in[k]) | (lut & in[k]) >> step[k]);
        else if (zero[k] & half)
            lut = (uint8_t)((lut & ~in[k]) | (lut & ~in[k]) << step[k]);
    }
    *copy = lut == in[0] || lut == in[1] || lut == in[2];
    return lut == 0 ? 0 : lut == UINT8_MAX ? 1 : -1;
}

/* The halves of its result that are known to be zero. */
static unsigned result_zero_halves(const int64_lowering *h, const pl_insn *i, unsigned steps)
{
    unsigned zero[3];
    uint64_t n;
    bool copy;
    if (is_zero_extension(i)) return HIGH;
    if (!is_wide(i)) return 0;
    const uint16_t m = pl_insn_mnem(i);
    if (is_logic(m)) {
        find_zero_halves(h, i, steps, zero);
        return (unsigned)(logic_half(h, i, LOW, zero, &copy) == 0 ? LOW : 0) |
               (unsigned)(logic_half(h, i, HIGH, zero, &copy) == 0 ? HIGH : 0);
    }
    if (m == M_shl || m == M_shr) {
        if (!pl_ir_constant_value(h->x, i->op[2], &n) ||
            (m == M_shr && pl_type_kind(pl_insn_type(i)) == 's'))
            return 0;
        const unsigned of = known_zero_halves(h, i->op[1], steps);
        return n > 63       ? BOTH
               : n < 32     ? of & (m == M_shl ? LOW : HIGH)
               : m == M_shl ? (unsigned)LOW | (of & LOW ? HIGH : 0)
                            : (unsigned)HIGH | (of & HIGH ? LOW : 0);
    }
    if (m == M_selp)
        return known_zero_halves(h, i->op[1], steps) & known_zero_halves(h, i->op[2], steps);
    return pl_insn_is_copy(i) ? known_zero_halves(h, i->op[1], steps) : 0;
}

static unsigned known_zero_halves(const int64_lowering *h, uint32_t row, unsigned steps)
{
    uint64_t n;
    if (pl_ir_constant_value(h->x, row, &n))
        return (unsigned)((uint32_t)n ? 0 : LOW) | (unsigned)(n >> 32 ? 0 : HIGH);
    const pl_insn *i = def_insn(h, row);
    return i && steps ? result_zero_halves(h, i, steps - 1) : 0;
}

static void demand(int64_lowering *h, uint32_t row, unsigned what)
{
    if (row != UINT32_MAX && row < h->x->f->rows) h->demanded_halves[row] |= (uint8_t)what;
}

static void demand_all(int64_lowering *h, uint32_t *row, unsigned rows, unsigned use)
{
    if ((use & PL_USE_PRED) || *row >= h->x->f->rows) return;
    demand(h, *row, BOTH | IN_REGISTERS);
    if (rows == 1 && *row) /* a half accessed by its own row */
        demand(h, *row - 1, BOTH | IN_REGISTERS);
}

/* Demands of instructions that read either half separately, and can read RZ. */
static void demand_values(int64_lowering *h, uint32_t *row, unsigned rows, unsigned use)
{
    if (rows == 2 && !(use & PL_USE_PRED))
        demand(h, *row, BOTH);
    else
        demand_all(h, row, rows, use);
}

static unsigned count_halves(unsigned halves)
{
    return (halves & 1) + (halves >> 1 & 1);
}

/* The class for that many instructions, one for each half that needs work. */
static uint16_t class_for_halves(unsigned n, unsigned both)
{
    return (uint16_t)(n == 0 ? C_free : n == 1 ? C_alu : both);
}

static unsigned count_moved_zeros(const int64_lowering *h, const pl_insn *i, unsigned demanded)
{
    return demanded & IN_REGISTERS ? count_halves(result_zero_halves(h, i, MAX_DEPTH) & demanded)
                                   : 0;
}

static void lower_logic(int64_lowering *h, pl_insn *i, unsigned demanded)
{
    unsigned work = 0, read = 0, zero[3];
    find_zero_halves(h, i, MAX_DEPTH, zero);
    for (unsigned half = LOW; half <= HIGH; half++) {
        bool copy = false;
        if (!(demanded & half)) continue;
        int known = logic_half(h, i, half, zero, &copy);
        work += known < 0 && (!copy || demanded & VARIABLE);
        read |= known < 0 ? half : 0;
    }
    i->latency_class = class_for_halves(
        demanded & TESTED ? 0 : work + count_moved_zeros(h, i, demanded), C_logic64);
    for (unsigned k = 0; k < count_inputs(i); k++) demand(h, i->op[1 + k], read);
}

static void lower_shift(int64_lowering *h, pl_insn *i, unsigned demanded)
{
    const bool is_left = pl_insn_mnem(i) == M_shl,
               sign = !is_left && pl_type_kind(pl_insn_type(i)) == 's';
    /* The half into which bits are shifted from the other one, and the other one. */
    const unsigned receiving = is_left ? HIGH : LOW, other_half = is_left ? LOW : HIGH;
    uint64_t n;
    if (!pl_ir_constant_value(h->x, i->op[2], &n)) {
        const bool number =
            pl_ir_constant_value(h->x, i->op[1], &n) && n; /* the constant needs a register */
        i->latency_class =
            number && count_halves(demanded) == 2
                ? C_alu_x3
                : class_for_halves(count_halves(demanded) + (number && demanded), C_shift64);
        demand(h, i->op[1], (demanded & receiving ? BOTH : 0) | (demanded & other_half));
        demand(h, i->op[2], LOW | IN_REGISTERS);
        return;
    }
    const unsigned zero = result_zero_halves(h, i, MAX_DEPTH);
    unsigned work = count_moved_zeros(h, i, demanded);
    if (n < 32) {
        work += count_halves(demanded & ~zero);
        demand(h, i->op[1], (demanded & receiving ? BOTH : 0) | (demanded & other_half));
    } else {
        work += ((demanded & ~zero & receiving) && (n > 32 || demanded & VARIABLE) ? 1u : 0u) +
                (sign && (demanded & ~zero & other_half) ? 1u : 0u);
        demand(h, i->op[1],
               demanded & receiving || (sign && demanded & other_half) ? other_half : 0);
    }
    i->latency_class = class_for_halves(work, C_shift64);
}

/* The operand that is a sign-extended word whose only use is this sum; 0: none. LEA.HI.X.SX32
 * extends one of its operands, but does not subtract it. */
static unsigned sign_extended_operand(const int64_lowering *h, const pl_insn *i)
{
    for (unsigned k = 1; k < (pl_insn_mnem(i) == M_sub ? 2 : 3); k++) {
        const pl_insn *w = def_insn(h, i->op[k]);
        if (w && extension_kind(w) == 's' && h->x->regs[i->op[k]].nuses == 1 &&
            i->op[k] != i->op[3 - k])
            return k;
    }
    return 0;
}

/* True if an operand is a right shift whose only use is this sum: LEA.HI computes both for
 * the lower half. */
static bool has_shifted_operand(const int64_lowering *h, const pl_insn *i)
{
    bool any = false;
    for (unsigned k = 1; k < 3 && pl_insn_mnem(i) == M_add; k++) {
        uint64_t n;
        const pl_insn *w = def_insn(h, i->op[k]);
        any |= w && pl_insn_mnem(w) == M_shr && is_wide(w) && h->x->regs[i->op[k]].nuses == 1 &&
               pl_ir_constant_value(h->x, w->op[2], &n) && n && n != 32 && n < 64;
    }
    return any;
}

static void lower_sum(int64_lowering *h, pl_insn *i, unsigned demanded)
{
    const unsigned extended = sign_extended_operand(h, i);
    i->latency_class = demanded & HIGH ? (has_shifted_operand(h, i) ? C_alu : C_alu64) : C_alu;
    for (unsigned k = 1; k < 3; k++)
        demand(h, i->op[k], demanded & HIGH && k != extended ? BOTH : LOW);
}

/* For example 0 or -1: one SEL computes both halves for all uses that do not need a register
 * pair. */
static bool halves_equal(const int64_lowering *h, const pl_insn *i)
{
    uint64_t a, b;
    return pl_ir_constant_value(h->x, i->op[1], &a) && pl_ir_constant_value(h->x, i->op[2], &b) &&
           (uint32_t)a == a >> 32 && (uint32_t)b == b >> 32;
}

static void lower_select(int64_lowering *h, pl_insn *i, unsigned demanded)
{
    const unsigned zero = result_zero_halves(h, i, MAX_DEPTH);
    const bool one =
        halves_equal(h, i) && (demanded & BOTH) == BOTH && !(demanded & (IN_REGISTERS | VARIABLE));
    i->latency_class = class_for_halves(
        one ? 1 : count_halves(demanded & ~zero) + count_moved_zeros(h, i, demanded), C_alu64);
    demand(h, i->op[1], demanded & BOTH);
    demand(h, i->op[2], demanded & BOTH);
}

/* A sign test demands only the upper half. LOP3 writes predicates: logic that is only tested for
 * zero takes no separate instruction. */
static void lower_compare(int64_lowering *h, pl_insn *i)
{
    const bool equality = pl_insn_has(i, W_eq) || pl_insn_has(i, W_ne),
               order = pl_insn_has(i, W_lt) || pl_insn_has(i, W_ge);
    uint64_t n;
    const bool zero = pl_ir_constant_value(h->x, i->op[3], &n) && !n;
    const pl_insn *w =
        zero && equality && i->op[2] < h->x->f->rows && h->x->regs[i->op[2]].nuses == 1
            ? def_insn(h, i->op[2])
            : NULL;
    const bool tests = w && is_wide(w) && is_logic(pl_insn_mnem(w)) && pl_insn_is_integer(w, 64);
    const bool sign = zero && order && pl_type_kind(pl_insn_type(i)) == 's';
    const unsigned known = tests ? known_zero_halves(h, i->op[2], MAX_DEPTH) : 0;
    i->latency_class = sign || known ? C_setp : C_setp64;
    demand(h, i->op[2], sign ? HIGH : (BOTH & ~known) | (tests ? TESTED : 0));
    demand(h, i->op[3], BOTH);
}

/* bfi with constant position and width. */
static void lower_bfi(int64_lowering *h, pl_insn *i, unsigned demanded)
{
    uint64_t position, width;
    if (!pl_ir_constant_value(h->x, i->op[3], &position) ||
        !pl_ir_constant_value(h->x, i->op[4], &width) || position > 63 || width > 64) {
        PL_FOR_EACH_READ(h->x->p, i, o) demand_all(h, o.row, o.rows, o.use);
        return;
    }
    const uint64_t field = (width > 63 ? UINT64_MAX : (1ull << width) - 1) << position;
    unsigned work = 0, kept_halves = 0;
    for (unsigned half = LOW; half <= HIGH; half++) {
        const uint32_t part = (uint32_t)(field >> (half == HIGH ? 32 : 0));
        if (!(demanded & half)) continue;
        work += part == 0            ? (demanded & VARIABLE) != 0
                : part == UINT32_MAX ? position % 32 != 0 || (demanded & VARIABLE)
                : position % 32      ? 2
                                     : 1;
        kept_halves |= part == UINT32_MAX ? 0 : half;
    }
    i->latency_class = work == 0   ? C_free
                       : work == 1 ? C_alu
                       : work == 2 ? C_alu_x2
                       : work == 3 ? C_alu_x3
                                   : C_bfe;
    demand(h, i->op[1], position >= 32 ? LOW : BOTH);
    demand(h, i->op[2], kept_halves);
}

/* The contribution of the upper half of one factor times the lower half of the other one to the
 * upper half of a product. */
typedef enum cross_term {
    NOTHING,
    COPY /* times 1 or -1: the IADD3 of the sum includes it */,
    MULTIPLIED
} cross_term;

static cross_term cross_term_of(const int64_lowering *h, const pl_insn *i, unsigned upper)
{
    const unsigned lower = 3 - upper;
    uint64_t n;
    if ((known_zero_halves(h, i->op[upper], MAX_DEPTH) & HIGH) ||
        (known_zero_halves(h, i->op[lower], MAX_DEPTH) & LOW))
        return NOTHING;
    if (!pl_ir_constant_value(h->x, i->op[2], &n)) return MULTIPLIED;
    const uint32_t part = (uint32_t)(upper == 2 ? n >> 32 : n);
    return part == 1 || part == UINT32_MAX ? COPY : MULTIPLIED;
}

/* A full 64-bit product: IMAD for the upper half of the first factor, IMAD.WIDE for the lower
 * halves. IMAD for the upper half of the second one, which adds the result of IMAD.WIDE if it is
 * the only one, and IADD3. Without either, the sum adds a uniform register that is 0: one
 * instruction initialises it for all products of its block. */
static uint16_t class_of_product(int64_lowering *h, pl_insn *i)
{
    const cross_term first = cross_term_of(h, i, 1), second = cross_term_of(h, i, 2);
    if (first == MULTIPLIED && second == MULTIPLIED) return C_mul64_lo;
    if (first == NOTHING && second == NOTHING) h->first = i;
    return first == NOTHING || (first == COPY && second == COPY) ? C_imad_hi_sum : C_imad_wide_sum;
}

/* The lower half of a product takes one IMAD, and the lower halves of its factors. The addend of
 * IMAD.WIDE is a register pair. */
static void lower_product(int64_lowering *h, pl_insn *i, unsigned demanded)
{
    const bool low = !(demanded & HIGH);
    i->latency_class = low ? C_imad : class_of_product(h, i);
    for (unsigned k = 1; k < pl_forms[i->form].noperands; k++)
        demand(h, i->op[k], low ? LOW : k == 3 ? BOTH | IN_REGISTERS : BOTH);
}

/* 64-bit counts and searches whose upper 32 bits are zero. */
static void count_bits(const int64_lowering *h, pl_insn *i)
{
    if ((i->latency_class == C_popc64 || i->latency_class == C_clz64 ||
         i->latency_class == C_find64) &&
        (known_zero_halves(h, i->op[1], MAX_DEPTH) & HIGH))
        i->latency_class = pl_insn_mnem(i) == M_clz ? C_clz : C_popc;
}

/* The address of a constant-bank or local memory access: only 32 bits of it matter. PL_IR_NONE:
 * another address, or it is not an inline operand. */
static uint32_t near_address(const pl_insn *i)
{
    const uint8_t space = i->sel[PL_M_SPACE];
    if ((pl_insn_mnem(i) != M_ld && pl_insn_mnem(i) != M_st) ||
        (space != PL_SP_CONST && space != PL_SP_LOCAL) || i->latency_class == C_param)
        return PL_IR_NONE;
    const unsigned at = pl_insn_address(i);
    return at ? i->op[at - 1] : PL_IR_NONE;
}

typedef struct access {
    int64_lowering *h;
    uint32_t address;
} access;

typedef void lowering(int64_lowering *h, pl_insn *i, unsigned demanded);

/* The function that lowers 64-bit integer arithmetic of this class; NULL: it is unchanged. */
static lowering *lowering_of(const pl_insn *i)
{
    const uint16_t m = pl_insn_mnem(i), c = i->latency_class;
    if (is_logic(m)) return c == C_logic64 || c == C_alu || c == C_free ? lower_logic : NULL;
    switch (m) {
    case M_shl:
    case M_shr:
        return c == C_shift64 || c == C_alu_x3 || c == C_alu || c == C_free ? lower_shift : NULL;
    case M_mul:
    case M_mad:
        return pl_insn_has(i, W_lo) && !pl_insn_has(i, W_cc) &&
                       (c == C_mul64_lo || c == C_imad_wide_sum || c == C_imad_hi_sum ||
                        c == C_imad)
                   ? lower_product
                   : NULL;
    case M_add:
    case M_sub:
        return pl_forms[i->form].noperands == 3 && (c == C_alu64 || c == C_alu) ? lower_sum : NULL;
    case M_selp: return c == C_alu64 || c == C_alu || c == C_free ? lower_select : NULL;
    default: return NULL;
    }
}

static void lower_extension(int64_lowering *h, pl_insn *i, unsigned demanded)
{
    i->latency_class = (demanded & HIGH) && (demanded & IN_REGISTERS || extension_kind(i) == 's')
                           ? C_alu
                           : C_cvt_int64;
    PL_FOR_EACH_READ(h->x->p, i, o) demand_all(h, o.row, o.rows, o.use);
}

static void lower_bfe(int64_lowering *h, pl_insn *i, unsigned demanded)
{
    if (!(demanded & HIGH) && i->latency_class != C_bfe64 && i->latency_class != C_bfe64s)
        i->latency_class = C_alu_x2;
    PL_FOR_EACH_READ(h->x->p, i, o) demand_all(h, o.row, o.rows, o.use);
}

/* Lowers 64-bit integer arithmetic, and records demands of other instructions for full 64-bit
 * values. */
static void lower_arithmetic(int64_lowering *h, pl_insn *i, unsigned demanded)
{
    const uint16_t m = pl_insn_mnem(i);
    const bool integer = pl_insn_is_integer(i, 64);
    lowering *lower = integer ? lowering_of(i) : NULL;
    if (lower) {
        lower(h, i, demanded);
        return;
    }
    const bool reads_halves =
        integer ? m != M_mov
                : m == M_popc || m == M_clz || (m == M_mad && i->latency_class == C_imad_wide_sum);
    if (reads_halves)
        PL_FOR_EACH_READ(h->x->p, i, o) demand_values(h, o.row, o.rows, o.use);
    else
        PL_FOR_EACH_READ(h->x->p, i, o) demand_all(h, o.row, o.rows, o.use);
}

static void lower_insn(int64_lowering *h, pl_insn *i)
{
    if (i->form == PL_IR_DEAD) return;
    const uint16_t m = pl_insn_mnem(i);
    const uint32_t to = i->op[0];
    const bool value =
        to < h->x->f->rows && h->x->regs[to].ndefs == 1 && !h->x->regs[to].precolored;
    const unsigned demanded = value ? h->demanded_halves[to] : BOTH | IN_REGISTERS | VARIABLE;
    if (m == M_popc || m == M_clz || m == M_bfind) count_bits(h, i);
    access bank_access = {h, near_address(i)};
    if (bank_access.address != PL_IR_NONE)
        PL_FOR_EACH_READ(h->x->p, i, o) {
            if (*o.row == bank_access.address && o.rows == 2 && !(o.use & PL_USE_PRED))
                demand(bank_access.h, *o.row, LOW);
            else
                demand_all(bank_access.h, o.row, o.rows, o.use);
        }
    else if (reads_low_half(i))
        demand(h, i->op[1], LOW);
    else if (extension_kind(i))
        lower_extension(h, i, demanded);
    else if (m == M_bfe && is_wide(i))
        lower_bfe(h, i, demanded);
    else if (m == M_setp && is_wide(i) &&
             (i->latency_class == C_setp64 || i->latency_class == C_setp))
        lower_compare(h, i);
    else if (m == M_bfi && is_wide(i))
        lower_bfi(h, i, demanded);
    else if (m == M_add && i->latency_class == C_free && is_wide(i) &&
             !(demanded & HIGH)) /* a constant-bank address */
        for (unsigned k = 1; k < 3; k++) demand(h, i->op[k], LOW);
    else
        lower_arithmetic(h, i, demanded);
}

static bool is_lowered(const pl_insn *i)
{
    return i->form != PL_IR_DEAD &&
           ((i->latency_class == C_cvt_int64 && extension_kind(i)) ||
            i->latency_class == C_logic64 || i->latency_class == C_shift64 ||
            i->latency_class == C_alu64 || i->latency_class == C_bfi64 ||
            i->latency_class == C_bfe64 || i->latency_class == C_bfe64s ||
            i->latency_class == C_popc64 || i->latency_class == C_clz64 ||
            i->latency_class == C_find64 || i->latency_class == C_setp64 ||
            i->latency_class == C_mul64_lo);
}

/* True if the instruction computes a 64-bit value whose demanded bits fit one register. Uses that
 * need a register pair demand the other half, too. */
static bool fits_one_register(const int64_lowering *h, const pl_insn *i)
{
    const uint32_t to = i->op[0];
    if (i->form == PL_IR_DEAD || !pl_insn_pure(i) || to >= h->x->f->rows ||
        h->x->regs[to].ndefs != 1 || h->x->regs[to].precolored || h->x->regs[to].width != 2 ||
        (i->flags & PL_IF_UNIFORM_REG))
        return false;
    const unsigned demanded = h->demanded_halves[to];
    return !(demanded & IN_REGISTERS) &&
           count_halves(demanded & BOTH & ~result_zero_halves(h, i, MAX_DEPTH)) < 2;
}

/* Backwards, so that the uses of a value have been visited. `widths`: classes are known, and values
 * that take one register are marked; otherwise the classes are computed. */
static bool lower_all(pl_ir *x, bool widths)
{
    if (!pl_ir_analyze(x)) return false;
    int64_lowering h = {.x = x, .demanded_halves = pl_arena_array(x->tmp, uint8_t, x->f->rows + 4)};
    if (!h.demanded_halves) return false;
    for (uint32_t j = x->nrpo; j-- > 0;) {
        pl_ir_block *b = &x->blocks.at[x->rpo[j]];
        h.first = NULL;
        for (size_t k = b->code.n; k-- > 0;) {
            pl_insn *i = &b->code.at[k], copy = *i;
            lower_insn(&h, widths ? &copy : i);
            if (widths && fits_one_register(&h, i)) i->flags |= PL_IF_NARROW64;
        }
        /* includes the zero that the other products share */
        if (h.first && !widths) h.first->latency_class = C_imad_wide_sum;
    }
    pl_ir_preserve_all(x);
    return true;
}

bool pl_pass_lower_int64(pl_ir *x)
{
    return !pl_ir_any(x, is_lowered) || lower_all(x, false);
}

bool pl_pass_narrow_int64(pl_ir *x)
{
    return lower_all(x, true);
}

/* True for a memory access of a word or less to or from a 64-bit register. */
static bool is_word_access(const pl_insn *i)
{
    return i->form != PL_IR_DEAD && (pl_insn_mnem(i) == M_ld || pl_insn_mnem(i) == M_st) &&
           (i->sel[PL_M_FLAGS] & PL_MF_WIDE) && i->sel[PL_M_COUNT] == 1 && i->sel[PL_M_LOG2] <= 2 &&
           pl_type_kind(pl_insn_type(i)) != 'f' && i->latency_class != C_param;
}

/* Splits the access as the machine does: a load, and an extension to the upper half, which may be
 * free; a store of the lower half. */
bool pl_pass_split_subword_loads(pl_ir *x)
{
    if (!pl_ir_any(x, is_word_access)) return true;
    for (uint32_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            pl_insn *i = &x->blocks.at[b].code.at[k];
            if (!is_word_access(i)) continue;
            const bool sign = pl_type_kind(pl_insn_type(i)) == 's', load = pl_insn_mnem(i) == M_ld;
            const pl_word words[] = {!load  ? W_u32
                                     : sign ? W_s64
                                            : W_u64,
                                     !load  ? W_u64
                                     : sign ? W_s32
                                            : W_u32};
            pl_insn *c = pl_ir_insert_deferred(x, b, k + load);
            if (!c || !pl_insn_make(c, M_cvt, 2, words, 2)) return false;
            uint32_t *word = &i->op[load ? 0 : 1];
            c->op[load ? 0 : 1] = *word;
            c->op[load ? 1 : 0] = *word = pl_ir_new(x, 1);
            c->guard = i->guard;
            c->flags |= i->flags & PL_IF_GUARD_NEG;
            c->line = i->line;
            i->sel[PL_M_FLAGS] &= (uint8_t)~PL_MF_WIDE;
            i->plan = 0;
        }
    return pl_ir_flush_inserts(x);
}
