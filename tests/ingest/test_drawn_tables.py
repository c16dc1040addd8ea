"""Tables of plain text that are drawn with rules: consoles, databases, data frames."""

from __future__ import annotations

from pathlib import Path

import pytest
from assay.ingest.grids.drawn import drawn_tables
from assay.ingest.inputs.read import read
from assay.ingest.schema.record import Line

ORG = """| gpus | step time (ms) |
|------+----------------|
|    8 |          812.4 |
|   16 |          829.0 |"""

PSQL = """ gpus | step time (ms)
------+----------------
    8 |          812.4
   16 |          829.0
(2 rows)"""

PRETTY = """+------+----------------+
| gpus | step time (ms) |
+------+----------------+
|    8 |          812.4 |
|   16 |          829.0 |
+------+----------------+"""

RICH = """┏━━━━━━┳━━━━━━━━━━━┓
┃      ┃ step time ┃
┃ gpus ┃ (ms)      ┃
┡━━━━━━╇━━━━━━━━━━━┩
│ 8    │ 812.4     │
├──────┼───────────┤
│ 16   │ 829.0     │
└──────┴───────────┘"""

FRAME = """shape: (2, 2)
┌──────┬────────────────┐
│ gpus ┆ step time (ms) │
│ ---  ┆ ---            │
│ i64  ┆ f64            │
╞══════╪════════════════╡
│ 8    ┆ 812.4          │
│ …    ┆ …              │
│ 16   ┆ 829.0          │
└──────┴────────────────┘"""


def _lines(text: str) -> list[Line]:
    return [Line(n, each, 1, {}) for n, each in enumerate(text.splitlines(), 1)]


@pytest.mark.parametrize("text", [ORG, PSQL, PRETTY, RICH, FRAME])
def test_rows_of_a_drawn_table(text: str) -> None:
    (grid,) = drawn_tables(_lines(text))
    assert grid.header() == ("gpus", "step time (ms)")
    assert [[c.text for c in row.cells] for row in grid.rows] == [["8", "812.4"], ["16", "829.0"]]
    for row in grid.rows:
        for cell in row.cells:
            assert text.splitlines()[cell.line - 1][cell.column - 1 :].startswith(cell.text)


def test_a_line_that_goes_on_is_part_of_the_row_above() -> None:
    rule = "├──────┼──────┼────┤"
    text = (
        f"│ what │ gpus │ ms │\n{rule}\n│ long │ 8 │ 2.5 │\n│ name │ │ │\n{rule}\n│ b │ 8 │ 2.7 │"
    )
    (grid,) = drawn_tables(_lines(text))
    cells = [[cell.text for cell in row.cells] for row in grid.rows]
    assert cells == [["long name", "8", "2.5"], ["b", "8", "2.7"]]


def test_what_docutils_reads_is_left_to_it() -> None:
    spans = "+---+---+\n| a | b |\n+---+---+\n| 1 | 2 |\n+---+---+"
    assert list(drawn_tables(_lines(spans))) == []


def test_the_state_of_devices_is_no_run(tmp_path: Path) -> None:
    page = tmp_path / "smi.log"
    page.write_text(
        "+-------------------------------+----------------------+----------------------+\n"
        "| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |\n"
        "| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |\n"
        "|===============================+======================+======================|\n"
        "|   0  A100-SXM4-80GB      On   | 00000000:07:00.0 Off |                    0 |\n"
        "| N/A   31C    P0    62W / 400W |  71231MiB / 81251MiB |    100%      Default |\n"
        "+-------------------------------+----------------------+----------------------+\n"
    )
    frame = read([page]).reading.frames.get("markdown_table")
    assert frame is None or frame.is_empty()


def test_what_a_data_frame_does_not_have_is_missing(tmp_path: Path) -> None:
    page = tmp_path / "runs.csv"
    page.write_text("gpus,step_ms,memory_gb\n8,812.4,55.1\n16,NaN,nan\n32,inf,61.0\n")
    frame = read([page]).reading.frames["markdown_table"].sort("line")
    assert frame["step_time"].to_list() == [0.8124, None, None]
    assert frame["memory"].to_list() == [55.1e9, None, 61e9]
