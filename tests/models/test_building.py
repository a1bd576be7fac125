"""States of a robot in several processes: the same rows as in one, to the bit."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

from robot_zoo import load_mjcf
from routh import Status
from routh.models import UnrepresentedWarning
from routh.models import mujoco as adapter

mujoco = pytest.importorskip("mujoco")

ARRAYS = ("M", "Jn", "Jt", "mu", "v", "restitution", "status", "dist", "present")


def states(model, count):
    """Of a fall; one that is no number, one far above the ground, one far below it."""
    data = mujoco.MjData(model)
    q, v = np.empty((count, model.nq)), np.empty((count, model.nv))
    rng = np.random.default_rng(1)
    for k in range(count):
        data.ctrl[:] = rng.uniform(-1.0, 1.0, model.nu)
        mujoco.mj_step(model, data)
        q[k], v[k] = data.qpos, data.qvel
    v[count // 2, 0] = np.nan
    q[3, 1] += 100.0
    q[count - 1, 1] -= 100.0
    return q, v


def assert_equal(one, several):
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(several, name), getattr(one, name), err_msg=name)
    assert several.unrepresented == one.unrepresented
    for k in np.flatnonzero(one.status == Status.SOLVED):
        arrays = [value for value in vars(several[int(k)]).values() if isinstance(value, np.ndarray)]
        assert len(arrays) > 6
        assert not any(array.flags.writeable for array in arrays)
    for k in range(len(one)):
        assert several.reason(k) == one.reason(k)
        assert several.names_of(k) == one.names_of(k)


@pytest.fixture(scope="module")
def walker():
    return load_mjcf("gymnasium/walker2d")


@pytest.mark.parametrize(("window", "count"), [(None, 1500), (None, 5), (1e-3, 40)])
def test_processes_make_the_same_rows(walker, window, count):
    """In compiled code, with fewer states than a process takes, and state by state."""
    q, v = states(walker, count)
    given = {"window": window, "restitution": 0.25, "limits": count > 5}
    one = adapter.problems(walker, q, v, **given)
    assert {Status.NO_CONTACT, Status.REFUSED} <= {Status(code) for code in one.status}
    assert_equal(one, adapter.problems(walker, q, v, processes=2, **given))


def test_what_no_row_can_represent_is_told_of_by_every_process():
    xml = (
        "<mujoco><worldbody><geom name='floor' type='plane' size='5 5 1'/>"
        "<body pos='0 0 0.1'><freejoint/><geom name='early' size='0.1' condim='4'/></body>"
        "<body pos='1 0 0.1'><freejoint/><geom name='late' size='0.1' condim='6'/></body>"
        "</worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(xml)
    q = np.tile(model.qpos0, (1200, 1))
    q[:600, 9], q[600:, 2] = 1.0, 1.0  # one lands in the first half, the other in the second
    v = np.full((1200, model.nv), -0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnrepresentedWarning)
        one, several = (adapter.problems(model, q, v, processes=k) for k in (1, 2))
    assert_equal(one, several)
    assert any("early" in note and "late" in note for note in several.unrepresented)


def test_pinocchio_states_in_processes():
    pinocchio = pytest.importorskip("pinocchio", exc_type=ImportError)
    from routh.models import pinocchio as other

    model = pinocchio.buildSampleModelManipulator()
    rng = np.random.default_rng(0)
    q, v = rng.uniform(-1.5, 1.5, (40, model.nq)), rng.normal(size=(40, model.nv))
    q[7, 0] = np.nan
    ends = {"points": ["wrist2_joint"], "ground": 0.2, "gap": 0.5, "deepest": None, "past_limit": None}
    one, several = (other.problems(model, q, v, processes=k, **ends) for k in (1, 2))
    assert np.count_nonzero(one.present.any(axis=1)) > 3
    assert_equal(one, several)


@pytest.mark.parametrize("given", [0, 1.5, "all"])
def test_other_numbers_of_processes_are_refused(walker, given):
    with pytest.raises(ValueError, match="processes: got"):
        adapter.problems(walker, np.zeros((1, walker.nq)), np.zeros((1, walker.nv)), processes=given)


SPAWNED = """
import multiprocessing, sys
import numpy as np
from routh.models import mujoco as adapter
from test_building import assert_equal, load_mjcf, states

if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    model = load_mjcf("gymnasium/walker2d")
    for window in (None, 1e-3):
        q, v = states(model, 300 if window is None else 20)
        given = {"window": window, "data": adapter.engine.engine().MjData(model)}
        one, several = (adapter.problems(model, q, v, processes=k, **given) for k in (1, 2))
        assert_equal(one, several)
    print("equal")
"""


def test_processes_that_share_no_memory(tmp_path):
    """Where Python starts them anew, as it does by default from 3.14 on."""
    script = tmp_path / "spawned.py"
    script.write_text(SPAWNED)
    paths = ":".join(path for path in sys.path if path)
    run = subprocess.run(
        [sys.executable, "-W", "ignore", str(script)],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.stdout == "equal\n", run.stderr
