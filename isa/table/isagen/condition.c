/* condition.c - translates conditions of the table into C expressions. */
#include "isa/table/isagen/isagen.h"

static bool known_group(const char *name)
{
    return find(&groups, name) >= 0;
}

/* True if the name at [b, e) is tested for presence (not compared with == or !=). */
static bool flag_position(const char *text, const char *b, const char *e)
{
    while (isspace((unsigned char)*e)) e++;
    if ((e[0] == '=' || e[0] == '!') && e[1] == '=') return true;
    while (b > text && isspace((unsigned char)b[-1])) b--;
    return !(b - text >= 2 && b[-1] == '=' && (b[-2] == '=' || b[-2] == '!'));
}

/* Rewrites a condition over groups and words as a C expression over m[]. */
char *condition(const form *f, const char *text, const char *file, int line)
{
    char *out = dup("");
    const char *p = text;
    while (*p) {
        if (!isalnum((unsigned char)*p) && *p != '_') {
            out = format("%s%c", out, *p++);
            continue;
        }
        const char *b = p;
        while (isalnum((unsigned char)*p) || *p == '_' || (p[0] == ':' && p[1] == ':') ||
               (p > b && p[-1] == ':' && *p == ':') ||
               (p > b && isdigit((unsigned char)p[-1]) && p[0] == ':' &&
                isdigit((unsigned char)p[1]))) /* sp::2:4 */
            p++;
        char *id = copy(b, (size_t)(p - b));
        int s = -1;
        for (int k = 0; k < f->nslots; k++)
            if (!strcmp(f->slot[k].group, id) && *id) s = k;
        if (s >= 0)
            out = format("%sm[%d]", out, s);
        else if (!strcmp(id, "none"))
            out = format("%sW_none", out);
        else if (!strcmp(id, "bits"))
            out = format("%stype_bits", out);
        else if (strspn(id, "0123456789") == strlen(id))
            out = format("%s%s", out, id);
        else if (flag_position(text, b, p) && known_group(id))
            out = format("%s0", out); /* a group that this form lacks counts as absent */
        else if (find(&words, id) >= 0)
            out = format("%sW_%s", out, cname(id));
        else if (known_group(id))
            out = format("%s0", out);
        else {
            fail(file, line, "'%s' is neither a group nor a word", id);
            return dup("0");
        }
    }
    return out;
}

list cond_funcs; /* bodies; function number is the index */

int cond_func(const form *f, const rule *r)
{
    if (!r->cond || !*r->cond) return -1;
    /* a single optional word that this form lacks can never hold */
    char *c = condition(f, r->cond, r->file, r->line);
    return intern(&cond_funcs, c);
}
