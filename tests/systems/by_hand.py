"""Impacts and motions worked out by cases, without the library's solvers."""

import numpy as np
from scipy.integrate import solve_ivp


def single_impact(problem, contact, v):
    """Inelastic impact of one planar contact by cases (stick, else slide), HP23 (31)."""
    J, mu = problem.J[contact], problem.mu[contact]
    response = problem.solve_mass(J.T)  # (nv, 2)
    W = J @ response
    impulse = -np.linalg.solve(W, J @ v)
    if abs(impulse[1]) > mu * impulse[0]:
        for sign in (1.0, -1.0):
            normal = -(J[0] @ v) / (W[0, 0] + sign * mu * W[0, 1])
            impulse = np.array([normal, sign * mu * normal])
            slip = J[1] @ (v + response @ impulse)
            if normal > 0.0 and sign * slip <= 0.0:
                break
        else:
            raise AssertionError("no sliding solution")
    return v + response @ impulse


def in_sequence(problem, order):
    v = problem.v
    for turn in range(60):
        contact = problem.index(order[turn % len(order)])
        if problem.Jn[contact] @ v < -1e-12:
            v = single_impact(problem, contact, v)
    assert np.all(problem.Jn @ v >= -1e-12)
    return v


def pivot(model, state, contact, until, *, t_max=10.0):
    """Move with one contact held (it neither slips nor lifts) until the gap ``until`` closes.

    Accelerations and contact forces come from the model's own matrices: M a + bias = J^T f and
    J a + dJ/dt v = 0. Returns the time, q, v, the path and the largest ratio of tangential to normal force.
    """
    nv = model.nv
    ratios = []

    def held(q, v):
        Jn, Jt = model.jacobians(q)
        J = np.stack([Jn[contact], Jt[contact, 0]])
        matrix = np.block([[model.mass(q), -J.T], [J, np.zeros((2, 2))]])
        right = np.concatenate([-model.bias(q, v), -model.jacobian_bias(q, v)[contact]])
        solution = np.linalg.solve(matrix, right)
        return solution[:nv], solution[nv:]

    def rate(_, y):
        return np.concatenate([y[nv:], held(y[:nv], y[nv:])[0]])

    def closed(_, y):
        return model.gaps(y[:nv])[until]

    closed.terminal, closed.direction = True, -1
    start = np.concatenate([state.q, state.v])
    run = solve_ivp(rate, (0.0, t_max), start, events=closed, rtol=1e-10, atol=1e-12, dense_output=True)
    assert run.t_events[0].size, "the contact did not close"
    for t in np.linspace(0.0, run.t[-1], 50):
        y = run.sol(t)
        force = held(y[:nv], y[nv:])[1]
        assert force[0] > 0.0
        ratios.append(abs(force[1]) / force[0])
    end = run.y_events[0][0]
    return run.t_events[0][0], end[:nv], end[nv:], run.sol, max(ratios)
