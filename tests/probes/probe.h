/* probe.h - replays recorded probes: runs the same kernels as on an H200, and compares row by row
 * (tests/data/probes).
 *
 * A table is a file of rows, "label TAB values"; the label holds the inputs. A replay function
 * computes the expected row, and probe_row compares. Rows with known differences in this version
 * are listed in tests/data/probes/exceptions.tsv with the reason; such a row must differ, so the
 * list cannot become stale. */
#ifndef PL_TESTS_PROBE_H
#define PL_TESTS_PROBE_H

#include <stdint.h>

#include "ptxloom.h"
#include "tests/harness.h"

enum { PROBE_ARGS = 12, PROBE_BUFFERS = 16 };

typedef struct probe {
    const char *table;
    char *text, **line; /* rows without comments and empty lines */
    size_t lines;
    pl_gpu *gpu;
    pl_module *module;
    /* the launch being prepared */
    pl_launch launch;
    const char *kernel;
    uint8_t params[40000];
    pl_ptr buffer[PROBE_BUFFERS]; /* freed by probe_done */
    size_t buffers;
    pl_result result;
    /* counts */
    size_t same, excepted, wrong;
} probe;

/* Reads NAME.tsv.xz, and loads MODULE.ptx.xz (NULL: none). */
void probe_open(probe *p, const char *name, const char *module);
/* Prints one TAP line for the table and releases all resources. */
void probe_close(probe *p);

/* Starts a launch of the kernel whose name contains `name`: one block of one thread unless
 * changed. */
void probe_kernel(probe *p, const char *name);
void probe_shape(probe *p, uint32_t grid, uint32_t block);
/* Sets parameter k. */
void probe_arg(probe *p, unsigned k, const void *value);
void probe_arg32(probe *p, unsigned k, uint32_t value);
/* Creates a buffer as parameter k, initialised from `from` (NULL: zeros). Returns its address. */
pl_ptr probe_buffer(probe *p, unsigned k, const void *from, uint64_t bytes);
/* Runs the launch. True if the kernel succeeded; otherwise p->result.error names the fault. */
bool probe_run(probe *p);
/* Copies back from a buffer. */
void probe_read(probe *p, pl_ptr from, void *to, uint64_t bytes);
/* Frees the buffers of the launch and its diagnostics. */
void probe_done(probe *p);

/* Compares a row with the result. */
void probe_row(probe *p, const char *row, const char *got);
/* Records whether the row matches (`got`). */
void probe_verdict(probe *p, const char *row, bool same, const char *got);
/* Converts "CUDA_ERROR_X" to the number and name of the runtime API. */
const char *probe_error(const char *driver_name);

/* Formats n words in hexadecimal, separated by blanks, in one of eight buffers used in turn. */
const char *probe_words(const uint32_t *w, size_t n);
const char *probe_hex(const void *bytes, size_t n);

#endif
