"""DART, through dartpy: a boxed complementarity problem, by Dantzig's pivots."""

from __future__ import annotations

import dartpy as d
import numpy as np

from routh.base.validation import Array
from routh.testkit.scene import ImpactScene, quaternion, rotation

WIDE = 10.0  # m, side of the box that is the ground


class Dart:
    """A scene in DART."""

    def __init__(self, scene: ImpactScene, dt: float) -> None:
        self.world = d.simulation.World()
        self.world.setTimeStep(dt)
        self.world.setGravity([0, 0, -scene.gravity])
        if scene.ground:
            skeleton = d.dynamics.Skeleton("ground")
            _, body = skeleton.createWeldJointAndBodyNodePair()
            # of two frictions the smaller counts; restitutions are multiplied
            node = dressed(body, d.dynamics.BoxShape([WIDE, WIDE, 1.0]), WIDE, 1.0)
            node.setRelativeTranslation([0, 0, -0.5])
            self.world.addSkeleton(skeleton)
        share = 1.0 if scene.ground else 0.5
        self.bodies = []
        for i, b in enumerate(scene.bodies):
            skeleton = d.dynamics.Skeleton(f"b{i}")
            joint, body = skeleton.createFreeJointAndBodyNodePair()
            body.setInertia(d.dynamics.Inertia(b.mass, np.zeros(3), np.diag(b.inertia)))
            for s in b.shapes:
                ball = s.kind == "sphere"
                shape = (
                    d.dynamics.SphereShape(s.size[0]) if ball else d.dynamics.BoxShape(2 * np.array(s.size))
                )
                mu = scene.mu if s.mu is None else s.mu
                node = dressed(body, shape, mu, scene.restitution**share)
                node.setRelativeTranslation(np.array(s.pos))
            at, world = d.math.Isometry3(), d.dynamics.Frame.World()
            at.set_rotation(rotation(b.quat))
            at.set_translation(np.array(b.pos))
            joint.setRelativeTransform(at)
            joint.setLinearVelocity(np.array(b.v), world, world)
            joint.setAngularVelocity(np.array(b.w), world, world)
            self.world.addSkeleton(skeleton)
            self.bodies.append(body)

    def step(self) -> None:
        """Advance by one step."""
        self.world.step()

    def state(self) -> Array:
        """Places and velocities, (bodies, 13)."""
        rows = []
        for body in self.bodies:
            at = body.getTransform()
            v, w = body.getCOMLinearVelocity(), body.getAngularVelocity()
            rows.append([*at.translation(), *quaternion(at.rotation()), *v, *w])
        return np.array(rows, dtype=float)

    def close(self) -> None:
        """Nothing has to be let go."""


def dressed(
    body: d.dynamics.BodyNode, shape: d.dynamics.Shape, mu: float, restitution: float
) -> d.dynamics.ShapeNode:
    """A shape on a body, with friction and restitution."""
    node = body.createShapeNode(shape)
    node.createCollisionAspect()
    aspect = node.createDynamicsAspect()
    aspect.setFrictionCoeff(mu)
    aspect.setRestitutionCoeff(restitution)
    return node
