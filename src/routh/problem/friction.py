"""What a contact with Coulomb friction does, and its cone: the true one and its polyhedral approximation."""

from __future__ import annotations

import enum

import numpy as np

from routh.base.status import InputError
from routh.base.validation import Array, choice, integer

FRICTIONS = ("cone", "polyhedral")
DEFAULT_FACETS = 8  # in space; the plane has exactly two directions


class ContactMode(enum.IntEnum):
    """What a contact does. The integer values are stored in batches (int8)."""

    SEPARATES = 0
    STICKS = 1
    SLIDES = 2

    @property
    def word(self) -> str:
        """The mode as tables and files spell it: "separates", "sticks" or "slides"."""
        return self.name.lower()


def uses_true_cone(friction: str, facets: int | None, nt: int) -> bool:
    """Whether to compute with Coulomb's cone itself rather than with facets; checks both options.

    In the plane the cone is the segment between two directions: "cone" and "polyhedral" are one there.
    """
    choice("friction", friction, FRICTIONS)
    if friction == "cone" and nt == 2 and facets is not None:
        raise InputError(
            "facets", got=f"{facets!r} with friction 'cone', which has none", wanted="'polyhedral'"
        )
    return friction == "cone" and nt == 2


def facet_directions(nt: int, facets: int | None = None) -> Array:
    """Unit friction directions ``D``, (k, nt), each with its opposite (HP23 (19)-(22)).

    In the plane these are +t and -t. In space they are the corners of a regular polygon with an even
    number of corners, inscribed in the unit disc: friction is never overestimated.
    """
    if nt == 1:
        if facets not in (None, 2):
            raise InputError("facets", got=f"{facets!r}; planar friction has exactly 2 directions")
        return np.array([[1.0], [-1.0]])
    count = integer("facets", DEFAULT_FACETS if facets is None else facets, at_least=4, at_most=1024)
    if count % 2:
        raise InputError(
            "facets", got=count, wanted="an even number, so that each direction has its opposite"
        )
    angles = 2.0 * np.pi * np.arange(count // 2) / count
    half = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.concatenate([half, -half])


def friction_polygon(friction: str, facets: int | None, nt: int) -> Array | None:
    """The friction directions (k, nt) to compute with; None: the true cone. Checks both options."""
    return None if uses_true_cone(friction, facets, nt) else facet_directions(nt, facets)


def project_disc(vector: Array, radius: Array) -> Array:
    """Nearest points (..., nt) of the discs with the given radii (...,)."""
    length = np.linalg.norm(vector, axis=-1)
    shrink = np.where(length > radius, radius / np.where(length > 0.0, length, 1.0), 1.0)
    return vector * shrink[..., None]
