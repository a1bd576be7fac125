"""One impact: published answers, closed forms, events, energies, and what must not change."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precise_impacts import precise
from problems import impacts, inverse_inertias
from routh import Status, two_body
from routh.two_body import systems as data

ICOSAHEDRON = (data.ICOSAHEDRON_W, data.ICOSAHEDRON_V, 0.8, 0.95)
BOWLING = (data.BOWLING_W, data.BOWLING_V, 0.7, 0.7)


def test_published_impulses_to_all_printed_digits():
    ico, bowl = two_body.impact(*ICOSAHEDRON), two_body.impact(*BOWLING)
    assert [f"{x:.6g}" for x in ico.impulse] == ["-0.00326657", "-0.0592263", "0.1007"]
    assert [f"{x:.7f}" for x in bowl.impulse[:2]] == ["0.7330654", "-0.0216048"]
    assert f"{bowl.impulse[2]:.6f}" == "2.585018"
    assert ico.events == "csr"
    assert bowl.events.replace("l", "") == "scr"
    assert ico.status is bowl.status is Status.SOLVED


def test_published_linear_velocities():
    impulse = two_body.impact(*ICOSAHEDRON).impulse
    np.testing.assert_allclose(
        np.array([-0.1, 0.5, 0.95]) + impulse / 3.0, [-0.101089, 0.480258, 0.983567], atol=5e-7
    )
    np.testing.assert_allclose(np.array([0.1, 0.1, 1.0]) - impulse, [0.103267, 0.159226, 0.8993], atol=5e-7)


def test_the_printed_matrix_is_accepted_although_its_halves_differ():
    printed = np.array(data.ICOSAHEDRON_W)
    printed[2, :2] = 2.44235, 1.95746
    assert two_body.impact(printed, *ICOSAHEDRON[1:]).impulse == pytest.approx(
        two_body.impact(*ICOSAHEDRON).impulse, rel=1e-14
    )


def case(name):
    chosen = data.ICOSAHEDRON_VARIATIONS[name]
    shift = np.array(chosen.velocity) - data.ICOSAHEDRON_VARIATIONS["4a"].velocity
    return data.ICOSAHEDRON_W, np.array(data.ICOSAHEDRON_V) + shift, chosen.mu, 0.95


@pytest.mark.parametrize("name", list(data.ICOSAHEDRON_VARIATIONS))
def test_the_captions_event_orders(name):
    """All come out with l within 1e-2 rad, six within 1e-3; the answer never changes."""
    coarse = two_body.impact(*case(name), event_tolerance=1e-2)
    fine = two_body.impact(*case(name))
    assert coarse.events == data.ICOSAHEDRON_VARIATIONS[name].events
    np.testing.assert_array_equal(coarse.impulse, fine.impulse)
    at_1e3 = {"4c": "cr", "10b": "clr"}  # the printed data leave 4.4e-3 and 1.6e-3 rad: jw17-fig-4, -10
    assert fine.events == at_1e3.get(name, data.ICOSAHEDRON_VARIATIONS[name].events)


def test_frictionless():
    w, v, _, e = ICOSAHEDRON
    result = two_body.impact(w, v, 0.0, e)
    expected = -v[2] * (1 + e) / w[2][2]
    np.testing.assert_allclose(result.impulse, [0, 0, expected], rtol=1e-15)
    np.testing.assert_allclose(two_body.frictionless(w, v, e), result.impulse, rtol=1e-15)
    assert f"{expected:.3f}" == "0.058"
    assert result.events == "cr"


@settings(max_examples=60, deadline=None)
@given(
    st.floats(0.1, 10),
    st.floats(0.1, 10),
    st.floats(0, 6.28),
    st.floats(0, 3),
    st.floats(0, 5),
    st.floats(0, 1),
)
def test_central_impacts_have_a_closed_form(mass, slide, angle, ratio, mu, e):
    w = np.diag([3.5, 3.5, 1.0]) / mass
    v = [slide * np.cos(angle), slide * np.sin(angle), -(0.1 + ratio)]
    result = two_body.impact(w, v, mu, e)
    expected = two_body.central(w, v, mu, e)
    assert np.linalg.norm(result.impulse - expected) <= 1e-12 * np.linalg.norm(expected)


def test_no_approach_is_no_impact():
    for vz in (0.0, 0.3):
        result = two_body.impact(data.BOWLING_W, [1.0, 2.0, vz], 0.5, 0.5)
        assert result.status is Status.NO_IMPACT
        assert result.events == ""
        np.testing.assert_array_equal(result.impulse, 0.0)
        np.testing.assert_array_equal(result.contact_velocity, [1.0, 2.0, vz])


@pytest.mark.parametrize("hypothesis", ["energetic", "poisson", "newton"])
def test_without_friction_the_hypotheses_agree(hypothesis):
    result = two_body.impact(*ICOSAHEDRON[:2], 0.0, 0.6, hypothesis=hypothesis)
    np.testing.assert_allclose(
        result.impulse, two_body.impact(*ICOSAHEDRON[:2], 0.0, 0.6).impulse, rtol=1e-13
    )


def test_each_hypothesis_keeps_its_own_ratio():
    w, v, mu, _ = ICOSAHEDRON
    stronge = two_body.impact(w, v, mu, 0.5)
    assert stronge.energy.returned == pytest.approx(0.25 * stronge.energy.stored, rel=1e-11)
    newton = two_body.impact(w, v, mu, 0.5, hypothesis="newton")
    assert newton.contact_velocity[2] == pytest.approx(-0.5 * v[2], rel=1e-11)
    poisson = two_body.impact(w, v, mu, 0.5, hypothesis="poisson")
    squeezed = two_body.impact(w, v, mu, 0.0).impulse[2]
    assert poisson.impulse[2] == pytest.approx(1.5 * squeezed, rel=1e-11)


def test_newton_and_poisson_can_create_energy_and_say_so():
    """Where the slip changes during the impact (Kane and Levinson 1985)."""
    w, v, mu, _, kind = impacts(5, 400)
    created = {"newton": 0, "poisson": 0}
    for i in np.flatnonzero(kind == 0)[:80]:
        before = 0.5 * v[i] @ np.linalg.solve(w[i], v[i])
        for hypothesis in created:
            result = two_body.impact(w[i], v[i], mu[i], 1.0, hypothesis=hypothesis)
            after = 0.5 * result.contact_velocity @ np.linalg.solve(w[i], result.contact_velocity)
            assert result.energy.lost == pytest.approx(before - after, abs=1e-9 * before)
            assert result.energy.created == max(result.energy.returned - result.energy.stored, 0.0)
            created[hypothesis] += result.energy.created > 1e-6 * before
        stronge = two_body.impact(w[i], v[i], mu[i], 1.0)
        assert stronge.energy.created <= 1e-10 * before
    assert min(created.values()) > 0


def test_compression_happens_twice_where_v_z_turns_back():
    """Found by search among random bodies that violate (18); E' = -v_z holds throughout."""
    w, v, mu, e, _ = impacts(11, 4000)
    many = two_body.batch(w, v, mu, e)
    twice = [i for i in range(4000) if "k" in many.events(i)]
    assert twice
    for i in twice[:3]:
        one = two_body.impact(w[i], v[i], mu[i], e[i])
        assert one.events == many.events(i)
        assert one.margin < 0.0
        assert one.events.count("c") == 2
        course = two_body.hodograph(w[i], v[i], mu[i], e[i])
        vz, press = course.normal_velocity, course.impulse[:, 2]
        assert np.sum(np.diff(np.sign(vz[np.abs(vz) > 1e-9])) != 0) >= 3
        work = -np.trapezoid(vz, press)
        assert work == pytest.approx(one.energy.stored - one.energy.returned, rel=2e-2, abs=1e-3)


def test_margin_of_the_impact_solution_condition():
    w = np.array(data.ICOSAHEDRON_W)
    result = two_body.impact(*ICOSAHEDRON)
    assert result.margin == pytest.approx(w[2, 2] - 0.8 * np.hypot(w[0, 2], w[1, 2]))
    assert result.margin > 0.0


def test_marginal_and_double_directions():
    """g = 0: the sliding speed stays; f' = 0: the direction converges algebraically; both against precise."""
    b1, b2, mu = 2.0, 0.5, 1.0
    cases = {
        "marginal": (np.array([mu * b1, 0.0]), [1.0, 0.0]),  # g = -mu b1 + d = 0 along x
        "beside it": (np.array([mu * b1, 0.0]), [1.0, 0.3]),
        "triple root": (np.array([mu * (b1 - b2), 0.0]), [1.0, 0.3]),  # f = -mu (b1 - b2) s (1 - c)
        "on it": (np.array([mu * (b1 - b2), 0.0]), [1.0, 0.0]),
    }
    for name, (d, slide) in cases.items():
        w = np.array([[b1, 0.0, d[0]], [0.0, b2, d[1]], [d[0], d[1], 6.0]])
        for vz in (-0.05, -1.0, -10.0):
            v = [*slide, vz]
            ours = two_body.impact(w, v, mu, 0.7)
            expected = precise([w], [v], [mu], [0.7])
            assert ours.status is Status.SOLVED, name
            assert np.linalg.norm(ours.impulse - expected[0]) <= 1e-10 * np.linalg.norm(expected), name


def test_tiny_and_huge_restitution_and_friction():
    w, v, _, _ = ICOSAHEDRON
    for mu in (1e-9, 1e-3, 50.0, 1e3):
        for e in (1e-9, 1e-7, 1e-5, 1e-3, 0.5, 1.0):
            ours = two_body.impact(w, v, mu, e)
            expected = precise([w], [v], [mu], [e])
            assert ours.status is Status.SOLVED
            assert np.linalg.norm(ours.impulse - expected[0]) <= 1e-9 * np.linalg.norm(expected), (mu, e)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(0, 6.28), st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_turning_the_frame_and_scaling_change_nothing(seed, angle, mass, speed):
    w, v, mu, e, _ = impacts(seed, 1)
    w, v, mu, e = w[0], v[0], mu[0], e[0]
    first = two_body.impact(w, v, mu, e)
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    turned = turn @ w @ turn.T
    second = two_body.impact(0.5 * (turned + turned.T) / mass, turn @ v * speed, mu, e)
    size = np.linalg.norm(first.impulse)
    np.testing.assert_allclose(turn.T @ second.impulse / (mass * speed), first.impulse, atol=1e-8 * size)


def test_scaling_by_powers_of_two_is_exact():
    w, v, mu, e = ICOSAHEDRON
    first = two_body.impact(w, v, mu, e)
    second = two_body.impact(np.array(w) * 8.0, np.array(v) * 4.0, mu, e)
    np.testing.assert_array_equal(second.impulse, first.impulse * 0.5)


def test_bad_input_is_refused():
    w, v = np.array(data.BOWLING_W), data.BOWLING_V
    with pytest.raises(ValueError, match="W: smallest eigenvalue is -"):
        two_body.impact(np.diag([1.0, 1.0, -1.0]), v, 0.5, 0.5)
    skew = w.copy()
    skew[0, 1] += 0.1
    with pytest.raises(ValueError, match="W: differs from its transpose"):
        two_body.impact(skew, v, 0.5, 0.5)
    with pytest.raises(ValueError, match=r"mu: got -0\.1"):
        two_body.impact(w, v, -0.1, 0.5)
    with pytest.raises(ValueError, match=r"e: got 1\.1"):
        two_body.impact(w, v, 0.5, 1.1)
    with pytest.raises(ValueError, match="e: got nan"):
        two_body.impact(w, v, 0.5, float("nan"))
    with pytest.raises(ValueError, match="hypothesis: got 'moreau'"):
        two_body.impact(w, v, 0.5, 0.5, hypothesis="moreau")
    with pytest.raises(ValueError, match="v: got nan at index"):
        two_body.impact(w, [0.0, np.nan, -1.0], 0.5, 0.5)


def test_impacts_always_end():
    """Along the centrifugal direction v_z' = W_zz - mu d.s > mu g > 0, so v_z grows without bound."""
    rng = np.random.default_rng(3)
    for w in inverse_inertias(rng, 120):
        need = np.linalg.norm(np.linalg.solve(w[:2, :2], w[:2, 2]))
        mu = need * rng.uniform(0.01, 0.999)
        found = two_body.invariant_directions(w, mu)
        (s,) = found.vectors[found.centrifugal]
        rate = w[2, 2] - mu * w[:2, 2] @ s
        assert rate > mu * found.rates[found.centrifugal][0] > 0.0


def test_energies_beyond_the_largest_number_are_no_solution():
    """Found as SOLVED with an energy that was infinite, and NaN."""
    W, v = np.eye(3), np.array([0.3, 0.0, -1.0])
    for scale, status in ((1e150, Status.SOLVED), (1e300, Status.NUMERICAL)):
        one, many = (solve(W, scale * v, 0.3, 0.5) for solve in (two_body.impact, two_body.batch))
        assert one.status is status
        assert many.status.tolist() == [status]
        np.testing.assert_allclose(one.impulse, scale * np.array([-0.3, 0.0, 1.5]), rtol=1e-12)
        assert np.isfinite(one.energy.lost) == (status is Status.SOLVED)
