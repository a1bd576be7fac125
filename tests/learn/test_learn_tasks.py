"""Stiff touch-downs: what an episode is, and that what decides about them is in them."""

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
mujoco = pytest.importorskip("mujoco")

import routh.learn  # noqa: E402
from routh.learn.tasks import FALL, Lander, Quadruped, TouchDown  # noqa: E402


def brakes_to(sideways, down):
    """A lander's pilot by hand: so many m/s sideways and down."""

    def act(seen):
        speed = np.linalg.norm(seen[1:3])
        brake = np.clip(4.0 * (sideways - speed), -1.0, 0.0) * seen[1:3] / max(speed, 1e-9)
        return np.array([np.clip(3.0 * (-seen[3] - down), -1.0, 1.0), *brake])

    return act


def episode(env, act, seed):
    seen, _ = env.reset(seed=seed)
    total, impacts, ended = 0.0, [], False
    while not ended:
        seen, reward, terminated, truncated, info = env.step(act(seen))
        total, ended = total + reward, terminated or truncated
        impacts += info.get("impacts", ())
    return total, info, impacts


@pytest.mark.parametrize("task", [Lander, Quadruped])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_gymnasiums_checker(task):
    from gymnasium.utils.env_checker import check_env

    check_env(task(), skip_render_check=True)


@pytest.mark.parametrize("task", [Lander, Quadruped])
def test_every_landing_has_impacts_of_several_contacts_whose_every_slice_is_reported(task):
    env = routh.learn.OutcomeRandomization(task(), seed=0)
    act = brakes_to(0.3, 1.0) if task is Lander else lambda seen: np.zeros(8)
    for seed in range(3):
        _, _, impacts = episode(env, act, seed)
        assert impacts
        assert all(len(impact.contacts) > 1 for impact in impacts)


def test_a_slow_landing_stands_whatever_the_feet_and_a_hard_one_is_a_crash():
    env = routh.learn.ParameterRandomization(Lander(), per_contact=True, heights=0.005)
    for seed in range(3):
        total, info, _ = episode(env, brakes_to(0.0, 0.6), seed)
        assert info["verdict"] == "stands"
        assert total == pytest.approx(-info["cost"])
    total, info, _ = episode(env, lambda seen: np.array([-1.0, 0.0, 0.0]), 0)
    assert info["verdict"] == "crashed"
    assert total == pytest.approx(-info["cost"] - FALL)


def test_which_foot_touches_first_decides_about_a_fast_landing():
    """Alike, the feet hold it; each with a height of its own, they do not always."""
    act = brakes_to(1.1, 1.2)
    alike = [episode(Lander(), act, seed)[1]["verdict"] for seed in range(6)]
    env = routh.learn.ParameterRandomization(
        Lander(), friction=(0.9, 1.1), compliance=(0.75, 1.33), per_contact=True, heights=0.005
    )
    own = [episode(env, act, seed)[1]["verdict"] for seed in range(12)]
    assert alike.count("tipped") == 0
    assert own.count("tipped") >= 2


def test_engines_are_cut_when_a_foot_touches():
    env, act = Lander(), brakes_to(1.2, 1.5)
    env.reset(seed=0)
    seen = powered = None
    for _ in range(60):
        before = env.powered
        seen, _, terminated, _, info = env.step(act(env._get_obs()))
        powered = info["powered"]
        assert powered == before
        if not env.powered:
            break
    cost = info["cost"]
    assert not terminated
    assert env.step(np.ones(3))[4]["cost"] == cost
    assert np.array_equal(env.data.ctrl, np.zeros(6))
    assert seen[-1] == 1.0


@pytest.mark.parametrize("wrong", [{"time_constant": 0.0}, {"legs": -1.0}, {"legs": np.nan}])
def test_bad_options_are_named(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Lander(**wrong)


def test_own_robots_get_stiff_contacts_and_equal_times_between_decisions():
    class Crate(TouchDown):
        def start(self, rng):
            return np.array([0, 0, 0.3, 1, 0, 0, 0]), np.zeros(6)

        def verdict(self):
            return "stands" if abs(self.data.qvel[2]) < 0.05 and self.data.time > 0.2 else ""

        def _get_obs(self):
            return np.array(self.data.qpos)

    xml = (
        "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 1'><freejoint name='free'/>"
        "<geom type='box' size='0.1 0.1 0.1'/></body></worldbody>"
        "<actuator><motor joint='free' gear='0 0 1 0 0 0'/></actuator></mujoco>"
    )
    env = Crate(xml, actions=1, observations=7, time_constant=0.003, decision=0.03)
    assert np.all(env.model.geom_solref == [0.003, 1.0])
    env.reset(seed=0)
    env.step(np.zeros(1))
    assert env.data.time == pytest.approx(0.03)
    _, info, impacts = episode(routh.learn.OutcomeRandomization(env), lambda seen: np.zeros(1), 0)
    assert info["verdict"] == "stands"
    assert len(impacts[0].contacts) == 4
