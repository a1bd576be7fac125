"""Samples of batches: the samples of each problem, to the last bit, whatever stands beside it."""

import numpy as np
import pytest

import routh
from problems import colliding, random_problem
from routh import ImpactBatch, Status, systems

FIELDS = ("v", "impulse", "steps", "status", "residual")
FRICTION = [("cone", 1), ("cone", 2), ("polyhedral", 2)]


def mixed(nts, count=12, seed=0, **options):
    rng = np.random.default_rng(seed)
    problems = [colliding(random_problem(rng, nt=nts[k % len(nts)], **options)) for k in range(count)]
    rest = problems[0].replace(v=-problems[0].v) if not np.any(problems[0].Jn @ -problems[0].v < 0) else None
    return [*problems, None, *([] if rest is None else [rest])]


def draw(given, n, **options):
    return routh.sample(given, n, **options)


@pytest.mark.parametrize(("friction", "nt"), FRICTION)
def test_every_row_equals_the_problem_on_its_own(friction, nt):
    batch = ImpactBatch.from_problems(mixed([nt], count=8, ratio=3.0))
    together = draw(batch, 3, seed=5, friction=friction)
    for k in np.flatnonzero(batch.status == Status.SOLVED):
        alone = draw(batch[int(k)], 3, seed=5, row=int(k), friction=friction)
        row = together[int(k)]
        for field in FIELDS:
            np.testing.assert_array_equal(getattr(row, field), getattr(alone, field), err_msg=field)


def test_planar_and_spatial_rows_side_by_side():
    batch = ImpactBatch.from_problems(mixed([1, 2], count=8, ratio=3.0))
    together = draw(batch, 2, seed=1)
    assert together.impulse.shape[3] == 3
    for k in np.flatnonzero(batch.status == Status.SOLVED):
        alone = draw(batch[int(k)], 2, seed=1, row=int(k))
        for field in FIELDS:
            np.testing.assert_array_equal(getattr(together[int(k)], field), getattr(alone, field))


@pytest.mark.parametrize(("friction", "nt"), FRICTION)
def test_rows_with_and_without_restitution_side_by_side(friction, nt):
    problems = mixed([nt], count=6, ratio=3.0, seed=8)
    problems[::2] = [p and p.replace(restitution=0.5) for p in problems[::2]]
    batch = ImpactBatch.from_problems(problems)
    together = draw(batch, 2, seed=1, friction=friction)
    for k in np.flatnonzero(batch.status == Status.SOLVED):
        alone = draw(batch[int(k)], 2, seed=1, row=int(k), friction=friction)
        for field in FIELDS:
            np.testing.assert_array_equal(getattr(together[int(k)], field), getattr(alone, field))


def test_neither_company_nor_threads_nor_pieces_change_bits(monkeypatch):
    batch = ImpactBatch.from_problems(mixed([1], count=150, seed=2))
    whole = draw(batch, 2, seed=9, threads=1)
    parts = draw(batch[40:90], 2, seed=9, row=40, threads=2)
    np.testing.assert_array_equal(parts.v, whole.v[40:90])
    np.testing.assert_array_equal(parts.status, whole.status[40:90])
    monkeypatch.setattr("routh.sampling.batch_events._PIECE", 1)
    pieces = draw(batch, 2, seed=9)
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(pieces, field), getattr(whole, field))


def test_contacts_keep_their_places():
    problem = systems.get("disk-stack").problem
    rng = np.random.default_rng(0)
    present = rng.random((40, problem.nc)) < 0.6
    v = np.tile(problem.v, (40, 1))
    batch = ImpactBatch(problem.M, problem.Jn, problem.Jt, problem.mu, v, present=present, restitution=0.3)
    found = draw(batch, 2)
    assert not found.impulse[~np.broadcast_to(present[:, None], (40, 2, problem.nc))].any()
    assert found.stored is not None
    impacts = np.flatnonzero(batch.status == Status.SOLVED)
    assert len(impacts) > 10
    for k in impacts:
        alone = draw(batch[int(k)], 2, row=int(k))
        np.testing.assert_array_equal(found[int(k)].impulse, alone.impulse)
        np.testing.assert_allclose(found[int(k)].stored, alone.stored, rtol=1e-12, atol=1e-15)
        J = problem.J.reshape(-1, problem.nv)
        after = v[k] + np.linalg.solve(problem.M, J.T @ found.impulse[k, 0].ravel())
        np.testing.assert_allclose(after, found.v[k, 0], atol=1e-12)


def test_rows_without_an_impact_keep_their_velocity_and_say_so():
    block = systems.get("rocking-block").problem
    batch = ImpactBatch(
        block.M, block.Jn, block.Jt, 0.5, [block.v, -block.v, block.v],
        present=np.array([[True, True], [True, True], [False, False]]),
    )  # fmt: skip
    found = draw(batch, 4)
    assert found.status[:, 0].tolist() == [Status.SOLVED, Status.NO_IMPACT, Status.NO_CONTACT]
    np.testing.assert_array_equal(found.v[1], np.tile(-block.v, (4, 1)))
    np.testing.assert_array_equal(found.v[2], np.tile(block.v, (4, 1)))
    assert found.ambiguity[0] > 0.1
    assert found.ambiguity[1:].tolist() == [0.0, 0.0]
    assert not found.impulse[1:].any()
    assert found.status_counts() == {Status.SOLVED: 4, Status.NO_IMPACT: 4, Status.NO_CONTACT: 4}
    with pytest.raises(ValueError, match="row 2 is not an impact problem"):
        found[2]


def test_refused_rows_have_no_outcome():
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 0.1'>"
        "<joint type='slide' axis='0 0 1'/><geom size='0.1'/></body></worldbody></mujoco>"
    )
    batch = routh.models.mujoco.problems(model, [[0.0], [-0.5], [np.nan]], -np.ones((3, 1)))
    found = draw(batch, 2)
    assert found.status[:, 0].tolist() == [Status.SOLVED, Status.REFUSED, Status.REFUSED]
    assert np.isfinite(found.v[0]).all()
    assert np.isnan(found.v[1:]).all()
    assert np.isnan(found.ambiguity[1:]).all()
    assert found.terminated.tolist() == [[True, True], [False, False], [False, False]]


def test_what_outcomes_say_is_what_those_of_each_row_say():
    batch = ImpactBatch.from_problems(mixed([1], count=20, seed=4))
    found = draw(batch, 16, seed=2)
    direction = np.random.default_rng(0).normal(size=batch.nv)
    farthest = found.extreme(direction)
    for k in np.flatnonzero(batch.status == Status.SOLVED):
        row = found[int(k)]
        nc, nv = row.problem.nc, row.problem.nv
        np.testing.assert_array_equal(found.terminated[k], row.terminated)
        np.testing.assert_array_equal(found.modes[k, :, :nc], row.modes)
        assert (found.modes[k, :, nc:] == -1).all()
        np.testing.assert_allclose(found.kinetic_energy[k], row.kinetic_energy, rtol=1e-12)
        gained = row.kinetic_energy / float(row.problem.kinetic_energy()) - 1.0
        np.testing.assert_allclose(found.energy_gained[k], gained, atol=1e-12)
        assert found.ambiguity[k] == pytest.approx(row.ambiguity, abs=1e-12)
        wanted = row.extreme(direction[:nv])
        assert farthest.value[k] == pytest.approx(wanted.value)
        modes = routh.sampling.measure_ambiguity(row).mode_probability
        np.testing.assert_allclose(found.mode_probability[k, :nc], modes, atol=1e-12)
    assert farthest.index[batch.status == Status.NO_CONTACT].tolist() == [-1]


def test_extremes_by_name_know_which_rows_have_the_contact():
    block = systems.get("rocking-block").problem
    found = draw(ImpactBatch.from_problems([block, block.replace(names=["C", "D"])]), 32)
    name = block.names[0]
    farthest = found.extreme(name)
    assert farthest.value[0] == pytest.approx(found[0].extreme(name).value)
    assert farthest.index[1] == -1
    assert np.isnan(farthest.value[1])


def test_many_samples_measure_ambiguity_as_few_do(monkeypatch):
    batch = ImpactBatch.from_problems(mixed([1], count=6, seed=6))
    few = draw(batch, 40).ambiguity
    monkeypatch.setattr("routh.sampling.batch.FEW", 10)
    np.testing.assert_allclose(draw(batch, 40).ambiguity, few, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("ticking")
def test_a_budget_leaves_rows_out_of_time():
    batch = ImpactBatch.from_problems([systems.get("disk-stack").problem] * 20)
    found = draw(batch, 500, budget=1.0, threads=1)
    late = found.status == Status.OUT_OF_TIME
    assert 0 < np.count_nonzero(late) < late.size
    whole = draw(batch[:2], 500, threads=1)
    drawn = ~late[:2]
    np.testing.assert_array_equal(found.v[:2][drawn], whole.v[drawn])


def test_bad_settings_are_refused():
    batch = ImpactBatch.from_problems([systems.get("rocking-block").problem])
    with pytest.raises(ValueError, match="n: got 0"):
        routh.sample(batch, 0)
