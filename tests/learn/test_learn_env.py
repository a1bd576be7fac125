import copy
import pickle

import numpy as np
import pytest

import routh
import routh.learn

gymnasium = pytest.importorskip("gymnasium")
mujoco = pytest.importorskip("mujoco")


def episodes(env, seed, steps=60, first=True):
    """Observations, rewards and impacts of some steps, with resets."""
    rng = np.random.default_rng(seed)
    observation, _ = env.reset(seed=seed)
    seen, impacts = [observation], []
    for _ in range(steps):
        action = rng.uniform(env.action_space.low, env.action_space.high)
        observation, reward, terminated, truncated, info = env.step(action)
        seen.append(np.append(observation, reward))
        impacts += info["impacts"]
        if terminated or truncated:
            seen.append(env.reset()[0])
    return np.concatenate(seen), impacts


@pytest.fixture(scope="module")
def hopper():
    return routh.learn.OutcomeRandomization(gymnasium.make("Hopper-v5"), seed=0)


@pytest.mark.parametrize("name", ["Hopper-v5", "HalfCheetah-v5"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_gymnasiums_checker(name):
    from gymnasium.utils.env_checker import check_env

    env = routh.learn.OutcomeRandomization(gymnasium.make(name, disable_env_checker=True).unwrapped)
    check_env(env, skip_render_check=True)


def test_equal_seeds_give_equal_episodes(hopper):
    first, impacts = episodes(hopper, 7, steps=150)
    again, same = episodes(hopper, 7, steps=150)
    assert len(impacts) > 2
    assert np.array_equal(first, again)
    assert [impact.time for impact in impacts] == [impact.time for impact in same]
    other, _ = episodes(hopper, 8, steps=20)
    assert not np.array_equal(first[: len(other)], other)


def test_the_seed_of_a_reset_seeds_the_draws(hopper):
    """With the actions and the start of one episode, another seed of the draws gives another motion."""
    start = episodes(hopper, 7, steps=150)[0]
    hopper.reset(seed=7)
    hopper.hook.reset(123)
    rng = np.random.default_rng(7)
    seen = []
    for _ in range(150):
        observation, *_, ended, _, _ = hopper.step(rng.uniform(-1.0, 1.0, 3).astype(np.float32))
        seen.append(observation)
        if ended:
            hopper.reset()
    assert not np.array_equal(start[-11:], seen[-1])


@pytest.mark.parametrize("name", ["Hopper-v5", "Walker2d-v5"])
def test_every_replaced_velocity_passes_the_audit(name):
    env = routh.learn.OutcomeRandomization(gymnasium.make(name), seed=0)
    _, impacts = episodes(env, 1, steps=400)
    replaced = [impact for impact in impacts if impact.replaced]
    assert len(replaced) > 5
    for impact in replaced:
        assert impact.energy_lost >= -1e-8
        assert min(impact.problem.Jn @ impact.v) > -1e-6
        found = routh.audit(impact.problem, impact.v, n=1024)
        assert found.broken == (), found.verdict
        assert found.distance <= max(1e-3, 3.0 * found.resolution), found.verdict  # samples of another seed


def test_records_travel_between_processes_and_are_not_copied_within_one(hopper):
    _, impacts = episodes(hopper, 7, steps=150)
    assert copy.deepcopy({"impacts": impacts})["impacts"][0] is impacts[0]
    there = pickle.loads(pickle.dumps(impacts[0]))
    assert there.contacts == impacts[0].contacts
    assert there.ambiguity == impacts[0].ambiguity
    with pytest.raises(ValueError, match="another process"):
        there.distance  # noqa: B018


def test_off_is_the_environments_own():
    plain = gymnasium.make("Hopper-v5")
    off = routh.learn.OutcomeRandomization(gymnasium.make("Hopper-v5"), mode="off")
    a, b = plain.reset(seed=3)[0], off.reset(seed=3)[0]
    rng = np.random.default_rng(0)
    for _ in range(15):
        assert np.array_equal(a, b)
        action = rng.uniform(-1.0, 1.0, 3)
        a, b = plain.step(action)[0], off.step(action)[0]


def test_another_stepper_is_refused_and_so_is_a_second_wrapper():
    with pytest.raises(ValueError, match="env: got CartPoleEnv"):
        routh.learn.OutcomeRandomization(gymnasium.make("CartPole-v1"))
    once = routh.learn.OutcomeRandomization(gymnasium.make("Hopper-v5"))
    with pytest.raises(ValueError, match="another wrapper"):
        routh.learn.OutcomeRandomization(once)


def test_the_adversary_takes_the_outcome_of_lowest_value():
    values = []

    def value(observations):
        values.append(observations)
        return observations[:, 5]  # the forward speed

    env = routh.learn.AdversarialOutcomes(gymnasium.make("Hopper-v5"), value=value, k=8, seed=0)
    _, impacts = episodes(env, 7, steps=150)
    assert impacts
    asked = values[0]
    assert asked.shape == (len(asked), 11)
    assert impacts[0].v[0] == pytest.approx(asked[:, 5].min())
    assert impacts[0].mode == "worst"
    with pytest.raises(ValueError, match="objective, value"):
        routh.learn.AdversarialOutcomes(gymnasium.make("Hopper-v5"))


def test_parameters_are_drawn_each_episode_and_given_back():
    env = routh.learn.ParameterRandomization(gymnasium.make("Hopper-v5"), friction=(0.5, 1.5))
    model = env.unwrapped.model
    usual = model.geom_friction.copy(), model.geom_solref.copy()
    _, info = env.reset(seed=1)
    factors = info["parameters"]
    assert model.geom_friction[:, 0] == pytest.approx(factors["friction"] * usual[0][:, 0])
    assert model.geom_solref[:, 0] == pytest.approx(factors["compliance"] * usual[1][:, 0])
    _, again = env.reset(seed=1)
    assert again["parameters"] == factors
    _, other = env.reset()
    assert other["parameters"] != factors
    env.close()
    assert np.array_equal(model.geom_friction, usual[0])
    with pytest.raises(ValueError, match=r"friction\[0\]: got 0"):
        routh.learn.ParameterRandomization(gymnasium.make("Hopper-v5"), friction=(0.0, 1.0))


def test_outcomes_inside_randomised_parameters_see_them():
    inner = routh.learn.OutcomeRandomization(gymnasium.make("Hopper-v5"))
    env = routh.learn.ParameterRandomization(inner, friction=(0.25, 0.25))
    _, impacts = episodes(env, 7, steps=150)
    rows = [row for impact in impacts for row in zip(impact.problem.mu, impact.contacts, strict=True)]
    on_floor = [mu for mu, name in rows if "floor" in name]
    assert on_floor
    assert max(on_floor) == pytest.approx(0.25 * 2.0)


def test_side_by_side_each_gives_its_own_episodes():
    envs = routh.learn.make_vec("Hopper-v5", 3)
    rng = np.random.default_rng(0)
    actions = rng.uniform(-1.0, 1.0, size=(80, 3, 3)).astype(np.float32)
    together, impacts = [envs.reset(seed=10)[0].copy()], [[], [], []]
    for action in actions:
        observation, _, _, _, info = envs.step(action)
        together.append(observation.copy())
        for k in range(3):
            impacts[k] += info["impacts"][k]
    envs.close()
    for k in range(3):
        env = routh.learn.OutcomeRandomization(gymnasium.make("Hopper-v5"))
        alone, own, ended = [env.reset(seed=10 + k)[0]], [], False
        for action in actions[:, k]:
            if ended:
                observation, info = env.reset()
                ended = False
            else:
                observation, _, terminated, truncated, info = env.step(action)
                ended = terminated or truncated
            alone.append(observation)
            own += info["impacts"]
        assert np.array_equal(np.array(alone), np.array(together)[:, k])
        assert len(own) == len(impacts[k])
        assert all(np.array_equal(a.v, b.v) for a, b in zip(own, impacts[k], strict=True))
    assert sum(map(len, impacts)) > 3


def test_drawn_outcomes_are_those_of_sample():
    from routh.learn.draws import Drawer

    for name in ("Hopper-v5", "Walker2d-v5"):
        env = routh.learn.OutcomeRandomization(gymnasium.make(name))
        _, impacts = episodes(env, 7, steps=200)
        assert len(impacts) > 2
        drawer = Drawer()
        for k, impact in enumerate(impacts):
            n = 1 + k % 3
            drawn = drawer.draw(impact.arrival, 5 + k, n)
            alone = routh.sample(impact.problem, n, seed=5 + k)
            assert np.array_equal(drawn.v, alone.v)
            assert np.array_equal(drawn.status, alone.status)
            assert drawn.good.all()


def test_each_contact_has_parameters_of_its_own():
    options = {"per_contact": True, "heights": 0.002}
    env = routh.learn.ParameterRandomization(gymnasium.make("Ant-v5"), friction=(0.5, 1.5), **options)
    model = env.unwrapped.model
    usual = {name: getattr(model, name).copy() for name in ("geom_friction", "geom_pos", "geom_priority")}
    flags = int(model.opt.disableflags)
    _, info = env.reset(seed=1)
    told, geoms = info["parameters"], env.geoms
    assert len(geoms) > 4
    assert len(set(told["friction"])) == len(geoms)
    assert model.geom_friction[geoms, 0] == pytest.approx(told["friction"] * usual["geom_friction"][geoms, 0])
    moved = np.linalg.norm(model.geom_pos[geoms] - usual["geom_pos"][geoms], axis=1)
    assert moved == pytest.approx(np.abs(told["heights"]))
    assert np.all(model.geom_priority[geoms] > model.geom_priority[0])  # so that their own friction counts
    assert int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)
    _, again = env.reset(seed=1)
    assert np.array_equal(again["parameters"]["heights"], told["heights"])
    env.close()
    for name, values in usual.items():
        assert np.array_equal(getattr(model, name), values)
    assert int(model.opt.disableflags) == flags
    with pytest.raises(ValueError, match="without per_contact"):
        routh.learn.ParameterRandomization(gymnasium.make("Hopper-v5"), heights=0.002)
