"""Fans of futures, and random motions of random systems: all of them solutions of the inclusion."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import routh
from routh.laws import Sequential, SetValued, Simultaneous
from routh.models.planar import PlanarModel, PlaneContact, box, corners
from routh.sim import verify


@pytest.fixture(scope="module")
def block():
    return routh.systems.get("rocking-block")


@pytest.fixture(scope="module")
def bundle(block):
    return routh.simulate_many(block.model, block.state, n=4, duration=0.05, seed=2)


def test_one_state_has_many_futures(block, bundle):
    assert len(bundle) == 4
    assert bundle.ok
    assert np.all(bundle.status == routh.Status.SOLVED)
    q, v = bundle.at(0.001)
    assert q.shape == (4, 3)
    assert len(np.unique(np.round(v[:, 2], 4))) > 1
    assert all(verify(block.model, one).ok for one in bundle)
    assert np.all(bundle.impacts >= 1)
    before, _ = bundle.at(0.0)
    assert np.allclose(before, block.state.q)
    with pytest.raises(ValueError, match="t: got -1"):
        bundle.at(-1.0)


def test_a_future_depends_on_its_number_only(block, bundle):
    fewer = routh.simulate_many(block.model, block.state, n=2, duration=0.05, seed=2, processes=2)
    for one, other in zip(fewer, bundle, strict=False):
        assert np.array_equal(one.q, other.q)
    single = routh.simulate(block.model, block.state, duration=0.05, seed=2, stream=1)
    assert np.array_equal(single.v, bundle[1].v)


def test_a_future_that_fails_stays_in_the_bundle(block):
    law = SetValued(method="algorithm1", step=1e-3, max_steps=3)  # too small to end the impact
    bundle = routh.simulate_many(block.model, block.state, n=3, duration=0.1, law=law)
    assert len(bundle) == 3
    assert not bundle.ok
    assert np.all(bundle.status == routh.Status.MAX_STEPS)
    with pytest.raises(ValueError, match="stream"):
        routh.simulate_many(block.model, block.state, n=1, duration=0.1, stream=3)


@settings(max_examples=10, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 2**32 - 1),
    mu=st.sampled_from([0.0, 0.1, 0.5, 2.0, 1e5]),
    mass=st.sampled_from([1e-3, 1.0, 1e3]),
    law=st.sampled_from([SetValued(), Simultaneous(), Sequential()]),
)
def test_a_box_thrown_anyhow_moves_as_the_inclusion_says(seed, mu, mass, law):
    rng = np.random.default_rng(seed)
    width, height = rng.uniform(0.2, 1.0, 2)
    points = corners(width, height)
    contacts = [PlaneContact(name, "box", point=p, mu=mu) for name, p in zip("ABCD", points, strict=True)]
    model = PlanarModel([box("box", width, height, mass=mass)], contacts)
    angle = rng.uniform(-np.pi, np.pi)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    lowest = min((turn @ point)[1] for point in points)
    state = routh.State([0.0, 0.05 - lowest, angle], rng.normal(size=3))
    motion = routh.simulate(model, state, duration=0.25, law=law, seed=seed, sample_dt=0.05)
    assert motion.ok, motion.events[-1]
    verdict = verify(model, motion)
    assert verdict.ok, str(verdict)
    total = motion.energies["kinetic"] + motion.energies["potential"]
    assert np.diff(total).max() <= 1e-8 * np.ptp(total) + 1e-12 * mass


@pytest.mark.parametrize(
    "name",
    ["compass-gait", "box-wall", "ramone", "disk-stack", "pushing", "block-into-wall", "rimless-wheel"],
)
def test_named_systems(name):
    system = routh.systems.get(name)
    motion = routh.simulate(system.model, system.state, duration=0.03, seed=1)
    assert motion.ok, motion.events[-1]
    verdict = verify(system.model, motion)
    assert verdict.ok, str(verdict)


def test_a_box_in_space_lands_on_four_corners():
    system = routh.systems.get("box-drop", height=0.01)
    motion = routh.simulate(system.model, system.state, duration=0.06, seed=1, sample_dt=0.02)
    assert motion.ok
    verdict = verify(system.model, motion)
    assert verdict.ok, str(verdict)


def test_rimless_wheel_walks_at_its_steady_rate():
    from routh.systems.motions import steady_rate

    wheel = routh.systems.get("rimless-wheel-slope", spokes=8, descent=0.08)
    motion = routh.simulate(wheel.model, wheel.state, duration=1.7, law=Sequential(), sample_dt=0.1)
    rates = [-e.data["v_after"][2] for e in motion.events if e.kind == "impact"]
    steady = steady_rate(8, 1.0, 1.0, wheel.model.bodies[0].inertia, 0.08)
    assert len(rates) == 2
    assert rates == pytest.approx([steady] * 2, rel=1e-7)
    # the trailing foot lifts with the first increment: the set-valued law changes nothing
    draw = routh.simulate(wheel.model, wheel.state, duration=1.7, law=SetValued(), seed=7, sample_dt=0.1)
    assert draw.v[-1] == pytest.approx(motion.v[-1], abs=1e-6)
    assert verify(wheel.model, draw).ok


def test_a_budget_returns_what_is_finished():
    system = routh.systems.get("rocking-block")
    whole = routh.simulate(system.model, system.state, duration=0.2)
    generous = routh.simulate(system.model, system.state, duration=0.2, budget=600.0)
    assert np.array_equal(whole.q, generous.q)
    none = routh.simulate(system.model, system.state, duration=0.2, budget=0.0)
    assert none.failures()[-1][1] is routh.Status.OUT_OF_TIME
    assert none.t[-1] < 0.2
    assert none.events[-1].kind == "stop"
    bundle = routh.simulate_many(system.model, system.state, n=3, duration=0.2, budget=0.0)
    assert len(bundle) == 3
    assert set(bundle.status) == {routh.Status.OUT_OF_TIME}
    with pytest.raises(ValueError, match="budget: got -1"):
        routh.simulate(system.model, system.state, duration=0.2, budget=-1.0)


INTERRUPTED = """
import threading, time, os, signal, sys
import routh
system = routh.systems.get("rocking-block")
routh.simulate(system.model, system.state, duration=1e-3)
def interrupt():
    time.sleep(float(sys.argv[2]))
    global sent
    sent = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)
if __name__ == "__main__":
    try:
        threading.Thread(target=interrupt, daemon=True).start()
        routh.simulate_many(system.model, system.state, n=10_000, duration=1.0, processes=int(sys.argv[1]))
    except KeyboardInterrupt:
        print(f"after {time.monotonic() - sent}")
"""


@pytest.mark.parametrize(("processes", "after"), [(1, 0.5), (2, 0.5), (2, 0.05), (2, 0.06)])
def test_an_interrupt_ends_a_bundle_at_once(tmp_path, processes, after):
    """It would take hours; the limit is loose, since a busy machine may take its time to start processes."""
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    done = subprocess.run(
        [sys.executable, str(script), str(processes), str(after)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.stdout.startswith("after "), done.stderr


def test_processes_that_cannot_be_made_are_told_of(block, monkeypatch):
    """Before, the bundle waited for them for ever."""

    def none_left(*given, **options):
        raise OSError("no process can be made")

    monkeypatch.setattr("routh.base.processes.Worker.start", none_left)
    with pytest.raises(OSError, match="no process can be made"):
        routh.simulate_many(block.model, block.state, n=2, duration=0.01, processes=2)


def test_a_body_that_falls_flat_settles(block):
    """Drawn outcomes hop ever lower; hops below what closes a contact are none."""
    for stream in range(3):
        motion = routh.simulate(block.model, block.state, duration=0.4, stream=stream, max_events=300)
        assert motion.ok
        assert routh.sim.verify(block.model, motion).ok
        speeds = {kind: [] for kind in ("impact", "settle")}
        for event in motion.events:
            if event.kind == "impact":
                speeds["impact"].append(np.abs(event.data["v_before"]).max())
            elif event.kind == "settle":
                speeds["settle"].append(np.abs(motion.v[event.index - 1]).max())
        assert speeds["settle"]
        assert max(speeds["settle"]) < 1e-3 < max(speeds["impact"])


def test_futures_begin_far_apart(block):
    """The first futures reach both ends of the set, which are known: the block rocks about either corner."""
    for seed in (0, 1):
        bundle = routh.simulate_many(block.model, block.state, n=4, duration=0.01, seed=seed)
        rates = [one.events[0].data["v_after"][2] for one in bundle]
        assert max(rates) == pytest.approx(0.093018, abs=2e-6)
        assert min(rates) == pytest.approx(-0.093018, abs=2e-6)
        assert all(verify(block.model, one).ok for one in bundle)
    assert (
        rates[0]
        == routh.simulate(block.model, block.state, duration=0.01, seed=1).events[0].data["v_after"][2]
    )


def test_far_apart_outcomes_are_members_each_farther_from_those_before(block):
    law, problem = SetValued(), block.problem
    found = [law.far_apart(problem, 5, k) for k in range(4)]
    whole = routh.exact_set(problem)
    assert all(one.status.ok and whole.contains(one.v) for one in found)
    v = np.array([one.v for one in found]) @ problem.cholesky
    apart = [min(np.linalg.norm(v[k] - v[j]) for j in range(k)) for k in range(1, 4)]
    assert apart == sorted(apart, reverse=True)
    assert law.far_apart(problem, 5, 10_000) is None
    assert law.far_apart(problem.subset([0]), 5, 0) is None  # one contact has one outcome
    assert SetValued(method="algorithm1").far_apart(problem, 5, 0) is None
