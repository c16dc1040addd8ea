"""The grammar of a user's format: their own text, or the standard one for labelled cells.

In: a `Description`. Out: a `Grammar` that has been built once, with its start rules. What Lark does
not take is told with the line of the file in which it stands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.ingest.own.description import Description
from assay.ingest.own.fault import BadFormat, line_of
from assay.ingest.own.safety import endless, runaway
from assay.ingest.parse import Grammar, GrammarFault, build
from assay.ingest.units import UNITS

CELLS = "cells_line"
"""The start rule of the standard grammar."""

_START = re.compile(r"^[?!]*([a-z_][a-z0-9_]*_line)(?:\.[0-9]+)?\s*:", re.MULTILINE)
_NUMBER = r"(?:[+-]?(?:[0-9]|\.[0-9])|nan\b|inf\b|NaN\b|Inf\b)"


def grammar(said: Description) -> tuple[Grammar, tuple[str, ...]]:
    """The grammar of a description and its start rules, in the order in which they are tried.

    Raises BadFormat for a grammar that is none, has a conflict, or might never end.
    """
    if why := runaway(said.before):
        raise said.fault(why, "before")
    if said.grammar is None:
        assert said.assign is not None
        return Grammar(cells(said.separators, said.assign)), (CELLS,)
    starts = tuple(dict.fromkeys(_START.findall(said.grammar)))
    if not starts:
        raise _fault(said, 1, "no rule ends in `_line`: those are what a line is read with")
    if found := endless(said.grammar):
        raise _fault(said, *found)
    text = Grammar(said.grammar)
    try:
        build(text)
    except GrammarFault as fault:
        raise _fault(said, fault.line or _mentioned(said.grammar, str(fault)), str(fault)) from None
    return text, starts


def _fault(said: Description, line: int, message: str) -> BadFormat:
    """A fault at a line of the grammar, in the file in which it stands."""
    if said.grammar_file is not None:
        return said.fault(f"{said.grammar_file}:{line}: {message}", "grammar_file")
    begin = line_of(said.text, "grammar")
    head = said.text.split("\n")[begin - 1].partition("=")[2].strip()
    opened = head in ("'''", '"""')  # the first line end behind the quotes is not part of the text
    return BadFormat(f"{said.path}:{begin + line - (0 if opened else 1)}: grammar: {message}")


def _mentioned(grammar: str, message: str) -> int:
    """The line that defines the first rule or terminal a message names; 1 where it names none."""
    for name in re.findall(r"[A-Za-z_][A-Za-z0-9_]*", message):
        if found := re.search(rf"^[?!]*{name}(?:\.-?[0-9]+)?\s*[:{{]", grammar, re.MULTILINE):
            return grammar.count("\n", 0, found.start()) + 1
    return 1


def cells(separators: Sequence[str], assign: str) -> str:
    """The standard grammar: `label assign value` cells between any of the separators.

    Where cells are separated by blanks alone a value is one word, or a number and its unit; a label
    may be several words. Where blanks stand between label and value, a value begins with a number;
    so may a cell without `assign` among others that have it: `step 120/1000 | loss: 2.3`.
    """
    bar = "|".join(_parted(each) for each in separators)
    bar = f"(?:{bar})" if len(separators) > 1 else bar
    equals = rf"\s*{_escaped(assign.strip())}\s*" if assign.strip() else rf"\s+(?={_NUMBER})"
    if all(each.strip(" ") for each in separators):
        if assign.strip():
            equals += rf"|\s+(?={_NUMBER}(?:(?!{bar}|{equals}).)*(?:{bar}|$))"
        value = rf"(?:(?!{bar}|\s*$).)+"
        label = rf"(?!\s|{bar}|{equals})(?:(?!{bar}|{equals}|\s*$).)+"
    else:
        units = "|".join(sorted(map(_escaped, UNITS), key=len, reverse=True))
        measured = rf"{_NUMBER}[0-9.,eE+-]* (?:{units})(?=\s*$|\s+\S)(?!{equals})"
        value = rf"{measured}|\S+"
        label = rf"(?!\s|{equals})(?:(?!{equals}).)+"
    return _CELLS.format(label=label, equals=equals, bar=bar, value=value)


DICTIONARY = r"""dict_line: "{" metric (COMMA metric)* "}"
metric: _OPEN KEY _CLOSE VALUE _QUOTE?
COMMA.2: /\s*,\s*/
_OPEN: /["\x27]/
KEY: /[^"\x27:{}]+/
_CLOSE.2: /["\x27]\s*:\s*["\x27]?/
VALUE: /[^,{}\[\]"\x27]+(?=["\x27]?\s*[,}])/
_QUOTE: /["\x27](?=\s*[,}])/
"""
"""Lines that are a dictionary of numbers and texts, as Python or JSON writes it."""

_CELLS = r"""// labelled cells, in any order; any may be missing, a label may have no value
cells_line: (cell? BAR)* cell?
?cell: metric | label
metric: KEY ASSIGN VALUE
label: KEY ASSIGN?

KEY: /{label}/
ASSIGN.4: /{equals}/
BAR.3: /{bar}/
VALUE: /{value}/
"""


def _parted(separator: str) -> str:
    """A separator with the blanks that may stand around it; those it is given with must."""
    core = separator.strip(" ")
    if not core:
        return r"\s+" if separator == " " else rf"\s{{{len(separator)},}}"
    before = r"\s+" if separator[0] == " " else r"\s*?" if core == "\t" else r"\s*"
    after = r"\s+" if separator[-1] == " " else r"\s*"
    return f"{before}{_escaped(core)}{after}"


def _escaped(text: str) -> str:
    return re.escape(text).replace("/", r"\/")
