/* request.h - what the components of the memory model say to each other: plain values, no pointers.
 *
 * A request concerns one line (128 bytes on every machine so far) and some of its sectors. `token` belongs to the requester
 * and comes back in the reply. Nothing here knows which instruction, warp or lane is behind a request. */
#ifndef PL_MEMMODEL_REQUEST_H
#define PL_MEMMODEL_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

typedef enum pl_mem_op {
    PL_MEM_READ,   /* answered with data */
    PL_MEM_WRITE,  /* answered with an acknowledgement */
    PL_MEM_ATOMIC, /* performed at the L2 slice, answered with old values */
    PL_MEM_REDUCE  /* performed at the L2 slice, answered with an acknowledgement */
} pl_mem_op;

/* How hard the arithmetic of an atomic operation is for an L2 slice. */
typedef enum pl_mem_alu { PL_ALU_INT, PL_ALU_WIDE, PL_ALU_FLOAT, PL_ALU_KINDS } pl_mem_alu;

/* Who in an SM asked, so that the reply finds its way. */
typedef enum pl_mem_client { PL_CL_L1, PL_CL_STORE, PL_CL_ATOMIC, PL_CL_CODE, PL_CL_CONST, PL_CL_BULK } pl_mem_client;

typedef struct pl_mem_req {
    uint64_t time; /* cycle at which it leaves the requester */
    uint64_t line; /* address of the first byte of the line */
    uint32_t token;
    uint16_t node;    /* requester: number of the SM */
    uint8_t op;       /* pl_mem_op */
    uint8_t client;   /* pl_mem_client */
    uint8_t sectors;  /* mask */
    uint8_t bytes;    /* writes: payload in units of 4 bytes; atomics: different addresses, in the same units */
    uint8_t alu;      /* pl_mem_alu of an atomic */
    uint8_t depth;    /* atomics: operations on the busiest address of each sector, all sectors together */
    bool held;        /* reads: the L2 has had the line since before the launch; counted as the launch's, not here */
    uint8_t turns;    /* atomics: operations on the busiest address of the line: each is a packet of its own */
    uint8_t places;   /* atomics: which of the eight words of a sector they change, all sectors together */
    uint8_t more;     /* atomics: operations beyond the first of each turn, in units of 4 bytes */
} pl_mem_req;

typedef struct pl_mem_reply {
    uint64_t time; /* cycle at which it can be used */
    uint64_t order; /* breaks ties in the order in which replies were made */
    uint64_t line;
    uint32_t token;
    uint8_t client;
    uint8_t sectors;
    uint8_t level; /* pl_level of base/event.h: who served it */
} pl_mem_reply;

/* Requests on their way out of one requester, in the order of their times. */
typedef struct pl_mem_outbox {
    pl_mem_req *at;
    uint32_t n, cap;
} pl_mem_outbox;

#endif
