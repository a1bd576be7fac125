"""The tables and the picture of the experiment with Hopper and Walker2d."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from learning.runs import CONDITIONS, read, runs, write
from measure import Table, interval

NOMINAL = "nominal"
Found = dict[tuple[str, str, str], np.ndarray]


def results(given: argparse.Namespace) -> Found:
    """(task, condition, test) -> the mean return of each seed, from a file of `collect` or the folder."""
    stored = read(Path(given.returns)) if given.returns else collected(given)
    return {
        (task, condition, test): np.array(values)
        for task, conditions in stored.items()
        for condition, tests in conditions.items()
        for test, values in tests.items()
    }


def collected(given: argparse.Namespace) -> dict:
    """task -> condition -> test -> mean returns of the seeds that have all their steps and all tests."""
    files = {run: run.place / f"returns-{run.state()['steps']}.json" for run in runs(given)}
    done = {run: read(file) for run, file in files.items() if run.state()["steps"] >= given.steps}
    tests = max(map(len, done.values()), default=0)
    found: dict = {}
    for run, known in done.items():
        for name, values in known.items() if len(known) == tests else ():
            same = found.setdefault(run.task, {}).setdefault(run.condition, {}).setdefault(name, [])
            same.append(round(float(np.mean(values)), 1))
    return found


def collect(given: argparse.Namespace) -> None:
    """Write the mean returns of all seeds into one file."""
    write(Path(given.output), collected(given))
    print(f"wrote {given.output}")


def kept(found: Found) -> Found:
    """The same as a share of what each seed reaches where nothing is changed."""
    return {
        (task, how, test): values / found[task, how, NOMINAL] for (task, how, test), values in found.items()
    }


def median(values: np.ndarray) -> tuple[float, float, float]:
    """Median over seeds, and an interval of 95 % for it by resampling the seeds."""
    return float(np.median(values)), *interval(lambda rows: np.median(values[rows]), len(values), times=4000)


def names_of(found: Found) -> list[str]:
    """The names of the tests, in the order in which they were made."""
    return list(dict.fromkeys(name for _, _, name in found))


def table(given: argparse.Namespace) -> None:
    """Print the medians of returns, and of the shares of them that are kept."""
    found = results(given)
    for task in given.tasks:
        counts = ", ".join(f"{len(found.get((task, how, NOMINAL), ()))} {how}" for how in CONDITIONS)
        print(f"\n{task}: return, median over seeds (95 % of the median); seeds: {counts}\n")
        rows(found, task, "{:.0f} ({:.0f}, {:.0f})")
        print(f"\n{task}: share of its own nominal return that a policy keeps, likewise\n")
        rows(kept(found), task, "{:.2f} ({:.2f}, {:.2f})")


def rows(found: Found, task: str, form: str) -> None:
    """One table."""
    table = Table({"tried on": "<20", **dict.fromkeys(CONDITIONS, "<17")})
    for name in names_of(found):
        known = [found.get((task, condition, name)) for condition in CONDITIONS]
        table.row(name, *(None if values is None else form.format(*median(values)) for values in known))


def picture(given: argparse.Namespace) -> None:
    """Draw both."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    found = results(given)
    width, height = 5.0 * len(given.tasks), 8.5
    figure, axes = plt.subplots(2, len(given.tasks), figsize=(width, height), squeeze=False, sharey=True)
    for column, task in enumerate(given.tasks):
        draw(axes[0, column], found, task)
        axes[0, column].set(title=task, xlabel="return")
        draw(axes[1, column], kept(found), task)
        axes[1, column].axvline(1.0, color="0.8", zorder=0)
        axes[1, column].set(xlabel="share of the nominal return that is kept")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(
        handles, labels, title="trained with", loc="upper center", ncols=len(CONDITIONS), frameon=False
    )
    figure.tight_layout(rect=(0, 0, 1, 0.93))
    figure.savefig(given.output, dpi=130)
    print(f"wrote {given.output}")


def draw(axis, found: Found, task: str) -> None:
    """Medians over seeds with their intervals."""
    names = names_of(found)
    for k, condition in enumerate(CONDITIONS):
        known = [(place, found.get((task, condition, name))) for place, name in enumerate(names)]
        known = [(place, values) for place, values in known if values is not None]
        if not known:
            continue
        middle, low, high = np.array([median(values) for _, values in known]).T
        at = np.array([place for place, _ in known]) + 0.18 * (k - 1.5)
        axis.errorbar(middle, at, xerr=[middle - low, high - middle], fmt="o", ms=4, label=condition)
    axis.set_yticks(range(len(names)), names)
    axis.set_ylim(len(names) - 0.4, -0.6)


def compare(given: argparse.Namespace) -> None:
    """How often a policy trained with outcomes beats one trained otherwise, with the p of the rank test."""
    from scipy.stats import mannwhitneyu

    found = results(given)
    others = [condition for condition in CONDITIONS if condition != "outcomes"]
    smallest, count = 1.0, 0
    table = Table({"task, tried on": "<33", **{f"against {condition}": "<" for condition in others}})
    for task in given.tasks:
        for name in names_of(found):
            own, cells = found[task, "outcomes", name], []
            for condition in others:
                their = found[task, condition, name]
                test = mannwhitneyu(own, their)
                smallest, count = min(smallest, test.pvalue), count + 1
                cells.append(f"{test.statistic / (len(own) * len(their)):.2f} (p {test.pvalue:.2f})")
            table.row(f"{task}, {name}", *cells)
    print(f"\nsmallest p of {count}: {smallest:.3f} (below {0.05 / count:.4f} would be more than chance)")
