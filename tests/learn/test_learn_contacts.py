"""The experiment's other contact model: MuJoCo's robots with contacts of `routh.constraints`."""

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
mujoco = pytest.importorskip("mujoco")

from falling import energy  # noqa: E402

from learning.rigid import RigidContacts  # noqa: E402


def lifted(env, height):
    """The environment from its first state, so many metres higher, at rest."""
    env.reset(seed=0)
    inside = env.unwrapped
    q = np.array(inside.init_qpos)
    q[1] += height
    inside.set_state(q, np.zeros(inside.model.nv))
    return inside


@pytest.mark.parametrize("task", ["Hopper-v5", "Walker2d-v5"])
def test_falls_as_in_mujoco_lands_and_neither_sinks_in_nor_gains_energy(task):
    env, usual = RigidContacts(gymnasium.make(task)), gymnasium.make(task)
    inside, other = lifted(env, 0.2), lifted(usual, 0.2)
    nothing = np.zeros(env.action_space.shape)
    before, deepest = energy(inside.model, inside.data), 0.0
    for step in range(60):
        env.step(nothing)
        env.lookout.look()
        rows = env.lookout.arrival()
        if rows is not None:
            deepest = min(deepest, rows.depth.min())
        if step < 10:  # in the air: MuJoCo's integrator is of higher order
            usual.step(nothing)
            np.testing.assert_allclose(inside.data.qpos, other.data.qpos, atol=2e-3)
        now = energy(inside.model, inside.data)
        assert now <= before + 1e-3 * abs(before)
        before = now
    assert env.steps > 50
    assert env.unsolved == 0
    assert deepest > -1e-3
