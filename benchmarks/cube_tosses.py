"""Laws of impact against measured tosses of a cube.

Finds the impacts, fits each law's friction and restitution (and the tolerance within which corners count as
simultaneous) on a random half of the tosses, and reports the other half.

    python benchmarks/cube_tosses.py cube_tosses.npz [--figure reality.png] [--samples 1024] [--all]

The file may also be named by the environment variable ROUTH_CUBE_TOSSES. ``--all`` keeps the impacts after
which the cube does not fly, where contact forces go on changing the velocity that is measured.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from tosses import predictions as laws
from tosses.impacts import ARM, Contact, Impact, at_contact, load, meeting_height

DT = 1.0 / 148.0
FRICTIONS = (0.1, 0.15, 0.2, 0.25, 0.3)
RESTITUTIONS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
TOLERANCES = (0.004, 0.006, 0.008, 0.010, 0.012, 0.015)  # m
MUJOCO = [(t, d) for t in (0.002, 0.004, 0.008, 0.015) for d in (0.1, 0.2, 0.3, 0.5, 0.7, 1.0)]
BOOTSTRAPS = 1000
FIT_SAMPLES = 32


@dataclass(frozen=True)
class Settings:
    """What is fitted."""

    mu: float = 0.2
    e: float = 0.35
    tolerance: float = 0.010


@dataclass(frozen=True)
class Score:
    """How good a prediction is; all as shares of the speed before, in the kinetic-energy norm."""

    nearest: float
    mean: float
    energy: float  # proper score of a sample: E|X - y| - E|X - X'| / 2
    spread: float  # root mean square distance from the mean outcome
    guess: float  # nearest of the same cloud, randomly turned about its mean


def score(problem: Any, predicted: np.ndarray, truth: np.ndarray, seed: int) -> Score:
    """Compare predicted velocities (n, nv) with the measured one (nv,)."""
    points = (predicted - truth) @ problem.cholesky / problem.speed
    size = np.linalg.norm(points, axis=1)
    centre = points.mean(axis=0)
    cloud = points - centre
    half = len(points) // 2
    pairs = np.linalg.norm(points[:half] - points[half : 2 * half], axis=1).mean() if half else 0.0
    rng = np.random.default_rng(seed)
    guesses = [
        np.linalg.norm(
            cloud @ np.linalg.qr(rng.normal(size=(len(centre), len(centre))))[0] + centre, axis=1
        ).min()
        for _ in range(8)
    ]
    spread = float(np.sqrt((cloud**2).sum(axis=1).mean()))
    return Score(
        float(size.min()),
        float(np.linalg.norm(centre)),
        float(size.mean() - 0.5 * pairs),
        spread,
        float(np.mean(guesses)),
    )


def one_score(name: str, contact: Contact, setting: Settings, samples: int, seed: int) -> Score:
    """What one law is worth for one impact."""
    e = 0.0 if "inelastic" in name else setting.e
    problem = laws.problem_of(contact, tolerance=setting.tolerance, mu=setting.mu)
    if name.startswith("set"):
        predicted = laws.outcomes(problem, laws.HYPOTHESIS[name], e, samples)
    elif name.startswith("simultaneous"):
        predicted = laws.simultaneous(problem, e)
    else:
        predicted = laws.sequential(problem, e, contact.heights[contact.heights <= setting.tolerance])
    return score(problem, predicted, laws.measured(contact), seed)


class Laws:
    """All predictions, by name."""

    SINGLE = ("simultaneous, inelastic", "simultaneous", "sequential, inelastic", "sequential")
    SETS = tuple(laws.HYPOTHESIS)

    def __init__(self, samples: int, jobs: int) -> None:
        self.samples = samples
        self.pool = ProcessPoolExecutor(jobs, get_context("spawn")) if jobs > 1 else None

    def scores(self, name: str, contacts: list[Contact], setting: Settings, samples: int) -> list[Score]:
        """One score per impact."""
        jobs = [(name, contact, setting, samples, seed) for seed, contact in enumerate(contacts)]
        if self.pool is None:
            return [one_score(*job) for job in jobs]
        return list(self.pool.map(one_score, *zip(*jobs, strict=True), chunksize=4))

    def fit(self, name: str, contacts: list[Contact], start: Settings, *, tolerance: bool) -> Settings:
        """Minimise the mean of the proper score, one quantity after the other."""
        best, lowest = start, np.inf
        tried: dict[Settings, float] = {}
        grids: list[tuple[str, tuple[float, ...]]] = [("e", RESTITUTIONS), ("mu", FRICTIONS)]
        if "inelastic" in name:
            grids = grids[1:]
        if tolerance:
            grids.append(("tolerance", TOLERANCES))
        for field, grid in [*grids, *grids[:-1]]:
            for value in grid:
                trial = Settings(**{**best.__dict__, field: value})
                if trial not in tried:
                    few = FIT_SAMPLES if name in self.SETS else 1
                    tried[trial] = float(np.mean([s.energy for s in self.scores(name, contacts, trial, few)]))
                if tried[trial] < lowest:
                    lowest, best = tried[trial], trial
        return best


def fit_mujoco(contacts: list[Contact], tolerance: float) -> tuple[float, float, float]:
    """Friction, time constant and damping ratio with the smallest mean error."""
    best, lowest = (0.2, 0.004, 0.3), np.inf
    for mu in FRICTIONS[::2]:
        for timeconst, dampratio in MUJOCO:
            value = np.mean([s.nearest for s in mujoco_scores(contacts, tolerance, mu, timeconst, dampratio)])
            if value < lowest:
                lowest, best = float(value), (mu, timeconst, dampratio)
    return best


def mujoco_scores(
    contacts: list[Contact], tolerance: float, mu: float, timeconst: float, dampratio: float
) -> list[Score]:
    cube = laws.MujocoCube(mu=mu, timeconst=timeconst, dampratio=dampratio)
    return [
        score(laws.problem_of(c, tolerance=tolerance, mu=mu), cube.predict(c), laws.measured(c), seed)
        for seed, c in enumerate(contacts)
    ]


def stratified(contacts: list[Contact], most: int) -> list[Contact]:
    """At most so many impacts of each number of contacts (at the middle tolerance), in their order."""
    counts = np.array([int((c.heights <= TOLERANCES[3]).sum()) for c in contacts])
    kept = np.concatenate([np.flatnonzero(counts == number)[:most] for number in np.unique(counts)])
    return [contacts[k] for k in np.sort(kept)]


def halves(impacts: list[Impact], seed: int) -> tuple[list[Impact], list[Impact]]:
    """A random half of the tosses, and the other."""
    tosses = np.random.default_rng(seed).permutation(1 + max(i.toss for i in impacts))
    chosen = set(tosses[: len(tosses) // 2].tolist())
    return [i for i in impacts if i.toss in chosen], [i for i in impacts if i.toss not in chosen]


def interval(values: np.ndarray, tosses: np.ndarray) -> tuple[float, float]:
    """95 % bootstrap interval of the median; whole tosses are drawn, whose impacts are not independent."""
    rng = np.random.default_rng(0)
    groups = [values[tosses == t] for t in np.unique(tosses)]
    medians = [
        np.median(np.concatenate([groups[k] for k in rng.integers(len(groups), size=len(groups))]))
        for _ in range(BOOTSTRAPS)
    ]
    return float(np.quantile(medians, 0.025)), float(np.quantile(medians, 0.975))


def report(rows: dict[str, list[Score]], contacts: list[Contact], tolerance: float) -> None:
    counts = np.array([int((c.heights <= tolerance).sum()) for c in contacts])
    tosses = np.array([c.impact.toss for c in contacts])
    for number in (1, 2, 3, 4):
        chosen = counts == number
        print(f"\n{number} contact{'s' if number > 1 else ''}: {chosen.sum()} impacts")
        if chosen.sum() < 5:
            continue
        print(f"  {'prediction':28s} median [95 %]            90 %    mean outcome  spread  random guess")
        for name, scores in rows.items():
            nearest, mean, _, spread, guess = (
                np.array([getattr(s, f) for s in scores])[chosen]
                for f in ("nearest", "mean", "energy", "spread", "guess")
            )
            low, high = interval(nearest, tosses[chosen])
            text = f"  {name:28s} {np.median(nearest):.3f} [{low:.3f}, {high:.3f}]"
            text += f"  {np.quantile(nearest, 0.9):10.3f}"
            if name in Laws.SETS:
                text += f"  {np.median(mean):12.3f}  {np.median(spread):6.3f}  {np.median(guess):12.3f}"
            print(text)


def tolerance_table(
    predict: Laws, contacts: list[Contact], setting: Settings
) -> dict[float, tuple[int, ...]]:
    """What the tolerance does to impacts on four corners, at the fitted friction and restitution."""
    print("\ntolerance (mm)  four-corner impacts  simultaneous  set: nearest   mean  random guess  spread")
    table = {}
    for tolerance in TOLERANCES:
        trial = Settings(setting.mu, setting.e, tolerance)
        four = [c for c in contacts if (c.heights <= tolerance).sum() == 4]
        if len(four) < 5:
            print(f"{1e3 * tolerance:14.0f}  {len(four):19d}")
            continue
        single = predict.scores("simultaneous", four, trial, 1)
        many = predict.scores("set, energetic", four, trial, predict.samples)
        row = [np.median([s.nearest for s in single])]
        row += [np.median([getattr(s, f) for s in many]) for f in ("nearest", "mean", "guess", "spread")]
        table[tolerance] = (len(four), *row)
        print(
            f"{1e3 * tolerance:14.0f}  {len(four):19d}  {row[0]:12.3f}  {row[1]:12.3f}  {row[2]:5.3f}"
            f"  {row[3]:12.3f}  {row[4]:6.3f}"
        )
    return table


def draw(rows: dict[str, list[Score]], contacts: list[Contact], tolerance: float, path: Path) -> None:
    """Cumulative errors of one-corner and four-corner impacts."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    counts = np.array([int((c.heights <= tolerance).sum()) for c in contacts])
    shown = {
        "simultaneous, inelastic": ("0.7", "-"),
        "simultaneous": ("0.4", "-"),
        "MuJoCo": ("tab:green", "-"),
        "set, inelastic": ("tab:blue", ":"),
        "set, energetic": ("tab:blue", "-"),
        "set, Poisson": ("tab:orange", "--"),
    }
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
    for axis, number in zip(axes, (1, 4), strict=True):
        chosen = counts == number
        for name, (colour, style) in shown.items():
            if name in rows:
                values = np.sort(np.array([s.nearest for s in rows[name]])[chosen])
                axis.step(
                    values, (np.arange(len(values)) + 1) / len(values), color=colour, ls=style, label=name
                )
        guess = np.sort(np.array([s.guess for s in rows["set, energetic"]])[chosen])
        if number > 1:
            share = (np.arange(len(guess)) + 1) / len(guess)
            axis.step(guess, share, color="tab:red", ls=":", label="random guess, same spread")
        axis.set(xlim=(0, 0.4), ylim=(0, 1), xlabel="error of the nearest prediction / speed before")
        axis.set_title(
            f"{'one corner' if number == 1 else 'four corners'}: {chosen.sum()} impacts", fontsize=10
        )
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("share of impacts")
    handles, names = axes[1].get_legend_handles_labels()
    axes[0].legend(handles, names, fontsize=8, loc="center right")
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="?", default=os.environ.get("ROUTH_CUBE_TOSSES"))
    parser.add_argument("--samples", type=int, default=1024)
    parser.add_argument("--seed", type=int, default=0, help="of the random halves")
    parser.add_argument("--all", action="store_true", help="also impacts that are not followed by flight")
    parser.add_argument("--fit", type=int, default=40, help="impacts per number of contacts to fit on")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--save", type=Path, help="keep the errors of the unseen impacts, .npz")
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    if not options.data or not Path(options.data).exists():
        sys.exit("the data are missing: name the file of tosses, or set ROUTH_CUBE_TOSSES")
    begin = time.perf_counter()
    impacts = [i for i in load(Path(options.data)) if i.flies or options.all]
    fitted_on, unseen = halves(impacts, options.seed)
    height = float(np.median([meeting_height(i) for i in fitted_on]))
    known, new = ([at_contact(i, height, DT) for i in half] for half in (fitted_on, unseen))
    speeds = [np.linalg.norm(np.append(c.before[:3], ARM * c.before[3:])) for c in new]
    noise = np.array([impact.noise for impact in unseen]) / speeds
    print(f"{len(impacts)} impacts, {len(known)} in the half to fit on, {len(new)} unseen")
    print(f"contact where the lowest corner is at {1e3 * height:.1f} mm")
    tail = np.quantile(noise, 0.9)
    print(f"noise of the velocity before / speed: median {np.median(noise):.3f}, 90 % {tail:.3f}")
    predict, rows = Laws(options.samples, options.jobs), {}
    known = stratified(known, options.fit)
    energetic = predict.fit("set, energetic", known, Settings(), tolerance=True)
    print(f"tolerance {1e3 * energetic.tolerance:.0f} mm, fitted with the energetic set\n\nfitted: ")
    for name in (*Laws.SINGLE, *Laws.SETS):
        start = Settings(tolerance=energetic.tolerance)
        setting = energetic if name == "set, energetic" else predict.fit(name, known, start, tolerance=False)
        restitution = "" if "inelastic" in name else f", restitution {setting.e:g}"
        print(f"  {name:28s} friction {setting.mu:g}{restitution}", flush=True)
        rows[name] = predict.scores(name, new, setting, options.samples)
    try:
        soft = fit_mujoco(known, energetic.tolerance)
        print(f"  {'MuJoCo':28s} friction {soft[0]:g}, solref {soft[1]:g} s, {soft[2]:g}", flush=True)
        rows["MuJoCo"] = mujoco_scores(new, energetic.tolerance, *soft)
    except ImportError:
        print("  MuJoCo is not installed and left out")
    report(rows, new, energetic.tolerance)
    tolerance_table(predict, new, energetic)
    if options.save:
        counts = [int((c.heights <= energetic.tolerance).sum()) for c in new]
        errors = {name: np.array([list(asdict(s).values()) for s in scores]) for name, scores in rows.items()}
        np.savez(options.save, contacts=counts, toss=[i.toss for i in unseen], **errors)
    if options.figure:
        draw(rows, new, energetic.tolerance, options.figure)
    print(f"\n{time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
