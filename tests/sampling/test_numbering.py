"""What contacts are numbered does not matter: mirror images and other orders are drawn as often."""

import numpy as np
import pytest

import routh
from problems import planar_body
from routh import systems
from routh.base.status import Status

N = 2**14
LIMIT = 5.0  # standard deviations of a count, of the few hundred that are compared here


def places(values, unit):
    """How many samples end in each place, by its coordinates."""
    found, counts = np.unique(np.round(values.reshape(N, -1) / unit, 6) + 0.0, axis=0, return_counts=True)
    return {tuple(place): count for place, count in zip(found, counts, strict=True)}


def farthest_apart(one, other):
    """The largest difference of two counts of one place, in standard deviations where both have one mean."""
    pairs = np.array([(one.get(place, 0), other.get(place, 0)) for place in one.keys() | other.keys()])
    often = pairs[pairs.sum(axis=1) >= 32]  # where a count is nearly normal
    assert len(often) >= 3
    return np.max(np.abs(often[:, 0] - often[:, 1]) / np.sqrt(often.sum(axis=1)))


def drawn(problem, order, seed, **settings):
    """Where samples of the problem with its contacts in this order end, contacts as they were before."""
    data = {name: getattr(problem, name)[list(order)] for name in ("Jn", "Jt", "mu", "restitution")}
    outcomes = routh.sample(problem.replace(**data, names=None), N, seed=seed, threads=1, **settings)
    assert np.all(outcomes.status == Status.SOLVED)
    return outcomes.contact_velocity[:, np.argsort(order)], outcomes.impulse[:, np.argsort(order)]


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_mirror_images_are_drawn_alike(restitution):
    """The rocking block: 735 of these samples ended in a place in whose mirror image none did."""
    problem = systems.get("rocking-block").problem.replace(restitution=restitution)
    velocity, impulse = drawn(problem, (0, 1), 0)
    for values in (velocity, impulse):
        mirrored = values[:, ::-1] * [1.0, -1.0]  # left and right, and slips, change places
        one, other = (places(v, np.abs(values).max()) for v in (values, mirrored))
        assert farthest_apart(one, other) <= LIMIT


@pytest.mark.parametrize("name", ["rocking-block", "rimless-wheel", "box-wall", "block-into-wall"])
def test_systems_with_contacts_in_another_order(name):
    problem = systems.get(name).problem
    order = range(problem.nc)
    one, _ = drawn(problem, order, 1)
    other, _ = drawn(problem, order[::-1], 2)
    counts = [places(v, problem.speed) for v in (one, other)]
    assert farthest_apart(*counts) <= LIMIT


@pytest.mark.parametrize("seed", [0, 1, 11])
def test_bodies_with_contacts_in_another_order(seed):
    """One body with three contacts has rates that stand for others."""
    problem = planar_body(np.random.default_rng(seed), 3)
    for settings in ({}, {"rates": "extreme"}):
        one, _ = drawn(problem, (0, 1, 2), 1, **settings)
        other, _ = drawn(problem, (2, 0, 1), 2, **settings)
        counts = [places(v, problem.speed) for v in (one, other)]
        assert farthest_apart(*counts) <= LIMIT


def test_a_contact_twice_shares_alike():
    """A doubled contact: no impulse of one copy is drawn more often than of the other."""
    gait = systems.get("compass-gait").problem.subset([0, 1])
    twice = [0, 1, 0]
    data = {name: getattr(gait, name)[twice] for name in ("Jn", "Jt", "mu", "restitution")}
    outcomes = routh.sample(gait.replace(**data, names=None), N, threads=1)
    difference = outcomes.impulse[:, 0] - outcomes.impulse[:, 2]
    for part in (0, 1):
        apart = np.count_nonzero(difference[:, part] > 1e-12) - np.count_nonzero(difference[:, part] < -1e-12)
        assert abs(apart) <= LIMIT * np.sqrt(np.count_nonzero(np.abs(difference[:, part]) > 1e-12))
