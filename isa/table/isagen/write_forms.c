/* write_forms.c - gen_words.h and gen_forms.c: the table as data. */
#include "isa/table/isagen/isagen.h"

const char *out_dir;

FILE *out_open(const char *name)
{
    FILE *o = fopen(format("%s/%s", out_dir, name), "w");
    if (!o) {
        fprintf(stderr, "isagen: cannot write %s/%s\n", out_dir, name);
        exit(1);
    }
    fprintf(o, "/* %s - written by isagen from the instruction table; do not edit. */\n", name);
    return o;
}

void c_string(FILE *o, const char *s)
{
    fputc('"', o);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') fputc('\\', o);
        fputc(*s, o);
    }
    fputc('"', o);
}

int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void write_words(void)
{
    FILE *o = out_open("gen_words.h");
    fprintf(o, "#ifndef PL_GEN_WORDS_H\n#define PL_GEN_WORDS_H\n\n");
    fprintf(o, "/* Every word that may follow a mnemonic, type names and special registers "
               "included. */\n");
    fprintf(o, "typedef enum pl_word {\n    W_none,\n");
    for (int k = 0; k < words.n; k++) fprintf(o, "    W_%s,\n", cname(words.at[k]));
    fprintf(o, "    W_count\n} pl_word;\n\n/* Names of modifier groups. */\ntypedef enum pl_group "
               "{\n    G_none,\n");
    for (int k = 0; k < groups.n; k++) fprintf(o, "    G_%s,\n", cname(groups.at[k]));
    fprintf(o, "    G_count\n} pl_group;\n\n/* Latency classes, priced by every machine file. "
               "*/\ntypedef enum pl_class {\n");
    for (int k = 0; k < classes.n; k++) fprintf(o, "    C_%s,\n", cname(classes.at[k]));
    fprintf(o, "    C_count\n} pl_class;\n\n/* Mnemonics, in alphabetical order. */\ntypedef enum "
               "pl_mnem {\n");
    for (int k = 0; k < mnems.n; k++) fprintf(o, "    M_%s,\n", cname(mnems.at[k]));
    fprintf(o, "    M_count\n} pl_mnem;\n\n/* Forms. */\nenum { PL_FORMS = %d };\n\n#endif\n",
            nforms);
    fclose(o);
}

static int effect_bit(const form *f, const char *name)
{
    static const char *const names[] = {"load", "store", "atomic", "barrier",  "branch",  "exit",
                                        "call", "async", "fence",  "volatile", "converge"};
    for (int k = 0; k < (int)(sizeof names / sizeof *names); k++)
        if (!strcmp(names[k], name)) return 1 << k;
    fail(f->file, f->line, "unknown effect '%s'", name);
    return 0;
}

static int effects_of(const form *f)
{
    int effects = 0;
    for (int k = 0; k < f->effect.n; k++) effects |= effect_bit(f, f->effect.at[k]);
    return effects;
}

static list chains;   /* bodies of the functions that return a form's class, shared between forms */
static int *chain_of; /* by form */
static list wordsets; /* arrays of words, shared */

static void find_chains(void)
{
    chain_of = need(calloc((size_t)nforms + 1, sizeof *chain_of));
    for (int n = 0; n < nforms; n++) {
        form *f = &forms[n];
        char *body = dup("");
        for (int k = 0; k < f->cls.n; k++) {
            const rule *r = &f->cls.at[k];
            if (r->cond)
                body = format("%sif (%s) return C_%s; ", body,
                              condition(f, r->cond, r->file, r->line), cname(r->value));
            else {
                body = format("%sreturn C_%s;", body, cname(r->value));
                break;
            }
        }
        chain_of[n] = intern(&chains, body);
        for (int k = 0; k < f->where.n; k++) cond_func(f, &f->where.at[k]);
        for (int k = 0; k < f->since.n; k++) cond_func(f, &f->since.at[k]);
    }
}

static void write_texts(FILE *o)
{
    fprintf(o, "const char *const pl_word_text[] = {\"\",\n");
    for (int k = 0; k < words.n; k++) {
        fprintf(o, "    ");
        c_string(o, words.at[k]);
        fprintf(o, ",\n");
    }
    fprintf(o, "};\n\nconst char *const pl_group_text[] = {\"\",\n");
    for (int k = 0; k < groups.n; k++) fprintf(o, "    \"%s\",\n", groups.at[k]);
    fprintf(o, "};\n\n");
}

/* Writes the words sorted by spelling, for look-ups. */
static void write_sorted_words(FILE *o)
{
    list sorted = {0};
    for (int k = 0; k < words.n; k++) add(&sorted, words.at[k]);
    qsort(sorted.at, (size_t)sorted.n, sizeof *sorted.at, compare_names);
    fprintf(o, "const uint16_t pl_words_sorted[] = {\n");
    for (int k = 0; k < sorted.n; k++) fprintf(o, "    W_%s,\n", cname(sorted.at[k]));
    fprintf(o, "};\n\nconst pl_type_row pl_type_rows[] = {\n");
    for (int k = 0; k < ntypes; k++)
        fprintf(o, "    {W_%s, %d, '%c'},\n", types[k].name, types[k].bits, types[k].kind);
    fprintf(o, "};\nconst unsigned pl_ntypes = %d;\nconst uint16_t pl_word_bits[W_count] = {\n",
            ntypes);
    for (int k = 0; k < ntypes; k++) fprintf(o, "    [W_%s] = %d,\n", types[k].name, types[k].bits);
    fprintf(o, "};\nconst char pl_word_kind[W_count] = {\n");
    for (int k = 0; k < ntypes; k++)
        fprintf(o, "    [W_%s] = '%c',\n", types[k].name, types[k].kind);
    fprintf(o, "};\n\n");
}

static void write_sregs(FILE *o)
{
    fprintf(o, "const pl_sreg_info pl_sregs[] = {\n");
    for (int k = 0; k < nsregs; k++) {
        fprintf(o, "    {\"%s\", W_%s, W_%s, %d, %d, \"%s\", ", sregs[k].name, cname(sregs[k].name),
                sregs[k].type, sregs[k].components > 1, sregs[k].ptx, sregs[k].target);
        c_string(o, sregs[k].title);
        fprintf(o, "},\n");
    }
    fprintf(o, "};\nconst unsigned pl_nsregs = %d;\n\n", nsregs);
}

static void write_conditions(FILE *o)
{
    for (int k = 0; k < cond_funcs.n; k++)
        fprintf(o, "static bool c%d(const uint16_t *m) { (void)m; return %s; }\n", k,
                cond_funcs.at[k]);
    for (int k = 0; k < chains.n; k++)
        fprintf(o, "static uint16_t k%d(const uint16_t *m) { (void)m; %s }\n", k, chains.at[k]);
    for (int k = 0; k < rule_names.n; k++)
        fprintf(o, "int pl_operand_count_%s(const uint16_t *m);\n", rule_names.at[k]);
}

static char *wordset(const slot *s)
{
    char *t = dup("");
    for (int j = 0; j < s->words.n; j++) t = format("%sW_%s, ", t, cname(s->words.at[j]));
    return t;
}

static void write_wordsets(FILE *o)
{
    for (int n = 0; n < nforms; n++)
        for (int k = 0; k < forms[n].nslots; k++) intern(&wordsets, wordset(&forms[n].slot[k]));
    for (int k = 0; k < wordsets.n; k++)
        fprintf(o, "static const uint16_t w%d[] = {%s};\n", k, wordsets.at[k]);
}

static void write_slots(FILE *o, const form *f, int n)
{
    if (!f->nslots) return;
    fprintf(o, "static const pl_slot s%d[] = {", n);
    for (int k = 0; k < f->nslots; k++) {
        const slot *s = &f->slot[k];
        fprintf(o, "{G_%s, %d, %d, %d, w%d}, ", *s->group ? cname(s->group) : "none", s->optional,
                s->type, s->words.n, find(&wordsets, wordset(s)));
    }
    fprintf(o, "};\n");
}

static void write_operands(FILE *o, const form *f, int n)
{
    if (f->nops) {
        fprintf(o, "static const pl_ospec o%d[] = {", n);
        for (int k = 0; k < f->nops; k++) {
            const operand *p = &f->op[k];
            fprintf(o,
                    "{\"%s\", PL_K_%s, %d, %d, %d, %d, %d, %d, %d, %d, W_%s, %d, %d, %d, %s%s, "
                    "%lld, %lld}, ",
                    p->name, kind_text[p->kind], p->read, p->written, p->optional, p->sink,
                    p->reg_only, p->negatable, p->joined, p->tmap,
                    p->slot >= 0 ? "none" : cname(p->type), p->slot, p->vslot, p->count,
                    p->rule ? "pl_operand_count_" : "0", p->rule ? p->rule : "", p->lo, p->hi);
        }
        fprintf(o, "};\n");
    }
}

static void write_rules(FILE *o, const form *f, int n)
{
    if (f->where.n) {
        fprintf(o, "static const pl_where h%d[] = {", n);
        for (int k = 0; k < f->where.n; k++) {
            int c = cond_func(f, &f->where.at[k]);
            fprintf(o, c < 0 ? "{0, " : "{c%d, ", c);
            c_string(o, f->where.at[k].value);
            fprintf(o, "}, ");
        }
        fprintf(o, "};\n");
    }
    fprintf(o, "static const pl_since n%d[] = {", n);
    for (int k = 0; k < f->since.n; k++) {
        char version[32], target[128];
        if (sscanf(f->since.at[k].value, "%31s %127s", version, target) != 2) {
            fail(f->since.at[k].file, f->since.at[k].line, "since PTX TARGET");
            continue;
        }
        int c = cond_func(f, &f->since.at[k]);
        if (c < 0)
            fprintf(o, "{0, %d, \"%s\"}, ", version_number(version), target);
        else
            fprintf(o, "{c%d, %d, \"%s\"}, ", c, version_number(version), target);
    }
    fprintf(o, "};\n");
}

static void write_form_row(FILE *o, const form *f, int n)
{
    fprintf(o, "    {M_%s, %d, %d, ", cname(f->mnem), f->nslots, f->nops);
    fprintf(o, f->nslots ? "s%d, " : "0, ", n);
    fprintf(o, f->nops ? "o%d, " : "0, ", n);
    fprintf(o, "%d, %d, ", f->where.n, f->since.n);
    fprintf(o, f->where.n ? "h%d, " : "0, ", n);
    fprintf(o, "n%d, k%d, 0x%x, %d, ", n, chain_of[n], (unsigned)effects_of(f), f->relax);
    if (f->unsupported)
        c_string(o, f->unsupported);
    else
        fprintf(o, "0");
    fprintf(o, ", ");
    c_string(o, f->syntax);
    fprintf(o, ", ");
    if (f->note)
        c_string(o, f->note);
    else
        fprintf(o, "0");
    const char *slash = strrchr(f->file, '/');
    fprintf(o, ", \"%s\", %d},\n", slash ? slash + 1 : f->file, f->line);
}

static void write_mnemonics(FILE *o)
{
    fprintf(o, "const pl_mnem_info pl_mnems[] = {\n");
    for (int k = 0; k < mnems.n; k++) {
        int first = -1, count = 0;
        for (int n = 0; n < nforms; n++)
            if (!strcmp(forms[n].mnem, mnems.at[k])) {
                first = first < 0 ? n : first;
                count++;
            }
        const char *title = "";
        for (int n = ninsns - 1; n >= 0; n--)
            if (!strcmp(insns[n].name, mnems.at[k])) title = insns[n].title;
        fprintf(o, "    {\"%s\", ", mnems.at[k]);
        c_string(o, title);
        fprintf(o, ", %d, %d},\n", first < 0 ? 0 : first, count);
    }
    fprintf(o, "};\nconst unsigned pl_nmnems = %d;\n", mnems.n);
}

void write_forms(void)
{
    find_chains();
    FILE *o = out_open("gen_forms.c");
    fprintf(o,
            "#include \"isa/table/form.h\"\n\n#define type_bits(w) pl_type_bits((pl_word)(w))\n\n");
    write_texts(o);
    write_classes(o);
    write_sorted_words(o);
    write_sregs(o);
    write_conditions(o);
    write_wordsets(o);
    for (int n = 0; n < nforms; n++) {
        write_slots(o, &forms[n], n);
        write_operands(o, &forms[n], n);
        write_rules(o, &forms[n], n);
    }
    fprintf(o, "\nconst pl_form pl_forms[] = {\n");
    for (int n = 0; n < nforms; n++) write_form_row(o, &forms[n], n);
    fprintf(o, "};\nconst unsigned pl_nforms = PL_FORMS;\n\nconst uint16_t pl_form_mnem[PL_FORMS + "
               "1] = {\n");
    for (int n = 0; n < nforms; n++) fprintf(o, "    M_%s,\n", cname(forms[n].mnem));
    fprintf(o, "    UINT16_MAX\n};\nconst uint16_t pl_form_effects[PL_FORMS + 1] = {\n");
    for (int n = 0; n < nforms; n++) fprintf(o, "    0x%x,\n", (unsigned)effects_of(&forms[n]));
    fprintf(o, "    0\n};\n\n");
    write_mnemonics(o);
    fclose(o);
}
