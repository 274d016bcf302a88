/* program.h - an assembled module: machine code, its functions, its data, and the mapping back to
 * the source.
 *
 * Created by ptx/lower/lower.c from a checked module (or read from an object file), linked and
 * placed by lib/. Read-only during execution. */
#ifndef PL_ISA_PROGRAM_PROGRAM_H
#define PL_ISA_PROGRAM_PROGRAM_H

#include "base/arena.h"
#include "isa/table/form.h"
#include "isa/program/insn.h"

/* Address of function k: PL_CODE_BASE + 16 k. */
#define PL_CODE_BASE 0x00007c0000000000ull

/* A register row initialised when a frame is created: with a constant, or with a special register.
 */
typedef struct pl_frame_init {
    uint32_t row;
    uint16_t width;  /* 32 or 64 */
    uint16_t sreg;   /* W_none: constant `bits`; else the special register, component in `sel` */
    uint8_t sel;     /* 0..3 = x y z w */
    uint8_t reloc;   /* 0, or the address added to bits: PL_RELOC_VAR or PL_RELOC_FRAME */
    uint32_t symbol; /* variable index */
    uint64_t bits;
} pl_frame_init;

/* Address of a module variable in its own space; start of the frame's local memory; function; start
 * of the block's shared memory; generic address of a module variable. */
enum {
    PL_RELOC_NONE,
    PL_RELOC_VAR,
    PL_RELOC_FRAME,
    PL_RELOC_FUNC,
    PL_RELOC_SHARED,
    PL_RELOC_GENERIC
};

typedef struct pl_prog_param {
    const char *name;
    uint32_t offset, size, align;
    uint16_t type; /* type word of the declaration */
    bool is_ptr;
} pl_prog_param;

/* Copies call arguments or results between frames, in bytes of local memory relative to the bases
 * of the two frames, or by register. */
typedef struct pl_call_move {
    uint32_t from, to; /* offsets in the caller's and callee's frames, or rows if reg */
    uint32_t bytes;
    bool reg, pred;
} pl_call_move;

typedef struct pl_prog_call {
    uint32_t callee; /* function index, UINT32_MAX: indirect through op[0] */
    /* Indices in program->moves for the caller's side; the callee's side is in its params. */
    uint32_t first_arg, nargs, first_ret, nrets;
} pl_prog_call;

/* A shared variable of a kernel, for messages; not stored in objects. */
typedef struct pl_prog_shared {
    const char *name;
    uint64_t offset, size; /* offset in the kernel's shared memory */
} pl_prog_shared;

/* An entry of the line table. */
typedef struct pl_prog_line {
    uint32_t ptx_line, ptx_column; /* in the program's text */
    uint32_t src_file, src_line;   /* from .loc; 0: none */
    uint32_t inlined; /* 1 + index into program->inlines of the inlined call; 0: none */
} pl_prog_line;

/* A register of a wgmma that is accessed on some path while PTX forbids it
 * (compiler/analysis/wgmma_hazards.h). For checkers; not stored in objects. */
typedef enum pl_hazard_kind {
    PL_HAZARD_ACCUMULATOR_READ, /* before wgmma.wait_group has waited for the product */
    PL_HAZARD_ACCUMULATOR_WRITTEN,
    PL_HAZARD_MATRIX_READ, /* a register of matrix A, before the same wait */
    PL_HAZARD_MATRIX_WRITTEN,
    PL_HAZARD_UNFENCED /* written between wgmma.fence and the product */
} pl_hazard_kind;
typedef enum pl_anchor { PL_ANCHOR_SELF, PL_ANCHOR_BEFORE, PL_ANCHOR_AFTER } pl_anchor;
typedef struct pl_wgmma_hazard {
    pl_hazard_kind kind;
    pl_anchor when; /* position of the anchor: it is the access, or precedes or follows it */
    /* An instruction in the block of the access that passes do not move. */
    pl_prog_line access, product, anchor;
    uint32_t first_line, last_line; /* of PTX, of that block */
} pl_wgmma_hazard;

typedef struct pl_prog_func {
    const char *name;
    uint8_t linkage; /* pl_linkage of ptx/ast.h */
    bool entry;
    bool abi_calls;             /* during assembly: follows the calling convention
                                   (ptx/lower/call_graph.h) */
    uint32_t callee_saved_used; /* of a kernel, during assembly: registers live across calls of such
                                   functions */
    uint16_t system;            /* number of the function if the driver provides it
                                   (emu/exec/runtime/cuda_builtins.h); 0: it has code */
    uint32_t first, count;      /* code range; 0 instructions: declaration only */
    uint32_t rows, preds;       /* size of the register frame */
    struct {
        pl_frame_init *at;
        size_t n, cap;
    } init;
    struct {
        pl_prog_param *at;
        size_t n, cap;
    } params;
    uint32_t param_bytes; /* entry: size of the parameter block */
    /* Local memory of one frame: variables, call-site and formal parameters. */
    uint32_t frame_bytes;
    uint32_t static_shared, shared_align;
    struct {
        pl_prog_shared *at;
        size_t n, cap;
    } shared; /* of a kernel: its own variables, if compiled from PTX */
    struct {
        pl_wgmma_hazard *at;
        size_t n, cap;
    } hazards;            /* of a function with wgmma, if compiled from PTX */
    uint32_t registers;   /* as allocated by the hardware, for reports and occupancy */
    uint32_t local_bytes; /* as reported by ptxas: stack frame and spills */
    uint32_t stack_bytes; /* the same plus that of the deepest call chain */
    uint32_t spill_loads, spill_stores, barriers;
    uint32_t maxntid[3], reqntid[3], minnctapersm, maxnreg, reqnctapercluster[3], maxclusterrank,
        minperctamemory;
    bool explicitcluster;
    /* callee side of calls: locations of formal parameters and results */
    struct {
        pl_call_move *at;
        size_t n, cap;
    } formal, result;
} pl_prog_func;

typedef struct pl_prog_reloc {
    uint64_t offset;
    uint8_t bytes, shift, kind;
    uint32_t symbol;
    int64_t addend;
} pl_prog_reloc;

typedef struct pl_prog_var {
    const char *name;
    uint8_t space; /* pl_space: PL_SP_GLOBAL, PL_SP_CONST, PL_SP_SHARED */
    uint8_t linkage;
    bool managed, unsized;
    uint8_t reference; /* pl_reference: it holds a handle */
    uint32_t align;
    uint64_t size, address; /* in its space; of global variables set at load time */
    const uint8_t *init;    /* or NULL */
    struct {
        pl_prog_reloc *at;
        size_t n, cap;
    } reloc;
} pl_prog_var;

/* A call that the compiler inlined (.loc ... inlined_at). `inlined` is the entry of the call site
 * itself; it refers to an earlier entry. */
typedef struct pl_prog_inline {
    uint32_t src_file, src_line, inlined;
} pl_prog_inline;

enum { PL_BANK_BYTES = 65536 };

/* The constant bank: all .const variables of the program. Addresses of the constant space are
 * offsets in it. */
typedef struct pl_bank {
    uint64_t address; /* its generic address; this and bytes are set at load time */
    uint8_t *bytes;
    uint64_t size;
} pl_bank;

/* One of the PTX files that form the text. */
typedef struct pl_prog_source {
    const char *name;
    uint32_t lines_before; /* preceding lines of the text */
} pl_prog_source;

typedef struct pl_tuning pl_tuning;             /* compiler/tuning.h */
typedef struct pl_plan_cache pl_plan_cache;     /* isa/program/operands.h */
typedef struct pl_pass_options pl_pass_options; /* compiler/pass_manager.h */

typedef struct pl_program {
    pl_arena *arena; /* owned: closing it frees the program */
    uint16_t ptx, sm;
    char sm_suffix;
    const char *target;
    struct {
        pl_insn *at;
        size_t n, cap;
    } code;
    struct {
        uint32_t *at;
        size_t n, cap;
    } pool; /* additional operand rows, pl_insn.extra_ops */
    struct {
        pl_prog_func *at;
        size_t n, cap;
    } funcs;
    struct {
        pl_prog_var *at;
        size_t n, cap;
    } vars;
    pl_bank bank;
    struct {
        pl_prog_line *at;
        size_t n, cap;
    } lines;
    struct {
        pl_prog_inline *at;
        size_t n, cap;
    } inlines;
    struct {
        pl_prog_call *at;
        size_t n, cap;
    } calls;
    struct {
        pl_call_move *at;
        size_t n, cap;
    } moves;
    struct {
        const char **at;
        size_t n, cap;
    } files; /* .file paths; the first entry is unused */
    struct {
        pl_prog_source *at;
        size_t n, cap;
    } sources; /* the PTX files, in text order */
    int opt_level;
    bool keeps_accesses; /* during assembly, for checkers: loads of shared and global memory without
                            a reader and arrays in local memory stay */
    /* The program contains instructions of these kinds: set when it is bound (pl_bind). */
    bool bulk_reductions, launch_control;
    uint32_t lanes;          /* during assembly: lanes per warp */
    bool linked_parts;       /* during assembly: a function whose address is taken has conditional
                                branches (ptx/lower/call_graph.h) */
    pl_plan_cache *plans;    /* during assembly, else NULL */
    const pl_tuning *tuning; /* during assembly: heuristics and properties of the target */
    pl_pass_options *passes; /* during assembly: skips, dumps, checks; NULL: none */
    const char *text;        /* the PTX, for messages and listings */
    size_t text_bytes;
} pl_program;

/* Instructions first to first + count - 1. */
typedef struct pl_code_range {
    size_t first, count;
} pl_code_range;

/* The function at this address; UINT32_MAX: none. */
static inline uint32_t pl_program_func_at(const pl_program *p, uint64_t address)
{
    const uint64_t k = (address - PL_CODE_BASE) / 16;
    return address >= PL_CODE_BASE && address % 16 == 0 && k < p->funcs.n ? (uint32_t)k
                                                                          : UINT32_MAX;
}

/* "add.f32 R4, R2, R3": machine instruction `pc` as text, written to buf (always terminated). */
size_t pl_disasm(const pl_program *p, uint32_t pc, char *buf, size_t size);
/* The same for an instruction of function fn, wherever it is stored; `label` is the prefix of a
 * branch target's number. */
size_t pl_disasm_insn(const pl_program *p, const pl_prog_func *fn, const pl_insn *i,
                      const char *label, char *buf, size_t size);

/* True if the instruction has this modifier. */
static inline bool pl_insn_has(const pl_insn *i, pl_word w)
{
    unsigned n = i->form == PL_IR_DEAD ? 0 : pl_forms[i->form].nslots;
    for (unsigned k = 0; k < n; k++)
        if (i->mods[k] == w) return true;
    return false;
}

/* True if REDUX can perform its operation over the lanes of a warp. */
static inline bool pl_insn_is_warp_aggregable(const pl_insn *i)
{
    return pl_insn_has(i, W_add) || pl_insn_has(i, W_min) || pl_insn_has(i, W_max) ||
           pl_insn_has(i, W_and) || pl_insn_has(i, W_or) || pl_insn_has(i, W_xor);
}

/* The reconvergence point of lanes that diverged before `at`: each group of them executes a BSYNC
 * located there and waits after it, unless that is at `end`. */
static inline uint32_t pl_reconvergence_pc(const pl_program *p, uint32_t at, uint32_t end)
{
    return at + (at + 1 < end && pl_forms[p->code.at[at].form].mnem == M__bsync);
}

#endif
