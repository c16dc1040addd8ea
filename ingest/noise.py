"""Lines that no format wants: counted, and searched for what might yet be of use.

In: texts of lines. Out: how many are blank and how many are not ours, which of these hold a number
beside a performance unit, and which may be a statement of configuration or a heading.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

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
    text = pl.col("text")
    empty = text.str.contains(prefix_pattern() + "$")  # nothing, or a prefix alone
    not_ours = lines.filter(~empty)
    doubtful = not_ours.filter(text.str.contains("(?i)[0-9].*(?:flop|b|it|/s|mfu|hfu)|mfu"))
    suspicious = tuple(
        line
        for line, text in doubtful.select("line", "text").iter_rows()
        if SUSPICIOUS.search(text)
    )
    return Tally(lines.height - not_ours.height, not_ours.height, suspicious)


_REST = r"[\s\x1c-\x1f*_`:.]*$"
_ENDS = (
    r'[=:][\s*_`]*"?(?:[0-9][0-9,]*(?:\.[0-9]+)?[kKMB]?|[Tt]rue|[Ff]alse|bf16|fp16|fp32|fp8'
    rf'|bfloat16|float16)"?{_REST}'
)
"""How an assignment or a `label: value` ends, if a value is all that stands behind its label."""

_OTHERS = rf"#\s+\S|(?:too|well|above)\){_REST}|(?i)[0-9]\s*(?:nodes?|replicas?|gpus?){_REST}"
"""Headings, statements about what stands above, and counts of nodes, replicas and GPUs."""


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
    ends = texts.str.contains(_ENDS)
    at = ends.arg_true()
    labelled = texts.gather(at).str.contains(_labelled())
    found = texts.str.contains(_OTHERS)
    return found.scatter(at.filter(labelled), True)
