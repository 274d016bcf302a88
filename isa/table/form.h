/* form.h - the instruction table as data: the output of isagen, and its look-up functions.
 *
 * A form is one syntax line of the PTX manual. Its modifiers are slots; each slot holds one word of
 * a list (or, when optional, none). pl_forms and everything it points to is constant. Nothing here
 * depends on the parsing of text or on the execution of lanes. */
#ifndef PL_ISA_TABLE_FORM_H
#define PL_ISA_TABLE_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/gen_words.h"

enum { PL_MAX_SLOTS = 16, PL_MAX_OPERANDS = 12 };

/* Kind of an operand in a form. */
typedef enum pl_okind {
    PL_K_VALUE, /* register, or immediate if read and not reg_only */
    PL_K_IMM,   /* constant expression */
    PL_K_ADDR,  /* [address] */
    PL_K_LABEL,
    PL_K_LABELS, /* name of a .branchtargets table */
    PL_K_FUNC,
    PL_K_ARGS,
    PL_K_RETS,
    PL_K_PROTO,
    PL_K_COORD,
    PL_K_OPAQUE, /* texture, sampler or surface: name or 64-bit register */
    PL_K_VAR     /* register or address of a name (mov, cvta) */
} pl_okind;

/* How an operand's type is derived from the type word it names. */
typedef enum pl_tmap { PL_T_SAME, PL_T_WIDE, PL_T_HALF, PL_T_INT, PL_T_BITS } pl_tmap;

typedef struct pl_ospec {
    const char *name;
    uint8_t kind; /* pl_okind */
    bool read, written, optional, sink_ok, reg_only, negatable;
    bool joined;                       /* follows the previous operand after '|' */
    uint8_t tmap;                      /* pl_tmap */
    uint16_t type;                     /* fixed type word when slot < 0 */
    int8_t slot;                       /* slot whose word is the type, or -1 */
    int8_t vslot;                      /* slot whose word (v2 v4 v8) is the vector length, or -1 */
    uint16_t count;                    /* fixed vector length, 0: scalar */
    int (*rule)(const uint16_t *mods); /* vector length by rule, or NULL */
    int64_t lo, hi;                    /* allowed immediates when lo <= hi */
} pl_ospec;

typedef struct pl_slot {
    uint16_t group;       /* pl_group; G_none for a required literal word */
    bool optional, type;  /* type: filled left to right */
    uint16_t n;           /* number of words */
    const uint16_t *word; /* not owned */
} pl_slot;

/* Besides the words, a condition may test the module's PTX version (e.g. 90 for 9.0) and target. */
typedef struct pl_where {
    bool (*holds)(const uint16_t *mods); /* NULL: always */
    const char *message;
} pl_where;

typedef struct pl_since {
    bool (*applies)(const uint16_t *mods); /* NULL: always */
    uint16_t ptx;                          /* 78 = PTX 7.8 */
    const char *target;                    /* "sm_90a" or alternatives "sm_100a|sm_120a" */
} pl_since;

typedef enum pl_effect_bits {
    PL_EF_LOAD = 1 << 0,
    PL_EF_STORE = 1 << 1,
    PL_EF_ATOMIC = 1 << 2,
    PL_EF_BARRIER = 1 << 3,
    PL_EF_BRANCH = 1 << 4,
    PL_EF_EXIT = 1 << 5,
    PL_EF_CALL = 1 << 6,
    PL_EF_ASYNC = 1 << 7,
    PL_EF_FENCE = 1 << 8,
    PL_EF_VOLATILE = 1 << 9, /* never removed or merged */
    PL_EF_CONVERGE = 1 << 10 /* whole-warp (_sync, .aligned) */
} pl_effect_bits;

typedef struct pl_form {
    uint16_t mnem; /* pl_mnem */
    uint8_t nslots, noperands;
    const pl_slot *slot;
    const pl_ospec *operand;
    uint8_t nwhere, nsince;
    const pl_where *where;
    const pl_since *since;
    uint16_t (*latency_class)(const uint16_t *mods); /* latency class */
    uint32_t effects;                                /* pl_effect_bits */
    bool relax;
    const char *unsupported; /* reason, or NULL if executable */
    const char *syntax;      /* "add{.rnd}{.ftz}{.sat}.f32 d, a, b" */
    const char *note;        /* or NULL */
    const char *file;        /* table file and line of the form */
    int line;
} pl_form;

/* A form with a word chosen for each slot, W_none when absent. */
typedef struct pl_choice {
    uint16_t form; /* index in pl_forms */
    uint16_t mods[PL_MAX_SLOTS];
} pl_choice;

typedef struct pl_mnem_info {
    const char *name, *title;
    uint16_t first, count; /* range in pl_forms */
} pl_mnem_info;

/* A special register (%tid ...): rows `sreg` of the table. */
typedef struct pl_sreg_info {
    const char *name; /* without % */
    uint16_t word, type;
    bool vector;  /* has .x .y .z (.w) */
    uint16_t ptx; /* first version, 78 = 7.8 */
    const char *target, *title;
} pl_sreg_info;

typedef struct pl_type_row {
    uint16_t word, bits;
    char kind; /* u s b f p */
} pl_type_row;

/* Units that the scheduler models; PL_SCHED_NONE: not modelled. */
typedef enum pl_sched_unit {
    PL_SCHED_ALU,
    PL_SCHED_HEAVY,
    PL_SCHED_FP64,
    PL_SCHED_XU,
    PL_SCHED_NONE
} pl_sched_unit;
/* How the issue stage of an SM treats an instruction. */
typedef enum pl_kind {
#define KIND(name, about) PL_KIND_##name,
#include "isa/table/class_kinds.def"
    PL_KIND_COUNT
} pl_kind;
enum { PL_EXCHANGES_BY_PIPES = UINT8_MAX }; /* pl_class_info.exchanges: 1 if a pipe performs them */
enum { PL_COST_NEVER = 21 }; /* pl_class_info.convert_cost: exceeds the limit of any body */

/* Properties of a latency class for compiler decisions and for the units of the SM: a row of
 * classes.isa. The columns are explained in isa/table/classes.md. */
typedef struct pl_class_info {
    uint16_t latency;  /* 0: the fixed latency of the target */
    uint16_t routine;  /* class; C_count: none */
    uint16_t price_as; /* class; C_count: none */
    uint8_t unit;      /* pl_sched_unit */
    uint8_t unit_cycles, temporaries;
    uint8_t unroll_cost; /* 0: from its operands */
    uint8_t convert_cost, sroa_cost, routine_cost, place_cost;
    uint8_t kind;      /* pl_kind */
    uint8_t exchanges; /* or PL_EXCHANGES_BY_PIPES */
    bool region_end, reads_late, no_copy, texture, counts_adu, counts_cbu, calls_routine;
} pl_class_info;

extern const pl_sreg_info pl_sregs[];
extern const unsigned pl_nsregs;
extern const pl_type_row pl_type_rows[];
extern const unsigned pl_ntypes;
extern const uint16_t pl_words_sorted[]; /* all words sorted by spelling */
extern const pl_form pl_forms[];
extern const unsigned pl_nforms;
enum { PL_IR_DEAD = PL_FORMS }; /* form of an instruction removed by a pass */
/* The most frequently queried data in dense arrays, by form; none for PL_IR_DEAD. */
extern const uint16_t pl_form_mnem[PL_FORMS + 1], pl_form_effects[PL_FORMS + 1];
extern const pl_mnem_info pl_mnems[]; /* sorted by name; index is pl_mnem */
extern const unsigned pl_nmnems;
extern const char *const pl_word_text[];  /* by pl_word, "" for W_none */
extern const char *const pl_group_text[]; /* by pl_group */
extern const char *const pl_class_text[]; /* by pl_class */
extern const pl_class_info pl_classes[];  /* by pl_class */

/* The word with this spelling, or W_none. */
pl_word pl_word_find(const char *s, size_t n);
/* Index of the mnemonic in pl_mnems, or -1. */
int pl_mnem_find(const char *s, size_t n);
extern const uint16_t pl_word_bits[W_count];
extern const char pl_word_kind[W_count];
/* Width in bits of a type word (pred: 1), 0 if the word is not a type. */
static inline int pl_type_bits(pl_word w)
{
    return pl_word_bits[w];
}
/* 'u' 's' 'b' 'f' (floating or packed floating) or 'p' for type words, else 0. */
static inline char pl_type_kind(pl_word w)
{
    return pl_word_kind[w];
}
/* The word in group g of these mods; W_none if absent or if the form has no such group. */
pl_word pl_mod(const pl_form *f, const uint16_t *mods, pl_group g);
pl_word pl_type_mapped(pl_word t, pl_tmap map);
/* Type word of operand k under these mods. */
static inline pl_word pl_operand_type(const pl_form *f, unsigned k, const uint16_t *mods)
{
    const pl_ospec *o = &f->operand[k];
    pl_word t = (pl_word)(o->slot >= 0 ? mods[o->slot] : o->type);
    return o->tmap == PL_T_SAME ? t : pl_type_mapped(t, (pl_tmap)o->tmap);
}
int pl_vector_length(const pl_ospec *o, const uint16_t *mods);
/* Registers in the brace vector of operand k; 0 for a scalar. */
static inline int pl_operand_count(const pl_form *f, unsigned k, const uint16_t *mods)
{
    const pl_ospec *o = &f->operand[k];
    return o->rule || o->vslot >= 0 ? pl_vector_length(o, mods) : o->count;
}

#endif
