/* dram.h - memory partitions: channels with a data bus each, banks with one open row each.
 *
 * An access to the open row of its bank waits for the column latency only. Any other row requires a
 * precharge and an activation, and a bank can activate a row once per row cycle. The bus transfers
 * sectors sequentially; writes are batched, with a bus turnaround for each batch.
 *
 * FR-FCFS without a queue: row activations are scheduled on arrival. A later access to a row whose
 * activation window is still open joins it (a row hit), regardless of accesses to the bank in
 * between. */
#ifndef PL_MEMMODEL_DRAM_H
#define PL_MEMMODEL_DRAM_H

#include "base/arena.h"
#include "base/event.h"
#include "memmodel/port.h"

/* Distribution of addresses over channels, and over their L2 slices: hashed or interleaved. When
 * interleaved, strides that are multiples of the number of channels times 256 bytes use one channel
 * only ("partition camping", up to Kepler). */
enum { PL_MAP_HASHED, PL_MAP_INTERLEAVED };

/* Contiguous bytes in one channel. */
enum { PL_CHANNEL_BYTES = 256 };

typedef struct pl_dram_config {
    uint32_t channels, banks; /* banks of a channel */
    int map;                  /* PL_MAP_HASHED, PL_MAP_INTERLEAVED */
    uint32_t row_bytes;
    uint32_t atom_bytes;    /* smallest transfer */
    uint32_t ecc_ratio;     /* data bytes per byte of check bits in memory; 0: no in-memory ECC */
    double bytes_per_cycle; /* all channels together, SM cycles */
    uint32_t latency;       /* controller and column access, SM cycles */
    uint32_t t_rp_rcd;      /* further cycles to close and open a row (precharge and activate) */
    uint32_t t_rc;          /* cycles between two activations of one bank */
    double t_rrd;           /* cycles between two activations in one channel */
    uint32_t refresh_interval, refresh_time; /* SM cycles; refresh_time: duration of a bank's
                                                refresh */
    uint64_t refresh_free_bytes; /* the first bytes that a launch uses: their banks are not in
                               refresh at first */
    uint32_t turnaround;         /* bus cycles lost between reads and writes */
    uint32_t row_lookahead; /* activations of a bank that an access can still use: the most recent
                               ones; it bounds reordering. 0: one, and accesses to it do not wait */
    uint32_t write_batch; /* accesses of a channel that are written together; 0: each on arrival */
} pl_dram_config;

enum { PL_DRAM_PLANNED = 4 }; /* most scheduled activations of a bank */

typedef struct pl_dram_bank {
    struct {
        uint64_t row;            /* plus one; 0: none yet */
        uint64_t open;           /* when it is activated; it closes at the next activation */
    } row_plan[PL_DRAM_PLANNED]; /* ring */
    uint64_t ready;              /* when another row may be activated */
    uint32_t last;               /* of `row_plan` */
    uint32_t refresh_at; /* phase of its refresh in the interval, plus one; 0: not used yet */
} pl_dram_bank;

typedef struct pl_dram_channel {
    pl_port bus;
    pl_port open; /* activations, one row at a time */
    bool used;    /* its banks have been initialised */
    bool writing;
    uint64_t write_cost;     /* bus occupation of the pending writes */
    uint32_t pending_writes; /* pending writes */
} pl_dram_channel;

typedef struct pl_dram {
    const pl_dram_config *config; /* not owned */
    pl_dram_channel *channel;
    pl_dram_bank *bank; /* undefined until its channel is used */
    uint32_t used;      /* banks used so far */
    uint64_t sectors_read, sectors_written, row_hits, row_misses;
    const pl_sink *sink; /* listener for channels, or NULL */
} pl_dram;

/* banks: memory for the banks; it need not be zeroed. */
void pl_dram_init(pl_dram *d, pl_arena *a, pl_arena *banks, const pl_dram_config *config);
/* Channel that holds an address. */
uint32_t pl_dram_channel_of(const pl_dram *d, uint64_t address);
/* Transfers `sectors` sectors of the line at `address`, arriving at the channel at `now`. Returns
 * when the last one is available. */
uint64_t pl_dram_access(pl_dram *d, uint64_t now, uint64_t address, uint32_t sectors,
                        uint32_t sector_bytes, bool write);

#endif
