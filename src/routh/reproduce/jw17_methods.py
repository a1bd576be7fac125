"""The methods of JW17's Table 1: Algorithm 1 and plain integration, by Euler's method, to compare with.

Plain Python on floats, Stronge's hypothesis only; `routh.two_body` is what solves impacts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp

from routh.base import features
from routh.base.validation import Array

#: Event l, JW17 section 6: the cross product of gamma and gamma' is "zero", here below this, m^2 / (s^2 N s).
#: The paper does not say below what; this number gives both counts of the bowling collision.
LINE_TOLERANCE = 5.5e-3
_MAX_ITERATIONS = 10_000_000
_H1, _H2, _BLEND = 0.01, 0.01, 0.5  # of (36)


@dataclass(frozen=True)
class MethodRun:
    """The total impulse in N s, (x, y, normal), and the number of Euler's steps."""

    impulse: tuple[float, float, float]
    iterations: int


def step_length(mu: float, b: tuple[float, ...], g: tuple[float, float], f: tuple[float, float]) -> float:
    """The next step of the normal impulse in N s by JW17 (36) with the curvature (37) of the hodograph."""
    r, speed = math.hypot(*g), math.hypot(*f)
    if r == 0.0:
        return _H1
    turn = (g[0] * f[1] - g[1] * f[0]) / (r * r)  # rate of the direction
    bend = (mu * turn * (b[0] * g[1] - b[1] * g[0]) / r, mu * turn * (b[1] * g[1] - b[2] * g[0]) / r)
    curvature = abs(f[0] * bend[1] - f[1] * bend[0]) / speed**3
    straight = _H2 * 1e2 if curvature <= 1e-12 else _H2 / curvature
    return (_BLEND * _H1 + (1.0 - _BLEND) * straight) / speed


@dataclass
class _Contact:
    """One impact on its way: where it stands after the normal impulse so far."""

    W: Array  # (3, 3)
    mu: float
    e: float
    vz: float  # m/s
    impulse: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    energy: float = 0.0  # J, what is stored
    compressing: bool = True

    def end_compression(self) -> None:
        """JW17 section 2.2, step 3: what is left of the stored energy."""
        self.compressing = False
        self.energy *= self.e * self.e

    def press(self, direction: tuple[float, float], amount: float) -> None:
        """Add normal impulse along a line in impulse space; v_z is linear and E quadratic on it."""
        rate = self._rate(direction)
        self.impulse[0] += amount * direction[0]
        self.impulse[1] += amount * direction[1]
        self.impulse[2] += amount
        self.energy -= amount * (self.vz + 0.5 * rate * amount)
        self.vz += rate * amount

    def follow_line(self, direction: tuple[float, float], reach: float = math.inf) -> bool:
        """Slide straight or stick, JW17 section 6.3, for at most `reach`; whether the impact ended."""
        rate = self._rate(direction)
        if self.compressing:
            amount = -self.vz / rate if rate > 0.0 else math.inf
            if amount > reach:
                self.press(direction, reach)
                return False
            self.press(direction, amount)
            reach -= amount
            self.vz = 0.0
            self.end_compression()
        inside = self.vz * self.vz + 2.0 * rate * self.energy
        amount = math.inf
        if inside >= 0.0:
            amount = 2.0 * self.energy / (self.vz + math.sqrt(inside)) if self.energy > 0.0 else 0.0
        self.press(direction, min(amount, reach))
        return amount <= reach

    def vanished(self) -> None:
        """Go from vanished sliding to the end: stick, or slip along the centrifugal direction."""
        need = np.linalg.solve(self.W[:2, :2], self.W[:2, 2])
        if math.hypot(*need) <= self.mu:
            self.follow_line((-float(need[0]), -float(need[1])))
            return
        found = features.feature("two_body").invariant_directions(self.W, self.mu)
        x, y = found.vectors[found.centrifugal][0]  # JW17 Theorem 5 iv: there is exactly one
        self.follow_line((-self.mu * float(x), -self.mu * float(y)))

    def _rate(self, direction: tuple[float, float]) -> float:
        W = self.W
        return float(W[2, 2] + W[0, 2] * direction[0] + W[1, 2] * direction[1])


def euler(
    W: ArrayLike, v: ArrayLike, mu: float, e: float, step: float | None, near: float | None = LINE_TOLERANCE
) -> MethodRun:
    """JW17's Algorithm 1: Euler's method until an event s or l, closed forms from there.

    W (3, 3), v (3,) with v_z < 0. A fixed ``step`` in N s is "FS" in Table 1, None, which is by (36), "VS".
    ``near`` bounds the cross product that declares event l; without it Euler's method goes on to the very end
    ("NI").
    """
    W = np.asarray(W, dtype=np.float64)
    bxx, bxy, byy, dx, dy = (float(W[i]) for i in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2)))
    wzz, det = float(W[2, 2]), bxx * byy - bxy * bxy
    vx, vy, vz = (float(x) for x in np.asarray(v))
    at = _Contact(W, mu, e, vz)
    gx, gy = vx, vy
    for iterations in range(_MAX_ITERATIONS):
        r = math.hypot(gx, gy)
        sx, sy = (gx / r, gy / r) if r > 0.0 else (0.0, 0.0)
        fx, fy = dx - mu * (bxx * sx + bxy * sy), dy - mu * (bxy * sx + byy * sy)
        speed, along = math.hypot(fx, fy), gx * fx + gy * fy
        h = step_length(mu, (bxx, bxy, byy), (gx, gy), (fx, fy)) if step is None else step
        if near is not None and r <= h * speed and along <= 0.0:
            wx, wy = -vx - at.impulse[2] * dx, -vy - at.impulse[2] * dy  # the line of sticking, (25)
            at.impulse[:2] = (byy * wx - bxy * wy) / det, (bxx * wy - bxy * wx) / det
            at.vanished()
            break
        if near is not None and abs(gx * fy - gy * fx) <= near:
            if not at.follow_line((-mu * sx, -mu * sy), -r * r / along if along < 0.0 else math.inf):
                at.vanished()
            break
        at.energy -= h * at.vz
        gx, gy = gx + h * fx, gy + h * fy
        at.impulse[2] += h
        wx, wy = gx - vx - at.impulse[2] * dx, gy - vy - at.impulse[2] * dy  # (26)
        at.impulse[:2] = (byy * wx - bxy * wy) / det, (bxx * wy - bxy * wx) / det
        at.vz = vz + dx * at.impulse[0] + dy * at.impulse[1] + wzz * at.impulse[2]
        if at.compressing and at.vz >= 0.0:
            at.end_compression()
        if not at.compressing and at.energy <= 0.0:
            iterations += 1
            break
    x, y, z = at.impulse
    return MethodRun((x, y, z), iterations)


def general_solver(
    W: ArrayLike, v: ArrayLike, mu: float, e: float, method: str, rtol: float = 1e-6
) -> MethodRun:
    """The same impact by a general solver of differential equations with events, JW17 section 6.4.

    ``method`` is one of SciPy's. Event s is declared where a millionth of the sliding velocity is left, since
    (31) is not defined at zero; from there closed forms. Iterations are evaluations of (31).
    """
    W = np.asarray(W, dtype=np.float64)
    start = np.asarray(v, dtype=np.float64)
    B, d = W[:2, :2], W[:2, 2]
    inverse = np.linalg.inv(B)
    least = 1e-6 * float(np.hypot(*start[:2]))

    def impulse(z: float, y: Array) -> Array:
        return np.asarray(inverse @ (y[:2] - start[:2] - z * d))  # (26)

    def normal(z: float, y: Array) -> float:
        return float(start[2] + d @ impulse(z, y) + W[2, 2] * z)

    def rate(z: float, y: Array) -> Array:
        slide = d - mu * (B @ y[:2]) / math.hypot(y[0], y[1])  # (31)
        return np.array([slide[0], slide[1], -normal(z, y)])  # and (11)

    def vanishes(z: float, y: Array) -> float:
        return math.hypot(y[0], y[1]) - least

    def exhausted(z: float, y: Array) -> float:
        return float(y[2])

    vanishes.terminal = exhausted.terminal = normal.terminal = True  # type: ignore[attr-defined]
    exhausted.direction = -1.0  # type: ignore[attr-defined]
    z, y, evaluations = 0.0, np.array([start[0], start[1], 0.0]), 0
    for phase, ends in (("compression", normal), ("restitution", exhausted)):
        run = solve_ivp(rate, (z, 1e6), y, method=method, rtol=rtol, atol=1e-9, events=(vanishes, ends))
        z, y, evaluations = float(run.t[-1]), run.y[:, -1], evaluations + run.nfev
        if len(run.t_events[0]):
            at = _Contact(W, mu, e, normal(z, y), [*impulse(z, y), z], float(y[2]), phase == "compression")
            at.vanished()
            return MethodRun((at.impulse[0], at.impulse[1], at.impulse[2]), evaluations)
        if phase == "compression":
            y = np.array([y[0], y[1], e * e * y[2]])
    total = impulse(z, y)
    return MethodRun((float(total[0]), float(total[1]), z), evaluations)
