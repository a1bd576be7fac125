"""Broken model files: does each one end in a model or in a clear error?

    python benchmarks/fuzz_models.py --count 10000 --seed 0

Files of real robots and small scenes are mutated (bytes flipped, attributes and elements removed, doubled or
swapped, numbers made huge, tiny, negative, NaN) and each is loaded in a process of its own, with limits on
memory and time. A crash, a hang or an exception that is no ModelError counts as a failure and is kept.
"""

import argparse
import collections
import importlib
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

SCENES = {
    "scene.xml": """<mujoco><compiler angle="radian"/><option timestep="0.002"/><default>
      <geom friction="0.8"/>
      <default class="foot"><geom condim="4"/></default></default><asset><texture name="t" type="2d"
      builtin="checker" width="8" height="8"/><material name="m" texture="t"/></asset><worldbody>
      <geom name="floor" type="plane" size="1 1 1" material="m"/><body name="a" pos="0 0 1"><freejoint/>
      <geom type="box" size="0.1 0.2 0.3"/><body name="b" pos="0 0 -0.3"><joint name="j" type="hinge"
      range="-1 1" limited="true"/><geom class="foot" type="capsule" size="0.05" fromto="0 0 0 0 0 -0.4"/>
      <site name="s" pos="0 0 -0.4"/></body></body><body name="c" pos="1 0 1"><joint type="ball"/>
      <geom type="ellipsoid" size="0.1 0.2 0.1"/></body></worldbody><equality><connect body1="a" body2="c"
      anchor="0 0 0"/></equality><tendon><fixed name="f" range="-1 1"><joint joint="j" coef="2"/></fixed>
      </tendon><actuator><motor joint="j" gear="3"/></actuator><keyframe><key name="k"/></keyframe>
      </mujoco>""",
    "leg.urdf": """<robot name="leg"><link name="trunk"><inertial><mass value="2"/><inertia ixx="1" iyy="1"
      izz="1" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><box size="0.1 0.2 0.3"/></geometry>
      </collision></link><link name="shank"><inertial><origin xyz="0 0 -0.1"/><mass value="0.5"/><inertia
      ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><sphere
      radius="0.05"/></geometry></collision></link><joint name="knee" type="revolute"><parent link="trunk"/>
      <child link="shank"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
      </robot>""",
}
NUMBERS = ["nan", "inf", "-1", "0", "1e308", "-1e308", "1e-320", "99999999999999", "0.5 0.5", "", "x", "1e5"]
MEMORY = 4 * 2**30
SECONDS = 20


def sources():
    """Texts to start from: (name, text)."""
    from robot_zoo import mjcf_path, package_folder, urdf_path

    found = list(SCENES.items())
    if package_folder("gymnasium"):
        found += [
            (f"{n}.xml", mjcf_path(f"gymnasium/{n}").read_text()) for n in ("ant", "walker2d", "humanoid")
        ]
    try:
        found.append(("a1.urdf", urdf_path("a1").read_text()))
    except BaseException as error:  # pytest's skip is no Exception
        print(f"without a1.urdf: {error}")
    return found


def mutate(text, rng):
    """One to four changes."""
    for _ in range(rng.randint(1, 4)):
        kind = rng.randrange(8)
        if kind == 0:  # a byte
            at = rng.randrange(len(text))
            text = (
                text[:at] + chr(rng.choice([0, 9, 34, 60, 62, 38, rng.randrange(1, 0x2FF)])) + text[at + 1 :]
            )
        elif kind in (1, 2, 3):  # a number
            text = replace_one(text, r"-?\d+\.?\d*(e-?\d+)?", rng, lambda m: rng.choice(NUMBERS))
        elif kind == 4:  # an attribute away
            text = replace_one(text, r'\s[a-z_]+="[^"]*"', rng, lambda m: "")
        elif kind == 5:  # an element away, or twice
            text = replace_one(text, r"<[a-z]+[^<>]*/>", rng, lambda m: rng.choice(["", 2 * m.group()]))
        elif kind == 6:  # a name for another
            names = re.findall(r"[a-zA-Z_]{3,}", text)
            text = replace_one(text, r"[a-zA-Z_]{3,}", rng, lambda m, n=names: rng.choice(n))
        else:  # a piece moved
            a, b = sorted(rng.randrange(len(text)) for _ in range(2))
            b = min(b, a + 400)
            at = rng.randrange(len(text))
            text = text[:at] + text[a:b] + text[at:]
    return text


def replace_one(text, pattern, rng, make):
    matches = list(re.finditer(pattern, text))
    if not matches:
        return text
    match = rng.choice(matches)
    return text[: match.start()] + make(match) + text[match.end() :]


def load(path, engine):
    """In the child: 0 a model, 3 a ModelError, 4 another exception (printed)."""
    from routh.status import ModelError

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.alarm(SECONDS)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    log = os.open(str(path) + ".log", os.O_CREAT | os.O_WRONLY)
    os.dup2(log, 2)
    os.chdir(path.parent)
    try:
        if engine == "mujoco":
            from routh.models import mujoco as adapter

            adapter.load(path)
        else:
            from routh.models import pinocchio as adapter

            adapter.load(path, floating=True)
    except ModelError as error:
        return 3 if len(str(error)) > 20 else 4
    except BaseException:
        import traceback

        traceback.print_exc()
        return 4
    return 0


def run_one(path, engine):
    child = os.fork()
    if child == 0:
        code = 5
        try:
            code = load(path, engine)
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return f"signal {signal.Signals(os.WTERMSIG(status)).name}"
    return {0: "model", 3: "clear error"}.get(os.WEXITSTATUS(status), f"exit {os.WEXITSTATUS(status)}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=None, help="folder for the files that failed")
    given = parser.parse_args()
    for package in ("mujoco", "pinocchio", "routh.models"):  # loaded once; children are forks
        importlib.import_module(package)
    texts, counts, start = sources(), collections.Counter(), time.time()
    with tempfile.TemporaryDirectory() as folder:
        for k in range(given.count):
            rng = random.Random(f"{given.seed}-{k}")
            name, text = texts[k % len(texts)]
            engine = "pinocchio" if name.endswith(".urdf") and (k // len(texts)) % 2 else "mujoco"
            path = Path(folder) / f"{k}-{name}"
            path.write_text(mutate(text, rng), encoding="utf-8", errors="surrogateescape")
            verdict = run_one(path, engine)
            counts[engine, verdict] += 1
            if (k + 1) % 500 == 0:
                print(f"{k + 1} files: {dict(counts)}", file=sys.stderr, flush=True)
            if verdict not in ("model", "clear error"):
                print(f"{k} {name} {engine}: {verdict}", flush=True)
                if given.keep:
                    given.keep.mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, given.keep)
                    shutil.copy(str(path) + ".log", given.keep)
            for old in Path(folder).glob(f"{k}-*"):
                old.unlink()
    print(f"{given.count} files in {time.time() - start:.0f} s, seed {given.seed}")
    for (engine, verdict), count in sorted(counts.items()):
        print(f"{engine:<12}{verdict:<16}{count:>8}")
    bad = sum(count for (_, verdict), count in counts.items() if verdict not in ("model", "clear error"))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
