"""Logarithms and exponentials in scalar Python: equal bits wherever sums and products are IEEE's.

The C library's differ in last bits from machine to machine, and a GPU has none of it. Methods and
coefficients are those of fdlibm (K. C. Ng, Sun Microsystems, 1993); errors stay below one unit in the last
place, but for those of `pow`. In kernels ``math.log`` and the like mean these.
"""

from __future__ import annotations

import math
import struct

import numpy as np

LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
INVERSE_LN2 = 1.44269504088896338700
L1, L2, L3, L4, L5, L6, L7 = (
    6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
    1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01,
)  # fmt: skip
P1, P2, P3, P4, P5 = (
    1.66666666666666019037e-01, -2.77777777770155933842e-03, 6.61375632143793436117e-05,
    -1.65339022054652515390e-06, 4.13813679705723846039e-08,
)  # fmt: skip
Q1, Q2, Q3, Q4, Q5 = (
    -3.33333333333331316428e-02, 1.58730158725481460165e-03, -7.93650757867487942473e-05,
    4.00821782732936239552e-06, -2.01099218183624371326e-07,
)  # fmt: skip
FRACTION, ONE, EXPONENT = np.uint64(0x000FFFFFFFFFFFFF), np.uint64(0x3FF0000000000000), np.uint64(0x7FF)
FIRST = np.uint64(52)  # place of the exponent
SQRT2, SMALLEST_NORMAL, UP = math.sqrt(2.0), 2.0**-1022, 2.0**54
LARGEST, LEAST = 709.782712893384, -745.2  # whose exponentials are still finite, and not yet zero
VANISHES = -38.9  # exp of it is below half a unit of 1


def bits_of(x: float) -> np.uint64:
    """The 64 bits of a float; one instruction in compiled code."""
    return np.uint64(struct.unpack("<Q", struct.pack("<d", x))[0])


def float_of(bits: np.uint64) -> float:
    """The float with these 64 bits; one instruction in compiled code."""
    found: float = struct.unpack("<d", struct.pack("<Q", int(bits)))[0]
    return found


def power_of_two(k: int) -> float:
    """2^k for k from -1022 to 1023."""
    return float_of(np.uint64(k + 1023) << FIRST)


def leading_power(x: float) -> float:
    """The largest power of two that is at most x, a positive normal number."""
    return float_of(bits_of(x) & (EXPONENT << FIRST))


def log_of_sum(x: float, more: float) -> float:
    """log(x + more) of a positive normal x, where ``more`` is beyond its last bit."""
    bits = bits_of(x)
    k = int((bits >> FIRST) & EXPONENT) - 1023
    m = float_of((bits & FRACTION) | ONE)
    if m > SQRT2:
        m = 0.5 * m
        k += 1
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * (L2 + w * (L4 + w * L6))
    odd = z * (L1 + w * (L3 + w * (L5 + w * L7)))
    half = 0.5 * f * f
    return k * LN2_HIGH - ((half - (s * (half + (even + odd)) + (k * LN2_LOW + more / x))) - f)


def log(x: float) -> float:
    """The natural logarithm; -inf of 0, NaN of what is negative."""
    if not x > 0.0:
        return -math.inf if x == 0.0 else math.nan
    if not x < math.inf:
        return x
    if x < SMALLEST_NORMAL:
        return log_of_sum(x * UP, 0.0) - 54.0 * (LN2_HIGH + LN2_LOW)
    return log_of_sum(x, 0.0)


def log1p(x: float) -> float:
    """log(1 + x)."""
    if not x > -1.0:
        return -math.inf if x == -1.0 else math.nan
    if not x < math.inf or abs(x) < 1e-17:
        return x
    u = 1.0 + x
    return log_of_sum(u, x - (u - 1.0) if x < 1.0 else 1.0 - (u - x))


def exp(x: float) -> float:
    """The exponential; 0 and inf where it does not fit."""
    if x != x:
        return x
    if x > LARGEST:
        return math.inf
    if x < LEAST:
        return 0.0
    k = math.floor(x * INVERSE_LN2 + 0.5)
    high, low = x - k * LN2_HIGH, k * LN2_LOW
    r = high - low
    t = r * r
    c = r - t * (P1 + t * (P2 + t * (P3 + t * (P4 + t * P5))))
    y = 1.0 - ((low - (r * c) / (2.0 - c)) - high)
    half = k >> 1
    return y * power_of_two(half) * power_of_two(k - half)


def expm1(x: float) -> float:
    """exp(x) - 1."""
    if x != x or abs(x) < 1e-17:
        return x
    if x > LARGEST:
        return math.inf
    if x < VANISHES:
        return -1.0
    k, rest = 0, 0.0
    if abs(x) > 0.5 * (LN2_HIGH + LN2_LOW):
        k = math.floor(x * INVERSE_LN2 + 0.5)
        high, low = x - k * LN2_HIGH, k * LN2_LOW
        x = high - low
        rest = (high - x) - low
    half = 0.5 * x
    square = x * half
    r = 1.0 + square * (Q1 + square * (Q2 + square * (Q3 + square * (Q4 + square * Q5))))
    t = 3.0 - r * half
    e = square * ((r - t) / (6.0 - x * t))
    if k == 0:
        return x - (x * e - square)
    e = x * (e - rest) - rest - square
    if k == -1:
        return 0.5 * (x - e) - 0.5
    if k == 1:
        return -2.0 * (e - (x + 0.5)) if x < -0.25 else 1.0 + 2.0 * (x - e)
    if k == 1024:
        return (1.0 - (e - x)) * 2.0 * power_of_two(1023) - 1.0
    if k <= -2 or k > 56:
        return (1.0 - (e - x)) * power_of_two(k) - 1.0
    if k < 20:
        return ((1.0 - power_of_two(-k)) - (e - x)) * power_of_two(k)
    return ((x - (e + power_of_two(-k))) + 1.0) * power_of_two(k)


def pow(x: float, y: float) -> float:
    """x to the power of y; NaN of a negative x. An error of log is multiplied by the exponent's size."""
    return 1.0 if y == 0.0 else exp(y * log(x))


def whole_power(x: float, k: int) -> float:
    """x^k by squares."""
    left, square, product = abs(k), x, 1.0
    while left > 0:
        if left & 1 == 1:
            product *= square
        left >>= 1
        square *= square
    return 1.0 / product if k < 0 else product


#: functions of math, and what they mean in kernels
INSTEAD = {
    math.log: log, math.log1p: log1p, math.exp: exp, math.expm1: expm1, math.pow: pow,
}  # fmt: skip
