"""Derivatives of many impacts at once are those of each of them."""

import numpy as np
import pytest

import routh
from problems import problem_of_size, random_matrices
from routh.sampling.outcomes import DATA

ROWS = ("v", "M")  # arrays without an axis of contacts


def mixed_batch():
    """Rows of several sizes: in the plane and in space, with restitution, leaving, without a contact."""
    rng = np.random.default_rng(7)
    flat = [random_matrices(rng, nc) for nc in (1, 3, 2, 3)]
    flat[1] = flat[1].replace(restitution=[0.5, 0.0, 0.3])
    leaving = flat[0].replace(v=np.linalg.lstsq(flat[0].Jn, np.ones(1), rcond=None)[0])
    space = [problem_of_size(rng, nc, 2, 0.4, nv=6).replace(restitution=e) for nc, e in ((2, 0), (1, 0.6))]
    return routh.ImpactBatch.from_problems([*flat, None, leaving, *space])


def compare_rows(outcomes, found, of_row):
    """Every row against the same row on its own."""
    batch = outcomes.batch
    for row in range(len(batch)):
        if batch.status[row] == routh.Status.NO_CONTACT:
            continue
        problem, alone = batch[row], of_row(outcomes[row])
        np.testing.assert_array_equal(found["one_sided"][row], alone["one_sided"])
        np.testing.assert_array_equal(found["margin"][row], alone["margin"])
        there = np.flatnonzero(batch.present[row])
        for field in DATA:
            values = found[field][row]
            axis = alone[field].ndim - getattr(problem, field).ndim
            parts = values if field in ROWS else np.take(values, there, axis=axis)
            inside = tuple(slice(size) for size in alone[field].shape)
            np.testing.assert_allclose(parts[inside], alone[field], rtol=1e-9, atol=1e-9)
            assert np.sum(values**2) == pytest.approx(
                np.sum(alone[field] ** 2), abs=1e-9
            )  # nothing elsewhere


def test_rows_of_a_batch_are_differentiated_as_on_their_own():
    batch = mixed_batch()
    outcomes = routh.sample(batch, 12, seed=3, row=5, friction="polyhedral", facets=8)
    rng = np.random.default_rng(0)
    for shape in ((batch.nv,), (len(batch), 1, batch.nv), (len(batch), 12, batch.nv)):
        cotangent = rng.normal(size=shape)
        each = np.broadcast_to(cotangent, (len(batch), 12, batch.nv))
        found = outcomes.vjp(cotangent)
        row = iter(range(len(batch)))

        def of_row(alone, each=each, row=row):
            index = next(k for k in row if batch.status[k] != routh.Status.NO_CONTACT)
            return alone.vjp(each[index][:, : alone.problem.nv])

        compare_rows(outcomes, found, of_row)
        alone = batch.status == routh.Status.NO_CONTACT
        np.testing.assert_array_equal(found["v"][alone], each[alone])
        assert not found["Jt"][alone].any()
        assert not found["one_sided"][alone].any()


def test_jacobians_of_rows_with_gaps_between_their_contacts():
    rng = np.random.default_rng(2)
    whole = [problem_of_size(rng, 3, 1, 0.5, nv=4) for _ in range(5)]
    fields = {
        name: np.stack([getattr(each, name) for each in whole]) for name in ("M", "Jn", "Jt", "mu", "v")
    }
    present = np.ones((5, 3), dtype=bool)
    present[1, 0] = present[3, 1] = False
    batch = routh.ImpactBatch(**fields, present=present)
    outcomes = routh.sample(batch, 20, seed=1)
    found = outcomes.jacobian()
    assert found["Jt"].shape == (5, 20, 4, 3, 1, 4)
    assert not found["mu"][1, ..., 0].any()
    compare_rows(outcomes, found, lambda alone: alone.jacobian())


def test_what_cannot_be_asked_of_a_batch_is_refused():
    batch = mixed_batch()
    outcomes = routh.sample(batch, 4, friction="polyhedral", facets=4)
    with pytest.raises(ValueError, match=r"cotangent: got shape \(3,\)"):
        outcomes.vjp(np.ones(3))
    with pytest.raises(ValueError, match=r"wrt: got 'gravity'"):
        outcomes.jacobian(wrt="gravity")
