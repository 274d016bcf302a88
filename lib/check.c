/* check.c - the library's side of the checkers: selects tools, and turns findings into messages
 * with source lines. check/ detects; this file names source positions. */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "check/check.h"
#include "isa/program/source_position.h"
#include "lib/check_list.h"

static const struct {
    const char *tool, *word, *severity, *text;
} kind_info[PL_FK_COUNT] = {
#define ERROR                               "error"
#define WARNING                             "warning"
#define X(name, tool, word, severity, text) [PL_FK_##name] = {#tool, word, severity, text},
    PL_FINDING_KINDS(X)
#undef X
#undef ERROR
#undef WARNING
};

static const struct {
    const char *name, *word; /* in the table of kinds; as users write it */
    pl_check_tool tool;
} tools[] = {
#define X(name, word) {#name, word, PL_CHECK_##name},
    PL_CHECK_TOOLS(X)
#undef X
        {"ALL", "all", PL_CHECK_ALL}};

static const char *tool_word(pl_finding_kind kind)
{
    for (size_t n = 0; n < sizeof tools / sizeof *tools; n++)
        if (strcmp(tools[n].name, kind_info[kind].tool) == 0) return tools[n].word;
    return "deadlock";
}

/* ---- opening ---- */

/* Returns the tools of a list such as "mem,race"; 0: a name is unknown, which has been reported. */
static unsigned read_tools(pl_gpu *gpu, const char *list)
{
    enum { TOOLS = sizeof tools / sizeof *tools };
    unsigned all = 0;
    for (const char *at = list;;) {
        const size_t n = strcspn(at, ",");
        size_t k = 0;
        while (k < TOOLS && (strlen(tools[k].word) != n || strncmp(tools[k].word, at, n) != 0)) k++;
        if (k == TOOLS) {
            char names[80] = "";
            for (size_t j = 0; j < TOOLS; j++)
                snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
                         j == 0           ? ""
                         : j + 1 == TOOLS ? " or "
                                          : ", ",
                         tools[j].word);
            pl_report(&gpu->diags, PL_E0005, (pl_loc){.file = UINT32_MAX},
                      pl_arena_strndup(gpu->messages, at, n), "--check",
                      pl_arena_printf(gpu->messages, "it is a list of %s", names));
            return 0;
        }
        all |= tools[k].tool;
        if (!at[n]) return all;
        at += n + 1;
    }
}

/* ---- suppressions ---- */

/* Reads a file of suppressions. PL_INVALID: it cannot be read, which has been reported. */
static pl_status read_suppressions(pl_checks *c, const char *path)
{
    size_t size, n = 0;
    char *text;
    const pl_status st = pl_file_read(c->gpu, path, &text, &size);
    if (st != PL_OK) return st;
    for (size_t k = 0; k < size; k++) n += text[k] == '\n';
    c->suppression = pl_arena_array(c->arena, struct pl_suppression, n + 1);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char kind[64], kernel[512], place[512];
        if (line[strspn(line, " \t\r")] == '#' || !line[strspn(line, " \t\r")]) continue;
        const int got = sscanf(line, "%63s %511s %511s", kind, kernel, place);
        c->suppression[c->nsuppressions++] =
            (struct pl_suppression){.kind = pl_arena_strdup(c->arena, kind),
                                    .kernel = got > 1 ? pl_arena_strdup(c->arena, kernel) : "*",
                                    .place = got > 2 ? pl_arena_strdup(c->arena, place) : "*"};
    }
    free(text);
    return PL_OK;
}

static pl_status store_options(pl_checks *c, const pl_checks_options *o)
{
    c->kernel = o->kernel ? pl_arena_strdup(c->arena, o->kernel) : NULL;
    return o->suppressions ? read_suppressions(c, o->suppressions) : PL_OK;
}

static bool matches(const char *pattern, const char *text)
{
    return fnmatch(pattern, text, 0) == 0;
}

bool pl_check_is_suppressed(const pl_checks *c, const pl_finding *f)
{
    char kind[64], place[600];
    if (c->kernel && !matches(c->kernel, f->kernel)) return true;
    const char *slash = strrchr(f->file, '/');
    snprintf(kind, sizeof kind, "%s-%s", f->tool, f->kind);
    snprintf(place, sizeof place, "%s:%" PRIu32, slash ? slash + 1 : f->file, f->line);
    for (size_t n = 0; n < c->nsuppressions; n++) {
        const struct pl_suppression *s = &c->suppression[n];
        if (matches(s->kind, kind) && matches(s->kernel, f->kernel) && matches(s->place, place))
            return true;
    }
    return false;
}

pl_status pl_checks_open(pl_gpu *gpu, const pl_checks_options *o, pl_checks **out)
{
    *out = NULL;
    PL_GUARD(return pl_gpu_no_memory(gpu, "while opening a checker"))
    const unsigned selected = read_tools(gpu, o->tools);
    if (!selected) return PL_INVALID;
    pl_checks *c = calloc(1, sizeof *c);
    if (c) c->arena = pl_arena_open();
    if (c && c->arena) c->check = pl_check_open(selected, pl_checked_undefined(o->program));
    if (!c || !c->check) {
        pl_checks_close(c);
        return pl_gpu_no_memory(gpu, "while opening a checker");
    }
    c->gpu = gpu;
    c->tools = selected;
    c->limit = o->limit ? o->limit : SIZE_MAX;
    *out = c;
    return store_options(c, o);
}

void pl_checks_close(pl_checks *c)
{
    if (!c) return;
    pl_check_close(c->check);
    pl_arena_close(c->arena);
    free(c);
}

pl_check *pl_checks_checker(pl_checks *c)
{
    return c->check;
}

/* ---- source positions ---- */

static uint32_t line_of(const pl_program *p, uint32_t pc)
{
    return pc < p->code.n ? p->code.at[pc].line : UINT32_MAX;
}

/* Returns the CUDA file and line if .loc gives them, else those of the PTX. */
static void source_line(pl_checks *c, pl_module *m, uint32_t pc, const char **file, uint32_t *line)
{
    const pl_program *p = m->program;
    const uint32_t k = line_of(p, pc);
    if (!pl_cuda_user_line(p, k, file, line)) {
        *file = k < p->lines.n ? m->source.at[pl_module_source_of(m, p->lines.at[k].ptx_line)].name
                               : m->name;
        *line = pl_module_position(m, k).line;
    }
    *file = pl_arena_strdup(c->arena, *file);
}

/* Returns "k.cu:12", or "line 40" of the PTX. */
static const char *position(pl_checks *c, pl_module *m, uint32_t pc)
{
    const char *file;
    uint32_t line;
    const uint32_t k = line_of(m->program, pc);
    if (!pl_cuda_user_line(m->program, k, &file, &line))
        return pl_arena_printf(c->arena, "line %u", pl_module_position(m, k).line);
    const char *slash = strrchr(file, '/');
    return pl_arena_printf(c->arena, "%s:%u", slash ? slash + 1 : file, line);
}

const char *pl_checks_place(pl_checks *c, pl_module *m, uint32_t pc)
{
    PL_GUARD(return "")
    return position(c, m, pc);
}

static const char *thread_text(pl_arena *a, const uint32_t t[3], const uint32_t b[3])
{
    return pl_arena_printf(a, "thread %u,%u,%u of block %u,%u,%u", t[0], t[1], t[2], b[0], b[1],
                           b[2]);
}

static const char *party_text(pl_checks *c, const pl_finding_access *p)
{
    return thread_text(c->arena, p->thread, p->block);
}

/* ---- texts ---- */

static const char *space_word(pl_space s)
{
    return s == PL_SP_SHARED  ? "shared"
           : s == PL_SP_LOCAL ? "local"
           : s == PL_SP_REG   ? "register"
                              : "global";
}

static const char *value_text(pl_checks *c, const pl_finding_access *p)
{
    return p->has_value ? pl_arena_printf(c->arena, " (the value 0x%" PRIx64 ")", p->value) : "";
}

static const char *other_party_text(pl_checks *c, const pl_check_finding *f)
{
    const char *text = party_text(c, &f->other);
    if (f->other.multi_lane)
        return pl_arena_printf(c->arena, "another lane of the warp of %s", text);
    return f->other_grid
               ? pl_arena_printf(c->arena, "%s of another grid ('%s')", text, f->other.kernel)
               : text;
}

static const char *race_text(pl_checks *c, const pl_check_finding *f, const char *there)
{
    const bool same_insn = f->by.pc == f->other.pc;
    return pl_arena_printf(
        c->arena, "%s-%s: %s %s %s %s memory%s, and %s %s it %s%s%s; %s", tool_word(f->kind),
        kind_info[f->kind].word, party_text(c, &f->by), f->by.verb, f->where, space_word(f->space),
        value_text(c, &f->by), other_party_text(c, f), f->other.verb,
        same_insn ? "by the same instruction" : "at ", same_insn ? "" : there,
        value_text(c, &f->other),
        f->texels && f->kind == PL_FK_RACE_PROXY ? "the write goes through another proxy"
        : f->kind == PL_FK_RACE_PROXY            ? "no proxy fence makes the write visible"
                                                 : "nothing orders the two");
}

/* Returns advice for a read and a write of one line. */
static const char *one_place_help(pl_checks *c, const pl_check_finding *f, const char *here)
{
    if (f->by.pc == f->other.pc || !f->same_block)
        return pl_arena_printf(c->arena,
                               "both accesses are made at %s: use an atomic operation, or give "
                               "each thread its own bytes",
                               here);
    return pl_arena_printf(c->arena,
                           "both accesses are made at %s: if threads pass values to each other, "
                           "put %s between the two; if they update one value, use an atomic "
                           "operation",
                           here, f->same_warp ? "__syncwarp()" : "__syncthreads()");
}

/* Returns advice: what orders the two accesses, or makes their order irrelevant. */
static const char *race_help(pl_checks *c, const pl_check_finding *f, const char *here,
                             const char *there)
{
    if (f->other_grid && f->kind != PL_FK_RACE_SAME_VALUE)
        return "a grid follows those before it in its stream; launch the later one in the same "
               "stream or in the tail stream (cudaStreamTailLaunch), after the other access; a "
               "dependent kernel executes cudaGridDependencySynchronize() first";
    switch (f->kind) {
    case PL_FK_RACE_SCOPE:
        return "block scope does not include threads of other blocks: use device scope (.gpu, "
               "atomicAdd instead of atomicAdd_block, cuda::thread_scope_device)";
    case PL_FK_RACE_MIXED:
        return pl_arena_printf(c->arena, "make both accesses atomic, or put %s between %s and %s",
                               f->same_warp    ? "__syncwarp()"
                               : f->same_block ? "__syncthreads()"
                                               : "the end of a launch",
                               there, here);
    case PL_FK_RACE_ASYNC:
        if (!f->same_block) break;
        return "wait for the copy first (cp.async.wait_group, __pipeline_wait_prior, the mbarrier "
               "on which it completes), then use a barrier if another thread accesses the bytes";
    case PL_FK_RACE_PROXY:
        if (f->texels)
            return "textures, surfaces and ld.global.nc (const __restrict__, __ldg) do not see "
                   "what the "
                   "launch writes: write in one launch and fetch in the next, or load without them";
        return "a barrier does not make writes visible to copies and wgmma: let the threads that "
               "write execute fence.proxy.async before it";
    case PL_FK_RACE_VOLATILE:
        return "volatile orders nothing: put __threadfence() before the write that releases and "
               "after the read that acquires, or a barrier between the two";
    case PL_FK_RACE_SAME_VALUE:
        return "the result is the same in any order; let one thread write, or write with an atomic "
               "operation";
    default: break;
    }
    if (strcmp(here, there) == 0)
        return f->kind == PL_FK_RACE_WAW ? "use an atomic operation, or let one thread write"
                                         : one_place_help(c, f, here);
    if (f->same_warp)
        return pl_arena_printf(c->arena, "no __syncwarp() between %s and %s orders the lanes",
                               there, here);
    if (f->same_block)
        return pl_arena_printf(
            c->arena, "no barrier between %s and %s orders the threads: put __syncthreads() there",
            there, here);
    return "no barrier orders different blocks: split the kernel into two launches, use atomic "
           "operations, or pass the data with __threadfence() and a flag";
}

/* Returns the advice for kinds whose advice depends on the kind alone; else NULL. */
static const char *kind_advice(pl_finding_kind kind)
{
    switch (kind) {
    case PL_FK_MEM_BOUNDS:
        return "test the index against the size (if (i < n)), or make the buffer as large as the "
               "launch needs";
    case PL_FK_MEM_MISALIGNED:
        return "an access of n bytes needs an address that is a multiple of n: align the buffer, "
               "or "
               "read element by element";
    case PL_FK_MEM_FREED: return "free after the last use, once, and by one thread";
    case PL_FK_MEM_LEAK:
        return "free each block in the thread that allocated it, before the thread exits";
    case PL_FK_MEM_STREAM:
        return "record an event after the allocation and after the last access, and let the "
               "other "
               "stream wait for it (cudaEventRecord, cudaStreamWaitEvent)";
    case PL_FK_RACE_STREAM:
        return "record an event after the first operation and let the other stream wait for it "
               "(cudaEventRecord, cudaStreamWaitEvent), or use one stream; the host waits with "
               "cudaStreamSynchronize, a dependent kernel with cudaGridDependencySynchronize";
    case PL_FK_INIT_COPY:
        return "copy only what a kernel or the host has written, or fill the memory first "
               "(cudaMemset)";
    case PL_FK_RACE_CLUSTER:
        return "call cluster.sync() before the first access to another block's memory and after "
               "the last one, in all blocks of the cluster";
    case PL_FK_SYNC_BARRIER:
        return "give every use of the barrier the same number of threads, a multiple of the warp "
               "size";
    case PL_FK_SYNC_DIVERGENT:
        return "move the barrier to code that all threads of the block execute, or give each role "
               "a named "
               "barrier";
    case PL_FK_SYNC_MASK:
        return "name all lanes that execute the instruction, or exclude the others with a branch";
    case PL_FK_SYNC_SHUFFLE:
        return "let all lanes execute the shuffle, or set its width to the lanes that do";
    case PL_FK_SYNC_WGMMA:
        return "put wgmma.commit_group and wgmma.wait_group between the two (warpgroup_wait<0>())";
    case PL_FK_SYNC_WGMMA_OPERAND:
        return "put wgmma.commit_group and wgmma.wait_group between the two, or alternate between "
               "two sets of registers";
    case PL_FK_SYNC_WGMMA_FENCE:
        return "put wgmma.fence before the first product (warpgroup_arrive()), and after each "
               "write to its registers";
    case PL_FK_SYNC_MBARRIER:
        return "let one thread execute mbarrier.init with the number of arrivals, followed by "
               "__syncthreads()";
    default: return NULL;
    }
}

pl_finding_kind pl_check_kind_of(const char *name)
{
    size_t k = 0;
    for (; k < PL_FK_COUNT; k++) {
        const size_t n = strlen(tool_word((pl_finding_kind)k));
        if (strncmp(name, tool_word((pl_finding_kind)k), n) == 0 && name[n] == '-' &&
            strcmp(name + n + 1, kind_info[k].word) == 0)
            break;
    }
    return (pl_finding_kind)k;
}

unsigned pl_check_tool_of(pl_finding_kind kind)
{
    for (size_t n = 0; n < sizeof tools / sizeof *tools; n++)
        if (strcmp(tools[n].name, kind_info[kind].tool) == 0) return tools[n].tool;
    return PL_CHECK_DEADLOCK;
}

const char *pl_check_kind_word(pl_finding_kind kind)
{
    return kind_info[kind].word;
}

void pl_check_name_kind(pl_finding_kind kind, pl_finding *f)
{
    f->tool = tool_word(kind);
    f->kind = kind_info[kind].word;
    f->severity = kind_info[kind].severity;
    f->help = kind_advice(kind);
}

static const char *advice_of(pl_checks *c, const pl_check_finding *f)
{
    const char *advice = kind_advice(f->kind);
    if (f->kind == PL_FK_MEM_BOUNDS && strstr(f->text, "no allocation is near"))
        return "pass a pointer to memory of the device (cudaMalloc, cudaMallocManaged, "
               "cudaMallocHost), and check what is added to it";
    if (advice) return advice;
    if (strcmp(tool_word(f->kind), "init") != 0)
        return pl_arena_printf(c->arena, "`ptxloom explain %s-%s` shows how to fix it",
                               tool_word(f->kind), kind_info[f->kind].word);
    return f->space == PL_SP_SHARED
               ? "write it first, and put __syncthreads() between the write and the read"
           : f->space == PL_SP_LOCAL
               ? "give the variable a value where it is declared"
               : "fill it before the launch (cudaMemset, cudaMemcpy; \"init\" in a launch file)";
}

/* ---- after a launch ---- */

static void describe(pl_checks *c, pl_module *m, const pl_check_finding *f, pl_finding *out)
{
    const char *here = position(c, m, f->by.pc),
               *there = f->other.pc != UINT32_MAX ? position(c, m, f->other.pc) : NULL;
    out->tool = tool_word(f->kind);
    out->kind = kind_info[f->kind].word;
    out->severity = kind_info[f->kind].severity;
    out->space = space_word(f->space);
    out->kernel = pl_arena_strdup(c->arena, f->by.kernel);
    source_line(c, m, f->by.pc, &out->file, &out->line);
    if (there) source_line(c, m, f->other.pc, &out->other_file, &out->other_line);
    out->address = f->address;
    out->bytes = f->bytes;
    out->seed = f->seed;
    out->pc = f->by.pc;
    out->other_pc = f->other.pc;
    memcpy(out->block, f->by.block, sizeof out->block);
    memcpy(out->thread, f->by.thread, sizeof out->thread);
    memcpy(out->other_block, f->other.block, sizeof out->other_block);
    memcpy(out->other_thread, f->other.thread, sizeof out->other_thread);
    out->ended = f->ended;
    const bool pair = there && !f->text[0];
    out->text = pair ? race_text(c, f, there)
                     : pl_arena_printf(c->arena, "%s-%s: %s (%s)", tool_word(f->kind),
                                       kind_info[f->kind].word, f->text, party_text(c, &f->by));
    out->help = pair ? race_help(c, f, here, there) : advice_of(c, f);
}

static bool same_lines(const pl_finding *a, const pl_finding *b)
{
    return strcmp(a->kind, b->kind) == 0 && strcmp(a->tool, b->tool) == 0 && a->line == b->line &&
           a->other_line == b->other_line && strcmp(a->file, b->file) == 0 &&
           strcmp(a->space, b->space) == 0 && strcmp(a->kernel, b->kernel) == 0;
}

/* Returns the index in the list of the finding with the same lines; list.n: none. */
static size_t find(pl_checks *c, const pl_finding *f)
{
    size_t n = 0;
    while (n < c->list.n && !same_lines(&c->list.at[n], f)) n++;
    return n;
}

pl_status pl_checks_collect(pl_checks *c, pl_module *m)
{
    PL_GUARD(return pl_gpu_no_memory(c->gpu, "while naming what a checker found"))
    for (size_t n = 0; n < pl_check_count(c->check); n++) {
        const pl_check_finding *f = pl_check_at(c->check, n);
        pl_finding current = {.count = f->count};
        if (n < c->list_index.n &&
            (c->counted.at[n] == f->count || c->list_index.at[n] == SIZE_MAX))
            continue;
        describe(c, m, f, &current);
        if (n == c->list_index.n) {
            *pl_push(c->arena, &c->counted) = 0;
            *pl_push(c->arena, &c->list_index) =
                pl_check_is_suppressed(c, &current) ? SIZE_MAX : find(c, &current);
        }
        if (c->list_index.at[n] == SIZE_MAX) continue;
        if (c->list_index.at[n] == c->list.n) {
            *pl_push(c->arena, &c->list) = current;
        } else {
            pl_finding *listed = &c->list.at[c->list_index.at[n]];
            listed->count += f->count - c->counted.at[n];
            if (listed->pc == current.pc &&
                listed->other_pc == current.other_pc) { /* may have more details */
                current.count = listed->count;
                *listed = current;
            }
            if (current.seed < listed->seed) listed->seed = current.seed;
        }
        c->counted.at[n] = f->count;
    }
    return PL_OK;
}

size_t pl_checks_count(const pl_checks *c)
{
    return c->list.n;
}

size_t pl_checks_errors(const pl_checks *c)
{
    size_t errors = 0;
    for (size_t n = 0; n < c->list.n; n++) errors += c->list.at[n].severity[0] == 'e';
    return errors;
}

const pl_finding *pl_checks_finding(const pl_checks *c, size_t n)
{
    return &c->list.at[n];
}

static void report_finding(pl_checks *c, pl_module *m, const pl_finding *f)
{
    pl_gpu *gpu = c->gpu;
    char where[PL_POSITION_TEXT];
    const uint32_t line = line_of(m->program, f->pc);
    char times[40] = "";
    if (f->count > 1) snprintf(times, sizeof times, " (%" PRIu64 " times)", f->count);
    pl_diag *d = pl_report(&gpu->diags, f->severity[0] == 'e' ? PL_E1001 : PL_W1002,
                           pl_module_position(m, line), f->kernel, f->text, times);
    d->help = pl_arena_strdup(gpu->messages, f->help);
    if (pl_cuda_position(m->program, line, where, sizeof where))
        d->source = pl_arena_strdup(gpu->messages, where);
    if (f->other_pc == UINT32_MAX || f->other_pc == f->pc) return;
    const uint32_t other = line_of(m->program, f->other_pc);
    const bool is_value = strcmp(f->tool, "init") == 0;
    d = pl_report(&gpu->diags, is_value ? PL_N1005 : PL_N1003, pl_module_position(m, other),
                  thread_text(gpu->messages, f->other_thread, f->other_block));
    if (pl_cuda_position(m->program, other, where, sizeof where))
        d->source = pl_arena_strdup(gpu->messages, where);
}

/* Adds a finding for the blocks that one malloc call allocated and that were never freed. */
static void add_leak(pl_checks *c, pl_module *m, uint32_t number)
{
    const pl_heap *h = &c->gpu->system.heap;
    const pl_heap_site *s = &h->site[number - 1];
    uint64_t blocks = 0, bytes = 0;
    for (size_t n = 0; n < h->n; n++) {
        const bool leaked = h->block[n].used && h->block[n].alloc_site == number;
        blocks += leaked;
        bytes += leaked ? h->block[n].size : 0;
    }
    if (!blocks) return;
    pl_finding f = {.space = space_word(PL_SP_GLOBAL),
                    .kernel = pl_arena_strdup(c->arena, s->kernel),
                    .pc = s->pc,
                    .other_pc = UINT32_MAX,
                    .count = blocks,
                    .bytes = (uint32_t)bytes};
    pl_check_name_kind(PL_FK_MEM_LEAK, &f);
    source_line(c, m, s->pc, &f.file, &f.line);
    f.text = pl_arena_printf(
        c->arena, "mem-leak: %" PRIu64 " byte%s that malloc allocated here have not been freed",
        bytes, pl_plural(bytes));
    if (!pl_check_is_suppressed(c, &f)) *pl_push(c->arena, &c->list) = f;
}

static void add_leaks(pl_checks *c, pl_module *m)
{
    const pl_heap *h = &c->gpu->system.heap;
    if (!(c->tools & PL_CHECK_MEM)) return;
    for (uint32_t k = 0; k < h->nsites; k++)
        if (h->site[k].program == m->program) add_leak(c, m, k + 1);
}

static int by_place(const void *a, const void *b)
{
    const pl_finding *x = *(const pl_finding *const *)a, *y = *(const pl_finding *const *)b;
    if (x->pc != y->pc) return x->pc < y->pc ? -1 : 1;
    if (x->other_pc != y->other_pc) return x->other_pc < y->other_pc ? -1 : 1;
    return strcmp(x->kind, y->kind);
}

const pl_finding *const *pl_checks_ordered(pl_checks *c, pl_module *m)
{
    add_leaks(c, m);
    const pl_finding **order = pl_arena_array(c->gpu->messages, const pl_finding *, c->list.n + 1);
    for (size_t n = 0; n < c->list.n; n++) order[n] = &c->list.at[n];
    qsort(order, c->list.n, sizeof *order, by_place);
    return order;
}

pl_status pl_checks_report(pl_checks *c, pl_module *m)
{
    const pl_status st = pl_checks_collect(c, m); /* findings since the last launch */
    if (st != PL_OK) return st;
    PL_GUARD(return pl_gpu_no_memory(c->gpu, "while reporting what a checker found"))
    const pl_finding *const *order = pl_checks_ordered(c, m);
    for (size_t n = 0; n < c->list.n && n < c->limit; n++)
        if (!order[n]->ended)
            report_finding(c, m, order[n]); /* else already in the fault message */
    if (c->list.n > c->limit)
        pl_report(&c->gpu->diags, PL_N1004, (pl_loc){.file = UINT32_MAX},
                  (unsigned long long)(c->list.n - c->limit), pl_plural(c->list.n - c->limit));
    return PL_OK;
}

/* The kinds of findings of a tool. */
static const char *explain_tool(pl_gpu *gpu, const char *topic)
{
    const char *list = NULL;
    for (size_t k = 0; k < PL_FK_COUNT; k++)
        if (strcmp(tool_word((pl_finding_kind)k), topic) == 0)
            list = pl_arena_printf(gpu->explanations, "%s  %s-%s\n", list ? list : "", topic,
                                   kind_info[k].word);
    return list ? pl_arena_printf(gpu->explanations,
                                  "%s - findings of `ptxloom run --check`, each a topic\n\n%s",
                                  topic, list)
                : NULL;
}

const char *pl_check_explain(pl_gpu *gpu, const char *topic)
{
    for (size_t k = 0; k < PL_FK_COUNT; k++) {
        char what[64];
        snprintf(what, sizeof what, "%s-%s", tool_word((pl_finding_kind)k), kind_info[k].word);
        if (strcmp(what, topic) == 0)
            return pl_arena_printf(gpu->explanations,
                                   "%s - finding of `ptxloom run --check %s`\n\n%s\n", what,
                                   tool_word((pl_finding_kind)k), kind_info[k].text);
    }
    return explain_tool(gpu, topic);
}
