"""Findings as text and JSON: what `assay check` prints."""

from __future__ import annotations

import json
import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from assay.validate.arithmetic.printed_runs import label
from assay.validate.laws.finding import SEVERITIES, Finding, Number, as_dict
from assay.validate.report.layout import count, scale
from assay.validate.report.safe import json_text, visible

COLOURS = {"error": "\x1b[31m", "warning": "\x1b[33m", "note": "\x1b[36m"}

OFF = "\x1b[0m"

TIED = "\xa0"

NARROWEST = 40
"""Columns below which nothing is folded any further."""

MOST = 4
"""Numbers of a finding that are spelled out."""


def dumps(findings: Iterable[Finding]) -> str:
    """The list as JSON; what JSON cannot write (an open bound) is null."""
    text = json.dumps(
        [finite(as_dict(each)) for each in findings], indent=1, ensure_ascii=False, allow_nan=False
    )
    return json_text(text) + "\n"


def finite(value: Any) -> Any:
    """`value` with nan and infinities as None."""
    if isinstance(value, dict):
        return {name: finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def render(findings: Iterable[Finding], *, colour: bool = False, width: int | None = None) -> str:
    """Each finding at its place, so that an editor jumps there, then its numbers and meaning.

    Lines are folded at `width` where one is given; a file or a pipe gets a line a statement.
    """
    return "".join(_one(each, colour=colour, width=width) for each in findings)


def _one(finding: Finding, *, colour: bool, width: int | None) -> str:
    place, *others = [visible(str(span)) for span in finding.spans]
    head = _folded(
        f"{place}: {finding.severity}: {finding.law}: {visible(finding.explanation)}", "", width
    )
    if colour:
        mark = f"{COLOURS[finding.severity]}{finding.severity}{OFF}"
        head = head.replace(f" {finding.severity}:", f" {mark}:", 1)
    said = [("see", other) for other in others]
    said += [
        (name, _numbers(numbers))
        for name, numbers in (("printed", finding.observed), ("implied", finding.implied))
        if numbers
    ]
    said.append(("so", f"{visible(finding.meaning)} ({finding.kind})"))
    lines = [_folded(text, f"    {name:<9}", width) for name, text in said]
    return "\n".join([head, *lines]) + "\n"


def _folded(text: str, lead: str, width: int | None) -> str:
    """`lead` and `text`, folded between words."""
    if width is None:
        return lead + text
    indent = " " * max(len(lead), 6)
    whole = text.replace(" %", f"{TIED}%")
    return textwrap.fill(
        whole, max(width, NARROWEST), initial_indent=lead, subsequent_indent=indent,
        break_long_words=False, break_on_hyphens=False,
    ).replace(TIED, " ")  # fmt: skip


def _numbers(found: Sequence[Number]) -> str:
    said = [f"{visible(label(each.quantity))} {_spread(each)}" for each in found[:MOST]]
    return ", ".join(said) + (f" and {len(found) - MOST} more" if len(found) > MOST else "")


def _spread(number: Number) -> str:
    """A number in the unit that suits it, and the ends of its interval in the same."""
    size, unit = scale(number.value, number.unit)
    value, *ends = (_digits(each / size) for each in (number.value, number.low, number.high))
    text = value if unit == "1" else f"{value} {unit}"
    if number.low == number.high or not math.isfinite(number.high) or set(ends) == {value}:
        return text
    return f"{text} [{' to '.join(ends)}]"


def _digits(value: float) -> str:
    """Six digits, whole numbers in full."""
    if value.is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1e6 else f"{value:.6g}"


def summary(findings: Iterable[Finding]) -> str:
    """How many of each severity.

    >>> summary([])
    'no findings'
    """
    counts = Counter(each.severity for each in findings)
    said = [count(counts[severity], severity) for severity in SEVERITIES if counts[severity]]
    return ", ".join(said) or "no findings"
