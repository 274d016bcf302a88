/* assembled.h - assembles one kernel at -O2, for tests of the limits of the passes.
 *
 * The kernels are generated for each length, number of values or number of registers. A test name
 * begins with the name of its pass. Results of passes on a few lines are data:
 * tests/passes/PASS/NAME.ptx. That results of kernels are unchanged is tested elsewhere, at both
 * levels: tests/ptx/exec, the vectors and the suite. */
#ifndef PL_TESTS_UNIT_ASSEMBLED_H
#define PL_TESTS_UNIT_ASSEMBLED_H

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "lib/internal.h"

/* Of the kernel that was assembled last: */
static char listing[131072];
static uint32_t registers; /* per thread */
static unsigned constants; /* loads from constant memory, except those that are operands */
static unsigned by_unit;   /* conversions between integers and floating point executed by the XU */

/* Assembles a kernel with parameters p (u64), q (u64), n (u32), registers %r %d %f %p and this
 * body, after these functions. Returns the listing. */
static inline const char *assemble_with_functions(const char *functions, const char *body)
{
    static char text[65536];
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_90a\n.address_size 64\n%s"
             ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)\n{\n"
             ".reg .pred %%p<8>;\n.reg .b32 %%r<32>;\n.reg .b64 %%d<32>;\n.reg .f32 %%f<32>;\n"
             ".shared .align 16 .b8 s[1024];\n.const .align 8 .b8 c[96];\n"
             "ld.param.u64 %%d1, [p];\nld.param.u64 %%d2, [q];\nld.param.u32 %%r1, [n];\nmov.u32 "
             "%%r2, %%tid.x;\n%s\nret;\n}\n",
             functions, body);
    pl_gpu *gpu = NULL;
    pl_module *m = NULL;
    ck_assert_int_eq(pl_gpu_open(&gpu, "h200"), PL_OK);
    ck_assert_int_eq(pl_module_load(gpu, "k.ptx", text, strlen(text), NULL, &m), PL_OK);
    size_t at = 0;
    listing[0] = 0;
    constants = by_unit = 0;
    registers = m->program->funcs.at[0].registers;
    for (uint32_t pc = 0; pc < m->program->code.n; pc++) {
        const pl_insn *i = &m->program->code.at[pc];
        constants += pl_forms[i->form].mnem == M_ld && i->sel[PL_M_SPACE] == PL_SP_CONST &&
                     i->latency_class != C_free;
        by_unit += i->latency_class == C_cvt_f2i;
        pl_disasm(m->program, pc, listing + at, sizeof listing - at - 2);
        at = strlen(listing);
        listing[at++] = '\n';
        listing[at] = 0;
    }
    pl_module_close(m);
    pl_gpu_close(gpu);
    return listing;
}

static inline const char *assemble(const char *body)
{
    return assemble_with_functions("", body);
}

/* Occurrences of a text in the listing. */
static inline unsigned count(const char *what)
{
    unsigned n = 0;
    for (const char *s = listing; (s = strstr(s, what)); s += strlen(what)) n++;
    return n;
}

/* The same for the text before the first `end`, which must exist. */
static inline unsigned count_before(const char *what, const char *end)
{
    char *first = strstr(listing, end);
    ck_assert_ptr_nonnull(first);
    *first = 0;
    return count(what);
}

#endif
