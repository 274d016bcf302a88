/* graph_dot.c - cudaGraphDebugDotPrint: a graph as text for Graphviz, in the format of NVIDIA's
 * driver (H100). */
#include "cudart/graph.h"
#include <stdio.h>
#include <stdlib.h>

/* cudaGraphDebugDotFlags */
enum {
    VERBOSE = 1,
    KERNEL_PARAMS = 1 << 2,
    COPY_PARAMS = 1 << 3,
    SET_PARAMS = 1 << 4,
    HOST_PARAMS = 1 << 5,
    EVENT_PARAMS = 1 << 6,
    KERNEL_ATTRIBUTES = 1 << 9,
    HANDLES = 1 << 10,
    ALLOC_PARAMS = 1 << 11,
    FREE_PARAMS = 1 << 12,
    TOPOLOGY = 1 << 14
};

/* The text of one node. */
typedef struct dot_node {
    FILE *f;
    const cuda_node *x;
    size_t at;      /* its number in its graph */
    size_t order;   /* its number from the end of the graph */
    unsigned flags; /* VERBOSE: all the others are set, too */
} dot_node;

#define ADDRESS "0x%016llX"

static unsigned long long number_of(const void *p)
{
    return (unsigned long long)(uintptr_t)p;
}

static const char *memory_name(const void *p)
{
    const cuda_alloc *a = cuda_alloc_find((uintptr_t)p);
    return !a                          ? "HOST PAGEABLE"
           : a->type == MEMORY_MANAGED ? "MANAGED"
           : a->type == MEMORY_HOST    ? "HOST PINNED"
                                       : "DEVICE";
}

static void print_id(const dot_node *d)
{
    fprintf(d->f, "%zu", d->at);
    if (d->flags & TOPOLOGY) fprintf(d->f, " (topoId: %zu)", d->order);
}

/* "ID | node handle" or "ID", the further names, and the values of the first two. */
static void print_id_row(const dot_node *d, const char *names)
{
    const bool handles = d->flags & HANDLES;
    fprintf(d->f, "| {{ID%s%s} | {", handles ? " | node handle" : "", names);
    print_id(d);
    if (handles) fprintf(d->f, " | " ADDRESS, number_of(d->x));
}

/* Begins a node with its number and its kind on lines of their own. `shape` ends its quotation. */
static void begin_lines(const dot_node *d, const char *shape, const char *kind)
{
    fprintf(d->f, " shape=\"%slabel=\"", shape);
    print_id(d);
    fprintf(d->f, "\n%s\n", kind);
    if (d->flags & HANDLES) fprintf(d->f, "node handle: " ADDRESS "\n", number_of(d->x));
}

static void print_shape(FILE *f, dim3 n)
{
    if (n.z != 1)
        fprintf(f, "\\{%u,%u,%u\\}", n.x, n.y, n.z);
    else if (n.y != 1)
        fprintf(f, "\\{%u,%u\\}", n.x, n.y);
    else
        fprintf(f, "%u", n.x);
}

static void print_configuration(const dot_node *d)
{
    const cuda_launch *l = &d->x->op.u.kernel.l;
    if (!(d->flags & KERNEL_PARAMS)) return;
    fputs("\\<\\<\\<", d->f);
    print_shape(d->f, l->grid);
    fputc(',', d->f);
    print_shape(d->f, l->block);
    fprintf(d->f, ",%zu\\>\\>\\>", l->shared);
}

static void print_kernel(const dot_node *d)
{
    const cuda_function *f = d->x->op.u.kernel.f;
    const cuda_launch *l = &d->x->op.u.kernel.l;
    const bool handles = d->flags & HANDLES;
    fputs("[style=\"bold\"", d->f);
    if (!(d->flags & KERNEL_ATTRIBUTES)) {
        begin_lines(d, "octagon\" ", f->name);
        if (handles) fprintf(d->f, "func handle: " ADDRESS "\n", number_of(f));
        print_configuration(d);
        fputs("\"];\n\n", d->f);
        return;
    }
    fputs(" shape=\"record\" label=\"{KERNEL\n| {ID | ", d->f);
    print_id(d);
    fprintf(d->f, " | %s", f->name);
    print_configuration(d);
    fputs("}\n", d->f);
    if (handles)
        fprintf(d->f, "| {{node handle | func handle} | {" ADDRESS " | " ADDRESS "}}\n",
                number_of(d->x), number_of(f));
    fputs("| {accessPolicyWindow | {base_ptr | num_bytes | hitRatio | hitProp | missProp} | "
          "{0x0000000000000000 | 0 | 0.000000 | N | N}}\n",
          d->f);
    fprintf(d->f, "| {cooperative | %d}\n| {priority | %d}\n}\"];\n\n", l->cooperative,
            l->prioritised ? l->priority : 0);
}

static void print_side(FILE *f, const cuda_side *s)
{
    fprintf(f, "%zu | " ADDRESS " | 0 | %zu", s->slice ? s->pitch : 0,
            number_of(s->array ? (void *)s->array : s->p), s->pitch ? s->slice / s->pitch : 0);
}

static void print_copy(const dot_node *d)
{
    static const char *const name[] = {"HtoH", "HtoD", "DtoH", "DtoD", "UtoU"};
    const cuda_copy *c = &d->x->op.u.copy;
    FILE *f = d->f;
    fputs("[style=\"solid\"", f);
    if (!(d->flags & COPY_PARAMS)) {
        begin_lines(d, "trapezium\"", "MEMCPY");
        fprintf(f, "(%s,%zu)\n\"];\n\n", name[c->kind], c->width * c->height * c->depth);
        return;
    }
    fputs(" shape=\"record\" label=\"{\nMEMCPY\n", f);
    print_id_row(d, "");
    fprintf(f, "}}\n| {kind | %s (%s to %s)}\n",
            c->kind == COPY_DEFAULT ? "default" : name[c->kind],
            c->from.array ? "ARRAY" : memory_name(c->from.p),
            c->to.array ? "ARRAY" : memory_name(c->to.p));
    fputs("| {{srcPtr | dstPtr} | {pitch | ptr | xsize | ysize | pitch | ptr | xsize | ysize} | {",
          f);
    print_side(f, &c->from);
    fputs(" | ", f);
    print_side(f, &c->to);
    fprintf(f,
            "}}\n| {{srcPos | {{x | %zu} | {y | %zu} | {z | %zu}}} | "
            "{dstPos | {{x | %zu} | {y | %zu} | {z | %zu}}} | "
            "{Extent | {{Width | %zu} | {Height | %zu} | {Depth | %zu}}}}\n}\"];\n\n",
            c->from.x, c->from.y, c->from.z, c->to.x, c->to.y, c->to.z, c->width, c->height,
            c->depth);
}

static void print_set(const dot_node *d)
{
    const cuda_set *s = &d->x->op.u.set;
    fputs("[style=\"solid\"", d->f);
    if (!(d->flags & SET_PARAMS)) {
        begin_lines(d, "invtrapezium\"", "MEMSET");
        fprintf(d->f, "(%u,%zu)\n\"];\n\n", s->value, s->width * s->element * s->height);
        return;
    }
    fputs(" style=\"solid\" shape=\"record\" label=\"{MEMSET\n", d->f);
    print_id_row(d, " | dptr | pitch | value | elementSize | width | height");
    fprintf(d->f, " | " ADDRESS " | %zu | %u | %u | %zu | %zu}}}\"];\n\n", number_of(s->p),
            s->pitch, s->value, s->element, s->width, s->height);
}

static void print_memory(const dot_node *d)
{
    const cuda_graph_memory *m = d->x->op.u.memory;
    const bool alloc = d->x->op.kind == OP_ALLOC;
    const char *kind = alloc ? "MEM_ALLOC" : "MEM_FREE";
    fputs("[style=\"solid\"", d->f);
    if (!(d->flags & (alloc ? ALLOC_PARAMS : FREE_PARAMS))) {
        begin_lines(d, "rectangle\" ", kind);
        fputs("\"];\n\n", d->f);
        return;
    }
    fprintf(d->f, " shape=\"record\" label=\"{\n%s\n", kind);
    print_id_row(d, "");
    fputs("}}\n", d->f);
    if (alloc)
        fprintf(d->f,
                "| {{{poolProps | {allocType | handleTypes | {location | {type | id}}} | "
                "{PINNED | NONE | DEVICE | 0}}}}\n| {{bytesize | dptr} | {%llu | " ADDRESS "}}\n",
                (unsigned long long)m->size, (unsigned long long)m->address);
    else
        fprintf(d->f, "| {{dptr} | {" ADDRESS "}}\n", (unsigned long long)m->address);
    fputs("}\"];\n\n", d->f);
}

/* The rows of while and switch are not recorded. */
static void print_condition(const dot_node *d)
{
    static const char *const kind[] = {"IF", "WHILE", "SWITCH"};
    const cuda_condition *c = d->x->op.u.condition;
    fputs("[style=\"bold\" shape=\"record\" label=\"{\nCONDITIONAL\n| {ID | ", d->f);
    print_id(d);
    fputs("}\n", d->f);
    if (d->flags & HANDLES) fprintf(d->f, "| {node handle| " ADDRESS "}\n", number_of(d->x));
    if (d->flags & VERBOSE)
        fprintf(d->f, "| {Conditional Handle|%llu}\n", (unsigned long long)c->handle);
    fprintf(d->f, "| {Conditional Type| %s}\n", kind[c->kind]);
    for (unsigned k = 0; k < c->n; k++) {
        const unsigned long long body = c->body[k]->id;
        if (c->kind == CONDITION_IF)
            fprintf(d->f, "| {%s| graph_%llu}\n", k == 0 ? "True " : "False", body);
        else
            fprintf(d->f, "| {Body %u | graph_%llu}\n", k, body);
    }
    fputs("}\n\"];\n\n", d->f);
}

static void print_other(const dot_node *d)
{
    const cuda_op *op = &d->x->op;
    char child[40];
    const char *kind = op->kind == OP_HOST     ? "HOST"
                       : op->kind == OP_EMPTY  ? "EMPTY"
                       : op->kind == OP_WAIT   ? "EVENT_WAIT"
                       : op->kind == OP_RECORD ? "EVENT_RECORD"
                       : op->kind == OP_MEMORY ? "BATCH_MEM_OP"
                                               : child;
    if (op->kind == OP_GRAPH)
        snprintf(child, sizeof child, "graph_%llu", (unsigned long long)op->u.graph->id);
    fputs("[style=\"solid\"", d->f);
    begin_lines(d, "rectangle\" ", kind);
    if (op->kind == OP_HOST && d->flags & HOST_PARAMS) {
        union {
            void (*fn)(void *);
            void *p;
        } fn = {.fn = op->u.host.fn};
        fprintf(d->f, "fn: " ADDRESS "\nuserData: " ADDRESS "\n", number_of(fn.p),
                number_of(op->u.host.arg));
    }
    if ((op->kind == OP_WAIT || op->kind == OP_RECORD) && d->flags & EVENT_PARAMS)
        fprintf(d->f, "event: " ADDRESS "\n", number_of(op->u.event));
    fputs("\"];\n\n", d->f);
}

static void print_node(const dot_node *d)
{
    fprintf(d->f, "\"graph_%llu_node_%zu\"", (unsigned long long)d->x->graph->id, d->at);
    switch (d->x->op.kind) {
    case OP_KERNEL: print_kernel(d); break;
    case OP_COPY: print_copy(d); break;
    case OP_SET: print_set(d); break;
    case OP_ALLOC:
    case OP_FREE: print_memory(d); break;
    case OP_CONDITION: print_condition(d); break;
    default: print_other(d);
    }
}

static size_t index_of(const cuda_graph *g, const cuda_node *x)
{
    size_t k = 0;
    while (k < g->n && g->node[k] != x) k++;
    return k;
}

/* Numbers the nodes breadth first, from those that no node depends on to their dependencies. */
static size_t *numbers_from_end(const cuda_graph *g)
{
    size_t *number = malloc((g->n + 1) * 2 * sizeof *number), *queue = number + g->n + 1, n = 0;
    if (!number) return NULL;
    for (size_t k = 0; k < g->n; k++) number[k] = SIZE_MAX;
    for (size_t k = 0; k < g->n; k++)
        for (size_t i = 0; i < g->node[k]->nbefore; i++)
            number[index_of(g, g->node[k]->before[i])] = 0;
    for (size_t k = 0; k < g->n; k++)
        if (number[k] == SIZE_MAX) queue[n++] = k;
    for (size_t k = 0; k < g->n; k++) number[k] = SIZE_MAX;
    for (size_t k = 0; k < n; k++) number[queue[k]] = k;
    for (size_t at = 0; at < n; at++) {
        const cuda_node *x = g->node[queue[at]];
        for (size_t i = 0; i < x->nbefore; i++) {
            const size_t k = index_of(g, x->before[i]);
            if (number[k] != SIZE_MAX) continue;
            number[k] = n;
            queue[n++] = k;
        }
    }
    return number;
}

static void print_edges_from(FILE *f, const cuda_graph *g, size_t from, unsigned flags)
{
    const unsigned long long id = g->id;
    for (size_t to = 0; to < g->n; to++) {
        const size_t at = cuda_dependency_index(g->node[to], g->node[from]);
        if (at == g->node[to]->nbefore) continue;
        fprintf(f, "\"graph_%llu_node_%zu\" -> \"graph_%llu_node_%zu\"", id, from, id, to);
        if (flags & TOPOLOGY) fprintf(f, " [headlabel=%zu]", at);
        fputs(";\n", f);
    }
}

/* A graph and those nested in it. False: out of memory. */
static bool print_graph(FILE *f, const cuda_graph *g, unsigned flags)
{
    const unsigned long long id = g->id;
    size_t *number = numbers_from_end(g);
    if (!number) return false;
    fprintf(f, "subgraph cluster_%llu {\nlabel=\"graph_%llu\" graph[style=\"dashed\"];\n", id, id);
    for (size_t k = 0; k < g->n; k++) print_node(&(dot_node){f, g->node[k], k, number[k], flags});
    free(number);
    for (size_t k = 0; k < g->n; k++) print_edges_from(f, g, k, flags);
    fputs("}\n", f);
    bool good = true;
    for (size_t k = 0; good && k < g->n; k++) {
        const cuda_op *op = &g->node[k]->op;
        if (op->kind == OP_GRAPH) good = print_graph(f, op->u.graph, flags);
        for (unsigned i = 0; good && op->kind == OP_CONDITION && i < op->u.condition->n; i++)
            good = print_graph(f, op->u.condition->body[i], flags);
    }
    return good;
}

int pl_cudaGraphDebugDotPrint(void *graph, const char *path, unsigned flags)
{
    const cuda_graph *g = cuda_graph_of(graph);
    if (!g || !path) return CU_INVALID_VALUE;
    FILE *f = fopen(path, "w");
    if (!f) return CU_OPERATING_SYSTEM;
    fputs("digraph dot {\n", f);
    const bool good = print_graph(f, g, flags & VERBOSE ? ~0u : flags);
    fputs("}\n", f);
    return fclose(f) != 0 ? CU_UNKNOWN : good ? CU_OK : CU_MEMORY_ALLOCATION;
}
