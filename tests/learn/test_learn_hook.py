import falling
import mujoco
import numpy as np
import pytest

import routh
import routh.learn
from routh.base.status import ModelError
from routh.learn.arrivals import Lookout
from routh.models.simultaneity import Simultaneity


def run(model, data, duration=0.3, **options):
    hook = routh.learn.hook(model, data, **options)
    impacts = []
    while data.time < duration:
        hook.step(4)
        impacts += hook.impacts
    return impacts


@pytest.mark.parametrize("integrator", ["Euler", "RK4", "implicitfast"])
@pytest.mark.parametrize("timestep", [0.001, 0.002, 0.01])
@pytest.mark.parametrize("margin", [0.0, 0.01])
def test_a_fall_on_two_feet_is_one_impact_before_any_force_acts(integrator, timestep, margin):
    model, data = falling.block(integrator=integrator, timestep=timestep, margin=margin)
    impacts = run(model, data, duration=0.15, seed=3)
    first = impacts[0]
    assert first.replaced
    assert first.contacts == ("left/floor", "right/floor")
    # not a trace of the soft force yet; Euler's positions run ahead of the prediction, its forces do not
    ahead = 0.0 if integrator == "RK4" else 2 * 9.81 * timestep**2
    assert np.all(first.arrival.depth > -1e-5 - ahead)
    assert np.all(first.arrival.depth < 1e-3)
    fallen = np.sqrt(2 * 9.81 * (0.05 - margin))
    assert first.v_before == pytest.approx([0.0, -fallen, 0.0], abs=0.01 + 0.5 * 9.81 * timestep)
    again = [impact for impact in impacts[1:] if impact.time < first.time + 5 * timestep]
    assert again == []


def test_every_replaced_velocity_is_an_outcome():
    for seed in range(12):
        model, data = falling.block(tilt=0.0, friction=0.3)
        data.qvel[0] = 0.3
        impact = run(model, data, duration=0.12, seed=seed)[0]
        found = routh.audit(impact.problem, impact.v, n=1024)
        assert found.broken == (), found.verdict
        assert found.distance < 0.02, found.verdict  # from one of 1024 outcomes of another seed
        assert impact.energy_lost >= -1e-8


def test_outcomes_differ_between_seeds_and_agree_with_the_sampler():
    outcomes = []
    for seed in range(8):
        model, data = falling.block()
        impact = run(model, data, duration=0.11, seed=seed)[0]
        outcomes.append(impact.v)
    assert np.ptp(np.array(outcomes), axis=0)[2] > 0.1  # some turn one way, some the other
    assert impact.ambiguity > 0.1


def test_a_draw_is_the_first_sample_of_its_seed():
    model, data = falling.block()
    impact = run(model, data, duration=0.11, mode="fixed", seed=5)[0]
    key = int(np.random.default_rng(5).integers(2**63))
    assert np.array_equal(routh.sample(impact.problem, 1, seed=key).v[0], impact.v)


@pytest.mark.parametrize("options", [{"mode": "off"}, {"share": 0.0}, {"threshold": 50.0}])
def test_what_is_not_replaced_is_mujocos_own_to_the_bit(options):
    model, data = falling.block(tilt=0.02)
    _, own = falling.block(tilt=0.02)
    hook = routh.learn.hook(model, data, **options)
    for _ in range(40):
        hook.step(4)
        mujoco.mj_step(model, own, 4)
        assert hook.impacts == []
    assert np.array_equal(data.qpos, own.qpos)
    assert np.array_equal(data.qvel, own.qvel)
    assert data.time == own.time


def test_resting_is_no_impact_and_neither_is_what_is_closed_at_the_start():
    model, data = falling.block(height=-1e-4)
    assert run(model, data, duration=1.0) == []


@pytest.mark.parametrize("tilt", [0.0, 0.01, 0.03])
def test_no_energy_is_gained_and_nothing_sinks_deeper_than_in_the_simulator(tilt):
    deepest, own_deepest = [], []
    for seed in range(6):
        model, data = falling.block(tilt=tilt)
        most = falling.energy(model, data)
        hook = routh.learn.hook(model, data, seed=seed)
        _, own = falling.block(tilt=tilt)
        for _ in range(150):
            hook.step(1)
            mujoco.mj_step(model, own)
            now = falling.energy(model, data)
            assert now <= most + 1e-6 * abs(most)
            deepest += list(data.contact.dist)
            own_deepest += list(own.contact.dist)
    assert min(deepest) > min(own_deepest) - 1e-4


def test_time_goes_on_in_whole_substeps():
    model, data = falling.block()
    hook = routh.learn.hook(model, data)
    for step in range(1, 200):
        hook.step(1)
        assert data.time == pytest.approx(step * 0.002, abs=1e-12)
    assert model.opt.timestep == 0.002


def test_single_contacts_are_left_alone_unless_asked_for():
    model, data = falling.block(tilt=0.05)
    assert run(model, data, duration=0.08) == []
    model, data = falling.block(tilt=0.05)
    (impact,) = run(model, data, duration=0.08, single=True)
    assert len(impact.contacts) == 1
    assert (impact.problem.Jn @ impact.v)[0] == pytest.approx(0.0, abs=1e-9)


def test_restitution_comes_back():
    model, data = falling.block(friction=0.0)
    impact = run(model, data, duration=0.11, restitution=0.8)[0]
    after, before = (impact.problem.Jn @ v for v in (impact.v, impact.v_before))
    assert np.all(after > 0.0)
    assert 0.0 <= impact.energy_lost <= 1 - 0.8**2 + 1e-9
    assert np.all(before < 0.0)


def test_one_selection_an_episode():
    """Equal impacts in one episode have equal outcomes; other episodes have others."""
    model, data = falling.block()
    hook = routh.learn.hook(model, data, mode="fixed", seed=1)
    found = []
    for episode in range(6):
        if episode % 2 == 0:
            hook.reset()
        mujoco.mj_resetData(model, data)
        data.qpos[1] = 0.05
        hook._lookout.forget()
        hook._safe = 0
        while not hook.impacts:
            hook.step(1)
        found.append(hook.impacts[0].v)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[2], found[3])
    assert not np.array_equal(found[0], found[2])


def test_the_worst_of_more_outcomes_is_worse():
    values = []
    for k in (1, 64):
        model, data = falling.block()
        impact = run(model, data, duration=0.11, mode="worst", objective=[0.0, 0.0, 1.0], k=k, seed=2)[0]
        values.append(impact.v[2])
    assert values[1] > values[0]
    model, data = falling.block()
    own = run(model, data, duration=0.11, mode="worst", objective=lambda v: v[:, 2], k=64, seed=2)[0]
    assert own.v[2] == values[1]


def test_noise_is_as_large_as_outcomes_differ():
    model, data = falling.block()
    impact = run(model, data, duration=0.11, mode="noise", seed=4)[0]
    L = impact.problem.cholesky
    kick = np.linalg.norm((impact.v - impact.v_before) @ L) / np.linalg.norm(impact.v_before @ L)
    assert 0.0 < kick <= 1.01 * impact.ambiguity


def test_schedules():
    ramp = routh.learn.linear(0.0, 1.0, 100)
    assert [ramp(0), ramp(50), ramp(100), ramp(1000)] == [0.0, 0.5, 1.0, 1.0]
    model, data = falling.block()
    assert run(model, data, duration=0.11, share=routh.learn.linear(0.0, 0.0, 10)) == []
    model, data = falling.block()
    assert run(model, data, duration=0.11, mode=lambda steps: "off" if steps < 1000 else "random") == []


def test_the_simulators_own_outcome_can_be_asked_for():
    model, data = falling.block()
    impact = run(model, data, duration=0.11, seed=0)[0]
    assert impact.simulator == pytest.approx([0.0, 0.0, 0.0], abs=0.05)  # both feet stop
    apart = (impact.v - impact.simulator) @ impact.problem.cholesky
    speed = np.linalg.norm(impact.v_before @ impact.problem.cholesky)
    assert impact.distance == pytest.approx(np.linalg.norm(apart) / speed)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "wild"}, "mode: got 'wild'"),
        ({"share": 1.5}, "share: got 1.5"),
        ({"rates": "fast"}, "rates: got 'fast'"),
        ({"threshold": 0.0}, "threshold: got 0.0"),
        ({"gap": -1.0}, "gap: got -1.0"),
        ({"restitution": 2.0}, "restitution: got 2.0"),
        ({"k": 0}, "k: got 0"),
        ({"mode": "worst"}, "objective: got None"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        routh.learn.hook(*falling.block(), **options)


def test_objectives_of_a_wrong_shape_are_refused():
    model, data = falling.block()
    with pytest.raises(ValueError, match="objective: got"):
        run(model, data, mode="worst", objective=lambda v: v)


def test_what_mujoco_finds_from_afar_closes_where_its_force_begins():
    model, data = falling.block(margin=0.004, height=0.03)
    model.geom_margin[1], model.geom_gap[1] = 0.002, 0.001
    lookout = Lookout(model, data, rules=Simultaneity(gap=1e-3), threshold=0.1, least=2, limits=True)
    lookout.look()
    found = lookout._own.data.contact.includemargin
    assert len(found) == 2
    own = mujoco.MjData(model)
    own.qpos[1] = -0.001
    mujoco.mj_forward(model, own)
    assert np.array_equal(np.sort(found), np.sort(own.contact.includemargin))


def test_overridden_margins_are_refused():
    model, data = falling.block()
    model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_OVERRIDE)
    with pytest.raises(ModelError, match="overrides the margins"):
        routh.learn.hook(model, data)


def test_equality_constraints_are_refused():
    xml = falling.PLANAR.format(timestep=0.002, integrator="Euler", friction=0.5, margin=0.0)
    tied = "<equality><joint joint1='turn' joint2='x'/></equality></mujoco>"
    model = mujoco.MjModel.from_xml_string(xml.replace("</mujoco>", tied))
    with pytest.raises(ModelError, match="equality constraints"):
        routh.learn.hook(model, mujoco.MjData(model))


def test_a_changed_model_is_seen_after_a_reset():
    model, data = falling.block()
    hook = routh.learn.hook(model, data)
    model.geom_friction[:, 0] = 0.125
    hook.reset()
    while not hook.impacts:
        hook.step(1)
    assert hook.impacts[0].problem.mu == pytest.approx([0.125, 0.125])
