"""The methods of JW17's Table 1 against the solution."""

import numpy as np
import pytest

from routh import two_body
from routh.reproduce.base import Settings
from routh.reproduce.jw17 import independent
from routh.reproduce.jw17_methods import euler, general_solver
from routh.two_body import systems as data

ICOSAHEDRON = (data.ICOSAHEDRON_W, data.ICOSAHEDRON_V, 0.8, 0.95)
BOWLING = (data.BOWLING_W, data.BOWLING_V, 0.7, 0.7)


def test_plain_integration_takes_as_many_steps_as_table_1_says():
    assert euler(*ICOSAHEDRON, 0.00095, near=None).iterations == 107
    assert euler(*BOWLING, 0.001, near=None).iterations == 2586


def test_the_methods_converge_to_the_solution():
    truth = two_body.impact(*ICOSAHEDRON).impulse
    errors = [np.linalg.norm(euler(*ICOSAHEDRON, h, 1e-4).impulse - truth) for h in (4e-3, 1e-3, 1e-5)]
    assert errors[2] < errors[1] < errors[0] < 5e-3
    assert errors[2] < 1e-5
    for run in (euler(*ICOSAHEDRON, 0.00095, near=None), euler(*ICOSAHEDRON, None)):
        assert np.linalg.norm(run.impulse - truth) < 2e-3


@pytest.mark.parametrize("mu", [0.1, 0.8])
def test_a_start_at_rest_ends_in_closed_form(mu):
    """Sticking (0.8) or slip that resumes along the centrifugal direction (0.1): both are straight."""
    v = [0.0, 0.0, -1.0]
    run = euler(data.ICOSAHEDRON_W, v, mu, 0.5, 1e-3)
    assert run.iterations == 0
    np.testing.assert_allclose(
        run.impulse, two_body.impact(data.ICOSAHEDRON_W, v, mu, 0.5).impulse, rtol=1e-9
    )


def test_algorithm_1_takes_as_many_steps_on_the_pin_as_table_1_says():
    assert euler(*BOWLING, 0.002).iterations == 83
    assert euler(*BOWLING, None).iterations == 29


@pytest.mark.parametrize("case", [ICOSAHEDRON, BOWLING])
def test_a_general_solver_with_events_gives_the_solution(case):
    truth = two_body.impact(*case).impulse
    for method in ("LSODA", "DOP853"):
        np.testing.assert_allclose(general_solver(*case, method).impulse, truth, atol=1e-6)


def test_the_normal_velocity_follows_from_what_is_printed_without_the_impulse():
    rows = {row.quantity: row for row in independent(Settings(quick=True)).rows}
    assert rows["largest misfit of W (1/kg)"].ours < 2e-5
    assert rows["v_z (m/s), fitted to (15) otherwise"].ours == pytest.approx(-0.07717, abs=1e-5)
    assert rows["I_z (N s)"].ours == 0.1012
