"""Files that are whole or not there: written beside, flushed, and put in place in one step."""

from __future__ import annotations

import json
import os
from pathlib import Path
from uuid import uuid4

from routh.storage import write_bytes


def write_once(path: Path, content: bytes) -> bool:
    """Make a file unless it exists; False where another driver was first."""
    if path.exists():
        return False
    beside = write_bytes(path.with_name(f".{path.name}.{uuid4().hex}"), content)
    try:
        os.link(beside, path)
    except FileExistsError:
        return False
    except OSError:  # no links here: the last of two drivers wins, with equal content or a refusal
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
    return True


def read_json(path: Path) -> object:
    """What a JSON file holds; None where it is missing or broken."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None
