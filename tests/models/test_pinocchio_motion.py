"""A Pinocchio robot as a model: its derivatives by differences, and its motion through impacts."""

import numpy as np
import pytest
from model_checks import check_gap_jacobian, check_jacobian_bias
from test_pinocchio import two_legs

import routh
from robot_zoo import urdf_path, urdf_roots
from routh.models import pinocchio as adapter
from routh.models.base import Model
from routh.sim import verify

pin = pytest.importorskip("pinocchio", exc_type=ImportError)
FEET = [
    adapter.ContactPoint("left_leg", offset=(0.0, 0.0, -0.3), radius=0.03),
    adapter.ContactPoint("right_leg", offset=(0.0, 0.0, -0.3), radius=0.03),
]


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    path = tmp_path_factory.mktemp("urdf") / "two_legs.urdf"
    path.write_text(two_legs())
    model = adapter.load(path, floating=True, geometry=False).model
    return adapter.GroundedRobot(model, points=FEET, mu=0.6)


def random_state(robot, seed):
    rng = np.random.default_rng(seed)
    q = pin.neutral(robot.robot)
    return pin.integrate(robot.robot, q, 0.5 * rng.normal(size=robot.nv)), rng.normal(size=robot.nv)


@pytest.mark.parametrize("seed", range(3))
def test_derivatives_by_differences(robot, seed):
    assert isinstance(robot, Model)
    q, v = random_state(robot, seed)
    check_gap_jacobian(robot, q)
    check_jacobian_bias(robot, q, v)
    # the equation of motion against Pinocchio's articulated-body algorithm
    u = np.arange(robot.nv, dtype=float)
    expected = pin.aba(robot.robot, robot.robot.createData(), q, v, u)
    assert np.linalg.solve(robot.mass(q), -robot.bias(q, v, u)) == pytest.approx(expected, abs=1e-10)


def test_its_impact_is_the_problem_of_the_adapter(robot):
    q, v = random_state(robot, 4)
    q[2] -= robot.gaps(q).min()
    mine = robot.problem(routh.State(q, v))
    other = adapter.problem(robot.robot, q, v, points=FEET, gap=1e-6, mu=0.6, limits=False)
    assert mine.names == other.names
    assert mine.mu == pytest.approx(other.mu)
    assert np.allclose(mine.M, other.M, atol=1e-12)
    assert np.allclose(mine.Jn, other.Jn, atol=1e-12)
    slip, expected = mine.Jt @ v, other.Jt @ v
    assert np.linalg.norm(slip, axis=1) == pytest.approx(np.linalg.norm(expected, axis=1), abs=1e-12)


def test_it_lands_and_the_motion_is_a_solution(robot):
    q = pin.neutral(robot.robot)
    q[2] = 0.33 + 0.01
    v = np.zeros(robot.nv)
    v[4] = 0.2  # pitch
    motion = routh.simulate(robot, routh.State(q, v), duration=0.047, sample_dt=0.05)
    assert motion.ok, motion.events[-1]
    assert motion.events[0].t == pytest.approx(np.sqrt(2 * 0.01 / 9.81), abs=1e-4)
    landed = {name for event in motion.events if event.kind == "impact" for name in event.contacts}
    assert landed == {"left_leg/ground", "right_leg/ground"}
    verdict = verify(robot, motion)
    assert verdict.ok, str(verdict)


@pytest.mark.parametrize("seed", [0, 2])
def test_a_quadruped_lands_without_a_swarm_of_events(seed):
    """Feet that come to rest in space: slip that ended within a step turned round, and no mode was left.

    The light feet stop within a nanosecond: steps that were longer left the direction of slip to chance.
    """
    path = urdf_path("solo12")
    loaded = adapter.load(path, roots=urdf_roots(path), floating=True, geometry=False)
    robot = adapter.GroundedRobot(loaded.model, mu=0.7)
    knees = np.array([0.0, 0.8, -1.6] * 2 + [0.0, -0.8, 1.6] * 2)
    q = np.concatenate([[0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0], knees])
    q[2] -= robot.gaps(q).min() - 0.005

    def springs(_, q, v):
        return np.concatenate([np.zeros(6), 10.0 * (knees - q[7:]) - 0.5 * v[6:]])

    state = routh.State(q, np.zeros(robot.nv))
    motion = routh.simulate(robot, state, duration=0.04, control=springs, seed=seed)
    verdict = verify(robot, motion, control=springs)
    assert motion.ok
    assert verdict.ok, str(verdict)
    assert len(motion.events) < 30
    assert len(motion) < 700  # slip that ends straight is not followed into its last digits
    assert not any(event.kind == "impact without collision" for event in motion.events)
