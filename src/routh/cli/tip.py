"""``routh tip robot.xml``: may it come down like this, or can an outcome turn it over?"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table

from routh.base.status import Status
from routh.base.text import for_rich
from routh.base.validation import Options
from routh.cli import options
from routh.cli.exits import Exit
from routh.cli.landings import Landed, make_landing, tell_place
from routh.cli.output import Output, plain_table
from routh.cli.requests import TipRequest
from routh.cli.robots import RobotFile, advising, tell_keyframes
from routh.cli.smallest import Smallest, Varied
from routh.robust.verdicts import Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from mujoco import MjModel

    from routh.models.landings import Landing
    from routh.robust.region import SafeRegion
    from routh.robust.touchdowns import Tipping

HEADINGS = 16  # that are tried where none is given
_SECONDS = 60.0  # of --budget where it is not given
_GLANCE = 64  # outcomes of each heading, before more are drawn for those that may be the worst
_FEW = 8  # contacts up to which the map of safe speeds is drawn with all samples: they cost nc^2
_MAP = 1.0 / 3.0  # share of --budget that the map may take
_CODES = {
    Verdict.GO: Exit.DONE,
    Verdict.UNDECIDED: Exit.UNDECIDED,
    Verdict.TILTED: Exit.TILTED,
    Verdict.PARTIAL: Exit.TOO_FEW_SOLVED,
    Verdict.NO_GO: Exit.NO_GO,
}


@dataclass(frozen=True)
class Judged:
    """The worst of the headings that were looked at."""

    heading: float  # rad
    tip: Tipping
    looked_at: int
    of: int

    @property
    def verdict(self) -> Verdict:
        """Verdict over all headings; a go needs all of them."""
        whole = self.looked_at == self.of or self.tip.verdict is Verdict.NO_GO
        return self.tip.verdict if whole else Verdict.PARTIAL

    def lines(self) -> list[str]:
        """The answer first."""
        if self.verdict is self.tip.verdict:
            return self.tip.lines()
        head = f"PARTIAL: {self.looked_at} of {self.of} headings were looked at in the time of --budget."
        return [head, *self.tip.lines()]

    def as_data(self) -> dict[str, object]:
        """Numbers, lists and dictionaries, as ``--json`` prints them."""
        verdict = {"go": self.verdict is Verdict.GO, "verdict": str(self.verdict), "sentences": self.lines()}
        return {**self.tip.as_data(), **verdict, "heading": self.heading, "headings": self.looked_at}


def run_tip(
    file: Path, landed: Landed, robot: RobotFile, request: TipRequest, place: Path | None, output: Output
) -> int:
    """Answer go or no-go, draw the picture; the exit code."""
    budget = _SECONDS if request.budget is None else request.budget
    landed.demand_speed()
    deadline = monotonic() + budget
    model, sought = robot.load(file), None
    if request.smallest is not None:
        varied = Varied.from_text(request.smallest)
        with output.busy(f"looking for the smallest {varied.name}"), advising(model, robot):
            sought = smallest(varied, model, landed, robot, request, deadline)
        output.answer([f"{sought.sentence[:1].upper()}{sought.sentence[1:]}"])
        model, landed = varied.place(model, landed, varied.high if sought.value is None else sought.value)
    with output.busy("sampling touch-downs"), advising(model, robot):
        stood = stand(model, landed, robot, request)
        found = worst_heading(stood, landed, request, deadline)
    tip, region = found.tip, None
    if not stood.motion.rates.any() and not stood.motion.joints and found.looked_at == found.of:
        with output.busy("looking for safe speeds"):
            seconds = max(min(deadline - monotonic(), _MAP * budget), 1e-3)
            fewer = min(1.0, (_FEW / len(tip.counting)) ** 2)
            drawing = {"n": max(round(fewer * request.samples), 1), "budget": seconds}
            region = region_of(model, landed, stood, robot, request, drawing)
    late = region is not None and (region.status == Status.OUT_OF_TIME).any()
    region = None if late else region
    output.answer(found.lines())
    if late:
        output.show("[yellow]The safe speeds are left out:[/yellow] there was no time for them (--budget).")
    if landed.heading is None and landed.sideways:
        output.show(f"Worst of {found.looked_at} headings: {found.heading:.2f} rad (--heading for one).")
    limits = safe_limits(region, stood)
    if limits:
        words = {
            "sideways": f"m/s sideways at {stood.down:g} m/s down",
            "down": f"m/s down at {landed.sideways:g} m/s sideways",
        }
        safe = "; ".join(f"up to {value:.2f} {words[name]}" for name, value in limits.items())
        output.show(f"No sampled outcome tips {safe}.")
    output.show("", f"[bold cyan]{for_rich(file)}[/bold cyan]", edge_table(tip))
    tell_place(stood, output, regime=False)
    for line in raised_springs(model):
        output.say(f"[dim]{line}[/dim]")
    tell_keyframes(model, robot, output)

    def figure() -> Figure:
        from routh.viz.tipping import tipping_figure

        return tipping_figure(tip, region)

    written = output.picture(place, figure)
    least = sought and {"name": sought.varied.name, "value": sought.value, "whole": sought.whole}
    output.emit(**found.as_data(), safe=limits, smallest=least, picture=written)
    return _CODES[found.verdict] if sought is None or sought.whole else Exit.TOO_FEW_SOLVED


def smallest(
    varied: Varied,
    model: MjModel,
    landed: Landed,
    robot: RobotFile,
    request: TipRequest,
    deadline: float,
) -> Smallest:
    """The smallest value that is a go, with other seeds, too."""

    def is_go(value: float, seed: int) -> bool:
        if monotonic() > deadline:
            raise TimeoutError
        made, comes = varied.place(model, landed, value)
        asked = replace(request, seed=request.seed + seed)
        return worst_heading(stand(made, comes, robot, asked), comes, asked, deadline).verdict is Verdict.GO

    return varied.least(is_go)


def stand(model: MjModel, landed: Landed, robot: RobotFile, request: TipRequest) -> Landing:
    """The robot as it touches."""
    from routh.models.mujoco.engine import engine
    from routh.models.mujoco.landings import free_root

    # that a root is not free is said before a landing says what such a root cannot do
    data = engine().MjData(model)
    engine().mj_kinematics(model, data)
    free_root(model, data, landed.body)
    return make_landing(model, landed, **robot.posture(model), **asdict(request.near))


def worst_heading(stood: Landing, landed: Landed, request: TipRequest, deadline: float) -> Judged:
    """The worst answer of all headings where none is given.

    Where the worst so far is not certain, more is drawn for it, and proofs are tried; then another may be
    worst.
    """
    from routh.models.mujoco.landings import turned_to
    from routh.robust.touchdowns import tipping

    near = {"window": request.near.window, "deepest": request.near.deepest, "body": stood.body or None}
    asked = {name: getattr(request, name) for name in ("restitution", "stiffness", "unevenness")}
    told = options.given(seed=request.seed, **near, **asked)
    around = landed.heading is None and landed.sideways > 0.0
    turns = 2.0 * np.pi / HEADINGS * np.arange(HEADINGS) if around else np.array([landed.heading or 0.0])
    answers: dict[float, Tipping] = {}

    def look(turn: float, further: Options) -> None:
        left = max(deadline - monotonic(), 1e-3)
        answers[turn] = tipping(
            stood.model, stood.qpos, turned_to(stood, turn), budget=left, **told, **further
        )

    for turn in turns.tolist():
        if answers and monotonic() > deadline:
            break
        look(turn, {"n": min(_GLANCE, request.samples), "most": 1})
    certain: set[float] = set()
    while True:
        worst = max(answers, key=lambda turn: _badness(answers[turn]))
        if worst in certain or monotonic() > deadline:
            return Judged(worst, answers[worst], len(answers), len(turns))
        look(worst, {"n": request.samples, "prove": True})
        certain.add(worst)


def _badness(tip: Tipping) -> tuple[int, float]:
    return tip.verdict.severity, np.nan_to_num(tip.ratio, nan=np.inf)


def region_of(
    model: MjModel, landed: Landed, stood: Landing, robot: RobotFile, request: TipRequest, drawing: Options
) -> SafeRegion:
    """The safe speeds in the posture of the landing, along its heading where one is given."""
    from routh.robust.region import safe_region

    posture: Options = {name: getattr(landed, name) for name in ("roll", "pitch", "yaw")}
    posture |= {"joints": landed.joints(), "body": landed.body, **robot.posture(model)}
    told: Options = {"window": request.near.window, "restitution": request.restitution}
    told = options.given(**told, heading=landed.heading, unevenness=request.unevenness)
    fastest = 2.0 * float(np.hypot(stood.down, landed.sideways)) + 1.0
    headings: Options = {"headings": 8, "directions": 13, "fastest": fastest, "seed": request.seed}
    return safe_region(model, **told, **headings, **drawing, **options.given(**posture))


def safe_limits(region: SafeRegion | None, stood: Landing) -> dict[str, float]:
    """The largest safe speed sideways at this speed down, and down at this sideways speed, m/s.

    Not where the region ends before an outcome tips.
    """
    if region is None:
        return {}
    found = {
        "sideways": (region.largest_sideways(stood.down), stood.down),
        "down": (region.largest_down(stood.motion.sideways), stood.motion.sideways),
    }
    ends = 0.999 * region.fastest
    return {name: value for name, (value, other) in found.items() if np.hypot(value, other) < ends}


def raised_springs(model: MjModel) -> list[str]:
    """One line where MuJoCo makes contacts softer than the file says, as long as a contact lasts then."""
    from routh.models.mujoco.engine import switched_off

    least, told = 2.0 * float(model.opt.timestep), np.asarray(model.geom_solref)[:, 0]
    below = told[(told > 0.0) & (told < least)]
    if switched_off(model, "REFSAFE") or not len(below):
        return []
    raised = f"solref {1e3 * below.min():.3g} ms is raised to {1e3 * least:.3g} ms"
    return [f"{raised}, twice the time step, as MuJoCo does; a shorter timestep in the file makes it stiffer"]


def edge_table(tip: Tipping) -> Table:
    """One row an edge."""
    table = plain_table("edge", ">|worst ratio", ">|no outcome above", ">|critical rate, rad/s")
    order = np.argsort(-tip.worst)
    for k in order[:8]:
        edge = tip.support.edges[k]
        numbers = (f"{tip.worst[k]:.3f}", f"{tip.bound[k]:.2f}", f"{edge.critical:.3f}")
        table.add_row(for_rich(" - ".join(edge.contacts)), *numbers)
    return table
