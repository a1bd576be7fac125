"""``routh animate``: a film of a system's motion, or of a fan of its futures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from routh import laws, systems
from routh.cli.output import Output
from routh.models.planar import PlanarModel
from routh.sim import simulate_many
from routh.systems.d19 import ConstrainedMotion
from routh.text import for_rich


@dataclass(frozen=True)
class Film:
    """What to film."""

    futures: int
    duration: float
    fps: int
    speed: float
    seed: int
    budget: float | None = None  # s for all futures


def animate_system(name: str, parameters: dict[str, object], film: Film, out: Path, output: Output) -> int:
    """Simulate a named system and write the film; the exit code is 1 where a future ended early."""
    from routh.viz.animate import animate
    from routh.viz.encoding import film_kind

    film_kind(out)  # before the work, not after it
    system = systems.get(name, **parameters)
    model, state = system.model, system.state
    if not isinstance(model, PlanarModel) or state is None:
        raise ValueError(f"name: got {name!r}, which is not planar; wanted a planar system")
    if isinstance(system, ConstrainedMotion):  # the event-driven simulator knows contacts, not constraints
        raise ValueError(
            f"name: got {name!r}, which moves by constraints; wanted a system with contacts only"
        )
    with output.busy(f"simulating {film.futures} futures of {name}"):
        bundle = simulate_many(
            model,
            state,
            n=film.futures,
            duration=film.duration,
            law=laws.SetValued(),
            seed=film.seed,
            budget=film.budget,
        )
    with output.busy(f"drawing {for_rich(out)}"):
        written = animate(model, bundle, out, fps=film.fps, speed=film.speed, title=name)
    ended = int(np.count_nonzero([not one.ok for one in bundle]))
    output.show(f"[bold cyan]{name}[/bold cyan]  {film.futures} futures of {film.duration:g} s")
    output.show(f"film: [bold]{for_rich(written)}[/bold]")
    output.say(f"impacts per future: {bundle.impacts.min()} to {bundle.impacts.max()}")
    if ended:
        early = next(one for one in bundle if not one.ok)
        output.show(f"[yellow]{ended} ended early:[/yellow] {for_rich(early.events[-1].data['reason'])}")
    output.emit(
        {
            "system": name,
            "futures": film.futures,
            "file": str(written),
            "impacts": bundle.impacts,
            "ended": ended,
        }
    )
    return 1 if ended else 0
