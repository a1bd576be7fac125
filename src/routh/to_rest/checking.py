"""Whether a landing obeys the laws, from its states and impulses alone: NumPy, nothing of the kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routh.base.results import Whole
from routh.base.validation import Array
from routh.kernels.landing.data import FLIGHT, IMPACT, STEP
from routh.models.rotations import contact_frames, rotation_matrices
from routh.to_rest.many import LandingMotion


@dataclass(frozen=True)
class LandingCheck(Whole):
    """The worst of a motion; shares but for the depth."""

    momentum: float  # that the impulses of an impact or a step do not explain
    spin: float  # the same of the angular momentum about the centre of mass, at impacts and in flights
    cone: float  # friction above its limit, or a pull
    gained: float  # energy above the least so far, of that of the beginning
    separated: float  # m/s, with which contacts that were pushed in an impact still approach
    depth: float  # m
    impacts: int


def check(motion: LandingMotion) -> LandingCheck:
    """Recompute momentum, cones, energy and depths of a motion."""
    body, q, v = motion.body, motion.q, motion.v
    R = rotation_matrices(q[:, 3:])
    frame = contact_frames(body.normal[None])[0]
    arms = np.einsum("tij,kj->tki", R, motion.points) - body.radii[:, None] * body.normal
    world = motion.impulse @ frame  # (T, nc, 3)
    h = np.diff(motion.t, prepend=motion.t[0])
    steps, strikes, flights = (np.flatnonzero(motion.kind == kind) for kind in (STEP, IMPACT, FLIGHT))
    pushed = np.concatenate([steps, strikes])
    change = v[pushed, :3] - v[pushed - 1, :3] - h[pushed, None] * body.gravity
    size = np.abs(v[pushed]).sum(axis=1) + np.abs(v[pushed - 1]).sum(axis=1) + 1e-3
    linear = np.abs(body.mass * change - world[pushed].sum(axis=1)).max(axis=1) / (body.mass * size)
    turning = np.einsum("tij,j,tj->ti", R, body.inertia, v[:, 3:])  # world's axes
    torque = np.cross(arms[strikes - 1], world[strikes]).sum(axis=1)
    missed = np.abs(turning[strikes] - turning[strikes - 1] - torque).max(axis=1, initial=0.0)
    drifted = np.abs(turning[flights] - turning[flights - 1]).max(axis=1, initial=0.0)
    spin = np.concatenate([missed, drifted]) / (body.mass * body.size * np.abs(v).max())
    normal, rub = motion.impulse[..., 0], np.linalg.norm(motion.impulse[..., 1:], axis=2)
    largest = body.mass * np.abs(v).max()
    outside = np.maximum(rub - motion.mu * np.maximum(normal, 0.0), -normal)
    energy = energies(motion)
    least = np.minimum.accumulate(energy)
    kinetic = energy[0] + body.mass * float(body.gravity @ q[0, :3])
    scale = kinetic + body.mass * float(np.linalg.norm(body.gravity)) * body.size
    spins = np.einsum("tij,tj->ti", R, v[:, 3:])
    rates = (v[:, None, :3] + np.cross(spins[:, None], arms)) @ body.normal
    gaps = (q[:, None, :3] + arms - body.place) @ body.normal
    closing = np.where(normal[strikes] > 0.0, -rates[strikes], 0.0)
    return LandingCheck(
        float(linear.max(initial=0.0)),
        float(spin.max(initial=0.0)),
        float(outside.max(initial=0.0)) / largest,
        float((energy - least).max()) / scale,
        float(closing.max(initial=0.0)),
        max(float(-gaps.min()), 0.0),
        len(strikes),
    )


def energies(motion: LandingMotion) -> Array:
    """Kinetic energy and that of gravity at each state, (T,) J."""
    body, v = motion.body, motion.v
    kinetic = 0.5 * body.mass * (v[:, :3] ** 2).sum(axis=1) + 0.5 * (v[:, 3:] ** 2) @ body.inertia
    return np.asarray(kinetic - body.mass * motion.q[:, :3] @ body.gravity)
