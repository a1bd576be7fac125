"""Which robot a command is given: its file, the folders it may read, and the posture that it starts from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from routh.cli import options

if TYPE_CHECKING:
    from mujoco import MjModel

    from routh.validation import Options

SUFFIXES = (".xml", ".mjcf", ".urdf")
option = partial(typer.Option, show_default=False, rich_help_panel="Robots")


def is_robot(file: str | Path) -> bool:
    """Whether a file is a robot's, by its name."""
    return Path(file).suffix.lower() in SUFFIXES


def refuse_without_robot(source: str | Path, *groups: object) -> None:
    """An option that only robots can honour is an error for a system and for a file of matrices."""
    for group in groups:
        options.refuse(group, f"{source} is no robot file; wanted one with it: {', '.join(SUFFIXES)}")


def refuse_changes(source: str, changes: object) -> None:
    """Parameters are a system's."""
    if changes:
        raise ValueError(f"--set: {source} is a robot; wanted --joint, --roll, --pitch, --yaw or --drop")


@dataclass(frozen=True)
class RobotFile:
    """How a robot's file is read."""

    root: Annotated[
        list[Path] | None,
        option(
            "--root",
            metavar="FOLDER",
            help="A further folder whose files the model may use, and that holds its packages; repeatable.",
        ),
    ] = None
    state: Annotated[
        Path | None,
        option(
            "--state",
            metavar="FILE",
            help="Posture and velocity from a file: qpos and qvel in .npz or .json.",
        ),
    ] = None
    keyframe: Annotated[str | None, option(help="Keyframe to start from, by name or number.")] = None

    def load(self, file: Path, *, lands: bool = True, **further: object) -> MjModel:
        """The MjModel; a URDF that lands floats, over level ground. ``further`` is told the loader."""
        from routh.models import dropping, mujoco

        load = dropping.load_landing if lands else mujoco.load
        return load(file, roots=self.root or (), **options.given(**further))

    def posture(self, model: MjModel) -> Options:
        """Where a landing starts: ``keyframe`` or ``qpos`` of `routh.models.landing`."""
        if self.state is None:
            return {"keyframe": self.keyframe}
        if self.keyframe is not None:
            raise ValueError("--state: given together with --keyframe; wanted one of them")
        from routh.models.states import read_state

        return {"qpos": read_state(self.state, int(model.nq), int(model.nv)).qpos}
