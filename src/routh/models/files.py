"""One XML file of a model (MJCF, URDF) from elsewhere: what a parser may be given, and what it names."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from routh.status import ModelError
from routh.text import for_terminal

MAX_BYTES = 64 * 2**20  # of one XML file, and of all that a model includes together
MAX_DEPTH = 1000  # of nested elements: the parsers behind us recurse
_DIRECTORIES = ("assetdir", "meshdir", "texturedir")
# Values of attributes that name files, as they are written: XML turns a line break into a space, and a parser
# that does not would open another file than the one we check.
_BROKEN_NAME = re.compile(rb"""\s(?:file\w*|\w+dir)\s*=\s*("[^"]*[\t\r\n][^"]*"|'[^']*[\t\r\n][^']*')""")


@dataclass
class ModelFile:
    """What one XML file says about itself and the files that it names."""

    path: Path
    root: str = ""  # name of the root element: "mujoco", "mujocoinclude" or "robot"
    references: list[tuple[str, str]] = field(default_factory=list)  # (element, file name as written)
    directories: list[str] = field(default_factory=list)  # asset directories as written
    size: int = 0  # bytes


def read_model_file(path: Path) -> ModelFile:
    """One XML file's root, references and asset directories, read without expanding anything."""
    if path.stat().st_size > MAX_BYTES:
        raise ModelError(f"{path}: has {path.stat().st_size} bytes; wanted at most {MAX_BYTES}")
    return parse_model_text(path.read_bytes(), path)


def parse_model_text(text: bytes, path: Path) -> ModelFile:
    """`read_model_file` for text that is at hand; ``path`` is only named in messages."""
    found = ModelFile(path, size=len(text))
    depth = 0

    def refuse(what: str) -> Callable[..., int]:
        def handler(*_: object) -> int:
            raise ModelError(f"{path}: {what} is refused in a model file")

        return handler

    def declaration(_version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() not in ("utf-8", "utf8", "us-ascii", "ascii"):
            raise ModelError(f"{path}: got the encoding {encoding!r}; wanted UTF-8")

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise ModelError(f"{path}: elements are nested more than {MAX_DEPTH} deep")
        found.root = found.root or name
        for key, value in attributes.items():
            if key.startswith("file"):  # file, filename, and the six sides of a texture's cube
                found.references.append((name, _name(value, path)))
            elif key in _DIRECTORIES:
                found.directories.append(_name(value, path))
            elif key == "dir" and name.lower() == "include":  # MuJoCo's own mark of where a file came from
                raise ModelError(f"{path}: dir= is refused in an <include>")

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    if b"\x00" in text:
        raise ModelError(f"{path}: holds a zero byte; wanted XML in UTF-8")
    if _BROKEN_NAME.search(text):
        raise ModelError(f"{path}: names a file or a folder over several lines")
    parser = expat.ParserCreate("utf-8")
    parser.StartDoctypeDeclHandler = refuse("a document type (<!DOCTYPE>)")
    parser.EntityDeclHandler = refuse("an entity (<!ENTITY>)")
    parser.ExternalEntityRefHandler = refuse("an external entity")
    parser.XmlDeclHandler = declaration
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise ModelError(f"{path}: is not well-formed XML: {error}") from None
    return found


def _name(value: str, path: Path) -> str:
    if any(ord(character) < 32 for character in value):
        raise ModelError(f"{path}: names the file {for_terminal(value)!r}; wanted no control characters")
    return value
