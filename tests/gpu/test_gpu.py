"""Outcomes that stay on the GPU: in the simulator in its own process, and on a GPU if there is one."""

import os
import subprocess
import sys
from importlib.util import find_spec

import gpu_cases
import numpy as np
import pytest

import routh
from problems import family_problem, random_problem
from routh.base.status import MissingExtraError, NoGPUError
from routh.gpu import driver
from routh.systems import get

HAS_GPU = os.path.exists("/dev/nvidia0")
on_gpu = pytest.mark.skipif(not (HAS_GPU and find_spec("cuda")), reason="no GPU, or no cuda-bindings")
PLANAR = ("rocking-block", "compass-gait", "box-wall", "ramone", "rimless-wheel", "block-into-wall")
CODE = """
import sys
from routh.gpu import events as gpu_events
from routh.gpu import memory as gpu_memory
from routh.gpu import plane as gpu_plane
gpu_memory.PAGE, gpu_memory.SENT_PAGE, gpu_memory.SMALL, gpu_memory.LARGE = 4096, 8192, 4096, 2**19
gpu_events.BLOCK, gpu_events.MANY, gpu_plane.BLOCK, gpu_plane.FIRST = 4, 4, 4, 64
import gpu_cases
gpu_cases.few()
sys.setswitchinterval(1e-5)
gpu_cases.copies(2**20)
gpu_cases.all_as_ptx()
print("equal")
"""


def test_the_simulator_gives_the_cpus_outcomes_and_summaries():
    environment = {**os.environ, "ROUTH_SIMULATE_GPU": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    result = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stderr[-3000:]
    assert "equal" in result.stdout


@pytest.mark.skipif(HAS_GPU, reason="there is a GPU")
def test_a_machine_without_gpu_says_so():
    with pytest.raises(NoGPUError, match="wanted a machine with an NVIDIA GPU"):
        routh.sample(get("rocking-block").problem, 1, device="cuda")


def test_a_gpu_without_the_bindings_names_the_extra(monkeypatch):
    def missing(name, extra, package):
        raise MissingExtraError(package, extra)

    monkeypatch.setattr(driver.ctypes, "CDLL", lambda name: None)
    monkeypatch.setattr(driver, "optional", missing)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[cuda\]'?"):
        driver.Driver()


@on_gpu
@pytest.mark.parametrize("name", PLANAR)
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_the_gpu_gives_the_cpus_outcomes(name, restitution):
    gpu_cases.single(get(name).problem.replace(restitution=restitution), 2**14, seed=3)


@on_gpu
def test_the_gpu_gives_the_cpus_outcomes_of_a_batch():
    gpu_cases.batch(gpu_cases.mixed_batch(), 16, seed=1)


@on_gpu
@pytest.mark.parametrize("step", [None, 0.3])
def test_the_gpu_gives_the_cpus_outcomes_of_a_batch_by_algorithm1(step):
    gpu_cases.batch(gpu_cases.spatial_batch(64), 16, routh.sampling.sample_by_steps, step=step, row=2)
    rough = [family_problem("spatial-3-rough", seed)[0] for seed in range(24)]
    gpu_cases.batch(routh.ImpactBatch.from_problems(rough), 4, routh.sampling.sample_by_steps, max_steps=20)


@on_gpu
@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize("friction", ["cone", "polyhedral"])
def test_the_gpu_gives_the_cpus_outcomes_in_space(restitution, friction):
    problem = random_problem(np.random.default_rng(3), nt=2, nc=3, nv=7, mu=0.5)
    gpu_cases.single(problem.replace(restitution=restitution), 256, friction=friction)


@on_gpu
def test_the_gpu_gives_the_cpus_outcomes_with_the_true_cone():
    gpu_cases.batch(gpu_cases.spatial_batch(64), 16, seed=1)
    problem = random_problem(np.random.default_rng(3), nt=2, nc=4, nv=9, mu=1.0)
    gpu_cases.single(problem, 2**12)
    gpu_cases.single(gpu_cases.all_approach(6), 2**10, rates="uniform")


@on_gpu
def test_poisson_and_rates():
    block = get("rocking-block").problem
    gpu_cases.single(block.replace(restitution=0.5), 512, hypothesis="poisson", rates="uniform")
    gpu_cases.single(block, 512, rates="extreme", persistence=0.9, row=7)


@on_gpu
@pytest.mark.parametrize("library", ["torch", "cupy", "jax.numpy"])
def test_other_libraries_share_the_memory(library):
    other = pytest.importorskip(library)
    if library == "jax.numpy":
        pytest.importorskip("jax").config.update("jax_enable_x64", True)
    outcomes = routh.sample(get("rocking-block").problem, 100, device="cuda")
    for array in (outcomes.on_gpu.v, outcomes.on_gpu.status):
        shared = other.from_dlpack(array)
        assert tuple(shared.shape) == array.shape
        copied = (
            shared.cpu().numpy()
            if library == "torch"
            else np.asarray(getattr(shared, "get", shared.__array__)())
        )
        np.testing.assert_array_equal(copied.astype(array.dtype), array.numpy())


@on_gpu
def test_copies_of_several_threads_are_whole():
    gpu_cases.copies(3 * 2**25)


@on_gpu
def test_a_copy_of_many_pages_is_whole():
    outcomes = routh.sample(get("rocking-block").problem, 2**20, device="cuda")
    again = routh.sample(get("rocking-block").problem, 2**20, device="cuda")
    np.testing.assert_array_equal(outcomes.v, again.v)
    np.testing.assert_array_equal(outcomes.on_gpu.v.columns(1)[:, 0], outcomes.v[:, 1])
    assert outcomes.terminated.all()


@on_gpu
def test_samples_that_time_did_not_allow_are_told(monkeypatch):
    from routh.gpu import events as gpu_events

    monkeypatch.setattr(gpu_events, "LAUNCH", 64)
    found = routh.sample(get("rocking-block").problem, 2**14, device="cuda", budget=1e-9)
    assert found.status_counts() == {routh.Status.OUT_OF_TIME: 2**14}
