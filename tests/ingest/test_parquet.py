"""Files of several row groups: what polars reads of them is what was written, bit for bit."""

from __future__ import annotations

import math
from io import BytesIO
from pathlib import Path

import polars as pl
import pytest
from assay.ingest import parquet
from assay.ingest.parquet import write
from assay.ingest.thrift import parsed, spelled
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

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


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(ROW | st.just((1, None, 0.0, "same", None, [])), max_size=9), max_size=6))
def test_what_is_read_is_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, parts: list[list[tuple[object, ...]]]
) -> None:
    path = tmp_path_factory.mktemp("parquet") / "a.parquet"
    frames = [frame(part) for part in parts]
    write(frames, SCHEMA, path, {"said": "so"})
    whole = pl.concat([frame([]), *frames])
    assert_frame_equal(bits(pl.read_parquet(path)), bits(whole))
    assert pl.read_parquet_metadata(path)["said"] == "so"
    again = path.with_name("b.parquet")
    write(whole.iter_slices(5), SCHEMA, again, {"said": "so"})
    assert again.read_bytes() == path.read_bytes()


def test_row_groups_are_those_that_polars_gives(tmp_path: Path) -> None:
    """All but how numbers are spelled, and where; what is left out is an index of the pages."""
    rows = frame([(n, None, 1.5, "a", n == 9, []) for n in range(10)])
    write([rows], SCHEMA, tmp_path / "a.parquet", {})
    held = BytesIO()
    rows.write_parquet(held, compression="lz4", statistics=False, row_group_size=4)
    mine, theirs = (
        parquet._footer(data) for data in ((tmp_path / "a.parquet").read_bytes(), held.getvalue())
    )
    assert mine.keys() == theirs.keys()
    assert all(mine[name] == theirs[name] for name in mine if name != 4)
    for ours, other in zip(mine[4][1][1], theirs[4][1][1], strict=True):
        assert ours[3] == other[3]  # rows
        for column, same in zip(ours[1][1][1], other[1][1][1], strict=True):
            about, known = column[3][1], same[3][1]
            assert [about[name] for name in (1, 3, 5)] == [known[name] for name in (1, 3, 5)]
            if about[3][1][1] != [b"line"]:  # type, encodings, path, codec, values, sizes
                assert {k: v for k, v in about.items() if k not in (9, 11)} == {
                    k: v for k, v in known.items() if k not in (9, 11)
                }


@pytest.mark.parametrize(
    "numbers",
    [
        list(range(300)),
        list(range(2**63 - 300, 2**63)),
        [-(2**63), 2**63 - 1],
        [2**63 - 1, -(2**63), 2**63 - 1],
        list(range(10, -600, -2)),
        [4194304 * n for n in range(129)],
        [0, 1, 2, 4],
        [7],
    ],
)
def test_integers_that_step_evenly(
    numbers: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "ROWS", 256)
    for kind in (pl.Int64, pl.UInt32):
        series = pl.Series("count", [n & 2**32 - 1 for n in numbers], dtype=kind)
        series = series if kind == pl.UInt32 else pl.Series("count", numbers, dtype=kind)
        rows = pl.concat([series.to_frame()] * 3)
        write(rows.iter_slices(100), rows.schema, tmp_path / "a.parquet", {})
        assert_frame_equal(pl.read_parquet(tmp_path / "a.parquet"), rows)


def test_a_column_may_begin_and_end_in_any_row_group(tmp_path: Path) -> None:
    rows = frame([(n, n if 5 <= n <= 9 else None, None, None, None, None) for n in range(20)])
    write(rows.iter_slices(3), SCHEMA, tmp_path / "a.parquet", {})
    assert_frame_equal(pl.read_parquet(tmp_path / "a.parquet"), rows)
    late = pl.scan_parquet(tmp_path / "a.parquet").filter(pl.col("line") > 7).collect()
    assert late["count"].to_list() == [8, 9, *[None] * 10]


def test_a_footer_is_spelled_as_it_was_read() -> None:
    held = BytesIO()
    wide = {f"column {n}": [n, None] for n in range(40)}
    pl.DataFrame(wide).write_parquet(held, statistics=True, metadata={"a": "b" * 300})
    data = held.getvalue()
    length = int.from_bytes(data[-8:-4], "little")
    footer = data[-8 - length : -8]
    assert spelled(parsed(footer)) == footer
