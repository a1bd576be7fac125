"""Generated programs of everything that a kernel may contain: compiled and interpreted, bit for bit."""

import importlib.util
import math
import sys

import numpy as np
import pytest
from generated import HEAD, Programs

from routh.compiling.copies import faithful, typed

REALS = [0.0, -0.0, 1.5, -2.25, math.nan, math.inf, -math.inf, 1e308, 5e-324, 0.1]
WHOLES = [0, 1, -1, 7, -8, 2**63 - 1, -(2**63), 2**40 + 3]
FILES, PROGRAMS, TRIALS = 3, 12, 8


def arguments(module, rng, case):
    x, y = REALS[case % len(REALS)], REALS[rng.integers(len(REALS))]
    k, m = (WHOLES[rng.integers(len(WHOLES))] for _ in range(2))
    u = rng.integers(2**64, dtype=np.uint64)
    values = rng.normal(size=4)
    values[rng.integers(4)] = REALS[rng.integers(len(REALS))]
    grid, whole = rng.normal(size=(3, 2)), rng.integers(-50, 50, size=5)
    if case % 2:  # arrays that are not dense
        grid, whole = np.asfortranarray(grid), np.repeat(whole, 2)[::2]
    inner = module.Inner(rng.integers(-3, 9, size=3).astype(np.int64), float(rng.normal()))
    state = module.State(rng.normal(size=3), inner, int(rng.integers(-3, 3)))
    return x, y, k, m, u, bool(case % 3), values, grid, whole, state, np.zeros(4)


def copied(value):
    """Arrays with the same strides, in the same tuples."""
    if isinstance(value, np.ndarray):
        room = np.zeros(2 * value.size, value.dtype)
        made = np.lib.stride_tricks.as_strided(room, value.shape, value.strides)
        made[...] = value
        return made
    if isinstance(value, tuple):
        parts = map(copied, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def bits(value):
    """Everything in a value to the bit; NaN has one pattern."""
    if isinstance(value, np.ndarray):
        return [bits(one) for one in value.ravel().tolist()]
    if isinstance(value, tuple):
        return [bits(one) for one in value]
    if isinstance(value, float):
        return "nan" if math.isnan(value) else float(value).hex()
    return int(value)


def text_of(seed):
    programs = Programs(seed)
    return HEAD + "".join(programs.function(f"program{k}") for k in range(PROGRAMS))


@pytest.fixture(scope="module", params=range(FILES))
def module(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("generated") / f"generated_{request.param}.py"
    path.write_text(text_of(request.param))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    made = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    yield made
    del sys.modules[path.stem]


@pytest.mark.parametrize("number", range(PROGRAMS))
def test_compiled_programs_do_what_interpreted_ones_do(module, number):
    compiled = getattr(module, f"program{number}")
    interpreted = faithful(compiled)
    rng = np.random.default_rng(number)
    for case in range(TRIALS):
        given = arguments(module, rng, case)
        other = tuple(map(copied, given))
        with np.errstate(all="ignore"):
            wanted = interpreted(*typed(other, int))
        found = compiled(*given)
        assert bits(found) == bits(wanted), case
        for mine, theirs in zip(given, other, strict=True):
            assert bits(mine) == bits(theirs), case


def test_the_programs_contain_what_a_kernel_may():
    """So that the generator does not become poorer unseen."""
    text = "".join(map(text_of, range(FILES)))
    for word in (
        "//", "%", "<<", ">>", "min(", "max(", "break", "continue", "else:", "while ", "for s", " in (",
        "return", "state.inner", "stirred(", "isnan", "int(", "-1 -", "values[1:]", "*=", "x, y = y,",
        "range(3, -1, -1)",
    ):  # fmt: skip
        assert word in text, word
