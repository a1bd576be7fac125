"""The block of HP23 section 4.3, against its printed numbers and against the pendulum equation (56)."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import routh
from routh.sim import verify

G, INERTIA_ABOUT_CORNER, ARM, ALPHA = 9.81, 5.0 / 12.0 + 1.25, np.sqrt(1.25), np.arctan(2.0)


@pytest.fixture(scope="module")
def block():
    return routh.systems.get("zeno-block")


@pytest.fixture(scope="module")
def motion(block):
    return routh.simulate(
        block.model, block.state, duration=3.5, law=routh.laws.Simultaneous(), rtol=1e-11, atol=1e-13
    )


def impacts(trajectory):
    return [event for event in trajectory.events if event.kind == "impact"]


def accumulation(trajectory):
    return next(event for event in trajectory.events if event.kind == "zeno")


def half_cycle(rate):
    """Duration and augmented duration of one swing and its impact, by (56), (62), (63) and (66)."""

    def slope(_, y):
        angle, turning, _ = y
        acceleration = -G * ARM * np.cos(angle + ALPHA) / INERTIA_ABOUT_CORNER
        # vertical acceleration of the centre of mass, which the normal force has to explain
        up = ARM * (np.cos(angle + ALPHA) * acceleration - np.sin(angle + ALPHA) * turning**2)
        return [turning, acceleration, 1.0 + G + up]

    def down(_, y):
        return y[0]

    down.terminal, down.direction = True, -1
    swing = solve_ivp(slope, (0, 5), [0.0, rate, 0.0], events=down, rtol=1e-12, atol=1e-14)
    # the impact turns the vertical velocity of the centre from -rate/2 into +0.7 rate/2
    return swing.t[-1], swing.y[2, -1] + 0.5 * 1.7 * rate


def test_each_impact_leaves_seven_tenths(motion):
    rates = [(abs(e.data["v_before"][2]), abs(e.data["v_after"][2])) for e in impacts(motion)]
    assert len(rates) > 30
    assert all(after / before == pytest.approx(0.7, abs=1e-9) for before, after in rates)
    # over a whole half-cycle, integration included, from 1 rad/s down to 1e-3 rad/s
    ends = [1.0] + [after for _, after in rates if after > 1e-3]
    assert np.allclose(np.divide(ends[1:], ends[:-1]), 0.7, rtol=0, atol=1e-9)


def test_accumulation_points_to_the_printed_digits_and_beyond(motion):
    event = accumulation(motion)
    t_star, s_star = motion.t[event.index], motion.s[event.index]
    assert round(t_star, 2) == 2.67
    assert round(s_star, 1) == 28.4
    cycles = np.array([half_cycle(0.7**k) for k in range(80)])
    assert t_star == pytest.approx(cycles[:, 0].sum(), abs=1e-8)
    assert s_star == pytest.approx(cycles[:, 1].sum(), abs=1e-7)


def test_apex(block):
    swing = routh.simulate(block.model, block.state, duration=0.9, sample_dt=2e-3)
    top = int(swing.q[:, 2].argmax())
    t, angle = swing.t[top - 1 : top + 2] - swing.t[top], swing.q[top - 1 : top + 2, 2]
    a, b, c = np.polyfit(t, angle, 2)
    apex = c - b**2 / (4.0 * a)  # of the parabola through the three highest samples
    assert apex == pytest.approx(0.2198, abs=5e-5)
    energy = INERTIA_ABOUT_CORNER / (2 * G * ARM)  # HP23 (57), with the height of the centre at the start
    assert apex == pytest.approx(np.arcsin(energy + np.sin(ALPHA)) - ALPHA, abs=1e-8)


def test_rest_with_half_the_weight_on_each_corner(motion):
    event = accumulation(motion)
    assert event.data["continuation"] == "equilibrium"
    assert event.data["ratio"] == pytest.approx(0.7, abs=1e-4)
    after = motion.t > motion.t[event.index]
    assert np.abs(motion.v[after]).max() < 1e-12
    corners = [motion.contacts.index(name) for name in "AB"]
    assert np.allclose(motion.forces["contacts"][after][:, corners], [4.905, 0.0], atol=1e-9)
    rates = motion.in_s()
    assert rates.time_rate[-1] == pytest.approx(
        1.0 / (1.0 + G), rel=1e-9
    )  # HP23: t = t* + (s - s*)/(1 + m g)


def test_velocity_is_continuous_in_s(motion):
    rates = motion.in_s()
    jumps = np.abs(np.diff(motion.v, axis=0)).max(axis=1)
    # |dv/ds| is bounded: by gravity in flight, by the response to a unit impulse in an impact
    assert (jumps / np.diff(motion.s)).max() < 10.0
    assert np.abs(np.diff(motion.v, axis=0)[np.diff(motion.t) == 0.0]).max() > 0.5
    assert np.allclose(rates.time_rate + rates.normal_rate.sum(axis=1), 1.0, atol=1e-9)
    assert rates.contacts == motion.contacts
    t, q, v = rates.at(motion.s[7])
    assert t == motion.t[7]
    assert np.array_equal(q, motion.q[7])
    assert np.array_equal(v, motion.v[7])


def test_is_a_solution_of_the_inclusion(block, motion):
    verdict = verify(block.model, motion)
    assert verdict.ok, str(verdict)
    assert verdict.checked["inclusion (53)"] > 200
    assert verdict.checked["momentum at accumulations"] == 1
