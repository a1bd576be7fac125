"""Robots as people have them: does each load and land in one call, and what has to be said for it?

python benchmarks/landings.py                 # what is installed of gymnasium, dm_control, example-robot-data
python benchmarks/landings.py --samples 256   # and sample each landing
"""

import argparse
import importlib.util
import time
import warnings
from pathlib import Path

import routh
from routh.models import UnrepresentedWarning
from routh.status import RouthError

GYMNASIUM = ["ant", "half_cheetah", "hopper", "humanoid", "humanoidstandup", "walker2d"]
DM_CONTROL = ["cheetah", "dog", "hopper", "humanoid", "humanoid_CMU", "quadruped", "walker"]


def robots():
    """(name, file) of every robot that is installed; fixed arms and hands float here to land."""
    for package, folder, names in (
        ("gymnasium", "envs/mujoco/assets", GYMNASIUM),
        ("dm_control", "suite", DM_CONTROL),
    ):
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.origin is not None:
            for name in names:
                file = Path(spec.origin).parent / folder / f"{name}.xml"
                if file.exists():
                    yield f"{package}/{name}", file
    spec = importlib.util.find_spec("pinocchio")
    if spec is not None and spec.origin is not None:
        for parent in Path(spec.origin).parents:
            share = parent / "share" / "example-robot-data" / "robots"
            if share.is_dir():
                for folder in sorted(share.iterdir()):
                    files = sorted(folder.rglob("*.urdf"))
                    if files:
                        yield f"example-robot-data/{files[0].stem}", files[0]
                return


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=0)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    landed = total = 0
    print(f"{'robot':44} {'contacts':>8} {'lifted m':>9} {'ms':>6} {'ambiguity':>9}  what had to be said")
    for name, file in robots():
        if options.only not in name:
            continue
        total += 1
        said = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UnrepresentedWarning)
            try:
                urdf = file.suffix == ".urdf"
                model = routh.models.mujoco.load(file, floating=urdf, ground=0.0 if urdf else None)
                begun = time.process_time()
                found = routh.models.landing(model)
                spent = 1e3 * (time.process_time() - begun)
            except (RouthError, ValueError) as error:
                print(f"{name:44} {'-':>8} {'-':>9} {'-':>6} {'-':>9}  {str(error)[:150]}")
                continue
        landed += 1
        told = [str(item.message) for item in caught if issubclass(item.category, UnrepresentedWarning)]
        said += [text.partition(": ")[2][:120] for text in told]  # without the path
        if found.moved:
            said.append(f"{len(found.moved)} joints moved inside their limits")
        score = "-"
        if options.samples:
            score = f"{routh.sample(found.problem, options.samples).ambiguity:.3g}"
        print(
            f"{name:44} {found.problem.nc:8d} {found.lifted:9.3f} {spent:6.1f} {score:>9}  {'; '.join(said)}",
            flush=True,
        )
    print(f"{landed} of {total} robots landed")


if __name__ == "__main__":
    main()
