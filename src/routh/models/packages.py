"""Where ``package://NAME/...`` leads: the usual places, and never out of the package's own folder.

A package is looked for above the model file, as the folder that has its name and is one (it holds a
``package.xml``, or the model lies in it or in its ``urdf``); beside those folders where a ``package.xml``
says so; in ``ROS_PACKAGE_PATH`` and ``AMENT_PREFIX_PATH``; and among the robots that were installed with pip
(example-robot-data).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from routh.status import ModelError
from routh.text import for_terminal

_SCHEMES = ("package://", "model://")
_MARK = "package.xml"
_HOMES = ("urdf", "robots")  # where models lie in packages that have lost their mark


def locate(name: str, source: Path, roots: Sequence[Path]) -> Path | None:
    """The file that a ``package://`` name of the model file ``source`` means; None where there is none.

    Raises ModelError where the name, or a link, leads out of the package.
    """
    scheme = next((scheme for scheme in _SCHEMES if name.startswith(scheme)), None)
    if scheme is None:
        return None
    package, _, rest = name[len(scheme) :].replace("\\", "/").partition("/")
    if not package or package in (".", "..") or ".." in PurePosixPath(rest).parts:
        return None
    for folder in _folders(package, source, roots):
        whole = Path(os.path.realpath(folder))
        target = Path(os.path.realpath(whole / rest))
        if not target.is_file():
            continue
        if whole not in target.parents:
            raise ModelError(f"{source}: refers to {for_terminal(name)!r}, which leads out of {whole}")
        return target
    return None


def _folders(package: str, source: Path, roots: Sequence[Path]) -> Iterator[Path]:
    """Folders that may be the package, the likeliest first."""
    for root in roots:
        yield root / package
    for ancestor in source.parents:
        if ancestor.name == package and _is_package(ancestor, source):
            yield ancestor
        beside = ancestor / package
        inside = Path(os.path.realpath(ancestor)) in Path(os.path.realpath(beside)).parents
        if inside and (beside / _MARK).is_file():  # a link that came with the model leads nowhere
            yield beside
    for entry in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep):
        if entry:
            yield Path(entry) / package
    for entry in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        if entry:
            yield Path(entry) / "share" / package
    for entry in sys.path:
        installed = Path(entry) / "cmeel.prefix" / "share" / package
        if entry and installed.is_dir():
            yield installed


def _is_package(ancestor: Path, source: Path) -> bool:
    """A folder that only happens to have the name (``/home``) is none: all below it would be open."""
    if ancestor == source.parent or (ancestor / _MARK).is_file():
        return True
    return source.parent.parent == ancestor and source.parent.name in _HOMES
