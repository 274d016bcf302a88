/* warp.h - a warp: its lanes, splits, calls and registers, and the two functions that advance it.
 *
 * Divergence follows sm_70 independent thread scheduling: a warp is a set of splits (pc, lanes),
 * one of which is current. Lanes that diverge at a branch reconverge at its reconvergence point. A
 * split that waits there is released after a while so that spinning lanes cannot starve it.
 *
 * A warp has PL_LANES lanes or twice as many. A warp of twice as many consists of two halves that
 * share one program counter, and an instruction executes first for one half, then for the other
 * (wave64.c). pl_lanes holds a set of lanes of the whole warp; lane loops and the masks of the
 * program are per half. */
#ifndef PL_EMU_EXEC_WARP_H
#define PL_EMU_EXEC_WARP_H

#include "base/event.h"
#include "base/status.h"
#include "emu/exec/memory/global_memory.h"
#include "isa/program/program.h"

/* A warp makes no progress once its spin_pauses reach PL_IDLE_HANG. */
enum { PL_IDLE_STEP = 16, PL_IDLE_HANG = 64 * PL_IDLE_STEP };

enum { PL_MAX_SPLITS = PL_LANES * PL_MAX_HALVES, PL_MAX_FRAMES = 64, PL_NAMED_BARRIERS = 16 };
enum { PL_FEW_SPLITS = 3, PL_FEW_FRAMES = 4 }; /* enough for most warps */

/* A set of lanes of a warp, one bit per lane; half h occupies the bits from h * PL_LANES on. */
typedef uint64_t pl_lanes;

/* Returns the number of lanes in the set. A full warp, the common case, needs no count. */
static inline uint32_t pl_count_lanes(pl_lanes set)
{
    if (set == UINT32_MAX) return PL_LANES;
    /* parallel sums of 1, 2 and 4 bits, since processors without POPCNT have no such instruction */
    set -= set >> 1 & 0x5555555555555555u;
    set = (set & 0x3333333333333333u) + (set >> 2 & 0x3333333333333333u);
    set = (set + (set >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (uint32_t)(set * 0x0101010101010101u >> 56);
}

/* Time-consuming work of the driver's functions. */
typedef enum pl_driver_work {
    PL_DRIVER_NONE,
    PL_DRIVER_PRINT,
    PL_DRIVER_ALLOC,
    PL_DRIVER_FREE
} pl_driver_work;

/* Functional mode: whether the warp makes way for the others of its block at a store. */
typedef enum pl_store_hold {
    PL_HOLD_NONE,
    PL_HOLD_NEXT_STORE, /* it will stop before its next store */
    PL_HOLD_AT_STORE    /* it has stopped there; it executes only that instruction next */
} pl_store_hold;

typedef enum pl_warp_state {
    PL_WARP_READY,
    PL_WARP_BARRIER, /* every split waits at a block or cluster barrier, or for other lanes */
    PL_WARP_SLEEP,   /* nanosleep, or yielded in a spin loop */
    PL_WARP_DONE,
    PL_WARP_FAULT
} pl_warp_state;

/* The memory effect of an instruction. Filled only for instructions with PL_IF_MEM, and only on
 * request. */
typedef struct pl_memory_effect {
    uint32_t mask;   /* lanes of the half that accessed memory; 0: none did */
    uint8_t space;   /* resolved pl_space number (generic addresses are resolved) */
    uint8_t kind;    /* pl_access_kind */
    uint16_t size;   /* bytes per lane */
    bool bypass_l1;  /* .cg, volatile, relaxed/acquire with a scope wider than the block, atomics */
    uint64_t policy; /* cache policy of the instruction (cache_policy.h), 0: none; set by the timing
                        model */
    uint64_t object; /* textures and surfaces: the handle */
    bool sampled, filtered, gathered; /* textures: non-integer coordinates are allowed; linear
                                         filtering within a plane; gather of one component of four
                                         texels */
    bool mip_filtered;                /* textures: linear filtering between two planes */
    uint8_t slots; /* cp.async: 32-byte slots in shared memory, counted once per source line */
    uint8_t moved_sectors;   /* cp.async: sectors, counted once per destination slot */
    uint64_t addr[PL_LANES]; /* in the resolved space */
} pl_memory_effect;

/* A group of lanes that execute together. */
typedef struct pl_simt_split {
    pl_lanes mask;
    uint32_t pc;
    uint16_t frame;  /* convergence frame at which it reconverges, 0: none */
    uint16_t call;   /* call node, 0: the kernel itself */
    uint8_t wait;    /* PL_SPLIT_* */
    uint8_t barrier; /* number of the barrier at which it waits */
    bool yielded;    /* has yielded to other splits since it was last selected */
    bool synced; /* the lanes of a _sync instruction or an aligned barrier are gathered, so it may
                    execute */
    bool cluster_arrived; /* has arrived at the cluster barrier and may wait for phase
                             `cluster_phase` */
    uint64_t cluster_phase;
    uint32_t executed; /* instructions since it was last selected */
    uint32_t poll_pc;  /* pc after the last instruction that polled memory which other threads may
                          change, 0: none */
    uint64_t poll_address;      /* polled address of the first lane */
    uint32_t age;               /* --simt stack: the youngest split runs first */
    uint64_t wake;              /* clock at which a sleeping split wakes up */
    pl_lanes sync_mask;         /* PL_SPLIT_WARP_SYNC: lanes of its mask that have not exited */
    uint32_t barriers;          /* BSSY instructions whose BSYNC has not executed yet */
    uint64_t restored_barriers; /* one bit for each of the 64 latest BSSY numbers: a call has saved
                                   and restored its barrier */
} pl_simt_split;

enum {
    PL_SPLIT_READY,
    PL_SPLIT_CONVERGE,  /* at a reconvergence point */
    PL_SPLIT_BARRIER,   /* at a block barrier */
    PL_SPLIT_CLUSTER,   /* at a cluster barrier */
    PL_SPLIT_WARP_SYNC, /* at bar.warp.sync or another _sync instruction, waiting for lanes of its
                           mask */
    PL_SPLIT_ALIGNED,  /* at an aligned barrier instruction, waiting for all other lanes of the warp
                          to reach it */
    PL_SPLIT_SLEEP,    /* nanosleep */
    PL_SPLIT_GRID,     /* until the preceding grid has ended */
    PL_SPLIT_REGISTERS /* setmaxnreg.inc, until the block has enough free registers */
};

/* A reconvergence point of divergent lanes, created at a divergent branch. */
typedef struct pl_reconv_frame {
    pl_lanes members; /* lanes that are still expected, including those that have arrived */
    pl_lanes arrived;
    uint32_t pc;     /* reconvergence point */
    uint16_t parent; /* frame of the split that diverged */
    uint16_t call;
    bool used;
} pl_reconv_frame;

/* Storage for the maximum number of splits and frames of a warp. */
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
    uint32_t uncounted; /* bytes below local_top that take no stack on hardware: parameters, which
                       hardware holds in registers */
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
    uint32_t *pred;     /* current frame's predicate masks */
    uint32_t exec;      /* the same as a bit mask: active and guard */
    uint32_t mask_bits; /* what mask[] currently holds */
    uint8_t half;       /* current half: regs, pred, mask, exec and carry belong to it */
    uint8_t halves;     /* halves of the warp: 1 or 2 */
    pl_lanes all;       /* lanes executing now, of all halves */
    pl_lanes active;    /* lanes of the current split */
    uint32_t pc;        /* of the current split; branch functions set `next` */
    uint32_t next;
    pl_memory_effect *fx; /* NULL: not requested */
    const pl_insn *code;
    const pl_program *program;
    struct pl_cta *cta; /* not owned */
    struct pl_grid *grid;
    uint64_t clock; /* %clock of this warp: cycles (timing) or instructions */
    /* cold */
    uint32_t *register_file; /* register files: all frames of one half, then those of the other */
    uint32_t *predicate_file;
    uint32_t file_rows, pred_rows; /* per half */
    uint8_t *local;                /* lanes x local_bytes */
    uint32_t local_bytes;          /* per lane */
    pl_lanes lanes;                /* lanes that exist (partial last warp) */
    pl_lanes exited;
    uint32_t registers, wanted_registers; /* per thread, from the first setmaxnreg on; 0 before */
    uint32_t index;                       /* index in the block */
    uint8_t state;                        /* pl_warp_state */
    uint8_t current;                      /* index of the current split */
    uint8_t nsplits;
    bool stop;             /* the run loop must select a split again */
    pl_simt_split *split;  /* few_splits, or the array in `split_storage` once few_splits is full */
    pl_reconv_frame *conv; /* likewise: few_convs or the array in `split_storage` */
    pl_simt_split few_splits[PL_FEW_SPLITS];
    pl_reconv_frame few_convs[PL_FEW_FRAMES];
    struct pl_split_storage *split_storage; /* not touched until it is needed */
    pl_call_frame *call;                    /* call[0] is the kernel */
    uint32_t ncalls;
    /* PL_GROWN_*: the arrays that are no longer part of the block's storage and are freed
     * separately. */
    uint8_t grown;
    uint32_t carry;                      /* condition-code carry flag, one bit per lane */
    uint32_t other_carry[PL_MAX_HALVES]; /* carry flags of the halves that are not current */
    /* Warp instructions and thread instructions, counted as issued by the program. */
    uint64_t executed, lane_executed;
    uint32_t polls; /* volatile loads, atomics and failed waits since the warp was last selected:
                       detects a spin loop */
    uint32_t spins; /* polling pauses since lanes last reconverged or a wait ended */
    uint32_t clock_reads; /* functional mode: clock reads in close succession ... */
    uint64_t clock_read;  /* ... and the clock of the last one */
    bool yield;           /* the current split requested a yield */
    bool switch_pending;  /* the current split makes way for another ready split */
    bool paused;          /* the last step ended in a polling pause: other warps should run */
    bool wrote;           /* has written to memory since the last pause */
    uint8_t store_hold;   /* pl_store_hold */
    uint8_t group_hold;   /* functional mode: rounds for which it still waits at wgmma.wait_group */
    uint32_t group_waits; /* wgmma.wait_group executed */
    bool async_started;   /* has started an asynchronous operation and has not waited for it yet */
    struct {
        uint8_t work, lanes; /* pl_driver_work, 0: nothing */
        uint64_t bytes;      /* largest request in bytes of any of its lanes */
    } driver_request; /* requests to the driver by the last call of one of its functions; cleared by
                the timing model */
    uint8_t match_values; /* distinct values in the last match.any, each of which takes one
                       comparison; cleared by the timing model */
    bool uses_clock;      /* has read a clock since the last pause: the loop may end when time has
                        passed */
    bool used_clock;      /* the same for the interval before the last pause */
    uint32_t exit_pc;     /* pc of the instruction at which lanes last exited */
    uint8_t npoll_addresses;
    uint64_t poll_addresses[4]; /* latest polled addresses: a warp that polls further ones makes
                                   progress */
    uint64_t advances;          /* grid->advances at the last pause */
    uint64_t cta_advances;      /* and *cta->advances */
    uint32_t idle_pauses;       /* pauses since one of the two changed */
    uint64_t pause_at;          /* instructions executed up to the last pause */
    uint32_t spin_pauses; /* pauses since grid->advances changed, PL_IDLE_STEP per pause; 1 per
                             pause if a clock is read in between */
    const pl_alloc *last_alloc;          /* allocation of the last global access */
    const pl_alloc *previous_alloc;      /* the previous, different allocation, or NULL */
    uint16_t conv_used;                  /* highest conv index in use + 1 */
    uint32_t splits_created;             /* number of splits created so far */
    pl_lanes reached[PL_NAMED_BARRIERS]; /* lanes that have reached a barrier at which the warp has
                                         not arrived yet */
    uint16_t arrived; /* one bit per barrier: the warp has arrived, and the barrier has not
                         completed since */
    /* Per lane: last error of device-side launch calls, or NULL; owned. */
    uint32_t *device_error;
    /* Outstanding cp.async groups etc., owned by emu/exec/async/pending.c. */
    struct pl_async *async;
} pl_warp;

/* A fault of the emulated program. */
typedef struct pl_fault_info {
    const char *kernel; /* kernel of the faulting thread; NULL: none */
    const char *error;  /* CUDA's name: "CUDA_ERROR_ILLEGAL_ADDRESS" */
    char text[2048];
    uint32_t pc, block[3], thread[3];
    uint64_t address;
    bool set;
} pl_fault_info;

/* --- halves of a warp --- */
/* Index of the half's lane 0 in the warp, and in the block. */
static inline uint32_t pl_first_lane(const pl_warp *w)
{
    return (uint32_t)w->half * PL_LANES;
}
static inline uint32_t pl_first_thread(const pl_warp *w)
{
    return (w->index * w->halves + w->half) * PL_LANES;
}
/* The bits of a set that belong to the half, and the set that corresponds to the half's lanes. */
static inline uint32_t pl_of_half(const pl_warp *w, pl_lanes set)
{
    return (uint32_t)(set >> pl_first_lane(w));
}
static inline pl_lanes pl_from_half(const pl_warp *w, uint32_t lanes)
{
    return (pl_lanes)lanes << pl_first_lane(w);
}

/* Returns those of `lanes` whose value in the row equals `value`. */
static inline uint32_t pl_lanes_with(const uint32_t *row, uint32_t value, uint32_t lanes)
{
    uint32_t with = 0;
    for (unsigned l = 0; l < PL_LANES; l++) with |= (uint32_t)(row[l] == value) << l;
    return with & lanes;
}
/* Lanes of the half that have not exited. */
static inline uint32_t pl_alive(const pl_warp *w)
{
    return pl_of_half(w, w->lanes & ~w->exited);
}
/* Lanes of the current split for which instruction i would execute: its guard is true. */
static inline pl_lanes pl_guarded(const pl_warp *w, const pl_insn *i)
{
    if (i->guard == PL_PT) return w->active;
    pl_lanes p = w->pred[i->guard];
    if (w->halves > 1) p |= (pl_lanes)w->pred[w->pred_rows + i->guard] << PL_LANES;
    return w->active & (i->flags & PL_IF_GUARD_NEG ? ~p : p);
}

/* --- warp.c, simt_splits.c --- */
/* Runs until the warp must wait, ends or faults, or has executed `limit` instructions. Returns its
 * state. */
pl_warp_state pl_warp_run(pl_warp *w, uint64_t limit);
/* True if the warp stops before the instruction at pc, for pl_store_hold. */
bool pl_warp_stops_at_store(pl_warp *w, const pl_insn *i);
/* True if the warp stops before the instruction at pc, a wgmma.wait_group, until the other warps of
 * its group have come there, too. */
bool pl_warp_stops_at_group_wait(pl_warp *w);
/* Returns the instruction that pl_warp_step would execute next, for the lanes in w->active; NULL if
 * the warp cannot continue now. */
const pl_insn *pl_warp_peek(pl_warp *w);
/* Executes exactly one instruction. fx: one effect per half, or NULL; its mask is 0 if the half did
 * not access memory. */
pl_warp_state pl_warp_step(pl_warp *w, pl_memory_effect *fx);
/* Sets the executing lanes of the half, for an instruction that executes at another time than its
 * own. */
void pl_warp_set_exec_mask(pl_warp *w, uint32_t exec);
/* Makes half h current. Between instructions half 0 is current. */
void pl_warp_set_half(pl_warp *w, unsigned h);
/* Lanes of the current split diverge: `taken` continue at `target`, the rest at `fallthrough`; they
 * reconverge at `reconv`. */
void pl_warp_diverge(pl_warp *w, pl_lanes taken, uint32_t target, uint32_t fallthrough,
                     uint32_t reconv);

/* The same at a branch: the smaller group runs first; on a tie, the lanes that fall through (1 to
 * 31 lanes on either side, H200, 2026-11). */
void pl_warp_branch(pl_warp *w, pl_lanes taken, uint32_t target, uint32_t reconv);
/* The warp polls memory that other threads may change, at the first lane's address. */
void pl_warp_note_poll(pl_warp *w, uint64_t address);
/* Switches to another ready split, selected by a number. */
void pl_warp_switch_split(pl_warp *w, uint64_t number);
/* The given lanes of the current split exit. */
void pl_warp_exit(pl_warp *w, pl_lanes lanes);
/* The current split waits; kind is PL_SPLIT_*, and it continues at w->next. */
void pl_warp_wait(pl_warp *w, uint8_t kind);

/* --- register_pool.c --- */
/* setmaxnreg: the warp takes (more) or returns registers, to have n per thread. It waits if the
 * block has too few free ones. */
void pl_warp_set_registers(pl_warp *w, uint32_t n, bool more);

/* --- warp.c, simt_splits.c --- */

/* Lanes that wait at this barrier of the block at the same instruction reconverge (machine code for
 * sm_90 has WARPSYNC before it). */
void pl_warp_reconverge(pl_warp *w, uint8_t barrier);

/* The current split yields (YIELD): no reconvergence point waits for it or for other splits that
 * have yielded. */
void pl_warp_yield(pl_warp *w);
/* A _sync instruction whose mask excludes lanes that execute it; the manual leaves their result
 * undefined. Masks of _sync instructions refer to lanes of the half. */
void pl_warp_note_undefined(pl_warp *w, uint32_t mask);
/* A _sync instruction. Returns true if all lanes of the mask are present and it may execute now;
 * otherwise the split waits or diverges. */
bool pl_warp_sync(pl_warp *w, uint32_t mask);
/* A _sync instruction whose mask is operand k. Returns true if the lanes have different masks; each
 * group has executed it separately or will. */
bool pl_warp_split_by_mask(pl_warp *w, const pl_insn *i, unsigned k);
/* Enters a function with the executing lanes (all of the current split), or returns from it. */
void pl_warp_call(pl_warp *w, const pl_insn *i, uint32_t callee, const pl_prog_call *c);
void pl_warp_return(pl_warp *w, pl_lanes lanes);
/* Register and predicate rows of a split's frame, for the current half. */
uint32_t *pl_warp_frame(const pl_warp *w, const pl_simt_split *s);
uint32_t *pl_warp_preds(const pl_warp *w, const pl_simt_split *s);
/* The call node of the current split: frame size, start and end of its local frame. */
pl_call_frame *pl_warp_current_call(pl_warp *w);
/* The end of the local memory that the lanes of the current split use: frames, spills, alloca. */
static inline uint32_t pl_local_top(const pl_warp *w)
{
    return w->call[w->split[w->current].call].local_top;
}
/* Ensures that each lane has `bytes` of local memory, of which `uncounted` do not count towards the
 * limit. False: the limit was exceeded and the launch has failed. */
bool pl_warp_reserve_local(pl_warp *w, uint32_t bytes, uint32_t uncounted);
/* Value of a special register that all lanes of a warp share. False: the register is not
 * uniform. */
bool pl_warp_sreg_uniform(const pl_warp *w, pl_word sreg, unsigned component, uint64_t *value);
/* Value of a special register for every lane of the half (64-bit values; 32-bit registers use the
 * low half). */
void pl_warp_sreg(const pl_warp *w, pl_word sreg, unsigned component, uint64_t out[PL_LANES]);

/* Re-examines a waiting warp (barrier released, copy complete, time elapsed). Returns true if it
 * can run again. */
bool pl_warp_poll(pl_warp *w, uint64_t clock);

/* --- wave64.c --- */
/* Executes instruction i for a warp of several halves. */
void pl_wave_execute(pl_warp *w, const pl_insn *i);
/* Index of the operand of a _sync instruction that holds the member mask; UINT32_MAX: none. */
uint32_t pl_member_mask_operand(const pl_insn *i);

/* --- fault.c --- */
/* Stops the launch. `lanes` are of the half. `error` is CUDA's name; block, thread, line and
 * address are added to the text. */
void pl_fault(pl_warp *w, uint32_t lanes, uint64_t address, const char *error, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* The same for a fault that does not stop the launch: only fills `f`, unless it is set already. */
void pl_fault_note(pl_warp *w, pl_fault_info *f, uint32_t lanes, const char *error, const char *fmt,
                   ...) __attribute__((format(printf, 5, 6)));

#endif
