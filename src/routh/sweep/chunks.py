"""Chunks: runs of a grid's points, computed anywhere, stored whole under a name made from their inputs."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from routh.base.processes import parts_of
from routh.base.status import InputError, Status
from routh.base.storage import read_arrays, write_arrays
from routh.base.text import for_terminal
from routh.base.validation import Options
from routh.problem.impact import ImpactProblem
from routh.sweep.manifest import StudyPlan, fingerprint, identity
from routh.sweep.measures import Columns

#: Status of a point whose worker died each time it was tried, and of one whose functions raised.
KILLED, RAISED = 100, 101
PENDING = -1
FOLDER = "chunks"

Chunk = range  # of rows of the grid
chunks_of = parts_of  # all chunks of a grid, by its number of points and the chunks' size
_PLANS: dict[str, StudyPlan] = {}  # the last one, by the digest of its manifest: long axes take long to read


@dataclass(frozen=True, eq=False)
class Computed:
    """The results of one chunk."""

    columns: Columns  # name -> (k, ...), NaN where there is no value
    status: np.ndarray  # (k,) int8: a `Status`, or KILLED, RAISED
    messages: dict[int, str]  # row -> what was raised there


def compute(data: Options, chunk: Chunk) -> Computed:
    """Compute a chunk of the plan in a manifest. Runs on the workers; refuses to where versions differ."""
    for name, here in fingerprint().items():
        if data.get(name) != here:
            raise RuntimeError(f"{name}: this worker has {here}, the study {data.get(name)}")
    plan = _plan_of(data)
    make = plan.problems.resolve()
    status = np.full(len(chunk), int(Status.NO_CONTACT), dtype=np.int8)
    problems: list[ImpactProblem] = []
    rows: list[int] = []
    messages: dict[int, str] = {}
    for k, row in enumerate(chunk):
        try:
            problem = make(**plan.problems.arguments, **plan.grid.point(row))
            if not isinstance(problem, ImpactProblem | None):
                raise TypeError(f"problems: got {type(problem).__name__}; wanted an ImpactProblem or None")
        except Exception as error:  # a point that fails is a row with a status
            status[k], messages[row] = RAISED, _told(error)
            continue
        if problem is None:
            continue
        if not np.any(problem.approaching):
            status[k] = int(Status.NO_IMPACT)
            continue
        status[k] = int(Status.SOLVED)
        problems.append(problem)
        rows.append(row)
    columns = plan.empty(len(chunk))

    def measure(problems: Sequence[ImpactProblem], rows: Sequence[int]) -> None:
        """Fill the columns: all points at once, and one by one where that raises."""
        try:
            found = [one(problems, rows, plan.seed) for one in plan.measures]
        except Exception as error:
            if len(rows) > 1:
                for problem, row in zip(problems, rows, strict=True):
                    measure([problem], [row])
            elif rows:
                status[rows[0] - chunk.start], messages[rows[0]] = RAISED, _told(error)
            return
        places = np.array(rows, dtype=int) - chunk.start
        for part in found:
            for name, values in part.items():
                columns[name][places] = values

    measure(problems, rows)
    return Computed(columns, status, messages)


def path_of(folder: Path, identity: str, chunk: Chunk) -> Path:
    """File of a chunk; the name is a digest of the manifest and the rows."""
    name = hashlib.sha256(f"{identity}:{chunk.start}:{chunk.stop}".encode()).hexdigest()[:20]
    return folder / FOLDER / f"{name}.npz"


def write(path: Path, chunk: Chunk, result: Computed) -> None:
    """Store a chunk, whole. Equal results give equal bytes: no times, no names of machines."""
    rows = sorted(result.messages)
    arrays = {
        "rows": np.array([chunk.start, chunk.stop]),
        "status": result.status,
        "message_rows": np.array(rows, dtype=np.int64),
        "messages": np.array([result.messages[row] for row in rows], dtype=np.str_),
        **{f"column_{name}": values for name, values in result.columns.items()},
    }
    if path.parent.is_symlink():
        raise InputError(
            "folder", wrong=f"{for_terminal(path.parent)} is a link", wanted="a folder inside of the study"
        )
    path.parent.mkdir(exist_ok=True)
    if path.is_symlink():  # what it points to is not the study's to write
        path.unlink()
    write_arrays(path, arrays)


def read(path: Path, chunk: Chunk, plan: StudyPlan) -> Computed | None:
    """A stored chunk; None where it is missing. Raises ValueError where it is not what was written."""
    wanted = ["rows", "status", "message_rows", "messages", *(f"column_{name}" for name in plan.columns)]
    try:
        data = read_arrays(path, wanted)
    except FileNotFoundError:
        return None
    columns = {name: data[f"column_{name}"] for name in plan.columns}
    good = np.array_equal(data["rows"], [chunk.start, chunk.stop])
    good = good and data["status"].shape == (len(chunk),)
    good = good and all(columns[name].shape == (len(chunk), *shape) for name, shape in plan.columns.items())
    if not good or data["message_rows"].shape != data["messages"].shape:
        raise InputError(path, wrong="holds other rows or columns than its name says")
    messages = dict(zip(data["message_rows"].tolist(), data["messages"].tolist(), strict=True))
    return Computed(columns, data["status"].astype(np.int8), messages)


def _plan_of(data: Options) -> StudyPlan:
    digest = str(data.get("digest") or identity(data))
    plan = _PLANS.get(digest)
    if plan is None:
        plan = StudyPlan.from_data(data)
        _PLANS.clear()
        _PLANS[digest] = plan
    return plan


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:500]
