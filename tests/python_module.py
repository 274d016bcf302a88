"""python_module.py ROOT - what the Python module promises; prints TAP."""

import os
import sys
import traceback

import numpy as np
import ptxloom

root = sys.argv[1]
tests = []


def test(function):
    tests.append(function)
    return function


def raises(kind, function, *args, **named):
    try:
        function(*args, **named)
    except kind as error:
        return error
    raise AssertionError("no %s" % kind.__name__)


def saxpy(gpu):
    return gpu.load_file(os.path.join(root, "examples", "saxpy.ptx"))["saxpy"]


@test
def numpy_arrays_round_trip():
    gpu = ptxloom.GPU("toy")
    x, y = np.full(128, 3, np.float32), np.arange(128, dtype=np.float32)
    result = saxpy(gpu)(128, 2.0, x, y, grid=2, block=64)
    assert np.array_equal(y, 6 + np.arange(128, dtype=np.float32))
    assert result.cycles > 100 and result.instructions == 4 * 19, result
    assert np.array_equal(x, np.full(128, 3, np.float32))


@test
def arrays_stay_on_the_gpu():
    gpu = ptxloom.GPU("toy")
    x, y = gpu.array(np.ones(128, np.float32)), gpu.zeros(128)
    kernel = saxpy(gpu)
    for _ in range(3):
        kernel(128, 1.5, x, y, grid=2, block=64, mode="functional")
    assert np.array_equal(y.get(), np.full(128, 4.5, np.float32))
    y.set(np.zeros(128))
    assert not y.get().any() and len(y) == 128


@test
def functional_mode_has_no_cycles():
    gpu = ptxloom.GPU("toy")
    y = np.zeros(64, np.float32)
    assert saxpy(gpu)(64, 1.0, y, y, grid=1, block=64, mode="functional").cycles is None


@test
def parameters_are_reported():
    kernel = saxpy(ptxloom.GPU("toy"))
    assert [p[1] for p in kernel.params()] == ["u32", "f32", "u64", "u64"], kernel.params()
    error = raises(TypeError, kernel, 1, 2.0, grid=1, block=32)
    assert "takes 4 arguments" in str(error)
    error = raises(TypeError, kernel, 1, b"12345678", 0, 0, grid=1, block=32)
    assert "is a f32 of 4 bytes, not of 8" in str(error)
    for n in (1.0, "1", np.float32(1)):
        assert "does not fit" in str(raises(TypeError, kernel, n, 2.0, 0, 0, grid=1, block=32))
    for n in (1 << 32, -(1 << 31) - 1, np.int64(1 << 32)):
        error = raises(OverflowError, kernel, n, 2.0, 0, 0, grid=1, block=32)
        assert "is a u32 (-2147483648 to 4294967295)" in str(error), error
    raises(OverflowError, kernel, 1, 1e39, 0, 0, grid=1, block=32)
    for x in ([1.0, 2.0], None):
        assert "numpy array" in str(raises(TypeError, kernel, 1, 2.0, x, 0, grid=1, block=32))


@test
def negative_numbers_in_unsigned_parameters():
    # nvcc declares int and unsigned parameters alike, as .u32
    body = "ld.param.u64 %rd1, [p]; ld.param.b32 %r1, [n]; st.global.b32 [%rd1], %r1; ret;"
    for kind, most in (("u32", 0xffffffff), ("b32", 0xffffffff), ("s32", 0x7fffffff)):
        kernel = ptxloom.GPU("toy").load(
            ".version 8.0\n.target sm_80\n.address_size 64\n"
            ".visible .entry k(.param .u64 p, .param .%s n)\n"
            "{ .reg .b64 %%rd<2>; .reg .b32 %%r<2>; %s }" % (kind, body))["k"]
        for n in (-1, np.int32(-1), -(1 << 31), most):
            y = np.zeros(1, np.uint32)
            kernel(y, n, grid=1, block=1, mode="functional")
            assert y[0] == int(n) & 0xffffffff, (kind, n, y)
        raises(OverflowError, kernel, y, most + 1, grid=1, block=1)


@test
def numpy_numbers_are_converted():
    kernel = saxpy(ptxloom.GPU("toy"))
    for n, a in ((np.int64(32), np.int32(2)), (np.uint8(32), np.float64(2)), (32, np.float16(2))):
        x, y = np.ones(32, np.float32), np.zeros(32, np.float32)
        kernel(n, a, x, y, grid=1, block=32, mode="functional")
        assert np.array_equal(y, np.full(32, 2, np.float32)), (n, a, y)


@test
def numpy_arrays_of_any_kind():
    gpu = ptxloom.GPU("toy")
    kernel = saxpy(gpu)
    x = np.arange(16, dtype=">f4")
    y = np.ones(16, ">f4")
    kernel(16, 2.0, x, y, grid=1, block=32)
    assert (y == 2 * np.arange(16) + 1).all(), y
    raises(TypeError, kernel, 16, 2.0, np.array([1, "x"], object), y, grid=1, block=32)
    z = np.arange(16, dtype=np.float32)
    kernel(16, 1.0, z, z, grid=1, block=32)
    assert (z == 2 * np.arange(16)).all(), z
    fixed = np.ones(16, np.float32)
    fixed.flags.writeable = False
    kernel(16, 1.0, fixed, z, grid=1, block=32)
    assert (z == 2 * np.arange(16) + 1).all(), z
    raises(ValueError, kernel, 16, 1.0, z, fixed, grid=1, block=32)
    both = np.arange(24, dtype=np.float32)
    raises(ValueError, kernel, 16, 1.0, both[:16], both[8:], grid=1, block=32)
    kernel(8, 1.0, both[:8], both[8:16], grid=1, block=32)
    assert (both[8:16] == 2 * np.arange(8) + 8).all(), both
    raises(KeyError, ptxloom.explain, "no such topic")


@test
def a_fault_names_the_parameter():
    x = np.ones(8, np.float32)
    error = raises(ptxloom.Fault, saxpy(ptxloom.GPU("toy")), 64, 2.0, x, x, grid=1, block=64)
    assert "past the end of 'parameter x'" in str(error), error


@test
def invalid_ptx_error_has_position():
    error = raises(ptxloom.Error, ptxloom.GPU("toy").load, ".version 8.0\n.target sm_90\nfoo;\n")
    assert error.messages[0]["line"] == 3 and error.messages[0]["code"].startswith("E")
    assert "text.ptx:3" in str(error)


@test
def a_fault_is_an_exception_with_cudas_name():
    gpu = ptxloom.GPU("toy")
    error = raises(ptxloom.Fault, saxpy(gpu), 128, 2.0, 0, 0, grid=1, block=64)
    assert error.name == "CUDA_ERROR_ILLEGAL_ADDRESS", error.name
    assert "saxpy.ptx" in str(error)


@test
def a_trace_is_an_sqlite_connection():
    for packed in (False, True):
        gpu = ptxloom.GPU("toy")
        y = np.zeros(64, np.float32)
        with gpu.trace("run.db", level="mem", packed=packed, force=True) as trace:
            result = saxpy(gpu)(64, 1.0, y, y, grid=1, block=64, trace=trace)
        db = ptxloom.connect("run.db")
        assert db.execute("SELECT cycles FROM kernel").fetchone()[0] == result.cycles
        assert db.execute("SELECT count(*) AS n FROM inst").fetchone()["n"] > 20
        rows = ptxloom.query(db, "hot_lines", limit=3)
        assert len(rows) == 3 and "issues" in rows[0].keys(), rows[0].keys()
        assert len(ptxloom.query(db, "ipc")) == 1
        assert "did you mean 'hot_lines'?" in str(raises(KeyError, ptxloom.query, db, "hot_line"))
        raises(ptxloom.sqlite3.OperationalError, db.execute, "DELETE FROM kernel")
        db.close()


@test
def a_trace_that_fails_leaves_no_file():
    gpu = ptxloom.GPU("toy")
    try:
        with gpu.trace("broken.db") as trace:
            saxpy(gpu)(128, 2.0, 0, 0, grid=1, block=64, trace=trace)
    except ptxloom.Fault:
        pass
    assert not os.path.exists("broken.db")


@test
def metrics_by_name():
    gpu = ptxloom.GPU("toy")
    y = np.zeros(64, np.float32)
    result = saxpy(gpu)(64, 1.0, y, y, grid=1, block=64, metrics="smsp__inst_executed.sum,ipc")
    assert result.metrics["smsp__inst_executed.sum"] == result.instructions
    raises(ptxloom.Error, saxpy(gpu), 64, 1.0, y, y, grid=1, block=64, metrics="no_such_metric")


@test
def checkers_find_a_race():
    gpu = ptxloom.GPU("toy")
    kernel = gpu.load(""".version 8.0
.target sm_90
.address_size 64
.visible .entry race(.param .u64 out)
{
    .reg .b32 t; .reg .b64 p;
    ld.param.u64 p, [out];
    mov.u32 t, %tid.x;
    st.global.u32 [p], t;
    ret;
}
""", name="race.ptx")["race"]
    result = kernel(np.zeros(1, np.uint32), grid=1, block=64, mode="functional", check="race")
    assert [f.tool for f in result.findings] == ["race"] and result.findings[0].line == 9
    finding = result.findings[0]
    assert ptxloom.explain("%s-%s" % (finding.tool, finding.kind))


@test
def variables_of_a_module():
    module = ptxloom.GPU("toy").load(".version 8.0\n.target sm_90\n.address_size 64\n"
                                     ".global .u32 table[4] = {1, 2, 3, 4};\n"
                                     ".visible .entry k() { ret; }\n")
    assert list(module.read("table", np.uint32)) == [1, 2, 3, 4]
    module.write("table", np.array([7, 8], np.uint32))
    assert list(module.read("table", np.uint32)) == [7, 8, 3, 4]
    raises(KeyError, module.symbol, "no_such")
    raises(KeyError, module.__getitem__, "no_such")
    assert module.kernels == ["k"] and module.listing()[0]["kernel"] == "k"


@test
def machine_properties():
    assert "h200" in ptxloom.machines() and "toy" in ptxloom.machines()
    gpu = ptxloom.GPU("h200")
    assert gpu.value("sm.count") == 132
    assert gpu.occupancy(256, 32)["blocks"] == 8
    assert "no_such" in str(raises(ptxloom.Error, ptxloom.GPU, "no_such"))


@test
def use_after_close_is_an_error():
    gpu = ptxloom.GPU("toy")
    kernel, array = saxpy(gpu), gpu.zeros(4)
    gpu.close()
    assert "closed" in str(raises(ValueError, array.get))
    assert "closed" in str(raises(ValueError, kernel, 1, 1.0, 0, 0, grid=1, block=1))


@test
def a_report_is_a_page():
    gpu = ptxloom.GPU("toy")
    y = np.zeros(64, np.float32)
    with gpu.trace("page.db", force=True) as trace:
        saxpy(gpu)(64, 1.0, y, y, grid=1, block=64, trace=trace)
    with open(ptxloom.report("page.db", "page.html")) as page:
        assert page.read().startswith("<!DOCTYPE html>")


print("1..%d" % len(tests))
for number, function in enumerate(tests, 1):
    try:
        function()
        print("ok %d - %s" % (number, function.__name__.replace("_", " ")))
    except Exception:
        print("not ok %d - %s" % (number, function.__name__.replace("_", " ")))
        print("".join("# " + line + "\n" for line in traceback.format_exc().splitlines()))
