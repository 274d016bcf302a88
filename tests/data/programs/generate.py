#!/usr/bin/env python3
"""generate.py SEED COUNT [joined|partial|shaped] - writes a module of COUNT random kernels k0, k1, ... to compare with hardware (record.c, tests/random_programs.c).

A kernel runs with 2 blocks of 64 threads and the parameters (u64 in, u64 out). Each thread reads its registers from its 256 bytes
of `in`, does random things with them (arithmetic of all types, divergent branches, loops and switches, calls, recursion, memory of
its own in every space, atomics, warp-wide and block-wide exchange where all threads meet) and writes all of them back to its 512
bytes of `out`; 32 bytes behind those of all threads are sums that every thread adds to.

Programs of the profile `partial` have registers without a value at the start (class Partial): conditional definitions, early exits and
loops, where no result depends on an undefined value. Those of the profile `shaped` have the shapes that passes of the assembler look for
(class Shaped).

A line of TEMPLATES is an instruction; {name} draws an operand or a word, see WORDS and Kernel.draw. What may differ between two
correct assemblers or machines is left out: uninitialised registers, races, addresses, and guards on two instructions whose guards ptxas 13.0 forgets."""
import random
import re
import sys

SIZES = {"r": 12, "d": 6, "f": 8, "g": 4, "h": 6, "p": 5}  # registers of each class: b32, b64, f32, f64, b16, predicates
NAMES = {"r": "%r", "d": "%rd", "f": "%f", "g": "%fd", "h": "%h", "p": "%p"}

WORDS = {
    "t": "u32 s32", "T": "u64 s64", "t16": "u16 s16", "x2": "f16x2 bf16x2", "fp8": "e4m3x2 e5m2x2",
    "eq": "eq ne lt le gt ge", "lo": "eq ne lo ls hi hs",
    "feq": "eq ne lt le gt ge equ neu ltu leu gtu geu num nan",
    "bit": "and or xor", "rnd": "rn rz rm rp", "rni": "rni rzi rmi rpi", "half": "lo hi", "min": "min max", "add": "add sub mul",
    "ftz": "- .ftz", "sat": "- - .sat", "relu": "- .relu", "NaN": "- .NaN", "xor": "- .xorsign.abs", "wrap": "clamp wrap",
    "prmt": "- .f4e .b4e .rc8 .ecl .ecr .rc16", "testp": "finite infinite number notanumber normal subnormal",
    "approx": "rcp sqrt rsqrt sin cos lg2 ex2", "not": "- !", "offset": "0 3 17", "n": "1 -1 2 0", "divisor": "7 10 -3 16 641",
    "part": ".b0 .b1 .b3 .h0 .h1", "shr": "- .shr7 .shr15", "small": "u8 s8 u16 s16", "video": "vadd vsub vabsdiff vmin vmax",
    "video2": "vadd2 vsub2 vmax2 vabsdiff2 vavrg2", "video4": "vadd4 vsub4 vmin4 vabsdiff4 vavrg4", "second": "add min max",
    "dir": "up down bfly idx", "clamp": "31 0 0x1c1f 0x181f 0x0c03", "vote": "all any uni", "atom": "add min max",
    "swap": "and or xor exch", "inc": "inc dec",
    "few": "1 2 3 4 5", "s5": "0 1 2 7 8 16 24 30 31 32 40", "s6": "0 1 4 16 31 32 33 40 63 64 70", "power": "1 -1 2 4 -8 64", "pm": "add sub",
    "mask": "0xff 0xffff 1 7 31 0x80000000 0xff00 0xf0f0f0f0 0x7fffffff", "by16": "1 2 3 7 10 255 0x8000 0xffff", "byteat": "0 8 16 24", "bool": "0 0 1 2",
    "by": "1 -1 2 -2 3 7 10 -10 16 -16 100 641 1000 65536 0x7fffffff 0x80000000 0x55555555", "lr": "l r", "small16": "u8 s8 u16 s16", "small8": "u8 s8",
    "sel": "0x3210 0x0123 0x4440 0x7654 0x5410 0x7632 0x8888 0xba98 0x6543", "flat": "0f3F800000 0f00000000 0f80000000 0fBF800000 0f40000000 0f3F000000",
}

TEMPLATES = """
add.{t} {r}, {r}, {R}
sub.{t} {r}, {R}, {r}
add.sat.s32 {r}, {r}, {R}
mul.lo.{t} {r}, {r}, {R}
mul.hi.{t} {r}, {r}, {R}
mul.wide.{t} {d}, {r}, {R}
mul.wide.{t16} {r}, {h}, {h}
mad.lo.{t} {r}, {r}, {R}, {r}
mad.hi.{t} {r}, {r}, {r}, {R}
mad.hi.sat.s32 {r}, {r}, {r}, {r}
mad.wide.{t} {d}, {r}, {R}, {d}
mul24.{half}.{t} {r}, {r}, {r}
mad24.{half}.{t} {r}, {r}, {r}, {r}
sad.{t} {r}, {r}, {R}, {r}
div.{t} {r}, {r}, {R}
rem.{t} {r}, {r}, {r}
rem.{t} {r}, {r}, {divisor}
div.{T} {d}, {d}, {d}
rem.{T} {d}, {d}, {D}
abs.s32 {r}, {r}
neg.s32 {r}, {r}
min.{t} {r}, {r}, {R}
max.{t} {r}, {R}, {r}
min.s32.relu {r}, {r}, {r}
{min}.{t16}x2 {r}, {r}, {r}
add.{t16}x2 {r}, {r}, {r}
popc.b32 {r}, {r}
clz.b32 {r}, {r}
brev.b32 {r}, {r}
popc.b64 {r}, {d}
clz.b64 {r}, {d}
brev.b64 {d}, {d}
bfind.{t} {r}, {r}
bfind.shiftamt.{T} {r}, {d}
fns.b32 {r}, {r}, {offset}, {n}
bfe.{t} {r}, {r}, {S}, {S}
bfe.{T} {d}, {d}, {S}, {S}
bfi.b32 {r}, {r}, {r}, {S}, {S}
bfi.b64 {d}, {d}, {d}, {S}, {S}
szext.{wrap}.{t} {r}, {r}, {S}
bmsk.{wrap}.b32 {r}, {S}, {S}
dp4a.{t}.{t} {r}, {r}, {r}, {r}
dp2a.{half}.{t}.{t} {r}, {r}, {r}, {r}
{bit}.b32 {r}, {r}, {R}
not.b32 {r}, {r}
cnot.b32 {r}, {r}
{bit}.b64 {d}, {d}, {D}
not.b64 {d}, {d}
{bit}.b16 {h}, {h}, {h}
lop3.b32 {r}, {r}, {r}, {R}, {byte}
lop3.or.b32 {r}|{p}, {r}, {r}, {r}, {byte}, {p}
lop3.and.b32 {r}|{p}, {r}, {r}, {r}, {byte}, {p}
shl.b32 {r}, {r}, {S}
shr.{t} {r}, {r}, {S}
shl.b64 {d}, {d}, {S}
shr.{T} {d}, {d}, {S}
shl.b16 {h}, {h}, {S}
shr.{t16} {h}, {h}, {S}
shf.l.{wrap}.b32 {r}, {r}, {r}, {S}
shf.r.{wrap}.b32 {r}, {r}, {r}, {S}
prmt.b32{prmt} {r}, {r}, {r}, {R}
add.{T} {d}, {d}, {D}
sub.{T} {d}, {d}, {D}
mul.lo.{T} {d}, {d}, {D}
mul.hi.{T} {d}, {d}, {d}
mad.lo.{T} {d}, {d}, {d}, {d}
{min}.{T} {d}, {d}, {d}
abs.s64 {d}, {d}
neg.s64 {d}, {d}
add.{t16} {h}, {h}, {h}
mul.{half}.{t16} {h}, {h}, {h}
mad.lo.u16 {h}, {h}, {h}, {h}
{min}.{t16} {h}, {h}, {h}
div.{t16} {h}, {h}, {h}
rem.{t16} {h}, {h}, {h}
mov.b32 {r}, {f}
mov.b32 {f}, {r}
mov.b64 {d}, {g}
mov.b64 {g}, {d}
mov.b32 {r}, {{{h}, {h}}}
mov.b64 {d}, {{{r}, {r}}}
mov.b64 {{{r}, {r}}}, {d}
mov.b32 {{{h}, {h}}}, {r}
mov.u32 {r}, {I}
mov.f32 {f}, {F}
selp.b32 {r}, {r}, {R}, {p}
selp.f32 {f}, {f}, {f}, {p}
selp.b64 {d}, {d}, {d}, {p}
selp.b16 {h}, {h}, {h}, {p}
slct.{t}.s32 {r}, {r}, {r}, {r}
slct{ftz}.f32.f32 {f}, {f}, {f}, {f}
setp.{eq}.s32 {p}, {r}, {R}
setp.{lo}.u32 {p}, {r}, {R}
setp.{eq}.{T} {p}, {d}, {D}
setp.{eq}.{bit}.{t} {p}|{p}, {r}, {R}, {not}{p}
setp.{feq}{ftz}.f32 {p}, {f}, {F}
setp.{feq}.{bit}.f32 {p}, {f}, {f}, {p}
setp.{feq}.f64 {p}, {g}, {G}
setp.{eq}.{t16} {p}, {h}, {h}
setp.{feq}.f16 {p}, {h}, {h}
setp.{feq}.bf16 {p}, {h}, {h}
setp.{feq}.f16x2 {p}|{p}, {r}, {r}
set.{eq}.u32.{t} {r}, {r}, {R}
set.{feq}.u32.f32 {r}, {f}, {f}
set.{feq}.f32.f32 {f}, {f}, {f}
set.{feq}.f16x2.f16x2 {r}, {r}, {r}
{bit}.pred {p}, {p}, {p}
not.pred {p}, {p}
add.{rnd}{ftz}{sat}.f32 {f}, {f}, {F}
sub.{rnd}{ftz}.f32 {f}, {f}, {F}
mul.{rnd}{ftz}{sat}.f32 {f}, {f}, {F}
fma.{rnd}{ftz}{sat}.f32 {f}, {f}, {F}, {f}
fma.rn.f32 {f}, {f}, {f}, {F}
div.{rnd}{ftz}.f32 {f}, {f}, {F}
div.approx{ftz}.f32 {f}, {f}, {f}
div.full{ftz}.f32 {f}, {f}, {f}
rcp.{rnd}{ftz}.f32 {f}, {f}
sqrt.{rnd}{ftz}.f32 {f}, {f}
{approx}.approx{ftz}.f32 {f}, {f}
tanh.approx.f32 {f}, {f}
{min}{ftz}{NaN}{xor}.f32 {f}, {f}, {f}
{min}.f64 {g}, {g}, {g}
abs{ftz}.f32 {f}, {f}
neg{ftz}.f32 {f}, {f}
copysign.f32 {f}, {f}, {f}
testp.{testp}.f32 {p}, {f}
add.{rnd}.f64 {g}, {g}, {G}
mul.{rnd}.f64 {g}, {g}, {G}
fma.{rnd}.f64 {g}, {g}, {G}, {g}
div.{rnd}.f64 {g}, {g}, {g}
rcp.{rnd}.f64 {g}, {g}
sqrt.{rnd}.f64 {g}, {g}
rsqrt.approx.ftz.f64 {g}, {g}
rcp.approx.ftz.f64 {g}, {g}
neg.f64 {g}, {g}
abs.f64 {g}, {g}
copysign.f64 {g}, {g}, {g}
{add}{ftz}{sat}.f16x2 {r}, {r}, {r}
fma.rn{ftz}{relu}.f16x2 {r}, {r}, {r}, {r}
fma.rn{relu}.bf16x2 {r}, {r}, {r}, {r}
{add}.bf16x2 {r}, {r}, {r}
{add}{ftz}.f16 {h}, {h}, {h}
fma.rn.f16 {h}, {h}, {h}, {h}
fma.rn.bf16 {h}, {h}, {h}, {h}
{min}{NaN}.{x2} {r}, {r}, {r}
abs.{x2} {r}, {r}
neg.{x2} {r}, {r}
ex2.approx.f16x2 {r}, {r}
ex2.approx.ftz.bf16x2 {r}, {r}
tanh.approx.{x2} {r}, {r}
cvt.{rni}{ftz}.{t}.f32 {r}, {f}
cvt.{rni}.{T}.f32 {d}, {f}
cvt.{rni}.{t}.f64 {r}, {g}
cvt.{rni}.{T}.f64 {d}, {g}
cvt.{rnd}.f32.{t} {f}, {r}
cvt.{rnd}.f32.{T} {f}, {d}
cvt.{rnd}.f64.{T} {g}, {d}
cvt.rn.f64.{t} {g}, {r}
cvt{ftz}.f64.f32 {g}, {f}
cvt.{rnd}{ftz}{sat}.f32.f64 {f}, {g}
cvt.{rni}{ftz}{sat}.f32.f32 {f}, {f}
cvt.{rni}.f64.f64 {g}, {g}
cvt.f32.f16 {f}, {h}
cvt.f32.bf16 {f}, {h}
cvt.rn{relu}.bf16.f32 {h}, {f}
cvt.rz{relu}.f16.f32 {h}, {f}
cvt.rn{relu}.{x2}.f32 {r}, {f}, {f}
cvt.rz{relu}.{x2}.f32 {r}, {f}, {f}
cvt.rna.tf32.f32 {r}, {f}
cvt.rn.satfinite{relu}.{fp8}.f32 {h}, {f}, {f}
cvt.rn.f16x2.{fp8} {r}, {h}
cvt.rn.satfinite.e4m3x2.f16x2 {h}, {r}
cvt{sat}.{small}.{t} {r}, {r}
cvt.{T}.{t} {d}, {r}
cvt{sat}.{t}.{T} {r}, {d}
cvt.{t16}.u32 {h}, {r}
cvt.{t}.{small} {r}, {h}
cvt.pack.sat.{t16}.s32 {r}, {r}, {r}
cvt.pack.sat.u8.s32.b32 {r}, {r}, {r}, {r}
{video}.{t}.{t}.{t}{sat} {r}, {r}{part}, {r}{part}
vadd.s32.s32.s32.{second} {r}, {r}.b1, {r}.h0, {r}
vshl.u32.u32.u32.{wrap} {r}, {r}, {r}
vmad.s32.s32.u32{shr} {r}, {r}.b0, {r}.h1, {r}
vset.s32.s32.{eq} {r}, {r}, {r}
{video2}.s32.s32.s32 {r}, {r}, {r}, {r}
{video4}.u32.u32.u32 {r}, {r}, {r}, {r}
""".strip().split("\n")

# Products and sums that an assembler may join (no rounding is written), for modules of the profile `joined`.
JOINED = """
mul{ftz}.f32 {f}, {f}, {F}
mul{ftz}.f32 {f}, {f}, {f}
mul{ftz}.f32 {f}, {f}, {f}
add{ftz}.f32 {f}, {f}, {f}
add{ftz}.f32 {f}, {f}, {F}
sub{ftz}.f32 {f}, {f}, {f}
sub{ftz}.f32 {f}, {F}, {f}
mul{ftz}{sat}.f32 {f}, {f}, {f}
add{ftz}{sat}.f32 {f}, {f}, {f}
mul.rn{ftz}.f32 {f}, {f}, {f}
add.rn{ftz}.f32 {f}, {f}, {f}
fma.rn{ftz}.f32 {f}, {f}, {f}, {f}
neg{ftz}.f32 {f}, {f}
abs{ftz}.f32 {f}, {f}
mul.f64 {g}, {g}, {G}
mul.f64 {g}, {g}, {g}
add.f64 {g}, {g}, {g}
sub.f64 {g}, {g}, {g}
add.f64 {g}, {G}, {g}
mul.rn.f64 {g}, {g}, {g}
neg.f64 {g}, {g}
abs.f64 {g}, {g}
mul{ftz}.f16x2 {r}, {r}, {r}
add{ftz}.f16x2 {r}, {r}, {r}
sub{ftz}.f16x2 {r}, {r}, {r}
mul{ftz}{sat}.f16x2 {r}, {r}, {r}
add{ftz}{sat}.f16x2 {r}, {r}, {r}
mul.rn.f16x2 {r}, {r}, {r}
mul{ftz}.f16 {h}, {h}, {h}
add{ftz}.f16 {h}, {h}, {h}
sub{ftz}.f16 {h}, {h}, {h}
mul.bf16x2 {r}, {r}, {r}
add.bf16x2 {r}, {r}, {r}
sub.bf16x2 {r}, {r}, {r}
mul.bf16 {h}, {h}, {h}
add.bf16 {h}, {h}, {h}
mov.f32 {f}, {f}
mov.f64 {g}, {g}
selp.f32 {f}, {f}, {f}, {p}
setp.{feq}.f32 {p}, {f}, {f}
""".strip().split("\n")

# Memory of the thread: 64 bytes of shared at %rs, 128 of local at %rl, 256 of global at %rdg; tables and sums of all.
MEMORY = """
st.shared.b32 [%rs+{word}], {r}
ld.shared.u32 {r}, [%rs+{word}]
and.b32 %ra, {r}, 60; add.u32 %ra, %ra, %rs; ld.shared.u32 {r}, [%ra]
and.b32 %ra, {r}, 60; add.u32 %ra, %ra, %rs; st.shared.u32 [%ra], {r}
and.b32 %ra, {r}, 60; add.u32 %ra, %ra, %rs; ld.shared.{small} {r}, [%ra+2]
and.b32 %ra, {r}, 60; add.u32 %ra, %ra, %rs; st.shared.u8 [%ra+3], {r}
ld.shared.v4.u32 {{{r}, {r}, {r}, {r}}}, [%rs+{quad}]
st.shared.v2.f32 [%rs+{pair}], {{{f}, {f}}}
ld.shared.f64 {g}, [%rs+{pair}]
and.b32 %ra, {r}, 124; add.u32 %ra, %ra, %rl; ld.local.u32 {r}, [%ra]
and.b32 %ra, {r}, 124; add.u32 %ra, %ra, %rl; st.local.u32 [%ra], {r}
and.b32 %ra, {r}, 124; add.u32 %ra, %ra, %rl; ld.local.s16 {r}, [%ra+2]
st.local.v2.u32 [%rl+{pair}], {{{r}, {r}}}
ld.local.u64 {d}, [%rl+{pair}]
and.b32 %ra, {r}, 252; cvt.u64.u32 %rda, %ra; add.u64 %rda, %rda, %rdg; ld.global.u32 {r}, [%rda]
and.b32 %ra, {r}, 252; cvt.u64.u32 %rda, %ra; add.u64 %rda, %rda, %rdg; st.global.u32 [%rda], {r}
and.b32 %ra, {r}, 252; cvt.u64.u32 %rda, %ra; add.u64 %rda, %rda, %rdg; ld.u16 {r}, [%rda+2]
and.b32 %ra, {r}, 252; cvt.u64.u32 %rda, %ra; add.u64 %rda, %rda, %rdg; st.u8 [%rda+3], {r}
and.b32 %ra, {r}, 252; cvt.u64.u32 %rda, %ra; mov.u64 %rk, table; add.u64 %rda, %rda, %rk; ld.const.{small} {r}, [%rda]
and.b32 %ra, {r}, 252; mov.u32 %rb, table; add.u32 %ra, %ra, %rb; ld.const.u32 {r}, [%ra]
ld.const.f64 {g}, [table+{pair}]
ld.global.v2.u64 {{{d}, {d}}}, [%rdg+{quad}]
st.global.v4.f32 [%rdg+{quad}], {{{f}, {f}, {f}, {f}}}
red.global.add.u32 [%rdt+{sum}], {r}
atom.{own}.{atom}.{t} {r}, [{at}], {r}
atom.{own}.{swap}.b32 {r}, [{at}], {r}
atom.{own}.cas.b32 {r}, [{at}], {r}, {r}
atom.{own}.{inc}.u32 {r}, [{at}], {r}
atom.{own}.{atom}.u64 {d}, [{at}], {d}
atom.{own}.cas.b64 {d}, [{at}], {d}, {d}
atom.{own}.add.f32 {f}, [{at}], {f}
atom.{own}.add.f64 {g}, [{at}], {g}
atom.{own}.add.noftz.f16x2 {r}, [{at}], {r}
""".strip().split("\n")

CARRY = """
add.cc.u32 {r}, {r}, {R}; addc.cc.u32 {r}, {r}, {R}; addc.u32 {r}, {r}, {r}
sub.cc.u32 {r}, {r}, {R}; subc.cc.u32 {r}, {r}, {r}; subc.s32 {r}, {r}, {r}
add.cc.u32 {r}, {r}, {R}; addc.s32 {r}, {r}, {R}
mad.lo.cc.u32 {r}, {r}, {r}, {r}; madc.hi.cc.u32 {r}, {r}, {r}, {r}; madc.hi.{t} {r}, {r}, {r}, {r}
""".strip().split("\n")

# Where all threads of the block are together.
TOGETHER = """
shfl.sync.{dir}.b32 {r}|{p}, {r}, {lane}, {clamp}, -1
shfl.sync.idx.b32 {r}, {r}, {r}, 31, -1
vote.sync.{vote}.pred {p}, {p}, -1
vote.sync.ballot.b32 {r}, {p}, -1
redux.sync.{atom}.{t} {r}, {r}, -1
redux.sync.{bit}.b32 {r}, {r}, -1
match.any.sync.b32 {r}, {r}, -1
match.any.sync.b64 {r}, {d}, -1
match.all.sync.b32 {r}|{p}, {r}, -1
barrier.cta.red.and.pred {p}, 0, {p}
barrier.cta.red.popc.u32 {r}, 0, {p}
bar.sync 0; st.shared.u32 [%rx], {r}; bar.sync 0; and.b32 %ra, {r}, 63; shl.b32 %ra, %ra, 2; add.u32 %ra, %ra, %rx0; ld.shared.u32 {r}, [%ra]; bar.sync 0
""".strip().split("\n")

CALLS = """
{{ .param .b32 a; .param .b32 b; .param .b32 o; st.param.b32 [a], {r}; st.param.b32 [b], {r}; call (o), fmix, (a, b); ld.param.b32 {r}, [o]; }}
{{ .param .b32 a; .param .b32 o; and.b32 %ra, {r}, 15; st.param.b32 [a], %ra; call (o), frec, (a); ld.param.b32 {r}, [o]; }}
{{ .param .align 8 .b8 a[24]; .param .align 8 .b8 o[16]; st.param.b32 [a], {r}; st.param.f32 [a+4], {f}; st.param.b64 [a+8], {d}; st.param.f64 [a+16], {g}; call (o), fstruct, (a); ld.param.b64 {d}, [o]; ld.param.f32 {f}, [o+8]; ld.param.b32 {r}, [o+12]; }}
{{ .param .b32 a; .param .b32 b; .param .b32 o; and.b32 %ra, {r}, 3; shl.b32 %ra, %ra, 3; cvt.u64.u32 %rda, %ra; mov.u64 %rk, functions; add.u64 %rda, %rda, %rk; ld.global.u64 %rda, [%rda]; st.param.b32 [a], {r}; st.param.b32 [b], {r}; call (o), %rda, (a, b), binary; ld.param.b32 {r}, [o]; }}
""".strip().split("\n")

HEAD = """// tests/data/programs/generate.py %d %s
.version 8.8
.target sm_90a
.address_size 64
.const .align 8 .b32 table[64] = {%s};
.const .align 8 .b32 words[16] = {0, 1, 2, 3, -1, -2, 7, 31, 32, 64, 255, 0x80000000, 0x7fffffff, 0x3c003c00, 0x7fff7e00, 0x10000};
.const .align 8 .f32 floats[16] = {0f00000000, 0f80000000, 0f3F800000, 0fBF800000, 0f7F800000, 0fFF800000, 0f7FC00001, 0f00000001, 0f80000001, 0f007FFFFF, 0f40000000, 0f3F000000, 0f4B800001, 0f4F000000, 0fCF000000, 0f42280000};
.const .align 8 .f64 doubles[8] = {0d0000000000000000, 0d8000000000000000, 0d3FF0000000000000, 0dBFF8000000000000, 0d7FF0000000000000, 0d7FF8000000000001, 0d0000000000000001, 0d41E0000000000000};
.func (.param .b32 o) fmix(.param .b32 a, .param .b32 b) { .reg .b32 x, y; .reg .pred p; ld.param.b32 x, [a]; ld.param.b32 y, [b]; xor.b32 x, x, y; mul.lo.u32 x, x, 0x9e3779b1; shf.l.wrap.b32 x, x, x, 13; setp.lt.s32 p, x, y; @p add.u32 x, x, y; st.param.b32 [o], x; ret; }
.func (.param .b32 o) fsub(.param .b32 a, .param .b32 b) { .reg .b32 x, y; ld.param.b32 x, [a]; ld.param.b32 y, [b]; sub.u32 x, x, y; st.param.b32 [o], x; ret; }
.func (.param .b32 o) fdiv(.param .b32 a, .param .b32 b) { .reg .b32 x, y; ld.param.b32 x, [a]; ld.param.b32 y, [b]; div.s32 x, x, y; st.param.b32 [o], x; ret; }
.func (.param .b32 o) ffloat(.param .b32 a, .param .b32 b) { .reg .f32 x, y; ld.param.f32 x, [a]; ld.param.f32 y, [b]; div.rn.f32 x, x, y; st.param.f32 [o], x; ret; }
.func (.param .b32 o) frec(.param .b32 a) { .reg .b32 x, y; .reg .pred p; ld.param.b32 x, [a]; setp.gt.u32 p, x, 1; @!p bra D; { .param .b32 i; .param .b32 r; sub.u32 y, x, 1; st.param.b32 [i], y; call (r), frec, (i); ld.param.b32 y, [r]; } mad.lo.u32 x, x, 3, y; D: st.param.b32 [o], x; ret; }
.func (.param .align 8 .b8 o[16]) fstruct(.param .align 8 .b8 a[24]) { .reg .b32 x; .reg .f32 f; .reg .b64 l; .reg .f64 d, e; ld.param.b32 x, [a]; ld.param.f32 f, [a+4]; ld.param.b64 l, [a+8]; ld.param.f64 d, [a+16]; cvt.f64.f32 e, f; add.f64 d, d, e; cvt.rn.f32.f64 f, d; cvt.u64.u32 l, x; mul.lo.u64 l, l, 0x100000001b3; st.param.b64 [o], l; st.param.f32 [o+8], f; add.u32 x, x, 1; st.param.b32 [o+12], x; ret; }
.global .u64 functions[4] = {fmix, fsub, fdiv, ffloat};"""

# Lines that the classes of registers share: {i} is the number of the register, {k} where it is in memory.
LOAD = {"r": ("ld.global.u32 %r{i}, [%rdi+{k}];", 0, 4), "d": ("ld.global.u64 %rd{i}, [%rdi+{k}];", 64, 8),
        "f": ("ld.global.f32 %f{i}, [%rdi+{k}];", 128, 4), "g": ("ld.global.f64 %fd{i}, [%rdi+{k}];", 160, 8),
        "h": ("ld.global.u16 %h{i}, [%rdi+{k}];", 192, 2)}
SAVE = {"r": ("st.global.u32 [%rdo+{k}], %r{i};", 0, 4), "d": ("st.global.u64 [%rdo+{k}], %rd{i};", 64, 8),
        "f": ("st.global.f32 [%rdo+{k}], %f{i};", 128, 4), "g": ("st.global.f64 [%rdo+{k}], %fd{i};", 160, 8),
        "h": ("st.global.u16 [%rdo+{k}], %h{i};", 192, 2),
        "p": ("selp.u32 %ra, 1, 0, %p{i}; st.global.u32 [%rdo+{k}], %ra;", 208, 4)}
# Half of the registers get a value from the tables of special ones.
SPECIAL = {"r": "shr.u32 %ra, %r{i}, 27; setp.lt.u32 %q, %ra, 16; and.b32 %ra, %ra, 15; mul.wide.u32 %rda, %ra, 4; mov.u64 %rk, words; add.u64 %rda, %rda, %rk; @%q ld.const.u32 %r{i}, [%rda];",
           "f": "mov.b32 %ra, %f{i}; bfe.u32 %ra, %ra, 1, 5; setp.lt.u32 %q, %ra, 16; and.b32 %ra, %ra, 15; mul.wide.u32 %rda, %ra, 4; mov.u64 %rk, floats; add.u64 %rda, %rda, %rk; @%q ld.const.f32 %f{i}, [%rda];",
           "g": "mov.b64 {{_, %ra}}, %fd{i}; and.b32 %ra, %ra, 15; setp.lt.u32 %q, %ra, 8; and.b32 %ra, %ra, 7; mul.wide.u32 %rda, %ra, 8; mov.u64 %rk, doubles; add.u64 %rda, %rda, %rk; @%q ld.const.f64 %fd{i}, [%rda];",
           "p": "and.b32 %ra, %r{i}, {bit}; setp.ne.u32 %p{i}, %ra, 0;"}


# In the profile `joined` numbers begin around 1, so that a sum that is rounded once more shows.
AROUND_ONE = {"r": "and.b32 %r{i}, %r{i}, 0x87ff87ff; or.b32 %r{i}, %r{i}, 0x38003800;", "h": "and.b16 %h{i}, %h{i}, 0x87ff; or.b16 %h{i}, %h{i}, 0x3800;",
              "f": "mov.b32 %ra, %f{i}; and.b32 %ra, %ra, 0x80ffffff; or.b32 %ra, %ra, 0x3f000000; mov.b32 %f{i}, %ra;",
              "p": SPECIAL["p"],
              "g": "mov.b64 %rda, %fd{i}; and.b64 %rda, %rda, 0x801fffffffffffff; or.b64 %rda, %rda, 0x3fe0000000000000; mov.b64 %fd{i}, %rda;"}


class Kernel:
    def __init__(self, random_, name, joined):
        self.random, self.name, self.joined = random_, name, joined
        self.lines, self.labels, self.depth, self.together = [], 0, 0, True

    def immediate(self):
        kind = self.random.randrange(4)
        if kind == 0:
            return str(self.random.randrange(-20, 40))
        if kind == 1:
            return "0x%x" % self.random.getrandbits(32)
        if kind == 2:
            return str(1 << self.random.randrange(31))
        return self.random.choice("0x80000000 0x7fffffff -1 0xffff 0x1010101 255 -128".split())

    def draw(self, name, used):
        """What {name} of a template becomes. Registers that an instruction writes side by side differ: `used` has those drawn so far."""
        pick = self.random
        if name in SIZES:
            free = [i for i in range(SIZES[name]) if (name, i) not in used] if used is not None else range(SIZES[name])
            i = pick.choice(free)
            if used is not None:
                used.add((name, i))
            return NAMES[name] + str(i)
        if name in WORDS:
            word = pick.choice(WORDS[name].split())
            return "" if word == "-" else word
        if name in "RD":
            return self.draw(name.lower(), None) if pick.random() < .7 else self.immediate()
        if name == "F":
            return self.draw("f", None) if pick.random() < .8 else "0f%08X" % pick.choice([0x3F800000, 0x40490FDB, 0xBF000000, 0x7F800000, 0, 1 << 31, 1, pick.getrandbits(32)])
        if name == "G":
            return self.draw("g", None) if pick.random() < .8 else "0d%016X" % pick.choice([0x3FF << 52, 1 << 63, pick.getrandbits(64)])
        if name == "S":  # a position or a width; constant ones beyond 31 are folded by ptxas -O3 in its own way
            return str(pick.randrange(32)) if pick.random() < .5 else self.draw("r", None)
        if name == "I":
            return self.immediate()
        if name == "own":
            self.space = pick.choice(["shared", "global"])
            return self.space
        if name == "at":
            return "%%rs+%d" % (8 * pick.randrange(8)) if self.space == "shared" else "%%rdg+%d" % (8 * pick.randrange(32))
        return str({"byte": lambda: pick.randrange(256), "lane": lambda: pick.randrange(32), "word": lambda: 4 * pick.randrange(16),
                    "pair": lambda: 8 * pick.randrange(8), "quad": lambda: 16 * pick.randrange(4), "sum": lambda: 4 * pick.randrange(8)}[name]())

    def fill(self, template):
        """The template with its draws; destinations that are written together (in braces, or around a bar) are all different."""
        def group(m):
            used = set()
            return re.sub(r"\{(\w+)\}", lambda n: self.draw(n.group(1), used), m.group(0))
        text = re.sub(r"(?<=\s)\{\{(?:\{[rdfh]\}(?:, )?)+\}\}|\{[rp]\}\|\{p\}", group, template)
        text = re.sub(r"\{(\w+)\}", lambda n: self.draw(n.group(1), None), text)
        return text.replace("{{", "{").replace("}}", "}")

    def put(self, text):
        self.lines.append("    " + text + ("" if text.endswith("}") and text.startswith("{ ") else ";"))

    def simple(self):
        template = self.random.choice(JOINED if self.joined and self.random.random() < .85 else TEMPLATES)
        guard = ""
        if self.random.random() < .12 and not template.startswith("testp") and not (template.startswith("set.") and ".f32.f32" in template):
            guard = "@%s%s " % (self.random.choice(["", "!"]), self.draw("p", None))
        self.put(guard + self.fill(template))

    def label(self, text):
        self.lines.append(text)

    def branching(self, size):
        """An if, a switch or a loop around about `size` instructions."""
        pick, together = self.random, self.together
        self.depth += 1
        self.labels += 1
        n, count = self.labels, "%%c%d" % self.depth
        kind = pick.choice(["if", "else", "uniform loop", "loop", "switch", "continue"])
        if kind != "uniform loop":
            self.together = False
        if kind == "if":
            self.put(self.fill("@{not}{p} bra $E%d" % n))
            self.block(size)
        elif kind == "else":
            self.put(self.fill("setp.{eq}.s32 %%q, {r}, {R}; @%%q bra $T%d" % n))
            self.block(size // 2 + 1)
            self.put("bra $E%d" % n)
            self.label("$T%d:" % n)
            self.block(size // 2 + 1)
        elif kind == "uniform loop":
            self.put("mov.u32 %s, %d" % (count, pick.randrange(1, 6)))
            self.label("$L%d:" % n)
            self.block(size)
            self.put("sub.u32 %s, %s, 1; setp.ne.u32 %%q, %s, 0; @%%q bra%s $L%d" % (count, count, count, pick.choice([".uni", ""]) if together else "", n))
        elif kind == "loop":
            self.put(self.fill("and.b32 %s, {r}, 7" % count))
            self.label("$L%d: setp.eq.u32 %%q, %s, 0; @%%q bra $E%d;" % (n, count, n))
            self.block(size)
            if pick.random() < .5:
                self.put(self.fill("@{p} bra $E%d" % n))
            self.put("sub.u32 %s, %s, 1; bra $L%d" % (count, count, n))
        elif kind == "switch":
            ways = pick.randrange(2, 5)
            self.put(self.fill("and.b32 %%ra, {r}, 15; min.u32 %%ra, %%ra, %d" % ways))
            self.label("    $B%d: .branchtargets %s, $E%d;" % (n, ", ".join("$S%d_%d" % (n, way) for way in range(ways)), n))
            self.put("brx.idx %%ra, $B%d" % n)
            for way in range(ways):
                self.label("$S%d_%d:" % (n, way))
                self.block(size // ways + 1)
                if pick.random() < .7:
                    self.put("bra $E%d" % n)
        else:
            self.put("mov.u32 %s, %d" % (count, pick.randrange(1, 5)))
            self.label("$L%d: sub.u32 %s, %s, 1;" % (n, count, count))
            self.block(size // 2 + 1)
            self.put(self.fill("@{p} bra $C%d" % n))
            self.block(size // 2 + 1)
            self.label("$C%d: setp.ne.u32 %%q, %s, 0; @%%q bra $L%d;" % (n, count, n))
        if kind != "uniform loop":
            self.label("$E%d:" % n)
        self.depth -= 1
        self.together = together

    def block(self, size):
        while size > 0:
            kind = self.random.random()
            if self.joined and kind < .18 and kind > .03:
                kind = 1
            if kind < .10:
                self.put(self.fill(self.random.choice(MEMORY)))
            elif kind < .12:
                self.put(self.fill(self.random.choice(CARRY)))
            elif kind < .16 and self.together:
                self.put(self.fill(self.random.choice(TOGETHER)))
            elif kind < .18:
                self.put(self.fill(self.random.choice(CALLS)))
                size -= 2
            elif kind < .30 and self.depth < 3 and size > 4:
                inside = self.random.randrange(2, min(size, 16))
                self.branching(inside)
                size -= inside + 1
            else:
                self.simple()
            size -= 1

    def declarations(self):
        return []

    def start(self):
        return []

    def body(self, size):
        self.block(size)

    def text(self, size):
        self.body(size)
        out = [".visible .entry %s(.param .u64 in, .param .u64 out) {" % self.name,
               "    .reg .b32 %r<12>, %ra, %rb, %rs, %rl, %rx, %rx0, %td, %c<5>;", "    .reg .b64 %rd<6>, %rda, %rk, %rdg, %rdi, %rdo, %rdt;",
               "    .reg .f32 %f<8>;", "    .reg .f64 %fd<4>;", "    .reg .b16 %h<6>;", "    .reg .pred %p<5>, %q;",
               *self.declarations(), "    .shared .align 16 .b8 own[4096];", "    .shared .align 16 .b8 all[256];", "    .local .align 16 .b8 here[128];",
               "    binary: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);",
               "    mov.u32 %td, %tid.x; mov.u32 %rs, own; mad.lo.u32 %rs, %td, 64, %rs; mov.u32 %rl, here; mov.u32 %rx0, all; mad.lo.u32 %rx, %td, 4, %rx0;",
               "    mov.u32 %ra, %ctaid.x; mad.lo.u32 %td, %ra, 64, %td; ld.param.u64 %rdi, [in]; ld.param.u64 %rdo, [out]; add.u64 %rdt, %rdo, 65536;",
               "    mad.wide.u32 %rdi, %td, 256, %rdi; mad.wide.u32 %rdo, %td, 512, %rdo; add.u64 %rdg, %rdo, 256;"]
        for c, (line, start, step) in LOAD.items():
            out += ["    " + line.format(i=i, k=start + step * i) for i in range(SIZES[c])]
        for c, line in (AROUND_ONE if self.joined else SPECIAL).items():
            out += ["    " + line.format(i=i, bit=1 << i) for i in range(SIZES[c])]
        out += ["    st.shared.u32 [%%rs+%d], %%r%d;" % (4 * i, i % 12) for i in range(16)]
        out += ["    st.local.v2.u64 [%%rl+%d], {%%rd%d, %%rd%d};" % (16 * i, i % 6, (i + 1) % 6) for i in range(8)]
        out += ["    st.global.v2.u64 [%%rdg+%d], {%%rd%d, %%rd%d};" % (16 * i, i % 6, (i + 1) % 6) for i in range(16)]
        out += self.start()
        out += self.lines
        for c, (line, start, step) in SAVE.items():
            out += ["    " + line.format(i=i, k=start + step * i) for i in range(SIZES[c])]
        out += ["    ld.shared.v4.u32 {%r0, %r1, %r2, %r3}, [%rs]; ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%rs+48];",
                "    xor.b32 %r0, %r0, %r4; xor.b32 %r1, %r1, %r5; xor.b32 %r2, %r2, %r6; xor.b32 %r3, %r3, %r7;",
                "    st.global.v2.u32 [%rdo+232], {%r0, %r1}; st.global.v2.u32 [%rdo+240], {%r2, %r3};",
                "    ld.local.u64 %rd0, [%rl+40]; st.global.u64 [%rdo+248], %rd0;", "    ret;", "}"]
        return "\n".join(out)


# A definition of register {x} by its class, and a use of its value.
DEFINE = {"r": ["mov.b32 {x}, {r}", "mov.u32 {x}, {I}", "add.u32 {x}, {r}, {R}", "ld.shared.u32 {x}, [%rs+{word}]", "selp.b32 {x}, {r}, {r}, {p}",
                "mad.lo.u32 {x}, {r}, {r}, {r}", "cvt.rni.s32.f32 {x}, {f}", "ld.global.u32 {x}, [%rdg+{word}]", "min.u32 {x}, {r}, {R}"],
          "d": ["mov.b64 {x}, {d}", "mul.wide.u32 {x}, {r}, {R}", "add.u64 {x}, {d}, {D}", "mov.b64 {x}, {{{r}, {r}}}", "cvt.u64.u32 {x}, {r}",
                "ld.local.u64 {x}, [%rl+{pair}]"],
          "f": ["mov.f32 {x}, {f}", "add.rn.f32 {x}, {f}, {F}", "ld.shared.f32 {x}, [%rs+{word}]", "fma.rn.f32 {x}, {f}, {f}, {f}", "cvt.rn.f32.u32 {x}, {r}",
                "mov.b32 {x}, {r}"],
          "p": ["setp.{eq}.s32 {x}, {r}, {R}", "and.pred {x}, {p}, {p}", "not.pred {x}, {p}", "setp.{lo}.u32 {x}, {r}, {R}"],
          "h": ["mov.b16 {x}, {h}", "add.u16 {x}, {h}, {h}", "cvt.u16.u32 {x}, {r}"]}
USE = {"r": ["xor.b32 {r}, {r}, {x}", "add.u32 {r}, {x}, {R}", "mov.b32 {r}, {x}", "mad.lo.u32 {r}, {x}, {r}, {r}", "setp.{eq}.s32 {p}, {x}, {R}",
             "st.shared.u32 [%rs+{word}], {x}", "mov.b64 {d}, {{{x}, {r}}}", "cvt.rn.f32.s32 {f}, {x}", "st.global.u32 [%rdg+{word}], {x}"],
       "d": ["xor.b64 {d}, {d}, {x}", "mov.b64 {{{r}, {r}}}, {x}", "cvt.u32.u64 {r}, {x}", "st.local.u64 [%rl+{pair}], {x}", "add.u64 {d}, {x}, {D}"],
       "f": ["add.rn.f32 {f}, {f}, {x}", "mov.b32 {r}, {x}", "fma.rn.f32 {f}, {x}, {f}, {f}", "st.shared.f32 [%rs+{word}], {x}"],
       "p": ["selp.b32 {r}, {r}, {r}, {x}", "xor.pred {p}, {p}, {x}", "setp.{eq}.or.s32 {p}, {r}, {R}, {x}"],
       "h": ["add.u16 {h}, {h}, {x}", "cvt.u32.u16 {r}, {x}", "mov.b32 {r}, {{{x}, {h}}}"]}
# Reads of {x} that do not depend on it where {k} is false.
MASKED = {"r": ["selp.b32 {r}, {x}, {r}, {k}", "selp.b32 %ra, -1, 0, {k}; and.b32 %ra, {x}, %ra; add.u32 {r}, {r}, %ra",
                "selp.u32 %ra, 1, 0, {k}; mul.lo.u32 %ra, {x}, %ra; xor.b32 {r}, {r}, %ra"],
          "d": ["selp.b64 {d}, {x}, {d}, {k}"], "f": ["selp.f32 {f}, {x}, {f}, {k}"], "p": ["and.pred {p}, {x}, {k}", "not.pred %w, {k}; or.pred {p}, {x}, %w"],
          "h": ["selp.b16 {h}, {x}, {h}, {k}"]}
# Registers without a value at the start that the whole kernel shares; a flag says whether each is defined.
SHARED_LATE = ["r", "r", "r", "d", "d", "f", "f", "p", "p", "h"]
TYPES = {"r": "b32", "d": "b64", "f": "f32", "p": "pred", "h": "b16"}


class Partial(Kernel):
    """A kernel with registers that have no value at the start. Each read of one is under a condition that says that it is defined, or where every
    path has defined it. Half of the kernels end threads early; these exchange values only through shared memory and barriers."""

    def __init__(self, random_, name):
        super().__init__(random_, name, False)
        self.exits = random_.random() < .5
        self.known = []                                   # registers that are defined here: (class, name)
        self.free, self.made = [], {c: 0 for c in TYPES}  # registers of constructs
        self.late = [(c, "%%u%s%d" % (c, i), random_.random() < .5) for i, c in enumerate(SHARED_LATE)]  # the last: its flag counts

    def declarations(self):
        out = ["    .reg .%s %s;" % (TYPES[c], ", ".join(n for k, n, _ in self.late if k == c)) for c in TYPES]
        out += ["    .reg .%s %%x%s<%d>;" % (TYPES[c], c, n) for c, n in self.made.items() if n]
        return out + ["    .reg .pred %%k<%d>, %%w;" % len(self.late), "    .reg .b32 %%n<%d>;" % len(self.late)]

    def start(self):
        out = ["    mov.u32 %%n%d, 0;" % i if counts else "    setp.ne.u32 %%k%d, %%td, %%td;" % i for i, (_, _, counts) in enumerate(self.late)]
        return out + ["    st.shared.u32 [%rx], %r0; bar.sync 0;"]

    def draw(self, name, used):
        mine = [n for c, n in self.known if c == name and (used is None or n not in used)]
        if mine and self.random.random() < .3:
            n = self.random.choice(mine)
            if used is not None:
                used.add(n)
            return n
        return super().draw(name, used)

    def fresh(self, c):
        free = [n for k, n in self.free if k == c]
        if free and self.random.random() < .4:
            n = self.random.choice(free)
            self.free.remove((c, n))
            return n
        self.made[c] += 1
        return "%%x%s%d" % (c, self.made[c] - 1)

    def some(self):
        """Registers for a construct."""
        return [(c, self.fresh(c)) for c in (self.random.choice("rrrddffph") for _ in range(self.random.choice([1, 1, 2])))]

    def give(self, registers):
        self.free += registers

    def with_x(self, templates, c, x, guard="", k=""):
        for part in self.fill(self.random.choice(templates[c]).replace("{x}", x).replace("{k}", k)).split("; "):
            self.put(guard + part)

    def define(self, registers, guard=""):
        for c, x in registers:
            self.with_x(DEFINE, c, x, guard)

    def use(self, registers, guard=""):
        for c, x in registers:
            for _ in range(self.random.choice([0, 1, 1, 2])):
                self.with_x(USE, c, x, guard)

    def used_if(self, registers, k, size):
        """Uses where predicate k is true: a branch, guards or selections."""
        how = self.random.randrange(3)
        if how == 0:
            self.labels += 1
            n = self.labels
            self.put("@!%s bra $F%d" % (k, n))
            self.with_known(registers, size)
            self.use(registers)
            self.label("$F%d:" % n)
        elif how == 1:
            self.use(registers, "@%s " % k)
        else:
            for c, x in registers:
                self.with_x(MASKED, c, x, k=k)

    def with_known(self, registers, size):
        before, together = list(self.known), self.together
        self.known += registers
        self.together = False
        self.block(size)
        self.known, self.together = before, together

    def plain(self, size, registers=()):
        """Code within a loop or behind a branch of a construct; mostly a straight line."""
        if self.random.random() < .5:
            self.with_known(list(registers), size)
            return
        before = list(self.known)
        self.known += registers
        for _ in range(self.random.randrange(0, 3)):
            self.simple()
        self.known = before

    def set_flag(self, i, guard=""):
        if self.late[i][2]:
            self.put("%sadd.u32 %%n%d, %%n%d, 1" % (guard, i, i))
        else:
            self.put("%ssetp.eq.u32 %%k%d, %%td, %%td" % (guard, i))

    def late_define(self):
        pick = self.random
        i = pick.randrange(len(self.late))
        c, x, counts = self.late[i]
        how = pick.randrange(4)
        if how == 0:
            self.define([(c, x)])
            self.set_flag(i)
        elif how == 1:
            q = self.fill("@{not}{p} ")
            at = len(self.lines)
            self.define([(c, x)], q)
            # what it writes may be the guard
            if any(re.match(r"\s*@\S+ \S+ %s\b" % re.escape(q.strip(" @!")), line) for line in self.lines[at:]):
                del self.lines[at:]
                return
            self.set_flag(i, q)
        elif how == 2:
            self.labels += 1
            n = self.labels
            self.put(self.fill("setp.{eq}.s32 %%q, {r}, {R}; @%%q bra $F%d" % n))
            self.plain(2)
            self.define([(c, x)])
            self.set_flag(i)
            self.label("$F%d:" % n)
        else:
            self.put(self.flag(i))
            k = "%q" if counts else "%%k%d" % i
            self.with_x(USE, c, x, "@%s " % k)

    def flag(self, i):
        return "setp.ne.u32 %%q, %%n%d, 0" % i if self.late[i][2] else "mov.pred %%q, %%k%d" % i

    def late_use(self, i=None):
        i = self.random.randrange(len(self.late)) if i is None else i
        c, x, counts = self.late[i]
        if counts:
            self.put(self.flag(i))
        self.used_if([(c, x)], "%q" if counts else "%%k%d" % i, 3)

    def leave(self):
        """Some threads store a register and end."""
        self.labels += 1
        n = self.labels
        end = self.random.choice(["exit", "ret"])
        self.put(self.fill(self.random.choice(["and.b32 %ra, {r}, 15; setp.ne.u32 %q, %ra, {offset}", "and.b32 %ra, %td, 31; setp.ne.u32 %q, %ra, {lane}",
                                               "setp.ne.u32 %q, %td, {lane}", "setp.{feq}.or.f32 %q, {f}, {F}, {p}"])))
        if self.random.random() < .3:
            self.put("@!%%q %s" % end)
            return
        self.put("@%%q bra $F%d" % n)
        self.put(self.fill("st.global.u32 [%%rdo+%d], {r}" % (4 * self.random.randrange(12))))
        self.put(end)
        self.label("$F%d:" % n)

    def counted(self, body, up=False):
        """A loop that is done once at least; body(counter) is in it."""
        self.depth += 1
        self.labels += 1
        n, count, pick = self.labels, "%%c%d" % self.depth, self.random
        limit = None
        if up:
            limit = str(pick.randrange(1, 9))
            self.put("mov.u32 %s, 0" % count)
        elif pick.random() < .5:
            self.put("mov.u32 %s, %d" % (count, pick.randrange(1, 9)))
        else:
            self.put(self.fill("and.b32 %s, {r}, 3; add.u32 %s, %s, 1" % (count, count, count)))
        self.label("$L%d:" % n)
        body(count, n)
        if up:
            self.put("add.u32 %s, %s, 1; setp.lt.u32 %%q, %s, %s; @%%q bra $L%d" % (count, count, count, limit, n))
        else:
            self.put("sub.u32 %s, %s, 1; setp.ne.u32 %%q, %s, 0; @%%q bra $L%d" % (count, count, count, n))
        self.label("$E%d:" % n)
        self.depth -= 1

    def least(self, size, registers):
        """What belongs to the least of several numbers."""
        m, c, q = self.fresh("r"), self.fresh("r"), self.fresh("p")
        inner = self.depth < 2 and self.random.random() < .3

        def body(_, n):
            if inner and not body.inside:
                body.inside = True
                self.counted(body)
                return
            self.plain(size // 3)
            self.put(self.fill("and.b32 %s, {r}, 0x7fffffff" % c))
            if self.random.random() < .5:
                self.labels += 1
                self.put("setp.ge.u32 %s, %s, %s; @%s bra $F%d" % (q, c, m, q, self.labels))
                label = "$F%d:" % self.labels
                self.define(registers)
                self.put("mov.u32 %s, %s" % (m, c))
                self.plain(size // 3, registers)
                self.label(label)
            else:
                self.put("setp.lt.u32 %s, %s, %s" % (q, c, m))
                self.define(registers, "@%s " % q)
                self.put("@%s mov.u32 %s, %s" % (q, m, c))
            self.plain(size // 3, self.random.choice([registers, []]))
            if self.random.random() < .2:
                self.put(self.fill("@{p} bra $E%d" % n))
        body.inside = False
        self.put("mov.u32 %s, -1" % m)
        self.counted(body)
        self.give([("r", m), ("r", c), ("p", q)])

    def first(self, size, registers):
        """Defined by the first iteration."""
        def body(count, n):
            self.labels += 1
            if self.random.random() < .5:
                label = "$F%d:" % self.labels
                self.put("setp.ne.u32 %%q, %s, 0; @%%q bra $F%d" % (count, self.labels))
                self.plain(size // 3)
                self.define(registers)
                self.label(label)
            else:
                self.put("setp.eq.u32 %%q, %s, 0" % count)
                self.define(registers, "@%q ")
            self.plain(size // 2, registers)
            self.use(registers)
            if self.random.random() < .2:
                self.put(self.fill("@{p} bra $E%d" % n))
        self.counted(body, True)

    def previous(self, size, registers):
        """What the iteration before defined, at its end."""
        def body(count, n):
            self.plain(size // 3)
            self.put("setp.ne.u32 %%q, %s, 0" % count)
            self.used_if(registers, "%q", size // 3)
            self.plain(size // 3)
            self.define(registers)
            if self.random.random() < .2:
                self.put(self.fill("@{p} bra $E%d" % n))
        self.counted(body, True)

    def toggled(self, size, registers):
        """Defined in iterations with an even number, used in the others, or after them."""
        k = self.fresh("p")

        def body(count, _):
            self.plain(size // 3)
            self.put("and.b32 %%ra, %s, 1; setp.eq.u32 %s, %%ra, 0" % (count, k))
            self.labels += 1
            label = "$F%d" % self.labels
            self.put("@%s bra %s_" % (k, label))
            self.plain(size // 3, registers)
            self.use(registers)
            self.put("bra %s" % label)
            self.label(label + "_:")
            self.define(registers)
            self.label(label + ":")
        self.counted(body, True)
        self.give([("p", k)])

    def found(self, size, registers):
        """A search: the loop ends where something is found. Not known to be defined behind it."""
        k, q = self.fresh("p"), self.fresh("p")

        def body(_, n):
            self.plain(size // 3)
            self.put(self.fill("setp.{eq}.s32 %s, {r}, {R}" % q))
            self.labels += 1
            self.put("@%s bra $F%d" % (q, self.labels))
            label = "$F%d:" % self.labels
            self.plain(size // 3)
            self.define(registers)
            self.put("setp.eq.u32 %s, %%td, %%td" % k)
            self.put("bra $E%d" % n)
            self.label(label)
            self.plain(size // 3)
        self.put("setp.ne.u32 %s, %%td, %%td" % k)
        self.counted(body)
        for _ in range(self.random.randrange(1, 3)):
            self.used_if(registers, k, size // 3)
        self.give([("p", k), ("p", q)])

    def sticky(self, size, registers):
        """Defined under a condition within a loop, and used once it has been."""
        k, q = self.fresh("p"), self.fresh("p")
        straight = self.random.random() < .5

        def middle():
            if straight:
                for _ in range(self.random.randrange(0, 3)):
                    self.simple()
            else:
                self.plain(size // 3)

        def body(_, n):
            middle()
            before = self.random.random() < .5
            if before:
                self.used_if(registers, k, size // 3)
            self.put(self.fill("setp.{eq}.s32 %s, {r}, {R}" % q))
            if straight:
                self.define(registers, "@%s " % q)
                self.put("or.pred %s, %s, %s" % (k, k, q))
            else:
                self.labels += 1
                label = "$F%d:" % self.labels
                self.put("@!%s bra $F%d" % (q, self.labels))
                self.define(registers)
                self.put("setp.eq.u32 %s, %%td, %%td" % k)
                self.label(label)
            middle()
            if not before or self.random.random() < .5:
                self.used_if(registers, k, size // 3)
        self.put("setp.ne.u32 %s, %%td, %%td" % k)
        self.counted(body)
        self.used_if(registers, k, size // 3)
        self.give([("p", k), ("p", q)])

    def no_trip(self, size, registers):
        """Defined in a loop that may have no iterations."""
        k = self.fresh("p")
        self.depth += 1
        self.labels += 1
        n, count = self.labels, "%%c%d" % self.depth
        self.put(self.fill("and.b32 %s, {r}, 3; setp.ne.u32 %s, %s, 0" % (count, k, count)))
        self.label("$L%d: setp.eq.u32 %%q, %s, 0; @%%q bra $E%d;" % (n, count, n))
        self.plain(size // 2)
        self.define(registers)
        self.plain(size // 2, registers)
        self.put("sub.u32 %s, %s, 1; bra $L%d" % (count, count, n))
        self.label("$E%d:" % n)
        self.depth -= 1
        self.used_if(registers, k, size // 3)
        self.give([("p", k)])

    def same(self, size, registers):
        """Defined and used under the same condition."""
        k = self.fresh("p")
        self.put(self.fill("setp.{eq}.s32 %s, {r}, {R}" % k))
        self.used_if([], k, size // 3)
        self.define(registers, "@%s " % k)
        self.plain(size // 3)
        self.used_if(registers, k, size // 3)
        self.give([("p", k)])

    def arms(self, size, registers):
        """Defined by both arms of a branch, or by the one that does not end the thread."""
        self.labels += 1
        n = self.labels
        ends = self.exits and self.random.random() < .4
        if ends:
            self.put(self.fill("and.b32 %%ra, {r}, 7; setp.eq.u32 %%q, %%ra, {offset}; @%%q bra $T%d" % n))
        else:
            self.put(self.fill("setp.{eq}.s32 %%q, {r}, {R}; @%%q bra $T%d" % n))
        self.plain(size // 3)
        self.define(registers)
        self.put("bra $E%d" % n)
        self.label("$T%d:" % n)
        self.plain(size // 3)
        if ends:
            self.put(self.fill("st.global.u32 [%%rdo+%d], {r}" % (4 * self.random.randrange(12))))
            self.put(self.random.choice(["exit", "ret"]))
        else:
            self.define(registers)
        self.label("$E%d:" % n)

    ALWAYS = ["least", "least", "first", "arms"]  # behind these the registers are defined
    MAYBE = ["previous", "toggled", "found", "sticky", "sticky", "no_trip", "same"]

    def construct(self, size):
        name = self.random.choice(self.ALWAYS + self.MAYBE)
        registers, together = self.some(), self.together
        self.together = False
        getattr(self, name)(size, registers)
        if name in self.ALWAYS:
            self.use(registers)
            if self.random.random() < .5:
                self.plain(4, registers)
        self.together = together
        self.give(registers)

    def block(self, size):
        pick = self.random
        while size > 0:
            kind = pick.random()
            if kind < .20 and self.depth < 3 and size > 3:
                inside = pick.randrange(3, min(size, 16) + 1)
                self.construct(inside)
                size -= inside
            elif kind < .32:
                self.late_define()
            elif kind < .44:
                self.late_use()
            elif kind < .47 and self.exits:
                self.leave()
            elif kind < .52 and self.together:
                self.put(self.fill(TOGETHER[-1] if self.exits else pick.choice(TOGETHER)))
            elif kind < .58:
                self.put(self.fill(pick.choice(MEMORY)))
            elif kind < .59:
                self.put(self.fill(pick.choice(CALLS)))
            elif kind < .68 and self.depth < 3 and size > 4:
                inside = pick.randrange(2, min(size, 12))
                self.branching(inside)
                size -= inside + 1
            else:
                self.simple()
            size -= 1

    def body(self, size):
        self.block(size)
        for i in range(len(self.late)):
            self.late_use(i)


# Chains that instruction selection, constant folding and the lowering of narrow and wide types recognise. {$c1} names a register of its own
# (class c, number 1) within the line, where values are handed on that nothing else reads.
CHAINS = """
shl.b32 {$r1}, {r}, {few}; add.u32 {r}, {$r1}, {R}
shl.b32 {$r1}, {r}, {few}; sub.u32 {r}, {R}, {$r1}
shl.b32 {$r1}, {r}, {s5}; shr.u32 {$r2}, {r}, {s5}; or.b32 {r}, {$r1}, {$r2}
shl.b32 {$r1}, {r}, 24; shr.s32 {r}, {$r1}, 24
shr.{t} {$r1}, {r}, {s5}; and.b32 {r}, {$r1}, {mask}
and.b32 {$r1}, {r}, {mask}; shl.b32 {$r2}, {$r1}, {s5}; or.b32 {r}, {$r2}, {r}
add.u32 {$r1}, {r}, {R}; add.u32 {$r2}, {$r1}, {r}; sub.u32 {r}, {$r2}, {R}
mul.lo.u32 {$r1}, {r}, {R}; add.u32 {r}, {$r1}, {R}; sub.u32 {r}, {r}, {$r1}
mul.lo.s32 {$r1}, {r}, {power}; sub.s32 {r}, {R}, {$r1}
neg.s32 {$r1}, {r}; add.s32 {r}, {$r1}, {R}; mul.lo.s32 {r}, {$r1}, {r}
{bit}.b32 {$r1}, {r}, {R}; {bit}.b32 {$r2}, {$r1}, {r}; {bit}.b32 {r}, {$r2}, {R}
not.b32 {$r1}, {r}; {bit}.b32 {$r2}, {$r1}, {r}; {bit}.b32 {r}, {$r2}, {$r1}
xor.b32 {$r1}, {r}, -1; and.b32 {r}, {$r1}, {r}; or.b32 {r}, {r}, {$r1}
div.{t} {r}, {r}, {by}
rem.{t} {r}, {r}, {by}
div.{t} {$r1}, {r}, {by}; mul.lo.{t} {$r2}, {$r1}, {by}; sub.{t} {r}, {r}, {$r2}
div.{t} {$r1}, {r}, {r}; rem.{t} {r}, {r}, {r}; xor.b32 {r}, {r}, {$r1}
mov.u32 {$r1}, {by}; div.{t} {$r2}, {r}, {$r1}; rem.{t} {r}, {$r2}, {$r1}; add.u32 {r}, {r}, {$r2}
div.{T} {d}, {d}, {by}
rem.{T} {d}, {d}, {by}
mov.b16 {$h1}, {by16}; div.{t16} {h}, {h}, {$h1}; rem.{t16} {h}, {h}, {$h1}
shl.b64 {d}, {d}, {s6}
shr.{T} {d}, {d}, {s6}
shl.b64 {$d1}, {d}, {s6}; shr.{T} {d}, {$d1}, {s6}
shl.b64 {$d1}, {d}, {few}; add.s64 {d}, {d}, {$d1}
shr.u64 {$d1}, {d}, 32; cvt.u32.u64 {r}, {$d1}
cvt.u64.u32 {$d1}, {r}; shl.b64 {$d2}, {$d1}, 32; cvt.u64.u32 {$d1}, {r}; or.b64 {d}, {$d1}, {$d2}
cvt.s64.s32 {$d1}, {r}; mul.lo.s64 {$d2}, {$d1}, {by}; add.s64 {d}, {d}, {$d2}
mul.wide.{t} {$d1}, {r}, {R}; add.u64 {d}, {$d1}, {d}
mul.wide.{t} {$d1}, {r}, {r}; shr.{T} {$d2}, {$d1}, {s6}; cvt.u32.u64 {r}, {$d2}
mul.wide.u32 {$d1}, {r}, {r}; sub.u64 {d}, {d}, {$d1}; setp.{lo}.u64 {p}, {d}, {$d1}
and.b64 {$d1}, {d}, {mask}; {bit}.b64 {d}, {$d1}, {D}
and.b64 {$d1}, {d}, 0xffffffff; mul.lo.u64 {d}, {$d1}, {d}
mov.b64 {{{$r1}, {$r2}}}, {d}; shf.{lr}.{wrap}.b32 {r}, {$r1}, {$r2}, {S}; mov.b64 {d}, {{{$r2}, {r}}}
mov.b64 {{_, {$r2}}}, {d}; add.u32 {r}, {r}, {$r2}
bfe.{T} {d}, {d}, {s6}, {s6}
bfi.b64 {d}, {d}, {d}, {s6}, {s6}
bfe.{t} {r}, {r}, {s5}, {s5}
bfi.b32 {r}, {r}, {r}, {s5}, {s5}
bfe.u32 {$r1}, {r}, {byteat}, 8; bfi.b32 {r}, {$r1}, {r}, {byteat}, 8
shr.u32 {$r1}, {r}, {byteat}; cvt.{small}.u32 {$r2}, {$r1}; add.u32 {r}, {r}, {$r2}
cvt.{small}.s32 {$r1}, {r}; cvt.s64.s32 {d}, {$r1}
cvt.u16.u32 {$h1}, {r}; shr.{t16} {$h2}, {$h1}, {few}; cvt.{t}.{t16} {r}, {$h2}
cvt.u16.u32 {$h1}, {r}; {pm}.{t16} {$h2}, {$h1}, {h}; cvt.{t}.{small} {r}, {$h2}
mov.b32 {{{$h1}, {$h2}}}, {r}; mov.b32 {r}, {{{$h2}, {$h1}}}
mov.b32 {{{$h1}, {$h2}}}, {r}; add.f16 {h}, {$h1}, {$h2}
mul.wide.{t16} {$r1}, {h}, {h}; add.u32 {r}, {r}, {$r1}
cvt.{t16}.{small} {$h1}, {r}; mul.lo.u16 {$h2}, {$h1}, {$h1}; mov.b32 {r}, {{{$h2}, {$h1}}}
prmt.b32 {$r1}, {r}, {r}, {sel}; prmt.b32 {r}, {$r1}, {r}, {sel}
prmt.b32 {$r1}, {r}, 0, {sel}; or.b32 {r}, {$r1}, {r}
setp.{eq}.s32 {p}, {r}, {R}; selp.b32 {r}, {r}, {r}, {p}
setp.{lo}.u32 {$p1}, {r}, {R}; selp.b32 {$r1}, {r}, {R}, {$p1}; setp.{lo}.u32 {$p1}, {$r1}, {R}; selp.b32 {r}, {$r1}, {r}, {$p1}
setp.{eq}.s32 {$p1}, {r}, {R}; setp.{eq}.{bit}.s32 {$p2}, {r}, {R}, {not}{$p1}; selp.u32 {r}, 1, 0, {$p2}
setp.{lo}.u32 {$p1}|{$p2}, {r}, {R}; selp.b32 {$r1}, {r}, {r}, {$p1}; selp.b32 {r}, {$r1}, {r}, {$p2}
setp.{eq}.s32 {$p1}, {r}, {R}; selp.u32 {$r1}, 1, 0, {$p1}; setp.{eq}.u32 {p}, {$r1}, {bool}
setp.{eq}.s32 {$p1}, {r}, {R}; selp.s32 {$r1}, -1, 0, {$p1}; and.b32 {r}, {$r1}, {r}
setp.{eq}.s32 {$p1}, {r}, {R}; selp.u32 {$r1}, {few}, {few}, {$p1}; add.u32 {r}, {r}, {$r1}
setp.{eq}.s32 {$p1}, {r}, {R}; not.pred {$p2}, {$p1}; {bit}.pred {p}, {$p2}, {p}
setp.{eq}.s32 {$p1}, {r}, {R}; @{$p1} add.u32 {r}, {r}, 1; @!{$p1} sub.u32 {r}, {r}, {R}; @{$p1} setp.{lo}.u32 {$p1}, {r}, {R}; @{$p1} mov.b32 {r}, {r}
setp.{eq}.{T} {$p1}, {d}, {D}; selp.b64 {d}, {d}, {D}, {$p1}
set.{eq}.u32.{t} {$r1}, {r}, {R}; and.b32 {$r2}, {$r1}, 1; add.u32 {r}, {r}, {$r2}
set.{eq}.s32.s32 {$r1}, {r}, {R}; neg.s32 {$r2}, {$r1}; shl.b32 {r}, {$r2}, {s5}
setp.{feq}{ftz}.f32 {$p1}, {f}, {F}; selp.f32 {f}, {f}, {F}, {$p1}
setp.{feq}.f64 {$p1}, {g}, {G}; selp.f64 {g}, {g}, {g}, {$p1}
slct.b32.s32 {r}, {r}, {R}, {r}; max.s32 {r}, {r}, 0
{min}.s32 {$r1}, {r}, {R}; {min}.s32 {r}, {$r1}, {R}
{min}.u32 {$r1}, {r}, {R}; {min}.u32 {r}, {$r1}, {r}; {min}.s32 {r}, {$r1}, {r}
abs.s32 {$r1}, {r}; neg.s32 {r}, {$r1}; min.s32 {r}, {r}, {$r1}
lop3.b32 {$r1}, {r}, {R}, {r}, {byte}; lop3.b32 {r}, {$r1}, {r}, {$r1}, {byte}
popc.b32 {$r1}, {r}; clz.b32 {$r2}, {r}; add.u32 {r}, {$r1}, {$r2}
and.b32 {$r1}, {r}, {r}; setp.{eq}.s32 {p}, {$r1}, 0
and.b64 {$d1}, {d}, {D}; setp.{eq}.s64 {p}, {$d1}, 0
dp4a.{t}.{t} {$r1}, {r}, {R}, 0; dp4a.u32.{t} {r}, {r}, {$r1}, {$r1}
mad.lo.{t} {$r1}, {r}, {R}, {r}; mad.lo.{t} {r}, {$r1}, {$r1}, {R}
mad.wide.{t} {$d1}, {r}, {by}, {d}; mad.wide.{t} {d}, {r}, {few}, {$d1}
mad.hi.{t} {r}, {r}, {by}, {r}
add.cc.u32 {$r1}, {r}, {R}; addc.u32 {$r2}, {r}, 0; mov.b64 {d}, {{{$r1}, {$r2}}}
neg{ftz}.f32 {$f1}, {f}; fma.{rnd}{ftz}.f32 {f}, {$f1}, {f}, {F}
abs{ftz}.f32 {$f1}, {f}; {add}.{rnd}{ftz}.f32 {f}, {$f1}, {f}
neg.f32 {$f1}, {f}; abs.f32 {$f2}, {$f1}; sub.{rnd}.f32 {f}, {f}, {$f2}
{add}.{rnd}{ftz}.f32 {$f1}, {f}, {f}; cvt.sat.f32.f32 {f}, {$f1}
{add}.{rnd}{ftz}.f32 {f}, {f}, {flat}
fma.{rnd}{ftz}{sat}.f32 {f}, {f}, {flat}, {flat}
sub.rn.f32 {$f1}, {f}, {f}; {min}{NaN}.f32 {f}, {$f1}, {flat}
{min}{ftz}{NaN}.f32 {$f1}, {f}, {F}; {min}{ftz}{NaN}.f32 {f}, {$f1}, {F}
mul.{rnd}{ftz}.f32 {$f1}, {f}, {F}; add.{rnd}{ftz}.f32 {f}, {$f1}, {f}
neg.f64 {$g1}, {g}; fma.{rnd}.f64 {g}, {g}, {$g1}, {g}
add.{rnd}.f64 {g}, {g}, {G}; cvt.{rnd}{ftz}.f32.f64 {f}, {g}
cvt.{rnd}.f32.{t} {$f1}, {r}; cvt.{rni}.{t}.f32 {r}, {$f1}
cvt.{rni}.{T}.f32 {$d1}, {f}; cvt.{rnd}.f32.{T} {f}, {$d1}
cvt.{rni}.{small16}.f32 {$h1}, {f}; cvt.{t}.{small16} {r}, {$h1}
cvt.f32.f16 {$f1}, {h}; cvt.rn{sat}.f16.f32 {h}, {$f1}
mov.b32 {$r1}, {f}; and.b32 {$r2}, {$r1}, 0x7fffffff; mov.b32 {f}, {$r2}
mov.b32 {$r1}, {f}; xor.b32 {$r2}, {$r1}, 0x80000000; mov.b32 {$f1}, {$r2}; add.rn.f32 {f}, {$f1}, {f}
neg.f16x2 {$r1}, {r}; fma.rn.f16x2 {r}, {r}, {$r1}, {r}
mov.b32 {{{$h1}, {$h2}}}, {r}; mov.b32 {$r1}, {{{$h1}, {$h1}}}; fma.rn.f16x2 {r}, {$r1}, {r}, {r}
{min}{NaN}.f16x2 {$r1}, {r}, {r}; {add}.f16x2 {r}, {$r1}, {r}
""".strip().split("\n")

# Values that a register gets before an instruction, for constant folding.
CONSTANTS = {"r": "0 1 -1 2 7 10 31 32 -7 255 0xffff 0x80000000 0x7fffffff 0x3c003c00 0x7e00fc00 0xff7f8000 0x80018001".split(),
             "d": "0 1 -1 10 -3 31 63 64 0xffffffff 0x100000000 0x7fffffffffffffff 0x8000000000000000".split(),
             "f": "0f00000000 0f80000000 0f3F800000 0fBF800000 0f7F800000 0fFF800000 0f7FC00001 0f00000001 0f807FFFFF 0f4B800001 0f3FC00000".split(),
             "g": "0d0000000000000000 0d8000000000000000 0d3FF0000000000000 0d7FF0000000000000 0d7FF8000000000001 0d0000000000000001 0d41E0000000000001".split(),
             "h": "0 1 3 255 0x3c00 0x8000 0x7fff 0x7e00 0xffff 0xfc00".split()}
CONSTANT = {"r": "mov.b32", "d": "mov.b64", "f": "mov.f32", "g": "mov.f64", "h": "mov.b16"}
CLASS = {"%r": "r", "%rd": "d", "%f": "f", "%fd": "g", "%h": "h", "%p": "p"}

# Accesses to one piece of the thread's own memory, {at} is a place in it: they overlap, and some addresses are only known to the threads.
OVERLAP = """
st.{sp}.b32 [{a4}], {r}
st.{sp}.b32 [{a4}], {R}
ld.{sp}.u32 {r}, [{a4}]
ld.{sp}.b32 {f}, [{a4}]
st.{sp}.b64 [{a8}], {d}
ld.{sp}.u64 {d}, [{a8}]
ld.{sp}.f64 {g}, [{a8}]
st.{sp}.b16 [{a2}], {h}
ld.{sp}.{t16} {h}, [{a2}]
ld.{sp}.{t16} {r}, [{a2}]
st.{sp}.u8 [{a1}], {r}
ld.{sp}.{small8} {r}, [{a1}]
st.{sp}.v2.b32 [{a8}], {{{r}, {r}}}
ld.{sp}.v2.b32 {{{r}, {r}}}, [{a8}]
ld.{sp}.v4.b32 {{{r}, {r}, {r}, {r}}}, [{a16}]
@{not}{p} st.{sp}.b32 [{a4}], {r}
@{not}{p} ld.{sp}.b32 {r}, [{a4}]
@{not}{p} ld.{sp}.v2.b32 {{{r}, {r}}}, [{a8}]
@{not}{p} ld.{sp}.u64 {d}, [{a8}]
""".strip().split("\n")

# Values that are the same in all threads. The lowest byte of a pointer is zero everywhere, which an assembler cannot know.
UNIFORM = """
mov.u32 {x}, %ctaid.x
mov.u32 {x}, %ntid.x
ld.const.u32 {x}, [words+{word}]
ld.param.u8 {x}, [in]; add.u32 {x}, {x}, {I}
add.u32 {x}, {x}, {I}
mul.lo.u32 {x}, {x}, {few}
and.b32 {x}, {x}, {mask}
shr.{t} {x}, {x}, {s5}
xor.b32 {x}, {x}, {x}
div.{t} {x}, {x}, {by}
{min}.{t} {x}, {x}, {I}
setp.{eq}.s32 %q, {x}, {I}; selp.b32 {x}, {x}, {few}, %q
sub.u32 {x}, {I}, {x}
""".strip().split("\n")
USE_UNIFORM = """
add.u32 {r}, {r}, {x}
mul.lo.u32 {r}, {r}, {x}
div.{t} {r}, {r}, {x}
rem.{t} {r}, {x}, {r}
shl.b32 {r}, {r}, {x}
shr.{T} {d}, {d}, {x}
mul.wide.{t} {d}, {r}, {x}
cvt.rn.f32.{t} {f}, {x}
and.b32 %ra, {x}, 60; mov.u32 %rb, words; add.u32 %ra, %ra, %rb; ld.const.u32 {r}, [%ra]
and.b32 %ra, {x}, 60; add.u32 %ra, %ra, %rs; ld.shared.u32 {r}, [%ra]
setp.{eq}.s32 {p}, {x}, {R}
selp.b32 {r}, {x}, {r}, {p}
@{p} add.u32 {r}, {r}, {x}
""".strip().split("\n")


class Shaped(Kernel):
    """A kernel of the shapes that passes of the assembler look for: chains of instructions, operands that are constants, loops that walk
    through memory, arrays in local memory, accesses that overlap or are adjacent, uniform values and branches in sequence."""

    def __init__(self, random_, name):
        super().__init__(random_, name, False)
        self.made = {c: 0 for c in "rdp"}
        self.arrays = []

    def declarations(self):
        types = {"r": "b32", "d": "b64", "f": "f32", "g": "f64", "h": "b16", "p": "pred"}
        out = ["    .reg .%s %%y%s<3>;" % (types[c], c) for c in types]
        out += ["    .reg .%s %%x%s<%d>;" % (types[c], c, n) for c, n in self.made.items() if n]
        return out + ["    .local .align 16 .b32 %s[%d];" % array for array in self.arrays]

    def start(self):
        return ["    %s %%y%s%d, %s;" % (CONSTANT[c], c, i, CONSTANTS[c][0]) for c in CONSTANT for i in range(3)] + \
               ["    setp.ne.u32 %%yp%d, %%td, %%td;" % i for i in range(3)]

    def fresh(self, c):
        self.made[c] += 1
        return "%%x%s%d" % (c, self.made[c] - 1)

    def lines_of(self, template, guard=""):
        for part in self.fill(template).split("; "):
            self.put(part if part.startswith("@") else guard + part)

    def simple(self):
        kind = self.random.random()
        if kind < .5:
            self.chain()
        elif kind < .75:
            self.constants()
        else:
            super().simple()

    def chain(self):
        """A chain; what it hands on is in registers of its own or in ordinary ones."""
        pick, names, taken = self.random, {}, set()
        template = pick.choice(CHAINS)
        for c, i in sorted(set(re.findall(r"\{\$(\w)(\d)\}", template))):
            names[c + i] = "%%y%s%s" % (c, i) if pick.random() < .6 else self.draw(c, taken)
        guard = self.fill("@{not}{p} ") if pick.random() < .1 else ""
        self.lines_of(re.sub(r"\{\$(\w\d)\}", lambda m: names[m.group(1)], template), guard)

    def constants(self):
        """An instruction with registers that hold constants."""
        template = self.random.choice(TEMPLATES)
        if template.startswith("testp") or (template.startswith("set.") and ".f32.f32" in template):
            return
        text = self.fill(template)
        for stem, i in sorted(set(re.findall(r"(%rd|%fd|%r|%f|%h|%p)(\d+)", text.split(" ", 1)[1]))):
            c = CLASS[stem]
            if self.random.random() < .8:
                if c == "p":
                    self.put("setp.%s.u32 %%p%s, %%td, %%td" % (self.random.choice(["eq", "ne"]), i))
                else:
                    self.put("%s %s%s, %s" % (CONSTANT[c], stem, i, self.random.choice(CONSTANTS[c])))
        self.put(text)

    def counted(self, trips, body):
        """A loop of `trips` iterations, 0 for a number from a register; body(i) with its counter, which goes up or down by a step."""
        pick, i, q = self.random, self.fresh("r"), self.fresh("p")
        self.labels += 1
        n, together = self.labels, self.together
        step, up, first = pick.choice([1, 1, 1, 2, 4]), pick.random() < .6, pick.choice([0, 0, 1, -3])
        if trips:
            limit, last = trips * step + first, str(trips * step + first)
        else:
            last, self.together = self.fresh("r"), False
            self.put(self.fill("and.b32 %s, {r}, 7" % last))
            self.put("mad.lo.s32 %s, %s, %d, %d" % (last, last, step, first))
        self.put("mov.u32 %s, %s" % (i, first if up else last))
        bound, op = (last, "add") if up else (str(first), "sub")
        compare = pick.choice(["ne", "lt.s", "ne"]) if up else pick.choice(["ne", "gt.s"])
        compare = "ne.s32" if compare == "ne" else compare + "32"
        self.depth += 1
        if not trips or pick.random() < .3:
            turned = {"ne.s32": "eq.s32", "lt.s32": "ge.s32", "gt.s32": "le.s32"}[compare]
            self.label("$L%d: setp.%s %s, %s, %s; @%s bra $E%d;" % (n, turned, q, i, bound, q, n))
            body(i, n, step)
            self.put("%s.s32 %s, %s, %d; bra $L%d" % (op, i, i, step, n))
        else:
            self.label("$L%d:" % n)
            body(i, n, step)
            self.put("%s.s32 %s, %s, %d; setp.%s %s, %s, %s; @%s bra $L%d" % (op, i, i, step, compare, q, i, bound, q, n))
        self.label("$E%d:" % n)
        self.depth -= 1
        self.together = together

    def few(self, limit):
        for _ in range(self.random.randrange(0, limit)):
            self.simple()

    def inside(self, size):
        if self.random.random() < .3:
            self.block(max(1, size // 2))
        else:
            self.few(4)

    def address(self, space, i, scale, span):
        """[...] of element i of the thread's memory of a space; `span` bytes of it are used."""
        base, bytes_ = {"shared": ("%rs", 64), "local": ("%rl", 128), "global": ("%rdg", 256)}[space]
        pick = self.random
        a, wide = self.fresh("r"), space == "global"
        self.put("and.b32 %s, %s, %d" % (a, i, (span or bytes_) // scale - 1))
        if wide:
            d = self.fresh("d")
            if pick.random() < .5:
                self.put("mul.wide.%s %s, %s, %d; add.s64 %s, %s, %s" % (pick.choice(["u32", "s32"]), d, a, scale, d, d, base))
            elif pick.random() < .5:
                self.put("mad.wide.u32 %s, %s, %d, %s" % (d, a, scale, base))
            else:
                self.put("cvt.%s %s, %s; shl.b64 %s, %s, %d; add.s64 %s, %s, %s" % (pick.choice(["u64.u32", "s64.s32"]), d, a, d, d, scale.bit_length() - 1, d, base, d))
            return d
        if pick.random() < .5:
            self.put("shl.b32 %s, %s, %d; add.s32 %s, %s, %s" % (a, a, scale.bit_length() - 1, a, base, a))
        else:
            self.put("mad.lo.s32 %s, %s, %d, %s" % (a, a, scale, base))
        return a

    def walk(self, size):
        """A loop through memory with an index, or with a pointer that grows."""
        pick = self.random
        space, trips = pick.choice(["shared", "local", "global"]), pick.choice([0, 1, 2, 3, 4, 5, 7, 8])
        base, wide = {"shared": ("%rs", 0), "local": ("%rl", 0), "global": ("%rdg", 1)}[space]
        pointer = self.fresh("d" if wide else "r")
        grows, other = pick.choice([4, 8, -4]), pick.choice(["shared", "local", "global"])
        begin = 0 if grows > 0 else 60
        by_pointer, stores = pick.random() < .5, pick.random() < .5
        register, total = self.draw("r", None), self.draw("r", None)
        if by_pointer:
            self.put("add.%s %s, %s, %d" % ("s64" if wide else "s32", pointer, base, begin))

        def body(i, n, _):
            at = pointer if by_pointer else self.address(space, i, 4, 0)
            self.put("ld.%s.u32 %s, [%s]" % (space, register, at))
            self.lines_of(pick.choice(["add.u32 {x}, {x}, {y}", "xor.b32 {x}, {x}, {y}", "max.s32 {x}, {x}, {y}", "mad.lo.u32 {x}, {y}, {few}, {x}",
                                       "setp.lt.s32 %q, {y}, {x}; @%q mov.b32 {x}, {y}", "setp.eq.u32 %q, {y}, {few}; selp.u32 {x}, {y}, {x}, %q"])
                          .replace("{x}", total).replace("{y}", register))
            self.inside(size)
            if stores:
                self.put("st.%s.b32 [%s], %s" % (space, at, total) if pick.random() < .5 else
                         "st.%s.b32 [%s+%d], %s" % (other, {"shared": "%rs", "local": "%rl", "global": "%rdg"}[other], 4 * pick.randrange(16), total))
            if pick.random() < .15:
                self.put(self.fill("@{p} bra $E%d" % n))
            if by_pointer:
                self.put("add.%s %s, %s, %d" % ("s64" if wide else "s32", pointer, pointer, grows))
        together = self.together
        self.together = False
        self.counted(trips, body)
        self.together = together

    def table(self, size):
        """An array in local memory that could be in registers."""
        pick = self.random
        n, name = pick.choice([2, 4, 4, 8]), "array%d" % len(self.arrays)
        self.arrays.append((name, n))
        if pick.random() < .5:
            for i in range(n):
                self.put(self.fill("st.local.b32 [%s+%d], {R}" % (name, 4 * i)))
        else:
            def body(i, _, step):
                a = self.fresh("r")
                self.put("and.b32 %s, %s, %d; shl.b32 %s, %s, 2; mov.u32 %%ra, %s; add.u32 %s, %s, %%ra" % (a, i, n - 1, a, a, name, a, a))
                self.put(self.fill("st.local.b32 [%s], {r}" % a))
            for i in range(n):
                self.put("st.local.b32 [%s+%d], %%td" % (name, 4 * i))
            self.counted(n, body)
        for _ in range(pick.randrange(2, 6)):
            where, guard = "%s+%d" % (name, 4 * pick.randrange(n)), self.fill("@{not}{p} ") if pick.random() < .3 else ""
            if pick.random() < .35:
                self.put(self.fill("and.b32 %%ra, {r}, %d; shl.b32 %%ra, %%ra, 2; mov.u32 %%rb, %s; add.u32 %%ra, %%rb, %%ra" % (n - 1, name)))
                where = "%ra"
            self.put(guard + self.fill(pick.choice(["st.local.b32 [%s], {r}", "ld.local.b32 {r}, [%s]", "ld.local.b32 {r}, [%s]", "ld.local.f32 {f}, [%s]",
                                                    "ld.local.{small8} {r}, [%s]", "st.local.f32 [%s], {f}", "st.local.u8 [%s], {r}"][:6 if pick.random() < .8 else 7]) % where))
            self.few(2)
            if pick.random() < .2:
                self.inside(size // 2)

        def read(i, _, step):
            a = self.fresh("r")
            self.put("and.b32 %s, %s, %d; shl.b32 %s, %s, 2; mov.u32 %%ra, %s; add.u32 %s, %%ra, %s; ld.local.u32 %%rb, [%s]" % (a, i, n - 1, a, a, name, a, a, a))
            self.put(self.fill("mad.lo.u32 {r}, {r}, 3, %rb"))
        self.counted(n, read)

    def overlap(self, size):
        """Accesses to the same words, adjacent words, and parts of words."""
        pick = self.random
        space = pick.choice(["shared", "local", "global"])
        base, wide = {"shared": ("%rs", 0), "local": ("%rl", 0), "global": ("%rdg", 1)}[space]
        pointer = None
        if pick.random() < .6:
            pointer = self.fresh("d" if wide else "r")
            self.put(self.fill("and.b32 %%ra, {r}, %d" % pick.choice([16, 32, 48, 24, 4])))
            self.put("cvt.u64.u32 %s, %%ra; add.u64 %s, %s, %s" % (pointer, pointer, base, pointer) if wide else "add.u32 %s, %s, %%ra" % (pointer, base))
        for _ in range(pick.randrange(3, 9)):
            template = pick.choice(OVERLAP)
            width = int(re.search(r"\{a(\d+)\}", template).group(1))
            known = not pointer or pick.random() < .5 or width > 4
            where = "%s+%d" % (base, width * pick.randrange(max(1, (32 if pick.random() < .6 else 48) // width))) if known else \
                    "%s+%d" % (pointer, width * pick.randrange(max(1, 12 // width)))
            self.put(self.fill(re.sub(r"\{a\d+\}", where, template).replace("{sp}", space)))
            if pick.random() < .25:
                self.few(3)
            if pick.random() < .1 and size > 6:
                self.labels += 1
                n = self.labels
                self.put(self.fill("@{not}{p} bra $F%d" % n))
                together, self.together = self.together, False
                self.put(self.fill("st.%s.b32 [%s+%d], {r}" % (space, base, 4 * pick.randrange(8))))
                self.inside(4)
                self.together = together
                self.label("$F%d:" % n)

    def adjacent(self, size):
        """Loads and stores of adjacent elements, in any order."""
        pick = self.random
        for _ in range(pick.randrange(1, 3)):
            space, width, first = pick.choice(["shared", "local", "global"]), pick.choice([1, 2, 4, 4, 4, 8]), pick.choice([0, 0, 0, 1, 2])
            base = {"shared": "%rs", "local": "%rl", "global": "%rdg"}[space]
            places = [first + k for k in range(pick.choice([2, 3, 4]))]
            if pick.random() < .4:
                pick.shuffle(places)
            loads = {1: "ld.%s.{small8} {r}", 2: "ld.%s.{t16} {h}", 4: pick.choice(["ld.%s.b32 {r}", "ld.%s.f32 {f}"]), 8: "ld.%s.b64 {d}"}
            stores = {1: "st.%s.u8 [%s], {r}", 2: "st.%s.b16 [%s], {h}", 4: "st.%s.b32 [%s], {r}", 8: "st.%s.b64 [%s], {d}"}
            reads = pick.random() < .6
            for k in places:
                where = "%s+%d" % (base, width * k)
                self.put(self.fill((loads[width] % space) + ", [%s]" % where if reads else stores[width] % (space, where)))
                if pick.random() < .15:
                    self.simple()

    def uniform(self, size):
        """Values that are the same in all threads, for branches and loops too."""
        pick = self.random
        x = [self.fresh("r") for _ in range(2)]
        for k in x:
            self.lines_of(pick.choice(UNIFORM[:4]).replace("{x}", k))
        for _ in range(pick.randrange(1, 5)):
            template = pick.choice(UNIFORM)
            self.lines_of(re.sub(r"\{x\}", lambda m: pick.choice(x), template))
        kind = pick.randrange(3)
        self.labels += 1
        n, q = self.labels, self.fresh("p")
        if kind == 0:
            self.put(self.fill("setp.{eq}.s32 %s, %s, {I}; @%s bra $F%d" % (q, x[0], q, n)))
            self.inside(size)
            self.label("$F%d:" % n)
        elif kind == 1:
            c = self.fresh("r")
            self.put("and.b32 %s, %s, 7; add.u32 %s, %s, 1" % (c, x[0], c, c))
            self.depth += 1
            self.label("$F%d:" % n)
            for _ in range(pick.randrange(0, 3)):
                self.lines_of(re.sub(r"\{x\}", lambda m: pick.choice(x + [c]), pick.choice(USE_UNIFORM)))
            self.inside(size)
            self.put("sub.u32 %s, %s, 1; setp.ne.u32 %s, %s, 0; @%s bra $F%d" % (c, c, q, c, q, n))
            self.depth -= 1
        for _ in range(pick.randrange(1, 4)):
            self.lines_of(re.sub(r"\{x\}", lambda m: pick.choice(x), pick.choice(USE_UNIFORM)))

    def conditions(self, size):
        """Branches in sequence to one place, as && and || are written."""
        pick, together = self.random, self.together
        self.labels += 1
        n, has_else = self.labels, pick.random() < .4
        self.together = False
        for _ in range(pick.randrange(2, 5)):
            target = pick.choice("FFFT")
            self.put(self.fill("setp.{eq}.s32 {p}, {r}, {R}" if pick.random() < .3 else pick.choice(
                ["setp.{eq}.s32 %%q, {r}, {R}; @{not}%%q bra $%s%d", "setp.{feq}.f32 %%q, {f}, {F}; @{not}%%q bra $%s%d",
                 "setp.{eq}.{T} %%q, {d}, {D}; @{not}%%q bra $%s%d", "@{not}{p} bra $%s%d",
                 "ld.shared.u32 %%ra, [%%rs+{word}]; setp.{eq}.s32 %%q, %%ra, {R}; @%%q bra $%s%d"]) % (target, n)))
            if pick.random() < .2:
                self.simple()
        self.label("$T%d:" % n)
        self.inside(size)
        if has_else:
            self.put("bra $G%d" % n)
            self.label("$F%d:" % n)
            self.inside(size)
            self.label("$G%d:" % n)
        else:
            self.label("$F%d:" % n)
        self.together = together

    def construct(self, size):
        self.random.choice([self.walk, self.walk, self.table, self.overlap, self.overlap, self.adjacent, self.uniform, self.conditions])(size)

    def block(self, size):
        while size > 0:
            kind = self.random.random()
            if kind < .3 and self.depth < 3 and size > 3:
                inside = self.random.randrange(3, min(size, 16) + 1)
                self.construct(inside)
                size -= inside
            elif kind < .36 and self.depth < 3 and size > 4:
                inside = self.random.randrange(2, min(size, 12))
                self.branching(inside)
                size -= inside + 1
            elif kind < .40:
                self.put(self.fill(self.random.choice(MEMORY)))
            elif kind < .42:
                self.put(self.fill(self.random.choice(CARRY)))
            elif kind < .45 and self.together:
                self.put(self.fill(self.random.choice(TOGETHER)))
            elif kind < .46:
                self.put(self.fill(self.random.choice(CALLS)))
            else:
                self.simple()
            size -= 1


def main():
    seed, count, profile = int(sys.argv[1]), int(sys.argv[2]), "".join(sys.argv[3:])
    pick = random.Random(seed)
    print(HEAD % (seed, "%d%s" % (count, " " + profile if profile else ""), ", ".join(str(pick.getrandbits(32)) for _ in range(64))))
    for i in range(count):
        pick = random.Random("%d %d" % (seed, i))
        if profile == "shaped":
            print(Shaped(pick, "k%d" % i).text(pick.choice([10, 20, 40, 60])))
        elif profile == "partial":
            print(Partial(pick, "k%d" % i).text(pick.choice([10, 20, 40, 60])))
        else:
            print(Kernel(pick, "k%d" % i, profile == "joined").text(pick.choice([15, 40, 80, 150])))


main()
