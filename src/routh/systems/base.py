"""A named system: what the papers studied, as data; the registry of all, and their parameters."""

from __future__ import annotations

import importlib
import inspect
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from routh.base import features
from routh.base.status import InputError, no_such
from routh.systems.catalogue import CATALOGUE, Kind

if TYPE_CHECKING:
    from routh.base.validation import Options
    from routh.constraints.compliance import Compliance
    from routh.exact.rational import RationalProblem
    from routh.models.base import Model, State
    from routh.problem.impact import ImpactProblem


GRAVITY = 9.81  # m/s^2, HP23 section 4.3
_NEAR = 1e-10  # of rational numbers to a system's own: at rest, feet may move ten times as much


@dataclass(frozen=True)
class PaperSettings:
    """How the paper sampled a system, and where it says so."""

    source: str  # e.g. "HP23 Table 4"
    step: float | None = None  # N s, the width of the box that lambda_max is drawn from
    max_steps: int | None = None  # "trajectory length" N
    samples: int | None = None  # "trajectory set size" M
    lcps_per_sample: float | None = None  # HP23 Table 3


@dataclass(frozen=True, eq=False)
class System:
    """A system by name: an impact (with its problem) or a motion (with its model and first state).

    The problem of an impact is that of its state; a motion may have the problem of its first impact.
    """

    name: str
    kind: Kind
    paper: PaperSettings
    problem: ImpactProblem | None = field(default=None, repr=False)
    model: Model | None = field(default=None, repr=False)
    state: State | None = field(default=None, repr=False)

    @property
    def summary(self) -> str:
        """One line that says what happens; empty for a system that does not come with routh."""
        return CATALOGUE[self.name].summary if self.name in CATALOGUE else ""

    @property
    def rational(self) -> RationalProblem:
        """The impact in rational numbers that keep its coincidences (`routh.snap`), for `routh.exact_set`."""
        if self.problem is None:
            raise InputError(self.name, wrong="has no impact problem", wanted="a system with one")
        from routh.exact.snap import snap  # only exact sets need it

        return snap(self.problem, tolerance=_NEAR).rational


@dataclass(frozen=True, eq=False)
class MotionSystem(System):
    """A system with a mechanism and a first state, so that it can move: what `motion` gives."""

    model: Model = field(repr=False, kw_only=True)
    state: State = field(repr=False, kw_only=True)

    @property
    def compliance(self) -> Compliance:
        """How its contacts yield in steps: as steel does, unless the system has its own."""
        from routh.constraints.compliance import STEEL  # only time stepping needs it

        return STEEL


def catalogued(
    name: str,
    model: Model | None,
    state: State | None,
    problem: ImpactProblem | None = None,
    *,
    source: str = "",
) -> System:
    """A system that comes with routh: its kind, settings and (by default) source are the catalogue's."""
    entry = CATALOGUE[name]
    paper = PaperSettings(source or entry.source, **entry.sampling)  # type: ignore[arg-type]
    return System(name, entry.kind, paper, problem, model, state)


Builder = Callable[..., System]
_REGISTRY: dict[str, Builder] = {}


def register(name: str) -> Callable[[Builder], Builder]:
    """Add a builder to the registry under ``name``; its keyword arguments are the system's parameters."""

    def add(builder: Builder) -> Builder:
        if name in _REGISTRY:
            raise InputError("name", wrong=f"{name!r} is registered already")
        _REGISTRY[name] = builder
        return builder

    return add


def get(name: str, **parameters: object) -> System:
    """The system called ``name``; its parameters can be changed by keyword."""
    builder = builder_of(name)
    known = inspect.signature(builder).parameters
    unknown = [key for key in parameters if key not in known]
    if unknown:
        wanted = ", ".join(f"{key} ({one.default!r})" for key, one in known.items()) or "none: it has none"
        near = no_such(name, unknown[0], known).advice
        raise InputError(name, wrong=f"there is no parameter {unknown[0]!r}", wanted=wanted, advice=near)
    try:
        return builder(**parameters)
    except TypeError as error:  # a list where a number is wanted, a number where a list is
        raise InputError(name, wrong=error) from error


def builder_of(name: str) -> Builder:
    """The function that makes the system called ``name``; its keyword arguments are the parameters."""
    if name not in _REGISTRY and name in CATALOGUE:
        importlib.import_module(CATALOGUE[name].module)
    if name not in _REGISTRY:
        raise no_such("system", name, names())
    return _REGISTRY[name]


def impact(name: str, **parameters: object) -> ImpactProblem:
    """The impact of the system called ``name`` with these parameters; raises where it has none."""
    problem = get(name, **parameters).problem
    if problem is None:
        raise InputError("name", wrong=f"{name!r} has no impact problem", wanted="a system with one")
    return problem


def motion(name: str, **parameters: object) -> MotionSystem:
    """The system called ``name`` with its model and first state; raises where it has no mechanism."""
    system = get(name, **parameters)
    if isinstance(system, MotionSystem):
        return system
    if system.model is None or system.state is None:
        raise InputError(
            "name",
            got=f"{name!r}, which is a single impact without a mechanism",
            wanted="a system that moves",
        )
    return MotionSystem(
        name, system.kind, system.paper, system.problem, model=system.model, state=system.state
    )


def names() -> list[str]:
    """The names of all systems: those that come with routh, then those registered since."""
    return list(CATALOGUE) + [name for name in _REGISTRY if name not in CATALOGUE]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a system, as `routh.systems.get` takes it by keyword."""

    name: str
    default: object  # None: computed from the others
    unit: str  # "" for a number without unit
    meaning: str


def parameters(name: str) -> list[Parameter]:
    """The parameters of the system called ``name``, in the order of its function.

    What each means, and its unit, stand in ``parameters.toml``.
    """
    files = [Path(__file__).with_name("parameters.toml"), *features.files("systems", "parameters")]
    known: Options = {}
    for file in files:
        known |= tomllib.loads(file.read_text(encoding="utf-8"))
    told = {**known, **known.get(name, {})}  # what a system means otherwise stands below its name
    given = inspect.signature(builder_of(name)).parameters.items()
    return [Parameter(key, one.default, *told.get(key, ("", ""))) for key, one in given]
