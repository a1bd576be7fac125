"""What the viewer shows: a mechanism as solids, with controls that place it just before its impact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from routh.base.status import InputError
from routh.base.validation import Array
from routh.models.rotations import rotation_matrices
from routh.problem.impact import ImpactProblem

Values = Mapping[str, float]


@dataclass(frozen=True)
class Control:
    """A number that the viewer lets people drag."""

    name: str
    low: float
    high: float
    value: float
    unit: str = ""
    fine: bool = False  # outcomes hang on small changes of it: its slider may span a part of the range

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise InputError(self.name, got=f"the range {self.low} to {self.high}", wanted="an interval")


@dataclass(frozen=True, eq=False)
class Part:
    """A rigid solid in its own frame."""

    name: str
    vertices: Array  # (k, 3) m
    faces: np.ndarray  # (f, 3) int
    color: tuple[int, int, int] = (150, 160, 175)


@dataclass(frozen=True, eq=False)
class Placed:
    """The mechanism just before its impact."""

    q: Array  # (nq,)
    problem: ImpactProblem
    points: Array = field(repr=False)  # (nc, 3) m, where the contacts are; NaN where they have no place
    frames: Array = field(repr=False)  # (nc, 3, 3) rows: normal and two tangents
    bodies: tuple[str, ...] = ()  # (nc,) what touches, in a person's words; empty: the contacts' names
    window: float | None = None  # s: contacts that close within it are simultaneous; None: the usual
    note: str = ""  # what else is to be said of it, one line

    @property
    def names(self) -> list[str]:
        """What each contact is called: its body, numbered where that has several."""
        owners = self.bodies or self.problem.names
        many, seen, found = Counter(owners), Counter[str](), []
        for owner in owners:
            seen[owner] += 1
            found.append(f"{owner} {seen[owner]}" if many[owner] > 1 else owner)
        return found


class Moving(Protocol):
    """Several motions from one instant on: `routh.sim.Bundle`, or `routh.sim.futures.Aftermath`."""

    def __len__(self) -> int:
        """Number of motions."""

    def at(self, t: float) -> tuple[Array, Array]:
        """Configurations (n, nq) at one time, s, first."""


@runtime_checkable
class ShownMechanism(Protocol):
    """A robot or a planar system that can be shown and placed."""

    title: str
    size: float  # m, of the whole, for arrows and the board
    controls: tuple[Control, ...]
    parts: tuple[Part, ...]  # that move
    ground: tuple[Part, ...]  # that do not, in world coordinates
    keyframes: tuple[str, ...]  # postures to start from, by name

    def start_from(self, keyframe: str | None) -> Values:
        """Take the posture of a keyframe, None: that of the beginning; where the controls stand then."""

    def place(self, values: Values) -> Placed:
        """The impact with these controls; raises ValueError where there is none."""

    def velocities(self, placed: Placed, v: Array) -> Array:
        """Velocities of the whole mechanism (n, ...) from the problem's (n, nv)."""

    def advance(self, q: Array, v: Array, dt: float) -> Array:
        """Configurations (n, nq) after ``dt`` s at the mechanism's velocities (n, ...)."""

    def poses(self, q: Array) -> tuple[Array, Array]:
        """Positions (n, parts, 3) and unit quaternions (n, parts, 4) of the parts at (n, nq)."""

    def others(self, placed: Placed, dt: float) -> dict[str, Array]:
        """Configurations (nq,) a moment later by other simulators, by name."""

    def futures(self, placed: Placed, count: int, duration: float, seed: int, rigid: bool) -> Moving:
        """Motions from the impact on, with rigid contacts throughout where ``rigid``."""

    def command(self, values: Values) -> str:
        """The command line that shows this state again."""


def corners(parts: Sequence[Part], positions: Array, turns: Array) -> Array:
    """Corners of the boxes around all parts at (n, parts) places, (n, 8 parts, 3) m."""
    found = []
    for k, part in enumerate(parts):
        ends = np.array([part.vertices.min(axis=0), part.vertices.max(axis=0)])
        box = np.array([[ends[i, 0], ends[j, 1], ends[m, 2]] for i, j, m in np.ndindex(2, 2, 2)])
        found.append(box @ rotation_matrices(turns[:, k]).swapaxes(1, 2) + positions[:, k, None])
    return np.concatenate(found, axis=1)


def prism(outline: Array, depth: float) -> tuple[Array, np.ndarray]:
    """A flat solid from an outline (k, 2) in the plane (x, z), star-shaped about its centre; deep along y."""
    ring = outline[:-1] if np.allclose(outline[0], outline[-1]) else outline
    count = len(ring)
    layers = []
    for y in (-0.5 * depth, 0.5 * depth):
        corners = np.stack([ring[:, 0], np.full(count, y), ring[:, 1]], axis=1)
        layers += [corners, corners.mean(axis=0, keepdims=True)]
    vertices = np.concatenate(layers)
    i, j = np.arange(count), (np.arange(count) + 1) % count
    near, far, other = np.full(count, count), np.full(count, 2 * count + 1), count + 1
    faces = [
        np.stack([i, j, near], axis=1),
        np.stack([j + other, i + other, far], axis=1),
        np.stack([j, i, i + other], axis=1),
        np.stack([j, i + other, j + other], axis=1),
    ]
    return vertices, np.concatenate(faces)


def bar(line: Array, width: float) -> Array:
    """The outline (5, 2) of a thin bar along a segment (2, 2)."""
    along = line[1] - line[0]
    side = 0.5 * width * np.array([-along[1], along[0]]) / max(float(np.linalg.norm(along)), 1e-12)
    return np.array([line[0] - side, line[1] - side, line[1] + side, line[0] + side, line[0] - side])
