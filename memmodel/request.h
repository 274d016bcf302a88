/* request.h - the requests and replies of the memory model: plain values, no pointers.
 *
 * A request concerns one line (128 bytes on every machine so far) and some of its sectors. `token`
 * belongs to the requester and comes back in the reply. A request does not say which instruction,
 * warp or lane it is for. */
#ifndef PL_MEMMODEL_REQUEST_H
#define PL_MEMMODEL_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

typedef enum pl_mem_op {
    PL_MEM_READ,   /* answered with data */
    PL_MEM_WRITE,  /* answered with an acknowledgement */
    PL_MEM_ATOMIC, /* performed at the L2 slice, answered with old values */
    PL_MEM_REDUCE, /* performed at the L2 slice, answered with an acknowledgement */
    PL_MEM_DEMOTE, /* a line that was to go last is an ordinary one */
    PL_MEM_DISCARD /* a line is forgotten, and not written back */
} pl_mem_op;

/* How hard the arithmetic of an atomic operation is for an L2 slice. */
typedef enum pl_mem_alu { PL_ALU_INT, PL_ALU_WIDE, PL_ALU_FLOAT, PL_ALU_KINDS } pl_mem_alu;

/* In which order the lines of a set give up their place; of equals, the one that was not used for
 * longest goes first (policy.tsv.xz). */
typedef enum pl_mem_rank {
    PL_RANK_FIRST = -2, /* evict_first, .cs */
    PL_RANK_UNCHANGED =
        -1, /* evict_unchanged: an L1 lets these go before lines of ordinary accesses */
    PL_RANK_NORMAL = 0,
    PL_RANK_LAST = 1, /* evict_last; as many of a set as may persist */
    PL_RANK_RESET = 2 /* of an access, not of a line: evict_normal, spelt out, after which a line
                         that was to go last is an ordinary one */
} pl_mem_rank;

/* Who in an SM asked, so that the reply finds its way. */
typedef enum pl_mem_client {
    PL_CL_L1,
    PL_CL_STORE,
    PL_CL_ATOMIC,
    PL_CL_CODE,
    PL_CL_CONST,
    PL_CL_BULK
} pl_mem_client;

typedef struct pl_mem_req {
    uint64_t time; /* cycle at which it leaves the requester */
    uint64_t line; /* address of the first byte of the line */
    uint32_t token;
    uint16_t node;   /* requester: number of the SM */
    uint8_t op;      /* pl_mem_op */
    uint8_t client;  /* pl_mem_client */
    uint8_t sectors; /* mask */
    uint8_t bytes; /* writes: payload in units of 4 bytes; atomics: different addresses, in the same
                      units */
    uint8_t alu;   /* pl_mem_alu of an atomic */
    uint8_t sector_ops; /* atomics: operations on the busiest address of each sector, all sectors
                           together */
    bool held; /* reads: the L2 has had the line since before the launch; counted as the launch's,
                  not here */
    uint8_t max_same_address; /* atomics: operations on the busiest address of the line: each is a
                      packet of its own */
    uint8_t word_mask; /* atomics: which of the eight words of a sector they change, all sectors
                       together */
    /* Atomics: operations beyond the first of each turn, in units of 4 bytes. */
    uint8_t extra_words;
    int8_t rank;              /* pl_mem_rank that the line gets in the L2 */
    uint8_t prefetch_sectors; /* reads: sectors that are fetched with a missing one, 0: as many as
                       the machine does */
    bool home_only; /* reads: the line is wanted in the half of the L2 that owns it, and no copy of
                  it (prefetches) */
    bool silent;    /* nothing waits for an answer */
    bool bank_spread; /* atomics: the words of most lanes lie in different banks of the L1, where
                   what comes back is put down */
} pl_mem_req;

typedef struct pl_mem_reply {
    uint64_t time;  /* cycle at which it can be used */
    uint64_t order; /* breaks ties in the order in which replies were made */
    uint64_t line;
    uint32_t token;
    uint8_t client;
    uint8_t sectors;
    uint8_t level; /* pl_level of base/event.h: who served it */
    bool far;      /* its line belongs to the other half of the L2 */
} pl_mem_reply;

/* Sectors of a line in a mask. */
static inline uint32_t pl_sector_count(uint32_t mask)
{
    const uint64_t counts = 0x4332322132212110u; /* by four bits */
    return (uint32_t)((counts >> (mask & 15) * 4 & 15) + (counts >> (mask >> 4 & 15) * 4 & 15));
}

/* Requests on their way out of one requester, in the order of their times. */
typedef struct pl_mem_outbox {
    pl_mem_req *at;
    uint32_t n, cap;
} pl_mem_outbox;

#endif
