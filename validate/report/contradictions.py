"""Findings as text and JSON: what `assay check` prints."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from assay.validate.identities.finding import SEVERITIES, Finding, Number, as_dict
from assay.validate.identities.runs import label
from assay.validate.report.layout import count, quantity
from assay.validate.report.safe import json_text, visible

COLOURS = {"error": "\x1b[31m", "warning": "\x1b[33m", "note": "\x1b[36m"}
OFF = "\x1b[0m"
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


def render(findings: Iterable[Finding], *, colour: bool = False) -> str:
    """Each finding at its place, so that an editor jumps there, then its numbers and meaning."""
    return "".join(_one(each, colour=colour) for each in findings)


def _one(finding: Finding, *, colour: bool) -> str:
    mark, off = (COLOURS[finding.severity], OFF) if colour else ("", "")
    lines = [
        f"{visible(str(finding.spans[0]))}: {mark}{finding.severity}{off}: {finding.law}: "
        f"{visible(finding.explanation)}"
    ]
    lines += [f"    see {visible(str(span))}" for span in finding.spans[1:]]
    if finding.observed:
        lines.append(f"    printed  {_numbers(finding.observed)}")
    if finding.implied:
        lines.append(f"    implied  {_numbers(finding.implied)}")
    lines.append(f"    {finding.kind}: {visible(finding.meaning)}")
    return "\n".join(lines) + "\n"


def _numbers(found: Sequence[Number]) -> str:
    said = [f"{label(each.quantity)} {_spread(each)}" for each in found[:MOST]]
    return ", ".join(said) + (f" and {len(found) - MOST} more" if len(found) > MOST else "")


def _spread(number: Number) -> str:
    text = quantity(number.value, number.unit)
    if number.low == number.high or not math.isfinite(number.high):
        return text
    low, high = (quantity(end, number.unit) for end in (number.low, number.high))
    return f"{text} [{low}, {high}]"


def summary(findings: Iterable[Finding]) -> str:
    """How many of each severity.

    >>> summary([])
    'no findings'
    """
    counts = Counter(each.severity for each in findings)
    said = [count(counts[severity], severity) for severity in SEVERITIES if counts[severity]]
    return ", ".join(said) or "no findings"
