#!/usr/bin/env python3
"""Records kernels written in Triton: NAME.ptx as Triton compiled it, NAME.json to launch it, results.tsv.

    record.py OUT

Needs a GPU of compute capability 9.0, torch and triton. Inputs are ptxloom's random values (man/ptxloom.1, LAUNCH FILES)."""
import hashlib, importlib.util, json, os, re, sys

import numpy as np
import torch
import triton
import triton.language as tl

here = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location("corpus_record", os.path.join(here, "..", "corpus", "record.py"))
corpus = importlib.util.module_from_spec(spec)
spec.loader.exec_module(corpus)


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(out + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)


@triton.jit
def softmax(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * n + i, e / tl.sum(e, axis=0), mask=i < n)


@triton.jit
def layer_norm(x, w, b, out, mean, rstd, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(x + row * n + i, mask=m, other=0.0).to(tl.float32)
    mu = tl.sum(v, axis=0) / n
    d = tl.where(m, v - mu, 0.0)
    r = 1 / tl.sqrt(tl.sum(d * d, axis=0) / n + eps)
    tl.store(mean + row, mu)
    tl.store(rstd + row, r)
    tl.store(out + row * n + i, d * r * tl.load(w + i, mask=m) + tl.load(b + i, mask=m), mask=m)


@triton.jit
def rms_norm(x, w, out, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(x + row * n + i, mask=m, other=0.0).to(tl.float32)
    r = tl.sqrt(tl.sum(v * v, axis=0) / n + eps)
    tl.store(out + row * n + i, v / r * tl.load(w + i, mask=m).to(tl.float32), mask=m)


@triton.jit
def quotients(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    a = tl.load(x + i, mask=m)
    b = tl.load(y + i, mask=m)
    tl.store(out + i, a / b - b / a + a * b, mask=m)


@triton.jit
def gelu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, 0.5 * v * (1 + tl.erf(v * 0.70710678)), mask=i < n)


@triton.jit
def swiglu(x, g, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(g + i, mask=i < n).to(tl.float32)
    tl.store(out + i, (v * tl.sigmoid(v) * tl.load(x + i, mask=i < n).to(tl.float32)).to(tl.float16), mask=i < n)


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(keep, tl.load(x + i, mask=i < n) / (1 - p), 0.0), mask=i < n)


@triton.jit
def cross_entropy(x, label, loss, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=-float("inf"))
    top = tl.max(v, axis=0)
    total = tl.log(tl.sum(tl.exp(v - top), axis=0)) + top
    tl.store(loss + row, total - tl.load(x + row * n + tl.load(label + row) % n))


@triton.jit
def prefix(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    tl.store(out + row * n + i, tl.cumsum(tl.load(x + row * n + i, mask=i < n, other=0), axis=0), mask=i < n)


@triton.jit
def sort_rows(x, out, n: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, n)
    tl.store(out + row * n + i, tl.sort(tl.load(x + row * n + i)))


@triton.jit
def best(x, value, place, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=-float("inf"))
    tl.store(value + row, tl.max(v, axis=0))
    tl.store(place + row, tl.argmax(v, axis=0))


@triton.jit
def histogram(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out + (tl.load(x + i, mask=i < n, other=0) & 63), 1, mask=i < n)


@triton.jit
def transpose(x, out, rows, columns, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.program_id(1) * B + tl.arange(0, B)
    t = tl.load(x + r[:, None] * columns + c[None, :], mask=(r[:, None] < rows) & (c[None, :] < columns))
    tl.store(out + c[:, None] * rows + r[None, :], tl.trans(t), mask=(c[:, None] < columns) & (r[None, :] < rows))


@triton.jit
def matmul(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, KIND: tl.constexpr):
    r = tl.program_id(0) * M + tl.arange(0, M)
    s = tl.program_id(1) * N + tl.arange(0, N)
    q = tl.arange(0, K)
    sum = tl.zeros((M, N), dtype=tl.float32)
    for at in range(0, k, K):
        x = tl.load(a + r[:, None] * k + (at + q)[None, :])
        y = tl.load(b + (at + q)[:, None] * n + s[None, :])
        sum = tl.dot(x, y, sum)
    tl.store(c + r[:, None] * n + s[None, :], sum.to(KIND))


@triton.jit
def attention(q, k, v, out, n, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1) * n * D
    r = tl.program_id(0) * M + tl.arange(0, M)
    d = tl.arange(0, D)
    x = tl.load(q + head + r[:, None] * D + d[None, :])
    top = tl.full((M,), -float("inf"), tl.float32)
    total = tl.zeros((M,), tl.float32)
    sum = tl.zeros((M, D), tl.float32)
    for at in range(0, n, N):
        c = at + tl.arange(0, N)
        s = tl.dot(x, tl.trans(tl.load(k + head + c[:, None] * D + d[None, :]))) * scale
        new = tl.maximum(top, tl.max(s, axis=1))
        p = tl.exp(s - new[:, None])
        old = tl.exp(top - new)
        total = total * old + tl.sum(p, axis=1)
        sum = tl.dot(p.to(tl.float16), tl.load(v + head + c[:, None] * D + d[None, :]), sum * old[:, None])
        top = new
    tl.store(out + head + r[:, None] * D + d[None, :], (sum / total[:, None]).to(tl.float16))


class Buffer:
    def __init__(self, kind, count, seed=None, lo=None, hi=None, output=False):
        self.kind, self.count, self.output = kind, count, output
        self.init = {"const": 0} if seed is None else {"hash": seed}
        if lo is not None:
            self.init.update(lo=lo, hi=hi)

    def tensor(self):
        bits = corpus.initial(self.kind, self.count, self.init)
        t = torch.from_numpy(np.ascontiguousarray(bits).view({"bf16": np.int16, "u32": np.int32, "u16": np.int16}.get(self.kind, bits.dtype)))
        return (t.view(torch.bfloat16) if self.kind == "bf16" else t).cuda()

    def launch(self):
        return {"buffer": self.kind, "count": self.count, "init": self.init, "output": self.output}


def f(n, seed, lo=-2, hi=2, kind="f32"):
    return Buffer(kind, n, seed, lo, hi)


def out(n, kind="f32"):
    return Buffer(kind, n, output=True)


def cases():
    n = 3000
    yield "triton_add", add, (3,), (f(n, 1), f(n, 2), out(n), n), dict(BLOCK=1024), 4
    for w, c in ((4, 1000), (8, 2048)):
        yield f"triton_softmax_{c}", softmax, (7,), (f(7 * c, 3, -8, 8), out(7 * c), c), dict(BLOCK=triton.next_power_of_2(c)), w
    for kind, c in (("f32", 768), ("f16", 1000)):
        yield f"triton_layer_norm_{kind}", layer_norm, (6,), (f(6 * c, 5, kind=kind), f(c, 6), f(c, 7), out(6 * c), out(6), out(6), c, 1e-5), dict(BLOCK=1024), 4
        yield f"triton_rms_norm_{kind}", rms_norm, (6,), (f(6 * c, 8, kind=kind), f(c, 9, kind=kind), out(6 * c), c, 1e-6), dict(BLOCK=1024), 4
    yield "triton_quotients", quotients, (3,), (f(n, 10), f(n, 11), out(n), n), dict(BLOCK=1024), 4
    yield "triton_gelu", gelu, (3,), (f(n, 12, -5, 5), out(n), n), dict(BLOCK=1024), 4
    yield "triton_swiglu", swiglu, (3,), (f(n, 13, kind="f16"), f(n, 14, kind="f16"), out(n, "f16"), n), dict(BLOCK=1024), 4
    yield "triton_dropout", dropout, (3,), (f(n, 15), out(n), n, 0.3, 1234), dict(BLOCK=1024), 4
    yield "triton_cross_entropy", cross_entropy, (9,), (f(9 * 500, 16, -9, 9), Buffer("u32", 9, 17, 0, 499), out(9), 500), dict(BLOCK=512), 4
    yield "triton_prefix", prefix, (5,), (f(5 * 1000, 18), out(5 * 1000), 1000), dict(BLOCK=1024), 4
    yield "triton_sort", sort_rows, (4,), (f(4 * 512, 19), out(4 * 512)), dict(n=512), 4
    yield "triton_best", best, (11,), (f(11 * 777, 20), out(11), out(11, "s32"), 777), dict(BLOCK=1024), 4
    yield "triton_histogram", histogram, (3,), (Buffer("u32", n, 21), out(64, "u32"), n), dict(BLOCK=1024), 4
    yield "triton_transpose", transpose, (4, 3), (f(100 * 70, 22), out(100 * 70), 100, 70), dict(B=32), 4
    for kind, t, w in (("f16", tl.float16, 4), ("bf16", tl.bfloat16, 4), ("f32", tl.float32, 4), ("f16", tl.float16, 8)):
        m, nn, k = 256, 256, 192
        tile = dict(M=64, N=64, K=32, KIND=t) if w == 4 else dict(M=128, N=128, K=64, KIND=t)
        yield f"triton_matmul_{kind}_{w}", matmul, (m // tile["M"], nn // tile["N"]), (f(m * k, 23, -1, 1, kind), f(k * nn, 24, -1, 1, kind), out(m * nn, kind), m, nn, k), tile, w
    yield "triton_attention", attention, (4, 2), (f(2 * 256 * 64, 25, -1, 1, "f16"), f(2 * 256 * 64, 26, -1, 1, "f16"), f(2 * 256 * 64, 27, -1, 1, "f16"), out(2 * 256 * 64, "f16"), 256, 0.125), dict(M=64, N=64, D=64), 4


def main():
    to = sys.argv[1]
    os.makedirs(to, exist_ok=True)
    rows = []
    for name, kernel, grid, arguments, constants, warps in cases():
        sums = []
        for _ in range(2):
            tensors = [a.tensor() if isinstance(a, Buffer) else a for a in arguments]
            compiled = kernel[grid](*tensors, **constants, num_warps=warps)
            torch.cuda.synchronize()
            sums.append([hashlib.sha256(t.view(torch.uint8).cpu().numpy().tobytes()).hexdigest() if isinstance(a, Buffer) and a.output else None
                         for t, a in zip(tensors, arguments)])
        ptx = compiled.asm["ptx"]
        entry = re.search(r"\.entry\s+(\w+)\s*\((.*?)\n\)", ptx, re.S)
        parameters = re.findall(r"\.param\s+(?:\.align \d+\s+)?\.(\w+)", entry.group(2))
        args = []
        for a in arguments:
            if isinstance(a, Buffer):
                args.append(a.launch())
            elif a != 1:
                args.append({"scalar": "f32" if isinstance(a, float) else "s32", "value": a})
        while len(args) < len(parameters):
            args.append({"scalar": "u64", "value": 0})
        assert len(args) == len(parameters), (name, parameters)
        ptx = re.sub(r"\n\t\.section\s+\.debug.*", "\n", ptx, flags=re.S)
        ptx = "".join(l for l in ptx.splitlines(True) if not re.match(r"\s*(\.loc|\.file|//)|\$L__(tmp|func)", l))
        open(f"{to}/{name}.ptx", "w").write(ptx)
        with open(f"{to}/{name}.json", "w") as file:
            json.dump({"name": name, "ptx": f"{name}.ptx", "entry": entry.group(1), "grid": list(grid) + [1] * (3 - len(grid)),
                       "block": [32 * warps, 1, 1], "dynamic_shared": compiled.metadata.shared, "args": args}, file)
        rows.append((name, "OK" if sums[0] == sums[1] else "VARIES", ",".join(f"arg{i}={s}" for i, s in enumerate(sums[0]) if s)))
        print(rows[-1][:2], flush=True)
    with open(f"{to}/results.tsv", "w") as file:
        file.write("#case\tstatus\toutputs_sha256\n")
        for r in rows:
            file.write("\t".join(r) + "\n")
    print(torch.cuda.get_device_name(), torch.__version__, triton.__version__)


if __name__ == "__main__":
    main()
