/* inject.c - see inject.h.
 *
 * Allocations: this file redefines the allocation functions of the C library, so calls of the
 * program, SQLite, jansson and the C library itself arrive here. System calls: a seccomp filter
 * turns calls on files into a signal; its handler repeats the call with a mark that lets it pass.
 * Thus calls made inside the C library are covered as well. */
#define _GNU_SOURCE
#include "tests/inject.h"
#include "base/poison.h"
#include <dlfcn.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static inject_kind kind;
static long chosen;
static int error_code;
static inject_counts *count, own;
static _Atomic long allocations, calls;
static const inject_forks *forks;
static bool has_fault;       /* a child of fork_at */
static _Atomic bool threads; /* another thread was created */

void inject_fired(void)
{
    count->fired = true;
}

/* ---- memory ---- */

#ifdef PL_POISON
#define REAL(name) __interceptor_##name
#else
#define REAL(name) __libc_##name
#endif
void *REAL(malloc)(size_t);
void *REAL(calloc)(size_t, size_t);
void *REAL(realloc)(void *, size_t);
void *REAL(memalign)(size_t, size_t);
void REAL(free)(void *);

static bool other_threads(void)
{
    struct stat s;
    return atomic_load(&threads) && (stat("/proc/self/task", &s) != 0 || s.st_nlink != 3);
}

/* True in the child that gets the fault. */
static bool fork_at(long n)
{
    static long next;
    if (other_threads()) return false;
    while (next < forks->n && forks->at[next] < n) next++;
    if (next == forks->n || forks->at[next] != n) return false;
    const inject_kind what = kind;
    const int saved = errno;
    int status;
    kind = INJECT_NONE; /* allocations of the functions called here do not count */
    count->later = 0;
    forks->before();
    /* Not fork(): the thread keeps its identity in the C library, and with it the locks it owns. */
    const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        forks->child();
        forks = NULL;
        has_fault = true;
        chosen = n;
    } else {
        while (child > 0 && waitpid(child, &status, 0) < 0)
            if (errno != EINTR) _exit(EXIT_FAILURE);
        if (child > 0) forks->after(n, status);
    }
    kind = what;
    errno = saved;
    return child == 0;
}

static bool memory_fails(void)
{
    if (kind == INJECT_NONE || !count) return false;
    const long n = atomic_fetch_add(&allocations, 1);
    count->allocations = n + 1;
    if (forks && !fork_at(n)) return false;
    if (has_fault) count->later = n - chosen;
    const bool fails =
        (kind == INJECT_MEMORY && n == chosen) || (kind == INJECT_MEMORY_FROM && n >= chosen);
    if (fails) {
        inject_fired();
        errno = ENOMEM;
    }
    return fails;
}

#ifdef PL_POISON /* the sanitizer checks what is freed */
#define note_start(p) (p)
#define forget(p)     ((void)(p))
#else
/* One bit for each 16 bytes of the address space: an allocation starts there. */
static _Atomic unsigned char *starts;
enum { ADDRESS_BITS = 47 };

static void *note_start(void *p)
{
    const uintptr_t k = (uintptr_t)p / 16;
    if (!starts) {
        const long at =
            syscall(SYS_mmap, NULL, (size_t)1 << (ADDRESS_BITS - 7), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == -1) _exit(EXIT_FAILURE);
        starts = (_Atomic unsigned char *)at;
    }
    if (p) atomic_fetch_or(&starts[k / 8], (unsigned char)(1 << k % 8));
    return p;
}

/* Ends the process if no allocation starts at p. */
static void forget(void *p)
{
    const uintptr_t k = (uintptr_t)p / 16;
    const unsigned char bit = (unsigned char)(1 << k % 8);
    if (p && !(atomic_fetch_and(&starts[k / 8], (unsigned char)~bit) & bit)) abort();
}

/* The child of a run that forks does not reuse memory: free() would write to most pages, and each
 * would be copied first. */
void free(void *p)
{
    forget(p);
    if (!has_fault) REAL(free)(p);
}
#endif

void *malloc(size_t n)
{
    return memory_fails() ? NULL : note_start(REAL(malloc)(n));
}

void *calloc(size_t n, size_t size)
{
    return memory_fails() ? NULL : note_start(REAL(calloc)(n, size));
}

void *realloc(void *p, size_t n)
{
    if (memory_fails()) return NULL;
    forget(p);
    void *moved = REAL(realloc)(p, n);
    if (!moved && n) (void)note_start(p);
    return note_start(moved);
}

void *aligned_alloc(size_t align, size_t n)
{
    return memory_fails() ? NULL : note_start(REAL(memalign)(align, n));
}

int posix_memalign(void **p, size_t align, size_t n)
{
    if (memory_fails()) return ENOMEM;
    *p = note_start(REAL(memalign)(align, n));
    return *p ? 0 : ENOMEM;
}

#ifndef PL_POISON
void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    if ((flags & MAP_ANONYMOUS) && memory_fails()) return MAP_FAILED;
    const long p = syscall(SYS_mmap, at, n, protection, flags, fd, offset);
    return p == -1 ? MAP_FAILED : (void *)p;
}
#endif

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *arg)
{
    typedef int function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    function *real;
    if (memory_fails()) return EAGAIN;
    void *found = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&real, &found, sizeof real);
    atomic_store(&threads, true);
    return real(thread, attributes, start, arg);
}

/* ---- system calls ---- */

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define REGISTER(c, k)                                                                             \
    ((c)->uc_mcontext.gregs[(const int[]){REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8}[k]])
#define RESULT(c) ((c)->uc_mcontext.gregs[REG_RAX])
#elif defined __aarch64__
#define ARCHITECTURE   AUDIT_ARCH_AARCH64
#define REGISTER(c, k) ((c)->uc_mcontext.regs[k])
#define RESULT(c)      ((c)->uc_mcontext.regs[0])
#endif

#ifdef ARCHITECTURE
#define MARK 0x70746C6Fu /* sixth argument of a call that passes: others have at most five */

static const int watched[] = {
#ifdef SYS_open
    SYS_open,      SYS_rename,   SYS_unlink,
#endif
    SYS_openat,    SYS_read,     SYS_pread64,   SYS_readv,     SYS_write,
    SYS_pwrite64,  SYS_writev,   SYS_fsync,     SYS_fdatasync, SYS_ftruncate,
    SYS_fallocate, SYS_renameat, SYS_renameat2, SYS_unlinkat,  SYS_linkat,
    SYS_close,     SYS_lseek,    SYS_fcntl,     SYS_fchmod,    SYS_copy_file_range};

static bool transfers(int call)
{
    return call == SYS_read || call == SYS_pread64 || call == SYS_write || call == SYS_pwrite64;
}

static bool writes(int call)
{
    return call == SYS_write || call == SYS_pwrite64 || call == SYS_writev || call == SYS_fsync ||
           call == SYS_fdatasync || call == SYS_ftruncate;
}

static void on_call(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    ucontext_t *c = context;
    const int call = info->si_syscall, saved = errno;
    long a[5], result;
    for (int k = 0; k < 5; k++) a[k] = (long)REGISTER(c, k);
    const bool message =
        writes(call) && a[0] == STDERR_FILENO; /* error messages are not injected */
    const long n = message ? -1 : atomic_fetch_add(&calls, 1);
    if (!message) count->calls = n + 1;
    bool here = n == chosen;
    if (here || (kind == INJECT_ERROR_FROM && n > chosen && writes(call))) {
        if (kind == INJECT_KILL) kill(getpid(), SIGKILL);
        if (kind == INJECT_ERROR || kind == INJECT_ERROR_FROM) {
            /* The descriptor is closed even then. */
            if (call == SYS_close) syscall(call, a[0], 0, 0, 0, 0, MARK);
            inject_fired();
            RESULT(c) = (__typeof__(RESULT(c)))-error_code;
            errno = saved;
            return;
        }
        if (kind == INJECT_SHORT && transfers(call) && a[2] > 1) {
            a[2] = 1;
            inject_fired();
        }
    }
    result = syscall(call, a[0], a[1], a[2], a[3], a[4], MARK);
    RESULT(c) = (__typeof__(RESULT(c)))(result == -1 ? -errno : result);
    errno = saved;
}

static bool watch_calls(void)
{
    enum { N = sizeof watched / sizeof *watched };
    struct sock_filter f[N + 9];
    unsigned short n = 0;
    f[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    f[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned k = 0; k < N; k++)
        f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)watched[k],
                                              (unsigned char)(N - k), 0);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                          offsetof(struct seccomp_data, args[5]));
    f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MARK, 0, 1);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    const struct sock_fprog program = {n, f};
    struct sigaction s = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_NODEFER};
    return sigaction(SIGSYS, &s, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
#else
static bool watch_calls(void)
{
    return false;
}
#endif

bool inject_arm(inject_kind what, long n, int code, inject_counts *counts)
{
    chosen = n;
    error_code = code;
    count = counts ? counts : &own;
    if (what >= INJECT_ERROR && !watch_calls()) return false;
    kind = what;
    return true;
}

void inject_fork(inject_kind what, const inject_forks *f, inject_counts *counts)
{
    forks = f;
    count = counts;
    kind = what;
}
