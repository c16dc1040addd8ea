"""`assay formats [NAME] | new | test`, as a user types them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.conftest import ROOT, mostly_slow

SWIFT = ROOT / "examples" / "own_format" / "swift_format" / "swift_step.toml"
LINE = "step=120 loss=2.31 tok/s=51234 mem=61.2GiB mfu=43.1%"
LINES = [
    (LINE, {"step", "loss", "tokens_per_s", "mem", "mfu"}),
    (
        "[titan] 2025-01-02 03:04:05,123 - root - INFO - step:  1  loss: 12.2721  grad_norm:  4.1  "
        "memory:  1.02GiB(2.15%)  tps: 1,234  tflops: 5.43  mfu: 0.55%",
        {"step", "loss", "grad_norm", "memory", "tokens_per_s", "flops_rate", "mfu"},
    ),
    (
        "iter 120/1000 | loss 2.3145 | lr 1.00e-04 | dt: 812.5ms | tok/sec: 51234",
        {"iter", "iter_total", "loss", "lr", "dt", "tokens_per_s"},
    ),
    ("iter 1480: loss 2.31, time 812.55ms, mfu 43.10%", {"iter", "loss", "time", "mfu"}),
    ("epoch 3, step 20, train loss 0.25, step time 0.91 s",
     {"epoch", "step", "train_loss", "step_time"}),
    ("Step 12/500 | loss: 2.31 | time_ms: 812.5 | gpus: 8 | done",
     {"step", "step_total", "loss", "time", "logged_gpus"}),
    ("{'loss': 2.31, 'grad_norm': 1.25, 'epoch': 0.02}", {"loss", "grad_norm", "epoch"}),
    ('2025-03-04 05:06:07 INFO out {"step": 7, "loss": 2.5, "by": "x y", "tokens_per_sec": 9.5}',
     {"step", "loss", "by", "tokens_per_s"}),
    ('say "hi" step: 3 ; note: it\'s ; loss: nan', {"step", "note", "loss"}),
]  # fmt: skip


def test_the_list_and_a_name(assay: Run) -> None:
    listed = assay("formats")
    assert listed.code == 0
    assert "megatron_iteration" in listed.out
    one = assay("formats", "step_rate")
    assert one.code == 0
    assert "step_time" in one.out
    assert one.out == assay("formats", "show", "step_rate").out


def test_a_typo_names_the_nearest(assay: Run) -> None:
    done = assay("formats", "step_rat")
    assert done.code == 2
    assert "did you mean 'step_rate'?" in done.err
    assert "did you mean 'test'?" in assay("formats", "tset").err


def test_a_format_of_ones_own_is_shown(assay: Run) -> None:
    done = assay("formats", "show", "swift_step", "--format", SWIFT)
    assert done.code == 0
    assert "Step lines of the Swift trainer." in done.out
    assert "tok/s" in done.out


@pytest.mark.parametrize(
    ("line", "columns"), mostly_slow(LINES, 3), ids=[line[:16] for line, _ in LINES]
)
def test_a_pasted_line_becomes_a_format_that_reads_it(
    assay: Run, tmp_path: Path, line: str, columns: set[str]
) -> None:
    made = assay("formats", "new", line, "--name", "mine")
    assert made.code == 0, made.err
    assert {text[9:-1] for text in made.out.splitlines() if text.startswith("[columns.")} == columns
    file = tmp_path / "mine.toml"
    file.write_text(made.out)
    log = tmp_path / "a.log"
    log.write_text(f"{line}\n{line}\nsomething else\n")
    tried = assay("formats", "test", file, log)
    assert tried.code == 0, tried.err
    assert "reads as it says" in tried.out
    assert "3     2" in tried.out  # lines, rows
    assert assay("ingest", log, "-o", tmp_path / "out", "--format", file).code == 0


@pytest.mark.parametrize(
    ("label", "value", "name", "unit"),
    [
        ("tokens_per_sec", "5", "tokens_per_s", "token/s"),
        ("tok/s/gpu", "5", "tokens_per_gpu_per_s", "token/s"),
        ("step_time_ms", "5", "step_time", "s"),
        ("elapsed (ms)", "5", "elapsed", "s"),
        ("time_s", "5", "time", "s"),
        ("mem", "61.2 GiB", "mem", "B"),
        ("loss_min", "5", "loss_min", None),  # the least loss, no minutes
        ("loss_h", "5", "loss_h", None),
        ("it_per_s", "5", "it_per_s", "step/s"),
        ("lr", "nan", "lr", None),
        ("gpus", "8", "logged_gpus", None),
    ],
)
def test_a_unit_is_what_the_line_shows(label: str, value: str, name: str, unit: str | None) -> None:
    from assay.ingest.formats.own.guess import columns

    (column,) = columns({label: [value]})
    assert (column.name, column.unit) == (name, unit)


def test_lines_come_from_a_file_and_from_stdin(assay: Run, tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(f"hello\n{LINE}\n{LINE.replace('61.2GiB', '61.2')} eta=3h\n")
    by_file = assay("formats", "new", log)
    assert by_file.code == 0
    assert by_file.out == assay("formats", "new", stdin=log.read_bytes()).out
    assert by_file.out == assay("formats", "new", "-", stdin=log.read_bytes()).out
    assert by_file.out.count("[[samples]]") == 2
    assert "eta" in by_file.out


def test_a_pasted_line_harms_no_terminal(assay: Run, tmp_path: Path) -> None:
    line = "step=1 loss=2.5 by=a\u009b31m\u202eb\x1b]8;;x\x07"
    log = tmp_path / "a.log"
    log.write_text(f"{line}\n")
    made = assay("formats", "new", log)
    assert made.code == 0, made.err
    assert all(each.isprintable() or each == "\n" for each in made.out)


def test_what_holds_no_labelled_numbers_says_so(assay: Run) -> None:
    for line in ("hello world", "", "{'loss': [1, 2]}"):
        done = assay("formats", "new", line)
        assert done.code == 4
        assert "docs/own-formats.md" in done.err


def test_a_line_that_is_known_already_is_told(assay: Run) -> None:
    known = "Step Time : 5.20s GPU utilization: 402.1TFLOP/s/GPU"
    assert "step_rate claims such lines already" in assay("formats", "new", known).err


def test_a_file_is_written_once(assay: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    assert assay("formats", "new", LINE, "-o", file).code == 0
    assert assay("formats", "new", LINE, "-o", file).code == 2
    assert assay("formats", "new", LINE, "-o", file, "--force").code == 0
    assert assay("formats", "new", LINE, "--name", "No!").code == 2
    assert assay("formats", "new", LINE, "--name", "step_rate").code == 2


def test_all_that_differs_is_told(assay: Run, tmp_path: Path) -> None:
    file = tmp_path / "swift.toml"
    text = SWIFT.read_text().replace("loss = 2.31", "loss = 2.13").replace("step = 120", "step = 1")
    file.write_text(text)
    done = assay("formats", "test", file)
    assert done.code == 1
    assert "values.loss: expected 2.13, read 2.31" in done.err
    assert "values.step: expected 1, read 120" in done.err
    assert assay("formats", "test", tmp_path / "none.toml").code == 2


def test_a_trial_says_what_is_not_read(assay: Run, tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(
        "step=1 loss=2 eta=3h\nstep=2 loss=x\nthe step=3\n"
        "Step Time : 5.20s GPU utilization: 402.1TFLOP/s/GPU\n"
    )
    done = assay("formats", "test", SWIFT, log)
    assert done.code == 0
    for said in ("loss was 'x'", "the step=3", "eta", "1 of step_rate", "1 of 2"):
        assert said in done.out, said
    other = tmp_path / "b.log"
    other.write_text("nothing\n")
    assert assay("formats", "test", SWIFT, other).code == 4
    assert assay("formats", "test", SWIFT, tmp_path / "none.log").code == 2


def test_a_log_with_commas_is_no_table(assay: Run, tmp_path: Path) -> None:
    log = ROOT / "tests/ingest/trainers/lit_llama.log"
    made = tmp_path / "mine.toml"
    assay("formats", "new", log, "--name", "mine", "-o", made)
    tried = assay("formats", "test", made, log)
    assert "4" in tried.out
    assert "[tables]" not in made.read_text(encoding="utf-8")
