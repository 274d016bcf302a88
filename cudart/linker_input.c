/* linker_input.c - the result of linking, and the PTX in images that are linked: fat binaries,
 * objects and libraries. Device code of a host object is in the sections .nv_fatbin and
 * __nv_relfatbin. */
#include "cudart/state.h"
#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* The result of linking: a list of texts. It follows the header of an ELF file of CUDA, which
 * programs may look for. */
typedef struct list_header {
    unsigned char file[64];
    char magic[8];
    uint64_t texts;
} list_header;

_Static_assert(sizeof(list_header) == CUDA_LINK_HEADER, "state.h has its size");
static const list_header link_header = {
    .file = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x33, [16] = 2, [18] = 190, [20] = 1, [52] = 64},
    .magic = "PLLINK1"};

bool cuda_is_link(const void *image)
{
    const list_header *h = image;
    enum { SIGNATURE = 4 }; /* other images may be shorter than a header */
    return memcmp(image, link_header.file, SIGNATURE) == 0 &&
           memcmp(h->file, link_header.file, sizeof link_header.file) == 0 &&
           memcmp(h->magic, link_header.magic, sizeof link_header.magic) == 0;
}

/* Returns the texts of a list, owned by the caller. */
int cuda_link_texts(const void *image, char ***texts, size_t *n)
{
    const unsigned char *at = image;
    uint64_t count, bytes;
    memcpy(&count, at + offsetof(list_header, texts), sizeof count);
    at += sizeof link_header;
    *texts = calloc(count ? count : 1, sizeof **texts);
    *n = 0;
    if (!*texts) return CU_MEMORY_ALLOCATION;
    for (uint64_t k = 0; k < count; k++) {
        memcpy(&bytes, at, sizeof bytes);
        at += sizeof bytes;
        char *text = malloc(bytes + 1);
        if (!text) return CU_MEMORY_ALLOCATION;
        memcpy(text, at, bytes);
        text[bytes] = '\0';
        at += bytes;
        (*texts)[(*n)++] = text;
    }
    return CU_OK;
}

static void append_bytes(unsigned char **to, const void *bytes, size_t n)
{
    memcpy(*to, bytes, n);
    *to += n;
}

size_t cuda_link_image(unsigned char *to, char *const *text, size_t texts)
{
    size_t size = sizeof link_header;
    list_header h = link_header;
    h.texts = texts;
    for (size_t k = 0; k < texts; k++) size += sizeof(uint64_t) + strlen(text[k]);
    if (!to) return size;
    append_bytes(&to, &h, sizeof h);
    for (size_t k = 0; k < texts; k++) {
        const uint64_t n = strlen(text[k]);
        append_bytes(&to, &n, sizeof n);
        append_bytes(&to, text[k], n);
    }
    return size;
}

static const char archive_magic[] = "!<arch>\n";

/* Adds the PTX of fat binaries that follow each other. Zeros between them are padding. */
static int add_fatbins(const unsigned char *data, size_t bytes, cuda_text_sink *sink)
{
    enum { ALIGNMENT = 8 };
    int error = CU_OK;
    for (size_t at = 0, n; !error && at < bytes; at += n) {
        char code[CUDA_FATBIN_CODE], *text = NULL;
        size_t length;
        n = cuda_fatbin_size(data + at, bytes - at);
        if (!n) {
            n = ALIGNMENT;
            continue;
        }
        error = cuda_fatbin_ptx(data + at, cuda_capability(), &text, &length, code);
        if (error == CU_NO_IMAGE)
            error = CU_OK;
        else if (!error)
            error = sink->take(sink, text);
        n = (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    return error;
}

static bool is_device_section(const char *name)
{
    return strcmp(name, ".nv_fatbin") == 0 || strcmp(name, "__nv_relfatbin") == 0;
}

static int add_object(const unsigned char *data, size_t bytes, cuda_text_sink *sink)
{
    Elf64_Ehdr file;
    Elf64_Shdr names, section;
    int error = CU_OK;
    if (bytes < sizeof file) return CU_INVALID_IMAGE;
    memcpy(&file, data, sizeof file);
    if (file.e_shoff > bytes || file.e_shentsize != sizeof section ||
        file.e_shnum > (bytes - file.e_shoff) / sizeof section || file.e_shstrndx >= file.e_shnum)
        return CU_INVALID_IMAGE;
    const unsigned char *table = data + file.e_shoff;
    memcpy(&names, table + file.e_shstrndx * sizeof names, sizeof names);
    if (names.sh_offset > bytes || names.sh_size > bytes - names.sh_offset || !names.sh_size ||
        data[names.sh_offset + names.sh_size - 1])
        return CU_INVALID_IMAGE;
    for (unsigned k = 0; !error && k < file.e_shnum; k++) {
        memcpy(&section, table + k * sizeof section, sizeof section);
        if (section.sh_name >= names.sh_size || section.sh_type == SHT_NOBITS) continue;
        if (!is_device_section((const char *)data + names.sh_offset + section.sh_name)) continue;
        if (section.sh_offset > bytes || section.sh_size > bytes - section.sh_offset)
            return CU_INVALID_IMAGE;
        error = add_fatbins(data + section.sh_offset, section.sh_size, sink);
    }
    return error;
}

/* Adds the members of an ar archive. Members that are not objects, such as the index, are skipped.
 */
static int add_archive(const unsigned char *data, size_t bytes, cuda_text_sink *sink)
{
    enum { HEADER = 60, SIZE_AT = 48, SIZE_DIGITS = 10 };
    int error = CU_OK;
    size_t at = sizeof archive_magic - 1;
    while (!error && bytes - at >= HEADER) {
        char digits[SIZE_DIGITS + 1] = "";
        memcpy(digits, data + at + SIZE_AT, SIZE_DIGITS);
        const size_t size = (size_t)strtoul(digits, NULL, 10);
        at += HEADER;
        if (size > bytes - at) return CU_INVALID_IMAGE;
        if (size > SELFMAG && memcmp(data + at, ELFMAG, SELFMAG) == 0)
            error = add_object(data + at, size, sink);
        at += size + (size & 1);
        if (at > bytes) break;
    }
    return error;
}

static int add_list(const void *list, cuda_text_sink *sink)
{
    char **text;
    size_t n;
    int error = cuda_link_texts(list, &text, &n);
    for (size_t k = 0; k < n; k++)
        if (error)
            free(text[k]);
        else
            error = sink->take(sink, text[k]);
    free(text);
    return error;
}

int cuda_link_input(const void *input, size_t bytes, cuda_text_sink *sink)
{
    const unsigned char *data = input;
    const size_t archive = sizeof archive_magic - 1;
    if (cuda_fatbin_size(data, bytes)) return add_fatbins(data, bytes, sink);
    if (bytes >= archive && memcmp(data, archive_magic, archive) == 0)
        return add_archive(data, bytes, sink);
    if (bytes >= CUDA_LINK_HEADER && cuda_is_link(data)) return add_list(data, sink);
    if (bytes >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0)
        return add_object(data, bytes, sink);
    return CU_INVALID_IMAGE;
}
