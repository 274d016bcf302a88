/* graph_objects.c - user objects: resources of the program that graphs keep alive. */
#include "cudart/graph.h"
#include <stdlib.h>

typedef struct cuda_user_object {
    void *p;
    cuda_host_fn *destroy;
    uint64_t refs;
} cuda_user_object;

typedef struct cuda_user_reference {
    struct cuda_user_reference *next;
    cuda_user_object *object;
    uint64_t count;
} cuda_user_reference;

static cuda_table objects;

static int release_references(cuda_user_object *o, uint64_t count)
{
    if (count > o->refs) return CU_INVALID_VALUE;
    o->refs -= count;
    if (o->refs) return CU_OK;
    cuda_table_remove(&objects, o);
    cuda_call_host(o->destroy, o->p);
    free(o);
    return CU_OK;
}

int pl_cudaUserObjectCreate(void **out, void *p, cuda_host_fn *destroy, unsigned refs,
                            unsigned flags)
{
    if (!out || !destroy || !refs || flags != 1) return CU_INVALID_VALUE;
    cuda_user_object *o = calloc(1, sizeof *o);
    if (!o || !cuda_table_put(&objects, o, o)) {
        free(o);
        return CU_MEMORY_ALLOCATION;
    }
    *o = (cuda_user_object){p, destroy, refs};
    *out = o;
    return CU_OK;
}

int pl_cudaUserObjectRetain(void *object, unsigned count)
{
    cuda_user_object *o = object ? cuda_table_get(&objects, object) : NULL;
    if (!o || !count) return CU_INVALID_VALUE;
    o->refs += count;
    return CU_OK;
}

int pl_cudaUserObjectRelease(void *object, unsigned count)
{
    cuda_user_object *o = object ? cuda_table_get(&objects, object) : NULL;
    return o && count ? release_references(o, count) : CU_INVALID_VALUE;
}

static int add_references(cuda_graph *g, cuda_user_object *o, uint64_t count)
{
    cuda_user_reference *r = g->user;
    while (r && r->object != o) r = r->next;
    if (!r) {
        r = calloc(1, sizeof *r);
        if (!r) return CU_MEMORY_ALLOCATION;
        *r = (cuda_user_reference){g->user, o, 0};
        g->user = r;
    }
    r->count += count;
    return CU_OK;
}

/* Flag 1: the caller's references are transferred to the graph. */
int pl_cudaGraphRetainUserObject(void *graph, void *object, unsigned count, unsigned flags)
{
    cuda_graph *g = cuda_graph_of(graph);
    cuda_user_object *o = object ? cuda_table_get(&objects, object) : NULL;
    if (!g || !o || !count || flags > 1) return CU_INVALID_VALUE;
    const int error = add_references(g, o, count);
    if (!error && !flags) o->refs += count;
    return error;
}

int pl_cudaGraphReleaseUserObject(void *graph, void *object, unsigned count)
{
    const cuda_graph *g = cuda_graph_of(graph);
    if (!g || !count || !object || !cuda_table_get(&objects, object)) return CU_INVALID_VALUE;
    cuda_user_reference *r = g->user;
    while (r && r->object != object) r = r->next;
    if (!r || count > r->count) return CU_OK; /* without effect (H200) */
    r->count -= count;
    return release_references(r->object, count);
}

void cuda_retain_user_objects(cuda_graph *copy, const cuda_graph *from)
{
    for (const cuda_user_reference *r = from->user; r; r = r->next)
        if (r->count && add_references(copy, r->object, r->count) == CU_OK)
            r->object->refs += r->count;
}

void cuda_release_user_objects(cuda_graph *g)
{
    while (g->user) {
        cuda_user_reference *r = g->user;
        g->user = r->next;
        if (r->count) release_references(r->object, r->count);
        free(r);
    }
}

void cuda_replace_user_objects(cuda_graph *exec, const cuda_graph *g)
{
    cuda_graph previous = {.user = exec->user};
    exec->user = NULL;
    cuda_retain_user_objects(exec, g);
    cuda_release_user_objects(&previous);
}
