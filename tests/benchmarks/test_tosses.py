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
    if name == "square":
        return np.append(rng.normal(size=2), rng.uniform(-3.0, 3.0)), rng.normal(size=3) * [1.0, 1.0, 9.0]
    joint = [rng.uniform(-2.0, 2.0)] if name == "elbow" else []
    q = np.concatenate([rng.normal(size=3), exponential(rng.normal(size=(1, 3)))[0], joint])
    return q, np.concatenate([rng.normal(size=3), 3.0 * rng.normal(size=3 + len(joint))])


@pytest.mark.parametrize("name", ["cube", "elbow", "square"])
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


@pytest.mark.parametrize("name", ["cube", "elbow", "square"])
def test_corners_are_in_the_order_of_the_problems(name):
    body, rng = _body(name), np.random.default_rng(2)
    q, v = _state(name, rng)
    heights = body.points(q[None])[0, :, 2]
    problems = body.problems(q[None], v[None], 0.03, 0.0)
    np.testing.assert_array_equal(problems.contacts[0], heights <= heights.min() + 0.03)


def _toss(body, name, rng, path):
    """One toss with one impact in flight, written as the measured ones are; the state at the impact."""
    q, before = _state(name, rng)
    if name == "square":
        before[:] = [0.4, -1.5, 3.0]
    else:
        before[:3], before[3:] = [0.4, -0.3, -1.5], 0.5 * before[3:]
    q[body.vertical] -= body.points(q[None])[..., 2].min()
    after = before.copy()
    after[body.vertical], after[body.vertical + 1] = 0.8, after[body.vertical + 1] + 1.0
    times = DT * (np.arange(24) - 11.6)
    frames = np.concatenate([body.carry(q, before, times[:12]), body.carry(q, after, times[12:])])
    if name == "square":
        arrays = {"position": frames[:, :2], "angle": frames[:, 2] + body.OFFSET}
    else:
        arrays = {"position": frames[:, :3], "quaternion": frames[:, 3:7], "hinge": frames[:, 7:].ravel()}
    np.savez(path, start=[0, len(frames)], dt=DT, **arrays)
    return q, before, after


@pytest.mark.parametrize("name", ["cube", "elbow", "square"])
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


@pytest.mark.parametrize("name", ["cube", "elbow", "square"])
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


@pytest.mark.parametrize("name", ["cube", "elbow", "square"])
def test_errors_keep_their_length_and_do_not_depend_on_the_heading(name):
    """An impact seen from elsewhere, or in a mirror, has the same errors in its own frame."""
    from tosses.comparing import Sample
    from tosses.errors import local
    from tosses.impacts import Contact

    body, rng = _body(name), np.random.default_rng(5)
    q, v = _state(name, rng)
    missed = rng.normal(size=v.shape)
    states = [(q, v, missed), _mirrored(name, q, v, missed)]
    if name != "square":
        turn = exponential(np.array([[0.0, 0.0, 1.1]]))
        R = rotation_matrices(turn)[0]
        place = np.concatenate([R @ q[:3], multiply(turn, q[None, 3:7])[0], q[7:]])
        states.append((place, *(np.concatenate([R @ one[:3], one[3:]]) for one in (v, missed))))
    sample = Sample.__new__(Sample)
    sample.body, sample.contacts = body, [Contact(0, s[0], s[1], s[1], np.zeros(8)) for s in states]
    sample.q, sample.before, sample.after = (np.array(one) for one in zip(*states, strict=True))
    sample.tosses = np.arange(len(states))
    length = np.linalg.norm(missed @ sample.scale.root[0])
    for frame in ("corner", "motion"):
        found, images = local(sample, sample.after, frame)
        for one in found:
            np.testing.assert_allclose(one, found[0], atol=1e-9)
            assert np.linalg.norm(one) == pytest.approx(length)
        np.testing.assert_allclose(np.linalg.norm(images, axis=1), length)


def _mirrored(name, q, v, missed):
    """The same in a mirror: the plane x = 0 for the square, y = 0 with the body's own z for the others."""
    if name == "square":
        flip = np.array([-1.0, 1.0, -1.0])
        return q * flip, v * flip, missed * flip
    w, x, y, z = q[
        3:7
    ]  # S R S of the plane's mirror S, and then S times the body's mirror: a half turn about x
    turned = multiply(np.array([[w, -x, y, -z]]), np.array([[0.0, 1.0, 0.0, 0.0]]))[0]
    place = np.concatenate([q[:3] * [1.0, -1.0, 1.0], turned, -q[7:]])
    axial = np.array([-1.0, 1.0, -1.0]) * [
        1.0,
        -1.0,
        -1.0,
    ]  # of spins in the body: the mirror, and the half turn
    return place, *(
        np.concatenate([one[:3] * [1.0, -1.0, 1.0], one[3:6] * axial, -one[6:]]) for one in (v, missed)
    )


@pytest.mark.parametrize("shape", ["points", "Gaussian"])
def test_known_errors_make_the_score_of_a_law_better_and_more_of_them_better_still(shape):
    from tosses import errors

    rng = np.random.default_rng(6)
    drawn = rng.normal(size=(240, 4)) * [0.3, 0.1, 0.1, 0.05] + [0.2, 0.0, 0.0, 0.0]
    known = errors.Errors(drawn[:200], drawn[None, 200:])
    means = [errors.scores(known, k, shape, 20).mean() for k in (0, 3, 12, 40)]
    assert means == sorted(means, reverse=True)
    truth = errors.Errors(drawn[:200], rng.normal(size=(1, 4000, 4)) * [0.3, 0.1, 0.1, 0.05])
    truth.known[..., 0] += 0.2
    assert truth.points(np.arange(4000)).mean() == pytest.approx(means[-1], rel=0.1)


def test_a_set_is_worth_as_many_impacts_as_make_the_control_as_good():
    from tosses.errors import worth

    counts, means = np.array([0, 3, 15]), np.array([0.4, 0.2, 0.1])
    assert worth(counts, means, 0.2) == pytest.approx(3.0)
    assert worth(counts, means, 0.15) == pytest.approx(7.0)  # half way in log(1 + k)
    assert worth(counts, means, 0.5) == 0.0
    assert worth(counts, means, 0.05) == np.inf


def test_values_of_another_body_are_refused():
    from tosses import comparing

    with pytest.raises(SystemExit, match="another body: 'elbow'"):
        comparing.Fitted.read(Path(comparing.__file__).parent / "elbow.json", _body("cube"))


@pytest.mark.parametrize(("nt", "nc", "nv"), [(1, 2, 3), (2, 4, 6)])
def test_controls_have_the_centre_and_the_size_of_the_set(nt, nc, nv):
    from problems import random_problem
    from tosses import scoring

    rng = np.random.default_rng(4)
    problem = random_problem(rng, nt=nt, nc=nc, nv=nv, mu=0.5)
    points = rng.normal(size=(4096, nv)) * np.array([0.3, 0.1, 0.1, 0.0, 0.2, 0.1])[:nv] + 0.2
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
