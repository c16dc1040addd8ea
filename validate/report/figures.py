"""How far models are from what was printed, and what the printed numbers say of each other."""

from __future__ import annotations

import polars as pl
from assay.validate.assess import Report
from assay.validate.identities.check import equal, units_off
from assay.validate.report.layout import Column, Section, Table, count, percent, quantity

SHOWN = 20


def accuracy(report: Report) -> list[Section]:
    """One section per scope: every model on the same rows, best first; then what was left out."""
    found = [
        Section(f"Accuracy per {scope}", [_errors(part), *_legend(report, part)])
        for (scope,), part in report.scores.accuracy.group_by("scope", maintain_order=True)
    ]
    left = _left_out(report)
    if found and left:
        found[-1].parts.append(left)
    return found


def agreement(report: Report) -> list[Section]:
    """The same against estimates: another model's numbers are no truth."""
    return [
        Section(
            f"Agreement with estimates per {scope}",
            [
                "The numbers below were printed by another model: this is agreement, not accuracy.",
                _errors(part),
                *_legend(report, part),
            ],
        )
        for (scope,), part in report.scores.agreement.group_by("scope", maintain_order=True)
    ]


def _errors(part: pl.DataFrame) -> Table:
    columns = [
        Column("quantity"), Column("model"), Column("of"), Column("n", ">"), Column("bias", ">"),
        Column("MAPE", ">"), Column("95 % interval", ">"), Column("median", ">"),
        Column("p90", ">"), Column("worst", ">"), Column("at", "<", flexible=True),
    ]  # fmt: skip
    rows = []
    for row in part.iter_rows(named=True):
        between = "–"
        if row["ci_low"] is not None:
            between = f"{percent(row['ci_low'])[:-2]} – {percent(row['ci_high'])}"
        rows.append(
            [row["quantity"], row["model"], row["origin"], f"{row['n']:,}",
             percent(row["bias"], signed="+"), percent(row["mape"]), between,
             percent(row["median"]), percent(row["p90"]), percent(row["worst"], signed="+"),
             row["worst_at"]]
        )  # fmt: skip
    return Table(columns, rows)


def _legend(report: Report, part: pl.DataFrame) -> list[str]:
    scope = part["scope"][0]
    about = {model.name: model.about for model in report.models if model.scope == scope}
    used = [name for name in about if name in set(part["model"])]
    return [f"{name}: {about[name]}." for name in used] + [
        "Error is predicted/printed − 1; the interval of MAPE resamples tables, logs or weight "
        "shapes, not rows."
    ]


def _left_out(report: Report) -> str:
    """Joined rows that are not scored, and why."""
    reasons = []
    exchanged = report.repeats.filter(pl.col("exchanged")).height
    again = report.repeats.height - exchanged
    if again:
        reasons.append(f"{count(again, 'row')} that print an earlier one again")
    if exchanged:
        reasons.append(f"{count(exchanged, 'row')} with time and rate exchanged")
    contradicted = report.contradicted["case"].n_unique()
    if contradicted:
        reasons.append(f"{count(contradicted, 'row')} that contradict themselves")
    consumed = report.comparison.pairs.filter(pl.col("quantity").is_in(pl.col("inputs")))
    if consumed.height:
        n = consumed["case"].n_unique()
        reasons.append(f"{count(n, 'row')} whose number went into their own case")
    return "Not scored: " + "; ".join(reasons) + "." if reasons else ""


def arithmetic(report: Report) -> Section | None:
    """Printed numbers that follow from other printed numbers: how many do, and which do not."""
    checks = report.checks
    if checks.is_empty():
        return None
    by = ["quantity", "formula_id", "peak_source"]
    counts = (
        checks.with_columns(equal=equal() & ~pl.col("exchanged"))
        .group_by(by)
        .agg(
            pl.len(), pl.col("equal").sum(), pl.col("solved").sum(), pl.col("tried").max(),
            pl.col("peak_flops").first(),
        )
        .sort(by)
    )  # fmt: skip
    columns = [Column("quantity"), Column("formula"), Column("tried", ">"), Column("peak"),
               Column("n", ">"), Column("equal", ">"), Column("solved", ">")]  # fmt: skip
    rows = [
        [name, formula, f"{tried}",
         f"{quantity(peak, 'flop/s')} ({source})" if peak is not None else "",
         f"{n:,}", f"{same:,}", f"{solved:,}" if solved else ""]
        for name, formula, source, n, same, solved, tried, peak in counts.iter_rows()
    ]  # fmt: skip
    section = Section("Arithmetic of the printed numbers", [Table(columns, rows)])
    n, same = counts["len"].sum(), counts["equal"].sum()
    section.parts.append(
        f"{same:,} of {n:,} equal at the printed precision. These are identities, not scores: the "
        "implied number is made of printed ones. `tried` counts the formulas that were tried for "
        "it; a `solved` row gave its layer count to the formula."
    )
    misses = _misses(checks)
    if misses is not None:
        section.parts.append(misses)
    return section


def _misses(checks: pl.DataFrame) -> Table | None:
    missed = checks.with_columns(off=units_off()).filter(~equal() | pl.col("exchanged"))
    if missed.is_empty():
        return None
    columns = [Column("miss at", "<", flexible=True), Column("quantity"), Column("printed", ">"),
               Column("implied", ">"), Column("printed/implied", ">"), Column("units off", ">"),
               Column("formula", "<", flexible=True)]  # fmt: skip
    rows = [
        [f"{row['source']}:{row['line']}", row["quantity"], quantity(row["printed"], row["unit"]),
         quantity(row["implied"], row["unit"]),
         f"{row['printed'] / row['implied']:.4f}" if row["implied"] else "–",
         "exchanged" if row["exchanged"] else f"{row['off']:,.0f}", row["formula_id"]]
        for row in missed.head(SHOWN).iter_rows(named=True)
    ]  # fmt: skip
    if missed.height > SHOWN:
        rows.append([f"… {missed.height - SHOWN:,} more", *[""] * 6])
    return Table(columns, rows)


def findings(report: Report) -> Section | None:
    """What contradicts itself; notes are counted."""
    loud = [f for f in report.findings if f.severity != "note"]
    quiet = len(report.findings) - len(loud)
    if not report.findings:
        return None
    section = Section("Findings")
    section.parts.extend(
        [
            f"{f.spans[0]}: {f.severity}: {f.law}: {f.explanation}"
            + (f" (see {', '.join(f.spans[1:])})" if f.spans[1:] else "")
            for f in loud[:SHOWN]
        ]
    )
    if len(loud) > SHOWN:
        section.parts.append(f"… and {len(loud) - SHOWN:,} more.")
    if quiet:
        section.parts.append(f"{count(quiet, 'note')}; the JSON report lists them.")
    return section
