"""What measured impacts are worth beside the sets, which hypothesis scores better, and what lies in the sets.

    python benchmarks/reality.py control cube cube_tosses.npz
    python benchmarks/reality.py membership square square_tosses.npz --mu 0.1 0.2 --restitution 0.4 0.6

Nothing is fitted: values are those of `benchmarks/tosses/BODY.json`, or of ``--fitted``.

``control``, for every class of impacts: energy and log scores of both hypotheses of restitution; a law with
one outcome and the errors that it made at k measured impacts of the other half of the tosses, as points and
as Gaussians; and from their energy scores, how many measured impacts a set is worth. The law is the best one,
by the energy score, on the other half.

``membership``, for the impacts of the last class: how many measured velocities have the set within twice the
noise of the measurement, and how many have no impulse in the friction cones within it, so that no hypothesis
explains them; at the fitted friction and restitution, and at others between the limits named.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

import routh
from measure import Table, command_line, machine, run_part, share_interval
from routh.auditing.membership import best_impulse
from tosses import errors, scoring
from tosses.bodies import BODIES, Body
from tosses.comparing import Fitted, Predicted, Sample, Setting, halves, predict_single, predict_soft
from tosses.impacts import Impact, load
from tosses.predictions import ENERGETIC, MUJOCO, POISSON, SETS, SINGLE

COUNTS = (0, 1, 2, 3, 5, 12, 25, 50)
FEWEST = 20  # impacts of a class, below which it is left out


class Half:
    """One half of the tosses, and what laws and sets predict of it."""

    def __init__(self, body: Body, impacts: list[Impact], dt: float, fitted: Fitted, samples: int) -> None:
        self.sample = sample = Sample(body, impacts, fitted.height, dt)
        self.laws = {name: predict_single(sample, name, fitted.settings[name]) for name in SINGLE}
        self.laws[MUJOCO] = predict_soft(sample, fitted.soft)
        rows = {name: self._scores(v[:, None]) for name, v in self.laws.items()}
        for name in (ENERGETIC, POISSON):
            rows[name] = self._set(name, fitted, samples)
        self.predicted = Predicted(sample.classes, sample.tosses, rows, {})

    def _scores(self, v: np.ndarray) -> list[scoring.Score]:
        return [scoring.score(points) for points in self.sample.scale.points(v, self.sample.after)]

    def _set(self, name: str, fitted: Fitted, samples: int) -> list[scoring.Score]:
        batch, found = self.sample.batch(fitted.settings[name]), []
        drawn = routh.sample(batch, samples, seed=1, hypothesis=SETS[name], threads=1)
        for k, root in enumerate(self.sample.scale.root):
            v = np.where(drawn.solved[k][:, None], drawn.v[k], self.sample.before[k])
            v = v[:1] if batch.size[k, 1] <= 1 else v
            found.append(scoring.score((v - self.sample.after[k]) @ root))
        return found

    def best_law(self, number: int) -> str:
        """Of the laws with one outcome, by the energy score."""
        return min(self.laws, key=lambda name: float(self.predicted.values(name, "energy", number).mean()))

    def errors(self, law: str, number: int, frame: str) -> tuple[np.ndarray, np.ndarray]:
        """What a law misses at impacts of a class, in their frames, and the mirror images."""
        chosen = self.sample.classes == number
        missed = errors.local(self.sample, self.sample.after - self.laws[law], frame)
        return missed[0][chosen], missed[1][chosen]


def controls(
    first: Half, second: Half, number: int, repeats: int
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """How many impacts are known, and by form the energy scores (counts, n) of the impacts of both halves."""
    least = min(int((half.sample.classes == number).sum()) for half in (first, second))
    counts = np.array([k for k in COUNTS if k < least] + [least])
    found = {}
    for form in errors.FORMS:
        shape, frame = form.split(", ", 1)
        columns = []
        for new, known in ((first, second), (second, first)):
            law = known.best_law(number)
            there, mirrored = known.errors(law, number, frame)
            copies = np.stack([there, mirrored] if "both" in frame else [there])
            carried = errors.Errors(new.errors(law, number, frame)[0], copies)
            columns.append(np.array([errors.scores(carried, int(k), shape, repeats) for k in counts]))
        found[form] = np.concatenate(columns, axis=1)
    return counts, found


def report(body: Body, first: Half, second: Half, repeats: int) -> None:
    """The tables of all classes."""
    both = (first, second)
    widths = [half.predicted.widths(body.classes) for half in both]
    whole = first.predicted.scored(widths[1]) + second.predicted.scored(widths[0])
    for number in range(1, body.classes + 1):
        tosses = whole.tosses[whole.classes == number]
        if len(tosses) < FEWEST:
            continue
        more = " or more" if number == body.classes else ""
        laws = " and ".join(sorted({half.best_law(number) for half in both}))
        print(f"\n{body.name}, {number}{more} corners: {len(tosses)} impacts, law: {laws}\n")
        sets = {name: whole.values(name, "energy", number) for name in (ENERGETIC, POISSON)}
        hypotheses(whole, number, tosses)
        counts, found = controls(first, second, number, repeats)
        print()
        table = Table({"law and errors of k impacts": "<30", **{f"k = {k}": ".4f" for k in counts}})
        for form, values in found.items():
            table.row(form, *values.mean(axis=1))
        table.row("the best of them", *np.min([v.mean(axis=1) for v in found.values()], axis=0))
        means = np.array(list(found.values()))  # (forms, counts, n)
        print()
        against = {f"minus {name[5:]}'s": "<26" for name in sets}
        table = Table({"k": ">3", "energy": ".4f", "best form": "<29", **against})
        for i, k in enumerate(counts):
            form = int(np.argmin(means[:, i].mean(axis=1)))
            cells = []
            for values in sets.values():
                low, high = errors.by_tosses(mean_of(means[form, i] - values), tosses)
                cells.append(f"{(means[form, i] - values).mean():+.4f} [{low:+.4f}, {high:+.4f}]")
            table.row(k, means[form, i].mean(), "" if k == 0 else errors.FORMS[form], *cells)
        print()
        for name, values in sets.items():
            worth = partial(worth_of, counts, means, values)
            low, high = errors.by_tosses(worth, tosses)
            middle = worth(np.arange(len(tosses)))
            print(f"{name}, is worth {middle:.1f} [{low:.1f}, {high:.1f}] impacts")


def worth_of(counts: np.ndarray, means: np.ndarray, values: np.ndarray, rows: np.ndarray) -> float:
    """How many impacts some rows of a set's scores (n,) are worth; infinite: more than there are."""
    return errors.worth(counts, means[:, :, rows].mean(axis=2).min(axis=0), float(values[rows].mean()))


def mean_of(values: np.ndarray) -> Callable[[np.ndarray], float]:
    """Of some rows."""
    return lambda rows: float(values[rows].mean())


def hypotheses(whole: Predicted, number: int, tosses: np.ndarray) -> None:
    """Scores of both sets, and by how much Poisson's is better."""
    table = Table({"score": "<8", "energetic": ".4f", "Poisson": ".4f", "better by": "+.4f", "95 %": "<20"})
    for field in ("energy", "log"):
        one, two = (whole.values(name, field, number) for name in (ENERGETIC, POISSON))
        low, high = errors.by_tosses(mean_of(one - two), tosses)
        table.row(field, one.mean(), two.mean(), (one - two).mean(), f"[{low:+.4f}, {high:+.4f}]")


def control(options: argparse.Namespace) -> None:
    """Both halves, and their tables."""
    body, fitted, impacts, dt = read(options)
    first, second = (Half(body, part, dt, fitted, options.samples) for part in halves(impacts, options.seed))
    report(body, first, second, options.repeats)


def membership(options: argparse.Namespace) -> None:
    """How many impacts on most corners have the set within their noise."""
    body, fitted, impacts, dt = read(options)
    sample = Sample(body, impacts, fitted.height, dt)
    chosen = np.flatnonzero(sample.classes == body.classes)
    sample = Sample(body, [impacts[k] for k in chosen], fitted.height, dt)
    noise = np.array([np.hypot(i.noise, i.noise_after) / np.linalg.norm(i.before.momentum) for i in impacts])
    ball = 2.0 * noise[chosen]
    print(f"{len(chosen)} impacts; twice the noise / speed: median {np.median(ball):.3f}")
    columns = {"set": "<16", "mu, e": "<20", "nearest": ".3f", "inside": "<22", "impossible": "<22"}
    table = Table(columns)
    for name in (ENERGETIC, POISSON):
        setting = fitted.settings[name]
        batch = sample.batch(setting)
        drawn = routh.sample(batch, options.samples, seed=1, hypothesis=SETS[name], threads=1)
        away, least = np.empty((2, len(chosen)))
        for k, (root, after) in enumerate(zip(sample.scale.root, sample.after, strict=True)):
            away[k] = scoring.optimised_distance(drawn[k], root, after, options.samples)
            reachable = batch[k].apply(best_impulse(batch[k], after)[0])
            least[k] = np.linalg.norm((reachable - after) @ root)
        impossible = share(least > ball)
        values = f"{setting.values['mu']:.3f}, {setting.values['restitution']:.3f}, fitted"
        table.row(name, values, np.median(away), share(away <= ball), impossible)
        distances = {pair: nearest(sample, name, setting, pair, options) for pair in grid(options)}
        if not distances:
            continue
        pair = max(distances, key=lambda one: int((distances[one] <= ball).sum()))
        best = distances[pair]
        table.row(name, f"{pair[0]:.3f}, {pair[1]:.3f}, best", np.median(best), share(best <= ball), None)
        least = np.min(list(distances.values()), axis=0)
        table.row(name, "of each its best", np.median(least), share(least <= ball), None)


def grid(options: argparse.Namespace) -> list[tuple[float, float]]:
    """Friction and restitution between their limits."""
    if options.mu is None or options.restitution is None:
        return []
    return list(product(np.linspace(*options.mu, 5), np.linspace(*options.restitution, 5)))


def nearest(
    sample: Sample, name: str, setting: Setting, pair: tuple[float, float], options: argparse.Namespace
) -> np.ndarray:
    """Distances (n,) of the nearest samples with other friction and restitution."""
    values = {**setting.values, "mu": float(pair[0]), "restitution": float(pair[1])}
    batch = sample.batch(replace(setting, values=values))
    drawn = routh.sample(batch, options.samples, seed=1, hypothesis=SETS[name], threads=1)
    points = sample.scale.points(np.where(drawn.solved[:, :, None], drawn.v, np.inf), sample.after)
    return np.nanmin(np.linalg.norm(points, axis=2), axis=1)


def share(which: np.ndarray) -> str:
    """As text, with an interval."""
    low, high = share_interval(int(which.sum()), len(which))
    return f"{100 * which.mean():.0f} % [{100 * low:.0f}, {100 * high:.0f}]"


def read(options: argparse.Namespace) -> tuple[Body, Fitted, list[Impact], float]:
    """What the command line names: the body, its values, and the impacts with flight after them."""
    body = BODIES[options.body]
    fitted = Fitted.read(options.fitted or Path(__file__).parent / "tosses" / f"{body.name}.json", body)
    impacts, dt = load(body, options.data)
    return body, fitted, [i for i in impacts if i.flies], dt


if __name__ == "__main__":
    parser = command_line(__doc__, control, membership)
    parser.add_argument("body", choices=BODIES)
    parser.add_argument("data", type=Path, help="the file of tosses")
    parser.add_argument("--fitted", type=Path, help="values; default: those of benchmarks/tosses")
    parser.add_argument("--samples", type=int, default=512, help="of the sets")
    parser.add_argument("--repeats", type=int, default=50, help="choices of k impacts of the other half")
    parser.add_argument("--seed", type=int, default=0, help="of the random halves")
    parser.add_argument("--mu", type=float, nargs=2, help="limits of friction, for membership")
    parser.add_argument("--restitution", type=float, nargs=2, help="limits of restitution")
    begin = time.perf_counter()
    run_part(parser)
    print(f"\n{machine()}; {time.perf_counter() - begin:.0f} s")
