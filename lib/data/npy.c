/* npy.c - headers of .npy files.
 *
 *   \x93NUMPY, major, minor, length (2 bytes; from format 2.0: 4), then the dictionary
 *
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 *
 * The header is a Python dictionary padded with spaces so that the data start at a multiple of 64.
 */
#include "lib/data/npy.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_HEADER = 65535 };

/* Returns the text after 'key': in the header, or NULL. */
static const char *after_key(const char *header, const char *key)
{
    const char *p = strstr(header, key);
    if (!p) return NULL;
    p += strlen(key);
    if (*p != '\'' && *p != '"') return NULL;
    p++;
    while (*p == ' ') p++;
    if (*p != ':') return NULL;
    p++;
    while (*p == ' ') p++;
    return p;
}

static const char *parse(const char *header, pl_npy *out)
{
    const char *descr = after_key(header, "descr"), *order = after_key(header, "fortran_order");
    const char *shape = after_key(header, "shape");
    if (!descr || !order || !shape || *shape != '(')
        return "its header lacks descr, fortran_order or shape";
    if (*descr != '\'' && *descr != '"') return "its elements are records, not single numbers";
    size_t n = strcspn(descr + 1, "'\"");
    if (n >= sizeof out->dtype) return "its element type is not known";
    memcpy(out->dtype, descr + 1, n);
    out->dtype[n] = '\0';
    out->count = 1;
    int dimensions = 0;
    for (const char *p = shape + 1; *p != ')';) {
        char *end;
        while (*p == ' ' || *p == ',') p++;
        if (*p == ')') break;
        if (*p < '0' || *p > '9') return "its shape is not a list of numbers";
        uint64_t size = strtoull(p, &end, 10);
        if (size != 0 && out->count > UINT64_MAX / 16 / size) return "its shape is too large";
        out->count *= size;
        dimensions++;
        p = end;
    }
    out->fortran = strncmp(order, "True", 4) == 0 && dimensions > 1;
    return NULL;
}

const char *pl_npy_read(FILE *f, pl_npy *out)
{
    unsigned char start[12];
    *out = (pl_npy){.count = 0};
    if (fread(start, 1, 10, f) != 10 || memcmp(start, "\x93NUMPY", 6) != 0)
        return "it does not start as a .npy file does";
    uint32_t length = start[8] | (uint32_t)start[9] << 8;
    out->data = 10;
    if (start[6] >= 2) {
        if (fread(start + 10, 1, 2, f) != 2) return "it ends within its header";
        length |= (uint32_t)start[10] << 16 | (uint32_t)start[11] << 24;
        out->data = 12;
    }
    if (length > MAX_HEADER) return "its header is too long";
    char *header = malloc(length + 1);
    if (!header) return "there is no memory for its header";
    const char *problem = "it ends within its header";
    if (fread(header, 1, length, f) == length) {
        header[length] = '\0';
        problem = parse(header, out);
    }
    free(header);
    out->data += length;
    return problem;
}

bool pl_npy_matches(const pl_npy *n, const pl_element *e)
{
    const char *d = n->dtype;
    char order = *d, kind, expected = e->kind == 's' ? 'i' : e->kind;
    unsigned long bytes;
    if (order == '<' || order == '|' || order == '=')
        d++;
    else if (order == '>')
        return false;
    kind = *d;
    char *end;
    bytes = strtoul(kind ? d + 1 : d, &end, 10);
    if (*end != '\0') return false;
    if (kind == 'b' && bytes == 1) kind = 'u'; /* booleans */
    if (bytes != e->bytes) return false;
    if (kind == expected) return strcmp(e->name, "bf16") != 0; /* <f2 is f16 */
    /* NumPy has no 8-bit floats and no bf16: raw bytes or unsigned integers represent them. */
    return e->npy[1] == 'V' && (kind == 'V' || kind == 'u');
}

bool pl_npy_write(FILE *f, const pl_element *e, uint64_t count)
{
    char header[128];
    int n = snprintf(header, sizeof header,
                     "{'descr': '%s', 'fortran_order': False, 'shape': (%" PRIu64 ",), }", e->npy,
                     count);
    int padded = 118; /* 10 + 118 = 128; ends with a newline */
    memset(header + n, ' ', (size_t)(padded - n));
    header[padded - 1] = '\n';
    return fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, f) == 10 &&
           fwrite(header, 1, (size_t)padded, f) == (size_t)padded;
}
