/* nearest.c - "did you mean": the word that takes the fewest single-letter changes. */
#include "lib/internal.h"
#include <string.h>

enum { MAX_WORD = 63 };

/* Insertions, deletions, replacements and swaps of neighbours that turn a into b (restricted
 * Damerau-Levenshtein). */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb)
{
    unsigned row[3][MAX_WORD + 1];
    for (size_t j = 0; j <= nb; j++) row[0][j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        unsigned *now = row[i % 3], *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            unsigned best = before[j - 1] + (a[i - 1] != b[j - 1]);
            if (before[j] + 1 < best) best = before[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                earlier[j - 2] + 1 < best)
                best = earlier[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[na % 3][nb];
}

const char *pl_nearest(const char *word, const char *const *words, size_t n)
{
    size_t len = strlen(word);
    const char *best = NULL;
    unsigned least = (unsigned)(len < 3 ? 1 : 1 + len / 3) + 1;
    if (len > MAX_WORD) return NULL;
    for (size_t i = 0; i < n; i++) {
        size_t other = strlen(words[i]);
        if (other > MAX_WORD) continue;
        unsigned d = distance(word, len, words[i], other);
        if (d < least && d < (other > len ? other : len)) {
            least = d;
            best = words[i];
        }
    }
    return best;
}
