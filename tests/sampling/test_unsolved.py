"""Samples that are not solved enter nothing that is said or drawn of a set."""

from dataclasses import replace

import numpy as np
import pytest

import routh
from routh import Status
from routh.sampling.ambiguity import measure_ambiguity

N = 400


@pytest.fixture(scope="module")
def whole():
    return routh.sample(routh.systems.get("rocking-block").problem, N, seed=1)


def spoilt(outcomes, share, status=Status.NUMERICAL):
    """The first of the samples fail: far away, with a thousand times the energy, and separating."""
    count = int(share * len(outcomes))
    v, codes = outcomes.v.copy(), outcomes.status.copy()
    v[:count] = 30.0 * -outcomes.problem.v
    codes[:count] = status
    return replace(outcomes, v=v, status=codes), without(outcomes, count)


def without(outcomes, count):
    """The same without the first samples."""
    names = ("v", "impulse", "steps", "status", "residual")
    return replace(outcomes, **{name: getattr(outcomes, name)[count:] for name in names})


@pytest.mark.parametrize("share", [0.005, 0.5])
def test_a_set_is_that_of_its_solved_samples(whole, share):
    bad, good = spoilt(whole, share)
    assert bad.terminated.all()  # by their velocities alone they would count
    assert bad.ambiguity == good.ambiguity
    np.testing.assert_array_equal(
        measure_ambiguity(bad).mode_probability, measure_ambiguity(good).mode_probability
    )
    assert bad.extreme("A").value == good.extreme("A").value
    assert [row.modes for row in bad.summary()] == [row.modes for row in good.summary()]
    assert [row.count for row in bad.summary()] == [row.count for row in good.summary()]
    assert [row.kinetic_energy for row in bad.summary()] == [row.kinetic_energy for row in good.summary()]
    assert bad.answer().score == good.answer().score
    assert bad.answer()._lines() == good.answer()._lines()


def test_a_picture_is_that_of_the_solved_samples(whole):
    bad, good = spoilt(whole, 0.5)
    limits = [[(axes.get_xlim(), axes.get_ylim()) for axes in one.plot().axes] for one in (bad, good)]
    np.testing.assert_allclose(limits[0], limits[1])


def test_where_too_few_are_solved_the_first_line_says_so_and_what_to_try(whole):
    some, _ = spoilt(whole, 0.02)
    first, second, third, *_ = some.answer().lines()
    assert first == f"Only {N - 8} of {N} samples are solved (8 NUMERICAL)."
    assert second.startswith("Try ")
    assert third.startswith("Ambiguity 0.50 of the speed before")
    assert first in some._repr_html_().replace("&quot;", '"')
    assert not some.answer().enough
    assert some.answer().as_data()["share_solved"] == 0.98
    few, _ = spoilt(whole, 0.01)
    assert few.answer().enough
    assert few.answer().lines()[0].startswith("Ambiguity 0.50")
    none, _ = spoilt(whole, 1.0)
    assert str(none.answer()).startswith(f"No sample is solved ({N} NUMERICAL). Try ")
    assert np.isnan(none.ambiguity)
    with pytest.raises(ValueError, match="no sample is solved"):
        none.extreme("A")


@pytest.mark.parametrize(
    ("status", "settings", "hint"),
    [
        (Status.OUT_OF_TIME, {}, "a larger budget"),
        (Status.JAMMED, {"method": "events"}, "less friction"),
        (Status.MAX_STEPS, {"method": "algorithm1"}, "more steps"),
        (Status.NUMERICAL, {"method": "algorithm1"}, "draw by events"),
        (Status.NUMERICAL, {"method": "events", "friction": "cone", "nt": 2}, 'friction="polyhedral"'),
        (Status.NUMERICAL, {"method": "events", "friction": "polyhedral"}, "Algorithm 1"),
    ],
)
def test_what_is_proposed_helps_against_the_failure(whole, status, settings, hint):
    bad, _ = spoilt(whole, 0.5, status)
    assert hint in replace(bad, settings=settings).answer().lines()[1]


def test_more_time_is_no_advice_where_every_finished_sample_failed(whole):
    none, _ = spoilt(whole, 1.0, Status.OUT_OF_TIME)
    assert "a larger budget" in none.answer().lines()[1]
    status = none.status.copy()
    status[:3] = Status.JAMMED
    assert "less friction" in replace(none, status=status).answer().lines()[1]


def test_rows_of_a_batch_are_judged_likewise():
    problem = routh.systems.get("rocking-block").problem
    drawn = routh.sample(routh.ImpactBatch.from_problems([problem, problem]), 40, seed=0)
    v, status = drawn.v.copy(), drawn.status.copy()
    v[0, :20], status[0, :20] = 30.0 * -problem.v, Status.NUMERICAL
    status[1] = Status.MAX_STEPS
    bad = replace(drawn, v=v, status=status)
    good = measure_ambiguity(without(drawn[0], 20))
    np.testing.assert_allclose(bad.ambiguity[0], good.score, rtol=1e-12)
    np.testing.assert_allclose(bad.mode_probability[0], good.mode_probability, atol=1e-15)
    assert np.isnan(bad.ambiguity[1])
    extreme = bad.extreme("A")
    assert extreme.value[0] == (drawn.v[0, 20:] @ problem.Jn[0]).max()
    assert extreme.index[1] == -1


def test_where_nothing_approaches_the_answer_says_so():
    problem = routh.systems.get("rocking-block").problem
    swapped = routh.sample(problem.replace(v=-problem.v), 20)
    assert str(swapped.answer()).startswith("Nothing approaches: no contact has a normal velocity below zero")
    assert not swapped.answer().ambiguous
    assert "Nothing approaches" in swapped._repr_html_()


@pytest.mark.parametrize("seed", [5, 6, 10, 19])
def test_contacts_that_face_each_other_do_not_push_for_ever(seed):
    """A limb between two others, both limits of a joint: rounding moved what such a pair never would."""
    rng = np.random.default_rng(seed)
    A, Jn, Jt = (rng.standard_normal(shape) for shape in ((8, 8), (5, 8), (5, 2, 8)))
    Jn[3] = -0.9 * Jn[2]
    wanted = [-1.0, -1.1, 0.01, -0.02]
    v = np.linalg.lstsq(Jn[[0, 1, 2, 4]], wanted, rcond=None)[0] + 0.1 * rng.standard_normal(8)
    problem = routh.ImpactProblem(A @ A.T + 8.0 * np.eye(8), Jn, Jt, [0.8, 0.8, 0.0, 0.0, 0.0], v)
    for friction in ("cone", "polyhedral"):
        assert routh.sample(problem, 256, friction=friction).solved.all()
