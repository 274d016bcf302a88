/* asm_parse.c - parses a machine program from text. See isa/object/asm_text.h and asm_print.c.
 *
 * Each line is one item. Labels are local to their function and resolved at its end. The result is
 * verified as a whole (isa/program/verify.c), so the text is not trusted. */
#include "isa/object/asm_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/guard.h"
#include "base/map.h"
#include "isa/program/verify.h"
#include "isa/object/record_fields.h"
#include "isa/program/canonicalize.h"
#include "isa/program/insn_query.h"

typedef enum fix_kind { FIX_TARGET, FIX_RECONV, FIX_POOL } fix_kind;

typedef struct fix {
    const char *label;
    uint32_t line, at; /* line of the text; code or pool index */
    fix_kind kind;
} fix;

typedef struct reader {
    pl_program *p;
    pl_arena *scratch;
    pl_diags *diags;
    uint32_t file, line;
    const char *start, *at, *end; /* the current line */
    bool failed;
    pl_prog_line position; /* PTX position of the instructions */
    bool any_line;
    bool in_func;
    pl_prog_var *var;
    uint64_t filled; /* bytes of the variable's initial value read so far */
    pl_map labels;
    struct {
        fix *at;
        size_t n, cap;
    } fixes;
    struct {
        char *at;
        size_t n, cap;
    } text;
} reader;

static bool fail(reader *r, const char *what)
{
    if (!r->failed)
        pl_report(
            r->diags, PL_E0613,
            (pl_loc){.file = r->file, .line = r->line, .column = (uint32_t)(r->at - r->start) + 1},
            what);
    r->failed = true;
    return false;
}

/* ---- tokens ---- */

static void skip(reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')) r->at++;
}

static bool accept(reader *r, char c)
{
    skip(r);
    if (r->at == r->end || *r->at != c) return false;
    r->at++;
    return true;
}

static bool expect(reader *r, char c, const char *what)
{
    return accept(r, c) || fail(r, what);
}

static bool at_end(reader *r)
{
    skip(r);
    return r->at == r->end || (r->end - r->at >= 2 && r->at[0] == '/' && r->at[1] == '/');
}

/* Scans characters up to one of `stop`, a blank or the end of the line. */
static size_t scan_text(reader *r, const char *stop, const char **from)
{
    skip(r);
    *from = r->at;
    while (r->at<r->end && * r->at> ' ' && !strchr(stop, *r->at)) r->at++;
    return (size_t)(r->at - *from);
}

static bool equals(const char *from, size_t n, const char *text)
{
    return strlen(text) == n && memcmp(from, text, n) == 0;
}

/* An integer, decimal or 0x..., with a sign if allowed. */
static bool read_number(reader *r, bool sign, uint64_t *out)
{
    char buf[32];
    const char *from;
    skip(r);
    const char *start = r->at;
    bool minus = sign && r->at < r->end && *r->at == '-';
    if (minus || (sign && r->at < r->end && *r->at == '+')) r->at++;
    from = r->at;
    while (r->at < r->end &&
           ((*r->at >= '0' && *r->at <= '9') || (*r->at >= 'a' && *r->at <= 'f') || *r->at == 'x'))
        r->at++;
    size_t n = (size_t)(r->at - from);
    if (n == 0 || n >= sizeof buf || from[0] < '0' || from[0] > '9') {
        r->at = start;
        return fail(r, "a number is expected here");
    }
    memcpy(buf, from, n);
    buf[n] = '\0';
    char *end;
    errno = 0;
    unsigned long long v = strtoull(buf, &end, n > 1 && buf[1] == 'x' ? 16 : 10);
    if (*end || errno) {
        r->at = start;
        return fail(r, "this is not a number");
    }
    *out = minus ? 0 - v : v;
    return true;
}

static bool read_number32(reader *r, uint32_t *out)
{
    uint64_t v = 0;
    const char *from = r->at;
    if (!read_number(r, false, &v)) return false;
    if (v > UINT32_MAX) {
        r->at = from;
        return fail(r, "this number is too large");
    }
    *out = (uint32_t)v;
    return true;
}

static const char *read_string(reader *r)
{
    struct {
        char *at;
        size_t n, cap;
    } s = {0};
    if (!expect(r, '"', "a name in quotes is expected here")) return "";
    while (r->at < r->end && *r->at != '"') {
        char c = *r->at++;
        if (c == '\\') {
            char hex[3] = {0};
            if (r->end - r->at < 3 || *r->at != 'x') {
                fail(r, "write \\xHH with two hexadecimal digits");
                return "";
            }
            memcpy(hex, r->at + 1, 2);
            c = (char)strtoul(hex, NULL, 16);
            r->at += 3;
        }
        *pl_push(r->scratch, &s) = c;
    }
    expect(r, '"', "the quotes have no end");
    return pl_arena_strndup(r->p->arena, s.at ? s.at : "", s.n);
}

static uint16_t find_word(const char *from, size_t n)
{
    return (uint16_t)pl_word_find(from, n);
}

/* Parses NAME=VALUE of a structure. */
static bool read_field(reader *r, const char *from, size_t n, const pl_record *rec, void *record)
{
    for (unsigned k = 0; k < rec->n; k++) {
        const pl_field *f = &rec->field[k];
        if (f->kind == PL_F_TEXT || !equals(from, n, f->name)) continue;
        if (f->kind == PL_F_WORD) {
            size_t len = scan_text(r, "", &from);
            pl_field_set(f, record, 0, find_word(from, len));
            return pl_field_get(f, record, 0) != W_none || fail(r, "this is not a word of PTX");
        }
        for (unsigned e = 0; e < f->count; e++) {
            uint64_t v = 0;
            if (e && !expect(r, ',', "more numbers belong here, with commas")) return false;
            const char *before = r->at;
            if (!read_number(r, true, &v)) return false;
            if ((f->kind == PL_F_BOOL && v > 1) || (f->bytes < 8 && v >> 8 * f->bytes)) {
                r->at = before;
                return fail(r, "this number is too large");
            }
            pl_field_set(f, record, e, v);
        }
        return true;
    }
    return false;
}

static bool read_fields(reader *r, const pl_record *a, const pl_record *b, void *record)
{
    while (!r->failed && !at_end(r)) {
        const char *from;
        size_t n = scan_text(r, "=", &from);
        if (!expect(r, '=', "NAME=VALUE is expected here")) return false;
        if (!read_field(r, from, n, a, record) && !r->failed &&
            !(b && read_field(r, from, n, b, record)) && !r->failed) {
            r->at = from;
            return fail(r, "nothing of this name belongs here");
        }
    }
    return !r->failed;
}

static const char *label_name(reader *r)
{
    const char *from;
    size_t n = scan_text(r, ",:;(){} ", &from);
    if (n < 2 || *from != 'L') {
        r->at = from;
        fail(r, "a label is expected here: L and a number");
        return "L";
    }
    return pl_arena_strndup(r->scratch, from, n);
}

/* ---- operands ---- */

/* R7, P2, PT, !P0, M16: kind and number. */
static bool read_location(reader *r, char *kind, uint32_t *at)
{
    skip(r);
    *kind = r->at < r->end ? *r->at : ' ';
    if (*kind != 'R' && *kind != 'P' && *kind != 'M')
        return fail(r, "a register (R4), predicate (P0) or frame offset (M8) is expected here");
    r->at++;
    if (*kind == 'P' && r->at < r->end && (*r->at == 'T' || *r->at == 'F')) {
        *at = *r->at++ == 'T' ? PL_PT : PL_PF;
        return true;
    }
    if (!read_number32(r, at)) return false;
    if (*kind == 'P') *at += 2;
    return true;
}

static bool read_row(reader *r, bool pred, pl_insn *i, unsigned k, uint32_t *out)
{
    char kind;
    bool neg = pred && accept(r, '!');
    if (!read_location(r, &kind, out)) return false;
    if (kind != (pred ? 'P' : 'R'))
        return fail(r, pred ? "a predicate is expected here" : "a register is expected here");
    if (neg) i->neg |= (uint8_t)(1u << k);
    return true;
}

static bool read_value(reader *r, pl_insn *i, unsigned k, unsigned *pooled)
{
    const pl_form *f = &pl_forms[i->form];
    bool pred = f->operand[k].kind != PL_K_OPAQUE && pl_operand_type(f, k, i->mods) == W_pred;
    if (accept(r, '_')) return true;
    if (!accept(r, '{')) return read_row(r, pred, i, k, &i->op[k]);
    i->op[k] = *pooled;
    do {
        uint32_t *to = pl_push(r->p->arena, &r->p->pool);
        *to = 0;
        if (!read_row(r, pred, i, k, to)) return false;
        ++*pooled;
    } while (accept(r, ','));
    return expect(r, '}', "the vector has no end");
}

static bool read_address(reader *r, pl_insn *i, unsigned k, unsigned index)
{
    uint64_t offset = 0;
    bool has = false;
    if (!expect(r, '[', "an address in brackets is expected here")) return false;
    skip(r);
    if (r->at < r->end && *r->at == 'R') {
        if (!read_row(r, false, i, k, &i->op[k])) return false;
    }
    skip(r);
    if (r->at < r->end && *r->at != ']') {
        has = true;
        if (!read_number(r, true, &offset)) return false;
    }
    if (index == 0)
        i->imm = (int64_t)offset;
    else if (index == 1)
        i->target = (uint32_t)offset;
    else if (has)
        i->op[PL_INLINE_OPERANDS - 1] = (uint32_t)offset;
    return expect(r, ']', "the address has no end");
}

static void use_label(reader *r, fix_kind kind, uint32_t at)
{
    fix x = {.label = label_name(r), .line = r->line, .at = at, .kind = kind};
    *pl_push(r->scratch, &r->fixes) = x;
}

static bool read_labels(reader *r, unsigned *pooled)
{
    do {
        use_label(r, FIX_POOL, (uint32_t)r->p->pool.n);
        *pl_push(r->p->arena, &r->p->pool) = 0;
        ++*pooled;
        skip(r);
    } while (!r->failed && r->at < r->end && *r->at == 'L');
    return !r->failed;
}

static bool read_moves(reader *r, bool results, uint32_t *first, uint32_t *n)
{
    *n = 0;
    if (!expect(r, '(', "a list in parentheses is expected here")) return false;
    if (accept(r, ')')) return true;
    *first = (uint32_t)r->p->moves.n;
    do {
        pl_call_move m = {0};
        char kind;
        uint32_t at, bytes;
        if (!read_location(r, &kind, &at) || !expect(r, ':', "a size is expected here: R4:4") ||
            !read_number32(r, &bytes))
            return false;
        m.reg = kind != 'M';
        m.pred = kind == 'P';
        m.bytes = bytes;
        if (results)
            m.to = at;
        else
            m.from = at;
        *pl_push(r->p->arena, &r->p->moves) = m;
        ++*n;
    } while (accept(r, ','));
    return expect(r, ')', "the list has no end");
}

static bool read_callee(reader *r, pl_insn *i, unsigned k, pl_prog_call *c)
{
    const char *from, *hash = NULL;
    size_t n = scan_text(r, ",;", &from);
    for (size_t e = 0; e < n; e++)
        if (from[e] == '#') hash = from + e;
    r->at = hash ? hash + 1 : from;
    if (hash) return read_number32(r, &c->callee);
    c->callee = UINT32_MAX;
    return read_row(r, false, i, k, &i->op[k]);
}

/* A special register: its name after a percent sign. */
static bool special_register(reader *r, uint64_t *out)
{
    const char *from;
    const size_t n = scan_text(r, ",;", &from);
    *out = n > 1 && from[0] == '%' ? pl_word_find(from + 1, n - 1) : W_none;
    if (*out != W_none) return true;
    r->at = from;
    return fail(r, "a special register is expected here");
}

static bool read_operand(reader *r, pl_insn *i, unsigned k, unsigned *addresses, unsigned *pooled,
                         pl_prog_call *c)
{
    uint64_t v = 0;
    switch ((pl_okind)pl_forms[i->form].operand[k].kind) {
    case PL_K_VALUE:
    case PL_K_VAR:
    case PL_K_OPAQUE: return read_value(r, i, k, pooled);
    case PL_K_IMM:
        if (pl_insn_names_sreg(i) ? !special_register(r, &v) : !read_number(r, true, &v))
            return false;
        i->op[k] = (uint32_t)v;
        if (!*addresses) i->imm = (int32_t)(uint32_t)v;
        return true;
    case PL_K_ADDR: return read_address(r, i, k, (*addresses)++);
    case PL_K_LABEL: use_label(r, FIX_TARGET, (uint32_t)r->p->code.n); return !r->failed;
    case PL_K_LABELS: return read_labels(r, pooled);
    case PL_K_FUNC: return read_callee(r, i, k, c);
    case PL_K_ARGS: return read_moves(r, false, &c->first_arg, &c->nargs);
    case PL_K_RETS: return read_moves(r, true, &c->first_ret, &c->nrets);
    default: return expect(r, '-', "'-' is expected here");
    }
}

/* ---- instructions ---- */

bool pl_asm_fill(const pl_form *f, const uint16_t *words, unsigned n, uint16_t mods[PL_MAX_MODS])
{
    unsigned slot = 0;
    memset(mods, 0, PL_MAX_MODS * sizeof *mods);
    for (unsigned k = 0; k < n; k++) {
        bool found = false;
        for (; slot < f->nslots && !found; slot++)
            for (unsigned w = 0; w < f->slot[slot].n && !found; w++)
                found = f->slot[slot].word[w] == words[k];
        if (!found) return false;
        mods[slot - 1] = words[k];
    }
    return true;
}

/* mnemonic, form number, words */
static bool read_words(reader *r, pl_insn *i)
{
    const char *from;
    size_t n = scan_text(r, "#.", &from);
    int m = pl_mnem_find(from, n);
    if (m < 0) {
        r->at = from;
        return fail(r, "this is not an instruction");
    }
    uint32_t which = 0;
    if (r->at < r->end && *r->at == '#') {
        r->at++;
        if (!read_number32(r, &which)) return false;
    }
    if (which >= pl_mnems[m].count) return fail(r, "the instruction has no such form");
    i->form = (uint16_t)(pl_mnems[m].first + which);
    const pl_form *f = &pl_forms[i->form];
    uint16_t words[PL_MAX_SLOTS], slots[PL_MAX_MODS] = {0};
    unsigned count = 0, listed = 0;
    bool has_empty = false; /* all slots are written, empty ones as '_' */
    while (r->at < r->end && *r->at == '.') {
        r->at++;
        n = scan_text(r, ".,;", &from);
        uint16_t w = equals(from, n, "_") ? W_none : find_word(from, n);
        has_empty |= equals(from, n, "_");
        if ((w == W_none && !equals(from, n, "_")) || listed == PL_MAX_SLOTS) {
            r->at = from;
            return fail(r, "this is not a modifier of the instruction");
        }
        slots[listed++] = w;
        if (w) words[count++] = w;
    }
    if (has_empty)
        memcpy(i->mods, slots, sizeof i->mods);
    else if (!pl_asm_fill(f, words, count, i->mods))
        return fail(r, "this form of the instruction does not take these words");
    return true;
}

static bool read_flags(reader *r, pl_insn *i)
{
    do {
        const char *from;
        size_t n = scan_text(r, ",", &from);
        unsigned k = 0;
        while (k < PL_ASM_FLAGS && !(pl_asm_flag[k] && equals(from, n, pl_asm_flag[k]))) k++;
        if (k == PL_ASM_FLAGS) {
            r->at = from;
            return fail(r, "no flag has this name");
        }
        i->flags |= (uint16_t)(1u << k);
    } while (accept(r, ','));
    return true;
}

static bool read_class(reader *r, pl_insn *i)
{
    const char *from;
    size_t n = scan_text(r, "", &from);
    for (unsigned k = 0; k < C_count; k++)
        if (equals(from, n, pl_class_text[k])) {
            i->latency_class = (uint16_t)k;
            return true;
        }
    r->at = from;
    return fail(r, "no class has this name");
}

static bool read_line(reader *r)
{
    uint32_t v[5] = {0};
    for (unsigned k = 0; k < 5 && (k == 0 || accept(r, ':')); k++)
        if (!read_number32(r, &v[k])) return false;
    r->position = (pl_prog_line){v[0], v[1], v[2], v[3], v[4]};
    return true;
}

static bool read_rest(reader *r, pl_insn *i)
{
    while (!r->failed && !at_end(r)) {
        const char *from;
        uint64_t v = 0;
        size_t n = scan_text(r, "=", &from);
        if (!expect(r, '=', "NAME=VALUE is expected here")) return false;
        if (equals(from, n, "line"))
            read_line(r);
        else if (equals(from, n, "reconv"))
            use_label(r, FIX_RECONV, (uint32_t)r->p->code.n);
        else if (equals(from, n, "class"))
            read_class(r, i);
        else if (equals(from, n, "flags"))
            read_flags(r, i);
        else if (equals(from, n, "sel")) {
            for (unsigned k = 0; k < sizeof i->sel; k++) {
                if ((k && !expect(r, ',', "seven numbers belong here")) ||
                    !read_number(r, false, &v))
                    return false;
                i->sel[k] = (uint8_t)v;
            }
        } else if (equals(from, n, "imm")) {
            if (read_number(r, true, &v)) i->imm = (int64_t)v;
        } else if (equals(from, n, "target"))
            read_number32(r, &i->target);
        else if (equals(from, n, "neg")) {
            if (read_number(r, false, &v)) i->neg = (uint8_t)v;
        } else if (n == 3 && from[0] == 'o' && from[1] == 'p' && from[2] >= '0' &&
                   from[2] < '0' + PL_INLINE_OPERANDS)
            read_number32(r, &i->op[from[2] - '0']);
        else {
            r->at = from;
            fail(r, "nothing of this name belongs here");
        }
    }
    return !r->failed;
}

static void set_line(reader *r, pl_insn *i)
{
    pl_program *p = r->p;
    if (!r->any_line || memcmp(&p->lines.at[p->lines.n - 1], &r->position, sizeof r->position) != 0)
        *pl_push(p->arena, &p->lines) = r->position;
    r->any_line = true;
    i->line = (uint32_t)p->lines.n - 1;
}

static bool read_insn(reader *r)
{
    pl_program *p = r->p;
    pl_insn i = {.guard = PL_PT, .reconv = UINT32_MAX};
    pl_prog_call c = {.callee = UINT32_MAX};
    unsigned addresses = 0, pooled = 0;
    uint32_t pool = (uint32_t)p->pool.n;
    for (unsigned k = 0; k < PL_INLINE_OPERANDS; k++) i.op[k] = UINT32_MAX;
    if (accept(r, '@')) {
        char kind;
        if (accept(r, '!')) i.flags |= PL_IF_GUARD_NEG;
        if (!read_location(r, &kind, &i.guard) || kind != 'P')
            return fail(r, "a predicate is expected here");
    }
    if (!read_words(r, &i)) return false;
    const pl_form *f = &pl_forms[i.form];
    for (unsigned k = 0; k < f->noperands && k < PL_INLINE_OPERANDS; k++)
        if ((k && !expect(r, ',', "more operands belong here")) ||
            !read_operand(r, &i, k, &addresses, &pooled, &c))
            return false;
    if (addresses) pl_insn_shape(&i);
    i.nextra = (uint16_t)pooled;
    i.extra_ops = pooled ? pool : 0;
    if (pooled > UINT16_MAX) return fail(r, "too many operands");
    if (f->effects & PL_EF_CALL) {
        i.target = (uint32_t)p->calls.n;
        *pl_push(p->arena, &p->calls) = c;
    }
    pl_insn_finish(&i);
    if (accept(r, ';') ? !read_rest(r, &i) : !at_end(r))
        return fail(r, "the line should end here, or continue after a semicolon");
    set_line(r, &i);
    *pl_push(p->arena, &p->code) = i;
    return true;
}

/* ---- functions ---- */

static pl_prog_func *current(reader *r)
{
    return &r->p->funcs.at[r->p->funcs.n - 1];
}

static bool define_label(reader *r)
{
    const char *name = label_name(r);
    if (r->failed || !expect(r, ':', "':' must follow a label")) return false;
    uint32_t *pc = pl_arena_new(r->scratch, uint32_t);
    *pc = (uint32_t)r->p->code.n;
    if (pl_map_put(&r->labels, name, strlen(name), pc))
        return fail(r, "the function has this label already");
    return at_end(r) || fail(r, "a label is alone on its line");
}

static bool end_function(reader *r)
{
    pl_program *p = r->p;
    pl_prog_func *f = current(r);
    f->count = (uint32_t)p->code.n - f->first;
    if (f->count == 0) f->first = 0;
    for (size_t k = 0; k < r->fixes.n; k++) {
        const fix *x = &r->fixes.at[k];
        const uint32_t *pc = pl_map_get(&r->labels, x->label, strlen(x->label));
        if (!pc) {
            r->line = x->line;
            r->at = r->start;
            return fail(r, "this line uses a label that its function does not have");
        }
        if (x->kind == FIX_POOL)
            p->pool.at[x->at] = *pc;
        else if (x->kind == FIX_TARGET)
            p->code.at[x->at].target = *pc;
        else
            p->code.at[x->at].reconv = *pc;
    }
    r->fixes.n = 0;
    pl_map_init(&r->labels, r->scratch);
    r->in_func = false;
    return true;
}

static bool begin_function(reader *r)
{
    const char *name = read_string(r);
    pl_prog_func *f = pl_push(r->p->arena, &r->p->funcs);
    *f = (pl_prog_func){.name = name, .first = (uint32_t)r->p->code.n};
    r->in_func = true;
    r->var = NULL;
    return read_fields(r, &pl_record_func, NULL, f);
}

static bool function_line(reader *r, const char *from, size_t n)
{
    pl_arena *a = r->p->arena;
    pl_prog_func *f = current(r);
    if (equals(from, n, ".end")) return end_function(r);
    if (equals(from, n, ".param")) {
        pl_prog_param x = {.name = read_string(r)};
        bool good = read_fields(r, &pl_record_param, NULL, &x);
        *pl_push(a, &f->params) = x;
        return good;
    }
    if (equals(from, n, ".row")) {
        pl_frame_init x = {0};
        bool good = read_fields(r, &pl_record_row, NULL, &x);
        *pl_push(a, &f->init) = x;
        return good;
    }
    if (equals(from, n, ".formal") || equals(from, n, ".result")) {
        pl_call_move x = {0};
        bool good = read_fields(r, &pl_record_move, NULL, &x);
        if (from[1] == 'f')
            *pl_push(a, &f->formal) = x;
        else
            *pl_push(a, &f->result) = x;
        return good;
    }
    r->at = from;
    return fail(r, "functions have .param, .row, .formal, .result, labels, instructions and .end");
}

/* ---- other parts of the program ---- */

static bool variable(reader *r)
{
    pl_prog_var v = {.name = read_string(r)};
    bool good = read_fields(r, &pl_record_var, &pl_record_place, &v);
    r->var = pl_push(r->p->arena, &r->p->vars);
    *r->var = v;
    r->filled = 0;
    return good;
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool data(reader *r)
{
    pl_prog_var *v = r->var;
    enum { MAX_BYTES = 1 << 30 };
    if (!v->init) {
        if (v->size > MAX_BYTES) return fail(r, "the variable is too large for initial values");
        v->init = pl_arena_alloc(r->p->arena, (size_t)v->size + 1);
        if (!v->init) return false;
    }
    for (skip(r); !at_end(r); r->at += 2) {
        int high = r->end - r->at >= 2 ? digit(r->at[0]) : -1,
            low = high < 0 ? -1 : digit(r->at[1]);
        if (low < 0) return fail(r, "two hexadecimal digits is expected here");
        if (r->filled == v->size) return fail(r, "the variable is full");
        ((uint8_t *)(uintptr_t)v->init)[r->filled++] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static bool relocation(reader *r)
{
    pl_prog_reloc x = {0};
    bool good = read_fields(r, &pl_record_reloc, NULL, &x);
    if (good && (x.bytes > 8 || x.shift > 63 || x.offset > r->var->size ||
                 x.bytes > r->var->size - x.offset))
        return fail(r, "the relocation is outside its variable");
    *pl_push(r->p->arena, &r->var->reloc) = x;
    return good;
}

static bool directive(reader *r)
{
    pl_program *p = r->p;
    const char *from;
    size_t n = scan_text(r, "", &from);
    if (r->in_func) return function_line(r, from, n);
    if (equals(from, n, ".func")) return begin_function(r);
    if (equals(from, n, ".var")) return variable(r);
    if (equals(from, n, ".data") && r->var) return data(r);
    if (equals(from, n, ".reloc") && r->var) return relocation(r);
    if (equals(from, n, ".module")) return read_fields(r, &pl_record_program, NULL, p);
    if (equals(from, n, ".source")) {
        pl_prog_source x = {.name = read_string(r)};
        bool good = read_fields(r, &pl_record_source, NULL, &x);
        *pl_push(p->arena, &p->sources) = x;
        return good;
    }
    if (equals(from, n, ".inline")) {
        pl_prog_inline x = {0};
        bool good = read_fields(r, &pl_record_inlined, NULL, &x);
        *pl_push(p->arena, &p->inlines) = x;
        return good;
    }
    if (equals(from, n, ".file")) {
        *pl_push(p->arena, &p->files) = at_end(r) ? NULL : read_string(r);
        return !r->failed;
    }
    r->at = from;
    return fail(
        r, "a program has .module, .source, .file, .inline, .var, .data, .reloc, .func and .text");
}

static bool one_line(reader *r)
{
    if (at_end(r)) return true;
    if (*r->at == '.') return directive(r);
    if (!r->in_func) return fail(r, "instructions must be inside a function");
    if (*r->at == 'L') return define_label(r);
    return read_insn(r);
}

/* ---- the program ---- */

static bool next_line(reader *r, const char **rest, const char *end)
{
    if (*rest > end) return false;
    const char *newline = *rest < end ? memchr(*rest, '\n', (size_t)(end - *rest)) : NULL;
    r->start = r->at = *rest;
    r->end = newline ? newline : end;
    *rest = newline ? newline + 1 : end + 1;
    r->line++;
    return true;
}

static void read_source_text(reader *r, const char *rest, const char *end)
{
    bool first = true;
    while (!r->failed && next_line(r, &rest, end)) {
        if (r->at == r->end) continue;
        if (*r->at != '|') {
            fail(r, "lines of PTX begin with '|'");
            return;
        }
        if (!first) *pl_push(r->scratch, &r->text) = '\n';
        first = false;
        for (const char *c = r->at + 1; c < r->end; c++) *pl_push(r->scratch, &r->text) = *c;
    }
    char *copy = pl_arena_alloc(r->p->arena, r->text.n + 1);
    if (!copy) return;
    if (r->text.n) memcpy(copy, r->text.at, r->text.n);
    r->p->text = copy;
    r->p->text_bytes = r->text.n;
}

static bool read_head(reader *r)
{
    const char *from;
    uint64_t format = 0;
    scan_text(r, "", &from);
    if (!read_number(r, false, &format)) return false;
    if (format != PL_ASM_FORMAT) return fail(r, "this is another version of the text form");
    return at_end(r) || fail(r, "the first line has the version alone");
}

static bool read_all(reader *r, const char *text, size_t n)
{
    const char *rest = text, *end = text + n;
    bool head = false;
    while (!r->failed && pl_arena_ok(r->p->arena) && pl_arena_ok(r->scratch) &&
           next_line(r, &rest, end)) {
        skip(r);
        if (!head) {
            head = true;
            read_head(r);
        } else if (!r->in_func && r->end - r->at >= 5 && memcmp(r->at, ".text", 5) == 0) {
            read_source_text(r, rest, end);
            break;
        } else
            one_line(r);
    }
    if (!r->failed && r->in_func) return fail(r, "the last function has no .end");
    return !r->failed;
}

static bool complete(reader *r)
{
    pl_program *p = r->p;
    if (!p->sm) return fail(r, "a program has .module with its target");
    if (p->sm > 999 || p->ptx > 999 || (p->sm_suffix && p->sm_suffix != 'a' && p->sm_suffix != 'f'))
        return fail(r, "the target of .module does not exist");
    p->target = p->sm_suffix ? pl_arena_printf(p->arena, "sm_%u%c", (unsigned)p->sm, p->sm_suffix)
                             : pl_arena_printf(p->arena, "sm_%u", (unsigned)p->sm);
    for (size_t k = 0; k < p->vars.n; k++)
        for (size_t e = 0; e < p->vars.at[k].reloc.n; e++) {
            const pl_prog_reloc *x = &p->vars.at[k].reloc.at[e];
            bool variable = x->kind == PL_RELOC_VAR || x->kind == PL_RELOC_GENERIC;
            if ((!variable && x->kind != PL_RELOC_FUNC && x->kind != PL_RELOC_NONE) ||
                (variable && x->symbol >= p->vars.n) ||
                (x->kind == PL_RELOC_FUNC && x->symbol >= p->funcs.n))
                return fail(r, "a relocation is of nothing that exists");
        }
    r->line = 0;
    r->at = r->start;
    const char *why = pl_arena_ok(p->arena) ? pl_program_check(p) : NULL;
    return !why || fail(r, pl_arena_printf(r->diags->arena, "the program cannot run: %s", why));
}

bool pl_asm_is(const char *text, size_t n)
{
    return n >= 9 && memcmp(text, ".ptxloom ", 9) == 0;
}

static bool read_program(reader *r, const char *text, size_t n)
{
    PL_GUARD(return false)
    return read_all(r, text, n) && complete(r);
}

pl_status pl_asm_read(const char *text, size_t n, pl_diags *diags, uint32_t file, pl_program **out)
{
    *out = NULL;
    PL_UNGUARDED;
    pl_arena *arena = pl_arena_open(), *scratch = pl_arena_open();
    pl_program *p = arena && scratch ? pl_arena_new(arena, pl_program) : NULL;
    if (!p) {
        pl_arena_close(arena);
        pl_arena_close(scratch);
        return PL_NOMEM;
    }
    p->arena = arena;
    reader r = {.p = p, .scratch = scratch, .diags = diags, .file = file, .start = text};
    pl_map_init(&r.labels, scratch);
    bool good = read_program(&r, text, n);
    pl_arena_close(scratch);
    if (good) {
        *out = p;
        return PL_OK;
    }
    pl_arena_close(arena);
    return r.failed ? PL_INVALID : PL_NOMEM;
}
