"""Nimble: DART's contacts made differentiable; where its problem fails to solve, friction is dropped."""

from __future__ import annotations

import nimblephysics as n
import numpy as np

from routh.base.validation import Array
from routh.testkit.scene import ImpactScene, quaternion, rotation

WIDE = 10.0  # m, side of the box that is the ground


class Nimble:
    """A scene in Nimble; ``slow``: what it calls hyper accurate and very slow. One friction a body."""

    def __init__(self, scene: ImpactScene, dt: float, slow: bool = False) -> None:
        self.world = n.simulation.World()
        self.world.setTimeStep(dt)
        self.world.setGravity([0, 0, -scene.gravity])
        if scene.ground:
            skeleton = n.dynamics.Skeleton()
            skeleton.setName("ground")
            _, body = skeleton.createWeldJointAndBodyNodePair()
            add(body, n.dynamics.BoxShape([WIDE, WIDE, 1.0]), (0, 0, -0.5))
            body.setFrictionCoeff(WIDE)
            body.setRestitutionCoeff(1.0)
            self.world.addSkeleton(skeleton)
        share = 1.0 if scene.ground else 0.5
        self.skeletons = []
        for i, (b, state) in enumerate(zip(scene.bodies, scene.state, strict=True)):
            skeleton = n.dynamics.Skeleton()
            skeleton.setName(f"b{i}")
            _, body = skeleton.createFreeJointAndBodyNodePair()
            body.setMass(b.mass)
            body.setMomentOfInertia(*b.inertia)
            for s in b.shapes:
                ball = s.kind == "sphere"
                shape = (
                    n.dynamics.SphereShape(s.size[0]) if ball else n.dynamics.BoxShape(2 * np.array(s.size))
                )
                add(body, shape, s.pos)
            body.setFrictionCoeff(float(np.mean([scene.mu if s.mu is None else s.mu for s in b.shapes])))
            body.setRestitutionCoeff(scene.restitution**share)
            R = rotation(b.quat)
            skeleton.setPositions(np.array([*n.math.logMap(R), *state[:3]]))
            skeleton.setVelocities(np.array([*(R.T @ state[10:]), *(R.T @ state[7:10])]))
            self.world.addSkeleton(skeleton)
            self.skeletons.append(skeleton)
        if slow:
            self.world.getConstraintSolver().makeHyperAccurateAndVerySlow()

    def step(self) -> None:
        """Advance by one step."""
        self.world.step()

    def state(self) -> Array:
        """Places and velocities, (bodies, 13)."""
        rows = []
        for skeleton in self.skeletons:
            q, v = skeleton.getPositions(), skeleton.getVelocities()
            R = n.math.expMapRot(q[:3])
            rows.append([*q[3:], *quaternion(R), *(R @ v[3:]), *(R @ v[:3])])
        return np.array(rows, dtype=float)

    def close(self) -> None:
        """Nothing has to be let go."""


def add(body: n.dynamics.BodyNode, shape: n.dynamics.Shape, at: tuple[float, ...]) -> None:
    """Put a shape on a body."""
    node = body.createShapeNode(shape)
    node.setRelativeTranslation(np.array(at))
    node.createCollisionAspect()
