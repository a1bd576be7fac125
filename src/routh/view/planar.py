"""A planar system in the viewer: its outlines as thin solids, its parameters as controls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from routh import systems
from routh.base.status import InputError
from routh.base.validation import Array
from routh.models.planar.bodies import HalfPlane, circle
from routh.models.planar.model import PlanarModel
from routh.view.mechanism import Control, Part, Placed, Values, bar, prism
from routh.viz.bodies import planes_of

if TYPE_CHECKING:
    from routh.sim import Bundle

_DEPTH, _BAR = 0.12, 0.03  # shares of the size
_GROUND = (205, 210, 218)


class PlanarMechanism:
    """A named system with a planar model; y up in the plane is z up in the viewer."""

    keyframes: tuple[str, ...] = ()

    def __init__(self, name: str, start: Values | None = None) -> None:
        self.title = name
        system = systems.get(name, **dict(start or {}))
        if not isinstance(system.model, PlanarModel) or system.state is None or system.problem is None:
            raise InputError(
                "name", wrong=f"{name!r} has no planar model with an impact", wanted="a system with one"
            )
        self._model: PlanarModel = system.model
        lines = np.concatenate([line for _, line in self._model.outlines(system.state.q)])
        self.size = float(np.linalg.norm(np.ptp(lines, axis=0)))
        self._middle = lines.mean(axis=0)
        self.controls = _parameters(name, start or {})
        self._usual = {control.name: control.value for control in _parameters(name, {})}
        self._owners, self.parts = self._solids(self._model)
        self.ground = tuple(_slab(plane, self._middle, self.size) for plane in planes_of(self._model))

    def start_from(self, keyframe: str | None) -> Values:
        """The parameters of the beginning."""
        return {control.name: control.value for control in self.controls}

    def place(self, values: Values) -> Placed:
        """The impact with these parameters."""
        system = systems.get(self.title, **values)
        model, state, problem = system.model, system.state, system.problem
        assert isinstance(model, PlanarModel)
        assert state is not None
        assert problem is not None
        self._model = model
        known = [info.name for info in model.contacts]
        closed = [known.index(name) for name in problem.names]
        points = _lifted(model.contact_points(state.q)[closed])
        normals = model.contact_normals(state.q)[closed]
        up, along = _lifted(normals), _lifted(np.stack([normals[:, 1], -normals[:, 0]], axis=1))
        frames = np.stack([up, along, np.cross(up, along)], axis=1)
        return Placed(np.array(state.q), problem, points, frames)

    def velocities(self, placed: Placed, v: Array) -> Array:
        """The velocities themselves."""
        return v

    def advance(self, q: Array, v: Array, dt: float) -> Array:
        """Configurations a moment later, (n, nq)."""
        return q + dt * v

    def poses(self, q: Array) -> tuple[Array, Array]:
        """Places of the bodies' frames."""
        found = np.array([self._model.poses(row) for row in q])[:, self._owners]  # (n, parts, 3)
        positions = _lifted(found[..., :2])
        turns = np.zeros((*found.shape[:-1], 4))
        turns[..., 0], turns[..., 2] = np.cos(0.5 * found[..., 2]), -np.sin(0.5 * found[..., 2])
        return positions, turns

    def others(self, placed: Placed, dt: float) -> dict[str, Array]:
        """No other simulator knows these systems."""
        return {}

    def futures(self, placed: Placed, count: int, duration: float, seed: int, rigid: bool = True) -> Bundle:
        """Motions from the impact on, rigid throughout."""
        from routh.laws import SetValued
        from routh.models.base import State
        from routh.sim import simulate_many

        state = State(placed.q, np.array(placed.problem.v))
        return simulate_many(self._model, state, n=count, duration=duration, law=SetValued(), seed=seed)

    def command(self, values: Values) -> str:
        """``routh view NAME`` with these parameters."""
        changed = [c.name for c in self.controls if values[c.name] != self._usual[c.name]]
        return " ".join(
            ["routh view", self.title, *(f"--set {name}={values[name]:.12g}" for name in changed)]
        )

    def _solids(self, model: PlanarModel) -> tuple[np.ndarray, tuple[Part, ...]]:
        owners, parts = [], []
        for i, body in enumerate(model.bodies):
            for line in body.outline:
                width, outline = _BAR * self.size, line
                if len(line) < 3:  # a segment or a point
                    outline = bar(line, width) if len(line) == 2 else circle(width) + line[0]
                parts.append(Part(body.name, *prism(np.asarray(outline), _DEPTH * self.size)))
                owners.append(i)
        return np.array(owners, dtype=int), tuple(parts)


def _parameters(name: str, start: Values) -> tuple[Control, ...]:
    """The numbers that the system's builder takes, with ranges around their defaults."""
    controls = []
    for parameter in systems.parameters(name):
        if not isinstance(parameter.default, float):
            continue
        value = float(start.get(parameter.name, parameter.default))
        if not _keeps_shapes(name, start, parameter.name, value):
            continue  # lengths are not dragged
        reach = max(abs(value), 0.1)
        low = 0.0 if value >= 0.0 else value - 2.0 * reach
        controls.append(Control(parameter.name, low, value + 2.0 * reach, value, fine=True))
    return tuple(controls)


def _keeps_shapes(name: str, start: Values, parameter: str, value: float) -> bool:
    """Whether the bodies look the same with another value of a parameter."""
    outlines = []
    for factor in (1.0, 0.9):
        try:
            model = systems.get(name, **{**start, parameter: factor * value}).model
        except ValueError:
            return False
        outlines.append([line for body in getattr(model, "bodies", ()) for line in body.outline])
    return len(outlines[0]) == len(outlines[1]) and all(
        one.shape == other.shape and np.array_equal(one, other) for one, other in zip(*outlines, strict=True)
    )


def _slab(plane: HalfPlane, middle: Array, size: float) -> Part:
    normal, point = np.array(plane.normal, dtype=float), np.array(plane.point, dtype=float)
    along = np.array([normal[1], -normal[0]])
    foot = point + along * float(along @ (middle - point))
    ends = foot - 1.5 * size * along, foot + 1.5 * size * along
    thick = 0.06 * size * normal
    outline = np.array([ends[0], ends[1], ends[1] - thick, ends[0] - thick, ends[0]])
    return Part("ground", *prism(outline, 4.0 * _DEPTH * size), _GROUND)


def _lifted(points: Array) -> Array:
    """Points (..., 2) of the plane as (..., 3) in space."""
    return np.stack([points[..., 0], np.zeros(points.shape[:-1]), points[..., 1]], axis=-1)
