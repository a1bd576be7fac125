"""Many states of a robot: every row equals the problem of its state, and every row is there."""

import warnings

import numpy as np
import pytest

from robot_zoo import DM_CONTROL, GYMNASIUM, landing, load_mjcf
from routh import Status
from routh.models import RobotBatch, RobotProblem, UnrepresentedWarning
from routh.models import mujoco as adapter
from routh.models.robot import NoContactError

mujoco = pytest.importorskip("mujoco")

HEAD = "<mujoco><compiler angle='radian'/><worldbody><geom name='floor' type='plane' size='5 5 1'/>"
CRATE = HEAD + (
    "<body pos='0 0 0.1'><freejoint/><geom name='crate' type='box' size='0.2 0.15 0.1'/></body>"
    "</worldbody></mujoco>"
)
ARM = (
    "<body pos='0 0 1'><joint name='shoulder' axis='0 1 0' range='-1 1'/><geom name='upper' type='capsule' "
    "fromto='0 0 0 0.4 0 0' size='0.05'/><body pos='0.4 0 0'><joint name='tube' type='slide' axis='1 0 0' "
    "range='-0.1 0.1'/><geom name='hand' type='sphere' size='0.08' condim='1' mass='0.3'/></body></body>"
)
EQUALITY = "<equality><joint joint1='left' joint2='right' polycoef='0 -1 0 0 0'/></equality>"
LINKED = (
    "<body pos='0 0 0.3'><freejoint/><geom type='box' size='0.1 0.1 0.1' pos='0 0 0.3'/>"
    "<body pos='0.1 0 0'><joint name='left' axis='0 1 0'/>"
    "<geom name='l' type='sphere' size='0.05' pos='0 0 -0.25'/></body>"
    "<body pos='-0.1 0 0'><joint name='right' axis='0 1 0'/>"
    "<geom name='r' type='sphere' size='0.05' pos='0 0 -0.25'/></body></body>"
)


def single(model, q, v, **options):
    """The problem of one state by the code for a single one; None where nothing touches."""
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q, v
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnrepresentedWarning)
        try:
            return adapter.problem(model, data, **options)
        except NoContactError:
            return None


def batch_of(model, q, v, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnrepresentedWarning)
        return adapter.problems(model, q, v, **options)


def assert_same(row, alone):
    """Two robot problems, equal to rounding."""
    assert isinstance(row, RobotProblem)
    assert row.names == alone.names
    assert row.nt == alone.nt
    assert set(row.unrepresented) == set(alone.unrepresented)
    for field in ("M", "Jn", "Jt", "mu", "v", "restitution", "dist"):
        wanted = getattr(alone, field)
        np.testing.assert_allclose(
            getattr(row, field), wanted, rtol=0, atol=1e-12 * max(np.abs(wanted).max(), 1.0), err_msg=field
        )
    for one, other in zip(row.contacts, alone.contacts, strict=True):
        assert (one.kind, one.geom1, one.geom2, one.unit) == (
            other.kind,
            other.geom1,
            other.geom2,
            other.unit,
        )
        np.testing.assert_allclose(one.frame, other.frame, rtol=0, atol=1e-12)
        np.testing.assert_allclose(one.pos, other.pos, rtol=0, atol=1e-12)


def rolled_out(model, n, rng):
    """States of a rollout with random controls, every third one."""
    data = mujoco.MjData(model)
    q, v = [], []
    for k in range(3 * n):
        data.ctrl[:] = rng.uniform(-1.0, 1.0, model.nu)
        mujoco.mj_step(model, data)
        if k % 3 == 0:
            q.append(data.qpos.copy())
            v.append(data.qvel.copy())
    return np.array(q), np.array(v)


@pytest.mark.parametrize(
    "name", [f"gymnasium/{r}" for r in GYMNASIUM] + [f"dm_control/{r}" for r in DM_CONTROL]
)
def test_rows_are_the_problems_of_their_states(name):
    model = load_mjcf(name)
    rng = np.random.default_rng(3)
    states = [landing(model, rng) for _ in range(3)]
    q, v = rolled_out(model, 20, rng)
    q = np.vstack([q, *(data.qpos for data, _ in states)])
    v = np.vstack([v, *(data.qvel for data, _ in states)])
    options = {"gap": min(max(gap for _, gap in states), 0.05), "deepest": None, "past_limit": None}
    batch = batch_of(model, q, v, **options)
    assert len(batch) == len(q)
    touched = 0
    for k in range(len(q)):
        alone = single(model, q[k], v[k], **options)
        if alone is None:
            assert batch.status[k] == Status.NO_CONTACT
            np.testing.assert_array_equal(batch.v[k], v[k])
            continue
        touched += 1
        assert_same(batch[k], alone)
        assert (batch.status[k] == Status.SOLVED) == bool(np.any(alone.approaching))
    assert touched >= 3


def test_limits_and_contacts_without_friction():
    model = mujoco.MjModel.from_xml_string(HEAD + ARM + "</worldbody></mujoco>")
    q = np.array([[1.0005, 0.0], [0.0, 0.1], [-1.0, -0.0995], [0.3, 0.0], [1.0, 0.05]])
    v = np.array([[1.0, 0.2], [0.3, 1.0], [-1.0, -1.0], [1.0, 1.0], [-1.0, 0.0]])
    batch = batch_of(model, q, v)
    wanted = [("shoulder:upper",), ("tube:upper",), ("shoulder:lower", "tube:lower"), (), ("shoulder:upper",)]
    assert [batch.names_of(k) for k in range(5)] == wanted
    assert batch.status.tolist() == [
        Status.SOLVED, Status.SOLVED, Status.SOLVED, Status.NO_CONTACT, Status.NO_IMPACT
    ]  # fmt: skip
    for k in (0, 1, 2, 4):
        assert_same(batch[k], single(model, q[k], v[k]))
    assert not batch_of(model, q, v, limits=False).present.any()


def test_equality_constraints_are_reduced_in_every_row():
    model = mujoco.MjModel.from_xml_string(HEAD + LINKED + "</worldbody>" + EQUALITY + "</mujoco>")
    rng = np.random.default_rng(0)
    q = np.tile(model.qpos0, (4, 1))
    q[:, 7] = [0.0, 0.2, 0.1, 0.0]
    q[:, 8] = -q[:, 7]
    q[:, 2] = [0.3, 0.25 * np.cos(0.2) + 0.05, 0.6, 0.3]
    v = rng.normal(size=(4, model.nv))
    v[:, 2] = -1.0
    batch = batch_of(model, q, v, gap=1e-3)
    assert batch.nv == model.nv - 1
    assert batch.status[2] == Status.NO_CONTACT
    for k in (0, 1, 3):
        alone = single(model, q[k], v[k], gap=1e-3)
        assert_same(batch[k], alone)
        np.testing.assert_allclose(batch.lift(batch.v)[k], alone.lift(alone.v), atol=1e-12)
    assert np.isfinite(batch.v).all()


def test_states_that_cannot_be_are_refused_by_status():
    model = mujoco.MjModel.from_xml_string(CRATE)
    q = np.tile(model.qpos0, (5, 1))
    q[:, 2] = [0.1, 0.05, -0.5, np.nan, 0.1]
    v = np.zeros((5, 6))
    v[:, 2] = -1.0
    v[4, 0] = np.inf
    batch = batch_of(model, q, v)
    assert batch.status.tolist() == [0, 0, Status.REFUSED, Status.REFUSED, Status.REFUSED]
    assert "0.6 m deep; wanted at most 0.1 m (deepest=)" in batch.reason(2)
    assert "not finite" in batch.reason(3)
    assert "not finite" in batch.reason(4)
    with pytest.raises(ValueError, match="row 2 is not an impact problem: impossible state"):
        batch[2]
    assert batch_of(model, q, v, deepest=0.01).status[1] == Status.REFUSED
    assert batch_of(model, q, v, deepest=None).status[2] == Status.SOLVED
    arm = mujoco.MjModel.from_xml_string(HEAD + ARM + "</worldbody></mujoco>")
    past = batch_of(arm, [[1.3, 0.0], [1.5, 0.0]], np.ones((2, 2)))
    assert past.status.tolist() == [0, Status.REFUSED]
    assert "shoulder:upper is 0.5 rad past its limit; wanted at most 0.4 rad (past_limit=)" in past.reason(1)


def test_order_and_company_change_nothing():
    model = load_mjcf("gymnasium/walker2d")
    q, v = rolled_out(model, 300, np.random.default_rng(5))
    batch = batch_of(model, q, v)
    order = np.random.default_rng(6).permutation(len(q))
    shuffled = batch_of(model, q[order], v[order])
    for k in (0, 7, 150, 299):
        place = int(order[k])
        assert shuffled.status[k] == batch.status[place]
        if batch.status[place] in (Status.SOLVED, Status.NO_IMPACT):
            one, other = shuffled[k], batch[place]
            for field in ("M", "Jn", "Jt", "mu", "v"):
                np.testing.assert_array_equal(getattr(one, field), getattr(other, field))


def test_a_model_that_was_changed_is_seen_as_it_is():
    model = mujoco.MjModel.from_xml_string(CRATE)
    q, v = model.qpos0[None], np.array([[0.0, 0, -1, 0, 0, 0]])
    assert batch_of(model, q, v)[0].M[0, 0] == pytest.approx(model.body_mass[1])
    data = mujoco.MjData(model)
    data.qvel[:] = v[0]
    adapter.problem(model, data)
    model.body_mass[1] *= 2.0
    mujoco.mj_setConst(model, mujoco.MjData(model))
    model.geom_friction[:, 0] = 0.25
    for found in (batch_of(model, q, v)[0], adapter.problem(model, data)):
        assert found.M[0, 0] == pytest.approx(model.body_mass[1])
        np.testing.assert_array_equal(found.mu, 0.25)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    assert batch_of(model, q, v).status[0] == Status.NO_CONTACT
    with pytest.raises(ValueError, match="no contact"):
        adapter.problem(model, data)
    assert not model.geom_margin.any()


def test_restitution_by_number_and_by_name():
    model = mujoco.MjModel.from_xml_string(CRATE)
    q, v = np.tile(model.qpos0, (2, 1)), np.zeros((2, 6))
    v[:, 2] = -1.0
    q[1, 2] = 5.0
    np.testing.assert_array_equal(batch_of(model, q, v, restitution=0.5)[0].restitution, 0.5)
    named = batch_of(model, q, v, restitution={"crate/floor": 0.2, "crate/floor#3": 0.7})
    np.testing.assert_array_equal(named[0].restitution, [0.2, 0.2, 0.7, 0.2])
    with pytest.raises(ValueError, match="restitution: got 'foot/floor'"):
        batch_of(model, q, v, restitution={"foot/floor": 0.2})
    with pytest.raises(ValueError, match="restitution"):
        batch_of(model, q, v, restitution=1.5)


def test_what_cannot_be_represented_is_said_once():
    model = mujoco.MjModel.from_xml_string(
        CRATE.replace("size='0.2 0.15 0.1'", "size='0.2 0.15 0.1' condim='4'")
    )
    q, v = np.tile(model.qpos0, (3, 1)), np.zeros((3, 6))
    v[:, 2] = -1.0
    with pytest.warns(UnrepresentedWarning, match=r"torsional friction \(crate/floor\)") as said:
        batch = adapter.problems(model, q, v)
    assert len(said) == 1
    assert batch[0].unrepresented == batch.unrepresented == ("torsional friction (crate/floor)",)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"qpos": np.zeros((2, 6))}, r"qpos: got shape \(2, 6\); wanted shape \(n, 7\)"),
        ({"qvel": np.zeros((3, 6))}, "qvel: got 3 states; wanted 2, as many as in qpos"),
        ({"qpos": np.zeros((0, 7)), "qvel": np.zeros((0, 6))}, "qpos: got 0 states"),
        ({"gap": -1.0}, "gap"),
        ({"gap": np.nan}, "gap"),
        ({"deepest": -1.0}, "deepest"),
        ({"past_limit": np.nan}, "past_limit"),
    ],
)
def test_bad_input_is_refused(change, message):
    model = mujoco.MjModel.from_xml_string(CRATE)
    given = {"qpos": np.tile(model.qpos0, (2, 1)), "qvel": np.zeros((2, 6)), **change}
    with pytest.raises(ValueError, match=message):
        adapter.problems(model, **given)


def test_windows_and_mocap_bodies():
    model = mujoco.MjModel.from_xml_string(CRATE)
    q, v = model.qpos0[None].copy(), np.array([[0.0, 0, -1, 0, 0, 0]])
    q[0, 2] = 0.15
    assert batch_of(model, q, v).status[0] == Status.NO_CONTACT
    assert batch_of(model, q, v, window=0.06)[0].nc == 4
    platform = CRATE.replace(
        "</worldbody>",
        "<body name='lift' mocap='true' pos='0 0 -1'><geom type='box' size='1 1 0.1'/></body></worldbody>",
    )
    model = mujoco.MjModel.from_xml_string(platform)
    data = mujoco.MjData(model)
    q, v = q.copy(), v.copy()
    q[0, 2] = 1.0
    assert batch_of(model, q, v).status[0] == Status.NO_CONTACT
    data.mocap_pos[0] = [0.0, 0.0, 0.8]
    assert "lift" in batch_of(model, q, v, data=data)[0].names[0]


def test_pinocchio_rows_are_the_problems_of_their_states():
    pinocchio = pytest.importorskip("pinocchio", exc_type=ImportError)
    from routh.models import pinocchio as other

    model = pinocchio.buildSampleModelManipulator()
    model.lowerPositionLimit[:], model.upperPositionLimit[:] = -1.0, 1.0
    rng = np.random.default_rng(0)
    q = rng.uniform(-0.9, 0.9, (8, model.nq))
    q[0, 2], q[1, 1] = 1.0005, np.nan
    q[2, 3] = 1.6
    v = rng.normal(size=(8, model.nv))
    options = {"ground": -0.3, "points": [model.frames[-1].name], "gap": 0.5}
    batch = other.problems(model, q, v, **options)
    assert isinstance(batch, RobotBatch)
    assert batch.status[1] == Status.REFUSED
    assert batch.status[2] == Status.REFUSED
    seen = 0
    for k in [0, *range(3, 8)]:
        if batch.status[k] in (Status.NO_CONTACT, Status.REFUSED):
            continue
        seen += 1
        assert_same(batch[k], other.problem(model, q[k], v[k], deepest=0.1, past_limit=0.4, **options))
    assert seen
    np.testing.assert_array_equal(other.problems(model, q, v, restitution=0.3, **options)[0].restitution, 0.3)
