"""Meshes that a loader cannot read (MuJoCo: COLLADA, PLY, STL as text; Pinocchio: PLY), through trimesh.

A mesh is data from elsewhere: only its own bytes are read. COLLADA is XML, so it is held to the same rules as
a model's XML first (no document types, no entities), and the pictures that it names are never opened.
"""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from routh.models.files import parse_model_text
from routh.status import ModelError
from routh.text import for_terminal

if TYPE_CHECKING:
    from trimesh import Trimesh

CONVERTIBLE = (".dae", ".ply", ".stl")
MAX_BYTES = 64 * 2**20  # of one mesh


class Converter:
    """Writes binary STL files of meshes into a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[Path, Path] = {}

    def __call__(self, file: Path) -> Path:
        """The mesh as an STL file; raises ModelError with what stands in the way."""
        if file not in self._made:
            target = self._folder / f"{len(self._made)}-{file.stem[:40]}.stl"
            target.write_bytes(_as_stl(file))
            self._made[file] = target
        return self._made[file]


def is_text_stl(file: Path) -> bool:
    """Whether an STL file is written as text: its length is not the one that the binary header tells."""
    if file.suffix.lower() != ".stl":
        return False
    with file.open("rb") as stream:
        head = stream.read(84)
    count = int.from_bytes(head[80:84], "little")
    return head[:5].lower() == b"solid" and file.stat().st_size != 84 + 50 * count


def _as_stl(file: Path) -> bytes:
    kind = file.suffix.lower()[1:]
    if file.stat().st_size > MAX_BYTES:
        raise ModelError(f"has more than {MAX_BYTES} bytes")
    text = file.read_bytes()
    if kind == "dae":
        parse_model_text(text, file)
    mesh = _read(text, kind)
    if not len(mesh.faces):
        raise ModelError("holds no triangles")
    if not (mesh.faces.min() >= 0 and mesh.faces.max() < len(mesh.vertices)):
        raise ModelError("has triangles with corners that it does not hold")
    return bytes(mesh.export(file_type="stl"))


def _read(text: bytes, kind: str) -> Trimesh:
    try:
        import trimesh

        with warnings.catch_warnings():
            # what a reader does that NumPy deprecates is nothing that the user can mend
            warnings.simplefilter("ignore", DeprecationWarning)
            return trimesh.load_mesh(io.BytesIO(text), file_type=kind, resolver=None, process=False)
    except ImportError:
        raise ModelError(f"reading .{kind} wants: pip install 'routh[meshes]'") from None
    except Exception as error:  # whatever a reader of foreign files raises, the mesh is left out and named
        said = " ".join(for_terminal(error).split())[:100]
        raise ModelError(f"cannot be read: {type(error).__name__} {said}") from None
