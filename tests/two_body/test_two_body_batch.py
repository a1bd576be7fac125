"""The compiled batch against the interpreted functions and against a precise integration."""

import os
import subprocess
import sys
import types

import numpy as np
import pytest

from precise_impacts import precise
from problems import impacts
from routh import Status, two_body
from routh.base.status import RouthError
from routh.two_body import _events, _solve

N = 3000


@pytest.fixture(scope="module")
def solved():
    w, v, mu, e, kind = impacts(7, N)
    return w, v, mu, e, kind, two_body.batch(w, v, mu, e)


def test_every_impact_has_an_answer(solved):
    w, v, mu, _, _, many = solved
    assert np.all(many.status == int(Status.SOLVED))
    assert np.all(np.isfinite(many.impulse))
    assert many.residual.max() < 1e-11
    assert np.all(np.hypot(many.impulse[:, 0], many.impulse[:, 1]) <= mu * many.impulse[:, 2] * (1 + 1e-9))
    size = np.abs(v).max(axis=1) + np.abs(np.einsum("nij,nj->ni", w, many.impulse)).max(axis=1)
    assert np.all(many.contact_velocity[:, 2] >= -1e-9 * size)


def test_stronge_never_creates_energy(solved):
    w, v, _, e, _, many = solved
    before = 0.5 * np.einsum("ni,ni->n", v, np.linalg.solve(w, v[:, :, None])[:, :, 0])
    assert np.all(many.energy.lost >= -1e-12 * before)
    # friction's work is the small difference of terms of this size
    force = np.abs(many.impulse)
    size = np.einsum("ni,nij,nj->n", force, np.abs(w), force) + np.einsum("ni,ni->n", force, np.abs(v))
    assert np.all(many.energy.friction >= -1e-11 * before - 1e-14 * size)
    once = np.array(["k" not in many.events(i) for i in range(N)])
    np.testing.assert_allclose(
        many.energy.returned[once], (e**2 * many.energy.stored)[once], rtol=1e-9, atol=1e-14
    )


def test_equal_to_the_interpreted_functions(solved):
    w, v, mu, e, _, many = solved
    for i in range(0, N, 60):
        one = two_body.impact(w[i], v[i], mu[i], e[i])
        assert np.linalg.norm(one.impulse - many.impulse[i]) <= 1e-10 * np.linalg.norm(one.impulse)
        assert one.events == many.events(i)


def test_within_1e9_of_a_precise_integration(solved):
    w, v, mu, e, _, many = solved
    rows = np.arange(0, N, 20)
    expected = precise(w[rows], v[rows], mu[rows], e[rows])
    off = np.linalg.norm(many.impulse[rows] - expected, axis=1) / np.linalg.norm(expected, axis=1)
    assert off.max() < 1e-9


def compared(w, v, mu, e):
    """Largest relative error of the impulses against the precise integration."""
    many = two_body.batch(w, v, mu, e)
    assert np.all(many.status == int(Status.SOLVED))
    expected = precise(w, v, mu, e)
    return (np.linalg.norm(many.impulse - expected, axis=1) / np.linalg.norm(expected, axis=1)).max()


def test_sliding_that_neither_grows_nor_decays():
    """At mu = |B^-1 d| the growth rate of the rest direction is zero; beside it as small as you like."""
    w, v, _, e, kind = impacts(31, 24)
    w, v, e = w[kind == 0], v[kind == 0], e[kind == 0]
    need = np.linalg.norm(np.linalg.solve(w[:, :2, :2], w[:, :2, 2, None])[:, :, 0], axis=1)
    for off in (-1e-3, -1e-7, -1e-13, 0.0, 1e-13, 1e-7, 1e-3):
        assert compared(w, v, need * (1.0 + off), e) < 1e-9


def test_where_a_series_of_the_energy_would_divide_by_zero():
    """Along the centrifugal direction g = mu s_perp.B s_perp makes 2 g + f' vanish."""
    w, v, _, e, kind = impacts(32, 40)
    tried = 0
    for i in np.flatnonzero(kind == 0):
        low, high = 1e-6, float(np.linalg.norm(np.linalg.solve(w[i, :2, :2], w[i, :2, 2])))
        for _ in range(60):
            mu = 0.5 * (low + high)
            con = _solve.make_contact(w[i], 1.0, mu, 0.5, 0, 1e-3)
            _, g, slope = _events.direction_rates(con, *_events.centrifugal(con))
            low, high = (mu, high) if 2.0 * g + slope > 0.0 else (low, mu)
        if low > 2e-6:
            near = low * (1.0 + np.array([0.0, 1e-13, 1e-9, 1e-5, 1e-3, -1e-3]))
            n = len(near)
            case = (np.repeat(w[i : i + 1], n, 0), np.repeat(v[i : i + 1], n, 0), near, np.repeat(e[i], n))
            assert compared(*case) < 1e-9
            tried += 1
    assert tried > 10


@pytest.mark.parametrize("hypothesis", ["energetic", "poisson", "newton"])
def test_a_grazing_impact_takes_few_segments(hypothesis):
    """v_z rises much more slowly at first than along the direction ahead: no segment may end too soon."""
    w = [[4.4378127, 2.0570724, -1.5265069], [2.0570724, 1.0689665, -0.5645209], [-1.5265069, -0.5645209, 1]]
    many = two_body.batch(w, [0.221852, -1.0, -9.3993e-6], 5.71565, [0.0, 1e-6, 0.5], hypothesis=hypothesis)
    assert np.all(many.status == int(Status.SOLVED))
    assert many.segments.max() < 10


@pytest.mark.parametrize("hypothesis", ["poisson", "newton"])
def test_the_other_hypotheses(hypothesis):
    w, v, mu, e, _ = impacts(9, 1000)
    many = two_body.batch(w, v, mu, e, hypothesis=hypothesis)
    assert np.all(many.status == int(Status.SOLVED))
    if hypothesis == "newton":
        np.testing.assert_allclose(many.contact_velocity[:, 2], -e * v[:, 2], rtol=1e-7, atol=1e-8)
    else:
        squeezed = two_body.batch(w, v, mu, 0.0).impulse[:, 2]
        once = np.array(["k" not in many.events(i) for i in range(1000)])
        np.testing.assert_allclose(many.impulse[once, 2], ((1 + e) * squeezed)[once], rtol=1e-9)
    assert np.all(np.isfinite(many.energy.created))


def test_one_for_all_and_thread_counts():
    w, v, mu, e, _ = impacts(1, 200)
    single = two_body.batch(w[0], v, 0.5, 0.3)
    assert len(single) == 200
    again = two_body.batch(np.repeat(w[:1], 200, 0), v, np.full(200, 0.5), np.full(200, 0.3), threads=1)
    np.testing.assert_array_equal(single.impulse, again.impulse)
    assert len(two_body.batch(w[:0], v[:0], mu[:0], e[:0])) == 0


def test_separating_and_bad_rows():
    w, v, mu, e, _ = impacts(1, 4)
    v[1, 2] = 0.5
    many = two_body.batch(w, v, mu, e)
    assert list(many.status) == [0, int(Status.NO_IMPACT), 0, 0]
    np.testing.assert_array_equal(many.impulse[1], 0.0)
    with pytest.raises(ValueError, match="n: got W 4, v 4, mu 3, e 4; wanted one number of impacts"):
        two_body.batch(w, v, mu[:3], e)
    with pytest.raises(ValueError, match="mu: got -1"):
        two_body.batch(w, v, -1.0, e)
    with pytest.raises(ValueError, match="e: got 2"):
        two_body.batch(w, v, mu, 2.0)
    with pytest.raises(ValueError, match="device: got 'tpu'"):
        two_body.batch(w, v, mu, e, device="tpu")
    with pytest.raises(ValueError, match="threads: got 2 with device 'cuda'"):
        two_body.batch(w, v, mu, e, device="cuda", threads=2)


def test_continuous_in_friction_and_direction():
    """Across the switches between series, closed forms and stick, small changes stay small."""
    w = impacts(21, 1)[0]
    n = 4001
    angle = np.linspace(0.0, 2.0 * np.pi, n)
    slide = np.stack([np.cos(angle), np.sin(angle), np.full(n, -1.0)], axis=1)
    for friction in (0.1, 0.8, 3.0):
        got = two_body.batch(w[0] / w[0, 2, 2], slide, friction, 0.6)
        jumps = np.linalg.norm(np.diff(got.impulse, axis=0), axis=1)
        # no jump stands out from the changes beside it
        beside = np.maximum(np.roll(jumps, 2), np.roll(jumps, -2))
        assert np.all(jumps <= 20.0 * beside + 1e-6)


@pytest.mark.skipif(os.path.exists("/dev/nvidia0"), reason="there is a GPU")
def test_cuda_without_a_gpu_says_so():
    w, v, mu, e, _ = impacts(1, 2)
    with pytest.raises(RouthError, match="wanted a machine with an NVIDIA GPU"):
        two_body.batch(w, v, mu, e, device="cuda")


def test_the_kernel_uses_nothing_that_cuda_lacks():
    """Functions of math, but none of NumPy's on scalars."""
    from routh.two_body import _arc, _events, _kernel, _solve

    rooms = (_arc, _events, _events, _events, _solve)
    functions = [f for room in rooms for f in vars(room).values() if isinstance(f, types.FunctionType)]
    for function in [*functions, _kernel.solve_one]:
        assert "np" not in function.__code__.co_names, function.__name__


def test_cuda_kernel_in_the_simulator():
    """The same scalar functions as a CUDA kernel, run by the simulator in a process of its own."""
    code = (
        "import numpy as np\n"
        "from problems import impacts\n"
        "from routh import two_body\n"
        "w, v, mu, e, _ = impacts(3, 5)\n"
        "got = two_body.batch(w, v, mu, e, device='cuda')\n"
        "for i in range(5):\n"
        "    one = two_body.impact(w[i], v[i], mu[i], e[i])\n"
        "    np.testing.assert_allclose(got.impulse[i], one.impulse, rtol=1e-12)\n"
        "    assert got.events(i) == one.events\n"
    )
    environment = {**os.environ, "ROUTH_SIMULATE_GPU": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
