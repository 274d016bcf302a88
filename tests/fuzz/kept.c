/* kept.c - regression test with the corpus of the coverage-guided fuzzer (covered.c).
 *
 * tests/data/fuzz/kept.xz holds them consecutively, each preceded by its length as eight
 * hexadecimal digits. Reading them must end without a crash and without a broken guarantee
 * (input.h), and in a build with --enable-sanitizers without a report.
 *
 *     tests/fuzz/kept                   reads them all
 *     tests/fuzz/kept FILE...           reads these inputs
 *     tests/fuzz/kept --pack FOLDER     packs the inputs of a folder into that form
 *     tests/fuzz/kept --unpack FOLDER   unpacks them into files
 *     tests/fuzz/kept --seeds FOLDER    seed inputs: the .ptx tests, objects assembled from them,
 *       launch files, machine files
 *     tests/fuzz/kept --words           words of the instruction table, a dictionary of libFuzzer
 *       */
#include "isa/table/form.h"
#include "ptxloom.h"
#include "tests/fuzz/input.h"
#include "tests/harness.h"
#include "traces/pack/format.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_SEED ((size_t)12000)

static void write_input(const char *folder, char kind, size_t number, const char *at, size_t n)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%c%05zu", folder, kind ? kind : 'k', number);
    FILE *f = fopen(path, "wb");
    if (!f || (kind && fputc(kind, f) == EOF) || fwrite(at, 1, n, f) != n || fclose(f) != 0) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(EXIT_FAILURE);
    }
}

/* ---- seed inputs ---- */

static void seed_objects(const char *folder, size_t number, const char *text, size_t n)
{
    pl_gpu *gpu;
    pl_module *m;
    if (pl_gpu_open(&gpu, NULL) != PL_OK) exit(EXIT_FAILURE);
    if (pl_module_load(gpu, "seed.ptx", text, n, NULL, &m) == PL_OK)
        for (int form = PL_SAVE_OBJECT; form <= PL_SAVE_TEXT; form++) {
            const char *at;
            size_t size;
            if (pl_module_save(m, (pl_save_form)form, &at, &size) == PL_OK && size <= LARGEST_SEED)
                write_input(folder, INPUT_OBJECT, 2 * number + (size_t)form, at, size);
        }
    pl_module_close(m);
    pl_gpu_close(gpu);
}

/* Blocks of both streams, with few and with more rows, regular and irregular. */
static void seed_packed(const char *folder)
{
    pl_packer *packer = pl_packer_open();
    for (unsigned k = 0; packer && k < 16; k++) {
        const pl_packed_stream stream = k & 1 ? PL_PACKED_MEM_STREAM : PL_PACKED_INST_STREAM;
        pl_packed_block *b = pl_packed_new(stream);
        pl_packed_span span[PL_SPAN_COUNT];
        if (!b) exit(EXIT_FAILURE);
        pl_packed_clear(b, 1);
        b->nwarps = 4;
        for (unsigned w = 0; w < b->nwarps; w++) b->warp[w] = (pl_packed_warp){w / 2, w & 1, w};
        b->n = k < 4 ? 3 : 40;
        for (uint32_t i = 0; i < b->n; i++) {
            const uint32_t odd = k & 8 ? i * 2654435761u >> 20 : i, pc = i / 4 % 7;
            uint64_t lane[PL_PACKED_LANES];
            for (unsigned l = 0; l < PL_PACKED_LANES; l++) lane[l] = 256 + (k & 4 ? l * l : 4) * l;
            if (stream == PL_PACKED_INST_STREAM)
                b->row.inst[i] = (pl_packed_inst){.id = i,
                                                  .cycle = 10 + odd,
                                                  .mask = UINT32_MAX,
                                                  .pc = pc,
                                                  .waited = odd & 7,
                                                  .latency = 4,
                                                  .weight = 1,
                                                  .warp = (uint16_t)(i % 4)};
            else
                b->row.mem[i] = (pl_packed_mem){
                    .id = i,
                    .inst = 2 * i,
                    .cycle = 10 + odd,
                    .address = lane[0],
                    .mask = UINT32_MAX,
                    .pc = pc,
                    .latency = odd,
                    .access = PL_ACCESS(1, 0, 4, pl_packed_add_offsets(b, pc, UINT32_MAX, lane)),
                    .warp = (uint16_t)(i % 4),
                    .sectors = 4,
                    .wavefronts = 1};
        }
        size_t n;
        char all[1 << 16];
        const uint8_t *bytes = pl_packer_pack(packer, b, span, &n);
        if (bytes && n + 1 < sizeof all) {
            all[0] = (char)stream;
            memcpy(all + 1, bytes, n);
            write_input(folder, INPUT_PACKED, k, all, n + 1);
        }
        pl_packed_free(b);
    }
    pl_packer_close(packer);
}

static void seeds(const char *folder)
{
    static const struct {
        char kind;
        const char *pattern;
    } source[] = {{INPUT_PTX, "tests/ptx/*/*.ptx"},
                  {INPUT_PTX, "tests/ptx/*/*/*.ptx"},
                  {INPUT_PTX, "examples/*.ptx"},
                  {INPUT_LAUNCH, "examples/*.json"},
                  {INPUT_LAUNCH, "labs/*.json"},
                  {INPUT_LAUNCH, "tests/ptx/*/*/*.json"},
                  {INPUT_LAUNCH, "tests/data/suite/cases/*.json"},
                  {INPUT_MACHINE, "arch/*.conf"}};
    static const char *const argument[] = {"u32:7", "out:f32[1024]=hash:3,-1,1",
                                           "f32[64]=const:1.5", "u8[16]=iota",
                                           "in:b64[3]=file:x.npy"};
    const char *top = getenv("srcdir");
    char pattern[512];
    for (size_t s = 0, number = 0; s < sizeof source / sizeof *source; s++) {
        glob_t g;
        snprintf(pattern, sizeof pattern, "%s/%s", top ? top : ".", source[s].pattern);
        if (glob(pattern, 0, NULL, &g) != 0) continue;
        for (size_t k = 0; k < g.gl_pathc; k++, number++) {
            size_t n;
            char *text = read_whole(g.gl_pathv[k], &n);
            if (n <= LARGEST_SEED) {
                write_input(folder, source[s].kind, number, text, n);
                if (source[s].kind == INPUT_PTX) {
                    write_input(folder, INPUT_PLAIN, number, text, n);
                    seed_objects(folder, number, text, n);
                }
            }
            free(text);
        }
        globfree(&g);
    }
    seed_packed(folder);
    for (size_t k = 0; k < sizeof argument / sizeof *argument; k++)
        write_input(folder, INPUT_ARGUMENT, k, argument[k], strlen(argument[k]));
}

static void words(void)
{
    static const char *const more[] = {".visible .entry k()", ".func",        ".param .b8 x[8]",
                                       ".reg .b32 %r<9>;",    "@%p1 ",        ".align 8",
                                       ".callprototype",      "{%r1,%r2}",    "[%rd1+8]",
                                       "0f3F800000",          ".version 9.0", ".target sm_100a"};
    for (unsigned w = 1; w < W_count; w++)
        if (pl_word_text[w][0] && !strpbrk(pl_word_text[w], "\"\\"))
            printf("\".%s\"\n", pl_word_text[w]);
    for (unsigned m = 0; m < pl_nmnems; m++)
        if (isalpha((unsigned char)pl_mnems[m].name[0])) printf("\"%s\"\n", pl_mnems[m].name);
    for (size_t k = 0; k < sizeof more / sizeof *more; k++) printf("\"%s\"\n", more[k]);
}

/* ---- the corpus ---- */

static void pack(const char *folder)
{
    char pattern[512];
    glob_t g;
    snprintf(pattern, sizeof pattern, "%s/*", folder);
    if (glob(pattern, 0, NULL, &g) != 0) exit(EXIT_FAILURE);
    for (size_t k = 0; k < g.gl_pathc; k++) {
        size_t n;
        char *at = read_whole(g.gl_pathv[k], &n);
        printf("%08zx", n);
        fwrite(at, 1, n, stdout);
        free(at);
    }
    globfree(&g);
}

/* Reads every input, or writes it into a folder; false: the file is damaged. */
static bool each(const char *all, size_t size, const char *folder, const char *scratch,
                 size_t *count)
{
    for (size_t at = 0; at < size; ++*count) {
        char head[9] = {0}, *end;
        if (size - at < 8) return false;
        memcpy(head, all + at, 8);
        size_t n = strtoul(head, &end, 16);
        if (*end || n > size - at - 8) return false;
        uint8_t *own = malloc(n ? n : 1); /* of exactly this size, for the sanitizers */
        if (!own) return false;
        memcpy(own, all + at + 8, n);
        if (folder)
            write_input(folder, 0, *count, all + at + 8, n);
        else
            input_read(scratch, own, n);
        free(own);
        at += 8 + n;
    }
    return true;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--words")) {
        words();
        return EXIT_SUCCESS;
    }
    if (argc == 3 && !strcmp(argv[1], "--seeds")) {
        seeds(argv[2]);
        return EXIT_SUCCESS;
    }
    if (argc == 3 && !strcmp(argv[1], "--pack")) {
        pack(argv[2]);
        return EXIT_SUCCESS;
    }
    bool unpack = argc == 3 && !strcmp(argv[1], "--unpack");
    if (argc > 1 && !unpack) {
        char *scratch = scratch_make();
        for (int k = 1; k < argc; k++) {
            size_t n;
            char *at = read_whole(argv[k], &n);
            input_read(scratch, (const uint8_t *)at, n);
            free(at);
        }
        scratch_remove(scratch);
        return EXIT_SUCCESS;
    }
    size_t size, count = 0;
    char *path = data_path("fuzz/kept.xz"), *all = read_whole(path, &size);
    char *scratch = scratch_make();
    bool whole = each(all, size, unpack ? argv[2] : NULL, scratch, &count);
    scratch_remove(scratch);
    free(path);
    free(all);
    if (unpack) return whole ? EXIT_SUCCESS : EXIT_FAILURE;
    tap(whole && count > 0, "%zu inputs of the fuzzer's corpus", count);
    return tap_done();
}
