"""The table and the picture of the experiment."""

from __future__ import annotations

import argparse

import numpy as np

from learning.runs import CONDITIONS, read, runs

Found = dict[tuple[str, str, str], list[float]]


def results(given: argparse.Namespace) -> Found:
    """(task, condition, test) -> the mean return of each seed that was evaluated after all its steps."""
    found: Found = {}
    for run in runs(given):
        state = run.state()
        if state["steps"] < given.steps:
            continue
        for name, values in read(run.place / f"returns-{state['steps']}.json").items():
            found.setdefault((run.task, run.condition, name), []).append(float(np.mean(values)))
    return found


def interval(values: list[float]) -> tuple[float, float, float]:
    """Median over seeds, and an interval of 95 % for it by resampling the seeds."""
    rng = np.random.default_rng(0)
    again = np.median(rng.choice(values, (4000, len(values))), axis=1)
    low, high = np.quantile(again, [0.025, 0.975])
    return float(np.median(values)), float(low), float(high)


def tests_of(found: Found) -> list[str]:
    """The names of the tests, in the order in which they were made."""
    return list(dict.fromkeys(name for _, _, name in found))


def table(given: argparse.Namespace) -> None:
    """Print the medians."""
    found = results(given)
    for task in given.tasks:
        counts = {condition: len(found.get((task, condition, "nominal"), ())) for condition in CONDITIONS}
        print(f"\n{task}: return, median over seeds (95 % of the median); seeds {counts}\n")
        print("| tried on | " + " | ".join(CONDITIONS) + " |")
        print("|---" * (1 + len(CONDITIONS)) + "|")
        for name in tests_of(found):
            cells = []
            for condition in CONDITIONS:
                values = found.get((task, condition, name))
                cells.append("{:.0f} ({:.0f}, {:.0f})".format(*interval(values)) if values else "")
            print(f"| {name} | " + " | ".join(cells) + " |")


def picture(given: argparse.Namespace) -> None:
    """Draw the medians."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    found = results(given)
    names = tests_of(found)
    figure, axes = plt.subplots(1, len(given.tasks), figsize=(5.5 * len(given.tasks), 4.5), squeeze=False)
    for axis, task in zip(axes[0], given.tasks, strict=True):
        for k, condition in enumerate(CONDITIONS):
            keys = [(place, (task, condition, name)) for place, name in enumerate(names)]
            known = [(place, found[key]) for place, key in keys if key in found]
            if not known:
                continue
            middle, low, high = np.array([interval(values) for _, values in known]).T
            at = np.array([place for place, _ in known]) + 0.18 * (k - 1.5)
            axis.errorbar(middle, at, xerr=[middle - low, high - middle], fmt="o", ms=4, label=condition)
        axis.set_yticks(range(len(names)), names)
        axis.invert_yaxis()
        axis.set_xlabel("return, median over seeds with its 95 % interval")
        axis.set_title(task)
    axes[0][0].legend(title="trained with")
    figure.tight_layout()
    figure.savefig(given.output, dpi=150)
    print(f"wrote {given.output}")
