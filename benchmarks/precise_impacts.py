"""A slow, independent solution of two-body impacts: SciPy's eighth-order method on the polar equations.

It shares nothing with the kernel but the equations of docs/theory/two_body.md: theta' = f, (ln r)' = g.
Events are placed by SciPy and corrected by Newton; closed forms stand only on the lines after the sliding
velocity has vanished. Stronge's hypothesis.
"""

import math

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

#: theta, ln r, I_x, I_y, I_z, v_z, E; E is stored energy
THETA, LOG_R, IX, IY, IZ, VZ, E = range(7)


def precise(W, v, mu, e, *, tolerance=1e-12):
    """Total impulses (n, 3) for W (n, 3, 3), v (n, 3) with v_z < 0, mu (n,), e (n,)."""
    return np.array([_one(*row, tolerance) for row in zip(W, v, mu, e, strict=True)])


def _one(W, v, mu, e, tolerance):
    W, v = np.asarray(W, float), np.asarray(v, float)
    # units in which approach and W_zz are one
    speed, mobility = -v[2], W[2, 2]
    return _scaled(W / mobility, v / speed, float(mu), float(e), tolerance) * speed / mobility


def _scaled(W, v, mu, e, tolerance):
    b, d, wzz = W[:2, :2], W[:2, 2], W[2, 2]
    r0 = math.hypot(v[0], v[1])
    y = np.zeros(7)
    y[VZ] = v[2]
    if mu == 0.0:
        return _line(y, np.zeros(2), wzz, e, 0)
    losses = 0
    if r0 > 0.0:
        y[THETA], y[LOG_R] = math.atan2(v[1], v[0]), math.log(r0)
        y, losses, ended = _slide(y, b, d, wzz, mu, e, tolerance)
        if ended:
            return y[IX : IZ + 1]
    need = np.linalg.solve(b, d)
    need += np.linalg.solve(b, d - b @ need)
    tangent = -need
    if math.hypot(*need) > mu:
        tangent = -mu * _centrifugal(b, d, mu)
    return _line(y, tangent, wzz + d @ tangent, e, losses)


def _slide(y, b, d, wzz, mu, e, tolerance):
    """Slide until the impact ends or the sliding velocity is below rounding: (state, losses, ended)."""

    def slope(_, y):
        c, s, r = math.cos(y[0]), math.sin(y[0]), math.exp(y[1])
        fx = d[0] - mu * (b[0, 0] * c + b[0, 1] * s)
        fy = d[1] - mu * (b[0, 1] * c + b[1, 1] * s)
        rise = r * (wzz - mu * (d[0] * c + d[1] * s))
        return (c * fy - s * fx, c * fx + s * fy, -mu * r * c, -mu * r * s, r, rise, -r * y[5])

    def velocity(_, y):
        return y[VZ]

    def energy(_, y):
        return y[E]

    def gone(_, y):
        return y[LOG_R] - bottom

    rate = mu * np.trace(b) + math.hypot(*d)
    losses, compressing = 0, True
    bottom = math.log(1e-17 * rate) + min(0.0, y[LOG_R])
    atol = np.full(7, 1e-3 * tolerance)
    atol[[THETA, LOG_R]] = tolerance
    for event in (velocity, energy, gone):
        event.terminal = True
    gone.direction = -1.0
    for _ in range(40):
        velocity.direction = 1.0 if compressing else -1.0
        energy.direction = -1.0
        watched = [velocity, gone] if compressing else [energy, velocity, gone]
        run = solve_ivp(
            slope, (0.0, 1e9 / rate), y, method="DOP853", rtol=tolerance, atol=atol, events=watched,
            max_step=3.0 / rate,
        )  # fmt: skip
        assert run.status == 1, run.message
        which = watched[next(i for i, times in enumerate(run.t_events) if len(times))]
        y = _placed(slope, run, which, tolerance, atol)
        if which is gone:
            return y, losses, False
        if which is energy:
            return y, losses, True
        y[VZ] = 0.0
        compressing = not compressing
        if not compressing:
            if losses == 0:
                y[E] *= e * e
            losses += 1
            if y[E] <= 0.0:
                return y, losses, True
    raise AssertionError("the impact did not end")


def _placed(slope, run, event, tolerance, atol):
    """The state at an event: integrated to where SciPy's interpolant put it, then one step of Newton."""
    before, there = run.t[-2], run.t[-1]
    y = run.y[:, -2]
    if there > before:
        y = solve_ivp(slope, (before, there), y, method="DOP853", rtol=tolerance, atol=atol).y[:, -1]
    rates = np.array(slope(0.0, y))
    watched = {"velocity": VZ, "energy": E}.get(event.__name__)
    return y if watched is None else y - rates * (y[watched] / rates[watched])


def _line(y, tangent, rate, e, losses):
    """From a vanished sliding velocity to the end: v_z linear in I_z, E quadratic."""
    vz, stored, press = y[VZ], y[E], 0.0
    if vz < 0.0:
        press = -vz / rate
        stored += 0.5 * vz * vz / rate
        vz = 0.0
    if losses == 0:
        stored *= e * e
    root = math.sqrt(max(vz * vz + 2.0 * rate * stored, 0.0))
    press += 2.0 * stored / (vz + root) if stored > 0.0 else 0.0
    return y[IX : IZ + 1] + press * np.array([*tangent, 1.0])


def _centrifugal(b, d, mu):
    """The direction s of (mu B + g) s = d, |s| = 1, g > 0; its norm falls with g."""

    def size(g):
        return math.hypot(*np.linalg.solve(mu * b + g * np.eye(2), d)) - 1.0

    g = brentq(size, 0.0, math.hypot(*d), xtol=1e-300, rtol=1e-15)
    s = np.linalg.solve(mu * b + g * np.eye(2), d)
    return s / math.hypot(*s)
