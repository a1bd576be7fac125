"""Many impacts as data: padded arrays with a leading axis, validated once, frozen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self, overload

import numpy as np
from numpy.typing import ArrayLike

from routh.base import features, tolerances
from routh.base.status import InputError, Status
from routh.base.storage import Stored
from routh.base.validation import Array, Options, frozen, integer, real_array
from routh.compiling.foreign import Foreign
from routh.problem.impact import FIELDS, SMALLEST_NUMBER, SMALLEST_SPEED, ImpactProblem, contact_names

if TYPE_CHECKING:
    from routh.problem.rows import Problems

CUDA = 2  # the kind of a device in DLPack that is an NVIDIA GPU
_ARRAYS = (*FIELDS, "present", "size")
_WRONG = {  # what `routh.problem.rows.check` found: the field, and what was wanted of it
    1: ("M, Jn, Jt, mu, restitution or v", "holds a number that is not finite; wanted finite numbers"),
    2: ("M", "differs from its transpose; wanted a symmetric matrix"),
    3: ("M", "is not positive definite, or only by rounding; wanted a positive definite matrix"),
    4: ("Jn", "has a row of zeros; wanted a nonzero normal for every contact"),
    5: ("mu", "is negative; wanted friction coefficients >= 0"),
    6: ("restitution", "lies outside 0 to 1; wanted coefficients between 0 and 1"),
    7: ("M", f"has a tiny diagonal; wanted masses of at least {SMALLEST_NUMBER:g}"),
    8: ("v", f"is tiny; wanted zero, or at least {SMALLEST_SPEED:g}"),
}


@dataclass(frozen=True, eq=False, init=False, repr=False)
class ImpactBatch(Stored):
    """``n`` impacts, each with its own matrices and any number of contacts up to ``nc``.

    Row ``k`` on its own is ``batch[k]``, an `ImpactProblem` of the contacts that are present. A row in which
    there is nothing to solve says so in ``status``, and is no error.

    Arrays of a GPU (float64, of PyTorch, CuPy, JAX or ``outcomes.on_gpu``) stay there: they are checked
    there, ``routh.sample(batch, n, device="cuda")`` reads them where they are, and a field is copied to the
    host when it is first asked for. They must not be changed while the batch is in use.

    Parameters
    ----------
    M : (n, nv, nv) mass matrices, or (nv, nv) for all.
    Jn : (n, nc, nv) contact normals, or (nc, nv) for all: ``Jn @ v < 0`` is approach.
    Jt : (n, nc, nt, nv) contact tangents, or (nc, nt, nv) for all; ``nt`` is 1 in the plane and 2 in space.
    mu : number, (nc,) or (n, nc), Coulomb friction, >= 0.
    v : (n, nv), velocities before the impacts.
    present : (n, nc) bool: contacts that there are; default all. What stands where there is none is ignored.
    restitution : number, (nc,) or (n, nc), in [0, 1].
    names : one distinct name per contact, the same in all rows.
    """

    M: Array
    Jn: Array
    Jt: Array
    mu: Array
    v: Array
    restitution: Array
    present: np.ndarray  # (n, nc) bool
    size: np.ndarray  # (n, 3) int32: velocities, contacts and tangents of each row; the rest is padding
    status: np.ndarray  # (n,) int8: SOLVED where there is an impact to solve, NO_IMPACT, NO_CONTACT, REFUSED
    reasons: dict[int, str]  # row -> why it is REFUSED

    _kind: ClassVar = "batch"
    #: What has an entry for each row.
    _PER_ROW: ClassVar[tuple[str, ...]] = (*_ARRAYS, "status", "_problems", "_row_names")

    def __init__(
        self,
        M: ArrayLike,
        Jn: ArrayLike,
        Jt: ArrayLike,
        mu: ArrayLike,
        v: ArrayLike,
        *,
        present: ArrayLike | None = None,
        restitution: ArrayLike = 0.0,
        names: Sequence[str] | None = None,
    ) -> None:
        if any(map(_is_on_gpu, (M, Jn, Jt, mu, v, restitution))):
            given = {"M": M, "Jn": Jn, "Jt": Jt, "mu": mu, "v": v, "restitution": restitution}
            features.device("cuda").fill_batch(self, given, present)
            object.__setattr__(self, "_names", contact_names(names, self.nc))
            return
        arrays = _checked_arrays(M, Jn, Jt, mu, v, restitution)
        n, nc, nt, nv = arrays["Jt"].shape
        there = mask_of(present, n, nc)
        size = np.empty((n, 3), dtype=np.int32)
        size[:] = nv, 0, nt
        size[:, 1] = there.sum(axis=1)
        arrays |= {"present": there, "size": size}
        self._fill(arrays, np.zeros(n, dtype=np.int8), {})
        object.__setattr__(self, "_names", contact_names(names, nc))

    @classmethod
    def from_problems(cls, problems: Sequence[ImpactProblem | None]) -> Self:
        """Problems of any sizes, padded; None stands for a state in which nothing touches."""
        given = tuple(problems)
        for place, problem in enumerate(given):
            if problem is not None and not isinstance(problem, ImpactProblem):
                got = f"{type(problem).__name__} at index {place}"
                raise InputError("problems", got=got, wanted="ImpactProblem or None")
        batch = cls._from_parts(padded(given), {})
        object.__setattr__(batch, "_problems", given)
        return batch

    @classmethod
    def _from_parts(cls, arrays: dict[str, np.ndarray], reasons: dict[int, str]) -> Self:
        """Arrays that are the batch's own from now on; ``reasons`` says which rows are refused, and why."""
        batch = cls.__new__(cls)
        status = np.zeros(len(arrays["v"]), dtype=np.int8)
        status[list(reasons)] = Status.REFUSED
        batch._fill(arrays, status, reasons)
        return batch

    def _fill(self, arrays: dict[str, np.ndarray], status: np.ndarray, reasons: dict[int, str]) -> None:
        from routh.problem.rows import check, scratch  # loads LLVM

        for name in _ARRAYS:
            object.__setattr__(self, name, frozen(arrays[name]))
        refused, alone = status == Status.REFUSED, self.size[:, 1] == 0
        found, approaching = np.zeros(len(self), np.int8), np.zeros(len(self), np.int32)
        rows, allowed = self.arrays, (tolerances.SYMMETRY, tolerances.APPROACH)
        check(rows, refused | alone, allowed, scratch(rows), found, approaching)
        refuse_wrong(found)
        status[~refused & (approaching == 0)] = Status.NO_IMPACT
        status[~refused & alone] = Status.NO_CONTACT
        object.__setattr__(self, "status", frozen(status))
        object.__setattr__(self, "reasons", reasons)

    def __getattr__(self, name: str) -> Foreign:
        """A field that is still on the GPU, as a copy."""
        there = self.__dict__.get("_on_gpu")
        if name == "bounces":
            return np.any((self.restitution > 0.0) & self.present, axis=1)
        if there is None or name not in _ARRAYS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        array = getattr(there, name).numpy()
        object.__setattr__(self, name, frozen(array))
        return array

    @property
    def on_gpu(self) -> Problems | None:
        """The fields where they are arrays of a GPU; None where they came from the host."""
        found: Problems | None = self.__dict__.get("_on_gpu")
        return found

    @property
    def arrays(self) -> Problems:
        """What the compiled code reads: the fields as one named tuple."""
        from routh.problem.rows import Problems

        return Problems(self.M, self.Jn, self.Jt, self.mu, self.restitution, self.v, self.present, self.size)

    def __len__(self) -> int:
        return len(self._held.v)

    @property
    def _held(self) -> Self | Problems:
        """What has the fields, wherever they are."""
        return self.on_gpu or self

    @property
    def nv(self) -> int:
        """Largest number of generalized velocities of a row."""
        return self._held.v.shape[1]

    @property
    def nc(self) -> int:
        """Largest number of contacts of a row, those that are not present counted."""
        return self._held.mu.shape[1]

    @property
    def nt(self) -> int:
        """Largest number of tangential directions of a row."""
        return self._held.Jt.shape[2]

    def names_of(self, row: int) -> tuple[str, ...]:
        """The names of the contacts that are present in a row."""
        known = self.__dict__.get("_problems")
        if known is not None:
            problem = known[row]
            return () if problem is None else problem.names
        kept = self.__dict__.get("_row_names")
        if kept is not None:
            found: tuple[str, ...] = kept[row]
            return found
        return tuple(self.__dict__["_names"][i] for i in np.flatnonzero(self.present[row]))

    def reason(self, row: int) -> str:
        """Why there is nothing to solve in a row; empty where there is an impact."""
        status = Status(int(self.status[row]))
        return "" if status is Status.SOLVED else self.reasons.get(int(row), status.sentence)

    @overload
    def __getitem__(self, row: int) -> ImpactProblem: ...
    @overload
    def __getitem__(self, row: slice | np.ndarray | list[int]) -> Self: ...
    def __getitem__(self, row: int | slice | np.ndarray | list[int]) -> ImpactProblem | Self:
        """Row ``k`` as an `ImpactProblem`; a slice or an array of rows as a batch."""
        if isinstance(row, (slice, np.ndarray, list)):
            return self.take(np.arange(len(self))[row])
        k = integer("row", row, at_least=-len(self), at_most=len(self) - 1) % max(len(self), 1)
        if self.status[k] in (Status.NO_CONTACT, Status.REFUSED):
            raise InputError(wrong=f"row {k} is not an impact problem: {self.reason(k)}")
        return self._problem(k)

    def _problem(self, k: int) -> ImpactProblem:
        known = self.__dict__.get("_problems")
        if known is not None:
            problem: ImpactProblem = known[k]
            return problem
        nv, _, nt = self.size[k]
        there = np.flatnonzero(self.present[k])
        return ImpactProblem(
            self.M[k, :nv, :nv],
            self.Jn[k, there, :nv],
            self.Jt[k, there, :nt, :nv],
            self.mu[k, there],
            self.v[k, :nv],
            restitution=self.restitution[k, there],
            names=self.names_of(k),
        )

    def take(self, rows: ArrayLike) -> Self:
        """The batch of some rows, in the order given."""
        chosen = np.asarray(rows, dtype=np.int64).reshape(-1)
        batch = object.__new__(type(self))
        fields = {name: getattr(self, name) for name in _ARRAYS} if self.on_gpu else {}
        kept = {name: value for name, value in self.__dict__.items() if name not in ("_on_gpu", "bounces")}
        for name, value in (kept | fields).items():
            if name in self._PER_ROW and isinstance(value, np.ndarray):
                value = frozen(value[chosen])
            elif name in self._PER_ROW and value is not None:
                value = tuple(value[int(row)] for row in chosen)
            object.__setattr__(batch, name, value)
        renumbered = {k: self.reasons[int(row)] for k, row in enumerate(chosen) if int(row) in self.reasons}
        object.__setattr__(batch, "reasons", renumbered)
        return batch

    def parts(self) -> tuple[Options, dict[str, np.ndarray]]:
        """What a file keeps of it: numbers and names; not the models that it came from."""
        names = [self.names_of(row) for row in range(len(self))]
        reasons = [[int(row), text] for row, text in self.reasons.items()]
        return {"names": names, "reasons": reasons}, {name: getattr(self, name) for name in _ARRAYS}

    @classmethod
    def of_parts(cls, told: Options, arrays: dict[str, np.ndarray]) -> ImpactBatch:
        """The batch of `parts`, checked like one that is given by hand."""
        _check_shapes(arrays)
        reasons = {int(row): str(text) for row, text in told["reasons"]}
        names = tuple(tuple(map(str, row)) for row in told["names"])
        n = len(arrays["v"])
        if not all(0 <= row < n for row in reasons):
            raise InputError("reasons", got=f"row {max(reasons)}", wanted=f"rows below {n}")
        if [len(row) for row in names] != arrays["present"].sum(axis=1).tolist():
            raise InputError(
                "names", wrong="there are not as many as contacts", wanted="one for each contact"
            )
        batch = ImpactBatch._from_parts({name: arrays[name] for name in _ARRAYS}, reasons)
        object.__setattr__(batch, "_row_names", names)
        return batch

    def __repr__(self) -> str:
        each = zip(*np.unique(self.status, return_counts=True), strict=True)
        counts = {Status(int(s)).name: int(c) for s, c in each}
        impacts = counts.pop("SOLVED", 0)
        rest = "".join(f", {name}: {count}" for name, count in counts.items())
        sizes = f"n={len(self)}, nv={self.nv}, nc={self.nc}, nt={self.nt}"
        return f"{type(self).__name__}({sizes}, impacts={impacts}{rest})"


def refuse_wrong(found: np.ndarray) -> None:
    """Raise where the check of the rows has found something, by the first of them."""
    bad = np.flatnonzero(found)
    if bad.size:
        field, wrong = _WRONG[int(found[bad[0]])]
        raise InputError(field, wrong=f"row {bad[0]} {wrong}")


def _check_shapes(arrays: dict[str, np.ndarray]) -> None:
    """Refuse arrays of a file that do not belong together: compiled code trusts them."""
    n, nc, nt, nv = arrays["Jt"].shape if arrays["Jt"].ndim == 4 else (0, 0, 0, 0)
    wanted = {
        **{"M": ((n, nv, nv), "f8"), "Jn": ((n, nc, nv), "f8"), "Jt": ((n, nc, nt, nv), "f8")},
        **{"mu": ((n, nc), "f8"), "v": ((n, nv), "f8"), "restitution": ((n, nc), "f8")},
        **{"present": ((n, nc), "?"), "size": ((n, 3), "i4")},
    }
    for name, (shape, dtype) in wanted.items():
        if arrays[name].shape != shape or arrays[name].dtype != np.dtype(dtype) or 0 in shape:
            got = f"shape {arrays[name].shape} of {arrays[name].dtype}"
            raise InputError(name, got=got, wanted=f"shape {shape} of {np.dtype(dtype)}")
    size, counts = arrays["size"], arrays["present"].sum(axis=1)
    if np.any(size < 0) or np.any(size > (nv, nc, nt)) or np.any(size[:, 1] != counts) or nt > 2:
        raise InputError("size", wrong="larger than the arrays", wanted="the sizes of the rows")


def _checked_arrays(
    M: ArrayLike, Jn: ArrayLike, Jt: ArrayLike, mu: ArrayLike, v: ArrayLike, restitution: ArrayLike
) -> dict[str, np.ndarray]:
    """Arrays with the leading axis of ``v``, of matching shapes; what they hold is checked later."""
    velocity = real_array("v", v, [(None, None)], "shape (n, nv)")
    n, nv = velocity.shape
    if n == 0 or nv == 0:
        raise InputError("v", got=f"shape {velocity.shape}", wanted="(n, nv) with n >= 1 and nv >= 1")
    normals = _rows("Jn", Jn, [(None, nv), (n, None, nv)], f"shape ({n}, nc, {nv}) or (nc, {nv})")
    nc = normals.shape[-2]
    tangents = _rows(
        "Jt", Jt, [(nc, t, nv) for t in (1, 2)] + [(n, nc, t, nv) for t in (1, 2)],
        f"shape ({n}, {nc}, nt, {nv}) or ({nc}, nt, {nv}) with nt 1 or 2",
    )  # fmt: skip
    mass = _rows("M", M, [(nv, nv), (n, nv, nv)], f"shape ({n}, {nv}, {nv}) or ({nv}, {nv})")
    _refuse_tiny(mass, velocity)
    per_contact = [(), (nc,), (n, nc)]
    wanted = f"a number, shape ({nc},) or ({n}, {nc})"
    return {
        "M": _spread(mass, (n, nv, nv)),
        "Jn": _spread(normals, (n, nc, nv)),
        "Jt": _spread(tangents, (n, nc, tangents.shape[-2], nv)),
        "mu": _spread(_rows("mu", mu, per_contact, wanted), (n, nc)),
        "v": velocity,
        "restitution": _spread(_rows("restitution", restitution, per_contact, wanted), (n, nc)),
    }


def _is_on_gpu(value: Foreign) -> bool:
    """Whether something is an array in the memory of a GPU, of whatever library."""
    if isinstance(value, np.ndarray | float | int | list | tuple):
        return False
    if hasattr(value, "__cuda_array_interface__"):
        return True
    return hasattr(value, "__dlpack_device__") and int(value.__dlpack_device__()[0]) == CUDA


def _refuse_tiny(mass: Array, velocity: Array) -> None:
    """Refuse what `ImpactProblem` refuses: tiny numbers vanish in products, and contacts with them."""
    diagonal, fastest = np.abs(np.diagonal(mass, axis1=-2, axis2=-1)), np.abs(velocity).max(axis=1)
    if np.any((diagonal > 0.0) & (diagonal < SMALLEST_NUMBER)):
        least = diagonal[diagonal > 0.0].min()
        raise InputError(
            "M", got=f"{least:g} on a diagonal", wanted=f"masses of at least {SMALLEST_NUMBER:g}"
        )
    slow = np.flatnonzero((fastest > 0.0) & (fastest < SMALLEST_SPEED))
    if len(slow):
        wanted = f"wanted zero, or at least {SMALLEST_SPEED:g}"
        raise InputError("v", wrong=f"row {slow[0]} has at most {fastest[slow[0]]:g}; {wanted}")


def _rows(field: str, value: ArrayLike, shapes: Sequence[tuple[int | None, ...]], wanted: str) -> Array:
    """Array as by `real_array`; numbers that are not finite are left for the check of the rows that count."""
    return real_array(field, value, shapes, wanted, finite=False)


def _spread(array: Array, shape: tuple[int, ...]) -> Array:
    return array if array.shape == shape else np.array(np.broadcast_to(array, shape))


def mask_of(present: ArrayLike | None, n: int, nc: int) -> np.ndarray:
    """Which contacts there are, (n, nc) bool; all where nothing is said."""
    if present is None:
        return np.ones((n, nc), dtype=bool)
    mask = np.array(present)
    if mask.dtype != bool or mask.shape != (n, nc):
        raise InputError(
            "present", got=f"{mask.dtype} of shape {mask.shape}", wanted=f"bool of shape ({n}, {nc})"
        )
    return mask


def padded(problems: Sequence[ImpactProblem | None], *, at_least: int = 1) -> dict[str, np.ndarray]:
    """The fields of a batch from problems of any sizes, with room for ``at_least`` so many velocities."""
    known = [problem for problem in problems if problem is not None]
    nv, nc, nt = (max((getattr(p, name) for p in known), default=1) for name in ("nv", "nc", "nt"))
    n, nv = len(problems), max(nv, at_least)
    arrays = {"M": np.zeros((n, nv, nv)), "v": np.zeros((n, nv))} | empty_arrays(n, nv, nc, nt)
    for k, problem in enumerate(problems):
        if problem is None:
            arrays["v"][k] = np.nan  # nothing is known
            continue
        i, c, t = problem.nv, problem.nc, problem.nt
        arrays["M"][k, :i, :i] = problem.M
        arrays["Jn"][k, :c, :i] = problem.Jn
        arrays["Jt"][k, :c, :t, :i] = problem.Jt
        arrays["mu"][k, :c], arrays["restitution"][k, :c] = problem.mu, problem.restitution
        arrays["v"][k, :i] = problem.v
        arrays["present"][k, :c] = True
        arrays["size"][k] = i, c, t
    return arrays


def empty_arrays(n: int, nv: int, nc: int, nt: int) -> dict[str, np.ndarray]:
    """The fields of a batch that have to do with contacts, and the sizes, all zero."""
    return {
        "Jn": np.zeros((n, nc, nv)),
        "Jt": np.zeros((n, nc, nt, nv)),
        "mu": np.zeros((n, nc)),
        "restitution": np.zeros((n, nc)),
        "present": np.zeros((n, nc), dtype=bool),
        "size": np.zeros((n, 3), dtype=np.int32),
    }
