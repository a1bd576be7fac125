"""Where and by how much D19's own program differs from the complementarity problem and Coulomb's law.

python benchmarks/constraints_methods.py
"""

from __future__ import annotations

import math

import numpy as np

from measure import Table, command_line
from routh import systems
from routh.constraints import Bilateral, Compliance, ConstrainedSystem, Unilateral, solve
from routh.reproduce.d19_program import solve_paper
from routh.sim.time_stepping import constraint_forces


def random_mass(rng: np.random.Generator, nv: int) -> np.ndarray:
    R = rng.normal(size=(nv, nv))
    return R @ R.T + 0.1 * np.eye(nv)


def bilateral() -> None:
    print(
        "bilateral rows: largest difference of the forces over the largest force, 200 random systems a line"
    )
    table = Table({"K (N/m)": ".0e", "median": ".1e", "largest": ".1e"})
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
        table.row(K, np.median(gaps), np.max(gaps))


def unilateral() -> None:
    print("\nunilateral rows in contact: share of random systems whose forces differ by more than 0.1 %,")
    print("and the worst difference over the largest force")
    table = Table({"rows": "d", "systems": "d", "share": ".1%", "worst": ".2f"})
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
        table.row(n, len(gaps), np.mean(~(np.array(gaps) <= 1e-3)), np.max(gaps))


def sliding() -> None:
    angle = math.radians(15)
    up, down = (
        np.array([math.sin(angle), 0, math.cos(angle)]),
        np.array([math.cos(angle), 0, -math.sin(angle)]),
    )
    print("\nblock on the incline after 0.1 s, by the tangential damper B_r")
    columns = {
        "mu": "g",
        "B_r": ".0e",
        "method": "<10",
        "slid (m)": ".3e",
        "Coulomb (m)": ".3e",
        "rose (m)": ".1e",
    }
    table = Table({**columns, "failed of 10": "d"})
    for mu in (0.125, 0.25, 0.375):
        a = max(9.81 * (math.sin(angle) - mu * math.cos(angle)), 0.0)
        motion = systems.get("block-on-incline", mu=mu)
        for damper in (10.0, 1e3, 1e5, 1e8):
            for method, rule in (("constraint", constraint_forces), ("paper", solve_paper)):
                yields = {"tangential_damping": damper, "anticipate": False}
                soft = Compliance(motion.compliance.stiffness, 1.0, **yields)
                run = motion.run(rule=rule, duration=0.1, compliance=soft)
                moved = run.q[:, :3] - run.q[0, :3]
                slid, rose = (moved @ down)[-1], np.max(moved @ up)
                table.row(mu, damper, method, slid, a * 0.1 * 0.11 / 2, rose, len(run.failures()))


if __name__ == "__main__":
    command_line(__doc__).parse_args()
    bilateral()
    unilateral()
    sliding()
