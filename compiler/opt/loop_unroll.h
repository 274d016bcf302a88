/* loop_unroll.h - loop unrolling: what its parts share. Private to compiler/opt/. */
#ifndef PL_COMPILER_OPT_LOOP_UNROLL_H
#define PL_COMPILER_OPT_LOOP_UNROLL_H

#include "compiler/passes.h"
#include "compiler/tuning.h"
#include "isa/program/operand_plan.h"
#include "compiler/analysis/divergence.h"

/* Copies of a body whose trip count is not known; bound on known ones. */
enum { FACTOR = 4, MAX_TRIP_COUNT = 4096 };

typedef struct counted_loop {
    uint32_t block, exit; /* where an iteration begins, where the loop ends */
    uint32_t latch; /* where an iteration ends, with the compare and the branch: the same block, or
                       another */
    uint32_t *member, members; /* its blocks in reverse postorder, from `block` on */
    uint32_t test;             /* position of the compare */
    uint32_t counter, bound;   /* rows */
    uint32_t counter_copy;     /* position in `latch` of v = w, where the counter v becomes w = v +
                          number so;     PL_IR_NONE */
    uint32_t next_counter;     /* w, PL_IR_NONE */
    uint32_t start;            /* the row of the number that the counter begins with, PL_IR_NONE */
    uint64_t step;             /* added each iteration, as wide as the counter */
    unsigned bits;
    bool is_signed;
    pl_word cmp;                           /* lt le gt ge ne, counter on the left */
    uint32_t n;                            /* instructions of the body */
    uint32_t cost;                         /* what they come to */
    uint32_t savings;                      /* as much of it would be known if the counter were */
    uint32_t shared_loads;                 /* loads from shared memory */
    bool has_global_loads;                 /* it loads from elsewhere */
    bool convergent;                       /* the lanes of a warp or block do something together */
    uint32_t joined_test, other_condition; /* position in `latch` where the compare is joined with
                            what else must hold, and that; PL_IR_NONE */
    bool has_other_exits;                  /* there are other ways out */
    /* There is a branch; that some lanes may take; a barrier. */
    bool branches, divergent, has_barrier;
} counted_loop;

typedef struct unroll_copy {
    pl_ir *x;
    uint32_t *row_to, *pred_to; /* names in the copy being made */
    uint32_t *block_to;         /* blocks of the copy being made */
    uint32_t from;              /* block that is being copied */
    uint8_t *steps;             /* by row: counter or another row that only grows by a constant */
    /* What may be read in an iteration that has not written it keeps its name. */
    uint8_t *keep, *keep_pred;
    const counted_loop *c;
    bool is_last_copy; /* copy that writes the original names */
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
    bool all, changed;         /* answers */
    pl_divergence divergence;  /* what is divergent, once it has been computed */
    uint32_t npreds_described; /* predicates of which it tells */
} iteration_constants;

/* loop_info.c */
/* True if the loop has other exits than its end. */
bool pl_unroll_has_several_exits(const counted_loop *c);
uint64_t pl_unroll_truncate(uint64_t v, unsigned bits);
int64_t pl_unroll_sign_extend(uint64_t v, unsigned bits);
void pl_unroll_count_writes(void *ctx, uint32_t *row, unsigned rows, unsigned use);
unsigned pl_unroll_writes_in(pl_ir *x, const counted_loop *c, uint32_t row);
/* w = v + number, unguarded */
bool pl_unroll_adds_number(const pl_ir *x, const pl_insn *i, uint64_t *step);
/* v = v + number */
bool pl_unroll_is_increment(const pl_ir *x, const pl_insn *i, uint64_t *step);
/* True if only this instruction changes the row, by a constant in each iteration. */
bool pl_unroll_is_only_increment(pl_ir *x, const counted_loop *c, uint32_t block, const pl_insn *i,
                                 uint64_t *step);
bool pl_unroll_analyze_loop(pl_ir *x, uint32_t block, counted_loop *c);

/* unroll_cost.c */
/* What a body may not hold: what leaves it, and what ptxas does not copy: what is done by a
 * subroutine, for one. */
bool pl_unroll_copyable(const pl_insn *i);
/* True for the sign of an integer that only a later sum of the block reads. */
bool pl_unroll_is_folded_extension(const pl_ir *x, const pl_ir_block *b, size_t k);
/* Does it load 16 bits that become a word? The register is one of 32 bits if what comes after it
 * in the block reads it as such. */
bool pl_unroll_loads_as_word(const pl_ir_block *b, size_t k);
/* What an instruction adds to the cost of its body. */
uint32_t pl_unroll_cost_of(const pl_ir *x, counted_loop *c, pl_insn *i);
/* The most expensive body that is unrolled where the number of iterations is not known. */
uint32_t pl_unroll_max_cost(const pl_ir *x, const counted_loop *c);

/* loop_constants.c */
bool pl_unroll_iteration_constants_init(iteration_constants *k, pl_ir *x, uint32_t loop);
/* The last instruction of the block that writes the row, NULL. */
const pl_insn *pl_unroll_last_write(const pl_ir *x, uint32_t block, uint32_t row);
/* What the row holds whenever the loop is entered, if that is known. Of all writes that get there
 * (several loops may count with one register) it is what they copy. COMPUTED: the only one computes
 * a constant. PL_IR_NONE: unknown. */
uint32_t pl_unroll_beginning(pl_ir *x, uint32_t header, uint32_t row);
/* The cost of the body; and what of it is saved where the number of iterations is known. */
void pl_unroll_compute_cost(pl_ir *x, counted_loop *c, iteration_constants *known);
/* Rounds of a loop whose counter starts and ends with constants; 0: not known, or too many. */
unsigned pl_unroll_trip_count(pl_ir *x, counted_loop *c);

/* loop_copy.c */
void pl_unroll_find_unrenamed(unroll_copy *u);
/* So many of them, from block `to` on. Returns where they end; PL_IR_NONE: out of memory. */
uint32_t pl_unroll_copies(unroll_copy *u, uint32_t to, unsigned n);
/* The original is not needed any more; its first block stays for what comes instead. */
void pl_unroll_forget(pl_ir *x, const counted_loop *c);

#endif
