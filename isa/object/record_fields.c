/* record_fields.c - the fields of every structure of a machine program. See record_fields.h.
 *
 * Data stored elsewhere are omitted. The symbol table contains names, sizes and code ranges of
 * functions and variables. Some parts of a function have separate tables. The others are computed
 * by pl_insn_finish and at load time. */
#include "isa/object/record_fields.h"

#include <string.h>

#define FIELD(type, member, elements, kind)                                                        \
    {                                                                                              \
#member, offsetof(type, member), (uint8_t)(sizeof((type *)0)->member / (elements)),        \
            elements, kind                                                                         \
    }
#define NUMBER(type, member)            FIELD(type, member, 1, PL_F_NUMBER)
#define NUMBERS(type, member, elements) FIELD(type, member, elements, PL_F_NUMBER)
#define BOOL(type, member)              FIELD(type, member, 1, PL_F_BOOL)
#define WORD(type, member)              FIELD(type, member, 1, PL_F_WORD)
#define TEXT(type, member)              FIELD(type, member, 1, PL_F_TEXT)
#define RECORD(name, type)                                                                         \
    const pl_record pl_record_##name = {name, sizeof name / sizeof *name, sizeof(type)}

static const pl_field insn[] = {
    NUMBER(pl_insn, guard),     NUMBERS(pl_insn, op, PL_INLINE_OPERANDS),
    NUMBER(pl_insn, target),    NUMBER(pl_insn, imm),
    NUMBER(pl_insn, extra_ops), NUMBER(pl_insn, reconv),
    NUMBER(pl_insn, line),      NUMBER(pl_insn, form),
    NUMBER(pl_insn, flags),     NUMBER(pl_insn, latency_class),
    NUMBER(pl_insn, nextra),    NUMBER(pl_insn, neg),
    NUMBERS(pl_insn, sel, 7),   NUMBERS(pl_insn, mods, PL_MAX_MODS),
};
RECORD(insn, pl_insn);

static const pl_field func[] = {
    NUMBER(pl_prog_func, linkage),
    BOOL(pl_prog_func, entry),
    NUMBER(pl_prog_func, rows),
    NUMBER(pl_prog_func, preds),
    NUMBER(pl_prog_func, param_bytes),
    NUMBER(pl_prog_func, frame_bytes),
    NUMBER(pl_prog_func, static_shared),
    NUMBER(pl_prog_func, shared_align),
    NUMBER(pl_prog_func, registers),
    NUMBER(pl_prog_func, local_bytes),
    NUMBER(pl_prog_func, stack_bytes),
    NUMBER(pl_prog_func, spill_loads),
    NUMBER(pl_prog_func, spill_stores),
    NUMBER(pl_prog_func, barriers),
    NUMBERS(pl_prog_func, maxntid, 3),
    NUMBERS(pl_prog_func, reqntid, 3),
    NUMBER(pl_prog_func, minnctapersm),
    NUMBER(pl_prog_func, maxnreg),
    NUMBERS(pl_prog_func, reqnctapercluster, 3),
    NUMBER(pl_prog_func, maxclusterrank),
    NUMBER(pl_prog_func, minperctamemory),
    BOOL(pl_prog_func, explicitcluster),
};
RECORD(func, pl_prog_func);

static const pl_field var[] = {
    NUMBER(pl_prog_var, space), NUMBER(pl_prog_var, linkage),   BOOL(pl_prog_var, managed),
    BOOL(pl_prog_var, unsized), NUMBER(pl_prog_var, reference), NUMBER(pl_prog_var, align),
};
RECORD(var, pl_prog_var);

static const pl_field param[] = {
    TEXT(pl_prog_param, name),    NUMBER(pl_prog_param, offset), NUMBER(pl_prog_param, size),
    NUMBER(pl_prog_param, align), WORD(pl_prog_param, type),     BOOL(pl_prog_param, is_ptr),
};
RECORD(param, pl_prog_param);

static const pl_field row[] = {
    NUMBER(pl_frame_init, row),  NUMBER(pl_frame_init, width), WORD(pl_frame_init, sreg),
    NUMBER(pl_frame_init, sel),  NUMBER(pl_frame_init, reloc), NUMBER(pl_frame_init, symbol),
    NUMBER(pl_frame_init, bits),
};
RECORD(row, pl_frame_init);

static const pl_field move[] = {
    NUMBER(pl_call_move, from), NUMBER(pl_call_move, to), NUMBER(pl_call_move, bytes),
    BOOL(pl_call_move, reg),    BOOL(pl_call_move, pred),
};
RECORD(move, pl_call_move);

static const pl_field call[] = {
    NUMBER(pl_prog_call, callee),    NUMBER(pl_prog_call, first_arg), NUMBER(pl_prog_call, nargs),
    NUMBER(pl_prog_call, first_ret), NUMBER(pl_prog_call, nrets),
};
RECORD(call, pl_prog_call);

static const pl_field line[] = {
    NUMBER(pl_prog_line, ptx_line), NUMBER(pl_prog_line, ptx_column),
    NUMBER(pl_prog_line, src_file), NUMBER(pl_prog_line, src_line),
    NUMBER(pl_prog_line, inlined),
};
RECORD(line, pl_prog_line);

static const pl_field inlined[] = {NUMBER(pl_prog_inline, src_file),
                                   NUMBER(pl_prog_inline, src_line),
                                   NUMBER(pl_prog_inline, inlined)};
RECORD(inlined, pl_prog_inline);

static const pl_field source[] = {TEXT(pl_prog_source, name), NUMBER(pl_prog_source, lines_before)};
RECORD(source, pl_prog_source);

static const pl_field program[] = {
    NUMBER(pl_program, ptx),
    NUMBER(pl_program, sm),
    NUMBER(pl_program, sm_suffix),
    NUMBER(pl_program, opt_level),
};
RECORD(program, pl_program);

static const pl_field place[] = {NUMBER(pl_prog_var, size), NUMBER(pl_prog_var, address)};
RECORD(place, pl_prog_var);

static const pl_field reloc[] = {
    NUMBER(pl_prog_reloc, offset), NUMBER(pl_prog_reloc, bytes),  NUMBER(pl_prog_reloc, shift),
    NUMBER(pl_prog_reloc, kind),   NUMBER(pl_prog_reloc, symbol), NUMBER(pl_prog_reloc, addend),
};
RECORD(reloc, pl_prog_reloc);

size_t pl_record_bytes(const pl_record *r)
{
    size_t n = 0;
    for (unsigned k = 0; k < r->n; k++)
        n += r->field[k].kind == PL_F_TEXT ? 4u : (size_t)r->field[k].bytes * r->field[k].count;
    return n;
}

uint64_t pl_field_get(const pl_field *f, const void *record, unsigned element)
{
    const char *at = (const char *)record + f->at + (size_t)element * f->bytes;
    uint8_t a;
    uint16_t b;
    uint32_t c;
    uint64_t d;
    switch (f->bytes) {
    case 1: memcpy(&a, at, sizeof a); return a;
    case 2: memcpy(&b, at, sizeof b); return b;
    case 4: memcpy(&c, at, sizeof c); return c;
    default: memcpy(&d, at, sizeof d); return d;
    }
}

void pl_field_set(const pl_field *f, void *record, unsigned element, uint64_t value)
{
    char *at = (char *)record + f->at + (size_t)element * f->bytes;
    uint8_t a = (uint8_t)value;
    uint16_t b = (uint16_t)value;
    uint32_t c = (uint32_t)value;
    switch (f->bytes) {
    case 1: memcpy(at, &a, sizeof a); break;
    case 2: memcpy(at, &b, sizeof b); break;
    case 4: memcpy(at, &c, sizeof c); break;
    default: memcpy(at, &value, sizeof value); break;
    }
}

const char *pl_field_text(const pl_field *f, const void *record)
{
    const char *text;
    memcpy(&text, (const char *)record + f->at, sizeof text);
    return text;
}

void pl_field_set_text(const pl_field *f, void *record, const char *text)
{
    memcpy((char *)record + f->at, &text, sizeof text);
}
