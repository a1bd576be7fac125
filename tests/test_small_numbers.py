"""Numbers so small that products of them vanish: scaled where that is possible, else refused."""

import numpy as np
import pytest

import routh
from routh import Status

BLOCK = routh.systems.impact("rocking-block")


@pytest.mark.parametrize("power", [-300, -550, -800])
def test_slow_impacts_have_the_same_outcomes(power):
    """Velocities times a power of two: equal bits, however small."""
    unit = 2.0**power
    slow = BLOCK.replace(v=BLOCK.v * unit)
    assert slow.speed == BLOCK.speed * unit
    assert slow.approaching.tolist() == BLOCK.approaching.tolist()
    expected = routh.sample(BLOCK, 20, seed=1)
    for found in (
        routh.sample(slow, 20, seed=1),
        routh.sample(routh.ImpactBatch.from_problems([slow]), 20, seed=1)[0],
    ):
        assert found.status_counts() == {Status.SOLVED: 20}
        np.testing.assert_array_equal(found.v, expected.v * unit)


@pytest.mark.parametrize("power", [-300, -550, -800])
def test_exact_sets_and_bounds_of_slow_impacts(power):
    unit = 2.0**power
    slow = BLOCK.replace(v=BLOCK.v * unit)
    bound = routh.outer_bound(slow, level=1).support(np.eye(3)) / unit
    np.testing.assert_allclose(bound, routh.outer_bound(BLOCK, level=1).support(np.eye(3)), rtol=1e-6)
    pytest.importorskip("ppl")
    exact, expected = routh.exact_set(slow), routh.exact_set(BLOCK)
    np.testing.assert_allclose(exact.support(np.eye(3)) / unit, expected.support(np.eye(3)), rtol=1e-9)
    assert exact.gap == pytest.approx(expected.gap, rel=1e-3)
    samples = routh.sample(slow, 50).v
    assert exact.contains(samples).all()
    assert not exact.contains(samples + 0.1 * unit).any()


@pytest.mark.parametrize("level", [1, 2])
def test_bounds_where_nothing_moves(level):
    """A velocity of zero, a direction of zero, and friction that undoes the push of its own contact."""
    rest = routh.outer_bound(BLOCK.replace(v=np.zeros(3)), level=level).support(np.eye(3))
    np.testing.assert_allclose(rest, 0.0, atol=1e-6)
    assert routh.outer_bound(BLOCK, level=level).support(np.zeros(3)) == 0.0
    jammed = routh.ImpactProblem(np.eye(2), [[0.0, 1.0]], [[0.0, 1.0]], 1.0, [0.3, -1.0])
    assert np.all(np.isfinite(routh.outer_bound(jammed, level=level).support(np.eye(2))))


@pytest.mark.parametrize(
    ("field", "factor", "told"),
    [
        ("v", 1e-300, "v: its largest entry"),
        ("M", 1e-310, "M: got"),
        ("M", 1e-100, "M: got"),
        ("Jn", 1e-100, "Jn: row 0"),
    ],
)
def test_what_would_vanish_is_refused(field, factor, told):
    with pytest.raises(ValueError, match=told):
        BLOCK.replace(**{field: getattr(BLOCK, field) * factor})


def test_batches_refuse_the_same():
    v = np.tile(BLOCK.v, (2, 1))
    given = BLOCK.Jn, BLOCK.Jt, BLOCK.mu
    with pytest.raises(ValueError, match="v: row 1 has at most"):
        routh.ImpactBatch(BLOCK.M, *given, v * [[1.0], [1e-300]])
    with pytest.raises(ValueError, match="M: got"):
        routh.ImpactBatch(BLOCK.M * 1e-310, *given, v)
    rest = routh.ImpactBatch(BLOCK.M, *given, v * [[1.0], [0.0]])
    assert rest.status.tolist() == [Status.SOLVED, Status.NO_IMPACT]
