"""Parameters from measured impacts: slopes against differences, recovery, and what the data determine."""

import numpy as np
import pytest

import routh
from routh.identification import MeasuredImpacts, identify, score_impacts, scores_table
from routh.identification.fit import ScoreObjective
from routh.identification.impacts import Bounds
from routh.identification.scores import Errors, Scale, draw, know_nothing

TRUE = {"mu": 0.3, "restitution": 0.4, "inertia": 0.15, "half": 0.4}
RANGES = {"mu": (0.05, 0.8), "restitution": (0.05, 0.95), "inertia": (0.05, 0.4), "half": (0.2, 0.6)}
NOISE = 0.03


class Block:
    """Impacts of a block in the plane: a third on one corner, the others on two together, on a step."""

    def __init__(self, n, seed=0):
        rng = np.random.default_rng(seed)
        self.v = np.column_stack([rng.normal(0, 1, n), -rng.uniform(0.5, 1.5, n), rng.normal(0, 1, n)])
        self.shift = rng.uniform(-0.1, 0.1, n)
        self.present = np.ones((n, 2), dtype=bool)
        self.present[: n // 3, 1] = False

    def __call__(self, values):
        n = len(self.v)
        Jn, Jt = np.zeros((n, 2, 3)), np.zeros((n, 2, 1, 3))
        Jn[:, :, 1], Jt[..., 0], Jt[..., 0, 2] = 1.0, 1.0, [0.5, 0.45]
        Jn[:, :, 2] = self.shift[:, None] + values["half"] * np.array([-1.0, 1.0])
        mass = values.get("mass", 1.0)
        return routh.ImpactBatch(
            np.diag([mass, mass, values["inertia"]]),
            Jn,
            Jt,
            values["mu"],
            self.v,
            present=self.present,
            restitution=values["restitution"],
        )

    def measured(self, seed=1, noise=NOISE, **options):
        drawn = routh.sample(self(TRUE), 1, seed=1000 + seed).v[:, 0]
        errors = noise * np.random.default_rng([seed, 3]).normal(size=drawn.shape)
        return MeasuredImpacts(self, drawn + errors, **options)


def objective_of(impacts, ranges, *, n=16, noise=NOISE):
    bounds = Bounds.of(ranges)
    batch = impacts.batch(bounds.values(np.full(len(ranges), 0.5)))
    errors = Errors(np.full(batch.nv, noise), (len(impacts), n, batch.nv), 0)
    return ScoreObjective(impacts, bounds, Scale.of(batch), errors, n, {"seed": 0})


def differences(objective, shares, step=1e-6):
    found = []
    for k in range(len(shares)):
        less, more = shares.copy(), shares.copy()
        less[k] -= step
        more[k] += step
        found.append((objective.values(more) - objective.values(less)) / (2 * step))
    return np.array(found).T


def test_slopes_are_those_of_the_scores():
    objective = objective_of(Block(12).measured(), {**RANGES, "noise": (0.5, 2.0)})
    shares = np.array([0.31, 0.42, 0.27, 0.55, 0.4])
    scores, slopes = objective.slopes(shares)
    np.testing.assert_allclose(scores, objective.values(shares), rtol=1e-12)
    np.testing.assert_allclose(slopes, differences(objective, shares), atol=2e-5 * np.abs(slopes).max())
    assert objective.lost == 0


def test_slopes_hold_at_the_ends_of_the_ranges():
    objective = objective_of(Block(9).measured(), {"mu": (0.2, 0.4), "half": (0.3, 0.5)} | FIXED)
    shares = np.array([0.0, 1.0, 0.5, 0.5])
    _, slopes = objective.slopes(shares)
    inside = np.array([1e-6, 1 - 1e-6, 0.5, 0.5])
    _, near = objective.slopes(inside)
    np.testing.assert_allclose(slopes, near, atol=1e-3 * np.abs(slopes).max())


FIXED = {"restitution": (0.2, 0.6), "inertia": (0.1, 0.2)}


def test_friction_and_restitution_by_name_need_no_builder():
    batch = Block(10)(TRUE)
    impacts = MeasuredImpacts(batch, Block(10).measured().after)
    objective = objective_of(impacts, {"mu": (0.1, 0.5), "restitution[contact-1]": (0.1, 0.7)})
    shares = np.array([0.37, 0.61])
    _, slopes = objective.slopes(shares)
    np.testing.assert_allclose(slopes, differences(objective, shares), atol=2e-5 * np.abs(slopes).max())
    assert np.all(slopes[:3, 1] == 0.0)  # these have no such contact


def test_an_impact_with_one_contact_has_one_outcome():
    """Why such impacts are drawn once."""
    batch = Block(9)(TRUE)
    many = routh.sample(batch.take(np.arange(3)), 50)
    np.testing.assert_allclose(many.v, many.v[:, :1].repeat(50, axis=1), atol=1e-12)
    drawn = draw(batch, 50, {"seed": 0})
    np.testing.assert_allclose(drawn.v[:3], many.v, atol=1e-12)
    assert drawn.failed == 0


@pytest.fixture(scope="module")
def found():
    return identify(Block(60).measured(), RANGES, n=32, noise=NOISE)


def test_the_truth_is_found(found):
    for name, truth in TRUE.items():
        one = found.estimates[name]
        assert one.interval[0] < one.value < one.interval[1]
        assert one.width < 0.1
        assert one.determined
        assert not one.at_end
        assert abs(one.value - truth) < one.interval[1] - one.interval[0]
    assert found.undetermined == ()
    assert found.fits
    assert found.misfit < 0.5
    assert found.scores.energy.mean() < found.before.energy.mean()
    again = score_impacts(Block(60).measured(), found.values, n=32, noise=NOISE, metric=middle())
    np.testing.assert_allclose(again.energy, found.scores.energy, rtol=1e-12)


def middle():
    return {name: (low + high) / 2 for name, (low, high) in RANGES.items()}


def test_the_estimate_is_a_minimum_of_the_score(found):
    objective = objective_of(Block(60).measured(), RANGES, n=32)
    at = objective.bounds.shares(found.values)
    least = objective.values(at).mean()
    for k in range(4):
        for sign in (-1, 1):
            moved = at.copy()
            moved[k] += 0.05 * sign
            assert objective.values(moved).mean() > least


def test_the_report_tells_all(found):
    text = found.report()
    for word in (*TRUE, "energy score", "nearest", "spread", "turned cloud", "samples", "95 %", "yes"):
        assert word in text
    table = scores_table({"a": found.scores}, np.arange(60) < 20)
    assert f"{found.scores.energy[:20].mean():.4f}" in table


def test_what_the_data_cannot_tell_is_said():
    """Velocities after an impact depend on ratios of masses only."""
    ranges = {"mu": (0.1, 0.5), "mass": (0.5, 2.0), "inertia": (0.075, 0.3)}
    block = Block(45)

    def build(values):
        return block({**TRUE, **values})

    after = block.measured().after
    found = identify(MeasuredImpacts(build, after), ranges, n=16, noise=NOISE, start={"mass": 1.0})
    assert found.estimates["mu"].determined
    for name in ("mass", "inertia"):
        assert not found.estimates[name].determined
        assert found.estimates[name].interval == pytest.approx(ranges[name])
    (direction,) = found.undetermined
    assert abs(direction["mu"]) < 0.1
    assert direction["mass"] * direction["inertia"] > 0.2
    assert found.values["inertia"] / found.values["mass"] == pytest.approx(0.15, rel=0.05)
    assert "not determined" in found.report()


@pytest.mark.parametrize("size", [100.0, 0.5])
def test_noise_determines_nothing(size):
    """Velocities after that have nothing to do with those before, with 10^4 times their energy or less."""
    for seed in range(3):
        noise = size * np.random.default_rng(seed).normal(size=(60, 3))
        impacts = MeasuredImpacts(Block(60), noise)
        found = identify(impacts, RANGES, n=8, scan=2, bootstrap=200)
        assert not found.fits
        assert found.misfit > 0.9
        assert not any(one.determined for one in found.estimates.values())
        assert found.report().count("does not fit the data") == 1 + len(RANGES)
        assert f"is {found.misfit:.3g} times that of one who knows no contact law" in found.report()


def test_who_knows_nothing_says_any_velocity_that_energy_and_impulses_allow():
    M = np.diag([1.0, 2.0, 0.5])
    slope = routh.ImpactProblem(M, [[0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]], 0.5, [3.0, -1.0, 0.5])
    batch = routh.ImpactBatch.from_problems([slope, slope.replace(mu=0.0)])
    v = know_nothing(batch, 4000, 0)
    np.testing.assert_allclose(v[..., 0], 3.0)  # what no impulse changes stays
    assert v.shape == (2, 4000, 3)
    energies = slope.kinetic_energy(v)
    assert energies.max() <= slope.kinetic_energy() * (1.0 + 1e-12)
    inside = slope.kinetic_energy() - 4.5  # J, beside that of the first velocity
    np.testing.assert_allclose(np.mean(energies - 4.5 < 0.25 * inside, axis=1), 0.25, atol=0.03)  # a disk
    np.testing.assert_allclose(v.mean(axis=1)[:, 1:], 0.0, atol=0.05)


def test_a_value_at_the_end_of_its_range_is_told():
    found = identify(
        Block(30).measured(), {**RANGES, "mu": (0.4, 0.8)}, n=8, noise=NOISE, scan=0, bootstrap=100
    )
    assert found.estimates["mu"].at_end
    assert not found.estimates["mu"].determined
    assert found.values["mu"] == 0.4
    assert "at the end of its range" in found.report()


def test_units_of_mass_do_not_matter():
    block = Block(15)
    after = block.measured().after

    def heavy(values):
        batch = block(values)
        e = batch.restitution
        return routh.ImpactBatch(
            2.0**20 * batch.M, batch.Jn, batch.Jt, batch.mu, batch.v, present=batch.present, restitution=e
        )

    options = {"n": 8, "noise": NOISE, "scan": 0, "bootstrap": 100}
    light = identify(MeasuredImpacts(block, after), RANGES, **options)
    other = identify(MeasuredImpacts(heavy, after), RANGES, **options)
    assert other.values == pytest.approx(light.values, rel=1e-5)


def test_bad_input_is_named():
    block = Block(6)
    impacts = block.measured()
    with pytest.raises(ValueError, match="parameters: got 'weight'"):
        identify(MeasuredImpacts(block(TRUE), impacts.after), {"weight": (0, 1)})
    with pytest.raises(ValueError, match=r"no impact has a contact 'A'"):
        identify(MeasuredImpacts(block(TRUE), impacts.after), {"mu[A]": (0, 1)})
    with pytest.raises(ValueError, match=r"parameters\['mu'\].*low < high"):
        identify(impacts, {"mu": (0.5, 0.1)})
    with pytest.raises(ValueError, match="start: got 'x'"):
        identify(impacts, RANGES, start={"x": 1.0})
    with pytest.raises(ValueError, match="noise: got None"):
        identify(impacts, {**RANGES, "noise": (0.5, 2.0)})
    with pytest.raises(ValueError, match="noise: got -1"):
        identify(impacts, RANGES, noise=-1.0)
    with pytest.raises(ValueError, match=r"after: got shape \(5, 3\); wanted \(6, 3\)"):
        identify(MeasuredImpacts(block, impacts.after[:5]), RANGES)
    with pytest.raises(ValueError, match="after"):
        MeasuredImpacts(block, np.full((6, 3), np.nan))
    with pytest.raises(ValueError, match="groups: got shape"):
        MeasuredImpacts(block, impacts.after, groups=[1, 2])
    with pytest.raises(ValueError, match="one independent group"):
        identify(MeasuredImpacts(block, impacts.after, groups=np.zeros(6)), RANGES)
    with pytest.raises(ValueError, match="build: got int"):
        identify(MeasuredImpacts(lambda values: 1, impacts.after), RANGES)


def test_contacts_that_change_with_a_parameter_are_refused():
    block = Block(6)

    def build(values):
        block.present = np.ones((6, 2), dtype=bool)
        block.present[:, 1] = values["half"] > 0.4
        return block(values)

    objective = objective_of(MeasuredImpacts(build, Block(6).measured().after), RANGES, n=4)
    with pytest.raises(ValueError, match="the contacts change with 'half'"):
        objective.slopes(np.full(4, 0.5))


@pytest.mark.parametrize("noise", [float("nan"), -1.0, [1.0, 2.0]])
def test_scores_refuse_deviations_that_are_none(noise):
    problem = routh.systems.get("rocking-block").problem
    impacts = MeasuredImpacts([problem, problem], np.zeros((2, 3)))
    with pytest.raises(ValueError, match="noise"):
        score_impacts(impacts, {"mu": 0.5}, noise=noise)
