/* video_modifiers.c - parts of registers as operands of video instructions (PTX ISA 9.0, sections
 * 9.7.17 and 9.7.18).
 *
 *     vadd.s32.s32.s32   %r1, %r2.b0, %r3.h1           one byte or half of each source
 *     vadd2.s32.s32.s32  %r1.h10, %r2.h20, %r3, %r4    two halves, each of the four of %r2 and %r3
 *     vadd4.s32.s32.s32  %r1.b30, %r2.b7654, %r3, %r4
 *
 * The scalar instructions use pl_operand.sel, the SIMD ones the digits in pl_operand.lanes. The
 * operands that accept a part were measured with ptxas 13.0. */
#include "ptx/sema/operand_check.h"

#include <string.h>

/* Returns 1 for a scalar video instruction, 2 and 4 for SIMD on halves and bytes, 0 for none. */
static unsigned video_width(const pl_sym *opcode)
{
    static const char *const stems[] = {"vadd", "vsub", "vabsdiff", "vmin", "vmax",
                                        "vshl", "vshr", "vmad",     "vset", "vavrg"};
    for (size_t k = 0; k < sizeof stems / sizeof *stems; k++) {
        size_t n = strlen(stems[k]);
        if (strncmp(opcode->name, stems[k], n)) continue;
        char end = opcode->name[n];
        return end == 0 ? 1 : end == '2' ? 2 : end == '4' ? 4 : 0;
    }
    return 0;
}

static bool has_operation(const pl_attempt *a)
{
    for (unsigned k = 0; k < a->form->nslots; k++)
        if (a->mods[k] && !strcmp(pl_group_text[a->form->slot[k].group], "op2")) return true;
    return false;
}

/* Parses the digits of .b7654 into nibbles; a destination lists its parts from high to low. */
static bool parse_digits(const char *text, unsigned width, bool destination, pl_operand_draft *o)
{
    size_t n = strlen(text);
    char limit = (char)('0' + (destination ? width : 2 * width));
    if (!n || n > width || (!destination && n != width)) return false;
    for (size_t k = 0; k < n; k++) {
        if (text[k] < '0' || text[k] >= limit || (destination && k && text[k] >= text[k - 1]))
            return false;
        o->lanes = (uint16_t)(o->lanes << 4 | (text[k] - '0'));
    }
    o->nlanes = (uint8_t)n;
    return true;
}

bool pl_video_part(pl_attempt *a, const pl_ospec *s, const pl_node *n, pl_operand_draft *o)
{
    unsigned width = video_width(a->opcode);
    ptrdiff_t index = s - a->form->operand;
    const char *text = n->sel->name + 1;
    bool scalar_part = (text[0] == 'b' || text[0] == 'h') && text[1] >= '0' &&
                       text[1] <= (text[0] == 'b' ? '3' : '1') && !text[2];
    bool good = false;
    if (width == 1 && index <= 2 && scalar_part) {
        o->sel =
            (uint8_t)(text[0] == 'b' ? PL_SEL_B0 + (text[1] - '0') : PL_SEL_H0 + (text[1] - '0'));
        good = index > 0 || (a->form->noperands == 4 && strcmp(a->opcode->name, "vmad") != 0 &&
                             !has_operation(a));
    } else if (width > 1 && index <= 2 && text[0] == (width == 2 ? 'h' : 'b')) {
        good = parse_digits(text + 1, width, index == 0, o);
    }
    if (!good && a->report)
        pl_report(a->p->diags, width ? PL_E0244 : PL_E0243, n->sel_at, n->sel->name,
                  pl_full_name(a->p, a->opcode));
    return good;
}

/* -%r1: factors of vmad, or its addend */
bool pl_video_allows_minus(const pl_attempt *a, const pl_ospec *s)
{
    return a->opcode->mnem == M_vmad && !s->written;
}

/* Two negated factors cancel. A negated product excludes a negated addend, and each of these
 * excludes .po, which adds one. */
bool pl_video_check_signs(const pl_attempt *a)
{
    if (a->opcode->mnem != M_vmad) return true;
    bool product = a->out[1].neg != a->out[2].neg, po = false;
    for (unsigned k = 0; k < a->form->nslots; k++) po |= a->mods[k] == W_po;
    unsigned wrong = a->out[3].neg && (product || po) ? 3 : product && po ? 1u + a->out[2].neg : 0;
    if (wrong)
        pl_report(a->p->diags, PL_E0213, a->out[wrong].at, pl_full_name(a->p, a->opcode), "-")
            ->help = "negate it with neg first";
    return !wrong;
}
