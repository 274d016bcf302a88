/* objects.c - objects contain the complete program. Tested through the ptxloom command, with the
 * recorded kernels and the .ptx tests.
 *
 * Every ONE_OF-th module, with --all each, is assembled to an object, disassembled to text and
 * assembled again, which must give the same bytes. Recorded launches run from the object as from
 * the PTX: same outputs, same cycles, same counts. Truncated objects and objects with one changed
 * byte are rejected. Where readelf is installed, it must read every object without a warning. */
#include "tests/harness.h"
#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS 60
#define NOTE    76 /* offset of the note's name, after the ELF and note headers */
#define ONE_OF  8

static char *scratch;
static bool all_modules;

static const char *in_scratch(const char *name)
{
    static char path[4][600];
    static unsigned k;
    char *to = path[k++ % 4];
    snprintf(to, sizeof path[0], "%s/%s", scratch, name);
    return to;
}

static bool succeeds(const char *const argv[])
{
    run_result r = run_command(argv, SECONDS);
    if (r.status != 0)
        tap_note("%s %s %s: status %d: %.600s", argv[0], argv[1], argv[2], r.status,
                 r.err ? r.err : "");
    bool good = r.status == 0;
    run_free(&r);
    return good;
}

static bool assemble(const char *source, const char *object, const char *level, const char *threads)
{
    const char *const argv[] = {loom_path(), "as", source,  "-o", object,
                                level,       "-j", threads, NULL};
    return succeeds(argv);
}

static bool same_files(const char *a, const char *b)
{
    size_t n, m;
    char *x = read_whole(a, &n), *y = read_whole(b, &m);
    bool same = n == m && memcmp(x, y, n) == 0;
    free(x);
    free(y);
    return same;
}

static void write_file(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    if (f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0) return;
    printf("Bail out! cannot write %s\n", path);
    exit(EXIT_FAILURE);
}

/* ---- disassembly and reassembly ---- */

static bool has_readelf(void)
{
    const char *const argv[] = {"readelf", "--version", NULL};
    run_result r = run_command(argv, SECONDS);
    bool has = r.status == 0;
    run_free(&r);
    return has;
}

static bool readelf_is_content(const char *object)
{
    const char *const argv[] = {"readelf", "-a", object, NULL};
    run_result r = run_command(argv, SECONDS);
    bool good = r.status == 0 && r.nerr == 0;
    if (!good) tap_note("readelf: %.600s", r.err ? r.err : "");
    run_free(&r);
    return good;
}

static bool round_trip(const char *ptx, const char *level, bool readelf)
{
    const char *first = in_scratch("first.plo"), *shared = in_scratch("shared.plo"),
               *text = in_scratch("text.pla"), *second = in_scratch("second.plo");
    const char *const dis[] = {loom_path(), "dis", "--asm", first, "-o", text, NULL};
    if (!assemble(ptx, first, level, "1") || !assemble(ptx, shared, level, "3")) return false;
    if (!succeeds(dis) || !assemble(text, second, "-O2", "1")) return false;
    return same_files(first, shared) && same_files(first, second) &&
           (!readelf || readelf_is_content(first));
}

static void round_trips(const char *pattern, bool readelf)
{
    glob_t files = {0};
    const bool corpus = strncmp(pattern, "corpus/", 7) == 0;
    char *path = corpus ? corpus_path(pattern + 7) : data_path(pattern);
    glob(path, 0, NULL, &files);
    int bad = 0, tried = 0;
    for (size_t k = 0; k < files.gl_pathc; k += all_modules ? 1 : ONE_OF, tried++)
        for (int level = 0; level <= 2; level += 2)
            if (!round_trip(files.gl_pathv[k], level ? "-O2" : "-O0", readelf)) {
                tap_note("%s -O%d changes in the round trip", files.gl_pathv[k], level);
                bad++;
            }
    tap(bad == 0 && tried > 0,
        "%d modules of %s are identical with one and three threads, and after disassembling and "
        "assembling",
        tried, pattern);
    globfree(&files);
    free(path);
}

/* ---- functions assembled while the text is parsed ---- */

/* Independent kernels with their own shared memory, among others. The others are one whose address
 * is taken much later, users of variables of the module and of a function, and shared memory whose
 * offset a later declaration changes. */
static void write_mixed(const char *path, const char *end)
{
    enum { KERNELS = 60 };
    FILE *f = fopen(path, "w");
    if (!f) exit(EXIT_FAILURE);
    fputs(".version 8.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 4 .b8 "
          "dyn[];\n.global .u32 counter;\n"
          ".func (.reg .u32 %r) twice(.reg .u32 %x) { add.u32 %r, %x, %x; ret; }\n",
          f);
    for (int k = 0; k < KERNELS; k++) {
        fprintf(f,
                ".visible .entry k%d(.param .u64 p)\n{\n.reg .b64 %%d<4>; .reg .b32 %%r<99>; .reg "
                ".pred %%q;\n",
                k);
        fprintf(f,
                ".shared .align 8 .b8 odd[%d]; .shared .align 16 .f32 own[%d];\nld.param.u64 %%d1, "
                "[p];\nmov.u32 %%r1, %%tid.x;\n",
                k + 1, 16 + k);
        for (int i = 2; i < 20 + k % 7 * 10; i++)
            fprintf(f, "mad.lo.u32 %%r%d, %%r%d, %d, %%r1;\n", i, i - 1, i + k);
        fprintf(f, "st.shared.u32 [own+4], %%r9;\nst.shared.u8 [odd], %%r8;\nbar.sync "
                   "0;\nld.shared.u32 %%r2, [own];\n");
        if (k % 5 == 1)
            fputs("st.shared.u32 [dyn], %r3;\natom.global.add.u32 %r4, [counter], %r2;\n", f);
        if (k % 5 == 2) fputs("call (%r2), twice, (%r5);\n", f);
        if (k == KERNELS - 3) fputs("mov.u64 %d2, k0;\nst.global.u64 [%d1+8], %d2;\n", f);
        fputs("st.global.u32 [%d1], %r2;\nret;\n}\n", f);
        if (k == KERNELS / 2) fputs(".extern .shared .align 64 .b8 wide[];\n", f);
    }
    fputs(end, f);
    fclose(f);
}

/* Output of `as -j N`; its status in *status. */
static char *messages(const char *ptx, const char *threads, int *status)
{
    const char *const argv[] = {loom_path(), "as", ptx, "-j", threads, NULL};
    run_result r = run_command(argv, SECONDS);
    char *text = strdup(r.err ? r.err : "");
    *status = r.status;
    run_free(&r);
    return text;
}

static void early_functions(void)
{
    enum { TIMES = 12 };
    const char *ptx = in_scratch("mixed.ptx"), *one = in_scratch("one.plo"),
               *several = in_scratch("several.plo");
    static const char *const threads[] = {"2", "3", "5"};
    int bad = 0;
    write_mixed(ptx, "");
    for (int level = 0; level <= 2; level += 2) {
        bad += !assemble(ptx, one, level ? "-O2" : "-O0", "1");
        for (int k = 0; k < TIMES; k++)
            bad += !assemble(ptx, several, level ? "-O2" : "-O0", threads[k % 3]) ||
                   !same_files(one, several);
    }
    tap(bad == 0, "kernels assembled during parsing equal those assembled afterwards");
    write_mixed(ptx, ".visible .entry bad() { add.u32 %nothing, 1, 2; }\n");
    int a, b;
    char *said = messages(ptx, "1", &a), *also = messages(ptx, "3", &b);
    tap(a == 2 && b == 2 && strstr(said, "nothing") && strcmp(said, also) == 0,
        "an error in the last line gives the same message with any number of threads");
    free(said);
    free(also);
}

/* ---- running ---- */

/* Copy of a recorded launch file that refers to another module. */
static void write_launch(const char *launch, const char *module, const char *to)
{
    json_t *root = json_load_file(launch, 0, NULL), *args = json_object_get(root, "args"), *arg;
    size_t k;
    json_object_set_new(root, "ptx", json_string(module));
    json_array_foreach(args, k, arg) /* includes buffers without a requested output */
    {
        if (json_object_get(arg, "buffer")) json_object_set_new(arg, "output", json_true());
    }
    if (!root || json_dump_file(root, to, 0) != 0) {
        printf("Bail out! cannot copy %s\n", launch);
        exit(EXIT_FAILURE);
    }
    json_decref(root);
}

/* The results that must not depend on the program's source, as text. */
static char *run_launch(const char *launch, const char *mode)
{
    const char *const argv[] = {loom_path(), "run", launch, "--mode", mode, "--json", NULL};
    run_result r = run_command(argv, 4 * SECONDS);
    json_t *document = json_loads(r.out ? r.out : "", 0, NULL),
           *one = json_array_get(json_object_get(document, "cases"), 0);
    char *text = NULL;
    if (r.status == 0 && one) {
        json_object_del(one, "wall_seconds");
        text = json_dumps(one, JSON_SORT_KEYS);
    } else
        tap_note("%s: status %d: %.600s", launch, r.status, r.err ? r.err : "");
    json_decref(document);
    run_free(&r);
    return text;
}

/* The module of a launch file, as a path. */
static char *module_of(const char *launch)
{
    json_t *root = json_load_file(launch, 0, NULL);
    const char *ptx = json_string_value(json_object_get(root, "ptx"));
    char relative[512];
    snprintf(relative, sizeof relative, "suite/cases/%s", ptx ? ptx : "");
    char *path = data_path(relative);
    json_decref(root);
    return path;
}

static void runs_alike(const char *name, const char *mode)
{
    char relative[256];
    snprintf(relative, sizeof relative, "suite/cases/%s.json", name);
    char *launch = data_path(relative), *ptx = module_of(launch), absolute[4096];
    if (!realpath(ptx, absolute)) absolute[0] = '\0';
    const char *object = in_scratch("case.plo"), *from_ptx = in_scratch("case.json"),
               *from_object = in_scratch("object.json");
    bool made = assemble(absolute, object, "-O2", "1");
    write_launch(launch, absolute, from_ptx);
    write_launch(launch, object, from_object);
    /* The case is named after the file; the first file name is replaced by the second. */
    char *a = made ? run_launch(from_ptx, mode) : NULL;
    remove(from_ptx);
    if (rename(from_object, from_ptx) != 0) made = false;
    char *b = made ? run_launch(from_ptx, mode) : NULL;
    tap(a && b && strcmp(a, b) == 0, "%s %s gives the same results from its object as from PTX",
        mode, name);
    if (a && b && strcmp(a, b) != 0) tap_note("%.400s\n# %.400s", a, b);
    free(a);
    free(b);
    free(launch);
    free(ptx);
}

/* ---- refusing ---- */

static bool refused(const char *object, const char *code)
{
    const char *const argv[] = {loom_path(), "dis", object, NULL};
    run_result r = run_command(argv, SECONDS);
    bool good = r.status == 2 && r.err && strstr(r.err, code);
    if (!good)
        tap_note("status %d instead of 2 with %s: %.300s", r.status, code, r.err ? r.err : "");
    run_free(&r);
    return good;
}

static void damage(const char *ptx)
{
    const char *object = in_scratch("whole.plo"), *broken = in_scratch("broken.plo");
    size_t n;
    assemble(ptx, object, "-O2", "1");
    char *bytes = read_whole(object, &n);
    int bad = 0, tries = 0;
    for (size_t cut = 4; cut < n; cut += n / 40 + 1, tries++) {
        write_file(broken, bytes, cut);
        bad += !refused(broken, "E0611");
    }
    tap(bad == 0, "a truncated object is rejected (%d lengths)", tries);
    bad = tries = 0;
    for (size_t at = 70; at < n; at += n / 60 + 1, tries++) {
        bytes[at] ^= 0x10;
        write_file(broken, bytes, n);
        bytes[at] ^= 0x10;
        bad += !refused(broken, "E06");
    }
    tap(bad == 0, "an object with one flipped bit is rejected (%d positions)", tries);
    char *note = bytes + NOTE;
    bool found = n > NOTE + 40 && memcmp(note, "PTXLOOM", 8) == 0;
    if (found) note[8 + 20] ^= 1; /* the first digit of the table's generation */
    write_file(broken, bytes, n);
    tap(found && refused(broken, "E0612"), "an object of another instruction table is rejected");
    if (found) note[8] ^= 2;
    write_file(broken, bytes, n);
    tap(found && refused(broken, "E0612"), "an object of another format is rejected");
    tap(refused(loom_path(), "E0017"), "an ELF file of another program is rejected");
    const char *const fmt[] = {loom_path(), "fmt", object, NULL};
    run_result f = run_command(fmt, SECONDS);
    tap(f.status == 2 && !*f.out && strstr(f.err, "is an object, not PTX"),
        "an object has no layout of source text");
    run_free(&f);
    const char *const link[] = {loom_path(), "as", ptx, object, NULL};
    run_result r = run_command(link, SECONDS);
    tap(r.status == 2 && strstr(r.err, "E0614"), "an object is not linked again");
    run_free(&r);
    free(bytes);
}

/* An incorrect line of the text form is reported with its position. */
static void wrong_text(const char *ptx)
{
    static const struct {
        const char *from, *to, *place;
    } change[] = {
        {".module ptx", ".modul ptx", ":2:1: error"},
        {"rows=", "rowz=", "nothing of this name belongs here"},
        {" ; line", " line", "the line should end here"},
        {"ret", "rett", "this is not an instruction"},
        {"R1", "R1000000", "an instruction names a register outside its function's"},
        {".end", "", "labels, instructions and .end"},
        {".ptxloom 4", ".ptxloom 7", "another version"},
        {".ptxloom 4", ".ptxloom 4-", "the first line has the version alone"},
        {"sm=30", "sm=0", "a program has .module with its target"},
        {".source",
         ".var \"a\" space=3 align=4 size=8\n.var \"b\" space=3 align=4 size=4 address=4\n.source",
         "constants overlap"},
    };
    const char *text = in_scratch("good.pla"), *broken = in_scratch("bad.pla");
    const char *const dis[] = {loom_path(), "dis", "--asm", ptx, "-o", text, NULL};
    succeeds(dis);
    size_t n;
    char *bytes = read_whole(text, &n);
    for (size_t k = 0; k < sizeof change / sizeof *change; k++) {
        char *at = strstr(bytes, change[k].from), *copy = malloc(n + 256);
        size_t before = at ? (size_t)(at - bytes) : 0, length = strlen(change[k].from);
        if (!copy) exit(EXIT_FAILURE);
        int m = snprintf(copy, n + 256, "%.*s%s%s", (int)before, bytes, change[k].to,
                         at ? at + length : "");
        write_file(broken, copy, (size_t)m);
        const char *const as[] = {loom_path(), "as", broken, NULL};
        run_result r = run_command(as, SECONDS);
        bool good = at && r.status == 2 && strstr(r.err, "E0613") && strstr(r.err, change[k].place);
        tap(good, "text with '%.*s' for '%s' is rejected", (int)strcspn(change[k].to, "\n"),
            change[k].to, change[k].from);
        if (!good) tap_note("status %d: %.300s", r.status, r.err ? r.err : "");
        run_free(&r);
        free(copy);
    }
    free(bytes);
}

int main(int argc, char **argv)
{
    static const char *const functional[] = {
        "fnptr_table", "noinline_calls", "recursion",      "const_mem",   "switch_divergent",
        "local_array", "wgmma_bf16",     "cluster_reduce", "f64_special", "hist_shared"};
    static const char *const timing[] = {"vecadd",     "tma1d_copy", "cluster_hist",
                                         "hgemm_wmma", "recursion",  "vote_match_redux"};
    all_modules = argc > 1 && strcmp(argv[1], "--all") == 0;
    scratch = scratch_make();
    bool readelf = has_readelf();
    round_trips("suite/kernels/*.ptx", readelf);
    round_trips("corpus/kernels/*.ptx", readelf);
    round_trips("../ptx/exec/*/*.ptx", readelf);
    round_trips("../ptx/accept/*.ptx", readelf);
    round_trips("../ptx/timing/*.ptx", readelf);
    early_functions();
    for (size_t k = 0; k < sizeof functional / sizeof *functional; k++)
        runs_alike(functional[k], "functional");
    for (size_t k = 0; k < sizeof timing / sizeof *timing; k++) runs_alike(timing[k], "timing");
    char *example = data_path("../../examples/saxpy.ptx");
    damage(example);
    wrong_text(example);
    free(example);
    scratch_remove(scratch);
    return tap_done();
}
