"""Broken and hostile ``.npz`` files: does each one load or end in a ValueError, in bounded memory?"""

import io
import random
import tempfile
import zipfile
from pathlib import Path

import numpy as np

import routh
from attacking.forks import in_forks
from attacking.report import Found
from routh import systems

SHAPES = [(200_000, 200_000), (-1, 3), (2**62, 2**62), (0,), (), (3, 0), (10**9,), (1, 1, 1, 1)]
KINDS = ["<f8", ">f8", "<c16", "|O", "<i1", "<U3", "<M8[s]", "|V5", "<f2", "|b1"]


def attack(count, seed):
    """Mutated files of problems and of outcomes, each loaded as both."""
    found = Found("mutated .npz files")
    with tempfile.TemporaryDirectory() as folder:
        originals = written(Path(folder))
        made = []
        for k in range(count):
            path = Path(folder) / f"{k}.npz"
            rng = random.Random(f"{seed}-{k}")
            path.write_bytes(mutated(rng.choice(originals), rng))
            made.append(path)
            if len(made) == 200 or k == count - 1:
                for one, verdict, seconds in in_forks(made, judge, together=200):
                    wrong = "" if verdict in ("loaded", "refused") else f"{one.name}: {verdict}"
                    found.count(seconds, wrong=wrong, honest=verdict == "refused")
                    one.unlink()
                made = []
    return found


def written(folder):
    """The bytes of a good file of each kind."""
    problem = systems.get("rocking-block").problem
    problem.save(folder / "problem.npz")
    still_outcomes(problem, 6).save(folder / "outcomes.npz")
    return [(folder / name).read_bytes() for name in ("problem.npz", "outcomes.npz")]


def still_outcomes(problem, n):
    """Outcomes of the right shapes, without compiling a sampler for them."""
    nc, still = problem.nc, np.zeros(n, np.int8)
    v = np.tile(problem.v, (n, 1))
    return routh.Outcomes(
        problem, v, np.zeros((n, nc, 1 + problem.nt)), still.astype(int), still, np.zeros(n)
    )


def judge(path):
    """In the fork: "loaded", "refused", or the exception; loaded things must hold together."""
    verdict = "refused"
    for kind in (routh.ImpactProblem, routh.Outcomes):
        try:
            loaded = kind.load(path)
        except ValueError as error:
            if str(path) not in str(error):
                return f"an error that does not name the file: {error}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"[:200].replace("\n", " ")
        else:
            verdict = "loaded"
            if isinstance(loaded, routh.Outcomes):
                loaded.status_counts()
                assert loaded.v.shape == (len(loaded.status), loaded.problem.nv)
    return verdict


def mutated(data, rng):
    """Bytes changed, cut or moved, or an array forged inside a sound archive."""
    if rng.random() < 0.5:
        return forged(data, rng)
    changed = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        kind, at = rng.randrange(4), rng.randrange(len(changed))
        if kind == 0:
            changed[at] = rng.randrange(256)
        elif kind == 1:
            changed[at : at + 4] = rng.choice([b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff"])
        elif kind == 2:
            del changed[at : at + rng.randrange(1, 60)]
        else:
            changed = changed[:at] + changed[at // 2 : at // 2 + 50] + changed[at:]
        changed = changed or bytearray(b"x")
    return bytes(changed)


def forged(data, rng):
    """One array replaced: another shape, another kind, a header that lies, or zeros without end."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        names = old.namelist()
        victim = rng.choice(names)
        for name in names:
            content = old.read(name)
            if name == victim:
                content = forged_array(content, rng)
            if content is not None:
                new.writestr(name, content)
    return target.getvalue()


def forged_array(content, rng):
    """The bytes of a member; None leaves it out."""
    kind = rng.randrange(6)
    if kind == 0:
        return None
    if kind == 1:
        return content[: rng.randrange(len(content))]
    head = io.BytesIO()
    header = {"descr": rng.choice(KINDS), "fortran_order": rng.random() < 0.5, "shape": rng.choice(SHAPES)}
    np.lib.format.write_array_header_1_0(head, header)
    if kind == 2:
        return head.getvalue() + bytes(rng.randrange(64))
    if kind == 3:
        return head.getvalue().replace(b"False", b"9**99")
    if kind == 4:
        return head.getvalue() + bytes(2 ** rng.randrange(10, 24))
    array = io.BytesIO()
    shape, number = rng.choice([(), (2,), (3, 3), (6, 3), (2, 1, 3)]), rng.choice([np.nan, np.inf, -1, 1e308])
    np.save(array, np.full(shape, number))
    return array.getvalue()
