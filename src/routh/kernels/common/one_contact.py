"""One contact in space: friction on its disc, and brackets for what has no formula.

Friction that opposes slip most (HP23 (16)) minimises ``p^T A p / 2 + b^T p``, with A the contact's tangential
block and b its slip, or slip rate, without friction. Its normal impulse is a zero of a continuous function,
which a bracket finds.
"""

from __future__ import annotations

import math

from routh.compiling import inlined, kernel

NEWTON = 60
LEAST = 1e-300  # of an eigenvalue: where friction moves nothing it is none, and not 0 / 0

Axes = tuple[float, float, float, float]
Bracket = tuple[float, float, float, float, int]
Pull = tuple[float, float, float, float, float, float, float, float, float, float, float, float]


@kernel
def disc_axes(a00: float, a01: float, a11: float) -> Axes:
    """Eigenvalues of A, the larger first, and cosine and sine of the first axis."""
    mean, half = 0.5 * (a00 + a11), 0.5 * (a00 - a11)
    spread = math.sqrt(half * half + a01 * a01)
    high = max(mean + spread, LEAST)
    low = max(mean - spread, 1e-15 * high)  # nothing moves along a direction of eigenvalue 0
    # the first axis has the double angle (half, a01)
    cosine, sine = 1.0, 0.0
    if spread > 0.0:
        if half > 0.0:
            cosine = math.sqrt(0.5 * (1.0 + half / spread))
            sine = 0.5 * a01 / (spread * cosine)
        else:
            sine = math.sqrt(0.5 * (1.0 - half / spread))
            cosine = 0.5 * a01 / (spread * sine)
    return high, max(low, LEAST), cosine, sine


@kernel
def on_disc(axes: Axes, b0: float, b1: float, radius: float) -> tuple[float, float]:
    """The minimiser on a disc, for `disc_axes` of A."""
    if not radius > 0.0:
        return 0.0, 0.0
    high, low, cosine, sine = axes
    q0, q1 = cosine * b0 + sine * b1, cosine * b1 - sine * b0
    p0, p1 = -q0 / high, -q1 / low
    if p0 * p0 + p1 * p1 > radius * radius:
        # |(A + shift)^-1 b| = radius; Newton on 1 / |p|, which is concave and nearly linear in the shift
        shift = max(0.0, max(abs(q0) / radius - high, abs(q1) / radius - low))
        p0, p1 = -q0 / (high + shift), -q1 / (low + shift)
        for _ in range(NEWTON):
            length = math.sqrt(p0 * p0 + p1 * p1)
            slope = (p0 * p0 / (high + shift) + p1 * p1 / (low + shift)) / length
            change = (length - radius) / radius * length / slope
            shift += change
            p0, p1 = -q0 / (high + shift), -q1 / (low + shift)
            if abs(change) <= 1e-15 * (shift + high):
                break
        length = math.sqrt(p0 * p0 + p1 * p1)
        p0, p1 = p0 * radius / length, p1 * radius / length
    return cosine * p0 - sine * p1, sine * p0 + cosine * p1


@kernel
def pulled_to_disc(
    f0: float, f1: float, t0: float, t1: float, radius: float, rho: float, creeps: float
) -> Pull:
    """Amount by which friction f is not ``f - rho (t + creeps f)`` brought back to its disc, and its slopes.

    Alart and Curnier's equation of friction f at slip t. Returns its derivatives by friction (four) and by
    slip (four), less those by the radius (two), and what it misses (two).
    """
    z0, z1 = f0 - rho * (t0 + creeps * f0), f1 - rho * (t1 + creeps * f1)
    length = math.sqrt(z0 * z0 + z1 * z1)
    if length < radius:
        own = rho * creeps
        return own, 0.0, 0.0, own, rho, 0.0, 0.0, rho, 0.0, 0.0, rho * t0 + own * f0, rho * t1 + own * f1
    if not length > 0.0:
        return 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, f0, f1
    u0, u1 = z0 / length, z1 / length
    friction = math.sqrt(f0 * f0 + f1 * f1)
    share = radius / friction if friction > radius else 1.0  # inside its disc it keeps the matrix regular
    q00, q01 = (radius - share * f0 * u0) / length, -share * f0 * u1 / length
    q10, q11 = -share * f1 * u0 / length, (radius - share * f1 * u1) / length
    own = 1.0 - rho * creeps
    return (
        1.0 - own * q00, -own * q01, -own * q10, 1.0 - own * q11,
        rho * q00, rho * q01, rho * q10, rho * q11,
        u0, u1, f0 - radius * u0, f1 - radius * u1,
    )  # fmt: skip


@inlined
def between(bracket: Bracket) -> float:
    """The place at which a line through both ends of a bracket is zero."""
    low, value_low, high, value_high, _ = bracket
    return (low * value_high - high * value_low) / (value_high - value_low)


@inlined
def narrowed(bracket: Bracket, at: float, value: float) -> Bracket:
    """A bracket (low, its value, high, its value, which end moved last) after a look in between.

    Regula falsi by the Illinois rule: the value of an end that stays twice counts half.
    """
    low, value_low, high, value_high, moved = bracket
    if value > 0.0:
        return low, 0.5 * value_low if moved == 1 else value_low, at, value, 1
    return at, value, high, 0.5 * value_high if moved == -1 else value_high, -1
