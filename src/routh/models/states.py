"""States of robots in files: ``qpos`` and ``qvel`` in an .npz archive or a .json object."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from routh.storage import read_arrays
from routh.text import for_terminal
from routh.validation import Array, real_array

MAX_BYTES = 2**20  # of a state's file, and of its arrays unpacked


class RobotState(NamedTuple):
    """Positions and velocities of a robot; velocities may be absent."""

    qpos: Array  # (nq,)
    qvel: Array | None  # (nv,)


def read_state(path: str | Path, nq: int, nv: int) -> RobotState:
    """The state in a file, ``.npz`` or ``.json``, with "qpos" (nq,) and, where it has one, "qvel" (nv,)."""
    file = Path(path)
    shown = for_terminal(path)
    if not file.is_file():
        raise ValueError(f"state: there is no file {shown!r}")
    if file.stat().st_size > MAX_BYTES:
        raise ValueError(
            f"state: {shown!r} has {file.stat().st_size} bytes; wanted at most {MAX_BYTES} for one state"
        )
    kind = file.suffix.lower()
    if kind == ".npz":
        data: dict[str, Any] = read_arrays(file, ("qpos",), optional=("qvel",), max_bytes=MAX_BYTES)
    elif kind == ".json":
        data = _read_json(file, shown)
    else:
        raise ValueError(f"state: got {shown!r}; wanted .npz or .json with qpos and qvel")
    qpos = real_array(f"qpos of {shown}", data["qpos"], [(nq,)])
    qvel = data.get("qvel")
    if qvel is not None:
        qvel = real_array(f"qvel of {shown}", qvel, [(nv,)])
    return RobotState(qpos, qvel)


def _read_json(file: Path, shown: str) -> dict[str, Any]:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"state: {shown!r} is no JSON: {for_terminal(error)}") from None
    if not isinstance(data, dict) or "qpos" not in data:
        raise ValueError(f"state: {shown!r} has no qpos; wanted an object with qpos and qvel")
    return data
