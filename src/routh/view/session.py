"""One viewer: controls on the right, the mechanism with its outcomes in the scene, the set on a board.

Dragging a control wakes one worker, which always computes the latest state and skips those in between
(`Session`). `show` starts a server with a session, from Python or inline in a notebook (`Viewer`).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from routh.base.spread import spread_choice
from routh.base.status import InputError
from routh.base.storage import write_text
from routh.base.text import for_terminal
from routh.base.validation import Array
from routh.models.zoo import is_robot_name
from routh.sampling import sample
from routh.sampling.answers import mode_names
from routh.systems.catalogue import CATALOGUE
from routh.view import guard, panels
from routh.view.actions import Actions
from routh.view.mechanism import Placed, ShownMechanism, corners
from routh.view.scene import ALL, Board, Scene, Shown, colors

if TYPE_CHECKING:
    from viser import ViserServer

LOG = logging.getLogger("routh.view")
SAMPLES = 512  # outcomes drawn for each state: the board's dots
WHOLE = 2.0  # s of sampling once nothing is dragged any more: no longer, or the next drag would wait
DRAFT, PAUSE = 0.025, 0.25  # s of sampling while something is dragged; s without a change until all are drawn


class Session:
    """The viewer of one mechanism in one server."""

    def __init__(
        self, server: ViserServer, mechanism: ShownMechanism, *, ghosts: int = 32, seed: int = 0
    ) -> None:
        self.server, self.mechanism, self.seed = server, mechanism, seed
        self.shown: Shown | None = None
        self.updates = 0
        self._each = 1e-3  # s a sample takes here
        self.picked: int | None = None  # the sample that was clicked last
        self.axes = (0, 0)  # the contact velocities that the board shows
        self._wake, self._closed = threading.Event(), threading.Event()
        self._lock = threading.RLock()
        self.scene = Scene(server.scene, mechanism)
        start = mechanism.place({control.name: control.value for control in mechanism.controls})
        corner = start.points[np.isfinite(start.points[:, 0])].mean(axis=0)
        corner = corner + np.array([0.6, 0.5, 0.15]) * mechanism.size
        self.board = Board(server.scene, corner, mechanism.size)
        self.board.on_pick = self.pick
        self.panel: panels.Panel = panels.Panel(server.gui, self, ghosts, self._first_moment(start))
        self.actions = Actions(server, self)
        self._look(corner)
        self._worker = threading.Thread(target=self._work, daemon=True)
        self._worker.start()
        self.touch()

    def touch(self) -> None:
        """Something was dragged: compute and draw again, as soon as the worker is free."""
        self._wake.set()

    def close(self) -> None:
        """Stop the worker."""
        self._closed.set()
        self._wake.set()
        self._worker.join(timeout=5.0)

    def refresh(self, samples: int = SAMPLES) -> Shown | None:
        """Compute the state that the controls show and draw it; None where there is no impact."""
        values = self.panel.values()
        begun = time.perf_counter()
        try:
            placed = self.mechanism.place(values)
        except ValueError as error:
            self.panel.tell(f"no impact here: {for_terminal(error)}")
            return None
        sampling = time.perf_counter()
        outcomes = sample(placed.problem, samples, seed=self.seed)
        self._each = (time.perf_counter() - sampling) / samples
        names, which = mode_names(outcomes, placed.names)
        ended = np.flatnonzero(outcomes.solved)
        shown = Shown(placed, outcomes, names, which, ended, time.perf_counter() - begun)
        with self._lock:
            self.shown = shown
            self.draw(shown)
            self.updates += 1
        return shown

    def draft(self) -> int:
        """How many outcomes are drawn while dragging: as many as take a moment, and one for each ghost."""
        return int(np.clip(DRAFT / self._each, min(self.panel.ghosts(), SAMPLES), SAMPLES))

    def whole(self) -> int:
        """How many outcomes are drawn when nothing is dragged: all, or as many as one can wait for."""
        return int(np.clip(WHOLE / self._each, self.draft(), SAMPLES))

    def draw(self, shown: Shown) -> None:
        """Everything that depends on the state."""
        with self.server.atomic():
            self.scene.show_state(shown.placed)
            self._draw_ghosts(shown)
            self._draw_board(shown)
        self.panel.report(shown)
        self.actions.refresh()

    def pick(self, index: int) -> None:
        """A sample of the board was clicked: show its ghost alone, and play its impulse path."""
        with self._lock:
            shown = self.shown
            if shown is None or index >= len(shown.ended):
                return
            sample_index = int(shown.ended[index])
            self.panel.tell(f"sample {sample_index}: {shown.modes[int(shown.which[sample_index])]}")
            self.picked = sample_index
            self._draw_ghosts(shown, only=np.array([sample_index]))
        self._play(shown, sample_index)

    def _first_moment(self, placed: Placed) -> int:
        """A time (ms) after which outcomes differ by something that can be seen, and not by more."""
        outcomes = sample(placed.problem, 32, seed=self.seed)
        v = self.mechanism.velocities(placed, outcomes.v[outcomes.solved])
        if not len(v):
            return 50
        soon = 1e-3  # s
        later = self.mechanism.advance(np.tile(placed.q, (len(v), 1)), v, soon)
        places = corners(self.mechanism.parts, *self.mechanism.poses(later))
        apart = float(np.linalg.norm(np.ptp(places, axis=0), axis=-1).max()) / soon
        return int(np.clip(5 * round(1e3 * 0.2 * self.mechanism.size / max(apart, 1e-9) / 5), 20, 600))

    def _look(self, corner: Array) -> None:
        """The camera of a window that opens: mechanism and board in view."""
        size = self.mechanism.size
        middle = corner + np.array([0.5, -0.6, 0.2]) * size
        self.server.initial_camera.position = middle + np.array([0.3, -2.2, 0.8]) * size
        self.server.initial_camera.look_at = middle + np.array([0.3, 0.0, 0.1]) * size
        self.server.gui.configure_theme(show_logo=False, show_share_button=False, control_width="medium")
        self.server.scene.configure_default_lights(cast_shadow=False)

    def _play(self, shown: Shown, index: int) -> None:
        try:
            way = shown.outcomes.path(index)
        except ValueError as error:
            self.panel.tell(f"its path cannot be drawn again: {for_terminal(error)}")
            return
        velocities = way.v @ self._contact_rows(shown).T
        self.scene.play(self.board.places(velocities), way.impulse, shown.placed, self._closed)

    def _draw_ghosts(self, shown: Shown, only: np.ndarray | None = None) -> None:
        count, moment = self.panel.ghosts(), self.panel.moment()
        chosen = only
        if chosen is None:
            rows = shown.ended
            if self.panel.mode() != ALL and self.panel.mode() in shown.modes:
                rows = rows[shown.which[rows] == shown.modes.index(self.panel.mode())]
            if not len(rows):
                self.scene.show_ghosts(np.empty((0, len(shown.placed.q))), np.empty((0, 3), dtype=np.uint8))
                return
            scaled = shown.outcomes.v[rows] @ shown.placed.problem.cholesky
            chosen = rows[spread_choice(scaled, count)]
        v = self.mechanism.velocities(shown.placed, shown.outcomes.v[chosen])
        q = self.mechanism.advance(np.tile(shown.placed.q, (len(chosen), 1)), v, moment)
        self.scene.show_ghosts(q, colors(shown.which[chosen]))
        self.scene.show_others(panels.single_answers(self, shown, moment))

    def _draw_board(self, shown: Shown) -> None:
        problem = shown.placed.problem
        if not len(shown.ended):
            return
        self.axes = self.panel.axes(shown)
        rows, names = self._contact_rows(shown), panels.axis_names(shown.placed)
        labels = [(names[k], problem.velocity_units[k // (1 + problem.nt)]) for k in self.axes]
        outlines = panels.exact_outlines(problem, rows)
        points = shown.outcomes.v[shown.ended] @ rows.T
        self.board.show(points, colors(shown.which[shown.ended]), labels, outlines)

    def _contact_rows(self, shown: Shown) -> Array:
        """Rows (2, nv) of the two contact velocities that the board shows."""
        problem = shown.placed.problem
        return problem.J.reshape(-1, problem.nv)[list(self.axes)]

    def _work(self) -> None:
        while not self._closed.is_set():
            self._wake.wait()
            self._wake.clear()
            if self._closed.is_set():
                return
            try:
                count = self.draft()
                if self.refresh(count) is not None and count < SAMPLES and not self._wake.wait(PAUSE):
                    self.refresh(self.whole())
            except Exception as error:  # the viewer stays up; what went wrong is told
                LOG.exception("the viewer could not show this state")
                self.panel.tell(f"{type(error).__name__}: {for_terminal(error)}")


class Viewer:
    """A running viewer: its address, its session, and how to end it."""

    def __init__(self, server: ViserServer, address: str, session: Session) -> None:
        self._server, self.address, self.session = server, address, session

    def html(self) -> str:
        """The scene as one page that needs nothing else: share it, keep it."""
        return str(self._server.get_scene_serializer().as_html())

    def save(self, path: str | Path) -> Path:
        """Write `html` to a file."""
        return write_text(path, self.html())

    def close(self) -> None:
        """Stop the server and free its port."""
        self.session.close()
        guard.stop(self._server)

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        return (
            f'<iframe src="{self.address}" width="100%" height="600" style="border:1px solid #ccc"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Viewer({self.address})"


def show(
    what: object,
    *,
    state: Mapping[str, float] | None = None,
    host: str = guard.LOOPBACK,
    port: int = 0,
    ghosts: int = 32,
    seed: int = 0,
) -> Viewer:
    """Start a viewer; open its ``address`` in a browser, or let a notebook show it.

    Parameters
    ----------
    what : the name of a planar system, a model file (MJCF, URDF), an MjModel, or a mechanism.
    state : where to start: "roll", "pitch", "yaw" (rad), "down" (m/s) or "height" (m), "sideways" (m/s),
        joints by name (and "knee velocity", rad/s), a system's parameters.
    host : loopback by default; another host lets others in who know the address with its token.
    port : 0: a free one.
    ghosts : outcomes drawn as ghosts.
    seed : of the outcomes.
    """
    mechanism = as_mechanism(what, dict(state or {}))
    server, guarded = guard.start(host=host, port=port, title=f"routh: {mechanism.title}")
    try:
        session = Session(server, mechanism, ghosts=ghosts, seed=seed)
    except BaseException:
        guard.stop(server)
        raise
    return Viewer(server, guarded.address, session)


def as_mechanism(what: object, start: Mapping[str, float]) -> ShownMechanism:
    """What the viewer can show of anything it is given."""
    if isinstance(what, ShownMechanism):
        return what
    if type(what).__module__.partition(".")[0] == "mujoco":
        from routh.view.robot import RobotMechanism

        return RobotMechanism(what, start=start)
    text = str(what)
    named = text not in CATALOGUE and is_robot_name(text)
    if named or Path(text).suffix.lower() in (".xml", ".mjcf", ".urdf"):
        from routh.models.robots.landing import load_landing
        from routh.view.robot import RobotMechanism

        return RobotMechanism(load_landing(text), name=Path(text).stem, start=start, source=(text,))
    if isinstance(what, str):
        from routh.view.planar import PlanarMechanism

        return PlanarMechanism(what, start)
    raise InputError("what", got=type(what).__name__, wanted="a system's name, a model file or an MjModel")
