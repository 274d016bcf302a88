#!/usr/bin/env python3
"""Runs launch files on a GPU through CUDA's driver, for record.sh to profile, and makes tables of what the profiler wrote.

    record.py outputs CUBINS CASE...     a row a launch: registers, memory, whether two runs agree, SHA-256 of each output that does
    record.py launch TIMES CUBINS CASE...  only launches, each TIMES times with fresh buffers
    record.py table OUTPUTS COLD.csv WARM.csv METRICS.csv METRIC,...   writes results.tsv and metrics.tsv

Needs numpy and libcuda.so.1. CUBINS holds FILE.cubin for the launch files' FILE.ptx. The format of launch files and of their
initial values is that of ../suite (man/ptxloom.1, LAUNCH FILES)."""
import collections, csv, ctypes, hashlib, json, math, os, statistics, struct, sys

import numpy as np

OWN_COST = 2750  # cycles that profiling itself costs: the least difference between elapsed and active cycles
GUARD = 256
SIZES = {"u8": 1, "s8": 1, "u16": 2, "s16": 2, "u32": 4, "s32": 4, "u64": 8, "s64": 8, "f16": 2, "bf16": 2, "f32": 4, "f64": 8}
NUMPY = {"u8": np.uint8, "s8": np.int8, "u16": np.uint16, "s16": np.int16, "u32": np.uint32, "s32": np.int32, "u64": np.uint64,
         "s64": np.int64, "f16": np.float16, "f32": np.float32, "f64": np.float64}


def to_bf16(x):
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) >> np.uint32(16)).astype(np.uint16)


def convert(kind, values):
    return to_bf16(values) if kind == "bf16" else np.asarray(values).astype(NUMPY[kind])


def initial(kind, count, how):
    if how == "iota":
        return convert(kind, np.arange(count))
    if "const" in how:
        return convert(kind, np.full(count, how["const"]))
    with np.errstate(over="ignore"):
        z = np.uint64(how["hash"]) * np.uint64(0x9E3779B97F4A7C15) + np.arange(1, count + 1, dtype=np.uint64)
        z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    if kind[0] in "us":
        if "lo" not in how:
            return z.astype(NUMPY[kind])
        lo, hi = how["lo"], how["hi"]
        return (((z >> np.uint64(32)) % np.uint64(hi - lo)).astype(np.int64) + lo).astype(NUMPY[kind])
    lo, hi = float(how.get("lo", 0)), float(how.get("hi", 1))
    if kind == "f64":
        return lo + (hi - lo) * ((z >> np.uint64(11)).astype(np.float64) * 2.0**-53)
    return convert(kind, (lo + (hi - lo) * ((z >> np.uint64(40)).astype(np.float64) * 2.0**-24)).astype(np.float32))


class Driver:
    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self("cuInit", 0)
        self("cuDeviceGet", ctypes.byref(device), 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self("cuCtxSetCurrent", context)

    def __call__(self, name, *args):
        code = getattr(self.lib, name)(*args)
        if code:
            raise RuntimeError("%s: error %d" % (name, code))

    def function(self, file, entry):
        module, f = ctypes.c_void_p(), ctypes.c_void_p()
        self("cuModuleLoad", ctypes.byref(module), file.encode())
        self("cuModuleGetFunction", ctypes.byref(f), module, entry.encode())
        return f

    def attribute(self, f, number):
        v = ctypes.c_int()
        self("cuFuncGetAttribute", ctypes.byref(v), number, f)
        return v.value


class Image:
    """The array or the memory behind a texture or a surface, and its handle."""

    FORMATS = {"u8": 1, "u16": 2, "u32": 3, "s8": 8, "s16": 9, "s32": 10, "f16": 16, "f32": 32}

    def __init__(self, cuda, a):
        self.cuda, kind = cuda, a.get("texture") or a["surface"]
        channels, self.source = a.get("channels", 1), a.get("source", "array")
        self.width, self.height, self.depth = a["width"], a.get("height", 0), a.get("layers") or a.get("depth", 0)
        self.row, self.place, handle = self.width * channels * SIZES[kind], ctypes.c_uint64(), ctypes.c_uint64()
        self.pitch = a.get("pitch", self.row)
        self.bytes = (self.row if self.source == "array" else self.pitch) * max(self.height, 1) * max(self.depth, 1)
        if self.source == "array":
            flags = (1 if a.get("layers") else 0) | (2 if "surface" in a else 0)
            description = struct.pack("<QQQiII4x", self.width, self.height, self.depth, self.FORMATS[kind], channels, flags)
            cuda("cuArray3DCreate_v2", ctypes.byref(self.place), description)
            resource = struct.pack("<iiQ", 0, 0, self.place.value)
        else:
            cuda("cuMemAlloc_v2", ctypes.byref(self.place), ctypes.c_size_t(self.bytes + GUARD))
            head = struct.pack("<QiI", self.place.value, self.FORMATS[kind], channels)
            if self.source == "linear":
                resource = struct.pack("<ii", 2, 0) + head + struct.pack("<Q", self.bytes)
            else:
                resource = struct.pack("<ii", 3, 0) + head + struct.pack("<QQQ", self.width, self.height, self.pitch)
        resource = resource.ljust(144, b"\0")
        if "surface" in a:
            cuda("cuSurfObjectCreate", ctypes.byref(handle), resource)
        else:
            words = {"wrap": 0, "clamp": 1, "mirror": 2, "border": 3}
            modes = a.get("address", "clamp")
            modes = ([words[m] for m in modes] if isinstance(modes, list) else [words[modes]] * 3) + [1, 1]
            flags = (0 if a.get("read") == "float" else 1) | (2 if a.get("normalized") else 0)
            sampler = struct.pack("<3iiIIifff4f", *modes[:3], int(a.get("filter") == "linear"), flags, 0, 0, 0.0, 0.0, 0.0,
                                  *(list(a.get("border", [])) + [0.0] * 4)[:4])
            cuda("cuTexObjectCreate", ctypes.byref(handle), resource, sampler.ljust(128, b"\0"), None)
        self.handle = handle

    def copy(self, host, out):
        """All of it from or to the bytes host."""
        if self.source != "array":
            if out:
                self.cuda("cuMemcpyDtoH_v2", host, self.place, ctypes.c_size_t(self.bytes))
            else:
                self.cuda("cuMemcpyHtoD_v2", self.place, host, ctypes.c_size_t(self.bytes))
            return
        at = ctypes.cast(host, ctypes.c_void_p).value
        mine = struct.pack("<QQQQQQQQQQQ", 0, 0, 0, 0, 1, at, 0, 0, 0, self.row, max(self.height, 1))
        theirs = struct.pack("<QQQQQQQQQQQ", 0, 0, 0, 0, 3, 0, 0, self.place.value, 0, 0, 0)
        size = struct.pack("<QQQ", self.row, max(self.height, 1), max(self.depth, 1))
        self.cuda("cuMemcpy3D_v2", (theirs + mine if out else mine + theirs) + size)

    def free(self):
        self.cuda("cuArrayDestroy" if self.source == "array" else "cuMemFree_v2", self.place)


def tensor_map(cuda, a, place):
    """The 128 bytes that describe a tensor at a place."""
    kinds = ["u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32ftz", "tf32", "tf32ftz"]
    dims, size = a["dims"], SIZES.get(a["tensormap"], 4)
    strides, n = [], size
    for d in dims[:-1]:
        n *= d
        strides.append(n)
    room = ctypes.create_string_buffer(128 + 64)
    start = -ctypes.addressof(room) % 64
    wide, narrow = ctypes.c_uint64 * 5, ctypes.c_uint32 * 5
    cuda("cuTensorMapEncodeTiled", ctypes.c_void_p(ctypes.addressof(room) + start), kinds.index(a["tensormap"]), len(dims), place, wide(*dims),
         wide(*a.get("strides", strides)), narrow(*a["box"]), narrow(*a.get("element_strides", [1] * len(dims))), 0,
         ["none", "32B", "64B", "128B"].index(a.get("swizzle", "none")), ["none", "64B", "128B", "256B"].index(a.get("l2", "none")),
         int(a.get("fill") == "nan"))
    return ctypes.create_string_buffer(room.raw[start:start + 128], 128)


class Launch:
    def __init__(self, cuda, path, cubins):
        self.cuda, self.case = cuda, json.load(open(path))
        c = self.case
        self.name = c["name"]
        self.f = cuda.function(os.path.join(cubins, os.path.basename(c["ptx"])[:-4] + ".cubin"), c["entry"])
        if c["dynamic_shared"] > 40000:
            cuda("cuFuncSetAttribute", self.f, 8, c["dynamic_shared"])
        self.args, self.params = [], []  # what has memory: bytes, place, whether it is a result; what the kernel is passed
        for a in c["args"]:
            if "scalar" in a:
                kind = a["scalar"]
                self.args.append((None, None, False))
                self.params.append(ctypes.create_string_buffer(convert(kind, a["value"]).tobytes(), 8))
                continue
            kind = a.get("buffer") or a.get("tensormap") or a.get("texture") or a["surface"]
            if "texture" in a or "surface" in a:
                p = Image(cuda, a)
                data = initial(kind, p.bytes // SIZES[kind], a["init"]).tobytes()
                self.params.append(p.handle)
            else:
                data, p = initial(kind, a["count"] if "buffer" in a else math.prod(a["dims"]), a["init"]).tobytes(), ctypes.c_uint64()
                cuda("cuMemAlloc_v2", ctypes.byref(p), ctypes.c_size_t(len(data) + GUARD))
                self.params.append(p if "buffer" in a else tensor_map(cuda, a, p))
            self.args.append((data, p, a.get("output", False)))

    def run(self):
        for data, p, _ in self.args:
            if isinstance(p, Image):
                p.copy(data, False)
            elif data is not None:
                self.cuda("cuMemcpyHtoD_v2", p, data + b"\xa5" * GUARD, ctypes.c_size_t(len(data) + GUARD))
        params = (ctypes.c_void_p * len(self.params))(*[ctypes.addressof(p) for p in self.params])
        args = self.f, *self.case["grid"], *self.case["block"], self.case["dynamic_shared"], None, params
        if self.case.get("cooperative"):
            self.cuda("cuLaunchCooperativeKernel", *args)
        else:
            self.cuda("cuLaunchKernel", *args, None)
        self.cuda("cuCtxSynchronize")

    def outputs(self):
        result = {}
        for i, (data, p, output) in enumerate(self.args):
            if data is None:
                continue
            got = ctypes.create_string_buffer(len(data) + GUARD)
            if isinstance(p, Image):
                p.copy(got, True)
            else:
                self.cuda("cuMemcpyDtoH_v2", got, p, ctypes.c_size_t(len(got)))
                if got.raw[len(data):] != b"\xa5" * GUARD:
                    raise RuntimeError("%s writes behind argument %d" % (self.name, i))
            if output:
                result[i] = got.raw[:len(data)]
        return result

    def free(self):
        for data, p, _ in self.args:
            if isinstance(p, Image):
                p.free()
            elif data is not None:
                self.cuda("cuMemFree_v2", p)


def outputs(cubins, cases):
    cuda = Driver()
    for path in cases:
        l = Launch(cuda, path, cubins)
        seen = []
        for _ in range(2):
            l.run()
            seen.append(l.outputs())
        sums = ",".join("arg%d=%s" % (i, hashlib.sha256(b).hexdigest()) for i, b in seen[0].items() if b == seen[1][i])
        print(l.name, "OK" if seen[0] == seen[1] else "OK_NONDET", cuda.attribute(l.f, 4), cuda.attribute(l.f, 1), l.case["dynamic_shared"],
              cuda.attribute(l.f, 3), sums, sep="\t", flush=True)
        if os.environ.get("KEEP"):
            for i, b in seen[0].items():
                open("%s/%s.arg%d" % (os.environ["KEEP"], l.name, i), "wb").write(b)
        l.free()


def launch(times, cubins, cases):
    cuda = Driver()
    for path in cases:
        l = Launch(cuda, path, cubins)
        for _ in range(times):
            l.run()
        l.free()


def profile(path):
    """Kernel name -> metric -> values in order of launches."""
    lines = [x for x in open(path) if x.startswith('"')]
    rows = list(csv.reader(lines))
    result = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows[2:]:
        r = dict(zip(rows[0], row))
        for k, v in r.items():
            v = v.replace(",", "")
            try:
                result[r["Kernel Name"]][k].append(float(v))
            except ValueError:
                pass
    return result


def number(x):
    return "%.10g" % x


def table(out, cold, warm, metrics, wanted):
    cold, warm, metrics = profile(cold), profile(warm), profile(metrics)
    head = "case half cycles_cold cycles_cold_min cycles_cold_max cycles_warm sm_active_cold registers shared_static shared_dynamic " \
           "local_bytes inst_executed thread_inst_executed status outputs_sha256"
    with open("results.tsv", "w") as f, open("metrics.tsv", "w") as g:
        print("#" + head.replace(" ", "\t"), file=f)
        print("#case\tmetric\tvalue", file=g)
        lines = sorted(open(out))
        # Every third by the hash of its name: fixed before anything is known about the results. (Those of earlier days: ../README.md.)
        names = sorted((x.split("\t")[0] for x in lines), key=lambda name: hashlib.sha256(name.encode()).hexdigest())
        held = set(names[2::3])
        for line in lines:
            name, status, registers, shared, dynamic, local, sums = line.rstrip("\n").split("\t")
            half = "holdout" if name in held else "tuning"
            c = [x - OWN_COST for x in cold[name]["gpc__cycles_elapsed.max"]]
            w = [x - OWN_COST for x in warm[name]["gpc__cycles_elapsed.max"]]
            m = metrics[name]
            print(name, half, number(statistics.median(c)), number(min(c)), number(max(c)), number(statistics.median(w[1:])),
                  number(statistics.median(cold[name]["sm__cycles_active.max"])), registers, shared, dynamic, local,
                  number(m["smsp__inst_executed.sum"][0]), number(m["smsp__thread_inst_executed.sum"][0]), status, sums, sep="\t", file=f)
            for k in sorted(wanted.split(",")):
                if m[k]:
                    print(name, k, number(m[k][0]), sep="\t", file=g)


if __name__ == "__main__":
    what, args = sys.argv[1], sys.argv[2:]
    if what == "outputs":
        outputs(args[0], args[1:])
    elif what == "launch":
        launch(int(args[0]), args[1], args[2:])
    else:
        table(*args)
