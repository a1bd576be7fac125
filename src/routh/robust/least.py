"""The least of a number for which something holds: by steps from where it is easiest, then by halving."""

from __future__ import annotations

from collections.abc import Callable

STEPS = 8  # that are taken down from the easy end before the last one is halved


def least_share(holds: Callable[[float], bool], width: float = 1e-3) -> float | None:
    """The least share of a range from which on, up to 1, it holds wherever it was asked; None: not even at 1.

    What holds below a share at which it does not is not looked for: an answer that is safe only between two
    that are not would be of little use. It is told to ``width``.
    """
    good = None
    for k in range(STEPS, -1, -1):
        if not holds(k / STEPS):
            break
        good = k / STEPS
    if good is None or good == 0.0:
        return good
    bad = good - 1.0 / STEPS
    while good - bad > width:
        middle = 0.5 * (good + bad)
        if holds(middle):
            good = middle
        else:
            bad = middle
    return good
