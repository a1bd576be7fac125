"""What other engines' answers are worth: beside the set, beside the feet's millimetres, beside chance.

    python benchmarks/engine_sets.py states|table|planar|phase|uneven|control|tipping|keep [--out FOLDER]

Reads what `engine_answers.py` wrote into the folder. ``table``: distances from the sets.
``planar``: the block's answers along its exact set. ``phase``: how far one engine's answers to the phases of
its own step are apart. ``uneven``: how much of the flat set the answers with uneven feet cover,
and how many are in it. ``control``: the same of random impulses that keep the laws, and of Gaussians with an
engine's own mean and covariance. ``states`` draws the touch-downs of ``tipping`` and asks the set about them;
``tipping`` compares. ``keep`` writes what the README's picture needs into benchmarks/engines/answers.json.
Distances are in the kinetic-energy norm, as shares of the speed before.
"""

from __future__ import annotations

import argparse
import json
from functools import cache
from pathlib import Path

import numpy as np

import routh
from measure import Table, command_line, machine, run_part
from routh.auditing.membership import WITHIN
from routh.testkit.catalogue import scenes
from routh.testkit.names import ENGINES
from routh.testkit.scene import problem

HERE = Path(__file__).parent / "engines"
SAMPLES, REFINE = 2**14, 1024
NOISE = 0.002  # m, as in engine_answers.py
PICTURED = ("bullet", "drake-rigid", "dart", "physx", "rapier", "nimble-accurate", "mujoco", "mujoco-stiff")


def told(given: argparse.Namespace, part: str) -> dict[str, dict]:
    """What each engine answered, in the order of `routh.testkit.ENGINES`."""
    files = {name: given.out / f"{part}-{name}.json" for name in ENGINES}
    found = {name: json.loads(file.read_text()) for name, file in files.items() if file.exists()}
    versions = ", ".join(f"{name} {one['version']}" for name, one in found.items())
    print(f"{machine()}; {versions}\n")
    return found


@cache
def outcomes(name: str, restitution: float | None = None) -> routh.Outcomes:
    """The sampled set of a scene of the kit."""
    impact = problem(scenes()[name].scene)
    if restitution is not None:
        impact = impact.replace(restitution=restitution)
    return routh.sample(impact, SAMPLES, seed=0, threads=1)


def units(drawn: routh.Outcomes, v: np.ndarray) -> np.ndarray:
    """Velocities in coordinates in which distances are shares of the speed before."""
    return np.asarray(v) @ drawn.problem.cholesky / drawn.problem.scaling.speed


def nearest(cloud: np.ndarray, points: np.ndarray) -> np.ndarray:
    """From each point to the nearest of the cloud."""
    return np.array([np.sqrt(np.min(((cloud - x) ** 2).sum(axis=1))) for x in points])


def diameter(points: np.ndarray) -> float:
    """The farthest two are so far apart."""
    return float(max(np.sqrt(((points - x) ** 2).sum(axis=1).max()) for x in points[: 2**11]))


def states(given: argparse.Namespace) -> None:
    """Draw touch-downs as tipping.py does, and ask the set about them."""
    from routh.robust import tipping as ask
    from tipping import LANDER

    rng, model = np.random.default_rng(1), LANDER.model()
    q, v = map(np.array, zip(*(LANDER.state(rng, model) for _ in range(given.states)), strict=True))
    plain, inelastic = ask(model, q, v).ratio, ask(model, q, v, restitution=0.0).ratio
    aware = ask(model, q, v, unevenness=2 * NOISE).ratio
    given.out.mkdir(parents=True, exist_ok=True)
    np.savez(given.out / "states.npz", q=q, v=v, plain=plain, inelastic=inelastic, aware=aware)


def table(given: argparse.Namespace) -> None:
    """Distances of every engine's answers from the sets, at 1e-4 s and at its own step."""
    found = told(given, "table")
    for which in ("small", "own"):
        print(f"\nstep: {'1e-4 s' if which == 'small' else 'its own'}\n")
        names = [name for name in scenes() if name in (given.scenes or scenes()) and "rebound" not in name]
        rows = Table({"engine": "<16"} | {name: f">{max(len(name), 6)}" for name in names})
        rows.row("the set", *(f"{outcomes(name).ambiguity:.2f}" for name in names))
        for engine, one in found.items():
            cells = []
            for name in names:
                drawn, v = outcomes(name), one["answers"][f"{name}|{which}"]
                if isinstance(v, str):
                    cells.append("failed")
                    continue
                audit = routh.audit(drawn.problem, np.ravel(v), outcomes=drawn, refine=REFINE, tolerance=0.03)
                cells.append(f"{audit.distance:.3f}" + ("*" if audit.broken else ""))
            rows.row(engine, *cells)
    print("\n* a law is broken by more than 3 %")


def planar(given: argparse.Namespace) -> None:
    """The block in the plane: place along the exact set, which is a segment, and distance from it."""
    m, moment = 1.0, (0.1**2 + 0.2**2) / 3
    Jn, Jt = np.array([[0, 1, 0.1], [0, 1, -0.1]]), np.array([[[1, 0, -0.2]]] * 2, dtype=float)
    impact = routh.ImpactProblem(np.diag([m, m, moment]), Jn, Jt, [0.5, 0.5], [0.5, -1.0, 0.0])
    drawn = routh.sample(impact, SAMPLES, seed=0)
    x = units(drawn, drawn.v[drawn.solved])
    ends = x[[np.argmin(np.linalg.norm(x, axis=1)), np.argmax(np.linalg.norm(x, axis=1))]]
    far = ends[1] - ends[0]
    found = told(given, "table")
    rows = Table(
        {"engine": "<16", "step": "<6", "along": ".2f", "from the segment": ".3f", "out of plane": ".3f"}
    )
    for name, one in found.items():
        for which in ("small", "own"):
            v = np.ravel(one["answers"][f"block|{which}"])
            y = units(drawn, v[[0, 2, 4]]) - ends[0]
            share = float(np.clip(y @ far / (far @ far), 0.0, 1.0))
            rows.row(name, which, share, np.linalg.norm(y - share * far), np.abs(v[[1, 3, 5]]).max())
    exact, ends = routh.exact_set(impact), ends @ np.linalg.inv(impact.cholesky) * impact.scaling.speed
    print(f"\nexact set: {exact}; ends {ends.round(3).tolist()}")


def phase(given: argparse.Namespace) -> None:
    """How far apart one engine's answers are when only the phase of its step changes."""
    found = told(given, "phase")
    rows = Table({"engine": "<16", "0.5 ms": ".3f", "its own step": ".3f"})
    for name, one in found.items():
        spread = {which: diameter(units(outcomes("lander"), v)) for which, v in one["answers"].items()}
        rows.row(name, spread["0.5 ms"], spread["own"])


def uneven(given: argparse.Namespace) -> None:
    """Answers with uneven feet: in the flat set, and how much of it they cover."""
    drawn, found = outcomes("lander"), told(given, "uneven")
    cloud = units(drawn, drawn.v[drawn.solved])
    print(f"the set's diameter {diameter(cloud):.3f}\n")
    columns = {"engine": "<16", "level tips": "<", "tips": ".0%", "diameter": ".2f", "median": ".3f"}
    columns |= {"90 %": ".3f", "within 0.03": ".0%", "set within 0.1": ".0%", "set within 0.2": ".0%"}
    rows = Table(columns)
    for name, one in found.items():
        answer = one["answers"]
        x = units(drawn, answer["v"])
        away, covered = nearest(cloud, x), nearest(x, cloud[:4096])
        shares = [(covered < near).mean() for near in (0.1, 0.2)]
        level = "yes" if answer["level"] else "no"
        tail = (np.median(away), np.quantile(away, 0.9), (away < WITHIN).mean())
        rows.row(name, level, np.mean(answer["fell"]), diameter(x), *tail, *shares)


def control(given: argparse.Namespace) -> None:
    """Is it easy to be in the set? Lawful random impulses, and Gaussians with an engine's own moments."""
    drawn, rng = outcomes("lander"), np.random.default_rng(0)
    impact = drawn.problem
    cloud, lawful = units(drawn, drawn.v[drawn.solved]), []
    for _ in range(given.tries):
        n = rng.exponential(size=(50, impact.nc)) * rng.uniform(0, 1.2, size=(50, 1)) * 5 * 1.5 / 2
        r, a = impact.mu * n * np.sqrt(rng.uniform(size=n.shape)), rng.uniform(0, 2 * np.pi, n.shape)
        after = impact.v + np.stack([n, r * np.cos(a), r * np.sin(a)], axis=2).reshape(50, -1) @ _reach(
            impact
        )
        energy = 0.5 * np.einsum("ki,ij,kj->k", after, impact.M, after)
        kept = ((after @ impact.Jn.T).min(axis=1) > -0.03) & (energy <= impact.kinetic_energy())
        lawful += list(after[kept])
    found = told(given, "uneven")
    rows = Table({"control": "<38", "draws": "d", "within 0.03": ".1%", "median": ".2f"})
    away = nearest(cloud, units(drawn, np.array(lawful)))
    rows.row("lawful random impulses", len(away), (away < WITHIN).mean(), np.median(away))
    for name, one in found.items():
        if name not in ("bullet", "drake-rigid"):
            continue
        v = np.array(one["answers"]["v"])
        draws = rng.multivariate_normal(v.mean(axis=0), np.cov(v.T), 1000)
        away = nearest(cloud, units(drawn, draws))
        rows.row(f"Gaussian of {name}", len(away), (away < WITHIN).mean(), np.median(away))
        apart = (draws @ impact.Jn.T).min(axis=1) > -0.03
        text = f"Gaussian of {name}, nothing approaches"
        rows.row(text, int(apart.sum()), (away[apart] < WITHIN).mean(), np.median(away[apart]))


def _reach(impact: routh.ImpactProblem) -> np.ndarray:
    """From stacked impulses (nc * 3) to changes of the velocity, as a matrix from the right."""
    J = np.concatenate([impact.Jn[:, None], impact.Jt], axis=1).reshape(-1, impact.nv)
    return np.linalg.solve(impact.M, J.T).T


def tipping(given: argparse.Namespace) -> None:
    """Which dangerous touch-downs the set and the engine's own run with equal feet miss."""
    asked, truths = np.load(given.out / "states.npz"), told(given, "tipping")
    columns = {"truth": "<16", "states": "d", "dangerous": "d", "level run misses": "<", "set misses": "d"}
    columns |= {"refuses": "<", "AUC": ".3f", "e = 0: misses": "d", "refuses, e = 0": "<"}
    rows = Table(columns | {"told 4 mm: misses": "d", "refuses, 4 mm": "<"})
    for name, one in truths.items():
        level, fell = np.array(one["answers"]["level"]), np.array(one["answers"]["fell"])
        n, dangerous = len(level), fell > 0.01
        cells: list[object] = [name, n, dangerous.sum(), f"{(dangerous & ~level).sum()} of {dangerous.sum()}"]
        for key in ("plain", "inelastic", "aware"):
            ratio = asked[key][:n]
            cells += [
                (dangerous & ~(ratio > 1)).sum(),
                f"{(~dangerous & (ratio > 1)).sum()} of {(~dangerous).sum()}",
            ]
            if key == "plain":
                p, q = ratio[dangerous], ratio[~dangerous]
                cells.append(float(np.mean((p[:, None] > q) + 0.5 * (p[:, None] == q))))
        rows.row(*cells)


def keep(given: argparse.Namespace) -> None:
    """What the picture needs, small enough to be in the repository."""
    level, uneven = told(given, "table"), told(given, "uneven")
    engines = {}
    for name, one in uneven.items():
        if name in PICTURED:
            v = [[round(x, 4) for x in row] for row in one["answers"]["v"]]
            flat = level[name]["answers"]["lander|own"][0]
            fell = [int(x) for x in one["answers"]["fell"]]
            about = {"title": ENGINES[name].title, "version": one["version"], "machine": one["machine"]}
            engines[name] = about | {"level": flat, "tips": one["answers"]["level"], "v": v, "fell": fell}
    command = "engine_answers.py table|uneven --engine NAME; engine_sets.py keep"
    HERE.mkdir(exist_ok=True)
    text = json.dumps({"command": command, "seed": 11, "sigma": NOISE, "engines": engines})
    (HERE / "answers.json").write_text(text.replace('"bullet"', '\n"bullet"').replace("}, ", "},\n") + "\n")


def main() -> None:
    """Print the tables."""
    parser = command_line(__doc__, states, table, planar, phase, uneven, control, tipping, keep)
    parser.add_argument("--out", type=Path, default=Path("build/engines"))
    parser.add_argument("--states", type=int, default=90)
    parser.add_argument("--tries", type=int, default=400, help="times 50 random impulses, of control")
    parser.add_argument("--scenes", nargs="*", help="of table; default: all but those of restitution")
    run_part(parser)


if __name__ == "__main__":
    main()
