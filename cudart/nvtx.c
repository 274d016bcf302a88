/* nvtx.c - NVTX ranges and marks: the version 3 header loads the library named by
 * $NVTX_INJECTION64_PATH and calls the function below, which installs our functions in its tables.
 */
#include "cudart/state.h"
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* nvtxEventAttributes_t as far as it is used. */
typedef struct nvtx_attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message;
} nvtx_attributes;

enum {
    MESSAGE_ASCII = 1,
    MESSAGE_WIDE = 2,
    MESSAGE_REGISTERED = 3,
    MODULE_CORE = 1,
    MODULE_CORE2 = 5,
    TABLE_CALLBACKS = 1
};

typedef struct nvtx_range {
    struct nvtx_range *next;
    char *name; /* owned; or NULL */
    uint64_t id;
    int64_t thread, depth;
    double start;
} nvtx_range;

static _Thread_local nvtx_range *stack; /* stack of pushed ranges */
static _Thread_local int depth;
static nvtx_range *started; /* ranges that any thread may end */
static uint64_t ids;

static char *narrow(const wchar_t *text)
{
    const size_t n = wcslen(text);
    char *s = malloc(n + 1);
    for (size_t k = 0; s && k <= n; k++) s[k] = text[k] >= 0 && text[k] < 128 ? (char)text[k] : '?';
    return s;
}

static char *name_of(const nvtx_attributes *a)
{
    if (!a || !a->message) return NULL;
    if (a->message_type == MESSAGE_WIDE) return narrow(a->message);
    return a->message_type == MESSAGE_ASCII || a->message_type == MESSAGE_REGISTERED
               ? strdup(a->message)
               : NULL;
}

/* Acquires the lock; afterwards the trace is open if requested. */
static void enter_library(void)
{
    pthread_mutex_lock(&cuda.lock);
    cuda_start();
    if (!cuda_self.number) cuda_self.number = ++cuda.threads;
}

static void record_range(const nvtx_range *r)
{
    if (!cuda_recording()) return;
    pl_trace_add_nvtx(cuda.trace, &(pl_trace_nvtx){.name = r->name ? r->name : "",
                                                   .thread = r->thread,
                                                   .depth = r->depth,
                                                   .start = r->start * 1e-3,
                                                   .end = cuda.now * 1e-3});
}

static void free_range(nvtx_range *r)
{
    free(r->name);
    free(r);
}

static void record_mark(char *name)
{
    enter_library();
    record_range(
        &(nvtx_range){.name = name, .thread = cuda_self.number, .depth = depth, .start = cuda.now});
    pthread_mutex_unlock(&cuda.lock);
    free(name);
}

/* Starts a range on the list, which is per thread or global; NULL: no memory. */
static nvtx_range *begin_range(nvtx_range **list, char *name)
{
    nvtx_range *r = calloc(1, sizeof *r);
    enter_library();
    if (r)
        *r = (nvtx_range){.next = *list,
                          .name = name,
                          .id = ++ids,
                          .thread = cuda_self.number,
                          .depth = depth,
                          .start = cuda.now};
    if (r) *list = r;
    pthread_mutex_unlock(&cuda.lock);
    if (!r) free(name);
    return r;
}

static int push(char *name)
{
    return begin_range(&stack, name) ? depth++ : -1;
}

static uint64_t start(char *name)
{
    const nvtx_range *r = begin_range(&started, name);
    return r ? r->id : 0;
}

static int range_pop(void)
{
    nvtx_range *r = stack;
    if (!r) return -2; /* NVTX_NO_PUSH_POP_TRACKING */
    enter_library();
    record_range(r);
    pthread_mutex_unlock(&cuda.lock);
    stack = r->next;
    free_range(r);
    return --depth;
}

static void range_end(uint64_t id)
{
    enter_library();
    nvtx_range **at = &started;
    while (*at && (*at)->id != id) at = &(*at)->next;
    nvtx_range *r = *at;
    if (r) {
        record_range(r);
        *at = r->next;
    }
    pthread_mutex_unlock(&cuda.lock);
    if (r) free_range(r);
}

/* ---------------------------------------------------------------- the functions of NVTX */

static void mark_ex(const nvtx_attributes *a)
{
    record_mark(name_of(a));
}

static void mark_a(const char *text)
{
    record_mark(text ? strdup(text) : NULL);
}

static void mark_w(const wchar_t *text)
{
    record_mark(text ? narrow(text) : NULL);
}

static uint64_t start_ex(const nvtx_attributes *a)
{
    return start(name_of(a));
}

static uint64_t start_a(const char *text)
{
    return start(text ? strdup(text) : NULL);
}

static uint64_t start_w(const wchar_t *text)
{
    return start(text ? narrow(text) : NULL);
}

static int push_ex(const nvtx_attributes *a)
{
    return push(name_of(a));
}

static int push_a(const char *text)
{
    return push(text ? strdup(text) : NULL);
}

static int push_w(const wchar_t *text)
{
    return push(text ? narrow(text) : NULL);
}

/* Domains: their ranges are treated like all others. */
static void domain_mark(void *domain, const nvtx_attributes *a)
{
    (void)domain;
    mark_ex(a);
}

static uint64_t domain_start(void *domain, const nvtx_attributes *a)
{
    (void)domain;
    return start_ex(a);
}

static void domain_end(void *domain, uint64_t id)
{
    (void)domain;
    range_end(id);
}

static int domain_push(void *domain, const nvtx_attributes *a)
{
    (void)domain;
    return push_ex(a);
}

static int domain_pop(void *domain)
{
    (void)domain;
    return range_pop();
}

/* A registered text is its own handle. */
static void *register_a(void *domain, const char *text)
{
    (void)domain;
    return text ? strdup(text) : NULL;
}

static void *register_w(void *domain, const wchar_t *text)
{
    (void)domain;
    return text ? narrow(text) : NULL;
}

static void *create_domain(const void *name)
{
    static char domain;
    (void)name;
    return &domain;
}

/* ---------------------------------------------------------------- the injection */

typedef void nvtx_function(void);
typedef struct nvtx_callbacks {
    size_t size;
    int (*table_of)(int module, nvtx_function ****table, unsigned *n);
} nvtx_callbacks;

/* Identified by module and index in its table. */
#define FUNCTION(module, number, function)                                                         \
    {                                                                                              \
        module, number, (nvtx_function *)(function)                                                \
    }
static const struct {
    int module;
    unsigned number;
    nvtx_function *function;
} functions[] = {
    FUNCTION(MODULE_CORE, 1, mark_ex),         FUNCTION(MODULE_CORE, 2, mark_a),
    FUNCTION(MODULE_CORE, 3, mark_w),          FUNCTION(MODULE_CORE, 4, start_ex),
    FUNCTION(MODULE_CORE, 5, start_a),         FUNCTION(MODULE_CORE, 6, start_w),
    FUNCTION(MODULE_CORE, 7, range_end),       FUNCTION(MODULE_CORE, 8, push_ex),
    FUNCTION(MODULE_CORE, 9, push_a),          FUNCTION(MODULE_CORE, 10, push_w),
    FUNCTION(MODULE_CORE, 11, range_pop),      FUNCTION(MODULE_CORE2, 1, domain_mark),
    FUNCTION(MODULE_CORE2, 2, domain_start),   FUNCTION(MODULE_CORE2, 3, domain_end),
    FUNCTION(MODULE_CORE2, 4, domain_push),    FUNCTION(MODULE_CORE2, 5, domain_pop),
    FUNCTION(MODULE_CORE2, 10, register_a),    FUNCTION(MODULE_CORE2, 11, register_w),
    FUNCTION(MODULE_CORE2, 12, create_domain), FUNCTION(MODULE_CORE2, 13, create_domain),
};

int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t id));

__attribute__((visibility("default"))) int
InitializeInjectionNvtx2(const void *(*export_table)(uint32_t id))
{
    const nvtx_callbacks *c = export_table(TABLE_CALLBACKS);
    if (!c || c->size < sizeof *c) return 0;
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        nvtx_function ***table = NULL;
        unsigned n = 0;
        if (c->table_of(functions[k].module, &table, &n) && functions[k].number < n &&
            table[functions[k].number])
            *table[functions[k].number] = functions[k].function;
    }
    return 1;
}
