"""What is asked of an engine's answers: scene by scene, and across scenes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import cache

import numpy as np

from routh.auditing.membership import APPROACH, CONE, ENERGY, REACH, WITHIN, Audit, audit
from routh.base.validation import Array, integer
from routh.problem.impact import ImpactProblem
from routh.sampling.outcomes import Outcomes
from routh.sampling.sampler import sample
from routh.testkit.card import Card, CardEntry, Grade
from routh.testkit.catalogue import KnownScene
from routh.testkit.catalogue import scenes as all_scenes
from routh.testkit.scene import After, ImpactScene, problem

LAWFUL = 0.03  # share of the speed (of the energy) before up to which a law counts as kept
REPEATED = 1e-6  # share of the speed before: the same question twice
APART = 0.05  # share of the speed before: answers to one scene told twice may be so far apart
REBOUND = 0.1  # share of the approach
PHASES = 8
STEP = 1e-3  # s, of an engine that does not say its own
ORDERED = ("block", "cube", "lander", "four feet slide", "stack", "break", "cradle")
PHASED = ("lander", "block")


class CheckName(StrEnum):
    """What a finding is about."""

    ANSWERS = "answers"
    APPROACH = "approach"
    ENERGY = "energy"
    CONE = "friction cone"
    FRICTION = "friction acts"
    OUTCOME = "only outcome"
    REBOUND = "restitution"
    SET = "set"
    REPEAT = "repeat"
    ORDER = "order of contacts"
    PHASE = "phase of the step"


def examine(
    after: After,
    *,
    name: str = "engine",
    scenes: Mapping[str, KnownScene] | None = None,
    n: int = 2048,
    refine: int = 256,
    seed: int = 0,
) -> Card:
    """Ask an engine for the impacts of scenes, and check what it answers.

    Parameters
    ----------
    after : the engine: from an `ImpactScene` to the velocities (bodies, 6) after it, in the world's frame,
        linear before angular. What it has as ``dt`` (s) is its step, whose phases are tried; with
        ``restitution = False`` it is not asked for any.
    name : for the card.
    scenes : by name; default: all of the kit.
    n : samples of each scene's set.
    refine : further outcomes that are tried near each answer.
    seed : of the samples.
    """
    integer("n", n, at_least=1)
    integer("refine", refine, at_least=0)
    began, known = time.monotonic(), all_scenes() if scenes is None else scenes
    findings: list[CardEntry] = []
    for one in known.values():
        if one.scene.restitution and not getattr(after, "restitution", True):
            text = "the engine knows no restitution"
            findings.append(CardEntry(one.name, CheckName.ANSWERS, Grade.NOT_ASKED, text))
            continue
        v = _answer(after, one.scene)
        if isinstance(v, str):
            findings.append(CardEntry(one.name, CheckName.ANSWERS, Grade.FAULT, v))
            continue
        findings += _of_scene(one, v, _set_of(one.scene, n, seed), refine)
        findings += _across(after, one.scene, v)
    return Card(name, tuple(findings), time.monotonic() - began)


def _answer(after: After, scene: ImpactScene) -> Array | str:
    """The engine's velocities, or why there are none."""
    try:
        v = np.asarray(after(scene), dtype=np.float64)
    except Exception as error:  # an engine may fail in any way it likes; the card says how
        return f"it raised {type(error).__name__}: {error}"
    wanted = (len(scene.bodies), 6)
    if v.shape != wanted:
        return f"velocities have shape {v.shape}; wanted {wanted}"
    return v if np.isfinite(v).all() else "velocities are not finite"


@cache
def _set_of(scene: ImpactScene, n: int, seed: int) -> Outcomes:
    return sample(problem(scene), n, seed=seed)


def _of_scene(known: KnownScene, v: Array, outcomes: Outcomes, refine: int) -> Iterator[CardEntry]:
    """Check one answer."""
    impact, name = outcomes.problem, known.name
    found = audit(impact, v.ravel(), outcomes=outcomes, refine=refine, tolerance=LAWFUL)
    broken = {one.law: str(one) for one in found.broken}
    laws = {
        APPROACH: CheckName.APPROACH,
        ENERGY: CheckName.ENERGY,
        CONE: CheckName.CONE,
        REACH: CheckName.CONE,
    }
    for law, check in laws.items():
        if law in broken:
            yield CardEntry(name, check, Grade.FAULT, broken[law])
        elif law is not REACH:
            yield CardEntry(name, check, Grade.OK)
    if impact.mu.any():
        dropped = friction_dropped(impact, v.ravel())
        text = "contacts push and slide before and after, yet normal impulses alone explain the answer"
        yield CardEntry(name, CheckName.FRICTION, *((Grade.FAULT, text) if dropped else (Grade.OK,)))
    if known.only is not None:
        yield _compared(name, CheckName.OUTCOME, _away(impact, v, known.only), "from the only outcome")
    if known.rebound is not None:
        share = (impact.Jn @ v.ravel()) / -(impact.Jn @ impact.v)
        off = float(np.abs(share - known.rebound).max())
        told = (
            f"contacts leave with {share.min():.2f} to {share.max():.2f} of the approach, not {known.rebound}"
        )
        yield CardEntry(name, CheckName.REBOUND, Grade.OK if off <= REBOUND else Grade.FAULT, told, off)
    yield _membership(name, found)


def _membership(name: str, found: Audit) -> CardEntry:
    """Say whether routh's set has the answer; what is not found may still be there, so it is no fault."""
    grade = Grade.OK if found.inside else Grade.FAULT if found.word.startswith("outside") else Grade.LOOK
    wide = f"nearest sample {found.distance:.3f} away, the set is {found.outcomes.ambiguity:.2f} wide"
    return CardEntry(name, CheckName.SET, grade, f"{found.word}; {wide}", found.distance)


def _across(after: After, scene: ImpactScene, v: Array) -> Iterator[CardEntry]:
    """Check answers to one scene, told in several ways."""
    impact = problem(scene)
    again: dict[CheckName, Callable[[], list[Array | str]]] = {
        CheckName.REPEAT: lambda: [_answer(after, scene)]
    }
    if scene.name in ORDERED:
        again[CheckName.ORDER] = lambda: [_reversed(_answer(after, scene.renumbered()))]
    if scene.name in PHASED:
        fall = float(-(impact.Jn @ impact.v).min()) * getattr(after, "dt", STEP)
        shares = np.arange(1, PHASES) / PHASES
        again[CheckName.PHASE] = lambda: [_answer(after, scene.lifted(fall * share)) for share in shares]
    for check, ask in again.items():
        answers = ask()
        failed = [one for one in answers if isinstance(one, str)]
        if failed:
            yield CardEntry(scene.name, check, Grade.FAULT, failed[0])
            continue
        allowed = REPEATED if check is CheckName.REPEAT else APART
        stacked = np.array([v, *answers])
        most = max(_away(impact, a, b) for a in stacked for b in stacked)
        yield _compared(scene.name, check, most, "between answers to the same impact", allowed)


def _reversed(v: Array | str) -> Array | str:
    return v if isinstance(v, str) else v[::-1]


def _compared(scene: str, check: CheckName, away: float, what: str, most: float = WITHIN) -> CardEntry:
    grade = Grade.OK if away <= most else Grade.FAULT
    return CardEntry(scene, check, grade, f"{away:.3f} of the speed before {what}", away)


def _away(impact: ImpactProblem, a: Array, b: Array) -> float:
    """Distance of two answers, as a share of the speed before."""
    return float(np.linalg.norm((a - b).ravel() @ impact.cholesky)) / impact.scaling.speed


def friction_dropped(impact: ImpactProblem, v_after: Array) -> bool:
    """Whether contacts slid before and after, and normal impulses alone explain the change of velocity."""
    from scipy.optimize import nnls

    speed = impact.scaling.speed
    slips = [np.linalg.norm(impact.Jt @ v, axis=1) / impact.scaling.velocity for v in (impact.v, v_after)]
    columns = np.linalg.solve(impact.cholesky, impact.Jn.T)
    normal, misfit = nnls(columns, (v_after - impact.v) @ impact.cholesky)
    pushes = (normal > 0.01 * normal.max(initial=0.0)) & (impact.mu > 0.0)
    slides = (slips[0] > 0.1) & (slips[1] > 0.1)
    return bool(misfit < 0.01 * speed and pushes.any() and slides[pushes].all())
