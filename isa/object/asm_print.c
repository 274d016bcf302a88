/* asm_print.c - prints a machine program as text. See isa/object/asm_text.h.
 *
 * Properties implied by the words and operands of an instruction are not written; all others follow
 * a semicolon. The parser reconstructs the instruction from the first part. The writer does the
 * same and writes the fields that still differ. */
#include "isa/object/asm_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/object/record_fields.h"
#include "isa/program/canonicalize.h"
#include "isa/program/insn_query.h"

const char *const pl_asm_flag[PL_ASM_FLAGS] = {NULL, "sync", NULL, NULL, "uniform", "d64", "loop"};

enum { DATA_LINE = 32 /* bytes of initial values per line */ };

typedef struct text {
    char *at;
    size_t n, cap;
    bool failed;
} text;

typedef struct writer {
    const pl_program *p;
    text out;
    uint8_t *label; /* by code index: it is a branch target; code.n + 1 entries */
    pl_prog_line line;
    bool any_line;
} writer;

static void put(text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool reserve(text *t, size_t n)
{
    size_t cap = t->cap ? t->cap : 4096;
    while (cap - t->n < n) cap *= 2;
    if (cap == t->cap) return true;
    char *at = realloc(t->at, cap);
    if (!at) {
        t->failed = true;
        return false;
    }
    t->at = at;
    t->cap = cap;
    return true;
}

static void put(text *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = t->failed ? 0 : vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n <= 0 || !reserve(t, (size_t)n + 1)) return;
    va_start(ap, fmt);
    vsnprintf(t->at + t->n, (size_t)n + 1, fmt, ap);
    va_end(ap);
    t->n += (size_t)n;
}

static void put_bytes(text *t, const char *from, size_t n)
{
    if (t->failed || !reserve(t, n + 1)) return;
    memcpy(t->at + t->n, from, n);
    t->n += n;
}

static void put_string(text *t, const char *s)
{
    put(t, "\"");
    for (; *s; s++)
        if (*s == '"' || *s == '\\' || (unsigned char)*s < ' ')
            put(t, "\\x%02x", (unsigned)(unsigned char)*s);
        else
            put_bytes(t, s, 1);
    put(t, "\"");
}

/* Writes NAME=VALUE for every nonzero field. */
static void put_fields(text *t, const pl_record *r, const void *record)
{
    for (unsigned k = 0; k < r->n; k++) {
        const pl_field *f = &r->field[k];
        bool any = false;
        for (unsigned e = 0; f->kind != PL_F_TEXT && e < f->count; e++)
            any |= pl_field_get(f, record, e) != 0;
        if (!any) continue;
        put(t, " %s=", f->name);
        for (unsigned e = 0; e < f->count; e++) {
            uint64_t v = pl_field_get(f, record, e);
            if (f->kind == PL_F_WORD)
                put(t, "%s", v < W_count ? pl_word_text[v] : "?");
            else
                put(t,
                    v < 10    ? "%s%" PRIu64
                    : v >> 32 ? "%s0x%" PRIx64
                              : "%s%" PRIu64,
                    e ? "," : "", v);
        }
    }
}

/* ---- instructions ---- */

static void put_pred(text *t, uint32_t n, bool neg)
{
    if (n <= PL_PF)
        put(t, "%sP%c", neg ? "!" : "", n == PL_PT ? 'T' : 'F');
    else
        put(t, "%sP%u", neg ? "!" : "", n - 2);
}

static void put_words(writer *w, const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    uint16_t words[PL_MAX_SLOTS], mods[PL_MAX_MODS];
    unsigned n = 0;
    put(&w->out, "%s", pl_mnems[f->mnem].name);
    if (i->form != pl_mnems[f->mnem].first) put(&w->out, "#%u", i->form - pl_mnems[f->mnem].first);
    for (unsigned k = 0; k < f->nslots; k++)
        if (i->mods[k]) words[n++] = i->mods[k];
    bool plain = pl_asm_fill(f, words, n, mods) && memcmp(mods, i->mods, sizeof mods) == 0;
    for (unsigned k = 0; k < f->nslots; k++)
        if (i->mods[k] || !plain) put(&w->out, ".%s", i->mods[k] ? pl_word_text[i->mods[k]] : "_");
}

static void put_move(text *t, const pl_call_move *m, uint32_t at)
{
    if (m->pred)
        put_pred(t, at, false);
    else
        put(t, "%c%u", m->reg ? 'R' : 'M', at);
    put(t, ":%u", m->bytes);
}

static void put_moves(writer *w, uint32_t first, uint32_t n, bool results)
{
    put(&w->out, "(");
    for (uint32_t k = 0; k < n; k++) {
        const pl_call_move *m = &w->p->moves.at[first + k];
        put(&w->out, "%s", k ? ", " : "");
        put_move(&w->out, m, results ? m->to : m->from);
    }
    put(&w->out, ")");
}

static void put_address(writer *w, const pl_insn *i, uint32_t row, unsigned number)
{
    const int64_t offset = pl_insn_offset(i, number);
    /* The parser distinguishes a third offset of 0 from none. */
    const bool has = number == 2 ? i->op[PL_INLINE_OPERANDS - 1] != UINT32_MAX : offset != 0;
    put(&w->out, "[");
    if (row != UINT32_MAX) put(&w->out, "R%u", row);
    if (row == UINT32_MAX)
        put(&w->out, "%" PRId64, offset);
    else if (has)
        put(&w->out, "%+" PRId64, offset);
    put(&w->out, "]");
}

static void put_value(writer *w, const pl_insn *i, unsigned k)
{
    const pl_form *f = &pl_forms[i->form];
    bool pred = f->operand[k].kind != PL_K_OPAQUE && pl_operand_type(f, k, i->mods) == W_pred;
    int count = pl_operand_count(f, k, i->mods);
    if (i->op[k] == UINT32_MAX) {
        put(&w->out, "_");
        return;
    }
    put(&w->out, "%s", count ? "{" : "");
    for (int e = 0; e < (count ? count : 1); e++) {
        uint32_t row = count ? w->p->pool.at[i->extra_ops + i->op[k] + (unsigned)e] : i->op[k];
        put(&w->out, "%s", e ? ", " : "");
        if (pred)
            put_pred(&w->out, row, (i->neg >> k) & 1);
        else
            put(&w->out, "R%u", row);
    }
    put(&w->out, "%s", count ? "}" : "");
}

/* Writes operand k and records in *made the operand that the parser will reconstruct. */
static void put_operand(writer *w, const pl_insn *i, unsigned k, unsigned *addresses, pl_insn *made)
{
    const pl_program *p = w->p;
    const pl_form *f = &pl_forms[i->form];
    const pl_prog_call *c = (f->effects & PL_EF_CALL) ? &p->calls.at[i->target] : NULL;
    switch ((pl_okind)f->operand[k].kind) {
    case PL_K_VALUE:
    case PL_K_VAR:
    case PL_K_OPAQUE:
        put_value(w, i, k);
        made->op[k] = i->op[k];
        if (i->op[k] != UINT32_MAX && f->operand[k].kind != PL_K_OPAQUE &&
            pl_operand_type(f, k, i->mods) == W_pred)
            made->neg |= (uint8_t)(i->neg & 1u << k);
        return;
    case PL_K_IMM:
        if (pl_insn_names_sreg(i))
            put(&w->out, "%%%s", pl_word_text[i->op[k]]);
        else
            put(&w->out, "%d", (int32_t)i->op[k]);
        made->op[k] = i->op[k];
        if (!*addresses) made->imm = (int32_t)i->op[k];
        return;
    case PL_K_ADDR:
        put_address(w, i, i->op[k], *addresses);
        made->op[k] = i->op[k];
        if (*addresses == 0)
            made->imm = i->imm;
        else if (*addresses == 1)
            made->target = i->target;
        else
            made->op[PL_INLINE_OPERANDS - 1] = i->op[PL_INLINE_OPERANDS - 1];
        ++*addresses;
        return;
    case PL_K_LABEL:
        put(&w->out, "L%u", i->target);
        made->target = i->target;
        return;
    case PL_K_LABELS:
        for (unsigned e = 0; e < i->nextra; e++)
            put(&w->out, "%sL%u", e ? " " : "", p->pool.at[i->extra_ops + e]);
        return;
    case PL_K_FUNC:
        if (c && c->callee != UINT32_MAX)
            put(&w->out, "%s#%u", p->funcs.at[c->callee].name, c->callee);
        else
            put(&w->out, "R%u", i->op[k]);
        made->target = i->target;
        made->op[k] = c && c->callee != UINT32_MAX ? UINT32_MAX : i->op[k];
        return;
    case PL_K_ARGS: put_moves(w, c ? c->first_arg : 0, c ? c->nargs : 0, false); return;
    case PL_K_RETS: put_moves(w, c ? c->first_ret : 0, c ? c->nrets : 0, true); return;
    default: put(&w->out, "-"); return;
    }
}

static void put_flags(writer *w, const pl_insn *i)
{
    const char *sep = " flags=";
    for (unsigned k = 0; k < PL_ASM_FLAGS; k++)
        if (pl_asm_flag[k] && (i->flags >> k) & 1) {
            put(&w->out, "%s%s", sep, pl_asm_flag[k]);
            sep = ",";
        }
}

/* Writes the properties that operands and words do not imply. */
static void put_rest(writer *w, const pl_insn *i, const pl_insn *made)
{
    const pl_prog_line *l = &w->p->lines.at[i->line];
    size_t before = w->out.n;
    put(&w->out, " ;");
    size_t start = w->out.n;
    if (!w->any_line || memcmp(l, &w->line, sizeof *l) != 0) {
        put(&w->out, " line=%u:%u", l->ptx_line, l->ptx_column);
        if (l->src_file || l->src_line || l->inlined)
            put(&w->out, ":%u:%u", l->src_file, l->src_line);
        if (l->inlined) put(&w->out, ":%u", l->inlined);
        w->line = *l;
        w->any_line = true;
    }
    if (i->reconv != UINT32_MAX) put(&w->out, " reconv=L%u", i->reconv);
    put_flags(w, i);
    if (i->latency_class != made->latency_class)
        put(&w->out, " class=%s", pl_class_text[i->latency_class]);
    if (memcmp(i->sel, made->sel, sizeof i->sel) != 0)
        for (unsigned k = 0; k < sizeof i->sel; k++)
            put(&w->out, "%s%u", k ? "," : " sel=", i->sel[k]);
    if (i->imm != made->imm) put(&w->out, " imm=%" PRId64, i->imm);
    if (i->target != made->target) put(&w->out, " target=%u", i->target);
    if (i->neg != made->neg) put(&w->out, " neg=%u", i->neg);
    for (unsigned k = 0; k < PL_INLINE_OPERANDS; k++)
        if (i->op[k] != made->op[k]) put(&w->out, " op%u=%u", k, i->op[k]);
    if (w->out.n == start) w->out.n = before;
}

static void put_comment(writer *w, uint32_t pc)
{
    char buf[512];
    pl_disasm(w->p, pc, buf, sizeof buf);
    put(&w->out, " // %s\n", buf);
}

static void put_insn(writer *w, uint32_t pc)
{
    const pl_insn *i = &w->p->code.at[pc];
    const pl_form *f = &pl_forms[i->form];
    pl_insn made = {.form = i->form};
    unsigned addresses = 0;
    if (w->label[pc]) put(&w->out, "L%u:\n", pc);
    put(&w->out, "    ");
    if (i->guard != PL_PT || (i->flags & PL_IF_GUARD_NEG)) {
        put(&w->out, "@");
        put_pred(&w->out, i->guard, i->flags & PL_IF_GUARD_NEG);
        put(&w->out, " ");
    }
    put_words(w, i);
    memcpy(made.mods, i->mods, sizeof made.mods);
    for (unsigned k = 0; k < PL_INLINE_OPERANDS; k++) made.op[k] = UINT32_MAX;
    for (unsigned k = 0; k < f->noperands && k < PL_INLINE_OPERANDS; k++) {
        put(&w->out, k ? ", " : " ");
        put_operand(w, i, k, &addresses, &made);
    }
    if (addresses) pl_insn_shape(&made);
    pl_insn_finish(&made);
    put_rest(w, i, &made);
    put_comment(w, pc);
}

/* ---- other parts of the program ---- */

static void put_variable(writer *w, const pl_prog_var *v)
{
    text *t = &w->out;
    put(t, ".var ");
    put_string(t, v->name);
    pl_prog_var placed = *v;
    if (v->space == PL_SP_GLOBAL) /* assigned when the program is loaded */
        placed.address = 0;
    put_fields(t, &pl_record_var, &placed);
    put_fields(t, &pl_record_place, &placed);
    put(t, "\n");
    for (uint64_t at = 0; v->init && (at == 0 || at < v->size); at += DATA_LINE) {
        put(t, "    .data ");
        for (uint64_t k = at; k < at + DATA_LINE && k < v->size; k++) put(t, "%02x", v->init[k]);
        put(t, "\n");
    }
    for (size_t k = 0; k < v->reloc.n; k++) {
        put(t, "    .reloc");
        put_fields(t, &pl_record_reloc, &v->reloc.at[k]);
        put(t, "\n");
    }
}

static void put_list(writer *w, const char *what, const pl_record *r, const void *at, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const char *record = (const char *)at + k * r->size;
        put(&w->out, "    %s", what);
        for (unsigned f = 0; f < r->n; f++)
            if (r->field[f].kind == PL_F_TEXT) {
                put(&w->out, " ");
                put_string(&w->out, pl_field_text(&r->field[f], record));
            }
        put_fields(&w->out, r, record);
        put(&w->out, "\n");
    }
}

static void put_function(writer *w, const pl_prog_func *f)
{
    put(&w->out, ".func ");
    put_string(&w->out, f->name);
    put_fields(&w->out, &pl_record_func, f);
    put(&w->out, "\n");
    put_list(w, ".param", &pl_record_param, f->params.at, f->params.n);
    put_list(w, ".row", &pl_record_row, f->init.at, f->init.n);
    put_list(w, ".formal", &pl_record_move, f->formal.at, f->formal.n);
    put_list(w, ".result", &pl_record_move, f->result.at, f->result.n);
    for (uint32_t pc = f->first; pc < f->first + f->count; pc++) put_insn(w, pc);
    if (f->count && w->label[f->first + f->count] == 2) put(&w->out, "L%u:\n", f->first + f->count);
    put(&w->out, ".end\n");
}

/* 2: a reconvergence point, which may be after the end of a function. */
static void find_labels(writer *w)
{
    const pl_program *p = w->p;
    for (size_t k = 0; k < p->code.n; k++) {
        const pl_insn *i = &p->code.at[k];
        const pl_form *f = &pl_forms[i->form];
        for (unsigned n = 0; n < f->noperands; n++) {
            if (f->operand[n].kind == PL_K_LABEL) w->label[i->target] |= 1;
            for (unsigned e = 0; f->operand[n].kind == PL_K_LABELS && e < i->nextra; e++)
                w->label[p->pool.at[i->extra_ops + e]] |= 1;
        }
        if (i->reconv != UINT32_MAX) w->label[i->reconv] |= 2;
    }
}

static void put_source_text(writer *w)
{
    /* An empty program has no text. */
    const char *at = w->p->text ? w->p->text : "", *end = at + w->p->text_bytes;
    put(&w->out, ".text\n");
    for (;;) {
        const char *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
        put_bytes(&w->out, "|", 1);
        put_bytes(&w->out, at, (size_t)((newline ? newline : end) - at));
        put_bytes(&w->out, "\n", 1);
        if (!newline) return;
        at = newline + 1;
    }
}

pl_status pl_asm_write(const pl_program *p, char **out, size_t *n)
{
    writer w = {.p = p, .label = calloc(p->code.n + 1, 1)};
    text *t = &w.out;
    if (!w.label) return PL_NOMEM;
    find_labels(&w);
    put(t, ".ptxloom %d\n.module", PL_ASM_FORMAT);
    put_fields(t, &pl_record_program, p);
    put(t, "\n");
    for (size_t k = 0; k < p->sources.n; k++) {
        put(t, ".source ");
        put_string(t, p->sources.at[k].name);
        put_fields(t, &pl_record_source, &p->sources.at[k]);
        put(t, "\n");
    }
    for (size_t k = 0; k < p->files.n; k++) {
        put(t, ".file ");
        if (p->files.at[k]) put_string(t, p->files.at[k]);
        put(t, "\n");
    }
    for (size_t k = 0; k < p->inlines.n; k++) {
        put(t, ".inline");
        put_fields(t, &pl_record_inlined, &p->inlines.at[k]);
        put(t, "\n");
    }
    for (size_t k = 0; k < p->vars.n; k++) put_variable(&w, &p->vars.at[k]);
    for (size_t k = 0; k < p->funcs.n; k++) put_function(&w, &p->funcs.at[k]);
    put_source_text(&w);
    free(w.label);
    if (t->failed) {
        free(t->at);
        return PL_NOMEM;
    }
    *out = t->at;
    *n = t->n;
    return PL_OK;
}
