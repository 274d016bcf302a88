/* conf.h - reader of machine descriptions (arch/NAME.conf): numbers with a unit and a provenance
 * on every line.
 *
 *     # arch/toy.conf - small round numbers for teaching
 *     [l1]
 *     size        = 4 KiB          ; chosen
 *     hit_latency = 20 cycles      ; measured mem_latency.csv, H200, driver 580.159.04, 2026-11
 *     replacement = lru            ; guessed
 *     carveouts   = 0 8 16 32 KiB  ; documented CUDA C Programming Guide, 20.7.3
 *
 * One key to a line; '#' starts a comment line. The word after ';' is the kind of the value:
 * documented, measured, inferred and fitted must say from where; guessed and chosen need not.
 * Reading happens in three steps. pl_conf_read takes the file apart. pl_conf_bind checks the keys
 * of one section against a table and stores them in the caller's struct. pl_conf_report_unknown
 * complains about every line that no table asked for. All problems are diagnostics with a line
 * number (E05xx), and several are reported in one go. */
#ifndef PL_BASE_CONF_H
#define PL_BASE_CONF_H

#include "base/diag.h"
#include "base/map.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a value comes from. X(NAME, word, needs a source, meaning): the single list. */
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

/* One `key = value unit ; provenance` line. Texts lie in the arena. */
typedef struct pl_conf_entry {
    const char *section, *key; /* "l1", "hit_latency" */
    const char *value;         /* "20", "0 8 16 32", "lru": without the unit */
    const char *unit;          /* "cycles" or ""; only after numbers */
    pl_provenance provenance;
    const char *source; /* text after the kind, or "" */
    pl_loc at;          /* of the key */
    pl_loc value_at;
    bool used; /* a bind has asked for it */
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

/* One key that a section must have, and where its value goes. The value is stored in the unit given
 * here; any unit of the same dimension may stand in the file (1 GHz for "MHz", 4 KiB for "B"). */
typedef struct pl_conf_key {
    const char *key;
    pl_conf_type type;
    const char *unit;  /* "cycles", "B", "MHz", "ns", "B/cycle", ... or "" for a plain number */
    double min, max;   /* inclusive; for lists of each element; both 0: any non-negative number */
    size_t offset;     /* offsetof(struct, member) */
    const char *words; /* PL_CONF_WORD: "lru fifo random" */
    bool optional;     /* absent: the member keeps what it holds */
    const char *about; /* one sentence for `ptxloom explain SECTION.KEY` */
} pl_conf_key;

typedef struct pl_conf_section {
    const char *name;
    pl_loc at;
    const pl_conf_key *keys; /* not owned; what the latest bind asked for, NULL before */
    size_t nkeys;
} pl_conf_section;

/* A key that has a new name. section: one, or the first letters of several, up to a period. */
typedef struct pl_conf_rename {
    const char *section, *before, *now;
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
    pl_map number; /* of an entry, from 1, by its section and key */
} pl_conf;

/* PL_OK, or PL_INVALID with diagnostics (then *out still holds what could be read), or PL_NOMEM.
 * The text must live as long as diags; name is the file's name in messages. */
pl_status pl_conf_read(pl_arena *arena, pl_diags *diags, const char *name, const char *text,
                       size_t size, pl_conf **out);
bool pl_conf_has_section(const pl_conf *c, const char *section);
/* The entry or NULL. Does not mark it as used. */
const pl_conf_entry *pl_conf_find(const pl_conf *c, const char *section, const char *key);
/* The value of an entry in that unit ("" for a plain number). False: it is no number, or its unit
 * is of another dimension. */
bool pl_conf_value(const pl_conf_entry *e, const char *unit, double *out);
/* Lines of `from` whose keys the file lacks become lines of it. */
void pl_conf_complete(pl_conf *c, const pl_conf *from);
/* Stores the n keys of `section` into *out; reports missing keys, bad values, units and ranges.
 * False on any error. */
bool pl_conf_bind(pl_conf *c, const char *section, const pl_conf_key *keys, size_t n, void *out);
/* pl_conf_report_unknown names the new ones; `renamed` is not owned. */
void pl_conf_renamed(pl_conf *c, const pl_conf_rename *renamed, size_t n);

/* Reports every section and key that no bind asked for, with the nearest known key of that section
 * as help, or the new name of a renamed one. */
bool pl_conf_report_unknown(pl_conf *c);

#endif
