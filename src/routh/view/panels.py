"""The panel of controls, and the numbers and answers that stand beside the set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from routh.base.text import for_html, percent
from routh.base.validation import Array
from routh.laws import Sequential, Simultaneous
from routh.problem.impact import ImpactProblem, soon_sentence
from routh.view.mechanism import Control, Placed
from routh.view.scene import ALL, Shown, Viewing
from routh.viz.velocity import cheap_exact

if TYPE_CHECKING:
    from viser import GuiApi, GuiSliderHandle

EXACT_CONTACTS = 3  # the exact set of so many planar contacts takes milliseconds
EXACT_SECONDS = 0.2
_ROWS = 6  # combinations of modes in the table
WIDEST = "what differs most"
_DIGITS = 6  # of numbers beside sliders
_REACH = {"their whole range": 1.0, "a tenth of it": 0.1, "a hundredth": 0.01, "a thousandth": 0.001}


class Panel:
    """Sliders with number fields for the state, and choices of what is shown."""

    def __init__(self, gui: GuiApi, session: Viewing, ghosts: int, moment: int) -> None:
        self._session = session
        self._widest = (0, 0)
        self._message = gui.add_html("")
        self._table = gui.add_html("")
        with gui.add_folder("state"):
            spans, robot = tuple(_REACH), bool(any(control.unit for control in session.mechanism.controls))
            self._reach = gui.add_dropdown(
                "sliders span",
                spans,
                initial_value=spans[1] if robot else spans[0],
                hint="around where they are; type any value beside a slider",
            )
            if session.mechanism.keyframes:
                postures = gui.add_button_group("keyframe", session.mechanism.keyframes)
                postures.on_click(lambda event: self.start_from(str(event.target.value)))
            gui.add_button("reset").on_click(lambda _: self.start_from(None))
            self._controls = {control.name: control for control in session.mechanism.controls}
            self._sliders = {name: self._slider(gui, control) for name, control in self._controls.items()}
            self._reach.on_update(lambda _: self._span_all())
        with gui.add_folder("outcomes"):
            self._count = gui.add_slider("ghosts", 1, 128, 1, ghosts)
            self._moment = gui.add_slider("how much later (ms)", 0, 1000, 5, moment)
            self._mode = gui.add_dropdown("contact modes", (ALL,), initial_value=ALL)
            self._laws = gui.add_checkbox("single answers", initial_value=False)
        with gui.add_folder("board"):
            self._across = gui.add_dropdown("across", (WIDEST,), initial_value=WIDEST)
            self._upward = gui.add_dropdown("upward", (WIDEST,), initial_value=WIDEST)
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

    def start_from(self, keyframe: str | None) -> None:
        """Take the posture of a keyframe; None: everything as it was at the beginning."""
        for name, value in self._session.mechanism.start_from(keyframe).items():
            self.set(name, value)
        self._span_all()
        self._session.touch()

    def span(self, name: str) -> tuple[float, float]:
        """What a slider goes from and to."""
        return float(self._sliders[name].min), float(self._sliders[name].max)

    def _slider(self, gui: GuiApi, control: Control) -> GuiSliderHandle:
        label = f"{control.name} ({control.unit})" if control.unit else control.name
        low, high = _span(control, control.value, self._share(control))
        slider = gui.add_slider(label, low, high, (high - low) / 1000.0, control.value)
        slider.precision = _DIGITS

        def moved(_: object) -> None:
            if not self.span(control.name)[0] <= slider.value <= self.span(control.name)[1]:  # typed
                self._span_slider(control.name)
            self._session.touch()

        slider.on_update(moved)
        return slider

    def _share(self, control: Control) -> float:
        return _REACH[str(self._reach.value)] if control.fine else 1.0

    def _span_all(self) -> None:
        for name in self._sliders:
            self._span_slider(name)

    def _span_slider(self, name: str) -> None:
        """Put the slider's ends around where it is."""
        slider, control = self._sliders[name], self._controls[name]
        value = float(np.clip(slider.value, control.low, control.high))
        slider.min, slider.max = _span(control, value, self._share(control))
        slider.step = (slider.max - slider.min) / 1000.0
        slider.value = value

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

    def axes(self, shown: Shown) -> tuple[int, int]:
        """Which two contact velocities the board shows: those that differ most, or those that were chosen."""
        names = axis_names(shown.placed)
        chosen: list[int | None] = []
        for handle in (self._across, self._upward):
            if tuple(handle.options) != (WIDEST, *names):
                keep = handle.value
                handle.options = (WIDEST, *names)
                handle.value = keep if keep in names else WIDEST
            chosen.append(names.index(str(handle.value)) if handle.value in names else None)
        self._widest = widest_pair(shown, chosen, self._widest)
        return self._widest

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
        small = "font-size:85%;line-height:1.3"
        told = "".join(f"<p style='{small};margin:0.3em 0'>{for_html(line)}</p>" for line in notes)
        table = f"<table style='width:100%;{small}'>{rows}</table>"
        self._table.content = f"<div style='padding:0 1em'>{words}{table}{told}</div>"


def axis_names(placed: Placed) -> list[str]:
    """Names of all contact velocities, normal first for each contact."""
    kinds = ("normal", "tangent") if placed.problem.nt == 1 else ("normal", "tangent 1", "tangent 2")
    return [f"{name}, {kind}" for name in placed.names for kind in kinds]


def widest_pair(shown: Shown, chosen: Sequence[int | None], before: tuple[int, int]) -> tuple[int, int]:
    """Which two contact velocities tell most of the outcomes apart; one of them may be chosen already.

    They span the largest area: the determinant of their covariance, in shares of their scales. The pair
    ``before`` stays while it spans half of the most, so that dragging does not shake the board.
    """
    problem = shown.placed.problem
    scale = np.repeat(problem.scaling.velocity, 1 + problem.nt)
    rows = problem.J.reshape(-1, problem.nv) / scale[:, None]
    spread = np.cov((shown.outcomes.v[shown.ended] @ rows.T).T, bias=True)
    own = np.diagonal(spread)
    area = np.outer(own, own) - spread**2
    area += 1e-9 * own.max() * np.add.outer(own, own)  # where all lie on one line, its longest projections
    np.fill_diagonal(area, -1.0)
    for axis, velocity in enumerate(chosen):
        if velocity is not None:
            area.swapaxes(0, axis)[np.arange(len(area)) != velocity] = -2.0
    best = np.unravel_index(int(np.argmax(area)), area.shape)
    if max(before) < len(area) and area[before] >= max(0.25 * area[best], 0.0):
        return before
    return int(best[0]), int(best[1])


def single_answers(session: Viewing, shown: Shown, moment: float) -> dict[str, Array]:
    """Configurations a moment later by laws with one answer and by other simulators, where wanted."""
    if not session.panel.single():
        return {}
    placed, found = shown.placed, {}
    elastic = bool(np.any(placed.problem.restitution))
    for name, law in (("all at once", Simultaneous()), ("one at a time", Sequential())):
        result = law(placed.problem) if law.honours_restitution or not elastic else None
        if result is not None and result.status.ok:
            v = session.mechanism.velocities(placed, result.v[None])
            found[name] = session.mechanism.advance(placed.q[None], v, moment)[0]
    return {**found, **session.mechanism.others(placed, moment)}


def exact_outlines(problem: ImpactProblem, rows: Array) -> list[Array]:
    """Outlines (k, 2) of the exact set's pieces under rows (2, nv) where it is cheap, else none."""
    exact = cheap_exact(problem, contacts=EXACT_CONTACTS, seconds=EXACT_SECONDS)
    return [] if exact is None else [image for image in exact.project(rows) if len(image) > 1]


def _span(control: Control, value: float, share: float) -> tuple[float, float]:
    """The ends of a slider that spans a share of the range around a value, without leaving the range."""
    width = share * (control.high - control.low)
    low = float(np.clip(value - 0.5 * width, control.low, control.high - width))
    digits = 3 - int(np.floor(np.log10(width)))  # ends that read well, with the value between them
    return min(round(low, digits), value), max(round(low + width, digits), value)
