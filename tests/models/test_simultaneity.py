"""Which contacts are simultaneous, which are redundant, and how the set grows with the choice."""

import numpy as np
import pytest

from routh.auditing import scans as growing
from routh.auditing.scans import growth
from routh.base.status import ModelError
from routh.cli import landings
from routh.cli.landings import window_line
from routh.models import landing
from routh.models import mujoco as adapter
from routh.models.base import State
from routh.models.robot import allowed_velocities, distinct_names, time_to_contact
from routh.models.simultaneity import redundancy
from routh.models.spatial import SpatialModel, box, corner_contacts


def crate(turn=0.0):
    """A box over the ground, four corners down, turned about x by a little."""
    body = box("crate", (0.4, 0.3, 0.2), mass=1.0)
    model = SpatialModel([body], corner_contacts(body, mu=0.5))
    q = np.array([0.0, 0.0, 0.1, np.cos(turn / 2), np.sin(turn / 2), 0.0, 0.0])
    q[2] -= model.gaps(q).min()
    return model, State(q, np.array([0.0, 0.0, -1.0, 0.1, 0.0, 0.0]))


def test_a_face_is_redundant_and_kept():
    model, state = crate()
    problem = model.problem(state)
    assert redundancy(problem) == problem.names == ("A", "B", "C", "D")  # each follows from the other three


def test_a_contact_between_two_others_is_redundant_and_a_single_one_is_not():
    model, state = crate()
    problem = model.problem(state)
    a, b, d = problem.J[0], problem.J[1], problem.J[3]
    three = problem.replace(
        Jn=[a[0], b[0], 0.5 * (a[0] + b[0]), d[0]],
        Jt=[a[1:], b[1:], 0.5 * (a[1:] + b[1:]), d[1:]],
        mu=0.5,
        restitution=0.0,
        names=["a", "b", "middle", "apart"],
    )
    assert redundancy(three) == ("a", "b", "middle")
    assert redundancy(problem.subset([0])) == ()


def test_times_to_contact():
    times = time_to_contact(np.array([-0.1, 0.2, 0.2, 0.0]), np.array([1.0, -2.0, 2.0, 5.0]))
    np.testing.assert_array_equal(times, [0.0, 0.1, np.inf, 0.0])


def test_the_set_grows_with_the_gap_and_with_the_window():
    mujoco = pytest.importorskip("mujoco")
    xml = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/><body pos="0 0 0.1"
      euler="2 0 0"><freejoint/><geom name="crate" type="box" size="0.2 0.15 0.1"/></body>
      </worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    data.qpos[2] += 0.005
    data.qvel[2] = -1.0
    wide = adapter.problem(model, data, gap=0.05)
    rows = growth(wide, n=24)
    assert [len(row.contacts) for row in rows] == [2, 4]
    assert [row.redundant for row in rows] == [0, 4]
    assert rows[1].ambiguity > rows[0].ambiguity
    assert all(row.share_solved == 1.0 and row.energy[0] <= row.energy[1] for row in rows)
    times = growth(wide, windows=[1e-6, 0.5], n=4)
    assert [len(row.contacts) for row in times] == [2, 4]
    with pytest.raises(ValueError, match="wanted one of the two"):
        growth(wide, gaps=[0.1], windows=[0.1])


def test_helpers():
    assert distinct_names(["a", "b", "a", "a"]) == ["a", "b", "a#2", "a#3"]
    basis = allowed_velocities(np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]]))  # the second says nothing new
    assert basis.shape == (3, 2)
    np.testing.assert_allclose(basis.T @ basis, np.eye(2), atol=1e-14)
    np.testing.assert_allclose([1.0, 1.0, 0.0] @ basis, 0.0, atol=1e-14)
    with pytest.raises(ModelError, match="allow no velocity"):
        allowed_velocities(np.eye(3))


def test_thresholds_with_the_same_contacts_are_sampled_once(monkeypatch):
    drawn, sample = [], growing.sample

    def counted(part, n, **options):
        drawn.append(part.names)
        return sample(part, n, **options)

    monkeypatch.setattr(growing, "sample", counted)
    rows = growth(landing(compiled_crate(), down=1.0).problem, windows=[1e-3, 5e-3, 20e-3], n=4)
    assert [row.threshold for row in rows] == [1e-3, 5e-3, 20e-3]
    assert [len(row.contacts) for row in rows] == [4, 4, 4]
    assert rows[0].ambiguity == rows[2].ambiguity
    assert len(drawn) == 1


def test_the_line_about_windows_draws_only_where_that_is_cheap(monkeypatch):
    found = landing(compiled_crate(), down=1.0)
    assert "1.67 ms 4 (" in window_line(found.problem, found.window, "cone", 0)
    monkeypatch.setattr(landings, "_MOST_DRAWN", 3)
    line = window_line(found.problem, found.window, "cone", 0)
    assert line.endswith("1.67 ms 4, 5 ms 4, 15 ms 4")


def compiled_crate():
    mujoco = pytest.importorskip("mujoco")
    return mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/><body pos="0 0 0.5"><freejoint/>
        <geom name="crate" type="box" size="0.2 0.15 0.1"/></body></worldbody></mujoco>"""
    )
