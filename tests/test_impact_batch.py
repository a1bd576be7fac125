"""Many problems as one batch: rows that are problems, padding, statuses, refusals."""

import numpy as np
import pytest

from problems import random_problem
from routh import ImpactBatch, Status, systems
from routh.problem.rows import empty_rows, prepare, scratch
from routh.step.base import scaled_delassus


def mixed(count=12, seed=0):
    """Planar and spatial problems of many sizes."""
    rng = np.random.default_rng(seed)
    shapes = [
        (int(rng.integers(2, 9)), int(rng.integers(1, 5)), int(rng.integers(1, 3))) for _ in range(count)
    ]
    return [random_problem(rng, nv=nv, nc=nc, nt=nt) for nv, nc, nt in shapes]


def prepared(problems):
    """Every row as the kernels get it: (G, response, start, before, contact, count)."""
    batch = ImpactBatch.from_problems(problems)
    rows = batch.arrays
    n, nc, nt, nv = rows.Jt.shape
    out = empty_rows(n, nv, nc, nt)
    for array in out[:5]:
        array[:] = np.nan  # buffers are used again: everything that is read must have been written
    prepare(rows, 0, n, np.zeros(n, dtype=bool), scratch(rows), out)
    return out


def test_rows_are_the_problems_themselves():
    problems = mixed()
    batch = ImpactBatch.from_problems(problems)
    assert len(batch) == len(problems)
    for k, problem in enumerate(problems):
        assert batch[k] is problem
        assert batch.names_of(k) == problem.names


def test_rows_of_arrays_are_problems_of_the_contacts_present():
    rng = np.random.default_rng(1)
    problem = random_problem(rng, nv=5, nc=3, nt=2)
    v = rng.normal(size=(6, 5))
    present = np.array([[1, 1, 1], [0, 1, 1], [1, 0, 0], [0, 0, 0], [1, 0, 1], [0, 1, 0]], dtype=bool)
    batch = ImpactBatch(problem.M, problem.Jn, problem.Jt, 0.4, v, present=present, names=["a", "b", "c"])
    for k in (0, 1, 2, 4, 5):
        row, there = batch[k], np.flatnonzero(present[k])
        np.testing.assert_array_equal(row.Jn, problem.Jn[there])
        np.testing.assert_array_equal(row.Jt, problem.Jt[there])
        np.testing.assert_array_equal(row.v, v[k])
        assert row.names == tuple("abc"[i] for i in there)
        assert (batch.status[k] == Status.NO_IMPACT) == (not row.approaching.any())
    assert batch.status[3] == Status.NO_CONTACT
    with pytest.raises(ValueError, match="row 3 is not an impact problem: Nothing touches"):
        batch[3]


def test_none_is_a_row_in_which_nothing_touches():
    problem = systems.get("rocking-block").problem
    batch = ImpactBatch.from_problems([None, problem, problem.replace(v=-problem.v)])
    assert batch.status.tolist() == [Status.NO_CONTACT, Status.SOLVED, Status.NO_IMPACT]
    assert np.isnan(batch.v[0]).all()
    assert "NO_CONTACT: 1" in repr(batch)
    assert batch.reason(1) == ""
    assert batch.reason(2) == Status.NO_IMPACT.sentence


def test_prepared_rows_agree_with_the_problems_own_matrices():
    problems = [
        *mixed(20),
        *(systems.get(name).problem for name in ("rocking-block", "ramone", "disk-stack")),
    ]
    out = prepared(problems)
    for k, problem in enumerate(problems):
        n = problem.nc * (1 + problem.nt)
        unit = problem.scaling
        assert out.nc[k] == problem.nc
        np.testing.assert_allclose(out.G[k, :n, :n], scaled_delassus(problem), rtol=0, atol=1e-12)
        response = problem.response * np.repeat(unit.impulse, 1 + problem.nt)
        scale = np.abs(response).max()
        np.testing.assert_allclose(out.response[k, : problem.nv, :n], response, rtol=0, atol=1e-12 * scale)
        assert not out.response[k, problem.nv :, :n].any()  # padding does not move
        start = (problem.contact_velocity() / unit.velocity[:, None]).ravel()
        np.testing.assert_allclose(out.start[k, :n], start, rtol=0, atol=1e-12)
        np.testing.assert_allclose(out.contact[k, 2, : problem.nc], unit.impulse, rtol=1e-12)
        np.testing.assert_array_equal(out.contact[k, 0, : problem.nc], problem.mu)


def test_padding_never_changes_bits():
    problems = mixed(10, seed=3)
    together = prepared(problems)
    for k, problem in enumerate(problems):
        alone = prepared([problem])
        n = problem.nc * (1 + problem.nt)
        np.testing.assert_array_equal(together.G[k, :n, :n], alone.G[0])
        np.testing.assert_array_equal(together.response[k, : problem.nv, :n], alone.response[0])
        np.testing.assert_array_equal(together.start[k, :n], alone.start[0])
        np.testing.assert_array_equal(together.contact[k, :, : problem.nc], alone.contact[0])


def test_what_stands_where_no_contact_is_does_not_matter():
    problem = random_problem(np.random.default_rng(5), nv=4, nc=3, nt=1)
    Jn = np.array(problem.Jn)
    Jn[1] = np.nan
    there = np.array([[True, False, True]])
    batch = ImpactBatch(problem.M, Jn, problem.Jt, [0.3, -1.0, 0.3], problem.v[None], present=there)
    assert batch[0].nc == 2


def test_rows_can_be_taken_in_any_order():
    problems = mixed(8, seed=4)
    batch = ImpactBatch.from_problems([*problems, None])
    order = np.array([8, 3, 3, 0])
    taken = batch.take(order)
    assert taken[1] is problems[3]
    assert taken[3] is problems[0]
    np.testing.assert_array_equal(taken.status, batch.status[order])
    np.testing.assert_array_equal(batch[2:5].M, batch.M[2:5])


def test_a_batch_is_frozen():
    batch = ImpactBatch.from_problems(mixed(2))
    for name in ("M", "Jn", "Jt", "mu", "v", "restitution", "present", "size", "status"):
        assert not getattr(batch, name).flags.writeable
    with pytest.raises(AttributeError):
        batch.M = None


def good():
    return {"M": np.eye(3), "Jn": [[0, 1.0, 0]], "Jt": [[[1.0, 0, 0]]], "mu": 0.5, "v": -np.ones((4, 3))}


def changed(field, where, value):
    arrays = good()
    n, nv, nc = 4, 3, 1
    shapes = {"M": (n, nv, nv), "Jn": (n, nc, nv), "Jt": (n, nc, 1, nv), "mu": (n, nc), "v": (n, nv)}
    full = np.array(np.broadcast_to(arrays[field], shapes[field]))
    full[where] = value
    return {**arrays, field: full}


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (changed("M", (2, 0, 0), np.nan), "row 2 holds a number that is not finite"),
        (changed("M", (2, 0, 1), 1.0), "M: row 2 differs from its transpose"),
        (changed("M", (1, 0, 0), -1.0), "M: row 1 is not positive definite"),
        (changed("M", (1, 0, 0), 0.0), "M: row 1 is not positive definite"),
        (changed("Jn", (3, 0), 0.0), "Jn: row 3 has a row of zeros"),
        (changed("Jn", (3, 0, 1), np.inf), "row 3 holds a number that is not finite"),
        (changed("Jt", (0, 0, 0), np.nan), "row 0 holds a number that is not finite"),
        (changed("mu", (2, 0), -0.1), "mu: row 2 is negative"),
        (changed("mu", (2, 0), np.nan), "row 2 holds a number that is not finite"),
        (changed("v", (2, 0), np.nan), "v: got nan at index"),
        ({**good(), "v": np.ones(3)}, "v: got shape"),
        ({**good(), "Jn": np.ones((1, 2))}, "Jn: got shape"),
        ({**good(), "Jt": np.ones((1, 3, 3))}, "Jt: got shape"),
        ({**good(), "mu": [0.5, 0.5]}, "mu: got shape"),
        ({**good(), "v": np.zeros((0, 3))}, "v: got shape"),
    ],
)
def test_bad_arrays_are_refused_with_field_and_row(arrays, message):
    with pytest.raises(ValueError, match=message):
        ImpactBatch(**arrays)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"restitution": 1.5}, "restitution: row 0 lies outside"),
        ({"present": np.ones((4, 2), dtype=bool)}, "present: got bool of shape"),
        ({"present": np.ones((4, 1))}, "present: got float64"),
        ({"names": ["a", "b"]}, "names: got 2"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ImpactBatch(**good(), **options)


def test_problems_of_another_kind_are_refused():
    with pytest.raises(ValueError, match="problems: got int at index 1"):
        ImpactBatch.from_problems([systems.get("rocking-block").problem, 3])


@pytest.mark.parametrize("row", [9, -10, 1.5, "a"])
def test_rows_that_do_not_exist_are_refused(row):
    batch = ImpactBatch.from_problems(mixed(9))
    with pytest.raises(ValueError, match="row: got"):
        batch[row]
