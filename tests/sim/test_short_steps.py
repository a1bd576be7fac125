"""Short steps through slow slip in space, against SciPy's integrator with the model asked at every stage."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import DOP853, solve_ivp
from scipy.optimize import brentq

import routh
from routh.base import tolerances
from routh.kernels.motion.runge_kutta import tableau
from routh.laws import SetValued
from routh.models.simultaneity import Simultaneity
from routh.models.spatial import PlaneContact, SpatialModel, box
from routh.sim import verify
from routh.sim.contact_forces import Hold, contact_problem, forces_of
from routh.sim.event_driven import Run, RunSettings
from routh.sim.flow import Course, Options, _before_others
from routh.sim.mechanism import Mechanism
from routh.sim.mode_motion import ModeMotion
from routh.sim.modes import find_modes
from routh.sim.short_steps import ShortStep

CORNER = np.array([0.2, 0.15, -0.1])


def leaning(speed, size=1.0):
    """A box on one of its corners, which slips with a speed in m/s: its model, configuration and velocity."""
    body = box("box", (0.4 * size, 0.3 * size, 0.2 * size), mass=2.0)
    model = SpatialModel([body], [PlaneContact("corner", "box", point=size * CORNER, mu=1.5)])
    q = np.r_[0.0, 0.0, 0.0, np.array([0.9, 0.2, -0.3, 0.1]) / np.sqrt(0.95)]
    q[2] -= model.gaps(q)[0]
    mechanism = Mechanism(model)
    v = mechanism.hold(q, np.r_[0.1, -0.2, 0.0, 0.5, -0.3, 0.2], [0], [])
    wanted = np.r_[0.0, speed * np.array([0.6, 0.8])]
    J = mechanism.J(q)[0]
    return mechanism, q, v + J.T @ np.linalg.solve(J @ J.T, wanted)


def step_from(speed, length=2e-4, direction=(0.6, 0.8), size=1.0):
    mechanism, q, v = leaning(speed, size)
    motion = ModeMotion(mechanism, (Hold(0, direction),))
    y = motion.begin(q, v)
    motion.aim(0.0, y)
    step = ShortStep(motion, 0.0, y, length, 2.0, accuracy=(1e-9, 1e-10), tableau=tableau())
    motion.aim(0.0, y)  # as at its beginning
    return motion, y, step


@pytest.mark.parametrize("speed", [1e-2, 3e-3])
def test_a_short_step_is_the_motion(speed):
    motion, y, step = step_from(speed)
    assert step.known
    assert step.stopped == ()
    assert step.t == 2e-4
    exact = solve_ivp(motion.slope, (0.0, step.t), y, method="DOP853", rtol=1e-12, atol=1e-14, max_step=1e-5)
    np.testing.assert_allclose(step(step.t), exact.y[:, -1], rtol=0, atol=1e-10)


def test_a_step_of_a_small_box_that_turns_is_no_longer_than_its_rotations_commute():
    motion, y, step = step_from(1e-2, length=3e-4, size=0.1)  # 4 cm: all at once its turns would miss 2e-9
    assert step.known
    exact = solve_ivp(motion.slope, (0.0, step.t), y, method="DOP853", rtol=1e-12, atol=1e-14, max_step=1e-5)
    off = np.abs(step(step.t) - exact.y[:, -1])[: motion.nq].max()
    assert off < 0.2 * tolerances.VERIFY_INTEGRATOR


def test_it_ends_where_slip_stops():
    motion, _, step = step_from(1e-4)
    assert step.stopped == (0,)
    assert 1e-6 < step.t < 1e-4
    q, v = motion.split(step(step.t))
    slip = motion.mechanism.J(q)[0, 1:] @ v
    assert np.linalg.norm(slip) < 3e-9
    before = motion.mechanism.J(q)[0, 1:] @ motion.split(step(0.9 * step.t))[1]
    assert np.linalg.norm(before) > 1e-6


def test_slip_that_stops_leaves_less_than_the_check_allows():
    """The corner moves with 2 kg: slip of 1 nm/s that was taken for none broke the inclusion by its jump."""
    motion, _, step = step_from(1e-6)
    assert step.stopped == (0,)
    q, v = motion.split(step(step.t))
    jump = v - motion.mechanism.hold(q, v, [0], [])
    assert motion.mechanism.speed(q, jump) < 0.3 * tolerances.VERIFY_INTEGRATOR * step.fastest


def test_what_is_seen_of_a_step_is_what_the_model_says():
    """Looks and samples come from parabolas; the model at the same states agrees."""
    motion, _, step = step_from(3e-3)
    times = [2e-5, 7e-5, 1.6e-4]
    looks, samples = step.see(times, settled=False), step.samples(times)
    for k, t in enumerate(times):
        y = step(t)
        q, v = motion.split(y)
        wanted = motion.settled(t, y)[2]
        found = samples[k]
        assert found.t == t
        np.testing.assert_allclose(found.q, wanted.q, rtol=0, atol=1e-11)
        np.testing.assert_allclose(found.v, wanted.v, rtol=0, atol=1e-10)
        np.testing.assert_allclose(found.force, wanted.force, rtol=1e-7)
        np.testing.assert_allclose(found.impulse, wanted.impulse, rtol=0, atol=1e-12)
        np.testing.assert_allclose(looks.gap[k], motion.mechanism.model.gaps(q), atol=1e-11)
        np.testing.assert_allclose(looks.rate[k], motion.mechanism.normal_velocity(q, v), atol=1e-9)
        np.testing.assert_allclose(looks.margin[k][:2], motion.look(t, y).margin[:2], atol=1e-7)
        assert abs(motion.mechanism.model.gaps(found.q)[0]) < 1e-11
        assert abs(motion.mechanism.normal_velocity(found.q, found.v)[0]) < 1e-10


def test_samples_are_as_many_as_a_cubic_needs():
    """A step of nanoseconds had a dozen: their distance grew by half from the first of the integrator's."""
    _, _, step = step_from(1e-7)
    assert step.t < 1e-6
    assert len(step.marks()) < 6


def test_slip_that_begins_does_not_stop():
    """Friction is at its limit: slip grows from nothing, and rounding must not be taken for its end."""
    mechanism, q, v = leaning(0.0)
    force = mechanism.J(q)[0].T @ np.array([0.0, 36.0, 48.0])  # pulls the corner along
    pulled = Mechanism(Pulled(mechanism.model, force))
    motion = ModeMotion(pulled, (Hold(0, (0.6, 0.8)),))
    y = motion.begin(q, v)
    motion.aim(0.0, y)
    step = ShortStep(motion, 0.0, y, 1e-5, 2.0, accuracy=(1e-9, 1e-10), tableau=tableau())
    assert step.known
    assert step.stopped == ()
    slip = pulled.J(q)[0, 1:] @ motion.split(step(step.t))[1]
    assert slip @ [0.6, 0.8] > 1e-6


@pytest.mark.parametrize(
    ("push", "speed"), [((10.0, -10.0), 3e-3), ((6.0, -8.0), 3e-3), ((4.8, -3.6), 1e-3), ((3.0, -1.5), 1e-3)]
)
def test_a_step_that_slip_ends_by_turning_is_one_of_the_model_there(push, speed):
    """Its sweeps ended at other times each, and the last model was taken for that of another time."""
    mechanism, q, v = leaning(speed)
    pulled = Mechanism(Pulled(mechanism.model, mechanism.J(q)[0].T @ np.r_[0.0, 2.0 * np.array(push)]))
    motion = ModeMotion(pulled, (Hold(0, (0.6, 0.8)),))
    y = motion.begin(q, v)
    motion.aim(0.0, y)
    step = ShortStep(motion, 0.0, y, 2e-4, 2.0, accuracy=(1e-9, 1e-10), tableau=tableau())
    assert step.known
    assert step.stopped == ()
    assert step.t < 2e-4
    q, v = motion.split(step(step.t))
    np.testing.assert_allclose(step._way.found.rows, pulled.J(q)[0], rtol=0, atol=1e-10)


def test_a_step_is_as_short_as_its_parabolas_need():
    """Samples of a box that spins moved off the ground by as much as the model was off its parabola."""
    mechanism, q, _ = leaning(0.0)
    J = mechanism.J(q)[0]
    v = mechanism.hold(q, np.r_[0.0, 0.0, 0.0, 30.0, -20.0, 25.0], [0], [])
    v += J.T @ np.linalg.solve(J @ J.T, np.r_[0.0, 0.3, 0.4])
    motion = ModeMotion(mechanism, (Hold(0, (0.6, 0.8)),))
    y, speed = motion.begin(q, v), mechanism.speed(q, v)
    motion.aim(0.0, y)
    step = ShortStep(motion, 0.0, y, 1e-3, speed, accuracy=(1e-9, 1e-10), tableau=tableau())
    assert step.known
    assert 1e-5 < step.t < 1e-3
    root = 1.0 / np.sqrt(1.0 / (J[0] @ mechanism.inverse_mass(q) @ J[0]))
    for sample in step.samples(np.linspace(0.1, 0.9, 9) * step.t):
        rate = mechanism.normal_velocity(sample.q, sample.v)[0]
        assert abs(rate) < 0.2 * tolerances.VERIFY_INTEGRATOR * speed * root
    motion.aim(0.0, y)
    again = ShortStep(motion, 0.0, y, step.reaches, speed, accuracy=(1e-9, 1e-10), tableau=tableau())
    assert again.t == step.reaches >= step.t  # what the next step is to begin with need not be shortened


def at_the_limit(over):
    """A corner at rest that is pulled at beyond its friction's limit by a share, and its contact mode."""
    mechanism, q, v = leaning(0.0)
    J = mechanism.J(q)[0]

    def found(pull):
        pulled = Mechanism(Pulled(mechanism.model, J.T @ np.r_[0.0, pull * np.array([0.6, 0.8])]))
        problem = contact_problem(pulled.snapshot(0.0, q, v), [0], pulled.mu, np.zeros((1, 2)))
        return pulled, problem, forces_of(problem, (Hold(0),)).force[0]

    def beyond(pull):
        force = found(pull)[2]
        return np.linalg.norm(force[1:]) - 1.5 * (1.0 + over) * force[0]

    pulled, problem, _ = found(brentq(beyond, 0.0, 100.0, xtol=1e-15, rtol=1e-15))
    ((slides, *_),), _ = find_modes(problem)
    return pulled, q, v, slides.mode


@pytest.mark.parametrize("over", [1e-8, 1e-6, 1e-4])
def test_slip_that_hardly_begins_goes_on(over):
    """It was as slow as what an integrator leaves over, which turned friction, and so it stopped at once."""
    pulled, q, v, mode = at_the_limit(over)
    motion = ModeMotion(pulled, mode)
    y = motion.begin(q, v)
    motion.aim(0.0, y)
    step = ShortStep(motion, 0.0, y, 1e-5, 2.0, accuracy=(1e-9, 1e-10), tableau=tableau())
    assert step.known
    assert step.stopped == ()
    assert step.t > 1e-6


@pytest.mark.parametrize("angle", [1.0, 4.0])
def test_slip_that_begins_with_no_acceleration_goes_on(angle):
    """Rounding aside of it turned friction round, which drove it backwards: an ANYmal stood still in time."""
    mechanism, q, v = leaning(0.0)
    pull = mechanism.J(q)[0].T @ np.r_[0.0, np.cos(angle), np.sin(angle)]

    def beyond(size):
        pulled = Mechanism(Pulled(mechanism.model, size * pull))
        problem = contact_problem(pulled.snapshot(0.0, q, v), [0], pulled.mu, np.zeros((1, 2)))
        force = forces_of(problem, (Hold(0),)).force[0]
        return np.linalg.norm(force[1:]) - 1.5 * force[0]

    limit = brentq(beyond, 0.0, 50.0)

    def control(t, q, v):
        return (limit + t - 1e-4) * pull

    model = Pulled(mechanism.model, 0.0 * pull)
    motion = routh.simulate(model, routh.State(q, v), duration=3e-4, control=control)
    assert motion.ok, motion.events[-1]
    verdict = verify(model, motion, control=control)
    assert verdict.ok, str(verdict)  # slip is hardly known at first, friction all the more
    assert [event.kind for event in motion.events] == ["close", "slip"]
    assert len(motion) < 400  # steps of 1e-10 s otherwise
    slip = np.linalg.norm(mechanism.J(motion.q[-1])[0, 1:] @ motion.v[-1])
    assert 1e-8 < slip < 1e-5


class Pulled:
    """A model with one more force, and inputs that are forces."""

    def __init__(self, model, force):
        self._model, self._force = model, force

    def __getattr__(self, name):
        return getattr(self._model, name)

    def bias(self, q, v, u=None):
        return self._model.bias(q, v) - self._force - (0.0 if u is None else u)


def test_few_samples_tell_slip_that_stops():
    mechanism, q, v = leaning(1e-3)
    motion = routh.simulate(mechanism.model, routh.State(q, v), duration=2e-3, sample_dt=1e-3)
    assert "stick" in [event.kind for event in motion.events]
    assert len(motion) < 200
    verdict = verify(mechanism.model, motion)
    assert verdict.ok, str(verdict)


@pytest.mark.parametrize("seed", range(20))
def test_an_event_comes_before_its_condition_is_broken(seed):
    """However fast a force changes: some do within the last digits of time."""
    when = 0.25 + 1e-3 * np.random.default_rng(seed).random()

    def margin(_, t):
        return 1e9 * (when - t) if t != when else -1e-7

    course = SimpleNamespace(_gap=None, _rate=None, _margin=margin)
    found = Course.crossing(course, "margin", 0, 0.25, 0.252)
    assert margin(0, found) >= 0.0
    assert when - found < 1e-14


def course_of(margin, kinds, began=0.25):
    """A course whose margins are a function of time, (n,)."""
    slides = np.zeros(len(kinds), dtype=bool)
    course = SimpleNamespace(_gap=None, _rate=None, _margin=lambda j, t: margin(t)[j], t_old=began)
    course.crossing = lambda *asked: Course.crossing(course, *asked)
    course.motion = SimpleNamespace(kinds=kinds, slides=slides)
    course.looks = lambda times: SimpleNamespace(margin=np.array([margin(t) for t in times]))
    return course


def test_a_force_through_infinity_ends_a_mode_where_it_jams():
    """It came back from below zero, where it opened, or where slip stopped: those were taken for the end."""

    def margin(t):
        force = 1e-3 / ((0.2501 - t) + 1e-20)
        return np.array([force, 1.0 - abs(force) / 1e4])

    course = course_of(margin, [("open", (3,)), ("jam", (3,))])
    kind, before = ("stick", (4,)), margin(0.25)
    when, word, contacts = _before_others(course, (0.2502, *kind), 0.25, before)
    assert (word, contacts) == ("jam", (3,))
    assert margin(when)[1] >= 0.0
    assert when == pytest.approx(0.2501 - 1e-7, abs=1e-12)
    early = 0.25 + 5e-5, *kind
    assert _before_others(course, early, 0.25, before) == early


def test_an_event_that_drift_hid_is_looked_for_from_the_start():
    """Without drift the condition was broken at both looks: the event was put where it was so already."""
    course = course_of(lambda t: np.array([0.2501 - t]), [("slip", (0,))])
    assert course.crossing("margin", 0, 0.2502, 0.2503) == pytest.approx(0.2501, abs=1e-14)


def test_of_slips_that_stop_in_one_part_the_first_ends_the_step():
    """The contact that comes first in the model was taken for it: the other went on beyond its stop."""
    bodies = [box(name, (0.4, 0.3, 0.2), mass=1.0) for name in "ab"]
    model = SpatialModel(
        bodies, [PlaneContact(one.name, one.name, point=np.zeros(3), mu=0.5) for one in bodies]
    )
    q = np.tile(np.r_[np.zeros(3), 1.0, np.zeros(3)], 2)
    v = np.zeros(12)
    v[0], v[6] = 1e-4, 0.99e-4
    motion = ModeMotion(Mechanism(model), (Hold(0, (1.0, 0.0)), Hold(1, (1.0, 0.0))))
    y = motion.begin(q, v)
    motion.aim(0.0, y)
    step = ShortStep(motion, 0.0, y, 2e-4, 2.0, accuracy=(1e-9, 1e-10), tableau=tableau())
    assert step.stopped == (1,)
    assert step.t == pytest.approx(0.99e-4 / (0.5 * 9.81), rel=1e-6)


@pytest.mark.parametrize("followed", [True, False])
def test_slip_that_was_followed_goes_on_through_an_event(followed):
    """Beside fast motion it is slower than what an event takes for none, but it is known."""
    bodies = [box(name, (0.4, 0.3, 0.2), mass=1.0) for name in "ab"]
    model = SpatialModel(
        bodies, [PlaneContact(one.name, one.name, point=np.zeros(3), mu=0.5) for one in bodies]
    )
    q = np.tile(np.r_[np.zeros(3), 1.0, np.zeros(3)], 2)
    v = np.zeros(12)
    v[0], v[6] = 5e-9, 1.0
    asked = {"rtol": 1e-9, "atol": 1e-10, "max_step": 1e-3, "gap": 1e-9, "end": 1e-3, "sample_dt": 1e-3}
    rest = {"max_events": 10, "law": SetValued(), "rng": np.random.default_rng(0)}
    run = Run(Mechanism(model), routh.State(q, v), RunSettings(simultaneity=Simultaneity(), **asked, **rest))
    if followed:
        run.mode = Hold(0, (1.0, 0.0)), Hold(1, (1.0, 0.0))
    run._advance()
    friction = run.record.forces_after[0][:, 1]
    np.testing.assert_allclose(friction, [-0.5 * 9.81 if followed else 0.0, -0.5 * 9.81], atol=1e-9)


def test_a_mode_that_has_just_ended_goes_on_where_it_is_the_only_one():
    """Not an impact without collision: the time of its end is not known better than forces change."""
    body = box("box", (0.4, 0.3, 0.2), mass=1.0)
    model = SpatialModel([body], [PlaneContact("foot", "box", point=np.zeros(3), mu=0.5)])
    asked = {"rtol": 1e-9, "atol": 1e-10, "max_step": 1e-3, "gap": 1e-9, "end": 1e-3, "sample_dt": 1e-3}
    rest = {"max_events": 10, "law": SetValued(), "rng": np.random.default_rng(0)}
    state = routh.State(np.r_[np.zeros(3), 1.0, np.zeros(3)], np.zeros(6))
    run = Run(Mechanism(model), state, RunSettings(simultaneity=Simultaneity(), **asked, **rest))
    run.excluded = {(Hold(0),)}
    run._advance()
    assert [event.kind for event in run.record.events] == ["close"]
    assert run.t == 1e-3


def test_a_model_is_not_asked_again_where_slip_goes_as_guessed(monkeypatch):
    asked, ask = [], ShortStep._ask
    monkeypatch.setattr(ShortStep, "_ask", lambda step, k, *state: asked.append(k) or ask(step, k, *state))
    motion, y, step = step_from(1e-2, length=1e-7)
    assert step.known
    assert asked == [0, 1, 2]
    exact = solve_ivp(motion.slope, (0.0, step.t), y, method="DOP853", rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(step(step.t), exact.y[:, -1], rtol=0, atol=1e-14)
    asked.clear()
    step_from(1e-2)  # turns on the way
    assert asked[:5] == [0, 1, 2, 1, 2]


@pytest.mark.parametrize("rate", [3.0, -3.0])
def test_a_step_goes_little_beyond_the_next_contact(rate):
    """A box that turns about a foot under its middle, towards a point of it or away."""
    points = {"foot": np.zeros(3), "tip": np.array([0.2, 0.0, 1e-4])}
    contacts = [PlaneContact(name, "box", point=point, mu=0.5) for name, point in points.items()]
    mechanism = Mechanism(SpatialModel([box("box", (0.4, 0.3, 0.2), mass=1.0)], contacts))
    q, v = np.r_[np.zeros(3), 1.0, np.zeros(3)], np.r_[np.zeros(4), rate, 0.0]
    motion = ModeMotion(mechanism, (Hold(0),))
    y = motion.begin(q, v)
    when = motion.closing(0.0, y, motion.slope(0.0, y))
    course = Course(motion, 0.0, q, v, 0.1, Options(1e-9, 1e-10, 0.01, 1e-9), mechanism.speed(q, v))
    assert course.step()
    if rate < 0.0:
        assert when > 1.0
        assert course.t > 1e-3
    else:
        assert when == pytest.approx(1e-4 / (0.2 * rate), rel=1e-2)
        assert when < course.t < 1.5 * when
        assert float(mechanism.model.gaps(course.settle(course.t).q)[1]) < 0.0


def test_forces_with_few_digits_cut_no_steps():
    """Nearly redundant feet of an ant share them so: steps of a motion that stands still were 3e-4 s long."""
    mechanism, q, v = leaning(0.0)
    rng, ends = np.random.default_rng(0), []
    for noise in (0.0, 3e-7):
        motion = ModeMotion(mechanism, (Hold(0),))
        slope = motion.slope

        def noisy(t, y, slope=slope, noise=noise):
            return slope(t, y) + np.concatenate([np.zeros(13), noise * rng.normal(size=3)])

        motion.slope = noisy
        course = Course(motion, 0.0, q, v, 0.05, Options(rtol=1e-9, atol=1e-10, max_step=0.01, gap=1e-9))
        ends.append([course.t for _ in range(5) if course.step()])
    np.testing.assert_allclose(ends[1], ends[0], rtol=1e-9)


@pytest.mark.parametrize("drift", [3e-9, 3e-8])
def test_friction_is_not_against_what_drift_leaves_of_slip_that_stops(drift):
    """A light foot's force turned with it through infinity: it was found far outside its cone."""
    motion, y, _ = step_from(1e-4)
    at = motion.mechanism.snapshot(0.0, *motion.split(y))
    moved = at.inverse_mass @ at.J[0, 0]
    y[motion.nq : motion.nq + motion.nv] += drift * moved / (at.J[0, 0] @ moved)
    motion.aim(0.0, y)
    step = ShortStep(motion, 0.0, y, 2e-4, 2.0, accuracy=(1e-9, 1e-10), tableau=tableau())
    assert step.stopped == (0,)
    times = [0.999 * step.t, step.t]
    before, last = (sample.force[0] for sample in step.samples(times))
    np.testing.assert_allclose(last, before, rtol=0, atol=1e-2)
    ends = motion.settled(step.t, step(step.t))[2]
    np.testing.assert_allclose(ends.force[0], before, rtol=0, atol=1e-2)


def test_coefficients_are_scipys():
    """Every number of the file, to the bit; what is not named is zero."""
    table, rest = tableau(), np.zeros_like(tableau())
    rest[:12, :12], rest[12, :12], rest[13:16] = DOP853.A, DOP853.B, DOP853.A_EXTRA
    rest[16, :13], rest[17, :13], rest[18:] = DOP853.E5, DOP853.E3, DOP853.D
    np.testing.assert_array_equal(table, rest)


def test_a_step_that_is_off_between_its_ends_is_taken_again_shorter(monkeypatch):
    """ANYmal on two thighs: where slip turned, a step was off by 2e-7 m/s before its end."""
    lengths = []
    for error in (0.0, 1e-6):
        mechanism, q, v = leaning(0.05)
        course = Course(
            ModeMotion(mechanism, (Hold(0, (0.6, 0.8)),)),
            0.0,
            q,
            v,
            1.0,
            Options(1e-9, 1e-10, 0.01, 1e-9),
            2.0,
        )
        off, dense_output = [error], DOP853.dense_output

        def once_off(solver, off=off, dense_output=dense_output):
            dense, error, v = dense_output(solver), off.pop() if off else 0.0, np.arange(len(solver.y)) == 7
            start, end = solver.t_old, solver.t
            return lambda t: dense(t) + error * v * np.sin(2.0 * np.pi * (t - start) / (end - start))

        with monkeypatch.context() as patched:
            patched.setattr(DOP853, "dense_output", once_off)
            assert course.step()
        assert not off
        assert course._short is None
        lengths.append(course.t)
    assert lengths[1] < 0.7 * lengths[0]
