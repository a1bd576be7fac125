"""The board: the set of outcomes in two contact velocities, in the scene; every sample can be clicked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from routh.validation import Array

if TYPE_CHECKING:
    from viser import BatchedMeshHandle, SceneApi, SceneNodeHandle, SceneNodePointerEvent

_DOT = np.array([[0.0, 0.0, 0.0], *((np.cos(a), 0.0, np.sin(a)) for a in np.linspace(0, 2 * np.pi, 9)[:-1])])
_FAN = np.array([(0, 1 + k, 1 + (k + 1) % 8) for k in range(8)])
_INK = (60, 60, 60)


class Board:
    """A vertical panel in the plane y = const with a dot for every sample."""

    def __init__(self, scene: SceneApi, corner: Array, size: float) -> None:
        self._scene, self._corner, self._size = scene, corner, size
        self._dots: BatchedMeshHandle | None = None
        self._marks: list[SceneNodeHandle] = []
        self.on_pick: Callable[[int], None] = lambda index: None

    def show(self, points: Array, colors: np.ndarray, names: tuple[str, str], outlines: list[Array]) -> None:
        """Samples (n, 2), their colours (n, 3), the two axes' names, and outlines (k, 2) of the exact set."""
        low, high = points.min(axis=0), points.max(axis=0)
        span = np.maximum(high - low, 1e-9)
        self._map = low, span
        places = self.places(points)
        radius = 0.012 * self._size
        if self._dots is not None:
            self._dots.remove()
        self._dots = self._scene.add_batched_meshes_simple(
            "/board/samples",
            (radius * _DOT).astype(np.float32),
            _FAN,
            batched_wxyzs=np.tile(np.array([1.0, 0, 0, 0], dtype=np.float32), (len(points), 1)),
            batched_positions=places.astype(np.float32),
            batched_colors=colors,
            side="double",
            cast_shadow=False,
            receive_shadow=False,
            lod="off",
        )
        self._dots.on_click(self._picked)
        self._draw_frame(names, low, high, outlines)

    def places(self, points: Array) -> Array:
        """Where points (n, 2) lie on the board, (n, 3)."""
        low, span = self._map
        share = (points - low) / span
        along = np.zeros((len(points), 3))
        along[:, 0], along[:, 2] = share[:, 0] * self._size, share[:, 1] * self._size
        return self._corner + along

    def _picked(self, event: SceneNodePointerEvent) -> None:
        if event.instance_index is not None:
            self.on_pick(int(event.instance_index))

    def _draw_frame(self, names: tuple[str, str], low: Array, high: Array, outlines: list[Array]) -> None:
        for mark in self._marks:
            mark.remove()
        s, c = self._size, self._corner
        x, z = np.array([s, 0, 0]), np.array([0, 0, s])
        lines = [np.stack([c - 0.04 * z, c - 0.04 * z + x]), np.stack([c - 0.04 * x, c - 0.04 * x + z])]
        add = self._scene
        self._marks = [
            add.add_line_segments(
                "/board/axes", np.array(lines, dtype=np.float32), _INK, thickness=0.006 * s
            ),
            add.add_label(
                "/board/x", f"{names[0]}: {low[0]:.3g} to {high[0]:.3g} m/s", position=c + 0.5 * x - 0.12 * z
            ),
            add.add_label("/board/z", f"{names[1]}: {low[1]:.3g} to {high[1]:.3g} m/s", position=c + 1.1 * z),
        ]
        edges = [
            np.stack([self.places(line), np.roll(self.places(line), -1, axis=0)], axis=1) for line in outlines
        ]
        if edges:
            segments = np.concatenate(edges).astype(np.float32)
            self._marks.append(
                add.add_line_segments("/board/exact", segments, (0, 0, 0), thickness=0.004 * s)
            )
