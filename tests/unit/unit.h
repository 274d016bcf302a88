/* unit.h - the main function of a unit test: UNIT_MAIN("suite", first_test, second_test) after the
 * START_TESTs.
 *
 * Each test runs in its own process (libcheck's default), so one crash is one failure. */
#ifndef PL_TESTS_UNIT_H
#define PL_TESTS_UNIT_H

#include <check.h>
#include <stddef.h>
#include <stdlib.h>

static inline int unit_run(const char *name, const TTest *const *test, size_t n)
{
    Suite *s = suite_create(name);
    TCase *c = tcase_create(name);
    for (size_t i = 0; i < n; i++) tcase_add_test(c, test[i]);
    tcase_set_timeout(c, 60);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#define UNIT_MAIN(name, ...)                                                                       \
    int main(void)                                                                                 \
    {                                                                                              \
        const TTest *const unit_test[] = {__VA_ARGS__};                                            \
        return unit_run(name, unit_test, sizeof unit_test / sizeof *unit_test);                    \
    }

#endif
