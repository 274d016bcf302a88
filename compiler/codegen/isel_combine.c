/* isel_combine.c - instruction selection by combining (peephole): chains of PTX instructions become
 * the machine instructions that do several steps at once.
 *
 * What ptxas 13.0 makes of sm_90 code (2026-11): a product and a sum are one IMAD (32 bits) or
 * IMAD.WIDE (mul.wide and a 64-bit sum), a shift and a sum LEA or LEA.HI, two sums IADD3, up to
 * three inputs of a tree of logic one LOP3, a compare and the logic on its predicate one ISETP;
 * both halves of a product one IMAD.WIDE; a field at a known place is inserted by a shift and a
 * LOP3; a constant added to an address goes into the access, a negated factor into the sum. A
 * product that several sums use is computed in each of them, when all its uses can be folded so.
 *
 * An instruction may move its work to a later one only when its operands still have their values
 * there: they are values (ir.h), or variables that nothing has written in between in the same
 * block. */
#include <string.h>

#include "compiler/passes.h"
#include "isa/program/operand_plan.h"

typedef struct combiner {
    pl_ir *x;
    uint32_t block, at;
    uint32_t *last_write;       /* by row: position in this block of the last write, plus one */
    uint32_t *last_write_block; /* by row: block (plus one) that position belongs to */
    uint32_t *absorbing_uses;   /* by row: uses that could take over its computation */
    uint32_t *tf32_uses;        /* by row: uses as tf32 by matrix units */
    uint32_t tf32_block;        /* the last block with a conversion to tf32 in place, plus one */
    bool counting;              /* first walk: only count */
    bool changed;
} combiner;

static void note_write(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    combiner *c = ctx;
    for (uint32_t r = *row; !(use & PL_USE_PRED) && r < *row + rows; r++)
        if (c->x->regs[r].ndefs != 1) { /* nobody asks about a value */
            c->last_write[r] = c->at + 1;
            c->last_write_block[r] = c->block + 1;
        }
}

/* Does the row still hold what it held when the writer of `def` ran? */
static inline bool stable(const combiner *c, uint32_t row, const pl_ir_reg *def)
{
    if (row == UINT32_MAX || c->x->regs[row].ndefs == 1) return true;
    if (def->def_block != c->block) return false;
    return c->last_write_block[row] != c->block + 1 || c->last_write[row] <= def->def_index;
}

/* The instruction that computed operand k, when this place may do its work instead. */
static pl_insn *source(const combiner *c, const pl_insn *i, unsigned k)
{
    uint32_t row = i->op[k];
    if (row == UINT32_MAX) return NULL;
    const pl_ir_reg *r = &c->x->regs[row];
    if (r->ndefs != 1 || r->def_block == PL_IR_NONE) return NULL;
    if (r->def_block == c->block
            ? r->def_index >= c->at
            : c->x->blocks.at[r->def_block].rpo_index >= c->x->blocks.at[c->block].rpo_index)
        return NULL; /* a value from the turn of a loop before, or of a register that was never set:
                        not this one's work */
    pl_insn *w = pl_ir_writer(c->x, row);
    if (w->form == PL_IR_DEAD || w->guard != PL_PT || w->op[0] != row || !pl_insn_pure(w))
        return NULL;
    const pl_form *f = &pl_forms[w->form];
    for (unsigned n = 1; n < f->noperands; n++)
        if (f->operand[n].kind == PL_K_VALUE && w->op[n] < c->x->f->rows &&
            !stable(c, w->op[n], r) && pl_operand_type(f, n, w->mods) != W_pred)
            return NULL;
    return w;
}

/* The name of the instruction that wrote operand k last, whether its work can be done here or not;
 * M_count: none did. Most operands need no further look. */
static inline uint16_t writer_name(const combiner *c, const pl_insn *i, unsigned k)
{
    const pl_insn *w = i->op[k] == UINT32_MAX ? NULL : pl_ir_writer(c->x, i->op[k]);
    return w ? pl_insn_mnem(w) : (uint16_t)M_count;
}

/* All uses of the row can take its computation over, so that nothing is done twice for nothing. */
static bool becomes_dead(combiner *c, uint32_t row)
{
    if (c->counting) {
        c->absorbing_uses[row]++;
        return false;
    }
    return c->absorbing_uses[row] >= c->x->regs[row].nuses;
}

static bool single(const combiner *c, uint32_t row)
{
    return c->x->regs[row].nuses == 1;
}

static bool log2_operand(const pl_ir *x, uint32_t row, uint64_t *n)
{
    return pl_ir_constant_value(x, row, n) && *n < 32;
}

/* 64 bits times a constant whose upper half is 0 or -1: IMAD.WIDE, IMAD for the upper half, IADD3.
 */
static void short_factor(const combiner *c, pl_insn *i)
{
    uint64_t n;
    const pl_insn *w = source(c, i, 1);
    const bool copies_sign =
        w && pl_insn_mnem(w) == M_cvt && pl_insn_has(w, W_s32); /* an instruction of its own */
    if (i->latency_class == C_mul64_lo && !copies_sign &&
        pl_ir_constant_value(c->x, i->op[2], &n) && n + (1ull << 32) < 1ull << 33)
        i->latency_class = C_imad_wide_sum;
}

/* a * b + c and (a << n) + c */
static bool multiply_add(combiner *c, pl_insn *i, unsigned bits)
{
    pl_ir *x = c->x;
    for (unsigned k = 1; k <= 2; k++) {
        const uint16_t m = writer_name(c, i, k);
        pl_insn *w = m == M_mul || m == M_shl ? source(c, i, k) : NULL;
        uint64_t n;
        if (!w) continue;
        uint32_t other = i->op[3 - k], row = i->op[k];
        pl_insn r = *i;
        pl_word t = pl_insn_type(w), words[2] = {W_lo, t};
        if (pl_insn_mnem(w) == M_mul && pl_insn_has(w, W_wide) && bits == 64 &&
            pl_type_bits(t) == 32) {
            words[0] = W_wide;
            if (!becomes_dead(c, row) || !pl_insn_make(&r, M_mad, 4, words, 2)) continue;
            r.latency_class =
                C_imad_wide; /* of a mad.wide in the text ptxas makes a product and a sum */
            r.op[1] = w->op[1];
            r.op[2] = w->op[2];
        } else if (pl_insn_mnem(w) == M_mul && pl_insn_has(w, W_lo) &&
                   pl_insn_is_integer(w, bits)) {
            if (x->regs[row].def_block != c->block) /* ptxas leaves this one where it is, outside of
                                                  a loop for instance, but none of the others */
                continue;
            if (!becomes_dead(c, row) || !pl_insn_make(&r, M_mad, 4, words, 2)) continue;
            r.op[1] = w->op[1];
            r.op[2] = w->op[2];
            short_factor(c, &r);
        } else if (pl_insn_mnem(w) == M_shl && pl_insn_is_integer(w, bits) &&
                   log2_operand(x, w->op[2], &n)) {
            words[0] = bits == 64 ? W_u64 : W_u32;
            if (!becomes_dead(c, row) || !pl_insn_make(&r, M__lea, 4, words, 1)) continue;
            r.op[1] = w->op[1];
            r.op[2] = (uint32_t)n;
        } else
            continue;
        r.op[3] = other;
        *i = r;
        return true;
    }
    return false;
}

/* c - a * number in 64 bits: the product by the negative number takes the sum along. */
static bool multiply_subtract_wide(combiner *c, pl_insn *i)
{
    pl_insn *w = writer_name(c, i, 2) == M_mul ? source(c, i, 2) : NULL, r = *i;
    uint64_t n = 0;
    if (!w || !pl_insn_is_integer(w, 64) || !pl_insn_has(w, W_lo) ||
        c->x->regs[i->op[2]].def_block != c->block || !pl_ir_constant_value(c->x, w->op[2], &n))
        return false;
    if (!becomes_dead(c, i->op[2]) ||
        !pl_insn_make(&r, M_mad, 4, (const pl_word[]){W_lo, W_u64}, 2))
        return false;
    r.op[1] = w->op[1];
    r.op[2] = pl_ir_constant(c->x, -n, 64);
    r.op[3] = i->op[1];
    short_factor(c, &r);
    *i = r;
    return true;
}

/* c - a * constant, a * b - c, and the same of a shift left: IMAD. (c - a * b of two registers
 * takes a negation, which is no gain.) */
static bool multiply_subtract(combiner *c, pl_insn *i, unsigned bits)
{
    if (bits == 64) return multiply_subtract_wide(c, i);
    pl_ir *x = c->x;
    for (unsigned k = 1; k <= 2; k++) {
        const uint16_t m = writer_name(c, i, k);
        pl_insn *w = m == M_mul || m == M_shl ? source(c, i, k) : NULL;
        uint64_t n = 0;
        if (!w || !pl_insn_is_integer(w, 32) || (m == M_mul && !pl_insn_has(w, W_lo)) ||
            x->regs[i->op[k]].def_block != c->block)
            continue;
        const bool number = pl_ir_constant_value(x, w->op[2], &n);
        if ((m == M_shl || k == 2) && (!number || (m == M_shl && n > 31))) continue;
        const uint32_t other = i->op[3 - k], factor = (uint32_t)(m == M_shl ? 1u << n : n),
                       row = i->op[k];
        pl_insn r = *i;
        if (!becomes_dead(c, row) ||
            !(k == 2 ? pl_insn_make(&r, M_mad, 4, (const pl_word[]){W_lo, W_u32}, 2)
                     : pl_insn_make(&r, M__msub, 4, &(pl_word){W_u32}, 1)))
            continue;
        r.op[1] = w->op[1];
        r.op[2] = k == 2   ? pl_ir_constant(x, (uint32_t)-factor, 32)
                  : number ? pl_ir_constant(x, factor, 32)
                           : w->op[2];
        r.op[3] = other;
        *i = r;
        return true;
    }
    return false;
}

/* (a >> n) + c, and a rotation or the middle of two registers + c: LEA.HI */
static bool shift_add(combiner *c, pl_insn *i)
{
    pl_ir *x = c->x;
    for (unsigned k = 1; k <= 2; k++) {
        const uint16_t m = writer_name(c, i, k);
        pl_insn *w = m == M_shr || m == M_shf ? source(c, i, k) : NULL, r;
        uint64_t n;
        if (!w || !pl_insn_is_integer(w, 32)) continue;
        r = *i;
        uint32_t other = i->op[3 - k], row = i->op[k];
        bool right = pl_insn_mnem(w) == M_shr,
             window = pl_insn_mnem(w) == M_shf && pl_insn_has(w, W_l);
        bool is_signed = pl_type_kind(pl_insn_type(w)) == 's';
        if ((!right && !window) || !log2_operand(x, w->op[right ? 2 : 3], &n) || !n ||
            !becomes_dead(c, row))
            continue;
        pl_word type = right && is_signed ? W_s32 : W_u32;
        if (!pl_insn_make(&r, M__leahi, type == W_s32 ? 4 : 5, &type, 1)) continue;
        r.op[1] = w->op[1];
        r.op[2] = type == W_s32 ? (uint32_t)n : right ? pl_ir_constant(x, 0, 32) : w->op[2];
        r.op[3] = type == W_s32 ? other : (uint32_t)(right ? 32 - n : n);
        if (type == W_u32) r.op[4] = other;
        *i = r;
        return true;
    }
    return false;
}

/* a << n | b >> 32 - n: SHF; of 64 bits two of them, where it is a sum, as nvcc writes a rotation:
 * of the other two ptxas makes nothing there. The shifted values have no bit in common, so a sum is
 * the same. */
static bool funnel(combiner *c, pl_insn *i)
{
    pl_ir *x = c->x;
    const uint16_t m = pl_insn_mnem(i);
    const unsigned bits = pl_insn_is_integer(i, 64) ? 64 : 32;
    if ((m != M_add && (bits == 64 || (m != M_or && m != M_xor))) || !pl_insn_is_integer(i, bits))
        return false;
    for (unsigned k = 1; k <= 2; k++) {
        const bool shifts = writer_name(c, i, k) == M_shl && writer_name(c, i, 3 - k) == M_shr;
        pl_insn *up = shifts ? source(c, i, k) : NULL, *down = up ? source(c, i, 3 - k) : NULL, r;
        uint64_t n, rest;
        if (!up || !down || !pl_insn_is_integer(up, bits) || !pl_insn_is_integer(down, bits) ||
            pl_type_kind(pl_insn_type(down)) == 's' || !pl_ir_constant_value(x, up->op[2], &n) ||
            !pl_ir_constant_value(x, down->op[2], &rest) || n + rest != bits || !n || !rest)
            continue;
        bool first = becomes_dead(c, i->op[k]), second = becomes_dead(c, i->op[3 - k]);
        if (c->counting) return true;
        r = *i;
        static const pl_word words[] = {W_l, W_wrap, W_b32}, wide = W_b64;
        if (!first || !second ||
            !(bits == 64 ? pl_insn_make(&r, M__shf, 4, &wide, 1)
                         : pl_insn_make(&r, M_shf, 4, words, 3)))
            continue;
        r.op[1] = down->op[1];
        r.op[2] = up->op[1];
        r.op[3] = bits == 64 ? (uint32_t)n : up->op[2];
        if (bits == 64 && n == 32) /* halves change their names */
            r.latency_class = C_free;
        *i = r;
        return true;
    }
    return false;
}

/* A shift by a count of which only the lower five bits are taken: SHF does that by itself. */
static void shift_round(combiner *c, pl_insn *i)
{
    pl_ir *x = c->x;
    const bool left = pl_insn_mnem(i) == M_shl;
    const pl_insn *w = writer_name(c, i, 2) == M_and ? source(c, i, 2) : NULL;
    const pl_word words[] = {left ? W_l : W_r, W_wrap, W_b32};
    pl_insn r = *i;
    uint64_t n;
    if (!w || !pl_insn_is_integer(i, 32) || !pl_insn_is_integer(w, 32) ||
        (!left && pl_type_kind(pl_insn_type(i)) == 's'))
        return;
    const unsigned k = pl_ir_constant_value(x, w->op[2], &n) ? 1 : 2;
    if (!pl_ir_constant_value(x, w->op[3 - k], &n) || (n & 31) != 31 ||
        !pl_insn_make(&r, M_shf, 4, words, 3))
        return;
    r.op[left ? 2 : 1] = i->op[1];
    r.op[left ? 1 : 2] = pl_ir_constant(x, 0, 32);
    r.op[3] = w->op[k];
    *i = r;
}

/* Does a sum add a constant or another one? */
static bool counts(const combiner *c, const pl_insn *sum)
{
    for (unsigned k = 1; k <= 2 && pl_insn_mnem(sum) == M_add; k++)
        if (pl_select_counts_pred(c->x, source(c, sum, k))) return true;
    return false;
}

/* a + b + c, a + b - c, a - (b - c), a - b - c */
static bool three_sums(const combiner *c, pl_insn *i, unsigned bits)
{
    if (c->counting) return false;
    pl_word t = bits == 64 ? W_u64 : W_u32;
    bool sub = pl_insn_mnem(i) == M_sub;
    const uint16_t m[] = {M_count, writer_name(c, i, 1), writer_name(c, i, 2)};
    if ((m[1] != M_add && m[1] != M_sub && m[2] != M_add && m[2] != M_sub) ||
        (bits == 32 && counts(c, i)))
        return false;
    for (unsigned k = 1; k <= 2; k++) {
        pl_insn *w = m[k] == M_add || m[k] == M_sub ? source(c, i, k) : NULL;
        if (!w || (bits == 32 && counts(c, w)) || !single(c, i->op[k]) ||
            !pl_insn_is_integer(w, bits) || pl_forms[w->form].noperands != 3)
            continue;
        bool inner = pl_insn_mnem(w) == M_sub;
        pl_insn r = *i;
        uint32_t other = i->op[3 - k];
        if (sub && inner != (k == 2)) { /* two are subtracted: c - (a + b) and a - b - c */
            if (bits == 64 || !pl_insn_make(&r, M__isub2, 4, &t, 1)) continue;
            r.op[1] = inner ? w->op[1] : other;
            r.op[2] = inner ? w->op[2] : w->op[1];
            r.op[3] = inner ? other : w->op[2];
            *i = r;
            return true;
        }
        if (!pl_insn_make(&r, sub || inner ? M__iadd2 : M__iadd3, 4, &t, 1)) continue;
        r.op[1] = sub && k == 2 ? other : w->op[1];
        r.op[2] = sub && k == 2 ? w->op[2] : inner ? other : w->op[2];
        r.op[3] = sub && k == 2 ? w->op[1] : inner ? w->op[2] : other;
        *i = r;
        return true;
    }
    return false;
}

/* Would the two instructions in one have two numbers, for which there is no room? */
static bool two_numbers(const combiner *c, const pl_insn *w, uint32_t other)
{
    uint64_t n;
    return (pl_ir_constant_value(c->x, other, &n) && n) &&
           (pl_ir_constant_value(c->x, w->op[1], &n) || pl_ir_constant_value(c->x, w->op[2], &n));
}

/* max(a + b, c), min(a - b, c), and max(max(a + b, c), 0); the larger of three values; min(max(a,
 * b), 0) is one, too. A sum that counts stays, as ptxas 13.0 leaves it. */
static void sum_and_bound(const combiner *c, pl_insn *i)
{
    const uint16_t m = pl_insn_mnem(i);
    const pl_word t = pl_insn_type(i), mode = m == M_max ? W_max : W_min;
    uint64_t zero;
    if ((t != W_s32 && t != W_u32) || pl_insn_has(i, W_relu) || !pl_insn_pure(i)) return;
    for (unsigned k = 1; k <= 2; k++) {
        pl_insn *w = source(c, i, k);
        if (!w || !single(c, i->op[k])) continue;
        pl_insn r = *i;
        const uint16_t inner = pl_insn_mnem(w);
        const bool bounds =
            (inner == M_min || inner == M_max) && pl_insn_type(w) == t && !pl_insn_has(w, W_relu);
        const bool cuts = m == M_max && t == W_s32 &&
                          pl_ir_constant_value(c->x, i->op[3 - k], &zero) && !(uint32_t)zero;
        r.op[3] = i->op[3 - k];
        if ((inner == M_add || inner == M_sub) && pl_insn_is_integer(w, 32) &&
            pl_forms[w->form].noperands == 3) {
            if (counts(c, w) || two_numbers(c, w, i->op[3 - k]) ||
                !pl_insn_make(&r, inner == M_add ? M__addmax : M__submax, 4,
                              (const pl_word[]){mode, t}, 2))
                continue;
        } else if (inner == M__addmax && cuts && pl_insn_type(w) == t && !pl_insn_has(w, W_relu)) {
            if (!pl_insn_make(&r, M__addmax, 4,
                              (const pl_word[]){pl_insn_has(w, W_max) ? W_max : W_min, W_relu, t},
                              3))
                continue;
            r.op[3] = w->op[3];
        } else if (bounds && cuts && inner == M_min) {
            if (!pl_insn_make(&r, M_min, 3, (const pl_word[]){W_relu, t}, 2)) continue;
        } else if (bounds && inner == m) {
            if (two_numbers(c, w, i->op[3 - k]) ||
                !pl_insn_make(&r, M__minmax3, 4, (const pl_word[]){mode, t}, 2))
                continue;
        } else
            continue;
        r.op[1] = w->op[1];
        r.op[2] = w->op[2];
        *i = r;
        return;
    }
}

/* ---- logic ---- */

enum { LUT_A = 0xf0, LUT_B = 0xcc, LUT_C = 0xaa };

typedef struct logic {
    uint32_t in[3];
    unsigned n;
    uint8_t lut;
} logic;

static uint8_t pick(unsigned k)
{
    return (uint8_t)(k == 0 ? LUT_A : k == 1 ? LUT_B : LUT_C);
}

/* Value of a table where input k is the pattern v[k]. */
static uint8_t apply(uint8_t lut, const uint8_t v[3])
{
    uint8_t out = 0;
    for (unsigned bit = 0; bit < 8; bit++) {
        unsigned at = (unsigned)(v[0] >> bit & 1) << 2 | (unsigned)(v[1] >> bit & 1) << 1 |
                      (unsigned)(v[2] >> bit & 1);
        out |= (uint8_t)((lut >> at & 1) << bit);
    }
    return out;
}

static bool logic_of(const pl_insn *i, logic *l)
{
    uint16_t m = pl_insn_mnem(i);
    *l = (logic){.n = 2};
    if ((m == M_lop3 || m == M__lop3) && pl_forms[i->form].noperands == 5) {
        static const uint8_t step[3] = {
            4, 2, 1}; /* from a bit of the table to the one where input k is set */
        uint8_t lut = (uint8_t)i->op[4], v[3] = {0};
        l->n = 0;
        for (unsigned k = 0; k < 3; k++)
            if ((lut >> step[k] ^ lut) &
                (uint8_t)~pick(k)) { /* an input that does not matter is none */
                v[k] = pick(l->n);
                l->in[l->n++] = i->op[1 + k];
            }
        l->lut = apply(lut, v);
        return true;
    } else if (pl_insn_type(i) != W_b32 && pl_insn_type(i) != W_b64)
        return false;
    else if (m == M_and)
        l->lut = LUT_A & LUT_B;
    else if (m == M_or)
        l->lut = LUT_A | LUT_B;
    else if (m == M_xor)
        l->lut = LUT_A ^ LUT_B;
    else if (m == M_not) {
        l->n = 1;
        l->lut = (uint8_t)~LUT_A;
    } else
        return false;
    for (unsigned k = 0; k < l->n; k++) l->in[k] = i->op[1 + k];
    return true;
}

static unsigned input(logic *l, uint32_t row)
{
    for (unsigned k = 0; k < l->n && k < 3; k++) /* n above 3: too many */
        if (l->in[k] == row) return k;
    if (l->n < 3) l->in[l->n] = row;
    return l->n++;
}

/* Does its inverse cost nothing? What is inverted, if so, else UINT32_MAX. */
static uint32_t inverted(const combiner *c, const pl_insn *i, unsigned k)
{
    const pl_insn *w = source(c, i, k);
    uint64_t n;
    if (!w || pl_insn_type(w) != pl_insn_type(i)) return UINT32_MAX;
    if (pl_insn_mnem(w) == M_not) return w->op[1];
    const uint64_t ones = pl_insn_type(i) == W_b64 ? UINT64_MAX : UINT32_MAX;
    return pl_insn_mnem(w) == M_xor && pl_ir_constant_value(c->x, w->op[2], &n) && n == ones
               ? w->op[1]
               : UINT32_MAX;
}

/* Is the row in use anyway, beside the instruction that asks? A number is no register. What a load
 * or a product brings as 64 bits has two users where its halves are used, one for each; a parameter
 * comes from elsewhere. */
static bool needed_anyway(const combiner *c, uint32_t row)
{
    uint64_t n;
    if (pl_ir_constant_value(c->x, row, &n)) return true;
    const pl_insn *w = c->x->regs[row].ndefs == 1 && c->x->regs[row].def_block != PL_IR_NONE
                           ? pl_ir_writer(c->x, row)
                           : NULL;
    if (w && w->sel[PL_M_SPACE] == PL_SP_PARAM && pl_insn_mnem(w) == M_ld) return false;
    if (c->x->regs[row].nuses > 1) return true;
    return w && pl_type_bits(pl_insn_type(w)) == 64 ? pl_insn_mnem(w) == M_ld && w->op[0] == row
                                                    : w && pl_insn_has(w, W_wide);
}

/* May what computes operand k be computed again by its user? Where it has no other one nothing is
 * done twice; where the registers that it reads are needed by others, nothing is kept longer for
 * it, and the user need not wait for it. */
static bool repeats(const combiner *c, uint32_t row, const logic *s)
{
    if (single(c, row)) return true;
    for (unsigned n = 0; n < s->n; n++)
        if (!needed_anyway(c, s->in[n])) return false;
    return true;
}

/* An instruction has room for one number, of which a half that is all zeros or ones needs none. */
static bool room_for_numbers(const combiner *c, const logic *l)
{
    for (unsigned half = 0; half < 2; half++) {
        uint32_t seen = 0;
        for (unsigned n = 0; n < l->n && n < 3; n++) {
            uint64_t v;
            if (!pl_ir_constant_value(c->x, l->in[n], &v)) continue;
            const uint32_t part = (uint32_t)(v >> 32 * half);
            if (part != 0 && part != UINT32_MAX && seen != 0 && part != seen) return false;
            if (part != 0 && part != UINT32_MAX) seen = part;
        }
    }
    return true;
}

/* Takes what computes operand k, when its input number `at` of *l, into *l. */
static bool absorb(const combiner *c, const pl_insn *i, unsigned k, logic *l)
{
    unsigned at = 0;
    while (at < l->n && l->in[at] != i->op[k]) at++;
    const pl_insn *w = at < l->n ? source(c, i, k) : NULL;
    logic s, m = {0};
    if (!w || pl_insn_type(w) != pl_insn_type(i) || pl_insn_mnem(w) == M_not || !logic_of(w, &s) ||
        !repeats(c, i->op[k], &s))
        return false;
    uint8_t child[3] = {0}, v[3] = {0};
    for (unsigned n = 0; n < s.n; n++) input(&m, s.in[n]);
    for (unsigned n = 0; n < l->n; n++)
        if (n != at) input(&m, l->in[n]);
    if (m.n > 3 || !room_for_numbers(c, &m)) return false;
    for (unsigned n = 0; n < s.n; n++) child[n] = pick(input(&m, s.in[n]));
    for (unsigned n = 0; n < l->n; n++)
        v[n] = n == at ? apply(s.lut, child) : pick(input(&m, l->in[n]));
    m.lut = apply(l->lut, v);
    if (!single(c, i->op[k])) { /* else its uses become those of its user */
        for (unsigned n = 0; n < s.n; n++) c->x->regs[s.in[n]].nuses++;
        c->x->regs[i->op[k]].nuses--;
    }
    *l = m;
    return true;
}

/* Up to three inputs of a tree of logic are one LOP3. So does ptxas 13.0 (100 small programs for
 * sm_90a, 2026-11): from the first instruction to the last, each takes in first what inverts an
 * operand, whoever else wants that, then what computes its second operand and its first, once. An
 * inversion takes in nothing, nor does a LOP3, be it of the text. */
static void merge_logic(const combiner *c, pl_insn *i)
{
    const pl_word type = pl_insn_type(i);
    logic l;
    if (pl_insn_mnem(i) == M_not || pl_forms[i->form].noperands != 3 || !logic_of(i, &l)) return;
    bool changed = false;
    pl_insn r = *i;
    for (unsigned k = 1; k <= 2; k++)
        for (uint32_t row;
             l.n == 2 && (row = inverted(c, &r, k)) != UINT32_MAX && row != r.op[3 - k];
             changed = true) {
            c->x->regs[row].nuses +=
                !single(c, r.op[k]); /* the inversion itself goes with its last user */
            c->x->regs[r.op[k]].nuses--;
            l.in[k - 1] = r.op[k] = row;
            l.lut = apply(l.lut, (const uint8_t[3]){k == 1 ? (uint8_t)~LUT_A : LUT_A,
                                                    k == 2 ? (uint8_t)~LUT_B : LUT_B, 0});
        }
    for (unsigned k = 2; k >= 1; k--) changed |= absorb(c, &r, k, &l);
    if (!changed || !pl_insn_make(&r, type == W_b64 ? M__lop3 : M_lop3, 5, &type, 1)) return;
    for (unsigned n = 0; n < 3; n++)
        r.op[1 + n] = n < l.n ? l.in[n] : pl_ir_constant(c->x, 0, type == W_b64 ? 64 : 32);
    r.op[4] = l.lut;
    *i = r;
}

/* ---- predicates ---- */

/* setp, then and/or/xor with another predicate: one compare does both. Where both are compares that
 * others need too, the first is done again, unless it compares 64-bit integers, which takes two
 * instructions: it costs no more than the logic would, and nothing where nobody needs it otherwise
 * (guards of one to four compares and each of one to three others, ptxas 13.0 for sm_90, 2026-11).
 */
static void merge_compare(const combiner *c, pl_insn *i)
{
    uint16_t m = pl_insn_mnem(i);
    const pl_ir *x = c->x;
    if (i->guard != PL_PT || (m != M_and && m != M_or && m != M_xor) || pl_insn_type(i) != W_pred)
        return;
    for (unsigned n = 0; n < 4; n++) {
        const unsigned k = 1 + n % 2;
        const bool again = n >= 2;
        const pl_ir_reg *r = &x->preds[i->op[k]];
        if (r->ndefs != 1 || (r->nuses != 1 && !again) || r->def_block == PL_IR_NONE ||
            (i->neg >> k & 1) || i->op[k] <= PL_PF || i->op[3 - k] == i->op[k])
            continue;
        const pl_insn *w = &x->blocks.at[r->def_block].code.at[r->def_index];
        const pl_form *f = &pl_forms[w->form];
        if (w->form == PL_IR_DEAD || f->mnem != M_setp || f->noperands != 4 || w->guard != PL_PT ||
            w->op[1] != UINT32_MAX || !stable(c, w->op[2], r) || !stable(c, w->op[3], r) ||
            (again && pl_insn_is_integer(w, 64)))
            continue;
        pl_word words[PL_MAX_MODS];
        unsigned nwords = 0;
        for (unsigned s = 0; s < f->nslots; s++)
            if (w->mods[s]) words[nwords++] = (pl_word)w->mods[s];
        words[nwords++] = m == M_and ? W_and : m == M_or ? W_or : W_xor;
        pl_insn t = *i;
        if (!pl_insn_make(&t, M_setp, 5, words, nwords)) continue;
        t.op[1] = UINT32_MAX;
        t.op[2] = w->op[2];
        t.op[3] = w->op[3];
        t.op[4] = i->op[3 - k];
        t.neg = (uint8_t)((i->neg >> (3 - k) & 1) << 4);
        *i = t;
        return;
    }
}

/* ---- addresses ---- */

static bool fits(int64_t v)
{
    return v >= -(1 << 23) && v < 1 << 23;
}

/* A word of the constant bank by a constant: its address is the number times a power of two, of
 * which 32 bits matter. */
static void bank_index(const combiner *c, pl_insn *i, unsigned k)
{
    pl_insn *w = source(c, i, k);
    uint64_t n;
    if (i->sel[PL_M_SPACE] == PL_SP_CONST && w && single(c, i->op[k]) &&
        (w->latency_class == C_imad_wide || w->latency_class == C_imad_wide_sum) &&
        pl_ir_constant_value(c->x, w->op[2], &n) && n && !(n & (n - 1)))
        w->latency_class = C_alu;
    if (i->sel[PL_M_SPACE] != PL_SP_CONST || !w || pl_insn_mnem(w) != M_add ||
        !single(c, i->op[k]) || !pl_insn_is_integer(w, 64))
        return;
    for (unsigned a = 1; a < 3; a++) { /* the variable's place goes into the access */
        const pl_frame_init *at = c->x->kind.at[w->op[a]] == PL_REG_PRESET
                                      ? &c->x->f->init.at[c->x->init.at[w->op[a]]]
                                      : NULL;
        if (at && at->reloc == PL_RELOC_VAR) w->latency_class = C_free;
    }
}

static void fold_address(const combiner *c, pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    pl_ir *x = c->x;
    unsigned k = 0;
    while (k < f->noperands && f->operand[k].kind != PL_K_ADDR) k++;
    if (k >= f->noperands || k >= PL_INLINE_OPERANDS || i->op[k] == UINT32_MAX) return;
    bool narrow = i->sel[PL_M_FLAGS] & PL_MF_ADDR32;
    bank_index(c, i, k);
    for (unsigned depth = 0; depth < 8; depth++) {
        pl_insn *w = source(c, i, k);
        uint64_t n;
        if (!w || pl_insn_mnem(w) != M_add || !pl_insn_is_integer(w, narrow ? 32 : 64) ||
            !pl_ir_constant_value(x, w->op[2], &n))
            return;
        int64_t sum = i->imm + (narrow ? (int64_t)(int32_t)(uint32_t)n : (int64_t)n);
        if (!fits(sum)) return;
        i->op[k] = w->op[1];
        i->imm = sum;
    }
}

/* Negation or absolute value of a float is part of its reader. */
static void free_sign(const combiner *c, pl_insn *i)
{
    pl_word t = pl_insn_type(i);
    if ((t == W_f32 || t == W_f64) && i->guard == PL_PT && c->x->regs[i->op[0]].ndefs == 1 &&
        c->absorbing_uses[i->op[0]] >= c->x->regs[i->op[0]].nuses)
        i->latency_class = C_free;
}

static void count_signs(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    combiner *c = ctx;
    (void)rows;
    if (!(use & PL_USE_PRED)) c->absorbing_uses[*row]++;
}

/* What the arithmetic of floats can take along. */
static bool takes_signs(const pl_insn *i)
{
    pl_word t = pl_insn_type(i);
    return t == W_f32 || t == W_f64;
}

static void count_cutters(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    combiner *c = ctx;
    (void)rows;
    if (!(use & PL_USE_PRED)) c->tf32_uses[*row]++;
}

/* cvt.rna.tf32: FSETP and, in place, a guarded sum with a number that a move brings once in a
 * block, for loops before them; FSETP, IADD3 and SEL where the value itself is wanted as well;
 * LOP3 cuts the low bits away, which a matrix unit does not look at (12 small kernels, ptxas 13.0
 * for sm_90, 2026-11). */
static void round_tf32(combiner *c, pl_insn *i)
{
    const pl_ir *x = c->x;
    if (pl_insn_mnem(i) != M_cvt || !pl_insn_has(i, W_tf32) || !pl_insn_has(i, W_rna) ||
        i->op[1] >= x->f->rows)
        return;
    const bool kept = x->regs[i->op[1]].nuses > 1,
               matrices = i->guard == PL_PT && x->regs[i->op[0]].ndefs == 1 &&
                          c->tf32_uses[i->op[0]] >= x->regs[i->op[0]].nuses;
    const bool first =
        !kept && x->blocks.at[c->block].loop == PL_IR_NONE && c->tf32_block != c->block + 1;
    if (first) c->tf32_block = c->block + 1;
    const unsigned n = 2u + kept + first + !matrices;
    i->latency_class = n == 2 ? C_alu_x2 : n == 4 ? C_minmax64 : matrices ? C_alu_x3 : C_cvt_tf32;
}

/* and, then a compare of the result with zero: LOP3 writes the predicate. */
static void test_bits(const combiner *c, pl_insn *i)
{
    uint64_t zero;
    if (i->guard != PL_PT || !(pl_insn_has(i, W_eq) || pl_insn_has(i, W_ne)) ||
        !pl_ir_constant_value(c->x, i->op[3], &zero) || zero ||
        pl_type_bits(pl_insn_type(i)) != 32 || pl_type_kind(pl_insn_type(i)) == 'f')
        return;
    pl_insn *w = source(c, i, 2);
    if (w && single(c, i->op[2]) && (pl_insn_mnem(w) == M_and || pl_insn_mnem(w) == M_lop3) &&
        w->latency_class == C_alu)
        w->latency_class = C_free;
}

/* The result of ex2 is no number that another ex2 would have to scale: it is not negative. */
static void unscaled(const combiner *c, pl_insn *i)
{
    if (i->latency_class != C_mufu_scaled) return;
    const pl_insn *w = source(c, i, 1);
    if (w && (pl_insn_mnem(w) == M_ex2 || pl_insn_mnem(w) == M_sqrt || pl_insn_mnem(w) == M_abs))
        i->latency_class = C_mufu;
}

/* To bf16 and back at once: F2F, which rounds only, where it would be F2FP otherwise. */
static void is_round_trip(const combiner *c, pl_insn *i)
{
    if (!pl_insn_has(i, W_bf16) || !pl_insn_has(i, W_f32) || !pl_insn_pure(i)) return;
    pl_insn *w = source(c, i, 1);
    if (pl_insn_type(i) == W_f32 && w && single(c, i->op[1]) && pl_insn_mnem(w) == M_cvt &&
        pl_insn_type(w) == W_bf16 && pl_insn_has(w, W_f32) && w->latency_class == C_cvt_half)
        w->latency_class = C_cvt_rnd;
}

/* Does a field stand at whole bytes? */
static bool whole_bytes(uint64_t place, uint64_t width)
{
    return place % 8 == 0 && (width == 8 || width == 16) && place + width <= 32;
}

/* The width of what a mask, a shift down or an extension leaves of a word at a whole byte, with its
 * sign or without; 0: of something else. */
static unsigned whole_part(const combiner *c, const pl_insn *w, bool sign)
{
    const pl_form *f = &pl_forms[w->form];
    uint64_t n = 0, width = 0;
    switch ((int)pl_insn_mnem(w)) {
    case M_and: { /* not of what is shifted down: these two are a field of bits before a mask is
                     looked at */
        const bool shifted = writer_name(c, w, 1) == M_shr;
        return !sign && !shifted && pl_ir_constant_value(c->x, w->op[2], &n) ? n == 0xff     ? 8
                                                                               : n == 0xffff ? 16
                                                                                             : 0
                                                                             : 0;
    }
    case M_shr:
        return !sign && pl_type_kind(pl_insn_type(w)) != 's' &&
                       pl_ir_constant_value(c->x, w->op[2], &n)
                   ? n == 24   ? 8
                     : n == 16 ? 16
                               : 0
                   : 0;
    case M_bfe:
        return (pl_type_kind(pl_insn_type(w)) == 's') == sign &&
                       pl_ir_constant_value(c->x, w->op[2], &n) &&
                       pl_ir_constant_value(c->x, w->op[3], &width) && whole_bytes(n, width)
                   ? (unsigned)width
                   : 0;
    case M_cvt: {
        const pl_word from = f->noperands == 2 ? pl_operand_type(f, 1, w->mods) : W_none;
        return w->latency_class == C_cvt_int && (pl_type_kind(from) == 's') == sign &&
                       pl_type_bits(from) < 32
                   ? (unsigned)pl_type_bits(from)
                   : 0;
    }
    default: return 0;
    }
}

/* A byte or half of a word becomes a float: I2F takes it out of the word by itself; I2FP, which is
 * quicker, cannot. */
static void convert_part(const combiner *c, pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    if (i->latency_class != C_cvt_i2f || i->guard != PL_PT || f->noperands != 2 ||
        pl_operand_type(f, 0, i->mods) != W_f32 ||
        pl_type_bits(pl_operand_type(f, 1, i->mods)) != 32)
        return;
    pl_insn *w = source(c, i, 1);
    if (!w || !single(c, i->op[1]) || w->latency_class == C_free ||
        pl_type_bits(pl_insn_type(w)) != 32 ||
        !whole_part(c, w, pl_type_kind(pl_operand_type(f, 1, i->mods)) == 's'))
        return;
    w->latency_class = C_free;
    i->latency_class = C_cvt_f2i;
}

/* A number of 8 or 16 bits without sign that a load, a shift or PRMT leaves with zeros above it,
 * for this reader alone: I2FP does. */
static void convert_widened(const combiner *c, pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    if (i->latency_class != C_cvt_f2i || f->noperands != 2 ||
        pl_operand_type(f, 0, i->mods) != W_f32 || pl_insn_has(i, W_rp) || pl_insn_has(i, W_rm))
        return;
    const pl_word from = pl_operand_type(f, 1, i->mods);
    if (pl_type_kind(from) != 'u' || i->op[1] == UINT32_MAX || c->x->regs[i->op[1]].ndefs != 1 ||
        !single(c, i->op[1]))
        return;
    const pl_insn *w = pl_ir_writer(c->x, i->op[1]);
    const uint16_t m = w ? pl_insn_mnem(w) : (uint16_t)M_count;
    if ((m == M_ld || m == M_shr || m == M__cut) && pl_type_kind(pl_insn_type(w)) != 's' &&
        pl_type_bits(pl_insn_type(w)) <= pl_type_bits(from))
        i->latency_class = C_cvt_i2f;
}

/* A float held between 0 and 1, from either side: what has computed it saturates, else FADD does.
 */
static void saturate(const combiner *c, pl_insn *i)
{
    const uint16_t m = pl_insn_mnem(i), other = m == M_min ? M_max : M_min;
    const uint64_t one = 0x3f800000;
    uint64_t n, bound;
    if (i->latency_class != C_fminmax || i->guard != PL_PT || pl_insn_has(i, W_NaN) ||
        pl_forms[i->form].noperands != 3 || !pl_ir_constant_value(c->x, i->op[2], &n))
        return;
    pl_insn *w = source(c, i, 1), *from;
    if (!w || pl_insn_mnem(w) != other || w->latency_class != C_fminmax || pl_insn_has(w, W_NaN) ||
        !single(c, i->op[1]) || pl_forms[w->form].noperands != 3 ||
        pl_insn_has(w, W_ftz) != pl_insn_has(i, W_ftz) ||
        !pl_ir_constant_value(c->x, w->op[2], &bound) ||
        (m == M_min ? n != one || bound : n || bound != one))
        return;
    from = source(c, w, 1);
    const uint16_t by = from ? pl_insn_mnem(from) : 0;
    const bool computes = from && single(c, w->op[1]) &&
                          (by == M_add || by == M_sub || by == M_mul || by == M_fma ||
                           by == M__fms || by == M__fnma) &&
                          pl_insn_type(from) == W_f32 && !pl_insn_has(from, W_sat) &&
                          pl_insn_has(from, W_ftz) == pl_insn_has(i, W_ftz);
    w->latency_class = C_free;
    i->latency_class = computes ? C_free : C_fma;
}

/* Rounded to an integral value, then to an integer, of which nothing is cut off any more: F2I
 * rounds as the first was told. */
static void round_once(const combiner *c, pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    if (i->guard != PL_PT || f->noperands != 2 || !pl_insn_has(i, W_rzi) ||
        pl_type_kind(pl_operand_type(f, 0, i->mods)) == 'f')
        return;
    const pl_word type = pl_operand_type(f, 1, i->mods);
    pl_insn *w = type == W_f32 || type == W_f64 ? source(c, i, 1) : NULL;
    if (!w || pl_insn_mnem(w) != M_cvt || !single(c, i->op[1]) || pl_insn_has(w, W_sat) ||
        pl_forms[w->form].noperands != 2)
        return;
    const bool integral = pl_insn_has(w, W_rni) || pl_insn_has(w, W_rzi) || pl_insn_has(w, W_rmi) ||
                          pl_insn_has(w, W_rpi);
    if (integral && pl_operand_type(&pl_forms[w->form], 0, w->mods) == type &&
        pl_operand_type(&pl_forms[w->form], 1, w->mods) == type)
        w->latency_class = C_free;
}

/* The leading zeros of a word are 31 less what FLO finds, which a sum takes along; 31 less the
 * zeros is what it finds, another number less them is not known to be a sum of it. */
static void leading_zeros(const combiner *c, pl_insn *i)
{
    uint64_t from;
    for (unsigned k = 1; k <= 2; k++) {
        pl_insn *w =
            pl_insn_is_integer(i, 32) && writer_name(c, i, k) == M_clz ? source(c, i, k) : NULL;
        if (!w || w->latency_class != C_clz || !single(c, i->op[k])) continue;
        const bool less =
            pl_insn_mnem(i) == M_sub && k == 2 && pl_ir_constant_value(c->x, i->op[1], &from);
        if (less && from != 31) return;
        w->latency_class = C_popc;
        if (less) i->latency_class = C_free;
        return;
    }
}

/* The greater or the lesser of two integers, chosen by a comparison of them: VIMNMX. */
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
    const bool same = w->op[2] == i->op[1] && w->op[3] == i->op[2],
               crossed = w->op[2] == i->op[2] && w->op[3] == i->op[1];
    const bool more = pl_insn_has(w, W_gt) || pl_insn_has(w, W_ge),
               less = pl_insn_has(w, W_lt) || pl_insn_has(w, W_le), turned = i->neg >> 3 & 1;
    pl_insn n = *i;
    if (same == crossed || more == less ||
        !pl_insn_make(&n, (more == same) != turned ? M_max : M_min, 3, &type, 1))
        return;
    for (unsigned k = 1; k <= 2; k++)
        if (!stable(c, i->op[k], r)) return;
    n.neg = 0;
    *i = n;
}

/* 1 or 0 by a comparison of floats: FSET. */
static void select_by_pred(const combiner *c, pl_insn *i)
{
    const uint64_t one = 0x3f800000;
    uint64_t yes, no;
    if (i->guard != PL_PT || pl_insn_type(i) != W_f32 || i->op[3] <= PL_PF ||
        !pl_ir_constant_value(c->x, i->op[1], &yes) || !pl_ir_constant_value(c->x, i->op[2], &no) ||
        !((yes == one && !no) || (!yes && no == one)))
        return;
    const pl_ir_reg *r = &c->x->preds[i->op[3]];
    if (r->ndefs != 1 || r->nuses != 1 || r->precolored || r->def_block != c->block) return;
    pl_insn *w = &c->x->blocks.at[r->def_block].code.at[r->def_index];
    if (pl_insn_mnem(w) == M_setp && w->guard == PL_PT && pl_forms[w->form].noperands == 4 &&
        w->op[1] == UINT32_MAX && pl_insn_type(w) == W_f32)
        w->latency_class = C_free;
}

/* Fields whose places are known. ptxas 13.0 cuts out bytes and pairs of bytes with PRMT, a field at
 * the bottom with LOP3 or SGXT, others with SHF and SGXT. What is no number goes through three more
 * instructions for the limits of place and width, and a constant beside it into a register. */
static void extract_field(const combiner *c, pl_insn *i)
{
    enum { PLACE = 2, WIDTH = 3 };
    uint64_t place = 0, width = 0;
    const bool at = pl_ir_constant_value(c->x, i->op[PLACE], &place),
               wide = pl_ir_constant_value(c->x, i->op[WIDTH], &width);
    const bool is_signed = pl_type_kind(pl_insn_type(i)) == 's';
    place &= 255;
    width &= 255;
    if (i->latency_class == C_bfe && at && wide && place < 32)
        i->latency_class = place == 0 && width >= 32 ? C_free
                           : place == 0 || width >= 32 || (!is_signed && whole_bytes(place, width))
                               ? C_alu
                               : C_alu_x2;
    else if (i->latency_class == C_bfe && ((at && place) || wide))
        i->latency_class = C_alu_x6;
    else if (i->latency_class == C_bfe64 && wide)
        i->latency_class = C_alu_x3;
    else if (i->latency_class == C_bfe64s && wide)
        i->latency_class = at && place % 32 == 0 ? C_alu_x6 : C_alu_x7;
}

/* bfi with constants for place and width is a shift and a LOP3, or a PRMT; what the field covers
 * need not be cut away before. */
static void insert_field(const combiner *c, pl_insn *i)
{
    uint64_t place = 0, width, kept;
    const bool at = pl_ir_constant_value(c->x, i->op[3], &place);
    if (pl_insn_type(i) != W_b32) return;
    if (!pl_ir_constant_value(c->x, i->op[4], &width) || !at || place > 31 || width > 32) {
        i->latency_class =
            at || pl_ir_constant_value(c->x, i->op[4], &width) ? C_alu_x7 : i->latency_class;
        return;
    }
    uint32_t field = (uint32_t)(((1ull << width) - 1) << place);
    i->latency_class = place && !whole_bytes(place, width) ? C_alu_x2 : C_alu;
    pl_insn *w = source(c, i, 2);
    if (w && pl_insn_mnem(w) == M_and && pl_insn_type(w) == W_b32 &&
        pl_ir_constant_value(c->x, w->op[2], &kept) && ((uint32_t)kept | field) == UINT32_MAX)
        i->op[2] = w->op[1];
}

/* Both halves of a product are one IMAD.WIDE, or the four of a 128-bit product: the upper half's
 * instructions compute the lower one too. */
static void lower_half(const combiner *c, pl_insn *i)
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

/* A sum: whether it became something else. */
static bool sums(combiner *c, pl_insn *i)
{
    const bool add = pl_insn_mnem(i) == M_add;
    for (unsigned bits = 32; bits <= 64; bits += 32)
        if (pl_insn_is_integer(i, bits) && pl_forms[i->form].noperands == 3) {
            if ((add && (multiply_add(c, i, bits) || (bits == 32 && shift_add(c, i)))) ||
                (!add && multiply_subtract(c, i, bits)) || three_sums(c, i, bits))
                return true;
        }
    return false;
}

/* The first walk: who could take over what. */
static void note_operand(combiner *c, pl_insn *i)
{
    bool takes = false;
    switch (pl_insn_mnem(i)) {
    case M_add:
    case M_sub:
        takes = takes_signs(i);
        if (!funnel(c, i)) sums(c, i);
        break;
    case M_mul: takes = takes_signs(i); break;
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
    case M_cos: takes = takes_signs(i); break;
    case M_selp: takes = pl_insn_type(i) == W_f32; break;
    case M_mma:
        if (pl_insn_has(i, W_tf32)) pl_insn_reads_here(c->x->p, i, count_cutters, c);
        break;
    case M_or:
    case M_xor: funnel(c, i); break;
    default: break;
    }
    if (takes) pl_insn_reads_here(c->x->p, i, count_signs, c);
}

/* Logic of 16 bits is done in 32, whose upper halves are zero before and after. */
static void widen_logic(combiner *c, pl_insn *i)
{
    pl_insn r = *i;
    uint64_t n;
    const bool inverts = pl_insn_mnem(i) == M_not;
    if (pl_insn_type(i) != W_b16 ||
        !pl_insn_make(&r, inverts ? M_xor : pl_insn_mnem(i), 3, &(pl_word){W_b32}, 1))
        return;
    if (inverts) r.op[2] = pl_ir_constant(c->x, UINT16_MAX, 32);
    for (unsigned k = 1; k < 3; k++)
        if (pl_ir_constant_value(c->x, r.op[k], &n))
            r.op[k] = pl_ir_constant(c->x, (uint16_t)n, 32);
    *i = r;
}

/* The second walk. */
static void change(combiner *c, pl_insn *i)
{
    const uint16_t m = pl_insn_mnem(i);
    if (m == M_and || m == M_or || m == M_xor || m == M_not) widen_logic(c, i);
    switch (pl_insn_mnem(i)) {
    case M_add:
    case M_sub:
        if (funnel(c, i) || sums(c, i)) return;
        break;
    case M_min:
    case M_max:
        sum_and_bound(c, i);
        saturate(c, i);
        break;
    case M_or:
    case M_xor:
        if (funnel(c, i)) return;
        merge_logic(c, i);
        merge_compare(c, i);
        break;
    case M_and:
    case M_not:
    case M_lop3:
    case M__lop3:
        merge_logic(c, i);
        merge_compare(c, i);
        break;
    default: break;
    }
    switch (pl_insn_mnem(i)) { /* as it is now */
    case M_add:
    case M_sub: leading_zeros(c, i); break;
    case M_setp: test_bits(c, i); break;
    case M_ex2: unscaled(c, i); break;
    case M_cvt:
        is_round_trip(c, i);
        convert_part(c, i);
        convert_widened(c, i);
        round_once(c, i);
        break;
    case M_selp:
        select_by_pred(c, i);
        select_bound(c, i);
        break;
    case M_bfe: extract_field(c, i); break;
    case M_bfi: insert_field(c, i); break;
    case M_mul:
        lower_half(c, i);
        short_factor(c, i);
        break;
    case M_shl:
    case M_shr: shift_round(c, i); break;
    case M_neg:
    case M_abs: free_sign(c, i); break;
    default: break;
    }
    if (i->flags & PL_IF_MEM) fold_address(c, i);
    round_tf32(c, i);
}

static void combine_insn(combiner *c, pl_insn *i)
{
    if (i->form == PL_IR_DEAD) return;
    if (c->counting)
        note_operand(c, i);
    else
        change(c, i);
}

static bool combine_block(pl_ir *x, combiner *c)
{
    for (uint32_t j = 0; j < x->nrpo; j++) {
        c->block = x->rpo[j];
        pl_ir_block *b = &x->blocks.at[c->block];
        for (c->at = 0; c->at < b->code.n; c->at++) {
            if (c->counting ||
                c->changed) /* counting changes nothing; one change is as good as many */
                combine_insn(c, &b->code.at[c->at]);
            else {
                pl_insn before = b->code.at[c->at];
                combine_insn(c, &b->code.at[c->at]);
                before.plan = b->code.at[c->at].plan; /* that they are known now is no change */
                before.traits = b->code.at[c->at].traits;
                c->changed = memcmp(&before, &b->code.at[c->at], sizeof before) != 0;
            }
            if (b->code.at[c->at].form != PL_IR_DEAD)
                pl_insn_writes_here(x->p, &b->code.at[c->at], note_write, c);
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
        pl_ir_constant(x, 0, 32); /* exists before rows are described */
        if (!pl_ir_ok(x) || !pl_ir_count(x) || !combine_block(x, &c)) return false;
        memset(c.last_write_block, 0, rows * sizeof *c.last_write_block);
        c.counting = false;
        c.tf32_block = 0;
        if (!combine_block(x, &c)) return false;
        if (!c.changed) {
            pl_ir_preserve_all(x);
            break; /* cleaned already: folding, or the round before, ended with that */
        }
        if (!pl_pass_dce(x)) return false;
    }
    return true;
}
