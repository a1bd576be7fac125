"""The engines by name, what brings each, and its variants."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType

from routh.base.status import InputError, RouthError
from routh.testkit.stepping import Stepped

SMALL = 1e-4  # s


@dataclass(frozen=True)
class EngineName:
    """How an engine is called here and elsewhere."""

    title: str
    module: str  # what is imported
    package: str  # what pip installs
    place: str  # "module:class" of the adapter
    dt: float  # s, the step that it has as it comes
    options: dict[str, object] = field(default_factory=dict)
    restitution: bool = True


class MissingEngineError(RouthError, ImportError):
    """The engine that was asked for is not installed here."""

    def __init__(self, name: str, engine: EngineName, why: str) -> None:
        super().__init__(
            f"engine {name!r}: {engine.title} cannot be imported here ({why}); bring it with "
            f"pip install {engine.package}, best in an environment of its own (benchmarks/engines/README.md)"
        )


def _family(
    title: str, module: str, package: str, adapter: str, dt: float, restitution: bool = True
) -> EngineName:
    return EngineName(title, module, package, f"routh.testkit.engines.{adapter}", dt, {}, restitution)


_MUJOCO = _family("MuJoCo", "mujoco", "mujoco", "mujoco:MuJoCo", 0.002)
_BULLET = _family("Bullet", "pybullet", "pybullet", "bullet:Bullet", 1 / 240)
_DRAKE = _family("Drake", "pydrake", "drake", "drake:Drake", 0.001, restitution=False)
_DART = _family("DART", "dartpy", "dartpy", "dart:Dart", 0.001)
_PHYSX = _family("PhysX (sapien)", "sapien", "'numpy<2' sapien 'setuptools<81'", "physx:Physx", 0.01)
_RAPIER = _family("Rapier", "rapier3d", "rapier3d", "rapier:Rapier", 1 / 60)
_NIMBLE = _family("Nimble", "nimblephysics", "'numpy<2' nimblephysics", "nimble:Nimble", 0.001)
_GENESIS = _family("Genesis", "genesis", "genesis-world torch", "genesis:Genesis", 0.01, restitution=False)


def _variant(base: EngineName, what: str, **options: object) -> EngineName:
    title = f"{base.title}, {what}"
    return EngineName(title, base.module, base.package, base.place, base.dt, options, base.restitution)


#: Every engine and variant by name; the first of each engine is the engine as it comes.
ENGINES: dict[str, EngineName] = {
    "mujoco": _MUJOCO,
    "mujoco-stiff": _variant(_MUJOCO, "contacts of 2 ms, elliptic", stiff=True),
    "bullet": _BULLET,
    "drake": _DRAKE,
    "drake-lagged": _variant(_DRAKE, "lagged", approximation="lagged"),
    "drake-rigid": _variant(_DRAKE, "k = 1e8 N/m", stiffness=1e8),
    "dart": _DART,
    "physx": _PHYSX,
    "physx-pgs": _variant(_PHYSX, "PGS, 255 iterations", tgs=False, iterations=255),
    "rapier": _RAPIER,
    "rapier-20": _variant(
        _RAPIER, "20 iterations", num_internal_pgs_iterations=20, friction_in_bias_pass=True
    ),
    "rapier-200": _variant(
        _RAPIER, "200 iterations", num_internal_pgs_iterations=200, friction_in_bias_pass=True
    ),
    "nimble": _NIMBLE,
    "nimble-accurate": _variant(_NIMBLE, "hyper accurate and very slow", slow=True),
    "genesis": _GENESIS,
}


def named(name: str, dt: float | None = None) -> Stepped:
    """An engine by its name in `ENGINES`, at its own step or at ``dt`` (s); raises `MissingEngineError`."""
    if name not in ENGINES:
        raise InputError("engine", got=repr(name), wanted=f"one of {', '.join(ENGINES)}")
    engine = ENGINES[name]
    loaded(name)
    file, _, kind = engine.place.partition(":")
    make = getattr(import_module(file), kind)
    return Stepped(make, engine.dt if dt is None else dt, engine.options, engine.restitution)


def loaded(name: str) -> ModuleType:
    """The module of the engine itself, imported."""
    try:
        return import_module(ENGINES[name].module)
    except (ImportError, OSError) as error:
        raise MissingEngineError(name, ENGINES[name], f"{type(error).__name__}: {error}") from None


def version(name: str) -> str:
    """The version of an engine that is installed."""
    from importlib import metadata

    package = ENGINES[name].package.replace("'numpy<2' ", "").split()[0]
    return metadata.version(package)
