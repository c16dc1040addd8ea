"""Findings: every contradiction that the laws find in a reading, by source and line."""

from __future__ import annotations

from collections.abc import Iterable

from assay.ingest.types import Reading
from assay.validate.cases import Cases
from assay.validate.identities.evidence import Evidence
from assay.validate.identities.finding import Finding, ordered
from assay.validate.identities.laws import find, named


def findings(
    reading: Reading, cases: Cases | None = None, *, laws: Iterable[str] = ()
) -> list[Finding]:
    """The findings of a reading; `laws` restricts them to those names.

    Raises LookupError for a law that does not exist. A row that already has an error of one cell is
    not reported again for the same cell by a weaker law.
    """
    found = find(Evidence.of(reading, cases), named(tuple(laws)))
    return ordered(_without_echoes(found))


def _without_echoes(found: list[Finding]) -> list[Finding]:
    """Statistical remarks on cells that an identity has already called wrong say nothing new."""
    wrong = {case for each in found if each.severity == "error" for case in each.cases}
    echo = {"unit-slip", "copied-row", "rate-above-peak", "time-below-roofline"}
    kept, seen = [], set()
    for each in found:
        if (
            each.law in echo
            and each.cases
            and each.cases[0] in wrong
            and (
                each.severity != "error"
                or any(
                    each.cases[0] in other.cases
                    for other in found
                    if other is not each and other.law not in echo
                )
            )
        ):
            continue
        key = (each.law, each.spans, each.explanation)
        if key not in seen:
            seen.add(key)
            kept.append(each)
    return kept
