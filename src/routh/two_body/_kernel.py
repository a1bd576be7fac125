"""Many impacts, from the same scalar functions: interpreted, on threads, on CUDA."""

from __future__ import annotations

import functools
import math

from routh.base import features
from routh.base.status import Status
from routh.compiling import compiled
from routh.compiling.elementary import SMALLEST_NORMAL, leading_power
from routh.compiling.foreign import Foreign
from routh.compiling.threads import layout_of, own_arrays, thread_number
from routh.kernels.common.slices import run_slices
from routh.two_body import _layout as at
from routh.two_body._layout import Impacts, SolverWork, workspace
from routh.two_body._solve import make_contact, solve

#: columns of a batch's float output
OUT_JX, OUT_JY, OUT_JZ, OUT_STORED, OUT_RETURNED, OUT_RESIDUAL, OUT_MARGIN, OUT_SEGMENTS = range(8)
OUT_SIZE = 8
#: A solve whose recomputed mismatch is larger is a numerical failure (dimensionless, see `_solve.mismatch`).
MISMATCH = 1e-10
#: threads of a block on the GPU
BLOCK = 64

_SOLVED, _NO_IMPACT = int(Status.SOLVED), int(Status.NO_IMPACT)
_MAX_STEPS, _NUMERICAL = int(Status.MAX_STEPS), int(Status.NUMERICAL)


def solve_one(impacts: Impacts, work: SolverWork, i: int) -> int:
    """Impact ``i``: its row of numbers, its event code; returns its status.

    Scaled by W_zz and by the largest component of v to a power of two each, so scaling is exact.
    """
    w, v, mu, out, state = impacts.W[i], impacts.v[i], impacts.mu[i], impacts.out[i], work.state
    margin = w[2, 2] - mu * math.sqrt(w[0, 2] * w[0, 2] + w[1, 2] * w[1, 2])
    for k in range(OUT_SIZE):
        out[k] = 0.0
    out[OUT_MARGIN] = margin
    impacts.codes[i, 0] = 0
    if not v[2] < 0.0:
        return _NO_IMPACT if v[2] >= 0.0 else _NUMERICAL
    inverse = 1.0 / leading_power(max(w[2, 2], SMALLEST_NORMAL))
    speed = leading_power(max(abs(v[0]), abs(v[1]), abs(v[2]), SMALLEST_NORMAL))
    con = make_contact(w, inverse, mu, impacts.e[i], impacts.hypothesis, impacts.near)
    solve(work.series, work.arc, state, con, v[0] / speed, v[1] / speed, v[2] / speed)
    impulse = speed * inverse
    out[OUT_JX], out[OUT_JY] = state[at.JX] * impulse, state[at.JY] * impulse
    out[OUT_JZ] = state[at.JZ] * impulse
    out[OUT_STORED] = state[at.STORED] * speed * impulse
    out[OUT_RETURNED] = state[at.RETURNED] * speed * impulse
    out[OUT_RESIDUAL], out[OUT_SEGMENTS] = state[at.RESIDUAL], state[at.SEGMENTS]
    impacts.codes[i, 0] = int(state[at.EVENTS])
    if not math.isfinite(state[at.JX] + state[at.JY] + state[at.JZ] + state[at.STORED] + state[at.RETURNED]):
        return _NUMERICAL
    if state[at.PHASE] != at.DONE:
        return _MAX_STEPS
    return _SOLVED if state[at.RESIDUAL] <= MISMATCH else _NUMERICAL


def run_range(impacts: Impacts, work: SolverWork, begin: int, end: int) -> None:
    """The impacts ``begin`` to ``end``."""
    for i in range(begin, end):
        impacts.status[i] = solve_one(impacts, work, i)


#: fused multiply-add and reassociated sums; NaN and infinity keep their meaning
_FAST = {"contract", "reassoc", "nsz"}


@functools.cache
def cpu_range() -> Foreign:
    """The compiled `run_range`."""
    return compiled(run_range, fastmath=_FAST)


def run_cpu(impacts: Impacts, threads: int | None = None) -> None:
    """All impacts on threads, in slices that an interrupt ends."""
    work_on = cpu_range()

    def piece(begin: int, end: int, work: SolverWork) -> None:
        work_on(impacts, work, begin, end)

    run_slices(len(impacts.mu), workspace, piece, threads=threads)


@functools.cache
def _gpu_kernel() -> Foreign:
    """One CUDA thread per impact, its work space in local memory."""
    solve_there, layout = compiled(solve_one, fastmath=_FAST), layout_of(workspace())

    def entry(impacts: Foreign) -> None:
        i = thread_number()
        if i < len(impacts.mu):
            work = own_arrays(SolverWork, layout)
            impacts.status[i] = solve_there(impacts, work, i)

    return features.device("cuda").gpu_kernel(entry)


def run_cuda(impacts: Impacts) -> None:
    """All impacts on the GPU; numbers, event codes and statuses come back."""
    kernel = _gpu_kernel()
    there: Foreign = features.device("cuda").send(impacts)
    kernel[-(-len(impacts.mu) // BLOCK), BLOCK](there)
    held: Foreign
    for held, host in zip(there[-3:], impacts[-3:], strict=True):
        held.copy_to_host(host)


def decode(code: int) -> str:
    """The letters of an event code, in order."""
    return "".join(at.LETTERS[int(digit)] for digit in f"{code:o}") if code else ""
