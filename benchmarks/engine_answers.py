"""What a physics engine makes of the kit's scenes, of uneven feet, of the phase of its step, of touch-downs.

    python benchmarks/engine_answers.py table|phase|uneven|tipping --engine NAME[,NAME] --out FOLDER

Run in an environment with the engine (benchmarks/engines/README.md); `engine_sets.py` tells what the answers
are worth in one with routh. ``table``: every scene at 1e-4 s and at the engine's own step. ``phase``: the
lander with equal feet, started at 8 heights within a step. ``uneven``: the README's touch-down with feet of
unequal heights, sigma 2 mm: 100 answers, and which of 40 runs with gravity tip over. ``tipping``: the states
of ``engine_sets.py states``, 40 runs each with heights and frictions of their own. Each writes one JSON file
per engine, with version, machine and seed.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from measure import command_line, machine, run_part
from routh.testkit.catalogue import FEET, heading, legged, scenes
from routh.testkit.names import SMALL, named, version
from routh.testkit.scene import ImpactScene, rotation
from routh.testkit.stepping import Stepped, impact

STEP = 5e-4  # s, where feet differ
NOISE, SEED = 0.002, 11  # m, sigma of the feet's heights
G, BARRIER, PER_KG = 9.81, float(np.hypot(0.2, 0.55)), 0.0625  # m/s^2; m, of the centre when it tips; m^2
FALLEN, UPRIGHT = 0.35, 0.8  # cosine of the tilt
SECONDS, LOOK = 2.0, 20  # s a run; steps between looks


def keep(given: argparse.Namespace, name: str, part: str, found: object, began: float) -> None:
    """Write what one engine said."""
    given.out.mkdir(parents=True, exist_ok=True)
    told = {"engine": name, "version": version(name), "part": part, "machine": machine()}
    told |= {"command": f"engine_answers.py {part} --engine {name}", "answers": found}
    (given.out / f"{part}-{name}.json").write_text(json.dumps(told) + "\n")
    print(f"{part} {name} {told['version']}: {time.time() - began:.0f} s", flush=True)


def rounded(v: np.ndarray) -> list[list[float]]:
    """As JSON has it, to 1e-5."""
    return [[round(float(x), 5) for x in row] for row in v]


def table(given: argparse.Namespace) -> None:
    """Every scene of the kit, at a small step and at the engine's own."""
    for name in given.engine.split(","):
        began, found = time.time(), {}
        for known in scenes().values():
            for which, dt in (("small", SMALL), ("own", None)):
                engine = named(name, dt)
                try:
                    answer: object = rounded(engine(known.scene))
                except Exception as error:  # an engine may fail in any way it likes
                    answer = f"{type(error).__name__}: {error}"
                found[f"{known.name}|{which}"] = answer
        keep(given, name, "table", found, began)


def phase(given: argparse.Namespace) -> None:
    """The lander, started 0 to 7/8 of a step higher."""
    lander = scenes()["lander"].scene
    for name in given.engine.split(","):
        began, found = time.time(), {}
        for which, dt in (("0.5 ms", STEP), ("own", None)):
            engine = named(name, dt)
            above = 1.5 * engine.dt * np.linspace(0, 1, 9)[:-1]
            found[which] = [rounded(engine(lander.lifted(float(h))))[0] for h in above]
        keep(given, name, "phase", found, began)


def touchdown(heights: Sequence[float], gravity: float) -> ImpactScene:
    """The README's touch-down."""
    return legged("touch-down", heading(1.5, 0.8, 0.4), heights=heights, gravity=gravity)


def tips(engine: Stepped, scene: ImpactScene) -> bool:
    """Whether the lander ends on its side."""
    world = engine.make(scene, engine.dt, **engine.options)
    up = 1.0
    try:
        for k in range(int(SECONDS / engine.dt)):
            world.step()
            if k % LOOK == LOOK - 1:
                s = world.state()[0]
                up = rotation(s[3:7])[2, 2]
                if up < FALLEN:
                    return True
                energy = 0.5 * s[7:10] @ s[7:10] + 0.5 * PER_KG * s[10:] @ s[10:] + G * s[2]
                if k * engine.dt > 0.05 and energy < 0.999 * G * BARRIER:
                    return False
        return bool(up < UPRIGHT)
    finally:
        world.close()


def uneven(given: argparse.Namespace) -> None:
    """Answers and tips of the README's touch-down with feet of unequal heights."""
    heights = NOISE * np.random.default_rng(SEED).normal(size=(given.answers, len(FEET)))
    for name in given.engine.split(","):
        began, engine = time.time(), named(name, STEP)
        v = []
        for h in heights:
            scene = touchdown(h, 0.0)
            world = engine.make(scene, engine.dt, **engine.options)
            v.append(rounded(impact(world, scene, engine.dt, longest=0.1))[0])
            world.close()
        level = tips(engine, touchdown(np.zeros(len(FEET)), G))
        fell = [tips(engine, touchdown(h, G)) for h in heights[: given.runs]]
        found = {"seed": SEED, "sigma": NOISE, "dt": STEP, "v": v, "level": level, "fell": fell}
        keep(given, name, "uneven", found, began)


def tipping(given: argparse.Namespace) -> None:
    """Touch-downs in random states, each with feet of unequal heights and frictions; goes on where it was."""
    states = np.load(given.out / "states.npz")
    for name in given.engine.split(","):
        began, engine = time.time(), named(name, STEP)
        file = given.out / f"tipping-{name}.json"
        kept = json.loads(file.read_text())["answers"] if file.exists() else {"level": [], "fell": []}
        for k, (q, v) in enumerate(
            zip(states["q"][: given.states], states["v"][: given.states], strict=True)
        ):
            if k < len(kept["level"]):
                continue
            rng = np.random.default_rng([7, k])

            def run(heights: Sequence[float], frictions: Sequence[float], q=q, v=v, engine=engine) -> bool:
                own = {"heights": heights, "frictions": frictions, "mu": float(np.mean(frictions))}
                body = {"quat": tuple(q[3:7]), "w": tuple(v[3:]), "gravity": G}
                return tips(engine, legged("touch-down", tuple(v[:3]), **own, **body))

            kept["level"].append(run(np.zeros(4), np.full(4, 0.8)))
            draws = [(NOISE * rng.normal(size=4), rng.uniform(0.7, 0.9, 4)) for _ in range(given.runs)]
            kept["fell"].append(sum(run(*draw) for draw in draws) / given.runs)
            if k % 5 == 4 or k == given.states - 1:
                keep(given, name, "tipping", kept, began)


def main() -> None:
    """Ask the engines."""
    parser = command_line(__doc__, table, phase, uneven, tipping)
    parser.add_argument("--engine", required=True, help="a name of routh.testkit.ENGINES, or several")
    parser.add_argument("--out", type=Path, default=Path("build/engines"))
    parser.add_argument("--answers", type=int, default=100)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--states", type=int, default=90)
    run_part(parser)


if __name__ == "__main__":
    main()
