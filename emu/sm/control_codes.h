/* control_codes.h - what the assembler writes into each instruction about time: how long its warp
 * stands still behind it, which scoreboards its result and the reading of its registers end, which
 * scoreboards it waits for.
 *
 * Since sm_50 the hardware knows nothing of registers that are on their way. An instruction of
 * fixed latency is followed by as many cycles as its readers need (stall count); one of variable
 * latency (memory, exchanges, special functions) holds one of six counters per warp until its
 * result is there, and readers name the counters that must be zero. Such an instruction also reads
 * its registers some time after it has issued; where one of them is written again before its result
 * is waited for, it holds a counter until it has read them, and the writer waits. See
 * doc/assembler.md. */
#ifndef PL_EMU_SM_CONTROL_CODES_H
#define PL_EMU_SM_CONTROL_CODES_H

#include "emu/sm/decode.h"

/* PL_SB_BANK_WAIT is no counter of the hardware: an instruction that reads the constant bank waits
 * for the bank itself. */
enum { PL_SCOREBOARDS = 6, PL_SB_BANK_WAIT = PL_SCOREBOARDS, PL_SB_COUNT, PL_SB_NONE = 0xff };

/* Fills stall, waits, sets and frees of every instruction. False: out of memory. */
bool pl_control(pl_decoded *dec, const pl_program *p, const pl_machine *m);

#endif
