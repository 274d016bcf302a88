/* lower_int16.c - lowers 16-bit integer operations to 32-bit registers: some instructions require a
 * certain upper half of their operands.
 *
 * ptxas 13.0 (sm_90, sequences of a load, an operation and a use compared, 2026-11) leaves the
 * upper half of a 16-bit value undefined. A sum, a logic operation, a left shift and a store ignore
 * it, and truncating a word to 16 bits takes no instruction. Comparisons, wide products, right
 * shifts and conversions back to 32 bits require zeros there (LOP3, or PRMT), the signed ones
 * copies of the sign (PRMT), and so do both factors of mul.lo.s16. Bytes, values extended by a load
 * or a mask, and results of right shifts are extended already. A difference of two registers is
 * three instructions: the negation is truncated first. */
#include "compiler/passes.h"
#include "isa/program/operand_plan.h"

enum {
    ZEROS = 1,
    SIGNS = 2
}; /* the known upper half of a register; a non-negative value has both */

typedef struct int16_lowering {
    pl_ir *x;
    /* By row: the known upper half of a value; ptxas does not track variables. */
    uint8_t *known;
    uint32_t *extended[2]; /* by row: block (plus one) in which it was first zero-extended,
                              sign-extended */
    uint32_t block;
} int16_lowering;

static unsigned upper_half_of_constant(uint64_t v)
{
    return v < 0x8000 ? ZEROS | SIGNS : v < 0x10000 ? ZEROS : (uint32_t)v >= 0xffff8000 ? SIGNS : 0;
}

/* The upper half that a load or conversion of this type leaves in a register. */
static unsigned upper_half_of_type(pl_word t)
{
    const bool sign = pl_type_kind(t) == 's';
    return pl_type_bits(t) == 8    ? (sign ? SIGNS : ZEROS | SIGNS)
           : pl_type_bits(t) == 16 ? (sign ? SIGNS : ZEROS)
                                   : 0;
}

static unsigned known(const int16_lowering *s, uint32_t row)
{
    uint64_t v;
    return pl_ir_constant_value(s->x, row, &v) ? upper_half_of_constant(v)
           : row < s->x->f->rows               ? s->known[row]
                                               : 0;
}

/* The upper half that an instruction leaves in its result. */
static unsigned upper_half_of_result(const int16_lowering *s, const pl_insn *i)
{
    uint64_t n = 0;
    const pl_form *f = &pl_forms[i->form];
    const pl_word t = pl_insn_type(i);
    const unsigned bits = (unsigned)pl_type_bits(t);
    const bool sign = pl_type_kind(t) == 's', number = f->noperands == 3 &&
                                                       f->operand[2].kind == PL_K_VALUE &&
                                                       pl_ir_constant_value(s->x, i->op[2], &n);
    switch ((int)pl_insn_mnem(i)) {
    case M_ld: return i->sel[PL_M_COUNT] == 1 ? upper_half_of_type(t) : 0;
    case M__cut: return ZEROS | SIGNS; /* PRMT extends as its uses require */
    case M_cvt: {
        const pl_word from = f->noperands == 2 ? pl_operand_type(f, 1, i->mods) : W_f32;
        if (pl_type_kind(from) == 'f' || pl_type_bits(from) > 32) return 0;
        return bits == 8 || pl_type_bits(from) == 8
                   ? upper_half_of_type(pl_type_bits(from) == 8 ? from : t)
                   : known(s, i->op[1]);
    }
    case M_and: {
        const unsigned a = known(s, i->op[1]), b = known(s, i->op[2]), both = ZEROS | SIGNS;
        return (a & b) | ((a | b) & ZEROS) | (a == both || b == both ? SIGNS : 0);
    }
    case M_or:
    case M_xor:
    case M_selp: return known(s, i->op[1]) & known(s, i->op[2]);
    case M_shr:
        if (!number || bits > 32) return 0;
        return sign         ? (bits == 16 || n >= 16 ? SIGNS : 0)
               : bits == 16 ? ZEROS | (n ? SIGNS : 0)
               : n >= 16    ? ZEROS | (n > 16 ? SIGNS : 0)
                            : 0;
    case M_mul: return t == W_u16 && pl_insn_has(i, W_hi) ? ZEROS : 0;
    case M_div:
    case M_rem: return t == W_u16 ? ZEROS : 0;
    default: return pl_insn_is_copy(i) ? known(s, i->op[1]) : 0;
    }
}

typedef struct upper_half_query {
    int16_lowering *s;
    unsigned upper_half_of_result;
} upper_half_query;

/* 1 if the value must be extended for this use, and has not been in a dominating block; else 0. */
static unsigned needs_extension(int16_lowering *s, uint32_t row, unsigned how)
{
    if (row == UINT32_MAX || row >= s->x->f->rows || (known(s, row) & how)) return 0;
    uint32_t *block = &s->extended[how == SIGNS][row];
    const bool before =
        *block && s->x->regs[row].ndefs == 1 && pl_ir_dominates(s->x, *block - 1, s->block);
    if (before) return 0;
    *block = s->block + 1;
    return 1;
}

static bool is_int16(const pl_insn *i)
{
    return i->form != PL_IR_DEAD && pl_type_bits(pl_insn_type(i)) == 16 &&
           pl_type_kind(pl_insn_type(i)) != 'f';
}

static void lower_cvt(int16_lowering *s, pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    if (i->latency_class != C_cvt_int || f->noperands != 2 || pl_insn_has(i, W_sat) ||
        i->guard != PL_PT || s->x->regs[i->op[0]].ndefs != 1)
        return;
    const pl_word to = pl_operand_type(f, 0, i->mods), from = pl_operand_type(f, 1, i->mods);
    if (pl_type_bits(to) == 16 && pl_type_bits(from) > 16)
        i->latency_class = C_free;
    else if (pl_type_bits(to) >= 16 && pl_type_bits(from) == 16 &&
             (pl_type_bits(to) == 16 ||
              !needs_extension(s, i->op[1], pl_type_kind(from) == 's' ? SIGNS : ZEROS)))
        i->latency_class = C_free;
}

static void lower_insn(int16_lowering *s, pl_insn *i)
{
    const uint16_t m = i->form == PL_IR_DEAD ? (uint16_t)M_count : pl_insn_mnem(i);
    if (m == M_cvt) {
        lower_cvt(s, i);
        return;
    }
    if (!is_int16(i) || !pl_insn_pure(i)) return;
    const unsigned how = pl_type_kind(pl_insn_type(i)) == 's' ? SIGNS : ZEROS;
    if (m == M_sub && i->latency_class == C_alu)
        i->latency_class = C_alu_x3;
    else if (m == M_neg && i->latency_class == C_alu)
        i->latency_class = C_alu_x2;
    else if (m == M_shr && (i->latency_class == C_alu || i->latency_class == C_alu_x6) &&
             pl_forms[i->form].noperands == 3 && s->x->kind.at[i->op[2]] == PL_REG_PRESET)
        i->latency_class = needs_extension(s, i->op[1], how) ? C_alu_x2 : C_alu;
    else if ((m == M_mul || m == M_mad) &&
             (i->latency_class == C_imad || i->latency_class == C_imad_x3)) {
        const unsigned nextends =
            needs_extension(s, i->op[1], how) + needs_extension(s, i->op[2], how);
        i->latency_class = nextends == 2 ? C_imad_x3 : nextends ? C_mul24 : C_imad;
    } else if (m == M_setp && i->latency_class == C_setp &&
               needs_extension(s, i->op[2], how) + needs_extension(s, i->op[3], how))
        i->latency_class = C_alu_x2;
}

static bool is_packed_access(const pl_insn *i)
{
    return i->form != PL_IR_DEAD && (pl_insn_mnem(i) == M_ld || pl_insn_mnem(i) == M_st) &&
           i->sel[PL_M_COUNT] > 1 && i->sel[PL_M_LOG2] < 2 && i->guard == PL_PT;
}

/* Several bytes or halves are loaded and stored as words: elements in use are extracted, elements
 * stored are packed (PRMT). */
static void unpack_elements(pl_ir *x, const uint16_t *to_float, uint32_t block, size_t at)
{
    const pl_insn access = x->blocks.at[block].code.at[at];
    const unsigned n = access.sel[PL_M_COUNT];
    const pl_word t = pl_insn_type(&access);
    const bool stores = pl_insn_mnem(&access) == M_st;
    for (unsigned k = stores; k < n; k++) { /* the first one of a store receives the others */
        const size_t element = access.extra_ops + access.op[stores] + k;
        const uint32_t row = x->p->pool.at[element];
        uint64_t v;
        if (row >= x->nregs_described ||
            (!stores && (x->regs[row].ndefs != 1 || !x->regs[row].nuses)) ||
            x->regs[row].precolored || pl_ir_constant_value(x, row, &v))
            continue;
        if (!stores && to_float[row] && (access.sel[PL_M_LOG2] || to_float[row] != W_u16)) continue;
        const uint32_t other = pl_ir_new(x, 1);
        pl_insn *i = pl_ir_insert(x, block, stores ? at : at + 1);
        if (!i || !pl_insn_make(i, M__cut, 2, &t, 1)) return;
        x->p->pool.at[element] = other;
        i->op[0] = stores ? other : row;
        i->op[1] = stores ? row : other;
        i->line = access.line;
        at += stores;
    }
}

static bool has_int16(const pl_insn *i)
{
    return is_int16(i) ||
           (i->form != PL_IR_DEAD && pl_insn_mnem(i) == M_cvt && i->latency_class == C_cvt_int);
}

bool pl_pass_lower_int16_extend(pl_ir *x)
{
    if (!pl_ir_any(x, has_int16)) return true;
    if (!pl_ir_analyze(x)) return false;
    int16_lowering s = {.x = x,
                        .extended = {pl_arena_array(x->tmp, uint32_t, x->f->rows + 4),
                                     pl_arena_array(x->tmp, uint32_t, x->f->rows + 4)}};
    s.known = pl_arena_array(x->tmp, uint8_t, x->f->rows + 4);
    if (!s.extended[0] || !s.extended[1] || !s.known) return false;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        s.block = x->rpo[j];
        for (size_t k = 0; k < x->blocks.at[s.block].code.n; k++) {
            pl_insn *i = &x->blocks.at[s.block].code.at[k];
            if (i->form == PL_IR_DEAD) continue;
            upper_half_query l = {&s, upper_half_of_result(&s, i)};
            lower_insn(&s, i);
            PL_FOR_EACH_WRITE(x->p, i, o)
                if (!(o.use & PL_USE_PRED) && o.rows == 1 && *o.row < l.s->x->f->rows &&
                    l.s->x->regs[*o.row].ndefs == 1 && !l.s->x->regs[*o.row].precolored)
                    l.s->known[*o.row] = (uint8_t)l.upper_half_of_result;
        }
    }
    pl_ir_preserve_all(x);
    return true;
}

/* Runs before pl_pass_lower_int16_extend. */
bool pl_pass_lower_int16_narrow(pl_ir *x)
{
    if (!pl_ir_any(x, is_packed_access)) return true;
    if (!pl_ir_analyze(x)) return false;
    /* by row: source type of a conversion to float, which reads a half or a byte of a word
     * directly; one from u16 does not read bytes */
    uint16_t *to_float = pl_arena_array(x->tmp, uint16_t, x->f->rows + 4);
    if (!to_float) return false;
    for (uint32_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            const pl_insn *i = &x->blocks.at[b].code.at[k];
            if (i->form != PL_IR_DEAD && pl_insn_mnem(i) == M_cvt &&
                pl_type_kind(pl_insn_type(i)) == 'f' && i->op[1] < x->f->rows)
                to_float[i->op[1]] = (uint16_t)pl_operand_type(&pl_forms[i->form], 1, i->mods);
        }
    for (uint32_t b = 0; b < x->blocks.n; b++)
        for (size_t k = x->blocks.at[b].code.n; k-- > 0 && pl_ir_ok(x);)
            if (is_packed_access(&x->blocks.at[b].code.at[k])) unpack_elements(x, to_float, b, k);
    return pl_ir_ok(x);
}
