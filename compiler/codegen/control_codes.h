/* control_codes.h - the timing information that the assembler encodes in each instruction: stall
 * count, scoreboards that it sets, scoreboards that it waits for.
 *
 * Since sm_50 the hardware does not track registers with pending results. An instruction of fixed
 * latency is followed by as many cycles as its readers require (stall count). One of variable
 * latency (memory, exchanges, special functions) holds one of six counters per warp until its
 * result has arrived, and readers name the counters that must be zero. Such an instruction also
 * reads its registers some time after it has issued. If one of them is written again before the
 * result is waited for, it holds a counter until it has read them, and the writer waits. See
 * doc/assembler.md. */
#ifndef PL_COMPILER_CONTROL_CODES_H
#define PL_COMPILER_CONTROL_CODES_H

#include "arch/machine.h"
#include "isa/program/program.h"

/* PL_SB_BANK_WAIT is not a hardware counter: an instruction that reads the constant bank waits for
 * the bank itself. */
enum { PL_SCOREBOARDS = 6, PL_SB_BANK_WAIT = PL_SCOREBOARDS, PL_SB_COUNT, PL_SB_NONE = 0xff };

/* The number of recent late results of a warp (pl_control_insn.late) that the issue stage
 * tracks. */
enum { PL_PRODUCTS = 4 };

/* The arithmetic pipe of an instruction that is a single machine instruction: forwarding a result
 * to another pipe takes longer. */
typedef enum pl_side { PL_SIDE_NONE, PL_SIDE_ALU, PL_SIDE_FMA, PL_SIDE_HALF, PL_SIDE_FP64 } pl_side;

/* The queue in which an instruction waits, with its operands unread, before it executes. */
typedef enum pl_queue {
    PL_QUEUE_NONE,
    PL_QUEUE_LG, /* of the address unit, for global and local memory */
    PL_QUEUE_MIO /* of the memory I/O unit, for all other queued instructions */
} pl_queue;

/* The control codes of an instruction. */
typedef struct pl_control_code {
    uint16_t stall; /* cycles from its issue to the earliest issue of the warp's next instruction */
    uint8_t nops; /* additional empty issue slots: if the stall count cannot hold the wait, and CCTL
                     or NOP after an acquire */
    uint8_t wait_mask;     /* scoreboards that must be clear before it issues */
    uint8_t write_barrier; /* scoreboard that its result clears, or PL_SB_NONE */
    /* Scoreboard that it clears when it has read its operands, or PL_SB_NONE. */
    uint8_t read_barrier;
    uint8_t interlock; /* it reads the last late result of its warp (1), the one before that (2)
                          ...: the hardware stalls it; 0: none */
} pl_control_code;

/* The pass's view of an instruction, and its codes. */
typedef struct pl_control_insn {
    const pl_price *price;
    uint32_t rows; /* first entry of the row list: rows read, rows written, predicates read,
                      predicates written */
    uint8_t nread, nwrite, npread, npwrite;
    uint8_t kind;         /* pl_kind */
    uint8_t side;         /* pl_side */
    uint8_t queue;        /* pl_queue */
    bool free;            /* it does not issue */
    bool variable;        /* its result has a scoreboard */
    bool late;            /* its result arrives later than the stall counts of other kinds cover */
    bool guarded;         /* the last predicate read is the guard */
    bool bank;            /* reads a constant-bank word that the driver fills */
    bool on_fma;          /* its ALU operations execute on the multiply-add lanes */
    bool address_unit;    /* goes through the address unit */
    bool acquires;        /* no later instruction issues before its result has arrived */
    bool waits_all;       /* a call or return: all scoreboards must be clear */
    bool drains_pipe;     /* all arithmetic results must have been written to their registers */
    pl_control_code code; /* nops: CCTL or NOP after an acquire */
} pl_control_insn;

/* Computes the codes of every instruction of p. `insns` has one entry for each, `rows` their rows.
 * Returns false when out of memory. */
bool pl_pass_assign_control_codes(pl_control_insn *insns, const uint32_t *rows, const pl_program *p,
                                  const pl_machine *m);

#endif
