"""Ways from the bars of a problem in its own units to those of M, Jn, Jt, mu, v and restitution.

With ``root_i = (Jn_i M^-1 Jn_i^T)^-1/2`` and the speed ``(v^T M v)^1/2`` (`routh.problem.impact.Scaling`)
and the scaled rows ``S = root J``, a path sees ``G = S U^T`` with ``U = S M^-1``, starts from ``S v / speed``
and ends with the velocity ``v + speed U^T P``, P its total impulse.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from routh.base.validation import Array
from routh.compiling import kernel
from routh.kernels.gradients.reverse_rates import ReverseWork
from routh.problem.rows import IMPULSE, Problems, Rows


class Frame(NamedTuple):
    """One problem in SI units and the factors of its own units; with a leading axis, many of one size."""

    S: Array  # (n, nv) scaled Jacobians, contact by contact with the normal first
    U: Array  # (n, nv)
    v: Array  # (nv,)
    momentum: Array  # (nv,) M v over the speed
    start: Array  # (n,) S v over the speed
    root: Array  # (nc,)
    speed: Array  # (1,)


class Cotangents(NamedTuple):
    """What is pulled back: k numbers of every sample, the same for all samples of a row or not."""

    of_v: Array  # (rows, 1 or samples, k, nv) the bar of the velocity after
    raised: Array  # (rows, 1 or samples, k, nv) M^-1 times it
    push: Array  # (rows, 1 or samples, k, n) the bar of the total impulse
    scale: Array  # (rows, 1 or samples, k) one over what the number could be, by energy


def frames_of(problems: Problems, rows: Rows) -> tuple[Frame, Array]:
    """The factors of problems without padding, and their inverse masses (rows, nv, nv)."""
    count, nc, nt, nv = problems.Jt.shape
    upper = np.asarray(np.linalg.inv(problems.M), dtype=np.float64)
    inverse = 0.5 * (upper + np.swapaxes(upper, 1, 2))
    momentum = np.einsum("krs,ks->kr", problems.M, problems.v)
    speed = np.sqrt(np.einsum("kr,kr->k", momentum, problems.v))[:, None]
    speed[speed == 0.0] = 1.0
    root = rows.contact[:, IMPULSE] / speed
    J = np.concatenate([problems.Jn[:, :, None], problems.Jt], axis=2)
    S = (J * root[:, :, None, None]).reshape(count, nc * (1 + nt), nv)
    return Frame(S, S @ inverse, np.array(problems.v), momentum / speed, rows.start, root, speed), inverse


def raise_cotangents(given: Array, frames: Frame, inverse: Array) -> Cotangents:
    """Cotangents raised from bars (rows, 1 or samples, k, nv) of the velocity after."""
    raised = given @ inverse[:, None]
    push = (raised @ np.swapaxes(frames.S, 1, 2)[:, None]) * frames.speed[:, None, None]
    size = np.sqrt(np.einsum("ksqr,ksqr->ksq", given, raised)) * frames.speed[:, :, None]
    return Cotangents(np.array(given), raised, push, 1.0 / (size + 1e-300))


@kernel
def frame_at(frames: Frame, row: int) -> Frame:
    """The frame of one row."""
    S, U, v, momentum, start, root, speed = frames
    return Frame(S[row], U[row], v[row], momentum[row], start[row], root[row], speed[row])


class Pull(NamedTuple):
    """Scratch of one thread."""

    S: Array  # (n, nv) bar of S
    half: Array  # (n, nv) the part of it that comes from G
    change: Array  # (nv,) velocity change per speed, U^T P
    of_root: Array  # (nc,) bars of the roots, times the roots


def pull_workspace(nc: int, n: int, nv: int) -> Pull:
    """Scratch arrays of one thread."""
    return Pull(np.zeros((n, nv)), np.zeros((n, nv)), np.zeros(nv), np.zeros(nc))


@kernel
def change_by(frame: Frame, total: Array, pull: Pull) -> None:
    """``pull.change``: of the velocity by the total impulse, over the speed."""
    # reads frame.U, pull.change; writes pull.change
    n, nv = frame.U.shape
    for r in range(nv):
        pull.change[r] = 0.0
    for a in range(n):
        for r in range(nv):
            pull.change[r] += frame.U[a, r] * total[a]


@kernel
def pull_S(frame: Frame, raised: Array, total: Array, own: ReverseWork, pull: Pull) -> None:
    """The bars of the scaled Jacobians and the roots; ``raised``: M^-1 times that of the velocity after."""
    # reads frame.S, frame.U, frame.root, frame.speed, frame.v, own.of_G, own.of_state, pull.S, pull.half,
    #   pull.of_root
    # writes pull.S, pull.half, pull.of_root
    n, nv = frame.S.shape
    width = n // len(frame.root)
    for a in range(n):
        if a % width == 0:
            pull.of_root[a // width] = 0.0
        start, push = own.of_state[a] / frame.speed[0], frame.speed[0] * total[a]
        half, out = pull.half[a], pull.S[a]
        for r in range(nv):
            half[r] = 0.0
        for b in range(n):
            both = own.of_G[a, b] + own.of_G[b, a]
            if both != 0.0:
                for r in range(nv):
                    half[r] += both * frame.U[b, r]
        for r in range(nv):
            out[r] = half[r] + start * frame.v[r] + push * raised[r]
            pull.of_root[a // width] += out[r] * frame.S[a, r]


@kernel
def pull_M(frame: Frame, pull: Pull, raised: Array, of_speed: float, out: Array) -> None:
    """The bar of M, symmetric; after `pull_S`. What it needs no more, ``pull.half``, is changed."""
    # reads frame.U, frame.root, frame.speed, frame.v, pull.change, pull.half, pull.of_root; writes pull.half
    n, nv = frame.S.shape
    width, speed = n // len(frame.root), frame.speed[0]
    for i in range(len(frame.root)):
        for r in range(nv):  # the normal's inverse mass is in the root, too
            pull.half[width * i, r] -= pull.of_root[i] * frame.U[width * i, r]
    for r in range(nv):
        square = of_speed / speed * frame.v[r]
        one, other = speed * raised[r], speed * pull.change[r]
        for s in range(r + 1):
            value = square * frame.v[s] - (one * pull.change[s] + other * raised[s])
            for a in range(n):
                value -= frame.U[a, r] * pull.half[a, s]
            out[r, s] = out[s, r] = 0.5 * value


@kernel
def pull_J(frame: Frame, pull: Pull, out: Array) -> None:
    """The bar of J, normal first; after `pull_S`."""
    # reads frame.U, frame.root, pull.S, pull.of_root
    n, nv = frame.S.shape
    width = n // len(frame.root)
    for i in range(len(frame.root)):
        root, normal = frame.root[i], width * i
        for a in range(normal, normal + width):
            for r in range(nv):
                out[a, r] = root * pull.S[a, r]
        weight = root * pull.of_root[i]
        for r in range(nv):
            out[normal, r] -= weight * frame.U[normal, r]


@kernel
def pull_v(frame: Frame, cotangent: Array, own: ReverseWork, pull: Pull, out: Array) -> tuple[float, float]:
    """The bar of the velocity before; after `change_by`. Returns that of the speed, and an error.

    By so much the derivative along v misses the velocity after, which is homogeneous of degree one.
    """
    # reads frame.S, frame.momentum, frame.speed, frame.start, frame.v, own.of_state, pull.change
    (n, nv), speed = frame.S.shape, frame.speed[0]
    along, after, start = 0.0, 0.0, 0.0
    for r in range(nv):
        after += cotangent[r] * pull.change[r]
    for a in range(n):
        start += own.of_state[a] * frame.start[a]
    of_speed = after - start / speed
    for r in range(nv):
        out[r] = cotangent[r] + of_speed * frame.momentum[r]
        for a in range(n):
            out[r] += frame.S[a, r] * own.of_state[a] / speed
        along += (out[r] - cotangent[r]) * frame.v[r]
    return of_speed, abs(along - speed * after)


@kernel
def largest_of_data(frame: Frame, own: ReverseWork, pull: Pull) -> float:
    """The largest derivative by friction, restitution, velocity or Jacobians, after `pull_S`; no units."""
    # reads frame.S, frame.root, frame.speed, frame.v, own.of_bounce, own.of_mu, own.of_state, pull.S
    n, nv = frame.S.shape
    worst, speed = 0.0, frame.speed[0]
    for i in range(len(frame.root)):
        worst = max(worst, max(abs(own.of_mu[i]), abs(own.of_bounce[i])))
    for r in range(nv):
        of_v, size = 0.0, 0.0
        for a in range(n):
            of_v += frame.S[a, r] * own.of_state[a]
            size += abs(frame.S[a, r])
            worst = max(worst, abs(pull.S[a, r]) * speed / (abs(frame.v[r]) + speed))
        worst = max(worst, abs(of_v) / max(size, 1e-300))
    return worst
