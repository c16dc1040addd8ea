"""Fault in a description of a format: file, line, key, and what is expected there.

A description is not an input: a fault in one is raised, since nothing can be read with half of it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$")

_KEY = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*[.=]""")


class BadFormat(ValueError):
    """A description that cannot be used; the message begins with `file:line: key:`."""


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint for a name that is not known: the one it may be meant to be, and all there are.

    >>> nearest("lables", ["labels", "unit"]), nearest("xyz", ["labels", "unit"])
    ("; did you mean 'labels'?", '; known: labels, unit')
    """
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(names)}"


def line_of(text: str, *path: str | int) -> int:
    """The line of a TOML text in which a key stands; that of its table where the key has none.

    `path` is as in the parsed document: `("columns", "loss", "unit")`, `("samples", 1, "line")`.

    >>> line_of('name = "a"\\n[columns.loss]\\nunit = "1"\\n', "columns", "loss", "unit")
    3
    """
    wanted = [str(part) for part in path]
    table: list[str] = []
    counts: dict[str, int] = {}
    best, depth = 1, 0
    for number, line in enumerate(text.split("\n"), 1):
        if header := _HEADER.fullmatch(line):
            table = [part.strip().strip("\"'") for part in header[2].split(".")]
            if header[1] == "[[":
                counts[header[2]] = counts.get(header[2], -1) + 1
                table.append(str(counts[header[2]]))
            here = table
        elif key := _KEY.match(line):
            here = [*table, next(part for part in key.groups() if part is not None)]
        else:
            continue
        if len(here) > depth and here == wanted[: len(here)]:
            best, depth = number, len(here)
    return best
