"""Compiled smooth motion in the plane against the readable one: places, forces, looks, steps, roots."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import routh
from routh.kernels.common.small_linear import invert, invert_rows, least
from routh.kernels.motion.place import fill_place, make_place
from routh.models.planar import (
    Body,
    DiscContact,
    Free,
    HalfPlane,
    PlanarModel,
    PlaneContact,
    Prismatic,
    Revolute,
)
from routh.sim import flow
from routh.sim.contact_forces import Hold
from routh.sim.flow import Course, NotKnownError, Options, QuickCourse, suits
from routh.sim.mechanism import Mechanism
from routh.sim.mode_motion import ModeMotion

ACCURATE = Options(rtol=1e-10, atol=1e-12, max_step=0.01, gap=1e-9)
STICKS, LEFT, RIGHT = None, (-1.0,), (1.0,)


def machine() -> PlanarModel:
    """A cart with an arm that turns and slides, and a disc beside it: every joint, plane and pair."""
    bodies = [
        Body("cart", 2.0, 0.3, joint=Free()),
        Body("arm", 1.0, 0.1, joint=Revolute(parent="cart", at=(0.2, 0.1), offset=0.4), com=(0.3, 0.05)),
        Body("slide", 0.5, 0.02, joint=Prismatic((1.0, 0.5), parent="arm", at=(0.5, 0.0)), com=(0.1, 0.0)),
        Body("disc", 1.5, 0.2, joint=Free(), radius=0.3),
    ]
    floor, wall = HalfPlane("floor"), HalfPlane("wall", normal=(-1.0, 0.3), point=(3.0, 0.0))
    contacts = [
        PlaneContact("wheel", "cart", plane=floor, point=(-0.2, -0.3), radius=0.1, mu=0.4),
        PlaneContact("tip", "slide", plane=wall, point=(0.4, 0.1), mu=0.7),
        DiscContact("pair", "cart", "disc", first_radius=0.25, mu=0.3),
        DiscContact("knob", "slide", "disc", first_point=(0.2, 0.1), first_radius=0.05, mu=0.0),
    ]
    return PlanarModel(bodies, contacts)


def test_a_place_is_what_the_model_says():
    model, rng = machine(), np.random.default_rng(3)
    mechanism, place = Mechanism(model), make_place(model.arrays)
    for _ in range(20):
        q, v = rng.normal(size=model.nq), rng.normal(size=model.nv)
        assert fill_place(model.arrays, q, v, place)
        at = mechanism.snapshot(0.0, q, v)
        for mine, theirs in (
            (place.inverse, at.inverse_mass),
            (place.free, at.free),
            (place.J, at.J.reshape(-1, model.nv)),
            (place.bias, at.bias.ravel()),
            (place.gap, model.gaps(q)),
        ):
            np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-11 * (1.0 + np.abs(theirs).max()))


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("rocking-block", {}),
        ("rocking-block", {0: STICKS}),
        ("rocking-block", {0: STICKS, 1: STICKS}),  # redundant
        ("rocking-block", {0: LEFT, 1: LEFT}),
        ("rocking-block", {0: RIGHT}),
        ("compass-gait", {0: STICKS}),
        ("compass-gait", {0: STICKS, 1: RIGHT}),
        ("ramone", {0: STICKS, 1: LEFT}),
        ("disk-stack", {0: STICKS, 1: STICKS, 2: STICKS}),
        ("disk-stack", {0: STICKS, 2: LEFT}),
        ("box-wall", {0: LEFT, 1: RIGHT}),
    ],
)
def test_a_course_is_the_readable_one(name, holds):
    system = routh.systems.get(name)
    v = np.asarray(system.state.v) + 0.1 * np.random.default_rng(0).normal(size=system.model.nv)
    mode = tuple(Hold(contact, direction) for contact, direction in holds.items())
    motions = [ModeMotion(Mechanism(system.model), mode) for _ in range(2)]
    assert all(suits(motion) for motion in motions)
    first = motions[0]
    v = first.mechanism.hold(system.state.q, v, first.sticking, first.sliding)
    both = [
        kind(motion, 0.0, system.state.q, v, 0.05, ACCURATE)
        for kind, motion in zip((QuickCourse, Course), motions, strict=True)
    ]
    _assert_same_samples([course.start for course in both])
    for _ in range(2):
        assert all(course.step() for course in both)
        # steps are chosen by error estimates that may be rounding: what both have passed through is compared
        t_old, t = max(course.t_old for course in both), min(course.t for course in both)
        assert t > t_old
        between = [t_old + share * (t - t_old) for share in (0.0, 0.3, 0.9, 1.0)]
        mine, theirs = (course.looks(between) for course in both)
        np.testing.assert_allclose(mine.gap, theirs.gap, atol=1e-10)
        np.testing.assert_allclose(mine.rate, theirs.rate, atol=1e-8)
        np.testing.assert_allclose(mine.margin, theirs.margin, rtol=1e-7, atol=1e-7)
        for samples in zip(*(course.samples(between) for course in both), strict=True):
            _assert_same_samples(list(samples))
        if both[0].motion.free:
            np.testing.assert_allclose(*(course.crossing("gap", 0, t_old, between[-1]) for course in both))
        for course in both:
            course.settle(course.t)


def _assert_same_samples(pair):
    assert pair[0].t == pair[1].t
    for field in ("q", "v", "force", "impulse"):
        mine, theirs = (getattr(sample, field) for sample in pair)
        np.testing.assert_allclose(mine, theirs, rtol=1e-7, atol=1e-9 * (1.0 + np.abs(theirs).max()))


def test_forces_that_no_cone_holds_are_left_to_the_readable_course():
    """Two corners of a block that is pulled up by more than gravity would have to pull."""
    system = routh.systems.get("rocking-block")
    model = PlanarModel(system.model.bodies, system.model.definitions, gravity=(0.0, 9.81))
    motion = ModeMotion(Mechanism(model), (Hold(0), Hold(1)))
    with pytest.raises(NotKnownError):
        QuickCourse(motion, 0.0, system.state.q, np.zeros(3), 1.0, ACCURATE)


def test_inputs_and_other_models_take_the_readable_course():
    block = routh.systems.get("rocking-block").model

    class Heavier(PlanarModel):
        """A model that may say something else than its arrays."""

    assert suits(ModeMotion(Mechanism(block), ()))
    assert not suits(ModeMotion(Mechanism(block, control=lambda t, q, v: []), ()))
    assert not suits(ModeMotion(Mechanism(Heavier(block.bodies, block.definitions)), ()))


def test_equal_seeds_with_and_without_compiled_courses_tell_the_same_story(monkeypatch):
    block = routh.systems.get("rocking-block")

    def stories():
        bundle = routh.simulate_many(block.model, block.state, n=3, duration=0.2, seed=4)
        return [([event.kind for event in one.events], one.q[-1], one.v[-1]) for one in bundle]

    compiled = stories()
    monkeypatch.setattr(flow, "suits", lambda motion: False)
    for mine, theirs in zip(compiled, stories(), strict=True):
        assert mine[0] == theirs[0]
        np.testing.assert_allclose(mine[1], theirs[1], atol=1e-7)
        np.testing.assert_allclose(mine[2], theirs[2], atol=1e-6)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.integers(0, 6), st.integers(0, 10**6))
def test_least_squares_of_small_systems(n, lost, seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    rank = max(n - lost, 1)
    U, _, Vt = np.linalg.svd(A)
    A = U[:, :rank] * rng.uniform(0.1, 10.0, rank) @ Vt[:rank]
    right, x = rng.normal(size=n), np.zeros(n)
    least(A.copy(), np.zeros((n, n)), right, x, n, 1e-11)
    np.testing.assert_allclose(x, np.linalg.lstsq(A, right, rcond=1e-11)[0], atol=1e-9)
    inverse = np.zeros((n, n))
    if rank == n:
        assert invert(A.copy(), inverse, n)
        np.testing.assert_allclose(inverse, np.linalg.inv(A), rtol=1e-8, atol=1e-8)
    found, pivot = invert_rows(A.copy(), inverse, n, 1e-11)  # others stand for those whose row is zero
    assert found == rank == np.count_nonzero(np.any(inverse != 0.0, axis=1))
    assert 0.0 < pivot <= 1.0
    np.testing.assert_allclose(A @ inverse @ (A @ right), A @ right, rtol=1e-8, atol=1e-8)
    assert not invert(np.zeros((n, n)), inverse, n)
    assert not invert(np.full((n, n), np.nan), inverse, n)
