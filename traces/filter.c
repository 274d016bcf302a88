/* filter.c - selects the rows of inst and mem that a trace keeps: parses the user's filter options
 * and evaluates them for each event.
 *
 * Numbers are lists of single values and inclusive ranges: "0,4,8:11"; an end may be omitted:
 * "1000:". The parts that depend on the instruction alone (pc, PTX line, class) are evaluated once
 * per module, so that an event costs a single byte test. */
#include "isa/table/form.h"
#include "base/guard.h"
#include "traces/tracedb.h"
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const pl_tracedb_effect_names[PL_TRACEDB_EFFECTS] = {
    "load", "store", "atomic", "barrier",  "branch",  "exit",
    "call", "async", "fence",  "volatile", "converge"};

/* Parses "12", "12:20", "12:", ":20", terminated by the end or a comma. NULL: none of these. */
static const char *read_range(const char *s, pl_tracedb_range *r)
{
    char *end;
    *r = (pl_tracedb_range){0, UINT64_MAX};
    errno = 0;
    bool first = isdigit((unsigned char)*s);
    if (first) {
        r->first = r->last = strtoull(s, &end, 10);
        s = end;
    }
    if (*s == ':') {
        s++;
        r->last = UINT64_MAX;
        if (isdigit((unsigned char)*s)) {
            r->last = strtoull(s, &end, 10);
            s = end;
        } else if (!first) {
            return NULL;
        }
    } else if (!first) {
        return NULL;
    }
    return errno == 0 && r->first <= r->last && (*s == ',' || *s == '\0') ? s : NULL;
}

/* Parses a list of ranges; those after "line:" are added to `line` (NULL: not allowed). */
static bool read_ranges(pl_arena *a, const char *s, pl_tracedb_ranges *out, pl_tracedb_ranges *line)
{
    for (;;) {
        pl_tracedb_ranges *to = out;
        pl_tracedb_range r;
        if (line && strncmp(s, "line:", 5) == 0) {
            to = line;
            s += 5;
        }
        s = read_range(s, &r);
        if (!s) return false;
        *pl_push(a, to) = r;
        if (*s == '\0') return true;
        s++;
    }
}

static bool read_sample(const char *s, uint32_t *one_in)
{
    char *end;
    if (strncmp(s, "1/", 2) == 0) s += 2;
    unsigned long n = isdigit((unsigned char)*s) ? strtoul(s, &end, 10) : 0;
    if (n < 1 || n > 1000000 || *end) return false;
    *one_in = (uint32_t)n;
    return true;
}

/* True for a known class: a latency class, an effect, or a mnemonic. */
static bool known_class(const char *word, size_t n)
{
    for (unsigned k = 0; k < C_count; k++)
        if (strlen(pl_class_text[k]) == n && memcmp(pl_class_text[k], word, n) == 0) return true;
    for (unsigned k = 0; k < PL_TRACEDB_EFFECTS; k++)
        if (strlen(pl_tracedb_effect_names[k]) == n &&
            memcmp(pl_tracedb_effect_names[k], word, n) == 0)
            return true;
    for (unsigned k = 0; k < pl_nmnems; k++)
        if (strlen(pl_mnems[k].name) == n && memcmp(pl_mnems[k].name, word, n) == 0) return true;
    return false;
}

static bool read_classes(const char *s)
{
    for (;; s++) {
        size_t n = strcspn(s, ",");
        if (!known_class(s, n)) return false;
        s += n;
        if (*s == '\0') return true;
    }
}

bool pl_tracedb_filter_parse(pl_arena *a, const pl_tracedb_filter *f, pl_tracedb_parsed_filter *out,
                             pl_tracedb_filter_error *bad)
{
    *out = (pl_tracedb_parsed_filter){.one_in = 1};
    const struct {
        const char *value, *option, *expected;
        bool valid;
    } part[] = {
        {f->kernel, "--trace-kernel", "a name or a pattern with * and ?, such as reduce_*",
         !f->kernel || *f->kernel},
        {f->sm, "--trace-sm", "numbers and ranges, such as 0,4,8:11",
         !f->sm || read_ranges(a, f->sm, &out->sm, NULL)},
        {f->block, "--trace-block", "numbers and ranges, such as 0,4,8:11",
         !f->block || read_ranges(a, f->block, &out->block, NULL)},
        {f->warp, "--trace-warp", "numbers and ranges within a block, such as 0,4:7",
         !f->warp || read_ranges(a, f->warp, &out->warp, NULL)},
        {f->pc, "--trace-pc",
         "numbers and ranges of machine instructions, such as 10:20, or PTX lines: line:41:45",
         !f->pc || read_ranges(a, f->pc, &out->pc, &out->line)},
        {f->cycles, "--trace-cycles", "a range such as 1000:2000; either end may be left out",
         !f->cycles || read_ranges(a, f->cycles, &out->cycle, NULL)},
        {f->cls, "--trace-class",
         "effects (load, store, atomic, barrier, branch), mnemonics or latency classes, such as "
         "load,store",
         !f->cls || read_classes(f->cls)},
        {f->sample, "--trace-sample", "1/N: one warp in N, 1/1 to 1/1000000",
         !f->sample || read_sample(f->sample, &out->one_in)},
    };
    out->kernel = f->kernel;
    out->cls = f->cls;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        if (part[i].valid) continue;
        *bad = (pl_tracedb_filter_error){part[i].value, part[i].option, part[i].expected};
        return false;
    }
    out->events = out->sm.n || out->block.n || out->warp.n || out->cycle.n || out->one_in > 1;
    out->instructions = out->pc.n || out->line.n || out->cls;
    return true;
}

static pl_status check(pl_arena *a, const pl_tracedb_filter *f, pl_tracedb_filter_error *bad)
{
    PL_GUARD(return PL_NOMEM)
    pl_tracedb_parsed_filter ignored;
    return pl_tracedb_filter_parse(a, f, &ignored, bad) ? PL_OK : PL_INVALID;
}

pl_status pl_tracedb_filter_check(const pl_tracedb_filter *f, pl_tracedb_filter_error *bad)
{
    pl_arena *a = pl_arena_open();
    pl_status st = a ? check(a, f, bad) : PL_NOMEM;
    pl_arena_close(a);
    return st;
}

void pl_tracedb_filter_text(const pl_tracedb_filter *f, char *buf, size_t size)
{
    const char *const part[][2] = {
        {"kernel", f->kernel}, {"sm", f->sm},         {"block", f->block}, {"warp", f->warp},
        {"pc", f->pc},         {"cycles", f->cycles}, {"class", f->cls},   {"sample", f->sample}};
    size_t n = 0;
    buf[0] = '\0';
    for (size_t i = 0; i < sizeof part / sizeof *part && n < size; i++)
        if (part[i][1])
            n += (size_t)snprintf(buf + n, size - n, "%s%s %s", n ? ", " : "", part[i][0],
                                  part[i][1]);
}

bool pl_tracedb_in_ranges(const pl_tracedb_ranges *r, uint64_t v)
{
    for (size_t i = 0; i < r->n; i++)
        if (v >= r->at[i].first && v <= r->at[i].last) return true;
    return r->n == 0;
}

bool pl_tracedb_selects_kernel(const pl_tracedb_parsed_filter *c, const char *name,
                               const char *entry)
{
    return !c->kernel || fnmatch(c->kernel, entry, 0) == 0 ||
           (name && fnmatch(c->kernel, name, 0) == 0);
}

static bool list_contains(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *s = list; s; s = strchr(s, ','), s += s != NULL)
        if (strncmp(s, word, n) == 0 && (s[n] == ',' || s[n] == '\0')) return true;
    return false;
}

bool pl_tracedb_selects_insn(const pl_tracedb_parsed_filter *c, uint32_t pc,
                             const pl_tracedb_insn *i)
{
    bool selected = (!c->pc.n && !c->line.n) || (c->pc.n && pl_tracedb_in_ranges(&c->pc, pc)) ||
                    (c->line.n && pl_tracedb_in_ranges(&c->line, i->ptx_line));
    if (!selected || !c->cls) return selected;
    if ((i->cls && list_contains(c->cls, i->cls)) ||
        (i->mnemonic && list_contains(c->cls, i->mnemonic)))
        return true;
    for (unsigned e = 0; e < PL_TRACEDB_EFFECTS; e++)
        if (i->effects >> e & 1 && list_contains(c->cls, pl_tracedb_effect_names[e])) return true;
    return false;
}
