/* stmt.c - one instruction: which form it is, and whether its operands are right (PTX ISA 9.0, chapters 6 and 9).
 *
 * The words were matched by isa/match.c and leave one form or a few. Here each operand is held against its specification: first
 * silently, to choose the form, and when no form takes the operands, once more aloud for the form that came furthest. */
#include "ptx/internal.h"

#include <string.h>

enum { MAX_ITEMS = 24 };

/* An operand as written, with [a, b] and p|q taken apart. */
typedef struct item {
    uint32_t node;
    bool bracket;   /* the first thing inside [ ] */
    bool inside;    /* a later thing inside [ ] */
    bool first_of_pair, second_of_pair;
} item;

typedef struct attempt {
    pl_parse *p;
    bool aloud;
    const pl_form *form;
    const uint16_t *mods;
    const pl_sym *opcode;
    pl_loc at;
    const item *items;
    unsigned nitems;
    pl_operand *out;
    unsigned reached; /* items taken before the first mistake */
} attempt;

static const pl_node *node(const pl_parse *p, uint32_t n)
{
    return &p->nodes.at[n];
}

void pl_stmt_words(pl_parse *p)
{
    p->nwords = 0;
    p->word_overflow = false;
}

void pl_stmt_word(pl_parse *p, pl_sym *s, pl_loc at)
{
    if (p->nwords == PL_MAX_WORDS) {
        if (!p->word_overflow)
            pl_report(p->diags, PL_E0202, at, (int)PL_MAX_WORDS);
        p->word_overflow = true;
        return;
    }
    p->word[p->nwords] = (pl_match_word){.word = s->word, .text = s->name + 1, .len = s->len - 1};
    p->word_at[p->nwords++] = at;
}

void pl_stmt_loc(pl_parse *p, const pl_number *file, const pl_number *line, const pl_number *column, pl_loc at)
{
    pl_module_started(p, at);
    if (!p->func)
        return;
    pl_stmt *s = pl_push(p->arena, &p->func->body);
    *s = (pl_stmt){.kind = PL_S_LOC, .at = at, .src_file = (uint32_t)file->bits, .src_line = (uint32_t)line->bits,
                   .src_column = (uint32_t)column->bits};
}

/* ---- types -------------------------------------------------------------------------------------------------------------- */

/* May a register of type r stand where an instruction of type t reads or writes? (PTX ISA 9.0, section 9.2; ptxas 13.0 was asked
 * about every pair.) Untyped registers fit any type of their size, signed and unsigned fit each other, floating registers
 * fit their own type or an untyped one. With `relax` (ld, st, cvt) the register may also be wider. */
static bool type_fits(const pl_parse *p, pl_word r, pl_word t, bool relax)
{
    int rb = p->type_bits[r], tb = p->type_bits[t];
    char rk = p->type_kind[r], tk = p->type_kind[t];
    if (rk == 'p' || tk == 'p')
        return rk == tk;
    if (tb < 8)
        tb = 8;
    if (rb != tb && !(relax && rb > tb && t != W_bf16))
        return false;
    if (r == t)
        return true;
    switch (rk) {
    case 'b': return true;
    case 'u':
    case 's': return tk == 'u' || tk == 's' ? t != W_u16x2 && t != W_s16x2 : tk == 'b' && t != W_tf32;
    default: break;
    }
    if (r == W_f16x2)
        return tk != 'f';
    return tk == 'b';
}

/* ---- reports ------------------------------------------------------------------------------------------------------------ */

/* "add.rn.f32", as written */
static const char *full_name(pl_parse *p, const pl_sym *opcode)
{
    const char *name = opcode->name;
    for (unsigned k = 0; k < p->nwords; k++)
        name = pl_arena_printf(p->arena, "%s.%.*s", name, (int)p->word[k].len, p->word[k].text);
    return name;
}

static const char *syntax_help(pl_parse *p, const pl_form *f)
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

static bool kind_error(attempt *a, const pl_node *n, const char *wanted)
{
    if (a->aloud)
        pl_report(a->p->diags, PL_E0203, n->at, full_name(a->p, a->opcode), wanted, written(a->p, n));
    return false;
}

/* ---- single operands ---------------------------------------------------------------------------------------------------- */

static bool selector(attempt *a, const pl_node *n, pl_operand *o, bool is_sreg)
{
    static const char *const names[] = {"", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1", ".x", ".y", ".z", ".w"};
    const char *s = n->sel->name;
    for (unsigned k = 1; k < sizeof names / sizeof *names; k++)
        if (!strcmp(names[k], s)) {
            o->sel = (uint8_t)k;
            return true;
        }
    if (!strcmp(s, ".r") || !strcmp(s, ".g") || !strcmp(s, ".b") || !strcmp(s, ".a")) {
        static const char rgba[] = "rgba";
        o->sel = (uint8_t)(PL_SEL_X + (strchr(rgba, s[1]) - rgba));
        return true;
    }
    size_t len = strlen(s + 2);
    if (!is_sreg && ((s[1] == 'b' && len <= 4) || (s[1] == 'h' && len <= 2)) && len && strspn(s + 2, s[1] == 'b' ? "01234567" : "0123") == len) {
        o->nlanes = (uint8_t)len;
        for (size_t k = 0; k < len; k++)
            o->lanes = (uint16_t)(o->lanes << 4 | (s[2 + k] - '0'));
        return true;
    }
    if (a->aloud)
        pl_report(a->p->diags, PL_E0208, n->sel_at, s);
    return false;
}

/* Registers that take .b0 or .h1 are those of the video instructions. */
static bool register_operand(attempt *a, const pl_ospec *s, pl_word t, const pl_node *n, const pl_binding *b, pl_operand *o)
{
    pl_parse *p = a->p;
    pl_reg *r = b->reg;
    o->kind = PL_O_REG;
    o->reg = r;
    if (n->sel && !selector(a, n, o, false))
        return false;
    if (r->vec && o->sel < PL_SEL_X) {
        if (a->aloud)
            pl_report(p->diags, PL_E0211, n->at, full_name(a->p, a->opcode), "a single register", pl_arena_printf(p->arena, "the .v%u register '%s'", r->vec, r->name));
        return false;
    }
    if (o->sel >= PL_SEL_X && (!r->vec || o->sel - PL_SEL_X >= r->vec)) {
        if (a->aloud)
            pl_report(p->diags, PL_E0208, n->sel_at, n->sel->name);
        return false;
    }
    if (!type_fits(p, r->type, t, a->form->relax)) {
        if (a->aloud) {
            pl_diag *d = pl_report(p->diags, PL_E0204, n->at, r->name, pl_word_text[r->type], full_name(a->p, a->opcode), pl_word_text[t]);
            if (p->type_bits[r->type] == p->type_bits[t] && p->type_kind[t] != 'p')
                d->help = pl_arena_printf(p->arena, "move it with mov.b%d into a register of type .%s first", p->type_bits[t],
                                          pl_word_text[t]);
        }
        return false;
    }
    if (n->has_offset) {
        if (a->aloud)
            pl_report(p->diags, PL_E0232, n->at, r->name)->help = "an offset is added inside an address only: [%rd1+4]";
        return false;
    }
    (void)s;
    return true;
}

static bool special_register(attempt *a, const pl_ospec *s, pl_word t, const pl_node *n, pl_operand *o)
{
    pl_parse *p = a->p;
    const pl_sreg_info *info = &pl_sregs[n->sym->sreg];
    o->kind = PL_O_SREG;
    o->sreg = (pl_word)info->word;
    if (s->written || s->reg_only) {
        if (a->aloud)
            pl_report(p->diags, PL_E0222, n->at, n->sym->name, s->written ? "written" : "used here");
        return false;
    }
    if (n->sel && !selector(a, n, o, true))
        return false;
    if (info->vector ? o->sel < PL_SEL_X : n->sel != NULL) {
        if (a->aloud)
            pl_report(p->diags, PL_E0223, n->at, n->sym->name, info->vector ? "has" : "has no", info->vector ? ": write %tid.x" : "");
        return false;
    }
    if (a->aloud && !pl_module_needs(p, n->at, n->sym->name, info->ptx, info->target))
        return false;
    int tb = p->type_bits[t], sb = p->type_bits[info->type];
    char tk = p->type_kind[t];
    if (tk == 'p' ? p->type_kind[info->type] != 'p' : (p->type_kind[info->type] == 'p' || tk == 'f')) {
        if (a->aloud)
            pl_report(p->diags, PL_E0204, n->at, n->sym->name, pl_word_text[info->type], full_name(a->p, a->opcode), pl_word_text[t]);
        return false;
    }
    /* %tid.x may be read as 16 bits (PTX 1.x programs do) and %clock64 must be read as 64 */
    if (tk != 'p' && tb != sb && !(sb == 32 && (tb == 16 || tb == 64))) {
        if (a->aloud)
            pl_report(p->diags, PL_E0204, n->at, n->sym->name, pl_word_text[info->type], full_name(a->p, a->opcode), pl_word_text[t]);
        return false;
    }
    return true;
}

static bool immediate(attempt *a, const pl_ospec *s, pl_word t, const pl_node *n, pl_operand *o)
{
    pl_parse *p = a->p;
    char kind = p->type_kind[t];
    if (!s->read || s->written || s->reg_only)
        return kind_error(a, n, s->written ? "a register to write to" : "a register");
    o->kind = PL_O_IMM;
    if (n->kind == PL_N_FLOAT) {
        double d;
        o->is_float = true;
        if (kind != 'f' && (kind != 'b' || p->type_bits[t] < 32)) {
            if (a->aloud)
                pl_report(p->diags, PL_E0210, n->at, full_name(a->p, a->opcode), "an integer", "a floating-point number");
            return false;
        }
        memcpy(&d, &n->value, sizeof d);
        o->imm = (int64_t)pl_float_bits(d, t, n->single, n->single_bits);
    } else {
        if (kind == 'f' && t != W_f16x2 && t != W_bf16x2 && t != W_f32x2) {
            if (a->aloud)
                pl_report(p->diags, PL_E0210, n->at, full_name(a->p, a->opcode), "a floating-point number", "an integer")->help =
                    "write it with a decimal point, or its bits as 0f3F800000";
            return false;
        }
        o->imm = n->value;
        int bits = p->type_bits[t];
        if (kind == 'p') {
            o->imm = n->value != 0;
        } else if (bits < 64) {
            uint64_t mask = (UINT64_C(1) << bits) - 1;
            o->imm = (int64_t)((uint64_t)o->imm & mask);
        }
    }
    if (s->lo <= s->hi && (n->value < s->lo || n->value > s->hi)) {
        if (a->aloud)
            pl_report(p->diags, PL_E0209, n->at, full_name(a->p, a->opcode), (long long)s->lo, (long long)s->hi, (long long)n->value);
        return false;
    }
    return true;
}

static const pl_node *unwrap(const pl_parse *p, const pl_node *n)
{
    while (n->kind == PL_N_LIST && n->n == 1)
        n = node(p, n->first);
    return n;
}

/* The meaning of a name, with a report when there is none. */
static const pl_binding *resolve(attempt *a, const pl_node *n)
{
    const pl_binding *b = pl_name_lookup(a->p, n->sym);
    if (!b) {
        if (a->aloud)
            pl_name_undefined(a->p, n->sym, n->at);
        return NULL;
    }
    return b->kind == PL_B_BAD ? NULL : b;
}

/* The address of a variable or function as a value: mov.u64 %rd1, var+4. */
static bool name_value(attempt *a, pl_word t, const pl_node *n, const pl_binding *b, pl_operand *o)
{
    pl_parse *p = a->p;
    int bits = p->type_bits[t];
    if (p->type_kind[t] == 'f' || p->type_kind[t] == 'p' || (bits != 32 && bits != 64) || n->sel) {
        if (a->aloud)
            pl_report(p->diags, PL_E0206, n->at, n->sym->name, pl_bind_noun(b), "a register or a number");
        return false;
    }
    if (b->kind == PL_B_VAR) {
        o->kind = PL_O_VAR;
        o->var = b->var;
        o->imm = n->value;
    } else {
        o->kind = PL_O_FUNC;
        o->func = b->func;
        if (n->has_offset)
            return kind_error(a, n, "a function without offset");
    }
    return true;
}

static bool value(attempt *a, const pl_ospec *s, pl_word t, const pl_node *n, pl_operand *o)
{
    pl_parse *p = a->p;
    n = unwrap(p, n);
    o->at = n->at;
    switch ((pl_node_kind)n->kind) {
    case PL_N_WRONG: return false;
    case PL_N_SINK:
        o->kind = PL_O_SINK;
        if (s->sink_ok)
            return true;
        if (a->aloud)
            pl_report(p->diags, PL_E0207, n->at, full_name(a->p, a->opcode));
        return false;
    case PL_N_INT:
    case PL_N_FLOAT: return immediate(a, s, t, n, o);
    case PL_N_NAME: break;
    default: return kind_error(a, n, s->written ? "a register" : "a register or a number");
    }
    if (n->not_ || n->minus) {
        if (!s->negatable || n->minus) {
            if (a->aloud)
                pl_report(p->diags, PL_E0213, n->at, full_name(a->p, a->opcode), n->not_ ? "!" : "-");
            return false;
        }
        o->neg = true;
    }
    if (n->sym->sreg >= 0 && !n->sym->binding)
        return special_register(a, s, t, n, o);
    const pl_binding *b = resolve(a, n);
    if (!b)
        return false;
    if (b->kind == PL_B_REG)
        return register_operand(a, s, t, n, b, o);
    if (s->kind == PL_K_VAR && (b->kind == PL_B_VAR || b->kind == PL_B_FUNC))
        return name_value(a, t, n, b, o);
    if (a->aloud)
        pl_report(p->diags, PL_E0206, n->at, n->sym->name, pl_bind_noun(b), s->written ? "a register" : "a register or a number");
    return false;
}

static bool vector(attempt *a, const pl_ospec *s, pl_word t, unsigned count, const pl_node *n, pl_operand *o)
{
    pl_parse *p = a->p;
    o->at = n->at;
    if (n->kind == PL_N_WRONG)
        return false;
    if (n->kind == PL_N_NAME && !n->sel && n->sym->binding && n->sym->binding->kind == PL_B_REG && n->sym->binding->reg->vec == count) {
        pl_reg *r = n->sym->binding->reg;
        o->kind = PL_O_VEC;
        o->n = (uint16_t)count;
        if (!type_fits(p, r->type, t, a->form->relax)) {
            if (a->aloud)
                pl_report(p->diags, PL_E0204, n->at, r->name, pl_word_text[r->type], full_name(a->p, a->opcode), pl_word_text[t]);
            return false;
        }
        if (!a->out)
            return true;
        o->elem = pl_arena_array(p->arena, pl_operand, count);
        for (unsigned k = 0; k < count; k++)
            o->elem[k] = (pl_operand){.kind = PL_O_REG, .reg = r, .sel = (uint8_t)(PL_SEL_X + k), .at = n->at};
        return true;
    }
    if (count == 1 && n->kind != PL_N_VEC) {
        pl_operand *e = a->out ? pl_arena_new(p->arena, pl_operand) : &(pl_operand){0};
        o->kind = PL_O_VEC;
        o->n = 1;
        o->elem = e;
        return value(a, s, t, n, e);
    }
    if (n->kind != PL_N_VEC || n->n != count) {
        if (a->aloud)
            pl_report(p->diags, PL_E0211, n->at, full_name(a->p, a->opcode), pl_arena_printf(p->arena, "%u elements in braces", count),
                      n->kind == PL_N_VEC ? pl_arena_printf(p->arena, "%u", n->n) : written(p, n));
        return false;
    }
    o->kind = PL_O_VEC;
    o->n = (uint16_t)count;
    if (a->out)
        o->elem = pl_arena_array(p->arena, pl_operand, count);
    uint32_t e = n->first;
    for (unsigned k = 0; k < count; k++, e = node(p, e)->next) {
        pl_operand scratch = {0};
        if (!value(a, s, t, node(p, e), a->out ? &o->elem[k] : &scratch))
            return false;
    }
    return true;
}

/* [base + offset] */
static bool address(attempt *a, const pl_node *n, pl_operand *o)
{
    pl_parse *p = a->p;
    n = unwrap(p, n);
    o->kind = PL_O_ADDR;
    o->at = n->at;
    if (n->kind == PL_N_WRONG)
        return false;
    if (n->kind == PL_N_INT) {
        o->imm = n->value;
        return true;
    }
    if (n->kind != PL_N_NAME || n->not_ || n->minus)
        return kind_error(a, n, "a register, a variable or a number inside the brackets");
    const pl_binding *b = resolve(a, n);
    if (!b)
        return false;
    o->imm = n->value;
    if (b->kind == PL_B_VAR || (b->kind == PL_B_FUNC && !n->has_offset)) {
        if (b->kind == PL_B_VAR)
            o->var = b->var;
        else
            o->func = b->func;
        return b->kind == PL_B_VAR || kind_error(a, n, "a register or a variable inside the brackets");
    }
    if (b->kind != PL_B_REG) {
        if (a->aloud)
            pl_report(p->diags, PL_E0206, n->at, n->sym->name, pl_bind_noun(b), "a register or a variable");
        return false;
    }
    char kind = p->type_kind[b->reg->type];
    if (kind == 'p' || kind == 'f' || p->type_bits[b->reg->type] > 64 || b->reg->vec || n->sel) {
        if (a->aloud)
            pl_report(p->diags, PL_E0228, n->at, b->reg->name, pl_word_text[b->reg->type]);
        return false;
    }
    o->reg = b->reg;
    return true;
}

static bool table_operand(attempt *a, const pl_ospec *s, const pl_node *n, pl_operand *o)
{
    const pl_binding *b = n->kind == PL_N_NAME && !n->sel && !n->has_offset ? resolve(a, n) : NULL;
    if (n->kind != PL_N_NAME)
        return kind_error(a, n, s->kind == PL_K_LABELS ? "the name of a .branchtargets list" : "the name of a prototype");
    if (!b)
        return false;
    if (b->kind != PL_B_TABLE || (s->kind == PL_K_LABELS) != (b->table->kind == PL_TAB_BRANCH)) {
        if (a->aloud)
            pl_report(a->p->diags, PL_E0206, n->at, n->sym->name, pl_bind_noun(b),
                      s->kind == PL_K_LABELS ? "a .branchtargets list" : "a .callprototype or .calltargets list");
        return false;
    }
    o->kind = PL_O_TABLE;
    o->at = n->at;
    o->table = b->table;
    return true;
}

static bool callee(attempt *a, const pl_node *n, pl_operand *o)
{
    pl_parse *p = a->p;
    o->at = n->at;
    if (n->kind != PL_N_NAME || n->sel || n->has_offset || n->not_ || n->minus)
        return kind_error(a, n, "a function");
    const pl_binding *b = resolve(a, n);
    if (!b)
        return false;
    if (b->kind == PL_B_FUNC) {
        o->kind = PL_O_FUNC;
        o->func = b->func;
        if (b->func->entry) {
            if (a->aloud)
                pl_report(p->diags, PL_E0206, n->at, n->sym->name, "kernel", "a function");
            return false;
        }
        return true;
    }
    if (b->kind == PL_B_REG && p->type_bits[b->reg->type] >= 32 && p->type_kind[b->reg->type] != 'f') {
        o->kind = PL_O_REG;
        o->reg = b->reg;
        return true;
    }
    if (a->aloud)
        pl_report(p->diags, PL_E0206, n->at, n->sym->name, pl_bind_noun(b), "a function");
    return false;
}

/* (a, b, c) of a call: parameters, registers or constants; their types are compared with the callee's in call.c */
static bool arguments(attempt *a, const pl_ospec *s, const pl_node *n, pl_operand *o)
{
    pl_parse *p = a->p;
    if (n->kind != PL_N_LIST)
        return kind_error(a, n, "a list in parentheses");
    o->kind = PL_O_ARGS;
    o->at = n->at;
    o->n = (uint16_t)n->n;
    if (!a->out || !n->n)
        return true;
    o->elem = pl_arena_array(p->arena, pl_operand, n->n);
    uint32_t e = n->first;
    for (unsigned k = 0; k < n->n; k++, e = node(p, e)->next) {
        const pl_node *x = node(p, e);
        pl_operand *q = &o->elem[k];
        q->at = x->at;
        if (x->kind == PL_N_WRONG)
            return false;
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
        if (x->kind != PL_N_NAME || x->sel || x->not_ || x->minus)
            return kind_error(a, x, "a parameter or a register");
        const pl_binding *b = resolve(a, x);
        if (!b)
            return false;
        if (b->kind == PL_B_VAR) {
            q->kind = PL_O_VAR;
            q->var = b->var;
            q->imm = x->value;
        } else if (b->kind == PL_B_REG) {
            q->kind = PL_O_REG;
            q->reg = b->reg;
        } else {
            pl_report(p->diags, PL_E0206, x->at, x->sym->name, pl_bind_noun(b), "a parameter or a register");
            return false;
        }
    }
    return true;
}

/* Coordinates of a texture or tensor: a vector, or one register. */
static bool coordinates(attempt *a, const pl_ospec *s, pl_word t, const pl_node *n, pl_operand *o)
{
    pl_parse *p = a->p;
    if (n->kind != PL_N_VEC) {
        pl_operand *e = a->out ? pl_arena_new(p->arena, pl_operand) : &(pl_operand){0};
        o->kind = PL_O_VEC;
        o->at = n->at;
        o->n = 1;
        o->elem = e;
        return value(a, s, t, n, e);
    }
    return vector(a, s, t, n->n, n, o);
}

static bool opaque(attempt *a, const pl_node *n, pl_operand *o)
{
    pl_parse *p = a->p;
    n = unwrap(p, n);
    o->at = n->at;
    if (n->kind != PL_N_NAME || n->sel)
        return kind_error(a, n, "a texture, sampler or surface, or a 64-bit register");
    const pl_binding *b = resolve(a, n);
    if (!b)
        return false;
    if (b->kind == PL_B_VAR && (b->var->type == W_texref || b->var->type == W_samplerref || b->var->type == W_surfref ||
                                b->var->space == PL_SP_PARAM)) {
        o->kind = PL_O_VAR;
        o->var = b->var;
        return true;
    }
    if (b->kind == PL_B_REG && p->type_bits[b->reg->type] == 64 && p->type_kind[b->reg->type] != 'f') {
        o->kind = PL_O_REG;
        o->reg = b->reg;
        return true;
    }
    if (a->aloud)
        pl_report(p->diags, PL_E0206, n->at, n->sym->name, pl_bind_noun(b), "a texture, sampler or surface, or a 64-bit register");
    return false;
}

/* ---- all operands ------------------------------------------------------------------------------------------------------- */

static bool operand(attempt *a, unsigned k, const item *it, pl_operand *o)
{
    pl_parse *p = a->p;
    const pl_ospec *s = &a->form->operand[k];
    const pl_node *n = node(p, it->node);
    bool brackets = s->kind == PL_K_ADDR || s->kind == PL_K_OPAQUE;
    if ((it->bracket && !brackets) || (it->inside && s->kind != PL_K_OPAQUE && s->kind != PL_K_COORD))
        return n->kind == PL_N_WRONG ? false : (a->aloud ? (void)pl_report(p->diags, PL_E0203, n->at, full_name(a->p, a->opcode), s->written ? "a register" : "a value", "an address in brackets") : (void)0, false);
    if (s->kind == PL_K_ADDR && !it->bracket && !it->inside)
        return n->kind == PL_N_WRONG ? false : kind_error(a, n, "an address in brackets");
    switch ((pl_okind)s->kind) {
    case PL_K_ADDR: return address(a, n, o);
    case PL_K_LABEL:
        o->kind = PL_O_LABEL;
        o->at = n->at;
        if (n->kind != PL_N_NAME || n->sel || n->has_offset || n->not_ || n->minus)
            return n->kind == PL_N_WRONG ? false : kind_error(a, n, "a label");
        if (a->out)
            pl_label_refer(p, n->sym, n->at, &o->label);
        return true;
    case PL_K_LABELS:
    case PL_K_PROTO: return table_operand(a, s, n, o);
    case PL_K_FUNC: return callee(a, n, o);
    case PL_K_ARGS:
    case PL_K_RETS: return arguments(a, s, n, o);
    case PL_K_OPAQUE: return opaque(a, n, o);
    case PL_K_IMM: {
        pl_word t = pl_operand_type(a->form, k, a->mods);
        pl_ospec imm = *s;
        imm.read = true;
        n = unwrap(p, n);
        o->at = n->at;
        if (n->kind != PL_N_INT && n->kind != PL_N_FLOAT)
            return n->kind == PL_N_WRONG ? false : kind_error(a, n, "a number");
        return immediate(a, &imm, t ? t : W_b64, n, o);
    }
    default: break;
    }
    pl_word t = pl_operand_type(a->form, k, a->mods);
    int count = pl_operand_count(a->form, k, a->mods);
    if (s->kind == PL_K_COORD)
        return coordinates(a, s, t, n, o);
    return count ? vector(a, s, t, (unsigned)count, n, o) : value(a, s, t, n, o);
}

static bool can_skip(const pl_ospec *s)
{
    return s->optional || s->joined;
}

/* Do the items suit the form's operands, one after the other? Optional operands that do not suit are passed over. */
static bool all_operands(attempt *a)
{
    unsigned i = 0;
    pl_operand scratch;
    for (unsigned k = 0; k < a->form->noperands; k++) {
        const pl_ospec *s = &a->form->operand[k];
        bool have = i < a->nitems && a->items[i].second_of_pair == s->joined;
        pl_operand *o = a->out ? &a->out[k] : &scratch;
        memset(o, 0, sizeof *o);
        if (!have) {
            if (can_skip(s))
                continue;
            break;
        }
        if (can_skip(s) && !s->joined && k + 1 < a->form->noperands && a->nitems - i <= a->form->noperands - k - 1) {
            attempt quiet = *a;
            quiet.aloud = false;
            quiet.out = NULL;
            if (!operand(&quiet, k, &a->items[i], &scratch))
                continue;
        }
        if (!operand(a, k, &a->items[i], o)) {
            a->reached = i;
            return false;
        }
        i++;
        a->reached = i;
        if (i == a->nitems) {
            /* the rest must be optional */
            for (k++; k < a->form->noperands; k++) {
                if (a->out)
                    memset(&a->out[k], 0, sizeof *o);
                if (!can_skip(&a->form->operand[k])) {
                    if (a->aloud)
                        pl_report(a->p->diags, PL_E0205, a->at, full_name(a->p, a->opcode), "too few")->help = syntax_help(a->p, a->form);
                    return false;
                }
            }
            return true;
        }
    }
    a->reached = i;
    if (i == a->nitems && a->form->noperands == 0)
        return true;
    if (i == a->nitems) {
        for (unsigned k = 0; k < a->form->noperands; k++)
            if (!can_skip(&a->form->operand[k])) {
                if (a->aloud)
                    pl_report(a->p->diags, PL_E0205, a->at, full_name(a->p, a->opcode), "too few")->help = syntax_help(a->p, a->form);
                return false;
            }
        return true;
    }
    if (a->aloud) {
        const pl_node *n = node(a->p, a->items[i].node);
        if (a->items[i].second_of_pair)
            pl_report(a->p->diags, PL_E0231, n->at, full_name(a->p, a->opcode))->help = syntax_help(a->p, a->form);
        else
            pl_report(a->p->diags, PL_E0205, n->at, full_name(a->p, a->opcode), i < a->form->noperands ? "too few" : "too many")->help =
                syntax_help(a->p, a->form);
    }
    return false;
}

static unsigned take_apart(pl_parse *p, uint32_t operands, item *items, bool *too_many)
{
    unsigned n = 0;
    uint32_t e = operands ? node(p, operands)->first : 0;
    for (; e && n + 2 < MAX_ITEMS; e = node(p, e)->next) {
        const pl_node *x = node(p, e);
        if (x->kind == PL_N_PAIR) {
            items[n++] = (item){.node = x->first, .first_of_pair = true};
            items[n++] = (item){.node = x->last, .second_of_pair = true};
        } else if (x->kind == PL_N_ADDR) {
            bool first = true;
            for (uint32_t f = x->first; f && n + 2 < MAX_ITEMS; f = node(p, f)->next) {
                items[n++] = (item){.node = f, .bracket = first, .inside = !first};
                first = false;
            }
        } else {
            items[n++] = (item){.node = e};
        }
    }
    *too_many = e != 0;
    return n;
}

/* ---- the instruction ---------------------------------------------------------------------------------------------------- */

static const char *words_of(pl_parse *p, const pl_slot *s)
{
    const char *text = "";
    for (unsigned k = 0; k < s->n && k < 12; k++)
        text = pl_arena_printf(p->arena, "%s%s.%s", text, k == 0 ? "" : k + 1u == s->n ? " or " : ", ", pl_word_text[s->word[k]]);
    return s->n > 12 ? pl_arena_printf(p->arena, "%s ...", text) : text;
}

static void report_words(pl_parse *p, const pl_sym *opcode, pl_loc at, const pl_match *m)
{
    pl_diag *d = NULL;
    const char *suggestion;
    pl_loc where = m->index < p->nwords ? p->word_at[m->index] : at;
    const char *word = m->index < p->nwords ? p->word[m->index].text : "";
    switch (m->fault) {
    case PL_FAULT_NONE: return;
    case PL_FAULT_UNKNOWN:
    case PL_FAULT_FOREIGN:
        d = pl_report(p->diags, m->fault == PL_FAULT_UNKNOWN ? PL_E0220 : PL_E0214, where, m->fault == PL_FAULT_UNKNOWN ? word : opcode->name,
                      word);
        suggestion = pl_match_suggest((int)opcode->mnem, word, strlen(word));
        d->help = suggestion ? pl_arena_printf(p->arena, "did you mean '.%s'?", suggestion) : m->form ? syntax_help(p, m->form) : NULL;
        return;
    case PL_FAULT_COMBINATION: d = pl_report(p->diags, PL_E0215, where, word, opcode->name); break;
    case PL_FAULT_DUPLICATE: d = pl_report(p->diags, PL_E0216, where, word); break;
    case PL_FAULT_ORDER: d = pl_report(p->diags, PL_E0219, where, word, opcode->name); break;
    case PL_FAULT_MISSING:
        d = pl_report(p->diags, PL_E0217, at, full_name(p, opcode), words_of(p, &m->form->slot[m->index]));
        break;
    case PL_FAULT_WHERE: d = pl_report(p->diags, PL_E0218, at, full_name(p, opcode), m->message); break;
    case PL_FAULT_SINCE:
        pl_module_needs(p, at, full_name(p, opcode), m->ptx, m->target);
        return;
    }
    if (d && m->form)
        d->help = syntax_help(p, m->form);
}

static pl_reg *guard_register(pl_parse *p, pl_sym *guard, pl_loc at)
{
    const pl_binding *b = pl_name_lookup(p, guard);
    if (!b) {
        pl_name_undefined(p, guard, at);
        return NULL;
    }
    if (b->kind == PL_B_BAD)
        return NULL;
    if (b->kind != PL_B_REG || b->reg->type != W_pred) {
        pl_report(p->diags, PL_E0221, at, guard->name);
        return NULL;
    }
    return b->reg;
}

void pl_stmt_insn(pl_parse *p, pl_sym *guard, bool neg, pl_loc guard_at, pl_sym *opcode, pl_loc at, uint32_t operands)
{
    item items[MAX_ITEMS];
    bool too_many, guarded = guard != NULL;
    pl_reg *g = NULL;
    if (!p->func) {
        pl_nodes_reset(p);
        return;
    }
    if (guarded)
        g = guard_register(p, guard, guard_at);
    if (opcode->mnem < 0) {
        pl_diag *d = pl_report(p->diags, PL_E0201, at, opcode->name);
        const char *s = pl_match_suggest_mnem(opcode->name, opcode->len);
        if (s)
            d->help = pl_arena_printf(p->arena, "did you mean '%s'?", s);
        pl_nodes_reset(p);
        return;
    }
    const pl_match *m = pl_match_words(p->matcher, opcode->mnem, p->word, p->nwords);
    if (!m->n) {
        if (!p->word_overflow)
            report_words(p, opcode, at, m);
        pl_nodes_reset(p);
        return;
    }
    attempt a = {.p = p, .items = items, .opcode = opcode, .at = at};
    a.nitems = take_apart(p, operands, items, &too_many);
    const pl_choice *best = &m->at[0];
    unsigned furthest = 0;
    for (unsigned k = 0; k < m->n && m->n > 1; k++) {
        a.form = &pl_forms[m->at[k].form];
        a.mods = m->at[k].mods;
        a.reached = 0;
        if (all_operands(&a)) {
            best = &m->at[k];
            break;
        }
        if (a.reached > furthest || k == 0) {
            furthest = a.reached;
            best = &m->at[k];
        }
    }
    if (too_many) {
        pl_report(p->diags, PL_E0205, at, full_name(p, opcode), "too many");
        pl_nodes_reset(p);
        return;
    }
    a.form = &pl_forms[best->form];
    a.mods = best->mods;
    a.out = a.form->noperands ? pl_arena_array(p->arena, pl_operand, a.form->noperands) : &(pl_operand){0};
    a.aloud = true;
    if (all_operands(&a) && pl_call_check(p, a.form, a.out, at) && (!guarded || g)) {
        pl_stmt *s = pl_push(p->arena, &p->func->body);
        s->kind = PL_S_INSN;
        s->at = at;
        s->form = best->form;
        memcpy(s->mods, best->mods, sizeof s->mods);
        s->guard = g;
        s->guard_neg = neg;
        s->nop = a.form->noperands;
        s->op = a.form->noperands ? a.out : NULL;
    }
    pl_nodes_reset(p);
}
