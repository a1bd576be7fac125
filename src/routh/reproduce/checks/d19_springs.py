"""D19 sections 3 to 5: springs and dampers, pendulums, springs that only push, the elastic foundation."""

from __future__ import annotations

import math
import time
from itertools import product

import numpy as np
from scipy.integrate import solve_ivp

from routh.base.validation import Array, Options
from routh.constraints import (
    Bilateral,
    ConstrainedSystem,
    Contact,
    Unilateral,
    differentiate,
    solve,
)
from routh.constraints.stiffness import square_grid
from routh.constraints.system import ActingRows, DenseMass
from routh.reproduce import d19 as exhibits
from routh.reproduce.checks import draws
from routh.reproduce.d19 import PUBLISHED, iteration_matrix
from routh.reproduce.d19_program import paper_program, solve_paper
from routh.reproduce.verdicts import Finding, impossible, refuted, unsettled, works
from routh.systems.d19 import motion_of

G = 9.81


def _radius(scheme: str, k: float, b: float, h: float) -> float:
    return float(np.abs(np.linalg.eigvals(iteration_matrix(scheme, m=1.0, k=k, b=b, dt=h))).max())


def explicit_euler() -> Finding:
    """Spectral radii of the iteration matrix (10) for the four dampers of section 3."""
    radii = {b: _radius("explicit", 1e6, b, 1e-5) for b in (1.0, 10.0, 2e5, 2.1e5)}
    holds = radii[1.0] > radii[10.0] and radii[2e5] <= 1.0 < min(radii[1.0], radii[2.1e5])
    return works(holds, {f"spectral radius, b = {b:g}": radius for b, radius in radii.items()})


def not_for_any_step() -> Finding:
    """A step of explicit Euler that is not stable, and one that is."""
    numbers = {f"spectral radius, b = {b:g}": _radius("explicit", 1e6, b, 1e-5) for b in (1.0, 2e5)}
    return works(max(numbers.values()) > 1.0, numbers)


def semi_implicit_euler() -> Finding:
    """Spectral radii for k = 1e6 and 1e7 at h = 1e-3."""
    radii = {k: _radius("semi-implicit", k, 1.0, 1e-3) for k in (1e6, 1e7)}
    return works(radii[1e6] < 1.0 < radii[1e7], {f"spectral radius, k = {k:g}": x for k, x in radii.items()})


def implicit_euler() -> Finding:
    """The largest spectral radius over twelve decades of steps, undamped; it falls to zero: L-stable."""
    radii = [_radius("implicit", 1e6, 0.0, h) for h in 10.0 ** np.arange(-9.0, 4.0)]
    falls = bool(np.all(np.diff(radii) <= 1e-12))
    return works(
        max(radii) <= 1.0 and falls and radii[-1] < 1e-5, {"largest": max(radii), "at h = 1000": radii[-1]}
    )


def scheme_on_a_spring() -> Finding:
    """20 steps of the scheme on a linear spring against the matrix of implicit Euler."""
    run = motion_of("spring-mass-damper", stiffness=40.0, damping=0.3, mass=2.0).run(dt=0.05, duration=1.0)
    A, state, off = iteration_matrix("implicit", m=2.0, k=40.0, b=0.3, dt=0.05), np.array([1.0, 0.0]), 0.0
    for q, v in zip(run.q, run.v, strict=True):
        off = max(off, float(np.abs(np.array([q[0], v[0]]) - state).max()))
        state = A @ state
    return works(off < 1e-12, {"largest difference": off})


def theorem_1() -> Finding:
    """The pinned pendulum's angle after 1 s against minimal coordinates, at two steps."""
    inertia = 1.0 + 0.5 * 0.1**2
    swing = solve_ivp(
        lambda t, y: [y[1], -G * math.sin(y[0]) / inertia], (0, 1), [math.pi / 2, 0.0], rtol=1e-11, atol=1e-12
    )
    errors = [
        abs(float(motion_of("pendulum-by-constraint", dt=dt).run().final.q[2] - swing.y[0, -1]))
        for dt in (0.004, 0.002)
    ]
    order = math.log2(errors[0] / errors[1])
    return works(abs(order - 1.0) < 0.1, {"error at 4 ms": errors[0], "at 2 ms": errors[1], "order": order})


def _any_system(rng: np.random.Generator) -> ConstrainedSystem:
    """Rows of all kinds, stiffness 1 to 1e15, steps of 1e-6 to 1 s, some rows repeated."""
    nv, n = int(rng.integers(3, 9)), int(rng.integers(1, 6))
    rows = rng.normal(size=(n, nv))
    spring: Options = {"stiffness": 10.0 ** rng.uniform(0, 15), "damping": 1.0}
    if rng.random() < 0.5:
        rows[-1] = rows[0]
    items: list[Bilateral | Unilateral | Contact] = [
        Bilateral(rows, 1e-3 * rng.normal(size=n), **spring),
        Unilateral(rng.normal(size=(n, nv)), 1e-3 * rng.normal(size=n), **spring),
        Contact(
            rng.normal(size=(n, nv)), rng.normal(size=(n, 2, nv)), 1e-3 * rng.normal(size=n), mu=0.5, **spring
        ),
    ]
    chosen = [items[i] for i in range(3) if rng.random() < 0.6] or items[:1]
    f, v = rng.normal(size=nv), rng.normal(size=nv)
    return ConstrainedSystem(draws.mass(rng, nv), f, v, chosen, float(10.0 ** rng.uniform(-6, 0)))


def any_stiffness() -> Finding:
    """300 random systems of any kind, stiffness, step and rank: solved, and finite."""
    rng = np.random.default_rng(0)
    results = [solve(_any_system(rng)) for _ in range(300)]
    bad = sum(not result.status.ok or not np.all(np.isfinite(result.v)) for result in results)
    return works(bad == 0, {"systems": 300, "unsolved": bad})


def y_is_not_definite() -> Finding:
    """Matrix (63) for G M^-1 G^T = ((1, 0.99), (0.99, 1)) and h^2 K + h B = diag(0, 1000); random Y^-1."""
    A, X = np.array([[1.0, 0.99], [0.99, 1.0]]), np.diag([0.0, 1000.0])
    inverse = np.eye(2) + A @ X  # of Y, (60); its symmetric part is what u . Y^-1 u is
    Y = np.linalg.inv(inverse)
    least = float(np.linalg.eigvalsh(0.5 * (Y + Y.T))[0])
    rng, smallest = np.random.default_rng(0), np.inf
    for _ in range(300):
        root, stiff = rng.normal(size=(4, 2)), np.diag(10.0 ** rng.uniform(-3, 6, 4))
        smallest = min(smallest, float(np.linalg.eigvals(np.eye(4) + root @ root.T @ stiff).real.min()))
    numbers = {
        "least eigenvalue of Y's symmetric part": least,
        "least eigenvalue of 300 random Y^-1": smallest,
    }
    return refuted(least < -0.1 and smallest > 1.0 - 1e-6, numbers)


def forces_are_shared() -> Finding:
    """Rows given twice with half the stiffness: the same motion, and equal shares of the force."""
    rng = np.random.default_rng(0)
    rows, v, M = rng.normal(size=(2, 5)), rng.normal(size=5), draws.mass(rng, 5)
    once = Bilateral(rows, [1e-3, 0], stiffness=2e6, damping=2.0)
    twice = Bilateral(np.vstack([rows, rows]), [1e-3, 0, 1e-3, 0], stiffness=1e6, damping=1.0)
    one, two = (solve(ConstrainedSystem(M, np.zeros(5), v, [item], 0.01)) for item in (once, twice))
    shares = two.forces[0].reshape(2, 2) / (0.5 * one.forces[0])
    off = float(np.abs(shares - 1.0).max())
    moved = float(np.abs(one.v - two.v).max())
    return works(off < 1e-6 and moved < 1e-9, {"shares off by": off, "velocities off by": moved})


def sign_slips() -> Finding:
    """Equations (32) to (34) with the force of (23) on random numbers: what is left of each as printed."""
    rng = np.random.default_rng(1)
    M, rows = draws.mass(rng, 5), rng.normal(size=(2, 5))
    bend, f, phi, rate = rng.normal(size=2), rng.normal(size=5), rng.normal(size=2), rng.normal(size=2)
    A, (K, B) = rows @ np.linalg.solve(M, rows.T), rng.uniform(1.0, 2.0, (2, 2))
    hat, free = np.linalg.inv(A), rows @ np.linalg.solve(M, f)
    force = -B * rate - K * phi - hat @ bend  # (23)
    second = A @ force + free + bend  # (31)
    left = {
        "(32)": second - (A @ (-B * rate - K * phi - bend) + free + bend),
        "(33)": second + A @ (B * rate + K * phi - hat @ bend) - free - bend,
        "(34)": hat @ second + hat @ A @ (B * rate + K * phi + hat @ bend) - hat @ free - hat @ bend,
    }
    sizes = {name: float(np.abs(value).max()) for name, value in left.items()}
    return refuted(sizes["(32)"] > 1e-3 and sizes["(33)"] > 1e-3 and sizes["(34)"] < 1e-9, sizes)


def inverse_24() -> Finding:
    """Rank of G M^-1 G^T for a cube on 100 springs, and for a row given twice."""
    motion = motion_of("cube-on-foundation", elements=100)
    points = square_grid(1.0, 100, -0.5)
    rows = np.column_stack([np.zeros((100, 2)), np.ones(100), points[:, 1], -points[:, 0], np.zeros(100)])
    assert motion.model is not None
    assert motion.state is not None
    rank = int(np.linalg.matrix_rank(rows @ np.linalg.solve(motion.model.mass(motion.state.q), rows.T)))
    single = np.random.default_rng(5).normal(size=4)
    bias = Bilateral(np.array([single]), [0.0], stiffness=0.0, bias=[1.0])
    both = Bilateral(np.array([single, single]), [0.0, 0.0], stiffness=0.0, bias=[1.0, 1.0])
    one, two = (
        solve_paper(ConstrainedSystem(np.eye(4), np.zeros(4), np.ones(4), [row], 0.1)).forces[0]
        for row in (bias, both)
    )
    off = float(np.abs(two - 0.5 * one).max())
    return impossible(rank < 100, {"rank, of 100 rows": rank, "least norm shares equally, off by": off})


def figure_4() -> Finding:
    """The largest deviation of the pin at three steps, and its order."""
    steps = (0.1, 0.01, 1e-3)
    worst = {
        h: float(np.abs(motion_of("pendulum-by-constraint", dt=h).run().deformations["pin"]).max())
        for h in steps
    }
    order = float(np.polyfit(np.log(steps), np.log(list(worst.values())), 1)[0])
    return works(abs(order - 2.0) < 0.2, {**{f"h = {h:g} (m)": x for h, x in worst.items()}, "order": order})


def pendulum_energy() -> Finding:
    """The largest energy error at three steps, and its order."""
    steps = (0.1, 0.01, 1e-3)
    errors = {}
    for h in steps:
        energies = motion_of("pendulum-by-constraint", dt=h).run().energies
        total = energies["kinetic"] + energies["potential"]
        errors[h] = float(np.abs(total - total[0]).max())
    order = math.log10(errors[0.01] / errors[1e-3])
    numbers = {**{f"h = {h:g} (J)": x for h, x in errors.items()}, "order": order}
    return refuted(errors[1e-3] > 1e-6 and abs(order - 1.0) < 0.2, numbers)


def _enumerated(rows: ActingRows) -> Array:
    """The one solution of ``0 <= y _|_ (I + N N^T) y - c >= 0`` by trying all active sets."""
    assert isinstance(rows.mass, DenseMass)
    N = rows.S[:, None] * rows.mass.whiten(np.asarray(rows.G))
    A = np.eye(len(rows)) + N @ N.T
    for chosen in product([False, True], repeat=len(rows)):
        active = np.array(chosen, dtype=bool)
        y = np.zeros(len(rows))
        y[active] = np.linalg.solve(A[np.ix_(active, active)], rows.c[active])
        if np.all(y >= 0) and np.all((A @ y - rows.c)[~active] >= -1e-12 * np.abs(rows.c).max()):
            return rows.S * y
    raise ArithmeticError("no active set fits")


def only_push() -> Finding:
    """40 systems of springs that only push against the enumeration of all active sets."""
    off = 0.0
    for trial in range(40):
        rng = np.random.default_rng(trial)
        nv, n = int(rng.integers(1, 6)), int(rng.integers(1, 8))
        row = Unilateral(
            rng.normal(size=(n, nv)),
            1e-3 * rng.normal(size=n),
            stiffness=10.0 ** rng.uniform(0, 6, n),
            damping=1.0,
        )
        system = ConstrainedSystem(draws.mass(rng, nv), rng.normal(size=nv), rng.normal(size=nv), [row], 0.01)
        rows = system.rows
        scale = float(np.abs(rows.S * rows.c).max())
        off = max(off, float(np.abs(solve(system).forces[0] - _enumerated(rows)).max()) / scale)
    return works(off < 1e-8, {"systems": 40, "largest difference (share)": off})


def program_is_not_the_law() -> Finding:
    """150 systems of three coupled springs: where (83)-(85) pushes by more than 0.1 % otherwise than (68)."""
    rng = np.random.default_rng(0)
    differ = total = slack = 0
    for _ in range(150):
        M, rows = draws.mass(rng, 4), rng.normal(size=(3, 4))
        row = Unilateral(rows, -0.01 * rng.random(3), stiffness=10.0 ** rng.uniform(2, 6, 3), damping=1.0)
        system = ConstrainedSystem(M, rng.normal(size=4), rng.normal(size=4), [row], 0.01)
        law, paper = solve(system).forces[0], solve_paper(system).forces[0]
        if law.max() > 0.0:
            total += 1
            differ += bool(np.abs(law - paper).max() > 1e-3 * law.max())
            slack += bool(((law <= 0.0) & (paper > 1e-3 * law.max())).any())
    numbers = {"systems that push": total, "that differ by 0.1 %": differ, "push where (68) says zero": slack}
    return refuted(differ > 0.1 * total > 0, numbers)


def feasible_and_convex() -> Finding:
    """The Hessian of (83) with all rows of appendix A for 30 random systems, and a feasible point of each."""
    least, infeasible = np.inf, 0
    for trial in range(30):
        rng = np.random.default_rng(trial)
        row = Unilateral(rng.normal(size=(4, 5)), -0.01 * rng.random(4), stiffness=1e4, damping=1.0)
        program = paper_program(
            ConstrainedSystem(draws.mass(rng, 5), np.zeros(5), rng.normal(size=5), [row], 0.01)
        )
        law = np.eye(4) + program.X[:, None] * (program.W @ program.W.T)
        least = min(least, program.zeta)  # of (183): diagonal where nothing slides
        infeasible += not _feasible(law, program.q)
    return works(
        least > 0.0 and infeasible == 0, {"least eigenvalue of the Hessian": least, "infeasible": infeasible}
    )


def _feasible(law: Array, q: Array) -> bool:
    """Whether ``law x >= q`` and ``x >= 0`` have a solution, by a linear program."""
    from scipy.optimize import linprog

    return bool(linprog(np.ones(len(q)), A_ub=-law, b_ub=-q, bounds=(0, None)).status == 0)


def limit_dead_or_elastic() -> Finding:
    """The rate that the soft limit leaves at four steps, by our solver and by the printed program."""
    rate, numbers, kept = -math.sqrt(2.0 * G), dict[str, float | str](), dict[float, float]()
    worst = 0.0
    for h in (1e-5, 1e-6, 1e-7, 1e-8):
        motion = motion_of("pendulum-with-limit", angle=-2e-6 * rate, rate=rate, dt=h)
        duration = max(1.2e-5, 20 * h)
        ours, program = (
            float(motion.run(duration=duration, **rule).final.v[0] / -rate)
            for rule in ({}, {"rule": solve_paper} if h > 1e-8 else {})
        )
        kept[h], worst = ours, max(worst, abs(ours - program))
        numbers[f"h = {h:g}: kept, by ours and by the program"] = f"{ours:.4f}, {program:.4f}"
    rising = kept[1e-5] < 0.05 and 0.5 < kept[1e-7] < kept[1e-8] <= 1.0 + 1e-6
    return works(rising and worst < 1e-3, numbers)


def pressure() -> Finding:
    """The foundation under 5 N and 50 N with 900 elements for 1 s, by ours and by the program."""
    numbers: dict[str, float | str] = {}
    holds = True
    for load in (5.0, 50.0):
        motion = motion_of("cube-on-foundation", load=load, elements=900)
        runs = {"ours": motion.run(), "program": motion.run(rule=solve_paper)}
        for name, run in runs.items():
            force = run.forces["foundation"][-1]
            lifted = int((force <= 1e-9 * force.max()).sum())
            centre = force @ square_grid(1.0, 900, -0.5)[:, :2] / force.sum()
            before = run.t[-2]
            gap = centre - load * 0.5 * np.array([math.cos(10 * before), math.sin(10 * before)]) / (
                load + 8 * G
            )
            numbers[f"{load:g} N, {name}: elements lifted, centre of pressure off (m)"] = (
                f"{lifted}, {float(np.linalg.norm(gap)):.1e}"
            )
            holds &= (lifted > 0) == (load > 5.0) and float(np.linalg.norm(gap)) < 0.02 and not run.failures()
        apart = float(np.abs(runs["ours"].q - runs["program"].q).max())
        numbers[f"{load:g} N: positions apart by (m)"] = apart
    return works(holds, numbers)


def table_1_stiffness() -> Finding:
    """Processor time of 1 s with 100 elements, rubber and steel: ours, the program's, and RK45's steps."""
    numbers: dict[str, float | str] = {}
    spent: dict[tuple[str, float], float] = {}
    for young in (1e7, 1e11):
        motion = motion_of("cube-on-foundation", load=50.0, elements=100, young=young)
        for name, rule in (("ours", {}), ("program", {"rule": solve_paper})):
            motion.run(duration=0.05, **rule)
            start = time.process_time()
            run = motion.run(**rule)
            spent[name, young] = time.process_time() - start
            numbers[f"{name}, E = {young:g}: time (s), failed solves"] = (
                f"{spent[name, young]:.3g}, {len(run.failures())}"
            )
    largest = math.sqrt(1e11 / 8.0) / math.sqrt(1e7 / 8.0)  # how the steps of an explicit method grow
    numbers["steps of an explicit method, steel over rubber"] = largest
    ratios = [spent[name, 1e11] / spent[name, 1e7] for name in ("ours", "program")]
    return works(max(ratios) < 5.0 < largest, numbers)


def table_1_seconds() -> Finding:
    """Time of 100 steps with 100 and 900 elements by ours and the program, beside the printed one."""
    numbers: dict[str, float | str] = {}
    below = True
    for elements in (100, 900):
        motion = motion_of("cube-on-foundation", load=5.0, elements=elements, young=1e7)
        printed = PUBLISHED[5.0, elements, 1e7][1]
        for name, rule in (("ours", {}), ("program", {"rule": solve_paper})):
            motion.run(duration=0.02, **rule)
            start = time.process_time()
            motion.run(**rule)
            seconds = time.process_time() - start
            numbers[f"{elements} elements, {name}: here, printed (s)"] = f"{seconds:.3g}, {printed:g}"
            below &= seconds < 20.0 * printed
    return works(below, numbers)


def cubic_cost() -> Finding:
    """The exponents of the printed times of Table 1 from 100 to 900 elements."""
    exponents = {
        (load, young): math.log(PUBLISHED[load, 900, young][1] / PUBLISHED[load, 100, young][1])
        / math.log(9.0)
        for load, young in product((5.0, 50.0), (1e7, 1e11))
    }
    numbers = {f"{load:g} N, E = {young:g}: exponent": x for (load, young), x in exponents.items()}
    return refuted(max(exponents.values()) < 2.5, numbers)


def table_2() -> Finding:
    """Errors at h = 0.01 against LSODA for 50 N on 100 elements, by our solver and by the printed program."""
    motion = motion_of("cube-on-foundation", load=50.0, elements=100, young=1e7)
    truth, mean = exhibits.reference(50.0, 100, 1e7)
    numbers: dict[str, float | str] = {"printed": PUBLISHED[50.0, 100, 1e7][0]}
    numbers["ours"] = exhibits.errors_of(motion.run(), truth, mean)[0]
    numbers["program"] = exhibits.errors_of(motion.run(rule=solve_paper), truth, mean)[0]
    numbers["largest motion of the cube (m)"] = float(np.abs(motion.run().q[:, 2] - 0.5).max())
    return unsettled(abs(float(numbers["program"]) / 0.813 - 1.0) < 0.1, numbers)


def smooth_gradients() -> Finding:
    """Slopes of the velocity after by the velocity before, of 40 systems, against central differences."""
    rng, off, kinks = np.random.default_rng(0), 0.0, 0
    for _ in range(40):
        nv = 5
        row = Unilateral(rng.normal(size=(3, nv)), -1e-3 * rng.random(3), stiffness=1e4, damping=1.0)
        M, f, v, worth = draws.mass(rng, nv), rng.normal(size=nv), rng.normal(size=nv), rng.normal(size=nv)
        result = differentiate(solve(ConstrainedSystem(M, f, v, [row], 0.01)))
        if result.near_kink:
            kinks += 1
            continue
        slopes = [
            worth @ (solve(ConstrainedSystem(M, f, v + 1e-6 * e, [row], 0.01)).v
                     - solve(ConstrainedSystem(M, f, v - 1e-6 * e, [row], 0.01)).v) / 2e-6
            for e in np.eye(nv)
        ]  # fmt: skip
        off = max(off, float(np.abs(result.gradient(v=worth).v - slopes).max()))
    return works(
        off < 1e-6 and kinks < 20, {"systems": 40 - kinks, "largest difference": off, "near a kink": kinks}
    )
