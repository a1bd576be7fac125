"""The law TwoBody: published answers through ImpactProblem, the plane, other laws where they agree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routh import ImpactProblem, Status, laws, systems, two_body


def test_the_papers_systems():
    ico = two_body.TwoBody()(systems.get("icosahedron-tetrahedron").problem)
    np.testing.assert_allclose(ico.impulse[0], [0.1007, -0.00326657, -0.0592263], rtol=1e-6)
    assert ico.status is Status.SOLVED
    assert ico.contact_velocity[0, 1:] == pytest.approx([0.0, 0.0], abs=1e-12)
    bowling = two_body.TwoBody()(systems.get("bowling").problem)
    np.testing.assert_allclose(bowling.impulse[0], [2.585018, 0.7330654, -0.0216048], rtol=1e-6)


def test_variations_of_the_systems():
    for figure, mu in (("4b", 0.4), ("7", 0.25), ("10c", 0.55)):
        problem = systems.get("icosahedron-tetrahedron", figure=figure).problem
        assert problem.mu[0] == mu
        solved = two_body.TwoBody().solve(problem)
        assert solved.status is Status.SOLVED
    with pytest.raises(ValueError, match="figure: got '4e'"):
        systems.get("icosahedron-tetrahedron", figure="4e")


def rod(angle, mu, e, velocity, *, mass=1.0, half=0.5):
    """A planar rod's tip against the ground: mass, slope (rad), friction, restitution, (vx, vy, omega)."""
    c, s = half * np.cos(angle), half * np.sin(angle)
    inertia = mass * (2 * half) ** 2 / 12
    return ImpactProblem(
        np.diag([mass, mass, inertia]), [[0, 1, -c]], [[1, 0, s]], mu, velocity, restitution=e
    )


@settings(max_examples=80, deadline=None)
@given(st.floats(0.05, 1.5), st.floats(0, 3), st.floats(-3, 3), st.floats(-3, 3))
def test_inelastic_in_the_plane_it_is_rouths_method(angle, mu, slide, spin):
    problem = rod(angle, mu, 0.0, [slide, -1.0, spin])
    if not problem.approaching[0]:
        assert two_body.TwoBody()(problem).status is Status.NO_IMPACT
        return
    ours, other = two_body.TwoBody()(problem), laws.SingleContact()(problem)
    np.testing.assert_allclose(ours.impulse, other.impulse, atol=1e-10)
    np.testing.assert_allclose(ours.v, other.v, atol=1e-10)


def five_sequences():
    """Sliding, sliding to stick or reversal in compression or restitution (Wang and Mason 1992)."""
    rng = np.random.default_rng(5)
    seen = set()
    for _ in range(1200):
        problem = rod(rng.uniform(0.1, 1.5), rng.uniform(0.02, 1.5), rng.uniform(0.2, 1), rng.normal(size=3))
        if problem.approaching[0]:
            solved = two_body.TwoBody().solve(problem)
            need = abs(problem.delassus[0, 1] / problem.delassus[1, 1])
            sticks = "stick" if need <= problem.mu[0] else "reverse"
            letters = solved.events.replace("l", "")
            seen.add(letters if "s" not in letters else f"{letters} {sticks}")
    return seen


def test_the_five_sequences_of_wang_and_mason():
    assert five_sequences() >= {"cr", "scr stick", "csr stick", "scr reverse", "csr reverse"}


def planar_by_hand(problem, e):
    """Stronge's impact in the plane from its definition, by tiny steps of the normal impulse."""
    (a, b), (_, c) = problem.delassus
    vn, vt = problem.contact_velocity()[0]
    mu = problem.mu[0]
    energy, impulse, phase, h = 0.0, np.zeros(2), 0, 1e-5
    while True:
        if abs(vt) > 1e-4:
            s = -mu * np.sign(vt)
        else:
            s = np.clip(-b / c, -mu, mu)
        energy -= h * (vn + 0.5 * h * (a + b * s))
        vn, vt = vn + h * (a + b * s), vt + h * (b + c * s)
        impulse += [h, h * s]
        if phase == 0 and vn >= 0:
            phase, energy = 1, energy * e * e
        if phase == 1 and energy <= 0:
            return impulse


@pytest.mark.parametrize(
    "velocity", [[1.0, -1.0, 0.3], [-0.4, -1.0, 0.0], [0.1, -0.5, 2.0], [2.0, -0.2, 0.0]]
)
def test_the_plane_against_tiny_steps(velocity):
    for mu in (0.1, 0.6):
        problem = rod(0.9, mu, 0.6, velocity)
        if problem.approaching[0]:
            got = two_body.TwoBody()(problem).impulse[0]
            np.testing.assert_allclose(got, planar_by_hand(problem, 0.6), atol=2e-3)


def test_a_planar_problem_in_space_is_the_same():
    problem = rod(0.7, 0.4, 0.8, [1.0, -1.0, 0.5])
    space = ImpactProblem(
        np.diag([1.0, 1.0, 1.0 / 12, 2.0]),
        np.hstack([problem.Jn, [[0]]]),
        [[[*problem.Jt[0, 0], 0.0], [0.0, 0.0, 0.0, 1.0]]],
        0.4,
        [*problem.v, 0.0],
        restitution=0.8,
    )
    flat, deep = two_body.TwoBody()(problem), two_body.TwoBody()(space)
    np.testing.assert_allclose(deep.impulse[0, :2], flat.impulse[0], rtol=1e-12)
    assert deep.impulse[0, 2] == 0.0


def test_restitution_is_honoured_by_every_hypothesis():
    problem = systems.get("sphere-half-space", restitution=0.5).problem
    for hypothesis in ("energetic", "poisson", "newton"):
        result = two_body.TwoBody(hypothesis)(problem)
        assert result.contact_velocity[0, 0] == pytest.approx(0.5 * 2.0)


def test_painleves_impact_without_collision():
    """A rod that slides at rest in the normal direction, where friction presses it into the ground."""
    # contact force pushes the tip down: W_nn - mu W_nt < 0
    angle, mu = 1.2, 2.0
    problem = rod(angle, mu, 0.0, [-1.0, 0.0, 0.0])
    problem = problem.replace(v=problem.v - problem.solve_mass(problem.Jn[0]) * (problem.Jn[0] @ problem.v))
    g = problem.delassus
    slide = problem.contact_velocity()[0, 1]
    assert abs(problem.Jn[0] @ problem.v) < 1e-12
    assert two_body.TwoBody()(problem).status is Status.NO_IMPACT
    result = two_body.TwoBody()(problem, without_collision=[0])
    presses = g[0, 0] - mu * np.sign(slide) * g[0, 1] < 0
    assert result.status is Status.SOLVED
    if presses:
        assert result.impulse[0, 0] > 0.01
    other = laws.SingleContact()(problem, without_collision=[0])
    np.testing.assert_allclose(result.impulse, other.impulse, atol=1e-6)


def test_refusals():
    two = ImpactProblem(np.eye(2), np.eye(2), np.zeros((2, 2)), 0.5, [-1.0, -1.0])
    with pytest.raises(ValueError, match="problem: got nc=2, nt=1; TwoBody wants one contact"):
        two_body.TwoBody()(two)
    with pytest.raises(ValueError, match="hypothesis: got 'x'"):
        two_body.TwoBody("x")
