"""The panel of controls, and the numbers and answers that stand beside the set."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from routh.laws import Sequential, Simultaneous
from routh.problem import ImpactProblem, soon_sentence
from routh.text import for_html, percent
from routh.validation import Array
from routh.view.mechanism import Control
from routh.view.scene import ALL, Shown, Viewing
from routh.viz.velocity import cheap_exact

if TYPE_CHECKING:
    from viser import GuiApi, GuiSliderHandle

EXACT_CONTACTS = 3  # the exact set of so many planar contacts takes milliseconds
EXACT_SECONDS = 0.2
_ROWS = 6  # combinations of modes in the table
_exact = lru_cache(maxsize=32)(cheap_exact)


class Panel:
    """Sliders with number fields for the state, and choices of what is shown."""

    def __init__(self, gui: GuiApi, session: Viewing, ghosts: int, moment: int) -> None:
        self._session = session
        self._message = gui.add_html("")
        self._table = gui.add_html("")
        with gui.add_folder("state"):
            self._sliders = {c.name: _slider(gui, c, session.touch) for c in session.mechanism.controls}
        with gui.add_folder("outcomes"):
            self._count = gui.add_slider("ghosts", 1, 128, 1, ghosts)
            self._moment = gui.add_slider("how much later (ms)", 0, 1000, 5, moment)
            self._mode = gui.add_dropdown("contact modes", (ALL,), initial_value=ALL)
            self._laws = gui.add_checkbox("single answers", initial_value=False)
        with gui.add_folder("board"):
            self._across = gui.add_dropdown("across", ("-",), initial_value="-")
            self._upward = gui.add_dropdown("upward", ("-",), initial_value="-")
        with gui.add_folder("as a command line", expand_by_default=False):
            self._command = gui.add_text("command", "", disabled=True)
        for handle in (self._count, self._moment, self._mode, self._laws, self._across, self._upward):
            handle.on_update(lambda _: session.touch())

    def values(self) -> dict[str, float]:
        """The state that the sliders show."""
        return {name: float(slider.value) for name, slider in self._sliders.items()}

    def set(self, name: str, value: float) -> None:
        """Move a slider, as a person would."""
        self._sliders[name].value = value

    def ghosts(self) -> int:
        """How many ghosts are wanted."""
        return int(self._count.value)

    def moment(self) -> float:
        """How much later the ghosts are, s."""
        return 1e-3 * float(self._moment.value)

    def mode(self) -> str:
        """The combination of contact modes that is shown."""
        return str(self._mode.value)

    def single(self) -> bool:
        """Whether laws with a single answer and other simulators are shown."""
        return bool(self._laws.value)

    def axes(self, problem: ImpactProblem) -> tuple[str, str]:
        """Names of the board's two contact velocities; the first two normals, until others are chosen."""
        names = axis_names(problem)
        for handle, default in ((self._across, 0), (self._upward, 1 + problem.nt if problem.nc > 1 else 1)):
            if tuple(handle.options) != tuple(names):
                keep = handle.value
                handle.options = tuple(names)
                handle.value = keep if keep in names else names[default]
        return str(self._across.value), str(self._upward.value)

    def tell(self, text: str) -> None:
        """One line above everything; text, never markup."""
        self._message.content = f"<p style='padding:0 1em'>{for_html(text)}</p>"

    def report(self, shown: Shown) -> None:
        """The ambiguity, the modes with their shares, and the command that shows this state again."""
        outcomes = shown.outcomes
        self._command.value = self._session.mechanism.command(self.values())
        choices = (ALL, *shown.modes[:12])
        if tuple(self._mode.options) != choices:
            self._mode.options = choices
        counts = np.bincount(shown.which[shown.ended], minlength=len(shown.modes))
        rows = "".join(
            f"<tr><td>{for_html(name)}</td>"
            f"<td style='text-align:right'>{percent(count / max(len(outcomes), 1))}</td></tr>"
            for name, count in list(zip(shown.modes, counts, strict=True))[:_ROWS]
            if count > 0
        )
        score = outcomes.ambiguity if len(shown.ended) else float("nan")
        self.tell(f"{len(outcomes.problem.names)} contacts, {1e3 * shown.seconds:.0f} ms")
        words = (
            "<b>ambiguity 0</b>: one outcome"
            if score <= outcomes.rounding
            else f"<b>ambiguity {score:.3g}</b> of the speed before"
        )
        notes = [*soon_sentence(outcomes.problem.soon), *filter(None, [shown.placed.note])]
        soon = "".join(f"<br>{for_html(line)}" for line in notes)
        self._table.content = (
            f"<div style='padding:0 1em'>{words}{soon}"
            f"<table style='width:100%;font-size:85%;line-height:1.3'>{rows}</table></div>"
        )


def axis_names(problem: ImpactProblem) -> list[str]:
    """Names of all contact velocities, normal first for each contact."""
    kinds = ("normal", "tangent") if problem.nt == 1 else ("normal", "tangent 1", "tangent 2")
    return [f"{name} {kind}" for name in problem.names for kind in kinds]


def single_answers(session: Viewing, shown: Shown, moment: float) -> dict[str, Array]:
    """Configurations a moment later by laws with one answer and by other simulators, where wanted."""
    if not session.panel.single():
        return {}
    placed, found = shown.placed, {}
    if not np.any(placed.problem.restitution):
        for name, law in (("all at once", Simultaneous()), ("one at a time", Sequential())):
            result = law(placed.problem)
            if result.status.ok:
                v = session.mechanism.velocities(placed, result.v[None])
                found[name] = session.mechanism.advance(placed.q[None], v, moment)[0]
    return {**found, **session.mechanism.others(placed, moment)}


def exact_outlines(problem: ImpactProblem, rows: Array) -> list[Array]:
    """Outlines (k, 2) of the exact set's pieces under rows (2, nv) where it is cheap, else none."""
    exact = _exact(problem, contacts=EXACT_CONTACTS, seconds=EXACT_SECONDS)
    return [] if exact is None else [image for image in exact.project(rows) if len(image) > 1]


def _slider(gui: GuiApi, control: Control, touch: Callable[[], None]) -> GuiSliderHandle:
    label = f"{control.name} ({control.unit})" if control.unit else control.name
    step = (control.high - control.low) / 1000.0
    slider = gui.add_slider(label, control.low, control.high, step, control.value)
    slider.on_update(lambda _: touch())
    return slider
