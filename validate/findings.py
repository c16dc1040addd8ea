"""Findings: every contradiction that the laws find in a reading, by source and line."""

from __future__ import annotations

from collections.abc import Iterable

from assay.ingest.types import Reading
from assay.validate.cases import Cases
from assay.validate.identities.along import along_logs
from assay.validate.identities.evidence import Evidence
from assay.validate.identities.finding import Finding, ordered
from assay.validate.identities.laws import find, named

ECHOES = {"unit-slip", "copied-row", "utilisation-above-one", "rate-above-peak",
          "time-below-roofline", "parameters-of-shape",
          "hfu-below-mfu"}  # fmt: skip
"""Laws that see the consequences of what relations between cells explain better."""


def findings(
    reading: Reading, cases: Cases | None = None, *, laws: Iterable[str] = ()
) -> list[Finding]:
    """The findings of a reading; `laws` restricts them to those names.

    Raises LookupError for a law that does not exist. A row that already has an error of one cell is
    not reported again for the same cell by a weaker law.
    """
    evidence = Evidence.of(reading, cases)
    found = _without_echoes(find(evidence, named(tuple(laws))))
    return ordered(along_logs(evidence, ordered(found)))


def _without_echoes(found: list[Finding]) -> list[Finding]:
    """What is found, once; remarks on rows that an identity has already called wrong say nothing
    new."""
    wrong = {
        case
        for each in found
        if each.severity == "error" and each.law not in ECHOES
        for case in each.cases
    }
    kept = [each for each in found if each.law not in ECHOES or not wrong.intersection(each.cases)]
    return list({(each.law, each.spans, each.explanation): each for each in kept}.values())
