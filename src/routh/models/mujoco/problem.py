"""From MjModel and MjData to the problem of the impact."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from routh.models.mujoco.contacts import contact_rows, equality_rows, limit_rows
from routh.models.mujoco.engine import look_around, mass_matrix, speed_bound
from routh.models.mujoco.unrepresented import unrepresented
from routh.models.robot import RobotContact, RobotProblem, assemble, tell_unrepresented
from routh.models.simultaneity import DEEPEST, DEFAULT_GAP, PAST_LIMIT, Rules
from routh.validation import real_array

if TYPE_CHECKING:
    from mujoco import MjData, MjModel


def problem(
    model: MjModel,
    data: MjData,
    *,
    gap: float = DEFAULT_GAP,
    window: float | None = None,
    limits: bool = True,
    restitution: float | Mapping[str, float] | Sequence[float] = 0.0,
    deepest: float | None = DEEPEST,
    past_limit: float | None = PAST_LIMIT,
) -> RobotProblem:
    """The impact of all contacts that are simultaneous at the state in ``data``.

    Only ``qpos``, ``qvel``, the mocap poses and ``eq_active`` of the data are read; nothing is changed.

    Parameters
    ----------
    model, data : MjModel and MjData.
    gap : contacts within this distance are simultaneous (m; rad for limits of hinges).
    window : contacts that close within this time at the present velocity are simultaneous too (s).
    limits : whether limits of joints and tendons that are reached count, as contacts without friction.
    restitution : a number, one per contact, or a mapping from contact names; names without "#k" mean all
        points of their pair.
    deepest : how far bodies may overlap, also at the limits of slides and spatial tendons, m; None: any.
    past_limit : how far hinges, balls and fixed tendons may be past their limits, rad; None: any.

    Raises
    ------
    ValueError where no contact is near; `routh.status.StateError` where the state cannot be.

    What cannot be represented (torsional and rolling friction, adhesion, flexible bodies, ...) is named in an
    `UnrepresentedWarning` and in ``problem.unrepresented``.
    """
    result = build(model, data, Rules(gap, window, limits, restitution, deepest, past_limit))
    tell_unrepresented("impact", result.unrepresented)
    return result


def build(
    model: MjModel, data: MjData, rules: Rules, *, pairs: Collection[tuple[str, str]] | None = None
) -> RobotProblem:
    """`problem` without the warning; ``unrepresented`` says the same. ``pairs``: of these geoms only."""
    real_array("qpos", data.qpos, [(model.nq,)])
    qvel = real_array("qvel", data.qvel, [(model.nv,)])
    near = look_around(model, data, np.nextafter(rules.gap, np.inf))
    if rules.window is not None:
        wider = 2.0 * speed_bound(near) * rules.window
        near = look_around(model, data, wider) if wider > rules.gap else near
    rows = [row for row in contact_rows(near) if pairs is None or _pair(row.contact) in pairs]
    rows += limit_rows(near) if rules.limits else []
    M = mass_matrix(near.model, near.data)
    candidates = assemble(M, qvel, rows, rules, equality=equality_rows(near))
    present = {_pair(contact) for contact in candidates.contacts}
    notes = (*unrepresented(near, present), *candidates.unrepresented)
    return RobotProblem(candidates, candidates.contacts, candidates.basis, candidates.qvel, notes)


def _pair(contact: RobotContact) -> tuple[str, str]:
    return contact.geom1, contact.geom2
