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

pl_status pl_budget_check(pl_gpu *gpu, pl_loc at, const char *operation, const pl_need *need,
                          size_t n)
{
    const pl_need *largest = need;
    uint64_t unmapped = 0, mapped = 0;
    for (size_t k = 0; k < n; k++) {
        uint64_t *sum = need[k].mapped ? &mapped : &unmapped;
        *sum = add(*sum, need[k].bytes);
        if (need[k].bytes > largest->bytes) largest = &need[k];
    }
    if (add(unmapped, mapped) < SPARE) return PL_OK;
    const pl_host_available available = pl_host_memory(pl_memory_unwritten_bytes(&gpu->memory));
    if (add(unmapped, SPARE) <= available.bytes) return PL_OK;
    pl_diag *d = pl_report(&gpu->diags, PL_E0412, at, operation,
                           pl_arena_printf(gpu->messages, "%" PRIu64, add(unmapped, mapped)),
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
