"""What a MuJoCo model holds beside bodies and contacts, as spring-dampers that a step can solve for.

Equality constraints, friction of joints and tendons, limits of tendons and ball joints are read from MuJoCo's
own rows (``efc_J``, ``efc_pos``); springs and dampers of joints and tendons and servos (actuators whose force
falls with length or velocity) from the model. What is stiff is thereby solved for at the end of a step
instead of being evaluated at its start. Motors, fluid, gravity compensation and whatever else is no linear
spring stay forces at the start of the step, from MuJoCo.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from routh.base.status import ModelError
from routh.base.validation import Array, real, real_array
from routh.models.base import SpringRows, State
from routh.models.mujoco.contacts import joint_names, named
from routh.models.mujoco.engine import OwnData, engine, switched_off, widen
from routh.models.mujoco.features import EQUALITY_ROWS, adhesion_actuators, pulls
from routh.models.robot import listed

if TYPE_CHECKING:
    from mujoco import MjData, MjModel

_FAR = 1e10  # m or rad: every limit has its rows, however far away
_DAMPED = 1.0  # N s/m or N m s/rad, of rows that are to be rigid: D19's
_STEP = 1e-4  # share of a unit of motion in differences of rows along a velocity


class Springs(OwnData):
    """The spring-dampers of a model, in groups, and MuJoCo's forces without them.

    Parameters
    ----------
    model : MjModel; it is copied.
    stiffness : N/m or N m/rad, of equality constraints and limits; or "solref": springs and dampers that
        yield under a steady load as MuJoCo's ``solref`` and ``solimp`` do, those of limits as at their depth.
    """

    def __init__(self, model: MjModel, stiffness: float | str = 1e10) -> None:
        mujoco, own = engine(), copy.copy(model)
        bits = mujoco.mjtDisableBit
        own.opt.disableflags |= int(bits.mjDSBL_CONTACT) | int(bits.mjDSBL_REFSAFE)
        widen(own, _FAR)
        single = np.isin(own.jnt_type, (int(mujoco.mjtJoint.mjJNT_SLIDE), int(mujoco.mjtJoint.mjJNT_HINGE)))
        own.jnt_limited[single] = 0  # these are the model's contacts
        self.model, self.rigid = own, stiffness != "solref"
        self.stiffness = real("stiffness", stiffness, above=0.0) if self.rigid else 0.0
        self._joints, self._tendons, self._servos = _Joints(own), _Tendons(own), _Servos(own)
        self._key, self.names = _layout(own)
        self.data = mujoco.MjData(own)
        place = np.asarray(getattr(own, "actuator_ctrladr", np.arange(own.nu)))  # of the inputs
        self._pulling = place[pulls(own)]
        kinds = mujoco.mjtConstraint
        # rows of joints and of tendons that add joints up are the same everywhere
        first_wraps = np.asarray(own.wrap_type)[np.asarray(own.tendon_adr)]
        self._bends = bool(
            np.any(self._key[:, 0] == int(kinds.mjCNSTR_EQUALITY))
            or np.any(first_wraps != int(mujoco.mjtWrap.mjWRAP_JOINT))
            or not np.all(_on_joints(own)[self._servos.index])
        )
        # dampers of joints alone are the same rows everywhere, and never stretched
        self._still = not (
            len(self._key) or self._joints.stretches or self._tendons.names or self._servos.names
        )
        idle, dampers = np.zeros(len(self._joints.names)), self._joints
        made = SpringRows("springs", "both ways", dampers.G, idle, dampers.K, dampers.B, idle)
        self._dampers = [made] if dampers.names else []
        self._balls = self._key[:, 0] == int(kinds.mjCNSTR_LIMIT_JOINT)
        slips = int(kinds.mjCNSTR_FRICTION_DOF), int(kinds.mjCNSTR_FRICTION_TENDON)
        self._groups = (
            ("equality", "both ways", self._key[:, 0] == int(kinds.mjCNSTR_EQUALITY)),
            ("joint friction", "bounded", np.isin(self._key[:, 0], slips)),
            ("limits", "one way", self._key[:, 0] > max(slips)),
        )

    def rows_by_name(self) -> dict[str, tuple[str, ...]]:
        """Groups as trajectories name them -> what each row of them belongs to."""
        named = {group: tuple(np.array(self.names, dtype=object)[which]) for group, _, which in self._groups}
        own = {"springs": self._joints.names + self._tendons.names}
        for bounded, group in ((False, "actuators"), (True, "limited actuators")):
            own[group] = tuple(np.array(self._servos.names, dtype=object)[self._servos.bounded == bounded])
        return {group: names for group, names in (named | own).items() if names}

    def terms(self, state: State, dt: float, u: ArrayLike | None) -> tuple[Array, list[SpringRows]]:
        """All forces (nv,) but those of the spring-dampers, and the spring-dampers."""
        return self.at(state.q, state.v, dt, None if u is None else self.checked(u))

    def checked(self, u: ArrayLike) -> Array:
        """Inputs (nu,), if they are."""
        inputs = real_array("u", u, [(self.model.nu,)], f"shape ({self.model.nu},), MuJoCo's ctrl")
        self.refuse_pull(inputs)
        return inputs

    def refuse_pull(self, inputs: Array) -> None:
        """Raise where inputs (..., nu) pull bodies to what they touch: no contact here can."""
        if len(self._pulling) and np.any(inputs[..., self._pulling] != 0.0):
            names = listed(adhesion_actuators(self.model))
            raise ModelError("u", got=f"an input of adhesion ({names})", wanted="0: contacts cannot pull")

    def at(self, q: Array, v: Array, dt: float, u: Array | None) -> tuple[Array, list[SpringRows]]:
        """`terms` of numbers that have been checked; the data are then at that state."""
        if self._still:
            self._position(q)
            return self._forces(v, u), self._dampers
        bias = self._bend(q, v)
        G, phi = self._geometry(q)
        rows = self._constraints(G, phi, bias)
        springs = slice(len(self._key), len(self._key) + len(self._joints.names) + len(self._tendons.names))
        if springs.stop > springs.start:
            K = np.concatenate([self._joints.K, self._tendons.stiffness(phi[springs])])
            B = np.concatenate([self._joints.B, self._tendons.B])
            rows.append(SpringRows("springs", "both ways", G[springs], phi[springs], K, B, bias[springs]))
        force = self._forces(v, u)
        if u is not None and self._servos.names:
            at = slice(springs.stop, None)
            rows += self._servos.rows(G[at], phi[at], bias[at], u, dt)
        return force, rows

    def _position(self, q: Array) -> None:
        self.data.qpos[:] = q
        engine().mj_fwdPosition(self.model, self.data)

    def _constraints(self, G: Array, phi: Array, bias: Array) -> list[SpringRows]:
        data, count = self.data, len(self._key)
        K, B = np.full(count, self.stiffness), np.full(count, _DAMPED)
        if not self.rigid:
            # at rest MuJoCo's force is -(k d r + b dr/dt) / R with the impedance d; efc_D is 1 / R
            order, there = self._order()
            k, b, d, _ = np.asarray(data.efc_KBIP).reshape(-1, 4).T
            K[there], B[there] = (k * d * data.efc_D)[order], (b * data.efc_D)[order]
        found = []
        for name, kind, which in self._groups:
            if not which.any():
                continue
            here = np.flatnonzero(which)
            if kind != "bounded":
                found.append(SpringRows(name, kind, G[here], phi[here], K[here], B[here], bias[here]))
                continue
            of_tendon = self._key[here, 0] == int(engine().mjtConstraint.mjCNSTR_FRICTION_TENDON)
            losses = self.model.dof_frictionloss, self.model.tendon_frictionloss
            limit = np.array(
                [losses[k][i] for k, i in zip(of_tendon.astype(int), self._key[here, 1], strict=True)]
            )
            none = np.zeros(len(here))
            damping = None if self.rigid else B[here]
            found.append(SpringRows(name, kind, G[here], none, none, damping, bias[here], limit))
        return found

    def _order(self) -> tuple[np.ndarray, np.ndarray]:
        """Which of MuJoCo's rows come in our order, and which of ours they are: it leaves out empty ones."""
        data = self.data
        keys = np.column_stack([data.efc_type[: data.nefc], data.efc_id[: data.nefc]])
        order = np.lexsort((keys[:, 1], keys[:, 0]))  # stable
        if len(order) == len(self._key):
            return order, np.arange(len(order))
        numbers: dict[tuple[int, ...], int] = {}
        ours = {tuple(key): i for i, key in enumerate(self._key.tolist())}
        there = []
        for key in map(tuple, keys[order].tolist()):
            numbers[key] = numbers.get(key, -1) + 1
            there.append(ours[*key, numbers[key]])
        return order, np.array(there, dtype=int)

    def _geometry(self, q: Array) -> tuple[Array, Array]:
        """All rows (n, nv) and deformations (n,) at a configuration; those of servos are lengths."""
        data, model, count = self.data, self.model, len(self._key)
        self._position(q)
        G, phi = np.zeros((count, model.nv)), np.zeros(count)
        if count:
            order, there = self._order()
            G[there] = data.efc_J.reshape(-1, model.nv)[order]
            phi[there] = data.efc_pos[order]
        blocks = [(G, phi), self._joints.at(data), self._tendons.at(data), self._servos.at(data)]
        return np.concatenate([b[0] for b in blocks]), np.concatenate([b[1] for b in blocks])

    def _bend(self, q: Array, v: Array) -> Array:
        """Half of ``dG/dt v`` of all rows, by differences along v.

        Over a step a deformation changes by ``h G v + h^2/2 dG/dt v``: so rows that bend drift by the third
        power of the step. With the whole, which is right for rates, they would by the second.
        """
        size = float(np.abs(v).max(initial=0.0))
        if not self._bends or size == 0.0:
            parts = self._joints, self._tendons, self._servos
            return np.zeros(len(self._key) + sum(len(part.names) for part in parts))
        ends = []
        for step in (_STEP / size, -_STEP / size):
            moved = np.array(q)
            engine().mj_integratePos(self.model, moved, v, step)
            ends.append(self._geometry(moved)[0] @ v)
        bend = np.asarray((ends[0] - ends[1]) * (size / (4.0 * _STEP)))
        bend[: len(self._key)][self._balls] = 0.0  # the axis of a ball that is hardly turned may be any
        return bend

    def _forces(self, v: Array, u: Array | None) -> Array:
        mujoco, data = engine(), self.data
        data.qvel[:] = v
        mujoco.mj_fwdVelocity(self.model, data)
        force = data.qfrc_passive - data.qfrc_bias
        if u is not None:
            data.ctrl[:] = u
            mujoco.mj_fwdActuation(self.model, data)
            force = force + data.qfrc_actuator
        return np.asarray(force)


class _Joints:
    """Linear springs and dampers of joints, taken out of the model: one row per velocity."""

    def __init__(self, model: MjModel) -> None:
        apart = hasattr(engine().mjtDisableBit, "mjDSBL_SPRING")  # before MuJoCo 3.4 or so one flag for both
        no_spring, no_damper = (switched_off(model, n if apart else "PASSIVE") for n in ("SPRING", "DAMPER"))
        joint = np.asarray(model.dof_jntid)
        springs = _plain(model, "jnt_stiffnesspoly")[joint] & (not no_spring)
        dampers = _plain(model, "dof_dampingpoly") & (not no_damper)
        K = np.where(springs, np.asarray(model.jnt_stiffness)[joint], 0.0)
        B = np.where(dampers, np.asarray(model.dof_damping), 0.0)
        self.dof = np.flatnonzero((K > 0.0) | (B > 0.0))
        self.K, self.B = K[self.dof], B[self.dof]
        self.names = tuple(joint_names(model)[joint[dof]] for dof in self.dof)
        model.jnt_stiffness[joint[K > 0.0]] = 0.0
        model.dof_damping[B > 0.0] = 0.0
        self.G = np.eye(model.nv)[self.dof]
        self.model = model
        self.stretches = bool(np.any(K > 0.0))

    def at(self, data: MjData) -> tuple[Array, Array]:
        stretch = np.zeros(self.model.nv)
        if self.stretches:
            # MuJoCo's own difference of configurations, per unit of time
            engine().mj_differentiatePos(self.model, stretch, 1.0, self.model.qpos_spring, data.qpos)
        return self.G, stretch[self.dof]


class _Tendons:
    """Linear springs and dampers of tendons, taken out of the model."""

    def __init__(self, model: MjModel) -> None:
        straight = _plain(model, "tendon_stiffnesspoly") & _plain(model, "tendon_dampingpoly")
        K = np.where(straight, np.asarray(model.tendon_stiffness), 0.0)
        B = np.where(straight, np.asarray(model.tendon_damping), 0.0)
        self.index = np.flatnonzero((K > 0.0) | (B > 0.0))
        self.K, self.B = K[self.index], B[self.index]
        self.names = tuple(named(model, "tendon", int(i)) for i in self.index)
        model.tendon_stiffness[self.index] = 0.0
        model.tendon_damping[self.index] = 0.0
        self.model = model
        low, high = np.asarray(model.tendon_lengthspring)[self.index].T
        self.slack = low < high  # these pull or push only beyond a range of lengths

    def stiffness(self, phi: Array) -> Array:
        """Stiffnesses (n,), of deformations whose last n are those of the tendons."""
        return np.where(self.slack & (phi[len(phi) - len(self.K) :] == 0.0), 0.0, self.K)

    def at(self, data: MjData) -> tuple[Array, Array]:
        if not len(self.index):
            return np.zeros((0, self.model.nv)), np.zeros(0)
        low, high = self.model.tendon_lengthspring[self.index].T
        length = data.ten_length[self.index]
        G = _dense(self.model, data, "ten_J", self.model.ntendon)[self.index]
        return G, length - np.clip(length, low, high)


class _Servos:
    """Actuators with a force ``gain ctrl + b0 + b1 length + b2 velocity``, b1 and b2 not above zero."""

    def __init__(self, model: MjModel) -> None:
        mujoco = engine()
        gain, bias = np.asarray(model.actuator_gainprm), np.asarray(model.actuator_biasprm)
        self.index = np.array([i for i in range(len(gain)) if _is_servo(model, i)], dtype=int)
        self.names = tuple(named(model, "actuator", int(i)) for i in self.index)
        place = np.asarray(getattr(model, "actuator_ctrladr", np.arange(model.nu)))
        self.input, self.gain = place[self.index], gain[self.index, 0]
        self.constant, self.K, self.B = bias[self.index, 0], -bias[self.index, 1], -bias[self.index, 2]
        limited = np.asarray(model.actuator_forcelimited, dtype=bool)[self.index]
        low, high = np.asarray(model.actuator_forcerange)[self.index].T
        self.low, self.high = np.where(limited, low, -np.inf), np.where(limited, high, np.inf)
        for k, i in enumerate(self.index):
            joint = int(model.actuator_trnid[i, 0])
            if _on_joints(model)[i] and model.jnt_actfrclimited[joint]:
                ends = np.sort(np.asarray(model.jnt_actfrcrange[joint]) / model.actuator_gear[i, 0])
                self.low[k], self.high[k] = max(self.low[k], ends[0]), min(self.high[k], ends[1])
                model.jnt_actfrclimited[joint] = 0
        self.bounded = np.isfinite(self.low) | np.isfinite(self.high)
        free = ~np.asarray(model.actuator_ctrllimited, dtype=bool)[self.input] | switched_off(
            model, "CLAMPCTRL"
        )
        least, most = np.asarray(model.actuator_ctrlrange)[self.input].T  # of the inputs
        self._range = np.where(free, -np.inf, least), np.where(free, np.inf, most)
        low, high = np.where(self.bounded, self.low, 0.0), np.where(self.bounded, self.high, 0.0)
        self._middle, self._half = (low + high) / 2.0, (high - low) / 2.0
        groups = (False, "actuators", "both ways"), (True, "limited actuators", "bounded")
        self._groups = [
            (name, kind, here)
            for bounded, name, kind in groups
            if len(here := np.flatnonzero(self.bounded == bounded))
        ]
        model.actuator_gainprm[self.index] = 0.0
        model.actuator_biasprm[self.index] = 0.0
        model.actuator_gaintype[self.index] = int(mujoco.mjtGain.mjGAIN_FIXED)
        self.model = model

    def at(self, data: MjData) -> tuple[Array, Array]:
        if not len(self.index):
            return np.zeros((0, self.model.nv)), np.zeros(0)
        G = _dense(self.model, data, "actuator_moment", len(self.model.actuator_dyntype))
        return G[self.index], np.array(data.actuator_length[self.index])

    def rows(self, G: Array, length: Array, bend: Array, ctrl: Array, dt: float) -> list[SpringRows]:
        """The servos without limits of force, and those with."""
        push = self.gain * np.clip(ctrl[self.input], *self._range) + self.constant - self._middle
        # a constant force is a spring that is stretched, or a damper that is moved
        springs = self.K > 0.0
        phi = np.where(springs, length - push / np.where(springs, self.K, 1.0), 0.0)
        moved = bend - np.where(springs, 0.0, push / (dt * np.where(self.B > 0.0, self.B, 1.0)))
        return [
            SpringRows(
                *(name, kind, G[here], phi[here], self.K[here], self.B[here]),
                *(moved[here], self._half[here], self._middle[here]),
            )
            for name, kind, here in self._groups
        ]


def _is_servo(model: MjModel, i: int) -> bool:
    mujoco = engine()
    b1, b2 = model.actuator_biasprm[i, 1:3]
    linear = int(model.actuator_gaintype[i]) == int(mujoco.mjtGain.mjGAIN_FIXED)
    linear &= int(model.actuator_biastype[i]) == int(mujoco.mjtBias.mjBIAS_AFFINE)
    linear &= int(getattr(model, "actuator_ctrlnum", np.ones(model.nu))[i]) == 1
    linear &= int(getattr(model, "actuator_outnum", np.ones(model.nu))[i]) == 1
    linear &= bool(b1 <= 0.0 and b2 <= 0.0 and min(b1, b2) < 0.0)
    off = int(model.opt.disableactuator) & (1 << int(model.actuator_group[i]))
    off |= switched_off(model, "ACTUATION")
    ends = np.asarray(model.actuator_forcerange[i])
    one_sided = bool(model.actuator_forcelimited[i]) and not np.all(np.isfinite(ends))
    return bool(linear) and not off and not one_sided and not _clamped_with_others(model, i)


def _clamped_with_others(model: MjModel, i: int) -> bool:
    """Whether a joint or tendon limits the sum of this actuator's force and that of others."""
    on_joint = _on_joints(model)
    limited = np.asarray(model.jnt_actfrclimited, dtype=bool)
    if on_joint[i]:
        joint = int(model.actuator_trnid[i, 0])
        alone = int(np.sum(on_joint & (np.asarray(model.actuator_trnid)[:, 0] == joint))) == 1
        return bool(limited[joint]) and not (alone and on_joint.all())
    return bool(np.any(getattr(model, "tendon_actfrclimited", False)) or limited.any())


def _on_joints(model: MjModel) -> np.ndarray:
    """Which actuators drive a joint directly."""
    kinds = engine().mjtTrn
    return np.isin(model.actuator_trntype, (int(kinds.mjTRN_JOINT), int(kinds.mjTRN_JOINTINPARENT)))


def _layout(model: MjModel) -> tuple[np.ndarray, tuple[str, ...]]:
    """MuJoCo's constraint rows by type, number and place, (n, 3), sorted; and what they belong to."""
    mujoco, joints = engine(), joint_names(model)
    kinds = mujoco.mjtConstraint
    sizes = {int(getattr(mujoco.mjtEq, name)): size for name, size in EQUALITY_ROWS.items()}
    tendons = [named(model, "tendon", i) for i in range(model.ntendon)]
    found: list[tuple[int, int, int, str]] = []

    def add(kind: int, index: int, name: str, rows: int = 1) -> None:
        found.extend((int(kind), index, k, name) for k in range(rows))

    if not switched_off(model, "EQUALITY"):
        for i in map(int, np.flatnonzero(model.eq_active0)):
            add(kinds.mjCNSTR_EQUALITY, i, named(model, "equality", i), sizes[int(model.eq_type[i])])
    if not switched_off(model, "FRICTIONLOSS"):
        for i in map(int, np.flatnonzero(model.dof_frictionloss)):
            add(kinds.mjCNSTR_FRICTION_DOF, i, joints[int(model.dof_jntid[i])])
        for i in map(int, np.flatnonzero(model.tendon_frictionloss)):
            add(kinds.mjCNSTR_FRICTION_TENDON, i, tendons[i])
    if not switched_off(model, "LIMIT"):
        for i in map(int, np.flatnonzero(model.jnt_limited)):  # of ball joints
            add(kinds.mjCNSTR_LIMIT_JOINT, i, joints[i])
        for i in map(int, np.flatnonzero(model.tendon_limited)):
            add(kinds.mjCNSTR_LIMIT_TENDON, i, tendons[i], 2)
    if switched_off(model, "CONSTRAINT"):
        found = []
    key = np.array([row[:3] for row in found], dtype=int).reshape(-1, 3)
    order = np.lexsort(key.T[::-1])
    return key[order], tuple(found[i][3] for i in order)


def _plain(model: MjModel, field: str) -> np.ndarray:
    """Which polynomials of MuJoCo 4 have no terms beyond the linear one; all of them in earlier versions."""
    owner = {"jnt": model.njnt, "dof": model.nv, "tendon": model.ntendon}[field.split("_")[0]]
    poly = getattr(model, field, None)
    return np.ones(owner, dtype=bool) if poly is None else ~np.any(np.asarray(poly) != 0.0, axis=1)


def _dense(model: MjModel, data: MjData, field: str, rows: int) -> Array:
    """A Jacobian that MuJoCo keeps dense or sparse, by version, as (rows, nv)."""
    values = np.asarray(getattr(data, field))
    prefix = {"ten_J": "ten_J_", "actuator_moment": "moment_"}[field]
    owner = next((o for o in (data, model) if hasattr(o, f"{prefix}rownnz")), None)
    if values.ndim == 2 or owner is None:
        return values.reshape(rows, model.nv)
    counts, starts, columns = (
        np.asarray(getattr(owner, prefix + name)).ravel() for name in ("rownnz", "rowadr", "colind")
    )
    full, owner = np.zeros((rows, model.nv)), np.repeat(np.arange(rows), counts[:rows])
    at = np.arange(len(owner)) + (starts[:rows] - np.cumsum(counts[:rows]) + counts[:rows])[owner]
    full[owner, columns[at]] = values[at]
    return full
