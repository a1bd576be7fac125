"""HP19 and its poster: the rimless wheel, pushing, the block into the wall, and billiards."""

from __future__ import annotations

from collections.abc import Callable

from routh import systems
from routh.problem.friction import ContactMode
from routh.problem.impact import ImpactProblem
from routh.reproduce.base import Exhibit, Row, Settings, exhibit
from routh.reproduce.hp23 import QUICK_SAMPLES
from routh.reproduce.sampled import draw
from routh.viz.explain import two_feet_figure
from routh.viz.plots import system_figure
from routh.viz.snapshots import snapshot_figure

SEPARATES, STICKS, _ = ContactMode
_DIMENSIONS = "The paper gives no dimensions; ours are those of the system's defaults."


@exhibit("hp19-fig-3", title="The rimless wheel on two feet", source="HP19 Fig. 3 and poster")
def figure_3(settings: Settings) -> Exhibit:
    """Snapshots, and the set in normal velocities."""
    outcomes = draw(systems.impact("rimless-wheel"), QUICK_SAMPLES, settings)
    modes = {tuple(row) for row in outcomes.modes[outcomes.solved].tolist()}
    rows = [
        Row(claim, "yes", "yes" if found else "no")
        for claim, found in (
            ("the wheel may rest on both feet", (STICKS, STICKS) in modes),
            ("foot A may lift", (SEPARATES, STICKS) in modes),
            ("foot B may lift", (STICKS, SEPARATES) in modes),
            ("nothing else happens", modes <= {(STICKS, STICKS), (SEPARATES, STICKS), (STICKS, SEPARATES)}),
        )
    ]
    figures = {
        "hp19-fig-3a": snapshot_figure(systems.get("rimless-wheel")),
        "hp19-fig-3b": two_feet_figure(outcomes.problem, outcomes.v[outcomes.solved]),
    }
    return Exhibit(figures, tuple(rows), _DIMENSIONS)


@exhibit("hp19-fig-4", title="Pushing a box along a floor into a smooth wall", source="HP19 Fig. 4")
def figure_4(settings: Settings) -> Exhibit:
    """Snapshots, the set, and the sentence on Fig. 4b, which a proof excludes."""
    made = _poster("pushing", "hp19-fig-4")(settings)
    coupling = wall_on_floor(systems.impact("pushing"))
    ours = "impossible" if coupling < 0.0 else "no second impact"
    row = Row("B alone, then A: the bottom separates and the right slides up", "yes", ours, PRESSED)
    return Exhibit(made.figures, (*made.rows, row), made.text)


#: Fig. 4b is impossible: the proof.
PRESSED = (
    "proved: a second impact at the floor needs wall impulses that lower A's normal velocity, which "
    "has a sign "
    "since the wall is smooth, Jn_A M^-1 Jn_B^T < 0. Then B only lowers it and A pushes only while it is not "
    "positive, so that it never gets positive, whatever the order: A stays on the floor"
)


def wall_on_floor(problem: ImpactProblem) -> float:
    """What a unit impulse at the smooth wall does to the floor contact's normal velocity, 1/kg."""
    return float(problem.Jn[0] @ problem.solve_mass(problem.Jn[1]))


def _poster(
    name: str, stem: str, *, most: int = 2**17, quick: int = QUICK_SAMPLES, more: str = ""
) -> Callable[[Settings], Exhibit]:
    """Snapshots of a system, and its set."""

    def make(settings: Settings) -> Exhibit:
        system = systems.get(name)
        outcomes = draw(systems.impact(name), quick if settings.quick else most, settings)
        figures = {f"{stem}a": snapshot_figure(system), f"{stem}b": system_figure(system, outcomes)}
        ended = f"{int(outcomes.solved.sum())} of {len(outcomes)}"
        rows = (
            Row("combinations of contact modes among the samples", None, len(outcomes.summary())),
            Row("samples that terminated", None, ended),
        )
        return Exhibit(figures, rows, _DIMENSIONS + more)

    return make


_FINITE = (
    " Samples of Algorithm 1 may lie outside the exact set, and so may what one contact at a time gives by "
    "the same implicit step: finite steps leave (39), by 4 % of the speed at most with these, by 0.2 % with "
    "a thirtieth, by 0.01 % with a three-hundredth. Samples by events are all inside."
)
_BLOCK = _poster("block-into-wall", "hp19-poster-block", more=_FINITE)
_BREAK = _poster("billiards-break", "hp19-poster-billiards", most=2**13, quick=2**8)
exhibit("hp19-poster-block", title="A block slides flat into a wall", source="HP19 poster")(_BLOCK)
exhibit("hp19-poster-billiards", title="A billiards break", source="HP19 poster")(_BREAK)
