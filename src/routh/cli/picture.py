"""A picture of the set in the terminal: no package needed, and enough to see that it is a set."""

from __future__ import annotations

from itertools import groupby

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.text import Text

from routh.auditing.comparison import Comparison
from routh.problem import ImpactProblem
from routh.text import for_terminal
from routh.validation import Array
from routh.viz.density import limits
from routh.viz.panels import Axis, Panel, telling_panel
from routh.viz.velocity import known

WIDTH, HEIGHT = 60, 15  # characters; a braille character has 2 by 4 dots
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])  # bits of a braille character
_SHADES = ("blue", "bright_blue", "bold bright_cyan")  # few, more, most samples


def terminal_picture(shown: Comparison, console: Console) -> RenderableType:
    """Where the impact ends, in the two contact velocities that tell most."""
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
    rows = []
    for i in range(HEIGHT):
        row = []
        for j in range(width):
            if codes[i, j]:
                row.append((chr(0x2800 + int(codes[i, j])) if fancy else "*", _SHADES[shade[i, j]]))
            else:
                row.append((_axis_sign(i == zero_row, j == zero_column, fancy), "dim"))
        rows.append(row)
    return rows


def _axis_sign(on_row: bool, on_column: bool, fancy: bool) -> str:
    horizontal, vertical, crossing = "─│┼" if fancy else "-|+"
    if on_row and on_column:
        return crossing
    return horizontal if on_row else vertical if on_column else " "


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
