"""ptxloom from Python: assemble PTX, launch kernels on a modelled GPU, and ask traces.

    import numpy as np, ptxloom

    gpu = ptxloom.GPU("h200")
    saxpy = gpu.load_file("saxpy.ptx")["saxpy"]
    x, y = np.ones(1024, np.float32), np.arange(1024, dtype=np.float32)
    result = saxpy(1024, 2.0, x, y, grid=4, block=256)
    print(result.cycles, y[:4])

    with gpu.trace("run.db", level="mem") as trace:
        saxpy(1024, 2.0, x, y, grid=4, block=256, trace=trace)
    with ptxloom.connect("run.db") as db:
        for row in ptxloom.query(db, "hot_lines", limit=5):
            print(dict(row))

It needs cffi (Debian: python3-cffi) and the shared library; numpy (python3-numpy) for arrays.
"""

import difflib
import operator
import os
import reprlib
import sqlite3
import struct

import cffi

from . import _library

__all__ = ["GPU", "Module", "Kernel", "Array", "Result", "Finding", "Trace", "Error", "Fault",
           "connect", "query", "explain", "report", "machines", "version"]

_ffi = cffi.FFI()
_ffi.cdef(_library.DECLARATIONS)
_lib = _ffi.dlopen(os.environ.get("PTXLOOM_LIBRARY", _library.LIBRARY))
version = _library.VERSION


class Error(Exception):
    """The library refused something. `messages` has its diagnostics, the exception's text all of
    them as the command line shows them."""

    def __init__(self, text, messages=()):
        super().__init__(text)
        self.messages = list(messages)


class Fault(Error):
    """The kernel failed: a bad address, a trap, a deadlock. `name` is CUDA's name of the error,
    `result` what the launch did until then."""

    def __init__(self, text, messages, name, result):
        super().__init__(text, messages)
        self.name = name
        self.result = result


def _text(pointer):
    return _ffi.string(pointer).decode("utf-8", "replace") if pointer != _ffi.NULL else None


def _three(value):
    """A grid or block: a number, or one to three of them."""
    numbers = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(numbers) <= 3:
        raise ValueError("a shape has one to three numbers, not %d" % len(numbers))
    return tuple(int(n) for n in numbers) + (1,) * (3 - len(numbers))


def machines():
    """Names of the machines that are built into the library."""
    names, k = [], 0
    while (name := _text(_lib.pl_gpu_builtin(k))) is not None:
        names.append(name)
        k += 1
    return names


class GPU:
    """A modelled GPU: a machine's name (`machines()`) or the path of a machine file."""

    def __init__(self, machine="h200"):
        self._gpu = _ffi.NULL
        out = _ffi.new("pl_gpu **")
        status = _lib.pl_gpu_open(out, machine.encode())
        if out[0] == _ffi.NULL:
            raise MemoryError("ptxloom: no memory")
        self._gpu = out[0]
        self._check(status, "machine '%s'" % machine)

    def close(self):
        """Frees everything; arrays and modules of this GPU can no longer be used."""
        if self._gpu != _ffi.NULL:
            _lib.pl_gpu_close(self._gpu)
            self._gpu = _ffi.NULL

    def __del__(self):
        self.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def _open(self):
        if self._gpu == _ffi.NULL:
            raise ValueError("this GPU is closed")
        return self._gpu

    @property
    def name(self):
        return _text(_lib.pl_gpu_name(self._open))

    def value(self, key, unit=""):
        """A number of the machine's description: value("sm.count"), value("shared.per_sm", "B")."""
        out = _ffi.new("double *")
        if not _lib.pl_gpu_value(self._open, key.encode(), unit.encode(), out):
            raise KeyError(key)
        return out[0]

    def occupancy(self, threads, registers, shared=0, barriers=1):
        """How many blocks a multiprocessor holds, and what each resource alone would allow."""
        out = _ffi.new("pl_occupancy_info *")
        self._check(_lib.pl_gpu_occupancy(self._open, threads, registers, shared, barriers, out),
                    "occupancy")
        return {name: getattr(out, name) for name, _ in _ffi.typeof("pl_occupancy_info").fields}

    def messages(self):
        """Diagnostics since the last call that failed or cleared them: dictionaries."""
        found = []
        for k in range(_lib.pl_gpu_diag_count(self._open)):
            m = _lib.pl_gpu_diag(self._gpu, k, False)
            found.append({"severity": _text(m.severity), "code": _text(m.code),
                          "file": _text(m.file), "line": m.line, "column": m.column,
                          "text": _text(m.text), "help": _text(m.help),
                          "source": _text(m.source), "rendered": _text(m.rendered)})
        return found

    def _take_messages(self):
        found = self.messages()
        _lib.pl_gpu_diag_clear(self._gpu)
        return found

    def _check(self, status, what):
        """Raises what a status means; warnings of a success are dropped."""
        if status == _lib.PL_OK:
            return
        found = self._take_messages()
        if status == _lib.PL_NOMEM:
            raise MemoryError("ptxloom: no memory for %s" % what)
        raise Error("".join(m["rendered"] for m in found).rstrip() or "%s was refused" % what,
                    found)

    def load(self, ptx, name="text.ptx", optimize=True):
        """Assembles a PTX text. `optimize`: as ptxas would; else one machine instruction per PTX
        instruction."""
        text = ptx.encode() if isinstance(ptx, str) else bytes(ptx)
        out = _ffi.new("pl_module **")
        options = _ffi.new("pl_load_options *", {"opt_level": 2 if optimize else 0, "threads": 1})
        self._check(_lib.pl_module_load(self._open, name.encode(), text, len(text), options, out),
                    name)
        return Module(self, out[0])

    def load_file(self, *paths, optimize=True):
        """Assembles PTX files and links them, or reads an object file."""
        names = [_ffi.new("char[]", os.fsencode(p)) for p in paths]
        out = _ffi.new("pl_module **")
        options = _ffi.new("pl_load_options *", {"opt_level": 2 if optimize else 0, "threads": 1})
        self._check(_lib.pl_module_load_files(self._open, _ffi.new("char *[]", names), len(names),
                                              options, out), ", ".join(map(str, paths)))
        return Module(self, out[0])

    def array(self, values, name=None):
        """Copies a numpy array (or what numpy makes one of) to the GPU. Messages show the name."""
        import numpy
        host = numpy.ascontiguousarray(values)
        if host.dtype.hasobject:
            raise TypeError("an array of Python objects cannot be copied to the GPU")
        host = host.astype(host.dtype.newbyteorder("="), copy=False)
        made = Array(self, host.shape, host.dtype, name)
        made.set(host)
        return made

    def zeros(self, shape, dtype="float32"):
        """An array of zeros on the GPU."""
        import numpy
        return self.array(numpy.zeros(shape, dtype))

    def trace(self, path, level="inst", packed=False, force=False):
        """Opens a trace for launches. `level`: summary, inst or mem. Use it in a with statement;
        the file gets its name at the end, and none when the block raises."""
        return Trace(self, path, level, packed, force)


class Array:
    """Memory of the GPU with the shape and type of a numpy array."""

    def __init__(self, gpu, shape, dtype, name=None):
        import numpy
        self.gpu = gpu
        self.dtype = numpy.dtype(dtype)
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.size = 1
        for n in self.shape:
            self.size *= n
        self.nbytes = self.size * self.dtype.itemsize
        self.address = 0
        out = _ffi.new("pl_ptr *")
        shown = _ffi.new("char[]", name.encode()) if name else _ffi.NULL
        gpu._check(_lib.pl_alloc_device(gpu._open, max(self.nbytes, 1), shown, out), "an array")
        self.address = out[0]

    def set(self, values):
        """Copies from the host; the number of elements must be the same."""
        import numpy
        host = numpy.ascontiguousarray(values, self.dtype)
        if host.size != self.size:
            raise ValueError("%d elements for an array of %d" % (host.size, self.size))
        if self.nbytes:
            self.gpu._check(_lib.pl_copy_to_device(self.gpu._open, self.address,
                                                   _ffi.from_buffer(host), self.nbytes), "a copy")

    def get(self):
        """Copies to the host: a numpy array."""
        import numpy
        host = numpy.empty(self.shape, self.dtype)
        if self.nbytes:
            self.gpu._check(_lib.pl_copy_from_device(self.gpu._open,
                                                     _ffi.from_buffer(host, require_writable=True),
                                                     self.address, self.nbytes), "a copy")
        return host

    def free(self):
        """Frees the memory now instead of with the object."""
        if self.address and self.gpu._gpu != _ffi.NULL:
            _lib.pl_free_device(self.gpu._gpu, self.address)
        self.address = 0

    def __del__(self):
        if getattr(self, "address", 0):
            self.free()

    def __len__(self):
        return self.shape[0] if self.shape else 1

    def __repr__(self):
        return "<ptxloom.Array %s %s at 0x%x>" % (self.dtype, self.shape, self.address)


class Module:
    """An assembled program; module["name"] is a kernel."""

    def __init__(self, gpu, module):
        self.gpu = gpu
        self._module = module

    def close(self):
        if self._module != _ffi.NULL and self.gpu._gpu != _ffi.NULL:
            _lib.pl_module_close(self._module)
        self._module = _ffi.NULL

    def __del__(self):
        self.close()

    @property
    def _open(self):
        if self._module == _ffi.NULL or self.gpu._gpu == _ffi.NULL:
            raise ValueError("this module is closed")
        return self._module

    @property
    def kernels(self):
        return [_text(_lib.pl_module_kernel_name(self._open, k))
                for k in range(_lib.pl_module_kernel_count(self._open))]

    def __getitem__(self, name):
        if name not in self.kernels:
            raise KeyError("no kernel '%s'; there are: %s" % (name, ", ".join(self.kernels)))
        return Kernel(self, name)

    def symbol(self, name):
        """Address and size in bytes of a variable of the module."""
        address, size = _ffi.new("pl_ptr *"), _ffi.new("uint64_t *")
        if _lib.pl_module_symbol(self._open, name.encode(), address, size) != _lib.PL_OK:
            _lib.pl_gpu_diag_clear(self.gpu._gpu)
            raise KeyError(name)
        return address[0], size[0]

    def read(self, name, dtype="uint8"):
        """A variable of the module as a numpy array."""
        import numpy
        address, size = self.symbol(name)
        host = numpy.empty(size, "uint8")
        self.gpu._check(_lib.pl_copy_from_device(self.gpu._gpu,
                                                 _ffi.from_buffer(host, require_writable=True),
                                                 address, size), name)
        return host.view(dtype)

    def write(self, name, values):
        """Gives a variable of the module the bytes of a numpy array."""
        import numpy
        host = numpy.ascontiguousarray(values)
        address, size = self.symbol(name)
        if host.nbytes > size:
            raise ValueError("'%s' has %d bytes, not %d" % (name, size, host.nbytes))
        self.gpu._check(_lib.pl_copy_to_device(self.gpu._gpu, address, _ffi.from_buffer(host),
                                               host.nbytes), name)

    def listing(self):
        """The machine program: dictionaries with pc, kernel, text, ptx_line, src_file, src_line."""
        rows = []
        for pc in range(_lib.pl_module_code_size(self._open)):
            i = _lib.pl_module_listing(self._module, pc)
            rows.append({"pc": pc, "kernel": _text(i.kernel), "text": _text(i.text),
                         "ptx_line": i.ptx_line, "src_file": _text(i.src_file),
                         "src_line": i.src_line})
        return rows


_PACK = {"u8": "B", "s8": "b", "u16": "H", "s16": "h", "u32": "I", "s32": "i", "u64": "Q",
         "s64": "q", "f16": "e", "f32": "f", "f64": "d", "b8": "B", "b16": "H", "b32": "I",
         "b64": "Q"}


class _Copy:
    """A numpy array that is an argument, and its copy on the GPU. shared: another argument has
    a part of its memory; others: those before it."""

    def __init__(self, name, host, device, others):
        self.name = name
        self.host = host
        self.device = device
        self.shared = bool(others)
        for c in others:
            c.shared = True


def _is_same(a, b):
    """True if both are the same elements of the same memory."""
    return a is b or (a.shape == b.shape and a.dtype == b.dtype and a.strides == b.strides
                      and a.ctypes.data == b.ctypes.data)


def _overlap(a, b):
    import numpy
    try:
        return numpy.shares_memory(a, b, max_work=10000)
    except numpy.TooHardError:
        return True


def _copy_back(copies):
    """Copies arguments from the GPU and frees them there. Returns a message if the kernel wrote to
    memory that it must not change, or that two arguments share."""
    error = None
    for c in copies:
        values = c.device.get()
        c.device.free()
        if c.host.flags.writeable and not c.shared:
            c.host[...] = values
        elif values.tobytes() != c.host.astype(values.dtype, "C").tobytes():
            error = error or ("the kernel wrote to '%s', a read-only array" % c.name
                              if not c.host.flags.writeable else
                              "the kernel wrote to '%s', which shares memory with another argument: "
                              "use gpu.array" % c.name)
    return error


class Kernel:
    """A kernel of a module. Call it to launch it."""

    def __init__(self, module, name):
        self.module = module
        self.name = name
        info = _ffi.new("pl_kernel_info *")
        module.gpu._check(_lib.pl_module_kernel(module._open, name.encode(), info), name)
        self._bytes = info.param_bytes
        self._count = info.nparams
        for field in ("registers", "static_shared", "local_bytes", "spill_loads", "spill_stores"):
            setattr(self, field, getattr(info, field))

    def params(self):
        """The parameters: (name, type, offset, size)."""
        found = []
        for k in range(self._count):
            p = _lib.pl_module_param(self.module._open, self.name.encode(), k)
            found.append((_text(p.name), _text(p.type), p.offset, p.size))
        return found

    def _pack_one(self, block, param, value, copies):
        import numpy
        name, kind, offset, size = param
        if isinstance(value, numpy.ndarray) and value.ndim:
            device = next((c.device for c in copies if _is_same(c.host, value)), None)
            if device is None:
                device = self.module.gpu.array(value, "parameter " + name)
                copies.append(_Copy(name, value, device,
                                    [c for c in copies if _overlap(c.host, value)]))
            value = device
        if isinstance(value, Array):
            if size != 8:
                raise TypeError("parameter '%s' is a %s and takes no array" % (name, kind))
            value = value.address
        if (isinstance(value, (numpy.generic, numpy.ndarray)) and value.dtype.kind in "biuf"
                and kind in _PACK and kind[0] != "b"):
            value = float(value) if value.dtype.kind == "f" else int(value)
        if isinstance(value, (bytes, bytearray)):
            data = bytes(value)
        elif isinstance(value, numpy.generic) or isinstance(value, numpy.ndarray):
            data = value.tobytes()
        elif value is None or isinstance(value, (list, tuple)):
            raise TypeError("parameter '%s' is a %s: pass a number or a numpy array, not a %s"
                            % (name, kind, type(value).__name__))
        elif kind in _PACK:
            code = _PACK[kind]
            if isinstance(value, float) and kind in ("b16", "b32", "b64"):
                code = {"b16": "e", "b32": "f", "b64": "d"}[kind]
            try:
                bits = value
                if code in "bhiqBHIQ":
                    # nvcc declares int as .u32, too: only .s32 excludes the other half
                    least, end = -(1 << 8 * size - 1), 1 << 8 * size - (kind[0] == "s")
                    if not least <= operator.index(value) < end:
                        raise OverflowError("%d to %d" % (least, end - 1))
                    bits = operator.index(value) & (1 << 8 * size) - 1
                    code = code.upper()
                data = struct.pack("<" + code, bits)
            except OverflowError as e:
                raise OverflowError("parameter '%s' is a %s (%s): %s does not fit"
                                    % (name, kind, e, reprlib.repr(value))) from None
            except (struct.error, TypeError) as e:
                raise TypeError("parameter '%s' is a %s: %s does not fit"
                                % (name, kind, reprlib.repr(value))) from e
        else:
            raise TypeError("parameter '%s' is a %s: give bytes or a numpy value" % (name, kind))
        if len(data) != size:
            raise TypeError("parameter '%s' is a %s of %d bytes, not of %d"
                            % (name, kind, size, len(data)))
        block[offset:offset + size] = data

    def _pack(self, args):
        params = self.params()
        if len(args) != len(params):
            raise TypeError("kernel '%s' takes %d arguments (%s), not %d"
                            % (self.name, len(params),
                               ", ".join("%s %s" % (p[1], p[0]) for p in params), len(args)))
        block, copies = bytearray(self._bytes), []
        for param, value in zip(params, args):
            self._pack_one(block, param, value, copies)
        return block, copies

    def __call__(self, *args, grid, block, cluster=(0, 0, 0), shared=0, mode="timing", threads=1,
                 cooperative=False, trace=None, metrics=None, check=None, name=None):
        """Launches the kernel and returns a Result.

        An argument is a number, a numpy value, an Array, bytes (a structure), or a numpy array,
        which is copied to the GPU before the launch and back after it. grid, block, cluster: a
        number or up to three. mode: "timing" or "functional". trace: of GPU.trace. metrics: names
        with commas, or "all". check: "mem,race,init,sync" or "all"; the findings are in the
        result."""
        gpu, module = self.module.gpu, self.module
        if mode not in ("timing", "functional"):
            raise ValueError('mode is "timing" or "functional", not %r' % (mode,))
        packed, copies = self._pack(args)
        params = _ffi.new("char[]", bytes(packed)) if packed else _ffi.NULL
        launch = _ffi.new("pl_launch *", {
            "grid": _three(grid), "block": _three(block), "dynamic_shared": shared,
            "params": params, "param_bytes": len(packed), "threads": threads,
            "cooperative": cooperative,
            "mode": _lib.PL_MODE_TIMING if mode == "timing" else _lib.PL_MODE_FUNCTIONAL})
        kernel = _ffi.new("char[]", self.name.encode())
        launch.kernel = kernel
        if any(_three(cluster)) and cluster != (0, 0, 0):
            launch.cluster = _three(cluster)
        checks = _open_checks(gpu, check)
        own = Trace(gpu, None, "summary", False, False) if metrics and not trace else None
        sink = trace or own
        try:
            launch.checks = checks
            if sink:
                launch.sink = sink._begin(module, launch, name or self.name)
            out = _ffi.new("pl_result *")
            status = _lib.pl_launch_kernel(gpu._open, module._open, launch, out)
            if sink:
                sink._end(out)
            result = Result(gpu, status, out)
            result.metrics = sink._metrics(metrics) if metrics else {}
            result.findings = _findings(checks)
        finally:
            if checks != _ffi.NULL:
                _lib.pl_checks_close(checks)
            if own:
                own.close(False)
        error = _copy_back(copies)
        if status == _lib.PL_FAULT:
            found = gpu._take_messages()
            raise Fault("".join(m["rendered"] for m in found).rstrip(), found, result.error, result)
        gpu._check(status, "kernel '%s'" % self.name)
        if error:
            raise ValueError(error)
        return result


class Result:
    """What a launch did: cycles (None in functional mode), instructions (of warps),
    thread_instructions, seconds (of emulation), registers, occupancy, counters, metrics, findings,
    and `printed`, the text of printf."""

    def __init__(self, gpu, status, r):
        self.ok = status == _lib.PL_OK
        self.cycles = r.cycles or None
        self.instructions = r.inst_executed
        self.thread_instructions = r.thread_inst_executed
        self.seconds = r.wall_seconds
        self.error = _text(r.error)
        self.registers = r.registers
        self.shared = r.static_shared + r.dynamic_shared
        self.occupancy = r.theoretical_occupancy
        self.counters = {}
        for k in range(r.ncounters):
            c = r.counter[k]
            key = _text(c.name)
            self.counters[key] = self.counters.get(key, 0.0) + c.value
        size = _ffi.new("size_t *")
        text = _lib.pl_gpu_printed_bytes(gpu._gpu, size)
        self.printed = (_ffi.buffer(text, size[0])[:].decode("utf-8", "replace")
                        if text != _ffi.NULL else "")
        self.metrics = {}
        self.findings = []

    def __repr__(self):
        return "<ptxloom.Result %s cycles, %d instructions>" % (self.cycles, self.instructions)


class Finding:
    """What a checker found: tool, kind, severity, space, kernel, file, line, other_line, block,
    thread, address, bytes, count, text, help. `ptxloom.explain(f"{tool}-{kind}")` teaches it."""

    def __init__(self, f):
        for field in ("tool", "kind", "severity", "space", "kernel", "file", "other_file", "text",
                      "help"):
            setattr(self, field, _text(getattr(f, field)))
        for field in ("line", "other_line", "address", "bytes", "count", "seed"):
            setattr(self, field, getattr(f, field))
        for field in ("block", "thread", "other_block", "other_thread"):
            setattr(self, field, tuple(getattr(f, field)))

    def __repr__(self):
        return "<%s-%s %s:%d: %s>" % (self.tool, self.kind, self.file, self.line, self.text)


def _open_checks(gpu, tools):
    if not tools:
        return _ffi.NULL
    words = _ffi.new("char[]", tools.encode())
    out = _ffi.new("pl_checks **")
    options = _ffi.new("pl_checks_options *", {"tools": words})
    gpu._check(_lib.pl_checks_open(gpu._open, options, out), "check=%r" % tools)
    return out[0]


def _findings(checks):
    if checks == _ffi.NULL:
        return []
    return [Finding(_lib.pl_checks_finding(checks, k)) for k in range(_lib.pl_checks_count(checks))]


class Trace:
    """A trace that is being written; see GPU.trace."""

    def __init__(self, gpu, path, level, packed, force):
        levels = {"summary": _lib.PL_TRACE_SUMMARY, "inst": _lib.PL_TRACE_INST,
                  "mem": _lib.PL_TRACE_MEM}
        if level not in levels:
            raise ValueError("level is one of %s, not %r" % (", ".join(levels), level))
        self.gpu = gpu
        self._trace = _ffi.NULL
        out = _ffi.new("pl_trace **")
        options = _ffi.new("pl_trace_options *",
                           {"level": levels[level], "packed": packed, "force": force})
        name = _ffi.NULL if path is None else os.fsencode(path)
        gpu._check(_lib.pl_trace_open(gpu._open, name, options, out), str(path))
        self._trace = out[0]

    def _begin(self, module, launch, name):
        if self._trace == _ffi.NULL:
            raise ValueError("this trace is closed")
        sink = _lib.pl_trace_begin(self._trace, module._open, launch, name.encode())
        why = _text(_lib.pl_trace_error(self._trace))
        if why:
            raise Error(why)
        return sink

    def _end(self, result):
        self._check(_lib.pl_trace_end(self._trace, result))

    def _check(self, status):
        if status != _lib.PL_OK:
            raise Error(_text(_lib.pl_trace_error(self._trace)) or "the trace cannot be written")

    def _metrics(self, names):
        out, n = _ffi.new("pl_metric **"), _ffi.new("size_t *")
        self.gpu._check(_lib.pl_trace_metrics(self._trace, names.encode(), out, n), "metrics")
        return {_text(out[0][k].name): out[0][k].value for k in range(n[0]) if out[0][k].known}

    def close(self, keep=True):
        """Finishes the file; keep=False: drops it."""
        if self._trace == _ffi.NULL:
            return
        trace, self._trace = self._trace, _ffi.NULL
        if self.gpu._gpu != _ffi.NULL:
            self.gpu._check(_lib.pl_trace_close(trace, keep), "the trace")

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.close(keep=kind is None)

    def __del__(self):
        self.close(keep=False)


def connect(path):
    """Opens a trace for reading: an sqlite3.Connection whose rows are sqlite3.Row. Packed traces
    are read through SQLite's extension of ptxloom."""
    if not os.path.exists(path):
        raise FileNotFoundError(path)
    db = sqlite3.connect("file:%s?mode=ro" % os.path.abspath(path).replace("%", "%25")
                         .replace("?", "%3f").replace("#", "%23"), uri=True)
    db.row_factory = sqlite3.Row
    try:
        packed = db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'packed_data'").fetchone()
    except sqlite3.DatabaseError:
        db.close()
        raise
    if packed:
        db.enable_load_extension(True)
        db.load_extension(os.environ.get("PTXLOOM_EXTENSION", _library.EXTENSION))
        db.enable_load_extension(False)
    return db


class _Parameters(dict):
    """Parameters of a query; NULL where the caller names none."""

    def __missing__(self, _):
        return None


def query(db, name, **parameters):
    """Runs a named query of a trace ("summary", "hot_lines", ...), or SQL; the parameters are those
    of the query, such as kernel=1 or limit=10. A table, a view or a metric is read as a whole.
    Returns the rows."""
    sql = _text(_lib.pl_trace_query(name.encode()))
    if not sql and len(name.split()) == 1:
        known = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type IN "
                                              "('table', 'view') UNION SELECT name FROM query")]
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            raise KeyError("no query, table or view is called '%s'%s"
                           % (name, "; did you mean '%s'?" % near[0] if near else ""))
        sql = 'SELECT * FROM "%s"' % name
    return db.execute(sql or name, _Parameters(parameters)).fetchall()


def explain(topic):
    """What `ptxloom explain` says about an instruction, a message, a metric, a finding or a term.
    KeyError: nothing is known by that name."""
    out = _ffi.new("pl_gpu **")
    if _lib.pl_gpu_open(out, _ffi.NULL) != _lib.PL_OK:
        raise MemoryError("ptxloom: no memory")
    try:
        text = _text(_lib.pl_explain(out[0], topic.encode()))
        if text is None:
            raise KeyError("nothing is known about '%s'" % topic)
        return text
    finally:
        _lib.pl_gpu_close(out[0])


def report(trace, out="report.html", baseline=None, force=False):
    """Writes the HTML report about a trace, as `ptxloom report` does. Returns the path."""
    gpu = GPU("toy")
    options = _ffi.new("pl_report_options *", {"force": force})
    if baseline is not None:
        other = _ffi.new("char[]", os.fsencode(baseline))
        options.baseline = other
    gpu._check(_lib.pl_trace_report(gpu._open, os.fsencode(trace), os.fsencode(out), options),
               str(out))
    return out
