/* hooks.h - notifications from a running launch to a checker.
 *
 * A checker binds instructions to functions of its own, as emu/exec/consistency does, and so
 * observes all effects of a single instruction. The hooks report other events, such as the
 * completion of a barrier or the start of a block. They are called rarely, and a launch without a
 * checker only tests one pointer at these places. */
#ifndef PL_EMU_EXEC_HOOKS_H
#define PL_EMU_EXEC_HOOKS_H

#include "emu/exec/exec.h"

struct pl_async_op;
struct pl_wgmma_op;
struct pl_matrix_source;

typedef struct pl_hooks {
    /* A block starts: its shared memory has its initial contents. False: out of memory. */
    bool (*block_starts)(const struct pl_hooks *h, pl_cta *c);
    /* All threads of the block have ended. */
    void (*block_ends)(const struct pl_hooks *h, pl_cta *c);
    /* The block's storage is freed, including the checker's data in pl_cta.check. */
    void (*block_freed)(pl_cta *c);
    /* Lanes of the current split arrive at a barrier of the block. */
    void (*barrier_arrives)(const struct pl_hooks *h, pl_warp *w, const pl_arrival *a);
    /* The barrier has completed; the waiting threads have not been released yet. */
    void (*barrier_completes)(const struct pl_hooks *h, pl_cta *c, uint32_t id);
    /* A lane starts an asynchronous operation. */
    void (*async_starts)(const struct pl_hooks *h, pl_warp *w, const struct pl_async_op *o);
    /* A warp multiplies matrices by wgmma: 16 lines (rows) of `a` (NULL: registers) from line 16 *
     * (its position in the warpgroup) on, and all op->n lines (columns) of `b`, each with k
     * elements. */
    void (*multiplies)(const struct pl_hooks *h, pl_warp *w, const struct pl_wgmma_op *op,
                       const struct pl_matrix_source *a, const struct pl_matrix_source *b, int k);
    /* A lane's tex, tld4, suld, sust or sured is about to access bytes of an image. */
    void (*texel)(const struct pl_hooks *h, pl_warp *w, unsigned lane, uint64_t address,
                  unsigned bytes);
    /* A lane launches a grid. Returns the ticket of that grid (pl_grid.ticket); 0: none. */
    uint32_t (*launches)(const struct pl_hooks *h, pl_warp *w, unsigned lane, uint64_t stream);
    /* A lane's printf is about to read an argument. */
    void (*prints)(const struct pl_hooks *h, pl_warp *w, unsigned lane, uint64_t address,
                   unsigned bytes);
    /* A lane gets a block of the device heap. */
    void (*allocates)(const struct pl_hooks *h, uint64_t address, uint64_t bytes);
    /* The guard of an instruction is false for all lanes of the split. */
    void (*skips)(const struct pl_hooks *h, pl_warp *w, const pl_insn *i);
    /* Lanes at `joins`, where they would have reconverged with others of their warp, continue
     * without `waiting`, which wait at the aligned barrier `barrier`. */
    void (*continues_without)(const struct pl_hooks *h, pl_warp *w, uint32_t joins,
                              uint32_t barrier, pl_lanes waiting);
    /* Lanes execute a _sync instruction whose mask excludes them. True: the checker has recorded
     * it, and it is not reported otherwise. */
    bool (*excluded_by_mask)(const struct pl_hooks *h, pl_warp *w, uint32_t lanes, uint32_t mask);
    /* A fault has occurred. True: the checker has recorded it, and the launch continues. */
    bool (*faults)(const struct pl_hooks *h, pl_warp *w, const pl_fault_info *f);
} pl_hooks;

#endif
