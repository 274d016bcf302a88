/* test_cli.c - the command as seen by its users: exit statuses, messages, JSON and files. Runs
 * ./ptxloom in functional mode. */
#include "tests/unit/unit.h"
#include <fcntl.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_ARGS = 32, MAX_OUTPUT = 1 << 20 };

static char folder[64];                       /* of this test */
static char out[MAX_OUTPUT], err[MAX_OUTPUT]; /* of the latest run */

static const char saxpy[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)\n"
    "{\n .reg .pred %p; .reg .b32 %r<6>; .reg .f32 %f<5>; .reg .b64 %rd<6>;\n"
    " ld.param.u32 %r1, [n]; ld.param.f32 %f1, [a]; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, "
    "[y];\n"
    " mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, "
    "%r4;\n"
    " setp.ge.u32 %p, %r5, %r1; @%p bra DONE;\n"
    " mul.wide.u32 %rd3, %r5, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;\n"
    " ld.global.f32 %f2, [%rd4]; ld.global.f32 %f3, [%rd5]; fma.rn.f32 %f4, %f1, %f2, %f3; "
    "st.global.f32 [%rd5], %f4;\n"
    "DONE: ret;\n}\n";

/* Counts its launches in a module variable and stores the count. */
static const char counter[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.global .u32 launches = 41;\n"
    ".visible .entry count(.param .u64 y)\n{\n .reg .b32 %r<3>; .reg .b64 %rd<2>;\n ld.param.u64 "
    "%rd1, [y];\n"
    " ld.global.u32 %r1, [launches]; add.u32 %r2, %r1, 1; st.global.u32 [launches], %r2; "
    "st.global.u32 [%rd1], %r2; ret;\n}\n";

static const char null_store[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                 ".visible .entry k(.param .u32 n)\n{\n .reg .b64 %rd<2>;\n "
                                 "mov.u64 %rd1, 64;\n st.global.u32 [%rd1], 7;\n ret;\n}\n";

static const char forever[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                              ".visible .entry k(.param .u32 n)\n{\nAGAIN: bra AGAIN;\n}\n";

/* ---------------------------------------------------------------- helpers */

static const char *path(const char *name)
{
    static char p[64][256]; /* the results stay valid for several calls */
    static unsigned k;
    char *to = p[k++ % 64];
    snprintf(to, sizeof p[0], "%s/%s", folder, name);
    return to;
}

static const char *write_file(const char *name, const char *text)
{
    const char *p = path(name);
    FILE *f = fopen(p, "wb");
    ck_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
    return p;
}

static void setup(void)
{
    strcpy(folder, "/tmp/ptxloom-cli-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void teardown(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void slurp(const char *name, char *to)
{
    FILE *f = fopen(path(name), "rb");
    ck_assert_ptr_nonnull(f);
    size_t n = fread(to, 1, MAX_OUTPUT - 1, f);
    to[n] = '\0';
    fclose(f);
}

/* Runs ./ptxloom with these arguments (the last one NULL); its output is stored in `out` and `err`.
 * Returns the exit status. */
static int loom_to(const char *output, const char *first, va_list ap)
{
    const char *argv[MAX_ARGS] = {"./ptxloom", first};
    for (int n = 2; argv[n - 1] && n < MAX_ARGS; n++) argv[n] = va_arg(ap, const char *);
    pid_t child = fork();
    if (child == 0) {
        int o = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600),
            e = open(path("err"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (o < 0 || e < 0 || dup2(o, 1) < 0 || dup2(e, 2) < 0) _exit(99);
        execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(98);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status), "ptxloom was killed by signal %d", WTERMSIG(status));
    slurp("err", err);
    return WEXITSTATUS(status);
}

static int loom(const char *first, ...)
{
    va_list ap;
    va_start(ap, first);
    int status = loom_to(path("out"), first, ap);
    va_end(ap);
    slurp("out", out);
    return status;
}

static int loom_full_disk(const char *first, ...)
{
    va_list ap;
    va_start(ap, first);
    int status = loom_to("/dev/full", first, ap);
    va_end(ap);
    return status;
}

static void expect(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "'%s' is missing in:\n%s", part, text);
}

static json_t *cases(void)
{
    json_error_t e;
    json_t *root = json_loads(out, 0, &e), *list = json_object_get(root, "cases");
    ck_assert_msg(list != NULL, "%s in:\n%s", e.text, out);
    json_incref(list);
    json_decref(root);
    return list;
}

static const char *member(json_t *list, size_t k, const char *key)
{
    return json_string_value(json_object_get(json_array_get(list, k), key));
}

static const char *sum_of(json_t *list, size_t k)
{
    return json_string_value(json_object_get(
        json_array_get(json_object_get(json_array_get(list, k), "outputs"), 0), "sha256"));
}

#define FUNCTIONAL "--mode", "functional"

/* ---------------------------------------------------------------- tests */

START_TEST(a_kernel_runs_from_the_command_line)
{
    const char *k = write_file("k.ptx", saxpy);
    ck_assert_int_eq(loom("run", k, "-g", "40", "-b256", FUNCTIONAL, "u32:10000", "f32:2",
                          "f32[10000]=iota", "out:f32[10000]=1", NULL),
                     0);
    expect(out, "argument 4  f32[10000] = 1 3 5 7 9 11 13 15 ...");
    expect(out, "saxpy on h200 (functional): ok");
    ck_assert_str_eq(err, "");
}
END_TEST

START_TEST(usage_error_messages)
{
    const char *k = write_file("k.ptx", saxpy);
    ck_assert_int_eq(loom("run", k, "--gird", "1", NULL), 2);
    expect(err, "unknown option '--gird' of 'ptxloom run' [E0003]");
    expect(err, "did you mean '--grid'?");
    ck_assert_int_eq(loom("runn", NULL), 2);
    expect(err, "did you mean 'run'?");
    ck_assert_int_eq(loom("run", NULL), 2);
    expect(err, "E0007");
    ck_assert_int_eq(loom("run", k, "-g", NULL), 2);
    expect(err, "option '-g' needs a value");
    ck_assert_int_eq(loom("run", k, "-g", "0", "-b", "1", NULL), 2);
    expect(err, "'0' is not a value for -g");
    ck_assert_int_eq(loom("run", k, "-g", "1", "-b", "1", "--mode=fast", NULL), 2);
    expect(err, "it is timing or functional");
    ck_assert_int_eq(loom("run", k, "-g", "1", "-b", "1", "--check=leaks", NULL), 2);
    expect(err, "it is a list of mem, race");
    ck_assert_int_eq(loom("run", k, "-g", "1", "-b", "1", "--arch", "h2000", NULL), 2);
    expect(err, "h200");
    ck_assert_int_eq(loom("run", path("absent.ptx"), "-g", "1", "-b", "1", FUNCTIONAL, NULL), 2);
    expect(err, "No such file");
    ck_assert_int_eq(loom("run", folder, "-g", "1", "-b", "1", FUNCTIONAL, NULL), 2);
    expect(err, "is a folder");
    ck_assert_int_eq(loom("run", k, FUNCTIONAL, "u32:1", "f32:2", "f32[1]", "f32[1]", NULL), 2);
    expect(err, "the launch has no grid");
    ck_assert_int_eq(
        loom("run", k, "-g1", "-b2048", FUNCTIONAL, "u32:1", "f32:2", "f32[1]", "f32[1]", NULL), 2);
    expect(err, "block 2048,1,1: the limits are 1024,1024,64, and 1024 threads");
    ck_assert_int_eq(loom("run", k, "-g1", "-b1", FUNCTIONAL, "u32:1", "f32:2", "f32[1]", NULL), 2);
    expect(err, "has 4 parameters, but 3 arguments are given");
    ck_assert_int_eq(
        loom("run", k, "-g1", "-b1", FUNCTIONAL, "u32:1", "f64:2", "f32[1]", "f32[1]", NULL), 2);
    expect(err, "argument 2 (f64) takes 8 bytes, but parameter 'a' has 4 (.f32)");
    ck_assert_int_eq(loom("run", k, "-k", "saxpi", "-g1", "-b1", FUNCTIONAL, NULL), 2);
    expect(err, "did you mean 'saxpy'?");
}
END_TEST

/* launch__occupancy_limit_* that Nsight Compute recorded on an H200 for four kernels of the
 * suite. */
START_TEST(occupancy_matches_hardware)
{
    static const struct {
        const char *threads, *registers, *shared;
        int warps, registers_limit;
    } recorded[] = {{"256", "32", "2048", 8, 8},
                    {"32", "93", "8192", 64, 20},
                    {"128", "68", "29184", 16, 7},
                    {"1024", "14", "0", 2, 4}};
    for (size_t k = 0; k < sizeof recorded / sizeof *recorded; k++) {
        ck_assert_int_eq(loom("occupancy", "-b", recorded[k].threads, "-r", recorded[k].registers,
                              "--shared", recorded[k].shared, "--json", NULL),
                         0);
        json_t *rows = json_loads(out, 0, NULL), *row = json_array_get(rows, 0);
        ck_assert_int_eq(json_integer_value(json_object_get(row, "limit_warps")),
                         recorded[k].warps);
        ck_assert_int_eq(json_integer_value(json_object_get(row, "limit_registers")),
                         recorded[k].registers_limit);
        ck_assert_int_eq(json_integer_value(json_object_get(row, "limit_blocks")), 32);
        json_decref(rows);
    }
    ck_assert_int_eq(loom("occupancy", "-b", "256", "-r", "32", "--arch", "v100,t4,h200", NULL), 0);
    ck_assert_ptr_nonnull(strstr(out, "t4 "));
    ck_assert_int_eq(loom("occupancy", "-r", "32", NULL), 2);
    ck_assert_ptr_nonnull(strstr(err, "E0007"));
    /* launch__barrier_count 16, launch__occupancy_limit_barriers 4 */
    ck_assert_int_eq(loom("occupancy", "-b", "256", "-r", "32", "--barriers", "16", "--json", NULL),
                     0);
    ck_assert_ptr_nonnull(strstr(out, "\"limit\": \"barriers\""));
    ck_assert_ptr_nonnull(strstr(out, "\"limit_barriers\": 4"));
    /* a machine with changed values is a single name */
    ck_assert_int_eq(loom("occupancy", "-b", "32", "-r", "16", "--arch",
                          "h200,sm.warps=32,sm.blocks=8,t4", NULL),
                     0);
    ck_assert_ptr_nonnull(strstr(out, "h200,sm.warps=32,sm.blocks=8 "));
    ck_assert_ptr_nonnull(strstr(out, "\nt4 "));
    ck_assert_int_eq(loom("occupancy", "-b", "32", "-r", "16", "--arch", "h200,sm.wraps=32", NULL),
                     2);
    ck_assert_ptr_nonnull(strstr(err, "did you mean 'sm.warps'?"));
    ck_assert_int_eq(loom("occupancy", "-b", "32", "-r", "16", "--arch", "h200,l1.hold=2", NULL),
                     2);
    ck_assert_ptr_nonnull(strstr(err, "the key 'l1.hold' is now called 'l1.store_buffer_hold'"));
}
END_TEST

START_TEST(fault_message_location)
{
    const char *k = write_file("k.ptx", null_store);
    ck_assert_int_eq(loom("run", k, "-g1", "-b32", FUNCTIONAL, "u32:0", NULL), 1);
    expect(err, "k.ptx:8:");
    expect(err, "E0418");
    expect(err, "CUDA_ERROR_ILLEGAL_ADDRESS");
    expect(err, "block 0,0,0, thread 0,0,0");
}
END_TEST

START_TEST(first_byte_after_buffer_faults)
{
    const char *k = write_file("k.ptx", saxpy);
    ck_assert_int_eq(loom("run", k, "-g1", "-b128", FUNCTIONAL, "u32:101", "f32:2", "f32[101]=iota",
                          "f32[100]=1", NULL),
                     1);
    expect(err, "0 bytes past the end of 'argument 4 (y)' (f32[100], 400 bytes at 0x");
    expect(err, "): element 100 (block 0,0,0, thread 100,0,0)");
    ck_assert_int_eq(
        loom("run", k, "-g1", "-b128", "u32:101", "f32:2", "f32[101]=iota", "f32[101]=1", NULL), 0);
}
END_TEST

START_TEST(one_bad_launch_file_does_not_stop_the_others)
{
    static const char *const keys[] = {
        "name",      "entry",   "arch",          "mode",
        "status",    "cycles",  "inst_executed", "thread_inst_executed",
        "registers", "shared",  "local",         "wall_seconds",
        "outputs",   "metrics", "diagnostics"};
    write_file("c.ptx", counter);
    const char *good =
        write_file("a.json", "{\"ptx\": \"c.ptx\", \"grid\": [1], \"block\": [1],\n \"args\": "
                             "[{\"buffer\": \"u32\", \"count\": 1, \"output\": true}]}");
    const char *bad = write_file("b.json", "{\"ptx\": \"c.ptx\", \"gird\": [1]}");
    const char *last = write_file(
        "c.json", "{\"name\": \"last\", \"ptx\": \"c.ptx\", \"grid\": [1], \"block\": [1], "
                  "\"args\": [{\"buffer\": \"u32\", \"count\": 1, \"output\": true}]}");
    ck_assert_int_eq(loom("run", good, bad, last, FUNCTIONAL, "--json", NULL), 2);
    json_t *list = cases();
    ck_assert_uint_eq(json_array_size(list), 3);
    ck_assert_str_eq(member(list, 0, "name"), "a");
    ck_assert_str_eq(member(list, 1, "name"), "b");
    ck_assert_str_eq(member(list, 2, "name"), "last");
    ck_assert_str_eq(member(list, 0, "status"), "ok");
    ck_assert_str_eq(member(list, 1, "status"), "invalid");
    ck_assert_uint_eq(json_array_size(json_object_get(json_array_get(list, 1), "diagnostics")), 1);
    /* sha256 of 2a 00 00 00: the module's variable starts at 41 in every launch. */
    ck_assert_str_eq(sum_of(list, 0),
                     "e8a4b2ee7ede79a3afb332b5b6cc3d952a65fd8cffb897f5d18016577c33d7cc");
    ck_assert_str_eq(sum_of(list, 0), sum_of(list, 2));
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        ck_assert_msg(json_object_get(json_array_get(list, 0), keys[k]) != NULL, "%s is missing",
                      keys[k]);
    expect(err, "b.json:1:18: error: unknown key 'gird' in a launch file [E0402]");
    json_decref(list);
}
END_TEST

START_TEST(array_file_round_trip)
{
    const char *k = write_file("k.ptx", saxpy);
    char save[300], load[300];
    snprintf(save, sizeof save, "out=%s:f32[5]=0", path("y.npy"));
    ck_assert_int_eq(
        loom("run", k, "-g1", "-b32", FUNCTIONAL, "u32:5", "f32:2", "f32[5]=iota", save, NULL), 0);
    expect(out, "= 0 2 4 6 8 ");
    snprintf(load, sizeof load, "f32[]=@%s", path("y.npy"));
    snprintf(save, sizeof save, "out=%s:f32[5]=0", path("y.bin"));
    ck_assert_int_eq(
        loom("run", k, "-g1", "-b32", FUNCTIONAL, "u32:5", "f32:0.5", load, save, NULL), 0);
    expect(out, "= 0 1 2 3 4 ");
    FILE *f = fopen(path("y.bin"), "rb");
    float v[6];
    ck_assert_uint_eq(fread(v, 4, 6, f), 5);
    ck_assert(v[4] == 4.0f);
    fclose(f);
    snprintf(load, sizeof load, "u32[5]=@%s", path("y.npy"));
    ck_assert_int_eq(
        loom("run", k, "-g1", "-b32", FUNCTIONAL, "u32:5", "f32:0.5", load, "f32[5]", NULL), 2);
    expect(err, "its elements are '<f4', not u32");
    snprintf(load, sizeof load, "f32[6]=@%s", path("y.bin"));
    ck_assert_int_eq(
        loom("run", k, "-g1", "-b32", FUNCTIONAL, "u32:5", "f32:0.5", load, "f32[5]", NULL), 2);
    expect(err, "E0413");
    ck_assert_int_eq(loom("run", k, "-g1", "-b32", FUNCTIONAL, "u32:5", "f32:2", "f32[5]",
                          "out=/nonexistent/y.npy:f32[5]", NULL),
                     2);
    expect(err, "cannot write '/nonexistent/y.npy'");
}
END_TEST

START_TEST(launch_interrupted)
{
    const char *k = write_file("k.ptx", forever), *trace = path("t.db");
    ck_assert_int_eq(
        loom("run", k, "-g1", "-b32", FUNCTIONAL, "u32:0", "--timeout", "1", "--json", NULL), 3);
    json_t *list = cases();
    ck_assert_str_eq(member(list, 0, "status"), "interrupted");
    json_decref(list);
    ck_assert_int_ne(access(trace, F_OK), 0);
}
END_TEST

START_TEST(check_reports_and_counts)
{
    const char *good = write_file("good.ptx", saxpy);
    const char *bad =
        write_file("bad.ptx", ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry "
                              "k()\n{\n .reg .b32 %r<3>;\n ad.s32 %r1, %r2, 1;\n ret;\n}\n");
    ck_assert_int_eq(loom("check", good, NULL), 0);
    ck_assert_str_eq(err, "");
    ck_assert_int_eq(loom("check", good, bad, NULL), 2);
    expect(err, "bad.ptx:7:");
    ck_assert_int_eq(loom("check", bad, "--json", NULL), 2);
    expect(out, "\"status\": \"invalid\"");
    expect(out, "\"line\": 7");
    ck_assert_int_eq(loom("check", path("absent.ptx"), NULL), 2);
    ck_assert_int_eq(loom("check", NULL), 2);
}
END_TEST

START_TEST(listings_and_explanations_come_from_the_tables)
{
    const char *k = write_file("k.ptx", saxpy);
    ck_assert_int_eq(loom("dis", k, NULL), 0);
    expect(out, "saxpy:");
    expect(out, "fma");
    ck_assert_int_eq(loom("as", k, "-v", NULL), 0);
    expect(out, "Compiling entry function 'saxpy' for 'sm_90'");
    expect(out, "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads");
    expect(out, "used 0 barriers");
    expect(out, "552 bytes cmem[0]"); /* 528 before 24 bytes of parameters */
    ck_assert_int_eq(loom("explain", "add.f32", NULL), 0);
    expect(out, "since PTX");
    ck_assert_int_eq(loom("explain", "e0402", NULL), 0);
    expect(out, "Launch files have a fixed set of keys");
    ck_assert_int_eq(loom("explain", "ad", NULL), 2);
    expect(err, "did you mean");
    ck_assert_int_eq(loom("fmt", k, "-w", NULL), 0);
    ck_assert_int_eq(loom("fmt", k, NULL), 0);
    slurp("k.ptx", err);
    ck_assert_str_eq(out, err);
    ck_assert_int_eq(loom("check", k, NULL), 0);
    ck_assert_int_eq(loom("--version", NULL), 0);
    expect(out, "ptxloom ");
    ck_assert_int_eq(loom("run", "--help", NULL), 0);
    expect(out, "--trace-level summary|inst|mem");
    expect(out, "--check mem|race|init|sync|all");
    ck_assert_int_eq(loom("run", k, "-g", "1", "-b", "1", "--chek=mem", NULL), 2);
    ck_assert_msg(!strstr(err, "did you mean"), "nor suggested");
}
END_TEST

START_TEST(full_disk_is_reported)
{
    if (access("/dev/full", W_OK) != 0) return;
    const char *k = write_file("k.ptx", saxpy);
    ck_assert_int_eq(loom_full_disk("run", k, "-g1", "-b32", FUNCTIONAL, "--json", "u32:5", "f32:2",
                                    "f32[5]=iota", "f32[5]", NULL),
                     3);
    expect(err, "cannot write to standard output");
}
END_TEST

int main(void)
{
    const TTest *const test[] = {a_kernel_runs_from_the_command_line,
                                 usage_error_messages,
                                 occupancy_matches_hardware,
                                 fault_message_location,
                                 first_byte_after_buffer_faults,
                                 one_bad_launch_file_does_not_stop_the_others,
                                 array_file_round_trip,
                                 launch_interrupted,
                                 check_reports_and_counts,
                                 listings_and_explanations_come_from_the_tables,
                                 full_disk_is_reported};
    Suite *s = suite_create("cli");
    TCase *c = tcase_create("cli");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 60);
    for (size_t i = 0; i < sizeof test / sizeof *test; i++) tcase_add_test(c, test[i]);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
