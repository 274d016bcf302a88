/* nearest.h - "did you mean": the known word that somebody who wrote another one probably meant. */
#ifndef PL_BASE_NEAREST_H
#define PL_BASE_NEAREST_H

#include <stddef.h>

/* Single-letter insertions, deletions, replacements and swaps of neighbours that turn a (n bytes)
 * into b (m bytes). The result is limit + 1 as soon as it must be more than limit, and for words of
 * 64 bytes or more. */
unsigned pl_edit_distance(const char *a, size_t n, const char *b, size_t m, unsigned limit);
/* How many changes a word of n letters may take and still be recognised. */
unsigned pl_edit_reach(size_t n);
/* The one of n words that is nearest to `word` and within reach, or NULL. */
const char *pl_nearest(const char *word, const char *const *words, size_t n);

#endif
