"""``routh run`` on a system that moves: its first state."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table

from routh.cli.output import Output, plain_table
from routh.models.base import Model, State
from routh.models.planar import PlanarModel
from routh.systems import System
from routh.systems.d19 import ConstrainedMotion
from routh.text import for_rich
from routh.validation import Array
from routh.viz.snapshots import state_figure


def run_motion(system: System, place: Path | None, output: Output) -> int:
    """Show where a motion starts and say how to simulate it; the exit code."""
    assert system.model is not None
    assert system.state is not None
    model, state = system.model, system.state
    gaps = model.gaps(state.q)
    Jn, _ = model.jacobians(state.q)
    output.show(f"[bold cyan]{system.name}[/bold cyan]  {system.summary}")
    output.say(f"[dim]{system.paper.source} · a motion, shown in its first state[/dim]\n")
    if isinstance(model, PlanarModel):
        output.show(_state_table(model, state), "")
    if model.contacts:
        output.show(_contact_table(model, gaps, Jn @ state.v))
    output.say(f"\nWhat happens next: [bold]routh simulate {system.name}[/bold]; in Python:")
    how = (
        "system.run()"
        if isinstance(system, ConstrainedMotion)
        else "routh.simulate(system.model, system.state, duration=2.0)"
    )
    output.say(f"  system = routh.systems.get({system.name!r})\n  trajectory = {how}")
    written = output.picture(place, lambda: state_figure(system))
    contacts = [info.name for info in model.contacts]
    told = {"q": state.q, "v": state.v, "contacts": contacts, "gaps": gaps, "picture": written}
    output.emit(system=system.name, kind=system.kind, **told)
    return 0


def _state_table(model: PlanarModel, state: State) -> Table:
    table = plain_table("coordinate (m, rad)", ">value", ">rate")
    for name, q, v in zip(model.coordinates, state.q, state.v, strict=True):
        table.add_row(for_rich(name), f"{q:.4g}", f"{v:.4g}")
    return table


def _contact_table(model: Model, gaps: Array, approach: Array) -> Table:
    table = plain_table("contact", ">gap (m)", ">normal velocity (m/s)", ">friction", ">restitution")
    for info, gap, normal in zip(model.contacts, gaps, approach, strict=True):
        numbers = f"{gap:.4g}", f"{normal:.4g}", f"{info.mu:g}", f"{info.restitution:g}"
        table.add_row(for_rich(info.name), *numbers)
    return table
