/* form_match.h - which forms of the instruction table fit the words after a mnemonic, and what is
 * wrong when none does.
 *
 * Words may come in any order, as in NVIDIA's assembler; type words fill a form's type slots from
 * left to right. Operands are not looked at here: a set of words may fit several forms that differ
 * in their operands only. Answers are remembered, so a module pays for each distinct instruction
 * once. */
#ifndef PL_ISA_TABLE_FORM_MATCH_H
#define PL_ISA_TABLE_FORM_MATCH_H

#include "base/arena.h"
#include "base/nearest.h"
#include "isa/table/form.h"

typedef struct pl_match_word {
    pl_word word;     /* W_none: a word of no form at all */
    const char *text; /* without the dot; not owned */
    size_t len;
} pl_match_word;

typedef enum pl_mismatch {
    PL_MISMATCH_NONE,
    PL_MISMATCH_UNKNOWN,         /* words[index] is no modifier of PTX */
    PL_MISMATCH_NOT_OF_MNEMONIC, /* words[index] is a modifier, but of no form of this instruction
                                  */
    PL_MISMATCH_COMBINATION,     /* words[index] does not go with the other words */
    PL_MISMATCH_DUPLICATE,       /* words[index] repeats, or a second word of the same list */
    PL_MISMATCH_ORDER,           /* words[index] must follow the name of the instruction directly */
    PL_MISMATCH_MISSING,         /* one of the words `wanted` is needed */
    PL_MISMATCH_CONSTRAINT,      /* the words fit `form`, but `message` */
    PL_MISMATCH_VERSION          /* the words fit `form`, but it needs `ptx` and `target` */
} pl_mismatch;

enum { PL_MAX_WANTED = 16 };

typedef struct pl_match {
    const pl_choice *at; /* the forms that fit, n of them */
    unsigned n;
    pl_mismatch mismatch; /* when n == 0 */
    unsigned index;
    const pl_form *form; /* the nearest one; NULL when the instruction has none */
    const char *message;
    uint16_t wanted[PL_MAX_WANTED];
    unsigned nwanted;
    unsigned ptx;       /* 78 = 7.8 */
    const char *target; /* as in the table: "sm_90", "sm_100a|sm_120a" */
} pl_match;

typedef struct pl_matcher pl_matcher;

pl_matcher *pl_matcher_new(pl_arena *arena); /* NULL when memory is exhausted */
/* The module's .version and .target; forgets earlier answers. */
void pl_matcher_target(pl_matcher *m, unsigned ptx, unsigned sm, char suffix);
const pl_match *pl_match_words(pl_matcher *m, int mnem, const pl_match_word *words, unsigned n);

/* Does sm_SM with this suffix have what `target` stands for? sm_90: it and all later; sm_90a: it
 * alone; sm_100f: its family. */
bool pl_target_has(unsigned sm, char suffix, const char *target);
/* "sm_90 or newer", "sm_100a or sm_120a" */
const char *pl_target_text(pl_arena *arena, const char *target);
/* A word that `text` may have been meant for, among the words of this mnemonic's forms; NULL when
 * nothing is close. */
const char *pl_match_suggest(int mnem, const char *text, size_t n);
/* The same among the names of instructions. */
const char *pl_match_suggest_mnem(const char *text, size_t n);
/* "did you mean '.u32'?" among types, or NULL. */
const char *pl_match_suggest_type(pl_arena *arena, const char *text, size_t n);

#endif
