"""Which columns have one value is told without a wrong word, bit for bit."""

from __future__ import annotations

import math

import polars as pl
from assay.ingest.lines.rows import alike, widened


def test_columns_of_one_value() -> None:
    frame = pl.DataFrame(
        {
            "line": [1, 2, 3],
            "same": [7, 7, 7],
            "odd within": [7, 8, 7],
            "zero": [0.0, 0.0, 0.0],
            "negative": [-0.0, -0.0, -0.0],
            "signs": [0.0, -0.0, 0.0],
            "nan within": [1.0, math.nan, 1.0],
            "gap": [1, None, 1],
            "gaps": pl.Series([None] * 3, dtype=pl.Int64),
            "text": ["", "", ""],
            "lists": [[], [1], []],
            "empty": pl.Series([[]] * 3, dtype=pl.List(pl.Int64)),
            "full": [[1], [1], [1]],
        }
    ).with_columns(
        made=pl.lit(1.5), listed=pl.lit(pl.Series([[]], dtype=pl.List(pl.String))).first()
    )
    said = ["same", "zero", "negative", "text", "empty", "made", "listed"]
    assert sorted(alike(frame)) == sorted(said)
    assert not alike(frame.select("line"))


def test_what_a_frame_lacks_is_unknown() -> None:
    types = {"a": pl.Int64(), "b": pl.String(), "c": pl.Float64()}
    wide = widened(pl.DataFrame({"c": [1.0, 2.0]}), types)
    assert wide.schema == pl.Schema(types)
    assert wide["a"].null_count() == wide["b"].null_count() == 2
    assert widened(pl.DataFrame(schema={"c": pl.Float64}), types).shape == (0, 3)
