"""What ``device="cuda"`` means: what the core asks of a device that is not the CPU."""

from routh.gpu.algorithm1 import run_steps as run_steps
from routh.gpu.batches import fill_batch as fill_batch
from routh.gpu.driver import gpu as gpu
from routh.gpu.families import families as families
from routh.gpu.memory import send as send
from routh.gpu.outcomes import gpu_batch_outcomes as batch_outcomes
from routh.gpu.outcomes import gpu_outcomes as outcomes
from routh.gpu.ptx import gpu_kernel as gpu_kernel
from routh.gpu.steps import step_batch_outcomes as step_batch_outcomes

__all__ = [
    "batch_outcomes",
    "families",
    "fill_batch",
    "gpu",
    "gpu_kernel",
    "outcomes",
    "run_steps",
    "send",
    "step_batch_outcomes",
]
