/* grammar.h - PTX made from the instruction table: statements and whole modules, right and nearly
 * right.
 *
 * A statement takes a form of the table, words for its groups and operands of the kinds that it
 * asks for. Then, mostly, one or two places are made wrong in a way that people and compilers get
 * wrong. That is a register of another type, a constant beyond the range, a word too many, too few
 * or in another place. Nothing here knows whether the result is valid: ptxas does (tools/ptxas),
 * and the fuzzers only ask that the answer comes. */
#ifndef PL_TESTS_GRAMMAR_H
#define PL_TESTS_GRAMMAR_H

#include <stddef.h>
#include <stdint.h>

typedef struct grammar {
    uint64_t state;
    char *at; /* the text so far; grows */
    size_t n, cap;
} grammar;

/* A random number below n (splitmix64). */
size_t grammar_below(grammar *g, size_t n);
void grammar_add(grammar *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
void grammar_free(grammar *g);

/* The declarations that statements refer to, up to and including the opening brace of the kernel's
 * body. `version` is 78 for 7.8: what a version has no type for is left out. */
void grammar_frame(grammar *g, unsigned version, const char *target);
/* One statement, ended by ';'. */
void grammar_statement(grammar *g);
/* For each operand of a form, and with words chosen anew each time, the statement as the table
 * means it but for this operand, which is each kind of register, constant, name ... in turn. Calls
 * back with every statement. */
void grammar_probe(grammar *g, unsigned form, void (*statement)(grammar *g, void *ctx), void *ctx);
/* A whole module with directives, declarations, functions and calls. */
void grammar_module(grammar *g, unsigned version, const char *target);

#endif
