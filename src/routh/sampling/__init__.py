"""Samplers of the set of outcomes, what a sample of it is, and what it says."""

from routh.sampling.algorithm1 import approximate
from routh.sampling.ambiguity import Ambiguity, Extreme, extreme, measure_ambiguity
from routh.sampling.answers import Answer
from routh.sampling.outcomes import ModeRow, Outcomes
from routh.sampling.sampler import sample
from routh.sampling.theory import (
    NetBound,
    approximation_sample_count,
    dense_sample_count,
    net_bound,
    psi,
    single_contact_kappa,
    termination_bound,
)

__all__ = [
    "Ambiguity",
    "Answer",
    "Extreme",
    "ModeRow",
    "NetBound",
    "Outcomes",
    "approximate",
    "approximation_sample_count",
    "dense_sample_count",
    "extreme",
    "measure_ambiguity",
    "net_bound",
    "psi",
    "sample",
    "single_contact_kappa",
    "termination_bound",
]
