"""Smooth intervals of a trajectory against HP23 (47), (52) and (53)."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from routh import tolerances
from routh.friction import facet_directions
from routh.sim.evidence import Evidence
from routh.validation import Array

_TURNS = 8  # parts of an interval over which rotations are added up
_EDGES = 64  # of a spatial friction cone, in the membership test


def check_smooth(e: Evidence, i: int) -> None:
    """(47) and (52) over one interval: at both ends with the recorded forces, in the middle without."""
    trajectory = e.trajectory
    t0, t1 = trajectory.t[i - 1], trajectory.t[i]
    h = float(t1 - t0)
    q0, q1, v0, v1 = trajectory.q[i - 1], trajectory.q[i], trajectory.v[i - 1], trajectory.v[i]
    start, end = trajectory.forces["contacts after"][i - 1], trajectory.forces["contacts"][i]
    size = max(*(float(np.abs(f).max(initial=0.0)) for f in (start, end)), 1e-3 * e.strongest)
    _contact_law(e, i, i - 1, start, size)
    _contact_law(e, i, i, end, size)
    a0, a1 = _acceleration(e, t0, q0, v0, start), _acceleration(e, t1, q1, v1, end)
    # cubic through the velocities and accelerations at both ends, exact for motions of fourth degree
    a = 1.5 * (v1 - v0) / h - 0.25 * (a0 + a1)
    v = 0.5 * (v0 + v1) + h / 8.0 * (a0 - a1)
    half = 0.5 * h * v0 + h * (3.0 / 32.0 * (v1 - v0)) + h * h * (11.0 * a0 - 5.0 * a1) / 192.0
    q = e.model.integrate(q0, half, 1.0)
    _middle(e, i, 0.5 * (t0 + t1), q, v, a)
    whole = 0.5 * h * (v0 + v1) + h * h / 12.0 * (a0 - a1)
    moves = [whole] if e.model.nq == e.model.nv else _pieces(h, v0, v1, a0, a1)
    reached = q0
    for move in moves:
        reached = e.model.integrate(reached, move, 1.0)
    drift = float(np.abs(reached - q1).max())
    moved = float(np.abs(whole).max())
    allowed = tolerances.VERIFY_INTEGRATOR * e.reach[i] + tolerances.VERIFY_DYNAMICS * moved
    e.book.note("dq = v dt", i, drift, allowed)


def _pieces(h: float, v0: Array, v1: Array, a0: Array, a1: Array) -> Array:
    """Moves (_TURNS, nv) over parts of an interval under the cubic velocity: rotations do not commute."""
    s = np.linspace(0.0, 1.0, _TURNS + 1)[:, None]
    from_v = s * (1.0 - s**2 + 0.5 * s**3) * v0 + s**3 * (1.0 - 0.5 * s) * v1
    from_a = s**2 * (0.5 - s * (2.0 / 3.0) + 0.25 * s**2) * a0 + s**3 * (0.25 * s - 1.0 / 3.0) * a1
    return np.diff(h * from_v + h * h * from_a, axis=0)


def _acceleration(e: Evidence, t: float, q: Array, v: Array, force: Array) -> Array:
    total = e.smooth_force(t, q, v) + np.tensordot(force, e.J(q), axes=2)
    return np.asarray(np.linalg.solve(e.model.mass(q), total), dtype=np.float64)


def _contact_law(e: Evidence, i: int, k: int, force: Array, size: float) -> None:
    """(12) and (16) at sample k, an end of interval i; ``size`` (N) is the largest force there."""
    pushing = np.flatnonzero(np.abs(force).max(axis=1, initial=0.0) > tolerances.VERIFY_FORCE * size)
    if not len(pushing):
        return
    q = e.trajectory.q[k]
    t, v = float(e.trajectory.t[k]), e.trajectory.v[k]
    velocities, noise = e.J(q) @ v, e.noise(q, e.settling[k])
    # an error of the state makes one of the forces that keep contacts closed against the smooth ones
    free = e.smooth_force(t, q, v)
    size = max(size, float(np.sqrt(free @ np.linalg.solve(e.model.mass(q), free))) / e.root(q).max())
    for c in map(int, pushing):
        e.cone(i, c, force[c], size)
        e.book.note("force at a distance", i, e.gaps[k, c], tolerances.VERIFY_GAP * e.reach[k])
        e.book.note("force while separating", i, abs(float(velocities[c, 0])), float(noise[c]))
        e.dissipation(i, c, force[c], velocities[c, 1:], size=size, noise=float(noise[c]))


def _middle(e: Evidence, i: int, t: float, q: Array, v: Array, a: Array) -> None:
    """In the middle of an interval ``M a - F_s`` must be a sum of contact forces that (53) allows there.

    And it must be the one that the recorded impulse stands for: Simpson's rule over the interval, with
    the forces at its ends, tells the force in its middle.
    """
    h = float(e.trajectory.t[i] - e.trajectory.t[i - 1])
    M, smooth = e.model.mass(q), e.smooth_force(t, q, v)
    metric = np.linalg.inv(np.linalg.cholesky(M))  # measure generalized forces in the metric of M^-1
    target, free = metric @ (M @ a - smooth), float(np.linalg.norm(metric @ smooth))
    misfit = float(np.linalg.norm(target))
    discretised = tolerances.VERIFY_DYNAMICS * h * max(free, float(np.linalg.norm(target)))
    rays = _allowed(e, i, q, v, discretised)
    if len(rays):
        misfit = _distance_to_cone((rays @ metric.T).T, target)
    left_over = tolerances.VERIFY_INTEGRATOR * e.fastest + tolerances.VERIFY_REST * e.settling[i - 1]
    allowed = discretised + 1.5 * left_over  # the cubic's acceleration has 1.5 (v1 - v0) / h
    e.book.note("inclusion (53)", i, misfit * h, allowed)
    if not len(e.mu):
        return
    start, end = e.trajectory.forces["contacts after"][i - 1], e.trajectory.forces["contacts"][i]
    implied = 1.5 * e.impulses[i] - 0.25 * h * (start + end)
    explained = metric @ np.tensordot(implied, e.J(q), axes=2)
    rounding = tolerances.VERIFY_INTEGRATOR * max(1.0, float(e.s[i])) * np.abs(metric @ e.J(q)[:, 0].T).max()
    e.book.note("impulses of forces", i, float(np.linalg.norm(explained - h * target)), allowed + rounding)


def _allowed(e: Evidence, i: int, q: Array, v: Array, discretised: float) -> Array:
    """Generalized forces at the edges of the friction cones of contacts that stay closed over interval i.

    ``discretised`` (|v|_M) is how far the velocity v in its middle may be off.
    """
    nt, J = e.model.nt, e.J(q)
    closed, stuck = _rests(e, i - 1) & _rests(e, i)  # at both ends
    velocity = J[:, 1:] @ v
    slip = np.linalg.norm(velocity, axis=1)
    unsure = e.noise(q, e.settling[i - 1], discretised)
    stuck |= slip <= unsure
    edges = np.vstack([np.zeros(nt), facet_directions(nt, None if nt == 1 else _EDGES)])
    rays: list[Array] = []
    for c in map(int, np.flatnonzero(closed)):
        if e.mu[c] > 0.0 and not stuck[c]:
            edges_c = _against(velocity[c], float(unsure[c] / slip[c]))
        else:
            edges_c = edges if e.mu[c] > 0.0 else edges[:1]
        rays.append(J[c, 0] + e.mu[c] * np.asarray(edges_c) @ J[c, 1:])
    return np.concatenate(rays) if rays else np.zeros((0, e.model.nv))


def _against(slip: Array, unsure: float) -> Array:
    """Unit directions (k, nt) against a slip that is known up to the share ``unsure`` of itself, below 1."""
    back = -slip / np.linalg.norm(slip)
    if len(slip) == 1:
        return back[None]
    across, angle = np.array([-back[1], back[0]]), np.arcsin(unsure)
    return np.array([np.cos(a) * back + np.sin(a) * across for a in (0.0, angle, -angle)])


def _rests(e: Evidence, k: int) -> np.ndarray:
    """Which contacts are closed and do not separate at sample k, and which have no slip, (2, nc) bool."""
    q = e.trajectory.q[k]
    velocity, noise = e.J(q) @ e.trajectory.v[k], e.noise(q, e.settling[k])
    closed = e.may_touch(k)
    return np.array([closed & (velocity[:, 0] <= noise), np.linalg.norm(velocity[:, 1:], axis=1) <= noise])


def _distance_to_cone(generators: Array, target: Array) -> float:
    """Distance of a vector to the cone of the columns of ``generators``."""
    if not (np.all(np.isfinite(generators)) and np.all(np.isfinite(target))):
        return np.inf
    unit = np.linalg.norm(generators, axis=0)
    return float(nnls(generators / unit, target)[1])
