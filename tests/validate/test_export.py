"""Exports equal what was read: types, nulls, unicode; and nothing runs as a formula."""

from __future__ import annotations

import base64
import io
import json
import math
from pathlib import Path

import polars as pl
import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.formats.own.fault import BadFormat
from assay.ingest.formats.own.installed import known
from assay.ingest.inputs.paths import COMPANIONS
from assay.ingest.inputs.read import read
from assay.ingest.reference.json_schema import BESIDE, frames, json_schema, pages
from assay.ingest.schema.reading import RESERVED
from assay.validate.export.writers import csv, ndjson, tables, write_duckdb
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from polars.testing import assert_frame_equal

from tests.conftest import FIXTURES, ROOT

BROKEN = b"| TP | Sec/it |\n|----|--------|\n| 8 | 1.5 |\n| 8 | 1.5 | 2 |\n| \xff8 | 1.5 |\n"
LOG = (
    b" iteration 1/ 9 | consumed samples: 4 | elapsed time per iteration (ms): 5837.9 |"
    b" global batch size: 4 | lm loss: nan | grad norm: inf | odd thing: =1+1 |\n"
)


def smallest() -> list[Path]:
    """One sample of every format."""
    folders = sorted(FIXTURES / fmt.name for fmt in FORMATS)
    return [
        min(
            (path for path in folder.iterdir() if path.suffix not in COMPANIONS),
            key=lambda path: (path.stat().st_size, path.name),
        )
        for folder in folders
    ]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pl.DataFrame]:
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "broken.md").write_bytes(BROKEN)
    (folder / "odd.log").write_bytes(LOG)
    return tables(read([*smallest(), folder]).reading)


def from_csv(text: str, like: pl.DataFrame) -> pl.DataFrame:
    """A CSV export as the frame it was: the documented rules, backwards."""
    plain = {
        name: dtype if dtype.is_numeric() or dtype == pl.Boolean else pl.String()
        for name, dtype in like.schema.items()
    }
    read_back = pl.read_csv(io.StringIO(text), schema=plain)
    texts = [name for name, dtype in plain.items() if dtype == pl.String]
    read_back = read_back.with_columns(pl.col(texts).str.strip_prefix("'"))
    for name, dtype in like.schema.items():
        if isinstance(dtype, pl.List):
            cells = [None if cell is None else json.loads(cell) for cell in read_back[name]]
            read_back = read_back.with_columns(pl.Series(name, cells, dtype=dtype))
        elif isinstance(dtype, pl.Binary):
            read_back = read_back.with_columns(pl.col(name).str.decode("base64"))
    return read_back


def from_ndjson(text: str, like: pl.DataFrame) -> pl.DataFrame:
    rows = [json.loads(line) for line in text.splitlines()]
    for row in rows:
        for name, dtype in like.schema.items():
            if dtype.is_float() and isinstance(row[name], str):
                row[name] = float(row[name])
            elif isinstance(dtype, pl.Binary) and row[name] is not None:
                row[name] = base64.b64decode(row[name])
    return pl.DataFrame(rows, schema=like.schema, orient="row")


def test_every_frame_comes_back_from_csv(found: dict[str, pl.DataFrame]) -> None:
    for frame in found.values():
        assert_frame_equal(from_csv(csv(frame), frame), frame, check_exact=True)


def test_every_frame_comes_back_from_ndjson(found: dict[str, pl.DataFrame]) -> None:
    for frame in found.values():
        assert_frame_equal(from_ndjson(ndjson(frame), frame), frame, check_exact=True)


def test_every_frame_comes_back_from_duckdb(found: dict[str, pl.DataFrame], tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="the extra assay[duckdb] is not installed")
    few = {name: found[name] for name in ("gemm_table", "megatron_iteration", "quarantine")}
    write_duckdb(few, tmp_path / "run.duckdb")
    assert [path.name for path in tmp_path.iterdir()] == ["run.duckdb"]
    with duckdb.connect(str(tmp_path / "run.duckdb"), read_only=True) as database:
        for name, frame in few.items():
            cursor = database.execute(f'FROM "{name}"')
            columns = [column[0] for column in cursor.description]
            rows = cursor.fetchall()
            assert columns == frame.columns
            back = pl.DataFrame(rows, schema=frame.schema, orient="row")
            assert_frame_equal(back, frame, check_exact=True)
        said = database.execute(
            "SELECT comment FROM duckdb_columns() "
            "WHERE table_name = 'gemm_table' AND column_name = 'time'"
        ).fetchone()
    assert said == ("time of the product; unit s; decimal",)


def test_exported_rows_fit_their_schema(found: dict[str, pl.DataFrame]) -> None:
    for name, frame in found.items():
        check = Draft202012Validator(json_schema(name))
        assert list(json_schema(name)["properties"]) == frame.columns, name
        for line in ndjson(frame.head(100)).splitlines():
            check.validate(json.loads(line))


def test_a_schema_refuses_what_its_frame_would(found: dict[str, pl.DataFrame]) -> None:
    check = Draft202012Validator(json_schema("gemm_table"))
    row = json.loads(ndjson(found["gemm_table"].head(1)))
    for wrong in ({"time": -1.0}, {"m": 1.5}, {"line": None}, {"time": "fast"}, {"what": 1}):
        assert not check.is_valid(row | wrong), wrong
    assert check.is_valid(row | {"time": "NaN"})


def test_the_schemas_are_up_to_date() -> None:
    docs = ROOT / "docs"
    paths = [*docs.rglob("schemas/*"), *docs.rglob("formats/*/*.json")]
    written = {p.relative_to(docs).as_posix(): p.read_text(encoding="utf-8") for p in paths}
    assert written == pages(), "run: python -m assay.ingest.reference.describe"
    shared = sum(len(fmt.schemas) for fmt in FORMATS) + len(BESIDE) - len(frames())
    assert len(frames()) == len(set(frames())) == len(pages()) - 1 - shared
    for name in frames():
        Draft202012Validator.check_schema(json_schema(name))
    assert set(BESIDE) == set(RESERVED) < set(frames())


@pytest.mark.parametrize("name", sorted(BESIDE))
def test_no_format_of_ones_own_takes_the_name_of_a_frame_beside(name: str, tmp_path: Path) -> None:
    text = (ROOT / "examples/own_format/swift_format/swift_step.toml").read_text()
    path = tmp_path / "own.toml"
    path.write_text(text.replace('name = "swift_step"', f'name = "{name}"'))
    with pytest.raises(BadFormat, match="a frame that every export has"):
        known((str(path),))


def test_numbers_that_json_lacks_are_texts(found: dict[str, pl.DataFrame]) -> None:
    rows = map(json.loads, ndjson(found["megatron_iteration"]).splitlines())
    row = next(row for row in rows if row["source"].endswith("odd.log"))
    assert (row["lm_loss"], row["grad_norm"]) == ("NaN", "Infinity")
    assert row["other"] == [{"name": "odd thing", "text": "=1+1"}]


@given(st.lists(st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"])))))
def test_any_text_comes_back(texts: list[str | None]) -> None:
    frame = pl.DataFrame({"line": range(len(texts)), "t": texts},
                         schema={"line": pl.Int64, "t": pl.String})  # fmt: skip
    assert_frame_equal(from_csv(csv(frame), frame), frame)
    assert_frame_equal(from_ndjson(ndjson(frame), frame), frame)


@given(st.lists(st.floats(width=64), min_size=1))
def test_any_number_comes_back(numbers: list[float]) -> None:
    frame = pl.DataFrame({"line": range(len(numbers)), "v": numbers})
    for back in (from_csv(csv(frame), frame), from_ndjson(ndjson(frame), frame)):
        pairs = zip(back["v"], numbers, strict=True)
        assert all(a == b or (math.isnan(a) and math.isnan(b)) for a, b in pairs)


@pytest.mark.parametrize("text", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", " =1"])
def test_formulas_are_text(text: str) -> None:
    assert f"'{text}" in csv(pl.DataFrame({"t": [text]})).replace('""', '"')


@pytest.mark.parametrize("text", ["-1.5", "+3", "-1e-5", "-.5", "1,024", "-12%", "-inf"])
def test_numbers_in_text_stay_numbers(text: str) -> None:
    assert csv(pl.DataFrame({"t": [text]})).splitlines()[1].strip('"') == text
