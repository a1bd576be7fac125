"""The kernel for a whole batch, from the same scalar functions: interpreted, on threads, on CUDA.

`functions` copies the plain functions with their callees replaced, so that one source serves all three.
"""

from __future__ import annotations

import functools
import hashlib
import math
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from routh.status import Status
from routh.two_body import _arc, _events, _layout, _rest, _segments, _solve
from routh.two_body._layout import (
    ARC_SHAPE,
    DONE,
    EVENTS,
    JX,
    JY,
    JZ,
    MAX_EVENTS,
    PHASE,
    RESIDUAL,
    RETURNED,
    SEGMENTS,
    SERIES_SHAPE,
    STATE_SIZE,
    STORED,
)
from routh.two_body._solve import make_contact, solve
from routh.validation import Array

#: columns of a batch's float output
OUT_JX, OUT_JY, OUT_JZ, OUT_STORED, OUT_RETURNED, OUT_RESIDUAL, OUT_MARGIN, OUT_SEGMENTS = range(8)
OUT_SIZE = 8
#: A solve whose recomputed mismatch is larger is a numerical failure (dimensionless, see `_solve.mismatch`).
MISMATCH = 1e-10

_SOLVED, _NO_IMPACT = int(Status.SOLVED), int(Status.NO_IMPACT)
_MAX_STEPS, _NUMERICAL = int(Status.MAX_STEPS), int(Status.NUMERICAL)


def solve_one(
    series: Array,
    arc: Array,
    state: Array,
    w: Array,
    v: Array,
    mu: float,
    e: float,
    hypothesis: int,
    near: float,
    out: Array,
    codes: np.ndarray,
) -> int:
    """One impact: w (3, 3), v (3,) -> a row of numbers, the event code, and the status.

    Scaled by W_zz and by the largest component of v to a power of two each, so scaling is exact.
    """
    margin = w[2, 2] - mu * math.sqrt(w[0, 2] * w[0, 2] + w[1, 2] * w[1, 2])
    for i in range(OUT_SIZE):
        out[i] = 0.0
    out[OUT_MARGIN] = margin
    codes[0] = 0
    if not v[2] < 0.0:
        return _NO_IMPACT if v[2] >= 0.0 else _NUMERICAL
    inverse = math.ldexp(1.0, 1 - math.frexp(w[2, 2])[1])
    speed = math.ldexp(1.0, math.frexp(max(abs(v[0]), abs(v[1]), abs(v[2])))[1] - 1)
    con = make_contact(
        w[0, 0] * inverse,
        w[0, 1] * inverse,
        w[1, 1] * inverse,
        w[0, 2] * inverse,
        w[1, 2] * inverse,
        w[2, 2] * inverse,
        mu,
        e,
        hypothesis,
        near,
    )
    solve(series, arc, state, con, v[0] / speed, v[1] / speed, v[2] / speed)
    impulse = speed * inverse
    out[OUT_JX], out[OUT_JY], out[OUT_JZ] = state[JX] * impulse, state[JY] * impulse, state[JZ] * impulse
    out[OUT_STORED] = state[STORED] * speed * impulse
    out[OUT_RETURNED] = state[RETURNED] * speed * impulse
    out[OUT_RESIDUAL], out[OUT_SEGMENTS] = state[RESIDUAL], state[SEGMENTS]
    codes[0] = int(state[EVENTS])
    if not math.isfinite(state[JX] + state[JY] + state[JZ] + state[STORED] + state[RETURNED]):
        return _NUMERICAL
    if state[PHASE] != DONE:
        return _MAX_STEPS
    return _SOLVED if state[RESIDUAL] <= MISMATCH else _NUMERICAL


_ORDERED: list[Callable[..., Any]] = [
    _arc.horner,
    _arc.polynomial,
    _arc.lay_out,
    _arc.expand,
    _arc.expand_step,
    _arc.step_length,
    _arc.expand_fall,
    _arc.last_terms,
    _arc.enter_fall,
    _arc.coordinates,
    _arc.parameter,
    _arc.half_tangent,
    _arc.arc_velocity,
    _arc.arc_impulse,
    _arc.arc_energy,
    _arc.place,
    _arc.evaluate_arc,
    _arc.growth_sign,
    _arc.near_miss_at,
    _rest.direction_rates,
    _rest.rest_ahead,
    _rest.centrifugal,
    _rest.find_tail,
    _segments.normal_velocity,
    _segments.energy,
    _segments.normal_impulse,
    _segments.evaluate,
    _events.value_of,
    _events.line_crossing,
    _events.crossing,
    _events.record,
    _events.next_event,
    _events.account,
    _events.enter_phase,
    _events.line_end,
    _solve.make_contact,
    _solve.sticking_force,
    _solve.vanish,
    _solve.enter_line,
    _solve.sure_end,
    _solve.lined_up_at,
    _solve.turning_end,
    _solve.choose_segment,
    _solve.negligible,
    _solve.note_near_events,
    _solve.commit,
    _solve.run_segment,
    _solve.begin,
    _solve.create_nothing,
    _solve.mismatch,
    _solve.solve,
    solve_one,
]


@functools.cache
def _digest() -> str:
    """A mark of the kernel's sources: numba's disk cache looks at one file's date, not at the callees'."""
    modules = (_layout, _arc, _rest, _segments, _events, _solve)
    files = [str(module.__file__) for module in modules] + [__file__]
    return hashlib.sha256(b"".join(Path(file).read_bytes() for file in files)).hexdigest()[:12]


def _copy(plain: Callable[..., Any], extra: dict[str, Any]) -> Callable[..., Any]:
    """The same function with other globals, under a name that changes with the kernel's sources."""
    copy = types.FunctionType(plain.__code__, {**plain.__globals__, **extra}, plain.__name__)
    copy.__module__, copy.__qualname__ = plain.__module__, f"{plain.__qualname__}_{_digest()}"
    return copy


def functions(compile_one: Callable[[Any], Any]) -> dict[str, Any]:
    """Every scalar function compiled by `compile_one`, each calling the compiled ones before it."""
    made: dict[str, Any] = {}
    for plain in _ORDERED:
        made[plain.__name__] = compile_one(_copy(plain, made))
    return made


def loop(
    w: Array,
    v: Array,
    mu: Array,
    e: Array,
    hypothesis: int,
    near: float,
    out: Array,
    codes: np.ndarray,
    status: np.ndarray,
) -> None:
    """A batch in chunks, one work space per chunk; compiled, the chunks run on threads."""
    n = len(mu)
    chunk = 64
    for c in prange((n + chunk - 1) // chunk):
        series = np.zeros(SERIES_SHAPE)
        arc = np.zeros(ARC_SHAPE)
        state = np.zeros(STATE_SIZE)
        for i in range(c * chunk, min(n, (c + 1) * chunk)):
            status[i] = solve_one(
                series, arc, state, w[i], v[i], mu[i], e[i], hypothesis, near, out[i], codes[i]
            )


prange = range  # replaced by numba's in the compiled copy


#: fused multiply-add and reassociated sums; NaN and infinity keep their meaning
_FAST = {"contract", "reassoc", "nsz"}
#: One compiled function in place of fifty calls, each of which would pass some fifty numbers, and no
#: reference counts, since nothing here allocates: two times as fast.
_OPTIONS = {"forceinline": True, "_nrt": False}


@functools.cache
def cpu_loop() -> Any:
    """The batch loop compiled for CPU threads (some 25 s the first time, then from numba's cache)."""
    import numba

    made = functions(numba.njit(cache=True, error_model="numpy", fastmath=_FAST, **_OPTIONS))
    copy = _copy(loop, {**made, "prange": numba.prange})
    return numba.njit(cache=True, parallel=True, error_model="numpy")(copy)


def cuda_body(
    w: Array,
    v: Array,
    mu: Array,
    e: Array,
    hypothesis: int,
    near: float,
    out: Array,
    codes: np.ndarray,
    status: np.ndarray,
) -> None:
    """One CUDA thread per impact, its work space in local memory."""
    i = cuda.grid(1)  # type: ignore[name-defined]  # noqa: F821
    if i < len(mu):
        series = cuda.local.array(SERIES_SHAPE, np.float64)  # type: ignore[name-defined]  # noqa: F821
        arc = cuda.local.array(ARC_SHAPE, np.float64)  # type: ignore[name-defined]  # noqa: F821
        state = cuda.local.array(STATE_SIZE, np.float64)  # type: ignore[name-defined]  # noqa: F821
        status[i] = solve_one(series, arc, state, w[i], v[i], mu[i], e[i], hypothesis, near, out[i], codes[i])


@functools.cache
def cuda_kernel() -> Any:
    """The batch kernel compiled for CUDA, or for its simulator where NUMBA_ENABLE_CUDASIM is set."""
    from numba import cuda

    made = functions(cuda.jit(device=True))
    return cuda.jit(_copy(cuda_body, {**made, "cuda": cuda}))


def decode(code: int) -> str:
    """The letters of an event code, in order."""
    letters = ""
    for _ in range(MAX_EVENTS + 1):
        if code == 0:
            break
        letters = _layout.LETTERS[code % 8] + letters
        code //= 8
    return letters
