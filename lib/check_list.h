/* check_list.h - the findings that lib/check.c has collected, for the files that print them. */
#ifndef PL_LIB_CHECK_LIST_H
#define PL_LIB_CHECK_LIST_H

#include "check/check.h"
#include "lib/internal.h"

struct pl_checks {
    pl_gpu *gpu;
    pl_check *check;
    pl_arena *arena; /* texts of findings */
    struct {
        pl_finding *at;
        size_t n, cap;
    } list;
    struct {
        size_t *at;
        size_t n, cap;
    } list_index; /* index in the list, by finding of `check`. Instructions of one source line share
             a finding */
    struct {
        uint64_t *at;
        size_t n, cap;
    } counted; /* by finding of `check`: the part of its count that is already in the list */
    const char *kernel; /* from the options; owned by the arena, like the following members */
    struct pl_suppression {
        const char *kind, *kernel, *place;
    } * suppression;
    size_t nsuppressions;
    size_t limit;
    unsigned tools;    /* PL_CHECK_* */
    pl_watched *watch; /* capacity for `watched` ranges; owned by the arena */
    size_t watched;
    int64_t last_launch; /* last argument of pl_trace_note_findings; 0: none */
};

struct pl_undefined;
struct pl_undefined *pl_checked_undefined(pl_checked *p); /* NULL is allowed */
/* Returns the kind named "init-copy"; PL_FK_COUNT: none. */
pl_finding_kind pl_check_kind_of(const char *name);
unsigned pl_check_tool_of(pl_finding_kind kind); /* PL_CHECK_* */
/* Returns "copy" for init-copy. */
const char *pl_check_kind_word(pl_finding_kind kind);
/* Sets tool, kind, severity and help. */
void pl_check_name_kind(pl_finding_kind kind, pl_finding *f);
/* True if a suppression or the kernel filter excludes the finding. */
bool pl_check_is_suppressed(const pl_checks *c, const pl_finding *f);
/* Returns the findings in program order, including leaks. May jump (PL_GUARD). */
const pl_finding *const *pl_checks_ordered(pl_checks *c, pl_module *m);

#endif
