"""Models of mechanisms with contacts: the protocol (`base`), planar trees and free bodies in space."""

from routh.models import planar, spatial
from routh.models.base import ContactInfo, Model, State, impact_problem

__all__ = ["ContactInfo", "Model", "State", "impact_problem", "planar", "spatial"]
