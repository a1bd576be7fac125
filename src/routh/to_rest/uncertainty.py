"""What is not known of a landing, in units that people have, and how it is drawn for each run."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields

import numpy as np

from routh.base.rng import uniforms
from routh.base.status import InputError
from routh.base.validation import Array, real

_UNITS = {
    "": 1.0,
    "m": 1.0,
    "cm": 1e-2,
    "mm": 1e-3,
    "um": 1e-6,
    "deg": math.pi / 180.0,
    "rad": 1.0,
    "%": 1e-2,
    "m/s": 1.0,
    "deg/s": math.pi / 180.0,
    "rad/s": 1.0,
}
_KINDS = {
    "": {""},
    "length": {"", "m", "cm", "mm", "um"},
    "angle": {"", "deg", "rad"},
    "share": {"", "%"},
    "speed": {"", "m/s"},
    "rate": {"", "deg/s", "rad/s"},
}
_NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([a-z%/]*)"
_FORMS = "2mm (uniform within +-2 mm), normal(2mm) (of that sigma) or 0.5..0.8 (uniform between)"


@dataclass(frozen=True)
class Spread:
    """A number that is not known: uniform between two ends, or normal.

    Parameters
    ----------
    low, high : the ends; of a normal one the mean less and plus one sigma.
    normal : whether it is normal.
    """

    low: float
    high: float
    normal: bool = False

    @classmethod
    def of(cls, field: str, value: str | float | tuple[float, float] | Spread, kind: str = "") -> Spread:
        """What a user wrote; a number s is uniform within +-s, a pair uniform between its ends.

        Parameters
        ----------
        field : its name, for errors.
        value : text, a number or a pair.
        kind : "length", "angle", "share", "speed" or "rate": which units may follow a number.
        """
        if isinstance(value, Spread):
            return value
        if isinstance(value, tuple | list):
            if len(value) != 2:
                raise InputError(field, got=f"{len(value)} numbers", wanted="a pair, low and high")
            low, high = (real(field, end) for end in value)
            if not low <= high:
                raise InputError(field, got=f"{low:g} to {high:g}", wanted="the lower end first")
            return cls(low, high)
        if not isinstance(value, str):
            size = real(field, value, at_least=0.0)
            return cls(-size, size)
        text = value.strip()
        if match := re.fullmatch(rf"{_NUMBER}\.\.{_NUMBER}", text):
            low, high = (_number(field, value, kind, *match.groups()[k : k + 2]) for k in (0, 2))
            return cls.of(field, (low, high))
        if match := re.fullmatch(rf"normal\(\s*{_NUMBER}\s*\)", text):
            size = real(field, _number(field, value, kind, *match.groups()), at_least=0.0)
            return cls(-size, size, True)
        if match := re.fullmatch(_NUMBER, text):
            size = real(field, _number(field, value, kind, *match.groups()), at_least=0.0)
            return cls(-size, size)
        raise InputError(field, got=repr(value), wanted=_FORMS)

    def at(self, u: Array) -> Array:
        """The values at uniform numbers in (0, 1)."""
        if not self.normal:
            return self.low + (self.high - self.low) * u
        from scipy.special import ndtri

        return np.asarray(0.5 * (self.low + self.high) + 0.5 * (self.high - self.low) * ndtri(u))


def _number(field: str, text: str, kind: str, digits: str, unit: str) -> float:
    if unit not in _KINDS[kind]:
        wanted = " or ".join(repr(one) for one in sorted(_KINDS[kind]) if one) or "none"
        raise InputError(field, got=f"the unit {unit!r} in {text!r}", wanted=wanted)
    return float(digits) * _UNITS[unit]


def number_of(field: str, text: str, kind: str) -> float:
    """One number with a unit, such as "-3deg" or "1%"."""
    match = re.fullmatch(_NUMBER, text.strip())
    if match is None:
        raise InputError(field, got=repr(text), wanted="a number with or without its unit")
    return _number(field, text, kind, *match.groups())


Told = str | float | tuple[float, float] | Spread | None


@dataclass(frozen=True)
class Uncertainty:
    """What is not known of a landing. Each is text such as "2mm", "normal(2mm)" or "0.5..0.8", a number s for
    within +-s, or a pair (low, high); None is known.

    Parameters
    ----------
    heights : by how much each foot is longer than in the model, m; drawn for each.
    stiffness : factor of the contacts' stiffness, in the logarithm: 2 is half to twice; drawn for each.
    friction : its coefficient itself where it is a pair, else its share more or less; drawn for each.
    tilt : rad, about each of the body's two axes across its up direction.
    down, sideways : shares by which the speeds at the touch differ.
    rate : rad/s, about each of the body's three axes.
    """

    heights: Told = None
    stiffness: float | None = None
    friction: Told = None
    tilt: Told = None
    down: Told = None
    sideways: Told = None
    rate: Told = None

    def __post_init__(self) -> None:
        if self.stiffness is not None:
            real("stiffness", self.stiffness, at_least=1.0)
        for name in _DRAWN:
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, Spread.of(name, value, _DRAWN[name]))
        friction = self.friction
        if isinstance(friction, Spread) and friction.low > 0.0 and friction.normal:
            raise InputError(
                "friction", got="a normal spread of the coefficient", wanted="its ends, 0.5..0.8"
            )

    @classmethod
    def of(cls, value: Uncertainty | dict[str, Told] | None) -> Uncertainty:
        """What a user gave: nothing, a mapping as from a TOML file, or one of these."""
        if value is None or isinstance(value, Uncertainty):
            return value or cls()
        names = [field.name for field in fields(cls)]
        wrong = [name for name in value if name not in names]
        if wrong:
            raise InputError("uncertainty", got=repr(wrong[0]), wanted=f"some of {', '.join(names)}")
        return cls(**value)  # type: ignore[arg-type]

    def draw(self, name: str, row: int, n: int, count: int, seed: int) -> Array:
        """``count`` values (n, count) of runs 0 to n - 1 of a state; 0 where it is known."""
        spread = getattr(self, name)
        if spread is None:
            return np.zeros((n, count))
        if name == "stiffness":
            spread = Spread(-math.log(spread), math.log(spread))
        number = 1 + [field.name for field in fields(self)].index(name)
        return np.asarray(spread.at(uniforms(seed, np.arange(n), number, count, row=row)))


#: what of an uncertainty is a spread, and the units that it may have
_DRAWN = {
    "heights": "length",
    "friction": "share",
    "tilt": "angle",
    "down": "share",
    "sideways": "share",
    "rate": "rate",
}
