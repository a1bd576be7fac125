"""The sets themselves: exact polytopes over the paper's samples, with what a checker proved about them."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from routh import laws, systems
from routh.auditing.comparison import Comparison, compare
from routh.base.validation import Array
from routh.exact.build import exact_set
from routh.exact.checker import check_member, verify_invariance
from routh.exact.polytopes import distance_to_hull
from routh.exact.result import ExactSet, coverage
from routh.reproduce.base import Exhibit, Row, Settings, exhibit
from routh.reproduce.compliant import stiffness_sweep
from routh.reproduce.sampled import draw
from routh.viz.velocity import velocity_figure

SYSTEMS = {
    "rocking-block": ("Rocking block", "HP23 Fig. 9"),
    "compass-gait": ("Compass gait", "HP23 Fig. 10"),
    "box-wall": ("Box and wall", "HP23 Fig. 11"),
    "ramone": ("RAMone", "HP23 Fig. 13"),
    "rimless-wheel": ("Rimless wheel", "HP19 Fig. 3"),
    "pushing": ("Pushing", "HP19 Fig. 4"),
}
SAMPLES = {True: 2**10, False: 2**14}  # quick, full
RATIOS: Array = np.logspace(-5.0, 5.0, 11)  # of stiffness, ten decades


def _maker(name: str) -> Callable[[Settings], Exhibit]:
    def make(settings: Settings) -> Exhibit:
        system = systems.get(name)
        started = time.process_time()
        exact = exact_set(system.rational)
        spent = time.process_time() - started
        n = min(SAMPLES[settings.quick], system.paper.samples or SAMPLES[settings.quick])
        found = compare(draw(exact.problem, n, settings, system.paper.step), ways=False)
        figure = velocity_figure(found, exact=exact.whole, view="ends")
        return Exhibit({f"exact-{name}": figure}, _rows(exact, found, spent), _TEXT)

    return make


def _rows(exact: ExactSet, found: Comparison, spent: float) -> tuple[Row, ...]:
    cover = coverage(found.outcomes, exact)
    kinds = [check_member(exact.rational, v, exact.statuses_to(v)).kind for v in exact.vertices()]
    outer = [piece.vertices for piece in exact.outer]
    sealed = verify_invariance(exact.rational, exact.thresholds, exact.region, outer)
    singles = (*found.sequential.values(), *found.simultaneous)
    inside = all(bool(exact.contains(single.v, tolerance=1e-6)) for single in singles)
    springs = [laws.LZB((1.0, ratio))(exact.problem).v for ratio in RATIOS]
    farthest = max(float(exact.outer.violation(v)) for v in springs)
    pieces = ", ".join(f"{len(p.vertices)} vertices in {p.dimension}-D" for p in exact.inner)
    return (
        Row("status", None, exact.status.name),
        Row("pieces of the set", None, pieces),
        Row("CPU time, ms", None, round(1e3 * spent, 1)),
        Row("gap between inner and outer set, share of the speed", None, f"{exact.gap:.1e}"),
        Row(
            "vertices proved by the checker", None, f"{len(kinds) - kinds.count('unproved')} of {len(kinds)}"
        ),
        Row("outer set proved invariant", None, "yes" if sealed else "no"),
        Row("simultaneous and sequential outcomes inside", "yes", "yes" if inside else "no"),
        Row("LZB over ten decades of stiffness inside to", None, f"{farthest:.1e}"),
        Row("width that these samples miss", None, f"{100 * cover.worst:.1f} %", _WHY_MISSED),
        Row(
            "samples outside by at most", None, f"{cover.outside:.1e}", "the error of the paper's large step"
        ),
    )


_WHY_MISSED = (
    "where a step has several solutions a sample takes the one that our LCP solver returns; the paper does "
    "not say which one its solver does"
)
_TEXT = (
    "Light blue: the exact set of outcomes, a union of polytopes with rational vertices. Dots: samples of "
    "Algorithm 1 with the paper's step. The set is computed without sampling; the rows say how many of its "
    "vertices an independent checker confirmed by rebuilding a solution that ends there."
)

for _name, (_title, _source) in SYSTEMS.items():
    exhibit(f"exact-{_name}", title=f"{_title}: the set itself", source=_source)(_maker(_name))


@exhibit("exact-compliant", title="Compliant outcomes lie in the exact set", source="HP23 Fig. 12")
def compliant_members(settings: Settings) -> Exhibit:
    """How far Kelvin-Voigt outcomes are from the rocking block's exact set, over ten decades of ratio."""
    system = systems.get("rocking-block")
    exact = exact_set(system.rational)
    ratios = RATIOS[::5] if settings.quick else RATIOS
    normal = np.array([exact.problem.Jn @ v for v in stiffness_sweep(system, ratios)])
    images = exact.project(exact.problem.Jn)
    speed = float(np.abs(exact.problem.Jn @ exact.problem.v).max())
    worst = max(min(distance_to_hull(image, point) for image in images) for point in normal) / speed
    rows = (Row("farthest compliant outcome from the set, share of the speed", "contained", f"{worst:.1e}"),)
    return Exhibit({}, rows, "Normal velocities after, for stiffness ratios from 1e-5 to 1e5.")
