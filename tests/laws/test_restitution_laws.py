"""Laws with restitution for several contacts, against closed forms, published examples and their promises."""

from types import SimpleNamespace

import numpy as np
import pytest

import routh
from feature_marks import needs
from problems import colliding, random_problem
from routh import laws, systems
from routh.base.status import Status
from routh.laws import cone_program
from routh.laws.cone_program import Cones, _complementarity, friction_impulse
from routh.lcp import convex

ALL = ("moreau", "moreau-convex", "poisson", "energetic", "chatterjee-ruina", "lzb")
SPHERE = np.diag([2.0, 2.0, 2.0, 0.2, 0.2, 0.2])  # kg, kg m^2: a sphere of 0.5 m


def sphere(v, mu, e):
    """A ball on the floor: its normal and its tangents do not act on each other."""
    Jt = [[[1.0, 0, 0, 0, -0.5, 0], [0, 1.0, 0, 0.5, 0, 0]]]
    return routh.ImpactProblem(SPHERE, [[0, 0, 1.0, 0, 0, 0]], Jt, mu, v, restitution=e)


def chain(masses, v, e):
    """Balls in a row, each touching the next: Newton's cradle."""
    n = len(masses)
    Jn = np.eye(n - 1, n, 1) - np.eye(n - 1, n)
    return routh.ImpactProblem(np.diag(masses), Jn, np.zeros((n - 1, n)), 0.0, v, restitution=e)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
def test_a_ball_without_friction_returns_e_of_its_speed(name, e):
    ball = sphere([1.0, 0.5, -3.0, 0.1, 0.2, 0.3], 0.0, e)
    result = laws.named(name)(ball)
    assert result.status is Status.SOLVED
    np.testing.assert_allclose(result.v, [1.0, 0.5, 3.0 * e, 0.1, 0.2, 0.3], atol=2e-8)


@pytest.mark.parametrize("name", ["moreau", "poisson", "energetic", "chatterjee-ruina", "lzb"])
@pytest.mark.parametrize("friction", ["cone", "polyhedral"])
def test_a_ball_with_friction_slides_or_grips_as_coulomb_says(name, friction):
    """Closed form: slip falls by (7/2 of) mu (1 + e) times the speed of impact, down to zero at most."""
    law = laws.LAWS[name](friction=friction)
    for slip, mu in ((2.0, 0.1), (2.0, 5.0)):
        result = law(sphere([slip, 0.0, -1.0, 0.0, 0.0, 0.0], mu, 0.5))
        mobility = 0.5 + 0.5**2 / 0.2  # of the contact point along a tangent, 1/kg
        pushed = 2.0 * 1.5  # normal impulse, N s
        left = max(slip - mobility * mu * pushed, 0.0)
        assert result.status is Status.SOLVED
        np.testing.assert_allclose(result.contact_velocity[0], [0.5, left, 0.0], atol=1e-7)
        np.testing.assert_allclose(result.impulse[0, 0], pushed, atol=1e-7)


def test_the_convex_law_lifts_what_slides_by_mu_times_its_slip():
    result = laws.Moreau(associated=True)(sphere([2.0, 0.0, -1.0, 0.0, 0.0, 0.0], 0.1, 0.5))
    normal, slip, _ = result.contact_velocity[0]
    assert slip > 0.5
    np.testing.assert_allclose(normal, 0.5 + 0.1 * slip, atol=1e-8)


def test_three_equal_balls():
    """Moreau 1988 and Glocker: (-1/3, 2/3, 2/3) for e = 1; LZB's springs send nearly all of it on.

    Without friction Poisson's law, Chatterjee and Ruina's and the energetic one agree with Moreau's.
    """
    balls = chain([1.0, 1.0, 1.0], [1.0, 0.0, 0.0], 1.0)
    for name in ("moreau", "moreau-convex", "poisson", "energetic", "chatterjee-ruina"):
        np.testing.assert_allclose(laws.named(name)(balls).v, [-1 / 3, 2 / 3, 2 / 3], atol=1e-8)
    hertz = laws.LZB(exponent=1.5, resolution=60)(balls).v
    # springs in a row of three balls, F = K delta^(3/2): integrated on its own below
    np.testing.assert_allclose(hertz, springs_in_a_row(1.5), atol=2e-3)
    linear = laws.LZB(exponent=1.0, resolution=60)(balls).v
    np.testing.assert_allclose(linear, springs_in_a_row(1.0), atol=2e-3)


def springs_in_a_row(exponent):
    """Three unit masses with springs between them that only push, released when they part."""
    from scipy.integrate import solve_ivp

    def rates(_, state):
        x, v = state[:3], state[3:]
        force = np.maximum(x[:2] - x[1:], 0.0) ** exponent
        return np.concatenate([v, [-force[0], force[0] - force[1], force[1]]])

    return solve_ivp(rates, (0.0, 30.0), [0, 0, 0, 1.0, 0, 0], rtol=1e-10, atol=1e-12).y[3:, -1]


@needs("two_body")
def test_lzb_with_one_contact_is_stronges_hypothesis():
    """JW17's impact: compression, then e^2 of the work returned, with slip that reverses on the way."""
    one = routh.ImpactProblem(
        np.diag([1.0, 1.0, 0.08]),
        [[0.0, 1.0, 0.4]],
        [[1.0, 0.0, 1.0]],
        0.3,
        [-0.5, -1.0, 0.0],
        restitution=0.6,
    )
    exact = laws.LAWS["two-body"](hypothesis="energetic")(one)
    result = laws.LZB()(one)
    np.testing.assert_allclose(result.v, exact.v, atol=1e-9)
    np.testing.assert_allclose(result.returned, 0.36 * result.stored, rtol=1e-9)
    spatial = sphere([1.0, 0.3, -1.0, 0.2, 0.1, 0.0], 0.3, 0.6).replace(Jn=[[0.0, 0.1, 1.0, 0.3, 0.0, 0.0]])
    curve = laws.LAWS["two-body"](hypothesis="energetic")(spatial).v
    errors = [np.abs(laws.LZB(resolution=n)(spatial).v - curve).max() for n in (10, 80)]
    assert errors[1] < 0.2 * errors[0]
    assert errors[1] < 1e-3


def test_lzb_with_restitution_is_an_outcome_of_the_energetic_set():
    block = systems.get("rocking-block").problem.replace(restitution=0.5)
    outcomes = routh.sample(block, 4000, seed=0)
    for stiffness in ((1.0, 1.0), (1.0, 30.0)):
        result = laws.LZB(stiffness=stiffness)(block)
        assert routh.audit(block, result.v, outcomes=outcomes, refine=200).distance < 0.02
        assert np.all(result.returned <= 0.25 * result.stored + 1e-12)


def test_poissons_law_gives_back_at_least_e_of_the_impulse_of_compression():
    block = systems.get("rocking-block").problem.replace(restitution=0.5)
    compression, expansion = laws.Poisson()(block).path.impulse
    np.testing.assert_allclose(compression, laws.Simultaneous()(block.replace(restitution=0.0)).impulse)
    assert np.all(expansion[:, 0] >= 0.5 * compression[:, 0] - 1e-12)


def test_chatterjee_and_ruina_on_their_cone():
    """The published formula for one contact, written down again."""
    rng = np.random.default_rng(3)
    kinds = set()
    for _ in range(30):
        one = colliding(random_problem(rng, nt=2, nc=1, nv=6, mu=rng.uniform(0.05, 1.5))).replace(
            restitution=0.7
        )
        G, before, mu = one.delassus, one.contact_velocity()[0], one.mu[0]
        first = np.array([-before[0] / G[0, 0], 0.0, 0.0])
        second = -np.linalg.solve(G, before)
        wanted = 1.7 * first + 1.3 * (second - first)
        grips = np.linalg.norm(wanted[1:]) <= mu * wanted[0]
        if not grips:
            k = mu * 1.7 * first[0] / (np.linalg.norm(second[1:]) - mu * (second[0] - first[0]))
            wanted = 1.7 * first + k * (second - first)
        kinds.add(bool(grips))
        result = laws.ChatterjeeRuina(tangential=0.3)(one)
        np.testing.assert_allclose(result.impulse[0], wanted, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(result.contact_velocity[0, 0], -0.7 * before[0])
    assert kinds == {True, False}


@needs("two_body")
def test_kane_and_levinsons_pendulum_gains_energy_by_newtons_rule_only():
    """Two rods, 1 kg and 1 m each, at 20 and 30 degrees touch the ground (Kane and Levinson 1985)."""
    one, two = np.radians(20.0), np.radians(30.0)
    coupling = 0.5 * np.cos(one - two)
    M = [[4.0 / 3.0, coupling], [coupling, 1.0 / 3.0]]
    Jn, Jt = [[np.sin(one), np.sin(two)]], [[np.cos(one), np.cos(two)]]
    pendulum = routh.ImpactProblem(M, Jn, Jt, 0.5, [-0.1, -0.2], restitution=0.5)
    newton = laws.Moreau()(pendulum)
    assert newton.status is Status.ENERGY_GAINED
    assert newton.kinetic_energy > 1.5 * pendulum.kinetic_energy()
    for law in (laws.Poisson(), laws.Energetic(), laws.ChatterjeeRuina(), laws.LZB()):
        result = law(pendulum)
        assert result.status is Status.SOLVED
        assert result.kinetic_energy < 0.6 * pendulum.kinetic_energy()
    stronge = laws.LAWS["two-body"](hypothesis="energetic")(pendulum)
    np.testing.assert_allclose(result.v, stronge.v, atol=1e-9)  # of LZB


def test_springs_that_squeeze_what_stands_still_are_called_jammed():
    """A wedge between two walls that friction holds: what the springs took up cannot be returned."""
    lean = np.radians(5.0)
    Jn = [[np.cos(lean), np.sin(lean)], [-np.cos(lean), np.sin(lean)]]
    Jt = [[-np.sin(lean), np.cos(lean)], [np.sin(lean), np.cos(lean)]]
    wedge = routh.ImpactProblem(np.eye(2), Jn, Jt, 2.0, [0.0, -1.0], restitution=0.5)
    result = laws.LZB(max_steps=5000)(wedge)
    assert result.status is Status.JAMMED
    np.testing.assert_allclose(result.v, 0.0, atol=1e-7)
    assert laws.Energetic()(wedge).status is Status.JAMMED


@pytest.mark.parametrize("nt", [1, 2])
@pytest.mark.parametrize("name", ALL)
def test_what_laws_promise(name, nt):
    rng, solved = np.random.default_rng(nt), 0
    for k in range(9):
        problem = colliding(random_problem(rng, nt=nt, mu=rng.choice([0.0, 0.3, 1.0])))
        problem = problem.replace(restitution=(0.0, 0.5, 1.0)[k % 3])
        law = laws.LZB(resolution=10, max_steps=500) if name == "lzb" else laws.named(name)
        result = law(problem)
        assert isinstance(result.status, Status)
        if result.status is Status.SOLVED:
            np.testing.assert_allclose(problem.apply(result.impulse), result.v, atol=1e-9)
            np.testing.assert_allclose(result.path.v[-1], result.v)
            solved += 1
            unit = problem.scaling
            assert np.all(problem.Jn @ result.v >= -2e-8 * unit.velocity)
            assert result.kinetic_energy <= problem.kinetic_energy() * (1.0 + 1e-9)
            over = np.linalg.norm(result.impulse[:, 1:], axis=1) - problem.mu * result.impulse[:, 0]
            assert np.all(over <= 1e-7 * unit.impulse * (1.0 + problem.mu))
            assert np.all(result.impulse[:, 0] >= -1e-8 * unit.impulse)
    assert solved >= 6


@pytest.mark.parametrize("name", ["moreau", "poisson", "energetic"])
def test_without_restitution_they_are_the_simultaneous_law(name):
    for system in ("rocking-block", "box-wall", "compass-gait"):
        problem = systems.get(system).problem
        np.testing.assert_allclose(laws.named(name)(problem).v, laws.Simultaneous()(problem).v, atol=1e-12)


@pytest.mark.parametrize("name", ["moreau-convex", "chatterjee-ruina", "lzb"])
def test_the_order_of_contacts_does_not_matter(name):
    rng = np.random.default_rng(7)
    for nt in (1, 2):
        problem = colliding(random_problem(rng, nt=nt, nc=3, nv=8, mu=0.4)).replace(restitution=0.5)
        law = laws.named(name)
        one, other = law(problem), law(problem.subset([2, 0, 1]))
        np.testing.assert_allclose(other.v, one.v, atol=1e-7)


def test_sequential_impacts_with_restitution():
    balls = chain([1.0, 1.0, 1.0], [1.0, 0.0, 0.0], 1.0)
    np.testing.assert_allclose(laws.Sequential()(balls).v, [0.0, 0.0, 1.0], atol=1e-12)
    with pytest.raises(ValueError, match="restitution"):
        laws.Sequential(rule="routh")(balls)


def test_names_and_bad_input():
    assert all(isinstance(laws.named(name), laws.ImpactLaw) for name in laws.LAWS)
    with pytest.raises(ValueError, match="law: got 'hooke'"):
        laws.named("hooke")
    for bad in ({"tangential": 2.0}, {"tangential": np.nan}, {"max_rounds": 0}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            laws.ChatterjeeRuina(**bad)
    with pytest.raises(ValueError, match="max_rounds"):
        laws.Energetic(max_rounds=0)
    ball = sphere([0.0, 0.0, -1.0, 0.0, 0.0, 0.0], 0.5, 0.5)
    for name in ALL:
        assert laws.named(name)(ball.replace(v=-ball.v)).status is Status.NO_IMPACT
        if name != "moreau-convex":
            with pytest.raises(ValueError, match="friction"):
                laws.LAWS[name](friction="sandpaper")(ball)


def test_friction_that_is_not_against_its_slip_is_told_by_its_residual(monkeypatch):
    """Where no solver mends it. Its power would tell the square of the angle only."""
    rng = np.random.default_rng(0)
    A, contact, normal = rng.normal(size=(6, 6)), 10.0 * rng.normal(size=(2, 3)), np.array([1.0, 0.7])
    settings = A @ A.T / 6 + 0.1 * np.eye(6), contact, normal, Cones(np.array([0.5, 0.8]), 2, None)
    friction, residual = friction_impulse(*settings)
    np.testing.assert_allclose(np.hypot(*friction.T), [0.5, 0.56])  # both slide
    assert residual < 1e-12
    turned = friction + 1e-4 * friction[:, ::-1] * [-1.0, 1.0]
    monkeypatch.setattr(cone_program, "_by_newton", lambda H, free, limit, x, least, fault: (x, least))
    monkeypatch.setattr(convex, "minimise", lambda *asked, **options: SimpleNamespace(x=turned.ravel()))
    assert friction_impulse(*settings, start=turned)[1] > 1e-5


def test_impulses_that_pull_or_leave_the_polygon_are_no_answer():
    square = Cones(np.array([0.5]), 2, np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]))
    for impulse, fault in (([2.0, 0.5, -0.5], 0.0), ([-1.0, 0.0, 0.0], 1.0), ([2.0, 1.0, 1.0], 1.0)):
        assert _complementarity(np.array([impulse]), np.zeros((1, 3)), square) == pytest.approx(fault)
