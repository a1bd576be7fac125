"""A slow, independent integration of an impact: Dormand and Prince's eighth-order method, polar equations.

It shares nothing with the kernel but the equations: theta' = f, (ln r)' = g, I_z' = r, ..., short steps,
events by bisection of the last step, and closed forms only on the lines after the sliding velocity vanished.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

#: theta, ln r, I_x, I_y, I_z, v_z, E
SIZE = 7


def slope(p: Any, y: Any, out: Any) -> None:
    """The polar equations; p = (Wxx, Wxy, Wyy, dx, dy, Wzz, mu)."""
    c, s, r = math.cos(y[0]), math.sin(y[0]), math.exp(y[1])
    fx = p[3] - p[6] * (p[0] * c + p[1] * s)
    fy = p[4] - p[6] * (p[1] * c + p[2] * s)
    out[0] = c * fy - s * fx
    out[1] = c * fx + s * fy
    out[2], out[3], out[4] = -p[6] * r * c, -p[6] * r * s, r
    out[5] = r * (p[5] - p[6] * (p[3] * c + p[4] * s))
    out[6] = -r * y[5]


def rk_step(p: Any, y: Any, h: float, a: Any, b: Any, e5: Any, k: Any, out: Any) -> float:
    """One step of the 12-stage method: the new values into `out`; returns the scaled error estimate."""
    trial = np.empty(SIZE)
    for i in range(12):
        for n in range(SIZE):
            total = 0.0
            for j in range(i):
                total += a[i, j] * k[j, n]
            trial[n] = y[n] + h * total
        slope(p, trial, k[i])
    worst = 0.0
    for n in range(SIZE):
        total, error = 0.0, 0.0
        for j in range(12):
            total += b[j] * k[j, n]
            error += e5[j] * k[j, n]
        out[n] = y[n] + h * total
        size = 1.0 if n < 2 else abs(out[n]) + abs(h * k[0, n])
        if size > 0.0:
            worst = max(worst, abs(h * error) / size)
    return worst


def place_event(
    p: Any, y: Any, h: float, which: int, target: float, a: Any, b: Any, e5: Any, k: Any
) -> float:
    """The length within the last step at which component `which` crosses the target, by bisection."""
    low, high = 0.0, h
    out = np.empty(SIZE)
    start = y[which] - target
    for _ in range(60):
        middle = 0.5 * (low + high)
        rk_step(p, y, middle, a, b, e5, k, out)
        if (out[which] - target) * start > 0.0 or (start == 0.0 and out[which] > target):
            low = middle
        else:
            high = middle
    return high


def line(y: Any, sx: float, sy: float, rate: float, phase: int, e: float, lost: bool) -> None:
    """From a vanished sliding velocity to the end: v_z linear in I_z, E quadratic (Stronge)."""
    if phase == 0:
        press = -y[5] / rate
        y[6] += 0.5 * y[5] * y[5] / rate
        y[2] += press * sx
        y[3] += press * sy
        y[4] += press
        y[5] = 0.0
        if not lost:
            y[6] *= e * e
    root = math.sqrt(max(y[5] * y[5] + 2.0 * rate * y[6], 0.0))
    press = 2.0 * y[6] / (y[5] + root) if y[6] > 0.0 else 0.0
    y[2] += press * sx
    y[3] += press * sy
    y[4] += press


def resumed(p: Any) -> tuple[float, float]:
    """The centrifugal direction by scanning the circle and bisection."""
    y, k = np.zeros(SIZE), np.zeros(SIZE)
    n = 20000
    best = 0.0
    for i in range(n):
        y[0] = 2.0 * math.pi * i / n
        slope(p, y, k)
        f0, g0 = k[0], k[1]
        y[0] = 2.0 * math.pi * (i + 1) / n
        slope(p, y, k)
        if f0 >= 0.0 > k[0] and (g0 > 0.0 or k[1] > 0.0):
            low, high = 2.0 * math.pi * i / n, y[0]
            for _ in range(60):
                y[0] = 0.5 * (low + high)
                slope(p, y, k)
                if k[0] > 0.0:
                    low = y[0]
                else:
                    high = y[0]
            best = high
    return math.cos(best), math.sin(best)


def vanish(p: Any, y: Any, phase: int, e: float, lost: bool) -> None:
    """Stick or resume slip, then the line to the end."""
    # B^-1 d, corrected by its residual
    det = p[0] * p[2] - p[1] * p[1]
    kx = ky = 0.0
    for _ in range(3):
        rx, ry = p[3] - (p[0] * kx + p[1] * ky), p[4] - (p[1] * kx + p[2] * ky)
        kx, ky = kx + (p[2] * rx - p[1] * ry) / det, ky + (p[0] * ry - p[1] * rx) / det
    sx, sy = -kx, -ky
    if kx * kx + ky * ky > p[6] * p[6]:
        cx, cy = resumed(p)
        sx, sy = -p[6] * cx, -p[6] * cy
    line(y, sx, sy, p[5] + p[3] * sx + p[4] * sy, phase, e, lost)


def precise_one(p: Any, v: Any, e: float, tolerance: float, a: Any, b: Any, e5: Any, out: Any) -> int:
    """The total impulse of one impact under Stronge's hypothesis into out (3,); returns the steps taken."""
    y, new, k = np.zeros(SIZE), np.zeros(SIZE), np.zeros((12, SIZE))
    r0 = math.sqrt(v[0] * v[0] + v[1] * v[1])
    y[5] = v[2]
    phase, lost = 0, False
    small = abs(v[2]) / p[5]
    steps = 0
    done = False
    if p[6] == 0.0 or r0 == 0.0:
        if p[6] == 0.0:
            line(y, 0.0, 0.0, p[5], 0, e, False)
        else:
            vanish(p, y, 0, e, False)
        done = True
    else:
        y[0], y[1] = math.atan2(v[1], v[0]), math.log(r0)
    h = 1e-3 / (p[6] * (p[0] + p[2]) + abs(p[3]) + abs(p[4]))
    while not done and steps < 20_000_000:
        steps += 1
        error = rk_step(p, y, h, a, b, e5, k, new)
        factor = 0.9 * (tolerance / max(error, 1e-30)) ** 0.125
        if error > tolerance:
            h *= max(factor, 0.2)
            continue
        if abs(new[0] - y[0]) > 0.05 or abs(new[1] - y[1]) > 0.3:
            h *= 0.7
            continue
        taken = h
        which = -1
        if phase == 0 and y[5] < 0.0 <= new[5]:
            taken, which = place_event(p, y, h, 5, 0.0, a, b, e5, k), 0
        elif phase == 1 and new[6] <= 0.0:
            taken, which = place_event(p, y, h, 6, 0.0, a, b, e5, k), 1
        elif phase == 1 and y[5] > 0.0 > new[5]:
            taken, which = place_event(p, y, h, 5, 0.0, a, b, e5, k), 2
        if which >= 0:
            rk_step(p, y, taken, a, b, e5, k, new)
        for n in range(SIZE):
            y[n] = new[n]
        if which == 0:
            phase, y[5] = 1, 0.0
            if not lost:
                y[6] *= e * e
            lost = True
            done = y[6] <= 0.0
        elif which == 1:
            done = True
        elif which == 2:
            phase, y[5] = 0, 0.0
        else:
            h *= min(max(factor, 0.2), 3.0)
        slope(p, y, k[0])
        if not done and k[0, 1] < 0.0 and math.exp(y[1]) < -1e-17 * k[0, 1] * (y[4] + small):
            vanish(p, y, phase, e, lost)
            done = True
    out[0], out[1], out[2] = y[2], y[3], y[4]
    return steps if done else -1
