"""The laws against the outcomes that HP23 describes, and against what every impact law must respect."""

import numpy as np
import pytest
from hypothesis import given, settings

import routh
from feature_marks import needs
from problems import colliding, problems, random_problem
from routh import laws
from routh.base import features

# Solutions of the simultaneous law, recomputed independently of this library.
SIMULTANEOUS = {
    "rocking-block": [(0.0, 0.0, 0.0)],
    "box-wall": [(0.0, 0.0, 0.0)],
    "compass-gait": [
        (0.0, 0.0, 0.0, 0.0),
        (0.064245, -0.302250, -0.309002, 0.309002),
        (0.088429, -0.416027, -0.425321, 0.527100),
    ],
}


@pytest.mark.parametrize("name", SIMULTANEOUS)
def test_every_simultaneous_solution(name):
    found = laws.Simultaneous().all(routh.systems.get(name).problem)
    assert len(found) == len(SIMULTANEOUS[name])
    for wanted in SIMULTANEOUS[name]:
        assert min(np.abs(result.v - wanted).max() for result in found) < 1e-6
    energies = [result.kinetic_energy for result in found]
    assert energies == sorted(energies)


def test_ramone_has_three_simultaneous_solutions():
    found = laws.Simultaneous().all(routh.systems.get("ramone").problem)
    trailing = sorted((result.contact_velocity[1] for result in found), key=lambda c: -c[1])
    np.testing.assert_allclose([c[1] for c in trailing], [0.0, -0.019516, -0.027350], atol=1e-6)
    np.testing.assert_allclose([c[0] for c in trailing], [0.0, 0.0, 0.000331], atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["disk-stack", "disk-stack-5kg"])
def test_the_disk_stack_only_comes_to_rest(name):
    found = laws.Simultaneous().all(routh.systems.get(name).problem)  # 2^20 bases
    assert len(found) == 1
    np.testing.assert_allclose(found[0].v, 0.0, atol=1e-12)


@pytest.mark.parametrize("rule", ["complementarity", "routh"])
def test_sequential_outcomes(rule):
    block, wall = (routh.systems.get(name).problem for name in ("rocking-block", "box-wall"))
    first = laws.Sequential(order=("A", "B"), rule=rule)(block)
    np.testing.assert_allclose(first.v, (0.093018, 0.046509, -0.093018), atol=1e-6)
    np.testing.assert_allclose(first.contact_velocity[:, 0], (0.093018, 0.0), atol=1e-6)
    mirrored = laws.Sequential(order=(1, 0), rule=rule)(block)
    np.testing.assert_allclose(mirrored.v, (-0.093018, 0.046509, 0.093018), atol=1e-6)
    for order in (("A", "B"), ("B", "A")):
        result = laws.Sequential(order=order, rule=rule)(wall)
        np.testing.assert_allclose(result.v, (0.063790, -0.169432, 0.417754), atol=1e-6)
        assert result.status is routh.Status.SOLVED


def test_a_sequence_that_leaves_out_a_contact_or_is_cut_short_says_so():
    block = routh.systems.get("rocking-block").problem
    assert laws.Sequential(order=("A",))(block).status is routh.Status.MAX_STEPS
    assert laws.Sequential(max_impacts=1)(block).status is routh.Status.MAX_STEPS


def all_laws(problem):
    yield laws.Simultaneous()
    yield laws.Sequential(max_impacts=200)
    yield laws.SetValued()
    yield laws.SetValued(method="algorithm1", max_steps=200)
    if problem.nc == 1 and problem.nt == 1:
        yield laws.SingleContact()


def check_physics(result):
    """Energy, momentum, cone and the end of the impact, recomputed from the problem's matrices."""
    problem = result.problem
    before = float(problem.kinetic_energy())
    energies = np.append(problem.kinetic_energy(result.path.v), result.kinetic_energy)
    assert np.all(np.diff(energies) <= 1e-12 * before + 10.0 * result.residual * before)
    momentum = problem.M @ (result.v - problem.v)
    applied = problem.J.reshape(-1, problem.nv).T @ result.impulse.ravel()
    scale = np.abs(problem.M).max() * max(np.abs(problem.v).max(), np.abs(result.v).max())
    size = max(scale, np.abs(problem.J).max() * np.abs(result.impulse).max())
    np.testing.assert_allclose(momentum, applied, atol=1e-12 * size)
    unit = problem.scaling.impulse
    assert np.all(result.impulse[:, 0] >= -1e-9 * unit)
    # path sums add up in the cone, since the cone is convex
    assert np.all(
        np.linalg.norm(result.impulse[:, 1:], axis=1)
        <= problem.mu * result.impulse[:, 0] + 1e-7 * unit * (1 + problem.mu)
    )
    if result.status is routh.Status.SOLVED:
        assert np.all(problem.Jn @ result.v >= -2e-8 * problem.scaling.velocity)


@given(problems())
@settings(max_examples=40)
def test_energy_momentum_and_cone(problem):
    for law in all_laws(problem):
        result = law(problem, np.random.default_rng(0))
        assert result.status in (routh.Status.SOLVED, routh.Status.MAX_STEPS)
        np.testing.assert_array_equal(result.path.v[0], problem.v)
        np.testing.assert_array_equal(result.path.v[-1], result.v)
        check_physics(result)


@given(problems(nts=(1,)))
@settings(max_examples=40)
def test_scaling_the_velocity_scales_the_outcome(problem):
    for factor in (2.0**-20, 2.0**20):  # powers of two: nothing may change at all
        scaled = problem.replace(v=factor * problem.v)
        for law in (laws.Simultaneous(), laws.SetValued(), laws.Sequential(max_impacts=100)):
            one = law(problem, np.random.default_rng(1))
            other = law(scaled, np.random.default_rng(1))
            assert one.status is other.status
            np.testing.assert_array_equal(other.v, factor * one.v)
    odd = problem.replace(v=3.0 * problem.v)
    one, other = (
        laws.SetValued(method="algorithm1", max_steps=50)(p, np.random.default_rng(1)) for p in (problem, odd)
    )
    np.testing.assert_allclose(other.v / 3.0, one.v, atol=1e-7 * np.abs(problem.v).max())


@needs("reproduce")
@given(problems(mu=0.2))
@settings(max_examples=40)
def test_permuting_contacts_permutes_the_result(problem):
    uniqueness = features.feature("reproduce.unique").uniqueness
    if uniqueness(problem, trials=0, budget=0.0).verdict != "certified":
        return  # where a step has several solutions, the order of the contacts breaks ties
    order = np.random.default_rng(0).permutation(problem.nc)
    bound = problem.scaling.impulse * np.linspace(0.2, 1.0, problem.nc)
    shuffled = problem.subset([int(i) for i in order])
    one = routh.step.PolyhedralStep(problem).solve(problem.v, bound)
    other = routh.step.PolyhedralStep(shuffled).solve(problem.v, bound[order])
    np.testing.assert_allclose(other.v, one.v, atol=1e-9 * np.abs(problem.v).max())


@given(problems(mu=0.2, nc=2))
@settings(max_examples=15)
def test_duplicating_a_contact_changes_no_simultaneous_velocity(problem):
    twice = problem.replace(
        Jn=np.vstack([problem.Jn, problem.Jn[:1]]),
        Jt=np.concatenate([problem.Jt, problem.Jt[:1]]),
        mu=np.append(problem.mu, problem.mu[0]),
        restitution=np.zeros(3),
        names=["a", "b", "again"],
    )
    if problem.nt == 1:
        # the whole set of solutions is the same
        once, both = (sorted(tuple(r.v) for r in laws.Simultaneous().all(p)) for p in (problem, twice))
        assert len(once) == len(both)
        np.testing.assert_allclose(once, both, atol=1e-7 * np.abs(problem.v).max())
    single = colliding(problem.subset([0]))
    if problem.nt == 1 and np.any(single.approaching):
        doubled = single.replace(
            Jn=np.repeat(single.Jn, 2, 0),
            Jt=np.repeat(single.Jt, 2, 0),
            mu=np.repeat(single.mu, 2),
            restitution=np.zeros(2),
            names=["a", "again"],
        )
        one, two = laws.SingleContact()(single), laws.SingleContact()(doubled)
        np.testing.assert_allclose(one.v, two.v, atol=1e-12 * np.abs(problem.v).max())


def test_routh_is_the_limit_of_small_set_valued_steps():
    rng = np.random.default_rng(7)
    for _ in range(20):
        problem = colliding(random_problem(rng, nt=1, nc=1, nv=3, mu=rng.choice([0.0, 0.3, 1.0, 10.0])))
        exact = laws.SingleContact()(problem)
        assert exact.status is routh.Status.SOLVED
        errors = []
        for share in (0.1, 0.01):
            step = share * problem.scaling.impulse
            law = laws.SetValued(method="algorithm1", step=step, max_steps=100_000)
            draw = law(problem, np.random.default_rng(0))
            errors.append(np.abs(draw.v - exact.v).max() / np.abs(problem.v).max())
        assert errors[1] < 0.05
        assert errors[1] <= max(0.5 * errors[0], 1e-9)


def test_nothing_happens_where_nothing_approaches():
    block = routh.systems.get("rocking-block").problem
    leaving = block.replace(v=-block.v)
    still = block.replace(v=np.zeros(3))
    grazing = block.replace(v=[1.0, 0.0, 0.0])
    for problem in (leaving, still, grazing):
        for law in (laws.Simultaneous(), laws.Sequential()):
            result = law(problem)
            assert result.status is routh.Status.NO_IMPACT
            np.testing.assert_array_equal(result.v, problem.v)
            np.testing.assert_array_equal(result.impulse, 0.0)


def painleve_rod(mu=3.0, angle=np.pi / 3.0):
    """A thin rod of length 2 and mass 1 whose lower tip touches the ground and slides."""
    c, s = np.cos(angle), np.sin(angle)
    tip = np.array([-c, -s])
    return routh.ImpactProblem(
        np.diag([1.0, 1.0, 1.0 / 3.0]), [[0.0, 1.0, tip[0]]], [[1.0, 0.0, -tip[1]]], mu, [-1.0, 0.0, 0.0]
    )


def test_an_impact_without_collision():
    """Where sliding presses the tip into the ground, an impulse acts although nothing approaches."""
    rod = painleve_rod()
    jam = rod.delassus[0, 0] + 3.0 * rod.delassus[0, 1]  # friction is +mu against slip to the left
    assert jam < 0.0
    draws = laws.SetValued(), laws.SetValued(method="algorithm1", step=1e-3)
    for law in (laws.SingleContact(), laws.Simultaneous(), laws.Sequential(), *draws):
        result = law(rod, np.random.default_rng(0), without_collision=[0])
        assert result.status is routh.Status.SOLVED
        assert result.impulse[0, 0] > 0.1
        assert law(rod).status is routh.Status.NO_IMPACT
    easy = painleve_rod(mu=0.1)
    result = laws.SingleContact()(easy, without_collision=[0])
    assert result.impulse[0, 0] < 1e-6


@pytest.mark.parametrize("law", [laws.SingleContact(), laws.SetValued(), laws.Simultaneous()])
def test_an_impact_without_collision_of_a_light_foot(law):
    """A fast body of which contacts know nothing: its share of the speed was an approach faster than slip."""
    slip, fast = 1e-7, 10.0
    rod = painleve_rod()
    M = np.diag([*np.diag(rod.M), 1.0])
    rows = np.concatenate([rod.Jn, [[0.0]]], axis=1), np.concatenate([rod.Jt[:, 0], [[0.0]]], axis=1)
    robot = routh.ImpactProblem(M, *rows, 3.0, np.r_[slip * rod.v, fast])
    alone = law(rod, np.random.default_rng(0), without_collision=[0])
    result = law(robot, np.random.default_rng(0), without_collision=[0])
    assert result.status is routh.Status.SOLVED
    np.testing.assert_allclose(result.impulse, slip * alone.impulse, atol=1e-6 * slip)
    np.testing.assert_allclose(result.v[:3], slip * alone.v, atol=1e-6 * slip)
    assert result.v[3] == fast


LAWS = (
    laws.Simultaneous(),
    laws.Sequential(),
    laws.Sequential(rule="routh"),
    laws.SetValued(),
    laws.SingleContact(),
    laws.LZB(),
    *(laws.LAWS[name]() for name in laws.LAWS if name == "two-body"),
    laws.Newton(),
)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_every_law_shares_the_base(law):
    """No approach: nothing happens; without collision: the path starts at the velocity that was given."""
    assert isinstance(law, laws.ImpactLaw)
    assert "__call__" not in vars(type(law))
    rod = painleve_rod(mu=3.0)
    assert law(rod).status is routh.Status.NO_IMPACT
    result = law(rod, np.random.default_rng(0), without_collision=[0])
    assert result.status is routh.Status.SOLVED
    assert result.problem is rod
    assert np.array_equal(result.path.v[0], rod.v)
    np.testing.assert_allclose(result.v, rod.apply(result.impulse), atol=1e-12)


@pytest.mark.parametrize("law", [law for law in LAWS if law.one_contact], ids=repr)
def test_a_repeated_contact_changes_nothing(law):
    rod = painleve_rod(mu=3.0)
    one, twice = (
        rod.replace(v=-rod.Jn[0]),
        rod.subset([0]).replace(
            Jn=np.repeat(rod.Jn, 2, axis=0),
            Jt=np.repeat(rod.Jt, 2, axis=0),
            mu=3.0,
            restitution=0.0,
            names=None,
            v=-rod.Jn[0],
        ),
    )
    assert law(twice).impulse.shape == (2, 2)
    np.testing.assert_allclose(law(twice).v, law(one).v, atol=1e-13)
    with pytest.raises(ValueError, match="problem: got nc=2"):
        law(twice.replace(mu=[3.0, 2.0]))


def test_paths_say_what_they_are():
    problem = painleve_rod(mu=0.3).replace(v=-painleve_rod(mu=0.3).Jn[0])
    kinds = [law(problem).path.kind.value for law in LAWS]
    assert kinds == ["implicit", "implicit", "total", *["straight"] * (len(LAWS) - 3)]


def test_restitution_is_refused_not_ignored():
    bouncy = routh.systems.get("rocking-block").problem.replace(restitution=0.5)
    for law in (laws.Simultaneous(), laws.SingleContact()):
        with pytest.raises(ValueError, match=r"restitution: got 0.5; \w+ is inelastic and wants 0"):
            law(bouncy)
    with pytest.raises(ValueError, match=r"restitution: got 0\.5; approximate is inelastic"):
        routh.approximate(bouncy, 1e-3, n=10)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: laws.Sequential(order=()), r"order: got \(\); wanted a sequence"),
        (lambda: laws.Sequential(order="AB"), "order: got 'AB'; wanted a sequence"),
        (lambda: laws.Sequential(rule="magic"), "rule: got 'magic'; wanted one of"),
        (lambda: laws.Sequential(max_impacts=0), "max_impacts: got 0; wanted an integer >= 1"),
        (
            lambda: laws.SetValued(method="algorithm1", max_steps=1.5),
            "max_steps: got 1.5 .* wanted an integer",
        ),
        (
            lambda: laws.SetValued(method="algorithm1", step=-1.0)(
                routh.systems.get("rocking-block").problem
            ),
            "step: got -1.0; wanted positive",
        ),
        (
            lambda: laws.SetValued(method="algorithm1", step=np.nan)(
                routh.systems.get("rocking-block").problem
            ),
            "step: got nan",
        ),
        (
            lambda: laws.Sequential(order=("C",))(routh.systems.get("rocking-block").problem),
            "contact: got 'C'",
        ),
        (lambda: laws.SingleContact()(routh.systems.get("rocking-block").problem), "problem: got nc=2, nt=1"),
        (
            lambda: laws.Simultaneous().all(routh.systems.get("box-drop").problem),
            "friction: got 'cone'; in space only those of 'polyhedral'",
        ),
    ],
)
def test_bad_settings_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_newtons_rule_says_so_where_it_creates_energy():
    """Kane's rod: friction and Newton's rule together can return more energy than there was."""
    rng, found = np.random.default_rng(0), 0
    for _ in range(300):
        problem = colliding(random_problem(rng, nc=1, nv=3, mu=float(rng.uniform(0.2, 1.0))))
        result = laws.Newton()(problem.replace(restitution=1.0))
        gained = result.kinetic_energy > problem.kinetic_energy() * (1.0 + 1e-12)
        found += gained
        assert (result.status is routh.Status.ENERGY_GAINED) == gained
    assert 5 < found < 295
    assert not routh.Status.ENERGY_GAINED.ok


def slow(seed, approach):
    """A contact that approaches slowly beside one that slides at 1 m/s and a third that rests."""
    rng = np.random.default_rng(seed)
    root, J = rng.normal(size=(9, 9)), rng.normal(size=(3, 3, 9))
    velocities = np.array([[-approach, 0.0, 0.0], [0.0, 1.0, 0.5], [0.0, 0.0, 0.0]])
    v = np.linalg.solve(J.reshape(9, 9), velocities.ravel())
    return routh.ImpactProblem(root @ root.T + np.eye(9), J[:, 0], J[:, 1:], 1.0, v)


def outside_cone(problem, impulse):
    """By how much impulses leave their friction cones, as a share of the largest."""
    excess = np.linalg.norm(impulse[:, 1:], axis=1) - problem.mu * impulse[:, 0]
    return max(float(excess.max()), -float(impulse[:, 0].min())) / float(np.abs(impulse).max())


@pytest.mark.parametrize("seed", [13, 50, 55, 76])
def test_a_slow_approach_beside_fast_slip_is_resolved_as_finely_as_a_fast_one(seed):
    """Errors were a millionth of the speed of all motion: of such an impact they were a part."""
    problem = slow(seed, 1e-5)
    result = laws.SetValued()(problem, np.random.default_rng(seed))
    assert result.status is routh.Status.SOLVED
    assert outside_cone(problem, result.impulse) < 1e-9


@pytest.mark.parametrize("seed", [38, 72, 73, 118])
def test_a_simultaneous_step_of_a_slow_approach_is_as_fine(seed):
    """The search ended with the first residual that all motion may have."""
    problem = slow(seed, 3e-7)
    result = laws.Simultaneous()(problem)
    assert result.status is routh.Status.SOLVED
    assert outside_cone(problem, result.impulse) < 1e-9
