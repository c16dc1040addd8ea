"""Plots of scored pairs: predicted against printed, and the error by configuration and by size."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import polars as pl
from assay.validate.report.html import charts
from assay.validate.report.html.plots import (
    MOST_ROWS,
    Plot,
    counted,
    first_rows,
    judged,
    models,
    thinned,
)
from assay.validate.report.layout import Column, Table, percent, quantity, scale
from assay.validate.score.accuracy import TRUE
from assay.validate.score.assess import Report

LABELS = 24
"""Lines of the plot of configurations."""


def scored(report: Report) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """Scope, quantity and pairs of everything that is scored against truth and has a size."""
    order = {name: at for at, name in enumerate(models(report))}
    true = report.scored.filter(
        pl.col("origin").is_in(TRUE), pl.col("value") > 0, pl.col("predicted") > 0
    )
    ranked = true.with_columns(
        rank=pl.col("model").replace_strict(order, return_dtype=pl.Int64)
    ).sort("rank", "source", "line", maintain_order=True)
    for scope, name in ranked.select("scope", "quantity").unique().sort(pl.all()).iter_rows():
        yield scope, name, ranked.filter(pl.col("scope") == scope, pl.col("quantity") == name)


def against(report: Report) -> list[Plot]:
    """One plot per scope and quantity: every prediction over the number that was printed."""
    order = models(report)
    return [_against(scope, name, pairs, order) for scope, name, pairs in scored(report)]


def _against(scope: str, name: str, pairs: pl.DataFrame, order: list[str]) -> Plot:
    unit = pairs["unit"][0]
    factor, shown = scale(_middle(pairs["value"]), unit)
    kept, left = thinned(pairs, "value")
    drawn = kept.select(
        printed=pl.col("value") / factor,
        predicted=pl.col("predicted") / factor,
        series="model",
        said=_said(kept),
    )
    return Plot(
        title=f"{scope} {name}: predicted against printed",
        about=left,
        table=_pairs_table(pairs, f"{scope} {name}: printed and predicted"),
        chart=partial(charts.against, charts.shown(drawn), order, "" if shown == "1" else shown),
    )


def _said(pairs: pl.DataFrame) -> pl.Series:
    """Tooltips: model, what it says, what is printed, where."""
    columns = ("model", "predicted", "value", "unit", "error", "source", "line", "subject")
    return pl.Series(
        [
            f"{model}: {quantity(predicted, unit)}, printed {quantity(value, unit)} "
            f"({percent(error, signed='+')}) at {source}:{line}{f' {subject}' if subject else ''}"
            for model, predicted, value, unit, error, source, line, subject in pairs.select(
                columns
            ).iter_rows()
        ],
        dtype=pl.String,
    )


def _pairs_table(pairs: pl.DataFrame, caption: str) -> Table:
    """One row per printed number, what each model says beside it, in the order of the inputs."""
    names = pairs["model"].unique(maintain_order=True).to_list()
    wide = (
        pairs.select("source", "line", "subject", "value", "unit", "model", "predicted", "case")
        .pivot(
            on="model", index=["source", "line", "case", "subject", "value", "unit"],
            values="predicted", aggregate_function="first", maintain_order=True,
        )
        .sort("source", "line", "subject", maintain_order=True)
    )  # fmt: skip
    rows = []
    for row in wide.head(MOST_ROWS).iter_rows(named=True):
        where = f"{row['source']}:{row['line']}" + (f" {row['subject']}" if row["subject"] else "")
        cells = [
            "–" if row[name] is None
            else f"{quantity(row[name], row['unit'])} "
            f"({percent(row[name] / row['value'] - 1, signed='+')})"
            for name in names
        ]  # fmt: skip
        rows.append([where, quantity(row["value"], row["unit"]), *cells])
    columns = [Column("at", flexible=True), Column("printed", ">"),
               *(Column(name, ">") for name in names)]  # fmt: skip
    return Table(columns, counted(rows, wide.height), caption)


def by_configuration(report: Report) -> list[Plot]:
    """Mean error and its range per model and machine, one plot per quantity."""
    named = labels(report)
    found = []
    for scope, name, every in scored(report):
        if scope != "configuration":
            continue
        pairs = judged(report, every).join(named, on="case", how="left", maintain_order="left")
        known = pairs.with_columns(pl.col("label").fill_null("model unknown"))
        found.append(_by_configuration(name, known, models(report)))
    return found


def _by_configuration(name: str, pairs: pl.DataFrame, order: list[str]) -> Plot:
    every = (
        pairs.group_by("label", "model", maintain_order=True)
        .agg(
            pl.len().alias("n"),
            error=pl.col("error").mean(),
            least=pl.col("error").min(),
            most=pl.col("error").max(),
        )
        .with_columns(size=pl.col("error").abs().max().over("label"))
        .sort("size", "label", descending=[True, False], maintain_order=True)
    )
    names = every["label"].unique(maintain_order=True)
    frame = every.filter(pl.col("label").is_in(names.head(LABELS).implode())).with_columns(
        series="model",
        said=pl.format(
            "{}, {}: {} on {} rows, {} to {}", "label", "model", _percents("error"), "n",
            _percents("least"), _percents("most"),
        ),
    )  # fmt: skip
    rows = [
        [label, model, f"{n:,}", percent(error, signed="+"), percent(least, signed="+"),
         percent(most, signed="+")]
        for label, model, n, error, least, most in every.select(
            "label", "model", "n", "error", "least", "most").iter_rows()
    ]  # fmt: skip
    columns = [Column("configuration"), Column("model"), Column("rows", ">"),
               Column("mean error", ">"), Column("least", ">"), Column("most", ">")]  # fmt: skip
    left = "" if len(names) <= LABELS else f" The worst {LABELS} of {len(names):,} are drawn."
    title = f"Error of {name} by configuration"
    return Plot(
        title=title,
        about=left,
        table=Table(columns, first_rows(rows), title),
        chart=partial(charts.by_label, charts.shown(frame), order),
    )


def _percents(name: str) -> pl.Expr:
    return pl.col(name).map_elements(lambda x: percent(x, signed="+"), return_dtype=pl.String)


def labels(report: Report) -> pl.DataFrame:
    """case → what ran on what: the name or the size of the model, and the machine."""
    columns = ("case", "model", "model_size", "hidden", "layers", "machine")
    rows = [
        (case, " · ".join([str(name or _size(size, hidden, layers)), machine or "machine unknown"]))
        for case, name, size, hidden, layers, machine in report.cases.configuration.select(
            columns
        ).iter_rows()
    ]
    return pl.DataFrame(rows, schema={"case": pl.String, "label": pl.String}, orient="row")


def _size(size: float | None, hidden: int | None, layers: int | None) -> str:
    if size is not None:
        return f"{size / 1e9:.3g} B"
    return f"{layers} layers of {hidden}" if layers and hidden else "model unknown"


def by_size(report: Report) -> list[Plot]:
    """Error over how large the thing is: parameters, flop of a product, else the printed number."""
    found = []
    for scope, name, every in scored(report):
        pairs = judged(report, every)
        sizes, title = _sizes(report, scope, name, pairs)
        frame = pairs.with_columns(size=sizes, series="model").filter(pl.col("size") > 0)
        if frame["size"].n_unique() < 2:
            continue
        kept, left = thinned(frame, "size")
        drawn = kept.with_columns(said=_said(kept)).select("size", "error", "series", "said")
        caption = f"Error of {scope} {name} by size"
        found.append(
            Plot(
                title=caption,
                about=left,
                table=_size_table(frame, title, caption),
                chart=partial(charts.by_size, charts.shown(drawn), models(report), title),
            )
        )
    return found


def _sizes(report: Report, scope: str, name: str, pairs: pl.DataFrame) -> tuple[pl.Series, str]:
    """The size of each pair, and what it is and its unit, as the title of an axis."""
    if scope == "configuration":
        own = report.cases.configuration.select(
            "case",
            size=pl.coalesce(
                "parameters", "model_size", 12.0 * pl.col("layers") * pl.col("hidden").pow(2)
            )
            / 1e9,
        )
        title = "billion parameters (printed, or 12 · layers · width²)"
    elif scope == "gemm":
        own = report.cases.gemm.select(
            "case", size=2e-9 * pl.col("b").fill_null(1) * pl.col("m") * pl.col("n") * pl.col("k")
        )
        title = "GFLOP of the product"
    else:
        factor, unit = scale(_middle(pairs["value"]), pairs["unit"][0])
        return pairs["value"] / factor, f"printed {name}, {unit}"
    own = own.unique("case", maintain_order=True)
    return pairs.join(own, on="case", how="left", maintain_order="left")["size"], title


def _size_table(frame: pl.DataFrame, title: str, caption: str) -> Table:
    """Sizes in powers of ten, and the errors in each."""
    binned = (
        frame.with_columns(power=pl.col("size").log10().floor().cast(pl.Int64))
        .group_by("power", "model")
        .agg(
            pl.len().alias("n"),
            bias=pl.col("error").mean(),
            mape=pl.col("error").abs().mean(),
            worst=pl.col("error").get(pl.col("error").abs().arg_max()),
        )
        .sort("power", "model")
    )
    rows = [
        [f"{10.0**power:g} – {10.0 ** (power + 1):g}", model, f"{n:,}",
         percent(bias, signed="+"), percent(mape), percent(worst, signed="+")]
        for power, model, n, bias, mape, worst in binned.iter_rows()
    ]  # fmt: skip
    columns = [Column(title), Column("model"), Column("rows", ">"), Column("bias", ">"),
               Column("MAPE", ">"), Column("worst", ">")]  # fmt: skip
    return Table(columns, rows, caption)


def _middle(values: pl.Series) -> float:
    found = values.median()
    return float(found) if isinstance(found, float | int) else 0.0
