/* weak_memory.h - --consistency weak: a launch whose threads observe memory only as consistently as
 * the PTX memory model guarantees.
 *
 * Opening it binds every instruction that accesses or orders memory to a wrapper, and closing it
 * restores the plain functions: a launch with strong consistency runs the same code as without this
 * file. (So a program has at most one such launch at a time.) A wrapper selects the version of each
 * location (write_history.h) on which its instruction operates, calls the plain function on it, and
 * updates the history. So the semantics of every load, store and atomic operation stay the same;
 * only the visibility of their effects differs.
 *
 * The rules are those of PTX ISA 9.0, chapter "Memory Consistency Model", in operational form. A
 * warp is one observer: its lanes share one path to memory. Loads may obtain their values later
 * than in program order, but not later than an instruction that depends on them.
 * doc/memory-consistency.md explains the model. */
#ifndef PL_EMU_EXEC_CONSISTENCY_WEAK_MEMORY_H
#define PL_EMU_EXEC_CONSISTENCY_WEAK_MEMORY_H

#include "base/resource.h"
#include "emu/exec/exec.h"

struct pl_async_op;

/* Opens weak consistency for one launch of the program. seed: selects among the permitted values.
 * NULL: out of memory. */
struct pl_weak *pl_weak_open(pl_program *p, uint64_t seed);
void pl_weak_close(struct pl_weak *k); /* NULL is allowed */

/* A block starts: its warps have not observed any writes of other threads of the launch. False: out
 * of memory. */
bool pl_weak_start(pl_cta *c);
void pl_weak_end(struct pl_weak_cta *c); /* frees; NULL is allowed */

/* An asynchronous operation starts: it reads what the asynchronous proxy observes, which may be
 * older than the thread's writes. */
void pl_weak_read_source(pl_warp *w, struct pl_async_op *o);
/* Copies a tensor map in global or constant memory as the copy engine observes it, which may be
 * older than what the thread observes. */
void pl_weak_read_map(pl_warp *w, const uint8_t *map, uint8_t out[PL_TENSORMAP_BYTES]);
/* Bytes were written by an operation other than ld, st, atom and red. NULL: anywhere. */
void pl_weak_note_write(struct pl_weak *k, const uint8_t *to, size_t bytes);

#endif
