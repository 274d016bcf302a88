/* op_sparse.c - spcompress and spdecompress: convert vectors to two of four elements, and back. */
#include <string.h>

#include "emu/exec/hooks.h"
#include "emu/exec/lane_loops.h"
#include "emu/exec/num/modifier_words.h"
#include "emu/exec/num/sparse.h"

enum { MAX_REGISTERS = 128 };

/* Bits AT to AT + BITS of registers of one lane; a power-of-two number of bits never straddles two
 * registers. */
static uint32_t bits_at(const uint32_t *from, int at, int bits)
{
    return from[at / 32] >> at % 32 & (UINT32_MAX >> (32 - bits));
}

static void set_bits(uint32_t *to, int at, uint32_t x)
{
    to[at / 32] |= x << at % 32;
}

static unsigned read_registers(const pl_warp *w, const pl_insn *i, unsigned k, unsigned lane,
                               uint32_t *to)
{
    const unsigned n = (unsigned)pl_operand_count(&pl_forms[i->form], k, i->mods);
    for (unsigned r = 0; r < n; r++) to[r] = pl_row32(w, pl_more(w, i, i->op[k] + r))[lane];
    return n;
}

static void write_registers(const pl_warp *w, const pl_insn *i, unsigned k, unsigned lane,
                            const uint32_t *from)
{
    const unsigned n = (unsigned)pl_operand_count(&pl_forms[i->form], k, i->mods);
    for (unsigned r = 0; r < n; r++) pl_row32(w, pl_more(w, i, i->op[k] + r))[lane] = from[r];
}

/* The types encoded by bits 2 to 4 of the descriptor, for elements of 8 and of 16 bits. */
typedef struct sparse_type {
    int bits;     /* of a number */
    uint32_t inf; /* the magnitude above which it is a NaN; 0: an integer */
    bool sign;
} sparse_type;

static bool type_of(int element, uint32_t desc, sparse_type *t)
{
    static const sparse_type bytes[8] = {{8, 0, false},   {8, 0, true},    {8, 0x7c, true},
                                         {8, 0x7e, true}, {6, 0x1f, true}, {6, 0x1f, true}},
                             halves[8] = {{16, 0x7c00, true}, {16, 0x7f80, true}};
    *t = (element == 8 ? bytes : halves)[desc >> 2 & 7];
    return t->bits && desc < 32;
}

static int64_t key_of(sparse_type t, uint32_t x, bool abs, bool smallest)
{
    const uint32_t top = 1u << (t.bits - 1), all = top | (top - 1);
    if (t.inf) return sparse_key(x & (top - 1), x & top, t.inf, abs, smallest);
    int64_t v = x & all;
    if (t.sign && x & top) v -= 2 * (int64_t)top;
    if (abs && v < 0) v = -v;
    return smallest ? -v : v;
}

void exec_spcompress(pl_warp *w, const pl_insn *i, int element, int index)
{
    const int bits = element == W_b8 ? 8 : 16, wide = index == W_b2 ? 2 : 4;
    for (uint32_t m = w->exec; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t from[MAX_REGISTERS], kept[MAX_REGISTERS] = {0}, indices[MAX_REGISTERS] = {0};
        const unsigned n = read_registers(w, i, 2, l, from);
        const uint32_t desc = pl_row32(w, i->op[3])[l];
        sparse_type t;
        if (!type_of(bits, desc, &t)) {
            pl_fault(w, 1u << l, 0, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
                     "spcompress: the descriptor 0x%x names no type of %d bits", desc, bits);
            return;
        }
        for (int g = 0; g < (int)n * 32 / (4 * bits); g++) {
            int64_t key[4];
            for (int e = 0; e < 4; e++)
                key[e] = key_of(t, bits_at(from, (4 * g + e) * bits, bits), desc & 1, desc & 2);
            const unsigned two = two_of_four(key);
            for (int e = 0; e < 2; e++) {
                const uint32_t index_of_two = two >> (2 * e) & 3;
                set_bits(kept, (2 * g + e) * bits,
                         bits_at(from, (4 * g + (int)index_of_two) * bits, bits));
                set_bits(indices, (2 * g + e) * wide, index_of_two);
            }
        }
        write_registers(w, i, 0, l, indices);
        write_registers(w, i, 1, l, kept);
    }
}

void exec_spdecompress(pl_warp *w, const pl_insn *i, int element, int index, int factor)
{
    const int bits = element == W_b8 ? 8 : 16, wide = index == W_b2 ? 2 : 4;
    int kept = 0, of = 0;
    const char *s = pl_word_text[factor] + 4; /* sp::2:4 */
    for (; *s != ':'; s++) kept = 10 * kept + *s - '0';
    for (s++; *s; s++) of = 10 * of + *s - '0';
    for (uint32_t m = w->exec; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t to[MAX_REGISTERS] = {0}, indices[MAX_REGISTERS], from[MAX_REGISTERS];
        read_registers(w, i, 1, l, indices);
        const int steps = (int)read_registers(w, i, 2, l, from) * 32 / (kept * bits),
                  most = (int)pl_operand_count(&pl_forms[i->form], 0, i->mods) * 32 / (of * bits);
        for (int g = 0; g < steps && g < most; g++)
            for (int e = 0; e < kept; e++) {
                const int at = g * of + (int)bits_at(indices, (g * kept + e) * wide, wide) % of;
                to[at * bits / 32] &= ~((UINT32_MAX >> (32 - bits)) << at * bits % 32);
                set_bits(to, at * bits, bits_at(from, (g * kept + e) * bits, bits));
            }
        write_registers(w, i, 0, l, to);
    }
}
