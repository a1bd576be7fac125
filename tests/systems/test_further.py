"""The systems beyond HP23 section 5.4: what the papers or the classics say about them."""

import numpy as np
import pytest
from by_hand import in_sequence, pivot, single_impact

import routh
from routh import systems
from routh.base.status import InputError
from routh.constraints import STEEL
from routh.models.base import Model, State

EXPECTED = {
    "impact": [
        *("rocking-block", "compass-gait", "box-wall", "ramone", "disk-stack", "disk-stack-5kg"),
        *("rimless-wheel", "pushing", "block-into-wall", "billiards-break"),
    ],
    "motion": [
        *("zeno-block", "bouncing-ball", "painleve-rod", "rimless-wheel-slope", "box-drop", "newtons-cradle"),
    ],
}
ALL = [(name, kind) for kind, names in EXPECTED.items() for name in names]


@pytest.mark.parametrize(("name", "kind"), ALL)
def test_every_system_is_whole(name, kind):
    assert name in systems.names()
    system = systems.get(name)
    assert (system.name, system.kind) == (name, kind)
    assert isinstance(system.model, Model)
    assert system.state.q.shape == (system.model.nq,)
    assert system.state.v.shape == (system.model.nv,)
    assert len(system.summary) < 100
    gaps = system.model.gaps(system.state.q)
    assert np.all(gaps > -1e-12)
    if kind == "motion":  # it starts with a motion, not with an impact
        normals = system.model.jacobians(system.state.q)[0]
        assert np.all((normals @ system.state.v)[gaps < 1e-9] > -1e-12)
    if kind == "impact":
        assert system.problem.approaching.any()
        built = system.model.problem(system.state)
        assert built.names == system.problem.names
        np.testing.assert_allclose(built.delassus, system.problem.delassus, atol=1e-9)
    points = system.model.contact_points(system.state.q)
    assert points.shape == (len(gaps), 1 + system.model.nt)
    if system.model.nt == 1:
        outlines = system.model.outlines(system.state.q)
        assert {body for body, _ in outlines} == {body.name for body in system.model.bodies}
        assert all(line.ndim == 2 and line.shape[1] == 2 for _, line in outlines)
    else:
        assert system.model.poses(system.state.q).shape == (len(system.model.bodies), 7)


@pytest.mark.parametrize("spokes", [3, 6, 8, 13])
def test_rimless_wheel(spokes):
    inertia, length = 0.4, 1.5
    problem = systems.get("rimless-wheel", spokes=spokes, inertia=inertia, length=length, mu=10.0).problem
    half = np.pi / spokes
    s, c = length * np.sin(half), length * np.cos(half)
    assert problem.names[:2] == ("A", "B")
    np.testing.assert_allclose(problem.M, np.diag([1.0, 1.0, inertia]))
    np.testing.assert_allclose(problem.Jn, [[0, 1, -s], [0, 1, s]], atol=1e-14)
    np.testing.assert_allclose(problem.Jt[:, 0], [[1, 0, c], [1, 0, c]], atol=1e-14)
    # sticking at A, then at B, keeps the share of the rate that angular momentum allows
    first = single_impact(problem, 0, problem.v)
    second = single_impact(problem, 1, first)
    share = (inertia + length**2 * np.cos(2 * half)) / (inertia + length**2)
    assert second[2] == pytest.approx(share * first[2], abs=1e-12)
    equal = 0.5 * problem.M[0, 0] * np.array([[1.0, 0.0], [1.0, 0.0]])  # the simultaneous solution
    np.testing.assert_allclose(problem.apply(equal), 0.0, atol=1e-14)


def test_rimless_wheel_in_sequence_lifts_a_foot():
    problem = systems.get("rimless-wheel").problem
    after = problem.contact_velocity(in_sequence(problem, "AB"))
    assert after[0, 0] > 0.1
    np.testing.assert_allclose(after[1], 0.0, atol=1e-12)
    mirrored = problem.contact_velocity(in_sequence(problem, "BA"))
    np.testing.assert_allclose(mirrored[::-1, 0], after[:, 0], atol=1e-12)


def test_rimless_wheel_walks_steadily_down_the_slope():
    system = systems.get("rimless-wheel-slope")
    model, names = system.model, [info.name for info in system.model.contacts]
    stance, following = names.index("B"), names.index("foot-3")
    _, q, v, _, ratio = pivot(model, system.state, stance, following)
    assert ratio < 1.0  # friction of 1 holds the foot
    landing = model.problem(State(q, v), gap=1e-7)
    assert landing.names == ("B", "foot-3")
    after = single_impact(landing, 1, v)
    assert after[2] == pytest.approx(system.state.v[2], rel=1e-8)
    assert landing.contact_velocity(after)[0, 0] > 0.0  # the old foot lifts


def test_zeno_block_against_hp23_section_4_3():
    system = systems.get("zeno-block")
    model = system.model
    duration, q, v, path, ratio = pivot(model, system.state, 0, 1)
    assert ratio < 1.0
    assert v[2] == pytest.approx(-1.0, abs=1e-8)  # energy is conserved
    apex = max(path(t)[2] for t in np.linspace(0.45, 0.55, 11) * duration)
    assert apex == pytest.approx(0.21976, abs=1e-5)
    after = single_impact(model.problem(State(q, v)), 1, v)
    assert after[2] == pytest.approx(-0.7, abs=1e-8)  # HP23 (68)
    durations = [
        pivot(systems.get("zeno-block", rate=0.7**k).model, _rocking(0.7**k), 0, 1)[0] for k in range(12)
    ]
    rest = durations[-1] * 0.7 / 0.3  # geometric: small swings last in proportion to their rate
    assert sum(durations) + rest == pytest.approx(2.67, abs=5e-3)


def _rocking(rate):
    return systems.get("zeno-block", rate=rate).state


def test_pushing_presses_the_floor_and_then_leaves_or_climbs_the_wall():
    problem = systems.get("pushing").problem
    np.testing.assert_array_equal(problem.mu, [1.0, 0.0])
    np.testing.assert_allclose(problem.contact_velocity(), [[0.0, 1.0], [-1.0, 0.0]], atol=1e-15)
    wall_first = single_impact(problem, 1, problem.v)
    assert problem.Jn[0] @ wall_first < -0.1  # the second impact, at the floor
    after = problem.contact_velocity(in_sequence(problem, "BA"))
    assert after[0, 0] == pytest.approx(0.0, abs=1e-12)
    assert after[0, 1] > 0.1
    assert after[1, 0] > 0.01
    assert after[1, 1] > 0.1
    square = systems.get("pushing", width=1.0, height=1.0).problem
    assert square.Jn[0] @ single_impact(square, 1, square.v) > 0.0


def test_block_into_wall_starts_with_the_wall_only():
    problem = systems.get("block-into-wall").problem
    np.testing.assert_array_equal(problem.approaching, [False, False, True, True])
    after = problem.contact_velocity(single_impact(problem, 2, problem.v))
    assert after[1, 0] < -0.1 or after[0, 0] < -0.1  # the wall's impulse reaches the floor


@pytest.mark.parametrize(("balls", "contacts"), [(1, 1), (3, 4), (10, 19), (15, 31)])
def test_billiards_break(balls, contacts):
    system = systems.get("billiards-break", balls=balls)
    problem = system.problem
    assert problem.nc == contacts
    assert problem.nv == 3 * (balls + 1)
    np.testing.assert_array_equal(problem.approaching, [True] + [False] * (contacts - 1))
    along_x, along_y = np.tile([1.0, 0.0, 0.0], balls + 1), np.tile([0.0, 1.0, 0.0], balls + 1)
    for translation in (along_x, along_y):  # inner forces leave the total momentum alone
        np.testing.assert_allclose(problem.J @ translation, 0.0, atol=1e-14)
    np.testing.assert_allclose(system.model.bias(system.state.q, system.state.v), 0.0, atol=1e-15)


def test_billiards_aim_turns_the_first_normal():
    problem = systems.get("billiards-break", balls=3, aim=0.3, speed=2.0).problem
    np.testing.assert_allclose(problem.contact_velocity()[0, 0], -2.0 * np.cos(0.3))


@pytest.mark.parametrize("name", ["bouncing-ball", "box-drop", "newtons-cradle"])
def test_the_first_impact_has_the_energy_of_the_fall(name):
    system = systems.get(name)
    model, state, problem = system.model, system.state, system.problem
    start = model.potential(state.q) + 0.5 * state.v @ model.mass(state.q) @ state.v
    q = np.zeros(model.nq)
    if name == "bouncing-ball":
        q[1] = 0.1
    if name == "box-drop":
        q[2:4] = 0.1, 1.0
    assert problem.kinetic_energy() + model.potential(q) == pytest.approx(start, rel=1e-12)
    np.testing.assert_allclose(model.gaps(q)[: problem.nc], 0.0, atol=1e-15)


def test_painleve_rod_is_paradoxical_beyond_its_critical_friction():
    def slope(**parameters):
        problem = systems.get("painleve-rod", **parameters).problem
        assert problem.contact_velocity()[0, 1] > 0.0
        assert problem.contact_velocity()[0, 0] == pytest.approx(0.0, abs=1e-14)
        W = problem.delassus
        return W[0, 0] - problem.mu[0] * W[0, 1]  # normal acceleration per normal force while sliding

    assert slope() < 0.0
    assert slope(mu=4 / 3) == pytest.approx(0.0, abs=1e-14)
    assert slope(mu=1.3) > 0.0
    assert slope(mu=1.8, angle=1.4) > 0.0
    assert slope(inertia=0.1, mu=0.9) < 0.0
    system = systems.get("painleve-rod", rate=0.5)
    assert system.problem.contact_velocity()[0] == pytest.approx([0.0, 1.0], abs=1e-14)


def test_newtons_cradle_raises_the_balls_asked_for():
    system = systems.get("newtons-cradle", balls=4, raised=2)
    np.testing.assert_array_equal(system.state.q < 0.0, [True, True, False, False])
    np.testing.assert_allclose(system.model.gaps(system.state.q)[[0, 2]], [0.0, 0.0], atol=1e-12)
    assert system.model.gaps(system.state.q)[1] > 0.05
    np.testing.assert_array_equal(system.problem.approaching, [False, True, False])


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("rimless-wheel", {"spokes": 2}, "spokes: got 2; wanted an integer >= 3"),
        ("rimless-wheel-slope", {"descent": 1.0}, "descent: got 1.0"),
        ("pushing", {"turn": 0.0}, "turn: got 0.0"),
        ("pushing", {"mu": -1.0}, "A.mu: got -1.0"),
        ("block-into-wall", {"speed": "fast"}, "speed: got 'fast'"),
        ("billiards-break", {"balls": 4}, "balls: got 4; wanted a triangular number"),
        ("newtons-cradle", {"raised": 5}, "raised: got 5"),
        ("painleve-rod", {"angle": 1.6}, "angle: got 1.6"),
        ("bouncing-ball", {"velocity": [1.0]}, r"velocity: got shape \(1,\)"),
        ("box-drop", {"size": [1.0, 1.0, -1.0]}, "size: got -1.0"),
        ("zeno-block", {"mass": 0.0}, "mass: got 0.0"),
    ],
)
def test_bad_parameters_are_refused_by_name(name, parameters, message):
    with pytest.raises(ValueError, match=message):
        systems.get(name, **parameters)


def test_the_impact_of_a_system_by_name():
    assert systems.impact("rocking-block", mu=0.5).mu.max() == 0.5
    with pytest.raises(ValueError, match="'spring-mass-damper' has no impact problem"):
        systems.impact("spring-mass-damper")


@pytest.mark.parametrize("name", ["rocking-block", "zeno-block", "block-on-incline"])
def test_what_moves_has_a_model_a_state_and_a_compliance(name):
    moving, system = systems.motion(name), systems.get(name)
    assert isinstance(moving, systems.MotionSystem)
    assert (moving.name, moving.kind, moving.paper) == (name, system.kind, system.paper)
    np.testing.assert_array_equal(moving.state.v, system.state.v)
    assert moving.model.nv == system.model.nv
    assert (moving.problem is None) == (system.problem is None)
    run = routh.step_through(moving.model, moving.state, dt=1e-3, duration=2e-3, compliance=moving.compliance)
    assert run.ok


def test_the_compliance_of_a_motion_is_its_sources_or_steels():
    assert systems.motion("box-drop").compliance is STEEL
    assert systems.motion("block-on-incline").compliance is not STEEL


def test_a_single_impact_without_mechanism_does_not_move():
    pytest.importorskip("routh.two_body")
    with pytest.raises(InputError, match="single impact without a mechanism; wanted a system that moves"):
        systems.motion("bowling")
