/* isel_combine.c - instruction selection by combining (peephole): chains of PTX instructions become
 * machine instructions that perform several steps at once.
 *
 * This follows ptxas 13.0 for sm_90 (2026-11):
 * - a product and a sum are one IMAD, or IMAD.WIDE for mul.wide and a 64-bit sum;
 * - both halves of a product are one IMAD.WIDE;
 * - a shift and a sum are LEA or LEA.HI; two sums are IADD3;
 * - a logic tree with up to three inputs is one LOP3;
 * - a comparison and the logic on its predicate are one ISETP;
 * - a field at a constant position is inserted by a shift and a LOP3;
 * - a constant added to an address is folded into the access, a negated factor into the sum.
 * A product that several sums use is computed in each of them, if all its uses can be folded in
 * this way.
 *
 * An instruction can be absorbed by a later one only if its operands still have their values there.
 * They are values (ir.h), or variables that no instruction of the same block has written in
 * between. */
#include "compiler/codegen/isel_combine.h"

#include <string.h>

/* The leading zeros of a word are 31 minus the result of FLO, which a sum can absorb. 31 minus the
 * leading zeros is the result itself. It is not known that another constant minus the leading zeros
 * becomes a sum. */
static void combine_leading_zeros(const combiner *c, pl_insn *i)
{
    uint64_t from;
    for (unsigned k = 1; k <= 2; k++) {
        pl_insn *w = pl_insn_is_integer(i, 32) && pl_isel_writer_mnem(c, i, k) == M_clz
                         ? pl_isel_absorbable_def(c, i, k)
                         : NULL;
        if (!w || w->latency_class != C_clz || !pl_isel_has_one_use(c, i->op[k])) continue;
        const bool is_less =
            pl_insn_mnem(i) == M_sub && k == 2 && pl_ir_constant_value(c->x, i->op[1], &from);
        if (is_less && from != 31) return;
        w->latency_class = C_popc;
        if (is_less) i->latency_class = C_free;
        return;
    }
}

/* The maximum or minimum of two integers, selected by a comparison of them: VIMNMX. */
static void select_bound(combiner *c, pl_insn *i)
{
    pl_ir *x = c->x;
    if (i->guard != PL_PT || pl_type_bits(pl_insn_type(i)) != 32 || pl_insn_type(i) == W_f32 ||
        i->op[3] <= PL_PF)
        return;
    const pl_ir_reg *r = &x->preds[i->op[3]];
    if (r->ndefs != 1 || r->nuses != 1 || r->precolored || r->def_block != c->block ||
        r->def_index >= c->at)
        return;
    const pl_insn *w = &x->blocks.at[r->def_block].code.at[r->def_index];
    const pl_word type = pl_insn_type(w);
    if (pl_insn_mnem(w) != M_setp || w->guard != PL_PT || pl_forms[w->form].noperands != 4 ||
        w->op[1] != UINT32_MAX || (type != W_s32 && type != W_u32))
        return;
    const bool in_order = w->op[2] == i->op[1] && w->op[3] == i->op[2],
               swapped = w->op[2] == i->op[2] && w->op[3] == i->op[1];
    const bool is_greater = pl_insn_has(w, W_gt) || pl_insn_has(w, W_ge),
               is_less = pl_insn_has(w, W_lt) || pl_insn_has(w, W_le), negates = i->neg >> 3 & 1;
    pl_insn n = *i;
    if (in_order == swapped || is_greater == is_less ||
        !pl_insn_make(&n, (is_greater == in_order) != negates ? M_max : M_min, 3, &type, 1))
        return;
    for (unsigned k = 1; k <= 2; k++)
        if (!pl_isel_is_unchanged(c, i->op[k], r)) return;
    n.neg = 0;
    *i = n;
}

/* 1 or 0 selected by a comparison of floats: FSET. */
static void select_by_pred(const combiner *c, pl_insn *i)
{
    const uint64_t one = 0x3f800000;
    uint64_t if_true, if_false;
    if (i->guard != PL_PT || pl_insn_type(i) != W_f32 || i->op[3] <= PL_PF ||
        !pl_ir_constant_value(c->x, i->op[1], &if_true) ||
        !pl_ir_constant_value(c->x, i->op[2], &if_false) ||
        !((if_true == one && !if_false) || (!if_true && if_false == one)))
        return;
    const pl_ir_reg *r = &c->x->preds[i->op[3]];
    if (r->ndefs != 1 || r->nuses != 1 || r->precolored || r->def_block != c->block) return;
    pl_insn *w = &c->x->blocks.at[r->def_block].code.at[r->def_index];
    if (pl_insn_mnem(w) == M_setp && w->guard == PL_PT && pl_forms[w->form].noperands == 4 &&
        w->op[1] == UINT32_MAX && pl_insn_type(w) == W_f32)
        w->latency_class = C_free;
}

/* Bit fields at constant positions. ptxas 13.0 extracts bytes and pairs of bytes with PRMT, a field
 * at bit 0 with LOP3 or SGXT, others with SHF and SGXT. Variable positions and widths take three
 * more instructions for clamping, and a register for a constant among them. */
static void extract_field(const combiner *c, pl_insn *i)
{
    enum { POSITION = 2, WIDTH = 3 };
    uint64_t position = 0, width = 0;
    const bool at = pl_ir_constant_value(c->x, i->op[POSITION], &position),
               wide = pl_ir_constant_value(c->x, i->op[WIDTH], &width);
    const bool is_signed = pl_type_kind(pl_insn_type(i)) == 's';
    position &= 255;
    width &= 255;
    if (i->latency_class == C_bfe && at && wide && position < 32)
        i->latency_class =
            position == 0 && width >= 32 ? C_free
            : position == 0 || width >= 32 || (!is_signed && pl_isel_whole_bytes(position, width))
                ? C_alu
                : C_alu_x2;
    else if (i->latency_class == C_bfe && ((at && position) || wide))
        i->latency_class = C_alu_x6;
    else if (i->latency_class == C_bfe64 && wide)
        i->latency_class = C_alu_x3;
    else if (i->latency_class == C_bfe64s && wide)
        i->latency_class = at && position % 32 == 0 ? C_alu_x6 : C_alu_x7;
}

/* bfi with constant position and width is a shift and a LOP3, or a PRMT; the bits that the field
 * covers need not be cleared before. */
static void insert_field(const combiner *c, pl_insn *i)
{
    uint64_t position = 0, width, kept_bits;
    const bool at = pl_ir_constant_value(c->x, i->op[3], &position);
    if (pl_insn_type(i) != W_b32) return;
    if (!pl_ir_constant_value(c->x, i->op[4], &width) || !at || position > 31 || width > 32) {
        i->latency_class =
            at || pl_ir_constant_value(c->x, i->op[4], &width) ? C_alu_x7 : i->latency_class;
        return;
    }
    uint32_t field = (uint32_t)(((1ull << width) - 1) << position);
    i->latency_class = position && !pl_isel_whole_bytes(position, width) ? C_alu_x2 : C_alu;
    pl_insn *w = pl_isel_absorbable_def(c, i, 2);
    if (w && pl_insn_mnem(w) == M_and && pl_insn_type(w) == W_b32 &&
        pl_ir_constant_value(c->x, w->op[2], &kept_bits) &&
        ((uint32_t)kept_bits | field) == UINT32_MAX)
        i->op[2] = w->op[1];
}

/* Both halves of a product are one IMAD.WIDE, or the four of a 128-bit product: the instructions
 * for the upper half compute the lower one too. */
static void fold_low_half(const combiner *c, pl_insn *i)
{
    enum { NEAR = 64 };
    const unsigned bits = pl_type_bits(pl_insn_type(i)) == 64 ? 64 : 32;
    if (!pl_insn_has(i, W_lo) || !pl_insn_is_integer(i, bits) || i->guard != PL_PT) return;
    for (unsigned k = 1; k <= 2; k++)
        if (i->op[k] == UINT32_MAX || c->x->regs[i->op[k]].ndefs != 1) return;
    const pl_ir_block *b = &c->x->blocks.at[c->block];
    for (size_t k = c->at > NEAR ? c->at - NEAR : 0; k < b->code.n && k < c->at + NEAR; k++) {
        const pl_insn *o = &b->code.at[k];
        bool upper = pl_insn_mnem(o) == M_mul && pl_insn_has(o, W_hi) &&
                     pl_insn_is_integer(o, bits) && o->guard == PL_PT;
        if (upper && ((o->op[1] == i->op[1] && o->op[2] == i->op[2]) ||
                      (o->op[1] == i->op[2] && o->op[2] == i->op[1]))) {
            i->latency_class = C_free;
            return;
        }
    }
}

/* Combines a sum. Returns true if it became another instruction. */
static bool combine_sum(combiner *c, pl_insn *i)
{
    const bool add = pl_insn_mnem(i) == M_add;
    for (unsigned bits = 32; bits <= 64; bits += 32)
        if (pl_insn_is_integer(i, bits) && pl_forms[i->form].noperands == 3) {
            if ((add &&
                 (pl_isel_multiply_add(c, i, bits) || (bits == 32 && pl_isel_shift_add(c, i)))) ||
                (!add && pl_isel_multiply_subtract(c, i, bits)) || pl_isel_add3(c, i, bits))
                return true;
        }
    return false;
}

/* The first walk: counts uses that could absorb their operands. */
static void count_absorbing(combiner *c, pl_insn *i)
{
    bool takes_signs = false;
    switch (pl_insn_mnem(i)) {
    case M_add:
    case M_sub:
        takes_signs = pl_isel_can_fold_signs(i);
        if (!pl_isel_funnel(c, i)) combine_sum(c, i);
        break;
    case M_mul: takes_signs = pl_isel_can_fold_signs(i); break;
    case M_fma:
    case M_mad:
    case M__fms:
    case M__fnma:
    case M_min:
    case M_max:
    case M_setp:
    case M_rcp:
    case M_rsqrt:
    case M_sqrt:
    case M_lg2:
    case M_ex2:
    case M_sin:
    case M_cos: takes_signs = pl_isel_can_fold_signs(i); break;
    case M_selp: takes_signs = pl_insn_type(i) == W_f32; break;
    case M_mma:
        if (pl_insn_has(i, W_tf32)) pl_isel_count_tf32_uses(c, i);
        break;
    case M_or:
    case M_xor: pl_isel_funnel(c, i); break;
    default: break;
    }
    if (takes_signs) pl_isel_count_signs(c, i);
}

/* 16-bit logic is performed in 32 bits, whose upper halves are zero before and after. */
static void widen_logic(combiner *c, pl_insn *i)
{
    pl_insn r = *i;
    uint64_t n;
    const bool is_not = pl_insn_mnem(i) == M_not;
    if (pl_insn_type(i) != W_b16 ||
        !pl_insn_make(&r, is_not ? M_xor : pl_insn_mnem(i), 3, &(pl_word){W_b32}, 1))
        return;
    if (is_not) r.op[2] = pl_ir_constant(c->x, UINT16_MAX, 32);
    for (unsigned k = 1; k < 3; k++)
        if (pl_ir_constant_value(c->x, r.op[k], &n))
            r.op[k] = pl_ir_constant(c->x, (uint16_t)n, 32);
    *i = r;
}

/* The second walk: combines. */
static void combine(combiner *c, pl_insn *i)
{
    const uint16_t m = pl_insn_mnem(i);
    if (m == M_and || m == M_or || m == M_xor || m == M_not) widen_logic(c, i);
    switch (pl_insn_mnem(i)) {
    case M_add:
    case M_sub:
        if (pl_isel_funnel(c, i) || combine_sum(c, i)) return;
        break;
    case M_min:
    case M_max:
        pl_isel_sum_and_bound(c, i);
        pl_isel_saturate(c, i);
        break;
    case M_or:
    case M_xor:
        if (pl_isel_funnel(c, i)) return;
        pl_isel_merge_logic(c, i);
        pl_isel_merge_compare(c, i);
        break;
    case M_and:
    case M_not:
    case M_lop3:
    case M__lop3:
        pl_isel_merge_logic(c, i);
        pl_isel_merge_compare(c, i);
        break;
    default: break;
    }
    switch (pl_insn_mnem(i)) { /* its current mnemonic */
    case M_add:
    case M_sub: combine_leading_zeros(c, i); break;
    case M_setp: pl_isel_test_bits(c, i); break;
    case M_ex2: pl_isel_drop_mufu_scaling(c, i); break;
    case M_cvt:
        pl_isel_fold_round_trip(c, i);
        pl_isel_convert_part(c, i);
        pl_isel_convert_widened(c, i);
        pl_isel_merge_rounding(c, i);
        break;
    case M_selp:
        select_by_pred(c, i);
        select_bound(c, i);
        break;
    case M_bfe: extract_field(c, i); break;
    case M_bfi: insert_field(c, i); break;
    case M_mul:
        fold_low_half(c, i);
        pl_isel_multiply_short(c, i);
        break;
    case M_shl:
    case M_shr: pl_isel_wrap_shift(c, i); break;
    case M_neg:
    case M_abs: pl_isel_fold_sign(c, i); break;
    default: break;
    }
    if (i->flags & PL_IF_MEM) pl_isel_fold_address(c, i);
    pl_isel_round_tf32(c, i);
}

static void combine_insn(combiner *c, pl_insn *i)
{
    if (i->form == PL_IR_DEAD) return;
    if (c->counting)
        count_absorbing(c, i);
    else
        combine(c, i);
}

static bool combine_block(pl_ir *x, combiner *c)
{
    for (uint32_t j = 0; j < x->nrpo; j++) {
        c->block = x->rpo[j];
        pl_ir_block *b = &x->blocks.at[c->block];
        for (c->at = 0; c->at < b->code.n; c->at++) {
            /* Counting changes nothing; after the first change no further comparison is needed. */
            if (c->counting || c->changed)
                combine_insn(c, &b->code.at[c->at]);
            else {
                pl_insn before = b->code.at[c->at];
                combine_insn(c, &b->code.at[c->at]);
                before.plan = b->code.at[c->at].plan; /* computing them is not a change */
                before.traits = b->code.at[c->at].traits;
                c->changed = memcmp(&before, &b->code.at[c->at], sizeof before) != 0;
            }
            if (b->code.at[c->at].form != PL_IR_DEAD)
                PL_FOR_EACH_WRITE(x->p, &b->code.at[c->at], o)
                    pl_isel_note_write(c, o.row, o.rows, o.use);
        }
    }
    return pl_ir_ok(x);
}

bool pl_pass_isel_combine(pl_ir *x)
{
    for (unsigned iteration = 0; iteration < 2; iteration++) {
        if (!pl_ir_graph(x)) return false;
        uint32_t rows = x->f->rows + 64;
        combiner c = {.x = x,
                      .last_write = pl_arena_array(x->tmp, uint32_t, rows),
                      .last_write_block = pl_arena_array(x->tmp, uint32_t, rows),
                      .absorbing_uses = pl_arena_array(x->tmp, uint32_t, rows),
                      .tf32_uses = pl_arena_array(x->tmp, uint32_t, rows),
                      .counting = true};
        pl_ir_constant(x, 0, 32); /* create it before rows are described */
        if (!pl_ir_ok(x) || !pl_ir_count(x) || !combine_block(x, &c)) return false;
        memset(c.last_write_block, 0, rows * sizeof *c.last_write_block);
        c.counting = false;
        c.tf32_block = 0;
        if (!combine_block(x, &c)) return false;
        if (!c.changed) {
            pl_ir_preserve_all(x);
            break; /* dead code is removed already: by gvn, or by the DCE of the previous iteration
                    */
        }
        if (!pl_pass_dce(x)) return false;
    }
    return true;
}
