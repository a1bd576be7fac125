"""Meshes of a URDF: every one as an absolute path that was checked, or left out and named.

Those that a loader cannot read (MuJoCo: COLLADA, PLY, STL as text; Pinocchio: PLY) are converted by trimesh.
A mesh is data from elsewhere: only its own bytes are read. COLLADA is XML, so it is held to the same rules as
a model's XML first (no document types, no entities), and the pictures that it names are never opened.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from routh.models.packages import locate
from routh.models.resolving import parse_model_text, resolve
from routh.models.robot import UnrepresentedWarning
from routh.status import ModelError
from routh.text import for_terminal

if TYPE_CHECKING:
    from trimesh import Trimesh

#: Formats that refer to no other files, and OBJ, whose materials are checked. Others (glTF, scenes) can name
#: any file, which a loader then opens.
PINOCCHIO_FORMATS = (".stl", ".obj", ".dae")  # a damaged .ply ends the process in its reader: converted
MUJOCO_FORMATS = (".stl", ".obj", ".msh")

CONVERTIBLE = (".dae", ".ply", ".stl")
MAX_BYTES = 64 * 2**20  # of one mesh
_MATERIALS = re.compile(rb"(?:^|[\r\n])[ \t]*mtllib[ \t]+([^\r\n]+)", re.IGNORECASE)


def with_absolute_meshes(
    path: Path, roots: Sequence[str | Path], formats: Sequence[str], convert: Converter
) -> ElementTree.Element:
    """The root of a checked URDF whose meshes are absolute paths.

    So what is opened is what was checked, whatever the rules of the loader are. What is only looked at
    (``<visual>``) is taken out; collision shapes whose mesh is missing, or in a format that the loader cannot
    read, are taken out and named in a warning.

    Parameters
    ----------
    path : the file, checked by `routh.models.resolving.check_model_file`.
    roots : further folders whose files the model may use.
    formats : suffixes that the loader reads, in lower case.
    convert : makes meshes in other formats readable, where it can.
    """
    try:
        root = ElementTree.fromstring(path.read_bytes())
    except ElementTree.ParseError as error:  # such as a prefix that stands for no namespace
        raise ModelError(f"{path}: is no well-formed XML: {error}") from None
    further = [Path(folder).resolve() for folder in roots]
    folders = [path.parent, *further]
    left_out: list[str] = []
    for material in root.findall("material"):  # of what is only looked at
        root.remove(material)
    for link in root.iter("link"):
        for visual in link.findall("visual"):
            link.remove(visual)
        for collision in link.findall("collision"):
            for mesh in collision.iter("mesh"):
                name = mesh.get("filename", "")
                file = locate(name, path, further) or resolve(name, folders, path)
                file, why = _readable(file, formats, convert)
                if why:
                    left_out.append(f"{link.get('name', '')}: {for_terminal(name)} ({why})")
                    link.remove(collision)
                    break
                _check_materials(file, folders)
                mesh.set("filename", str(file))
    tell("collision shapes left out", list(dict.fromkeys(left_out)), path)
    return root


def tell(what: str, items: Sequence[str], path: str | Path) -> None:
    """Warn of what in a file could not be kept as it is, the first three by name."""
    if items:
        more = f" and {len(items) - 3} more" if len(items) > 3 else ""
        text = f"{for_terminal(path)}: {what}: {'; '.join(items[:3])}{more}"
        warnings.warn(text, UnrepresentedWarning, stacklevel=4)


def _readable(file: Path, formats: Sequence[str], convert: Converter) -> tuple[Path, str]:
    """The file that the loader is given, and why there is none."""
    if not file.is_file():
        return file, "there is no such file"
    kind = file.suffix.lower()
    if kind in formats and not (formats == MUJOCO_FORMATS and is_text_stl(file)):
        return file, ""
    if kind not in CONVERTIBLE:
        return file, f"{kind or 'no suffix'} is none of {', '.join(formats)}"
    try:
        return convert(file), ""
    except ModelError as error:
        return file, str(error)


def _check_materials(file: Path, folders: Sequence[Path]) -> None:
    """The loader of .obj files opens the materials that they name: those must be inside too."""
    if file.suffix.lower() != ".obj":
        return
    text = re.sub(rb"\\\r?\n", b" ", file.read_bytes())
    names = [name.decode("utf-8", "replace").strip() for name in _MATERIALS.findall(text)]
    for name in (*names, f"{file.stem}.mtl"):  # the loader looks for the latter too
        resolve(name, [file.parent, *folders], file)


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
