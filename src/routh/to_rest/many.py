"""Whole landings of a free body from many states, and of each many: `landings`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from routh.base import tolerances
from routh.base.results import Column, Drawable, Tabular
from routh.base.status import InputError
from routh.base.validation import Array, choice, integer, real, real_array
from routh.constraints import Compliance
from routh.kernels.common.arrays import RATES, empty_outputs, make_draw
from routh.kernels.common.slices import run_slices
from routh.kernels.events import TOLERANCE
from routh.kernels.landing.data import (
    AT_REST,
    CONE,
    DEPTH,
    GAINED,
    MOMENTUM,
    MOVING,
    NOT_SOLVED,
    OUT_OF_TIME,
    TIPPED,
    Ends,
    FallRules,
    Hands,
    Runs,
    Trace,
)
from routh.kernels.landing.motion import land, trace_one
from routh.kernels.space.workspace import workspace
from routh.models.base import State
from routh.models.regime import CRITICALLY_DAMPED, duration_of_spring, restitution_of_spring
from routh.models.rotations import exponential, multiply, rotation_matrices
from routh.models.simultaneity import WINDOW
from routh.problem.rows import Problems, empty_rows, scratch_for
from routh.sim.compiled_steps import March
from routh.to_rest.bodies import FreeBody, leaning_limit
from routh.to_rest.reading import free_body
from routh.to_rest.uncertainty import Spread, Told, Uncertainty

if TYPE_CHECKING:
    from mujoco import MjModel

    from routh.models.spatial import SpatialModel

#: s, of a step in contact
STEP = 1e-3
#: Steps that a contact's time constant lasts at least where it is a spring and has no impacts.
SOFT_STEPS = 4.0
#: Steps that the time constant of a soft contact is divided into at least.
FINE_STEPS = 10.0
#: s: motions that rest earlier end there; others are "moving" then.
LONGEST = 10.0
#: s: what is slow for so long is at rest.
PATIENCE = 0.1
RIGID_STIFFNESS, RIGID_DAMPING = 1e10, 1.0  # N/m and N s/m, of `routh.constraints.Compliance`
_STILL = 3e-3  # of the speed of a fall from the body's size: slower is at rest
_SKIN = 1e-7  # of the size: what is this near touches
_FLAT = math.cos(math.radians(12.0))  # of a face to the ground, with uneven feet and soft contacts
_TURNS = 40  # of the loop for each step, at most
_EVENTS = 20000  # turns besides
STATUSES = ("at rest", "tipped", "moving", "out of time", "not solved")

#: Beyond these shares a motion has left its laws, and is not counted as solved.
LIMITS = {"momentum": 1e-6, "cone": 1e-6, "gained": 0.02, "depth": 1e-4}


@dataclass(frozen=True, eq=False)
class LandingRuns(Drawable, Tabular):
    """How many landings ended: a row for each state, a column for each run of it."""

    body: FreeBody = field(repr=False)
    status: np.ndarray  # (S, n) int8, see `STATUSES`
    t: Array = field(repr=False)  # (S, n) s, when it ended
    qpos: Array = field(repr=False)  # (S, n, 7) position and quaternion then, as the given states
    qvel: Array = field(repr=False)  # (S, n, 6)
    face: np.ndarray = field(repr=False)  # (S, n) of `body.faces` that it is nearest to lying on; -1: none
    start_face: np.ndarray = field(repr=False)  # (S,) the one that it would come down on upright
    touching: np.ndarray = field(repr=False)  # (S, n, nc) bool
    impacts: np.ndarray = field(repr=False)  # (S, n)
    worst: Array = field(repr=False)  # (S, n, 5) see `checks`
    seed: int
    soft: bool  # whether contacts were springs, without impacts
    dt: float  # s
    again: _Job = field(repr=False)

    @property
    def solved(self) -> np.ndarray:
        """Which runs have an answer that keeps its laws, (S, n) bool."""
        return np.asarray(self.status < OUT_OF_TIME)

    @cached_property
    def tipped(self) -> np.ndarray:
        """Which runs turned over: beyond the last balance, or at rest on another face, (S, n) bool."""
        turned = (self.status == AT_REST) & (self.face != self.start_face[:, None])
        return np.asarray((self.status == TIPPED) | turned)

    @cached_property
    def share(self) -> Array:
        """Share of the solved runs of each state that tipped, (S,); NaN where none is solved."""
        count = self.solved.sum(axis=1)
        with np.errstate(invalid="ignore"):
            return np.asarray((self.tipped & self.solved).sum(axis=1) / count)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Clopper and Pearson's interval of the probability to tip, over all runs."""
        return interval_of(int((self.tipped & self.solved).sum()), int(self.solved.sum()), level)

    def faces(self) -> dict[tuple[str, ...], int]:
        """How many runs came to rest on which contacts, the most frequent first."""
        rest = self.status == AT_REST
        names = self.body.names
        counts: dict[tuple[str, ...], int] = {}
        for k in self.face[rest].tolist():
            feet = tuple(names[c] for c in self.body.faces.points[k]) if k >= 0 else ()
            counts[feet] = counts.get(feet, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: -item[1]))

    @cached_property
    def yaw(self) -> Array:
        """Heading of the body's x axis at the end, rad, (S, n)."""
        R = rotation_matrices(self.qpos[..., 3:].reshape(-1, 4)).reshape(*self.status.shape, 3, 3)
        return np.asarray(np.arctan2(R[..., 1, 0], R[..., 0, 0]))

    @property
    def checks(self) -> dict[str, float]:
        """The worst of all solved runs, recomputed from impulses and the body alone.

        Missing momentum and friction outside of its cone as shares of the momentum, energy gained as a share
        of that of the landing, and depth of rigid contacts as a share of the size.
        """
        kept = self.worst[self.solved]
        worst = kept.max(axis=0) if len(kept) else np.zeros(5)
        return {
            "momentum": float(worst[MOMENTUM]),
            "cone": float(worst[CONE]),
            "gained": float(worst[GAINED]),
            "depth": float(worst[DEPTH] / self.body.size),
        }

    def motion(self, state: int = 0, run: int = 0) -> LandingMotion:
        """One of the runs again, with all that happened."""
        row = integer("state", state, at_least=0, at_most=len(self.status) - 1)
        column = integer("run", run, at_least=0, at_most=self.status.shape[1] - 1)
        return self.again.motion(row * self.status.shape[1] + column)

    def __len__(self) -> int:
        return len(self.status)

    def __str__(self) -> str:
        return self.sentence

    @property
    def sentence(self) -> str:
        """The answer in one line."""
        solved = int(self.solved.sum())
        tipped = int((self.tipped & self.solved).sum())
        low, high = self.interval()
        count = f"{solved} landing" if solved == 1 else f"{solved} landings"
        parts = [f"tips in {_percent(tipped / max(solved, 1))} of {count} ({_range(low, high)})"]
        moving = int((self.status == MOVING).sum())
        if moving:
            parts.append(f"{moving} still moving at the end")
        lost = self.status.size - solved
        if lost:
            parts.append(f"{lost} of {self.status.size} not solved")
        return "; ".join(parts)

    def as_data(self) -> dict[str, object]:
        """Numbers, lists and dictionaries, as ``--json`` prints them."""
        low, high = self.interval()
        solved = int(self.solved.sum())
        return {
            "runs": int(self.status.size),
            "solved": solved,
            "tipped": int((self.tipped & self.solved).sum()),
            "probability": float((self.tipped & self.solved).sum() / solved) if solved else math.nan,
            "interval": [low, high],
            "statuses": {name: int((self.status == k).sum()) for k, name in enumerate(STATUSES)},
            "rest": [{"contacts": list(feet), "runs": count} for feet, count in self.faces().items()],
            "checks": self.checks,
            "soft": self.soft,
            "seed": self.seed,
        }

    def _columns(self) -> dict[str, Column]:
        dims = ("state", "run")
        return {
            "status": Column(dims, self.status, "1", "; ".join(f"{k}: {s}" for k, s in enumerate(STATUSES))),
            "tipped": Column(dims, self.tipped),
            "t": Column(dims, self.t, "s", "when it ended"),
            "face": Column(dims, self.face),
            "yaw": Column(dims, self.yaw, "rad"),
            "qpos": Column((*dims, "coordinate"), self.qpos),
        }


@dataclass(frozen=True, eq=False)
class LandingMotion:
    """One landing, state by state, of the centre of mass and principal axes (`FreeBody.model`)."""

    body: FreeBody
    t: Array  # (T,)
    q: Array  # (T, 7)
    v: Array  # (T, 6)
    kind: np.ndarray  # (T,) what led there: 0 the beginning, 1 a flight, 2 an impact, 3 a step in contact
    impulse: Array  # (T, nc, 3) N s, that led there
    points: Array  # (nc, 3) m of the contacts, with their heights
    mu: Array  # (nc,)
    status: str


def interval_of(count: int, of: int, level: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's interval of a probability, from counts."""
    from scipy.stats import beta

    tail = 0.5 * (1.0 - level)
    low = 0.0 if count == 0 else float(beta.ppf(tail, count, of - count + 1))
    high = 1.0 if count == of else float(beta.ppf(1.0 - tail, count + 1, of - count))
    return low, high


def _percent(share: float) -> str:
    return f"{100.0 * share:.2g} %" if share < 0.0995 else f"{100.0 * share:.3g} %"


def _range(low: float, high: float) -> str:
    return f"{100.0 * low:.2g} to {100.0 * high:.2g} %"


def landings(
    model: MjModel | SpatialModel | FreeBody,
    qpos: ArrayLike,
    qvel: ArrayLike,
    *,
    n: int = 1,
    duration: float | str = "rest",
    uncertainty: Uncertainty | dict[str, Told] | None = None,
    slope: float = 0.0,
    uphill: float = 0.0,
    restitution: float | str = "contact",
    window: float | None = None,
    rates: str = "mixed",
    dt: float = STEP,
    seed: int = 0,
    threads: int | None = None,
    budget: float | None = None,
) -> LandingRuns:
    """Whole motions of a free rigid body from the air to rest, n of each state, compiled.

    Parameters
    ----------
    model : mujoco.MjModel with one free root over one plane, whose joints are locked where ``qpos`` has them;
        a `SpatialModel` of one body; or a `routh.to_rest.bodies.FreeBody`.
    qpos : (nq,) of one state, or (S, nq) of many; joints alike in all of them.
    qvel : (nv,) or (S, nv); joints do not move.
    n : landings of each state. They differ in what is drawn: orders of simultaneous contacts, and what
        ``uncertainty`` holds.
    duration : s, or "rest": until it rests, at most 10 s.
    uncertainty : what is not known, an `Uncertainty` or a mapping with its fields.
    slope : rad, by which the ground rises. The body is lowered or raised along gravity until it touches it.
    uphill : where to, rad from the world's x axis.
    restitution : "contact", from the damping of the contact's spring (0.135 where nothing is known), or a
        number. Soft contacts return what their springs do.
    window : s, contacts that close within it are one impact, whose order is drawn; None: as long as the
        model's stiff contacts last.
    rates : of `routh.sample`, how orders are drawn.
    dt : s, of a step in contact. Contacts whose time constant is above four of them are springs, without
        impacts.
    seed, threads, budget : as of `routh.sample`; what is not done in time is "out of time".
    """
    body = free_body(model, None if np.ndim(qpos) == 0 else _first_joints(model, qpos))
    count = integer("n", n, at_least=1)
    longest = LONGEST if duration == "rest" else real("duration", duration, above=0.0)
    choice("rates", rates, RATES)
    told = Uncertainty.of(uncertainty)
    if slope:
        body = body.slope(real("slope", slope), real("uphill", uphill))
    q, v = _states(model, qpos, qvel)
    q, v = body.own(q, v)
    job = _Job.make(body, q, v, count, told, bool(slope), restitution, window, rates, dt, longest, seed)
    return job.run(threads, budget)


def _first_joints(model: object, qpos: ArrayLike) -> Array | None:
    if type(model).__module__.partition(".")[0] != "mujoco":
        return None
    nq = int(model.nq)  # type: ignore[attr-defined]
    q = real_array("qpos", qpos, [(nq,), (None, nq)], f"shape ({nq},) or (S, {nq})")
    return np.asarray(np.atleast_2d(q)[0])


def _states(model: object, qpos: ArrayLike, qvel: ArrayLike) -> tuple[Array, Array]:
    """States (S, 7), (S, 6) of the free root; refused where joints move or differ."""
    nq, nv = 7, 6
    place, dof = 0, 0
    if type(model).__module__.partition(".")[0] == "mujoco":
        from routh.models.mujoco.engine import engine
        from routh.models.mujoco.landings import free_root

        nq, nv = int(model.nq), int(model.nv)  # type: ignore[attr-defined]
        data = engine().MjData(model)
        engine().mj_kinematics(model, data)
        joint = free_root(model, data).joint
        place, dof = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])  # type: ignore[attr-defined]
    q = np.atleast_2d(real_array("qpos", qpos, [(nq,), (None, nq)], f"shape ({nq},) or (S, {nq})"))
    v = np.atleast_2d(real_array("qvel", qvel, [(nv,), (None, nv)], f"shape ({nv},) or (S, {nv})"))
    if len(q) != len(v) or not len(q):
        raise InputError(
            "qvel", got=f"{len(v)} states with qpos of {len(q)}", wanted="the same number, above 0"
        )
    others = np.delete(q, np.s_[place : place + 7], axis=1)
    if np.any(others != others[:1]):
        raise InputError(
            "qpos", wrong="joints differ between the states", wanted="one posture of the locked joints"
        )
    if np.any(np.delete(v, np.s_[dof : dof + 6], axis=1)):
        raise InputError("qvel", wrong="joints move", wanted="joints at rest, since they are locked")
    q, v = q[:, place : place + 7].copy(), v[:, dof : dof + 6].copy()
    size = np.linalg.norm(q[:, 3:], axis=1, keepdims=True)
    if not np.all(np.abs(size - 1.0) < 1e-3):
        raise InputError("qpos", got=f"a quaternion of length {float(size.min()):g}", wanted="unit ones")
    q[:, 3:] /= size
    return q, v


@dataclass(frozen=True, eq=False)
class _Job:
    """What is to be done, ready for the kernels."""

    body: FreeBody
    rules: FallRules
    runs: Runs
    states: int
    start_face: np.ndarray
    seed: int
    rates: int

    @classmethod
    def make(
        cls,
        body: FreeBody,
        q: Array,
        v: Array,
        n: int,
        told: Uncertainty,
        lowered: bool,
        *settings: object,
    ) -> _Job:
        """Draw what is not known, and choose how contacts are followed."""
        restitution, window, rates, dt, longest, seed = settings
        assert isinstance(rates, str)
        h = real("dt", dt, above=0.0)
        seed = integer("seed", seed, at_least=0)
        S, nc = len(q), len(body.names)
        faces = body.faces
        start = _upright(body, q)
        face = int(start[0])
        up = -faces.normals[face] if face >= 0 else _up_of(body, q[0])
        shortest = float(np.min(body.time_constant)) if np.isfinite(body.time_constant).all() else 0.0
        soft = shortest > SOFT_STEPS * h
        lasting = duration_of_spring(body.time_constant, np.where(soft, 1.0, body.damping_ratio))
        known = bool(np.isfinite(body.time_constant).all())
        if window is None:
            window = min(float(np.median(lasting)), WINDOW) if known else WINDOW
        parts = [_draw_state(body, q[s], v[s], s, n, told, up, int(seed), lowered) for s in range(S)]
        height, tight, mu, qs, vs = (np.concatenate([part[k] for part in parts]) for k in range(5))
        elastic = _restitution(body, restitution)
        carried = len(faces.points[face]) if face >= 0 else max(nc // 2, 1)
        if soft:
            each = body.mass / carried
            t, z = body.time_constant, body.damping_ratio
            spring = np.stack([each / (t * z) ** 2 * tight, 2.0 * each / t * np.sqrt(tight)], axis=1)
            h = min(h, shortest / FINE_STEPS)
        else:
            spring = np.broadcast_to(np.array([[RIGID_STIFFNESS], [RIGID_DAMPING]]), (S * n, 2, nc)).copy()
        runs = Runs(
            np.ascontiguousarray(qs),
            np.ascontiguousarray(vs),
            np.ascontiguousarray(height),
            np.ascontiguousarray(mu),
            np.ascontiguousarray(np.broadcast_to(elastic, (S * n, nc))),
            np.ascontiguousarray(spring),
            np.repeat(np.arange(S), n),
            np.tile(np.arange(n), S),
        )
        pull, longest = float(np.linalg.norm(body.gravity)), real("duration", longest, above=0.0)
        leaning = leaning_limit(body, face) if (start == start[0]).all() else -2.0
        rules = FallRules(
            h,
            longest,
            _SKIN * body.size,
            2.0 * pull * h,
            real("window", window, at_least=0.0),
            int(soft),
            body.size,
            _STILL * math.sqrt(2.0 * pull * body.size),
            PATIENCE,
            np.ascontiguousarray(up),
            leaning,
            np.ascontiguousarray(faces.normals.reshape(-1, 3)),
            _FLAT,
            int(_TURNS * longest / h) + _EVENTS,
        )
        return cls(body, rules, runs, S, start, int(seed), RATES.index(rates))

    def hands(self) -> Hands:
        """What one thread needs."""
        body, nc = self.body, len(self.body.names)
        rest = State(np.array([0.0, 0, 0, 1, 0, 0, 0]), np.zeros(6))
        held = Compliance(stiffness=np.full(nc, RIGID_STIFFNESS), damping=np.full(nc, RIGID_DAMPING))
        march = March(body.model, held, (), [rest], dt=self.rules.h, steps=1, every=1)
        arrays = march.plan.bodies
        assert arrays is not None
        plan = march.plan._replace(
            bodies=arrays._replace(centres=body.points.copy()), tolerance=tolerances.COULOMB_ITERATION
        )
        problems = Problems(
            np.zeros((1, 6, 6)),
            np.zeros((1, nc, 6)),
            np.zeros((1, nc, 2, 6)),
            np.zeros((1, nc)),
            np.zeros((1, nc)),
            np.zeros((1, 6)),
            np.zeros((1, nc), dtype=bool),
            np.zeros((1, 3), dtype=np.int32),
        )
        draw = make_draw(
            1, seed=self.seed, row=0, rates=self.rates, persistence=0.0, poisson=False, tolerance=TOLERANCE
        )
        return Hands(
            plan,
            march.layout,
            march.room,  # type: ignore[arg-type]
            march.course,
            problems,
            scratch_for(nc, 2, 6),
            empty_rows(1, 6, nc, 2),
            draw,
            empty_outputs((1, 1), 6, nc, 3, elastic=True),
            workspace(nc),
            body.points.copy(),
            np.zeros((5, max(nc, 6))),
            np.zeros((nc, 3)),
            np.zeros(nc, dtype=bool),
        )

    def ends(self) -> Ends:
        """Room for what becomes of the runs; none is begun."""
        R, nc = len(self.runs.q), len(self.body.names)
        return Ends(
            np.full(R, OUT_OF_TIME, dtype=np.int8),
            np.zeros(R),
            self.runs.q.copy(),
            self.runs.v.copy(),
            np.full(R, -1, dtype=np.int64),
            np.zeros((R, nc), dtype=bool),
            np.zeros(R, dtype=np.int64),
            np.zeros((R, 5)),
        )

    def run(self, threads: int | None, budget: float | None) -> LandingRuns:
        """All of them."""
        ends = self.ends()

        def work(begin: int, end: int, hands: Hands) -> None:
            land(begin, end, self.rules, self.runs, ends, hands)

        contacts = 2 * len(self.body.names)  # a motion takes long: short slices at first
        run_slices(len(self.runs.q), self.hands, work, threads=threads, budget=budget, contacts=contacts)
        status = np.where(self._broken(ends), NOT_SOLVED, ends.status).astype(np.int8)
        shape, body = (self.states, -1), self.body
        q, v = body.given(ends.q, ends.v)
        return LandingRuns(
            body,
            status.reshape(shape),
            ends.t.reshape(shape),
            q.reshape(*shape, 7),
            v.reshape(*shape, 6),
            ends.face.reshape(shape),
            self.start_face,
            ends.touching.reshape(*shape, len(body.names)),
            ends.impacts.reshape(shape),
            ends.worst.reshape(*shape, 5),
            self.seed,
            bool(self.rules.soft),
            self.rules.h,
            self,
        )

    def _broken(self, ends: Ends) -> np.ndarray:
        """Runs that left their laws, (R,) bool."""
        worst, size = ends.worst, self.body.size
        bad = ~(worst[:, MOMENTUM] <= LIMITS["momentum"]) | ~(worst[:, CONE] <= LIMITS["cone"])
        if not self.rules.soft:
            bad |= ~(worst[:, GAINED] <= LIMITS["gained"]) | ~(worst[:, DEPTH] <= LIMITS["depth"] * size)
        return np.asarray(bad & (ends.status < OUT_OF_TIME))

    def motion(self, e: int) -> LandingMotion:
        """Run e, written down."""
        nc, room = len(self.body.names), 4096
        while True:
            trace = Trace(
                np.zeros(1, dtype=np.int64),
                np.zeros(room),
                np.zeros((room, 7)),
                np.zeros((room, 6)),
                np.zeros(room, dtype=np.int8),
                np.zeros((room, nc, 3)),
            )
            ends, hands = self.ends(), self.hands()
            trace_one(e, self.rules, self.runs, ends, hands, trace)
            count = int(trace.filled[0])
            if count <= room:
                break
            room = count
        t, q, v, kind, impulse = (part[:count] for part in trace[1:])
        points = self.body.points - self.runs.height[e][:, None] * self.rules.up
        status = NOT_SOLVED if self._broken(ends)[e] else int(ends.status[e])
        mu = self.runs.mu[e].copy()
        return LandingMotion(self.body, t, q, v, kind, impulse, points, mu, STATUSES[status])


def _upright(body: FreeBody, q: Array) -> np.ndarray:
    """The face that is nearest to lying on the ground in each state, (S,); -1 without faces."""
    if not len(body.faces.normals):
        return np.full(len(q), -1)
    down = -np.einsum("nji,j->ni", rotation_matrices(q[:, 3:]), body.normal)
    return np.asarray((down @ body.faces.normals.T).argmax(axis=1))


def _up_of(body: FreeBody, q: Array) -> Array:
    return np.asarray(rotation_matrices(q[None, 3:])[0].T @ body.normal)


def _restitution(body: FreeBody, given: object) -> Array:
    if given != "contact":
        return np.full(len(body.names), real("restitution", given, at_least=0.0, at_most=1.0))
    known = np.isfinite(body.damping_ratio)
    ratio = np.where(known, body.damping_ratio, 1.0)
    return np.where(known, restitution_of_spring(ratio), CRITICALLY_DAMPED)


def _draw_state(
    body: FreeBody, q: Array, v: Array, s: int, n: int, told: Uncertainty, up: Array, seed: int, lowered: bool
) -> tuple[Array, Array, Array, Array, Array]:
    """What differs between n runs of a state: heights, stiffness, friction (n, nc), states (n, 7), (n, 6)."""
    nc = len(body.names)
    height = told.draw("heights", s, n, nc, seed)
    tight = np.exp(told.draw("stiffness", s, n, nc, seed))
    rub = told.draw("friction", s, n, nc, seed)
    friction = told.friction
    if isinstance(friction, Spread) and friction.low >= 0.0 and friction.high > 0.0:
        mu = rub
    else:
        mu = body.mu * np.maximum(1.0 + rub, 0.0)
    lean = told.draw("tilt", s, n, 2, seed)
    qs, vs = np.tile(q, (n, 1)), np.tile(v, (n, 1))
    if told.tilt is not None:
        first = np.cross(up, np.eye(3)[int(np.abs(up).argmin())])
        first /= np.linalg.norm(first)
        turn = lean @ np.array([first, np.cross(up, first)])
        qs[:, 3:] = multiply(qs[:, 3:], exponential(turn))
    vertical = -body.gravity / np.linalg.norm(body.gravity)
    sink = (vs[:, :3] @ vertical)[:, None] * vertical
    aside = vs[:, :3] - sink
    scale = 1.0 + told.draw("down", s, n, 1, seed), 1.0 + told.draw("sideways", s, n, 1, seed)
    vs[:, :3] = scale[0] * sink + scale[1] * aside
    vs[:, 3:] += told.draw("rate", s, n, 3, seed)
    lowest = _lowest(body, qs, body.points - height[:, :, None] * up)
    if lowered or (lowest < 0.0).any():
        nominal = float(_lowest(body, q[None], body.points[None])[0])
        start = 0.0 if lowered else max(nominal, 0.0)
        shift = np.where((lowest < start) | lowered, start - lowest, 0.0)
        qs[:, :3] += (shift / float(vertical @ body.normal))[:, None] * vertical
    return height, tight, mu, qs, vs


def _lowest(body: FreeBody, q: Array, points: Array) -> Array:
    """The smallest gap of states (n, 7) with points (n, nc, 3), m."""
    R = rotation_matrices(q[:, 3:])
    places = np.einsum("nij,nkj->nki", R, points) + q[:, None, :3] - body.place
    return np.asarray((places @ body.normal - body.radii).min(axis=1))
