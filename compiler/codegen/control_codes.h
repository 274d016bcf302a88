/* control_codes.h - the timing information that the assembler writes into each instruction: stall
 * count, scoreboards that it sets, scoreboards that it waits for.
 *
 * Since sm_50 the hardware does not track registers with pending results. An instruction of fixed
 * latency is followed by as many cycles as its readers need (stall count). One of variable latency
 * (memory, exchanges, special functions) holds one of six counters per warp until its result is
 * there, and readers name the counters that must be zero. Such an instruction also reads its
 * registers some time after it has issued. If one of them is written again before the result is
 * waited for, it holds a counter until it has read them, and the writer waits. See
 * doc/assembler.md. */
#ifndef PL_COMPILER_CONTROL_CODES_H
#define PL_COMPILER_CONTROL_CODES_H

#include "arch/machine.h"
#include "isa/program/program.h"

/* PL_SB_BANK_WAIT is no counter of the hardware: an instruction that reads the constant bank waits
 * for the bank itself. */
enum { PL_SCOREBOARDS = 6, PL_SB_BANK_WAIT = PL_SCOREBOARDS, PL_SB_COUNT, PL_SB_NONE = 0xff };

/* The last late results of a warp (pl_control_insn.late) that the issue stage knows. */
enum { PL_PRODUCTS = 4 };

/* The arithmetic pipe of an instruction that is one machine instruction: a result takes longer to
 * another one. */
typedef enum pl_side { PL_SIDE_NONE, PL_SIDE_ALU, PL_SIDE_FMA, PL_SIDE_HALF, PL_SIDE_FP64 } pl_side;

/* The queue in which an instruction waits, with its registers unread, before it is executed. */
typedef enum pl_queue {
    PL_QUEUE_NONE,
    PL_QUEUE_LG, /* of the address unit, for global and local memory */
    PL_QUEUE_MIO /* of all other exchanges */
} pl_queue;

/* The control codes of an instruction. */
typedef struct pl_control_code {
    uint16_t stall; /* cycles from its issue to the earliest one of the warp's next instruction */
    uint8_t nops;   /* further issue slots without work: where the stall count has no room, and CCTL
                       or NOP after an acquire */
    uint8_t wait_mask;     /* scoreboards that must be empty before it issues */
    uint8_t write_barrier; /* scoreboard that its result ends, or PL_SB_NONE */
    /* Scoreboard that it ends when it has read its registers, or PL_SB_NONE. */
    uint8_t read_barrier;
    uint8_t interlock; /* it reads the last late result of its warp (1), the one before that (2)
                        * ...: the hardware makes it wait; 0: none */
} pl_control_code;

/* An instruction as the pass sees it, and its codes. */
typedef struct pl_control_insn {
    const pl_price *price;
    uint32_t rows; /* first entry of the row list: rows read and written, predicates read and
                      written */
    uint8_t nread, nwrite, npread, npwrite;
    uint8_t kind;         /* pl_kind */
    uint8_t side;         /* pl_side */
    uint8_t queue;        /* pl_queue */
    bool free;            /* issues nothing */
    bool variable;        /* its result takes a scoreboard */
    bool late;            /* its result comes later than the stall counts of other kinds say */
    bool guarded;         /* the last predicate read is the guard */
    bool bank;            /* reads a word of the constant bank that the driver fills */
    bool on_fma;          /* its ALU work goes to the multiply-add lanes */
    bool address_unit;    /* goes through the address unit */
    bool acquires;        /* nothing after it issues before its result is there */
    bool waits_all;       /* a call or return: all scoreboards must be empty */
    bool drains_pipe;     /* all results of arithmetic must be in their registers */
    pl_control_code code; /* nops: CCTL or NOP after an acquire */
} pl_control_insn;

/* Fills the codes of every instruction of p. `insns` has one entry for each, `rows` their rows.
 * False: out of memory. */
bool pl_pass_assign_control_codes(pl_control_insn *insns, const uint32_t *rows, const pl_program *p,
                                  const pl_machine *m);

#endif
