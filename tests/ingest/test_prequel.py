"""The BLOOM prequel: 27 tables, six training lines, and configuration that stands outside them.

The fixture keeps the line numbers of the document, so the same expectations hold for both.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from assay.ingest.inputs.read import read
from assay.ingest.schema.reading import Reading

from ..conftest import FIXTURES

DOCUMENTS = ["fixture", "whole"]


@pytest.fixture(scope="module", params=DOCUMENTS)
def reading(request: pytest.FixtureRequest) -> Reading:
    if request.param == "fixture":
        path = FIXTURES / "markdown_table" / "bloom_prequel.md"
    else:
        corpus: Path = request.getfixturevalue("corpus")
        path = next((corpus / "corpus" / "seeds").glob("002_*"))
    return read([path]).reading


@pytest.fixture(scope="module")
def table(reading: Reading) -> pl.DataFrame:
    return reading.frames["markdown_table"]


def bound(reading: Reading, line: int, field: str) -> tuple[object, str, int | None]:
    """Value, value origin and line of one field of one row."""
    row = pl.concat(list(reading.frames.values()), how="diagonal").filter(pl.col("line") == line)
    value = row[field][0]
    here = reading.provenance.filter((pl.col("line") == line) & (pl.col("field") == field))
    if here.is_empty():
        return value, "printed" if value is not None else "unknown", line
    return value, here["value_origin"][0], here["from_line"][0]


def test_every_row_of_every_table_is_read(table: pl.DataFrame, reading: Reading) -> None:
    assert table.height == 110
    assert table["step_time"].count() == 92
    assert reading.refused == ()
    tables = table["line"].diff().fill_null(9).ne(1).sum()
    assert tables == 27


def test_filler_rows_are_blank_and_lines_are_conserved(reading: Reading) -> None:
    account = reading.accounting[0]
    assert account.lines == 484
    parts = account.claimed + account.refused + account.blank + account.not_ours
    assert parts == account.lines


def test_what_is_no_number_is_told_apart(table: pl.DataFrame, reading: Reading) -> None:
    states = {
        (row["line"], row["field"]): (row["state"], row["text"])
        for row in reading.provenance.iter_rows(named=True)
        if row["state"] != "value"
    }
    assert states[466, "memory"] == ("outcome", "OOM")
    assert states[466, "step_time"] == ("missing", "")
    assert states[483, "memory"] == ("outcome", "fail")
    assert states[319, "memory"] == ("unknown", "GB")
    assert states[128, "model_flops_rate"] == ("unknown", "xxxx")
    outcomes = dict(table.filter(pl.col("outcome").is_not_null()).select("line", "outcome").rows())
    assert outcomes == {
        126: "may hang", 128: "always hangs", 466: "OOM", 479: "OOM", 480: "OOM", 483: "fail",
    }  # fmt: skip
    assert sum(state == ("unknown", "GB") for state in states.values()) == 18
    close = table.filter(pl.col("line") == 191).row(0, named=True)
    assert (close["outcome"], close["date"]) == (None, "02-20")
    assert close["notes"] == "02-20 too close to OOM"


def test_the_asynchronous_table_has_seven_rates(table: pl.DataFrame) -> None:
    rows = table.filter(pl.col("line").is_between(121, 128))
    assert rows["model_flops_rate"].drop_nulls().to_list() == [
        91.04e12, 97.20e12, 84.59e12, 84.44e12, 90.29e12, 90.25e12, 87.78e12,
    ]  # fmt: skip
    assert rows["step_time"].count() == 0


def test_training_lines_have_the_model_line_above(reading: Reading) -> None:
    lines = reading.frames["megatron_iteration"]
    assert lines["line"].to_list() == [38, 46, 52, 75, 84, 92]
    assert lines["step_time"].to_list() == [769.99, 844.81, 430.21, 777.09, 853.81, 434.14]
    assert lines["layers"].to_list() == [8, 80, 80, 8, 80, 80]
    assert lines["heads"].to_list() == [32, 96, 96, 32, 96, 96]
    assert lines["dp"].to_list() == [1, 1, 2, 1, 1, 2]
    assert lines["nodes"].to_list() == [1, 10, 20, 1, 10, 20]
    assert lines["dtype"].to_list() == ["fp16"] * 3 + ["bf16"] * 3
    assert bound(reading, 52, "dp") == (2, "stated", 49)
    assert bound(reading, 52, "hidden") == (14400, "stated", 43)
    assert bound(reading, 38, "hidden") == (14400, "stated", 35)
    assert bound(reading, 75, "dtype") == ("bf16", "stated", 68)


@pytest.mark.parametrize(
    ("line", "field", "expected"),
    [
        # 02-17: the model line whose label is the row's size
        (60, "layers", (8, "stated", 35)),
        (61, "layers", (80, "stated", 43)),
        (62, "heads", (96, "stated", 43)),
        (98, "heads", (32, "stated", 72)),
        (60, "dtype", ("fp16", "stated", 31)),
        (62, "nodes", (None, "unknown", 62)),
        # 02-20 without a hidden size: the last model line, in another section
        (147, "hidden", (14400, "assumed", 81)),
        (147, "heads", (96, "assumed", 81)),
        (147, "layers", (None, "unknown", 147)),
        (147, "vocab", (250_000, "assumed", 81)),
        # 02-20 with one: what contradicts the row's hidden size is dropped whole
        (253, "hidden", (14400, "printed", 253)),
        (253, "heads", (96, "assumed", 81)),
        (254, "hidden", (13824, "printed", 254)),
        (254, "heads", (64, "assumed", 351)),
        (254, "layers", (None, "unknown", 254)),
        # 02-21: nearest line above; heads by a later line that says so
        (278, "hidden", (14336, "stated", 274)),
        (278, "layers", (72, "stated", 274)),
        (278, "heads", (64, "assumed", 351)),
        (303, "layers", (84, "stated", 299)),
        (319, "layers", (80, "stated", 315)),
        (330, "layers", (6, "printed", 330)),
        (331, "layers", (10, "printed", 331)),
        (331, "hidden", (14336, "stated", 325)),
        (331, "global_batch", (2048, "printed", 331)),
        (341, "zero_stage", (0, "printed", 341)),
        (340, "hidden", (14336, "stated", 336)),
        # 02-23 and later
        (357, "heads", (64, "stated", 351)),
        (382, "hidden", (12288, "stated", 377)),
        (397, "heads", (112, "printed", 397)),
        (411, "layers", (78, "stated", 404)),
        (447, "heads", (64, "stated", 443)),
        (447, "layers", (72, "stated", 441)),
        (482, "hidden", (14336, "stated", 442)),
        (481, "tp", (2, "printed", 481)),
    ],
)
def test_configuration_is_bound_with_its_line(
    reading: Reading, line: int, field: str, expected: tuple[object, str, int]
) -> None:
    assert bound(reading, line, field) == expected


def test_a_nominal_vocabulary_keeps_its_interval(reading: Reading) -> None:
    row = reading.provenance.filter((pl.col("line") == 147) & (pl.col("field") == "vocab"))
    assert row.select("kind", "low", "high").row(0) == ("nominal", 249_500.0, 251_000.0)


def test_figures_outside_tables_are_suspicious(reading: Reading) -> None:
    assert {14, 15, 21, 22, 294, 295, 311} <= set(reading.accounting[0].suspicious)


def test_the_side_file_comes_last_and_is_marked() -> None:
    reading = read([FIXTURES / "markdown_table" / "bloom_prequel.md"]).reading
    assert bound(reading, 278, "gpus_per_node") == (8, "assumed", None)
    assert bound(reading, 340, "zero_stage") == (1, "printed", 340)
    assert bound(reading, 278, "zero_stage") == (1, "assumed", None)
    assert bound(reading, 75, "dtype") == ("bf16", "stated", 68)
    assert bound(reading, 278, "dtype") == ("fp16", "assumed", None)
