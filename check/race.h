/* race.h - what the files of the race checker share: one instruction of one group of lanes, or one
 * asynchronous operation, while its accesses are entered. */
#ifndef PL_CHECK_RACE_H
#define PL_CHECK_RACE_H

#include "check/internal.h"

enum { PL_SUSPECTS = 8 }; /* races of one instruction that are looked at: more are alike */

/* A race that an access has met; its values are known once the instruction has executed. */
typedef struct pl_suspect {
    pl_finding_kind kind;
    pl_context other;
    pl_touch touch;
    unsigned lane, bytes, count; /* count: cases that are alike */
    bool in_step;                /* both are lanes of this very instruction */
    place at;
    uint64_t before[4]; /* what was there, of up to 32 bytes */
} pl_suspect;

/* One instruction of one group while its accesses are entered. */
typedef struct pl_visit {
    pl_check *k;
    pl_warp *w;
    check_unit *u;
    const check_block *block;
    pl_context self;
    unsigned agent_lane; /* of an agent; PL_LANES: the lane itself acts */
    uint32_t proxy;      /* it acts by another proxy than loads and stores: which lines of knowledge
                            tell what has been passed on to it; 0: the generic proxy */
    uint32_t context[2]; /* its number in global and in shared memory, 0: none yet */
    pl_contexts *pool;   /* of the access that is entered */
    bool reread;         /* the lane has read what it writes to since that was last written */
    uint32_t memo;       /* context that every lane of the group is known to come after */
    pl_suspect suspect[PL_SUSPECTS];
    unsigned n;
} pl_visit;

enum { PL_ACCESS_PATHS = PL_ACCESS_TEXTURE | PL_ACCESS_SURFACE };

void pl_visit_open(pl_visit *v, pl_warp *w, const pl_insn *i, const check_insn *x);
/* Enters [p, p + bytes) for one lane: compares it with what was there before. */
void pl_visit_enter(pl_visit *v, unsigned lane, const place *p, unsigned bytes);
/* What an access does, as a verb. */
const char *pl_race_verb(const pl_context *x, const pl_insn *i);
/* A lane accesses the shared memory of another block of the cluster. */
void pl_race_reaches(pl_visit *v, unsigned lane, const place *p);
/* The instruction has executed: what was suspected is reported. */
void pl_visit_close(pl_visit *v, const pl_insn *i);

#endif
