"""Does a sample in space solve the model? Written down from HP23 (36) to (40), law by law, piece by piece.

It knows nothing of how a sample was found: only the velocities of its path and the impulses between them. A
piece of a curve is known by its ends, and a path is known to some error; so each law is asked of velocities
within ``slack`` of the path, a share of the speed before. What is still broken is added up over the pieces
and told as a share of the speed, too: by how much it may have moved the velocity after.
"""

from __future__ import annotations

import numpy as np

from routh.base.results import ImpactPath
from routh.base.validation import Array
from routh.problem.impact import POISSON, ImpactProblem
from routh.sampling import Outcomes

#: Share of the speed up to which a sample need not report its error.
SLACK = 1e-6


def sample_faults(outcomes: Outcomes, i: int) -> dict[str, float]:
    """What is wrong with sample i and its path, law by law; all of it is 0 to its own error where it solves.

    The slack is what the sample says of its error, at least `SLACK`.
    """
    problem, settings = outcomes.problem, outcomes.settings
    path = outcomes.path(i)
    facets = None if settings["friction"] == "cone" else settings["facets"] or 8
    faults = path_faults(
        problem, path, facets=facets, hypothesis=settings["hypothesis"], slack=allowed(outcomes, i)
    )
    ends = [_speed(problem, path.v[0] - problem.v), _speed(problem, path.v[-1] - outcomes.v[i])]
    faults["told impulses"] = _speed(problem, problem.apply(outcomes.impulse[i]) - outcomes.v[i])
    return {**faults, "ends": float(np.max(ends))}


def allowed(outcomes: Outcomes, i: int) -> float:
    """The error that sample i reports, a share of the speed; at least `SLACK`."""
    return SLACK if outcomes.error is None else max(SLACK, float(outcomes.error[i]))


def wrong_law(outcomes: Outcomes, i: int) -> str:
    """The law that sample i breaks by most, "" where none is broken by more than its error."""
    faults = sample_faults(outcomes, i)
    law = max(faults, key=lambda name: faults[name] if faults[name] == faults[name] else np.inf)
    return "" if faults[law] <= allowed(outcomes, i) else law


def total_faults(outcomes: Outcomes) -> Array:
    """What is wrong with the samples as they stand, without their paths, (n,): quick, and only necessary.

    The largest of: momentum, impulses outside their cones by what that moves, energy gained, approach in the
    end.
    """
    problem, unit = outcomes.problem, outcomes.problem.scaling
    p = outcomes.impulse / unit.impulse[:, None]
    momentum = _speed(problem, problem.apply(outcomes.impulse) - outcomes.v)
    pulls = np.maximum(-p[..., 0], 0.0).sum(axis=1)
    length = np.linalg.norm(p[..., 1:], axis=-1)
    excess = np.maximum(length - problem.mu * np.maximum(p[..., 0], 0.0), 0.0) * unit.impulse
    wrong = (excess / np.where(length > 0.0, length, 1.0) / np.maximum(problem.mu, 1.0))[..., None] * p[
        ..., 1:
    ]
    outside = _speed(problem, problem.solve_mass(np.einsum("kia,iav->kv", wrong, problem.Jt).T).T)
    approach = np.max(-(outcomes.v @ problem.Jn.T) / unit.velocity, axis=1)
    found = [momentum, pulls, outside, approach]
    if outcomes.settings.get("hypothesis") != POISSON:
        found.append((outcomes.kinetic_energy - problem.kinetic_energy()) / unit.speed**2)
    return np.max(found, axis=0)


def path_faults(
    problem: ImpactProblem,
    path: ImpactPath,
    *,
    facets: int | None = None,
    hypothesis: str = "energetic",
    slack: float = SLACK,
) -> dict[str, float]:
    """How far a path of an impact in space is from a solution, law by law; NaN stays NaN.

    ``facets``: of the friction polygon; None: the true cone. "momentum": of each piece. "pulls": impulses
    away from a surface. "friction": impulses outside the cone, or not against a slip of the piece, by what
    they move together: contacts may squeeze each other, which moves hardly anything and is hardly determined.
    "separates": an inelastic contact pushes though it separates. "energy": gained on a piece beyond what
    contacts return. "returns": more than restitution allows. "approach": in the end.
    """
    unit, mu = problem.scaling, problem.mu
    p = path.impulse / unit.impulse[:, None]  # (k, nc, 3)
    c = problem.contact_velocity(path.v) / unit.velocity[:, None]  # (k + 1, nc, 3)
    unexplained = path.v[1:] - path.v[:-1] - (problem.apply(path.impulse) - problem.v)
    wrong = _friction_faults(mu, p, c[:-1, :, 1:], c[1:, :, 1:], facets, slack) * unit.impulse[:, None]
    moved = problem.solve_mass(np.einsum("kia,iav->kv", wrong, problem.Jt).T).T
    most = _speed(problem, np.diff(path.v, axis=0))  # of what a piece moves in all no more can be wrong
    friction = np.minimum(_speed(problem, moved), most)
    normal, before, after = p[..., 0], c[:-1, :, 0], c[1:, :, 0]
    inelastic = problem.restitution == 0.0
    separating = np.where(inelastic & (np.maximum(before, after) > slack), np.maximum(normal, 0.0), 0.0)
    work = 0.5 * normal * (before + after)
    energy = np.diff(problem.kinetic_energy(path.v)) / unit.speed**2
    gained = energy - np.where(inelastic, 0.0, np.maximum(work, 0.0)).sum(axis=1)
    return {
        "momentum": float(_speed(problem, unexplained).sum()),
        "pulls": float(
            np.minimum(np.maximum(-normal, 0.0).sum(axis=1), _speed(problem, np.diff(path.v, axis=0))).sum()
        ),
        "friction": float(friction.sum() / max(1.0, mu.max())),
        "separates": float(separating.sum()),
        "energy": _largest(np.maximum(gained, 0.0)) if hypothesis != POISSON else 0.0,
        "returns": _returned(problem, normal, before, after, hypothesis, slack),
        "approach": _largest(-c[-1, :, 0]),
    }


def spatial_path_residual(
    problem: ImpactProblem, path: ImpactPath, *, facets: int | None = None, hypothesis: str = "energetic"
) -> float:
    """The largest of `path_faults`."""
    return float(np.max(list(path_faults(problem, path, facets=facets, hypothesis=hypothesis).values())))


def _speed(problem: ImpactProblem, v: Array) -> Array:
    """Lengths of velocities (..., nv) in the energy norm, shares of the speed before."""
    found: Array = np.linalg.norm(v @ problem.cholesky, axis=-1) / problem.scaling.speed
    return found


def _returned(
    problem: ImpactProblem, normal: Array, before: Array, after: Array, hypothesis: str, slack: float
) -> float:
    """By how much a contact has at any time returned more than its share of what it stored."""
    middle, e = 0.5 * (before + after), problem.restitution
    what = normal if hypothesis == POISSON else normal * np.abs(middle)
    share = e if hypothesis == POISSON else e**2
    sides = (middle < slack, middle > slack)  # in between it may do either
    stored, returned = (np.cumsum(np.where(side, what, 0.0), axis=0) for side in sides)
    return _largest((returned - share * stored)[:, e > 0.0])


def _largest(values: Array) -> float:
    return float(np.max(values)) if values.size else 0.0


def _friction_faults(
    mu: Array, p: Array, before: Array, after: Array, facets: int | None, slack: float
) -> Array:
    """What friction impulses (k, nc, 2) have beyond those against slips near the chord of each piece.

    Friction of a piece is a mean of ``-mu n u`` over directions u of slip: it lies in the hull of an arc of
    the disc (the polygon), as wide as the chord is seen from the origin, and by the slack to either side. A
    chord that passes nearer to the origin than the slack allows all of the disc.
    """
    limit, f = np.maximum(mu * p[..., 0], 0.0), p[..., 1:]
    first, last = _units(before), _units(after)
    axis = _units(first + last)
    half = np.arccos(np.clip(np.sum(first * axis, axis=-1), -1.0, 1.0))
    nearest = _nearest(before, after)
    half = half + np.arcsin(np.minimum(slack / np.maximum(nearest, 1e-300), 1.0))
    if facets is None:
        outside = np.linalg.norm(f, axis=-1) - limit
    else:
        width = np.pi / facets  # the sector of a corner is so wide to either side of it
        middle = np.arctan2(axis[..., 1], axis[..., 0])
        low, high = (np.round((middle + side * half) / (2.0 * width)) for side in (-1.0, 1.0))
        half, middle = (high - low) * width, (high + low) * width
        axis = np.stack([np.cos(middle), np.sin(middle)], axis=-1)
        edges = (2.0 * np.arange(facets) + 1.0) * width
        outside = np.max(-f @ np.stack([np.cos(edges), np.sin(edges)]), axis=-1) - limit * np.cos(width)
    along = -np.sum(f * axis, axis=-1)
    across = f[..., 0] * axis[..., 1] - f[..., 1] * axis[..., 0]
    half = np.where(nearest <= slack, np.pi, np.minimum(half, np.pi))
    behind = np.maximum(limit * np.cos(half) - along, 0.0)[..., None]
    beside = np.maximum(np.abs(across) - limit * np.sin(half), 0.0)
    beside = np.where(behind[..., 0] > 0.0, np.sign(across) * beside, 0.0)[..., None]
    sideways = np.stack([axis[..., 1], -axis[..., 0]], axis=-1)
    return np.maximum(outside, 0.0)[..., None] * _units(f) + behind * axis + beside * sideways


def _units(slip: Array) -> Array:
    """Directions of slips (..., 2); zero where there is none."""
    length = np.linalg.norm(slip, axis=-1, keepdims=True)
    return np.where(length > 0.0, slip / np.where(length > 0.0, length, 1.0), 0.0)


def _nearest(before: Array, after: Array) -> Array:
    """How near the chord between two slips (..., 2) comes to none."""
    chord = after - before
    square = np.sum(chord * chord, axis=-1)
    share = np.clip(-np.sum(before * chord, axis=-1) / np.where(square > 0.0, square, 1.0), 0.0, 1.0)
    return np.linalg.norm(before + share[..., None] * chord, axis=-1)
