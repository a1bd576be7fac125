"""The set-valued law: one outcome of the set, with its path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from routh.base.results import ImpactPath, PathKind
from routh.base.spread import spread_choice
from routh.base.status import InputError, Status
from routh.base.validation import Array, choice, integer, per_contact
from routh.laws.base import ImpactLaw, ImpactResult, has_ended, require_inelastic
from routh.problem.friction import uses_true_cone
from routh.problem.impact import ENERGETIC, METHODS, POISSON, ImpactProblem
from routh.step import make_step
from routh.step.base import ImpactStep

DEFAULT_MAX_STEPS = 1000
MOST_STEPS = 2**31 - 1  # they are counted in 32 bits
_POOL, _DISTINCT = 256, 1e-6  # samples of which some lie far apart; as a share of the speed, what differs
_ERROR = 1e-7  # of a curved path, as a share of the speed: a motion has hundreds of impacts
_AGAIN = 8  # samples that are drawn where the first one is not solved
LARGEST_STEP = 1e9  # times the momentum scale: beyond it the step's matrices lose all digits


@dataclass(frozen=True, eq=False)
class SetValued(ImpactLaw):
    """Impulses build up at random relative rates: each call is one outcome of the set.

    Parameters
    ----------
    method : "events" (default: the outcome is a member of the set) or "algorithm1" (HP23's sampler, with the
        error of its step, for impacts without restitution), as for `routh.sample`.
    step : "algorithm1" only, number or (nc,), N s: the largest normal impulse of one increment ("h" in HP23).
        Default: each contact's own momentum scale ``|v|_M sqrt(m_i)``.
    max_steps : "algorithm1" only: increments before the law gives up, with status MAX_STEPS; default 1000.
    friction : "cone", or "polyhedral" in space.
    facets : friction directions of "polyhedral" (default 8).
    hypothesis : what restitution means, where the problem has some: "energetic" or "poisson".
    """

    method: str = "events"
    step: ArrayLike | None = None
    max_steps: int | None = None
    friction: str = "cone"
    facets: int | None = None
    hypothesis: str = ENERGETIC

    honours_restitution = True

    def __post_init__(self) -> None:
        choice("method", self.method, METHODS)
        choice("hypothesis", self.hypothesis, (ENERGETIC, POISSON))
        if self.max_steps is not None:
            integer("max_steps", self.max_steps, at_least=1, at_most=MOST_STEPS)
        for name in ("step", "max_steps"):
            if self.method == "events" and getattr(self, name) is not None:
                raise InputError(
                    name,
                    got=f"{getattr(self, name)!r} with method 'events', which has none",
                    wanted="it with method='algorithm1'",
                )

    def check(self, problem: ImpactProblem) -> None:
        """Raise ValueError where Algorithm 1 is given restitution, which it does not know."""
        if self.method == "algorithm1":
            require_inelastic(problem, "SetValued(method='algorithm1')")

    def resolve(self, problem: ImpactProblem, rng: np.random.Generator | None) -> ImpactResult:
        """One draw. Without ``rng`` the draw is that of seed 0."""
        generator = np.random.default_rng(0) if rng is None else rng
        if self.method == "events":
            return self._by_events(problem, int(generator.integers(2**63)))
        from routh.kernels.algorithm1.lemke import pivots  # loads LLVM, which other laws do without

        size = impulse_step(problem, self.step)
        solver = make_step(problem, friction=self.friction, facets=self.facets, pivoting=pivots)

        def draw(_: int) -> Array:
            return size * generator.random(problem.nc)

        return accumulate(problem, solver, draw, self.max_steps or DEFAULT_MAX_STEPS)

    def far_apart(self, problem: ImpactProblem, seed: int, number: int) -> ImpactResult | None:
        """Outcome ``number`` (from 0) of those that lie farthest apart among 256 drawn by events with a seed.

        Each next one is the farthest from those before it, in the kinetic-energy metric. None where there are
        fewer that differ, or where outcomes are not drawn by events.
        """
        self.check(problem)
        if self.method != "events" or not problem.approaching.any():
            return None
        chosen: list[int] = []

        def pick(v: Array, solved: np.ndarray) -> int:
            far = spread_choice(v[solved] @ problem.cholesky, number + 1, _DISTINCT * problem.speed)
            chosen.extend(np.flatnonzero(solved)[far])
            return chosen[number] if len(chosen) > number else 0

        result = self._sampled(problem, seed, _POOL, pick)
        return result if len(chosen) > number else None

    def _by_events(self, problem: ImpactProblem, seed: int) -> ImpactResult:
        """The first solved sample of a seed, and its path; of a curved one, in the true cone, the ends.

        Where the first is not solved a few more are drawn; if none is, the status is that of the first.
        """
        result = self._sampled(problem, seed, 1)
        return result if result.status.ok else self._sampled(problem, seed, _AGAIN)

    def _sampled(
        self,
        problem: ImpactProblem,
        seed: int,
        count: int,
        pick: Callable[[Array, np.ndarray], int] = lambda v, solved: int(np.argmax(solved)),
    ) -> ImpactResult:
        """The first solved one of so many samples of a seed, or what is picked of (n, nv) and (n,) bool."""
        curved = uses_true_cone(self.friction, self.facets, problem.nt)
        from routh.kernels.common.arrays import MIXED, in_units_of_approach, make_draw, make_rows
        from routh.kernels.events import event_samples, piecewise_path, scaled_pieces

        draw = make_draw(
            count,
            seed=seed,
            row=0,
            rates=MIXED,
            persistence=0.0,
            poisson=self.hypothesis == POISSON,
            tolerance=_ERROR,
        )
        rows, share = make_rows([problem]), 1.0
        if curved:  # straight pieces have no error
            rows, share = in_units_of_approach(rows)
        out = event_samples(rows, draw, friction=self.friction, facets=self.facets, threads=1)
        which = pick(out.v[0], out.status[0] == Status.SOLVED)
        if curved:
            path = ImpactPath(np.array([problem.v, out.v[0, which]]), out.impulse[0, which][None])
        else:
            pieces = scaled_pieces(rows, draw, which, friction=self.friction, facets=self.facets)
            path = piecewise_path(problem, pieces, self.friction)
        stored, returned = out.work[0, which] * (share * problem.scaling.speed) ** 2
        status, residual = Status(int(out.status[0, which])), float(out.residual[0, which])
        allowed = 1e-9 + 4.0 * share * out.error[0, which]  # the error of a curve's end
        most = problem.kinetic_energy() * (1.0 + allowed)
        if self.hypothesis == ENERGETIC and status.ok and not problem.kinetic_energy(path.v[-1]) <= most:
            status = Status.ENERGY_GAINED
        total = path.impulse.sum(axis=0)
        return ImpactResult(problem, path.v[-1].copy(), total, status, path, residual, stored, returned)


def impulse_step(problem: ImpactProblem, step: ArrayLike | None) -> Array:
    """The step as a checked (nc,) array, N s; default: each contact's own unit of impulse.

    That would stop the contact if all kinetic energy were in its approach. The steps of HP23's tables are 0.3
    to 3 times this.
    """
    unit = problem.scaling.impulse
    if step is None:
        return unit.copy()
    size = per_contact("step", step, problem.nc)
    if not np.all(size > 0.0):
        raise InputError("step", got=size.min(), wanted="positive impulses (N s)")
    largest = LARGEST_STEP * unit
    if not np.all((size <= largest) | (largest == 0.0)):
        raise InputError(
            "step",
            got=f"{size.max():g} N s",
            wanted=f"at most {largest.min():g}, {LARGEST_STEP:g} times the momentum that there is",
        )
    return size


def accumulate(
    problem: ImpactProblem, solver: ImpactStep, draw: Callable[[int], Array], max_steps: int
) -> ImpactResult:
    """Algorithm 1 of HP23: increments with ``lambda_max = draw(k)`` until no contact approaches."""
    velocities, impulses = [problem.v], []
    residual, status = 0.0, Status.MAX_STEPS
    for k in range(max_steps + 1):
        if has_ended(problem, velocities[-1]):
            status = Status.SOLVED if k else Status.NO_IMPACT
            break
        if k == max_steps:
            break
        result = solver.solve(velocities[-1], draw(k))
        residual = float(np.maximum(residual, result.residual))  # NaN stays
        impulses.append(result.impulse)
        velocities.append(result.v)
        if result.status is not Status.SOLVED:
            status = result.status
            break
    steps = np.array(impulses).reshape(-1, problem.nc, 1 + problem.nt)
    path = ImpactPath(np.array(velocities), steps, PathKind.IMPLICIT)
    return ImpactResult(problem, path.v[-1].copy(), path.impulse.sum(axis=0), status, path, residual)
