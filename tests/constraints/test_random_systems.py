"""A fixed-seed share of benchmarks/constraints_random.py, which checks forces by a residual of its own."""

import numpy as np

import constraints_random
from routh.constraints import solve


def test_random_steps_are_solved_and_right():
    bad, solvers, largest = constraints_random.wrong(250)
    assert bad == []
    assert largest < 1e-9
    assert solvers["newton"] > 50
    assert solvers["active-set"] > 50


def test_the_residual_sees_forces_that_are_not_right():
    """A force that is off by a thousandth of the largest shows, but where another would do as well."""
    seen = 0
    for k in range(20):
        system = constraints_random.random_system(np.random.default_rng([0, k]))
        forces = [force.copy() for force in solve(system).forces]
        largest = max(np.abs(force).max() for force in forces)
        forces[0].flat[0] += 1e-3 * largest
        seen += constraints_random.residual(system, tuple(forces)) > 1e-9
    assert seen >= 18


def test_newton_leaves_its_circles():
    """Steps on which it goes round in circles from its usual start, and one contact with no usual way out."""
    for k in (0, 2, 5, 38, 43, 45, 62, 74, 81, 125, 168, 181, 317, 723):
        system = constraints_random.random_system(np.random.default_rng([0, k]))
        found = solve(system)
        assert found.status.ok
        assert found.solver == "newton"
        assert constraints_random.residual(system, found.forces) < 1e-9
