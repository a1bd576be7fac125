"""A newcomer's first ten minutes, with robots that the authors did not write: a table to read.

python scripts/newcomer.py                 # README, robots, audit, view and notebook, in this environment
python scripts/newcomer.py --install       # in a new one, with every extra
python scripts/newcomer.py --only robots   # one part

Robots come from packages of the index (the extra `robots`): gymnasium, dm_control, example-robot-data. Each
row has the wall clock, the exit code (0 done, 1 no result, 2 bad input, 5 too few samples solved), which
samples are not solved, and the first line of the answer. Nothing is judged here: read every row.
"""

import argparse
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PATIENCE, INSTALLING = 300.0, 1800.0  # s for one command, and for pip
GYMNASIUM = ("ant", "half_cheetah", "hopper", "humanoid", "humanoidstandup", "walker2d_v5", "swimmer")
DM_CONTROL = ("quadruped", "dog", "walker", "cheetah", "humanoid_CMU")
URDF = (
    *(
        "anymal_b_simple_description/robots/anymal",
        "anymal_c_simple_description/urdf/anymal",
        "a1_description/urdf/a1",
    ),
    *("go1_description/urdf/go1", "b1_description/urdf/b1", "laikago_description/urdf/laikago"),
    *(
        "hyq_description/robots/hyq_no_sensors",
        "bolt_description/robots/bolt",
        "g1_description/urdf/g1_29dof_rev_1_0",
    ),
    *("talos_data/robots/talos_reduced", "icub_description/robots/icub", "romeo_description/urdf/romeo"),
    *("tiago_description/robots/tiago", "iris_description/robots/iris"),
)


def robots(python: Path) -> list[Path]:
    """The files of robots that the environment has."""
    code = (
        "import importlib.util as u, json, site\n"
        "found = [s.origin if (s := u.find_spec(n)) else None for n in ('gymnasium', 'dm_control')]\n"
        "print(json.dumps([*found, site.getsitepackages()[0]]))"
    )
    told = subprocess.run([python, "-c", code], capture_output=True, check=True).stdout
    gym, control, site = json.loads(told)
    shared = Path(site) / "cmeel.prefix/share/example-robot-data/robots"
    found = [Path(gym).parent / f"envs/mujoco/assets/{name}.xml" for name in GYMNASIUM] if gym else []
    found += [Path(control).parent / f"suite/{name}.xml" for name in DM_CONTROL] if control else []
    found += [shared / f"{name}.urdf" for name in URDF]
    return [file for file in found if file.is_file()]


def row(
    what: str, command: list[object], folder: Path, *, ends: bool = True, patience: float = PATIENCE
) -> None:
    """Run a command and print its row; ``ends``: else it is stopped once it has said something."""
    start = time.monotonic()
    words = [str(word) for word in command]
    if not ends:
        process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        first = next((line for line in process.stdout if line.strip()), "")
        process.terminate()
        process.wait()
        show(what, time.monotonic() - start, "", "", first)
        return
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=patience)
    except subprocess.TimeoutExpired:
        show(what, patience, "-", "", "no answer by then")
        return
    said = (done.stdout.strip() or done.stderr.strip()).splitlines() or [""]
    statuses = ", ".join(dict.fromkeys(re.findall(r"\d+ (?:[A-Z]+_)*[A-Z]{5,}", done.stdout)))
    show(what, time.monotonic() - start, str(done.returncode), statuses, said[0])


def show(what: str, seconds: float, code: str, statuses: str, line: str) -> None:
    """One row."""
    print(f"{what:28.28} {seconds:7.1f} {code:>4}  {statuses:22.22}  {line.strip()[:140]}", flush=True)


def readme_blocks() -> list[str]:
    """The Python of the README."""
    return re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--only", choices=("readme", "robots", "audit", "view", "notebook"))
    parser.add_argument("--samples", type=int, help="of each robot; default: the command's own")
    wanted = parser.parse_args()
    os.environ.setdefault("MPLBACKEND", "Agg")
    print(f"{'what':28} {'s':>7} {'code':>4}  {'not solved':22}  first line")
    with tempfile.TemporaryDirectory() as name:
        folder, python = Path(name), Path(sys.executable)
        if wanted.install:
            venv.create(folder / "env", with_pip=True)
            python = folder / "env" / "bin" / "python"
            row(
                "pip install",
                [python, "-m", "pip", "install", "-qq", f"{ROOT}[all,robots]", "nbclient", "ipykernel"],
                folder,
                patience=INSTALLING,
            )
        routh: list[object] = [python, "-m", "routh"]
        if wanted.only in (None, "readme"):
            for number, block in enumerate(readme_blocks(), start=1):
                row(f"README, block {number}", [python, "-c", block], folder)
            row("routh run rocking-block", [*routh, "run", "rocking-block"], folder)
            row(
                "routh tip",
                [*routh, "tip", ROOT / "examples/lander.xml", "--down", "1.5", "--sideways", "0.8"],
                folder,
            )
        files = robots(python)
        size: list[object] = [] if wanted.samples is None else ["--samples", wanted.samples]
        for file in files if wanted.only in (None, "robots") else []:
            origin = {"gymnasium", "dm_control"} & set(file.parts)
            named = f"{origin.pop() if origin else file.parts[-3]}/{file.stem}"
            row(
                named.replace("_description", ""),
                [*routh, "impact", file, "--down", "1", "--no-picture", *size],
                folder,
            )
        for file in files[:1] + files[-1:] if wanted.only in (None, "audit") else []:
            out = ["--down", "1", "--duration", "0.5", "--out", "audit.html"]
            row(f"audit {file.stem}", [*routh, "audit", file, *out], folder)
        if wanted.only in (None, "view"):
            for source in ("rocking-block", *files[:1]):
                row(f"view {Path(source).stem}", [*routh, "view", source], folder, ends=False)
        if wanted.only in (None, "notebook"):
            if importlib.util.find_spec("nbclient") is None and not wanted.install:
                show("notebook", 0.0, "-", "", "nbclient is not installed")
            else:
                notebook = sorted((ROOT / "examples").glob("*.ipynb"))[0]
                code = "import nbformat, nbclient, sys; n = nbformat.read(sys.argv[1], 4); "
                code += "nbclient.NotebookClient(n).execute(); print(len(n.cells), 'cells ran')"
                row(f"notebook {notebook.stem}", [python, "-c", code, notebook], folder)


if __name__ == "__main__":
    main()
