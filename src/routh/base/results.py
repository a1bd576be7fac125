"""What results have in common: a picture, a view in notebooks, tables for other tools, an impact's path."""

from __future__ import annotations

import base64
import enum
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from routh.base.status import Status, optional
from routh.base.text import for_html, for_terminal
from routh.base.validation import Array

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


#: Names of the directions at a contact, by their number.
DIRECTIONS = {1: ("normal",), 2: ("normal", "tangential"), 3: ("normal", "tangential 1", "tangential 2")}


_MOST = 100  # characters of one line


def _in_one_line(self: object) -> str:
    """The name of the class, its status and what is short among its fields."""
    shown = []
    status = getattr(self, "status", None)
    if isinstance(status, Status):
        shown.append(status.name)
    for one in fields(self) if is_dataclass(self) else ():
        text = _short(getattr(self, one.name)) if one.repr and one.name != "status" else ""
        if text and len(", ".join([*shown, text])) + len(one.name) < _MOST:
            shown.append(f"{one.name}={text}")
    return f"{type(self).__name__}({', '.join(shown)})"


def _short(value: object) -> str:
    """A value in few characters; empty where that says nothing."""
    if isinstance(value, (bool, int, str)):
        return for_terminal(repr(value))
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    return f"{len(value)} of them" if isinstance(value, (tuple, list, dict)) else ""


class Result:
    """What a public function answers: it has a ``status``, one line for terminals and HTML for notebooks.

    ``status`` is a field or a property of each class, a `Status` or one for each of many answers. Here a
    class that does not say how it is shown gets its one line.
    """

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        if cls.__repr__ is object.__repr__:  # before `dataclass` puts in one that prints whole arrays
            cls.__repr__ = _in_one_line  # type: ignore[method-assign]

    def _facts(self) -> Sequence[tuple[object, ...]]:
        """Rows of the table that a notebook shows, the first one its head; none by default."""
        return ()

    def _sentences(self) -> Sequence[str]:
        """What a notebook says above the table; nothing by default."""
        return ()

    def _repr_html_(self) -> str:
        return html_view(repr(self), self._facts(), self._thumbnail(), self._sentences())

    def _thumbnail(self) -> bytes | None:
        """A small picture, as PNG; none by default."""
        return None


class Whole(Result):
    """A result that is whole wherever there is one: what cannot be computed was raised."""

    @property
    def status(self) -> Status:
        """SOLVED: what could not be answered was raised."""
        return Status.SOLVED


class Drawable(Result):
    """A result that `routh.viz.plot` knows how to draw, and that notebooks show with a picture."""

    def plot(self, axes: Axes | None = None, **options: object) -> Figure:
        """Draw into Matplotlib ``axes`` or a figure of its own; returns the figure. See `routh.viz.plot`."""
        return _pictures().plot(self, axes, **options)

    def _thumbnail(self) -> bytes | None:
        picture: bytes | None = _pictures().thumbnail(self)
        return picture


def worst_status(statuses: Iterable[Status]) -> Status:
    """SOLVED where all are an answer, else the first that is none."""
    return next((one for one in statuses if not one.ok), Status.SOLVED)


def _pictures() -> ModuleType:
    """What draws results: the one import that looks down the order of rooms, once a picture is wanted."""
    from routh.viz import plots

    return plots


@dataclass(frozen=True, eq=False)
class Column:
    """One variable of a table: named dimensions, values, unit, and what its numbers mean."""

    dims: tuple[str, ...]
    values: np.ndarray
    units: str = "1"
    meaning: str = ""


def status_column(dim: str, status: np.ndarray) -> Column:
    """The statuses of rows, with what their numbers mean."""
    return Column((dim,), status, "1", ", ".join(f"{one.value} {one.name}" for one in Status))


class Tabular(ABC):
    """A result that goes to pandas and xarray (extra ``data``)."""

    @abstractmethod
    def _columns(self) -> Mapping[str, Column]:
        """The variables by name; the first dimension of the first one numbers the rows of a data frame."""

    def _coordinates(self) -> Mapping[str, object]:
        """Labels along the dimensions that have some."""
        return {}

    def to_xarray(self) -> xarray.Dataset:
        """All of the result with named dimensions; units and meanings are attributes of the variables."""
        variables = {}
        for name, column in self._columns().items():
            attributes = {"units": column.units}
            if column.meaning:
                attributes["meaning"] = column.meaning
            variables[name] = (column.dims, column.values, attributes)
        return optional("xarray", "data").Dataset(variables, coords=dict(self._coordinates()))

    def to_pandas(self) -> pandas.DataFrame:
        """One row a sample (state, point); what has further dimensions becomes columns such as ``v[0]``."""
        pandas = optional("pandas", "data")
        columns, labels = self._columns(), self._coordinates()
        leading = next(iter(columns.values())).dims[0]
        table: dict[str, np.ndarray] = {}
        for name, column in columns.items():
            if column.dims[:1] != (leading,):
                continue
            further = [
                _labels(labels, dim, n)
                for dim, n in zip(column.dims[1:], column.values.shape[1:], strict=True)
            ]
            for place in np.ndindex(column.values.shape[1:]):
                where = ", ".join(str(further[k][index]) for k, index in enumerate(place))
                table[f"{name}[{where}]" if where else name] = column.values[(slice(None), *place)]
        index = _labels(labels, leading, len(next(iter(columns.values())).values))
        return pandas.DataFrame(table, index=pandas.Index(index, name=leading))


def _labels(labels: Mapping[str, object], dim: str, count: int) -> Sequence[object]:
    found = labels.get(dim)
    return list(np.asarray(found)) if found is not None else range(count)


def html_view(
    title: str,
    rows: Sequence[tuple[object, ...]],
    picture: bytes | None = None,
    sentences: Sequence[str] = (),
) -> str:
    """A title, sentences, a table and a picture as HTML that loads nothing; all text is cleaned."""
    parts = [f"<b>{for_html(title)}</b>", *(f"<br>{for_html(sentence)}" for sentence in sentences)]
    if rows:
        head, *body = rows
        cells = ["".join(f"<th>{for_html(cell)}</th>" for cell in head)]
        cells += ["".join(f"<td>{for_html(cell)}</td>" for cell in row) for row in body]
        parts.append("<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>")
    if picture is not None:
        data = base64.b64encode(picture).decode()
        parts.append(f'<img alt="{for_html(title)}" width="380" src="data:image/png;base64,{data}">')
    return "<div>" + "".join(parts) + "</div>"


class PathKind(enum.StrEnum):
    """What a law's increments obey one by one; a check needs to know no more of a law."""

    IMPLICIT = "implicit"  # contact laws hold with the velocity at the end of each increment, HP23 (72), (31)
    STRAIGHT = "straight"  # constant rates, with no change of slip or approach inside an increment, HP23 (39)
    CURVED = "curved"  # points along curves of HP23 (39): slip may turn a little inside an increment
    TOTAL = "total"  # increments lump together what was not straight: only their sums mean anything


@dataclass(frozen=True, eq=False)
class ImpactPath:
    """The velocities passed through and the impulse increments between them."""

    v: Array  # (k + 1, nv), first the velocity before, last the velocity after
    impulse: Array  # (k, nc, 1 + nt), N s, increments, normal first
    kind: PathKind = PathKind.TOTAL
