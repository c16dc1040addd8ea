"""Terminals: the regular expressions of `grammars/common.lark`, without Lark.

What a value may look like is written once, in the grammar. The decoder of columns, the peeling of
prefixes and the templates of lines take it from here; a test holds the expressions to Lark's.
Expressions of one reader alone stand with it, `deferred` where few inputs ask for them.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, cast

from assay.ingest.expressions.compiled import compiled

_TERMINAL = re.compile(r"^([A-Z_]+)(?:\.[0-9]+)?: /(.+)/[ \t]*(?://.*)?$", re.MULTILINE)


@cache
def common_text() -> str:
    """The text of `common.lark`."""
    return files("assay.grammars").joinpath("common.lark").read_text(encoding="utf-8")


@cache
def _shared() -> dict[str, str]:
    return dict(_TERMINAL.findall(common_text()))


def terminal(name: str) -> str:
    """The regular expression of terminal `name` of `common.lark`.

    Raises KeyError where there is no such terminal.

    >>> terminal("INT")
    '[+-]?[0-9]+'
    """
    found = _shared().get(name)
    if found is None:
        raise KeyError(f"common.lark has no terminal {name}")
    return found


class _Deferred:
    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return compiled(self.pattern, self._flags)

    def __getattr__(self, name: str) -> Any:
        # kept: what is asked again is found at once
        found = self.__dict__[name] = getattr(self._compiled, name)
        return found


def deferred(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A regular expression that is compiled when something is first looked for.

    There are hundreds, most inputs need a few, and compiling all of them is a tenth of the start.

    >>> deferred("a+").fullmatch("aa") is not None
    True
    """
    return cast("re.Pattern[str]", _Deferred(pattern, flags))
