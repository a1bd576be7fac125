"""What of a model from elsewhere (MJCF, URDF) a parser may be given: its XML, and the files that it opens.

Every one that MuJoCo or Pinocchio might open, by all their rules, must be inside the model's folder.

MuJoCo splices included files into one document, in which any ``<compiler>`` sets folders for all, and looks
for a file beside the first and beside the including one; a model to attach is a document of its own. The
rules differ between its versions, so each combination of a file's name, a folder that is set anywhere and the
place of a file of the document is looked at: none that exists may be outside.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from xml.parsers import expat

from routh.status import ModelError
from routh.text import for_terminal

MAX_BYTES = 64 * 2**20  # of one XML file, and of all that a model includes together
MAX_DEPTH = 1000  # of nested elements: the parsers behind us recurse
MAX_INCLUDES = 1000  # times that a file is reached through <include> and <model>
MAX_CHAIN = 50  # files that include each other in turn: the parsers behind us recurse
MAX_LOOKS = 100_000  # combinations of names, folders and places
_SCHEMES = ("package", "model")  # of what Pinocchio looks up in its folders

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


@dataclass
class _Document:
    """A file with all that it includes: folders that are set in one of them hold for all."""

    places: list[Path]
    directories: list[str]
    references: list[tuple[str, str, Path]] = field(default_factory=list)  # element, name, source


class _Check:
    """Looks at every file that a model may open, and at no more than there is time for."""

    def __init__(self, allowed: Sequence[Path]) -> None:
        self.allowed = allowed  # folders, the model's own first
        self.files: dict[Path, ModelFile] = {}
        self.includes = self.size = self.looks = 0

    def read(self, path: Path) -> ModelFile:
        """A file's own text, once; raises where too much was included."""
        if path not in self.files:
            self.files[path] = read_model_file(path)
        self.includes += 1
        self.size += self.files[path].size
        if self.includes > MAX_INCLUDES:
            raise ModelError(f"{self.allowed[0]}: includes more than {MAX_INCLUDES} files")
        if self.size > MAX_BYTES:
            raise ModelError(f"{self.allowed[0]}: includes more than {MAX_BYTES} bytes")
        return self.files[path]

    def document(self, first: Path, chain: tuple[Path, ...] = (), inherited: Sequence[str] = ()) -> None:
        """A file with all that it includes, and every model that these attach."""
        document = _Document([], list(inherited))
        self.gather(first, document, chain)
        for element, name, source in document.references:
            for target in self.targets(name, document, source):
                if element.lower() == "model" and target.is_file():
                    _refuse_circle(target, (*chain, first), source)
                    self.document(target, (*chain, first), document.directories)

    def gather(self, path: Path, document: _Document, chain: tuple[Path, ...]) -> None:
        """Add a file and what it includes to a document."""
        found = self.read(path)
        document.directories += [name for name in found.directories if name not in document.directories]
        if path.parent not in document.places:
            document.places.append(path.parent)
        document.references += [(element, name, path) for element, name in found.references]
        for element, name in found.references:
            for target in self.targets(name, document, path) if element.lower() == "include" else ():
                if target.is_file():
                    _refuse_circle(target, (*chain, path), path)
                    self.gather(target, document, (*chain, path))

    def targets(self, name: str, document: _Document, source: Path) -> list[Path]:
        """Every file that a reference can mean, each inside an allowed folder."""
        folders = [*document.places, *(p for p in self.allowed if p not in document.places)]
        self.looks += len(folders) * (1 + len(document.directories))
        if self.looks > MAX_LOOKS:
            raise ModelError(f"{source}: names too many files in too many folders")
        plain: list[Path] = []
        stripped: list[Path] = []
        for directory in ["", *document.directories]:
            for folder in folders:
                for base in _joined(folder, directory):
                    plain += _spelled(name, base, source)
                    stripped += _spelled(PurePosixPath(name.replace("\\", "/")).name, base, source)
        for target in filter(_exists, {*plain, *stripped}):
            _require(target, name, self.allowed, source)
        inside = [target for target in dict.fromkeys(plain) if _within(target, self.allowed)]
        if not inside:
            raise _outside(name, source, self.allowed)
        return inside


def check_model_file(path: str | Path, *, roots: Sequence[str | Path] = ()) -> ModelFile:
    """Read a model's XML, and every XML that it includes or attaches; refuse what must not reach a parser.

    Refused are document types and entities, encodings other than UTF-8, files that are not well formed or
    that include themselves, and references to anything but regular files inside the model's own folder and
    the folders in ``roots`` (links are followed).

    Returns
    -------
    What the top file says; raises `routh.status.ModelError` otherwise.
    """
    top = Path(path).resolve()
    if not top.is_file():
        raise ModelError(f"path: there is no file {for_terminal(path)!r}")
    check = _Check([top.parent, *(Path(root).resolve() for root in roots)])
    check.document(top)
    return check.files[top]


def resolve(name: str, folders: Sequence[Path], source: Path) -> Path:
    """The one file that a URDF means by a name, absolute and inside one of the folders, links followed.

    ``package://`` and ``model://`` are looked up in each folder in turn, as plain names are. A name of
    nothing that exists comes back as a path in the first folder.
    """
    candidates = [candidate for folder in folders for candidate in _spelled(name, folder, source)]
    found = next(filter(_exists, candidates), candidates[0])
    _require(found, name, folders, source)
    return found


def _refuse_circle(target: Path, chain: tuple[Path, ...], source: Path) -> None:
    if target in chain:
        raise ModelError(f"{source}: includes or attaches {target.name!r}, which leads back to it")
    if len(chain) > MAX_CHAIN:
        raise ModelError(f"{source}: more than {MAX_CHAIN} files include each other in turn")


def _spelled(name: str, folder: Path, source: Path) -> Iterator[Path]:
    """Where a name can lead from a folder: as it is, without its scheme, with the other kind of slashes."""
    if "\0" in name:  # a parser in C would stop there and open another file than the one that was checked
        raise ModelError(f"{source}: refers to {for_terminal(name)!r}, a name with a zero byte")
    scheme, separator, rest = name.partition("://")
    if separator and scheme not in _SCHEMES:
        raise ModelError(f"{source}: refers to {for_terminal(name)!r}; wanted a file in {source.parent}")
    if separator:
        if ".." in PurePosixPath(rest.replace("\\", "/")).parts:
            raise _outside(name, source, [folder])
        yield from _joined(folder, rest.lstrip("/"))
    yield from _joined(folder, name)


def _joined(folder: Path, name: str) -> Iterator[Path]:
    """``folder / name`` with links followed; a parser may also drop ``x/..`` before it follows them."""
    for spelled in dict.fromkeys((name, name.replace("\\", "/"))):
        path = os.path.join(folder, spelled)
        for way in dict.fromkeys((path, os.path.normpath(path))):
            yield Path(os.path.realpath(way))


def _require(target: Path, name: str, allowed: Sequence[Path], source: Path) -> None:
    if not _within(target, allowed):
        raise _outside(name, source, allowed)
    if _exists(target) and not (target.is_file() or target.is_dir()):
        raise ModelError(f"{source}: refers to {for_terminal(name)!r}, which is no regular file")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # too long a name, or a folder that may not be looked into: no parser opens it either
        return False


def _within(target: Path, allowed: Sequence[Path]) -> bool:
    return any(target == root or root in target.parents for root in allowed)


def _outside(name: str, source: Path, allowed: Sequence[Path]) -> ModelError:
    folders = ", ".join(str(root) for root in allowed)
    return ModelError(
        f"{source}: refers to {for_terminal(name)!r}, which is outside {folders}; "
        "name further folders that may be read in roots="
    )


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
