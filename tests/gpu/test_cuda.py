"""The GPU kernels in the simulator, in a process of its own, against the CPU's samples."""

import os
import subprocess
import sys

import numpy as np
import pytest

from routh.base.status import NoGPUError
from routh.kernels.algorithm1.sampling import run
from routh.problem.friction import facet_directions
from routh.systems import get

CODE = """
import numpy as np
from routh.problem.friction import facet_directions, friction_polygon
from routh.gpu import algorithm1 as gpu
from routh.kernels.algorithm1.sampling import run
from routh.systems import get
from problems import family_problem

gpu.THREADS = 4
problem = get("rocking-block").problem
bound = np.array([0.3, 0.3])
settings = dict(step=bound, max_steps=10, seed=3, directions=facet_directions(1))
for one, other in zip(run(problem, 4, **settings), run(problem, 4, device="cuda", **settings)):
    np.testing.assert_array_equal(one, other)
problem, bound = family_problem("spatial-1", 0)
for friction in ("cone", "polyhedral"):
    settings = dict(step=bound, max_steps=5, seed=3, directions=friction_polygon(friction, None, 2))
    for one, other in zip(run(problem, 2, **settings), run(problem, 2, device="cuda", **settings)):
        np.testing.assert_array_equal(one, other)
from routh.gpu.ptx import GpuKernel
for kernel in GpuKernel.all:
    for kinds, threads in kernel.launched:
        assert ".visible .entry entry" in kernel.ptx(kinds, 90, threads)
print("equal")
"""


def test_the_simulator_gives_the_cpus_samples():
    environment = {**os.environ, "ROUTH_SIMULATE_GPU": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    result = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stderr
    assert "equal" in result.stdout


@pytest.mark.skipif(os.path.exists("/dev/nvidia0"), reason="there is a GPU")
def test_a_machine_without_gpu_says_so():
    problem = get("rocking-block").problem
    with pytest.raises(NoGPUError, match="wanted a machine with an NVIDIA GPU"):
        run(problem, 1, step=np.ones(2), max_steps=1, seed=0, directions=facet_directions(1), device="cuda")
