"""Laws of impact against measured tosses of a cube.

Finds the impacts, fits each law's friction and restitution (and the tolerance within which corners count as
simultaneous) on a random half of the tosses and predicts the other half; then the halves change places, so
that every impact is predicted once by laws that were not fitted on it.

    python benchmarks/cube_tosses.py cube_tosses.npz [--figure reality.png] [--samples 4096] [--all]

The file may also be named by the environment variable ROUTH_CUBE_TOSSES. ``--all`` keeps the impacts after
which the cube does not fly, where contact forces go on changing the velocity that is measured.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from tosses import predictions as laws
from tosses.impacts import ARM, Contact, Impact, at_contact, load, meeting_height

DT = 1.0 / 148.0
FRICTIONS = (0.1, 0.15, 0.2, 0.25, 0.3)
RESTITUTIONS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
TOLERANCES = (0.004, 0.006, 0.008, 0.010, 0.012, 0.015, 0.020, 0.025, 0.030)  # m
MUJOCO = [(t, d) for t in (0.004, 0.008, 0.015, 0.020, 0.030) for d in (0.2, 0.3, 0.5, 0.7, 1.0)]
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
        few = max(samples // 16, FIT_SAMPLES)  # with one or two corners the set is thin
        many = samples if problem.nc > 2 else few
        predicted = laws.outcomes(problem, laws.HYPOTHESIS[name], e, many)
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


@dataclass(frozen=True)
class Predicted:
    """Impacts that were predicted by laws that were not fitted on them."""

    contacts: list[Contact]
    counts: np.ndarray  # (n,) corners that count as simultaneous
    rows: dict[str, list[Score]]  # by law, one per impact

    @property
    def tosses(self) -> np.ndarray:
        """(n,) the toss that each impact belongs to."""
        return np.array([c.impact.toss for c in self.contacts])

    def values(self, name: str, field: str, number: int) -> np.ndarray:
        """One field of the scores of a law, for the impacts with so many contacts."""
        return np.array([getattr(score, field) for score in self.rows[name]])[self.counts == number]

    def __add__(self, other: Predicted) -> Predicted:
        rows = {name: self.rows[name] + other.rows[name] for name in self.rows}
        return Predicted(self.contacts + other.contacts, np.append(self.counts, other.counts), rows)


def predict_half(predict: Laws, fitted_on: list[Impact], unseen: list[Impact]) -> tuple[Predicted, Settings]:
    """Fit every law on one half, and predict the other."""
    height = float(np.median([meeting_height(i) for i in fitted_on]))
    known, new = ([at_contact(i, height, DT) for i in half] for half in (fitted_on, unseen))
    best = predict.fit("set, energetic", known, Settings(), tolerance=True)
    tolerance = best.tolerance
    print(f"\nfitted on {len(known)} impacts, {len(new)} unseen:")
    print(
        f"  contact where the lowest corner is at {1e3 * height:.1f} mm; tolerance {1e3 * tolerance:.0f} mm"
    )
    rows = {}
    for name in (*Laws.SINGLE, *Laws.SETS):
        start = Settings(tolerance=tolerance)
        setting = best if name == "set, energetic" else predict.fit(name, known, start, tolerance=False)
        restitution = "" if "inelastic" in name else f", restitution {setting.e:g}"
        print(f"  {name:28s} friction {setting.mu:g}{restitution}", flush=True)
        rows[name] = predict.scores(name, new, setting, predict.samples)
    soft = fit_mujoco(known, tolerance)
    print(f"  {'MuJoCo':28s} friction {soft[0]:g}, solref {soft[1]:g} s, {soft[2]:g}", flush=True)
    rows["MuJoCo"] = mujoco_scores(new, tolerance, *soft)
    return Predicted(new, np.array([int((c.heights <= tolerance).sum()) for c in new]), rows), best


def report(predicted: Predicted) -> None:
    """Errors by number of contacts, and how much better the set is than the best single outcome."""
    for number in (1, 2, 3, 4):
        chosen = predicted.counts == number
        print(f"\n{number} contact{'s' if number > 1 else ''}: {chosen.sum()} impacts")
        if chosen.sum() < 5:
            continue
        print(f"  {'prediction':28s} median [95 %]            90 %    mean outcome  spread  random guess")
        for name in predicted.rows:
            nearest, mean, spread, guess = (
                predicted.values(name, field, number) for field in ("nearest", "mean", "spread", "guess")
            )
            low, high = interval(nearest, predicted.tosses[chosen])
            text = f"  {name:28s} {np.median(nearest):.3f} [{low:.3f}, {high:.3f}]"
            text += f"  {np.quantile(nearest, 0.9):10.3f}"
            if name in Laws.SETS:
                text += f"  {np.median(mean):12.3f}  {np.median(spread):6.3f}  {np.median(guess):12.3f}"
            print(text)
    four = {name: float(np.median(predicted.values(name, "nearest", 4))) for name in predicted.rows}
    best = min((*Laws.SINGLE, "MuJoCo"), key=four.__getitem__)
    one = float(np.median(predicted.values("set, energetic", "nearest", 1)))
    print(f"\nfour corners, best single outcome: {best}; against the nearest outcome of the energetic set:")
    print(f"  {four[best] / four['set, energetic']:.2f} times its error", end="; ")
    print(f"the set's error is {four['set, energetic'] / one:.2f} of its error on one corner")


def tolerance_table(predict: Laws, contacts: list[Contact], setting: Settings) -> None:
    """What the tolerance does to impacts on four corners, at the fitted friction and restitution."""
    print("\ntolerance (mm)  four-corner impacts  simultaneous  set: nearest   mean  random guess  spread")
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
        print(
            f"{1e3 * tolerance:14.0f}  {len(four):19d}  {row[0]:12.3f}  {row[1]:12.3f}  {row[2]:5.3f}"
            f"  {row[3]:12.3f}  {row[4]:6.3f}"
        )


def draw(predicted: Predicted, path: Path) -> None:
    """Cumulative errors of one-corner and four-corner impacts."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

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
        for name, (colour, style) in shown.items():
            values = np.sort(predicted.values(name, "nearest", number))
            share = (np.arange(len(values)) + 1) / len(values)
            axis.step(values, share, color=colour, ls=style, label=name)
        guess = np.sort(predicted.values("set, energetic", "guess", number))
        if number > 1:
            axis.step(guess, share, color="tab:red", ls=":", label="random guess, same spread")
        axis.set(xlim=(0, 0.4), ylim=(0, 1), xlabel="error of the nearest prediction / speed before")
        axis.set_title(
            f"{'one corner' if number == 1 else 'four corners'}: {len(guess)} impacts", fontsize=10
        )
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("share of impacts")
    handles, names = axes[1].get_legend_handles_labels()
    axes[0].legend(handles, names, fontsize=8, loc="lower right")
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="?", default=os.environ.get("ROUTH_CUBE_TOSSES"))
    parser.add_argument("--samples", type=int, default=4096, help="of the sets of three and four corners")
    parser.add_argument("--seed", type=int, default=0, help="of the random halves")
    parser.add_argument("--all", action="store_true", help="also impacts that are not followed by flight")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--tolerances", action="store_true", help="also what the tolerance does")
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    if not options.data or not Path(options.data).exists():
        sys.exit("the data are missing: name the file of tosses, or set ROUTH_CUBE_TOSSES")
    begin = time.perf_counter()
    impacts = [i for i in load(Path(options.data)) if i.flies or options.all]
    speeds = [np.linalg.norm(np.append(i.before[:3], ARM * i.before[3:])) for i in impacts]
    noise = np.array([impact.noise for impact in impacts]) / speeds
    print(f"{len(impacts)} impacts")
    tail = np.quantile(noise, 0.9)
    print(f"noise of the velocity before / speed: median {np.median(noise):.3f}, 90 % {tail:.3f}")
    predict = Laws(options.samples, options.jobs)
    first, second = halves(impacts, options.seed)
    one, setting = predict_half(predict, first, second)
    other, _ = predict_half(predict, second, first)
    predicted = one + other
    report(predicted)
    if options.figure:
        draw(predicted, options.figure)
    if options.tolerances:
        print(f"\nthe second half of the tosses, friction {setting.mu:g}, restitution {setting.e:g}:")
        tolerance_table(predict, one.contacts, setting)
    print(f"\n{time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
