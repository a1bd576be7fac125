"""Impact problems from a Pinocchio model and one state, or many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from routh.base.validation import Array, integer, real, real_array
from routh.models.pinocchio.files import engine
from routh.models.pinocchio.points import (
    UP,
    PlacedPoint,
    Points,
    Touching,
    as_points,
    feet,
    named_points,
    placed,
    shape_points,
)
from routh.models.robot import (
    SIDES,
    ContactRow,
    RobotBatch,
    RobotContact,
    RobotProblem,
    assemble,
    distinct_names,
    state_arrays,
)
from routh.models.rotations import contact_frames
from routh.models.simultaneity import (
    DEEPEST,
    DEEPEST_OF_MANY,
    PAST_LIMIT,
    PAST_LIMIT_OF_MANY,
    Restitution,
    Rules,
)

if TYPE_CHECKING:
    from pinocchio import Data, GeometryModel, Model


DEFAULT_MU = 1.0  # a URDF knows no friction; MuJoCo takes 1 for it too


def problem(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    ground: float | None = 0.0,
    window: float | None = None,
    gap: float | None = None,
    points: Points | None = None,
    geometry: GeometryModel | None = None,
    mu: float | Mapping[str, float] = DEFAULT_MU,
    limits: bool = True,
    restitution: Restitution = 0.0,
    deepest: float | None = DEEPEST,
    past_limit: float | None = PAST_LIMIT,
) -> RobotProblem:
    """The impact of all contacts that are simultaneous at configuration ``q`` and velocity ``v``.

    Velocities are Pinocchio's: those of a free-flyer are in the frame of its body.

    Parameters
    ----------
    model : pinocchio.Model, of a fixed or floating base.
    q : (nq,).
    v : (nv,).
    ground : height of level ground (m), or None for none.
    window : s: what touches is simultaneous, and what closes within this time at the present velocity;
        default 5 ms. Contacts that close within three windows, but not within one, are named in the
        problem's ``soon``.
    gap : m (rad for limits of revolute joints): instead of a window, all contacts within this distance.
    points : frames, frames with radii, or `ContactPoint`s that can touch the ground. Default: the ends of the
        limbs (`feet`), or none where ``geometry`` is given.
    geometry : pinocchio.GeometryModel: its shapes can touch the ground, and each other in its collision pairs
        (one point for each pair, the nearest, by Coal).
    mu : friction, a number or a mapping from contact names (others get 1).
    limits : whether limits of joints that are reached count, as contacts without friction.
    restitution : a number, one per contact, a mapping from contact names, or "contact": that of critically
        damped springs, since the model says nothing of its contacts.
    deepest : how far bodies may overlap, also at the limits of prismatic joints, m; None: any.
    past_limit : how far revolute joints may be past their limits, rad; None: any.

    Raises
    ------
    ValueError
        Where no contact is near.
    routh.base.status.StateError
        Where the state cannot be.
    """
    configuration = real_array("q", q, [(model.nq,)])
    velocity = real_array("v", v, [(model.nv,)])
    around = look_up(model, ground=ground, points=points, geometry=geometry, mu=mu)
    rules = Rules(
        window=window, gap=gap, limits=limits, restitution=restitution, deepest=deepest, past_limit=past_limit
    )
    return build(around, configuration, velocity, rules)


def problems(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    ground: float | None = 0.0,
    window: float | None = None,
    gap: float | None = None,
    points: Points | None = None,
    geometry: GeometryModel | None = None,
    mu: float | Mapping[str, float] = DEFAULT_MU,
    limits: bool = True,
    restitution: float | Mapping[str, float] = 0.0,
    deepest: float | None = DEEPEST_OF_MANY,
    past_limit: float | None = PAST_LIMIT_OF_MANY,
    processes: int = 1,
) -> RobotBatch:
    """The impacts of many states: row k is `routh.models.pinocchio.problem` of the k-th state.

    States in which nothing touches, nothing approaches, or which cannot be, are rows with a status.

    Parameters
    ----------
    model, ground, window, gap, points, geometry, mu, limits : as in `routh.models.pinocchio.problem`.
    q : (n, nq).
    v : (n, nv).
    restitution : a number, or a mapping from contact names.
    deepest : rows in which bodies overlap by more (m) are REFUSED; None: any. The default lets soft contacts
        of simulators pass.
    past_limit : rows in which joints are farther past their limits (rad) are REFUSED; None: any.
    processes : that make problems, each of a share of the states; the rows are the same to the bit.
    """
    configurations, velocities = state_arrays({"q": (q, int(model.nq)), "v": (v, int(model.nv))})
    workers = integer("processes", processes, at_least=1)
    around = look_up(model, ground=ground, points=points, geometry=geometry, mu=mu)
    rules = Rules(window=window, gap=gap, limits=limits, deepest=deepest, past_limit=past_limit)
    build_at = partial(build, around, rules=rules)
    batch = RobotBatch.one_by_one(configurations, velocities, int(model.nv), build_at, workers)
    batch.set_restitution(restitution)
    return batch


class Surroundings(NamedTuple):
    """A robot and what it can touch."""

    model: Model
    data: Data
    ground: float | None
    points: tuple[PlacedPoint, ...]
    geometry: GeometryModel
    mu: float | Mapping[str, float]


def look_up(
    model: Model,
    *,
    ground: float | None,
    points: Points | None,
    geometry: GeometryModel,
    mu: float | Mapping[str, float],
) -> Surroundings:
    """The checked parts of `problem` that have nothing to do with the state."""
    if ground is not None:
        real("ground", ground)
    chosen = feet(model) if points is None and geometry is None else as_points(model, points or ())
    return Surroundings(model, model.createData(), ground, placed(model, chosen), geometry, mu)


def build(around: Surroundings, q: Array, v: Array, rules: Rules) -> RobotProblem:
    """The problem of one state."""
    pin = engine()
    model, data, ground = around.model, around.data, around.ground
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    M = mass_matrix(model, data, q)
    reach = np.inf if rules.horizon else rules.near  # the window itself decides later
    rows: list[ContactRow] = []
    if ground is not None:
        touching = [point for point in over_ground(around, ground, reach) if point.dist <= reach]
        rows += ground_rows(model, data, touching, around.mu)
    if around.geometry is not None:
        rows += _pair_rows(model, data, around.geometry, reach, around.mu)
    if rules.limits:
        rows += _limit_rows(model, q, reach)
    later = rows if rules.horizon else ()
    return assemble(M, v, rows, rules, equality=np.zeros((0, model.nv)), later=later)


def over_ground(around: Surroundings, ground: float, reach: float) -> list[Touching]:
    """Points of the robot over the ground, those of shapes within ``reach`` (m), where the frames are now."""
    touching = named_points(around.data, around.points, ground)
    if around.geometry is not None:
        touching += shape_points(around.data, around.geometry, ground, reach)
    return touching


def mass_matrix(model: Model, data: Data, q: Array) -> Array:
    """The mass matrix with armature, (nv, nv)."""
    upper = np.triu(engine().crba(model, data, q))
    return np.asarray(upper + np.triu(upper, 1).T)


def point_jacobian(model: Model, data: Data, joint: int, point: Array) -> Array:
    """Velocity of the material point at ``point`` (3,) that moves with a joint, per v, (3, nv), world."""
    if joint == 0:
        return np.zeros((3, model.nv))
    pin = engine()
    J = pin.getJointJacobian(model, data, joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    return np.asarray(J[:3] - pin.skew(point - data.oMi[joint].translation) @ J[3:])


def ground_rows(
    model: Model, data: Data, touching: Sequence[Touching], mu: float | Mapping[str, float]
) -> list[ContactRow]:
    """The rows of points near level ground."""
    frame = contact_frames(UP[None])[0]
    names = distinct_names([f"{point.name}/ground" for point in touching])
    rows = []
    for point, name in zip(touching, names, strict=True):
        middle = point.surface - 0.5 * point.dist * UP
        contact = RobotContact(name, "contact", "ground", point.name, point.dist, middle, frame)
        J = frame @ point_jacobian(model, data, point.joint, middle)
        rows.append(ContactRow(contact, J, friction(mu, name)))
    return rows


def _pair_rows(
    model: Model, data: Data, geometry: GeometryModel, reach: float, mu: float | Mapping[str, float]
) -> list[ContactRow]:
    pin = engine()
    places = geometry.createData()
    pin.updateGeometryPlacements(model, data, geometry, places)
    rows = []
    for k, pair in enumerate(geometry.collisionPairs):
        found = pin.computeDistance(geometry, places, k)
        if not found.min_distance <= reach:
            continue
        first, second = geometry.geometryObjects[pair.first], geometry.geometryObjects[pair.second]
        normal = np.asarray(found.normal, dtype=np.float64)
        if not abs(np.linalg.norm(normal) - 1.0) < 1e-6:
            continue  # Coal stopped early: the shapes are far apart
        middle = 0.5 * (np.asarray(found.getNearestPoint1()) + np.asarray(found.getNearestPoint2()))
        frame = contact_frames(normal[None])[0]
        one, other = (point_jacobian(model, data, side.parentJoint, middle) for side in (first, second))
        name, where = f"{second.name}/{first.name}", (float(found.min_distance), middle, frame)
        contact = RobotContact(name, "contact", first.name, second.name, *where)
        rows.append(ContactRow(contact, frame @ (other - one), friction(mu, name)))
    return rows


def _limit_rows(model: Model, q: Array, reach: float) -> list[ContactRow]:
    rows = []
    for joint in range(1, model.njoints):
        if model.nqs[joint] != 1 or model.nvs[joint] != 1:
            continue
        at, column = model.idx_qs[joint], model.idx_vs[joint]
        ends = model.lowerPositionLimit[at], model.upperPositionLimit[at]
        if not ends[0] < ends[1]:
            continue  # a URDF that means no limits writes equal ones; MuJoCo ignores them too
        for side, sign, end in zip(SIDES, (1.0, -1.0), ends, strict=True):
            dist = sign * (q[at] - end)
            if not (abs(end) < 1e300 and dist <= reach):
                continue
            J = np.zeros((3, model.nv))
            J[0, column] = sign
            unit = "m" if model.joints[joint].shortname().startswith("JointModelP") else "rad"  # prismatic
            owner = model.names[joint]
            contact = RobotContact(f"{owner}:{side}", "joint-limit", owner, side, float(dist), unit=unit)
            rows.append(ContactRow(contact, J, 0.0))
    return rows


def friction(mu: float | Mapping[str, float], name: str) -> float:
    """Friction of a contact: a number, or a mapping's for its name, without its number, or for its point."""
    if not isinstance(mu, Mapping):
        return float(mu)
    return float(mu.get(name, mu.get(name.split("#")[0], mu.get(name.split("/")[0], DEFAULT_MU))))
