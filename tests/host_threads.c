/* host_threads.c - in both modes several host threads produce the same results as one thread:
 * outputs, cycles and every metric. The cases are recorded kernels in which blocks interact heavily
 * (atomics, locks, grid barriers, clusters, look-back scans, copies) or not at all.
 *
 * Each runs with 2 threads in one mode and 4 in the other. The test also compares the reports of
 * failing launches and of a hang, and blocks that wait for each other in loops that also store and
 * meet at a barrier: in functional mode they take turns. With an argument: all recorded cases, with
 * both thread counts.
 * */
#include "tests/recorded.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const chosen[] = {
    "atomic_same",   "atomic_strided",   "cluster_hist",   "cluster_reduce",   "copy_strided_8",
    "grid_barrier",  "handshake",        "hist_global_16", "hist_shared",      "recursion",
    "reduce_atomic", "scan_lookback",    "spinlock",       "switch_divergent", "tiny_blocks",
    "tma1d_copy",    "transpose_padded", "vecadd",         "vote_match_redux"};

/* Returns the result of the case with this many threads, without its run time; NULL: none. */
static json_t *run_case(const char *name, const char *mode, const char *threads)
{
    char relative[256];
    snprintf(relative, sizeof relative, "suite/cases/%s.json", name);
    char *path = data_path(relative);
    const char *argv[] = {loom_path(), "run",       path,    "--json", "--mode",
                          mode,        "--threads", threads, NULL};
    run_result r = run_command(argv, 300);
    json_t *document = json_loads(r.out ? r.out : "", 0, NULL),
           *result = json_deep_copy(json_array_get(json_object_get(document, "cases"), 0));
    json_object_del(result, "wall_seconds");
    json_decref(document);
    run_free(&r);
    free(path);
    return result;
}

/* Returns the first difference between two results. */
static void explain(const json_t *one, const json_t *many)
{
    const char *key;
    json_t *v;
    json_object_foreach(json_object_get(one, "metrics"), key, v)
    {
        const json_t *other = json_object_get(json_object_get(many, "metrics"), key);
        if (json_equal(v, other)) continue;
        tap_note("%s: %g with one thread, %g with more", key, json_number_value(v),
                 json_number_value(other));
        return;
    }
    json_object_foreach((json_t *)one, key, v)
    {
        if (!json_equal(v, json_object_get(many, key))) tap_note("%s differs", key);
    }
}

static bool is_chosen(const char *name)
{
    for (size_t k = 0; k < sizeof chosen / sizeof *chosen; k++)
        if (strcmp(name, chosen[k]) == 0) return true;
    return false;
}

enum { MAX_PATH = 512 };

/* Opens the file for a kernel in a folder; path receives its name. */
static FILE *open_kernel(char path[MAX_PATH], const char *folder)
{
    snprintf(path, MAX_PATH, "%s/k.ptx", folder);
    FILE *f = fopen(path, "w");
    if (!f) exit(EXIT_FAILURE);
    return f;
}

/* Runs a launch with one thread and with four: both must end with status 1 and the same message. */
static void same_words(const char *what, const char *folder, const char *mode, const char *body)
{
    char path[MAX_PATH];
    static const char *const threads[] = {"1", "4"};
    run_result r[2];
    FILE *f = open_kernel(path, folder);
    fprintf(f,
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .pred "
            "%%p;\n.reg .b32 %%r<4>;\n.reg .b64 %%a;\nmov.u32 %%r3, 100;\n$again:\n"
            "add.u32 %%r3, %%r3, -1;\nsetp.ne.u32 %%p, %%r3, 0;\n@%%p bra $again;\n%s"
            "ret;\n}\n",
            body);
    fclose(f);
    for (int k = 0; k < 2; k++) {
        const char *argv[] = {loom_path(), "run", path,        "-g",       "400", "-b", "64",
                              "--mode",    mode,  "--threads", threads[k], "-O0", NULL};
        r[k] = run_command(argv, 60);
    }
    bool same = r[0].status == 1 && r[1].status == 1 && strcmp(r[0].err, r[1].err) == 0;
    tap(same, "%s in %s mode: the same report", what, mode);
    if (!same) tap_note("%d %.700s\n%d %.700s", r[0].status, r[0].err, r[1].status, r[1].err);
    run_free(&r[0]);
    run_free(&r[1]);
}

static void failures(const char *mode)
{
    char *folder = scratch_make();
    same_words("many blocks fail", folder, mode,
               "mov.u32 %r1, %ctaid.x;\nrem.u32 %r2, %r1, 7;\nsetp.eq.u32 %p, %r2, 3;\ncvt.u64.u32 "
               "%a, %r1;\n"
               "@%p st.global.u32 [%a], %r1;\n");
    same_words("many blocks trap", folder, mode,
               "mov.u32 %r1, %ctaid.x;\nsetp.gt.u32 %p, %r1, 100;\n@%p trap;\n");
    same_words("blocks wait for warps that never arrive", folder, mode, "bar.sync 0, 96;\n");
    scratch_remove(folder);
}

/* Runs 300 blocks, of which those from `first` on wait for each other; block 0 computes `work`
 * iterations before that. */
static void waiting_blocks(const char *what, const char *folder, int first, int work)
{
    static const char *const threads[] = {"1", "2", "4"};
    char path[MAX_PATH];
    FILE *f = open_kernel(path, folder);
    fprintf(f,
            ".version 8.0\n.target sm_90\n.address_size 64\n.global .u32 arrived;\n"
            ".global .u32 seen[512];\n.visible .entry k()\n{\n.reg .pred %%p, %%q;\n"
            ".reg .b32 %%r<6>;\n.reg .b64 %%a;\nmov.u32 %%r1, %%ctaid.x;\n"
            "mov.u32 %%r2, %%tid.x;\nmad.lo.u32 %%r3, %%r1, 64, %%r2;\n"
            "setp.ge.u32 %%p, %%r3, 64;\nmov.u32 %%r4, %d;\n@%%p bra $ready;\n"
            "$work:\nadd.u32 %%r4, %%r4, -1;\nsetp.ne.u32 %%p, %%r4, 0;\n@%%p bra $work;\n"
            "$ready:\nsetp.lt.u32 %%p, %%r1, %d;\n@%%p ret;\n"
            "setp.eq.u32 %%p, %%r2, 0;\n@%%p red.global.add.u32 [arrived], 1;\n"
            "mov.u64 %%a, seen;\nmad.wide.u32 %%a, %%r1, 4, %%a;\n"
            "$again:\nld.volatile.global.u32 %%r4, [arrived];\nst.global.u32 [%%a], %%r4;\n"
            "setp.lt.u32 %%p, %%r4, %d;\nbarrier.red.or.pred %%q, 0, %%p;\n"
            "@%%q bra $again;\nret;\n}\n",
            work, first, 300 - first);
    fclose(f);
    for (int k = 0; k < 3; k++) {
        const char *argv[] = {loom_path(), "run",    path,         "-g",        "300",      "-b",
                              "64",        "--mode", "functional", "--threads", threads[k], NULL};
        run_result r = run_command(argv, 60);
        tap(r.status == 0, "%s, with %s threads", what, threads[k]);
        if (r.status) tap_note("%d %.700s", r.status, r.err);
        run_free(&r);
    }
}

static void turns(void)
{
    char *folder = scratch_make();
    waiting_blocks("all blocks wait for each other", folder, 0, 1);
    waiting_blocks("later blocks wait for each other", folder, 200, 1);
    waiting_blocks("a block that computes for long precedes them", folder, 0, 3000000);
    scratch_remove(folder);
}

/* With 2 threads, with 4, or with both. */
static void same_result(const char *name, const char *mode, bool two, bool four)
{
    static const char *const threads[] = {"2", "4"};
    json_t *one = run_case(name, mode, "1");
    for (size_t k = !two; k < 1u + four; k++) {
        json_t *many = run_case(name, mode, threads[k]);
        bool same = one && json_equal(one, many);
        tap(same, "%s in %s mode with %s threads", name, mode, threads[k]);
        if (!same) explain(one, many);
        json_decref(many);
    }
    json_decref(one);
}

int main(int argc, char **argv)
{
    (void)argv;
    static const char *const mode[] = {"timing", "functional"};
    table cases = recorded_results("suite");
    size_t column = table_column(&cases, "case"), n = 0;
    for (size_t i = 0; i < cases.rows; i++) {
        if (argc == 1 && !is_chosen(cases.row[i][column])) continue;
        for (size_t m = 0; m < 2; m++) {
            const bool turn = (n + m) % 2;
            same_result(cases.row[i][column], mode[m], argc > 1 || turn, argc > 1 || !turn);
        }
        n++;
    }
    table_free(&cases);
    for (size_t m = 0; m < 2; m++) failures(mode[m]);
    turns();
    return tap_done();
}
