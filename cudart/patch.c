/* patch.c - programs with the statically linked runtime, which is nvcc's default. Their own cuda...
 * functions are located by the symbol tables of their files. The first instruction of each is
 * replaced by a jump to ours, before the program's constructors run. The same holds for libraries
 * that it opens later (dlopen): the dynamic linker calls a function for debuggers (_r_debug.r_brk)
 * once it has mapped them, and these calls become calls of ours.
 *
 * Only x86-64. A five-byte jump reaches a table of far jumps that is placed near the program. */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "cudart/image.h"
#include "cudart/state.h"
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NEAR_CALL = 0xe8, /* first bytes of near branches */
    NEAR_JUMP = 0xe9,
    NEAR_JUMP_BYTES = 5, /* bytes of either */
    FAR_JUMP_BYTES = 14  /* bytes of a far jump */
};

static const Elf64_Sym *find_symbol(const cuda_host_image *i, const char *name)
{
    for (size_t k = 0; k < i->nsymbols; k++) {
        const Elf64_Sym *s = &i->symbol[k];
        if (ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_shndx != SHN_UNDEF &&
            strcmp(cuda_host_image_name(i, s), name) == 0)
            return s;
    }
    return NULL;
}

static int by_name(const void *key, const void *entry)
{
    return strcmp(key, (*(const cuda_entry_point *const *)entry)->name);
}

static int sort_by_name(const void *a, const void *b)
{
    return strcmp((*(const cuda_entry_point *const *)a)->name,
                  (*(const cuda_entry_point *const *)b)->name);
}

/* True for entry points of the runtime. The driver is never linked statically: a function of the
 * program with a name of the driver belongs to the program, which loads the driver dynamically. */
static bool is_runtime_entry(const cuda_entry_point *e)
{
    return strncmp(e->name, "cuda", 4) == 0 || strncmp(e->name, "__cuda", 6) == 0;
}

/* Returns the entry points of one version of the runtime, by name. */
static const cuda_entry_point **entry_points(unsigned version, size_t *n)
{
    const cuda_entry_point **e = malloc(cuda_entry_point_count * sizeof *e);
    *n = 0;
    for (size_t k = 0; e && k < cuda_entry_point_count; k++)
        if (cuda_entry_points[k].versions & version && is_runtime_entry(&cuda_entry_points[k]))
            e[(*n)++] = &cuda_entry_points[k];
    if (e) qsort(e, *n, sizeof *e, sort_by_name);
    return e;
}

/* Functions that were added or removed identify the version. */
static unsigned version_of(const cuda_host_image *i)
{
    if (find_symbol(i, "cudaBindTexture")) return 1;
    return find_symbol(i, "cudaGetDeviceProperties_v2") ? 2 : 4;
}

/* Allocates memory within reach of a near jump from the program. */
static uint8_t *allocate_near(uint64_t base, uint64_t end, size_t size)
{
    const uint64_t step = 1 << 20, max_distance = UINT64_C(1) << 30;
    const size_t rounded = (size + 4095) / 4096 * 4096;
    for (uint64_t k = 0; k < max_distance / step; k++) {
        for (int below = 0; below < 2; below++) {
            const uint64_t distance = (k + 1) * step;
            if (below && base < distance + step) continue;
            const uint64_t at =
                (below ? base - distance : end + distance - step) / 4096 * 4096 + 4096;
            void *p = mmap((void *)(uintptr_t)at, rounded, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
            if (p == (void *)(uintptr_t)at) return p;
            if (p != MAP_FAILED) munmap(p, rounded);
        }
    }
    return NULL;
}

static void far_jump(uint8_t *at, const void *to)
{
    static const uint8_t jump[6] = {0xff, 0x25}; /* jmp *0(%rip) */
    memcpy(at, jump, sizeof jump);
    memcpy(at + sizeof jump, &to, sizeof to);
}

static void near_branch(uint8_t *at, uint8_t opcode, const uint8_t *to)
{
    const int32_t distance = (int32_t)(to - (at + NEAR_JUMP_BYTES));
    at[0] = opcode;
    memcpy(at + 1, &distance, sizeof distance);
}

/* The pages of the program's code from its first segment to its last. */
typedef struct span {
    uint64_t base, first, end; /* load bias; range of the code */
} span;

static bool protect(const span *s, int protection)
{
    const uint64_t from = s->first / 4096 * 4096;
    return mprotect((void *)(uintptr_t)from, s->end - from, protection) == 0;
}

static bool redirect(const cuda_host_image *i, const span *s)
{
    size_t n, used = 0;
    const cuda_entry_point **e = entry_points(version_of(i), &n);
    uint8_t *table = e ? allocate_near(s->first, s->end, n * FAR_JUMP_BYTES) : NULL;
    bool ok = table && protect(s, PROT_READ | PROT_WRITE | PROT_EXEC);
    for (size_t k = 0; ok && k < i->nsymbols; k++) {
        const Elf64_Sym *symbol = &i->symbol[k];
        const uint64_t at = s->base + symbol->st_value;
        if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF) continue;
        if (at < s->first || s->end - at < NEAR_JUMP_BYTES) continue;
        const cuda_entry_point *const *found =
            bsearch(cuda_host_image_name(i, symbol), e, n, sizeof *e, by_name);
        if (!found || used == n) continue;
        far_jump(table + used * FAR_JUMP_BYTES, (*found)->address);
        near_branch((uint8_t *)(uintptr_t)at, NEAR_JUMP, table + used * FAR_JUMP_BYTES);
        used++;
    }
    if (ok) ok = protect(s, PROT_READ | PROT_EXEC);
    if (table) mprotect(table, n * FAR_JUMP_BYTES, PROT_READ | PROT_EXEC);
    free(e);
    return ok;
}

static span code_span(const struct dl_phdr_info *o)
{
    span s = {.base = o->dlpi_addr, .first = UINT64_MAX};
    for (int k = 0; k < o->dlpi_phnum; k++) {
        const Elf64_Phdr *p = &o->dlpi_phdr[k];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X)) continue;
        const uint64_t at = s.base + p->p_vaddr;
        if (at < s.first) s.first = at;
        if (at + p->p_memsz > s.end) s.end = at + p->p_memsz;
    }
    return s;
}

/* Objects that have been seen so far, by load bias. */
static struct {
    uint64_t *at;
    size_t n, cap;
    unsigned long long removed; /* objects that the program had closed when they were seen */
} seen;

/* False: no memory, or it was there before. */
static bool is_new(const struct dl_phdr_info *o)
{
    if (seen.removed != o->dlpi_subs) seen.n = 0; /* addresses may have been used again */
    seen.removed = o->dlpi_subs;
    for (size_t k = 0; k < seen.n; k++)
        if (seen.at[k] == o->dlpi_addr) return false;
    uint64_t *at = cuda_array_room(seen.at, seen.n, &seen.cap, sizeof *at);
    if (!at) return false;
    seen.at = at;
    seen.at[seen.n++] = o->dlpi_addr;
    return true;
}

static bool is_redirected(const cuda_host_image *i, const struct dl_phdr_info *o)
{
    const Elf64_Sym *s = find_symbol(i, "__cudaRegisterFatBinary");
    return *(const uint8_t *)(uintptr_t)(o->dlpi_addr + s->st_value) == NEAR_JUMP;
}

/* Finds the symbol table with the functions of a statically linked runtime. NVIDIA's shared
 * runtime, which programs may open by its path, exports them. */
static bool find_runtime(cuda_host_image *i)
{
    static const uint32_t table[] = {SHT_SYMTAB, SHT_DYNSYM};
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (cuda_host_image_symbols(i, table[k]) && find_symbol(i, "__cudaRegisterFatBinary") &&
            find_symbol(i, "cudaMalloc"))
            return true;
    return false;
}

static bool is_this_library(const struct dl_phdr_info *o)
{
    Dl_info info;
    return dladdr(&seen, &info) && (uintptr_t)info.dli_fbase == o->dlpi_addr;
}

static int patch_object(struct dl_phdr_info *o, size_t size, void *program)
{
    (void)size;
    cuda_host_image i;
    const bool first = *(int *)program == 0;
    const char *path = first ? "/proc/self/exe" : o->dlpi_name;
    *(int *)program = 1;
    if (!*path || !is_new(o) || is_this_library(o)) return 0;
    if (cuda_host_image_open(path, &i) && i.size > 0) {
        if (find_runtime(&i)) {
            const span s = code_span(o);
            if (!is_redirected(&i, o) && !redirect(&i, &s))
                cuda_report("the calls of %s cannot be redirected: %s", path, strerror(errno));
        } else if (first && cuda_host_image_is_stripped_runtime(&i)) {
            cuda_report(CUDA_RELINK, program_invocation_name);
            _exit(2);
        }
    }
    cuda_host_image_close(&i);
    return 0;
}

#ifdef __x86_64__
/* Called by the dynamic linker in place of its function for debuggers. */
static void patch_opened(void)
{
    const union {
        uint64_t address;
        void (*function)(void);
    } debugger = {.address = _r_debug.r_brk};
    int program = 0;
    if (_r_debug.r_state == RT_CONSISTENT) dl_iterate_phdr(patch_object, &program);
    debugger.function();
}

static int find_linker(struct dl_phdr_info *o, size_t size, void *linker)
{
    (void)size;
    const span s = code_span(o);
    if (s.first > _r_debug.r_brk || s.end <= _r_debug.r_brk) return 0;
    *(span *)linker = s;
    return 1;
}

/* Redirects the calls of the function for debuggers, and jumps to it. The function itself may hold
 * a breakpoint of a debugger. */
static void watch_linker(void)
{
    span s;
    if (!_r_debug.r_brk || !dl_iterate_phdr(find_linker, &s)) return;
    uint8_t *table = allocate_near(s.first, s.end, FAR_JUMP_BYTES);
    if (!table || !protect(&s, PROT_READ | PROT_WRITE | PROT_EXEC)) return;
    const union {
        void (*function)(void);
        void *address;
    } to = {.function = patch_opened};
    far_jump(table, to.address);
    uint8_t *first = (uint8_t *)(uintptr_t)s.first, *end = (uint8_t *)(uintptr_t)s.end;
    for (uint8_t *at = first; at + NEAR_JUMP_BYTES <= end; at++) {
        int32_t distance;
        if (*at != NEAR_CALL && *at != NEAR_JUMP) continue;
        memcpy(&distance, at + 1, sizeof distance);
        if ((uintptr_t)at + NEAR_JUMP_BYTES + (uint64_t)(int64_t)distance == _r_debug.r_brk)
            near_branch(at, *at, table);
    }
    protect(&s, PROT_READ | PROT_EXEC);
    mprotect(table, FAR_JUMP_BYTES, PROT_READ | PROT_EXEC);
}
#endif

/* Constructors of libraries run before those of the program. */
__attribute__((constructor)) static void patch(void)
{
#ifdef __x86_64__
    int program = 0;
    if (!getenv("PTXLOOM_OPTIONS")) return;
    dl_iterate_phdr(patch_object, &program);
    watch_linker();
#else
    (void)patch_object;
#endif
}
