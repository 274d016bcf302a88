/* hooks.h - what a running launch tells a checker.
 *
 * A checker binds instructions to functions of its own, as emu/exec/consistency does, and hears in
 * this way of everything that one instruction does. The hooks tell what happens elsewhere: when
 * a barrier is complete, when a block starts. They are called rarely, and a launch without
 * a checker tests one pointer there. */
#ifndef PL_EMU_EXEC_HOOKS_H
#define PL_EMU_EXEC_HOOKS_H

#include "emu/exec/exec.h"

struct pl_async_op;
struct pl_wgmma_op;
struct pl_matrix_source;

typedef struct pl_hooks {
    /* A block starts: its shared memory has its first contents. False: out of memory. */
    bool (*block_starts)(const struct pl_hooks *h, pl_cta *c);
    /* All its threads have ended. */
    void (*block_ends)(const struct pl_hooks *h, pl_cta *c);
    /* Its storage is freed, with what the checker keeps in pl_cta.check. */
    void (*block_freed)(pl_cta *c);
    /* Lanes of the current split arrive at a barrier of the block. */
    void (*barrier_arrives)(const struct pl_hooks *h, pl_warp *w, const pl_arrival *a);
    /* The barrier is complete; those who wait have not been let go yet. */
    void (*barrier_completes)(const struct pl_hooks *h, pl_cta *c, uint32_t id);
    /* A lane starts an asynchronous operation. */
    void (*async_starts)(const struct pl_hooks *h, pl_warp *w, const struct pl_async_op *o);
    /* A warp multiplies matrices by wgmma: lines 16 * (its place in the warpgroup) and 15 more of
     * `a` (NULL: registers), and all op->n lines of `b`, which has k elements each. */
    void (*multiplies)(const struct pl_hooks *h, pl_warp *w, const struct pl_wgmma_op *op,
                       const struct pl_matrix_source *a, const struct pl_matrix_source *b, int k);
    /* A lane's tex, tld4, suld, sust or sured is about to access bytes of an image. */
    void (*texel)(const struct pl_hooks *h, pl_warp *w, unsigned lane, uint64_t address,
                  unsigned bytes);
    /* The guard of an instruction is false for all lanes of the split. */
    void (*skips)(const struct pl_hooks *h, pl_warp *w, const pl_insn *i);
    /* Lanes that stand at `joins`, where they would have met others of their warp again, go on
     * without `waiting`, which stand at the aligned barrier `barrier`. */
    void (*goes_past)(const struct pl_hooks *h, pl_warp *w, uint32_t joins, uint32_t barrier,
                      pl_lanes waiting);
    /* Lanes execute a _sync instruction whose mask leaves them out. True: the checker has taken
     * note, and it is reported nowhere else. */
    bool (*leaves_out)(const struct pl_hooks *h, pl_warp *w, uint32_t lanes, uint32_t mask);
    /* Something is wrong. True: the checker has taken note, and the launch goes on. */
    bool (*faults)(const struct pl_hooks *h, pl_warp *w, const pl_fault_info *f);
} pl_hooks;

#endif
