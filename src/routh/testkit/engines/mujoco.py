"""MuJoCo: soft contacts; restitution is an underdamped spring."""

from __future__ import annotations

import mujoco
import numpy as np

from routh.base.validation import Array
from routh.testkit.scene import ImpactScene, SceneBody, Shape, rotation

LASTS = 0.01  # s, half a period of the spring that stands for restitution


class MuJoCo:
    """A scene in MuJoCo; ``stiff``: contacts as stiff as the step allows, elliptic cones."""

    def __init__(self, scene: ImpactScene, dt: float, stiff: bool = False) -> None:
        softness = f"{max(0.002, 2 * dt) if stiff else 0.02} 1"
        if scene.restitution:
            softness = spring(scene.restitution, LASTS / 3 if stiff else LASTS)
        cone = 'cone="elliptic" impratio="10"' if stiff else ""
        ground = '<geom type="plane" size="5 5 1" friction="0 0 0"/>' if scene.ground else ""
        bodies = "".join(_body(b, scene.mu) for b in scene.bodies)
        self.model = mujoco.MjModel.from_xml_string(
            f'<mujoco><option {cone} timestep="{dt}" gravity="0 0 {-scene.gravity}">'
            f'<flag midphase="disable"/></option><default><geom solref="{softness}" condim="3"/></default>'
            f"<worldbody>{ground}{bodies}</worldbody></mujoco>"
        )
        self.data = mujoco.MjData(self.model)
        for i, row in enumerate(scene.state):
            self.data.qpos[7 * i : 7 * i + 7] = row[:7]
            self.data.qvel[6 * i : 6 * i + 3] = row[7:10]
            self.data.qvel[6 * i + 3 : 6 * i + 6] = rotation(row[3:7]).T @ row[10:]  # in the body's frame

    def step(self) -> None:
        """Advance by one step."""
        mujoco.mj_step(self.model, self.data)

    def state(self) -> Array:
        """Places and velocities, (bodies, 13)."""
        q, v = self.data.qpos.reshape(-1, 7), self.data.qvel.reshape(-1, 6)
        rows = [[*a, *b[:3], *(rotation(a[3:]) @ b[3:])] for a, b in zip(q, v, strict=True)]
        return np.array(rows)

    def close(self) -> None:
        """Nothing has to be let go."""


def spring(restitution: float, lasts: float) -> str:
    """A ``solref`` of a contact that lasts so long (s) and leaves with this share of the approach."""
    decay = -np.log(min(restitution, 1.0 - 1e-6))
    stiffness = (np.pi**2 + decay**2) / lasts**2
    return f"{-stiffness} {-2.0 * decay / lasts}"


def _body(b: SceneBody, mu: float) -> str:
    shapes = "".join(_geom(s, mu) for s in b.shapes)
    inertial = f'<inertial pos="0 0 0" mass="{b.mass}" diaginertia="{_text(b.inertia)}"/>'
    return f'<body pos="{_text(b.pos)}"><freejoint/>{inertial}{shapes}</body>'


def _geom(s: Shape, mu: float) -> str:
    slides = mu if s.mu is None else s.mu
    return f'<geom type="{s.kind}" size="{_text(s.size)}" pos="{_text(s.pos)}" friction="{slides} 0 0"/>'


def _text(numbers: tuple[float, ...]) -> str:
    return " ".join(map(str, numbers))
