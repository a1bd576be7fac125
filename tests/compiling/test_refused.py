"""What a kernel may not contain is refused, with the file, the line and what was wrong."""

import math

import numpy as np
import pytest

from routh.compiling import kernel
from routh.compiling.values import UntranslatableError

BODIES = {
    "x = [1.0]": "a kernel may not contain [1.0]",
    "x = {}": "a kernel may not contain {}",
    "x = sorted(values)": "a kernel may not contain sorted(values)",
    "x = values.sum()": "a kernel may not contain values.sum",
    "x = values + 1.0": "values is no number",
    "x = values[::2]": "a slice with steps",
    "x = values[0.5]": "an index that is no integer",
    "values[0] = (1.0, 2.0)": "values[0] cannot be set to a tuple",
    "x = 1\n    x = (1, 2)": "one variable for an integer and for a tuple",
    "x = values[0] // 2.0": "FloorDiv of floats; wanted integers",
    "x = values[0] % 2.0": "Mod of floats; wanted integers",
    "x = ~k": "a kernel may not contain ~k",
    "x = k @ k": "a kernel may not contain MatMult",
    "x = k ** m": "an integer to a power that is not known",
    "x = values[0] ** 0.5": "a power that is no integer: wanted math.pow",
    "x = k << 64": "a shift by 64; wanted 0 to 63",
    "x = np.uint64(k) + k": "signed and unsigned integers together",
    "x = values[0] or 1.0": "values[0] is no bool",
    "x = nothing": "nothing is not known",
    "x = math.nothing": "math.nothing is not known",
    "x = math.gamma(1.0)": "a kernel may not call gamma",
    "x = max(k, key=k)": "arguments are given one by one, by position",
    "x = y": "y is not known",
    "x = late\n    late = 1": "late is read before it is set",
    "x = (1, 2)[k]": "a place in a tuple that is not known",
    "x = (1, 2)[2]": "the tuple has 2 parts",
    "for i in range(0, 9, k):\n        pass": "a loop in steps that are not known",
    "for i in values:\n        pass": "a loop over values",
    "while k > 0:\n        k -= 1\n    else:\n        pass": "else after a loop",
    "raise ValueError": "a kernel may not contain raise ValueError",
    "assert k": "a kernel may not contain assert k",
    "with k:\n        pass": "a kernel may not contain with k:",
    "try:\n        pass\n    finally:\n        pass": "a kernel may not contain try:",
    "values.size = 3": "values.size cannot be set to an integer",
    "x = k is m": "a kernel may not contain k is m",
    "x = inner(1.0, 2.0)": "inner: got 2 arguments; wanted 1",
    "x = itself(values, k, m)": "itself calls itself",
    "x = helper(1.0)": "a kernel may not call inner",
}


def inner(x):
    return x


@pytest.mark.parametrize("body", BODIES)
def test_refused(body, tmp_path):
    path = tmp_path / "refused.py"
    path.write_text(f"def itself(values, k, m):\n\n    {body}\n    return 0.0\n")
    names = {"np": np, "math": math, "inner": kernel(inner), "helper": inner}
    exec(compile(path.read_text(), str(path), "exec"), names)
    names["itself"] = made = kernel(names["itself"])
    with pytest.raises(UntranslatableError) as caught:
        made(np.ones(3), 2, 3)
    place, _, rest = str(caught.value).partition(": ")
    assert rest.startswith("kernel itself: ")
    assert BODIES[body] in rest
    line = int(place.rpartition(":")[2])
    assert place == f"{path}:{line}"
    assert 3 <= line <= 4 + body.count("\n")


def test_what_is_refused_in_a_kernel_that_is_called_is_named_there(tmp_path):
    path = tmp_path / "two.py"
    path.write_text("def low(x):\n    return {x}\n\n\ndef high(x):\n    return low(x)\n")
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    names["low"] = kernel(names["low"])
    with pytest.raises(UntranslatableError, match=r"two.py:2: kernel low: "):
        kernel(names["high"])(1.0)


@pytest.mark.parametrize("keyword", ["*values", "*, values", "**values"])
def test_arguments_come_by_position(keyword, tmp_path):
    path = tmp_path / "wide.py"
    path.write_text(f"def wide({keyword}):\n    return 0.0\n")
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    with pytest.raises(UntranslatableError, match="by position"):
        kernel(names["wide"])()
