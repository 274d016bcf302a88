/* host_budget.c - checks the host memory that emulation requires against the memory available. */
#include "base/host.h"
#include "lib/internal.h"
#include <inttypes.h>

/* Overhead of allocator and page tables, and other requirements of the process meanwhile. */
enum { SPARE = 16 << 20 };

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

bool pl_budget_must_check(uint64_t bytes)
{
    return bytes >= SPARE;
}

pl_status pl_budget_check(pl_gpu *gpu, pl_loc at, const char *operation, const pl_need *need,
                          size_t n)
{
    uint64_t sum[] = {0, 0, 0}, all = 0;
    for (size_t k = 0; k < n; k++) {
        sum[need[k].kind] = add(sum[need[k].kind], need[k].bytes);
        all = add(all, need[k].bytes);
    }
    if (!pl_budget_must_check(all)) return PL_OK;
    const uint64_t mapped = sum[PL_NEED_MAPPED];
    uint64_t wanted = sum[PL_NEED_MEMORY], counted = add(wanted, mapped);
    pl_host_available available = pl_host_memory(pl_memory_unwritten_bytes(&gpu->memory));
    const bool enough = !pl_budget_must_check(counted) || add(wanted, SPARE) <= available.bytes;
    if (enough) {
        wanted = add(wanted, sum[PL_NEED_ADDRESS_SPACE]);
        counted = all;
        available = pl_host_address_space();
        if (add(wanted, SPARE) <= available.bytes) return PL_OK;
    }
    const pl_need *largest = need;
    for (size_t k = 0; k < n; k++)
        if (need[k].bytes > largest->bytes && (enough || need[k].kind != PL_NEED_ADDRESS_SPACE))
            largest = &need[k];
    pl_diag *d = pl_report(&gpu->diags, PL_E0412, at, operation,
                           pl_arena_printf(gpu->messages, "%" PRIu64, counted),
                           pl_arena_printf(gpu->messages, "%" PRIu64 " %s",
                                           add(available.bytes, mapped), available.by));
    d->help = pl_arena_printf(gpu->messages, "the largest part is %s with %" PRIu64 " bytes: %s",
                              largest->what, largest->bytes, largest->remedy);
    return PL_INVALID;
}

uint64_t pl_budget_left(const pl_gpu *gpu)
{
    const uint64_t available = pl_host_memory(pl_memory_unwritten_bytes(&gpu->memory)).bytes;
    return available > SPARE ? available - SPARE : 1;
}
