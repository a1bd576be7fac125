"""MuJoCo's own impacts, caught and audited."""

import numpy as np
import pytest

from routh.auditing import rollout
from routh.base.status import ModelError, Status

mujoco = pytest.importorskip("mujoco")

SCENE = """<mujoco model="{name}"><option cone="{cone}" integrator="{integrator}" timestep="0.001"/>
  <default><geom solref="0.005 1" friction="0.3"/></default>
  <worldbody><geom name="floor" type="plane" size="5 5 1"/>
    <body pos="0 0 0.2"><freejoint/><geom name="ball" type="{shape}" size="0.1 0.1 0.1"/></body>
  </worldbody></mujoco>"""


def rolled(
    *,
    shape="sphere",
    cone="elliptic",
    integrator="Euler",
    qvel=(1.0, 0, -1, 0, 0, 0),
    duration=0.2,
    **options,
):
    text = SCENE.format(name="scene", shape=shape, cone=cone, integrator=integrator)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qvel[:] = qvel
    return rollout.audit(model, data, duration=duration, **{"n": 8, **options}), model, data


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
@pytest.mark.parametrize("integrator", ["Euler", "RK4", "implicitfast"])
def test_a_ball_that_slides_is_near_its_only_outcome(cone, integrator):
    found, _, data = rolled(cone=cone, integrator=integrator)
    assert data.time == pytest.approx(0.2, abs=1e-2)
    first = found.impacts[0]
    assert first.time == pytest.approx((np.sqrt(1.0 + 0.2 * 9.81) - 1.0) / 9.81, abs=2e-3)  # 0.1 m down
    assert first.problem.names == ("ball/floor",)
    assert not first.audit.broken, first.audit.verdict
    # RK4's inner stages touch before its states do, so a part of the impact is over when it is seen to begin
    assert first.audit.distance < (0.06 if integrator == "RK4" else 0.04)
    assert found.distances[0] == first.audit.distance


def test_the_velocity_before_is_that_without_contacts():
    found, _, _ = rolled()
    first = found.impacts[0]
    speed = 1.0 + 9.81 * (first.time + first.duration)
    assert first.problem.v[2] == pytest.approx(-speed, rel=1e-6)
    assert first.problem.v[0] == pytest.approx(1.0, rel=1e-9)


def test_an_impact_ends_where_nothing_approaches_or_after_the_longest_time():
    whole, cut = (rolled(longest=longest)[0].impacts[0] for longest in (0.1, 0.003))
    assert 0.004 < whole.duration < 0.05  # a contact of 5 ms, over at 2 % of its approach
    assert cut.duration == pytest.approx(0.003, abs=1e-9)
    assert whole.audit.outcomes.problem.v[2] < cut.problem.v[2]  # it would have fallen on meanwhile
    assert cut.v[2] < -0.1  # half way
    assert whole.v[2] == pytest.approx(0.0, abs=0.1)


def test_a_box_that_falls_flat_lands_on_four_corners():
    found, _, _ = rolled(shape="box", qvel=(0.0, 0, -1, 0, 0, 0), n=64)
    assert found.impacts[0].problem.nc == 4
    assert found.impacts[0].audit.distance < 0.05


def test_friction_in_a_joint_is_no_contact_impulse():
    """A cart that slows down on its rail while its foot lands: the rail's friction counts as before it."""
    text = SCENE.format(name="scene", shape="sphere", cone="elliptic", integrator="Euler")
    rail = '<joint type="slide" axis="1 0 0" frictionloss="20"/><joint type="slide" axis="0 0 1"/>'
    text = text.replace("<freejoint/>", rail).replace('"0.005 1"', '"0.05 1"')  # it takes its time
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qvel[:] = 3.0, -1.0
    (impact, *_) = rollout.audit(model, data, duration=0.2, n=8).impacts
    assert impact.duration > 0.02
    slowing, until = 20.0 / model.body_mass[1], impact.time + impact.duration
    assert impact.problem.v[0] == pytest.approx(3.0 - slowing * until, abs=slowing * 4e-3)
    assert not impact.audit.broken, impact.audit.verdict


@pytest.mark.usefixtures("ticking")
def test_a_budget_ends_the_drawing_of_one_impact_too():
    found, _, _ = rolled(shape="box", qvel=(0.0, 0, -1, 0, 0, 0), n=1_000_000, budget=5.0)
    assert found.status is Status.OUT_OF_TIME
    (impact,) = found.impacts
    assert not impact.audit.complete
    assert np.any(impact.audit.outcomes.status == Status.OUT_OF_TIME)


def test_bouncing_contacts_are_named_and_break_no_law():
    text = SCENE.format(name="scene", shape="sphere", cone="elliptic", integrator="Euler")
    model = mujoco.MjModel.from_xml_string(text.replace('"0.005 1"', '"0.01 0.1"'))
    data = mujoco.MjData(model)
    data.qvel[2] = -1.0
    found = rollout.audit(model, data, duration=0.2, n=8)
    assert any("solref" in note for note in found.unrepresented)


def test_limits_of_number_and_bad_options():
    found, _, _ = rolled(duration=0.4, max_impacts=1, threshold=0.01)
    assert len(found.impacts) == 1
    with pytest.raises(ValueError, match="duration: got 0"):
        rolled(duration=0.0)


def test_the_report_is_one_page_and_escapes_names(tmp_path):
    pytest.importorskip("matplotlib")
    from routh.viz.pages import write_report

    text = SCENE.format(name="a &lt;b&gt;", shape="box", cone="elliptic", integrator="Euler")
    text = text.replace('name="ball"', 'name="&lt;script&gt;alert(1)&lt;/script&gt;"')
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qvel[2] = -1.0
    found = rollout.audit(model, data, duration=0.1, n=8)
    page = write_report(found, tmp_path / "deep" / "audit.html").read_text()
    assert page.count("data:image/png;base64,") == 1 + len(found.impacts)
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;/floor" in page
    assert "a &lt;b&gt;" in page
    empty = rollout.audit(model, data, duration=model.opt.timestep, n=8, threshold=100.0)
    assert "<b>0</b> impacts" in write_report(empty, tmp_path / "none.html").read_text()
    assert np.isfinite(found.distances).all()


@pytest.mark.parametrize("flag", ["enable", "disable"])
def test_an_unstable_simulation_ends_in_an_error(flag, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its log beside
    text = SCENE.format(name="scene", shape="sphere", cone="elliptic", integrator="Euler")
    model = mujoco.MjModel.from_xml_string(text.replace("/>", f'><flag autoreset="{flag}"/></option>', 1))

    def explode(model, data):
        if data.time > 0.05:
            data.qvel[0] = np.nan

    with pytest.raises(ModelError, match=r"unstable at 0\.05"):
        rollout.audit(model, mujoco.MjData(model), duration=0.2, n=4, control=explode)


def test_the_outcome_of_a_ball_is_waited_for_no_longer_than_its_impact():
    """It comes down at 0.2 m/s from two steps above the floor; at the end it no longer approaches."""
    model = mujoco.MjModel.from_xml_string(
        SCENE.format(name="scene", shape="sphere", cone="elliptic", integrator="Euler")
    )
    data = mujoco.MjData(model)
    data.qpos[2], data.qvel[2] = 0.1 + 0.0004, -0.2
    assert rollout.own_outcome(model, data)[2] > -0.02
    assert 0.004 < data.time < 0.05  # of 0.1 s at most
