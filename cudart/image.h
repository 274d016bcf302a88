/* image.h - a file of the program as stored on disk. */
#ifndef PL_CUDART_IMAGE_H
#define PL_CUDART_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CUDA_RELINK                                                                                \
    "%s has NVIDIA's runtime linked in and no symbol table, so that its calls cannot be "          \
    "redirected. Link it again without -s (and do not strip it), or with nvcc's option -cudart "   \
    "shared"

typedef struct cuda_host_image {
    const uint8_t *bytes;
    size_t size;
    const Elf64_Sym *symbol;
    size_t nsymbols;
    const char *names;
    size_t names_size;
} cuda_host_image;

/* False: it is no 64-bit ELF file. It must be closed in any case. */
bool cuda_host_image_open(const char *path, cuda_host_image *i);
void cuda_host_image_close(cuda_host_image *i);
/* Finds a symbol table: SHT_SYMTAB, the full one, which strip removes, or SHT_DYNSYM. */
bool cuda_host_image_symbols(cuda_host_image *i, uint32_t table);
/* True if it has NVIDIA's runtime linked in, and no full symbol table that locates it. */
bool cuda_host_image_is_stripped_runtime(cuda_host_image *i);
const char *cuda_host_image_name(const cuda_host_image *i, const Elf64_Sym *s);

#endif
