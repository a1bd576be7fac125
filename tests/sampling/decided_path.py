"""The velocity after as a function of the problem alone, for the decisions that a record holds.

Written down from the model: rates by a linear solver, lengths by the events. It knows no derivative; with
data that have a small imaginary part the imaginary part of its result is one.
"""

import numpy as np

from routh.compiling import interpreted
from routh.kernels.common import record as rec
from routh.kernels.common.arrays import make_rows
from routh.kernels.plane import sample as plane_sample
from routh.kernels.space import sample as space_sample
from routh.kernels.space.workspace import workspace
from routh.sampling.settings import drawn_by


def record_of(outcomes, sample):
    """The record of one planar sample, by the interpreted kernel."""
    nc, elastic = outcomes.problem.nc, bool(np.any(outcomes.problem.restitution > 0.0))
    draw = drawn_by(outcomes.settings, "record").draws(len(outcomes))
    record, work = rec.make_record(4096, nc, 2), plane_sample.workspace(nc)
    with np.errstate(over="ignore"):  # hashes wrap around
        interpreted(plane_sample.load_row)(make_rows([outcomes.problem]), 0, work)
        interpreted(plane_sample.one_sample)(work, nc, draw, 0, sample, elastic, None, record)
    return record


def record_in_space(outcomes, sample, corners):
    """The record of one sample in space, by the interpreted kernel."""
    nc, settings = outcomes.problem.nc, outcomes.settings
    draw = drawn_by(outcomes.settings, "record").draws(len(outcomes))
    record, work = rec.make_record(4096, nc, 3), workspace(nc)
    books = int(settings["hypothesis"] == "poisson") if np.any(outcomes.problem.restitution > 0.0) else None
    with np.errstate(over="ignore"):  # hashes wrap around
        interpreted(space_sample.load_row)(make_rows([outcomes.problem]), 0, work)
        interpreted(space_sample.run_sample)(work, nc, corners, books, record, draw, None, draw.row, sample)
    return record


class Scaled:
    """A problem in its own units; its data may be complex."""

    def __init__(self, M, Jn, Jt, mu, v, restitution):
        J = np.concatenate([Jn[:, None], Jt], axis=1)
        inverse = np.linalg.inv(M)
        root = 1 / np.sqrt(np.einsum("ij,jk,ik->i", Jn, inverse, Jn))
        self.speed = np.sqrt(v @ M @ v)
        S = (root[:, None, None] * J).reshape(-1, len(v))
        self.G, self.start = S @ inverse @ S.T, S @ v / self.speed
        self.response, self.v = self.speed * inverse @ S.T, v
        self.mu, self.e = mu, restitution


def rates(data, roles, faces, given, corners):
    """Normal and friction rates (nc, 1 + nt) of a pattern; ``given``: weights of driven contacts."""
    nc, nt = len(roles), corners.shape[1]
    n = nc * (1 + nt)
    fixed, columns, rows = np.zeros(n, complex), [], []
    for i, (role, face) in enumerate(zip(roles, faces, strict=True)):
        at = i * (1 + nt)
        if role == rec.FREE:
            continue
        push = np.zeros(n, complex)
        push[at] = 1.0
        if face >= 0:
            push[at + 1 : at + 1 + nt] = (
                -data.mu[i] * corners[face - rec.WALLS if face >= rec.WALLS else face]
            )
        if role == rec.DRIVEN:
            fixed += given[i] * push
        else:  # held: its normal velocity rests; on the edge of the cone: its slip
            columns.append(push)
            rows.append(np.eye(n)[at if role == rec.HELD else at + 1])
        if face == rec.STICKS:
            free = np.eye(n)[at + 1 : at + 1 + nt]
        elif face >= rec.WALLS:
            wall = face - rec.WALLS
            free = np.zeros((1, n))
            free[0, at + 1 : at + 1 + nt] = corners[(wall + 1) % len(corners)] - corners[wall]
        else:
            continue
        columns += list(free)
        rows += list(free)
    if columns:
        C, R = np.array(columns).T, np.array(rows)
        fixed = fixed - C @ np.linalg.solve(R @ data.G @ C, R @ data.G @ fixed)
    return fixed


def velocity_after(data, record, corners, *, poisson=False):
    """Follow the record's decisions with other data: the velocity after."""
    count, nt = int(record.total[rec.ENTRIES]), corners.shape[1]
    nc = len(data.mu)
    c, total, budget = data.start.astype(complex), np.zeros(len(data.start), complex), np.zeros(nc, complex)
    left = 0.0

    def pattern(k):
        weights = record.rate[k].reshape(nc, 1 + nt)[:, 0]
        return rates(data, record.role[k], record.face[k], weights, corners)

    for k in range(count):
        event, who, other, setter = record.event[k], record.who[k], record.other[k], record.setter[k]
        if event == rec.AHEAD:
            continue
        r = pattern(k)
        d = data.G @ r
        y, n, at = c.reshape(nc, 1 + nt)[:, 0].copy(), r.reshape(nc, 1 + nt)[:, 0], (1 + nt) * who
        share, direction = record.share[k], record.direction[k, : 1 + nt]
        if setter >= 0:
            left = record.set_share[k] * -y[setter] / d[(1 + nt) * setter]
        elif setter == rec.NOBODY:
            left = record.set_share[k]
        if event == rec.VANISHES:
            s = share * -(direction @ c[at : at + 1 + nt]) / (direction @ d[at : at + 1 + nt])
        elif event == rec.IMPULSE_RETURNED:
            s = share * budget[who] / n[who]
        elif event == rec.WORK_RETURNED:
            b, rise = budget[who] / n[who], d[at]
            s = share * 2 * b / (y[who] + np.sqrt(y[who] ** 2 + 2 * rise * b))
        elif event == rec.CORNER:
            e = data.G @ pattern(k + 1)
            s = (c[other] * e[who] - c[who] * e[other]) / (d[who] * e[other] - d[other] * e[who])
        else:
            assert event == rec.LENGTH_OVER
            s = left
        left = left - s
        c, total = c + s * d, total + s * r
        work = 0.5 * (y + c.reshape(nc, 1 + nt)[:, 0]) * s * n
        for i in range(nc):
            if record.book[k, i] == rec.STORES:
                budget[i] += data.e[i] * s * n[i] if poisson else -(data.e[i] ** 2) * work[i]
            elif record.book[k, i] == rec.RETURNS:
                budget[i] -= s * n[i] if poisson else work[i]
    return data.v + data.response @ total
