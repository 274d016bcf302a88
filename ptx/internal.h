/* internal.h - declarations shared by the files of the PTX front end: interned names, scopes,
 * expression nodes, the state of one parse.
 *
 * One pass: the grammar (parse.y) calls the functions below as it recognises constructs, so names
 * are resolved and instructions checked while the text is read. Only labels may be used before they
 * are declared; such uses are queued until the end of their block (symbols.c). Nothing outside ptx/
 * includes this header. */
#ifndef PL_PTX_INTERNAL_H
#define PL_PTX_INTERNAL_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "isa/table/form_match.h"
#include "ptx/ast.h"

/* ---- names ---- */

typedef enum pl_bind_kind {
    PL_B_REG,
    PL_B_VAR,
    PL_B_FUNC,
    PL_B_LABEL,
    PL_B_TABLE,
    PL_B_RANGE,
    PL_B_BAD
} pl_bind_kind;

struct pl_sym;

/* The meaning of a name in one scope. The innermost binding of a symbol heads its list. */
typedef struct pl_binding {
    pl_bind_kind kind;
    uint32_t depth; /* of the scope: 0 is the module */
    union {
        pl_reg *reg;
        pl_var *var;
        pl_func *func;
        pl_label *label;
        pl_table *table;
        struct pl_range *range;
    };
    pl_loc at;
    pl_func *user; /* at module scope: the function that currently owns the register or .local
                      variable */
    struct pl_sym *sym;
    struct pl_binding *outer; /* same symbol, enclosing scope */
    struct pl_binding *next;  /* same scope */
} pl_binding;

/* `.reg .b32 %r<10>`: registers are created at their first reference. */
typedef struct pl_range {
    pl_word type;
    uint16_t vec;
    uint32_t count;
} pl_range;

/* A distinct spelling in the text. The fields that every reference reads come first. */
typedef struct pl_sym {
    uint32_t len;
    uint64_t ends[2];    /* its first and last bytes: the whole spelling if it is short */
    pl_binding *binding; /* innermost binding, or NULL */
    const char *name;    /* NUL-terminated, in the arena of the tree */
    int16_t token;       /* of a dotted word: its token in the grammar */
    int16_t mnem;        /* index in pl_mnems, or -1 */
    int16_t sreg;        /* index in the special register table, or -1 */
    uint16_t word;       /* of a dotted word: the word of the instruction table, or W_none */
    pl_binding *range;   /* innermost `name<N>` */
    struct pl_sym *stem; /* %r12: the symbol %r, once requested */
    struct pl_sym *numbers, *sibling; /* of %r: the symbols %r<number> linked to it */
    uint32_t nnumbers;
    uint32_t number; /* %r12: 12 */
    bool numbered;
    bool bound;       /* `first` is in use */
    pl_binding first; /* inline storage for a binding: most names have only one at a time */
} pl_sym;

typedef struct pl_sym_slot {
    uint32_t hash;
    pl_sym *sym;
} pl_sym_slot;

/* A use of a label, pending until the end of its block. */
typedef struct pl_label_use {
    pl_sym *sym;
    pl_label **where; /* the pointer to fill in */
    pl_loc at;
    struct pl_label_use *next;
} pl_label_use;

/* A label named in a .branchtargets list. */
typedef struct pl_table_use {
    pl_sym *sym;
    pl_loc at;
    struct pl_table_use *next;
} pl_table_use;

typedef struct pl_scope {
    pl_binding *bindings;
    pl_label_use *uses, *last_use;
    bool has_labels;
    pl_loc at;
    uint32_t number; /* in the file */
    struct pl_scope *outer;
} pl_scope;

/* ---- values ---- */

typedef struct pl_number {
    uint64_t bits;                      /* integer, or the bits of a double */
    bool is_unsigned, is_float, single; /* single: written 0f..., bits still hold a double */
    bool bits_given;                    /* written 0f... or 0d... */
    uint32_t single_bits;               /* of a 0f literal: exactly as written */
    const char *text;
    uint32_t len;
} pl_number;

typedef enum pl_node_kind {
    PL_N_INT,
    PL_N_FLOAT,
    PL_N_NAME, /* sym{.sel}{+value}, sym[value] */
    PL_N_SINK,
    PL_N_VEC,  /* { list } */
    PL_N_LIST, /* ( list ) */
    PL_N_ADDR, /* [ list ] */
    PL_N_PAIR, /* first|last */
    PL_N_WRONG /* already reported */
} pl_node_kind;

/* An operand or expression as written. Nodes are in a pool that every statement reuses; index 0
 * means no node. */
typedef struct pl_node {
    uint8_t kind;
    bool not_, minus; /* ! or - before a name */
    bool is_unsigned, single, bits_given, paren, generic;
    bool has_offset;
    bool element;  /* NAME[value]: the offset counts elements */
    uint64_t mask; /* 0xff00(name): initialisers only */
    pl_loc at;
    pl_sym *sym;
    pl_sym *sel;
    pl_loc sel_at;
    int64_t value; /* INT; bits of a double: FLOAT; offset: NAME */
    uint32_t single_bits;
    uint32_t first, last, n, next;
} pl_node;

/* An operand during checking, with its position. It is converted into a pl_operand (ast.h). */
typedef struct pl_operand_draft {
    uint8_t kind; /* pl_operand_kind */
    bool neg : 1, is_float : 1;
    uint8_t sel, nlanes;
    uint16_t lanes, n;
    pl_loc at;
    union {
        pl_reg *reg;
        pl_word sreg;
        pl_sym *label; /* resolved at the end of its block */
        pl_table *table;
        pl_func *func;
    };
    pl_var *var;        /* VAR; base of ADDR */
    int64_t imm, given; /* of a number: the value used, and the value as written */
    struct pl_operand_draft *elem;
} pl_operand_draft;

/* Words and attributes that precede a declared name. */
typedef struct pl_decl {
    pl_space space;
    pl_word type;
    uint16_t vec;
    uint64_t align;
    bool is_ptr, managed, bad, in_ptr;
    bool ptr_aligned, aligned_late; /* .align after .ptr; after the type */
    pl_space ptr_space;
    uint64_t ptr_align;
    pl_loc at, type_at, vec_at, align_at, ptr_at;
    pl_linkage linkage;
} pl_decl;

typedef struct pl_init {
    pl_var *var;
    uint8_t *bytes;
    uint64_t at, cap;
    uint32_t elem;   /* bytes of a scalar */
    uint64_t dim[8]; /* bytes of a sub-array at each depth; the last entry is a scalar */
    uint32_t ndim, depth;
    uint64_t start[9];
    bool bad, too_many;
} pl_init;

/* Cache of opcodes: an instruction's name with its modifiers as written, and its match. A module
 * has few distinct ones, and repeats each many times. */
enum { PL_OPCODES = 512, PL_OPCODE_LENGTH = 40, PL_OPCODE_WORDS = 6 };
typedef struct pl_opcode {
    char text[PL_OPCODE_LENGTH];
    uint8_t n, nwords; /* n: bytes of text; 0: free */
    pl_sym *name;
    const pl_match *match;
    pl_match_word word[PL_OPCODE_WORDS];
} pl_opcode;

enum {
    PL_FIRST_WITHOUT_32_BIT = 90, /* sm_90 */
    PL_MAX_WORDS = 32,
    PL_MAX_NESTING = 256
};

/* A label that .loc names, resolved at the end of the module. */
typedef struct pl_loc_name {
    const char *name;
    size_t n;
    pl_loc at;
    struct pl_loc_name *next;
} pl_loc_name;

/* The state of one parse. */
typedef struct pl_parse {
    pl_ast *ast;
    pl_arena *arena; /* of the tree */
    pl_arena *names; /* until the text has been read: spellings, bindings, scopes */
    pl_diags *diags;
    uint32_t lanes;       /* per warp: WARP_SZ */
    pl_func_ready *ready; /* or NULL */
    void *ready_ctx;
    size_t errors; /* before this module */

    /* lexer */
    uint32_t line;
    const char *line_start;
    pl_loc open_at;
    bool has_invalid_byte;
    uint32_t invalid_byte_line;

    /* names */
    struct {
        pl_sym_slot *slot; /* open addressing, at most half full: usually the first slot probed
                              matches */
        size_t n, cap;
    } syms;
    pl_scope *scope;
    pl_binding *free_bindings; /* of closed scopes */
    uint32_t nscopes;          /* opened so far */
    uint32_t depth;
    uint32_t max_depth_reported;

    /* the statement being read */
    struct {
        pl_node *at;
        size_t n, cap;
    } nodes;
    struct {
        pl_operand_draft *at;
        size_t n, cap;
    } drafts; /* elements of the statement's vectors and lists */
    pl_match_word word[PL_MAX_WORDS];
    pl_loc word_at[PL_MAX_WORDS];
    unsigned nwords;
    bool word_overflow;
    /* The candidate forms for its words if already known, otherwise NULL. */
    const pl_match *match;
    pl_opcode *opcodes; /* a cache of PL_OPCODES opcodes */

    /* the declaration being read */
    pl_decl decl;
    pl_linkage linkage;
    pl_loc linkage_at;
    bool linkage_set;
    pl_init init;
    uint64_t dims[8];
    pl_loc dims_at[8];
    unsigned ndims;
    bool dims_open; /* first dimension is [] */
    bool leading;   /* attributes that precede a declaration are being read */
    bool lead_managed;
    pl_loc lead_at;

    /* the function being read */
    pl_func *func;
    pl_func *proto; /* .callprototype being read; parameters are added to it */
    pl_sym *func_sym;
    pl_table *table; /* .branchtargets or similar table being read */
    pl_table_use *table_uses;
    struct {
        pl_stmt *at;
        size_t cap;
    } body; /* reusable buffer for the statements of the current function */
    bool in_rets, in_directives;
    bool func_has_syntax_error; /* a syntax error was found in this function: undefined names are
                                   not reported */
    uint32_t seen_perf;

    /* the module */
    /* The version of the module if it is newer than the known ones, or NULL. */
    const char *newer;
    bool seen_version, seen_target, seen_address_size, seen_texmode;
    bool module_has_syntax_error; /* a syntax error was seen outside functions */
    bool has_directives;          /* a directive other than .version and .target was read */
    bool debug_section;           /* .debug_info or .debug_abbrev */
    pl_map section_labels, locs;  /* labels of .section; positions named by .loc */
    pl_map inlines;               /* for ast->inlines: entry -> its number */
    uint32_t inlined; /* inlining of the .loc being read: 1 + index into ast->inlines, or 0 */
    pl_loc target_at;
    const char *section, *section_line_start; /* text of the .section being read */
    uint32_t section_line;
    uint32_t braces; /* open braces of .nv_intermediate_source_section */
    pl_loc_name *loc_names;
    pl_loc version_at;
    pl_matcher *matcher;
} pl_parse;

/* False when out of memory. */
static inline bool pl_parse_ok(const pl_parse *p)
{
    return pl_arena_ok(p->arena) && pl_arena_ok(p->names);
}

/* symbols.c */
/* Interns the special registers. */
void pl_names_begin(pl_parse *p);
pl_sym *pl_sym_intern(pl_parse *p, const char *text, size_t n);
pl_binding *pl_name_lookup(pl_parse *p, pl_sym *s);
/* Binds the name in the current scope. If it is already bound there, reports a duplicate and
 * returns false. */
bool pl_name_bind(pl_parse *p, pl_sym *s, pl_binding b);
void pl_name_bind_module(pl_parse *p, pl_sym *s, pl_binding b);
void pl_scope_open(pl_parse *p, pl_loc at);
void pl_scope_close(pl_parse *p);
void pl_label_define(pl_parse *p, pl_sym *s, pl_loc at);
void pl_label_refer(pl_parse *p, pl_sym *s, pl_loc at, pl_label **where);
pl_reg *pl_reg_new(pl_parse *p, const char *name, pl_word type, uint16_t vec);
/* Binds the name to PL_B_BAD, so that its uses are not reported again. */
void pl_name_bind_bad(pl_parse *p, pl_sym *s, uint32_t depth, pl_loc at);
/* Reports the undefined name once per function, with the nearest existing name. */
void pl_name_undefined(pl_parse *p, pl_sym *s, pl_loc at);
const char *pl_bind_noun(const pl_binding *b);

/* number.c */
int pl_parse_number(pl_parse *p, const char *text, size_t n, pl_loc at, pl_number *out);

/* expression.c */
uint32_t pl_node_new(pl_parse *p, pl_node_kind kind, pl_loc at);
uint32_t pl_node_number(pl_parse *p, const pl_number *n, pl_loc at);
uint32_t pl_node_name(pl_parse *p, pl_sym *s, pl_loc at);
uint32_t pl_node_select(pl_parse *p, uint32_t node, pl_sym *sel, pl_loc at);
uint32_t pl_node_element(pl_parse *p, uint32_t name, uint32_t index, pl_loc at);
uint32_t pl_node_unary(pl_parse *p, int op, uint32_t a, pl_loc at);
uint32_t pl_node_binary(pl_parse *p, int op, uint32_t a, uint32_t b, pl_loc at);
uint32_t pl_node_pair(pl_parse *p, uint32_t a, uint32_t b, pl_loc at);
uint32_t pl_node_ternary(pl_parse *p, uint32_t c, uint32_t a, uint32_t b, pl_loc at);
uint32_t pl_node_cast(pl_parse *p, pl_sym *type, uint32_t a, pl_loc at);
uint32_t pl_node_call(pl_parse *p, uint32_t what, uint32_t arg, pl_loc at);
/* Lists are built element by element: 0 is the empty list. The node created by the first call
 * represents the list. */
uint32_t pl_node_list(pl_parse *p, uint32_t list, uint32_t elem);
uint32_t pl_node_close(pl_parse *p, pl_node_kind kind, uint32_t list, pl_loc at);
/* The value of a constant expression; otherwise reports an error and returns false. */
bool pl_node_int(pl_parse *p, uint32_t node, const char *what, int64_t *out);
uint64_t pl_float_bits(double value, pl_word type, bool single, uint32_t single_bits);
void pl_nodes_reset(pl_parse *p);

/* module.c: directives of the module and of functions */
void pl_module_version(pl_parse *p, const pl_number *n, pl_loc at);
void pl_module_target(pl_parse *p, pl_sym *s, pl_loc at);
void pl_module_target_done(pl_parse *p, pl_loc at);
void pl_module_address_size(pl_parse *p, const pl_number *n, pl_loc at);
void pl_module_file(pl_parse *p, const pl_number *index, const char *path, uint32_t n, pl_loc at);
void pl_module_alias(pl_parse *p, pl_sym *a, pl_loc a_at, pl_sym *b, pl_loc b_at);
void pl_module_end(pl_parse *p);
bool pl_module_started(pl_parse *p, pl_loc at);
/* The first error of a module with a newer version may be due to a feature of that version. `from`
 * is the index of the module's first diagnostic. */
void pl_module_suggest_version(pl_parse *p, size_t from);
void pl_module_intermediate(pl_parse *p, pl_loc at);
void pl_linkage_add(pl_parse *p, pl_linkage l, pl_loc at);
/* debug_section.c: the text between .section and its closing brace. */
void pl_section_check(pl_parse *p, const char *text, size_t n, const char *line_start,
                      uint32_t line);
void pl_parse_hash_line(pl_parse *p, const char *text, size_t n, pl_loc at);
const char *pl_parse_show_byte(pl_parse *p, unsigned char c);
/* The same for a character outside ASCII; bytes that are not UTF-8 are shown as bytes. */
const char *pl_parse_show_character(pl_parse *p, const char *s, const char *end);
/* True if the module's .version and .target allow it; otherwise reports that `what` requires them.
 */
bool pl_module_needs(pl_parse *p, pl_loc at, const char *what, unsigned ptx, const char *target);
/* The same for a directive, with the version and target of its table. */
void pl_directive_needs(pl_parse *p, pl_loc at, const char *name);

/* declaration.c: registers, variables, parameters, initialisers */
void pl_decl_begin(pl_parse *p, pl_space space, pl_loc at);
void pl_decl_word(pl_parse *p, pl_sym *s, pl_loc at);
void pl_decl_align(pl_parse *p, const pl_number *n, pl_loc at);
void pl_decl_ptr(pl_parse *p, pl_loc at);
void pl_decl_space(pl_parse *p, pl_space space, pl_loc at);
void pl_decl_hidden(pl_parse *p, pl_loc at);
void pl_decl_bank(pl_parse *p, pl_loc at);
/* `list`: node of its numbers; 0: none. */
void pl_decl_attribute(pl_parse *p, pl_sym *s, uint32_t list, pl_loc at);
void pl_decl_dim(pl_parse *p, uint32_t node, pl_loc at);
void pl_decl_reg(pl_parse *p, pl_sym *s, pl_loc at);
void pl_decl_range(pl_parse *p, pl_sym *s, const pl_number *count, pl_loc at, pl_loc count_at);
void pl_decl_var(pl_parse *p, pl_sym *s, pl_loc at); /* s NULL: `_` in a prototype */
void pl_decl_vars(pl_parse *p, pl_sym *stem, const pl_number *count, pl_loc at);
void pl_decl_var_done(pl_parse *p, pl_loc at);
void pl_decl_param(pl_parse *p, pl_sym *s, pl_loc at);
void pl_init_begin(pl_parse *p, pl_loc at);
void pl_init_open(pl_parse *p, pl_loc at);
void pl_init_close(pl_parse *p, pl_loc at);
void pl_init_value(pl_parse *p, uint32_t node);
void pl_init_string(pl_parse *p, const char *text, uint32_t n, pl_loc at);
void pl_init_property(pl_parse *p, pl_sym *name, uint32_t node, pl_loc at);
void pl_init_end(pl_parse *p, pl_loc at);

/* function.c: functions and their directives */
/* The difference between two declarations of a function, or NULL. */
const char *pl_func_difference(const pl_func *a, const pl_func *b);
void pl_func_begin(pl_parse *p, bool entry, pl_loc at);
void pl_func_name(pl_parse *p, pl_sym *s, pl_loc at);
void pl_func_perf(pl_parse *p, pl_sym *s, uint32_t list, pl_loc at);
/* .language, and each of its names and numbers; they have no effect. */
void pl_func_language(pl_parse *p, pl_loc at);
void pl_func_language_name(pl_parse *p, const char *text, size_t n, pl_loc at);
void pl_func_language_number(pl_parse *p, const pl_number *n, pl_loc at);
void pl_func_prototype(pl_parse *p, pl_loc at);
void pl_func_body(pl_parse *p, pl_loc at);
void pl_func_end(pl_parse *p, pl_loc at);
/* After a syntax error in the head: the body is parsed nevertheless. */
void pl_func_broken(pl_parse *p);
void pl_func_abandon(pl_parse *p);
void pl_module_abandon(pl_parse *p);
void pl_func_pragma(pl_parse *p, const char *text, uint32_t n, pl_loc at);
void pl_table_begin(pl_parse *p, pl_sym *label, int kind, pl_loc at);
void pl_table_add(pl_parse *p, pl_sym *s, pl_loc at);
void pl_table_end(pl_parse *p);

/* statement.c: instructions */
void pl_stmt_words(pl_parse *p);
/* Looks up the n bytes of text in the opcode cache. Returns the name, with the words set as if just
 * read, or NULL. */
pl_sym *pl_stmt_cache_lookup(pl_parse *p, const char *text, size_t n);
/* Adds the instruction that was just read to the opcode cache. */
void pl_stmt_cache_add(pl_parse *p, const char *text, size_t n, pl_sym *name);
void pl_stmt_word(pl_parse *p, pl_sym *s, pl_loc at);
void pl_stmt_insn(pl_parse *p, pl_sym *guard, bool neg, pl_loc guard_at, pl_sym *opcode, pl_loc at,
                  uint32_t operands);
/* The attributes of .loc: function_name NAME, inlined_at FILE LINE COLUMN. */
void pl_stmt_inlined(pl_parse *p, pl_sym *function_name, pl_loc function_name_at, pl_sym *name,
                     pl_loc name_at, pl_sym *inlined_at, pl_loc inlined_at_at,
                     const pl_number *file, const pl_number *line, const pl_number *column,
                     pl_loc at);
void pl_stmt_loc_intermediate(pl_parse *p, const pl_number *file, const pl_number *line,
                              const pl_number *column, pl_loc at);
void pl_stmt_loc(pl_parse *p, const pl_number *file, const pl_number *line, const pl_number *column,
                 pl_loc at);
/* call_check.c: true for a variable of more than one element, or of unspecified length. */
bool pl_is_array(const pl_var *v);
/* call_check.c: true if the arguments of a call match the function; always true for other
 * instructions. */
bool pl_call_check(pl_parse *p, const pl_form *form, pl_operand_draft *op, pl_loc at);

#endif
