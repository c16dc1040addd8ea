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


def panel(*runs: str) -> str:
    """A panel of W&B: each run with its rate, and the bounds of what a point stands for."""
    labels = [f"{run} - perf/tokens_per_sec{end}" for run in runs for end in ("", "__MIN", "__MAX")]
    rows = [[step, *(61000.5 + step + at for at in range(len(runs)) for _ in range(3))]
            for step in (10, 20, 30)]  # fmt: skip
    return "\n".join(",".join(f'"{cell}"' for cell in row) for row in (["Step", *labels], *rows))


def test_a_panel_is_the_history_of_its_run(tmp_path: Path) -> None:
    path = tmp_path / "panel.csv"
    path.write_text(panel("brave-elm-7"))
    steps = read(path).frames["generic_step"]
    assert steps["step"].to_list() == [10, 20, 30]
    assert steps["token_rate"].to_list() == [61010.5, 61020.5, 61030.5]


@pytest.mark.parametrize("runs", [("brave-elm-7", "dry-fir-8"), ("Group: elms",), ("lr: 0.1",)])
def test_a_panel_of_several_runs_is_not_understood(tmp_path: Path, runs: tuple[str, ...]) -> None:
    path = tmp_path / "panel.csv"
    path.write_text(panel(*runs))
    reading = read(path)
    (note,) = (note for account in reading.accounting for note in account.tables)
    assert not any(frame.height for frame in reading.frames.values())
    assert note.rows == 3
    assert len(note.not_understood) == 1 + 3 * len(runs)


@pytest.mark.parametrize("tag", ["train_step_time_s_", "perf_step_time_ms"])
def test_scalars_are_what_their_file_is_called_after(tmp_path: Path, tag: str) -> None:
    path = tmp_path / f"run-version_2-tag-{tag}.csv"
    path.write_text(
        "Wall time,Step,Value\n1700000001.5,5,1.5\n1700000009.0,10,1.25\n1700000015.5,15,1.25\n"
    )
    steps = read(path).frames["generic_step"]
    assert steps["step"].to_list() == [5, 10, 15]
    scale = 1e-3 if "ms" in tag else 1.0
    assert steps["step_time"].to_list() == [1.5 * scale, 1.25 * scale, 1.25 * scale]


def test_rows_that_name_their_metric_are_steps_of_their_run(tmp_path: Path) -> None:
    path = tmp_path / "scalars.csv"
    rows = "".join(
        f"{run},{tag},{step},{value + step}\n"
        for run, value in (("a", 2.5), ("b", 7.5))
        for tag in ("train/loss", "perf/samples_per_sec", "note")
        for step in ((10, 20, 30) if tag != "note" else (5, 10))
    )
    path.write_text(f"Run,Tag,Step,Value\n{rows}")
    steps = read(path).frames["generic_step"]
    assert steps["step"].to_list() == [10, 20, 30] * 2
    assert steps["samples_per_s"].to_list() == [12.5, 22.5, 32.5, 17.5, 27.5, 37.5]


@pytest.mark.parametrize("order", ["abab", "aabb"])
def test_mixed_runs_are_not_understood(tmp_path: Path, order: str) -> None:
    """Nor is a run that could go on where the one before it ends."""
    path = tmp_path / "scalars.csv"
    rows = "".join(f"{run},tokens_per_sec,{at},{at}500\n" for at, run in enumerate(order, 1))
    path.write_text(f"Run,Tag,Step,Value\n{rows}")
    reading = read(path)
    assert not any(frame.height for frame in reading.frames.values())
    assert [note.rows for account in reading.accounting for note in account.tables] == [4]


def test_a_share_of_the_peak_alone_is_of_steps(tmp_path: Path) -> None:
    path = tmp_path / "mfu.csv"
    path.write_text("Step,calm-ash-2 - perf/mfu\n10,0.41\n20,0.425\n30,0.43\n")
    assert read(path).frames["generic_step"]["mfu"].to_list() == [0.41, 0.425, 0.43]
    path.write_text("batch,mfu\n8,0.31\n16,0.35\n24,0.36\n")
    assert "generic_step" not in read(path).frames


def test_memory_too_large_for_kilobytes_is_in_bytes(tmp_path: Path) -> None:
    path = tmp_path / "history.csv"
    rows = "".join(f"{step},2.5,41231686041,85899345920,40265318\n" for step in (10, 20, 30))
    path.write_text(f"step,loss,max_memory_allocated,memory_total,memory_reserved\n{rows}")
    row = read(path).frames["generic_step"].row(0, named=True)
    assert (row["max_allocated"], row["memory"], row["reserved"]) == (41231686041.0, None, None)


RESULTS = {
    "epoch": 2.0, "eval_loss": 1.5, "eval_runtime": 20.5, "eval_samples_per_second": 90.25,
    "eval_steps_per_second": 1.5, "total_flos": 2.5e17, "train_loss": 0.75,
    "train_runtime": 640.5, "train_samples": 8000, "train_samples_per_second": 25.0,
    "train_steps_per_second": 0.2,
}  # fmt: skip


def test_results_of_a_trainer_are_totals_of_their_parts(tmp_path: Path) -> None:
    path = tmp_path / "all_results.json"
    path.write_text(json.dumps(RESULTS, indent=4))
    held = read(path).frames["trainer_summary"].select("phase", "elapsed", "samples_per_s", "loss")
    assert held.rows() == [("training", 640.5, 25.0, 0.75), ("evaluation", 20.5, 90.25, 1.5)]


def test_results_with_settings_beside_are_a_table(tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    own = {name: value for name, value in RESULTS.items() if name.startswith("train")}
    path.write_text(json.dumps({"num_gpus": 4, "per_device_train_batch_size": 8, **own}))
    frames = read(path).frames
    assert "trainer_summary" not in frames
    (row,) = frames["markdown_table"].to_dicts()
    assert (row["gpus"], row["samples_per_s"]) == (4, 25.0)


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
