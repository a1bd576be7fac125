"""One place for each complementary pair of HP23 (75), and where the primitives of a dictionary stand in it.

The places follow the LCP's order [beta; lambda_n; lambda_D; gamma], t comes last. A place holds the value of
whichever quantity of its pair is not zero, so that an exchange changes no place: the quantity that leaves is
zero there, and so is the one that enters.
"""

from __future__ import annotations

from typing import Any

from routh.compiling import kernel
from routh.kernels.dictionary import (
    BETA,
    GAMMA,
    LD,
    LN,
    NORMAL,
    OPEN,
    SB,
    SD,
    SG,
    SLIDING,
    SN,
    UPPER,
    A,
    B,
    T,
    quantity,
)


@kernel
def slot_of(nc: int, k: int, kind: int, i: int, direction: int) -> int:
    """The place of a quantity's pair."""
    if kind == SB or kind == BETA:
        return i
    if kind == SN or kind == LN:
        return nc + i
    if kind == SD or kind == LD:
        return 2 * nc + i * k + direction
    if kind == T:
        return (3 + k) * nc
    return (2 + k) * nc + i


@kernel
def quantity_in(nc: int, k: int, state: Any, slot: int) -> tuple[int, int, int]:
    """The quantity (kind, contact, direction) of a pair that is not zero by the state."""
    if slot < nc:
        return (BETA if state[slot, NORMAL] == UPPER else SB), slot, 0
    if slot < 2 * nc:
        i = slot - nc
        return (SN if state[i, NORMAL] == OPEN else LN), i, 0
    if slot < (2 + k) * nc:
        i = (slot - 2 * nc) // k
        j = slot - 2 * nc - i * k
        return (LD if j == state[i, A] or j == state[i, B] else SD), i, j
    if slot == (3 + k) * nc:
        return T, 0, 0
    i = slot - (2 + k) * nc
    return (GAMMA if state[i, SLIDING] else SG), i, 0


@kernel
def fill_slots(shape: Any, data: Any, state: Any, x: Any, share: float, bound: Any, w: Any) -> None:
    """All places from primitives x and the share of ``lambda_max`` in them (1 for values, 0 for rates)."""
    _, dirs, mu, cover = data
    nc, k = shape[0], dirs.shape[0]
    for slot in range((3 + k) * nc + 1):
        kind, i, direction = quantity_in(nc, k, state, slot)
        w[slot] = quantity(shape, dirs, mu, cover, state, kind, i, direction, x)
        if kind == SB:
            w[slot] += share * bound[i]


@kernel
def fill_primitives(shape: Any, data: Any, state: Any, frame: Any, c: Any, w: Any, x: Any) -> None:
    """Primitives x from the places: impulses along the frame, then the velocities that they bring."""
    G, dirs = data[0], data[1]
    nc, nt = shape
    n, k = nc * (1 + nt), dirs.shape[0]
    for row in range(n):
        x[row] = 0.0
        x[n + row] = c[row]
    x[2 * n] = w[(3 + k) * nc]
    for i in range(nc):
        own = i * (1 + nt)
        if state[i, NORMAL] != OPEN:
            x[own] = w[nc + i]
        for part in range(nt):
            pushing = state[i, A + part]
            if pushing >= 0:
                x[own + 1 + part] = w[2 * nc + i * k + pushing]
        for row in range(n):
            x[n + row] += G[row, own] * x[own]
            for part in range(nt):
                for d in range(nt):
                    x[n + row] += G[row, own + 1 + d] * frame[i, part, d] * x[own + 1 + part]
