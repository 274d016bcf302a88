/* check.c - consistency checks for every form of the table. */
#include "isa/table/isagen/isagen.h"

int slot_choices(const slot *s)
{
    return s->words.n + s->optional;
}

static void add_spec(form *f, int s)
{
    for (int k = 0; k < f->nspec; k++)
        if (f->spec[k] == s) return;
    if (f->nspec == 6) {
        fail(f->file, f->line, "more than 6 specialised groups");
        return;
    }
    f->spec[f->nspec++] = s;
}

static void check_meaning(const form *f)
{
    if (!f->cls.n || (f->cls.at[f->cls.n - 1].cond && *f->cls.at[f->cls.n - 1].cond))
        fail(f->file, f->line, "the form needs a class without a condition as its last class line");
    if (!f->since.n) fail(f->file, f->line, "the form needs a since line");
    if (!f->lane && !f->warp && !f->unsupported)
        fail(f->file, f->line, "the form needs a meaning: lane, warp, or status unsupported");
    if (f->warp && f->nops > MAX_INLINE)
        fail(f->file, f->line, "an instruction holds %d operands, and this form has %d", MAX_INLINE,
             f->nops);
    if (f->lane && f->warp) fail(f->file, f->line, "the form has both lane and warp lines");
}

static void check_operands(const form *f)
{
    for (int k = 0; k < f->nops; k++)
        for (int j = 0; j < k; j++)
            if (!strcmp(f->op[k].name, f->op[j].name))
                fail(f->file, f->line, "operand '%s' twice", f->op[k].name);
    for (int k = 0; f->lane && k < f->nops; k++)
        if (f->op[k].written && !uses(f->lane, f->op[k].name))
            fail(f->file, f->line, "the lane line never sets operand '%s'", f->op[k].name);
}

/* True for packed types of four elements: their functions take the format as an argument. */
static bool is_packed_by_four(const slot *s)
{
    for (int k = 0; k < s->words.n; k++) {
        const size_t n = strlen(s->words.at[k]);
        if (n < 3 || strcmp(s->words.at[k] + n - 2, "x4") != 0) return false;
    }
    return s->words.n > 0;
}

/* Finds the slots for which the generated loops are specialised: those of fast lines, and of lane
 * forms those that determine types and lengths of operands. */
static void find_specialised(form *f)
{
    for (int k = 0; k < f->fast.n; k++) {
        int s = -1;
        for (int j = 0; j < f->nslots; j++)
            if (!strcmp(f->slot[j].group, f->fast.at[k])) s = j;
        if (s < 0)
            fail(f->file, f->line, "fast: no group '%s' in this form", f->fast.at[k]);
        else
            add_spec(f, s);
    }
    for (int k = 0; f->lane && k < f->nops; k++) {
        if (f->op[k].slot >= 0 && !is_packed_by_four(&f->slot[f->op[k].slot]))
            add_spec(f, f->op[k].slot);
        if (f->op[k].vslot >= 0) add_spec(f, f->op[k].vslot);
        if (f->op[k].rule) fail(f->file, f->line, "a lane form cannot have a vector by rule");
    }
    long v = 1;
    for (int k = 0; k < f->nspec; k++) v *= slot_choices(&f->slot[f->spec[k]]);
    if (v > MAX_VARIANTS)
        fail(f->file, f->line, "%ld specialised loops; at most %d (fewer fast groups)", v,
             MAX_VARIANTS);
    f->variants = f->unsupported && !f->lane && !f->warp ? 0 : (int)v;
}

/* True if some combination of words and operands matches both forms. */
static bool overlaps(const form *f, const form *g)
{
    if (strcmp(g->mnem, f->mnem) || g->nslots != f->nslots || g->nops != f->nops) return false;
    bool same = true;
    for (int k = 0; same && k < f->nslots; k++) {
        bool common = false;
        for (int j = 0; j < f->slot[k].words.n; j++)
            common |= find(&g->slot[k].words, f->slot[k].words.at[j]) >= 0;
        same = common && f->slot[k].optional == g->slot[k].optional;
    }
    for (int k = 0; same && k < f->nops; k++)
        same = f->op[k].kind == g->op[k].kind && f->op[k].count == g->op[k].count &&
               f->op[k].reg_only == g->op[k].reg_only &&
               (f->op[k].slot >= 0 || g->op[k].slot >= 0 || !strcmp(f->op[k].type, g->op[k].type));
    return same;
}

void check_form(form *f)
{
    check_meaning(f);
    check_operands(f);
    find_specialised(f);
    for (const form *g = forms; g < f; g++)
        if (overlaps(f, g))
            fail(f->file, f->line, "the form overlaps the one at %s:%d", g->file, g->line);
}
