"""Free rigid bodies in space: spheres and boxes with unit quaternions, against half-spaces and each other."""

from routh.models.spatial.bodies import (
    GROUND,
    Body,
    Contact,
    HalfSpace,
    PlaneContact,
    SphereContact,
    box,
    corner_contacts,
    corners,
    sphere,
)
from routh.models.spatial.model import SpatialModel

__all__ = [
    "GROUND",
    "Body",
    "Contact",
    "HalfSpace",
    "PlaneContact",
    "SpatialModel",
    "SphereContact",
    "box",
    "corner_contacts",
    "corners",
    "sphere",
]
