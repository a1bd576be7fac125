"""Compiled forces of a contact mode against the readable ones, and slow slip that is stiff."""

import numpy as np
import pytest

import routh
from routh.kernels.motion.forces import At, Held, find_mode_forces, make_found
from routh.models.spatial import PlaneContact, SpatialModel, box
from routh.sim.contact_forces import Hold, contact_problem, forces_of
from routh.sim.mechanism import correction
from routh.sim.mode_motion import NO_SLIP
from routh.sim.verify import verify


class Said:
    """What a model would say at a state."""

    def __init__(self, rng, nc, width, nv, *, dependent=False):
        self.J = rng.normal(size=(nc, width, nv))
        if dependent:
            self.J[-1] = self.J[0]
        root = rng.normal(size=(nv, nv))
        self.inverse_mass = root @ root.T + np.eye(nv)
        self.free, self.v = rng.normal(size=(2, nv))
        self.bias = rng.normal(size=(nc, width))
        if dependent:
            self.bias[-1] = self.bias[0]


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_compiled_forces_are_the_readable_ones(width, seed):
    rng = np.random.default_rng(seed)
    said = Said(rng, 4, width, 12, dependent=seed >= 4)
    mu = rng.uniform(0.1, 0.9, 4)
    chosen = [0, 1, 3] if seed < 4 else [0, 3]  # redundant: both are the same contact
    mode = []
    for k, c in enumerate(chosen):
        slip = said.J[c, 1:] @ said.v
        sticks = (k + seed) % 2 == 0 or seed >= 4
        mode.append(Hold(c) if sticks else Hold(c, tuple(slip / np.linalg.norm(slip))))
    problem = contact_problem(said, chosen, mu, np.zeros((len(chosen), width - 1)))
    wanted = forces_of(problem, tuple(mode))
    ways = np.array([hold.direction or (0.0,) * (width - 1) for hold in mode])
    held = Held(
        np.array(chosen),
        np.array([hold.sticks for hold in mode]),
        mu[chosen],
        ways,
        np.zeros(len(mode), dtype=bool),
    )
    found = make_found(len(mode), width, 12)
    known = find_mode_forces(
        held, At(said.J, said.inverse_mass, said.free, said.bias, said.v), NO_SLIP, found
    )
    if seed >= 4 and not known:  # the smallest forces leave the cones: the readable way goes on
        assert wanted.redundant
        return
    np.testing.assert_allclose(found.force, wanted.force, rtol=1e-9, atol=1e-9 * np.abs(wanted.force).max())
    assert abs(float(found.residual[0]) - wanted.residual) < 1e-9
    rows = said.J[chosen].reshape(-1, 12)
    exact = said.free + said.inverse_mass @ (rows.T @ wanted.force.ravel())
    np.testing.assert_allclose(found.acceleration, exact, rtol=1e-9, atol=1e-9)


def test_corrections_are_the_smallest_ones():
    rng = np.random.default_rng(0)
    root, rows = rng.normal(size=(8, 8)), rng.normal(size=(5, 8))
    rows[4] = rows[0] + rows[1]
    inverse_mass, values = root @ root.T + np.eye(8), rows @ rng.normal(size=8)
    found = correction(inverse_mass, rows, values)
    np.testing.assert_allclose(rows @ found, values, atol=1e-10)
    response = inverse_mass @ rows.T
    np.testing.assert_allclose(found, response @ np.linalg.pinv(rows @ response) @ values, atol=1e-9)


class Pushed(SpatialModel):
    """A box on three feet, pushed at its centre of mass by a force u (3,) N."""

    def bias(self, q, v, u=None):
        return super().bias(q, v) - np.concatenate([np.zeros(3) if u is None else u, np.zeros(3)])


def test_slip_that_hardly_moves_is_followed_by_long_steps():
    """Friction all but holds the box against a push that turns: slip is slow, and its direction is stiff."""
    mu, weight = 0.3, 2.0 * 9.81
    feet = [(0.2, 0.0, -0.02), (-0.1, 0.15, -0.02), (-0.1, -0.15, -0.02)]
    contacts = [PlaneContact(name, "box", point=foot, mu=mu) for name, foot in zip("ABC", feet, strict=True)]
    model = Pushed([box("box", (0.4, 0.3, 0.04), mass=2.0)], contacts)
    state = routh.State([0.0, 0.0, 0.02, 1.0, 0.0, 0.0, 0.0], [2e-6, 0.0, 0.0, 0.0, 0.0, 0.0])

    def push(t, q, v):
        return 1.0001 * mu * weight * np.array([np.cos(2.0 * t), np.sin(2.0 * t), 0.0])

    motion = routh.simulate(model, state, duration=0.002, control=push)
    assert motion.ok, motion.events[-1]
    assert verify(model, motion, control=push).ok
    slip = np.linalg.norm(motion.v[:, :2], axis=1)
    assert slip.max() < 1e-4
    assert len(motion) < 1500  # 1.5 times the rate of turning would be a step of 1e-6 s: 20000 samples
