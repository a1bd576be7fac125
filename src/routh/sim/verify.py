"""Is a trajectory a solution of the time-augmented inclusion? A check that shares nothing with the simulator.

Every sample and every interval between samples is held against HP23 (53) with the model alone:

* nowhere penetration (Lemma 4), and ``ds = dt + sum of normal impulse`` with rates in [0, 1];
* smooth intervals: forces push, lie in the friction cone, dissipate most (12), (16), act only at closed
  contacts that do not separate; and the acceleration in the middle of the interval, from the states at its
  ends, lies in the set of (53), found by non-negative least squares without the recorded forces;
* impacts: t and q stand still, momentum is balanced, no impulse where all closed contacts separate, open ones
  push only if they would have touched within the window that the event names, and the
  increments meet the conditions of their law: (72) for implicit steps, (39) along Routh's path;
* accumulation points: the times really decay, and momentum balances across the gap.
"""

from __future__ import annotations

import numpy as np

from routh import tolerances
from routh.models.base import Model
from routh.sim.evidence import Control, Evidence, Verdict, Violation
from routh.sim.impact_checks import check_accumulation, check_impact, check_outcomes
from routh.sim.smooth_checks import check_smooth
from routh.sim.trajectory import Trajectory


def verify(model: Model, trajectory: Trajectory, *, control: Control | None = None) -> Verdict:
    """Hold a trajectory of `routh.simulate` against HP23 (53), sample by sample.

    Contacts count as closed in an impact if they would have touched within the window of its event.
    ``control`` must be the one that the trajectory was made with. Energy is checked where the model knows its
    potential and there is no control.
    """
    if trajectory.s is None or trajectory.impulses is None:
        raise ValueError("trajectory: has no augmented time; wanted one of `routh.simulate`")
    faults = [Violation("finite numbers", i, np.inf) for i in _not_finite(trajectory)]
    if faults:
        return Verdict(faults, {"finite numbers": np.inf}, {"finite numbers": len(trajectory)})
    evidence = Evidence(model, trajectory, control)
    _check_samples(evidence)
    zeno = {event.index: event for event in trajectory.events if event.kind == "zeno"}
    for i in range(1, len(trajectory)):
        if i in zeno:
            check_accumulation(evidence, i, zeno[i])
        elif trajectory.t[i] == trajectory.t[i - 1]:
            check_impact(evidence, i)
        else:
            check_smooth(evidence, i)
    check_outcomes(evidence)
    _check_energy(evidence)
    return evidence.book


def _not_finite(trajectory: Trajectory) -> list[int]:
    """Samples with NaN or infinity, found first: whether arithmetic on NaN warns depends on the machine."""
    arrays = [trajectory.t, trajectory.q, trajectory.v, trajectory.s, trajectory.impulses]
    arrays += trajectory.forces.values()
    flat = [np.asarray(array).reshape(len(trajectory), -1) for array in arrays]
    return np.flatnonzero(~np.all(np.isfinite(np.hstack(flat)), axis=1)).tolist()


def _check_samples(e: Evidence) -> None:
    """Lemma 4: no sample penetrates; ds = dt + sum of normal impulse; time never runs back or ahead of s."""
    for i, gaps in enumerate(e.gaps):
        if len(gaps):
            e.book.note("penetration", i, float(-gaps.min()), tolerances.VERIFY_GAP * e.reach[i])
    for i, (dt, ds) in enumerate(zip(np.diff(e.trajectory.t), np.diff(e.s), strict=True), start=1):
        normal = float(e.impulses[i, :, 0].sum())
        rounding = 1e-12 * max(1.0, e.s[i])
        e.book.note("augmented time", i, abs(ds - dt - normal), rounding)
        e.book.note("time rate", i, max(-dt, dt - ds), rounding)


def _check_energy(e: Evidence) -> None:
    """Kinetic and potential energy together never rise without input: not at once, not bit by bit."""
    potential = getattr(e.model, "potential", None)
    if e.control is not None or potential is None:
        return
    total = 0.5 * e.speed**2 + np.array([potential(q) for q in e.trajectory.q])
    unit = max(float(np.ptp(total)), 0.5 * e.fastest**2, 1e-300)
    rounding = 4.0 * float(np.spacing(np.abs(total).max()))
    t = e.trajectory.t
    inside = np.zeros(len(t), dtype=bool)  # of an impact, where restitution gives back what it took
    inside[1:-1] = (t[1:-1] == t[:-2]) & (t[1:-1] == t[2:])
    kept = np.flatnonzero(~inside)
    lowest = 0
    for k in range(1, len(kept)):
        # interpolation errs once, the integrator with every step, which has a dozen samples
        allowed = tolerances.VERIFY_ENERGY + tolerances.VERIFY_INTEGRATOR * (k - lowest) / 12.0
        change = float(total[kept[k]] - total[kept[lowest]])
        e.book.note("energy", int(kept[k]), change, allowed * unit + rounding)
        lowest = k if change < 0.0 else lowest
