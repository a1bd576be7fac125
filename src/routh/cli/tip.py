"""``routh tip robot.xml``: may it come down like this, or can an outcome turn it over?"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table

from routh.cli import options
from routh.cli.exits import Exit
from routh.cli.landings import Landed, make_landing, tell_place
from routh.cli.output import Output, plain_table
from routh.cli.requests import TipRequest
from routh.cli.robots import RobotFile, advising, tell_keyframes
from routh.sampling.answers import ENOUGH
from routh.text import for_rich, percent
from routh.validation import Options

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from mujoco import MjModel

    from routh.models.landings import Landing
    from routh.robust.region import SafeRegion
    from routh.robust.tipping import Tipping

HEADINGS = 16  # that are tried where none is given


def run_tip(
    file: Path, landed: Landed, robot: RobotFile, request: TipRequest, place: Path | None, output: Output
) -> int:
    """Answer go or no-go, draw the picture; the exit code."""
    model = robot.load(file)
    with output.busy("sampling touch-downs"), advising(model, robot):
        found, tip = worst_heading(model, landed, robot, request)
    region = None
    if not found.motion.rates.any() and not found.motion.joints:
        with output.busy("looking for safe speeds"):
            region = region_of(model, landed, robot, request)
    output.answer(tip.lines())
    if tip.solved < ENOUGH:
        output.show(
            f"[yellow]Only {percent(tip.solved)} of the samples are solved[/yellow]; the others may tip."
        )
    if landed.heading is None and landed.speed:
        output.show(f"Worst of {HEADINGS} headings: {found.motion.heading:.2f} rad (--heading for one).")
    limits = safe_limits(region, landed)
    if limits:
        words = {
            "speed": f"m/s sideways at {landed.down:g} m/s down",
            "drop": f"m/s down at {landed.speed:g} m/s sideways",
        }
        safe = "; ".join(f"up to {value:.2f} {words[name]}" for name, value in limits.items())
        output.show(f"Safe {safe}.")
    output.show("", f"[bold cyan]{for_rich(file)}[/bold cyan]", edge_table(tip))
    tell_place(found, output, regime=False)
    tell_keyframes(model, robot, output)

    def figure() -> Figure:
        from routh.viz.tipping import tipping_figure

        return tipping_figure(tip, region)

    written = output.picture(place, figure)
    output.emit(**tip.as_data(), heading=found.motion.heading, safe=limits, picture=written)
    if tip.can_tip:
        return Exit.NO_GO
    return Exit.DONE if tip.solved >= ENOUGH else Exit.TOO_FEW_SOLVED


def worst_heading(
    model: MjModel, landed: Landed, robot: RobotFile, request: TipRequest
) -> tuple[Landing, Tipping]:
    """The landing whose worst outcome is worst, of all headings where none is given, and its answer."""
    from routh.models.mujoco.engine import engine
    from routh.models.mujoco.landings import free_root
    from routh.robust.tipping import Tipping, tipping

    near = asdict(request.near)
    told = options.given(**{**asdict(request), "near": None}, window=near["window"], deepest=near["deepest"])
    # that a root is not free is said before a landing says what such a root cannot do
    data = engine().MjData(model)
    engine().mj_kinematics(model, data)
    free_root(model, data)
    around = landed.heading is None and landed.speed > 0.0
    turns = 2.0 * np.pi / HEADINGS * np.arange(HEADINGS) if around else [landed.heading or 0.0]
    further = {**robot.posture(model), **near}
    found = [make_landing(model, replace(landed, heading=float(turn)), **further) for turn in turns]
    many = tipping(
        model, np.array([one.qpos for one in found]), np.array([one.qvel for one in found]), **told
    )
    ratio = np.nan_to_num(np.atleast_1d(many.ratio), nan=np.inf)
    worst = found[int(np.argmax(ratio))]
    answer = tipping(model, worst.qpos, worst.qvel, prove=True, **told)
    assert isinstance(answer, Tipping)
    return worst, answer


def region_of(model: MjModel, landed: Landed, robot: RobotFile, request: TipRequest) -> SafeRegion:
    """The safe speeds in the posture of the landing, along its heading where one is given."""
    from routh.robust.region import safe_region

    posture: Options = {name: getattr(landed, name) for name in ("roll", "pitch", "yaw")}
    posture |= {"joints": landed.joints(), **robot.posture(model)}
    told: Options = {"window": request.near.window, "restitution": request.restitution}
    told = options.given(**told, heading=landed.heading, unevenness=request.unevenness)
    fastest = 2.0 * float(np.hypot(landed.down, landed.speed)) + 1.0
    headings: Options = {"headings": 8, "directions": 13, "fastest": fastest, "seed": request.seed}
    return safe_region(model, **told, **headings, **options.given(**posture))


def safe_limits(region: SafeRegion | None, landed: Landed) -> dict[str, float]:
    """The largest safe speed sideways at this drop, and down at this sideways speed, m/s.

    Not where the region ends before an outcome tips.
    """
    if region is None:
        return {}
    found = {
        "speed": (region.largest_speed(landed.down), landed.down),
        "drop": (region.largest_drop(landed.speed), landed.speed),
    }
    ends = 0.999 * region.fastest
    return {name: value for name, (value, other) in found.items() if np.hypot(value, other) < ends}


def edge_table(tip: Tipping) -> Table:
    """One row an edge."""
    table = plain_table("|edge", ">worst ratio", ">no outcome above", ">critical rate, rad/s")
    order = np.argsort(-tip.worst)
    for k in order[:8]:
        edge = tip.support.edges[k]
        numbers = (f"{tip.worst[k]:.3f}", f"{tip.bound[k]:.2f}", f"{edge.critical:.3f}")
        table.add_row(for_rich(" - ".join(edge.contacts)), *numbers)
    return table
