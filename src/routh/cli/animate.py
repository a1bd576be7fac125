"""``routh animate``: a film of a system's motion, or of a fan of its futures."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from routh.cli.exits import Exit
from routh.cli.output import Output
from routh.cli.requests import FilmRequest, MotionRequest
from routh.cli.simulate import futures_of, system_start
from routh.problem import soon_sentence
from routh.text import for_rich

FUTURES = 8  # on top of each other


def animate_system(name: str, film: FilmRequest, out: Path, output: Output) -> int:
    """Simulate a named system and write the film; the exit code is 1 where a future ended early."""
    from routh.viz.animate import animate
    from routh.viz.encoding import film_kind

    film_kind(out)  # before the work, not after it
    start = system_start(name, MotionRequest(duration=film.duration, change=film.change))
    count = 1 if start.motion is not None else film.futures or FUTURES  # constraint forces have one future
    speed = 1.0 if film.pace is None else film.pace
    with output.busy(f"simulating {count} futures of {name}"):
        bundle = futures_of(start, None, MotionRequest(futures=count, seed=film.seed, budget=film.budget))
    with output.busy(f"drawing {for_rich(out)}"):
        written = animate(start.drawn, bundle, out, fps=film.fps, speed=speed, title=name)
    ended = int(np.count_nonzero([not one.ok for one in bundle]))
    output.show(f"[bold cyan]{name}[/bold cyan]  {count} futures of {start.duration:g} s")
    output.show(f"film: [bold]{for_rich(written)}[/bold]")
    output.say(f"impacts per future: {bundle.impacts.min()} to {bundle.impacts.max()}")
    for line in soon_sentence(bundle.soon):
        output.say(for_rich(line))
    if ended:
        early = next(one for one in bundle if not one.ok)
        output.show(f"[yellow]{ended} ended early:[/yellow] {for_rich(early.events[-1].data['reason'])}")
    told = {"futures": count, "file": str(written), "impacts": bundle.impacts, "ended": ended}
    output.emit(system=name, **told)
    return Exit.WITHOUT_RESULT if ended else Exit.DONE
