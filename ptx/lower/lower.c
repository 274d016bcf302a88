/* lower.c - lowers a checked function to machine instructions: registers become rows, names become
 * numbers.
 *
 * One PTX instruction becomes one machine instruction (isa/program/insn.h). Every operand of a lane
 * loop is a register row. Constants, special registers and addresses therefore have rows, which are
 * filled when a frame is created (pl_frame_init). Function-local variables and the .param variables
 * of calls are in the frame's local memory; a call copies arguments between two frames
 * (pl_call_move).
 *
 * Read next: ptx/lower/assemble.c (the whole module), compiler/compile_function.c (the following
 * stages of each function), isa/program/cfg.c (reconvergence points),
 * compiler/codegen/register_allocation.c (register allocation), emu/exec/warp.c (execution of
 * calls). */
#include "ptx/lower/lower.h"

#include <string.h>

#include "compiler/ir/ir.h"
#include "isa/program/canonicalize.h"
#include "ptx/lower/constant_layout.h"

typedef struct constant {
    uint64_t bits;
    uint32_t symbol;
    uint16_t width, sreg;
    uint8_t reloc, sel;
    uint32_t row;
} constant;

typedef struct lower {
    const pl_lower_module *m;
    pl_program *p; /* the function's part of the program (compiler/compile_function.h) */
    pl_arena *scratch;
    const pl_func *func;
    pl_prog_func *out;
    uint32_t *reg_row; /* by register id: row, or predicate number */
    struct {
        constant *at;
        size_t n, cap;
    } constants;
    uint32_t *slot; /* hash table over constants: index + 1, 0: free */
    size_t nslots;  /* a power of two */
    uint32_t rows, preds, scratch_row, scratch_pred;
    uint32_t *stmt_pc; /* code index of each statement */
    struct {
        struct fixup {
            uint32_t pc, pool;
            const pl_label *label;
        } * at;
        size_t n, cap;
    } fixups;
    uint32_t line;                        /* index of the current line row */
    uint32_t lines_before;                /* lines of the program's text that precede the function's
                                             module */
    uint32_t src_file, src_line, inlined; /* position of the latest .loc */
    bool nounroll;    /* a pragma forbids unrolling of the loop that starts here */
    bool unsupported; /* the function contains a form that cannot be executed */
} lower;

static uint32_t type_width(pl_word t)
{
    int bits = pl_type_bits(t);
    return bits > 64 ? 128 : bits > 32 ? 64 : 32;
}

static uint32_t row_count(pl_word t)
{
    return type_width(t) / 32;
}

/* ---- rows of invariant values ---- */

static bool same_constant(const constant *a, const constant *b)
{
    return a->bits == b->bits && a->width == b->width && a->sreg == b->sreg &&
           a->reloc == b->reloc && a->sel == b->sel && a->symbol == b->symbol;
}

/* Slot of the hash table for this constant (multiplicative hashing, linear probing). */
static uint32_t *constant_slot(const lower *c, const constant *k)
{
    uint64_t h = k->bits ^ ((uint64_t)k->symbol << 32) ^ ((uint64_t)k->sreg << 20) ^
                 ((uint64_t)k->width << 8) ^ ((uint64_t)k->reloc << 4) ^ k->sel;
    h = (h ^ h >> 31) * 0x9E3779B97F4A7C15u;
    size_t at = (size_t)(h >> 32) & (c->nslots - 1);
    while (c->slot[at] && !same_constant(&c->constants.at[c->slot[at] - 1], k))
        at = (at + 1) & (c->nslots - 1);
    return &c->slot[at];
}

static bool grow_slots(lower *c)
{
    c->nslots = c->nslots ? c->nslots * 2 : 64;
    c->slot = pl_arena_array(c->scratch, uint32_t, c->nslots);
    if (!pl_arena_ok(c->scratch)) {
        c->nslots = c->constants.n = 0;
        return false;
    }
    for (size_t n = 0; n < c->constants.n; n++)
        *constant_slot(c, &c->constants.at[n]) = (uint32_t)n + 1;
    return true;
}

static uint32_t constant_row(lower *c, constant k)
{
    if (c->constants.n * 2 >= c->nslots && !grow_slots(c)) return 0;
    uint32_t *slot = constant_slot(c, &k);
    if (*slot) return c->constants.at[*slot - 1].row;
    k.row = c->rows;
    c->rows += k.width / 32u;
    *pl_push(c->scratch, &c->constants) = k;
    *slot = (uint32_t)c->constants.n;
    *pl_push(c->p->arena, &c->out->init) = (pl_frame_init){.row = k.row,
                                                           .width = k.width,
                                                           .sreg = k.sreg,
                                                           .sel = k.sel,
                                                           .reloc = k.reloc,
                                                           .symbol = k.symbol,
                                                           .bits = k.bits};
    return k.row;
}

static uint32_t immediate_row(lower *c, uint64_t bits, uint32_t width)
{
    return constant_row(
        c, (constant){.bits = width == 32 ? (uint32_t)bits : bits, .width = (uint16_t)width});
}

static bool is_formal(const pl_func *f, const pl_var *v)
{
    for (size_t k = 0; k < f->params.n; k++)
        if (f->params.at[k] == v) return true;
    return false;
}

/* True if the variable is in the frame's local memory. */
static bool is_in_frame(const lower *c, const pl_var *v)
{
    return v->space == PL_SP_LOCAL ||
           (v->space == PL_SP_PARAM && !(c->func->entry && is_formal(c->func, v)));
}

static uint64_t shared_offset(const lower *c, const pl_var *v)
{
    return pl_shared_offset(c->m->shared, c->func, v);
}

/* Row that holds the address of a variable (plus offset) in its own space. */
static uint32_t address_row(lower *c, const pl_var *v, int64_t offset, uint32_t width)
{
    constant k = {.bits = (uint64_t)offset, .width = (uint16_t)width};
    if (v->space == PL_SP_PARAM && !is_in_frame(c, v))
        k.bits += v->offset;
    else if (v->space == PL_SP_SHARED) {
        k.bits += shared_offset(c, v);
        k.reloc = PL_RELOC_SHARED;
    } else if (is_in_frame(c, v)) {
        k.bits += v->offset;
        k.reloc = PL_RELOC_FRAME;
    } else {
        k.reloc = PL_RELOC_VAR;
        k.symbol = v->index;
    }
    return constant_row(c, k);
}

/* ---- emitting ---- */

static pl_insn *emit(lower *c, uint16_t form)
{
    pl_insn *i = pl_push(c->p->arena, &c->p->code);
    *i = (pl_insn){.form = form,
                   .guard = PL_PT,
                   .reconv = UINT32_MAX,
                   .line = c->line,
                   .extra_ops = (uint32_t)c->p->pool.n};
    for (int k = 0; k < PL_INLINE_OPERANDS; k++) i->op[k] = UINT32_MAX;
    return i;
}

static uint16_t machine_form(const char *name)
{
    int m = pl_mnem_find(name, strlen(name));
    return m < 0 ? 0 : pl_mnems[m].first;
}

/* Conversion between 32 and 64-bit registers: an inserted machine instruction, with the guard of
 * its neighbour. */
static void convert(lower *c, const char *name, pl_word type, uint32_t d, uint32_t a,
                    const pl_insn *like)
{
    uint32_t guard = like->guard;
    uint16_t neg = like->flags & PL_IF_GUARD_NEG;
    pl_insn *i = emit(c, machine_form(name));
    if (pl_forms[i->form].nslots) i->mods[0] = (uint16_t)type;
    i->op[0] = d;
    i->op[1] = a;
    i->guard = guard;
    i->flags |= neg;
    pl_insn_finish(i);
}

/* ---- operands ---- */

static uint32_t reg_row(const lower *c, const pl_operand *o)
{
    uint32_t row = c->reg_row[o->reg->id];
    if (o->reg->vec && o->sel >= PL_SEL_X)
        row +=
            (uint32_t)(o->sel - PL_SEL_X) * (o->reg->type == W_pred ? 1 : row_count(o->reg->type));
    return row;
}

static bool is_time_varying_sreg(pl_word sreg)
{
    return sreg == W_clock || sreg == W_clock64 || sreg == W_clock_hi || sreg == W_globaltimer ||
           sreg == W_globaltimer_lo || sreg == W_globaltimer_hi || sreg == W_smid;
}

static uint32_t sreg_row(lower *c, const pl_operand *o, uint32_t width)
{
    uint8_t sel = (uint8_t)(o->sel >= PL_SEL_X ? o->sel - PL_SEL_X : 0);
    return constant_row(
        c, (constant){.width = (uint16_t)width, .sreg = (uint16_t)o->sreg, .sel = sel});
}

/* Row of the sum of a row and a constant, computed by an instruction before `like` with the same
 * guard. */
static uint32_t sum_row(lower *c, uint32_t from, pl_word type, int64_t number, const pl_insn *like)
{
    const uint32_t guard = like->guard, by = immediate_row(c, (uint64_t)number, type_width(type)),
                   row = c->rows;
    const uint16_t neg = like->flags & PL_IF_GUARD_NEG;
    c->rows += row_count(type);
    pl_insn *i = emit(c, 0);
    pl_insn_make(i, M_add, 3, &type, 1);
    i->op[0] = row;
    i->op[1] = from;
    i->op[2] = by;
    i->guard = guard;
    i->flags |= neg;
    return row;
}

/* An operand REGISTER+NUMBER. */
static uint32_t register_row(lower *c, const pl_operand *o, const pl_insn *like)
{
    const int bits = pl_type_bits(o->reg->type);
    return o->imm ? sum_row(c, reg_row(c, o),
                            bits == 64   ? W_s64
                            : bits == 16 ? W_s16
                                         : W_s32,
                            o->imm, like)
                  : reg_row(c, o);
}

/* Emits the read of a register that changes while the warp runs. */
static void read_clock(lower *c, pl_word sreg, uint32_t to, uint32_t width, uint32_t guard,
                       uint16_t flags)
{
    const bool clock = sreg != W_smid;
    pl_insn *n = emit(c, machine_form(clock ? "~sreg" : "~s2ur"));
    n->guard = guard;
    n->flags = flags;
    if (clock) n->mods[0] = width == 64 ? W_u64 : W_u32;
    n->op[0] = to;
    n->op[1] = (uint32_t)sreg;
    pl_insn_finish(n);
}

/* A special register as one element of several: a register that changes is read before `like`. */
static uint32_t special_row(lower *c, const pl_operand *o, uint32_t width, const pl_insn *like)
{
    if (!is_time_varying_sreg(o->sreg)) return sreg_row(c, o, width);
    const uint32_t row = c->rows;
    c->rows += width == 64 ? 2 : 1;
    read_clock(c, o->sreg, row, width, like->guard, like->flags & PL_IF_GUARD_NEG);
    return row;
}

/* Row of one scalar value of the given type; a 64-bit register read as 32 bits is narrowed first.
 */
static uint32_t value_row(lower *c, const pl_operand *o, pl_word type, const pl_insn *like,
                          bool keep_width)
{
    uint32_t width = type_width(type);
    switch (o->kind) {
    case PL_O_REG: {
        const uint32_t from = register_row(c, o, like);
        if (!keep_width && width == 32 && type_width(o->reg->type) == 64) {
            uint32_t row = c->rows++;
            convert(c, "~narrow", W_none, row, from, like);
            return row;
        }
        return from;
    }
    case PL_O_SREG: return special_row(c, o, width, like);
    case PL_O_VAR: return address_row(c, o->var, o->imm, width);
    case PL_O_FUNC: return immediate_row(c, PL_CODE_BASE + 16ull * o->func->index, width);
    case PL_O_SINK: return c->scratch_row;
    default:
        if (width == 128) { /* both halves */
            uint32_t row = c->rows;
            c->rows += 4;
            *pl_push(c->p->arena, &c->out->init) =
                (pl_frame_init){.row = row, .width = 64, .bits = (uint64_t)o->imm};
            return row;
        }
        return immediate_row(c, (uint64_t)o->imm, width);
    }
}

static uint32_t pred_number(lower *c, const pl_operand *o, pl_insn *i, unsigned k)
{
    if (o->kind == PL_O_SINK) return c->scratch_pred;
    if (o->kind != PL_O_REG) return o->imm ? PL_PT : PL_PF;
    if (o->neg) i->neg |= (uint8_t)(1u << k);
    return reg_row(c, o);
}

static void use_label(lower *c, uint32_t pc, uint32_t pool, const pl_label *l)
{
    *pl_push(c->scratch, &c->fixups) = (struct fixup){.pc = pc, .pool = pool, .label = l};
}

/* Adds a byte offset to an address, with wraparound. */
static int64_t add_offset(uint64_t at, int64_t offset)
{
    return (int64_t)(at + (uint64_t)offset);
}

/* Address operand: base row, offset, true if the register is 32 bits wide, and the space for a
 * variable's own address. */
typedef struct mem_address {
    uint32_t row;
    int64_t offset;
    bool narrow;
    pl_space space; /* PL_SP_REG: as specified by the instruction */
} mem_address;

/* Adds an offset that exceeds the offset field, or leaves passes no headroom, to the base. Where
 * there is no base, in shared memory and among parameters, no object is that far away. */
static void fold_large_offset(lower *c, mem_address *p, const pl_operand *o, unsigned which,
                              const pl_insn *like)
{
    const int64_t limit = which == 0 ? INT64_C(1) << 40 : INT32_MAX;
    const pl_var *v = pl_operand_var(o);
    if (p->offset >= -limit && p->offset <= limit) return;
    if (p->space == PL_SP_LOCAL)
        p->row = constant_row(
            c, (constant){.bits = (uint64_t)p->offset, .width = 64, .reloc = PL_RELOC_FRAME});
    else if (v && p->row != UINT32_MAX)
        p->row = address_row(c, v, p->offset, p->narrow ? 32 : 64);
    else if (p->row != UINT32_MAX)
        p->row = sum_row(c, p->row, p->narrow ? W_s32 : W_s64, p->offset, like);
    else if (p->space == PL_SP_REG)
        p->row = immediate_row(c, (uint64_t)p->offset, 64);
    p->offset = p->row != UINT32_MAX ? 0 : p->offset < 0 ? -limit : limit;
}

static mem_address address(lower *c, const pl_operand *o, unsigned which, const pl_insn *like)
{
    mem_address r = {.row = UINT32_MAX, .offset = o->imm, .space = PL_SP_REG};
    const pl_var *v = pl_operand_var(o);
    if (v && is_in_frame(c, v)) {
        r.row = constant_row(c, (constant){.width = 64, .reloc = PL_RELOC_FRAME});
        r.offset = add_offset(v->offset, r.offset);
        r.space = PL_SP_LOCAL;
    } else if (v && v->space == PL_SP_PARAM) {
        r.offset = add_offset(v->offset, r.offset);
        r.space = PL_SP_PARAM;
    } else if (v && v->space == PL_SP_SHARED &&
               which == 0) { /* pl_addresses adds the start of shared memory */
        r.offset = add_offset(shared_offset(c, v), r.offset);
        r.space = PL_SP_SHARED;
    } else if (v && v->space == PL_SP_SHARED) {
        r.row = address_row(c, v, 0, 32);
        r.narrow = true;
    } else if (v) {
        r.row = address_row(c, v, 0, 64);
    } else if (!o->on_var && o->reg) {
        r.row = reg_row(c, o);
        r.narrow = type_width(o->reg->type) == 32;
    }
    fold_large_offset(c, &r, o, which, like);
    return r;
}

/* Fills the sel[] bytes of an instruction with an address (isa/program/insn.h, PL_M_*): the
 * properties that form and modifiers do not specify. */
static void memory_shape(lower *c, pl_insn *i, const pl_stmt *s)
{
    const pl_form *f = &pl_forms[i->form];
    unsigned data = f->operand[0].kind == PL_K_ADDR ? 1 : 0;
    pl_insn_shape(i);
    const pl_operand *o = data < f->noperands ? &s->op[data] : NULL;
    if (o && o->kind == PL_O_VEC && o->n) {
        const pl_operand *e = o->elem;
        for (uint16_t k = 0; k < o->n; k++) e = o->elem[k].kind == PL_O_REG ? &o->elem[k] : e;
        o = e;
    }
    if (o && o->kind == PL_O_REG && type_width(o->reg->type) == 64)
        i->sel[PL_M_FLAGS] |= PL_MF_WIDE;
    if (i->sel[PL_M_SPACE] == PL_SP_PARAM && !c->func->entry) i->sel[PL_M_SPACE] = PL_SP_LOCAL;
}

/* ---- calls ---- */

/* A register is passed in parts: one move for each vector element, two for each 128-bit element. */
static uint32_t part_rows(pl_word type)
{
    return row_count(type) > 2 ? 2 : row_count(type);
}

/* Number of moves for a formal parameter or result. */
static uint32_t part_count(const pl_var *formal)
{
    if (!formal || formal->space != PL_SP_REG) return 1;
    return (formal->vec ? formal->vec : 1u) * row_count(formal->type) / part_rows(formal->type);
}

/* Size of a variable in the frame. An unsized parameter has that of the largest array passed. */
static uint64_t frame_size(const lower *c, const pl_var *v)
{
    return v->unsized ? c->m->open_bytes : v->size;
}

static uint32_t move_bytes(const lower *c, const pl_var *v)
{
    return v->space == PL_SP_REG ? 4 * part_rows(v->type) : (uint32_t)frame_size(c, v);
}

/* One part of an argument or result on the caller's side. */
static pl_call_move caller_side(lower *c, const pl_operand *o, uint32_t part, bool is_result)
{
    pl_call_move m = {0};
    uint32_t at;
    if (o->kind == PL_O_VAR && is_in_frame(c, o->var)) {
        at = (uint32_t)o->var->offset + (uint32_t)o->imm;
        m.bytes = move_bytes(c, o->var);
    } else if (o->kind == PL_O_REG) {
        m.reg = true;
        m.pred = o->reg->type == W_pred;
        m.bytes = 4 * part_rows(o->reg->type);
        at = reg_row(c, o) + part * part_rows(o->reg->type);
    } else if (o->kind == PL_O_IMM &&
               part) { /* ptxas passes the number in the first element, and 0 in the others */
        at = immediate_row(c, 0, 64);
        m.reg = true;
        m.bytes = 8;
    } else {
        at = value_row(c, o, W_b64, NULL, true);
        m.reg = true;
        m.bytes = 8;
    }
    if (is_result)
        m.to = at;
    else
        m.from = at;
    return m;
}

/* The declaration against which a call is checked, or NULL. */
static const pl_func *signature(const pl_stmt *s)
{
    const pl_form *f = &pl_forms[s->what->form];
    for (unsigned k = 0; k < f->noperands; k++) {
        const pl_operand *o = &s->op[k];
        if (o->kind == PL_O_FUNC) return o->func;
        if (o->kind == PL_O_TABLE && o->table->kind == PL_TAB_PROTO) return o->table->proto;
        if (o->kind == PL_O_TABLE && o->table->kind == PL_TAB_CALL && o->table->funcs.n)
            return o->table->funcs.at[0];
    }
    return NULL;
}

/* Adds the moves of all arguments or results on the caller's side; returns their number. */
static uint32_t lower_moves(lower *c, const pl_operand *list, pl_var *const *formal, size_t formals,
                            bool results)
{
    uint32_t first = (uint32_t)c->p->moves.n;
    for (uint16_t e = 0; e < list->n; e++)
        for (uint32_t part = 0; part < part_count(e < formals ? formal[e] : NULL); part++)
            *pl_push(c->p->arena, &c->p->moves) = caller_side(c, &list->elem[e], part, results);
    /* The last argument may be omitted if its parameter is unsized. */
    if (!results && formals && list->n == formals - 1 && formal[formals - 1]->unsized)
        *pl_push(c->p->arena, &c->p->moves) = (pl_call_move){0};
    return (uint32_t)c->p->moves.n - first;
}

static void lower_call(lower *c, pl_insn *i, const pl_stmt *s)
{
    const pl_form *f = &pl_forms[s->what->form];
    uint32_t pc = (uint32_t)(c->p->code.n - 1);
    pl_prog_call call = {.callee = UINT32_MAX};
    const pl_func *callee = signature(s);
    for (unsigned k = 0; k < f->noperands; k++) {
        const pl_operand *o = &s->op[k];
        switch ((pl_okind)f->operand[k].kind) {
        case PL_K_FUNC:
            if (o->kind == PL_O_FUNC)
                call.callee = o->func->index;
            else
                i->op[k] = value_row(c, o, W_b64, i, true);
            break;
        case PL_K_ARGS:
            call.first_arg = (uint32_t)c->p->moves.n;
            call.nargs = lower_moves(c, o, callee ? callee->params.at : NULL,
                                     callee ? callee->params.n : 0, false);
            break;
        case PL_K_RETS:
            call.first_ret = (uint32_t)c->p->moves.n;
            call.nrets = lower_moves(c, o, callee ? callee->rets.at : NULL,
                                     callee ? callee->rets.n : 0, true);
            break;
        default: break;
        }
    }
    c->p->code.at[pc].target = (uint32_t)c->p->calls.n;
    *pl_push(c->p->arena, &c->p->calls) = call;
}

/* ---- one statement ---- */

/* The lowered operands of a statement. */
typedef struct lowered {
    pl_insn t; /* the instruction; a copy, because emit() may reallocate the code array */
    bool memory;
    unsigned addresses; /* seen so far */
    uint32_t pool[256], npool;
    /* a 32-bit result destined for a 64-bit register: row of the result, of the register */
    uint32_t narrow_row, wide_row;
    pl_word type;
} lowered;

static void lower_address(lower *c, lowered *l, unsigned k, const pl_operand *o)
{
    static const uint8_t narrow[] = {PL_MF_ADDR32, PL_MF_ADDR32_2, PL_MF_ADDR32_3};
    mem_address a = address(c, o, l->addresses, &l->t);
    if (l->addresses > 2 && a.offset && a.row != UINT32_MAX) {
        a.row = sum_row(c, a.row, a.narrow ? W_s32 : W_s64, a.offset, &l->t);
        a.offset = 0;
    }
    l->t.op[k] = a.row;
    if (a.narrow) l->t.sel[PL_M_FLAGS] |= narrow[l->addresses < 2 ? l->addresses : 2];
    if (!l->addresses) {
        l->t.imm = a.offset;
        if (a.space != PL_SP_REG) l->t.sel[PL_M_SPACE] = (uint8_t)a.space;
    } else if (l->addresses == 1)
        l->t.target = (uint32_t)(int32_t)a.offset;
    else if (l->addresses == 2)
        l->t.op[PL_INLINE_OPERANDS - 1] = (uint32_t)(int32_t)a.offset;
    l->addresses++;
}

static void lower_labels(lower *c, lowered *l, const pl_operand *o)
{
    for (size_t n = 0; n < o->table->labels.n; n++) {
        use_label(c, UINT32_MAX, (uint32_t)c->p->pool.n, o->table->labels.at[n]);
        *pl_push(c->p->arena, &c->p->pool) = 0;
        l->t.nextra++;
    }
}

static void lower_value(lower *c, lowered *l, unsigned k, const pl_ospec *sp, const pl_operand *o,
                        pl_word type)
{
    if (o->kind == PL_O_VEC) {
        l->t.op[k] = l->npool;
        for (uint16_t e = 0; e < o->n && l->npool < sizeof l->pool / sizeof *l->pool; e++)
            l->pool[l->npool++] = type == W_pred
                                      ? pred_number(c, &o->elem[e], &l->t, k)
                                      : value_row(c, &o->elem[e], type, &l->t, l->memory);
    } else if (type == W_pred)
        l->t.op[k] = pred_number(c, o, &l->t, k);
    else if (o->kind == PL_O_REG && sp->written && !sp->read && !l->memory &&
             type_width(type) == 32 && type_width(o->reg->type) == 64) {
        l->narrow_row = l->t.op[k] = c->rows++;
        l->type = pl_type_kind(type) == 's' ? W_s32 : W_u32;
        l->wide_row = reg_row(c, o);
    } else
        l->t.op[k] = value_row(c, o, type, &l->t, l->memory);
}

static void lower_operand(lower *c, lowered *l, const pl_stmt *s, unsigned k)
{
    const pl_form *f = &pl_forms[s->what->form];
    const pl_ospec *sp = &f->operand[k];
    const pl_operand *o = &s->op[k];
    const pl_word type = sp->kind == PL_K_VALUE || sp->kind == PL_K_VAR
                             ? pl_operand_type(f, k, s->what->mods)
                             : W_b64;
    if (o->kind == PL_O_NONE) return;
    if (o->sel && o->sel < PL_SEL_X && k < sizeof l->t.sel && !l->memory) l->t.sel[k] = o->sel;
    if (o->neg && type != W_pred) /* -%r of vmad */
        l->t.neg |= (uint8_t)(1u << k);
    switch ((pl_okind)sp->kind) {
    case PL_K_IMM:
        l->t.op[k] = (uint32_t)o->imm;
        if (!l->addresses) /* otherwise imm is the address offset */
            l->t.imm = o->imm;
        break;
    case PL_K_ADDR: lower_address(c, l, k, o); break;
    case PL_K_LABEL: use_label(c, (uint32_t)(c->p->code.n), UINT32_MAX, o->label); break;
    case PL_K_LABELS: lower_labels(c, l, o); break;
    case PL_K_VALUE:
    case PL_K_VAR:
    case PL_K_OPAQUE: lower_value(c, l, k, sp, o, type); break;
    default: break;
    }
}

static void lower_operands(lower *c, pl_insn *i, const pl_stmt *s)
{
    const pl_form *f = &pl_forms[s->what->form];
    lowered l = {.t = *i,
                 .memory = (f->effects & (PL_EF_LOAD | PL_EF_STORE | PL_EF_ATOMIC)) != 0,
                 .narrow_row = UINT32_MAX};
    for (unsigned k = 0; k < f->noperands && k < PL_INLINE_OPERANDS; k++)
        lower_operand(c, &l, s, k);
    if (l.npool) {
        l.t.extra_ops = (uint32_t)c->p->pool.n;
        l.t.nextra = (uint16_t)l.npool;
        for (uint32_t k = 0; k < l.npool; k++) *pl_push(c->p->arena, &c->p->pool) = l.pool[k];
    }
    i = emit(c, l.t.form);
    *i = l.t;
    if (l.addresses) memory_shape(c, i, s);
    pl_insn_finish(i);
    if (f->effects & PL_EF_CALL) lower_call(c, i, s);
    if (l.narrow_row != UINT32_MAX) {
        pl_insn like = c->p->code.at[c->p->code.n - 1];
        convert(c, "~wide", l.type, l.wide_row, l.narrow_row, &like);
    }
}

/* Lowers a mov from a register that changes while the warp runs. */
static bool lower_clock(lower *c, const pl_insn *i, const pl_stmt *s)
{
    const pl_form *f = &pl_forms[s->what->form];
    if (f->noperands != 2 || s->op[1].kind != PL_O_SREG || !is_time_varying_sreg(s->op[1].sreg) ||
        s->op[0].kind != PL_O_REG)
        return false;
    read_clock(c, s->op[1].sreg, reg_row(c, &s->op[0]), type_width(s->op[0].reg->type), i->guard,
               i->flags);
    return true;
}

/* Lowers a mov.pred from a special register, whose row holds a constant. */
static bool lower_special_predicate(lower *c, const pl_insn *i, const pl_stmt *s)
{
    const pl_form *f = &pl_forms[s->what->form];
    if (f->noperands != 2 || s->op[1].kind != PL_O_SREG || s->op[0].kind != PL_O_REG ||
        s->op[0].reg->type != W_pred)
        return false;
    uint32_t row = sreg_row(c, &s->op[1], 32);
    pl_insn *n = emit(c, machine_form("~spred"));
    n->guard = i->guard;
    n->flags = i->flags;
    n->op[0] = reg_row(c, &s->op[0]);
    n->op[1] = row;
    pl_insn_finish(n);
    return true;
}

static void lower_stmt(lower *c, const pl_stmt *s);

/* Lowers a store that omits elements of its vector, `{%r1,_,%r3,_ ...}`: one store for each present
 * element. */
static bool lower_sparse_store(lower *c, const pl_stmt *s)
{
    const pl_form *f = &pl_forms[s->what->form];
    const pl_operand *data = f->noperands > 1 ? &s->op[1] : NULL;
    bool sparse = false;
    if (f->mnem != M_st || data->kind != PL_O_VEC) return false;
    for (uint16_t k = 0; k < data->n; k++) sparse |= data->elem[k].kind == PL_O_SINK;
    for (uint16_t k = 0; sparse && k < data->n; k++) {
        pl_operand op[PL_INLINE_OPERANDS];
        pl_choice what = *s->what;
        pl_stmt one = *s;
        if (data->elem[k].kind == PL_O_SINK) continue;
        memcpy(op, s->op, f->noperands * sizeof *op);
        op[0].imm = add_offset(k * (type_width(pl_operand_type(f, 1, what.mods)) / 8), op[0].imm);
        op[1] = data->elem[k];
        what.mods[f->operand[1].vslot] = W_none;
        one.what = &what;
        one.op = op;
        lower_stmt(c, &one);
    }
    return sparse;
}

static void lower_stmt(lower *c, const pl_stmt *s)
{
    if (lower_sparse_store(c, s)) return;
    if (pl_forms[s->what->form].unsupported) {
        c->unsupported = true;
        return;
    }
    const pl_prog_line *last = c->p->lines.n ? &c->p->lines.at[c->p->lines.n - 1] : NULL;
    uint32_t ptx_line = s->line + c->lines_before;
    if (!last || last->ptx_line != ptx_line || last->src_line != c->src_line ||
        last->src_file != c->src_file || last->inlined != c->inlined)
        *pl_push(c->p->arena, &c->p->lines) =
            (pl_prog_line){ptx_line, s->column, c->src_file, c->src_line, c->inlined};
    c->line = (uint32_t)c->p->lines.n - 1;
    pl_insn i = {.form = s->what->form,
                 .guard = PL_PT,
                 .reconv = UINT32_MAX,
                 .line = c->line,
                 .extra_ops = (uint32_t)c->p->pool.n};
    for (int k = 0; k < PL_INLINE_OPERANDS; k++) i.op[k] = UINT32_MAX;
    memcpy(i.mods, s->what->mods, sizeof i.mods);
    if (s->guard) {
        i.guard = c->reg_row[s->guard->id];
        i.flags = s->guard_neg ? PL_IF_GUARD_NEG : 0;
    }
    if (!lower_clock(c, &i, s) && !lower_special_predicate(c, &i, s)) lower_operands(c, &i, s);
}

/* ---- functions ---- */

/* Places arguments and results of the calls that f makes. Those of calls in different { } share
 * memory: a frame is no larger than its largest call requires, which matters for recursive
 * functions. Returns the end. */
static uint64_t layout_call_params(lower *c, const pl_func *f, uint64_t at)
{
    struct {
        uint32_t block, depth;
        uint64_t start;
    } open[16]; /* more deeply nested blocks share nothing */
    size_t n = 0;
    uint64_t end = at;
    for (size_t k = 0; k < f->vars.n; k++) {
        pl_var *v = f->vars.at[k];
        if (v->space != PL_SP_PARAM || !is_in_frame(c, v)) continue;
        while (n && (open[n - 1].depth > v->depth ||
                     (open[n - 1].depth == v->depth && open[n - 1].block != v->block)))
            at = open[--n].start;
        if ((!n || open[n - 1].block != v->block) && n < sizeof open / sizeof *open) {
            open[n].block = v->block;
            open[n].depth = v->depth;
            open[n++].start = at;
        }
        at = pl_align_up(at, v->align);
        v->offset = at;
        at += v->size;
        end = at > end ? at : end;
    }
    return end;
}

static void layout_frame(lower *c, const pl_func *f)
{
    uint64_t at = 0;
    for (size_t k = 0; k < f->vars.n; k++) {
        pl_var *v = f->vars.at[k];
        if (v->space != PL_SP_LOCAL) continue;
        at = pl_align_up(at, v->align);
        v->offset = at;
        at += v->size;
        c->out->local_bytes =
            (uint32_t)pl_align_up(pl_align_up(c->out->local_bytes, v->align) + v->size, 4);
    }
    for (int which = 0; which < 2 && !f->entry; which++)
        for (size_t k = 0; k < (which ? f->rets.n : f->params.n); k++) {
            pl_var *v = which ? f->rets.at[k] : f->params.at[k];
            if (v->space == PL_SP_REG) continue;
            at = pl_align_up(at, v->align);
            v->offset = at;
            at += frame_size(c, v);
        }
    at = layout_call_params(c, f, at);
    c->out->frame_bytes = (uint32_t)at; /* to the byte: accesses beyond it are faults */
}

static void layout_params(lower *c, const pl_func *f)
{
    uint64_t at = 0;
    for (size_t k = 0; k < f->params.n && f->entry; k++) {
        pl_var *v = f->params.at[k];
        at = pl_align_up(at, v->align ? v->align : 1);
        v->offset = at;
        *pl_push(c->p->arena, &c->out->params) = (pl_prog_param){
            v->name, (uint32_t)at, (uint32_t)v->size, v->align, (uint16_t)v->type, v->is_ptr};
        at += v->size;
    }
    c->out->param_bytes = (uint32_t)at;
}

static pl_call_move callee_side(const lower *c, const pl_var *v, uint32_t part, bool result)
{
    pl_call_move m = {.bytes = move_bytes(c, v)};
    uint32_t at = (uint32_t)v->offset;
    if (v->space == PL_SP_REG) {
        at = c->reg_row[v->reg->id] + part * part_rows(v->type);
        m.reg = true;
        m.pred = v->reg->type == W_pred;
    }
    if (result)
        m.from = at;
    else
        m.to = at;
    return m;
}

static bool ends_in_terminator(const lower *c)
{
    if (c->p->code.n == c->out->first) return false;
    const pl_insn *i = &c->p->code.at[c->p->code.n - 1];
    uint32_t e = pl_forms[i->form].effects;
    return i->guard == PL_PT && (e & (PL_EF_EXIT | PL_EF_BRANCH));
}

static void copy_directives(const pl_func *f, pl_prog_func *out)
{
    memcpy(out->maxntid, f->maxntid, sizeof out->maxntid);
    memcpy(out->reqntid, f->reqntid, sizeof out->reqntid);
    memcpy(out->reqnctapercluster, f->reqnctapercluster, sizeof out->reqnctapercluster);
    out->minnctapersm = f->minnctapersm;
    out->maxnreg = f->maxnreg;
    out->maxclusterrank = f->maxclusterrank;
    out->minperctamemory = f->minperctamemory;
    out->explicitcluster = f->explicitcluster;
}

/* Assigns rows and predicates to the registers of the function. */
static void assign_rows(lower *c, const pl_func *f)
{
    enum { SCRATCH_ROWS = 4 };
    c->reg_row = pl_arena_array(c->scratch, uint32_t, f->regs.n + 1);
    for (size_t k = 0; k < f->regs.n; k++) {
        const pl_reg *r = f->regs.at[k];
        uint32_t n = r->vec ? r->vec : 1;
        if (r->type == W_pred) {
            c->reg_row[r->id] = c->preds;
            c->preds += n;
        } else {
            c->reg_row[r->id] = c->rows;
            c->rows += n * row_count(r->type);
        }
    }
    c->scratch_row = c->rows;
    c->rows += SCRATCH_ROWS;
    c->scratch_pred = c->preds++;
}

static void set_source_position(lower *c, const pl_stmt *s)
{
    if (!s->src_line) return; /* the compiler knows none: the line before stays */
    c->src_file = s->src_file;
    c->src_line = s->src_line;
    c->inlined = s->inlined;
}

static void lower_body(lower *c, const pl_func *f)
{
    c->stmt_pc = pl_arena_array(c->scratch, uint32_t, f->body.n + 1);
    for (size_t k = 0; k < f->body.n; k++) {
        const pl_stmt *s = &f->body.at[k];
        const size_t at = c->p->code.n;
        c->stmt_pc[k] = (uint32_t)at;
        if (s->kind == PL_S_LOC) {
            set_source_position(c, s);
        } else if (s->kind == PL_S_PRAGMA) {
            c->nounroll |= strcmp(s->pragma, "nounroll") == 0;
        } else if (s->kind == PL_S_INSN) {
            lower_stmt(c, s);
            if (c->nounroll && at < c->p->code.n) c->p->code.at[at].flags |= PL_IF_NOUNROLL;
            c->nounroll = false;
        }
    }
    c->stmt_pc[f->body.n] = (uint32_t)c->p->code.n;
}

/* Falling off the end of a function returns. */
static void append_return(lower *c, const pl_func *f)
{
    bool label_at_end = false;
    for (size_t k = 0; k < f->labels.n; k++)
        label_at_end |= c->stmt_pc[f->labels.at[k]->stmt] == c->p->code.n;
    if (ends_in_terminator(c) && !label_at_end) return;
    if (!c->p->lines.n)
        *pl_push(c->p->arena, &c->p->lines) =
            (pl_prog_line){.ptx_line = f->at.line + c->lines_before, .ptx_column = f->at.column};
    pl_insn_finish(emit(c, machine_form("ret")));
}

static void resolve_labels(lower *c)
{
    for (size_t k = 0; k < c->fixups.n; k++) {
        const struct fixup *x = &c->fixups.at[k];
        uint32_t pc = c->stmt_pc[x->label->stmt];
        if (x->pc != UINT32_MAX)
            c->p->code.at[x->pc].target = pc;
        else
            c->p->pool.at[x->pool] = pc;
    }
}

static void lower_function(lower *c, const pl_func *f, pl_prog_func *out)
{
    /* Usually a statement yields one instruction, or none. */
    pl_reserve(c->p->arena, &c->p->code, f->body.n + 8);
    for (size_t k = 0; k < c->m->sources; k++)
        if (c->m->source[k].file == f->at.file) c->lines_before = c->m->source[k].lines_before;
    out->first = 0;
    copy_directives(f, out);
    assign_rows(c, f);
    layout_params(c, f);
    layout_frame(c, f);
    lower_body(c, f);
    append_return(c, f);
    resolve_labels(c);
    out->count = (uint32_t)c->p->code.n - out->first;
    for (size_t k = 0; k < f->params.n && !f->entry; k++)
        for (uint32_t part = 0; part < part_count(f->params.at[k]); part++)
            *pl_push(c->p->arena, &out->formal) = callee_side(c, f->params.at[k], part, false);
    for (size_t k = 0; k < f->rets.n; k++)
        for (uint32_t part = 0; part < part_count(f->rets.at[k]); part++)
            *pl_push(c->p->arena, &out->result) = callee_side(c, f->rets.at[k], part, true);
    out->rows = c->rows;
    out->preds = c->preds;
}

bool pl_lower_function(const pl_lower_module *m, const pl_func *f, pl_arena *scratch,
                       pl_program *part, pl_prog_func *out, uint32_t *fixed)
{
    lower c = {
        .m = m, .p = part, .scratch = scratch, .func = f, .out = out, .preds = 2 /* true, false */};
    lower_function(&c, f, out);
    *fixed = c.scratch_row;
    return !c.unsupported;
}
