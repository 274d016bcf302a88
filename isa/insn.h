/* insn.h - one machine instruction, decoded once and read-only while running.
 *
 * Registers are rows of PL_LANES 32-bit words in the warp's register file; a 64-bit register is two consecutive rows holding
 * PL_LANES 64-bit words, a 128-bit register four rows (low halves' 64-bit row pair, then high halves'). Constants, kernel
 * parameters that were folded, and special registers that stay fixed have rows too, filled when a warp starts, so lane loops never
 * ask what kind an operand is. Predicates are 32-bit masks in a file of their own. */
#ifndef PL_ISA_INSN_H
#define PL_ISA_INSN_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PL_LANES = 32,        /* lanes of a warp: the one place that says so */
    PL_PT = 0,            /* predicate register 0 is always true, 1 always false */
    PL_PF = 1,
    PL_INLINE_OPERANDS = 6,
    PL_MAX_MODS = 16      /* >= PL_MAX_SLOTS of form.h */
};

struct pl_warp;
struct pl_insn;
typedef void pl_exec_fn(struct pl_warp *w, const struct pl_insn *i);

/* Flags of an instruction. */
enum {
    PL_IF_GUARD_NEG = 1 << 0, /* guard predicate is negated */
    PL_IF_SYNC_POINT = 1 << 1, /* some divergent branch reconverges before this instruction */
    PL_IF_MEM = 1 << 2,        /* touches memory: effects are recorded for timing and traces */
    PL_IF_CONTROL = 1 << 3,    /* changes the pc or may block the warp: the run loop looks at the warp's state afterwards */
    PL_IF_UNIFORM = 1 << 4,    /* bra.uni, or proved uniform */
    PL_IF_D64 = 1 << 5,        /* destination register is 64 bits wide (relaxed loads) */
    PL_IF_LOOP = 1 << 6        /* backward branch */
};

typedef struct pl_insn {
    pl_exec_fn *exec;      /* bound to form x types x fast words when the module is loaded */
    uint32_t guard;        /* predicate register, PL_PT when unguarded */
    uint32_t op[PL_INLINE_OPERANDS]; /* rows, or predicate numbers for pred operands; vectors: first of their entries in `more` */
    uint32_t target;       /* branch target or callee (index in code / functions), barrier id ... */
    int64_t imm;           /* address offset or the immediate of the form */
    uint32_t more;         /* index of this instruction's further operand rows in the program's pool */
    uint32_t reconv;       /* code index where lanes that part here meet again; UINT32_MAX: nowhere before exit */
    uint32_t line;         /* index in the program's line table */
    uint16_t form;         /* row of the instruction table */
    uint16_t flags;        /* PL_IF_* */
    uint16_t cls;          /* latency class */
    uint16_t nmore;
    uint8_t neg;           /* bit k: predicate operand k is negated */
    uint8_t sel[5];        /* byte/half selectors of operands, pl_sel order */
    uint16_t mods[PL_MAX_MODS]; /* words by slot */
} pl_insn;

#endif
