#!/usr/bin/env python3
"""Records every Triton launch of a Python program, so that replay.py can run it in ptxloom.

    record.py OUT PROGRAM.py [ARGUMENT ...]

Needs a GPU, torch and triton 3.6. Kernels of torch.compile are Triton kernels, too. For each launch OUT gets NAME.ptx, a launch file
NAME.json and the contents of the buffers before and after it, named by their SHA-256. A line of OUT/launches.tsv has the name, the
kernel and the digests of its buffers after the launch. Each PTX file is recorded once. A launch is skipped, with a message, if a
buffer is larger than 400 KiB, if two arguments overlap partly, or if an argument is neither a pointer nor a number."""
import hashlib, json, os, re, runpy, sys

os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # kernels are compiled in this process
import torch, torch._inductor.config
from triton.backends.nvidia.driver import CudaLauncher
from triton.compiler.compiler import CompiledKernel

LARGEST_BUFFER = 400 << 10  # bytes
TYPES = {"i1": "u8", "i8": "s8", "i16": "s16", "i32": "s32", "i64": "s64", "u8": "u8", "u16": "u16", "u32": "u32", "u64": "u64",
         "fp16": "f16", "bf16": "bf16", "fp32": "f32", "fp64": "f64"}


class Skipped(Exception):
    pass


class Recorder:
    def __init__(self, out):
        self.out, self.kernels, self.seen = out, {}, set()
        os.makedirs(out, exist_ok=True)
        self.table = open(os.path.join(out, "launches.tsv"), "w")

    def keep(self, data):
        """Writes the bytes to a file named by their digest, and returns the digest."""
        digest = hashlib.sha256(data).hexdigest()
        with open(os.path.join(self.out, digest[:16] + ".bin"), "wb") as f:
            f.write(data)
        return digest

    def buffer(self, tensor, kind, buffers):
        """The argument of a launch file for a pointer to this tensor: its storage from there to the end."""
        storage = tensor.untyped_storage()
        offset = tensor.data_ptr() - storage.data_ptr()
        data = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage, offset, (storage.nbytes() - offset,), (1,))
        for place, other in buffers:
            if other.data_ptr() == data.data_ptr():
                return {"same": place}
            if other.untyped_storage().data_ptr() == storage.data_ptr():
                raise Skipped("arguments overlap partly")
        if data.numel() > LARGEST_BUFFER:
            raise Skipped("a large buffer")
        size = tensor.element_size()
        kind = TYPES.get(kind, "u8") if data.numel() % size == 0 else "u8"
        count = data.numel() // (size if kind != "u8" else 1)
        return {"buffer": kind, "count": count, "output": True, "init": {"file": self.keep(data.cpu().numpy().tobytes())[:16] + ".bin"}}, data

    def arguments(self, launcher, kernel, grid, values):
        """The arguments of a launch file, and the buffers as (1-based place, bytes)."""
        signature = list(kernel.src.signature.items())
        if len(values) != len(signature):
            signature = [(n, t) for n, t in signature if t != "constexpr"]
        arguments, buffers = [], []
        for (_, kind), value in zip(signature, values):
            if kind == "constexpr":
                continue
            if kind[0] != "*":
                if kind not in TYPES:
                    raise Skipped("an argument of type " + kind)
                arguments.append({"scalar": TYPES[kind], "value": (float if kind[0] in "fb" else int)(value)})
            elif value is None:
                arguments.append({"scalar": "u64", "value": 0})
            else:
                a = self.buffer(value, kind[1:], buffers)
                if isinstance(a, tuple):
                    buffers.append((len(arguments) + 1, a[1]))
                    a = a[0]
                arguments.append(a)
        scratch = (getattr(launcher, "global_scratch_size", 0) or 0) * grid[0] * grid[1] * grid[2]
        arguments.append({"buffer": "u8", "count": scratch} if scratch else {"scalar": "u64", "value": 0})
        arguments.append({"scalar": "u64", "value": 0})  # for a profiler
        return arguments, buffers

    def prepare(self, launcher, kernel, grid, values):
        """The launch file and the buffers of a launch."""
        ptx, meta = kernel.asm["ptx"], kernel.metadata
        if hashlib.sha256(ptx.encode()).digest() in self.seen or 0 in grid:
            return None
        arguments, buffers = self.arguments(launcher, kernel, grid, values)
        entry, parameters = re.search(r"\.visible \.entry (\w+)\(([^)]*)\)", ptx).groups()
        count = parameters.count(".param")
        threads = re.search(r"\.(?:reqntid|maxntid)\s+(\d+)", ptx)
        clusters = getattr(meta, "num_ctas", 1) or 1
        launch = {"entry": entry, "grid": [grid[0] * clusters, grid[1], grid[2]], "block": [int(threads[1]) if threads else 32 * meta.num_warps],
                  "dynamic_shared": meta.shared, "args": arguments[:count]}
        if clusters > 1:
            launch["cluster"] = [clusters, 1, 1]
        return ptx, launch, buffers

    def finish(self, ptx, launch, buffers):
        name = f"{len(self.seen):05d}"
        self.seen.add(hashlib.sha256(ptx.encode()).digest())
        with open(os.path.join(self.out, name + ".ptx"), "w") as f:
            f.write(ptx)
        with open(os.path.join(self.out, name + ".json"), "w") as f:
            json.dump({"name": name, "ptx": name + ".ptx", **launch}, f)
        digests = [self.keep(data.cpu().numpy().tobytes()) for _, data in buffers]
        print(name, launch["entry"], *digests, sep="\t", file=self.table, flush=True)


def install(recorder):
    """Makes Triton's launcher record."""
    init, launch = CompiledKernel._init_handles, CudaLauncher.__call__

    def init_handles(kernel):
        init(kernel)
        recorder.kernels[kernel.function] = kernel

    def call(launcher, x, y, z, stream, function, *rest):
        plan = None
        try:  # the first four of `rest` are metadata and hooks
            plan = recorder.prepare(launcher, recorder.kernels[function], (x, y, z), rest[4:])
        except Skipped as why:
            print("record: skipped a launch:", why, file=sys.stderr)
        torch.cuda.synchronize()
        launch(launcher, x, y, z, stream, function, *rest)
        torch.cuda.synchronize()
        if plan:
            recorder.finish(*plan)

    CompiledKernel._init_handles, CudaLauncher.__call__ = init_handles, call
    for option in ("use_static_cuda_launcher", "use_static_triton_launcher"):  # they do not pass through the launcher above
        if hasattr(torch._inductor.config, option):
            setattr(torch._inductor.config, option, False)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    recorder = Recorder(sys.argv[1])
    install(recorder)
    sys.argv = sys.argv[2:]
    runpy.run_path(sys.argv[0], run_name="__main__")
    print("record:", len(recorder.seen), "launches", file=sys.stderr)
