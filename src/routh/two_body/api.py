"""Two-body impacts: what comes of them, and how they are solved.

One at a time in plain Python (`impact`), many at once on threads or on a GPU (`batch`).
"""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from routh.base import tolerances
from routh.base.results import Column, Result, Tabular, status_column
from routh.base.status import InputError, Status
from routh.base.validation import Array, choice, integer, real, real_array
from routh.problem.impact import HYPOTHESES
from routh.two_body import _kernel
from routh.two_body._layout import EVENT_TOLERANCE, Impacts, workspace


@dataclass(frozen=True)
class Energy:
    """Balance of the kinetic energy, in joule (floats, or arrays for a batch)."""

    stored: Array | float  # work of the normal force while v_z < 0
    returned: Array | float  # work of the normal force while v_z > 0
    friction: Array | float  # work lost to sliding

    @property
    def lost(self) -> Array | float:
        """Kinetic energy before minus after: negative where a hypothesis created energy."""
        return self.stored - self.returned + self.friction

    @property
    def created(self) -> Array | float:
        """What the normal force returned beyond what it had stored: impossible, and 0 with Stronge."""
        return np.maximum(np.asarray(self.returned) - self.stored, 0.0)[()]


@dataclass(frozen=True, eq=False)
class TwoBodyImpact(Result):
    """One impact; vectors are in the contact frame x, y, normal, as in JW17."""

    W: Array = field(repr=False)  # (3, 3) 1/kg
    v: Array = field(repr=False)  # (3,) m/s, contact velocity before
    mu: float
    e: float
    hypothesis: str
    impulse: Array  # (3,) N s, total impulse on body a
    contact_velocity: Array  # (3,) m/s, after: v + W impulse
    events: str  # letters in order, see docs/theory/two_body.md
    energy: Energy
    status: Status
    margin: float  # W_zz - mu |d|, 1/kg: condition (18) holds where it is > 0; solved either way
    residual: float  # dimensionless mismatch between v + W impulse and the velocities carried along


@dataclass(frozen=True, eq=False)
class TwoBodyBatch(Result, Tabular):
    """Many impacts; every array has n as its leading axis."""

    impulse: Array  # (n, 3) N s
    contact_velocity: Array  # (n, 3) m/s, after
    energy: Energy  # arrays (n,), J
    status: NDArray[np.int8]  # (n,) values of Status
    event_codes: NDArray[np.int64]  # (n,)
    margin: Array  # (n,) 1/kg, see TwoBodyImpact
    residual: Array  # (n,)
    segments: Array  # (n,) how many series and closed forms each impact took

    def __len__(self) -> int:
        return len(self.status)

    def events(self, i: int) -> str:
        """The letters of impact i, in order."""
        return _kernel.decode(int(self.event_codes[i]))

    def event_counts(self) -> dict[str, int]:
        """How often each order of events happened, most frequent first."""
        codes, counts = np.unique(self.event_codes, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return {_kernel.decode(int(codes[i])): int(counts[i]) for i in order}

    def _columns(self) -> Mapping[str, Column]:
        return {
            "impulse": Column(("impact", "direction"), self.impulse, "N s"),
            "contact_velocity": Column(("impact", "direction"), self.contact_velocity, "m/s", "after"),
            "status": status_column("impact", self.status),
            "residual": Column(("impact",), self.residual),
            "margin": Column(("impact",), self.margin, "1/kg"),
        }


def impact(
    W: ArrayLike,
    v: ArrayLike,
    mu: float,
    e: float,
    *,
    hypothesis: str = "energetic",
    event_tolerance: float = EVENT_TOLERANCE,
) -> TwoBodyImpact:
    """Solve one impact of two bodies at one contact in space.

    Runs the kernel's functions uncompiled, which takes about two milliseconds; `batch` is the fast way.

    Parameters
    ----------
    W : (3, 3), inverse inertia matrix in 1/kg, JW17 (5), order x, y, normal; its upper triangle counts.
    v : (3,), contact velocity before in m/s; ``v[2] < 0`` is approach.
    mu : Coulomb friction, >= 0.
    e : coefficient of restitution in [0, 1], of the kind that the hypothesis means.
    hypothesis : "energetic" (energy), "poisson" (impulse) or "newton" (velocity).
    event_tolerance : angle in rad within which event l is declared, since an invariant direction is
        approached but never reached. It never changes the answer.
    """
    impacts = checked_one(W, v, mu, e, hypothesis, event_tolerance)
    with np.errstate(over="ignore", under="ignore"):  # see `_collect`; a slip that underflows is gone
        impacts.status[0] = _kernel.solve_one(impacts, workspace(), 0)
    many = _collect(impacts)
    return TwoBodyImpact(
        impacts.W[0],
        impacts.v[0],
        float(impacts.mu[0]),
        float(impacts.e[0]),
        hypothesis,
        many.impulse[0],
        many.contact_velocity[0],
        many.events(0),
        Energy(*(float(part[0]) for part in vars(many.energy).values())),
        Status(int(many.status[0])),
        float(many.margin[0]),
        float(many.residual[0]),
    )


def batch(
    W: ArrayLike,
    v: ArrayLike,
    mu: ArrayLike,
    e: ArrayLike,
    *,
    hypothesis: str = "energetic",
    event_tolerance: float = EVENT_TOLERANCE,
    device: str = "cpu",
    threads: int | None = None,
) -> TwoBodyBatch:
    """Solve n impacts at once.

    Bad input raises; a failure to solve is a status of its impact.

    Parameters
    ----------
    W : (n, 3, 3), or (3, 3) for all.
    v : (n, 3), or (3,) for all.
    mu, e : (n,), or a number for all.
    hypothesis, event_tolerance : as in `impact`.
    device : "cpu", or "cuda" on an NVIDIA GPU.
    threads : of "cpu"; default: all.
    """
    impacts = checked(W, v, mu, e, hypothesis, event_tolerance)
    choice("device", device, ("cpu", "cuda"))
    if threads is not None and device != "cpu":
        raise InputError("threads", got=f"{threads} with device {device!r}", wanted="threads with 'cpu' only")
    if len(impacts.mu) and device == "cuda":
        _kernel.run_cuda(impacts)
    elif len(impacts.mu):
        _kernel.run_cpu(impacts, None if threads is None else integer("threads", threads, at_least=1))
    return _collect(impacts)


def checked_one(
    W: ArrayLike,
    v: ArrayLike,
    mu: float,
    e: float,
    hypothesis: str = "energetic",
    event_tolerance: float = EVENT_TOLERANCE,
) -> Impacts:
    """One impact, its arguments as in `impact`."""
    w, velocity = real_array("W", W, [(3, 3)]), real_array("v", v, [(3,)])
    return checked(w, velocity, real("mu", mu), real("e", e), hypothesis, event_tolerance)


def checked(
    W: ArrayLike,
    v: ArrayLike,
    mu: ArrayLike,
    e: ArrayLike,
    hypothesis: str = "energetic",
    event_tolerance: float = EVENT_TOLERANCE,
) -> Impacts:
    """The impacts of `batch`, with places for what comes of them."""
    given = real_array("W", W, [(3, 3), (None, 3, 3)], "shape (3, 3) or (n, 3, 3)")
    velocity = real_array("v", v, [(3,), (None, 3)], "shape (3,) or (n, 3)")
    friction = real_array("mu", mu, [(), (None,)], "a number or shape (n,)")
    restitution = real_array("e", e, [(), (None,)], "a number or shape (n,)")
    n = _length(W=given.shape[:-2], v=velocity.shape[:-1], mu=friction.shape, e=restitution.shape)
    w = inverse_inertia_checked(given.reshape(-1, 3, 3))
    if not np.all(friction >= 0.0):
        raise InputError("mu", got=friction.min(), wanted="friction coefficients >= 0")
    if not np.all((restitution >= 0.0) & (restitution <= 1.0)):
        bad = restitution[(restitution < 0.0) | (restitution > 1.0)].ravel()[0]
        raise InputError("e", got=bad, wanted="coefficients between 0 and 1")
    kind = HYPOTHESES.index(choice("hypothesis", hypothesis, HYPOTHESES))
    near = real("event_tolerance", event_tolerance, above=0.0, at_most=0.1)
    # fresh arrays: the compiled loop knows writable ones in C order only
    shapes = ((w, (n, 3, 3)), (velocity, (n, 3)), (friction, (n,)), (restitution, (n,)))
    w, velocity, friction, restitution = (np.array(np.broadcast_to(*one), order="C") for one in shapes)
    out, codes = np.zeros((n, _kernel.OUT_SIZE)), np.zeros((n, 1), dtype=np.int64)
    status = np.full(n, int(Status.INCOMPLETE), dtype=np.int8)
    return Impacts(w, velocity, friction, restitution, kind, near, out, codes, status)


def approaching(velocity: Array) -> Array:
    """The contact velocity (3,), if it is one of approach."""
    if not velocity[2] < 0.0:
        raise InputError("v", got=f"normal velocity {velocity[2]}", wanted="approach, v[2] < 0")
    return velocity


def inverse_inertia_checked(w: Array) -> Array:
    """W (n, 3, 3) made exactly symmetric from its upper triangle; raises unless positive definite."""
    size = np.abs(w).max(axis=(1, 2))
    off = np.abs(w - np.swapaxes(w, 1, 2)).max(axis=(1, 2))
    skew = np.flatnonzero(~(off <= tolerances.PRINTED_SYMMETRY * size))
    if skew.size:
        raise InputError(
            "W", wrong=f"differs from its transpose by {off[skew[0]]:g}", wanted="a symmetric matrix"
        )
    upper = np.triu(w)
    w = upper + np.swapaxes(np.triu(w, 1), 1, 2)
    smallest = np.linalg.eigvalsh(w)[:, 0] if len(w) else np.zeros(0)
    # JW17, Proposition 2: W of two rigid bodies is positive definite
    bad = np.flatnonzero(~(smallest > 0.0))
    if bad.size:
        raise InputError(
            "W", wrong=f"smallest eigenvalue is {smallest[bad[0]]:g}", wanted="a positive definite matrix"
        )
    return w


def _length(**leading: tuple[int, ...]) -> int:
    """The common number of impacts from the arrays' leading axes; single values have none and serve all."""
    sizes = {name: shape[0] for name, shape in leading.items() if shape}
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise InputError("n", got=listed, wanted="one number of impacts")
    return next(iter(sizes.values()), 1)


def _collect(impacts: Impacts) -> TwoBodyBatch:
    """The kernel's rows as a result; velocities and friction's work are computed here from W, v and I.

    An impact whose energies are no finite numbers is not solved: the kernel's own units know no overflow.
    """
    w, v, out = impacts.W, impacts.v, impacts.out
    impulse = np.ascontiguousarray(out[:, :3])
    change = np.einsum("nij,nj->ni", w, impulse)
    stored, returned = out[:, _kernel.OUT_STORED].copy(), out[:, _kernel.OUT_RETURNED].copy()
    # kinetic energy gained: the impulse times the mean of the contact velocities before and after
    with np.errstate(over="ignore", invalid="ignore"):
        gained = np.einsum("ni,ni->n", v + 0.5 * change, impulse)
        friction = -gained - (stored - returned)
        overflown = (impacts.status == Status.SOLVED) & ~np.isfinite(stored + returned + friction)
    return TwoBodyBatch(
        impulse,
        v + change,
        Energy(stored, returned, friction),
        np.where(overflown, np.int8(Status.NUMERICAL), impacts.status),
        impacts.codes[:, 0],
        out[:, _kernel.OUT_MARGIN].copy(),
        out[:, _kernel.OUT_RESIDUAL].copy(),
        out[:, _kernel.OUT_SEGMENTS].copy(),
    )


def best_seconds(work: Callable[[], object], repeats: int) -> float:
    """The best processor time of one call in seconds."""
    return min(timeit.repeat(work, timer=time.process_time, number=1, repeat=repeats))


def kernel_seconds(W: Array, v: Array, mu: Array, e: Array) -> float:
    """Processor time per impact of the compiled loop on one thread in bulk, best of five, s."""
    impacts, work, run_range = checked(W, v, mu, e), workspace(), _kernel.cpu_range()
    return best_seconds(lambda: run_range(impacts, work, 0, len(mu)), 5) / len(mu)


def compiled_call(device: str = "cpu") -> TwoBodyBatch:
    """A call that needs all kernels of this room."""
    return batch(np.eye(3), [[0.1, 0.0, -1.0]] * 2, 0.3, 0.5, device=device)


def compiled_call_on_gpu() -> TwoBodyBatch:
    """The same on a GPU."""
    return compiled_call("cuda")
