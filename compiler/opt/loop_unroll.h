/* loop_unroll.h - loop unrolling: declarations shared by its parts. Private to compiler/opt/. */
#ifndef PL_COMPILER_OPT_LOOP_UNROLL_H
#define PL_COMPILER_OPT_LOOP_UNROLL_H

#include "compiler/passes.h"
#include "compiler/tuning.h"
#include "isa/program/operand_plan.h"
#include "compiler/analysis/divergence.h"

/* Unroll factor for an unknown trip count; the maximum of known trip counts. */
enum { FACTOR = 4, MAX_TRIP_COUNT = 4096 };

typedef struct counted_loop {
    uint32_t block, exit;      /* header; block after the loop */
    uint32_t latch;            /* latch, with the comparison and the branch; it may be the header */
    uint32_t *member, members; /* its blocks in reverse postorder, from `block` on */
    uint32_t test;             /* position of the comparison */
    uint32_t counter, bound;   /* rows */
    uint32_t counter_copy; /* position in `latch` of the copy v = w, where w = v + step is the next
                              value of the counter v; PL_IR_NONE */
    uint32_t next_counter; /* w, PL_IR_NONE */
    uint32_t start;        /* the row of the counter's initial value, PL_IR_NONE */
    uint64_t step;         /* added in each iteration, as wide as the counter */
    unsigned bits;
    bool is_signed;
    pl_word cmp;                           /* lt le gt ge ne, with the counter as left operand */
    uint32_t n;                            /* number of instructions of the body */
    uint32_t cost;                         /* their cost */
    uint32_t savings;                      /* part of the cost that is known given the counter */
    uint32_t shared_loads;                 /* loads from shared memory */
    bool has_global_loads;                 /* it loads from other memory */
    bool convergent;                       /* it contains warp- or block-collective operations */
    uint32_t joined_test, other_condition; /* position in `latch` where the comparison is combined
                                              with another condition, and that; PL_IR_NONE */
    bool has_other_exits;                  /* it has exits other than the latch */
    /* It has branches; divergent branches; barriers. */
    bool branches, divergent, has_barrier;
} counted_loop;

typedef struct unroll_copy {
    pl_ir *x;
    uint32_t *row_to, *pred_to; /* names in the current copy */
    uint32_t *block_to;         /* blocks of the current copy */
    uint32_t from;              /* block being copied */
    uint8_t *steps; /* by row: it is the counter, or changes only by a constant increment */
    /* Registers that an iteration may read without having written them keep their names. */
    uint8_t *not_renamed, *pred_not_renamed;
    const counted_loop *c;
    bool is_last_copy; /* the copy that writes the original names */
    bool guarded;
    uint32_t at;
} unroll_copy;

typedef struct writes {
    uint32_t row;
    unsigned n;
} writes;

typedef struct iteration_constants {
    pl_ir *x;
    struct {
        uint32_t *at;
        size_t n;
    } row, pred; /* the loop, plus one, in which it is known */
    uint32_t loop;
    bool all, changed;         /* results of walks over operands */
    pl_divergence divergence;  /* divergence, once computed */
    uint32_t npreds_described; /* number of predicates that it covers */
} iteration_constants;

/* loop_info.c */
/* True if the loop has exits other than its latch. */
bool pl_unroll_has_several_exits(const counted_loop *c);
uint64_t pl_unroll_truncate(uint64_t v, unsigned bits);
int64_t pl_unroll_sign_extend(uint64_t v, unsigned bits);
void pl_unroll_count_writes(writes *w, const uint32_t *row, unsigned rows, unsigned use);
unsigned pl_unroll_writes_in(pl_ir *x, const counted_loop *c, uint32_t row);
/* w = v + constant, unpredicated */
bool pl_unroll_adds_number(const pl_ir *x, const pl_insn *i, uint64_t *step);
/* v = v + constant */
bool pl_unroll_is_increment(const pl_ir *x, const pl_insn *i, uint64_t *step);
/* True if this is the only instruction in the loop that changes the row, by a constant in each
 * iteration. */
bool pl_unroll_is_only_increment(pl_ir *x, const counted_loop *c, uint32_t block, const pl_insn *i,
                                 uint64_t *step);
bool pl_unroll_analyze_loop(pl_ir *x, uint32_t block, counted_loop *c);

/* unroll_cost.c */
/* False for instructions that a body must not contain: those that leave it, and those that ptxas
 * does not copy, such as ones implemented by a subroutine. */
bool pl_unroll_copyable(const pl_insn *i);
/* True for the sign extension of an integer that only a later sum of the block reads. */
bool pl_unroll_is_folded_extension(const pl_ir *x, const pl_ir_block *b, size_t k);
/* True if it loads 16 bits that become a word. The register is 32 bits wide if later instructions
 * of the block read it as such. */
bool pl_unroll_loads_as_word(const pl_ir_block *b, size_t k);
/* The cost that an instruction adds to its body. */
uint32_t pl_unroll_cost_of(const pl_ir *x, counted_loop *c, pl_insn *i);
/* The maximum cost of a body that is unrolled with an unknown trip count. */
uint32_t pl_unroll_max_cost(const pl_ir *x, const counted_loop *c);

/* loop_constants.c */
bool pl_unroll_iteration_constants_init(iteration_constants *k, pl_ir *x, uint32_t loop);
/* The last instruction of the block that writes the row, NULL: none. */
const pl_insn *pl_unroll_last_write(const pl_ir *x, uint32_t block, uint32_t row);
/* The row of the constant that the row holds on loop entry, if that is known. All reaching writes
 * must copy the same constant (several loops may share a counter register). COMPUTED: the only
 * reaching write computes a constant. PL_IR_NONE: unknown. */
uint32_t pl_unroll_initial_value(pl_ir *x, uint32_t header, uint32_t row);
/* Computes the cost of the body, and the part of it that is saved if the trip count is known. */
void pl_unroll_compute_cost(pl_ir *x, counted_loop *c, iteration_constants *known);
/* Trip count of a loop whose counter starts and ends with constants; 0: unknown, or too large. */
unsigned pl_unroll_trip_count(pl_ir *x, counted_loop *c);

/* loop_copy.c */
void pl_unroll_find_unrenamed(unroll_copy *u);
/* Appends n copies of the body to block `to`. Returns the block where they end; PL_IR_NONE: out of
 * memory. */
uint32_t pl_unroll_copies(unroll_copy *u, uint32_t to, unsigned n);
/* Discards the original loop; its first block is reused for the replacement. */
void pl_unroll_discard_original(pl_ir *x, const counted_loop *c);

#endif
