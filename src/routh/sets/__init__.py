"""Sets of outcomes: sampling, summaries, and the theory that bounds them."""

from routh.sets.outcomes import ModeRow, Outcomes
from routh.sets.sampling import approximate, sample
from routh.sets.theory import (
    Pointedness,
    approximation_sample_count,
    dense_sample_count,
    pointedness,
    psi,
    single_contact_kappa,
    termination_bound,
)
from routh.sets.uniqueness import Uniqueness, uniqueness

__all__ = [
    "ModeRow",
    "Outcomes",
    "Pointedness",
    "Uniqueness",
    "approximate",
    "approximation_sample_count",
    "dense_sample_count",
    "pointedness",
    "psi",
    "sample",
    "single_contact_kappa",
    "termination_bound",
    "uniqueness",
]
