"""What buttons of the viewer do: extreme outcomes, a heat map, futures with a time slider, saving."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from routh.auditing.scans import Scan, scan
from routh.base.text import for_terminal
from routh.base.validation import Array, real_array
from routh.problem.impact import ImpactProblem
from routh.view.mechanism import Moving
from routh.view.panels import axis_names
from routh.view.planar import PlanarMechanism
from routh.view.scene import PALETTE, Shown, Viewing
from routh.viz.films import png
from routh.viz.robots import draw_scan

if TYPE_CHECKING:
    from viser import GuiEvent, GuiImageHandle, ViserServer

HEAT = 13  # points along each axis of the heat map
HEAT_SAMPLES = 128
FUTURES, DURATION = 8, 0.5  # motions, s
_NONE = "-"
_FRAMES, _SLOWER = 60, 5.0  # of playing
LOG = logging.getLogger("routh.view")


class Actions:
    """Folders of buttons below the panel."""

    def __init__(self, server: ViserServer, session: Viewing) -> None:
        self._server, self._session, gui = server, session, server.gui
        self._bundle: Moving | None = None
        names = tuple(control.name for control in session.mechanism.controls)
        with gui.add_folder("extreme outcome", expand_by_default=False):
            self._along = gui.add_dropdown("along", (_NONE,), initial_value=_NONE)
            self._direction = gui.add_text(
                "or direction", "", hint="one number for each velocity of the impact, for example 0 1 0"
            )
            self._least = gui.add_checkbox("least instead of most", initial_value=False)
            gui.add_button("show").on_click(lambda _: self.extreme())
        with gui.add_folder("heat map of the ambiguity", expand_by_default=False):
            self._first = gui.add_dropdown("across", names, initial_value=names[0])
            self._second = gui.add_dropdown("upward", names, initial_value=names[min(1, len(names) - 1)])
            gui.add_button("compute").on_click(lambda _: self._in_background(self.heat_map))
            self._image: GuiImageHandle | None = None
        with gui.add_folder("futures", expand_by_default=False):
            self._rigid = gui.add_checkbox(
                "rigid throughout",
                initial_value=isinstance(session.mechanism, PlanarMechanism),
                hint="else a robot moves as MuJoCo moves it once the impact is over, which is quick",
            )
            gui.add_button("simulate").on_click(lambda _: self._in_background(self.futures))
            self._time = gui.add_slider("time (s)", 0.0, DURATION, DURATION / 200.0, 0.0)
            self._time.on_update(lambda _: self.show_time())
            gui.add_button("play").on_click(lambda _: self._in_background(self.play))
        with gui.add_folder("save as", expand_by_default=False):
            gui.add_button("picture (PNG)").on_click(self._picture)
            gui.add_button("page (HTML)").on_click(self._page)

    def refresh(self) -> None:
        """The state has changed: other contacts, no futures any more."""
        shown = self._session.shown
        self._bundle = None
        if shown is not None:
            names = (_NONE, *axis_names(shown.placed))
            if tuple(self._along.options) != names:
                self._along.options = names

    def extreme(self) -> int | None:
        """Show the outcome that is largest (or least) along the chosen direction; its index."""
        shown = self._session.shown
        if shown is None or not len(shown.ended):
            return None
        values = self._along_values(shown)
        if values is None:
            return None
        row = int(np.argmin(values) if self._least.value else np.argmax(values))
        self._session.pick(row)
        return int(shown.ended[row])

    def _along_values(self, shown: Shown) -> Array | None:
        """How far each outcome that ended goes: along a direction as typed, else along a contact velocity."""
        v, problem = shown.outcomes.v[shown.ended], shown.placed.problem
        words = str(self._direction.value).replace(",", " ").split()
        if words:
            try:
                return v @ real_array(
                    "direction", [float(w) for w in words], [(problem.nv,)], f"{problem.nv} numbers"
                )
            except ValueError as error:
                self._session.panel.tell(for_terminal(error))
                return None
        if self._along.value == _NONE:
            return None
        column = axis_names(shown.placed).index(str(self._along.value))
        return np.asarray(problem.contact_velocity(v).reshape(len(v), -1)[:, column])

    def heat_map(self) -> Array:
        """The ambiguity over two controls around where they are, and its picture in the panel."""
        session, values, points = self._session, self._session.panel.values(), count()
        chosen = str(self._first.value), str(self._second.value)
        ends = {name: session.panel.span(name) for name in chosen}
        axes = {name: np.linspace(low, high, HEAT) for name, (low, high) in ends.items()}

        def problem_at(**point: float) -> ImpactProblem | None:
            session.panel.tell(f"heat map: {next(points)} of {HEAT ** len(axes)} points")
            try:
                return session.mechanism.place({**values, **point}).problem
            except ValueError:
                return None

        found = scan(problem_at, axes, n=HEAT_SAMPLES, seed=session.seed)
        if self._image is not None:
            self._image.remove()
        self._image = self._server.gui.add_image(_heat_picture(found), label="ambiguity")
        session.panel.tell("heat map done")
        return found.score

    def futures(self) -> Moving | None:
        """Simulate some motions from here on, and show them at the time of the slider."""
        session, shown = self._session, self._session.shown
        if shown is None:
            return None
        session.panel.tell("simulating ...")
        rigid = bool(self._rigid.value)
        self._bundle = session.mechanism.futures(shown.placed, FUTURES, DURATION, session.seed, rigid)
        session.panel.tell(f"{len(self._bundle)} futures; drag the time")
        self.show_time()
        return self._bundle

    def show_time(self) -> None:
        """Ghosts of all futures at the slider's time."""
        if self._bundle is not None:
            q, _ = self._bundle.at(float(self._time.value))
            self._session.scene.show_ghosts(q, np.tile(PALETTE[0], (len(q), 1)))

    def play(self) -> None:
        """Run the time from the beginning to the end, five times as slow as it is."""
        bundle = self._bundle or self.futures()
        for t in np.linspace(0.0, DURATION, _FRAMES + 1):
            if self._bundle is not bundle or bundle is None:  # the state has changed
                return
            self._time.value = float(t)
            time.sleep(_SLOWER * DURATION / _FRAMES)

    def _in_background(self, work: Callable[[], object]) -> None:
        def guarded() -> None:
            try:
                work()
            except Exception as error:  # told where it was asked for; the viewer stays up
                LOG.info("the viewer could not do this", exc_info=True)
                self._session.panel.tell(f"{type(error).__name__}: {for_terminal(error)}")

        threading.Thread(target=guarded, daemon=True).start()

    def _picture(self, event: GuiEvent) -> None:
        if event.client is not None:
            pixels = event.client.get_render(height=1080, width=1920)
            event.client.send_file_download("routh.png", png(pixels), save_immediately=True)

    def _page(self, event: GuiEvent) -> None:
        if event.client is not None:
            page = self._server.get_scene_serializer().as_html()
            event.client.send_file_download("routh.html", page.encode(), save_immediately=True)


def _heat_picture(found: Scan) -> np.ndarray:
    """The heat map as pixels, (h, w, 3) uint8."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.0, 3.2), dpi=100, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    draw_scan(found, figure.subplots())
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()
