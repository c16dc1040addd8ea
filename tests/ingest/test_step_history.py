"""Histories of steps that are no log: separated values, JSON documents, event files."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl
import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.inputs.read import read as together_read
from assay.ingest.pipeline.merge import together
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.reading import Reading
from assay.ingest.source.opening import Source, open_source

from tests.conftest import FIXTURES


def read(path: Path) -> Reading:
    opened = open_source(path)
    assert isinstance(opened, Source)
    reading = read_source(opened, FORMATS)
    (account,) = reading.accounting
    assert account.claimed + account.refused + account.not_ours == account.lines
    return reading


def test_golden_values_of_both_forms() -> None:
    by_step = read(FIXTURES / "step_history/golden_values.json").frames["trainer_step"]
    assert by_step["step"].to_list() == [1, 2, 3, 4]
    assert by_step["step_time"].to_list() == [None, 0.41234, 0.41002, 0.41087]
    assert by_step["max_allocated"].to_list() == [2341123072.0] * 4
    listed = read(FIXTURES / "step_history/golden_lists.json").frames["trainer_step"]
    assert listed["step"].to_list() == [0, 5, 10]
    assert listed["loss"].to_list() == [10.81234, 10.80912, 10.75001]
    assert listed["line"].to_list() == [7, 8, 9]


def test_the_state_of_a_trainer_and_its_summary() -> None:
    frames = read(FIXTURES / "step_history/trainer_state.json").frames
    assert frames["trainer_step"]["step"].to_list() == [10, 20, 30]
    (summary,) = frames["trainer_summary"].to_dicts()
    assert (summary["phase"], summary["elapsed"], summary["samples_per_s"]) == (
        "training", 63.3, 30.38,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["trainer_state", "golden_values", "golden_lists"])
def test_a_document_without_line_ends_has_the_same_rows_apart(tmp_path: Path, name: str) -> None:
    document = FIXTURES / "step_history" / f"{name}.json"
    path = tmp_path / "one.json"
    path.write_text(json.dumps(json.loads(document.read_text(encoding="utf-8"))))
    there, here = (read(each).frames for each in (document, path))
    assert there.keys() == here.keys()
    for frame, rows in here.items():
        assert rows["line"].to_list() == [1] * rows.height
        assert rows["column"].n_unique() == rows.height, frame
        kept = rows.drop("source", "line", "column")
        assert kept.equals(there[frame].select(kept.columns)), frame


def test_separated_values_whose_rows_are_of_two_kinds() -> None:
    steps = read(FIXTURES / "step_history/lightning.csv").frames["generic_step"]
    assert steps["step"].to_list() == [9, 19, 29]
    assert steps["loss"].to_list() == [8.9121, 8.5121, 8.2121]


def test_a_bad_row_costs_that_row(tmp_path: Path) -> None:
    text = (FIXTURES / "step_history/wandb.csv").read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    lines[2] = '"1","34.31"\n'
    path = tmp_path / "history.csv"
    path.write_text("".join(lines), encoding="utf-8")
    reading = read(path)
    (fault,) = reading.refused
    assert (fault.span.line, fault.message) == (3, "2 cells, the header has 7")
    assert reading.frames["trainer_step"]["step"].to_list() == [0, 2, 3]


def test_many_histories_are_typed_together_as_each_alone(tmp_path: Path) -> None:
    for at in range(4):
        rows = "".join(f"{step},{'x' * (step == at)}2.5,{at + 1}\n" for step in range(5))
        (tmp_path / f"{at}.csv").write_text(f"step,loss,step_time\n{rows}")
    (tmp_path / "2.toml").write_text('[configuration]\ngpu = "H100"\n')
    (tmp_path / "4.csv").write_text("step,loss\n0,2.5\n1,2.5,7\n2,2.25\n3,2.0\n")
    paths = sorted(tmp_path.glob("*.csv"))
    many = together_read(paths).reading
    alone = together(together_read([path]) for path in paths).reading
    assert many.frames.keys() == alone.frames.keys()
    for name, frame in many.frames.items():
        assert frame.equals(alone.frames[name]), name
    assert many.provenance.equals(alone.provenance)
    assert many.accounting == alone.accounting
    assert (many.refused, many.remarks) == (alone.refused, alone.remarks)
    assert many.refused
    assert many.provenance.height


def test_a_table_whose_count_does_not_rise_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(
        "GPUs,iterations,time per step (s)\n8,100,1.02\n16,100,0.56\n32,100,0.31\n",
        encoding="utf-8",
    )
    assert set(read(path).frames) == {"markdown_table"}


def events(folder: Path) -> Path:
    """An event file of three steps, one of them written again."""
    proto = pytest.importorskip("tensorboard.compat.proto.event_pb2")
    writer = pytest.importorskip("tensorboard.summary.writer.event_file_writer")
    out = writer.EventFileWriter(str(folder))
    for step, loss, time in [(1, 10.81, 9.125), (2, 10.7, 0.5), (2, 10.75, 0.41), (3, 10.6, 0.412)]:
        event = proto.Event(step=step, wall_time=1735812672.0 + step)
        event.summary.value.add(tag="lm loss", simple_value=loss)
        event.summary.value.add(tag="iteration-time", simple_value=time)
        out.add_event(event)
    out.close()
    (path,) = folder.iterdir()
    return path


def test_an_event_file(tmp_path: Path) -> None:
    steps = read(events(tmp_path)).frames["trainer_step"]
    assert steps["step"].to_list() == [1, 2, 3]
    assert steps["loss"].to_list() == [10.81, 10.75, 10.6]
    assert steps["step_time"].to_list() == [9.125, 0.41, 0.412]


@pytest.mark.parametrize("kept", [0.5, 0.8])
def test_a_damaged_event_file_keeps_what_stands_before(tmp_path: Path, kept: float) -> None:
    path = events(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept)])
    steps = read(path).frames.get("trainer_step", pl.DataFrame())
    assert steps.height < 3


def test_without_the_extra_the_message_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "events.out.tfevents.1"
    path.write_bytes(b"\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22\x09\0\0\0\0\0\0\0\0\x1a\x0dbrain.Event:2")
    monkeypatch.setitem(sys.modules, "tensorboard.backend.event_processing", None)
    name = "tensorboard.backend.event_processing.event_file_loader"
    monkeypatch.setitem(sys.modules, name, None)
    reading = read(path)
    assert not reading.frames
    (fault,) = reading.refused
    assert "pip install 'assay[tensorboard]'" in fault.message
