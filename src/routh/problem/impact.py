"""One impact as data: mass matrix, contact Jacobians, friction and the velocity before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from routh.base import tolerances
from routh.base.results import Drawable, ImpactPath, PathKind
from routh.base.status import InputError, no_such
from routh.base.storage import MAX_BYTES, read_arrays, write_arrays
from routh.base.text import for_terminal, listed, toucher
from routh.base.validation import Array, choice, frozen, per_contact, real_array

#: What restitution is a ratio of: energy (Stronge), impulse, velocity.
ENERGETIC, POISSON, NEWTON = HYPOTHESES = ("energetic", "poisson", "newton")
#: how outcomes of an impact are drawn, see `routh.sample`
METHODS = ("events", "algorithm1")

LARGEST_NUMBER = 1e60  # of M, Jn, Jt, mu and v, in any units
SMALLEST_NUMBER = 1e-60  # of the diagonal of M, and of the largest entry of a row of Jn
SMALLEST_SPEED = 1e-250  # of the largest entry of v, unless all are zero
_FORMAT = 1  # of the files that `ImpactProblem.save` writes
_TOLD = 4  # contacts that a repr names
FIELDS = ("M", "Jn", "Jt", "mu", "v", "restitution")


@dataclass(frozen=True)
class Scaling:
    """Units in which a problem's contact velocities and impulses are of order one.

    ``speed = |v|_M`` (sqrt of joule) and the effective normal mass ``m_i = 1 / (Jn_i M^-1 Jn_i^T)`` of
    each contact give a velocity unit ``speed / sqrt(m_i)`` and an impulse unit ``speed * sqrt(m_i)``.
    The same unit serves the normal and the tangential directions of a contact, so friction cones keep
    their shape, and in these units the Delassus matrix has a unit normal diagonal.
    """

    speed: float  # sqrt(J); 1 where the velocity is zero
    mass: Array  # (nc,) kg

    @cached_property
    def velocity(self) -> Array:
        """Velocity unit of each contact, (nc,) m/s."""
        return self.speed / np.sqrt(self.mass)

    @cached_property
    def impulse(self) -> Array:
        """Impulse unit of each contact, (nc,) N s."""
        return self.speed * np.sqrt(self.mass)


@dataclass(frozen=True, eq=False, init=False, repr=False)
class ImpactProblem(Drawable):
    """The matrices of one impact, validated and frozen.

    Parameters
    ----------
    M : (nv, nv), symmetric positive definite mass matrix.
    Jn : (nc, nv), contact normals: ``Jn @ v < 0`` is approach.
    Jt : (nc, nt, nv), contact tangents; ``nt`` is 1 in the plane and 2 in space. (nc, nv) means ``nt = 1``.
    mu : number or (nc,), Coulomb friction, >= 0.
    v : (nv,), velocity before the impact.
    restitution : number or (nc,), in [0, 1].
    names : one distinct name per contact.
    soon : name -> s, contacts that take no part although they close soon: those within three windows, where a
        model made the problem. It changes nothing but what is said.
    """

    M: Array
    Jn: Array
    Jt: Array
    mu: Array
    v: Array
    restitution: Array
    names: tuple[str, ...]
    soon: Mapping[str, float]

    def __init__(
        self,
        M: ArrayLike,
        Jn: ArrayLike,
        Jt: ArrayLike,
        mu: ArrayLike,
        v: ArrayLike,
        *,
        restitution: ArrayLike = 0.0,
        names: Sequence[str] | None = None,
        soon: Mapping[str, float] | None = None,
    ) -> None:
        mass, factor = _mass_matrix(M)
        nv = len(mass)
        normals = real_array("Jn", Jn, [(None, nv)], f"shape (nc, {nv})")
        nc = len(normals)
        if nc == 0:
            raise InputError("Jn", got="no rows", wanted="at least one contact")
        # for some numbers lists are faster than arrays
        moved = [max(map(abs, row)) >= SMALLEST_NUMBER for row in normals.tolist()]
        if not all(moved):
            raise InputError(
                "Jn",
                wrong=f"row {moved.index(False)} is zero",
                wanted=(
                    f"a normal along which something moves, with an entry of at least {SMALLEST_NUMBER:g}"
                ),
            )
        shapes = [(nc, nv), (nc, 1, nv), (nc, 2, nv)]
        wanted = f"shape ({nc}, {nv}) or ({nc}, nt, {nv}) with nt 1 or 2"
        tangents = real_array("Jt", Jt, shapes, wanted).reshape(nc, -1, nv)
        friction = per_contact("mu", mu, nc)
        if not min(friction.tolist()) >= 0.0:
            raise InputError("mu", got=friction.min(), wanted="friction coefficients >= 0")
        elasticity = per_contact("restitution", restitution, nc)
        if not all(0.0 <= e <= 1.0 for e in elasticity.tolist()):
            bad = elasticity[(elasticity < 0.0) | (elasticity > 1.0)][0]
            raise InputError("restitution", got=bad, wanted="coefficients between 0 and 1")
        velocity = real_array("v", v, [(nv,)])
        for field, array in (("Jn", normals), ("Jt", tangents), ("mu", friction), ("v", velocity)):
            _refuse_huge(field, array)
        fastest = max(map(abs, velocity.tolist()))
        if not (fastest == 0.0 or fastest >= SMALLEST_SPEED):
            raise InputError(
                "v", wrong=f"its largest entry is {fastest:g}", wanted=f"zero, or at least {SMALLEST_SPEED:g}"
            )

        values = mass, normals, tangents, friction, velocity, elasticity, factor
        for name, array in zip((*FIELDS, "_factor"), values, strict=True):
            object.__setattr__(self, name, frozen(array))
        object.__setattr__(self, "names", contact_names(names, nc))
        object.__setattr__(self, "soon", dict(soon or {}))

    def _adopt(self, other: ImpactProblem) -> None:
        """Take over the fields of a problem, which were checked when it was made."""
        for name in (*FIELDS, "names", "soon", "_factor"):
            object.__setattr__(self, name, other.__dict__[name])

    def __setstate__(self, state: dict[str, object]) -> None:
        """Arrays come writable out of a pickle; a problem's are frozen."""
        for name, value in state.items():
            object.__setattr__(self, name, frozen(value) if isinstance(value, np.ndarray) else value)

    @property
    def nv(self) -> int:
        """Number of generalized velocities."""
        return len(self.M)

    @property
    def nc(self) -> int:
        """Number of contacts."""
        return len(self.Jn)

    @property
    def nt(self) -> int:
        """Tangential directions per contact: 1 in the plane, 2 in space."""
        return self.Jt.shape[1]

    @property
    def velocity_units(self) -> tuple[str, ...]:
        """Units of the contact velocities, (nc,): "m/s"."""
        return ("m/s",) * self.nc

    @cached_property
    def J(self) -> Array:
        """Contact Jacobians with the normal first, (nc, 1 + nt, nv)."""
        return frozen(np.concatenate([self.Jn[:, None, :], self.Jt], axis=1))

    @cached_property
    def impulse_columns(self) -> Array:
        """``L^-1 J^T``: what unit impulses do where the energy norm is Euclidean, (nv, nc (1 + nt))."""
        # LAPACK's solver for triangular matrices wakes threads even for tiny ones, the general one does not
        return frozen(np.asarray(np.linalg.solve(self.cholesky, self.J.reshape(-1, self.nv).T)))

    @cached_property
    def delassus(self) -> Array:
        """``J M^-1 J^T`` in 1/kg, (nc (1 + nt), nc (1 + nt)), contact by contact with the normal first."""
        return frozen(self.impulse_columns.T @ self.impulse_columns)

    @cached_property
    def response(self) -> Array:
        """``M^-1 J^T``: velocity change per unit impulse, (nv, nc (1 + nt))."""
        return frozen(self.solve_mass(self.J.reshape(-1, self.nv).T))

    @cached_property
    def scaling(self) -> Scaling:
        """The problem's own units, see `Scaling`."""
        normal_diagonal = np.diag(self.delassus)[:: 1 + self.nt]
        speed = self.speed
        return Scaling(speed if speed > 0.0 else 1.0, frozen(1.0 / normal_diagonal))

    @property
    def speed(self) -> float:
        """``|v|_M = sqrt(v^T M v)``, the speed before in the kinetic-energy norm, sqrt(J)."""
        rates = self.cholesky.T @ self.v
        unit = float(np.abs(rates).max())
        if unit > 1e-100:
            return float(np.linalg.norm(rates))
        return unit * float(np.linalg.norm(rates / unit)) if unit else 0.0  # squares would vanish

    @property
    def approaching(self) -> np.ndarray:
        """Contacts with ``Jn v < 0`` beyond rounding, (nc,) bool."""
        return self.Jn @ self.v < -tolerances.APPROACH * self.scaling.velocity

    def solve_mass(self, momentum: ArrayLike) -> Array:
        """``M^-1 momentum`` for (nv,) or (nv, k)."""
        half = np.linalg.solve(self.cholesky, np.asarray(momentum, dtype=np.float64))
        return np.asarray(np.linalg.solve(self.cholesky.T, half))

    def contact_velocity(self, v: ArrayLike | None = None) -> Array:
        """Contact velocities ``J v``, normal first: (..., nc, 1 + nt) for v (..., nv); default: before."""
        velocity = self.v if v is None else np.asarray(v, dtype=np.float64)
        flat = velocity @ self.J.reshape(-1, self.nv).T
        return np.asarray(flat.reshape(*velocity.shape[:-1], self.nc, 1 + self.nt))

    @overload
    def kinetic_energy(self, v: None = None) -> float: ...
    @overload
    def kinetic_energy(self, v: ArrayLike) -> Array: ...
    def kinetic_energy(self, v: ArrayLike | None = None) -> float | Array:
        """``v^T M v / 2`` in joule for v (..., nv); default: before."""
        velocity = self.v if v is None else np.asarray(v, dtype=np.float64)
        turned = velocity @ self.cholesky
        return 0.5 * np.einsum("...i,...i->...", turned, turned)

    def apply(self, impulse: ArrayLike, v: ArrayLike | None = None) -> Array:
        """Velocity after contact impulses (..., nc, 1 + nt), normal first: ``v + M^-1 J^T impulse``."""
        velocity = self.v if v is None else np.asarray(v, dtype=np.float64)
        given = np.asarray(impulse, dtype=np.float64)
        if given.shape[-2:] != (self.nc, 1 + self.nt):
            raise InputError("impulse", got=f"shape {given.shape}", wanted=f"(..., {self.nc}, {1 + self.nt})")
        flat = given.reshape(*given.shape[:-2], self.nc * (1 + self.nt))
        return velocity + flat @ self.response.T

    def path(self, impulses: Array, kind: PathKind = PathKind.TOTAL) -> ImpactPath:
        """Path from the velocity before through impulses (k, nc, 1 + nt), one after the other."""
        grown = np.concatenate([np.zeros((1, *impulses.shape[1:])), np.cumsum(impulses, axis=0)])
        return ImpactPath(self.apply(grown), impulses, kind)

    def index(self, contact: int | str) -> int:
        """The index of a contact given by index or by name."""
        if isinstance(contact, str):
            return self.names.index(choice("contact", contact, self.names))
        whole = isinstance(contact, (int, np.integer)) and not isinstance(contact, bool)
        if not whole or not 0 <= contact < self.nc:
            raise InputError(
                "contact", got=repr(contact), wanted=f"a name or an index from 0 to {self.nc - 1}"
            )
        return int(contact)

    def replace(self, **changes: Any) -> ImpactProblem:
        """A new problem with some fields changed; the rest is kept."""
        fields = sorted({*FIELDS, "names", "soon"})
        unknown = sorted(set(changes).difference(fields))
        if unknown:
            raise no_such("replace", unknown[0], fields)
        if "v" in changes:
            changes = {"soon": None, **changes}  # what closes when is no longer known
        return ImpactProblem(**{name: changes.get(name, getattr(self, name)) for name in fields})

    def subset(self, contacts: Sequence[int | str]) -> ImpactProblem:
        """The same bodies with only some of the contacts, in the order given."""
        rows = [self.index(contact) for contact in contacts]
        kept = {name: getattr(self, name)[rows] for name in ("Jn", "Jt", "mu", "restitution")}
        return self.replace(**kept, names=[self.names[row] for row in rows])

    def save(self, path: str | Path) -> None:
        """Write the fields to an ``.npz`` file, readable without pickle."""
        arrays = {name: getattr(self, name) for name in FIELDS}
        write_arrays(path, {"format": _FORMAT, "names": np.array(self.names), **arrays})

    @classmethod
    def load(cls, path: str | Path, *, max_bytes: int = MAX_BYTES) -> ImpactProblem:
        """Read M, Jn, Jt, mu and v (and restitution and names where present) from an ``.npz`` file.

        ``max_bytes`` is the most that its arrays may need unpacked; a ValueError names the file.
        """
        wanted = FIELDS[:5]
        data = read_arrays(path, wanted, optional=("restitution", "names", "format"), max_bytes=max_bytes)
        try:
            if "format" in data and not np.array_equal(data["format"], _FORMAT):  # your own arrays have none
                raise InputError(
                    "format", got=data["format"], wanted=f"{_FORMAT}, or a later version of routh"
                )
            names = _names_from(data["names"]) if "names" in data else None
            fields = (data[name] for name in wanted)
            return cls(*fields, restitution=data.get("restitution", 0.0), names=names)
        except ValueError as error:
            raise InputError(for_terminal(path), wrong=error) from None

    def __repr__(self) -> str:
        space = "planar" if self.nt == 1 else "spatial"
        names = ", ".join(self.names[:_TOLD]) + (f", ... {self.nc} in all" if self.nc > _TOLD else "")
        return f"ImpactProblem({space}, nv={self.nv}, contacts={for_terminal(names)})"

    def _sentences(self) -> list[str]:
        closing = int(np.count_nonzero(self.approaching))
        if not closing:
            return ["No contact approaches: this is no impact."]
        return [
            f"{closing} of {self.nc} contacts approach{'es' if closing == 1 else ''}.",
            *soon_sentence(self.soon),
            "How ambiguous is it? routh.sample(problem, 1000) answers.",
        ]

    def _facts(self) -> list[tuple[object, ...]]:
        rows: list[tuple[object, ...]] = [("contact", "normal velocity", "friction", "restitution")]
        normal = self.Jn @ self.v
        for k, (name, unit) in enumerate(zip(self.names, self.velocity_units, strict=True)):
            rows.append((name, f"{normal[k]:.4g} {unit}", f"{self.mu[k]:g}", f"{self.restitution[k]:g}"))
        return rows

    @property
    def cholesky(self) -> Array:
        """Lower factor L of ``M = L L^T``, (nv, nv)."""
        return self.__dict__["_factor"]


def soon_sentence(soon: Mapping[str, float]) -> list[str]:
    """A sentence that names what closes too late to take part, name -> s; none where nothing does."""
    if not soon:
        return []
    times: dict[str, list[float]] = {}
    for name, time in sorted(soon.items(), key=lambda item: item[1]):
        times.setdefault(toucher(name), []).append(time)
    parts = []
    for name, each in times.items():
        many = f"{len(each)} contacts, " if len(each) > 1 else ""
        parts.append(f"{for_terminal(name)} ({many}in {each[0] * 1e3:.3g} ms)")
    return [f"Closing soon, but not counted: {listed(parts, _TOLD)}; a longer window counts them."]


def _names_from(array: np.ndarray) -> list[str]:
    """Contact names read from a file; raises for anything but a list of text."""
    if array.ndim != 1 or array.dtype.kind != "U":
        raise InputError("names", got=f"shape {array.shape} of {array.dtype}", wanted="a list of text")
    return [str(name) for name in array]


def _refuse_huge(field: str, array: Array) -> None:
    """Products of numbers that are too large overflow, and then nothing that is said of them is true."""
    largest = float(np.abs(array).max(initial=0.0))
    if not largest <= LARGEST_NUMBER:
        raise InputError(field, got=f"{largest:g}", wanted=f"numbers of at most {LARGEST_NUMBER:g}")


def _mass_matrix(M: ArrayLike) -> tuple[Array, Array]:
    """The validated mass matrix and its lower Cholesky factor."""
    mass = real_array("M", M, [(None, None)], "shape (nv, nv)")
    nv = len(mass)
    if mass.shape != (nv, nv) or nv == 0:
        raise InputError("M", got=f"shape {mass.shape}", wanted="a square matrix (nv, nv) with nv >= 1")
    _refuse_huge("M", mass)
    least = min(map(abs, mass.diagonal().tolist()))
    if 0.0 < least < SMALLEST_NUMBER:
        raise InputError(
            "M", got=f"{least:g} on its diagonal", wanted=f"masses of at least {SMALLEST_NUMBER:g}"
        )
    if mass.tobytes("C") != mass.tobytes("F"):
        asymmetry = np.abs(mass - mass.T).max()
        if not asymmetry <= tolerances.SYMMETRY * np.abs(mass).max():
            raise InputError(
                "M", wrong=f"differs from its transpose by {asymmetry:g}", wanted="a symmetric matrix"
            )
        mass = 0.5 * (mass + mass.T)
    try:
        factor: Array = np.asarray(np.linalg.cholesky(mass), dtype=np.float64)
    except np.linalg.LinAlgError:
        smallest = float(np.linalg.eigvalsh(mass)[0])
        raise InputError(
            "M", wrong=f"smallest eigenvalue is {smallest:g}", wanted="a positive definite matrix"
        ) from None
    left = factor.diagonal() ** 2 / mass.diagonal()
    if not left.min() >= tolerances.INERTIA_LEFT:
        j = int(left.argmin())
        raise InputError(
            "M",
            wrong=(
                f"coordinate {j} has {left[j]:.2g} of its inertia left where those before it "
                "move freely, so rounding decides"
            ),
            wanted=f"at least {tolerances.INERTIA_LEFT:g} (links without inertia?)",
        )
    return mass, factor


def no_impact(given: object, wanted: str = "an ImpactProblem") -> ValueError:
    """What to raise where something else was given as a problem: a system or a landing, which have one."""
    got = type(given).__name__
    hint = (
        f" (the {got}'s .problem is one)"
        if isinstance(getattr(given, "problem", None), ImpactProblem)
        else ""
    )
    return InputError("problem", got=got, wanted=f"{wanted}{hint}")


def contact_names(names: Sequence[str] | None, nc: int) -> tuple[str, ...]:
    """One distinct name for each of nc contacts; None: by their numbers."""
    if names is None:
        return tuple(f"contact-{i}" for i in range(nc))
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise InputError("names", got=repr(names), wanted=f"a sequence of {nc} strings")
    if len(names) != nc:
        raise InputError("names", got=f"{len(names)} names", wanted=f"{nc}, one per contact")
    unkept = next((name for name in names if "\0" in name), None)
    if unkept is not None:
        raise InputError("names", got=repr(unkept), wanted="names without NUL, which files do not keep")
    if len(set(names)) != nc:
        twice = next(name for name in names if list(names).count(name) > 1)
        raise InputError("names", wrong=f"{twice!r} appears twice", wanted="distinct names")
    return tuple(names)
