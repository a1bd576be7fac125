"""``routh animate``: a film of a system's motion, or of a fan of its futures."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from routh import laws, systems
from routh.cli.exits import Exit
from routh.cli.output import Output
from routh.cli.requests import FilmRequest
from routh.cli.run import parse_changes
from routh.models.planar import PlanarModel
from routh.problem import soon_sentence
from routh.sim import simulate_many
from routh.systems.d19 import ConstrainedMotion
from routh.text import for_rich
from routh.validation import Options


def animate_system(name: str, film: FilmRequest, out: Path, output: Output) -> int:
    """Simulate a named system and write the film; the exit code is 1 where a future ended early."""
    from routh.viz.animate import animate
    from routh.viz.encoding import film_kind

    film_kind(out)  # before the work, not after it
    system = systems.get(name, **parse_changes(film.change or []))
    model, state = system.model, system.state
    if not isinstance(model, PlanarModel) or state is None:
        raise ValueError(f"name: got {name!r}, which is not planar; wanted a planar system")
    if isinstance(system, ConstrainedMotion):  # the event-driven simulator knows contacts, not constraints
        raise ValueError(
            f"name: got {name!r}, which moves by constraints; wanted a system with contacts only"
        )
    duration = 2.0 if film.duration is None else film.duration
    speed = 1.0 if film.pace is None else film.pace
    count: Options = {"n": film.futures, "duration": duration, "seed": film.seed, "budget": film.budget}
    with output.busy(f"simulating {film.futures} futures of {name}"):
        bundle = simulate_many(model, state, law=laws.SetValued(), **count)
    with output.busy(f"drawing {for_rich(out)}"):
        written = animate(model, bundle, out, fps=film.fps, speed=speed, title=name)
    ended = int(np.count_nonzero([not one.ok for one in bundle]))
    output.show(f"[bold cyan]{name}[/bold cyan]  {film.futures} futures of {duration:g} s")
    output.show(f"film: [bold]{for_rich(written)}[/bold]")
    output.say(f"impacts per future: {bundle.impacts.min()} to {bundle.impacts.max()}")
    for line in soon_sentence(bundle.soon):
        output.say(for_rich(line))
    if ended:
        early = next(one for one in bundle if not one.ok)
        output.show(f"[yellow]{ended} ended early:[/yellow] {for_rich(early.events[-1].data['reason'])}")
    told = {"futures": film.futures, "file": str(written), "impacts": bundle.impacts, "ended": ended}
    output.emit(system=name, **told)
    return Exit.WITHOUT_RESULT if ended else Exit.DONE
