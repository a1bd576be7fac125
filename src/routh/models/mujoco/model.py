"""A MuJoCo model for `routh.simulate` and `routh.step_through`: rigid contacts in place of soft ones."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from routh.base import tolerances
from routh.base.status import ModelError
from routh.base.validation import Array
from routh.models.base import ContactInfo, SpringRows, State, WithImpacts, slope_at_zero
from routh.models.mujoco.contacts import geom_name, single_joints
from routh.models.mujoco.engine import (
    engine,
    hide_nothing,
    mass_matrix,
    point_velocities,
    refuse_still,
    switched_off,
)
from routh.models.mujoco.features import BOUNCES, SIMULATE, STEPS, notes_on, refusal_of, refuse
from routh.models.mujoco.ground import Ground, JointEnds
from routh.models.mujoco.pairs import pairs_within_trees
from routh.models.mujoco.springs import Springs
from routh.models.mujoco.touches import (
    CORNERS,
    FAR,
    ONE_POINT,
    Faces,
    Places,
    Touch,
    face_pairs,
    tangents,
    tangents_over,
    touches,
)
from routh.models.robot import SIDES, listed, restitution_of, tell_unrepresented
from routh.models.rotations import skew
from routh.problem.impact import ImpactProblem

if TYPE_CHECKING:
    from mujoco import MjData, MjModel

    from routh.models.mujoco.second_look import SecondLook

_STEP = 1e-4  # share of a unit of motion in differences of Jacobians along a velocity
NEAR = 1e-4  # m, up to which shapes may be held closed
_SETS = 64  # of contacts that are near, whose places are kept
_TURN = ("qw", "qx", "qy", "qz")  # of a quaternion


class MujocoModel(WithImpacts):
    """The bodies, joints, actuators and shapes of an MjModel, with rigid contacts and joint limits.

    Coordinates and velocities are MuJoCo's ``qpos`` and ``qvel``. Springs, damping and gravity act as in
    MuJoCo; actuators act where ``u`` (``ctrl``) is given. Contacts are listed in advance (see
    `routh.models.mujoco.touches`); joint limits are contacts without friction whose gaps are in m or rad. A
    robot that moves in one plane has planar contacts. What is not represented is named in an
    `UnrepresentedWarning`; what would make motions wrong is refused by name (see
    `routh.models.mujoco.features`, which tells of everything that a model can hold).

    `routh.step_through` also follows heightfields, equality constraints, friction of joints and tendons, and
    limits of tendons and ball joints; it solves for them, for springs and dampers and for servos at the end
    of each step, however stiff they are (see `routh.models.mujoco.springs`). ``rows`` names them.
    `routh.simulate` refuses equality constraints and heightfields and names in a warning what else it leaves
    out.

    Parameters
    ----------
    model : MjModel; it is copied.
    restitution : a number, or a mapping from contact names (others get 0).
    limits : whether limits of hinges and slides count as contacts.
    self_contacts : whether links of one robot can touch each other; where a file has collision shapes that
        overlap as they are, they must not.
    stiffness : for `routh.step_through`: of equality constraints and of limits of tendons and ball joints,
        N/m or N m/rad; friction of joints then holds without creep. Or "solref": they yield under a steady
        load, and friction creeps, as ``solref`` and ``solimp`` of each say.
    """

    #: groups of ``rows`` whose springs are in `potential`, or are no springs of the mechanism
    not_elastic = ("springs", "actuators", "limited actuators")

    def __init__(
        self,
        model: MjModel,
        *,
        restitution: float | Mapping[str, float] = 0.0,
        limits: bool = True,
        self_contacts: bool = True,
        stiffness: float | str = 1e10,
    ) -> None:
        mujoco = engine()
        refuse(model, STEPS)
        own = copy.copy(model)
        hide_nothing(own)
        self.springs = Springs(model, stiffness)
        self.rows = self.springs.rows_by_name()
        own.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        own.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        self.mujoco, self._data, self._flags = own, mujoco.MjData(own), int(model.opt.disableflags)
        self._last, self._placed = b"", False  # the configuration there; whether its contacts are known
        self.nq, self.nv, self.nu = int(own.nq), int(own.nv), int(own.nu)
        self.coordinates = _coordinates(own)
        without = switched_off(model, "CONTACT", "CONSTRAINT")
        found, notes, named = ([], [], {}) if without else touches(own, self_contacts)
        self._plane = _plane_of_motion(own, self._data)
        self.nt = 1 if self._plane is not None else 2
        self._touches = self._movable(found)
        kept = {(touch.geom1, touch.geom2) for touch in self._touches}
        self._unseen = {(touch.geom1, touch.geom2) for touch in found} - kept
        if not self_contacts:
            self._unseen |= pairs_within_trees(own)
        flat = face_pairs(own, self._touches)
        shapes = {(t.geom1, t.geom2): t for t, one in zip(self._touches, flat, strict=True) if one}
        pairs = [touch for (a, b), touch in shapes.items() if a < b or (b, a) not in shapes]
        self.faces = Faces(model, pairs, self._plane) if pairs else None
        if self.faces is not None:
            self.rows["faces"] = ("flat shapes",) * self.faces.count
        count = limits and not switched_off(model, "LIMIT", "CONSTRAINT")
        limited = [joint for joint in single_joints(own) if count and joint.limited]
        ends = [(joint, side) for joint in limited for side in (0, 1)]
        limited_ends = JointEnds(
            np.array([joint.qpos for joint, _ in ends], dtype=np.int64),
            np.array([joint.dof for joint, _ in ends], dtype=np.int64),
            np.array([(1.0, -1.0)[side] for _, side in ends]),
            np.array([joint.range[side] for joint, side in ends]),
        )
        grounded, nc = Places(own, self._touches).grounded, len(self._touches) + len(ends)
        over, self.loose = np.flatnonzero(grounded), np.flatnonzero(~grounded)  # numbers of contacts
        points = self._places_of(over)
        self._places, self._some = self._places_of(self.loose), dict[bytes, Places]()
        mujoco.mj_fwdPosition(own, self._data)
        points.update(self._data)
        self.ground = Ground(own, self._data, points, self._frames(points), limited_ends, row=over, nc=nc)
        self._unit = np.eye(self.nv)
        self._quaternions = quaternions(own)
        turning = {at + k for at, _ in self._quaternions for k in range(4)}
        turned = {dof + k for _, dof in self._quaternions for k in range(3)}
        self._plain = np.array([i for i in range(self.nq) if i not in turning], dtype=int)
        self._plain_dof = np.array([i for i in range(self.nv) if i not in turned], dtype=int)
        told = [
            (touch.name, (geom_name(own, touch.geom1), geom_name(own, touch.geom2)), touch.mu)
            for touch in self._touches
        ]
        told += [(f"{j.name}:{SIDES[side]}", ("limit", j.name), 0.0) for j, side in ends]
        names = [name for name, _, _ in told]
        given = restitution if isinstance(restitution, Mapping) else dict.fromkeys(names, restitution)
        elastic = restitution_of(given, [names])[0]
        self.contacts = tuple(ContactInfo(*one, float(e)) for one, e in zip(told, elastic, strict=True))
        self.by_faces = np.concatenate([flat, np.zeros(len(ends), dtype=bool)])  # (nc,) bool
        self._single = [note for note in notes if note.endswith((ONE_POINT, CORNERS))]
        self._no_impacts = refusal_of(model, SIMULATE)
        left_out = notes_on(model, STEPS)
        self._left_out = [note for note in notes_on(model, SIMULATE) if note not in left_out]
        elastic_pairs = {info.name.split("#")[0] for info in self.contacts if info.restitution > 0.0}
        named[BOUNCES] = [pair for pair in named.get(BOUNCES, []) if pair not in elastic_pairs]
        contacts = [f"{what} ({listed(pairs)})" for what, pairs in named.items() if pairs]
        self.unrepresented = (*(note for note in notes if note not in self._single), *contacts, *left_out)
        tell_unrepresented("motion", self.unrepresented)

    def state(self, data: MjData) -> State:
        """The state of an MjData, whose mocap poses and active constraints must be those of the model."""
        own = self._data
        for name in ("mocap_pos", "mocap_quat", "eq_active"):
            if not np.array_equal(getattr(data, name), getattr(own, name)):
                raise ModelError(
                    name,
                    wrong="differs from the model's own, which alone motions know",
                    wanted="it in the model (body_pos, body_quat, eq_active0)",
                )
        pushed = [name for name in ("qfrc_applied", "xfrc_applied") if np.any(getattr(data, name))]
        tell_unrepresented("motion", pushed)
        return State(data.qpos, data.qvel, float(data.time))

    def mass(self, q: ArrayLike) -> Array:
        """Mass matrix with armature, (nv, nv)."""
        self._at(q)
        return mass_matrix(self.mujoco, self._data)

    def inverse_mass(self, q: ArrayLike) -> Array:
        """The inverse of the mass matrix, (nv, nv), from MuJoCo's factors of it."""
        self._at(q)
        found = np.empty((self.nv, self.nv))
        engine().mj_solveM(self.mujoco, self._data, found, self._unit)
        return found

    def bias(self, q: ArrayLike, v: ArrayLike, u: ArrayLike | None = None) -> Array:
        """Coriolis, gravity, spring and damping forces less those of actuators at ``ctrl = u``, (nv,)."""
        mujoco, data = engine(), self._data
        self._at(q)
        data.qvel[:] = v
        mujoco.mj_fwdVelocity(self.mujoco, data)
        bias = data.qfrc_bias - data.qfrc_passive
        if u is None:
            return np.array(bias)
        data.ctrl[:] = self.springs.checked(u)
        mujoco.mj_fwdActuation(self.mujoco, data)
        return np.asarray(bias - data.qfrc_actuator)

    def step_terms(
        self, state: State, dt: float, u: ArrayLike | None = None
    ) -> tuple[Array, list[SpringRows]]:
        """All forces (nv,) but those of contacts and spring-dampers, and the spring-dampers."""
        force, rows = self.springs.terms(state, dt, u)
        return force, rows if self.faces is None else [*rows, self.faces.at(state.q)]

    def check_impacts(self) -> None:
        """Raise where the model holds what the impacts of a motion cannot follow."""
        if self._no_impacts:
            raise ModelError(wrong=self._no_impacts)

    def check_events(self) -> None:
        """Raise or warn where the model holds what only `routh.step_through` follows."""
        self.check_impacts()
        tell_unrepresented("motion", [*self._single, *self._left_out])

    def second_look(self) -> SecondLook:
        """Another way to look for contacts: MuJoCo's own."""
        from routh.models.mujoco.second_look import SecondLook  # motions themselves do without

        model = copy.copy(self.mujoco)
        model.opt.disableflags = self._flags
        return SecondLook(model, self._touches, self._unseen)

    def watch(self) -> SecondLook | None:
        """A second look, where some shapes can touch in points that are not listed."""
        return self.second_look() if self._single else None

    def gaps(self, q: ArrayLike) -> Array:
        """Signed distances, (nc,) m; rad for limits of hinges."""
        self._look(q)
        return self.ground.gap.copy()

    def jacobians(self, q: ArrayLike) -> tuple[Array, Array]:
        """``Jn (nc, nv)`` and ``Jt (nc, nt, nv)``, of the material points that are nearest to each other."""
        self._look(q)
        J = self.ground.J.copy()
        if len(self.loose):
            J[self.loose] = self.ground.between(self._places, self._frames(self._places))
        return J[:, 0], J[:, 1:]

    def jacobian_bias(self, q: ArrayLike, v: ArrayLike) -> Array:
        """``dJ/dt v``, normal first, (nc, 1 + nt) m/s^2.

        From accelerations of bodies for points over planes that stand still, else by differences along v of
        fourth order.
        """
        given, velocity = np.asarray(q, dtype=np.float64), np.asarray(v, dtype=np.float64)
        self._look(given)
        self._data.qvel[:], self._data.qacc[:] = velocity, 0.0
        engine().mj_comVel(self.mujoco, self._data)
        engine().mj_rnePostConstraint(self.mujoco, self._data)
        self.ground.update()
        found = self.ground.bias.copy()
        if len(self.loose):
            found[self.loose] = self._loose_bias(given, velocity, np.inf)
        return found

    def motion_terms(
        self, q: Array, v: Array, u: ArrayLike | None = None
    ) -> tuple[Array, Array, Array, Array]:
        """`inverse_mass`, `bias`, Jacobians (nc, 1 + nt, nv) and `jacobian_bias` in one evaluation.

        The last is zero for shapes that are `NEAR` to no other: nothing holds them closed.
        """
        force, inverse = self.bias(q, v, u), np.empty((self.nv, self.nv))
        engine().mj_solveM(self.mujoco, self._data, inverse, self._unit)
        self._data.qacc[:] = 0.0
        engine().mj_rnePostConstraint(self.mujoco, self._data)
        self._fill()
        J, found = self.ground.J.copy(), self.ground.bias.copy()
        if len(self.loose):
            J[self.loose] = self.ground.between(self._places, self._frames(self._places))
            found[self.loose] = self._loose_bias(q, v, NEAR)
        return inverse, force, J, found

    def loose_terms(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """Gaps, Jacobians (n, 1 + nt, nv) and ``dJ/dt v`` of the ``loose`` contacts, not with the ground.

        For a step of first order: the last is by differences of second order, and zero for shapes so far from
        each other that spheres around them stand for them.
        """
        self._look(q)
        rows = self.ground.between(self._places, self._frames(self._places))
        return self._places.gap, rows, self._loose_bias(q, v, FAR)

    def _loose_bias(self, q: Array, v: Array, reach: float) -> Array:
        """``dJ/dt v`` of the ``loose`` contacts within reach, (n, 1 + nt); of second order up to `FAR`."""
        near = self._places.gap <= reach
        found, size = np.zeros((len(near), 1 + self.nt)), float(np.abs(v).max(initial=0.0))
        if size == 0.0 or not near.any():
            return found
        if near.tobytes() not in self._some:
            if len(self._some) == _SETS:
                self._some.clear()
            self._some[near.tobytes()] = self._places_of(self.loose[near])
        where = self._some[near.tobytes()]
        step = _STEP / size

        def moving(t: float) -> Array:
            return self._contact_velocity(where, self.integrate(q, v, t), v)

        found[near] = (
            slope_at_zero(moving, step) if reach != FAR else (moving(step) - moving(-step)) / (2.0 * step)
        )
        self._last = b""
        return found

    def rate(self, q: ArrayLike, v: ArrayLike) -> Array:
        """``dq/dt``, (nq,): velocities, and half of a quaternion times the rate of turning in the body."""
        qpos, qvel = np.asarray(q, dtype=np.float64), np.asarray(v, dtype=np.float64)
        found = np.zeros(self.nq)
        found[self._plain] = qvel[self._plain_dof]
        for at, dof in self._quaternions:
            w, x, y, z = qpos[at : at + 4].tolist()
            a, b, c = (0.5 * qvel[dof : dof + 3]).tolist()
            found[at : at + 4] = (
                -x * a - y * b - z * c,
                w * a + y * c - z * b,
                w * b + z * a - x * c,
                w * c + x * b - y * a,
            )
        return found

    def integrate(self, q: ArrayLike, v: ArrayLike, dt: float) -> Array:
        """The configuration after moving with constant velocity ``v`` for ``dt``, (nq,)."""
        qpos = np.array(q, dtype=np.float64)
        engine().mj_integratePos(self.mujoco, qpos, np.asarray(v, dtype=np.float64), float(dt))
        if dt == 0.0:
            engine().mj_normalizeQuat(self.mujoco, qpos)
        return qpos

    def potential(self, q: ArrayLike) -> float:
        """Potential energy of gravity and springs, J."""
        self._at(q)
        engine().mj_energyPos(self.mujoco, self._data)
        return float(self._data.energy[0]) + self._carried()

    def _carried(self) -> float:
        """What gravity compensation takes of the weight's potential energy, J; that of actuators is input."""
        model = self.mujoco
        if switched_off(model, "GRAVITY") or np.any(model.jnt_actgravcomp):
            return 0.0
        carried = np.asarray(model.body_mass) * model.body_gravcomp
        return float(carried @ (self._data.xipos @ model.opt.gravity))

    def energies(self, q: Array, v: Array) -> dict[str, Array]:
        """Kinetic and potential energy at many states, (n,) J each."""
        mujoco, data, found = engine(), self._data, np.zeros((2, len(q)))
        for k in range(len(q)):
            self._at(q[k])
            data.qvel[:] = v[k]
            mujoco.mj_energyPos(self.mujoco, data)
            mujoco.mj_energyVel(self.mujoco, data)
            found[::-1, k] = data.energy
            found[1, k] += self._carried()
        return {"kinetic": found[0], "potential": found[1]}

    def problem(
        self, state: State, *, window: float | None = None, gap: float | None = None
    ) -> ImpactProblem:
        """The impact of all simultaneous contacts at ``state``, see `routh.models.impact_problem`."""
        self.check_impacts()
        return super().problem(state, window=window, gap=gap)

    def _at(self, q: ArrayLike) -> None:
        """Bring the workspace to a configuration; nothing is done where it is there already."""
        qpos = np.ascontiguousarray(q, dtype=np.float64)
        key = qpos.tobytes()
        if key != self._last:
            self._data.qpos[:] = qpos
            engine().mj_fwdPosition(self.mujoco, self._data)
            self._last, self._placed = key, False

    def _look(self, q: ArrayLike) -> None:
        """The same, and where its contacts are."""
        self._at(q)
        if not self._placed:
            self._fill()

    def _fill(self) -> None:
        """Fill in where contacts are, and their rates after MuJoCo's accelerations."""
        self.ground.update()
        if len(self.loose) and not self._placed:
            self._places.update(self._data)
            self.ground.gap[self.loose] = self._places.gap
        self._placed = True

    def _places_of(self, rows: np.ndarray) -> Places:
        return Places(self.mujoco, [self._touches[i] for i in rows])

    def _contact_velocity(self, where: Places, q: Array, v: Array) -> Array:
        """``J v`` (n, 1 + nt) of some contacts from the velocities of bodies."""
        mujoco, data, model = engine(), self._data, self.mujoco
        data.qpos[:], data.qvel[:] = q, v
        for compute in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_comVel):
            compute(model, data)
        where.update(data)
        sides = [
            point_velocities(model, data, body, point)
            for point, body in ((where.on2, where.body2), (where.on1, where.body1))
        ]
        return np.asarray((self._frames(where) @ (sides[0] - sides[1])[:, :, None])[:, :, 0])

    def _frames(self, where: Places) -> Array:
        """Normal and tangents of the shapes' contacts, (n, 1 + nt, 3)."""
        if self._plane is None:
            along = tangents(where.normal)
        else:
            along = where.normal[:, None, :] @ skew(-self._plane)  # plane x normal
        if where.skewed:
            self._scale(where, along)
        return np.concatenate([where.normal[:, None, :], along], axis=1)

    def _scale(self, where: Places, along: Array) -> None:
        """Make round cones of those of friction that differs by direction: its weaker tangent is scaled."""
        rows = np.flatnonzero((where.scale != 1.0).any(axis=1))
        own = where.scale[rows, :, None] * tangents_over(where.normal[rows])  # (n, 2, 3)
        if self._plane is None:
            along[rows] = own
        else:  # the strength of friction along the one direction that there is
            along[rows] *= np.linalg.norm(own @ along[rows].transpose(0, 2, 1), axis=1)[:, :, None]

    def _rows(self, where: Places) -> Array:
        """Velocity of the second shape's point less that of the first's, along normal and tangents."""
        model, data = self.mujoco, self._data
        linear, angular = np.zeros((2, model.nbody, 3, self.nv))
        for body in range(1, model.nbody):
            engine().mj_jacBody(model, data, linear[body], angular[body], body)
        frames = self._frames(where)
        rows = np.zeros((len(where.gap), 1 + self.nt, self.nv))
        for sign, point, body in ((1.0, where.on2, where.body2), (-1.0, where.on1, where.body1)):
            arm = point - data.xpos[body]  # velocity of a point: linear + angular x arm
            rows += sign * (frames @ linear[body] + frames @ skew(-arm) @ angular[body])
        return rows

    def _movable(self, found: list[Touch]) -> list[Touch]:
        """Contacts whose distance some velocity changes; shapes side by side in a planar robot never meet."""
        rng, data = np.random.default_rng(0), engine().MjData(self.mujoco)
        moves = np.ones(len(found), dtype=bool)
        places = Places(self.mujoco, found)
        for _ in range(2):
            engine().mj_integratePos(self.mujoco, data.qpos, rng.normal(size=self.nv), 0.3)
            self._data.qpos[:] = data.qpos
            engine().mj_fwdPosition(self.mujoco, self._data)
            places.update(self._data)
            moves &= np.linalg.norm(self._rows(places)[:, 0], axis=1) > tolerances.RANK
        engine().mj_resetData(self.mujoco, self._data)
        return [touch for touch, can in zip(found, moves, strict=True) if can]

    def __getstate__(self) -> dict[str, object]:
        """What is copied to other processes: not the workspace."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_data", "_last")}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state, _data=engine().MjData(state["mujoco"]), _last=b"")
        self.ground.watch(self._data)

    def __repr__(self) -> str:
        return f"MujocoModel(nq={self.nq}, nv={self.nv}, contacts={len(self.contacts)})"


def quaternions(model: MjModel) -> list[tuple[int, int]]:
    """Start of each free or ball joint's quaternion in qpos, and of its rates of turning in qvel."""
    kinds, found = engine().mjtJoint, []
    for kind, at, dof in zip(model.jnt_type, model.jnt_qposadr, model.jnt_dofadr, strict=True):
        if int(kind) == int(kinds.mjJNT_FREE):
            found.append((int(at) + 3, int(dof) + 3))
        elif int(kind) == int(kinds.mjJNT_BALL):
            found.append((int(at), int(dof)))
    return found


def _coordinates(model: MjModel) -> tuple[str, ...]:
    """Names of the entries of ``qpos``: hinges have their own, a free joint "root.x" to "root.qz"."""
    mujoco = engine()
    parts = {mujoco.mjtJoint.mjJNT_FREE: ("x", "y", "z", *_TURN), mujoco.mjtJoint.mjJNT_BALL: _TURN}
    names: list[str] = []
    for joint in map(model.joint, range(model.njnt)):
        name = joint.name or model.body(int(joint.bodyid[0])).name or f"joint{joint.id}"
        several = parts.get(mujoco.mjtJoint(int(joint.type[0])))
        names += [name] if several is None else [f"{name}.{part}" for part in several]
    return tuple(names)


def _plane_of_motion(model: MjModel, data: MjData) -> Array | None:
    """The normal (3,) of the plane in which every body moves; None where motion is spatial."""
    refuse_still(model)
    mujoco, rng = engine(), np.random.default_rng(0)
    rows = []
    for _ in range(3):
        mujoco.mj_integratePos(model, data.qpos, rng.normal(size=model.nv), 0.3)
        mujoco.mj_fwdPosition(model, data)
        for body in range(1, model.nbody):
            linear = np.zeros((3, model.nv))
            mujoco.mj_jac(model, data, linear, None, data.xpos[body] + rng.normal(size=3), body)
            rows.append(linear.T)
    mujoco.mj_resetData(model, data)
    _, values, axes = np.linalg.svd(np.concatenate(rows))
    moving = int(np.count_nonzero(values > tolerances.RANK * max(float(values[0]), 1e-300)))
    return np.asarray(axes[2]) if moving == 2 else None
