"""Sampling by events in space: the reference for given rates, one contact, exact sets, invariances."""

import numpy as np
import pytest
from from_the_front import FromTheFront

import routh
from feature_marks import needs
from problems import FAMILIES, cone_violation, family_problem, hard_elastic_problem, problem_of_size
from routh.base import features
from routh.base.results import ImpactPath
from routh.base.status import Status
from routh.compiling import interpreted
from routh.exact.rational import friction_directions
from routh.kernels.common.arrays import make_draw, make_outputs, make_rows
from routh.kernels.common.record import ENTRIES, make_record
from routh.kernels.events import EventSampler
from routh.kernels.space import curve_events
from routh.kernels.space.implicit import farthest_event
from routh.kernels.space.newton import on_rim
from routh.kernels.space.pieces import advance_stage
from routh.kernels.space.record import write_stage
from routh.kernels.space.sample import begin, load_row, run_range
from routh.kernels.space.workspace import (
    DRAWS,
    DRIVEN,
    GO_ON,
    NO_RATES,
    RATES,
    REDRAWS,
    SHARE,
    SpaceWork,
    workspace,
)
from routh.problem.friction import facet_directions
from routh.sampling.settings import ByEvents
from spatial_flow import SpatialFlow
from spatial_path import spatial_path_residual

CONE = None
SPATIAL = [name for name in FAMILIES if name.startswith("spatial")]


def samples(problems, n, *, dirs=CONE, poisson=False, seed=0, row=0, threads=1, tolerance=1e-6):
    rows = make_rows(problems)
    drawn = make_draw(n, seed=seed, row=row, rates=0, persistence=0.6, poisson=poisson, tolerance=tolerance)
    out = make_outputs(rows, n, elastic=bool(np.any(rows.contact[:, 1] > 0.0)))
    EventSampler(rows, drawn, out, dirs).run(threads=threads)
    return out


def distance(problem, v, w):
    return np.sqrt(2.0 * problem.kinetic_energy(v - w)) / problem.speed


@pytest.mark.parametrize("facets", [None, 4, 8])
@pytest.mark.parametrize("seed", range(4))
def test_a_stage_follows_the_reference(facets, seed):
    """Same rates, same length: polygons to rounding, the cone to its tolerance and the reference's."""
    rng = np.random.default_rng(seed)
    nc = 2 + seed % 2
    problem = problem_of_size(rng, nc, 2, rng.choice([0.3, 0.8], nc))
    rows, work = make_rows([problem]), workspace(nc)
    interpreted(load_row)(rows, 0, work)
    interpreted(begin)(work, nc)
    weights = rng.dirichlet(np.ones(nc))
    work.weight[:nc], work.role[:nc] = weights, DRIVEN
    work.now[::3] -= 1.0  # far from their end, so that nothing stops approaching
    begun = work.now.copy()
    dirs = None if facets is None else facet_directions(2, facets)
    work.course[SHARE], state = 0.4, RATES
    while state != DRAWS:
        state = interpreted(advance_stage)(work, nc, dirs, None, None, 1e-6, state)
        assert state not in (REDRAWS, NO_RATES)
    moved, total = work.now, work.total
    length = total[0] / weights[0]
    assert length > 0.0
    flow = SpatialFlow.of(problem, facets=facets)
    c, impulse = flow.follow(begun, weights, length, steps=24)
    assert np.abs(total - impulse.ravel()).max() < (1e-10 if facets else 2e-5)
    assert np.abs(moved - c).max() < (1e-10 if facets else 2e-5)


@pytest.mark.parametrize("facets", [None, 4])
@pytest.mark.parametrize("elastic", [False, True])
def test_no_index_is_negative(facets, elastic):
    """The GPU's code is written without what a negative index would need."""
    rng = np.random.default_rng(6)
    problems = [hard_elastic_problem(rng) for _ in range(12)] if elastic else []
    problems += [family_problem(name, seed)[0] for name in SPATIAL for seed in range(2)]
    dirs = None if facets is None else facet_directions(2, facets)
    for problem in [p for p in problems if p.nt == 2]:
        rows = make_rows([problem])
        drawn = make_draw(2, seed=3, row=0, rates=0, persistence=0.6, poisson=False, tolerance=1e-6)
        out = make_outputs(rows, 2, elastic=elastic)
        EventSampler(rows, drawn, out, dirs).run(threads=1)
        seen = make_outputs(rows, 2, elastic=elastic)
        work = SpaceWork(*(array.view(FromTheFront) for array in workspace(problem.nc)))
        watched = [type(group)(*(a.view(FromTheFront) for a in group)) for group in (rows, seen)]
        with np.errstate(all="ignore"):
            interpreted(run_range)(
                watched[0], drawn, watched[1], work, dirs, 0 if elastic else None, None, 0, 2
            )
        np.testing.assert_array_equal(seen.status, out.status)


@pytest.mark.parametrize(
    ("box", "seed", "number"), [({}, 101, 16211), ({"mu": 1.2, "size": (0.5, 0.2, 0.3)}, 100, 62622)]
)
def test_corners_that_squeeze_each_other_stay_inside_their_cones(box, seed, number):
    """One sample in a million: sticking corners of a flat box, friction found up to 1e-9 outside its cone."""
    rows = make_rows([routh.systems.impact("box-drop", **box)])
    drawn = ByEvents(seed=seed, persistence=0.6).draws(2**16)
    out = make_outputs(rows, 1, elastic=False)
    run_range(rows, drawn, out, workspace(4), None, None, None, number, number + 1)
    assert out.status[0, 0] == Status.SOLVED


@needs("two_body")
@pytest.mark.parametrize(("e", "hypothesis"), [(0.0, "energetic"), (0.6, "energetic"), (0.6, "poisson")])
def test_one_contact_has_the_outcome_of_two_body(e, hypothesis):
    rng = np.random.default_rng(5)
    problems = [
        problem_of_size(rng, 1, 2, rng.choice([0.0, 0.1, 0.5, 1.0, 3.0]), nv=6).replace(restitution=e)
        for _ in range(60)
    ]
    out = samples(problems, 2, poisson=hypothesis == "poisson")
    assert np.all(out.status == Status.SOLVED)
    assert np.all(out.error <= 5e-6)
    for problem, found in zip(problems, out.v, strict=True):
        order = [1, 2, 0]
        c = problem.contact_velocity()[0]
        exact = features.feature("two_body").impact(
            problem.delassus[np.ix_(order, order)], c[order], float(problem.mu[0]), e, hypothesis=hypothesis
        )
        assert distance(problem, found, problem.apply(exact.impulse[[2, 0, 1]][None])).max() < 1e-6


def test_the_error_that_is_reported_bounds_the_distance_to_the_solution():
    """One contact has one path, so that a run at another tolerance follows the same one."""
    rng = np.random.default_rng(11)
    problems = [problem_of_size(rng, 1, 2, rng.choice([0.1, 0.5, 1.0, 3.0]), nv=6) for _ in range(100)]
    rough, fine = samples(problems, 1, tolerance=1e-4), samples(problems, 1, tolerance=1e-10)
    assert fine.error.max() < 1e-9
    assert rough.error.max() > 1e-7
    for row, problem in enumerate(problems):
        far = distance(problem, rough.v[row, 0], fine.v[row, 0])
        assert far <= rough.error[row, 0] + fine.error[row, 0] + 1e-12


@needs("two_body")
def test_friction_that_no_longer_turns_moves_a_slip_aside_all_the_way():
    # closes slowly beside its direction: straight on was 1.8e-6 of the speed off and said 5e-7
    G = np.array(
        [
            [0.36979813, 0.23489167, 0.29064437],
            [0.23489167, 0.21732711, 0.10910452],
            [0.29064437, 0.10910452, 0.41287477],
        ]
    )
    c = np.array([-1.51430218, -0.28607767, -1.05240076])
    problem = routh.ImpactProblem(np.linalg.inv(G), [[1.0, 0, 0]], [[[0, 1.0, 0], [0, 0, 1.0]]], 1.0, c)
    order = [1, 2, 0]
    exact = features.feature("two_body").impact(G[np.ix_(order, order)], c[order], 1.0, 0.0)
    outcomes = routh.sample(problem, 64, friction="cone")
    gap = outcomes.v - problem.apply(exact.impulse[[2, 0, 1]][None])
    apart = np.sqrt(2.0 * problem.kinetic_energy(gap)) / problem.speed
    assert outcomes.error is not None
    assert np.all(apart <= outcomes.error)
    assert apart.max() < 1e-6


def test_what_hits_for_ever_ends():
    """Contacts that come to rest only together, by hits ever slower: a sweep over them did not end."""
    bodies = [problem_of_size(np.random.default_rng([seed, 5]), 8, 2, 0.5, nv=6) for seed in range(12)]
    out = samples(bodies, 4)
    assert np.mean(out.status == Status.SOLVED) > 0.95
    assert np.all(np.isin(out.status, (Status.SOLVED, Status.MAX_STEPS)))


@pytest.mark.parametrize("facets", [4, 8])
@pytest.mark.parametrize("nc", [1, 2])
def test_samples_with_a_polygon_lie_in_the_exact_set(facets, nc):
    pytest.importorskip("ppl")
    dirs = np.array([[float(x) for x in d] for d in friction_directions(2, facets)])
    rng, solved = np.random.default_rng(nc), 0
    for _ in range(6):
        problem = problem_of_size(rng, nc, 2, rng.choice([0.2, 0.5, 1.0], nc), nv=3 * nc)
        exact = routh.exact_set(problem, friction="polyhedral", facets=facets)
        if exact.status is Status.SOLVED and solved < 3:
            solved += 1
            out = samples([exact.problem], 300, dirs=dirs)
            assert np.all(out.status == Status.SOLVED)
            assert np.all(exact.contains(out.v[0], tolerance=1e-9))
    assert solved == 3


@pytest.mark.parametrize("dirs", [CONE, facet_directions(2, 8)], ids=["cone", "octagon"])
@pytest.mark.parametrize("family", SPATIAL)
def test_every_solved_sample_obeys_the_model(family, dirs):
    problems = [family_problem(family, seed)[0] for seed in range(8)]
    for problem in problems:
        out = samples([problem], 20, dirs=dirs)
        v, impulse, solved = out.v[0], out.impulse[0], out.status[0] == Status.SOLVED
        unit = problem.scaling
        assert np.all(np.isin(out.status, (Status.SOLVED, Status.MAX_STEPS)))
        assert np.allclose(v, problem.apply(impulse), atol=1e-9 * problem.speed)
        assert np.all(problem.kinetic_energy(v) <= problem.kinetic_energy() * (1.0 + 1e-6))
        # friction of a curve may leave the cone by the local error that is reported
        slack = (1e-9 + 10.0 * out.error[0][:, None]) * unit.impulse * np.maximum(problem.mu, 1.0)
        assert np.all(cone_violation(impulse, problem.mu) <= slack)
        assert np.all(v[solved] @ problem.Jn.T >= -1e-8 * unit.velocity)
        assert np.all(out.residual[0][solved] < 1e-6)
    if family not in ("spatial-3-rough", "spatial-one-body"):  # cones that may jam
        assert np.all(out.status == Status.SOLVED)


@pytest.mark.parametrize("dirs", [CONE, facet_directions(2, 8)], ids=["cone", "octagon"])
def test_scaling_the_velocity_scales_the_outcomes(dirs):
    problem = problem_of_size(np.random.default_rng(3), 3, 2, 0.5)
    once = samples([problem], 20, dirs=dirs)
    twice = samples([problem.replace(v=1024.0 * problem.v)], 20, dirs=dirs)
    assert np.array_equal(1024.0 * once.v, twice.v)


def test_turned_tangents_change_nothing_with_the_cone():
    rng = np.random.default_rng(4)
    problem = problem_of_size(rng, 2, 2, 0.5)
    angles = rng.uniform(0.0, 2.0 * np.pi, 2)
    turns = np.array([[[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]] for a in angles])
    turned = problem.replace(Jt=np.einsum("iab,ibv->iav", turns, problem.Jt))
    one, other = samples([problem], 20), samples([turned], 20)
    assert distance(problem, one.v[0], other.v[0]).max() < 1e-5


def test_a_row_of_a_batch_is_the_row_alone_and_threads_do_not_matter():
    problems = [problem_of_size(np.random.default_rng(seed), 1 + seed, 2, 0.5, nv=7) for seed in range(3)]
    together = samples(problems, 40, threads=2)
    for row, problem in enumerate(problems):
        alone = samples([problem], 40, row=row)
        assert np.array_equal(alone.v[0], together.v[row])
        assert np.array_equal(alone.impulse[0], together.impulse[row, :, : problem.nc])


@pytest.mark.parametrize("dirs", [CONE, facet_directions(2, 4)], ids=["cone", "square"])
@pytest.mark.parametrize("mu", [0.0, 1e5])
def test_friction_without_end_and_none(mu, dirs):
    for seed in range(6):
        problem = problem_of_size(np.random.default_rng(seed), 2, 2, mu, nv=9)
        out = samples([problem], 10, dirs=dirs)
        assert np.all(out.status == Status.SOLVED)
        assert np.all(out.residual < 1e-6)
        if mu == 0.0:
            assert np.all(out.impulse[..., 1:] == 0.0)


@pytest.mark.parametrize("poisson", [False, True])
def test_restitution_returns_its_share_at_every_contact(poisson):
    for seed in range(6):
        problem = problem_of_size(np.random.default_rng(seed), 2, 2, 0.4).replace(restitution=[0.8, 0.5])
        out = samples([problem], 20, poisson=poisson)
        ended = out.status[0] == Status.SOLVED
        assert ended.mean() > 0.9
        stored, returned = out.work[0, ended, 0], out.work[0, ended, 1]
        lost = (problem.kinetic_energy() - problem.kinetic_energy(out.v[0, ended])) / problem.speed**2
        # what friction takes is the rest: never less than nothing
        assert np.all(lost >= (stored - returned).sum(axis=1) - 1e-5)
        if not poisson:
            assert np.allclose(returned, problem.restitution**2 * stored, atol=1e-5)


def test_without_friction_and_loss_energy_is_kept():
    for seed in range(6):
        problem = problem_of_size(np.random.default_rng(seed), 3, 2, 0.0).replace(restitution=1.0)
        out = samples([problem], 20)
        assert np.all(out.status == Status.SOLVED)
        assert np.allclose(problem.kinetic_energy(out.v), problem.kinetic_energy(), rtol=1e-9)


def test_nothing_approaches():
    problem = problem_of_size(np.random.default_rng(0), 2, 2, 0.5)
    for v in (np.zeros(problem.nv), np.linalg.lstsq(problem.Jn, np.ones(2), rcond=None)[0]):
        out = samples([problem.replace(v=v)], 3)
        assert np.all(out.status == Status.NO_IMPACT)
        assert np.all(out.v == v)


def test_a_contact_at_rest_may_be_pushed_held_or_left():
    """One contact hits while another touches at rest: outcomes differ in whether it stays."""
    rng = np.random.default_rng(7)
    problem = problem_of_size(rng, 2, 2, 0.5)
    at_rest = problem.v - np.linalg.lstsq(problem.Jn[1:], problem.Jn[1:] @ problem.v, rcond=None)[0]
    out = samples([problem.replace(v=at_rest if problem.Jn[0] @ at_rest < 0.0 else -at_rest)], 100)
    assert np.all(out.status == Status.SOLVED)


def test_the_front_door_draws_by_this_kernel():
    problem = problem_of_size(np.random.default_rng(9), 2, 2, 0.5)
    for friction, dirs in (("cone", CONE), ("polyhedral", facet_directions(2, 8))):
        found = routh.sample(problem, 30, friction=friction)
        assert np.array_equal(found.v, samples([problem], 30, dirs=dirs).v[0])
        assert (found.error is None) == (friction == "polyhedral")
    assert np.all((found := routh.sample(problem, 30, friction="cone")).error <= 1e-5)
    assert np.all(found.terminated)


@pytest.mark.parametrize("rates", ["uniform", "extreme"])
def test_other_rates_give_members_too(rates):
    problem = problem_of_size(np.random.default_rng(9), 3, 2, 0.5)
    problem = problem.replace(v=np.linalg.lstsq(problem.Jn, -np.ones(3), rcond=None)[0])
    mixed = routh.sample(problem, 50, friction="cone")
    found = routh.sample(problem, 50, friction="cone", rates=rates)
    assert found.terminated.all()
    assert not np.array_equal(found.v, mixed.v)


@pytest.mark.parametrize("friction", ["cone", "polyhedral"])
@pytest.mark.parametrize("e", [0.0, 0.6])
def test_paths_are_solutions_piece_by_piece(friction, e):
    for seed in range(3):
        problem = problem_of_size(np.random.default_rng(seed), 3, 2, 0.5).replace(restitution=e)
        found = routh.sample(problem, 6, friction=friction, seed=seed)
        for sample in range(6):
            path = found.path(sample)
            assert path.kind == ("curved" if friction == "cone" else "straight")
            assert distance(problem, path.v[-1], found.v[sample]) <= 1e-12
            facets = 8 if friction == "polyhedral" else None
            residual = spatial_path_residual(problem, path, facets=facets)
            assert residual <= (1e-9 if facets else 1e-6)
            # and the check sees what is wrong
            turned = path.impulse.copy()
            turned[np.abs(turned[..., 1:]).sum(axis=(1, 2)).argmax(), :, 1:] *= -1.0
            changed = ImpactPath(problem.apply(cumulated(turned)), turned, path.kind)
            assert spatial_path_residual(problem, changed, facets=facets) > 1e-4


def cumulated(steps):
    return np.concatenate([np.zeros_like(steps[:1]), np.cumsum(steps, axis=0)])


def always_the_same(uniforms, approaching, out):
    for i in range(len(out)):
        out[i] = 1.0 if approaching[i] else 0.0


def nonsense(uniforms, approaching, out):
    for i in range(len(out)):
        out[i] = np.nan if uniforms[i] < 0.5 else -1.0


@pytest.mark.parametrize("friction", ["cone", "polyhedral"])
def test_own_rates_are_those_that_are_used(friction):
    """Equal rates that stay until something happens leave nothing to chance."""
    problem = problem_of_size(np.random.default_rng(9), 3, 2, 0.5)
    problem = problem.replace(v=np.linalg.lstsq(problem.Jn, -np.ones(3), rcond=None)[0])
    found = routh.sample(problem, 20, friction=friction, rates=always_the_same, persistence=1.0)
    assert found.terminated.all()
    assert np.all(found.v == found.v[0])
    assert len(np.unique(routh.sample(problem, 20, friction=friction).v, axis=0)) > 1
    other = routh.sample(problem, 20, friction=friction, rates=nonsense)
    assert other.terminated.all()  # who gets no rate that is one, is left alone


def test_what_the_kernel_cannot_do_raises():
    problem = problem_of_size(np.random.default_rng(9), 2, 2, 0.5)
    with pytest.raises(ValueError, match="kernel <lambda>: has no name"):
        routh.sample(problem, 3, friction="cone", rates=lambda uniforms, near, out: None)


@pytest.mark.parametrize("seed", [2716, 3378, 6705, 7464, 22637])
def test_contacts_that_jam_return_no_more_than_their_share_or_say_that_rounding_decides(seed):
    problem = hard_elastic_problem(np.random.default_rng([1, seed]))
    found = routh.sample(problem, 4, seed=seed)
    for k in np.flatnonzero(found.status == routh.Status.SOLVED):
        before = problem.kinetic_energy()
        stored, returned = found.stored[k], found.returned[k]
        assert np.all(returned - problem.restitution**2 * stored <= 1e-6 * before)
        assert found.kinetic_energy[k] - before <= np.sum(returned - stored) + 1e-6 * before


@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize("facets", [None, 8])
def test_a_sample_reads_nothing_that_it_has_not_written(facets, restitution):
    """On a GPU scratch holds anything at first."""
    problem = routh.systems.impact("box-drop", velocity=(0.3, 0.1, 0.0)).replace(restitution=restitution)
    dirs = CONE if facets is None else facet_directions(2, facets)
    n, nc, rows = 8, problem.nc, make_rows([problem])
    drawn = make_draw(n, seed=1, row=0, rates=0, persistence=0.6, poisson=False, tolerance=1e-6)
    clean, spoiled = (make_outputs(rows, n, elastic=restitution > 0.0) for _ in range(2))
    for sample in range(n):
        for out in (clean, spoiled):
            work = workspace(nc)
            for array in work if out is spoiled else ():
                array[:] = -1 if array.dtype == np.int64 else np.nan  # of flags: True
            books = None if restitution == 0.0 else 0
            run_range(rows, drawn, out, work, dirs, books, None, sample, sample + 1)
    assert np.all(clean.status == Status.SOLVED)
    for one, other in zip(clean, spoiled, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("facets", [4, 8])
def test_the_nearest_point_of_a_friction_polygons_rim(facets):
    """It is on it, and none of ten thousand points of it is nearer."""
    corners, radius = facet_directions(2, facets), 1.5
    share = np.linspace(0.0, 1.0, 10000 // facets)[:, None, None]
    rim = -radius * ((1.0 - share) * corners + share * np.roll(corners, -1, axis=0)).reshape(-1, 2)
    for z in np.random.default_rng(0).normal(size=(50, 2)):
        p0, p1, *_ = interpreted(on_rim)(corners, *z, radius, -1)
        assert np.hypot(p0 - z[0], p1 - z[1]) <= np.hypot(*(rim - z).T).min() + 1e-12
        assert np.hypot(*(rim - [p0, p1]).T).min() < 1e-3


def test_who_cut_a_stage_is_written_down_where_it_began():
    """The contact whose normal velocity would vanish first; nothing of a stage without an entry."""
    record = make_record(2, 2, 3)
    record.c[0], record.change[0] = [-1.0, 0, 0, -3.0, 0, 0], [2.0, 0, 0, 2.0, 0, 0]
    record.setter[:] = 7
    for entries, first in ((0, 0), (3, 2)):  # none yet, and one more than there is room
        record.total[ENTRIES] = entries
        interpreted(write_stage)(record, 2, 0.3, first)
        assert record.setter.tolist() == [7, 7]
    record.total[ENTRIES] = 1
    interpreted(write_stage)(record, 2, 0.3, 0)
    assert (record.setter[0], record.set_share[0]) == (0, 0.3)


def test_how_far_a_budget_was_from_its_end_is_kept():
    """Of 0.5 N s to return 0.2 are spent: where the next look has passed it, a line from here tells where."""
    work = workspace(1)
    work.now[0], work.budget[0], work.role[0], work.pushed[0] = 1.0, 0.5, DRIVEN, 0.2
    for keep, wanted in ((False, 0.0), (True, -0.3)):
        interpreted(farthest_event)(work, 1, 1, 1, 1.0, keep)
        assert work.earlier[1] == pytest.approx(wanted)


@pytest.mark.parametrize(("slows", "looks"), [(False, [0.5, 1.0, 0.25, 1.0]), (True, [1.0])])
def test_a_step_is_searched_once_for_a_contact_that_turned_and_came_back(slows, looks):
    """Amid the step, at its end, where it may have turned, at the end again; one that only slows has not."""
    seen, peaks = [], iter([0.25, 0.75, 0.0])
    instead = (
        (curve_events.look, lambda work, nc, m, books, at: (seen.append(at), (-1.0, GO_ON, -1))[1]),
        (curve_events.turning_point, lambda work, nc: next(peaks)),
        (curve_events.only_slows, lambda work, i: slows),
    )
    found = interpreted(curve_events.first_event, instead)(workspace(1), 1, 1, None, 1.0, True)
    assert found == (1.0, GO_ON, -1)
    assert seen == looks
