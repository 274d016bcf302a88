/* parser.c - the entry point of the PTX front end.
 *
 * pl_ptx_parse copies the text, unless it may be modified (flex terminates tokens with a NUL in
 * place), runs the grammar and reports the errors that only the end of the file reveals. */
#include "ptx/internal.h"
#include "base/guard.h"
#include "ptx/parse/parse.h"

#include <string.h>

/* from lex.l */
int pl_ptx_yylex_init_extra(pl_parse *p, yyscan_t *scanner);
struct yy_buffer_state *pl_ptx_yy_scan_buffer(char *text, size_t size, yyscan_t scanner);
int pl_ptx_yylex_destroy(yyscan_t scanner);
void pl_ptx_lex_leave(yyscan_t scanner);

/* Reports a character outside ASCII, or a NUL. */
static void report_character(pl_parse *p, const char *s, const char *end, pl_loc at)
{
    const bool first = at.line == 1 && at.column == 1;
    pl_diag *d = pl_report(p->diags, PL_E0101, at, pl_parse_show_character(p, s, end));
    if (!*s)
        d->help = "remove it: a string of C ends with it, a file does not";
    else if (first && end - s >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0)
        d->help = "save the file without a byte order mark (as ASCII or \"UTF-8 without BOM\")";
    else
        d->help = "replace it: PTX is ASCII, in comments and strings as well";
}

/* PTX is ASCII, including comments and strings: reports each line with other characters once. */
static void require_ascii(pl_parse *p, const char *text, size_t n)
{
    uint32_t line = 1;
    const char *start = text, *end = text + n;
    bool seen = false;
    for (const char *s = text; s < end; s++) {
        if (*s == '\n') {
            line++;
            start = s + 1;
            seen = false;
        } else if (((unsigned char)*s >= 0x80 || !*s) && !seen) {
            report_character(p, s, end, (pl_loc){p->ast->file, line, (uint32_t)(s - start) + 1, 1});
            seen = true;
        }
    }
}

static pl_status parse(pl_arena *arena, pl_arena *names, pl_diags *diags, uint32_t file,
                       const pl_parse_options *o, pl_ast **out)
{
    const struct pl_diag_file *source = &diags->file.at[file];
    PL_GUARD(return PL_NOMEM)
    size_t errors = diags->errors, first_diag = diags->list.n;
    pl_parse *p = pl_arena_new(names, pl_parse);
    pl_ast *ast = pl_arena_new(arena, pl_ast);
    char *text = o->own ? o->own : pl_arena_alloc(names, source->size + 2);
    yyscan_t scanner;
    p->arena = ast->arena = arena;
    p->names = names;
    p->diags = ast->diags = diags;
    p->ast = ast;
    ast->file = file;
    ast->address_size = 32;
    p->lanes = o->lanes;
    p->ready = o->ready;
    p->ready_ctx = o->ctx;
    p->errors = errors;
    p->line = 1;
    p->line_start = text;
    p->scope = pl_arena_new(names, pl_scope);
    p->matcher = pl_matcher_new(arena);
    p->opcodes = pl_arena_array(names, pl_opcode, PL_OPCODES);
    pl_map_init(&p->section_labels, names);
    pl_map_init(&p->locs, names);
    pl_map_init(&p->inlines, names);
    pl_node_new(p, PL_N_WRONG, (pl_loc){0});
    pl_names_begin(p);
    if (!o->own) memcpy(text, source->text, source->size);
    text[source->size] = text[source->size + 1] = 0;
    *pl_push(arena, &ast->files) = NULL;
    if (pl_ptx_yylex_init_extra(p, &scanner)) return PL_NOMEM;
    require_ascii(p, text, source->size);
    struct yy_buffer_state *buffer = pl_ptx_yy_scan_buffer(text, source->size + 2, scanner);
    int rc = buffer ? pl_ptx_yyparse(scanner, p) : 2;
    if (buffer) pl_ptx_lex_leave(scanner);
    pl_ptx_yylex_destroy(scanner);
    if (rc == 2 && !p->max_depth_reported) return PL_NOMEM;
    if (rc == 0 || p->seen_version) pl_module_end(p);
    if (p->newer) pl_module_suggest_version(p, first_diag);
    *out = ast;
    if (!pl_parse_ok(p)) return PL_NOMEM;
    return diags->errors > errors ? PL_INVALID : PL_OK;
}

pl_status pl_ptx_parse(pl_arena *arena, pl_diags *diags, uint32_t file, const pl_parse_options *o,
                       pl_ast **out)
{
    pl_arena *names = pl_arena_open();
    *out = NULL;
    pl_status st = names ? parse(arena, names, diags, file, o, out) : PL_NOMEM;
    pl_arena_close(names);
    return st;
}
