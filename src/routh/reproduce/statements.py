"""What HP23 section 5.4 says about its sets in words, as checks on sampled sets.

That something may happen is shown by a sample of the paper's Algorithm 1. That it never happens is tried
with samples by events, each of which is a solution of the inclusion (39): one that does it all the same
refutes the sentence, by a path that can be replayed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from routh.auditing.comparison import sequences, simultaneous_solutions
from routh.problem.friction import ContactMode
from routh.reproduce.sampled import distances, ended
from routh.sampling import Outcomes, sample
from routh.sampling.path_residual import path_residual

SEPARATES, STICKS, SLIDES = ContactMode
MEMBERS, SEED = 2**16, 3  # samples by events that may refute a sentence

#: From a system's name and samples of its set: what speaks against a claim; nothing where they bear it out.
Check = Callable[[str, Outcomes], str]


def _in_modes(outcomes: Outcomes, modes: tuple[int | None, ...]) -> np.ndarray:
    """The solved samples that end in these contact modes, by number; None: any."""
    wanted = [i for i, mode in enumerate(modes) if mode is not None]
    found = outcomes.modes[:, wanted] == [modes[i] for i in wanted]
    return np.flatnonzero(np.all(found, axis=1) & outcomes.solved)


def _occurs(*modes: int | None) -> Check:
    """Some sample ends in these contact modes; None: any."""
    return lambda name, outcomes: "" if len(_in_modes(outcomes, modes)) else "no sample does"


def _never(*modes: int | None) -> Check:
    """No solution of (39) that was found ends in these contact modes; None: any."""
    return lambda name, outcomes: _counterexample(name, outcomes, modes)


def _counterexample(name: str, outcomes: Outcomes, modes: tuple[int | None, ...]) -> str:
    """A solution of (39) that ends in these modes, with the most distinct separation; "" where none does."""
    problem = outcomes.problem
    members = sample(problem, MEMBERS, seed=SEED)
    found = _in_modes(members, modes)
    if not len(found):
        return ""
    apart = [i for i, mode in enumerate(modes) if mode == SEPARATES]
    speeds = members.contact_velocity[found][:, apart, 0].min(axis=1, initial=np.inf)
    best = int(found[np.argmax(speeds)])
    path = members.path(best)
    last = ", ".join(problem.names[i] for i in np.flatnonzero(path.impulse[-1, :, 0] > 0.0))
    replay = f"routh.sample(routh.systems.impact({name!r}), {best + 1}, seed={SEED}).path({best})"
    how = f", by up to {speeds.max():.3g} m/s" if apart else ""
    share = 100.0 * len(found) / MEMBERS
    return (
        f"refuted by the model (39): {share:.2g} % of {MEMBERS} samples by events do it{how}. "
        f"The path of sample {best} obeys (39) to {path_residual(problem, path):.0e} of the speed; "
        f"{last} pushes last. Replay it: {replay}"
    )


def _claim(holds: Callable[[Outcomes], bool], otherwise: str) -> Check:
    return lambda name, outcomes: "" if holds(outcomes) else otherwise


def _one_of(*checks: Check) -> Check:
    return lambda name, outcomes: min((check(name, outcomes) for check in checks), key=len)


def _all_of(*checks: Check) -> Check:
    return lambda name, outcomes: max((check(name, outcomes) for check in checks), key=len)


def _scaled_sequences(outcomes: Outcomes) -> bool:
    """Every outcome is a sequential one times a number between 0 and 1."""
    problem = outcomes.problem
    v = outcomes.v[outcomes.solved]
    nearest = np.full(len(v), np.inf)
    for result in sequences(problem).values():
        w = result.v
        share = np.clip((v @ problem.M @ w) / (w @ problem.M @ w), 0.0, 1.0)
        rest = v - share[:, None] * w
        nearest = np.minimum(nearest, np.sqrt(np.einsum("ni,ij,nj->n", rest, problem.M, rest)))
    return bool(np.all(nearest < 1e-9 * problem.speed))


def _faster_slide_than_sequential(outcomes: Outcomes) -> bool:
    slides = outcomes.contact_velocity[outcomes.solved][:, 0, 1]
    sequential = max(abs(result.contact_velocity[0, 1]) for result in sequences(outcomes.problem).values())
    return bool(np.abs(slides).max() > sequential)


def _simultaneous_count(count: int) -> Check:
    def check(name: str, outcomes: Outcomes) -> str:
        solutions, complete = simultaneous_solutions(outcomes.problem)
        return "" if complete and len(solutions) == count else f"{len(solutions)} were found"

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
        "every outcome is a scaled-down sequential one": _claim(_scaled_sequences, "some are not"),
    },
    "compass-gait": {
        **_BIPED,
        "A may lift off while B stays on the ground": _one_of(
            _occurs(SEPARATES, STICKS), _occurs(SEPARATES, SLIDES)
        ),
    },
    "box-wall": {
        "simultaneous resolution has one solution": _simultaneous_count(1),
        "A may slide on while B lifts off": _occurs(SLIDES, SEPARATES),
        "A may slide faster than after a sequence": _claim(_faster_slide_than_sequential, "no sample does"),
        "B may slide instead of lifting or sticking": _occurs(None, SLIDES),
        "A never leaves the ground": _never(SEPARATES, None),
    },
    "ramone": {
        **_BIPED,
        "the leading foot A always sticks": _all_of(_never(SEPARATES, None), _never(SLIDES, None)),
    },
    "disk-stack": _DISKS,
    "disk-stack-5kg": _DISKS,
}


def statements(name: str, outcomes: Outcomes) -> dict[str, str]:
    """The claims about the system called ``name``, and what speaks against them; "" where nothing does."""
    return {claim: check(name, outcomes) for claim, check in CHECKS[name].items()}


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
