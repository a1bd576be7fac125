"""Broken and hostile model files: does each end in a model or a clear error, and is nothing read outside?

Files of robots and small scenes are mutated (bytes flipped, attributes and elements removed, doubled or
swapped, numbers made huge, tiny, negative, NaN). Trees of files with includes, attached models, links and
packages name files beside the model's folder in every way; the kernel tells whether one was opened.
"""

import importlib
import os
import random
import re
import tempfile
from pathlib import Path

from attacking.forks import in_forks
from attacking.report import Found
from attacking.scenes import (
    CANARIES,
    CONVERTED,
    DAE,
    DIRECTORIES,
    ENTITY,
    MESH,
    NAMES,
    PACKAGED,
    SCENES,
    TREES,
)
from attacking.watch import Watch

NUMBERS = ["nan", "inf", "-1", "0", "1e308", "-1e308", "1e-320", "99999999999999", "0.5 0.5", "", "x", "1e5"]


def attack(count, seed):
    """Two rows: single files, and trees of files. In each, mutated ``count // 2`` times."""
    for package in ("mujoco", "pinocchio", "routh.models.mujoco", "routh.models.pinocchio"):
        importlib.import_module(package)  # once; the forks have them
    with tempfile.TemporaryDirectory() as folder:
        return [
            _attack("mutated model files", count // 2, seed, Path(folder) / "a", single_file),
            _attack("trees of model files", count - count // 2, seed, Path(folder) / "b", tree),
        ]


def _attack(name, count, seed, folder, make):
    found = Found(name)
    outside = [folder / "out", folder / "hidden" / "far"]
    for place in outside:
        place.mkdir(parents=True)
        for canary, text in CANARIES.items():
            (place / canary).write_text(text)
    (folder / "hidden" / "far" / "package.xml").write_text("<package/>")
    packages(folder)
    watch = Watch(*outside)
    texts = sources()
    made = (make(folder / str(k), texts, random.Random(f"{seed}-{name}-{k}")) for k in range(count))
    for path, verdict, seconds in in_forks_in_turn(made, judge):
        opened = watch.opened()
        wrong = f"{path.name} in case {path.parent.parent.name}: {verdict}"
        if opened:
            found.count(seconds, wrong=f"{wrong}, read {opened[0]} outside")
        elif verdict in ("model", "clear error"):
            found.count(seconds, honest=verdict == "clear error")
        else:
            found.count(seconds, wrong=f"{wrong}\n{_files(path.parent)}")
        remove(path.parent.parent)
    watch.close()
    return found


def packages(folder):
    """Packages where ROS and Ament look for them, each with links that lead outside; all forks know them."""
    for name in ("ros/rospkg", "ament/share/amentpkg"):
        place = folder / name
        place.mkdir(parents=True)
        (place / "a.obj").write_text(MESH)
        (place / "a.dae").write_text(DAE.replace("PICTURE", "link/canary.png"))
        (place / "link").symlink_to(folder / "out")
        (place / "link.obj").symlink_to(folder / "out" / "canary.obj")
    os.environ |= {"ROS_PACKAGE_PATH": str(folder / "ros"), "AMENT_PREFIX_PATH": str(folder / "ament")}


def in_forks_in_turn(made, judge, together=50):
    """`in_forks` without all cases on the disk at once."""
    batch = []
    for case in made:
        batch.append(case)
        if len(batch) == together:
            yield from in_forks(batch, judge, together=together)
            batch = []
    yield from in_forks(batch, judge, together=together)


def judge(path):
    """In the fork: "model", "clear error" (a ModelError of some length), or the exception."""
    from routh.base.status import ModelError

    case = int(path.parent.parent.name)
    roots = [path.parents[2] / "ros"] if case % 8 == 0 else []
    try:
        if path.suffix == ".urdf" and case % 2:
            from routh.models import pinocchio

            pinocchio.load(path, floating=True, roots=roots)
        else:
            from routh.models import mujoco

            mujoco.load(path, roots=roots)
    except ModelError as error:
        return "clear error" if len(str(error)) > 20 else f"ModelError {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200].replace("\n", " ")
    return "model"


def sources():
    """Texts of single files to start from: (name, text); robots where their packages are installed."""
    from robot_zoo import mjcf_path, package_folder, urdf_path

    found = list(SCENES.items())
    if package_folder("gymnasium"):
        found += [(f"{n}.xml", mjcf_path(f"gymnasium/{n}").read_text()) for n in ("ant", "walker2d")]
    try:
        found.append(("a1.urdf", urdf_path("a1").read_text()))
    except BaseException as error:  # pytest's skip is no Exception
        print(f"without a1.urdf: {error}")
    return found


def single_file(folder, texts, rng):
    """One mutated file."""
    name, text = rng.choice(texts)
    path = folder / "model" / name
    path.parent.mkdir(parents=True)
    path.write_text(mutate(text, rng), encoding="utf-8", errors="surrogateescape")
    return path


def tree(folder, _, rng):
    """Files that name each other, with links, and with names that lead outside; a few are mutated too."""
    top, files = rng.choice(TREES)
    place = folder / "model"
    (place / "sub" / "deep").mkdir(parents=True)
    for name in ("a.obj", "sub/a.obj", "sub/deep/a.obj"):
        (place / name).write_text(MESH)
    for name, text in CONVERTED.items():
        (place / name).write_text(foreign_mesh(text, folder, rng), encoding="utf-8", errors="surrogateescape")
    for link, target in (("link", "../../out"), ("link.obj", "../../out/canary.obj"), ("up", "..")):
        if rng.random() < 0.5:
            (place / link).symlink_to(target)
    if rng.random() < 0.3:
        (place / "package:").symlink_to("../../out")
    if rng.random() < 0.5:
        (place / "far").symlink_to("../../hidden/far")  # a folder that says it is a package, behind a link
    beside = folder / "beside"
    beside.mkdir()
    (beside / "package.xml").write_text("<package/>")
    (beside / "a.obj").write_text(MESH)
    (beside / "link.obj").symlink_to("../../out/canary.obj")
    names = PACKAGED if top.endswith(".urdf") else NAMES
    for name, text in files.items():
        text = re.sub("NAME", lambda _: spelled(rng.choice(names), folder, rng), text)
        text = re.sub("DIRECTORY", lambda _: spelled(rng.choice(DIRECTORIES), folder, rng), text)
        if rng.random() < 0.1:
            text = mutate(text, rng)
        (place / name).write_text(text, encoding="utf-8", errors="surrogateescape")
    return place / top


def foreign_mesh(text, folder, rng):
    """A mesh to be converted, which may name files outside, and may be broken."""
    out = str(folder.parent / "out")
    text = text.replace(
        "PICTURE", rng.choice(["", "../../out/canary.png", f"file://{out}/canary.png", "link.png"])
    )
    text = text.replace("WHERE", rng.choice(["", "", f"file://{out}/canary.dae", "../../out/canary.dae"]))
    if text.startswith("<") and rng.random() < 0.2:
        text = ENTITY.replace("OUT", out) + text.replace("<p>0", "<p>&e; 0")
    return mutate(text, rng) if rng.random() < 0.3 else text


def spelled(name, folder, rng):
    """A name with its absolute part filled in, now and then in another spelling."""
    name = name.replace("OUT", str(folder.parent / "out"))
    kind = rng.randrange(20)
    if kind == 0:
        return name.replace("/", "\\")
    if kind == 1:
        return "./" + name
    if kind == 2:
        return name.replace("/", "//")
    if kind == 3:
        return "".join(f"&#{ord(c)};" if c in "./" else c for c in name)
    if kind == 4:
        return f"sub/../{name}"
    return name


def mutate(text, rng):
    """One to four changes."""
    for _ in range(rng.randint(1, 4)):
        kind = rng.randrange(8)
        if kind == 0:  # a byte
            at = rng.randrange(len(text))
            sign = chr(rng.choice([0, 9, 34, 60, 62, 38, rng.randrange(1, 0x2FF)]))
            text = text[:at] + sign + text[at + 1 :]
        elif kind in (1, 2, 3):  # a number
            text = replace_one(text, r"-?\d+\.?\d*(e-?\d+)?", rng, lambda m: rng.choice(NUMBERS))
        elif kind == 4:  # an attribute away
            text = replace_one(text, r'\s[a-z_]+="[^"]*"', rng, lambda m: "")
        elif kind == 5:  # an element away, or twice
            text = replace_one(text, r"<[a-z]+[^<>]*/>", rng, lambda m: rng.choice(["", 2 * m.group()]))
        elif kind == 6:  # a name for another
            names = re.findall(r"[a-zA-Z_]{3,}", text) or ["x"]
            text = replace_one(text, r"[a-zA-Z_]{3,}", rng, lambda m, n=names: rng.choice(n))
        else:  # a piece moved
            a, b = sorted(rng.randrange(len(text)) for _ in range(2))
            at = rng.randrange(len(text))
            text = text[:at] + text[a : min(b, a + 400)] + text[at:]
    return text


def replace_one(text, pattern, rng, make):
    """One match of the pattern, replaced."""
    matches = list(re.finditer(pattern, text))
    if not matches:
        return text
    match = rng.choice(matches)
    return text[: match.start()] + make(match) + text[match.end() :] or " "


def remove(folder):
    """A case's folder, without following links."""
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def _files(folder):
    texts = [f"--- {path.name}\n{path.read_bytes()[:600]!r}" for path in sorted(folder.glob("*.[xu]*"))]
    return "\n".join(texts)
