"""The authors' loop of HP23's Table 3 with the solver that they used: PATH, by its C interface.

PATH 5.2 lies in the wheel ``gamspy-base``, which routh neither needs nor brings: ``pip install --no-deps
--target FOLDER gamspy-base``, and FOLDER on PYTHONPATH; or ROUTH_PATH_LIBRARY names ``libpath52.so``.
Problems of this size run without a licence.
"""

from __future__ import annotations

import ctypes as c
import importlib.util
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from routh import systems
from routh.base.status import MissingExtraError
from routh.base.validation import Array
from routh.problem.impact import ImpactProblem

SYSTEMS = (
    "rocking-block",
    "compass-gait",
    "box-wall",
    "ramone",
)  # Table 3 without the disks, which stay open
ENDED = 1e-8  # m/s: the authors' script stops where no contact approaches faster
_INFINITE = 1e20

_double, _int, _data = c.POINTER(c.c_double), c.POINTER(c.c_int), c.c_void_p
_Size = c.CFUNCTYPE(None, _data, _int, _int)
_Bounds = c.CFUNCTYPE(None, _data, c.c_int, _double, _double, _double)
_Function = c.CFUNCTYPE(c.c_int, _data, c.c_int, _double, _double)
_Jacobian = c.CFUNCTYPE(
    c.c_int, _data, c.c_int, _double, c.c_int, _double, _int, _int, _int, _int, _double
)  # fmt: skip
_Print = c.CFUNCTYPE(None, _data, c.c_int, c.c_char_p)
_Flush = c.CFUNCTYPE(None, _data, c.c_int)


class _Interface(c.Structure):
    """MCP_Interface: who we are, four functions, and six that we do not need."""

    _fields_ = (
        ("data", _data), ("size", _Size), ("bounds", _Bounds), ("function", _Function),
        ("jacobian", _Jacobian),
        *((name, _data) for name in ("hessian", "start", "finish", "variable", "constraint", "basis")),
    )  # fmt: skip


class _Information(c.Structure):
    """Path's Information; the tail is room for what later versions append."""

    _fields_ = (
        *((name, c.c_double) for name in ("residual", "distance", "step", "time", "basis_time", "farthest")),
        *((f"count_{i}", c.c_int) for i in range(9)),
        *((name, c.c_int) for name in ("forward", "backtrace", "gradient", "use_start", "use_basics")),
        ("used_start", c.c_int), ("used_basics", c.c_int), ("room", c.c_double * 16),
    )  # fmt: skip


_KEPT: list[c.Structure] = []  # or they are collected while the library still calls them


class _Output(c.Structure):
    _fields_ = (("data", _data), ("print", _Print), ("flush", _Flush))


class PathMissingError(MissingExtraError):
    """The library is not there; the message says how to bring it."""

    def __init__(self, words: str) -> None:
        ImportError.__init__(self, words)


@cache
def library() -> c.CDLL:
    """``libpath52.so``, told to print nothing."""
    given = os.environ.get("ROUTH_PATH_LIBRARY")
    spec = importlib.util.find_spec("gamspy_base") if given is None else None
    place = (
        Path(given)
        if given
        else Path(spec.origin).with_name("libpath52.so")
        if spec and spec.origin
        else None
    )
    if place is None or not place.exists():
        raise PathMissingError(
            "PATH is not here; bring it with: pip install --no-deps --target FOLDER gamspy-base, and put "
            "FOLDER on PYTHONPATH (a measurement needs it, nothing else)"
        )
    found = c.CDLL(str(place))
    found.Options_Create.restype = found.MCP_Create.restype = _data
    found.MCP_GetX.restype, found.Path_Version.restype = _double, c.c_char_p
    found.MCP_Destroy.argtypes = [_data]
    return _silent(found)


def _silent(found: c.CDLL) -> c.CDLL:
    quiet = _Output(None, _Print(lambda data, mode, text: None), _Flush(lambda data, mode: None))
    found.Output_SetInterface(c.byref(quiet))
    _KEPT.append(quiet)
    return found


class PathSolver:
    """``0 <= z _|_ W z + w >= 0`` by PATH, from z = 0 each time, for one W (n, n)."""

    def __init__(self, W: Array, tolerance: float | None = None) -> None:
        self._library, self._W, self._w, self._n = library(), W, np.zeros(len(W)), len(W)
        options = _data(self._library.Options_Create())
        self._library.Path_AddOptions(options)
        self._library.Options_Default(options)
        if tolerance is not None:
            self._library.Options_Set(options, f"convergence_tolerance {tolerance:g}".encode())
        filled = [np.flatnonzero(W[:, j]) for j in range(self._n)]
        self._lengths = np.array([len(rows) for rows in filled], dtype=np.int32)
        self._starts = np.concatenate([[0], np.cumsum(self._lengths)[:-1]]).astype(np.int32) + np.int32(1)
        self._rows = np.concatenate(filled).astype(np.int32) + np.int32(1)
        self._values = np.concatenate([W[rows, j] for j, rows in enumerate(filled)])
        functions = (
            _Size(self._size),
            _Bounds(self._bounds),
            _Function(self._function),
            _Jacobian(self._jacobian),
        )
        self._interface = _Interface(None, *functions)

    def _size(self, data: int, n: c._Pointer[c.c_int], filled: c._Pointer[c.c_int]) -> None:
        n[0], filled[0] = self._n, len(self._values)

    def _bounds(self, data: int, n: int, start: object, low: object, high: object) -> None:
        for pointer, value in ((start, 0.0), (low, 0.0), (high, _INFINITE)):
            np.ctypeslib.as_array(pointer, (n,))[:] = value

    def _function(self, data: int, n: int, z: object, out: object) -> int:
        np.ctypeslib.as_array(out, (n,))[:] = self._W @ np.ctypeslib.as_array(z, (n,)) + self._w
        return 0

    def _jacobian(
        self, data: int, n: int, z: object, wanted: int, out: object, filled: c._Pointer[c.c_int],
        *columns: object,
    ) -> int:  # fmt: skip
        if wanted:
            self._function(data, n, z, out)
        own = self._starts, self._lengths, self._rows, self._values
        for pointer, array in zip(columns, own, strict=True):
            np.ctypeslib.as_array(pointer, (len(array),))[:] = array
        filled[0] = len(self._values)
        return 0

    def solve(self, w: Array) -> Array:
        """z (n,), as PATH leaves it."""
        self._w = w
        problem = _data(self._library.MCP_Create(self._n, len(self._values)))
        self._library.MCP_SetInterface(problem, c.byref(self._interface))
        information = _Information(use_start=1)
        self._library.Path_Solve(problem, c.byref(information))
        z = np.ctypeslib.as_array(self._library.MCP_GetX(problem), (self._n,)).copy()
        self._library.MCP_Destroy(problem)
        return z


def step_matrix(problem: ImpactProblem) -> tuple[Array, Array]:
    """W of HP23 (75) over (beta, lambda_n, lambda_D, gamma), and Jbar (3 m, nv), for a planar problem."""
    m = problem.nc
    along = np.stack([problem.Jt[:, 0], -problem.Jt[:, 0]], axis=1).reshape(2 * m, problem.nv)
    J = np.vstack([problem.Jn, along])
    E = np.kron(np.eye(m), np.ones((2, 1)))
    W = np.zeros((5 * m, 5 * m))
    W[:m, m : 2 * m], W[m : 2 * m, :m] = -np.eye(m), np.eye(m)
    W[m : 4 * m, m : 4 * m] = J @ problem.solve_mass(J.T)
    W[2 * m : 4 * m, 4 * m :] = E
    W[4 * m :, m : 2 * m], W[4 * m :, 2 * m : 4 * m] = np.diag(problem.mu), -E.T
    return W, J


@dataclass(frozen=True)
class Count:
    """LCPs per sample of one system."""

    mean: float
    error: float  # standard error of the mean
    stuck: float  # share of samples that have not ended after N steps
    still: float  # share whose last step before that gave no impulse at all


def counted(
    name: str, samples: int, *, tolerance: float | None = None, seed: int = 11, last_bits: int | None = None
) -> Count:
    """HP23's Algorithm 1 as the authors' script runs it, with PATH at its own tolerance (1e-6) or another.

    ``last_bits`` is a seed of changes of W by rounding, 1e-15 of each entry.
    """
    system, problem = systems.get(name), systems.impact(name)
    most, size = system.paper.max_steps or 10, system.paper.step or 1.0
    W, J = step_matrix(problem)
    if last_bits is not None:
        W = W * (1.0 + 1e-15 * np.random.default_rng(last_bits).normal(size=W.shape))
    solver, m, rng = PathSolver(W, tolerance), problem.nc, np.random.default_rng(seed)
    steps, stuck, still = [], 0, 0
    for _ in range(samples):
        v, count, last = problem.v.copy(), 0, 0.0
        while (problem.Jn @ v).min() < -ENDED and count < most:
            z = solver.solve(np.concatenate([size * rng.random(m), J @ v, np.zeros(m)]))
            push = z[m : 4 * m]
            v, last, count = v + problem.solve_mass(J.T @ push), float(np.abs(push).max()), count + 1
        steps.append(count)
        if (problem.Jn @ v).min() < -ENDED:
            stuck, still = stuck + 1, still + (last < 1e-7)
    return Count(float(np.mean(steps)), float(np.std(steps) / samples**0.5), stuck / samples, still / samples)
