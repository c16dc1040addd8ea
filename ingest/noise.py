"""Lines that no format wants: counted, and searched for what might yet be of use.

In: texts of lines. Out: how many are blank and how many are not ours, which of these hold a number
beside a performance unit, and which may be a statement of configuration or a heading.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.ingest.carve import prefix_pattern
from assay.ingest.formats.configuration import Configuration
from assay.ingest.schema import labelled

SUSPICIOUS = re.compile(
    r"[0-9]\s*(?:[TGP]FLOP|[TGP]iB|[MGT]B\b|s(?:ecs?)?/it|ms/it|it/s|tok(?:en)?s?/s|samples?/s|%\s*MFU)"
    r"|\b(?:MFU|HFU|TFLOPs?|TFLOPS|s/it|tokens/s)\b\W{0,3}[0-9]",
    re.IGNORECASE,
)
"""A number beside a performance unit: among lines that are not ours, worth a second look."""

_SUSPICIOUS = "(?i)" + SUSPICIOUS.pattern.replace(r"\b", "").replace(r"\s", r"[\s\x1c-\x1f]")
"""The same for polars, where words and blanks are not quite those of Python: it finds no less."""


@dataclass(frozen=True)
class Tally:
    """Lines that were not claimed; `suspicious` are some of those not ours."""

    blank: int = 0
    not_ours: int = 0
    suspicious: tuple[int, ...] = ()

    def __add__(self, other: Tally) -> Tally:
        """Both, in the order of their lines."""
        return Tally(
            self.blank + other.blank,
            self.not_ours + other.not_ours,
            self.suspicious + other.suspicious,
        )


def tally(lines: pl.DataFrame, which: pl.Series | None = None, data: bytes = b"") -> Tally:
    """What lines (line, text) are that nobody has claimed: all of them, or `which`.

    Where most lines are meant, `data`, all lines as they stand, spares putting them together.
    """
    doubtful = _doubtful(data) if data else np.zeros(0, np.int64)
    if which is not None and data:
        some = pl.repeat(value=False, n=lines.height, eager=True, dtype=pl.Boolean)
        units = some.scatter(pl.Series(doubtful), True).filter(which)
        lines = lines.filter(which)
    else:
        lines = lines if which is None else lines.filter(which)
        whole = "\n".join(lines["text"].to_list()).encode()
        units = pl.repeat(value=False, n=lines.height, eager=True, dtype=pl.Boolean)
        units = units.scatter(pl.Series(_doubtful(whole)), True)
    empty = _empty(lines["text"])
    found = lines.filter(~empty & units).filter(pl.col("text").str.contains(_SUSPICIOUS))
    suspicious = (line for line, text in found.iter_rows() if SUSPICIOUS.search(text))
    blank = int(empty.sum())
    return Tally(blank, lines.height - blank, tuple(suspicious))


ENDS_EMPTY = r"(?:^|[\s\x00-\x1f:\]>|-])$"
"""How nothing, or a prefix alone, ends; a test holds the prefixes to it."""


def _empty(texts: pl.Series) -> pl.Series:
    """Lines with nothing on them but a prefix, or nothing at all."""
    empty = texts.str.contains(ENDS_EMPTY)
    at = empty.arg_true()
    return empty.scatter(at, texts.gather(at).str.contains(prefix_pattern() + "$"))


def _doubtful(whole: bytes) -> npt.NDArray[np.int64]:
    """Lines, from 0, that may be suspicious: something like a unit stands in them."""
    data = np.frombuffer(whole + b"\n\n", np.uint8) | np.uint8(0x20)  # letters in lower case
    at = np.flatnonzero((data == _B) | (data == _SLASH) | (data == _F))
    at = at[(at > 0) & (at < len(whole))]
    at = at[_UNITS[data[at].astype(np.uint16) << 8 | data[at - 1]]]  # few are left by that
    here, before, behind = data[at], data[at - 1], data[at + 1]
    first = data[at - 2]  # of the first byte: some byte of the end, which is none of these
    units = _among(before, b"mgt") & ~_among(first, b"abcdefhijlnopqrsuvwxyz")
    unit = (here == _B) & (units | ((before == _I) & _among(first, b"tgp")))
    rate = (behind == _I) & _among(before, b"sc") | (behind == _S) & _among(before, b"tknse")
    flops = (behind == _L) & _among(before, b"tgp") | (behind == _U) & _among(before, b"mh")
    at = at[unit | (here == _SLASH) & rate | (here == _F) & flops]
    ends = np.flatnonzero(np.frombuffer(whole, np.uint8) == _END)
    found: npt.NDArray[np.int64] = np.unique(np.searchsorted(ends, at))
    return found


_B, _F, _I, _L, _S, _U, _SLASH, _END = b"bfilsu/\n"


_UNITS = np.zeros(2**16, np.bool_)
"""By a byte of a unit and the byte before it: whether a unit has them."""
for _byte, _before in ((_B, b"imgt"), (_SLASH, b"sctkne"), (_F, b"tgpmh")):
    _UNITS[[_byte << 8 | each for each in _before]] = True


def _among(data: npt.NDArray[Any], letters: bytes) -> npt.NDArray[np.bool_]:
    return np.isin(data, np.frombuffer(letters, np.uint8))


PIECE = 40
"""Lines that are searched at once."""


def holding(data: bytes, texts: pl.Series, literals: Sequence[str]) -> pl.Series:
    """Lines that hold one of the literals.

    Where `data`, the lines as they stand, is given, they are searched in pieces of several lines
    first: most of a log of noise is passed over like that.
    """
    found = pl.repeat(value=False, n=len(texts), eager=True, dtype=pl.Boolean)
    pattern = "|".join(re.escape(each).replace(r"\ ", " ") for each in literals)
    if not literals or not data or len(texts) < PIECE * 8:
        return texts.str.contains(pattern) if literals and len(texts) else found
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == _END)[PIECE - 1 :: PIECE] + 1
    edges = [0, *ends.tolist()]
    if edges[-1] < len(data):
        edges.append(len(data))
    pieces = pl.Series([data[a:b] for a, b in itertools.pairwise(edges)], dtype=pl.Binary)
    hit = pieces.cast(pl.String).str.contains(pattern).arg_true().to_numpy().astype(np.int64)
    at = (hit[:, None] * PIECE + np.arange(PIECE)).reshape(-1)
    at = at[at < len(texts)]
    where = pl.Series(at)
    return found.scatter(where, texts.gather(where).str.contains(pattern))


_REST = r"[\s\x1c-\x1f*_`:.]*$"
_ENDS = (
    r'[=:][\s*_`]*"?(?:[0-9][0-9,]*(?:\.[0-9]+)?[kKMB]?|[Tt]rue|[Ff]alse|bf16|fp16|fp32|fp8'
    rf'|bfloat16|float16)"?{_REST}'
)
"""How an assignment or a `label: value` ends, if a value is all that stands behind its label."""

_OTHER_ENDS = rf"(?:(?:too|well|above)\)|[0-9]\s*(?i:nodes?|replicas?|gpus?)){_REST}"
"""How statements about what stands above end, and counts of nodes, replicas and GPUs."""


def may_state(texts: pl.Series) -> pl.Series:
    """Lines among which all statements of configuration and all headings are.

    What is no such line for certain need not be parsed: `assay.ingest.context` says what a
    statement is.
    """
    found = texts.str.contains(f"(?:{_ENDS}|{_OTHER_ENDS})")
    at = found.arg_true()
    some = texts.gather(at)
    found = found.scatter(
        at, some.str.contains(labelled(Configuration)) | some.str.contains(_OTHER_ENDS)
    )
    headed = texts.str.contains("#", literal=True).arg_true()
    return found.scatter(
        headed, texts.gather(headed).str.contains(r"#\s+\S") | found.gather(headed)
    )
