/* if_convert_loads.c - the constant-bank loads of a branch body, and the instructions that may be
 * predicated. */
#include "compiler/opt/if_convert.h"

#include <string.h>

/* The maximum number of instructions of a predicated body in ptxas 13.0 for sm_90 (bodies of one
 * instruction repeated, 2026-11): 8 with the branch that ends it. 20 if it waits for memory and
 * something can overlap: loads before it are in flight too, or up to if_convert.overlap
 * instructions of the block after it do not wait (doc/assembler.md). None if nothing can
 * overlap. */

/* Copies to shared memory. ptxas predicates them if the branch is uniform, or if the block after
 * the body loads memory. */
bool pl_ifc_is_shared_copy(const pl_insn *i)
{
    return i->latency_class == C_cp_async && pl_insn_effects(i) == (PL_EF_LOAD | PL_EF_ASYNC);
}

/* CTA barriers without a result. ptxas predicates them. A predicated barrier counts the whole warp
 * (H100, tests/data/sync). */
bool pl_ifc_is_plain_barrier(const pl_insn *i)
{
    return i->latency_class == C_barrier &&
           !(pl_forms[i->form].noperands && pl_forms[i->form].operand[0].written);
}

/* Barriers that ptxas predicates also where the lanes of a warp diverge, after a WARPSYNC, which
 * takes no instruction here; not bar.arrive. */
static bool is_warp_barrier(const pl_insn *i)
{
    return pl_ifc_is_plain_barrier(i) && !strstr(pl_forms[i->form].syntax, ".arrive");
}

/* Warp-wide votes, reductions and matches. ptxas predicates them where the warp is converged and
 * the branch is uniform; it never predicates a shuffle. */
bool pl_ifc_is_warp_query(const pl_insn *i)
{
    return i->latency_class == C_vote || i->latency_class == C_redux || i->latency_class == C_match;
}

/* True if the instruction can be predicated; also arrivals at an mbarrier. uniform_branch: the
 * branch is uniform within a warp; converged: it is, or the warp is converged before it; all_lanes:
 * it is uniform, and no lane is elsewhere. */
bool pl_ifc_can_guard(const pl_insn *i, bool uniform_branch, bool converged, bool all_lanes)
{
    uint32_t e = pl_insn_effects(i);
    if (pl_ifc_is_warp_query(i) && i->guard == PL_PT) return all_lanes;
    if (i->guard == PL_PT &&
        (pl_ifc_is_shared_copy(i) || (pl_ifc_is_plain_barrier(i) && uniform_branch) ||
         (is_warp_barrier(i) && converged) ||
         (i->latency_class == C_mbarrier && e == PL_EF_ATOMIC)))
        return true;
    return i->guard == PL_PT &&
           !(e & (PL_EF_ATOMIC | PL_EF_BRANCH | PL_EF_EXIT | PL_EF_CALL | PL_EF_BARRIER |
                  PL_EF_CONVERGE | PL_EF_ASYNC | PL_EF_FENCE)) &&
           i->latency_class != C_sleep && i->latency_class != C_alloca;
}

bool pl_ifc_is_global_load(const pl_insn *i)
{
    return pl_insn_loads(i, PL_SPACES_GLOBAL);
}

bool pl_ifc_is_data_load(const pl_insn *i)
{
    return pl_insn_loads(i, PL_SPACES_GLOBAL | PL_SPACES_SHARED_LOCAL);
}

bool pl_ifc_is_plain_store(const pl_insn *i, bool shared)
{
    return (pl_insn_effects(i) & PL_EF_STORE) && (i->sel[PL_M_SPACE] == PL_SP_SHARED) == shared;
}

/* True for the address of a shared-memory variable of the kernel, which ptxas computes. */
static bool is_shared_base(const pl_ir *x, uint32_t row)
{
    return row < x->f->rows && x->kind.at[row] == PL_REG_PRESET &&
           x->f->init.at[x->init.at[row]].reloc == PL_RELOC_SHARED;
}

typedef struct shared_base_use {
    const pl_ir *x;
    bool any;
} shared_base_use;

/* A shared-memory access at a constant address. */
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

/* True if the block uses the address of a shared-memory variable. */
bool pl_ifc_needs_shared_base(pl_ir *x, uint32_t block)
{
    shared_base_use p = {x, false};
    for (size_t k = 0; k < x->blocks.at[block].code.n && !p.any; k++) {
        PL_FOR_EACH_READ(x->p, &x->blocks.at[block].code.at[k], o)
            p.any |= !(o.use & PL_USE_PRED) && is_shared_base(p.x, *o.row);
        p.any |= has_constant_address(&x->blocks.at[block].code.at[k]);
    }
    return p.any;
}

/* The number of instructions that a body needs to compute such addresses (S2R, MOV, LEA): none if
 * they are computed before it or not needed. */
unsigned pl_ifc_shared_base_cost(pl_ir *x, const uint8_t *uses_shared_base, uint32_t head,
                                 uint32_t body)
{
    enum { INSTRUCTIONS = 3, FAR = 64 };
    if (!uses_shared_base[body]) return 0;
    for (unsigned steps = 0;
         steps < FAR && !uses_shared_base[head] && x->blocks.at[head].idom != head; steps++)
        head = x->blocks.at[head].idom;
    return uses_shared_base[head] ? 0 : INSTRUCTIONS;
}

/* The word, with its way of reading, that the current instruction reads from the row; 0: none. */
uint32_t pl_ifc_word_of(const if_convert *a, const uint32_t *row, unsigned use)
{
    if ((use & PL_USE_PRED) || !a->word[*row]) return 0;
    const unsigned read_kind =
        a->x->regs[*row].width != 2 ? PL_CBANK_VIA_THREAD
        : pl_insn_is_copy(a->i)     ? PL_CBANK_VIA_ADDRESS
                                : pl_cbank_read_kind(a->i, row); /* a copy needs only an address */
    return a->word[*row] * PL_CBANK_READ_KINDS + read_kind;
}

static void note_load(if_convert *a, uint32_t word)
{
    if (!a->first_load[word] || a->loads.at[a->first_load[word] - 1].block != a->block) {
        *pl_push(a->x->tmp, &a->loads) = (constant_load){a->block, 0, a->first_load[word]};
        a->first_load[word] = (uint32_t)a->loads.n;
    }
    a->loads.at[a->first_load[word] - 1].reads++;
}

static void note_constant_load(if_convert *a, const uint32_t *row, unsigned use)
{
    const uint32_t word = pl_ifc_word_of(a, row, use);
    if (word) note_load(a, word);
}

/* A copy of a parameter or another constant-bank word to a register with one write; it is placed in
 * the blocks that use it. */
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

/* Numbers the words: parameters first, then special registers. */
static bool number_constant_words(if_convert *a)
{
    const pl_ir *x = a->x;
    uint32_t *word_numbers = pl_arena_array(x->tmp, uint32_t, W_count), n = 0;
    for (unsigned special = 0; special < 2 && word_numbers; special++) {
        for (uint32_t j = 0; j < x->nrpo; j++)
            for (size_t k = 0; k < x->blocks.at[x->rpo[j]].code.n; k++) {
                const pl_insn *i = &x->blocks.at[x->rpo[j]].code.at[k];
                const pl_word s = special ? special_of(x, i) : W_none;
                if (special ? !s : !is_constant_copy(x, i)) continue;
                if (!special || !word_numbers[s]) word_numbers[s] = ++n;
                for (unsigned r = 0; x->regs[i->op[0]].ndefs == 1 && r < x->regs[i->op[0]].width;
                     r++)
                    a->word[i->op[0] + r] = word_numbers[s];
            }
        a->nparams = special ? a->nparams : n;
    }
    a->special = word_numbers;
    a->first_load = pl_arena_array(x->tmp, uint32_t, ((size_t)n + 1) * PL_CBANK_READ_KINDS);
    a->requested_loads =
        pl_arena_array(x->tmp, requested_load, ((size_t)n + 1) * PL_CBANK_READ_KINDS);
    return a->special && a->first_load && a->requested_loads;
}

/* Finds where words are loaded in all lanes: where they are read, and where one is copied to a
 * register with several writes. */
bool pl_ifc_find_constant_loads(if_convert *a)
{
    pl_ir *x = a->x;
    if (!number_constant_words(a)) return false;
    for (uint32_t j = x->nrpo; j-- > 0;) { /* so that the first load of a word heads its list */
        a->block = x->rpo[j];
        for (size_t k = 0; k < x->blocks.at[a->block].code.n && pl_ir_ok(x); k++) {
            pl_insn *i = &x->blocks.at[a->block].code.at[k];
            const pl_word special = special_of(x, i);
            a->i = i;
            if (i->guard == PL_PT)
                PL_FOR_EACH_READ(x->p, i, o) note_constant_load(a, o.row, o.use);
            if (special && !a->word[i->op[0]])
                note_load(a, a->special[special] * PL_CBANK_READ_KINDS + PL_CBANK_VIA_THREAD);
        }
    }
    return pl_ir_ok(x);
}

/* Starts a query, with no words requested and no constants counted. */
void pl_ifc_begin_query(if_convert *a)
{
    a->query++;
    a->requested.n = 0;
}

/* True if the instruction needs a constant in a register that no earlier instruction of this query
 * needs. */
bool pl_ifc_needs_constant(if_convert *a, const pl_insn *i)
{
    const uint32_t number = pl_insn_constant_in_register(a->x, i);
    if (number == PL_IR_NONE || a->number[number] == a->query) return false;
    a->number[number] = a->query;
    return true;
}

/* Records that a word is read by an instruction of the query; moved: that instruction currently
 * precedes the queried block. */
void pl_ifc_request_load(if_convert *a, uint32_t word, bool moved)
{
    requested_load *w = &a->requested_loads[word];
    if (w->query != a->query) {
        *w = (requested_load){a->query, 0};
        *pl_push(a->x->tmp, &a->requested) = word;
    }
    w->moved += moved;
}

void pl_ifc_request_parameter(if_convert *a, const uint32_t *row, unsigned use)
{
    const uint32_t word = pl_ifc_word_of(a, row, use);
    if (word && a->word[*row] <= a->nparams) pl_ifc_request_load(a, word, false);
}

/* The number of requested words that the block must load itself, because no dominating block in the
 * same loop loads them. At most MAX_EXAMINED blocks that load a word are examined. */
unsigned pl_ifc_count_loads_here(if_convert *a, uint32_t block)
{
    enum { MAX_EXAMINED = 256 };
    const pl_ir *x = a->x;
    unsigned n = 0;
    for (size_t k = 0; k < a->requested.n; k++) {
        uint32_t reads = 0, seen = 0;
        for (uint32_t f = a->first_load[a->requested.at[k]]; f && seen < MAX_EXAMINED;
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

bool pl_ifc_find_divergence(if_convert *a)
{
    a->divergence_known =
        a->divergence_known ||
        (pl_divergence_find(&a->divergence, a->x) &&
         pl_find_divergent_blocks(a->x, &a->divergence, &a->divergent, &a->partial));
    return a->divergence_known;
}

/* Uniform integer arithmetic on constants, parameters and results of it, which ptxas places in the
 * uniform datapath. */
bool pl_ifc_is_uniform(if_convert *a, const pl_insn *i, unsigned steps)
{
    enum { MAX_DEPTH = 4 };
    const pl_ir *x = a->x;
    const pl_form *f = &pl_forms[i->form];
    if (i->guard != PL_PT || steps > MAX_DEPTH || !pl_insn_is_integer(i, 32) || !f->noperands ||
        !f->operand[0].written || pl_insn_mnem(i) == M_setp || !pl_ifc_find_divergence(a) ||
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
            !pl_ifc_is_uniform(a, w, steps + 1))
            return false;
    }
    return true;
}
