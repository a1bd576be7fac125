"""The check must catch what is wrong: true trajectories pass, altered ones do not."""

import ast
import inspect
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import routh
from feature_marks import needs
from routh.base import tolerances
from routh.laws import Newton, Simultaneous, SingleContact
from routh.models.planar import GROUND, HalfPlane, PlanarModel, PlaneContact, box, corners
from routh.models.spatial import PlaneContact as PointContact
from routh.models.spatial import SpatialModel
from routh.models.spatial import box as spatial_box
from routh.sim import verify
from routh.sim.verification import Evidence, Verdict, _against


@pytest.fixture(scope="module")
def block():
    return routh.systems.get("zeno-block")


@pytest.fixture(scope="module")
def motion(block):
    return routh.simulate(block.model, block.state, duration=1.6, law=Simultaneous())


@pytest.fixture(scope="module")
def whole_motion(block):
    """Through the accumulation, to rest."""
    motion = routh.simulate(block.model, block.state, duration=3.0, law=Simultaneous())
    verdict = verify(block.model, motion)
    assert verdict.ok, str(verdict)
    return motion


def conditions(model, motion):
    return {violation.condition for violation in verify(model, motion).violations}


def changed(motion, field, index, value):
    array = np.array(getattr(motion, field))
    array[index] = array[index] + value
    return replace(motion, **{field: array})


def test_the_true_one_passes_and_says_what_was_looked_at(block, motion):
    verdict = verify(block.model, motion)
    assert verdict.ok
    assert "solution of HP23 (53)" in str(verdict)
    for condition in (
        "penetration",
        "inclusion (53)",
        "friction cone",
        "maximal dissipation",
        "momentum of impacts",
        "normal impulses dissipate",
        "impact only where nothing separates",
        "no approach after impacts",
        "energy",
    ):
        assert verdict.checked[condition] > 0, condition


def test_penetration_is_caught(block, motion):
    assert "penetration" in conditions(block.model, changed(motion, "q", 5, [0.0, -1e-6, 0.0]))


def test_a_wrong_velocity_is_caught(block, motion):
    assert "inclusion (53)" in conditions(block.model, changed(motion, "v", 60, [1e-4, 0.0, 0.0]))


def test_a_wrong_augmented_time_is_caught(block, motion):
    s = motion.s * 1.001
    assert "augmented time" in conditions(block.model, replace(motion, s=s))


def test_impulses_that_the_forces_do_not_explain_are_caught(block, motion):
    impulses, s = motion.impulse.copy(), motion.s.copy()
    impulses[40, 0, 0] += 1e-2
    s[40:] += 1e-2
    assert conditions(block.model, replace(motion, impulse=impulses, s=s)) == {"impulses of forces"}


def test_forces_outside_the_cone_are_caught(block, motion):
    forces = {name: array.copy() for name, array in motion.forces.items()}
    forces["contacts"][20, 0] = [1.0, 2.0]
    assert "friction cone" in conditions(block.model, replace(motion, forces=forces))


def test_forces_at_a_distance_are_caught(block, motion):
    forces = {name: array.copy() for name, array in motion.forces.items()}
    forces["contacts"][20, 1] = [1.0, 0.0]  # corner B is in the air
    verdict = verify(block.model, replace(motion, forces=forces))
    (fault,) = (one for one in verdict.worst_violations() if one.condition == "force at a distance")
    assert (fault.contact, fault.t, fault.index) == ("B", motion.t[20], 20)
    assert verdict.worst["force at a distance"] == fault.size
    assert f"broken: force at a distance of B at {motion.t[20]:.6g} s (sample 20)" in str(verdict)


def impact_sample(motion):
    return int(np.flatnonzero(np.diff(motion.t) == 0.0)[0]) + 1


def test_a_wrong_impact_is_caught(block, motion):
    i = impact_sample(motion)
    impulses = motion.impulse.copy()
    impulses[i] *= 1.01
    found = conditions(block.model, replace(motion, impulse=impulses))
    assert {"momentum of impacts", "augmented time"} <= found


def test_an_impact_that_adds_energy_is_caught(block, motion):
    i = impact_sample(motion)
    assert {"impacts dissipate", "energy"} <= conditions(block.model, changed(motion, "v", i, [0, 2.0, 0]))


def test_an_impact_that_pushes_while_everything_separates_is_caught():
    """A second increment after the contact has opened: (53) allows D_C only at non-separating velocity."""
    rod = routh.systems.get("painleve-rod", angle=1.2)
    motion = routh.simulate(rod.model, rod.state, duration=0.01, law=SingleContact())
    i = impact_sample(motion)
    extra = np.array([0.2, 0.0])
    after = motion.v[i] + np.linalg.solve(
        rod.model.mass(motion.q[i]), extra[0] * rod.model.jacobians(motion.q[i])[0][0]
    )
    push = np.zeros((1, *motion.impulse.shape[1:]))
    push[0, 0] = extra
    keep = slice(0, i + 2)
    double = replace(
        motion,
        t=np.append(motion.t[: i + 1], motion.t[i]),
        s=np.append(motion.s[: i + 1], motion.s[i] + 0.2),
        q=np.vstack([motion.q[: i + 1], motion.q[i]]),
        v=np.vstack([motion.v[: i + 1], after]),
        impulse=np.concatenate([motion.impulse[: i + 1], push]),
        forces={name: array[keep] for name, array in motion.forces.items()},
        energies={},
        status=motion.status[keep],
        residuals=motion.residuals[keep],
    )
    again = replace(
        double,
        t=np.append(double.t, motion.t[i]),
        s=np.append(double.s, double.s[-1] + 0.2),
        q=np.vstack([double.q, motion.q[i]]),
        v=np.vstack([double.v, 2 * after - motion.v[i]]),
        impulse=np.concatenate([double.impulse, push]),
        forces={name: motion.forces[name][: i + 3] for name in motion.forces},
        status=motion.status[: i + 3],
        residuals=motion.residuals[: i + 3],
    )
    assert "impact only where nothing separates" in conditions(rod.model, again)


def test_sliding_friction_that_does_not_oppose_is_caught():
    system = routh.systems.get("rocking-block", mu=0.3)
    start = routh.State(system.state.q, [1.0, 0.0, 0.0])
    motion = routh.simulate(system.model, start, duration=0.1)
    assert verify(system.model, motion).ok
    forces = {name: array.copy() for name, array in motion.forces.items()}
    forces["contacts"][10, :, 1] *= 0.5
    assert "maximal dissipation" in conditions(system.model, replace(motion, forces=forces))


def sliding_block(mu=0.3, floor=0.0):
    plane = HalfPlane("floor", point=(0.0, floor))
    contacts = [
        PlaneContact(name, "block", plane, point=corner, mu=mu)
        for name, corner in zip("AB", corners(1.0, 0.5)[:2], strict=True)
    ]
    return PlanarModel([box("block", 1.0, 0.5, mass=1.0)], contacts, actuated=["block.x"])


def test_a_motion_through_the_floor_is_caught():
    """A true motion, but over a floor that lies 10 cm lower than the one of the check."""
    motion = routh.simulate(sliding_block(floor=-0.1), routh.State([0, 0.35, 0.1], np.zeros(3)), duration=0.4)
    assert verify(sliding_block(floor=-0.1), motion).ok
    assert "penetration" in conditions(sliding_block(), motion)


@pytest.mark.parametrize(
    ("made_with", "condition"),
    [(0.4, "friction cone"), (0.2, "maximal dissipation"), (0.0, "inclusion (53)")],
)
def test_another_friction_is_caught(made_with, condition):
    start = routh.State([0.0, 0.25, 0.0], [1.0, 0.0, 0.0])
    motion = routh.simulate(sliding_block(mu=made_with), start, duration=0.1)
    assert verify(sliding_block(mu=made_with), motion).ok
    assert {condition, "inclusion (53)"} <= conditions(sliding_block(mu=0.3), motion)


@pytest.mark.parametrize("share", [0.9995, 1.01])
def test_friction_that_all_but_slides_is_known_from_friction_that_is_too_large(share):
    """A polygon of 64 edges in the cone lacks a thousandth of it between two of them."""
    mu, force = 0.5, 0.5 * 9.81 * share
    contact = PointContact("middle", "box", point=(0.0, 0.0, 0.0), mu=mu * max(share, 1.0))
    angle = 1.5 * np.pi / 64.0
    push = np.r_[force * np.cos(angle), force * np.sin(angle), 0.0]
    body = spatial_box("box", (0.4, 0.3, 0.2), mass=1.0)
    state = routh.State([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], np.zeros(6))

    def control(t, q, v):
        return push

    model = Pushed([body], [contact])
    motion = routh.simulate(model, state, duration=0.5, sample_dt=0.1, max_step=0.5, control=control)
    assert motion.ok
    verdict = verify(Pushed([body], [replace(contact, mu=mu)]), motion, control=control)
    assert ("inclusion (53)" in {one.condition for one in verdict.violations}) == (share > 1.0)


@pytest.mark.parametrize("unsure", [1e-6, 0.2, 0.999])
def test_friction_against_slip_that_is_hardly_known(unsure):
    """Sums of few directions lacked the more of the cone the less slip was known; none is beyond that."""
    ways, angle = _against(np.array([0.0, -3e-9]), unsure, 8), np.arcsin(unsure)
    off = np.sort(np.arctan2(-ways[:, 0], ways[:, 1]))
    np.testing.assert_allclose(np.linalg.norm(ways, axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(off[[0, -1]], [-angle, angle], rtol=1e-9)
    near = off[np.abs(off) <= 0.1 * angle]
    assert np.diff(near).max() <= 0.05 * angle
    assert len(near) > 5


class Pushed(SpatialModel):
    """A body that is pushed."""

    def bias(self, q, v, u=None):
        return super().bias(q, v) - np.r_[u, 0.0, 0.0, 0.0]


def test_energy_from_nowhere_is_caught():
    """A block that is pushed on gains energy: allowed to the push, not to nothing."""
    model, start = sliding_block(), routh.State([0.0, 0.25, 0.0], [1.0, 0.0, 0.0])

    def push(t, q, v):
        return np.array([4.0])

    motion = routh.simulate(model, start, duration=0.1, control=push)
    assert verify(model, motion, control=push).ok
    assert {"energy", "inclusion (53)"} <= conditions(model, motion)


def test_interpolation_may_err_at_both_samples():
    """A swing of Newton's cradle: nothing is lost, and its samples lie a little below and above that."""
    cradle = routh.systems.get("newtons-cradle")
    verdict = verify(cradle.model, routh.simulate(cradle.model, cradle.state, duration=2.0))
    assert verdict.ok, str(verdict)


def test_energy_gained_bit_by_bit_is_caught():
    """Each step up is within what one sample may err; together they are not."""
    model = sliding_block()
    motion = routh.simulate(model, routh.State([0, 2.0, 0], [1.0, 0, 0]), duration=0.1, sample_dt=1e-3)
    creep = 1.0 + 2e-9 * np.arange(len(motion))[:, None]
    assert "energy" in conditions(model, replace(motion, v=motion.v * creep))


def test_a_sloppy_integrator_is_caught(block):
    motion = routh.simulate(
        block.model, block.state, duration=1.0, law=Simultaneous(), rtol=1e-4, atol=1e-5, max_step=1.0
    )
    assert not verify(block.model, motion).ok


def test_restitution_that_the_model_does_not_have_is_caught():
    ball = routh.systems.get("bouncing-ball", restitution=0.8)
    motion = routh.simulate(ball.model, ball.state, duration=0.6, law=Newton())
    assert verify(ball.model, motion).ok
    dead = routh.systems.get("bouncing-ball", restitution=0.0)
    assert not verify(dead.model, motion).ok


def test_the_check_shares_no_code_with_the_simulator():
    own = {"verification"}
    folder = Path(inspect.getfile(Verdict)).parent
    tree = ast.Module([ast.parse((folder / f"{name}.py").read_text()) for name in sorted(own)], [])
    names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    used = {name.removeprefix("routh.sim.") for name in names if name.startswith("routh.sim")}
    assert used - own == {"trajectory"}
    assert not {name for name in names if name.startswith(("routh.laws", "routh.step", "routh.lcp"))}
    words = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert not words & set(routh.laws.__all__), "a law declares its path; the check knows no law by name"


def test_a_made_up_accumulation_is_caught(block, motion):
    from routh.sim import Event

    i = 100
    fake = Event("zeno", float(motion.t[i]), i, ("A",), {"cycle": 1, "ratio": 0.5})
    found = conditions(block.model, replace(motion, events=(*motion.events, fake)))
    assert "impacts decay before an accumulation" in found


def test_a_jump_that_is_too_long_is_caught():
    ball = routh.systems.get("bouncing-ball", restitution=0.5, mu=0.0)
    motion = routh.simulate(ball.model, ball.state, duration=1.5, law=Newton())
    assert verify(ball.model, motion).ok
    i = next(event.index for event in motion.events if event.kind == "zeno")
    later = np.where(np.arange(len(motion)) >= i, 1e-4, 0.0)
    found = conditions(ball.model, replace(motion, t=motion.t + later, s=motion.s + later))
    assert {"skipped time", "momentum at accumulations"} <= found


@pytest.mark.parametrize("size", [1.0, 1e-3, 1e-8])
@pytest.mark.parametrize("coordinate", [0, 1, 2])
def test_a_jump_across_an_accumulation_is_caught(block, whole_motion, coordinate, size):
    """The block goes on sideways, above the ground or turned, as if it had always been there."""
    i = next(event.index for event in whole_motion.events if event.kind == "zeno")
    q = whole_motion.q.copy()
    q[i:, coordinate] += size
    faults = verify(block.model, replace(whole_motion, q=q)).violations
    assert ("dq = v dt", i) in {(fault.condition, fault.index) for fault in faults}


def test_an_accumulation_that_ends_in_approach_or_in_the_air_is_caught():
    ball = routh.systems.get("bouncing-ball", restitution=0.5, mu=0.0)
    motion = routh.simulate(ball.model, ball.state, duration=1.5, law=Newton())
    i = next(event.index for event in motion.events if event.kind == "zeno")
    sinking = changed(motion, "v", i, [0.0, -1e-5, 0.0])
    assert "no approach after impacts" in conditions(ball.model, sinking)
    assert "force at a distance" in conditions(ball.model, changed(motion, "q", i, [0.0, 1e-8, 0.0]))


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("field", ["q", "v", "impulse", "forces"])
def test_nan_is_counted_before_any_arithmetic(block, motion, field, value):
    """Whether NaN in a maximum warns depends on the machine, so none may get there."""
    if field == "forces":
        wrong = replace(
            motion, forces={n: np.where(f == f.max(), value, f) for n, f in motion.forces.items()}
        )
    else:
        wrong = changed(motion, field, 30, value)
    with np.errstate(all="raise"):
        report = verify(block.model, wrong)
    assert {fault.condition for fault in report.violations} == {"finite numbers"}
    assert not report.ok
    assert "NOT a solution" in str(report)


def test_time_stepping_is_refused(block, motion):
    with pytest.raises(ValueError, match="no augmented time"):
        verify(block.model, replace(motion, s=None))
    with pytest.raises(ValueError, match="no s"):
        replace(motion, s=None).in_s()


@pytest.mark.parametrize(
    ("name", "law", "rougher"),
    [
        ("box-wall", routh.laws.LZB(stiffness=[1.0, 3.0]), {"mu": 2.0}),
        pytest.param("painleve-rod", "two-body", {"mu": 3.0}, marks=needs("two_body")),
    ],
)
def test_paths_of_other_laws_are_held_to_friction(name, law, rougher):
    law = routh.laws.named(law) if isinstance(law, str) else law
    system = routh.systems.get(name)
    motion = routh.simulate(system.model, system.state, duration=0.1, law=law)
    assert any(event.data.get("law") == type(law).__name__ for event in motion.events)
    assert verify(system.model, motion).ok
    report = verify(routh.systems.get(name, **rougher).model, motion)
    impacts = {i for i in range(1, len(motion)) if motion.t[i] == motion.t[i - 1]}
    assert any(fault.index in impacts and "dissipation" in fault.condition for fault in report.violations)


def test_a_rocking_block_by_springs_is_verified():
    """Its slip is zero up to rounding before each impact, and rounding must not be taken for sliding."""
    system = routh.systems.get("rocking-block")
    law = routh.laws.LZB(stiffness=[1.0, 3.0])
    assert verify(system.model, routh.simulate(system.model, system.state, duration=0.3, law=law)).ok


def test_impulses_of_large_friction_may_be_recorded_a_sample_later():
    """Augmented time counts normal impulses; with a friction of 1e5 tangential ones are larger by as much."""
    robot = routh.systems.get("ramone")
    motion = routh.simulate(robot.model, robot.state, duration=0.001, stream=95, seed=1)
    verdict = verify(robot.model, motion)
    assert verdict.ok, str(verdict)


def test_closing_a_gap_may_turn_a_short_lever_by_more_than_the_gap():
    """A contact begins anywhere within a nanometre; a rod of a decimetre turns by fifteen times that."""
    rod = box("rod", 0.1, 0.002, mass=1.0)
    ends = [PlaneContact(name, "rod", GROUND, (x, -0.001), mu=0.5) for name, x in (("A", -0.05), ("B", 0.05))]
    model = PlanarModel([rod], ends)
    gap = 0.9 * tolerances.CLOSED_GAP
    q = np.array([0.0, 0.001 + 0.5 * gap, math.asin(gap / 0.1)])
    motion = routh.simulate(model, routh.State(q, [0.3, 0.0, 0.0]), duration=1e-3)
    assert motion.forces["contacts"][1, 1, 0] > 0.0
    assert np.abs(motion.q[1] - motion.q[0])[2] > 4.0 * gap
    verdict = verify(model, motion)
    assert verdict.ok, str(verdict)
    turned = motion.q[5:].copy()
    turned[:, 2] += 5.0 * gap
    assert not verify(model, replace(motion, q=np.concatenate([motion.q[:5], turned]))).ok


@pytest.mark.parametrize(("option", "given"), [("", ' gravcomp="1.5"'), ('density="1.2" wind="30 0 0"', "")])
def test_lift_and_wind_are_no_energy_from_nowhere(option, given):
    """Two samples later twice the work of the wind, say, is."""
    import mujoco

    from routh.models.mujoco import MujocoModel

    body = f'<body{given}><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>'
    model = MujocoModel(
        mujoco.MjModel.from_xml_string(f"<mujoco><option {option}/><worldbody>{body}</worldbody></mujoco>")
    )
    start = routh.State(model.mujoco.qpos0, np.zeros(6))
    motion = routh.simulate(model, start, duration=0.2)
    verdict = verify(model, motion)
    assert verdict.ok, str(verdict)
    assert verdict.checked["energy"] > 0
    assert np.ptp(motion.energies["kinetic"]) > 1e-4
    faster = 1.0 + 0.01 * np.linspace(0.0, 1.0, len(motion))[:, None]
    assert "energy" in conditions(model, replace(motion, v=motion.v * faster))


@pytest.mark.parametrize(("below", "caught"), [(1e-6, False), (3e-6, True)])
def test_impacts_far_from_the_origin_may_be_off_by_a_share_of_that(below, caught):
    """Two nanometres for each metre, by which the floor of the check lies lower."""
    start = routh.State([1e3, 0.3, 0.0], np.zeros(3))
    motion = routh.simulate(sliding_block(), start, duration=0.15)
    i = impact_sample(motion)
    faults = verify(sliding_block(floor=-below), replace(motion, events=())).violations
    assert (("force at a distance", i) in {(fault.condition, fault.index) for fault in faults}) == caught


def test_a_fast_pendulum_takes_no_energy_from_wind_that_is_not_there():
    """At 300 rad/s a thousandth of a second is a third of a radian."""
    import mujoco

    from routh.models.mujoco import MujocoModel

    body = '<body><joint axis="0 1 0"/><geom type="sphere" size=".1" pos="0 0 -1" mass="1"/></body>'
    model = MujocoModel(mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{body}</worldbody></mujoco>"))
    motion = routh.simulate(model, routh.State([0.3], [-300.0]), duration=0.01)
    assert Evidence(model, motion, None).powers(1).max() < 1e-6 * 9.81 * 300.0
