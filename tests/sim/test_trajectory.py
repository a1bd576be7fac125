import numpy as np
import pytest

import routh
from routh.base.status import Status
from routh.sim import Event, Trajectory
from routh.sim.event_driven import Recorder


def small(**changes):
    t = np.array([0.0, 0.1, 0.1])
    return Trajectory(**{"t": t, "q": np.zeros((3, 2)), "v": np.ones((3, 2)), **changes})


def test_samples_are_states():
    run = small(s=np.array([0.0, 0.1, 0.4]), events=(Event("impact", 0.1, 1, ("floor",)),))
    assert len(run) == 3
    assert run.final.t == 0.1
    assert run[0].v.tolist() == [1.0, 1.0]
    assert run.ok
    assert run.failures() == []


def test_the_state_after_an_impact_stays_what_it_is():
    """A step too short for s after a large impulse moved q, by a last bit, within the impact."""
    model = routh.systems.get("rocking-block").model
    q, v = np.zeros(model.nq), np.zeros(model.nv)
    record, impulse = Recorder(model, 0.1, q, v), np.zeros((len(model.contacts), 2))
    record.add(0.1, q, v + 1.0, impulse + 50.0)
    record.add(np.nextafter(0.1, 1.0), q + 1e-16, v + 2.0, impulse)
    run = record.trajectory()
    assert np.all(run.q[1] == run.q[0])
    assert np.all(run.v[1] == 1.0)
    assert np.all(run.v[2] == 2.0)
    assert np.all(np.diff(run.s) > 0.0)


def test_failures_are_named():
    run = small(status=np.array([0, Status.NUMERICAL, 0], dtype=np.int8))
    assert not run.ok
    assert run.failures() == [(0.1, Status.NUMERICAL)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"q": np.zeros((2, 2))}, r"q: got 2 samples; wanted 3"),
        ({"energies": {"kinetic": np.zeros(4)}}, r"energies\['kinetic'\]: got 4 samples"),
        ({"t": np.array([0.0, 0.2, 0.1])}, "t: got a time that decreases"),
        ({"t": np.array([0.0, np.nan, 0.1])}, "t: got a time that decreases or is not a number"),
        ({"s": np.array([0.0, 0.1, 0.1])}, "s: got an augmented time"),
    ],
)
def test_refuses(changes, message):
    with pytest.raises(ValueError, match=message):
        small(**changes)
