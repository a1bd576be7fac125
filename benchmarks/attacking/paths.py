"""Does the path of a sample solve the model (39)? Written from HP23 (36) to (40), apart from all solvers.

A path is a list of velocities and of the impulses between them. On a straight piece impulses grow at constant
rates, so velocities are linear along it; a curved one (the true cone in space) is given by points that are
near to each other, so its friction is judged up to the angle by which slip turns between two of them.
"""

import numpy as np
import scipy.optimize

TOLERANCE = 1e-6  # of each contact's own speed and momentum
CORNERS = 64  # of polygons in place of cones
ROUND = 4.0  # friction 1e5 multiplies rounding; the tolerance grows with its root


def wrong_path(problem, path, v, impulse, scales, directions=None, curved=None):
    """What is wrong with a path that should end at ``v`` with the total ``impulse``; "" for nothing.

    ``directions`` (k, nt): corners of the friction polygon, None for the cone (in the plane: the segment).
    ``curved``: of a path of the true cone in space, the error that the sample reports, a share of the speed;
    what of its impulses is outside the cones, where slips end, may move the velocity by so much in all.
    """
    speed, momentum = scales
    loose = TOLERANCE * max(1.0, float(problem.mu.max()) / ROUND)
    energy = np.sqrt(problem.v @ problem.M @ problem.v)
    if not (np.all(np.isfinite(path.v)) and np.all(np.isfinite(path.impulse))):
        return "a path that is not finite"
    for a, b, what in ((path.v[0], problem.v, "begins"), (path.v[-1], v, "ends")):
        if not np.sqrt((a - b) @ problem.M @ (a - b)) <= loose * energy:
            return f"a path that {what} elsewhere"
    if not np.all(np.abs(path.impulse.sum(axis=0) - impulse) <= loose * momentum[:, None]):
        return "impulses that are not their pieces' sum"
    rows = np.concatenate([problem.Jn[:, None], problem.Jt], axis=1)
    pushes = np.einsum("kct,ctv->kv", path.impulse, rows)
    missing = problem.M @ np.diff(path.v, axis=0).T - pushes.T
    size = 1.0 + np.abs(path.impulse / momentum[:, None]).sum(axis=(1, 2))
    if not np.all(
        np.sqrt(np.abs(np.sum(missing * np.linalg.solve(problem.M, missing), axis=0)))
        <= loose * energy * size
    ):
        return "momentum of a piece"
    c = np.einsum("ctv,kv->kct", rows, path.v) / speed[:, None]
    p = path.impulse / momentum[:, None]
    if curved is not None:
        excess = outside_cones(path.impulse, problem.mu)
        wasted = np.einsum("kct,ctv->kv", excess, rows)
        moved = np.sqrt(np.abs(np.sum(wasted.T * np.linalg.solve(problem.M, wasted.T), axis=0)))
        # a piece that makes up for an error may squeeze contacts together: of what it moves no more is wrong
        whole = np.sqrt(np.abs(np.sum(pushes.T * np.linalg.solve(problem.M, pushes.T), axis=0)))
        excess[whole < moved] = path.impulse[whole < moved]
        moved = np.minimum(moved, whole)
        for k in np.flatnonzero(moved > loose * energy):  # contacts that undo each other, as doubled ones may
            moved[k] = min(moved[k], from_cones(problem, path.impulse[k] - excess[k], pushes[k]))
        if not moved.sum() <= (loose + curved) * energy:
            return "impulses outside their cones by more than the error"
        p = p - excess / momentum[:, None]
    return wrong_contacts(problem, c, p, directions, curved is not None, loose)


def from_cones(problem, inside, push):
    """At most how far, by its energy, what ``push`` (nv,) does is from what impulses in the cones can do.

    Those are sums of ``inside`` (nc, 3), contact by contact, and of the edges of polygons inside the cones.
    """
    root = np.linalg.cholesky(problem.M)
    edges = problem.mu[:, None, None] * polygon(CORNERS)  # (nc, corners, 2)
    ways = np.einsum("ckt,ctv->ckv", edges, problem.Jt) + problem.Jn[:, None]
    own = inside[:, :1] * problem.Jn + np.einsum("ct,ctv->cv", inside[:, 1:], problem.Jt)
    ways = np.linalg.solve(root, np.concatenate([ways.reshape(-1, problem.nv), own]).T)
    sizes = np.linalg.norm(ways, axis=0)
    return scipy.optimize.nnls(ways[:, sizes > 0.0] / sizes[sizes > 0.0], np.linalg.solve(root, push))[1]


def polygon(facets):
    """Corners of the friction polygon."""
    angles = 2.0 * np.pi * np.arange(facets) / facets
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def outside_cones(impulse, mu):
    """What must be taken away so that impulses (k, nc, 3) are in their cones."""
    normal = np.maximum(impulse[:, :, :1], 0.0)
    friction = np.linalg.norm(impulse[:, :, 1:], axis=2, keepdims=True)
    allowed = mu[:, None] * normal
    share = np.where(friction > allowed, allowed / np.where(friction > allowed, friction, 1.0), 1.0)
    return impulse - np.concatenate([normal, share * impulse[:, :, 1:]], axis=2)


def wrong_contacts(problem, c, p, directions, curved, loose):
    """Cones, friction against slip, and who may push; velocities (k + 1, nc, .), impulses (k, nc, .)."""
    left = np.zeros(problem.nc)  # energy that contacts may still return
    for before, after, push in zip(c[:-1], c[1:], p, strict=True):
        normal, limit = push[:, 0], problem.mu * push[:, 0]
        if not np.all(normal >= -loose):
            return "a contact pulls"
        if not np.all(np.linalg.norm(push[:, 1:], axis=1) <= limit + loose):
            return "friction outside its cone"
        turn = turned(before[:, 1:], after[:, 1:]) if curved else 0.0
        for slip in (before[:, 1:], 0.5 * (before + after)[:, 1:], after[:, 1:]):
            wasted = np.sum(push[:, 1:] * slip, axis=1) + limit * support(slip, directions)
            size = np.linalg.norm(slip, axis=1)
            if not np.all(wasted <= loose * (1.0 + limit) + limit * size * turn):
                return "friction not against slip"  # (37)
        work = 0.5 * normal * (before[:, 0] + after[:, 0])
        separating = np.minimum(normal, np.maximum(before[:, 0], after[:, 0])) > loose
        if np.any(separating & (work > left + loose)):
            return "a contact pushes while it separates"  # (38); with restitution: returns more than e^2
        left = np.maximum(left + np.where(work < 0.0, -(problem.restitution**2) * work, -work), 0.0)
    return ""


def support(slip, directions):
    """What friction of size one takes out at most: ``|slip|``, or the polygon's support, (nc,)."""
    if directions is None:
        return np.linalg.norm(slip, axis=1)
    return np.max(-slip @ directions.T, axis=1)


def turned(before, after):
    """One minus the cosine of twice the angle between two slips, 2 where one has vanished, (nc,)."""
    a, b = np.linalg.norm(before, axis=1), np.linalg.norm(after, axis=1)
    cosine = np.sum(before * after, axis=1) / np.maximum(a * b, 1e-300)
    angle = np.arccos(np.clip(cosine, -1.0, 1.0))
    return np.where(np.minimum(a, b) > 1e-9, 1.0 - np.cos(np.minimum(2.0 * angle, np.pi)), 2.0)
