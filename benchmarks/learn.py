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
import time
import warnings
from collections import Counter

import gymnasium
import numpy as np

import routh
import routh.learn
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
    found = []
    for begin in range(0, len(acts), BLOCK):
        start = time.process_time()
        for action in acts[begin : begin + BLOCK]:
            _, _, terminated, truncated, _ = env.step(action)
            if not vector and (terminated or truncated):
                env.reset()
        found.append(time.process_time() - start)
    return np.array(found)


def cost(steps: int, rounds: int) -> None:
    print("| environments | plain, us a step | looking only | replacing | ratio | impacts a step |")
    print("|---|---|---|---|---|---|")
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
            print(
                f"| {name}, {count} | {each['plain']:.0f} | {each['looking'] / each['plain'] - 1:+.1%} | "
                f"{each['replacing']:.0f} | {each['replacing'] / each['plain']:.3f} | {share:.3f} |",
                flush=True,
            )


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


def safety(substeps: int, every: int) -> None:
    print("| environment | substeps | impacts | replaced | most energy gained | fastest approach left | "
          "audited | laws broken | not finite | equal seeds, equal episodes |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in FIVE:
        seen: Counter = Counter()
        worst = {"energy": -np.inf, "approach": -np.inf}

        def judge(impact, number, seen=seen, worst=worst) -> None:
            seen["replaced"] += impact.replaced
            if not np.isfinite(impact.v_after).all():
                seen["not finite"] += 1
            if not impact.replaced:
                return
            worst["energy"] = max(worst["energy"], -impact.energy_lost)
            approach = -(impact.problem.Jn @ impact.v_after) / impact.problem.scaling.velocity
            worst["approach"] = max(worst["approach"], float(approach.max()))
            if number % every == 0:
                seen["audited"] += 1
                seen["broken"] += bool(broken_laws(impact.problem, impact.v_after))

        total, count = rollout(name, substeps, 0, judge)
        few = min(substeps, 20000)
        equal = rollout(name, few, 1) == rollout(name, few, 1)
        finite = "0" if np.isfinite(total) and not seen["not finite"] else "SOME"
        print(
            f"| {name} | {substeps:,} | {count:,} | {seen['replaced']:,} | {worst['energy']:.1e} | "
            f"{worst['approach']:.1e} | {seen['audited']:,} | {seen['broken']} | {finite} | "
            f"{'yes' if equal else 'NO'} |",
            flush=True,
        )


def ambiguity(steps: int) -> None:
    print("| environment | impacts a step | contacts, median | ambiguity: median | 90 % | largest | "
          "distance from MuJoCo's own, median |")  # fmt: skip
    print("|---|---|---|---|---|---|---|")
    for name in FIVE:
        found = []
        frames = gymnasium.make(name).unwrapped.frame_skip
        rollout(name, steps * frames, 0, lambda impact, number, found=found: found.append(impact))
        if not found:
            print(f"| {name} | 0 | | | | | |", flush=True)
            continue
        spread = np.array([impact.ambiguity for impact in found])
        far = [impact.distance for impact in found[:100]]
        contacts = np.median([len(impact.contacts) for impact in found])
        print(
            f"| {name} | {len(found) / steps:.3f} | {contacts:.0f} | {np.median(spread):.3f} | "
            f"{np.quantile(spread, 0.9):.3f} | {spread.max():.3f} | {np.median(far):.2f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("cost", "safety", "ambiguity"))
    parser.add_argument("--steps", type=int)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--substeps", type=int, default=200_000)
    parser.add_argument("--audit-every", type=int, default=1)
    given = parser.parse_args()
    warnings.filterwarnings("ignore", category=UserWarning)
    if given.what == "cost":
        cost(given.steps or 2000, given.rounds)
    elif given.what == "safety":
        safety(given.substeps, given.audit_every)
    else:
        ambiguity(given.steps or 4000)


if __name__ == "__main__":
    main()
