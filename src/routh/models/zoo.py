"""Robots by name: what stands where a FILE is taken, so that ``routh tip go2`` finds go2's.

A name is looked up among routh's own examples, in robot_descriptions where that is installed (the extra
``zoo``), and among the robots that other packages bring: gymnasium, dm_control, example-robot-data. A file of
that name in the working directory comes first; ``dm_control/humanoid`` names the package too.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from routh.base.installation import install_line
from routh.base.status import ModelError
from routh.base.text import for_terminal, listed

_DESCRIPTIONS = "robot_descriptions"
_KINDS = (("mj_description", "MJCF_PATH"), ("description", "URDF_PATH"))  # MJCF has keyframes and a ground


def examples() -> dict[str, Path]:
    """The examples that came with this installation, by name without suffix; scripts and notebooks, too."""
    package = Path(__file__).parents[1]
    folders = package / "examples", package.parents[1] / "examples"  # of a wheel, and of a clone
    folder = next((folder for folder in folders if (folder / "lander.xml").is_file()), None)
    return {} if folder is None else {file.stem: file for file in sorted(folder.iterdir()) if file.suffix}


def robot_file(path: str | Path) -> Path:
    """The file that is meant: the path itself, or where there is none, the file of a robot of that name.

    Raises
    ------
    routh.base.status.ModelError
        Where a name stands for no robot that is installed, or its files cannot be fetched.
    """
    file = Path(path)
    if not _is_name(file):
        return file
    package, _, name = file.as_posix().rpartition("/")
    places = {package: SOURCES[package]} if package else SOURCES
    failed = None
    for find in places.values():
        try:
            robot = find(name)
        except ModelError as error:  # could not be fetched: an installed package may have it, too
            failed = failed or error
            continue
        if robot is not None:
            return robot
    raise failed or ModelError("path", wrong=_unknown(file))


def is_robot_name(path: str | Path) -> bool:
    """Whether there is no such file and a robot of that name is at hand; nothing is fetched for this."""
    return _is_name(Path(path)) and Path(path).name in names(Path(path).parent.as_posix())


def names(package: str = ".") -> list[str]:
    """Names of all robots that can be had, or of those of one ``package``."""
    listed_by = {"routh": _ours, _DESCRIPTIONS: _described} | dict.fromkeys(_INSTALLED, None)
    found: set[str] = set()
    for source, tell in listed_by.items():
        if package in (".", source):
            found.update(tell() if tell else (file.stem for file in _INSTALLED[source]()))
    return sorted(found)


def _is_name(file: Path) -> bool:
    """A word without suffix, or a package that we know and a word; never the name of what is there."""
    known = file.parent == Path() or file.parent.as_posix() in SOURCES
    return known and not file.suffix and not file.is_absolute() and bool(file.name) and not file.is_file()


def _unknown(file: Path) -> str:
    import difflib  # only for a name that nobody has

    near = difflib.get_close_matches(file.name, names(), 3, 0.6)
    like = f" (like it: {listed(near, 3)})" if near else ""
    more = "" if find_spec(_DESCRIPTIONS) else f"; more robots come with: {install_line('zoo')}"
    packages = listed([name for name in SOURCES if name == "routh" or find_spec(name) or names(name)], 9)
    return f"there is no file {for_terminal(file)!r}, and no robot of that name in {packages}{like}{more}"


# where robots are


def _ours() -> list[str]:
    return [name for name, file in examples().items() if file.suffix == ".xml"]


def _of_ours(name: str) -> Path | None:
    return examples()[name] if name in _ours() else None


def _described() -> list[str]:
    """Robots of robot_descriptions: those that it says are there, without asking for their files."""
    if find_spec(_DESCRIPTIONS) is None:
        return []
    modules = import_module(_DESCRIPTIONS).DESCRIPTIONS
    matches = (re.fullmatch(r"(.+?)(_mj)?_description", name) for name in modules)
    return list(dict.fromkeys(match[1] for match in matches if match))


def _of_descriptions(name: str) -> Path | None:
    """The robot's MJCF, else its URDF; with the ground that its authors put into a file beside it."""
    if name not in _described():
        return None
    modules = import_module(_DESCRIPTIONS).DESCRIPTIONS
    for end, attribute in _KINDS:
        module = f"{name}_{end}"
        if module not in modules:
            continue
        try:
            with contextlib.redirect_stdout(sys.stderr):  # it tells what it clones where results are told
                found = getattr(import_module(f"{_DESCRIPTIONS}.{module}"), attribute, None)
        except Exception as error:  # git, the network and the disk each fail in their own way
            said = " ".join(for_terminal(error).split())[:200]
            raise ModelError(
                name,
                wrong=(
                    "robot_descriptions has no copy of it here, and could not clone it, which "
                    f"needs git and a network the first time: {type(error).__name__}: {said}"
                ),
            ) from None
        if found is not None:
            scene = Path(found).with_name("scene.xml")
            return scene if attribute == "MJCF_PATH" and scene.is_file() else Path(found)
    return None


def _package(name: str) -> Path | None:
    """The folder of an installed package, which is not imported."""
    spec = find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else None


def _gymnasium() -> Iterator[Path]:
    folder = _package("gymnasium")
    return iter(sorted((folder / "envs/mujoco/assets").glob("*.xml")) if folder else ())


def _dm_control() -> Iterator[Path]:
    folder = _package("dm_control")
    return iter(sorted((folder / "suite").glob("*.xml")) if folder else ())


def _example_robot_data() -> Iterator[Path]:
    for entry in filter(None, sys.path):
        robots = Path(entry) / "cmeel.prefix/share/example-robot-data/robots"
        yield from sorted(robots.glob("*/urdf/*.urdf"))
        yield from sorted(robots.glob("*/robots/*.urdf"))


def _finder(files: Callable[[], Iterator[Path]]) -> Callable[[str], Path | None]:
    return lambda name: next((file for file in files() if file.stem == name), None)


_INSTALLED = {"gymnasium": _gymnasium, "dm_control": _dm_control, "example-robot-data": _example_robot_data}
#: Packages by the name that stands before a robot's, in the order in which they are asked.
SOURCES: dict[str, Callable[[str], Path | None]] = {
    "routh": _of_ours,
    _DESCRIPTIONS: _of_descriptions,
    **{package: _finder(files) for package, files in _INSTALLED.items()},
}
