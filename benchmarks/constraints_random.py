"""Constraint steps of random mechanisms, from cold starts: how many are solved, and are they right.

python benchmarks/constraints_random.py --count 10000

Bilateral, unilateral and contact constraints on 1 to 8 velocities, mass ratios up to 1e6, stiffness 0 or
1e-2 to 1e15 N/m, damping up to 1e12 N s/m, steps of 1e-8 to 1 s; rows that repeat others, with the same or
with contradicting deformations; friction 0 to 1. A step is wrong where its status is not SOLVED, or where a
residual, recomputed here from the returned forces and the data alone, is above 1e-9: for each row the change
of its own force that would satisfy its law with the other forces held, as a share of the largest force.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from measure import command_line, counted
from routh.constraints import Bilateral, ConstrainedSystem, Contact, Unilateral, solve
from routh.constraints.system import TANGENTIAL_DAMPER

Array = np.ndarray


def coefficients(rng: np.random.Generator, n: int, top: float) -> Array:
    """From 1e-2 to 10^top, some exactly zero and some at the top."""
    values = 10.0 ** rng.uniform(-2, top, n)
    values[rng.random(n) < 0.15], values[rng.random(n) < 0.1] = 0.0, 10.0**top
    return values


def rows(rng: np.random.Generator, n: int, nv: int) -> Array:
    """Of random rank, often with a row that stands twice."""
    rank = int(rng.integers(1, nv + 1))
    G = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, nv))
    if n > 1 and rng.random() < 0.5:
        G[-1] = G[0]
    return G


def random_system(rng: np.random.Generator) -> ConstrainedSystem:
    """One step of a random mechanism."""
    nv, size = int(rng.integers(1, 9)), 10.0 ** rng.uniform(-8, 0)
    half, spread = rng.normal(size=(nv, nv)), 10.0 ** rng.uniform(-1.5, 1.5, nv)  # of roots: masses 1e6 apart
    M = (half @ half.T + 0.1 * np.eye(nv)) * np.outer(spread, spread)
    items: list[Bilateral | Unilateral | Contact] = []
    nt = int(rng.integers(1, 3))
    for make in rng.choice([Bilateral, Unilateral, Contact], int(rng.integers(1, 4))):
        n = int(rng.integers(1, 6))
        strength = {"stiffness": coefficients(rng, n, 15), "damping": coefficients(rng, n, 12)}
        if make is Contact:
            gap = -np.abs(rng.normal(size=n)) * min(size, 1e-2)
            Jt = rows(rng, n * nt, nv).reshape(n, nt, nv)
            damper = None if rng.random() < 0.3 else coefficients(rng, n, 12)
            friction = {"mu": rng.choice((0.0, 0.3, 1.0), n), "tangential_damping": damper}
            items.append(Contact(rows(rng, n, nv), Jt, gap, **friction, **strength))
        else:
            phi = size * rng.normal(size=n)
            items.append(make(rows(rng, n, nv), phi, bias=rng.normal(size=n), **strength))
    dt = 10.0 ** rng.uniform(-8, 0)
    return ConstrainedSystem(M, rng.normal(size=nv), rng.normal(size=nv), items, dt)


def residual(system: ConstrainedSystem, forces: tuple[Array, ...]) -> float:
    """The largest scaled residual of any row, from forces and data."""
    h, inverse = system.dt, np.linalg.inv(system.M)
    push, blocks = np.zeros(system.nv), []
    for item, force in zip(system.constraints, forces, strict=True):
        if isinstance(item, Contact):
            G = np.concatenate([item.Jn[:, None], item.Jt.reshape(len(item), item.nt, -1)], axis=1)
            damper = np.full(len(item), TANGENTIAL_DAMPER / h)
            damper = damper if item.tangential_damping is None else item.tangential_damping
            K = np.concatenate([item.stiffness[:, None], np.zeros((len(item), item.nt))], axis=1)
            B = np.column_stack([item.damping, *[damper] * item.nt])
            phi = np.column_stack([item.phi, item.deformation])
        else:
            G, K, B, phi, force = (
                x[:, None] for x in (item.G, item.stiffness, item.damping, item.phi, force)
            )
        blocks.append((item, G, K, B, phi, item.bias.reshape(phi.shape), force))
        push = push + np.einsum("ij,ijk->k", force, G)
    free = system.v + h * (inverse @ system.f)
    v = free + h * (inverse @ push)
    scale, worst = max(np.abs(force).max(initial=0.0) for force in forces), []
    for item, G, K, B, phi, gamma, force in blocks:
        X = h * h * K + h * B
        stiff = 1.0 + X * np.einsum("ija,ab,ijb->ij", G, inverse, G)
        speed = np.abs(G) @ np.abs(free) + h * np.abs(gamma)
        scale = max(scale, ((K * np.abs(phi) + X / h * speed) / stiff).max(initial=0.0))
        law = -K * phi - X / h * (G @ v + h * gamma)
        moved = force - (force - law) / stiff
        if isinstance(item, Bilateral):
            worst.append(force - moved)
        else:
            worst.append((force - np.maximum(moved, 0.0))[:, :1])
        if isinstance(item, Contact):
            rub = force[:, 1:] - (force - law)[:, 1:] / stiff[:, 1:].max(axis=1, keepdims=True)
            long = np.linalg.norm(rub, axis=1)
            limit = item.mu * np.maximum(force[:, 0], 0.0)
            held = rub * (np.minimum(long, limit) / np.where(long > 0.0, long, 1.0))[:, None]
            worst.append(force[:, 1:] - held)
    return max(float(np.abs(part).max(initial=0.0)) for part in worst) / (scale or 1.0)


def wrong(count: int, seed: int = 0) -> tuple[list[int], Counter[str], float]:
    """Numbers of the systems that are not solved rightly, how often each solver was it, largest residual."""
    bad, solvers, largest = [], Counter[str](), 0.0
    for k in range(count):
        system = random_system(np.random.default_rng([seed, k]))
        found = solve(system)
        left = residual(system, found.forces)
        solvers[found.solver] += 1
        if found.status.ok and left < 1e-9:
            largest = max(largest, left)
        else:
            bad.append(k)
    return bad, solvers, largest


def main() -> None:
    """Print the counts."""
    parser = command_line(__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    bad, solvers, largest = wrong(options.count, options.seed)
    print(
        f"{options.count} systems, {len(bad)} wrong {bad[:20]}; largest residual of the others {largest:.1e}"
    )
    print(counted(solvers))


if __name__ == "__main__":
    main()
