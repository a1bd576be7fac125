"""Text from elsewhere (names of contacts, bodies and files, titles), made harmless for the place it goes to.

A name may hold anything: escape sequences that command a terminal, markup that Rich obeys, dollars that open
mathematics in Matplotlib, tags of HTML, slashes. Each function returns text that *shows* what the name holds.
"""

from __future__ import annotations

import html as _html
import math
import re
import unicodedata
from collections.abc import Sequence

# Categories that command or hide instead of showing: controls, directions and joiners, lone surrogates,
# private use and unassigned, separators of lines and of paragraphs.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def for_terminal(text: object) -> str:
    r"""One line that shows its control characters as ``\x1b`` or ``\n`` instead of obeying them."""
    found = str(text)
    if found.isascii() and found.isprintable():
        return found
    return "".join(_shown(character) for character in found)


def for_lines(text: object) -> str:
    """`for_terminal` for text of several lines, which stay lines."""
    return "\n".join(for_terminal(line) for line in str(text).split("\n"))


def for_rich(text: object) -> str:
    """`for_terminal`, with brackets that Rich prints instead of reading them as markup."""
    from rich.markup import escape

    return escape(for_terminal(text))


def for_matplotlib(text: object) -> str:
    """One line without mathematics: a dollar is a dollar; a label that would be hidden (``_x``) is not."""
    shown = for_terminal(text).replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def for_html(text: object) -> str:
    """Text for HTML, inside an element or a quoted attribute."""
    return _html.escape(for_lines(text), quote=True)


def listed(names: Sequence[str], most: int, between: str = ", ") -> str:
    """Names joined, at most ``most`` of them, and how many more there are."""
    more = len(names) - most
    return between.join(names[:most]) + (f" and {more} more" if more > 0 else "")


def quantity(text: str) -> float:
    """A number as it is typed: ``0.3``, or an angle with its unit, ``20deg`` (``0.35rad``), in radians."""
    number, degrees = text.strip(), 1.0
    if number.endswith("deg"):
        degrees = math.pi / 180.0
    return degrees * float(number.removesuffix("deg").removesuffix("rad"))


def toucher(contact: str) -> str:
    """What touches, by the contact's name: "foot" of "foot.3/floor#2"."""
    return re.sub(r"[._-]?\d+$", "", re.sub(r"#\d+$", "", contact).partition("/")[0]) or contact


def by_body(contacts: Sequence[str]) -> list[str]:
    """The bodies that touch, with how many contacts each has; a body's only one by its name."""
    names: dict[str, list[str]] = {}
    for contact in contacts:
        names.setdefault(toucher(contact), []).append(contact)
    return [f"{body} ({len(own)} contacts)" if len(own) > 1 else own[0] for body, own in names.items()]


def percent(share: float) -> str:
    """A share with one decimal; what is not quite nothing or all of it does not read as if it were."""
    if 0.0 < share < 0.0005:
        return "< 0.1 %"
    return "> 99.9 %" if 0.9995 <= share < 1.0 else f"{100.0 * share:.1f} %"


def _shown(character: str) -> str:
    if unicodedata.category(character) in _UNSEEN:
        return character.encode("unicode_escape").decode("ascii")
    return character
