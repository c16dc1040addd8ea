"""The report for people, in order. The writers lay out what stands here; JSON is `document`."""

from __future__ import annotations

from assay.validate.assess import Report
from assay.validate.report import figures, leftovers, reading
from assay.validate.report import runs as of_runs
from assay.validate.report.layout import Section
from assay.validate.report.solved import solved
from assay.validate.report.summary import summary
from assay.validate.runs import runs


def sections(report: Report) -> list[Section]:
    """Every section that has something to say, the summary first and what is left over last."""
    found = [
        summary(report),
        reading.read(report),
        of_runs.section(runs(report.outcome.reading, report.cases, report.comparison.pairs)),
        *figures.accuracy(report),
        figures.findings(report),
        figures.agreement(report),
        figures.arithmetic(report),
        solved(report),
        reading.configurations(report),
        reading.assumptions(report),
        leftovers.unpredicted(report),
        leftovers.unobserved(report),
        reading.doubtful(report),
        reading.refused(report),
        reading.failures(report),
    ]
    return [section for section in found if section is not None]
