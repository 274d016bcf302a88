/* isel_arithmetic.c - combines products, sums and shifts into one instruction: IMAD, IMAD.WIDE,
 * LEA, IADD3, SHF. */
#include "compiler/codegen/isel_combine.h"

#include <string.h>

void pl_isel_note_write(combiner *c, const uint32_t *row, unsigned rows, unsigned use)
{
    for (uint32_t r = *row; !(use & PL_USE_PRED) && r < *row + rows; r++)
        if (c->x->regs[r].ndefs != 1) { /* values are never queried */
            c->last_write[r] = c->at + 1;
            c->last_write_block[r] = c->block + 1;
        }
}

/* The instruction that computes operand k, if it can be absorbed here; else NULL. */
pl_insn *pl_isel_absorbable_def(const combiner *c, const pl_insn *i, unsigned k)
{
    uint32_t row = i->op[k];
    if (row == UINT32_MAX) return NULL;
    const pl_ir_reg *r = &c->x->regs[row];
    if (r->ndefs != 1 || r->def_block == PL_IR_NONE) return NULL;
    if (r->def_block == c->block
            ? r->def_index >= c->at
            : c->x->blocks.at[r->def_block].rpo_index >= c->x->blocks.at[c->block].rpo_index)
        return NULL; /* a value of an earlier iteration, or of an undefined register: it cannot be
                        absorbed here */
    pl_insn *w = pl_ir_writer(c->x, row);
    if (w->form == PL_IR_DEAD || w->guard != PL_PT || w->op[0] != row || !pl_insn_pure(w))
        return NULL;
    const pl_form *f = &pl_forms[w->form];
    for (unsigned n = 1; n < f->noperands; n++)
        if (f->operand[n].kind == PL_K_VALUE && w->op[n] < c->x->f->rows &&
            !pl_isel_is_unchanged(c, w->op[n], r) && pl_operand_type(f, n, w->mods) != W_pred)
            return NULL;
    return w;
}

/* True if all uses of the row can absorb its computation, so that nothing is computed
 * redundantly. */
static bool all_uses_absorb(combiner *c, uint32_t row)
{
    if (c->counting) {
        c->absorbing_uses[row]++;
        return false;
    }
    return c->absorbing_uses[row] >= c->x->regs[row].nuses;
}

bool pl_isel_has_one_use(const combiner *c, uint32_t row)
{
    return c->x->regs[row].nuses == 1;
}

static bool log2_operand(const pl_ir *x, uint32_t row, uint64_t *n)
{
    return pl_ir_constant_value(x, row, n) && *n < 32;
}

/* A 64-bit product with a constant whose upper half is 0 or -1: IMAD.WIDE, IMAD for the upper half,
 * IADD3. */
void pl_isel_multiply_short(const combiner *c, pl_insn *i)
{
    uint64_t n;
    const pl_insn *w = pl_isel_absorbable_def(c, i, 1);
    const bool copies_sign =
        w && pl_insn_mnem(w) == M_cvt && pl_insn_has(w, W_s32); /* a separate instruction */
    if (i->latency_class == C_mul64_lo && !copies_sign &&
        pl_ir_constant_value(c->x, i->op[2], &n) && n + (1ull << 32) < 1ull << 33)
        i->latency_class = C_imad_wide_sum;
}

/* a * b + c and (a << n) + c */
bool pl_isel_multiply_add(combiner *c, pl_insn *i, unsigned bits)
{
    pl_ir *x = c->x;
    for (unsigned k = 1; k <= 2; k++) {
        const uint16_t m = pl_isel_writer_mnem(c, i, k);
        pl_insn *w = m == M_mul || m == M_shl ? pl_isel_absorbable_def(c, i, k) : NULL;
        uint64_t n;
        if (!w) continue;
        uint32_t other = i->op[3 - k], row = i->op[k];
        pl_insn r = *i;
        pl_word t = pl_insn_type(w), words[2] = {W_lo, t};
        if (pl_insn_mnem(w) == M_mul && pl_insn_has(w, W_wide) && bits == 64 &&
            pl_type_bits(t) == 32) {
            words[0] = W_wide;
            if (!all_uses_absorb(c, row) || !pl_insn_make(&r, M_mad, 4, words, 2)) continue;
            r.latency_class =
                C_imad_wide; /* ptxas splits a mad.wide of the source into a product and a sum */
            r.op[1] = w->op[1];
            r.op[2] = w->op[2];
        } else if (pl_insn_mnem(w) == M_mul && pl_insn_has(w, W_lo) &&
                   pl_insn_is_integer(w, bits)) {
            if (x->regs[row].def_block != c->block) /* ptxas leaves this one in place, for example
                                                       outside of a loop, unlike the others */
                continue;
            if (!all_uses_absorb(c, row) || !pl_insn_make(&r, M_mad, 4, words, 2)) continue;
            r.op[1] = w->op[1];
            r.op[2] = w->op[2];
            pl_isel_multiply_short(c, &r);
        } else if (pl_insn_mnem(w) == M_shl && pl_insn_is_integer(w, bits) &&
                   log2_operand(x, w->op[2], &n)) {
            words[0] = bits == 64 ? W_u64 : W_u32;
            if (!all_uses_absorb(c, row) || !pl_insn_make(&r, M__lea, 4, words, 1)) continue;
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

/* c - a * constant in 64 bits: the product with the negated constant absorbs the sum. */
static bool multiply_subtract_wide(combiner *c, pl_insn *i)
{
    pl_insn *w = pl_isel_writer_mnem(c, i, 2) == M_mul ? pl_isel_absorbable_def(c, i, 2) : NULL,
            r = *i;
    uint64_t n = 0;
    if (!w || !pl_insn_is_integer(w, 64) || !pl_insn_has(w, W_lo) ||
        c->x->regs[i->op[2]].def_block != c->block || !pl_ir_constant_value(c->x, w->op[2], &n))
        return false;
    if (!all_uses_absorb(c, i->op[2]) ||
        !pl_insn_make(&r, M_mad, 4, (const pl_word[]){W_lo, W_u64}, 2))
        return false;
    r.op[1] = w->op[1];
    r.op[2] = pl_ir_constant(c->x, -n, 64);
    r.op[3] = i->op[1];
    pl_isel_multiply_short(c, &r);
    *i = r;
    return true;
}

/* c - a * constant, a * b - c, and likewise with a left shift: IMAD. (c - a * b of two registers
 * needs a negation, which gains nothing.) */
bool pl_isel_multiply_subtract(combiner *c, pl_insn *i, unsigned bits)
{
    if (bits == 64) return multiply_subtract_wide(c, i);
    pl_ir *x = c->x;
    for (unsigned k = 1; k <= 2; k++) {
        const uint16_t m = pl_isel_writer_mnem(c, i, k);
        pl_insn *w = m == M_mul || m == M_shl ? pl_isel_absorbable_def(c, i, k) : NULL;
        uint64_t n = 0;
        if (!w || !pl_insn_is_integer(w, 32) || (m == M_mul && !pl_insn_has(w, W_lo)) ||
            x->regs[i->op[k]].def_block != c->block)
            continue;
        const bool number = pl_ir_constant_value(x, w->op[2], &n);
        if ((m == M_shl || k == 2) && (!number || (m == M_shl && n > 31))) continue;
        const uint32_t other = i->op[3 - k], factor = (uint32_t)(m == M_shl ? 1u << n : n),
                       row = i->op[k];
        pl_insn r = *i;
        if (!all_uses_absorb(c, row) ||
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

/* (a >> n) + c, and a rotation or funnel shift + c: LEA.HI */
bool pl_isel_shift_add(combiner *c, pl_insn *i)
{
    pl_ir *x = c->x;
    for (unsigned k = 1; k <= 2; k++) {
        const uint16_t m = pl_isel_writer_mnem(c, i, k);
        pl_insn *w = m == M_shr || m == M_shf ? pl_isel_absorbable_def(c, i, k) : NULL, r;
        uint64_t n;
        if (!w || !pl_insn_is_integer(w, 32)) continue;
        r = *i;
        uint32_t other = i->op[3 - k], row = i->op[k];
        bool right = pl_insn_mnem(w) == M_shr,
             is_funnel = pl_insn_mnem(w) == M_shf && pl_insn_has(w, W_l);
        bool is_signed = pl_type_kind(pl_insn_type(w)) == 's';
        if ((!right && !is_funnel) || !log2_operand(x, w->op[right ? 2 : 3], &n) || !n ||
            !all_uses_absorb(c, row))
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

/* a << n | b >> 32 - n: SHF; two of them for 64 bits if it is a sum, as nvcc writes a rotation:
 * ptxas does not combine the other forms. The shifted values have no bit in common, so a sum is
 * equivalent. */
bool pl_isel_funnel(combiner *c, pl_insn *i)
{
    pl_ir *x = c->x;
    const uint16_t m = pl_insn_mnem(i);
    const unsigned bits = pl_insn_is_integer(i, 64) ? 64 : 32;
    if ((m != M_add && (bits == 64 || (m != M_or && m != M_xor))) || !pl_insn_is_integer(i, bits))
        return false;
    for (unsigned k = 1; k <= 2; k++) {
        const bool shifts =
            pl_isel_writer_mnem(c, i, k) == M_shl && pl_isel_writer_mnem(c, i, 3 - k) == M_shr;
        pl_insn *up = shifts ? pl_isel_absorbable_def(c, i, k) : NULL,
                *down = up ? pl_isel_absorbable_def(c, i, 3 - k) : NULL, r;
        uint64_t n, right_count;
        if (!up || !down || !pl_insn_is_integer(up, bits) || !pl_insn_is_integer(down, bits) ||
            pl_type_kind(pl_insn_type(down)) == 's' || !pl_ir_constant_value(x, up->op[2], &n) ||
            !pl_ir_constant_value(x, down->op[2], &right_count) || n + right_count != bits || !n ||
            !right_count)
            continue;
        bool first = all_uses_absorb(c, i->op[k]), second = all_uses_absorb(c, i->op[3 - k]);
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
        if (bits == 64 && n == 32) /* the halves are swapped by renaming */
            r.latency_class = C_free;
        *i = r;
        return true;
    }
    return false;
}

/* A shift whose count is masked to exactly its lower five bits: SHF wraps the count itself. */
void pl_isel_wrap_shift(combiner *c, pl_insn *i)
{
    pl_ir *x = c->x;
    const bool left = pl_insn_mnem(i) == M_shl;
    const pl_insn *w =
        pl_isel_writer_mnem(c, i, 2) == M_and ? pl_isel_absorbable_def(c, i, 2) : NULL;
    const pl_word words[] = {left ? W_l : W_r, W_wrap, W_b32};
    pl_insn r = *i;
    uint64_t n;
    if (!w || !pl_insn_is_integer(i, 32) || !pl_insn_is_integer(w, 32) ||
        (!left && pl_type_kind(pl_insn_type(i)) == 's'))
        return;
    const unsigned k = pl_ir_constant_value(x, w->op[2], &n) ? 1 : 2;
    if (!pl_ir_constant_value(x, w->op[3 - k], &n) || (uint32_t)n != 31 ||
        !pl_insn_make(&r, M_shf, 4, words, 3))
        return;
    r.op[left ? 2 : 1] = i->op[1];
    r.op[left ? 1 : 2] = pl_ir_constant(x, 0, 32);
    r.op[3] = w->op[k];
    *i = r;
}

/* True if the sum adds a select of two constants by a predicate, and thus counts. */
static bool is_counting_sum(const combiner *c, const pl_insn *sum)
{
    for (unsigned k = 1; k <= 2 && pl_insn_mnem(sum) == M_add; k++)
        if (pl_select_counts_pred(c->x, pl_isel_absorbable_def(c, sum, k))) return true;
    return false;
}

/* a + b + c, a + b - c, a - (b - c), a - b - c */
bool pl_isel_add3(const combiner *c, pl_insn *i, unsigned bits)
{
    if (c->counting) return false;
    pl_word t = bits == 64 ? W_u64 : W_u32;
    bool sub = pl_insn_mnem(i) == M_sub;
    const uint16_t m[] = {M_count, pl_isel_writer_mnem(c, i, 1), pl_isel_writer_mnem(c, i, 2)};
    if ((m[1] != M_add && m[1] != M_sub && m[2] != M_add && m[2] != M_sub) ||
        (bits == 32 && is_counting_sum(c, i)))
        return false;
    for (unsigned k = 1; k <= 2; k++) {
        pl_insn *w = m[k] == M_add || m[k] == M_sub ? pl_isel_absorbable_def(c, i, k) : NULL;
        if (!w || (bits == 32 && is_counting_sum(c, w)) || !pl_isel_has_one_use(c, i->op[k]) ||
            !pl_insn_is_integer(w, bits) || pl_forms[w->form].noperands != 3)
            continue;
        bool inner = pl_insn_mnem(w) == M_sub;
        pl_insn r = *i;
        uint32_t other = i->op[3 - k];
        if (sub && inner != (k == 2)) { /* two operands are subtracted: c - (a + b) and a - b - c */
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

/* True if the combined instruction would have two constants, which it cannot encode. */
static bool has_two_constants(const combiner *c, const pl_insn *w, uint32_t other)
{
    uint64_t n;
    return (pl_ir_constant_value(c->x, other, &n) && n) &&
           (pl_ir_constant_value(c->x, w->op[1], &n) || pl_ir_constant_value(c->x, w->op[2], &n));
}

/* max(a + b, c), min(a - b, c), and max(max(a + b, c), 0); the maximum of three values; also
 * min(max(a, b), 0). A counting sum is not combined, as in ptxas 13.0. */
void pl_isel_sum_and_bound(const combiner *c, pl_insn *i)
{
    const uint16_t m = pl_insn_mnem(i);
    const pl_word t = pl_insn_type(i), mode = m == M_max ? W_max : W_min;
    uint64_t zero;
    if ((t != W_s32 && t != W_u32) || pl_insn_has(i, W_relu) || !pl_insn_pure(i)) return;
    for (unsigned k = 1; k <= 2; k++) {
        pl_insn *w = pl_isel_absorbable_def(c, i, k);
        if (!w || !pl_isel_has_one_use(c, i->op[k])) continue;
        pl_insn r = *i;
        const uint16_t inner = pl_insn_mnem(w);
        const bool is_minmax =
            (inner == M_min || inner == M_max) && pl_insn_type(w) == t && !pl_insn_has(w, W_relu);
        const bool clamps_at_zero = m == M_max && t == W_s32 &&
                                    pl_ir_constant_value(c->x, i->op[3 - k], &zero) &&
                                    !(uint32_t)zero;
        r.op[3] = i->op[3 - k];
        if ((inner == M_add || inner == M_sub) && pl_insn_is_integer(w, 32) &&
            pl_forms[w->form].noperands == 3) {
            if (is_counting_sum(c, w) || has_two_constants(c, w, i->op[3 - k]) ||
                !pl_insn_make(&r, inner == M_add ? M__addmax : M__submax, 4,
                              (const pl_word[]){mode, t}, 2))
                continue;
        } else if (inner == M__addmax && clamps_at_zero && pl_insn_type(w) == t &&
                   !pl_insn_has(w, W_relu)) {
            if (!pl_insn_make(&r, M__addmax, 4,
                              (const pl_word[]){pl_insn_has(w, W_max) ? W_max : W_min, W_relu, t},
                              3))
                continue;
            r.op[3] = w->op[3];
        } else if (is_minmax && clamps_at_zero && inner == M_min) {
            if (!pl_insn_make(&r, M_min, 3, (const pl_word[]){W_relu, t}, 2)) continue;
        } else if (is_minmax && inner == m) {
            if (has_two_constants(c, w, i->op[3 - k]) ||
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
