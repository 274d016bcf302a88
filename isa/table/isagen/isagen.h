/* isagen.h - reads the instruction table at build time and generates all derived files.
 *
 *     isagen OUTDIR isa/table/ptx.isa
 *
 * The format is described in isa/table/README.md. The program parses lines into forms and classes
 * (read.c, read_form.c, classes.c), checks them (check.c: an invalid table stops the build with
 * file and line), and writes gen_*.h and gen_*.c (write_*.c). It frees no memory before it exits.
 */
#ifndef PL_ISA_TABLE_ISAGEN_H
#define PL_ISA_TABLE_ISAGEN_H

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/program/insn.h"

enum {
    MAX_SLOTS = 16,
    MAX_OPS = 12,
    MAX_INLINE = PL_INLINE_OPERANDS,
    EXEC_FILES = 8,
    MAX_VARIANTS = 4096
};

/* ---- text.c ---- */

extern const char *cur_file; /* current file, for messages */
extern int cur_line, errors;

__attribute__((format(printf, 3, 4))) void fail(const char *file, int line, const char *fmt, ...);
/* Returns p; terminates if it is NULL. */
void *need(void *p);
char *copy(const char *s, size_t n);
char *dup(const char *s);
__attribute__((format(printf, 1, 2))) char *format(const char *fmt, ...);

typedef struct list {
    char **at;
    int n, cap;
} list;

void add(list *l, const char *s);
/* Index of the text, or -1. */
int find(const list *l, const char *s);
/* Index of the text, which is added if absent. */
int intern(list *l, const char *s);
/* Removes blanks at both ends; modifies the text in place. */
char *trim(char *s);
void split_words(const char *s, list *out);
/* "shared::cta" -> "shared__cta": a C name for a word. */
char *cname(const char *w);
/* True if `name` occurs in the text as a separate word. */
bool uses(const char *text, const char *name);

/* ---- contents of the table ---- */

typedef struct group {
    char *name;
    list words;
} group;

typedef struct rule { /* a value with a condition: class, since, where */
    char *value, *target, *cond;
    int line;
    const char *file;
} rule;

typedef struct rules {
    rule at[48];
    int n;
} rules;

typedef struct slot {
    char *group; /* "" for a required literal */
    bool optional, type;
    list words;
} slot;

typedef enum kind {
    K_VALUE,
    K_IMM,
    K_ADDR,
    K_LABEL,
    K_LABELS,
    K_FUNC,
    K_ARGS,
    K_RETS,
    K_PROTO,
    K_COORD,
    K_OPAQUE,
    K_VAR
} kind;
extern const char *const kind_text[]; /* by kind */

typedef struct operand {
    char *name;
    kind kind;
    bool read, written, optional, sink, reg_only, negatable, joined;
    int tmap; /* 0 same 1 wide 2 half 3 int 4 bits */
    char *type;
    int slot, vslot;
    int count;
    char *rule;
    long long lo, hi;
} operand;

typedef struct form {
    const char *file;
    int line;
    char *syntax, *mnem;
    slot slot[MAX_SLOTS];
    int nslots;
    operand op[MAX_OPS];
    int nops;
    group local[24];
    int nlocal;
    rules where, since, cls;
    list fast, effect;
    char *lane, *warp, *note, *unsupported;
    bool relax;
    struct insn *insn;
    int index;
    int spec[6], nspec; /* slots for which the generated code is specialised */
    int variants;
} form;

typedef struct insn {
    char *name, *title;
    const char *file;
    int line;
    form head; /* defaults: groups, rules and effects before the first form */
    int first, count;
} insn;

typedef struct type_info {
    char *name, *ctype;
    int bits;
    char kind;
} type_info;

typedef struct sreg_info {
    char *name, *type, *title, *target;
    int components, ptx;
} sreg_info;

/* A row of classes.isa. */
typedef struct class_row {
    char *name, *about, *sequence, *section;
    list columns; /* "latency=24", "region_end" */
    const char *file;
    int line;
} class_row;

extern list words, groups, classes, mnems, rule_names;
extern group global[128];
extern int nglobal;
extern form *forms;
extern int nforms, capforms;
extern insn *insns;
extern int ninsns, capinsns;
extern type_info types[80];
extern int ntypes;
extern sreg_info sregs[160];
extern int nsregs;

/* read.c */
void read_file(const char *path, int depth);
void read_rule(rules *rs, char *text, bool quoted);
void merge_rules(rules *to, const rules *from);
int version_number(const char *s);
const type_info *type_find(const char *name);
const group *group_find(const form *f, const char *name);
/* read_form.c */
void read_form_line(form *f, char *text);
/* Resolves slots and operands after the block with its groups has been read. */
void finish_form(form *f);
void read_block_line(form *f, char *text);
void read_group(group *g, char *name, char *rest);
/* classes.c: lines of classes.isa */
void read_class_line(char *rest);
void read_section_line(char *rest);
void read_text_line(char *rest);
void check_classes(void);
void write_classes(FILE *o);
void write_class_page(void);
/* condition.c: translates a condition over groups and words into a C expression over m[]. */
char *condition(const form *f, const char *text, const char *file, int line);
extern list cond_funcs; /* bodies; function number is the index */
/* Number of the rule's condition function; -1: unconditional. */
int cond_func(const form *f, const rule *r);
/* check.c */
void check_form(form *f);
int slot_choices(const slot *s);
/* write_forms.c */
extern const char *out_dir;
FILE *out_open(const char *name);
void c_string(FILE *o, const char *s);
int compare_names(const void *a, const void *b);
void write_words(void);
void write_forms(void);
/* write_exec.c */
void write_exec(void);

#endif
