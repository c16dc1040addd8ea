"""Lines of logs in notebooks, in JSON, behind colours and prefixes: read as if they stood alone."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.reading import Reading
from assay.ingest.source.opening import Source, source

LINES = [
    f" iteration {n:8}/    1000 | elapsed time per iteration (ms): 58{n:02}.9 | "
    f"lm loss: 6.{n:02}E+00 | grad norm: 1.{n:02} |\n"
    for n in range(12)
]


def read(text: str) -> Reading:
    opened = source("run.log", text.encode())
    assert isinstance(opened, Source)
    reading = read_source(opened, FORMATS)
    (account,) = reading.accounting
    parts = account.claimed + account.refused + account.blank + account.not_ours
    assert parts == account.lines == text.count("\n") + (not text.endswith("\n"))
    return reading


def steps(reading: Reading) -> pl.DataFrame:
    frame = reading.frames["megatron_iteration"]
    return frame.select("iteration", "step_time", "lm_loss", "grad_norm")


def notebook(indent: int | None) -> str:
    code = {"cell_type": "code", "source": LINES[:3], "outputs": [
        {"output_type": "stream", "name": "stdout", "text": LINES},
    ]}  # fmt: skip
    return json.dumps({"cells": [code], "nbformat": 4}, indent=indent) + "\n"


WHOLE = "".join(LINES)


@pytest.mark.parametrize("indent", [1, 2, None])
def test_outputs_of_a_notebook_are_lines_and_its_sources_are_not(indent: int | None) -> None:
    assert steps(read(notebook(indent))).equals(steps(read(WHOLE)))


def test_a_record_stands_where_its_line_does() -> None:
    text = notebook(1)
    frame = read(text).frames["megatron_iteration"]
    lines = text.split("\n")
    for line, column in frame.select("line", "column").iter_rows():
        assert lines[line - 1][column - 1 :].startswith("iteration")


@pytest.mark.parametrize("key", ["log", "message", "textPayload"])
def test_lines_in_json_are_lines(key: str) -> None:
    kept = [{key: line, "stream": "stdout", "time": "2024-01-02T03:04:05.6Z"} for line in LINES]
    assert steps(read("".join(json.dumps(each) + "\n" for each in kept))).equals(steps(read(WHOLE)))


@pytest.mark.parametrize(
    "before",
    [
        "\x1b[36m", "^[[36m", "\\u001b[36m", "[36m", "[INFO 2020-02-06 19:53:56] ",
        "INFO [trainer.py] >> ", "2025-06-17 16:24:52 I [train.py:103] ", "[pod/job-0/main] ",
        "[rank3]: ", "[1,3]<stdout>:", " 3: ", "worker-3: [INFO 2020-02-06 19:53:56] ",
        "2023-07-07 12:28:57,802\tINFO train.py:323 in log_metrics -- ",
        " 10%|█         | 10/100 [00:10<01:30, 1.00s/it]\r",
    ],
)  # fmt: skip
def test_what_stands_before_a_line_is_peeled_off(before: str) -> None:
    end = "[0m\n" if before.endswith("36m") else "\n"
    text = "".join(before + line.rstrip("\n") + end for line in LINES)
    assert steps(read(text)).equals(steps(read(WHOLE)))


def test_a_real_notebook_is_its_outputs(corpus: Path) -> None:
    folder = corpus / "corpus/wild/log"
    shown = read((folder / "meg-tunib-nb/07.ipynb").read_text(encoding="utf-8"))
    plain = read((folder / "meg-tunib-txt/07.log").read_text(encoding="utf-8"))
    assert steps(shown).height == 100
    assert steps(shown).equals(steps(plain))
    assert {n: f.height for n, f in shown.frames.items()} == {
        name: frame.height for name, frame in plain.frames.items()
    }
