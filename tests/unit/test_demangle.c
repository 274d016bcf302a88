/* test_demangle.c - names of functions as compute-sanitizer 2025.3 printed them on an H100. */
#include "tests/unit/unit.h"
#include "lib/demangle.h"

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

UNIT_MAIN("demangle", names)
