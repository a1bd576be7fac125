"""Gaits over all outcomes of their impacts: return maps as sets, and whether a wheel keeps rolling.

First two gaits with one impact a step, what the impact is and how the motion goes on from it to the next one
(`Wheel`, `Compass`). Both walk on a slope with a foot that does not slip between impacts. Coordinates are
along the slope, so that the impact does not depend on it; gravity does. Then the states after one step from a
set of states (`return_map`), and the proof or refutation of endless rolling (`keeps_rolling`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike

from routh.base.results import Drawable, ImpactPath
from routh.base.status import Status
from routh.base.validation import Array, integer, real, real_array
from routh.laws import Sequential, Simultaneous
from routh.problem.batch import ImpactBatch
from routh.problem.impact import ImpactProblem
from routh.robust.guarantees import Answer
from routh.robust.worst import worst_case
from routh.sampling import sample
from routh.sampling.path_residual import path_residual

if TYPE_CHECKING:
    from routh.exact.result import ExactSet

_GRAVITY = 9.81  # m/s^2
_LONGEST = 5.0  # s of a step; who has not landed by then has fallen
_STANDING = 0.01  # rad past the vertical before which no foot can land ahead
_TOUCHES = 1e-6  # rad: both legs are at one angle to the normal
_EDGE = 4  # points on the line between two vertices of the exact set
_AT_REST = 1e-9  # share of the hub's speed: a foot this slow is at rest
_ROUNDING = 1e-9  # share by which floating point could be off, amply
_MARGIN = 0.02  # of the weight, by which stance forces must be inside: see `Wheel.stance`
_STEPS = 200  # steps after which a wheel that has not stopped is not said to


@dataclass(frozen=True)
class Wheel:
    """A rimless wheel that rolls down a slope on the ends of its spokes.

    Its state as foot B ahead lands is (rate, slip): how fast it turns about foot A behind (rad/s), and with
    which velocity A slips (m/s, forwards).

    Parameters
    ----------
    spokes : at least 4.
    length : of a spoke, m.
    mass : kg.
    inertia : about the hub, kg m^2, uniform spokes by default.
    slope : rad, below pi / spokes.
    mu : friction.
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
        """Vector from foot A to the hub, along the slope and up from it, m."""
        return self.length * math.sin(self.half), self.length * math.cos(self.half)

    def velocity(self, state: Array) -> Array:
        """Velocity along the slope, up from it, and of the angle, (..., 3), from (..., 2) rate and slip."""
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
        """Form (3,): ``rate_after . v`` is the rate about foot B after it: angular momentum over inertia."""
        ahead, up = self._arm
        return np.array([self.mass * up, self.mass * ahead, -self.about_hub]) / self.about_foot

    @property
    def _pull(self) -> float:
        """What the square of the rate gains per share of the length that the hub sinks, rad^2/s^2."""
        return 2.0 * self.mass * _GRAVITY * self.length / self.about_foot

    @property
    def gain(self) -> float:
        """Growth of the square of the rate from one landing to the next, rad^2/s^2."""
        return self._pull * (math.cos(self.half - self.slope) - math.cos(self.half + self.slope))

    @property
    def barrier(self) -> float:
        """The square of the rate after an impact, below which the hub does not get over its foot."""
        return self._pull * (1.0 - math.cos(self.half - self.slope))

    def next_state(self, v: Array) -> Array | None:
        """The state (1,) as the next foot lands: its rate; None where the wheel falls back.

        ``v`` (3,) is the velocity after the impact, with foot B at rest.
        """
        rate = float(self.rate_after @ v)
        if not (rate > 0.0 and rate**2 > self.barrier):
            return None
        return np.array([math.sqrt(rate**2 + self.gain)])

    def stance(self, low: float, high: float, points: int = 4001) -> tuple[float, float]:
        """Least normal force and most friction needed beyond mu times it, over the weight, during a step.

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
    angle : of each leg to the normal, rad.
    leg : length of a leg, m.
    mass : of a leg, kg.
    hip : mass at the hip, kg.
    to_mass : from the hip to a leg's mass, m.
    slope : rad.
    mu : friction.
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
        """Velocity (..., 4) of hip and legs (leading, trailing), from (..., 2); the trailing foot rests."""
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
        """State (angle, leading, trailing) as the next foot lands, (3,); None where the walker falls.

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


class Gait(Protocol):
    """One impact a step; `Wheel` and `Compass` are some."""

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of what `next_state` tells, (e,)."""

    def velocity(self, state: Array) -> Array:
        """Velocities (..., nv) before the impact from states (..., d)."""

    def problem(self, state: Array) -> ImpactProblem:
        """The impact from a state (d,)."""

    def next_state(self, v: Array) -> Array | None:
        """The state (e,) before the next impact, from the velocity (nv,) after this one; None: it stops."""


@dataclass(frozen=True, eq=False)
class ReturnMap(Drawable):
    """The states after one step from a set of states: by samples and from the exact set of its impact."""

    gait: Gait
    states: Array  # (k, d) vertices of the set before
    before: Array = field(repr=False)  # (n, d) states drawn from it
    v: Array = field(repr=False)  # (n, nv) an outcome of each one's impact
    ended: np.ndarray = field(repr=False)  # (n,) bool: whether the sample is an outcome
    after: Array = field(repr=False)  # (n, e) before the next impact; NaN where it stops or has no outcome
    exact: ExactSet | None = field(repr=False)  # of the impact from all of the states; None: not to be had
    image: Array = field(repr=False)  # (m, e) states after, from vertices and edges of the exact set
    laws: dict[str, Array] = field(repr=False)  # name -> (k, e), from each vertex; NaN where it stops

    @property
    def status(self) -> Status:
        """NUMERICAL where some sample is no outcome."""
        return Status.SOLVED if self.ended.all() else Status.NUMERICAL

    @property
    def stops(self) -> int:
        """How many samples, of those that ended, do not take a next step."""
        return int((np.isnan(self.after).any(axis=1) & self.ended).sum())

    def bounds(self) -> tuple[Array, Array]:
        """The least and the most of every coordinate after, (e,) each, over samples and the exact set."""
        known = np.concatenate([self.after, self.image])
        return np.nanmin(known, axis=0), np.nanmax(known, axis=0)

    def __repr__(self) -> str:
        how = "samples" if self.exact is None else "samples and the exact set"
        return f"ReturnMap({type(self.gait).__name__}, {len(self.after)} {how}, {self.stops} stop)"


def return_map(
    gait: Gait, states: ArrayLike, *, n: int = 256, seed: int = 0, exact: bool = True
) -> ReturnMap:
    """The set of states after one step from the convex hull of ``states``, whatever the impact does.

    Parameters
    ----------
    gait : `Wheel` or `Compass`, or anything with their methods.
    states : (k, d) vertices of a set of states before the impact.
    n : how many states are drawn from the set, with one outcome each.
    seed : of both draws.
    exact : whether the impact's exact set from all these states is computed (extra ``exact``).
    """
    vertices = real_array("states", states, [(None, None)], "shape (k, d)")
    count = integer("n", n, at_least=1)
    rng = np.random.default_rng(seed)
    before = rng.dirichlet(np.ones(len(vertices)), count) @ vertices
    drawn = sample(ImpactBatch.from_problems([gait.problem(s) for s in before]), 1, seed=seed)
    v, ended = drawn.v[:, 0], np.array([Status(each).ok for each in drawn.status[:, 0]])
    sets = _exact_from(gait, vertices) if exact else None
    image = [] if sets is None else [_next(gait, point) for point in _outline(sets)]
    none = np.full(len(gait.coordinates), np.nan)
    after = np.array([_next(gait, each) if ok else none for each, ok in zip(v, ended, strict=True)])
    seen = np.array(image).reshape(len(image), len(gait.coordinates))
    single = [single_answers(gait.problem(state)) for state in vertices]
    laws = {name: np.array([_next(gait, answers[name]) for answers in single]) for name in single[0]}
    return ReturnMap(gait, vertices, before, v, ended, after, sets, seen, laws)


def _exact_from(gait: Gait, vertices: Array) -> ExactSet:
    from routh.exact.build import exact_set

    return exact_set(gait.problem(vertices.mean(axis=0)), states=gait.velocity(vertices))


def _next(gait: Gait, v: Array) -> Array:
    found = gait.next_state(v) if np.isfinite(v).all() else None
    return np.full(len(gait.coordinates), np.nan) if found is None else found


def _outline(exact: ExactSet) -> Iterator[Array]:
    """Vertices of the inner set, and points on the lines between any two of a piece."""
    for piece in exact.inner:
        points = piece.points
        for i in range(len(points)):
            yield points[i]
            for j in range(i):
                for share in np.linspace(0.0, 1.0, _EDGE + 2)[1:-1]:
                    yield points[i] + share * (points[j] - points[i])


def single_answers(problem: ImpactProblem) -> dict[str, Array]:
    """Velocities (nv,) after an impact of two contacts, by laws with one answer."""
    laws = {
        f"{problem.names[0]} first": Sequential(order=(0, 1)),
        f"{problem.names[1]} first": Sequential(order=(1, 0)),
        "simultaneous": Simultaneous(),
    }
    return {name: law(problem).v for name, law in laws.items()}


@dataclass(frozen=True, eq=False)
class StepTaken:
    """One landing of a wheel on its way to a stop."""

    rate: float  # rad/s as the foot lands
    slip: float  # m/s of the foot behind
    rate_after: float  # rad/s
    path: ImpactPath = field(repr=False)  # of the outcome
    residual: float  # of the path, by `routh.sampling.path_residual.path_residual`


@dataclass(frozen=True, eq=False)
class Rolling(Drawable):
    """Whether a wheel keeps rolling whatever its impacts do.

    PROVED: each of ``checks`` holds, see `keeps_rolling`. REFUTED: ``stopping`` is a sequence of outcomes
    that stops it. UNKNOWN: neither.
    """

    wheel: Wheel
    slips: tuple[float, float]  # of the foot behind as the next one lands, shares of rate times length
    shares: tuple[float, float]  # of the rate that outcomes leave: certified, no outcome has less or more
    rates: tuple[float, float]  # rad/s: landings stay between these; NaN where nothing keeps it between
    checks: dict[str, bool]
    answer: Answer
    stopping: tuple[StepTaken, ...] = field(repr=False)

    @property
    def status(self) -> Status:
        """UNDECIDED where it is neither proved nor refuted."""
        return Status.UNDECIDED if self.answer is Answer.UNKNOWN else Status.SOLVED

    def __repr__(self) -> str:
        low, high = self.shares
        return f"Rolling({self.answer}, slope={self.wheel.slope:g} rad, rates kept {low:.4f} to {high:.4f})"


def keeps_rolling(wheel: Wheel, *, slips: tuple[float, float] = (-0.3, 0.0)) -> Rolling:
    """Does a rimless wheel keep rolling, whatever the outcomes of its impacts are?

    As foot B lands, foot A behind may slip with any velocity within ``slips`` (shares of the rate times the
    spokes' length, forwards), so that the impact has a set of outcomes. Impacts are homogeneous: all rates
    are one rate. The proof: in the exact outer set from all these states foot A leaves and foot B rests, and
    B keeps at least the share s of the rate. With ``gain`` g, landings at ``r = sqrt(g / (1 - s^2))`` or
    faster stay so, and ``s r`` must carry the hub over its foot. Last, the foot must hold in between: the
    ground pushes, and friction suffices.
    """
    low, high = real_array("slips", slips, [(2,)], "(low, high)")
    states = np.array([[1.0, low * wheel.length], [1.0, high * wheel.length]])
    exact = _exact_from(wheel, states)
    row, speed = wheel.rate_after, wheel.length
    problem = exact.problem
    shares = (-float(exact.support(-row, which="outer")), float(exact.support(row, which="outer")))
    B = problem.J[1]
    rests = max(float(exact.support(sign * each, which="outer")) for each in B for sign in (1.0, -1.0))
    leaves = -float(exact.support(-problem.Jn[0], which="outer"))
    rates = tuple(_steady(wheel, share) for share in shares)
    after = [share * rate for share, rate in zip(shares, rates, strict=True)]
    checks = {
        "the exact set is complete": exact.status.ok,
        "foot A leaves": leaves > 0.0,
        "foot B rests": rests <= _AT_REST * speed,
        "the hub gets over": bool(shares[0] > 0.0 and after[0] ** 2 > (1.0 + _ROUNDING) * wheel.barrier),
    }
    holds = wheel.stance(after[0], after[1]) if np.isfinite(after).all() else (-np.inf, np.inf)
    checks["the ground pushes"] = holds[0] > _MARGIN
    checks["friction suffices"] = holds[1] < -_MARGIN
    stopping = () if checks["the hub gets over"] else _stop(wheel, (float(low), float(high)))
    answer = Answer.PROVED if all(checks.values()) else Answer.REFUTED if stopping else Answer.UNKNOWN
    return Rolling(wheel, (float(low), float(high)), shares, (rates[0], rates[1]), checks, answer, stopping)


def _steady(wheel: Wheel, share: float) -> float:
    """The rate at landings that repeats where each impact leaves this share; NaN where it grows for ever."""
    return float(np.sqrt(wheel.gain / (1.0 - share**2))) if 0.0 < share < 1.0 else float("nan")


def _stop(wheel: Wheel, slips: tuple[float, float]) -> tuple[StepTaken, ...]:
    """Outcomes, each the worst of its impact, that stop a wheel in its steady gait; none: they do not."""
    worst = {}
    for slip in slips:
        problem = wheel.problem(np.array([1.0, slip * wheel.length]))
        case = worst_case(problem, -wheel.rate_after)
        if case.path is None:  # a limit of outcomes: one of them
            case = worst_case(problem, -wheel.rate_after, method="fill")
        rests = np.abs(problem.J[1] @ case.v).max() <= _AT_REST * wheel.length
        if case.path is not None and rests:  # else the wheel does not go on as `rate_after` says
            worst[slip] = (-case.value, case.path, path_residual(problem, case.path))
    if not worst:
        return ()
    slip = min(worst, key=lambda each: worst[each][0])
    share, path, residual = worst[slip]
    rolls = wheel.problem(np.array([1.0, 0.0]))
    rate = _steady(wheel, float(wheel.rate_after @ Simultaneous()(rolls).v))
    taken: list[StepTaken] = []
    if not np.isfinite(rate):
        return ()  # without a steady gait there is nothing to be stopped
    for _ in range(_STEPS):
        scaled = replace(path, v=rate * path.v, impulse=rate * path.impulse)
        taken.append(StepTaken(rate, slip * wheel.length * rate, share * rate, scaled, residual))
        if not (share > 0.0 and (share * rate) ** 2 > wheel.barrier):
            return tuple(taken)
        rate = float(np.sqrt((share * rate) ** 2 + wheel.gain))
    return ()
