"""Results of the functions of `assay.validate.api`, with frames, which notebooks show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from assay.validate.laws import finding
from assay.validate.report import json_document as documents
from assay.validate.report import markdown as pages
from assay.validate.report import safe, terminal
from assay.validate.report.html import page
from assay.validate.report.sections import sections
from assay.validate.runs import record_frame
from assay.validate.runs.run_record import records
from assay.validate.score import assess


@dataclass(frozen=True)
class Read:
    """Everything that was read: frames by name, and the account of every input.

    `frames` holds a validated frame per kind of record, `provenance` (where values come from that
    were not simply printed in their row), `quarantine` (what was refused, and why) and `sources`
    (lines = claimed + refused + blank + not ours). docs/formats says what the columns mean.
    """

    understood: assess.Understood
    frames: Mapping[str, pl.DataFrame]

    def __getitem__(self, frame: str) -> pl.DataFrame:
        """A frame by its name; a KeyError lists those there are."""
        if frame not in self.frames:
            raise KeyError(f"there is no {frame!r}; there are {', '.join(self.frames)}")
        return self.frames[frame]

    def __iter__(self) -> Iterator[str]:
        return iter(self.frames)

    @property
    def sources(self) -> pl.DataFrame:
        """One row per input: its digest, and what became of its lines."""
        return self.frames["sources"]

    @property
    def quarantine(self) -> pl.DataFrame:
        """One row per refused line or remark: place, reason, text, raw bytes."""
        return self.frames["quarantine"]

    @property
    def observations(self) -> pl.DataFrame:
        """Every printed quantity, one a row, with the interval that its digits leave open."""
        return self.understood.observations

    @property
    def configurations(self) -> pl.DataFrame:
        """One row per run or table row, with all that is known of its configuration."""
        return self.understood.cases.configuration

    @property
    def findings(self) -> pl.DataFrame:
        """Numbers that contradict their own document; docs/findings.md says what the laws are."""
        return finding.frame(self.understood.findings)

    def __repr__(self) -> str:
        return f"Read({_rows(self.frames)})"

    def _repr_html_(self) -> str:
        return f"<p>{safe.html(_rows(self.frames))}</p>{_table(self.sources)}"


@dataclass(frozen=True)
class Compared:
    """Printed numbers beside predicted ones, and those left over on either side."""

    result: assess.Report

    @property
    def accuracy(self) -> pl.DataFrame:
        """Error of every model against measured and published numbers; fractions, not percent."""
        return self.result.scores.accuracy

    @property
    def agreement(self) -> pl.DataFrame:
        """Difference of every model from numbers that are themselves estimates; fractions."""
        return self.result.scores.agreement

    @property
    def pairs(self) -> pl.DataFrame:
        """One row per printed number and model: observed `value`, `predicted`, `error`."""
        return self.result.comparison.pairs

    @property
    def unpredicted(self) -> pl.DataFrame:
        """Printed numbers that no model predicts."""
        return self.result.comparison.unpredicted

    @property
    def unobserved(self) -> pl.DataFrame:
        """Predictions of numbers that are not printed."""
        return self.result.comparison.unobserved

    @property
    def runs(self) -> pl.DataFrame:
        """One row per run: speed, memory, loss, how it ended, prediction and parts, in SI units."""
        return record_frame.frame(records(self.result))

    @property
    def findings(self) -> pl.DataFrame:
        """Numbers that contradict their own document."""
        return finding.frame(self.result.findings)

    def document(self) -> dict[str, list[dict[str, Any]]]:
        """The report as values that `json` can write; docs/report.schema.json describes it."""
        return documents.document(self.result)

    def markdown(self) -> str:
        """The report as Markdown."""
        return pages.render(sections(self.result))

    def html(self) -> str:
        """The report as one page; plots need the extra `assay[plots]`."""
        return page.render(self.result)

    def save(self, path: str | Path) -> None:
        """Write the report to FILE.html, .md or .json, or its runs to FILE.parquet.

        Raises ValueError for another name.
        """
        target = Path(path)
        texts = {".json": lambda: documents.dumps(self.result), ".md": self.markdown,
                 ".html": self.html}  # fmt: skip
        if target.suffix == ".parquet":
            target.write_bytes(record_frame.parquet(records(self.result)))
        elif target.suffix in texts:
            target.write_text(texts[target.suffix](), encoding="utf-8")
        else:
            raise ValueError(f"{path}: a report is written as {', '.join([*texts, '.parquet'])}")

    def __str__(self) -> str:
        return terminal.render(sections(self.result), width=100, colour=False)

    def __repr__(self) -> str:
        return f"Compared({self.pairs.height} pairs, {self.accuracy.height} figures)"

    def _repr_html_(self) -> str:
        return f"<p>{safe.html(repr(self))}</p>{_table(self.accuracy)}{_table(self.agreement)}"


def _rows(frames: Mapping[str, pl.DataFrame]) -> str:
    return ", ".join(f"{name}: {frame.height:,}" for name, frame in frames.items())


def _table(frame: pl.DataFrame) -> str:
    """A frame as notebooks show it; polars escapes what is in it."""
    return "" if frame.is_empty() else frame._repr_html_()
