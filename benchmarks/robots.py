"""Robots from PyPI packages: do the adapters agree, are all samples physical, what do facets cost, how fast?

    python benchmarks/robots.py agreement     both adapters on the same URDFs: M, contact velocities, sets
    python benchmarks/robots.py differences   contact velocities against differences of positions
    python benchmarks/robots.py landings      20 landings: energy, momentum and cone of every sample
    python benchmarks/robots.py facets        4 to 32 facets against the true cone
    python benchmarks/robots.py timing        a quadruped landing on four feet, us per sample
    python benchmarks/robots.py motion        the same robot's motion through the landing, checked
    python benchmarks/robots.py installed     does each robot that is there load and land in one call?
    python benchmarks/robots.py commands      how long `routh impact ROBOT --down 1.0` takes, whole

Needs gymnasium, dm_control and example-robot-data (pip install 'routh[robots]').
"""

import sys
import tempfile
import time
import warnings

import numpy as np

import routh
from measure import Table, command_line, command_seconds, counted, machine, run_part, status_names, timed
from problems import apart, cone_violation
from robot_zoo import (
    DM_CONTROL,
    GYMNASIUM,
    URDF,
    frame_velocity,
    landing,
    load_installed,
    load_mjcf,
    material_velocity,
    mjcf_path,
    urdf_path,
    urdf_roots,
)
from robot_zoo import (
    installed as robots_installed,
)
from routh.base.status import RouthError
from routh.models import UnrepresentedWarning
from routh.models import mujoco as mj
from routh.models import pinocchio as pn

# URDFs that MuJoCo compiles, with the spheres put at the ends of their limbs on both sides (radius, m)
AGREEMENT = {"a1": 0.02, "laikago": 0.0265, "quadruped": 0.02, "solo12": 0.016, "bolt": 0.016}
AGREEMENT |= {"talos": 0.03, "g1": 0.02}
FEET = {
    "talos": ["leg_left_6_link", "leg_right_6_link"],
    "g1": ["left_ankle_roll_link", "right_ankle_roll_link"],
}
MJCF = [f"gymnasium/{name}" for name in GYMNASIUM] + [f"dm_control/{name}" for name in DM_CONTROL]


class Pair:
    """One URDF in MuJoCo and in Pinocchio, with the same spherical feet over level ground."""

    def __init__(self, name, radius):
        import mujoco

        path = urdf_path(name)
        self.robot = pn.load(path, roots=urdf_roots(path), floating=True, geometry=False).model
        feet = FEET.get(name, [point.frame for point in pn.feet(self.robot)])
        self.points = [pn.ContactPoint(foot, radius=radius) for foot in feet]
        spec = mujoco.MjSpec.from_file(str(path))
        spec.compiler.fusestatic = False
        for mesh_geom in list(spec.geoms):  # only the feet touch: meshes of strangers differ between readers
            spec.delete(mesh_geom) if hasattr(spec, "delete") else mesh_geom.delete()
        for mesh in list(spec.meshes):
            spec.delete(mesh) if hasattr(spec, "delete") else mesh.delete()
        spec.worldbody.first_body().add_freejoint()
        for foot in feet:
            sphere = {"type": mujoco.mjtGeom.mjGEOM_SPHERE, "size": [radius, 0, 0], "mass": 0.0}
            spec.body(foot).add_geom(name=foot, contype=0, **sphere)  # touches the ground alone
        plane = mujoco.mjtGeom.mjGEOM_PLANE
        spec.worldbody.add_geom(name="ground", type=plane, size=[0.0, 0.0, 1.0], conaffinity=0)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)

    def state(self, rng):
        """A random state that lands; q, and T with v_pin = T qvel."""
        import pinocchio

        model, data = self.model, self.data
        quat = np.array([1.0, 0.0, 0.0, 0.0]) + 0.15 * rng.normal(size=4)
        quat /= np.linalg.norm(quat)
        data.qpos[:3], data.qpos[3:7] = rng.normal(size=3), quat
        data.qvel[:] = 0.5 * rng.normal(size=model.nv)
        data.qvel[2] = -1.0 - rng.random()
        q = pinocchio.neutral(self.robot)
        q[:3], q[3:7] = data.qpos[:3], quat[[1, 2, 3, 0]]
        T = np.zeros((model.nv, model.nv))
        T[:3, :3], T[3:6, 3:6] = pinocchio.Quaternion(q[3:7]).toRotationMatrix().T, np.eye(3)
        for joint in range(1, model.njnt):
            at = model.jnt_qposadr[joint]
            low, high = model.jnt_range[joint] if model.jnt_limited[joint] else (-0.5, 0.5)
            data.qpos[at] = high if rng.random() < 0.1 else rng.uniform(low, high)  # some at their limit
            other = self.robot.getJointId(model.jnt(joint).name)
            q[self.robot.idx_qs[other]] = data.qpos[at]
            T[self.robot.idx_vs[other], model.jnt_dofadr[joint]] = 1.0
        everything = pn.problem(
            self.robot, q, T @ data.qvel, points=self.points, gap=10.0, limits=False, deepest=None
        )
        q[2] -= everything.dist.min()
        data.qpos[2] = q[2]
        return q, T, float(np.sort(everything.dist - everything.dist.min())[len(self.points) // 2]) + 1e-9


def world(problem, i):
    contact = problem.contacts[i]
    velocity = problem.contact_velocity()[i]
    return velocity @ contact.frame[: len(velocity)] if contact.kind == "contact" else velocity[:1]


def agreement(given):
    """Both adapters on the same URDFs."""
    samples = given.samples or 4
    columns = {"robot": "<10", "nv": "d", "states": "d", "contacts": ".1f", "M": ".1e", "velocity": ".1e"}
    table = Table({**columns, "set": ".1e", "elsewhere": "d"})
    for name, radius in AGREEMENT.items():
        pair, rng = Pair(name, radius), np.random.default_rng(0)
        worst, contacts, differ = np.zeros(3), 0, 0
        for k in range(given.states):
            q, T, gap = pair.state(rng)
            ours = mj.problem(pair.model, pair.data, gap=gap)
            theirs = pn.problem(pair.robot, q, T @ pair.data.qvel, points=pair.points, gap=gap)
            assert sorted(ours.names) == sorted(theirs.names), (ours.names, theirs.names)
            theirs = theirs.subset(ours.names)
            contacts += ours.nc
            mass = np.abs(ours.M - T.T @ theirs.M @ T).max() / np.abs(theirs.M).max()
            velocity = max(np.abs(world(ours, i) - world(theirs, i)).max() for i in range(ours.nc))
            a, b = (routh.sample(problem, samples, seed=k, friction="cone") for problem in (ours, theirs))
            away = apart(theirs, a.v @ T.T, b.v)
            same = away <= 1e-8  # steps with several solutions may choose differently
            differ += int(np.count_nonzero(~same))
            found = [mass, velocity, away[same].max(initial=0.0)]
            worst = np.maximum(worst, found)  # which a NaN would survive
        table.row(name, pair.model.nv, given.states, contacts / given.states, *worst, differ)
    print(f"set: {samples} samples a state; elsewhere: samples, of all, that end more than 1e-8 apart")


def differences(given):
    """Contact velocities of both adapters against differences of positions."""
    table = Table({"robot": "<25", "nv": "d", "contacts": "d", "worst difference": ".1e"})
    for name in MJCF:
        model, rng, found = load_mjcf(name), np.random.default_rng(0), []
        for _ in range(5):
            data, gap = landing(model, rng)
            problem = mj.problem(model, data, gap=max(gap, 0.02))
            for i, contact in enumerate(problem.contacts):
                if contact.kind == "contact":
                    moved = material_velocity(model, data, problem.lift(problem.v), contact)
                    rows = contact.frame[: 1 + problem.nt]
                    found.append(off(rows @ moved - problem.contact_velocity()[i], moved))
        table.row(name, model.nv, len(found), np.max(found))
    for name in URDF:
        table.row(f"urdf/{name}", *pinocchio_differences(name))


def off(difference, velocity):
    """The largest difference, over a velocity that is at least 1."""
    return np.abs(difference).max() / (1.0 + np.abs(velocity).max())


def pinocchio_differences(name):
    """nv, contacts and the worst difference."""
    import pinocchio

    path = urdf_path(name)
    robot = pn.load(path, roots=urdf_roots(path), floating=True, geometry=False).model
    feet, rng, found = pn.feet(robot), np.random.default_rng(0), []
    for _ in range(5):
        q = pinocchio.integrate(robot, pinocchio.neutral(robot), 0.3 * rng.normal(size=robot.nv))
        v = rng.normal(size=robot.nv)
        problem = pn.problem(robot, q, v, gap=50.0, limits=False, deepest=None)
        for i, foot in enumerate(feet):
            moved = frame_velocity(robot, q, v, foot.frame, problem.contacts[i].pos)
            found.append(off(world(problem, i) - moved, moved))
    return robot.nv, len(found), np.max(found)


def scenarios():
    """Twenty landings: (label, problem), from one contact to seventeen."""
    wanted = [1, 2, 3, 4, 6, 8, 10, 12]
    made = []
    for k in range(14):
        name = MJCF[k % len(MJCF)]
        model = load_mjcf(name)
        data, gap = landing(model, np.random.default_rng(k), contacts=wanted[k % 8], speed=1.0 + 0.2 * k)
        problem = mj.problem(model, data, gap=gap)
        made.append((name, problem if problem.nc <= 12 else problem.subset(range(12))))
    for k, name in enumerate(("a1", "laikago", "quadruped", "solo12", "talos", "g1")):
        pair = Pair(name, AGREEMENT[name])
        _, _, gap = pair.state(np.random.default_rng(k))
        made.append((f"urdf/{name}", mj.problem(pair.model, pair.data, gap=gap + 0.05 * k)))
    return made


def landings(given):
    """Twenty landings: is every sample physical?"""
    columns = {"robot": "<25", "nv": "d", "nc": "d", "rank": "d", "solved": ".3f"}
    columns |= dict.fromkeys(("residual", "energy", "momentum", "cone"), ".1e")
    table = Table({**columns, "error": ".1e", "score": ".3f", "not solved": "<"})
    for name, problem in scenarios():
        outcomes = routh.sample(problem, given.samples or 200, friction="cone")
        solved, before = outcomes.solved, problem.kinetic_energy()
        gained = (outcomes.kinetic_energy[solved].max() - before) / before
        momentum = apart(problem, problem.apply(outcomes.impulse), outcomes.v)[solved].max()
        cone = (cone_violation(outcomes.impulse, problem.mu) / problem.scaling.impulse)[solved].max()
        rank = np.linalg.matrix_rank(problem.impulse_columns[:, :: 1 + problem.nt])  # of the normals
        worst = outcomes.residual[solved].max(), gained, momentum, cone
        error = None if outcomes.error is None else outcomes.error[solved].max()
        failed = counted(status_names(outcomes.status[~solved]))
        cells = rank, solved.mean(), *worst, error, outcomes.ambiguity, failed
        table.row(name, problem.nv, problem.nc, *cells)
    print("of solved samples; energy: largest gain over the energy before; momentum: over the speed before;")
    print("cone: violation over the impulse scale; error: the largest reported; score: the set's diameter")


def anymal():
    """The robot, a standing configuration, and its feet."""
    import pinocchio

    path = urdf_path("anymal")
    robot = pn.load(path, roots=urdf_roots(path), floating=True, geometry=False).model
    q = pinocchio.neutral(robot)
    for joint in robot.names:
        if joint.endswith(("HFE", "KFE")):
            angle = 0.6 if joint.endswith("HFE") else -1.1
            q[robot.idx_qs[robot.getJointId(joint)]] = angle if joint[1] == "F" else -angle
    return robot, q, pn.feet(robot)


def quadruped(*, heading=None):
    """ANYmal over level ground on four feet, coming down with some slip, or with more towards ``heading``."""
    robot, q, points = anymal()
    feet = pn.problem(robot, q, np.zeros(robot.nv), points=points, gap=10.0, limits=False, deepest=None)
    q[2] -= feet.dist.min()
    v = np.zeros(robot.nv)
    v[:6] = [0.4, 0.1, -1.0, 0.2, -0.3, 0.1]
    if heading is not None:  # degrees
        v[:6] = [1.5 * np.cos(np.radians(heading)), 1.5 * np.sin(np.radians(heading)), -1.0, 0.0, 0.0, 0.0]
    return pn.problem(robot, q, v, points=points, gap=0.05, mu=0.7, limits=False)


def facets(given):
    """Outcomes with few facets against the true cone, for every direction of slip (they repeat after 90)."""
    samples, headings, errors = (
        given.samples or 40,
        np.linspace(0.0, 90.0, 31),
        {4: [], 8: [], 16: [], 32: []},
    )
    for heading in headings:
        problem = quadruped(heading=heading)
        truth = routh.sample(problem, samples, friction="cone")
        for count, found in errors.items():
            few = routh.sample(problem, samples, friction="polyhedral", facets=count)
            both = truth.terminated & few.terminated
            found.append(100.0 * np.median(apart(problem, few.v[both], truth.v[both])))
    print(f"ANYmal on {problem.nc} feet, {samples} draws for each of {len(headings)} directions of slip;")
    print("median distance from the true cone's outcome of the same draw, % of the speed before\n")
    table = Table({"facets": "d", "mean": ".3f", "worst direction": ".3f"})
    for count, found in errors.items():
        table.row(count, np.mean(found), np.max(found))


def timing(given):
    """Of a landing on four feet."""
    problem, samples = quadruped(), given.samples or 1000
    print(f"ANYmal, nv {problem.nv}, {problem.nc} contacts, true cone, {given.device}")
    options = {"friction": "cone", "device": given.device, "threads": 1 if given.device == "cpu" else None}
    routh.sample(problem, min(samples, 64), **options)  # compile
    _, clock = timed(routh.sample, problem, samples, **options, repeats=5, clock=time.perf_counter)
    outcomes, busy = timed(routh.sample, problem, samples, **options, repeats=5)
    print(
        f"{samples} samples: {1e3 * clock:.1f} ms, {1e6 * clock / samples:.2f} us a sample (best of 5; "
        f"{1e6 * busy / samples:.2f} us of processor time), "
        f"{outcomes.steps.mean():.2f} increments a sample, {outcomes.terminated.mean():.4f} ended"
    )


def motion(given):
    """Solo12 falls 5 mm on its four feet, with springs and dampers in its joints."""
    path = urdf_path("solo12")
    robot = pn.GroundedRobot(
        pn.load(path, roots=urdf_roots(path), floating=True, geometry=False).model, mu=0.7
    )
    knees = np.array([0.0, 0.8, -1.6, 0.0, 0.8, -1.6, 0.0, -0.8, 1.6, 0.0, -0.8, 1.6])
    q = np.concatenate([[0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0], knees])
    q[2] -= robot.gaps(q).min() - 0.005

    def springs(_, q, v):
        return np.concatenate([np.zeros(6), 10.0 * (knees - q[7:]) - 0.5 * v[6:]])

    state = routh.State(q, np.zeros(robot.nv))
    found, seconds = timed(routh.simulate, robot, state, duration=0.2, control=springs)
    verdict = routh.sim.verify(robot, found, control=springs)
    print(f"0.2 s in {seconds:.1f} s of CPU: finished {found.ok}, {len(found)} samples")
    print("events:", ", ".join(f"{event.kind} ({len(event.contacts)})" for event in found.events))
    broken = [f"{v.condition} {v.size:.2f} (interval {v.index})" for v in verdict.violations]
    print("beyond what is allowed:", ", ".join(broken) or "nothing")


def installed(given):
    """Robots as people have them: what has to be said for each to load and land?"""
    landed = total = 0
    columns = {"robot": "<44", "contacts": "d", "lifted m": ".3f", "ms": ".1f", "ambiguity": ".3g"}
    table = Table({**columns, "what had to be said": "<"})
    for name, file in robots_installed():
        if given.only not in name:
            continue
        total += 1
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UnrepresentedWarning)
            try:
                found, seconds = timed(routh.models.landing, load_installed(file))
            except (RouthError, ValueError) as error:
                table.row(name, *4 * [None], str(error)[:150])
                continue
        landed += 1
        told = [str(item.message) for item in caught if issubclass(item.category, UnrepresentedWarning)]
        said = [text.partition(": ")[2][:120] for text in told]  # without the path
        if found.moved:
            said.append(f"{len(found.moved)} joints moved inside their limits")
        score = routh.sample(found.problem, given.samples).ambiguity if given.samples else None
        table.row(name, found.problem.nc, found.lifted, 1e3 * seconds, score, "; ".join(said))
    print(f"{landed} of {total} robots landed")


def commands(given):
    """`routh impact ROBOT --down 1.0` in a fresh process with compiled kernels at hand, best of two.

    Processor time is that of all threads: on a quiet machine the clock is ahead of it, on a busy one behind.
    """
    files = {
        "walker2d": mjcf_path("gymnasium/walker2d"),
        "anymal": urdf_path("anymal"),
        "solo12": urdf_path("solo12"),
    }
    print(f"{machine()}\n")
    table = Table({"routh impact ROBOT --down 1.0": "<10", "processor s": ".1f", "clock s": ".1f"})
    with tempfile.TemporaryDirectory() as folder:
        for name, file in files.items():
            if given.only in name:
                command = [sys.executable, "-m", "routh", "impact", str(file), "--down", "1.0"]
                command += ["--out", f"{folder}/picture.png"]
                runs = [command_seconds(command) for _ in range(3)]
                table.row(name, *np.min(runs[1:], axis=0))  # the first may compile


def main():
    parts = (agreement, differences, landings, facets, timing, motion, installed, commands)
    parser = command_line(__doc__, *parts)
    parser.add_argument("--states", type=int, default=200, help="of agreement")
    parser.add_argument("--samples", type=int, default=None)
    parser.add_argument("--only", default="", help="of installed, commands: robots whose names contain this")
    parser.add_argument("--device", default="cpu", help="of timing")
    warnings.simplefilter("ignore", UnrepresentedWarning)
    run_part(parser)


if __name__ == "__main__":
    main()
