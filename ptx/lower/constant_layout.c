/* constant_layout.c - assigns offsets in the constant bank, and creates the variables of the
 * machine program. See constant_layout.h. */
#include "ptx/lower/constant_layout.h"

#include "base/resource.h"
#include <stdlib.h>

typedef struct constants {
    pl_var **at;
    size_t n, cap;
} constants;

static void add_constants(pl_arena *arena, constants *list, pl_var *const *var, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (var[k]->space == PL_SP_CONST && var[k]->linkage != PL_LINK_EXTERN)
            *pl_push(arena, list) = var[k];
}

/* ptxas 13.0 places names visible to other modules first; the remainder follows in text order. */
static int by_bank_order(const void *a, const void *b)
{
    const pl_var *x = *(pl_var *const *)a, *y = *(pl_var *const *)b;
    bool own_x = x->linkage == PL_LINK_NONE, own_y = y->linkage == PL_LINK_NONE;
    if (own_x != own_y) return own_x ? 1 : -1;
    if (x->at.file != y->at.file) return x->at.file < y->at.file ? -1 : 1;
    if (x->at.line != y->at.line) return x->at.line < y->at.line ? -1 : 1;
    return x->at.column < y->at.column ? -1 : x->at.column > y->at.column;
}

/* Returns all constants in the order of the bank. */
static constants all_constants(const pl_ast *ast, pl_arena *arena)
{
    constants list = {0};
    add_constants(arena, &list, ast->vars.at, ast->vars.n);
    for (size_t k = 0; k < ast->funcs.n; k++)
        add_constants(arena, &list, ast->funcs.at[k]->vars.at, ast->funcs.at[k]->vars.n);
    if (!pl_arena_ok(arena)) list.n = 0;
    if (list.n) qsort(list.at, list.n, sizeof *list.at, by_bank_order);
    return list;
}

void pl_layout_constants(const pl_ast *ast, pl_arena *arena)
{
    const constants list = all_constants(ast, arena);
    uint64_t end = 0;
    for (size_t k = 0; k < list.n; k++) {
        pl_var *v = list.at[k];
        v->offset = pl_align_up(end, v->align);
        bool fitted = end <= PL_BANK_BYTES;
        end = v->offset + v->size;
        if (fitted && end > PL_BANK_BYTES)
            pl_report(ast->diags, PL_E0390, v->at, v->name, (unsigned long long)end, PL_BANK_BYTES);
    }
}

void pl_separate_constants(const pl_ast *ast, pl_arena *arena)
{
    enum { MAX_GAP = 256 };
    const constants list = all_constants(ast, arena);
    uint64_t used = 0, end = 0;
    for (size_t k = 0; k < list.n; k++) used += list.at[k]->size + list.at[k]->align;
    if (!list.n || used >= PL_BANK_BYTES) return;
    const uint64_t share = (PL_BANK_BYTES - used) / list.n, gap = share < MAX_GAP ? share : MAX_GAP;
    for (size_t k = 0; k < list.n; k++) {
        list.at[k]->offset = pl_align_up(end, list.at[k]->align);
        end = list.at[k]->offset + list.at[k]->size + gap;
    }
}

static pl_reference reference_of(pl_word type)
{
    switch (type) {
    case W_texref: return PL_REFERENCE_TEXTURE;
    case W_samplerref: return PL_REFERENCE_SAMPLER;
    case W_surfref: return PL_REFERENCE_SURFACE;
    default: return PL_REFERENCE_NONE;
    }
}

void pl_lower_variable(const pl_var *v, pl_program *p)
{
    pl_prog_var *o = pl_push(p->arena, &p->vars);
    *o = (pl_prog_var){.name = v->name,
                       .space = (uint8_t)v->space,
                       .linkage = (uint8_t)v->linkage,
                       .managed = v->managed,
                       .unsized = v->unsized,
                       .reference = (uint8_t)reference_of(v->type),
                       .align = v->align,
                       .size = v->size,
                       .init = v->init};
    if (v->space == PL_SP_SHARED || v->space == PL_SP_CONST) o->address = v->offset;
    for (size_t k = 0; k < v->reloc.n; k++) {
        const pl_ast_reloc *r = &v->reloc.at[k];
        pl_prog_reloc x = {
            .offset = r->offset, .bytes = r->bytes, .shift = r->shift, .addend = r->addend};
        if (r->func) {
            x.kind = PL_RELOC_FUNC;
            x.symbol = r->func->index;
        } else {
            x.kind = r->generic && r->var->space == PL_SP_CONST ? PL_RELOC_GENERIC : PL_RELOC_VAR;
            x.symbol = r->var->index;
        }
        *pl_push(p->arena, &o->reloc) = x;
    }
}
