"""Lines that no format wants: counted, and searched for what might yet be of use.

In: texts of lines. Out: how many are blank and how many are not ours, which of these hold a number
beside a performance unit, and which may be a statement of configuration or a heading.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.ingest.carve import prefix_pattern
from assay.ingest.formats.configuration import Configuration
from assay.ingest.schema import fields

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


def tally(lines: pl.DataFrame) -> Tally:
    """What lines (line, text) are that nobody has claimed."""
    empty = _empty(lines["text"])
    doubtful = lines.filter(~empty & _doubtful(lines["text"]))
    doubtful = doubtful.filter(pl.col("text").str.contains(_SUSPICIOUS))
    suspicious = (line for line, text in doubtful.iter_rows() if SUSPICIOUS.search(text))
    blank = int(empty.sum())
    return Tally(blank, lines.height - blank, tuple(suspicious))


_LAST = r"(?:^|[\s\x00-\x1f:\]>|)-])$"
"""How nothing, or a prefix alone, ends; a test holds the prefixes to it."""


def _empty(texts: pl.Series) -> pl.Series:
    """Lines with nothing on them but a prefix, or nothing at all."""
    empty = texts.str.contains(_LAST)
    at = empty.arg_true()
    return empty.scatter(at, texts.gather(at).str.contains(prefix_pattern() + "$"))


def _doubtful(texts: pl.Series) -> pl.Series:
    """Lines that may be suspicious: one of the units stands in them."""
    found = pl.repeat(value=False, n=len(texts), eager=True, dtype=pl.Boolean)
    if not len(texts):
        return found
    whole = "\n".join(texts).encode() if texts.dtype == pl.String else b""
    data = np.frombuffer(whole + b"\n\n", np.uint8) | 0x20  # letters in lower case
    at = np.flatnonzero((data == _B) | (data == _SLASH) | (data == _F))
    at = at[(at > 0) & (at < len(whole))]
    here, before, behind = data[at], data[at - 1], data[at + 1]
    first = data[at - 2]  # of the first byte: some byte of the end, which is none of these
    units = _among(before, b"mgt") & ~_among(first, b"abcdefhijlnopqrsuvwxyz")
    unit = (here == _B) & (units | ((before == _I) & _among(first, b"tgp")))
    rate = (behind == _I) & _among(before, b"sc") | (behind == _S) & _among(before, b"tknse")
    flops = (behind == _L) & _among(before, b"tgp") | (behind == _U) & _among(before, b"mh")
    at = at[unit | (here == _SLASH) & rate | (here == _F) & flops]
    ends = np.flatnonzero(np.frombuffer(whole, np.uint8) == _END)
    return found.scatter(np.unique(np.searchsorted(ends, at)).tolist(), True)


_B, _F, _I, _L, _S, _U, _SLASH, _END = b"bfilsu/\n"


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


@cache
def _labelled() -> str:
    """The last word of a label of the configuration, and its separator."""
    specs = (spec for spec in fields(Configuration).values() if spec.configuration)
    last = {re.findall("[A-Za-z0-9]+", label)[-1] for spec in specs for label in spec.labels}
    words = "|".join(sorted(last, key=lambda word: (-len(word), word)))
    return rf'(?i)(?:{words})(?:[\s_\-#.()\[\]`\\*"]|&nbsp;|<br */?>)*[=:]'


def may_state(texts: pl.Series) -> pl.Series:
    """Lines among which all statements of configuration and all headings are.

    What is no such line for certain need not be parsed: `assay.ingest.context` says what a
    statement is.
    """
    found = texts.str.contains(f"(?:{_ENDS}|{_OTHER_ENDS})")
    at = found.arg_true()
    some = texts.gather(at)
    found = found.scatter(at, some.str.contains(_labelled()) | some.str.contains(_OTHER_ENDS))
    headed = texts.str.contains("#", literal=True).arg_true()
    return found.scatter(
        headed, texts.gather(headed).str.contains(r"#\s+\S") | found.gather(headed)
    )
