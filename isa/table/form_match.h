/* form_match.h - finds the forms of the instruction table that match the words after a mnemonic,
 * and diagnoses the error if none does.
 *
 * Words may come in any order, as in NVIDIA's assembler; type words fill a form's type slots from
 * left to right. Operands are not considered here: a set of words may fit several forms that differ
 * only in their operands. Results are cached, so a module pays for each distinct instruction once.
 */
#ifndef PL_ISA_TABLE_FORM_MATCH_H
#define PL_ISA_TABLE_FORM_MATCH_H

#include "base/arena.h"
#include "base/nearest.h"
#include "isa/table/form.h"

typedef struct pl_match_word {
    pl_word word;     /* W_none: not a word of any form */
    const char *text; /* without the dot; not owned */
    size_t len;
} pl_match_word;

typedef enum pl_mismatch {
    PL_MISMATCH_NONE,
    PL_MISMATCH_UNKNOWN,         /* words[index] is not a PTX modifier */
    PL_MISMATCH_NOT_OF_MNEMONIC, /* words[index] is a modifier, but not of this instruction */
    PL_MISMATCH_COMBINATION,     /* words[index] cannot be combined with the other words */
    PL_MISMATCH_DUPLICATE,       /* words[index] is repeated, or a second word of the same list */
    PL_MISMATCH_ORDER,           /* words[index] must directly follow the name of the instruction */
    PL_MISMATCH_MISSING,         /* one of the words `required` is required */
    PL_MISMATCH_CONSTRAINT,      /* the words fit `form`, but violate a condition: `message` */
    PL_MISMATCH_VERSION          /* the words fit `form`, but it requires `ptx` and `target` */
} pl_mismatch;

enum { PL_MAX_REQUIRED = 16 };

typedef struct pl_match {
    const pl_choice *at; /* the matching forms, n of them */
    unsigned n;
    pl_mismatch mismatch; /* when n == 0 */
    unsigned index;
    const pl_form *form; /* the nearest one; NULL if the instruction has none */
    const char *message;
    uint16_t required[PL_MAX_REQUIRED];
    unsigned nrequired;
    unsigned ptx;       /* 78 = 7.8 */
    const char *target; /* as in the table: "sm_90", "sm_100a|sm_120a" */
} pl_match;

typedef struct pl_matcher pl_matcher;

pl_matcher *pl_matcher_new(pl_arena *arena); /* NULL when memory is exhausted */
/* Sets the module's .version and .target; clears the cache. */
void pl_matcher_target(pl_matcher *m, unsigned ptx, unsigned sm, char suffix);
const pl_match *pl_match_words(pl_matcher *m, int mnem, const pl_match_word *words, unsigned n);

/* True if sm_SM with this suffix supports the features of `target`. sm_90: it and all later;
 * sm_90a: it alone; sm_100f: its family. */
bool pl_target_has(unsigned sm, char suffix, const char *target);
/* "sm_90 or newer", "sm_100a or sm_120a" */
const char *pl_target_text(pl_arena *arena, const char *target);
/* The closest word to `text` among the words of this mnemonic's forms; NULL if none is close. */
const char *pl_match_suggest(int mnem, const char *text, size_t n);
/* The same among instruction names. */
const char *pl_match_suggest_mnem(const char *text, size_t n);
/* "did you mean '.u32'?" among types, or NULL. */
const char *pl_match_suggest_type(pl_arena *arena, const char *text, size_t n);

#endif
