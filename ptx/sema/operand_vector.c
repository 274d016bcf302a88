/* operand_vector.c - vectors in braces. */
#include "ptx/sema/operand_parts.h"
#include "base/plural.h"

#include <string.h>

/* True if the first coordinate is the layer index of a layered texture. */
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

/* True if a one-element vector needs no braces: in texture and surface instructions, except the
 * coordinate after a sampler and the derivatives of tex.grad. */
static bool allows_bare_element(const pl_attempt *a, const pl_ospec *s)
{
    if (a->opcode->mnem == M_tex && !s->written) {
        bool sampler = a->form->operand[3].kind == PL_K_OPAQUE; /* d|p, texture, sampler */
        if (s->name[0] == 'd' || (sampler && !strcmp(s->name, "c"))) return false;
    }
    return s->rule && a->opcode->mnem != M_cp && a->opcode->mnem != M_tcgen05 &&
           a->opcode->mnem != M_wmma && a->opcode->mnem != M_ldmatrix &&
           a->opcode->mnem != M_stmatrix;
}

/* The elements of a vector must have compatible kinds: untyped ones with all, signed with unsigned
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
    for (unsigned k = 0; k < n->n; k++, e = pl_opnd_node(p, e)->next) {
        const pl_node *x = pl_opnd_node(p, e);
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

/* ptxas accepts vectors of two and four elements where a surface instruction needs fewer, and
 * ignores the excess. */
static bool is_surface(const pl_attempt *a)
{
    return a->opcode->mnem == M_suld || a->opcode->mnem == M_sust || a->opcode->mnem == M_sured;
}

static bool is_constant(const pl_parse *p, const pl_node *n)
{
    n = pl_opnd_unwrap(p, n);
    return n->kind == PL_N_INT || n->kind == PL_N_FLOAT;
}

static bool has_register(const pl_attempt *a, const pl_node *n)
{
    uint32_t e = n->first;
    for (unsigned k = 0; k < n->n; k++, e = pl_opnd_node(a->p, e)->next)
        if (pl_opnd_node(a->p, e)->kind == PL_N_NAME) return true;
    return false;
}

/* A constant among registers: an operand that must be a register may have one too, and a
 * floating-point number denotes its bits in untyped elements (ptxas 13.0). Only wmma.store accepts
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
    return pl_opnd_immediate(a, &free, t, n, o);
}

/* Allocates the elements of an operand, until the end of the statement; NULL when out of memory. */
pl_operand_draft *pl_opnd_new_drafts(pl_parse *p, size_t n)
{
    if (p->drafts.cap - p->drafts.n < n) { /* existing elements are not moved */
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

/* A one-element vector written without braces. */
bool pl_opnd_one_element(pl_attempt *a, const pl_ospec *s, pl_word t, const pl_node *n,
                         pl_operand_draft *o)
{
    pl_operand_draft scratch = {0}, *e = a->out ? pl_opnd_new_drafts(a->p, 1) : &scratch;
    if (!e) return false;
    o->kind = PL_O_VEC;
    o->n = 1;
    o->elem = a->out ? e : NULL;
    if (n->kind == PL_N_NAME && n->sym->sreg >= 0 && !n->sym->binding)
        return pl_opnd_special_register(a, s, t, false, n, e);
    return pl_opnd_value(a, s, t, true, n, e);
}

/* A whole vector register. */
static bool vector_register(pl_attempt *a, const pl_ospec *s, pl_word t, unsigned count, pl_reg *r,
                            const pl_node *n, pl_operand_draft *o)
{
    o->kind = PL_O_VEC;
    o->n = (uint16_t)count;
    if (!pl_opnd_type_fits(r->type, t, pl_opnd_relaxed(a), pl_opnd_fixed_type(a, s, t))) {
        if (a->report)
            pl_report(a->p->diags, PL_E0204, n->at, r->name, pl_word_text[r->type],
                      pl_full_name(a->p, a->opcode), pl_word_text[t]);
        return false;
    }
    if (!a->out) return true;
    o->elem = pl_opnd_new_drafts(a->p, count);
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
    if (a->out && !(o->elem = pl_opnd_new_drafts(a->p, COUNT))) return false;
    for (unsigned k = 0; k < COUNT; k++) {
        pl_node part = *n;
        pl_operand_draft scratch = {0};
        part.sel = pl_sym_intern(a->p, names[k], 2);
        if (!pl_opnd_special_register(a, s, t, false, &part, a->out ? &o->elem[k] : &scratch))
            return false;
    }
    return true;
}

static bool is_coordinate(const pl_attempt *a, const pl_ospec *s)
{
    return is_surface(a) && !strcmp(s->name, "c");
}

/* True if the braces have the operand's number of elements. Excess coordinates are ignored: nvcc
 * once wrote four for every texture. */
static bool check_vector_length(pl_attempt *a, const pl_ospec *s, unsigned count, const pl_node *n)
{
    pl_parse *p = a->p;
    const bool sampled =
        (a->opcode->mnem == M_tex || a->opcode->mnem == M_tld4) && !strcmp(s->name, "c");
    const bool longer = (sampled || (is_surface(a) && (is_coordinate(a, s) || count == 1))) &&
                        n->kind == PL_N_VEC && n->n > count && (n->n == 2 || n->n == 4);
    if (n->kind == PL_N_VEC && (n->n == count || longer)) return true;
    if (a->report)
        pl_report(p->diags, PL_E0211, n->at, pl_full_name(a->p, a->opcode),
                  pl_arena_printf(p->arena, "%u element%s in braces", count, pl_plural(count)),
                  n->kind == PL_N_VEC ? pl_arena_printf(p->arena, "%u", n->n)
                                      : pl_opnd_written(p, n));
    return false;
}

/* Common properties of the elements of a vector seen so far. */
typedef struct elements {
    int bits;   /* width of the registers; 0: unknown */
    char kind;  /* of their types; 'b': any */
    bool sinks; /* all elements are `_` */
} elements;

/* index_before: the previous element is an array index, which has another type. */
static bool check_elements(pl_attempt *a, elements *all, const pl_operand_draft *x,
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
    const bool mixed = n->n > 1 && has_register(a, n);
    elements all = {.kind = 'b', .sinks = true};
    uint32_t e = n->first;
    for (unsigned k = 0; k < n->n; k++, e = pl_opnd_node(p, e)->next) {
        pl_operand_draft scratch = {0}, *x = a->out && k < count ? &o->elem[k] : &scratch;
        pl_word own = coordinate && (k >= count || (layered && k > 0)) ? W_b32
                      : k == 0 && layered                              ? W_u32
                                                                       : common;
        if (mixed && is_constant(p, pl_opnd_node(p, e))
                ? !constant_element(a, s, t, pl_opnd_unwrap(p, pl_opnd_node(p, e)), x)
                : !pl_opnd_value(a, s, own, true, pl_opnd_node(p, e), x))
            return false;
        if (x->kind != PL_O_SINK && !check_elements(a, &all, x, layered && k == 1 && !coordinate))
            return false;
    }
    if (all.sinks && a->report) pl_report(p->diags, PL_E0238, n->at);
    return !all.sinks;
}

/* atom.global.add.v2.f32 _, ...: no element of the result is wanted. */
static bool discarded_vector(pl_attempt *a, unsigned count, pl_operand_draft *o)
{
    o->kind = PL_O_VEC;
    o->n = (uint16_t)count;
    if (!a->out) return true;
    o->elem = pl_opnd_new_drafts(a->p, count);
    for (unsigned k = 0; k < count && o->elem; k++)
        o->elem[k] = (pl_operand_draft){.kind = PL_O_SINK, .at = o->at};
    return o->elem != NULL;
}

bool pl_opnd_vector(pl_attempt *a, const pl_ospec *s, pl_word t, unsigned count, const pl_node *n,
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
                          a->opcode->name[0] == 's'; /* suld, sust, ...: ptxas takes {3}, not 3 */
    if (n->kind == PL_N_SINK && is_surface(a)) {
        if (a->report) pl_report(p->diags, PL_E0207, n->at, pl_full_name(a->p, a->opcode));
        return false;
    }
    if (n->kind == PL_N_SINK && a->opcode->mnem == M_atom && s->written)
        return discarded_vector(a, count, o);
    if (count == 1 && n->kind != PL_N_VEC && !surface_number && allows_bare_element(a, s))
        return pl_opnd_one_element(a, s, t, n, o);
    if (!check_vector_length(a, s, count, n)) return false;
    o->kind = PL_O_VEC;
    o->n = (uint16_t)count;
    a->match_quality = 2;
    if (a->out && !(o->elem = pl_opnd_new_drafts(p, count))) return false;
    return vector_elements(a, s, t, count, n, o);
}
