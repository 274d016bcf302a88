/* dram.h - memory partitions: channels with a data bus each, banks with one open row each.
 *
 * An access to the open row of its bank waits for the column latency only. Another row must be
 * closed and opened first, and a bank can activate a row once in a row cycle. The bus transfers one
 * sector after the other, and writes in batches, for which it turns around.
 *
 * FR-FCFS without a queue: row activations are scheduled on arrival. A later access to a row whose
 * activation window is still open joins it (a row hit), whatever came to the bank since. */
#ifndef PL_MEMMODEL_DRAM_H
#define PL_MEMMODEL_DRAM_H

#include "base/arena.h"
#include "base/event.h"
#include "memmodel/port.h"

/* How addresses are distributed over channels, and over their slices of the L2: by a hash, or in
 * turn. In turn, strides of their number times 256 bytes use one channel only ("partition camping",
 * up to Kepler). */
enum { PL_MAP_HASHED, PL_MAP_TURNS };

/* Neighbouring bytes in one channel. */
enum { PL_CHANNEL_BYTES = 256 };

typedef struct pl_dram_config {
    uint32_t channels, banks; /* banks of a channel */
    int map;                  /* PL_MAP_HASHED, PL_MAP_TURNS */
    uint32_t row_bytes;
    uint32_t atom_bytes; /* smallest transfer */
    uint32_t ecc_ratio; /* bytes of data for each one of check bits in the same memory; 0: there are
                           none */
    double bytes_per_cycle; /* all channels together, SM cycles */
    uint32_t latency;       /* controller and column access, SM cycles */
    uint32_t t_rp_rcd;      /* further cycles to close and open a row */
    uint32_t t_rc;          /* cycles between two openings of one bank */
    double t_rrd;           /* cycles between two openings of rows in one channel */
    uint32_t refresh_interval, refresh_time; /* SM cycles; so long a bank stands still */
    uint64_t refresh_awake; /* bytes that a launch uses first: none of them rests then */
    uint32_t turnaround;    /* bus cycles lost between reads and writes */
    uint32_t row_lookahead; /* openings of a bank that an access can go with: the last ones, which
                         bounds how often another is overtaken; 0: one, and no access to it waits */
    uint32_t write_batch;   /* accesses written together by a channel; 0: each as it arrives */
} pl_dram_config;

enum { PL_DRAM_PLANNED = 4 }; /* most openings of a bank that are known */

typedef struct pl_dram_bank {
    struct {
        uint64_t row;            /* plus one; 0: none yet */
        uint64_t open;           /* when it is opened; it closes when the next one is */
    } row_plan[PL_DRAM_PLANNED]; /* ring */
    uint64_t ready;              /* when another row may be opened */
    uint32_t last;               /* of `row_plan` */
    uint32_t refresh_at; /* when it begins to rest, in its interval, plus one; 0: not used yet */
} pl_dram_bank;

typedef struct pl_dram_channel {
    pl_port bus;
    pl_port open; /* one row after the other */
    bool writing;
    uint64_t write_cost; /* of the bus, for what waits to be written */
    uint32_t to_write;   /* accesses */
} pl_dram_channel;

typedef struct pl_dram {
    const pl_dram_config *config; /* not owned */
    pl_dram_channel *channel;
    pl_dram_bank *bank;
    uint32_t used; /* banks so far */
    uint64_t sectors_read, sectors_written, row_hits, row_misses;
    const pl_sink *sink; /* listener for channels, or NULL */
} pl_dram;

void pl_dram_init(pl_dram *d, pl_arena *a, const pl_dram_config *config);
/* Channel that holds an address. */
uint32_t pl_dram_channel_of(const pl_dram *d, uint64_t address);
/* Moves `sectors` sectors of the line at `address`, arriving at the channel at `now`; returns when
 * the last is there. */
uint64_t pl_dram_access(pl_dram *d, uint64_t now, uint64_t address, uint32_t sectors,
                        uint32_t sector_bytes, bool write);

#endif
