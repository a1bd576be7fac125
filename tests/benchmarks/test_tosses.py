"""The benchmarks on measured tosses: on tosses made here, and on measured ones where those are at hand."""

import os
from pathlib import Path

import numpy as np
import pytest

from routh.models.rotations import exponential, multiply, rotation_matrices

DT = 0.0068


def _body(name):
    from tosses.bodies import BODIES

    if name == "elbow":
        pytest.importorskip("mujoco")
    return BODIES[name]


def _state(name, rng):
    joint = [rng.uniform(-2.0, 2.0)] if name == "elbow" else []
    q = np.concatenate([rng.normal(size=3), exponential(rng.normal(size=(1, 3)))[0], joint])
    return q, np.concatenate([rng.normal(size=3), 3.0 * rng.normal(size=3 + len(joint))])


@pytest.mark.parametrize("name", ["cube", "elbow"])
def test_what_flight_conserves_tells_the_velocity(name):
    body, rng = _body(name), np.random.default_rng(0)
    for _ in range(5):
        q, v = _state(name, rng)
        path = body.carry(q, v, np.array([0.0, 1e-5]))
        found = body.velocity(q, body.flow(path, 1e-5)[0], body.rates(path, 1e-5)[0])
        np.testing.assert_allclose(found, v, atol=1e-3)


def test_a_torque_in_the_hinge_changes_no_momentum():
    """Of the mass matrix of MuJoCo's model of the elbow: the momenta are those of the same body."""
    body, rng = _body("elbow"), np.random.default_rng(1)
    model = body.model(body.nominal)
    q, v = _state("elbow", rng)
    pushed = v + 0.02 * np.linalg.solve(model.mass(q), np.eye(7)[6])
    flows = [body.flow(body.carry(q, one, np.array([0.0, 1e-6])), 1e-6)[0] for one in (v, pushed)]
    np.testing.assert_allclose(flows[0], flows[1], atol=2e-3)
    assert abs(pushed[6] - v[6]) > 1.0


@pytest.mark.parametrize("name", ["cube", "elbow"])
def test_corners_are_in_the_order_of_the_problems(name):
    body, rng = _body(name), np.random.default_rng(2)
    q, v = _state(name, rng)
    heights = body.points(q[None])[0, :, 2]
    problems = body.problems(q[None], v[None], 0.03, 0.0)
    np.testing.assert_array_equal(problems.contacts[0], heights <= heights.min() + 0.03)


def _toss(body, name, rng, path):
    """One toss with one impact in flight, written as the measured ones are; the state at the impact."""
    q, before = _state(name, rng)
    before[:3], before[3:] = [0.4, -0.3, -1.5], 0.5 * before[3:]
    q[2] -= body.points(q[None])[..., 2].min()
    after = before.copy()
    after[2], after[3] = 0.8, after[3] + 1.0
    times = DT * (np.arange(24) - 11.6)
    frames = np.concatenate([body.carry(q, before, times[:12]), body.carry(q, after, times[12:])])
    arrays = {"position": frames[:, :3], "quaternion": frames[:, 3:7], "hinge": frames[:, 7:].ravel()}
    np.savez(path, start=[0, len(frames)], dt=DT, **arrays)
    return q, before, after


@pytest.mark.parametrize("name", ["cube", "elbow"])
def test_an_impact_is_found_with_its_velocities(name, tmp_path):
    from tosses.impacts import at_contact, load, meeting_height

    body = _body(name)
    q, before, after = _toss(body, name, np.random.default_rng(3), tmp_path / "toss.npz")
    (impact,), dt = load(body, tmp_path / "toss.npz")
    assert impact.flies
    assert abs(meeting_height(body, impact)) < 1e-3
    contact = at_contact(body, impact, 0.0, dt)
    np.testing.assert_allclose(contact.q[:3], q[:3], atol=1e-3)
    size = np.abs(before).max()
    np.testing.assert_allclose(contact.before, before, atol=0.02 * size)
    np.testing.assert_allclose(contact.after, after, atol=0.02 * size)


@pytest.mark.parametrize("name", ["cube", "elbow"])
def test_committed_values_predict_another_toss(name, tmp_path, monkeypatch, capsys):
    pytest.importorskip("mujoco")
    from tosses import comparing

    body = _body(name)
    _toss(body, name, np.random.default_rng(3), tmp_path / "toss.npz")
    values = Path(comparing.__file__).parent / f"{name}.json"
    told = comparing.Fitted.read(values, body)
    told.write(tmp_path / "again.json")
    assert comparing.Fitted.read(tmp_path / "again.json", body) == told
    command = ["x", str(tmp_path / "toss.npz"), "--fitted", str(values), "--samples", "64"]
    monkeypatch.setattr("sys.argv", command)
    comparing.main(body, "", "NOTHING")
    assert "1 impacts" in capsys.readouterr().out


def test_values_of_another_body_are_refused():
    from tosses import comparing

    with pytest.raises(SystemExit, match="another body: 'elbow'"):
        comparing.Fitted.read(Path(comparing.__file__).parent / "elbow.json", _body("cube"))


def test_controls_have_the_centre_and_the_size_of_the_set():
    from problems import random_problem
    from tosses import scoring

    rng = np.random.default_rng(4)
    problem = random_problem(rng, nt=2, nc=4, nv=6, mu=0.5)
    points = rng.normal(size=(4096, problem.nv)) * [0.3, 0.1, 0.1, 0.0, 0.2, 0.1] + 0.2
    wanted = scoring.score(points)
    for name, one in scoring.controls(problem, np.eye(problem.nv), points, rng).items():
        assert one.mean == pytest.approx(wanted.mean, abs=0.03), name
        assert one.spread == pytest.approx(wanted.spread, rel=0.05), name
    assert scoring.controls(problem, np.eye(problem.nv), points, rng)["Gaussian"].energy == pytest.approx(
        wanted.energy, abs=0.02
    )


def test_the_log_score_of_one_outcome_is_that_of_a_gaussian():
    from tosses import scoring

    one = scoring.score(np.array([[0.1, 0.0, 0.0]]))
    s = scoring.WIDTHS
    np.testing.assert_allclose(one.logs, (0.5 * (0.1 / s) ** 2 + 3 * np.log(s * np.sqrt(2 * np.pi))) / 3)
    assert s[np.argmin(one.logs)] == pytest.approx(0.1 / np.sqrt(3), rel=0.1)


def test_measured_impacts_lose_energy_and_touch_the_table():
    from tosses.bodies import Cube
    from tosses.impacts import at_contact, load, meeting_height

    data = os.environ.get("ROUTH_CUBE_TOSSES", "")
    if not Path(data).is_file():
        pytest.skip("the measured tosses are not here; ROUTH_CUBE_TOSSES names their file")
    body = Cube()
    impacts, dt = load(body, Path(data))
    assert len(impacts) > 500
    height = float(np.median([meeting_height(body, impact) for impact in impacts]))
    assert -0.01 < height < 0.0
    unit = np.append(np.ones(3), np.full(3, body.arm))
    contacts = [at_contact(body, impact, height, dt) for impact in impacts if impact.flies]
    kept = [np.linalg.norm(unit * c.after) / np.linalg.norm(unit * c.before) for c in contacts]
    assert np.quantile(kept, 0.99) < 1.02  # but for noise, no impact gains energy


def test_turning_is_the_logarithm_of_quaternions():
    from tosses.bodies import turned

    vectors = np.random.default_rng(0).normal(size=(5, 3))
    start = exponential(np.random.default_rng(1).normal(size=(1, 3)))
    for vector in vectors:
        pair = np.concatenate([start, multiply(exponential(vector[None]), start)])
        np.testing.assert_allclose(turned(pair)[0], vector, atol=1e-12)
        R = rotation_matrices(pair)
        np.testing.assert_allclose(R[1] @ R[0].T, rotation_matrices(exponential(vector[None]))[0], atol=1e-12)
