"""What outcome randomisation costs, and that it never does harm.

python benchmarks/learn.py cost [--steps 2000] [--rounds 5]      # a random policy, with and without it
python benchmarks/learn.py safety [--substeps 200000]            # of each of five environments; 10^6 in all,
                                                                 # every replaced velocity audited
python benchmarks/learn.py ambiguity [--steps 4000]              # how ambiguous impacts of common tasks are

Costs are processor times of one core (OMP_NUM_THREADS=1); blocks of steps with the wrapper and without it
take turns, and the fastest of some rounds counts for each block, so that what else the machine does falls
out.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter

import gymnasium
import numpy as np

import routh
import routh.learn
from measure import Table, command_line, run_part, timed
from routh.auditing.membership import broken_laws

GAP = 1e-3  # m: contacts this near take part in an impact
BLOCK = 50  # steps between two looks at the clock
FIVE = ("Hopper-v5", "Walker2d-v5", "HalfCheetah-v5", "Ant-v5", "Humanoid-v5")


def actions(env, steps: int, seed: int = 0) -> np.ndarray:
    space = env.action_space
    return (
        np.random.default_rng(seed).uniform(space.low, space.high, (steps, *space.shape)).astype(np.float32)
    )


def times(env, acts: np.ndarray, *, vector: bool) -> np.ndarray:
    """Seconds of each block of steps from the start of the same episodes."""
    env.reset(seed=0)

    def block(few: np.ndarray) -> None:
        for action in few:
            _, _, terminated, truncated, _ = env.step(action)
            if not vector and (terminated or truncated):
                env.reset()

    return np.array([timed(block, acts[begin : begin + BLOCK])[1] for begin in range(0, len(acts), BLOCK)])


def cost(given: argparse.Namespace) -> None:
    """With the wrapper, with one that only looks, and without it."""
    steps, rounds = given.steps or 2000, given.rounds
    columns = {"environments": "<15", "plain, us a step": ".0f", "looking only": "+.1%", "replacing": ".0f"}
    table = Table({**columns, "ratio": ".3f", "impacts a step": ".3f"})
    for name in ("Hopper-v5", "Walker2d-v5"):
        for count in (1, 16):
            vector = count > 1
            if vector:
                envs = {
                    "plain": gymnasium.make_vec(name, count, vectorization_mode="sync"),
                    "looking": routh.learn.make_vec(name, count, gap=GAP, share=0.0),
                    "replacing": routh.learn.make_vec(name, count, gap=GAP),
                }
            else:
                envs = {
                    "plain": gymnasium.make(name),
                    "looking": routh.learn.OutcomeRandomization(gymnasium.make(name), gap=GAP, share=0.0),
                    "replacing": routh.learn.OutcomeRandomization(gymnasium.make(name), gap=GAP),
                }
            acts = actions(envs["plain"], max(steps // count, 2 * BLOCK))
            best = {kind: times(env, acts, vector=vector) for kind, env in envs.items()}
            for _ in range(rounds):
                for kind, env in envs.items():
                    best[kind] = np.minimum(best[kind], times(env, acts, vector=vector))
            each = {kind: 1e6 * found.sum() / (len(acts) * count) for kind, found in best.items()}
            share = impacts_a_step(envs["replacing"], acts, vector=vector)
            plain, more = each["plain"], each["replacing"]
            table.row(f"{name}, {count}", plain, each["looking"] / plain - 1.0, more, more / plain, share)


def impacts_a_step(env, acts: np.ndarray, *, vector: bool) -> float:
    env.reset(seed=0)
    count = 0
    for action in acts:
        _, _, terminated, truncated, info = env.step(action)
        impacts = info["impacts"] if vector else [info["impacts"]]
        count += sum(len(found or ()) for found in impacts)
        if not vector and (terminated or truncated):
            env.reset()
    return count / acts.shape[0] / (acts.shape[1] if vector else 1)


def rollout(name: str, substeps: int, seed: int, judge=None) -> tuple[float, int]:
    """Run episodes; a checksum of everything seen, and the number of impacts."""
    env = routh.learn.OutcomeRandomization(gymnasium.make(name), gap=GAP, seed=seed)
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    low, high, frames = env.action_space.low, env.action_space.high, env.unwrapped.frame_skip
    total, count = 0.0, 0
    for step in range(max(substeps // frames, 1)):
        observation, reward, terminated, truncated, info = env.step(rng.uniform(low, high))
        total += float(np.sum(observation)) * (1 + step % 7) + float(reward)
        for impact in info["impacts"]:
            count += 1
            if judge is not None:
                judge(impact, count)
        if terminated or truncated:
            env.reset()
    return total, count


def safety(given: argparse.Namespace) -> None:
    """Every replaced velocity, or some, against the laws of `routh.audit`."""
    substeps = given.substeps
    columns = {"environment": "<14", **dict.fromkeys(("substeps", "impacts", "replaced"), ",d")}
    columns |= {
        "most energy gained": ".1e",
        "fastest approach left": ".1e",
        "audited": ",d",
        "laws broken": "d",
    }
    table = Table({**columns, "not finite": "d", "equal seeds, equal episodes": ""})
    for name in FIVE:
        seen: Counter = Counter()
        worst = {"energy": -np.inf, "approach": -np.inf}

        def judge(impact, number, seen=seen, worst=worst) -> None:
            seen["replaced"] += impact.replaced
            if not np.isfinite(impact.v).all():
                seen["not finite"] += 1
            if not impact.replaced:
                return
            worst["energy"] = max(worst["energy"], -impact.energy_lost)
            approach = -(impact.problem.Jn @ impact.v) / impact.problem.scaling.velocity
            worst["approach"] = max(worst["approach"], float(approach.max()))
            if number % given.audit_every == 0:
                seen["audited"] += 1
                seen["broken"] += bool(broken_laws(impact.problem, impact.v))

        total, count = rollout(name, substeps, 0, judge)
        few = min(substeps, 20000)
        equal = rollout(name, few, 1) == rollout(name, few, 1)
        strange = seen["not finite"] + (not np.isfinite(total))
        numbers = substeps, count, seen["replaced"], worst["energy"], worst["approach"], seen["audited"]
        table.row(name, *numbers, seen["broken"], strange, "yes" if equal else "NO")


def ambiguity(given: argparse.Namespace) -> None:
    """How ambiguous impacts of common tasks are."""
    steps = given.steps or 4000
    columns = {"environment": "<14", "impacts a step": ".3f", "contacts, median": ".0f"}
    columns |= dict.fromkeys(("ambiguity: median", "90 %", "largest"), ".3f")
    table = Table({**columns, "distance from MuJoCo's own, median": ".2f"})
    for name in FIVE:
        found = []
        frames = gymnasium.make(name).unwrapped.frame_skip
        rollout(name, steps * frames, 0, lambda impact, number, found=found: found.append(impact))
        if not found:
            table.row(name, 0.0, *5 * [None])
            continue
        spread = np.array([impact.ambiguity for impact in found])
        far = np.median([impact.distance for impact in found[:100]])
        contacts = np.median([len(impact.contacts) for impact in found])
        quantiles = np.median(spread), np.quantile(spread, 0.9), spread.max()
        table.row(name, len(found) / steps, contacts, *quantiles, far)


def main() -> None:
    parser = command_line(__doc__, cost, safety, ambiguity)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--substeps", type=int, default=200_000)
    parser.add_argument("--audit-every", type=int, default=1)
    warnings.filterwarnings("ignore", category=UserWarning)
    run_part(parser)


if __name__ == "__main__":
    main()
