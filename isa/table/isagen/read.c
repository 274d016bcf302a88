/* read.c - parses lines of the table files. */
#include "isa/table/isagen/isagen.h"

list words, groups, classes, mnems, rule_names;
group global[128];
int nglobal;
form *forms;
int nforms, capforms;
insn *insns;
int ninsns, capinsns;
type_info types[80];
int ntypes;
sreg_info sregs[160];
int nsregs;

const type_info *type_find(const char *name)
{
    for (int k = 0; k < ntypes; k++)
        if (!strcmp(types[k].name, name)) return &types[k];
    return NULL;
}

const group *group_find(const form *f, const char *name)
{
    for (int k = 0; f && k < f->nlocal; k++)
        if (!strcmp(f->local[k].name, name)) return &f->local[k];
    if (f && f->insn)
        for (int k = 0; k < f->insn->head.nlocal; k++)
            if (!strcmp(f->insn->head.local[k].name, name)) return &f->insn->head.local[k];
    for (int k = 0; k < nglobal; k++)
        if (!strcmp(global[k].name, name)) return &global[k];
    return NULL;
}

/* Splits "VALUE if COND" at the word `if`. */
void read_rule(rules *rs, char *text, bool quoted)
{
    if (rs->n == (int)(sizeof rs->at / sizeof *rs->at)) {
        fail(cur_file, cur_line, "too many lines of this kind for one form");
        return;
    }
    rule *r = &rs->at[rs->n++];
    memset(r, 0, sizeof *r);
    r->line = cur_line;
    r->file = cur_file;
    if (quoted) { /* where COND "message" */
        char *q = strchr(text, '"'), *e = strrchr(text, '"');
        if (!q || e == q) {
            fail(cur_file, cur_line, "where needs a \"message\"");
            rs->n--;
            return;
        }
        r->cond = trim(copy(text, (size_t)(q - text)));
        r->value = copy(q + 1, (size_t)(e - q - 1));
        return;
    }
    char *c = strstr(text, " if ");
    if (c) {
        r->cond = trim(dup(c + 4));
        *c = 0;
    }
    r->value = dup(trim(text));
}

void merge_rules(rules *to, const rules *from)
{
    for (int k = 0; k < from->n && to->n < (int)(sizeof to->at / sizeof *to->at); k++)
        to->at[to->n++] = from->at[k];
}

static void read_type_line(char *rest)
{
    list l = {0};
    split_words(rest, &l);
    if (l.n != 4 || ntypes == (int)(sizeof types / sizeof *types)) {
        fail(cur_file, cur_line, "type NAME BITS KIND CTYPE");
        return;
    }
    types[ntypes++] = (type_info){l.at[0], l.at[3], atoi(l.at[1]), l.at[2][0]};
    intern(&words, l.at[0]);
}

int version_number(const char *s)
{
    char *e;
    long major = strtol(s, &e, 10);
    return (int)(major * 10 + (*e == '.' ? strtol(e + 1, NULL, 10) : 0));
}

static void read_sreg_line(char *rest)
{
    char *q = strchr(rest, '"'), *e = strrchr(rest, '"');
    list l = {0};
    if (q && e > q) {
        split_words(copy(rest, (size_t)(q - rest)), &l);
        if (l.n == 5 && nsregs < (int)(sizeof sregs / sizeof *sregs)) {
            sregs[nsregs++] = (sreg_info){l.at[0], l.at[1],       copy(q + 1, (size_t)(e - q - 1)),
                                          l.at[4], atoi(l.at[2]), version_number(l.at[3])};
            intern(&words, l.at[0]);
            return;
        }
    }
    fail(cur_file, cur_line, "sreg NAME TYPE COMPONENTS PTX TARGET \"meaning\"");
}

/* Parser state: the context of a line. */
typedef struct reader {
    const char *path, *file;
    int depth, start; /* depth of includes; line of the file */
    form *f;
    insn *in_insn;
} reader;

/* Removes a comment: # outside quotes, at the start of a word. Returns the remaining length. */
static size_t cut_comment(char *raw)
{
    size_t n = strlen(raw);
    while (n && (raw[n - 1] == '\n' || raw[n - 1] == '\r')) raw[--n] = 0;
    for (char *c = raw, *q = NULL; *c; c++) {
        if (*c == '"') q = q ? NULL : c;
        if (*c == '#' && !q && (c == raw || isspace((unsigned char)c[-1]))) {
            *c = 0;
            return (size_t)(c - raw);
        }
    }
    return n;
}

static void read_insn_line(reader *r, char *rest)
{
    if (ninsns == capinsns) {
        capinsns = capinsns ? 2 * capinsns : 512;
        if (insns) { /* forms point at insns, which must not move */
            fail(r->file, r->start, "too many insns");
            return;
        }
        insns = need(calloc((size_t)capinsns * 4, sizeof *insns));
        capinsns *= 4;
    }
    insn *i = r->in_insn = &insns[ninsns++];
    r->f = NULL;
    char *q = strchr(rest, '"'), *e = strrchr(rest, '"');
    if (!q || e == q) {
        fail(r->file, r->start, "insn NAME \"meaning\"");
        q = e = NULL;
    }
    i->name = trim(q ? copy(rest, (size_t)(q - rest)) : dup(rest));
    i->title = q ? copy(q + 1, (size_t)(e - q - 1)) : dup("");
    i->file = r->file;
    i->line = r->start;
    intern(&mnems, i->name);
}

static void read_new_form(reader *r, char *rest)
{
    if (!r->in_insn) {
        fail(r->file, r->start, "form outside of an insn");
        return;
    }
    if (nforms == capforms) {
        capforms = capforms ? 2 * capforms : 1024;
        forms = need(realloc(forms, sizeof *forms * (size_t)capforms));
    }
    r->f = &forms[nforms++];
    memset(r->f, 0, sizeof *r->f);
    r->f->file = r->file;
    r->f->line = r->start;
    r->f->insn = r->in_insn;
    read_form_line(r->f, rest);
}

static void read_include_line(reader *r, char *rest)
{
    const char *slash = strrchr(r->path, '/');
    if (r->depth > 4)
        fail(r->file, r->start, "includes nested too deeply");
    else
        read_file(format("%.*s%s", slash ? (int)(slash - r->path + 1) : 0, r->path, rest),
                  r->depth + 1);
    r->f = NULL;
    r->in_insn = NULL;
}

static void read_group_line(reader *r, char *rest)
{
    char *eq = strchr(rest, '=');
    if (!eq || nglobal == (int)(sizeof global / sizeof *global)) {
        fail(r->file, r->start, "group NAME = words");
        return;
    }
    *eq = 0;
    read_group(&global[nglobal++], rest, eq + 1);
}

/* Dispatches an unindented line on its first word. */
static void read_top_line(reader *r, const char *key, char *rest)
{
    if (!strcmp(key, "include"))
        read_include_line(r, rest);
    else if (!strcmp(key, "type"))
        read_type_line(rest);
    else if (!strcmp(key, "sreg"))
        read_sreg_line(rest);
    else if (!strcmp(key, "group"))
        read_group_line(r, rest);
    else if (!strcmp(key, "insn"))
        read_insn_line(r, rest);
    else if (!strcmp(key, "class"))
        read_class_line(rest);
    else if (!strcmp(key, "section"))
        read_section_line(rest);
    else if (!strcmp(key, "text"))
        read_text_line(rest);
    else if (!strcmp(key, "form"))
        read_new_form(r, rest);
    else
        fail(r->file, r->start, "unknown line '%s'", key);
}

void read_file(const char *path, int depth)
{
    FILE *in = fopen(path, "r");
    if (!in) {
        fail(cur_file, cur_line, "cannot open '%s'", path);
        return;
    }
    reader r = {.path = path, .file = dup(path), .depth = depth};
    char raw[8192];
    char *text = dup("");
    for (int line = 1; fgets(raw, sizeof raw, in); line++) {
        size_t n = cut_comment(raw);
        bool more = n && raw[n - 1] == '\\';
        if (more) raw[n - 1] = 0;
        if (!*text) r.start = line;
        text = format("%s%s", text, raw);
        if (more) continue;
        bool indented = isspace((unsigned char)*text);
        char *t = trim(text);
        text = dup("");
        cur_file = r.file;
        cur_line = r.start;
        if (!*t) continue;
        char *sp = t;
        while (*sp && !isspace((unsigned char)*sp)) sp++;
        if (!indented)
            read_top_line(&r, copy(t, (size_t)(sp - t)), trim(dup(sp)));
        else if (r.f || r.in_insn)
            read_block_line(r.f ? r.f : &r.in_insn->head, t);
        else
            fail(r.file, r.start, "indented line outside of an insn");
    }
    fclose(in);
}
