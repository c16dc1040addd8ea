"""Prefixes of launchers and loggers, peeled off lines.

In: lines (line, text) of a source. Out: the same with the prefix gone and what it said in columns:
host, rank, timestamp, location. Lines torn by carriage returns, and records glued on one line, come
apart here.
"""

from __future__ import annotations

import functools
import itertools
import operator
import os
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache

import polars as pl
from assay.ingest.schema.format import Region
from assay.ingest.schema.record import Line
from assay.ingest.schema.terminals import deferred, terminal
from assay.ingest.source.opening import Source

PREFIXES = (
    "HOST_RANK",
    "LOCAL_RANK",
    "HOST_TASK",
    "HOST",
    "WORKER",
    "SRUN_RANK",
    "MPI_RANK",
    "ACTOR",
    "COMPOSED",
    "TIMESTAMP",
    "BARE_TIMESTAMP",
    "DATED_LEVEL",
    "ARROWED",
    "LETTERED",
    "PLACED",
    "POD",
    "LABELLED",
    "NAMED",
    "NEMO",
    "LOGURU",
    "GLOG",
    "FILE_LINE",
    "SYSLOG",
    "LOGGER",
    "LEVEL",
    "PLAIN_LEVEL",
    "LOCATION",
    "DASHED",
    "RANK",
    "ROLE",
    "NANOTRON",
    "STREAM",
    "QUOTE",
    "PROGRESS",
)
"""Terminals of `common.lark` that may stand before a record, in any combination."""

PREFIX_COLUMNS = ("host", "rank", "timestamp", "location")

_OF_A_LINE = (*PREFIX_COLUMNS, "bar")

BAR = r"\|\s*([0-9]{1,15}/[0-9]{1,15})\s*\["
"""The count of a progress bar that stands in front of a record, or alone on its line."""

PLACES = {
    "host": (
        r"\[([A-Za-z][A-Za-z0-9._-]*):[0-9]+\]:",
        r"^\s*([A-Za-z][A-Za-z0-9-]*\.[A-Za-z0-9.-]+|nid[0-9]+|x[0-9]{4}c[0-9a-z]+) [0-9]+:",
        r"((?:[0-9]{1,3}\.){3}[0-9]{1,3}):",
        r"^\s*([A-Za-z][A-Za-z0-9._-]*[0-9]): ",
    ),
    "rank": (
        r"\[[A-Za-z][A-Za-z0-9._-]*:([0-9]+)\]:",
        r"\[default([0-9]+)\]",
        r"\[rank(?:[-=]|: )?([0-9]+)",
        r"\([\w.-]+, rank=([0-9]+), pid=",
        r"worker-([0-9]+):",
        r"\[(?:[\w.-]+@)?[0-9]+,(?:mpirank:)?([0-9]+)(?:,[\w.-]+)?\]<",
        r"(?:^|\s)([0-9]+):\s",
    ),
    "timestamp": (
        r"\[[A-Z]+ +([0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9:]{8}(?:[.,][0-9]+)?)",
        r"\[([0-9]{4}-?[0-9]{2}-?[0-9]{2}[ T][0-9:]{8}(?:[.,][0-9]+)?)Z?\]",
        r"([0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9:]{8}(?:[.,][0-9]+)?)",
        r"\[([0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?)\]",
        r"(?:^|\s)[IWE]([0-9]{4} [0-9:]{8}(?:\.[0-9]+)?)\s",
    ),
    "location": (r"\[-*([^\[\]| ]*:[0-9]+(?::[A-Za-z_]\w*)?)\]",),
}


@cache
def tells_who() -> str:
    """Found in every line whose prefix names a host or a rank."""
    return "|".join(
        pattern.replace("^", "") for name in ("host", "rank") for pattern in PLACES[name]
    )


@cache
def prefix_pattern() -> str:
    """One regular expression for any run of prefixes, put together from `common.lark`."""
    alternatives = "|".join(f"(?:{terminal(name)})" for name in PREFIXES)
    return rf"^\s*(?:{alternatives})*\s*"


@cache
def headings() -> str:
    """A heading behind whatever `peel` takes off, or one behind a carriage return."""
    blank = r"[\s\x1c-\x1f]"  # what Python takes for one
    several = "|".join(f"(?:{terminal(name)})" for name in PREFIXES)
    lead = rf"^\s*(?:{terminal('HOSTNAME')})?\s*(?:{several})*\s*"
    return rf"{lead}{blank}*#{{1,6}}{blank}+\S|\r.*#{blank}+\S"


CELL = r"^\s*[A-Za-z][\w.-]*/[0-9]+ +\|"
"""The first cell of a row without a bar in front of it, which is no role: `ViT-B/16 | 128`."""


@cache
def _prefixes() -> tuple[str, ...]:
    """Patterns whose first group is what to take off a line; the first that matches counts.

    A host's name stands in front of another prefix or of a record; elsewhere it is a label.
    """
    host, several = terminal("HOSTNAME"), "|".join(f"(?:{terminal(name)})" for name in PREFIXES)
    record = f"(?:{terminal('SEAM')})|(?:{terminal('BEGINS')})"
    return (
        rf"^(\s*{host}\s*(?:{several})*\s*)(?:{record})",
        rf"^(\s*{host}\s*(?:{several})+\s*)",
        f"(?:{CELL}|({prefix_pattern()}))",
    )


@cache
def in_ascii(pattern: str) -> str:
    r"""A pattern that finds in texts of ASCII what `pattern` finds, and compiles faster.

    Unicode knows so many letters and blanks that it takes ten times as long to compile.

    >>> in_ascii(r"[\w.]+\s[^0-9]")
    '[0-9A-Za-z_.]+[\\t-\\r ][\\x00-\\x7f&&[^0-9]]'
    """
    inside, others = False, False

    def plain(found: re.Match[str]) -> str:
        nonlocal inside, others
        part = found[0]
        if part[0] == "[":
            inside, others = True, part.startswith("[^")
            return _OTHERS + part if others else part
        if part == "]" and inside:
            inside = False
            return "]]" if others else "]"
        known = _IN_ASCII.get(part.lower())
        if known is None or (inside and part.isupper()):
            return part
        return known if inside else f"{_OTHERS}[^{known}]]" if part.isupper() else f"[{known}]"

    return _CLASSES.sub(plain, pattern)


_IN_ASCII = {r"\w": "0-9A-Za-z_", r"\s": r"\t-\r "}

_OTHERS = r"[\x00-\x7f&&"
"""How a class begins of the letters of ASCII that are not in another."""

_CLASSES = re.compile(r"\\.|\[\^?\]?|\]")
"""An escape, and where a class begins and ends."""


def fitting(pattern: str, *, plain: bool) -> str:
    """A pattern for texts of which it is known or not that they are `plain` ASCII."""
    return in_ascii(pattern) if plain else _narrow(pattern)


@cache
def _narrow(pattern: str) -> str:
    r"""A pattern that finds what `pattern` finds and more, where words are those of ASCII.

    Where a word of all scripts ends is told a hundred times as slowly. A letter beyond ASCII may
    not stand beside a `\b`: words of those would be lost.

    >>> _narrow(r"\bloss\b|\\b")
    '(?-u:\\b)loss(?-u:\\b)|\\\\b'
    """
    return _ESCAPED.sub(lambda found: r"(?-u:\b)" if found[0] == r"\b" else found[0], pattern)


_ESCAPED = re.compile(r"\\.", re.DOTALL)


def all_ascii(texts: pl.Series) -> bool:
    """Whether these texts hold ASCII alone."""
    return bool(texts.str.len_bytes().sum() == texts.str.len_chars().sum())


def holds(texts: pl.Series, *patterns: str, plain: bool = False) -> pl.Series:
    """Where one of some patterns is found; `plain`: the texts are known to be ASCII.

    Long patterns are searched for apart: one of all has more states than the search keeps, and
    takes a hundred times as long.
    """
    search = _keeper(plain=plain) if len(texts) <= FEW else None
    found = [
        search.submit(texts.str.contains, wanted).result() if search else texts.str.contains(wanted)
        for wanted in (fitting(each, plain=plain) for each in _together(patterns))
    ]
    return functools.reduce(operator.or_, found, texts.is_null())


@cache
def _keeper(*, plain: bool) -> ThreadPoolExecutor:
    """A thread that keeps the patterns of `holds` compiled for the next few lines.

    Polars keeps 32 patterns a thread, and a document asks for more than twice as many: in one
    thread for all each would be compiled anew, which takes longer than to look through the lines.
    """
    return ThreadPoolExecutor(1, thread_name_prefix="ascii" if plain else "texts")


os.register_at_fork(after_in_child=_keeper.cache_clear)  # threads stay behind in the parent


@cache
def _together(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """As few patterns that find the same, none of several longer than is searched for fast; a long
    one stays as it is, and is compiled once for all that ask for it."""
    made: list[str] = []
    for each in sorted(patterns, key=len):
        if made and len(made[-1]) + len(each) < LONG:
            made[-1] += f"|(?:{each})"
        else:
            made.append(f"(?:{each})" if len(each) < LONG // 2 else each)
    return tuple(made)


LONG = 2600
"""Letters of a pattern of several, with which the states of a search are few enough to be kept."""

_PIECES = re.compile(
    r"\\(?:[pP](?:\{[^}]*\}|.)|x[01].|[^pPxuU])|\{[0-9, ]+\}|\(\?P?<\w+>"
    r"|\[\^?\]?(?:\\(?:x[01].|[^xuU])|[^\[\]\\])*\]|.",
    re.DOTALL,
)
"""An escape, a count of repetitions, the name of a group, a class without another inside, or one
letter of a pattern."""

_OF_DIGITS = re.compile(r"\\(?:x..|.)|[0-9]-.|.-[0-9]|[0-9]", re.DOTALL)
"""Digits and ranges of a class, one end of which is a digit; escapes are passed over."""


@cache
def with_zeros(pattern: str) -> str:
    r"""A pattern that finds in texts with 0 for each digit all that `pattern` finds, and more.

    What is written in a way that is not known here is found everywhere.

    >>> with_zeros(r"ZeRO-[1-3]|fp16{2}|[^0-9a]x\d")
    'ZeRO-[0-9]|fp00{2}|[^0-9a]x\\d'
    """
    pieces = _PIECES.findall(pattern)
    if "[" in pieces or "\\" in pieces:
        return ""
    return "".join(_with_zero(each) for each in pieces)


def _with_zero(piece: str) -> str:
    if len(piece) == 1:
        return "0" if piece.isdigit() else piece
    if piece[0] != "[":
        return piece
    others = piece.startswith("[^")

    def alike(found: re.Match[str]) -> str:
        text = found[0]
        if text[0] == "\\" or text == "0-9":
            return text
        return "" if others else "0-9" if text.replace("-", "").isdigit() else text + "0-9"

    said = _OF_DIGITS.sub(alike, piece)
    return said if said != "[^]" else "(?s:.)"


def peel(lines: pl.DataFrame, *, glued: bool = False) -> pl.DataFrame:
    """Take launcher and logger prefixes off: columns line, text, column, `PREFIX_COLUMNS`, bar.

    A line with a carriage return inside holds what a terminal would have overwritten: each part is
    a line of its own here, with the number of the line it stands in. So is, where `glued` is asked
    for, each record of several that stand on one line.
    """
    parted = _at_returns(lines)
    if glued:
        parted = _at_seams(parted)
    # patterns are compiled anew in each run, which costs more than looking through a few lines
    named = parted["text"].str.contains(rf"^\s*{terminal('HOSTNAME')}").any()
    patterns = _prefixes() if named else _prefixes()[-1:]
    if all_ascii(parted["text"]):
        patterns = tuple(map(in_ascii, patterns))
    prefix = pl.coalesce(pl.col("text").str.extract(each) for each in patterns)
    width = prefix.str.len_chars().fill_null(0)
    found = parted.with_columns(prefix=prefix, width=width)
    return found.select(
        "line",
        pl.col("text").str.slice(pl.col("width")),
        column=(pl.col("offset") + pl.col("width") + 1).cast(pl.UInt32),
        **_places(found["prefix"]),
    )


FEW = 2000
"""Lines whose prefixes are taken apart one by one: polars keeps 32 patterns, and compiles others
anew each time; those of prefixes would take the places of the long ones."""


def _places(prefixes: pl.Series) -> dict[str, pl.Series | pl.Expr]:
    """Columns `_OF_A_LINE` of these prefixes."""
    if not prefixes.str.strip_chars().str.len_bytes().sum():
        return {name: pl.lit(None, pl.String) for name in _OF_A_LINE}
    if len(prefixes) <= FEW:
        told = [place_of(prefix or "") for prefix in prefixes.to_list()]
        columns = zip(*told, strict=True)
        return {
            name: pl.Series(name, values, dtype=pl.String)
            for name, values in zip(_OF_A_LINE, columns, strict=True)
        }
    text = pl.col("prefix").str
    where = {
        name: pl.coalesce(*(text.extract(pattern) for pattern in patterns))
        for name, patterns in PLACES.items()
    }
    return {**where, "bar": text.extract(BAR)}


@lru_cache(maxsize=4096)
def place_of(prefix: str) -> tuple[str | None, ...]:
    """Host, rank, time and place that a prefix tells, and the count of a bar in it; None for each
    that it does not.

    >>> place_of("[node0137:3]: [2024-06-02 10:02:12] ")
    ('node0137', '3', '2024-06-02 10:02:12', 'node0137:3', None)
    """
    if not prefix.strip():
        return (None,) * len(_OF_A_LINE)
    tried = [*PLACES.values(), (BAR,)]
    found = (
        next((hit for pattern in patterns if (hit := re.search(pattern, prefix))), None)
        for patterns in tried
    )
    return tuple(hit[1] if hit else None for hit in found)


_BARS = re.compile(r"\](?=[^\[\]\r]{0,80}?[0-9]{1,3}%\|)")
"""The end of a progress bar right in front of the next one, whose carriage return is lost."""


def _at_returns(lines: pl.DataFrame) -> pl.DataFrame:
    whole = lines.with_columns(offset=pl.lit(0, dtype=pl.UInt32))
    text = pl.col("text")
    returned = text.str.contains("\r", literal=True)
    drawn = text.str.count_matches("%|", literal=True) > 1
    return _parted(whole, returned | drawn, _returns)


def _returns(text: str) -> list[int]:
    """Where the parts of a line begin that a terminal would have written over each other."""
    ends = {at.end() for at in re.finditer("\r", text)}
    return sorted(ends | {at.end() for at in _BARS.finditer(text)})


@cache
def _seam() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """The prefixes in front of a record, how a record begins, and how a line of records does."""
    prefixes = "|".join(f"(?:{terminal(name)})" for name in PREFIXES)
    lead = rf"\s*(?:{terminal('HOSTNAME')})?\s*(?:{prefixes})*\s*"
    begin = rf"(?:[^|:=]*[:=][^|]*\|)?{lead}(?:{terminal('SEAM')})"
    return deferred(rf"{lead}\Z"), deferred(terminal("SEAM")), deferred(begin)


_LONGEST_LEAD = 200
"""Characters in front of a record that may be prefixes of it, on a line of several."""


def _at_seams(lines: pl.DataFrame) -> pl.DataFrame:
    """Lines that hold several records, taken apart where the next one begins.

    Only a line that begins as a record holds others: a sentence that quotes two holds none.
    """

    return _parted(lines, pl.col("text").str.count_matches(terminal("SEAM")) > 1, _seams)


def _seams(text: str) -> list[int]:
    """Where the records of a line begin, but for the first."""
    lead, seam, first = _seam()
    begin = first.match(text)
    found, end = [], begin.end() if begin else len(text)
    for at in seam.finditer(text, end):
        near = max(end, at.start() - _LONGEST_LEAD)
        before = lead.search(text[near : at.start()])
        found.append(near + before.start() if before else at.start())
        end = at.end()
    return found


def _parted(lines: pl.DataFrame, torn: pl.Expr, cuts: Callable[[str], list[int]]) -> pl.DataFrame:
    """Each line of `torn` as the parts between its `cuts`; the other lines as they are."""
    hurt = lines.filter(torn)
    if hurt.is_empty():
        return lines
    rows = []
    for line, text, offset in hurt.iter_rows():
        edges = [0, *cuts(text), len(text)]
        rows += [(line, text[a:b].strip("\r"), offset + a) for a, b in itertools.pairwise(edges)]
    parts = pl.DataFrame(rows, schema=lines.schema, orient="row")
    return pl.concat([lines.filter(~torn), parts]).sort("line", "offset")


@cache
def _alone() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns: of lines that need `peel`, and of the prefixes of all others."""
    host = terminal("HOSTNAME")
    prefixes = rf"(?={CELL})|{prefix_pattern()}"
    return re.compile(rf"[^ -~]|.{{4096}}|\s*{host}"), re.compile(prefixes)


def alone(number: int, text: str, *, glued: bool = False) -> list[Line]:
    """Lines that `peel` makes of one, without a query, which compiles its patterns anew.

    >>> [(line.text, line.column) for line in alone(7, "[2024-06-02 10:02:12] step: 3")]
    [('step: 3', 23)]
    """
    odd, prefixes = _alone()
    if odd.search(text):
        row = {"line": [number], "text": [text]}
        frame = pl.DataFrame(row, schema={"line": pl.UInt32, "text": pl.String})
        return _lines(peel(frame, glued=glued))
    edges = [0, *(_returns(text) if text.count("%|") > 1 else ()), len(text)]
    parts = [(text[a:b], a) for a, b in itertools.pairwise(edges)]
    if glued:
        parts = [one for part, a in parts for one in _records(part, a)]
    found = []
    for part, offset in parts:
        width = prefixes.match(part).end()  # type: ignore[union-attr]  # it matches nothing too
        told = zip(_OF_A_LINE, place_of(part[:width]), strict=True)
        found.append(Line(number, part[width:], offset + width + 1, {k: v for k, v in told if v}))
    return found


def _records(text: str, offset: int) -> list[tuple[str, int]]:
    several = sum(1 for _ in itertools.islice(_seam()[1].finditer(text), 2)) > 1
    edges = [0, *(_seams(text) if several else ()), len(text)]
    return [(text[a:b], offset + a) for a, b in itertools.pairwise(edges)]


def region(source: Source, peeled: pl.DataFrame, read: frozenset[int] = frozenset()) -> Region:
    """The peeled lines as `Line` values; those `read` are there to be seen only."""
    return Region(source, _lines(peeled), read)


def _lines(peeled: pl.DataFrame) -> list[Line]:
    own = [peeled[name] for name in ("line", "text", "column")]
    if all(peeled[name].null_count() == peeled.height for name in _OF_A_LINE):
        return [*map(Line._make, zip(*(s.to_list() for s in own), itertools.repeat(NOBODY)))]
    return [
        Line(line, text, column, {k: v for k, v in zip(_OF_A_LINE, where, strict=True) if v})
        for line, text, column, *where in peeled.iter_rows()
    ]


NOBODY: Mapping[str, str] = {}
"""Who printed a line without a prefix: nobody that it tells."""
