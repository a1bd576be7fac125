"""The HP23 systems against numbers that were computed independently of this code."""

import closed_forms
import numpy as np
import pytest
from by_hand import in_sequence, single_impact

from routh import systems

NAMES = ["rocking-block", "compass-gait", "box-wall", "ramone", "disk-stack", "disk-stack-5kg"]


@pytest.mark.parametrize("name", NAMES)
def test_each_is_an_impact_with_the_paper_s_settings(name):
    system = systems.get(name)
    assert system.kind == "impact"
    assert system.problem.approaching.any()
    assert system.paper.source.startswith("HP23 Table")
    assert system.paper.samples in (2**14, 2**18, 2**20)


def test_rocking_block_in_sequence():
    problem = systems.get("rocking-block").problem
    expected = np.array([0.093018, 0.046509, -0.093018])
    np.testing.assert_allclose(in_sequence(problem, "AB"), expected, atol=1e-6)
    np.testing.assert_allclose(in_sequence(problem, "BA"), expected * [-1, 1, -1], atol=1e-6)


@pytest.mark.parametrize("order", ["AB", "BA"])
def test_box_and_wall_in_sequence(order):
    problem = systems.get("box-wall").problem
    np.testing.assert_allclose(in_sequence(problem, order), [0.063790, -0.169432, 0.417754], atol=1e-6)


def test_compass_gait_solutions_of_single_impact():
    problem = systems.get("compass-gait").problem
    # an impact at A alone leaves B lifting: the third simultaneous solution
    expected = [0.088429, -0.416027, -0.425321, 0.527100]
    np.testing.assert_allclose(single_impact(problem, 0, problem.v), expected, atol=1e-6)
    np.testing.assert_allclose(problem.contact_velocity()[1], 0.0, atol=1e-15)


def test_ramone_against_table_7():
    system = systems.get("ramone")
    np.testing.assert_allclose(system.problem.v[:3], [-0.411416, -0.210518, 1.0], atol=1e-6)
    from routh.systems.hp23 import ramone_trailing_knee

    knee = ramone_trailing_knee(*np.deg2rad([16.0, -70.0, -2.0, 70.0]))
    assert np.rad2deg(knee) == pytest.approx(-92.486, abs=5e-4)
    after = system.problem.contact_velocity(single_impact(system.problem, 0, system.problem.v))
    np.testing.assert_allclose(after[1], [0.000331, -0.027350], atol=1e-6)  # B lifts


def test_disk_stack_masses():
    one, five = systems.get("disk-stack").problem, systems.get("disk-stack-5kg").problem
    np.testing.assert_array_equal(5.0 * one.M, five.M)
    np.testing.assert_array_equal(systems.get("disk-stack", mass=5.0).problem.M, five.M)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("rocking-block", {"width": -1.0}, "width: got -1.0; wanted"),
        ("rocking-block", {"mu": [1.0, 1.0, 1.0]}, r"mu: got shape \(3,\)"),
        ("compass-gait", {"mass_to_foot": 2.0}, "mass_to_foot: got 2.0"),
        ("box-wall", {"tilt": float("nan")}, "tilt: got nan"),
        ("ramone", {"leading_hip": -0.28}, "trailing_hip: got 1.2.*reaches the ground"),
        ("disk-stack", {"color": "red"}, r"disk-stack: there is no parameter 'color'; wanted radius \(1.0\)"),
    ],
)
def test_bad_parameters_are_refused_by_name(name, parameters, message):
    with pytest.raises(ValueError, match=message):
        systems.get(name, **parameters)


def test_unknown_name_gets_the_nearest():
    with pytest.raises(ValueError, match="Did you mean 'rocking-block'"):
        systems.get("rocking-blok")


OTHERS = {
    "rocking-block": {"width": 0.3, "height": 0.7, "mass": 2.0, "speed": 0.5},
    "compass-gait": {"leg": 0.8, "mass_to_foot": 0.1, "mass": 3.0, "angle": 0.4, "rate": 2.0},
    "box-wall": {"side": 0.4, "mass": 2.0, "tilt": 0.3, "speed": 3.0},
    "ramone": {"pitch": 10.0, "leading_hip": -60.0, "trailing_hip": 65.0, "leading_knee": -5.0, "rate": 0.5},
    "disk-stack": {"radius": 0.2, "mass": 3.0, "speed": 2.0},
}


@pytest.mark.parametrize(("name", "changes"), [*((name, {}) for name in NAMES), *OTHERS.items()])
def test_model_gives_the_closed_form(name, changes):
    expected = getattr(closed_forms, name.replace("-", "_"))(**changes)
    if name == "ramone":  # by hand in degrees
        changes = {key: x if key == "rate" else np.deg2rad(x) for key, x in changes.items()}
    system = systems.get(name, **changes)
    problem = system.problem
    assert problem.names == tuple("ABCDE"[: problem.nc])
    for field, found in zip(("M", "Jn", "Jt", "v"), expected, strict=True):
        shaped = np.reshape(found, getattr(problem, field).shape)
        np.testing.assert_allclose(getattr(problem, field), shaped, rtol=0, atol=1e-12, err_msg=field)
    gaps = system.model.gaps(system.state.q)
    np.testing.assert_allclose(gaps[: problem.nc], 0.0, atol=1e-12)
    assert np.all(gaps[problem.nc :] > 0.01)  # contacts of later motion


def test_contacts_of_later_motion_are_left_out_however_near():
    system = systems.get("box-wall", tilt=1e-9)
    assert system.problem.names == ("A", "B")
    assert system.model.problem(system.state).nc == 4
