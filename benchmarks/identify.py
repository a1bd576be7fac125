"""Parameters from measured impacts: a tossed cube, and simulated impacts whose parameters are known.

    python benchmarks/identify.py cube cube_tosses.npz [--figure identification.png] [--samples 2048]
    python benchmarks/identify.py simulated [--trials 200]

``cube`` fits friction, restitution, inertia and the rounding of the corners on one half of the tosses and
predicts the other, both ways, with the error, the classes and the numbers of samples of `cube_tosses.py`;
the file may also be named by the environment variable ROUTH_CUBE_TOSSES. ``simulated`` counts how often the
intervals contain the truth.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from scipy.stats import beta

import cube_tosses
import routh
from routh.robust import Identified, MeasuredImpacts, TossedBox, identify, score_impacts
from tosses import predictions as laws
from tosses.impacts import INERTIA, MASS, SIDE, Contact, Impact, at_contact, load, meeting_height, rotation

PARAMETERS = {
    "mu": (0.05, 0.4),
    "restitution": (0.05, 0.7),
    "inertia": (0.7, 1.8),  # of the value that comes with the data
    "rounding": (0.0, 0.02),  # m
}
START = {"mu": 0.2, "restitution": 0.3, "inertia": 1.2, "rounding": 0.005}
NOMINAL = {"inertia": 1.0, "rounding": 0.0}
WITHIN = (0.002, 0.004, 0.006)  # m
SOON = (0.010, 0.012, 0.014, 0.016)  # s
FIT_SAMPLES = 8
TODAYS = cube_tosses.Settings(0.2, 0.3, 0.012)  # what cube_tosses.py fits on either half
TODAY, FITTED = "today: sharp corners, given inertia", "fitted inertia and rounding"
REFITTED = "sharp, given inertia, refitted"


def measured(contacts: list[Contact], within: float, soon: float) -> MeasuredImpacts:
    """The impacts of the cube; those of one toss are not independent."""
    turned = rotation(np.array([c.quaternion for c in contacts]))
    before, after = (
        np.concatenate([v[:, :3], np.einsum("nji,nj->ni", turned, v[:, 3:])], axis=1)
        for v in (np.array([c.before for c in contacts]), np.array([c.after for c in contacts]))
    )
    box = TossedBox(
        np.full(3, SIDE), turned, before, np.full(3, INERTIA), within, soon, {"mass": MASS, "mu": 0.2}
    )
    return MeasuredImpacts(box, after, groups=[c.impact.toss for c in contacts])


def fitted_on(contacts: list[Contact]) -> tuple[Identified, float, float]:
    """Everything by the score of one half alone: the parameters, and which corners are simultaneous."""
    options = {"metric": NOMINAL, "threads": 1}

    def score(within: float, soon: float) -> float:
        scores = score_impacts(measured(contacts, within, soon), START, samples=FIT_SAMPLES, **options)
        return float(scores.energy.mean())

    rule = min(((a, b) for a in WITHIN for b in SOON), key=lambda pair: score(*pair))
    found = identify(
        measured(contacts, *rule), PARAMETERS, start=START, scan=0, samples=FIT_SAMPLES, **options
    )
    return found, *rule


def predicted(contacts: list[Contact], values: dict, rule: tuple, counts: np.ndarray, samples: int) -> list:
    """Scores by the benchmark's own measure; as many samples of an impact as it takes itself."""
    problems = measured(contacts, *rule).batch(values)
    rows: list = [None] * len(contacts)
    for many in (False, True):
        chosen = np.flatnonzero((counts > 2) == many)
        n = samples if many else max(samples // 16, cube_tosses.FIT_SAMPLES)
        outcomes = routh.sample(problems.take(chosen), n, seed=1)
        for place, k in enumerate(chosen):
            nominal = laws.problem_of(contacts[k], tolerance=0.0, mu=0.2)
            truth = laws.measured(contacts[k])
            rows[k] = cube_tosses.score(nominal, outcomes.v[place], truth, int(k))
    return rows


@dataclass
class Half:
    """One half of the tosses, predicted by what was fitted on the other."""

    predicted: cube_tosses.Predicted
    found: Identified
    text: str


def predict_half(known: list[Impact], new: list[Impact], samples: int) -> Half:
    """Fit on the known impacts and predict the new ones, today's way and with the parameters of the cube."""
    height = float(np.median([meeting_height(i) for i in known]))
    first, second = ([at_contact(i, height, cube_tosses.DT) for i in half] for half in (known, new))
    today, setting = cube_tosses.Laws(samples, 1), TODAYS
    counts = np.array([int((c.heights <= setting.tolerance).sum()) for c in second])
    found, within, soon = fitted_on(first)
    sharp = identify(
        measured(first, within, soon),
        {name: PARAMETERS[name] for name in ("mu", "restitution")},
        start={name: START[name] for name in ("mu", "restitution")},
        samples=FIT_SAMPLES,
        scan=0,
        metric=NOMINAL,
        threads=1,
    )
    text = [
        f"fitted on {len(first)} impacts, {len(second)} unseen",
        f"today: friction {setting.mu:g}, restitution {setting.e:g}, within {1e3 * setting.tolerance:g} mm",
        f"simultaneous: within {1e3 * within:g} mm of the lowest corner, or {1e3 * soon:g} ms later",
        found.report(),
        "the same corners, sharp, and the inertia as given:",
        sharp.report(),
        "",
    ]
    rows = {
        TODAY: today.scores("set, energetic", second, setting, samples),
        REFITTED: predicted(second, sharp.values, (within, soon), counts, samples),
        FITTED: predicted(second, found.values, (within, soon), counts, samples),
    }
    return Half(cube_tosses.Predicted(second, counts, rows), found, "\n".join(text))


def print_classes(all_of: cube_tosses.Predicted) -> None:
    """The table: the score, the spread and the turned cloud beside the nearest outcome."""
    for number in (1, 2, 3, 4):
        chosen = all_of.counts == number
        print(f"\n{number} corner{'s' if number > 1 else ''}: {chosen.sum()} impacts, none fitted on")
        print(f"  {'':36s} score   nearest [95 %]          mean outcome  spread  turned cloud")
        for name in all_of.rows:
            energy, nearest, mean, spread, guess = (
                all_of.values(name, field, number)
                for field in ("energy", "nearest", "mean", "spread", "guess")
            )
            low, high = cube_tosses.interval(nearest, all_of.tosses[chosen])
            print(
                f"  {name:36s} {energy.mean():.4f}  {np.median(nearest):.3f} [{low:.3f}, {high:.3f}]"
                f"  {np.median(mean):12.3f}  {np.median(spread):6.3f}  {np.median(guess):12.3f}"
            )
        gain = all_of.values(TODAY, "energy", number) - all_of.values(FITTED, "energy", number)
        error = _error_of_mean(gain, all_of.tosses[chosen])
        print(f"  score better by {gain.mean():.4f} +- {error:.4f} (standard error, by tosses)")


def _error_of_mean(values: np.ndarray, tosses: np.ndarray) -> float:
    sums = np.array([(values[tosses == t] - values.mean()).sum() for t in np.unique(tosses)])
    return float(np.sqrt((sums**2).sum()) / len(values))


def cube(options: argparse.Namespace) -> None:
    """Both halves."""
    if not options.data or not Path(options.data).exists():
        sys.exit("the data are missing: name the file of tosses, or set ROUTH_CUBE_TOSSES")
    impacts = [i for i in load(Path(options.data)) if i.flies]
    first, second = cube_tosses.halves(impacts, options.seed)
    both_ways = ((first, second), (second, first), (options.samples,) * 2)
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        halves = list(pool.map(predict_half, *both_ways))
    for half in halves:
        print(half.text)
    both = halves[0].predicted + halves[1].predicted
    print_classes(both)
    if options.figure:
        draw(both, [half.found for half in halves], options.figure)


def draw(both: cube_tosses.Predicted, found: list[Identified], path: Path) -> None:
    """Errors before and after, and the intervals of both halves in their ranges."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    for axis, number in zip(axes, (1, 4), strict=False):
        for name, colour in ((TODAY, "0.5"), (FITTED, "tab:blue")):
            for field, style in (("nearest", "-"), ("guess", ":")):
                values = np.sort(both.values(name, field, number))
                share = (np.arange(len(values)) + 1) / len(values)
                label = name if field == "nearest" else "the same cloud, randomly turned"
                if number > 1 or field == "nearest":
                    axis.step(values, share, color=colour, ls=style, label=label)
        axis.set(xlim=(0, 0.3), ylim=(0, 1), xlabel="error of the nearest outcome / speed before")
        axis.set_title(
            f"{'one corner' if number == 1 else 'four corners'}: {len(values)} impacts", fontsize=10
        )
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("share of impacts")
    axes[1].legend(fontsize=8, loc="lower right")
    draw_intervals(axes[2], found)
    figure.savefig(path, dpi=150)


def draw_intervals(axis, found: list[Identified]) -> None:
    """Each parameter's interval as a part of its range, one mark for each half."""
    names = list(found[0].estimates)
    for half, one in enumerate(found):
        for k, name in enumerate(names):
            e = one.estimates[name]
            low, high = e.range
            place = [(x - low) / (high - low) for x in (*e.interval, e.value)]
            y = k + 0.15 * (2 * half - 1)
            axis.plot(place[:2], [y, y], color=f"C{half}", lw=3)
            axis.plot(place[2], y, "o", color=f"C{half}", label=f"half {half + 1}" if k == 0 else None)
            if half == 0:
                axis.text(0.01, k + 0.32, f"{low:g}", fontsize=8)
                axis.text(0.99, k + 0.32, f"{high:g}", fontsize=8, ha="right")
    axis.set(xlim=(0, 1), ylim=(-0.5, len(names) - 0.3), yticks=range(len(names)), yticklabels=names)
    axis.set_xticks([])
    axis.set_title("95 % intervals in the ranges given", fontsize=10)
    axis.legend(fontsize=8, loc="lower right")


TRUE = {"mu": 0.3, "restitution": 0.4, "inertia": 0.15, "half_width": 0.4}
RANGES = {"mu": (0.05, 0.8), "restitution": (0.05, 0.95), "inertia": (0.05, 0.4), "half_width": (0.2, 0.6)}
DEVIATION = 0.03  # m/s and rad/s, of the simulated measurements


class Block:
    """Impacts of a block of 1 kg in the plane: a third on one corner, the others on two together."""

    def __init__(self, rng: np.random.Generator, n: int) -> None:
        self.v = np.column_stack([rng.normal(0, 1, n), -rng.uniform(0.5, 1.5, n), rng.normal(0, 1, n)])
        self.shift = rng.uniform(-0.1, 0.1, n)  # of the corners against the centre of mass
        self.present = np.ones((n, 2), dtype=bool)
        self.present[: n // 3, 1] = False

    def __call__(self, values: dict) -> routh.ImpactBatch:
        """The problems for some values of the parameters."""
        n = len(self.v)
        Jn, Jt = np.zeros((n, 2, 3)), np.zeros((n, 2, 1, 3))
        Jn[:, :, 1], Jt[..., 0], Jt[..., 2] = 1.0, 1.0, 0.5
        Jn[:, :, 2] = self.shift[:, None] + values["half_width"] * np.array([-1.0, 1.0])
        M = np.diag([1.0, 1.0, values["inertia"]])
        e = values["restitution"]
        return routh.ImpactBatch(M, Jn, Jt, values["mu"], self.v, present=self.present, restitution=e)


def one_trial(trial: int, impacts: int, samples: int) -> Identified:
    """Outcomes drawn from the true sets, with errors of measurement, and fitted without knowing them."""
    rng = np.random.default_rng([trial, 7])
    block = Block(rng, impacts)
    drawn = routh.sample(block(TRUE), 1, seed=1000 + trial, threads=1).v[:, 0]
    after = drawn + DEVIATION * rng.normal(size=drawn.shape)
    return identify(MeasuredImpacts(block, after), RANGES, samples=samples, noise=DEVIATION, threads=1)


def simulated(options: argparse.Namespace) -> None:
    """How often the intervals contain the truth; the table is printed every so often, the last is whole."""
    jobs = [(k, options.impacts, options.samples) for k in range(options.trials)]
    found: list[Identified] = []
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        for trial in pool.map(one_trial, *zip(*jobs, strict=True)):
            found.append(trial)
            if len(found) % 20 == 0 or len(found) == options.trials:
                print(f"\n{options.impacts} impacts a trial, {options.samples} samples of each outcome")
                print_coverage(found)


def print_coverage(found: list[Identified]) -> None:
    """Estimates against the truth."""
    print(f"{len(found)} trials, {sum(f.converged for f in found)} converged")
    print("parameter     truth  mean estimate  standard deviation  mean width  inside  share [95 %]")
    inside = np.array(
        [[e.interval[0] <= TRUE[n] <= e.interval[1] for n, e in f.estimates.items()] for f in found]
    )
    for k, name in enumerate(TRUE):
        values = np.array([f.values[name] for f in found])
        width = np.mean([np.ptp(f.estimates[name].interval) for f in found])
        print(
            f"{name:12s}  {TRUE[name]:5g}  {values.mean():13.4f}  {values.std():18.4f}  {width:10.4f}"
            f"  {inside[:, k].sum():6d}  {_share(int(inside[:, k].sum()), len(found))}"
        )
    print(f"all together: {_share(int(inside.sum()), inside.size)}, as if independent", flush=True)


def _share(hits: int, count: int) -> str:
    """With Clopper and Pearson's 95 % interval."""
    low = beta.ppf(0.025, hits, count - hits + 1) if hits else 0.0
    high = beta.ppf(0.975, hits + 1, count - hits) if hits < count else 1.0
    return f"{hits / count:.3f} [{low:.3f}, {high:.3f}]"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = parser.add_subparsers(required=True)
    one = parts.add_parser("cube")
    one.add_argument("data", nargs="?", default=os.environ.get("ROUTH_CUBE_TOSSES"))
    one.add_argument("--samples", type=int, default=2048, help="of the sets of three and four corners")
    one.add_argument("--seed", type=int, default=0, help="of the random halves")
    one.add_argument("--jobs", type=int, default=1, help="processes")
    one.add_argument("--figure", type=Path)
    one.set_defaults(run=cube)
    other = parts.add_parser("simulated")
    other.add_argument("--trials", type=int, default=200)
    other.add_argument("--impacts", type=int, default=24)
    other.add_argument("--samples", type=int, default=16)
    other.add_argument("--jobs", type=int, default=1, help="processes")
    other.set_defaults(run=simulated)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
