"""What HP23 section 5.4 says about its sets in words, as checks on sampled sets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from routh.auditing.comparison import sequences, simultaneous_solutions
from routh.friction import ContactMode
from routh.reproduce.sampled import distances, ended
from routh.sampling import Outcomes

SEPARATES, STICKS, SLIDES = ContactMode


Check = Callable[[Outcomes], bool]


def _occurs(*modes: int | None) -> Check:
    """Some sample ends in these contact modes; None: any."""

    def check(outcomes: Outcomes) -> bool:
        wanted = [i for i, mode in enumerate(modes) if mode is not None]
        found = outcomes.modes[outcomes.terminated][:, wanted] == [modes[i] for i in wanted]
        return bool(np.any(np.all(found, axis=1)))

    return check


def _never(*modes: int | None) -> Check:
    return lambda outcomes: not _occurs(*modes)(outcomes)


def _scaled_sequences(outcomes: Outcomes) -> bool:
    """Every outcome is a sequential one times a number between 0 and 1."""
    problem = outcomes.problem
    v = outcomes.v[outcomes.terminated]
    nearest = np.full(len(v), np.inf)
    for result in sequences(problem).values():
        w = result.v
        share = np.clip((v @ problem.M @ w) / (w @ problem.M @ w), 0.0, 1.0)
        rest = v - share[:, None] * w
        nearest = np.minimum(nearest, np.sqrt(np.einsum("ni,ij,nj->n", rest, problem.M, rest)))
    return bool(np.all(nearest < 1e-9 * problem.speed))


def _faster_slide_than_sequential(outcomes: Outcomes) -> bool:
    slides = outcomes.contact_velocity[outcomes.terminated][:, 0, 1]
    sequential = max(abs(result.contact_velocity[0, 1]) for result in sequences(outcomes.problem).values())
    return bool(np.abs(slides).max() > sequential)


def _simultaneous_count(count: int) -> Check:
    def check(outcomes: Outcomes) -> bool:
        solutions, complete = simultaneous_solutions(outcomes.problem)
        return complete and len(solutions) == count

    return check


_BIPED = {
    "simultaneous resolution has three solutions": _simultaneous_count(3),
    "the trailing foot B may stick while A sticks": _occurs(STICKS, STICKS),
    "the trailing foot B may slide while A sticks": _occurs(STICKS, SLIDES),
    "the trailing foot B may lift while A sticks": _occurs(STICKS, SEPARATES),
}
_DISKS = {
    "simultaneous resolution has one solution": _simultaneous_count(1),
    "the top disk keeps contact with the left or the right one (C or D)": _never(
        None, None, SEPARATES, SEPARATES, None
    ),
    "one of the lower disks stays on the ground (A or B)": _never(SEPARATES, SEPARATES, None, None, None),
    "the tower may fall apart": _occurs(None, None, None, SEPARATES, None),
    "the lower disk on the opposite side may lift off": _occurs(None, SEPARATES, None, None, None),
    "a contact that is kept may slide": _occurs(None, None, SLIDES, SEPARATES, None),
}
CHECKS: dict[str, dict[str, Check]] = {
    "rocking-block": {
        "simultaneous resolution has one solution": _simultaneous_count(1),
        "the block may rest (A and B stick)": _occurs(STICKS, STICKS),
        "the block may pivot about A": _occurs(STICKS, SEPARATES),
        "the block may pivot about B": _occurs(SEPARATES, STICKS),
        "A and B never separate both": _never(SEPARATES, SEPARATES),
        "every outcome is a scaled-down sequential one": _scaled_sequences,
    },
    "compass-gait": {
        **_BIPED,
        "A may lift off while B stays on the ground": lambda o: (
            _occurs(SEPARATES, STICKS)(o) or _occurs(SEPARATES, SLIDES)(o)
        ),
    },
    "box-wall": {
        "simultaneous resolution has one solution": _simultaneous_count(1),
        "A may slide on while B lifts off": _occurs(SLIDES, SEPARATES),
        "A may slide faster than after a sequence": _faster_slide_than_sequential,
        "B may slide instead of lifting or sticking": _occurs(None, SLIDES),
        "A never leaves the ground": _never(SEPARATES, None),
    },
    "ramone": {
        **_BIPED,
        "the leading foot A always sticks": lambda o: _never(SEPARATES, None)(o) and _never(SLIDES, None)(o),
    },
    "disk-stack": _DISKS,
    "disk-stack-5kg": _DISKS,
}


def statements(name: str, outcomes: Outcomes) -> dict[str, bool]:
    """The claims about the system called ``name``, and whether samples of its set bear them out."""
    return {claim: check(outcomes) for claim, check in CHECKS[name].items()}


def classical_distances(outcomes: Outcomes) -> dict[str, float]:
    """How far each sequential and simultaneous outcome is from the nearest sample.

    In the kinetic-energy norm, as a share of the speed before.
    """
    problem = outcomes.problem
    solutions, _ = simultaneous_solutions(problem)
    found = {f"simultaneous {i + 1}": result.v for i, result in enumerate(solutions)}
    found |= {f"sequential {order}": result.v for order, result in sequences(problem).items()}
    away = distances(problem, ended(outcomes), np.array(list(found.values())))
    return dict(zip(found, away.tolist(), strict=True))
