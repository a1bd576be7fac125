"""What stands in the scene: the mechanism, its contacts, ghosts of its outcomes, and other answers."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from routh.validation import Array
from routh.view.mechanism import Mechanism, Placed

if TYPE_CHECKING:
    from viser import ArrowsHandle, SceneApi, SceneNodeHandle

_NORMAL, _VELOCITY, _IMPULSE = (30, 30, 30), (213, 94, 0), (0, 158, 115)
_OTHERS = ((20, 20, 20), (170, 0, 0), (0, 0, 140))
_PLAY = 1.5  # s that an impulse path takes on the screen


class Scene:
    """Handles of everything that is drawn, so that dragging moves things instead of making them anew."""

    def __init__(self, scene: SceneApi, mechanism: Mechanism) -> None:
        self._scene, self._mechanism = scene, mechanism
        scene.set_up_direction("+z")
        for k, part in enumerate(mechanism.ground):
            scene.add_mesh_simple(
                f"/ground/{k}", part.vertices.astype(np.float32), part.faces, color=part.color, side="double"
            )
        self._solids = [
            scene.add_mesh_simple(
                f"/mechanism/{k}", part.vertices.astype(np.float32), part.faces, color=part.color
            )
            for k, part in enumerate(mechanism.parts)
        ]
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
        names = [name for name, seen in zip(placed.problem.names, there, strict=True) if seen]
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
        self._marks = [
            self._arrows("/contacts/normals", normals, _NORMAL),
            self._arrows("/contacts/velocities", approach, _VELOCITY),
        ]
        self._labelled = _far_apart(points, size)
        for k in self._labelled:
            place = points[k] + 0.15 * size
            self._marks.append(self._scene.add_label(f"/contacts/name{k}", names[k], position=place))

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
                self._scene.add_batched_meshes_simple(
                    f"/ghosts/{k}",
                    part.vertices.astype(np.float32),
                    part.faces,
                    batched_wxyzs=turns[:, k],
                    batched_positions=positions[:, k],
                    batched_colors=colors,
                    opacity=0.3,
                    cast_shadow=False,
                    receive_shadow=False,
                    lod="off",
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
                handle = self._scene.add_mesh_simple(
                    f"/others/{row}/{k}",
                    part.vertices.astype(np.float32),
                    part.faces,
                    color=_OTHERS[row % len(_OTHERS)],
                    wireframe=True,
                    position=positions[0, k],
                    wxyz=turns[0, k],
                )
                self._other.append(handle)
            self._other.append(
                self._scene.add_label(f"/others/{row}/name", name, position=positions[0].max(axis=0))
            )

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
