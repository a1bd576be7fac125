import numpy as np
import pytest

from routh import systems
from routh.base.status import Status
from routh.models.base import State
from routh.reproduce.kelvin_voigt import KelvinVoigt, compliant_impact

BLOCK = systems.get("rocking-block")
ENDS = 0.21 * -BLOCK.problem.v[1]  # normal velocity after a sequence


def normals(result):
    return BLOCK.problem.Jn @ result.v


def test_equal_stiffness_brings_the_level_block_to_rest():
    result = compliant_impact(BLOCK.model, BLOCK.state)
    assert result.status is Status.SOLVED
    assert np.abs(normals(result)).max() < 1e-8


@pytest.mark.parametrize("ratio", [1e-5, 1e-1, 1e1])
def test_unequal_stiffness_ends_between_rest_and_the_sequential_outcome(ratio):
    k = 1e6 * np.array([max(ratio, 1.0), max(1.0 / ratio, 1.0)])
    result = compliant_impact(BLOCK.model, BLOCK.state, KelvinVoigt(stiffness=k))
    soft, stiff = normals(result)[:: 1 if ratio < 1.0 else -1]
    assert result.status is Status.SOLVED
    assert (
        abs(soft) < 1e-4 * ENDS
    )  # the softer contact is still pressed in when the stiffer one has rebounded
    assert 0.3 * ENDS < stiff < ENDS


def test_energy_never_rises_by_more_than_gravity_gives():
    result = compliant_impact(BLOCK.model, BLOCK.state, KelvinVoigt(stiffness=[1e6, 1e8]))
    energy = BLOCK.problem.kinetic_energy(result.path)
    given = 9.81 * result.duration * np.abs(result.path[:, 1]).max()
    assert np.diff(energy).max() <= given


def test_a_tilted_block_waits_for_its_second_corner():
    angle = np.radians(-0.01)
    q = np.array([0.0, 0.0, angle])
    q[1] = -BLOCK.model.gaps(q).min()
    result = compliant_impact(BLOCK.model, State(q, BLOCK.state.v))
    assert np.all(normals(result) > -1e-5)
    assert normals(result).max() == pytest.approx(ENDS, rel=0.03)


def test_the_damper_uses_the_root_of_stiffness_times_mass():
    assert KelvinVoigt(stiffness=4e6, damping=5.0, mass=9.0).dampers(1) == pytest.approx([10.0 * 6e3])


def test_what_does_not_settle_says_so():
    result = compliant_impact(BLOCK.model, BLOCK.state, limit=1e-6)
    assert result.status is Status.MAX_STEPS


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="stiffness: got -1"):
        compliant_impact(BLOCK.model, BLOCK.state, KelvinVoigt(stiffness=-1.0))
    box = systems.get("box-drop")
    with pytest.raises(ValueError, match="planar"):
        compliant_impact(box.model, box.state)
