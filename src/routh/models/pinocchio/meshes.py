"""Meshes of a URDF: which files Pinocchio's loader of meshes is given, and what these may refer to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from routh.models.resolving import resolve
from routh.status import ModelError
from routh.text import for_terminal

#: Formats that refer to no other files, and OBJ, whose materials are checked. Others (glTF, scenes) can name
#: any file, which the loader then opens.
FORMATS = (".stl", ".obj", ".dae", ".ply")

_MATERIALS = re.compile(rb"(?:^|[\r\n])[ \t]*mtllib[ \t]+([^\r\n]+)", re.IGNORECASE)


def with_absolute_meshes(path: Path, folders: Sequence[Path]) -> str:
    """The text of a checked URDF with every mesh as an absolute path inside one of the folders.

    So what is opened is what was checked, whatever the rules of the loader are.
    """
    root = ElementTree.fromstring(path.read_bytes())
    for element in root.iter():
        for key in ("filename", "file"):
            name = element.get(key)
            if name is not None:
                element.set(key, str(_checked(resolve(name, folders, path), element.tag, folders, path)))
    return ElementTree.tostring(root, encoding="unicode")


def _checked(file: Path, element: str, folders: Sequence[Path], source: Path) -> Path:
    if element != "mesh":  # a texture, which is not read
        return file
    if file.suffix.lower() not in FORMATS:
        raise ModelError(
            f"{source}: refers to the mesh {for_terminal(file.name)!r}; wanted one of {', '.join(FORMATS)}"
        )
    if file.suffix.lower() == ".obj" and file.is_file():
        text = re.sub(rb"\\\r?\n", b" ", file.read_bytes())
        names = [name.decode("utf-8", "replace").strip() for name in _MATERIALS.findall(text)]
        for name in (*names, f"{file.stem}.mtl"):  # the loader looks for the latter too
            resolve(name, [file.parent, *folders], file)
    return file
