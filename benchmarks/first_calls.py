"""How long a newcomer waits: processor time of first and second calls, each in a process of its own.

    python benchmarks/first_calls.py [row ...] [--repeat 3] [--without-bytecode]

A fresh folder for compiled kernels stands for a fresh installation of routh: the first call compiles, the
second loads. Bytecode is there, since pip makes it for what it installs; ``--without-bytecode`` is for
installers that make none. Processor time with that of children, since other work on the machine should not
count; of several second calls the least. Rows are named as printed, for example "routh list" or "plane".
"""

from __future__ import annotations

import os
import sys
import tempfile

from measure import Table, command_line, command_seconds, machine

COMMANDS = {
    "routh list": ["-m", "routh", "list"],
    "routh list rocking-block": ["-m", "routh", "list", "rocking-block"],
    "routh run rocking-block": ["-m", "routh", "run", "rocking-block", "--out", "{folder}/picture.png"],
    "the same without a picture": ["-m", "routh", "run", "rocking-block", "--no-picture"],
    "first outcome in Python": [
        "-c",
        "import routh; routh.sample(routh.systems.get('rocking-block').problem, 1)",
    ],
}
FAMILY = "import sys; from routh.cli.precompile import FAMILIES; FAMILIES[sys.argv[1]]()"


def processor_seconds(arguments, folder, bytecode):
    """Processor time of a Python process and its children, s; NaN where it failed."""
    environment = {**os.environ, "ROUTH_CACHE_DIR": folder, "NUMBA_CACHE_DIR": folder}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if not bytecode:
        environment["PYTHONPYCACHEPREFIX"] = folder
    command = [sys.executable, *(argument.format(folder=folder) for argument in arguments)]
    return command_seconds(command, env=environment)[0]


def main():
    from routh.cli.precompile import FAMILIES

    parser = command_line(__doc__)
    parser.add_argument("row", nargs="*")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--without-bytecode", action="store_true")
    given = parser.parse_args()
    rows = dict(COMMANDS)
    rows |= {name: ["-c", FAMILY, name] for name in FAMILIES}
    unknown = set(given.row) - set(rows)
    if unknown:
        parser.error(f"there is no row {min(unknown)!r}; wanted one of {', '.join(rows)}")
    print(f"{machine()}, processor time in s\n")
    table = Table({"": "<28", "first": ".2f", "second": ".2f"})
    for name in given.row or rows:
        with tempfile.TemporaryDirectory() as folder:
            spent = [
                processor_seconds(rows[name], folder, not given.without_bytecode)
                for _ in range(1 + given.repeat)
            ]
        table.row(name, spent[0], min(spent[1:]))


if __name__ == "__main__":
    main()
