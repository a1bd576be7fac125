"""Derivatives of a constrained step by the implicit function theorem on the rows that act.

Each row's force is a function of its own wish, ``lambda = P(g)`` with ``g = -K phi - (h K + B) (G v_1 + h
gamma)``: the wish itself for a bilateral row, its positive part for a unilateral one; a stuck contact gets
all of its wish, a sliding one ``lambda_t = mu lambda_n tau / |tau|``, which turns with ``tau`` on the cone's
curved surface. Together with ``M (v_1 - v) = h (f + G^T lambda)`` that is smooth as long as no row changes
its mode: a solution is `Linearised`, one `adjoint` solve tells what every number of the system is worth
(`SystemGradient`; the matrices' parts are outer products, formed only where they are asked for), and
`state_gradient` goes on to the state of a model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from routh.base import tolerances
from routh.base.results import Result
from routh.base.status import InputError, Status
from routh.base.validation import Array, choice, real_array
from routh.constraints.compliance import STEEL, Compliance, from_model
from routh.constraints.friction import SEPARATES, SLIDES, STICKS, ModeRows
from routh.constraints.inverse import input_count
from routh.constraints.solving import ConstraintForces, gather, scatter
from routh.constraints.springs import solve_springs
from routh.constraints.system import TANGENTIAL_DAMPER, ActingRows, ConstrainedSystem, force_scale
from routh.constraints.types import Contact, StateConstraint
from routh.kernels.constraints.data import Modes
from routh.models.base import Model, State, slope_at_zero


@dataclass(frozen=True, eq=False)
class Linearised:
    """A solution's rows (n of them) and modes."""

    rows: ActingRows
    few: ModeRows  # the rows that are left in these modes
    v: Array  # (nv,) velocity after
    force: Array  # (n,) N
    rate: Array  # (n,) m/s at the end of the step
    closed: np.ndarray  # (nc,) bool, contacts that push
    slip: Array  # (nc, nt) unit direction of friction where contacts slide, zero elsewhere
    margin: float  # see `margin_of`


def linearise(forces: ConstraintForces) -> Linearised:
    """The smooth system of a solution's modes."""
    rows = forces.system.rows
    force, rate = gather(forces.system, forces.forces), gather(forces.system, forces.rates)
    mode = forces.acting.acts[rows.nu :]
    wish = -rows.K * rows.phi - (rows.X / rows.h) * rate
    tau = wish[rows.tangents].reshape(rows.nc, rows.nt)
    size = np.linalg.norm(tau, axis=1)
    slides = (mode == SLIDES) & (size > 0.0)
    size = np.where(slides, size, 1.0)
    slip = np.where(slides[:, None], tau / size[:, None], 0.0)
    weakening = np.where(slides, np.clip(rows.mu * force[rows.normals] / size, 0.0, 1.0), 0.0)
    modes = forces.acting._replace(direction=slip, weakening=weakening)
    few = ModeRows(rows, modes)
    margin = margin_of(forces, modes, force, wish)
    return Linearised(rows, few, forces.v, force, rate, mode != SEPARATES, slip, margin)


def margin_of(forces: ConstraintForces, modes: Modes, force: Array, wish: Array) -> float:
    """Strict complementarity: the smallest share of the largest force by which a row keeps its mode.

    A contact whose gap decides whether it acts at all counts by the gap as a share of its motion in the step.
    """
    rows, nb, nu = forces.system.rows, forces.system.rows.nb, forces.system.rows.nu
    weight = 1.0 / (1.0 + rows.X * rows.a)
    scale = force_scale(rows, force)
    mode, acts = modes.acts[nu:], modes.acts != SEPARATES
    one_sided = slice(nb, nb + nu + rows.nc)
    room = [np.where(acts, force[one_sided], -(weight * wish)[one_sided]) / scale]
    held, tau = (np.linalg.norm(x[rows.tangents].reshape(rows.nc, rows.nt), axis=1) for x in (force, wish))
    least = weight[rows.tangents].reshape(rows.nc, rows.nt).min(axis=1, initial=1.0)
    limit = rows.mu * force[rows.normals]
    room.append(((limit - held) / scale)[mode == STICKS])
    room.append(((tau - limit) * least / scale)[(mode == SLIDES) & (rows.mu > 0.0)])
    for item in forces.system.constraints:
        if isinstance(item, Contact):
            travel, size = rows.h * (abs(item.Jn) @ np.abs(forces.system.v)), np.abs(item.phi)
            room.append(size / np.maximum(size + travel, np.finfo(float).tiny))
    return float(np.min(np.concatenate(room), initial=np.inf))


_TANGENTIAL = ("tangential_stiffness", "tangential_damping", "deformation")


@dataclass(frozen=True, eq=False)
class OuterRows:
    """Derivative with respect to the rows ``G`` of a constraint: ``force w^T - slope v^T``."""

    force: Array  # (n,) of the rows
    slope: Array  # (n,) what a rate of the row is worth
    w: Array  # (nv,) what a force is worth
    v: Array  # (nv,) velocity after

    @property
    def matrix(self) -> Array:
        """The derivative as a matrix, (n, nv)."""
        return np.outer(self.force, self.w) - np.outer(self.slope, self.v)

    def along(self, G: object) -> float:
        """The inner product with rows ``G``, dense or sparse."""
        return float(self.force @ (G @ self.w) - self.slope @ (G @ self.v))  # type: ignore[operator]


@dataclass(frozen=True, eq=False)
class RowsGradient:
    """Gradient with respect to a `Bilateral` or `Unilateral`; arrays are shaped like the fields so named."""

    numbers: ClassVar = ("phi", "stiffness", "damping", "bias")
    phi: Array
    stiffness: Array
    damping: Array
    bias: Array
    outer: dict[str, OuterRows] = field(repr=False)

    @property
    def G(self) -> Array:
        """Gradient with respect to the rows, (n, nv)."""
        return self.outer["G"].matrix


@dataclass(frozen=True, eq=False)
class ContactGradient:
    """Gradient with respect to a `Contact`; arrays are shaped like the fields so named."""

    numbers: ClassVar = ("phi", "mu", "stiffness", "damping", *_TANGENTIAL, "bias")
    phi: Array
    mu: Array
    stiffness: Array
    damping: Array
    tangential_stiffness: Array
    tangential_damping: Array  # zero where the damper is D19's own: it is no number of the contact's then
    deformation: Array
    bias: Array
    outer: dict[str, OuterRows] = field(repr=False)

    @property
    def Jn(self) -> Array:
        """Gradient with respect to the normal rows, (nc, nv)."""
        return self.outer["Jn"].matrix

    @property
    def Jt(self) -> Array:
        """Gradient with respect to the tangential rows, (nc, nt, nv)."""
        return self.outer["Jt"].matrix.reshape(*self.deformation.shape, -1)


@dataclass(frozen=True, eq=False)
class SystemGradient:
    """Gradient with respect to a `ConstrainedSystem`; arrays are shaped like the fields so named.

    Parameters
    ----------
    f : (nv,), forces. Inputs enter here: of ``f = f_0 + B u`` the gradient is ``B^T f``.
    v : (nv,), the velocity before.
    dt : the step.
    constraints : one each, in their order.
    change : (nv,), of the velocity in the step.
    h : the length of the step that was solved, s.
    status : how the step ended.
    """

    f: Array
    v: Array
    dt: float
    constraints: tuple[RowsGradient | ContactGradient, ...]
    change: Array = field(repr=False)
    h: float = field(repr=False)
    status: Status = Status.SOLVED

    @cached_property
    def M(self) -> Array:
        """Gradient for changes of the mass matrix that keep it symmetric, (nv, nv); symmetric itself."""
        half = np.outer(self.f / self.h, self.change)
        return -0.5 * (half + half.T)

    def along(self, system: ConstrainedSystem) -> float:
        """The inner product with all numbers of a system of the same shape, but its velocity and step.

        Its change from one system to a nearby one is, to first order, that of the number differentiated.
        """
        total = float(self.f @ system.f - (self.f / self.h) @ (system.M @ self.change))
        for gradient, item in zip(self.constraints, system.constraints, strict=True):
            pairs = ((getattr(gradient, name), getattr(item, name)) for name in gradient.numbers)
            total += sum(float(np.vdot(worth, value)) for worth, value in pairs if value is not None)
            total += sum(rows.along(getattr(item, name)) for name, rows in gradient.outer.items())
        return total


# The linearised step is the last step of Newton's method in `friction`. Its transpose has the same rows with
# pushing and measuring exchanged, so the same stable code solves it. With ``w`` the worth of a force on the
# velocities and ``r = d/d(lambda) + G w`` that of a row's force, a change of the row's wish is worth
# ``P'^T r``, and everything else follows by the product rule.


def adjoint(
    system: ConstrainedSystem, at: Linearised, on_v: Array, on_force: Array, on_memory: Array
) -> SystemGradient:
    """The gradient of a number from its derivatives with respect to what the step gives.

    ``on_v`` (nv,): the velocity after; ``on_force`` (n,): the rows' forces; ``on_memory`` (n,): the
    deformations of tangential springs at the end, zero in other rows.
    """
    rows, few, h = at.rows, at.few, at.rows.h
    direct = _memory(at, on_memory)
    on_force = on_force + direct["force"]
    free = h * rows.mass.solve(on_v)  # what a force is worth where no constraint answers
    wanted = few.S * (few.gathered(on_force) + few.push @ free)
    p, answer = solve_springs(rows.mass, few.push, few.measure, few.S, wanted)
    w = free - answer
    worth = on_force + rows.G @ w
    # stiff rows by p, where the sum cancels
    by_rows = np.where(few.S > 0.0, p / np.where(few.S > 0.0, few.S, 1.0), few.gathered(worth))
    on_wish, k = np.zeros(len(rows)), len(few.plain)  # what a change of each row's wish is worth, (n,)
    on_wish[few.plain] = by_rows[:k]
    on_wish[few.across] = (few.root**2 * by_rows[k:])[:, None] * few.turned
    flat = {
        "phi": -rows.K * on_wish + direct["phi"],
        "K": -(rows.phi + h * at.rate) * on_wish + direct["K"],
        "B": -at.rate * on_wish + direct["B"],
        "gamma": -rows.X * on_wish,
        "slope": rows.X / h * on_wish,
        "force": at.force,
        "mu": np.zeros(len(rows)),
    }
    friction = worth[rows.tangents].reshape(rows.nc, rows.nt)
    flat["mu"][rows.normals] = (at.force[rows.normals, None] * at.slip * friction).sum(axis=1)
    change = at.v - system.v
    inertia = np.asarray(rows.mass.M @ w) / h
    on_h = float(inertia @ change) / h + float(direct["h"].sum())
    on_h -= float(on_wish @ (rows.K * at.rate + rows.X / h * rows.gamma))
    columns = zip(*(scatter(system, values) for values in flat.values()), strict=True)
    parts = [dict(zip(flat, column, strict=True)) for column in columns]  # of each constraint
    gradients: list[RowsGradient | ContactGradient] = []
    for item, part in zip(system.constraints, parts, strict=True):
        if not isinstance(item, Contact):
            outer = {"G": OuterRows(part["force"], part["slope"], w, at.v)}
            gradients.append(RowsGradient(part["phi"], part["K"], part["B"], part["gamma"], outer))
            continue
        gradients.append(_of_contact(item, part, w, at.v))
        if item.tangential_damping is None:  # D19's damper is 1e6 / dt
            on_h -= TANGENTIAL_DAMPER / h**2 * float(part["B"][:, 1:].sum())
    return SystemGradient(f=w, v=inertia, dt=on_h, constraints=tuple(gradients), change=change, h=h)


def _memory(at: Linearised, on_memory: Array) -> dict[str, Array]:
    """A tangential spring ends at ``(B phi - h lambda) / (h K + B)``: what each of these is worth, (n,).

    A contact that opens forgets, and a spring that is none stays as it is.
    """
    rows, h = at.rows, at.rows.h
    stiff = h * rows.K + rows.B
    acts = stiff > 0.0
    acts[rows.tangents] &= np.repeat(at.closed, rows.nt)
    kept = np.zeros(len(rows))
    kept[rows.tangents] = on_memory[rows.tangents] * (np.repeat(at.closed, rows.nt) & ~acts[rows.tangents])
    safe = np.where(acts, stiff, 1.0)
    share = np.where(acts, on_memory, 0.0) / safe
    end = (rows.B * rows.phi - h * at.force) / safe
    return {
        "force": -h * share,
        "phi": rows.B * share + kept,
        "K": -h * end * share,
        "B": (rows.phi - end) * share,
        "h": -(at.force + rows.K * end) * share,
    }


def _of_contact(item: Contact, part: dict[str, Array], w: Array, v: Array) -> ContactGradient:
    force, slope = part["force"], part["slope"]
    return ContactGradient(
        phi=part["phi"][:, 0],
        mu=part["mu"][:, 0],
        stiffness=part["K"][:, 0],
        damping=np.where(item.phi <= 0.0, part["B"][:, 0], 0.0),
        tangential_stiffness=part["K"][:, 1:].sum(axis=1),
        tangential_damping=part["B"][:, 1:].sum(axis=1) * (item.tangential_damping is not None),
        deformation=part["phi"][:, 1:],
        bias=part["gamma"],
        outer={
            "Jn": OuterRows(force[:, 0], slope[:, 0], w, v),
            "Jt": OuterRows(force[:, 1:].ravel(), slope[:, 1:].ravel(), w, v),
        },
    )


_FIELDS = ("M", "f", "v", "dt")


@dataclass(frozen=True, eq=False)
class Derivative(Result):
    """The derivative of one solved step with respect to all its data."""

    forces: ConstraintForces
    at: Linearised = field(repr=False)

    @property
    def status(self) -> Status:
        """How the step ended."""
        return self.forces.status

    @property
    def margin(self) -> float:
        """How far the nearest change of mode is, as a share of the largest force."""
        return self.at.margin

    @property
    def near_kink(self) -> bool:
        """Whether a mode may change nearby; the derivative is then that of the present modes only."""
        return not self.margin > tolerances.KINK

    def gradient(
        self,
        v: ArrayLike | None = None,
        forces: Sequence[ArrayLike | None] | None = None,
        deformations: Sequence[ArrayLike | None] | None = None,
    ) -> SystemGradient:
        """Gradient of a number from its derivatives by the step's results; one adjoint solve.

        Parameters
        ----------
        v : (nv,), with respect to the velocity after; zero where not given.
        forces : one per constraint, with respect to its forces, shaped like them; None is zero.
        deformations : one per constraint, with respect to the tangential springs' deformations at the end,
            (nc, nt); None is zero.
        """
        system = self.forces.system
        on_v = np.zeros(system.nv) if v is None else real_array("v", v, [(system.nv,)], f"({system.nv},)")
        shapes = [force.shape for force in self.forces.forces]
        on_force = gather(system, _given("forces", forces, shapes))
        springs = [(n[0], n[1] - 1) if len(n) == 2 else (0, 0) for n in shapes]
        stretched, memory = _given("deformations", deformations, springs), np.zeros(len(system.rows))
        for part in system.rows.parts:
            if part.nt:
                memory[part.at[:, 1:]] = stretched[part.index][part.keep]
        return replace(adjoint(system, self.at, on_v, on_force, memory), status=self.status)

    def jacobian(self, wrt: Sequence[str] = ("v", "f"), *, of: str = "v") -> dict[str, Array]:
        """Jacobian of the velocity after ("v"), or of all forces in one row ("forces"), by named data.

        ``wrt``: "M", "f", "v", "dt", or a constraint's name and field, as "contact.mu". Arrays have the
        result's axis first, then those of the data. One adjoint solve for each result.
        """
        choice("of", of, ("v", "forces"))
        found = [[_named(self.forces, gradient, name) for name in wrt] for gradient in self._units(of)]
        return {name: np.array([parts[k] for parts in found]) for k, name in enumerate(wrt)}

    def _units(self, of: str) -> list[SystemGradient]:
        if of == "v":
            return [self.gradient(v=unit) for unit in np.eye(self.forces.system.nv)]
        sizes = [force.size for force in self.forces.forces]
        found = []
        for unit in np.eye(sum(sizes)):
            parts = np.split(unit, np.cumsum(sizes)[:-1])
            shaped = [p.reshape(f.shape) for p, f in zip(parts, self.forces.forces, strict=True)]
            found.append(self.gradient(forces=shaped))
        return found


def differentiate(forces: ConstraintForces) -> Derivative:
    """The derivative of a solved step (the result of `solve`) with respect to everything that it was given.

    Example: ``differentiate(solve(system)).gradient(v=[1.0, 0.0, 0.0]).constraints[0].stiffness`` is the
    slope of the first velocity after the step with the stiffnesses of the first constraint.
    """
    if forces.method != "energy":
        raise InputError("forces", got=f"those of the method {forces.method!r}", wanted="those of `solve`")
    return Derivative(forces, linearise(forces))


def _given(
    field: str, parts: Sequence[ArrayLike | None] | None, shapes: Sequence[tuple[int, ...]]
) -> list[Array]:
    if parts is None:
        return [np.zeros(shape) for shape in shapes]
    if len(parts) != len(shapes):
        raise InputError(field, got=f"{len(parts)} arrays", wanted=f"{len(shapes)}, one per constraint")
    return [
        np.zeros(shape)
        if part is None
        else real_array(f"{field}[{k}]", part, [shape], f"shape {shape}, as the step's")
        for k, (part, shape) in enumerate(zip(parts, shapes, strict=True))
    ]


def _named(forces: ConstraintForces, gradient: SystemGradient, name: str) -> Array:
    if name in _FIELDS:
        return np.asarray(getattr(gradient, name))
    owner, _, part = name.rpartition(".")
    for item, found in zip(forces.system.constraints, gradient.constraints, strict=True):
        if item.name == owner and part in (*found.numbers, *found.outer):
            return np.asarray(getattr(found, part))
    names = ", ".join(repr(item.name) for item in forces.system.constraints)
    raise InputError("wrt", got=repr(name), wanted=f"one of {_FIELDS} or 'constraint.field' of {names}")


# Mass, forces and Jacobians depend smoothly on the state: their derivatives are differences of the model's
# own functions, contracted with what the adjoint solve says that each number is worth. No solve is
# differenced.

#: m or rad, m/s or rad/s: differences of fourth order err by its fourth power, and rounding over it
_STEP = 1e-3
_SHARE = 1e-4  # of a gap, for laws of stiffness: they change within a gap's own size

Function = Callable[[State], ArrayLike]


@dataclass(frozen=True, eq=False)
class StateGradient(Result):
    """Gradient with respect to the state and the inputs of a model.

    Parameters
    ----------
    q : (nv,), for motions of the configuration along each velocity, per m or rad. Where ``nq = nv`` that is
        the derivative with respect to ``q``.
    v : (nv,), the velocity before.
    u : (nu,), the inputs; empty where the model has none, or actuators that act only where they are given.
    status : how the step ended.
    """

    q: Array
    v: Array
    u: Array
    status: Status


def state_gradient(
    model: Model,
    state: State,
    gradient: SystemGradient,
    *,
    dt: float,
    compliance: Compliance = STEEL,
    constraints: Sequence[StateConstraint] = (),
    u: ArrayLike | Function | None = None,
    force: ArrayLike | Function | None = None,
    deformation: ArrayLike | None = None,
) -> StateGradient:
    """The gradient of a step of `from_model` with respect to the state it was taken from.

    Parameters
    ----------
    model, state : as in `from_model`.
    gradient : of the step: ``differentiate(solve(from_model(...))).gradient(...)``.
    dt, compliance, constraints, deformation : as in `from_model`.
    u, force : as in `from_model`, or functions of the state, which are then differentiated too.
    """
    held = compliance.at(model.gaps(state.q))

    def worth(at: State, more: ArrayLike | None = None) -> float:
        inputs = u(at) if callable(u) else u
        if more is not None:
            inputs = np.add(more, 0.0 if inputs is None else inputs)
        pushed = force(at) if callable(force) else force
        options = {"dt": dt, "compliance": held, "constraints": constraints}
        system = from_model(model, at, u=inputs, force=pushed, deformation=deformation, **options)  # type: ignore[arg-type]
        return gradient.along(system)

    units = np.eye(model.nv)

    def moved(k: int, x: float) -> float:
        return worth(State(model.integrate(state.q, units[k], x), state.v, state.t))

    def hastened(k: int, x: float) -> float:
        return worth(State(state.q, state.v + x * units[k], state.t))

    q = slopes(moved, model.nv) + _by_laws(model, state, gradient, compliance)
    inputs = np.eye(0 if u is None and hasattr(model, "step_terms") else input_count(model))
    on_u = slopes(lambda k, x: worth(state, x * inputs[k]), len(inputs))
    return StateGradient(q, slopes(hastened, model.nv) + gradient.v, on_u, gradient.status)


def slopes(function: Callable[[int, float], ArrayLike], count: int) -> Array:
    """``d function(k, x) / dx`` at x = 0 for k = 0 to count - 1, by central differences of fourth order."""
    return np.array([slope_at_zero(partial(function, k), _STEP) for k in range(count)])


def _by_laws(model: Model, state: State, gradient: SystemGradient, compliance: Compliance) -> Array:
    """Gradient through stiffness and damping that are functions of the gaps, (nv,)."""
    contacts = gradient.constraints[0] if model.contacts else None
    if not isinstance(contacts, ContactGradient):
        return np.zeros(model.nv)
    gaps = model.gaps(state.q)
    step = _SHARE * np.maximum(np.abs(gaps), 1e-12)
    worth = np.zeros(len(gaps))
    for law, on_law in ((compliance.stiffness, contacts.stiffness), (compliance.damping, contacts.damping)):
        if callable(law):
            worth += on_law * (law(gaps + step) - law(gaps - step)) / (2.0 * step)
    return worth @ model.jacobians(state.q)[0]
