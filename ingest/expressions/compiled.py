"""Regular expressions as they were compiled before: kept beside the bytecode, and like it.

There are thousands, and to work out their tables is half of what a command does with a small
input; to read the tables takes a fiftieth of that. They are kept for one Python and one table
format; an expression that is not kept, or a Python that keeps none, is compiled as always.
"""

from __future__ import annotations

import array
import atexit
import hashlib
import marshal
import os
import re
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

Tables = tuple[int, bytes, int, dict[str, int], tuple[str | None, ...]]
"""Flags, code, groups, places of named groups, and names by place."""

MOST = 32 * 2**20
"""Bytes of tables beyond which those that a process asks for are kept alone: others are old."""

_made: dict[tuple[str, int], Tables] = {}
"""Tables that this process worked out, by expression and flags."""


def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A compiled regular expression, from what is kept if it is there.

    Raises re.error where the expression is none.

    >>> compiled("(?P<size>[0-9]+)b").fullmatch("7b")["size"]
    '7'
    """
    flags = int(flags)
    try:
        tables = kept().get((pattern, flags))
        if tables is not None:
            return remade(pattern, tables)
        if not sys.dont_write_bytecode:
            if not _made:
                atexit.register(keep)
            _made[pattern, flags] = tables = worked_out(pattern, flags)
            return remade(pattern, tables)
    except re.error:
        raise
    except Exception:  # another Python than those known, or a file that was damaged
        _made.pop((pattern, flags), None)
    return re.compile(pattern, flags)


def worked_out(pattern: str, flags: int) -> Tables:
    """Tables that `re` makes of an expression before it makes a pattern of them."""
    parsed = import_module("re._parser").parse(pattern, flags)
    code = import_module("re._compiler")._code(parsed, flags)
    state = parsed.state
    names: list[str | None] = [None] * state.groups
    for name, place in state.groupdict.items():
        names[place] = name
    words = array.array("I", code).tobytes()
    return flags | state.flags, words, state.groups - 1, dict(state.groupdict), tuple(names)


def remade(pattern: str, tables: Tables) -> re.Pattern[str]:
    """The pattern of some tables; what they hold is validated as `re` does."""
    flags, words, groups, places, names = tables
    code = array.array("I")
    code.frombytes(words)
    made: re.Pattern[str] = import_module("_sre").compile(
        pattern, flags, code.tolist(), groups, places, names
    )
    return made


@cache
def kept() -> dict[tuple[str, int], Tables]:
    """The tables that earlier processes kept; none where that fails."""
    with suppress(Exception):
        held = _place().read_bytes()
        if held.startswith(_state()):
            tables: Any = marshal.loads(held[len(_state()) :])
            return dict(tables)
    return {}


def keep() -> None:
    """Write the tables of this process and of those before it, in one step or not at all."""
    kept.cache_clear()
    for tables in (kept() | _made, _made):
        held = _state() + marshal.dumps(tables)
        if len(held) <= MOST:
            break
    path = _place()
    part = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(held)
        os.replace(part, path)
    except OSError:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _place() -> Path:
    return Path(cache_from_source(__file__)).with_suffix(".tables")


def _state() -> bytes:
    """Mark of the Python that tables are good for, and of how its `re` writes them."""
    magic = getattr(import_module("_sre"), "MAGIC", None)
    return hashlib.sha256(f"{sys.version}\0{sys.byteorder}\0{magic}".encode()).digest()
