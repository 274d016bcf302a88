/* if_convert.c - if-conversion: short bodies of branches become predicated instructions, and blocks
 * that follow each other become one.
 *
 * A branch costs ptxas three instructions where lanes may diverge (BSSY, BRA, BSYNC) and some
 * twenty cycles, so it guards a body of a few instructions instead. Only what takes a guard and
 * does not stop the warp may be in such a body, and barriers where its lanes stay together; ptxas
 * does not guard atomic operations either. */
#include <string.h>

#include "compiler/analysis/constant_bank.h"
#include "compiler/passes.h"
#include "compiler/tuning.h"
#include "isa/program/operand_plan.h"
#include "compiler/analysis/divergence.h"
#include "compiler/analysis/insn_cost.h"

/* Instructions of a guarded body of ptxas 13.0 for sm_90 (bodies of one instruction repeated,
 * 2026-11): 8 with the branch that ends it; 20 when it waits for memory and something beside it can
 * be done meanwhile: loads before it are under way too, or up to if_convert.overlap instructions of
 * the block after need not wait (doc/assembler.md). None when nothing can. */

/* Copies to shared memory, which ptxas guards where all lanes do the same, or the block after them
 * loads something. */
static bool is_shared_copy(const pl_insn *i)
{
    return i->latency_class == C_cp_async && pl_insn_effects(i) == (PL_EF_LOAD | PL_EF_ASYNC);
}

/* Barriers of a block without a result: ptxas guards them. A guarded barrier counts the whole warp
 * (H100, tests/data/sync). */
static bool is_plain_barrier(const pl_insn *i)
{
    return i->latency_class == C_barrier &&
           !(pl_forms[i->form].noperands && pl_forms[i->form].operand[0].written);
}

/* Those that it also guards where the lanes of a warp diverge, after a WARPSYNC, which takes no
 * instruction here: not bar.arrive. */
static bool is_warp_barrier(const pl_insn *i)
{
    return is_plain_barrier(i) && !strstr(pl_forms[i->form].syntax, ".arrive");
}

/* Questions to the whole warp, which ptxas guards where its lanes are together and do the same; it
 * never guards a shuffle. */
static bool is_warp_query(const pl_insn *i)
{
    return i->latency_class == C_vote || i->latency_class == C_redux || i->latency_class == C_match;
}

/* Also arrivals at an mbarrier. together: the lanes of a warp do the same there; joined: they do,
 * or part there first; all: they do the same, and no lane is elsewhere. */
static bool can_guard(const pl_insn *i, bool together, bool joined, bool all)
{
    uint32_t e = pl_insn_effects(i);
    if (is_warp_query(i) && i->guard == PL_PT) return all;
    if (i->guard == PL_PT &&
        (is_shared_copy(i) || (is_plain_barrier(i) && together) || (is_warp_barrier(i) && joined) ||
         (i->latency_class == C_mbarrier && e == PL_EF_ATOMIC)))
        return true;
    return i->guard == PL_PT &&
           !(e & (PL_EF_ATOMIC | PL_EF_BRANCH | PL_EF_EXIT | PL_EF_CALL | PL_EF_BARRIER |
                  PL_EF_CONVERGE | PL_EF_ASYNC | PL_EF_FENCE)) &&
           i->latency_class != C_sleep && i->latency_class != C_alloca;
}

static bool is_global_load(const pl_insn *i)
{
    return (pl_insn_effects(i) & PL_EF_LOAD) &&
           (i->sel[PL_M_SPACE] == PL_SP_GLOBAL || i->sel[PL_M_SPACE] == PL_SP_GENERIC);
}

static bool is_near_load(const pl_insn *i)
{
    return is_global_load(i) ||
           ((pl_insn_effects(i) & PL_EF_LOAD) &&
            (i->sel[PL_M_SPACE] == PL_SP_SHARED || i->sel[PL_M_SPACE] == PL_SP_LOCAL));
}

static bool is_plain_store(const pl_insn *i, bool shared)
{
    return (pl_insn_effects(i) & PL_EF_STORE) && (i->sel[PL_M_SPACE] == PL_SP_SHARED) == shared;
}

/* The place of a variable of the kernel in shared memory: ptxas computes it. */
static bool is_shared_base(const pl_ir *x, uint32_t row)
{
    return row < x->f->rows && x->kind.at[row] == PL_REG_PRESET &&
           x->f->init.at[x->init.at[row]].reloc == PL_RELOC_SHARED;
}

typedef struct shared_base_use {
    const pl_ir *x;
    bool any;
} shared_base_use;

static void find_shared_base(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    shared_base_use *p = ctx;
    (void)rows;
    p->any |= !(use & PL_USE_PRED) && is_shared_base(p->x, *row);
}

/* An access to one at a constant. */
static bool has_constant_address(const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    bool direct = false;
    for (unsigned k = 0; (i->flags & PL_IF_MEM) && i->sel[PL_M_SPACE] == PL_SP_SHARED &&
                         k < f->noperands && k < PL_INLINE_OPERANDS;
         k++)
        direct |= f->operand[k].kind == PL_K_ADDR && i->op[k] == UINT32_MAX;
    return direct;
}

/* Does the block need the place of one? */
static bool needs_shared_base(pl_ir *x, uint32_t block)
{
    shared_base_use p = {x, false};
    for (size_t k = 0; k < x->blocks.at[block].code.n && !p.any; k++) {
        pl_insn_reads_here(x->p, &x->blocks.at[block].code.at[k], find_shared_base, &p);
        p.any |= has_constant_address(&x->blocks.at[block].code.at[k]);
    }
    return p.any;
}

/* What a body has to do for such places itself (S2R, MOV, LEA): nothing if they are known before it
 * of it. */
static unsigned shared_base_cost(pl_ir *x, const uint8_t *places_of, uint32_t head, uint32_t body)
{
    enum { INSTRUCTIONS = 3, FAR = 64 };
    if (!places_of[body]) return 0;
    for (unsigned steps = 0; steps < FAR && !places_of[head] && x->blocks.at[head].idom != head;
         steps++)
        head = x->blocks.at[head].idom;
    return places_of[head] ? 0 : INSTRUCTIONS;
}

/* A block that reads a word of the constant bank or a special register. */
typedef struct constant_load {
    uint32_t block, reads;
    uint32_t next; /* another one that reads it in the same way, plus one */
} constant_load;

/* One of these and a way of reading it, where it is asked what would be fetched. */
typedef struct requested_load {
    uint32_t query;
    uint32_t moved; /* reads before what is asked about by what moves there */
} requested_load;

/* What is known of the function. */
typedef struct if_convert {
    pl_ir *x;
    uint32_t *word;    /* by row: number of the word that is fetched there: parameters first, then
                          special registers */
    uint32_t nparams;  /* number of the last parameter */
    uint32_t *special; /* by special register: its word */
    uint32_t
        *first_load; /* by word and way of reading: where it is fetched for all lanes, plus one */
    requested_load *requested_loads; /* the same */
    uint32_t *number; /* by row: number of the last question that has counted it as a constant */
    struct {
        constant_load *at;
        size_t n, cap;
    } loads;
    struct {
        uint32_t *at;
        size_t n, cap;
    } requested;      /* words, with the way of reading, of the question at work */
    const pl_insn *i; /* at work */
    uint32_t block;
    uint8_t *needs_shared_base; /* by block: it needs the place of a variable in shared memory */
    pl_divergence divergence;   /* found only where something asks for it */
    const uint8_t *divergent;   /* by block: some lanes reach it while others are elsewhere; the
                               uniform   datapath does not work there */
    const uint8_t *partial;     /* by block: or have left */
    bool divergence_known;
    bool has_collectives; /* there are copies to shared memory, barriers or questions to the warp */
    uint32_t *row, *pred; /* by row, by predicate: number of the question whose body decides it */
    uint64_t *reads;      /* by row: number of the question, reads by what stands after the body */
    uint32_t query;
    bool hit;
} if_convert;

/* The word, with the way of reading, that the instruction at work reads there; 0: none. */
static uint32_t word_of(const if_convert *a, const uint32_t *row, unsigned use)
{
    if ((use & PL_USE_PRED) || !a->word[*row]) return 0;
    const unsigned way =
        a->x->regs[*row].width != 2 ? PL_CBANK_VIA_THREAD
        : pl_insn_is_copy(a->i)
            ? PL_CBANK_VIA_ADDRESS
            : pl_cbank_read_kind(a->i, row); /* a copy needs no more than an address */
    return a->word[*row] * PL_CBANK_READ_KINDS + way;
}

static void note_load(if_convert *a, uint32_t word)
{
    if (!a->first_load[word] || a->loads.at[a->first_load[word] - 1].block != a->block) {
        *pl_push(a->x->tmp, &a->loads) = (constant_load){a->block, 0, a->first_load[word]};
        a->first_load[word] = (uint32_t)a->loads.n;
    }
    a->loads.at[a->first_load[word] - 1].reads++;
}

static void note_constant_load(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    const uint32_t word = word_of(ctx, row, use);
    (void)rows;
    if (word) note_load(ctx, word);
}

/* A parameter or another word of the bank, into a register of its own: it goes to blocks that need
 * it. */
static bool is_constant_copy(const pl_ir *x, const pl_insn *i)
{
    return pl_insn_reads_cbank_word(x, i) && i->guard == PL_PT &&
           pl_type_bits(pl_insn_type(i)) >= 32 && x->regs[i->op[0]].ndefs == 1;
}

/* The special register that the instruction reads; W_none. */
static pl_word special_of(const pl_ir *x, const pl_insn *i)
{
    return i->guard == PL_PT && pl_insn_is_copy(i) ? pl_ir_special_register(x, i->op[1]) : W_none;
}

/* Numbers what is fetched: for each parameter, and then for each special register. */
static bool number_constant_words(if_convert *a)
{
    const pl_ir *x = a->x;
    uint32_t *numbers = pl_arena_array(x->tmp, uint32_t, W_count), n = 0;
    for (unsigned special = 0; special < 2 && numbers; special++) {
        for (uint32_t j = 0; j < x->nrpo; j++)
            for (size_t k = 0; k < x->blocks.at[x->rpo[j]].code.n; k++) {
                const pl_insn *i = &x->blocks.at[x->rpo[j]].code.at[k];
                const pl_word s = special ? special_of(x, i) : W_none;
                if (special ? !s : !is_constant_copy(x, i)) continue;
                if (!special || !numbers[s]) numbers[s] = ++n;
                for (unsigned r = 0; x->regs[i->op[0]].ndefs == 1 && r < x->regs[i->op[0]].width;
                     r++)
                    a->word[i->op[0] + r] = numbers[s];
            }
        a->nparams = special ? a->nparams : n;
    }
    a->special = numbers;
    a->first_load = pl_arena_array(x->tmp, uint32_t, ((size_t)n + 1) * PL_CBANK_READ_KINDS);
    a->requested_loads =
        pl_arena_array(x->tmp, requested_load, ((size_t)n + 1) * PL_CBANK_READ_KINDS);
    return a->special && a->first_load && a->requested_loads;
}

/* Finds out where words are fetched for all lanes: where they are read, and where one goes into a
 * register that others write too. */
static bool find_constant_loads(if_convert *a)
{
    pl_ir *x = a->x;
    if (!number_constant_words(a)) return false;
    for (uint32_t j = x->nrpo;
         j-- > 0;) { /* the first fetch of a word is the first of its list then */
        a->block = x->rpo[j];
        for (size_t k = 0; k < x->blocks.at[a->block].code.n && pl_ir_ok(x); k++) {
            pl_insn *i = &x->blocks.at[a->block].code.at[k];
            const pl_word special = special_of(x, i);
            a->i = i;
            if (i->guard == PL_PT) pl_insn_reads_here(x->p, i, note_constant_load, a);
            if (special && !a->word[i->op[0]])
                note_load(a, a->special[special] * PL_CBANK_READ_KINDS + PL_CBANK_VIA_THREAD);
        }
    }
    return pl_ir_ok(x);
}

/* Another question: nothing is wanted yet, no number counted. */
static void begin_query(if_convert *a)
{
    a->query++;
    a->requested.n = 0;
}

/* Does the instruction need a number in a register that none before it in this question needs? */
static bool needs_constant(if_convert *a, const pl_insn *i)
{
    const uint32_t number = pl_insn_constant_in_register(a->x, i);
    if (number == PL_IR_NONE || a->number[number] == a->query) return false;
    a->number[number] = a->query;
    return true;
}

/* Something that is asked about reads a word; moved: it stands before that so far. */
static void request_load(if_convert *a, uint32_t word, bool moved)
{
    requested_load *w = &a->requested_loads[word];
    if (w->query != a->query) {
        *w = (requested_load){a->query, 0};
        *pl_push(a->x->tmp, &a->requested) = word;
    }
    w->moved += moved;
}

static void request_parameter(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    if_convert *a = ctx;
    const uint32_t word = word_of(a, row, use);
    (void)rows;
    if (word && a->word[*row] <= a->nparams) request_load(a, word, false);
}

/* Of the words that are wanted, those that no block before this one has fetched, in the same
 * loop, are instructions of it. Of the blocks that fetch a word no more than the first LOOKED_AT
 * are looked at. */
static unsigned count_loads_here(if_convert *a, uint32_t block)
{
    enum { LOOKED_AT = 256 };
    const pl_ir *x = a->x;
    unsigned n = 0;
    for (size_t k = 0; k < a->requested.n; k++) {
        uint32_t reads = 0, seen = 0;
        for (uint32_t f = a->first_load[a->requested.at[k]]; f && seen < LOOKED_AT;
             f = a->loads.at[f - 1].next, seen++) {
            const uint32_t b = a->loads.at[f - 1].block;
            if (x->blocks.at[b].rpo_index >= x->blocks.at[block].rpo_index) break;
            if (x->blocks.at[b].loop == x->blocks.at[block].loop && pl_ir_dominates(x, b, block))
                reads += a->loads.at[f - 1].reads;
        }
        n += reads == a->requested_loads[a->requested.at[k]].moved;
    }
    a->requested.n = 0;
    return n;
}

static bool find_divergence(if_convert *a)
{
    a->divergence_known =
        a->divergence_known ||
        (pl_divergence_find(&a->divergence, a->x) &&
         pl_find_divergent_blocks(a->x, &a->divergence, &a->divergent, &a->partial));
    return a->divergence_known;
}

/* Integer arithmetic with constants, parameters and what is made of them, the same for all lanes:
 * ptxas does it in the uniform datapath. */
static bool is_uniform(if_convert *a, const pl_insn *i, unsigned steps)
{
    enum { STEPS = 4 };
    const pl_ir *x = a->x;
    const pl_form *f = &pl_forms[i->form];
    if (i->guard != PL_PT || steps > STEPS || !pl_insn_is_integer(i, 32) || !f->noperands ||
        !f->operand[0].written || pl_insn_mnem(i) == M_setp || !find_divergence(a) ||
        a->divergence.row[i->op[0]])
        return false;
    for (unsigned k = 1; k < f->noperands; k++) {
        const pl_ir_reg *r = f->operand[k].kind == PL_K_VALUE && i->op[k] < x->nregs_described &&
                                     i->op[k] != i->op[0]
                                 ? &x->regs[i->op[k]]
                                 : NULL;
        if (!r || r->kind != PL_REG_VIRTUAL || r->def_block == PL_IR_NONE ||
            r->def_index >= x->blocks.at[r->def_block].code.n)
            continue;
        const pl_insn *w = &x->blocks.at[r->def_block].code.at[r->def_index];
        if (!(pl_insn_mnem(w) == M_ld && w->sel[PL_M_SPACE] == PL_SP_PARAM) &&
            !is_uniform(a, w, steps + 1))
            return false;
    }
    return true;
}

static void mark_use(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    if_convert *a = ctx;
    for (unsigned k = 0; k < rows; k++) (use & PL_USE_PRED ? a->pred : a->row)[*row + k] = a->query;
}

static void test_marked(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    if_convert *a = ctx;
    for (unsigned k = 0; k < rows; k++)
        a->hit |= (use & PL_USE_PRED ? a->pred : a->row)[*row + k] == a->query;
}

/* Does the instruction need what is marked? Then what it writes is marked too. */
static bool depends_on_marked(if_convert *a, pl_insn *i)
{
    a->hit = false;
    pl_insn_reads_here(a->x->p, i, test_marked, a);
    if (a->hit) pl_insn_writes_here(a->x->p, i, mark_use, a);
    return a->hit;
}

/* Going backwards: does it compute what is marked? Then what it reads is marked too. */
static bool feeds_marked(if_convert *a, pl_insn *i)
{
    a->hit = false;
    pl_insn_writes_here(a->x->p, i, test_marked, a);
    if (a->hit) pl_insn_reads_here(a->x->p, i, mark_use, a);
    return a->hit;
}

/* Is a load from memory of the block before it still under way at its branch? Nothing that it
 * stores or branches by needs it (a store to shared memory may come later), nor does the address of
 * a load of the body. One under a guard may be needed by the branch, and barriers may follow. */
static bool has_load_in_flight(if_convert *a, const pl_ir_block *head, const pl_ir_block *body,
                               bool guarded)
{
    a->query++;
    for (size_t k = body->code.n; k-- > 0;) {
        pl_insn *i = &body->code.at[k];
        if (is_global_load(i))
            pl_insn_reads_here(a->x->p, i, mark_use, a);
        else
            feeds_marked(a, i);
    }
    for (size_t k = head->code.n; k-- > 0;) {
        pl_insn *i = &head->code.at[k];
        const uint32_t e = pl_insn_effects(i);
        if ((e & PL_EF_BARRIER) && !guarded) return false;
        if ((e & (PL_EF_ATOMIC | PL_EF_CONVERGE)) || ((e & PL_EF_BRANCH) && !guarded) ||
            is_plain_store(i, false))
            pl_insn_reads_here(a->x->p, i, mark_use, a);
        else if (!feeds_marked(a, i) && is_global_load(i) && guarded == (i->guard != PL_PT))
            return true;
    }
    return false;
}

/* Does the block before it load something under a guard, and nothing so that the body needs, or
 * shared memory before it? */
static bool has_predicated_load_in_flight(if_convert *a, const pl_ir_block *head,
                                          const pl_ir_block *body)
{
    bool any = false;
    a->query++;
    for (size_t k = 0; k < body->code.n; k++)
        pl_insn_reads_here(a->x->p, &body->code.at[k], mark_use, a);
    for (size_t k = head->code.n; k-- > 0;) {
        pl_insn *i = &head->code.at[k];
        const bool load = is_global_load(i) && i->guard != PL_PT;
        if (feeds_marked(a, i) && load) return false;
        if (is_plain_store(i, true)) pl_insn_reads_here(a->x->p, i, mark_use, a);
        any |= load;
    }
    return any;
}

/* The register that the instruction writes first; PL_IR_NONE. */
static uint32_t result_of(const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    return f->noperands && f->operand[0].written && f->operand[0].kind == PL_K_VALUE ? i->op[0]
                                                                                     : PL_IR_NONE;
}

/* What only the body and the block after it read: ptxas computes it there. */
typedef struct sink_count {
    if_convert *a;
    uint32_t head, body, join;
    unsigned n, depth;
    bool words; /* what is fetched counts too: not for the body, where it has been counted */
} sink_count;

static void sink(void *ctx, uint32_t *row, unsigned rows, unsigned use);

static void sink_reads(sink_count *s, pl_insn *i)
{
    const pl_insn *reader = s->a->i;
    s->a->i = i;
    pl_insn_reads_here(s->a->x->p, i, sink, s);
    s->a->i = reader;
}

/* May ptxas compute it after the branch that ends its block? Loads from shared memory before
 * no store or barrier too. */
static bool is_sinkable(const pl_ir_block *b, const pl_insn *i)
{
    if (pl_insn_pure(i)) return true;
    if (!is_near_load(i) || is_global_load(i) || i < b->code.at || i >= b->code.at + b->code.n)
        return false;
    for (const pl_insn *j = i + 1; j < b->code.at + b->code.n; j++)
        if (pl_insn_effects(j) &
            (PL_EF_STORE | PL_EF_ATOMIC | PL_EF_BARRIER | PL_EF_CONVERGE | PL_EF_FENCE))
            return false;
    return true;
}

/* How often the block writes the register. */
static uint32_t writes_of(const pl_ir_block *b, uint32_t row)
{
    uint32_t n = 0;
    for (size_t k = 0; k < b->code.n; k++) n += result_of(&b->code.at[k]) == row;
    return n;
}

/* One of the instructions before it that compute such a register. */
static void sink_write(sink_count *s, pl_insn *i, bool in_body)
{
    const bool is_shared_copy = pl_insn_is_copy(i),
               number = is_shared_copy && pl_ir_constant_value(s->a->x, i->op[1], &(uint64_t){0});
    s->n += is_shared_copy
                ? number && !in_body
                : pl_insn_cost(s->a->x, i) != 0; /* of the result of the body: enough() */
    s->depth++;
    sink_reads(s, i);
    s->depth--;
}

/* A register that the block before it and the body write: what the former computes is read by the
 * latter, and by what is after both. */
static void sink_kept(sink_count *s, uint32_t row)
{
    pl_ir *x = s->a->x;
    pl_ir_block *head = &x->blocks.at[s->head];
    for (size_t k = head->code.n; k-- > 0;) {
        pl_insn *i = &head->code.at[k];
        if (result_of(i) != row) {
            if (pl_ir_reads(x, i, row)) return;
            continue;
        }
        if (!is_sinkable(head, i)) return;
        sink_write(s, i, true);
        if (i->guard == PL_PT) return;
    }
}

/* A register that the block before it writes several times, or it and the block after: what guards
 * leave of it as it was. */
static void sink_changing(sink_count *s, uint32_t row, uint32_t known)
{
    pl_ir *x = s->a->x;
    pl_ir_block *head = &x->blocks.at[s->head];
    uint32_t self = 0; /* reads by what writes it */
    for (size_t k = 0; k < head->code.n; k++) {
        if (result_of(&head->code.at[k]) != row) continue;
        if (!is_sinkable(head, &head->code.at[k])) return;
        self += pl_ir_reads(x, &head->code.at[k], row);
    }
    if (writes_of(head, row) + writes_of(&x->blocks.at[s->join], row) != x->regs[row].ndefs ||
        x->regs[row].nuses != known + self)
        return;
    for (size_t k = 0; k < head->code.n; k++)
        if (result_of(&head->code.at[k]) == row) sink_write(s, &head->code.at[k], false);
}

static void sink(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    enum { STEPS = 8 };
    sink_count *s = ctx;
    const pl_ir *x = s->a->x;
    const uint32_t word = word_of(s->a, row, use);
    (void)rows;
    if ((use & PL_USE_PRED) || *row >= x->nregs_described) return;
    if (word && s->words &&
        (s->a->word[*row] <= s->a->nparams ||
         x->blocks.at[x->regs[*row].def_block].loop ==
             x->blocks.at[s->join].loop)) /* special registers are not read in loops again */
        request_load(s->a, word, s->depth > 0);
    if (word) return;
    const pl_ir_reg *r = &x->regs[*row];
    uint64_t *known = &s->a->reads[*row];
    *known = *known >> 32 == s->a->query ? *known + 1 : (uint64_t)s->a->query << 32 | 1;
    if (r->kind == PL_REG_VIRTUAL && r->ndefs > 1 && s->depth <= STEPS) {
        if (writes_of(&x->blocks.at[s->body], *row) == 0)
            sink_changing(s, *row, (uint32_t)*known);
        else if ((uint32_t)*known == 1)
            sink_kept(s, *row);
    }
    if (r->kind != PL_REG_VIRTUAL || r->ndefs != 1 || r->nuses != (uint32_t)*known ||
        r->def_block == PL_IR_NONE || r->def_block == s->body ||
        pl_ir_dominates(x, s->join, r->def_block) ||
        x->blocks.at[r->def_block].loop != x->blocks.at[s->join].loop ||
        r->def_index >= x->blocks.at[r->def_block].code.n || s->depth > STEPS)
        return;
    pl_insn *i = &x->blocks.at[r->def_block].code.at[r->def_index];
    if (i->op[0] != *row || i->guard != PL_PT || !is_sinkable(&x->blocks.at[s->head], i)) return;
    s->n += pl_insn_cost(x, i) && i->latency_class != C_mov;
    s->depth++;
    sink_reads(s, i);
    s->depth--;
}

/* What the body reads beside the addresses that it loads from. */
static void sink_body(sink_count *s)
{
    enum { MOST_READ = 64 };
    if_convert *a = s->a;
    pl_ir_block *body = &a->x->blocks.at[s->body];
    bool address[MOST_READ];
    if (body->code.n > MOST_READ) return;
    a->query++;
    for (size_t k = body->code.n; k-- > 0;) {
        pl_insn *i = &body->code.at[k];
        address[k] = is_global_load(i) || feeds_marked(a, i);
        if (is_global_load(i)) pl_insn_reads_here(a->x->p, i, mark_use, a);
    }
    begin_query(a);
    for (size_t k = 0; k < body->code.n; k++)
        if (!address[k]) sink_reads(s, &body->code.at[k]);
}

/* Where the block goes on, if in one place only. */
static uint32_t only_successor(const pl_ir *x, uint32_t b)
{
    const pl_insn *jump = pl_ir_branch(x, b);
    if (!jump) return x->blocks.at[b].fallthrough;
    return jump->guard == PL_PT && pl_forms[jump->form].noperands == 1 ? jump->target : PL_IR_NONE;
}

/* The branch that ends the block under a guard, to one place or on; NULL. */
static pl_insn *conditional_branch(const pl_ir *x, uint32_t b)
{
    pl_insn *branch = pl_ir_branch(x, b);
    return branch && branch->guard > PL_PF && pl_forms[branch->form].noperands == 1 &&
                   x->blocks.at[b].fallthrough != PL_IR_NONE
               ? branch
               : NULL;
}

/* The body of the branch that ends the block, where it may be guarded as well; PL_IR_NONE. */
static uint32_t next_body(const pl_ir *x, uint32_t block)
{
    const pl_insn *branch = conditional_branch(x, block);
    if (!branch) return PL_IR_NONE;
    const uint32_t taken = branch->target, next = x->blocks.at[block].fallthrough,
                   body = only_successor(x, next) == taken ? next : taken;
    const pl_ir_block *b = &x->blocks.at[body];
    unsigned n = 0;
    if (only_successor(x, body) != (body == next ? taken : next) || b->npreds != 1 || b->nlatches)
        return PL_IR_NONE;
    for (size_t k = 0; k < b->code.n && n <= x->p->tuning->if_convert.max_insns_loading; k++)
        if (&b->code.at[k] != pl_ir_branch(x, body))
            n += can_guard(&b->code.at[k], false, false, false)
                     ? pl_insn_cost(x, &b->code.at[k])
                     : x->p->tuning->if_convert.max_insns_loading + 1;
    return n <= x->p->tuning->if_convert.max_insns_loading ? body : PL_IR_NONE;
}

/* While the body waits for memory (far), or is at work: how many instructions of the block after
 * it, and of the body of the branch that ends that one, need not wait too? Those that will belong
 * to that block when all is guarded count. Another load from memory is enough by itself. */
static unsigned count_overlapped(if_convert *a, uint32_t head, uint32_t from, uint32_t to, bool far)
{
    enum { MOST_BLOCKS = 16 };
    pl_ir *x = a->x;
    const pl_ir_block *body = &x->blocks.at[from];
    sink_count s = {
        a,
        head,
        from,
        to,
        a->needs_shared_base[from] ? 0 : shared_base_cost(x, a->needs_shared_base, head, to),
        0,
        false};
    bool held[2] = {
        false,
        false}; /* accesses to other memory, to shared memory keep their order after what waits */
    begin_query(a);
    if (far) sink_body(&s);
    s.words = true;
    for (size_t k = 0; k < body->code.n; k++) {
        held[0] |= is_plain_store(&body->code.at[k], false);
        held[1] |= is_plain_store(&body->code.at[k], true);
        if (is_global_load(&body->code.at[k]) || !far)
            pl_insn_writes_here(x->p, &body->code.at[k], mark_use, a);
        else
            depends_on_marked(a, &body->code.at[k]);
    }
    uint32_t at = to;
    bool beyond = false; /* in the body of the next branch */
    unsigned blocks = 1;
    for (size_t k = 0; s.n < a->x->p->tuning->if_convert.max_overlap;) {
        const pl_ir_block *join = &x->blocks.at[at];
        while (k == join->code.n && !beyond && join->fallthrough != PL_IR_NONE &&
               x->blocks.at[join->fallthrough].npreds == 1 && blocks++ < MOST_BLOCKS) {
            at = join->fallthrough;
            join = &x->blocks.at[at];
            k = 0;
        }
        if (k >= join->code.n) break;
        pl_insn *i = &join->code.at[k++];
        const uint32_t e = pl_insn_effects(i);
        const bool shared = i->sel[PL_M_SPACE] == PL_SP_SHARED, meet = (e & PL_EF_BARRIER) != 0;
        const bool access = (i->flags & PL_IF_MEM) &&
                            (e & (PL_EF_LOAD | PL_EF_STORE | PL_EF_ATOMIC)) &&
                            i->sel[PL_M_SPACE] != PL_SP_PARAM && i->sel[PL_M_SPACE] != PL_SP_CONST;
        bool later = depends_on_marked(a, i);
        if (!later && ((access && held[shared]) || (meet && (held[0] || held[1])))) {
            pl_insn_writes_here(x->p, i, mark_use, a);
            later = true;
        }
        if (e & PL_EF_FENCE) held[0] = held[1] = true;
        if (later) {
            held[shared] |= access && (e & (PL_EF_STORE | PL_EF_ATOMIC));
            held[0] |= meet;
            held[1] |= meet;
        }
        if (far && !later && is_global_load(i)) return a->x->p->tuning->if_convert.max_overlap;
        if (!beyond) sink_reads(&s, i);
        s.n += needs_constant(a, i);
        if (e & PL_EF_BRANCH) {
            const uint32_t next = beyond ? PL_IR_NONE : next_body(x, at);
            s.n += i->guard > PL_PF;
            if (next == PL_IR_NONE) break;
            at = next;
            beyond = true;
            k = 0;
            continue;
        }
        if (!later && !(e & PL_EF_EXIT) && !(is_uniform(a, i, 0) && !a->divergent[to]))
            s.n += pl_insn_reads_cbank_word(x, i) || i->latency_class == C_mov ? 0
                                                                               : pl_insn_cost(x, i);
    }
    return s.n + count_loads_here(a, to);
}

/* How much must there be beside a body that waits? What it computes of what it has loaded is beside
 * the load too, and so is what the block before it puts there for those who skip it, unless that
 * has a register of its own. */
static unsigned required_overlap(if_convert *a, const pl_ir_block *head, const pl_ir_block *body)
{
    const pl_ir *x = a->x;
    uint32_t result = PL_IR_NONE;
    unsigned need = a->x->p->tuning->if_convert.overlap;
    bool computes = false;
    a->query++;
    for (size_t k = 0; k < body->code.n; k++) {
        pl_insn *i = &body->code.at[k];
        if (!is_global_load(i) && !depends_on_marked(a, i)) continue;
        pl_insn_writes_here(x->p, i, mark_use, a);
        computes |= !(pl_insn_effects(i) & (PL_EF_LOAD | PL_EF_STORE)) &&
                    i->latency_class != C_mov && i->latency_class != C_free;
        if (result_of(i) < x->nregs_described && x->regs[result_of(i)].ndefs > 1)
            result = result_of(i);
    }
    need -= computes ? 1u : 0u;
    for (size_t h = head->code.n; result != PL_IR_NONE && h-- > 0;) {
        const pl_insn *i = &head->code.at[h];
        if (result_of(i) != result || !pl_insn_is_copy(i))
            continue; /* what is computed counts as beside the body */
        const bool keeps =
            i->op[1] < x->nregs_described && x->regs[i->op[1]].kind == PL_REG_VIRTUAL;
        const pl_insn *from = keeps ? pl_ir_writer(x, i->op[1]) : NULL;
        return need - (unsigned)(!keeps || (from && pl_insn_mnem(from) == M_ld &&
                                            from->sel[PL_M_SPACE] == PL_SP_PARAM));
    }
    return need - (unsigned)(result == PL_IR_NONE);
}

static bool any_insn(const pl_ir_block *b, bool is(const pl_insn *i))
{
    for (size_t k = 0; k < b->code.n; k++)
        if (is(&b->code.at[k])) return true;
    return false;
}

/* While memory is waited for: does something before the body wait for it too, or the other
 * arm, is there enough to do after it? A body that waits itself needs one of them; one that does
 * not may be as long if there is both before it and after. */
static bool is_latency_hidden(if_convert *a, uint32_t head, uint32_t body, uint32_t join, bool far)
{
    const pl_ir_block *h = &a->x->blocks.at[head], *b = &a->x->blocks.at[body];
    const pl_insn *branch = pl_ir_branch(a->x, head);
    const pl_ir_block *other =
        &a->x->blocks.at[branch->target == body ? h->fallthrough : branch->target];
    if (other != &a->x->blocks.at[join] && any_insn(other, is_global_load)) return true;
    if (!far && ((any_insn(h, is_near_load) && any_insn(&a->x->blocks.at[join], is_global_load)) ||
                 has_predicated_load_in_flight(a, h, b)))
        return true;
    const bool before = has_load_in_flight(a, h, b, false) || has_load_in_flight(a, h, b, true);
    if (before == far) return far;
    unsigned arm = 0; /* half of the other arm is beside it as well */
    for (size_t k = 0; far && other != &a->x->blocks.at[join] && k < other->code.n &&
                       arm <= a->x->p->tuning->if_convert.max_insns_loading;
         k++)
        arm += pl_insn_effects(&other->code.at[k]) & PL_EF_BRANCH
                   ? 1
                   : pl_insn_cost(a->x, &other->code.at[k]);
    return count_overlapped(a, head, body, join, far) +
               (arm <= a->x->p->tuning->if_convert.max_insns_loading ? arm / 2 : 0) >=
           (far ? required_overlap(a, h, b) : a->x->p->tuning->if_convert.overlap + 1);
}

static bool join_loads_more(const pl_ir *x, uint32_t join, unsigned further)
{
    bool any = any_insn(&x->blocks.at[join], is_near_load) ||
               any_insn(&x->blocks.at[join], is_shared_copy);
    for (uint32_t s = 0; further && s < pl_ir_successors(x, join) && !any; s++)
        any = join_loads_more(x, pl_ir_successor(x, join, s), further - 1);
    return any;
}

/* The body is one block with one way in, after `head`, which goes on at `join`. */
static bool is_convertible(const pl_ir *x, if_convert *a, uint32_t head, uint32_t body,
                           uint32_t join)
{
    const pl_ir_block *b = &x->blocks.at[body];
    const pl_insn *last = pl_ir_branch(x, body);
    if (b->npreds != 1 || b->nlatches || body == join || only_successor(x, body) != join)
        return false;
    bool far = false, copying = false,
         together = a->has_collectives && !a->divergence.pred[pl_ir_branch(x, head)->guard];
    unsigned n = (last ? 1 : 0) + shared_base_cost(a->x, a->needs_shared_base, head, body);
    begin_query(a);
    for (size_t k = 0; k < b->code.n - (last ? 1u : 0u); k++) {
        pl_insn *i = &b->code.at[k];
        if (!can_guard(i, together, together || (a->has_collectives && !a->divergent[head]),
                       together && !a->partial[head]))
            return false;
        far |= is_global_load(i) && !is_shared_copy(i);
        copying |= is_shared_copy(i);
        n += pl_insn_cost(x, i);
        a->i = i;
        pl_insn_reads_here(x->p, i, request_parameter, a);
        n += needs_constant(a, i);
    }
    n += count_loads_here(a, body);
    if (copying && !together && !join_loads_more(x, join, 1)) return false;
    if (n > x->p->tuning->if_convert.max_insns_loading) return false;
    return far || (n > x->p->tuning->if_convert.max_insns && !copying)
               ? is_latency_hidden(a, head, body, join, far)
               : true;
}

/* The kernel ends in this block: lanes that skip to it leave at once. */
static bool ends_kernel(const pl_ir *x, uint32_t b)
{
    const pl_ir_block *j = &x->blocks.at[b];
    return j->code.n == 1 && pl_insn_mnem(&j->code.at[0]) == M_ret && x->f->entry;
}

typedef struct writes {
    uint32_t pred;
    bool hit;
} writes;

static void test_pred_write(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    writes *w = ctx;
    (void)rows;
    w->hit |= (use & PL_USE_PRED) && *row == w->pred;
}

static bool preserves_guard(pl_ir *x, uint32_t body, uint32_t pred)
{
    writes w = {pred, false};
    for (size_t k = 0; k < x->blocks.at[body].code.n; k++)
        pl_insn_writes_here(x->p, &x->blocks.at[body].code.at[k], test_pred_write, &w);
    return !w.hit;
}

static void append_predicated(pl_ir *x, uint32_t to, uint32_t body, uint32_t guard, bool negated)
{
    const pl_ir_block from = x->blocks.at[body];
    for (size_t k = 0; k < from.code.n; k++) {
        pl_insn i = from.code.at[k];
        if (pl_insn_effects(&i) & PL_EF_BRANCH) continue;
        i.guard = guard;
        i.flags = (uint16_t)((i.flags & ~PL_IF_GUARD_NEG) | (negated ? PL_IF_GUARD_NEG : 0));
        *pl_push(x->a, &x->blocks.at[to].code) = i;
    }
    x->blocks.at[body].code.n = 0;
}

/* A branch to the end of a kernel is a guarded exit. It reads what the branch read. */
static void predicate_exit(pl_ir *x, uint32_t b)
{
    pl_insn *branch = conditional_branch(x, b);
    if (!x->f->entry || !branch) return;
    const pl_ir_block *end = &x->blocks.at[branch->target];
    if (end->code.n != 1 || pl_insn_mnem(&end->code.at[0]) != M_ret ||
        end->code.at[0].guard != PL_PT)
        return;
    uint32_t guard = branch->guard;
    uint16_t negated = branch->flags & PL_IF_GUARD_NEG;
    pl_insn ret = end->code.at[0];
    ret.line = branch->line;
    ret.guard = guard;
    ret.flags = (uint16_t)((ret.flags & ~PL_IF_GUARD_NEG) | negated);
    *branch = ret;
}

/* A block whose only predecessor is this one, reached in one way only. */
static bool merge_with_successor(pl_ir *x, uint32_t b)
{
    pl_insn *branch = pl_ir_branch(x, b);
    uint32_t next = x->blocks.at[b].fallthrough;
    if (branch && (branch->guard != PL_PT || pl_forms[branch->form].noperands != 1)) return false;
    if (branch) next = branch->target;
    if (next == PL_IR_NONE || next == b || next == 0 || x->blocks.at[next].npreds != 1)
        return false;
    x->uses_valid = false;
    if (branch) x->blocks.at[b].code.n--;
    const pl_ir_block from = x->blocks.at[next];
    for (size_t k = 0; k < from.code.n; k++)
        *pl_push(x->a, &x->blocks.at[b].code) = from.code.at[k];
    x->blocks.at[b].fallthrough = from.fallthrough;
    x->blocks.at[next].code.n = 0;
    x->blocks.at[next].fallthrough = PL_IR_NONE;
    return true;
}

/* if (p) body, if (p) body else other */
static bool convert_arms(pl_ir *x, if_convert *a, uint32_t b)
{
    pl_insn *branch = conditional_branch(x, b);
    if (!branch) return false;
    uint32_t guard = branch->guard, taken = branch->target, next = x->blocks.at[b].fallthrough;
    bool negated = (branch->flags & PL_IF_GUARD_NEG) != 0;
    if (taken == next || taken == b || next == b) return false;
    bool skip = !ends_kernel(x, taken) && is_convertible(x, a, b, next, taken) &&
                preserves_guard(x, next, guard);
    bool only = !ends_kernel(x, next) && is_convertible(x, a, b, taken, next) &&
                preserves_guard(x, taken, guard);
    uint32_t join = PL_IR_NONE;
    if (!skip && !only) {
        join = only_successor(x, next);
        if (join == PL_IR_NONE || join != only_successor(x, taken) ||
            x->blocks.at[taken].npreds != 1 || !is_convertible(x, a, b, next, join) ||
            !preserves_guard(x, next, guard))
            return false;
        if (ends_kernel(x, join) || !is_convertible(x, a, b, taken, join) ||
            !preserves_guard(x, taken, guard)) { /* the other arm keeps a branch, around it */
            pl_insn around = *branch;
            around.target = join;
            around.flags ^= PL_IF_GUARD_NEG;
            x->blocks.at[b].code.n--;
            append_predicated(x, b, next, guard, !negated);
            *pl_push(x->a, &x->blocks.at[b].code) = around;
            x->blocks.at[b].fallthrough = taken;
            return true;
        }
    }
    x->blocks.at[b].code.n--; /* the branch */
    if (skip || join != PL_IR_NONE) append_predicated(x, b, next, guard, !negated);
    if (only || join != PL_IR_NONE) append_predicated(x, b, taken, guard, negated);
    const uint32_t behind = skip ? taken : only ? next : join;
    x->blocks.at[b].fallthrough = behind;
    x->blocks.at[behind].npreds--;
    return true;
}

bool pl_pass_merge_blocks(pl_ir *x)
{
    pl_ir_sweep(x);
    if (!pl_ir_graph(x)) return false;
    for (uint32_t j = 0; j < x->nrpo; j++) /* predecessors stay as they were: a block that was
                                              appended is empty and unreachable */
        while (merge_with_successor(x, x->rpo[j]) && pl_ir_ok(x)) {
        }
    return pl_ir_graph(x) && pl_ir_ok(x);
}

bool pl_pass_if_convert(pl_ir *x)
{
    enum { MAX_ITERATIONS = 32 };
    bool changed = true;
    for (unsigned iteration = 0; iteration < MAX_ITERATIONS && changed; iteration++) {
        changed = false;
        if (!pl_pass_merge_blocks(x) || !pl_ir_count(x)) return false;
        uint8_t *places_of = pl_arena_array(x->tmp, uint8_t, x->blocks.n + 1);
        if (!places_of) return false;
        for (uint32_t j = 0; j < x->nrpo; j++)
            places_of[x->rpo[j]] = needs_shared_base(x, x->rpo[j]);
        bool ask = pl_ir_any(x, is_shared_copy) || pl_ir_any(x, is_plain_barrier) ||
                   pl_ir_any(x, is_warp_query);
        if_convert a = {.x = x,
                        .needs_shared_base = places_of,
                        .has_collectives = ask,
                        .row = pl_arena_array(x->tmp, uint32_t, x->f->rows + 4),
                        .pred = pl_arena_array(x->tmp, uint32_t, x->f->preds + 1),
                        .reads = pl_arena_array(x->tmp, uint64_t, x->f->rows + 4),
                        .word = pl_arena_array(x->tmp, uint32_t, x->f->rows + 4),
                        .number = pl_arena_array(x->tmp, uint32_t, x->f->rows + 4)};
        if (!a.row || !a.pred || !a.reads || !a.word || !a.number || !find_constant_loads(&a) ||
            (ask && !find_divergence(&a)))
            return false;
        for (uint32_t j = x->nrpo;
             j-- > 0;) /* backwards: what a body stands before has grown by what is guarded there */
            changed |= convert_arms(x, &a, x->rpo[j]);
        if (!changed) pl_ir_preserve_all(x);
    }
    for (uint32_t j = 0; j < x->nrpo; j++) predicate_exit(x, x->rpo[j]);
    return pl_pass_merge_blocks(x);
}
