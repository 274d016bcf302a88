/* nearest.h - "did you mean": finds the known word that is closest to an unknown one. */
#ifndef PL_BASE_NEAREST_H
#define PL_BASE_NEAREST_H

#include <stddef.h>

typedef struct pl_arena pl_arena;

/* Number of single-letter insertions, deletions, replacements and transpositions of neighbours that
 * turn a (n bytes) into b (m bytes). The result is limit + 1 as soon as it must exceed limit, and
 * for words of 64 bytes or more. */
unsigned pl_edit_distance(const char *a, size_t n, const char *b, size_t m, unsigned limit);
/* The number of changes after which a word of n letters is still recognised. */
unsigned pl_edit_limit(size_t n);
/* The nearest of n words to `word` within reach, or NULL. */
const char *pl_nearest(const char *word, const char *const *words, size_t n);
/* The path of the file in the same folder whose name is nearest to that of a missing one, or
 * NULL. */
const char *pl_nearest_file(pl_arena *a, const char *path);

#endif
