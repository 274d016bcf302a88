/* host_race.c - under --check race: accesses of the program itself to managed and pinned memory
 * that an operation of a stream may still access.
 *
 * Between two calls, pages are protected if each of their bytes is accessed by operations whose end
 * the host does not know: against writes, or against all accesses if an operation writes all of
 * them. A program without a race never accesses such a page. Pages of which other bytes are free
 * remain accessible, so their races are not found. The first access removes the protection and
 * becomes a finding at the next call. The library itself runs without protection. */
#define _GNU_SOURCE /* REG_RIP */
#include "cudart/activity.h"
#include "cudart/checking.h"
#include "cudart/state.h"
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { MAX_RANGES = 64, MAX_REPEATED = 1000 };

static struct {
    uint8_t *start;
    uint64_t bytes;
} range[MAX_RANGES];
static size_t nranges;
static volatile sig_atomic_t is_protected;
static unsigned calls; /* in progress, of all threads */
static struct sigaction previous;
static bool installed;
static struct {
    volatile sig_atomic_t pending;
    uint64_t address, code;
} access_seen;
static _Thread_local bool in_call;
static _Thread_local const void *last_address; /* of the latest faults of the thread */
static _Thread_local unsigned repeated;

static void set_protection(int how)
{
    for (size_t k = 0; k < nranges; k++) mprotect(range[k].start, range[k].bytes, how);
}

static uint64_t code_of(const void *context)
{
#if defined __x86_64__
    return (uint64_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined __aarch64__
    return ((const ucontext_t *)context)->uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

/* Another thread may have removed the protection since the access: it is repeated then. */
static bool is_ours(const void *address)
{
    repeated = address == last_address ? repeated + 1 : 0;
    last_address = address;
    for (size_t k = 0; k < nranges; k++)
        if ((uintptr_t)address - (uintptr_t)range[k].start < range[k].bytes)
            return is_protected || repeated < MAX_REPEATED;
    return false;
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    const int error = errno;
    if (!is_ours(info->si_addr)) {
        sigaction(sig, &previous, NULL); /* the access is repeated, and handled as before */
        return;
    }
    if (is_protected && !in_call && !access_seen.pending) {
        access_seen.address = (uintptr_t)info->si_addr;
        access_seen.code = code_of(context);
        access_seen.pending = 1;
    }
    set_protection(PROT_READ | PROT_WRITE);
    is_protected = 0;
    errno = error;
}

static bool install(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    if (!installed) installed = sigaction(SIGSEGV, &action, &previous) == 0;
    return installed;
}

/* Protects the pages that lie wholly in [from, to), or in it and behind the end of the allocation.
 */
static void protect(uint64_t from, uint64_t to, bool written)
{
    const uint64_t page = cuda_page(), first = (from + page - 1) / page * page;
    const cuda_alloc *a = cuda_alloc_find(from);
    if (!a || a->type == MEMORY_DEVICE || !a->host_bytes || a->registered || a->fd > 0) return;
    if (to >= a->address + a->size) to = cuda_round_up(a->address + a->size, page);
    to = to / page * page;
    if (first >= to || nranges == MAX_RANGES || !install()) return;
    range[nranges].start = a->bytes + (first - a->address);
    range[nranges].bytes = to - first;
    if (mprotect(range[nranges].start, to - first, written ? PROT_NONE : PROT_READ) == 0) nranges++;
}

static void begin_protection(void)
{
    cuda_stream_race_unordered(protect);
    is_protected = nranges != 0;
}

static void end_protection(void)
{
    if (is_protected) set_protection(PROT_READ | PROT_WRITE);
    is_protected = 0;
    nranges = 0;
    if (!access_seen.pending) return;
    char where[200];
    cuda_position((const void *)(uintptr_t)(access_seen.code + 1), where, sizeof where);
    cuda_stream_race_host(access_seen.address, where);
    access_seen.pending = 0;
}

void cuda_host_race_enter(void)
{
    in_call = true;
    calls++;
    end_protection();
}

void cuda_host_race_leave(void)
{
    in_call = false;
    if (--calls) return; /* another thread's call waits, and may continue at any time */
    begin_protection();
}

void cuda_host_race_function(bool begins)
{
    if (begins)
        begin_protection();
    else
        end_protection();
}
