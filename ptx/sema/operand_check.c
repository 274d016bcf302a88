/* operand_check.c - checks one operand as written against its specification in the table (PTX ISA
 * 9.0, chapters 6 and 9).
 *
 * Every function here returns true if the operand fits, and fills in the checked operand. It
 * reports an error only if the attempt requests it, since several forms may be tried before one is
 * reported. Where they differ, the measured behaviour of ptxas 13.0 decides. */
#include "ptx/sema/operand_parts.h"

#include <string.h>

static bool table_operand(pl_attempt *a, const pl_ospec *s, const pl_node *n, pl_operand_draft *o)
{
    bool plain = n->kind == PL_N_NAME && !n->sel && !n->has_offset && !n->not_ && !n->minus;
    const pl_binding *b = plain ? pl_opnd_resolve(a, n) : NULL;
    if (!plain)
        return n->kind == PL_N_WRONG
                   ? false
                   : pl_opnd_kind_error(a, n,
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

static bool callee_operand(pl_attempt *a, const pl_node *n, pl_operand_draft *o)
{
    pl_parse *p = a->p;
    o->at = n->at;
    if (n->kind != PL_N_NAME || n->sel || n->has_offset || n->not_ || n->minus)
        return pl_opnd_kind_error(a, n, "a function");
    const pl_binding *b = pl_opnd_resolve(a, n);
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

/* (a, b, c) of a call: parameters, registers or constants; call_check.c compares their types with
 * the callee's */
static bool arguments(pl_attempt *a, const pl_ospec *s, const pl_node *n, pl_operand_draft *o)
{
    pl_parse *p = a->p;
    if (n->kind != PL_N_LIST) return pl_opnd_kind_error(a, n, "a list in parentheses");
    o->kind = PL_O_ARGS;
    o->at = n->at;
    o->n = (uint16_t)n->n;
    if (!a->out || !n->n) return true;
    if (!(o->elem = pl_opnd_new_drafts(p, n->n))) return false;
    uint32_t e = n->first;
    for (unsigned k = 0; k < n->n; k++, e = pl_opnd_node(p, e)->next) {
        const pl_node *x = pl_opnd_unwrap(p, pl_opnd_node(p, e));
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
            return pl_opnd_kind_error(a, x,
                                      x->kind == PL_N_NAME && x->has_offset
                                          ? "a parameter or a register without offset"
                                          : "a parameter or a register");
        const pl_binding *b = pl_opnd_resolve(a, x);
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
        return pl_opnd_one_element(a, s, t, n, o);
    }
    return pl_opnd_vector(a, s, t, n->n, n, o);
}

static bool opaque(pl_attempt *a, const pl_node *n, pl_operand_draft *o)
{
    pl_parse *p = a->p;
    n = pl_opnd_unwrap(p, n);
    o->at = n->at;
    if (n->kind != PL_N_NAME || n->sel)
        return pl_opnd_kind_error(a, n, "a texture, sampler or surface, or a 64-bit register");
    const pl_binding *b = pl_opnd_resolve(a, n);
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

/* ld.global.u32 %r1, table[3] (PTX ISA 9.0, section 6.4.2): plain loads and stores accept an
 * element instead of an address in brackets. */
static bool accepts_elements(const pl_attempt *a)
{
    const int mnem = a->opcode->mnem;
    return mnem == M_ld || mnem == M_ldu ||
           (mnem == M_st && !pl_opnd_chosen(a, W_async, W_async) &&
            !pl_opnd_chosen(a, W_bulk, W_bulk));
}

/* ---- dispatch on the form's specification ---- */

/* True for values that follow an address within its brackets: fabric.try_get ... [handle, offset,
 * counter], and replacement values of tensor map fields. */
static bool in_brackets(const pl_attempt *a, const pl_ospec *s, pl_word t)
{
    if (a->opcode->mnem == M_fabric) return t == W_u64 && strcmp(s->name, "policy") != 0;
    return !strcmp(s->name, "gaddr") || !strcmp(s->name, "upper");
}

/* The required operand if the brackets around it are wrong, or NULL if they are correct. *given:
 * the operand that was written. */
static const char *bracket_error(const pl_attempt *a, const pl_ospec *s, pl_word t,
                                 const pl_item *it, const pl_node *n, const char **given)
{
    const bool brackets = s->kind == PL_K_ADDR || s->kind == PL_K_OPAQUE;
    const bool coordinate = s->kind == PL_K_OPAQUE || s->kind == PL_K_COORD ||
                            (s->kind == PL_K_VALUE && s->rule && s->read) || in_brackets(a, s, t);
    *given = NULL;
    if ((it->bracket && !brackets) || (it->inside && !coordinate)) {
        *given = "an address in brackets";
        return s->written ? "a register" : "a value";
    }
    if (in_brackets(a, s, t) && !it->inside)
        return a->opcode->mnem == M_fabric ? "a place inside the brackets of the handle"
                                           : "a place inside the brackets of the tensor map";
    if (s->kind == PL_K_VALUE && coordinate && !it->inside && !strcmp(s->name, "c"))
        return "coordinates inside the brackets";
    if (s->kind != PL_K_ADDR) return NULL;
    if (n->element && it->bracket)
        return "NAME+BYTES inside the brackets, or NAME[NUMBER] without any";
    if (!it->bracket && !it->inside && !(n->element && accepts_elements(a)))
        return "an address in brackets";
    return NULL;
}

static bool label_operand(pl_attempt *a, const pl_node *n, pl_operand_draft *o)
{
    o->kind = PL_O_LABEL;
    o->at = n->at;
    if (n->kind != PL_N_NAME || n->sel || n->has_offset || n->not_ || n->minus)
        return n->kind == PL_N_WRONG ? false : pl_opnd_kind_error(a, n, "a label");
    o->label = n->sym;
    return true;
}

static bool constant_operand(pl_attempt *a, const pl_ospec *s, pl_word t, const pl_node *n,
                             pl_operand_draft *o)
{
    pl_ospec imm = *s;
    imm.read = true;
    n = pl_opnd_unwrap(a->p, n);
    o->at = n->at;
    if (n->kind != PL_N_INT && n->kind != PL_N_FLOAT)
        return n->kind == PL_N_WRONG ? false : pl_opnd_kind_error(a, n, "a number");
    return pl_opnd_immediate(a, &imm, t ? t : W_b64, n, o);
}

bool pl_operand_check(pl_attempt *a, unsigned k, const pl_item *it, pl_operand_draft *o)
{
    const pl_ospec *s = &a->form->operand[k];
    const pl_node *n = pl_opnd_node(a->p, it->node);
    const pl_word t = pl_operand_type(a->form, k, a->mods);
    const char *given, *required = bracket_error(a, s, t, it, n, &given);
    if (required) {
        if (n->kind == PL_N_WRONG && !(s->kind == PL_K_ADDR && n->element && it->bracket))
            return false;
        return given ? pl_opnd_kind_mismatch(a, n, required, given)
                     : pl_opnd_kind_error(a, n, required);
    }
    const int count = pl_operand_count(a->form, k, a->mods);
    switch ((pl_okind)s->kind) {
    case PL_K_ADDR:
        return t == W_b32 ? pl_opnd_tensor_address(a, n, o) : pl_opnd_address(a, t, n, o);
    case PL_K_LABEL: return label_operand(a, n, o);
    case PL_K_LABELS:
    case PL_K_PROTO: return table_operand(a, s, n, o);
    case PL_K_FUNC: return callee_operand(a, n, o);
    case PL_K_ARGS:
    case PL_K_RETS: return arguments(a, s, n, o);
    case PL_K_OPAQUE: return opaque(a, n, o);
    case PL_K_IMM: return constant_operand(a, s, t, n, o);
    case PL_K_COORD: return coordinates(a, s, t, n, o);
    default:
        return count ? pl_opnd_vector(a, s, t, (unsigned)count, n, o)
                     : pl_opnd_value(a, s, t, false, n, o);
    }
}
