/* machine.c - loads a machine description, arch/NAME.conf or a file, into a pl_machine.
 *
 * The keys are in machine_keys.c, the costs of instruction classes in price.c. */
#include "arch/machine_parts.h"
#include "arch/builtin_machines.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/nearest.h"
#include "isa/table/form.h"
#include "isa/program/insn.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct text {
    const char *name, *text;
    size_t size;
} text;

static char *alloc_unguarded(pl_arena *a, size_t bytes)
{
    PL_UNGUARDED;
    return pl_arena_alloc(a, bytes);
}

static bool read_file(pl_arena *a, const char *path, text *out)
{
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    size_t n = 0, cap = 1u << 20;
    char *buf = alloc_unguarded(a, cap);
    if (buf) n = fread(buf, 1, cap - 1, f);
    fclose(f);
    if (!buf) {
        pl_guard_fail();
        return false;
    }
    *out = (text){pl_arena_strdup(a, path), buf, n};
    return true;
}

/* Finds the text of a machine; reports an error if there is none. */
static bool find_text(pl_arena *a, pl_diags *d, const char *name, const char *search_path,
                      text *out)
{
    size_t len = strlen(name);
    if (strchr(name, '/') || (len > 5 && strcmp(name + len - 5, ".conf") == 0)) {
        if (read_file(a, name, out)) return true;
        const int why = errno;
        const char *near = why == ENOENT ? pl_nearest_file(a, name) : NULL;
        pl_diag *x = pl_report(d, PL_E0001, (pl_loc){.file = UINT32_MAX}, name, pl_file_error(why));
        if (near) x->help = pl_arena_printf(a, "did you mean '%s'?", near);
        return false;
    } else {
        for (const char *p = search_path; p && *p;) {
            size_t n = strcspn(p, ":");
            if (n && read_file(a, pl_arena_printf(a, "%.*s/%s.conf", (int)n, p, name), out))
                return true;
            p += n + (p[n] == ':');
        }
        for (const pl_machine_text *t = pl_machine_texts; t->name; t++) {
            if (strcmp(t->name, name) != 0) continue;
            *out = (text){pl_arena_printf(a, "%s.conf", name), t->text, t->size};
            return true;
        }
    }
    pl_diag *x = pl_report(d, PL_E0515, (pl_loc){0}, name);
    char *known = pl_arena_strdup(a, "built-in machines are");
    for (const pl_machine_text *t = pl_machine_texts; t->name; t++)
        known = pl_arena_printf(a, "%s %s", known, t->name);
    x->help = known;
    return false;
}

/* Relations between keys that no single range can express. */
static bool check_consistency(const pl_machine *m, pl_diags *d, const pl_conf *c)
{
    bool ok = true;
#define CHECK(cond, section, key, why)                                                             \
    if (!(cond)) {                                                                                 \
        const pl_conf_entry *e = pl_conf_find(c, section, key);                                    \
        pl_report(d, PL_E0510, e ? e->value_at : (pl_loc){0}, key, e ? e->value : "", why);        \
        ok = false;                                                                                \
    }
    CHECK(m->sm.lanes == PL_LANES || m->sm.lanes == PL_MAX_HALVES * PL_LANES, "sm", "lanes",
          "a warp has 32 lanes, or 64 in two halves")
    CHECK(m->sm.warps % m->sm.subcores == 0, "sm", "warps",
          "every sub-core holds the same number of warps")
    CHECK(m->l1.line % m->l1.sector == 0 && m->l1.line / m->l1.sector <= 8, "l1", "sector",
          "a line has one to eight sectors")
    CHECK((m->l1.line & (m->l1.line - 1)) == 0, "l1", "line", "a line is a power of two")
    CHECK((m->fetch.line & (m->fetch.line - 1)) == 0, "fetch", "line", "a line is a power of two")
    CHECK(m->fetch.line <= m->l1.line, "fetch", "line",
          "an instruction line is not longer than a line of the L2")
    CHECK((m->constant.line & (m->constant.line - 1)) == 0, "constant", "line",
          "a line is a power of two")
    CHECK(m->constant.line <= m->l1.line, "constant", "line",
          "a constant line is not longer than a line of the L2")
    CHECK(m->shared.carveouts.n > 0, "shared", "carveouts", "at least one size is needed")
    uint64_t largest = 0;
    for (uint32_t i = 0; i < m->shared.carveouts.n; i++)
        if (m->shared.carveouts.at[i] > largest) largest = m->shared.carveouts.at[i];
    CHECK(largest + m->l1.reserved < m->l1.size, "shared", "carveouts",
          "some storage must remain for the L1")
    CHECK(m->mem.dram.map != PL_MAP_INTERLEAVED ||
              (m->mem.slices % m->mem.dram.channels == 0 && m->mem.partitions == 1 &&
               m->l1.line <= PL_CHANNEL_BYTES),
          "dram", "map",
          "with map = interleaved, each channel has the same number of slices, and the L2 is not "
          "split")
    CHECK(!m->mem.page_walk || m->mem.page_bytes, "tlb", "page", "a translation covers memory")
    CHECK(m->mem.groups <= m->sm.count, "xbar", "groups", "a group has at least one SM")
    CHECK(m->launch.first_gpc_bias <= m->sm.count / (m->mem.groups ? m->mem.groups : 1), "launch",
          "first_gpc_bias", "it cannot exceed the SMs of the first group")
#undef CHECK
    return ok;
}

/* Why "SECTION.KEY=VALUE" changes nothing; key: its part before '='. */
static const char *no_such_key(pl_arena *a, const pl_conf *c, const char *change, const char *key)
{
    const char *dot = strrchr(key, '.');
    const char *section = dot ? pl_arena_strndup(a, key, (size_t)(dot - key)) : "";
    const char *now = dot ? pl_conf_new_name(c, section, dot + 1) : NULL;
    const char **names = pl_arena_array(a, const char *, c->entry.n + 1);
    for (size_t k = 0; names && k < c->entry.n; k++)
        names[k] = pl_arena_printf(a, "%s.%s", c->entry.at[k].section, c->entry.at[k].key);
    const char *near = !now && names && pl_arena_ok(a) ? pl_nearest(key, names, c->entry.n) : NULL;
    if (near && strcmp(near, key) != 0) return pl_arena_printf(a, "did you mean '%s'?", near);
    return now ? pl_arena_printf(a, "the key '%s' is now called '%s.%s'", key, section, now)
               : pl_arena_printf(
                     a,
                     "'%s' is not a SECTION.KEY=VALUE of that machine; `ptxloom explain "
                     "SECTION.KEY` lists them",
                     change);
}

/* "NAME,SECTION.KEY=VALUE,...": these values override the file's, in the units of the file. */
static bool override_values(pl_arena *a, pl_diags *d, pl_conf *c, const char *name,
                            const char *changes)
{
    while (*changes) {
        const char *end = changes + strcspn(changes, ","),
                   *equal = memchr(changes, '=', (size_t)(end - changes));
        const char *change = pl_arena_strndup(a, changes, (size_t)(end - changes)),
                   *key = equal ? pl_arena_strndup(a, changes, (size_t)(equal - changes)) : change;
        pl_conf_entry *found = NULL;
        for (size_t k = 0; equal && k < c->entry.n; k++) {
            pl_conf_entry *e = &c->entry.at[k];
            if (strcmp(pl_arena_printf(a, "%s.%s", e->section, e->key), key) == 0) found = e;
        }
        if (!found) {
            pl_diag *x = pl_report(d, PL_E0515, (pl_loc){.file = UINT32_MAX}, name);
            x->help = no_such_key(a, c, change, key);
            return false;
        }
        found->value = pl_arena_strndup(a, equal + 1, (size_t)(end - equal - 1));
        found->value_at =
            (pl_loc){.file = UINT32_MAX}; /* its place in the file has another value */
        found->provenance = PL_CHOSEN;
        found->source = "on the command line";
        changes = end + (*end == ',');
    }
    return true;
}

/* Reads the file of a machine, completed by the one that its key `like` names. */
static pl_conf *read_conf(pl_arena *a, pl_diags *d, const char *name, const char *search_path,
                          bool *ok)
{
    pl_conf *c = NULL, *base = NULL;
    text t;
    if (!find_text(a, d, name, search_path, &t)) return NULL;
    *ok = pl_conf_read(a, d, t.name, t.text, t.size, &c) == PL_OK;
    const pl_conf_entry *like = c ? pl_conf_find(c, "machine", "like") : NULL;
    if (!like) return c;
    if (!find_text(a, d, like->value, search_path, &t)) return NULL;
    *ok &= pl_conf_read(a, d, t.name, t.text, t.size, &base) == PL_OK;
    const pl_conf_entry *nested = base ? pl_conf_find(base, "machine", "like") : NULL;
    if (nested) {
        pl_report(d, PL_E0508, like->value_at, like->key, like->value,
                  "a machine that is not itself like another");
        return NULL;
    }
    if (base) pl_conf_complete(c, base);
    return c;
}

/* Stores the values of all sections except [price] in the machine. */
static bool bind_sections(pl_machine *m, pl_conf *c)
{
    bool ok = true;
    size_t nop_keys;
    for (size_t i = 0; i < pl_machine_nsections; i++) {
        const pl_machine_section *s = &pl_machine_sections[i];
        ok &= pl_conf_bind(c, s->name, s->keys, s->n, (char *)m + s->offset);
    }
    for (unsigned k = 0; k < PL_OP_COUNT; k++) {
        m->op[k].pipe = PL_PIPE_COUNT;
        if (k == PL_OP_ISSUE) continue;
        const char *name = pl_arena_printf(c->arena, "op.%s", pl_op_words[k]);
        const pl_conf_key *keys = pl_machine_keys(name, &nop_keys);
        ok &= pl_conf_bind(c, name, keys, nop_keys, &m->op[k]);
    }
    return ok;
}

/* Completes the prices from the machine of the key `prices_like`, and reports classes without
 * one. */
static bool complete_prices(pl_machine *m, pl_diags *d, const char *search_path, bool *priced)
{
    pl_conf *other = NULL;
    bool ok = true;
    text t;
    if (m->like)
        ok = find_text(m->conf->arena, d, m->like, search_path, &t) &&
             pl_conf_read(m->conf->arena, d, t.name, t.text, t.size, &other) == PL_OK &&
             pl_prices_complete(m, other, d, priced);
    pl_prices_inherit(m, priced);
    for (unsigned k = 0; ok && k < C_count; k++)
        if (!priced[k])
            pl_report(d, PL_E0514, (pl_loc){.file = m->conf->file}, pl_class_text[k], m->name);
    for (unsigned k = 0; k < C_count; k++) ok &= priced[k];
    return ok;
}

static pl_fault_config fault_cycles(const pl_machine *m)
{
    const pl_fault_times *t = &m->page_faults;
    const double per_ns = m->clock_mhz / 1000;
    return (pl_fault_config){.first = (uint32_t)(t->first * per_ns),
                             .wake = (uint32_t)(t->wake * per_ns),
                             .batch = (uint32_t)(t->batch * per_ns),
                             .fault = (uint32_t)(t->fault * per_ns),
                             .block = (uint32_t)(t->block * per_ns),
                             .new_block = (uint32_t)(t->new_block * per_ns),
                             .host_block = (uint32_t)(t->host_block * per_ns),
                             .chunk = (uint32_t)(t->chunk * per_ns),
                             .host_chunk = (uint32_t)(t->host_chunk * per_ns),
                             .max_faults = PL_MAX_FAULTS};
}

/* Values that follow from others. */
static void derive_values(pl_machine *m)
{
    enum { FURTHER_REQUESTS = 512 }; /* of an SM, besides its misses and stores: code, constants */
    if (!m->issue.interval) m->issue.interval = 1;
    m->mem.nodes = m->sm.count;
    m->mem.faults = fault_cycles(m);
    m->mem.line_bytes = (uint32_t)m->l1.line;
    m->mem.sector_bytes = (uint32_t)m->l1.sector;
    m->mem.in_flight = m->sm.count * (m->l1.mshr + m->l1.outstanding_stores + FURTHER_REQUESTS);
}

pl_machine *pl_machine_load(pl_arena *a, pl_diags *d, const char *name, const char *search_path)
{
    bool ok = true;
    size_t name_length = strcspn(name, ",");
    pl_conf *c = read_conf(a, d, pl_arena_strndup(a, name, name_length), search_path, &ok);
    if (c) pl_conf_set_renames(c, pl_machine_renames, pl_machine_nrenames);
    if (!c || !override_values(a, d, c, name, name + name_length + (name[name_length] == ',')))
        return NULL;
    pl_machine *m = pl_arena_new(a, pl_machine);
    m->price = pl_arena_array(a, pl_price, C_count);
    bool *priced = pl_arena_array(a, bool, C_count);
    if (!pl_arena_ok(a)) return NULL;
    m->name = pl_arena_strdup(a, name);
    m->conf = c;
    ok &= bind_sections(m, c);
    if (ok) {
        ok = check_consistency(m, d, c);
        ok &= pl_prices_read(m, c, d, priced);
    } else {
        pl_conf_skip(c, "price");
    }
    ok = ok && complete_prices(m, d, search_path, priced);
    if (!pl_conf_report_unknown(c)) ok = false;
    if (!ok) return NULL;
    derive_values(m);
    return m;
}
