#!/bin/sh
# add_instruction.sh - follows doc/adding-an-instruction.md, using the code blocks of the page.
#
# The isa block is added to a scratch copy of the table, isagen is run on it, and the generated loop must equal the page's and
# must compute averages. The instruction itself is not built into any program, so the page's ptx test is run with avg expanded.
srcdir=${srcdir:-.}
builddir=${builddir:-.}
page=$srcdir/doc/adding-an-instruction.md
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/table" "$scratch/isa" "$scratch/refused"
tests=0
failed=0

# block LANGUAGE: prints the page's block in that language.
block() {
    awk -v fence="\`\`\`$1" '$0 == "```" { on = 0 } on { print } $0 == fence { on = 1 }' "$page"
}

# verdict STATUS NAME: prints one TAP line, and $scratch/said on failure.
verdict() {
    tests=$((tests + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tests - $2"
    else
        failed=$((failed + 1))
        echo "not ok $tests - $2"
        sed 's/^/#   /' "$scratch/said"
    fi
}

cp "$srcdir"/isa/table/*.isa "$scratch/table" && chmod -R u+w "$scratch/table"
cp "$scratch/table/int.isa" "$scratch/int.isa"
block isa >"$scratch/block"
{ echo; cat "$scratch/block"; } >>"$scratch/table/int.isa"
"$builddir/isa/isagen" "$scratch/isa" "$scratch/table/ptx.isa" >"$scratch/said" 2>&1
verdict $? "isagen accepts the table with the page's block"

grep -q '^    M_avg,$' "$scratch/isa/gen_words.h" && grep -q '^    {M_avg, .*"avg.type d, a, b"' "$scratch/isa/gen_forms.c" &&
    grep -q '{"avg", "Average of two integers, rounded up"' "$scratch/isa/gen_forms.c"
verdict $? "the mnemonic, its form and its meaning are in the generated tables"

class=$(sed -n 's/^  class //p' "$scratch/block")
grep -q "^| \`$class\` |" "$srcdir/isa/table/classes.md"
verdict $? "its latency class '$class' is one of isa/table/classes.md"

# The loops of avg, without the numbers in their names: first for u32, then for s32.
cat "$scratch"/isa/gen_exec_?.c | awk '/^\/\* int\.isa:[0-9]+ avg\.type d, a, b \*\/$/ { on = 1; next } on { print } /^}/ { on = 0 }' |
    sed 's/x[0-9]*_\([01]\)(/x_\1(/' >"$scratch/loops.c"
block c | sed 's/x[0-9]*_\([01]\)(/x_\1(/' >"$scratch/shown.c"
sed -n '/x_1(/,/^}/p' "$scratch/loops.c" | diff - "$scratch/shown.c" >"$scratch/said" && [ -s "$scratch/shown.c" ]
verdict $? "the generated loop matches the page"

cat >"$scratch/run.c" <<'C'
#include "emu/exec/lane_loops.h"
#include "loops.c"
int main(void)
{
    static _Alignas(64) uint32_t regs[3 * PL_LANES];
    static pl_warp w;
    static const uint32_t value[] = {0, 1, 2, 3, 1000000007, 0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, UINT32_MAX};
    const unsigned n = sizeof value / sizeof *value;
    const pl_insn insn = {.op = {0, 1, 2}};
    w.regs = regs;
    for (unsigned l = 0; l < PL_LANES; l += 2) { /* every other lane takes part */
        w.mask[l] = UINT32_MAX;
        w.exec |= UINT32_C(1) << l;
    }
    for (unsigned k = 0; k < n * n; k++) {
        const uint32_t a = value[k / n], b = value[k % n];
        for (int is_signed = 0; is_signed < 2; is_signed++) {
            for (unsigned l = 0; l < PL_LANES; l++) {
                regs[l] = 77;
                regs[PL_LANES + l] = a;
                regs[2 * PL_LANES + l] = b;
            }
            const int64_t sum = is_signed ? (int64_t)(int32_t)a + (int32_t)b : (int64_t)a + b;
            const uint32_t up = (uint32_t)((sum + (sum & 1)) / 2);
            (is_signed ? x_1 : x_0)(&w, &insn);
            for (unsigned l = 0; l < PL_LANES; l++)
                if (regs[l] != (l % 2 == 0 ? up : 77)) return 1;
        }
    }
    return 0;
}
C
name="the generated loops compute averages, and leave lanes alone that do not take part"
compiler=
for cc in cc gcc clang; do
    command -v "$cc" >/dev/null 2>&1 && { compiler=$cc; break; }
done
if [ -z "$compiler" ]; then
    tests=$((tests + 1))
    echo "ok $tests - $name # SKIP no C compiler"
else
    "$compiler" -std=c17 -D_XOPEN_SOURCE=700 -I"$scratch" -I"$builddir" -I"$srcdir" -I"$srcdir/include" \
        -o "$scratch/run" "$scratch/run.c" >"$scratch/said" 2>&1 && "$scratch/run"
    verdict $? "$name"
fi

# The table without the class line.
{ cat "$scratch/int.isa"; echo; grep -v '^  class' "$scratch/block"; } >"$scratch/table/int.isa"
"$builddir/isa/isagen" "$scratch/refused" "$scratch/table/ptx.isa" >"$scratch/said" 2>&1
status=$?
[ "$status" -eq 1 ] && [ "$(sed 's/.*error: //' "$scratch/said")" = "$(block text | sed 's/.*error: //')" ]
verdict $? "the message for a missing line matches the page"

# A new class: the page's row, and the form that names it.
sed 's/^  class .*/  class alu_avg/' "$scratch/block" >"$scratch/form"
{ cat "$scratch/int.isa"; echo; cat "$scratch/form"; } >"$scratch/table/int.isa"
"$builddir/isa/isagen" "$scratch/refused" "$scratch/table/ptx.isa" >"$scratch/said" 2>&1
status=$?
[ "$status" -eq 1 ] && [ "$(sed 's/.*error: //' "$scratch/said")" = "$(block message | sed 's/.*error: //')" ]
verdict $? "the message for a class without a row matches the page"

block class >>"$scratch/table/classes.isa"
"$builddir/isa/isagen" "$scratch/isa" "$scratch/table/ptx.isa" >"$scratch/said" 2>&1 &&
    grep -q '^    C_alu_avg,$' "$scratch/isa/gen_words.h" &&
    grep -q 'return C_alu_avg;' "$scratch/isa/gen_forms.c" &&
    grep -q '\.latency = 6, .unit = PL_SCHED_ALU, .unit_cycles = 2, .*\.convert_cost = 2, .*\.price_as = C_alu_x2,' "$scratch/isa/gen_forms.c" &&
    grep -q '^| `alu_avg` | `avg` | 2 ALU |' "$scratch/isa/classes.md"
verdict $? "a row of classes.isa and a form with it define a class"

diff "$builddir/isa/classes.md" "$srcdir/isa/table/classes.md" >"$scratch/said"
verdict $? "isa/table/classes.md is up to date (make classes-doc)"

# A pass: the blocks of doc/assembler.md, with the line in a copy of the pass list.
name="the page's pass has its prototype from its line in passes.def, and compiles"
instruction_page=$page
page=$srcdir/doc/assembler.md
mkdir "$scratch/compiler"
block pass >"$scratch/pass.c"
block passes >"$scratch/line"
{ sed '/^#undef/d' "$srcdir/compiler/passes.def"; cat "$scratch/line"; grep '^#undef' "$srcdir/compiler/passes.def"; } >"$scratch/compiler/passes.def"
page=$instruction_page
if [ -z "$compiler" ]; then
    tests=$((tests + 1))
    echo "ok $tests - $name # SKIP no C compiler"
else
    "$compiler" -std=c17 -D_XOPEN_SOURCE=700 -Werror=missing-prototypes -Wmissing-prototypes -fsyntax-only -I"$scratch" -I"$builddir" \
        -I"$srcdir" "$scratch/pass.c" >"$scratch/said" 2>&1 && grep -q pl_pass_drop_yields "$scratch/pass.c" && grep -q drop_yields "$scratch/line"
    verdict $? "$name"
fi

block ptx | sed 's/^ *avg\.\([us]32\) \(%r.\), \(%r.\), \(%r.\);$/{ .reg .b32 %o, %x; or.b32 %o, \3, \4; xor.b32 %x, \3, \4; shr.\1 %x, %x, 1; sub.\1 \2, %o, %x; }/' \
    >"$scratch/avg.ptx"
[ "$(grep -c '^{ .reg' "$scratch/avg.ptx")" -eq 2 ] && "$builddir/tests/ptxcheck" "$scratch/avg.ptx" >"$scratch/said" 2>&1
verdict $? "the page's test holds for an average made of other instructions"

echo "1..$tests"
[ "$failed" -eq 0 ]
