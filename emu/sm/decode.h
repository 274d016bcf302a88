/* decode.h - the program as seen by the issue stage: for each machine instruction its cost, its
 * kind, and the rows it depends on.
 *
 * Computed once per launch, so that issuing needs no lookups. The results for which an instruction
 * waits are derived from the rows that it reads and writes (control_codes.h). */
#ifndef PL_EMU_SM_DECODE_H
#define PL_EMU_SM_DECODE_H

#include "arch/machine.h"
#include "compiler/codegen/control_codes.h"
#include "emu/sm/division_slow_path.h"
#include "isa/program/program.h"

/* The units of an SM that execute instructions, in addition to the arithmetic pipes. */
typedef enum pl_unit_id {
    PL_UNIT_NONE,
    PL_UNIT_SPECIAL_FUNCTION, /* results with variable latency: MUFU, shuffles, special registers */
    PL_UNIT_TENSOR,           /* wgmma; mma is arithmetic with a fixed latency */
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

/* Nsight Compute's counts for instructions without an arithmetic unit. Derived from its sums over
 * the recorded suite, which the machine code of the launches explains. vecadd: of the 20
 * instructions of a warp six are at the ADU, five are reads of constants and the block index, and
 * none is a branch (H200, driver 580.159.04, 2026-11). */
typedef struct pl_metric_class {
    /* Branch targets: branches, calls and returns, but not the end of the kernel. */
    uint8_t targets;
    uint8_t cbu; /* convergence barrier unit: EXIT, BSSY, BSYNC, BMOV, calls, returns, indirect
                    branches; not direct branches */
    uint8_t ldc; /* reads of the constant bank into a per-lane register; the uniform datapath's own
                    reads (ULDC) are not counted */
    uint8_t adu; /* address divergence unit: block barriers, reads of constants, special registers
                    that are uniform over a block, returns */
    int8_t lsu;  /* exchanges between lanes and per-lane special registers, which also use the
                    address unit; -1: this one does not, although its cost includes it */
    uint8_t writebacks; /* cycles in which results of the address unit are written to registers, 64
                           bits of a lane each */
} pl_metric_class;

typedef struct pl_decoded_insn {
    const pl_price *price;
    uint32_t rows;    /* first entry in pl_decoded.rows: read rows, written rows, read predicates,
                         written predicates */
    uint32_t address; /* of its first hardware instruction, bytes from the start of the code */
    uint16_t scale;   /* number of times that a matrix instruction occupies its unit (wgmma) */
    uint8_t nread, nwrite, npread, npwrite;
    uint8_t kind;          /* pl_kind */
    uint8_t unit;          /* pl_unit_id */
    uint8_t alu;           /* pl_mem_alu of an atomic */
    uint8_t division_path; /* pl_division_path: free unless a lane needs it */
    bool guarded;          /* the last predicate read is the guard */
    bool needs_effect;
    bool on_fma; /* its ALU work is executed by the multiply-add lanes (IMAD.SHL, IMAD.IADD,
                    IMAD.MOV) */
    uint8_t reads[2][PL_REGISTER_BANKS]; /* number of registers of each bank that it reads; [1]:
                                            without those that the instruction reuse_distance before
                                            also reads (operand reuse) */
    uint8_t reuse_distance; /* distance to the preceding instruction with a cost; 0: none, or too
                               far */
    uint8_t pipe_side;      /* pl_side */
    bool waits_all;         /* a call or return: all scoreboards must be empty */
    pl_control_code code;   /* the timing fields set by the assembler (control_codes.h) */
    bool indirect;          /* a branch, call or return to an address in a register */
    bool reconverges;       /* divergent lanes reconverge here */
    bool yields;            /* lets other lanes of the warp run */
    bool drains_pipe; /* a call, or a reconvergence point: all arithmetic results must have been
                         written to their registers */
    bool bank; /* reads a word of the constant bank filled by the driver: kernel parameters, sizes
                  of grid and block */
    uint16_t bank_at;  /* offset of that word */
    uint32_t constant; /* offset of its operand in the module's constants, or among addresses filled
                          in by the driver, plus 1; 0: none */
    bool load;         /* reads memory and does not modify it */
    bool compare;      /* atomic compare-and-swap */
    bool cast;  /* compare-and-swap of the loop that implements an atomic on floats or 64 bits in
                   shared memory */
    bool fence; /* of gpu scope or wider: waits for the warp's stores */
    /* Number of instructions of the fence with which an access begins: st.release and atomics that
     * release at cluster scope or wider. */
    uint8_t releases;
    bool acquires;      /* no later instruction issues before its result is available */
    bool addresses;     /* goes through the address unit: the warp's next such instruction keeps a
                           minimum distance */
    bool generic;       /* an access to a generic address */
    bool shared;        /* definitely an access to shared memory */
    bool read_only;     /* a load of memory that is constant during the launch (ld.global.nc) */
    bool texture;       /* a texture fetch or a surface access */
    uint8_t components; /* of a fetch: number of used results */
    bool is_increment;  /* increments a shared word by 1 per lane: the hardware counts the lanes
                         with the same word (ATOMS.POPC.INC) */
    bool bypasses_l1;   /* a copy into shared memory that does not allocate in the L1 */
    /* pl_l1_policy of a load; for a store, whether it may allocate in the L1. */
    uint8_t l1_policy;
    int8_t rank[2]; /* pl_mem_rank of its lines in the L1, and in the L2 unless a policy overrides
                       it */
    uint8_t prefetch_sectors; /* sectors that the L2 fetches on a miss (.L2::128B: 4; .L2::256B: 8);
                                 0: the machine's default */
    uint8_t cache_op;         /* pl_cache_op */
    uint8_t policy_operand;   /* index of its cache policy operand, UINT8_MAX: none */
    uint8_t exchange;      /* passes of a warp's data through the exchange unit: shuffles, special
                              registers that differ by lane */
    uint8_t extra_latency; /* additional latency of its result due to its operands: a shuffle whose
                              lane is in a register */
    bool is_try_wait;      /* mbarrier.try_wait: the hardware holds the warp until the phase has
                        completed */
    bool ordered;   /* may order the effects of different SMs: atomics, strong accesses to global
                       memory, fences, the driver's functions */
    bool uniform;   /* integer atomic whose address is the same for all lanes of a block */
    uint8_t wait_n; /* groups that may stay pending at a wait */
    pl_metric_class metric; /* counts of metrics.c that do not follow from its cost */
    bool tensor;            /* bulk copies: a tensor copy */
    /* Bulk copies: operands "size" and "mbar", UINT8_MAX: none. */
    uint8_t size_operand, barrier_operand;
} pl_decoded_insn;

/* The operation of an instruction that only affects lines of the L2. */
typedef enum pl_cache_op { PL_UP_NONE, PL_UP_PREFETCH, PL_UP_DEMOTE, PL_UP_DISCARD } pl_cache_op;

typedef struct pl_decoded {
    pl_decoded_insn *at; /* one per machine instruction */
    uint32_t *rows;
    uint32_t bytes;    /* of code */
    bool ordered;      /* true if any instruction is ordered */
    bool late_atomics; /* copy engines perform reductions in memory, some time after the
                          instruction */
} pl_decoded;

/* The pipe that an instruction uses: that of the cost, unless its work is executed by the
 * multiply-add lanes. */
static inline uint32_t pl_decoded_pipe(const pl_decoded_insn *d, uint32_t pipe)
{
    return d->on_fma && pipe == PL_PIPE_ALU ? PL_PIPE_HEAVY : pipe;
}

/* True if its result is later than the stall counts of other kinds of instructions specify. */
static inline bool pl_decoded_is_late(const pl_decoded_insn *d)
{
    return d->kind == PL_KIND_MATH && d->price->cross_pipe_latency < d->price->latency;
}

/* True if it waits in the queue for global and local memory; otherwise, if its latency is variable,
 * in that of all other exchanges. */
static inline bool pl_decoded_is_lg(const pl_decoded_insn *d)
{
    return d->kind == PL_KIND_COPY || d->kind == PL_KIND_BULK ||
           (d->kind == PL_KIND_MEMORY && d->addresses && !d->shared);
}

/* The properties of every instruction that timing mode needs. They only depend on the program and
 * the machine, so launches may share them. False: out of memory. */
bool pl_decode(pl_decoded *out, pl_arena *a, const pl_program *p, const pl_machine *m);

/* metrics_class.c; `ends`: a return at this point ends the kernel. */
pl_metric_class pl_metric_class_of(const pl_insn *i, const pl_decoded_insn *d, bool ends);

#endif
