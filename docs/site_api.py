"""Write the page that is the API: every public name, what it is, how stable it is, since when.

A name that is public in several places (`routh.sample`, `routh.sampling.sample`) stands once, by its shortest
path. Beside the page, ``python docs/site_api.py`` writes a list of the present version,
``reference/api-VERSION.txt``: those of earlier versions stay as they were released, and say since when a name
is there and what has changed.
"""

import importlib
import re
from dataclasses import dataclass
from pathlib import Path

import routh
import site_reference
from routh.base import features

FOLDER = Path(__file__).resolve().parent / "reference"
PAGE = FOLDER / "api.md"
#: Names of the core that there may be; features are counted apart.
MOST = 180
STABLE, YOUNG, KEPT = "stable", "young", "kept as it is"
MEANING = {
    STABLE: "changes only with a major version",
    YOUNG: "may change with a minor version, which the changelog says",
    KEPT: "stays for what uses it, and gets nothing new",
}
#: By name, else by the module where a name is public; what is not listed is young. What a stable function
#: returns is stable, too.
STABILITY = {
    "routh": STABLE,
    "routh.landings": YOUNG,
    "routh.step_through": YOUNG,  # as the constraints that it takes
    "routh.step_through_many": YOUNG,
    "routh.auditing": STABLE,
    "routh.bounds": STABLE,
    "routh.laws": STABLE,
    "routh.lcp": KEPT,
    "routh.models.planar": STABLE,
    "routh.models.spatial": STABLE,
    "routh.reproduce": KEPT,
    "routh.sampling": STABLE,
    "routh.approximate": KEPT,  # the paper's two algorithms: `sample` does better
    "routh.sampling.sample_by_steps": KEPT,
    "routh.sim.Bundle": STABLE,
    "routh.sim.Event": STABLE,
    "routh.step": KEPT,
    "routh.systems": STABLE,
    "routh.two_body": KEPT,
    "routh.viz": STABLE,
}
#: What has no docstring of its own.
CONSTANTS = {
    "routh.__version__": "The version, as text.",
    "routh.constraints.STEEL": "The compliance of steel, the default of constraints.",
    "routh.laws.LAWS": "Every law by its name; call it for the law with its default options.",
    "routh.learn.MODES": "What a contact does, by the number that observations have.",
    "routh.models.planar.GROUND": "The body that does not move, in the plane.",
    "routh.models.spatial.GROUND": "The body that does not move, in space.",
}


@dataclass(frozen=True)
class Public:
    """One public name."""

    path: str
    summary: str
    stability: str
    feature: bool


def names() -> dict[str, Public]:
    """Every public name by its shortest path, those of the root first."""
    public: dict[str, Public] = {}
    seen: set[str] = set()
    for full in ("routh", *site_reference.modules()):
        module = importlib.import_module(full)
        for name in site_reference.names_of(module):
            home = site_reference.address(module, name)
            path = f"{full}.{name}"
            if home in seen:
                continue
            seen.add(home)
            summary = CONSTANTS.get(path) or site_reference.first_sentence(getattr(module, name).__doc__)
            of_feature = full.split(".")[1] in features.KNOWN if "." in full else False
            public[path] = Public(path, summary, STABILITY.get(path, STABILITY.get(full, YOUNG)), of_feature)
    return public


def released() -> dict[str, list[str]]:
    """Version -> its public names, the earliest version first."""
    lists = {file.stem.removeprefix("api-"): file.read_text().split() for file in FOLDER.glob("api-*.txt")}
    return dict(sorted(lists.items(), key=lambda one: [int(part) for part in re.findall(r"\d+", one[0])]))


def changes(before: list[str], now: list[str]) -> tuple[list[str], list[str]]:
    """Names that came and names that went."""
    return sorted(set(now) - set(before)), sorted(set(before) - set(now))


def page() -> str:
    """The whole page."""
    public, earlier = names(), released()
    core = [one for one in public.values() if not one.feature]
    added = [one for one in public.values() if one.feature]
    meanings = "\n".join(f"- **{word}**: {meaning}." for word, meaning in MEANING.items())
    parts = [
        "# The API",
        f"Every public name, once, by its shortest path: {len(core)} of the core and {len(added)} "
        "of features. What is not on this page is private, wherever it can be imported from. "
        "`python docs/site_api.py` writes the page.",
        meanings,
    ]
    for title, part in (("The core", core), ("Features", added)):
        rows = [
            f"| `{one.path}` | {one.summary} | {one.stability} | {since(one.path, earlier)} |" for one in part
        ]
        parts.append(
            "\n".join(
                [f"## {title}\n", "| name | what it is | stability | since |", "|---|---|---|---|", *rows]
            )
        )
    return "\n\n".join(parts) + "\n"


def since(path: str, earlier: dict[str, list[str]]) -> str:
    """The first version that has a name; the present one where none has."""
    return next((version for version, listed in earlier.items() if path in listed), routh.__version__)


def listing() -> str:
    """What is stored of the present version."""
    return "\n".join(sorted(names())) + "\n"


if __name__ == "__main__":
    (FOLDER / f"api-{routh.__version__}.txt").write_text(listing())
    PAGE.write_text(page())
    print(f"{sum(not one.feature for one in names().values())} names of the core")
