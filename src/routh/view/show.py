"""`routh.view.show`: from Python, and inline in notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from routh.view import guard
from routh.view.mechanism import Mechanism
from routh.view.session import Session

if TYPE_CHECKING:
    from viser import ViserServer


class Viewer:
    """A running viewer: its address, its session, and how to end it."""

    def __init__(self, server: ViserServer, address: str, session: Session) -> None:
        self._server, self.address, self.session = server, address, session

    def html(self) -> str:
        """The scene as one page that needs nothing else: share it, keep it."""
        return str(self._server.get_scene_serializer().as_html())

    def save(self, path: str | Path) -> Path:
        """Write `html` to a file."""
        from routh.storage import write_text

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
    state : where to start: "roll", "pitch", "yaw" (rad), "drop" (m/s), joints by name (and "knee velocity",
        rad/s), a system's parameters.
    host, port : loopback and a free port; another host lets others in who know the address with its token.
    ghosts : outcomes drawn as ghosts.
    """
    mechanism = as_mechanism(what, dict(state or {}))
    server, guarded = guard.start(host=host, port=port, title=f"routh: {mechanism.title}")
    try:
        session = Session(server, mechanism, ghosts=ghosts, seed=seed)
    except BaseException:
        guard.stop(server)
        raise
    return Viewer(server, guarded.address, session)


def as_mechanism(what: object, start: Mapping[str, float]) -> Mechanism:
    """What the viewer can show of anything it is given."""
    if isinstance(what, Mechanism):
        return what
    if type(what).__module__.partition(".")[0] == "mujoco":
        from routh.view.robot import RobotMechanism

        return RobotMechanism(what, start=start)
    text = str(what)
    if Path(text).suffix.lower() in (".xml", ".mjcf", ".urdf"):
        from routh.models.dropping import load_landing
        from routh.view.robot import RobotMechanism

        return RobotMechanism(load_landing(text), name=Path(text).stem, start=start, source=(text,))
    if isinstance(what, str):
        from routh.view.planar import PlanarMechanism

        return PlanarMechanism(what, start)
    raise ValueError(f"what: got {type(what).__name__}; wanted a system's name, a model file or an MjModel")
