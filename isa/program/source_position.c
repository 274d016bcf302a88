/* source_position.c - positions in CUDA source files, from .loc. See source_position.h. */
#include "isa/program/source_position.h"

#include <stdio.h>
#include <string.h>

enum { MAX_CALLS = 8 };

static const char *path_of(const pl_program *p, uint32_t file)
{
    return file < p->files.n ? p->files.at[file] : NULL;
}

static const char *file_name(const pl_program *p, uint32_t file)
{
    const char *path = path_of(p, file);
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

/* Appends as much as fits; a position that does not fit is truncated. */
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

static bool is_header(const pl_program *p, uint32_t file)
{
    const char *path = path_of(p, file);
    return !path || strstr(path, "/include/");
}

bool pl_cuda_user_line(const pl_program *p, uint32_t line, const char **path, uint32_t *src_line)
{
    const pl_prog_line *l = line < p->lines.n ? &p->lines.at[line] : NULL;
    if (!l || !l->src_line) return false;
    uint32_t file = l->src_file, call = l->inlined;
    *src_line = l->src_line;
    while (call && is_header(p, file)) {
        const pl_prog_inline *c = &p->inlines.at[call - 1];
        file = c->src_file;
        *src_line = c->src_line;
        call = c->inlined;
    }
    *path = path_of(p, file);
    return *path != NULL;
}
