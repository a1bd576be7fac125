"""Find impacts in measured tosses of a cube: the state carried to contact, and the velocity measured after.

Velocities are differences of poses, so each belongs to an interval between two frames. An interval is
disturbed where the velocity changes by more than free flight allows. An impact is a short run of disturbed
intervals with flight before it and, for a clean measurement, after it: only in flight is the velocity that
an impact left behind not changed further by contact forces.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

SIDE, MASS, INERTIA = 0.1048, 0.37, 0.00081  # m, kg, kg m^2
ARM = np.sqrt(INERTIA / MASS)  # m: turns rad/s into m/s of equal kinetic energy
GRAVITY = 9.81
CORNERS = np.array(list(product((-1, 1), repeat=3))) * SIDE / 2

DISTURBED = 0.08  # m/s: above the jitter of the tracking (0.07), below an impact
LONGEST = 4  # intervals that an impact may spread over (27 ms)
BEFORE, AFTER = 4, 3  # intervals of quiet that the velocities are averaged over
STEADY = 0.05  # m/s: largest scatter within them
FALLING = 4.0  # m/s^2: how far the acceleration of flight may seem to be from gravity
SMALLEST = 0.1  # m/s: change of velocity that counts as an impact


@dataclass(frozen=True, eq=False)
class Impact:
    """One impact: what was before, carried to the frame before it, and what was measured after."""

    toss: int
    position: np.ndarray  # (3,) m, at the last frame before
    quaternion: np.ndarray  # (4,) w x y z, at the last frame before
    before: np.ndarray  # (6,) m/s and rad/s, world frame, at the last frame before
    after: np.ndarray  # (6,) likewise, carried back to the same moment where it flies
    flies: bool  # free flight after the impact
    noise: float  # m/s: standard error of the velocity before
    meeting: float  # s after the last frame before: where the paths before and after meet


@dataclass(frozen=True, eq=False)
class Contact:
    """An impact at the moment of contact."""

    impact: Impact
    position: np.ndarray  # (3,)
    quaternion: np.ndarray  # (4,)
    before: np.ndarray  # (6,) world frame
    after: np.ndarray  # (6,) world frame, measured
    heights: np.ndarray  # (8,) m, of the corners above the lowest one


def load(path: Path) -> list[Impact]:
    """All impacts of a file of tosses (arrays quaternion, position, start, dt)."""
    with np.load(path, allow_pickle=False) as data:
        start, dt = data["start"], float(data["dt"])
        quaternion, position = data["quaternion"], data["position"]
    found: list[Impact] = []
    for toss in range(len(start) - 1):
        frames = slice(start[toss], start[toss + 1])
        found += _impacts_of(toss, quaternion[frames], position[frames], dt)
    return found


def _impacts_of(toss: int, q: np.ndarray, x: np.ndarray, dt: float) -> list[Impact]:
    turned = logarithm(multiply(q[1:], conjugate(q[:-1])))
    velocity = np.concatenate([np.diff(x, axis=0), ARM * turned], axis=1) / dt  # of the intervals, m/s
    change = np.diff(velocity, axis=0)
    change[:, 2] += GRAVITY * dt
    disturbed = np.linalg.norm(change, axis=1) > DISTURBED
    found, i = [], 0
    while i < len(disturbed):
        if not disturbed[i]:
            i += 1
            continue
        j = i
        while j < len(disturbed) and disturbed[j]:
            j += 1
        quiet = (
            j - i <= LONGEST
            and i + 1 >= BEFORE
            and j + AFTER <= len(velocity)
            and not disturbed[i - BEFORE + 1 : i].any()
            and not disturbed[j : j + AFTER - 1].any()
        )
        impact = _measured(toss, q, x, velocity, i, j, dt) if quiet else None
        if impact is not None:
            found.append(impact)
        i = j
    return found


def _measured(
    toss: int, q: np.ndarray, x: np.ndarray, velocity: np.ndarray, i: int, j: int, dt: float
) -> Impact | None:
    """The impact between the intervals i (the last before) and j (the first after); None if not steady."""
    frame = i + 1
    before, scatter, fall = _average(velocity, i - BEFORE + 1, i + 1, frame, dt, flies=True)
    *_, fall_after = _average(velocity, j, j + AFTER, frame, dt, flies=True)
    flies = abs(fall_after + GRAVITY) < FALLING
    after, scatter_after, _ = _average(velocity, j, j + AFTER, frame, dt, flies=flies)
    steady = scatter < STEADY and scatter_after < STEADY and abs(fall + GRAVITY) < FALLING
    if not steady or np.linalg.norm(after - before) < SMALLEST:
        return None
    unit = np.array([1.0, 1.0, 1.0, ARM, ARM, ARM])
    meeting = _meeting(q, x, before / unit, after / unit, flies, frame, j, dt)
    noise = scatter / np.sqrt(BEFORE)
    return Impact(toss, x[frame], q[frame], before / unit, after / unit, flies, noise, meeting)


def _average(
    velocity: np.ndarray, begin: int, end: int, frame: int, dt: float, *, flies: bool
) -> tuple[np.ndarray, float, float]:
    """Velocity at a frame from the intervals begin to end, its scatter, and the vertical acceleration."""
    time = (np.arange(begin, end) + 0.5 - frame) * dt
    carried = velocity[begin:end].copy()
    acceleration = float(np.polyfit(time, carried[:, 2], 1)[0])
    if flies:
        carried[:, 2] += GRAVITY * time
    mean = carried.mean(axis=0)
    return mean, float(np.sqrt(((carried - mean) ** 2).sum(axis=1).mean())), acceleration


def _meeting(
    q: np.ndarray,
    x: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    flies: bool,
    frame: int,
    j: int,
    dt: float,
) -> float:
    """When the flight before and the motion after come nearest to each other, s after ``frame``."""
    times = np.linspace(-2.0 * dt, (j - frame + 2) * dt, 81)
    later = times - (j - frame) * dt
    earlier_x, earlier_q = carry(x[frame], q[frame], before, times)
    fall = np.array([0.0, 0.0, -GRAVITY * (j - frame) * dt, 0.0, 0.0, 0.0]) if flies else np.zeros(6)
    later_x, later_q = carry(x[j], q[j], after + fall, later, falls=flies)
    turn = ARM * logarithm(multiply(earlier_q, conjugate(later_q)))
    miss = np.linalg.norm(np.concatenate([earlier_x - later_x, turn], axis=1), axis=1)
    return float(times[np.argmin(miss)])


def at_contact(impact: Impact, height: float, dt: float) -> Contact:
    """Carry the flight before to the first moment at which the lowest corner is at ``height`` (m)."""
    times = np.linspace(-2.0 * dt, (LONGEST + 1) * dt, 241)
    position, quaternion = carry(impact.position, impact.quaternion, impact.before, times)
    lowest = (corners_of(quaternion)[..., 2] + position[:, 2:]).min(axis=1)
    below = np.flatnonzero(lowest <= height)
    k = int(below[0]) if below.size else int(np.argmin(lowest))
    fall = np.array([0.0, 0.0, -GRAVITY * times[k], 0.0, 0.0, 0.0])
    heights = corners_of(quaternion[k : k + 1])[0, :, 2]
    return Contact(
        impact,
        position[k],
        quaternion[k],
        impact.before + fall,
        impact.after + (fall if impact.flies else 0.0),
        heights - heights.min(),
    )


def meeting_height(impact: Impact) -> float:
    """Height of the lowest corner where the paths before and after meet, m: where the table seems to be."""
    position, quaternion = carry(
        impact.position, impact.quaternion, impact.before, np.array([impact.meeting])
    )
    return float((corners_of(quaternion)[..., 2] + position[:, 2:]).min())


def carry(
    x: np.ndarray, q: np.ndarray, velocity: np.ndarray, times: np.ndarray, *, falls: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Free flight of a cube (its angular velocity is constant): positions (n, 3) and quaternions (n, 4)."""
    position = x + times[:, None] * velocity[:3]
    if falls:
        position[:, 2] -= 0.5 * GRAVITY * times**2
    turn = exponential(times[:, None] * velocity[3:])
    return position, multiply(turn, np.broadcast_to(q, (len(times), 4)))


def corners_of(quaternions: np.ndarray) -> np.ndarray:
    """The corners relative to the centre, (n, 8, 3) m, world frame."""
    return np.einsum("nij,kj->nki", rotation(quaternions), CORNERS)


def rotation(q: np.ndarray) -> np.ndarray:
    """Rotation matrices (n, 3, 3) of unit quaternions (n, 4)."""
    w, x, y, z = q.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def conjugate(q: np.ndarray) -> np.ndarray:
    """The inverse of unit quaternions."""
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def multiply(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Quaternion products, (n, 4)."""
    w, u, s, v = p[:, :1], p[:, 1:], q[:, :1], q[:, 1:]
    return np.concatenate(
        [w * s - (u * v).sum(axis=1, keepdims=True), w * v + s * u + np.cross(u, v)], axis=1
    )


def logarithm(q: np.ndarray) -> np.ndarray:
    """Rotation vectors (n, 3), rad, of unit quaternions (n, 4)."""
    q = np.where(q[:, :1] < 0.0, -q, q)
    length = np.linalg.norm(q[:, 1:], axis=1, keepdims=True)
    angle = 2.0 * np.arctan2(length, q[:, :1])
    return q[:, 1:] * np.where(length > 1e-12, angle / np.maximum(length, 1e-12), 2.0)


def exponential(rotation_vector: np.ndarray) -> np.ndarray:
    """Unit quaternions (n, 4) of rotation vectors (n, 3), rad."""
    angle = np.linalg.norm(rotation_vector, axis=1, keepdims=True)
    return np.concatenate([np.cos(angle / 2), 0.5 * np.sinc(angle / (2 * np.pi)) * rotation_vector], axis=1)
