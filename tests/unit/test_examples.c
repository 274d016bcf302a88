/* test_examples.c - every form of the instruction table has an example that `ptxloom explain`
 * shows; the example is of that form and assembles. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/table/form.h"
#include "ptx/ast.h"
#include "ptxloom.h"

static const struct {
    const char *syntax, *version, *target, *statement;
} examples[] = {
#define FORM_EXAMPLE(...) {__VA_ARGS__},
#include "isa/table/form_examples.def"
#undef FORM_EXAMPLE
};
enum { EXAMPLES = sizeof examples / sizeof *examples };

/* The module around a statement. PTX 8.3 introduced 128-bit registers. */
static size_t module(unsigned k, char *text, size_t size)
{
    return (size_t)snprintf(
        text, size,
        ".version %s\n.target %s\n.address_size 64\n.global .align 16 .b32 gvar[64];\n.const "
        ".align 16 .b32 cvar[64];\n"
        ".func foo() { ret; }\n.func (.reg .b32 rv) bar(.reg .b32 x) { mov.b32 rv, x; ret; }\n"
        ".visible .entry k(.param .u64 pa) {\n.shared .align 16 .b32 svar[64];\n"
        ".reg .pred %%p<10>; .reg .b8 %%c<10>; .reg .b16 %%rs<10>; .reg .b32 %%r<10>; .reg .b64 "
        "%%rd<10>;\n"
        ".reg .f32 %%f<10>; .reg .f64 %%fd<10>; %s\n%s\nL9: ret;\n}\n",
        examples[k].version, examples[k].target,
        atof(examples[k].version) > 8.2 ? ".reg .b128 %rq<10>;" : "", examples[k].statement);
}

/* The first instruction of the kernel has the form that the example illustrates. */
START_TEST(examples_are_of_their_forms)
{
    char text[8192];
    for (unsigned k = 0; k < EXAMPLES; k++) {
        size_t n = module(k, text, sizeof text);
        pl_arena *a = pl_arena_open();
        pl_diags d;
        pl_ast *ast = NULL;
        pl_diags_init(&d, a);
        pl_status st = pl_ptx_parse(a, &d, pl_diags_add_file(&d, "example", text, n),
                                    &(pl_parse_options){.lanes = PL_LANES}, &ast);
        ck_assert_msg(st == PL_OK, "%s: %s", examples[k].statement,
                      d.list.n ? pl_diag_render(&d, &d.list.at[0], false) : "");
        const pl_func *f = ast->funcs.at[ast->funcs.n - 1];
        ck_assert_str_eq(f->name, "k");
        ck_assert_str_eq(pl_forms[f->body.at[0].what->form].syntax, examples[k].syntax);
        pl_arena_close(a);
    }
}
END_TEST

START_TEST(examples_assemble)
{
    char text[8192];
    pl_gpu *gpu;
    for (unsigned k = 0; k < EXAMPLES; k++) {
        pl_module *m;
        size_t n = module(k, text, sizeof text);
        ck_assert_int_eq(pl_gpu_open(&gpu, NULL), PL_OK);
        pl_status st = pl_module_load(gpu, "example", text, n, NULL, &m);
        bool refused = st == PL_UNSUPPORTED ||
                       (st == PL_INVALID && !strcmp(pl_gpu_diag(gpu, 0, false).code, "E0801"));
        ck_assert_msg(st == PL_OK || refused, "%s: %s", examples[k].statement,
                      pl_gpu_diag_count(gpu) ? pl_gpu_diag(gpu, 0, false).rendered : "");
        pl_module_close(m);
        pl_gpu_close(gpu);
    }
}
END_TEST

START_TEST(every_form_has_an_example)
{
    unsigned missing = 0;
    for (unsigned f = 0; f < pl_nforms; f++) {
        bool found = pl_mnems[pl_forms[f].mnem].name[0] == '~';
        for (unsigned k = 0; k < EXAMPLES && !found; k++)
            found = !strcmp(examples[k].syntax, pl_forms[f].syntax);
        if (!found)
            fprintf(stderr, "isa/table/form_examples.def has no example of '%s'\n",
                    pl_forms[f].syntax);
        missing += !found;
    }
    ck_assert_uint_eq(missing, 0);
    pl_gpu *gpu;
    ck_assert_int_eq(pl_gpu_open(&gpu, NULL), PL_OK);
    ck_assert_ptr_nonnull(strstr(pl_explain(gpu, "shfl.sync"), "  example: shfl.sync"));
    pl_gpu_close(gpu);
}
END_TEST

UNIT_MAIN("examples", examples_are_of_their_forms, examples_assemble, every_form_has_an_example)
