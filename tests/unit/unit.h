/* unit.h - defines the main function of a unit test: UNIT_MAIN("suite", first_test, second_test)
 * after the START_TESTs.
 *
 *     tests/unit/test_arena                    runs all
 *     tests/unit/test_arena grows resets       runs those whose names contain one of these words
 *
 * Each test runs in its own process (libcheck's default), so one crash is one failure. */
#ifndef PL_TESTS_UNIT_H
#define PL_TESTS_UNIT_H

#include <check.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline bool unit_chosen(const TTest *test, int argc, char **argv)
{
    for (int k = 1; k < argc; k++)
        if (strstr(test->name, argv[k])) return true;
    return argc <= 1;
}

/* Adds the tests selected on the command line; exits if it selects none. */
static inline void unit_add(TCase *c, const TTest *const *test, size_t n, int argc, char **argv)
{
    size_t added = 0;
    for (size_t i = 0; i < n; i++)
        if (unit_chosen(test[i], argc, argv)) {
            tcase_add_test(c, test[i]);
            added++;
        }
    if (added) return;
    for (size_t i = 0; i < n; i++) fprintf(stderr, "%s\n", test[i]->name);
    fprintf(stderr, "no test has this name; these are all\n");
    exit(2);
}

static inline int unit_run(const char *name, const TTest *const *test, size_t n, int argc,
                           char **argv)
{
    Suite *s = suite_create(name);
    TCase *c = tcase_create(name);
    unit_add(c, test, n, argc, argv);
    tcase_set_timeout(c, 60);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#define UNIT_MAIN(name, ...)                                                                       \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        const TTest *const unit_test[] = {__VA_ARGS__};                                            \
        return unit_run(name, unit_test, sizeof unit_test / sizeof *unit_test, argc, argv);        \
    }

#endif
