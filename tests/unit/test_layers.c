/* test_layers.c - holds the tree to the layers of the design: a folder may include headers only of
 * the folders below it.
 *
 * Reads every .c, .h, .l, .y and .def file and looks at lines of the form #include "folder/...".
 * The table of permitted edges is the drawing in doc/architecture.md; change both together. SQLite
 * files are opened in one place, which sets each connection up so that a hostile file does no harm.
 */
#include "tests/unit/unit.h"
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_DEPTH 8

/* What the files of a folder may include, besides their own folder. */
static const struct {
    const char *folder, *may[16];
} permitted[] = {
    {"base", {NULL}},
    {"isa", {"base"}},
    {"compiler", {"arch", "isa", "base"}},
    {"ptx", {"compiler", "isa", "base"}},
    {"emu/exec", {"isa", "base"}},
    {"check", {"emu/exec", "isa", "base"}},
    {"memmodel", {"base"}},
    {"traces", {"isa", "base"}},
    {"litmus", {"base"}},
    {"emu/sm", {"emu/exec", "memmodel", "compiler", "isa", "base", "arch"}},
    {"arch", {"isa", "memmodel", "base"}},
    {"include", {"base"}}, /* base/status.h and base/event.h are installed with it */
    {"lib",
     {"include", "emu/sm", "emu/exec", "check", "memmodel", "traces", "ptx", "compiler", "isa",
      "arch", "litmus", "base"}},
    {"cli", {"include"}},
    {"labs", {"include"}},
};
#define FOLDERS (sizeof permitted / sizeof *permitted)

static int files_read, includes_seen, violations, connections;

/* Index of the folder that a path such as "emu/exec/ld.c" lies in, or -1. */
static int folder_of(const char *path)
{
    for (size_t i = 0; i < FOLDERS; i++) {
        size_t n = strlen(permitted[i].folder);
        if (strncmp(path, permitted[i].folder, n) == 0 && path[n] == '/') return (int)i;
    }
    return -1;
}

static bool allowed(int from, int to)
{
    if (from == to) return true;
    for (size_t i = 0; i < 16 && permitted[from].may[i]; i++) {
        if (strcmp(permitted[from].may[i], permitted[to].folder) == 0) return true;
    }
    return false;
}

static void check_file(const char *root, const char *path)
{
    char full[4096], line[4096], target[4096];
    int from = folder_of(path), number = 0;
    if (from < 0) return;
    snprintf(full, sizeof full, "%s/%s", root, path);
    FILE *f = fopen(full, "r");
    ck_assert_msg(f != NULL, "cannot open %s", full);
    files_read++;
    while (fgets(line, sizeof line, f)) {
        number++;
        if (strstr(line, "sqlite3_open(") || strstr(line, "sqlite3_open_v2(") ||
            strstr(line, "sqlite3_open16(")) {
            connections++;
            ck_assert_msg(strcmp(path, "traces/db_open.c") == 0,
                          "%s:%d: only traces/db_open.c may open SQLite files", path, number);
        }
        if (sscanf(line, " # include \"%4095[^\"]\"", target) != 1) continue;
        includes_seen++;
        if (strcmp(target, "ptxloom.h") == 0) strcpy(target, "include/ptxloom.h");
        if (!strchr(target, '/')) continue; /* of the file's own folder, or config.h */
        int to = folder_of(target);
        if (to >= 0 && allowed(from, to)) continue;
        violations++;
        fprintf(stderr, "%s:%d: %s may not include \"%s\"\n", path, number, permitted[from].folder,
                target);
    }
    fclose(f);
}

static bool is_source(const char *name)
{
    static const char *const ending[] = {".c", ".h", ".l", ".y", ".def"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof ending / sizeof *ending; i++) {
        if (strcmp(dot, ending[i]) == 0) return true;
    }
    return false;
}

static void walk(const char *root, const char *path, int depth)
{
    char full[4096], child[2048];
    snprintf(full, sizeof full, "%s/%s", root, path);
    DIR *d = opendir(full);
    if (!d) return;
    ck_assert_msg(depth < MAX_DEPTH, "%s is nested too deeply", path);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        struct stat st;
        if (e->d_name[0] == '.') continue;
        if (strncmp(e->d_name, "gen_", 4) == 0) continue; /* made by a build in the source folder */
        snprintf(child, sizeof child, "%s/%s", path, e->d_name);
        snprintf(full, sizeof full, "%s/%s", root, child);
        if (stat(full, &st) != 0) continue;
        if (S_ISDIR(st.st_mode))
            walk(root, child, depth + 1);
        else if (is_source(e->d_name))
            check_file(root, child);
    }
    closedir(d);
}

START_TEST(includes_point_downwards)
{
    static const char *const top[] = {"base",     "isa",    "compiler", "ptx", "emu",
                                      "memmodel", "traces", "arch",     "lib", "cli",
                                      "include",  "labs",   "check"};
    const char *root = getenv("abs_srcdir");
    if (!root) root = ".";
    for (size_t i = 0; i < sizeof top / sizeof *top; i++) walk(root, top[i], 0);
    ck_assert_msg(files_read >= 10 && includes_seen >= 10, "read only %d files below '%s'",
                  files_read, root);
    ck_assert_int_eq(violations, 0);
    ck_assert_int_eq(connections, 1);
}
END_TEST

START_TEST(table_of_edges_has_no_cycle)
{
    /* Folders reachable from each folder, by repeated union; none may reach itself. */
    bool reach[FOLDERS][FOLDERS] = {{false}};
    for (size_t i = 0; i < FOLDERS; i++)
        for (size_t j = 0; j < FOLDERS; j++) reach[i][j] = i != j && allowed((int)i, (int)j);
    for (size_t k = 0; k < FOLDERS; k++)
        for (size_t i = 0; i < FOLDERS; i++)
            for (size_t j = 0; j < FOLDERS; j++) reach[i][j] |= reach[i][k] && reach[k][j];
    for (size_t i = 0; i < FOLDERS; i++)
        ck_assert_msg(!reach[i][i], "%s reaches itself", permitted[i].folder);
}
END_TEST

UNIT_MAIN("layers", includes_point_downwards, table_of_edges_has_no_cycle)
