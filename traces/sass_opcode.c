/* sass_opcode.c - derives the memory access of an instruction from its text: "@%p1 ld.global.v4.f32
 * ..." loads 16 bytes of global memory.
 *
 * The effect bits of the instruction table specify that memory is accessed; space, vector length
 * and type are the modifiers between the dots. Generic addresses stay "generic" here: the space is
 * resolved only at run time (mem rows carry the resolved space). */
#include "isa/table/form.h"
#include "traces/tracedb.h"
#include <string.h>

static const struct {
    const char *word;
    uint8_t bytes;
} type_bytes[] = {
    {"b8", 1},   {"u8", 1},  {"s8", 1},  {"b16", 2}, {"u16", 2},   {"s16", 2},   {"f16", 2},
    {"bf16", 2}, {"b32", 4}, {"u32", 4}, {"s32", 4}, {"f32", 4},   {"f16x2", 4}, {"bf16x2", 4},
    {"b64", 8},  {"u64", 8}, {"s64", 8}, {"f64", 8}, {"b128", 16},
};

static const char *const spaces[] = {"global", "shared", "local", "const", "param"};

/* Mnemonics whose space or size is not one of their modifiers. */
static const struct {
    const char *mnemonic, *space; /* space NULL: taken from the modifiers */
    bool sized;                   /* bytes per lane are the type size times the vector length */
} special[] = {
    {"ldmatrix", "shared", false}, {"stmatrix", "shared", false}, {"mbarrier", "shared", true},
    {"tex", "texture", false},     {"tld4", "texture", false},    {"suld", "texture", true},
    {"sust", "texture", true},     {"sured", "texture", true},    {"cp", NULL, false},
    {"wmma", NULL, false},         {"wgmma", "shared", false},    {"tcgen05", NULL, false},
};

static bool is_word(const char *s, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(s, word, n) == 0;
}

pl_tracedb_access pl_tracedb_opcode(const char *text, uint32_t effects)
{
    pl_tracedb_access a = {NULL, NULL, 0};
    if (text[0] == '@') text += strcspn(text, " \t");
    text += strspn(text, " \t");
    const char *end = text + strcspn(text, " \t;");
    size_t mnemonic = strcspn(text, ". \t;");

    if (effects & PL_EF_ASYNC)
        a.kind = "async";
    else if (effects & PL_EF_ATOMIC)
        a.kind = is_word(text, mnemonic, "red") ? "reduction" : "atomic";
    else if (effects & PL_EF_LOAD)
        a.kind = is_word(text, mnemonic, "prefetch") ? "prefetch" : "load";
    else if (effects & PL_EF_STORE)
        a.kind = "store";
    if (!a.kind) return a;

    uint32_t type = 0, vector = 1, matrices = 0;
    bool sized = true;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        if (!is_word(text, mnemonic, special[i].mnemonic)) continue;
        a.space = special[i].space;
        sized = special[i].sized;
    }
    for (const char *p = text + mnemonic; p < end && *p == '.'; p += strcspn(p, ". \t;")) {
        p++;
        size_t n = strcspn(p, ".: \t;"); /* "shared::cta" counts as shared */
        for (size_t i = 0; !a.space && i < sizeof spaces / sizeof *spaces; i++)
            if (is_word(p, n, spaces[i])) a.space = spaces[i];
        for (size_t i = 0; i < sizeof type_bytes / sizeof *type_bytes; i++)
            if (is_word(p, n, type_bytes[i].word)) type = type_bytes[i].bytes;
        if (n == 2 && p[0] == 'v' && p[1] >= '2' && p[1] <= '8') vector = (uint32_t)(p[1] - '0');
        if (is_word(p, n, "m8n8")) matrices = 1;
        if (matrices && n == 2 && p[0] == 'x' && p[1] >= '1' && p[1] <= '4')
            matrices = (uint32_t)(p[1] - '0');
    }
    if (!a.space) a.space = "generic";
    /* An 8 by 8 matrix of 16-bit elements is 128 bytes: 4 per lane. */
    a.bytes = sized ? type * vector : matrices * 4;
    return a;
}
