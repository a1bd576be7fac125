"""Drake: one point contact a pair, so that boxes are balls in their corners; no restitution."""

from __future__ import annotations

import numpy as np
from pydrake.all import (
    AddContactMaterial,
    AddMultibodyPlant,
    CoulombFriction,
    DiagramBuilder,
    HalfSpace,
    MultibodyPlantConfig,
    ProximityProperties,
    Quaternion,
    RigidTransform,
    Simulator,
    SpatialInertia,
    Sphere,
    UnitInertia,
)
from pydrake.multibody.math import SpatialVelocity

from routh.base.validation import Array
from routh.testkit.scene import ImpactScene, corner_balls

ALLOWANCE = 1e-3  # m: how deep the weight of all bodies sinks into one contact, as Drake's own default has it


class Drake:
    """A scene in Drake; ``stiffness`` (N/m) of a contact instead of that of its penetration allowance."""

    def __init__(
        self, scene: ImpactScene, dt: float, approximation: str = "sap", stiffness: float | None = None
    ) -> None:
        scene, builder = corner_balls(scene), DiagramBuilder()
        config = MultibodyPlantConfig(time_step=dt, discrete_contact_approximation=approximation)
        plant, _ = AddMultibodyPlant(config, builder)
        plant.mutable_gravity_field().set_gravity_vector([0, 0, -scene.gravity])
        own = sum(b.mass for b in scene.bodies) * 9.81 / ALLOWANCE

        def material(mu: float) -> ProximityProperties:
            properties = ProximityProperties()
            AddContactMaterial(
                dissipation=50.0 if stiffness else 1.0,
                point_stiffness=stiffness or own,
                friction=CoulombFriction(mu, mu),
                properties=properties,
            )
            return properties

        if scene.ground:
            world = plant.world_body()
            plant.RegisterCollisionGeometry(
                world, RigidTransform(), HalfSpace(), "ground", material(scene.mu)
            )
        self.bodies = []
        for i, b in enumerate(scene.bodies):
            inertia = SpatialInertia(b.mass, [0, 0, 0], UnitInertia(*(np.array(b.inertia) / b.mass)))
            body = plant.AddRigidBody(f"b{i}", inertia)
            for k, s in enumerate(b.shapes):
                ball, mu = Sphere(s.size[0]), scene.mu if s.mu is None else s.mu
                place = RigidTransform(list(s.pos))
                plant.RegisterCollisionGeometry(body, place, ball, f"s{i}-{k}", material(mu))
            self.bodies.append(body)
        plant.Finalize()
        self.simulator = Simulator(builder.Build())
        self.context = plant.GetMyContextFromRoot(self.simulator.get_mutable_context())
        for body, row in zip(self.bodies, scene.state, strict=True):
            pose = RigidTransform(Quaternion(row[3:7]), row[:3])
            plant.SetFloatingBaseBodyPoseInWorldFrame(self.context, body, pose)
            plant.SetFreeBodySpatialVelocity(self.context, body, SpatialVelocity(row[10:], row[7:10]))
        self.simulator.Initialize()
        self.plant, self.dt, self.steps = plant, dt, 0

    def step(self) -> None:
        """Advance by one step."""
        self.steps += 1
        self.simulator.AdvanceTo(self.steps * self.dt)

    def state(self) -> Array:
        """Places and velocities, (bodies, 13)."""
        rows = []
        for body in self.bodies:
            X = self.plant.EvalBodyPoseInWorld(self.context, body)
            V = self.plant.EvalBodySpatialVelocityInWorld(self.context, body)
            turned = X.rotation().ToQuaternion().wxyz()
            rows.append([*X.translation(), *turned, *V.translational(), *V.rotational()])
        return np.array(rows)

    def close(self) -> None:
        """Nothing has to be let go."""
