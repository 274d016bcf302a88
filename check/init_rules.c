/* init_rules.c - computes the undefined bits of a result from those of the operands.
 *
 * The rules are exact for copies, logic, shifts by a defined amount, bit fields, byte permutation
 * and conversion of integers. For sums and products, all bits from the lowest undefined one upwards
 * are undefined. For everything else, one undefined bit makes the whole result undefined. Where a
 * defined operand determines the result alone (and with 0), the result is defined. */
#include <string.h>

#include "check/init.h"
#include "check/internal.h"
#include "emu/exec/memory/address.h"

typedef struct operand {
    uint64_t value, bits;
} operand;

/* Operands of one lane, while a rule is evaluated. */
typedef struct lane_context {
    const pl_warp *w;
    const pl_insn *i;
    const pl_traced *s;
    const pl_form *f;
    uint32_t row, pred; /* of the current frame */
    unsigned lane;
} lane_context;

static unsigned width(const lane_context *k, unsigned n)
{
    const int bits = pl_type_bits(pl_operand_type(k->f, n, k->i->mods));
    return bits ? (unsigned)bits : 32;
}

static uint64_t low_mask(unsigned n)
{
    return n >= 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1;
}

static bool is_signed(const lane_context *k, unsigned n)
{
    return pl_type_kind(pl_operand_type(k->f, n, k->i->mods)) == 's';
}

static operand get(const lane_context *k, unsigned n)
{
    const uint32_t row = k->i->op[n];
    if (row == PL_NO_OPERAND) return (operand){0};
    const unsigned bits = width(k, n);
    const bool wide = bits > 32;
    return (operand){.value = (wide ? pl_row64(k->w, row)[k->lane] : pl_row32(k->w, row)[k->lane]) &
                              low_mask(bits),
                     .bits = pl_traced_bits(k->s, k->row + row, wide, k->lane) & low_mask(bits)};
}

static operand get_pred(const lane_context *k, unsigned n)
{
    const uint32_t p = k->i->op[n];
    return (operand){.value = pl_pred_read(k->w, k->i, n) >> k->lane & 1u,
                     .bits = p != PL_NO_OPERAND && k->pred + p < k->s->preds
                                 ? k->s->pred[k->pred + p] >> k->lane & 1u
                                 : 0};
}

static uint64_t spread_up(uint64_t bits)
{
    return bits | (0 - bits);
}

/* ---- rules for one lane ---- */

static uint64_t logic(const lane_context *k, bool and)
{
    const bool pred = width(k, 0) == 1;
    const operand a = pred ? get_pred(k, 1) : get(k, 1), b = pred ? get_pred(k, 2) : get(k, 2);
    return and? (a.bits | b.bits) & (a.bits | a.value) & (b.bits | b.value)
              : (a.bits | b.bits) & (a.bits | ~a.value) & (b.bits | ~b.value);
}

static uint64_t lop3(uint64_t a, uint64_t b, uint64_t c, unsigned table)
{
    uint64_t r = 0;
    for (unsigned n = 0; n < 8; n++)
        if (table >> n & 1u) r |= (n & 4u ? a : ~a) & (n & 2u ? b : ~b) & (n & 1u ? c : ~c);
    return r;
}

/* A bit is undefined if undefined operands can change it. */
static uint64_t lop3_bits(const lane_context *k)
{
    const operand a = get(k, 1), b = get(k, 2), c = get(k, 3);
    const unsigned table = k->i->op[4];
    const uint64_t first = lop3(a.value, b.value, c.value, table);
    uint64_t all = 0;
    for (unsigned n = 1; n < 8; n++)
        all |= first ^ lop3(a.value ^ (n & 4u ? a.bits : 0), b.value ^ (n & 2u ? b.bits : 0),
                            c.value ^ (n & 1u ? c.bits : 0), table);
    return all;
}

static uint64_t shift(const lane_context *k, bool left)
{
    const operand a = get(k, 1), n = get(k, 2);
    const unsigned bits = width(k, 1);
    if (n.bits) return UINT64_MAX;
    if (left) return n.value >= bits ? 0 : a.bits << n.value;
    const uint64_t sign = is_signed(k, 1) && a.bits >> (bits - 1) ? low_mask(bits) : 0;
    if (n.value >= bits) return sign;
    return a.bits >> n.value | (sign & ~(low_mask(bits) >> n.value));
}

static uint64_t extract(const lane_context *k)
{
    const operand a = get(k, 1), at = get(k, 2), n = get(k, 3);
    if (at.bits | n.bits) return UINT64_MAX;
    const unsigned from = (unsigned)at.value & 255u, count = (unsigned)n.value & 255u,
                   bits = width(k, 1);
    if (!count || from >= bits) return is_signed(k, 1) && a.bits >> (bits - 1) ? UINT64_MAX : 0;
    const uint64_t field = a.bits >> from & low_mask(count);
    const unsigned top = from + count > bits ? bits - from : count;
    return is_signed(k, 1) && field >> (top - 1) & 1u ? field | ~low_mask(top) : field;
}

static uint64_t insert(const lane_context *k)
{
    const operand a = get(k, 1), b = get(k, 2), at = get(k, 3), n = get(k, 4);
    if (at.bits | n.bits) return UINT64_MAX;
    const unsigned from = (unsigned)at.value & 255u, count = (unsigned)n.value & 255u;
    if (from >= width(k, 1)) return b.bits;
    const uint64_t field = low_mask(count) << from;
    return (b.bits & ~field) | (a.bits << from & field);
}

static uint64_t permute(const lane_context *k)
{
    const operand a = get(k, 1), b = get(k, 2), c = get(k, 3);
    if (c.bits || k->f->nslots < 1 || (k->f->nslots > 1 && k->i->mods[1] != W_none))
        return UINT64_MAX;
    const uint64_t bytes = b.bits << 32 | a.bits;
    uint64_t r = 0;
    for (unsigned n = 0; n < 4; n++) {
        const unsigned select = (unsigned)(c.value >> 4 * n) & 15u,
                       byte = (unsigned)(bytes >> 8 * (select & 7u)) & 255u;
        r |= (uint64_t)(select & 8u ? (byte & 128u ? 255u : 0u) : byte) << 8 * n;
    }
    return r;
}

static uint64_t select_bits(const lane_context *k)
{
    const operand a = get(k, 1), b = get(k, 2), p = get_pred(k, 3);
    const bool equal = a.value == b.value && !(a.bits | b.bits);
    if (p.bits) return equal ? 0 : low_mask(width(k, 0));
    return p.value ? a.bits : b.bits;
}

static uint64_t extended(const lane_context *k)
{
    const operand a = get(k, 1);
    const unsigned from = width(k, 1), to = width(k, 0);
    const bool sign = is_signed(k, 1) && to > from && a.bits >> (from - 1) & 1u;
    return (a.bits | (sign ? ~low_mask(from) : 0)) & low_mask(to);
}

/* ---- results of several registers, and of several lanes ---- */

/* Concatenates the bits of all operands and divides them among the results. */
static unsigned copy(lane_context *k, const pl_init_insn *x, uint32_t from,
                     uint64_t (*bits)[PL_LANES])
{
    const pl_init_use *use = &check_of(k->w)->init.use[x->first], *to = use + x->reads;
    const unsigned in = width(k, 1), out = width(k, 0);
    unsigned results = 0;
    for (uint32_t m = from; m; m &= m - 1) {
        uint64_t all[2] = {0, 0};
        unsigned at = 0;
        k->lane = (unsigned)__builtin_ctz(m);
        for (unsigned n = 0; n < x->reads; n++)
            for (unsigned r = 0; r < use[n].rows && at < 128; r += 2) {
                const bool wide = use[n].rows > 1;
                const unsigned w = wide ? 64 : in < 32 ? in : 32;
                const uint64_t v =
                    pl_traced_bits(k->s, k->row + use[n].row + r, wide, k->lane) & low_mask(w);
                all[at / 64] |= v << at % 64;
                at += w;
            }
        results = 0;
        at = 0;
        for (unsigned n = 0; n < x->writes; n++)
            for (unsigned r = 0; r < to[n].rows && at < 128 && results < PL_RESULTS; r += 2) {
                const unsigned w = to[n].rows > 1 ? 64 : out < 32 ? out : 32;
                bits[results++][k->lane] = all[at / 64] >> at % 64 & low_mask(w);
                at += w;
            }
    }
    return results;
}

/* Each lane receives the bits of its source lane. */
static unsigned shuffle(lane_context *k, uint32_t from, uint64_t (*bits)[PL_LANES],
                        uint32_t *origin)
{
    uint32_t source[PL_LANES];
    memcpy(source, origin, sizeof source);
    for (uint32_t m = k->w->exec; m; m &= m - 1) {
        k->lane = (unsigned)__builtin_ctz(m);
        const operand b = get(k, 3), c = get(k, 4);
        const unsigned l = k->lane,
                       at = pl_shuffle_source(k->i, l, (uint32_t)b.value, (uint32_t)c.value);
        bits[1][l] = b.bits | c.bits;
        bits[0][l] = b.bits | c.bits ? UINT64_MAX : 0;
        if (bits[0][l]) continue;
        k->lane = at;
        bits[0][l] = get(k, 2).bits;
        if (from >> at & 1u) origin[l] = source[at];
    }
    return k->f->noperands > 1 && k->i->op[1] != PL_NO_OPERAND ? 2 : 1;
}

/* Votes and reductions: the result of each lane depends on all lanes. */
static unsigned warp_wide(const lane_context *k, uint32_t from, uint64_t (*bits)[PL_LANES],
                          uint32_t *origin)
{
    const uint32_t lanes = from & k->w->exec;
    const unsigned first = lanes ? (unsigned)__builtin_ctz(lanes) : 0;
    const bool ballot = pl_insn_has(k->i, W_ballot);
    for (unsigned l = 0; l < PL_LANES; l++) {
        bits[0][l] = !lanes ? 0 : ballot ? lanes : UINT64_MAX;
        if (!(lanes >> l & 1u)) origin[l] = origin[first];
    }
    return 1;
}

static uint32_t lanes_of(const lane_context *k, const pl_init_use *use, unsigned n)
{
    uint32_t all = 0;
    for (unsigned r = 0; r < n; r++)
        all |= pl_traced_undefined(k->s, k->row + use[r].row, use[r].rows);
    return all;
}

/* Lane l holds elements of rows l / 4 and l / 4 + 8 of A, alternately, and of columns 2 (l % 4) and
 * the next one of B. A row is held by four lanes, two columns by eight. The first half of the
 * results belongs to the first row, the second half to the other. */
static unsigned product(const lane_context *k, const pl_init_insn *x, uint64_t (*bits)[PL_LANES],
                        uint32_t *origin)
{
    const pl_init_use *use = &check_of(k->w)->init.use[x->first];
    unsigned n[4];
    for (unsigned o = 0; o < 4; o++) {
        const int count = pl_operand_count(k->f, o, k->i->mods);
        n[o] = count ? (unsigned)count : 1;
    }
    const unsigned results = n[0] == 2 || n[0] == 4 ? n[0] : 1;
    const uint32_t b = lanes_of(k, use + n[1], n[2]);
    uint32_t a[2] = {0, 0};
    for (unsigned r = 0; r < n[1]; r++) a[r % 2] |= lanes_of(k, use + r, 1);
    if (n[1] == 1 || results == 1) a[0] = a[1] = a[0] | a[1];
    for (unsigned r = 0; r < results; r++) {
        const uint32_t rows = a[results > 1 && r >= results / 2],
                       c = results > 1 ? lanes_of(k, use + n[1] + n[2] + r, 1)
                                       : lanes_of(k, use + n[1] + n[2], n[3]);
        for (unsigned l = 0; l < PL_LANES; l++) {
            const uint32_t any =
                (15u << (l / 4 * 4) & rows) | (255u << (l % 4 * 8) & b) | (c & 1u << l);
            bits[r][l] = any ? UINT64_MAX : 0;
            if (any && !(any >> l & 1u)) origin[l] = origin[__builtin_ctz(any)];
        }
    }
    return results;
}

/* A comparison and the predicate combined with it: either determines the result alone if it is
 * false (and) or true (or). The comparison is observed when the predicate is set such that it does
 * not matter. */
static unsigned compare(lane_context *k, const pl_init_insn *x, uint64_t (*bits)[PL_LANES])
{
    const pl_insn *i = k->i;
    const unsigned last = k->f->noperands - 1u;
    const bool is_and = pl_insn_has(i, W_and), is_or = pl_insn_has(i, W_or);
    if (!k->f->operand[last].read || width(k, last) != 1 || is_and == is_or ||
        k->pred + i->op[last] >= k->s->preds)
        return 1;
    pl_warp *w = (pl_warp *)(uintptr_t)k->w;
    const bool second = k->f->operand[1].written && i->op[1] != PL_NO_OPERAND;
    const uint32_t undefined_pred = k->s->pred[k->pred + i->op[last]],
                   value = pl_pred_read(w, i, last), c = i->op[last], p = i->op[0];
    const uint32_t old[2] = {w->pred[c], p != PL_NO_OPERAND ? w->pred[p] : 0};
    for (unsigned l = 0; l < PL_LANES; l++)
        if (!(undefined_pred >> l & 1u) && (is_and ? !(value >> l & 1u) : value >> l & 1u))
            bits[0][l] = 0;
    if (second || p == PL_NO_OPERAND || !(undefined_pred & w->exec)) return 1;
    w->pred[c] = is_and != (i->neg >> last & 1u) ? UINT32_MAX : 0;
    x->inner(w, i);
    const uint32_t holds = w->pred[p];
    w->pred[p] = old[1];
    w->pred[c] = old[0];
    for (uint32_t m = undefined_pred & w->exec; m; m &= m - 1) {
        k->lane = (unsigned)__builtin_ctz(m);
        const bool known = !(get(k, last - 2).bits | get(k, last - 1).bits);
        if (known && (is_and ? !(holds >> k->lane & 1u) : holds >> k->lane & 1u))
            bits[0][k->lane] = 0;
    }
    return 1;
}

/* ---- choice of the rule ---- */

unsigned pl_rule_apply(const pl_warp *w, const pl_insn *i, const pl_init_insn *x,
                       const pl_traced *s, uint32_t from, uint64_t (*bits)[PL_LANES],
                       uint32_t *origin)
{
    lane_context k = {.w = w,
                      .i = i,
                      .s = s,
                      .f = &pl_forms[i->form],
                      .row = pl_traced_row(w),
                      .pred = pl_traced_pred(w)};
    switch ((pl_init_rule)x->rule) {
    case PL_RULE_ANY:
    case PL_RULE_CONTROL: return 1;
    case PL_RULE_COPY: return copy(&k, x, from, bits);
    case PL_RULE_SHUFFLE: return shuffle(&k, from, bits, origin);
    case PL_RULE_WARP: return warp_wide(&k, from, bits, origin);
    case PL_RULE_MMA: return product(&k, x, bits, origin);
    case PL_RULE_COMPARE: return compare(&k, x, bits);
    default: break;
    }
    for (uint32_t m = from & w->exec; m; m &= m - 1) {
        k.lane = (unsigned)__builtin_ctz(m);
        uint64_t *out = &bits[0][k.lane];
        switch ((pl_init_rule)x->rule) {
        case PL_RULE_EXTEND: *out = extended(&k); break;
        case PL_RULE_AND: *out = logic(&k, true); break;
        case PL_RULE_OR: *out = logic(&k, false); break;
        case PL_RULE_XOR:
            *out = get(&k, 1).bits | (k.f->noperands > 2 ? get(&k, 2).bits : 0);
            break;
        case PL_RULE_LOP3: *out = lop3_bits(&k); break;
        case PL_RULE_SUM: {
            uint64_t any = 0;
            for (unsigned n = 1; n < k.f->noperands; n++)
                if (k.f->operand[n].kind != PL_K_IMM) any |= get(&k, n).bits;
            *out = spread_up(any) & low_mask(width(&k, 0));
            break;
        }
        case PL_RULE_SHL: *out = shift(&k, true); break;
        case PL_RULE_SHR: *out = shift(&k, false); break;
        case PL_RULE_BFE: *out = extract(&k); break;
        case PL_RULE_BFI: *out = insert(&k); break;
        case PL_RULE_PRMT: *out = permute(&k); break;
        case PL_RULE_SELECT: *out = select_bits(&k); break;
        default: break;
        }
    }
    return 1;
}

static bool are_integers(const pl_insn *i, unsigned operands)
{
    const pl_form *f = &pl_forms[i->form];
    for (unsigned n = 0; n < operands && n < f->noperands; n++) {
        const char kind = pl_type_kind(pl_operand_type(f, n, i->mods));
        const int bits = pl_type_bits(pl_operand_type(f, n, i->mods));
        if ((kind != 'u' && kind != 's' && kind != 'b') || bits > 64) return false;
    }
    return true;
}

/* Rules of instructions whose mnemonic alone decides. */
static const uint8_t rule_of_mnemonic[M_count] = {
    [M_brx] = PL_RULE_CONTROL,  [M_bra] = PL_RULE_CONTROL,  [M__mov] = PL_RULE_COPY,
    [M__umov] = PL_RULE_COPY,   [M__narrow] = PL_RULE_COPY, [M__wide] = PL_RULE_EXTEND,
    [M_and] = PL_RULE_AND,      [M_or] = PL_RULE_OR,        [M__lop3] = PL_RULE_LOP3,
    [M_setp] = PL_RULE_COMPARE, [M_shl] = PL_RULE_SHL,      [M_shr] = PL_RULE_SHR,
    [M_bfe] = PL_RULE_BFE,      [M_bfi] = PL_RULE_BFI,      [M_prmt] = PL_RULE_PRMT,
    [M_cvta] = PL_RULE_SUM,     [M_shfl] = PL_RULE_SHUFFLE, [M_vote] = PL_RULE_WARP,
    [M_match] = PL_RULE_WARP,   [M_redux] = PL_RULE_WARP,
};

/* The rule, if it applies to this form with these modifiers. */
static pl_init_rule rule_if(bool applies, pl_init_rule rule)
{
    return applies ? rule : PL_RULE_ANY;
}

pl_init_rule pl_rule_of(const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    const pl_word type = f->noperands ? pl_operand_type(f, 0, i->mods) : W_none;
    const bool integer = are_integers(i, f->noperands), sat = pl_insn_has(i, W_sat),
               pred = f->noperands && pl_type_bits(type) == 1;
    switch ((int)f->mnem) {
    case M_mov: return rule_if(!pred, PL_RULE_COPY);
    case M_xor:
    case M_not: return rule_if(!pred, PL_RULE_XOR);
    case M_cvt: return rule_if(integer && !sat && f->noperands == 2, PL_RULE_EXTEND);
    case M_lop3: return rule_if(f->noperands == 5, PL_RULE_LOP3);
    case M_selp: return rule_if(are_integers(i, 3) || pl_type_kind(type) == 'f', PL_RULE_SELECT);
    case M_add:
    case M_sub:
    case M_neg:
    case M__iadd3:
    case M__iadd2:
    case M__isub2:
    case M__lea: return rule_if(integer && !sat, PL_RULE_SUM);
    case M_mul:
    case M_mad:
    case M__msub: return rule_if(integer && !pl_insn_has(i, W_hi) && !sat, PL_RULE_SUM);
    case M_mma: return rule_if(f->noperands >= 4, PL_RULE_MMA);
    default: return (pl_init_rule)rule_of_mnemonic[f->mnem];
    }
}
