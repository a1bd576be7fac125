"""HP23's guarantees on its own systems: Assumption 6, Theorem 9, and sentences refuted in fractions."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np

from routh import systems
from routh.exact.algebra import dot
from routh.exact.checker_parts import CheckedPath
from routh.exact.replay import replayed
from routh.reproduce.base import Exhibit, Row, Settings, exhibit
from routh.reproduce.statements import MEMBERS, SEED
from routh.sampling import approximation_sample_count, net_bound, sample
from routh.step import uniqueness

#: What HP23 says of Assumption 6: its section 5.3 names two systems that violate it.
ASSUMPTION_6 = {
    "rocking-block": None,
    "compass-gait": "violated",
    "box-wall": None,
    "ramone": "violated",
    "disk-stack": None,
    "rimless-wheel": None,  # HP19's two
    "pushing": None,
}
EPSILON, STEPS, NET = 0.1, 2, 0.01
DISKS = "disk-stack-5kg"


@exhibit("hp23-assumption-6", title="Does a step have one outcome?", source="HP23 Assumption 6")
def assumption_6(settings: Settings) -> Exhibit:
    """The verdict for each system, with the witness where a step has two velocities after it."""
    rows = []
    for name, paper in ASSUMPTION_6.items():
        problem = systems.impact(name)
        start = time.process_time()
        found = uniqueness(problem)
        spent = time.process_time() - start
        said = {"certified": "holds", "refuted": "violated", "undecided": "undecided"}[found.verdict]
        why = found.reason
        if found.v is not None and found.lambda_max is not None:
            apart = problem.kinetic_energy(found.solutions[0].v - found.solutions[1].v)
            worst = max(solution.residual for solution in found.solutions)
            why += (
                f": v = {_numbers(found.v)}, lambda_max = {_numbers(found.lambda_max)}; residuals to "
                f"{worst:.0e}, "
                f"apart by {np.sqrt(2.0 * apart) / problem.speed:.2g} of the speed"
            )
        rows.append(Row(name, paper, said, why))
        rows.append(Row(f"{name}: CPU time (s)", None, float(f"{spent:.2g}")))
    return Exhibit(rows=tuple(rows), text=_ASSUMPTION_TEXT)


def _numbers(values: np.ndarray) -> str:
    return "(" + ", ".join(f"{value:.6g}" for value in values) + ")"


_ASSUMPTION_TEXT = (
    "Every step of the rocking block has one velocity after it, whatever the velocity and the bounds "
    "before. The box "
    "and wall and the disk stack violate the assumption as well; the paper does not say so."
)


@exhibit("hp23-theorem-9", title="How many samples are a net?", source="HP23 Lemma 7 to Theorem 9")
def theorem_9(settings: Settings) -> Exhibit:
    """The constants of Theorem 9 for the rocking block."""
    system = systems.get("rocking-block")
    problem, step = systems.impact("rocking-block"), system.paper.step or 0.3
    bound = net_bound(problem, step=step, epsilon=EPSILON, max_steps=STEPS)
    runs = approximation_sample_count(
        step=step, lipschitz=bound.lipschitz, max_steps=STEPS, contacts=problem.nc, net=NET, delta=0.05
    )
    rows = (
        Row("Lemma 7: L", None, float(f"{bound.lipschitz:.4g}")),
        Row(f"Lemma 9: delta for epsilon = {EPSILON:g} (m/s)", None, float(f"{bound.separation:.2g}")),
        Row(f"(166): epsilon' for epsilon = {EPSILON:g} (m/s)", None, float(f"{bound.net:.2g}")),
        Row(f"(171): runs with N = {STEPS} for epsilon = {EPSILON:g}", None, f"1e{bound.log10_runs:.0f}"),
        Row(f"(171): runs with N = {STEPS} for epsilon' = {NET:g}", None, f"{runs:.1e}"),
        Row("runs in the paper's figure, with N = 10", 2**14, system.paper.samples or 0),
    )
    text = (
        "With confidence 95 %. The theorem is true, and no figure of the paper has a hundredth of a "
        "billionth of "
        "the runs that it asks for; N itself is existence only (Lemma 10). The exact set needs no samples."
    )
    return Exhibit(rows=rows, text=text)


@exhibit(
    "hp23-disks", title="Two sentences on the disk stack, refuted in fractions", source="HP23 section 5.4.5"
)
def disks(settings: Settings) -> Exhibit:
    """Paths of (39) after which C and D, or A and B, separate both: found by sampling, replayed exactly."""
    rows = []
    for pair, says in (
        ("CD", "the top disk keeps contact with the left or the right one"),
        ("AB", "one of the lower disks stays on the ground"),
    ):
        path, number = refuting_path(pair)
        separation = {name: separation_of(path, name) for name in pair}
        words = ", ".join(f"{name} separates at {float(value):.4g} m/s" for name, value in separation.items())
        why = (
            f"sample {number} of {MEMBERS} by events with seed {SEED}, rebuilt in fractions: "
            f"{len(path.impulses)} "
            f"straight pieces that obey (39) exactly; {words}"
        )
        rows.append(Row(says, "always", "not always", why))
    return Exhibit(rows=tuple(rows), text=_DISK_TEXT)


def separation_of(path: CheckedPath, contact: str) -> Fraction:
    """The exact normal velocity of a contact of the disk stack at the end of a path, m/s."""
    rational = systems.get(DISKS).rational
    return dot(rational.Jn[rational.names.index(contact)], path.v[-1])


def refuting_path(pair: str) -> tuple[CheckedPath, int]:
    """An exact path after which both contacts of the disk stack separate, and the number of its sample."""
    rational = systems.get(DISKS).rational
    problem = rational.problem
    found = sample(problem, MEMBERS, seed=SEED)
    at = [problem.names.index(name) for name in pair]
    least = np.where(found.solved, found.contact_velocity[:, at, 0].min(axis=1), -np.inf)
    for number in np.argsort(-least)[:8]:
        path = replayed(rational, found.path(int(number)))
        if path is not None:
            return path, int(number)
    raise ArithmeticError(f"no sample that separates {pair} could be rebuilt in fractions")


_DISK_TEXT = (
    "The friction of sqrt(3) is a fraction here, 1.7320508 to 1e-10. The exact set of five contacts "
    "is not complete within "
    "any budget that was tried, so that samples had to find these paths; a checker that knows nothing of how "
    "they were found verifies every piece without rounding."
)
