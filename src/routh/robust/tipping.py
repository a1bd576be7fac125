"""Will it tip? The worst outcome of a touch-down about every edge of the support, and what proves that none
does.

The score, the support and its edges are those of `routh.robust.standing`; the set is that of the contacts
that close within the window. An outcome that is above 1 turns the body over its edge; what comes after the
impact, later contacts and motors, is not looked at, but for the proof by energy, which covers everything that
adds none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from routh.batch import ImpactBatch
from routh.bounds import EnergyBound
from routh.models.dropping import touchdowns
from routh.models.regime import UNEVENNESS, Regime
from routh.models.robot import NoContactError, RobotProblem, listed
from routh.models.simultaneity import WINDOW
from routh.models.softness import CRITICALLY_DAMPED, contact_duration, restitution_of_spring
from routh.models.touchdown import Touchdown
from routh.paths import ImpactPath
from routh.problem import ImpactProblem
from routh.results import Column, Drawable, Tabular
from routh.robust.standing import Support, support_of
from routh.sampling import sample
from routh.sampling.batch import BatchOutcomes
from routh.sampling.outcomes import Outcomes
from routh.status import ModelError, Status
from routh.validation import Array, Options, integer, real, real_array

if TYPE_CHECKING:
    from mujoco import MjModel
    from pinocchio import Model

#: Outcomes of each state; with ``rates="extreme"`` more change the worst one by about a hundredth.
SAMPLES = 64


@dataclass(frozen=True, eq=False)
class Tipping(Drawable, Tabular):
    """Whether a touch-down can turn the body over, and how."""

    model: object = field(repr=False)  # mujoco.MjModel or pinocchio.Model
    qpos: Array = field(repr=False)  # (nq,)
    down: Touchdown = field(repr=False)
    support: Support = field(repr=False)
    problem: ImpactProblem = field(repr=False)  # of the contacts that count
    ratio: float  # worst rate about an edge over the critical one; above 1 it can tip
    edge: tuple[str, str]  # the contacts at the ends of that edge
    worst: Array = field(repr=False)  # (edges,) the same for each edge
    bound: Array = field(repr=False)  # (edges,) no outcome of this impact is above
    outcome: Array = field(repr=False)  # (nv of the robot,) velocity after, in the worst outcome
    energy: float  # kinetic energy before over the least that turns it over
    energy_after: float  # the largest after, sampled, likewise
    restitution_from: str  # "contact", "given" or "assumed"
    regime: Regime = field(repr=False)
    solved: float  # share of the samples that are solved: the answer is made of these
    status: Status  # SOLVED; NO_IMPACT; NUMERICAL where no sample ended
    sample: tuple[Outcomes, int] | None = field(default=None, repr=False)  # where the worst outcome is

    @property
    def can_tip(self) -> bool:
        """Whether an outcome was found that turns the body over."""
        return not self.ratio <= 1.0

    @property
    def evidence(self) -> str:
        """What the answer rests on: "outcome" (one that tips), "energy", "bound" or "sampled"."""
        if self.can_tip:
            return "outcome"
        if self.energy < 1.0 and self.support.level:
            return "energy"
        return "bound" if np.all(self.bound < 1.0) else "sampled"

    @property
    def cannot_tip(self) -> bool:
        """Whether that is proved: by energy for all that comes after, by the bound for this impact."""
        return self.evidence in ("energy", "bound")

    @property
    def landed(self) -> dict[tuple[str, str], float]:
        """The margin of each edge: 1 less the worst ratio about it."""
        return {e.contacts: float(1.0 - r) for e, r in zip(self.support.edges, self.worst, strict=True)}

    @property
    def margin(self) -> float:
        """The share of all velocities by which they may grow before an outcome tips; negative where one does.

        Outcomes scale with the velocity before while the same contacts count.
        """
        return 1.0 / self.ratio - 1.0 if self.ratio > 0.0 else np.inf

    @property
    def held(self) -> tuple[str, ...]:
        """Joints that are taken as held."""
        return self.down.held

    @property
    def restitution(self) -> Array:
        """Of each contact that counts, (nc,)."""
        return self.problem.restitution

    @cached_property
    def path(self) -> ImpactPath:
        """How the worst outcome comes about: impulses and velocities on the way."""
        if self.sample is None:
            raise ValueError(f"path: there is no outcome ({self.status.sentence})")
        outcomes, index = self.sample
        return outcomes.path(index)

    def lines(self) -> list[str]:
        """The answer first, then what it rests on."""
        a, b = self.edge
        found = "no outcome was solved" if np.isnan(self.ratio) else f"{self.ratio:.2f} of the critical rate"
        head = f"{'NO-GO' if self.can_tip else 'GO'}: the worst outcome turns over {a} - {b} at {found}"
        proofs = {
            "outcome": ".",
            "energy": "; proved: there is not enough energy to turn it over, now or later.",
            "bound": "; proved for this impact: no outcome is above "
            f"{np.max(self.bound, initial=-np.inf):.2f} of it.",
            "sampled": "; sampled, not proved.",
        }
        lines = [
            head + proofs[self.evidence],
            f"{self.regime.sentence[:1].upper()}{self.regime.sentence[1:]}.",
        ]
        lines.append(self._restitution_line())
        if self.held:
            lines.append(f"Held joints: {listed(self.held)}.")
        return lines

    def _restitution_line(self) -> str:
        values = self.restitution
        sources = {
            "contact": "from the contacts' springs",
            "given": "as given",
            "assumed": "assumed, as of critically damped contacts: the model says nothing",
        }
        low, high = float(values.min()), float(values.max())
        size = f"{low:.3g}" if high - low < 5e-4 else f"{low:.3g} to {high:.3g}"
        return f"Restitution {size} ({sources[self.restitution_from]})."

    def __str__(self) -> str:
        return " ".join(self.lines())

    def __repr__(self) -> str:
        verdict = "can tip" if self.can_tip else f"cannot tip ({self.evidence})"
        return f"Tipping({verdict}, ratio={self.ratio:.3g}, edge={' - '.join(self.edge)}, {self.status.name})"

    def as_data(self) -> dict[str, object]:
        """Numbers, lists and dictionaries, as ``--json`` prints them."""
        edges = [
            {"contacts": list(e.contacts), "ratio": float(r), "bound": float(b), "critical_rate": e.critical}
            for e, r, b in zip(self.support.edges, self.worst, self.bound, strict=True)
        ]
        return {
            "go": not self.can_tip,
            "ratio": self.ratio,
            "margin": self.margin,
            "edge": list(self.edge),
            "evidence": self.evidence,
            "edges": edges,
            "energy": self.energy,
            "energy_after": self.energy_after,
            "regime": self.regime.kind,
            "solved": self.solved,
            "sentences": self.lines(),
            "restitution": self.restitution,
            "restitution_from": self.restitution_from,
            "held": list(self.held),
            "outcome": self.outcome,
            "status": self.status.name,
        }

    def _sentences(self) -> list[str]:
        return self.lines()

    def _facts(self) -> list[tuple[object, ...]]:
        rows: list[tuple[object, ...]] = [("edge", "ratio", "critical rate, rad/s")]
        for edge, ratio in zip(self.support.edges, self.worst, strict=True):
            rows.append((" - ".join(edge.contacts), f"{ratio:.3f}", f"{edge.critical:.3g}"))
        return rows

    def _coordinates(self) -> dict[str, object]:
        return {"edge": [" - ".join(edge.contacts) for edge in self.support.edges]}

    def _columns(self) -> dict[str, Column]:
        critical = np.array([edge.critical for edge in self.support.edges])
        return {
            "ratio": Column(("edge",), self.worst, "1", "worst rate over the critical one"),
            "bound": Column(("edge",), self.bound, "1", "no outcome is above"),
            "critical_rate": Column(("edge",), critical, "rad/s", "above it the body turns over"),
        }


@dataclass(frozen=True, eq=False)
class Tippings(Tabular):
    """The answers for many states; one that has none says why. ``answers[k]`` is a `Tipping`."""

    found: tuple[Tipping | ValueError, ...] = field(repr=False)
    status: np.ndarray = field(repr=False)  # (n,) int8; NO_CONTACT and REFUSED where there is no answer

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, row: int) -> Tipping:
        k = integer("row", row, at_least=-len(self), at_most=len(self) - 1) % max(len(self), 1)
        one = self.found[k]
        if isinstance(one, ValueError):
            raise ValueError(f"row {k} has no answer: {one}")
        return one

    def reason(self, row: int) -> str:
        """Why a state has no answer; empty where it has one."""
        one = self.found[row]
        return str(one) if isinstance(one, ValueError) else ""

    def _each(self, of: Callable[[Tipping], object], otherwise: object) -> np.ndarray:
        return np.array([otherwise if isinstance(one, ValueError) else of(one) for one in self.found])

    @cached_property
    def ratio(self) -> Array:
        """Worst rates over the critical ones, (n,); NaN without an answer."""
        return self._each(lambda one: one.ratio, np.nan).astype(np.float64)

    @cached_property
    def energy(self) -> Array:
        """Kinetic energies before over the least that turns the body over, (n,)."""
        return self._each(lambda one: one.energy, np.nan).astype(np.float64)

    @cached_property
    def energy_after(self) -> Array:
        """The largest energies after, sampled, likewise, (n,)."""
        return self._each(lambda one: one.energy_after, np.nan).astype(np.float64)

    @property
    def can_tip(self) -> np.ndarray:
        """Which states have an outcome that turns the body over, (n,) bool; True where there is no answer."""
        return ~(self.ratio <= 1.0)

    @cached_property
    def cannot_tip(self) -> np.ndarray:
        """For which states that is proved, (n,) bool."""
        return self._each(lambda one: one.cannot_tip, False).astype(bool)

    @property
    def edges(self) -> list[tuple[str, str] | None]:
        """The edge of each state."""
        return [None if isinstance(one, ValueError) else one.edge for one in self.found]

    @property
    def regimes(self) -> list[str]:
        """ "stiff", "soft", "tilted" or "unknown", empty without an answer."""
        return ["" if isinstance(one, ValueError) else one.regime.kind for one in self.found]

    def __repr__(self) -> str:
        known = ~np.isnan(self.ratio)
        tips = f"can tip: {int(self.can_tip[known].sum())} of {int(known.sum())} answered"
        return f"Tippings(n={len(self)}, {tips})"

    def _columns(self) -> Mapping[str, Column]:
        meaning = ", ".join(f"{status.value} {status.name}" for status in Status)
        edges = np.array(["" if edge is None else " - ".join(edge) for edge in self.edges])
        return {
            "ratio": Column(("state",), self.ratio, "1", "worst rate over the critical one"),
            "edge": Column(("state",), edges, "1", "over which the worst outcome turns"),
            "energy": Column(("state",), self.energy, "1", "before, over the least that turns it over"),
            "cannot_tip": Column(("state",), self.cannot_tip, "1", "proved"),
            "regime": Column(("state",), np.array(self.regimes), "1", "stiff, soft, tilted or unknown"),
            "status": Column(("state",), self.status, "1", meaning),
        }


def tipping(
    model: MjModel | Model,
    qpos: ArrayLike,
    qvel: ArrayLike,
    *,
    window: float = WINDOW,
    restitution: str | float = "contact",
    samples: int = SAMPLES,
    rates: str = "extreme",
    prove: bool = False,
    stiffness: float | None = None,
    unevenness: float | None = None,
    friction: str = "cone",
    facets: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    **options: Any,
) -> Tipping | Tippings:
    """Whether a body that comes down nearly flat can turn over: the worst outcome about every edge.

    Parameters
    ----------
    model : mujoco.MjModel or pinocchio.Model with a free root. Joints are held from the touch on.
    qpos, qvel : (nq,) and (nv,) of one state, or (n, nq) and (n, nv) of many; Pinocchio's in its own order.
        `routh.models.landing` makes them.
    window : contacts that close within this time (s) take part in the impact. Those that close later carry
        the body nevertheless, if they are within a slope of 0.1 of the ground.
    restitution : "contact", from the damping of the contact's spring (MuJoCo's ``solref``; where nothing is
        known, as if critically damped, 0.135), or a number.
    samples, rates, friction, facets, seed, threads : of `routh.sample`.
    prove : bound the worst outcome about each edge by a cone program (some 10 ms an edge); without it only by
        energy and momentum, which costs nothing and is looser.
    stiffness : of one contact, N/m, instead of the model's own spring; says how long a contact lasts.
    unevenness : m, by which the height of each foot differs from the model: the body then stands leaning by
        sqrt(2) of it over the width of its support. None: it stands flat, and 2 mm are taken for the
        right model here (`Tipping.regime`).
    options : ``deepest``, ``past_limit``; for MuJoCo ``data`` (mocap poses); for Pinocchio ``ground``,
        ``points``, ``geometry`` and ``mu``.

    Returns
    -------
    Tipping for one state, which raises a ValueError where there is no answer; Tippings for many.
    """
    real("window", window, at_least=0.0)
    integer("samples", samples, at_least=1)
    if unevenness is not None:
        real("unevenness", unevenness, at_least=0.0)
    elastic = restitution_given(restitution)
    if stiffness is not None:
        real("stiffness", stiffness, above=0.0)
    nq, nv = int(model.nq), int(model.nv)
    if not nv:
        raise ModelError("model: nothing of it moves, its base is fixed; wanted a free root")
    q = real_array("qpos", qpos, [(nq,), (None, nq)], f"shape ({nq},) or (n, {nq})", finite=False)
    v = real_array("qvel", qvel, [(nv,), (None, nv)], f"shape ({nv},) or (n, {nv})", finite=False)
    if q.shape[:-1] != v.shape[:-1] or not q.size:
        raise ValueError(f"qvel: got shape {v.shape} with qpos of {q.shape}; wanted as many states of both")
    one = q.ndim == 1
    drawing: Options = {
        "rates": rates,
        "friction": friction,
        "facets": facets,
        "seed": seed,
        "threads": threads,
    }
    asked = _Asked(window, elastic, samples, prove, stiffness, unevenness, drawing)
    downs = touchdowns(model, np.atleast_2d(q), np.atleast_2d(v), window=window, **options)
    found, status = _answers(model, np.atleast_2d(q), list(downs), asked)
    if one:
        answer = found[0]
        if isinstance(answer, ValueError):
            raise answer
        return answer
    return Tippings(tuple(found), status)


@dataclass(frozen=True)
class _Asked:
    """How to answer."""

    window: float = WINDOW
    restitution: float | None = None  # None: of the contact
    samples: int = SAMPLES
    prove: bool = False
    stiffness: float | None = None
    unevenness: float | None = None
    drawing: Options = field(default_factory=lambda: {"rates": "extreme"})


@dataclass(frozen=True, eq=False)
class _Posed:
    """A touch-down with its support, and the impact of the contacts that count."""

    down: Touchdown
    support: Support
    problem: ImpactProblem
    source: str  # of the restitution


def _answers(
    model: object, qpos: Array, downs: Sequence[Touchdown | ValueError], asked: _Asked
) -> tuple[list[Tipping | ValueError], np.ndarray]:
    """The answer of each touch-down, or why there is none; and a status for each, (n,)."""
    posed = [down if isinstance(down, ValueError) else _posed(down, asked) for down in downs]
    rows = [None if isinstance(one, ValueError) else one.problem for one in posed]
    found: list[Tipping | ValueError] = [one for one in posed if isinstance(one, ValueError)]
    status = np.full(len(posed), Status.REFUSED, dtype=np.int8)
    if len(found) < len(posed):
        drawn = sample(ImpactBatch.from_problems(rows), asked.samples, **asked.drawing)
        found = [
            one if isinstance(one, ValueError) else _answer(model, qpos[k], one, drawn, k, asked)
            for k, one in enumerate(posed)
        ]
    for k, answer in enumerate(found):
        if isinstance(answer, Tipping):
            status[k] = answer.status
        elif isinstance(answer, NoContactError):
            status[k] = Status.NO_CONTACT
    return found, status


def _posed(down: Touchdown, asked: _Asked) -> _Posed | ValueError:
    try:
        support = support_of(down, asked.unevenness)
    except ValueError as error:
        return error
    counting = np.flatnonzero(down.closing() <= asked.window)
    if not len(counting):
        first = float(down.closing().min())
        return NoContactError(
            f"window: the first contact closes after {first:g} s; wanted one within {asked.window:g} s",
            down.problem.v,
            down.problem.basis,
        )
    elastic, source = restitution_at(down, counting, asked.restitution)
    return _Posed(down, support, counted(down, counting, elastic), source)


def counted(down: Touchdown, contacts: np.ndarray, restitution: Array) -> RobotProblem:
    """The impact of some contacts of a touch-down, with this restitution (k,)."""
    whole = down.problem
    kept = {name: getattr(whole, name)[contacts] for name in ("Jn", "Jt", "mu")}
    found = whole.replace(**kept, restitution=restitution, names=[whole.names[k] for k in contacts])
    assert isinstance(found, RobotProblem)
    return found


def restitution_at(down: Touchdown, contacts: np.ndarray, given: float | None) -> tuple[Array, str]:
    """The restitution of some contacts (k,), and where it is from; None: from the contact itself."""
    if given is not None:
        return np.full(len(contacts), given), "given"
    ratio = down.damping_ratio[contacts]
    known = np.isfinite(ratio)
    elastic = np.where(known, restitution_of_spring(np.where(known, ratio, 1.0)), CRITICALLY_DAMPED)
    return elastic, "contact" if known.all() else "assumed"


def restitution_given(restitution: str | float) -> float | None:
    """The number, if one is given; None for "contact"."""
    if restitution == "contact":
        return None
    return real("restitution", restitution, at_least=0.0, at_most=1.0)


def _answer(
    model: object, qpos: Array, one: _Posed, drawn: BatchOutcomes, row: int, asked: _Asked
) -> Tipping:
    down, support, problem = one.down, one.support, one.problem
    ended = drawn.status[row] <= Status.NO_IMPACT
    ratios = np.where(ended[:, None], support.ratios(drawn.v[row][:, : problem.nv]), -np.inf)
    worst = ratios.max(axis=0)
    edge = int(np.argmax(worst))
    index = int(np.argmax(ratios[:, edge]))
    solved = bool(ended.any())
    status = Status(int(drawn.status[row, index])) if solved else Status.NUMERICAL
    energies = problem.kinetic_energy(drawn.v[row][ended, : problem.nv])
    barrier = support.barrier
    with np.errstate(divide="ignore"):
        before = (problem.kinetic_energy() + support.sinking) / np.float64(barrier)
        after = (energies.max(initial=0.0) + support.sinking) / np.float64(barrier)
    given = asked.stiffness
    lasting = None if given is None else contact_duration(given, down.mass / len(support.carrying))
    uneven = UNEVENNESS if asked.unevenness is None else asked.unevenness
    regime = down.regime(asked.window, uneven, lasting)
    v = drawn.v[row, index, : problem.nv] if solved else np.full(problem.nv, np.nan)
    return Tipping(
        model,
        qpos,
        down,
        support,
        problem,
        float(worst[edge]) if solved else np.nan,
        support.edges[edge].contacts,
        worst if solved else np.full(len(worst), np.nan),
        bounds_of(problem, support, prove=asked.prove and not worst[edge] > 1.0),
        down.problem.lift(v),
        float(before),
        float(after),
        one.source,
        regime,
        float(ended.mean()),
        status,
        (drawn[row], index) if solved and status is not Status.NO_IMPACT else None,
    )


def bounds_of(problem: ImpactProblem, support: Support, *, prove: bool) -> Array:
    """Certified bounds on the ratio about each edge, (edges,); infinite where the body cannot stand."""
    if not support.stands:
        return np.full(len(support.edges), np.inf)
    directions = support.rates
    if not np.any(problem.approaching):
        return directions @ problem.v
    if not prove:  # |d|_(M^-1) |v|_M: kinetic energy does not grow
        return problem.speed * np.linalg.norm(np.linalg.solve(problem.cholesky, directions.T), axis=0)
    plain = EnergyBound(problem.replace(restitution=0.0))
    return np.array([plain.elastic_bound(d) for d in directions])
