"""The page of the Python interface: `python -m assay.validate.cli.api_page > docs/api.md`.

It is made of the docstrings of `assay.validate.api`, whose examples are run by the tests.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from typing import Any

from assay.validate import api

_EXAMPLE = re.compile(r"^>{3} .*?(?=\n\s*\n|\Z)", re.M | re.S)


def page() -> str:
    """The whole page."""
    parts = ["# Python interface", _text(inspect.getdoc(api) or "")]
    parts += ["## Functions", *_functions(), "## Results", *_classes(), "## Faults", *_faults()]
    head = "Generated from docstrings by `python -m assay.validate.cli.api_page > docs/api.md`."
    return "\n\n".join([parts[0], head, *parts[1:]]) + "\n"


def _members() -> list[tuple[str, Any]]:
    return [(name, getattr(api, name)) for name in api.__all__]


def _functions() -> Iterator[str]:
    for name, member in _members():
        if inspect.isfunction(member):
            yield f"### `{name}`"
            yield f"```python\n{name}{_signature(member)}\n```"
            yield _text(inspect.getdoc(member) or "")


def _classes() -> Iterator[str]:
    for name, member in _members():
        if inspect.isclass(member) and not issubclass(member, Exception):
            yield f"### `{name}`"
            yield _text(inspect.getdoc(member) or "")
            yield "| | |\n|---|---|\n" + "\n".join(_attributes(member))


def _attributes(member: type) -> Iterator[str]:
    for name, value in vars(member).items():
        if isinstance(value, property):
            yield f"| `.{name}` | {_line(value)} |"
        elif inspect.isfunction(value) and (not name.startswith("_") or name == "__getitem__"):
            shown = "[frame]" if name == "__getitem__" else f".{name}{_arguments(value)}"
            yield f"| `{shown}` | {_line(value)} |"


def _faults() -> Iterator[str]:
    for name, member in _members():
        if inspect.isclass(member) and issubclass(member, Exception):
            yield f"- `{name}` ({member.__bases__[0].__name__}): {_line(member)}"


def _line(member: object) -> str:
    return " ".join((inspect.getdoc(member) or "").split()).replace("|", "\\|")


def _arguments(function: Any) -> str:
    names = [name for name in inspect.signature(function).parameters if name != "self"]
    return f"({', '.join(names)})"


def _signature(function: Any) -> str:
    """The signature, an argument a line."""
    signature = inspect.signature(function)
    lines, starred = [], False
    for each in signature.parameters.values():
        starred = starred or each.kind is each.VAR_POSITIONAL
        if each.kind is each.KEYWORD_ONLY and not starred:
            lines.append("    *,")
            starred = True
        star = "*" if each.kind is each.VAR_POSITIONAL else ""
        default = "" if each.default is each.empty else f" = {each.default!r}"
        lines.append(f"    {star}{each.name}: {each.annotation}{default},")
    return "(\n" + "\n".join(lines) + f"\n) -> {signature.return_annotation}"


def _text(doc: str) -> str:
    """A docstring as Markdown: examples are code."""
    return _EXAMPLE.sub(lambda found: f"```pycon\n{found.group()}\n```", doc)


if __name__ == "__main__":
    sys.stdout.write(page())
