"""The sampling loop: the reference's samples, equal bits, statuses."""

import numpy as np
import pytest

from problems import FAMILIES, family_problem
from routh.base.rng import uniforms
from routh.base.status import Status
from routh.compiling import interpreted
from routh.kernels.algorithm1.sampling import run
from routh.kernels.common.arrays import EXTREME
from routh.kernels.common.random import draw_bounds
from routh.kernels.common.record import make_record
from routh.kernels.plane import rates, roles
from routh.kernels.plane.record import write_rates
from routh.kernels.plane.sample import workspace
from routh.laws.set_valued import accumulate
from routh.problem.friction import facet_directions
from routh.step import PolyhedralStep
from routh.systems import get

SYSTEMS = ["rocking-block", "compass-gait", "box-wall", "ramone", "disk-stack"]


def arguments(problem, step, **changes):
    settings = {
        "step": np.broadcast_to(step, problem.nc).copy(),
        "max_steps": 30,
        "seed": 7,
        "directions": facet_directions(problem.nt),
        "threads": 1,
    }
    return settings | changes


def reference(problem, step, sample, seed=7, max_steps=30):
    def lambda_max(k):
        return step * uniforms(seed, np.array([sample]), k, problem.nc)[0]

    return accumulate(problem, PolyhedralStep(problem), lambda_max, max_steps)


@pytest.mark.parametrize("name", SYSTEMS)
def test_samples_of_the_papers_systems_equal_the_reference(name):
    system = get(name)
    problem, step = system.problem, system.paper.step
    v, impulse, steps, status, residual = run(problem, 4, **arguments(problem, step))
    for i in range(4):
        expected = reference(problem, np.full(problem.nc, step), i)
        assert status[i] == expected.status
        assert steps[i] == len(expected.path.impulse)
        np.testing.assert_allclose(v[i], expected.v, atol=1e-8 * np.abs(problem.v).max())
        np.testing.assert_allclose(problem.apply(impulse[i]), v[i], atol=1e-12)
    assert residual.max() < 1e-9


@pytest.mark.parametrize("family", FAMILIES)
def test_random_problems_equal_the_reference(family):
    problem, bound = family_problem(family, 3)
    v, _, steps, status, residual = run(problem, 2, **arguments(problem, bound))
    for i in range(2):
        expected = reference(problem, bound, i)
        assert status[i] == expected.status
        assert steps[i] == len(expected.path.impulse)
        huge = problem.mu.max() > 1e3
        assert problem.kinetic_energy(v[i] - expected.v) < (1e-10 if huge else 1e-14) * problem.speed**2
        assert residual[i] < (1e-7 if huge else 1e-9)


@pytest.mark.parametrize("nc", [1, 2, 5])
def test_the_generator_draws_the_reference_numbers(nc):
    key = (np.uint32(123), np.uint32(45), np.uint32(0))
    bound = np.empty(nc)
    for sample in (0, 5, 2**40):
        for step in (0, 9):
            draw_bounds(nc, key, sample, step, np.ones(nc), bound)
            expected = uniforms(123 + (45 << 32), np.array([sample]), step, nc)[0]
            assert bound.tobytes() == expected.tobytes()


def test_equal_bits_for_any_threads_and_however_many_are_drawn():
    system = get("disk-stack")
    settings = arguments(system.problem, system.paper.step)
    one = run(system.problem, 9000, **settings)
    for threads in (2, 4):
        other = run(system.problem, 9000, **settings | {"threads": threads})
        assert all(a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))
    for n in (1, 700, 4096):
        fewer = run(system.problem, n, **settings)
        assert all(a.tobytes() == b[:n].tobytes() for a, b in zip(fewer, one, strict=True))


def test_points_come_from_the_table_while_it_lasts():
    problem = get("rocking-block").problem
    numbers = np.stack([uniforms(7, np.arange(6), step, 2) for step in range(2)], axis=1)
    settings = arguments(problem, 0.3)
    given = run(problem, 6, points=numbers.reshape(6, 4), **settings)
    drawn = run(problem, 6, **settings)
    assert given[0].tobytes() == drawn[0].tobytes()
    other = run(problem, 6, points=1.0 - numbers.reshape(6, 4), **settings)
    assert np.abs(other[0] - drawn[0]).max() > 1e-3


def test_statuses():
    problem = get("rocking-block").problem
    away = problem.replace(v=-problem.v)
    v, impulse, steps, status, residual = run(away, 3, **arguments(away, 0.3))
    assert (status == Status.NO_IMPACT).all()
    assert (steps == 0).all()
    assert (v == away.v).all()
    assert not impulse.any()
    assert not residual.any()
    _, _, steps, status, _ = run(problem, 50, **arguments(problem, 0.01, max_steps=2))
    assert (status == Status.MAX_STEPS).all()
    assert (steps == 2).all()


def test_scaling_the_velocity_scales_the_outcome_exactly():
    problem = get("box-wall").problem
    half = problem.replace(v=0.5 * problem.v)
    whole = run(problem, 50, **arguments(problem, 2.0))
    small = run(half, 50, **arguments(half, 1.0))
    assert (0.5 * whole[0]).tobytes() == small[0].tobytes()
    assert whole[2].tobytes() == small[2].tobytes()


def two_contacts(*, now=(-1.0, 0.0, -1.0, 0.0), role=rates.NONE):
    """Scratch of events in the plane with both contacts in one state."""
    work = workspace(2, samples=10**6)  # so many that patterns are kept
    work.now[:], work.role[:2], work.order[:2] = now, role, (0, 1)
    return work


def test_a_pattern_that_was_never_kept_is_nowhere():
    work = two_contacts(role=rates.DRIVEN)
    with np.errstate(over="ignore"):  # names are mixed by multiplying
        find, name = interpreted(roles.find_slot), interpreted(roles.pattern_name)(work, 2)
        slot = interpreted(roles.slot_of)(name)
        assert find(work, work.known, 2, np.uint64(1)) == roles.NOWHERE
        work.names[slot] = name
        assert find(work, work.known, 2, np.uint64(1)) == slot


@pytest.mark.parametrize("key", range(8))
def test_contacts_that_go_together_are_not_driven_alone(key):
    """Whatever the samples' rates are: extreme ones are those of one contact at a time."""
    work, choose = two_contacts(), interpreted(roles.choose_roles)
    with np.errstate(over="ignore"):  # keys are mixed by multiplying
        assert choose(work, 2, EXTREME, None, np.uint64(key), roles.TOGETHER) == -1
    assert work.role[:2].tolist() == [rates.DRIVEN] * 2


def test_contacts_of_another_kind_leave_the_first_that_breaks_a_law_decided():
    """Two held contacts that separate: of one kind it is open which is the first, of two the last kind is."""
    for kinds, decided in (((0, 1), True), ((0, 0), False)):
        work = two_contacts(role=rates.HELD)
        work.kind[:2], work.known[0, [4, 6]] = kinds, 1.0
        assert interpreted(rates.mend)(work, 2, 0, False) == (False, not decided)
        assert work.role[:2].tolist() == [rates.HELD, rates.NONE if decided else rates.HELD]


@pytest.mark.parametrize("slip", [-1.0, 1.0])
def test_a_frictionless_contact_is_written_down_with_the_way_it_slides(slip):
    work, record = two_contacts(now=(0.0, 0.0, 0.0, slip)), make_record(1, 2, 2)
    work.known[0, 4 * 2 + rates.CODES + np.arange(2)] = rates.DRIVEN * rates.SLIPS + 1
    interpreted(write_rates)(record, 0, work, 2, 0, 0)
    assert record.role[0].tolist() == [rates.DRIVEN] * 2
    assert record.face[0, 1] == (0 if slip > 0.0 else 1)
