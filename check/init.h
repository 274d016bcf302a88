/* init.h - what the files of the init checker share: undefined bits of registers, where they come
 * from, and what is known of each instruction. */
#ifndef PL_CHECK_INIT_H
#define PL_CHECK_INIT_H

#include "check/check.h"
#include "check/undefined.h"

/* How the undefined bits of a result follow from those of the operands. */
typedef enum pl_init_rule {
    PL_RULE_ANY,     /* any undefined bit makes the whole result undefined */
    PL_RULE_CONTROL, /* it decides what executes: operands have to be defined */
    PL_RULE_COPY,    /* mov of any width, packing and unpacking */
    PL_RULE_EXTEND,  /* conversion between integers */
    PL_RULE_AND,
    PL_RULE_OR,
    PL_RULE_XOR,
    PL_RULE_LOP3,
    PL_RULE_SUM, /* sums and products: from the lowest undefined bit up */
    PL_RULE_SHL,
    PL_RULE_SHR,
    PL_RULE_BFE,
    PL_RULE_BFI,
    PL_RULE_PRMT,
    PL_RULE_COMPARE, /* setp: a predicate may decide alone */
    PL_RULE_SELECT,
    PL_RULE_SHUFFLE,
    PL_RULE_WARP, /* votes, reductions: of all lanes */
    PL_RULE_MMA   /* of the lanes that hold its row and column */
} pl_init_rule;

typedef struct pl_init_use {
    uint32_t row;
    uint8_t rows;
    bool pred;
} pl_init_use;

typedef struct pl_init_insn {
    pl_exec_fn *inner; /* of another tool, or the plain one */
    uint32_t first; /* of its registers in pl_init_tables.use: those that it reads, then writes */
    uint8_t reads, writes;
    uint8_t rule; /* pl_init_rule */
} pl_init_insn;

typedef struct pl_init_tables {
    pl_init_insn *insn; /* by pc */
    pl_init_use *use;
    uint32_t uses, capuses;
    struct pl_fetched {
        uint32_t lanes; /* that have read undefined texels, */
        uint32_t origin[PL_LANES];
        uint16_t rows;     /* of a wgmma operand with undefined elements, */
        uint32_t lines[8]; /* and columns of the other; where the first of them comes from */
        uint32_t operand;
        bool adds; /* the product is added to what the registers hold */
    } fetched;     /* by the instruction that executes */
} pl_init_tables;

/* Undefined bits of a group of lanes. */
typedef struct pl_traced {
    uint32_t rows, preds;
    uint32_t *undefined;   /* by row: lanes with undefined bits */
    uint32_t *bits;        /* laid out like the register file */
    uint32_t *origin;      /* by row and lane */
    uint32_t *pred;        /* by predicate: lanes for which it is undefined */
    uint32_t *pred_origin; /* by predicate and lane */
    uint32_t n;            /* rows and predicates with undefined lanes */
    pl_validity local;     /* of word k of lane l: from (32 k + l) * 4 on */
} pl_traced;

void pl_traced_free(pl_traced *s);
/* What is known of the registers of the warp's half, made if need be. NULL: out of memory. */
pl_traced *pl_traced_of(pl_warp *w);
uint32_t pl_traced_row(const pl_warp *w);  /* number of the current frame's first row */
uint32_t pl_traced_pred(const pl_warp *w); /* of its first predicate */
/* Lanes whose register has undefined bits. s: NULL is allowed. */
uint32_t pl_traced_undefined(const pl_traced *s, uint32_t row, unsigned rows);
uint64_t pl_traced_bits(const pl_traced *s, uint32_t row, bool wide, unsigned lane);
/* The lanes' register, or predicate, now has these undefined bits. */
void pl_traced_set(pl_traced *s, uint32_t row, bool wide, uint32_t lanes, const uint64_t *bits,
                   const uint32_t *origin);
void pl_traced_set_pred(pl_traced *s, uint32_t pred, uint32_t lanes, uint32_t undefined,
                        const uint32_t *origin);
/* A register whose value is seen: a finding, once; its value counts as defined then. */
void pl_traced_seen(pl_warp *w, pl_traced *s, uint32_t row, unsigned rows, uint32_t lanes,
                    pl_finding_kind kind, const char *what);
/* Before an instruction that touches memory: is its guard defined? */
void pl_traced_guard(pl_warp *w, const pl_insn *i, pl_traced *s);
void pl_init_report(pl_warp *w, pl_finding_kind kind, uint32_t lanes, uint32_t origin,
                    const char *what);
/* The number of an origin: bytes of this place that the instruction reads, or, of a value that has
 * one (`from`), its store to global memory. */
uint32_t pl_init_origin(pl_warp *w, unsigned lane, pl_space space, uint64_t address, uint32_t from);
/* The part of a finding that the read of undefined bytes tells. */
void pl_origin_describe(const pl_undefined *u, pl_check_finding *f, const pl_origin *o,
                        const char *what);

/* ---- init_rules.c ---- */
pl_init_rule pl_rule_of(const pl_insn *i);
enum { PL_RESULTS = 8 }; /* registers that one instruction writes different bits to, at most */
/* Lanes in `from` have undefined operands. bits[0]: all ones for these; now those of the results,
 * or of the first, second ... one, as many as are returned. */
unsigned pl_rule_apply(const pl_warp *w, const pl_insn *i, const pl_init_insn *x,
                       const pl_traced *s, uint32_t from, uint64_t (*bits)[PL_LANES],
                       uint32_t *origin);

/* ---- init_memory.c ---- */
/* Undefined bits of memory. Read: true if there are some, with the origin of the first. */
bool pl_init_read(pl_warp *w, unsigned lane, pl_space space, uint64_t address, unsigned bytes,
                  uint8_t *bits, uint32_t *origin);
/* bits NULL: the bytes are defined. */
void pl_init_write(pl_warp *w, unsigned lane, pl_space space, uint64_t address, unsigned bytes,
                   const uint8_t *bits, uint32_t origin);
/* Can there be undefined bytes? */
bool pl_init_all_defined(const pl_warp *w, pl_space space);
/* The function that follows an instruction that touches memory or calls; NULL: no such. */
pl_exec_fn *pl_init_memory_follower(const pl_insn *i);
void pl_init_copy(pl_warp *w, const struct pl_async_op *o);
bool pl_init_block_starts(struct pl_check *k, pl_cta *c);

/* ---- texels.c, products.c ---- */
void pl_init_fetch(pl_warp *w, const pl_insn *i);
void pl_init_product(pl_warp *w, const pl_insn *i);

/* ---- init_follow.c ---- */
/* Executes an instruction; other tools hear of it. */
void pl_init_inner(pl_warp *w, const pl_insn *i);
/* Executes an instruction whose results depend on its operands alone. */
void pl_init_follow(pl_warp *w, const pl_insn *i);
/* The registers that the instruction writes. */
const pl_init_use *pl_init_results(const pl_warp *w, const pl_insn *i, unsigned *n);
void pl_init_skips(const struct pl_hooks *h, pl_warp *w, const pl_insn *i);

/* ---- init.c ---- */
/* Binds the checker to the program of a launch, behind the other tools. */
bool pl_initcheck_begin(struct pl_check *k);
void pl_initcheck_end(struct pl_check *k);
void pl_initcheck_free(struct pl_check *k);

#endif
