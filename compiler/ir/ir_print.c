/* ir_print.c - prints a function between passes. See ir_print.h. */
#include "compiler/ir/ir_print.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_COLUMN = 64 /* column of the comment with the PTX line */, INSN_BYTES = 1024 };

static void put(pl_arena *a, pl_ir_text *t, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void put(pl_arena *a, pl_ir_text *t, const char *fmt, ...)
{
    char buf[INSN_BYTES + 64];
    va_list ap;
    va_start(ap, fmt);
    const int n = vsnprintf(buf, sizeof buf, fmt, ap);
    va_end(ap);
    for (int k = 0; k < n && k < (int)sizeof buf - 1; k++) *pl_push(a, t) = buf[k];
}

static void put_insn(pl_arena *a, pl_ir_text *t, const pl_program *p, const pl_prog_func *f,
                     const pl_insn *i, const char *label)
{
    char buf[INSN_BYTES];
    pl_disasm_insn(p, f, i, label, buf, sizeof buf);
    const uint32_t line = i->line < p->lines.n ? p->lines.at[i->line].ptx_line : 0;
    const uint16_t class = pl_forms[i->form].latency_class(i->mods);
    if (line)
        put(a, t, "%-*s ; line %u", TEXT_COLUMN, buf, line);
    else
        put(a, t, "%s", buf);
    if (i->latency_class != class) put(a, t, ", class %s", pl_class_text[i->latency_class]);
    if (i->flags & PL_IF_SYNC_POINT) put(a, t, ", sync point");
    if (i->flags & PL_IF_UNIFORM_REG) put(a, t, ", uniform");
    if (i->flags & PL_IF_NARROW64) put(a, t, ", one register");
    put(a, t, "\n");
}

static pl_ir_text finish(pl_arena *a, pl_ir_text *t)
{
    *pl_push(a, t) = 0;
    return pl_arena_ok(a) ? (pl_ir_text){.at = t->at, .n = t->n - 1} : (pl_ir_text){0};
}

static void put_predecessors(const pl_ir *x, pl_ir_text *t, uint32_t block)
{
    const char *before = "  ; preds";
    for (uint32_t b = 0; b < x->blocks.n; b++)
        for (uint32_t k = 0; k < pl_ir_successors(x, b); k++)
            if (pl_ir_successor(x, b, k) == block) {
                put(x->tmp, t, "%s bb%u", before, b);
                before = "";
                break;
            }
}

pl_ir_text pl_ir_print(const pl_ir *x, const char *pass)
{
    pl_ir_text t = {0};
    put(x->tmp, &t, "; %s after %s\n", x->f->name, pass);
    for (uint32_t b = 0; b < x->blocks.n; b++) {
        const pl_ir_block *block = &x->blocks.at[b];
        if (!block->code.n && block->fallthrough == PL_IR_NONE) continue;
        put(x->tmp, &t, "bb%u:", b);
        put_predecessors(x, &t, b);
        put(x->tmp, &t, "\n");
        for (size_t k = 0; k < block->code.n; k++) {
            if (block->code.at[k].form == PL_IR_DEAD) continue;
            put(x->tmp, &t, "    ");
            put_insn(x->tmp, &t, x->p, x->f, &block->code.at[k], "bb");
        }
        if (block->fallthrough != PL_IR_NONE) put(x->tmp, &t, "    -> bb%u\n", block->fallthrough);
    }
    return finish(x->tmp, &t);
}

pl_ir_text pl_code_print(const pl_program *p, const pl_prog_func *f, const char *pass, pl_arena *a)
{
    pl_ir_text t = {0};
    put(a, &t, "; %s after %s\n", f->name, pass);
    for (uint32_t pc = f->first; pc < f->first + f->count; pc++) {
        put(a, &t, "%6u: ", pc);
        put_insn(a, &t, p, f, &p->code.at[pc], "@");
    }
    return finish(a, &t);
}
