"""The command ``routh testkit``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from routh.base.text import for_rich
from routh.cli import options
from routh.cli.exits import Exit
from routh.cli.output import Output

FORMS = (".html", ".xml", ".txt")


@dataclass(frozen=True)
class CardRequest:
    """How to ask an engine."""

    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="The card as a page (.html), as JUnit XML (.xml) or as text (.txt)."
        ),
    ] = None
    samples: Annotated[int, typer.Option("--samples", "-n", min=1, help="Samples of each scene's set.")] = (
        2048
    )
    seed: options.Seed = 0


def testkit(
    engine: Annotated[
        str,
        typer.Argument(help="mujoco, bullet, drake, ... (routh.testkit.ENGINES), or your module:function."),
    ],
    output: Output,
    request: CardRequest,
) -> int:
    """Ask a physics engine for the impacts of known scenes, and print its report card.

    Checks energy, friction, restitution, membership in the set of outcomes, and whether the answer depends on
    the order of contacts or on the phase of the step. The exit code is 1 if there are faults.

    [bold]Examples:[/bold]

      routh testkit mujoco
      routh testkit my_engine:after --out card.html
    """
    from routh.testkit.asking import card_of

    place = None if request.out is None else options.output_file(request.out, FORMS)
    with output.busy("asking the engine"):
        card = card_of(engine, request.samples, request.seed)
    first, *rest = card.text.splitlines()
    output.answer([first])
    output.show(*map(for_rich, rest))
    written = None if place is None else str(card.save(place))
    rows = [vars(one) for one in card.findings]
    output.emit(rows, engine=card.name, faults=len(card.faults), card=written)
    return Exit.WITHOUT_RESULT if card.faults else Exit.DONE
