"""Tables and pictures of the experiment with landings."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np

from learning.landings import CONDITIONS, PRIMARY, TESTS
from learning.runs import read, write
from measure import Table, interval

Found = dict[str, dict[str, list[dict]]]  # task -> condition -> seeds' {"curve", "tests", "seconds", ...}
SAFE = 0.05  # share of falls that counts as safe
#: fixed before the runs, see plan.md: conditions compared on `PRIMARY`, and the difference that counts
COMPARED = [*product(("outcomes", "adversary"), ("feet alike", "half noise", "true noise", "twice noise"))]
MATTERS = 0.02


def collected(given: argparse.Namespace) -> Found:
    """Of all runs that have all their tests."""
    if given.results:
        return read(Path(given.results))
    found: Found = {}
    for run in given.runs:
        tests, state = read(run.place / "tests.json"), run.state()
        if len(tests) == len(TESTS):
            kept = {k: state[k] for k in ("steps", "episodes", "seconds", "processor_seconds", "curve")}
            found.setdefault(run.task, {}).setdefault(run.condition, []).append({**kept, "tests": tests})
    return found


def collect(given: argparse.Namespace) -> None:
    """Everything that was measured, in one file, to five digits."""
    rounded = json.loads(json.dumps(collected(given)), parse_float=lambda x: float(f"{float(x):.5g}"))
    write(Path(given.output), rounded, indent=None)
    print(f"wrote {given.output}")


def falls(seeds: list[dict], test: str) -> np.ndarray:
    """The share of episodes in which each seed's policy fails, (seeds,)."""
    return np.array([seed["tests"][test]["falls"] / seed["tests"][test]["episodes"] for seed in seeds])


def of_tests(seeds: list[dict], test: str, field: str) -> np.ndarray:
    """Another number of a test, (seeds,)."""
    return np.array([seed["tests"][test][field] for seed in seeds], dtype=np.float64)


def steps_to_safety(seeds: list[dict]) -> np.ndarray:
    """Steps after which a policy fails in at most `SAFE` of the probes for once; infinite: never."""
    return np.array(
        [min((p["steps"] for p in seed["curve"] if p["falls"] <= SAFE), default=np.inf) for seed in seeds]
    )


def over_seeds(values: np.ndarray, middle: Callable = np.mean) -> tuple[float, float, float]:
    """Middle over seeds, and its interval of 95 % by resampling seeds; it may be infinite."""
    ends = interval(lambda rows: middle(values[rows]), len(values), times=4000, method="nearest")
    return float(middle(values)), *ends


def conditions_of(found: Found, task: str) -> list[str]:
    """In the order of the plan."""
    return [condition for condition in CONDITIONS if found[task].get(condition)]


def table(given: argparse.Namespace) -> None:
    """Print everything that the plan names."""
    found = collected(given)
    for task in found:
        names = conditions_of(found, task)
        counts = ", ".join(f"{len(found[task][how])} {how}" for how in names)
        print(f"\n### {task}: failed landings, %, mean over seeds (95 %); seeds: {counts}\n")
        _print(names, [(test, [_share(falls(found[task][how], test)) for how in names]) for test in TESTS])
        print(f"\n### {task}: return on each test, likewise\n")
        _print(
            names,
            [
                (test, [_number(of_tests(found[task][how], test, "return")) for how in names])
                for test in TESTS
            ],
        )
        print(f"\n### {task}: what it cost\n")
        _print(names, [(label, [make(found[task][how]) for how in names]) for label, make in _PAID.items()])
        compare(found, task)


def _share(values: np.ndarray) -> str:
    return "{:.1f} ({:.1f}, {:.1f})".format(*(100.0 * x for x in over_seeds(values)))


def _number(values: np.ndarray) -> str:
    return "{:.3f} ({:.3f}, {:.3f})".format(*over_seeds(values))


def _reached(seeds: list[dict]) -> str:
    middle, low, high = over_seeds(steps_to_safety(seeds), np.median)
    ever = np.isfinite(steps_to_safety(seeds)).sum()
    return f"{middle:,.0f} ({low:,.0f}, {high:,.0f}); {ever} of {len(seeds)}".replace("inf", "never")


def _late(seeds: list[dict]) -> int:
    return sum(t.get("verdicts", {}).get("late", 0) for seed in seeds for t in seed["tests"].values())


_PAID: dict[str, Callable[[list[dict]], str]] = {
    "fuel, work and time, nominal": lambda seeds: _number(of_tests(seeds, "nominal", "cost")),
    f"fuel, work and time, {PRIMARY}": lambda seeds: _number(of_tests(seeds, PRIMARY, "cost")),
    f"steps to {SAFE:.0%} falls, {PRIMARY}: median; seeds": _reached,
    "episodes not over in time, all tests": lambda seeds: f"{_late(seeds):,}",
    "episodes of training": lambda seeds: f"{np.mean([seed['episodes'] for seed in seeds]):,.0f}",
    "processor s of training": lambda seeds: f"{np.mean([seed['processor_seconds'] for seed in seeds]):.0f}",
    "wall s of training": lambda seeds: f"{np.mean([seed['seconds'] for seed in seeds]):.0f}",
}


def _print(columns: list[str], rows: list[tuple[str, list[str]]]) -> None:
    table = Table({"": "<43", **dict.fromkeys(columns, "<17")})
    for label, cells in rows:
        table.row(label, *cells)


def compare(found: Found, task: str) -> None:
    """The comparisons of the plan: Mann and Whitney's test over seeds, with Holm's correction."""
    from scipy.stats import mannwhitneyu

    made = []
    for ours, theirs in COMPARED:
        if not (found[task].get(ours) and found[task].get(theirs)):
            continue
        own, their = (falls(found[task][how], PRIMARY) for how in (ours, theirs))
        rng = np.random.default_rng(0)
        means = [rng.choice(values, (4000, len(values))).mean(axis=1) for values in (own, their)]
        low, high = np.quantile(means[0] - means[1], [0.025, 0.975])
        p = float(mannwhitneyu(own, their).pvalue) if np.ptp(np.concatenate([own, their])) > 0.0 else 1.0
        made.append((p, ours, theirs, float(own.mean() - their.mean()), float(low), float(high)))
    print(f"\n### {task}: failed landings on '{PRIMARY}', difference in percentage points (95 %)\n")
    table = Table({"compared": "<23", "difference": "<20", "p": ".3g", "p, Holm": ".3g", "verdict": "<"})
    adjusted = 0.0
    for k, (p, ours, theirs, apart, low, high) in enumerate(sorted(made)):
        adjusted = max(adjusted, min(1.0, p * (len(made) - k)))
        told = f"{100 * apart:+.1f} ({100 * low:+.1f}, {100 * high:+.1f})"
        table.row(f"{ours} - {theirs}", told, p, adjusted, verdict(apart, low, high, adjusted))


def verdict(apart: float, low: float, high: float, p: float) -> str:
    """As the plan says."""
    if p < 0.05 and abs(apart) >= MATTERS:
        return "better" if apart < 0.0 else "worse"
    if max(-low, high) < MATTERS:
        return "tie"
    return "not decided"


def figure(given: argparse.Namespace) -> None:
    """Learning curves of safety, and failed landings on each test."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    found = collected(given)
    made, axes = plt.subplots(
        len(found), 2, figsize=(11.0, 4.2 * len(found)), squeeze=False, layout="constrained"
    )
    colours = dict(zip(CONDITIONS, plt.colormaps["tab10"].colors, strict=False))
    markers = dict(zip(CONDITIONS, "osDv^PX", strict=True))
    for (left, right), task in zip(axes, found, strict=True):
        names = conditions_of(found, task)
        for k, how in enumerate(names):
            curves = [[(p["steps"], p["falls"]) for p in seed["curve"]] for seed in found[task][how]]
            shortest = min(map(len, curves))
            steps, values = np.array([curve[:shortest] for curve in curves]).transpose(2, 0, 1)
            middle, low, high = np.array([over_seeds(column) for column in values.T]).T
            left.plot(
                steps[0] / 1000, 100.0 * middle, color=colours[how], marker=markers[how], ms=4, label=how
            )
            left.fill_between(
                steps[0] / 1000, 100.0 * low, 100.0 * high, color=colours[how], alpha=0.12, lw=0
            )
            spots = np.arange(len(TESTS)) + 0.8 * (k + 0.5) / len(names) - 0.4
            middle, low, high = (
                100.0 * np.array([over_seeds(falls(found[task][how], test)) for test in TESTS]).T
            )
            right.errorbar(
                middle,
                spots,
                xerr=[middle - low, high - middle],
                fmt=markers[how],
                ms=4,
                color=colours[how],
            )
        left.set(
            title=f"{task}: tried on '{PRIMARY}' while it learns",
            xlabel="steps, thousands",
            ylabel="failed, %",
        )
        right.set(
            title=f"{task}: failed landings after training, %",
            yticks=range(len(TESTS)),
            yticklabels=list(TESTS),
        )
        right.invert_yaxis()
        right.grid(axis="x", alpha=0.3)
    most = max(axes[:, 0], key=lambda ax: len(ax.lines))
    made.legend(*most.get_legend_handles_labels(), loc="outside lower center", ncols=7, title="trained with")
    made.savefig(given.output, dpi=120)
    print(f"wrote {given.output}")
