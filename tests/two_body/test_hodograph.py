"""The course of an impact against the impulses that make it, where slip vanishes and resumes above all."""

import numpy as np
import pytest

from routh import two_body
from routh.two_body import systems as data


def contact(seed):
    """A random contact of the family W = A A^T + 0.05, friction to 2."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3, 3))
    v = rng.normal(size=3)
    return A @ A.T + 0.05 * np.eye(3), np.array([v[0], v[1], -abs(v[2])]), rng.uniform(0.0, 2.0)


def check(W, v, mu, e=0.5, hypothesis="energetic"):
    """Slip is v + W I all along, friction opposes it in full, and the end is that of `impact`."""
    course = two_body.hodograph(W, v, mu, e, hypothesis=hypothesis)
    after = two_body.impact(W, v, mu, e, hypothesis=hypothesis)
    size = np.abs(v).max() + np.abs(W @ after.impulse).max()
    np.testing.assert_allclose(course.sliding, v[:2] + course.impulse @ W[:, :2], rtol=0, atol=1e-10 * size)
    np.testing.assert_allclose(course.sliding[-1], after.contact_velocity[:2], rtol=0, atol=1e-9 * size)
    np.testing.assert_allclose(course.normal_velocity[-1], after.contact_velocity[2], atol=1e-9 * size)
    np.testing.assert_allclose(
        course.normal_velocity, v[2] + course.impulse @ W[:, 2], rtol=0, atol=1e-9 * size
    )
    press, push = np.diff(course.impulse[:, 2]), np.diff(course.impulse[:, :2], axis=0)
    middle = 0.5 * (course.sliding[1:] + course.sliding[:-1])
    speed = np.linalg.norm(middle, axis=1)
    turned = np.linalg.norm(np.diff(course.sliding, axis=0), axis=1)
    slides = (speed > 1e-3 * size) & (turned < 0.2 * speed) & (press > 1e-6 * press.sum())
    along = -np.sum(push[slides] * middle[slides], axis=1) / speed[slides]
    np.testing.assert_allclose(along, mu * press[slides], rtol=2e-2)
    return course


@pytest.mark.parametrize("hypothesis", ["energetic", "poisson", "newton"])
def test_random_contacts(hypothesis):
    resumed = 0
    for seed in range(150):
        W, v, mu = contact(seed)
        course = check(W, v, mu, hypothesis=hypothesis)
        least = np.argmin(np.linalg.norm(course.sliding, axis=1))
        resumed += 0 < least < len(course.sliding) - 1 and np.linalg.norm(course.sliding[-1]) > 0.01
    assert resumed >= 1


@pytest.mark.parametrize("mu", [0.0, 0.1, 0.25, 0.8])
def test_a_start_at_rest(mu):
    """It sticks, or slips along the one centrifugal direction at once (JW17 corollary 6)."""
    W = np.array(data.ICOSAHEDRON_W)
    W = np.triu(W) + np.triu(W, 1).T
    course = check(W, np.array([0.0, 0.0, -1.0]), mu)
    found = two_body.invariant_directions(W, mu)
    if found.sticks:
        assert np.all(course.sliding == 0.0)
        return
    speed = np.linalg.norm(course.sliding, axis=1)
    assert np.all(np.diff(speed) > -1e-12)
    assert speed[-1] > 0.1
    if mu > 0.0:
        direction = found.vectors[found.centrifugal][0]
        np.testing.assert_allclose(course.sliding[-1] / speed[-1], direction, atol=1e-9)


def test_slip_resumes_along_the_centrifugal_direction():
    """JW17 Fig. 8: with friction 0.25 slip that runs straight into the origin leaves it again."""
    W = np.array(data.ICOSAHEDRON_W)
    W = np.triu(W) + np.triu(W, 1).T
    found = two_body.invariant_directions(W, 0.25)
    assert not found.sticks
    inward = found.vectors[~found.centrifugal][0]
    course = check(W, np.array([*(0.2 * inward), -0.8]), 0.25, e=0.95)
    assert "s" in course.events
    row = dict(course.marks)["s"]
    assert np.linalg.norm(course.sliding[row]) < 1e-12
    end = course.sliding[-1]
    assert np.linalg.norm(end) > 0.05
    np.testing.assert_allclose(end / np.linalg.norm(end), found.vectors[found.centrifugal][0], atol=1e-9)


def test_a_hodograph_stays_between_two_invariant_directions():
    """JW17 section 4: until slip vanishes, its direction crosses none."""
    told = 0
    for seed in range(60):
        W, v, mu = contact(seed)
        angles = np.asarray(two_body.invariant_directions(W, mu).angles)
        course = two_body.hodograph(W, v, mu, 0.5).sliding
        speed = np.linalg.norm(course, axis=1)
        gone = np.flatnonzero(speed < 1e-3 * speed[0])
        course = course[: gone[0]] if len(gone) else course
        direction = np.unwrap(np.arctan2(course[:, 1], course[:, 0]))
        away = np.angle(np.exp(1j * (direction[0] - angles)))  # of the start, in (-pi, pi]
        turned = direction - direction[0]
        ahead, behind = (-away[away < 0]).min(initial=np.inf), away[away >= 0].min(initial=np.inf)
        assert turned.max() <= ahead + 1e-6
        assert -turned.min() <= behind + 1e-6
        told += np.ptp(turned) > 0.05
    assert told > 20
