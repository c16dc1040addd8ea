"""The page: a report in, one HTML document out, self-contained and without a script.

Nothing in it is loaded from anywhere: its policy forbids everything but its own styles. The same
report gives the same bytes. Findings are a table of places, gravest first; signs and words, not
colours, say how grave.
"""

from __future__ import annotations

import platform
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files

from assay.validate.laws.finding import SEVERITIES, Finding
from assay.validate.report import figures, leftovers, reading_section
from assay.validate.report import run_section as of_runs
from assay.validate.report.figures import consequences
from assay.validate.report.html import coverage, efficiency, errors, step_plots, svg
from assay.validate.report.html.elements import block, items, plot, section, table
from assay.validate.report.html.plots import Plot
from assay.validate.report.layout import Column, Part, Section, Table, count, told_apart
from assay.validate.report.reading_section import solved
from assay.validate.report.safe import html
from assay.validate.report.sections import each_run, run_screen
from assay.validate.report.summary import estimates, severities, summary, totals
from assay.validate.runs.run import runs
from assay.validate.score.assess import Report

POLICY = (
    "default-src 'none'; script-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)

AGAINST = (
    "One mark per prediction. On the line it equals the printed number; the band is ±10 %. Above "
    "the line it is larger than printed."
)

ERRORS = (
    "Errors are predicted/printed − 1; the band is ±10 %. By configuration: the mean over the rows "
    "of one model on one machine and, as a line, their range, the worst first. By size: every row. "
    "Baselines are left out where another model predicts the same."
)

PACKAGES = ("assay", "polars", "pandera", "lark", "numpy", "scipy", "altair", "vl-convert-python")


def render(report: Report, command: Sequence[str] = ()) -> str:
    """The whole document. `command`: the words that make this report again."""
    parts = [(name, title, body) for name, title, body in _parts(report, command) if body]
    links = "\n".join(f'<li><a href="#{name}">{html(title)}</a></li>' for name, title, _ in parts)
    names = [one.source for one in report.outcome.reading.accounting]
    title = "assay report: " + (
        told_apart(names)[names[0]] if len(names) == 1 else count(len(names), "input")
    )
    style = files("assay.validate.report.html").joinpath("style.css").read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta name="generator" content="assay {html(version("assay"))}">\n'
        f"<title>{html(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"<header>\n<h1>{html(title)}</h1>\n{_cards(report)}\n"
        f'<nav aria-label="Contents">\n<ol>\n{links}\n</ol>\n</nav>\n</header>\n<main>\n'
        + "\n".join(section(name, title, body) for name, title, body in parts)
        + "\n</main>\n</body>\n</html>\n"
    )


def _parts(report: Report, command: Sequence[str]) -> Iterable[tuple[str, str, list[str]]]:
    """Anchor, title and body of every part, what a reader wants first; empty ones are left out."""
    found = runs(report.outcome.reading, report.cases, report.comparison.pairs)
    yield "run", "Runs", [*_blocks(run_screen(report)), *_beside(each_run(report))]
    yield (
        "runs",
        "Step time and loss of runs",
        [*_plots(step_plots.courses(report, found)), *_blocks([of_runs.section(found)])],
    )
    yield "breakdown", "Where the time goes", _plots(step_plots.spent(report))
    yield "summary", "Summary", [block(summary(report), heading=False), *_without_plots()]
    yield "predicted", "Predicted against printed", _plots(errors.against(report), AGAINST)
    yield (
        "errors",
        "Error by configuration and by size",
        _plots([*errors.by_configuration(report), *errors.by_size(report)], ERRORS),
    )
    yield "efficiency", "GEMM efficiency by shape", _plots(efficiency.efficiency(report))
    yield "traces", "Traces", _blocks(of_runs.trace_sections(report))
    yield "coverage", "Coverage", [*_plots(coverage.lines(report)), *_coverage(report)]
    yield "findings", "Findings", listed(report)
    yield (
        "accuracy",
        "Accuracy",
        _blocks([*figures.accuracy(report), reading_section.assumptions(report)]),
    )
    yield "agreement", "Agreement with estimates", _agreement(report)
    yield "arithmetic", "Arithmetic and configurations", _blocks(
        [figures.arithmetic(report), solved(report), reading_section.configurations(report)]
    )  # fmt: skip
    yield "again", "How to reproduce", _again(report, command)


def _plots(found: Iterable[Plot], words: str = "") -> list[str]:
    drawn = [plot(each) for each in found]
    if not drawn:
        return []
    said = [f"<p>{html(words)}</p>"] if words else []
    return [*said, '<div class="plots">\n' + "\n".join(drawn) + "\n</div>"]


def _beside(found: Sequence[Section]) -> list[str]:
    """Runs side by side; nothing where one stands by itself already, or there are too many."""
    if not 1 < len(found) <= BESIDE:
        return []
    each = [f"<div>\n{block(one)}\n</div>" for one in found]
    return ['<div class="plots">\n' + "\n".join(each) + "\n</div>"]


def _blocks(found: Iterable[Section | None]) -> list[str]:
    return [block(each) for each in found if each is not None]


def _without_plots() -> list[str]:
    return [] if svg.available() else [f'<p class="note">{html(svg.MISSING.capitalize())}.</p>']


def _agreement(report: Report) -> list[str]:
    found = figures.agreement(report)
    if found is None:
        return []
    return [*(f"<p>{html(each)}</p>" for each in estimates(report)), block(found, heading=False)]


def _coverage(report: Report) -> list[str]:
    read = reading_section.read(report)
    # the plot has the table
    words: list[Part] = [each for each in read.parts if not isinstance(each, Table)]
    return _blocks(
        [
            replace(read, parts=words, detail=False),
            reading_section.doubtful(report),
            reading_section.refused(report),
            reading_section.failures(report),
            leftovers.unpredicted(report),
            leftovers.unobserved(report),
        ]
    )


def _cards(report: Report) -> str:
    """The figures that a reader looks for, large."""
    sums, grave = totals(report), severities(report)
    cards = [
        ("inputs", f"{len(report.outcome.reading.accounting):,}", ""),
        ("lines read", f"{sums['claimed']:,}", f"of {sums['lines']:,}"),
        ("refused", f"{sums['refused']:,}", "lines"),
        ("suspicious", f"{sums['suspicious']:,}", "lines of no known format"),
        ("errors", f"{grave['error']:,}", "contradictions"),
        ("warnings", f"{grave['warning']:,}", "contradictions"),
    ]
    cells = "".join(
        f"<div><dt>{name}</dt><dd><b>{value}</b> {more}</dd></div>" for name, value, more in cards
    )
    return f"<dl>{cells}</dl>"


def _again(report: Report, command: Sequence[str]) -> list[str]:
    """Command, versions and digests."""
    accounts = report.outcome.reading.accounting
    digests = Table(
        [Column("input"), Column("lines", ">"), Column("sha256", flexible=True)],
        [[one.source, f"{one.lines:,}", one.sha256] for one in accounts],
        "Inputs and their digests",
    )
    said = [f"<p><code>{html(shlex.join(command))}</code></p>"] if command else []
    return [*said, f"<p>{html(', '.join(_versions()))}</p>", table(digests, digests.caption)]


def _versions() -> list[str]:
    """The tool and what it computes with, as far as installed."""
    found = [f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return found


BESIDE = 6
"""Runs that are shown each by itself, side by side; of more the list is enough."""

SIGNS = {"error": "✖", "warning": "▲", "note": "●"}

HEADS = ("law", "what", "see also", "what to do")

SHOWN = 200
"""Findings of one severity that are listed."""


def listed(report: Report) -> list[str]:
    """One table per severity, notes folded; what they did to the figures below."""
    found = []
    for severity in SEVERITIES:
        some = [each for each in report.findings if each.severity == severity]
        if not some:
            continue
        heading = f"{SIGNS[severity]} {count(len(some), severity)}"
        rows = [_row(each) for each in some[:SHOWN]]
        if len(some) > SHOWN:
            rows.append([f"… {len(some) - SHOWN:,} more in the JSON report", *[""] * 4])
        columns = [Column("at", flexible=True), *(Column(name) for name in HEADS)]
        body = table(Table(columns, rows), f"Findings: {count(len(some), severity)}", "stacked")
        if severity == "note":
            found.append(f"<details>\n<summary>{html(heading)}</summary>\n{body}\n</details>")
        else:
            found.append(f"<h3>{html(heading)}</h3>\n{body}")
    said = [html(each) for each in consequences(report)]
    return [*found, items(said)] if said else found


def _row(finding: Finding) -> list[str]:
    also = ", ".join(f"{span.line}" if span.source == finding.spans[0].source
                     else f"{span.source}:{span.line}" for span in finding.spans[1:])  # fmt: skip
    first = finding.spans[0]
    return [
        f"{first.source}:{first.line}", finding.law, finding.explanation,
        f"line {also}" if also else "", finding.meaning,
    ]  # fmt: skip
