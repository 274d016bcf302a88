/* nearest.c - restricted Damerau-Levenshtein distance, and the search for the nearest word. */
#include "base/nearest.h"
#include "base/arena.h"
#include <ctype.h>
#include <dirent.h>
#include <string.h>

enum { MAX_WORD = 63 };

static unsigned min_of(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* 1 if two letters differ; upper and lower case are equal. */
static unsigned differ(char a, char b)
{
    return tolower((unsigned char)a) != tolower((unsigned char)b);
}

unsigned pl_edit_distance(const char *a, size_t n, const char *b, size_t m, unsigned limit)
{
    unsigned row[3][MAX_WORD + 1];
    size_t length_difference = n > m ? n - m : m - n;
    if (length_difference > limit || n > MAX_WORD || m > MAX_WORD) return limit + 1;
    for (size_t j = 0; j <= m; j++) row[0][j] = (unsigned)j;
    unsigned last = 0; /* the smallest entry of the previous row: two consecutive rows above the
                          limit can never fall below it again */
    for (size_t i = 1; i <= n; i++) {
        unsigned *now = row[i % 3], *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];
        unsigned smallest = now[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned cost = before[j - 1] + differ(a[i - 1], b[j - 1]);
            cost = min_of(cost, min_of(before[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && !differ(a[i - 1], b[j - 2]) && !differ(a[i - 2], b[j - 1]))
                cost = min_of(cost, earlier[j - 2] + 1);
            now[j] = cost;
            smallest = min_of(smallest, cost);
        }
        if (smallest > limit && last > limit) return limit + 1;
        last = smallest;
    }
    return min_of(row[n % 3][m], limit + 1);
}

unsigned pl_edit_limit(size_t n)
{
    return n < 3 ? 0 : n < 5 ? 1 : n < 9 ? 2 : 3;
}

const char *pl_nearest(const char *word, const char *const *words, size_t n)
{
    size_t len = strlen(word);
    /* Word lists are short: a two-letter word with one letter wrong or missing is still identified.
     */
    unsigned best = (len == 2 ? 1 : pl_edit_limit(len)) + 1;
    const char *found = NULL;
    for (size_t i = 0; i < n; i++) {
        unsigned d = pl_edit_distance(word, len, words[i], strlen(words[i]), best);
        if (d >= best) continue;
        best = d;
        found = words[i];
    }
    return found;
}

const char *pl_nearest_file(pl_arena *a, const char *path)
{
    enum { MAX_FILES = 4096 };
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *found = NULL;
    const size_t length = strlen(name);
    unsigned best = pl_edit_limit(length) + 1;
    DIR *folder = opendir(slash ? pl_arena_strndup(a, path, (size_t)(name - path)) : ".");
    const struct dirent *file;
    for (int n = 0; folder && best && n < MAX_FILES && (file = readdir(folder)) != NULL; n++) {
        const unsigned d =
            pl_edit_distance(name, length, file->d_name, strlen(file->d_name), best - 1);
        if (d >= best || file->d_name[0] == '.' || d == 0) continue;
        best = d;
        found = pl_arena_printf(a, "%.*s%s", (int)(name - path), path, file->d_name);
    }
    if (folder) closedir(folder);
    return found;
}
