#!/usr/bin/env python3
"""Runs launch files on a GPU through CUDA's driver, for record.sh to profile, and makes tables of what the profiler wrote.

    record.py outputs CUBINS CASE...     a row a launch: registers, memory, whether two runs agree, SHA-256 of each output that does
    record.py launch TIMES CUBINS CASE...  only launches, each TIMES times with fresh buffers
    record.py table OUTPUTS COLD.csv WARM.csv METRICS.csv METRIC,...   writes results.tsv and metrics.tsv

Needs numpy and libcuda.so.1. CUBINS holds FILE.cubin for the launch files' FILE.ptx. The format of launch files and of their
initial values is that of ../suite (man/ptxloom.1, LAUNCH FILES)."""
import collections, csv, ctypes, hashlib, json, os, statistics, sys

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


class Launch:
    def __init__(self, cuda, path, cubins):
        self.cuda, self.case = cuda, json.load(open(path))
        c = self.case
        self.name = c["name"]
        self.f = cuda.function(os.path.join(cubins, os.path.basename(c["ptx"])[:-4] + ".cubin"), c["entry"])
        self.args = []
        for a in c["args"]:
            if "scalar" in a:
                kind = a["scalar"]
                self.args.append((None, ctypes.create_string_buffer(convert(kind, a["value"]).tobytes(), 8), False))
            else:
                data, p = initial(a["buffer"], a["count"], a["init"]).tobytes(), ctypes.c_uint64()
                assert len(data) == a["count"] * SIZES[a["buffer"]]
                cuda("cuMemAlloc_v2", ctypes.byref(p), ctypes.c_size_t(len(data) + GUARD))
                self.args.append((data, p, a["output"]))

    def run(self):
        for data, p, _ in self.args:
            if data is not None:
                self.cuda("cuMemcpyHtoD_v2", p, data + b"\xa5" * GUARD, ctypes.c_size_t(len(data) + GUARD))
        params = (ctypes.c_void_p * len(self.args))(*[ctypes.addressof(p) for _, p, _ in self.args])
        self.cuda("cuLaunchKernel", self.f, *self.case["grid"], *self.case["block"], self.case["dynamic_shared"], None, params, None)
        self.cuda("cuCtxSynchronize")

    def outputs(self):
        result = {}
        for i, (data, p, output) in enumerate(self.args):
            if data is None:
                continue
            got = ctypes.create_string_buffer(len(data) + GUARD)
            self.cuda("cuMemcpyDtoH_v2", got, p, ctypes.c_size_t(len(got)))
            if got.raw[len(data):] != b"\xa5" * GUARD:
                raise RuntimeError("%s writes behind argument %d" % (self.name, i))
            if output:
                result[i] = got.raw[:len(data)]
        return result

    def free(self):
        for data, p, _ in self.args:
            if data is not None:
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
