"""Samplers of the set of outcomes, what a sample of it is, and what it says."""

from routh.sampling.algorithm1 import approximate as approximate
from routh.sampling.ambiguity import Ambiguity as Ambiguity
from routh.sampling.ambiguity import Extreme as Extreme
from routh.sampling.ambiguity import extreme as extreme
from routh.sampling.ambiguity import measure_ambiguity as measure_ambiguity
from routh.sampling.answers import Answer as Answer
from routh.sampling.outcomes import ModeRow as ModeRow
from routh.sampling.outcomes import Outcomes as Outcomes
from routh.sampling.sampler import sample as sample
from routh.sampling.theory import NetBound as NetBound
from routh.sampling.theory import approximation_sample_count as approximation_sample_count
from routh.sampling.theory import dense_sample_count as dense_sample_count
from routh.sampling.theory import net_bound as net_bound
from routh.sampling.theory import psi as psi
from routh.sampling.theory import single_contact_kappa as single_contact_kappa
from routh.sampling.theory import termination_bound as termination_bound

__all__ = sorted(name for name, value in vars().items() if callable(value) and name[0] != "_")
