/* pass_manager.h - runs the passes of passes.def over a function, with the options that control
 * them.
 *
 * The list of passes is data: their names, order and descriptions are in passes.def alone. */
#ifndef PL_COMPILER_PASS_MANAGER_H
#define PL_COMPILER_PASS_MANAGER_H

#include <stdatomic.h>

#include "base/status.h"
#include "isa/program/program.h"

/* Numbers of the passes: PL_PASS_gvn ... in the order of passes.def. */
typedef enum pl_pass_id {
#define CODE_PASS(name, level, file, summary)          PL_PASS_##name,
#define CODE_PASS_REQUIRED(name, level, file, summary) PL_PASS_##name,
#define IR_PASS(name, file, summary)                   PL_PASS_##name,
#define IR_PASS_REQUIRED(name, file, summary)          PL_PASS_##name,
#define LAUNCH_PASS(name, file, summary)               PL_PASS_##name,
#define NESTED_PASS(name, file, summary)               PL_PASS_##name,
#define AGAIN(name)
#include "compiler/passes.def"
    PL_PASS_COUNT
} pl_pass_id;

typedef enum pl_pass_kind {
    PL_PASS_CODE,   /* works on the instruction list */
    PL_PASS_IR,     /* works on the block graph, at -O2 */
    PL_PASS_LAUNCH, /* runs at launch, once per machine */
    PL_PASS_NESTED  /* runs inside other passes */
} pl_pass_kind;

typedef struct pl_pass_info {
    const char *name, *file, *summary;
    uint8_t kind;  /* pl_pass_kind */
    uint8_t level; /* lowest optimisation level at which it runs */
    bool required; /* cannot be skipped */
} pl_pass_info;

extern const pl_pass_info pl_passes[PL_PASS_COUNT];

/* The pass pipeline: each pass of passes.def that the assembler runs, in order, with repeats. */
extern const uint8_t pl_pass_pipeline[];
extern const uint32_t pl_pass_pipeline_length;

/* Returns PL_PASS_COUNT if no pass has this name. */
pl_pass_id pl_pass_find(const char *name, size_t n);

typedef struct pl_pass_time {
    double seconds; /* wall-clock time, summed over all functions and repeats */
    uint32_t runs;
} pl_pass_time;

/* Several host threads may share one, except for `print` and `time`, which require a single
 * thread. */
struct pl_pass_options {
    uint64_t skip;                  /* bit k: pass k does not run */
    uint64_t print_after;           /* bit k: the function is printed after each run of pass k */
    const struct pl_tuning *tuning; /* NULL: the values of the target's file */
    const volatile int *stop;       /* no further pass starts once it is non-zero; may be NULL */
    bool verify;                    /* the verifier (ir_verify.h) runs after each IR pass */
    void (*print)(void *to, const char *text, size_t n);
    void *to;
    pl_pass_time *time; /* by pass; NULL: not measured */
    atomic_flag failed; /* set by the verifier, which leaves its first finding in `finding` */
    char finding[256];
};

/* Compiles a function from one machine instruction per PTX instruction to final code. Resets
 * `work` and `pass`. fixed: the first row that register allocation leaves unchanged. PL_INVALID:
 * the verifier found a compiler bug (pl_pass_options.finding). PL_INTERRUPTED: the stop flag was
 * set. */
pl_status pl_run_passes(pl_program *part, pl_prog_func *f, uint32_t fixed, pl_arena *work,
                        pl_arena *pass);

#endif
