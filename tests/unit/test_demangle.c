/* test_demangle.c - names of functions as compute-sanitizer 2025.3 printed them on an H100. */
#include "tests/unit/unit.h"
#include "lib/demangle.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *mangled, *name;
} cases[] = {
    {"plain", "plain"},
    {"_Z5scalePfi", "scale(float *, int)"},
    {"_Z5emptyv", "empty()"},
    {"_Z7copy_inPiPKijPy", "copy_in(int *, const int *, unsigned int, unsigned long long *)"},
    {"_Z9warp_treeILb0EEvPi", "void warp_tree<(bool)0>(int *)"},
    {"_Z11tiles_aheadILi2EEvPiPKi", "void tiles_ahead<(int)2>(int *, const int *)"},
    {"_ZN4cuda3ptx3__415mbarrier_arriveIvEEmPmRKj",
     "unsigned long cuda::ptx::__4::mbarrier_arrive<void>(unsigned long *, const unsigned int &)"},
    {"_ZN4cuda3__47barrierILNS_3std3__412thread_scopeE2ENS3_18__empty_completionEE6arriveEl",
     "cuda::__4::barrier<(cuda::std::__4::thread_scope)2, "
     "cuda::std::__4::__empty_completion>::arrive(long)"},
    {"_ZN4cuda3__48pipelineILNS_3std3__412thread_scopeE2EE15producer_commitEv",
     "cuda::__4::pipeline<(cuda::std::__4::thread_scope)2>::producer_commit()"},
    {"_Z4pairI6float2iEvPT_T0_PKS1_", "void pair<float2, int>(float2 *, int, const float2 *)"},
    {"_Z4signILin3EEvPPi", "void sign<(int)-3>(int **)"},
    {"_Z3fooIZ4mainEUlvE_EvT_", "_Z3fooIZ4mainEUlvE_EvT_"},
    {"_ZplRK1AS1_", "_ZplRK1AS1_"},
    {"_Z3", "_Z3"},
    {"_Z99x", "_Z99x"},
};

START_TEST(names)
{
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        pl_arena *a = pl_arena_open();
        ck_assert_str_eq(pl_demangle(a, cases[n].mangled), cases[n].name);
        pl_arena_close(a);
    }
}
END_TEST

/* Each argument is a template of its predecessor, twice. An argument adds two substitutions. */
START_TEST(exponential_name)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char name[1024] = "_Z1fI1aI1b1bE";
    for (unsigned k = 1; k < 28; k++) {
        const unsigned last = 2 * k + 1;
        char code[3] = {digits[last % 36], '\0', '\0'}, one[32];
        if (last >= 36) snprintf(code, sizeof code, "1%c", digits[last % 36]);
        snprintf(one, sizeof one, "1aIS%s_S%s_E", code, code);
        strcat(name, one);
    }
    strcat(name, "EvT_");
    pl_arena *a = pl_arena_open();
    ck_assert_str_eq(pl_demangle(a, name), name);
    ck_assert_uint_lt(pl_arena_bytes(a), 1 << 22);
    pl_arena_close(a);
}
END_TEST

START_TEST(deeply_nested_packs)
{
    enum { DEPTH = 1000000 };
    char *name = malloc(DEPTH + 8);
    ck_assert_ptr_nonnull(name);
    strcpy(name, "_Z1fI");
    memset(name + 5, 'J', DEPTH);
    name[5 + DEPTH] = '\0';
    pl_arena *a = pl_arena_open();
    ck_assert_ptr_eq(pl_demangle(a, name), name);
    pl_arena_close(a);
    free(name);
}
END_TEST

UNIT_MAIN("demangle", names, exponential_name, deeply_nested_packs)
