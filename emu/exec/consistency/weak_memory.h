/* weak_memory.h - --consistency weak: a launch whose threads see memory only as consistently as the
 * PTX memory model promises.
 *
 * Opening it binds every instruction that touches or orders memory to a wrapper, and closing it
 * binds the plain functions again: a launch with strong consistency runs exactly the code that it
 * ran before. (So a program has one such launch at a time.) A wrapper decides which version of each
 * location (write_history.h) its instruction meets, lets the plain function work on that, and keeps
 * the books. So every load, store and atomic operation means what it always means; only when its
 * effects are seen differs.
 *
 * The rules are those of PTX ISA 9.0, chapter "Memory Consistency Model", in the form of a machine.
 * A warp is one observer: its lanes share one path to memory. Loads may take their values later
 * than their turn, but not later than anything that depends on them. doc/memory-consistency.md
 * tells the story. */
#ifndef PL_EMU_EXEC_CONSISTENCY_WEAK_MEMORY_H
#define PL_EMU_EXEC_CONSISTENCY_WEAK_MEMORY_H

#include "base/resource.h"
#include "emu/exec/exec.h"

struct pl_async_op;

/* For one launch of the program; seed: which of the permitted values are taken. NULL: out of
 * memory. */
struct pl_weak *pl_weak_open(pl_program *p, uint64_t seed);
void pl_weak_close(struct pl_weak *k); /* NULL is allowed */

/* A block starts: its warps have seen nothing of what others of the launch did. False: out of
 * memory. */
bool pl_weak_start(pl_cta *c);
void pl_weak_end(struct pl_weak_cta *c); /* frees; NULL is allowed */

/* An asynchronous operation starts: it reads what the asynchronous proxy sees, which may be older
 * than what the thread wrote. */
void pl_weak_source(pl_warp *w, struct pl_async_op *o);
/* What the copy engine sees of a tensor map in global or constant memory: it may be older than what
 * the thread sees. */
void pl_weak_map(pl_warp *w, const uint8_t *map, uint8_t out[PL_TENSORMAP_BYTES]);
/* Bytes were written by something other than ld, st, atom and red. NULL: anywhere. */
void pl_weak_written(struct pl_weak *k, const uint8_t *to, size_t bytes);

#endif
