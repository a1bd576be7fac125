"""Rapier, through its Python bindings rapier3d: soft projected Gauss-Seidel."""

from __future__ import annotations

import numpy as np
import rapier3d as r

from routh.base.validation import Array
from routh.testkit.scene import ImpactScene, SceneBody, unit


class Rapier:
    """A scene in Rapier; options are fields of its integration parameters."""

    def __init__(self, scene: ImpactScene, dt: float, **options: float) -> None:
        self.world = r.PhysicsWorld(gravity=(0.0, 0.0, -scene.gravity))
        self.world.set_num_threads(1)
        parameters = self.world.integration_parameters
        parameters.dt = dt
        for name, value in options.items():
            setattr(parameters, name, value)
        if scene.ground:
            ground = r.Collider.halfspace((0.0, 0.0, 1.0)).friction(scene.mu)
            self.world.add_collider(ground.restitution(scene.restitution))
        self.bodies = [self._add(scene, b) for b in scene.bodies]

    def _add(self, scene: ImpactScene, b: SceneBody) -> r.RigidBodyHandle:
        shapes = []
        for s in b.shapes:
            ball = s.kind == "sphere"
            collider = r.Collider.ball(float(s.size[0])) if ball else r.Collider.cuboid(*map(float, s.size))
            mu = float(scene.mu if s.mu is None else s.mu)
            collider = collider.translation(_three(s.pos)).density(0.0).friction(mu)
            shapes.append(collider.restitution(scene.restitution))
        mass = r.MassProperties((0.0, 0.0, 0.0), float(b.mass), _three(b.inertia))
        body = r.RigidBodyBuilder(r.RigidBodyType.DYNAMIC).translation(_three(b.pos))
        body = body.rotation(_turned(b.quat)).linvel(_three(b.v)).angvel(_three(b.w))
        return self.world.add_body(body.can_sleep(False).additional_mass_properties(mass), shapes)

    def step(self) -> None:
        """Advance by one step."""
        self.world.step()

    def state(self) -> Array:
        """Places and velocities, (bodies, 13)."""
        rows = []
        for handle in self.bodies:
            b = self.world.rigid_bodies[handle]
            x, q, v, w = b.translation, b.rotation, b.linvel, b.angvel
            rows.append([x.x, x.y, x.z, q.w, q.i, q.j, q.k, v.x, v.y, v.z, w.x, w.y, w.z])
        return np.array(rows)

    def close(self) -> None:
        """Nothing has to be let go."""


def _three(numbers: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(map(float, numbers))


def _turned(quat: tuple[float, ...]) -> tuple[float, ...]:
    """Axis times angle."""
    q = unit(quat)
    length = float(np.linalg.norm(q[1:]))
    return _three(tuple(q[1:] * (2 * np.arctan2(length, q[0]) / max(length, 1e-300))))
