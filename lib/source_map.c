/* source_map.c - the PTX source of a module: source positions for messages, and the line that an
 * instruction was assembled from.
 *
 * The program text is the concatenation of the module's PTX files; its line numbers run through
 * all files. Messages and listings give the file and the line within it. Diagnostics may outlive
 * the module: when it is closed, the text that they still show is copied to the memory of the
 * diagnostics. */
#include "lib/internal.h"
#include <string.h>

/* Returns the offset of every line of the text; computed on first use. */
static const uint32_t *line_starts(pl_module *m)
{
    const pl_program *p = m->program;
    if (m->line.complete) return m->line.at;
    m->line.n = 0;
    const char *at = p->text, *end = p->text + p->text_bytes;
    while (at && at < end) {
        *pl_push(m->arena, &m->line) = (uint32_t)(at - p->text);
        at = memchr(at, '\n', (size_t)(end - at));
        if (at) at++;
    }
    m->line.complete = true;
    return m->line.at;
}

const char *pl_module_line(pl_module *m, uint32_t line, uint32_t *bytes)
{
    const uint32_t *start = line_starts(m);
    *bytes = 0;
    if (!start || line == 0 || line > m->line.n) return NULL;
    const char *text = m->program->text, *p = text + start[line - 1],
               *end = text + m->program->text_bytes;
    while (p < end && (*p == ' ' || *p == '\t')) p++;
    const char *first = p;
    while (p < end && *p != '\n' && *p != '\r') p++;
    *bytes = (uint32_t)(p - first);
    return first;
}

size_t pl_module_source_of(const pl_module *m, uint32_t line)
{
    size_t k = m->source.n;
    while (k > 1 && m->source.at[k - 1].lines_before >= line) k--;
    return k ? k - 1 : 0;
}

/* Returns the text of one of the files. */
static const char *text_of(pl_module *m, size_t k, size_t *bytes)
{
    const pl_program *p = m->program;
    const uint32_t *start = line_starts(m);
    *bytes = 0;
    if (!start) return NULL;
    uint32_t first = m->source.at[k].lines_before,
             last = k + 1 < m->source.n ? m->source.at[k + 1].lines_before : (uint32_t)m->line.n;
    size_t from = first < m->line.n ? start[first] : p->text_bytes,
           to = last < m->line.n ? start[last] : p->text_bytes;
    *bytes = to > from ? to - from : 0;
    return p->text + from;
}

pl_loc pl_module_position(pl_module *m, uint32_t line)
{
    const pl_program *p = m->program;
    if (m->source.n == 0) return (pl_loc){.file = UINT32_MAX};
    bool known = line < p->lines.n;
    size_t k = known ? pl_module_source_of(m, p->lines.at[line].ptx_line) : 0;
    pl_module_source *s = &m->source.at[k];
    pl_loc at = {0};
    if (s->epoch == m->gpu->epoch) {
        at.file = s->file;
    } else {
        size_t bytes;
        const char *text = text_of(m, k, &bytes);
        at.file = pl_gpu_source(m->gpu, s->name, text, bytes, &s->file, &s->epoch);
    }
    if (known) {
        at.line = p->lines.at[line].ptx_line - s->lines_before;
        at.column = p->lines.at[line].ptx_column;
    }
    return at;
}

static void keep_source(pl_gpu *gpu, const pl_module_source *s)
{
    if (s->epoch != gpu->epoch) return;
    struct pl_diag_file *f = &gpu->diags.file.at[s->file];
    bool referenced = false;
    for (size_t i = 0; i < gpu->diags.list.n; i++)
        referenced |= gpu->diags.list.at[i].at.file == s->file;
    char *copy = referenced && f->text ? pl_arena_alloc(gpu->messages, f->size + 1) : NULL;
    if (copy) memcpy(copy, f->text, f->size);
    f->text = copy;
    f->name = referenced ? pl_arena_strdup(gpu->messages, f->name) : NULL;
}

void pl_module_keep_sources(pl_module *m)
{
    for (size_t k = 0; k < m->source.n; k++) keep_source(m->gpu, &m->source.at[k]);
}
