/* write_exec.c - gen_exec_*.c and gen_names.h: the lane loops. */
#include "isa/table/isagen/isagen.h"

/* The C type of operand o for the chosen words of the specialised slots (choice[k]: index of the
 * word, -1: absent). */
static type_info operand_type(const form *f, const operand *o, const int *choice)
{
    const char *name = o->type;
    if (o->slot >= 0) {
        name = f->slot[o->slot].words.at[0];
        for (int k = 0; k < f->nspec; k++)
            if (f->spec[k] == o->slot && choice[k] >= 0)
                name = f->slot[o->slot].words.at[choice[k]];
    }
    const type_info *t = type_find(name);
    type_info r = t ? *t : types[0];
    if (o->tmap) {
        r.bits = o->tmap == 1 ? r.bits * 2 : o->tmap == 2 ? r.bits / 2 : r.bits;
        if (o->tmap >= 3) r.kind = o->tmap == 3 ? 'u' : 'b';
        int width = r.bits <= 8 ? 8 : r.bits <= 16 ? 16 : r.bits <= 32 ? 32 : 64;
        r.ctype =
            r.bits > 64 ? dup("pl_u128") : format(r.kind == 's' ? "int%d_t" : "uint%d_t", width);
    }
    return r;
}

static int vector_length(const form *f, const operand *o, const int *choice)
{
    if (o->vslot < 0) return o->count;
    for (int k = 0; k < f->nspec; k++)
        if (f->spec[k] == o->vslot && choice[k] >= 0)
            return atoi(f->slot[o->vslot].words.at[choice[k]] + 1);
    return 0;
}

/* Defines the group names that occur in lane text. */
static void write_group_values(FILE *o, const form *f, const int *choice, const char *text)
{
    for (int k = 0; k < f->nslots; k++) {
        const slot *s = &f->slot[k];
        if (!*s->group || !uses(text, cname(s->group))) continue;
        int spec = -1;
        for (int j = 0; j < f->nspec; j++)
            if (f->spec[j] == k) spec = j;
        if (spec < 0)
            fprintf(o, "    const int %s = i->mods[%d];\n", cname(s->group), k);
        else if (choice[spec] < 0)
            fprintf(o, "    const int %s = W_none;\n", cname(s->group));
        else
            fprintf(o, "    const int %s = W_%s;\n", cname(s->group),
                    cname(s->words.at[choice[spec]]));
    }
}

static void write_read(FILE *o, const char *var, const char *row, const type_info *t, bool decl)
{
    const char *d = decl ? t->ctype : "";
    if (t->kind == 'p')
        fprintf(o, "        %s%s%s = (%s >> l) & 1u;\n", decl ? "bool" : "", decl ? " " : "", var,
                row);
    else if (t->bits > 64)
        fprintf(o, "        %s %s = {%s[l], %s[PL_LANES + l]};\n", d, var, row, row);
    else
        fprintf(o, "        %s%s%s = (%s)%s[l];\n", d, decl ? " " : "", var, t->ctype, row);
}

/* Declares the rows of operand k, and storage for its results. */
static void declare_rows(FILE *o, const form *f, int k, const int *choice)
{
    const operand *p = &f->op[k];
    const type_info t = operand_type(f, p, choice);
    const int len = vector_length(f, p, choice);
    for (int e = 0; e < (len ? len : 1); e++) {
        char *name = len ? format("%s_%d", p->name, e) : dup(p->name);
        char *index = len           ? format("pl_more(w, i, i->op[%d] + %du)", k, e)
                      : p->optional ? format("i->op[%d] == PL_NO_OPERAND ? 0u : i->op[%d]", k, k)
                                    : format("i->op[%d]", k);
        if (t.kind == 'p') {
            if (p->read) fprintf(o, "    const uint32_t r_%s = pl_pred_read(w, i, %d);\n", name, k);
            if (p->written) fprintf(o, "    uint32_t v_%s = 0;\n", name);
        } else {
            const char *row = t.bits > 32 ? "uint64_t" : "uint32_t";
            fprintf(o, "    %s%s *r_%s = pl_row%s(w, %s);\n", p->written ? "" : "const ", row, name,
                    t.bits > 32 ? "64" : "32", index);
            if (p->written)
                fprintf(o, "    %s v_%s[%s];\n", row, name,
                        t.bits > 64 ? "2 * PL_LANES" : "PL_LANES");
        }
    }
}

static void declare_operands(FILE *o, const form *f, const int *choice)
{
    const char *text = f->lane;
    for (int k = 0; k < f->nops; k++) {
        const operand *p = &f->op[k];
        char *has = format("has_%s", p->name), *sel = format("%s_sel", p->name);
        char *neg = format("%s_neg", p->name);
        if (uses(text, has))
            fprintf(o, "    const bool %s = i->op[%d] != PL_NO_OPERAND;\n", has, k);
        if (uses(text, sel)) fprintf(o, "    const int %s = i->sel[%d];\n", sel, k);
        if (uses(text, neg)) fprintf(o, "    const bool %s = i->neg >> %d & 1;\n", neg, k);
        if (!p->written && !uses(text, p->name)) continue;
        if (k >= MAX_INLINE) {
            fail(f->file, f->line, "lane text uses operand '%s' beyond the %d inline ones", p->name,
                 MAX_INLINE);
            continue;
        }
        if (p->kind == K_IMM) {
            fprintf(o, "    const int32_t %s = (int32_t)i->op[%d];\n", p->name, k);
            continue;
        }
        declare_rows(o, f, k, choice);
    }
}

static void read_lane_values(FILE *o, const form *f, const int *choice)
{
    const char *text = f->lane;
    for (int k = 0; k < f->nops; k++) {
        const operand *p = &f->op[k];
        if ((!p->written && !uses(text, p->name)) || p->kind == K_IMM) continue;
        type_info t = operand_type(f, p, choice);
        int len = vector_length(f, p, choice);
        if (len) fprintf(o, "        %s %s[%d];\n", t.kind == 'p' ? "bool" : t.ctype, p->name, len);
        for (int e = 0; p->read && e < (len ? len : 1); e++) {
            char *row = len ? format("r_%s_%d", p->name, e) : format("r_%s", p->name);
            char *var = len ? format("%s[%d]", p->name, e) : dup(p->name);
            write_read(o, var, row, &t, !len);
        }
        if (!p->read && !len)
            fprintf(o, "        %s %s;\n", t.kind == 'p' ? "bool" : t.ctype, p->name);
    }
}

static void write_lane_results(FILE *o, const form *f, const int *choice)
{
    for (int k = 0; k < f->nops; k++) {
        const operand *p = &f->op[k];
        if (!p->written) continue;
        type_info t = operand_type(f, p, choice);
        int len = vector_length(f, p, choice);
        for (int e = 0; e < (len ? len : 1); e++) {
            char *val = len ? format("v_%s_%d", p->name, e) : format("v_%s", p->name);
            char *var = len ? format("%s[%d]", p->name, e) : dup(p->name);
            if (t.kind == 'p')
                fprintf(o, "        %s |= (uint32_t)(%s) << l;\n", val, var);
            else if (t.bits > 64)
                fprintf(o, "        %s[l] = %s.lo;\n        %s[PL_LANES + l] = %s.hi;\n", val, var,
                        val, var);
            else if (t.bits > 32)
                fprintf(o, "        %s[l] = (uint64_t)%s;\n", val, var);
            else
                fprintf(o, "        %s[l] = (uint32_t)%s%s;\n", val,
                        t.kind == 's' && t.bits < 32 ? "(int32_t)" : "", var);
        }
    }
}

static void write_rows_back(FILE *o, const form *f, const int *choice)
{
    for (int k = 0; k < f->nops; k++) {
        const operand *p = &f->op[k];
        if (!p->written) continue;
        type_info t = operand_type(f, p, choice);
        int len = vector_length(f, p, choice);
        for (int e = 0; e < (len ? len : 1); e++) {
            char *name = len ? format("%s_%d", p->name, e) : dup(p->name);
            if (t.kind == 'p')
                fprintf(o, "    pl_pred_write(w, i->op[%d], v_%s);\n", k, name);
            else
                fprintf(o, "    pl_blend%s(w, r_%s, v_%s);\n",
                        t.bits > 64   ? "128"
                        : t.bits > 32 ? "64"
                                      : "32",
                        name, name);
        }
    }
}

static void write_lane(FILE *o, const form *f, int n, int v, const int *choice)
{
    const char *text = f->lane;
    fprintf(o, "\n/* %s:%d %s */\nstatic void x%d_%d(pl_warp *w, const pl_insn *i)\n{\n",
            strrchr(f->file, '/') ? strrchr(f->file, '/') + 1 : f->file, f->line, f->syntax, n, v);
    write_group_values(o, f, choice, text);
    bool cc = uses(text, "CC");
    declare_operands(o, f, choice);
    if (cc) fprintf(o, "    const uint32_t cc_in = w->carry;\n    uint32_t cc_out = 0;\n");
    fprintf(o, "    for (unsigned l = 0; l < PL_LANES; l++) {\n");
    if (cc) fprintf(o, "        bool CC = (cc_in >> l) & 1u;\n");
    read_lane_values(o, f, choice);
    fprintf(o, "        %s;\n", text);
    write_lane_results(o, f, choice);
    if (cc) fprintf(o, "        cc_out |= (uint32_t)CC << l;\n");
    fprintf(o, "    }\n");
    if (cc) fprintf(o, "    w->carry = (cc_in & ~w->exec) | (cc_out & w->exec);\n");
    write_rows_back(o, f, choice);
    fprintf(o, "}\n");
}

static void write_warp(FILE *o, const form *f, int n, int v, const int *choice)
{
    char *name = dup(f->warp);
    if (!strncmp(name, "inline ", 7)) name = trim(name + 7);
    char *paren = strchr(name, '('), *args = dup("");
    if (paren) {
        *paren = 0;
        args = dup(paren + 1);
        char *e = strrchr(args, ')');
        if (e) *e = 0;
    }
    fprintf(o, "\n/* %s:%d %s */\nstatic void x%d_%d(pl_warp *w, const pl_insn *i)\n{\n",
            strrchr(f->file, '/') ? strrchr(f->file, '/') + 1 : f->file, f->line, f->syntax, n, v);
    fprintf(o, "    %s(w, i", trim(name));
    for (char *a = strtok(args, ","); a; a = strtok(NULL, ",")) {
        a = trim(a);
        int s = -1;
        for (int k = 0; k < f->nslots; k++)
            if (!strcmp(f->slot[k].group, a)) s = k;
        int spec = -1;
        for (int j = 0; j < f->nspec; j++)
            if (f->spec[j] == s) spec = j;
        if (s < 0 && find(&words, a) >= 0)
            fprintf(o, ", W_%s", cname(a));
        else if (s < 0 && strcmp(a, "none") == 0)
            fprintf(o, ", W_none");
        else if (s < 0)
            fail(f->file, f->line, "'%s' in a warp line is neither a group nor a word of the table",
                 a);
        else if (spec < 0)
            fprintf(o, ", i->mods[%d]", s);
        else if (choice[spec] < 0)
            fprintf(o, ", W_none");
        else
            fprintf(o, ", W_%s", cname(f->slot[s].words.at[choice[spec]]));
    }
    fprintf(o, ");\n}\n");
}

static void write_exec_index(long total)
{
    FILE *x = out_open("gen_exec_index.c");
    fprintf(x, "#include \"emu/exec/lane_loops.h\"\n\n/* %ld functions for %d forms */\n", total,
            nforms);
    for (int n = 0; n < nforms; n++)
        if (forms[n].variants) fprintf(x, "extern pl_exec_fn *const PL_X(pl_xf%d)[];\n", n);
    fprintf(x, "\nconst pl_exec_form PL_X(pl_exec_forms)[] = {\n");
    for (int n = 0; n < nforms; n++) {
        form *f = &forms[n];
        if (!f->variants) {
            fprintf(x, "    {0, 0, {0}},\n");
            continue;
        }
        fprintf(x, "    {PL_X(pl_xf%d), %d, {", n, f->nspec);
        for (int k = 0; k < f->nspec; k++) fprintf(x, "%d, ", f->spec[k]);
        fprintf(x, "%s}},\n", f->nspec ? "" : "0");
    }
    fprintf(x, "};\n");
    fclose(x);
}

static void write_names(void)
{
    FILE *h = out_open("gen_names.h");
    fprintf(h, "#ifndef PL_GEN_NAMES_H\n#define PL_GEN_NAMES_H\n\n/* Warp-level functions named by "
               "the table: one copy per instruction-set level of the host. */\n");
    list seen = {0};
    for (int n = 0; n < nforms; n++) {
        if (!forms[n].warp || !strncmp(forms[n].warp, "inline ", 7)) continue;
        char *name = dup(forms[n].warp), *paren = strchr(name, '(');
        int args = 0;
        if (paren) {
            *paren = 0;
            for (char *c = paren + 1; *c; c++) args += *c == ',';
            args += paren[1] != ')';
        }
        name = trim(name);
        char *key = format("%s/%d", name, args);
        for (int k = 0; k < seen.n; k++)
            if (!strncmp(seen.at[k], name, strlen(name)) && seen.at[k][strlen(name)] == '/' &&
                strcmp(seen.at[k], key))
                fail(forms[n].file, forms[n].line,
                     "warp function '%s' with different argument counts", name);
        if (find(&seen, key) >= 0) continue;
        add(&seen, key);
        fprintf(h, "#define %s PL_X(%s)\nvoid %s(pl_warp *, const pl_insn *", name, name, name);
        for (int k = 0; k < args; k++) fprintf(h, ", int");
        fprintf(h, ");\n");
    }
    fprintf(h, "\n#endif\n");
    fclose(h);
}

void write_exec(void)
{
    FILE *o[EXEC_FILES];
    for (int k = 0; k < EXEC_FILES; k++) {
        o[k] = out_open(format("gen_exec_%d.c", k));
        fprintf(o[k], "#include \"emu/exec/lane_loops.h\"\n");
    }
    long total = 0, weight[EXEC_FILES] = {0};
    for (int n = 0; n < nforms; n++) {
        form *f = &forms[n];
        if (!f->variants) continue;
        int file = 0;
        for (int k = 1; k < EXEC_FILES; k++)
            if (weight[k] < weight[file]) file = k;
        weight[file] += f->variants * (f->lane ? 4 : 1);
        for (int v = 0; v < f->variants; v++) {
            int choice[6] = {0}, rest = v;
            for (int k = 0; k < f->nspec; k++) {
                const slot *s = &f->slot[f->spec[k]];
                int c = slot_choices(s);
                choice[k] = rest % c - s->optional;
                rest /= c;
            }
            if (f->lane)
                write_lane(o[file], f, n, v, choice);
            else
                write_warp(o[file], f, n, v, choice);
            total++;
        }
        fprintf(o[file], "\npl_exec_fn *const PL_X(pl_xf%d)[] = {", n);
        for (int v = 0; v < f->variants; v++) fprintf(o[file], "x%d_%d, ", n, v);
        fprintf(o[file], "};\n");
    }
    for (int k = 0; k < EXEC_FILES; k++) fclose(o[k]);
    write_exec_index(total);
    write_names();
}
