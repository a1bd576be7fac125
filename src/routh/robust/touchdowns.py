"""Will it tip? The worst outcome of a touch-down about every edge of the support, and proofs that none does.

The score, the support and its edges are those of `routh.robust.support`; the set is that of the contacts
that close within the window. An outcome that is above 1 turns the body over its edge; what comes after the
impact is not looked at, but for the proof by energy, which covers everything that adds none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from routh.base.results import Column, Drawable, ImpactPath, Result, Tabular
from routh.base.status import InputError, ModelError, Status
from routh.base.text import percent
from routh.base.validation import Array, Options, integer, real, real_array
from routh.bounds import EnergyBound
from routh.models.landings import Touchdown
from routh.models.regime import (
    LATE,
    LATER,
    TILTED,
    UNEVENNESS,
    Regime,
    contact_duration,
    restitution_of_contacts,
)
from routh.models.robot import NoContactError, RobotProblem, listed
from routh.models.robots.landing import touchdowns
from routh.models.simultaneity import RESTITUTION, WINDOW
from routh.problem.batch import ImpactBatch, empty_arrays
from routh.robust.support import Support, supports_of
from routh.robust.verdicts import MOST, SAMPLES, Verdict, verdict_of
from routh.sampling.batch import BatchOutcomes
from routh.sampling.outcomes import Outcomes
from routh.sampling.sampler import draw
from routh.sampling.settings import ByEvents

if TYPE_CHECKING:
    from mujoco import MjModel
    from pinocchio import Model


@dataclass(frozen=True, eq=False)
class Tipping(Drawable, Tabular):
    """Whether a touch-down can turn the body over, and how."""

    model: object = field(repr=False)  # mujoco.MjModel or pinocchio.Model
    qpos: Array = field(repr=False)  # (nq,)
    touchdown: Touchdown = field(repr=False)
    support: Support = field(repr=False)
    counting: np.ndarray = field(repr=False)  # (nc,) which contacts of the touch-down count
    restitution: Array = field(repr=False)  # (nc,) of these
    ratio: float  # worst rate about an edge over the critical one; above 1 it can tip
    edge: tuple[str, str]  # the contacts at the ends of that edge
    worst: Array = field(repr=False)  # (edges,) the same for each edge
    bound: Array = field(repr=False)  # (edges,) no outcome of this impact is above
    v: Array = field(repr=False)  # (nv of the robot,) velocity after, in the worst outcome
    energy: float  # kinetic energy before over the least that turns it over
    energy_after: float  # the largest after, sampled, likewise
    restitution_from: str  # "contact", "given" or "assumed"
    window: float = field(repr=False)  # s
    unevenness: float = field(repr=False)  # m, that `regime` is told with
    lasting: float | None = field(repr=False)  # s, of a contact; None: as its own spring says
    share_solved: float  # share of the samples that are solved: the answer is made of these
    n: int  # that were drawn
    status: Status  # SOLVED; NO_IMPACT; where no sample ended NUMERICAL, or OUT_OF_TIME
    drawn: tuple[BatchOutcomes, int, int] | None = field(default=None, repr=False)  # row and sample of it

    @cached_property
    def problem(self) -> RobotProblem:
        """The impact of the contacts that count."""
        return self.touchdown.impact(self.counting, self.restitution)

    @cached_property
    def regime(self) -> Regime:
        """Whether the set of outcomes is the right model here.

        It is not "tilted", however late its last foot closes, where energy proves the answer or the worst
        outcome is far from turning it over: the farther, the later that foot.
        """
        last = self.touchdown.closing()[self.touchdown.carrying].max(initial=0.0)
        limit = LATER[int(last > LATE * self.window)]  # as measured on level ground
        decided = self._has_proof or (self.support.level and self.ratio < limit)
        return self.touchdown.regime(self.window, self.unevenness, self.lasting, decided=decided)

    @property
    def _has_proof(self) -> bool:
        return self.energy < 1.0 and not self.doubts

    @cached_property
    def sample(self) -> tuple[Outcomes, int] | None:
        """All outcomes, and which of them is the worst; None where there is none."""
        return None if self.drawn is None else (self.drawn[0][self.drawn[1]], self.drawn[2])

    @property
    def verdict(self) -> Verdict:
        """What it comes down to: "go", "no-go", or why it is neither."""
        return verdict_of(self.ratio, self.evidence, self.regime.kind, self.share_solved, self.n)

    @property
    def go(self) -> bool:
        """Whether it may touch down like this: no outcome tips, and the method covers what happens."""
        return self.verdict is Verdict.GO

    @property
    def can_tip(self) -> bool:
        """Whether an outcome was found that turns the body over; True where none was solved."""
        return not self.ratio <= 1.0

    @property
    def evidence(self) -> str:
        """What the answer rests on: "outcome" (one that tips), "energy", "bound" or "sampled"."""
        if self.can_tip:
            return "outcome"
        if self._has_proof:
            return "energy"
        bound = np.all(self.bound < 1.0) and self.regime.kind != TILTED
        return "bound" if bound else "sampled"

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why its energy proves nothing about what comes later; empty where it does."""
        slope = () if self.support.level else ("the ground slopes",)
        return (*slope, *self.touchdown.doubts)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What a proof by energy takes for granted; the last one only where there are joints."""
        pull, ground = float(np.linalg.norm(self.touchdown.load.weight)), self.touchdown.ground
        joints = (f"{listed(self.held)} held",) if self.held else ()
        return (f"on {ground} as an endless rigid plane", f"with a weight of {pull:.3g} N", *joints)

    @property
    def cannot_tip(self) -> bool:
        """Whether energy proves it, now or later, under `assumptions`; a bound is of this impact only."""
        return self.evidence == "energy"

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
        return self.touchdown.held

    @cached_property
    def path(self) -> ImpactPath:
        """How the worst outcome comes about: impulses and velocities on the way."""
        if self.sample is None:
            raise InputError("path", wrong=f"there is no outcome ({self.status.sentence})")
        outcomes, index = self.sample
        return outcomes.path(index)

    def lines(self) -> list[str]:
        """The answer first, then what it rests on."""
        regime = f"{self.regime.sentence[:1].upper()}{self.regime.sentence[1:]}."
        lines = [self._first_line(), regime, self._restitution_line()]
        if self.energy < 1.0 and self.doubts and not self.can_tip:
            lines.append(
                f"It has too little energy to turn over, which proves nothing here: {'; '.join(self.doubts)}."
            )
        if self.touchdown.body:
            lines.append(f"Of {self.touchdown.body} alone; other bodies stay where they are.")
        if self.held:
            lines.append(f"Held joints: {listed(self.held)}.")
        return lines

    def _first_line(self) -> str:
        a, b = self.edge
        if not self.support.rests:
            return (
                f"NO-GO: it cannot stand there: its weight acts outside of what carries it, beyond {a} - {b}."
            )
        if not self.support.stands:
            return f"NO-GO: it cannot stand there: its weight, or uneven feet, lean it over {a} - {b}."
        solved = f"only {percent(self.share_solved)} of the outcomes are solved"
        if np.isnan(self.ratio):
            return f"{self.verdict.upper()}: {solved}."
        proofs = {
            "outcome": ".",
            "energy": "; proved: there is not enough energy to turn it over, now or later, "
            f"{', '.join(self.assumptions)}.",
            "bound": "; proved for this impact, not for later ones: no outcome is above "
            f"{np.max(self.bound, initial=-np.inf):.2f} of it.",
            "sampled": " in this impact; sampled, not proved.",
        }
        but = {
            Verdict.UNDECIDED: f"; of more than {self.n} outcomes one may be above it.",
            Verdict.TILTED: "; later impacts decide, and these were not looked at.",
            Verdict.PARTIAL: f"; {solved}.",
        }
        worst = f"the worst outcome turns over {a} - {b} at {self.ratio:.2f} of the critical rate"
        return f"{self.verdict.upper()}: {worst}{but.get(self.verdict, proofs[self.evidence])}"

    def _restitution_line(self) -> str:
        values = self.restitution
        sources = {
            "contact": "from the contacts' springs",
            "given": "as given",
            "assumed": "assumed, as of critically damped contacts: the model says nothing",
        }
        low, high = float(values.min()), float(values.max())
        size = f"{low:.3g}" if high - low < 5e-4 else f"{low:.3g} to {high:.3g}"
        mu = self.touchdown.seen.mu[self.counting]
        rough = f"{mu.min():.3g}" if np.ptp(mu) < 5e-4 else f"{mu.min():.3g} to {mu.max():.3g}"
        return f"Restitution {size} ({sources[self.restitution_from]}), friction {rough}."

    def __str__(self) -> str:
        return " ".join(self.lines())

    def __repr__(self) -> str:
        what = f"{self.verdict.upper()}, {self.evidence}, ratio={self.ratio:.3g}"
        return f"Tipping({what}, edge={' - '.join(self.edge)}, {self.status.name})"

    def as_data(self) -> dict[str, object]:
        """Numbers, lists and dictionaries, as ``--json`` prints them."""
        edges = [
            {"contacts": list(e.contacts), "ratio": float(r), "bound": float(b), "critical_rate": e.critical}
            for e, r, b in zip(self.support.edges, self.worst, self.bound, strict=True)
        ]
        return {
            "go": self.go,
            "verdict": str(self.verdict),
            "ratio": self.ratio,
            "margin": self.margin,
            "edge": list(self.edge),
            "evidence": self.evidence,
            "assumptions": list(self.assumptions) if self.evidence == "energy" else [],
            "doubts": list(self.doubts),
            "edges": edges,
            "energy": self.energy,
            "energy_after": self.energy_after,
            "regime": self.regime.kind,
            "share_solved": self.share_solved,
            "n": self.n,
            "sentences": self.lines(),
            "restitution": self.restitution,
            "restitution_from": self.restitution_from,
            "held": list(self.held),
            "v": self.v,
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
class Tippings(Result, Tabular):
    """The answers for many states; one that has none says why. ``answers[k]`` is a `Tipping`."""

    found: tuple[Tipping | ValueError, ...] = field(repr=False)
    status: np.ndarray = field(repr=False)  # (n,) int8; NO_CONTACT and REFUSED where there is no answer

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, row: int) -> Tipping:
        k = integer("row", row, at_least=-len(self), at_most=len(self) - 1) % max(len(self), 1)
        one = self.found[k]
        if isinstance(one, ValueError):
            raise InputError(wrong=f"row {k} has no answer: {one}")
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
        """States that are proved not to tip, (n,) bool."""
        return self._each(lambda one: one.cannot_tip, False).astype(bool)

    @cached_property
    def go(self) -> np.ndarray:
        """Which states are a go, (n,) bool; False where there is no answer."""
        return self._each(lambda one: one.go, False).astype(bool)

    @property
    def verdicts(self) -> list[str]:
        """Verdicts "go", "no-go", "undecided", "tilted" or "partial", empty without an answer."""
        return ["" if isinstance(one, ValueError) else str(one.verdict) for one in self.found]

    @property
    def edges(self) -> list[tuple[str, str] | None]:
        """The edge of each state."""
        return [None if isinstance(one, ValueError) else one.edge for one in self.found]

    @property
    def regimes(self) -> list[str]:
        """Regimes "stiff", "soft", "tilted" or "unknown", empty without an answer."""
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
            "verdict": Column(("state",), np.array(self.verdicts), "1", ", ".join(Verdict)),
            "regime": Column(("state",), np.array(self.regimes), "1", "stiff, soft, tilted or unknown"),
            "status": Column(("state",), self.status, "1", meaning),
        }


def tipping(
    model: MjModel | Model,
    qpos: ArrayLike,
    qvel: ArrayLike,
    *,
    window: float = WINDOW,
    restitution: str | float = RESTITUTION,
    n: int = SAMPLES,
    most: int = MOST,
    rates: str = "extreme",
    prove: bool = False,
    stiffness: float | None = None,
    unevenness: float | None = None,
    friction: str = "cone",
    facets: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    budget: float | None = None,
    **options: Any,
) -> Tipping:
    """Whether a body that comes down nearly flat can turn over: the worst outcome about every edge.

    A ValueError is raised where there is no answer; `tippings` takes many states.

    Parameters
    ----------
    model : mujoco.MjModel or pinocchio.Model with a free root. Joints are held from the touch on.
    qpos : (nq,); Pinocchio's in its own order. `routh.models.landing` makes it.
    qvel : (nv,).
    window : contacts that close within this time (s) take part in the impact. Those that close later may
        carry the body nevertheless: it stands on the facet of its feet on which it comes to rest, tilted by
        up to 15 degrees now, on ground of any slope.
    restitution : "contact", from the damping of the contact's spring (MuJoCo's ``solref``; where nothing is
        known, as if critically damped, 0.135), or a number.
    n, most : outcomes; where the worst is so near 1 that more could be above it, twice as
        many, and so on up to ``most``. What is still as near then is "undecided".
    rates, friction, facets, seed, threads : of `routh.sample`.
    budget : seconds for drawing; what is not drawn by then is missing, and too much of it makes an answer
        "partial". Without it equal seeds give equal answers.
    prove : bound the worst outcome about each edge by a cone program (some 10 ms an edge); without it only by
        energy and momentum, which costs nothing and is looser.
    stiffness : of one contact, N/m, instead of the model's own spring; says how long a contact lasts.
    unevenness : m, by which the height of each foot may differ from the model at most, up or down: a foot may
        then close earlier by twice that, and the body stands leaning by as much over the width of its
        support. None: it stands flat, and 2 mm are taken for the right model here (`Tipping.regime`).
    options : ``deepest`` (m of overlap); for MuJoCo ``data`` (mocap poses) and ``body`` (which body comes
        down, where several can); for Pinocchio ``ground``,
        ``points``, ``geometry`` and ``mu``.
    """
    told: Options = {"window": window, "restitution": restitution, "n": n, "most": most, "rates": rates}
    told |= {"prove": prove, "stiffness": stiffness, "unevenness": unevenness, "friction": friction}
    told |= {"facets": facets, "seed": seed, "threads": threads, "budget": budget}
    q = real_array("qpos", qpos, [(int(model.nq),)], finite=False)
    v = real_array("qvel", qvel, [(int(model.nv),)], finite=False)
    found = tippings(model, q[None], v[None], **told, **options).found[0]
    if isinstance(found, ValueError):
        raise found
    return found


def tippings(
    model: MjModel | Model,
    qpos: ArrayLike,
    qvel: ArrayLike,
    *,
    window: float = WINDOW,
    restitution: str | float = RESTITUTION,
    n: int = SAMPLES,
    most: int = MOST,
    rates: str = "extreme",
    prove: bool = False,
    stiffness: float | None = None,
    unevenness: float | None = None,
    friction: str = "cone",
    facets: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    budget: float | None = None,
    **options: Any,
) -> Tippings:
    """`tipping` of many states at once: the rest as there.

    Parameters
    ----------
    model, window, restitution, n, most, rates, prove, stiffness, unevenness : as in `tipping`.
    friction, facets, seed, threads, budget, options : likewise.
    qpos : (k, nq).
    qvel : (k, nv).
    """
    real("window", window, at_least=0.0)
    integer("n", n, at_least=1)
    integer("most", most, at_least=1)
    if unevenness is not None:
        real("unevenness", unevenness, at_least=0.0)
    elastic = restitution_given(restitution)
    if stiffness is not None:
        real("stiffness", stiffness, above=0.0)
    nq, nv = int(model.nq), int(model.nv)
    if not nv:
        raise ModelError("model", wrong="its base is fixed, so that it cannot tip over", wanted="a free root")
    q = real_array("qpos", qpos, [(None, nq)], f"shape (n, {nq})", finite=False)
    v = real_array("qvel", qvel, [(None, nv)], f"shape (n, {nv})", finite=False)
    if len(q) != len(v) or not q.size:
        raise InputError(
            "qvel", got=f"shape {v.shape} with qpos of {q.shape}", wanted="the same number of states in both"
        )
    how: Options = {"rates": rates, "friction": friction, "facets": facets}
    drawing = ByEvents(seed=seed, threads=threads, budget=budget, **how)
    deadline = np.inf if budget is None else monotonic() + budget
    asked = _Asked(window, elastic, n, most, prove, stiffness, unevenness, drawing, deadline)
    downs = touchdowns(model, q, v, window=window, **options)
    found, status = _answers(model, q, list(downs), asked)
    return Tippings(tuple(found), status)


@dataclass(frozen=True)
class _Asked:
    """How to answer."""

    window: float
    restitution: float | None  # None: of the contact
    n: int
    most: int
    prove: bool
    stiffness: float | None
    unevenness: float | None
    drawing: ByEvents
    deadline: float  # s, monotonic

    def draw(self, batch: ImpactBatch, row: int = 0) -> BatchOutcomes:
        """The outcomes of impacts, of which the first is this row of all states."""
        left = None if np.isinf(self.deadline) else max(self.deadline - monotonic(), 1e-3)
        return draw(batch, self.n, replace(self.drawing, row=row, budget=left))


@dataclass(frozen=True, eq=False)
class _Posed:
    """A touch-down with its support, and which of its contacts count."""

    touchdown: Touchdown
    support: Support
    counting: np.ndarray


def _answers(
    model: object, qpos: Array, downs: Sequence[Touchdown | ValueError], asked: _Asked
) -> tuple[list[Tipping | ValueError], np.ndarray]:
    """The answer of each touch-down, or why there is none; and a status for each, (n,)."""
    posed = _posed(downs, asked)
    known = [one for one in posed if isinstance(one, _Posed)]
    answers: list[Tipping] = []
    if known:
        ratios = [one.touchdown.seen.damping_ratio[one.counting] for one in known]
        elastic, sources = _restitutions(ratios, asked.restitution)
        rows = np.array([k for k, one in enumerate(posed) if isinstance(one, _Posed)])
        drawn = asked.draw(_batch(known, elastic, rows, len(posed)))
        answers = _judge(model, qpos, known, elastic, sources, drawn, rows, asked)
        for k, (one, e, source, row) in enumerate(zip(known, elastic, sources, rows.tolist(), strict=True)):
            plainer = replace(asked, prove=False)
            while (n := answers[k].n) < asked.most and answers[k].verdict is Verdict.UNDECIDED:
                plainer = replace(plainer, n=min(2 * n, asked.most))
                if monotonic() > asked.deadline:
                    break
                again = plainer.draw(_batch([one], [e], np.array([0]), 1), row)
                more = _judge(model, qpos[row : row + 1], [one], [e], [source], again, np.array([0]), plainer)
                answers[k] = replace(more[0], bound=answers[k].bound)
    rest = iter(answers)
    found: list[Tipping | ValueError] = [one if isinstance(one, ValueError) else next(rest) for one in posed]
    status = np.full(len(posed), Status.REFUSED, dtype=np.int8)
    for k, answer in enumerate(found):
        if isinstance(answer, Tipping):
            status[k] = answer.status
        elif isinstance(answer, NoContactError):
            status[k] = Status.NO_CONTACT
    return found, status


def _posed(downs: Sequence[Touchdown | ValueError], asked: _Asked) -> list[_Posed | ValueError]:
    """Which contacts count and what the body stands on; or what is wrong with a state."""
    met = [down for down in downs if isinstance(down, Touchdown)]
    supports = iter(supports_of(met, asked.unevenness))
    return [down if isinstance(down, ValueError) else _pose(down, next(supports), asked) for down in downs]


def _pose(down: Touchdown, support: Support | ValueError, asked: _Asked) -> _Posed | ValueError:
    if isinstance(support, ValueError):
        return support
    counting = np.flatnonzero(down.closing(unevenness=asked.unevenness) <= asked.window)
    if not len(counting):
        first, wanted = float(down.closing().min()), f"wanted one within {asked.window:g} s"
        error = f"the first contact closes after {first:g} s; {wanted}"
        return NoContactError(error, down.v, down.basis)
    sizes = np.array([abs(part).max() for part in (down.M, down.v, down.seen.J, down.seen.mu)])
    if not (np.all(sizes[:3] > 1e-50) and np.all(sizes < 1e50)):  # else no check is needed
        try:
            down.impact(counting, np.zeros(len(counting)))
        except ValueError as error:
            return error
    return _Posed(down, support, counting)


def _restitutions(every: Sequence[Array], given: float | None) -> tuple[list[Array], list[str]]:
    """Restitutions and where they are from, of contacts with these damping ratios, (nc,) for each state."""
    if given is not None:
        return [np.full(len(ratio), given) for ratio in every], ["given"] * len(every)
    ends = np.cumsum([len(ratio) for ratio in every])[:-1]
    ratio = np.concatenate(every)
    sources = ["contact" if told.all() else "assumed" for told in np.split(np.isfinite(ratio), ends)]
    return np.split(restitution_of_contacts(ratio), ends), sources


def restitution_at(down: Touchdown, contacts: np.ndarray, given: float | None) -> Array:
    """The restitution of some contacts of a touch-down, (k,); None: from the contact itself."""
    return _restitutions([down.seen.damping_ratio[contacts]], given)[0][0]


def _batch(posed: Sequence[_Posed], elastic: Sequence[Array], rows: np.ndarray, n: int) -> ImpactBatch:
    """The impacts of ``n`` states, of which there is one in these rows: random numbers belong to rows.

    The arrays of usual ones are written without problems in between, which take longer than all the rest.
    """
    told = list(zip(rows.tolist(), posed, elastic, strict=True))
    if not all(one.touchdown.slides_everywhere for one in posed):
        made = {k: one.touchdown.impact(one.counting, e) for k, one, e in told}
        return ImpactBatch.from_problems([made.get(k) for k in range(n)])
    nv, nc = len(posed[0].touchdown.v), max(len(one.counting) for one in posed)
    arrays = {"M": np.zeros((n, nv, nv)), "v": np.full((n, nv), np.nan), **empty_arrays(n, nv, nc, 2)}
    names: list[list[str]] = [[] for _ in range(n)]
    for k, one, e in told:
        seen, counting, count = one.touchdown.seen, one.counting, len(one.counting)
        J = seen.J[counting]
        arrays["M"][k], arrays["v"][k], arrays["restitution"][k, :count] = one.touchdown.M, one.touchdown.v, e
        arrays["Jn"][k, :count], arrays["Jt"][k, :count] = J[:, 0], J[:, 1:]
        arrays["mu"][k, :count] = seen.mu[counting]
        arrays["present"][k, :count], arrays["size"][k] = True, (nv, count, 2)
        names[k] = [seen.names[contact] for contact in counting]
    return ImpactBatch.of_parts({"names": names, "reasons": []}, arrays)


def restitution_given(restitution: str | float) -> float | None:
    """The number, if one is given; None for "contact"."""
    if restitution == RESTITUTION:
        return None
    return real("restitution", restitution, at_least=0.0, at_most=1.0)


def _judge(
    model: object,
    qpos: Array,
    posed: Sequence[_Posed],
    elastic: Sequence[Array],
    sources: Sequence[str],
    drawn: BatchOutcomes,
    rows: np.ndarray,
    asked: _Asked,
) -> list[Tipping]:
    """The answers, of all states at once as far as that goes."""
    supports = [one.support for one in posed]
    n, nv, widest = len(posed), len(posed[0].touchdown.v), max(len(one.barriers) for one in supports)
    rates, barriers = np.zeros((n, widest, nv)), np.full((n, widest), np.nan)  # NaN: no edge
    for k, support in enumerate(supports):
        count = len(support.barriers)
        barriers[k, :count] = support.barriers
        rates[k, :count] = np.where(support.barriers[:, None] > 0.0, support.rates, 0.0)
    M, before = np.array([one.touchdown.M for one in posed]), np.array([one.touchdown.v for one in posed])
    every = len(rows) == len(drawn)  # then nothing is copied
    after, statuses = (drawn.v, drawn.status) if every else (drawn.v[rows], drawn.status[rows])
    ended = statuses <= Status.NO_IMPACT  # (n, samples)
    ratios = np.where((barriers <= 0.0)[:, None], np.inf, after[:, :, :nv] @ rates.swapaxes(1, 2))
    ratios = np.where(ended[:, :, None] & ~np.isnan(barriers)[:, None], ratios, -np.inf)
    worst = ratios.max(axis=1)  # (n, edges)
    edges = worst.argmax(axis=1)
    index = np.take_along_axis(ratios, edges[:, None, None], axis=2)[:, :, 0].argmax(axis=1)
    least = np.nanmin(barriers, axis=1)
    sinking = np.array([support.sinking for support in supports])
    energies = 0.5 * np.einsum("nsi,nsi->ns", after[:, :, :nv] @ M, after[:, :, :nv])
    largest = np.where(ended, energies, 0.0).max(axis=1)
    size = np.maximum(np.abs(before).max(axis=1), 1e-300)  # squares of tiny numbers vanish
    scaled = before / size[:, None]
    speed = size * np.sqrt(np.einsum("ni,nij,nj->n", scaled, M, scaled))
    with np.errstate(divide="ignore"):
        energy = np.array([0.5 * speed**2, largest]) + sinking
        energy = np.where(least > 0.0, energy / np.where(least > 0.0, least, 1.0), np.inf)
    # |d|_(M^-1) |v|_M bounds d . v, since kinetic energy does not grow
    reach = np.einsum("nev,nve->ne", rates, np.linalg.solve(M, rates.swapaxes(1, 2)))
    bounds = np.where((least > 0.0)[:, None], speed[:, None] * np.sqrt(np.maximum(reach, 0.0)), np.inf)
    uneven = UNEVENNESS if asked.unevenness is None else asked.unevenness
    answers = []
    for k, (one, support) in enumerate(zip(posed, supports, strict=True)):
        count, solved = len(support.barriers), bool(ended[k].any())
        unsolved = Status.OUT_OF_TIME if (statuses[k] == Status.OUT_OF_TIME).any() else Status.NUMERICAL
        status = Status(int(statuses[k, index[k]])) if solved else unsolved
        v = after[k, index[k], :nv] if solved else np.full(nv, np.nan)
        lasting = None
        if asked.stiffness is not None:
            lasting = contact_duration(asked.stiffness, one.touchdown.load.mass / len(support.carrying))
        bound = bounds[k, :count]
        if support.stands and drawn.batch.status[rows[k]] == Status.NO_IMPACT:
            bound = support.rates @ before[k]
        elif asked.prove and support.stands and not worst[k, edges[k]] > 1.0:
            # certified, by a cone program an edge
            plain = EnergyBound(one.touchdown.impact(one.counting, np.zeros(len(one.counting))))
            bound = np.array([plain.elastic_bound(direction) for direction in support.rates])
        answers.append(
            Tipping(
                model,
                qpos[rows[k]],
                one.touchdown,
                support,
                one.counting,
                elastic[k],
                float(worst[k, edges[k]]) if solved else np.nan,
                support.contacts[edges[k]],
                worst[k, :count] if solved else np.full(count, np.nan),
                bound,
                v @ one.touchdown.basis.T,
                float(energy[0, k]),
                float(energy[1, k]),
                sources[k],
                asked.window,
                uneven,
                lasting,
                float(ended[k].mean()),
                ended.shape[1],
                status,
                (drawn, int(rows[k]), int(index[k])) if solved and status is not Status.NO_IMPACT else None,
            )
        )
    return answers
