"""How long impacts take in the compiled loop alone, for the comparison with JW17's Table 1."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from routh.two_body import _kernel
from routh.two_body._layout import EVENT_TOLERANCE, Impacts, workspace
from routh.validation import Array


def best_seconds(work: Callable[[], object], repeats: int) -> float:
    """The best processor time of one call in seconds."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def kernel_seconds(W: Array, v: Array, mu: Array, e: Array) -> float:
    """Processor time per impact of the compiled loop on one thread in bulk, best of five, s."""
    n = len(mu)
    out, codes, status = np.zeros((n, _kernel.OUT_SIZE)), np.zeros((n, 1), np.int64), np.zeros(n, np.int8)
    impacts, work = Impacts(W, v, mu, e, 0, EVENT_TOLERANCE, out, codes, status), workspace()
    run_range = _kernel.cpu_range()
    return best_seconds(lambda: run_range(impacts, work, 0, n), 5) / n
