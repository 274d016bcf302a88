/* operand_value.c - registers, special registers and constants as operands. */
#include "ptx/sema/operand_parts.h"

#include <string.h>

const pl_node *pl_opnd_node(const pl_parse *p, uint32_t n)
{
    return &p->nodes.at[n];
}

/* ---- types ---- */

/* True if a register of type r may be used where an instruction reads or writes type t (PTX ISA
 * 9.0, section 9.2; every pair was tested with ptxas 13.0). Untyped registers match any type of
 * their size, signed and unsigned match each other, floating-point registers match their own type
 * or an untyped one. With `relax` (ld, st, cvt) the register may also be wider. `fixed`: the type
 * is the same in every variant of the instruction; a packed pair of halves then does not count as
 * an integer. */
bool pl_opnd_type_fits(pl_word r, pl_word t, bool relax, bool fixed)
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

/* True for pairs and quadruples of small floats, which only untyped registers hold. */
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
    case W_e2m1p4x4:
    case W_ue8m0x4:
    case W_ue8m0x2: return true;
    default: return false;
    }
}

/* ---- reports ---- */

const char *pl_opnd_written(const pl_parse *p, const pl_node *n)
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

bool pl_opnd_kind_mismatch(pl_attempt *a, const pl_node *n, const char *expected, const char *given)
{
    if (a->report)
        pl_report(a->p->diags, PL_E0203, n->at, pl_full_name(a->p, a->opcode), expected, given)
            ->help = pl_syntax_help(a->p, a->form);
    return false;
}

bool pl_opnd_kind_error(pl_attempt *a, const pl_node *n, const char *expected)
{
    return pl_opnd_kind_mismatch(a, n, expected, pl_opnd_written(a->p, n));
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

/* True if the operand's type is the same in every variant, rather than the instruction's own.
 * (Matrix instructions and nanosleep check as strictly.) */
bool pl_opnd_fixed_type(const pl_attempt *a, const pl_ospec *s, pl_word t)
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

bool pl_opnd_chosen(const pl_attempt *a, pl_word one, pl_word other)
{
    bool first = false, second = false;
    for (unsigned k = 0; k < a->form->nslots; k++) {
        first |= a->mods[k] == one;
        second |= a->mods[k] == other;
    }
    return first && second;
}

/* cvt accepts wider registers only between the original types of PTX. */
bool pl_opnd_relaxed(const pl_attempt *a)
{
    if (!a->form->relax || a->opcode->mnem != M_cvt || pl_opnd_chosen(a, W_pack, W_pack))
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

/* True if ptxas 13.0 accepts registers of other kinds for this bf16: multimem for loads and stores,
 * sums with a float for integers. */
static bool any_bf16(const pl_attempt *a, const pl_ospec *s, pl_word r, pl_word t)
{
    if (t != W_bf16 && t != W_bf16x2) return false;
    switch (a->opcode->mnem) {
    case M_multimem: return !pl_opnd_chosen(a, W_red, W_red) && pl_word_bits[r] == pl_word_bits[t];
    case M_set: return s->written && pl_word_bits[r] == pl_word_bits[t] && r != W_f16;
    case M_add:
    case M_sub:
    case M_fma:
        return t == W_bf16 && (r == W_u16 || r == W_s16) && pl_opnd_chosen(a, W_f32, W_bf16);
    default: return false;
    }
}

/* True if REGISTER+NUMBER is allowed as a source operand: an integer sum of the register's width
 * (ptxas 13.0). */
static bool allows_offset(const pl_ospec *s, const pl_node *n, const pl_reg *r, bool in_vector)
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
    if (!strcmp(s->name, "sizes") && pl_word_bits[r->type] == 8) t = W_b8; /* of a tensor */
    if (any_bf16(a, s, r->type, t)) t = pl_word_bits[t] == 16 ? W_b16 : W_b32;
    if (!pl_opnd_type_fits(r->type, t, pl_opnd_relaxed(a), pl_opnd_fixed_type(a, s, t)) ||
        (a->opcode->mnem == M_cvt && !pl_opnd_chosen(a, W_pack, W_pack) &&
         !(t == W_b32 && pl_opnd_chosen(a, W_ue8m0x2, W_bf16x2)) && pl_word_kind[r->type] != 'b' &&
         (untyped_only(t) || (s->slot < 0 && pl_word_kind[t] == 'b' && t != W_tf32)))) {
        a->match_quality = a->match_quality ? a->match_quality : 1;
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
    if (n->has_offset && !allows_offset(s, n, r, in_vector)) {
        if (a->report)
            pl_report(p->diags, PL_E0232, n->at, r->name)->help =
                "a number is added inside an address, or to an integer register that is read";
        return false;
    }
    (void)s;
    return true;
}

/* Only these instructions read special registers, but every vector in braces may have them as
 * elements (ptxas 13.0). */
static bool reads_special(const pl_attempt *a, bool in_braces)
{
    if (in_braces) return true;
    if (a->opcode->mnem == M_cvt)
        return a->mods[0] != W_pack && pl_word_kind[pl_operand_type(a->form, 0, a->mods)] != 'f';
    return a->opcode->mnem == M_mov;
}

bool pl_opnd_special_register(pl_attempt *a, const pl_ospec *s, pl_word t, bool in_braces,
                              const pl_node *n, pl_operand_draft *o)
{
    pl_parse *p = a->p;
    const pl_sreg_info *info = &pl_sregs[n->sym->sreg];
    o->kind = PL_O_SREG;
    o->sreg = (pl_word)info->word;
    if (s->written || !reads_special(a, in_braces)) {
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
    /* PTX 1.x had 16-bit coordinates, and a 16-bit, later a 32-bit %gridid; programs of that time
     * still assemble. */
    bool old_width = !in_braces && ((info->vector && info->ptx == 10 && tb == 16) ||
                                    (info->word == W_gridid && (tb == 16 || tb == 32)));
    if ((tk == 'f' && !in_braces) || (tk == 'p') != (sk == 'p') || (tb != sb && !old_width)) {
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

/* Excess bits are silently truncated, as in ptxas. */
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

/* Returns the operand's range as text if the value is outside it, else NULL. */
static const char *range_error(pl_attempt *a, const pl_ospec *s, pl_word t, const pl_node *n)
{
    const int mnem = a->opcode->mnem;
    if (pl_word_kind[t] == 'p' && mnem == M_wgmma && (uint64_t)n->value > 1) return "0 or 1";
    if ((mnem == M_bfe || mnem == M_bfi) && t == W_u32 && n->kind == PL_N_INT &&
        strcmp(s->name, "a") != 0 &&
        (n->value > UINT32_MAX ||
         n->value < INT32_MIN)) /* the width of a bit field; see limits in statement.c */
        return pl_range_text(a->p->arena, 0, 255);
    if (s->lo <= s->hi && (n->value < s->lo || n->value > s->hi))
        return pl_range_text(a->p->arena, s->lo, s->hi);
    return NULL;
}

bool pl_opnd_immediate(pl_attempt *a, const pl_ospec *s, pl_word t, const pl_node *n,
                       pl_operand_draft *o)
{
    pl_parse *p = a->p;
    char kind = pl_word_kind[t];
    bool bf16_set = a->opcode->mnem == M_set && kind == 'p' &&
                    (pl_opnd_chosen(a, W_bf16, W_bf16) || pl_opnd_chosen(a, W_bf16x2, W_bf16x2));
    if (!s->read || s->written || s->reg_only || bf16_set)
        return pl_opnd_kind_error(a, n, s->written ? "a register to write to" : "a register");
    o->kind = PL_O_IMM;
    if ((kind == 'f' && t != W_f32 && t != W_f64) || t == W_u16x2 || t == W_s16x2) {
        if (a->report)
            pl_report(p->diags, PL_E0212, n->at, pl_full_name(p, a->opcode), pl_word_text[t])
                ->help = "move its bits into a register first: mov.b16 %rs1, 0x3C00 is 1.0 in .f16";
        return false;
    }
    if (n->kind == PL_N_FLOAT ? !float_immediate(a, t, n, o) : !integer_immediate(a, t, n, o))
        return false;
    const char *range = range_error(a, s, t, n);
    if (range && a->report)
        pl_report(p->diags, PL_E0209, n->at, pl_full_name(a->p, a->opcode), range,
                  (long long)n->value);
    return !range;
}

/* Removes parentheses around a constant. */
const pl_node *pl_opnd_unwrap(const pl_parse *p, const pl_node *n)
{
    const pl_node *inner = n;
    while (inner->kind == PL_N_LIST && inner->n == 1) inner = pl_opnd_node(p, inner->first);
    return inner->kind == PL_N_INT || inner->kind == PL_N_FLOAT ? inner : n;
}

/* True if at most one operand is in braces. */
static bool braces_once(const pl_attempt *a)
{
    unsigned n = 0;
    for (unsigned k = 0; k < a->nitems; k++)
        n += pl_opnd_node(a->p, a->items[k].node)->kind == PL_N_VEC;
    return n <= 1;
}

/* True if a single register may be written in braces: where a vector is possible, and, in ptxas
 * 13.0, where it expands the instruction: those on bf16, and scales and metadata of mma. */
static bool allows_braces(const pl_attempt *a, const pl_ospec *s, pl_word t)
{
    if (a->opcode->mnem == M_multimem)
        return pl_word_kind[t] == 'f' && !pl_opnd_chosen(a, W_red, W_red);
    if (s->vslot < 0 && (a->opcode->mnem == M_atom || a->opcode->mnem == M_red)) return false;
    return s->vslot >= 0 || t == W_bf16 || t == W_bf16x2 || a->opcode->mnem == M_txq ||
           (a->opcode->mnem == M_mma && t == W_b32) ||
           (a->opcode->mnem == M_mov && pl_word_kind[t] == 'b' && braces_once(a));
}

/* The binding of a name; reports an error if there is none. */
const pl_binding *pl_opnd_resolve(pl_attempt *a, const pl_node *n)
{
    const pl_binding *b = pl_name_lookup(a->p, n->sym);
    if (!b) {
        if (a->report) pl_name_undefined(a->p, n->sym, n->at);
        return NULL;
    }
    return b->kind == PL_B_BAD ? NULL : b;
}

/* The space word of an instruction with a single address, W_none for generic; false if it has
 * several addresses. */
bool pl_opnd_space_of(const pl_attempt *a, pl_word *space)
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

/* True if the variable is in the space that the instruction addresses. `own` is the address's space
 * if the table specifies one, else W_b64. */
bool pl_opnd_in_space(pl_attempt *a, const pl_node *n, const pl_var *v, pl_word own)
{
    pl_word space = own;
    bool good;
    if (own == W_b64 && !pl_opnd_space_of(a, &space)) {
        if (a->opcode->mnem != M_cp) return true;
        space = W_global; /* a tensor map's generic address is in a register; a name must be in
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

/* The offset of NAME+4 or, in elements, NAME[1]. As in ptxas 13.0, the elements of an array of
 * vectors are its scalars. */
bool pl_opnd_offset(pl_attempt *a, const pl_node *n, const pl_binding *b, int64_t *bytes)
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
        if (!pl_opnd_offset(a, n, b, &o->imm)) return false;
        if (b->var->space == PL_SP_PARAM && b->var->role == PL_VAR_PLAIN) {
            if (a->report) pl_report(p->diags, PL_E0235, n->at, b->var->name);
            return false;
        }
        if (a->opcode->mnem == M_cvta) return pl_opnd_in_space(a, n, b->var, W_b64);
        if (a->opcode->mnem == M_mapa || a->opcode->mnem == M_getctarank)
            return pl_opnd_in_space(a, n, b->var, W_shared__cluster);
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
            return pl_opnd_kind_error(a, n,
                                      a->opcode->mnem == M_cvta ? "a variable or a register"
                                                                : "a function without offset");
    }
    return true;
}

/* ptxas accepts a function name as its address wherever a number is allowed, except where it
 * examines or converts the number. */
static bool is_function_as_number(const pl_attempt *a, const pl_ospec *s, pl_word t,
                                  const pl_node *n, const pl_binding *b)
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

/* In a store of 32 bytes, elements written as `_` leave memory unchanged. */
static bool stores_32_bytes(const pl_attempt *a, const pl_ospec *s)
{
    if (a->opcode->mnem != M_st || s->vslot < 0) return false;
    pl_word vec = (pl_word)a->mods[s->vslot], type = (pl_word)a->mods[s->slot];
    return (vec == W_v8 && pl_word_bits[type] == 32) || (vec == W_v4 && pl_word_bits[type] == 64);
}

bool pl_opnd_value(pl_attempt *a, const pl_ospec *s, pl_word t, bool in_vector, const pl_node *n,
                   pl_operand_draft *o)
{
    pl_parse *p = a->p;
    n = pl_opnd_unwrap(p, n);
    bool in_braces = in_vector;
    if (n->kind == PL_N_VEC && n->n == 1 && allows_braces(a, s, t)) {
        n = pl_opnd_unwrap(p, pl_opnd_node(p, n->first));
        in_braces = s->vslot >= 0 || t == W_bf16 || t == W_bf16x2;
    }
    o->at = n->at;
    switch ((pl_node_kind)n->kind) {
    case PL_N_WRONG: return false;
    case PL_N_SINK:
        /* Only atomics and pairs may discard a whole result; ld may discard elements of a vector.
         */
        o->kind = PL_O_SINK;
        if (s->joined ||
            (in_vector ? (s->written && !s->read) || stores_32_bytes(a, s)
                       : s->sink_ok && (s->vslot < 0 || a->form->effects & PL_EF_ATOMIC)))
            return true;
        if (a->report) pl_report(p->diags, PL_E0207, n->at, pl_full_name(a->p, a->opcode));
        return false;
    case PL_N_INT:
    case PL_N_FLOAT: return pl_opnd_immediate(a, s, t, n, o);
    case PL_N_NAME: break;
    default: return pl_opnd_kind_error(a, n, s->written ? "a register" : "a register or a number");
    }
    if (n->not_ || n->minus) {
        if (n->minus ? !pl_video_allows_minus(a, s) : !s->negatable) {
            if (a->report)
                pl_report(p->diags, PL_E0213, n->at, pl_full_name(a->p, a->opcode),
                          n->not_ ? "!" : "-")
                    ->help = n->minus ? "negate it with neg first" : NULL;
            return false;
        }
        o->neg = true;
    }
    if (n->sym->sreg >= 0 && !n->sym->binding)
        return pl_opnd_special_register(a, s, t, in_braces, n, o);
    const pl_binding *b = pl_opnd_resolve(a, n);
    if (!b) return false;
    if (b->kind == PL_B_REG) return register_operand(a, s, t, in_vector, n, b, o);
    if (s->kind == PL_K_VAR && (b->kind == PL_B_VAR || b->kind == PL_B_FUNC))
        return name_value(a, t, n, b, o);
    if (!in_vector && is_function_as_number(a, s, t, n, b)) {
        o->kind = PL_O_FUNC;
        o->func = b->func;
        return true;
    }
    if (a->report)
        pl_report(p->diags, PL_E0206, n->at, n->sym->name, pl_bind_noun(b),
                  s->written ? "a register" : "a register or a number");
    return false;
}
