"""A MuJoCo robot in the viewer: its geoms as solids, its landing as the impact."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from routh.base.spread import spread_choice
from routh.base.status import InputError, no_such, optional
from routh.base.validation import Array, Options
from routh.laws import SetValued
from routh.models.base import State
from routh.models.landings import MOTION, speed_down
from routh.models.mujoco.contacts import geom_name, single_joints
from routh.models.mujoco.engine import engine
from routh.models.mujoco.files import keyframe_names
from routh.models.mujoco.landings import find_root, landing_regime, starting_pose
from routh.models.mujoco.model import MujocoModel
from routh.models.regime import restitution_of_spring, spring_of
from routh.models.robot import RobotContact, RobotProblem, UnrepresentedWarning
from routh.models.robots.landing import landing
from routh.models.simultaneity import RESTITUTION, WINDOW, Restitution
from routh.sampling import sample
from routh.sim import simulate_many
from routh.sim.futures import follow
from routh.view.mechanism import Control, Moving, Part, Placed, Values

if TYPE_CHECKING:
    from mujoco import MjData, MjModel

_ANGLES = ("roll", "pitch", "yaw")
_GENERAL = (*_ANGLES, "down", *MOTION, "friction", "restitution", "window")
_VELOCITY = " velocity"  # behind a joint's name: its slider, where it starts with a velocity
_GROUND = (205, 210, 218)
_MOST_JOINTS = 24  # sliders for more would fill the screen
_SAME = 1e-3  # of restitution: sliders round
_MOST_STEPS = 2000  # of MuJoCo, for its own answer


class RobotMechanism:
    """An MjModel that comes down on its surroundings; see `routh.models.landing`."""

    def __init__(
        self,
        model: MjModel,
        *,
        name: str = "robot",
        start: Values | None = None,
        source: Sequence[str] = (),
        keyframe: str | None = None,
        qpos: Array | None = None,
        posture: Sequence[str] = (),
        body: str | None = None,
    ) -> None:
        start, mujoco = dict(start or {}), engine()
        if "height" in start:
            start["down"] = speed_down(start.get("down"), start.pop("height"), np.array(model.opt.gravity))
        self.model, self.title, self._source = model, name, tuple(source) or (name,)
        self._data, _ = starting_pose(model, keyframe=keyframe, qpos=qpos)
        self._reference, self._posture = np.array(self._data.qpos), tuple(posture)
        self._first = self._reference, self._posture
        self.keyframes = keyframe_names(model)
        self._owners = _owners(model)
        mujoco.mj_kinematics(model, self._data)
        self._root, self._body = find_root(model, self._data, body), body
        solids = {g: part for g in range(model.ngeom) if (part := _solid(model, g)) is not None}
        moving = {g: part for g, part in solids.items() if model.body_weldid[model.geom_bodyid[g]] != 0}
        self._bodies, self.parts = _by_body(model, moving)
        self.ground = tuple(_in_world(self._data, g, part) for g, part in solids.items() if g not in moving)
        corners = self._data.xipos[np.unique(self._bodies)]
        reach = max((float(np.abs(part.vertices).max()) for part in self.parts), default=0.1)
        self.size = max(float(np.linalg.norm(np.ptp(corners, axis=0))), reach, 0.2)
        joints = {f"{joint.name}{_VELOCITY}": joint.name for joint in single_joints(model) if joint.name}
        for name in start:
            if name not in (*_GENERAL, *joints, *joints.values()):
                raise no_such("state", name, (*joints.values(), *joints))
        self._springs = _largest_restitution(model)
        self._moving = {name: joint for name, joint in joints.items() if name in start}
        self.controls = self._controls(start)
        self._usual = {control.name: control.value for control in self._controls({})}

    def start_from(self, keyframe: str | None) -> Values:
        """Take the posture of a keyframe, None: that of the beginning; where the controls stand then."""
        if keyframe is None:
            self._reference, self._posture = self._first
        else:
            data, _ = starting_pose(self.model, keyframe=keyframe)
            self._reference, self._posture = np.array(data.qpos), ("--keyframe", keyframe)
        self._usual = {control.name: control.value for control in self._controls({})}
        if keyframe is None:
            return {control.name: control.value for control in self.controls}
        moved = set(self._usual) - set(_GENERAL) | set(_ANGLES)
        return {name: value for name, value in self._usual.items() if name in moved}

    def place(self, values: Values) -> Placed:
        """The landing with these controls."""
        turn: Options = {name: values[name] for name in (*_ANGLES, *MOTION) if values.get(name)}
        joints = {name: value for name, value in values.items() if name not in (*_GENERAL, *self._moving)}
        velocities = {joint: values[name] for name, joint in self._moving.items() if name in values}
        found = landing(
            self.model,
            down=values["down"],
            joints=joints,
            joint_velocities=velocities,
            qpos=self._reference,
            body=self._body,
            window=values.get("window", 1e3 * WINDOW) * 1e-3,
            restitution=self._restitution(values),
            **turn,
        )
        problem = found.problem
        if values.get("friction", 1.0) != 1.0:
            changed = problem.replace(mu=problem.mu * values["friction"])
            assert isinstance(changed, RobotProblem)
            problem = changed
        frames = np.array([contact.frame for contact in problem.contacts])
        points = np.array([contact.pos for contact in problem.contacts])
        bodies = tuple(self._touching(contact) for contact in problem.contacts)
        note = landing_regime(found).sentence
        return Placed(found.qpos, problem, points, frames, bodies, found.window, note)

    def _restitution(self, values: Values) -> Restitution:
        """Each contact's own by its spring, as long as nobody moves the slider from what it shows of them."""
        told = values.get("restitution", self._springs)
        return RESTITUTION if abs(told - self._springs) < _SAME else told

    def _touching(self, contact: RobotContact) -> str:
        """The body that touches, with the one that it touches unless that is the ground."""
        if contact.kind != "contact":
            return contact.name
        one, other = (self._owners.get(name, name) for name in (contact.geom1, contact.geom2))
        return " and ".join(filter(None, (other, one))) or contact.name

    def advance(self, q: Array, v: Array, dt: float) -> Array:
        """Configurations a moment later."""
        mujoco = engine()
        found = np.array(q)
        for row, velocity in zip(found, v, strict=True):
            mujoco.mj_integratePos(self.model, row, velocity, dt)
        return found

    def poses(self, q: Array) -> tuple[Array, Array]:
        """Places of the bodies."""
        mujoco, count = engine(), len(self._bodies)
        positions, turns = np.empty((len(q), count, 3)), np.empty((len(q), count, 4))
        for k, row in enumerate(q):
            self._data.qpos[:] = row
            mujoco.mj_kinematics(self.model, self._data)
            positions[k], turns[k] = self._data.xpos[self._bodies], self._data.xquat[self._bodies]
        return positions, turns

    def others(self, placed: Placed, dt: float) -> dict[str, Array]:
        """MuJoCo's own answer: its simulation for ``dt`` s."""
        assert isinstance(placed.problem, RobotProblem)
        duration = max(min(dt, _MOST_STEPS * float(self.model.opt.timestep)), 1e-9)
        moved = follow(self.model, placed.q, placed.problem.qvel[None], duration=duration, frames=1)
        return {"MuJoCo": moved.q[0, -1]}

    def futures(self, placed: Placed, count: int, duration: float, seed: int, rigid: bool) -> Moving:
        """Motions from the impact on: rigid throughout, or after the impact as MuJoCo moves them."""
        assert isinstance(placed.problem, RobotProblem)
        if rigid:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UnrepresentedWarning)
                model = MujocoModel(self.model, self_contacts=False)
                state = State(placed.q, placed.problem.qvel)
                options: Options = {"law": SetValued(), "window": placed.window, "seed": seed}
                return simulate_many(model, state, n=count, duration=duration, **options)
        outcomes = sample(placed.problem, 8 * count, seed=seed)
        ended = np.flatnonzero(outcomes.solved)
        if not len(ended):
            raise InputError("futures", wrong="no sample of this impact is solved", wanted="at least one")
        chosen = ended[spread_choice(outcomes.v[ended] @ placed.problem.cholesky, count)]
        return follow(self.model, placed.q, placed.problem.lift(outcomes.v[chosen]), duration=duration)

    def velocities(self, placed: Placed, v: Array) -> Array:
        """The robot's velocities (n, nv of the robot) from the problem's (n, nv)."""
        assert isinstance(placed.problem, RobotProblem)
        return placed.problem.lift(v)

    def command(self, values: Values) -> str:
        """``routh view FILE`` with this state."""
        parts = ["routh view", *map(shlex.quote, (*self._source, *self._posture))]
        for control in self.controls:
            value = values[control.name]
            if value == self._usual[control.name] and control.name != "down":
                continue
            scale = 1e-3 if control.name == "window" else 1.0
            if control.name in _GENERAL:
                parts.append(f"--{control.name.replace('_', '-')} {scale * value:.12g}")
            elif control.name in self._moving:
                joint = self._moving[control.name]
                parts.append(f"--joint-velocity {shlex.quote(f'{joint}={value:.12g}')}")
            else:
                parts.append(f"--joint {shlex.quote(f'{control.name}={value:.12g}')}")
        return " ".join(parts)

    def _controls(self, start: Values) -> tuple[Control, ...]:
        model, slide = self.model, int(engine().mjtJoint.mjJNT_SLIDE)
        found = []
        for joint in single_joints(model):
            if model.jnt_bodyid[joint.number] == self._root.body or not model.joint(joint.number).name:
                continue
            low, high = joint.range if joint.limited else (-np.pi, np.pi)
            value = float(np.clip(start.get(joint.name, self._reference[joint.qpos]), low, high))
            unit = "m" if int(model.jnt_type[joint.number]) == slide else "rad"
            found.append(Control(joint.name, low, high, value, unit, fine=True))
        units = {control.name: control.unit for control in found}
        moving = [
            Control(name, -20.0, 20.0, start.get(name, 0.0), f"{units.get(joint, 'rad')}/s")
            for name, joint in self._moving.items()
        ]
        return (*_general_controls(self._root.kind, start, self._springs), *found[:_MOST_JOINTS], *moving)


def _owners(model: MjModel) -> dict[str, str]:
    """The body of each geom, both by name; none for what does not move."""
    bodies = {geom: int(model.geom_bodyid[geom]) for geom in range(model.ngeom)}
    return {
        geom_name(model, geom): (str(model.body(body).name) or f"body{body}")
        if model.body_weldid[body] != 0
        else ""
        for geom, body in bodies.items()
    }


def _largest_restitution(model: MjModel) -> float:
    """The largest that the springs of the model's geoms have."""
    _, ratio = spring_of(np.asarray(model.geom_solref))
    return round(float(restitution_of_spring(ratio).max(initial=0.0)), 3)


def _general_controls(kind: str, start: Values, springs: float) -> list[Control]:
    angles = _ANGLES if kind == "free" else ("pitch",)
    controls = [
        Control(name, -np.pi, np.pi, start.get(name, 0.0), "rad", fine=name != "yaw") for name in angles
    ]
    rates = ("roll_rate", "pitch_rate", "yaw_rate") if kind == "free" else ("pitch_rate",)
    moving = [Control(name, -5.0, 5.0, start.get(name, 0.0), "rad/s") for name in rates]
    if kind == "free":
        moving.insert(0, Control("heading", -np.pi, np.pi, start.get("heading", 0.0), "rad"))
    return [
        *controls,
        Control("down", 0.05, 5.0, start.get("down", 1.0), "m/s"),
        Control("sideways", 0.0, 5.0, start.get("sideways", 0.0), "m/s"),
        *moving,
        Control("friction", 0.0, 3.0, start.get("friction", 1.0), "times the model's"),
        Control("restitution", 0.0, 1.0, start.get("restitution", springs)),
        Control("window", 0.1, 50.0, 1e3 * start.get("window", WINDOW), "ms"),
    ]


def _solid(model: MjModel, geom: int) -> Part | None:
    """The solid of a geom; None where it has none or is hidden."""
    trimesh = optional("trimesh", "view")
    kinds, kind = engine().mjtGeom, int(model.geom_type[geom])
    size = np.array(model.geom_size[geom])
    if float(model.geom_rgba[geom][3]) == 0.0:
        return None
    if kind == int(kinds.mjGEOM_PLANE):
        extent = np.where(size[:2] > 0.0, np.minimum(size[:2], 20.0), 20.0)
        mesh = trimesh.creation.box((2.0 * extent[0], 2.0 * extent[1], 1e-3))
        mesh.apply_translation((0.0, 0.0, -1e-3))
    elif kind == int(kinds.mjGEOM_SPHERE):
        mesh = trimesh.creation.icosphere(subdivisions=2, radius=size[0])
    elif kind == int(kinds.mjGEOM_CAPSULE):
        mesh = trimesh.creation.capsule(height=2.0 * size[1], radius=size[0], count=[12, 12])
        mesh.apply_translation(-mesh.bounds.mean(axis=0))
    elif kind == int(kinds.mjGEOM_CYLINDER):
        mesh = trimesh.creation.cylinder(radius=size[0], height=2.0 * size[1], sections=24)
    elif kind == int(kinds.mjGEOM_BOX):
        mesh = trimesh.creation.box(2.0 * size)
    elif kind == int(kinds.mjGEOM_ELLIPSOID):
        mesh = trimesh.creation.icosphere(subdivisions=2, radius=1.0)
        mesh.apply_scale(size)
    elif kind == int(kinds.mjGEOM_MESH):
        given = model.mesh(int(model.geom_dataid[geom]))
        first, start = int(given.vertadr[0]), int(given.faceadr[0])
        vertices = model.mesh_vert[first : first + int(given.vertnum[0])]
        faces = model.mesh_face[start : start + int(given.facenum[0])]
        mesh = trimesh.Trimesh(vertices, faces, process=False)
    else:
        return None
    corners = np.array(mesh.vertices, dtype=np.float64)
    return Part(geom_name(model, geom), corners, np.array(mesh.faces), _color(model, geom))


def _color(model: MjModel, geom: int) -> tuple[int, int, int]:
    material = int(model.geom_matid[geom])
    rgba = model.mat_rgba[material] if material >= 0 else model.geom_rgba[geom]
    red, green, blue = (round(255 * float(x)) for x in rgba[:3])
    return red, green, blue


def _by_body(model: MjModel, solids: Mapping[int, Part]) -> tuple[np.ndarray, tuple[Part, ...]]:
    """Geoms of one body and colour as one solid in the body's frame: there are fewer to move."""
    groups: dict[tuple[int, tuple[int, int, int]], list[int]] = {}
    for geom, part in solids.items():
        groups.setdefault((int(model.geom_bodyid[geom]), part.color), []).append(geom)
    parts = []
    for (body, color), members in groups.items():
        vertices, faces, first = [], [], 0
        for geom in members:
            turn = np.zeros(9)
            engine().mju_quat2Mat(turn, np.array(model.geom_quat[geom]))
            vertices.append(solids[geom].vertices @ turn.reshape(3, 3).T + np.array(model.geom_pos[geom]))
            faces.append(solids[geom].faces + first)
            first += len(solids[geom].vertices)
        name = str(model.body(body).name) or solids[members[0]].name
        parts.append(Part(name, np.concatenate(vertices), np.concatenate(faces), color))
    return np.array([body for body, _ in groups], dtype=int), tuple(parts)


def _in_world(data: MjData, geom: int, part: Part) -> Part:
    turn = np.array(data.geom_xmat[geom]).reshape(3, 3)
    return Part(part.name, part.vertices @ turn.T + np.array(data.geom_xpos[geom]), part.faces, _GROUND)
