"""Sampled sets as tables for people and as data for machines.

One impact (`describe` to `as_data`); many points together (`tell_unsolved`, `exit_of_points`); no impact at
all (`tell_nothing_approaches`); and the set as a picture of characters (`terminal_picture`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from routh.auditing.comparison import Comparison
from routh.base.status import Status
from routh.base.text import for_rich, for_terminal, percent
from routh.base.validation import Array
from routh.cli.exits import Exit
from routh.cli.output import Output, notes_shown, plain_table
from routh.laws.base import ImpactResult
from routh.problem.friction import ContactMode
from routh.problem.impact import ImpactProblem
from routh.sampling import Outcomes
from routh.sampling.answers import ENOUGH, Answer, contact_modes, nothing_approaches
from routh.sampling.outcomes import ModeRow
from routh.viz.density import limits
from routh.viz.panels import Axis, Panel, telling_panel
from routh.viz.velocity import known

MOST_ROWS = 12
MOST_COLUMNS = 5  # contacts that get a column each; more are summarised contact by contact
QUICK_CONTACTS = 4  # all simultaneous solutions are looked for up to here: beyond it takes seconds
LONGEST_NAME = 9  # characters; where a contact's name is longer, tables number the contacts
_BAR = {1: 20, 2: 20, 3: 16, 4: 10, 5: 4}  # characters by number of contacts: a table fits into 80 columns
WIDTH, HEIGHT = 60, 15  # characters of a picture; a braille character has 2 by 4 dots
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])  # bits of a braille character
_SHADES = ("blue", "bright_blue", "bold bright_cyan")  # few, more, most samples
_STYLES = {"separates": "green", "sticks": "bold", "slides": "yellow"}


def describe(outcomes: Outcomes, seconds: float) -> str:
    """Sizes and settings in one line."""
    problem, settings = outcomes.problem, outcomes.settings
    how = f"by events, {outcomes.events.mean():.3g} pieces each on average"
    if settings.get("method") != "events":
        step = np.asarray(settings.get("step", np.nan))
        size = f"{step.min():.3g}" if np.ptp(step) == 0.0 else f"{step.min():.3g} to {step.max():.3g}"
        how = f"steps up to {size} N s"
    time = f"{seconds:.2g}" if seconds < 10.0 else f"{seconds:.0f}"
    contacts = "1 contact" if problem.nc == 1 else f"{problem.nc} contacts"
    samples = "1 sample" if len(outcomes) == 1 else f"{len(outcomes)} samples"
    return (
        f"{contacts}, {problem.nv} velocities · {samples} in {time} s, {how}, seed {settings.get('seed', 0)}"
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
        "n": len(outcomes),
        "n_solved": int(np.count_nonzero(outcomes.solved)),
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


def _bar(share: float, width: int) -> Text:
    eighths = round(share * width * 8)
    return Text("█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip(), style="blue")


def _energy(row: ModeRow, before: float) -> str:
    low, high = (100.0 * value / before if before > 0.0 else 0.0 for value in row.kinetic_energy)
    return f"{low:.1f}" if high - low < 0.05 else f"{low:.1f} to {high:.1f}"


def tell_unsolved(status: np.ndarray, solved: Array, output: Output) -> None:
    """A line where fewer than 99 % of the samples of all points are solved; see `exit_of_points`."""
    sampled = solved[status == Status.SOLVED]
    if sampled.size and sampled.mean() < ENOUGH:
        few = int((sampled < ENOUGH).sum())
        output.show(
            f"[yellow]Only {percent(float(sampled.mean()))} of the samples are solved[/yellow], fewer than "
            f"{ENOUGH:.0%} at {few} of {len(sampled)} points; the scores are made of the solved ones alone. "
            "routh impact on such a point says why not and what to try."
        )


def exit_of_points(status: np.ndarray, solved: Array) -> Exit:
    """What a command over many points ends with.

    ``status`` (grid) says SOLVED where there is an impact that was sampled; ``solved`` (grid) is the share of
    its samples that are solved.
    """
    sampled = status == Status.SOLVED
    if not sampled.any():
        nothing = np.isin(status, (Status.NO_IMPACT, Status.NO_CONTACT)).all()
        return Exit.NOTHING_APPROACHES if nothing else Exit.WITHOUT_RESULT
    share = float(solved[sampled].mean())
    if share == 0.0:
        return Exit.WITHOUT_RESULT
    return Exit.DONE if share >= ENOUGH else Exit.TOO_FEW_SOLVED


def tell_nothing_approaches(problem: ImpactProblem, title: str, output: Output, notes: str = "") -> int:
    """Say that there is no impact and what to do; the exit code.

    ``notes``: what was said while the problem was made.
    """
    normal = problem.Jn @ problem.v
    output.answer(nothing_approaches(problem).lines())
    output.show("There is no impact, so nothing is drawn.", "", title, *notes_shown(notes))
    if hasattr(problem, "qvel"):
        propose = 'Give the robot a velocity: --down 1.0 lets it land, --qvel "2:-1.0" sets one by index.'
    elif not np.any(problem.v):
        propose = "The velocity v is zero; give the velocity before the impact."
    else:
        propose = "Jn @ v < 0 means approach: look at the signs of v, and of the normals in Jn."
    output.show(propose)
    told = {"ambiguity": None, "contacts": list(problem.names), "approaching": [], "picture": None}
    output.emit(**told, normal_velocity=normal, propose=propose)
    return Exit.NOTHING_APPROACHES


def terminal_picture(shown: Comparison, console: Console) -> RenderableType:
    """Outcomes in characters, in the two contact velocities that tell most: no package is needed."""
    problem, outcomes = shown.problem, shown.outcomes
    panel = telling_panel(problem, known(shown))
    width = max(min(WIDTH, console.width - 14), 20)
    ends = outcomes.v[outcomes.solved]
    marks = [("◆", "bright_red", result.v) for result in shown.simultaneous]
    marks += [("■", "bright_yellow", result.v) for result in shown.sequential.values()]
    everything = np.concatenate([ends, *(v[None] for _, _, v in marks)])
    floor = [1e-4 * axis.size(problem) for axis in panel]
    x, y = (axis.values(problem, everything) for axis in panel)
    extent = (*limits(x, smallest=floor[0]), *limits(y, smallest=floor[1]))
    rows = _canvas(x[: len(ends)], y[: len(ends)], extent, width, _is_unicode(console))
    for (sign, color, _), px, py in zip(marks, x[len(ends) :], y[len(ends) :], strict=True):
        column, row = _cell(px, py, extent, width)
        rows[row][column] = (sign if _is_unicode(console) else "X", color)
    return Group(*_lines(rows, panel, extent, shown))


def _canvas(
    x: Array, y: Array, extent: tuple[float, ...], width: int, fancy: bool
) -> list[list[tuple[str, str]]]:
    """Characters with their styles, the top row first."""
    left, right, bottom, top = extent
    dots, _, _ = np.histogram2d(-y, x, bins=(4 * HEIGHT, 2 * width), range=((-top, -bottom), (left, right)))
    cells = dots.reshape(HEIGHT, 4, width, 2).transpose(0, 2, 1, 3)  # (rows, columns, 4, 2)
    counts = cells.sum(axis=(2, 3))
    codes = ((cells > 0) * _DOTS).sum(axis=(2, 3))
    shade = np.zeros(counts.shape, dtype=int)
    if counts.max() > 1:
        share = np.log1p(counts) / np.log1p(counts.max())
        shade = np.clip((3 * share).astype(int), 0, 2)
    zero_column, zero_row = _cell(0.0, 0.0, extent, width)
    signs = np.full(counts.shape, " ")
    signs[zero_row], signs[:, zero_column], signs[zero_row, zero_column] = "─│┼" if fancy else "-|+"
    rows = [[(str(sign), "dim") for sign in row] for row in signs]
    for i, j in np.argwhere(codes):
        rows[i][j] = chr(0x2800 + int(codes[i, j])) if fancy else "*", _SHADES[shade[i, j]]
    return rows


def _cell(x: float, y: float, extent: tuple[float, ...], width: int) -> tuple[int, int]:
    left, right, bottom, top = extent
    column = int(np.clip((x - left) / (right - left) * width, 0, width - 1))
    row = int(np.clip((top - y) / (top - bottom) * HEIGHT, 0, HEIGHT - 1))
    return column, row


def _lines(
    rows: list[list[tuple[str, str]]], panel: Panel, extent: tuple[float, ...], shown: Comparison
) -> list[Text]:
    left, right, bottom, top = extent
    width = len(rows[0])
    margin = 11
    lines = [Text(f"{'':{margin}}{_label(panel[1], shown.problem)}")]
    for i, row in enumerate(rows):
        number = f"{top:.3g}" if i == 0 else f"{bottom:.3g}" if i == len(rows) - 1 else ""
        runs = groupby(row, key=lambda cell: cell[1])  # few changes of colour, little for a terminal to do
        spans = [("".join(sign for sign, _ in run), color) for color, run in runs]
        lines.append(Text.assemble(f"{number:>{margin - 1}} ", *spans))
    label = _label(panel[0], shown.problem)
    low, high = f"{left:.3g}", f"{right:.3g}"
    lines.append(Text(f"{'':{margin}}{low}{label:^{max(width - len(low) - len(high), 1)}}{high}"))
    key = Text.assemble(" " * margin, ("⣿", _SHADES[1]), " the set")
    if shown.simultaneous:
        key.append("   ◆", "bright_red").append(" all at once   ")
        key.append("■", "bright_yellow").append(" one at a time")
    lines.append(key)
    return lines


def _label(axis: Axis, problem: ImpactProblem) -> str:
    return f"{for_terminal(problem.names[axis.contact])} {axis.quantity(problem)}"


def _is_unicode(console: Console) -> bool:
    return (console.encoding or "").lower().startswith("utf")
