/* memsys.h - the memory hierarchy below the SMs: crossbar, L2 slices, memory partitions.
 *
 *     SM --outbox--> [request port of the SM] --> slice port --> L2 slice --> DRAM channel
 *     SM <--heap---- [reply port of the SM] <------ slice <------ fill <----------'
 *
 * Time advances in windows. The SMs run up to some cycle and leave their requests in outboxes. Then
 * pl_memsys_run processes, in cycle order, all events up to a cycle that no further request can
 * precede. It places the replies where the SMs find them. The crossbar takes `xbar_latency` cycles
 * in each direction, so a window may be that long. The events up to the end of one window produce
 * replies for the next one at the earliest. Events may therefore be processed
 * (pl_memsys_run_events) by another thread while the nodes run. Events of one cycle are processed
 * in the order of requesters. The result therefore depends neither on the order in which SMs ran
 * nor on the number of threads that ran them. */
#ifndef PL_MEMMODEL_MEMSYS_H
#define PL_MEMMODEL_MEMSYS_H

#include "base/event.h"
#include "base/status.h"
#include "memmodel/cache.h"
#include "memmodel/dram.h"
#include "memmodel/request.h"
#include "memmodel/page_faults.h"
#include "memmodel/tlb.h"

typedef struct pl_memsys_config {
    uint32_t nodes;      /* SMs */
    uint32_t groups;     /* GPCs: SMs that share a port into the crossbar */
    uint32_t coalescers; /* sets of neighbouring SMs whose identical reads are merged; equal to the
                            number of SMs: no merging */
    uint32_t max_merged, max_code_merged; /* most SMs that share a merged read, of data and of code
                                     or constants; 0: all of a set */
    uint32_t line_bytes, sector_bytes;
    /* crossbar */
    uint32_t xbar_latency;   /* one way */
    uint32_t far_latency;    /* between the halves of the L2, one way */
    uint32_t partitions;     /* halves of the L2, 1 or 2 */
    uint64_t owner_bytes;    /* contiguous bytes owned by one half */
    uint32_t slice_distance; /* extra cycles of the farthest slice over the nearest, round trip */
    double up_bytes, down_bytes; /* per cycle and SM */
    double l1_down_bytes;        /* the same for requests of the L1 */
    double partial_packet; /* least cycles of the up port for a write that fills its sectors only in
                              part: this many for each sector, plus once more */
    double group_down_bytes; /* per cycle and group */
    uint32_t header_bytes;   /* of a request */
    double up_atomic_bytes;  /* per cycle and SM, operands of atomics and reductions */
    /* Cycles of the up port for each serialised operation of an atomic or a reduction. */
    double atomic_packet, reduce_packet;
    double atomic_bank_packet; /* the same for atomics on words in different banks; 0: no
                                  distinction */
    /* L2 */
    uint64_t l2_bytes;
    uint32_t slices, l2_ways;
    uint32_t l2_latency;     /* tag look-up and data of a hit */
    double far_atomic_bytes; /* per cycle, operands of atomics from one half to the other */
    double slice_bytes;      /* per SM cycle and slice */
    double atomic_sector[PL_ALU_KINDS];  /* cycles that a slice takes for each further sector of an
                                            atomic */
    double atomic_op_cost[PL_ALU_KINDS]; /* least cycles for one operation on words of a sector */
    double atomic_word_cost;     /* cycles for each further 4 bytes of a floating-point operation */
    uint32_t atomic_queue_limit; /* cycles of queued arithmetic above which all accesses to the
                             slice wait; 0: no limit */
    double atomic_line_interval; /* cycles from the first operation of an atomic on a line until the
                            next atomic can modify the line */
    double atomic_address_interval[PL_ALU_KINDS]; /* cycles between operations on one address */
    double slice_request; /* least cycles that a slice takes for a request */
    double write; /* least cycles that the slice that owns a line takes for each sector written; 0:
                     as for reads */
    double partial_write; /* least cycles that it takes for a write that fills its sectors only in
                             part */
    uint32_t write_read_delay; /* cycles from a write's arrival until a read of its line leaves the
                         slice; 0: no extra delay */
    double partial_next;       /* further cycles for each further sector of such a write */
    double l2_fill;            /* cycles that the slice takes for each incoming fill sector */
    uint32_t l2_fill_sectors;  /* sectors fetched together from DRAM */
    uint64_t l2_persisting;    /* bytes that lines with the priority evict_last may occupy */
    uint64_t page_bytes;       /* memory that one translation covers */
    uint32_t page_walk;        /* cycles of a translation; 0: no access waits for translations */
    uint32_t link_latency;     /* cycles that a read of host memory waits for the link */
    double link_read, link_write; /* bytes per cycle over the link; 0: host memory is treated as
                                     device memory */
    uint32_t link_min_bytes;      /* minimum transfer size of a read, in bytes */
    pl_fault_config faults;
    pl_dram_config dram;
    uint32_t in_flight; /* most requests in flight, all nodes together */
} pl_memsys_config;

/* Costs of requests from a node to the crossbar, in 1/PL_SUBCYCLES cycles. */
typedef struct pl_up_costs {
    /* line: operands for a whole line; packet: of an atomic, of a reduction; bank_spread: of an
     * atomic on words in different banks. */
    uint32_t header, sector, partial, atomic, line, packet[2], bank_spread;
    uint32_t sector_bytes;
} pl_up_costs;

pl_up_costs pl_up_costs_of(const pl_memsys_config *c);

static inline uint32_t pl_up_cost(const pl_up_costs *u, const pl_mem_req *r)
{
    if (r->op == PL_MEM_READ || r->op >= PL_MEM_DEMOTE) return u->header;
    if (r->op == PL_MEM_WRITE) {
        uint32_t n = pl_sector_count(r->sectors),
                 cost = u->header + u->sector * r->bytes * 4 / u->sector_bytes;
        return r->bytes * 4u < n * u->sector_bytes && cost < u->partial * (n + 1)
                   ? u->partial * (n + 1)
                   : cost;
    }
    /* Lanes with the same address are serialised; each round also serves lanes with other addresses
     * of the line. A packet carries the operands for one sector; operands for several sectors take
     * a whole line (red.tsv: 33 cycles for 32 random words in as many lines, 46 in 20 lines, 6 in
     * one). */
    const uint32_t sectors = pl_sector_count(r->sectors),
                   later = r->max_same_address > 1 ? r->max_same_address - 1u : 0;
    const uint32_t left = r->sector_ops > sectors ? r->sector_ops - sectors : 0,
                   wide = left <= later          ? 0
                          : left - later < later ? left - later
                                                 : later;
    const uint32_t cost = u->header + u->atomic * r->bytes * 4 / u->sector_bytes;
    const uint32_t packet = r->bank_spread ? u->bank_spread : u->packet[r->op == PL_MEM_REDUCE];
    const uint32_t packets =
        sectors < 2 ? packet * (1 + later) : u->line * (1 + wide) + packet * (later - wide);
    return packets > cost ? packets : cost;
}

typedef struct pl_memsys_stat {
    uint64_t requests, read_sectors, write_sectors, atomic_sectors, reduce_sectors;
    uint64_t hit_sectors, miss_sectors, fills;
    uint64_t data_requests, data_sectors, data_hits; /* of these, at the slice that a node accesses,
                                                        for anything but code and constants */
    uint64_t far_writes;                             /* of far_sectors */
    /* At the slice of the other half, forwarded by the slice accessed first. */
    uint64_t far_requests, far_sectors;
    uint64_t last_effect; /* cycle of the last write, reduction or atomic performed */
} pl_memsys_stat;

typedef struct pl_memsys pl_memsys;

/* Memory of a part of the timing model; sparse: of tables sized for the worst case, which mostly
 * stay untouched; dense: of the rest. */
typedef struct pl_model_bytes {
    uint64_t dense, sparse;
} pl_model_bytes;
/* What pl_memsys_open allocates. */
pl_model_bytes pl_memsys_bytes(const pl_memsys_config *config);
/* Allocates everything from the arenas. `sparse` provides the tables sized for the worst case,
 * `tags` the sets of the caches; neither need be zeroed. Returns NULL when out of memory. The
 * configuration must outlive the memory system. */
pl_memsys *pl_memsys_open(pl_arena *a, pl_arena *tags, pl_arena *sparse,
                          const pl_memsys_config *config);
/* Sets the table of translated pages; not owned. Without it, all pages are translated. */
void pl_memsys_set_tlb(pl_memsys *m, pl_tlb *tlb);
/* Sets the managed memory whose pages migrate on access; not owned. Its masks and statistics are
 * valid between calls. Without it, all pages are on the GPU. */
void pl_memsys_set_page_faults(pl_memsys *m, pl_page_faults *faults);
/* Host memory that is accessed across the link: ranges by address, not owned. */
typedef struct pl_mem_range {
    uint64_t address, size;
} pl_mem_range;
void pl_memsys_set_host(pl_memsys *m, const pl_mem_range *range, size_t n);
/* Reports the activity of slices and channels to a listener. */
void pl_memsys_watch(pl_memsys *m, const pl_sink *sink);
/* Takes the requests of an outbox (all with time >= the last `until`) and empties it. Must be
 * called once for each node, in order. */
void pl_memsys_send(pl_memsys *m, pl_mem_outbox *box);
/* From now on no request leaves its node before this cycle. */
void pl_memsys_set_horizon(pl_memsys *m, uint64_t cycle);
/* Processes the events before cycle `until`. Nodes in other threads may meanwhile take replies that
 * were published before. */
void pl_memsys_run_events(pl_memsys *m, uint64_t until);
/* Makes the new replies visible to the nodes. No thread may process events or take replies
 * meanwhile. */
void pl_memsys_publish_replies(pl_memsys *m);
/* All three steps, for a sequential caller: requests leave no earlier than one crossbar latency
 * before `until`. */
void pl_memsys_run(pl_memsys *m, uint64_t until);
/* Earliest cycle with an event, or UINT64_MAX. */
uint64_t pl_memsys_next(const pl_memsys *m);
/* Earliest reply for a node, or UINT64_MAX; pl_memsys_reply removes it when it is due. */
uint64_t pl_memsys_reply_time(const pl_memsys *m, uint32_t node);
/* True if requests of the node waited for pages when replies were published last. */
bool pl_memsys_waits_for_pages(const pl_memsys *m, uint32_t node);
bool pl_memsys_reply(pl_memsys *m, uint32_t node, uint64_t now, pl_mem_reply *out);
const pl_memsys_stat *pl_memsys_stats(const pl_memsys *m);
const pl_dram *pl_memsys_dram(const pl_memsys *m);
/* Requests in flight, for the report of a deadlock. */
uint32_t pl_memsys_pending(const pl_memsys *m);
bool pl_memsys_overflowed(const pl_memsys *m);

#endif
