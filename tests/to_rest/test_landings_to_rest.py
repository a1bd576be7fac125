"""Whole landings: laws from outside, what must not matter, what is refused."""

import numpy as np
import pytest

import routh
from routh.models.rotations import exponential, multiply, rotation_matrices
from routh.models.spatial import PlaneContact, SpatialModel, box, corner_contacts
from routh.to_rest import Uncertainty, check
from routh.to_rest.reading import free_body
from routh.to_rest.uncertainty import Spread

FEET = {"a": (0.2, 0.2, -0.5), "b": (0.2, -0.2, -0.5), "c": (-0.2, 0.2, -0.5), "d": (-0.2, -0.2, -0.5)}


def lander(feet=None, mu=0.8):
    """Four feet below a body of 5 kg."""
    body = box("lander", (0.4, 0.4, 0.4), mass=5.0, inertia=[0.3, 0.25, 0.35])
    named = FEET if feet is None else feet
    return SpatialModel([body], [PlaneContact(name, "lander", point=p, mu=mu) for name, p in named.items()])


def cube(mu=0.3):
    body = box("cube", (0.1, 0.1, 0.1), mass=0.37, inertia=[0.00081] * 3)
    return SpatialModel([body], corner_contacts(body, mu=mu))


DOWN = np.array([0.0, 0.0, 0.51, 1.0, 0.0, 0.0, 0.0]), np.array([0.6, 0.0, -1.5, 0.1, 0.0, 0.0])
THROWN = np.array([0.0, 0.0, 0.3, 0.9, 0.3, 0.3, 0.1]), np.array([1.0, 0.2, -0.5, 3.0, -4.0, 8.0])
THROWN[0][3:] /= np.linalg.norm(THROWN[0][3:])


def landed(model=None, state=DOWN, **options):
    return routh.landings(model or lander(), *state, **{"n": 24, "seed": 3, **options})


@pytest.fixture(scope="module")
def tosses():
    return landed(cube(), THROWN, n=16, restitution=0.2)


def test_every_toss_of_a_cube_rests_on_a_face_and_obeys_the_laws(tosses):
    assert np.all(tosses.status == 0)
    assert tosses.body.faces.closed
    assert len(tosses.body.faces.normals) == 6
    assert sum(tosses.faces().values()) == 16
    assert np.all(tosses.touching.sum(axis=2) == 4)  # all corners of that face
    corners = [tosses.body.faces.points[k] for k in tosses.face.ravel()]
    for touching, expected in zip(tosses.touching[0], corners, strict=True):
        assert tuple(np.flatnonzero(touching)) == expected
    assert tosses.checks["momentum"] < 1e-9
    assert tosses.checks["cone"] < 1e-9
    assert tosses.checks["depth"] < 1e-4  # what a step of 1 ms lets a turning body sink in


def test_motions_obey_the_laws_by_numpy_alone(tosses):
    for run in range(2):
        motion = tosses.motion(0, run)
        found = check(motion)
        assert motion.status == "at rest"
        assert found.impacts == tosses.impacts[0, run] > 0
        assert found.momentum < 1e-9
        assert found.spin < 1e-6
        assert found.cone < 1e-9
        assert found.gained < 1e-3
        assert found.separated < 1e-6
        assert found.depth < 1e-4 * tosses.body.size
        assert motion.t[-1] == tosses.t[0, run]


def test_the_checker_notices_what_is_wrong(tosses):
    from dataclasses import replace

    motion = tosses.motion(0, 0)
    strike = int(np.flatnonzero(motion.kind == 2)[0])
    v = motion.v.copy()
    v[strike, 2] += 0.1
    assert check(replace(motion, v=v)).momentum > 1e-3
    v[strike:] *= 3.0
    assert check(replace(motion, v=v)).gained > 0.1
    q = motion.q.copy()
    q[strike, 2] -= 0.01
    assert check(replace(motion, q=q)).depth > 5e-3
    assert check(replace(motion, mu=0.1 * motion.mu)).cone > 1e-3


def test_flight_keeps_angular_momentum_and_energy():
    body = box("plate", (0.3, 0.2, 0.02), mass=1.0)
    model = SpatialModel([body], corner_contacts(body, mu=0.5))
    state = np.array([0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0, 9.0, 0.2, 6.0])
    motion = landed(model, state, n=1, duration=0.7).motion()
    assert np.all(motion.kind[1:] == 1)
    found = check(motion)
    assert found.spin < 1e-6
    assert found.gained < 1e-6


@pytest.mark.parametrize("threads", [1, 2])
def test_equal_seeds_are_equal_bits_whatever_n_and_threads(threads):
    noise = {"heights": "2mm", "friction": "0.5..0.8", "tilt": "1deg", "down": "5%"}
    many = landed(n=40, uncertainty=noise, threads=threads)
    few = landed(n=7, uncertainty=noise)
    for name in ("status", "t", "qpos", "qvel", "impacts"):
        assert np.array_equal(getattr(many, name)[:, :7], getattr(few, name))
    assert not np.array_equal(many.qpos, landed(n=40, uncertainty=noise, seed=4).qpos)


def test_one_run_of_one_state():
    found = landed(n=1)
    assert found.status.shape == (1, 1)
    assert len(found) == 1
    assert found.share in (0.0, 1.0)


def turned(state, angle):
    """A state turned about the vertical."""
    about = exponential(np.array([[0.0, 0.0, angle]]))
    R = rotation_matrices(about)[0]
    q, v = state
    turn = multiply(about, q[None, 3:])[0]
    return np.concatenate([R @ q[:3], turn]), np.concatenate([R @ v[:3], v[3:]])


def test_turning_everything_about_the_vertical_turns_the_answer():
    """Not bit by bit, and friction's tangents stay: so one impact, and shares afterwards."""
    n, seen = 150, []
    for angle in (0.0, 1.1):
        seen.append(landed(state=turned(DOWN, angle), n=n).tipped.mean())
    assert abs(seen[0] - seen[1]) < 4.0 * np.sqrt(0.5 / n)


def test_mirroring_and_renumbering_leave_the_share():
    n = 150
    q, v = DOWN
    plain = landed(n=n).tipped.mean()
    back = landed(state=(q, v * [-1.0, 1.0, 1.0, 1.0, -1.0, 1.0]), n=n).tipped.mean()
    other = landed(lander(dict(reversed(FEET.items()))), n=n).tipped.mean()
    assert 0.02 < plain < 0.98
    assert abs(plain - back) < 4.0 * np.sqrt(0.5 / n)
    assert abs(plain - other) < 4.0 * np.sqrt(0.5 / n)


def test_a_landing_too_slow_to_tip_stands_and_a_fast_one_tips():
    q, _ = DOWN
    slow = landed(state=(q, np.array([0.02, 0.0, -0.2, 0.0, 0.0, 0.0])))
    assert np.all(slow.status == 0)
    assert not slow.tipped.any()
    assert list(slow.faces()) == [("a", "b", "c", "d")]
    fast = landed(state=(q, np.array([4.0, 0.0, -0.5, 0.0, 0.0, 0.0])))
    assert np.all(fast.status == 1)
    assert fast.share == 1.0


def test_halving_the_step_moves_the_share_little():
    n = 150
    shares = [landed(n=n, dt=dt).tipped.mean() for dt in (1e-3, 5e-4)]
    assert abs(shares[0] - shares[1]) < 0.08  # of 150 runs, most with equal draws


def test_no_point_passes_the_ground_however_fast():
    state = DOWN[0] + np.array([0.0, 0.0, 30.0, 0, 0, 0, 0]), np.array([0.0, 0.0, -300.0, 0.0, 0.0, 25.0])
    motion = landed(state=state, n=1, duration=0.5).motion()
    assert check(motion).depth < 1e-5
    assert (motion.kind == 2).sum() > 0


def test_a_slope_pulls_downhill():
    q, _ = DOWN
    state = q, np.array([0.0, 0.0, -0.3, 0.0, 0.0, 0.0])
    assert landed(state=state, slope=np.radians(5.0)).share == 0.0
    steep = landed(state=state, slope=np.radians(40.0), uphill=0.4)
    assert steep.share == 1.0
    slippery = landed(lander(mu=0.0), state, slope=np.radians(10.0), duration=0.5)
    assert np.all(slippery.status == 2)
    # g sin(10 deg) along the slope, downhill is against x
    v = slippery.qvel[0, :, :3] @ [-np.cos(np.radians(10.0)), 0.0, -np.sin(np.radians(10.0))]
    assert np.allclose(v, 9.81 * np.sin(np.radians(10.0)) * 0.5, atol=0.1)


def test_budget_ends_what_is_not_begun():
    found = landed(n=2000, budget=1e-9)
    assert (found.status == 3).any()
    assert not found.solved[found.status == 3].any()


def test_what_is_not_known_is_said_in_units():
    assert Spread.of("heights", "2mm", "length") == Spread(-0.002, 0.002)
    assert Spread.of("heights", "normal(2 mm)", "length") == Spread(-0.002, 0.002, True)
    assert Spread.of("friction", "0.5..0.8", "share") == Spread(0.5, 0.8)
    assert np.isclose(Spread.of("tilt", "3deg", "angle").high, np.radians(3.0))
    numbers = Uncertainty(heights="normal(2mm)").draw("heights", 0, 20000, 1, 0)
    assert abs(numbers.std() - 0.002) < 1e-4
    for wrong in ("2deg", "about 2", "0.8..0.5", "-2mm"):
        with pytest.raises(ValueError, match="heights"):
            Uncertainty(heights=wrong)
    with pytest.raises(ValueError, match="wanted some of heights"):
        landed(uncertainty={"hights": "2mm"})


def test_longer_feet_carry():
    """A foot that is longer by its height is where it was told to be."""
    state = DOWN[0], np.array([0.0, 0.0, -0.3, 0.0, 0.0, 0.0])
    found = landed(state=state, n=30, uncertainty={"heights": "10mm"})
    rest = found.status == 0
    assert rest.mean() > 0.8  # others still teeter on two
    assert (found.touching.sum(axis=2)[rest] >= 3).mean() > 0.9
    motion = found.motion(0, 0)
    nominal = np.array(list(FEET.values()))
    moved = (motion.points - nominal) @ found.body.turn.T
    assert np.abs(moved[:, :2]).max() < 1e-12
    assert 1e-3 < np.abs(moved[:, 2]).max() <= 0.01


def test_what_is_wrong_is_refused_by_name():
    q, v = DOWN
    with pytest.raises(ValueError, match="qvel"):
        routh.landings(lander(), q, v[:5])
    with pytest.raises(ValueError, match="quaternion"):
        routh.landings(lander(), np.zeros(7), v)
    with pytest.raises(ValueError, match="qpos"):
        routh.landings(lander(), np.full(7, np.nan), v)
    with pytest.raises(ValueError, match="n: got 0"):
        routh.landings(lander(), q, v, n=0)
    two = SpatialModel([box("a", (1, 1, 1), mass=1.0), box("b", (1, 1, 1), mass=1.0)])
    with pytest.raises(ValueError, match="2 bodies"):
        routh.landings(two, q, v)
    with pytest.raises(ValueError, match="MjModel or a SpatialModel"):
        routh.landings(object(), q, v)


def test_given_and_own_states_are_inverse():
    body = free_body(lander())
    q, v = np.array([THROWN[0]]), np.array([THROWN[1]])
    again = body.given(*body.own(q, v))
    assert np.allclose(again[0], q, atol=1e-12) or np.allclose(again[0][:, 3:], -q[:, 3:], atol=1e-12)
    assert np.allclose(again[1], v, atol=1e-12)
