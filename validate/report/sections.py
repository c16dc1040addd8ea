"""The report for people, in order. Writers lay out what stands here; JSON is `json_document`."""

from __future__ import annotations

from assay.validate.report import figures, leftovers, reading_section
from assay.validate.report import run_section as of_runs
from assay.validate.report.layout import Section
from assay.validate.report.reading_section import solved
from assay.validate.report.summary import summary
from assay.validate.runs.run import runs
from assay.validate.score.assess import Report


def sections(report: Report) -> list[Section]:
    """Every section that has something to say, the summary first and what is left over last."""
    found = [
        summary(report),
        reading_section.read(report),
        of_runs.section(runs(report.outcome.reading, report.cases, report.comparison.pairs)),
        *figures.accuracy(report),
        figures.findings(report),
        figures.agreement(report),
        figures.arithmetic(report),
        solved(report),
        reading_section.configurations(report),
        reading_section.assumptions(report),
        leftovers.unpredicted(report),
        leftovers.unobserved(report),
        reading_section.doubtful(report),
        reading_section.refused(report),
        reading_section.failures(report),
    ]
    return [section for section in found if section is not None]
