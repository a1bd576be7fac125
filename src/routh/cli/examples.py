"""``routh example``: what lies in ``examples/``, which an installed routh has too."""

from __future__ import annotations

import json
import re
from pathlib import Path

from routh.base.status import InputError
from routh.base.storage import write_bytes
from routh.base.text import for_rich, for_terminal
from routh.cli.output import Output, plain_table
from routh.models.zoo import examples


def show_examples(output: Output) -> int:
    """A table of all examples; the exit code."""
    table = plain_table("*|name", "kind", "what it is about")
    rows = [{"name": name, "file": str(file), "about": _about(file)} for name, file in examples().items()]
    for row in rows:
        table.add_row(row["name"], Path(row["file"]).suffix[1:], for_rich(row["about"]))
    output.show(table)
    output.say('\nTry: [bold]routh tip "$(routh example lander)"[/bold]')
    output.emit(rows)
    return 0


def show_example(name: str, output: Output, copy: bool) -> int:
    """The path of one, or of its copy in the working directory; the exit code."""
    there = examples()
    name = name if name in there else Path(name).stem
    if name not in there:
        raise InputError("name", got=repr(for_terminal(name)), wanted=f"one of {', '.join(there)}")
    file = there[name]
    if copy:
        target = Path(file.name)
        if target.exists():
            raise InputError(
                "--copy", wrong=f"there is a {for_terminal(target)!r} already", wanted="another folder"
            )
        file = write_bytes(target, file.read_bytes())
    output.answer([str(file)])
    output.emit(name=name, file=str(file))
    return 0


def _about(file: Path) -> str:
    """The first words of an example about itself."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".ipynb":
        text = "".join(json.loads(text)["cells"][0]["source"])
    said = re.search(r'(?:"""|<!--|^# )\s*(.*?)\s*(?:"""|-->|\n\n|\n|$)', text, re.MULTILINE)
    return said[1] if said else ""
