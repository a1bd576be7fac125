"""Entries of GPU kernels: what they may contain, what becomes of them, in PTX and in the simulator."""

import os
import subprocess
import sys

import numpy as np
import pytest

from routh.compiling import compiled, kernel
from routh.compiling.threads import any_in_warp, thread_number
from routh.compiling.values import UntranslatableError
from routh.gpu.ptx import GpuKernel, gpu_kernel

FLOATS, COUNTS = ("array", "float64", 1), ("array", "int64", 1)


@kernel
def product_and_sum(x, y):
    return x * y + 1.0


def _adds(x, out):
    i = thread_number()
    if i < len(out):
        out[i] = product_and_sum(x[i], x[0])


def test_products_and_sums_are_not_fused_and_everything_is_one_function():
    text = GpuKernel(_adds, registers=40).ptx((FLOATS, FLOATS), 90, 64)
    assert "fma" not in text
    assert "mul.rn.f64" in text
    assert "add.rn.f64" in text
    assert "call" not in text
    assert ".maxntid 64" in text
    assert ".maxnreg 40" in text
    assert ".target sm_90" in text


def test_what_is_named_stays_a_function_of_its_own():
    text = GpuKernel(_adds, called=(product_and_sum,)).ptx((FLOATS, FLOATS), 90, 64)
    assert "call" in text
    assert "product_and_sum" in text


def test_loops_need_not_be_unrolled_and_threads_of_a_warp_ask_each_other():
    def entry(x, out):
        i = thread_number()
        while any_in_warp(x[i] < 1.0):
            for k in range(8):
                x[i] += out[k]

    text = GpuKernel(entry, unrolled=False).ptx((FLOATS, FLOATS), 90, 64)
    assert '.pragma "nounroll"' in text
    assert "vote.sync.any" in text


def test_where_it_is_allowed_they_are_fused():
    fused = compiled(product_and_sum, fastmath={"contract"})

    def entry(x, out):
        out[thread_number()] = fused(x[0], x[1])

    assert "fma.rn.f64" in GpuKernel(entry).ptx((FLOATS, FLOATS), 80, 32)


def test_what_a_gpu_does_not_have_is_refused_and_does_not_end_the_process():
    import math

    def entry(x, out):
        out[0] = math.sin(x[0]) ** x[1]

    with pytest.raises(UntranslatableError, match=r"entry|calls llvm.*a GPU does not have"):
        GpuKernel(entry).ptx((FLOATS, FLOATS), 90, 32)


def test_what_only_entries_call_is_refused_elsewhere():
    @kernel
    def lost(out):
        out[0] = thread_number()

    with pytest.raises(UntranslatableError, match="a kernel may not"):
        lost(np.zeros(1))


@pytest.mark.parametrize("length", ["n", "x.shape[0]"])
def test_an_own_array_has_a_shape_that_is_known(length, tmp_path):
    path = tmp_path / "entry.py"
    path.write_text(
        "import numpy as np\nfrom routh.compiling.threads import own_array\n\n\n"
        f"def entry(x, n):\n    own = own_array({length}, np.float64)\n    own[0] = x[0]\n"
    )
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    with pytest.raises(UntranslatableError, match="whose shape is not known"):
        GpuKernel(names["entry"]).ptx((FLOATS, "i"), 90, 32)


SIMULATED = """
import numpy as np
from routh.gpu import device
from routh.gpu.ptx import gpu_kernel
from routh.gpu.driver import gpu
from routh.compiling.threads import add_atomically, any_in_warp, own_array, thread_count, thread_number


def entry(values, counts, listed, seen, scale):
    own = own_array((2, 3), np.float64)
    flags = own_array(2, np.bool_)
    if thread_number() == 0:
        seen[0], seen[1], seen[2] = own[1, 2], 1.0 if flags[1] else 0.0, thread_count()
    for i in range(thread_number(), len(values), thread_count()):
        own[0, 0] = values[i] * scale
        values[i] = own[0, 0]
        if any_in_warp(values[i] > 4.0):  # each thread runs alone
            listed[add_atomically(counts, 0, 1)] = i


made = gpu_kernel(entry)
values, counts, listed, seen = (
    device.sent(one) for one in (np.arange(7.0), np.zeros(1, np.int32), np.full(7, -1), np.zeros(3))
)
made[2, 2](values, counts, listed, seen, 2.0)
found = [np.empty(one.shape, one.dtype) for one in (values, counts, listed, seen)]
for array, one in zip(found, (values, counts, listed, seen)):
    one.copy_to_host(array)
assert found[0].tolist() == [0, 2, 4, 6, 8, 10, 12]
assert found[1].tolist() == [4]
assert sorted(found[2][:4].tolist()) == [3, 4, 5, 6]
assert np.isnan(found[3][0]) and found[3][1:].tolist() == [1.0, 4.0]  # nobody had written there

# parts, and other shapes
matrix = device.sent(np.arange(12.0).reshape(4, 3))
part = np.empty((2, 3))
matrix[1:3].copy_to_host(part)
assert part.tolist() == [[3, 4, 5], [6, 7, 8]]
row = np.empty(3)
matrix[-1].copy_to_host(row)
assert row.tolist() == [9, 10, 11]
assert matrix.reshape(6, 2).shape == (6, 2) and matrix[3:1].shape == (0, 3)
wrong = lambda: matrix[4], lambda: matrix[::2], lambda: matrix.reshape(5), lambda: matrix.copy_to_host(row)
wrong += (lambda: matrix.broadcast("matrix", (2, 3)),)
for call in wrong:
    try:
        call()
    except (IndexError, ValueError):
        continue
    raise AssertionError

# to others and from others, nothing copied
held = len(gpu()._held)
seen = np.from_dlpack(matrix)
assert seen.tolist() == np.arange(12.0).reshape(4, 3).tolist() and seen.ctypes.data == matrix.address
del matrix, part
assert seen[3, 2] == 11.0 and len(gpu()._held) == held
del seen
assert len(gpu()._held) == held - 1
kept = device.sent(np.zeros(2)).__dlpack__()
assert len(gpu()._held) == held
del kept
assert len(gpu()._held) == held - 1
given = np.arange(6, dtype=np.int32).reshape(2, 3).T
taken = device.shared(given)
assert (taken.address, taken.shape, taken.dtype) == (given.ctypes.data, (3, 2), np.int32)
assert taken.view.strides == (4, 12) and not taken.is_dense and taken.numpy().tolist() == given.tolist()
assert taken.broadcast("taken", (4, 3, 2)).numpy().tolist() == [given.tolist()] * 4


class Theirs:
    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = {
            "shape": array.shape, "typestr": array.dtype.str, "data": (array.ctypes.data, False),
            "version": 3, "strides": array.strides,
        }


def total(matrix, out):
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            out[i] += matrix[i, j]


out = device.sent(np.zeros(3))
gpu_kernel(total)[1, 1](device.shared(Theirs(np.arange(6.0).reshape(2, 3).T)), out)
sums = np.empty(3)
out.copy_to_host(sums)
assert sums.tolist() == [3.0, 5.0, 7.0]
assert device.is_on_gpu(Theirs(given)) and device.is_on_gpu(out) and not device.is_on_gpu(given)
from routh.compiling import compile_seconds
print("whole", compile_seconds() > 0.0)
"""


def test_a_simulated_gpu_and_its_arrays(tmp_path):
    path = tmp_path / "simulated.py"
    path.write_text(SIMULATED)
    place = {**os.environ, "ROUTH_SIMULATE_GPU": "1", "ROUTH_CACHE_DIR": str(tmp_path)}
    for compiles in (True, False):  # the second process finds the kernels on disk
        done = subprocess.run([sys.executable, str(path)], env=place, capture_output=True, text=True)
        assert done.stdout == f"whole {compiles}\n", done.stderr[-3000:]


def test_arrays_of_the_host_are_no_arrays_of_a_gpu():
    made = gpu_kernel(_adds)
    with pytest.raises(TypeError, match="wanted one of the GPU"):
        made[1, 1](np.zeros(2), np.zeros(2))


class _Failing:
    """A driver that knows a function and fails in it."""

    def cuInit(self, flags):
        return (100,)

    def cuGetErrorString(self, code):
        return 0, b"no CUDA-capable device is detected"


def test_a_driver_without_a_device_says_so(monkeypatch):
    from routh.base.status import NoGPUError
    from routh.gpu import driver

    monkeypatch.setattr(driver.ctypes, "CDLL", lambda name: None)
    monkeypatch.setattr(driver, "optional", lambda *names: _Failing())
    with pytest.raises(NoGPUError, match=r"wanted a machine with an NVIDIA GPU.*cuInit: no CUDA-capable"):
        driver.Driver()
