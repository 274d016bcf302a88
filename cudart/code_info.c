/* code_info.c - registers of the kernels in a program's machine code for the modelled GPU.
 *
 * Kernels run from PTX, but attributes and occupancy are those of the code that hardware executes.
 * The code is decompressed when registers are first queried, which most programs never do.
 * The section .nv.info of machine code is a list of attributes. */
#include "cudart/state.h"
#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
    FORMAT_SIZED =
        4, /* EIFMT_SVAL of cuobjdump -elf: the value follows, of the size in the header */
    ATTRIBUTE_REGISTERS = 47 /* EIATTR_REGCOUNT: number of the symbol, registers of a thread */
};

typedef struct attribute_header {
    uint8_t format, attribute;
    uint16_t size; /* or the value, in other formats */
} attribute_header;

typedef struct code_file {
    const unsigned char *data;
    size_t bytes;
    Elf64_Ehdr header;
} code_file;

/* False: there is no such section in the file. A section without bytes has size 0. */
static bool read_section(const code_file *f, unsigned k, Elf64_Shdr *s)
{
    if (k >= f->header.e_shnum) return false;
    memcpy(s, f->data + f->header.e_shoff + k * sizeof *s, sizeof *s);
    if (s->sh_type == SHT_NOBITS) s->sh_offset = s->sh_size = 0;
    return s->sh_offset <= f->bytes && s->sh_size <= f->bytes - s->sh_offset;
}

static bool open_file(code_file *f, const void *data, size_t bytes)
{
    *f = (code_file){.data = data, .bytes = bytes};
    if (bytes < sizeof f->header || memcmp(data, ELFMAG, SELFMAG) != 0) return false;
    memcpy(&f->header, data, sizeof f->header);
    return f->header.e_type == ET_EXEC && f->header.e_shentsize == sizeof(Elf64_Shdr) &&
           f->header.e_shoff <= bytes &&
           f->header.e_shnum <= (bytes - f->header.e_shoff) / sizeof(Elf64_Shdr);
}

/* Returns the string at an offset of a string table; NULL: it does not end there. */
static const char *string_at(const code_file *f, const Elf64_Shdr *table, uint64_t at)
{
    const char *text = (const char *)f->data + table->sh_offset;
    return at < table->sh_size && memchr(text + at, 0, table->sh_size - at) ? text + at : NULL;
}

static bool find_section(const code_file *f, const char *name, Elf64_Shdr *s)
{
    Elf64_Shdr names;
    if (!read_section(f, f->header.e_shstrndx, &names)) return false;
    for (unsigned k = 0; k < f->header.e_shnum; k++) {
        const char *own = read_section(f, k, s) ? string_at(f, &names, s->sh_name) : NULL;
        if (own && strcmp(own, name) == 0) return true;
    }
    return false;
}

static bool find_symbols(const code_file *f, Elf64_Shdr *s)
{
    for (unsigned k = 0; k < f->header.e_shnum; k++)
        if (read_section(f, k, s) && s->sh_type == SHT_SYMTAB) return true;
    return false;
}

static void add_kernel(cuda_module *m, const char *name, unsigned registers)
{
    cuda_code *code = cuda_array_room(m->code, m->ncode, &m->cap_code, sizeof *code);
    char *copy = code ? strdup(name) : NULL;
    if (code) m->code = code;
    if (copy) m->code[m->ncode++] = (cuda_code){copy, registers};
}

static void read_attributes(cuda_module *m, const code_file *f)
{
    Elf64_Shdr info, symbols, strings;
    Elf64_Sym symbol;
    if (!find_section(f, ".nv.info", &info) || !find_symbols(f, &symbols) ||
        !read_section(f, symbols.sh_link, &strings))
        return;
    const unsigned char *at = f->data + info.sh_offset, *const end = at + info.sh_size;
    attribute_header h;
    while ((size_t)(end - at) >= sizeof h) {
        uint32_t value[2];
        memcpy(&h, at, sizeof h);
        at += sizeof h;
        if (h.format != FORMAT_SIZED) continue;
        if (h.size > (size_t)(end - at)) return;
        if (h.attribute == ATTRIBUTE_REGISTERS && h.size == sizeof value) {
            memcpy(value, at, sizeof value);
            if (value[0] >= symbols.sh_size / sizeof symbol) return;
            memcpy(&symbol, f->data + symbols.sh_offset + value[0] * sizeof symbol, sizeof symbol);
            const char *name = string_at(f, &strings, symbol.st_name);
            if (name) add_kernel(m, name, value[1]);
        }
        at += h.size;
    }
}

/* Reads the kernels of the module's machine code; nothing if it has none. */
static void read_code(cuda_module *m)
{
    code_file f;
    uint8_t *code;
    size_t bytes;
    const void *container = m->container[0];
    m->code_read = true;
    if (!container || cuda_fatbin_code(container, cuda_capability(), &code, &bytes) != CU_OK)
        return;
    if (open_file(&f, code, bytes)) read_attributes(m, &f);
    free(code);
}

unsigned cuda_registers(cuda_function *f)
{
    cuda_module *m = f->module;
    if (f->registers) return f->registers;
    if (!m->code_read) read_code(m);
    f->registers = f->info.registers;
    for (size_t k = 0; k < m->ncode; k++)
        if (strcmp(m->code[k].kernel, f->name) == 0) f->registers = m->code[k].registers;
    return f->registers;
}

void cuda_code_free(cuda_module *m)
{
    for (size_t k = 0; k < m->ncode; k++) free(m->code[k].kernel);
    free(m->code);
}
