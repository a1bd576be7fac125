"""Features: what routh can do without, each a folder of the package that can be deleted.

The core never imports a feature. A feature says in its ``feature.toml`` what it adds to the core's tables, as
``"module:name"``, which is imported when it is used:

``summary``      one line, which says what is missing where the folder is gone
``[commands]``   commands of ``routh``: name -> function, see `routh.cli.program`
``[laws]``       impact laws: name -> class, see `routh.laws.LAWS`
``[plots]``      modules that register how results of a room are drawn: room -> module, see `routh.viz.plot`
``[systems]``    ``catalogue`` and ``parameters``: files beside it, see `routh.systems`
``[devices]``    where samples can be drawn besides the CPU: name -> module, see `routh.sampling.sampler`
``[families]``   calls whose kernels ``routh precompile`` compiles: name -> function
``[gpu_families]`` the same on a GPU
``[runs]``       what ``routh run`` does with impacts of a kind: kind -> function, see `routh.cli.run`
``[engines]``    ``audit``: what asks another physics engine for a touch-down, see `routh.cli.audit`
``[start]``      lines of the first page of the help: call -> what it does
"""

from __future__ import annotations

import functools
import tomllib
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, ModuleType

from routh.base.status import RouthError

PACKAGE = Path(__file__).parents[1]
#: The features that routh comes with, so that a folder that was left out can be named.
KNOWN = (
    "gaits",
    "gpu",
    "identification",
    "jax",
    "learn",
    "reproduce",
    "sweep",
    "testkit",
    "two_body",
    "view",
)


class MissingFeatureError(RouthError, ImportError):
    """What was asked for belongs to a feature that is not part of this installation."""

    def __init__(self, name: str) -> None:
        super().__init__(f"routh.{name}: this installation of routh is without the feature {name!r}")


@functools.cache
def installed() -> tuple[str, ...]:
    """The features whose folders are there, by name."""
    return tuple(sorted(file.parent.name for file in PACKAGE.glob("*/feature.toml")))


@functools.cache
def _told(name: str) -> MappingProxyType[str, object]:
    text = (PACKAGE / name / "feature.toml").read_text(encoding="utf-8")
    return MappingProxyType(tomllib.loads(text))


def summary(name: str) -> str:
    """What an installed feature does, in one line."""
    return str(_told(name)["summary"])


def entries(table: str) -> dict[str, str]:
    """What all installed features add to a table of the core: name -> ``"module:name"`` or module."""
    merged: dict[str, str] = {}
    for feature in installed():
        rows = _told(feature).get(table, {})
        assert isinstance(rows, dict), (feature, table)
        merged |= {str(name): str(place) for name, place in rows.items()}
    return merged


def files(table: str, name: str) -> list[Path]:
    """The files that installed features name in a table, such as the catalogues of ``[systems]``."""
    places = []
    for feature in installed():
        rows = _told(feature).get(table, {})
        assert isinstance(rows, dict), (feature, table)
        if name in rows:
            places.append(PACKAGE / feature / str(rows[name]))
    return places


def resolve(place: str) -> object:
    """What stands at ``"module:name"``."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def device(name: str) -> ModuleType:
    """The module of a device, such as ``"cuda"``; raises `MissingFeatureError` where nothing brings it."""
    devices = entries("devices")
    if name not in devices:
        raise MissingFeatureError("gpu")
    return import_module(devices[name])


def feature(name: str) -> ModuleType:
    """The package of a feature, or a module in it (``"two_body.systems"``), for another feature.

    Raises `MissingFeatureError` where its folder is gone.
    """
    package = name.partition(".")[0]
    if package not in installed():
        raise MissingFeatureError(package)
    return import_module(f"routh.{name}")
