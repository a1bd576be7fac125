"""What of a model from elsewhere (MJCF, URDF) a parser may be given: its XML, and the files that it opens.

`check_model_file` judges a model, `locate` and `resolve` find the files of a URDF, `with_absolute_meshes`
hands it to a loader with every mesh checked, converted, or left out and named; `read_state` reads a state.
Every file that MuJoCo or Pinocchio might open, by all their rules, must be inside the model's folder.

MuJoCo splices included files into one document, in which any ``<compiler>`` sets folders for all, and looks
for a file beside the first and beside the including one; a model to attach is a document of its own. The
rules differ between its versions, so each combination of a file's name, a folder that is set anywhere and the
place of a file of the document is looked at: none that exists may be outside.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree
from xml.parsers import expat

from routh.base.installation import install_line
from routh.base.status import InputError, ModelError
from routh.base.storage import read_arrays
from routh.base.text import for_terminal, listed
from routh.base.validation import Array, real_array
from routh.models.robot import UnrepresentedWarning

if TYPE_CHECKING:
    from trimesh import Trimesh


MAX_BYTES = 64 * 2**20  # of one mesh, of one XML file, and of all that a model includes together
MAX_DEPTH = 1000  # of nested elements: the parsers behind us recurse
MAX_INCLUDES = 1000  # times that a file is reached through <include> and <model>
MAX_CHAIN = 50  # files that include each other in turn: the parsers behind us recurse
MAX_LOOKS = 100_000  # combinations of names, folders and places
MAX_STATE = 2**20  # of a state's file, and of its arrays unpacked
_SCHEMES = ("package", "model")  # of what Pinocchio looks up in its folders
_MARK = "package.xml"
_HOMES = ("urdf", "robots")  # where models lie in packages that have lost their mark

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
            raise ModelError(self.allowed[0], wrong=f"includes more than {MAX_INCLUDES} files")
        if self.size > MAX_BYTES:
            raise ModelError(self.allowed[0], wrong=f"includes more than {MAX_BYTES} bytes")
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
            raise ModelError(source, wrong="refers to too many files in too many folders")
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
    ModelFile
        What the top file says.

    Raises
    ------
    routh.base.status.ModelError
        Where the model is refused.
    """
    top = Path(path).resolve()
    if not top.is_file():
        raise ModelError("path", wrong=f"there is no file {for_terminal(path)!r}")
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
        raise ModelError(source, wrong=f"includes or attaches {target.name!r}, which leads back to it")
    if len(chain) > MAX_CHAIN:
        raise ModelError(source, wrong=f"more than {MAX_CHAIN} files include one another")


def _spelled(name: str, folder: Path, source: Path) -> Iterator[Path]:
    """Places to which a name can lead from a folder: as it is, without its scheme, with the other slashes."""
    if "\0" in name:  # a parser in C would stop there and open another file than the one that was checked
        raise ModelError(source, wrong=f"refers to {for_terminal(name)!r}, a name with a null byte")
    scheme, separator, rest = name.partition("://")
    if separator and scheme not in _SCHEMES:
        raise ModelError(
            source, wrong=f"refers to {for_terminal(name)!r}", wanted=f"a file in {source.parent}"
        )
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
        raise ModelError(source, wrong=f"refers to {for_terminal(name)!r}, which is not a regular file")


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
        source,
        wrong=(
            f"refers to {for_terminal(name)!r}, which is outside {folders}; name further "
            "folders that may be read in roots="
        ),
    )


def read_model_file(path: Path) -> ModelFile:
    """One XML file's root, references and asset directories, read without expanding anything."""
    if path.stat().st_size > MAX_BYTES:
        raise ModelError(path, wrong=f"has {path.stat().st_size} bytes", wanted=f"at most {MAX_BYTES}")
    return parse_model_text(path.read_bytes(), path)


def parse_model_text(text: bytes, path: Path) -> ModelFile:
    """`read_model_file` for text that is at hand; ``path`` is only named in messages."""
    found = ModelFile(path, size=len(text))
    depth = 0

    def refuse(what: str) -> Callable[..., int]:
        def handler(*_: object) -> int:
            raise ModelError(path, wrong=f"{what} is refused in a model file")

        return handler

    def declaration(_version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() not in ("utf-8", "utf8", "us-ascii", "ascii"):
            raise ModelError(path, got=f"the encoding {encoding!r}", wanted="UTF-8")

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise ModelError(path, wrong=f"elements are nested more than {MAX_DEPTH} deep")
        found.root = found.root or name
        for key, value in attributes.items():
            if key.startswith("file"):  # file, filename, and the six sides of a texture's cube
                found.references.append((name, _name(value, path)))
            elif key in _DIRECTORIES:
                found.directories.append(_name(value, path))
            elif key == "dir" and name.lower() == "include":  # MuJoCo's own mark of where a file came from
                raise ModelError(path, wrong="dir= is refused in an <include>")

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    if b"\x00" in text:
        raise ModelError(path, wrong="contains a null byte", wanted="XML in UTF-8")
    if _BROKEN_NAME.search(text):
        raise ModelError(path, wrong="has the name of a file or folder that runs over several lines")
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
        raise ModelError(path, wrong=f"is not well-formed XML: {error}") from None
    return found


def _name(value: str, path: Path) -> str:
    if any(ord(character) < 32 for character in value):
        raise ModelError(
            path, wrong=f"names the file {for_terminal(value)!r}", wanted="no control characters"
        )
    return value


def locate(name: str, source: Path, roots: Sequence[Path]) -> Path | None:
    """The file that a ``package://`` name of the model file ``source`` means; None where there is none.

    Raises ModelError where the name, or a link, leads out of the package.
    """
    scheme, separator, path = name.partition("://")
    if not separator or scheme not in _SCHEMES:
        return None
    package, _, rest = path.replace("\\", "/").partition("/")
    if not package or package in (".", "..") or ".." in PurePosixPath(rest).parts:
        return None
    for folder in _folders(package, source, roots):
        whole = Path(os.path.realpath(folder))
        target = Path(os.path.realpath(whole / rest))
        if not target.is_file():
            continue
        if whole not in target.parents:
            raise ModelError(source, wrong=f"refers to {for_terminal(name)!r}, which leads out of {whole}")
        return target
    return None


def _folders(package: str, source: Path, roots: Sequence[Path]) -> Iterator[Path]:
    """Folders that may be the package, the likeliest first.

    Above the model file, the folder that has its name and is one (it holds a ``package.xml``, or the model
    lies in it or in its ``urdf``); beside those, where a ``package.xml`` says so; those of ROS; and the
    robots that were installed with pip (example-robot-data).
    """
    for root in roots:
        yield root / package
    for ancestor in source.parents:
        if ancestor.name == package and _is_package(ancestor, source):
            yield ancestor
        beside = ancestor / package
        inside = Path(os.path.realpath(ancestor)) in Path(os.path.realpath(beside)).parents
        if inside and (beside / _MARK).is_file():  # a link that came with the model leads nowhere
            yield beside
    for variable, share in (("ROS_PACKAGE_PATH", ""), ("AMENT_PREFIX_PATH", "share")):
        for entry in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            yield Path(entry) / share / package
    for entry in sys.path:
        installed = Path(entry) / "cmeel.prefix" / "share" / package
        if entry and installed.is_dir():
            yield installed


def _is_package(ancestor: Path, source: Path) -> bool:
    """A folder that only happens to have the name (``/home``) is none: all below it would be open."""
    if ancestor == source.parent or (ancestor / _MARK).is_file():
        return True
    return source.parent.parent == ancestor and source.parent.name in _HOMES


# Meshes that a loader cannot read (MuJoCo: COLLADA, PLY, STL as text; Pinocchio: PLY) are converted by
# trimesh. A mesh is data from elsewhere: only its own bytes are read. COLLADA is XML, so it is held to the
# same rules as a model's XML first (no document types, no entities), and the pictures that it names are never
# opened.

#: Formats that refer to no other files, and OBJ, whose materials are checked. Others (glTF, scenes) can name
#: any file, which a loader then opens.
PINOCCHIO_FORMATS = (".stl", ".obj", ".dae")  # a damaged .ply ends the process in its reader: converted
MUJOCO_FORMATS = (".stl", ".obj", ".msh")

CONVERTIBLE = (".dae", ".ply", ".stl")
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
    path : the file, checked by `routh.models.files.check_model_file`.
    roots : further folders whose files the model may use.
    formats : suffixes that the loader reads, in lower case.
    convert : makes meshes in other formats readable, where it can.
    """
    try:
        root = ElementTree.fromstring(path.read_bytes())
    except ElementTree.ParseError as error:  # such as a prefix that stands for no namespace
        raise ModelError(path, wrong=f"is not well-formed XML: {error}") from None
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
        text = f"{for_terminal(path)}: {what}: {listed(items, 3, '; ')}"
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
        raise ModelError(wrong=f"has more than {MAX_BYTES} bytes")
    text = file.read_bytes()
    if kind == "dae":
        parse_model_text(text, file)
    mesh = _read(text, kind)
    if not len(mesh.faces):
        raise ModelError(wrong="contains no triangles")
    if not (mesh.faces.min() >= 0 and mesh.faces.max() < len(mesh.vertices)):
        raise ModelError(wrong="has triangles whose vertices it does not contain")
    return bytes(mesh.export(file_type="stl"))


def _read(text: bytes, kind: str) -> Trimesh:
    try:
        import trimesh

        with warnings.catch_warnings():
            # what a reader does that NumPy deprecates is nothing that the user can mend
            warnings.simplefilter("ignore", DeprecationWarning)
            return trimesh.load_mesh(io.BytesIO(text), file_type=kind, resolver=None, process=False)
    except ImportError:
        raise ModelError(f"reading .{kind} needs", wrong=install_line("meshes")) from None
    except Exception as error:  # whatever a reader of foreign files raises, the mesh is left out and named
        said = " ".join(for_terminal(error).split())[:100]
        raise ModelError("cannot be read", wrong=f"{type(error).__name__} {said}") from None


class RobotState(NamedTuple):
    """Positions and velocities of a robot; velocities may be absent."""

    qpos: Array  # (nq,)
    qvel: Array | None  # (nv,)


def read_state(path: str | Path, nq: int, nv: int) -> RobotState:
    """The state in a file, ``.npz`` or ``.json``, with "qpos" (nq,) and, where it has one, "qvel" (nv,)."""
    file = Path(path)
    shown = for_terminal(path)
    if not file.is_file():
        raise InputError("state", wrong=f"there is no file {shown!r}")
    if file.stat().st_size > MAX_STATE:
        raise InputError(
            "state",
            wrong=f"{shown!r} has {file.stat().st_size} bytes",
            wanted=f"at most {MAX_STATE} for one state",
        )
    kind = file.suffix.lower()
    if kind == ".npz":
        data: dict[str, Any] = read_arrays(file, ("qpos",), optional=("qvel",), max_bytes=MAX_STATE)
    elif kind == ".json":
        data = _read_json(file, shown)
    else:
        raise InputError("state", got=repr(shown), wanted=".npz or .json with qpos and qvel")
    qpos = real_array(f"qpos of {shown}", data["qpos"], [(nq,)])
    qvel = data.get("qvel")
    if qvel is not None:
        qvel = real_array(f"qvel of {shown}", qvel, [(nv,)])
    return RobotState(qpos, qvel)


def _read_json(file: Path, shown: str) -> dict[str, Any]:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError("state", wrong=f"{shown!r} is not valid JSON: {for_terminal(error)}") from None
    if not isinstance(data, dict) or "qpos" not in data:
        raise InputError("state", wrong=f"{shown!r} has no qpos", wanted="an object with qpos and qvel")
    return data
