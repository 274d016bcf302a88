/* vectorize_memory.c - load and store vectorization: adjacent memory accesses become one wide
 * access.
 *
 * Two or four words at consecutive offsets from one register are merged if the first address is a
 * multiple of the whole width. ptxas knows the address of the block's shared memory and so its
 * alignment. For pointers it knows the bits that are and-ed away, and the alignment that wider
 * accesses imply. A program that loads eight bytes from p + 32 must have a p that is a multiple of
 * 8. Neither `.align` of a parameter nor that of a variable counts (ptxas -O3 for sm_90a, 2026-11).
 * Loads move up to the first one, stores down to the last one; no instruction in between may access
 * the memory in another way. Constants at a variable index, whose bank addresses ptxas knows too,
 * are read two words at a time (LDC.64), never four (49 kernels with strides of 1 to 16 words,
 * ptxas 13.0, 2026-11). */
#include <string.h>

#include "compiler/analysis/constant_bank.h"
#include "compiler/passes.h"
#include "isa/program/operand_plan.h"

enum {
    MAX_BYTES = 16,
    WINDOW = 256,
    MAX_ALIGN_LOG2 = 31,
    MAX_ITERATIONS = 12,
    MIN_IMPLIED = 3,
    NIMPLIED = 2
}; /* accesses of 8 and 16 bytes imply an alignment */

typedef struct vectorizer {
    pl_ir *x;
    uint32_t block;
    uint8_t *align; /* by row: log2 of a divisor of its value */
    struct {
        uint32_t walk;
        uint8_t log2;
    } * required_align; /* by row: alignment of its current value implied by accesses after the
                           current instruction; valid in this walk */
    uint32_t walk;
    uint32_t *align_witness[NIMPLIED]; /* by row with one definition: the first block whose accesses
                                      imply that it is a multiple of 8, of 16; plus one */
    const pl_insn *i;                  /* the instruction being visited */
    bool vector;                       /* its first operand is a vector */
    bool changed, widen;
} vectorizer;

/* log2 of the alignment of the address register that an access implies, 0: none. */
static unsigned access_alignment(const pl_insn *i, uint32_t *base)
{
    bool load = i->form != PL_IR_DEAD && pl_insn_mnem(i) == M_ld,
         store = i->form != PL_IR_DEAD && pl_insn_mnem(i) == M_st;
    if ((!load && !store) || i->guard != PL_PT || (i->sel[PL_M_FLAGS] & PL_MF_POLL) ||
        i->sel[PL_M_SPACE] == PL_SP_PARAM || i->sel[PL_M_SPACE] == PL_SP_CONST)
        return 0;
    *base = i->op[store ? 0 : 1];
    unsigned log2 = i->sel[PL_M_LOG2] + (unsigned)__builtin_ctz(i->sel[PL_M_COUNT] | 8u);
    return *base == UINT32_MAX || log2 < MIN_IMPLIED
               ? 0
               : (unsigned)__builtin_ctzll((uint64_t)i->imm | 1ull << log2);
}

/* The alignment of a register with one value that accesses in dominating blocks imply. */
static unsigned implied_alignment(const vectorizer *j, uint32_t row)
{
    if (j->x->regs[row].ndefs != 1) return 0;
    for (unsigned k = NIMPLIED; k-- > 0;)
        if (j->align_witness[k][row] &&
            pl_ir_dominates(j->x, j->align_witness[k][row] - 1, j->block))
            return MIN_IMPLIED + k;
    return 0;
}

/* log2 of a known divisor of the row's value. */
static unsigned alignment(const vectorizer *j, uint32_t row)
{
    const pl_ir *x = j->x;
    uint64_t v;
    if (pl_ir_constant_value(x, row, &v)) return v ? (unsigned)__builtin_ctzll(v) : MAX_ALIGN_LOG2;
    const pl_ir_reg *r = &x->regs[row];
    if (r->kind == PL_REG_PRESET) {
        const pl_frame_init *init = &x->f->init.at[r->init];
        const pl_prog_var *var = init->reloc == PL_RELOC_VAR ? &x->p->vars.at[init->symbol] : NULL;
        if (init->reloc == PL_RELOC_SHARED) /* the block's shared memory is aligned to 128 */
            return init->bits ? (unsigned)__builtin_ctzll(init->bits | 128) : 7;
        if (!var || var->space != PL_SP_CONST) return 0;
        v = init->bits + var->address; /* in the constant bank */
        return v ? (unsigned)__builtin_ctzll(v) : MAX_ALIGN_LOG2;
    }
    if (r->kind != PL_REG_VIRTUAL || r->precolored) return 0;
    unsigned alignment_of_result = r->ndefs ? j->align[row] : 0,
             implied = implied_alignment(j, row);
    return alignment_of_result > implied ? alignment_of_result : implied;
}

static unsigned min(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The same for the result of an instruction. */
static unsigned alignment_of_result(const vectorizer *j, const pl_insn *w)
{
    uint64_t v;
    if (pl_type_kind(pl_insn_type(w)) == 'f') return 0;
    switch ((int)pl_insn_mnem(w)) {
    case M_add:
    case M_sub:
    case M_or:
    case M_xor: return min(alignment(j, w->op[1]), alignment(j, w->op[2]));
    case M__iadd3:
    case M__iadd2:
    case M__isub2:
        return min(alignment(j, w->op[1]), min(alignment(j, w->op[2]), alignment(j, w->op[3])));
    case M_and: {
        unsigned a = alignment(j, w->op[1]), b = alignment(j, w->op[2]);
        return a > b ? a : b;
    }
    case M_shl:
        return pl_ir_constant_value(j->x, w->op[2], &v)
                   ? alignment(j, w->op[1]) + (unsigned)(v & 31)
                   : 0;
    case M__lea: return min(alignment(j, w->op[1]) + w->op[2], alignment(j, w->op[3]));
    case M_mul:
    case M_mad: {
        unsigned a = alignment(j, w->op[1]) + alignment(j, w->op[2]);
        return pl_insn_has(w, W_hi)       ? 0
               : pl_insn_mnem(w) == M_mad ? min(a, alignment(j, w->op[3]))
                                          : a;
    }
    case M_cvt:
        return (w->latency_class == C_cvt_int || w->latency_class == C_cvt_int64) &&
                       !pl_insn_has(w, W_sat)
                   ? alignment(j, w->op[1])
                   : 0;
    case M__mov: return alignment(j, w->op[1]);
    case M_mov: return pl_insn_is_copy(w) ? alignment(j, w->op[1]) : 0;
    default: return 0;
    }
}

static void lower_alignment(vectorizer *j, uint32_t *row, unsigned rows, unsigned use)
{
    if (use & PL_USE_PRED) return;
    unsigned a = j->vector || *row != j->i->op[0] || (use & PL_USE_READ)
                     ? 0
                     : min(alignment_of_result(j, j->i), MAX_ALIGN_LOG2);
    for (unsigned k = 0; k < rows; k++) {
        unsigned implied = j->required_align[*row + k].walk == j->walk
                               ? j->required_align[*row + k].log2
                               : 0,
                 alignment_now = implied > a ? implied : a;
        if (alignment_now < j->align[*row + k]) {
            j->align[*row + k] = (uint8_t)(j->widen ? implied : alignment_now);
            j->changed = true;
        }
        j->required_align[*row + k].walk = 0;
    }
}

/* True if a thread may not execute the instructions after it. */
static bool may_leave_block(const pl_insn *i)
{
    return i->form != PL_IR_DEAD && (pl_insn_effects(i) & (PL_EF_EXIT | PL_EF_CALL | PL_EF_BRANCH));
}

/* Finds the blocks whose accesses imply the alignment of a register with one definition. */
static void find_align_witnesses(vectorizer *j)
{
    for (uint32_t n = 0; n < j->x->nrpo; n++) {
        const pl_ir_block *b = &j->x->blocks.at[j->x->rpo[n]];
        for (size_t k = 0; k < b->code.n && !may_leave_block(&b->code.at[k]); k++) {
            uint32_t base = 0;
            unsigned log2 = access_alignment(&b->code.at[k], &base);
            for (unsigned w = MIN_IMPLIED; w <= log2 && w < MIN_IMPLIED + NIMPLIED; w++)
                if (!j->align_witness[w - MIN_IMPLIED][base])
                    j->align_witness[w - MIN_IMPLIED][base] = j->x->rpo[n] + 1;
        }
    }
}

/* A fixed point from the optimistic state: every write lowers the alignment of its register, until
 * nothing changes, so that loops preserve the alignment of their step. An alignment that still
 * falls after MAX_ITERATIONS iterations is taken as unknown. */
static bool find_alignment(vectorizer *j)
{
    pl_ir *x = j->x;
    j->align = pl_arena_array(x->tmp, uint8_t, x->f->rows + 4);
    j->required_align = pl_arena_alloc(x->tmp, (x->f->rows + 4) * sizeof *j->required_align);
    for (unsigned k = 0; k < NIMPLIED; k++)
        j->align_witness[k] = pl_arena_array(x->tmp, uint32_t, x->f->rows + 4);
    if (!pl_arena_ok(x->tmp)) return false;
    find_align_witnesses(j);
    memset(j->align, MAX_ALIGN_LOG2, x->f->rows + 4);
    j->changed = true;
    for (unsigned iteration = 0; j->changed; iteration++) {
        j->changed = false;
        j->widen = iteration > MAX_ITERATIONS;
        for (uint32_t n = 0; n < x->nrpo; n++) {
            j->block = x->rpo[n];
            j->walk++;
            const pl_ir_block *b = &x->blocks.at[j->block];
            for (size_t k = b->code.n; k-- > 0;) { /* backwards, so that a written value is known to
                                                      satisfy the accesses after the write */
                pl_insn *i = &b->code.at[k];
                const pl_form *f = &pl_forms[i->form];
                uint32_t base = 0;
                unsigned log2 = access_alignment(i, &base);
                j->i = i;
                j->vector = f->noperands && pl_operand_count(f, 0, i->mods) != 0;
                PL_FOR_EACH_WRITE(x->p, i, o) lower_alignment(j, o.row, o.rows, o.use);
                if (may_leave_block(i))
                    j->walk++;
                else if (log2 && (j->required_align[base].walk != j->walk ||
                                  log2 > j->required_align[base].log2)) {
                    j->required_align[base].walk = j->walk;
                    j->required_align[base].log2 = (uint8_t)log2;
                }
            }
        }
    }
    return true;
}

/* True for a plain access to a word of shared or global memory, or of constants. */
static bool word_access(const pl_insn *i, bool store)
{
    if (i->form == PL_IR_DEAD || pl_insn_mnem(i) != (store ? M_st : M_ld) ||
        i->sel[PL_M_COUNT] != 1 || (i->sel[PL_M_FLAGS] & PL_MF_POLL) ||
        (i->sel[PL_M_SPACE] != PL_SP_SHARED && i->sel[PL_M_SPACE] != PL_SP_GLOBAL &&
         i->sel[PL_M_SPACE] != PL_SP_GENERIC && i->sel[PL_M_SPACE] != PL_SP_CONST))
        return false;
    unsigned log2 = i->sel[PL_M_LOG2];
    bool wide = (i->sel[PL_M_FLAGS] & PL_MF_WIDE) != 0;
    return (log2 == 2 && !wide) || (log2 == 3 && wide);
}

/* The maximum width of an access to its memory: 8 bytes for LDC. */
static unsigned max_bytes(const pl_insn *i)
{
    return i->sel[PL_M_SPACE] == PL_SP_CONST ? MAX_BYTES / 2 : MAX_BYTES;
}

/* True if two accesses differ only in their addresses and types of words. */
static bool same_kind(const pl_insn *a, const pl_insn *b)
{
    const pl_form *f = &pl_forms[a->form];
    if (a->form != b->form || a->sel[PL_M_SPACE] != b->sel[PL_M_SPACE] ||
        a->sel[PL_M_LOG2] != b->sel[PL_M_LOG2] || (f->noperands > 2 && a->op[2] != b->op[2]))
        return false;
    for (unsigned k = 0; k < f->nslots; k++)
        if (!f->slot[k].type && a->mods[k] != b->mods[k]) return false;
    return true;
}

/* True if the instruction ends the search: it accesses the same memory in another way, or may let
 * other threads access it. */
static bool ends_group(const pl_insn *i, const pl_insn *first, bool store)
{
    uint32_t e = pl_insn_effects(i);
    if (first->sel[PL_M_SPACE] == PL_SP_CONST) /* they are constant during the launch */
        return (e & (PL_EF_BRANCH | PL_EF_EXIT | PL_EF_CALL)) != 0;
    if (e & (PL_EF_BARRIER | PL_EF_BRANCH | PL_EF_EXIT | PL_EF_CALL | PL_EF_ATOMIC | PL_EF_ASYNC |
             PL_EF_FENCE | PL_EF_VOLATILE | PL_EF_CONVERGE))
        return true;
    if (!(e & (PL_EF_LOAD | PL_EF_STORE))) return false;
    unsigned a = i->sel[PL_M_SPACE], b = first->sel[PL_M_SPACE];
    return (a == b || a == PL_SP_GENERIC || b == PL_SP_GENERIC) && (store || (e & PL_EF_STORE)) &&
           !pl_insn_has(first, W_nc);
}

typedef struct row_accesses {
    uint32_t row, rows;
    bool read, written;
} row_accesses;

static void note_access(row_accesses *t, uint32_t *row, unsigned rows, unsigned use)
{
    if ((use & PL_USE_PRED) || !(t->row - *row < rows || *row - t->row < t->rows)) return;
    t->read |= (use & PL_USE_READ) != 0;
    t->written |= (use & PL_USE_WRITE) != 0;
}

static row_accesses accesses_to(vectorizer *j, uint32_t from, uint32_t to, uint32_t row,
                                unsigned rows)
{
    row_accesses t = {row, rows, false, false};
    for (uint32_t k = from; k < to; k++)
        if (j->x->blocks.at[j->block].code.at[k].form != PL_IR_DEAD)
            PL_FOR_EACH_USE(j->x->p, &j->x->blocks.at[j->block].code.at[k], o)
                note_access(&t, o.row, o.rows, o.use);
    return t;
}

/* Turns it into the same instruction on a vector of untyped words. */
static bool widen(pl_insn *i, pl_word vec, pl_word type)
{
    const pl_form *f = &pl_forms[i->form];
    bool done[2] = {false, false};
    for (unsigned k = 0; k < f->nslots; k++)
        for (unsigned w = 0; w < f->slot[k].n; w++)
            if (f->slot[k].word[w] == vec || (f->slot[k].type && f->slot[k].word[w] == type)) {
                i->mods[k] = f->slot[k].word[w];
                done[f->slot[k].type] = true;
            }
    i->latency_class = f->latency_class(i->mods);
    return done[0] && done[1];
}

/* The known alignment of the address register of the access at `at`, including that implied by
 * accesses around it up to its next change. */
static unsigned known_alignment(vectorizer *j, uint32_t at, uint32_t base)
{
    const pl_ir_block *b = &j->x->blocks.at[j->block];
    unsigned best = alignment(j, base);
    for (uint32_t backwards = 0; backwards < 2 && j->x->regs[base].ndefs > 1; backwards++)
        for (uint32_t n = backwards, k = at;
             n < WINDOW && k < b->code.n && !may_leave_block(&b->code.at[k]);
             n++, k = backwards ? k - 1 : k + 1) {
            uint32_t other_base = 0;
            if (backwards && k != at && accesses_to(j, k, k + 1, base, 1).written) break;
            unsigned log2 = access_alignment(&b->code.at[k], &other_base);
            if (other_base == base && log2 > best) best = log2;
            if (!backwards && accesses_to(j, k, k + 1, base, 1).written) break;
        }
    return best;
}

/* A candidate group of accesses to merge. */
typedef struct group {
    uint32_t at, end;   /* positions of the first and the last one */
    uint32_t member[4]; /* by word: position */
    uint32_t base;      /* register of the address */
    unsigned n, bytes;  /* number of words; bytes per word */
    bool store;
} group;

/* True if the access reads or writes a word of the group that starts at `start`. */
static bool is_member(const group *g, const pl_insn *i, const pl_insn *first, int64_t start)
{
    const int64_t offset = i->imm - start;
    return word_access(i, g->store) && same_kind(i, first) && i->op[g->store ? 0 : 1] == g->base &&
           i->guard == first->guard &&
           (i->flags & PL_IF_GUARD_NEG) == (first->flags & PL_IF_GUARD_NEG) && offset >= 0 &&
           offset < g->n * g->bytes && !(offset & (g->bytes - 1));
}

/* Finds the accesses to the words from `start` on. */
static bool find_words(const vectorizer *j, group *g, int64_t start)
{
    const pl_ir_block *b = &j->x->blocks.at[j->block];
    const pl_insn *first = &b->code.at[g->at];
    uint32_t found = 0;
    memset(g->member, 0xff, sizeof g->member);
    for (uint32_t k = g->at; k < b->code.n && k < g->at + WINDOW && found < g->n; k++) {
        const pl_insn *i = &b->code.at[k];
        if (i->form == PL_IR_DEAD) continue;
        const bool one = is_member(g, i, first, start);
        uint32_t *m = one ? &g->member[(i->imm - start) / g->bytes] : NULL;
        if (one && *m == UINT32_MAX) {
            *m = k;
            found++;
            g->end = k;
        } else if (ends_group(i, first, g->store) || (one && g->store))
            break;
    }
    return found == g->n;
}

/* Finds a group that contains the access; the lowest address may be any of its members. */
static bool find_group(vectorizer *j, group *g)
{
    const pl_insn *first = &j->x->blocks.at[j->block].code.at[g->at];
    const unsigned width = g->n * g->bytes;
    for (unsigned shift = 0; shift < g->n; shift++) {
        const int64_t start = first->imm - (int64_t)(shift * g->bytes);
        if (start & (int64_t)(width - 1)) continue;
        if (g->base != UINT32_MAX && (1u << min(known_alignment(j, g->at, g->base), 31)) < width)
            return false;
        if (find_words(j, g, start)) return true;
    }
    return false;
}

/* True if no instruction in between prevents the merge. */
static bool can_merge(vectorizer *j, const group *g)
{
    const pl_ir *x = j->x;
    const pl_ir_block *b = &x->blocks.at[j->block];
    const uint32_t guard = b->code.at[g->at].guard;
    const unsigned data = g->store ? 1 : 0, rows = g->bytes / 4;
    if (g->base != UINT32_MAX && accesses_to(j, g->at, g->end, g->base, 1).written) return false;
    if (guard != PL_PT && x->preds[guard].ndefs != 1) return false;
    for (unsigned k = 0; k < g->n; k++) {
        const uint32_t row = b->code.at[g->member[k]].op[data];
        if (g->store
                ? accesses_to(j, g->member[k], g->end, row, rows).written
                : g->member[k] != g->at && (accesses_to(j, g->at, g->member[k], row, rows).read ||
                                            accesses_to(j, g->at, g->member[k], row, rows).written))
            return false;
        if (!g->store && row == g->base) return false;
    }
    return true;
}

static bool merge_group(vectorizer *j, const group *g)
{
    pl_ir *x = j->x;
    pl_ir_block *b = &x->blocks.at[j->block];
    const unsigned data = g->store ? 1 : 0;
    pl_insn wide = b->code.at[g->at];
    if (!widen(&wide, g->n == 4 ? W_v4 : W_v2, g->bytes == 8 ? W_b64 : W_b32)) return false;
    wide.imm = b->code.at[g->member[0]].imm;
    wide.sel[PL_M_COUNT] = (uint8_t)g->n;
    wide.sel[PL_M_FLAGS] &= (uint8_t)~PL_MF_SIGNED;
    wide.plan = 0;
    wide.extra_ops = (uint32_t)x->p->pool.n;
    wide.nextra = (uint16_t)g->n;
    wide.op[data] = 0;
    for (unsigned k = 0; k < g->n; k++) {
        uint32_t row = b->code.at[g->member[k]].op[data];
        *pl_push(x->p->arena, &x->p->pool) = row;
        pl_ir_remove(x, &b->code.at[g->member[k]]);
    }
    b->code.at[g->store ? g->end : g->at] = wide;
    return pl_arena_ok(x->p->arena);
}

/* Tries to merge `n` accesses, starting with the one at `at`. */
static bool merge(vectorizer *j, uint32_t at, unsigned n, bool store)
{
    const pl_insn *first = &j->x->blocks.at[j->block].code.at[at];
    group g = {.at = at,
               .end = at,
               .base = first->op[store ? 0 : 1],
               .n = n,
               .bytes = 1u << first->sel[PL_M_LOG2],
               .store = store};
    if (first->sel[PL_M_SPACE] == PL_SP_CONST &&
        (g.base == UINT32_MAX ||
         pl_insn_reads_cbank_word(
             j->x, first))) /* at a known address: an operand (compiler/opt/uniform.c) */
        return false;
    return find_group(j, &g) && can_merge(j, &g) && merge_group(j, &g);
}

static bool any_access(const pl_insn *i)
{
    return word_access(i, false) || word_access(i, true);
}

bool pl_pass_vectorize_memory(pl_ir *x)
{
    if (!pl_ir_any(x, any_access)) return true;
    if (!pl_ir_analyze(x)) return false;
    vectorizer j = {.x = x};
    if (!find_alignment(&j)) return false;
    bool any = false;
    for (j.block = 0; j.block < x->blocks.n; j.block++)
        for (uint32_t k = 0; k < x->blocks.at[j.block].code.n; k++)
            for (int store = 0; store < 2; store++)
                for (unsigned n = 4; n >= 2; n /= 2) {
                    const pl_insn *i = &x->blocks.at[j.block].code.at[k];
                    if (word_access(i, store) && (n << i->sel[PL_M_LOG2]) <= max_bytes(i) &&
                        merge(&j, k, n, store)) {
                        any = true;
                        break;
                    }
                }
    if (!any) pl_ir_preserve_all(x);
    pl_ir_sweep(x);
    return pl_ir_ok(x);
}
