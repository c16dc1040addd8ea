"""A bad cell costs the cell: whatever stands in an optional one, the record stays."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.reading import Reading
from assay.ingest.schema.record import Code
from assay.ingest.source.opening import Source, source

LINE = (
    " iteration {n:8}/    1000 | elapsed time per iteration (ms): 58{n:02}.9 | "
    "lm loss: 6.{n:02}E+00 | loss scale: {scale} | grad norm: 1.{n:02} |\n"
)


def read(text: str, engine: str = "auto") -> Reading:
    opened = source("run.log", text.encode())
    assert isinstance(opened, Source)
    return read_source(opened, FORMATS, engine=engine)  # type: ignore[arg-type]


def test_a_scale_that_is_not_set_yet_costs_nothing_else(corpus: Path) -> None:
    log = corpus / "corpus/megatron_log/meg_ds_3d_gpt2_perf_n16-ds-off.out"
    text = log.read_text(encoding="utf-8", errors="replace")
    unset, count = re.subn(r"loss scale: [0-9.]+", "loss scale: -1.0", text)
    assert count == 62
    before, after = read(text), read(unset)
    steps, whole = (each.frames["megatron_iteration"] for each in (after, before))
    assert steps.height == 62
    assert steps["loss_scale"].null_count() == 62
    others = [name for name in steps.columns if not name.startswith("loss_scale")]
    assert steps.select(others).equals(whole.select(others))
    assert after.refused == before.refused
    unset_remarks = [each for each in after.remarks if each.code == Code.UNSET]
    assert len(unset_remarks) == 62
    assert "loss_scale was '-1.0'" in unset_remarks[0].message


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("-1.0", Code.UNSET), ("-1", Code.UNSET), ("N/A", Code.UNSET), ("/", Code.UNSET),
        ("None", Code.UNSET), ("-2.0", Code.OUT_OF_RANGE), ("-1.5", Code.OUT_OF_RANGE),
        ("many", Code.UNDECODABLE), ("1_0", Code.UNDECODABLE),
    ],
)  # fmt: skip
@pytest.mark.parametrize("engine", ["cells", "folds", "auto"])
def test_a_bad_cell_is_empty_and_told_of(text: str, code: Code, engine: str) -> None:
    lines = [LINE.format(n=n, scale=text if n == 7 else "4096.0") for n in range(40)]
    reading = read("".join(lines), engine)
    steps = reading.frames["megatron_iteration"]
    assert reading.refused == ()
    assert steps["loss_scale"].to_list() == [None if n == 7 else 4096.0 for n in range(40)]
    assert steps["grad_norm"].null_count() == 0
    assert [(each.span.line, each.code) for each in reading.remarks] == [(8, code)]
    assert reading.remarks[0].message.startswith("loss_scale was ")
    assert text in reading.remarks[0].message


def test_what_makes_a_record_is_needed() -> None:
    reading = read(LINE.format(n=7, scale="1.0").replace("/    1000", "/    0"))
    assert [each.code for each in reading.refused] == [Code.OUT_OF_RANGE]


HEADS = ("Model", "GPUs", "Step time (s)", "MFU")

ROWS = (
    ("GPT 7B", "8", "1.52", "41%"),
    ("GPT 13B", "16", "2..3", "39%"),  # the step time is no number: the row has a utilisation
    ("GPT 20B", "-8", "2.9", "38%"),  # no such number of devices: another run, or none
    ("GPT 70B", "64", "5.1", "40%"),
)


def html(apart: str) -> str:
    rows = ["".join(f"<td>{cell}</td>" for cell in row) for row in (HEADS, *ROWS)]
    return f"<table>{apart}" + apart.join(f"<tr>{row}</tr>" for row in rows) + f"{apart}</table>"


def as_json(apart: str) -> str:
    rows = [", ".join(f'"{h}": "{c}"' for h, c in zip(HEADS, row, strict=True)) for row in ROWS]
    return "[" + f",{apart}".join(f"{{{row}}}" for row in rows) + "]"


def markdown(apart: str) -> str:
    rows = (HEADS, ("-",) * len(HEADS), *ROWS)
    return apart.join(f"| {' | '.join(row)} |" for row in rows)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.html", html("")), ("a.html", html("\n")), ("a.json", as_json(" ")),
        ("a.json", as_json("\n")), ("a.md", markdown("\n")),
        ("a.csv", "\n".join(",".join(row) for row in (HEADS, *ROWS))),
    ],
)  # fmt: skip
def test_a_bad_cell_of_a_table_costs_no_other_row(name: str, text: str) -> None:
    opened = source(name, text.encode())
    assert isinstance(opened, Source)
    reading = read_source(opened, FORMATS)
    rows = reading.frames["markdown_table"].select("gpus", "step_time", "mfu").rows()
    said = [tuple(each if each is None else round(each, 9) for each in row) for row in rows]
    assert said == [(8, 1.52, 0.41), (16, None, 0.39), (64, 5.1, 0.4)]
    faults = sorted((*reading.refused, *reading.remarks), key=lambda each: each.span)
    assert [each.code for each in faults] == [Code.UNDECODABLE, Code.OUT_OF_RANGE]
    for fault, cell in zip(faults, ("2..3", "-8"), strict=True):
        line = text.splitlines()[fault.span.line - 1]
        assert line[fault.span.column - 1 :].removeprefix('"').startswith(cell)
    (account,) = reading.accounting
    sums = (account.claimed, account.refused, account.blank, account.not_ours)
    assert sum(sums) == account.lines
    assert account.refused == len(reading.refused) == int("\n" in text)


def test_a_line_on_which_no_row_stands_is_refused() -> None:
    opened = source("a.html", re.sub("1.52|5.1|[0-9]+%", "1..2", html("")).encode())
    assert isinstance(opened, Source)
    reading = read_source(opened, FORMATS)
    assert not reading.frames
    (account,) = reading.accounting
    assert (account.refused, account.not_ours) in ((1, 0), (0, 1))
