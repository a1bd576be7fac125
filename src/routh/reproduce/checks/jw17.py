"""JW17: the collision of two bodies at one point; directions, events, published numbers, Table 1."""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

from routh.base import features
from routh.base.status import Status
from routh.base.validation import Array
from routh.compiling.foreign import Foreign
from routh.reproduce import jw17 as exhibits
from routh.reproduce.checks import draws
from routh.reproduce.jw17 import BOWLING, ICOSAHEDRON, PUBLISHED, SOLVERS, TABLE_1
from routh.reproduce.jw17_methods import LINE_TOLERANCE, euler, general_solver
from routh.reproduce.verdicts import Finding, impossible, refuted, unsettled, works

# a feature does not import another one: without it nothing of this module can be checked
two_body, data = features.feature("two_body"), features.feature("two_body.systems")
batch = two_body.batch
contact_velocity = two_body.contact_velocity
frictionless = two_body.frictionless
hodograph = two_body.hodograph
impact = two_body.impact
invariant_directions = two_body.invariant_directions
inverse_inertia = two_body.inverse_inertia
velocities_after = two_body.velocities_after

EVENTS = ("cr", "scr", "csr", "lscr", "lcsr", "lcr", "clsr", "clr")  # JW17 Fig. 9


def _contacts(seed: int, count: int) -> list[tuple[Array, float]]:
    """Random W (3, 3), and friction around what sticking needs."""
    rng = np.random.default_rng(seed)
    needs = []
    for w in draws.inverse_inertias(rng, count):
        need = float(np.linalg.norm(np.linalg.solve(w[:2, :2], w[:2, 2])))
        needs.append((w, need * float(rng.choice([0.1, 0.5, 0.9, 0.99, 1.01, 1.5, 5.0, 50.0]))))
    return needs


def _impacts(seed: int, count: int) -> tuple[Array, Array, Array, Array]:
    """W, v, mu and e of random impacts; some slide slowly, some graze, friction to 1000."""
    rng = np.random.default_rng(seed)
    w, v = draws.inverse_inertias(rng, count), rng.normal(size=(count, 3))
    v[:, 2] = -np.abs(v[:, 2]) * 10.0 ** rng.uniform(-4, 0, count)
    v[:, :2] *= 10.0 ** rng.uniform(-8, 0, (count, 1))
    return w, v, 10.0 ** rng.uniform(-3, 3, count), rng.uniform(0.0, 1.0, count)


def _random_body(rng: np.random.Generator) -> Foreign:
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    inertia, position = rng.uniform(0.1, 1, 3), rng.normal(size=3)
    motion = {"velocity": rng.normal(size=3), "angular_velocity": rng.normal(size=3)}
    return two_body.Body(float(rng.uniform(0.5, 3)), inertia, position, rotation=turn, **motion)


def w_is_definite() -> Finding:
    """W of 200 pairs of random bodies, and the contact velocity after against W times the impulse."""
    rng = np.random.default_rng(0)
    least, off = np.inf, 0.0
    for _ in range(200):
        a, b = _random_body(rng), _random_body(rng)
        point, normal = rng.normal(size=3), rng.normal(size=3)
        if contact_velocity(a, b, point, normal)[2] >= 0.0:
            normal = -normal  # then the bodies approach
        w, v = inverse_inertia(a, b, point, normal), contact_velocity(a, b, point, normal)
        least = min(least, float(np.linalg.eigvalsh(w)[0]))
        result = impact(w, v, float(rng.uniform(0, 2)), 0.5)
        after = velocities_after(a, b, point, normal, result.impulse)
        off = max(off, float(np.abs(contact_velocity(*after, point, normal) - result.contact_velocity).max()))
    return works(
        least > 0.0 and off < 1e-9, {"least eigenvalue (1/kg)": least, "contact velocity off by": off}
    )


def two_balls() -> Finding:
    """W of two balls in closed form."""
    a, b = (
        two_body.Body(m, np.full(3, 0.4 * m * r * r), [0, 0, s * r])
        for m, r, s in ((2.0, 0.3, 1), (3.0, 0.5, -1))
    )
    off = np.abs(inverse_inertia(a, b, [0, 0, 0], [0, 0, 1]) - (5 / 6) * np.diag([3.5, 3.5, 1.0])).max()
    return works(float(off) < 1e-12, {"largest difference (1/kg)": float(off)})


def stronge() -> Finding:
    """The energy returned over that stored, for e = 0.5."""
    energy = impact(*ICOSAHEDRON[:3], 0.5).energy
    share = float(energy.returned / energy.stored)
    return works(abs(share - 0.25) < 1e-10, {"returned over stored, e = 0.5": share})


def energy_created() -> Finding:
    """Random impacts that gain energy in all, and whose normal force does, by each hypothesis."""
    rng = np.random.default_rng(11)
    count = 10000
    w, v = draws.inverse_inertias(rng, count), rng.normal(size=(count, 3))
    v[:, 2] = -np.abs(v[:, 2])
    mu, e = rng.uniform(0.0, 2.0, count), rng.uniform(0.8, 1.0, count)
    before = 0.5 * np.einsum("ni,ni->n", v, np.linalg.solve(w, v[..., None])[..., 0])
    told: dict[str, float | str] = {}
    gains, returns = [], []
    for hypothesis in ("newton", "poisson", "energetic"):
        energy = batch(w, v, mu, e, hypothesis=hypothesis).energy
        gains.append(int(np.count_nonzero(np.asarray(energy.lost) < -1e-6 * before)))
        returns.append(int(np.count_nonzero(np.asarray(energy.created) > 1e-6 * before)))
        told[f"{hypothesis}: gain energy, of {count}"] = float(gains[-1])
        told[f"{hypothesis}: the normal force returns more than it stored"] = float(returns[-1])
    return works(gains[0] > 0 < returns[1] and gains[2] == returns[2] == 0, told)


def condition_18() -> Finding:
    """Impacts that violate (18) end like the others; a sufficient condition, not a necessary one."""
    w, v, mu, e = _impacts(12, 4000)
    margin = w[:, 2, 2] - mu * np.hypot(w[:, 0, 2], w[:, 1, 2])
    solved = batch(w, v, mu, e).status == int(Status.SOLVED)
    numbers = {
        "impacts that violate (18)": float((margin <= 0).sum()),
        "of these that end": float(solved[margin <= 0].sum()),
    }
    return works(bool(solved.all()) and bool((margin > 0).any()), numbers)


def normal_velocity_can_fall() -> Finding:
    """Section 2.3: directions of sliding along which v_z falls while impulse grows, W_zz < mu d.s."""
    w, _, mu, _ = _impacts(13, 4000)
    falls = int((w[:, 2, 2] < mu * np.hypot(w[:, 0, 2], w[:, 1, 2])).sum())
    return works(falls > 0, {"contacts with such a direction": f"{falls} of 4000"})


def proposition_4() -> Finding:
    """B of 1,000 random contacts: the least eigenvalue."""
    w = draws.inverse_inertias(np.random.default_rng(1), 1000)
    least = float((np.linalg.eigvalsh(w[:, :2, :2])[:, 0] / np.trace(w, axis1=1, axis2=2)).min())
    return works(least > 0.0, {"least eigenvalue of B over the trace of W": least})


def theorem_5() -> Finding:
    """Directions of 250 contacts, counted again as changes of sign of f on a fine grid."""
    wrong, counts = 0, dict.fromkeys(range(9), 0)
    theta = np.linspace(-np.pi, np.pi, 7201)
    s = np.array([np.cos(theta), np.sin(theta)])
    for w, mu in _contacts(0, 250):
        found = invariant_directions(w, mu)
        force = w[:2, 2, None] - mu * w[:2, :2] @ s
        f = s[0] * force[1] - s[1] * force[0]
        changes = int(np.sum(f[:-1] * f[1:] < 0.0))
        counts[len(found.angles)] += 1
        wrong += not (2 <= len(found.angles) <= 4 and changes <= len(found.angles) and changes % 2 == 0)
        wrong += found.centrifugal.sum() != (0 if found.sticks else 1) or (~found.centrifugal).sum() < 1
    told = {f"contacts with {number} directions": float(count) for number, count in counts.items() if count}
    return works(wrong == 0, {**told, "counts that contradict": float(wrong)})


def stable_and_unstable_alternate() -> Finding:
    """Stable and unstable directions of 200 contacts, in the order of their angles."""
    wrong = sum(
        bool(np.any(found.stable == np.roll(found.stable, 1)))
        for found in (invariant_directions(w, mu) for w, mu in _contacts(2, 200))
    )
    return works(wrong == 0, {"contacts": 200, "where two neighbours are alike": wrong})


def corollary_6() -> Finding:
    """Slip that runs into the origin exactly along the centripetal direction leaves it along the other."""
    found = invariant_directions(data.ICOSAHEDRON_W, 0.25)
    inward = found.vectors[~found.centrifugal][0]
    course = hodograph(data.ICOSAHEDRON_W, np.array([*(0.2 * inward), -0.8]), 0.25, 0.95)
    least = float(np.linalg.norm(course.sliding, axis=1).min())
    end = course.sliding[-1]
    off = float(np.abs(end / np.linalg.norm(end) - found.vectors[found.centrifugal][0]).max())
    numbers = {"least sliding velocity (m/s)": least, "direction after, off by (rad)": off}
    return works(least < 1e-12 and off < 1e-9 and len(found.vectors[found.centrifugal]) == 1, numbers)


def stays_between_directions() -> Finding:
    """60 hodographs until slip vanishes: how far their direction goes beyond the next invariant ones."""
    rng = np.random.default_rng(3)
    worst, told = -np.inf, 0
    for _ in range(60):
        root, v = rng.normal(size=(3, 3)), rng.normal(size=3)
        w, mu = root @ root.T + 0.05 * np.eye(3), float(rng.uniform(0.0, 2.0))
        angles = np.asarray(invariant_directions(w, mu).angles)
        course = hodograph(w, [v[0], v[1], -abs(v[2])], mu, 0.5).sliding
        speed = np.linalg.norm(course, axis=1)
        gone = np.flatnonzero(speed < 1e-3 * speed[0])
        course = course[: gone[0]] if len(gone) else course
        direction = np.unwrap(np.arctan2(course[:, 1], course[:, 0]))
        away = np.angle(np.exp(1j * (direction[0] - angles)))
        turned = direction - direction[0]
        ahead, behind = (-away[away < 0]).min(initial=np.inf), away[away >= 0].min(initial=np.inf)
        worst = max(worst, float(turned.max() - ahead), float(-turned.min() - behind))
        told += bool(np.ptp(turned) > 0.05)
    return works(
        worst < 1e-6 and told > 20, {"farthest beyond (rad)": worst, "that turn by more than 0.05 rad": told}
    )


def stick_in_the_example() -> Finding:
    """|B^-1 d| of the printed W."""
    w = np.array(data.ICOSAHEDRON_W)
    need = float(np.linalg.norm(np.linalg.solve(w[:2, :2], w[:2, 2])))
    return works(round(need, 4) == 0.3157, {"|B^-1 d|": need, "printed": 0.3157})


def frictionless_impulse() -> Finding:
    """The icosahedron's normal impulse without friction."""
    W, v, _, e = ICOSAHEDRON
    return works(
        round(float(frictionless(W, v, e)[2]), 3) == 0.058, {"I_z (N s)": float(frictionless(W, v, e)[2])}
    )


def event_l() -> Finding:
    """The angle to every invariant direction against its first value times exp(-L tau), L the largest |f'|.

    f is smooth on the circle and zero at an invariant direction, so that the angle cannot fall faster, and is
    never zero unless it starts there.
    """
    least, reached, on_it = np.inf, 0, 0.0
    for mu in (0.25, 0.35, 0.4, 0.55, 0.8, 3.0):
        w = np.array(data.ICOSAHEDRON_W)
        found = invariant_directions(w, mu)
        largest = mu * float(np.linalg.norm(w[:2, :2], 2)) * 2.0 + float(np.linalg.norm(w[:2, 2]))
        tau = np.linspace(0.0, 8.0 / largest, 200)
        for start in np.linspace(-3.0, 3.0, 13):
            run = solve_ivp(
                _turning, (0.0, tau[-1]), [start], args=(w, mu), t_eval=tau, rtol=1e-11, atol=1e-13
            )
            away = np.abs(np.angle(np.exp(1j * (run.y[0][:, None] - found.angles))))
            least = min(least, float((away / (away[0] * np.exp(-largest * tau)[:, None])).min()))
            reached += bool((away == 0.0).any())
        for angle in found.angles:
            course = hodograph(w, [math.cos(angle), math.sin(angle), -0.05], mu, 0.0).sliding
            across = course @ np.array([-math.sin(angle), math.cos(angle)])
            on_it = max(on_it, float(np.abs(across).max()))
    numbers = {"least angle over its bound": least, "starts on a direction: farthest beside it (m/s)": on_it}
    return impossible(least >= 1.0 - 1e-6 and reached == 0 and on_it < 1e-6, numbers)


def _turning(tau: float, y: Array, w: Array, mu: float) -> list[float]:
    """theta' = f(theta), docs/theory/two_body.md."""
    x, z = math.cos(y[0]), math.sin(y[0])
    fx = w[0, 2] - mu * (w[0, 0] * x + w[0, 1] * z)
    fy = w[1, 2] - mu * (w[0, 1] * x + w[1, 1] * z)
    return [x * fy - z * fx]


def figure_9() -> Finding:
    """Sequences of events of 20,000 random impacts with the angle of the captions for l, and of no others."""
    rng = np.random.default_rng(6)
    w, v, _, e = _impacts(14, 20000)
    v[:, 2] = -np.abs(rng.normal(size=len(v)))
    v[:, :2] = rng.normal(size=(len(v), 2))
    e = np.maximum(e, 0.05)
    mu = rng.uniform(0.05, 3.0, len(v))
    counts = batch(w, v, mu, e, event_tolerance=exhibits.CAPTION_TOLERANCE).event_counts()
    plain = {name: count for name, count in counts.items() if "k" not in name}
    told: dict[str, float | str] = {name: float(plain.get(name, 0)) for name in EVENTS}
    others = sorted(set(plain) - set(EVENTS))
    return works(
        all(plain.get(name) for name in EVENTS) and not others, told | {"others": ", ".join(others) or "none"}
    )


def captions() -> Finding:
    """Events of the eight captions, with l within 1e-2 rad and within 1e-3."""
    told, holds = {}, True
    for name, chosen in data.ICOSAHEDRON_VARIATIONS.items():
        case = exhibits.case_of(name)
        coarse = impact(*case, event_tolerance=exhibits.CAPTION_TOLERANCE).events
        told[f"Fig. {name}"] = f"{chosen.events}, at 1e-2 {coarse}, at 1e-3 {impact(*case).events}"
        holds &= coarse == chosen.events
    return works(holds, told)


def figure_4() -> Finding:
    """Invariant directions of Figs. 4(b) to (d), and the captions."""
    counts = []
    for name in ("4b", "4c", "4d"):
        found = invariant_directions(data.ICOSAHEDRON_W, data.ICOSAHEDRON_VARIATIONS[name].mu)
        counts.append((int((~found.centrifugal).sum()), int(found.centrifugal.sum())))
    told = {"centripetal and centrifugal in (b), (c), (d)": str(counts), **captions().numbers}
    return works(counts == [(2, 0), (1, 1), (4, 0)] and captions().verdict == "works", told)


def figure_5() -> Finding:
    """The order of events, and v_z before and after c, where the curve crosses the plane of compression."""
    course = hodograph(*ICOSAHEDRON)
    row = dict(course.marks)["c"]
    before, after = float(course.normal_velocity[row - 1]), float(course.normal_velocity[row + 1])
    numbers: dict[str, float | str] = {"events": course.events, "v_z before c": before, "v_z after c": after}
    return works(course.events == "csr" and before < 0.0 < after, numbers)


def figure_6() -> Finding:
    """Hodographs that reach the origin exactly, of 15 evenly spread ones."""
    shares = exhibits.least_shares(0.8, -0.2, exhibits.angles_of_figure_6())
    reach = int((shares < exhibits.REACHED).sum())
    return works(
        reach == 11,
        {
            "reach the origin": f"{reach} of 15",
            "least of the others": float(shares[shares >= exhibits.REACHED].min()),
        },
    )


def figure_7() -> Finding:
    """The least sliding velocity of Fig. 7 as a share of the first: zero is what event s is."""
    W, v, mu, e = exhibits.case_of("7")
    share = exhibits.least_share(W, v, mu, e)
    found = invariant_directions(W, mu)
    inward = found.angles[~found.centrifugal]
    start = np.asarray(v, dtype=np.float64)
    turned = math.atan2(start[1], start[0]) - inward
    away = float(np.degrees(np.abs(np.angle(np.exp(1j * turned))).min()))
    unstable = not bool(found.stable[~found.centrifugal].any())
    numbers = {
        "least sliding velocity (share of the first)": share,
        "start beside the centripetal direction (degrees)": away,
    }
    return refuted(share > 1e-4 and away > 0.1 and unstable, numbers)


def figure_8() -> Finding:
    """Starts beside the centripetal direction: only the exactly centripetal one reaches the origin."""
    found = invariant_directions(data.ICOSAHEDRON_W, 0.25)
    inward = float(found.angles[~found.centrifugal][0])
    beside = np.array([0.0, 0.1, 1.0, 3.0, 6.5, 10.0])
    shares = exhibits.least_shares(0.25, -0.8, inward + np.radians(beside))
    told: dict[str, float | str] = {
        f"{angle:g} degrees beside: least share": float(x) for angle, x in zip(beside, shares, strict=True)
    }
    unstable = not bool(found.stable[~found.centrifugal].any())
    return refuted(
        unstable and shares[0] < exhibits.REACHED and bool(np.all(shares[1:] > exhibits.REACHED)), told
    )


def impulses_follow() -> Finding:
    """Velocities after from the printed impulse and (1): both linear ones, and the icosahedron's spin."""
    impulse = np.array(PUBLISHED["icosahedron-tetrahedron"])
    off = max(
        np.abs(np.array([-0.1, 0.5, 0.95]) + impulse / 3.0 - [-0.101089, 0.480258, 0.983567]).max(),
        np.abs(np.array([0.1, 0.1, 1.0]) - impulse - [0.103267, 0.159226, 0.8993]).max(),
    )
    turn = np.linalg.norm(np.cross([0.0, 0.0, -data.ICOSAHEDRON_HEIGHT], impulse)) / data.ICOSAHEDRON_INERTIA
    spun = np.linalg.norm(np.array([0.138764, -0.100369, 0.0755903]) - 0.1)
    numbers = {
        "linear velocities off by (m/s)": float(off),
        "|w1+ - w1-| (rad/s)": float(turn),
        "printed": float(spun),
    }
    return works(float(off) < 1e-6 and abs(float(turn - spun)) < 2e-6, numbers)


def equation_15() -> Finding:
    """I_z by the v_z that the printed W, Q2 and o2 give, instead of the one fitted to (15)."""
    found = exhibits.without_15()
    v = np.array([*np.asarray(data.ICOSAHEDRON_V)[:2], found.v_z])
    ours = float(impact(data.ICOSAHEDRON_W, v, 0.8, 0.95).impulse[2])
    numbers = {
        "v_z (m/s)": found.v_z,
        "I_z (N s)": ours,
        "printed": 0.1007,
        "misfit of W (1/kg)": found.misfit,
    }
    return unsettled(abs(ours - 0.1007) < 5e-5, numbers)


def spin_of_the_icosahedron() -> Finding:
    """The printed w1+ fixes R1 up to an angle, and one combination of v_t: how far off is the fitted?"""
    off = exhibits.without_15().beside_line
    return works(abs(off) < 1e-5, {"fitted v_t beside the line (m/s)": off})


def spin_of_the_tetrahedron() -> Finding:
    """The change of spin of body 2 by R2, Q2 and the printed impulse."""
    found = exhibits.without_15()
    off = float(np.abs(found.spin - (exhibits.OMEGA_2[1] - exhibits.OMEGA_2[0])).max())
    rounding = (
        5e-5 * float(np.linalg.norm(exhibits.O_2[:2])) / float(exhibits.Q_2.min())
    )  # of the printed I_z
    return works(off < rounding, {"largest difference from the printed (rad/s)": off})


def inertia_of_the_tetrahedron() -> Finding:
    """Principal inertias of the printed vertices, mass 1, beside Q2; and W of them beside (13)."""
    corners = np.array([[0, 0, 0], [0, 0, -0.75], [0.5, 0, -0.5], [0, 0.5, -0.5]], dtype=np.float64)
    arms = corners - corners.mean(axis=0)
    spread = arms.T @ arms / 20.0
    inertia = np.trace(spread) * np.eye(3) - spread
    principal = np.linalg.eigvalsh(inertia)
    P_1, P_2 = (
        exhibits.cross_matrix(np.array([0.0, 0.0, -data.ICOSAHEDRON_HEIGHT])),
        exhibits.cross_matrix(-exhibits.O_2),
    )
    W = (4 / 3) * np.eye(3) - P_1 @ P_1 / data.ICOSAHEDRON_INERTIA - P_2 @ np.linalg.inv(inertia) @ P_2
    printed, ours = np.array(data.ICOSAHEDRON_W), np.round(W, 4)
    numbers = {
        "principal inertias (kg m^2)": ", ".join(f"{x:.6f}" for x in principal),
        "printed Q2": ", ".join(f"{x:.6f}" for x in np.sort(exhibits.Q_2)),
        "W_yy, printed": f"{ours[1, 1]:.4f}, {printed[1, 1]:.4f}",
        "W_xy, printed": f"{ours[0, 1]:.4f}, {printed[0, 1]:.4f}",
    }
    differ = np.abs(principal - np.sort(exhibits.Q_2)).max() > 5e-4 and np.abs(W - printed).max() > 0.5
    return refuted(bool(differ), numbers)


def pin_and_ball() -> Finding:
    """The pin's impulse, for which v was fitted: that such a v exists is all that is shown."""
    ours = impact(*BOWLING).impulse
    off = float(np.abs(ours - np.array(PUBLISHED["bowling"])).max())
    return unsettled(False, {"largest difference, v fitted (N s)": off})


def integration() -> Finding:
    """Both published collisions by power series, step by step, and by DOP853 at 1e-10: both integrate."""
    off = {}
    for name, case in zip(PUBLISHED, (ICOSAHEDRON, BOWLING), strict=True):
        other = np.array(general_solver(*case, "DOP853", rtol=1e-10).impulse)
        off[f"{name}: difference (N s)"] = float(np.abs(other - impact(*case).impulse).max())
    return works(max(off.values()) < 1e-6, off)


def termination() -> Finding:
    """Impacts that try not to end: 20,000 random ones, and a search for the least rise of v_z.

    (-mu s, 1) W (-mu s, 1) is at least the least eigenvalue times 1 + mu^2; a search over W and mu that goes
    below would break the proof.
    """
    solved = batch(*_impacts(7, 20000))
    unfinished = int(np.count_nonzero(solved.status != int(Status.SOLVED)))
    rng, least = np.random.default_rng(8), np.inf
    for _ in range(6):
        found = minimize(_rise, rng.normal(size=7), method="Nelder-Mead", options={"maxiter": 250})
        least = min(least, float(found.fun))
    numbers = {"impacts that do not end, of 20000": float(unfinished)}
    numbers |= {"least of dv_z/dI_z - mu g over its bound": least}
    return works(unfinished == 0 and least >= 1.0 - 1e-6 and bool(np.isfinite(solved.impulse).all()), numbers)


def _rise(x: Array) -> float:
    """The least of (dv_z/dI_z - mu g) over lambda_min (1 + mu^2), of any invariant direction with g >= 0."""
    root = np.zeros((3, 3))
    root[np.tril_indices(3)] = x[:6]
    w = root @ root.T + 1e-3 * np.eye(3)
    mu = float(np.exp(np.clip(x[6], -5.0, 5.0)))
    found = invariant_directions(w, mu)
    outward = found.rates >= 0.0
    if found.every or not outward.any():
        return 1e3
    rise = w[2, 2] - mu * found.vectors[outward] @ w[:2, 2] - mu * found.rates[outward]
    return float(rise.min() / (np.linalg.eigvalsh(w)[0] * (1.0 + mu * mu)))


def uniqueness() -> Finding:
    """Ways out of the origin of 400 contacts: stick, or one stable centrifugal direction, never both."""
    wrong = 0
    for w, mu in _contacts(9, 400):
        found = invariant_directions(w, mu)
        out = found.centrifugal
        wrong += int(out.sum()) != (0 if found.sticks else 1) or not bool(np.all(found.stable[out]))
    return works(wrong == 0, {"contacts": 400, "with two ways out, or an unstable one": wrong})


def _counts(name: str, case: exhibits.Case) -> dict[str, tuple[int, int]]:
    """Method -> (printed, ours): iterations of Table 1."""
    counts = {}
    for method, (step, printed, *_) in TABLE_1[name].items():
        near = None if method == "NI" else LINE_TOLERANCE
        counts[method] = printed, euler(*case, step, near).iterations
    return counts


def _told(counts: dict[str, tuple[int, int]]) -> dict[str, float | str]:
    return {f"{method}: printed, ours": f"{printed}, {ours}" for method, (printed, ours) in counts.items()}


def table_1_plain() -> Finding:
    """Iterations of plain integration, both collisions."""
    counts = {
        name: _counts(name, case)["NI"] for name, case in zip(PUBLISHED, (ICOSAHEDRON, BOWLING), strict=True)
    }
    return works(all(printed == ours for printed, ours in counts.values()), _told(counts))


def table_1_pin() -> Finding:
    """Iterations of Algorithm 1 on the pin, by the tolerance of event l that gives both."""
    counts = _counts("bowling", BOWLING)
    return works(all(printed == ours for printed, ours in counts.values()), _told(counts))


def table_1_icosahedron() -> Finding:
    """Iterations of Algorithm 1 on the icosahedron by the same tolerance."""
    counts = _counts("icosahedron-tetrahedron", ICOSAHEDRON)
    return unsettled(all(printed == ours for printed, ours in counts.values()), _told(counts))


def table_1_truth() -> Finding:
    """Iterations of the "truth" (steps of 1e-6) by the tolerance of the pin's counts: within one per cent."""
    counts = {
        name: (exhibits.TRUTH[name], euler(*case, 1e-6).iterations)
        for name, case in zip(PUBLISHED, (ICOSAHEDRON, BOWLING), strict=True)
    }
    off = max(abs(ours / printed - 1.0) for printed, ours in counts.values())
    told = _told(counts) | {"farthest (%)": 100.0 * off, "needed |gamma x gamma'|": "0.0057 and 0.0059"}
    return works(off < 0.015, told)


def table_1_errors() -> Finding:
    """Errors of the three methods against the printed impulse, and of the printed "truth"'s own stop."""
    numbers: dict[str, float | str] = {}
    near = True
    for name, case in zip(PUBLISHED, (ICOSAHEDRON, BOWLING), strict=True):
        printed = np.array(PUBLISHED[name])
        for method, (step, _, _, error) in TABLE_1[name].items():
            run = euler(*case, step, None if method == "NI" else LINE_TOLERANCE)
            ours = float(np.linalg.norm(np.array(run.impulse) - printed))
            numbers[f"{name}, {method}: printed, ours (N s)"] = f"{error:.3g}, {ours:.3g}"
            near &= abs(ours / error - 1.0) < 0.05
        stop = np.array(euler(*case, 1e-6).impulse) - impact(*case).impulse
        numbers[f"{name}, the truth's way from its stop (N s)"] = float(np.linalg.norm(stop))
    return unsettled(near, numbers)


def table_1_ratios() -> Finding:
    """What the text says of Table 1's times and errors, from the table itself."""
    first, second = TABLE_1["icosahedron-tetrahedron"], TABLE_1["bowling"]
    faster, half = first["NI"][2] / first["VS"][2] - 1.0, first["FS"][2] / first["VS"][2] - 1.0
    other, nearer = second["NI"][2] / second["VS"][2], second["NI"][3] / second["VS"][3]
    numbers = {
        "NI over VS, less one": faster,
        "FS over VS, less one": half,
        "pin: NI over VS": other,
        "pin: errors": nearer,
    }
    holds = int(faster) == 74 and abs(half - 0.5) < 0.02 and round(other) == 662 and round(nearer) == 25
    return works(holds, numbers)


def steps_against_plain() -> Finding:
    """Evaluations of the right-hand side by VS over those of NI, both collisions."""
    shares = {}
    for name, case in zip(PUBLISHED, (ICOSAHEDRON, BOWLING), strict=True):
        counts = {method: ours for method, (_, ours) in _counts(name, case).items()}
        shares[f"{name}: steps of VS over those of NI"] = counts["VS"] / counts["NI"]
    return works(max(shares.values()) < 1.0, shares)


def against_solvers() -> Finding:
    """Evaluations of (31) by SciPy's solvers with events, at 1e-3 and 1e-6, and by VS."""
    numbers: dict[str, float | str] = {}
    fewer = True
    for name, case in zip(PUBLISHED, (ICOSAHEDRON, BOWLING), strict=True):
        steps = euler(*case, None).iterations
        numbers[f"{name}, VS: steps, each with a curvature"] = float(steps)
        for kind in SOLVERS:
            counts = [general_solver(*case, kind, rtol=rtol).iterations for rtol in (1e-3, 1e-6)]
            numbers[f"{name}, {kind}: evaluations at 1e-3, 1e-6"] = f"{counts[0]}, {counts[1]}"
            fewer &= min(counts) > steps
    return works(fewer, numbers)


def accuracy_of_solvers() -> Finding:
    """Errors of SciPy's solvers with events at 1e-3 and 1e-6, and of VS; NDSolve is not at hand."""
    numbers: dict[str, float | str] = {}
    for name, case in zip(PUBLISHED, (ICOSAHEDRON, BOWLING), strict=True):
        truth = impact(*case).impulse
        numbers[f"{name}, VS: error (N s)"] = float(
            np.linalg.norm(np.array(euler(*case, None).impulse) - truth)
        )
        for kind in SOLVERS:
            off = [
                np.linalg.norm(np.array(general_solver(*case, kind, rtol=x).impulse) - truth)
                for x in (1e-3, 1e-6)
            ]
            numbers[f"{name}, {kind}: error at 1e-3, 1e-6"] = f"{off[0]:.1e}, {off[1]:.1e}"
    return unsettled(False, numbers)


def microseconds() -> Finding:
    """20,000 copies of the icosahedron's impact in bulk: time of one."""
    seconds = features.feature("two_body.api").kernel_seconds(*exhibits.copies(ICOSAHEDRON, 20000))
    return works(seconds < 1e-4, {"time of an impact (s)": seconds, "the paper's VS (s)": 0.0004134})
