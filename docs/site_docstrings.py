"""How the reference reads docstrings: ``name : text`` among parameters is a description, not a type."""

import re

import griffe

_SECTION = re.compile(r"^(?:Parameters|Attributes)\n-+\n(?:(?!\n^\w+\n-+$)[\s\S])*", flags=re.MULTILINE)
_COMMENT = re.compile(r"  # (.+)$")
_ITEM = re.compile(r"^(\w+(?:, \w+)*) : (.+(?:\n+ .+)*)$", flags=re.MULTILINE)


def _one_each(item: re.Match[str]) -> str:
    return "\n".join(f"{name}\n    {item[2]}" for name in item[1].split(", "))


def as_numpy(text: str) -> str:
    """The docstring with each description below its name, where the format wants it; one for each name."""
    return _SECTION.sub(lambda section: _ITEM.sub(_one_each, section[0]), text)


def comment_of(obj: griffe.Object) -> str | None:
    """What the source says of a field beside it: ``v: Array  # (n, nv) velocities after``."""
    if not (obj.is_attribute and obj.parent is not None and obj.parent.is_class and obj.lineno):
        return None
    found = _COMMENT.search(obj.lines_collection[obj.filepath][obj.lineno - 1])
    return found[1] if found else None


class Descriptions(griffe.Extension):
    """Rewrites docstrings before they are parsed, and takes comments of fields for their docstrings."""

    def on_object(self, *, obj: griffe.Object, **kwargs: object) -> None:
        """Called for every class, function and attribute that was found."""
        if obj.is_attribute and str(obj.value).startswith("field("):
            obj.value = None  # how a dataclass keeps it is of no interest to a reader
        if obj.docstring is not None:
            obj.docstring.value = as_numpy(obj.docstring.value)
            return
        comment = comment_of(obj)
        if comment is not None:
            obj.docstring = griffe.Docstring(comment, parent=obj)
