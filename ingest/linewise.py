"""Line-oriented formats: which kind of line is this, and what does it say.

A format that prints blocks lists its kinds of line in order. A kind has a head, a cheap pattern at
the beginning of the line, and a start rule of the format's grammar. A line with a head that the
rule does not read is refused; a line without any head is not the format's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from assay.ingest.parse import ParsedLine, Token, Tree, parse_line
from assay.ingest.source import Source
from assay.ingest.types import Cell, Code, Diagnostic, Line, Span


@dataclass(frozen=True)
class Kind:
    """One kind of line. `open_end`: its last value ends where the line ends, by nothing else.

    `generic` kinds look like anybody's lines; they are a format's only beside a line that is not.
    """

    rule: str
    head: re.Pattern[str]
    open_end: bool = True
    generic: bool = False


@dataclass(frozen=True)
class Said:
    """A line that was read: its kind and its tree."""

    line: Line
    kind: Kind
    tree: ParsedLine
    parts: Parts

    def cell(self, name: str, *, scale: float = 1.0, kind: str | None = None) -> Cell | None:
        """The value under the first rule `name`, commas between its digits taken out."""
        return next(self.cells(name, scale=scale, kind=kind), None)

    def cells(self, name: str, *, scale: float = 1.0, kind: str | None = None) -> Iterator[Cell]:
        """Every value under a rule `name`, in order."""
        for start, text in self.parts.get(name, ()):
            yield Cell(text, self.line.number, self.line.column + start, scale, kind)

    def of(self, part: Tree[Token], *, scale: float = 1.0, kind: str | None = None) -> Cell:
        """The value of one subtree as a cell with its place."""
        start, text = _value(part)
        return Cell(text, self.line.number, self.line.column + start, scale, kind)

    def text(self, name: str) -> str | None:
        """The text under the first rule `name`."""
        cell = self.cell(name)
        return None if cell is None else cell.text

    def has(self, name: str) -> bool:
        """Whether the line has a part `name`."""
        return name in self.parts


Parts = Mapping[str, Sequence[tuple[int, str]]]
"""Rule → where each subtree of it begins in the line, and its text."""


@lru_cache(maxsize=8192)
def _parsed(grammar: str, rule: str, text: str) -> tuple[ParsedLine, Parts] | None:
    """Tree and parts of a line; None where it is not read. Dumps print many lines again."""
    tree = parse_line(grammar, rule, text, Span("", 1))
    if isinstance(tree, Diagnostic):
        return None
    parts: dict[str, list[tuple[int, str]]] = {}
    for part in tree.iter_subtrees_topdown():  # type: ignore[no-untyped-call]
        parts.setdefault(part.data, []).append(_value(part))
    return tree, parts


_GROUPED = re.compile(r"-?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?")


def _value(part: Tree[Token]) -> tuple[int, str]:
    """Where a subtree begins, and its text; commas between digits are taken out."""
    tokens = list(part.scan_values(lambda value: isinstance(value, Token)))
    text = "".join(tokens)
    if _GROUPED.fullmatch(text):
        text = text.replace(",", "")
    return (tokens[0].start_pos or 0 if tokens else 0), text


def kind(rule: str, head: str, *, open_end: bool = True, generic: bool = False) -> Kind:
    """A kind of line from a pattern for its head."""
    return Kind(rule, re.compile(head), open_end, generic)


def read(
    grammar: str, kinds: Sequence[Kind], line: Line, source: Source, *, quoted: bool = False
) -> Said | Diagnostic | None:
    """What `line` says, why it cannot be read, or None where no kind has its head.

    The last line of an input that ends inside it is refused where its last value may be cut, unless
    the line is `quoted` in something that has ended.
    """
    cut = source.cut(line.number) and not quoted
    found = next((one for one in kinds if one.head.match(line.text)), None)
    if found is None:
        return None
    span = Span(source.name, line.number, line.column)
    text = line.text.rstrip()
    if found.open_end and cut:
        message = "the input ends inside this line: its last value may be cut"
        end = span._replace(column=line.column + len(text))
        return Diagnostic(end, Code.TRUNCATED, message, text)
    parsed = _parsed(grammar, found.rule, text)
    if parsed is not None:
        return Said(line, found, *parsed)
    fault = parse_line(grammar, found.rule, text, span)
    assert isinstance(fault, Diagnostic)
    return fault._replace(code=Code.TRUNCATED) if cut else fault
