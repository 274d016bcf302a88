/* async.h - asynchronous operations of a warp that have been issued and may not have completed, and
 * mbarrier objects.
 *
 * An asynchronous copy, reduction or store is a pending effect (pl_async_op). Eager mode applies it
 * at once. Late mode delays it until an instruction waits for it, so that a program whose result
 * differs between the two modes lacks a wait. Timed mode applies it when the timing model reports
 * its completion; without such a model, a fixed time after its issue, or when it is waited for.
 *
 * Three families complete in different ways (PTX ISA 9.0, "Completion Mechanisms for Asynchronous
 * Copy Operations"): groups of cp.async, groups of bulk copies, and mbarrier objects that count
 * bytes. Operations of one warp stay in issue order. Read next: op_cp_async.c and op_bulk.c, the
 * instructions. */
#ifndef PL_EMU_EXEC_ASYNC_ASYNC_H
#define PL_EMU_EXEC_ASYNC_ASYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pl_warp;
struct pl_cta;
struct pl_tma_copy;

/* pl_grid.async_mode */
enum { PL_ASYNC_EAGER, PL_ASYNC_LATE, PL_ASYNC_TIMED };

typedef enum pl_async_kind {
    PL_ASYNC_COPY,   /* bytes from memory, or from value[] */
    PL_ASYNC_REDUCE, /* the same, combined with the destination's contents */
    PL_ASYNC_TENSOR, /* a tile of a tensor */
    PL_ASYNC_ARRIVE  /* no data: one arrival at `bar` once the preceding cp.async operations have
                        completed */
} pl_async_kind;

typedef enum pl_async_family { PL_ASYNC_GROUP, PL_ASYNC_BULK_GROUP, PL_ASYNC_MBAR } pl_async_family;

/* The values that a copy searches for ("Report mechanisms for asynchronous copy operations"): -0 in
 * a sample of each 16 bytes, here the first element, or the byte 0xff. */
typedef enum pl_inspect {
    PL_INSPECT_NONE,
    PL_INSPECT_F32,
    PL_INSPECT_F16,
    PL_INSPECT_F8,
    PL_INSPECT_F4,
    PL_INSPECT_BYTES
} pl_inspect;

struct pl_insn;
pl_inspect pl_inspect_of(const struct pl_insn *i);
/* True if n of the 16 bytes of a piece contain the searched value. */
bool pl_inspect_matches(pl_inspect how, const uint8_t *piece, unsigned n);

#define PL_ASYNC_UNKNOWN UINT64_MAX

typedef struct pl_async_op {
    uint8_t kind, family; /* pl_async_kind, pl_async_family */
    uint8_t log2;         /* reductions: bytes of an element */
    bool global;          /* reductions: in global memory, whose arithmetic differs */
    uint8_t polls;        /* timed mode: number of polls so far */
    uint8_t inspect;      /* pl_inspect */
    uint8_t *to;
    const uint8_t *from;        /* NULL: the bytes are in value */
    uint8_t *owned_source;      /* private copy of the source, or NULL; owned */
    struct pl_tma_copy *tensor; /* tiles: description of the copy; owned once the operation is
                                   pending */
    uint64_t value[2];
    uint8_t *bar; /* mbarrier object that receives complete_tx(bytes), or an arrival; NULL: none */
    uint32_t bytes, fill; /* fill: zero bytes after the copied ones */
    uint32_t mask;        /* bit k: byte k of every 16 is written */
    uint32_t group;       /* number of its group */
    int16_t op, type;     /* reductions: words of the instruction */
    /* Weak consistency: to be notified of the written bytes; set by pl_async_start. */
    struct pl_weak *weak;
    uint64_t due;   /* timed mode: clock of the warp at which it takes effect; PL_ASYNC_UNKNOWN: the
                       timing model will report it */
    uint64_t token; /* of the timing model; 0: none yet */
} pl_async_op;

struct pl_async {
    pl_async_op *at;
    size_t n, cap;
    uint32_t group[2]; /* number of the open group, by family */
};

void pl_async_free(struct pl_async *a);  /* NULL is allowed */
void pl_async_reset(struct pl_async *a); /* drops all pending operations; NULL is allowed */

/* Starts an operation of the warp: it takes effect now or stays pending, depending on the launch's
 * mode. Returns NULL, or a description of the fault in its mbarrier's count. */
const char *pl_async_start(struct pl_warp *w, pl_async_op op);
/* Closes the open group. */
void pl_async_commit(struct pl_warp *w, pl_async_family family);
/* Applies all operations of a family except those of the `keep` latest groups. reads_only: only
 * their sources are read. */
const char *pl_async_wait(struct pl_warp *w, pl_async_family family, uint32_t keep,
                          bool reads_only);
/* An mbarrier object is polled: operations for it that are pending in the warps of the block and
 * its cluster are applied. */
const char *pl_async_poll(struct pl_warp *w, const uint8_t *bar);
/* Timed mode: applies the operations that are due by the warp's clock. */
void pl_async_tick(struct pl_warp *w);
/* The timing model's side of timed mode. pl_async_set_token assigns a token to the operations of
 * the last instruction, or without a token (0) a time; false: it has started none. pl_async_done
 * sets the time of a token. pl_async_apply_due applies the operations that are due by `clock`, and
 * returns when the next one is due, as far as that is known. */
bool pl_async_set_token(struct pl_warp *w, uint64_t token, uint64_t due);
void pl_async_done(struct pl_warp *w, uint64_t token, uint64_t due);
uint64_t pl_async_apply_due(struct pl_warp *w, uint64_t clock);
/* The block ends: all pending operations are applied. */
void pl_async_finish(struct pl_cta *c);

/* ---- mbarrier objects (layout: mbarrier.c) ---- */

enum { PL_MBAR_COUNT_BITS = 20, PL_MBAR_TX_MAX = (1 << 20) - 1 };

typedef struct pl_mbar {
    uint32_t expected; /* arrivals that a phase needs */
    uint32_t pending;  /* arrivals still missing */
    int32_t tx;        /* bytes still missing; may be negative temporarily */
    bool phase;
    bool v1;          /* .layout::v1: copies may report at it */
    bool conditional; /* the conditional phase: it changes with `phase` unless a copy has
                         reported */
    bool report;      /* a copy has reported in the current phase */
    bool reported;    /* a copy has reported in the preceding phase */
} pl_mbar;

pl_mbar pl_mbar_unpack(uint64_t v);
uint64_t pl_mbar_pack(pl_mbar b);
pl_mbar pl_mbar_read(const uint8_t *p);
/* Writes back a changed object; a phase that has completed ends. */
void pl_mbar_write(uint8_t *p, pl_mbar b);
/* Adds to the transaction count. Returns NULL, or a description of the fault. */
const char *pl_mbar_transact(uint8_t *p, int64_t bytes);
/* `count` arrivals. Returns NULL, or a description of the fault. */
const char *pl_mbar_arrive(uint8_t *p, uint32_t count, bool drop);
/* A copy has found the searched value. */
void pl_mbar_report(uint8_t *p);

#endif
