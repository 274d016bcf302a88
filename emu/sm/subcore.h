/* subcore.h - a sub-core (quadrant) of an SM: a warp scheduler, arithmetic pipes, register banks
 * and the L0 instruction cache. */
#ifndef PL_EMU_SM_SUBCORE_H
#define PL_EMU_SM_SUBCORE_H

#include "emu/sm/inflight.h"
#include "memmodel/cache.h"
#include "memmodel/port.h"

enum {
    PL_SUBCORES = 8,
    PL_QUEUE = 64,     /* maximum entries of the queues of the LSU and the MIO */
    PL_BANK_LINES = 64 /* number of distinguished lines of the driver's constant bank */
};

/* An instruction cache. If the whole program fits without evictions, lookups do not use tags. */
typedef struct pl_icache {
    pl_cache tags;
    uint64_t *available_at; /* by entry, or by line of the program: cycle at which it is available,
                       0: never requested, PL_NEVER: unknown */
    uint32_t lines;         /* lines of the program, if it fits; 0: it does not fit */
    uint32_t shift;         /* log2 of the line size in bytes */
} pl_icache;

/* An access to global or local memory that has issued, but for which the L1 has no space: lsu.c
 * continues it when there is. */
typedef struct pl_lsu_entry {
    pl_memory_effect fx;
    const pl_decoded_insn *d;
    uint64_t issued, seq;
    uint32_t pc, token; /* PL_NO_TOKEN: no reply is expected */
    uint16_t warp;
} pl_lsu_entry;

typedef struct pl_subcore {
    uint64_t ready[PL_SM_WARPS]; /* by position: earliest cycle at which the warp may issue,
                                    PL_NEVER when unknown */
    uint32_t n;    /* positions; position p of sub-core c is warp p * nsub + c of the SM */
    uint32_t last; /* position that issued last */
    uint64_t next; /* earliest cycle with an event */
    uint64_t issue_free;
    pl_port pipe[PL_PIPE_COUNT];
    pl_port link;                         /* from shared memory and L1 */
    pl_port texels;                       /* from the texture units */
    pl_port fill;                         /* of the L0 */
    pl_port redirected;                   /* warps that fetch from the target of a branch */
    uint64_t lg[PL_QUEUE], mio[PL_QUEUE]; /* rings: cycles at which the queued instructions leave
                                             the queue */
    uint32_t lg_at, mio_at;
    pl_lsu_entry *queue; /* ring of issue.lg_queue: accesses for which pl_sm.queue has no slot; they
                            have not read their registers */
    uint32_t queue_at, nqueue;
    pl_icache l0;
    uint64_t bank_available_at[PL_BANK_LINES]; /* cycle at which this line of the driver's constant
                                          bank is available; 0: not requested. Distant lines share
                                          an entry */
    uint64_t issues, active;
    uint64_t not_selected_cycles; /* cycles in which its warps were ready and another one issued */
    uint64_t busy_since, cycles_active;    /* cycles with a warp */
    uint32_t live;                         /* warps */
    uint64_t bank_free[PL_REGISTER_BANKS]; /* cycle at which the register reads of issued
                                              instructions have completed */
    uint32_t read_pc, read_warp;           /* the last instruction that read registers */
    uint64_t lite_free; /* cycle at which the lanes that do not multiply integers can accept the
                           next instruction */
} pl_subcore;

#endif
