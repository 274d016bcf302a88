/* test_messages.c - a .ptx test provokes every message about PTX, so that none is unreachable or
 * reported at the wrong position. */
#include "base/diag.h"
#include "tests/unit/unit.h"
#include <glob.h>
#include <stdio.h>
#include <string.h>

/* Marks the ids in the "// ERROR @PLACE ID" lines of one file. */
static int mark_ids(const char *path, bool named[PL_DIAG_COUNT])
{
    char line[4096], code[8];
    int found = 0;
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "cannot open %s", path);
    while (fgets(line, sizeof line, f)) {
        pl_diag_id id;
        if (sscanf(line, " // ERROR @%*s %7[EW0-9]", code) != 1) continue;
        ck_assert_msg(pl_diag_by_code(code, &id), "%s names the unknown id %s", path, code);
        named[id] = true;
        found++;
    }
    fclose(f);
    return found;
}

START_TEST(every_ptx_message_has_a_test)
{
    static bool named[PL_DIAG_COUNT];
    static const char *const folder[] = {"", "/*", "/*/*"};
    const char *root = getenv("abs_srcdir");
    char pattern[4096];
    int missing = 0, found = 0;
    for (size_t i = 0; i < sizeof folder / sizeof *folder; i++) {
        glob_t files = {0};
        snprintf(pattern, sizeof pattern, "%s/tests/ptx%s/*.ptx", root ? root : ".", folder[i]);
        glob(pattern, 0, NULL, &files);
        for (size_t k = 0; k < files.gl_pathc; k++) found += mark_ids(files.gl_pathv[k], named);
        globfree(&files);
    }
    ck_assert_msg(found > 50, "only %d ERROR lines below %s/tests/ptx", found, root ? root : ".");
    for (int id = 0; id < PL_DIAG_COUNT; id++) {
        const char *code = pl_diag_code((pl_diag_id)id);
        bool about_ptx = code[1] == '0' && ((code[2] >= '1' && code[2] <= '3') ||
                                            (code[0] == 'E' && strncmp(code + 1, "060", 3) == 0));
        if (!about_ptx || named[id]) continue;
        fprintf(stderr, "no test in tests/ptx/reject provokes %s: %s\n", code,
                pl_diag_format((pl_diag_id)id));
        missing++;
    }
    ck_assert_int_eq(missing, 0);
}
END_TEST

UNIT_MAIN("messages", every_ptx_message_has_a_test)
