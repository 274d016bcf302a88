/* figures.h - accuracy figures that are committed (tests/data/accuracy.tsv) and must not get
 * worse. */
#ifndef PL_TESTS_FIGURES_H
#define PL_TESTS_FIGURES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct figures {
    struct figure {
        char name[96];
        double value; /* lower is better */
    } * at;
    size_t n, cap;
} figures;

void figures_add(figures *f, double value, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Compares with the committed figures and reports those that got worse; returns their number. Names
 * that are not committed do not count. */
size_t figures_check(const figures *f);
/* Writes them into the committed file, which keeps those of other programs. Returns false if it
 * cannot be written. */
bool figures_update(const figures *f);
void figures_free(figures *f);

#endif
