"""Which restitution a landing has where nothing is said: that of `tipping` and of every command."""

from pathlib import Path

import numpy as np
import pytest

import routh
from routh.models.robots.landing import landing_problem

mujoco = pytest.importorskip("mujoco")

CRATE = """<mujoco><worldbody><geom name="floor" type="plane" size="5 5 .1"/>
  <body name="crate" pos="0 0 1"><freejoint/><geom name="crate" type="box" size=".2 .2 .1" {}/></body>
  </worldbody></mujoco>"""
SPRINGS = {"": np.exp(-2.0), 'solref="0.02 0.1" priority="1"': 0.745}  # 0.745: exp(-2 z a), z = 0.1


@pytest.mark.parametrize("spring", SPRINGS)
def test_a_landing_bounces_as_its_springs_and_as_tipping_does(spring, tmp_path):
    file = Path(tmp_path / "crate.xml")
    file.write_text(CRATE.format(spring))
    landing = routh.models.landing(file, down=1.0)
    answer = routh.robust.tipping(landing.model, landing.qpos, landing.qvel, n=16)
    assert landing.problem.restitution == pytest.approx(SPRINGS[spring], abs=1e-3)
    assert answer.restitution == pytest.approx(landing.problem.restitution, abs=0.0)
    swept = landing_problem(str(file), down=1.0)
    assert swept is not None
    assert swept.restitution == pytest.approx(landing.problem.restitution, abs=0.0)
    assert not np.any(routh.models.landing(file, down=1.0, restitution=0.0).problem.restitution)


def test_limits_return_nothing_and_other_words_are_refused():
    spec = mujoco.MjSpec.from_string(CRATE.format(""))
    lid = spec.body("crate").add_body(pos=[0.0, 0.0, 0.2])
    lid.add_joint(name="lid", axis=[0, 1, 0], range=[0.0, 0.1], limited=True)
    lid.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.05, 0, 0])
    model = spec.compile()
    landing = routh.models.landing(model, down=1.0, joint_velocities={"lid": -1.0})
    kinds = [contact.kind for contact in landing.problem.contacts]
    assert "joint-limit" in kinds
    bouncing = landing.problem.restitution > 0.0
    assert [kind == "contact" for kind in kinds] == bouncing.tolist()
    with pytest.raises(ValueError, match="restitution: got 'spring'"):
        routh.models.landing(model, down=1.0, restitution="spring")
