"""TOML files that users write, within bounds: side files, formats, exemptions, plans, machines,
shapes, stacks.

In: the text of a file. Out: its document. What `tomllib` does for a key grows with the square of
its parts, and with every key of a table for each part of the table's name, so that a megabyte of
one dotted key takes hours: such a key is refused before it is parsed.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

MOST_PARTS = 64
"""Parts between the points of a key, as many as anything is nested."""

_PART = r"(?:[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')"

_LONG_KEY = re.compile(rf"(?<![\w.'\"-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MOST_PARTS}}}")


def toml(text: str) -> dict[str, Any]:
    """The document of a TOML file.

    Raises tomllib.TOMLDecodeError for what is no TOML, for a key of more parts than `MOST_PARTS`,
    and for arrays in arrays without end.

    >>> toml("a.b = 1")
    {'a': {'b': 1}}
    >>> toml(".".join("a" * 99) + " = 1")
    Traceback (most recent call last):
        ...
    tomllib.TOMLDecodeError: a key of more than 64 parts (at line 1)
    """
    if long := _LONG_KEY.search(text):
        line = text.count("\n", 0, long.start()) + 1
        message = f"a key of more than {MOST_PARTS} parts (at line {line})"
        raise tomllib.TOMLDecodeError(message)
    try:
        return tomllib.loads(text)
    except RecursionError:
        message = "values stand inside each other too deeply"
        raise tomllib.TOMLDecodeError(message) from None
