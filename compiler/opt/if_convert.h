/* if_convert.h - if-conversion: what its parts share. Private to compiler/opt/. */
#ifndef PL_COMPILER_OPT_IF_CONVERT_H
#define PL_COMPILER_OPT_IF_CONVERT_H

#include "compiler/analysis/constant_bank.h"
#include "compiler/passes.h"
#include "compiler/tuning.h"
#include "isa/program/operand_plan.h"
#include "compiler/analysis/divergence.h"
#include "compiler/analysis/insn_cost.h"

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
    /* By word and way of reading: where it is fetched for all lanes, plus one. */
    uint32_t *first_load;
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

/* What only the body and the block after it read: ptxas computes it there. */
typedef struct sink_count {
    if_convert *a;
    uint32_t head, body, join;
    unsigned n, depth;
    bool words; /* what is fetched counts too: not for the body, where it has been counted */
} sink_count;

/* if_convert_loads.c */
/* Copies to shared memory, which ptxas guards where all lanes do the same, or the block after them
 * loads something. */
bool pl_ifc_is_shared_copy(const pl_insn *i);
/* Barriers of a block without a result: ptxas guards them. A guarded barrier counts the whole warp
 * (H100, tests/data/sync). */
bool pl_ifc_is_plain_barrier(const pl_insn *i);
/* Questions to the whole warp, which ptxas guards where its lanes are together and do the same; it
 * never guards a shuffle. */
bool pl_ifc_is_warp_query(const pl_insn *i);
/* Also arrivals at an mbarrier. together: the lanes of a warp do the same there; joined: they do,
 * or part there first; all: they do the same, and no lane is elsewhere. */
bool pl_ifc_can_guard(const pl_insn *i, bool together, bool joined, bool all);
bool pl_ifc_is_global_load(const pl_insn *i);
bool pl_ifc_is_near_load(const pl_insn *i);
bool pl_ifc_is_plain_store(const pl_insn *i, bool shared);
/* True if the block needs the address of one. */
bool pl_ifc_needs_shared_base(pl_ir *x, uint32_t block);
/* What a body has to do for such places itself (S2R, MOV, LEA): nothing if they are known before it
 * of it. */
unsigned pl_ifc_shared_base_cost(pl_ir *x, const uint8_t *places_of, uint32_t head, uint32_t body);
/* The word, with the way of reading, that the instruction at work reads there; 0: none. */
uint32_t pl_ifc_word_of(const if_convert *a, const uint32_t *row, unsigned use);
/* Finds out where words are fetched for all lanes: where they are read, and where one goes into a
 * register that others write too. */
bool pl_ifc_find_constant_loads(if_convert *a);
/* Another question: nothing is wanted yet, no number counted. */
void pl_ifc_begin_query(if_convert *a);
/* True if the instruction needs a constant in a register that none before it in this query needs.
 */
bool pl_ifc_needs_constant(if_convert *a, const pl_insn *i);
/* Something that is asked about reads a word; moved: it stands before that so far. */
void pl_ifc_request_load(if_convert *a, uint32_t word, bool moved);
void pl_ifc_request_parameter(void *ctx, uint32_t *row, unsigned rows, unsigned use);
/* Of the words that are wanted, those that no block before this one has fetched, in the same
 * loop, are instructions of it. Of the blocks that fetch a word no more than the first LOOKED_AT
 * are looked at. */
unsigned pl_ifc_count_loads_here(if_convert *a, uint32_t block);
bool pl_ifc_find_divergence(if_convert *a);
/* Integer arithmetic with constants, parameters and what is made of them, the same for all lanes:
 * ptxas does it in the uniform datapath. */
bool pl_ifc_is_uniform(if_convert *a, const pl_insn *i, unsigned steps);

/* if_convert_overlap.c */
void pl_ifc_mark_use(void *ctx, uint32_t *row, unsigned rows, unsigned use);
/* Does the instruction need what is marked? Then what it writes is marked too. */
bool pl_ifc_depends_on_marked(if_convert *a, pl_insn *i);
/* Is a load from memory of the block before it still under way at its branch? Nothing that it
 * stores or branches by needs it (a store to shared memory may come later), nor does the address of
 * a load of the body. One under a guard may be needed by the branch, and barriers may follow. */
bool pl_ifc_has_load_in_flight(if_convert *a, const pl_ir_block *head, const pl_ir_block *body,
                               bool guarded);
/* True if `head` has a predicated global load that neither the body nor a shared store before it
 * depends on. */
bool pl_ifc_has_predicated_load_in_flight(if_convert *a, const pl_ir_block *head,
                                          const pl_ir_block *body);
/* The register that the instruction writes first; PL_IR_NONE. */
uint32_t pl_ifc_result_of(const pl_insn *i);
void pl_ifc_sink_reads(sink_count *s, pl_insn *i);
/* What the body reads besides the addresses of its loads. */
void pl_ifc_sink_body(sink_count *s);
/* Where the block goes on, if in one place only. */
uint32_t pl_ifc_only_successor(const pl_ir *x, uint32_t b);

#endif
