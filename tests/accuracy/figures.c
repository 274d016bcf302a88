/* figures.c - see figures.h. */
#include "tests/accuracy/figures.h"

#include "tests/harness.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLACK 0.1 /* committed figures have one decimal */

void figures_add(figures *f, double value, const char *fmt, ...)
{
    if (f->n == f->cap) {
        f->cap = f->cap ? 2 * f->cap : 64;
        f->at = realloc(f->at, f->cap * sizeof *f->at);
        if (!f->at) exit(EXIT_FAILURE);
    }
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f->at[f->n].name, sizeof f->at[f->n].name, fmt, ap);
    va_end(ap);
    f->at[f->n++].value = value;
}

static const struct figure *find(const figures *f, const char *name)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->at[i].name, name) == 0) return &f->at[i];
    return NULL;
}

static figures committed(void)
{
    figures f = {0};
    char *path = data_path("accuracy.tsv");
    table t = table_read(path);
    for (size_t i = 0; i < t.rows; i++)
        figures_add(&f, strtod(t.row[i][table_column(&t, "value")], NULL), "%s",
                    t.row[i][table_column(&t, "figure")]);
    table_free(&t);
    free(path);
    return f;
}

size_t figures_check(const figures *f)
{
    figures old = committed();
    size_t worse = 0;
    for (size_t i = 0; i < f->n; i++) {
        const struct figure *was = find(&old, f->at[i].name);
        if (!was || f->at[i].value <= was->value + SLACK) continue;
        printf("worse: %s is %.1f, was %.1f\n", f->at[i].name, f->at[i].value, was->value);
        worse++;
    }
    figures_free(&old);
    return worse;
}

bool figures_update(const figures *f)
{
    figures all = committed();
    for (size_t i = 0; i < f->n; i++) {
        const struct figure *was = find(&all, f->at[i].name);
        if (was)
            all.at[was - all.at].value = f->at[i].value;
        else
            figures_add(&all, f->at[i].value, "%s", f->at[i].name);
    }
    char *path = data_path("accuracy.tsv");
    FILE *out = fopen(path, "w");
    bool ok = out != NULL;
    if (out) {
        fprintf(out, "#figure\tvalue\n");
        for (size_t i = 0; i < all.n; i++)
            fprintf(out, "%s\t%.1f\n", all.at[i].name, all.at[i].value);
        ok = fclose(out) == 0;
    }
    free(path);
    figures_free(&all);
    return ok;
}

void figures_free(figures *f)
{
    free(f->at);
    *f = (figures){0};
}
