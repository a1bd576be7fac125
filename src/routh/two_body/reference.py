"""Named references: JW17's Algorithm 1, plain numerical integration, and a precise integration.

They are slow and plain on purpose; the kernel is measured against them. Stronge's hypothesis only.
"""

from __future__ import annotations

import functools
import types
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from routh.two_body import _euler, _precise
from routh.two_body._layout import EVENT_TOLERANCE
from routh.two_body.api import inverse_inertia_checked
from routh.validation import Array, real, real_array


@dataclass(frozen=True, eq=False)
class ReferenceImpact:
    """The total impulse (3,) in N s, and how many steps it took."""

    impulse: Array
    iterations: int


def algorithm_1(
    W: ArrayLike,
    v: ArrayLike,
    mu: float,
    e: float,
    *,
    step: float | None = None,
    h1: float = 0.01,
    h2: float = 0.01,
    blend: float = 0.5,
    line_tolerance: float = EVENT_TOLERANCE,
) -> ReferenceImpact:
    """JW17's Algorithm 1: Euler's method until an event s or l, closed forms from there.

    ``step`` is a fixed step of the normal impulse ("FS" in Table 1); without it the steps follow (36) with
    ``h1``, ``h2`` and ``blend`` ("VS"). Event l is declared within ``line_tolerance`` rad.
    """
    return _euler_run(W, v, mu, e, step or 0.0, h1, h2, blend, True, line_tolerance)


def plain_integration(W: ArrayLike, v: ArrayLike, mu: float, e: float, *, step: float) -> ReferenceImpact:
    """Euler's method with a fixed step of the normal impulse to the very end ("NI" in Table 1)."""
    return _euler_run(W, v, mu, e, real("step", step, above=0.0), 0.01, 0.01, 0.5, False, 0.0)


def precise(
    W: ArrayLike, v: ArrayLike, mu: ArrayLike, e: ArrayLike, *, tolerance: float = 1e-12
) -> tuple[Array, Any]:
    """Total impulses (n, 3) by an eighth-order method at a relative tolerance, and steps (n,), -1: not ended.

    W (n, 3, 3), v (n, 3) with v_z < 0, mu (n,), e (n,).
    """
    w = inverse_inertia_checked(real_array("W", W, [(None, 3, 3)], "shape (n, 3, 3)"))
    n = len(w)
    velocity = real_array("v", v, [(n, 3)], f"shape ({n}, 3)")
    friction = real_array("mu", mu, [(n,)], f"shape ({n},)")
    restitution = real_array("e", e, [(n,)], f"shape ({n},)")
    run, tables = _compiled("precise_one"), _tables()
    out, steps = np.zeros((n, 3)), np.zeros(n, dtype=np.int64)
    for i in range(n):
        p = _parameters(w[i], friction[i])
        steps[i] = run(p, velocity[i], restitution[i], tolerance, *tables, out[i])
    return out, steps


def _euler_run(W: ArrayLike, v: ArrayLike, mu: float, e: float, *settings: Any) -> ReferenceImpact:
    w = inverse_inertia_checked(real_array("W", W, [(3, 3)], "shape (3, 3)")[None])[0]
    velocity = real_array("v", v, [(3,)], "shape (3,)")
    out = np.zeros(3)
    p = _parameters(w, real("mu", mu, at_least=0.0))
    count = _compiled("euler_one")(
        p, velocity, real("e", e, at_least=0.0, at_most=1.0), *(_plain(s) for s in settings), out
    )
    return ReferenceImpact(out, int(count))


def _plain(setting: Any) -> Any:
    return setting if isinstance(setting, bool) else float(setting)


def _parameters(w: Array, mu: float) -> Array:
    return np.array([w[0, 0], w[0, 1], w[1, 1], w[0, 2], w[1, 2], w[2, 2], mu])


@functools.cache
def _tables() -> tuple[Array, Array, Array]:
    """Dormand and Prince's coefficients, from SciPy's."""
    from scipy.integrate._ivp import dop853_coefficients as tables

    return (
        np.ascontiguousarray(tables.A[:12, :12]),
        np.ascontiguousarray(tables.B),
        np.ascontiguousarray(tables.E5[:12]),
    )


@functools.cache
def _compiled(name: str) -> Any:
    """A reference function compiled by numba, with its callees."""
    import numba

    made: dict[str, Any] = {}
    plain = [
        *(_precise.slope, _precise.rk_step, _precise.place_event, _precise.line, _precise.resumed),
        *(_precise.vanish, _precise.precise_one),
        *(_euler.move, _euler.limited_line, _euler.step_size, _euler.stuck, _euler.euler_one),
    ]
    for function in plain:
        copy = types.FunctionType(function.__code__, {**function.__globals__, **made}, function.__name__)
        copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
        made[function.__name__] = numba.njit(cache=True, error_model="numpy")(copy)
    return made[name]
