"""Audits of many answers: each row as the audit of one says."""

import numpy as np
import pytest

import routh
from problems import colliding, random_problem
from routh import ImpactBatch
from routh.auditing.membership import BatchAudit, audit_many


@pytest.fixture(scope="module")
def sampled():
    rng = np.random.default_rng(1)
    problems = [colliding(random_problem(rng, nt=1, ratio=3.0)) for _ in range(8)]
    batch = ImpactBatch.from_problems([*problems, None])
    return routh.sample(batch, 8, friction="polyhedral")


def test_rows_agree_with_single_audits(sampled):
    rng = np.random.default_rng(2)
    after = np.nan_to_num(sampled.batch.v) + 0.3 * rng.normal(size=sampled.batch.v.shape)
    after[-1] = np.nan  # nothing touches there
    found = audit_many(sampled, after)
    for k in range(8):
        row = sampled[k]
        single = routh.audit(row.problem, after[k, : row.problem.nv], outcomes=row)
        assert found.distance[k] == pytest.approx(single.distance, rel=1e-9)
        np.testing.assert_allclose(row.v[found.nearest[k]], single.nearest)
        broken = {law.law: law.amount for law in single.broken}
        if "energy gained" in broken:
            assert found.energy_gained[k] == pytest.approx(broken["energy gained"], rel=1e-9)
        else:
            assert found.energy_gained[k] < 1e-5
        assert found.approach[k] == pytest.approx(broken.get("still approaching", 0.0), abs=1e-5)
    assert np.isnan(found.distance[-1])
    assert found.nearest[-1] == -1


def test_outcomes_themselves_are_beyond_suspicion(sampled):
    found = audit_many(sampled, sampled.v[:, 3])
    assert found.suspects(1e-6).size == 0
    np.testing.assert_allclose(found.distance[:8], 0.0, atol=1e-12)
    wrong = np.array(sampled.v[:, 0])
    wrong[2] = 2.0 * sampled.batch.v[2]
    assert 2 in audit_many(sampled, wrong).suspects()


def test_bad_answers_are_refused(sampled):
    with pytest.raises(ValueError, match="v_after: got shape"):
        audit_many(sampled, np.zeros((2, 2)))
    bad = np.array(sampled.v[:, 0])
    bad[4, 0] = np.nan
    with pytest.raises(ValueError, match="v_after: row 4"):
        audit_many(sampled, bad)


def test_one_reason_is_enough_for_suspicion():
    each = np.vstack([np.zeros(3), 0.1 * np.eye(3)])  # the first row has none
    assert BatchAudit(each[:, 0], np.zeros(4, dtype=int), each[:, 1], each[:, 2]).suspects().tolist() == [
        1,
        2,
        3,
    ]
