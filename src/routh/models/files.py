"""Model files (MJCF, URDF) from elsewhere: what a parser may be given, and which files it may open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any
from xml.parsers import expat

from routh.status import ModelError

MAX_BYTES = 64 * 2**20  # of one XML file
MAX_DEPTH = 1000  # of nested elements: the parsers behind us recurse
MAX_INCLUDES = 1000  # files reached through <include> and <model>
_DIRECTORIES = ("assetdir", "meshdir", "texturedir")
_XML_CHILDREN = ("include", "model")  # elements whose file is read as XML again


@dataclass
class ModelFile:
    """What one XML file says about itself and the files that it names."""

    path: Path
    root: str = ""  # name of the root element: "mujoco", "mujocoinclude" or "robot"
    references: list[tuple[str, str]] = field(default_factory=list)  # (element, file name as written)
    directories: list[str] = field(default_factory=list)  # asset directories as written


def check_model_file(path: str | Path, *, roots: Sequence[str | Path] = ()) -> ModelFile:
    """Read a model's XML, and every XML that it includes, and refuse what must not reach a parser.

    Refused are document types and entities, encodings other than UTF-8, files that are not well formed, and
    references to files outside the model's own folder and the folders in ``roots`` (links are followed).

    Returns
    -------
    What the top file says; raises `routh.status.ModelError` otherwise.
    """
    top = Path(path).resolve()
    if not top.is_file():
        raise ModelError(f"path: there is no file {str(path)!r}")
    allowed = [top.parent, *(Path(root).resolve() for root in roots)]
    first = read_model_file(top)
    seen, waiting = {top}, [first]
    while waiting:
        current = waiting.pop()
        directories = ["", *first.directories, *current.directories]
        for element, name in current.references:
            for target in _targets(name, directories, allowed, current.path):
                if element in _XML_CHILDREN and target.is_file() and target not in seen:
                    if len(seen) >= MAX_INCLUDES:
                        raise ModelError(f"{path}: includes more than {MAX_INCLUDES} files")
                    seen.add(target)
                    waiting.append(read_model_file(target))
    return first


def read_model_file(path: Path) -> ModelFile:
    """One XML file's root, references and asset directories, read without expanding anything."""
    if path.stat().st_size > MAX_BYTES:
        raise ModelError(f"{path}: has {path.stat().st_size} bytes; wanted at most {MAX_BYTES}")
    return parse_model_text(path.read_bytes(), path)


def parse_model_text(text: bytes, path: Path) -> ModelFile:
    """`read_model_file` for text that is at hand; ``path`` is only named in messages."""
    found = ModelFile(path)
    depth = 0

    def refuse(what: str) -> Any:
        def handler(*_: Any) -> None:
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
                found.references.append((name, value))
            elif key in _DIRECTORIES:
                found.directories.append(value)

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    if b"\x00" in text:
        raise ModelError(f"{path}: holds a zero byte; wanted XML in UTF-8")
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


def package_name(reference: str) -> str | None:
    """The part after ``package://``, or None where the reference has no such prefix."""
    prefix = "package://"
    return reference[len(prefix) :] if reference.startswith(prefix) else None


def _targets(name: str, directories: Iterable[str], allowed: Sequence[Path], source: Path) -> list[Path]:
    """Every file that a reference can mean, each inside an allowed folder."""
    package = package_name(name)
    if package is None and "://" in name:
        raise ModelError(f"{source}: refers to {name!r}; wanted a file in {allowed[0]}")
    spelled = (name if package is None else package).replace("\\", "/")
    if package is not None:
        if ".." in PurePosixPath(spelled).parts or spelled.startswith("/"):
            raise _outside(name, source, allowed)
        return [root / spelled for root in allowed]
    bases = {source.parent, allowed[0]}
    targets = [
        (base / directory.replace("\\", "/") / spelled).resolve()
        for base in sorted(bases)
        for directory in dict.fromkeys(directories)
    ]
    inside = [target for target in targets if _within(target, allowed)]
    # a parser may try any of these; each one that exists must be inside, and so must at least one of all
    if not inside or any(target.exists() and not _within(target, allowed) for target in targets):
        raise _outside(name, source, allowed)
    if PurePosixPath(spelled).is_absolute() and not _within(Path(spelled).resolve(), allowed):
        raise _outside(name, source, allowed)
    return inside


def _within(target: Path, allowed: Sequence[Path]) -> bool:
    return any(target == root or root in target.parents for root in allowed)


def _outside(name: str, source: Path, allowed: Sequence[Path]) -> ModelError:
    folders = ", ".join(str(root) for root in allowed)
    return ModelError(
        f"{source}: refers to {name!r}, which is outside {folders}; "
        "name further folders that may be read in roots="
    )
