"""D19 section 6, section 7 and appendix A: contacts with friction, the incline, stacks, forces blindly.

Where the paper draws a figure with its program, the program is run here for the whole time, beside
routh's own solver of Coulomb's law.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import LinearConstraint, NonlinearConstraint, minimize

from routh.base.status import Status
from routh.base.validation import Array, Options
from routh.constraints import (
    Bilateral,
    Compliance,
    ConstrainedSystem,
    Contact,
    Unilateral,
    forces_at,
    from_model,
    solve,
)
from routh.constraints.stiffness import Hertz
from routh.models.base import State
from routh.models.planar import PlanarModel, PlaneContact, Revolute, box, link
from routh.reproduce.checks import draws
from routh.reproduce.d19 import ANGLE, ON_THE_INCLINE, slid_and_lifted
from routh.reproduce.d19_program import PaperProgram, paper_program, solve_paper
from routh.reproduce.verdicts import Finding, refuted, unsettled, works
from routh.systems.d19 import motion_of

G = 9.81


def random_system(rng: np.random.Generator, *, damper: float = 1.0) -> ConstrainedSystem:
    """Two bilateral rows, one unilateral one and two contacts in space, for appendix A."""
    nv, dt = 8, 0.01
    spring: Options = {"stiffness": 1e3, "damping": 2.0}
    items: list[Bilateral | Unilateral | Contact] = [
        Bilateral(rng.normal(size=(2, nv)), 0.01 * rng.normal(size=2), bias=rng.normal(size=2), **spring),
        Unilateral(rng.normal(size=(1, nv)), -0.01 * rng.random(1), bias=rng.normal(size=1), **spring),
        Contact(
            rng.normal(size=(2, nv)), rng.normal(size=(2, 2, nv)), -0.01 * rng.random(2), mu=0.4,
            tangential_damping=damper, bias=rng.normal(size=(2, 3)), **spring,
        ),
    ]  # fmt: skip
    return ConstrainedSystem(draws.mass(rng, nv), rng.normal(size=nv), rng.normal(size=nv), items, dt)


def literal(system: ConstrainedSystem) -> tuple[Array, Array, Array, Array]:
    """H, g, A, q of (183)-(198), written down as printed, over (lambda_n, lambda_r, lambda_s, lambda_u)."""
    b, u, c = system.constraints
    assert isinstance(b, Bilateral)
    assert isinstance(u, Unilateral)
    assert isinstance(c, Contact)
    assert c.tangential_damping is not None
    h, v, f = system.dt, system.v, system.f
    Mi = np.linalg.inv(np.asarray(system.M))
    Gn, Gr, Gs = c.Jn, c.Jt[0::2], c.Jt[1::2]
    Gb, Gu = b.G, u.G
    D = -(h * h * b.stiffness + h * b.damping)[:, None] * (Gb @ Mi)
    C = np.eye(len(b)) - D @ Gb.T

    def wish(rows: Array, K: Array, B: Array, phi: Array, bias: Array, inner: Array) -> Array:
        rate = rows @ v + h * (rows @ Mi @ inner + bias)
        return np.linalg.inv(rows @ Mi @ rows.T) @ bias + K * phi + (h * K + B) * rate

    cb = -wish(Gb, b.stiffness, b.damping, b.phi, b.bias, f)
    A = Mi @ (Gb.T @ np.linalg.solve(C, D) + np.eye(len(v)))
    inner = Gb.T @ np.linalg.solve(C, cb) + f
    star = np.vstack([Gn, Gr, Gs, Gu])
    nc = len(c)
    Kt, Bt = c.tangential_stiffness, c.tangential_damping
    slip = (h * h * Kt + h * Bt)[:, None]
    E, F = slip * (Gr @ A @ star.T), slip * (Gs @ A @ star.T)
    d = wish(Gr, Kt, Bt, c.deformation[:, 0], c.bias[:, 1], inner)
    e = wish(Gs, Kt, Bt, c.deformation[:, 1], c.bias[:, 2], inner)
    pick = np.eye(star.shape[0])
    Ir, Is = pick[nc : 2 * nc], pick[2 * nc : 3 * nc]
    zeta = np.concatenate([np.full(nc, 1 / h), np.ones(2 * nc), np.full(len(u), 1 / h)])
    H = np.diag(zeta) + (Ir + E).T @ (Ir + E) + (Is + F).T @ (Is + F)
    g = (Ir + E).T @ d + (Is + F).T @ e
    normal = [(h * h * item.stiffness + h * item.damping)[:, None] for item in (u, c)]
    rows = np.vstack([normal[0] * (Gu @ A @ star.T), normal[1] * (Gn @ A @ star.T)])
    rows += np.vstack([pick[3 * nc :], pick[:nc]])
    wishes = [
        wish(Gu, u.stiffness, u.damping, u.phi, u.bias, inner),
        wish(Gn, c.stiffness, c.damping, c.phi, c.bias[:, 0], inner),
    ]
    return H, g, rows, -np.concatenate(wishes)


def printed_order(system: ConstrainedSystem) -> np.ndarray:
    """The printed order (n, r, s, u) as indices into ours (u, n, tangents contact by contact)."""
    nc, nu = len(system.constraints[2]), len(system.constraints[1])
    t = nu + nc + np.arange(2 * nc)
    return np.concatenate([nu + np.arange(nc), t[0::2], t[1::2], np.arange(nu)])


def printed_form(program: PaperProgram) -> tuple[Array, Array, Array]:
    """H of (183), g of (184) and A of (185) from what the solver is given."""
    law = np.eye(len(program.X)) + program.X[:, None] * (program.W @ program.W.T)
    top, slope = law[: program.first], law[program.first :]  # (0 I) + (E; F) of (195)-(196)
    weights = np.concatenate([np.full(program.first, program.zeta), np.ones(len(program.d))])
    return np.diag(weights) + slope.T @ slope, slope.T @ program.d, top


def appendix_a() -> Finding:
    """What the solver of the program is given against the print, for ten random systems."""
    worst, least = 0.0, np.inf
    for trial in range(10):
        system = random_system(np.random.default_rng(trial))
        program, at = paper_program(system), printed_order(system)
        hessian, gradient, rows = printed_form(program)
        H, g, A, q = literal(system)
        pairs = ((hessian[np.ix_(at, at)], H), (gradient[at], g), (rows[:, at], A), (program.q, q))
        worst = max(worst, *(float(np.abs(one - two).max() / np.abs(two).max()) for one, two in pairs))
        least = min(least, float(np.linalg.eigvalsh(H)[0]))
    return works(
        worst < 1e-8 and least > 0.0, {"largest difference (share)": worst, "least eigenvalue of H": least}
    )


def one_cone_program() -> Finding:
    """The program's answers for six random systems against SLSQP on the printed matrices."""
    above, outside = -np.inf, -np.inf
    for trial in range(6):
        system = random_system(np.random.default_rng(trial))
        result = solve_paper(system)
        H, g, A, q = literal(system)
        _, lu, lc = result.forces
        mine = np.concatenate([lc[:, 0], lc[:, 1], lc[:, 2], lu])
        other = _by_slsqp(H, g, A, q, mine, len(lc), len(lu))
        value = 0.5 * mine @ H @ mine + g @ mine
        above = max(above, float(value - other) / (abs(float(value)) + 1.0))
        slack = np.concatenate([A @ mine - q, 0.4 * lc[:, 0] - np.hypot(lc[:, 1], lc[:, 2])])
        outside = max(outside, float((-slack / (1.0 + np.abs(q).max())).max()))
    numbers = {"above SLSQP's minimum by (share)": above, "constraints broken by (share)": outside}
    return works(above < 1e-5 and outside < 1e-6, numbers)


def _by_slsqp(H: Array, g: Array, A: Array, q: Array, near: Array, nc: int, nu: int) -> float:
    """The least value of the printed program, by a general solver that starts beside an answer."""
    cone = NonlinearConstraint(
        lambda x: 0.16 * x[:nc] ** 2 - x[nc : 2 * nc] ** 2 - x[2 * nc : 3 * nc] ** 2, 0, np.inf
    )
    start = near + 0.1 * np.abs(near).max() * np.concatenate([np.ones(nc), np.zeros(2 * nc), np.ones(nu)])
    answer = minimize(
        lambda x: 0.5 * x @ H @ x + g @ x, start, jac=lambda x: H @ x + g, method="SLSQP",
        bounds=[(0, None)] * nc + [(None, None)] * (2 * nc) + [(0, None)] * nu,
        constraints=[LinearConstraint(A, q, np.inf), cone], options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip
    return float(answer.fun)


def program_is_not_coulombs_law() -> Finding:
    """A block that slides for 0.1 s, mu = 0.25: how far the program lifts it, and Coulomb's law."""
    lifts = {}
    for name, rule in (("ours", {}), ("program", {"rule": solve_paper})):
        run = motion_of("block-on-incline", mu=0.25).run(duration=0.1, **rule)
        lifts[f"{name}: largest lift (m)"] = float(np.abs(slid_and_lifted(run)[1]).max())
    return refuted(lifts["program: largest lift (m)"] > 1e-4 > 1e3 * lifts["ours: largest lift (m)"], lifts)


def figure_9() -> Finding:
    """Distances after the whole second by our solver and by the printed program, and in closed form.

    Fig. 9 is reproduced by what slides as far as the closed form says, and stays on the ramp.
    """
    numbers: dict[str, float | str] = {}
    ours_off = program_off = lifted = 0.0
    for mu in ON_THE_INCLINE:
        motion = motion_of("block-on-incline", mu=mu)
        closed = max(G * (math.sin(ANGLE) - mu * math.cos(ANGLE)), 0.0) * 1.01 / 2.0  # a t (t + h) / 2
        far = {}
        for name, rule in (("ours", {}), ("program", {"rule": solve_paper})):
            down, up = slid_and_lifted(motion.run(**rule))
            far[name] = float(down[-1]), float(np.abs(up).max())
        ours_off = max(ours_off, abs(far["ours"][0] - closed))
        program_off, lifted = (
            max(program_off, abs(far["program"][0] - closed)),
            max(lifted, far["program"][1]),
        )
        numbers[f"mu = {mu:g}: closed form, ours, program (m)"] = (
            f"{closed:.4f}, {far['ours'][0]:.4f}, {far['program'][0]:.4f}; lifts {far['program'][1]:.2g}"
        )
    numbers["ours off by (m)"] = ours_off
    return refuted(ours_off < 1e-3 and program_off > 0.1 and lifted > 0.05, numbers)


def coulombs_law_slides_and_sticks() -> Finding:
    """What slides and what sticks by our solver after one second, against the closed form."""
    numbers, off = {}, 0.0
    for mu in ON_THE_INCLINE:
        down, _ = slid_and_lifted(motion_of("block-on-incline", mu=mu).run())
        closed = max(G * (math.sin(ANGLE) - mu * math.cos(ANGLE)), 0.0) * 1.01 / 2.0
        off = max(off, abs(float(down[-1]) - closed))
        numbers[f"mu = {mu:g}: slid (m)"] = float(down[-1])
    return works(
        off < 1e-3 and numbers["mu = 0.375: slid (m)"] < 1e-4 < numbers["mu = 0.25: slid (m)"], numbers
    )


def friction_opposes_motion() -> Finding:
    """A block that slips on the floor in 64 directions: friction against slip, by both."""
    off = {"ours": 0.0, "program": 0.0}
    up = dict.fromkeys(off, 0.0)
    for angle in np.arange(64) * 2 * np.pi / 64:
        slip = np.array([np.cos(angle), np.sin(angle), 0.0])
        contact = Contact(
            [[0.0, 0, 1]], [[[1.0, 0, 0], [0, 1, 0]]], [-9.81e-9], mu=0.3, stiffness=1e9, damping=1.0
        )
        system = ConstrainedSystem(np.eye(3), np.array([0, 0, -9.81]), slip, [contact], 0.01)
        for name, result in (("ours", solve(system)), ("program", solve_paper(system))):
            force = result.forces[0][0]
            across = abs(force[1] * slip[1] - force[2] * slip[0]) / abs(force[0])
            off[name], up[name] = max(off[name], float(across)), max(up[name], abs(float(result.v[2])))
    smooth = [
        Contact([[0.0, 0, 1]], [[[1.0, 0, 0], [0, 1, 0]]], [-9.81e-9], mu=0.0, stiffness=1e9, damping=1.0)
    ]
    free = ConstrainedSystem(np.eye(3), np.array([0, 0, -9.81]), np.array([1.0, 0, 0]), smooth, 0.01)
    slide = max(float(np.abs(each(free).forces[0][0][1:]).max()) for each in (solve, solve_paper))
    numbers = {f"{name}: friction across slip (share of the normal force)": x for name, x in off.items()}
    numbers |= {f"{name}: velocity upwards after one step (m/s)": x for name, x in up.items()}
    numbers["friction at mu = 0 (N)"] = slide
    return works(max(off.values()) < 1e-6 and slide < 1e-12, numbers)


def depth() -> Finding:
    """How deep 2.5 N press a foot by (121) with E* = 1e11 and r = 1 cm."""
    sunk = float(Hertz(1e11, 0.01, factor=1.0).depth(2.5))
    share = G * math.cos(ANGLE) / 4.0
    return refuted(sunk > 20e-8, {"depth (m)": sunk, "printed (m)": 1e-8, "weight on a foot (N)": share})


def weight_on_a_foot() -> Finding:
    """The mean normal force of a foot over the last tenth of a second, mu = 0.375, by both."""
    told = {}
    for name, rule in (("ours", {}), ("program", {"rule": solve_paper})):
        run = motion_of("block-on-incline", mu=0.375).run(**rule)
        told[f"{name}: mean normal force of a foot (N)"] = float(run.forces["contacts"][-10:, :, 0].mean())
    return works(all(2.2 < force < 2.6 for force in told.values()), told)


def no_failed_solve() -> Finding:
    """The program over the whole second with B = 1e6 / h, at the four frictions of section 6.4."""
    failed, told = 0, {}
    for mu in ON_THE_INCLINE:
        run = motion_of("block-on-incline", mu=mu).run(rule=solve_paper)
        assert run.residuals is not None
        failed += len(run.failures())
        told[f"mu = {mu:g}: failed solves of 100, largest residual"] = (
            f"{len(run.failures())}, {float(np.nanmax(run.residuals)):.1e}"
        )
    return works(failed == 0, told)


def no_creep() -> Finding:
    """How far the block creeps in one second at mu = 0.375, B = 1e6 / h, by both, at h = 0.01 and 0.001."""
    told = {}
    for dt in (0.01, 0.001):
        for name, rule in (("ours", {}), ("program", {"rule": solve_paper})):
            down, _ = slid_and_lifted(motion_of("block-on-incline", mu=0.375, dt=dt).run(**rule))
            told[f"{name}, h = {dt:g}: crept (m)"] = float(abs(down[-1]))
    return works(told["ours, h = 0.01: crept (m)"] < 1e-6 > told["program, h = 0.01: crept (m)"], told)


def stacks_stand() -> Finding:
    """A second of stacks that stand, by our solver and by the program, to 100 spheres."""
    told, still = {}, True
    for name, counts, rule in (("ours", (1, 20, 100), {}), ("program", (1, 100), {"rule": solve_paper})):
        for count in counts:
            run = motion_of("sphere-stack", count=count).run(duration=1.0, **rule)
            speed = float(np.abs(run.final.v).max())
            still &= speed < 1e-6 and not run.failures()
            told[f"{name}, {count} spheres: speed after 1 s (m/s)"] = speed
    return works(still, told)


def nonzeros() -> Finding:
    """Entries of the Hessian (180) of an aligned stack of 100 spheres that are not zero, and 18 m."""
    run = motion_of("sphere-stack", count=100)
    assert run.model is not None
    assert run.state is not None
    program = paper_program(from_model(run.model, run.state, dt=run.dt, compliance=run.compliance))
    hessian, _, _ = printed_form(program)
    count = int(np.count_nonzero(np.abs(hessian) > 1e-12 * np.abs(hessian).max()))
    return works(count <= 1800, {"entries": count, "18 m": 1800, "9 m^2": 90000})


def spheres_form_a_stack() -> Finding:
    """Twelve spheres that fall from 1 cm gaps, contacts anticipated: a stack after 2 s."""
    run = motion_of("sphere-stack", count=12, gap=0.01, anticipate=True).run(duration=2.0)
    q = run.final.q.reshape(12, 7)
    off = float(np.abs(q[:, 2] - (0.1 + 0.2 * np.arange(12))).max())
    numbers = {"heights off by (m)": off, "sideways (m)": float(np.abs(q[:, :2]).max())}
    numbers["speed (m/s)"] = float(np.abs(run.final.v).max())
    return works(run.ok and off < 1e-6 and numbers["sideways (m)"] < 1e-9, numbers)


def closed_gaps() -> Finding:
    """Spheres whose contacts act only where gaps are closed: speeds after 1 s by count and spacing."""
    told, stand = {}, []
    for count, gap in ((3, 0.01), (10, 0.01), (10, 0.001), (30, 0.01)):
        for name, rule in (("ours", {}), ("program", {"rule": solve_paper})):
            if name == "program" and count > 10:
                continue
            run = motion_of("sphere-stack", count=count, gap=gap).run(duration=1.0, **rule)
            speed = float(np.abs(run.final.v).max())
            stand.append(speed < 1e-3)
            told[f"{count} spheres, {1e3 * gap:g} mm apart, {name}: speed after 1 s (m/s)"] = speed
    return unsettled(all(stand), told)


def blind_forces() -> Finding:
    """A walker's weight from states that are wrong by micrometres, deformations as zero and as given."""
    bodies = [
        box("body", 0.6, 0.2, mass=5.0),
        link("front", 0.4, mass=1.0, inertia=0.01, joint=Revolute("body", at=(0.2, -0.1))),
        link("rear", 0.4, mass=1.0, inertia=0.01, joint=Revolute("body", at=(-0.2, -0.1))),
    ]
    model = PlanarModel(
        bodies, [PlaneContact(name, name, point=(0.0, -0.4), mu=0.8) for name in ("front", "rear")]
    )
    stiff, weight, told = Compliance(stiffness=1e10, damping=1.0), 7.0 * G, {}
    blind = []
    for error in (0.0, 1e-6, -1e-6, 3e-5):
        q = np.zeros(5)
        q[1] = -float(model.gaps(q).min()) + error
        state, found = State(q, np.zeros(5)), {}
        for how in ("zero", "given"):
            result = forces_at(model, state, dt=0.01, compliance=stiff, deformations=how)
            found[how] = float(result.forces[0][:, 0].sum()) if result.status is Status.SOLVED else math.nan
        blind.append(abs(found["zero"] / weight - 1.0))
        told[f"error {error:g} m: share of the weight, as zero and as given"] = (
            f"{found['zero'] / weight:.6f}, {found['given'] / weight:.4g}"
        )
    return works(max(blind) < 1e-4, told)
