"""Lark, at one place: a format's grammar, one start rule per kind of line.

`parse_line` gives the tree of one line or a diagnostic that says what was expected. Grammars are
LALR and are built once per process. `terminal_of` hands out the regular expression of a terminal,
so that no second description of a format exists.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import sys
from contextlib import suppress
from functools import cache
from importlib.resources import files
from importlib.util import cache_from_source, find_spec
from pathlib import Path

import lark
from assay.ingest.schema.record import Code, Diagnostic, Span
from assay.ingest.schema.terminals import common_text
from lark import Lark, Token, Tree, lexer
from lark.exceptions import (
    LarkError,
    UnexpectedCharacters,
    UnexpectedEOF,
    UnexpectedInput,
    UnexpectedToken,
)

__all__ = [
    "ALIKE", "Grammar", "GrammarFault", "ParsedLine", "Shape", "Token", "Tree", "build", "grammar",
    "parse_alike", "parse_line", "parsed_alike", "shape", "terminal_of",
]  # fmt: skip

ParsedLine = Tree[Token]


class Grammar(str):
    """A grammar given as its text, where otherwise the name of a packaged one stands."""

    __slots__ = ()


class GrammarFault(ValueError):
    """A grammar that is none: what Lark says of it, in one line, and where (1 for the first)."""

    def __init__(self, message: str, line: int | None) -> None:
        super().__init__(message)
        self.line = line


_START = re.compile(r"^[?!]*([a-z_]+_(?:line|cell))(?:\.[0-9]+)?\s*:", re.MULTILINE)
"""Rules named `…_line` and `…_cell` are start rules: one per kind of line."""


@cache
def grammar(name: str) -> Lark:
    """The LALR parser of `grammars/<name>.lark`, or of a `Grammar` given as text.

    Raises FileNotFoundError where no grammar has that name.
    """
    if isinstance(name, Grammar):
        return build(name)
    text = files("assay.grammars").joinpath(f"{name}.lark").read_text(encoding="utf-8")
    state = hashlib.sha256("\0".join([text, common_text(), lark.__version__, sys.version]).encode())
    try:
        kept = _place(name).read_bytes()
        if kept.startswith(state.digest()):
            return Lark.load(io.BytesIO(kept[state.digest_size :]))
    except Exception:  # whatever is wrong with what is kept: it is built anew
        pass
    made = build(text)
    if not sys.dont_write_bytecode:
        _keep(name, state.digest(), made)
    return made


def _place(name: str) -> Path:
    """Where the tables of a packaged grammar are kept: beside the bytecode, and like it.

    They take a tenth of the time to read that they take to work out.
    """
    grammar = files("assay.grammars").joinpath(f"{name}.lark")
    return Path(cache_from_source(str(grammar))).with_suffix(".tables")


def _keep(name: str, state: bytes, made: Lark) -> None:
    """Write the tables; where nothing can be written, the next process works them out again."""
    tables = io.BytesIO(state)
    tables.seek(0, io.SEEK_END)
    made.save(tables)
    path = _place(name)
    part = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(tables.getvalue())
        os.replace(part, path)
    except OSError:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def keep_all() -> None:
    """Write the tables of every packaged grammar, as installing compiles modules."""
    sys.dont_write_bytecode = False
    for file in files("assay.grammars").iterdir():
        if file.name.endswith(".lark") and file.name != "common.lark":
            grammar(file.name.removesuffix(".lark"))


def build(text: str, *, strict: bool = False) -> Lark:
    """The LALR parser of a grammar given as text; may import terminals from `.common`.

    `strict` refuses terminals that collide (needs interegular; tests use it). Raises GrammarFault
    where there is no such parser.
    """
    # where interegular is installed, Lark compares every two terminals: only `strict` wants that
    lexer.has_interegular = strict and find_spec("interegular") is not None
    try:
        return Lark(
            text,
            parser="lalr",
            start=_START.findall(text) or ["start"],
            import_paths=[_common],
            maybe_placeholders=False,
            strict=strict,
        )
    except UnexpectedInput as fault:
        place = getattr(fault, "line", None)
        raise GrammarFault(_said(fault), place if isinstance(place, int) else None) from None
    except (LarkError, FileNotFoundError, re.error) as fault:
        place = re.search(r"\bline (\d+)", str(fault))
        raise GrammarFault(_said(fault), int(place[1]) if place else None) from None


def _said(fault: Exception) -> str:
    """Message of a grammar that Lark refuses, on one line."""
    if isinstance(fault, FileNotFoundError):
        return "only `%import .common (…)` can be imported"
    lines = [line.strip() for line in str(fault).splitlines()]
    return " ".join(line for line in lines if line.strip("^- "))


def _common(_base: str | None, path: str) -> tuple[str, str]:
    """Lark's import hook: `%import .common` finds the packaged file, zipped or not."""
    name = path.rsplit("/", 1)[-1]
    return path, files("assay.grammars").joinpath(name).read_text(encoding="utf-8")


@cache
def terminal_of(grammar_name: str, name: str) -> str:
    """The regular expression of terminal `name` of the grammar `grammar_name`.

    Raises KeyError where there is no such terminal.
    """
    for definition in grammar(grammar_name).terminals:
        if definition.name == name:
            return str(definition.pattern.to_regexp())
    raise KeyError(f"{grammar_name}.lark has no terminal {name}")


def parse_line(name: str, start: str, text: str, span: Span) -> ParsedLine | Diagnostic:
    """The tree of `text` under the rule `start` of grammar `name`, or why there is none.

    `span` is where `text` begins; the diagnostic points at the character that did not fit.
    """
    parser = grammar(name)
    try:
        return parser.parse(text, start=start)
    except UnexpectedInput as fault:
        return _diagnostic(parser, fault, text, span)


Shape = tuple[str, tuple[str, ...]]

ALIKE = str.maketrans("123456789", "000000000")
"""Makes all digits of a text alike."""

_FIXED = re.compile(r"[A-Za-z_][0-9]+")


def shape(text: str) -> Shape:
    """Key of lines that differ only in digits, as many in each place.

    A grammar to whose terminals all digits are alike, but for those behind a letter, which belong
    to the shape, gives them trees that differ only in these digits.
    """
    return text.translate(ALIKE), tuple(_FIXED.findall(text))


_TREES: dict[tuple[str, str, Shape], ParsedLine] = {}

_TOLD: dict[tuple[str, str, Shape], ParsedLine | None] = {}
"""The same of lines that may be none: None where one of this shape is not."""

_MOST_TREES = 1024

_LONG = 1000
"""Characters of a line whose tree is kept."""


def parse_alike(name: str, start: str, text: str, span: Span) -> ParsedLine | Diagnostic:
    """`parse_line` for grammars that tell no digits apart: Lark reads one line of each `shape`."""
    key = (name, start, shape(text))
    known = _TREES.get(key)
    if known is not None:
        return _with_text(known, text)
    tree = parse_line(name, start, text, span)
    if isinstance(tree, Tree) and len(text) <= _LONG:
        if len(_TREES) >= _MOST_TREES:
            _TREES.clear()
        _TREES[key] = _plainly(tree)
    return tree


def parsed_alike(name: str, start: str, text: str) -> ParsedLine | None:
    """As `parse_alike`, of lines that are mostly something else: why one is none costs most, and
    nobody asks."""
    key = (name, start, shape(text))
    if key not in _TOLD:
        try:
            tree = _plainly(grammar(name).parse(text, start=start))
        except UnexpectedInput:
            tree = None
        if len(text) > _LONG:
            return tree
        if len(_TOLD) >= _MOST_TREES:
            _TOLD.clear()
        _TOLD[key] = tree
        return tree
    known = _TOLD[key]
    return None if known is None else _with_text(known, text)


def _plainly(tree: ParsedLine) -> ParsedLine:
    """The tree with names of rules that are text: Lark's are tokens, which are slow to compare."""
    parts = [_plainly(each) if isinstance(each, Tree) else each for each in tree.children]
    return Tree(str(tree.data), parts)


def _with_text(tree: ParsedLine, text: str) -> ParsedLine:
    """The tree of a line of the same shape: its tokens say what stands at their places."""
    return Tree(tree.data, [
        _with_text(each, text) if isinstance(each, Tree)
        else Token(each.type, text[each.start_pos : each.end_pos], each.start_pos,
                   end_pos=each.end_pos)
        for each in tree.children
    ])  # fmt: skip


def _diagnostic(parser: Lark, fault: UnexpectedInput, text: str, span: Span) -> Diagnostic:
    if isinstance(fault, UnexpectedEOF):
        at, rest, expected = len(text), "", {str(name) for name in fault.expected}
    elif isinstance(fault, UnexpectedToken):
        at = len(text) if fault.token.type == "$END" else (fault.token.start_pos or 0)
        rest, expected = text[at:], {str(name) for name in fault.accepts or fault.expected}
    elif isinstance(fault, UnexpectedCharacters):
        at, rest, expected = (
            fault.pos_in_stream or 0,
            "",
            {str(name) for name in fault.allowed or ()},
        )
        rest = text[at:]
    else:
        at, rest, expected = 0, text, set()
    names = sorted(_spoken(parser, name) for name in expected if name != "$END")
    wanted = " or ".join(names) if names else "the end of the line"
    where = f"cannot read {_short(rest)!r}" if rest else "the line ends here"
    place = span._replace(column=span.column + at)
    return Diagnostic(place, Code.SYNTAX, f"{where}, expected {wanted}", text)


def _short(text: str, width: int = 40) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _spoken(parser: Lark, name: str) -> str:
    """A terminal as a user would say it: its literal where it has one, else its name in words."""
    for definition in parser.terminals:
        if definition.name == name and definition.pattern.type == "str":
            return repr(definition.pattern.value)
    return name.lower().replace("_", " ").strip()


def texts(tree: ParsedLine) -> dict[str, str]:
    """The text under each named child rule of `tree`; a rule that occurs twice keeps the last."""
    return {
        child.data: "".join(str(token) for token in child.scan_values(_is_token))
        for child in tree.children
        if isinstance(child, Tree)
    }


def _is_token(value: object) -> bool:
    return isinstance(value, Token)
