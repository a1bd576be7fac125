"""Landings in Pinocchio: `landing` moves the free-flyer until it touches; `touchdowns` takes states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from routh.base.status import ModelError
from routh.base.validation import Array, Options, real, real_array
from routh.models.landings import (
    Landing,
    Load,
    Motion,
    Posture,
    RootMotion,
    SeenContacts,
    Touchdown,
    held_touchdown,
    look_ahead,
    place_joints,
    rigid_jacobians,
    speed_down,
    touchdown_of_each,
    turned,
)
from routh.models.pinocchio.files import engine
from routh.models.pinocchio.impacts import (
    DEFAULT_MU,
    Surroundings,
    build,
    friction,
    look_up,
    mass_matrix,
    over_ground,
)
from routh.models.pinocchio.points import UP, Points, Touching
from routh.models.robot import distinct_names
from routh.models.rotations import contact_frames
from routh.models.simultaneity import DEEPEST, PAST_LIMIT, RESTITUTION, TOUCHING, Restitution, Rules

if TYPE_CHECKING:
    from pinocchio import GeometryModel, Model


def landing(
    model: Model,
    *,
    down: float | None = None,
    height: float | None = None,
    posture: Posture | None = None,
    motion: Motion | None = None,
    q: ArrayLike | None = None,
    window: float | None = None,
    ground: float = 0.0,
    points: Points | None = None,
    geometry: GeometryModel | None = None,
    mu: float | Mapping[str, float] = DEFAULT_MU,
    limits: bool = True,
    restitution: Restitution = RESTITUTION,
    deepest: float | None = DEEPEST,
    past_limit: float | None = PAST_LIMIT,
) -> Landing:
    """The first impact of a pinocchio.Model that comes down at ``down`` m/s; see `routh.models.landing`."""
    pin = engine()
    speed = speed_down(down, height, np.array(model.gravity.linear))
    pose, moving = posture or Posture(), motion or Motion()
    _require_free_flyer(model, "be dropped")
    at = pin.neutral(model) if q is None else real_array("q", q, [(model.nq,)])
    at = np.array(at, dtype=np.float64)
    known = {model.names[j]: int(model.idx_qs[j]) for j in range(1, model.njoints) if model.nqs[j] == 1}
    place_joints(at, pose.joints, known)
    wxyz = turned(at[[6, 3, 4, 5]], pose.roll, pose.pitch, pose.yaw)
    at[3:7] = wxyz[[1, 2, 3, 0]]
    around = look_up(model, ground=real("ground", ground), points=points, geometry=geometry, mu=mu)
    pin.framesForwardKinematics(model, around.data, at)
    touching = over_ground(around, ground, np.inf)
    if not touching:
        raise ModelError("model", wrong="has no point that can touch", wanted="points= or geometry=")
    lowest = min(point.dist for point in touching)
    at[2] -= lowest
    v = np.zeros(model.nv)
    rotation = pin.Quaternion(at[6], at[3], at[4], at[5]).matrix()
    fall = np.array([0.0, 0.0, -1.0])
    v[:3] = rotation.T @ (speed * fall + moving.along_ground(rotation[:, 0], fall))  # in its body's frame
    v[3:6] = moving.rates
    dofs = {model.names[j]: int(model.idx_vs[j]) for j in range(1, model.njoints) if model.nvs[j] == 1}
    place_joints(v, moving.joints, dofs, "joint_velocities")
    rules = Rules(
        window=window,
        touching=2.0 * TOUCHING,
        limits=limits,
        restitution=restitution,
        deepest=deepest,
        past_limit=past_limit,
    )
    found = build(around, at, v, rules)
    told: Options = {"motion": moving, "restitution": restitution}
    return Landing(model, at, v, found, speed, rules.horizon, -lowest, **told)


def touchdowns(
    model: Model,
    qpos: Array,
    qvel: Array,
    *,
    window: float,
    ground: float = 0.0,
    points: Points | None = None,
    geometry: GeometryModel | None = None,
    mu: float | Mapping[str, float] = DEFAULT_MU,
    deepest: float | None = DEEPEST,
) -> Iterator[Touchdown | ValueError]:
    """One by one; an error where a state has none. The ground is level, at the height ``ground``."""
    _require_free_flyer(model, "tip")
    around = look_up(model, ground=real("ground", ground), points=points, geometry=geometry, mu=mu)
    return touchdown_of_each(partial(_touchdown, around, window, deepest), qpos, qvel)


def _require_free_flyer(model: Model, what: str) -> None:
    if model.njoints < 2 or model.joints[1].shortname() != "JointModelFreeFlyer":
        raise ModelError(
            "model",
            wrong=f"its base is fixed, so it cannot {what}",
            wanted="a free-flyer as its first joint (floating=True of routh.models.pinocchio.load)",
        )


def _touchdown(around: Surroundings, window: float, deepest: float | None, q: Array, v: Array) -> Touchdown:
    pin = engine()
    model, data = around.model, around.data
    pin.framesForwardKinematics(model, data, q)
    assert around.ground is not None
    found = over_ground(around, around.ground, np.inf)
    com = np.array(pin.centerOfMass(model, data, q))
    apart = np.array([point.surface for point in found]).reshape(-1, 3) - com
    radius, width = (float(np.linalg.norm(a, axis=1).max(initial=0.0)) for a in (apart, apart[:, :2]))
    reach = look_ahead(radius, width, v, window)
    mass, gravity = float(pin.computeTotalMass(model)), np.array(model.gravity.linear)
    to_world = np.zeros((6, 6))
    to_world[:3, :3] = to_world[3:, 3:] = data.oMi[1].rotation
    root = RootMotion(slice(0, 6), np.array(data.oMi[1].translation), to_world)
    return held_touchdown(
        mass_matrix(model, data, q),
        v,
        root,
        _seen([point for point in found if point.dist <= reach], root, around.mu),
        reach=reach,
        load=Load(mass, com, mass * gravity, com, gravity),
        held=tuple(model.names)[2:],
        deepest=deepest,
        ground="the ground",
    )


def _seen(points: Sequence[Touching], root: RootMotion, mu: float | Mapping[str, float]) -> SeenContacts:
    """Points over level ground as contacts, joints held."""
    names = distinct_names([f"{point.name}/ground" for point in points])
    dist = np.array([point.dist for point in points])
    pos = np.array([point.surface for point in points]).reshape(-1, 3) - 0.5 * dist[:, None] * UP
    frame = np.tile(contact_frames(UP[None]), (len(points), 1, 1))
    given = np.array([friction(mu, name) for name in names])
    unknown = np.full(len(points), np.nan)  # a URDF says nothing of how soft its contacts are
    geoms, J = [("ground", point.name) for point in points], rigid_jacobians(pos, frame, root)
    return SeenContacts(names, geoms, dist, pos, frame, frame[:, 0], J, given, unknown, unknown)
