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
