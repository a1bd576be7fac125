"""Algorithm 1 for batches: row k has the samples of its problem on its own."""

import numpy as np
import pytest

import routh
from problems import colliding, family_problem, random_problem
from routh import ImpactBatch, Status
from routh.kernels.algorithm1 import sampling

FIELDS = ("v", "impulse", "steps", "status", "residual")


def problems_of(nts, count, seed=0, **options):
    rng = np.random.default_rng(seed)
    return [colliding(random_problem(rng, nt=nts[k % len(nts)], **options)) for k in range(count)]


def each_row_is_its_own(batch, n, steps=None, **options):
    """Every impact of a batch against the same samples of its problem alone; returns the batch's."""
    together = routh.sampling.sample_by_steps(batch, n, step=steps, row=3, **options)
    for k in map(int, np.flatnonzero(batch.status == Status.SOLVED)):
        own = None if steps is None else np.broadcast_to(steps, batch.mu.shape)[k, batch.present[k]]
        facets = {"facets": None} if batch[k].nt == 1 and "facets" in options else {}
        given = {**options, **facets, "row": 3 + k, "step": own}
        alone = routh.sampling.sample_by_steps(batch[k], n, **given)
        known = together.status[k] != Status.NUMERICAL  # a single problem draws these again
        for field in FIELDS:
            one, other = getattr(together[k], field), getattr(alone, field)
            np.testing.assert_array_equal(one[known], other[known], err_msg=f"row {k}, {field}")
    assert np.mean(together.status == Status.NUMERICAL) < 0.3
    return together


def test_the_cone_in_space_row_by_row():
    batch = ImpactBatch.from_problems([*problems_of([2], 10), None])
    together = each_row_is_its_own(batch, 5, seed=7)
    assert (together.status[:10] == Status.SOLVED).any()
    assert (together.status[10] == Status.NO_CONTACT).all()
    for steps in (
        0.3,
        np.linspace(0.1, 0.5, batch.nc),
        np.linspace(0.1, 2.0, batch.mu.size).reshape(-1, batch.nc),
    ):
        each_row_is_its_own(batch, 3, steps, max_steps=40)


def test_gaps_between_contacts():
    """What a contact gets stands at its place, and draws the numbers of its place among those present."""
    batch = ImpactBatch.from_problems(problems_of([2], 4, nc=3, nv=6))
    present = np.array([[1, 1, 1], [0, 1, 1], [1, 0, 1], [0, 0, 1]], dtype=bool)
    given = {name: getattr(batch, name) for name in ("M", "Jn", "Jt", "mu", "v")}
    holed = ImpactBatch(**given, present=present)
    steps = np.array([0.2, 0.5, 0.9])
    together = each_row_is_its_own(holed, 4, steps)
    assert np.all(together.impulse[~present[:, None].repeat(4, axis=1)] == 0.0)


@pytest.mark.parametrize("options", [{"friction": "polyhedral", "facets": 4}, {"friction": "cone"}])
def test_planar_and_spatial_rows_side_by_side(options):
    problems = problems_of([1, 2], 8, ratio=3.0)
    each_row_is_its_own(ImpactBatch.from_problems(problems), 3, max_steps=50, **options)


def test_samples_that_the_kernel_cannot_solve_say_so():
    """A single problem's are drawn again; in a batch of many that would take hours."""
    batch = ImpactBatch.from_problems([family_problem("spatial-3-rough", seed)[0] for seed in range(20, 30)])
    together = routh.sampling.sample_by_steps(batch, 4, max_steps=20)
    failed = together.status == Status.NUMERICAL
    assert failed.any()
    assert not failed.all()
    for k in range(len(batch)):
        alone = routh.sampling.sample_by_steps(batch[k], 4, max_steps=20, row=k)
        np.testing.assert_array_equal(together.v[k][~failed[k], : batch[k].nv], alone.v[~failed[k]])
        np.testing.assert_array_equal(together.status[k][~failed[k]], alone.status[~failed[k]])


def test_neither_threads_nor_calls_change_bits(monkeypatch):
    batch = ImpactBatch.from_problems(problems_of([2], 60, seed=2))
    whole = routh.sampling.sample_by_steps(batch, 4, step=0.05, threads=1)
    monkeypatch.setattr(sampling, "STEPS_AT_A_TIME", 2)
    again = routh.sampling.sample_by_steps(batch, 4, step=0.05, threads=2)
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(whole, field), getattr(again, field))


@pytest.mark.usefixtures("ticking")
def test_time_that_runs_out_is_a_status():
    batch = ImpactBatch.from_problems(problems_of([1, 2], 40, seed=3))
    late = routh.sampling.sample_by_steps(batch, 200, step=0.05, budget=1.0)
    lost = late.status == Status.OUT_OF_TIME
    assert lost.any()
    before = np.broadcast_to(batch.v[:, None], late.v.shape)
    np.testing.assert_array_equal(late.v[lost], before[lost])
    assert np.all(late.impulse[lost] == 0.0)


def test_outcomes_have_no_path_and_are_kept(tmp_path):
    batch = ImpactBatch.from_problems(problems_of([2], 3))
    outcomes = routh.sampling.sample_by_steps(batch, 2, step=0.3)
    with pytest.raises(ValueError, match="'algorithm1'"):
        outcomes[0].path(0)
    with pytest.raises(ValueError, match="wanted samples drawn by 'events'"):
        outcomes.jacobian()
    outcomes.save(tmp_path / "outcomes.npz")
    kept = type(outcomes).load(tmp_path / "outcomes.npz")
    assert kept.settings == outcomes.settings
    np.testing.assert_array_equal(kept.v, outcomes.v)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"step": -1.0}, "step: got -1.0; wanted positive impulses"),
        ({"step": np.nan}, "step"),
        ({"step": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]}, "step: got shape"),
        ({"points": "sobol"}, "points: got 'sobol' with a batch"),
        ({"max_steps": 0}, "max_steps"),
    ],
)
def test_what_cannot_be_is_refused(options, match):
    batch = ImpactBatch.from_problems(problems_of([2], 3))
    with pytest.raises(ValueError, match=match):
        routh.sampling.sample_by_steps(batch, 2, **options)
