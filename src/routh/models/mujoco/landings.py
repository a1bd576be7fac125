"""Landings in MuJoCo: `landing` moves a robot along gravity until it touches; `touchdowns` takes states.

A robot keeps its posture on the way down. `landing_regime` says whether the set of outcomes is the right
model of what follows, by how long the contacts last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from routh.base.status import InputError, ModelError, Option, no_such
from routh.base.validation import Array
from routh.compiling.foreign import Foreign
from routh.models.landings import (
    Landing,
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
from routh.models.mujoco.contacts import equality_rows, geom_name, joint_names, near_contacts, single_joints
from routh.models.mujoco.energies import ground_and_doubts, load_of
from routh.models.mujoco.engine import (
    Near,
    Workspace,
    check_capacity,
    engine,
    look_around,
    mass_matrix,
    switched_off,
    take_environment,
    widen,
    workspace,
)
from routh.models.mujoco.features import IMPACT, TIPPING, notes_on, of_pair, refuse
from routh.models.mujoco.files import state
from routh.models.mujoco.impacts import build
from routh.models.regime import (
    UNEVENNESS,
    Regime,
    duration_of_spring,
    regime_of,
    spring_of,
)
from routh.models.robot import listed, tell_unrepresented
from routh.models.simultaneity import DEEPEST, PAST_LIMIT, RESTITUTION, TOUCHING, Restitution, Rules

if TYPE_CHECKING:
    from mujoco import MjData, MjModel


_PARALLEL = 0.999  # cosine between a slide and gravity from which the slide is vertical
_FLOOR = 1000.0  # m: what is farther below is not there
_LOOKS = 200  # at the distance to the ground; a slope of 1 in 100 takes a few


@dataclass(frozen=True)
class Root:
    """What can be moved along gravity: a free joint, or a vertical slide and the hinge beside it."""

    body: int
    name: str  # where other bodies move too, else empty: then it is clear which body is meant
    kind: str  # "free" or "slide"
    angle: int | None  # address in qpos of the quaternion; of a planar root's angle, where it has one
    down: Array  # (nq,) change of qpos per metre along gravity
    speed: Array  # (nv,) velocity at 1 m/s along gravity
    joint: int  # that moves along gravity
    geoms: np.ndarray  # (ngeom,) bool: of the whole tree


def landing(
    model: MjModel,
    *,
    down: float | None = None,
    height: float | None = None,
    posture: Posture | None = None,
    motion: Motion | None = None,
    body: str | None = None,
    keyframe: str | int | None = None,
    qpos: Mapping[int | str, float] | ArrayLike | None = None,
    window: float | None = None,
    limits: bool = True,
    self_contacts: bool = False,
    restitution: Restitution = RESTITUTION,
    deepest: float | None = DEEPEST,
    past_limit: float | None = PAST_LIMIT,
) -> Landing:
    """The first impact of an MjModel that comes down.

    Parameters
    ----------
    model : MjModel.
    down, height, keyframe, qpos, window, limits, self_contacts : as in `routh.models.landing`.
    restitution, deepest, past_limit, body : likewise.
    posture : how it is turned, and its joints.
    motion : how it moves besides.
    """
    pose, moving = posture or Posture(), motion or Motion()
    speed = speed_down(down, height, np.array(model.opt.gravity))
    refuse(model, IMPACT)
    data, moved = starting_pose(model, keyframe=keyframe, qpos=qpos)
    root = find_root(model, data, body)
    take_posture(model, data, root, pose)
    before = np.array(data.qpos)
    _touch(model, data, root)
    _set_moving(model, data, root, speed, moving)
    rules = Rules(
        window=window,
        touching=2.0 * TOUCHING,
        limits=limits,
        restitution=restitution,
        deepest=deepest,
        past_limit=past_limit,
    )
    problem = build(model, data, rules, pairs=None if self_contacts else _OuterPairs(model, root))
    tell_unrepresented("impact", problem.unrepresented)
    sunk = float((data.qpos - before) @ root.down)
    changed = {name: value for name, value in moved.items() if name not in pose.joints}
    q, v = np.array(data.qpos), np.array(data.qvel)
    told = changed, moving, root.name, restitution
    return Landing(model, q, v, problem, speed, rules.horizon, -sunk, *told)


def turned_to(landing: Landing, heading: float) -> Array:
    """The velocity (nv,) of a landing of this module with another heading, rad."""
    model: Foreign = landing.model
    data = engine().MjData(model)
    data.qpos[:] = landing.qpos
    root = find_root(model, data, landing.body or None)
    _set_moving(model, data, root, landing.down, replace(landing.motion, heading=heading))
    return np.array(data.qvel)


def take_posture(model: MjModel, data: MjData, root: Root, posture: Posture) -> None:
    """Place the joints and turn the whole robot; it stays where it is."""
    place_joints(data.qpos, posture.joints, {joint.name: joint.qpos for joint in single_joints(model)})
    _turn(data, root, posture)


def starting_pose(
    model: MjModel,
    *,
    keyframe: str | int | None = None,
    qpos: Mapping[int | str, float] | ArrayLike | None = None,
) -> tuple[MjData, dict[str, float]]:
    """The posture that a landing keeps, and the joints that were moved inside their limits for it.

    Joints are moved only where neither a keyframe nor ``qpos`` is given.
    """
    data = state(model, keyframe=keyframe, qpos=qpos)
    return data, _into_limits(model, data) if keyframe is None and qpos is None else {}


def find_root(model: MjModel, data: MjData, body: str | None = None) -> Root:
    """The tree that comes down: the only one that can move along gravity, or the one named by ``body``.

    A model without one, and one with several of which none is named, are refused with what to do.
    """
    kinds, down = engine().mjtJoint, _down(model)
    trees = np.asarray(model.body_rootid)[np.asarray(model.geom_bodyid)]
    free, slide, hinge = (int(getattr(kinds, f"mjJNT_{n}")) for n in ("FREE", "SLIDE", "HINGE"))
    moving = np.unique(np.asarray(model.body_rootid)[np.asarray(model.dof_bodyid)])
    found: dict[str, Root] = {}
    for tree in np.flatnonzero(np.asarray(model.body_parentid) == 0)[1:]:
        joints = np.flatnonzero(np.asarray(model.jnt_bodyid) == tree)
        angle = next((int(model.jnt_qposadr[j]) for j in joints if model.jnt_type[j] == hinge), None)
        name = body_name(model, int(tree))
        turns: int | None
        for j in joints:
            place, dof = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
            by_position, by_velocity = np.zeros(model.nq), np.zeros(model.nv)
            if model.jnt_type[j] == free:
                by_position[place : place + 3] = by_velocity[dof : dof + 3] = down
                kind, turns = "free", place + 3
            elif model.jnt_type[j] == slide and abs(float(data.xaxis[j] @ down)) > _PARALLEL:
                by_position[place] = by_velocity[dof] = float(data.xaxis[j] @ down)
                kind, turns = "slide", angle
            else:
                continue
            told = name if len(moving) > 1 else ""
            geoms = trees == tree
            found[name] = Root(int(tree), told, kind, turns, by_position, by_velocity, int(j), geoms)
    if not found:
        raise ModelError(
            "model",
            wrong="its base cannot move along gravity, so it cannot be dropped",
            wanted="a free joint or a vertical slide at the root",
            advice=[Option("floating", "True", "gives the root of a URDF a free joint when it is loaded")],
        )
    names = ", ".join(found)
    if body is not None and body not in found:
        raise no_such("body", body, found)
    if body is None and len(found) > 1:
        raise ModelError(
            "model",
            wrong=f"{len(found)} bodies can come down: {names}",
            wanted="the one that does",
            by="body",
        )
    return found[body or names]


def body_name(model: MjModel, body: int) -> str:
    """The name of a body; where it has none, its number."""
    return str(model.body(body).name or f"body {body}")


def _down(model: MjModel) -> Array:
    gravity = np.array(model.opt.gravity, dtype=np.float64)
    size = float(np.linalg.norm(gravity))
    return gravity / size if size > 0.0 else np.array([0.0, 0.0, -1.0])


def _into_limits(model: MjModel, data: MjData) -> dict[str, float]:
    """Move joints that are past their limits in the reference pose a tenth of the range inside."""
    moved = {}
    for joint in single_joints(model):
        place, (low, high) = joint.qpos, joint.range
        inside = 0.1 * (high - low)
        if joint.limited and not low <= data.qpos[place] <= high:
            data.qpos[place] = low + inside if data.qpos[place] < low else high - inside
            moved[joint.name] = float(data.qpos[place])
    return moved


class _OuterPairs:
    """Pairs of names of geoms, one of the robot and one of its surroundings."""

    def __init__(self, model: MjModel, root: Root) -> None:
        self._ours = {geom_name(model, int(geom)) for geom in np.flatnonzero(root.geoms)}

    def __contains__(self, pair: object) -> bool:
        assert isinstance(pair, tuple)
        first, second = pair
        return (first in self._ours) != (second in self._ours)


def _turn(data: MjData, root: Root, pose: Posture) -> None:
    if root.kind == "free" and root.angle is not None:
        place = slice(root.angle, root.angle + 4)
        data.qpos[place] = turned(np.array(data.qpos[place]), pose.roll, pose.pitch, pose.yaw)
        return
    angles = [angle for angle in (pose.roll, pose.pitch, pose.yaw) if angle != 0.0]
    if not angles:
        return
    if root.angle is None or len(angles) > 1:
        has = "one angle" if root.angle is not None else "no angle"
        raise InputError("roll, pitch, yaw", got=f"{len(angles)} of them; the model's planar root has {has}")
    data.qpos[root.angle] += angles[0]


def _set_moving(model: MjModel, data: MjData, root: Root, speed: float, motion: Motion) -> None:
    """Speeds along gravity and sideways, rates and joint velocities."""
    data.qvel[:] = speed * root.speed
    engine().mj_kinematics(model, data)
    down, ahead = _down(model), np.array(data.xmat[root.body].reshape(3, 3)[:, 0])
    if root.kind == "free":
        first = int(model.jnt_dofadr[root.joint])
        data.qvel[first : first + 3] += motion.along_ground(ahead, down)
        data.qvel[first + 3 : first + 6] = motion.rates
    else:
        _set_planar(model, data, root, motion)
    known = {joint.name: joint.dof for joint in single_joints(model)}
    place_joints(data.qvel, motion.joints, known, "joint_velocities")


def _set_planar(model: MjModel, data: MjData, root: Root, motion: Motion) -> None:
    """A planar root slides along its other axis, and turns about one."""
    kinds, down = engine().mjtJoint, _down(model)
    own = np.flatnonzero(np.asarray(model.jnt_bodyid) == root.body)
    slides = [j for j in own if model.jnt_type[j] == int(kinds.mjJNT_SLIDE) and j != root.joint]
    level = [int(j) for j in slides if abs(float(data.xaxis[j] @ down)) < 1.0 - _PARALLEL]
    if motion.sideways:
        if len(level) != 1 or motion.heading != 0.0:
            has = "one level slide" if len(level) == 1 else f"{len(level)} level slides"
            raise InputError(
                "sideways, heading", wrong=f"the model's planar root has {has}", wanted="one, and heading 0"
            )
        data.qvel[int(model.jnt_dofadr[level[0]])] += motion.sideways
    rates = [float(rate) for rate in motion.rates if rate != 0.0]
    if rates:
        hinges = [int(j) for j in own if model.jnt_type[j] == int(kinds.mjJNT_HINGE)]
        if len(rates) > 1 or not hinges:
            has = "one angle" if hinges else "no angle"
            raise InputError(
                "roll_rate, pitch_rate, yaw_rate", got=f"{len(rates)}; the model's planar root has {has}"
            )
        data.qvel[int(model.jnt_dofadr[hinges[0]])] = rates[0]


def _touch(model: MjModel, data: MjData, root: Root) -> None:
    """Move along gravity, up or down, until the nearest pair of robot and surroundings touches."""
    paired = np.isin(np.arange(model.ngeom), [*model.pair_geom1, *model.pair_geom2])
    meets = (np.asarray(model.geom_contype) != 0) | (np.asarray(model.geom_conaffinity) != 0) | paired
    if not np.any(root.geoms & meets):
        raise ModelError(
            "model", wrong="it has nothing that can collide", wanted="collision shapes in its file"
        )
    lifted = 0.0
    near = look_around(model, data, TOUCHING)
    above = _above(model, data, root)
    while _clearance(near, data.qpos, root, TOUCHING, above)[0] <= 0.0:
        step = max(0.1, lifted)
        data.qpos[:] -= step * root.down
        lifted += step
        if lifted > _FLOOR:
            raise ModelError(
                "model",
                wrong="it collides with something wherever it is placed",
                wanted="free space above the ground",
            )
    free, blocked = 0.0, np.inf  # m down from here: known to be clear, known to overlap
    at, reach = 0.0, 0.1 * max(float(model.stat.extent), 1.0)  # m: what is farther away is looked for later
    for _ in range(_LOOKS):
        dist, slope = _clearance(near, data.qpos, root, reach)
        if abs(dist) <= TOUCHING:
            return
        if dist > 0.0:
            free = at
            guess = at + (dist / slope if np.isfinite(dist) else reach)
            reach = max(min(dist, reach), TOUCHING) if np.isfinite(dist) else 2.0 * reach
            goal = guess if guess < blocked else 0.5 * (free + blocked)
        else:
            blocked = at
            goal = 0.5 * (free + blocked)
        if goal > _FLOOR:
            raise ModelError(
                "model",
                wrong=f"nothing is below it within {_FLOOR:g} m",
                wanted="ground",
                advice=[Option("ground", "0", "adds level ground")],
            )
        data.qpos[:] += (goal - at) * root.down
        at = goal
    raise ModelError(
        "model", wrong="the distance to the ground does not converge", wanted="shapes that can touch it"
    )


def _above(model: MjModel, data: MjData, root: Root) -> np.ndarray:
    """Which geoms are of free bodies that are higher than this one, (ngeom,) bool."""
    engine().mj_kinematics(model, data)
    engine().mj_comPos(model, data)
    higher = data.subtree_com @ _down(model) < data.subtree_com[root.body] @ _down(model) - TOUCHING
    free = np.asarray(model.jnt_type) == int(engine().mjtJoint.mjJNT_FREE)
    loose = np.zeros(model.nbody, dtype=bool)
    loose[np.asarray(model.jnt_bodyid)[free]] = True
    trees = np.asarray(model.body_rootid)[np.asarray(model.geom_bodyid)]
    return np.asarray(higher[trees] & loose[trees])


def _clearance(
    near: Near, qpos: Array, root: Root, reach: float, above: np.ndarray | None = None
) -> tuple[float, float]:
    """Smallest distance of the tree within ``reach``, m (else inf), and by how much it falls per metre down.

    No more is computed than that needs, in the workspace of ``near``. What is ``above`` (ngeom,) must not be
    touched: a body that something lies on is not pulled out from under it.
    """
    mujoco, wide, data = engine(), near.model, near.data
    widen(wide, reach)
    data.qpos[:] = qpos
    for compute in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_collision):
        compute(wide, data)
    check_capacity(wide, data, reach)
    geoms = np.array(data.contact.geom).reshape(-1, 2)  # flexible bodies have none: -1
    ours = root.geoms[geoms]
    outer = np.flatnonzero((ours[:, 0] != ours[:, 1]) & (geoms >= 0).all(axis=1))
    if not len(outer):
        return np.inf, 1.0
    if above is not None:
        lying = geoms[outer][above[geoms[outer]]]
        if len(lying):
            name = body_name(wide, int(wide.body_rootid[wide.geom_bodyid[lying[0]]]))
            raise ModelError(
                "model",
                wrong=(
                    f"{name} lies on {body_name(wide, root.body)}, which would be pulled out from under it"
                ),
                wanted=f"{name} to be elsewhere, or to come down",
                by="body",
            )
    nearest = outer[np.argmin(data.contact.dist[outer])]
    normal = np.array(data.contact.frame).reshape(-1, 9)[nearest, :3]
    return float(data.contact.dist[nearest]), max(abs(float(normal @ _down(wide))), 0.05)


def free_root(model: MjModel, data: MjData, body: str | None = None) -> Root:
    """The free joint of the tree that comes down; a model whose root is not free is refused."""
    found = find_root(model, data, body)
    if found.kind != "free":
        raise ModelError(
            "model", wrong="its root slides or turns about fixed axes", wanted="a free joint at the root"
        )
    return found


def touchdowns(
    model: MjModel,
    qpos: Array,
    qvel: Array,
    *,
    window: float,
    data: MjData | None = None,
    deepest: float | None = DEEPEST,
    body: str | None = None,
) -> Iterator[Touchdown | ValueError]:
    """One by one; an error where a state has none. What makes tipping another question is refused."""
    refuse(model, TIPPING)
    tell_unrepresented("tipping", notes_on(model, TIPPING))
    return touchdown_of_each(_Touchdowns(model, data, window, deepest, body, tells=True), qpos, qvel)


class _Touchdowns:
    """Makes touch-downs of the states of one model; keeps what they share."""

    def __init__(
        self,
        model: MjModel,
        data: MjData | None,
        window: float,
        deepest: float | None,
        body: str | None,
        *,
        tells: bool = False,
    ) -> None:
        mujoco = engine()
        self.model, self.window, self.deepest = model, window, deepest
        self.data = mujoco.MjData(model)
        if data is not None:
            take_environment(self.data, data)
        mujoco.mj_kinematics(model, self.data)
        self.root = free_root(model, self.data, body)
        self._around = self.data if data is None else data  # with its applied forces
        first = int(model.jnt_dofadr[self.root.joint])
        self.dofs = slice(first, first + 6)
        self.still = np.asarray(model.body_weldid)[np.asarray(model.geom_bodyid)] == 0  # (ngeom,) bool
        own = np.asarray(model.body_rootid)[np.asarray(model.jnt_bodyid)] == self.root.body
        own[self.root.joint] = False
        self.held = tuple(name for name, ours in zip(joint_names(model), own, strict=True) if ours)
        self.along = _down(model)
        self._own, self._reach = workspace(model, 0.0), 0.0
        self._tells, self._told = tells, set[tuple[int, int]]()  # pairs of geoms whose contacts were judged
        timestep = 0.0 if switched_off(model, "REFSAFE") else float(model.opt.timestep)
        self._name = cache(partial(geom_name, model))
        # most states have the same springs
        self._springs = cache(lambda b: spring_of(np.frombuffer(b).reshape(-1, 2), timestep=timestep))

    def __call__(self, q: Array, v: Array) -> Touchdown:
        mujoco, model, data, body = engine(), self.model, self.data, self.root.body
        ground, doubts = self._known
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        apart = data.geom_xpos - data.subtree_com[body]
        level = apart - np.outer(apart @ self.along, self.along)
        arms = np.sqrt(np.einsum("ij,ij->i", apart, apart)) + model.geom_rbound
        radius = float(arms.max(where=self.root.geoms, initial=0.0))
        arms = np.sqrt(np.einsum("ij,ij->i", level, level)) + model.geom_rbound
        width = float(arms.max(where=self.root.geoms, initial=0.0))
        reach = look_ahead(radius, width, data.qvel[self.dofs], self.window)
        near = look_around(model, data, reach, self._within(reach))
        to_world = np.eye(6)
        to_world[3:, 3:] = near.data.xmat[body].reshape(3, 3)
        motion = RootMotion(self.dofs, np.array(near.data.xpos[body]), to_world)
        self._check_free(near)
        self._check_ground(near)
        found = held_touchdown(
            mass_matrix(near.model, near.data),
            np.array(data.qvel),
            motion,
            self._seen(near, motion),
            reach=reach,
            load=load_of(model, near.data, body),
            held=self.held,
            deepest=self.deepest,
            ground=ground,
            doubts=doubts,
        )
        return replace(found, body=self.root.name)

    def _check_free(self, near: Near) -> None:
        """Refuse a root that an equality constraint holds to the world, or to another body.

        A loop inside the robot has rows for its joints. As a whole the robot moves freely: its rows for that
        are zero, but where the loop is open by some distance, such as the 1.5 mm of a keyframe with rounded
        angles, and the robot turns.
        """
        rows = equality_rows(near)
        miss = near.dist[near.kind == int(engine().mjtConstraint.mjCNSTR_EQUALITY)]
        root = np.abs(rows[:, self.dofs])
        rounding = 1e-9 * max(float(np.abs(rows).max(initial=0.0)), 1.0)
        turning = rounding + np.sqrt(3.0) * float(np.abs(miss).max(initial=0.0))
        if (root[:, :3] > rounding).any() or (root[:, 3:] > turning).any():
            raise ModelError(
                "model", wrong="equality constraints hold its root, so it is not free", wanted="a free body"
            )

    def _check_ground(self, near: Near) -> None:
        """Refuse contacts with what moves: what a body stands on has to stay."""
        mujoco, model, data = engine(), near.model, near.data
        geoms = np.array(data.contact.geom).reshape(-1, 2)
        ours = self.root.geoms[geoms]
        other = (ours[:, 0] != ours[:, 1]) & (geoms >= 0).all(axis=1) & ~self.still[geoms].any(axis=1)
        jac = np.zeros((3, model.nv))
        for k in np.flatnonzero(other):
            contact, speed = data.contact[k], 0.0
            for geom, sign in zip(contact.geom, (-1.0, 1.0), strict=True):
                mujoco.mj_jac(model, data, jac, None, contact.pos, int(model.geom_bodyid[geom]))
                speed += sign * float(contact.frame[:3] @ jac @ data.qvel)
            if contact.dist <= 2.0 * TOUCHING - self.window * min(speed, 0.0):
                first, second = map(self._name, geoms[k].tolist())
                raise ModelError(
                    "state",
                    wrong=f"{second} and {first} touch, of which both move",
                    wanted="ground that stays, since nothing else is known of how a body turns over",
                )

    @cached_property
    def _known(self) -> tuple[str, tuple[str, ...]]:
        return ground_and_doubts(self.model, self._around, self.root.geoms, self.root.joint)

    def _within(self, reach: float) -> Workspace:
        """The workspace, with margins of at least ``reach`` m; wider ones, since to set them takes long."""
        now = float(self._own.wide.opt.o_margin)  # others may use the workspace between two states
        if now != self._reach or not 0.25 * now < reach < now:
            self._reach = 1.5 * reach
            widen(self._own.wide, self._reach)
        return self._own

    def _seen(self, near: Near, motion: RootMotion) -> SeenContacts:
        """Contacts of the robot with what does not move, as `contact_rows` makes them, joints held."""
        contact = near.data.contact
        geoms = np.array(contact.geom).reshape(-1, 2)
        ours, still = self.root.geoms[geoms], self.still[geoms]  # flexible bodies have no geom: -1
        outer = (ours & still[:, ::-1]).any(axis=1)
        kept = np.flatnonzero(outer & (geoms >= 0).all(axis=1))
        pos, frame = np.array(contact.pos)[kept], np.array(contact.frame).reshape(-1, 3, 3)[kept]
        second = np.where(
            ours[kept, 1], 1.0, -1.0
        )  # the velocity is that of the second geom less the first's
        sliding = np.array(contact.friction)[kept, :2] * (np.asarray(contact.dim)[kept, None] >= 3)
        mu = sliding.max(axis=1, initial=0.0)
        J = second[:, None, None] * rigid_jacobians(pos, frame, motion)
        if (sliding != mu[:, None]).any():  # friction differs by direction
            J[:, 1:] *= np.where(mu > 0.0, sliding.T / np.where(mu > 0.0, mu, 1.0), 1.0).T[:, :, None]
        if self._tells:
            self._tell(near, kept.tolist())
        springs = self._springs(np.array(contact.solref)[kept].tobytes())
        pairs = [(self._name(a), self._name(b)) for a, b in geoms[kept].tolist()]
        named = [f"{b}/{a}" for a, b in pairs]
        return SeenContacts(
            named,
            pairs,
            np.array(contact.dist)[kept],
            pos,
            frame,
            second[:, None] * frame[:, 0],
            J,
            mu,
            *springs,
        )

    def _tell(self, near: Near, kept: Sequence[int]) -> None:
        """Warn of what contacts have that is not represented, once for each pair."""
        notes: dict[str, list[str]] = {}
        for k in kept:
            found = near.data.contact[k]
            first, second = map(int, found.geom)
            if (first, second) in self._told:
                continue
            self._told.add((first, second))
            for what in of_pair(self.model, found, TIPPING):
                notes.setdefault(what, []).append(f"{self._name(second)}/{self._name(first)}")
        tell_unrepresented("tipping", [f"{what} ({listed(where)})" for what, where in notes.items()])


def landing_regime(landing: Landing, *, unevenness: float = UNEVENNESS) -> Regime:
    """Whether the set of outcomes is the right model of a landing: by when its contacts close and how they
    last.

    A planar root has no touch-down; there contacts that close within three windows but not within one make it
    tilted.
    """
    model, problem = landing.model, landing.problem
    data = engine().MjData(model)
    data.qpos[:] = landing.qpos
    engine().mj_kinematics(model, data)
    body = landing.body or None
    if find_root(model, data, body).kind == "free":
        make = _Touchdowns(model, None, landing.window, DEEPEST, body)
        down = next(touchdown_of_each(make, landing.qpos[None], landing.qvel[None]))
        if isinstance(down, Touchdown):
            return down.regime(landing.window, unevenness)
    near = look_around(model, data, float(problem.dist.max()) + TOUCHING)
    found = [contact for contact in near_contacts(near.data) if min(contact.geom) >= 0]
    solref = np.array([contact.solref for contact in found]).reshape(-1, 2)
    lasting = duration_of_spring(*spring_of(solref, timestep=float(near.model.opt.timestep)))
    closing = np.array(
        [*np.where(problem.dist <= 2.0 * TOUCHING, 0.0, problem.time_to_contact), *problem.soon.values()]
    )
    speed = float(-(problem.Jn @ problem.v).min())
    duration = float(np.median(lasting)) if len(lasting) else np.nan
    return regime_of(closing[np.isfinite(closing)], speed, duration, landing.window, unevenness)
