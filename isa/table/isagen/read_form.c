/* read_form.c - parses an insn, its forms, and their operands. */
#include "isa/table/isagen/isagen.h"

const char *const kind_text[] = {"VALUE", "IMM",  "ADDR",  "LABEL", "LABELS", "FUNC",
                                 "ARGS",  "RETS", "PROTO", "COORD", "OPAQUE", "VAR"};

void read_group(group *g, char *name, char *rest)
{
    memset(g, 0, sizeof *g);
    g->name = dup(trim(name));
    list raw = {0};
    split_words(rest, &raw);
    for (int k = 0; k < raw.n; k++) {
        const group *other = NULL; /* $NAME in a list stands for the words of that group */
        for (int j = 0; raw.at[k][0] == '$' && j < nglobal; j++)
            if (!strcmp(global[j].name, raw.at[k] + 1)) other = &global[j];
        if (raw.at[k][0] == '$' && !other) fail(cur_file, cur_line, "no group '%s'", raw.at[k] + 1);
        for (int j = 0; other && j < other->words.n; j++) add(&g->words, other->words.at[j]);
        if (!other && raw.at[k][0] != '$') add(&g->words, raw.at[k]);
    }
    for (int k = 0; k < g->words.n; k++) {
        if (find(&g->words, g->words.at[k]) != k)
            fail(cur_file, cur_line, "'%s' twice in group '%s'", g->words.at[k], g->name);
        intern(&words, g->words.at[k]);
    }
    if (!g->words.n) fail(cur_file, cur_line, "group '%s' is empty", g->name);
    intern(&groups, g->name);
}

/* Flags at the end of a kind: T? optional, T~ negatable, T! register only. */
static void read_operand_suffix(operand *o, char *k, bool joined)
{
    size_t n = strlen(k);
    if (n && k[n - 1] == '?') {
        o->optional = true;
        k[--n] = 0;
    }
    if (joined) o->optional = true;
    for (; n && (k[n - 1] == '~' || k[n - 1] == '!'); k[--n] = 0)
        *(k[n - 1] == '~' ? &o->negatable : &o->reg_only) = true;
}

/* Parses the length of a vector: {4}, {@rule}, {group}. Returns the position after it, or NULL if
 * it is not terminated. */
static char *read_vector_length(form *f, operand *o, char *k)
{
    char *e = strchr(k, '}');
    if (!e) {
        fail(cur_file, cur_line, "'{' without '}' in '%s'", k);
        return NULL;
    }
    char *c = copy(k + 1, (size_t)(e - k - 1));
    if (isdigit((unsigned char)*c))
        o->count = atoi(c);
    else if (*c == '@') {
        o->rule = dup(c + 1);
        intern(&rule_names, o->rule);
    } else {
        o->rule = NULL;
        o->vslot = -2;
        for (int s = 0; s < f->nslots; s++)
            if (!strcmp(f->slot[s].group, c)) o->vslot = s;
        if (o->vslot == -2) {
            fail(cur_file, cur_line, "no group '%s' for the length of operand '%s'", c, o->name);
            o->vslot = -1;
        }
    }
    return e + 1;
}

/* Parses kinds that are one word, addr(SPACE) and imm(LO..HI). False if the operand is a type. */
static bool read_operand_kind(form *f, operand *o, char *k)
{
    static const struct {
        const char *word;
        kind kind;
    } kinds[] = {{"addr", K_ADDR},     {"label", K_LABEL}, {"labels", K_LABELS}, {"func", K_FUNC},
                 {"args", K_ARGS},     {"rets", K_RETS},   {"proto", K_PROTO},   {"coord", K_COORD},
                 {"opaque", K_OPAQUE}, {"taddr", K_ADDR}};
    for (size_t j = 0; j < sizeof kinds / sizeof *kinds; j++)
        if (!strcmp(k, kinds[j].word)) {
            o->kind = kinds[j].kind;
            o->type = dup(strcmp(k, "taddr") ? "b64" : "b32");
            return true;
        }
    /* An address with an explicit space: a word, or the group that specifies it. */
    if (!strncmp(k, "addr(", 5)) {
        o->kind = K_ADDR;
        o->type = copy(k + 5, strlen(k) - 6);
        for (int s = 0; s < f->nslots; s++)
            if (!strcmp(f->slot[s].group, o->type)) o->slot = s;
        if (o->slot < 0 && find(&words, o->type) < 0)
            fail(cur_file, cur_line,
                 "operand '%s': '%s' is neither a word nor a group of this form", o->name, o->type);
        return true;
    }
    if (strncmp(k, "imm", 3) || (k[3] && k[3] != '(')) return false;
    o->kind = K_IMM;
    o->type = dup("s64");
    if (k[3] == '(') {
        char *e = NULL;
        o->lo = strtoll(k + 4, &e, 0);
        if (strncmp(e, "..", 2))
            fail(cur_file, cur_line, "imm range is imm(LO..HI)");
        else
            o->hi = strtoll(e + 2, NULL, 0);
    }
    return true;
}

/* Parses a type, a group of types, or a derived type: wide(T), half(T), int(T), bits(T), var(T). */
static void read_operand_type(form *f, operand *o, char *k)
{
    static const char *const maps[] = {"", "wide(", "half(", "int(", "bits("};
    for (int j = 1; j < 5; j++)
        if (!strncmp(k, maps[j], strlen(maps[j])) && k[strlen(k) - 1] == ')') {
            o->tmap = j;
            k = copy(k + strlen(maps[j]), strlen(k) - strlen(maps[j]) - 1);
        }
    if (!strncmp(k, "var(", 4)) {
        o->kind = K_VAR;
        k = copy(k + 4, strlen(k) - 5);
    }
    o->type = dup(k);
    for (int s = 0; s < f->nslots; s++)
        if (!strcmp(f->slot[s].group, k)) o->slot = s;
    if (o->slot < 0 && !type_find(k))
        fail(cur_file, cur_line, "operand '%s': '%s' is not a kind, type or group of this form",
             o->name, k);
    if (o->slot >= 0 && !f->slot[o->slot].type)
        fail(cur_file, cur_line, "operand '%s': group '%s' does not hold types", o->name, k);
}

static void read_operand(form *f, char *text, bool joined)
{
    text = trim(text);
    if (f->nops == MAX_OPS) {
        fail(cur_file, cur_line, "more than %d operands", MAX_OPS);
        return;
    }
    operand *o = &f->op[f->nops++];
    memset(o, 0, sizeof *o);
    o->slot = o->vslot = -1;
    o->lo = 1;
    o->joined = joined;
    o->read = *text != '=';
    o->written = *text == '=' || *text == '+';
    text += o->written;
    char *colon = strchr(text, ':');
    if (!colon) {
        fail(cur_file, cur_line, "operand '%s' needs a kind: NAME:KIND", text);
        f->nops--;
        return;
    }
    o->name = copy(text, (size_t)(colon - text));
    size_t nn = strlen(o->name);
    if (nn && o->name[nn - 1] == '_') {
        o->sink = true;
        o->name[nn - 1] = 0;
    }
    char *k = dup(colon + 1);
    read_operand_suffix(o, k, joined);
    if (*k == '{') k = read_vector_length(f, o, k);
    if (k && !read_operand_kind(f, o, k)) read_operand_type(f, o, k);
}

void read_form_line(form *f, char *text)
{
    /* the mnemonic part ends at the first blank */
    char *s = text;
    while (*s && !isspace((unsigned char)*s)) s++;
    char *head = copy(text, (size_t)(s - text));
    f->syntax = dup(text);
    char *p = head;
    while (*p && *p != '.' && *p != '{') p++;
    f->mnem = copy(head, (size_t)(p - head));
    if (strcmp(f->mnem, f->insn->name))
        fail(cur_file, cur_line, "form of '%s' inside insn '%s'", f->mnem, f->insn->name);
    while (*p) {
        bool opt = *p == '{';
        if (opt) p++;
        if (*p != '.') {
            fail(cur_file, cur_line, "expected '.' at '%s'", p);
            return;
        }
        char *b = ++p;
        while (*p && *p != '.' && *p != '{' && *p != '}') p++;
        char *w = copy(b, (size_t)(p - b));
        if (opt) {
            if (*p != '}') {
                fail(cur_file, cur_line, "'{' without '}' in the form line");
                return;
            }
            p++;
        }
        if (f->nslots == MAX_SLOTS) {
            fail(cur_file, cur_line, "more than %d modifiers", MAX_SLOTS);
            return;
        }
        slot *sl = &f->slot[f->nslots++];
        memset(sl, 0, sizeof *sl);
        sl->optional = opt;
        sl->group = w; /* resolved after the block has been read */
    }
    char *rest = trim(dup(s));
    /* Operands are parsed in finish_form, when the groups are known. */
    f->syntax = format("%s|%s", head, rest);
}

/* Resolves slots and operands after the block with its groups has been read. */
void finish_form(form *f)
{
    cur_file = f->file;
    cur_line = f->line;
    char *bar = strchr(f->syntax, '|');
    char *operands = dup(bar + 1);
    f->syntax = copy(f->syntax, (size_t)(bar - f->syntax));
    for (int k = 0; k < f->nslots; k++) {
        slot *s = &f->slot[k];
        const group *g = group_find(f, s->group);
        if (g) {
            s->words = g->words;
            intern(&groups, s->group);
            for (int j = 0; j < k; j++)
                if (!strcmp(f->slot[j].group, s->group))
                    fail(f->file, f->line, "group '%s' twice in one form", s->group);
        } else {
            add(&s->words, s->group);
            intern(&words, s->group);
            if (s->optional)
                intern(&groups, s->group);
            else
                s->group = dup("");
        }
        s->type = true;
        for (int j = 0; j < s->words.n; j++)
            if (!type_find(s->words.at[j])) s->type = false;
    }
    char *p = operands;
    bool joined = false;
    list texts = {0};
    while (*p) {
        char *b = p;
        int depth = 0;
        while (*p && (depth || (*p != ',' && *p != '|'))) {
            depth += *p == '(' || *p == '{';
            depth -= *p == ')' || *p == '}';
            p++;
        }
        char *t = trim(copy(b, (size_t)(p - b)));
        add(&texts, t);
        read_operand(f, t, joined);
        joined = *p == '|';
        if (*p) p++;
    }
    /* the notation of the manual */
    char *out = format("%s", f->syntax);
    for (int k = 0; k < f->nops; k++) {
        const operand *o = &f->op[k];
        const char *sep = k == 0 ? " " : o->joined ? "|" : ", ";
        const char *fmt = o->kind == K_ADDR                      ? "%s%s[%s]"
                          : o->count || o->rule || o->vslot >= 0 ? "%s%s{%s}"
                                                                 : "%s%s%s";
        char *piece = format(fmt, "", sep, o->name);
        out = o->optional && !o->joined ? format("%s{%s}", out, piece) : format("%s%s", out, piece);
    }
    f->syntax = out;
}

void read_block_line(form *f, char *text)
{
    char *eq = strchr(text, '=');
    char *sp = text;
    while (*sp && !isspace((unsigned char)*sp)) sp++;
    char *key = copy(text, (size_t)(sp - text)), *rest = trim(dup(sp));
    if (*rest == '=' && eq) {
        if (f->nlocal == (int)(sizeof f->local / sizeof *f->local))
            fail(cur_file, cur_line, "too many groups in one form");
        else
            read_group(&f->local[f->nlocal++], key, trim(rest + 1));
        return;
    }
    if (!strcmp(key, "since"))
        read_rule(&f->since, rest, false);
    else if (!strcmp(key, "where"))
        read_rule(&f->where, rest, true);
    else if (!strcmp(key, "class"))
        read_rule(&f->cls, rest, false);
    else if (!strcmp(key, "lane"))
        f->lane = f->lane ? format("%s\n%s", f->lane, rest) : dup(rest);
    else if (!strcmp(key, "warp"))
        f->warp = dup(rest);
    else if (!strcmp(key, "fast"))
        split_words(rest, &f->fast);
    else if (!strcmp(key, "effect"))
        split_words(rest, &f->effect);
    else if (!strcmp(key, "relax"))
        f->relax = true;
    else if (!strcmp(key, "status")) {
        char *q = strchr(rest, '"'), *e = strrchr(rest, '"');
        if (strncmp(rest, "unsupported", 11) || !q || e == q)
            fail(cur_file, cur_line, "status is: status unsupported \"why\"");
        else
            f->unsupported = copy(q + 1, (size_t)(e - q - 1));
    } else if (!strcmp(key, "note")) {
        char *q = strchr(rest, '"'), *e = strrchr(rest, '"');
        if (!q || e == q)
            fail(cur_file, cur_line, "note needs \"text\"");
        else
            f->note = copy(q + 1, (size_t)(e - q - 1));
    } else
        fail(cur_file, cur_line, "unknown line '%s'", key);
}
