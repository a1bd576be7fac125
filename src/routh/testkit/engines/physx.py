"""PhysX 5 on the CPU, through sapien: temporal Gauss-Seidel as it comes; all of it in single precision."""

from __future__ import annotations

import numpy as np
import sapien

from routh.base.validation import Array
from routh.testkit.scene import ImpactScene

px = sapien.physx


class Physx:
    """A scene in PhysX; 10 iterations for places and one for velocities as sapien has it."""

    def __init__(self, scene: ImpactScene, dt: float, tgs: bool = True, iterations: int = 10) -> None:
        px.set_scene_config(
            gravity=np.array([0, 0, -scene.gravity], dtype=np.float32),
            enable_tgs=tgs,
            bounce_threshold=1e-3 if scene.restitution else 2.0,
        )
        px.set_body_config(
            sleep_threshold=0.0,
            solver_position_iterations=iterations,
            solver_velocity_iterations=1 if iterations == 10 else iterations,
        )
        self.system = px.PhysxCpuSystem()
        self.system.timestep = dt
        self.world, self.bodies = sapien.Scene([self.system]), []
        if scene.ground:
            ground = px.PhysxRigidStaticComponent()
            plane = px.PhysxCollisionShapePlane(px.PhysxMaterial(scene.mu, scene.mu, scene.restitution))
            plane.set_local_pose(sapien.Pose([0, 0, 0], [np.sqrt(0.5), 0, -np.sqrt(0.5), 0]))
            ground.attach(plane)
            self._enter(ground)
        for b in scene.bodies:
            body = px.PhysxRigidDynamicComponent()
            for s in b.shapes:
                mu = scene.mu if s.mu is None else s.mu
                material = px.PhysxMaterial(mu, mu, scene.restitution)
                if s.kind == "sphere":
                    shape = px.PhysxCollisionShapeSphere(s.size[0], material)
                else:
                    shape = px.PhysxCollisionShapeBox(list(s.size), material)
                shape.set_local_pose(sapien.Pose(list(s.pos)))
                body.attach(shape)
            body.set_mass(b.mass)
            body.set_inertia(list(b.inertia))
            body.set_cmass_local_pose(sapien.Pose())
            body.set_linear_damping(0.0)
            body.set_angular_damping(0.0)
            self._enter(body).set_pose(sapien.Pose(list(b.pos), list(b.quat)))
            body.set_linear_velocity(list(b.v))
            body.set_angular_velocity(list(b.w))
            self.bodies.append(body)

    def _enter(self, component: sapien.Component) -> sapien.Entity:
        entity = sapien.Entity()
        entity.add_component(component)
        self.world.add_entity(entity)
        return entity

    def step(self) -> None:
        """Advance by one step."""
        self.system.step()

    def state(self) -> Array:
        """Places and velocities, (bodies, 13)."""
        rows = []
        for b in self.bodies:
            pose = b.entity.pose
            rows.append([*pose.p, *pose.q, *b.linear_velocity, *b.angular_velocity])
        return np.array(rows, dtype=float)

    def close(self) -> None:
        """Nothing has to be let go."""
