"""Random degenerate impacts, and a check of their outcomes that shares nothing with the solvers.

Steps are held against HP23 (72) to (75), samples against the model (39): momentum, cones, energy, that the
impact has ended, and along their paths that friction opposes slip and that only who may push pushes.
Everything is measured in a problem's own speed and momentum, computed here.
"""

import time

import numpy as np

import routh
from attacking.paths import from_cones, outside_cones, polygon, wrong_path
from attacking.report import Found, chunks, merged
from measure import in_processes
from routh.base.status import Status
from routh.step import make_step

TOLERANCE = 1e-6  # of the problem's own speed and momentum
HUGE = 1e3  # friction above which impulses are uncertain by mu times rounding
SAMPLES = 4
WARM = 12  # problems before the clock runs
#: What one sample may take, s of one core: for each contact in the plane, with polygons, with the true cone;
#: for the increments of Algorithm 1 with a share in those that are drawn again; for one readable step.
SECONDS = {"plane": 0.002, "polyhedral": 0.01, "cone": 0.05, "algorithm1": 0.25, "step": 5.0}

# nc, nt, friction, degrees of freedom (None: many), what else is degenerate
FAMILIES = {
    "two contacts, plane": (2, 1, 0.5, None, ""),
    "frictionless, plane": (3, 1, 0.0, None, ""),
    "rough, plane": (3, 1, 10.0, None, ""),
    "friction 1e5, plane": (2, 1, 1e5, 7, ""),
    "one body with redundant contacts": (4, 1, 0.5, 3, ""),
    "doubled contacts": (3, 1, 0.5, None, "double"),
    "nearly doubled contacts": (3, 1, 0.5, None, "nearly"),
    "mass ratios of 1e6": (4, 1, 0.5, None, "masses"),
    "grazing and resting": (3, 1, 0.5, None, "grazing"),
    "contacts that face each other (jammed)": (2, 1, 1.0, 3, "facing"),
    "restitution, plane": (2, 1, 0.5, None, "elastic"),
    "space, true cone": (3, 2, 0.5, None, ""),
    "one body in space, doubled": (4, 2, 0.7, 6, "double"),
}


def problem_of(name, rng):
    """A problem of a family, in units of length, mass and time that are 1e-6 to 1e6 of others'."""
    nc, nt, mu, nv, twist = FAMILIES[name]
    nv = nv or 3 * nt + 2
    root = rng.normal(size=(nv, nv))
    M = root @ root.T + 0.1 * nv * np.eye(nv)
    Jn, Jt = rng.normal(size=(nc, nv)), rng.normal(size=(nc, nt, nv))
    v = rng.normal(size=nv)
    if twist == "masses":
        stretch = 10.0 ** rng.uniform(-1.5, 1.5, nv)
        M *= stretch[:, None] * stretch
    if twist in ("double", "nearly"):
        Jn[-1], Jt[-1] = Jn[0], Jt[0]
    if twist == "nearly":
        Jn[-1] += 1e-9 * rng.normal(size=nv)
    if twist == "facing":
        Jn[1] = -Jn[0] + 0.01 * rng.normal(size=nv)
    if twist == "grazing":
        v -= np.linalg.pinv(Jn) @ (Jn @ v) * (1.0 - 10.0 ** rng.uniform(-12, 0))
    if (Jn @ v).min() >= 0.0 and twist != "facing":
        v = -v
    length, mass, second = 10.0 ** rng.uniform(-6, 6, 3) if rng.random() < 0.5 else np.ones(3)
    e = 0.5 if twist == "elastic" else 0.0
    return routh.ImpactProblem(mass * M, Jn, Jt, mu, length / second * v, restitution=e)


def attack(name, count, seed, processes=1):
    """Steps and samples of ``count`` problems of a family."""
    for k in range(min(WARM, 1 + count // 50)):
        rng = np.random.default_rng([seed, k])
        judged(problem_of(name, rng), rng, k)
    nc, nt = FAMILIES[name][:2]
    parts = in_processes(part_of_family, [(name, seed, chunk) for chunk in chunks(count)], processes)
    return merged(name, parts, limit=nc * SECONDS["cone" if nt == 2 else "plane"])


def part_of_family(given):
    """Problems of a family by number."""
    name, seed, numbers = given
    found = Found(name)
    for k in numbers:
        rng = np.random.default_rng([seed, list(FAMILIES).index(name), k])
        wrong, honest, seconds = judged(problem_of(name, rng), rng, k)
        found.count(seconds, wrong=f"seed {seed}, problem {k}: {wrong}" if wrong else "", honest=honest)
    return found


def judged(problem, rng, seed):
    """What is wrong, in words ("" for nothing); whether something failed and said so; seconds a sample."""
    honest = False
    if not problem.restitution.any():
        bound = rng.random(problem.nc) * scales(problem)[1] * 10.0 ** rng.uniform(-1.5, 0.5)
        start = time.process_time()
        step = make_step(problem).solve(problem.v, bound)
        spent = time.process_time() - start
        honest = step.status is not Status.SOLVED
        wrong = "" if honest else wrong_step(problem, step.v, step.impulse, bound)
        if not wrong and spent > SECONDS["step"]:
            wrong = f"took {spent:.1f} s"
        if wrong:
            return f"step: {wrong}", False, 0.0
    start = time.process_time()
    outcomes = routh.sample(problem, SAMPLES, seed=seed, threads=1)
    spent = (time.process_time() - start) / SAMPLES
    wrong, failed = judged_samples(problem, outcomes)
    return wrong, honest or failed, spent


def judged_samples(problem, outcomes):
    """What is wrong with the samples, and whether some failed and said so."""
    failed = False
    for i, status in enumerate(map(Status, outcomes.status)):
        wrong = ""
        if status in (Status.NO_IMPACT, Status.NO_CONTACT):
            wrong = "" if np.array_equal(outcomes.v[i], problem.v) else "nothing approaches, and v changed"
        elif status is Status.SOLVED:
            error = float(outcomes.error[i]) if outcomes.error is not None else 0.0
            wrong = wrong_sample(problem, outcomes.v[i], outcomes.impulse[i], error)
            wrong = wrong or wrong_way(problem, outcomes, i)
        else:
            failed = True
        if wrong:
            return f"sample {i}: {wrong}", failed
    return "", failed


def wrong_way(problem, outcomes, i):
    """What is wrong with the path of a sample by events, piece by piece."""
    if outcomes.settings.get("method", "algorithm1") != "events":
        return ""
    path = outcomes.path(i)
    if problem.nt == 1:
        return wrong_path(problem, path, outcomes.v[i], outcomes.impulse[i], scales(problem))
    if outcomes.settings["friction"] == "cone":
        error = float(outcomes.error[i])  # what the sample says of itself
        return wrong_path(problem, path, outcomes.v[i], outcomes.impulse[i], scales(problem), curved=error)
    corners = polygon(outcomes.settings["facets"] or 8)
    return wrong_path(problem, path, outcomes.v[i], outcomes.impulse[i], scales(problem), corners)


def scales(problem):
    """Speed (nc,) and momentum (nc,) of each contact: ``|v|_M / sqrt(m)`` and ``|v|_M sqrt(m)``."""
    energy = np.sqrt(problem.v @ problem.M @ problem.v)
    mass = 1.0 / np.einsum("iv,vi->i", problem.Jn, np.linalg.solve(problem.M, problem.Jn.T))
    return energy / np.sqrt(mass) + 1e-300, energy * np.sqrt(mass) + 1e-300


def wrong_balance(problem, v, impulse, error=0.0):
    """Momentum, cones and energy: what holds of a step and of a whole impact.

    ``error``: what a sample with the true cone says of itself, a share of the speed; what of its impulses is
    outside the cones may move the velocity by so much.
    """
    _, momentum = scales(problem)
    before = np.sqrt(problem.v @ problem.M @ problem.v)
    if not (np.all(np.isfinite(v)) and np.all(np.isfinite(impulse))):
        return "not finite"
    push = impulse[:, 0] @ problem.Jn + np.einsum("ct,ctv->v", impulse[:, 1:], problem.Jt)
    rest = problem.M @ (v - problem.v) - push  # (72b)
    size = np.abs(impulse).sum() / momentum.min() * (1e-3 if problem.mu.max() > HUGE else 1.0)
    if not np.sqrt(abs(rest @ np.linalg.solve(problem.M, rest))) <= TOLERANCE * before * max(1.0, size):
        return "momentum"
    if error > 0.0:
        excess = outside_cones(impulse[None], problem.mu)[0]
        moved = excess[:, 0] @ problem.Jn + np.einsum("ct,ctv->v", excess[:, 1:], problem.Jt)
        excessive = np.sqrt(abs(moved @ np.linalg.solve(problem.M, moved)))
        if not excessive <= (TOLERANCE + error) * before:
            excessive = from_cones(problem, impulse - excess, push)  # contacts that jam undo each other
        if not excessive <= (TOLERANCE + error) * before:
            return "impulses outside their cones by more than the error"
        impulse = impulse - excess
    if not np.all(impulse[:, 0] >= -TOLERANCE * momentum):
        return "a contact pulls"
    slack = TOLERANCE * momentum * np.maximum(problem.mu, 1.0)
    if not np.all(np.linalg.norm(impulse[:, 1:], axis=1) <= problem.mu * impulse[:, 0] + slack):
        return "friction outside its cone"
    if not np.sqrt(v @ problem.M @ v) <= before * (1.0 + TOLERANCE):
        return "energy gained"
    return ""


def wrong_sample(problem, v, impulse, error=0.0):
    """A whole impact: it also has ended."""
    speed, _ = scales(problem)
    if not np.all(problem.Jn @ v >= -TOLERANCE * speed):
        return "a contact still approaches"
    return wrong_balance(problem, v, impulse, error)


def wrong_step(problem, v, impulse, bound):
    """One increment: (72) to (75)."""
    speed, momentum = scales(problem)
    loose = TOLERANCE * (np.maximum(problem.mu, 1.0) if problem.mu.max() > HUGE else 1.0)
    normal, pushed = problem.Jn @ v / speed, impulse[:, 0] / momentum
    if not np.all(pushed <= bound / momentum + TOLERANCE):
        return "more than lambda_max"  # (73)
    short = bound / momentum - pushed > loose
    if np.any(short & (normal < -loose)):
        return "approaches although it could push more"  # (73), (74)
    if np.any((pushed > loose) & (normal > loose)):
        return "pushes while it separates"  # (72c)
    slip = np.einsum("ctv,v->ct", problem.Jt, v)
    for i, size in enumerate(np.linalg.norm(slip, axis=1)):
        against = impulse[i, 1:] + problem.mu[i] * impulse[i, 0] * slip[i] / max(size, 1e-300)
        if size > 1e-5 * speed[i] and np.linalg.norm(against) > 1e-4 * max(1.0, problem.mu[i]) * momentum[i]:
            return "friction not against slip"  # (72d)
    return wrong_balance(problem, v, impulse)
