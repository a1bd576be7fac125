"""Would the tests notice? Plants single faults in a copy, and runs the tests that mirror the file.

python scripts/mutate.py --each 20 --out mutants.jsonl     # 20 faults in each room of ROOMS
python scripts/mutate.py src/routh/bounds --each 5 --seed 1 --out mutants.jsonl
python scripts/mutate.py --whole --out mutants.jsonl       # all tests on those that survived
python scripts/mutate.py --again --out mutants.jsonl       # survivors, after new tests
python scripts/mutate.py --table --out mutants.jsonl       # run nothing, print the table

A fault with a line in --out is not run again, so a run can be stopped and goes on where it was. Survivors
that change nothing that can be seen have an argument in scripts/mutants.toml. Tests that fail without a fault
are named and left out. Processor time is limited to five times what the tests need without a fault, and 20 s:
what takes longer is killed.

The usual tools do not fit. mutmut switches between faults at run time, in a wrapper around each function,
which our compiler can neither translate nor tell from the kernel in its cache; cosmic-ray has one command of
tests for all files, and changes the tree itself.
"""

import argparse
import ast
import copy
import importlib.util
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path

from without_features import ROOT, copy_without

ROOMS = [f"src/routh/{name}" for name in ("bounds", "lcp", "step", "auditing", "exact/checker.py", "robust",
         "sim/verification.py", "laws", "models", "kernels")]  # fmt: skip
SWAPPED = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Eq: ast.NotEq,
           ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
           ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or,
           ast.Or: ast.And}  # fmt: skip
CALLED = {"max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum", "any": "all", "all": "any",
          "argmax": "argmin", "argmin": "argmax", "floor": "ceil", "ceil": "floor", "sin": "cos",
          "cos": "sin"}  # fmt: skip
NUMBERS = {"float", "int", "Array", "complex", "Fraction"}  # what a function returns whose sign can be turned
SILENT = {"repr", "eq", "frozen", "init", "hash", "slots"}  # keywords of dataclasses


@dataclass(frozen=True)
class Fault:
    """One change of one file; ``name`` stays the same when lines above it move."""

    file: str
    name: str
    line: int
    kind: str
    span: tuple[int, int]  # in bytes
    before: str
    after: str


def changed(node: ast.AST, *, number: bool) -> Iterator[tuple[str, ast.AST, ast.AST]]:
    """The kinds of faults that fit a node: kind, what is replaced, by what."""
    twin = copy.deepcopy(node)
    match twin:
        case ast.Compare(ops=[operator]) if type(operator) in SWAPPED:
            twin.ops = [SWAPPED[type(operator)]()]
            yield "comparison", node, twin
        case ast.BinOp(op=operator) | ast.AugAssign(op=operator) if type(operator) in SWAPPED:
            twin.op = SWAPPED[type(operator)]()
            yield "arithmetic", node, twin
        case ast.BoolOp(op=operator):
            twin.op = SWAPPED[type(operator)]()
            yield "and/or", node, twin
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield "sign", node, operand
        case ast.Call(func=ast.Name(id=name) as place) | ast.Call(func=ast.Attribute(attr=name) as place):
            if name in CALLED:
                setattr(place, "id" if isinstance(place, ast.Name) else "attr", CALLED[name])
                yield "max/min", node, twin
            if name == "abs" and len(twin.args) == 1:
                yield "max/min", node, twin.args[0]
        case ast.Constant(value=bool(value)):
            yield "constant", node, ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield "constant", node, ast.Constant(value + 1)
        case ast.Constant(value=float(value)):
            factor = 1e6 if abs(value) < 1e-4 else 2.0  # the former are tolerances
            yield "constant", node, ast.Constant(factor * value or 1.0)
        case ast.Return(value=value) if value is not None and number:
            twin.value = ast.UnaryOp(ast.USub(), value)
            yield "return", node, twin
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) if not isinstance(
            test, ast.Compare
        ):
            yield "negated", node.test, ast.UnaryOp(ast.Not(), test)
    match node:
        case ast.AugAssign() | ast.Continue() | ast.Break() | ast.Raise() | ast.Expr(value=ast.Call()):
            yield "dropped", node, ast.Pass()
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]):
            yield "dropped", node, ast.Pass()


def walked(node: ast.AST, place: str, number: bool) -> Iterator[tuple[str, str, ast.AST, ast.AST]]:
    """All faults below a node, with their function; none in annotations, messages and decorators."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        place = f"{place}.{node.name}".lstrip(".")
        number = isinstance(node, ast.FunctionDef) and ast.unparse(node.returns or node) in NUMBERS
    for kind, old, new in changed(node, number=number):
        yield place, kind, old, new
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list") or isinstance(
            node, ast.Raise | ast.JoinedStr
        ):
            continue
        for child in value if isinstance(value, list) else [value]:
            silent = isinstance(child, ast.keyword) and child.arg in SILENT
            if isinstance(child, ast.AST) and not silent:
                yield from walked(child, place, number)


def faults(file: Path) -> list[Fault]:
    """Every fault that can be planted in a file."""
    source = file.read_bytes()
    starts = [0, *(end.end() for end in re.finditer(b"\n", source))]
    name, counts, planted = str(file.relative_to(ROOT)), Counter[str](), []
    for place, kind, old, new in walked(ast.parse(source), "", False):
        span = starts[old.lineno - 1] + old.col_offset, starts[old.end_lineno - 1] + old.end_col_offset
        before, after = " ".join(source[slice(*span)].decode().split()), ast.unparse(new)
        after = after if isinstance(old, ast.stmt) else f"({after})"
        label = f"{name}:{place}: {before} -> {after}"
        counts[label] += 1
        label += f" #{counts[label]}" if counts[label] > 1 else ""
        planted.append(Fault(name, label, old.lineno, kind, span, before, after))
    return planted


def chosen(room: str, count: int, seed: int) -> list[Fault]:
    """The first ``count`` faults of a room in an order by the seed, which takes the kinds in turn."""
    place = ROOT / room
    listed = [
        f for file in (sorted(place.rglob("*.py")) if place.is_dir() else [place]) for f in faults(file)
    ]
    random.Random(f"{seed} {room}").shuffle(listed)
    kinds = [[f for f in listed if f.kind == kind] for kind in sorted({f.kind for f in listed})]
    return [f for f in chain(*zip_longest(*kinds)) if f][:count]


@cache
def mirror(file: str, most: int) -> list[str]:
    """The test files of a module: importers and those of its room, first who speaks most of its names."""
    module = Path(file).relative_to("src").with_suffix("")
    dotted, stem = ".".join(module.parts), module.name.strip("_")
    tree = ast.parse((ROOT / file).read_text()).body
    names = [node.name for node in tree if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    words = re.compile("|".join([re.escape(dotted), *(rf"\b{name}\b" for name in [stem, *names])]))
    room, counts = ROOT / "tests" / module.parts[1], dict[Path, int]()
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text()
        if path.is_relative_to(room) or dotted in text:
            counts[path] = len(words.findall(text)) + 100 * (stem in path.stem)
    ordered = sorted(counts, key=lambda path: -counts[path])
    return [str(path.relative_to(ROOT)) for path in ordered[:most]]


def tested(place: Path, arguments: list[str], limit: float | None) -> tuple[str, list[str], float]:
    """Run tests in the copy: "passed", "failed" or "time"; which failed; the processor time, s."""
    paths = os.pathsep.join(str(place / part) for part in ("src", "benchmarks", "docs"))
    kept = {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "ROUTH_CACHE_DIR": str(place / ".kernels")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "--tb=no", "-rfE", *arguments]

    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 2))

    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    try:
        done = subprocess.run(command, cwd=place, env={**os.environ, **kept}, capture_output=True, text=True,
                              preexec_fn=limited, timeout=None if limit is None else 20 * limit)  # fmt: skip
    except subprocess.TimeoutExpired:
        return "time", [], 0.0
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    failed = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    if done.returncode < 0:
        return "time", failed, spent
    return ("failed" if done.returncode in (1, 2, 3, 4) else "passed"), failed, spent


class Bench:
    """A copy of the tree in which one fault at a time is planted."""

    def __init__(self, place: Path, options: list[str]) -> None:
        self.place, self.options = place, options
        self._sound: dict[tuple[str, ...], tuple[list[str], float]] = {}

    def sound(self, tests: list[str]) -> tuple[list[str], float]:
        """What to leave out because it fails without a fault, and the limit of processor time, s."""
        key = tuple(tests)
        if key not in self._sound:
            answer, failed, spent = tested(self.place, [*self.options, *tests], None)  # compiles, too
            left_out = [f"--deselect={name}" for name in failed if "::" in name]
            left_out += [f"--ignore={name}" for name in failed if "::" not in name]
            if failed:
                print(f"fails without a fault, left out: {', '.join(failed)}", flush=True)
                answer, _, spent = tested(self.place, [*self.options, *tests, *left_out], None)
            if answer != "passed":
                raise SystemExit(f"no tests that pass without a fault: {' '.join(tests)}")
            self._sound[key] = left_out, 5 * spent + 20.0
        return self._sound[key]

    def plant(self, fault: Fault, tests: list[str]) -> tuple[str, str, float]:
        """Whether the tests notice: "failed", "time" or "survived"; the first that did; processor time, s."""
        left_out, limit = self.sound(tests)
        path, (start, end) = self.place / fault.file, fault.span
        source = path.read_bytes()
        self._write(path, source[:start] + fault.after.encode() + source[end:])
        answer, failed, spent = tested(self.place, ["-x", *self.options, *tests, *left_out], limit)
        self._write(path, source)
        return {"passed": "survived"}.get(answer, answer), (failed or [""])[0], spent

    @staticmethod
    def _write(path: Path, source: bytes) -> None:
        """Write a module; no bytecode of the last one may stand for it."""
        path.write_bytes(source)
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


def table(rows: dict[str, dict[str, str]], equivalent: dict[str, str]) -> str:
    """How many were planted and noticed in each room, and each survivor."""
    lines = [
        "| room | planted | killed by the mirror | by other tests | equivalent | survived |",
        "|---|---|---|---|---|---|",
    ]
    total: Counter[str] = Counter()
    for room in dict.fromkeys(Path(row["file"]).parts[2] for row in rows.values()):
        count: Counter[str] = Counter()
        for name, row in rows.items():
            if Path(row["file"]).parts[2] == room:
                said = "equivalent" if row["answer"] == "survived" and name in equivalent else row["answer"]
                count[("whole" if row["whole"] else "mirror") if said in ("failed", "time") else said] += 1
        total += count
        lines.append(_row(f"`{room}`", count))
    lines.append(_row("all", total))
    for name, row in rows.items():
        if row["answer"] == "survived":
            said = f"equivalent: {equivalent[name]}" if name in equivalent else "survived"
            lines.append(
                f"{row['file']}:{row['line']}: {row['before']} -> {row['after']} ({row['kind']}; {said})"
            )
    return "\n".join(lines)


def _row(name: str, count: Counter[str]) -> str:
    return f"| {name} | {count.total()} | " + " | ".join(
        str(count[key]) for key in ("mirror", "whole", "equivalent", "survived")) + " |"  # fmt: skip


def main() -> int:
    """Plant, run, print; the exit code is 1 where a fault survived without an argument."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("rooms", nargs="*", default=ROOMS, help="files or folders; default: ROOMS")
    parser.add_argument("--out", type=Path, required=True, help="results, a line of JSON each")
    parser.add_argument("--each", type=int, default=20, help="faults in each room")
    parser.add_argument("--files", type=int, default=5, help="of tests that mirror one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--match", default="", help="only faults whose name has this in it")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no further fault after this long")
    parser.add_argument(
        "--slow", action="store_true", help="with the tests that are marked slow; so does --whole"
    )
    for name in ("--whole", "--again", "--table"):
        parser.add_argument(name, action="store_true")
    asked = parser.parse_args()
    equivalent = tomllib.loads((ROOT / "scripts/mutants.toml").read_text())
    kept = asked.out.read_text().splitlines() if asked.out.exists() else []
    rows = {row["name"]: row for row in map(json.loads, kept)}
    each = 10**6 if asked.match else asked.each
    plan = [fault for room in asked.rooms for fault in chosen(room, each, asked.seed)]
    plan = [fault for fault in plan if asked.match in fault.name and fault.name not in rows]
    if asked.whole or asked.again:
        left = [n for n, r in rows.items() if r["answer"] == "survived" and n not in equivalent]
        every = {f.name: f for file in {rows[n]["file"] for n in left} for f in faults(ROOT / file)}
        plan = [every[n] for n in left if n in every and asked.match in n]
    plan = [] if asked.table else plan
    end = time.monotonic() + 60 * asked.minutes
    with tempfile.TemporaryDirectory() as folder:
        if plan:
            copy_without([], Path(folder))
        bench = Bench(Path(folder), [] if asked.slow or asked.whole else ["-m", "not slow"])
        for fault in plan:
            if time.monotonic() > end:
                break
            answer, by, spent = bench.plant(
                fault, ["tests"] if asked.whole else mirror(fault.file, asked.files)
            )
            row = {key: getattr(fault, key) for key in ("name", "file", "line", "kind", "before", "after")}
            rows[fault.name] = row = {**row, "answer": answer, "by": by, "whole": asked.whole}
            with asked.out.open("a") as out:
                out.write(json.dumps(row) + "\n")
            print(f"{answer:8} {spent:5.1f} s  {fault.name}  {by}", flush=True)
    print(table(rows, equivalent))
    return int(any(row["answer"] == "survived" and name not in equivalent for name, row in rows.items()))


if __name__ == "__main__":
    sys.exit(main())
