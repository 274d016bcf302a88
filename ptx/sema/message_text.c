/* message_text.c - fragments of messages about an instruction. */
#include "ptx/sema/operand_check.h"

/* "add.rn.f32", as written */
const char *pl_full_name(pl_parse *p, const pl_sym *opcode)
{
    const char *name = opcode->name;
    for (unsigned k = 0; k < p->nwords; k++)
        name = pl_arena_printf(p->arena, "%s.%.*s", name, (int)p->word[k].len, p->word[k].text);
    return name;
}

const char *pl_syntax_help(pl_parse *p, const pl_form *f)
{
    return pl_arena_printf(p->arena, "the form is: %s", f->syntax);
}

const char *pl_range_text(pl_arena *arena, int64_t low, int64_t high)
{
    return low == high ? pl_arena_printf(arena, "%lld", (long long)low)
           : high == INT64_MAX
               ? pl_arena_printf(arena, "%lld or more", (long long)low)
               : pl_arena_printf(arena, "%lld to %lld", (long long)low, (long long)high);
}
