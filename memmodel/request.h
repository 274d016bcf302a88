/* request.h - the requests and replies of the memory model: plain values, no pointers.
 *
 * A request covers one line (128 bytes on every machine so far) and some of its sectors. `token` is
 * opaque: the requester sets it and the reply returns it. A request does not record the
 * instruction, warp or lane that issued it. */
#ifndef PL_MEMMODEL_REQUEST_H
#define PL_MEMMODEL_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

typedef enum pl_mem_op {
    PL_MEM_READ,   /* answered with data */
    PL_MEM_WRITE,  /* answered with an acknowledgement */
    PL_MEM_ATOMIC, /* performed at the L2 slice, answered with old values */
    PL_MEM_REDUCE, /* performed at the L2 slice, answered with an acknowledgement */
    PL_MEM_DEMOTE, /* an evict_last line becomes an ordinary one */
    PL_MEM_DISCARD /* a line is invalidated without write-back */
} pl_mem_op;

/* Cost class of an atomic's arithmetic in an L2 slice. */
typedef enum pl_mem_alu { PL_ALU_INT, PL_ALU_WIDE, PL_ALU_FLOAT, PL_ALU_KINDS } pl_mem_alu;

/* Replacement order of the lines of a set: lower ranks first, least recently used first among
 * equals (policy.tsv.xz). */
typedef enum pl_mem_rank {
    PL_RANK_FIRST = -2, /* evict_first, .cs */
    PL_RANK_UNCHANGED =
        -1, /* evict_unchanged: an L1 evicts these before lines of ordinary accesses */
    PL_RANK_NORMAL = 0,
    PL_RANK_LAST = 1, /* evict_last; limited by the persisting quota of a set */
    PL_RANK_RESET = 2 /* of an access, not of a line: explicit evict_normal, which turns an
                         evict_last line into an ordinary one */
} pl_mem_rank;

/* The client within an SM, which routes the reply. */
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
    uint8_t bytes; /* writes: payload in units of 4 bytes; atomics: distinct addresses, in the same
                      units */
    uint8_t alu;   /* pl_mem_alu of an atomic */
    uint8_t sector_ops; /* atomics: operations on the busiest address of each sector, summed over
                           the sectors */
    bool preloaded; /* reads: the L2 holds the line since before the launch; not counted here, but
                  in the launch's own counters */
    uint8_t max_same_address; /* atomics: operations on the busiest address of the line; each takes
                                 a separate packet */
    uint8_t word_mask; /* atomics: which of the eight words of a sector they modify, all sectors
                          together */
    /* Atomics: operations beyond the first of each serialised round, in units of 4 bytes. */
    uint8_t extra_words;
    int8_t rank;              /* pl_mem_rank that the line gets in the L2 */
    uint8_t prefetch_sectors; /* reads: sectors fetched together with a missing one; 0: the default
                                 of the machine */
    bool
        owner_only; /* reads: allocate the line only in the half of the L2 that owns it (prefetches)
                     */
    bool silent;    /* no reply is sent */
    bool bank_spread; /* atomics: the words of most lanes are in different banks of the L1, which
                         receives the results */
} pl_mem_req;

typedef struct pl_mem_reply {
    uint64_t time;  /* cycle at which it can be used */
    uint64_t order; /* breaks ties in the order in which replies were made */
    uint64_t line;
    uint32_t token;
    uint8_t client;
    uint8_t sectors;
    uint8_t level;    /* pl_level of base/event.h: the level that served it */
    uint8_t operands; /* atomics: as max_same_address of the request */
    bool far;         /* its line belongs to the other half of the L2 */
} pl_mem_reply;

/* Number of sectors in a mask. */
static inline uint32_t pl_sector_count(uint32_t mask)
{
    const uint64_t counts = 0x4332322132212110u; /* population count of each 4-bit value */
    return (uint32_t)((counts >> (mask & 15) * 4 & 15) + (counts >> (mask >> 4 & 15) * 4 & 15));
}

/* Outgoing requests of one requester, in time order. */
typedef struct pl_mem_outbox {
    pl_mem_req *at;
    uint32_t n, cap;
} pl_mem_outbox;

#endif
