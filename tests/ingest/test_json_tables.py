"""Tables written as JSON: each way to write the same rows gives them."""

from __future__ import annotations

import json

import polars as pl
import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.reading import Reading
from assay.ingest.source.opening import Source, source

ROWS = [
    {"model": "GPT 7B", "gpus": 8, "tp": 1, "step_time_s": 1.52, "mfu": 0.41},
    {"model": "GPT 13B", "gpus": 16, "tp": 2, "step_time_s": 2.75, "mfu": None},
]

COLUMNS = {key: [row[key] for row in ROWS] for key in ROWS[0]}

BY_ROW = {key: {str(n): each for n, each in enumerate(cells)} for key, cells in COLUMNS.items()}

SPLIT = {"columns": list(COLUMNS), "index": [0, 1], "data": [list(row.values()) for row in ROWS]}


def read(name: str, text: str) -> Reading:
    opened = source(name, text.encode())
    assert isinstance(opened, Source)
    return read_source(opened, FORMATS)


WAYS = {
    "records": ROWS,
    "nested": {"date": "2024-01-02", "runs": {"train": ROWS}},
    "columns": COLUMNS,
    "by row": BY_ROW,
    "split": SPLIT,
    "split below": {"title": "train", "table": SPLIT},
    "named": {f"run {n}": row for n, row in enumerate(ROWS)},
}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("way", WAYS)
def test_every_way_gives_the_rows(way: str, indent: int | None) -> None:
    text = json.dumps(WAYS[way], indent=indent)
    reading = read("a.json", text)
    rows = reading.frames["markdown_table"]
    said = rows.select("model", "gpus", "tp", "step_time", "mfu").rows()
    assert said == [("GPT 7B", 8, 1, 1.52, 0.41), ("GPT 13B", 16, 2, 2.75, None)]
    (account,) = reading.accounting
    assert (account.claimed + account.blank + account.not_ours, account.refused) == (
        account.lines,
        0,
    )
    for line, column in rows.select("line", "column").iter_rows():
        assert len(text.splitlines()[line - 1]) >= column


def test_lines_of_objects_are_rows_unless_they_count_steps() -> None:
    text = "\n".join(json.dumps(row) for row in ROWS)
    rows = read("a.jsonl", text).frames["markdown_table"]
    assert rows.select("line", "gpus", "step_time").rows() == [(1, 8, 1.52), (2, 16, 2.75)]
    steps = "\n".join(json.dumps({"model": "x", "step": n, "mfu": 0.4}) for n in range(5))
    assert "markdown_table" not in read("a.jsonl", steps).frames


def test_one_object_of_results_is_a_row_and_settings_are_none() -> None:
    assert read("a.json", json.dumps(ROWS[0])).frames["markdown_table"].height == 1
    reading = read("a.json", json.dumps({"hidden_size": 4096, "num_layers": 32, "dtype": "bf16"}))
    assert not reading.frames
    assert not reading.accounting[0].tables


def test_cells_stand_where_they_are_printed() -> None:
    text = json.dumps(COLUMNS | {"gpus": [8, -16]}, indent=1)
    reading = read("a.json", text)
    (fault,) = reading.refused
    assert text.splitlines()[fault.span.line - 1][fault.span.column - 1 :].startswith("-16")


def test_products_in_json() -> None:
    rows = [{"m": m, "n": 64, "k": 32, "dtype": "bf16", "time_us": 2.5} for m in (16, 32)]
    for text in (json.dumps(rows), "\n".join(map(json.dumps, rows))):
        found = read("gemm.jsonl", text).frames["gemm_table"]
        assert found.select("m", "n", "k").rows() == [(16, 64, 32), (32, 64, 32)]
        assert found["time"].to_list() == pytest.approx([2.5e-6] * 2)
        assert isinstance(found, pl.DataFrame)
