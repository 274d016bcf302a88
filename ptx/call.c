/* call.c - compares the arguments and results of a call with the function's declaration (PTX ISA 9.0, sections 7.1 and 9.7.12.5). */
#include "ptx/internal.h"

static const pl_operand *operand_of(const pl_form *f, const pl_operand *op, pl_okind kind)
{
    for (unsigned k = 0; k < f->noperands; k++)
        if (f->operand[k].kind == kind)
            return op[k].kind == PL_O_NONE ? NULL : &op[k];
    return NULL;
}

/* One argument or result against the variable it is bound to. */
static bool passes(pl_parse *p, const pl_operand *o, const pl_var *v, bool result)
{
    const char *want = pl_word_text[v->type];
    uint64_t bits = v->size * 8;
    if (o->kind == PL_O_SINK || v->unsized)
        return true;
    if (o->kind == PL_O_VAR && (o->var->space == PL_SP_PARAM || result)) {
        if (o->var->space == PL_SP_PARAM && (o->var->size == v->size || o->var->unsized))
            return true;
        pl_report(p->diags, PL_E0226, o->at, o->var->name, (unsigned long long)o->var->size, v->name, (unsigned long long)v->size);
        return false;
    }
    if (o->kind == PL_O_REG) {
        char rk = p->type_kind[o->reg->type], vk = p->type_kind[v->type];
        bool floats = rk == 'f' || vk == 'f', untyped = rk == 'b' || vk == 'b';
        if (p->type_bits[o->reg->type] == bits && (rk == 'p') == (vk == 'p') && (!floats || untyped || o->reg->type == v->type))
            return true;
        pl_report(p->diags, PL_E0204, o->at, o->reg->name, pl_word_text[o->reg->type], "call", want);
        return false;
    }
    if (o->kind == PL_O_VAR)
        return bits == 64 || bits == 32;
    if (o->kind == PL_O_IMM && o->is_float != (p->type_kind[v->type] == 'f') && p->type_kind[v->type] != 'b') {
        pl_report(p->diags, PL_E0210, o->at, "call", o->is_float ? "an integer" : "a floating-point number",
                  o->is_float ? "a floating-point number" : "an integer");
        return false;
    }
    return true;
}

static bool list(pl_parse *p, pl_loc at, const pl_func *f, pl_var *const *want, size_t n, pl_operand *have, bool results)
{
    size_t given = have ? have->n : 0;
    bool open_ended = !results && n && want[n - 1]->unsized;
    if (given != n && !open_ended) {
        pl_report(p->diags, PL_E0225, have ? have->at : at, f->name, (unsigned)n, results ? "result" : "argument", n == 1 ? "" : "s", (unsigned)given);
        return false;
    }
    bool good = true;
    for (size_t k = 0; k < given && k < n; k++) {
        if (have->elem[k].kind == PL_O_IMM && have->elem[k].is_float) {
            double d;
            __builtin_memcpy(&d, &have->elem[k].imm, sizeof d);
            have->elem[k].imm = (int64_t)pl_float_bits(d, want[k]->type, false, 0);
        }
        good &= passes(p, &have->elem[k], want[k], results);
    }
    return good;
}

bool pl_call_check(pl_parse *p, const pl_form *form, pl_operand *op, pl_loc at)
{
    if (!(form->effects & PL_EF_CALL))
        return true;
    const pl_operand *callee = operand_of(form, op, PL_K_FUNC), *proto = operand_of(form, op, PL_K_PROTO);
    pl_operand *args = (pl_operand *)(uintptr_t)operand_of(form, op, PL_K_ARGS);
    pl_operand *rets = (pl_operand *)(uintptr_t)operand_of(form, op, PL_K_RETS);
    if (!callee)
        return true;
    const pl_func *f = callee->kind == PL_O_FUNC ? callee->func : NULL;
    if (!f) {
        if (!proto) {
            pl_report(p->diags, PL_E0224, callee->at, callee->reg->name);
            return false;
        }
        f = proto->table->kind == PL_TAB_PROTO ? proto->table->proto : proto->table->funcs.n ? proto->table->funcs.at[0] : NULL;
    }
    if (!f)
        return true;
    return list(p, at, f, f->rets.at, f->rets.n, rets, true) & list(p, at, f, f->params.at, f->params.n, args, false);
}
