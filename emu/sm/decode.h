/* decode.h - the program as the issue stage sees it: for each machine instruction its price, its
 * kind, and the rows it depends on.
 *
 * Worked out once for a launch, so that issuing looks nothing up. Which results it waits for is
 * worked out from the rows it reads and writes (control_codes.h). */
#ifndef PL_EMU_SM_DECODE_H
#define PL_EMU_SM_DECODE_H

#include "arch/machine.h"
#include "compiler/codegen/control_codes.h"
#include "emu/sm/division_slow_path.h"
#include "isa/program/program.h"

/* The units of an SM that instructions go to, besides the arithmetic pipes. */
typedef enum pl_unit_id {
    PL_UNIT_NONE,
    PL_UNIT_SPECIAL_FUNCTION, /* results of variable latency: MUFU, shuffles, special registers */
    PL_UNIT_TENSOR,           /* wgmma; mma is arithmetic of a fixed latency */
    PL_UNIT_LSU,
    PL_UNIT_TEXTURE,     /* fed by the LSU */
    PL_UNIT_COPY_ENGINE, /* fed by the LSU */
    PL_UNIT_CONSTANT,
    PL_UNIT_BRANCH,
    PL_UNIT_BARRIER,
    PL_UNIT_FENCE,
    PL_UNIT_SLEEP,
    PL_UNIT_COUNT
} pl_unit_id;

/* How Nsight Compute counts what has no unit of arithmetic. From its sums over the recorded suite,
 * which the machine code of the launches explains. vecadd: of the 20 instructions of a warp six are
 * at the ADU, five are reads of constants and the block's number, and none is a branch (H200,
 * driver 580.159.04, 2026-11). */
typedef struct pl_metric_class {
    /* Branch targets: branches, calls and returns, but not the end of the kernel. */
    uint8_t targets;
    uint8_t cbu; /* convergence barrier unit: EXIT, BSSY, BSYNC, BMOV, calls, returns, indirect
                    branches; no direct branch */
    uint8_t ldc; /* reads of the constant bank into a register of each lane; the uniform datapath's
                    own reads (ULDC) are not counted */
    uint8_t adu; /* address divergence unit: barriers of a block, reads of constants, registers that
                    are the same for a block, returns */
    int8_t lsu; /* exchanges between lanes and registers that differ by lane: the address unit takes
                 * them too; -1: it does not take this one, though its price says so */
    uint8_t writebacks; /* cycles in which results of the address unit go to registers, 64 bits of a
                           lane each */
} pl_metric_class;

typedef struct pl_decoded_insn {
    const pl_price *price;
    uint32_t rows;    /* first entry in pl_decoded.rows: read rows, written rows, read predicates,
                         written predicates */
    uint32_t address; /* of its first hardware instruction, bytes from the start of the code */
    uint16_t scale;   /* times that a matrix instruction holds its unit (wgmma) */
    uint8_t nread, nwrite, npread, npwrite;
    uint8_t kind;          /* pl_kind */
    uint8_t unit;          /* pl_unit_id */
    uint8_t alu;           /* pl_mem_alu of an atomic */
    uint8_t division_path; /* pl_division_path: it costs nothing unless a lane needs it */
    bool guarded;          /* the last predicate read is the guard */
    bool wants_effect;
    bool on_fma; /* its ALU work goes to the multiply-add lanes (IMAD.SHL, IMAD.IADD, IMAD.MOV)
                  */
    uint8_t reads[2][PL_REGISTER_BANKS]; /* registers of each bank that it reads; [1]: without those
                                            that the instruction reuse_distance before has read too
                                            (operand reuse) */
    uint8_t reuse_distance; /* distance to the instruction with a price before it; 0: none, or too
                               far */
    uint8_t pipe_side;      /* pl_side */
    bool waits_all;         /* a call or return: all scoreboards must be empty */
    pl_control_code code;   /* what the assembler says of time (control_codes.h) */
    bool indirect;          /* a branch, call or return to an address in a register */
    bool reconverges;       /* divergent lanes reconverge there */
    bool yields;            /* lets other lanes of the warp run */
    bool drains_pipe; /* a call, or a reconvergence point: all results of arithmetic must be in
                         their registers */
    bool bank; /* reads a word of the constant bank that the driver fills: kernel parameters, sizes
                  of grid and block */
    uint16_t bank_at;  /* which */
    uint32_t constant; /* where in the module's constants, or among addresses that the driver fills
                          in, its operand lies, plus 1; 0: it has none */
    bool load;         /* reads memory and does not change it */
    bool compare;      /* atomic compare-and-swap */
    bool cast;  /* the one of the loop that an atomic on floats or 64 bits is in shared memory */
    bool fence; /* of gpu scope or wider: waits for the warp's stores */
    /* An access that begins with a fence of its own, which has so many instructions: st.release and
     * atomics that release at cluster scope or wider. */
    uint8_t releases;
    bool acquires;      /* nothing after it issues before its result is there */
    bool addresses;     /* goes through the address unit: a warp's next one keeps a distance */
    bool generic;       /* an access to a generic address */
    bool shared;        /* certainly an access to shared memory */
    bool read_only;     /* a load of memory that is constant during the launch (ld.global.nc) */
    bool texture;       /* a fetch from a texture, an access to a surface */
    uint8_t components; /* of a fetch: results that have readers */
    bool increments;    /* a shared word by 1 for each lane: the hardware counts the lanes with one
                           word (ATOMS.POPC.INC) */
    bool passes_l1;     /* a copy into shared memory that leaves nothing in the L1 */
    /* pl_l1_policy of a load, of a store whether it may take a place in the L1. */
    uint8_t l1_policy;
    int8_t rank[2]; /* pl_mem_rank that its lines get in the L1, and in the L2 if no policy says
                       something else */
    uint8_t prefetch_sectors; /* sectors that the L2 fetches with a missing one (.L2::128B: 4;
                       .L2::256B: 8); 0: as many as the machine does */
    uint8_t cache_op;         /* pl_cache_op */
    uint8_t policy_operand;   /* which is its cache policy, UINT8_MAX: none */
    uint8_t exchange; /* times that a warp's worth of data goes through the exchange unit: shuffles,
                         special registers that differ by lane */
    uint8_t extra_latency; /* cycles that its result comes later for the operands it has: a shuffle
                       whose lane is in a register */
    bool tries;     /* mbarrier.try_wait: the hardware holds the warp until the phase has passed */
    bool ordered;   /* may order what different SMs do: atomics, strong accesses to global memory,
                       fences, the driver's functions */
    bool uniform;   /* integer atomic whose address is the same for all lanes of a block */
    uint8_t wait_n; /* groups that may stay open at a wait */
    pl_metric_class metric; /* what metrics.c says of it that its price does not */
    bool tensor;            /* bulk copies: of a tensor */
    /* Bulk copies: operands "size" and "mbar", UINT8_MAX: none. */
    uint8_t size_operand, barrier_operand;
} pl_decoded_insn;

/* What an instruction does with lines of the L2 and nothing else. */
typedef enum pl_cache_op { PL_UP_NONE, PL_UP_PREFETCH, PL_UP_DEMOTE, PL_UP_DISCARD } pl_cache_op;

typedef struct pl_decoded {
    pl_decoded_insn *at; /* one for each machine instruction */
    uint32_t *rows;
    uint32_t bytes;    /* of code */
    bool ordered;      /* some instruction is */
    bool late_atomics; /* copy engines reduce in memory, some time after the instruction */
} pl_decoded;

/* The unit that an instruction uses: the price's, unless its work goes to the multiply-add lanes.
 */
static inline uint32_t pl_decoded_pipe(const pl_decoded_insn *d, uint32_t pipe)
{
    return d->on_fma && pipe == PL_PIPE_ALU ? PL_PIPE_HEAVY : pipe;
}

/* Its result comes later than the stall counts of other kinds of instructions say. */
static inline bool pl_decoded_is_late(const pl_decoded_insn *d)
{
    return d->kind == PL_KIND_MATH && d->price->cross_pipe_latency < d->price->latency;
}

/* It waits in the queue for global and local memory; else, if its latency is variable, in that of
 * all other exchanges. */
static inline bool pl_decoded_is_lg(const pl_decoded_insn *d)
{
    return d->kind == PL_KIND_COPY || d->kind == PL_KIND_BULK ||
           (d->kind == PL_KIND_MEMORY && d->addresses && !d->shared);
}

/* What timing mode has to know of every instruction. It depends on the program and the machine
 * alone, so that launches may share it. False: out of memory. */
bool pl_decode(pl_decoded *out, pl_arena *a, const pl_program *p, const pl_machine *m);

/* metrics_class.c; `ends`: a return from here ends the kernel. */
pl_metric_class pl_metric_class_of(const pl_insn *i, const pl_decoded_insn *d, bool ends);

#endif
