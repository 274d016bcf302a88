/* check_sanitizer.c - findings in the output format of compute-sanitizer, which scripts parse.
 *
 * The lines are those of compute-sanitizer 2025.3.1 as it printed them on an H100 (2026-11). It
 * counts threads for memcheck, initcheck and synccheck, and bytes for racecheck. Here each pair of
 * places has one block of lines, and the summary counts the rest. Host backtraces and frames of
 * inlined functions are omitted. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "check/check.h"
#include "lib/check_list.h"
#include "lib/demangle.h"

/* ---- places ---- */

/* Returns "raw(int *)+0x80 in bugs.cu:25": a machine instruction has 16 bytes. */
static const char *position(const pl_checks *c, pl_module *m, const pl_finding *f, bool other)
{
    pl_arena *a = c->arena;
    const pl_program *p = m->program;
    const uint32_t pc = other ? f->other_pc : f->pc, line = other ? f->other_line : f->line;
    const char *file = other ? f->other_file : f->file, *slash = file ? strrchr(file, '/') : NULL;
    uint32_t first = 0;
    for (size_t n = 0; n < p->funcs.n; n++)
        if (pc - p->funcs.at[n].first < p->funcs.at[n].count) first = p->funcs.at[n].first;
    return pl_arena_printf(a, "%s+0x%x in %s:%" PRIu32, pl_demangle(a, f->kernel),
                           16 * (pc - first),
                           slash  ? slash + 1
                           : file ? file
                                  : "",
                           line);
}

static const char *access_word(const pl_insn *i)
{
    switch ((int)pl_form_mnem[i->form]) {
    case M_st: return "write";
    case M_atom:
    case M_red: return "atomic";
    default: return "read";
    }
}

static const char *thread_line(pl_arena *a, const uint32_t t[3], const uint32_t b[3])
{
    return pl_arena_printf(a, "=========     by thread (%u,%u,%u) in block (%u,%u,%u)\n", t[0],
                           t[1], t[2], b[0], b[1], b[2]);
}

/* Returns "16,000". */
static const char *grouped(pl_arena *a, uint64_t n)
{
    if (n < 1000) return pl_arena_printf(a, "%" PRIu64, n);
    return pl_arena_printf(a, "%s,%03u", grouped(a, n / 1000), (unsigned)(n % 1000));
}

/* Returns "and is 1 bytes after the nearest allocation at 0x7f00 of size 256 bytes", with its line.
 */
static const char *nearest(const pl_checks *c, uint64_t address)
{
    const pl_alloc *n = pl_memory_nearest(&c->gpu->memory, address);
    if (!n) return "";
    const char *where =
        address >= n->address + n->size
            ? pl_arena_printf(c->arena, "%s bytes after",
                              grouped(c->arena, address - n->address - n->size + 1))
        : address < n->address
            ? pl_arena_printf(c->arena, "%s bytes before", grouped(c->arena, n->address - address))
            : "inside";
    return pl_arena_printf(c->arena,
                           "=========     and is %s the nearest allocation at 0x%" PRIx64
                           " of size %s bytes\n",
                           where, n->address, grouped(c->arena, n->size));
}

/* ---- blocks of lines ---- */

static const char *memory_error(const pl_checks *c, pl_module *m, const pl_finding *f)
{
    const pl_insn *i = &m->program->code.at[f->pc];
    const bool global = strcmp(f->space, "global") == 0, freed = strcmp(f->kind, "freed") == 0;
    pl_arena *a = c->arena;
    if (freed && pl_form_mnem[i->form] == M_call)
        return pl_arena_printf(a,
                               "========= Malloc/Free Error encountered : Device-side double free\n"
                               "=========     at %s\n%s"
                               "=========     Address 0x%" PRIx64 "\n",
                               position(c, m, f, false), thread_line(a, f->thread, f->block),
                               f->address);
    return pl_arena_printf(
        a,
        "========= Invalid __%s__ %s of size %u bytes\n"
        "=========     at %s\n%s"
        "=========     Access to 0x%" PRIx64 " is %s\n%s",
        f->space, access_word(i),
        (unsigned)(i->sel[PL_M_COUNT] ? i->sel[PL_M_COUNT] : 1) << i->sel[PL_M_LOG2],
        position(c, m, f, false), thread_line(a, f->thread, f->block), f->address,
        strcmp(f->kind, "misaligned") == 0 ? "misaligned" : "out of bounds",
        global ? nearest(c, f->address) : "");
}

static const char *race(const pl_checks *c, pl_module *m, const pl_finding *f)
{
    const pl_insn *code = m->program->code.at;
    const char *current = strcmp(access_word(&code[f->pc]), "read") == 0 ? "Read" : "Write",
               *previous = strcmp(access_word(&code[f->other_pc]), "read") == 0 ? "Read" : "Write";
    return pl_arena_printf(c->arena,
                           "========= %s: Race reported between %s access at %s\n"
                           "=========     and %s access at %s [%" PRIu64 " hazards]\n",
                           f->severity[0] == 'e' ? "Error" : "Warning", previous,
                           position(c, m, f, true), current, position(c, m, f, false),
                           f->count * (f->bytes ? f->bytes : 1));
}

static const char *uninitialised(const pl_checks *c, pl_module *m, const pl_finding *f)
{
    const pl_insn *i = &m->program->code.at[f->other_pc];
    return pl_arena_printf(
        c->arena,
        "========= Uninitialized __%s__ memory read of size %u bytes\n"
        "=========     at %s\n%s"
        "=========     Address 0x%" PRIx64 "\n",
        f->space, (unsigned)(i->sel[PL_M_COUNT] ? i->sel[PL_M_COUNT] : 1) << i->sel[PL_M_LOG2],
        position(c, m, f, true), thread_line(c->arena, f->other_thread, f->other_block),
        f->address);
}

static const char *barrier_error(const pl_checks *c, pl_module *m, const pl_finding *f)
{
    const char *what = strcmp(f->kind, "mbarrier") == 0 ? "Missing init."
                       : strcmp(f->kind, "mask") == 0   ? "Invalid arguments."
                                                        : "Divergent thread(s) in block.";
    return pl_arena_printf(c->arena,
                           "========= Barrier error detected. %s\n"
                           "=========     at %s\n%s",
                           what, position(c, m, f, false),
                           thread_line(c->arena, f->thread, f->block));
}

/* Returns the lines of a call with an invalid address. The text has its name after the kind. */
static const char *refused_call(const pl_checks *c, const pl_finding *f)
{
    const char *colon = strchr(f->text, ':'), *name = colon ? colon + 2 : f->text;
    const bool runtime = strncmp(name, "cuda", 4) == 0;
    return pl_arena_printf(c->arena,
                           "========= Program hit %s (error 1) due to \"invalid argument\" on CUDA "
                           "API call to %.*s.\n",
                           runtime ? "cudaErrorInvalidValue" : "CUDA_ERROR_INVALID_VALUE",
                           (int)strcspn(name, ", "), name);
}

/* Returns the lines of errors outside kernels, and of leaked blocks of the device heap. */
static const char *outside_kernels(const pl_checks *c, const pl_finding *f)
{
    if (strcmp(f->kind, "leak") == 0 && f->launch == PL_LAUNCH_NONE)
        return pl_arena_printf(c->arena, "========= Leaked %s bytes at 0x%" PRIx64 "\n",
                               grouped(c->arena, f->bytes), f->address);
    if (strcmp(f->kind, "leak") == 0)
        return pl_arena_printf(c->arena, "========= Leaked %u bytes on the device heap\n",
                               f->bytes);
    if (strcmp(f->tool, "init") == 0)
        return pl_arena_printf(c->arena,
                               "========= Host API memory access error at host access to 0x%" PRIx64
                               " of size %s bytes\n"
                               "=========     Uninitialized access to 0x%" PRIx64
                               " on access by cudaMemcpy source\n",
                               f->start, grouped(c->arena, f->bytes), f->address);
    if (strcmp(f->kind, "bounds") == 0 || strcmp(f->kind, "freed") == 0) return refused_call(c, f);
    return NULL;
}

/* Returns the lines of a finding; NULL: compute-sanitizer has none for it. */
static const char *finding_lines(const pl_checks *c, pl_module *m, const pl_finding *f)
{
    if (!m || strcmp(f->kind, "leak") == 0) return outside_kernels(c, f);
    if (f->pc >= m->program->code.n) return NULL;
    if (strcmp(f->tool, "mem") == 0) return memory_error(c, m, f);
    if (strcmp(f->tool, "race") == 0)
        return f->other_pc < m->program->code.n ? race(c, m, f) : NULL;
    if (strcmp(f->tool, "init") == 0)
        return f->other_pc < m->program->code.n ? uninitialised(c, m, f) : NULL;
    if (strcmp(f->tool, "sync") == 0) return barrier_error(c, m, f);
    return NULL;
}

/* ---- complete output ---- */

uint64_t pl_sanitizer_errors(const pl_sanitizer_sum *sum)
{
    return sum->errors + sum->race_errors;
}

pl_status pl_checks_sanitizer_end(pl_checks *c, const pl_sanitizer_sum *sum, bool failed,
                                  const char **last)
{
    *last = "";
    PL_GUARD(return pl_gpu_no_memory(c->gpu, "while reporting what a checker found"))
    const char *end = failed ? "========= Target application returned an error\n" : "";
    if (sum->leaked)
        end = pl_arena_printf(c->arena,
                              "%s========= LEAK SUMMARY: %" PRIu64 " bytes leaked in %" PRIu64
                              " allocations\n",
                              end, sum->leaked, sum->leaks);
    if (c->tools & PL_CHECK_RACE)
        end = pl_arena_printf(c->arena,
                              "%s========= RACECHECK SUMMARY: %" PRIu64
                              " hazard%s displayed (%" PRIu64 " error%s, %" PRIu64 " warning%s)\n",
                              end, sum->races, pl_plural(sum->races), sum->race_errors,
                              pl_plural(sum->race_errors), sum->race_warnings,
                              pl_plural(sum->race_warnings));
    if (c->tools & ~(unsigned)(PL_CHECK_RACE | PL_CHECK_DEADLOCK))
        end = pl_arena_printf(c->arena, "%s========= ERROR SUMMARY: %" PRIu64 " error%s\n", end,
                              sum->errors, pl_plural(sum->errors));
    if (sum->errors > sum->shown)
        end = pl_arena_printf(c->arena,
                              "%s========= ERROR SUMMARY: %" PRIu64
                              " errors were not printed. Use --print-limit option to adjust the "
                              "number of printed errors\n",
                              end, sum->errors - sum->shown);
    *last = end;
    return PL_OK;
}

/* Adds a finding that compute-sanitizer prints to the counts. True if its lines are printed. */
static bool add_to_summary(const pl_checks *c, const pl_finding *f, pl_sanitizer_sum *sum)
{
    const bool race = strcmp(f->tool, "race") == 0, leak = strcmp(f->kind, "leak") == 0;
    sum->errors += race ? 0 : leak ? 1 : f->count;
    sum->leaked += leak ? f->bytes : 0;
    sum->leaks += leak ? f->count : 0;
    sum->race_errors += race && f->severity[0] == 'e';
    sum->race_warnings += race && f->severity[0] != 'e';
    if (sum->shown + sum->races >= c->limit) return false;
    sum->shown += !race;
    sum->races += race;
    return true;
}

pl_status pl_checks_sanitizer(pl_checks *c, pl_module *m, pl_sanitizer_sum *sum, const char **lines)
{
    *lines = "";
    const pl_status st = m ? pl_checks_collect(c, m) : PL_OK;
    if (st != PL_OK) return st;
    PL_GUARD(return pl_gpu_no_memory(c->gpu, "while reporting what a checker found"))
    const char *output = sum->begun ? "" : "========= COMPUTE-SANITIZER\n";
    const pl_finding *const *order = m ? pl_checks_ordered(c, m) : NULL;
    sum->begun = true;
    for (size_t n = 0; n < c->list.n; n++) {
        const pl_finding *f = order ? order[n] : &c->list.at[n];
        const char *text = finding_lines(c, m, f);
        if (text && add_to_summary(c, f, sum))
            output = pl_arena_printf(c->arena, "%s%s========= \n", output, text);
    }
    *lines = output;
    return PL_OK;
}
