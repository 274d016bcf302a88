/* diag.h - messages to the user about the user's input, as data.
 *
 * Every message is a row of diag.def (id, severity, format, explanation). Code reports by id and
 * position and never prints directly. The list is sorted by position for display, and
 * pl_diag_render renders it with the source line and a caret.
 *   k.ptx:12:7: error: 'add.s32' takes no '.ftz' [E0214]
 *       12 |  add.ftz.s32 %r1, %r2, %r3;
 *          |      ^~~~
 *       help: write add.s32, or add.ftz.f32 for floats */
#ifndef PL_BASE_DIAG_H
#define PL_BASE_DIAG_H

#include "base/arena.h"
#include "base/status.h"
#include <stdint.h>

typedef enum pl_severity { PL_NOTE, PL_WARNING, PL_ERROR } pl_severity;

typedef enum pl_diag_id {
#define DIAG(id, severity, format, explanation) PL_##id,
#include "base/diag.def"
#undef DIAG
    PL_DIAG_COUNT
} pl_diag_id;

/* A position in a source text. line and column start at 1; line 0 means "the whole file". */
typedef struct pl_loc {
    uint32_t file; /* index into pl_diags.file */
    uint32_t line, column, length;
} pl_loc;

typedef struct pl_diag {
    pl_diag_id id;
    pl_severity severity;
    pl_loc at;
    const char *text; /* the formatted message, without position and id */
    const char *help; /* suggested correction, or NULL */
    /* Source position from which this was compiled: "k.cu:12", or NULL. */
    const char *source;
} pl_diag;

/* The sources to which diagnostics refer, and the diagnostics found so far. */
typedef struct pl_diags {
    pl_arena *arena; /* not owned */
    struct {
        struct pl_diag_file {
            const char *name, *text; /* not owned; text may be NULL */
            size_t size;
        } * at;
        size_t n, cap;
    } file;
    struct {
        pl_diag *at;
        size_t n, cap;
    } list;
    size_t errors;
    size_t limit; /* further errors are counted, not stored (default 100); so are further warnings
                     and notes */
    pl_diag unstored; /* returned by pl_report for a message that is not stored */
} pl_diags;

void pl_diags_init(pl_diags *d, pl_arena *arena);
uint32_t pl_diags_add_file(pl_diags *d, const char *name, const char *text, size_t size);
/* Reports message `id` at `at`; the variadic arguments are those of the row's format. Returns the
 * record so that the caller may set ->help (with pl_arena_printf); never NULL. */
pl_diag *pl_report(pl_diags *d, pl_diag_id id, pl_loc at, ...);
const char *pl_diag_code(pl_diag_id id);        /* "E0214" */
const char *pl_diag_explanation(pl_diag_id id); /* the reason for the error and the correction */
const char *pl_diag_format(pl_diag_id id);
bool pl_diag_by_code(const char *code, pl_diag_id *id);
/* Discards the messages from index `from` on, because those of a phase that ran out of memory may
 * be wrong. */
void pl_diags_drop(pl_diags *d, size_t from);
/* Stable sort by file, line, column, id, and removal of exact duplicates. */
void pl_diags_sort(pl_diags *d);
/* Renders one diagnostic completely, with position, source line, caret and help, in the arena of d.
 */
const char *pl_diag_render(const pl_diags *d, const pl_diag *m, bool colour);

#endif
