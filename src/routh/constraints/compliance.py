"""Constraints of one step, from a model at a state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from routh.base.status import InputError
from routh.base.validation import Array, DenseOrSparse, Options
from routh.constraints.system import ConstrainedSystem, SparseMass
from routh.constraints.types import Bilateral, Contact, StateConstraint, Unilateral
from routh.models.base import Model, SpringRows, State
from routh.models.spatial.model import SpatialModel

#: velocities from which on the sparse terms of a model are used, where it has them. On stacks of spheres they
#: are about as fast there as dense ones on one thread; with several threads LAPACK takes ten times as long.
SPARSE_NV = 96
#: m, of the springs that press bounded rows: so little that they hold no energy
PRESSED = 1e-12


@dataclass(frozen=True)
class Compliance:
    """How the contacts of a model yield.

    Parameters
    ----------
    stiffness : K_n in N/m: number, (nc,), or a function of the gaps (nc,) -> (nc,), such as `Hertz.law`.
    damping : B_n in N s/m: number, (nc,), or a function of the gaps.
    tangential_stiffness : K_r in N/m; above zero, friction has springs with memory.
    tangential_damping : B_r in N s/m; None is D19's ``1e6 / dt``.
    anticipate : whether contacts act that would close within the step, as bodies that fall need. False is
        D19's rule: they sink in by up to their speed times the step, and are thrown out in the next; see
        `Contact`.
    """

    stiffness: ArrayLike | Callable[[Array], Array] = 1e10
    damping: ArrayLike | Callable[[Array], Array] = 1.0
    tangential_stiffness: ArrayLike = 0.0
    tangential_damping: ArrayLike | None = None
    anticipate: bool = True

    @property
    def remembers(self) -> bool:
        """Whether friction has springs."""
        return bool(np.max(self.tangential_stiffness) > 0.0)

    def at(self, gaps: Array) -> Compliance:
        """The same with its laws replaced by their values at gaps (nc,) m."""
        K, B = self.stiffness, self.damping
        if not (callable(K) or callable(B)):
            return self
        return replace(self, stiffness=K(gaps) if callable(K) else K, damping=B(gaps) if callable(B) else B)


STEEL = Compliance()


def from_model(
    model: Model,
    state: State,
    *,
    dt: float,
    compliance: Compliance = STEEL,
    constraints: Sequence[StateConstraint] = (),
    u: ArrayLike | None = None,
    force: ArrayLike | None = None,
    deformation: ArrayLike | None = None,
    earlier: ConstrainedSystem | None = None,
) -> ConstrainedSystem:
    """The step of a model from a state: its contacts, its own spring-dampers, then the given constraints.

    Parameters
    ----------
    model : what moves.
    state : from where.
    dt : the step, s.
    compliance : of the model's contacts.
    constraints : joints and limits by constraint, foundations.
    u : inputs of the model.
    force : (nv,), further generalised forces.
    deformation : (nc, nt), of the tangential springs.
    earlier : a system of the same model, whose factored mass matrix is taken where the mass is the same.
    """
    own: list[SpringRows] = []
    if hasattr(model, "step_terms"):  # a `SpringyModel`; asking for the protocol takes ten times as long
        f, own = model.step_terms(state, dt, u)
    else:
        f = -model.bias(state.q, state.v, u)
    f = sum((rows.constant @ rows.G for rows in own if rows.constant is not None), start=f)
    if force is not None:
        f = f + np.asarray(force, dtype=np.float64)
    mass, jacobians = model.mass, model.jacobians
    if model.nv >= SPARSE_NV and isinstance(model, SpatialModel):
        mass, jacobians = model.sparse_mass, model.sparse_jacobians
    rows: list[Contact | Bilateral | Unilateral] = []
    if model.contacts:
        gaps = model.gaps(state.q)
        if hasattr(model, "by_faces"):  # whose rows are among the model's own
            gaps = np.where(model.by_faces, np.maximum(gaps, 1.0), gaps)
        Jn, Jt = jacobians(state.q)
        mu, bias = [info.mu for info in model.contacts], model.jacobian_bias(state.q, state.v)
        yields: Options = vars(compliance.at(gaps))
        also: Options = {"deformation": deformation, "nt": model.nt, "name": "contacts"}
        rows.append(Contact(Jn, Jt, gaps, mu=mu, bias=bias, **yields, **also))
    rows += [_of_model(spring, model.nt, compliance) for spring in own]
    rows += [constraint.at(state) for constraint in constraints]
    return ConstrainedSystem(_reused(mass(state.q), earlier), f, state.v, rows, dt)


def _of_model(rows: SpringRows, nt: int, compliance: Compliance) -> Bilateral | Unilateral | Contact:
    """A model's own spring-dampers as constraints.

    Bounded ones are the friction of contacts that nothing moves, pressed by as much as they may push.
    """
    if rows.kind == "contacts":
        for field in ("stiffness", "damping", "tangential_damping"):
            given = getattr(compliance, field)
            if not callable(given) and np.ndim(given):
                raise InputError(
                    f"compliance.{field}",
                    got="one number per contact",
                    wanted=(
                        f"one for all or a function of the gaps, since contacts of flat shapes "
                        f"({rows.name!r}) come and go"
                    ),
                )
        yields: Options = vars(replace(compliance.at(rows.phi), tangential_stiffness=0.0))
        return Contact(rows.G, rows.tangents, rows.phi, mu=rows.limit, **yields, name=rows.name)  # type: ignore[arg-type]
    if rows.kind != "bounded":
        make = Bilateral if rows.kind == "both ways" else Unilateral
        springs: Options = {"stiffness": rows.stiffness, "damping": rows.damping, "bias": rows.bias}
        return make(rows.G, rows.phi, **springs, name=rows.name)
    n, nv = rows.G.shape
    limit = np.zeros(n) if rows.limit is None else rows.limit
    Jt, deformation, bias = np.zeros((n, nt, nv)), np.zeros((n, nt)), np.zeros((n, 1 + nt))
    Jt[:, 0], deformation[:, 0], bias[:, 1] = rows.G, rows.phi, rows.bias
    return Contact(
        np.zeros((n, nv)),
        Jt,
        np.full(n, -PRESSED),
        mu=1.0,
        stiffness=limit / PRESSED,
        tangential_stiffness=rows.stiffness,
        tangential_damping=rows.damping,
        deformation=deformation,
        bias=bias,
        name=rows.name,
    )


def _reused(mass: DenseOrSparse, earlier: ConstrainedSystem | None) -> DenseOrSparse:
    if earlier is None:
        return mass
    if isinstance(earlier.mass, SparseMass):
        return earlier.mass if mass is earlier.mass.given else mass
    return earlier.mass if np.array_equal(mass, earlier.mass.M) else mass
