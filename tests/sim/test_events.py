"""What can happen at one instant: simultaneous impacts, grazing, refusals, caps, failures of a law."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import routh
from routh.base.results import ImpactPath
from routh.laws import ImpactResult, Newton, SetValued, Simultaneous
from routh.models.planar import DiscContact, PlanarModel, PlaneContact, box, corners, disc
from routh.models.simultaneity import Simultaneity
from routh.sim import verify, zeno
from routh.sim.event_driven import Run, RunSettings
from routh.sim.flow import Course, _first_event
from routh.sim.mechanism import Mechanism
from routh.sim.mode_motion import Look


def falling_block(tilt=0.0, height=0.02):
    contacts = [
        PlaneContact(name, "block", point=corner, mu=0.5)
        for name, corner in zip("AB", corners(1.0, 0.5)[:2], strict=True)
    ]
    model = PlanarModel([box("block", 1.0, 0.5, mass=1.0)], contacts)
    return model, routh.State([0.0, 0.25 + height, tilt], np.zeros(3))


def discs(offset, speed=1.0):
    """A disc that passes another one at a distance of ``offset`` beyond touching, without gravity."""
    model = PlanarModel(
        [disc("a", 0.5, mass=1.0), disc("b", 0.5, mass=1.0)], [DiscContact("touch", "a", "b")], gravity=(0, 0)
    )
    return model, routh.State([-1.0, 1.0 + offset, 0.0, 0.0, 0.0, 0.0], [speed, 0, 0, 0, 0, 0])


def first_impact(motion):
    return next(event for event in motion.events if event.kind == "impact")


def test_corners_that_land_together_collide_together():
    model, state = falling_block()
    motion = routh.simulate(model, state, duration=0.2, law=Simultaneous())
    event = first_impact(motion)
    assert event.t == pytest.approx(math.sqrt(2 * 0.02 / 9.81), abs=1e-10)
    assert event.data["closed"] == ("A", "B")
    assert set(event.contacts) == {"A", "B"}
    assert np.abs(motion.v[-1]).max() < 1e-9
    assert verify(model, motion).ok


@pytest.mark.parametrize(
    ("tilt", "closed", "options"),
    [
        (4e-10, ("A", "B"), {"gap": 1e-9}),
        (1e-6, ("A",), {"gap": 1e-9}),
        (3e-3, ("A", "B"), {}),  # B is 3 mm open and closes after 4.8 ms
        (4e-3, ("A",), {}),
        (5e-7, ("A", "B"), {"window": 0.0}),
        (3e-3, ("A",), {"window": 0.0}),
    ],
)
def test_window_or_gap_decides_what_is_simultaneous(tilt, closed, options):
    model, state = falling_block(tilt)
    motion = routh.simulate(model, state, duration=0.08, law=Simultaneous(), **options)
    assert first_impact(motion).data["closed"] == closed
    assert motion.ok
    assert verify(model, motion).ok


def test_penetration_is_refused_with_its_depth():
    model, state = falling_block(height=-0.003)
    with pytest.raises(ValueError, match=r"contact '[AB]' penetrates by 0.003 m"):
        routh.simulate(model, state, duration=1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"duration": 0.0}, "duration: got 0.0"),
        ({"duration": 1.0, "rtol": -1.0}, "rtol"),
        ({"duration": 1.0, "max_events": 0}, "max_events"),
        ({"duration": 1.0, "seed": -1}, "seed"),
        ({"duration": math.nan}, "duration"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        routh.simulate(*falling_block(), **options)


def test_a_state_that_does_not_fit_is_named():
    model, _ = falling_block()
    with pytest.raises(ValueError, match=r"state.q: got shape \(2,\)"):
        routh.simulate(model, routh.State([0.0, 1.0], [0.0, 0.0, 0.0]), duration=1.0)


@pytest.mark.parametrize(("offset", "kinds"), [(1e-3, []), (5e-10, ["graze"]), (-1e-3, ["impact"])])
def test_passing_grazing_and_touching(offset, kinds):
    model, state = discs(offset)
    motion = routh.simulate(model, state, duration=2.0)
    assert [event.kind for event in motion.events if event.kind in ("graze", "impact")] == kinds
    assert verify(model, motion).ok
    moved = np.abs(motion.v[-1] - state.v).max()
    assert (moved > 1e-3) == (kinds == ["impact"])


def test_a_contact_that_appears_and_vanishes_in_the_same_instant():
    """A block lands flat: both corners take part in the impact, and one lifts off in the same instant."""
    system = routh.systems.get("rocking-block")
    vanished = 0
    for seed in range(6):
        motion = routh.simulate(system.model, system.state, duration=0.01, seed=seed)
        assert verify(system.model, motion).ok
        last = int(np.flatnonzero(motion.t == 0.0)[-1])
        for name in first_impact(motion).contacts:
            i = motion.contacts.index(name)
            assert motion.impulse[: last + 1, i, 0].sum() > 0.0
            if system.model.gaps(motion.q[last + 1])[i] > 1e-6:
                vanished += 1
                assert np.all(motion.forces["contacts"][last + 1, i] == 0.0)
    assert vanished > 0


def test_balls_in_a_row_share_an_inelastic_impact():
    """The middle contact closes again and again within one instant; all balls leave with one speed."""
    bodies = [disc(name, 0.5, mass=1.0) for name in "abc"]
    model = PlanarModel(
        bodies, [DiscContact("ab", "b", "a"), DiscContact("bc", "c", "b")], gravity=(0.0, 0.0)
    )
    state = routh.State([-2.0, 0, 0, 0.0, 0, 0, 1.0, 0, 0], [1.0, 0, 0, 0, 0, 0, 0, 0, 0])
    motion = routh.simulate(model, state, duration=1.5, sample_dt=0.5)
    event = first_impact(motion)
    assert event.t == pytest.approx(1.0, abs=1e-9)
    assert event.data["closed"] == ("ab", "bc")
    assert motion.v[-1, [0, 3, 6]] == pytest.approx([1 / 3] * 3, abs=1e-6)
    assert verify(model, motion).ok


def test_the_event_cap_is_never_silent():
    block = routh.systems.get("zeno-block")
    motion = routh.simulate(block.model, block.state, duration=3.0, law=Simultaneous(), max_events=8)
    assert motion.events[-1].kind == "stop"
    assert "8 events" in motion.events[-1].data["reason"]
    assert not motion.ok
    assert motion.failures()[-1][1] is routh.Status.INCOMPLETE
    assert motion.t[-1] < 3.0


def test_a_law_that_fails_stops_the_motion_and_says_so():
    def stubborn(problem, rng=None, *, without_collision=()):
        path = ImpactPath(problem.v[None], np.zeros((0, problem.nc, 1 + problem.nt)))
        impulse = np.zeros((problem.nc, 1 + problem.nt))
        return ImpactResult(problem, problem.v.copy(), impulse, routh.Status.MAX_STEPS, path)

    model, state = falling_block()
    motion = routh.simulate(model, state, duration=0.5, law=stubborn)
    assert motion.failures()[-1][1] is routh.Status.MAX_STEPS
    assert motion.events[-1].kind == "stop"


def test_a_mechanism_without_inertia_stops_the_motion_and_says_so():
    """The compass gait's hip has no mass: where its legs lie flat the mass matrix is singular."""
    gait = routh.systems.get("compass-gait")
    law = SetValued(method="algorithm1")  # whose fifth future gets there
    motion = routh.simulate(gait.model, gait.state, duration=0.2, law=law, seed=0, stream=4)
    assert "some motion has no inertia" in motion.events[-1].data["reason"]
    assert motion.failures()[-1][1] is routh.Status.NUMERICAL
    legs = motion.q[-1, 3] - motion.q[-1, 2]
    assert legs == pytest.approx(math.pi, abs=1e-4)


def test_restitution_is_never_ignored():
    ball = routh.systems.get("bouncing-ball")
    with pytest.raises(ValueError, match="Simultaneous is inelastic"):
        routh.simulate(ball.model, ball.state, duration=1.0, law=Simultaneous())


def test_equal_seeds_give_equal_motions():
    stack = routh.systems.get("rocking-block")
    one, two, other = (
        routh.simulate(stack.model, stack.state, duration=0.05, seed=seed) for seed in (3, 3, 4)
    )
    assert np.array_equal(one.q, two.q)
    assert [e.kind for e in one.events] == [e.kind for e in two.events]
    assert one.q.shape != other.q.shape or not np.array_equal(one.q, other.q)


def test_geometric_decay_is_recognised_for_cycles_and_for_random_ratios():
    def times(intervals):
        return np.cumsum([0.0, *intervals])

    single = zeno.accumulation(times(0.5 ** np.arange(20)))
    assert single is not None
    assert single.cycle == 1
    assert single.remaining == pytest.approx(2.0**-19, rel=1e-6)
    pair = zeno.accumulation(times(np.repeat(0.25 ** np.arange(11), 2) * np.tile([1.0, 0.3], 11)))
    assert pair is not None
    assert pair.cycle == 2
    ratios = np.exp(np.random.default_rng(0).normal(-0.8, 0.2, size=30))
    irregular = zeno.accumulation(times(np.cumprod(ratios)))
    assert irregular is not None
    assert irregular.cycle == 0
    assert irregular.uncertainty >= irregular.remaining
    assert zeno.accumulation(times(np.ones(30))) is None
    assert zeno.accumulation(times(1.2 ** np.arange(30))) is None
    assert zeno.accumulation(times(0.5 ** np.arange(8))) is None  # decays, but is not near its end
    assert zeno.pattern([(0,), (1,), (0,), (1,), (0,), (1,)], 1) == 2


def test_what_remains_of_a_random_decay_is_less_than_twice_its_last_four_intervals():
    rng, shares = np.random.default_rng(1), []
    for _ in range(100):
        intervals = 1e-3 * 0.75 ** np.arange(80) * np.exp(rng.normal(0.0, 0.8, size=80))
        for count in range(20, 60):
            found = zeno.accumulation(np.cumsum([0.0, *intervals[:count]]))
            if found is not None:
                break
        assert found is not None
        assert found.remaining < 2.0 * intervals[count - 4 : count].sum()
        assert intervals[count - 4 : count].sum() < intervals[count - 8 : count - 4].sum()
        shares.append(found.remaining / intervals[count:].sum())
    assert 0.5 < np.median(shares) < 2.0


@pytest.mark.parametrize("factor", [1e-3, 1.0, 1e3])
def test_a_foot_that_lifts_slowly_among_slow_motions_is_not_at_rest(factor):
    """The trailing foot lifts at 6 nm/s, a fifth of the whole speed, and slips: no force acts there."""
    gait = routh.systems.get("compass-gait")
    Jn, Jt = gait.model.jacobians(gait.state.q)
    feet = np.stack([Jn[0], Jt[0, 0], Jn[1], Jt[1, 0]])
    v = factor * np.linalg.solve(feet, [0.0, 0.0, 6e-9, 1.8e-8])

    def drawn(problem, rng=None, *, without_collision=()):
        """Also where the simulator would take a hop this low for none."""
        return SetValued(method="algorithm1")(problem, rng, without_collision=without_collision)

    motion = routh.simulate(gait.model, routh.State(gait.state.q, v), duration=0.01, law=drawn, seed=2)
    assert motion.ok
    verdict = verify(gait.model, motion)
    assert verdict.ok, str(verdict)
    assert any(event.kind == "impact without collision" for event in motion.events)
    assert np.abs(motion.v[-1]).max() < 1e-15


def test_an_impact_that_leaves_nothing_moving_ends_a_decay_without_a_jump():
    ball = routh.systems.get("bouncing-ball", restitution=0.6, mu=0.0)

    def tiring(problem, rng=None, *, without_collision=()):
        """Newton's rule, without restitution as soon as 10 microseconds of bounces would remain."""
        slow = -float((problem.Jn @ problem.v).min()) < 3.2e-5
        return Newton()(problem.replace(restitution=0.0) if slow else problem, rng)

    motion = routh.simulate(ball.model, ball.state, duration=2.0, law=tiring, sample_dt=0.1)
    assert "zeno" not in [event.kind for event in motion.events]
    assert np.abs(motion.v[-1]).max() == 0.0
    verdict = verify(ball.model, motion)
    assert verdict.ok, str(verdict)


def test_a_decay_that_is_over_after_a_few_impacts():
    ball = routh.systems.get("bouncing-ball", restitution=0.1, mu=0.0)
    motion = routh.simulate(ball.model, ball.state, duration=1.0, law=Newton(), sample_dt=0.1)
    event = next(event for event in motion.events if event.kind == "zeno")
    assert event.data["impacts"] < 9
    exact = math.sqrt(2.0 / 9.81) * 1.1 / 0.9
    assert motion.t[event.index] == pytest.approx(exact, abs=1e-8)
    verdict = verify(ball.model, motion)
    assert verdict.ok, str(verdict)


def test_the_impulses_of_skipped_impacts_balance_momentum_or_the_limit_is_not_taken():
    J = np.array([[[0.0, 1.0], [1.0, 0.0]]])  # one contact on level ground: normal y, tangent x
    guess, mu = np.array([[2.0, 0.0]]), np.array([0.5])
    assert zeno.balanced(guess, np.array([0.0, 2.0]), J, mu, (0,)) is guess
    other = zeno.balanced(guess, np.array([-0.3, 1.0]), J, mu, (0,))
    assert other == pytest.approx(np.array([[1.0, -0.3]]), abs=1e-12)
    assert zeno.balanced(guess, np.array([-0.6, 1.0]), J, mu, (0,)) is None  # outside the cone


def test_accuracy_follows_the_integrator():
    block = routh.systems.get("zeno-block")

    def impact_times(tolerance):
        motion = routh.simulate(
            block.model,
            block.state,
            duration=1.7,
            law=Simultaneous(),
            rtol=tolerance,
            atol=1e-2 * tolerance,
            sample_dt=0.5,
            max_step=0.5,
        )
        return np.array([e.t for e in motion.events if e.kind == "impact"])

    reference = impact_times(1e-13)
    errors = [np.abs(impact_times(tolerance) - reference).max() for tolerance in (1e-5, 1e-8, 1e-11)]
    assert errors[0] < 1e-4
    assert errors[1] < 1e-7
    assert errors[2] < 1e-10
    assert errors[0] > errors[2]


class Thrown(Course):
    """A point thrown up from the ground, whose gap begins a rounding error off zero."""

    def __init__(self, begins, speed=3e-4):
        self.begins, self.speed, self._short = begins, speed, None
        self.motion = SimpleNamespace(free=(0,), slides=np.zeros(0, dtype=bool), kinds=())

    def _gap(self, j, t):
        rounding = self.begins if t == 0.0 else -abs(self.begins)
        return rounding + self.speed * t - 4.905 * t * t if t > 1e-12 else rounding

    def _rate(self, j, t):
        return self.speed - 9.81 * t

    def looks(self, times):
        seen = [[what(0, t)] for what in (self._gap, self._rate) for t in times]
        return Look(*np.reshape(seen, (2, len(times), 1)), np.empty((len(times), 0)))

    def first_event(self, until, leaving):
        """The first one between 0 and a time."""
        self.nodes = lambda: [0.0, until]
        return _first_event(self, 1e-9, leaving)


def test_an_impact_begins_with_the_velocity_that_is_recorded():
    """A mode that ends at once leaves a trace in the velocity, which no impulse of the impact explains."""
    model, state = falling_block(height=0.0)
    asked = {"rtol": 1e-9, "atol": 1e-10, "max_step": 1e-3, "gap": 1e-9, "end": 1e-3, "sample_dt": 1e-3}
    rest = {"max_events": 10, "law": Simultaneous(), "rng": np.random.default_rng(0)}
    start = routh.State(state.q, [0.3, -0.1, 0.0])
    run = Run(Mechanism(model), start, RunSettings(simultaneity=Simultaneity(), **asked, **rest))
    run.v = run.v + np.array([1e-7, 0.0, 0.0])
    run._advance()
    motion = run.record.trajectory()
    assert [event.kind for event in motion.events] == ["impact"]
    verdict = verify(model, motion)
    assert verdict.ok, str(verdict)


@pytest.mark.parametrize("begins", [0.0, 7e-18, -7e-18])
@pytest.mark.parametrize("leaving", [set(), {0}])
def test_rounding_where_a_flight_begins_does_not_end_it(begins, leaving):
    """It did where a gap began a little above zero: elastic cubes stopped in one of ten simulations."""
    when, kind, contacts = Thrown(begins).first_event(1e-3, leaving)
    assert (kind, contacts) == ("close", (0,))
    assert when == pytest.approx(3e-4 / 4.905, rel=1e-9)


def test_a_hop_of_a_few_picometres_ends_where_it_began():
    """It ended 10 pm below the ground, with more speed than it had: feet threw each other up for ever."""
    course = Thrown(0.0, speed=1e-6)
    assert -1e-11 < course.looks([1e-6]).gap[0, 0] < 0.0
    assert course.first_event(1e-7, {0}) is None
    when, kind, contacts = course.first_event(1e-6, {0})
    assert (kind, contacts) == ("close", (0,))
    assert when == pytest.approx(1e-6 / 4.905, rel=1e-6)
    assert course.first_event(1e-6, set()) is None  # at rest, it sank by rounding
