/* load_elim.c - load elimination and store-to-load forwarding: a load of a value that a register
 * holds becomes a copy.
 *
 * A word of memory that was loaded or stored is known until it may be overwritten. A load of it
 * becomes a copy, which other passes remove. So does ptxas (-O3 for sm_90a, 13.0, sixty kernels
 * made for it, 2026-11), with a simple alias analysis:
 * - the same register plus the same constant is the same address. Any other store to that space, or
 *   through a generic address, may alias; stores to other spaces do not, and nothing aliases .nc
 *   loads;
 * - barriers, fences, calls, asynchronous copies and polling loads clobber all memory. Atomics
 *   clobber their space. Shuffles and votes clobber nothing;
 * - known words propagate only into a block with one predecessor. So no load leaves a loop, and
 *   none is forwarded across a quotient or root with a slow path;
 * - a vector counts as its words, and a load may take part of a known vector. Types do not matter
 *   if the words have the same size; cache operators do. Words shorter than a register are known to
 *   loads of the same type only. */
#include <string.h>

#include "compiler/passes.h"
#include "isa/program/operand_plan.h"

/* Capacity of the table of known words. */
enum { MAX_KNOWN = 128, MAX_WORDS = 8 };

/* A word in memory, and the register that holds it. */
typedef struct known_word {
    uint32_t base; /* register of the address, UINT32_MAX: none */
    uint32_t row;
    int64_t offset;                 /* byte offset from the base */
    uint32_t load_kind;             /* type and cache operators: see kind_of */
    uint8_t space, rows, base_regs; /* registers of the value, of the address */
} known_word;

typedef struct block_state {
    known_word *at;
    uint32_t n;
} block_state;

typedef struct load_elim {
    pl_ir *x;
    known_word known[MAX_KNOWN];
    uint32_t n, oldest;
    /* By row: the last block, plus one, in which a known word refers to it. */
    uint32_t *referenced_in;
    uint32_t block;
    block_state *at_exit; /* by block, for blocks with a successor that has one predecessor */
    uint8_t *npreds;      /* by block: number of predecessors, saturating at two */
    bool any;
} load_elim;

enum { CONSTANT = 1u << 31, PLAIN = 0xff }; /* load_kind: never written; type and size */

/* Accesses of equal kind and address have equal values. The kind comprises length, extension, and
 * cache operators. */
static uint32_t kind_of(const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    const unsigned log2 = i->sel[PL_M_LOG2], wide = i->sel[PL_M_FLAGS] & PL_MF_WIDE;
    const bool whole = (log2 == 2 && !wide) || log2 == 3;
    uint32_t words = 0;
    for (unsigned k = 0; k < f->nslots; k++) {
        const pl_word w = i->mods[k];
        if (!f->slot[k].type && w != W_none && w != W_v2 && w != W_v4 && w != W_v8 &&
            w != W_global && w != W_shared && w != W_local && w != W_const && w != W_nc &&
            w != W_weak)
            words = words * 31 + w;
    }
    const bool constant = pl_insn_has(i, W_nc) || i->sel[PL_M_SPACE] == PL_SP_CONST;
    return (constant ? CONSTANT : 0u) | (words & 0xffffff) << 6 | log2 << 2 | (wide ? 2u : 0u) |
           (!whole && (i->sel[PL_M_FLAGS] & PL_MF_SIGNED) ? 1u : 0u);
}

static bool is_simple_access(const pl_insn *i, uint16_t mnem)
{
    const uint8_t space = i->sel[PL_M_SPACE];
    return i->form != PL_IR_DEAD && pl_insn_mnem(i) == mnem && !(i->sel[PL_M_FLAGS] & PL_MF_POLL) &&
           !(i->flags & PL_IF_CONTROL) && i->guard == PL_PT && i->sel[PL_M_LOG2] <= 3 &&
           i->sel[PL_M_COUNT] <= MAX_WORDS && space != PL_SP_PARAM &&
           (pl_forms[i->form].noperands <= 2 || i->op[2] == UINT32_MAX) &&
           (pl_insn_effects(i) == PL_EF_LOAD || pl_insn_effects(i) == PL_EF_STORE);
}

static void invalidate(load_elim *r, uint32_t k)
{
    r->known[k] = r->known[--r->n];
}

/* Invalidates words of a space; generic stores reach all spaces except constants. */
static void clobber(load_elim *r, unsigned space, bool all)
{
    for (uint32_t k = r->n; k-- > 0;)
        if (!(r->known[k].load_kind & CONSTANT) &&
            (all || space == PL_SP_GENERIC || r->known[k].space == PL_SP_GENERIC ||
             r->known[k].space == space))
            invalidate(r, k);
}

static void note_rows(load_elim *r, const known_word *w)
{
    for (unsigned k = 0; k < w->rows; k++) r->referenced_in[w->row + k] = r->block + 1;
    for (unsigned k = 0; k < w->base_regs; k++) r->referenced_in[w->base + k] = r->block + 1;
}

static void invalidate_rows(load_elim *r, uint32_t *row, unsigned rows, unsigned use)
{
    bool known = false;
    for (unsigned k = 0; k < rows && !(use & PL_USE_PRED); k++)
        known |= r->referenced_in[*row + k] == r->block + 1;
    for (uint32_t k = r->n; known && k-- > 0;) {
        const known_word *w = &r->known[k];
        if ((w->row < *row + rows && *row < w->row + w->rows) ||
            (w->base_regs && w->base < *row + rows && *row < w->base + w->base_regs))
            invalidate(r, k);
    }
}

static const known_word *find_known(const load_elim *r, const known_word *key)
{
    for (uint32_t k = 0; k < r->n; k++)
        if (r->known[k].base == key->base && r->known[k].offset == key->offset &&
            r->known[k].load_kind == key->load_kind && r->known[k].space == key->space)
            return &r->known[k];
    return NULL;
}

static void add_known(load_elim *r, known_word w)
{
    if (w.row == UINT32_MAX ||
        (w.base_regs && w.base < w.row + w.rows && w.row < w.base + w.base_regs) ||
        find_known(r, &w))
        return;
    if (r->n == MAX_KNOWN) {
        r->known[r->oldest] = w;
        r->oldest = (r->oldest + 1) % MAX_KNOWN;
    } else {
        r->known[r->n++] = w;
    }
    note_rows(r, &w);
}

static known_word word_of(const load_elim *r, const pl_insn *i, bool store, unsigned k)
{
    const unsigned log2 = i->sel[PL_M_LOG2];
    known_word w = {.base = i->op[store ? 0 : 1],
                    .offset = i->imm + (int64_t)((uint64_t)k << log2),
                    .load_kind = kind_of(i),
                    .space = i->sel[PL_M_SPACE],
                    .row = pl_ir_data_row(r->x, i, store ? 1 : 0, k),
                    .rows = i->sel[PL_M_FLAGS] & PL_MF_WIDE || log2 == 3 ? 2 : 1};
    w.base_regs = w.base == UINT32_MAX ? 0 : i->sel[PL_M_FLAGS] & PL_MF_ADDR32 ? 1 : 2;
    return w;
}

/* Replaces the load at this position by copies, if all its words are known. */
static bool replace_load(load_elim *r, uint32_t at)
{
    pl_ir *x = r->x;
    const pl_insn load = x->blocks.at[r->block].code.at[at];
    const unsigned n = load.sel[PL_M_COUNT];
    known_word to[MAX_WORDS];
    uint32_t from[MAX_WORDS];
    for (unsigned k = 0; k < n; k++) {
        to[k] = word_of(r, &load, false, k);
        const known_word *known = find_known(r, &to[k]);
        if (!known) return false;
        from[k] = known->row;
    }
    for (unsigned k = 0; k < n; k++) /* the copies execute sequentially */
        for (unsigned l = 0; l < n && to[k].row != UINT32_MAX; l++)
            if (to[k].row < from[l] + to[l].rows && from[l] < to[k].row + to[k].rows) return false;
    pl_ir_remove(x, &x->blocks.at[r->block].code.at[at]);
    for (unsigned k = 0; k < n; k++) {
        if (to[k].row == UINT32_MAX) continue;
        pl_insn *copy = pl_ir_insert_deferred(x, r->block, at);
        if (!copy || !pl_insn_make(copy, M_mov, 2, &(pl_word){to[k].rows == 2 ? W_b64 : W_b32}, 1))
            return true; /* out of memory: reported by pl_ir_ok */
        copy->op[0] = to[k].row;
        copy->op[1] = from[k];
        copy->line = load.line;
        invalidate_rows(r, &to[k].row, to[k].rows, PL_USE_WRITE);
    }
    r->any = true;
    return true;
}

static void visit_insn(load_elim *r, uint32_t at)
{
    pl_insn *i = &r->x->blocks.at[r->block].code.at[at];
    if (i->form == PL_IR_DEAD) return;
    const uint32_t e = pl_insn_effects(i);
    const bool load = is_simple_access(i, M_ld), store = is_simple_access(i, M_st);
    if (load && replace_load(r, at)) return;
    PL_FOR_EACH_WRITE(r->x->p, i, o) invalidate_rows(r, o.row, o.rows, o.use);
    const bool poll = (i->flags & PL_IF_MEM) && (i->sel[PL_M_FLAGS] & PL_MF_POLL);
    if (pl_insn_has_slow_path(i))
        r->n = 0;
    else if (i->latency_class == C_warp_sync ||
             (e & (PL_EF_BARRIER | PL_EF_FENCE | PL_EF_ASYNC | PL_EF_CALL)))
        clobber(r, 0, true);
    else if ((e & (PL_EF_STORE | PL_EF_ATOMIC)) || poll)
        clobber(r, i->sel[PL_M_SPACE], !(i->flags & PL_IF_MEM));
    if (load)
        for (unsigned k = 0; k < i->sel[PL_M_COUNT]; k++) add_known(r, word_of(r, i, false, k));
    const unsigned log2 = i->sel[PL_M_LOG2], wide = i->sel[PL_M_FLAGS] & PL_MF_WIDE;
    if (store && ((log2 == 2 && !wide) || log2 == 3))
        for (unsigned k = 0; k < i->sel[PL_M_COUNT]; k++) add_known(r, word_of(r, i, true, k));
}

/* Initialises the known words at the start of a block with those at the end of its only
 * predecessor. */
static void begin_block(load_elim *r, const uint32_t *predecessor)
{
    r->n = r->oldest = 0;
    const uint32_t p = predecessor[r->block];
    if (r->npreds[r->block] != 1 || p == PL_IR_NONE) return;
    r->n = r->at_exit[p].n;
    if (r->n) memcpy(r->known, r->at_exit[p].at, r->n * sizeof *r->known);
    for (uint32_t k = 0; k < r->n; k++) note_rows(r, &r->known[k]);
}

static bool is_load(const pl_insn *i)
{
    return is_simple_access(i, M_ld);
}

bool pl_pass_load_elim(pl_ir *x)
{
    if (!pl_ir_any(x, is_load)) return true;
    if (!pl_ir_graph(x) || !pl_ir_analyze(x)) return false;
    const size_t blocks = x->blocks.n;
    load_elim *r = pl_arena_new(x->tmp, load_elim);
    uint32_t *predecessor = pl_arena_array(x->tmp, uint32_t, blocks);
    if (!r || !predecessor) return false;
    r->x = x;
    r->referenced_in = pl_arena_array(x->tmp, uint32_t, x->f->rows + 4);
    r->at_exit = pl_arena_array(x->tmp, block_state, blocks);
    r->npreds = pl_arena_array(x->tmp, uint8_t, blocks);
    if (!pl_arena_ok(x->tmp)) return false;
    memset(predecessor, 0xff, blocks * sizeof *predecessor);
    if (x->nrpo) r->npreds[x->rpo[0]] = 1; /* the function entry is a predecessor too */
    for (uint32_t n = 0; n < x->nrpo; n++)
        for (uint32_t k = 0; k < pl_ir_successors(x, x->rpo[n]); k++) {
            const uint32_t to = pl_ir_successor(x, x->rpo[n], k);
            r->npreds[to] = r->npreds[to] ? 2 : 1;
            predecessor[to] = x->rpo[n];
        }
    for (uint32_t n = 0; n < x->nrpo; n++) {
        r->block = x->rpo[n];
        begin_block(r, predecessor);
        for (uint32_t k = 0; k < x->blocks.at[r->block].code.n; k++) visit_insn(r, k);
        bool keep_state = false;
        for (uint32_t k = 0; k < pl_ir_successors(x, r->block); k++)
            keep_state |= r->npreds[pl_ir_successor(x, r->block, k)] == 1;
        if (!keep_state || !r->n) continue;
        r->at_exit[r->block] = (block_state){pl_arena_array(x->tmp, known_word, r->n), r->n};
        if (!r->at_exit[r->block].at) return false;
        memcpy(r->at_exit[r->block].at, r->known, r->n * sizeof *r->known);
    }
    return pl_ir_finish_inserts(x, r->any);
}
