/* tuning.c - see tuning.h. */
#include "compiler/tuning.h"

#include <string.h>

#include "arch/builtin_machines.h"

typedef struct tuning_key {
    const char *section;
    pl_conf_key key;
} tuning_key;

static const tuning_key keys[] = {
#define TUNING_SECTION(section, about)
#define TUNE(section, name, ctype, unit_, min_, max_, about_)                                      \
    {#section,                                                                                     \
     {.key = #name,                                                                                \
      .type = PL_CONF_U32,                                                                         \
      .unit = unit_,                                                                               \
      .min = min_,                                                                                 \
      .max = max_,                                                                                 \
      .offset = offsetof(pl_tuning, section.name),                                                 \
      .about = about_}},
#define TUNE_LIST(section, name, min_, max_, about_)                                               \
    {#section,                                                                                     \
     {.key = #name,                                                                                \
      .type = PL_CONF_LIST,                                                                        \
      .unit = "",                                                                                  \
      .min = min_,                                                                                 \
      .max = max_,                                                                                 \
      .offset = offsetof(pl_tuning, section.name),                                                 \
      .about = about_}},
#define TUNING_END(section)
#include "compiler/tuning.def"
};
enum { NKEYS = sizeof keys / sizeof *keys };

static const pl_loc no_location = {.file = UINT32_MAX};

static pl_conf_entry *find_entry(pl_conf *c, const char *name, size_t n)
{
    const char *dot = memchr(name, '.', n);
    const size_t section = dot ? (size_t)(dot - name) : 0;
    for (size_t k = 0; dot && k < c->entry.n; k++) {
        pl_conf_entry *e = &c->entry.at[k];
        if (strlen(e->section) == section && memcmp(e->section, name, section) == 0 &&
            strlen(e->key) == n - section - 1 && memcmp(e->key, dot + 1, n - section - 1) == 0)
            return e;
    }
    return NULL;
}

/* Applies "SECTION.KEY=VALUE,...", overriding the file's values. */
static bool apply_overrides(pl_arena *a, pl_diags *d, pl_conf *c, const char *changes)
{
    while (changes && *changes) {
        const size_t n = strcspn(changes, ",");
        const char *equal = memchr(changes, '=', n);
        pl_conf_entry *e = equal ? find_entry(c, changes, (size_t)(equal - changes)) : NULL;
        if (!e || equal + 1 == changes + n) {
            const char *what = pl_arena_strndup(a, changes, n);
            pl_report(d, PL_E0019, no_location, what ? what : "?");
            return false;
        }
        e->value = pl_arena_strndup(a, equal + 1, n - (size_t)(equal - changes) - 1);
        e->provenance = PL_CHOSEN;
        e->source = "on the command line";
        changes += n + (changes[n] == ',');
    }
    return pl_arena_ok(a);
}

pl_status pl_tuning_read(pl_arena *a, pl_diags *d, const char *changes, const pl_tuning **out)
{
    const pl_machine_text *t = &pl_target_texts[0];
    pl_conf *c = NULL;
    pl_tuning *r = pl_arena_new(a, pl_tuning);
    *out = r;
    if (!r) return PL_NOMEM;
    pl_status st = pl_conf_read(a, d, "sm_90.target", t->text, t->size, &c);
    if (st != PL_OK) return st;
    if (!apply_overrides(a, d, c, changes)) return pl_arena_ok(a) ? PL_INVALID : PL_NOMEM;
    bool ok = true;
    for (size_t k = 0; k < NKEYS;) { /* one section at a time */
        size_t n = 0;
        pl_conf_key table[NKEYS];
        const char *section = keys[k].section;
        for (; k < NKEYS && strcmp(keys[k].section, section) == 0; k++) table[n++] = keys[k].key;
        pl_conf_key *section_keys = pl_arena_copy(a, table, n * sizeof *table);
        if (!section_keys) return PL_NOMEM;
        ok &= pl_conf_bind(c, section, section_keys, n, r);
    }
    ok &= pl_conf_report_unknown(c);
    return !pl_arena_ok(a) ? PL_NOMEM : ok ? PL_OK : PL_INVALID;
}
