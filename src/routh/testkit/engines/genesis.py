"""Genesis on the CPU in double precision: MuJoCo's contacts, compiled for each scene, which takes minutes."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import genesis as gs
import numpy as np

from routh.base.validation import Array
from routh.testkit.scene import ImpactScene, SceneBody, Shape


class Genesis:
    """A scene in Genesis; the rows of `state` have places of free bodies as MJCF has them."""

    def __init__(self, scene: ImpactScene, dt: float) -> None:
        if not getattr(gs, "_initialized", False):
            gs.init(backend=gs.cpu, precision="64", logging_level="warning")
        options = gs.options.SimOptions(dt=dt, gravity=(0, 0, -scene.gravity))
        self.world, self.bodies = gs.Scene(sim_options=options, show_viewer=False), []
        material = gs.materials.Rigid(friction=scene.mu)
        if scene.ground:
            self.world.add_entity(gs.morphs.Plane(), material=material)
        with TemporaryDirectory() as folder:
            for i, b in enumerate(scene.bodies):
                file = Path(folder) / f"b{i}.xml"
                file.write_text(_file(b))
                self.bodies.append(self.world.add_entity(gs.morphs.MJCF(file=str(file)), material=material))
            self.world.build()
        for body, row in zip(self.bodies, scene.state, strict=True):
            body.set_dofs_velocity(np.array(row[7:]))

    def step(self) -> None:
        """Advance by one step."""
        self.world.step()

    def state(self) -> Array:
        """Places and velocities, (bodies, 13)."""
        rows = []
        for body in self.bodies:
            read = (body.get_pos(), body.get_quat(), body.get_dofs_velocity())
            rows.append(np.concatenate([np.asarray(one.cpu()).ravel() for one in read]))
        return np.array(rows)

    def close(self) -> None:
        """Nothing has to be let go."""


def _file(b: SceneBody) -> str:
    """The body as an MJCF of its own."""
    shapes = "".join(_geom(s) for s in b.shapes)
    inertia = f'<inertial pos="0 0 0" mass="{b.mass}" diaginertia="{_text(b.inertia)}"/>'
    placed = f'pos="{_text(b.pos)}" quat="{_text(b.quat)}"'
    return f"<mujoco><worldbody><body {placed}><freejoint/>{inertia}{shapes}</body></worldbody></mujoco>"


def _geom(s: Shape) -> str:
    return f'<geom type="{s.kind}" size="{_text(s.size)}" pos="{_text(s.pos)}"/>'


def _text(numbers: tuple[float, ...]) -> str:
    return " ".join(map(str, numbers))
