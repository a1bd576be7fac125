"""The pages of the reference: every public name, grouped by the room that it lives in."""

import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType

import routh


def modules() -> list[str]:
    """Every public module, by its full name: what the root names, what these name, and so on."""
    todo, reached = [routh], set[str]()
    while todo:
        module = todo.pop()
        values = [getattr(module, name) for name in getattr(module, "__all__", ())]
        inner = [one for one in values if inspect.ismodule(one) and one.__name__ not in reached]
        reached |= {one.__name__ for one in inner}
        todo += inner
    return sorted(reached)


def names_of(module: ModuleType) -> list[str]:
    """Public names of a module: its ``__all__``, or what it defines itself."""
    own = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]
    return [
        name for name in getattr(module, "__all__", own) if not inspect.ismodule(getattr(module, name, None))
    ]


def address(module: ModuleType, name: str) -> str:
    """Where a public name is defined: the path that the generator reads."""
    value = getattr(module, name)
    home = getattr(value, "__module__", None)
    if isinstance(home, str) and home.startswith("routh") and hasattr(value, "__qualname__"):
        return f"{home}.{value.__qualname__}"
    return f"{module.__name__}.{name}"  # a constant


def first_sentence(text: str | None) -> str:
    """The summary of a docstring, on one line."""
    summary = inspect.cleandoc(text or "").split("\n\n")[0]
    return " ".join(summary.split()).replace("|", "\\|")


def examples(page: Path) -> dict[str, str]:
    """Public name -> the block that shows its use, from a page with a heading for each name."""
    parts = re.split(r"^## (routh[\w.]+)\n", page.read_text(), flags=re.MULTILINE)[1:]
    return {name: text.strip() for name, text in zip(parts[::2], parts[1::2], strict=True)}


def addresses(names: dict[str, str]) -> dict[str, str]:
    """The same by the path where each name is defined."""
    found = {}
    for full, text in names.items():
        module, _, name = full.rpartition(".")
        found[address(importlib.import_module(module), name)] = text
    return found


def page_of(module: str) -> str:
    """The file of a module's page."""
    return f"{module.removeprefix('routh.').replace('.', '_')}.md"


def _entry(path: str, shown: dict[str, str]) -> str:
    example = f"\n**Example**\n\n{shown[path]}\n" if path in shown else ""
    return f"::: {path}\n{example}"


def write(folder: Path) -> list[str]:
    """Write ``routh.md`` and one page a module into a folder; return all pages, for the navigation."""
    pages: list[str] = []
    home: dict[str, str] = {}
    shown = addresses(examples(folder / "examples.md"))
    (folder / "examples.md").unlink()
    for full in modules():
        module = importlib.import_module(full)
        entries = {name: address(module, name) for name in names_of(module)}
        if full == "routh.exact":  # its names are public at the root
            entries = {
                name: address(routh, name)
                for name in routh.__all__
                if getattr(getattr(routh, name), "__module__", "").startswith("routh.exact.")
            }
        body = "\n".join(_entry(path, shown) for path in dict.fromkeys(entries.values()))
        page = page_of(full)
        summary = inspect.cleandoc(module.__doc__ or "")
        (folder / page).write_text(f"# {full}\n\n{summary}\n\n{body}")
        home |= {path: page for path in entries.values() if path not in home}
        pages.append(page)
    _write_root(folder / "routh.md", home, shown)
    return ["api.md", "routh.md", *pages]


def _write_root(page: Path, home: dict[str, str], shown: dict[str, str]) -> None:
    """The names of the root: a table that points to the entries, and entries for those without a page."""
    rows: list[str] = []
    rest: list[str] = []
    for name in routh.__all__:
        value = getattr(routh, name)
        if inspect.ismodule(value):
            target = page_of(value.__name__)
        elif name == "__version__":
            continue
        else:
            path = address(routh, name)
            if path not in home:
                rest.append(_entry(path, shown))
            target = f"{home.get(path, '')}#{path}"
        rows.append(f"| [`routh.{name}`]({target}) | {first_sentence(value.__doc__)} |")
    table = "\n".join(["| name | what it is |", "|---|---|", *rows])
    page.write_text(f"# routh\n\nEvery name that `import routh` gives.\n\n{table}\n\n" + "\n".join(rest))
