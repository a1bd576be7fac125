"""Sets of outcomes: sampling, summaries, and the theory that bounds them."""

from routh.sets.ambiguity import Ambiguity, Extreme, extreme, measure_ambiguity
from routh.sets.audit import Audit, Broken, audit, best_impulse, broken_laws
from routh.sets.outcomes import ModeRow, Outcomes
from routh.sets.sampling import approximate, sample
from routh.sets.scan import Scan, scan
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
    "Ambiguity",
    "Audit",
    "Broken",
    "Extreme",
    "ModeRow",
    "Outcomes",
    "Pointedness",
    "Scan",
    "Uniqueness",
    "approximate",
    "approximation_sample_count",
    "audit",
    "best_impulse",
    "broken_laws",
    "dense_sample_count",
    "extreme",
    "measure_ambiguity",
    "pointedness",
    "psi",
    "sample",
    "scan",
    "single_contact_kappa",
    "termination_bound",
    "uniqueness",
]
