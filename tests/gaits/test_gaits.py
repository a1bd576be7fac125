"""Gaits over all outcomes: exact sets from sets of states, wheels that roll on and one that may stop."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import routh
from routh import systems
from routh.base.status import Status
from routh.gaits import Compass, Wheel, keeps_rolling, return_map, return_maps
from routh.robust import Answer
from routh.sampling.path_residual import path_residual
from routh.systems.motions import steady_rate

pytest.importorskip("ppl")
from routh.exact.build import exact_set

SLIPS = (-0.3, 0.0)


def test_a_wheel_is_the_wheel_of_the_systems():
    wheel = Wheel(slope=0.08)
    system = systems.get("rimless-wheel-slope", descent=0.08)
    landing = wheel.problem(np.array([1.0, 0.0]))
    np.testing.assert_allclose(landing.Jn @ landing.v, [0.0, -2.0 * math.sin(wheel.half)], atol=1e-15)
    kept = float(wheel.rate_after @ routh.laws.Simultaneous()(landing).v)
    rate = math.sqrt(wheel.gain / (1.0 - kept**2))
    about_hub = system.model.bodies[0].inertia
    assert kept * rate == pytest.approx(steady_rate(8, 1.0, 1.0, about_hub, 0.08), rel=1e-12)


def test_the_exact_set_from_states_holds_those_from_each():
    wheel = Wheel()
    ends = wheel.velocity(np.array([[1.0, -0.3], [1.0, 0.3]]))
    problem = wheel.problem(np.array([1.0, 0.0]))
    whole = exact_set(problem, states=ends)
    assert whole.status is routh.Status.SOLVED
    row = wheel.rate_after
    supports = []
    for slip in np.linspace(-0.3, 0.3, 7):
        alone = wheel.problem(np.array([1.0, slip]))
        assert whole.contains(routh.sample(alone, 200).v).all()
        supports.append([float(exact_set(alone).support(sign * row)) for sign in (-1.0, 1.0)])
    largest = np.max(supports, axis=0)
    np.testing.assert_allclose(whole.support(np.array([-row, row])), largest, rtol=1e-9)
    # from one state it is the set of that state
    single = exact_set(problem, states=problem.v[None])
    np.testing.assert_allclose(
        single.support(np.array([row, -row])), exact_set(problem).support(np.array([row, -row])), rtol=1e-9
    )


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ([[1.0, 1.0]], "states: got shape"),
        ([[1.0, 0.0, 0.0]], "no contact approaches"),
        ([[0.0, -1.0, 0.0], [0.0, 1.0, 0.0]], "no contact approaches in all"),
        ([[0.0, np.nan, 0.0]], "states"),
    ],
)
def test_states_that_cannot_be_are_named(states, message):
    with pytest.raises(ValueError, match=message):
        exact_set(Wheel().problem(np.array([1.0, 0.0])), states=states)


def test_states_that_no_impulse_connects_are_refused():
    one = routh.ImpactProblem(np.eye(3), [[0.0, 1.0, 0.0]], [[[1.0, 0.0, 0.0]]], 0.5, [0.0, -1.0, 0.0])
    with pytest.raises(ValueError, match="what no impulse can change"):
        exact_set(one, states=[[0.0, -1.0, 0.0], [0.0, -1.0, 1.0]])


def test_a_steep_slope_is_proved_and_nothing_drawn_stops():
    found = keeps_rolling(Wheel(slope=0.12), slips=SLIPS)
    assert found.answer is Answer.PROVED
    assert all(found.checks.values())
    assert not found.stopping
    low, high = found.rates
    rng = np.random.default_rng(0)
    rate = low
    for step in range(40):
        state = np.array([rate, rng.uniform(*SLIPS) * rate])
        v = routh.sample(found.wheel.problem(state), 1, seed=step).v[0]
        share = float(found.wheel.rate_after @ v) / rate
        assert found.shares[0] - 1e-9 <= share <= found.shares[1] + 1e-9
        following = found.wheel.next_state(v)
        assert following is not None
        rate = float(following[0])
        assert low - 1e-9 <= rate <= high + 1e-9


def test_a_gentle_slope_is_refuted_by_a_sequence_of_outcomes():
    wheel = Wheel(slope=0.1)
    found = keeps_rolling(wheel, slips=SLIPS)
    assert found.answer is Answer.REFUTED
    assert len(found.stopping) == 3
    for step, following in zip(found.stopping, [*found.stopping[1:], None], strict=True):
        problem = wheel.problem(np.array([step.rate, step.slip]))
        assert SLIPS[0] - 1e-12 <= step.slip / (step.rate * wheel.length) <= SLIPS[1] + 1e-12
        np.testing.assert_allclose(step.path.v[0], problem.v, atol=1e-12)
        assert path_residual(problem, step.path) < 1e-12  # it is an outcome
        landed = wheel.next_state(step.path.v[-1])
        assert (landed is None) == (following is None)
        if following is not None:
            assert landed[0] == pytest.approx(following.rate, rel=1e-9)


def test_without_slip_the_impact_is_unique():
    found = keeps_rolling(Wheel(slope=0.06), slips=(-1e-12, 0.0))
    assert found.shares[0] == pytest.approx(found.shares[1], abs=2e-6)  # the outer set's relaxation
    assert found.answer is Answer.PROVED


def test_a_wheel_that_would_fly_is_not_proved():
    found = keeps_rolling(Wheel(slope=0.3), slips=SLIPS)
    assert found.answer is Answer.UNKNOWN
    assert found.status is Status.UNDECIDED
    assert not found.checks["the ground pushes"]


def test_stance_forces_are_those_of_the_simulation():
    wheel = Wheel(slope=0.08)
    system = systems.get("rimless-wheel-slope", descent=0.08)
    rate = -float(system.state.v[2])  # just after a step
    motion = routh.simulate(system.model, system.state, duration=1.5)
    landed = next(event.t for event in motion.events if event.kind == "impact")
    normal = motion.forces["contacts"][(motion.t > 0.0) & (motion.t < landed), 1, 0]
    weight = wheel.mass * 9.81
    least, most = wheel.stance(rate, rate)
    assert normal.min() / weight >= least - 1e-6
    assert least == pytest.approx(normal.min() / weight, abs=0.02)
    assert most < 0.0


def test_the_compass_gait_repeats_as_published():
    # Goswami, Espiau, Keramane (1998): slope 3 degrees, masses 5 and 10 kg; after the impact 1.0918, 0.3772
    gait, state = Compass(angle=0.271029), np.array([1.805679, 1.494205])
    v = routh.laws.Sequential(order=(0, 1))(gait.problem(state)).v
    np.testing.assert_allclose(v[2:], [1.0918, 0.3772], atol=2e-3)
    landed = gait.next_state(v)
    np.testing.assert_allclose(landed, [gait.angle, *state], atol=2e-5)


def test_energy_is_kept_between_impacts_of_the_compass_gait():
    gait = Compass()
    start = np.array([-gait.angle, gait.angle, 1.0918, 0.3772])

    def energy(y):
        a, b, da, db = y
        leg, s, m = gait.leg, gait.to_mass, gait.mass
        hip = da * leg * np.array([-math.cos(a), -math.sin(a)])
        stance = da * (leg - s) * np.array([-math.cos(a), -math.sin(a)])
        swing = hip + s * db * np.array([math.cos(b), math.sin(b)])
        kinetic = 0.5 * (gait.hip * hip @ hip + m * stance @ stance + m * swing @ swing)
        up = (gait.hip * leg + m * (leg - s) + m * leg) * math.cos(a + gait.slope)
        return kinetic + 9.81 * (up - m * s * math.cos(b + gait.slope))

    slope = np.array(gait._slope_of(0.0, start))
    step = 1e-6
    assert (energy(start + step * slope) - energy(start - step * slope)) / (2 * step) == pytest.approx(
        0.0, abs=1e-6
    )


def test_the_return_map_of_the_compass_gait_is_a_set():
    steady = np.array([1.805679, 1.494205])
    box = steady + 0.01 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    found = return_map(Compass(), box, n=12)
    assert found.stops == 0
    assert found.exact.contains(found.v).all()
    problem = found.exact.problem
    assert -found.exact.support(-problem.Jn[1], which="outer") > 0.3  # the trailing foot leaves
    low, high = found.bounds()
    assert np.all(low < high)
    for ends in found.laws.values():  # single laws are inside
        assert np.all(ends >= low - 1e-6)
        assert np.all(ends <= high + 1e-6)
    labels = [text.get_text() for text in found.plot().axes[0].get_legend().get_texts()]
    assert f"after, {' = '.join(found.laws)}" in labels  # they agree, so they are one mark
    apart = dataclasses.replace(found, laws={"one": box, "other": box + 0.01})
    labels = [text.get_text() for text in apart.plot().axes[0].get_legend().get_texts()]
    assert {"after, one", "after, other"} <= set(labels)


@pytest.mark.parametrize("slope", [0.1, 0.12])
def test_pictures_of_wheels(slope):
    """Every line of a law is the next rate by energy: what an outcome leaves of it, and the way down."""
    rolling = keeps_rolling(Wheel(slope=slope))
    (ax,) = rolling.plot().axes
    assert ax.get_xlabel() == "rate as a foot lands (rad/s)"
    lines = {line.get_label(): line.get_xydata() for line in ax.lines}
    laws = [xy for name, xy in lines.items() if name.endswith((", most slip", ", least slip"))]
    assert laws
    wheel, steady = rolling.wheel, lines["the same rate again"]
    np.testing.assert_array_equal(steady[:, 0], steady[:, 1])
    for rates, after in (xy.T for xy in laws):
        rolls = after > 0.0
        kept = np.sqrt(np.maximum(after[rolls] ** 2 - wheel.gain, 0.0)) / rates[rolls]
        assert np.ptp(kept) < 1e-9  # one share of the rate for each law
        assert rolling.shares[0] - 1e-9 <= kept[0] <= rolling.shares[1] + 1e-9
        assert np.all((kept[0] * rates[~rolls]) ** 2 <= wheel.barrier * (1 + 1e-9))
    (band,) = [each for each in ax.collections if each.get_label() == "all outcomes"]
    top = band.get_paths()[0].vertices[:, 1].max()
    most = steady[-1, 0]
    assert top == pytest.approx(np.sqrt((rolling.shares[1] * most) ** 2 + wheel.gain), rel=1e-9)


@pytest.mark.parametrize("changes", [{"spokes": 3}, {"slope": 0.0}, {"slope": 0.5}, {"mu": 0.0}])
def test_wheels_that_cannot_be_are_refused(changes):
    with pytest.raises(ValueError, match=next(iter(changes))):
        Wheel(**changes)


@pytest.mark.parametrize(
    ("gait", "name"), [(Wheel, "inertia"), (Wheel, "slope"), (Compass, "slope"), (Compass, "leg")]
)
def test_no_gait_is_made_of_what_is_no_number(gait, name):
    with pytest.raises(ValueError, match=name):
        gait(**{name: float("nan")})


def test_a_foot_that_is_late_does_not_land_where_the_hip_passes():
    gait = Compass()
    falls, late = np.array([0.0, 0.0, 2.0, 0.0]), np.array([0.0, 0.0, 1.5, -0.2])
    assert gait.next_state(falls) is None  # its swinging leg stays behind
    angle, _, stance = gait.next_state(late)
    assert angle == pytest.approx(0.218, abs=1e-3)  # 0.01 is where the hip passes over the foot
    start = np.array([-gait.angle, gait.angle, 1.5, -0.2])
    course = solve_ivp(gait._slope_of, (0.0, 1.0), start, rtol=1e-10, atol=1e-12, max_step=1e-3)
    lands = np.flatnonzero((np.diff(np.sign(course.y[0] + course.y[1])) > 0) & (course.y[0][1:] > 0.01))
    assert course.y[0][lands[0]] == pytest.approx(angle, abs=3e-3)
    assert course.y[2][lands[0]] == pytest.approx(stance, abs=1e-2)


def test_outcomes_in_which_the_foot_slides_refute_nothing():
    found = keeps_rolling(Wheel(mu=0.05))
    assert not found.checks["foot B rests"]
    assert found.answer is Answer.UNKNOWN  # the wheel would not go on as it does on a foot that rests
    assert found.stopping == ()


def test_an_outcome_that_is_no_number_has_no_next_state():
    assert np.isnan(return_maps._next(Compass(), np.full(4, np.nan))).all()
