/* litmus.h - litmus tests: programs of a few instructions whose outcomes distinguish memory models.
 *
 * A test is parsed from text (parse.c; ptxloom-litmus(5) describes the format). Two functions
 * compute its possible outcomes: pl_litmus_allowed applies the axioms of the PTX memory model
 * (axioms.c), pl_litmus_sequential runs every interleaving of the threads on one memory (sc.c).
 * Neither depends on the emulator; lib/litmus_runner.c compares them with the emulator's outcomes.
 * Nothing here prints. */
#ifndef PL_LITMUS_LITMUS_H
#define PL_LITMUS_LITMUS_H

#include "base/diag.h"
#include "base/status.h"

enum {
    PL_LITMUS_VARS = 8,
    PL_LITMUS_THREADS = 8,
    PL_LITMUS_OPS = 12, /* per thread */
    PL_LITMUS_REGS = 16,
    PL_LITMUS_EVENTS = 48, /* instructions that access or order memory, and initial values */
    PL_LITMUS_OBSERVED = 24,
    PL_LITMUS_TERMS = 48 /* in the condition */
};

typedef enum pl_litmus_kind {
    PL_LITMUS_LOAD,
    PL_LITMUS_STORE,
    PL_LITMUS_ATOM,
    PL_LITMUS_RED,
    PL_LITMUS_FENCE,
    PL_LITMUS_BARRIER, /* bar.sync of the block */
    PL_LITMUS_ARRIVE,  /* barrier.cluster */
    PL_LITMUS_WAIT,
    PL_LITMUS_COPY,   /* cp.async.bulk from one variable to another, performed by the asynchronous
                         proxy some time later */
    PL_LITMUS_COMMIT, /* cp.async.bulk.commit_group */
    PL_LITMUS_DONE,   /* cp.async.bulk.wait_group 0 */
    PL_LITMUS_PROXY,  /* fence.proxy.async */
    PL_LITMUS_ALU     /* registers only */
} pl_litmus_kind;

/* Memory ordering of an operation. PL_LITMUS_WEAK: none, and not strong. */
enum {
    PL_LITMUS_WEAK,
    PL_LITMUS_RELAXED,
    PL_LITMUS_ACQUIRE = 2,
    PL_LITMUS_RELEASE = 4,
    PL_LITMUS_ACQ_REL = 6,
    PL_LITMUS_SC = 14
};

typedef enum pl_litmus_scope {
    PL_LITMUS_CTA,
    PL_LITMUS_CLUSTER,
    PL_LITMUS_GPU,
    PL_LITMUS_SYS
} pl_litmus_scope;

typedef enum pl_litmus_fn {
    PL_LITMUS_MOV,
    PL_LITMUS_ADD,
    PL_LITMUS_AND,
    PL_LITMUS_OR,
    PL_LITMUS_XOR,
    PL_LITMUS_MIN,
    PL_LITMUS_MAX,
    PL_LITMUS_EXCH,
    PL_LITMUS_INC,
    PL_LITMUS_CAS
} pl_litmus_fn;

typedef struct pl_litmus_value {
    bool reg;
    uint32_t bits; /* number of the register, or the constant */
} pl_litmus_value;

typedef struct pl_litmus_op {
    uint8_t kind, order, scope, fn;
    int8_t var, dst; /* -1: none; copies: var is the destination */
    int8_t source;   /* copies: the source variable */
    uint8_t barrier; /* number of the block barrier */
    pl_litmus_value a, b;
    size_t from, to; /* the statement in the text, with its ';' */
} pl_litmus_op;

typedef struct pl_litmus_var {
    char name[16];
    uint32_t init;
    bool shared;
    int cta; /* the block whose shared memory contains it */
} pl_litmus_var;

typedef struct pl_litmus_thread {
    uint32_t cta, warp, lane; /* warp: index in the block */
    pl_litmus_op op[PL_LITMUS_OPS];
    unsigned nops;
    size_t header, close; /* offsets of "thread" and "}" in the text */
} pl_litmus_thread;

/* A component of an outcome: the final value of a register or of a variable. */
typedef struct pl_litmus_observed {
    int thread, reg; /* thread -1: variable `var` */
    int var;
} pl_litmus_observed;

/* The condition in postfix order. */
typedef struct pl_litmus_term {
    enum { PL_LITMUS_EQ, PL_LITMUS_NE, PL_LITMUS_NOT, PL_LITMUS_BOTH, PL_LITMUS_EITHER } op;
    unsigned observed;
    uint32_t value;
} pl_litmus_term;

typedef enum pl_litmus_quantifier {
    PL_LITMUS_EXISTS,
    PL_LITMUS_NEVER,
    PL_LITMUS_FORALL
} pl_litmus_quantifier;

typedef struct pl_litmus_test {
    char title[128], unseen[128]; /* unseen: the reason why the condition's outcome, although
                                     allowed, will not be observed; or "" */
    pl_litmus_var var[PL_LITMUS_VARS];
    pl_litmus_thread thread[PL_LITMUS_THREADS];
    pl_litmus_observed observed[PL_LITMUS_OBSERVED];
    pl_litmus_term term[PL_LITMUS_TERMS];
    unsigned nvars, nthreads, nobserved, nterms, cluster; /* cluster: blocks per cluster, 1: no
                                                             clusters */
    pl_litmus_quantifier quantifier;
    size_t condition, condition_end; /* its offsets in the text */
} pl_litmus_test;

typedef struct pl_litmus_outcome {
    uint32_t value[PL_LITMUS_OBSERVED];
} pl_litmus_outcome;

/* A set of outcomes, sorted by value. */
typedef struct pl_litmus_set {
    pl_litmus_outcome *at;
    size_t n, cap;
} pl_litmus_set;

/* Parses a test. PL_INVALID: see the diagnostics. */
pl_status pl_litmus_parse(pl_diags *diags, uint32_t file, const char *text, size_t bytes,
                          pl_litmus_test *out);

/* PL_NOMEM or PL_OK. The caller frees the set. */
pl_status pl_litmus_allowed(const pl_litmus_test *t, pl_litmus_set *out);
pl_status pl_litmus_sequential(const pl_litmus_test *t, pl_litmus_set *out);

bool pl_litmus_holds(const pl_litmus_test *t, const pl_litmus_outcome *o);
void pl_litmus_set_free(pl_litmus_set *s);
/* False: out of memory. */
bool pl_litmus_set_add(pl_litmus_set *s, const pl_litmus_test *t, const pl_litmus_outcome *o);
bool pl_litmus_set_has(const pl_litmus_set *s, const pl_litmus_test *t, const pl_litmus_outcome *o);
/* The result of an operation on registers, or of an atomic operation on a value in memory. */
uint32_t pl_litmus_compute(uint8_t fn, uint32_t a, uint32_t b, uint32_t c);

#endif
