"""Rows that say what ran and how fast, as laws want them: one wide frame of printed intervals.

In: a reading and its cases. Out: one row per table row or training line: configuration, printed
quantities each with `_low`, `_high` and `_place` (one unit in the last place), and what
else tells two rows apart (`date`, `remark`, `others`).

An interval here holds every value that could have been printed so, rounded *or* cut: which of the
two a document did is rarely said. Zeros that end all numbers of a column are no digits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import polars as pl
from assay.ingest.schema.reading import Reading
from assay.validate.arithmetic.printed_speed import SAYS
from assay.validate.arithmetic.rated_rows import COUNTS
from assay.validate.cases.cases import Cases
from assay.validate.cases.observe import case_of

MEASURED: tuple[str, ...] = (*SAYS, *COUNTS, "memory")

UNITS: Mapping[str, str] = {
    "step_time": "s", "samples_per_s": "sample/s", "tokens_per_s": "token/s",
    "tokens_per_gpu_per_s": "token/s", "model_flops_rate": "flop/s", "memory": "B",
    "mfu": "1", "hfu": "1", "mfu_weights": "1", "hfu_weights": "1",
}  # fmt: skip

LABELS = {
    "step_time": "step time", "samples_per_s": "samples/s", "tokens_per_s": "tokens/s",
    "tokens_per_gpu_per_s": "tokens/s per GPU", "model_flops_rate": "TFLOPs", "memory": "memory",
    "mfu": "MFU", "hfu": "HFU", "mfu_weights": "MFU*", "hfu_weights": "HFU*",
    "global_batch": "GBS", "global_batch_tokens": "GBS in tokens", "micro_batch": "MBS",
    "accumulation": "accumulation", "dp": "DP", "tp": "TP", "pp": "PP", "cp": "CP", "gpus": "GPUs",
    "nodes": "nodes", "hidden": "hidden size", "layers": "layers", "seq_len": "sequence length",
    "parameters": "parameters", "model_size": "size", "heads": "heads", "vocab": "vocabulary",
}  # fmt: skip
"""Name of a column in a sentence."""

ROW = ["source", "line", "column"]
"""Columns that tell two rows of a frame apart."""

DECADES = range(1, 13)

_DATE = re.compile(r"^\W*[0-9]{1,4}[-/.][0-9]{1,2}(?:[-/.][0-9]{1,4})?\W*")


def label(name: str) -> str:
    """The name of a column in a sentence."""
    return LABELS.get(name, name.replace("_", " "))


def runs(reading: Reading, cases: Cases) -> pl.DataFrame:
    """The run frame of a reading; see the module."""
    wide = cases.configuration
    parts = [
        _measured(frame, reading, name)
        for name, frame in reading.frames.items()
        if name in set(wide["frame"])
    ]
    if not parts:
        return pl.DataFrame()
    printed = pl.concat(parts, how="diagonal_relaxed").drop("source", "line")
    # by their cases: of a line of many records, each is one
    bare = wide.drop(set(wide.columns) & set(printed.columns) - {"case", "frame"})
    joined = bare.join(printed, on=["case", "frame"], how="left", maintain_order="left")
    joined = joined.with_columns(
        seq_len=pl.coalesce("actual_seq_len", "seq_len").cast(pl.Int64),
        printed=_printed_in_row(cases, joined),
    ).join(_vocabulary(reading), on=ROW, how="left", maintain_order="left")
    return _of_pairs(_coarse(joined)).sort("source", "line", maintain_order=True)


def _measured(frame: pl.DataFrame, reading: Reading, name: str) -> pl.DataFrame:
    """Numbers that one frame prints of each run."""
    here = [column for column in MEASURED if column in frame.columns]
    lacking = [column for column in MEASURED if column not in frame.columns]
    text = {
        column: pl.col(column) if column in frame.columns else pl.lit(None, dtype=pl.String)
        for column in ("date", "notes", "dtype")
    }
    actual = "actual_seq_len" in frame.columns
    mean, rates = "step_time_average", [f"{c}_average" for c in here if c != "step_time"]
    paired = mean in frame.columns
    others = pl.col("other").list.eval(
        pl.format("{}={}", pl.element().struct.field("name"), pl.element().struct.field("text"))
    )
    wide = frame.select(
        "source", "line", "column", case=case_of(), frame=pl.lit(name),
        **{column: pl.col(column).cast(pl.Float64) for column in here},
        **{f"{column}_place": pl.col(f"{column}_ulp").cast(pl.Float64) for column in here},
        **{column: pl.lit(None, dtype=pl.Float64) for column in lacking},
        **{f"{column}_place": pl.lit(None, dtype=pl.Float64) for column in lacking},
        date=text["date"],
        dtype_said=text["dtype"].str.strip_chars().str.to_lowercase(),  # FP8-CS is not FP8-MX
        remark=text["notes"].map_elements(_without_date, return_dtype=pl.String),
        others=others,
        actual_seq_len=pl.col("actual_seq_len") if actual else pl.lit(None, dtype=pl.Int64),
        mean_time=pl.col(mean) if paired else pl.lit(None, dtype=pl.Float64),
        mean_time_place=pl.col(f"{mean}_ulp") if paired else pl.lit(None, dtype=pl.Float64),
        pairs=pl.any_horizontal(
            pl.col(c).is_not_null() for c in rates if c in frame.columns
        ) if any(c in frame.columns for c in rates) else pl.lit(False),
    )  # fmt: skip
    rough = reading.provenance.filter(
        (pl.col("frame") == name) & pl.col("low").is_not_null() & pl.col("field").is_in(here)
    )
    if rough.is_empty():
        return wide
    # rounded or cut, [v − u/2, v + u): one unit is two thirds of it
    place = (pl.col("high") - pl.col("low")) / 1.5
    spread = rough.select(*ROW, "field", place=place)
    spread = spread.pivot(on="field", index=ROW, values="place", aggregate_function="first")
    wide = wide.join(spread, on=ROW, how="left", maintain_order="left", suffix="_rough")
    names = [column for column in here if f"{column}_rough" in wide.columns]
    return wide.with_columns(
        pl.coalesce(f"{column}_rough", f"{column}_place").alias(f"{column}_place")
        for column in names
    ).drop(f"{column}_rough" for column in names)


def _without_date(notes: str) -> str:
    return _DATE.sub("", notes).strip()


def _printed_in_row(cases: Cases, joined: pl.DataFrame) -> pl.Series:
    """Names of the configuration values that a row prints itself."""
    held = (
        cases.origins.filter(pl.col("value_origin") == "printed")
        .group_by("case", maintain_order=True)
        .agg(pl.col("name"))
    )
    found = joined.select("case").join(held, on="case", how="left", maintain_order="left")["name"]
    return found.fill_null(pl.Series([[]], dtype=pl.List(pl.String)).first())


def _vocabulary(reading: Reading) -> pl.DataFrame:
    """source, line, vocab_low, vocab_high where the vocabulary is a label such as 250k."""
    said = reading.provenance.filter((pl.col("field") == "vocab") & pl.col("low").is_not_null())
    return said.select(*ROW, vocab_low="low", vocab_high="high").unique(
        ROW, keep="first", maintain_order=True
    )


def _coarse(frame: pl.DataFrame) -> pl.DataFrame:
    """The intervals, with places widened where zeros at the end of numbers may be no digits.

    A column of three significant digits prints 9,310 and 12,900: no number of a column is taken to
    have more digits than the longest but one has without the zeros at its end. (The longest itself
    may be the wrong cell.) The place that is left in the frame is the one of the column: what a
    cell is off by is counted in it, also where that cell has lost a digit.
    """
    by = ["source", "group"]
    held = [name for name in MEASURED if frame[name].count()]
    for name in held:
        count = (pl.col(name) / pl.col(f"{name}_place")).round()
        zeros = pl.lit(0)
        for decade in DECADES:
            zeros = zeros + ((count % 10**decade) == 0).cast(pl.Int32)
        zeros = pl.when(count.is_not_null()).then(zeros)
        digits = (count.log10() + 1e-9).floor().cast(pl.Int32, strict=False) + 1
        frame = frame.with_columns(_zeros=zeros, _digits=digits)
        common = _but_one(pl.col("_zeros"), by, descending=False)
        longest = _but_one(pl.col("_digits") - pl.col("_zeros"), by, descending=True)
        idle = pl.max_horizontal(common, pl.col("_digits") - longest, pl.lit(0))
        idle = pl.min_horizontal(idle, "_zeros").fill_null(0)
        wide = pl.col(f"{name}_place") * pl.lit(10.0).pow(idle)
        frame = frame.with_columns(wide.alias(f"{name}_place"))
    return frame.drop("_zeros", "_digits", strict=False).with_columns(
        [(pl.col(n) - pl.col(f"{n}_place") / 2).alias(f"{n}_low") for n in MEASURED]
        + [(pl.col(n) + pl.col(f"{n}_place")).alias(f"{n}_high") for n in MEASURED]
        + [_of_column(n, by).alias(f"{n}_place") for n in held]
    )


def _of_pairs(frame: pl.DataFrame) -> pl.DataFrame:
    """The intervals of times widened to the mean beside them, where no rate is such a pair.

    Of `1460.8/1450.4` ms, the last step and the mean since the start, a rate without a mean of its
    own may be of either: nobody says.
    """
    low, high, mean, place = (
        pl.col(name) for name in ("step_time_low", "step_time_high", "mean_time", "mean_time_place")
    )
    either = mean.is_not_null() & ~pl.col("pairs").fill_null(False)
    return frame.with_columns(
        step_time_low=pl.when(either).then(pl.min_horizontal(low, mean - place / 2)).otherwise(low),
        step_time_high=pl.when(either).then(pl.max_horizontal(high, mean + place)).otherwise(high),
    ).drop("mean_time", "mean_time_place", "pairs")


ROBUST = 4
"""Numbers of a column before its extreme one is left out of what is said of all."""


def _but_one(value: pl.Expr, by: list[str], *, descending: bool) -> pl.Expr:
    """The greatest (or least) number of a column but for one, of all where they are few."""
    ranked = value.drop_nulls().sort(descending=descending)
    enough = value.count() >= ROBUST
    return pl.when(enough).then(ranked.get(1, null_on_oob=True)).otherwise(ranked.first()).over(by)


def _of_column(name: str, by: list[str]) -> pl.Expr:
    """One unit in the last place as all numbers of the column but one print it, at most its own.

    Where they have equally many decimals that is the place, else equally many digits.
    """
    place = pl.col(f"{name}_place")
    decade = (place.log10() + 1e-9).floor().cast(pl.Int32, strict=False)
    head = (pl.col(name).abs().log10() + 1e-9).floor().cast(pl.Int32, strict=False)
    ten = pl.lit(10.0)
    decimals, digits = (_nearly_all(each, by) for each in (decade, head - decade))
    usual = pl.coalesce(ten.pow(decimals), ten.pow(head - digits))
    return pl.min_horizontal(place, pl.max_horizontal(usual, place / 1000.0).fill_null(place))


def _nearly_all(value: pl.Expr, by: list[str]) -> pl.Expr:
    """Value that all rows but at most one have in a column; null where there is none."""
    middle = value.median()
    alike = (value == middle).sum() >= value.count() - 1
    return pl.when(alike & (value.count() >= ROBUST)).then(middle).over(by)
