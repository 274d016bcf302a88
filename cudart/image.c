/* image.c - files of the program as stored on disk, and their symbol tables. */
#define _GNU_SOURCE /* memmem */
#include "cudart/image.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_in_file(const cuda_host_image *i, uint64_t at, uint64_t n)
{
    return at <= i->size && n <= i->size - at;
}

bool cuda_host_image_open(const char *path, cuda_host_image *i)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    *i = (cuda_host_image){0};
    if (fd < 0) return false;
    if (fstat(fd, &st) == 0 && st.st_size > (off_t)sizeof(Elf64_Ehdr)) {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p != MAP_FAILED) *i = (cuda_host_image){.bytes = p, .size = (size_t)st.st_size};
    }
    close(fd);
    return i->bytes && memcmp(i->bytes, ELFMAG, SELFMAG) == 0 && i->bytes[EI_CLASS] == ELFCLASS64;
}

void cuda_host_image_close(cuda_host_image *i)
{
    if (i->bytes) munmap((void *)(uintptr_t)i->bytes, i->size);
}

bool cuda_host_image_symbols(cuda_host_image *i, uint32_t table)
{
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)(const void *)i->bytes;
    i->nsymbols = 0;
    if (e->e_shentsize != sizeof(Elf64_Shdr) ||
        !is_in_file(i, e->e_shoff, (uint64_t)e->e_shnum * sizeof(Elf64_Shdr)))
        return false;
    const Elf64_Shdr *s = (const Elf64_Shdr *)(const void *)(i->bytes + e->e_shoff);
    for (size_t k = 0; k < e->e_shnum; k++) {
        if (s[k].sh_type != table || s[k].sh_link >= e->e_shnum) continue;
        const Elf64_Shdr *names = &s[s[k].sh_link];
        if (!is_in_file(i, s[k].sh_offset, s[k].sh_size) ||
            !is_in_file(i, names->sh_offset, names->sh_size) || names->sh_size == 0)
            return false;
        i->symbol = (const Elf64_Sym *)(const void *)(i->bytes + s[k].sh_offset);
        i->nsymbols = s[k].sh_size / sizeof(Elf64_Sym);
        i->names = (const char *)i->bytes + names->sh_offset;
        i->names_size = names->sh_size;
        return i->names[i->names_size - 1] == '\0';
    }
    return false;
}

static bool contains(const cuda_host_image *i, const char *text)
{
    return memmem(i->bytes, i->size, text, strlen(text)) != NULL;
}

bool cuda_host_image_is_stripped_runtime(cuda_host_image *i)
{
    return !cuda_host_image_symbols(i, SHT_SYMTAB) && contains(i, "libcuda.so.1") &&
           contains(i, "cuGetProcAddress") && contains(i, "cudaErrorInvalidValue");
}

const char *cuda_host_image_name(const cuda_host_image *i, const Elf64_Sym *s)
{
    return s->st_name < i->names_size ? i->names + s->st_name : "";
}
