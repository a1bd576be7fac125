"""Bullet, through pybullet: sequential impulses; one friction a body, the mean of its shapes."""

from __future__ import annotations

import numpy as np
import pybullet as p

from routh.base.validation import Array
from routh.testkit.scene import ImpactScene, SceneBody


class Bullet:
    """A scene in Bullet."""

    def __init__(self, scene: ImpactScene, dt: float) -> None:
        self.world = {"physicsClientId": p.connect(p.DIRECT)}
        p.setPhysicsEngineParameter(fixedTimeStep=dt, deterministicOverlappingPairs=1, **self.world)
        if scene.restitution:
            p.setPhysicsEngineParameter(restitutionVelocityThreshold=1e-3, **self.world)
        p.setGravity(0, 0, -scene.gravity, **self.world)
        if scene.ground:  # coefficients of the two bodies are multiplied
            plane = p.createMultiBody(0, p.createCollisionShape(p.GEOM_PLANE, **self.world), **self.world)
            p.changeDynamics(plane, -1, lateralFriction=1.0, restitution=1.0, **self.world)
        self.bodies = [self._add(scene, b) for b in scene.bodies]

    def _add(self, scene: ImpactScene, b: SceneBody) -> int:
        kinds = {"sphere": p.GEOM_SPHERE, "box": p.GEOM_BOX}
        if len(b.shapes) == 1:
            s = b.shapes[0]
            size = {"radius": s.size[0]} if s.kind == "sphere" else {"halfExtents": s.size}
            shape = p.createCollisionShape(kinds[s.kind], collisionFramePosition=s.pos, **size, **self.world)
        else:
            shape = p.createCollisionShapeArray(
                [kinds[s.kind] for s in b.shapes],
                radii=[s.size[0] for s in b.shapes],
                collisionFramePositions=[s.pos for s in b.shapes],
                **self.world,
            )
        w, x, y, z = b.quat
        turned = {"basePosition": b.pos, "baseOrientation": (x, y, z, w)}
        body = p.createMultiBody(b.mass, shape, **turned, **self.world)
        mu = float(np.mean([scene.mu if s.mu is None else s.mu for s in b.shapes]))
        share = 1.0 if scene.ground else 0.5  # of the coefficients, where two bodies alike meet
        p.changeDynamics(
            body,
            -1,
            localInertiaDiagonal=b.inertia,
            lateralFriction=mu**share,
            restitution=scene.restitution**share,
            linearDamping=0,
            angularDamping=0,
            rollingFriction=0,
            spinningFriction=0,
            activationState=p.ACTIVATION_STATE_DISABLE_SLEEPING,
            **self.world,
        )
        p.resetBaseVelocity(body, b.v, b.w, **self.world)
        return int(body)

    def step(self) -> None:
        """Advance by one step."""
        p.stepSimulation(**self.world)

    def state(self) -> Array:
        """Places and velocities, (bodies, 13)."""
        rows = []
        for body in self.bodies:
            place, (x, y, z, w) = p.getBasePositionAndOrientation(body, **self.world)
            v, turning = p.getBaseVelocity(body, **self.world)
            rows.append([*place, w, x, y, z, *v, *turning])
        return np.array(rows)

    def close(self) -> None:
        """Disconnect."""
        p.disconnect(**self.world)
