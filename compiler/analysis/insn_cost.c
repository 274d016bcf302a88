/* insn_cost.c - see insn_cost.h. */
#include "compiler/analysis/insn_cost.h"

#include <assert.h>

#include "compiler/tuning.h"
#include "isa/program/operand_plan.h"

static_assert((int)PL_COST_NEVER > (int)PL_INSN_COST_MAX, "no body has room for it");

static bool is_number(const pl_ir *x, uint32_t row)
{
    uint64_t number;
    return pl_ir_constant_value(x, row, &number);
}

uint32_t pl_insn_constant_in_register(const pl_ir *x, const pl_insn *i)
{
    const pl_word type = pl_insn_type(i);
    uint64_t number;
    switch (pl_insn_mnem(i)) {
    case M_shl:
    case M_shr:
        return i->latency_class != C_free && is_number(x, i->op[1]) && !is_number(x, i->op[2])
                   ? i->op[1]
                   : PL_IR_NONE;
    case M_mad:
    case M_fma:
        return is_number(x, i->op[2]) && is_number(x, i->op[3]) && pl_type_bits(type) == 32
                   ? i->op[2]
                   : PL_IR_NONE;
    case M_selp:
        return pl_ir_constant_value(x, i->op[1], &number) && number &&
                       pl_ir_constant_value(x, i->op[2], &number) && number
                   ? i->op[1]
                   : PL_IR_NONE;
    case M_st:
        return i->op[1] < x->f->rows && pl_ir_constant_value(x, i->op[1], &number) && number &&
                       !pl_operand_count(&pl_forms[i->form], 1, i->mods)
                   ? i->op[1]
                   : PL_IR_NONE;
    default: return PL_IR_NONE;
    }
}

/* The number of instructions to extend a 16-bit value to 32 bits. Constants, results of bitwise
 * logic, loaded bytes, and all loaded values that are unsigned need none. */
static unsigned extension_cost(const pl_ir *x, uint32_t row, bool is_signed)
{
    const pl_insn *w =
        row < x->nregs_described && x->regs[row].kind == PL_REG_VIRTUAL && x->regs[row].ndefs == 1
            ? pl_ir_writer(x, row)
            : NULL;
    if (is_number(x, row) ||
        (w && (pl_insn_mnem(w) == M_and || pl_insn_mnem(w) == M_xor || pl_insn_mnem(w) == M_or)))
        return 0;
    if (!w || (pl_insn_effects(w) & PL_EF_LOAD))
        return is_signed && !(w && pl_type_bits(pl_insn_type(w)) == 8);
    return 1;
}

/* 64-bit logic: a half that the constant leaves unchanged costs nothing. */
static unsigned cost_of_logic(const pl_ir *x, const pl_insn *i)
{
    uint64_t number;
    if (pl_insn_mnem(i) == M_not || !pl_ir_constant_value(x, i->op[2], &number)) return 2;
    const uint64_t neutral = pl_insn_mnem(i) == M_and ? UINT64_MAX : 0;
    return (unsigned)((uint32_t)number != (uint32_t)neutral) +
           (unsigned)(number >> 32 != neutral >> 32 && (number >> 32 || !neutral));
}

/* Conversions between integers of up to 32 bits. */
static unsigned cost_of_conversion(const pl_ir *x, const pl_insn *i)
{
    const pl_word to = pl_operand_type(&pl_forms[i->form], 0, i->mods),
                  from = pl_operand_type(&pl_forms[i->form], 1, i->mods);
    if (pl_type_bits(to) <= 16 && pl_type_bits(to) <= pl_type_bits(from) && !pl_insn_has(i, W_sat))
        return 0;
    return from == W_u16 ? extension_cost(x, i->op[1], false) : 1;
}

/* Register copies and the extraction of a half are free; a constant costs one instruction unless it
 * is zero. */
static unsigned cost_of_move(const pl_ir *x, const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    uint64_t number;
    if (f->noperands != 2 || pl_operand_count(f, 0, i->mods)) return 0;
    if (pl_operand_count(f, 1, i->mods)) return 1;
    if (!pl_ir_constant_value(x, i->op[1], &number))
        return i->op[1] < x->nregs_described && x->regs[i->op[1]].kind == PL_REG_VIRTUAL ? 0 : 1;
    return (unsigned)((uint32_t)number != 0) + (unsigned)(number >> 32 != 0);
}

/* 16-bit integers: operands that must be extended, plus operations without a machine instruction of
 * this width. */
static unsigned extra_of_int16(const pl_ir *x, const pl_insn *i)
{
    const bool is_signed = pl_insn_type(i) == W_s16;
    switch (pl_insn_mnem(i)) {
    case M_shr:
    case M_sub: return 1;
    case M_setp:
        return extension_cost(x, i->op[2], is_signed) + extension_cost(x, i->op[3], is_signed);
    case M_mul:
        return extension_cost(x, i->op[1], is_signed) + extension_cost(x, i->op[2], is_signed);
    default: return 0;
    }
}

/* 64-bit integer operations whose cost does not follow from the latency class; false: it does. */
static bool cost_of_int64(const pl_ir *x, const pl_insn *i, unsigned *cost)
{
    const struct pl_tuning_if_convert *t = &x->p->tuning->if_convert;
    uint64_t number;
    switch (pl_insn_mnem(i)) {
    case M_and:
    case M_or:
    case M_xor:
    case M_not: *cost = cost_of_logic(x, i); return true;
    case M_shl:
    case M_shr:
        *cost = 0;
        if (!pl_ir_constant_value(x, i->op[2], &number) || number < 32) return false;
        *cost = (unsigned)(number > 32) + (unsigned)(pl_insn_type(i) == W_s64);
        return true;
    case M_mul:
        *cost = pl_insn_has(i, W_hi)     ? t->cost_mul64_hi
                : is_number(x, i->op[2]) ? t->cost_mul64_constant
                                         : t->cost_mul64;
        return true;
    case M_mad: *cost = t->cost_mad64; return true;
    case M_abs: *cost = t->cost_abs64; return true;
    case M_min:
    case M_max: *cost = t->cost_minmax64; return true;
    default: return false;
    }
}

unsigned pl_insn_cost(const pl_ir *x, const pl_insn *i)
{
    const uint16_t m = pl_insn_mnem(i);
    const pl_word type = pl_insn_type(i);
    const int bits = pl_type_bits(type);
    const bool is_float = pl_type_kind(type) == 'f';
    unsigned extra = 0, cost;
    if (i->latency_class == C_free) return 0;
    if (bits == 64 && (!is_float || m == M_mad) && cost_of_int64(x, i, &cost)) return cost;
    if (bits == 16 && !is_float) extra = extra_of_int16(x, i);
    switch (m) {
    case M_mov: return cost_of_move(x, i);
    case M_bfe:
    case M_bfi: extra = !is_number(x, i->op[m == M_bfe ? 2 : 3]); break;
    case M_rcp:
        if (i->latency_class == C_mufu_scaled) return x->p->tuning->if_convert.cost_rcp_scaled;
        break;
    case M_cvt:
        if (i->latency_class == C_cvt_int) return cost_of_conversion(x, i);
        break;
    case M_testp: extra = 1; break;
    case M_bfind:
    case M_clz: return PL_COST_NEVER;
    default: break;
    }
    return pl_classes[i->latency_class].convert_cost + extra;
}
