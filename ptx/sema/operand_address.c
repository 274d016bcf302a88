/* operand_address.c - addresses in brackets. */
#include "ptx/sema/operand_parts.h"

#include <string.h>

/* [base + offset] in tensor memory: a 32-bit register */
bool pl_opnd_tensor_address(pl_attempt *a, const pl_node *n, pl_operand_draft *o)
{
    pl_parse *p = a->p;
    o->kind = PL_O_ADDR;
    o->at = n->at;
    if (n->kind != PL_N_NAME || n->not_ || n->minus || n->sel)
        return n->kind == PL_N_WRONG ? false
                                     : pl_opnd_kind_error(a, n, "a register inside the brackets");
    const pl_binding *b = pl_opnd_resolve(a, n);
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

/* True for a 32-bit register that holds a truncated address of global memory. ptxas 13.0 then
 * assumes a module with 32-bit addresses, and rejects it as a whole. */
static bool truncates_address(const pl_attempt *a, const pl_reg *r)
{
    pl_word space;
    if (a->p->ast->address_size != 64 || pl_word_bits[r->type] != 32 ||
        !pl_opnd_space_of(a, &space))
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
        return (space == W_none || space == W_global) && !pl_opnd_chosen(a, W_async, W_async) &&
               !pl_opnd_chosen(a, W_bulk, W_bulk) && !pl_opnd_chosen(a, W_tensormap, W_tensormap);
    default: return false;
    }
}

/* The least width of an address register. Narrow registers are extended, except where ptxas 13.0
 * computes with them. */
static int min_address_bits(const pl_attempt *a)
{
    pl_word space;
    switch (a->opcode->mnem) {
    case M_wmma:
    case M_tensormap: return 32;
    case M_ldmatrix:
    case M_stmatrix: return pl_opnd_space_of(a, &space) && space ? 0 : 32;
    case M_multimem:
        return pl_opnd_chosen(a, W_red, W_red) && !pl_opnd_chosen(a, W_async, W_async) ? 64 : 0;
    default: return 0;
    }
}

/* [number] */
static bool number_address(const pl_attempt *a, pl_word own, const pl_node *n, pl_operand_draft *o)
{
    pl_word space;
    o->imm = n->value;
    if (own == W_b64 && (!pl_opnd_space_of(a, &space) || space == W_local)) return true;
    if (a->report)
        pl_report(a->p->diags, PL_E0227, n->at)->help = "put the address into a register";
    return false;
}

/* [variable + offset] */
static bool variable_address(pl_attempt *a, pl_word own, const pl_node *n, pl_var *v,
                             pl_operand_draft *o)
{
    pl_diags *d = a->p->diags;
    o->var = v;
    if (v->type == W_texref || v->type == W_samplerref || v->type == W_surfref) {
        if (a->report)
            pl_report(d, PL_E0206, n->at, n->sym->name, "texture, sampler or surface",
                      "a register or a variable");
        return false;
    }
    if (!pl_opnd_in_space(a, n, v, own)) return false;
    if (v->space != PL_SP_PARAM) return true;
    if (a->form->effects & PL_EF_STORE && v->role == PL_VAR_INPUT) {
        if (a->report) pl_report(d, PL_E0233, n->at, v->name, "an input parameter");
        return false;
    }
    if (a->form->effects & PL_EF_LOAD && v->role == PL_VAR_RESULT) {
        if (a->report) pl_report(d, PL_E0239, n->at, v->name);
        return false;
    }
    return true;
}

/* [register + offset] */
static bool register_address(const pl_attempt *a, const pl_node *n, pl_reg *r, pl_operand_draft *o)
{
    const char kind = pl_word_kind[r->type];
    const bool is_address = kind != 'p' && kind != 'f' && pl_word_bits[r->type] <= 64 && !r->vec &&
                            !n->sel && pl_word_bits[r->type] >= min_address_bits(a),
               truncates = is_address && truncates_address(a, r);
    if (!is_address || truncates) {
        pl_diag *d = a->report
                         ? pl_report(a->p->diags, PL_E0228, n->at, r->name, pl_word_text[r->type])
                         : NULL;
        if (d && truncates)
            d->help = "addresses of global memory and generic ones have 64 bits (.address_size "
                      "64): use a .b64 register";
        return false;
    }
    o->reg = r;
    return true;
}

/* [base + offset] */
bool pl_opnd_address(pl_attempt *a, pl_word own, const pl_node *n, pl_operand_draft *o)
{
    o->kind = PL_O_ADDR;
    o->at = n->at;
    if (n->kind == PL_N_WRONG) return false;
    if (n->kind == PL_N_INT) return number_address(a, own, n, o);
    if (n->kind != PL_N_NAME || n->not_ || n->minus)
        return pl_opnd_kind_error(a, n, "a register or a variable inside the brackets");
    const pl_binding *b = pl_opnd_resolve(a, n);
    if (!b || !pl_opnd_offset(a, n, b, &o->imm)) return false;
    if (b->kind == PL_B_VAR) return variable_address(a, own, n, b->var, o);
    if (b->kind == PL_B_REG) return register_address(a, n, b->reg, o);
    if (a->report)
        pl_report(a->p->diags, PL_E0206, n->at, n->sym->name, pl_bind_noun(b),
                  "a register or a variable");
    return false;
}
