/* test_glossary.c - each term of doc/glossary.md is explained, in short sentences. */
#include <string.h>

#include "lib/glossary.h"
#include "ptxloom.h"
#include "tests/unit/unit.h"

START_TEST(each_term_is_explained)
{
    pl_gpu *gpu;
    size_t n = 0;
    ck_assert_int_eq(pl_gpu_open(&gpu, NULL), PL_OK);
    for (const pl_glossary_entry *e = pl_glossary; e->term; e++, n++) {
        const char *text = pl_explain(gpu, e->term);
        ck_assert_msg(text && strncmp(text, e->term, strlen(e->term)) == 0, "%s: %s", e->term,
                      text ? text : "nothing");
    }
    ck_assert_uint_ge(n, 80);
    pl_gpu_close(gpu);
}
END_TEST

START_TEST(terms_are_found_in_other_spellings)
{
    static const char *const spelling[] = {"Bank conflicts", "bank_conflict", "if conversion",
                                           "licm",           "mshr",          "warps"};
    pl_gpu *gpu;
    ck_assert_int_eq(pl_gpu_open(&gpu, NULL), PL_OK);
    for (size_t k = 0; k < sizeof spelling / sizeof *spelling; k++) {
        const char *text = pl_explain(gpu, spelling[k]);
        ck_assert_msg(text != NULL, "%s", spelling[k]);
    }
    ck_assert_ptr_null(pl_explain(gpu, "warpss"));
    pl_gpu_close(gpu);
}
END_TEST

/* By name, in any case, of the runtime and of the driver, and by number. */
START_TEST(errors_of_cuda_programs_are_explained)
{
    static const char *const topic[] = {"cudaErrorIllegalAddress", "CUDA_ERROR_ILLEGAL_ADDRESS",
                                        "cuda_error_illegal_address", "700"};
    pl_gpu *gpu;
    ck_assert_int_eq(pl_gpu_open(&gpu, NULL), PL_OK);
    for (size_t k = 0; k < sizeof topic / sizeof *topic; k++) {
        const char *text = pl_explain(gpu, topic[k]);
        ck_assert_msg(text != NULL, "%s", topic[k]);
        ck_assert_msg(strstr(text, "cudaErrorIllegalAddress (700)") != NULL, "%s", text);
        ck_assert_msg(strstr(text, "past the end of an array") != NULL, "%s", text);
    }
    ck_assert_ptr_nonnull(pl_explain(gpu, "CUDA_ERROR_INVALID_SOURCE")); /* no cause is listed */
    ck_assert_ptr_null(pl_explain(gpu, "4711"));
    pl_gpu_close(gpu);
}
END_TEST

START_TEST(sentences_are_short)
{
    for (const pl_glossary_entry *e = pl_glossary; e->term; e++) {
        unsigned words = 1;
        const size_t n = strlen(e->meaning);
        ck_assert_msg(n && e->meaning[n - 1] == '.', "%s", e->term);
        for (const char *s = e->meaning; *s; s++) {
            words += *s == ' ';
            if (*s == '.' && s[1] == ' ') words = 0;
            ck_assert_msg(words <= 30, "%s has a sentence of more than 30 words", e->term);
        }
    }
}
END_TEST

UNIT_MAIN("glossary", each_term_is_explained, terms_are_found_in_other_spellings,
          errors_of_cuda_programs_are_explained, sentences_are_short)
