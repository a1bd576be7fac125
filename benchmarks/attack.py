"""Attack the library: degenerate impacts, hostile files and folders, kills while saving, interrupts.

    python benchmarks/attack.py                       # all of it at full size: hours
    python benchmarks/attack.py --share 0.001         # a thousandth of it
    python benchmarks/attack.py --only models --models 100000
    python benchmarks/attack.py --only physics --only slow --processes 16

Answers are held against the papers' equations by code that shares nothing with the solvers, files outside a
model's folder are watched by the kernel, what was saved is read again, and equal seeds have to give equal
bits. The table counts cases, wrong ones and failures that say so, and holds the slowest (for impacts: the
slowest sample, processor time) against what is allowed. The exit code is 1 where anything is wrong or too
slow. The parts "physics", "bits" and "slow" need NumPy, SciPy and Numba only.
"""

import importlib
import sys

from attacking.report import show
from measure import command_line

PARTS = ("physics", "bits", "slow", "dependent", "landings", "models", "archives", "folders")
PARTS += ("tip", "saving", "interrupts", "notebooks")


def options(arguments):
    """The command line."""
    parser = command_line(__doc__)
    parser.add_argument("--only", choices=PARTS, action="append", help="a part; repeatable")
    parser.add_argument("--share", type=float, default=1.0, help="of all counts below")
    parser.add_argument("--problems", type=int, default=10**4, help="impacts of each of 13 families")
    parser.add_argument("--family", action="append", help="one of them, by the start of its name; repeatable")
    parser.add_argument("--bits", type=int, default=10**4, help="impacts compared bit by bit")
    parser.add_argument("--slow", type=int, default=100, help="impacts with condition 1e5, for each sampler")
    parser.add_argument("--dependent", type=int, default=1000, help="exact sets of nearly dependent rows")
    parser.add_argument("--landings", type=int, default=200, help="samples of each family of landings")
    parser.add_argument(
        "--landing", action="append", help="one of them, by the start of its name; repeatable"
    )
    parser.add_argument("--tips", type=int, default=10**4, help="everyday touch-downs, MuJoCo the judge")
    parser.add_argument("--models", type=int, default=10**5, help="mutated model files")
    parser.add_argument("--archives", type=int, default=10**4, help="mutated .npz files")
    parser.add_argument("--folders", type=int, default=10**4, help="tampered folders of studies")
    parser.add_argument("--kills", type=int, default=200, help="kills while saving")
    parser.add_argument("--interrupts", type=int, default=100, help="interrupts of commands, and of cells")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"), help="of interrupted commands")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1, help="of physics, bits, slow and dependent")
    return parser.parse_args(arguments)


def attack(given):
    """All rows, as they come."""
    only = given.only or PARTS

    def number(count):
        return max(round(given.share * count), 1)

    def part(name):
        return importlib.import_module(f"attacking.{name}")

    if "archives" in only:
        yield part("archives").attack(number(given.archives), given.seed)
    if "folders" in only:
        yield part("folders").attack(number(given.folders), given.seed)
    if "models" in only:
        yield from part("models").attack(number(given.models), given.seed)
    if "saving" in only:
        yield from part("saving").attack(number(given.kills), given.seed)
    if "physics" in only:
        chosen = tuple(given.family or [""])
        for name in (name for name in part("physics").FAMILIES if name.startswith(chosen)):
            yield part("physics").attack(name, number(given.problems), given.seed, given.processes)
    if "bits" in only:
        for name in part("bits").HYPOTHESES:
            yield part("bits").attack(name, number(given.bits), given.seed, given.processes)
    if "slow" in only:
        for method, friction in part("slow").ROWS:
            yield part("slow").attack(method, friction, number(given.slow), given.seed, given.processes)
    if "dependent" in only:
        yield part("dependent").attack(number(given.dependent), given.seed, given.processes)
    if "landings" in only:
        for name in part("landings").chosen(given.landing):
            yield part("landings").attack(name, number(given.landings), given.seed)
    if "tip" in only:
        yield part("tip").attack(number(given.tips), given.seed)
    if "interrupts" in only:
        yield part("interrupts").attack(number(given.interrupts), given.seed, given.device)
    if "notebooks" in only:
        yield part("notebooks").attack(number(given.interrupts), given.seed)


def main(arguments=None):
    rows = []
    for row in attack(options(arguments)):
        print(f"{row.name}: {row.cases} cases, {row.wrong} wrong", file=sys.stderr, flush=True)
        rows.append(row)
    show(rows)
    return 1 if any(row.wrong or row.too_slow for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
