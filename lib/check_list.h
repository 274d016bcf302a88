/* check_list.h - what lib/check.c has found and named, for the files that print it. */
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
    } of; /* by finding of `check`: its number in the list. Copies of a line make one finding */
    struct {
        uint64_t *at;
        size_t n, cap;
    } counted;          /* by finding of `check`: of its count, what the list has */
    const char *kernel; /* of options; owned by the arena, as are the following */
    struct pl_suppression {
        const char *kind, *kernel, *place;
    } * suppression;
    size_t nsuppressions;
    size_t limit;
    unsigned wanted;   /* PL_CHECK_* */
    pl_watched *watch; /* room for `watched` of them; owned by the arena */
    size_t watched;
    int64_t last_launch; /* that pl_trace_note_findings was told of; 0: none */
};

struct pl_undefined;
struct pl_undefined *pl_checked_undefined(pl_checked *p); /* NULL is allowed */
/* The kind of "init-copy"; PL_FK_COUNT: there is none. */
pl_finding_kind pl_check_kind_of(const char *name);
unsigned pl_check_tool_of(pl_finding_kind kind); /* PL_CHECK_* */
/* "copy" of init-copy. */
const char *pl_check_kind_word(pl_finding_kind kind);
/* Fills in tool, kind, severity and help. */
void pl_check_name_kind(pl_finding_kind kind, pl_finding *f);
/* Is the finding one of those that nobody wants to see? */
bool pl_check_left_out(const pl_checks *c, const pl_finding *f);
/* The findings in the order of the program, leaks among them. May jump (PL_GUARD). */
const pl_finding *const *pl_checks_ordered(pl_checks *c, pl_module *m);

#endif
