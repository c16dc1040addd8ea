"""Findings along a log: what is wrong in the same way on many lines is one finding.

In: findings, each of one row. Out: those of table rows as they are; those of the lines of one log
that break one law for the same quantity, together, with how many lines it is.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl
from assay.ingest.formats import FORMATS
from assay.validate.cases.memo import once
from assay.validate.cases.observe import about
from assay.validate.cases.standing import rows, standing, weighed
from assay.validate.laws.evidence import Evidence
from assay.validate.laws.finding import MOST_SPANS, Finding


@once
def lines_of(evidence: Evidence) -> dict[str, tuple[str, int]]:
    """Case → its log and how many lines that has, for every line of a log."""
    if evidence.runs.is_empty():
        return {}
    tables = [name for name, what in about(FORMATS).items() if what.origin == "published"]
    lines = weighed(evidence.runs.filter(~pl.col("frame").is_in(tables)), evidence.reading)
    lines = lines.with_columns(n=rows().over("source", "group"))
    held = lines.select("case", "group", "n").iter_rows()
    return {case: (group, n) for case, group, n in held}


def along_logs(evidence: Evidence, found: Iterable[Finding]) -> list[Finding]:
    """`found` with one finding per log, law, severity and quantity."""
    logs = lines_of(evidence)
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for at, each in enumerate(found):
        inside = {logs.get(case) for case in each.cases}
        log = inside.pop() if len(inside) == 1 else None
        said = tuple(number.quantity for number in each.observed[:1])
        key = (log, each.law, each.severity, said) if log else (at,)
        groups.setdefault(key, []).append(each)
    stands = dict(standing(evidence.reading).iter_rows())
    return [_one(logs, same, stands) for same in groups.values()]


def _one(
    logs: dict[str, tuple[str, int]], same: list[Finding], stands: dict[str, float]
) -> Finding:
    if len(same) == 1:
        return same[0]
    first = same[0]
    cases = tuple(dict.fromkeys(case for each in same for case in each.cases))
    _, lines = logs[cases[0]]
    here = sum(stands.get(case, 1.0) for case in cases)
    about = "" if all(stands.get(case, 1.0) == 1.0 for case in cases) else "about "
    ratios = [
        each.observed[0].value / each.implied[0].value
        for each in same
        if each.observed and each.implied and each.implied[0].value
    ]
    ends = dict.fromkeys(f"{end(ratios):.4g}" for end in (min, max) if ratios)
    spread = f", at a ratio of {' to '.join(ends)}" if ends else ""
    return Finding(
        law=first.law,
        kind=first.kind,
        severity=first.severity,
        spans=tuple(each.spans[0] for each in same)[:MOST_SPANS],
        observed=first.observed,
        implied=first.implied,
        explanation=f"{first.explanation}; so on {about}{here:,.0f} of {lines:,} lines{spread}",
        meaning=first.meaning,
        cases=cases,
        quantities=first.quantities,
        correction=tuple(change for each in same for change in each.correction),
    )
