"""Time goes on: HP23 Theorem 5 and Corollary 3, held against trajectories."""

import numpy as np
import pytest

import routh
from routh.models.base import impact_problem
from routh.problem.termination import terminates


def impact_shares(model, motion):
    """Augmented time of every impact over the bound on it, Theorem 5 with the r of Lemma 6."""
    moments = {(e.t, e.index) for e in motion.events if e.kind.startswith("impact")}
    shares = []
    for t in sorted({t for t, _ in moments}):
        first = min(index for time, index in moments if time == t)
        inside = np.flatnonzero((motion.t == motion.t[first]) & (np.arange(len(motion)) >= first))
        bound = terminates(impact_problem(model, motion[first], gap=1e-8)).impulse_bound
        shares.append((motion.s[inside[-1]] - motion.s[first]) / bound)
    return shares


def slowest_rate(motion, window):
    """The least mean dt/ds over any stretch of augmented time of this length."""
    starts = np.union1d(motion.s, motion.s - window)
    starts = starts[(starts >= motion.s[0]) & (starts + window <= motion.s[-1] * (1 + 1e-15))]
    later, now = (np.interp(s, motion.s, motion.t) for s in (starts + window, starts))
    return ((later - now) / window).min()


@pytest.mark.parametrize("name", ["rocking-block", "compass-gait", "disk-stack"])
def test_time_advances(name):
    system = routh.systems.get(name)
    motion = routh.simulate(system.model, system.state, duration=0.1, seed=5)
    shares = impact_shares(system.model, motion)
    assert shares
    assert all(0.0 < share <= 1.0 for share in shares)
    frozen = max(float(np.ptp(motion.s[motion.t == t])) for t in np.unique(motion.t))
    window = min(max(0.1 * np.ptp(motion.s), 2.0 * frozen), np.ptp(motion.s))
    assert 0.0 < slowest_rate(motion, window) <= 1.0
