/* disasm.c - prints a machine instruction as text: the form's words, then registers, constants and
 * targets.
 *
 * R4 is a 32-bit register row, R4:5 a 64-bit pair, P3 a predicate. Rows that hold constants or
 * special registers are shown by their contents (#0x10, %tid.x), branch targets as code indices
 * (@12). */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "isa/program/insn_query.h"
#include "isa/program/program.h"

typedef struct text {
    char *buf;
    size_t size, n;
    const char *label; /* prefix of a branch target's number */
} text;

static void put(text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void put(text *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(t->n < t->size ? t->buf + t->n : NULL, t->n < t->size ? t->size - t->n : 0,
                      fmt, ap);
    va_end(ap);
    t->n += n > 0 ? (size_t)n : 0;
}

static const pl_prog_func *function_of(const pl_program *p, uint32_t pc)
{
    for (size_t k = 0; k < p->funcs.n; k++)
        if (pc - p->funcs.at[k].first < p->funcs.at[k].count) return &p->funcs.at[k];
    return NULL;
}

static void put_row(text *t, const pl_program *p, const pl_prog_func *f, uint32_t row, int bits)
{
    for (size_t k = 0; f && k < f->init.n; k++) {
        const pl_frame_init *r = &f->init.at[k];
        if (r->row != row) continue;
        if (r->sreg) put(t, "%%%s", pl_word_text[r->sreg]);
        for (unsigned s = 0; r->sreg && s < pl_nsregs; s++)
            if (pl_sregs[s].word == r->sreg && pl_sregs[s].vector)
                put(t, ".%c", "xyzw"[r->sel & 3]);
        if (r->sreg) return;
        if (r->reloc == PL_RELOC_VAR && r->symbol < p->vars.n)
            put(t, "%s", p->vars.at[r->symbol].name);
        if (r->reloc == PL_RELOC_FRAME) put(t, "FRAME");
        if (r->reloc == PL_RELOC_SHARED) put(t, "SHARED");
        if (r->reloc && r->bits) put(t, "+");
        if (!r->reloc || r->bits) put(t, r->bits < 10 ? "#%" PRIu64 : "#0x%" PRIx64, r->bits);
        return;
    }
    if (bits > 64)
        put(t, "R%u:%u", row, row + 3);
    else if (bits > 32)
        put(t, "R%u:%u", row, row + 1);
    else
        put(t, "R%u", row);
}

static void put_pred(text *t, uint32_t n, bool neg)
{
    put(t, "%s", neg ? "!" : "");
    if (n <= PL_PF)
        put(t, n == PL_PT ? "PT" : "PF");
    else
        put(t, "P%u", n - 2);
}

/* [R4:5+16]. index: of the address among those of the instruction. */
static void put_address(text *t, const pl_program *p, const pl_prog_func *fn, const pl_insn *i,
                        uint32_t op, unsigned index)
{
    const int64_t offset = pl_insn_offset(i, index);
    put(t, "[");
    if (op != UINT32_MAX) put_row(t, p, fn, op, pl_insn_has_narrow_address(i, index) ? 32 : 64);
    if (op != UINT32_MAX && offset)
        put(t, "%+" PRId64, offset);
    else if (op == UINT32_MAX)
        put(t, "0x%" PRIx64, (uint64_t)offset);
    put(t, "]");
}

/* The called function, or the register with its address. */
static void put_callee(text *t, const pl_program *p, const pl_prog_func *fn, const pl_insn *i,
                       uint32_t op)
{
    const uint32_t callee = p->calls.at[i->target].callee;
    if (callee >= p->funcs.n)
        put_row(t, p, fn, op, 64);
    else
        put(t, "%s", p->funcs.at[callee].name ? p->funcs.at[callee].name : "?");
}

/* A register, or several in braces. */
static void put_registers(text *t, const pl_program *p, const pl_prog_func *fn, const pl_insn *i,
                          unsigned k)
{
    const pl_form *f = &pl_forms[i->form];
    const uint32_t op = k < PL_INLINE_OPERANDS ? i->op[k] : UINT32_MAX;
    if (op == UINT32_MAX) {
        put(t, "_");
        return;
    }
    const pl_word type = pl_operand_type(f, k, i->mods);
    const int count = pl_operand_count(f, k, i->mods), bits = pl_type_bits(type);
    const bool negated = (i->neg >> k) & 1;
    if (count) put(t, "{");
    for (int e = 0; e < (count ? count : 1); e++) {
        const uint32_t row = count ? p->pool.at[i->extra_ops + op + (uint32_t)e] : op;
        put(t, "%s", e ? ", " : "");
        if (type == W_pred) {
            put_pred(t, row, negated);
        } else {
            put(t, "%s", negated ? "-" : "");
            put_row(t, p, fn, row, bits);
        }
    }
    if (count) put(t, "}");
}

/* *addresses: number of addresses among the operands before this one. */
static void put_operand(text *t, const pl_program *p, const pl_prog_func *fn, const pl_insn *i,
                        unsigned k, unsigned *addresses)
{
    const uint32_t op = k < PL_INLINE_OPERANDS ? i->op[k] : UINT32_MAX;
    switch ((pl_okind)pl_forms[i->form].operand[k].kind) {
    case PL_K_IMM:
        if (pl_insn_names_sreg(i) && op < W_count)
            put(t, "%%%s", pl_word_text[op]);
        else
            put(t, "%d", (int32_t)op);
        return;
    case PL_K_ADDR: put_address(t, p, fn, i, op, (*addresses)++); return;
    case PL_K_LABEL: put(t, "%s%u", t->label, i->target); return;
    case PL_K_LABELS:
        for (unsigned e = 0; e < i->nextra; e++)
            put(t, "%s%s%u", e ? " " : "", t->label, p->pool.at[i->extra_ops + e]);
        return;
    case PL_K_FUNC: put_callee(t, p, fn, i, op); return;
    case PL_K_ARGS: put(t, "(%u)", p->calls.at[i->target].nargs); return;
    case PL_K_RETS: put(t, "(%u)", p->calls.at[i->target].nrets); return;
    case PL_K_PROTO: put(t, "-"); return;
    default: put_registers(t, p, fn, i, k);
    }
}

size_t pl_disasm(const pl_program *p, uint32_t pc, char *buf, size_t size)
{
    if (size) buf[0] = 0;
    return pc < p->code.n ? pl_disasm_insn(p, function_of(p, pc), &p->code.at[pc], "@", buf, size)
                          : 0;
}

size_t pl_disasm_insn(const pl_program *p, const pl_prog_func *fn, const pl_insn *i,
                      const char *label, char *buf, size_t size)
{
    text t = {buf, size, 0, label};
    const pl_form *f = &pl_forms[i->form];
    unsigned addresses = 0;
    if (i->guard != PL_PT) {
        put(&t, "@");
        put_pred(&t, i->guard, i->flags & PL_IF_GUARD_NEG);
        put(&t, " ");
    }
    put(&t, "%s", pl_mnems[f->mnem].name);
    for (unsigned k = 0; k < f->nslots; k++)
        if (i->mods[k]) put(&t, ".%s", pl_word_text[i->mods[k]]);
    for (unsigned k = 0; k < f->noperands; k++) {
        if (f->operand[k].optional && k < PL_INLINE_OPERANDS && i->op[k] == UINT32_MAX) continue;
        put(&t, "%s", k == 0 ? " " : f->operand[k].joined ? "|" : ", ");
        put_operand(&t, p, fn, i, k, &addresses);
    }
    return t.n;
}
