"""The report card of an engine: as text, as a page, as JUnit XML."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from html import escape
from pathlib import Path
from xml.etree import ElementTree

from routh.base.results import Whole
from routh.base.status import InputError
from routh.base.text import for_terminal


class Grade(StrEnum):
    """How a check came out."""

    OK = "ok"
    LOOK = "look"  # not found in the sampled set, which proves nothing
    FAULT = "FAULT"
    NOT_ASKED = "not asked"


@dataclass(frozen=True)
class CardEntry:
    """One check of one scene."""

    scene: str
    check: str
    grade: Grade
    says: str = ""
    amount: float | None = None


@dataclass(frozen=True)
class Card(Whole):
    """What an engine's answers are worth."""

    name: str
    findings: tuple[CardEntry, ...]
    seconds: float

    def __repr__(self) -> str:
        return f"Card({self.sentence})"

    @property
    def faults(self) -> tuple[CardEntry, ...]:
        """The findings that are faults."""
        return tuple(one for one in self.findings if one.grade is Grade.FAULT)

    @property
    def sentence(self) -> str:
        """The card in one line."""
        counts = Counter(one.grade for one in self.findings)
        told = ", ".join(f"{counts[grade]} {grade}" for grade in Grade if counts[grade])
        return f"{for_terminal(self.name)}: {told} ({self.seconds:.0f} s)"

    @property
    def text(self) -> str:
        """The findings that are not in order, scene by scene, below the card in one line."""
        lines = [self.sentence]
        for one in self.findings:
            if one.grade in (Grade.FAULT, Grade.LOOK):
                lines.append(f"  {one.grade:<5}  {one.scene:<16}  {one.check:<17}  {for_terminal(one.says)}")
        return "\n".join(lines)

    @property
    def html(self) -> str:
        """A page with a row per scene and a column per check; grades have a letter as well as a colour."""
        checks = list(dict.fromkeys(one.check for one in self.findings))
        rows = [f"<tr><th>scene</th>{''.join(f'<th>{escape(check)}</th>' for check in checks)}</tr>"]
        for scene in dict.fromkeys(one.scene for one in self.findings):
            cells = {one.check: one for one in self.findings if one.scene == scene}
            row = "".join(_cell(cells.get(check)) for check in checks)
            rows.append(f"<tr><th>{escape(scene)}</th>{row}</tr>")
        return (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(self.name)}</title>'
            f"<style>{_STYLE}</style><h1>{escape(self.sentence)}</h1><table>{''.join(rows)}</table>"
            f"<h2>In words</h2><pre>{escape(self.text)}</pre></html>\n"
        )

    @property
    def junit(self) -> str:
        """A JUnit XML: faults are failures, what was not asked is skipped."""
        suite = ElementTree.Element(
            "testsuite", name=f"routh.testkit {self.name}", tests=str(len(self.findings))
        )
        suite.set("failures", str(len(self.faults)))
        suite.set("skipped", str(sum(one.grade is Grade.NOT_ASKED for one in self.findings)))
        suite.set("time", f"{self.seconds:.3f}")
        for one in self.findings:
            case = ElementTree.SubElement(suite, "testcase", classname=one.scene, name=one.check)
            if one.grade is Grade.FAULT:
                ElementTree.SubElement(case, "failure", message=one.says)
            elif one.grade is Grade.NOT_ASKED:
                ElementTree.SubElement(case, "skipped", message=one.says)
            elif one.says:
                ElementTree.SubElement(case, "system-out").text = f"{one.grade}: {one.says}"
        return ElementTree.tostring(suite, encoding="unicode") + "\n"

    def save(self, path: str | Path) -> Path:
        """Write the card: .html, .xml (JUnit), or .txt."""
        file = Path(path)
        forms = {".html": "html", ".xml": "junit", ".txt": "text"}
        if file.suffix not in forms:
            raise InputError("path", got=repr(str(path)), wanted=f"a name that ends in {', '.join(forms)}")
        file.write_text(str(getattr(self, forms[file.suffix])), encoding="utf-8")
        return file


_SIGNS = {Grade.OK: "✓", Grade.LOOK: "?", Grade.FAULT: "✗", Grade.NOT_ASKED: "–"}
_STYLE = (
    "body{font:15px sans-serif;margin:2em}td,th{padding:.3em .6em;text-align:left}td{text-align:center}"
    ".ok{background:#e8f1fa}.look{background:#fff3d6}.fault{background:#b2182b;color:#fff}"
)


def _cell(one: CardEntry | None) -> str:
    if one is None:
        return "<td></td>"
    kind = one.grade.lower().split()[0]
    return f'<td class="{kind}" title="{escape(one.says, quote=True)}">{_SIGNS[one.grade]}</td>'
