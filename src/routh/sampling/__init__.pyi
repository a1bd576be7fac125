# What type checkers and editors see, and what `routh.base.lazily` resolves.
from routh.sampling.algorithm1 import approximate as approximate
from routh.sampling.algorithm1 import sample_by_steps as sample_by_steps
from routh.sampling.ambiguity import Ambiguity as Ambiguity
from routh.sampling.ambiguity import extreme as extreme
from routh.sampling.ambiguity import measure_ambiguity as measure_ambiguity
from routh.sampling.outcomes import Outcomes as Outcomes
from routh.sampling.sampler import sample as sample
