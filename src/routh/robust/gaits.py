"""Two gaits with one impact a step: what the impact is, and how the motion goes on from it to the next one.

Both walk on a slope with a foot that does not slip between impacts. Coordinates are along the slope, so that
the impact does not depend on it; gravity does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from routh.problem import ImpactProblem
from routh.validation import Array, integer, real

_GRAVITY = 9.81  # m/s^2
_LONGEST = 5.0  # s of a step; who has not landed by then has fallen
_STANDING = 0.01  # rad past the vertical before which no foot can land ahead
_TOUCHES = 1e-6  # rad: both legs are at one angle to the normal


@dataclass(frozen=True)
class Wheel:
    """A rimless wheel that rolls down a slope on the ends of its spokes.

    Its state as foot B ahead lands is (rate, slip): how fast it turns about foot A behind (rad/s), and with
    which velocity A slips (m/s, forwards).

    Parameters
    ----------
    spokes : at least 4; length : m; mass : kg; inertia : about the hub, kg m^2, uniform spokes by default.
    slope : rad, below pi / spokes; mu : friction.
    """

    spokes: int = 8
    length: float = 1.0
    mass: float = 1.0
    inertia: float | None = None
    slope: float = 0.1
    mu: float = 1.0

    def __post_init__(self) -> None:
        integer("spokes", self.spokes, at_least=4)
        for name in ("length", "mass", "mu"):
            real(name, getattr(self, name), above=0.0)
        if self.inertia is not None:
            real("inertia", self.inertia, above=0.0)
        real("slope", self.slope, above=0.0, at_most=math.nextafter(math.pi / self.spokes, 0.0))

    @property
    def coordinates(self) -> tuple[str, ...]:
        """What `next_state` tells."""
        return ("rate",)

    @property
    def half(self) -> float:
        """Half of the angle between two spokes, rad."""
        return math.pi / self.spokes

    @property
    def about_hub(self) -> float:
        """Inertia about the hub, kg m^2."""
        return self.mass * self.length**2 / 3.0 if self.inertia is None else self.inertia

    @property
    def about_foot(self) -> float:
        """Inertia about a foot, kg m^2."""
        return self.about_hub + self.mass * self.length**2

    @property
    def _arm(self) -> tuple[float, float]:
        """From foot A to the hub, along the slope and up from it, m."""
        return self.length * math.sin(self.half), self.length * math.cos(self.half)

    def velocity(self, state: Array) -> Array:
        """(..., 3) along the slope, up from it, and of the angle, from (..., 2) rate and slip."""
        ahead, up = self._arm
        rate, slip = state[..., 0], state[..., 1]
        return np.stack([rate * up + slip, -rate * ahead, -rate], axis=-1)

    def problem(self, state: Array) -> ImpactProblem:
        """The impact in which foot B lands."""
        ahead, up = self._arm
        return ImpactProblem(
            np.diag([self.mass, self.mass, self.about_hub]),
            [[0.0, 1.0, -ahead], [0.0, 1.0, ahead]],
            [[1.0, 0.0, up], [1.0, 0.0, up]],
            self.mu,
            self.velocity(np.asarray(state, dtype=np.float64)),
            names=["A", "B"],
        )

    @property
    def rate_after(self) -> Array:
        """(3,) ``rate_after . v`` is the rate about foot B after it: angular momentum over inertia."""
        ahead, up = self._arm
        return np.array([self.mass * up, self.mass * ahead, -self.about_hub]) / self.about_foot

    @property
    def gain(self) -> float:
        """By how much the square of the rate grows from one landing to the next, rad^2/s^2."""
        pull = 2.0 * self.mass * _GRAVITY * self.length / self.about_foot
        return pull * (math.cos(self.half - self.slope) - math.cos(self.half + self.slope))

    @property
    def barrier(self) -> float:
        """The square of the rate after an impact, below which the hub does not get over its foot."""
        pull = 2.0 * self.mass * _GRAVITY * self.length / self.about_foot
        return pull * (1.0 - math.cos(self.half - self.slope))

    def next_state(self, v: Array) -> Array | None:
        """The state (1,) as the next foot lands: its rate; None where the wheel falls back.

        ``v`` (3,) is the velocity after the impact, with foot B at rest.
        """
        rate = float(self.rate_after @ v)
        if not (rate > 0.0 and rate**2 > self.barrier):
            return None
        return np.array([math.sqrt(rate**2 + self.gain)])

    def stance(self, low: float, high: float, points: int = 4001) -> tuple[float, float]:
        """(least normal force, most friction needed beyond mu times it), over the weight, during a step.

        ``low``, ``high``: rates after the impact. Forces are affine in the square of the rate, so these two
        bound all between; between neighbouring points of the angle they change by less than 0.02.
        """
        k = self.mass * self.length**2 / self.about_foot
        angle = np.linspace(-self.half, self.half, points)
        lean = angle + self.slope
        least, most = math.inf, -math.inf
        for rate in (low, high):
            unit = self.length / _GRAVITY
            square = unit * rate**2 + 2.0 * k * (math.cos(self.half - self.slope) - np.cos(lean))
            along, across = np.cos(lean) - square, -(1.0 - k) * np.sin(lean)
            normal = along * np.cos(angle) - across * np.sin(angle)
            friction = along * np.sin(angle) + across * np.cos(angle)
            least = min(least, float(normal.min()))
            most = max(most, float((np.abs(friction) - self.mu * normal).max()))
        return least, most


@dataclass(frozen=True)
class Compass:
    """The compass gait: two straight legs without feet walk down a slope (Goswami et al. 1998).

    Its state as the leading foot lands is (leading, trailing): rates of the legs, rad/s, at the legs' angle
    to the slope's normal. The swinging foot may pass through the ground, as compass gaits do.

    Parameters
    ----------
    angle : rad, of each leg to the normal; leg : m; mass, hip : kg, of each leg and at the hip; to_mass : m
        from the hip to a leg's mass; slope : rad; mu : friction.
    """

    angle: float = 0.2710
    leg: float = 1.0
    mass: float = 5.0
    hip: float = 10.0
    to_mass: float = 0.5
    slope: float = math.radians(3.0)
    mu: float = 1.0

    def __post_init__(self) -> None:
        for name in ("angle", "leg", "mass", "hip", "to_mass", "mu"):
            real(name, getattr(self, name), above=0.0)
        real("slope", self.slope)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """What `next_state` tells."""
        return ("angle", "leading", "trailing")

    def velocity(self, state: Array) -> Array:
        """(..., 4) of the hip and the legs (leading, trailing), from (..., 2); the trailing foot rests."""
        leading, trailing = state[..., 0], state[..., 1]
        along, up = self.leg * math.cos(self.angle), self.leg * math.sin(self.angle)
        return np.stack([-along * trailing, -up * trailing, leading, trailing], axis=-1)

    def problem(self, state: Array) -> ImpactProblem:
        """The impact; feet are at hip + leg (sin a, -cos a), leading with a = -angle."""
        c, s = math.cos(self.angle), math.sin(self.angle)
        total, at = 2.0 * self.mass + self.hip, self.mass * self.to_mass
        M = [
            [total, 0.0, at * c, at * c],
            [0.0, total, -at * s, at * s],
            [at * c, -at * s, at * self.to_mass, 0.0],
            [at * c, at * s, 0.0, at * self.to_mass],
        ]
        leg = self.leg
        return ImpactProblem(
            M,
            [[0.0, 1.0, -leg * s, 0.0], [0.0, 1.0, 0.0, leg * s]],
            [[1.0, 0.0, leg * c, 0.0], [1.0, 0.0, 0.0, leg * c]],
            self.mu,
            self.velocity(np.asarray(state, dtype=np.float64)),
            names=["leading", "trailing"],
        )

    def next_state(self, v: Array) -> Array | None:
        """(angle, leading, trailing) as the next foot lands, (3,); None where the walker falls.

        ``v`` (4,) is the velocity after the impact, with the leading foot at rest.
        """
        from scipy.integrate import solve_ivp

        def lands(_: float, y: Array) -> float:
            return float(y[0] + y[1]) if y[0] > _STANDING else -1.0

        def comes_down(_: float, y: Array) -> float:
            return float(y[0] + y[1])

        t, y = 0.0, np.array([-self.angle, self.angle, float(v[2]), float(v[3])])
        # a foot that is behind when the hip passes over the other goes through the ground and lands later
        for touches in (lands, comes_down):
            touches.terminal, touches.direction = True, 1.0  # type: ignore[attr-defined]
            found = solve_ivp(
                self._slope_of, (t, _LONGEST), y, method="DOP853", events=touches, rtol=1e-9, atol=1e-11
            )
            if found.status != 1:
                return None
            t, y = float(found.t_events[0][0]), found.y_events[0][0]
            if abs(y[0] + y[1]) <= _TOUCHES:
                return np.array([y[0], y[3], y[2]]) if 0.0 < y[0] < 0.5 * math.pi else None
        return None

    def _slope_of(self, _: float, y: Array) -> list[float]:
        """Stance leg a about its foot, swing leg b about the hip: Lagrange's equations."""
        a, b, da, db = y
        leg, s, m = self.leg, self.to_mass, self.mass
        k = -m * leg * s
        M = np.array(
            [
                [self.hip * leg**2 + m * (leg - s) ** 2 + m * leg**2, k * math.cos(a - b)],
                [k * math.cos(a - b), m * s * s],
            ]
        )
        heavy = self.hip * leg + m * (leg - s) + m * leg
        force = [
            _GRAVITY * heavy * math.sin(a + self.slope) - k * math.sin(a - b) * db**2,
            -_GRAVITY * m * s * math.sin(b + self.slope) + k * math.sin(a - b) * da**2,
        ]
        return [da, db, *np.linalg.solve(M, force)]
