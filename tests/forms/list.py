#!/usr/bin/env python3
"""list.py ISA_FOLDER - every scalar instruction that the instruction table can write, every mma, and wgmma.

Reads the arithmetic families of isa/ (format: isa/table/README.md) and expands each form's words. A line is
the instruction's text, its source types and its destination types, separated by tabs; operands are
%d0, %d1 (results) and %a0, %a1 ... (sources). Lines that ptxas refuses for sm_90a are to be taken out
afterwards (see record.c)."""
import itertools
import os
import random
import re
import sys

FAMILIES = ['int', 'logic', 'float', 'half', 'approx', 'cmp', 'cvt', 'video']
BITS = {'pred': 1}
for letter in 'busf':
    for n in (8, 16, 32, 64):
        BITS['%s%d' % (letter, n)] = n
BITS.update({'bf16': 16, 'tf32': 32, 'f16x2': 32, 'bf16x2': 32, 'u16x2': 32, 's16x2': 32,
             'e4m3x2': 16, 'e5m2x2': 16, 'u8x4': 32, 's8x4': 32})
PART = {'vadd', 'vsub', 'vabsdiff', 'vmin', 'vmax', 'vshl', 'vshr', 'vset', 'vmad'}


def lines_of(path):
    text = open(path).read().replace('\\\n', ' ')
    for line in text.split('\n'):
        line = line.split('#')[0].rstrip()
        if line.strip():
            yield line.strip()


def read(path, shared):
    groups, forms, insn_groups, form = dict(shared), [], {}, None
    for line in lines_of(path):
        m = re.match(r'group\s+([\w:]+)\s*=\s*(.*)', line)
        if m:
            groups[m[1]] = m[2].split()
            continue
        if line.startswith('insn '):
            insn_groups, form = {}, None
            continue
        if line.startswith('form '):
            m = re.match(r'form\s+(\S+)\s*(.*)', line)
            form = {'syntax': m[1], 'operands': m[2], 'groups': {}, 'outer': insn_groups, 'lane': False}
            forms.append(form)
            continue
        m = re.match(r'([\w:]+)\s*=\s*(.*)', line)
        if m and not line.startswith(('lane', 'since', 'where', 'class', 'note')):
            (form['groups'] if form else insn_groups)[m[1]] = m[2].split()
        elif line.startswith('lane') and form:
            form['lane'] = True
    for f in forms:
        f['groups'] = {**groups, **f['outer'], **f['groups']}
    return forms


def groups_of(path):
    found = (re.match(r'group\s+([\w:]+)\s*=\s*(.*)', line) for line in lines_of(path))
    return {m[1]: m[2].split() for m in found if m}


def kind_type(kind, chosen):
    m = re.match(r'(wide|half|int|bits)\((\w+)\)$', kind)
    if m:
        t = kind_type(m[2], chosen)
        b = BITS.get(t)
        if b is None:
            return None
        return {'wide': t[0] + str(2 * b), 'half': t[0] + str(b // 2), 'int': 'u' + str(b),
                'bits': 'b' + str(b)}[m[1]]
    return chosen.get(kind, kind)


def expand(form, rng):
    parts = re.findall(r'\{\.([\w:]+)\}|\.([\w:]+)', form['syntax'])
    name = form['syntax'].split('.')[0].split('{')[0]
    if name.startswith('~'):
        return
    choices = []
    for optional, needed in parts:
        word = optional or needed
        words = form['groups'].get(word, [word])
        choices.append([(word, w) for w in words] + ([(word, None)] if optional else []))
    for combo in itertools.product(*choices):
        chosen = {g: w for g, w in combo if w}
        text = '.'.join([name] + [w for _, w in combo if w])
        yield from operands(name, text, form['operands'], chosen, rng)


def operands(name, text, spec, chosen, rng):
    out, inp, shown, preds = [], [], [], 0
    before, after = '', ''
    variants = 4 if 'imm' in spec else 1
    for _ in range(variants):
        out, inp, shown, before, after, ok = [], [], [], '', '', True
        for item in filter(None, (x.strip() for x in spec.split(','))):
            both = []
            for piece in item.split('|'):
                m = re.match(r'([=+]?)(\w+):(.+)$', piece)
                if not m:
                    return
                mode, kind = m[1], m[3].rstrip('!?')
                if kind.startswith('imm'):
                    both.append(str(rng.randrange(256)))
                    continue
                negated = kind.endswith('~')
                t = kind_type(kind.rstrip('~'), chosen)
                if t not in BITS or mode == '+':
                    return
                if mode == '=':
                    n = len(out)
                    out.append(t)
                    if t == 'pred':
                        both.append('%%q%d' % n)
                        after += ' selp.u32 %%d%d,1,0,%%q%d;' % (n, n)
                    else:
                        both.append('%%d%d' % n)
                else:
                    n = len(inp)
                    inp.append(t)
                    if t == 'pred':
                        before += 'setp.lt.s32 %%p%d,%%a%d,0; ' % (n, n)
                        both.append('%s%%p%d' % ('!' if negated and rng.random() < 0.3 else '', n))
                    else:
                        sel = ''
                        if name in PART and n < 2 and rng.random() < 0.6:
                            sel = rng.choice(['.b0', '.b1', '.b2', '.b3', '.h0', '.h1'])
                        both.append('%%a%d%s' % (n, sel))
            shown.append('|'.join(both))
        yield '%s%s %s;%s\t%s\t%s' % (before, text, ','.join(shown), after, ','.join(inp), ','.join(out))


def parts(line, rng):
    """The scalar video instruction of a line that merges into a third source, with a part as its result."""
    text, inp, out = line.split('\t')
    if text.split('.')[0] not in PART or inp.count(',') != 2 or re.search(r'\.(add|min|max) ', text):
        return
    for _ in range(2):
        yield '%s\t%s\t%s' % (text.replace('%d0', '%d0' + rng.choice(['.b0', '.b1', '.b2', '.b3', '.h0', '.h1'])),
                              inp, out)


def negated(line):
    """vmad with a factor or the addend negated."""
    text, inp, out = line.split('\t')
    if text.startswith('vmad.') and '.po' not in text:
        for k in range(3):
            yield '%s\t%s\t%s' % (text.replace('%%a%d' % k, '-%%a%d' % k), inp, out)


def carries():
    """Pairs of instructions that pass a carry on."""
    for t in ('u32', 's32', 'u64', 's64'):
        for first, second in (('add', 'addc'), ('sub', 'subc'), ('add', 'subc'), ('sub', 'addc')):
            for tail in ('', '.cc'):
                yield '%s.cc.%s %%d0,%%a0,%%a1; %s%s.%s %%d1,%%a2,%%a3;\t%s\t%s' % (
                    first, t, second, tail, t, ','.join([t] * 4), ','.join([t] * 2))
        for half in ('lo', 'hi'):
            yield 'mad.%s.cc.%s %%d0,%%a0,%%a1,%%a2; madc.%s.%s %%d1,%%a0,%%a1,%%a3;\t%s\t%s' % (
                half, t, half, t, ','.join([t] * 4), ','.join([t] * 2))
            yield 'mad.%s.cc.%s %%d0,%%a0,%%a1,%%a2; madc.hi.cc.%s %%d1,%%a0,%%a1,%%a3; addc.%s %%d2,%%a0,%%a3;\t%s\t%s' % (
                half, t, t, t, ','.join([t] * 4), ','.join([t] * 3))


def braces(letter, first, count):
    return '{%s}' % ','.join('%%%s%d' % (letter, first + k) for k in range(count))


def matrix():
    """mma on full warps: every type and shape up to sm_90, dense and sparse, and where the metadata may lie."""
    half = [('f16', 'f16'), ('f32', 'f32')]
    fp8 = [(a, b) for a in ('e4m3', 'e5m2') for b in ('e4m3', 'e5m2')]
    ints = lambda n: [(a + n, b + n) for a in 'su' for b in 'su']
    table = [  # types of A and B, bits, [(type of D and C)], dense (m, k), sparse (k, selectors)
        ([('f16', 'f16')], 16, half, [(16, 8), (16, 16)], [(16, 2), (32, 2)]),
        ([('bf16', 'bf16')], 16, half[1:], [(16, 8), (16, 16)], [(16, 2), (32, 2)]),
        ([('tf32', 'tf32')], 32, half[1:], [(16, 4), (16, 8)], [(8, 2), (16, 2)]),
        (fp8, 8, half, [(16, 16), (16, 32)], [(64, 1)]),
        (ints('8'), 8, [('s32', 's32')], [(8, 16), (16, 16), (16, 32)], [(32, 2), (64, 1)]),
        (ints('4'), 4, [('s32', 's32')], [(8, 32), (16, 32), (16, 64)], [(64, 2), (128, 1)]),
        ([('f64', 'f64')], 64, [('f64', 'f64')], [(8, 4), (16, 4), (16, 8), (16, 16)], []),
    ]
    names = {'f16': 'f16x2', 'bf16': 'bf16x2', 'tf32': 'f32', 'f64': 'f64'}

    def line(text, d, parts, out, extra=''):
        first, shown, kinds = 0, [], []
        for kind, count in parts:
            shown.append(braces('a', first, count))
            kinds += [kind] * count
            first += count
        if extra:
            shown.append('%%a%d,%s' % (first, extra[1]))
            kinds.append(extra[0])
        return '%s %s,%s;\t%s\t%s' % (text, braces('d', 0, d), ','.join(shown), ','.join(kinds), ','.join([out] * d))

    def accumulators(m, kind):
        return ('f16x2', m * 8 // 64) if kind == 'f16' else (kind, m * 8 // 32)

    for pairs, bits, sums, dense, sparse in table:
        for a, b in pairs:
            ka, kb = names.get(a, 'b32'), names.get(b, 'b32')
            for d, c in sums:
                for sat in ('', '.satfinite') if d == 's32' else ('',):
                    for m, k in dense:
                        per = m * k * bits // 1024 if bits < 64 else m * k // 32
                        perb = 8 * k * bits // 1024 if bits < 64 else 8 * k // 32
                        kind, n = accumulators(m, d)
                        yield line('mma.sync.aligned.m%dn8k%d.row.col%s.%s.%s.%s.%s' % (m, k, sat, d, a, b, c), n,
                                   [(ka, per), (kb, perb), (kind, n)], kind)
                    for k, selectors in sparse:
                        kind, n = accumulators(16, d)
                        for form in ('sp', 'sp::ordered_metadata'):
                            for sel in range(selectors):
                                yield line('mma.%s.sync.aligned.m16n8k%d.row.col%s.%s.%s.%s.%s' % (form, k, sat, d, a, b, c), n,
                                           [(ka, 16 * k * bits // 2048), (kb, 8 * k * bits // 1024), (kind, n)], kind,
                                           ('meta2' if a == 'tf32' else 'meta4', '0x%x' % sel))
    for op in ('xor', 'and'):
        for m, k in ((8, 128), (16, 128), (16, 256)):
            n = m * 8 // 32
            yield line('mma.sync.aligned.m%dn8k%d.row.col.s32.b1.b1.s32.%s.popc' % (m, k, op), n,
                       [('b32', m * k // 1024), ('b32', 8 * k // 1024), ('s32', n)], 's32')
    for la in ('row', 'col'):
        for lb in ('row', 'col'):
            for d in ('f16', 'f32'):
                for c in ('f16', 'f32'):
                    kind = {'f16': ('f16x2', 4), 'f32': ('f32', 8)}
                    yield line('mma.sync.aligned.m8n8k4.%s.%s.%s.f16.f16.%s' % (la, lb, d, c), kind[d][1],
                               [('f16x2', 2), ('f16x2', 2), kind[c]], kind[d][0])


def warpgroup():
    """wgmma, dense and sparse: operands from registers or shared memory, both majors, with and without swizzle. A block is one
    warpgroup; its threads fill shared memory with operands of their own, 8 KiB for A and 4 KiB for B, over and over."""
    half = {'f16': (16, 'f16x2', 0x8fff8fff, 0x30003000), 'bf16': (16, 'bf16x2', 0x81ff81ff, 0x3e003e00),
            'tf32': (32, 'f32', 0x81ffffff, 0x3e000000), 'e4m3': (8, 'b32', 0x9f9f9f9f, 0x20202020),
            'e5m2': (8, 'b32', 0x8f8f8f8f, 0x30303030)}
    pairs = [('f16', 'f16', 'f16'), ('f32', 'f16', 'f16'), ('f32', 'bf16', 'bf16'), ('f32', 'tf32', 'tf32')]
    pairs += [(d, a, b) for d in ('f16', 'f32') for a in ('e4m3', 'e5m2') for b in ('e4m3', 'e5m2')]
    pairs += [('s32' + sat, a, b) for sat in ('', '.satfinite') for a in ('s8', 'u8') for b in ('s8', 'u8')]
    number = 0
    for d, a, b in pairs:
        bits, kind, keep, put = half.get(a, (8, 'b32', 0, 0))
        keep_b, put_b = half.get(b, (8, 'b32', 0, 0))[2:]
        for selector in ([None, 0] if bits == 8 else [None, 0, 1]):
            for in_registers in (False, True):
                for trans in (range(4) if bits == 16 else [0]):
                    if in_registers and trans & 1:
                        continue
                    for swizzle in (0, 1):
                        number += 1
                        n = 16 if number % 3 else 8
                        calm = put and number % 4
                        scales = ['1', '1'] if number % 5 else ['-1', '1'] if number % 2 else ['1', '-1']
                        k = (256 if selector is None else 512) // bits
                        sums, word = (n // 4, 'f16x2') if d == 'f16' else (n // 2, 'f32' if d == 'f32' else 's32')
                        kinds = [kind] * 6 + [word] * sums
                        text = '{.shared .align 1024 .b8 sm[12288]; .reg .b32 %s; .reg .b64 %da,%db; .reg .pred %pd; '
                        for i in range(6):
                            if calm:
                                text += 'and.b32 %%a%d,%%a%d,0x%08x; or.b32 %%a%d,%%a%d,0x%08x; ' % (
                                    i, i, keep if i < 4 else keep_b, i, i, put if i < 4 else put_b)
                        for i in range(sums):
                            text += 'mov.b32 %%d%d,%%a%d; ' % (i, 6 + i)
                        text += 'mov.u32 %s,%tid.x; shl.b32 %s,%s,4; mov.b32 %c,sm; add.u32 %s,%s,%c; '
                        for copy in range(4):
                            text += 'st.shared.v4.b32 [%%s+%d],{%%a0,%%a1,%%a2,%%a3}; ' % (2048 * copy)
                        text += 'mov.u32 %s,%tid.x; shl.b32 %s,%s,3; add.u32 %s,%s,%c; '
                        for copy in range(4):
                            text += 'st.shared.v2.b32 [%%s+%d],{%%a4,%%a5}; ' % (8192 + 1024 * copy)
                        # descriptor: start, leading and stride offsets in units of 16 bytes; swizzle 1 is 128 bytes
                        high = (1024 >> 4 if swizzle else 256 >> 4) | (swizzle << 30)
                        text += ('shr.u32 %%s,%%c,4; or.b32 %%s,%%s,0x%x; mov.b64 %%da,{%%s,0x%x}; add.u32 %%s,%%s,512; '
                                 'mov.b64 %%db,{%%s,0x%x}; ' % (128 >> 4 << 16, high, high))
                        text += 'setp.eq.u32 %pd,0,0; fence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned; '
                        operands = [braces('d', 0, sums), braces('a', 0, 4) if in_registers else '%da', '%db']
                        if selector is not None:
                            operands += ['%%a%d' % len(kinds), str(selector)]
                            kinds.append('meta2' if bits == 32 else 'meta4')
                        operands.append('%pd')
                        if d in ('f16', 'f32'):
                            operands += scales
                        if bits == 16:
                            operands += [str(trans >> 1)] if in_registers else [str(trans & 1), str(trans >> 1)]
                        text += 'wgmma.mma_async%s.sync.aligned.m64n%dk%d.%s.%s.%s%s %s; ' % (
                            '' if selector is None else '.sp', n, k, d[:3], a, b, d[3:], ','.join(operands))
                        text += 'wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;}'
                        yield '%s\t%s\t%s' % (text, ','.join(kinds), ','.join([word] * sums))


def main():
    rng = random.Random(1)
    also = random.Random(2)
    shared = groups_of(os.path.join(sys.argv[1], 'ptx.isa'))
    seen = set()
    for family in FAMILIES:
        for form in read(os.path.join(sys.argv[1], family + '.isa'), shared):
            if not form['lane'] or '.cc' in form['syntax'] or re.match(r'(addc|subc|madc)', form['syntax']):
                continue
            for line in expand(form, rng):
                for one in [line] + list(parts(line, also)) + list(negated(line)):
                    if one not in seen:
                        seen.add(one)
                        print(one)
    for line in itertools.chain(carries(), matrix(), warpgroup()):
        print(line)


main()
