"""Line-oriented formats: which kind of line is this, and what does it say.

A format that prints blocks lists its kinds of line in order. A kind has a head, a cheap pattern at
the beginning of the line, and a start rule of the format's grammar. A line with a head that the
rule does not read is refused; a line without any head is not the format's.

Documents of one program print the same lines with other digits, so Lark reads one line of each
shape: lines that differ only in digits, as many in each place, have trees that differ only in them.
That holds for grammars to whose terminals all digits are alike, but for those that stand behind a
letter (`R1:`, `l2mem`); these belong to the shape. A test holds the grammars to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from assay.ingest.lines.lark import ParsedLine, Shape, Token, Tree, parse_line, shape
from assay.ingest.schema.format import Input
from assay.ingest.schema.record import Cell, Code, Diagnostic, Line, Span


@dataclass(frozen=True)
class Kind:
    """One kind of line. `open_end`: its last value ends where the line ends, by nothing else.

    `generic` kinds look like anybody's lines; they are a format's only beside a line that is not.
    """

    rule: str
    begins: str  # the pattern of its head
    open_end: bool = True
    generic: bool = False

    @cached_property
    def head(self) -> re.Pattern[str]:
        """Expression that finds the beginning of such a line."""
        return re.compile(self.begins)


@dataclass(slots=True)
class Said:
    """A line that was read: its kind, and the tree of the first line of its shape.

    The tokens of the tree have the places of this line, and the text of that one.
    """

    line: Line
    kind: Kind
    tree: ParsedLine
    parts: Parts

    def cell(self, name: str, *, scale: float = 1.0, kind: str | None = None) -> Cell | None:
        """The value under the first rule `name`, commas between its digits taken out."""
        found = self.parts.get(name)
        if found is None:
            return None
        number, column = self.line.number, self.line.column + found[0].start
        return Cell(found[0].value(self.line.text), number, column, scale, kind)

    def cells(self, name: str, *, scale: float = 1.0, kind: str | None = None) -> Iterator[Cell]:
        """Every value under a rule `name`, in order."""
        for place in self.parts.get(name, ()):
            text, column = place.value(self.line.text), self.line.column + place.start
            yield Cell(text, self.line.number, column, scale, kind)

    def of(self, part: Tree[Token], *, scale: float = 1.0, kind: str | None = None) -> Cell:
        """The value of one subtree as a cell with its place."""
        place = _place(part)
        text, column = place.value(self.line.text), self.line.column + place.start
        return Cell(text, self.line.number, column, scale, kind)

    def printed(self, token: Token) -> str:
        """Text of this line at the place where the tree has `token`."""
        return self.line.text[token.start_pos : token.end_pos]

    def text(self, name: str) -> str | None:
        """The text under the first rule `name`."""
        found = self.parts.get(name)
        return None if found is None else found[0].value(self.line.text)

    def has(self, name: str) -> bool:
        """Whether the line has a part `name`."""
        return name in self.parts


_GROUPED = re.compile(r"-?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?")


class Place(NamedTuple):
    """Where the tokens of a subtree stand in a line; most have one."""

    start: int
    end: int
    more: tuple[tuple[int, int], ...] = ()  # of the tokens after the first

    def value(self, line: str) -> str:
        """The text of the tokens; commas between digits are taken out."""
        text = line[self.start : self.end]
        if self.more:
            text += "".join(line[begin:end] for begin, end in self.more)
        if "," in text and _GROUPED.fullmatch(text):
            return text.replace(",", "")
        return text


Parts = Mapping[str, Sequence[Place]]
"""Rule → the place of each subtree of it."""


def _place(part: Tree[Token]) -> Place:
    tokens = part.scan_values(lambda value: isinstance(value, Token))
    spans = [(token.start_pos or 0, token.end_pos or 0) for token in tokens]
    return Place(*spans[0], tuple(spans[1:])) if spans else Place(0, 0)


class _Learnt(NamedTuple):
    """Kind, tree and parts that lines of one shape share; no tree where Lark does not read them."""

    kind: Kind | None
    tree: ParsedLine | None = None
    parts: Parts = {}


_SHAPES = 8192
"""Shapes that are kept; estimators print a few hundred."""

_LONG = 400
"""Characters of a line whose shape is kept."""

_LONGEST = 16_384
"""Characters of a line that is read: a list of all ranks of a large job has about half of them."""


@dataclass(frozen=True)
class Lines:
    """The lines of one format: the name of its grammar, and its kinds in order.

    `alike`: its grammar tells no digits apart, as said above.
    """

    grammar: str
    kinds: Sequence[Kind]
    alike: bool = True
    shapes: dict[Shape, _Learnt] = field(default_factory=dict, repr=False, compare=False)

    def read(
        self, line: Line, source: Input, *, quoted: bool = False, but: str = ""
    ) -> Said | Diagnostic | None:
        """Kind, tree and parts of `line`, or why it cannot be read; None if no kind has its head.

        The last line of an input that ends inside it is refused where its last value may be cut,
        unless the line is `quoted` in something that has ended. A line of the rule `but` is not
        looked for here.
        """
        learnt = self._learnt(line.text)
        found = learnt.kind
        if found is None or found.rule == but:
            return None
        cut = source.cut(line.number) and not quoted
        if learnt.tree is not None and not (found.open_end and cut):
            return Said(line, found, learnt.tree, learnt.parts)
        span = Span(source.name, line.number, line.column)
        text = line.text.rstrip()
        if found.open_end and cut:
            message = "the input ends inside this line: its last value may be cut"
            end = span._replace(column=line.column + len(text))
            return Diagnostic(end, Code.TRUNCATED, message, text)
        if len(text) > _LONGEST:
            message = (
                f"a line of {len(text):,} characters; one of this kind has {_LONGEST:,} at most"
            )
            return Diagnostic(span, Code.TOO_LONG, message, text)
        fault = parse_line(self.grammar, found.rule, text, span)
        assert isinstance(fault, Diagnostic)
        return fault._replace(code=Code.TRUNCATED) if cut else fault

    def kind(self, text: str) -> Kind | None:
        """The first kind whose head a line has."""
        return self._learnt(text).kind

    def _learnt(self, text: str) -> _Learnt:
        key = shape(text) if self.alike else (text, ())
        learnt = self.shapes.get(key)
        if learnt is None:
            learnt = self._learn(text)
            if len(self.shapes) >= _SHAPES:
                self.shapes.clear()
            if len(text) <= _LONG:
                self.shapes[key] = learnt
        return learnt

    def _learn(self, printed: str) -> _Learnt:
        text = printed.rstrip()
        found = next((one for one in self.kinds if one.head.match(text[:_LONGEST])), None)
        if found is None or len(text) > _LONGEST:
            return _Learnt(found)
        tree = parse_line(self.grammar, found.rule, text, Span("", 1))
        if isinstance(tree, Diagnostic):
            return _Learnt(found)
        parts: dict[str, list[Place]] = {}
        for part in tree.iter_subtrees_topdown():  # type: ignore[no-untyped-call]
            # a token of Lark's, which is slow to compare
            parts.setdefault(str(part.data), []).append(_place(part))
        return _Learnt(found, tree, parts)


def kind(rule: str, head: str, *, open_end: bool = True, generic: bool = False) -> Kind:
    """A kind of line from a pattern for its head."""
    return Kind(rule, head, open_end, generic)
