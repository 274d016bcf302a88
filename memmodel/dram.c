/* dram.c - memory channels, banks and rows; see dram.h. */
#include "memmodel/dram.h"
#include <string.h>

void pl_dram_init(pl_dram *d, pl_arena *a, pl_arena *banks, const pl_dram_config *config)
{
    *d = (pl_dram){.config = config};
    d->channel = pl_arena_array(a, pl_dram_channel, config->channels);
    d->bank = pl_arena_array(banks, pl_dram_bank, (size_t)config->channels * config->banks);
}

/* Folds the higher bits of a number into its lower ones. Real machines spread addresses over
 * channels by such XOR trees, which are not published. */
static uint64_t fold(uint64_t x)
{
    x ^= x >> 5 ^ x >> 11;
    x ^= x >> 17;
    return x;
}

uint32_t pl_dram_channel_of(const pl_dram *d, uint64_t address)
{
    if (d->config->map == PL_MAP_INTERLEAVED)
        return (uint32_t)(address / PL_CHANNEL_BYTES % d->config->channels);
    return (uint32_t)((fold(address / PL_CHANNEL_BYTES) * 0x9E3779B97F4A7C15ull >> 32) %
                      d->config->channels);
}

/* Regions of the memory are refreshed in all channels at once (refresh.tsv), at times that differ
 * between launches. Here every bank has its own phase, so that a large launch sees the average. The
 * phases fill the interval evenly, in steps of the golden section. A launch that uses few regions
 * mostly finds none in refresh, and the median of such launches is modelled: the first banks that a
 * launch uses are not in refresh. Returns the cycles that an access waits. */
static uint64_t refresh_wait(pl_dram *d, pl_dram_bank *bank, uint64_t now)
{
    const uint64_t interval = d->config->refresh_interval, time = d->config->refresh_time;
    if (!bank->refresh_at) {
        const uint64_t part = (0x80000000u + d->used * 0x9E3779B9ull) & UINT32_MAX;
        const bool not_refreshing =
            (uint64_t)d->used++ * PL_CHANNEL_BYTES < d->config->refresh_free_bytes &&
            time < interval;
        bank->refresh_at =
            (uint32_t)((now + (part * (not_refreshing ? interval - time : interval) >> 32)) %
                       interval) +
            1;
    }
    const uint64_t phase = (now + interval - (bank->refresh_at - 1)) % interval;
    return phase < time ? time - phase : 0;
}

/* When a row still open at `at` was or will be activated, or UINT64_MAX. */
static uint64_t activation_time(const pl_dram_bank *bank, uint32_t planned, uint64_t row,
                                uint64_t at)
{
    uint64_t closes = UINT64_MAX;
    for (uint32_t k = 0; (k == 0 || k < planned) && closes > at; k++) {
        const uint32_t i = (bank->last + PL_DRAM_PLANNED - k) % PL_DRAM_PLANNED;
        if (bank->row_plan[i].row == row + 1) return bank->row_plan[i].open;
        closes = bank->row_plan[i].open;
    }
    return UINT64_MAX;
}

uint64_t pl_dram_access(pl_dram *d, uint64_t now, uint64_t address, uint32_t sectors,
                        uint32_t sector_bytes, bool write)
{
    const pl_dram_config *c = d->config;
    uint32_t ch = pl_dram_channel_of(d, address);
    pl_dram_channel *channel = &d->channel[ch];
    uint64_t row = address / c->row_bytes / c->channels;
    pl_dram_bank *banks = &d->bank[(size_t)ch * c->banks], *bank = &banks[fold(row) % c->banks];
    if (!channel->used) { /* a short launch uses few channels */
        memset(banks, 0, c->banks * sizeof *banks);
        channel->used = true;
    }
    /* For the bank; other banks use the bus meanwhile. */
    uint64_t wait = c->refresh_interval ? refresh_wait(d, bank, now) : 0;
    const uint64_t refresh_end = now + wait; /* end of the refresh */
    uint64_t open = activation_time(bank, c->row_lookahead, row, refresh_end);
    if (open != UINT64_MAX) {
        d->row_hits++;
        if (!c->row_lookahead) open = 0;
    } else {
        d->row_misses++;
        const uint64_t activation_slot =
            pl_port_enter(&channel->open, now, pl_port_cost(c->t_rrd, 1));
        open = refresh_end > bank->ready ? refresh_end : bank->ready;
        if (open < activation_slot) open = activation_slot;
        bank->last = (bank->last + 1) % PL_DRAM_PLANNED;
        bank->row_plan[bank->last].row = row + 1;
        bank->row_plan[bank->last].open = open;
        bank->ready = open + c->t_rc;
    }
    if (open + c->t_rp_rcd > refresh_end) wait = open + c->t_rp_rcd - now;
    uint32_t bytes = sectors * sector_bytes;
    if (bytes % c->atom_bytes) bytes += c->atom_bytes - bytes % c->atom_bytes;
    double width = c->bytes_per_cycle / c->channels;
    uint64_t cost = pl_port_cost(bytes, width);
    if (c->ecc_ratio) { /* check bits of neighbours together, in another row of the bank: reads wait
                           for them */
        cost += cost / c->ecc_ratio;
        if (!write) wait += c->t_rc;
    }
    if (write)
        d->sectors_written += bytes / sector_bytes;
    else
        d->sectors_read += bytes / sector_bytes;
    if (d->sink)
        d->sink->unit(d->sink->ctx, write ? PL_US_DRAM_WRITTEN : PL_US_DRAM_READ, ch, now,
                      bytes / sector_bytes);
    channel->bus.latency = 1;
    if (write && c->write_batch) {
        channel->write_cost += cost;
        if (++channel->pending_writes < c->write_batch) return now + c->latency + wait;
        cost =
            channel->write_cost + 2 * (uint64_t)c->turnaround * PL_SUBCYCLES; /* both turnarounds */
        channel->write_cost = channel->pending_writes = 0;
    } else {
        if (channel->writing != write) cost += (uint64_t)c->turnaround * PL_SUBCYCLES;
        channel->writing = write;
    }
    return pl_port_pass(&channel->bus, now + c->latency, cost) + wait;
}
