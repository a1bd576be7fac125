"""Planar mechanisms: boxes, discs, rods and point masses, floating or joined in trees, with contacts."""

from routh.models.planar.bodies import (
    GROUND,
    Body,
    Free,
    FreePoint,
    HalfPlane,
    Prismatic,
    Revolute,
    box,
    circle,
    corners,
    disc,
    link,
    point_mass,
    rod,
    slope,
)
from routh.models.planar.contacts import Contact, DiscContact, PlaneContact, plane_contacts
from routh.models.planar.model import PlanarModel

__all__ = [
    "GROUND",
    "Body",
    "Contact",
    "DiscContact",
    "Free",
    "FreePoint",
    "HalfPlane",
    "PlanarModel",
    "PlaneContact",
    "Prismatic",
    "Revolute",
    "box",
    "circle",
    "corners",
    "disc",
    "link",
    "plane_contacts",
    "point_mass",
    "rod",
    "slope",
]
