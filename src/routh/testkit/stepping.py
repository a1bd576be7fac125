"""An engine that steps, as velocities after an impact: step until no contact approaches any more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from routh.base.status import ModelError
from routh.testkit.scene import ImpactScene, contacts, jacobians

if TYPE_CHECKING:
    from routh.base.validation import Array

OVER = 0.02  # an impact is over when this share of the approach is left
LONGEST = 0.15  # s
WAITING, COMING = 0.05, 0.02  # m: contacts this near count before the first step, and after it
CHANGED = 1e-3  # share of the approach by which velocities have to change before an impact has begun


class Stepper(Protocol):
    """A scene inside an engine."""

    def step(self) -> None:
        """Advance by one step."""

    def state(self) -> Array:
        """Places and velocities, (bodies, 13), as of `routh.testkit.ImpactScene.state`."""

    def close(self) -> None:
        """Let the engine's memory go."""


@dataclass(frozen=True)
class Stepped:
    """An engine as a function: the velocities (bodies, 6) after the impact of a scene."""

    make: Callable[..., Stepper]  # of a scene and a step, with ``options``
    dt: float  # s
    options: dict[str, object] = field(default_factory=dict)
    restitution: bool = True  # whether the engine can be asked for one

    def __call__(self, scene: ImpactScene) -> Array:
        """Step until the impact is over."""
        engine = self.make(scene, self.dt, **self.options)
        try:
            return impact(engine, scene, self.dt)
        finally:
            engine.close()


def impact(engine: Stepper, scene: ImpactScene, dt: float, longest: float = LONGEST) -> Array:
    """The velocities (bodies, 6) once nothing approaches, or after ``longest`` (s).

    Contacts count that are near at that moment: a foot that comes down a little later belongs to the impact.
    With restitution the contacts of a soft engine push on after that: until velocities change no more.
    """
    before = last = scene.velocities
    fastest = _approach(scene, scene.state, WAITING)
    begun = False
    for k in range(1, int(np.ceil(longest / dt)) + 2):
        engine.step()
        state = engine.state()
        if not np.isfinite(state).all():
            raise ModelError(scene.name, wrong=f"the engine's state is not finite after {k} steps")
        v = state[:, 7:]
        begun = begun or bool(np.abs(v - before).max() > CHANGED * fastest)
        pushing = bool(scene.restitution) and bool(np.abs(v - last).max() > CHANGED * fastest)
        if begun and not pushing and _approach(scene, state, COMING) <= OVER * fastest:
            break
        last = v
    return v


def _approach(scene: ImpactScene, state: Array, near: float) -> float:
    """The fastest approach of contacts that are near now, m/s."""
    points = contacts(scene, state, near)
    if not points:
        return 0.0
    Jn, _ = jacobians(scene, points, state)
    return float(-(Jn @ state[:, 7:].ravel()).min())
