"""How far models are from what was printed, and what the printed numbers say of each other."""

from __future__ import annotations

import polars as pl
from assay.validate.arithmetic.identity_check import equal, units_off
from assay.validate.cases.standing import rows as standing_rows
from assay.validate.cases.standing import standing, weighed
from assay.validate.report.layout import (
    Column,
    Items,
    Part,
    Section,
    Table,
    count,
    percent,
    quantity,
)
from assay.validate.score.accuracy import TRUE, mean_size
from assay.validate.score.assess import Report

SHOWN = 20


def accuracy(report: Report) -> list[Section]:
    """One section per scope: every model on the same rows, best first; then what was left out."""
    return [
        Section(
            f"Accuracy per {scope}",
            [
                _errors(part),
                *_by_input(report, str(scope)),
                Items(_legend(report, part) + _left_out(report, str(scope))),
            ],
        )
        for (scope,), part in report.scores.accuracy.group_by("scope", maintain_order=True)
    ]


def agreement(report: Report) -> Section | None:
    """Agreement with estimates, by scope: another model's numbers are no truth.

    What is equal throughout is told in words; a row is for what differs.
    """
    found = report.scores.agreement
    if found.is_empty():
        return None
    whole = pl.col("explained_by_rounding") == 1.0
    parts: list[Part] = [
        "The numbers below were printed by another model: this is agreement, not accuracy. "
        "Equal are those that the printed digits cannot tell from the prediction."
    ]
    same = [
        f"{scope}, by {model}: all {sum(ns):,} equal: {', '.join(said)}."
        for scope, model, ns, said in found.filter(whole)
        .group_by("scope", "model", maintain_order=True)
        .agg("n", said=pl.format("{} ({})", "quantity", "n"))
        .iter_rows()
    ]
    if same:
        parts.append(Items(same))
    if not found.filter(~whole).is_empty():
        parts.append(_agreement(found.filter(~whole)))
    legends = [
        line
        for (_,), part in found.group_by("scope", maintain_order=True)
        for line in _legend(report, part)[:-1]
    ]
    parts.append(Items([*dict.fromkeys(legends), "Error is predicted/printed − 1."]))
    return Section("Agreement with estimates", parts)


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


def _agreement(part: pl.DataFrame) -> Table:
    columns = [
        Column("of"), Column("quantity"), Column("model"), Column("n", ">"), Column("equal", ">"),
        Column("bias", ">"), Column("mean error", ">"), Column("p90", ">"), Column("worst", ">"),
        Column("at", "<", flexible=True),
    ]  # fmt: skip
    rows = [
        [row["scope"], row["quantity"], row["model"], f"{row['n']:,}",
         f"{row['explained_by_rounding'] * row['n']:,.0f}", percent(row["bias"], signed="+"),
         percent(row["mape"]), percent(row["p90"]), percent(row["worst"], signed="+"),
         row["worst_at"]]
        for row in part.iter_rows(named=True)
    ]  # fmt: skip
    return Table(columns, rows)


def _by_input(report: Report, scope: str) -> list[Table]:
    """Mean error of every model on every input, where there are several."""
    held = report.scored.filter((pl.col("scope") == scope) & pl.col("origin").is_in(TRUE))
    if held["source"].n_unique() < 2:
        return []
    keys = ["scope", "quantity", "model", "origin"]
    pairs = pl.concat(
        report.whole(part).select(
            "source", "error", "rows", quantity=pl.lit(key[1]), model=pl.lit(key[2])
        )
        for key, part in held.group_by(keys, maintain_order=True)
    )
    models = pairs["model"].unique(maintain_order=True).to_list()
    wide = (
        pairs.group_by("source", "quantity", "model", maintain_order=True)
        .agg(mean_size(), pl.col("rows").sum().round().cast(pl.Int64))
        .with_columns(n=pl.col("rows").max().over("source", "quantity"))
        .pivot(on="model", index=["source", "quantity", "n"], values="error", maintain_order=True)
        .sort("source", "quantity")
    )
    columns = [Column("MAPE on", "<", flexible=True), Column("quantity"), Column("n", ">"),
               *(Column(model, ">") for model in models)]  # fmt: skip
    rows = [
        [row["source"], row["quantity"], f"{row['n']:,}", *(percent(row[m]) for m in models)]
        for row in wide.iter_rows(named=True)
    ]
    return [Table(columns, rows)]


def _legend(report: Report, part: pl.DataFrame) -> list[str]:
    scope = part["scope"][0]
    used = set(part["model"])
    about: dict[str, list[str]] = {}
    for model in report.models:
        if model.scope == scope and model.name in used:
            about.setdefault(model.name, []).append(model.about)
    return [f"{name}: {'; '.join(said)}." for name, said in about.items()] + [
        "Error is predicted/printed − 1; the interval of MAPE resamples tables, logs or weight "
        "shapes, not rows."
    ]


def _left_out(report: Report, scope: str) -> list[str]:
    """Rows of a scope that were joined with a model's prediction and are not scored, and why."""
    models = [model.name for model in report.models]
    pairs = report.comparison.pairs.filter(
        (pl.col("scope") == scope) & pl.col("model").is_in(models)
    )
    rows = pairs.select("case", "quantity", "inputs").unique(
        ["case", "quantity"], maintain_order=True
    )
    reasons = {
        "stand in a copy of another input": report.repeats.filter(how="copy"),
        "print an earlier row again": report.repeats.filter(how="again"),
        "print one again with time and rate exchanged": report.repeats.filter(how="exchanged"),
        "contradict their own arithmetic": report.contradicted,
        "are fitted: the stack has seen them": report.fitted,
        "gave the number to their own case": rows.filter(
            pl.col("quantity").is_in(pl.col("inputs"))
        ),
    }
    said, spoken = [], rows.clear().select("case")
    for reason, cases in reasons.items():
        on = [name for name in ("case", "quantity") if name in cases.columns]
        here = rows.join(cases, on=on, how="semi").join(spoken, on="case", how="anti")
        here = here.unique("case", maintain_order=True)
        spoken = pl.concat([spoken, here.select("case")])
        if here.height:
            number = weighed(here, report.outcome.reading).select(standing_rows()).item()
            said.append(f"{number:,} {reason}")
    return ["Rows that are not scored: " + "; ".join(said) + "."] if said else []


def arithmetic(report: Report) -> Section | None:
    """Printed numbers that follow from other printed numbers: how many do, and which do not."""
    checks = report.checks
    if checks.is_empty():
        return None
    checks = weighed(_kept(checks), report.outcome.reading)
    by = ["quantity", "formula_id", "peak_source", "kept"]
    apart = (pl.col("printed") / pl.col("implied") - 1.0).median()
    counts = (
        checks.with_columns(equal=equal() & ~pl.col("exchanged"))
        .group_by(by)
        .agg(
            standing_rows().alias("len"), standing_rows(pl.col("equal")).alias("equal"),
            standing_rows(pl.col("solved")).alias("solved"), pl.col("tried").max(),
            pl.col("peak_flops").first(), apart=apart,
        )
        .sort(by, descending=[False, False, False, True])
    )  # fmt: skip
    columns = [
        Column("quantity"), Column("formula", "<", flexible=True), Column("formulas tried", ">"),
        Column("peak"), Column("n", ">"), Column("equal", ">"), Column("layers solved", ">"),
    ]  # fmt: skip
    rows = [
        [name, formula if kept else _none(formula, tried, apart), f"{tried}",
         f"{quantity(peak, 'flop/s')} ({source})" if peak is not None else "",
         f"{n:,}", f"{same:,}", f"{solved:,}" if solved else ""]
        for name, formula, source, kept, n, same, solved, tried, peak, apart in counts.iter_rows()
    ]  # fmt: skip
    section = Section("Arithmetic of the printed numbers", [Table(columns, rows)])
    n, same = counts["len"].sum(), counts["equal"].sum()
    section.parts.append(
        f"{same:,} of {n:,} equal at the printed precision. These are identities, not scores: the "
        "implied number is made of printed ones. Of the formulas tried the one that fits most rows "
        "is named; rows that nobody prints the layers of were solved for them, and prove less."
    )
    misses = _misses(checks)
    if misses is not None:
        section.parts.append(misses)
    return section


def _kept(checks: pl.DataFrame) -> pl.DataFrame:
    """`checks` with `kept`: whether any row of the table has what its formula implies."""
    return checks.with_columns(kept=equal().any().over("source", "group", "quantity"))


def _none(formula: str, tried: int, apart: float) -> str:
    """Text in place of a formula for tables in which none reproduces a single row."""
    where = f"printed {percent(abs(apart))} {'above' if apart > 0 else 'below'} it"
    return (
        f"none of {tried}; nearest {formula}, {where}" if tried > 1 else f"not {formula}; {where}"
    )


def _misses(checks: pl.DataFrame) -> Table | None:
    missed = checks.with_columns(off=units_off()).filter(~equal() | pl.col("exchanged"))
    if missed.is_empty():
        return None
    columns = [
        Column("not equal at", "<", flexible=True), Column("quantity"), Column("printed", ">"),
        Column("implied", ">"), Column("printed/implied", ">"), Column("last digits off", ">"),
        Column("formula", "<", flexible=True),
    ]  # fmt: skip
    rows = [
        [f"{row['source']}:{row['line']}", row["quantity"], quantity(row["printed"], row["unit"]),
         quantity(row["implied"], row["unit"]),
         f"{row['printed'] / row['implied']:.4f}" if row["implied"] else "–",
         "exchanged" if row["exchanged"] else f"{row['off']:,.0f}",
         row["formula_id"] if row["kept"] else f"nearest: {row['formula_id']}"]
        for row in missed.head(SHOWN).iter_rows(named=True)
    ]  # fmt: skip
    if missed.height > SHOWN:
        more = missed.select(standing_rows()).item() - SHOWN
        rows.append([f"… {more:,} more", *[""] * 6])
    return Table(columns, rows)


def findings(report: Report) -> Section | None:
    """Findings, the loud ones in full; notes are counted."""
    loud = [f for f in report.findings if f.severity != "note"]
    quiet = len(report.findings) - len(loud)
    if not report.findings:
        return None
    section = Section("Findings")
    said = [
        f"{f.spans[0]}: {f.severity}: {f.law}: {f.explanation}"
        + (f" (see {', '.join(map(str, f.spans[1:]))})" if f.spans[1:] else "")
        for f in loud[:SHOWN]
    ]
    if len(loud) > SHOWN:
        said.append(f"… and {len(loud) - SHOWN:,} more.")
    if quiet:
        said.append(f"{count(quiet, 'note')}; the JSON report lists them.")
    section.parts.append(Items(said + consequences(report)))
    return section


def consequences(report: Report) -> list[str]:
    """Effect of errors on the scores, and of the options that would change it."""
    errors = [f for f in report.findings if f.severity == "error"]
    rows = {case for f in errors for case in f.cases}
    if not rows:
        return []
    stands = dict(standing(report.outcome.reading).iter_rows())
    rows_of, left = (
        round(sum(stands.get(case, 1.0) for case in cases))
        for cases in (rows, set(report.contradicted["case"]))
    )
    fixed = report.cases.origins.filter(pl.col("value_origin") == "corrected").height
    said = [f"{left:,} of {count(rows_of, 'row')} with an error have numbers left out."]
    implied = sum(len(f.correction) for f in errors)
    if implied and not fixed:
        said.append(
            f"--keep-contradicted scores them as printed, --apply-corrections with the "
            f"{count(implied, 'value')} that the arithmetic implies."
        )
    for name, value, case, law in (
        report.cases.origins.filter(pl.col("value_origin") == "corrected")
        .select("name", "value", "case", "law").head(SHOWN).iter_rows()
    ):  # fmt: skip
        said.append(f"Corrected: {name} = {value} at {case.replace('#', ':')}, by {law}.")
    return said
