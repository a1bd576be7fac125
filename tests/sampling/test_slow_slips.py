"""A slip that closes slowly beside another one that closes quickly, in space with the true cone."""

import numpy as np
import pytest

import routh
from spatial_path import spatial_path_residual

LEG = """<body name="{0}" pos="{1} {2} 0"><joint name="{0}_hip" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="0.5"/>
  <body pos="0 0 -0.2"><joint name="{0}_knee" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.18" size="0.02" mass="0.3"/>
    <geom type="sphere" pos="0 0 -0.2" size="0.03" mass="0.1"/></body></body>"""
PLACES = {"fl": (0.2, 0.12), "fr": (0.2, -0.12), "hl": (-0.2, 0.12), "hr": (-0.2, -0.12)}
ROBOT = """<mujoco><default><joint armature="0.02"/></default><worldbody><geom type="plane" size="2 2 1"/>
  <body pos="0 0 1"><freejoint/><geom type="box" size="0.25 0.12 0.05" mass="8"/>{}</body>
  </worldbody></mujoco>"""


def landing_problem(hip: float):
    """A quadruped with motors of some inertia, on four feet below its hips."""
    mujoco = pytest.importorskip("mujoco")
    legs = "".join(LEG.format(name, *place) for name, place in PLACES.items())
    model = mujoco.MjModel.from_xml_string(ROBOT.format(legs))
    model.dof_armature[:6] = 0.0
    joints = {f"{leg}_{joint}": hip * times for leg in PLACES for joint, times in (("hip", 1), ("knee", -2))}
    return routh.models.landing(model, down=1.0, joints=joints, restitution=0.0).problem


@pytest.mark.parametrize(("hip", "n", "seed"), [(0.6, 1024, 2), (0.3, 2048, 1)])
def test_the_farthest_samples_are_outcomes(hip, n, seed):
    # where one contact's slip went straight on to its slow end, another's was taken through zero and beyond:
    # samples with the status SOLVED had gained up to a quarter of the kinetic energy
    problem = landing_problem(hip)
    outcomes = routh.sample(problem, n, seed=seed)
    assert outcomes.status_counts() == {routh.Status.SOLVED: n}
    from_middle = np.linalg.norm((outcomes.v - np.median(outcomes.v, axis=0)) @ problem.cholesky, axis=1)
    farthest = np.argsort(-from_middle)[:3]
    residuals = [spatial_path_residual(problem, outcomes.path(int(k))) for k in farthest]
    assert max(residuals) < 1e-4, residuals
