"""A user's own predictions, from a CSV or Parquet file.

Columns: quantity, value, unit, and `case` (`<source>#<line>`) or any configuration columns that
single a case out: line, source, m, n, k, hidden, tp, … Optional: scope, subject, model (default:
the name of the file), low, high.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
from assay.model.frames import PREDICTION
from assay.validate.cases.cases import Cases

REQUIRED = ("quantity", "value", "unit")

OWN = (*REQUIRED, "scope", "subject", "model", "low", "high", "basis")


def load(path: Path, cases: Cases) -> pl.DataFrame:
    """The predictions of a file as a frame of `PREDICTION`.

    Raises Unjoinable for a file that is none, lacks columns, or has a row that fits no case or
    more than one.
    """
    return fitted(_read(path), cases, str(path), path.stem)


def fitted(table: pl.DataFrame, cases: Cases, path: str, model: str) -> pl.DataFrame:
    """A frame of predictions joined to cases, as `PREDICTION`.

    `path` names it in messages, `model` where it does not name its own. Raises Unjoinable.
    """
    lacking = [name for name in REQUIRED if name not in table.columns]
    if lacking:
        raise Unjoinable(f"{path}: the predictions lack the column(s) {', '.join(lacking)}")
    if "model" not in table.columns:
        table = table.with_columns(model=pl.lit(model))
    if "case" not in table.columns:
        table = _with_cases(path, table, cases)
    elif "subject" not in table.columns or "scope" not in table.columns:
        table = _with_subjects(table, cases)
    _finite(path, table)
    none = pl.lit(None, dtype=pl.Float64)
    bounds = {name: none for name in ("low", "high") if name not in table.columns}
    return table.with_columns(
        **bounds,
        basis=pl.lit(path),
        inputs=pl.lit([], dtype=pl.List(pl.String)),
    ).select(pl.col(name).cast(kind) for name, kind in PREDICTION.items())


def _finite(path: str, table: pl.DataFrame) -> None:
    try:
        value = table["value"].cast(pl.Float64)
    except pl.exceptions.PolarsError as fault:
        raise Unjoinable(f"{path}: {str(fault).splitlines()[0]}") from None
    bad = (~value.is_finite().fill_null(value=False)).arg_true()
    if len(bad):
        raise Unjoinable(f"{path}:{bad[0] + 2}: value is no finite number")


def _read(path: Path) -> pl.DataFrame:
    try:
        if path.suffix == ".parquet":
            return pl.read_parquet(path)
        return pl.read_csv(path)
    except (OSError, pl.exceptions.PolarsError) as fault:
        raise Unjoinable(f"{path}: cannot be read as predictions: {fault}") from None


def _places(cases: Cases) -> pl.DataFrame:
    """Every case with all columns by which a row may single it out."""
    return pl.concat(
        [
            cases.configuration.with_columns(scope=pl.lit("configuration"), subject=pl.lit("")),
            cases.gemm.with_columns(scope=pl.lit("gemm")),
        ],
        how="diagonal",
    )


def _with_subjects(table: pl.DataFrame, cases: Cases) -> pl.DataFrame:
    known = _places(cases).select("case", "scope", "subject")
    return table.drop("scope", "subject", strict=False).join(
        known, on="case", how="inner", maintain_order="left"
    )


def _with_cases(path: str, table: pl.DataFrame, cases: Cases) -> pl.DataFrame:
    """`table` with the one case each row fits, by the columns both have."""
    places = _places(cases)
    by = [name for name in table.columns if name in places.columns and name not in OWN]
    if not by:
        raise Unjoinable(
            f"{path}: has neither a column `case` nor one that singles a case out; there are "
            f"{', '.join(name for name in places.columns if name not in OWN)}"
        )
    if "source" in by:
        short = pl.col("source").str.split("/").list.last()
        places, table = places.with_columns(short), table.with_columns(short)
    kinds = {name: places.schema[name] for name in by}
    numbered = table.with_row_index("row").with_columns(
        pl.col(name).cast(kind) for name, kind in kinds.items()
    )
    keep = [name for name in ("scope", "subject") if name not in table.columns]
    joined = numbered.join(
        places.select("case", *keep, *by), on=by, how="left", maintain_order="left"
    )
    count = joined.group_by("row", maintain_order=True).agg(pl.col("case").count().alias("n"))
    for row, n in count.filter(pl.col("n") != 1).head(1).iter_rows():
        said = ", ".join(f"{name}={numbered[name][row]}" for name in by)
        fits = "no case" if n == 0 else f"{n} cases"
        raise Unjoinable(f"{path}:{row + 2}: {said} fits {fits}; it must fit one")
    return joined.drop("row")


class Unjoinable(ValueError):
    """Predictions that cannot be joined: another unit, one number twice, a case that is none."""
