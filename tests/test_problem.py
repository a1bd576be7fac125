import pickle
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given

import routh
from problems import problems

BLOCK = {
    "M": np.diag([1.0, 1.0, 5.0 / 12.0]),
    "Jn": [[0.0, 1.0, -0.5], [0.0, 1.0, 0.5]],
    "Jt": [[1.0, 0.0, 1.0], [1.0, 0.0, 1.0]],
    "mu": [1.0, 1.0],
    "v": [0.0, -0.4, 0.0],
    "restitution": [0.0, 0.0],
}
NAN, INF = float("nan"), float("inf")


def poisoned():
    """One NaN or infinity at a time, in every entry of every array."""
    for field, value in BLOCK.items():
        array = np.array(value, dtype=float)
        for index in np.ndindex(array.shape):
            for poison in (NAN, INF, -INF):
                bad = array.copy()
                bad[index] = poison
                name = f"{field}{list(index)}={poison}"
                yield pytest.param(field, bad, rf"{field}: got .*{poison}.* wanted finite", id=name)


WRONG = [
    ("M", np.diag([1.0, -1.0, 1.0]), "M: smallest eigenvalue is -1; wanted a positive definite"),
    ("M", np.diag([1.0, 0.0, 1.0]), "M: smallest eigenvalue is 0; wanted a positive definite"),
    ("M", [[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], "M: differs from its transpose by 0.5"),
    ("M", np.ones((2, 3)), r"M: got shape \(2, 3\); wanted a square matrix"),
    ("M", np.zeros((0, 0)), r"M: got shape \(0, 0\); wanted a square matrix"),
    ("M", np.eye(3)[0], r"M: got shape \(3,\); wanted shape \(nv, nv\)"),
    ("M", 1.0, r"M: got shape \(\); wanted shape \(nv, nv\)"),
    ("M", "mass", "M: got 'mass'; wanted real numbers"),
    ("M", None, "M: got None; wanted real numbers"),
    ("M", np.eye(3) * 1j, "M: got ndarray of dtype complex128; wanted real numbers"),
    ("M", np.eye(3, dtype=bool), "M: got ndarray of dtype bool; wanted real numbers"),
    ("M", [[1.0, 2.0], [3.0]], "M: cannot be read as an array"),
    ("M", np.eye(4), r"Jn: got shape \(2, 3\); wanted shape \(nc, 4\)"),
    ("Jn", np.zeros((0, 3)), "Jn: got no rows; wanted at least one contact"),
    ("Jn", [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]], "Jn: row 1 is zero; wanted a normal"),
    ("Jn", [0.0, 1.0, 0.0], r"Jn: got shape \(3,\); wanted shape \(nc, 3\)"),
    ("Jn", np.ones((2, 2)), r"Jn: got shape \(2, 2\); wanted shape \(nc, 3\)"),
    ("Jn", np.ones((2, 1, 3)), r"Jn: got shape \(2, 1, 3\); wanted shape \(nc, 3\)"),
    ("Jn", "up", "Jn: got 'up'; wanted real numbers"),
    ("Jn", None, "Jn: got None; wanted real numbers"),
    ("Jt", np.ones((2, 2)), r"Jt: got shape \(2, 2\); wanted shape \(2, 3\) or \(2, nt, 3\)"),
    ("Jt", np.ones((1, 3)), r"Jt: got shape \(1, 3\); wanted shape \(2, 3\)"),
    ("Jt", np.ones((2, 3, 3)), r"Jt: got shape \(2, 3, 3\); wanted .* with nt 1 or 2"),
    ("Jt", np.ones((2, 0, 3)), r"Jt: got shape \(2, 0, 3\); wanted .* with nt 1 or 2"),
    ("Jt", "side", "Jt: got 'side'; wanted real numbers"),
    ("Jt", None, "Jt: got None; wanted real numbers"),
    ("mu", -0.1, "mu: got -0.1; wanted friction coefficients >= 0"),
    ("mu", [0.5, -1.0], "mu: got -1.0; wanted friction coefficients >= 0"),
    ("mu", [1.0, 1.0, 1.0], r"mu: got shape \(3,\); wanted a number or shape \(2,\)"),
    ("mu", [[1.0, 1.0]], r"mu: got shape \(1, 2\); wanted a number or shape \(2,\)"),
    ("mu", "rough", "mu: got 'rough'; wanted real numbers"),
    ("mu", None, "mu: got None; wanted real numbers"),
    ("mu", True, "mu: got bool of dtype bool; wanted real numbers"),
    ("v", [0.0, 1.0], r"v: got shape \(2,\); wanted shape \(3,\)"),
    ("v", 1.0, r"v: got shape \(\); wanted shape \(3,\)"),
    ("v", np.zeros((3, 1)), r"v: got shape \(3, 1\); wanted shape \(3,\)"),
    ("v", "fast", "v: got 'fast'; wanted real numbers"),
    ("v", [1j, 0, 0], "v: got list of dtype complex128; wanted real numbers"),
    ("v", None, "v: got None; wanted real numbers"),
    ("restitution", 1.5, "restitution: got 1.5; wanted coefficients between 0 and 1"),
    ("restitution", -0.5, "restitution: got -0.5; wanted coefficients between 0 and 1"),
    ("restitution", [0.5, 2.0], "restitution: got 2.0; wanted coefficients between 0 and 1"),
    ("restitution", [0.5], r"restitution: got shape \(1,\); wanted a number or shape \(2,\)"),
    ("restitution", "bouncy", "restitution: got 'bouncy'; wanted real numbers"),
    ("names", ["A"], "names: got 1 names; wanted 2, one per contact"),
    ("names", ["A", "A"], "names: 'A' appears twice; wanted distinct names"),
    ("names", "AB", "names: got 'AB'; wanted a sequence of 2 strings"),
    ("names", ["A", "A\0"], r"names: got 'A\\x00'; wanted names without NUL"),
    ("M", np.ma.array(np.eye(3), mask=np.eye(3)), "M: got an array with masked values"),
    ("Jn", [np.ma.array([0.0, 1.0, -0.5], mask=[1, 0, 0]), [0.0, 1.0, 0.5]], "Jn: got an array with masked"),
    ("mu", np.ma.array([0.5, 0.5], mask=[0, 1]), "mu: got an array with masked values"),
    ("names", [1, 2], r"names: got \[1, 2\]; wanted a sequence of 2 strings"),
]


@pytest.mark.parametrize(("field", "value", "message"), [*WRONG, *poisoned()])
def test_one_wrong_value_at_a_time_is_named(field, value, message):
    arguments = {**BLOCK, field: value}
    positional = [arguments.pop(name) for name in ("M", "Jn", "Jt", "mu", "v")]
    with pytest.raises(ValueError, match=f"^{message}"):
        routh.ImpactProblem(*positional, **arguments)


def nearly_singular(left, seed, nv=3):
    """A dense mass matrix whose last coordinate has this share of its inertia left once the others move."""
    rng = np.random.default_rng(seed)
    L = np.tril(rng.normal(size=(nv, nv)))
    L[-1, :-1] *= 1.0 / np.linalg.norm(L[-1, :-1])
    L[-1, -1] = np.sqrt(left / (1.0 - left))
    np.fill_diagonal(L[:-1, :-1], 1.0)
    return L @ L.T


def momentum_missed(outcomes, sample):
    """``M (v+ - v-) - J^T impulse`` of a sample in fractions, in the norm of M^-1 over the speed before."""
    problem, exact = outcomes.problem, np.vectorize(F, otypes=[object])
    M, J = exact(problem.M), exact(problem.J.reshape(-1, problem.nv))
    change = exact(outcomes.v[sample]) - exact(problem.v)
    rest = M @ change - exact(outcomes.impulse[sample].ravel()) @ J
    return float(np.linalg.norm(np.linalg.solve(problem.cholesky, rest.astype(float)))) / problem.speed


@pytest.mark.parametrize("nt", [1, 2])
def test_accepted_masses_keep_momentum_and_others_are_refused(nt):
    """The residual is by the factor of M that made the answer: it cannot see what that lost."""
    for seed in range(30):
        rng = np.random.default_rng([seed, nt])
        rows, v = rng.normal(size=(2, 1 + nt, 3)), rng.normal(size=3)
        rest = rows[:, 0], rows[:, 1:], 0.5, -v if (rows[:, 0] @ v).min() > 0.0 else v
        outcomes = routh.sample(routh.ImpactProblem(nearly_singular(2e-7, seed), *rest), 4)
        missed = [momentum_missed(outcomes, k) for k in np.flatnonzero(outcomes.solved)]
        assert max(missed, default=0.0) < 1e-6
        nearly = nearly_singular(5e-8, seed)
        with pytest.raises(
            ValueError, match="M: coordinate 2 has 5e-08 of its inertia left where those before"
        ):
            routh.ImpactProblem(nearly, *rest)
        with pytest.raises(ValueError, match="M: row 0 is not positive definite, or only by rounding"):
            routh.ImpactBatch(nearly, *rest[:3], rest[3][None])


def test_masses_of_any_scale_are_accepted():
    """Scaling of the coordinates is no loss: grams beside tonnes, millimetres beside kilometres."""
    scale = np.array([1e-8, 1.0, 1e8])
    M = nearly_singular(1e-3, 0) * np.outer(scale, scale)
    assert routh.ImpactProblem(M, [[0.0, 1e4, 1e12]], [[1e-8, 0.0, 0.0]], 0.5, [0.0, -1.0, 0.0]).nv == 3


def test_there_are_at_least_a_hundred_refusals():
    assert len(WRONG) + len(list(poisoned())) >= 100


def block(**changes):
    arguments = {**BLOCK, **changes}
    positional = [arguments.pop(name) for name in ("M", "Jn", "Jt", "mu", "v")]
    return routh.ImpactProblem(*positional, **arguments)


def test_dimensions_scalars_and_flat_tangents():
    problem = block(mu=0.5)
    assert (problem.nv, problem.nc, problem.nt) == (3, 2, 1)
    assert problem.Jt.shape == (2, 1, 3)
    np.testing.assert_array_equal(problem.mu, [0.5, 0.5])
    assert problem.names == ("contact-0", "contact-1")
    assert "planar" in repr(problem)


def test_is_frozen_and_keeps_its_own_copy():
    M = BLOCK["M"].copy()
    problem = block(M=M)
    M[0, 0] = 7.0
    assert problem.M[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        problem.v[0] = 1.0
    with pytest.raises(AttributeError):
        problem.v = np.zeros(3)


def test_replace_subset_and_index():
    problem = block(names=["A", "B"])
    assert problem.replace(mu=0.0).mu[0] == 0.0
    assert problem.subset(["B"]).names == ("B",)
    assert problem.index("B") == problem.index(1) == 1
    for bad in ("C", 2, -1, True, 0.0):
        with pytest.raises(ValueError, match="contact: got"):
            problem.index(bad)
    with pytest.raises(ValueError, match="replace: got 'mass'; wanted one of"):
        problem.replace(mass=1.0)
    with pytest.raises(ValueError, match=r"impulse: got shape \(3, 2\); wanted"):
        problem.apply(np.zeros((3, 2)))


@given(problems())
def test_delassus_energy_and_momentum(problem):
    J = problem.J.reshape(-1, problem.nv)
    inverse = np.linalg.inv(problem.M)
    np.testing.assert_allclose(problem.delassus, J @ inverse @ J.T, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(problem.kinetic_energy(), 0.5 * problem.v @ problem.M @ problem.v, rtol=1e-12)
    np.testing.assert_allclose(problem.speed**2, 2.0 * problem.kinetic_energy(), rtol=1e-12)
    impulse = np.random.default_rng(0).normal(size=(problem.nc, 1 + problem.nt))
    after = problem.apply(impulse)
    momentum = problem.M @ (after - problem.v)
    np.testing.assert_allclose(momentum, J.T @ impulse.ravel(), rtol=1e-10, atol=1e-11)
    # in its own units every contact has unit inverse normal mass
    np.testing.assert_allclose(problem.scaling.velocity * problem.scaling.mass, problem.scaling.impulse)


@given(problems())
def test_batches_agree_with_single_velocities(problem):
    velocities = np.random.default_rng(0).normal(size=(4, problem.nv))
    np.testing.assert_allclose(
        problem.contact_velocity(velocities), [problem.contact_velocity(v) for v in velocities], atol=1e-12
    )
    np.testing.assert_allclose(
        problem.kinetic_energy(velocities), [problem.kinetic_energy(v) for v in velocities], rtol=1e-12
    )


def test_a_problem_stays_frozen_through_a_pickle():
    problem = routh.systems.impact("rocking-block")
    again = pickle.loads(pickle.dumps(problem))
    for name in ("M", "Jn", "Jt", "mu", "v", "restitution"):
        np.testing.assert_array_equal(getattr(again, name), getattr(problem, name))
        assert not getattr(again, name).flags.writeable


def test_a_file_of_a_later_version_is_refused_by_name(tmp_path):
    problem = routh.systems.impact("rocking-block")
    problem.save(tmp_path / "now.npz")
    arrays = dict(np.load(tmp_path / "now.npz"))
    assert arrays.pop("format") == 1
    np.savez(tmp_path / "own.npz", **arrays)
    assert routh.ImpactProblem.load(tmp_path / "own.npz").names == problem.names
    np.savez(tmp_path / "later.npz", **arrays, format=2)
    with pytest.raises(ValueError, match=r"later\.npz: format: got 2; wanted 1"):
        routh.ImpactProblem.load(tmp_path / "later.npz")


def test_saves_and_loads_without_pickle(tmp_path):
    problem = block(names=["A", "B"], restitution=0.25)
    problem.save(tmp_path / "block.npz")
    loaded = routh.ImpactProblem.load(tmp_path / "block.npz")
    for name in ("M", "Jn", "Jt", "mu", "v", "restitution"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(problem, name))
    assert loaded.names == ("A", "B")
    np.savez(tmp_path / "half.npz", M=problem.M)
    with pytest.raises(ValueError, match="has no array 'Jn'; wanted M, Jn, Jt, mu and v"):
        routh.ImpactProblem.load(tmp_path / "half.npz")


@pytest.mark.parametrize("field", ["M", "Jn", "Jt", "mu", "v"])
def test_numbers_whose_products_overflow_are_refused(field):
    given = {"M": np.eye(3), "Jn": np.ones((1, 3)), "Jt": np.ones((1, 1, 3)), "mu": [0.5], "v": -np.ones(3)}
    with pytest.raises(ValueError, match=f"{field}: got 1e[+]308; wanted numbers of at most"):
        routh.ImpactProblem(**{**given, field: 1e308 * np.ones_like(given[field])})


@pytest.mark.parametrize(
    "work",
    [
        lambda given: routh.sample(given, 16),
        lambda given: routh.sampling.sample_by_steps(given, 16),
        routh.fill,
        routh.exact_set,
        routh.outer_bound,
        routh.laws.Sequential(),
        lambda given: routh.audit(given, [0.0, 0.0, 0.0]),
    ],
)
def test_a_system_given_as_a_problem_is_told_where_its_problem_is(work):
    with pytest.raises(ValueError, match=r"problem: got System; wanted .* \(the System's .problem is one\)"):
        work(routh.systems.get("rocking-block"))
    with pytest.raises(ValueError, match=r"problem: got str; wanted an ImpactProblem"):
        work("robot.xml")
