/* if_convert.h - if-conversion: declarations shared by its parts. Private to compiler/opt/. */
#ifndef PL_COMPILER_OPT_IF_CONVERT_H
#define PL_COMPILER_OPT_IF_CONVERT_H

#include "compiler/analysis/constant_bank.h"
#include "compiler/passes.h"
#include "compiler/tuning.h"
#include "isa/program/operand_plan.h"
#include "compiler/analysis/divergence.h"
#include "compiler/analysis/insn_cost.h"

/* A block that reads a constant-bank word or a special register. */
typedef struct constant_load {
    uint32_t block, reads;
    uint32_t next; /* next block that reads it in the same way, plus one */
} constant_load;

/* A word with a way of reading it (PL_CBANK_VIA_*), for the current query. */
typedef struct requested_load {
    uint32_t query;
    uint32_t moved; /* reads by instructions that would be sunk to the queried block */
} requested_load;

/* State of the pass for one function. */
typedef struct if_convert {
    pl_ir *x;
    uint32_t *word;    /* by row: number of the word that is loaded into it: parameters first, then
                          special registers */
    uint32_t nparams;  /* number of the last parameter */
    uint32_t *special; /* by special register: its word */
    /* By word and way of reading: first block that loads it in all lanes, as an index in `loads`
     * plus one. */
    uint32_t *first_load;
    requested_load *requested_loads; /* likewise */
    uint32_t *number;                /* by row: the last query that counted it as a constant */
    struct {
        constant_load *at;
        size_t n, cap;
    } loads;
    struct {
        uint32_t *at;
        size_t n, cap;
    } requested;      /* words, with their way of reading, of the current query */
    const pl_insn *i; /* the current instruction */
    uint32_t block;
    uint8_t *needs_shared_base; /* by block: it uses the address of a shared-memory variable */
    pl_divergence divergence;   /* computed on demand */
    const uint8_t *divergent; /* by block: some lanes may execute it while others are elsewhere; the
                                 uniform datapath is unavailable there */
    const uint8_t *partial;   /* by block: or have exited */
    bool divergence_known;
    bool has_collectives; /* there are copies to shared memory, barriers or warp-wide votes,
                             reductions and matches */
    uint32_t *row, *pred; /* by row, by predicate: number of the query that marked it */
    uint64_t *reads; /* by row: query number in the upper half, reads by instructions after the body
                        in the lower half */
    uint32_t query;
    bool hit;
} if_convert;

/* Counts instructions that ptxas sinks past the branch, because only the body and the block after
 * it use them. */
typedef struct sink_count {
    if_convert *a;
    uint32_t head, body, join;
    unsigned n, depth;
    bool words; /* constant loads count too; not for the body, where they have been counted */
} sink_count;

/* if_convert_loads.c */
/* Copies to shared memory. ptxas predicates them if the branch is uniform, or if the block after
 * the body loads memory. */
bool pl_ifc_is_shared_copy(const pl_insn *i);
/* CTA barriers without a result. ptxas predicates them. A predicated barrier counts the whole warp
 * (H100, tests/data/sync). */
bool pl_ifc_is_plain_barrier(const pl_insn *i);
/* Warp-wide votes, reductions and matches. ptxas predicates them where the warp is converged and
 * the branch is uniform; it never predicates a shuffle. */
bool pl_ifc_is_warp_query(const pl_insn *i);
/* True if the instruction can be predicated; also arrivals at an mbarrier. uniform_branch: the
 * branch is uniform within a warp; converged: it is, or the warp is converged before it; all_lanes:
 * it is uniform, and no lane is elsewhere. */
bool pl_ifc_can_guard(const pl_insn *i, bool uniform_branch, bool converged, bool all_lanes);
bool pl_ifc_is_global_load(const pl_insn *i);
/* Loads of global, generic, shared or local memory. */
bool pl_ifc_is_data_load(const pl_insn *i);
bool pl_ifc_is_plain_store(const pl_insn *i, bool shared);
/* True if the block uses the address of a shared-memory variable. */
bool pl_ifc_needs_shared_base(pl_ir *x, uint32_t block);
/* The number of instructions that a body needs to compute such addresses (S2R, MOV, LEA): none if
 * they are computed before it or not needed. */
unsigned pl_ifc_shared_base_cost(pl_ir *x, const uint8_t *uses_shared_base, uint32_t head,
                                 uint32_t body);
/* The word, with its way of reading, that the current instruction reads from the row; 0: none. */
uint32_t pl_ifc_word_of(const if_convert *a, const uint32_t *row, unsigned use);
/* Finds where words are loaded in all lanes: where they are read, and where one is copied to a
 * register with several writes. */
bool pl_ifc_find_constant_loads(if_convert *a);
/* Starts a query, with no words requested and no constants counted. */
void pl_ifc_begin_query(if_convert *a);
/* True if the instruction needs a constant in a register that no earlier instruction of this query
 * needs. */
bool pl_ifc_needs_constant(if_convert *a, const pl_insn *i);
/* Records that a word is read by an instruction of the query; moved: that instruction currently
 * precedes the queried block. */
void pl_ifc_request_load(if_convert *a, uint32_t word, bool moved);
void pl_ifc_request_parameter(if_convert *a, const uint32_t *row, unsigned use);
/* The number of requested words that the block must load itself, because no dominating block in the
 * same loop loads them. At most MAX_EXAMINED blocks that load a word are examined. */
unsigned pl_ifc_count_loads_here(if_convert *a, uint32_t block);
bool pl_ifc_find_divergence(if_convert *a);
/* Uniform integer arithmetic on constants, parameters and results of it, which ptxas places in the
 * uniform datapath. */
bool pl_ifc_is_uniform(if_convert *a, const pl_insn *i, unsigned steps);

/* if_convert_overlap.c */
void pl_ifc_mark_writes(if_convert *a, pl_insn *i);
/* True if the instruction depends on a marked register; its results are then marked too. */
bool pl_ifc_depends_on_marked(if_convert *a, pl_insn *i);
/* True if a global load of the block before the body is still in flight at its branch. That is, no
 * store or branch condition there depends on it (a later store to shared memory may), nor does the
 * address of a load in the body. If `guarded`, the load is predicated, the branch may depend on it,
 * and barriers may follow it. */
bool pl_ifc_has_load_in_flight(if_convert *a, const pl_ir_block *head, const pl_ir_block *body,
                               bool guarded);
/* True if `head` has a predicated global load that neither the body nor a shared-memory store in it
 * depends on. */
bool pl_ifc_has_predicated_load_in_flight(if_convert *a, const pl_ir_block *head,
                                          const pl_ir_block *body);
/* The register of the first result; PL_IR_NONE. */
uint32_t pl_ifc_result_of(const pl_insn *i);
void pl_ifc_sink_reads(sink_count *s, pl_insn *i);
/* Visits what the body reads, except for the addresses of its loads. */
void pl_ifc_sink_body(sink_count *s);
/* The only successor of the block; PL_IR_NONE: several. */
uint32_t pl_ifc_only_successor(const pl_ir *x, uint32_t b);

#endif
