/* grammar.h - PTX generated from the instruction table: statements and complete modules, valid
 * and nearly valid.
 *
 * A statement consists of a form of the table, words for its groups and operands of the required
 * kinds. Then, usually, one or two errors typical of people and compilers are introduced: a
 * register of another type, a constant out of range, an extra, missing or misplaced word. The
 * generator does not know whether the result is valid: ptxas does (tools/ptxas), and the fuzzers
 * only require an answer. */
#ifndef PL_TESTS_GRAMMAR_H
#define PL_TESTS_GRAMMAR_H

#include <stddef.h>
#include <stdint.h>

typedef struct grammar {
    uint64_t state;
    char *at; /* the text so far; grows on demand */
    size_t n, cap;
} grammar;

/* A random number below n (splitmix64). */
size_t grammar_below(grammar *g, size_t n);
void grammar_add(grammar *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
void grammar_free(grammar *g);

/* The declarations that statements refer to, up to and including the opening brace of the kernel's
 * body. `version` is 78 for 7.8: declarations of types that the version lacks are omitted. */
void grammar_frame(grammar *g, unsigned version, const char *target);
/* One statement, ended by ';'. */
void grammar_statement(grammar *g);
/* For each operand of a form, with new random words each time, generates the valid statement except
 * for this operand, which is each kind of register, constant, name ... in turn. Invokes the
 * callback with every statement. */
void grammar_probe(grammar *g, unsigned form, void (*statement)(grammar *g, void *ctx), void *ctx);
/* A complete module with directives, declarations, functions and calls. */
void grammar_module(grammar *g, unsigned version, const char *target);

#endif
