"""How long impacts take in the compiled loop alone, for the comparison with JW17's Table 1."""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable

from routh.two_body import _kernel
from routh.two_body._layout import workspace
from routh.two_body.api import checked
from routh.validation import Array


def best_seconds(work: Callable[[], object], repeats: int) -> float:
    """The best processor time of one call in seconds."""
    return min(timeit.repeat(work, timer=time.process_time, number=1, repeat=repeats))


def kernel_seconds(W: Array, v: Array, mu: Array, e: Array) -> float:
    """Processor time per impact of the compiled loop on one thread in bulk, best of five, s."""
    impacts, work, run_range = checked(W, v, mu, e), workspace(), _kernel.cpu_range()
    return best_seconds(lambda: run_range(impacts, work, 0, len(mu)), 5) / len(mu)
