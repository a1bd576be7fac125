"""HP23: its figures of systems and sets, and Table 3."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from routh import systems
from routh.auditing.comparison import Comparison, compare, simultaneous_solutions
from routh.problem import ImpactProblem
from routh.reproduce.base import Exhibit, Row, Settings, exhibit
from routh.reproduce.sampled import ANY_SOLUTION_CONTACTS, any_solution, draw, joined, unequal_steps
from routh.reproduce.statements import classical_distances, statements
from routh.sampling import Outcomes
from routh.systems import System
from routh.viz.exact import cheap_exact
from routh.viz.explain import barrier_figure, routh_figure, unit_figure
from routh.viz.panels import Panel, contact_panel, default_panels, normal_panel
from routh.viz.snapshots import snapshot_figure
from routh.viz.velocity import velocity_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUICK_SAMPLES = 2**13
ANY_SOLUTIONS = {True: 60, False: 400}  # samples that take a random one of all solutions: quick, full
NAMES = {
    "rocking-block": "Rocking block",
    "compass-gait": "Compass gait",
    "box-wall": "Box and wall",
    "ramone": "RAMone",
    "disk-stack-5kg": "Disk stack, 5 kg",
}
#: HP23 Table 3: LCPs per sample, time per sample and per LCP in seconds.
TABLE_3 = {
    "rocking-block": (2.67, 2.1e-3, 8.0e-4),
    "compass-gait": (2.27, 1.9e-3, 8.5e-4),
    "box-wall": (1.97, 1.6e-3, 8.1e-4),
    "ramone": (3.20, 2.2e-3, 7.0e-4),
    "disk-stack-5kg": (9.04, 1.1e-2, 1.3e-3),
}


def problem_of(system: System) -> ImpactProblem:
    """The impact of a system that has one."""
    assert system.problem is not None
    return system.problem


def sampled(system: System, settings: Settings) -> Outcomes:
    """Samples with the paper's step, as many as the paper's unless quick."""
    n = QUICK_SAMPLES if settings.quick else system.paper.samples or QUICK_SAMPLES
    return draw(problem_of(system), n, settings, system.paper.step)


@dataclass(frozen=True, eq=False)
class SetStudy:
    """A system's set: plain samples for the figure, wider ones for what the paper says in words."""

    system: System
    shown: Comparison
    wide: Outcomes


def study(name: str, settings: Settings) -> SetStudy:
    """Sample a system, by the paper's settings and more widely."""
    system = systems.get(name)
    problem = problem_of(system)
    outcomes = sampled(system, settings)
    step = system.paper.step or float(np.max(problem.scaling.impulse))
    parts = [outcomes, unequal_steps(problem, min(max(len(outcomes) // 16, 64), 4096), step, settings)]
    if problem.nc <= ANY_SOLUTION_CONTACTS:
        count = ANY_SOLUTIONS[settings.quick]
        parts.append(any_solution(problem, count, step=np.full(problem.nc, step), seed=settings.seed))
    return SetStudy(system, compare(outcomes, device=settings.device), joined(parts))


def rows_of(found: SetStudy) -> tuple[Row, ...]:
    """The paper's statements about a set, and how near the classical outcomes are to it."""
    name = found.system.name
    rows = [
        Row(claim, "yes", "yes") if holds else Row(claim, "yes", "no", _WHY.get(claim, ""))
        for claim, holds in statements(name, found.wide).items()
    ]
    for law, distance in classical_distances(found.wide).items():
        rows.append(Row(f"distance of {law} from the samples (share of the speed before)", None, distance))
    ended = int(np.count_nonzero(found.shown.outcomes.terminated))
    rows.append(Row("samples that terminated", None, f"{ended} of {len(found.shown.outcomes)}"))
    return tuple(rows)


_WHY = {
    "the top disk keeps contact with the left or the right one (C or D)": (
        "true of all but about one sample in a thousand, an error of the large step: their slower separation "
        "shrinks with the step, from 0.015 m/s at 1 N s to 4e-6 m/s at 0.03 N s"
    ),
}


def _text(found: SetStudy) -> str:
    several = ", and some that take a random solution where a step has several"
    return (
        f"{len(found.shown.outcomes)} samples with the paper's step of {found.system.paper.step:g} N s give "
        f"the velocities on the way. The ends, and the statements below, are those of {len(found.wide)} "
        f"samples: these, further ones with unequal steps{several if found.wide.problem.nc == 2 else ''}."
    )


@exhibit("hp23-fig-1", title="A block falls on two corners: three answers", source="HP23 Fig. 1")
def figure_1(settings: Settings) -> Exhibit:
    """The rocking block before, and after each law."""
    return _snapshots("rocking-block", "hp23-fig-1", 1)


@exhibit("hp23-fig-2", title="Friction is set-valued", source="HP23 Fig. 2")
def figure_2(settings: Settings) -> Exhibit:
    """The direction of sliding and the inclusion it drives."""
    return Exhibit({"hp23-fig-2": unit_figure()})


@exhibit("hp23-fig-3", title="The velocity through one impact", source="HP23 Fig. 3")
def figure_3(settings: Settings) -> Exhibit:
    """Routh's method for one planar contact."""
    return Exhibit({"hp23-fig-3": routh_figure()})


@exhibit("hp23-fig-4", title="A wide step has three simultaneous solutions", source="HP23 Fig. 4")
def figure_4(settings: Settings) -> Exhibit:
    """The compass gait before and after."""
    return _snapshots("compass-gait", "hp23-fig-4", 3)


@exhibit("hp23-fig-5", title="A box slides into a wall", source="HP23 Fig. 5")
def figure_5(settings: Settings) -> Exhibit:
    """The box and the wall before and after."""
    return _snapshots("box-wall", "hp23-fig-5", 1)


@exhibit("hp23-fig-6", title="Why the inclusion prevents penetration", source="HP23 Fig. 6")
def figure_6(settings: Settings) -> Exhibit:
    """A ball and its phase portrait."""
    return Exhibit({"hp23-fig-6": barrier_figure()})


def _snapshots(name: str, stem: str, solutions: int) -> Exhibit:
    system = systems.get(name)
    found, _ = simultaneous_solutions(problem_of(system))
    rows = (Row("solutions of the simultaneous law (31)", solutions, len(found)),)
    return Exhibit({stem: snapshot_figure(system)}, rows)


@exhibit("hp23-fig-9", title="The rocking block's set", source="HP23 Fig. 9, section 5.4.1")
def figure_9(settings: Settings) -> Exhibit:
    """Normal velocities, and contact A alone."""
    found = study("rocking-block", settings)
    figure = _evolution(found, [normal_panel(0, 1), contact_panel(0)])
    return Exhibit({"hp23-fig-9": figure}, rows_of(found), _text(found))


@exhibit("hp23-fig-10", title="The compass gait's set", source="HP23 Fig. 10, section 5.4.2")
def figure_10(settings: Settings) -> Exhibit:
    """Both contacts and their normal velocities."""
    return _set_exhibit("compass-gait", "hp23-fig-10", settings)


@exhibit("hp23-fig-11", title="The set of the box and the wall", source="HP23 Fig. 11, section 5.4.3")
def figure_11(settings: Settings) -> Exhibit:
    """Both contacts and their normal velocities."""
    return _set_exhibit("box-wall", "hp23-fig-11", settings)


@exhibit("hp23-fig-13", title="A footfall of RAMone", source="HP23 Fig. 13, section 5.4.4")
def figure_13(settings: Settings) -> Exhibit:
    """The robot before and after, and its set."""
    made = _set_exhibit("ramone", "hp23-fig-13b", settings)
    figures = {"hp23-fig-13a": snapshot_figure(systems.get("ramone")), **made.figures}
    return Exhibit(figures, made.rows, made.text)


def _set_exhibit(name: str, stem: str, settings: Settings) -> Exhibit:
    found = study(name, settings)
    return Exhibit(
        {stem: _evolution(found, default_panels(found.wide.problem))}, rows_of(found), _text(found)
    )


def _evolution(found: SetStudy, panels: list[Panel], titles: Sequence[str] = ()) -> Figure:
    """The way of the paper's samples above, and below it where all samples end, over the exact set."""
    shown = replace(found.shown, outcomes=found.wide)
    exact = cheap_exact(found.wide.problem)
    return velocity_figure(shown, panels, exact=exact, titles=titles, view="both")


@exhibit("hp23-fig-14", title="A stack of disks falls apart", source="HP23 Fig. 14, section 5.4.5")
def figure_14(settings: Settings) -> Exhibit:
    """The disks before and after, and their set, with the mass of the published figures and of Table 8."""
    heavy, light = study("disk-stack-5kg", settings), study("disk-stack", settings)
    between = [normal_panel(0, 1), normal_panel(2, 3)], ["ground, left and right", "top, left and right"]
    alone = [contact_panel(0), contact_panel(2), contact_panel(4)], ["A: ground", "C: top", "E: lower two"]
    figures = {"hp23-fig-14a": snapshot_figure(heavy.system)}
    for kind, found in (("", heavy), ("-1kg", light)):
        figures[f"hp23-fig-14b{kind}"] = _evolution(found, *between)
        figures[f"hp23-fig-14c{kind}"] = _evolution(found, *alone)
    text = (
        _text(heavy) + " First the disks of 5 kg behind the paper's figures (its script reuses a variable), "
        "then those of 1 kg that its Table 8 lists; the statements are checked for 5 kg."
    )
    return Exhibit(figures, rows_of(heavy), text)


@exhibit("hp23-table-3", title="What a sample costs", source="HP23 Table 3")
def table_3(settings: Settings) -> Exhibit:
    """LCPs per sample, time per sample and per LCP, on this machine."""
    rows = []
    for name, (lcps, per_sample, per_lcp) in TABLE_3.items():
        system = systems.get(name)
        sampled(system, Settings(quick=True, seed=settings.seed, device=settings.device))  # compiles
        start = time.perf_counter()
        outcomes = sampled(system, settings)
        seconds = time.perf_counter() - start
        count, title = float(outcomes.steps.mean()), NAMES[name]
        rows += [
            Row(f"{title}: LCPs per sample", lcps, count, _WHY_COUNT),
            Row(f"{title}: time per sample (s)", per_sample, seconds / len(outcomes), _WHY_TIME),
            Row(f"{title}: time per LCP (s)", per_lcp, seconds / float(outcomes.steps.sum()), _WHY_TIME),
        ]
    return Exhibit(rows=tuple(rows), text=_TABLE_TEXT)


_WHY_COUNT = "the paper's count includes the inexactness of its solver; ours solves each LCP exactly"
_WHY_TIME = "another machine, and compiled code on all cores"
_TABLE_TEXT = (
    "Mean over all samples, each run until no contact approaches. The paper's times are from MATLAB with "
    "PATH on a laptop (2.4 GHz Intel Core i5); ours are wall-clock time on this machine, all cores."
)
