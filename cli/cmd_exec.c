/* cmd_exec.c - `ptxloom exec`: starts a CUDA program with the CUDA library of ptxloom in place of
 * NVIDIA's.
 *
 * The library reads the options from $PTXLOOM_OPTIONS and reports wrong values. This process
 * becomes the program (exec), so its standard streams, signals and exit status are those of the
 * program. */
#include "cli/cli.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cli_option option[] = {
#define EXEC_OPTION(id, name, letter, takes, help) {name, letter, takes, help},
#include "include/exec_options.def"
#undef EXEC_OPTION
};
enum { OPTIONS = sizeof option / sizeof *option };

static const char usage[] =
    "ptxloom exec [OPTION ...] [--] PROGRAM [ARGUMENT ...]\n\n"
    "PROGRAM was built by nvcc, with the runtime linked in or -cudart shared, and holds PTX.\n";

enum { LIBRARY_FOLDER = 4096 };

/* Finds the folder of the CUDA library: next to this program if it is not installed. */
static bool find_library_folder(char to[LIBRARY_FOLDER])
{
    static const char name[] = "/libcudart.so.13";
    const ssize_t n = readlink("/proc/self/exe", to, LIBRARY_FOLDER - 64);
    if (n > 0) {
        to[n] = '\0';
        char *slash = strrchr(to, '/');
        if (slash) {
            strcpy(slash, "/cudart");
            char *end = slash + strlen(slash);
            strcpy(end, name);
            const bool found = access(to, R_OK) == 0;
            *end = '\0';
            if (found) return true;
        }
    }
    snprintf(to, LIBRARY_FOLDER, "%s", PL_CUDART_DIR);
    char path[LIBRARY_FOLDER + sizeof name];
    snprintf(path, sizeof path, "%s%s", to, name);
    return access(path, R_OK) == 0;
}

/* Prepends text to a list in the environment. */
static bool prepend(const char *variable, const char *text, char separator)
{
    const char *old = getenv(variable);
    if (!old || !*old) return setenv(variable, text, 1) == 0;
    const size_t n = strlen(text) + strlen(old) + 2;
    char *joined = malloc(n);
    if (!joined) return false;
    snprintf(joined, n, "%s%c%s", text, separator, old);
    const bool ok = setenv(variable, joined, 1) == 0;
    free(joined);
    return ok;
}

/* Appends a word to the options; blanks and backslashes in it are escaped by a backslash. */
static char *append_word(char *to, const char *word)
{
    for (; *word; word++) {
        if (*word == ' ' || *word == '\\') *to++ = '\\';
        *to++ = *word;
    }
    *to = '\0';
    return to;
}

static char *append_option(char *to, const cli_option *o, const char *value)
{
    *to++ = ' ';
    to = append_word(to, "--");
    to = append_word(to, o->name);
    if (!value) return to;
    *to++ = ' ';
    return append_word(to, value);
}

static bool ends_with_ptx(const char *name)
{
    const size_t n = strlen(name);
    return n > 4 && strcmp(name + n - 4, ".ptx") == 0;
}

/* ---- statically linked programs ---- */

/* Opens the file that execvp starts; -1: it finds none. */
static int open_program(const char *name)
{
    const char *folders = strchr(name, '/') ? NULL : getenv("PATH");
    if (!folders) return open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    for (const char *at = folders;; at++) {
        char path[LIBRARY_FOLDER];
        const size_t n = strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s%s%s", (int)n, at, n ? "/" : "", name);
        if (access(path, X_OK) == 0) return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        at += n;
        if (!*at) return -1;
    }
}

static bool read_at(int file, uint64_t at, void *to, size_t n)
{
    return pread(file, to, n, (off_t)at) == (ssize_t)n;
}

/* True if the file has the header of a program for this kind of host. */
static bool read_elf(int file, Elf64_Ehdr *h)
{
    return read_at(file, 0, h, sizeof *h) && memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 &&
           h->e_ident[EI_CLASS] == ELFCLASS64 && (h->e_type == ET_EXEC || h->e_type == ET_DYN) &&
           h->e_phentsize == sizeof(Elf64_Phdr) && h->e_shentsize == sizeof(Elf64_Shdr);
}

/* True if the kernel loads the program without a dynamic linker. */
static bool has_no_interpreter(int file, const Elf64_Ehdr *h)
{
    Elf64_Phdr segment;
    for (unsigned k = 0; k < h->e_phnum; k++)
        if (!read_at(file, h->e_phoff + k * sizeof segment, &segment, sizeof segment) ||
            segment.p_type == PT_INTERP)
            return false;
    return true;
}

/* True if nvcc has put kernels into the program. */
static bool has_kernels(int file, const Elf64_Ehdr *h)
{
    static const char wanted[] = ".nv_fatbin";
    Elf64_Shdr names, section;
    char name[sizeof wanted];
    if (!read_at(file, h->e_shoff + h->e_shstrndx * sizeof names, &names, sizeof names))
        return false;
    for (unsigned k = 0; k < h->e_shnum; k++)
        if (read_at(file, h->e_shoff + k * sizeof section, &section, sizeof section) &&
            read_at(file, names.sh_offset + section.sh_name, name, sizeof name) &&
            memcmp(name, wanted, sizeof wanted) == 0)
            return true;
    return false;
}

/* True for a CUDA program into which no library can be loaded. Other statically linked programs,
 * such as shells, may start CUDA programs. */
static bool is_static_cuda_program(const char *name)
{
    Elf64_Ehdr h;
    const int file = open_program(name);
    if (file < 0) return false;
    const bool is = read_elf(file, &h) && has_no_interpreter(file, &h) && has_kernels(file, &h);
    close(file);
    return is;
}

/* ---- the start ---- */

static int start_program(pl_gpu *gpu, const char *options, char **program)
{
    char folder[LIBRARY_FOLDER], library[LIBRARY_FOLDER + 32];
    if (!find_library_folder(folder)) {
        pl_gpu_report(gpu, "E0030", program[0], "the CUDA library of ptxloom is missing", NULL,
                      "it was left out when ptxloom was configured, or is not installed");
        return CLI_SYSTEM;
    }
    if (is_static_cuda_program(program[0])) {
        pl_gpu_report(
            gpu, "E0030", program[0],
            "it is wholly statically linked, and ptxloom's CUDA library is dynamic", NULL,
            "link it without '-static'; nvcc's default, the static CUDA runtime, is fine");
        return CLI_INPUT;
    }
    snprintf(library, sizeof library, "%s/libptxloom_cuda.so", folder);
    if (!prepend("LD_PRELOAD", library, ':') || !prepend("LD_LIBRARY_PATH", folder, ':') ||
        (strstr(options, " --trace ") && setenv("NVTX_INJECTION64_PATH", library, 1) != 0) ||
        setenv("PTXLOOM_OPTIONS", options, 1) != 0)
        return cli_no_memory();
    execvp(program[0], program);
    const int why = errno;
    char here[LIBRARY_FOLDER] = "";
    /* A shell's search path does not contain the current folder. */
    if (why == ENOENT && !strchr(program[0], '/') && access(program[0], F_OK) == 0)
        snprintf(here, sizeof here,
                 ends_with_ptx(program[0]) ? "PTX runs with `ptxloom run %s`"
                                           : "it is in this folder: write ./%s",
                 program[0]);
    pl_gpu_report(gpu, "E0030", program[0], strerror(why), NULL, *here ? here : NULL);
    return why == ENOENT || why == EACCES || why == ENOEXEC || why == ENOTDIR ? CLI_INPUT
                                                                              : CLI_SYSTEM;
}

/* Collects the options as one text; *first: index of the program in argv. CLI_OK, CLI_INPUT,
 * CLI_HELP. */
static int read_options(cli_args *a, char *to, int *first)
{
    for (;;) {
        const int k = cli_next(a, option, OPTIONS);
        if (k == CLI_HELP) return CLI_HELP;
        if (k == CLI_BAD) return CLI_INPUT;
        if (k == CLI_OPERAND) {
            *first = a->at - 1;
            return CLI_OK;
        }
        if (k == CLI_END) {
            pl_gpu_report(a->gpu, "E0007", "exec", "a program", NULL, "ptxloom exec ./program");
            return CLI_INPUT;
        }
        const char *value = option[k].takes ? a->value : NULL;
        to = append_option(to, &option[k], value);
    }
}

int cmd_exec(int argc, char **argv)
{
    pl_gpu *gpu;
    size_t size = 16;
    const char *inherited = getenv("PTXLOOM_OPTIONS");
    int first = 0;
    if (pl_gpu_open(&gpu, NULL) != PL_OK) return CLI_SYSTEM;
    for (int k = 1; k < argc; k++) size += 2 * strlen(argv[k]) + 32;
    if (inherited) size += strlen(inherited) + 1;
    char *options = malloc(size);
    int status = options ? CLI_OK : cli_no_memory();
    cli_args a = {.gpu = gpu, .argc = argc, .argv = argv, .at = 1};
    if (options) {
        strcpy(options, inherited ? inherited : "");
        status = read_options(&a, options + strlen(options), &first);
    }
    if (status == CLI_HELP) {
        cli_help(usage, option, OPTIONS);
        status = CLI_OK;
    } else if (status == CLI_OK) {
        status = start_program(gpu, options, argv + first);
    }
    cli_messages(gpu, 0);
    free(options);
    pl_gpu_close(gpu);
    return status;
}
