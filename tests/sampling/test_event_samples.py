"""Sampling by events in the plane: every sample is a solution of the model."""

import ctypes

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import routh
from problems import FAMILIES, colliding, family_problem, problems, random_problem
from routh import systems
from routh.base.status import Status
from routh.kernels.common.arrays import make_rows
from routh.kernels.events import event_samples
from routh.kernels.plane import sample as plane_sample
from routh.laws import SingleContact
from routh.sampling.events import path_of
from routh.sampling.path_residual import path_residual
from routh.sampling.settings import ByEvents

SYSTEMS = ("rocking-block", "compass-gait", "box-wall", "ramone", "rimless-wheel", "pushing")
PLANAR = [name for name in FAMILIES if name.startswith("planar")]


def draw(problem, n=16, **options):
    return routh.sample(problem, n, threads=1, **options)


@pytest.mark.parametrize("name", SYSTEMS)
def test_samples_lie_in_the_exact_set_and_fill_it(name):
    pytest.importorskip("ppl")
    exact = routh.exact_set(systems.get(name).rational)
    outcomes = draw(exact.problem, 2**12)
    assert np.all(outcomes.status == Status.SOLVED)
    coverage = routh.coverage(outcomes, exact)
    assert coverage.outside <= 1e-9
    assert coverage.worst <= 1e-3


def test_ramone_shows_its_three_simultaneous_outcomes():
    outcomes = draw(systems.get("ramone").problem, 2000)
    slips = outcomes.contact_velocity[:, 1, 1]
    for slip in (0.0, -0.019516, -0.027350):
        assert np.abs(slips - slip).min() < 2e-4


@given(st.integers(0, 2**32 - 1))
def test_one_contact_is_rouths_path(seed):
    rng = np.random.default_rng(seed)
    hard = seed % 2 == 1
    mu = rng.choice([0.0, 0.3, 1.0, 10.0, 1e5] if hard else [0.0, 0.3, 1.0, 3.0])
    problem = colliding(
        random_problem(rng, nc=1, mu=mu, ratio=10.0 ** rng.uniform(0.0, 6.0 if hard else 1.0))
    )
    outcomes = draw(problem, 8)
    assert np.all(outcomes.status == Status.SOLVED)
    exact = SingleContact()(problem).v
    distance = np.linalg.norm((outcomes.v - exact) @ problem.cholesky, axis=1)
    assert distance.max() <= (1e-10 if hard else 1e-12) * problem.speed


@given(problems(nts=(1,)), st.sampled_from(["mixed", "uniform", "extreme"]), st.sampled_from([0.2, 0.6, 1.0]))
def test_paths_obey_the_model(problem, rates, persistence):
    outcomes = draw(problem, 6, rates=rates, persistence=persistence, seed=3)
    for i in np.flatnonzero(outcomes.status == Status.SOLVED):
        path = outcomes.path(int(i))
        assert len(path.impulse) == outcomes.events[i]
        np.testing.assert_allclose(path.v[-1], outcomes.v[i], rtol=0, atol=1e-11 * np.abs(problem.v).max())
        np.testing.assert_allclose(path.impulse.sum(axis=0), outcomes.impulse[i], atol=1e-11)
        assert path_residual(problem, path) <= 1e-9
        assert outcomes.residual[i] <= 1e-9


@given(problems(nts=(1,)))
def test_energy_falls_and_momentum_is_explained(problem):
    outcomes = draw(problem)
    solved = outcomes.status == Status.SOLVED
    before = problem.kinetic_energy()
    assert np.all(outcomes.kinetic_energy[solved] <= before * (1.0 + 1e-9))
    recomputed = problem.apply(outcomes.impulse)
    distance = np.linalg.norm((outcomes.v - recomputed) @ problem.cholesky, axis=1)
    assert np.all(distance[solved] <= 1e-10 * problem.speed)
    assert np.all(outcomes.terminated[solved])


@pytest.mark.parametrize("family", PLANAR)
def test_families_end(family):
    for seed in range(20):
        problem, _ = family_problem(family, seed)
        outcomes = draw(problem, 32)
        assert not np.any(outcomes.status == Status.NUMERICAL)
        if not routh.pointedness.pointedness(problem).jammed:
            assert np.all(outcomes.status == Status.SOLVED)


@given(problems(nts=(1,)), st.sampled_from([2.0**-30, 2.0**7]))
def test_scaling_the_velocity_scales_the_outcome(problem, factor):
    one, other = draw(problem), draw(problem.replace(v=factor * problem.v))
    assert np.array_equal(one.status, other.status)
    solved = one.status == Status.SOLVED
    np.testing.assert_allclose(other.v[solved], factor * one.v[solved], rtol=1e-9, atol=1e-9 * factor)


def test_permuted_and_duplicated_contacts_have_the_same_set():
    problem = systems.get("compass-gait").problem
    rows = routh.sampling.fill.watch_directions(problem, 16)
    support = np.max(draw(problem, 4096).v @ rows.T, axis=0)
    swapped = problem.subset([1, 0])
    repeated = problem.subset([0, 1]).replace(
        Jn=problem.Jn[[0, 1, 0]], Jt=problem.Jt[[0, 1, 0]], mu=problem.mu[[0, 1, 0]],
        restitution=np.zeros(3), names=["a", "b", "c"],
    )  # fmt: skip
    for other in (swapped, repeated):
        outcomes = draw(other, 4096)
        assert np.all(outcomes.status == Status.SOLVED)
        reached = np.max(outcomes.v @ rows.T, axis=0)
        assert np.abs(reached - support).max() <= 0.02 * np.abs(support).max()


def test_equal_bits_for_any_threads_rows_and_tables():
    block, gait = systems.get("rocking-block").problem, systems.get("compass-gait").problem
    one = draw(gait, 300, seed=7)
    two = routh.sample(gait, 300, seed=7, threads=2)
    few = draw(gait, 20, seed=7)  # few samples keep no table of rates
    assert np.array_equal(one.v, two.v)
    assert np.array_equal(one.v[:20], few.v)
    settings = ByEvents(seed=7).draws(300)
    together = event_samples(make_rows([block, gait]), settings, threads=2)
    for row, problem in enumerate((block, gait)):
        alone = draw(problem, 300, seed=7, row=row)
        assert np.array_equal(together.v[row, :, : problem.nv], alone.v)
        assert np.array_equal(together.status[row], alone.status)
    assert not np.array_equal(draw(gait, 300, seed=7, row=1).v, one.v)


def test_the_interpreted_kernel_gives_the_same_outcomes():
    from routh.compiling import interpreted

    for seed in range(12):
        problem = colliding(random_problem(np.random.default_rng(seed), nc=1 + seed % 4))
        if seed % 3 == 0:
            problem = problem.replace(restitution=0.5)
        rows, settings = make_rows([problem]), ByEvents(seed=seed).draws(4)
        work = plane_sample.workspace(problem.nc)
        outputs = event_samples(rows, settings, threads=1)
        elastic = outputs.work.shape[3] > 0
        with np.errstate(over="ignore"):
            interpreted(plane_sample.load_row)(rows, 0, work)
            for sample in range(4):
                status, events, _ = interpreted(plane_sample.one_sample)(
                    work, problem.nc, settings, 0, sample, elastic, None, None
                )
                total = work.total[: 2 * problem.nc].reshape(-1, 2)
                assert (status, events) == (outputs.status[0, sample], outputs.events[0, sample])
                if status == Status.SOLVED:
                    v = problem.apply(total * problem.scaling.impulse[:, None])
                    np.testing.assert_allclose(v, outputs.v[0, sample], atol=1e-9 * np.abs(problem.v).max())


def test_long_paths_find_room(monkeypatch):
    outcomes = routh.sample(systems.impact("disk-stack").replace(restitution=0.3), 3)
    whole = [outcomes.path(k).v for k in range(3)]
    monkeypatch.setattr("routh.kernels.events.FIRST_ROOM", 4)
    for k, v in enumerate(whole):
        assert len(v) > 4
        assert np.array_equal(outcomes.path(k).v, v)


def test_rows_of_a_batch_without_contacts_are_left_alone():
    block = systems.get("rocking-block").problem
    rows = make_rows([block, block])
    rows.nc[1] = 0
    out = event_samples(rows, ByEvents().draws(3), threads=1)
    assert np.all(out.status[1] == Status.NO_IMPACT)
    assert np.array_equal(out.v[1], np.tile(block.v, (3, 1)))


@pytest.mark.usefixtures("ticking")
def test_a_budget_leaves_samples_undone_and_the_others_as_they_are():
    problem = systems.get("disk-stack").problem
    whole = draw(problem, 3000)
    some = draw(problem, 3000, budget=1.0)
    undone = some.status == Status.OUT_OF_TIME
    assert 0 < np.count_nonzero(undone) < 3000
    assert np.array_equal(some.v[~undone], whole.v[~undone])
    assert np.array_equal(some.v[undone], np.tile(problem.v, (np.count_nonzero(undone), 1)))


@pytest.mark.parametrize(
    ("name", "restitution", "persistence"),
    [("compass-gait", 0.0, 0.6), ("compass-gait", 0.5, 0.8), ("box-drop", 0.0, 0.6), ("box-drop", 0.5, 0.6)],
)
def test_the_default_of_the_persistence_is_the_documented_one(name, restitution, persistence):
    problem = systems.get(name).problem.replace(restitution=restitution)
    told = routh.sample(problem, 8, friction="polyhedral", persistence=persistence)
    assert routh.sample(problem, 8, friction="polyhedral").v.tobytes() == told.v.tobytes()


def second_is_slow(uniforms, approaching, out):
    for i in range(len(uniforms)):
        out[i] = uniforms[i] * (1e-3 if i == 1 else 1.0) if approaching[i] else 0.0


def of_ctypes():
    pointers = [ctypes.POINTER(one) for one in (ctypes.c_double, ctypes.c_bool, ctypes.c_double)]

    @ctypes.CFUNCTYPE(None, *pointers, ctypes.c_int64)
    def called(uniforms, approaching, out, n):
        second_is_slow(uniforms[:n], approaching[:n], found := [0.0] * n)
        for i in range(n):
            out[i] = found[i]

    return called


def of_cffi():
    ffi = pytest.importorskip("cffi").FFI()

    @ffi.callback("void(double *, bool *, double *, int64_t)")
    def called(uniforms, approaching, out, n):
        second_is_slow(list(uniforms[0:n]), list(approaching[0:n]), found := [0.0] * n)
        out[0:n] = found

    return called


def of_numba():
    numba = pytest.importorskip("numba")
    pointer = numba.types.CPointer

    @numba.cfunc(
        numba.void(pointer(numba.float64), pointer(numba.uint8), pointer(numba.float64), numba.int64)
    )
    def called(uniforms, approaching, out, n):
        for i in range(n):
            out[i] = uniforms[i] * (1e-3 if i == 1 else 1.0) if approaching[i] else 0.0

    return called


@pytest.mark.parametrize("made", [of_ctypes, of_cffi, of_numba])
def test_own_rates_in_c_are_those_in_python(made):
    block = systems.get("rocking-block").problem
    expected = draw(block, 50, rates=second_is_slow)
    assert np.array_equal(draw(block, 50, rates=made()).v, expected.v)


def test_own_rates():
    block = systems.get("rocking-block").problem
    outcomes = draw(block, 500, rates=second_is_slow)
    assert np.all(outcomes.status == Status.SOLVED)
    first = outcomes.impulse[:, 0, 0].mean()
    assert first > 1.5 * draw(block, 500, rates="uniform").impulse[:, 0, 0].mean()
    assert path_residual(block, outcomes.path(3)) <= 1e-12
    with pytest.raises(ValueError, match=r"rates: got .* wanted a function"):
        draw(block, 5, rates=lambda uniforms: None)


def test_own_rates_that_cannot_be_compiled_are_refused_with_file_and_line():
    def sorts(uniforms, approaching, out):
        out[:] = sorted(uniforms)

    block = systems.get("rocking-block").problem
    line = sorts.__code__.co_firstlineno + 1
    with pytest.raises(ValueError, match=rf"rates: .*test_event_samples.py:{line}: kernel sorts: "):
        draw(block, 5, rates=sorts)


def test_nothing_approaches():
    block = systems.get("rocking-block").problem
    for v in (np.zeros(3), -block.v):
        outcomes = draw(block.replace(v=v), 4)
        assert np.all(outcomes.status == Status.NO_IMPACT)
        assert np.array_equal(outcomes.v, np.tile(v, (4, 1)))
        assert outcomes.path(0).impulse.shape == (0, 2, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hypothesis": "newton"}, "hypothesis: got 'newton'"),
        ({"rates": "fast"}, "rates: got 'fast'"),
        ({"persistence": 0.0}, "persistence: got 0.0"),
        ({"persistence": float("nan")}, "persistence"),
        ({"budget": 0.0}, "budget"),
        ({"row": -1}, "row"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"device": "tpu"}, "device"),
    ],
)
def test_options_that_cannot_be_honoured_raise(options, message):
    with pytest.raises(ValueError, match=message):
        routh.sample(systems.get("rocking-block").problem, 4, **options)


def test_only_samples_by_events_have_paths():
    outcomes = routh.sampling.sample_by_steps(systems.get("rocking-block").problem, 4)
    with pytest.raises(ValueError, match="wanted samples drawn by 'events'"):
        outcomes.path(0)
    with pytest.raises(ValueError, match="wanted 'events'"):
        path_of(outcomes, 0)


def test_paths_of_outcomes_from_a_file(tmp_path):
    outcomes = draw(systems.get("rocking-block").problem, 4)
    outcomes.save(tmp_path / "set.npz")
    loaded = routh.Outcomes.load(tmp_path / "set.npz")
    np.testing.assert_array_equal(path_of(loaded, 2).v, outcomes.path(2).v)


def test_jammed_contacts_end_with_a_status_at_a_bounded_cost():
    """A wedge between two rough walls: pushing both never ends."""
    angle = 1.2
    Jn = [[np.cos(angle), np.sin(angle), 0.0], [-np.cos(angle), np.sin(angle), 0.0]]
    Jt = [[-np.sin(angle), np.cos(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0]]
    wedge = routh.ImpactProblem(np.eye(3), Jn, Jt, 50.0, [0.01, -1.0, 0.0])
    outcomes = draw(wedge, 50)
    assert set(outcomes.status_counts()) <= {Status.SOLVED, Status.JAMMED}
    assert outcomes.events.max() < 300


@given(problems(nts=(1,)))
@settings(max_examples=20)
def test_velocity_that_changes_costs_energy(problem):
    """HP23 Lemma 12: where kinetic energy is constant, so is the velocity.

    On a straight piece energy is a parabola with the curvature of |dv|^2 that does not rise at its end.
    """
    outcomes = draw(problem, 4, seed=5)
    for i in np.flatnonzero(outcomes.status == Status.SOLVED):
        path = outcomes.path(int(i))
        moved = np.linalg.norm(np.diff(path.v, axis=0) @ problem.cholesky, axis=1) / problem.speed
        lost = -np.diff([problem.kinetic_energy(v) for v in path.v]) / problem.kinetic_energy()
        assert np.all(lost >= moved**2 * (1.0 - 1e-6) - 1e-9)
