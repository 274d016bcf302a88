/* memsys_parts.h - what the parts of the memory system share: the transaction that moves between
 * them, and the state of all of them. Inside of memmodel only.
 *
 *   memsys.c        set-up, events of a window, replies for each SM
 *   timing_wheel.c  transactions by the cycle of their next stage
 *   crossbar.c      from an SM to a slice and back; reads that join others
 *   l2_slice.c      a slice of the L2: tags, fills, writes, the half that owns a line
 *   atomic_unit.c   the arithmetic of a slice */
#ifndef PL_MEMMODEL_MEMSYS_PARTS_H
#define PL_MEMMODEL_MEMSYS_PARTS_H

#include "memmodel/memsys.h"

enum { PL_WHEEL = 8192, PL_FIRST_READS = 12, PL_RECENT_WRITES = 64 };
#define PL_NO_TXN UINT32_MAX

typedef enum pl_txn_stage {
    PL_TXN_AT_SLICE,
    PL_TXN_AT_DRAM,
    PL_TXN_FILLED,
    PL_TXN_FREE
} pl_txn_stage;

typedef struct pl_l2_txn {
    pl_mem_req r;
    uint32_t next;   /* in a list of the wheel, of waiters, or of free records */
    uint32_t merged; /* list, by next: reads of the same sectors by SMs of one coalescer, served
                           together with this one */
    uint32_t line;   /* PL_TXN_FILLED: index in the slice's cache, PL_NO_TXN when it bypasses */
    uint32_t set;    /* of the slice's cache */
    uint16_t slice;
    uint8_t stage, level;
    uint8_t fetch;      /* sectors that this slice waits for */
    uint8_t sharers;    /* nodes that it answers */
    bool in_read_table; /* others find it in the table of reads */
    /* A read of other sectors of its line has come: no read joins it any more. */
    bool not_mergeable;
    bool at_home; /* it was forwarded to the slice of the other half that owns the line; what it
                     left: */
    uint8_t origin_fetch;
    uint16_t origin_slice;
    uint32_t origin_line;
} pl_l2_txn;

/* What goes back to one node. Its own thread reads `due` and `landed` while another thread plays
 * events, which adds to `made`: that lies in another cache line of the host. */
typedef struct pl_replies {
    _Alignas(64) pl_mem_reply *due; /* heap, the earliest on top */
    pl_mem_reply *landed;           /* handed over, not in the heap yet */
    uint32_t ndue, nlanded;
    uint64_t first_due, first_landed; /* UINT64_MAX: there are none */
    _Alignas(64) pl_mem_reply *made;  /* by pl_memsys_run_events since the last hand-over */
    uint32_t nmade, cap;
    uint64_t first_made;
} pl_replies;

/* A read under way that others may join: an entry of an open-addressed table, so that looking for
 * one touches no transaction. */
typedef struct pl_read_entry {
    uint32_t hash; /* of line and coalescer; its upper bits are the place where the search begins */
    uint32_t rec;  /* plus one; 0: free */
} pl_read_entry;

/* The last write of a line: reads of it wait until then. */
typedef struct pl_written_line {
    uint64_t line, until;
} pl_written_line;

typedef struct pl_atomic_unit {
    uint64_t free;           /* when it can begin the next (1/PL_SUBCYCLES cycles) */
    uint64_t line, changed;  /* the line it worked on last, and when what it changed there can be
                                changed again */
    uint8_t sectors, places; /* of that line */
} pl_atomic_unit;

struct pl_memsys {
    const pl_memsys_config *c; /* not owned */
    pl_l2_txn *rec;
    uint32_t nrec, free, used;
    uint32_t fresh; /* records from here on were never used */
    uint32_t head[PL_WHEEL], tail[PL_WHEEL];
    pl_read_entry *reads; /* at least twice as many as are in use, a power of two */
    uint32_t reads_shift, reads_mask, nreads;
    pl_arena *arena;              /* the table grows in it */
    uint64_t busy[PL_WHEEL / 64]; /* which lists are not empty */
    uint32_t beyond;              /* records due after the wheel's end */
    uint64_t now;                 /* all events before it are played */
    uint64_t drawn;               /* when `beyond` was last looked through */
    uint64_t sent;                /* no request leaves earlier from now on */
    pl_cache *l2;                 /* one per slice */
    pl_port *slice;
    pl_written_line *written; /* by slice, PL_RECENT_WRITES each: the last writes, until when reads
                    of their lines wait; NULL: they don't */
    pl_atomic_unit *atomic;   /* arithmetic of a slice */
    pl_port *up, *down, *group_down; /* by node, by node, by group */
    pl_port across[2];               /* atomics on their way to the other half, by half */
    pl_replies *reply;               /* by node */
    pl_dram dram;
    pl_tlb *tlb;              /* or NULL: all pages are translated */
    const pl_mem_range *host; /* memory of the host, by address */
    size_t nhost;
    pl_port link[2];     /* to it: for reads, for writes; only reads wait for its latency */
    const pl_sink *sink; /* listener for slices, or NULL */
    pl_memsys_stat stat;
    uint64_t order;
    struct {
        uint16_t group, side, coalescer;
    } * node;                            /* where it is */
    uint16_t *distance;                  /* by group and slice of a half */
    uint32_t half, together, line_shift; /* slices of a half, and as pl_slices_together says */
    pl_divider by_pairs, by_owner;
    pl_up_costs up_costs;
    uint32_t atomic_again, atomic_more, fill_cost, sector_cost, down_sector, group_sector,
        request_cost, partial_cost, partial_next, write_cost, l1_sector;
    uint32_t atomic_sector[PL_ALU_KINDS], atomic_turn[PL_ALU_KINDS], atomic_same[PL_ALU_KINDS],
        across_word;
    bool overflow;
};

/* Stands for the unpublished hash. */
static inline uint64_t scatter(uint64_t n)
{
    n ^= n >> 4 ^ n >> 9 ^ n >> 15;
    return n * 0x9E3779B97F4A7C15ull;
}

/* The half that a node reads through. */
static inline uint32_t pl_side_of(const pl_memsys *m, uint32_t node)
{
    return m->node[node].side;
}

/* The half that owns a line: its memory, atomics on it. */
static inline uint32_t pl_owner_of(const pl_memsys *m, uint64_t line)
{
    return (uint32_t)(scatter(pl_divide(line, &m->by_owner)) >> 20) % m->c->partitions;
}

/* The slice of a half that serves a line. A kilobyte lies in two slices, 256 bytes in each in turn,
 * and as many neighbouring kilobytes as there are pairs in all of them. (l2_slicemap.bin: lines 0,
 * 1, 4 and 5 of eight are equally far from every SM, and so are the others.) A footprint fills the
 * cache evenly (mem_latency.csv: no miss at 28 MB of 30). */
static inline uint32_t pl_slice_of(const pl_memsys *m, uint64_t line, uint32_t partition)
{
    if (m->c->dram.map == PL_MAP_TURNS) { /* which of a channel's slices is not published: a hash */
        const uint32_t channels = m->c->dram.channels, each = m->c->slices / channels;
        return pl_dram_channel_of(&m->dram, line) * each +
               (uint32_t)(scatter(line / PL_CHANNEL_BYTES / channels) >> 32) % each;
    }
    uint64_t number = line >> m->line_shift, piece = number / PL_PIECE_LINES,
             row = pl_divide(piece, &m->by_pairs);
    uint32_t pair =
        (uint32_t)pl_remainder(piece - row * m->by_pairs.by + (scatter(row) >> 32), &m->by_pairs);
    return partition * m->half + pair * m->together + ((uint32_t)(number >> 1) & (m->together - 1));
}

static inline uint32_t pl_coalescer_of(const pl_memsys *m, uint32_t node)
{
    return m->node[node].coalescer;
}

/* A transaction that is not in use; PL_NO_TXN: there is none. */
static inline uint32_t pl_l2_txn_new(pl_memsys *m)
{
    if (m->free == PL_NO_TXN && m->fresh == m->nrec) return PL_NO_TXN;
    const uint32_t i = m->free != PL_NO_TXN ? m->free : m->fresh++;
    if (i == m->free) m->free = m->rec[i].next;
    m->used++;
    return i;
}

static inline void pl_l2_txn_free(pl_memsys *m, uint32_t i)
{
    m->rec[i].stage = PL_TXN_FREE;
    m->rec[i].next = m->free;
    m->free = i;
    m->used--;
}

/* timing_wheel.c: files transaction i under cycle `at`, its stage set by the caller. */
void pl_wheel_schedule(pl_memsys *m, uint32_t i, uint64_t at);
/* First cycle >= m->now with an event inside the wheel, or UINT64_MAX. */
uint64_t pl_wheel_next(const pl_memsys *m);
/* Moves what has come into the wheel's reach. */
void pl_wheel_refill(pl_memsys *m);

/* crossbar.c: what is asked of every request is worked out once. */
void pl_crossbar_place_nodes(pl_memsys *m, pl_arena *a);
/* Transaction i is done at `at`: its reply goes to its node and to those that have joined it. */
void pl_crossbar_answer(pl_memsys *m, uint32_t i, uint64_t at);

/* memsys.c */
void pl_reply_add(pl_memsys *m, pl_replies *h, pl_mem_reply r);

/* l2_slice.c: the stages of a transaction. */
void pl_l2_access(pl_memsys *m, uint32_t i, uint64_t now);
void pl_l2_fetch(pl_memsys *m, uint32_t i, uint64_t now);
/* A fill arrived with transaction i: those that waited for it go on too. */
void pl_l2_fill(pl_memsys *m, uint32_t i, uint64_t now);

/* atomic_unit.c: the cycle at which an atomic has been performed. */
uint64_t pl_atomic_unit_perform(const pl_memsys *m, pl_atomic_unit *u, const pl_mem_req *r,
                                uint64_t now);
/* Accesses to a slice wait for its atomics once the queue of the arithmetic is full. */
void pl_atomic_unit_hold_slice(pl_memsys *m, uint32_t slice);

#endif
