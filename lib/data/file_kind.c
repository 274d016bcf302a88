/* file_kind.c - files given in place of PTX: detects their kind, and advises how to make PTX from
 * them. */
#include "lib/internal.h"

#include <string.h>

#include "isa/object/asm_text.h"
#include "isa/object/elf.h"

static const char from_source[] = "compile it to PTX: `nvcc -ptx -arch=sm_90 %s -o kernel.ptx`, or "
                                  "`clang++ -S --cuda-device-only "
                                  "--cuda-gpu-arch=sm_80 %s -o kernel.ptx`";
static const char from_binary[] =
    "`cuobjdump -xptx all %s` extracts the PTX, if it contains any; `nvcc -ptx` compiles the "
    "source to PTX";
static const char from_cubin[] = "it contains no PTX: compile the source to PTX, with `nvcc -ptx "
                                 "-arch=sm_90 kernel.cu -o kernel.ptx`";
static const char from_utf16[] = "write it as ASCII: `iconv -f UTF-16 -t ASCII %s`";
static const char from_json[] = "a launch file has a name that ends in .json";
static const char from_other[] =
    "PTX begins with .version, .target and .address_size, as `nvcc -ptx -arch=sm_90 kernel.cu -o "
    "kernel.ptx` writes it";
static const char from_ir[] =
    "compile it to PTX: `llc -march=nvptx64 -mcpu=sm_90 %s -o kernel.ptx`";

/* Kinds by the first bytes. */
static const struct {
    const char *begins;
    size_t n;
    const char *what, *help; /* help: each %s is replaced by the file's name */
} contents[] = {
    {"SQLite format 3", 16, "a trace", "query it with `ptxloom query %s summary`"},
    {"\x50\xed\x55\xba", 4, "a fat binary of the CUDA compiler", from_binary},
    {"BC\xc0\xde", 4, "LLVM bitcode", from_ir},
    {"!<arch>\n", 8, "an archive of objects", from_binary},
    {"\xff\xfe", 2, "text in UTF-16", from_utf16},
    {"\xfe\xff", 2, "text in UTF-16", from_utf16},
    {"<!DOCTYPE html>", 15, "a page for a browser", NULL},
};

/* Kinds by the file name extension. */
static const struct {
    const char *ending, *what, *help;
} names[] = {
    {".cu", "CUDA source", from_source},
    {".cuh", "CUDA source", from_source},
    {".cubin", "machine code for a GPU (cubin)", from_cubin},
    {".fatbin", "a fat binary of the CUDA compiler", from_binary},
    {".ll", "LLVM assembly", from_ir},
    {".json", "a launch file", "run it with `ptxloom run %s`"},
    {".litmus", "a litmus test", "run it with `ptxloom litmus %s`"},
    {".db", "a trace", "query it with `ptxloom query %s summary`"},
};

enum { MACHINE_OFFSET = 18, NVIDIA = 190, SHOWN = 40 };

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n > m && strcmp(s + n - m, end) == 0;
}

/* Replaces each %s of a help text by the file's name. */
static const char *substitute_name(pl_gpu *gpu, const char *help, const char *path)
{
    const char *text = "";
    for (const char *placeholder; help && (placeholder = strstr(help, "%s")) != NULL;
         help = placeholder + 2)
        text =
            pl_arena_printf(gpu->messages, "%s%.*s%s", text, (int)(placeholder - help), help, path);
    return help ? pl_arena_printf(gpu->messages, "%s%s", text, help) : NULL;
}

static pl_status reject(pl_gpu *gpu, const char *path, const char *what, const char *help)
{
    pl_diag *d = pl_report(&gpu->diags, PL_E0017, (pl_loc){.file = UINT32_MAX}, path, what);
    const char *text = substitute_name(gpu, help, path);
    if (text) d->help = text;
    return PL_INVALID;
}

/* The first character that is neither blank nor in a comment, or the end of the text. */
static const char *first_text(const char *s)
{
    while (*s) {
        s += strspn(s, " \t\r\n\f\x1a");
        if (strncmp(s, "//", 2) == 0) {
            s += strcspn(s, "\n");
        } else if (strncmp(s, "/*", 2) == 0) {
            const char *end = strstr(s + 2, "*/");
            s = end ? end + 2 : s + strlen(s);
        } else {
            break;
        }
    }
    return s;
}

/* A file without .version: PTX with an error if it begins with a directive, or has nothing but
 * comments. */
static pl_status check_beginning(pl_gpu *gpu, const char *path, const char *text, size_t n)
{
    if (n >= 4 && !text[0] != !text[1] && !text[0] == !text[2] && !text[1] == !text[3])
        return reject(gpu, path, "text in UTF-16", from_utf16);
    const size_t mark = n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* of UTF-8 */
    const char *s = first_text(text + mark);
    if (*s == '.' || s == text + n) return PL_OK;
    if (*s == '{') return reject(gpu, path, "JSON", from_json);
    size_t length = strcspn(s, "\r\n");
    bool binary = length == 0; /* a zero byte */
    for (size_t k = 0; k < length; k++)
        binary |= ((unsigned char)s[k] < ' ' && s[k] != '\t') || s[k] == 127;
    if (binary) return reject(gpu, path, "binary data", from_other);
    const bool whole = length <= SHOWN;
    if (!whole)
        for (length = SHOWN; length && ((unsigned char)s[length] & 0xc0) == 0x80;) length--;
    const char *what = pl_arena_printf(gpu->messages, "text that begins with '%.*s%s'", (int)length,
                                       s, whole ? "" : "...");
    return reject(gpu, path, what, from_other);
}

pl_status pl_file_is_program(pl_gpu *gpu, const char *path, const char *text, size_t n)
{
    PL_GUARD(return pl_gpu_no_memory(gpu, "while loading a module"))
    for (size_t k = 0; k < sizeof contents / sizeof *contents; k++)
        if (n >= contents[k].n && memcmp(text, contents[k].begins, contents[k].n) == 0)
            return reject(gpu, path, contents[k].what, contents[k].help);
    if (n >= 4 && memcmp(text, "\177ELF", 4) == 0) {
        if (n <= MACHINE_OFFSET + 1) return PL_OK; /* a truncated object */
        const unsigned machine = (unsigned char)text[MACHINE_OFFSET] |
                                 (unsigned)(unsigned char)text[MACHINE_OFFSET + 1] << 8;
        if (machine == NVIDIA)
            return reject(gpu, path, "machine code for a GPU (cubin)", from_cubin);
        if (machine) return reject(gpu, path, "a program or object for the host", from_binary);
        return PL_OK;
    }
    if (strstr(text, ".version")) return PL_OK; /* PTX under any file name */
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (ends_with(path, names[k].ending))
            return reject(gpu, path, names[k].what, names[k].help);
    return strstr(text, "__global__") ? reject(gpu, path, "CUDA source", from_source)
                                      : check_beginning(gpu, path, text, n);
}

pl_status pl_file_is_ptx(pl_gpu *gpu, const char *path, const char *text, size_t n)
{
    PL_GUARD(return pl_gpu_no_memory(gpu, "while loading a module"))
    const pl_status st = pl_file_is_program(gpu, path, text, n);
    const char *what = pl_object_is(text, n) ? "an object"
                       : pl_asm_is(text, n)  ? "a machine program as text"
                                             : NULL;
    return st == PL_OK && what ? reject(gpu, path, what, "show it with `ptxloom dis %s`") : st;
}

const char *pl_file_hint(pl_gpu *gpu, const char *path)
{
    PL_GUARD(return NULL)
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (ends_with(path, names[k].ending)) return substitute_name(gpu, names[k].help, path);
    if (ends_with(path, ".ptx") || ends_with(path, ".plo") || ends_with(path, ".pla"))
        return substitute_name(
            gpu,
            "run a kernel of it with `ptxloom run %s -g BLOCKS -b THREADS ARG ...`; "
            "`ptxloom run --help` has more",
            path);
    return NULL;
}
