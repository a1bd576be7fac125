"""Robots from PyPI packages: do the adapters agree, are all samples physical, what do facets cost, how fast?

    python benchmarks/robots.py agreement     both adapters on the same URDFs: M, contact velocities, sets
    python benchmarks/robots.py differences   contact velocities against differences of positions
    python benchmarks/robots.py landings      20 landings: energy, momentum and cone of every sample
    python benchmarks/robots.py facets        4 to 32 facets against the true cone, with a figure
    python benchmarks/robots.py heatmap       which landings of ANYmal are ambiguous, with a figure
    python benchmarks/robots.py timing        a quadruped landing on four feet, us per sample
    python benchmarks/robots.py motion        the same robot's motion through the landing, checked

Needs gymnasium, dm_control and example-robot-data (pip install 'routh[robots]').
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

import routh
from problems import cone_violation
from robot_zoo import DM_CONTROL, GYMNASIUM, landing, load_mjcf, urdf_path, urdf_roots
from routh.models import UnrepresentedWarning
from routh.models import mujoco as mj
from routh.models import pinocchio as pn

# URDFs that MuJoCo compiles, with the spheres put at the ends of their limbs on both sides (radius, m)
AGREEMENT = {
    "a1": 0.02,
    "laikago": 0.0265,
    "quadruped": 0.02,
    "solo12": 0.016,
    "bolt": 0.016,
    "talos": 0.03,
    "g1": 0.02,
}
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
        everything = pn.problem(self.robot, q, T @ data.qvel, points=self.points, gap=10.0, limits=False)
        q[2] -= everything.dist.min()
        data.qpos[2] = q[2]
        return q, T, float(np.sort(everything.dist - everything.dist.min())[len(self.points) // 2]) + 1e-9


def world(problem, i):
    contact = problem.contacts[i]
    velocity = problem.contact_velocity()[i]
    return velocity @ contact.frame[: len(velocity)] if contact.kind == "contact" else velocity[:1]


def agreement(states, samples):
    print(
        f"{'robot':<12}{'nv':>4}{'states':>8}{'contacts':>10}{'M':>10}{'velocity':>10}{'set':>10}{'diff.':>7}"
    )
    for name, radius in AGREEMENT.items():
        pair, rng = Pair(name, radius), np.random.default_rng(0)
        worst, contacts, differ = np.zeros(3), 0, 0
        for k in range(states):
            q, T, gap = pair.state(rng)
            ours = mj.problem(pair.model, pair.data, gap=gap)
            theirs = pn.problem(pair.robot, q, T @ pair.data.qvel, points=pair.points, gap=gap)
            assert sorted(ours.names) == sorted(theirs.names), (ours.names, theirs.names)
            theirs = theirs.subset(ours.names)
            contacts += ours.nc
            mass = np.abs(ours.M - T.T @ theirs.M @ T).max() / np.abs(theirs.M).max()
            velocity = max(np.abs(world(ours, i) - world(theirs, i)).max() for i in range(ours.nc))
            a = routh.sample(ours, samples, seed=k, friction="cone")
            b = routh.sample(theirs, samples, seed=k, friction="cone")
            apart = np.sqrt(2.0 * theirs.kinetic_energy(a.v @ T.T - b.v)) / theirs.speed
            same = apart <= 1e-8  # steps with several solutions may choose differently
            differ += int(np.count_nonzero(~same))
            found = [mass, velocity, apart[same].max(initial=0.0)]
            worst = np.maximum(worst, found)  # which a NaN would survive
        print(
            f"{name:<12}{pair.model.nv:>4}{states:>8}{contacts / states:>10.1f}"
            + "".join(f"{w:>10.1e}" for w in worst)
            + f"{differ:>7}"
        )
    print(
        f"set: {samples} samples a state; diff.: samples, of all, that end elsewhere (more than 1e-8 apart)"
    )


def differences():
    from test_mujoco import material_velocity

    print(f"{'robot':<26}{'nv':>4}{'contacts':>10}{'worst difference':>18}")
    for name in MJCF:
        model, rng = load_mjcf(name), np.random.default_rng(0)
        worst, count = 0.0, 0
        for _ in range(5):
            data, gap = landing(model, rng)
            problem = mj.problem(model, data, gap=max(gap, 0.02))
            for i, contact in enumerate(problem.contacts):
                if contact.kind == "contact":
                    moved = material_velocity(model, data, problem.lift(problem.v), contact)
                    rows = contact.frame[: 1 + problem.nt]
                    apart = np.abs(rows @ moved - problem.contact_velocity()[i]).max()
                    worst, count = np.maximum(worst, apart / (1.0 + np.abs(moved).max())), count + 1
        print(f"{name:<26}{model.nv:>4}{count:>10}{worst:>18.1e}")
    for name in ("a1", "laikago", "quadruped", "solo12", "bolt", "talos", "g1", "anymal", "go1"):
        pinocchio_differences(name)


def pinocchio_differences(name):
    import pinocchio
    from test_pinocchio import difference

    path = urdf_path(name)
    robot = pn.load(path, roots=urdf_roots(path), floating=True, geometry=False).model
    feet, rng, worst, count = pn.feet(robot), np.random.default_rng(0), 0.0, 0
    for _ in range(5):
        q = pinocchio.integrate(robot, pinocchio.neutral(robot), 0.3 * rng.normal(size=robot.nv))
        v = rng.normal(size=robot.nv)
        problem = pn.problem(robot, q, v, gap=50.0, limits=False)
        for i, foot in enumerate(feet):
            moved = difference(robot, q, v, foot.frame, problem.contacts[i].pos)
            apart = np.abs(world(problem, i) - moved).max() / (1.0 + np.abs(moved).max())
            worst, count = np.maximum(worst, apart), count + 1
    print(f"{'urdf/' + name:<26}{robot.nv:>4}{count:>10}{worst:>18.1e}")


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


def landings(samples):
    head = ("robot", "nv", "nc", "rank", "ended", "solved", "residual", "energy", "momentum", "cone", "score")
    print(f"{head[0]:<26}" + "".join(f"{word:>9}" for word in head[1:]))
    for name, problem in scenarios():
        outcomes = routh.sample(problem, samples, friction="cone")
        scale = problem.scaling
        gained = (outcomes.kinetic_energy.max() - problem.kinetic_energy()) / max(
            problem.kinetic_energy(), 1e-300
        )
        applied = problem.apply(outcomes.impulse)
        momentum = np.sqrt(2.0 * problem.kinetic_energy(applied - outcomes.v)).max() / scale.speed
        cone = (cone_violation(outcomes.impulse, problem.mu) / scale.impulse).max()
        solved = np.mean([routh.Status(int(code)).ok for code in outcomes.status])
        rank = routh.models.simultaneity.redundancy(problem).normal_rank
        print(
            f"{name:<26}{problem.nv:>9}{problem.nc:>9}{rank:>9}{outcomes.terminated.mean():>9.3f}{solved:>9.3f}"
            f"{outcomes.residual.max():>9.1e}{gained:>9.1e}{momentum:>9.1e}{cone:>9.1e}{outcomes.ambiguity:>9.3f}"
        )
    print(
        "energy: largest gain over the energy before; momentum: |v + M^-1 J^T impulse - v'|_M over the speed;"
    )
    print("cone: largest violation over the impulse scale; score: diameter of the set over the speed before")


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


def facets(samples, out):
    """Outcomes with few facets against the true cone, for every direction of slip (they repeat after 90)."""
    from facet_figure import facet_figure
    from routh.viz import style

    counts, headings = (4, 8, 16, 32), np.linspace(0.0, 90.0, 31)
    errors, shown = {count: [] for count in counts}, None
    for heading in headings:
        problem = quadruped(heading=heading)
        truth = routh.sample(problem, samples, friction="cone")
        sets = {
            count: routh.sample(problem, samples, friction="polyhedral", facets=count) for count in counts
        }
        for count, found in sets.items():
            both = truth.terminated & found.terminated
            apart = np.sqrt(2.0 * problem.kinetic_energy(found.v[both] - truth.v[both])) / problem.speed
            errors[count].append(np.median(apart))
        shown = (truth, sets) if heading == 15.0 else shown
    print(f"ANYmal on {problem.nc} feet, {samples} draws for each of {len(headings)} directions of slip;")
    print("median distance from the true cone's outcome of the same draw, % of the speed before")
    print(f"{'facets':>8}{'mean':>12}{'worst direction':>20}")
    for count in counts:
        print(f"{count:>8}{100 * np.mean(errors[count]):>12.3f}{100 * np.max(errors[count]):>20.3f}")
    if out is not None:
        style.save(facet_figure(*shown, headings, errors), out)
        print(f"figure: {out}")


def heatmap(samples, out):
    """Which landings of ANYmal are ambiguous: the score over roll and pitch."""
    import pinocchio

    from routh.viz import style
    from routh.viz.robots import draw_scan

    robot, q0, points = anymal()

    def at(roll, pitch):
        q = q0.copy()
        turn = pinocchio.utils.rpyToMatrix(np.radians(roll), np.radians(pitch), 0.0)
        q[3:7] = pinocchio.Quaternion(turn).coeffs()
        v = np.zeros(robot.nv)
        v[:3] = turn.T @ [0.3, 0.0, -1.0]
        q[2] -= pn.problem(robot, q, v, points=points, gap=10.0, limits=False).dist.min()
        return pn.problem(robot, q, v, points=points, gap=0.01, mu=0.7, limits=False)

    angles = np.linspace(-3.0, 3.0, 13)
    found = routh.scan(at, {"roll": angles, "pitch": angles}, n=samples)
    print("the most ambiguous landings (degrees):")
    for row in found.worst(5):
        print("  " + "  ".join(f"{key} {value:.3g}" for key, value in row.items()))
    if out is not None:
        with style.context():
            fig, axes = style.figure(width=style.COLUMN, aspect=0.8)
            draw_scan(found, axes[0])
            axes[0].set_xlabel("roll, degrees")
            axes[0].set_ylabel("pitch, degrees")
            axes[0].set_title("ANYmal, feet within 1 cm")
        style.save(fig, out)
        print(f"figure: {out}")


def timing(samples, device):
    problem = quadruped()
    print(f"ANYmal, nv {problem.nv}, {problem.nc} contacts, true cone, {device}")
    options = {"friction": "cone", "device": device}
    if device == "cpu":
        options["threads"] = 1
    routh.sample(problem, min(samples, 64), **options)  # compile
    best, busy = np.inf, np.inf
    for _ in range(5):
        start, cpu = time.perf_counter(), time.process_time()
        outcomes = routh.sample(problem, samples, **options)
        best, busy = min(best, time.perf_counter() - start), min(busy, time.process_time() - cpu)
    print(
        f"{samples} samples: {1e3 * best:.1f} ms, {1e6 * best / samples:.2f} us a sample (best of 5; "
        f"{1e6 * busy / samples:.2f} us of processor time), "
        f"{outcomes.steps.mean():.2f} increments a sample, {outcomes.terminated.mean():.4f} ended"
    )


def motion():
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

    begin = time.process_time()
    state = routh.State(q, np.zeros(robot.nv))
    found = routh.simulate(robot, state, duration=0.2, control=springs)
    seconds = time.process_time() - begin
    verdict = routh.sim.verify(robot, found, control=springs)
    print(f"0.2 s in {seconds:.1f} s of CPU: finished {found.ok}, {len(found)} samples")
    print("events:", ", ".join(f"{event.kind} ({len(event.contacts)})" for event in found.events))
    broken = [f"{v.condition} {v.size:.2f} (interval {v.index})" for v in verdict.violations]
    print("beyond what is allowed:", ", ".join(broken) or "nothing")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "what", choices=["agreement", "differences", "landings", "facets", "heatmap", "timing", "motion"]
    )
    parser.add_argument("--states", type=int, default=200)
    parser.add_argument("--samples", type=int, default=None)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    warnings.simplefilter("ignore", UnrepresentedWarning)
    if given.what == "agreement":
        agreement(given.states, given.samples or 4)
    elif given.what == "differences":
        differences()
    elif given.what == "landings":
        landings(given.samples or 200)
    elif given.what == "facets":
        facets(given.samples or 40, given.out)
    elif given.what == "motion":
        motion()
    elif given.what == "heatmap":
        heatmap(given.samples or 64, given.out)
    else:
        timing(given.samples or 1000, given.device)


if __name__ == "__main__":
    main()
