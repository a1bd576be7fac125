"""Where and by how much D19's own program differs from the complementarity problem and Coulomb's law.

python benchmarks/constraints_methods.py
"""

from __future__ import annotations

import argparse
import math

import numpy as np

from routh import systems
from routh.constraints import Bilateral, Compliance, ConstrainedSystem, Unilateral, solve
from routh.reproduce.d19_program import paper_forces, solve_paper
from routh.sim.step_through import constraint_forces


def random_mass(rng: np.random.Generator, nv: int) -> np.ndarray:
    R = rng.normal(size=(nv, nv))
    return R @ R.T + 0.1 * np.eye(nv)


def bilateral() -> None:
    print(
        "bilateral rows: largest difference of the forces over the largest force, 200 random systems a line"
    )
    print(f"{'K (N/m)':>8} {'median':>9} {'largest':>9}")
    for K in (1e0, 1e2, 1e4, 1e6, 1e9, 1e12):
        rng, gaps = np.random.default_rng(0), []
        for _ in range(200):
            row = Bilateral(
                rng.normal(size=(3, 5)), 0.01 * rng.normal(size=3), stiffness=K, bias=rng.normal(size=3)
            )
            system = ConstrainedSystem(
                random_mass(rng, 5), rng.normal(size=5), rng.normal(size=5), [row], 0.01
            )
            one, two = solve(system).forces[0], solve_paper(system).forces[0]
            gaps.append(np.abs(one - two).max() / np.abs(one).max())
        print(f"{K:8.0e} {np.median(gaps):9.1e} {np.max(gaps):9.1e}")


def unilateral() -> None:
    print("\nunilateral rows in contact: share of random systems whose forces differ by more than 0.1 %,")
    print("and the worst difference over the largest force")
    print(f"{'rows':>5} {'systems':>8} {'share':>7} {'worst':>7}")
    for n in (1, 2, 3, 5, 8):
        rng, gaps = np.random.default_rng(0), []
        for _ in range(400):
            row = Unilateral(
                rng.normal(size=(n, 8)),
                -0.01 * rng.random(n),
                stiffness=10.0 ** rng.uniform(2, 6, n),
                damping=1.0,
            )
            system = ConstrainedSystem(
                random_mass(rng, 8), rng.normal(size=8), rng.normal(size=8), [row], 0.01
            )
            one, two = solve(system).forces[0], solve_paper(system).forces[0]
            if one.max() > 0.0:
                gaps.append(np.abs(one - two).max() / one.max())
        share = np.mean(~(np.array(gaps) <= 1e-3))
        print(f"{n:5} {len(gaps):8} {100 * share:6.1f}% {np.max(gaps):7.2f}")


def sliding() -> None:
    angle = math.radians(15)
    up, down = (
        np.array([math.sin(angle), 0, math.cos(angle)]),
        np.array([math.cos(angle), 0, -math.sin(angle)]),
    )
    print("\nblock on the incline after 0.1 s, by the tangential damper B_r")
    heads = ["mu", "B_r", "method", "slid (m)", "Coulomb (m)", "rose (m)", "failed"]
    print("{:>6} {:>7} {:>7} {:>10} {:>11} {:>9} {:>6}".format(*heads))
    for mu in (0.125, 0.25, 0.375):
        a = max(9.81 * (math.sin(angle) - mu * math.cos(angle)), 0.0)
        motion = systems.get("block-on-incline", mu=mu)
        for damper in (10.0, 1e3, 1e5, 1e8):
            for method, rule in (("constraint", constraint_forces), ("paper", paper_forces)):
                soft = Compliance(motion.compliance.stiffness, 1.0, tangential_damping=damper)
                run = motion.run(rule=rule, duration=0.1, compliance=soft)
                moved = run.q[:, :3] - run.q[0, :3]
                row = (
                    mu,
                    damper,
                    method,
                    (moved @ down)[-1],
                    a * 0.1 * 0.11 / 2,
                    np.max(moved @ up),
                    len(run.failures()),
                )
                print("{:6} {:7.0e} {:>7} {:10.3e} {:11.3e} {:9.1e} {:>3}/10".format(*row), flush=True)


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    bilateral()
    unilateral()
    sliding()
