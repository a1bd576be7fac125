"""What outcomes on the GPU must say, checked by its simulator and, where there is one, by the GPU itself."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields

import numpy as np
import pytest

import routh
from problems import colliding, random_problem
from routh.gpu.events import make_gpu_outputs
from routh.gpu.memory import fetch, send
from routh.gpu.plane import PlaneSampler, first_patterns
from routh.gpu.ptx import GpuKernel
from routh.kernels.common.arrays import make_rows
from routh.sampling.batch import BatchOutcomes
from routh.sampling.settings import ByEvents
from routh.systems import get


def agree(device, host):
    """Equal to the bit: the same source, in which nothing is fused and no function is the machine's own."""
    for name in ("status", "steps", "v", "impulse", "residual", "error", "stored", "returned"):
        one, other = getattr(device, name), getattr(host, name)
        if other is None:
            assert one is None
            continue
        np.testing.assert_array_equal(one, other)
    allowed = 1e-9 if device.error is None else np.maximum(device.error, 1e-9)  # what a solved sample reports
    assert np.all((device.residual <= allowed)[device.status == routh.Status.SOLVED])


def summaries_agree(device, host, direction):
    """What is found on the GPU against the same from the copied arrays."""
    assert device.status_counts() == host.status_counts()
    assert [(row.modes, row.count) for row in device.summary()] == [
        (row.modes, row.count) for row in host.summary()
    ]
    for one, other in zip(device.summary(), host.summary(), strict=True):
        np.testing.assert_allclose(one.kinetic_energy, other.kinetic_energy, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(device.mean, host.v[host.terminated].mean(axis=0), rtol=0, atol=1e-12)
    assert abs(device.ambiguity - host.ambiguity) < 1e-12
    one, other = device.extreme(direction), host.extreme(direction)
    assert abs(one.value - other.value) < 1e-12
    np.testing.assert_array_equal(one.v, host.v[one.index])
    np.testing.assert_array_equal(one.impulse, host.impulse[one.index])
    np.testing.assert_array_equal(device.on_gpu.v.columns(2, 0), host.v[:, [2, 0]])


def single(problem, n, **options):
    """One problem: drawn on the GPU and on the CPU, and summed up."""
    device = routh.sample(problem, n, device="cuda", **options)
    host = routh.sample(problem, n, **options)
    assert len(device) == n
    agree(device, host)
    direction = np.zeros(problem.nv)
    direction[0] = 1.0
    summaries_agree(device, device.host(), direction)


def mixed_batch():
    """Planar rows with and without restitution, a contact that is missing, a row that nothing approaches."""
    rng = np.random.default_rng(5)
    three = [random_problem(rng, nc=3, nv=5, mu=0.5) for _ in range(4)]
    arrays = {name: np.stack([getattr(p, name) for p in three]) for name in ("M", "Jn", "Jt", "mu", "v")}
    present = np.ones((4, 3), dtype=bool)
    present[1, 0] = False
    restitution = np.zeros((4, 3))
    restitution[2] = 0.5
    arrays["v"][3] = 0.0
    return routh.ImpactBatch(**arrays, present=present, restitution=restitution)


def spatial_batch(rows=3):
    """Rows in space, one of them without its first contact."""
    rng = np.random.default_rng(6)
    problems = [colliding(random_problem(rng, nt=2, nc=2, nv=6, mu=0.5)) for _ in range(rows)]
    arrays = {name: np.stack([getattr(p, name) for p in problems]) for name in ("M", "Jn", "Jt", "mu", "v")}
    present = np.ones((rows, 2), dtype=bool)
    present[1, 0] = False
    return routh.ImpactBatch(**arrays, present=present)


def batch(given, n, drawn=routh.sample, **options):
    """A batch: drawn on the GPU and on the CPU, and judged row by row."""
    device, host = drawn(given, n, device="cuda", **options), drawn(given, n, **options)
    agree(device, host)
    host = BatchOutcomes(**{field.name: getattr(device, field.name) for field in fields(BatchOutcomes)})
    np.testing.assert_array_equal(device.terminated, host.terminated)
    np.testing.assert_array_equal(device.modes, host.modes)
    np.testing.assert_allclose(device.kinetic_energy, host.kinetic_energy, rtol=1e-12)
    np.testing.assert_allclose(device.ambiguity, host.ambiguity, rtol=0, atol=1e-12)
    direction = np.eye(given.nv)[1]
    one, other = device.extreme(direction), host.extreme(direction)
    np.testing.assert_array_equal(one.index, other.index)
    np.testing.assert_allclose(one.v, other.v, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(device[0].v, device.v[0][:, : given[0].nv])


class Theirs:
    """An array of another library on the GPU."""

    def __init__(self, array):
        self.__cuda_array_interface__ = array.__cuda_array_interface__
        self.held = array


def from_the_gpu(given, n, **options):
    """A batch whose arrays are on the GPU: nothing large is copied, and outcomes are those of the host's."""
    there = {name: Theirs(send(getattr(given, name))) for name in ("M", "Jn", "Jt", "mu", "v", "restitution")}
    batch = routh.ImpactBatch(**there, present=given.present)
    assert np.array_equal(batch.status, given.status)
    one, other = routh.sample(batch, n, device="cuda", **options), routh.sample(given, n, **options)
    assert not {"M", "Jn", "Jt", "mu", "v"} & set(batch.__dict__)
    agree(one, other)
    np.testing.assert_array_equal(one.terminated, other.terminated)
    np.testing.assert_array_equal(routh.sample(batch, n, **options).v, other.v)  # copied, on the CPU
    np.testing.assert_array_equal(batch[[1, 0]].M, given.M[[1, 0]])
    assert (len(batch), batch.nv, batch.nc, batch.nt) == (len(given), given.nv, given.nc, given.nt)
    repr(batch)


def one_for_all(n):
    """Matrices and coefficients for all rows, without a copy; and what is wrong is said."""
    problem = get("rocking-block").problem
    v = problem.v * np.linspace(0.5, 1.0, n)[:, None]
    same = {name: getattr(problem, name) for name in ("M", "Jn", "Jt", "mu")}
    there = {name: Theirs(send(value)) for name, value in same.items()}
    batch = routh.ImpactBatch(**there, v=Theirs(send(v)), restitution=0.5)
    assert batch.bounces.all()
    host = routh.ImpactBatch(**same, v=v, restitution=0.5)
    agree(routh.sample(batch, 3, device="cuda"), routh.sample(host, 3))
    np.testing.assert_array_equal(batch.M, host.M)
    for name, value, wrong in (
        ("M", -same["M"], "M: row 0 is not positive definite"),
        ("mu", np.array([0.5, np.nan]), "row 0 holds a number that is not finite"),
        ("M", 1e-70 * same["M"], "M: row 0 has a tiny diagonal"),
        ("Jn", same["Jn"][:, :2], "wanted"),
        ("Jn", same["Jn"].astype(np.int64), "Jn: got int64"),
    ):
        with pytest.raises(ValueError, match=wrong):
            routh.ImpactBatch(**{**there, name: Theirs(send(value))}, v=Theirs(send(v)))


def left_by_the_quick_kernel(problem, n):
    """How many of n samples need rates that are not in the table; all must be as the CPU's."""
    draw, rows = ByEvents(seed=3).draws(n), make_rows([problem])
    patterns = first_patterns(rows, draw)
    assert patterns.short
    outputs = make_gpu_outputs((1, n), problem.nv, problem.nc, 2, elastic=False)
    launcher = PlaneSampler(draw, problem.nc, patterns, ())
    launcher.launch(*send((rows, np.ones(1, bool))), outputs, 0, 0, n)
    host = routh.sample(problem, n, seed=3)
    np.testing.assert_array_equal(fetch(outputs.v)[0], host.v)
    np.testing.assert_array_equal(fetch(outputs.events)[0], host.events)
    return int(fetch(launcher.listed.counts)[0])


def copies(bytes_each):
    """Arrays of about so many bytes to the GPU and back, from several threads at once: whole."""
    rng = np.random.default_rng(0)
    given = [rng.normal(size=(bytes_each // 24 + k, 3)) for k in range(6)]
    with ThreadPoolExecutor(3) as pool:
        for array, again in zip(given, pool.map(lambda array: fetch(send(array)), given), strict=True):
            np.testing.assert_array_equal(array, again)


def all_approach(nc):
    """A body in space with so many contacts, all of which approach."""
    problem = random_problem(np.random.default_rng(nc), nt=2, nc=nc, nv=3 * nc, mu=0.5)
    to_all = -np.linalg.pinv(problem.Jn) @ np.ones(nc)
    return problem.replace(v=to_all + 0.1 * problem.v)


def all_as_ptx():
    """Every GPU kernel of the process, as it was launched, in the language of NVIDIA's GPUs."""
    assert GpuKernel.all
    for kernel in GpuKernel.all:
        for kinds, threads in kernel.launched:
            text = kernel.ptx(kinds, 90, threads)
            assert ".visible .entry entry" in text
            assert "fma.rn.f64" not in text  # else samples would not have the CPU's bits


def few():
    """Some seconds in the simulator."""
    assert 0 < left_by_the_quick_kernel(get("rocking-block").problem, 24) < 12
    block = get("rocking-block").problem
    single(block, 6, seed=3)
    single(block.replace(restitution=0.5), 3, seed=3)
    batch(mixed_batch(), 2, seed=1)
    spatial = random_problem(np.random.default_rng(2), nt=2, nc=2, nv=6, mu=0.5)
    single(spatial, 2, seed=1)
    single(all_approach(5), 2, rates="uniform", seed=1)
    batch(spatial_batch(), 2, seed=1)
    single(spatial.replace(restitution=0.5), 1, seed=1, friction="polyhedral", facets=4)
    batch(spatial_batch(), 1, routh.sampling.sample_by_steps, step=[[0.5, 0.7]] * 3, row=2)
    from_the_gpu(mixed_batch(), 2, seed=1)
    one_for_all(5)
    batch(mixed_batch()[[0, 1, 3]], 1, routh.sampling.sample_by_steps, step=0.3)
