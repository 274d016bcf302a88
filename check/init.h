/* init.h - declarations shared by the files of the init checker: undefined bits of registers, their
 * origins, and data of each instruction. */
#ifndef PL_CHECK_INIT_H
#define PL_CHECK_INIT_H

#include "check/check.h"
#include "check/undefined.h"

/* Rules that derive the undefined bits of a result from those of the operands. */
typedef enum pl_init_rule {
    PL_RULE_ANY,     /* any undefined bit makes the whole result undefined */
    PL_RULE_CONTROL, /* it controls execution: operands must be defined */
    PL_RULE_COPY,    /* mov of any width, packing and unpacking */
    PL_RULE_EXTEND,  /* conversion between integers */
    PL_RULE_AND,
    PL_RULE_OR,
    PL_RULE_XOR,
    PL_RULE_LOP3,
    PL_RULE_SUM, /* sums and products: all bits from the lowest undefined one upwards */
    PL_RULE_SHL,
    PL_RULE_SHR,
    PL_RULE_BFE,
    PL_RULE_BFI,
    PL_RULE_PRMT,
    PL_RULE_COMPARE, /* setp: a predicate may determine the result alone */
    PL_RULE_SELECT,
    PL_RULE_SHUFFLE,
    PL_RULE_WARP, /* votes, reductions: depends on all lanes */
    PL_RULE_MMA   /* depends on the lanes that hold its row and column */
} pl_init_rule;

typedef struct pl_init_use {
    uint32_t row;
    uint8_t rows;
    bool pred;
} pl_init_use;

typedef struct pl_init_insn {
    pl_exec_fn *inner; /* of another tool, or the plain function */
    uint32_t first; /* first of its registers in pl_init_tables.use: sources, then destinations */
    uint8_t reads, writes;
    uint8_t rule; /* pl_init_rule */
} pl_init_insn;

typedef struct pl_init_tables {
    pl_init_insn *insn; /* by pc */
    pl_init_use *use;
    size_t uses, capuses;
    struct pl_fetched {
        uint32_t lanes; /* lanes that have read undefined texels, */
        uint32_t origin[PL_LANES];
        uint16_t rows;     /* rows of a wgmma operand with undefined elements, */
        uint32_t lines[8]; /* and columns of the other; origin of the first of them */
        uint32_t operand;
        bool adds; /* the product is accumulated into the registers */
    } fetched;     /* by the current instruction */
} pl_init_tables;

/* Undefined bits of a group of lanes. */
typedef struct pl_traced {
    uint32_t rows, preds;
    uint32_t *undefined;   /* by row: lanes with undefined bits */
    uint32_t *bits;        /* same layout as the register file */
    uint32_t *origin;      /* by row and lane */
    uint32_t *pred;        /* by predicate: lanes in which it is undefined */
    uint32_t *pred_origin; /* by predicate and lane */
    uint32_t n;            /* rows and predicates with undefined lanes */
    pl_validity local;     /* word k of lane l is at (32 k + l) * 4 */
} pl_traced;

void pl_traced_free(pl_traced *s);
/* Returns the state of the registers of the warp's half, allocated on demand. NULL: out of memory.
 */
pl_traced *pl_traced_of(pl_warp *w);
uint32_t pl_traced_row(const pl_warp *w);  /* index of the current frame's first row */
uint32_t pl_traced_pred(const pl_warp *w); /* index of its first predicate */
/* Returns the lanes whose register has undefined bits. s: NULL is allowed. */
uint32_t pl_traced_undefined(const pl_traced *s, uint32_t row, unsigned rows);
uint64_t pl_traced_bits(const pl_traced *s, uint32_t row, bool wide, unsigned lane);
/* Set the undefined bits of a register or predicate for these lanes. */
void pl_traced_set(pl_traced *s, uint32_t row, bool wide, uint32_t lanes, const uint64_t *bits,
                   const uint32_t *origin);
void pl_traced_set_pred(pl_traced *s, uint32_t pred, uint32_t lanes, uint32_t undefined,
                        const uint32_t *origin);
/* Reports a register whose undefined value becomes observable, once; its value counts as defined
 * afterwards. */
void pl_traced_report(pl_warp *w, pl_traced *s, uint32_t row, unsigned rows, uint32_t lanes,
                      pl_finding_kind kind, const char *what);
/* Before an instruction that accesses memory: checks that its guard is defined. */
void pl_traced_guard(pl_warp *w, const pl_insn *i, pl_traced *s);
void pl_init_report(pl_warp *w, pl_finding_kind kind, uint32_t lanes, uint32_t origin,
                    const char *what);
/* Returns the number of an origin: the bytes at this address that the instruction reads; or, for a
 * value with an origin (`from`), its store to global memory. */
uint32_t pl_init_origin(pl_warp *w, unsigned lane, pl_space space, uint64_t address, uint32_t from);
/* Fills in the part of a finding that describes the read of undefined bytes. */
void pl_origin_describe(const pl_undefined *u, pl_check_finding *f, const pl_origin *o,
                        const char *what);

/* ---- init_rules.c ---- */
pl_init_rule pl_rule_of(const pl_insn *i);
enum { PL_RESULTS = 8 }; /* maximum registers to which one instruction writes different bits */
/* Lanes in `from` have undefined operands. bits[0]: on entry, all ones for these; on return, the
 * undefined bits of the results, or of the first, second ... result, as many as the return value
 * says. */
unsigned pl_rule_apply(const pl_warp *w, const pl_insn *i, const pl_init_insn *x,
                       const pl_traced *s, uint32_t from, uint64_t (*bits)[PL_LANES],
                       uint32_t *origin);

/* ---- init_memory.c ---- */
/* Returns true if some bits of the memory are undefined, with the origin of the first. */
bool pl_init_read(pl_warp *w, unsigned lane, pl_space space, uint64_t address, unsigned bytes,
                  uint8_t *bits, uint32_t *origin);
/* bits NULL: the bytes are defined. */
void pl_init_write(pl_warp *w, unsigned lane, pl_space space, uint64_t address, unsigned bytes,
                   const uint8_t *bits, uint32_t origin);
/* True if no bytes can be undefined. */
bool pl_init_all_defined(const pl_warp *w, pl_space space);
/* Returns the function that tracks an instruction that accesses memory or calls; NULL: none. */
pl_exec_fn *pl_init_memory_wrapper(const pl_insn *i);
void pl_init_copy(pl_warp *w, const struct pl_async_op *o);
bool pl_init_block_starts(struct pl_check *k, pl_cta *c);
void pl_init_print(const struct pl_hooks *h, pl_warp *w, unsigned lane, uint64_t address,
                   unsigned bytes);

/* ---- texels.c, wgmma_operands.c ---- */
void pl_init_fetch(pl_warp *w, const pl_insn *i);
void pl_init_product(pl_warp *w, const pl_insn *i);

/* ---- init_follow.c ---- */
/* Executes an instruction through the wrappers of other tools. */
void pl_init_inner(pl_warp *w, const pl_insn *i);
/* Executes an instruction whose results depend only on its operands. */
void pl_init_propagate(pl_warp *w, const pl_insn *i);
/* Returns the registers that the instruction writes. */
const pl_init_use *pl_init_results(const pl_warp *w, const pl_insn *i, unsigned *n);
void pl_init_skips(const struct pl_hooks *h, pl_warp *w, const pl_insn *i);

/* ---- init.c ---- */
/* Binds the checker to the program of a launch, after the other tools. */
bool pl_initcheck_begin(struct pl_check *k);
void pl_initcheck_end(struct pl_check *k);
void pl_initcheck_free(struct pl_check *k);

#endif
