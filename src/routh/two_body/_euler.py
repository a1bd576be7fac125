"""JW17's Algorithm 1 as scalar functions: Euler's method, switched to closed forms, steps by (36)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from routh.two_body._precise import vanish


def move(y: Any, sx: float, sy: float, rate: float, press: float) -> bool:
    """Add normal impulse along a line in impulse space."""
    y[2] += press * sx
    y[3] += press * sy
    y[4] += press
    y[6] -= press * (y[5] + 0.5 * rate * press)
    y[5] += rate * press
    return False


def limited_line(
    y: Any, sx: float, sy: float, rate: float, phase: int, e: float, reach: float
) -> tuple[bool, int]:
    """Straight sliding, JW17 section 6.3, for at most `reach` of normal impulse: (ended, phase after)."""
    done = False
    left = reach
    if phase == 0:
        press = -y[5] / rate if rate > 0.0 else math.inf
        if press > left:
            return move(y, sx, sy, rate, left), 0
        move(y, sx, sy, rate, press)
        left -= press
        y[5], y[6], phase = 0.0, y[6] * e * e, 1
    inside = y[5] * y[5] + 2.0 * rate * y[6]
    if inside >= 0.0:
        root = math.sqrt(inside)
        press = 2.0 * y[6] / (y[5] + root) if y[6] > 0.0 else 0.0
        if press <= left:
            left, done = press, True
    move(y, sx, sy, rate, left)
    return done, phase


def step_size(
    p: Any, gx: float, gy: float, fx: float, fy: float, h1: float, h2: float, blend: float
) -> float:
    """JW17 (36) with the curvature (37) of the hodograph."""
    r, speed = math.sqrt(gx * gx + gy * gy), math.sqrt(fx * fx + fy * fy)
    turn = (gx * fy - gy * fx) / (r * r)  # rate of the direction
    ax, ay = p[6] * turn * (p[0] * gy - p[1] * gx) / r, p[6] * turn * (p[1] * gy - p[2] * gx) / r
    curvature = abs(fx * ay - fy * ax) / (speed * speed * speed)
    if curvature <= 1e-12:
        return blend * h1 / speed + (1.0 - blend) * h2 * 1e2 / speed
    return blend * h1 / speed + (1.0 - blend) * h2 / (curvature * speed)


def euler_one(
    p: Any,
    v: Any,
    e: float,
    step: float,
    h1: float,
    h2: float,
    blend: float,
    closed: bool,
    near: float,
    out: Any,
) -> int:
    """One impact by Euler's method into out (3,); ``step`` 0 means (36); returns the iterations."""
    y = np.zeros(7)  # unused, unused, I_x, I_y, I_z, v_z, E
    gx, gy, y[5] = v[0], v[1], v[2]
    det = p[0] * p[2] - p[1] * p[1]
    phase, iterations = 0, 0
    while iterations < 10_000_000:
        r = math.sqrt(gx * gx + gy * gy)
        sx, sy = (gx / r, gy / r) if r > 0.0 else (0.0, 0.0)
        fx, fy = p[3] - p[6] * (p[0] * sx + p[1] * sy), p[4] - p[6] * (p[1] * sx + p[2] * sy)
        speed = math.sqrt(fx * fx + fy * fy)
        h = step if step > 0.0 else step_size(p, gx, gy, fx, fy, h1, h2, blend)
        if closed and (r == 0.0 or (r <= h * speed and gx * fx + gy * fy < 0.0)):
            y[2], y[3] = stuck(p, det, v, y[4])
            vanish(p, y, phase, e, phase == 1)
            break
        if closed and abs(sx * fy - sy * fx) <= near * speed:
            g = sx * fx + sy * fy
            reach = -r / g if g < 0.0 else math.inf
            rate = p[5] - p[6] * (p[3] * sx + p[4] * sy)
            ended, phase = limited_line(y, -p[6] * sx, -p[6] * sy, rate, phase, e, reach)
            if not ended:
                vanish(p, y, phase, e, phase == 1)
            break
        iterations += 1
        y[6] -= h * y[5]
        gx, gy = gx + h * fx, gy + h * fy
        y[4] += h
        wx, wy = gx - v[0] - y[4] * p[3], gy - v[1] - y[4] * p[4]  # (26)
        y[2], y[3] = (p[2] * wx - p[1] * wy) / det, (p[0] * wy - p[1] * wx) / det
        y[5] = v[2] + p[3] * y[2] + p[4] * y[3] + p[5] * y[4]
        if phase == 0 and y[5] >= 0.0:
            phase, y[6] = 1, y[6] * e * e
        if phase == 1 and y[6] <= 0.0:
            break
    out[0], out[1], out[2] = y[2], y[3], y[4]
    return iterations


def stuck(p: Any, det: float, v: Any, press: float) -> tuple[float, float]:
    """The tangential impulse on the line of sticking, JW17 (25)."""
    wx, wy = -v[0] - press * p[3], -v[1] - press * p[4]
    return (p[2] * wx - p[1] * wy) / det, (p[0] * wy - p[1] * wx) / det
