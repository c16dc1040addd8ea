"""From lines to regions: prefixes peeled, candidates found, one region per format.

A format sees the lines that hold one of its heads (`lines="single"`), with as many lines after each
as its records may reach, or every line of a source in which a head occurs (`lines="document"`).
Finding heads is a literal scan over the whole column; all else happens on what is left, so that a
log of noise costs a scan and no more.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import polars as pl
from assay.ingest.parse import terminal
from assay.ingest.reach import Open, edges, marked
from assay.ingest.source import Source
from assay.ingest.types import Format, Line, Region

PREFIXES = (
    "HOST_RANK",
    "LOCAL_RANK",
    "HOST",
    "WORKER",
    "SRUN_RANK",
    "MPI_RANK",
    "ACTOR",
    "TIMESTAMP",
    "BARE_TIMESTAMP",
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
PLACES = {
    "host": (
        r"\[([A-Za-z][A-Za-z0-9._-]*):[0-9]+\]:",
        r"((?:[0-9]{1,3}\.){3}[0-9]{1,3}):",
        r"^\s*([A-Za-z][A-Za-z0-9._-]*[0-9]): ",
    ),
    "rank": (
        r"\[[A-Za-z][A-Za-z0-9._-]*:([0-9]+)\]:",
        r"\[default([0-9]+)\]",
        r"\[rank-?([0-9]+)",
        r"worker-([0-9]+):",
        r"\[[0-9]+,([0-9]+)\]<",
        r"(?:^|\s)([0-9]+):\s",
    ),
    "timestamp": (
        r"\[([0-9]{4}-?[0-9]{2}-?[0-9]{2}[ T][0-9:]{8}(?:[.,][0-9]+)?)\]",
        r"([0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9:]{8}(?:[.,][0-9]+)?)",
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
        f"({prefix_pattern()})",
    )


@cache
def in_ascii(pattern: str) -> str:
    r"""The same pattern where texts hold nothing but ASCII.

    Unicode knows so many letters and blanks that it takes ten times as long to compile.

    >>> in_ascii(r"[\w.]+\s")
    '[0-9A-Za-z_.]+[\\t-\\r ]'
    """
    plain = {r"\w": "0-9A-Za-z_", r"\s": r"\t-\r "}
    inside, out = False, []
    for part in re.findall(r"\\.|\[\^?\]?|.", pattern):
        out.append(f"[{plain[part]}]" if part in plain and not inside else plain.get(part, part))
        inside = part[0] == "[" or (inside and part != "]")
    return "".join(out)


def candidates(lines: pl.DataFrame, fmt: Format) -> pl.DataFrame:
    """The lines (line, text) a format may look at; none where no head occurs."""
    lines = lines.select("line", "text")
    if fmt.lines == "document":
        return lines if opening(lines["text"], fmt) else lines.clear()
    held = lines["line"].is_in(begun(lines, fmt)["line"].implode())
    if not held.any():
        return lines.clear()
    begin, numbers = lines.filter(held), lines["line"].to_numpy().astype(np.int64)
    for head, reach in fmt.reach.items():
        held |= pl.Series(marked(edges(begin, head, reach), reach, Open(), numbers))
    return lines.filter(held)


def openings(formats: Sequence[Format]) -> str:
    """Found in every line that begins a record of one of these formats, or opens a document."""
    literals = (re.escape(head).replace(r"\ ", " ") for fmt in formats for head in fmt.heads
                if fmt.opens is None)  # fmt: skip
    return "|".join([*literals, *(f"(?:{fmt.opens})" for fmt in formats if fmt.opens)])


def begun(lines: pl.DataFrame, fmt: Format) -> pl.DataFrame:
    """The lines (line, text) on which a record of a format of single lines may begin."""
    if lines.is_empty():
        return lines
    found = lines.filter(lines["text"].str.contains_any(list(fmt.heads)))
    return found if fmt.opens is None else found.filter(pl.col("text").str.contains(fmt.opens))


def opening(texts: pl.Series, fmt: Format) -> bool:
    """Whether a line with a head of a document format opens a document of it."""
    return bool(opens(texts, fmt).any())


def opens(texts: pl.Series, fmt: Format) -> pl.Series:
    """The lines with a head of a document format that open a document of it."""
    held = texts.str.contains_any(list(fmt.heads))
    if fmt.opens is None or not held.any():
        return held
    at = held.arg_true()
    return held.scatter(at, texts.gather(at).str.contains(fmt.opens))


def peel(lines: pl.DataFrame, *, glued: bool = False) -> pl.DataFrame:
    """Take launcher and logger prefixes off: columns line, text, column and `PREFIX_COLUMNS`.

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
    if parted["text"].str.len_bytes().sum() == parted["text"].str.len_chars().sum():
        patterns = tuple(map(in_ascii, patterns))
    prefix = pl.coalesce(pl.col("text").str.extract(each) for each in patterns)
    width = prefix.str.len_chars().fill_null(0)
    found = parted.with_columns(prefix=prefix, width=width)
    bare = not found["prefix"].str.contains(r"\S").any()
    return found.select(
        "line",
        pl.col("text").str.slice(pl.col("width")),
        column=(pl.col("offset") + pl.col("width") + 1).cast(pl.UInt32),
        **{
            name: pl.lit(None, pl.String)
            if bare
            else pl.coalesce(*(pl.col("prefix").str.extract(pattern) for pattern in patterns))
            for name, patterns in PLACES.items()
        },
    )


def _at_returns(lines: pl.DataFrame) -> pl.DataFrame:
    whole = lines.with_columns(offset=pl.lit(0, dtype=pl.UInt32))
    returned = pl.col("text").str.contains("\r", literal=True)
    return _parted(whole, returned, lambda text: [at.end() for at in re.finditer("\r", text)])


@cache
def _seam() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Where a record begins on a line, with the prefixes in front of it; and a line of records."""
    prefixes = "|".join(f"(?:{terminal(name)})" for name in PREFIXES)
    seam = rf"\s*(?:{terminal('HOSTNAME')})?\s*(?:{prefixes})*\s*(?:{terminal('SEAM')})"
    return re.compile(seam), re.compile(rf"(?:[^|]*[:=][^|]*\|)?{seam}")


def _at_seams(lines: pl.DataFrame) -> pl.DataFrame:
    """Lines that hold several records, taken apart where the next one begins.

    Only a line that begins as a record holds others: a sentence that quotes two holds none.
    """

    def cuts(text: str) -> list[int]:
        seam, first = _seam()
        begin = first.match(text)
        return [at.start() for at in seam.finditer(text, begin.end())] if begin else []

    return _parted(lines, pl.col("text").str.count_matches(terminal("SEAM")) > 1, cuts)


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


def region(source: Source, peeled: pl.DataFrame, read: frozenset[int] = frozenset()) -> Region:
    """The peeled lines as `Line` values; those `read` are there to be seen only."""
    lines = [
        Line(line, text, column, {k: v for k, v in zip(PREFIX_COLUMNS, where, strict=True) if v})
        for line, text, column, *where in peeled.iter_rows()
    ]
    return Region(source, lines, read)
