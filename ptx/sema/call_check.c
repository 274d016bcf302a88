/* call_check.c - compares the arguments and results of a call with the function's declaration (PTX
 * ISA 9.0, sections 7.1 and 9.7.12.5). */
#include "ptx/internal.h"
#include "base/plural.h"

static const pl_operand_draft *operand_of(const pl_form *f, const pl_operand_draft *op,
                                          pl_okind kind)
{
    for (unsigned k = 0; k < f->noperands; k++)
        if (f->operand[k].kind == kind) return op[k].kind == PL_O_NONE ? NULL : &op[k];
    return NULL;
}

/* True if elements of these types are compatible: an untyped one with any type of its size,
 * integers with integers. */
static bool types_compatible(pl_word a, pl_word b)
{
    char ka = pl_word_kind[a], kb = pl_word_kind[b];
    if (pl_word_bits[a] != pl_word_bits[b] || (ka == 'p') != (kb == 'p')) return false;
    return a == b || ka == 'b' || kb == 'b' || (ka != 'f' && kb != 'f');
}

bool pl_is_array(const pl_var *v)
{
    const int bits = pl_word_bits[v->type];
    return v->unsized || v->size * 8 > (uint64_t)(bits < 8 ? 8 : bits) * (v->vec ? v->vec : 1);
}

static const char *register_kind(pl_parse *p, const char *article, uint16_t vec)
{
    return vec ? pl_arena_printf(p->arena, "%s .v%u register", article, vec)
               : pl_arena_printf(p->arena, "%s single register", article);
}

/* Checks one argument or result against its formal variable (ptxas 13.0: sizes, types and
 * alignments must agree). */
static bool check_passed(pl_parse *p, const pl_operand_draft *o, const pl_var *v, bool result)
{
    if (o->kind == PL_O_SINK) {
        if (!result) pl_report(p->diags, PL_E0207, o->at, "call");
        return result;
    }
    if (o->kind == PL_O_VAR) {
        const pl_var *x = o->var;
        if (x->space != PL_SP_PARAM || x->role != PL_VAR_PLAIN) {
            pl_report(p->diags, PL_E0240, o->at, x->name);
            return false;
        }
        if (!v->unsized && (x->size != v->size || pl_is_array(x) != pl_is_array(v) ||
                            !types_compatible(x->type, v->type))) {
            pl_report(p->diags, PL_E0226, o->at, x->name, pl_word_text[x->type],
                      (unsigned long long)x->size, pl_plural(x->size), v->name,
                      pl_word_text[v->type], (unsigned long long)v->size, pl_plural(v->size));
            return false;
        }
        if (x->align != v->align) {
            pl_report(p->diags, PL_E0241, o->at, x->name, x->align, pl_plural(x->align), v->name,
                      v->align);
            return false;
        }
        return true;
    }
    if (v->unsized) return true;
    if (o->kind == PL_O_REG) {
        if (o->reg->vec != v->vec) {
            pl_report(p->diags, PL_E0211, o->at, "call", register_kind(p, "a", v->vec),
                      pl_arena_printf(p->arena, "%s '%s'", register_kind(p, "the", o->reg->vec),
                                      o->reg->name));
            return false;
        }
        if (!pl_is_array(v) && types_compatible(o->reg->type, v->type)) return true;
        pl_report(p->diags, PL_E0204, o->at, o->reg->name, pl_word_text[o->reg->type], "call",
                  pl_word_text[v->type]);
        return false;
    }
    /* As in ptxas 13.0. */
    if (o->kind == PL_O_IMM && v->vec && v->vec * pl_word_bits[v->type] != 64) {
        pl_report(p->diags, PL_E0203, o->at, "call", register_kind(p, "a", v->vec), "a number");
        return false;
    }
    if (o->kind == PL_O_IMM && (pl_is_array(v) || v->type == W_pred)) {
        pl_report(p->diags, PL_E0203, o->at, "call", pl_is_array(v) ? "a parameter" : "a predicate",
                  "a number");
        return false;
    }
    if (o->kind == PL_O_IMM && pl_word_kind[v->type] != 'b' &&
        o->is_float != (pl_word_kind[v->type] == 'f')) {
        pl_report(p->diags, PL_E0210, o->at, "call",
                  o->is_float ? "an integer" : "a floating-point number",
                  o->is_float ? "a floating-point number" : "an integer");
        return false;
    }
    return true;
}

static bool check_list(pl_parse *p, pl_loc at, const pl_func *f, pl_var *const *formal, size_t n,
                       pl_operand_draft *actual, bool results)
{
    size_t given = actual ? actual->n : 0;
    bool open_ended = !results && n && formal[n - 1]->unsized;
    if (given != n && !open_ended) {
        pl_report(p->diags, PL_E0225, actual ? actual->at : at, f->name, (unsigned)n,
                  results ? "result" : "argument", pl_plural(n), (unsigned)given);
        return false;
    }
    bool good = true;
    for (size_t k = 0; k < given && k < n; k++) {
        if (actual->elem[k].kind == PL_O_IMM && actual->elem[k].is_float) {
            double d;
            __builtin_memcpy(&d, &actual->elem[k].imm, sizeof d);
            actual->elem[k].imm = (int64_t)pl_float_bits(d, formal[k]->type, false, 0);
        }
        good &= check_passed(p, &actual->elem[k], formal[k], results);
        if (open_ended && k == n - 1 && actual->elem[k].kind == PL_O_VAR &&
            actual->elem[k].var->size > p->ast->open_bytes)
            p->ast->open_bytes = actual->elem[k].var->size;
    }
    return good;
}

bool pl_call_check(pl_parse *p, const pl_form *form, pl_operand_draft *op, pl_loc at)
{
    if (!(form->effects & PL_EF_CALL)) return true;
    const pl_operand_draft *callee = operand_of(form, op, PL_K_FUNC),
                           *proto = operand_of(form, op, PL_K_PROTO);
    pl_operand_draft *args = (pl_operand_draft *)(uintptr_t)operand_of(form, op, PL_K_ARGS);
    pl_operand_draft *rets = (pl_operand_draft *)(uintptr_t)operand_of(form, op, PL_K_RETS);
    if (!callee || p->func_has_syntax_error) return true;
    const pl_func *f = callee->kind == PL_O_FUNC ? callee->func : NULL;
    if (!f) {
        if (!proto) {
            pl_report(p->diags, PL_E0224, callee->at, callee->reg->name);
            return false;
        }
        f = proto->table->kind == PL_TAB_PROTO ? proto->table->proto
            : proto->table->funcs.n            ? proto->table->funcs.at[0]
                                               : NULL;
    }
    if (!f) return true;
    if (callee->kind == PL_O_FUNC && proto) {
        pl_report(p->diags, PL_E0242, proto->at, callee->func->name);
        return false;
    }
    /* The call must match every target. */
    if (callee->kind != PL_O_FUNC && proto->table->kind == PL_TAB_CALL)
        for (size_t k = 1; k < proto->table->funcs.n; k++) {
            const pl_func *g = proto->table->funcs.at[k];
            if (!check_list(p, at, g, g->rets.at, g->rets.n, rets, true) ||
                !check_list(p, at, g, g->params.at, g->params.n, args, false))
                return false;
        }
    bool good = check_list(p, at, f, f->rets.at, f->rets.n, rets, true);
    return check_list(p, at, f, f->params.at, f->params.n, args, false) && good;
}
