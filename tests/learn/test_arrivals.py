"""How long a look at a moving state is good for."""

import numpy as np
import pytest

from routh.compiling import interpreted
from routh.learn import arrivals

MOST, GAP = 150.0, 1e-3


def earliest(depth, speed, *, handled):
    row, rules = np.zeros(arrivals.COLUMNS), np.zeros(arrivals.RULES)
    row[arrivals.DEPTH], row[arrivals.SPEED], row[arrivals.HANDLED] = depth, speed, handled
    rules[arrivals.ACCELERATION], rules[arrivals.REOPEN] = MOST, GAP
    return interpreted(arrivals.earliest)(row, rules)


def closed_after(depth, speed, outward):
    """The largest acceleration, outwards for so long, then inwards: how far it opens, and when it closes."""
    at, then = depth + speed * outward + 0.5 * MOST * outward**2, speed + MOST * outward
    farthest = at + max(then, 0.0) ** 2 / (2.0 * MOST)
    return farthest, outward + (then + np.sqrt(then**2 + 2.0 * MOST * at)) / MOST


@pytest.mark.parametrize("depth", [1e-5, 4e-4, 9.9e-4])
@pytest.mark.parametrize("speed", [-0.3, -0.05, 0.0, 0.05, 0.3, 1.0])
def test_what_was_handled_has_to_open_beyond_the_gap_first(depth, speed):
    found = [closed_after(depth, abs(speed), outward) for outward in np.linspace(0.0, 0.02, 4001)]
    soonest = min(closed for farthest, closed in found if farthest > GAP)  # an approach may bounce at once
    assert np.sqrt(2.0 * GAP / MOST) <= earliest(depth, speed, handled=1.0) <= soonest


@pytest.mark.parametrize("speed", [-2.0, -0.3, 0.0, 0.3])
def test_what_is_open_closes_no_sooner_than_the_largest_acceleration_allows(speed):
    depth = 5e-3
    _, closed = closed_after(depth, speed, 0.0)
    assert earliest(depth, speed, handled=0.0) == pytest.approx(closed)
    assert earliest(depth, -abs(speed), handled=1.0) >= abs(speed) / MOST
