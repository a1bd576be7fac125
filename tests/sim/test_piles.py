"""Many contacts at once: piles of discs, and the screening of their contact modes."""

from itertools import product

import numpy as np
import pytest

import routh
from routh.models.planar import DiscContact, HalfPlane, PlanarModel, PlaneContact, disc
from routh.sim import verify
from routh.sim.contact_forces import ContactProblem, forces_of, is_valid
from routh.sim.modes import _choices, likely


def pyramid(rows, mu=0.3):
    """Discs of 1 kg in a pyramid, every pair a possible contact; the top one falls at 1 m/s."""
    places = [(k + 0.5 * row, row) for row in range(rows) for k in range(rows - row)]
    bodies = [disc(f"disc-{i}", 0.5, mass=1.0) for i in range(len(places))]
    floor = HalfPlane("floor")
    contacts = [PlaneContact(f"{b.name}/floor", b.name, floor, radius=0.5, mu=mu) for b in bodies]
    contacts += [
        DiscContact(f"{a.name}/{b.name}", a.name, b.name, mu=mu)
        for i, a in enumerate(bodies)
        for b in bodies[i + 1 :]
    ]
    q = np.array([[x, 0.5 + row * np.sqrt(0.75), 0.0] for x, row in places])
    v = np.array([[0.0, -1.0 if row == rows - 1 else 0.0, 0.0] for _, row in places])
    return PlanarModel(bodies, contacts), routh.State(q.ravel(), v.ravel())


@pytest.mark.parametrize("seed", [0, 1])
def test_simulator_and_check_agree_on_a_pyramid(seed):
    """Contacts that are nearly closed, nearly at rest and nearly stuck count alike for both."""
    model, state = pyramid(3)
    motion = routh.simulate(model, state, duration=0.03, seed=seed)
    verdict = verify(model, motion)
    assert motion.ok
    assert verdict.ok, str(verdict)
    assert sum(event.kind == "impact" for event in motion.events) > 5


def random_problem(rng):
    """The acceleration problem of up to four contacts: some repeated, slipping or without friction."""
    width, m, nv = int(rng.integers(2, 4)), int(rng.integers(1, 5)), int(rng.integers(2, 8))
    root = rng.normal(size=(nv, nv))
    J = rng.normal(size=(m, width, nv))
    if m > 1 and rng.random() < 0.3:
        J[1] = J[0]
    flat = J.reshape(m * width, nv)
    G = flat @ np.linalg.inv(root @ root.T + 0.1 * np.eye(nv)) @ flat.T
    free = (flat @ rng.normal(size=nv)).reshape(m, width)
    slip = rng.normal(size=(m, width - 1))
    slip *= (rng.random(m) < 0.4)[:, None] / np.linalg.norm(slip, axis=1, keepdims=True)
    unit = np.sqrt(G.diagonal()[::width])
    size = float(np.abs(free / unit[:, None]).max())
    mu = rng.choice([0.0, 0.3, 1.0, 5.0], m)
    return ContactProblem(tuple(range(m)), G, free, mu, slip, size / unit, size * unit)


def test_screening_loses_no_contact_mode():
    rng, valid = np.random.default_rng(1), 0
    for _ in range(60):
        problem = random_problem(rng)
        choices = [list(_choices(problem, i)) for i in range(len(problem.contacts))]
        every = [tuple(hold for hold in one if hold is not None) for one in product(*choices)]
        right = {mode for mode in every if is_valid(problem, forces_of(problem, mode))}
        assert right <= set(likely(problem, choices))
        valid += len(right)
    assert valid > 100
