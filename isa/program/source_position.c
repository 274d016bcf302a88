/* source_position.c - positions in CUDA source files, as .loc gives them. See source_position.h. */
#include "isa/program/source_position.h"

#include <stdio.h>
#include <string.h>

enum { MAX_CALLS = 8 };

static const char *file_name(const pl_program *p, uint32_t file)
{
    const char *path = file < p->files.n ? p->files.at[file] : NULL;
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

/* Appends what fits; a position that does not fit is cut. */
static size_t append(char *buf, size_t size, size_t used, const char *before, const char *name,
                     uint32_t line)
{
    int n = used < size ? snprintf(buf + used, size - used, "%s%s:%u", before, name, line) : 0;
    return n > 0 ? used + (size_t)n : used;
}

bool pl_cuda_position(const pl_program *p, uint32_t line, char *buf, size_t size)
{
    const pl_prog_line *l = line < p->lines.n ? &p->lines.at[line] : NULL;
    const char *name = l && l->src_line ? file_name(p, l->src_file) : NULL;
    size_t used = 0;
    if (size) buf[0] = '\0';
    if (!name) return false;
    used = append(buf, size, used, "", name, l->src_line);
    uint32_t call = l->inlined;
    for (unsigned k = 0; call && k < MAX_CALLS; k++) {
        const pl_prog_inline *c = &p->inlines.at[call - 1];
        const char *caller = file_name(p, c->src_file);
        used =
            append(buf, size, used, k ? ", " : " (inlined at ", caller ? caller : "?", c->src_line);
        call = c->inlined;
    }
    if (l->inlined && used + 1 < size) memcpy(buf + used, ")", 2);
    return true;
}
