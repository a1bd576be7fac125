"""The quantities of HP23 (75) that must not become negative, as numbers that kernels can pass around.

SN: ``y' + beta + t``, complementary to LN: ``lambda_n``. SB: ``lambda_max + t - lambda_n``, to BETA.
SD: ``d . t' + gamma + t`` of a friction direction d, to LD: its impulse. SG: ``mu lambda_n + t - sum
lambda_D``, to GAMMA. T: the artificial variable t itself.
"""

from __future__ import annotations

from typing import Any

from routh.kernels.basis import SLIDING, A
from routh.kernels.compiling import kernel

T, SN, LN, SB, BETA, SG, GAMMA, SD, LD = 0, 1, 2, 3, 4, 5, 6, 7, 8


@kernel
def complement(kind: int) -> int:
    """The kind of the quantity whose product with this one is zero."""
    return kind + 1 if kind % 2 == 1 else kind - 1


@kernel
def rate(
    shape: Any, dirs: Any, mu: Any, cover: Any, state: Any, kind: int, i: int, direction: int,
    ds: Any, du: Any, dt: float,
) -> float:  # fmt: skip
    """How fast a quantity of contact i changes with impulses ``ds`` (nc, 3), velocities ``du`` and ``dt``."""
    nt = shape[1]
    first = i * (1 + nt)
    if kind == T:
        return dt
    if kind == SN:
        return du[first] + cover[i, 0] * dt
    if kind == BETA:
        return -du[first] - cover[i, 0] * dt
    if kind == LN:
        return ds[i, 0]
    if kind == SB:
        return cover[i, 1] * dt - ds[i, 0]
    if kind == SG:
        return mu[i] * ds[i, 0] + cover[i, 1] * dt - ds[i, 1] - ds[i, 2]
    if kind == LD:
        return ds[i, 1] if direction == state[i, A] else ds[i, 2]
    value = 0.0
    if kind == GAMMA:
        for d in range(nt):
            value -= dirs[state[i, A], d] * du[first + 1 + d]
        return value - cover[i, 0] * dt
    for d in range(nt):
        value += dirs[direction, d] * du[first + 1 + d]
    if state[i, SLIDING]:
        for d in range(nt):
            value -= dirs[state[i, A], d] * du[first + 1 + d]
        return value
    return value + cover[i, 0] * dt
