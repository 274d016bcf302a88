/* caller.c - finds the function of the program that called the library. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/activity.h"
#include "cudart/image.h"
#include "cudart/state.h"

enum { FRAMES = 64 }; /* maximum callers examined */

/* Returns the function of the file that contains the address, which is relative to the file. */
static const Elf64_Sym *function_at(const cuda_host_image *i, uint64_t address)
{
    for (size_t k = 0; k < i->nsymbols; k++) {
        const Elf64_Sym *s = &i->symbol[k];
        if (ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_shndx != SHN_UNDEF &&
            address - s->st_value < s->st_size)
            return s;
    }
    return NULL;
}

/* True for functions of Thrust, CUB and the C++ library, by their mangled names. */
static bool is_of_library(const char *name)
{
    static const char *const library[] = {"6thrust", "3cub", "St", "9__gnu_cxx"};
    if (strncmp(name, "_Z", 2) != 0) return false;
    name += 2 + strspn(name + 2, "ZNK"); /* also a member of a class within such a function */
    for (size_t k = 0; k < sizeof library / sizeof *library; k++)
        if (strncmp(name, library[k], strlen(library[k])) == 0) return true;
    return false;
}

/* True for templates of the runtime's headers, and for functions that nvcc generates for a kernel
 * or its launch: their caller is more informative. */
static bool is_generated(const char *name, const void *function)
{
    return strstr(name, "__cudaLaunchKernel_helper") || strstr(name, "__device_stub__") ||
           (function && cuda_table_get(&cuda.functions, function)) ||
           (strncmp(name, "_Z", 2) == 0 &&
            strncmp(name + 2 + strspn(name + 2, "LN0123456789"), "cuda", 4) == 0);
}

/* Formats the address of the program as "main+0x42". False: see is_generated. */
static bool format_position(const void *code, const Dl_info *object, char *text, size_t size)
{
    cuda_host_image i;
    const bool opened =
        cuda_host_image_open(object->dli_fname, &i) || cuda_host_image_open("/proc/self/exe", &i);
    const uint64_t address = (uintptr_t)code - 1, base = (uintptr_t)object->dli_fbase;
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)(const void *)i.bytes;
    const uint64_t file_address = opened && e->e_type == ET_EXEC ? address : address - base;
    const Elf64_Sym *s =
        opened && cuda_host_image_symbols(&i, SHT_SYMTAB) ? function_at(&i, file_address) : NULL;
    const char *name = s ? cuda_host_image_name(&i, s) : "",
               *slash = strrchr(object->dli_fname, '/');
    if (s) {
        char *shown = cuda_demangle_short(name);
        snprintf(text, size, "%s+0x%llx", shown ? shown : name,
                 (unsigned long long)(file_address - s->st_value));
        free(shown);
    }
    if (!s)
        snprintf(text, size, "%s+0x%llx", slash ? slash + 1 : object->dli_fname,
                 (unsigned long long)file_address);
    const uint64_t start = s ? s->st_value + (e->e_type == ET_EXEC ? 0 : base) : 0;
    const bool generated =
        is_generated(name, (const void *)(uintptr_t)start) || is_of_library(name);
    cuda_host_image_close(&i);
    return !generated;
}

static bool format_object(const void *code, const Dl_info *object, char *text, size_t size)
{
    (void)code;
    snprintf(text, size, "%s", object->dli_fname);
    return true;
}

typedef bool name_frame(const void *code, const Dl_info *object, char *text, size_t size);

/* Finds the first caller outside this library that has a name. */
static void find_caller(name_frame *name, char *text, size_t size)
{
    void *frame[FRAMES];
    Dl_info library, at = {0};
    const int n = backtrace(frame, FRAMES);
    text[0] = '\0';
    if (!dladdr((void *)(uintptr_t)cuda_caller, &library)) return;
    bool in_library =
        false; /* after frames of this library; a sanitizer's frame may precede them */
    for (int k = 0; k < n && dladdr(frame[k], &at); k++) {
        in_library |= at.dli_fbase == library.dli_fbase;
        if (in_library && at.dli_fbase != library.dli_fbase && name(frame[k], &at, text, size))
            return;
    }
}

void cuda_caller(char *text, size_t size)
{
    find_caller(format_position, text, size);
}

void cuda_position(const void *code, char *text, size_t size)
{
    Dl_info object;
    if (dladdr(code, &object))
        format_position(code, &object, text, size);
    else
        snprintf(text, size, "the program");
}

/* Functions that nvcc inserts into programs are named without the underscores. */
const char *cuda_call_name(void)
{
    const char *call = cuda_self.call;
    return call && strncmp(call, "__", 2) == 0 ? call + 2 : call;
}

void cuda_describe_call(const char *caller, char *text, size_t size)
{
    snprintf(text, size, "%s, call %lld%s%s", cuda_self.call ? cuda_call_name() : "the program",
             (long long)cuda_self.call_id, caller[0] ? ", in " : "", caller);
}

char *cuda_made_by(const char *what)
{
    char caller[200], call[300], text[400];
    cuda_caller(caller, sizeof caller);
    cuda_describe_call(caller, call, sizeof call);
    snprintf(text, sizeof text, "%s of %s", what, call);
    return strdup(text);
}

void cuda_calling_object(char *text, size_t size)
{
    find_caller(format_object, text, size);
}
