"""What did not meet: printed numbers that no model predicted, and predictions nobody printed."""

from __future__ import annotations

import polars as pl
from assay.validate import memory_forecast
from assay.validate.assess import Report
from assay.validate.models import SPEED
from assay.validate.report.layout import Column, Section, Table, place
from assay.validate.required import hints

SHOWN = 30
HINT = (
    "What a document leaves out can be stated: the machine with --machine NAME, everything else in "
    "a file NAME.toml beside NAME.md, as a table [configuration]."
)


def unpredicted(report: Report) -> Section | None:
    """Printed numbers without a prediction, by reason, each with an example."""
    rest = report.comparison.unpredicted
    if rest.is_empty():
        return None
    counts = (
        rest.with_columns(reason=_reasons(report, rest))
        .group_by("scope", "quantity", "reason")
        .agg(pl.len(), pl.col("source").first(), pl.col("line").first())
        .sort("scope", "quantity", "reason")
    )
    rows = [
        [scope, quantity, f"{n:,}", reason, f"{source}:{line}"]
        for scope, quantity, reason, n, source, line in counts.head(SHOWN).iter_rows()
    ]
    columns = [Column("scope"), Column("quantity"), Column("n", ">"), Column("why"),
               Column("first at", "<", flexible=True)]  # fmt: skip
    section = Section("Printed, not predicted", [Table(columns, rows)], detail=True)
    for text, why in sorted(report.cases.unresolved.items()):
        section.parts.append(f"Unknown device or number format {text}: {why} (--machine).")
    needs = counts["reason"].str.extract("^needs (.*)$").drop_nulls().str.split(", ").explode()
    if len(needs):
        section.parts.extend(f"Nowhere printed: {each}." for each in hints(needs))
        section.parts.append(HINT)
    return section


def _reasons(report: Report, rest: pl.DataFrame) -> pl.Series:
    """Why each number has no prediction: no model at all, or what its case lacks."""
    lacking = _lacking(report, rest.select("case").unique())
    of_ranks = memory_forecast.lacking(report.cases)
    known = {(model.scope, q) for model in report.models for q in model.quantities}
    reasons = []
    said = _said_otherwise(report)
    for case, scope, quantity in rest.select("case", "scope", "quantity").iter_rows():
        if quantity in SPEED and case in said:
            reasons.append("says what another number of the row says, which is scored")
        elif (scope, quantity) not in known:
            reasons.append("no model predicts it")
        elif quantity in memory_forecast.QUANTITIES and case in of_ranks:
            reasons.append(of_ranks[case])
        else:
            reasons.append(lacking.get((case, quantity), "the models have no answer for this case"))
    return pl.Series(reasons, dtype=pl.String)


def _said_otherwise(report: Report) -> set[str]:
    """Cases whose speed is paired with a prediction under one of its names."""
    models = [model.name for model in report.models]
    paired = report.comparison.pairs.filter(
        pl.col("quantity").is_in(SPEED) & pl.col("model").is_in(models)
    )
    return set(paired["case"])


def _lacking(report: Report, cases: pl.DataFrame) -> dict[tuple[str, str], str]:
    """Case and quantity → what the least demanding model of that quantity still needs."""
    found: dict[tuple[str, str], tuple[int, str]] = {}
    frames = {"configuration": report.cases.configuration, "gemm": report.cases.gemm}
    for model in report.models:
        frame = frames.get(model.scope)
        if frame is None or frame.is_empty():
            continue
        frame = frame.join(cases, on="case", how="semi", maintain_order="left")
        needs = [name for name in model.needs if name in frame.columns]
        if not needs:
            continue  # it answers for rows of its own
        missing = pl.concat_list(
            pl.when(pl.col(name).is_null()).then(pl.lit(name)) for name in needs
        ).list.drop_nulls()
        for case, names in frame.select("case", missing.alias("names")).iter_rows():
            if not names:
                continue
            for quantity in model.quantities:
                worst = (len(names), f"needs {', '.join(names)}")
                found[case, quantity] = min(found.get((case, quantity), worst), worst)
    return {key: reason for key, (_, reason) in found.items()}


def unobserved(report: Report) -> Section | None:
    """Predictions of numbers that are not printed, counted by model."""
    rest = report.comparison.unobserved
    if rest.is_empty():
        return None
    counts = (
        rest.group_by("scope", "quantity", "model")
        .agg(pl.len(), pl.col("case").first())
        .sort("scope", "quantity", "model")
    )
    rows = [
        [scope, quantity, model, f"{n:,}", place(case)]
        for scope, quantity, model, n, case in counts.head(SHOWN).iter_rows()
    ]
    columns = [Column("scope"), Column("quantity"), Column("model"), Column("n", ">"),
               Column("first case", "<", flexible=True)]  # fmt: skip
    return Section("Predicted, not printed", [Table(columns, rows)], detail=True)
