"""The score, the intervals and the tossed box, each against something simpler."""

import numpy as np
import pytest

from routh.identification import MeasuredImpacts, TossedBox, TossedModel, identify
from routh.identification.fit import Fit, ScoreObjective, curvatures_along, intervals
from routh.identification.impacts import Bounds
from routh.identification.scores import Errors, Scale, assess, energy_scores, score_slopes
from routh.models.base import State
from routh.models.rotations import exponential, rotation_matrices
from routh.models.spatial import PlaneContact, SpatialModel, box, corners
from routh.sampling import sample


def test_the_score_is_the_mean_over_all_pairs():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(3, 7, 4))
    for cloud, found in zip(points, energy_scores(points), strict=True):
        pairs = [np.linalg.norm(cloud[i] - cloud[j]) for i in range(7) for j in range(7) if i != j]
        wanted = np.mean(np.linalg.norm(cloud, axis=1)) - 0.5 * np.mean(pairs)
        assert found == pytest.approx(wanted, rel=1e-12)


def test_slopes_of_the_score():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(2, 5, 3))
    slopes = score_slopes(points)
    for place in np.ndindex(points.shape):
        more, less = points.copy(), points.copy()
        more[place] += 1e-6
        less[place] -= 1e-6
        wanted = (energy_scores(more) - energy_scores(less))[place[0]] / 2e-6
        assert slopes[place] == pytest.approx(wanted, abs=1e-8)


def test_points_that_coincide_have_slope_zero_between_them():
    points = np.tile([1.0, 2.0, 2.0], (1, 6, 1))
    np.testing.assert_allclose(score_slopes(points), np.tile([1 / 18, 2 / 18, 2 / 18], (1, 6, 1)))
    assert np.all(score_slopes(np.zeros((1, 4, 3))) == 0.0)


def test_an_inflated_set_comes_nearer_and_scores_worse():
    rng = np.random.default_rng(2)
    truth = rng.normal(size=(400, 1, 3))
    clouds = rng.normal(size=(400, 64, 3))
    fair = assess(clouds - truth)
    narrow, wide = assess(0.5 * clouds - truth), assess(2.0 * clouds - truth)
    assert fair.energy.mean() < narrow.energy.mean()
    assert fair.energy.mean() < wide.energy.mean()
    assert np.median(narrow.nearest) > np.median(fair.nearest)
    assert np.median(wide.spread) == pytest.approx(2 * np.median(fair.spread), rel=1e-9)
    # a round cloud is not nearer than itself turned
    assert np.median(fair.turned) == pytest.approx(np.median(fair.nearest), rel=0.1)


def _mean_fit(x):
    """The mean of numbers as a fit: slopes and curvatures of (shares - x)^2 / 2."""
    at = x.mean(axis=0)
    ones = np.broadcast_to(np.eye(x.shape[1]), (len(x), x.shape[1], x.shape[1]))
    return Fit(at, np.zeros(len(x)), at - x, ones, np.zeros(x.shape[1], bool), np.zeros(x.shape[1]))


OPTIONS = {"draws": 500, "confidence": 0.95, "seed": 0, "share": 0.5}


def test_intervals_of_a_mean_cover_it():
    """Of skewed numbers too, where an interval of quantiles covers too little."""
    rng = np.random.default_rng(3)
    inside = 0
    for _ in range(300):
        x = 0.3 + 0.05 * rng.exponential(size=(25, 1))
        found = intervals(_mean_fit(x), np.arange(25), **OPTIONS)
        inside += int(found.low[0] <= 0.35 <= found.high[0])
    assert inside >= 273  # 91 %; 95 % with a chance of 0.2 % to be below


def test_impacts_of_one_group_count_together():
    rng = np.random.default_rng(4)
    x = 0.5 + 0.05 * rng.normal(size=(40, 1))
    alone = intervals(_mean_fit(x), np.arange(40), **OPTIONS)
    twice = intervals(_mean_fit(np.repeat(x, 2, axis=0)), np.repeat(np.arange(40), 2), **OPTIONS)
    np.testing.assert_allclose([twice.low, twice.high], [alone.low, alone.high], rtol=1e-12)
    naive = intervals(_mean_fit(np.repeat(x, 2, axis=0)), np.arange(80), **OPTIONS)
    assert naive.high - naive.low < 0.8 * (alone.high - alone.low)


def test_flat_directions_are_undetermined():
    rng = np.random.default_rng(5)
    x = 0.5 + 0.02 * rng.normal(size=(50, 1))
    along = np.array([0.6, 0.8, 0.0])
    slopes = (0.5 - x) * along
    curvatures = np.tile(np.outer(along, along), (50, 1, 1))
    fit = Fit(np.full(3, 0.5), np.zeros(50), slopes, curvatures, np.zeros(3, bool), np.zeros(3))
    found = intervals(fit, np.arange(50), **OPTIONS)
    assert not found.determined.any()
    assert len(found.flat) == 2
    np.testing.assert_allclose(found.flat @ along, 0.0, atol=1e-9)
    np.testing.assert_array_equal([found.low, found.high], [np.zeros(3), np.ones(3)])
    nothing = Fit(
        np.full(2, 0.5), np.zeros(9), np.zeros((9, 2)), np.zeros((9, 2, 2)), np.zeros(2, bool), np.zeros(2)
    )
    assert len(intervals(nothing, np.arange(9), **OPTIONS).flat) == 2


SIZE, MASS, INERTIA = np.array([0.1, 0.12, 0.08]), 0.4, np.array([8e-4, 7e-4, 9e-4])


def _tosses(n=5):
    rng = np.random.default_rng(6)
    q = exponential(rng.normal(size=(n, 3)))
    before = np.column_stack([rng.normal(size=(n, 2)), -rng.uniform(0.5, 1.5, n), rng.normal(0, 5, (n, 3))])
    return q, before


@pytest.mark.parametrize("rounding", [0.0, 0.01])
def test_a_tossed_box_is_the_spatial_model(rounding):
    q, before = _tosses()
    toss = TossedBox(SIZE, rotation_matrices(q), before, INERTIA, 0.03, 0.01, {"mass": MASS, "mu": 0.2})
    batch = toss({"rounding": rounding, "restitution": 0.3})
    body = box("box", SIZE, mass=MASS, inertia=INERTIA)
    centres = np.array(corners(SIZE)) * (1 - 2 * rounding / SIZE)
    contacts = [
        PlaneContact(f"{k}", "box", point=tuple(p), radius=rounding, mu=0.2, restitution=0.3)
        for k, p in enumerate(centres)
    ]
    model = SpatialModel([body], contacts)
    sharp = SpatialModel([body], [PlaneContact(f"{k}", "box", point=p) for k, p in enumerate(corners(SIZE))])
    for k in range(len(q)):
        pose = np.concatenate([np.zeros(3), q[k]])
        above = sharp.gaps(pose) - sharp.gaps(pose).min()
        falling = -(sharp.jacobians(pose)[0] @ before[k])
        there = np.flatnonzero((above <= 0.03) | (above <= 0.01 * falling))
        wanted = model.problem(State(pose, before[k]), gap=1.0)
        order = [int(name) for name in wanted.names]
        rows = [order.index(int(i)) for i in there]
        found = batch[k]
        assert found.nc == len(there)
        place = [
            int(np.argmin(np.abs(found.Jn - wanted.Jn[row]).max(axis=1))) for row in rows
        ]  # the corners stand in another order
        assert sorted(place) == list(range(found.nc))
        np.testing.assert_allclose(found.Jn[place], wanted.Jn[rows], atol=1e-14)
        np.testing.assert_allclose(found.M, wanted.M, rtol=1e-14)
        # the tangents may be turned in the plane: what counts is the plane
        for i, row in zip(place, rows, strict=True):
            np.testing.assert_allclose(
                found.Jt[i].T @ found.Jt[i], wanted.Jt[row].T @ wanted.Jt[row], atol=1e-14
            )


def test_a_centre_of_mass_elsewhere_keeps_the_kinetic_energy():
    q, before = _tosses()
    R = rotation_matrices(q)
    centre = np.array([0.003, -0.002, 0.005])
    toss = TossedBox(SIZE, R, before, INERTIA, known={"mass": MASS})
    batch = toss(dict(zip(("centre_x", "centre_y", "centre_z"), centre, strict=True)))
    for k in range(len(q)):
        moving = before[k, :3] + R[k] @ np.cross(before[k, 3:], centre)
        wanted = 0.5 * MASS * moving @ moving + 0.5 * np.sum(INERTIA * before[k, 3:] ** 2)
        assert batch[k].kinetic_energy() == pytest.approx(wanted, rel=1e-12)


def test_unknown_parameters_of_a_box_are_named():
    q, before = _tosses()
    with pytest.raises(ValueError, match=r"got 'radius'; wanted one of 'mu', 'restitution', .*mass"):
        TossedBox(SIZE, rotation_matrices(q), before, INERTIA)({"radius": 0.1})
    with pytest.raises(ValueError, match=r"before: got shape"):
        TossedBox(SIZE, rotation_matrices(q), before[:2], INERTIA)


def test_slopes_of_tossed_boxes_are_those_of_their_scores():
    """In space, with the true cone: one, two and more corners; every parameter of the box."""
    rng = np.random.default_rng(7)
    q = exponential(np.concatenate([rng.normal(size=(2, 3)), 0.05 * rng.normal(size=(3, 3))]))
    before = np.column_stack([rng.normal(size=(5, 2)), -rng.uniform(0.5, 1.5, 5), rng.normal(0, 2, (5, 3))])
    toss = TossedBox(SIZE, rotation_matrices(q), before, INERTIA, 0.008, known={"mass": MASS})
    counts = toss.contacts.sum(axis=1)
    assert counts.min() == 1
    assert counts.max() >= 2
    impacts = MeasuredImpacts(toss, before * np.array([0.9, 0.9, -0.3, 0.5, 0.5, 0.5]))
    ranges = {"mu": (0.1, 0.4), "restitution": (0.1, 0.6), "inertia": (0.7, 1.5), "rounding": (0.0, 0.02)}
    bounds = Bounds.of({**ranges, "mass": (0.3, 0.5), "centre_x": (-0.005, 0.005)})
    batch = impacts.batch(bounds.values(np.full(6, 0.5)))
    errors = Errors(np.zeros(6), (5, 4, 6), 0)
    objective = ScoreObjective(impacts, bounds, Scale.of(batch), errors, 4, {"seed": 0, "tolerance": 1e-10})
    shares = np.array([0.31, 0.42, 0.37, 0.45, 0.4, 0.6])
    _, slopes = objective.slopes(shares)
    for k in range(6):
        less, more = shares.copy(), shares.copy()
        less[k] -= 1e-5
        more[k] += 1e-5
        wanted = (objective.values(more) - objective.values(less)) / 2e-5
        np.testing.assert_allclose(slopes[:, k], wanted, atol=1e-4 * np.abs(slopes).max())
    assert objective.lost == 0


def test_curvatures_are_found_along_any_directions_and_at_the_ends_of_ranges():
    rng = np.random.default_rng(8)
    wanted = rng.normal(size=(3, 4, 4))
    wanted += np.swapaxes(wanted, 1, 2)

    class Quadratic:
        def slopes(self, shares):
            return np.zeros(3), wanted @ shares

    axes = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    at = np.array([0.0, 0.5, 0.99, 0.3])
    found = curvatures_along(Quadratic(), at, axes, np.array([0.1, 0.02, 0.05, 0.01]))
    np.testing.assert_allclose(found, wanted, atol=1e-11)


def _spatial(values):
    """The same box as a model, whose inertia is a factor and whose corners are rounded."""
    rounding = values.get("rounding", 0.0)
    body = box("box", SIZE, mass=MASS, inertia=values.get("inertia", 1.0) * INERTIA)
    centres = np.array(corners(SIZE)) * (1 - 2 * rounding / SIZE)
    return SpatialModel(
        [body],
        [PlaneContact(f"{k}", "box", point=tuple(p), radius=rounding) for k, p in enumerate(centres)],
    )


def test_a_tossed_model_of_a_box_is_the_tossed_box():
    q, before = _tosses()
    values = {"rounding": 0.01, "inertia": 1.3, "restitution": 0.4, "restitution_decay": 0.2, "mu": 0.3}
    poses = np.column_stack([np.zeros((len(q), 3)), q])
    wanted = TossedBox(SIZE, rotation_matrices(q), before, INERTIA, 0.03, 0.01, {"mass": MASS})(values)
    found = TossedModel(_spatial, poses, before, 0.03, 0.01)(values)
    np.testing.assert_array_equal(found.size, wanted.size)
    for k in range(len(q)):
        one, other = found[k], wanted[k]
        place = [int(np.argmin(np.abs(other.Jn - row).max(axis=1))) for row in one.Jn]
        assert sorted(place) == list(range(other.nc))
        np.testing.assert_allclose(one.M, other.M, rtol=1e-12)
        np.testing.assert_allclose(one.Jn, other.Jn[place], atol=1e-14)
        np.testing.assert_allclose(one.restitution, other.restitution[place], rtol=1e-12)
    again = TossedModel(_spatial, poses, before, 0.03, 0.01)({**values, "inertia": 1.0})
    assert not np.allclose(again.M, found.M)


def test_restitution_falls_with_speed_and_friction_depends_on_direction():
    q, before = _tosses()
    toss = TossedBox(SIZE, rotation_matrices(q), before, INERTIA, 0.0, 0.0, {"mass": MASS, "mu": 0.2})
    plain = toss({"restitution": 0.5})
    found = toss({"restitution": 0.5, "restitution_decay": 0.7, "friction_ratio": 1.5})
    for k in range(len(q)):
        approach = -float(plain[k].Jn[0] @ before[k])
        assert found[k].restitution[0] == pytest.approx(0.5 * np.exp(-0.7 * max(approach, 0.0)))
        np.testing.assert_allclose(found[k].Jt[:, 0], plain[k].Jt[:, 0])
        np.testing.assert_allclose(found[k].Jt[:, 1], 1.5 * plain[k].Jt[:, 1])


def test_a_joint_rubs_until_it_stands():
    q, before = _tosses()
    poses = np.column_stack([np.zeros((len(q), 3)), q])
    rubbing = TossedModel(_spatial({}), poses, before, joints=[3])  # about one axis of the box, as an example
    slowed = before[:, 3] - rubbing({"joint_friction": 1e-4}).v[:, 3]
    np.testing.assert_allclose(slowed, np.sign(before[:, 3]) * 1e-4 / INERTIA[0], rtol=1e-9)
    stands = rubbing({"joint_friction": 1.0}).v
    np.testing.assert_allclose(stands[:, 3], 0.0, atol=1e-12)
    np.testing.assert_allclose(np.delete(stands, 3, axis=1), np.delete(before, 3, axis=1))


def test_speed_dependent_restitution_is_found():
    q, before = _tosses(40)
    toss = TossedBox(SIZE, rotation_matrices(q), before, INERTIA, 0.0, 0.0, {"mass": MASS, "mu": 0.2})
    after = np.array([one.v[0] for one in _outcomes(toss({"restitution": 0.6, "restitution_decay": 0.3}))])
    ranges = {"restitution": (0.1, 0.9), "restitution_decay": (-0.5, 1.0)}
    found = identify(MeasuredImpacts(toss, after), ranges, n=2, bootstrap=100, scan=0)
    assert found.values["restitution"] == pytest.approx(0.6, abs=0.01)
    assert found.values["restitution_decay"] == pytest.approx(0.3, abs=0.02)


def _outcomes(batch):
    drawn = sample(batch, 1)
    return [drawn[k] for k in range(len(batch))]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"q": np.zeros(7)}, "q: "),
        ({"before": np.zeros((2, 5))}, "before: "),
        ({"joints": [9]}, "joints: "),
        ({"within": -1.0}, "within: "),
        ({"known": {"inertia": 1.0}}, "parameters: got 'inertia' with one model"),
    ],
)
def test_a_tossed_model_says_what_is_wrong(given, message):
    q, before = _tosses(2)
    options = {"q": np.column_stack([np.zeros((2, 3)), q]), "before": before, **given}
    with pytest.raises(ValueError, match=message):
        TossedModel(_spatial({}), **options)
