"""Logarithms and exponentials of kernels: close to the C library's, and the same compiled and interpreted."""

import math

import numpy as np
import pytest

from routh.compiling import elementary, kernel

SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    math.inf,
    -math.inf,
    math.nan,
    5e-324,
    -5e-324,
    2.0**-1022,
    1.7e308,
    -1.7e308,
]
EDGES = [
    709.7827128933839,
    709.79,
    -745.1,
    -745.3,
    -708.4,
    0.34657359,
    1.0397207,
    -0.3465736,
    36.0,
    39.3,
    -38.9,
    56.0,
]


@kernel
def _logs(x, log, log1p):
    for i in range(len(x)):
        log[i], log1p[i] = math.log(x[i]), math.log1p(x[i])


@kernel
def _exponentials(x, exp, expm1):
    for i in range(len(x)):
        exp[i], expm1[i] = math.exp(x[i]), math.expm1(x[i])


def _numbers(seed):
    rng = np.random.default_rng(seed)
    scales = 10.0 ** rng.uniform(-300, 300, 4000)
    near = np.concatenate([1.0 + rng.normal(size=4000) * 10.0 ** rng.uniform(-16, 0, 4000)])
    small = rng.normal(size=4000) * 10.0 ** rng.uniform(-17, 2.8, 4000)
    return np.concatenate([scales, near, small, SPECIAL, EDGES])


def _of_math(name, x):
    """As the C library has it, with what is infinite or has no value as such."""
    try:
        return getattr(math, name)(x)
    except OverflowError:
        return math.inf
    except ValueError:
        return -math.inf if x == (-1.0 if name == "log1p" else 0.0) else math.nan


@pytest.mark.parametrize("name", ["log", "log1p", "exp", "expm1"])
def test_within_a_unit_in_the_last_place_of_the_c_library(name):
    x = _numbers(0)
    found = [np.empty(len(x)), np.empty(len(x))]
    (_logs if "log" in name else _exponentials)(x, *found)
    mine, wanted = found["1" in name], np.array([_of_math(name, one) for one in x])
    assert np.array_equal(np.isnan(mine), np.isnan(wanted))
    known = ~np.isnan(wanted)
    with np.errstate(invalid="ignore"):
        apart = np.abs(mine[known].view(np.int64) - wanted[known].view(np.int64))
    assert apart.max() <= 1
    assert np.mean(apart > 0) < 0.2


@pytest.mark.parametrize("name", ["log", "log1p", "exp", "expm1"])
def test_interpreted_to_the_bit(name):
    x = _numbers(1)[::7]
    found = [np.empty(len(x)), np.empty(len(x))]
    (_logs if "log" in name else _exponentials)(x, *found)
    plain = np.array([getattr(elementary, name)(float(one)) for one in x])
    assert np.array_equal(found["1" in name], plain, equal_nan=True)


def test_leading_powers_of_two_are_those_of_the_c_library():
    x = np.abs(_numbers(3)[::5])
    x = x[(x >= 2.0**-1022) & (x < math.inf)]
    found = np.array([elementary.leading_power(float(one)) for one in x])
    assert np.array_equal(found, np.ldexp(1.0, np.frexp(x)[1] - 1))


@kernel
def _powers(x, y, found):
    for i in range(len(x)):
        found[i] = math.pow(x[i], y[i])


def test_powers_are_as_exact_as_the_logarithm_times_the_exponent():
    """An error of half a unit in y log(x) is one of so many units in the power; and special values."""
    rng = np.random.default_rng(4)
    x = np.abs(_numbers(5)[:-24])
    y = rng.normal(size=len(x)) * 10.0 ** rng.uniform(-3, 2, len(x))
    y[::5] = rng.choice([1.0 / 3.0, -0.2, 0.5, 2.0, 3.0, -1.0, 64.0], size=len(y[::5]))
    special = [0.0, 1.0, math.inf, math.nan, 2.0, 0.5, 5e-324, 1e300]
    more = np.array([(one, other) for one in special for other in (*special, -1.5, 3.0, -math.inf)])
    more = more[(more[:, 0] != 1.0) | np.isfinite(more[:, 1])]  # 1 to the power of infinity is NaN
    x, y = np.concatenate([x, more[:, 0]]), np.concatenate([y, more[:, 1]])
    found = np.empty(len(x))
    _powers(x, y, found)
    with np.errstate(all="ignore"):
        wanted, size = np.power(x, y), np.where(y == 0.0, 0.0, np.abs(y * np.log(x)))
    assert np.array_equal(np.isnan(found), np.isnan(wanted))
    normal = (wanted >= 2.0**-1022) & (wanted < math.inf)
    assert np.mean(normal) > 0.8
    error = np.abs(found[normal] / wanted[normal] - 1.0)
    assert np.all(error <= 2.0**-52 * (1.0 + 1.5 * size[normal]))
    others = ~normal & ~np.isnan(wanted)
    np.testing.assert_allclose(found[others], wanted[others], rtol=0.0, atol=2.0**-1022)
    plain = np.array([elementary.pow(float(a), float(b)) for a, b in zip(x[::9], y[::9], strict=True)])
    assert np.array_equal(found[::9], plain, equal_nan=True)
    _powers(np.array([-2.0]), np.array([3.0]), found)
    assert math.isnan(found[0])
