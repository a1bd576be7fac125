"""Scans, trajectories and batches come back from files as they were; nothing else passes for one."""

from dataclasses import replace

import numpy as np
import pytest

import routh
from routh.auditing.scans import Scan
from routh.sampling.batch import BatchOutcomes
from routh.sim import Bundle, Event, Trajectory


def block(**options):
    return routh.systems.impact("rocking-block", **options)


def batch():
    """Rows of different sizes, one of them without a contact, a contact missing in the middle."""
    ball = routh.systems.impact("bouncing-ball")
    return routh.ImpactBatch.from_problems([block(), None, ball, block(mu=0.1)])


def masked():
    one = block()
    present = np.array([[True, True], [False, True]])
    return routh.ImpactBatch(one.M, one.Jn, one.Jt, one.mu, np.tile(one.v, (2, 1)), present=present)


def motion():
    system = routh.systems.get("rocking-block")
    return routh.simulate(system.model, system.state, duration=0.1, seed=0)


def same(a, b):
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    else:
        assert a == b
        assert type(a) is type(b)


@pytest.mark.parametrize("make", [batch, masked])
def test_a_batch_and_its_outcomes(make, tmp_path):
    given = make()
    outcomes = routh.sample(given, 16, seed=3)
    given.save(tmp_path / "batch.npz")
    outcomes.save(tmp_path / "outcomes.npz")
    again = routh.ImpactBatch.load(tmp_path / "batch.npz")
    loaded = BatchOutcomes.load(tmp_path / "outcomes.npz")
    for kept in (again, loaded.batch):
        for name in ("M", "Jn", "Jt", "mu", "v", "restitution", "present", "size", "status"):
            same(getattr(given, name), getattr(kept, name))
        names = [given.names_of(row) for row in range(len(given))]
        assert [kept.names_of(row) for row in range(len(given))] == names
        assert [kept.take([row]).names_of(0) for row in range(len(given))] == names
    for name in ("v", "impulse", "steps", "status", "residual", "ambiguity", "solved"):
        same(getattr(outcomes, name), getattr(loaded, name))
    assert loaded.settings == outcomes.settings
    same(routh.sample(again, 16, seed=3).v, outcomes.v)
    same(loaded[0].v, outcomes[0].v)


def test_refused_rows_keep_their_reasons(tmp_path):
    pytest.importorskip("mujoco")
    text = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/><body pos="0 0 0.1">
      <freejoint/><geom name="crate" type="box" size="0.2 0.15 0.1"/></body></worldbody></mujoco>"""
    (tmp_path / "crate.xml").write_text(text)
    model = routh.models.mujoco.load(tmp_path / "crate.xml")
    qpos = np.tile(model.qpos0, (3, 1))
    qpos[:, 2] = [0.1, 0.3, -0.5]
    given = routh.models.mujoco.problems(model, qpos, np.tile([0.0, 0.0, -1.0, 0.1, 0.0, 0.0], (3, 1)))
    given.save(tmp_path / "batch.npz")
    again = routh.ImpactBatch.load(tmp_path / "batch.npz")
    assert [again.reason(k) for k in range(3)] == [given.reason(k) for k in range(3)]
    assert again[0].names == given[0].names
    same(again.status, given.status)


def test_a_scan(tmp_path):
    found = routh.scan(
        lambda mu, speed: block(mu=mu, speed=speed), {"mu": [0.1, 0.5], "speed": [1, 2, 3]}, n=8
    )
    found.save(tmp_path / "scan.npz")
    again = Scan.load(tmp_path / "scan.npz")
    assert list(again.axes) == ["mu", "speed"]
    for name in ("score", "contacts", "share_solved", "explained", "status"):
        same(getattr(found, name), getattr(again, name))
    assert again.worst() == found.worst()


def same_motion(given, again):
    for name in ("t", "q", "v", "s", "impulse", "status", "residuals"):
        same(getattr(given, name), getattr(again, name))
    for group in ("forces", "deformations", "energies"):
        assert list(getattr(again, group)) == list(getattr(given, group))
        for name, array in getattr(given, group).items():
            same(array, getattr(again, group)[name])
    assert again.contacts == given.contacts
    assert len(again.events) == len(given.events) > 0
    for one, other in zip(given.events, again.events, strict=True):
        assert (one.kind, one.t, one.index, one.contacts) == (
            other.kind,
            other.t,
            other.index,
            other.contacts,
        )
        assert list(one.data) == list(other.data)
        for name, value in one.data.items():
            same(value, other.data[name])


def test_a_trajectory_with_what_its_events_know(tmp_path):
    given = motion()
    given.save(tmp_path / "motion.npz")
    again = Trajectory.load(tmp_path / "motion.npz")
    same_motion(given, again)
    model = routh.systems.get("rocking-block").model
    assert routh.sim.verify(model, again).ok == routh.sim.verify(model, given).ok


def test_a_choice_knows_its_solutions(tmp_path):
    """Before, a motion with one was saved and could not be read."""
    solutions = [{"left": "sticks", "right": "separates"}, {"left": "slides", "right": "separates"}]
    choice = Event("choice", 0.0, 0, ("left", "right"), {"solutions": solutions, "drawn": 1})
    given = replace(motion(), events=(choice,))
    given.save(tmp_path / "motion.npz")
    assert Trajectory.load(tmp_path / "motion.npz").events == (choice,)


def test_a_bundle_of_futures(tmp_path):
    system = routh.systems.get("rocking-block")
    given = routh.simulate_many(system.model, system.state, n=5, duration=0.2, seed=1)
    assert len({len(one) for one in given}) > 1  # of different lengths
    given.save(tmp_path / "futures.npz")
    again = Bundle.load(tmp_path / "futures.npz")
    assert len(again) == 5
    for one, other in zip(given, again, strict=True):
        same_motion(one, other)
    same(given.impacts, again.impacts)
    same(given.status, again.status)
    with pytest.raises(ValueError, match="futures alike"):
        Bundle(()).save(tmp_path / "none.npz")
    assert not (tmp_path / "none.npz").exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ends": lambda a: a[:-1]}, "ends: got"),
        ({"ends": lambda a: a[::-1]}, "ends: got"),
        ({"ends": lambda a: a - 1}, "ends: got"),
        ({"ends": lambda a: a.astype(float)}, "ends: got"),
        ({"ends": lambda a: a[:0]}, "ends: got"),
        ({"q": lambda a: a[:-1]}, "ends: got"),
        ({"t": lambda a: a[::-1]}, "t: got a time that decreases"),
        ({"parts": lambda a: np.array(str(a).replace("bundle", "scan"))}, "wanted a bundle"),
    ],
)
def test_bundles_that_are_not_whole_are_refused(tmp_path, changes, words):
    path = tmp_path / "futures.npz"
    Bundle((motion(), motion())).save(path)
    with pytest.raises(ValueError, match=words) as caught:
        Bundle.load(changed(path, **changes))
    assert str(path) in str(caught.value)


def changed(path, **changes):
    with np.load(path) as data:
        arrays = dict(data)
    np.savez(path, **{**arrays, **{name: change(arrays[name]) for name, change in changes.items()}})
    return path


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"batch_v": lambda a: a[:, :1]}, "v: got shape"),
        ({"batch_size": lambda a: a + np.int32(5)}, "size: larger than"),
        ({"batch_M": lambda a: a.astype(np.float32)}, "M: got shape"),
        ({"batch_mu": lambda a: a - 9.0}, "mu: row 0 is negative"),
        ({"status": lambda a: a + np.int8(77)}, "status: got 77"),
        ({"impulse": lambda a: a[..., :1]}, "impulse: got shape"),
        ({"parts": lambda a: np.array("[" * 100_000)}, "that this version can read"),
        ({"parts": lambda a: np.array(str(a).replace('"A"', "3, 4"))}, "names: there are not as many"),
    ],
)
def test_batches_that_do_not_belong_together_are_refused(tmp_path, changes, words):
    path = tmp_path / "set.npz"
    routh.sample(routh.ImpactBatch.from_problems([block()]), 4).save(path)
    with pytest.raises(ValueError, match=words) as caught:
        BatchOutcomes.load(changed(path, **changes))
    assert str(path) in str(caught.value)


def test_scans_and_trajectories_that_are_not_whole_are_refused(tmp_path):
    path = tmp_path / "a.npz"
    routh.scan(lambda mu: block(mu=mu), {"mu": [0.1, 0.5]}, n=4).save(path)
    with pytest.raises(ValueError, match=r"a\.npz: holds a scan; wanted a trajectory"):
        Trajectory.load(path)
    with pytest.raises(ValueError, match=r"a\.npz: score: got shape"):
        Scan.load(changed(path, score=lambda a: a[:1]))
    motion().save(path)
    with pytest.raises(ValueError, match=r"a\.npz: q: got 1 samples"):
        Trajectory.load(changed(path, q=lambda a: a[:1]))
    motion().save(path)
    later = changed(path, parts=lambda a: np.array(str(a).replace('"format": 1', '"format": 99')))
    with pytest.raises(ValueError, match=r"a\.npz: has format 99; wanted 1, or a later version of routh"):
        Trajectory.load(later)
    block().save(path)
    with pytest.raises(ValueError, match=r"a\.npz: has no array 'parts'"):
        Scan.load(path)
