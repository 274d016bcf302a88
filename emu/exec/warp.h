/* warp.h - a warp: its lanes, splits, calls and registers, and the two ways to advance it.
 *
 * Divergence follows sm_70 independent thread scheduling: a warp is a set of splits (pc, lanes),
 * one of which is current. Lanes that diverge at a branch reconverge at its reconvergence point; a
 * split that waits there is released after a while so that spinning lanes cannot starve it.
 *
 * A warp has PL_LANES lanes, or twice as many: then it consists of two halves that share one
 * program counter, and an instruction executes for one half after the other (wave64.c). Sets of
 * lanes of a warp are pl_lanes; lane loops and masks of the program are those of a half. */
#ifndef PL_EMU_EXEC_WARP_H
#define PL_EMU_EXEC_WARP_H

#include "base/event.h"
#include "base/status.h"
#include "emu/exec/memory/global_memory.h"
#include "isa/program/program.h"

enum {
    PL_IDLE_STEP = 16,
    PL_IDLE_HANG = 64 * PL_IDLE_STEP
}; /* a warp spins for nothing when its `idle` is so large */

enum { PL_MAX_SPLITS = PL_LANES * PL_MAX_HALVES, PL_MAX_FRAMES = 64, PL_NAMED_BARRIERS = 16 };
enum { PL_FEW_SPLITS = 3, PL_FEW_FRAMES = 4 }; /* enough for most warps */

/* Lanes of a warp, a bit each; half h has bits h * PL_LANES and up. */
typedef uint64_t pl_lanes;

/* How many there are: mostly all of a warp, a case that needs no count. */
static inline uint32_t pl_count_lanes(pl_lanes set)
{
    if (set == UINT32_MAX) return PL_LANES;
    /* sums of 1, 2, 4 bits side by side: processors without POPCNT have no instruction for it */
    set -= set >> 1 & 0x5555555555555555u;
    set = (set & 0x3333333333333333u) + (set >> 2 & 0x3333333333333333u);
    set = (set + (set >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (uint32_t)(set * 0x0101010101010101u >> 56);
}

/* Work of the driver's functions that takes time. */
typedef enum pl_driver_work {
    PL_DRIVER_NONE,
    PL_DRIVER_PRINT,
    PL_DRIVER_ALLOC,
    PL_DRIVER_FREE
} pl_driver_work;

typedef enum pl_warp_state {
    PL_WARP_READY,
    PL_WARP_BARRIER, /* every split waits at a block or cluster barrier, or for other lanes */
    PL_WARP_ASYNC,   /* waits for an asynchronous copy, an mbarrier phase or a wgmma group */
    PL_WARP_SLEEP,   /* nanosleep, or yielded in a spin loop */
    PL_WARP_DONE,
    PL_WARP_FAULT
} pl_warp_state;

/* What an instruction did to memory: filled only for instructions with PL_IF_MEM and only when
 * asked for. */
typedef struct pl_memory_effect {
    uint32_t mask;   /* lanes of the half that accessed memory; 0: none did */
    uint8_t space;   /* resolved pl_space number (generic addresses are resolved) */
    uint8_t kind;    /* pl_access_kind */
    uint16_t size;   /* bytes per lane */
    bool bypass_l1;  /* .cg, volatile, relaxed/acquire beyond the block, atomics */
    uint64_t policy; /* cache policy of the instruction (cache_policy.h), 0: none; set by the timing
                        model */
    uint64_t object; /* of textures and surfaces: the handle */
    bool sampled, filtered, gathered; /* of textures: by coordinates that need not be whole; the
                                         mean of neighbours; one component of four texels */
    bool between;                     /* the same: the mean of neighbours in two planes */
    uint8_t slots; /* of cp.async: slots of 32 bytes in shared memory, counted for each line that
                      they come from */
    uint8_t moves; /* of cp.async: sectors, counted for each slot that they go to */
    uint64_t addr[PL_LANES]; /* in the resolved space */
} pl_memory_effect;

/* A lane group that runs together. */
typedef struct pl_simt_split {
    pl_lanes mask;
    uint32_t pc;
    uint16_t frame;  /* convergence frame it will rejoin, 0: none */
    uint16_t call;   /* call node, 0: the kernel itself */
    uint8_t wait;    /* PL_SPLIT_* */
    uint8_t barrier; /* which barrier, when it waits at one */
    bool yielded;    /* has let others go first since it was last chosen */
    bool synced; /* the lanes of a _sync instruction or an aligned barrier have met: it may execute
                  */
    bool cluster_arrived; /* has arrived at the cluster barrier and may wait for phase
                             `cluster_phase` */
    uint64_t cluster_phase;
    uint32_t executed; /* instructions since it was last chosen */
    uint32_t poll_pc;  /* after the instruction that last polled memory that others may change, 0:
                          none has */
    uint64_t poll_address;      /* its address, of the first lane */
    uint32_t age;               /* --simt stack: the youngest goes first */
    uint64_t wake;              /* clock when a sleeping split goes on */
    uint32_t barriers;          /* BSSY without their BSYNC so far */
    uint64_t restored_barriers; /* by the number of the BSSY, of the latest 64: a call has saved and
                          given back its barrier */
} pl_simt_split;

enum {
    PL_SPLIT_READY,
    PL_SPLIT_CONVERGE,  /* at a reconvergence point */
    PL_SPLIT_BARRIER,   /* at a block barrier */
    PL_SPLIT_CLUSTER,   /* at a cluster barrier */
    PL_SPLIT_WARP_SYNC, /* at bar.warp.sync or another _sync instruction, waiting for lanes of its
                           mask */
    PL_SPLIT_ALIGNED, /* at an aligned barrier instruction, waiting for all other lanes of the warp
                         to come to it */
    PL_SPLIT_SLEEP,   /* nanosleep */
    PL_SPLIT_GRID     /* until the grid before this one has ended */
};

/* A reconvergence point of divergent lanes: created at a divergent branch. */
typedef struct pl_reconv_frame {
    pl_lanes members; /* lanes still expected, arrived ones included */
    pl_lanes arrived;
    uint32_t pc;     /* reconvergence point */
    uint16_t parent; /* frame of the split that diverged */
    uint16_t call;
    bool used;
} pl_reconv_frame;

/* Room for all splits and frames that a warp can have. */
typedef struct pl_split_storage {
    pl_simt_split split[PL_MAX_SPLITS];
    pl_reconv_frame conv[PL_MAX_FRAMES];
} pl_split_storage;

enum { PL_GROWN_FILE = 1, PL_GROWN_PREDS = 2, PL_GROWN_CALL = 4, PL_GROWN_LOCAL = 8 };

/* An active call of some lanes. */
typedef struct pl_call_frame {
    uint32_t ret_pc, site; /* call instruction */
    uint32_t func;
    uint32_t row, pred; /* start of the callee's register frame */
    uint32_t local;     /* start of the callee's local frame, bytes */
    uint32_t local_top; /* first free byte after it (alloca moves it) */
    uint32_t aside;     /* bytes below it that take no stack on hardware: parameters, which are in
                           registers there */
    uint16_t parent;
    bool used;
} pl_call_frame;

struct pl_cta;
struct pl_grid;

typedef struct pl_warp {
    /* hot: read by every lane loop */
    _Alignas(64) uint32_t mask[PL_LANES]; /* lanes of this half executing now, widened to 0 / ~0 */
    /* Current frame: row r of PL_LANES words at regs + r * PL_LANES, 64-byte aligned. */
    uint32_t *regs;
    uint32_t *pred;  /* current frame's predicate masks */
    uint32_t exec;   /* the same as bits: active and guard */
    uint32_t wide;   /* what mask[] currently holds */
    uint8_t half;    /* whose turn it is: regs, pred, mask, exec and carry are its own */
    uint8_t halves;  /* of the warp: 1, or 2 */
    pl_lanes all;    /* lanes executing now, of all halves */
    pl_lanes active; /* lanes of the current split */
    uint32_t pc;     /* of the current split; branch functions set next */
    uint32_t next;
    pl_memory_effect *fx; /* NULL: not requested */
    const pl_insn *code;
    const pl_program *program;
    struct pl_cta *cta; /* not owned */
    struct pl_grid *grid;
    uint64_t clock; /* %clock as this warp sees it: cycles (timing) or instructions */
    /* cold */
    uint32_t *file; /* register files: all frames of a half, then those of the next */
    uint32_t *predfile;
    uint32_t file_rows, pred_rows; /* of a half */
    uint8_t *local;                /* lanes x local_bytes */
    uint32_t local_bytes;          /* a lane */
    pl_lanes lanes;                /* lanes that exist (partial last warp) */
    pl_lanes exited;
    uint32_t index;  /* in the block */
    uint8_t state;   /* pl_warp_state */
    uint8_t current; /* index of the current split */
    uint8_t nsplits;
    bool stop;             /* the run loop must look at the splits again */
    pl_simt_split *split;  /* few_splits, or those of `parted` once they were too few */
    pl_reconv_frame *conv; /* the same */
    pl_simt_split few_splits[PL_FEW_SPLITS];
    pl_reconv_frame few_convs[PL_FEW_FRAMES];
    struct pl_split_storage *parted; /* untouched memory until it is needed */
    pl_call_frame *call;             /* call[0] is the kernel */
    uint32_t ncalls;
    /* PL_GROWN_*: what is no longer part of the block's storage, but freed by itself. */
    uint8_t grown;
    uint32_t carry;                   /* condition-code carry flag, one bit a lane */
    uint32_t carry_of[PL_MAX_HALVES]; /* carry of the halves whose turn it is not */
    /* Instructions, thread instructions (as issued by the program). */
    uint64_t executed, lane_executed;
    uint32_t polls; /* volatile loads, atomics and failed waits since the warp was last chosen: how
                       a spin loop shows */
    uint32_t spins; /* pauses for polling since lanes last met, or a wait ended */
    uint32_t clock_reads; /* functional mode: reads of the clock with little between them ... */
    uint64_t clock_read;  /* ... and when the last one was */
    bool yield;           /* the current split asked to let others run */
    bool make_way;        /* the current split makes way for one that is ready */
    bool paused; /* the last step ended in a pause for polling: other warps should get their turn */
    bool wrote;  /* has written to memory since the last pause */
    bool begun;  /* has begun an asynchronous operation, for which it has not waited yet */
    struct {
        uint8_t what, lanes; /* pl_driver_work, 0: nothing */
        uint64_t bytes;      /* that its lanes want at most, each */
    } asked; /* requests to the driver, by the last call of one of its functions; the timing model
                takes them away */
    uint8_t values;    /* values that the lanes brought to the last comparison of all with all, each
                          one compared by itself; the timing model takes it away */
    bool timed;        /* has read a clock since the last pause: the loop may end with the time */
    bool was_timed;    /* had done so at the last pause */
    uint32_t ended_at; /* instruction that ended the last of its lanes that have */
    uint8_t npoll_addresses;
    uint64_t poll_addresses[4]; /* addresses polled last: those who poll others are getting on */
    uint64_t advances;          /* grid->advances at the last pause */
    uint64_t cta_advances;      /* and *cta->advances */
    uint32_t vain_pauses;       /* pauses since one of them changed */
    uint64_t pause_at;          /* instructions executed until then */
    uint32_t spin_pauses; /* pauses since grid->advances changed, PL_IDLE_STEP each; 1 each when a
                      clock is read in between */
    const pl_alloc *hit;  /* allocation of the last global access */
    const pl_alloc *hit_before;       /* that of the last one elsewhere, or NULL */
    uint16_t conv_used;               /* highest conv index in use + 1 */
    uint32_t splits_made;             /* splits ever made */
    pl_lanes came[PL_NAMED_BARRIERS]; /* lanes that have come to a barrier at which the warp has not
                                         arrived */
    uint16_t arrived; /* by barrier, a bit each: it has arrived there, and the barrier has not been
                         complete since */
    /* By lane: last error of calls that launch from the device, or NULL; owned. */
    uint32_t *device_error;
    /* Outstanding cp.async groups etc., owned by emu/exec/async/pending.c. */
    struct pl_async *async;
} pl_warp;

/* A fault of the emulated program. */
typedef struct pl_fault_info {
    const char *kernel; /* whose thread it was; NULL: none */
    const char *error;  /* CUDA's name: "CUDA_ERROR_ILLEGAL_ADDRESS" */
    char text[2048];
    uint32_t pc, block[3], thread[3];
    uint64_t address;
    bool set;
} pl_fault_info;

/* --- halves of a warp --- */
/* Number of lane 0 of the half in the warp, and in the block. */
static inline uint32_t pl_first_lane(const pl_warp *w)
{
    return (uint32_t)w->half * PL_LANES;
}
static inline uint32_t pl_first_thread(const pl_warp *w)
{
    return (w->index * w->halves + w->half) * PL_LANES;
}
/* The half's part of a set of lanes, and the set that a half's lanes are. */
static inline uint32_t pl_of_half(const pl_warp *w, pl_lanes set)
{
    return (uint32_t)(set >> pl_first_lane(w));
}
static inline pl_lanes pl_from_half(const pl_warp *w, uint32_t lanes)
{
    return (pl_lanes)lanes << pl_first_lane(w);
}

/* Those of the lanes whose value in the row is this one. */
static inline uint32_t pl_lanes_with(const uint32_t *row, uint32_t value, uint32_t lanes)
{
    uint32_t with = 0;
    for (unsigned l = 0; l < PL_LANES; l++) with |= (uint32_t)(row[l] == value) << l;
    return with & lanes;
}
/* Lanes of the half that have not ended. */
static inline uint32_t pl_alive(const pl_warp *w)
{
    return pl_of_half(w, w->lanes & ~w->exited);
}
/* Lanes of the current split that instruction i would execute for: its guard leaves them. */
static inline pl_lanes pl_guarded(const pl_warp *w, const pl_insn *i)
{
    if (i->guard == PL_PT) return w->active;
    pl_lanes p = w->pred[i->guard];
    if (w->halves > 1) p |= (pl_lanes)w->pred[w->pred_rows + i->guard] << PL_LANES;
    return w->active & (i->flags & PL_IF_GUARD_NEG ? ~p : p);
}

/* --- warp.c, simt_splits.c --- */
/* Runs until the warp must wait, ends, faults or `limit` instructions are done. Returns its state.
 */
pl_warp_state pl_warp_run(pl_warp *w, uint64_t limit);
/* The instruction that pl_warp_step would execute next and the lanes it would run for, or NULL when
 * the warp cannot go on now. */
const pl_insn *pl_warp_peek(pl_warp *w);
/* Executes exactly one instruction. fx: one effect for each half, or NULL; its mask is 0 when the
 * half did not touch memory. */
pl_warp_state pl_warp_step(pl_warp *w, pl_memory_effect *fx);
/* The lanes of the half that execute, for an instruction that is executed at another time than its
 * own. */
void pl_warp_set_exec_mask(pl_warp *w, uint32_t exec);
/* It is the turn of half h. A warp whose instruction is done stands at half 0. */
void pl_warp_half(pl_warp *w, unsigned h);
/* Lanes of the current split diverge: `there` go to pc `to`, the rest continue at `from`; they
 * reconverge at `reconv`. */
void pl_warp_diverge(pl_warp *w, pl_lanes there, uint32_t to, uint32_t from, uint32_t reconv);

/* The same at a branch: fewer lanes go before more, otherwise those that fall through (1 to 31
 * lanes on either side, H200, 2026-11). */
void pl_warp_branch(pl_warp *w, pl_lanes there, uint32_t to, uint32_t reconv);
/* The warp looks at memory that others may change, at the first lane's address. */
void pl_warp_note_poll(pl_warp *w, uint64_t address);
/* Another split that is ready goes on next, chosen by a number. */
void pl_warp_shuffle(pl_warp *w, uint64_t number);
/* The given lanes of the current split end. */
void pl_warp_exit(pl_warp *w, pl_lanes lanes);
/* The current split waits: kind is PL_SPLIT_*, it goes on at w->next. */
void pl_warp_wait(pl_warp *w, uint8_t kind);

/* Lanes that wait at this barrier of the block at the same instruction reconverge (machine code for
 * sm_90 has WARPSYNC before it). */
void pl_warp_reconverge(pl_warp *w, uint8_t barrier);

/* The current split yields (YIELD): no reconvergence point waits for it, nor for others that have
 * yielded. */
void pl_warp_yield(pl_warp *w);
/* A _sync instruction whose mask leaves out lanes that execute it: the manual leaves open what they
 * get. Masks of _sync instructions name lanes of the half. */
void pl_warp_note_undefined(pl_warp *w, uint32_t mask);
/* A _sync instruction: true when all lanes of the mask are here and it may execute now; else the
 * split waits or parts. */
bool pl_warp_sync(pl_warp *w, uint32_t mask);
/* A _sync instruction whose mask is operand k: true when the lanes came with different masks, and
 * each group has executed it by itself or will. */
bool pl_warp_split_by_mask(pl_warp *w, const pl_insn *i, unsigned k);
/* Enters a function with the executing lanes (all of the current split) / leaves it. */
void pl_warp_call(pl_warp *w, const pl_insn *i, uint32_t callee, const pl_prog_call *c);
void pl_warp_return(pl_warp *w, pl_lanes lanes);
/* Register and predicate rows of a split's frame, of the half whose turn it is. */
uint32_t *pl_warp_frame(const pl_warp *w, const pl_simt_split *s);
uint32_t *pl_warp_preds(const pl_warp *w, const pl_simt_split *s);
/* Frame size, start of the local frame and its end for the current split. */
pl_call_frame *pl_warp_node(pl_warp *w);
/* The end of what the lanes of the current split have of local memory: frames, spills, alloca. */
static inline uint32_t pl_local_top(const pl_warp *w)
{
    return w->call[w->split[w->current].call].local_top;
}
/* Makes sure that a lane has that much local memory, of which `aside` does not count; false: the
 * limit was reached and the launch has failed. */
bool pl_warp_local(pl_warp *w, uint32_t bytes, uint32_t aside);
/* Value of a special register that all lanes of a warp share. False: it is not such a one. */
bool pl_warp_sreg_uniform(const pl_warp *w, pl_word sreg, unsigned component, uint64_t *value);
/* Value of a special register for every lane of the half (64-bit values; 32-bit registers use the
 * low half). */
void pl_warp_sreg(const pl_warp *w, pl_word sreg, unsigned component, uint64_t out[PL_LANES]);

/* Re-examines a waiting warp (barrier released, copy landed, time passed); true when it can run
 * again. */
bool pl_warp_poll(pl_warp *w, uint64_t clock);

/* --- wave64.c --- */
/* Executes instruction i for a warp of several halves. */
void pl_wave_execute(pl_warp *w, const pl_insn *i);
/* The operand of a _sync instruction that names lanes; UINT32_MAX: it has none. */
uint32_t pl_member_mask_operand(const pl_insn *i);

/* --- fault.c --- */
/* Stops the launch; lanes: of the half. error is CUDA's name; the text gets block, thread, line and
 * address added. */
void pl_fault(pl_warp *w, uint32_t lanes, uint64_t address, const char *error, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* The same for a fault that does not stop the launch: only fills `f`, unless that is set already.
 */
void pl_fault_note(pl_warp *w, pl_fault_info *f, uint32_t lanes, const char *error, const char *fmt,
                   ...) __attribute__((format(printf, 5, 6)));

#endif
