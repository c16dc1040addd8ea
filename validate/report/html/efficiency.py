"""The plot of matrix products: what share of the machine's peak each shape reaches."""

from __future__ import annotations

from functools import partial

import polars as pl
from assay.model.machines.datasheets import machines
from assay.validate.report.html import charts
from assay.validate.report.html.plots import Plot, first_rows, thinned
from assay.validate.report.layout import Column, Table, percent, quantity
from assay.validate.score.accuracy import TRUE
from assay.validate.score.assess import Report


def efficiency(report: Report) -> list[Plot]:
    """One plot of all measured products on known machines; none without such."""
    found = _reached(report)
    if found.is_empty():
        return []
    kept, left = thinned(found, "flop")
    said = pl.struct(kept.columns).map_elements(_said, return_dtype=pl.String)
    drawn = kept.with_columns(said=said).select("flop", "share", "series", "said")
    return [
        Plot(
            title="GEMM efficiency by shape",
            about="2·b·m·n·k over the printed time, as a share of the dense peak of the machine in "
            f"that number format.{left}",
            table=_table(found),
            chart=partial(charts.efficiency, charts.shown(drawn)),
        )
    ]


def _reached(report: Report) -> pl.DataFrame:
    """Products with their measured time and the peak of their machine."""
    peaks = [
        (name, dtype, peak) for name, one in machines().items() for dtype, peak in one.peaks.items()
    ]
    table = pl.DataFrame(
        peaks, schema={"machine": pl.String, "dtype": pl.String, "peak": pl.Float64}, orient="row"
    )
    timed = report.observations.filter(
        pl.col("scope") == "gemm", pl.col("quantity") == "time", pl.col("value") > 0,
        pl.col("origin").is_in(TRUE),
    ).select("case", "value", "source", "line")  # fmt: skip
    return (
        timed.join(report.cases.gemm.drop("source", "line"), on="case", maintain_order="left")
        .join(table, on=["machine", "dtype"], maintain_order="left")
        .drop_nulls(["m", "n", "k", "peak"])
        .with_columns(b=pl.col("b").fill_null(1))
        .with_columns(
            flop=2e-9 * pl.col("b") * pl.col("m") * pl.col("n") * pl.col("k"),
            series=pl.format("{} {}", "machine", "dtype"),
        )
        .with_columns(share=pl.col("flop") * 1e9 / pl.col("value") / pl.col("peak"))
    )


def _said(row: dict[str, object]) -> str:
    batch = f"{row['b']} × " if row["b"] != 1 else ""
    seconds, share = float(str(row["value"])), float(str(row["share"]))
    return (
        f"{batch}{row['m']} × {row['n']} × {row['k']} on {row['series']}: "
        f"{percent(share)} of the peak in {quantity(seconds, 's')} at {row['source']}:{row['line']}"
    )


def _table(found: pl.DataFrame) -> Table:
    """Weights (n, k), the least efficient first: how the share moves with the rows m."""
    weights = (
        found.group_by("series", "n", "k")
        .agg(
            pl.len().alias("rows"),
            m=pl.format("{} – {}", pl.col("m").min(), pl.col("m").max()),
            least=pl.col("share").min(),
            middle=pl.col("share").median(),
            most=pl.col("share").max(),
        )
        .sort("middle", "series", "n", "k")
    )
    rows = [
        [f"{n} × {k}", series, f"{count:,}", m, percent(least), percent(middle), percent(most)]
        for series, n, k, count, m, least, middle, most in weights.iter_rows()
    ]
    columns = [
        Column("n × k"), Column("machine"), Column("rows", ">"), Column("m", ">"),
        Column("least", ">"), Column("median", ">"), Column("most", ">"),
    ]  # fmt: skip
    return Table(columns, first_rows(rows), "Share of the peak by weight shape")
