/* insn.h - one machine instruction, decoded once and read-only during execution.
 *
 * Registers are rows of PL_LANES 32-bit words in the register file of a warp (or of half a warp:
 * emu/exec/wave64.c). A 64-bit register is two consecutive rows holding PL_LANES 64-bit words. A
 * 128-bit register is four rows (low halves' 64-bit row pair, then high halves'). Constants, folded
 * kernel parameters, and invariant special registers have rows too, filled when a warp starts, so
 * lane loops never test the kind of an operand. Predicates are 32-bit masks in a separate file. */
#ifndef PL_ISA_PROGRAM_INSN_H
#define PL_ISA_PROGRAM_INSN_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PL_LANES = 32, /* lanes that execute together, a warp or half of one; defined only here */
    PL_MAX_HALVES = 2,
    PL_PT = 0, /* predicate register 0 is always true, 1 always false */
    PL_PF = 1,
    PL_INLINE_OPERANDS = 10, /* required by the longest forms: sparse wgmma with transposes, sparse
                                block-scaled mma */
    PL_MAX_MODS = 16         /* >= PL_MAX_SLOTS of form.h */
};

/* State spaces of the PTX machine. */
typedef enum pl_space {
    PL_SP_GENERIC,
    PL_SP_REG,
    PL_SP_SREG,
    PL_SP_CONST,
    PL_SP_GLOBAL,
    PL_SP_LOCAL,
    PL_SP_PARAM, /* kernel parameters, function parameters and call-site .param variables */
    PL_SP_SHARED,
    PL_SP_TEX
} pl_space;

struct pl_warp;
struct pl_insn;
typedef void pl_exec_fn(struct pl_warp *w, const struct pl_insn *i);

/* Flags of an instruction. */
enum {
    PL_IF_GUARD_NEG = 1 << 0,   /* guard predicate is negated */
    PL_IF_SYNC_POINT = 1 << 1,  /* a divergent branch reconverges before this instruction */
    PL_IF_MEM = 1 << 2,         /* accesses memory: effects are recorded for timing and traces */
    PL_IF_CONTROL = 1 << 3,     /* changes the pc or may block the warp: the run loop checks the
                                   warp's state afterwards */
    PL_IF_UNIFORM = 1 << 4,     /* bra.uni, or proven uniform */
    PL_IF_D64 = 1 << 5,         /* destination register is 64 bits wide (relaxed loads) */
    PL_IF_BACK_EDGE = 1 << 6,   /* backward branch */
    PL_IF_UNIFORM_REG = 1 << 7, /* its result occupies no per-thread register; valid between
                                   pl_pass_uniform_regs and pl_allocate_registers */
    PL_IF_NARROW64 = 1 << 8     /* its 64-bit result occupies one register; valid between
                                   pl_pass_narrow_int64 and pl_allocate_registers */
};

/* Flags used only by the passes. */
enum {
    PL_IF_NOUNROLL = 1 << 9,    /* after `.pragma "nounroll"`: its loop is not unrolled */
    PL_IF_CONTRACTED = 1 << 10, /* a sum contracted with a product; loop lengths count it as two */
    PL_IF_FROM_WMMA = 1 << 11,  /* part of a wmma load or store; ptxas splits these later */
    PL_IF_COMPILE_ONLY = PL_IF_NOUNROLL | PL_IF_CONTRACTED | PL_IF_FROM_WMMA
};

/* Set when the program is bound (pl_bind), never stored: the instruction may order accesses of
 * different blocks, or calls the system. Concurrently executing blocks serialise these
 * instructions. */
enum { PL_IF_ORDERED = 1 << 12 };

/* Set when the program is bound, like PL_IF_ORDERED: a store other than to local memory that is not
 * ordered. */
enum { PL_IF_STORE = 1 << 13 };

/* Set when the program is bound: wgmma.wait_group. */
enum { PL_IF_GROUP_WAIT = 1 << 14 };

/* Contents of sel[] of an instruction with addresses. */
enum {
    PL_M_LOG2 = 0,  /* log2 of the bytes of one element */
    PL_M_COUNT = 1, /* elements: 1, 2, 4, 8 */
    PL_M_FLAGS = 2, /* PL_MF_* */
    PL_M_SPACE = 3  /* pl_space */
};
enum {
    PL_MF_SIGNED = 1,    /* loads sign-extend */
    PL_MF_WIDE = 2,      /* the data registers are 64 bits wide */
    PL_MF_ADDR32 = 4,    /* the address register is 32 bits wide */
    PL_MF_POLL = 8,      /* volatile, relaxed, acquire: counts as polling */
    PL_MF_NOL1 = 16,     /* bypasses L1 */
    PL_MF_ADDR32_2 = 32, /* the second, third address register is 32 bits wide */
    PL_MF_ADDR32_3 = 64
};

typedef struct pl_insn {
    pl_exec_fn *exec;                /* bound to form x types x fast words at module load */
    uint32_t guard;                  /* predicate register, PL_PT when unguarded */
    uint32_t op[PL_INLINE_OPERANDS]; /* rows, or predicate numbers for pred operands; vectors: index
                                        of their first entry in the pool */
    uint32_t target;    /* branch target or callee (index in code / functions), barrier id ... */
    int64_t imm;        /* address offset or the immediate of the form */
    uint32_t extra_ops; /* index of its additional operand rows in the program's pool */
    uint32_t reconv;    /* code index where lanes that diverge here reconverge; UINT32_MAX: only at
                           exit */
    uint32_t line;      /* index in the program's line table */
    uint16_t form;      /* row of the instruction table */
    uint16_t flags;     /* PL_IF_* */
    uint16_t latency_class; /* latency class */
    uint16_t nextra;
    uint8_t neg;    /* bit k: predicate operand k is negated */
    uint8_t sel[7]; /* memory instructions: PL_M_*; video: byte/half selectors of operands */
    uint16_t mods[PL_MAX_MODS]; /* words by slot */
    uint16_t plan;   /* during assembly: number of its plan (isa/program/operand_plan.h); 0: not
                        looked up since form, modifiers, flags or sel changed */
    uint16_t traits; /* valid with a plan: the result of pl_insn_traits (isa/program/operands.h) */
} pl_insn;

#endif
