"""What stands in the scene.

`Scene` has the mechanism, its contacts, ghosts of its outcomes and other answers; `Board` the set of outcomes
in two contact velocities, where every sample can be clicked. `Shown` is what is on the screen, `Viewing` what
the parts of a viewer may ask of the whole.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from routh.base.validation import Array
from routh.sampling import Outcomes
from routh.view.mechanism import Part, Placed, ShownMechanism
from routh.viz import style
from routh.viz.style import Look

if TYPE_CHECKING:
    from viser import (
        ArrowsHandle,
        BatchedMeshHandle,
        LabelHandle,
        MeshHandle,
        SceneApi,
        SceneNodeHandle,
        SceneNodePointerEvent,
    )

_NORMAL, _VELOCITY, _IMPULSE = (30, 30, 30), (213, 94, 0), (0, 158, 115)
_OTHERS = ((20, 20, 20), (170, 0, 0), (0, 0, 140))
_PLAY = 1.5  # s that an impulse path takes on the screen
_DOT = np.array([[0.0, 0.0, 0.0], *((np.cos(a), 0.0, np.sin(a)) for a in np.linspace(0, 2 * np.pi, 9)[:-1])])
_FAN = np.array([(0, 1 + k, 1 + (k + 1) % 8) for k in range(8)])
_INK = (60, 60, 60)
_LEAST_SPAN = 1e-3  # m/s, from one side of the board to the other
ALL = "all modes"
#: Of combinations of contact modes; the last one for all that are rare.
_COLORS = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.SKY, style.VERMILION, "#8C8C8C")
PALETTE = np.array([style.rgb(color) for color in _COLORS], dtype=np.uint8)


def colors(which: np.ndarray) -> np.ndarray:
    """A colour for each sample, (n, 3) uint8; rare combinations share grey."""
    return PALETTE[np.minimum(which, len(PALETTE) - 1)]


class Scene:
    """Handles of everything that is drawn, so that dragging moves things instead of making them anew."""

    def __init__(self, scene: SceneApi, mechanism: ShownMechanism) -> None:
        self._scene, self._mechanism = scene, mechanism
        scene.set_up_direction("+z")
        for k, part in enumerate(mechanism.ground):
            self._mesh(f"/ground/{k}", part, {"color": part.color, "side": "double"})
        parts = enumerate(mechanism.parts)
        self._solids = [self._mesh(f"/mechanism/{k}", part, {"color": part.color}) for k, part in parts]
        self._ghosts: list[SceneNodeHandle] = []
        self._marks: list[Any] = []
        self._marked: list[str] = []
        self._labelled: list[int] = []
        self._ghost_colors = np.empty((0, 3), dtype=np.uint8)
        self._other: list[SceneNodeHandle] = []

    def show_state(self, placed: Placed) -> None:
        """The mechanism as it touches, its contact points, normals and approach velocities."""
        positions, turns = self._mechanism.poses(placed.q[None])
        for solid, position, turn in zip(self._solids, positions[0], turns[0], strict=True):
            solid.position, solid.wxyz = position, turn
        there = np.isfinite(placed.points[:, 0])
        points = placed.points[there]
        owners = placed.bodies or placed.problem.names
        names = [name for name, seen in zip(owners, there, strict=True) if seen]
        if names != self._marked:  # other contacts than before
            self._remove(self._marks)
            self._marked = names
        if not names:
            return
        size = 0.25 * self._mechanism.size
        velocity = placed.problem.contact_velocity(placed.problem.v)[there]
        world = np.einsum("ck,ckx->cx", velocity, placed.frames[there][:, : velocity.shape[1]])
        along = size * world / max(float(np.linalg.norm(world, axis=1).max()), 1e-12)
        beside = points + 0.3 * size * _outward(points)  # in front of the mechanism, where they are seen
        normals = _ends(beside, size * placed.frames[there][:, 0])
        approach = _ends(beside - along, along)
        if self._marks:
            self._marks[0].points, self._marks[1].points = normals, approach
            for mark, k in zip(self._marks[2:], self._labelled, strict=True):
                mark.position = points[k] + 0.15 * size
            return
        arrows = (("normals", normals, _NORMAL), ("velocities", approach, _VELOCITY))
        self._marks = [self._arrows(f"/contacts/{name}", ends, color) for name, ends, color in arrows]
        first, many = [names.index(name) for name in dict.fromkeys(names)], Counter(names)
        self._labelled = [first[k] for k in _far_apart(points[first], size)]
        for k in self._labelled:
            place = points[k] + 0.15 * size
            text = f"{names[k]} ({many[names[k]]} contacts)" if many[names[k]] > 1 else names[k]
            self._marks.append(self._scene.add_label(f"/contacts/name{k}", text, position=place))

    def show_ghosts(self, q: Array, colors: np.ndarray) -> None:
        """Transparent copies of the mechanism at (n, nq), coloured (n, 3)."""
        if not np.array_equal(colors, self._ghost_colors):
            self._remove(self._ghosts)  # viser's page keeps the colours that instances were made with
            self._ghost_colors = colors
        if not len(q):
            return
        positions, turns = (array.astype(np.float32) for array in self._mechanism.poses(q))
        if not self._ghosts:
            self._ghosts = [
                _copies(
                    self._scene, f"/ghosts/{k}", part, positions[:, k], turns[:, k], colors, {"opacity": 0.3}
                )
                for k, part in enumerate(self._mechanism.parts)
            ]
            return
        for k, ghost in enumerate(self._ghosts):
            ghost.batched_positions, ghost.batched_wxyzs = positions[:, k], turns[:, k]

    def show_others(self, answers: dict[str, Array]) -> None:
        """Single answers at (nq,) as wire frames, by name."""
        self._remove(self._other)
        for row, (name, q) in enumerate(answers.items()):
            positions, turns = self._mechanism.poses(q[None])
            for k, part in enumerate(self._mechanism.parts):
                look: Look = {"color": _OTHERS[row % len(_OTHERS)], "wireframe": True}
                place: Look = {"position": positions[0, k], "wxyz": turns[0, k]}
                self._other.append(self._mesh(f"/others/{row}/{k}", part, {**look, **place}))
            above = positions[0].max(axis=0)
            self._other.append(self._scene.add_label(f"/others/{row}/name", name, position=above))

    def play(self, places: Array, impulses: Array, placed: Placed, closed: threading.Event) -> None:
        """Move a dot along the path on the board while arrows grow at the contacts, some 30 frames."""
        total = np.concatenate([np.zeros((1, *impulses.shape[1:])), np.cumsum(impulses, axis=0)])
        largest = max(float(np.abs(total).max()), 1e-12)
        there = np.isfinite(placed.points[:, 0])
        length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1))])
        way = length / max(length[-1], 1e-12)
        for share in np.linspace(0.0, 1.0, 30):
            if closed.is_set():
                return
            at = np.array([np.interp(share, way, column) for column in places.T])
            flat = [np.interp(share, way, column) for column in total.reshape(len(total), -1).T]
            now = np.reshape(flat, total.shape[1:])
            world = np.einsum("ck,ckx->cx", now[there], placed.frames[there][:, : now.shape[1]])
            self._scene.add_icosphere(
                "/board/now", radius=0.02 * self._mechanism.size, color=(0, 0, 0), position=at
            )
            grown = 0.6 * self._mechanism.size * world / largest
            self._arrows("/contacts/impulses", _ends(placed.points[there], grown), _IMPULSE)
            time.sleep(_PLAY / 30)

    def _mesh(self, name: str, part: Part, look: Look) -> MeshHandle:
        return self._scene.add_mesh_simple(name, part.vertices.astype(np.float32), part.faces, **look)

    def _arrows(self, name: str, ends: Array, color: tuple[int, int, int]) -> ArrowsHandle:
        size = 0.01 * self._mechanism.size
        return self._scene.add_arrows(
            name, ends, color, shaft_radius=size, head_radius=2.5 * size, head_length=5.0 * size
        )

    @staticmethod
    def _remove(handles: list[SceneNodeHandle]) -> None:
        for handle in handles:
            handle.remove()
        handles.clear()


def _copies(
    scene: SceneApi,
    name: str,
    part: Part,
    positions: np.ndarray,
    turns: np.ndarray,
    colors: np.ndarray,
    look: Look,
) -> BatchedMeshHandle:
    """A part at n places (n, 3), turned (n, 4) and coloured (n, 3); nothing casts shadows."""
    plain: Look = {"cast_shadow": False, "receive_shadow": False, "lod": "off", **look}
    where: Look = {
        "batched_positions": positions.astype(np.float32),
        "batched_wxyzs": turns.astype(np.float32),
    }
    corners = part.vertices.astype(np.float32)
    return scene.add_batched_meshes_simple(name, corners, part.faces, **where, batched_colors=colors, **plain)


def _ends(start: Array, along: Array) -> Array:
    """Starts and tips of arrows, (n, 2, 3)."""
    return np.stack([start, start + along], axis=1).astype(np.float32)


def _outward(points: Array) -> Array:
    """Horizontal directions away from the middle of some points and towards the camera, (n, 3)."""
    away = points - points.mean(axis=0)
    away[:, 2] = 0.0
    length = np.linalg.norm(away, axis=1, keepdims=True)
    away = np.where(length > 1e-9, away / np.maximum(length, 1e-9), 0.0)
    away[:, 1] -= 1.0
    return np.asarray(away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-9))


def _far_apart(points: Array, distance: float) -> list[int]:
    """Indices of points whose names do not overlap."""
    chosen: list[int] = []
    for k, point in enumerate(points):
        if all(np.linalg.norm(point - points[other]) > distance for other in chosen):
            chosen.append(k)
    return chosen


class Board:
    """A vertical panel in the plane y = const with a dot for every sample."""

    def __init__(self, scene: SceneApi, corner: Array, size: float) -> None:
        self._scene, self._corner, self._size = scene, corner, size
        self._dots: BatchedMeshHandle | None = None
        self._colors = np.empty((0, 3), dtype=np.uint8)
        self._labels: list[LabelHandle] = []
        self._outline: SceneNodeHandle | None = None
        self.on_pick: Callable[[int], None] = lambda index: None

    def show(
        self, points: Array, colors: np.ndarray, axes: list[tuple[str, str]], outlines: list[Array]
    ) -> None:
        """Samples (n, 2), colours (n, 3), the axes' names and units, outlines (k, 2) of the exact set."""
        low, high = points.min(axis=0), points.max(axis=0)
        span = np.maximum(high - low, _LEAST_SPAN)  # what differs by rounding only is one point
        self._map = 0.5 * (low + high - span), span
        places = self.places(points).astype(np.float32)
        if self._dots is None or not np.array_equal(colors, self._colors):
            self._make_dots(places, colors)  # viser's page keeps the colours that instances were made with
        else:
            self._dots.batched_positions = places
        self._draw_frame(axes, low, high)
        self._draw_outlines(outlines)

    def _make_dots(self, places: np.ndarray, colors: np.ndarray) -> None:
        if self._dots is not None:
            self._dots.remove()
        self._colors = colors
        dot, upright = Part("dot", 0.012 * self._size * _DOT, _FAN), np.tile([1.0, 0, 0, 0], (len(places), 1))
        self._dots = _copies(self._scene, "/board/samples", dot, places, upright, colors, {"side": "double"})
        self._dots.on_click(self._picked)

    def places(self, points: Array) -> Array:
        """Positions of points (n, 2) on the board, (n, 3)."""
        low, span = self._map
        share = (points - low) / span
        along = np.zeros((len(points), 3))
        along[:, 0], along[:, 2] = share[:, 0] * self._size, share[:, 1] * self._size
        return self._corner + along

    def _picked(self, event: SceneNodePointerEvent) -> None:
        if event.instance_index is not None:
            self.on_pick(int(event.instance_index))

    def _draw_frame(self, axes: list[tuple[str, str]], low: Array, high: Array) -> None:
        ends = np.round([low, high], 6) + 0.0  # no rounding errors, no minus zero
        texts = [f"{name}: {a:.3g} to {b:.3g} {unit}" for (name, unit), a, b in zip(axes, *ends, strict=True)]
        if self._labels:
            for label, text in zip(self._labels, texts, strict=True):
                label.text = text
            return
        s, c, add = self._size, self._corner, self._scene
        x, z = np.array([s, 0, 0]), np.array([0, 0, s])
        lines = [np.stack([c - 0.04 * z, c - 0.04 * z + x]), np.stack([c - 0.04 * x, c - 0.04 * x + z])]
        add.add_line_segments("/board/axes", np.array(lines, dtype=np.float32), _INK, thickness=0.006 * s)
        places = (c + 0.5 * x - 0.12 * z, c + 1.1 * z)
        self._labels = [
            add.add_label(f"/board/{axis}", text, position=place)
            for axis, text, place in zip("xz", texts, places, strict=True)
        ]

    def _draw_outlines(self, outlines: list[Array]) -> None:
        if self._outline is not None:
            self._outline.remove()
            self._outline = None
        if outlines:
            rings = [self.places(line) for line in outlines]
            edges = np.concatenate([np.stack([ring, np.roll(ring, -1, axis=0)], axis=1) for ring in rings])
            look: Look = {"colors": (0, 0, 0), "thickness": 0.004 * self._size}
            self._outline = self._scene.add_line_segments("/board/exact", edges.astype(np.float32), **look)


@dataclass(frozen=True, eq=False)
class Shown:
    """What is on the screen: a state and its outcomes."""

    placed: Placed
    outcomes: Outcomes
    modes: list[str]
    which: np.ndarray  # (n,) int, the combination of modes of each outcome
    ended: np.ndarray  # (m,) int, outcomes that ended
    seconds: float  # of computing


class Viewing(Protocol):
    """A running viewer, as its panels see it."""

    mechanism: ShownMechanism
    scene: Scene
    seed: int
    shown: Shown | None
    panel: Any

    def touch(self) -> None:
        """Compute and draw again."""

    def pick(self, index: int) -> None:
        """Show one of the outcomes that ended."""
