/* image.h - a file of the program as stored on disk. */
#ifndef PL_CUDART_IMAGE_H
#define PL_CUDART_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
/* Finds the full symbol table, which strip removes. */
bool cuda_host_image_symbols(cuda_host_image *i);
const char *cuda_host_image_name(const cuda_host_image *i, const Elf64_Sym *s);

#endif
