"""Sampled sets as tables for people and as data for machines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.table import Table
from rich.text import Text

from routh.auditing.comparison import Comparison
from routh.cli.output import plain_table
from routh.friction import ContactMode
from routh.laws.base import ImpactResult
from routh.sampling import Answer, Outcomes
from routh.sampling.answers import contact_modes
from routh.sampling.outcomes import ModeRow
from routh.status import Status
from routh.text import for_rich, percent

MOST_ROWS = 12
MOST_COLUMNS = 5  # contacts that get a column each; more are summarised contact by contact
QUICK_CONTACTS = 4  # all simultaneous solutions are looked for up to here: beyond it takes seconds
LONGEST_NAME = 9  # characters; where a contact's name is longer, tables number the contacts
_BAR = {1: 20, 2: 20, 3: 16, 4: 10, 5: 4}  # characters by number of contacts: a table fits into 80 columns
_STYLES = {"separates": "green", "sticks": "bold", "slides": "yellow"}


def describe(outcomes: Outcomes, seconds: float) -> str:
    """Sizes and settings in one line."""
    problem, settings = outcomes.problem, outcomes.settings
    how = f"by events, {outcomes.events.mean():.3g} pieces each on average"
    if settings.get("method") != "events":
        step = np.asarray(settings.get("step", np.nan))
        size = f"{step.min():.3g}" if np.ptp(step) == 0.0 else f"{step.min():.3g} to {step.max():.3g}"
        how = f"steps up to {size} N s"
    contacts = "1 contact" if problem.nc == 1 else f"{problem.nc} contacts"
    return (
        f"{contacts}, {problem.nv} velocities · {len(outcomes)} samples in {_seconds(seconds)} s, "
        f"{how}, seed {settings.get('seed', 0)}"
    )


def mode_table(outcomes: Outcomes, threshold: float) -> Table:
    """How often which combination of contact modes occurred; contact by contact where there are many.

    Combinations that differ by less than ``threshold`` are one row, see `routh.Outcomes.summary`.
    """
    if outcomes.problem.nc > MOST_COLUMNS:
        return _contact_table(outcomes, threshold)
    rows = outcomes.summary(threshold)
    before, width = float(outcomes.problem.kinetic_energy()), _BAR[outcomes.problem.nc]
    table = plain_table(*(f"|{for_rich(heading)}" for heading in headings(outcomes.problem.names)), ">|share")
    table.add_column("", no_wrap=True, min_width=width)
    table.add_column("energy (%)", justify="right", no_wrap=True)
    for row in rows[:MOST_ROWS]:
        shares = percent(row.share), _bar(row.share, width)
        table.add_row(*map(_mode, row.modes), *shares, _energy(row, before))
    rest = rows[MOST_ROWS:]
    if rest:
        share = sum(row.share for row in rest)
        blanks = [""] * (outcomes.problem.nc - 1)
        table.add_row(f"{len(rest)} others", *blanks, percent(share), _bar(share, width), "")
    return table


def numbered(names: Sequence[str]) -> bool:
    """Whether contacts are numbered in the tables: their names are too long for columns."""
    return len(names) <= MOST_COLUMNS and max(map(len, names), default=0) > LONGEST_NAME


def headings(names: Sequence[str]) -> list[str]:
    """What stands above the contacts' columns."""
    if numbered(names):
        return [f"contact {i + 1}" for i in range(len(names))]
    return [f"contact {name}" if len(name) <= 2 else name for name in names]


def contact_key(names: Sequence[str]) -> list[str]:
    """Which number stands for which contact; empty where the columns have names."""
    return [f"contact {i + 1}: {name}" for i, name in enumerate(names)] if numbered(names) else []


def _contact_table(outcomes: Outcomes, threshold: float) -> Table:
    modes = outcomes.merged_modes(threshold)[outcomes.solved]
    shares = np.stack([(modes == mode).mean(axis=0) for mode in ContactMode], axis=1)
    table = plain_table("contact")
    for mode in ContactMode:
        table.add_column(mode.word, justify="right", style=_STYLES[mode.word])
    order = np.argsort(-shares[:, 0], kind="stable")
    for i in order[: 2 * MOST_ROWS]:
        table.add_row(for_rich(outcomes.problem.names[i]), *(percent(share) for share in shares[i]))
    return table


def remarks(outcomes: Outcomes, threshold: float) -> list[str]:
    """What a reader must know beside the table."""
    found = []
    rows, n = outcomes.summary(threshold), len(outcomes)
    if outcomes.problem.nc > MOST_COLUMNS:
        found.append(f"{len(rows)} combinations of contact modes among {n} samples")
    merged = sum(row.combinations - 1 for row in rows)
    if merged:
        which = "1 combination that differs" if merged == 1 else f"{merged} combinations that differ"
        found.append(
            f"[dim]{which} by less than {threshold:g} of the speed before: counted in the rows above "
            "(--merge 0 shows all)[/dim]"
        )
    unsolved = n - int(np.count_nonzero(outcomes.solved))
    if unsolved:
        word = "sample is" if unsolved == 1 else "samples are"
        found.append(f"[yellow]{unsolved} of {n} {word} not solved[/yellow] and in no row above:")
    for status, count in outcomes.status_counts().items():
        if not status.ok:
            found.append(f"[yellow]{count}[/yellow] {status.name}: {status.sentence}")
    if Status.NO_IMPACT in outcomes.status_counts():
        found.append(Status.NO_IMPACT.sentence)
    return found


def law_table(shown: Comparison) -> Table:
    """What single answers the classical laws give."""
    names = shown.problem.names
    wide = len(names) > MOST_COLUMNS
    columns = [">contacts that separate"] if wide else [f"|{for_rich(one)}" for one in headings(names)]
    title = "What laws with a single answer say:"
    table = plain_table("law", *columns, ">energy (%)", title=title, title_style="")
    for label, result in labelled_results(shown):
        modes = result_modes(result)
        left = f"{100.0 * result.kinetic_energy / max(float(shown.problem.kinetic_energy()), 1e-300):.1f}"
        separate = f"{modes.count('separates')} of {len(names)}"
        cells = [Text(separate)] if wide else [_mode(mode) for mode in modes]
        last = left if result.status.ok else result.status.name
        table.add_row(for_rich(_with_numbers(label, names)), *cells, last)
    return table


def _with_numbers(label: str, names: Sequence[str]) -> str:
    """A law's label, with the numbers of the contacts in an order where the columns have numbers."""
    law, colon, order = label.partition(": ")
    if not colon or not numbered(names):
        return label
    number = {name: str(i + 1) for i, name in enumerate(names)}
    return f"{law}: " + " ".join(number.get(part, part) for part in order.split(", "))


def labelled_results(shown: Comparison) -> list[tuple[str, ImpactResult]]:
    """Every classical outcome with the words for it."""
    several = len(shown.simultaneous) > 1
    found = [
        ("all at once" + (f" ({i + 1} of {len(shown.simultaneous)})" if several else ""), result)
        for i, result in enumerate(shown.simultaneous)
    ]
    return found + [(f"one at a time: {order}", result) for order, result in shown.sequential.items()]


def result_modes(result: ImpactResult) -> list[str]:
    """What each contact does after one outcome."""
    return [ContactMode(mode).word for mode in contact_modes(result.problem, result.v)]


def as_data(shown: Comparison, answer: Answer, seconds: float, threshold: float) -> dict[str, object]:
    """Everything that the answer and the tables say, for machines; see docs/guide/command_line.md."""
    outcomes, problem = shown.outcomes, shown.problem
    return {
        "ambiguity": answer.as_data(),
        "contacts": list(problem.names),
        "soon": dict(problem.soon),
        "samples": len(outcomes),
        "solved": int(np.count_nonzero(outcomes.solved)),
        "statuses": {status.name: count for status, count in outcomes.status_counts().items()},
        "settings": outcomes.settings,
        "seconds": seconds,
        "steps_per_sample": float(outcomes.steps.mean()),
        "largest_residual": float(outcomes.residual.max()),
        "kinetic_energy_before": float(problem.kinetic_energy()),
        "merge": threshold,
        "modes": [
            {
                "modes": dict(zip(problem.names, row.modes, strict=True)),
                "count": row.count,
                "share": row.share,
                "kinetic_energy": row.kinetic_energy,
                "combinations": row.combinations,
            }
            for row in outcomes.summary(threshold)
        ],
        "laws": [
            {
                "law": label,
                "status": result.status.name,
                "v": result.v,
                "contact_velocity": result.contact_velocity,
                "modes": dict(zip(problem.names, result_modes(result), strict=True)),
                "kinetic_energy": result.kinetic_energy,
            }
            for label, result in labelled_results(shown)
        ],
        "all_simultaneous": shown.all_simultaneous,
    }


def _mode(name: str) -> Text:
    return Text(name, style=_STYLES[name])


def _seconds(seconds: float) -> str:
    return f"{seconds:.2g}" if seconds < 10.0 else f"{seconds:.0f}"


def _bar(share: float, width: int) -> Text:
    eighths = round(share * width * 8)
    return Text("█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip(), style="blue")


def _energy(row: ModeRow, before: float) -> str:
    low, high = (100.0 * value / before if before > 0.0 else 0.0 for value in row.kinetic_energy)
    return f"{low:.1f}" if high - low < 0.05 else f"{low:.1f} to {high:.1f}"
