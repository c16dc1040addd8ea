"""Files of several row groups: what polars reads of them is what was written, bit for bit."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pytest
from assay.ingest.store import parquet
from assay.ingest.store.parquet import write
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from tests.conftest import examples

SCHEMA = {
    "line": pl.UInt32(),
    "count": pl.Int64(),
    "rate": pl.Float64(),
    "name": pl.String(),
    "flag": pl.Boolean(),
    "other": pl.List(pl.Struct({"name": pl.String(), "text": pl.String()})),
}
ROW = st.tuples(
    st.integers(0, 2**32 - 1),
    st.none() | st.integers(-(2**63), 2**63 - 1) | st.just(7),
    st.none() | st.floats() | st.sampled_from([0.0, -0.0, math.nan]),
    st.none() | st.text() | st.just("same"),
    st.none() | st.booleans(),
    st.none() | st.lists(st.fixed_dictionaries({"name": st.text(), "text": st.none()}), max_size=2),
)


@pytest.fixture(autouse=True)
def small_row_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "ROWS", 4)


def frame(rows: list[tuple[object, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def bits(held: pl.DataFrame) -> pl.DataFrame:
    """The frame with floats as what they are made of: NaN is itself, and no zero is another."""
    return held.with_columns(
        pl.Series(name, [None if v is None else v.hex() for v in held[name]], dtype=pl.String)
        for name, kind in held.schema.items()
        if kind == pl.Float64
    )


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.lists(ROW | st.just((1, None, 0.0, "same", None, [])), max_size=9), max_size=6))
def test_what_is_read_is_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, parts: list[list[tuple[object, ...]]]
) -> None:
    path = tmp_path_factory.mktemp("parquet") / "a.parquet"
    frames = [frame(part) for part in parts]
    write(frames, SCHEMA, path, {"said": "so"})
    whole = pl.concat([frame([]), *frames])
    narrow = [each.drop(c for c in each.columns if each[c].is_null().all()) for each in frames]
    write(narrow, SCHEMA, path.with_name("c.parquet"), {"said": "so"})
    assert_frame_equal(bits(pl.read_parquet(path.with_name("c.parquet"))), bits(whole))
    assert_frame_equal(bits(pl.read_parquet(path)), bits(whole))
    assert pl.read_parquet_metadata(path)["said"] == "so"
    again = path.with_name("b.parquet")
    write(whole.iter_slices(5), SCHEMA, again, {"said": "so"})
    assert again.read_bytes() == path.read_bytes()


def test_a_column_may_begin_and_end_in_any_row_group(tmp_path: Path) -> None:
    rows = frame([(n, n if 5 <= n <= 9 else None, None, None, None, None) for n in range(20)])
    write(rows.iter_slices(3), SCHEMA, tmp_path / "a.parquet", {})
    assert_frame_equal(pl.read_parquet(tmp_path / "a.parquet"), rows)
    late = pl.scan_parquet(tmp_path / "a.parquet").filter(pl.col("line") > 7).collect()
    assert late["count"].to_list() == [8, 9, *[None] * 10]
