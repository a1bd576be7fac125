"""Derivatives of a constrained step by the implicit function theorem on the rows that act."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from routh import tolerances
from routh.constraints.adjoint import adjoint
from routh.constraints.forces import ConstraintForces, gather
from routh.constraints.linearised import Linearised, linearise
from routh.constraints.system_gradient import SystemGradient
from routh.validation import Array, choice, real_array

_FIELDS = ("M", "f", "v", "dt")


@dataclass(frozen=True, eq=False)
class Derivative:
    """The derivative of one solved step with respect to all its data."""

    forces: ConstraintForces
    at: Linearised = field(repr=False)

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
        """Of a number whose derivatives with respect to the step's results are given; one adjoint solve.

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
        return adjoint(system, self.at, on_v, on_force, memory)

    def jacobian(self, wrt: Sequence[str] = ("v", "f"), *, of: str = "v") -> dict[str, Array]:
        """Of the velocity after ("v"), or of all forces in one row ("forces"), with respect to named data.

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
        raise ValueError(f"forces: got those of the method {forces.method!r}; wanted those of `solve`")
    return Derivative(forces, linearise(forces))


def _given(
    field: str, parts: Sequence[ArrayLike | None] | None, shapes: Sequence[tuple[int, ...]]
) -> list[Array]:
    if parts is None:
        return [np.zeros(shape) for shape in shapes]
    if len(parts) != len(shapes):
        raise ValueError(f"{field}: got {len(parts)} arrays; wanted {len(shapes)}, one per constraint")
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
    raise ValueError(f"wrt: got {name!r}; wanted one of {_FIELDS} or 'constraint.field' of {names}")
