/* main.c - isagen: see isagen.h. */
#include "isa/table/isagen/isagen.h"

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: isagen OUTDIR TABLE\n");
        return 2;
    }
    out_dir = argv[1];
    read_file(argv[2], 0);
    if (errors) /* a form line with a syntax error has no form to check */
        return 1;
    for (int n = 0; n < nforms;
         n++) { /* lines before the first form of an insn apply to all its forms */
        form *f = &forms[n], *h = &f->insn->head;
        merge_rules(&f->since, &h->since);
        merge_rules(&f->where, &h->where);
        merge_rules(&f->cls, &h->cls);
        for (int k = 0; k < h->effect.n; k++) add(&f->effect, h->effect.at[k]);
        f->relax |= h->relax;
        if (!f->lane && !f->warp && !f->unsupported) {
            f->lane = h->lane;
            f->warp = h->warp;
            f->unsupported = h->unsupported;
        }
        finish_form(f);
        for (int k = 0; k < f->cls.n; k++) intern(&classes, f->cls.at[k].value);
    }
    qsort(mnems.at, (size_t)mnems.n, sizeof *mnems.at, compare_names);
    form *grouped =
        need(calloc((size_t)nforms + 1, sizeof *grouped)); /* all forms of a mnemonic together */
    int at = 0;
    for (int k = 0; k < mnems.n; k++)
        for (int n = 0; n < nforms; n++)
            if (!strcmp(forms[n].mnem, mnems.at[k])) grouped[at++] = forms[n];
    forms = grouped;
    for (int n = 0; n < nforms; n++) check_form(&forms[n]);
    check_classes();
    if (!nforms) fail(argv[2], 1, "the table has no forms");
    if (errors) return 1;
    write_words();
    write_forms();
    write_exec();
    write_class_page();
    if (errors) return 1;
    return 0;
}
