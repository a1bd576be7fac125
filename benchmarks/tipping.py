"""Will it tip? What rules say of touch-downs, against MuJoCo with four feet that are not alike.

    python benchmarks/tipping.py lander|parcel|hexapod|legs|soft|tilt|tilted|draws|time [--states 90]
        [--runs 100]

A state is dangerous if more than 1 % of the runs with feet of their own (heights with sigma 2 mm, time
constants of 3 to 12 ms, friction +-12 %) turn over. Each rule says go or no-go without seeing these runs.
``lander`` and ``parcel`` are the bodies on which the score was found, ``hexapod`` (six feet, a load beside
the middle) was chosen before it was first run and is reported as it came out. ``legs`` asks for the shortest
legs, ``soft`` for soft feet, ``tilt`` for touch-downs that are less flat, ``tilted`` for the line from which
on that is said, ``draws`` for the number of outcomes that the worst of them takes, ``time`` for the cost.
Runs of MuJoCo are kept in ``--cache``, since they take minutes. Intervals are the middle 95 % of 2000
resamplings of the states.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import mujoco
import numpy as np

from measure import Table, command_line, counted, interval, run_part, timed
from routh.laws import Simultaneous
from routh.robust import tipping, tippings
from routh.robust.touchdowns import Tipping, Tippings

G = 9.81
STIFF = (0.003, 0.012)  # s: time constants of the feet
DAMPING = (0.7, 1.0)
NOISES = (0.002, 0.005)  # m
DANGEROUS = 0.01


@dataclass(frozen=True)
class Body:
    """A rigid body on small feet, and the touch-downs that it is asked about."""

    name: str
    feet: tuple[tuple[float, float], ...]  # m, about the origin of the body
    height: float  # m, of the centre of mass above the feet
    inertia: tuple[float, float, float]  # m^2, per kg
    down: tuple[float, float]  # m/s
    sideways: tuple[float, float]  # m/s
    centre: tuple[float, float] = (0.0, 0.0)  # m, of mass
    mass: float = 5.0
    mu: float = 0.8
    tilt: float = 0.003  # rad, sigma
    rate: float = 0.2  # rad/s, sigma
    radius: float = 0.02  # m, of a foot
    foot_time: float = 0.006  # s: the middle of STIFF

    def model(self) -> mujoco.MjModel:
        """All feet alike."""
        feet = "".join(
            f'<geom name="f{i}" type="sphere" size="{self.radius}" contype="2" conaffinity="1" '
            f'pos="{x} {y} {self.radius - self.height}"/>'
            for i, (x, y) in enumerate(self.feet)
        )
        moments = " ".join(str(self.mass * k) for k in self.inertia)
        return mujoco.MjModel.from_xml_string(f"""<mujoco>
          <size memory="1M"/>
          <option cone="elliptic" timestep="5e-4" impratio="10"><flag midphase="disable"/></option>
          <default><geom friction="{self.mu} 0.005 0.0001" solref="{self.foot_time} 1" contype="0"
            conaffinity="0"/></default>
          <worldbody><geom name="floor" type="plane" size="5 5 1" contype="1" conaffinity="2"/>
          <body pos="0 0 {self.height}"><freejoint/><inertial pos="{self.centre[0]} {self.centre[1]} 0"
            mass="{self.mass}" diaginertia="{moments}"/>{feet}</body></worldbody></mujoco>""")

    @cached_property
    def barrier(self) -> float:
        """Height of the centre of mass when it balances on the lowest edge, m."""
        from scipy.spatial import ConvexHull

        hull = ConvexHull(np.array(self.feet))
        inside = -(hull.equations[:, :2] @ np.array(self.centre) + hull.equations[:, 2])
        return float(np.hypot(inside.min(), self.height))

    def state(self, rng: np.random.Generator, model: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray]:
        """A touch-down: the lowest foot touches."""
        yaw, s = rng.uniform(-np.pi, np.pi), rng.uniform(*self.sideways)
        r = rng.normal(size=2) * self.tilt
        q = np.array([0, 0, self.height, 1, r[0] / 2, r[1] / 2, 0])
        q[3:] /= np.linalg.norm(q[3:])
        down, rates = rng.uniform(*self.down), self.rate * rng.normal(size=2)
        v = np.array([s * np.cos(yaw), s * np.sin(yaw), -down, *rates, 0.0])
        data = mujoco.MjData(model)
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        q[2] -= min(data.geom(f"f{i}").xpos[2] for i in range(len(self.feet))) - self.radius
        return q, v


def _square(a: float, b: float) -> tuple[tuple[float, float], ...]:
    return ((a, b), (a, -b), (-a, b), (-a, -b))


LANDER = Body("lander", _square(0.2, 0.2), 0.55, (0.0625,) * 3, (0.4, 2.0), (0.0, 1.1))
_BOX = np.array([0.2, 0.3, 0.5])  # m
PARCEL = Body(
    "parcel",
    _square(0.1, 0.15),
    0.25,
    tuple((np.sum(_BOX**2) - _BOX**2) / 12.0),
    (0.4, 1.4),
    (0.0, 1.6),
    mass=3.0,
    mu=0.6,
    tilt=0.004,
    rate=0.15,
    radius=0.005,
)
_SIX = np.pi / 3.0 * np.arange(6)
HEXAPOD = Body(
    "hexapod",
    tuple((0.25 * np.cos(t), 0.25 * np.sin(t)) for t in _SIX),
    0.45,
    (0.03, 0.05, 0.06),
    (0.4, 2.0),
    (0.0, 1.3),
    centre=(0.04, 0.02),
    mass=8.0,
)
BODIES = {body.name: body for body in (LANDER, PARCEL, HEXAPOD)}


def vary(
    body: Body, model: mujoco.MjModel, rng: np.random.Generator, height: float, times=STIFF, own: bool = True
) -> mujoco.MjModel:
    """Give ``model`` feet that are longer or shorter, softer or harder, rougher or smoother, each for itself
    or alike."""
    spread = (body.mu - 0.1, body.mu + 0.1)

    def draw() -> tuple[float, float, float]:
        return float(np.exp(rng.uniform(*np.log(times)))), rng.uniform(*DAMPING), rng.uniform(*spread)

    alike = draw()
    for i in range(len(body.feet)):
        geom = model.geom(f"f{i}").id
        t, damping, mu = draw() if own else alike
        model.geom_priority[geom] = 1
        model.geom_solref[geom] = [t, damping]
        model.geom_solimp[geom, :3] = [0.95, 0.99, 0.001]
        model.geom_friction[geom, 0] = mu
        model.geom_pos[geom, 2] = body.radius - body.height
        if own:
            model.geom_pos[geom, 2] += height * rng.normal()
    return model


def tips(body: Body, model: mujoco.MjModel, q: np.ndarray, v: np.ndarray, seconds: float = 2.0) -> bool:
    """Whether MuJoCo turns it over; weightless until the first touch, so that it has the speed asked for."""
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q, v
    mujoco.mj_integratePos(model, data.qpos, v, -0.025 / -v[2])  # so early that no foot touches
    gravity = np.array(model.opt.gravity)
    model.opt.gravity[:] = 0.0
    for _ in range(4000):
        mujoco.mj_step(model, data)
        if data.ncon:
            break
    model.opt.gravity[:] = gravity
    barrier, inertia, up = G * body.barrier, np.array(body.inertia), 1.0
    for k in range(20, int(seconds / model.opt.timestep) + 1, 20):
        mujoco.mj_step(model, data, nstep=20)
        up = 1.0 - 2.0 * (data.qpos[4] ** 2 + data.qpos[5] ** 2)
        if up < 0.35:
            return True
        if k > 100:  # stop where energy cannot carry it over
            mujoco.mj_subtreeVel(model, data)
            linear, w = data.subtree_linvel[1], data.qvel[3:6]
            energy = 0.5 * linear @ linear + 0.5 * inertia @ w**2 + G * data.xipos[1][2]
            if energy < 0.999 * barrier:
                return False
    return bool(up < 0.8)


def kept(file: Path, make: Callable[[], dict[str, list]]) -> dict[str, np.ndarray]:
    """The arrays of a file; where it is not there, what ``make()`` gives, from then on in the file."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        np.savez(file, **make())
    return dict(np.load(file))


def truth(body: Body, given: argparse.Namespace, *, usual: int = 30) -> dict[str, np.ndarray]:
    """States and what MuJoCo makes of them, from the cache where it has them."""
    states, runs = given.states, given.runs

    def make() -> dict[str, list]:
        model, varied, rng = body.model(), body.model(), np.random.default_rng(1)
        found: dict[str, list] = {name: [] for name in ("q", "v", "nominal", "usual", "own")}
        for _ in range(states):
            q, v = body.state(rng, model)
            found["q"].append(q)
            found["v"].append(v)
            found["nominal"].append(tips(body, model, q, v))
            found["usual"].append(
                [tips(body, vary(body, varied, rng, 0.0, own=False), q, v) for _ in range(usual)]
            )
            found["own"].append(
                [[tips(body, vary(body, varied, rng, noise), q, v) for _ in range(runs)] for noise in NOISES]
            )
        return found

    name = f"{body.name}-{body.tilt:g}-{body.feet[0][0]:.3f}-{states}-{runs}-{usual}.npz"
    return kept(given.cache / name, make)


def auc(score: np.ndarray, dangerous: np.ndarray) -> float:
    """Share of pairs, one dangerous and one safe, that the score puts in order."""
    p, n = score[dangerous], score[~dangerous]
    if not len(p) or not len(n):
        return float("nan")
    return float(np.mean((p[:, None] > n) + 0.5 * (p[:, None] == n)))


def simultaneous(answers: Tippings) -> np.ndarray:
    """The worst ratio that the simultaneous law says, (n,)."""
    law = Simultaneous()
    found = []
    for one in answers.found:
        assert not isinstance(one, ValueError)
        found.append(one.support.ratios(law(one.problem.replace(restitution=0.0)).v).max())
    return np.array(found)


def scored(body: Body, data: dict[str, np.ndarray], **options) -> Tippings:
    """The set's answers."""
    found = tippings(body.model(), data["q"], data["v"], **options)
    return found


def judge(body: Body, data: dict[str, np.ndarray]) -> None:
    """What each rule says, and what becomes of it."""
    share = data["own"].mean(axis=2)  # (states, noises)
    dangerous = share[:, 0] > DANGEROUS
    rng, n = np.random.default_rng(3), len(share)
    answers = scored(body, data)
    inelastic = scored(body, data, restitution=0.0)
    own = data["own"][:, 0]
    drawn = {
        k: np.array([rng.choice(row, min(k, len(row)), replace=False).any() for row in own]) for k in (10, 30)
    }
    refuses = {
        "nominal MuJoCo": data["nominal"],
        "simultaneous law": simultaneous(answers) > 1.0,
        f"usual randomisation, {data['usual'].shape[1]} runs, feet alike": data["usual"].any(axis=1),
        "per-foot randomisation, true noise, 10 runs": drawn[10],
        "the same, 30 runs": drawn[30],
        "worst outcome of the set": answers.can_tip,
        "the same, restitution 0": inelastic.can_tip,
        "largest energy of the set": ~(answers.energy_after <= 1.0),
    }
    print(f"{body.name}: {n} states, {dangerous.sum()} dangerous, {own.shape[1]} runs each and noise\n")
    table = Table(
        {"rule": "<46", "go": "d", "tips, 2 mm": ".2%", "5 mm": ".2%", "missed": "<18", "refused": "<18"}
    )
    for name, no in refuses.items():
        go = ~np.asarray(no, dtype=bool)
        among = share[go].mean(axis=0) if go.any() else np.zeros(2)
        cells = []
        for wrong, of in ((dangerous & go, dangerous), (~dangerous & ~go, ~dangerous)):
            low, high = interval(lambda rows, w=wrong: w[rows].sum(), n)
            cells.append(f"{wrong.sum()} of {of.sum()} ({low:.0f}-{high:.0f})")
        table.row(name, go.sum(), *among, *cells)
    lateral, speed = np.linalg.norm(data["v"][:, :2], axis=1), np.linalg.norm(data["v"][:, :3], axis=1)
    scores = {
        "set": answers.ratio,
        "restitution 0": inelastic.ratio,
        "sideways speed": lateral,
        "speed": speed,
    }
    print()
    table = Table({"score": "<14", "AUC": ".3f", "95 %": ""})
    for name, score in scores.items():
        low, high = interval(lambda rows, s=score: auc(s[rows], dangerous[rows]), n)
        table.row(name, auc(score, dangerous), f"{low:.3f}-{high:.3f}")
    proved = answers.cannot_tip
    print(f"\nproved safe: {proved.sum()}, of which dangerous {(proved & dangerous).sum()}")
    for kind in sorted(set(answers.regimes)):
        those = np.array(answers.regimes) == kind
        missed, refused = (dangerous & ~answers.can_tip)[those], (~dangerous & answers.can_tip)[those]
        print(f"  {kind}: {those.sum()} states, missed {missed.sum()}, refused {refused.sum()}")


def lander(given: argparse.Namespace) -> None:
    """A body on which the score was found."""
    judge(LANDER, truth(LANDER, given))


def parcel(given: argparse.Namespace) -> None:
    """Another one."""
    judge(PARCEL, truth(PARCEL, given))


def hexapod(given: argparse.Namespace) -> None:
    """One that was chosen before it was first run."""
    judge(HEXAPOD, truth(HEXAPOD, given))


def legs(given: argparse.Namespace) -> None:
    """The shortest legs without tips at 1.5 m/s down and 0.8 m/s sideways, by what one knows."""
    columns = {
        "half span": ".2f",
        "nominal": ".1%",
        "usual": ".1%",
        "set, worst": ".2f",
        "restitution 0": ".2f",
    }
    table = Table({**columns, "tips at 2 mm": ".2%", "5 mm": ".2%"})
    for a in (0.12, 0.16, 0.20, 0.22, 0.24, 0.26, 0.28):
        body = Body("legs", _square(a, a), 0.55, (0.0625,) * 3, (1.5, 1.5), (0.8, 0.8), rate=0.1)
        data = truth(body, given, usual=4)
        worst = [scored(body, data, **told).ratio.max() for told in ({}, {"restitution": 0.0})]
        shares = data["own"].mean(axis=(0, 2))
        table.row(a, data["nominal"].mean(), data["usual"].mean(), *worst, *shares)


def soft(given: argparse.Namespace) -> None:
    """Feet of other softness: time over which they close beside the time they last, missed and refused."""
    which, states, runs = BODIES[given.body], given.states, given.runs
    columns = {"time constants, ms": "", "noise, mm": ".1f", "spread/duration": ".3f"}
    table = Table({**columns, **dict.fromkeys(("dangerous", "missed", "refused"), "d"), "regimes": "<"})
    found = []
    for times in ((0.002, 0.004), (0.005, 0.01), (0.01, 0.02), (0.02, 0.04), (0.04, 0.08)):
        body = replace(which, name=f"soft-{which.name}", foot_time=float(np.sqrt(times[0] * times[1])))
        for noise in (0.0005, 0.002, 0.005):

            def make(body: Body = body, times=times, noise: float = noise) -> dict[str, list]:
                model, varied, rng = body.model(), body.model(), np.random.default_rng(1)
                made = [body.state(rng, model) for _ in range(states)]
                own = [
                    [tips(body, vary(body, varied, rng, noise, times), *one) for _ in range(runs)]
                    for one in made
                ]
                return {"q": [q for q, _ in made], "v": [v for _, v in made], "own": own}

            data = kept(given.cache / f"{body.name}-{times[0]:g}-{noise:g}-{states}-{runs}.npz", make)
            # twice sigma: nineteen of twenty feet keep within
            answers, *others = (scored(body, data, unevenness=u) for u in (2.0 * noise, noise, None))
            dangerous = data["own"].mean(axis=1) > DANGEROUS
            missed, refused = dangerous & ~answers.can_tip, ~dangerous & answers.can_tip
            ratios = np.array([one.regime.spread / one.regime.duration for one in answers.found])
            said = [one.can_tip for one in (answers, *others)]
            found.append((ratios, dangerous, np.array(answers.regimes), np.full(states, noise), *said))
            told = f"{1e3 * times[0]:.0f} to {1e3 * times[1]:.0f}"
            counts = dangerous.sum(), missed.sum(), refused.sum(), counted(Counter(answers.regimes))
            table.row(told, 1e3 * noise, np.median(ratios), *counts)
    by_softness(*map(np.concatenate, zip(*found, strict=True)))


def by_softness(ratios, dangerous, kinds, noises, refuses, *others) -> None:
    """What all states of `soft` say together, (n,) each."""
    print("\nmissed, of the dangerous, where unevenness is told as\n")
    columns = dict.fromkeys(("twice sigma", "sigma", "nothing", "dangerous"), "d")
    table = Table({"noise, mm": ".1f", "states": "<", **columns})
    for noise in np.unique(noises):
        for name, among in (("all", dangerous), ("soft", dangerous & (kinds == "soft"))):
            those = (noises == noise) & among
            table.row(1e3 * noise, name, *((those & ~said).sum() for said in (refuses, *others)), those.sum())
    print()
    columns = {"spread/duration": "", "states": "d", "safe": "d", "refused of these": ".0%"}
    table = Table({**columns, "missed": "d", "of the dangerous": "d"})
    for low, high in pairwise((0.0, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0, np.inf)):
        those = (ratios >= low) & (ratios < high) & (kinds != "tilted")
        safe, danger = those & ~dangerous, those & dangerous
        refused = (safe & refuses).sum() / max(safe.sum(), 1)
        told = f"{low:.2f} to {high:.2f}"
        table.row(told, those.sum(), safe.sum(), refused, (danger & ~refuses).sum(), danger.sum())


def tilt(given: argparse.Namespace) -> None:
    """Touch-downs that are less flat."""
    for sigma in (0.003, 0.01, 0.025):
        body = replace(LANDER, name="tilt", tilt=sigma)
        print(f"\ntilt of {np.degrees(sigma):.2f} degrees (sigma)")
        judge(body, truth(body, given, usual=10))


TILTS = (0.25, 1.0, 2.0, 4.0, 8.0)  # degrees
LATE = (0.0, 1.0, 2.0, 4.0, 8.0, np.inf)  # windows until the last foot closes
RATIOS = (0.0, 0.5, 0.7, 0.8, 0.9, 1.0)


def tilted(given: argparse.Namespace) -> None:
    """By when the last foot closes and how bad the worst outcome is: dangerous states that are missed."""
    body = replace(BODIES[given.body], tilt=0.0, name=f"{given.body}-tilted")

    def make() -> dict[str, list]:
        model, varied, rng = body.model(), body.model(), np.random.default_rng(1)
        found: dict[str, list] = {"q": [], "v": [], "own": []}
        for degrees in np.repeat(given.degrees, given.states):
            q, v = body.state(rng, model)
            way, half = rng.uniform(-np.pi, np.pi), 0.5 * np.radians(degrees)
            q[3:7] = [np.cos(half), np.sin(half) * np.cos(way), np.sin(half) * np.sin(way), 0.0]
            data = mujoco.MjData(model)
            data.qpos[:] = q
            mujoco.mj_kinematics(model, data)
            q[2] -= min(data.geom(f"f{i}").xpos[2] for i in range(len(body.feet))) - body.radius
            found["q"].append(q)
            found["v"].append(v)
            runs = range(given.runs)
            found["own"].append([tips(body, vary(body, varied, rng, NOISES[0]), q, v) for _ in runs])
        return found

    tilts = "-".join(f"{degrees:g}" for degrees in given.degrees)
    data = kept(given.cache / f"{body.name}-{tilts}-{given.states}-{given.runs}.npz", make)
    answers = scored(body, data, n=256)
    dangerous, ratio = data["own"].mean(axis=1) > DANGEROUS, answers.ratio
    late = np.array([one.regime.closing / one.regime.window for one in answers.found])
    table = Table({"last foot, windows": "<14", "states": "d", "dangerous": "d", "missed": "d"})
    for low, high in pairwise(LATE):
        those = (late >= low) & (late < high)
        table.row(f"{low:g} to {high:g}", those.sum(), (those & dangerous).sum(),
                  (those & dangerous & (ratio <= 1.0)).sum())  # fmt: skip
    print("\nmissed, of the states of this worst ratio\n")
    columns = [f"{low:g} to {high:g}" for low, high in pairwise(RATIOS)]
    table = Table({"last foot, windows": "<14", **dict.fromkeys(columns, "<10")})
    for low, high in pairwise(LATE):
        rows = (late >= low) & (late < high)
        cells = [rows & (ratio >= least) & (ratio < most) for least, most in pairwise(RATIOS)]
        table.row(f"{low:g} to {high:g}", *(f"{(c & dangerous).sum()} of {c.sum()}" for c in cells))


def draws(given: argparse.Namespace, most: int = 16384, seeds: int = 2) -> None:
    """By how much the worst of some outcomes falls short of the worst of ``seeds`` times ``most``."""
    counts = (64, 256, 512, 1024, 2048, 4096, 8192)
    table = Table(
        {"body": "<", "outcomes": "d", **dict.fromkeys(("median", "90 %", "99 %", "largest"), ".4f")}
    )
    for body in BODIES.values():
        rng, model = np.random.default_rng(5), body.model()
        q, v = map(np.array, zip(*(body.state(rng, model) for _ in range(given.states)), strict=True))
        found = np.full((seeds, given.states, most), np.nan)
        for seed in range(seeds):
            for k, one in enumerate(tippings(model, q, v, n=most, seed=seed).found):
                if isinstance(one, Tipping) and one.sample is not None:
                    outcomes, _ = one.sample
                    ratios = one.support.ratios(outcomes.v).max(axis=1)
                    found[seed, k] = np.where(outcomes.solved, ratios, -np.inf)
        worst = found.max(axis=(0, 2))
        near = (worst > 0.3) & (worst < np.inf)
        for count in counts:
            short = 1.0 - found[:, near, :count].max(axis=2) / worst[near]
            table.row(body.name, count, *np.quantile(short, (0.5, 0.9, 0.99)), short.max())


def time(given: argparse.Namespace, count: int = 1000) -> None:
    """Processor time a state on one core; kernels are compiled before."""
    body, rng = LANDER, np.random.default_rng(1)
    model, varied = body.model(), body.model()
    q, v = map(np.array, zip(*(body.state(rng, model) for _ in range(count)), strict=True))
    table = Table({"ms a state": "<20", f"in a batch of {count}": ".1f", "alone": ".1f"})
    for friction in ("cone", "polyhedral"):
        options = {"friction": friction, "threads": 1}
        tippings(model, q[:20], v[:20], **options)
        _, many = timed(tipping, model, q, v, **options)
        _, alone = timed(lambda o=options: [tipping(model, q[k], v[k], **o) for k in range(100)])
        table.row(friction, 1e3 * many / count, 10 * alone)
    _, seconds = timed(lambda: [tips(body, vary(body, varied, rng, 0.002), q[k], v[k]) for k in range(50)])
    table.row("one run of MuJoCo", None, 20 * seconds)


def main() -> None:
    """Print the tables."""
    parser = command_line(__doc__, lander, parcel, hexapod, legs, soft, tilt, tilted, draws, time)
    parser.add_argument("--states", type=int, default=90)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--body", choices=BODIES, default="lander", help="of soft and tilted")
    parser.add_argument("--degrees", type=float, nargs="+", default=TILTS, help="of tilted")
    parser.add_argument("--cache", type=Path, default=Path("build/tipping"))
    run_part(parser)


if __name__ == "__main__":
    main()
