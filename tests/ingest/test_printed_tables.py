"""Tables as programs print them: data frames, turned or not, in notebooks and in plain text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assay.ingest.inputs.read import read

TURNED = """Pre-training on 32 H100 GPUs.

run                     dense-1.3b  moe-8e-top1
device_micro_batch              16            8
step_time_s                  1.748        2.199
tokens_per_sec_per_gpu     37493.0      29803.0
mfu                          0.326        0.259
"""

FRAME = """
 seq_len  micro_batch  step_time_s  tokens_per_sec
     512            4        3.105          2638.3
    1024            2        3.353          2443.2
"""


JUSTIFIED = (
    ("setup", "bs", "ms_per_step", "tok_per_s", "peak_mem_GB"),
    ("eager, fp32", "8", "3364.3", "4870", "33.1"),
    ("bf16 + sdpa", "8", "483.0", "33921", "17.9"),
    ("bf16 + sdpa + compile", "32", "NaN", "OOM", "NaN"),
    ("bf16 + liger + fused", "16", "555.8", "58956", "26.3"),
)


def rows(path: Path, text: str) -> list[dict[str, Any]]:
    path.write_text(text)
    frame = read([path]).reading.frames.get("markdown_table")
    return [] if frame is None else frame.sort("line", "column").rows(named=True)


def notebook(outputs: list[dict[str, Any]]) -> str:
    said = "## One node\n\nTraining on 8 A100 GPUs, bf16, sequence length 2048:"
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": said.splitlines(keepends=True)},
        {"cell_type": "code", "metadata": {}, "outputs": outputs, "source": ["df.T"]},
    ]
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def test_a_turned_data_frame_is_an_observation_a_column(tmp_path: Path) -> None:
    for corner in ("run  ", "     ", "model"):
        found = rows(tmp_path / "runs.txt", TURNED.replace("run  ", corner, 1))
        assert [row["step_time"] for row in found] == [1.748, 2.199]
        assert [row["tokens_per_gpu_per_s"] for row in found] == [37493.0, 29803.0]
        assert [row["micro_batch"] for row in found] == [16, 8]


def test_one_metric_of_a_turned_frame_is_too_little(tmp_path: Path) -> None:
    text = "\n".join(line for line in TURNED.splitlines() if "tokens" not in line)
    assert rows(tmp_path / "runs.txt", text.replace("mfu ", "foo ")) == []


def test_what_a_notebook_prints_is_a_table_under_its_heading(tmp_path: Path) -> None:
    stream = {"output_type": "stream", "name": "stdout", "text": FRAME.splitlines(keepends=True)}
    plain = {"output_type": "execute_result", "metadata": {}, "execution_count": 1,
             "data": {"text/plain": FRAME.splitlines(keepends=True)}}  # fmt: skip
    for output in (stream, plain):
        text = notebook([output])
        found = rows(tmp_path / "bench.ipynb", text)
        assert [row["seq_len"] for row in found] == [512, 1024]
        assert [row["step_time"] for row in found] == [3.105, 3.353]
        lines = text.splitlines()
        assert all(str(row["seq_len"]) in lines[row["line"] - 1] for row in found)


def test_what_an_output_shows_twice_is_read_once(tmp_path: Path) -> None:
    head, *body = (line.split() for line in FRAME.strip().splitlines())
    cells = ["".join(f"<th>{name}</th>" for name in head)]
    cells += ["".join(f"<td>{text}</td>" for text in row) for row in body]
    html = ["<table>\n", *(f"<tr>{each}</tr>\n" for each in cells), "</table>"]
    both = {"text/html": html, "text/plain": FRAME.splitlines(keepends=True)}
    output = {"output_type": "display_data", "metadata": {}, "data": both}
    found = rows(tmp_path / "bench.ipynb", notebook([output]))
    assert [row["step_time"] for row in found] == [3.105, 3.353]


def test_what_a_section_of_a_notebook_says_is_of_its_own_tables(tmp_path: Path) -> None:
    def cell(text: str) -> dict[str, Any]:
        source = text.splitlines(keepends=True)
        return {"cell_type": "markdown", "metadata": {}, "source": source}

    table = "| bs | s/step |\n|---|---|\n| 1 | 11.4 |\n| 2 | 10.1 |\n"
    first = cell(f"## On an A100\n\nFine-tuning on one A100-SXM4-40GB.\n\n{table}")
    other = cell(f"## On a T4\n\nTraining on a T4, fp16, sequence length 1024.\n\n{table}")
    text = json.dumps({"cells": [first, other], "nbformat": 4}, indent=1)
    found = rows(tmp_path / "two.ipynb", text)
    assert [row["gpu"] for row in found] == ["A100-SXM4-40GB"] * 2 + ["T4"] * 2
    assert [row["seq_len"] for row in found] == [None, None, 1024, 1024]


def test_a_rate_of_whom_a_sentence_names_apart(tmp_path: Path) -> None:
    table = "\n\n| GBS | A100 (4 devices) | H100 (4 devices) |\n|---|---|---|\n"
    table += "| 256 | 22,347 | 46,178 |\n"
    said = "Training throughput per device in tokens/s, micro batch size 4."
    found = rows(tmp_path / "device.md", said + table)
    assert [row["tokens_per_gpu_per_s"] for row in found] == [22347.0, 46178.0]
    assert rows(tmp_path / "node.md", said.replace("device", "node") + table) == []
    found = rows(
        tmp_path / "job.md", "Training throughput in tokens/s, 2 sequences per GPU." + table
    )
    assert [row["tokens_per_s"] for row in found] == [22347.0, 46178.0]


def test_labels_a_blank_apart_end_where_their_cells_do(tmp_path: Path) -> None:
    widths = [max(map(len, column)) for column in zip(*JUSTIFIED, strict=True)]
    lines = [" ".join(map(str.rjust, row, widths)) for row in JUSTIFIED]
    text = "\n".join(["Pre-training on one A100, sequence length 2048.", "", *lines, ""])
    found = rows(tmp_path / "runs.txt", text)
    assert [row["line"] for row in found] == [4, 5, 6, 7]
    assert [row["step_time"] for row in found] == [3.3643, 0.483, None, 0.5558]
    assert [row["tokens_per_s"] for row in found] == [4870.0, 33921.0, None, 58956.0]
    assert found[2]["outcome"] == "OOM"
    moved = text.replace(" 8       483.0", "8        483.0")  # under no label
    assert [row["line"] for row in rows(tmp_path / "moved.txt", moved)] == []


INDEXED = (
    ("batch_size", "grad_accum", "attn", "tokens_per_s", "step_time_ms"),
    ("1", "16", "eager", "5210.4", "3144.48"),
    ("4", "4", "sdpa", "7012.9", "2336.27"),
    ("16", "1", "fa2", "7420.1", "2208.06"),
)


def test_the_index_of_a_data_frame_is_no_part_of_its_first_column(tmp_path: Path) -> None:
    widths = [max(map(len, column)) for column in zip(*INDEXED, strict=True)]
    text = ""
    for index, cells in zip(("", "0", "1", "10"), INDEXED, strict=True):
        parts = zip(cells, widths, strict=True)
        text += f"{index:<2}  " + " ".join(f"{cell:>{width}}" for cell, width in parts) + "\n"
    found = rows(tmp_path / "runs.txt", text)
    assert [row["micro_batch"] for row in found] == [1, 4, 16]  # 1, 16 times, is of one device
    assert [row["accumulation"] for row in found] == [16, 4, 1]
    assert [row["tokens_per_s"] for row in found] == [5210.4, 7012.9, 7420.1]
