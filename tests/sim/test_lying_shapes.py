"""Shapes of MuJoCo models that lie on boxes, and motions that lead nowhere."""

import mujoco
import numpy as np
import pytest

import routh
from routh.base.status import Status
from routh.models.mujoco import MujocoModel
from routh.sim import flow, verify

pytestmark = pytest.mark.filterwarnings("ignore::routh.models.robot.UnrepresentedWarning")
TABLE = '<geom name="table" type="box" size="1 1 .1" pos="0 0 -.1"/>'
ROD = '<geom type="capsule" size=".05 .2" euler="0 90 0" mass="1"/>'
CAPSULE = f'<body pos="{{}} 0 .05"><freejoint/>{ROD}</body>'
CRATE = '<body pos="{} 0 .1"><freejoint/><geom type="box" size=".2 .15 .1" mass="4"/></body>'
FLAT = '<geom type="plane" size="5 5 1"/>'


def started(bodies, speed, *, friction=0.5):
    rough = f'<default><geom friction="{friction}"/></default>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{rough}<worldbody>{bodies}</worldbody></mujoco>")
    data = mujoco.MjData(model)
    data.qvel[0] = speed
    own = MujocoModel(model)
    return own, own.state(data)


def checked(model, state, **options):
    motion = routh.simulate(model, state, **options)
    verdict = verify(model, motion)
    assert motion.ok
    assert verdict.ok, str(verdict)
    return motion


def test_a_capsule_slides_on_a_box_until_it_stops():
    model, state = started(TABLE + CAPSULE.format(0), 0.5)
    motion = checked(model, state, duration=0.2)
    assert motion.q[-1, 0] == pytest.approx(0.5**2 / (2.0 * 0.5 * 9.81), rel=1e-6)
    np.testing.assert_allclose(motion.q[-1, 1:3], [0.0, 0.05], atol=1e-8)


def test_a_capsule_tips_over_the_edge_of_a_box():
    model, state = started(TABLE + CAPSULE.format(1.05), 0.0)
    motion = checked(model, state, duration=0.2)
    assert motion.q[-1, 2] < 0.04  # its middle falls, and it turns about the edge
    edge = np.array([np.min(np.abs(model.gaps(q))) for q in motion.q[:20]])
    assert edge.max() < 1e-8


@pytest.mark.parametrize("stream", [0, 1])
def test_a_box_hits_a_box(stream):
    """Friction of the floor alone decides where both together come to rest."""
    model, state = started(FLAT + CRATE.format(-0.25) + CRATE.format(0.2), 1.0)
    motion = checked(model, state, duration=0.2, stream=stream)
    hit = 0.05
    speed = 0.5 * np.sqrt(1.0 - 2.0 * 0.5 * 9.81 * hit)
    middle = 0.5 * hit - 0.025 + speed**2 / (2.0 * 0.5 * 9.81)
    assert 0.5 * (motion.q[-1, 0] + motion.q[-1, 7]) == pytest.approx(middle, abs=0.01)
    assert motion.q[-1, 7] - motion.q[-1, 0] > 0.4 - 1e-5


def test_a_box_that_falls_flat_settles_with_its_momentum():
    """Contacts turn by 1e-7 rad within such a step."""
    model, state = started(FLAT + CRATE.format(0.0).replace("0 .1", "0 .16"), 0.0, friction=1.0)
    motion = checked(model, state, duration=0.3)
    assert "settle" in {event.kind for event in motion.events}
    assert verify(model, motion).worst["momentum of settling"] < 1e-2


def test_a_motion_that_leads_nowhere_ends_by_counts(monkeypatch):
    patience = flow.Patience(1e-6, 10_000)
    assert not any(patience.lost(0.0) for _ in range(flow.MOST_WORKS))
    assert not patience.lost(2e-6)
    assert not any(patience.lost(2.5e-6) for _ in range(flow.MOST_WORKS - 1))
    assert "led no further" in patience.lost(2.5e-6)
    patience = flow.Patience(0.0, 10)
    assert [bool(patience.lost(t)) for t in range(1, 12)] == [False] * 10 + [True]
    monkeypatch.setattr(flow, "MOST_WORKS", 1)
    block = routh.systems.get("zeno-block")
    motion = routh.simulate(block.model, block.state, duration=1.0)
    assert motion.status[-1] == Status.INCOMPLETE
    assert "led no further" in motion.events[-1].data["reason"]


def test_edges_that_cross_are_refused_by_name():
    """Two beams on their edges: no corner of one meets the other."""
    beam = '<body pos="0 0 {}"><freejoint/><geom name="{}" type="box" size="{}" euler="{}" mass="1"/></body>'
    low = beam.format(0.1415, "low", ".5 .1 .1", "45 0 0")
    model, state = started(FLAT + low + beam.format(0.426, "high", ".1 .5 .1", "0 45 0"), 0.0)
    motion = routh.simulate(model, state, duration=0.1)
    assert not motion.ok
    assert motion.status[-1] == Status.REFUSED
    assert "low and high overlap by" in motion.events[-1].data["reason"]
    apart = routh.simulate(model, state, duration=0.01)
    assert apart.ok
    assert verify(model, apart).ok
