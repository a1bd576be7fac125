"""How the reference reads docstrings: ``name : text`` among parameters is a description, not a type."""

import re

import griffe

_SECTION = re.compile(r"^(Parameters|Attributes|Fields)\n-+\n((?:.+\n?)*)", flags=re.MULTILINE)
_ITEM = re.compile(r"^(\w[\w, ]*?) : (.+)$", flags=re.MULTILINE)


def as_numpy(text: str) -> str:
    """The docstring with each description below its name, where the format wants it."""
    return _SECTION.sub(lambda match: _ITEM.sub(r"\1\n    \2", match[0]), text)


class Descriptions(griffe.Extension):
    """Rewrites docstrings before they are parsed."""

    def on_object(self, *, obj: griffe.Object, **kwargs: object) -> None:
        """Called for every class, function and attribute that was found."""
        if obj.docstring is not None:
            obj.docstring.value = as_numpy(obj.docstring.value)
