/* race.h - declarations shared by the files of the race checker: one instruction of one group of
 * lanes, or one asynchronous operation, whose accesses are being entered. */
#ifndef PL_CHECK_RACE_H
#define PL_CHECK_RACE_H

#include "check/internal.h"

enum { PL_RACE_CANDIDATES = 8 }; /* races examined per instruction: further ones are equivalent */

/* A detected race; its values are known once the instruction has executed. */
typedef struct pl_race_candidate {
    pl_finding_kind kind;
    pl_context other;
    pl_access_id access;
    unsigned lane, bytes, count; /* count: equivalent cases */
    bool same_insn;              /* both are lanes of this instruction */
    place at;
    uint64_t old_value[4]; /* memory contents before, up to 32 bytes */
} pl_race_candidate;

/* One instruction of one group whose accesses are being entered. */
typedef struct pl_visit {
    pl_check *k;
    pl_warp *w;
    check_unit *u;
    const check_block *block;
    pl_context self;
    unsigned agent_lane; /* lane of an agent; PL_LANES: the lane itself accesses memory */
    uint32_t proxy;      /* entries of vector clocks that apply to it if it accesses memory through
                            another      proxy than loads and stores; 0: the generic proxy */
    uint32_t context[2]; /* its number in global and in shared memory, 0: none yet */
    pl_contexts *pool;   /* of the current access */
    bool observed_write; /* the lane has read the location since it was last written */
    uint32_t ordered_context; /* context known to precede every lane of the group */
    pl_race_candidate candidate[PL_RACE_CANDIDATES];
    unsigned n;
} pl_visit;

enum { PL_ACCESS_PATHS = PL_ACCESS_TEXTURE | PL_ACCESS_SURFACE };

void pl_visit_open(pl_visit *v, pl_warp *w, const pl_insn *i, const check_insn *x);
/* Enters [p, p + bytes) for one lane: compares it with earlier accesses. */
void pl_visit_enter(pl_visit *v, unsigned lane, const place *p, unsigned bytes);
/* Returns the verb for an access. */
const char *pl_race_verb(const pl_context *x, const pl_insn *i);
/* Records that a lane accesses the shared memory of another block of the cluster. */
void pl_race_remote_access(pl_visit *v, unsigned lane, const place *p);
/* Returns the lanes of a compare and swap that find another value, and so do not write. at: where,
 * by lane. */
uint32_t pl_race_failing_lanes(const pl_warp *w, const pl_insn *i, uint32_t lanes,
                               const place at[PL_LANES], unsigned bytes);
/* Reports the detected races after the instruction has executed. */
void pl_visit_close(pl_visit *v, const pl_insn *i);

#endif
