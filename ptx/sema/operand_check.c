/* operand_check.c - one operand as written against its specification in the table (PTX ISA 9.0,
 * chapters 6 and 9).
 *
 * Every function here answers "does it fit?" and fills in the checked operand. It reports a mistake
 * only when the attempt is to be reported, since several forms may be tried before one is blamed.
 * What ptxas 13.0 takes was measured and decides. */
#include "ptx/sema/operand_check.h"

#include <string.h>

static const pl_node *node(const pl_parse *p, uint32_t n)
{
    return &p->nodes.at[n];
}

/* ---- types ---- */

/* May a register of type r stand where an instruction of type t reads or writes? (PTX ISA 9.0,
 * section 9.2; ptxas 13.0 was asked about every pair.) Untyped registers fit any type of their
 * size, signed and unsigned fit each other, floating registers fit their own type or an untyped
 * one. With `relax` (ld, st, cvt) the register may also be wider. `fixed`: the type is the same in
 * every variant of the instruction; a pair of halves then counts as no integer. */
static bool type_fits(pl_word r, pl_word t, bool relax, bool fixed)
{
    int rb = pl_word_bits[r], tb = pl_word_bits[t];
    char rk = pl_word_kind[r], tk = pl_word_kind[t];
    if (rk == 'p' || tk == 'p') return rk == tk;
    if (tb < 8) tb = 8;
    if (rb != tb && !(relax && rb > tb && t != W_bf16)) return false;
    if (r == t) return true;
    switch (rk) {
    case 'b': return true;
    case 'u':
    case 's':
        return tk == 'u' || tk == 's' ? t != W_u16x2 && t != W_s16x2 : tk == 'b' && t != W_tf32;
    default: break;
    }
    if (r == W_f16x2 && !fixed) return tk != 'f';
    return tk == 'b' && t != W_tf32;
}

/* Pairs and quadruples of small floats are held by untyped registers alone. */
static bool untyped_only(pl_word t)
{
    switch (t) {
    case W_e4m3x2:
    case W_e5m2x2:
    case W_e3m2x2:
    case W_e2m3x2:
    case W_e2m1x2:
    case W_e4m3x4:
    case W_e5m2x4:
    case W_e3m2x4:
    case W_e2m3x4:
    case W_e2m1x4:
    case W_ue8m0x2: return true;
    default: return false;
    }
}

/* ---- reports ---- */

/* "add.rn.f32", as written */
const char *pl_full_name(pl_parse *p, const pl_sym *opcode)
{
    const char *name = opcode->name;
    for (unsigned k = 0; k < p->nwords; k++)
        name = pl_arena_printf(p->arena, "%s.%.*s", name, (int)p->word[k].len, p->word[k].text);
    return name;
}

const char *pl_syntax_help(pl_parse *p, const pl_form *f)
{
    return pl_arena_printf(p->arena, "the form is: %s", f->syntax);
}

static const char *written(const pl_parse *p, const pl_node *n)
{
    switch ((pl_node_kind)n->kind) {
    case PL_N_INT: return "an integer";
    case PL_N_FLOAT: return "a floating-point number";
    case PL_N_SINK: return "'_'";
    case PL_N_VEC: return "a vector in braces";
    case PL_N_LIST: return "a list in parentheses";
    case PL_N_ADDR: return "an address in brackets";
    case PL_N_PAIR: return "a pair with '|'";
    default: return pl_arena_printf(p->arena, "'%s'", n->sym ? n->sym->name : "?");
    }
}

static bool kind_instead(pl_attempt *a, const pl_node *n, const char *wanted, const char *given)
{
    if (a->report)
        pl_report(a->p->diags, PL_E0203, n->at, pl_full_name(a->p, a->opcode), wanted, given)
            ->help = pl_syntax_help(a->p, a->form);
    return false;
}

static bool kind_error(pl_attempt *a, const pl_node *n, const char *wanted)
{
    return kind_instead(a, n, wanted, written(a->p, n));
}

const char *pl_range_text(pl_arena *arena, int64_t low, int64_t high)
{
    return low == high ? pl_arena_printf(arena, "%lld", (long long)low)
           : high == INT64_MAX
               ? pl_arena_printf(arena, "%lld or more", (long long)low)
               : pl_arena_printf(arena, "%lld to %lld", (long long)low, (long long)high);
}

/* ---- single operands ---- */

/* .x .y .z .w, or the colours .r .g .b .a, of a vector or a special register */
static bool component(pl_attempt *a, const pl_node *n, pl_operand_draft *o)
{
    static const char xyzw[] = "xyzw", rgba[] = "rgba";
    const char *s = n->sel->name + 1;
    if (s[0] && !s[1] && (strchr(xyzw, s[0]) || strchr(rgba, s[0]))) {
        o->sel = (uint8_t)(PL_SEL_X + (strchr(xyzw, s[0]) ? strchr(xyzw, s[0]) - xyzw
                                                          : strchr(rgba, s[0]) - rgba));
        return true;
    }
    if (a->report) pl_report(a->p->diags, PL_E0208, n->sel_at, n->sel->name);
    return false;
}

/* Is the operand's type the same in every variant, rather than the instruction's own? (Matrix
 * instructions and nanosleep check as strictly.) */
static bool fixed_type(const pl_attempt *a, const pl_ospec *s, pl_word t)
{
    if (a->opcode->mnem == M_redux) return true;
    if ((a->opcode->mnem == M_bar || a->opcode->mnem == M_barrier) && !s->written) return true;
    if (a->opcode->mnem == M_cvt && s->written) return false;
    for (unsigned k = 0; s->slot < 0 && k < a->form->nslots; k++)
        if (a->form->slot[k].group == G_none && a->mods[k] == t && a->opcode->mnem != M_mma &&
            a->opcode->mnem != M_wmma && a->opcode->mnem != M_wgmma &&
            a->opcode->mnem != M_nanosleep)
            return false;
    return s->slot < 0;
}

static bool chosen(const pl_attempt *a, pl_word one, pl_word other)
{
    bool first = false, second = false;
    for (unsigned k = 0; k < a->form->nslots; k++) {
        first |= a->mods[k] == one;
        second |= a->mods[k] == other;
    }
    return first && second;
}

/* cvt takes wider registers only between the types that PTX has had from the start. */
static bool relaxed(const pl_attempt *a)
{
    if (!a->form->relax || a->opcode->mnem != M_cvt || chosen(a, W_pack, W_pack))
        return a->form->relax;
    for (unsigned k = 0; k < a->form->nslots; k++)
        switch (a->form->slot[k].type ? a->mods[k] : W_f32) {
        case W_u8:
        case W_s8:
        case W_u16:
        case W_s16:
        case W_u32:
        case W_s32:
        case W_u64:
        case W_s64:
        case W_f16:
        case W_f32:
        case W_f64: break;
        default: return false;
        }
    return true;
}

/* Does ptxas 13.0 take registers of other kinds for this bf16? multimem does for loads and stores,
 * sums with a float do for integers. */
static bool any_bf16(const pl_attempt *a, const pl_ospec *s, pl_word r, pl_word t)
{
    if (t != W_bf16 && t != W_bf16x2) return false;
    switch (a->opcode->mnem) {
    case M_multimem: return !chosen(a, W_red, W_red) && pl_word_bits[r] == pl_word_bits[t];
    case M_set: return s->written && pl_word_bits[r] == pl_word_bits[t] && r != W_f16;
    case M_add:
    case M_sub:
    case M_fma: return t == W_bf16 && (r == W_u16 || r == W_s16) && chosen(a, W_f32, W_bf16);
    default: return false;
    }
}

/* REGISTER+NUMBER as an operand that is read: the sum of integers of the register's width
 * (ptxas 13.0). */
static bool may_be_sum(const pl_ospec *s, const pl_node *n, const pl_reg *r, bool in_vector)
{
    int bits = pl_word_bits[r->type];
    return (s->kind == PL_K_VALUE || s->kind == PL_K_VAR) && s->read && !s->written && !in_vector &&
           !n->element && !n->sel && !n->minus && !n->not_ && pl_word_kind[r->type] != 'f' &&
           pl_word_kind[r->type] != 'p' && bits >= 16 && bits <= 64;
}

static bool register_operand(pl_attempt *a, const pl_ospec *s, pl_word t, bool in_vector,
                             const pl_node *n, const pl_binding *b, pl_operand_draft *o)
{
    pl_parse *p = a->p;
    pl_reg *r = b->reg;
    o->kind = PL_O_REG;
    o->reg = r;
    o->imm = n->has_offset ? n->value : 0;
    if (n->sel && !(r->vec ? component(a, n, o) : pl_video_part(a, s, n, o))) return false;
    if (r->vec && o->sel < PL_SEL_X) {
        if (a->report)
            pl_report(p->diags, PL_E0211, n->at, pl_full_name(a->p, a->opcode), "a single register",
                      pl_arena_printf(p->arena, "the .v%u register '%s'", r->vec, r->name));
        return false;
    }
    if (o->sel >= PL_SEL_X && (!r->vec || o->sel - PL_SEL_X >= r->vec)) {
        if (a->report) pl_report(p->diags, PL_E0208, n->sel_at, n->sel->name);
        return false;
    }
    if (any_bf16(a, s, r->type, t)) t = pl_word_bits[t] == 16 ? W_b16 : W_b32;
    if (!type_fits(r->type, t, relaxed(a), fixed_type(a, s, t)) ||
        (a->opcode->mnem == M_cvt && !chosen(a, W_pack, W_pack) &&
         !(t == W_b32 && chosen(a, W_ue8m0x2, W_bf16x2)) && pl_word_kind[r->type] != 'b' &&
         (untyped_only(t) || (s->slot < 0 && pl_word_kind[t] == 'b' && t != W_tf32)))) {
        a->close = a->close ? a->close : 1;
        if (a->report) {
            pl_diag *d = pl_report(p->diags, PL_E0204, n->at, r->name, pl_word_text[r->type],
                                   pl_full_name(a->p, a->opcode), pl_word_text[t]);
            if (pl_word_bits[r->type] == pl_word_bits[t] && pl_word_kind[t] != 'p')
                d->help = pl_arena_printf(p->arena,
                                          "move it with mov.b%d into a register of type .%s first",
                                          pl_word_bits[t], pl_word_text[t]);
        }
        return false;
    }
    if (n->has_offset && !may_be_sum(s, n, r, in_vector)) {
        if (a->report)
            pl_report(p->diags, PL_E0232, n->at, r->name)->help =
                "a number is added inside an address, or to an integer register that is read";
        return false;
    }
    (void)s;
    return true;
}

/* Only these read special registers (ptxas 13.0). */
static bool reads_special(const pl_attempt *a)
{
    if (a->opcode->mnem == M_cvt)
        return a->mods[0] != W_pack && pl_word_kind[pl_operand_type(a->form, 0, a->mods)] != 'f';
    return a->opcode->mnem == M_mov;
}

static bool special_register(pl_attempt *a, const pl_ospec *s, pl_word t, const pl_node *n,
                             pl_operand_draft *o)
{
    pl_parse *p = a->p;
    const pl_sreg_info *info = &pl_sregs[n->sym->sreg];
    o->kind = PL_O_SREG;
    o->sreg = (pl_word)info->word;
    if (s->written || !reads_special(a)) {
        if (a->report)
            pl_report(p->diags, PL_E0222, n->at, n->sym->name, s->written ? "written" : "used here")
                ->help = s->written ? NULL : "read it into a register with mov first";
        return false;
    }
    if (n->has_offset) {
        if (a->report)
            pl_report(p->diags, PL_E0232, n->at, n->sym->name)->help =
                "add the number with an instruction";
        return false;
    }
    if (n->sel && info->vector && !component(a, n, o)) return false;
    if (info->vector ? o->sel < PL_SEL_X : n->sel != NULL) {
        if (a->report)
            pl_report(p->diags, PL_E0223, n->at, n->sym->name, info->vector ? "has" : "has no",
                      info->vector ? ": write %tid.x" : "");
        return false;
    }
    if (a->report && !pl_module_needs(p, n->at, n->sym->name, info->ptx, info->target))
        return false;
    int tb = pl_word_bits[t], sb = pl_word_bits[info->type];
    char tk = pl_word_kind[t], sk = pl_word_kind[info->type];
    /* PTX 1.x had 16-bit coordinates, and a 16- and later a 32-bit %gridid; programs of that time
     * still assemble. */
    bool old_width = (info->vector && info->ptx == 10 && tb == 16) ||
                     (info->word == W_gridid && (tb == 16 || tb == 32));
    if (tk == 'f' || (tk == 'p') != (sk == 'p') || (tb != sb && !old_width)) {
        if (a->report)
            pl_report(p->diags, PL_E0204, n->at, n->sym->name, pl_word_text[info->type],
                      pl_full_name(p, a->opcode), pl_word_text[t]);
        return false;
    }
    return true;
}

static bool float_immediate(pl_attempt *a, pl_word t, const pl_node *n, pl_operand_draft *o)
{
    pl_parse *p = a->p;
    const char kind = pl_word_kind[t];
    const bool bits_of_float =
        kind == 'b' && pl_word_bits[t] == (n->single ? 32 : 64); /* 0f for .b32, others for .b64 */
    double d;
    o->is_float = true;
    if (kind != 'f' && !bits_of_float) {
        if (a->report)
            pl_report(p->diags, PL_E0210, n->at, pl_full_name(p, a->opcode), "an integer",
                      "a floating-point number");
        return false;
    }
    memcpy(&d, &n->value, sizeof d);
    if (a->opcode->mnem == M_createpolicy && !(d > 0 && d <= 1)) {
        if (a->report)
            pl_report(p->diags, PL_E0218, n->at, pl_full_name(p, a->opcode),
                      "the fraction is more than 0 and at most 1");
        return false;
    }
    o->imm = (int64_t)pl_float_bits(d, t, n->single, n->single_bits);
    o->imm &= pl_word_bits[t] < 64 ? (INT64_C(1) << pl_word_bits[t]) - 1 : -1;
    return true;
}

/* Bits that do not fit are cut off without a word, as ptxas does. */
static bool integer_immediate(pl_attempt *a, pl_word t, const pl_node *n, pl_operand_draft *o)
{
    const char kind = pl_word_kind[t];
    const int bits = pl_word_bits[t];
    if (kind == 'f') {
        if (a->report)
            pl_report(a->p->diags, PL_E0210, n->at, pl_full_name(a->p, a->opcode),
                      "a floating-point number", "an integer")
                ->help = "write it with a decimal point, or its bits as 0f3F800000";
        return false;
    }
    o->given = n->value;
    o->imm = kind == 'p' ? n->value != 0
             : bits < 64 ? (int64_t)((uint64_t)n->value & ((UINT64_C(1) << bits) - 1))
                         : n->value;
    return true;
}

/* The range that the operand may have, as text; NULL: the value is in it. */
static const char *range_missed(pl_attempt *a, const pl_ospec *s, pl_word t, const pl_node *n)
{
    const int mnem = a->opcode->mnem;
    if (pl_word_kind[t] == 'p' && mnem == M_wgmma && (uint64_t)n->value > 1) return "0 or 1";
    if ((mnem == M_bfe || mnem == M_bfi) && t == W_u32 && n->kind == PL_N_INT &&
        strcmp(s->name, "a") != 0 &&
        (n->value > UINT32_MAX ||
         n->value < INT32_MIN)) /* a field of so many bits; see limits in statement.c */
        return pl_range_text(a->p->arena, 0, 255);
    if (s->lo <= s->hi && (n->value < s->lo || n->value > s->hi))
        return pl_range_text(a->p->arena, s->lo, s->hi);
    return NULL;
}

static bool immediate(pl_attempt *a, const pl_ospec *s, pl_word t, const pl_node *n,
                      pl_operand_draft *o)
{
    pl_parse *p = a->p;
    char kind = pl_word_kind[t];
    bool bf16_set = a->opcode->mnem == M_set && kind == 'p' &&
                    (chosen(a, W_bf16, W_bf16) || chosen(a, W_bf16x2, W_bf16x2));
    if (!s->read || s->written || s->reg_only || bf16_set)
        return kind_error(a, n, s->written ? "a register to write to" : "a register");
    o->kind = PL_O_IMM;
    if ((kind == 'f' && t != W_f32 && t != W_f64) || t == W_u16x2 || t == W_s16x2) {
        if (a->report)
            pl_report(p->diags, PL_E0212, n->at, pl_full_name(p, a->opcode), pl_word_text[t])
                ->help = "move its bits into a register first: mov.b16 %rs1, 0x3C00 is 1.0 in .f16";
        return false;
    }
    if (n->kind == PL_N_FLOAT ? !float_immediate(a, t, n, o) : !integer_immediate(a, t, n, o))
        return false;
    const char *range = range_missed(a, s, t, n);
    if (range && a->report)
        pl_report(p->diags, PL_E0209, n->at, pl_full_name(a->p, a->opcode), range,
                  (long long)n->value);
    return !range;
}

/* Parentheses around a constant. */
static const pl_node *unwrap(const pl_parse *p, const pl_node *n)
{
    const pl_node *inner = n;
    while (inner->kind == PL_N_LIST && inner->n == 1) inner = node(p, inner->first);
    return inner->kind == PL_N_INT || inner->kind == PL_N_FLOAT ? inner : n;
}

/* One register in braces stands for the register where a vector could be, and, in ptxas 13.0, where
 * it expands the instruction: those on bf16. */
static bool braces_fit(const pl_attempt *a, const pl_ospec *s, pl_word t)
{
    return s->vslot >= 0 || t == W_bf16 || t == W_bf16x2 || a->opcode->mnem == M_txq ||
           (a->opcode->mnem == M_mov && !s->written && pl_word_kind[t] == 'b');
}

/* The meaning of a name, with a report when there is none. */
static const pl_binding *resolve(pl_attempt *a, const pl_node *n)
{
    const pl_binding *b = pl_name_lookup(a->p, n->sym);
    if (!b) {
        if (a->report) pl_name_undefined(a->p, n->sym, n->at);
        return NULL;
    }
    return b->kind == PL_B_BAD ? NULL : b;
}

/* The space word of an instruction with one address, W_none for generic; false when it has several
 * addresses. */
static bool space_of(const pl_attempt *a, pl_word *space)
{
    unsigned addresses = 0;
    *space = W_none;
    for (unsigned k = 0; k < a->form->noperands; k++)
        addresses += a->form->operand[k].kind == PL_K_ADDR;
    for (unsigned k = 0; k < a->form->nslots; k++) switch (a->mods[k]) {
        case W_const:
        case W_global:
        case W_local:
        case W_param:
        case W_param__entry:
        case W_param__func:
        case W_shared:
        case W_shared__cta:
        case W_shared__cluster: *space = (pl_word)a->mods[k]; break;
        default: break;
        }
    return addresses <= 1;
}

static const char *const space_names[] = {"generic", ".reg",   ".sreg",   ".const", ".global",
                                          ".local",  ".param", ".shared", ".tex"};

/* Does the variable lie in the space that the instruction addresses? `own` is the address's space
 * where the table gives it one, else W_b64. */
static bool in_space(pl_attempt *a, const pl_node *n, const pl_var *v, pl_word own)
{
    pl_word space = own;
    bool good;
    if (own == W_b64 && !space_of(a, &space)) {
        if (a->opcode->mnem != M_cp) return true;
        space = W_global; /* a tensor map's generic address stands in a register; a name must be of
                             global memory */
    }
    switch (space) {
    case W_const: good = v->space == PL_SP_CONST; break;
    case W_global: good = v->space == PL_SP_GLOBAL; break;
    case W_local: good = v->space == PL_SP_LOCAL; break;
    case W_param:
    case W_param__entry:
    case W_param__func: good = v->space == PL_SP_PARAM; break;
    case W_shared:
    case W_shared__cta:
    case W_shared__cluster: good = v->space == PL_SP_SHARED; break;
    default:
        if (a->opcode->mnem == M_prefetchu) {
            good = v->space == PL_SP_GLOBAL;
            break;
        }
        good = v->space == PL_SP_SHARED || (a->opcode->mnem != M_mbarrier &&
                                            (v->space == PL_SP_GLOBAL || v->space == PL_SP_LOCAL));
        break;
    }
    if (good) return true;
    if (a->report)
        pl_report(a->p->diags, PL_E0229, n->at, v->name, space_names[v->space],
                  space ? pl_arena_printf(a->p->arena, ".%s", pl_word_text[space])
                  : a->opcode->mnem == M_mbarrier  ? ".shared"
                  : a->opcode->mnem == M_prefetchu ? ".global"
                                                   : "the generic space");
    return false;
}

/* The offset of NAME+4 or, in elements, NAME[1]. As ptxas 13.0 has it, the elements of an array of
 * vectors are its numbers. */
static bool offset(pl_attempt *a, const pl_node *n, const pl_binding *b, int64_t *bytes)
{
    *bytes = n->value;
    if (!n->element) return true;
    if (b->kind == PL_B_VAR && pl_is_array(b->var)) {
        *bytes = (int64_t)((uint64_t)n->value * (unsigned)(pl_word_bits[b->var->type] / 8));
        return true;
    }
    if (a->report)
        pl_report(a->p->diags, PL_E0206, n->at, n->sym->name, pl_bind_noun(b), "an array");
    return false;
}

/* The address of a variable or function as a value: mov.u64 %rd1, var+4, mov.u64 %rd1, var[1]. */
static bool name_value(pl_attempt *a, pl_word t, const pl_node *n, const pl_binding *b,
                       pl_operand_draft *o)
{
    pl_parse *p = a->p;
    int bits = pl_word_bits[t];
    if (pl_word_kind[t] == 'f' || pl_word_kind[t] == 'p' || (bits != 32 && bits != 64) || n->sel) {
        if (a->report)
            pl_report(p->diags, PL_E0206, n->at, n->sym->name, pl_bind_noun(b),
                      "a register or a number");
        return false;
    }
    if (b->kind == PL_B_VAR) {
        o->kind = PL_O_VAR;
        o->var = b->var;
        if (!offset(a, n, b, &o->imm)) return false;
        if (b->var->space == PL_SP_PARAM && b->var->role == PL_VAR_PLAIN) {
            if (a->report) pl_report(p->diags, PL_E0235, n->at, b->var->name);
            return false;
        }
        if (a->opcode->mnem == M_cvta) return in_space(a, n, b->var, W_b64);
        if (a->opcode->mnem == M_mapa || a->opcode->mnem == M_getctarank)
            return in_space(a, n, b->var, W_shared__cluster);
        if (bits == 32 && p->ast->address_size == 64 && b->var->space == PL_SP_GLOBAL) {
            if (a->report)
                pl_report(p->diags, PL_E0236, n->at, b->var->name, (unsigned)p->ast->address_size,
                          bits);
            return false;
        }
    } else {
        o->kind = PL_O_FUNC;
        o->func = b->func;
        if (n->has_offset || a->opcode->mnem == M_cvta)
            return kind_error(a, n,
                              a->opcode->mnem == M_cvta ? "a variable or a register"
                                                        : "a function without offset");
    }
    return true;
}

/* ptxas takes the name of a function for its address wherever a number may stand, except where it
 * looks at the number or converts it. */
static bool stands_for_number(const pl_attempt *a, const pl_ospec *s, pl_word t, const pl_node *n,
                              const pl_binding *b)
{
    if (b->kind != PL_B_FUNC || n->sel || n->has_offset || n->not_ || n->minus || !s->read ||
        s->written || s->reg_only || s->lo <= s->hi)
        return false;
    switch (a->opcode->mnem) {
    case M_bar:
    case M_barrier:
    case M_bfe:
    case M_bfi:
    case M_cvt:
    case M_cvta:
    case M_shl:
    case M_shr: return false;
    default: return pl_word_kind[t] != 'p' && t != W_bf16 && t != W_bf16x2 && t != W_tf32;
    }
}

/* Of a vector of 32 bytes, some elements may stay as they are in memory: `_` in their place. */
static bool stores_32_bytes(const pl_attempt *a, const pl_ospec *s)
{
    if (a->opcode->mnem != M_st || s->vslot < 0) return false;
    pl_word vec = (pl_word)a->mods[s->vslot], type = (pl_word)a->mods[s->slot];
    return (vec == W_v8 && pl_word_bits[type] == 32) || (vec == W_v4 && pl_word_bits[type] == 64);
}

static bool value(pl_attempt *a, const pl_ospec *s, pl_word t, bool in_vector, const pl_node *n,
                  pl_operand_draft *o)
{
    pl_parse *p = a->p;
    n = unwrap(p, n);
    if (n->kind == PL_N_VEC && n->n == 1 && braces_fit(a, s, t)) n = unwrap(p, node(p, n->first));
    o->at = n->at;
    switch ((pl_node_kind)n->kind) {
    case PL_N_WRONG: return false;
    case PL_N_SINK:
        /* Only atomics and pairs throw a whole result away; ld throws elements of a vector away. */
        o->kind = PL_O_SINK;
        if (s->joined ||
            (in_vector ? (s->written && !s->read) || stores_32_bytes(a, s)
                       : s->sink_ok && (s->vslot < 0 || a->form->effects & PL_EF_ATOMIC)))
            return true;
        if (a->report) pl_report(p->diags, PL_E0207, n->at, pl_full_name(a->p, a->opcode));
        return false;
    case PL_N_INT:
    case PL_N_FLOAT: return immediate(a, s, t, n, o);
    case PL_N_NAME: break;
    default: return kind_error(a, n, s->written ? "a register" : "a register or a number");
    }
    if (n->not_ || n->minus) {
        if (n->minus ? !pl_video_negates(a, s) : !s->negatable) {
            if (a->report)
                pl_report(p->diags, PL_E0213, n->at, pl_full_name(a->p, a->opcode),
                          n->not_ ? "!" : "-")
                    ->help = n->minus ? "negate it with neg first" : NULL;
            return false;
        }
        o->neg = true;
    }
    if (n->sym->sreg >= 0 && !n->sym->binding) return special_register(a, s, t, n, o);
    const pl_binding *b = resolve(a, n);
    if (!b) return false;
    if (b->kind == PL_B_REG) return register_operand(a, s, t, in_vector, n, b, o);
    if (s->kind == PL_K_VAR && (b->kind == PL_B_VAR || b->kind == PL_B_FUNC))
        return name_value(a, t, n, b, o);
    if (!in_vector && stands_for_number(a, s, t, n, b)) {
        o->kind = PL_O_FUNC;
        o->func = b->func;
        return true;
    }
    if (a->report)
        pl_report(p->diags, PL_E0206, n->at, n->sym->name, pl_bind_noun(b),
                  s->written ? "a register" : "a register or a number");
    return false;
}

/* The first coordinate of a layered texture is the number of the layer. */
static bool array_index(const pl_attempt *a, const pl_ospec *s)
{
    if (!s->rule || s->written) return false;
    for (unsigned k = 0; k < a->form->nslots; k++) switch (a->mods[k]) {
        case W_a1d:
        case W_a2d:
        case W_acube:
        case W_a2dms: return !strcmp(s->name, "c");
        default: break;
        }
    return false;
}

/* Vectors of one element need no braces in texture and surface instructions, but for the coordinate
 * behind a sampler and the derivatives of tex.grad. */
static bool bare_fits(const pl_attempt *a, const pl_ospec *s)
{
    if (a->opcode->mnem == M_tex && !s->written) {
        bool sampler = a->form->operand[3].kind == PL_K_OPAQUE; /* d|p, texture, sampler */
        if (s->name[0] == 'd' || (sampler && !strcmp(s->name, "c"))) return false;
    }
    return s->rule && a->opcode->mnem != M_cp && a->opcode->mnem != M_tcgen05 &&
           a->opcode->mnem != M_wmma && a->opcode->mnem != M_ldmatrix &&
           a->opcode->mnem != M_stmatrix;
}

/* The elements of a vector agree with their neighbours: untyped ones with all, signed with unsigned
 * integers. A vector with an untyped element is untyped (ptxas 13.0). */
static char kind_class(pl_word type)
{
    char kind = pl_word_kind[type];
    return type == W_f16x2 ? 'x' : kind == 's' ? 'u' : kind;
}

static char element_kind(const pl_operand_draft *o)
{
    return o->kind == PL_O_REG   ? kind_class(o->reg->type)
           : o->kind == PL_O_IMM ? (o->is_float ? 'f' : 'u')
                                 : 'b';
}

static pl_word common_type(const pl_attempt *a, const pl_node *n, pl_word t)
{
    const pl_parse *p = a->p;
    int bits = pl_word_bits[t];
    uint32_t e = n->first;
    for (unsigned k = 0; k < n->n; k++, e = node(p, e)->next) {
        const pl_node *x = node(p, e);
        const pl_binding *b = x->kind == PL_N_NAME && !x->sel ? pl_name_lookup(a->p, x->sym) : NULL;
        if (b && b->kind == PL_B_REG && pl_word_kind[b->reg->type] == 'b' && !b->reg->vec &&
            n->n > 1)
            return bits == 8    ? W_b8
                   : bits == 16 ? W_b16
                   : bits == 32 ? W_b32
                   : bits == 64 ? W_b64
                                : t;
    }
    return t;
}

/* ptxas takes vectors of two and four elements where a surface instruction needs fewer, and looks
 * at those it needs. */
static bool is_surface(const pl_attempt *a)
{
    return a->opcode->mnem == M_suld || a->opcode->mnem == M_sust || a->opcode->mnem == M_sured;
}

static bool is_constant(const pl_parse *p, const pl_node *n)
{
    n = unwrap(p, n);
    return n->kind == PL_N_INT || n->kind == PL_N_FLOAT;
}

static bool holds_register(const pl_attempt *a, const pl_node *n)
{
    uint32_t e = n->first;
    for (unsigned k = 0; k < n->n; k++, e = node(a->p, e)->next)
        if (node(a->p, e)->kind == PL_N_NAME) return true;
    return false;
}

/* A constant beside registers: an operand that must be a register may have it too, and a
 * floating-point number stands for its bits in untyped elements (ptxas 13.0). Only wmma.store takes
 * registers alone. */
static bool constant_element(pl_attempt *a, const pl_ospec *s, pl_word t, const pl_node *n,
                             pl_operand_draft *o)
{
    pl_ospec free = *s;
    free.reg_only = s->reg_only && a->opcode->mnem == M_wmma && a->form->effects & PL_EF_STORE;
    if ((a->opcode->mnem == M_mma || a->opcode->mnem == M_wmma) && pl_word_bits[t] == 32 &&
        t != W_f32)
        t = W_b32;
    if (n->kind == PL_N_FLOAT && pl_word_kind[t] == 'b' && (t == W_b32 || t == W_b64))
        t = t == W_b32 ? W_f32 : W_f64;
    o->at = n->at;
    return immediate(a, &free, t, n, o);
}

/* Room for the elements of an operand, until the statement ends; NULL: out of memory. */
static pl_operand_draft *new_drafts(pl_parse *p, size_t n)
{
    if (p->drafts.cap - p->drafts.n < n) { /* what was handed out stays where it is */
        size_t cap = 2 * p->drafts.cap > n + 64 ? 2 * p->drafts.cap : n + 64;
        p->drafts.at = pl_arena_array(p->names, pl_operand_draft, cap);
        p->drafts.n = 0;
        p->drafts.cap = pl_arena_ok(p->names) ? cap : 0;
        if (!p->drafts.cap) return NULL;
    }
    pl_operand_draft *at = &p->drafts.at[p->drafts.n];
    p->drafts.n += n;
    return n ? memset(at, 0, n * sizeof *at) : at;
}

/* A vector of one element, written without braces. */
static bool one_element(pl_attempt *a, const pl_ospec *s, pl_word t, const pl_node *n,
                        pl_operand_draft *o)
{
    pl_operand_draft scratch = {0}, *e = a->out ? new_drafts(a->p, 1) : &scratch;
    if (!e) return false;
    o->kind = PL_O_VEC;
    o->n = 1;
    o->elem = a->out ? e : NULL;
    return value(a, s, t, true, n, e);
}

/* A vector register as a whole. */
static bool vector_register(pl_attempt *a, const pl_ospec *s, pl_word t, unsigned count, pl_reg *r,
                            const pl_node *n, pl_operand_draft *o)
{
    o->kind = PL_O_VEC;
    o->n = (uint16_t)count;
    if (!type_fits(r->type, t, relaxed(a), fixed_type(a, s, t))) {
        if (a->report)
            pl_report(a->p->diags, PL_E0204, n->at, r->name, pl_word_text[r->type],
                      pl_full_name(a->p, a->opcode), pl_word_text[t]);
        return false;
    }
    if (!a->out) return true;
    o->elem = new_drafts(a->p, count);
    for (unsigned k = 0; o->elem && k < count; k++)
        o->elem[k] = (pl_operand_draft){
            .kind = PL_O_REG, .reg = r, .sel = (uint8_t)(PL_SEL_X + k), .at = n->at};
    return true;
}

/* mov.v4.u32 {...}, %tid */
static bool vector_special(pl_attempt *a, const pl_ospec *s, pl_word t, const pl_node *n,
                           pl_operand_draft *o)
{
    enum { COUNT = 4 };
    static const char *const names[COUNT] = {".x", ".y", ".z", ".w"};
    o->kind = PL_O_VEC;
    o->n = COUNT;
    if (a->out && !(o->elem = new_drafts(a->p, COUNT))) return false;
    for (unsigned k = 0; k < COUNT; k++) {
        pl_node part = *n;
        pl_operand_draft scratch = {0};
        part.sel = pl_sym_intern(a->p, names[k], 2);
        if (!special_register(a, s, t, &part, a->out ? &o->elem[k] : &scratch)) return false;
    }
    return true;
}

static bool is_coordinate(const pl_attempt *a, const pl_ospec *s)
{
    return is_surface(a) && !strcmp(s->name, "c");
}

/* Braces with as many elements as the operand has. Coordinates beyond those of the geometry are
 * ignored: nvcc once wrote four, whatever the texture. */
static bool vector_length_fits(pl_attempt *a, const pl_ospec *s, unsigned count, const pl_node *n)
{
    pl_parse *p = a->p;
    const bool sampled =
        (a->opcode->mnem == M_tex || a->opcode->mnem == M_tld4) && !strcmp(s->name, "c");
    const bool longer = (sampled || (is_surface(a) && (is_coordinate(a, s) || count == 1))) &&
                        n->kind == PL_N_VEC && n->n > count && (n->n == 2 || n->n == 4);
    if (n->kind == PL_N_VEC && (n->n == count || longer)) return true;
    if (a->report)
        pl_report(p->diags, PL_E0211, n->at, pl_full_name(a->p, a->opcode),
                  pl_arena_printf(p->arena, "%u elements in braces", count),
                  n->kind == PL_N_VEC ? pl_arena_printf(p->arena, "%u", n->n) : written(p, n));
    return false;
}

/* What the elements of a vector have in common, as far as they have been seen. */
typedef struct elements {
    int bits;   /* width of the registers; 0: none so far */
    char kind;  /* of their types; 'b': any */
    bool sinks; /* all are _ */
} elements;

/* index_before: the element before it is an array index, which is of another type. */
static bool elements_agree(pl_attempt *a, elements *all, const pl_operand_draft *x,
                           bool index_before)
{
    const char kind = element_kind(x);
    if (all->kind != 'b' && kind != 'b' && kind != all->kind && !index_before) {
        if (a->report) pl_report(a->p->diags, PL_E0249, x->at);
        return false;
    }
    all->kind = kind;
    const int width = x->kind == PL_O_REG ? pl_word_bits[x->reg->type] : 0;
    if (!all->bits) all->bits = width;
    if (width && width != all->bits) {
        if (a->report) pl_report(a->p->diags, PL_E0237, x->at);
        return false;
    }
    all->sinks = false;
    return true;
}

static bool vector_elements(pl_attempt *a, const pl_ospec *s, pl_word t, unsigned count,
                            const pl_node *n, pl_operand_draft *o)
{
    pl_parse *p = a->p;
    const bool layered = array_index(a, s), coordinate = is_coordinate(a, s);
    const pl_word common = layered ? t : common_type(a, n, t);
    const bool mixed = n->n > 1 && holds_register(a, n);
    elements all = {.kind = 'b', .sinks = true};
    uint32_t e = n->first;
    for (unsigned k = 0; k < n->n; k++, e = node(p, e)->next) {
        pl_operand_draft scratch = {0}, *x = a->out && k < count ? &o->elem[k] : &scratch;
        pl_word own = coordinate && (k >= count || (layered && k > 0)) ? W_b32
                      : k == 0 && layered                              ? W_u32
                                                                       : common;
        if (mixed && is_constant(p, node(p, e))
                ? !constant_element(a, s, t, unwrap(p, node(p, e)), x)
                : !value(a, s, own, true, node(p, e), x))
            return false;
        if (x->kind != PL_O_SINK && !elements_agree(a, &all, x, layered && k == 1 && !coordinate))
            return false;
    }
    if (all.sinks && a->report) pl_report(p->diags, PL_E0238, n->at);
    return !all.sinks;
}

static bool vector(pl_attempt *a, const pl_ospec *s, pl_word t, unsigned count, const pl_node *n,
                   pl_operand_draft *o)
{
    pl_parse *p = a->p;
    o->at = n->at;
    if (n->kind == PL_N_WRONG) return false;
    const bool name = n->kind == PL_N_NAME && !n->sel;
    const pl_binding *whole = name ? pl_name_lookup(p, n->sym) : NULL;
    if (whole && whole->kind == PL_B_REG && whole->reg->vec == count)
        return vector_register(a, s, t, count, whole->reg, n, o);
    if (name && n->sym->sreg >= 0 && !n->sym->binding && pl_sregs[n->sym->sreg].vector &&
        count == 4 && (s->slot >= 0 || pl_word_bits[t] == 32))
        return vector_special(a, s, t, n, o);
    bool surface_number = n->kind == PL_N_INT && s->kind == PL_K_VALUE && !s->written &&
                          s->slot < 0 && !strcmp(s->name, "c") &&
                          a->opcode->name[0] == 's'; /* suld and the like: ptxas takes {3}, not 3 */
    if (n->kind == PL_N_SINK && is_surface(a)) {
        if (a->report) pl_report(p->diags, PL_E0207, n->at, pl_full_name(a->p, a->opcode));
        return false;
    }
    if (count == 1 && n->kind != PL_N_VEC && !surface_number && bare_fits(a, s))
        return one_element(a, s, t, n, o);
    if (!vector_length_fits(a, s, count, n)) return false;
    o->kind = PL_O_VEC;
    o->n = (uint16_t)count;
    a->close = 2;
    if (a->out && !(o->elem = new_drafts(p, count))) return false;
    return vector_elements(a, s, t, count, n, o);
}

/* [base + offset] in tensor memory: a 32-bit register */
static bool tensor_address(pl_attempt *a, const pl_node *n, pl_operand_draft *o)
{
    pl_parse *p = a->p;
    o->kind = PL_O_ADDR;
    o->at = n->at;
    if (n->kind != PL_N_NAME || n->not_ || n->minus || n->sel)
        return n->kind == PL_N_WRONG ? false : kind_error(a, n, "a register inside the brackets");
    const pl_binding *b = resolve(a, n);
    if (!b) return false;
    if (b->kind != PL_B_REG || b->reg->vec || pl_word_bits[b->reg->type] != 32 ||
        pl_word_kind[b->reg->type] == 'f') {
        if (a->report)
            pl_report(p->diags, PL_E0206, n->at, n->sym->name, pl_bind_noun(b),
                      "a 32-bit register with an address in tensor memory");
        return false;
    }
    o->imm = n->value;
    o->reg = b->reg;
    return true;
}

/* A 32-bit register with an address of global memory: what it held was cut off. ptxas 13.0 takes
 * the module for one of 32-bit addresses then, and refuses it as a whole. */
static bool cuts_address(const pl_attempt *a, const pl_reg *r)
{
    pl_word space;
    if (a->p->ast->address_size != 64 || pl_word_bits[r->type] != 32 || !space_of(a, &space))
        return false;
    switch (a->opcode->mnem) {
    case M_mbarrier: return space == W_none;
    case M_ld:
    case M_ldu:
    case M_st:
    case M_atom:
    case M_red:
    case M_prefetch:
    case M_prefetchu:
    case M_discard:
    case M_applypriority:
    case M_multimem:
        return (space == W_none || space == W_global) && !chosen(a, W_async, W_async) &&
               !chosen(a, W_bulk, W_bulk) && !chosen(a, W_tensormap, W_tensormap);
    default: return false;
    }
}

/* Registers with addresses may be narrow, and are extended; not where ptxas 13.0 computes with
 * them. */
static int least_address(const pl_attempt *a)
{
    pl_word space;
    switch (a->opcode->mnem) {
    case M_wmma:
    case M_tensormap: return 32;
    case M_ldmatrix:
    case M_stmatrix: return space_of(a, &space) && space ? 0 : 32;
    case M_multimem: return chosen(a, W_red, W_red) && !chosen(a, W_async, W_async) ? 64 : 0;
    default: return 0;
    }
}

/* [base + offset] */
static bool address(pl_attempt *a, pl_word own, const pl_node *n, pl_operand_draft *o)
{
    pl_parse *p = a->p;
    pl_word space;
    o->kind = PL_O_ADDR;
    o->at = n->at;
    if (n->kind == PL_N_WRONG) return false;
    if (n->kind == PL_N_INT) {
        o->imm = n->value;
        if (own == W_b64 && (!space_of(a, &space) || space == W_local)) return true;
        if (a->report)
            pl_report(p->diags, PL_E0227, n->at)->help = "put the address into a register";
        return false;
    }
    if (n->kind != PL_N_NAME || n->not_ || n->minus)
        return kind_error(a, n, "a register or a variable inside the brackets");
    const pl_binding *b = resolve(a, n);
    if (!b || !offset(a, n, b, &o->imm)) return false;
    if (b->kind == PL_B_VAR) {
        o->var = b->var;
        if (b->var->type == W_texref || b->var->type == W_samplerref || b->var->type == W_surfref) {
            if (a->report)
                pl_report(p->diags, PL_E0206, n->at, n->sym->name, "texture, sampler or surface",
                          "a register or a variable");
            return false;
        }
        if (!in_space(a, n, b->var, own)) return false;
        if (a->form->effects & PL_EF_STORE && b->var->space == PL_SP_PARAM &&
            b->var->role == PL_VAR_INPUT) {
            if (a->report) pl_report(p->diags, PL_E0233, n->at, b->var->name, "an input parameter");
            return false;
        }
        if (a->form->effects & PL_EF_LOAD && b->var->space == PL_SP_PARAM &&
            b->var->role == PL_VAR_RESULT) {
            if (a->report) pl_report(p->diags, PL_E0239, n->at, b->var->name);
            return false;
        }
        return true;
    }
    if (b->kind != PL_B_REG) {
        if (a->report)
            pl_report(p->diags, PL_E0206, n->at, n->sym->name, pl_bind_noun(b),
                      "a register or a variable");
        return false;
    }
    char kind = pl_word_kind[b->reg->type];
    if (kind == 'p' || kind == 'f' || pl_word_bits[b->reg->type] > 64 || b->reg->vec || n->sel ||
        pl_word_bits[b->reg->type] < least_address(a)) {
        if (a->report)
            pl_report(p->diags, PL_E0228, n->at, b->reg->name, pl_word_text[b->reg->type]);
        return false;
    }
    if (cuts_address(a, b->reg)) {
        if (a->report)
            pl_report(p->diags, PL_E0228, n->at, b->reg->name, pl_word_text[b->reg->type])->help =
                "addresses of global memory and generic ones have 64 bits (.address_size 64): use "
                "a .b64 register";
        return false;
    }
    o->reg = b->reg;
    return true;
}

static bool table_operand(pl_attempt *a, const pl_ospec *s, const pl_node *n, pl_operand_draft *o)
{
    bool plain = n->kind == PL_N_NAME && !n->sel && !n->has_offset && !n->not_ && !n->minus;
    const pl_binding *b = plain ? resolve(a, n) : NULL;
    if (!plain)
        return n->kind == PL_N_WRONG
                   ? false
                   : kind_error(a, n,
                                s->kind == PL_K_LABELS ? "the name of a .branchtargets list"
                                                       : "the name of a prototype");
    if (!b) return false;
    if (b->kind != PL_B_TABLE || (s->kind == PL_K_LABELS) != (b->table->kind == PL_TAB_BRANCH)) {
        if (a->report)
            pl_report(a->p->diags, PL_E0206, n->at, n->sym->name, pl_bind_noun(b),
                      s->kind == PL_K_LABELS ? "a .branchtargets list"
                                             : "a .callprototype or .calltargets list");
        return false;
    }
    o->kind = PL_O_TABLE;
    o->at = n->at;
    o->table = b->table;
    return true;
}

static bool callee(pl_attempt *a, const pl_node *n, pl_operand_draft *o)
{
    pl_parse *p = a->p;
    o->at = n->at;
    if (n->kind != PL_N_NAME || n->sel || n->has_offset || n->not_ || n->minus)
        return kind_error(a, n, "a function");
    const pl_binding *b = resolve(a, n);
    if (!b) return false;
    if (b->kind == PL_B_FUNC) {
        o->kind = PL_O_FUNC;
        o->func = b->func;
        if (b->func->entry) {
            if (a->report)
                pl_report(p->diags, PL_E0206, n->at, n->sym->name, "kernel", "a function");
            return false;
        }
        return true;
    }
    if (b->kind == PL_B_REG && pl_word_bits[b->reg->type] >= 32 &&
        pl_word_kind[b->reg->type] != 'f') {
        o->kind = PL_O_REG;
        o->reg = b->reg;
        o->imm = 0;
        return true;
    }
    if (a->report)
        pl_report(p->diags, PL_E0206, n->at, n->sym->name, pl_bind_noun(b), "a function");
    return false;
}

/* (a, b, c) of a call: parameters, registers or constants; their types are compared with the
 * callee's in call_check.c */
static bool arguments(pl_attempt *a, const pl_ospec *s, const pl_node *n, pl_operand_draft *o)
{
    pl_parse *p = a->p;
    if (n->kind != PL_N_LIST) return kind_error(a, n, "a list in parentheses");
    o->kind = PL_O_ARGS;
    o->at = n->at;
    o->n = (uint16_t)n->n;
    if (!a->out || !n->n) return true;
    if (!(o->elem = new_drafts(p, n->n))) return false;
    uint32_t e = n->first;
    for (unsigned k = 0; k < n->n; k++, e = node(p, e)->next) {
        const pl_node *x = unwrap(p, node(p, e));
        pl_operand_draft *q = &o->elem[k];
        q->at = x->at;
        if (x->kind == PL_N_WRONG) return false;
        if ((x->kind == PL_N_INT || x->kind == PL_N_FLOAT) && s->kind == PL_K_ARGS) {
            q->kind = PL_O_IMM;
            q->imm = x->value;
            q->is_float = x->kind == PL_N_FLOAT;
            continue;
        }
        if (x->kind == PL_N_SINK) {
            q->kind = PL_O_SINK;
            continue;
        }
        if (x->kind != PL_N_NAME || x->sel || x->not_ || x->minus || x->has_offset)
            return kind_error(a, x,
                              x->kind == PL_N_NAME && x->has_offset
                                  ? "a parameter or a register without offset"
                                  : "a parameter or a register");
        const pl_binding *b = resolve(a, x);
        if (!b) return false;
        if (b->kind == PL_B_VAR) {
            q->kind = PL_O_VAR;
            q->var = b->var;
            q->imm = x->value;
        } else if (b->kind == PL_B_REG) {
            q->kind = PL_O_REG;
            q->reg = b->reg;
        } else {
            pl_report(p->diags, PL_E0206, x->at, x->sym->name, pl_bind_noun(b),
                      "a parameter or a register");
            return false;
        }
    }
    return true;
}

/* Coordinates of a texture or tensor: a vector, or one register. */
static bool coordinates(pl_attempt *a, const pl_ospec *s, pl_word t, const pl_node *n,
                        pl_operand_draft *o)
{
    if (n->kind != PL_N_VEC) {
        o->at = n->at;
        return one_element(a, s, t, n, o);
    }
    return vector(a, s, t, n->n, n, o);
}

static bool opaque(pl_attempt *a, const pl_node *n, pl_operand_draft *o)
{
    pl_parse *p = a->p;
    n = unwrap(p, n);
    o->at = n->at;
    if (n->kind != PL_N_NAME || n->sel)
        return kind_error(a, n, "a texture, sampler or surface, or a 64-bit register");
    const pl_binding *b = resolve(a, n);
    if (!b) return false;
    bool surface = a->opcode->name[0] == 's';
    if (b->kind == PL_B_VAR &&
        (surface ? b->var->type == W_surfref
                 : b->var->type == W_texref || b->var->type == W_samplerref)) {
        o->kind = PL_O_VAR;
        o->var = b->var;
        return true;
    }
    if (b->kind == PL_B_REG && pl_word_bits[b->reg->type] == 64 &&
        pl_word_kind[b->reg->type] != 'f') {
        o->kind = PL_O_REG;
        o->reg = b->reg;
        return !a->report ||
               pl_module_needs(p, n->at, "a texture or surface in a register", 31, "sm_20");
    }
    if (a->report)
        pl_report(p->diags, PL_E0206, n->at, n->sym->name, pl_bind_noun(b),
                  "a texture, sampler or surface, or a 64-bit register");
    return false;
}

/* ld.global.u32 %r1, table[3] (PTX ISA 9.0, section 6.4.2): plain loads and stores take an element
 * in the place of an address in brackets. */
static bool takes_elements(const pl_attempt *a)
{
    const int mnem = a->opcode->mnem;
    return mnem == M_ld || mnem == M_ldu ||
           (mnem == M_st && !chosen(a, W_async, W_async) && !chosen(a, W_bulk, W_bulk));
}

/* ---- the choice by the form's specification
 * ---------------------------------------------------------------------------- */

/* What the brackets around the operand should have been; NULL: they are right. *instead: what
 * stands there. */
static const char *brackets_missed(const pl_attempt *a, const pl_ospec *s, const pl_item *it,
                                   const pl_node *n, const char **instead)
{
    const bool brackets = s->kind == PL_K_ADDR || s->kind == PL_K_OPAQUE;
    const bool coordinate = s->kind == PL_K_OPAQUE || s->kind == PL_K_COORD ||
                            (s->kind == PL_K_VALUE && s->rule && s->read);
    *instead = NULL;
    if ((it->bracket && !brackets) || (it->inside && !coordinate)) {
        *instead = "an address in brackets";
        return s->written ? "a register" : "a value";
    }
    if (s->kind == PL_K_VALUE && coordinate && !it->inside && !strcmp(s->name, "c"))
        return "coordinates inside the brackets";
    if (s->kind != PL_K_ADDR) return NULL;
    if (n->element && it->bracket)
        return "NAME+BYTES inside the brackets, or NAME[NUMBER] without any";
    if (!it->bracket && !it->inside && !(n->element && takes_elements(a)))
        return "an address in brackets";
    return NULL;
}

static bool label(pl_attempt *a, const pl_node *n, pl_operand_draft *o)
{
    o->kind = PL_O_LABEL;
    o->at = n->at;
    if (n->kind != PL_N_NAME || n->sel || n->has_offset || n->not_ || n->minus)
        return n->kind == PL_N_WRONG ? false : kind_error(a, n, "a label");
    o->label = n->sym;
    return true;
}

static bool constant_operand(pl_attempt *a, const pl_ospec *s, pl_word t, const pl_node *n,
                             pl_operand_draft *o)
{
    pl_ospec imm = *s;
    imm.read = true;
    n = unwrap(a->p, n);
    o->at = n->at;
    if (n->kind != PL_N_INT && n->kind != PL_N_FLOAT)
        return n->kind == PL_N_WRONG ? false : kind_error(a, n, "a number");
    return immediate(a, &imm, t ? t : W_b64, n, o);
}

bool pl_operand_check(pl_attempt *a, unsigned k, const pl_item *it, pl_operand_draft *o)
{
    const pl_ospec *s = &a->form->operand[k];
    const pl_node *n = node(a->p, it->node);
    const char *instead, *missed = brackets_missed(a, s, it, n, &instead);
    if (missed) {
        if (n->kind == PL_N_WRONG && !(s->kind == PL_K_ADDR && n->element && it->bracket))
            return false;
        return instead ? kind_instead(a, n, missed, instead) : kind_error(a, n, missed);
    }
    const pl_word t = pl_operand_type(a->form, k, a->mods);
    const int count = pl_operand_count(a->form, k, a->mods);
    switch ((pl_okind)s->kind) {
    case PL_K_ADDR: return t == W_b32 ? tensor_address(a, n, o) : address(a, t, n, o);
    case PL_K_LABEL: return label(a, n, o);
    case PL_K_LABELS:
    case PL_K_PROTO: return table_operand(a, s, n, o);
    case PL_K_FUNC: return callee(a, n, o);
    case PL_K_ARGS:
    case PL_K_RETS: return arguments(a, s, n, o);
    case PL_K_OPAQUE: return opaque(a, n, o);
    case PL_K_IMM: return constant_operand(a, s, t, n, o);
    case PL_K_COORD: return coordinates(a, s, t, n, o);
    default: return count ? vector(a, s, t, (unsigned)count, n, o) : value(a, s, t, false, n, o);
    }
}
