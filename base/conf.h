/* conf.h - parser of machine descriptions (arch/NAME.conf): numbers with a unit and a provenance on
 * every line.
 *
 *     # arch/toy.conf - small round numbers for teaching
 *     [l1]
 *     size        = 4 KiB          ; chosen
 *     hit_latency = 20 cycles      ; measured mem_latency.tsv, H200, driver 580.159.04, 2026-11
 *     replacement = lru            ; guessed
 *     carveouts   = 0 8 16 32 KiB  ; documented CUDA C Programming Guide, 20.7.3
 *
 * One key per line; '#' starts a comment line. The word after ';' is the provenance of the value:
 * documented, measured, inferred and fitted require a source; guessed and chosen do not. Reading
 * has three steps. pl_conf_read parses the file. pl_conf_bind checks the keys of one section
 * against a table and stores them in the caller's struct. pl_conf_report_unknown reports every line
 * that no table requested. All problems are diagnostics with a line number (E05xx), and several are
 * reported at once. */
#ifndef PL_BASE_CONF_H
#define PL_BASE_CONF_H

#include "base/diag.h"
#include "base/map.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The provenance of a value. X(NAME, word, needs a source, meaning): the only list. */
#define PL_PROVENANCES(X)                                                                          \
    X(DOCUMENTED, "documented", true, "printed by the maker or in a paper, which is named")        \
    X(MEASURED, "measured", true,                                                                  \
      "measured on hardware by the program or recording that is named")                            \
    X(INFERRED, "inferred", true, "follows from other values by the argument that is named")       \
    X(FITTED, "fitted", true,                                                                      \
      "chosen by an error figure over the launches or kernels that are named")                     \
    X(GUESSED, "guessed", false, "not known; a plausible value")                                   \
    X(CHOSEN, "chosen", false, "a decision of this model, not a claim about hardware")

typedef enum pl_provenance {
#define X(name, word, source, meaning) PL_##name,
    PL_PROVENANCES(X)
#undef X
        PL_PROVENANCE_COUNT
} pl_provenance;

const char *pl_provenance_word(pl_provenance p);

/* One `key = value unit ; provenance` line. Strings are in the arena. */
typedef struct pl_conf_entry {
    const char *section, *key; /* "l1", "hit_latency" */
    const char *value;         /* "20", "0 8 16 32", "lru": without the unit */
    const char *unit;          /* "cycles" or ""; only after numbers */
    pl_provenance provenance;
    const char *source; /* text after the provenance, or "" */
    pl_loc at;          /* of the key */
    pl_loc value_at;
    bool used; /* a bind has requested it */
} pl_conf_entry;

#define PL_CONF_MAX_LIST 16

typedef struct pl_conf_list {
    uint32_t n;
    uint64_t at[PL_CONF_MAX_LIST];
} pl_conf_list;

typedef enum pl_conf_type {
    PL_CONF_U32,  /* uint32_t */
    PL_CONF_U64,  /* uint64_t */
    PL_CONF_F64,  /* double */
    PL_CONF_BOOL, /* bool: yes or no */
    PL_CONF_WORD, /* int: index in `words` */
    PL_CONF_TEXT, /* const char *: the rest of the line up to ';' */
    PL_CONF_LIST  /* pl_conf_list of whole numbers */
} pl_conf_type;

/* A key that a section must have, and the destination of its value. The value is stored in the unit
 * given here; the file may use any unit of the same dimension (1 GHz for "MHz", 4 KiB for "B"). */
typedef struct pl_conf_key {
    const char *key;
    pl_conf_type type;
    const char *unit;  /* "cycles", "B", "MHz", "ns", "B/cycle", ... or "" for a plain number */
    double min, max;   /* inclusive; for lists: per element; both 0: any non-negative number */
    size_t offset;     /* offsetof(struct, member) */
    const char *words; /* PL_CONF_WORD: "lru fifo random" */
    bool optional;     /* if absent, the member is not changed */
    const char *about; /* one sentence for `ptxloom explain SECTION.KEY` */
} pl_conf_key;

typedef struct pl_conf_section {
    const char *name;
    pl_loc at;
    const pl_conf_key *keys; /* not owned; the keys requested by the latest bind, NULL before */
    size_t nkeys;
} pl_conf_section;

/* A renamed key. section: a single one, or a prefix of several that ends with a period. */
typedef struct pl_conf_rename {
    const char *section, *old_key, *new_key;
} pl_conf_rename;

typedef struct pl_conf {
    const pl_conf_rename *renamed; /* not owned */
    size_t nrenamed;
    pl_arena *arena; /* not owned */
    pl_diags *diags; /* not owned */
    uint32_t file;
    struct {
        pl_conf_section *at;
        size_t n, cap;
    } section;
    struct {
        pl_conf_entry *at;
        size_t n, cap;
    } entry;       /* in file order */
    pl_map number; /* of an entry, from 1, keyed by section and key */
} pl_conf;

/* PL_OK, or PL_INVALID with diagnostics (*out then holds the lines that could be parsed), or
 * PL_NOMEM. The text must outlive diags; name is the file's name in messages. */
pl_status pl_conf_read(pl_arena *arena, pl_diags *diags, const char *name, const char *text,
                       size_t size, pl_conf **out);
bool pl_conf_has_section(const pl_conf *c, const char *section);
/* The entry or NULL. Does not mark it as used. */
const pl_conf_entry *pl_conf_find(const pl_conf *c, const char *section, const char *key);
/* The value of an entry in this unit ("" for a plain number). False: it is not a number, or its
 * unit has another dimension. */
bool pl_conf_value(const pl_conf_entry *e, const char *unit, double *out);
/* Copies lines of `from` whose keys are missing in the file. */
void pl_conf_complete(pl_conf *c, const pl_conf *from);
/* Stores the n keys of `section` into *out; reports missing keys, bad values, units and ranges.
 * False on any error. */
bool pl_conf_bind(pl_conf *c, const char *section, const pl_conf_key *keys, size_t n, void *out);
/* Sets the renamed keys for pl_conf_new_name and pl_conf_report_unknown; `renamed` is not owned. */
void pl_conf_set_renames(pl_conf *c, const pl_conf_rename *renamed, size_t n);
/* The new name of a renamed key, or NULL. */
const char *pl_conf_new_name(const pl_conf *c, const char *section, const char *key);

/* Takes a section and its keys as known, without reading them. */
void pl_conf_skip(pl_conf *c, const char *section);
/* Reports every section and key that no bind requested, with the nearest known key of that section
 * as help, or the new name of a renamed one. */
bool pl_conf_report_unknown(pl_conf *c);

#endif
