"""Laws of impact against measured tosses: fitted on one half, judged on the other.

One engine for every tossed body (`tosses.bodies`). Friction, restitution, inertia, rounding and the rule by
which corners count as simultaneous are fitted on one half of the tosses by the energy score; laws with one
outcome get the same geometry and their own friction and restitution. Then the halves change places.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np

import routh
from measure import command_line
from routh.auditing.membership import best_impulse
from routh.identification import MeasuredImpacts, identify, score_impacts
from routh.identification.scores import Scale
from tosses import predictions, scoring
from tosses.bodies import Body
from tosses.impacts import Impact, at_contact, load, meeting_height
from tosses.predictions import ENERGETIC, MUJOCO, POISSON, SETS, SINGLE
from tosses.scoring import CONTROLS, Score

FRICTIONS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
RESTITUTIONS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
SOLREF = [(t, d) for t in (0.004, 0.008, 0.015, 0.020, 0.030) for d in (0.2, 0.3, 0.5, 0.7, 1.0)]
FIT_SAMPLES = 8
FIT_SINGLE = 50  # impacts that laws with one outcome are fitted on, which take some milliseconds each
GIVEN = "set, energetic, given geometry"
#: No predictions, since they know what was measured: how near impulses at the corners can come at all.
FLOORS = ("floor: impulses in the cones", "floor: any impulses")
#: Likewise, of impacts with one contact: the law with the value that suits each impact best.
ORACLES = {"floor: own restitution": "restitution", "floor: own friction": "mu"}
ORACLE_GRID = np.linspace(0.0, 0.7, 36)
#: What else could matter, with ranges: restitution that falls with speed, friction that depends on direction.
EXTRA = {"restitution_decay": (-0.5, 1.0), "friction_ratio": (0.5, 2.0)}


@dataclass(frozen=True)
class Setting:
    """What is fitted for one law."""

    values: dict[str, float]
    within: float  # m
    soon: float  # s

    def __str__(self) -> str:
        return ", ".join(f"{name} {value:.4g}" for name, value in self.values.items())


@dataclass(frozen=True)
class Fitted:
    """All that is fitted; nothing else goes into a prediction."""

    body: str
    height: float  # m, of the lowest corner at contact
    settings: dict[str, Setting]  # by law
    soft: tuple[float, float, float]  # MuJoCo's friction, time constant (s) and damping ratio
    widths: dict[str, list[float]]  # by prediction, of each class: that of the log score

    def write(self, path: Path) -> None:
        """As JSON."""
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    def __add__(self, other: Fitted) -> Fitted:
        """The middle between what two halves gave."""
        settings = {}
        for name, one in self.settings.items():
            two = other.settings[name]
            values = {key: 0.5 * (value + two.values[key]) for key, value in one.values.items()}
            settings[name] = Setting(values, 0.5 * (one.within + two.within), 0.5 * (one.soon + two.soon))
        mu, timeconst, dampratio = (0.5 * (a + b) for a, b in zip(self.soft, other.soft, strict=True))
        height = 0.5 * (self.height + other.height)
        return Fitted(self.body, height, settings, (mu, timeconst, dampratio), {})

    @classmethod
    def read(cls, path: Path, body: Body) -> Fitted:
        """From JSON."""
        told = json.loads(path.read_text(encoding="utf-8"))
        if told.get("body") != body.name:
            sys.exit(f"{path} has values of another body: {told.get('body')!r}; wanted {body.name!r}")
        settings = {name: Setting(**one) for name, one in told["settings"].items()}
        return cls(told["body"], told["height"], settings, tuple(told["soft"]), told["widths"])


class Sample:
    """Impacts at the moment of contact."""

    def __init__(self, body: Body, impacts: list[Impact], height: float, dt: float) -> None:
        self.body = body
        self.contacts = [at_contact(body, impact, height, dt) for impact in impacts]
        self.q, self.before, self.after = (
            np.array([getattr(c, name) for c in self.contacts]) for name in ("q", "before", "after")
        )
        self.tosses = np.array([c.toss for c in self.contacts])

    @cached_property
    def classes(self) -> np.ndarray:
        """(n,) corners near the height of the lowest one; the body's last class has more, too."""
        counts = [int((c.heights <= self.body.flat).sum()) for c in self.contacts]
        return np.minimum(counts, self.body.classes)

    @cached_property
    def scale(self) -> Scale:
        """The norm of errors: the nominal masses'."""
        return Scale.of(self.measured(0.0, 0.0).batch(self.body.nominal))

    def measured(self, within: float, soon: float) -> MeasuredImpacts:
        """For `identify`; impacts of one toss are not independent."""
        problems = self.body.problems(self.q, self.before, within, soon)
        return MeasuredImpacts(problems, self.after, groups=self.tosses)

    def batch(self, setting: Setting, *, elastic: bool = True) -> routh.ImpactBatch:
        """The problems with fitted values."""
        values = dict(setting.values) if elastic else {**setting.values, "restitution": 0.0}
        return self.measured(setting.within, setting.soon).batch(values)

    def heights(self, setting: Setting) -> list[np.ndarray]:
        """Of the corners that take part, in the problems' order."""
        taking_part = self.body.problems(self.q, self.before, setting.within, setting.soon).contacts
        return [c.heights[there] for c, there in zip(self.contacts, taking_part, strict=True)]


def predict_single(sample: Sample, name: str, setting: Setting) -> np.ndarray:
    """Velocities after (n, nv) by a law with one outcome."""
    batch = sample.batch(setting, elastic="inelastic" not in name)
    each = zip(range(len(batch)), sample.heights(setting), strict=True)
    return np.array([predictions.single(name, batch[k], heights) for k, heights in each])


def mean_error(sample: Sample, v: np.ndarray) -> float:
    """The mean energy score of single outcomes (n, nv), which is their distance."""
    return float(np.linalg.norm(sample.scale.points(v[:, None], sample.after), axis=2).mean())


def fit_single(sample: Sample, name: str, start: Setting) -> Setting:
    """Friction and restitution of a law with one outcome, one after the other, at given geometry."""
    grids = {"restitution": RESTITUTIONS, "mu": FRICTIONS}
    if "inelastic" in name:
        del grids["restitution"]
    best, lowest = start, np.inf
    tried: dict[tuple[float, ...], float] = {}
    for field in (*grids, *list(grids)[:-1]):
        for value in grids[field]:
            trial = replace(start, values={**best.values, field: value})
            key = tuple(trial.values.values())
            if key not in tried:
                tried[key] = mean_error(sample, predict_single(sample, name, trial))
            if tried[key] < lowest:
                lowest, best = tried[key], trial
    return best


def fit_soft(sample: Sample) -> tuple[float, float, float]:
    """MuJoCo's friction, time constant and damping ratio."""

    def error(trial: tuple[float, float, float]) -> float:
        return mean_error(sample, predict_soft(sample, trial))

    _, *solref = min(((0.2, *solref) for solref in SOLREF), key=error)
    return min(((mu, *solref) for mu in FRICTIONS), key=error)


def predict_soft(sample: Sample, soft: tuple[float, float, float]) -> np.ndarray:
    """Velocities after (n, nv) by MuJoCo."""
    body = predictions.SoftBody(sample.body, *soft)
    return np.array([body.predict(contact) for contact in sample.contacts])


def fit(body: Body, impacts: list[Impact], dt: float) -> Fitted:
    """Everything, by these impacts alone."""
    height = float(np.median([meeting_height(body, i) for i in impacts]))
    sample = Sample(body, impacts, height, dt)
    options = {"samples": FIT_SAMPLES, "metric": body.nominal, "threads": 1}
    rule = choose_rule(sample, options)
    measured = sample.measured(*rule)
    print(f"\nfitted on {len(impacts)} impacts: the lowest corner is at {1e3 * height:.1f} mm at contact,")
    print(
        f"corners count within {1e3 * rule[0]:g} mm of the lowest, or {1e3 * rule[1]:g} ms later", flush=True
    )
    settings: dict[str, Setting] = {}
    for name, hypothesis in ((ENERGETIC, "energetic"), (POISSON, "poisson")):
        found = identify(
            measured, body.parameters, start=body.start, scan=0, hypothesis=hypothesis, **options
        )
        settings[name] = Setting(found.values, *rule)
        print(f"{name}\n{found.report()}", flush=True)
    contact = {name: body.parameters[name] for name in ("mu", "restitution")}
    middle = {name: body.start[name] for name in contact}
    found = identify(measured, contact, start=middle, scan=0, **options)
    settings[GIVEN] = Setting({**body.nominal, **found.values}, *rule)
    settings["set, inelastic"] = settings[ENERGETIC]
    few = np.random.default_rng(0).permutation(len(impacts))[:FIT_SINGLE]
    some = Sample(body, [impacts[k] for k in few], height, dt)
    for name in SINGLE:
        settings[name] = fit_single(some, name, settings[ENERGETIC])
    for name in (GIVEN, *SINGLE):
        print(f"{name:32s} {settings[name]}")
    soft = fit_soft(some)
    print(f"{MUJOCO:32s} mu {soft[0]:g}, solref {soft[1]:g} s, {soft[2]:g}", flush=True)
    return Fitted(body.name, height, settings, soft, {})


@dataclass(frozen=True, eq=False)
class Predicted:
    """Impacts that were predicted by laws that were not fitted on them."""

    classes: np.ndarray  # (n,)
    tosses: np.ndarray  # (n,)
    rows: dict[str, list[Score]]  # by prediction, one per impact
    logs: dict[str, np.ndarray]  # by prediction, (n,) log scores with widths chosen on other impacts

    def values(self, name: str, field: str, number: int) -> np.ndarray:
        """One field of the scores, for the impacts of a class."""
        chosen = self.classes == number
        if field == "log":
            return self.logs[name][chosen]
        return np.array([getattr(score, field) for score in self.rows[name]])[chosen]

    def widths(self, most: int) -> dict[str, list[float]]:
        """For every prediction and class the width with the best mean log score."""
        found = {}
        for name, scores in self._predictions():
            logs = np.array([score.logs for score in scores])
            of_class = [logs[self.classes == number] for number in range(1, most + 1)]
            best = [int(np.argmin((one if len(one) else logs).mean(axis=0))) for one in of_class]
            found[name] = [float(scoring.WIDTHS[k]) for k in best]
        return found

    def _predictions(self) -> list[tuple[str, list[Score]]]:
        """All but the floors."""
        return [(name, scores) for name, scores in self.rows.items() if not name.startswith("floor")]

    def scored(self, widths: dict[str, list[float]]) -> Predicted:
        """With log scores by widths that were chosen elsewhere."""
        logs = {}
        for name, scores in self._predictions():
            places = np.searchsorted(scoring.WIDTHS, np.array(widths[name]) * (1 - 1e-9))
            logs[name] = np.array([s.logs[places[c - 1]] for s, c in zip(scores, self.classes, strict=True)])
        return replace(self, logs=logs)

    def __add__(self, other: Predicted) -> Predicted:
        rows = {name: self.rows[name] + other.rows[name] for name in self.rows}
        logs = {name: np.append(self.logs[name], other.logs[name]) for name in self.logs}
        return Predicted(
            np.append(self.classes, other.classes), np.append(self.tosses, other.tosses), rows, logs
        )


def predict(body: Body, fitted: Fitted, impacts: list[Impact], dt: float, samples: int) -> Predicted:
    """Every law's prediction of impacts, and the controls of the sets with restitution."""
    sample = Sample(body, impacts, fitted.height, dt)
    rows: dict[str, list[Score]] = {}
    for name in SINGLE:
        rows[name] = _single_scores(sample, predict_single(sample, name, fitted.settings[name]))
    rows[MUJOCO] = _single_scores(sample, predict_soft(sample, fitted.soft))
    for name in ("set, inelastic", GIVEN, ENERGETIC, POISSON):
        rows |= _set_scores(sample, name, fitted.settings[name], samples)
    rows |= floors(sample, fitted.settings[ENERGETIC])
    return Predicted(sample.classes, sample.tosses, rows, {})


def floors(sample: Sample, setting: Setting) -> dict[str, list[Score]]:
    """What no law of contact at these corners, with this geometry and friction, can undercut."""
    batch, found = sample.batch(setting), np.empty((2, *sample.after.shape))
    for k, (after, root) in enumerate(zip(sample.after, sample.scale.root, strict=True)):
        problem = batch[k]
        found[0, k] = problem.apply(best_impulse(problem, after)[0])
        moved = np.linalg.solve(problem.M, problem.J.reshape(-1, problem.nv).T)
        impulse = np.linalg.lstsq(root.T @ moved, root.T @ (after - problem.v), rcond=None)[0]
        found[1, k] = problem.v + moved @ impulse
    rows = {name: _single_scores(sample, v) for name, v in zip(FLOORS, found, strict=True)}
    for name, field in ORACLES.items():
        tried = []
        for value in ORACLE_GRID:
            trial = replace(setting, values={**setting.values, field: float(value)})
            tried.append(routh.sample(sample.batch(trial), 1, threads=1).v[:, 0])
        away = np.array(
            [np.linalg.norm(sample.scale.points(v[:, None], sample.after), axis=2) for v in tried]
        )
        best = np.argmin(away[:, :, 0], axis=0)
        one = batch.size[:, 1] == 1
        chosen = np.array(tried)[best, np.arange(len(best))]
        rows[name] = _single_scores(sample, np.where(one[:, None], chosen, np.nan))
    return rows


def _single_scores(sample: Sample, v: np.ndarray) -> list[Score]:
    return [scoring.score(points) for points in sample.scale.points(v[:, None], sample.after)]


def _set_scores(sample: Sample, name: str, setting: Setting, samples: int) -> dict[str, list[Score]]:
    """Of a set, and of its controls; impacts on one or two corners have a sixteenth of the samples."""
    batch = sample.batch(setting, elastic=name != "set, inelastic")
    compared = name in (ENERGETIC, POISSON)
    found: dict[str, list] = {name: [None] * len(batch)}
    if compared:
        found |= {f"{name}: {control}": [None] * len(batch) for control in CONTROLS}
    for many in (False, True):
        chosen = np.flatnonzero((sample.classes > 2) == many)
        n = samples if many else max(samples // 16, 32)
        hypothesis = SETS.get(name, "energetic")
        drawn = routh.sample(batch.take(chosen), n, seed=1, hypothesis=hypothesis, threads=1)
        for place, k in enumerate(chosen):
            root, after = sample.scale.root[k], sample.after[k]
            lost = ~drawn.solved[place]
            v = np.where(lost[:, None], sample.before[k], drawn.v[place])
            points = (v - after) @ root
            if not compared:
                found[name][k] = scoring.score(points)
                continue
            nearest = scoring.optimised_distance(drawn[place], root, after, n)
            found[name][k] = scoring.score(points, nearest)
            rng = np.random.default_rng(int(k))
            for control, one in scoring.controls(batch[int(k)], root, points, rng).items():
                found[f"{name}: {control}"][k] = one
    return found


def hypotheses(body: Body, impacts: list[Impact], dt: float, options: argparse.Namespace) -> None:
    """Does restitution depend on speed, or friction on direction? Fitted on one half, judged on the other."""
    first, second = halves(impacts, options.seed)
    height = float(np.median([meeting_height(body, i) for i in first]))
    known, new = (Sample(body, half, height, dt) for half in (first, second))
    fitting = {"samples": FIT_SAMPLES, "metric": body.nominal, "threads": 1}
    rule = choose_rule(known, fitting)
    for hypothesis in ("energetic", "poisson"):
        for extra in ({}, *({name: limits} for name, limits in EXTRA.items())):
            found = identify(
                known.measured(*rule),
                {**body.parameters, **extra},
                start={**body.start, **{name: 1.0 if name == "friction_ratio" else 0.0 for name in extra}},
                scan=0,
                hypothesis=hypothesis,
                **fitting,
            )
            judged = {**fitting, "samples": options.samples // 8}
            scores = score_impacts(new.measured(*rule), found.values, hypothesis=hypothesis, **judged)
            text = [f"{hypothesis}"]
            for name, one in found.estimates.items():
                text.append(f"{name} {one.value:.3g} [{one.interval[0]:.3g}, {one.interval[1]:.3g}]")
            print(", ".join(text))
            for number in range(1, body.classes + 1):
                there = new.classes == number
                energy, nearest = scores.energy[there].mean(), np.median(scores.nearest[there])
                print(f"  {number} corners: energy score {energy:.4f}, nearest {nearest:.3f}", flush=True)


def choose_rule(sample: Sample, options: dict) -> tuple[float, float]:
    """Which corners are simultaneous (m, s): by the score at the start."""

    def score(rule: tuple[float, float]) -> float:
        return float(score_impacts(sample.measured(*rule), sample.body.start, **options).energy.mean())

    return min(product(sample.body.within, sample.body.soon), key=score)


def halves(impacts: list[Impact], seed: int) -> tuple[list[Impact], list[Impact]]:
    """A random half of the tosses, and the other."""
    tosses = np.random.default_rng(seed).permutation(1 + max(i.toss for i in impacts))
    chosen = set(tosses[: len(tosses) // 2].tolist())
    return [i for i in impacts if i.toss in chosen], [i for i in impacts if i.toss not in chosen]


def both_ways(body: Body, impacts: list[Impact], dt: float, options: argparse.Namespace) -> Predicted:
    """Fit on each half and predict the other; widths of the log score are those of the other half, too."""
    first, second = halves(impacts, options.seed)
    fitted = [fit(body, half, dt) for half in (first, second)]
    one = predict(body, fitted[0], second, dt, options.samples)
    two = predict(body, fitted[1], first, dt, options.samples)
    whole = one.scored(two.widths(body.classes)) + two.scored(one.widths(body.classes))
    if options.write:
        replace(fitted[0] + fitted[1], widths=whole.widths(body.classes)).write(options.write)
    return whole


def report(body: Body, predicted: Predicted) -> None:
    """Errors and scores by class, and how much better a set is than the best single outcome."""
    singles = (*SINGLE, MUJOCO)
    for number in range(1, body.classes + 1):
        chosen = predicted.classes == number
        tosses = predicted.tosses[chosen]
        more = " or more" if number == body.classes else ""
        near, thrown = f"{1e3 * body.flat:g} mm", len(set(tosses))
        print(f"\n{number}{more} corners within {near}: {chosen.sum()} impacts of {thrown} tosses")
        if chosen.sum() < 5:
            continue
        print(f"  {'prediction':32s} nearest [95 %]         optimised  mean outcome  spread  energy     log")
        for name in predicted.rows:
            column = {
                f: predicted.values(name, f, number) for f in ("nearest", "optimised", "mean", "spread")
            }
            known = np.isfinite(column["nearest"])
            if known.mean() < 0.9:  # a floor of single contacts, of impacts with several
                continue
            low, high = scoring.interval(column["nearest"][known], tosses[known])
            text = f"  {name:32s} {np.median(column['nearest'][known]):.3f} [{low:.3f}, {high:.3f}]"
            best = np.median(column["optimised"])
            text += "           " if np.isnan(best) else f"  {best:9.3f}"
            text += f"  {np.median(column['mean']):12.3f}  {np.median(column['spread']):6.3f}"
            if name.startswith("floor"):
                print(text[:56])
                continue
            energy, log = predicted.values(name, "energy", number), predicted.values(name, "log", number)
            print(f"{text}  {energy.mean():.4f}  {log.mean():+.3f}")
        for name in (ENERGETIC, POISSON):
            near = {one: predicted.values(one, "nearest", number) for one in (*singles, name)}
            best_law = min(singles, key=lambda one: float(np.median(near[one])))
            low, high = scoring.interval(near[best_law], tosses, near[name])
            ratio = np.median(near[best_law]) / np.median(near[name])
            print(f"  {name}: {best_law} is {ratio:.2f} [{low:.2f}, {high:.2f}] times as far", end="")
            others = (best_law, *(f"{name}: {control}" for control in CONTROLS))
            print("; score better by (energy, log)")
            for other in others:
                texts = []
                for field in ("energy", "log"):
                    gain = predicted.values(other, field, number) - predicted.values(name, field, number)
                    texts.append(f"{gain.mean():+.4f} +- {scoring.error_of_mean(gain, tosses):.4f}")
                print(f"    than {other:32s} {texts[0]}   {texts[1]}")


def draw(body: Body, predicted: Predicted, path: Path) -> None:
    """Cumulative errors of the impacts on one corner, and on most corners, with the controls."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    shown = {
        "Moreau (Newton)": ("0.5", "-"),
        "sequential, lowest corner first": ("0.5", "--"),
        MUJOCO: ("tab:green", "-"),
        ENERGETIC: ("tab:blue", "-"),
        f"{ENERGETIC}: cone impulses": ("tab:orange", "--"),
        f"{ENERGETIC}: Gaussian": ("tab:purple", "--"),
        f"{ENERGETIC}: turned": ("tab:red", ":"),
    }
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
    for axis, number in zip(axes, (1, body.classes), strict=True):
        for name, (colour, style) in shown.items():
            values = np.sort(predicted.values(name, "nearest", number))
            if number > 1 or ":" not in name:
                label = name.replace(f"{ENERGETIC}: ", "control: ")
                axis.step(
                    values, np.arange(1, len(values) + 1) / len(values), color=colour, ls=style, label=label
                )
        axis.set(xlim=(0, 0.4), ylim=(0, 1), xlabel="error of the nearest prediction / speed before")
        corners = "one corner" if number == 1 else f"{number} or more corners"
        axis.set_title(f"{body.name}, {corners}: {len(values)} impacts", fontsize=10)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("share of impacts")
    axes[0].legend(*axes[1].get_legend_handles_labels(), fontsize=8, loc="lower right")
    figure.savefig(path, dpi=150)


def main(body: Body, description: str, variable: str) -> None:
    """The command line of a benchmark of tosses; ``variable`` of the environment names its file."""
    parser = command_line(description)
    parser.add_argument("data", nargs="?", default=os.environ.get(variable))
    parser.add_argument("--samples", type=int, default=2048, help="of the sets of three and more corners")
    parser.add_argument("--seed", type=int, default=0, help="of the random halves")
    parser.add_argument("--all", action="store_true", help="also impacts that are not followed by flight")
    parser.add_argument("--fitted", type=Path, help="predict the tosses with these values; fit nothing")
    parser.add_argument(
        "--write", type=Path, help="a file for the mean of what both halves gave, for --fitted"
    )
    parser.add_argument(
        "--hypotheses", action="store_true", help="fit e(v) and friction by direction instead"
    )
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    if not options.data or not Path(options.data).exists():
        sys.exit(f"the data are missing: name the file of tosses, or set {variable}")
    begin = time.perf_counter()
    impacts, dt = load(body, Path(options.data))
    impacts = [i for i in impacts if i.flies or options.all]
    noise = [i.noise / np.linalg.norm(i.before.momentum) for i in impacts]
    print(f"{len(impacts)} impacts; noise of the velocity before / speed: ", end="")
    print(f"median {np.median(noise):.3f}, 90 % {np.quantile(noise, 0.9):.3f}")
    if options.hypotheses:
        hypotheses(body, impacts, dt, options)
        return
    if options.fitted:
        fitted = Fitted.read(options.fitted, body)
        predicted = predict(body, fitted, impacts, dt, options.samples).scored(fitted.widths)
    else:
        predicted = both_ways(body, impacts, dt, options)
    report(body, predicted)
    if options.figure:
        draw(body, predicted, options.figure)
    print(f"\n{time.perf_counter() - begin:.0f} s")
