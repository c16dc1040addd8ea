"""The grammar of a user's format, and the fold that reads lines with it.

In: a `Description`. Out: a `Grammar` that has been built once, with its start rules: the user's own
text, or the standard one for labelled cells. What Lark does not take is told with the line of the
file in which it stands.

A line is a record's if it begins with one of the heads, behind what `before` describes. It is read
with the first start rule that takes it, by the convention of `assay.ingest.lines.records`; where
none does, it is refused for the reason of the rule that came farthest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from assay.ingest.formats.own.description import Description
from assay.ingest.formats.own.fault import BadFormat, line_of
from assay.ingest.formats.own.safety import endless, runaway
from assay.ingest.lines.lark import Grammar, GrammarFault, build, parse_line
from assay.ingest.lines.records import Kind, take
from assay.ingest.numbers.units import UNITS
from assay.ingest.schema.format import Folded, Region
from assay.ingest.schema.record import Diagnostic, Line, Schema, Span

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


@dataclass(frozen=True)
class Fold:
    """Function from a region to the records of one format; its grammar reads the lines."""

    name: str
    heads: tuple[str, ...]
    before: str
    grammar: Grammar
    starts: Sequence[str]
    schema: Schema

    @cached_property
    def _begins(self) -> re.Pattern[str]:
        heads = "|".join(map(re.escape, self.heads))
        return re.compile(rf"\s*(?:{self.before})\s*(?={heads})")

    def __call__(self, region: Region) -> Folded:
        """Every line of a region that begins as a record does."""
        folded = Folded(parts=set())
        for line in region.lines:
            if begins := self._begins.match(line.text):
                at = begins.end()
                own = line._replace(text=line.text[at:], column=line.column + at)
                kind = Kind(self._rule(region, own), "", self.name, self.schema)
                take(folded, region, own, self.grammar, kind)
        folded.parts = None  # a line is one format's whole: nothing else may be read from it
        return folded

    def _rule(self, region: Region, line: Line) -> str:
        """The start rule that reads a line, or the one whose refusal says most."""
        if len(self.starts) == 1:
            return self.starts[0]
        span = Span(region.source.name, line.number, line.column)
        farthest, best = -1, self.starts[0]
        for start in self.starts:
            tree = parse_line(self.grammar, start, line.text.rstrip(), span)
            if not isinstance(tree, Diagnostic):
                return start
            if tree.span.column > farthest:
                farthest, best = tree.span.column, start
        return best
