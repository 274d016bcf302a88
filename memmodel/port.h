/* port.h - the clocked port: the only channel between components of the memory model.
 *
 * A port has one reader, a width and a latency of at least one cycle. A value that enters at cycle
 * t leaves at t + latency, or later while earlier values still occupy the port. Each value occupies
 * it in proportion to its size. A value that enters in a cycle is not visible in the same cycle, so
 * the order in which components read their ports does not matter. A port is first in, first out, so
 * the cycle at which a value leaves is known when it enters, and the port need not be ticked.
 *
 * Widths are seldom whole numbers of bytes per cycle (L2 and DRAM have their own clocks), so
 * occupation is counted in 1/PL_SUBCYCLES cycles. */
#ifndef PL_MEMMODEL_PORT_H
#define PL_MEMMODEL_PORT_H

#include <stdint.h>

enum { PL_SUBCYCLES = 256 };

typedef struct pl_port {
    uint64_t free; /* 1/PL_SUBCYCLES cycles: when the next value can enter */
    uint64_t busy; /* 1/PL_SUBCYCLES cycles of occupation so far, for utilisation counters */
    uint64_t count;
    uint32_t latency; /* cycles */
} pl_port;

/* The cycle at which a value starts to pass that arrives at `now` and occupies the port for `cost`
 * (1/PL_SUBCYCLES cycles). */
static inline uint64_t pl_port_enter(pl_port *p, uint64_t now, uint64_t cost)
{
    uint64_t at = now * PL_SUBCYCLES;
    if (p->free < at) p->free = at;
    uint64_t start = p->free;
    p->free += cost;
    p->busy += cost;
    p->count++;
    return (start + PL_SUBCYCLES - 1) / PL_SUBCYCLES;
}

/* The cycle at which the value leaves: it has passed completely and the latency has elapsed. */
static inline uint64_t pl_port_pass(pl_port *p, uint64_t now, uint64_t cost)
{
    pl_port_enter(p, now, cost);
    return (p->free + PL_SUBCYCLES - 1) / PL_SUBCYCLES + p->latency;
}

/* The same for a value known at `now` to arrive at `at`: it takes its share of the width, but does
 * not delay values that arrive before it. */
static inline uint64_t pl_port_pass_later(pl_port *p, uint64_t now, uint64_t at, uint64_t cost)
{
    pl_port_enter(p, now, cost);
    uint64_t first = at * PL_SUBCYCLES + cost, out = p->free > first ? p->free : first;
    return (out + PL_SUBCYCLES - 1) / PL_SUBCYCLES + p->latency;
}

/* Cycles that a value arriving now would have to wait. */
static inline uint64_t pl_port_wait(const pl_port *p, uint64_t now)
{
    uint64_t free = (p->free + PL_SUBCYCLES - 1) / PL_SUBCYCLES;
    return free > now ? free - now : 0;
}

/* Cost of `bytes` through a width of `bytes_per_cycle`. */
static inline uint32_t pl_port_cost(double bytes, double bytes_per_cycle)
{
    return (uint32_t)(bytes / bytes_per_cycle * PL_SUBCYCLES + 0.5);
}

#endif
