/* memsys_parts.h - declarations shared by the parts of the memory system: the transaction that
 * moves between them, and the state of all of them. Internal to memmodel.
 *
 *   memsys.c        set-up, events of a window, replies for each SM
 *   timing_wheel.c  transactions by the cycle of their next stage
 *   crossbar.c      from an SM to a slice and back; merging of reads
 *   l2_slice.c      a slice of the L2: tags, fills, writes, forwarding to the owner half
 *   atomic_unit.c   the arithmetic of a slice */
#ifndef PL_MEMMODEL_MEMSYS_PARTS_H
#define PL_MEMMODEL_MEMSYS_PARTS_H

#include "memmodel/memsys.h"

enum { PL_WHEEL = 8192, PL_FIRST_READS = 9, PL_RECENT_WRITES = 64 };
#define PL_NO_TXN UINT32_MAX

typedef enum pl_txn_stage {
    PL_TXN_AT_SLICE,
    PL_TXN_AT_DRAM,
    PL_TXN_FILLED,
    PL_TXN_FREE
} pl_txn_stage;

typedef struct pl_l2_txn {
    pl_mem_req r;
    uint32_t next;   /* in a list of the wheel, of waiters, or of free transactions */
    uint32_t merged; /* list, linked by next: merged reads of the same sectors by SMs of one
                        coalescer */
    uint32_t line;   /* PL_TXN_FILLED: index in the slice's cache, PL_NO_TXN when it bypasses */
    uint32_t set;    /* of the slice's cache */
    uint16_t slice;
    uint8_t stage, level;
    uint8_t fetch;      /* sectors whose fill this slice awaits */
    uint8_t sharers;    /* nodes that receive the reply */
    bool in_read_table; /* it is listed in the table of reads */
    /* Another read has requested other sectors of its line: no further read merges with it. */
    bool not_mergeable;
    bool at_owner; /* forwarded to the slice of the other half, which owns the line; saved state of
                     the origin slice: */
    uint8_t origin_fetch;
    uint16_t origin_slice;
    uint32_t origin_line;
} pl_l2_txn;

/* Replies to one node. The node's thread reads `heap` and `published` while another thread
 * processes events and appends to `pending`. `pending` is therefore in a separate cache line of the
 * host. */
typedef struct pl_replies {
    _Alignas(64) pl_mem_reply *heap; /* heap, the earliest on top */
    pl_mem_reply *published;         /* published, not in the heap yet */
    uint32_t nheap, npublished;
    uint64_t first_in_heap, first_published; /* UINT64_MAX: none */
    bool waits_for_pages;                    /* as of the last publication */
    _Alignas(64) pl_mem_reply *pending; /* by pl_memsys_run_events since the last publication */
    uint32_t npending, cap;
    uint64_t first_pending;
    uint32_t faults; /* requests of the node that wait for pages */
} pl_replies;

/* A read in flight that other reads may merge with: an entry of an open-addressed table, so that a
 * look-up touches no transaction. */
typedef struct pl_read_entry {
    uint32_t hash; /* of line and coalescer; its upper bits are the index where probing starts */
    uint32_t txn;  /* plus one; 0: free */
} pl_read_entry;

/* The last write of a line; reads of the line wait until this cycle. */
typedef struct pl_recent_write {
    uint64_t line, until;
} pl_recent_write;

typedef struct pl_atomic_unit {
    uint64_t free;              /* when it can start the next request (1/PL_SUBCYCLES cycles) */
    uint64_t line, words_free;  /* the line of the last request, and when the words that it
                                modified can be modified again */
    uint8_t sectors, word_mask; /* of that line */
} pl_atomic_unit;

struct pl_memsys {
    const pl_memsys_config *c; /* not owned */
    pl_l2_txn *txn;
    uint32_t ntxn, free, used;
    uint32_t first_unused; /* transactions from here on have never been used */
    uint32_t *head, *tail; /* lists of the wheel, by cycle; undefined if not `busy` */
    pl_read_entry *reads;  /* at least twice as many entries as are in use, a power of two */
    uint32_t reads_shift, reads_mask, nreads;
    pl_arena *arena;              /* for growing the table */
    uint64_t busy[PL_WHEEL / 64]; /* bitmap of non-empty lists */
    uint32_t overflow_list;       /* transactions due after the wheel's end */
    uint64_t now;                 /* all events before it have been processed */
    uint64_t last_refill;         /* when `overflow_list` was last scanned */
    uint64_t horizon;             /* no request leaves earlier from now on */
    pl_cache *l2;                 /* one per slice */
    pl_port *slice;
    pl_recent_write *recent_writes;  /* PL_RECENT_WRITES for each slice: the last writes, and until
                                  when  reads of their lines wait; NULL: reads do not wait */
    bool *written;                   /* by slice: its recent_writes are defined */
    pl_atomic_unit *atomic;          /* arithmetic of a slice */
    pl_port *up, *down, *group_down; /* by node, by node, by group */
    pl_port cross_half[2];           /* atomics forwarded to the other half, by half */
    pl_replies *reply;               /* by node */
    pl_dram dram;
    pl_tlb *tlb;                      /* or NULL: all pages are translated */
    pl_page_faults *faults;           /* or NULL: all pages are on the GPU */
    uint32_t first_fault, last_fault; /* list of transactions that wait for pages */
    const pl_mem_range *host;         /* memory of the host, by address */
    size_t nhost;
    pl_port link[2];     /* to the host: for reads, for writes; only reads wait for its latency */
    const pl_sink *sink; /* listener for slices, or NULL */
    pl_memsys_stat stat;
    uint64_t order;
    struct {
        uint16_t group, side, coalescer;
    } * node;              /* location of the node */
    uint16_t *distance;    /* by group and slice of a half */
    uint16_t *distance_at; /* by position in the ring of slices, for group 0 */
    uint32_t slices_per_half, slices_per_piece,
        line_shift; /* slices of a half; pl_slices_per_piece */
    pl_divider by_pairs, by_owner;
    pl_up_costs up_costs;
    uint32_t atomic_line_interval, atomic_word_cost, fill_cost, sector_cost, down_sector,
        group_sector, request_cost, partial_cost, partial_next, write_cost, l1_sector;
    uint32_t atomic_sector[PL_ALU_KINDS], atomic_op_cost[PL_ALU_KINDS],
        atomic_address_interval[PL_ALU_KINDS], cross_half_word;
    bool overflow;
};

/* A substitute for the unpublished hash. */
static inline uint64_t scatter(uint64_t n)
{
    n ^= n >> 4 ^ n >> 9 ^ n >> 15;
    return n * 0x9E3779B97F4A7C15ull;
}

/* The half through which a node accesses memory. */
static inline uint32_t pl_side_of(const pl_memsys *m, uint32_t node)
{
    return m->node[node].side;
}

/* The half that owns a line: its memory is there and atomics on it are performed there. */
static inline uint32_t pl_owner_of(const pl_memsys *m, uint64_t line)
{
    return (uint32_t)(scatter(pl_divide(line, &m->by_owner)) >> 20) % m->c->partitions;
}

/* The slice of a half that serves a line. A kilobyte is interleaved over two slices, 256 bytes
 * each, and neighbouring kilobytes over all pairs of slices. (l2_slicemap.bin: lines 0, 1, 4 and 5
 * of eight are equally far from every SM, and so are the others.) A footprint fills the cache
 * evenly (mem_latency.tsv: no miss at 28 MB of 30). */
static inline uint32_t pl_slice_of(const pl_memsys *m, uint64_t line, uint32_t partition)
{
    if (m->c->dram.map ==
        PL_MAP_INTERLEAVED) { /* the slice within a channel is not published: a hash */
        const uint32_t channels = m->c->dram.channels, each = m->c->slices / channels;
        return pl_dram_channel_of(&m->dram, line) * each +
               (uint32_t)(scatter(line / PL_CHANNEL_BYTES / channels) >> 32) % each;
    }
    uint64_t number = line >> m->line_shift, piece = number / PL_PIECE_LINES,
             row = pl_divide(piece, &m->by_pairs);
    uint32_t pair =
        (uint32_t)pl_remainder(piece - row * m->by_pairs.by + (scatter(row) >> 32), &m->by_pairs);
    return partition * m->slices_per_half + pair * m->slices_per_piece +
           ((uint32_t)(number >> 1) & (m->slices_per_piece - 1));
}

static inline uint32_t pl_coalescer_of(const pl_memsys *m, uint32_t node)
{
    return m->node[node].coalescer;
}

/* Allocates a transaction; PL_NO_TXN if none is free. */
static inline uint32_t pl_l2_txn_new(pl_memsys *m)
{
    if (m->free == PL_NO_TXN && m->first_unused == m->ntxn) return PL_NO_TXN;
    const uint32_t i = m->free != PL_NO_TXN ? m->free : m->first_unused++;
    if (i == m->free) m->free = m->txn[i].next;
    m->used++;
    return i;
}

static inline void pl_l2_txn_free(pl_memsys *m, uint32_t i)
{
    m->txn[i].stage = PL_TXN_FREE;
    m->txn[i].next = m->free;
    m->free = i;
    m->used--;
}

/* timing_wheel.c: schedules transaction i for cycle `at`; the caller has set its stage. */
void pl_wheel_schedule(pl_memsys *m, uint32_t i, uint64_t at);
/* First cycle >= m->now with an event inside the wheel, or UINT64_MAX. */
uint64_t pl_wheel_next(const pl_memsys *m);
/* Moves transactions of `overflow_list` that are due within the wheel's range into the wheel. */
void pl_wheel_refill(pl_memsys *m);

/* crossbar.c: precomputes the per-node values that every request needs. */
void pl_crossbar_init_nodes(pl_memsys *m, pl_arena *a);
/* Transaction i completes at `at`: replies to its node and to the nodes of merged reads. */
void pl_crossbar_reply(pl_memsys *m, uint32_t i, uint64_t at);

/* memsys.c */
void pl_reply_add(pl_memsys *m, pl_replies *h, pl_mem_reply r);

/* l2_slice.c: the stages of a transaction. */
void pl_l2_access(pl_memsys *m, uint32_t i, uint64_t now);
void pl_l2_fetch(pl_memsys *m, uint32_t i, uint64_t now);
/* A fill arrived with transaction i; waiting transactions continue too. */
void pl_l2_fill(pl_memsys *m, uint32_t i, uint64_t now);

/* atomic_unit.c: the cycle at which an atomic has been performed. */
uint64_t pl_atomic_unit_perform(const pl_memsys *m, pl_atomic_unit *u, const pl_mem_req *r,
                                uint64_t now);
/* Accesses to a slice stall while its queue of atomics is full. */
void pl_atomic_unit_stall_slice(pl_memsys *m, uint32_t slice);

#endif
