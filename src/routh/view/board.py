"""The board: the set of outcomes in two contact velocities, in the scene; every sample can be clicked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from routh.validation import Array

if TYPE_CHECKING:
    from viser import BatchedMeshHandle, LabelHandle, SceneApi, SceneNodeHandle, SceneNodePointerEvent

_DOT = np.array([[0.0, 0.0, 0.0], *((np.cos(a), 0.0, np.sin(a)) for a in np.linspace(0, 2 * np.pi, 9)[:-1])])
_FAN = np.array([(0, 1 + k, 1 + (k + 1) % 8) for k in range(8)])
_INK = (60, 60, 60)
_LEAST_SPAN = 1e-3  # m/s, from one side of the board to the other


class Board:
    """A vertical panel in the plane y = const with a dot for every sample."""

    def __init__(self, scene: SceneApi, corner: Array, size: float) -> None:
        self._scene, self._corner, self._size = scene, corner, size
        self._dots: BatchedMeshHandle | None = None
        self._colors = np.empty((0, 3), dtype=np.uint8)
        self._labels: list[LabelHandle] = []
        self._outline: SceneNodeHandle | None = None
        self.on_pick: Callable[[int], None] = lambda index: None

    def show(self, points: Array, colors: np.ndarray, names: tuple[str, str], outlines: list[Array]) -> None:
        """Samples (n, 2), their colours (n, 3), the two axes' names, and outlines (k, 2) of the exact set."""
        low, high = points.min(axis=0), points.max(axis=0)
        span = np.maximum(high - low, _LEAST_SPAN)  # what differs by rounding only is one point
        self._map = 0.5 * (low + high - span), span
        places = self.places(points).astype(np.float32)
        if self._dots is None or not np.array_equal(colors, self._colors):
            self._make_dots(places, colors)  # viser's page keeps the colours that instances were made with
        else:
            self._dots.batched_positions = places
        self._draw_frame(names, low, high)
        self._draw_outlines(outlines)

    def _make_dots(self, places: np.ndarray, colors: np.ndarray) -> None:
        if self._dots is not None:
            self._dots.remove()
        self._colors = colors
        self._dots = self._scene.add_batched_meshes_simple(
            "/board/samples",
            (0.012 * self._size * _DOT).astype(np.float32),
            _FAN,
            batched_wxyzs=np.tile(np.array([1.0, 0, 0, 0], dtype=np.float32), (len(places), 1)),
            batched_positions=places,
            batched_colors=colors,
            side="double",
            cast_shadow=False,
            receive_shadow=False,
            lod="off",
        )
        self._dots.on_click(self._picked)

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

    def _draw_frame(self, names: tuple[str, str], low: Array, high: Array) -> None:
        ends = np.round([low, high], 6) + 0.0  # no rounding errors, no minus zero
        texts = [f"{name}: {a:.3g} to {b:.3g} m/s" for name, a, b in zip(names, *ends, strict=True)]
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
        edges = [
            np.stack([self.places(line), np.roll(self.places(line), -1, axis=0)], axis=1) for line in outlines
        ]
        if edges:
            segments = np.concatenate(edges).astype(np.float32)
            self._outline = self._scene.add_line_segments(
                "/board/exact", segments, (0, 0, 0), thickness=0.004 * self._size
            )
