"""Settings of a table of kernels that stand below the headings around it, not right above it.

In: the lines above a table. Out: the device, the number format and the sizes of attention that the
text below those headings says, or a section on the set-up before it; each only where it is said in
one way, and by no sentence about other calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from assay.ingest.columns.titles import device_named, format_named, names_format
from assay.ingest.grids.aligned import FIGURE
from assay.ingest.grids.grid import LONGEST
from assay.ingest.schema.record import Cell, Line
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.devices import several

HEADING = re.compile(r"\s*(?:#{1,6}\s+\S.*|\*\*[^*]+\*\*:?\s*)")

NEAR = 20
"""Lines above a table, down from its heading, that may say what it is of."""

SIZES = {
    "heads": deferred(
        r"(?<![\w.])([0-9]+) (?:query |attention |q )?heads\b(?! ?(?:dim|size))"
        r"|(?<!kv )\b(?:n(?:um)?[_ ]?)?heads\s*[=:]\s*([0-9]+)",
        re.I,
    ),
    "kv_heads": deferred(
        r"(?<![\w.])([0-9]+) (?:kv|key[ /-]value)[ -]heads\b"
        r"|\b(?:n(?:um)?[_ ]?)?kv[_ ]heads\s*[=:]\s*([0-9]+)",
        re.I,
    ),
    "head_dim": deferred(
        r"\b(?:head[ _-]?(?:dim(?:ension)?|size)|hdim)(?: of)?`?\s*[=:]?\s*([0-9]+)", re.I
    ),
    "batch": deferred(r"\bbatch(?:[ _-]?size)?(?: of)?`?\s*[=:]?\s*([0-9]+)", re.I),
    "causal": deferred(r"\b(non-|not |no |without (?:a )?)?causal\b(?! *[=:/|])", re.I),
    "direction": deferred(
        r"\b(forward|backward|fwd|bwd)(?: pass(?:es)?)? only\b"
        r"|\bonly (?:the )?(forward|backward|fwd|bwd)\b|\bof the (forward|backward) pass\b(?! and)",
        re.I,
    ),
}
"""Sizes of attention in words: `head dim 128, 16 heads, batch 4, causal`."""

_LETTERS = deferred(
    r"\bB ?= ?(?P<batch>[0-9]+),? (?:[SNLT] ?= ?[0-9]+,? )?H ?= ?(?P<heads>[0-9]+)"
    r"(?:,? (?:[SNLT] ?= ?[0-9]+,? )?D ?= ?(?P<head_dim>[0-9]+))?\b"
)
"""The same in letters that stand together: `B=4, H=32, D=128`."""


def sizes_named(text: str) -> Iterator[tuple[str, str]]:
    """Sizes of attention that a text says, by field."""
    for name, pattern in SIZES.items():
        for found in pattern.finditer(text):
            said = str(not found[1]) if name == "causal" else next(filter(None, found.groups()))
            yield name, said
    for found in _LETTERS.finditer(text):
        yield from ((name, said) for name, said in found.groupdict().items() if said)


_SENTENCE = re.compile(r"(?<=[^\s.][.;!?])\s+(?=[A-Z0-9*`(])")

_OF_OTHERS = re.compile(
    r"\b(?:peak|theoretical|for reference|compared? (?:to|with)|unlike|instead of|previous(?:ly)?"
    r"|earlier|not yet|todo|planned|could|would|should|expect(?:ed)?|supports?|supported"
    r"|we train|trained|pre-?train(?:ed|ing)?|checkpoints?|weights|accuracy)\b",
    re.IGNORECASE,
)
"""Found in a sentence that speaks of other calls than those measured here."""

ROW = re.compile(
    r"\s*(?:\||<t|[0-9][0-9.,]*(?: ?[KMGT]i?B)?(?:\s*\|\s*|\s{2,})[0-9][0-9.,]*(?![0-9.,]*[):]))"
)
"""Beginning of a line of a table that stands above another."""

_BLAS = re.compile(r"(?<![A-Za-z])(?:cublas)?([SHD])GEMM(?![A-Za-z])", re.IGNORECASE)

_OF_BLAS = {"s": "fp32", "h": "fp16", "d": "fp64", "32": "fp32", "64": "fp64"}
"""Number formats by the first letter of a product's name in BLAS, or of single precision."""


_IN_WORDS = re.compile(
    r"\b([shd])(?:ingle|alf|ouble)[ -]precision\b|\b(32|64)[- ]bit[ -]float", re.IGNORECASE
)


_NARROW = re.compile(
    r"(?<![A-Za-z0-9])(?P<eight>(?:fp8_|float8_)?e[45]m[23](?:fn|fnuz)?)(?![A-Za-z0-9])"
    r"|(?<![A-Za-z0-9])(?:u?int[48]|w[48]a(?:8|16)|nf4)(?![A-Za-z0-9])",
    re.IGNORECASE,
)
"""Formats of eight bits and fewer under other names: whoever names one beside a wider format
multiplies in one of both."""


@lru_cache(maxsize=2048)  # every table asks the lines above it, which tables share
def format_said(text: str) -> str | None:
    """The number format of calls that a text names, in words or by the name of a product too.

    >>> format_said("SGEMM at 4096"), format_said("Single precision everywhere")
    ('fp32', 'fp32')
    >>> format_said("E4M3 in, the output is BF16"), format_said("INT8 x INT8 to FP16")
    ('fp8', None)
    """
    letters = [*_BLAS.findall(text), *(one or bits for one, bits in _IN_WORDS.findall(text))]
    found = {_OF_BLAS[letter.casefold()] for letter in letters}
    named = format_named(text) or (found.pop() if len(found) == 1 else None)
    narrow = [each["eight"] for each in _NARROW.finditer(text)]
    if not narrow or (named and "8" in named and all(narrow)):
        return named
    return "fp8" if all(narrow) and not names_format(text) else None


def _said(text: str) -> Sequence[tuple[str, str]]:
    """Settings that a line says; none of a row, nor of a figure, whose name is of its own calls."""
    of_others = len(text) > LONGEST or ROW.match(text) or _FIGURE.fullmatch(text)
    return () if of_others else _sentences(text)


_FIGURE = re.compile(rf"\s*{FIGURE}\s*")


@lru_cache(maxsize=2048)  # every table asks the lines above it, which tables share
def _sentences(text: str) -> tuple[tuple[str, str], ...]:
    """Settings that the sentences of a line say of what was measured."""
    found = list[tuple[str, str]]()
    for sentence in _SENTENCE.split(text):
        if _OF_OTHERS.search(sentence):
            continue
        if named := format_said(sentence):
            found.append(("dtype", named))
        found += sizes_named(sentence)
    return tuple(found)


_OWN = re.compile(
    r"\b(?:I|we)(?:['’]ve)? (?:ran|run|re-?ran|measured?|tested|benchmarked|tried|timed)\b"
    r"|\b(?:measured|benchmarked|timed|ran|run|tested|results|numbers) (?:\w+ )?(?:on|with|from)\b",
    re.IGNORECASE,
)
"""Found in a sentence of an author who says where the numbers below come from."""


def of_own_calls(text: str) -> str:
    """The sentences of a long line in which its author says what was run; and nothing else."""
    told = [each for each in _SENTENCE.split(text) if _OWN.search(each)]
    return " ".join(each for each in told if not _OF_OTHERS.search(each))


_SET_UP = re.compile(
    r"\b(?:config(?:uration)?s?|set-?up|settings?|method(?:ology)?|conditions|test ?bed)\b"
    r"|配置|环境|設定|環境",
    re.IGNORECASE,
)
"""Found in the heading of a section that speaks for those after it."""

_RULE = ("---", "***", "___")
"""Between the comments of a thread: what was said above one is of another author."""


def settings_around(lines: Sequence[Line], names: Sequence[str]) -> dict[str, Cell]:
    """Fields of some names that the text around the section of a table says, each in one way."""
    said: dict[str, dict[str, Cell]] = {}
    for line in around(lines):
        for name, text in _said(line.text):
            if name in names:
                cell = Cell(text, line.number, line.column, value_origin="stated")
                said.setdefault(name, {}).setdefault(text.casefold(), cell)
    return {name: next(iter(ways.values())) for name, ways in said.items() if len(ways) == 1}


def around(lines: Sequence[Line]) -> Iterator[Line]:
    """The first lines below each heading around a table, the title of its document or that of a
    set-up before it, the nearest first; none of those above a rule between two comments."""
    depth, below = 8, list[Line]()
    begins = bool(lines) and lines[0].number < NEAR
    title = next((line for line in lines if begins and HEADING.fullmatch(line.text)), None)
    for at in range(len(lines) - 1, -1, -1):
        line = lines[at]
        if line.text.strip() in _RULE and at and not lines[at - 1].text.strip():
            return
        if not HEADING.fullmatch(line.text):
            below.append(line)
            continue
        if depth_of(line) < depth or line is title or _SET_UP.search(line.text):
            depth = min(depth, depth_of(line))
            yield line
            yield from reversed(below[-NEAR:])
        below = []
    yield from reversed(below[-NEAR:])


def depth_of(line: Line) -> int:
    """The signs in front of a heading; a line in bold stands deeper than all of them."""
    text = line.text.lstrip()
    return len(text) - len(text.lstrip("#")) or 7


def machine_around(lines: Sequence[Line]) -> dict[str, Cell]:
    """The one device that the text below the headings around a table names; of several none."""
    depth, said = 7, dict[str, Cell]()
    below: list[Line] = []
    for line in reversed(lines):
        if not HEADING.fullmatch(line.text):
            below.append(line)
            continue
        if depth_of(line) < depth:
            depth = depth_of(line)
            for each in below[-NEAR:]:
                named = device_named(each.text) if len(each.text) <= LONGEST else None
                if several(each.text):
                    return {}
                if named:
                    cell = Cell(named, each.number, each.column, value_origin="stated")
                    said.setdefault(named, cell)
        below = []
    return {"gpu": next(iter(said.values()))} if len(said) == 1 else {}
