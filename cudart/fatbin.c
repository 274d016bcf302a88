/* fatbin.c - fat binaries: containers of entries, each PTX or machine code for one target, plain or
 * compressed.
 *
 * The container has a header of 16 bytes, followed by entries, each with a header that gives its
 * own length and that of the padded payload. PTX is compressed as one zstd frame or one raw LZ4
 * block. */
#include "cudart/state.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONTAINER_MAGIC = (int)0xBA55ED50,
    KIND_PTX = 1,
    KIND_CODE = 2,
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    FLAG_EXACT = 0x100000,  /* sm_90a */
    FLAG_FAMILY = 0x200000, /* sm_100f */
    MAX_TEXT = 1 << 30
};

typedef struct entry {
    uint16_t kind, version;
    uint32_t header;
    uint64_t padded;
    uint32_t compressed, options;
    uint16_t minor, major;
    uint32_t arch, name, name_length;
    uint64_t flags, unused, size;
} entry;
_Static_assert(sizeof(entry) == 64, "layout of a fat binary");

bool cuda_is_fatbin(const void *data)
{
    uint32_t magic;
    memcpy(&magic, data, sizeof magic);
    return magic == (uint32_t)CONTAINER_MAGIC;
}

/* ---------------------------------------------------------------- compression */

/* Reads a length that continues in bytes of 255. False: end of input. */
static bool read_length(const uint8_t **in, const uint8_t *end, size_t *length)
{
    uint8_t b = 255;
    while (b == 255) {
        if (*in == end) return false;
        b = *(*in)++;
        *length += b;
    }
    return true;
}

/* Decompresses one LZ4 block; true if it has exactly `size` bytes. */
static bool lz4(const uint8_t *in, size_t n, uint8_t *to, size_t size)
{
    const uint8_t *end = in + n;
    size_t at = 0;
    while (in < end) {
        const uint8_t token = *in++;
        size_t literals = token >> 4, match = token & 15;
        if (literals == 15 && !read_length(&in, end, &literals)) return false;
        if (literals > (size_t)(end - in) || literals > size - at) return false;
        memcpy(to + at, in, literals);
        at += literals;
        in += literals;
        if (in == end) break; /* the last sequence has no match */
        if (end - in < 2) return false;
        const size_t distance = in[0] | (size_t)in[1] << 8;
        in += 2;
        if (match == 15 && !read_length(&in, end, &match)) return false;
        match += 4;
        if (distance == 0 || distance > at || match > size - at) return false;
        for (size_t k = 0; k < match; k++, at++) to[at] = to[at - distance]; /* they may overlap */
    }
    return at == size;
}

typedef size_t zstd_decompress(void *to, size_t size, const void *from, size_t n);

/* libzstd is loaded when a program requires it: dpkg depends on it, so Debian and Ubuntu have it.
 */
static bool zstd(const uint8_t *in, size_t n, uint8_t *to, size_t size)
{
    static zstd_decompress *decompress;
    if (!decompress) {
        void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
        void *symbol = library ? dlsym(library, "ZSTD_decompress") : NULL;
        if (!symbol) {
            cuda_report(
                "the program's kernels are compressed with zstd, and libzstd.so.1 is missing: "
                "install the package 'libzstd1', or build with nvcc's option --no-compress");
            return false;
        }
        memcpy(&decompress, &symbol, sizeof decompress);
    }
    return decompress(to, size, in, n) == size;
}

/* Decompresses a payload of *bytes bytes, and appends a NUL. */
static int unpack(const entry *e, const uint8_t *payload, uint8_t **out, size_t *bytes)
{
    const bool packed = (e->flags & (FLAG_LZ4 | FLAG_ZSTD)) != 0;
    const uint64_t size = packed ? e->size : e->padded;
    if (size > MAX_TEXT || e->compressed > e->padded) return CU_INVALID_IMAGE;
    uint8_t *to = malloc((size_t)size + 1);
    if (!to) return CU_MEMORY_ALLOCATION;
    bool ok = true;
    if (!packed)
        memcpy(to, payload, (size_t)size);
    else if (e->flags & FLAG_ZSTD)
        ok = zstd(payload, e->compressed, to, (size_t)size);
    else
        ok = lz4(payload, e->compressed, to, (size_t)size);
    if (!ok) {
        free(to);
        return CU_INVALID_IMAGE;
    }
    to[size] = 0;
    *out = to;
    *bytes = (size_t)size;
    return CU_OK;
}

/* ---------------------------------------------------------------- selection */

/* True if the machine supports PTX of this target. */
static bool supports(unsigned capability, const entry *e)
{
    if (e->flags & FLAG_EXACT) return e->arch == capability;
    if (e->flags & FLAG_FAMILY) return e->arch / 10 == capability / 10 && e->arch <= capability;
    return e->arch <= capability;
}

/* True if hardware of this capability executes the machine code. */
static bool executes(unsigned capability, const entry *e)
{
    return e->arch / 10 == capability / 10 && supports(capability, e);
}

/* Of two targets with one number, the one with more features is preferred. */
static unsigned rank(const entry *e)
{
    const unsigned features = e->flags & FLAG_EXACT ? 2 : e->flags & FLAG_FAMILY ? 1 : 0;
    return e->arch * 4 + features;
}

static void append_code(char code[CUDA_FATBIN_CODE], const entry *e)
{
    const size_t n = strlen(code);
    snprintf(code + n, CUDA_FATBIN_CODE - n, "%s%s%u%s", n ? ", " : "",
             e->kind == KIND_CODE ? "machine code for sm_" : "PTX for sm_", e->arch,
             e->flags & FLAG_EXACT    ? "a"
             : e->flags & FLAG_FAMILY ? "f"
                                      : "");
}

/* PTX of a container. */
typedef struct found_ptx {
    entry e;
    const uint8_t *payload; /* NULL: none */
} found_ptx;

static void find_ptx(found_ptx *f, const entry *e, const uint8_t *payload, bool better)
{
    if (!f->payload || better) *f = (found_ptx){*e, payload};
}

static void read_header(const uint8_t *container, uint16_t *header, uint64_t *size)
{
    memcpy(header, container + 6, sizeof *header);
    memcpy(size, container + 8, sizeof *size);
}

size_t cuda_fatbin_size(const void *data, size_t bytes)
{
    enum { HEADER = 16 };
    uint16_t header;
    uint64_t size;
    if (bytes < HEADER || !cuda_is_fatbin(data)) return 0;
    read_header(data, &header, &size);
    return header >= HEADER && header <= bytes && size <= bytes - header ? (size_t)(header + size)
                                                                         : 0;
}

/* False: it is not a fat binary. */
static bool open_container(const void *container, const uint8_t **at, const uint8_t **end)
{
    uint16_t header;
    uint64_t size;
    if (!cuda_is_fatbin(container)) return false;
    read_header(container, &header, &size);
    *at = (const uint8_t *)container + header;
    *end = *at + size;
    return true;
}

/* False: the entry does not fit. */
static bool read_entry(const uint8_t *at, const uint8_t *end, entry *e)
{
    memcpy(e, at, sizeof *e);
    return e->header >= sizeof *e && e->header <= (size_t)(end - at) &&
           e->padded <= (size_t)(end - at) - e->header;
}

int cuda_fatbin_code(const void *container, unsigned capability, uint8_t **code, size_t *bytes)
{
    const uint8_t *at, *end, *payload = NULL;
    entry e, best = {0};
    if (!open_container(container, &at, &end)) return CU_INVALID_IMAGE;
    for (; (size_t)(end - at) >= sizeof e; at += e.header + e.padded) {
        if (!read_entry(at, end, &e)) return CU_INVALID_IMAGE;
        if (e.kind != KIND_CODE || !executes(capability, &e)) continue;
        if (payload && rank(&e) <= rank(&best)) continue;
        best = e;
        payload = at + e.header;
    }
    return payload ? unpack(&best, payload, code, bytes) : CU_NO_IMAGE;
}

int cuda_fatbin_ptx(const void *container, unsigned capability, char **text, size_t *bytes,
                    char code[CUDA_FATBIN_CODE])
{
    const uint8_t *at, *end;
    found_ptx best = {0}, newer = {0}; /* newer: the lowest target that the machine lacks */
    bool has_code = false;
    entry e;
    *text = NULL;
    code[0] = '\0';
    if (!open_container(container, &at, &end)) return CU_INVALID_IMAGE;
    while ((size_t)(end - at) >= sizeof(entry)) {
        if (!read_entry(at, end, &e)) return CU_INVALID_IMAGE;
        const bool ptx = e.kind == KIND_PTX;
        if (ptx && supports(capability, &e))
            find_ptx(&best, &e, at + e.header, rank(&e) > rank(&best.e));
        else if (ptx && !(e.flags & (FLAG_EXACT | FLAG_FAMILY)))
            find_ptx(&newer, &e, at + e.header, rank(&e) < rank(&newer.e));
        if (e.kind == KIND_CODE) has_code |= executes(capability, &e);
        if (ptx || e.kind == KIND_CODE) append_code(code, &e);
        at += e.header + e.padded;
    }
    if (best.payload) code[0] = '\0';
    if (!best.payload && has_code) best = newer;
    if (!best.payload) return CU_NO_IMAGE;
    uint8_t *bytes_of_text;
    const int error = unpack(&best.e, best.payload, &bytes_of_text, bytes);
    if (error) return error;
    *text = (char *)bytes_of_text;
    *bytes = strlen(*text); /* the text ends with a NUL, followed by padding */
    return CU_OK;
}
