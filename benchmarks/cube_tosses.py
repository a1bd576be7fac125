"""Laws of impact against measured tosses of a cube.

Finds the impacts, fits each law's friction and restitution (and the tolerance within which corners count as
simultaneous) on a random half of the tosses, and reports the other half.

    python benchmarks/cube_tosses.py cube_tosses.npz [--figure reality.png] [--samples 256] [--all]

The file may also be named by the environment variable ROUTH_CUBE_TOSSES. ``--all`` keeps the impacts after
which the cube does not fly, where contact forces go on changing the velocity that is measured.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tosses import predictions as laws
from tosses.impacts import Contact, Impact, at_contact, load, meeting_height

DT = 1.0 / 148.0
FRICTIONS = (0.1, 0.15, 0.2, 0.25, 0.3)
RESTITUTIONS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
TOLERANCES = (0.004, 0.006, 0.008, 0.010, 0.012, 0.015)  # m
MUJOCO = [(t, d) for t in (0.002, 0.004, 0.008, 0.015) for d in (0.1, 0.2, 0.3, 0.5, 0.7, 1.0)]
BOOTSTRAPS = 1000


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


class Laws:
    """All predictions, by name."""

    SINGLE = ("simultaneous, inelastic", "simultaneous", "sequential, inelastic", "sequential")
    SETS = ("set, inelastic", "set, scaled by 1 + e", "set, energetic", "set, Poisson")

    def __init__(self, samples: int) -> None:
        self.samples = samples
        kinds = (laws.INELASTIC, laws.SCALED, laws.ENERGETIC, laws.POISSON)
        self.hypothesis = dict(zip(self.SETS, kinds, strict=True))

    def scores(self, name: str, contacts: list[Contact], setting: Settings, samples: int) -> list[Score]:
        """One score per impact."""
        e = 0.0 if "inelastic" in name else setting.e
        found = []
        for seed, contact in enumerate(contacts):
            problem = laws.problem_of(contact, tolerance=setting.tolerance, mu=setting.mu)
            if name in self.SETS:
                predicted = laws.outcomes(problem, self.hypothesis[name], e, samples)
            elif name.startswith("simultaneous"):
                predicted = laws.simultaneous(problem, e)
            else:
                heights = contact.heights[contact.heights <= setting.tolerance]
                predicted = laws.sequential(problem, e, heights)
            found.append(score(problem, predicted, laws.measured(contact), seed))
        return found

    def fit(self, name: str, contacts: list[Contact], start: Settings, *, tolerance: bool) -> Settings:
        """Minimise the mean of the proper score, one quantity after the other, twice."""
        best, lowest = start, np.inf
        tried: dict[Settings, float] = {}
        grids: list[tuple[str, tuple[float, ...]]] = [("e", RESTITUTIONS), ("mu", FRICTIONS)]
        if "inelastic" in name:
            grids = grids[1:]
        if tolerance:
            grids.append(("tolerance", TOLERANCES))
        for field, grid in [*grids, *(grids if len(grids) > 1 else [])]:
            for value in grid:
                trial = Settings(**{**best.__dict__, field: value})
                if trial not in tried:
                    few = self.samples // 4 if name in self.SETS else 1
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
    axes[1].legend(fontsize=8, loc="lower right")
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="?", default=os.environ.get("ROUTH_CUBE_TOSSES"))
    parser.add_argument("--samples", type=int, default=256)
    parser.add_argument("--seed", type=int, default=0, help="of the random halves")
    parser.add_argument("--all", action="store_true", help="also impacts that are not followed by flight")
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    if not options.data or not Path(options.data).exists():
        sys.exit("the data are missing: name the file of tosses, or set ROUTH_CUBE_TOSSES")
    begin = time.perf_counter()
    impacts = [i for i in load(Path(options.data)) if i.flies or options.all]
    fitted_on, unseen = halves(impacts, options.seed)
    height = float(np.median([meeting_height(i) for i in fitted_on]))
    known, new = ([at_contact(i, height, DT) for i in half] for half in (fitted_on, unseen))
    noise = np.array([i.noise / np.sqrt((c.before[:3] ** 2).sum()) for i, c in zip(unseen, new, strict=True)])
    print(
        f"{len(impacts)} impacts, {len(known)} to fit on, {len(new)} unseen; contact height {1e3 * height:.1f} mm"
    )
    print(
        f"noise of the velocity before / speed: median {np.median(noise):.3f}, 90 % {np.quantile(noise, 0.9):.3f}"
    )
    predict, rows = Laws(options.samples), {}
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
    if options.figure:
        draw(rows, new, energetic.tolerance, options.figure)
    print(f"\n{time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
