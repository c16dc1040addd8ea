"""Lines that no format wants: counted, and searched for what might yet be of use.

In: texts of lines. Out: how many are blank and how many are not ours, which of these hold a number
beside a performance unit, and which may be a statement of configuration or a heading.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import chain

import numpy as np
import polars as pl
from assay.ingest.lines.candidates import MARKED, openings
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import labelled
from assay.ingest.schema.format import Format
from assay.ingest.source.blocks import Block, Mask
from assay.ingest.source.prefixes import (
    all_ascii,
    fitting,
    headings,
    holds,
    in_ascii,
    prefix_pattern,
)
from assay.ingest.statements.worth import ENDS, FORMS, OPENS, REST

SUSPICIOUS = re.compile(
    r"[0-9]\s*(?:[TGP]FLOP|[TGP]iB|[MGT]B\b|s(?:ecs?)?/it|ms/it|[a-z]{2,12}/s(?:ec(?:ond)?s?)?\b"
    r"|ns/day|%\s*MFU|(?:avg |average )?loss\b)"
    r"|\b(?:MFU|HFU|TFLOPs?|TFLOPS|s/it|tokens/s)\b\W{0,3}[0-9]"
    r"|(?:samples?|tokens?|sequences|steps|iterations)[ _]?(?:/|per)[ _]?s(?:ec(?:ond)?)?"
    r"\W{1,4}[0-9]"
    r"|(?:wall|train(?:ing)?|testing|loop|run|epoch)[ _-]?time(?: of|\s?[=:])?\s{0,3}[0-9]"
    r"|(?:step|iter(?:ation)?|batch)[ _]?(?:time|avg|timing|ms)[a-z_]*\W{1,4}[0-9]"
    r"|\b(?:seconds|latency|throughput|tok_s|tps)\b[\"']?\s?[:=]\s?[\"']?[0-9]",
    re.IGNORECASE,
)
"""A number beside a unit or a label of time, rate or work: among lines that are not ours, worth a
second look."""

_SUSPICIOUS = "(?i:" + SUSPICIOUS.pattern.replace(r"\b", "").replace(r"\s", r"[\s\x1c-\x1f]") + ")"
"""`SUSPICIOUS` for polars, whose words and blanks differ a little: it finds no less."""

_PLAIN = r"^[\t\n\x0b\x0c\r -~]*$"

_EXACTLY = in_ascii("(?i)" + SUSPICIOUS.pattern.replace(r"\b", r"(?-u:\b)"))
"""`SUSPICIOUS` for polars in a `_PLAIN` text, where it finds exactly as much as Python."""


@dataclass(frozen=True)
class Tally:
    """Lines that were not claimed; `suspicious` are some of those not ours."""

    blank: int = 0
    not_ours: int = 0
    suspicious: tuple[int, ...] = ()

    def without(self, lines: Set[int]) -> Tally:
        """The tally of other lines than these, all of which were counted and none is blank."""
        at = bisect_left(self.suspicious, min(lines)) if lines else len(self.suspicious)
        odd = (line for line in self.suspicious[at:] if line not in lines)
        return Tally(self.blank, self.not_ours - len(lines), (*self.suspicious[:at], *odd))


def closings(formats: Sequence[Format]) -> tuple[str, ...]:
    """Patterns of lines that may tell of the end of a run; none where no format asks."""
    return tuple(fmt.closing.finds for fmt in formats if fmt.closing is not None)


def total(tallies: Sequence[Tally]) -> Tally:
    """Sum of several tallies; suspicious lines in order."""
    return Tally(
        sum(each.blank for each in tallies),
        sum(each.not_ours for each in tallies),
        tuple(chain.from_iterable(each.suspicious for each in tallies)),
    )


def tally(lines: pl.DataFrame) -> Tally:
    """Tally of lines (line, text) that nobody has claimed."""
    nothing, odd = suspicious(lines["text"], plain=all_ascii(lines["text"]))
    blank = int(nothing.sum())
    return Tally(blank, lines.height - blank, tuple(lines["line"].filter(odd).to_list()))


def suspicious(texts: pl.Series, *, plain: bool = False) -> tuple[pl.Series, pl.Series]:
    """Lines that are blank, and others that are suspicious; `plain`: all is ASCII."""
    nothing = empty(texts, plain=plain)
    found = ~nothing & holds(texts, _SUSPICIOUS, plain=plain)
    at = found.arg_true()
    some = texts.gather(at)
    sure = some.str.contains(_EXACTLY)
    odd = (~some.str.contains(_PLAIN)).arg_true()
    asked = [SUSPICIOUS.search(text) is not None for text in some.gather(odd)]
    return nothing, found.scatter(at, sure.scatter(odd, pl.Series(asked, dtype=pl.Boolean)))


def blank(block: Block, which: Mask) -> Mask:
    """Mask of the blank lines of a block, among the lines `which`."""
    if not block.plain:
        nothing = np.zeros(block.height, np.bool_)
        nothing[which] = empty(block.some(which)["text"])
        return nothing
    # what stands before the end of an empty line is the end of another
    doubtful: Mask = _MAY_END_EMPTY[block.codes[block.stops - 1]] & which
    found: Mask = doubtful & (block.stops == block.starts)
    doubtful &= ~found
    found[doubtful] = block.some(doubtful)["text"].str.contains(in_ascii(prefix_pattern() + "$"))
    return found


ENDS_EMPTY = r"(?:^|[\s\x00-\x1f:\]>|-])$"
"""End of an empty line, or of one that is a prefix alone; a test holds the prefixes to it."""


def empty(texts: pl.Series, *, plain: bool = False) -> pl.Series:
    """Lines with nothing on them but a prefix, or nothing at all."""
    whole = fitting(prefix_pattern() + "$", plain=plain)
    found = texts.str.contains(ENDS_EMPTY)
    at = found.arg_true()
    return found.scatter(at, texts.gather(at).str.contains(whole)) if len(at) else found


_MAY_END_EMPTY = np.array([bool(re.search(ENDS_EMPTY, chr(byte))) for byte in range(256)])

_HEADING = r"(?:^|[\s\x1c-\x1f:\]>-]|[^%]\|)#{1,6}[\s\x1c-\x1f]+\S"
"""Found in every heading; behind a prefix that ends with a bar, but not in a progress bar."""


def interest(formats: Sequence[Format]) -> tuple[str, ...]:
    """Patterns of lines that begin something, may be suspicious or state something; no others
    matter.

    Not one of all, which has more states than the search keeps. Several heads of a format are
    found faster than what it opens with; one alone, or one of a single character, is found too
    often.
    """
    one = [
        fmt
        for fmt in formats
        if fmt.opens is not None and (len(fmt.heads) == 1 or min(map(len, fmt.heads)) == 1)
    ]
    heads = sorted({*MARKED, *(head for fmt in formats if fmt not in one for head in fmt.heads)})
    literals = "|".join(re.escape(each).replace(r"\ ", " ") for each in heads)
    return (
        *filter(None, [literals]),
        *openings(one),
        f"{_SUSPICIOUS}|{_HEADING}",
        ENDS,
        *_OTHER_ENDS,
    )


_OTHER_ENDS = (
    rf"(?:(?:too|well|above)\)|[0-9]\s*(?i:nodes?|replicas?|gpus?)){REST}"
    r"|(?:^|[\s'\"(])--[A-Za-z]|^\s*(?:```|~~~)|=[\"']?\$|[_-](?:nl|hs|tp|pp|gbs?|mbs?|seq)[0-9]+[_-]"
    f"|{OPENS}",
    *FORMS,
)
"""How statements about what stands above end, and counts of nodes, replicas and GPUs; options of a
command, assignments of variables, names put together of values."""


def may_state(texts: pl.Series, *, plain: bool = False) -> pl.Series:
    """Lines among which all statements of configuration and all headings are; `plain`: ASCII.

    Other lines need not be parsed: `assay.ingest.statements.context` says which are statements.
    """
    found = holds(texts, *_OTHER_ENDS, plain=plain)
    ends = ~found & holds(texts, ENDS, plain=plain)
    at = ends.arg_true()
    if len(at):
        found = found.scatter(at, labelled(texts.gather(at), Configuration))
    at = texts.str.contains("#", literal=True).arg_true()
    if not len(at):
        return found
    headed = texts.gather(at).str.contains(fitting(headings(), plain=plain))
    return found.scatter(at, headed | found.gather(at))
