"""Few of many points that lie far apart."""

from __future__ import annotations

import numpy as np

from routh.base.validation import Array


def spread_choice(values: Array, count: int, least: float = -1.0) -> np.ndarray:
    """Indices of at most ``count`` rows of ``values`` (n, k) that lie far apart.

    The first is the farthest from the mean, each next one the farthest from those before; it ends where no
    other is farther than ``least``.
    """
    chosen: list[int] = []
    away = ((values - values.mean(axis=0)) ** 2).sum(axis=1) if len(values) else np.zeros(0)
    while len(chosen) < min(count, len(values)) and np.sqrt(away.max()) > least:
        chosen.append(int(np.argmax(away)))
        apart = values - values[chosen[-1]]
        nearer = np.einsum("nk,nk->n", apart, apart)
        away = nearer if len(chosen) == 1 else np.minimum(away, nearer)
    return np.array(chosen, dtype=np.intp)
