/* input.c - one input of the coverage-guided fuzzer; see input.h. */
#include "tests/fuzz/input.h"

#include "base/arena.h"
#include "base/sha256.h"
#include "isa/object/asm_text.h"
#include "isa/object/elf.h"
#include "isa/object/elf_layout.h"
#include "ptx/format.h"
#include "ptxloom.h"
#include "traces/pack/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_BUFFERS ((uint64_t)1 << 20)

static void broken(const char *promise)
{
    fprintf(stderr, "broken promise: %s\n", promise);
    abort();
}

static pl_gpu *open_gpu(const char *machine)
{
    pl_gpu *gpu;
    if (pl_gpu_open(&gpu, machine) != PL_OK) broken("a built-in machine opens");
    return gpu;
}

/* Every message can be formatted; every rejection has a message. */
static void close_gpu(pl_gpu *gpu, pl_status st)
{
    size_t n = pl_gpu_diag_count(gpu);
    if (st != PL_OK && n == 0) broken("a rejection has a message");
    for (size_t k = 0; k < n; k++)
        if (!pl_gpu_diag(gpu, k, false).rendered) broken("a message can be formatted");
    pl_gpu_close(gpu);
}

/* ---- modules ---- */

/* An object identifies its module, and loads again; so does the text form. */
static void save(pl_gpu *gpu, pl_module *m)
{
    for (int form = PL_SAVE_OBJECT; form <= PL_SAVE_TEXT; form++) {
        const char *at;
        size_t n;
        pl_module *again;
        if (pl_module_save(m, (pl_save_form)form, &at, &n) != PL_OK)
            broken("a loaded program can be saved");
        pl_status st = pl_module_load(gpu, "again", at, n, NULL, &again);
        if (st != PL_OK && form == PL_SAVE_OBJECT) broken("a saved program loads again");
        pl_module_close(again);
    }
}

static void load(const char *text, size_t n, int opt_level)
{
    pl_gpu *gpu = open_gpu(NULL);
    pl_module *m;
    const pl_load_options o = {.opt_level = opt_level};
    pl_status st = pl_module_load(gpu, "input", text, n, &o, &m);
    if (m) {
        if (opt_level) save(gpu, m);
        for (uint32_t pc = 0; pc < pl_module_code_size(m); pc++) (void)pl_module_listing(m, pc);
        pl_module_close(m);
    }
    close_gpu(gpu, st);
}

/* Formatting a module is idempotent. */
static void format(const char *text, size_t n)
{
    pl_gpu *gpu = open_gpu(NULL);
    pl_arena *a = pl_arena_open();
    pl_module *none;
    const pl_load_options check = {.check_only = true};
    char *once = NULL, *twice = NULL;
    size_t first = 0, second = 0;
    pl_status st = pl_module_load(gpu, "input", text, n, &check, &none);
    if (st == PL_OK && !pl_object_is(text, n) && !pl_asm_is(text, n)) {
        if (!a || pl_ptx_format(a, text, n, &once, &first) != PL_OK ||
            pl_ptx_format(a, once, first, &twice, &second) != PL_OK)
            broken("a module without errors can be formatted");
        if (first != second || memcmp(once, twice, first) != 0) broken("formatting is idempotent");
        if (pl_module_load(gpu, "layout", once, first, &check, &none) != PL_OK)
            broken("a formatted module is a module");
    }
    pl_arena_close(a);
    close_gpu(gpu, st);
}

void input_seal(char *object, size_t n)
{
    const size_t note = sizeof(Elf64_Ehdr) + 12 + PL_NOTE_NAME_BYTES;
    char hex[65];
    pl_sha256 s;
    if (n < note + PL_NOTE_BYTES || memcmp(object, ELFMAG, SELFMAG) != 0) return;
    pl_table_hash(hex);
    memcpy(object + note + PL_NOTE_TABLE, hex, 64);
    memset(object + note + PL_NOTE_CONTENT, 0, 64);
    pl_sha256_init(&s);
    pl_sha256_add(&s, object, n);
    pl_sha256_hex(&s, hex);
    memcpy(object + note + PL_NOTE_CONTENT, hex, 64);
}

/* ---- packed events ---- */

/* A rejected block has a reason, whichever column or list of addresses is corrupted. */
static void read_packed(uint8_t *block, size_t n, pl_packed_stream stream)
{
    pl_unpacker u;
    const char *why = NULL;
    if (n >= 4) {
        const uint32_t sum = pl_packed_checksum(block + 4, n - 4);
        memcpy(block, &sum, sizeof sum);
    }
    if (!pl_unpack_open(&u, stream, block, n, &why) && !why)
        broken("a rejected block has a reason");
    for (unsigned c = 0; !why && c < pl_packed_ncolumns(stream); c++)
        if (!pl_unpack_column(&u, c, &why) && !why) broken("a rejected column has a reason");
    for (uint32_t row = 0; !why && stream == PL_PACKED_MEM_STREAM && row < u.n; row++) {
        int64_t offset[PL_TRACED_LANES];
        char text[22 * PL_TRACED_LANES + 2];
        const char *ignored;
        if (pl_unpack_offsets(&u, row, offset, &ignored) &&
            pl_packed_offsets_text(text, u.column[PL_PM_MASK][row], offset) > sizeof text)
            broken("the offsets of a row are within their maximum size");
    }
    pl_unpack_close(&u);
}

/* ---- files ---- */

static void write_file(const char *path, const uint8_t *data, size_t n)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, n, f) != n || fclose(f) != 0) exit(EXIT_FAILURE);
}

static const char kernel[] =
    ".version 9.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) { ret; }\n";

/* Small arguments are also stored in memory. */
static void prepare(pl_gpu *gpu, pl_case *c)
{
    uint64_t bytes = 0;
    pl_module *m;
    pl_launch l = {0};
    for (size_t k = 0; k < c->nargs; k++)
        bytes += c->arg[k].bytes < LARGEST_BUFFERS ? c->arg[k].bytes : LARGEST_BUFFERS;
    if (bytes >= LARGEST_BUFFERS) return;
    c->entry = NULL;
    if (pl_module_load(gpu, "k.ptx", kernel, sizeof kernel - 1, NULL, &m) != PL_OK)
        broken("a module without errors loads");
    if (pl_case_prepare(c, m, &l) == PL_OK) {
        char hex[65], text[64];
        for (size_t k = 0; k < c->nargs; k++) {
            pl_case_sha256(c, k, hex);
            if (c->arg[k].count) pl_case_element(c, k, 0, text, sizeof text);
        }
    }
    pl_case_release(c);
    pl_module_close(m);
}

static void read_launch(const char *path)
{
    pl_gpu *gpu = open_gpu(NULL); /* reading one takes longer than everything after it */
    pl_case *c;
    pl_status st = pl_case_read(gpu, path, &c);
    if (c) prepare(gpu, c);
    pl_case_close(c);
    close_gpu(gpu, st);
}

static void read_argument(const char *text)
{
    pl_gpu *gpu = open_gpu(NULL);
    pl_case *c;
    if (pl_case_open(gpu, &c) != PL_OK) exit(EXIT_FAILURE);
    pl_status st = pl_case_add_arg(c, text);
    if (st == PL_OK) prepare(gpu, c);
    pl_case_close(c);
    close_gpu(gpu, st);
}

static void read_machine(const char *path)
{
    pl_gpu *gpu;
    pl_occupancy_info o;
    pl_status st = pl_gpu_open(&gpu, path);
    if (st == PL_OK) (void)pl_gpu_occupancy(gpu, 256, 32, 1024, 1, &o);
    close_gpu(gpu, st);
}

void input_read(const char *folder, const uint8_t *data, size_t n)
{
    if (n == 0) return;
    char path[512], *text = malloc(n);
    if (!text) exit(EXIT_FAILURE);
    memcpy(text, data + 1, n - 1);
    text[n - 1] = 0;
    snprintf(path, sizeof path, "%s/%s", folder,
             data[0] == INPUT_MACHINE ? "input.conf" : "input.json");
    if (data[0] == INPUT_MACHINE || data[0] == INPUT_LAUNCH) write_file(path, data + 1, n - 1);
    switch (data[0]) {
    case INPUT_OBJECT:
        input_seal(text, n - 1);
        load(text, n - 1, 2);
        break;
    case INPUT_PTX: load(text, n - 1, 2); break;
    case INPUT_PLAIN:
        format(text, n - 1);
        load(text, n - 1, 0);
        break;
    case INPUT_LAUNCH: read_launch(path); break;
    case INPUT_ARGUMENT: read_argument(text); break;
    case INPUT_MACHINE: read_machine(path); break;
    case INPUT_PACKED:
        if (n > 2) read_packed((uint8_t *)text + 1, n - 2, (pl_packed_stream)(*text & 1));
        break;
    default: break;
    }
    free(text);
}
