/* expression.c - operands and constant expressions as written.
 *
 * The grammar does not know which kind of operand an instruction expects, so one node type
 * represents all of them; constants are folded as they are read. Constant expressions follow PTX
 * ISA 9.0, section 4.6. Integers have 64 bits. They are signed unless written with U, too large for
 * a signed number, or combined with an unsigned one. Comparisons give a signed 0 or 1; shifts keep
 * the type of their left operand; floating-point expressions are doubles. Nodes are in a pool that
 * every statement resets, so reading a million instructions allocates nothing here. */
#include "ptx/internal.h"
#include "ptx/parse/parse.h"

#include <math.h>
#include <string.h>

static pl_node *node(pl_parse *p, uint32_t n)
{
    return &p->nodes.at[n];
}

void pl_nodes_reset(pl_parse *p)
{
    p->nodes.n = 1; /* index 0 means no node */
    p->drafts.n = 0;
}

uint32_t pl_node_new(pl_parse *p, pl_node_kind kind, pl_loc at)
{
    if (!p->nodes.n) *pl_push(p->arena, &p->nodes) = (pl_node){0};
    *pl_push(p->arena, &p->nodes) = (pl_node){.kind = (uint8_t)kind, .at = at};
    return (uint32_t)p->nodes.n - 1;
}

uint32_t pl_node_number(pl_parse *p, const pl_number *n, pl_loc at)
{
    uint32_t r = pl_node_new(p, n->is_float ? PL_N_FLOAT : PL_N_INT, at);
    pl_node *x = node(p, r);
    x->value = (int64_t)n->bits;
    x->is_unsigned = n->is_unsigned;
    x->single = n->single;
    x->bits_given = n->bits_given;
    x->single_bits = n->single_bits;
    return r;
}

uint32_t pl_node_name(pl_parse *p, pl_sym *s, pl_loc at)
{
    uint32_t r = pl_node_new(p, PL_N_NAME, at);
    node(p, r)->sym = s;
    return r;
}

uint32_t pl_node_select(pl_parse *p, uint32_t n, pl_sym *sel, pl_loc at)
{
    pl_node *x = node(p, n);
    x->sel = sel;
    x->sel_at = at;
    return n;
}

/* `(5)` in an expression is 5. */
static uint32_t unwrap(pl_parse *p, uint32_t n)
{
    pl_node *x = node(p, n);
    return x->kind == PL_N_LIST && x->n == 1 ? unwrap(p, x->first) : n;
}

static uint32_t mark_wrong(pl_parse *p, uint32_t n)
{
    node(p, n)->kind = PL_N_WRONG;
    return n;
}

/* NAME[INDEX]: the address of an element, which counts as a name with an offset. */
uint32_t pl_node_element(pl_parse *p, uint32_t name, uint32_t index, pl_loc at)
{
    pl_node *x = node(p, name), *y = node(p, unwrap(p, index));
    x->at = at;
    if (y->kind == PL_N_WRONG) return mark_wrong(p, name);
    if (y->kind != PL_N_INT) {
        pl_report(p->diags, PL_E0106, y->at)->help =
            "the number of an element is a constant; add what a register holds to the address with "
            "an instruction";
        return mark_wrong(p, name);
    }
    x->element = x->has_offset = true;
    x->value = y->value;
    return name;
}

static uint32_t report_not_constant(pl_parse *p, uint32_t n, pl_loc at)
{
    if (node(p, n)->kind != PL_N_WRONG) pl_report(p->diags, PL_E0106, at);
    return mark_wrong(p, n);
}

static double as_double(const pl_node *x)
{
    double d;
    if (x->kind == PL_N_FLOAT)
        memcpy(&d, &x->value, sizeof d);
    else
        d = x->is_unsigned ? (double)(uint64_t)x->value : (double)x->value;
    return d;
}

static void set_double(pl_node *x, double d)
{
    x->kind = PL_N_FLOAT;
    x->single = x->is_unsigned = false;
    memcpy(&x->value, &d, sizeof d);
}

/* Floating-point numbers given by their bits (0f, 0d) are not allowed in an expression unless
 * parenthesised (ptxas 13.0). */
static bool report_bare_bits(pl_parse *p, uint32_t n)
{
    if (node(p, n)->kind != PL_N_FLOAT || !node(p, n)->bits_given) return false;
    pl_report(p->diags, PL_E0106, node(p, n)->at);
    return true;
}

/* Checks an operand that is tested for zero. */
static bool report_float_condition(pl_parse *p, uint32_t n, pl_loc at)
{
    if (node(p, n)->kind != PL_N_FLOAT) return false;
    pl_report(p->diags, PL_E0385, at, "a floating-point number");
    return true;
}

uint32_t pl_node_unary(pl_parse *p, int op, uint32_t a, pl_loc at)
{
    if (report_bare_bits(p, a)) return mark_wrong(p, a);
    a = unwrap(p, a);
    pl_node *x = node(p, a);
    x->at = at;
    if (x->kind == PL_N_WRONG) return a;
    if (x->kind == PL_N_NAME && !x->has_offset && (op == '!' || op == '-')) {
        *(op == '!' ? &x->not_ : &x->minus) ^= true;
        return a;
    }
    if (op == '!' && report_float_condition(p, a, at)) return mark_wrong(p, a);
    if (x->kind == PL_N_FLOAT && op != '~') {
        if (op == '-') {
            x->value = (int64_t)((uint64_t)x->value ^ (UINT64_C(1) << 63));
            x->single_bits ^= UINT32_C(1) << 31;
        }
        return a;
    }
    if (x->kind != PL_N_INT) return report_not_constant(p, a, at);
    uint64_t v = (uint64_t)x->value;
    x->value = (int64_t)(op == '-' ? 0 - v : op == '~' ? ~v : op == '!' ? !v : v);
    if (op == '!') x->is_unsigned = false;
    return a;
}

static bool float_binary(pl_node *r, int op, double x, double y)
{
    int result = -1;
    switch (op) {
    case '+': set_double(r, x + y); break;
    case '-': set_double(r, x - y); break;
    case '*': set_double(r, x * y); break;
    case '/':
        if (y == 0.0) return false;
        set_double(r, x / y);
        break;
    case '<': result = x < y; break;
    case '>': result = x > y; break;
    case T_LE: result = x <= y; break;
    case T_GE: result = x >= y; break;
    case T_EQ: result = x == y; break;
    case T_NE: result = x != y; break;
    default: return false;
    }
    if (result >= 0) {
        r->kind = PL_N_INT;
        r->is_unsigned = false;
        r->value = result;
    }
    return true;
}

/* Only division by zero has no integer result. */
static bool int_binary(pl_node *r, int op, const pl_node *a, const pl_node *b)
{
    bool u = a->is_unsigned || b->is_unsigned;
    uint64_t x = (uint64_t)a->value, y = (uint64_t)b->value, v = 0;
    int64_t sx = a->value, sy = b->value;
    bool result = false, compares = true;
    switch (op) {
    case '<': result = u ? x < y : sx < sy; break;
    case '>': result = u ? x > y : sx > sy; break;
    case T_LE: result = u ? x <= y : sx <= sy; break;
    case T_GE: result = u ? x >= y : sx >= sy; break;
    case T_EQ: result = x == y; break;
    case T_NE: result = x != y; break;
    case T_ANDAND: result = x && y; break;
    case T_OROR: result = x || y; break;
    default: compares = false; break;
    }
    if (compares) {
        r->is_unsigned = false;
        r->value = result;
        return true;
    }
    switch (op) {
    case '+': v = x + y; break;
    case '-': v = x - y; break;
    case '*': v = x * y; break;
    case '&': v = x & y; break;
    case '^': v = x ^ y; break;
    case '|': v = x | y; break;
    case T_SHL:
        v = y > 63 ? 0 : x << y;
        u = a->is_unsigned;
        break;
    case T_SHR:
        u = a->is_unsigned;
        v = u ? (y > 63 ? 0 : x >> y) : (uint64_t)(sx >> (y > 63 ? 63 : y));
        break;
    case '/':
    case '%':
        if (!y) return false;
        if (u)
            v = op == '/' ? x / y : x % y;
        else if (sy == -1)
            v = op == '/' ? 0 - x : 0;
        else
            v = (uint64_t)(op == '/' ? sx / sy : sx % sy);
        break;
    default: return false;
    }
    r->is_unsigned = u;
    r->value = (int64_t)v;
    return true;
}

/* d|p: two results */
uint32_t pl_node_pair(pl_parse *p, uint32_t a, uint32_t b, pl_loc at)
{
    uint32_t r = pl_node_new(p, PL_N_PAIR, at);
    node(p, r)->first = a;
    node(p, r)->last = b;
    return r;
}

/* Folds two constants; the first node becomes the result. */
static uint32_t fold_constants(pl_parse *p, int op, uint32_t a, uint32_t b, pl_loc at)
{
    pl_node *x = node(p, a), *y = node(p, b);
    if (x->kind != y->kind) {
        pl_report(p->diags, PL_E0111, at);
        return mark_wrong(p, a);
    }
    const bool done = x->kind == PL_N_FLOAT ? float_binary(x, op, as_double(x), as_double(y))
                                            : int_binary(x, op, x, y);
    x->at = at;
    if (done) return a;
    if (op == '/' || op == '%')
        pl_report(p->diags, PL_E0107, at);
    else
        pl_report(p->diags, PL_E0106, at);
    return mark_wrong(p, a);
}

static bool is_literal(const pl_node *n)
{
    return n->kind == PL_N_INT || n->kind == PL_N_FLOAT;
}

uint32_t pl_node_binary(pl_parse *p, int op, uint32_t a, uint32_t b, pl_loc at)
{
    if (report_bare_bits(p, a) || report_bare_bits(p, b)) return mark_wrong(p, a);
    a = unwrap(p, a);
    b = unwrap(p, b);
    pl_node *x = node(p, a), *y = node(p, b);
    if ((op == T_ANDAND || op == T_OROR) &&
        (report_float_condition(p, a, at) || report_float_condition(p, b, at)))
        return mark_wrong(p, a);
    if (x->kind == PL_N_WRONG || y->kind == PL_N_WRONG) return mark_wrong(p, a);
    if (is_literal(x) && is_literal(y)) return fold_constants(p, op, a, b, at);
    if (op == '+' && x->kind == PL_N_NAME && y->kind == PL_N_INT && !x->not_ && !x->minus &&
        !x->element) {
        x->value = (int64_t)((uint64_t)x->value + (uint64_t)y->value);
        x->has_offset = true;
        x->at = at;
        return a;
    }
    /* ptxas accepts neither NAME-4 nor 4+NAME. */
    if ((op == '-' && x->kind == PL_N_NAME && y->kind == PL_N_INT) ||
        (op == '+' && x->kind == PL_N_INT && y->kind == PL_N_NAME)) {
        pl_report(p->diags, PL_E0112, at)->help =
            pl_arena_printf(p->arena, "write %s+%lld", op == '-' ? x->sym->name : y->sym->name,
                            (long long)(op == '-' ? 0 - (uint64_t)y->value : (uint64_t)x->value));
        return mark_wrong(p, a);
    }
    if (op == '+' && x->kind == PL_N_NAME && y->kind == PL_N_NAME) {
        pl_report(p->diags, PL_E0112, at)->help = "add the other name with an instruction first";
        return mark_wrong(p, a);
    }
    if (op == '|' && (x->kind == PL_N_NAME || x->kind == PL_N_SINK) &&
        (y->kind == PL_N_NAME || y->kind == PL_N_SINK))
        return pl_node_pair(p, a, b, at);
    return report_not_constant(p, a, at);
}

uint32_t pl_node_ternary(pl_parse *p, uint32_t c, uint32_t a, uint32_t b, pl_loc at)
{
    c = unwrap(p, c);
    a = unwrap(p, a);
    b = unwrap(p, b);
    const pl_node *x = node(p, c), *y = node(p, a), *z = node(p, b);
    if (report_float_condition(p, c, at) || report_float_condition(p, a, at) ||
        report_float_condition(p, b, at))
        return mark_wrong(p, c);
    if (x->kind != PL_N_INT) return report_not_constant(p, c, at);
    bool u = y->is_unsigned || z->is_unsigned;
    if (y->kind != PL_N_INT || z->kind != PL_N_INT) return report_not_constant(p, a, at);
    uint32_t chosen = x->value ? a : b;
    pl_node *r = node(p, chosen);
    r->is_unsigned = u;
    r->at = at;
    return chosen;
}

uint32_t pl_node_cast(pl_parse *p, pl_sym *type, uint32_t a, pl_loc at)
{
    a = unwrap(p, a);
    pl_node *x = node(p, a);
    if (type->word != W_s64 && type->word != W_u64) {
        pl_report(p->diags, PL_E0109, at, type->name);
        return mark_wrong(p, a);
    }
    if (x->kind != PL_N_INT) return report_not_constant(p, a, at);
    x->is_unsigned = type->word == W_u64;
    return a;
}

/* generic(name) and 0xff00(name), in initialisers only */
uint32_t pl_node_call(pl_parse *p, uint32_t what, uint32_t arg, pl_loc at)
{
    pl_node *w = node(p, what), *x = node(p, arg);
    if (x->kind != PL_N_NAME || x->not_ || x->minus || x->sel)
        return report_not_constant(p, arg, at);
    if (w->kind == PL_N_NAME && !strcmp(w->sym->name, "generic") && !x->generic) {
        x->generic = true;
    } else if (w->kind == PL_N_INT) {
        x->mask = (uint64_t)w->value;
    } else {
        pl_report(p->diags, PL_E0106, at);
        return mark_wrong(p, arg);
    }
    return arg;
}

uint32_t pl_node_list(pl_parse *p, uint32_t list, uint32_t elem)
{
    if (!list) {
        list = pl_node_new(p, PL_N_LIST, node(p, elem)->at);
        node(p, list)->first = elem;
    } else {
        node(p, node(p, list)->last)->next = elem;
    }
    node(p, list)->last = elem;
    node(p, list)->n++;
    return list;
}

uint32_t pl_node_close(pl_parse *p, pl_node_kind kind, uint32_t list, pl_loc at)
{
    if (!list) return pl_node_new(p, kind, at);
    node(p, list)->kind = (uint8_t)kind;
    node(p, list)->at = at;
    return list;
}

bool pl_node_int(pl_parse *p, uint32_t n, const char *what, int64_t *out)
{
    const pl_node *x = node(p, unwrap(p, n));
    if (x->kind == PL_N_INT) {
        *out = x->value;
        return true;
    }
    if (x->kind != PL_N_WRONG) pl_report(p->diags, PL_E0110, x->at, what);
    return false;
}

/* Rounds a double to a 16-bit format with `frac` fraction bits and `exp` exponent bits, to nearest
 * even. */
static uint64_t narrow(double value, int exp, int frac)
{
    int max = (1 << exp) - 1, bias = (1 << (exp - 1)) - 1, e;
    uint64_t sign = signbit(value) ? UINT64_C(1) << (exp + frac) : 0;
    if (isnan(value)) return sign | ((uint64_t)max << frac) | (UINT64_C(1) << (frac - 1));
    double m = frexp(fabs(value), &e); /* value = m * 2^e, 0.5 <= m < 1 */
    if (isinf(value) || e - 1 > bias) return sign | ((uint64_t)max << frac);
    if (m == 0) return sign;
    int lowest = 1 - bias, shift = e - 1 < lowest ? lowest : e - 1;
    /* nearbyint rounds to even in the default mode; carries propagate into the exponent */
    uint64_t n = (uint64_t)nearbyint(ldexp(m, e - shift + frac));
    uint64_t biased = e - 1 < lowest ? 0 : (uint64_t)(shift + bias - 1);
    return sign | ((biased << frac) + n);
}

uint64_t pl_float_bits(double value, pl_word type, bool single, uint32_t single_bits)
{
    uint64_t bits = 0;
    float f = (float)value;
    switch (type) {
    case W_f16: return narrow(value, 5, 10);
    case W_bf16: return narrow(value, 8, 7);
    default: break;
    }
    if (pl_type_bits(type) == 32) {
        if (single) return single_bits;
        memcpy(&bits, &f, sizeof f);
        return bits;
    }
    memcpy(&bits, &value, sizeof value);
    return bits;
}
