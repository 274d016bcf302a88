/* generate.c - prints statements generated from the instruction table, one per row:
 * "version<TAB>target<TAB>statement".
 *
 *     tests/fuzz/generate SEED ROWS            statements for frames written by grammar_frame()
 *     tests/fuzz/generate --probe SEED VER TARGET   every operand of every form, replaced by each
 *       kind of operand
 *     tests/fuzz/generate --frame VER TARGET   that frame, with @STATEMENT@ in place of a
 *       statement
 *
 * tools/ptxas/judge.py passes them to NVIDIA's assembler. */
#include "tests/fuzz/grammar.h"

#include "isa/table/form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Half of the rows use few targets, so that one run of an assembler judges many. */
static const struct {
    unsigned version;
    const char *target;
} modules[] = {
    {90, "sm_90a"},  {90, "sm_90a"},  {90, "sm_100a"}, {90, "sm_100a"}, {90, "sm_120a"},
    {90, "sm_80"},   {90, "sm_75"},   {90, "sm_89"},   {90, "sm_90"},   {90, "sm_100"},
    {90, "sm_100f"}, {90, "sm_103a"}, {90, "sm_110a"}, {90, "sm_120f"}, {63, "sm_75"},
    {70, "sm_80"},   {74, "sm_80"},   {78, "sm_90"},   {80, "sm_90a"},  {83, "sm_90a"},
    {86, "sm_100a"}, {87, "sm_120a"}, {88, "sm_100f"}, {60, "sm_70"},   {50, "sm_60"},
    {32, "sm_30"},   {42, "sm_53"},   {23, "sm_20"},
};

typedef struct where {
    const char *version, *target;
} where;

static void print_row(grammar *g, void *ctx)
{
    const where *w = ctx;
    printf("%s\t%s\t%s\n", w->version, w->target, g->at);
}

int main(int argc, char **argv)
{
    grammar g = {0};
    if (argc == 4 && !strcmp(argv[1], "--frame")) {
        grammar_frame(&g, (unsigned)(strtod(argv[2], NULL) * 10 + 0.5), argv[3]);
        printf("%s@STATEMENT@\nL9: ret;\n}\n", g.at);
        grammar_free(&g);
        return EXIT_SUCCESS;
    }
    if (argc == 5 && !strcmp(argv[1], "--probe")) {
        where w = {argv[3], argv[4]};
        g.state = strtoull(argv[2], NULL, 10);
        for (unsigned f = 0; f < pl_nforms; f++) grammar_probe(&g, f, print_row, &w);
        grammar_free(&g);
        return EXIT_SUCCESS;
    }
    if (argc != 3) {
        fprintf(
            stderr,
            "usage: generate SEED ROWS | --probe SEED VERSION TARGET | --frame VERSION TARGET\n");
        return 2;
    }
    g.state = strtoull(argv[1], NULL, 10);
    for (unsigned long n = strtoul(argv[2], NULL, 10); n > 0; n--) {
        size_t m = grammar_below(&g, sizeof modules / sizeof *modules);
        g.n = 0;
        grammar_statement(&g);
        printf("%u.%u\t%s\t%s\n", modules[m].version / 10, modules[m].version % 10,
               modules[m].target, g.at);
    }
    grammar_free(&g);
    return EXIT_SUCCESS;
}
