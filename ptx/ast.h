/* ast.h - a checked PTX module as a tree: built by the parser, completed by sema, read by lower.c
 * and fmt.
 *
 * All nodes are allocated in the module's arena. Sema resolves names: an operand points at the
 * register, variable, function or label that it denotes, never at text. Instruction statements
 * point at a row of the instruction table and the chosen words (pl_choice: one pl_word per slot of
 * the form, W_none when absent), which identical instructions share. */
#ifndef PL_PTX_AST_H
#define PL_PTX_AST_H

#include "base/arena.h"
#include "base/diag.h"
#include "isa/table/form.h"
#include "isa/program/insn.h"    /* pl_space */
#include "isa/program/program.h" /* pl_prog_inline */

typedef enum pl_linkage {
    PL_LINK_NONE,
    PL_LINK_EXTERN,
    PL_LINK_VISIBLE,
    PL_LINK_WEAK,
    PL_LINK_COMMON
} pl_linkage;

struct pl_func;
struct pl_var;

/* A virtual register. A range such as `.reg .b32 %r<10>` is expanded lazily: one pl_reg for each
 * register that is referenced. */
typedef struct pl_reg {
    const char *name;
    pl_word type; /* W_b32, W_pred, W_f64, W_b128 ... */
    uint32_t id;  /* dense within its function, from 0, in order of first mention */
    uint16_t vec; /* 0, or 2/4 for `.reg .v4 .f32 q` */
} pl_reg;

/* An address stored by an initialiser: `bytes` bytes at `offset` receive the address of var/func +
 * addend. */
typedef struct pl_ast_reloc {
    uint64_t offset; /* bytes into the variable */
    uint8_t bytes;   /* 1 (mask), 2, 4 or 8 */
    bool generic;    /* generic(x): generic address instead of the address in its space */
    uint8_t shift;   /* mask(): the selected byte, as a shift in bits */
    struct pl_var *var;
    struct pl_func *func;
    int64_t addend;
} pl_ast_reloc;

/* A variable in .const .global .local .shared .param (or .tex). */
typedef struct pl_var {
    const char *name;
    pl_space space;
    pl_word type; /* element type; W_b8 for opaque bytes; W_texref W_samplerref W_surfref */
    uint16_t vec; /* 0, 2, 4 */
    uint32_t align;
    uint64_t size; /* bytes; 0 with unsized: `extern .shared x[]` */
    bool unsized;
    pl_linkage linkage;
    bool managed;
    bool is_ptr;        /* .param .ptr */
    pl_space ptr_space; /* of .ptr */
    uint32_t ptr_align;
    uint8_t *init; /* size bytes, or NULL: zero */
    struct {
        pl_ast_reloc *at;
        size_t n, cap;
    } reloc;
    struct pl_func *owner; /* NULL at module scope */
    /* The { } block of the declaration: its number in the file and its nesting depth. */
    uint32_t block, depth;
    uint64_t offset;     /* in its space: set by lower.c */
    uint32_t index;      /* among the program's variables: set by lower.c */
    struct pl_var *link; /* the definition that replaces this one, or NULL: set by link.c */
    bool error_reported; /* link.c has reported it */
    enum {
        /* INPUT, RESULT: in a function's parameter lists. */
        PL_VAR_PLAIN,
        PL_VAR_INPUT,
        PL_VAR_RESULT
    } role;
    pl_loc at;
    /* A `.reg` parameter of a .func: its type (space is PL_SP_REG), reg below. */
    pl_word from_reg_type;
    pl_reg *reg;
} pl_var;

typedef enum pl_operand_kind {
    PL_O_NONE,
    PL_O_REG,   /* reg (also a predicate; neg) */
    PL_O_SREG,  /* special register: sreg, component */
    PL_O_IMM,   /* imm: bits already in the width and format of the operand's type */
    PL_O_VEC,   /* elem[0..n): each REG, IMM or SINK */
    PL_O_ADDR,  /* [base + imm]: base is reg, var or nothing (absolute); tex/tensor coordinates in
                   elem */
    PL_O_VAR,   /* address of a variable + imm (mov, cvta, call arguments) */
    PL_O_FUNC,  /* address of a function, or direct callee */
    PL_O_LABEL, /* label */
    PL_O_TABLE, /* .branchtargets / .calltargets / .callprototype */
    PL_O_ARGS,  /* elem[0..n): call arguments or results */
    PL_O_SINK   /* _ */
} pl_operand_kind;

/* Selector on a video operand or a vector component: %r1.b3, %r1.h0, %v.x */
typedef enum pl_sel {
    PL_SEL_NONE,
    PL_SEL_B0,
    PL_SEL_B1,
    PL_SEL_B2,
    PL_SEL_B3,
    PL_SEL_H0,
    PL_SEL_H1,
    PL_SEL_X,
    PL_SEL_Y,
    PL_SEL_Z,
    PL_SEL_W
} pl_sel;

typedef struct pl_label {
    const char *name;
    uint32_t stmt; /* index in func->body of the statement that it precedes; body.n at the end */
    bool defined;
    pl_loc at;
} pl_label;

/* .branchtargets, .calltargets, .callprototype */
typedef struct pl_table {
    const char *name;
    enum { PL_TAB_BRANCH, PL_TAB_CALL, PL_TAB_PROTO } kind;
    struct {
        pl_label **at;
        size_t n, cap;
    } labels;
    struct {
        struct pl_func **at;
        size_t n, cap;
    } funcs;
    struct pl_func *proto; /* params and rets only */
    pl_loc at;
} pl_table;

/* Kept small, because a large module has millions of them. The data for checking are in
 * pl_operand_draft (internal.h). */
typedef struct pl_operand {
    uint8_t kind;      /* pl_operand_kind */
    bool neg : 1;      /* ! before a predicate, or - before a register where a form allows it */
    bool is_float : 1; /* the immediate was written as a floating literal */
    bool on_var : 1;   /* ADDR: the base is var, not reg */
    uint8_t sel;       /* pl_sel */
    uint8_t nlanes;    /* vadd2/vadd4 selectors (%r1.b7654, %r1.h10): number of digits, else 0 */
    uint16_t lanes;    /* their digits, four bits each, rightmost digit lowest */
    uint16_t n;        /* of elem */
    union {
        pl_reg *reg;  /* REG; base of ADDR, or NULL */
        pl_word sreg; /* SREG: W_tid etc. (component in sel) */
        pl_label *label;
        pl_table *table;
        struct pl_func *func;
        pl_var *var;             /* VAR; base of ADDR */
        struct pl_operand *elem; /* VEC, ARGS, coordinates */
    };
    union {
        int64_t imm; /* IMM: value bits; ADDR/VAR: byte offset */
        struct {
            uint32_t line, column;
        }; /* FUNC: position of the reference */
    };
} pl_operand;

typedef enum pl_stmt_kind { PL_S_INSN, PL_S_LOC, PL_S_PRAGMA } pl_stmt_kind;

/* Kept small for the same reason. */
typedef struct pl_stmt {
    uint8_t kind; /* pl_stmt_kind */
    bool guard_neg;
    uint16_t length;       /* of the instruction, saturated; */
    uint32_t line, column; /* and its position in the file of its function */
    union {
        struct { /* PL_S_INSN */
            /* Row of the instruction table, and the word of each slot of that form. */
            const pl_choice *what;
            pl_reg *guard;  /* or NULL */
            pl_operand *op; /* one per operand of the form; absent ones have kind NONE */
        };
        const char *pragma; /* PL_S_PRAGMA */
        struct {
            uint32_t src_file, src_line; /* PL_S_LOC: source position of what follows, */
            uint32_t inlined; /* and 1 + index into pl_ast.inlines of the inlined call; 0: none */
        };
    };
} pl_stmt;

/* An operand that names a function or a module variable, so that its users can be found without
 * traversing the body. */
typedef struct pl_use {
    pl_operand *op;
    bool called; /* a function: this use is a call */
} pl_use;

typedef struct pl_func {
    const char *name;
    bool entry, prototype_only, noreturn;
    pl_linkage linkage;
    struct {
        pl_var **at;
        size_t n, cap;
    } params, rets, vars; /* vars: local, shared, call-site params, flattened over all blocks */
    struct {
        pl_reg **at;
        size_t n, cap;
    } regs;
    struct {
        pl_stmt *at;
        size_t n, cap;
    } body;
    struct {
        pl_use *at;
        size_t n, cap;
    } uses;
    struct {
        pl_label **at;
        size_t n, cap;
    } labels;
    uint32_t maxntid[3], reqntid[3], minnctapersm, maxnreg, reqnctapercluster[3], maxclusterrank,
        minperctamemory; /* 0: not specified */
    bool explicitcluster, blocksareclusters;
    struct pl_func *alias_of;
    struct pl_func *link; /* the definition that replaces this one, or NULL: set by link.c */
    bool error_reported;  /* link.c has reported it */
    bool placed;          /* pl_layout_own_shared has placed its shared variables */
    uint32_t index;       /* in module->funcs; of an alias: that of its target */
    pl_loc at;
    const char *local_maxnreg_pragma;
    uint32_t abi_preserve, abi_preserve_control;
} pl_func;

typedef struct pl_ast {
    pl_arena *arena;
    pl_diags *diags;
    uint32_t file;      /* in diags */
    uint16_t ptx;       /* .version 9.0 = 90 */
    uint16_t sm;        /* .target sm_90a = 90 */
    char sm_suffix;     /* 'a', 'f' or 0 */
    const char *target; /* "sm_90a" */
    bool texmode_independent, debug, map_f64_to_f32;
    uint16_t address_size; /* 32 or 64 */
    bool large_shared;     /* kernels may have as many shared variables as fit into the SM */
    uint64_t open_bytes;   /* the largest array that a call passes as an unsized parameter */
    struct {
        pl_func **at;
        size_t n, cap;
    } funcs;
    struct {
        pl_var **at;
        size_t n, cap;
    } vars; /* module scope */
    struct {
        pl_prog_inline *at;
        size_t n, cap;
    } inlines; /* inlined calls that .loc names */
    struct {
        const char **at;
        size_t n, cap;
    } files; /* .file index -> path (index 0 unused) */
} pl_ast;

/* The variable that is the operand or its base, or NULL. */
static inline pl_var *pl_operand_var(const pl_operand *o)
{
    return o->kind == PL_O_VAR || (o->kind == PL_O_ADDR && o->on_var) ? o->var : NULL;
}

static inline pl_loc pl_stmt_place(const pl_func *f, const pl_stmt *s)
{
    return (pl_loc){.file = f->at.file, .line = s->line, .column = s->column, .length = s->length};
}

/* Called for each function whose body has been read, as long as there are no errors. The function
 * does not change afterwards, except for its index. */
typedef void pl_func_ready(void *ctx, const pl_ast *ast, pl_func *f);

typedef struct pl_parse_options {
    uint32_t lanes; /* per warp: the value of WARP_SZ */
    char *own;      /* the text of the file, if it may be modified and has space for two zeros after
                       it; its contents are restored, except for these zeros; NULL: the text is
                       copied */
    pl_func_ready *ready; /* or NULL */
    void *ctx;
} pl_parse_options;

/* Parses and checks one module. Diagnostics go to diags, whose file list already contains `file`.
 * On PL_OK *out is a module without errors. On PL_INVALID at least one error was reported and *out
 * may contain the recovered parts. */
pl_status pl_ptx_parse(pl_arena *arena, pl_diags *diags, uint32_t file, const pl_parse_options *o,
                       pl_ast **out);

#endif
