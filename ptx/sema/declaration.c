/* declaration.c - declarations: registers, variables, parameters and their initial values (PTX ISA
 * 9.0, chapter 5).
 *
 * A declaration is accumulated word by word in pl_decl, then each name after it becomes a register
 * or a variable. Initial values are written into the variable's bytes as they are read, so a table
 * of a million bytes needs no tree; addresses become relocations for the linker. */
#include "ptx/internal.h"

#include <string.h>

enum { MAX_PARAM_ALIGN = 128 }; /* of parameters of functions */

static const char *const space_name[] = {"generic", ".reg",   ".sreg",   ".const", ".global",
                                         ".local",  ".param", ".shared", ".tex"};

void pl_decl_begin(pl_parse *p, pl_space space, pl_loc at)
{
    pl_module_started(p, at);
    p->decl =
        (pl_decl){.space = space, .at = at, .ptr_space = PL_SP_GENERIC, .linkage = p->linkage};
    p->ndims = 0;
    p->dims_open = false;
    if (p->lead_managed) {
        p->decl.managed = true;
        if (space != PL_SP_GLOBAL)
            pl_report(p->diags, PL_E0345, p->lead_at, ".managed", "a .global variable");
    }
    p->lead_managed = false;
    p->lead_at.line = 0;
    if (p->linkage_set && p->func)
        pl_report(p->diags, PL_E0345, p->linkage_at, "a linkage directive",
                  "declarations of the module");
    if (p->linkage_set && p->linkage == PL_LINK_COMMON && space != PL_SP_GLOBAL)
        pl_report(p->diags, PL_E0340, p->linkage_at, ".common", ".global");
    p->linkage = PL_LINK_NONE;
    p->linkage_set = false;
}

/* Types of variables and registers; other types occur in instructions only. */
static bool is_declarable(pl_word w)
{
    switch (w) {
    case W_b8:
    case W_u8:
    case W_s8:
    case W_b16:
    case W_u16:
    case W_s16:
    case W_f16:
    case W_b32:
    case W_u32:
    case W_s32:
    case W_f32:
    case W_f16x2:
    case W_b64:
    case W_u64:
    case W_s64:
    case W_f64:
    case W_b128:
    case W_pred:
    case W_texref:
    case W_samplerref:
    case W_surfref: return true;
    default: return false;
    }
}

static bool is_opaque(pl_word type)
{
    return type == W_texref || type == W_samplerref || type == W_surfref;
}

void pl_decl_word(pl_parse *p, pl_sym *s, pl_loc at)
{
    pl_decl *d = &p->decl;
    if (!strcmp(s->name, ".v2") || !strcmp(s->name, ".v4")) {
        if (d->vec) pl_report(p->diags, PL_E0341, at, s->name);
        if (d->type) pl_report(p->diags, PL_E0384, at, s->name, "it comes before the type");
        d->vec = (uint16_t)(s->name[2] - '0');
        d->vec_at = at;
        return;
    }
    if (d->is_ptr && is_opaque(s->word)) { /* an old spelling: the parameter is the handle of a
                                           texture, a sampler or a surface */
        if (d->ptr_space != PL_SP_GENERIC || d->ptr_aligned)
            pl_report(p->diags, PL_E0384, at, s->name,
                      d->ptr_aligned ? "it comes before .align" : "a space was given before");
        d->ptr_space = PL_SP_TEX;
        return;
    }
    if (pl_type_bits(s->word) == 0) {
        pl_diag *g = pl_report(p->diags, PL_E0342, at, s->name);
        g->help = pl_match_suggest_type(p->arena, s->name + 1, s->len - 1);
        d->bad = true;
        return;
    }
    if (d->type) {
        pl_report(p->diags, PL_E0341, at, s->name);
        return;
    }
    d->type = s->word;
    d->type_at = at;
    if (!is_declarable(s->word)) {
        pl_diag *g = pl_report(p->diags, PL_E0343, at, s->name);
        g->help = pl_arena_printf(p->arena, "declare it as .b%d",
                                  pl_type_bits(s->word) < 8 ? 8 : pl_type_bits(s->word));
        d->bad = true;
    }
    if (s->word == W_f16 || s->word == W_f16x2) pl_module_needs(p, at, s->name, 42, "sm_53");
    if (s->word == W_b128) pl_module_needs(p, at, ".b128", 83, "sm_70");
}

void pl_decl_align(pl_parse *p, const pl_number *n, pl_loc at)
{
    pl_decl *d = &p->decl;
    if (!n->bits || (n->bits & (n->bits - 1))) {
        pl_report(p->diags, PL_E0344, at, (int)n->len, n->text);
        return;
    }
    if (n->bits > UINT32_C(1) << 30) {
        pl_report(p->diags, PL_E0344, at, (int)n->len, n->text);
        return;
    }
    bool kernel_param =
        d->space == PL_SP_PARAM && p->func && p->func->entry && p->func->prototype_only;
    if (d->is_ptr ? d->ptr_aligned : d->vec && !d->type)
        pl_report(p->diags, PL_E0384, at, ".align",
                  d->is_ptr ? "it was given before" : "it comes before the vector's length");
    else if (d->type && !kernel_param)
        pl_report(p->diags, PL_E0384, at, ".align", "it comes before the type");
    if (d->is_ptr) {
        d->ptr_align = n->bits;
        d->ptr_aligned = true;
    } else {
        d->align = n->bits;
        d->aligned_late = d->type != W_none;
    }
    d->align_at = at;
}

void pl_decl_ptr(pl_parse *p, pl_loc at)
{
    if (!p->decl.type || p->decl.is_ptr || p->decl.aligned_late)
        pl_report(p->diags, PL_E0384, at, ".ptr",
                  p->decl.is_ptr ? "it was given before" : "it follows the type");
    p->decl.is_ptr = true;
    p->decl.ptr_at = at;
    p->decl.ptr_align = 4;
    pl_directive_needs(p, at, ".ptr");
    if (p->decl.space != PL_SP_PARAM || !p->func || !p->func->entry)
        pl_report(p->diags, PL_E0345, at, ".ptr", "a kernel parameter");
}

void pl_decl_space(pl_parse *p, pl_space space, pl_loc at)
{
    if (!p->decl.is_ptr || p->decl.ptr_space != PL_SP_GENERIC || space == PL_SP_PARAM ||
        space == PL_SP_TEX)
        pl_report(p->diags, PL_E0346, at, space_name[space]);
    else if (p->decl.ptr_aligned)
        pl_report(p->diags, PL_E0384, at, space_name[space], "it comes before .align");
    p->decl.ptr_space = space;
}

/* `.hidden .param`: the driver provides the value to the kernel. Here it is an ordinary parameter.
 */
void pl_decl_hidden(pl_parse *p, pl_loc at)
{
    pl_directive_needs(p, at, ".hidden");
    if (!p->func || !p->func->entry)
        pl_report(p->diags, PL_E0345, at, ".hidden", "a kernel parameter");
}

/* .const[3]: the constant banks of PTX 1.x */
void pl_decl_bank(pl_parse *p, pl_loc at)
{
    if (p->decl.space != PL_SP_CONST)
        pl_report(p->diags, PL_E0345, at, "[bank]", ".const");
    else if (p->ast->ptx >= 22)
        pl_report(p->diags, PL_E0375, at, "a constant bank", "2.2", "plain .const");
}

void pl_decl_attribute(pl_parse *p, pl_sym *s, uint32_t list, pl_loc at)
{
    bool managed = !strcmp(s->name, ".managed");
    uint32_t n = list ? p->nodes.at[list].n : 0;
    if (p->leading) p->lead_at = at;
    if (!p->leading && !p->func && p->decl.type)
        pl_report(p->diags, PL_E0384, at, ".attribute", "it comes before the type");
    if (managed ? n : n != 2 && !strcmp(s->name, ".unified"))
        pl_report(p->diags, PL_E0336, at, s->name, "", managed ? 0 : 2);
    if (managed) {
        pl_module_needs(p, at, ".attribute(.managed)", 40, "sm_30");
        if (p->leading) {
            p->lead_managed = true;
            return;
        }
        if (p->decl.space != PL_SP_GLOBAL)
            pl_report(p->diags, PL_E0345, at, ".managed", "a .global variable");
        p->decl.managed = true;
    } else if (!strcmp(s->name, ".unified")) {
        pl_module_needs(p, at, ".attribute(.unified)", 80, "sm_90");
        if (!p->func && !p->leading && p->decl.space != PL_SP_GLOBAL)
            pl_report(p->diags, PL_E0345, at, ".unified", "a .global variable");
    } else {
        pl_report(p->diags, PL_E0347, at, s->name)->help =
            "attributes are .managed and .unified(a, b)";
    }
}

void pl_decl_dim(pl_parse *p, uint32_t node, pl_loc at)
{
    int64_t n = 1;
    if (p->ndims == sizeof p->dims / sizeof *p->dims) {
        pl_report(p->diags, PL_E0348, at, (int)(sizeof p->dims / sizeof *p->dims), "s");
        return;
    }
    if (!node) {
        if (p->ndims) pl_report(p->diags, PL_E0349, at);
        p->dims_open = true;
        n = 0;
    } else if (pl_node_int(p, node, "an array's length", &n) &&
               (n < 0 || (uint64_t)n > UINT64_C(1) << 40)) {
        pl_report(p->diags, PL_E0350, at);
        n = 1;
    }
    p->dims_at[p->ndims] = at;
    p->dims[p->ndims++] = (uint64_t)n;
}

/* ---- registers ---- */

static bool register_type(pl_parse *p, pl_loc at)
{
    pl_decl *d = &p->decl;
    if (d->bad) return false;
    d->bad = true; /* reported once for all names of this declaration */
    if (!d->type) {
        pl_report(p->diags, PL_E0351, at);
        return false;
    }
    if (d->type == W_texref || d->type == W_samplerref || d->type == W_surfref) {
        pl_report(p->diags, PL_E0352, d->type_at, pl_word_text[d->type], ".reg");
        return false;
    }
    if (d->vec && (d->type == W_pred || d->vec * pl_type_bits(d->type) > 128)) {
        pl_report(p->diags, PL_E0353, d->vec_at, d->vec, pl_word_text[d->type]);
        return false;
    }
    d->bad = false;
    return true;
}

/* A failed declaration still declares its names, so that their uses are not reported as well. */
static void declare_bad(pl_parse *p, pl_sym *s, pl_loc at)
{
    if (s) pl_name_bind(p, s, (pl_binding){.kind = PL_B_BAD, .at = at});
}

/* Since PTX 3.0 functions have frames, and per-thread objects are declared inside them. */
static bool outside_function(pl_parse *p, const char *noun, const pl_sym *s, pl_loc at)
{
    if (p->func || p->ast->ptx < 30) return false;
    pl_report(p->diags, PL_E0357, at, noun, s->name);
    return true;
}

void pl_decl_reg(pl_parse *p, pl_sym *s, pl_loc at)
{
    if (!register_type(p, at) || outside_function(p, "register", s, at)) {
        declare_bad(p, s, at);
        return;
    }
    pl_reg *r = pl_reg_new(p, s->name, p->decl.type, p->decl.vec);
    pl_name_bind(p, s, (pl_binding){.kind = PL_B_REG, .reg = r, .at = at});
}

void pl_decl_range(pl_parse *p, pl_sym *s, const pl_number *count, pl_loc at, pl_loc count_at)
{
    if (count->bits > UINT32_MAX)
        pl_report(p->diags, PL_E0316, count_at, (int)count->len, count->text,
                  "the number of registers");
    if (!register_type(p, at) || outside_function(p, "registers", s, at)) {
        p->func_has_syntax_error = true;
        return;
    }
    pl_range *r = pl_arena_new(p->names, pl_range);
    *r = (pl_range){.type = p->decl.type,
                    .vec = p->decl.vec,
                    .count = (uint32_t)(count->bits > UINT32_MAX ? UINT32_MAX : count->bits)};
    pl_name_bind(p, s, (pl_binding){.kind = PL_B_RANGE, .range = r, .at = at});
}

/* ---- variables ---- */

static uint32_t element_bytes(const pl_decl *d)
{
    int bits = pl_type_bits(d->type);
    return (uint32_t)(bits < 8 ? 1 : bits / 8) * (d->vec ? d->vec : 1u);
}

/* Checks the type of a declaration in its space. False: it is wrong, which is reported. */
static bool check_decl_type(pl_parse *p, const char *name, pl_loc at)
{
    const pl_decl *d = &p->decl;
    const bool local_object = d->space == PL_SP_GLOBAL && p->func;
    if (!d->type) {
        pl_report(p->diags, PL_E0354, at, name);
        return false;
    }
    if (d->type == W_pred && d->space != PL_SP_REG) {
        pl_report(p->diags, PL_E0355, d->type_at, name);
        return false;
    }
    if (is_opaque(d->type) &&
        (local_object || (d->space != PL_SP_GLOBAL && d->space != PL_SP_PARAM))) {
        pl_report(p->diags, PL_E0352, d->type_at, pl_word_text[d->type],
                  local_object ? "a function" : space_name[d->space]);
        return false;
    }
    if (d->type == W_f16x2 && d->space == PL_SP_PARAM) {
        pl_report(p->diags, PL_E0352, d->type_at, "f16x2", ".param")->help = "declare it as .b32";
        return false;
    }
    if (d->type == W_samplerref && !p->ast->texmode_independent) {
        pl_report(p->diags, PL_E0377, d->type_at);
        return false;
    }
    return true;
}

/* Checks the vector width and the number of dimensions. */
static bool check_decl_shape(pl_parse *p, bool formal)
{
    const pl_decl *d = &p->decl;
    if (d->vec &&
        (is_opaque(d->type) || d->type == W_pred || d->vec * pl_type_bits(d->type) > 128 ||
         (d->space == PL_SP_PARAM && !p->ndims))) {
        pl_report(p->diags, PL_E0353, d->vec_at, d->vec, pl_word_text[d->type])->help =
            formal ? "declare the parameter as an array of bytes: .param .align 16 .b8 p[16]"
                   : NULL;
        return false;
    }
    if (formal && p->ndims > 1) {
        pl_report(p->diags, PL_E0348, p->dims_at[1], 1, "")->help =
            "fold the dimensions of the parameter into one";
        return false;
    }
    return true;
}

/* The size of the declared variable in bytes. */
static bool size_of_decl(pl_parse *p, uint64_t *size)
{
    const uint64_t max = UINT64_C(1) << 40;
    *size = element_bytes(&p->decl);
    for (unsigned k = 0; k < p->ndims; k++) {
        if (p->dims[k] && *size > max / p->dims[k]) {
            pl_report(p->diags, PL_E0350, p->dims_at[k]);
            return false;
        }
        *size *= p->dims[k];
    }
    return true;
}

/* Makes a variable or parameter as declared. NULL: the declaration is wrong, which is reported. */
static pl_var *make_var(pl_parse *p, pl_sym *s, bool formal, pl_loc at)
{
    pl_decl *d = &p->decl;
    const char *name = s ? s->name : "_";
    uint64_t size;
    if (d->bad) return NULL;
    if (!check_decl_type(p, name, at) || !check_decl_shape(p, formal) || !size_of_decl(p, &size)) {
        d->bad = true;
        return NULL;
    }
    pl_var *v = pl_arena_new(p->arena, pl_var);
    v->name = name;
    v->space = d->space;
    v->type = d->type;
    v->vec = d->vec;
    v->align = d->align > element_bytes(d) ? (uint32_t)d->align : element_bytes(d);
    v->size = size;
    v->unsized = p->dims_open;
    v->linkage = d->linkage;
    v->managed = d->managed;
    v->is_ptr = d->is_ptr;
    v->ptr_space = d->ptr_space;
    v->ptr_align = (uint32_t)d->ptr_align;
    v->owner = p->func;
    v->at = at;
    return v;
}

static bool same_var(const pl_var *a, const pl_var *b)
{
    return a->space == b->space && a->type == b->type && a->vec == b->vec &&
           (a->unsized || b->unsized || a->size == b->size) && a->align == b->align;
}

/* A module may both declare an extern variable and define it, in either order. Returns the variable
 * that is kept. */
static pl_var *redeclare(pl_parse *p, pl_sym *s, pl_var *v, pl_loc at)
{
    pl_binding *b = p->func ? NULL : s->binding;
    if (!b || b->kind != PL_B_VAR ||
        (b->var->linkage != PL_LINK_EXTERN && v->linkage != PL_LINK_EXTERN)) {
        if (!pl_name_bind(p, s, (pl_binding){.kind = PL_B_VAR, .var = v, .at = at})) return NULL;
        return v;
    }
    if (!same_var(b->var, v) || (b->var->linkage == PL_LINK_EXTERN && v->linkage == PL_LINK_NONE)) {
        pl_report(p->diags, PL_E0356, at, s->name)->help =
            pl_arena_printf(p->arena, "line %u declares it differently", b->var->at.line);
        return NULL;
    }
    if (v->linkage != PL_LINK_EXTERN) *b->var = *v;
    return b->var;
}

void pl_decl_var(pl_parse *p, pl_sym *s, pl_loc at)
{
    pl_decl *d = &p->decl;
    p->init.var = NULL;
    p->init.bad = false;
    if (p->func && p->func->entry && d->space == PL_SP_PARAM && p->ast->ptx < 14) {
        pl_decl_param(p, s, at); /* kernels have had parameter lists since PTX 1.4 */
        return;
    }
    if (d->space == PL_SP_LOCAL && !d->bad) d->bad = outside_function(p, ".local variable", s, at);
    if (!p->func && d->space == PL_SP_PARAM && !d->bad) {
        pl_report(p->diags, PL_E0358, at, s->name);
        d->bad = true;
    }
    pl_var *v = make_var(p, s, false, at);
    if (!v) {
        declare_bad(p, s, at);
        return;
    }
    if (d->space == PL_SP_PARAM && v->align > MAX_PARAM_ALIGN)
        pl_report(p->diags, PL_E0345, d->align_at, "an alignment of more than 128 bytes",
                  "kernel parameters and variables");
    pl_var *kept = redeclare(p, s, v, at);
    if (!kept) return;
    p->init.var = kept;
    if (kept == v) {
        v->block = p->scope->number;
        v->depth = p->depth;
        if (p->func)
            *pl_push(p->arena, &p->func->vars) = v;
        else if (v->space != PL_SP_LOCAL)
            *pl_push(p->arena, &p->ast->vars) = v;
    }
    /* A length of [] or [0] requires an initialiser; pl_init_begin clears the mark. */
    p->init.bad = (kept->unsized || !kept->size) && kept->linkage != PL_LINK_EXTERN;
    if (d->space == PL_SP_TEX) {
        if (p->ast->ptx >= 15)
            pl_report(p->diags, PL_E0375, d->at, ".tex", "1.5", ".global .texref");
        kept->space = PL_SP_GLOBAL;
        kept->type = W_texref;
        kept->size = kept->align = 8;
    }
}

/* Called after a declarator without an initialiser. */
void pl_decl_var_done(pl_parse *p, pl_loc at)
{
    const pl_var *v = p->init.var;
    if (v && p->init.bad && !v->init) pl_report(p->diags, PL_E0359, at, v->name);
    p->init.bad = false;
}

/* `.shared .b32 x<4>`: x0 x1 x2 x3 */
void pl_decl_vars(pl_parse *p, pl_sym *stem, const pl_number *count, pl_loc at)
{
    enum { MAX_VALUE = 1 << 16 };
    if (count->bits > MAX_VALUE) {
        pl_report(p->diags, PL_E0350, at);
        return;
    }
    p->ndims = 0;
    p->dims_open = false;
    for (uint64_t k = 0; k < count->bits; k++) {
        char *name = pl_arena_printf(p->arena, "%s%u", stem->name, (unsigned)k);
        pl_decl_var(p, pl_sym_intern(p, name, strlen(name)), at);
        pl_decl_var_done(p, at);
    }
}

void pl_decl_param(pl_parse *p, pl_sym *s, pl_loc at)
{
    pl_decl *d = &p->decl;
    pl_func *f = p->proto ? p->proto : p->func;
    if (f->entry && d->space == PL_SP_REG) {
        pl_report(p->diags, PL_E0360, d->at);
        d->bad = true;
    }
    if (d->space == PL_SP_REG && p->ndims && !d->bad) {
        pl_report(p->diags, PL_E0361, at, s ? s->name : "_");
        d->bad = true;
    }
    pl_var *v = make_var(p, s, true, at);
    if (!v) {
        declare_bad(p, s, at);
        return;
    }
    pl_binding b = {.kind = PL_B_VAR, .var = v, .at = at};
    if (!s && !f->entry && !p->proto)
        pl_report(p->diags, PL_E0383, at, p->in_rets ? "a result" : "a parameter");
    if (!f->entry && v->align > MAX_PARAM_ALIGN)
        pl_report(p->diags, PL_E0345, d->align_at, "an alignment of more than 128 bytes",
                  "kernel parameters and variables");
    if (!f->entry && is_opaque(d->type))
        pl_report(p->diags, PL_E0352, d->type_at, pl_word_text[d->type], "a function's parameter");
    if (p->in_rets && d->space == PL_SP_PARAM && p->ndims && !v->size)
        pl_report(p->diags, PL_E0359, at, v->name);
    const pl_var *before =
        p->in_rets || f->entry || !f->params.n ? NULL : f->params.at[f->params.n - 1];
    /* Only the last one may have unspecified length. */
    if (before && before->unsized) pl_report(p->diags, PL_E0359, before->at, before->name);
    v->owner = f;
    v->role = p->in_rets ? PL_VAR_RESULT : PL_VAR_INPUT;
    if (d->space == PL_SP_REG) {
        pl_func *own = p->func;
        p->func = f;
        v->from_reg_type = d->type;
        v->reg = pl_reg_new(p, v->name, d->type, d->vec);
        p->func = own;
        b = (pl_binding){.kind = PL_B_REG, .reg = v->reg, .at = at};
    }
    if (p->in_rets)
        *pl_push(p->arena, &f->rets) = v;
    else
        *pl_push(p->arena, &f->params) = v;
    if (s && !p->proto) pl_name_bind(p, s, b);
}

/* ---- initial values ---- */

void pl_init_begin(pl_parse *p, pl_loc at)
{
    pl_var *v = p->init.var;
    p->init = (pl_init){.var = v};
    if (!v) return;
    int bits = pl_type_bits(v->type);
    p->init.elem = (uint32_t)(bits < 8 ? 1 : bits / 8);
    if (v->linkage == PL_LINK_EXTERN)
        pl_report(p->diags, PL_E0362, at, v->name, ".extern");
    else if (v->space != PL_SP_GLOBAL && v->space != PL_SP_CONST)
        pl_report(p->diags, PL_E0363, at, v->name, space_name[v->space]);
    else if (v->type == W_f16x2 || v->type == W_f16)
        pl_report(p->diags, PL_E0364, at, v->name, pl_word_text[v->type]);
    else
        goto good;
    p->init.bad = true;
    return;
good:
    if (p->ndims && !p->dims[0] && !v->size) v->unsized = true; /* [0] is equivalent to [] */
    /* bytes of one item at each depth of braces: the array, its rows, ..., a vector, a scalar */
    p->init.ndim = 0;
    uint64_t item = v->unsized ? 0 : v->size;
    for (unsigned k = 0; k < p->ndims && k < 7; k++) {
        p->init.dim[p->init.ndim++] = item;
        item = p->dims[k] ? item / p->dims[k] : p->init.elem * (uint64_t)(v->vec ? v->vec : 1);
        if (k == 0 && v->unsized) {
            item = p->init.elem * (uint64_t)(v->vec ? v->vec : 1);
            for (unsigned j = 1; j < p->ndims; j++) item *= p->dims[j];
        }
    }
    if (v->vec) p->init.dim[p->init.ndim++] = item;
    p->init.cap = v->size;
    if (v->size) {
        p->init.bytes = pl_arena_alloc(p->arena, v->size);
        p->init.bad = !p->init.bytes;
    }
}

void pl_init_open(pl_parse *p, pl_loc at)
{
    pl_init *i = &p->init;
    if (i->depth >= i->ndim && i->var && !i->bad && !is_opaque(i->var->type)) {
        pl_report(p->diags, PL_E0365, at, i->var->name);
        i->bad = true;
    }
    if (i->depth < sizeof i->start / sizeof *i->start) i->start[i->depth] = i->at;
    i->depth++;
}

/* Reserves n more bytes; false if the initialiser is longer than the variable. */
static bool init_reserve(pl_parse *p, uint64_t n, pl_loc at)
{
    pl_init *i = &p->init;
    uint64_t end = i->at + n;
    uint64_t limit = i->depth > 0 && i->dim[i->depth - 1]
                         ? i->start[i->depth - 1] + i->dim[i->depth - 1]
                         : UINT64_MAX;
    if (end > limit || (!i->var->unsized && end > i->var->size)) {
        if (!i->too_many) pl_report(p->diags, PL_E0366, at, i->var->name);
        i->too_many = true;
        return false;
    }
    if (end > i->cap) {
        uint64_t cap = i->cap ? i->cap * 2 : 64;
        while (cap < end) cap *= 2;
        uint8_t *bytes = pl_arena_alloc(p->arena, cap);
        if (!bytes) return false;
        if (i->bytes) memcpy(bytes, i->bytes, i->at);
        i->bytes = bytes;
        i->cap = cap;
    }
    return true;
}

void pl_init_close(pl_parse *p, pl_loc at)
{
    pl_init *i = &p->init;
    i->depth--;
    if (!i->var || i->bad || i->depth >= i->ndim || !i->dim[i->depth]) return;
    if (i->var->vec && i->depth + 1 == i->ndim && !i->too_many &&
        i->at != i->start[i->depth] + i->dim[i->depth]) {
        pl_report(p->diags, PL_E0389, at, i->var->vec);
        i->bad = true;
        return;
    }
    uint64_t end = i->start[i->depth] + i->dim[i->depth];
    if (init_reserve(p, end - i->at, at)) {
        i->at = end;
        if (i->var->unsized && i->at > i->var->size) i->var->size = i->at;
    }
}

static void init_address(pl_parse *p, const pl_node *n)
{
    pl_init *i = &p->init;
    pl_binding *b = pl_name_lookup(p, n->sym);
    pl_ast_reloc r = {
        .offset = i->at, .bytes = (uint8_t)i->elem, .generic = n->generic, .addend = n->value};
    char kind = pl_type_kind(i->var->type);
    if (!b) {
        pl_name_undefined(p, n->sym, n->at);
        return;
    }
    if (b->kind == PL_B_BAD) return;
    if (n->element) {
        pl_report(p->diags, PL_E0232, n->at, n->sym->name)->help = "write NAME+BYTES";
        return;
    }
    if (b->kind == PL_B_VAR && (b->var->space == PL_SP_GLOBAL || b->var->space == PL_SP_CONST) &&
        b->var != i->var) {
        r.var = b->var;
    } else if (b->kind == PL_B_FUNC && !n->generic) {
        if (n->has_offset) {
            pl_report(p->diags, PL_E0232, n->at, n->sym->name);
            return;
        }
        r.func = b->func;
    } else {
        pl_report(p->diags, PL_E0367, n->at, pl_bind_noun(b), n->sym->name);
        return;
    }
    if (n->mask) {
        while (n->mask >> r.shift && !((n->mask >> r.shift) & 0xff))
            r.shift = (uint8_t)(r.shift + 8);
        if (n->mask >> r.shift != 0xff) {
            pl_report(p->diags, PL_E0368, n->at);
            return;
        }
    }
    if (kind != 'u' || (i->elem != 8 && i->elem != 4 && !(n->mask && i->elem == 1))) {
        pl_report(p->diags, PL_E0369, n->at, n->sym->name, pl_word_text[i->var->type]);
        return;
    }
    *pl_push(p->arena, &i->var->reloc) = r;
}

void pl_init_value(pl_parse *p, uint32_t node)
{
    pl_init *i = &p->init;
    const pl_node *n = &p->nodes.at[node];
    if (!i->var || i->bad || n->kind == PL_N_WRONG) return;
    if (is_opaque(i->var->type)) {
        pl_report(p->diags, PL_E0364, n->at, i->var->name, pl_word_text[i->var->type])->help =
            "give its properties in braces: { width = 64, channel_data_type = 1 }";
        i->bad = true;
        return;
    }
    if (i->depth < i->ndim) {
        pl_report(p->diags, PL_E0370, n->at, i->var->name);
        i->bad = true;
        return;
    }
    if (!init_reserve(p, i->elem, n->at)) return;
    bool wants_float = pl_type_kind(i->var->type) == 'f';
    bool untyped = pl_type_kind(i->var->type) == 'b' && i->elem >= 2 && i->elem <= 8;
    uint64_t bits = (uint64_t)n->value;
    bool paren = n->kind == PL_N_LIST;
    while (n->kind == PL_N_LIST && n->n == 1) n = &p->nodes.at[n->first];
    if (n->kind == PL_N_NAME && (paren || n->minus)) {
        pl_report(p->diags, PL_E0106, n->at);
    } else if (n->kind == PL_N_NAME) {
        init_address(p, n);
        bits = 0;
    } else if (n->kind == PL_N_FLOAT && (wants_float || untyped)) {
        double d;
        memcpy(&d, &n->value, sizeof d);
        pl_word type = !untyped       ? i->var->type
                       : i->elem == 2 ? W_f16
                       : i->elem == 4 ? W_f32
                                      : W_f64;
        bits = pl_float_bits(d, type, n->single, n->single_bits);
    } else if (n->kind != PL_N_INT || wants_float) {
        pl_diag *d = pl_report(p->diags, PL_E0371, n->at, i->var->name, pl_word_text[i->var->type],
                               n->kind == PL_N_INT     ? "an integer"
                               : n->kind == PL_N_FLOAT ? "a floating-point number"
                                                       : "something else");
        if (n->kind == PL_N_INT) d->help = "write the number with a decimal point";
        return;
    }
    for (uint32_t k = 0; k < i->elem && k < 8; k++)
        i->bytes[i->at + k] = (uint8_t)(bits >> (8 * k));
    i->at += i->elem;
    if (i->var->unsized && i->at > i->var->size) i->var->size = i->at;
}

void pl_init_string(pl_parse *p, const char *text, uint32_t n, pl_loc at)
{
    (void)text;
    (void)n;
    if (p->init.var && !p->init.bad)
        pl_report(p->diags, PL_E0372, at)->help = "write the bytes: { 72, 105, 0 }";
    p->init.bad = true;
}

/* `.global .samplerref s = { addr_mode_0 = wrap }` and similar (PTX ISA 9.0, section 5.3.2). The
 * valid properties of each kind are those that ptxas 13.0 accepts. */
void pl_init_property(pl_parse *p, pl_sym *name, uint32_t node, pl_loc at)
{
    enum { TEXTURE = 1, SAMPLER = 2, SURFACE = 4 };
    static const struct {
        const char *name;
        unsigned of;
    } known[] = {{"width", TEXTURE | SURFACE},
                 {"height", TEXTURE | SURFACE},
                 {"depth", TEXTURE | SURFACE},
                 {"array_size", TEXTURE | SURFACE},
                 {"channel_data_type", TEXTURE | SURFACE},
                 {"channel_order", TEXTURE | SURFACE},
                 {"memory_layout", TEXTURE | SURFACE},
                 {"normalized_coords", TEXTURE},
                 {"num_mipmap_levels", TEXTURE},
                 {"num_samples", TEXTURE},
                 {"force_unnormalized_coords", SAMPLER},
                 {"filter_mode", TEXTURE | SAMPLER},
                 {"addr_mode_0", TEXTURE | SAMPLER},
                 {"addr_mode_1", TEXTURE | SAMPLER},
                 {"addr_mode_2", TEXTURE | SAMPLER}};
    static const char *const values[] = {"nearest",   "linear",        "wrap",           "mirror",
                                         "clamp_ogl", "clamp_to_edge", "clamp_to_border"};
    const pl_node *n = &p->nodes.at[node];
    if (!p->init.var || p->init.bad) return;
    unsigned kind = p->init.var->type == W_texref       ? TEXTURE
                    : p->init.var->type == W_samplerref ? SAMPLER
                    : p->init.var->type == W_surfref    ? SURFACE
                                                        : 0;
    bool has = false, value = n->kind != PL_N_NAME;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        has |= (known[k].of & kind) && !strcmp(known[k].name, name->name);
    for (size_t k = 0; k < sizeof values / sizeof *values && !value; k++)
        value = !strcmp(values[k], n->sym->name);
    if (!has)
        pl_report(p->diags, PL_E0373, at, name->name, p->init.var->name);
    else if (!value)
        pl_report(p->diags, PL_E0302, n->at, n->sym->name)->help =
            "filters are nearest and linear; addresses wrap, mirror, clamp_ogl, clamp_to_edge or "
            "clamp_to_border";
}

void pl_init_end(pl_parse *p, pl_loc at)
{
    pl_init *i = &p->init;
    pl_var *v = i->var;
    if (!v || i->bad) return;
    if (v->unsized && i->at) {
        v->unsized = false;
        v->size = i->at;
    }
    if (!v->size) pl_report(p->diags, PL_E0359, at, v->name);
    v->init = i->bytes;
}
