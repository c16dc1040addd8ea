"""`assay watch` and `assay diff` from the outside."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.cli.conftest import Run
from tests.conftest import FIXTURES

JOB = str(FIXTURES / "arguments" / "gpt2_18b_v100.log")
OTHER = str(FIXTURES / "arguments" / "gpt2_52b_zero3.log")


def test_watch_shows_a_run(assay: Run) -> None:
    done = assay("watch", JOB, "--updates", "1")
    assert done.code == 0
    assert "1.381 s" in done.out
    assert "predicted" in done.out
    assert "to go at this pace" in done.out
    assert "V100-32g" in done.out


def test_watch_waits_for_the_first_step(assay: Run, tmp_path: Path) -> None:
    (tmp_path / "new.log").write_text("nothing yet\n")
    done = assay("watch", str(tmp_path / "new.log"), "--updates", "1")
    assert done.code == 0
    assert "no step yet" in done.out


def test_watch_of_nothing_is_a_usage_error(assay: Run, tmp_path: Path) -> None:
    assert assay("watch", str(tmp_path / "none.log")).code == 2


def test_watch_survives_truncation_and_rotation_and_ends_clean(tmp_path: Path) -> None:
    log, said = tmp_path / "job.log", tmp_path / "said.txt"
    line = " iteration {n}/ 90 | elapsed time per iteration (ms): 1000.0 |\n"
    log.write_text(line.format(n=1))
    command = [sys.executable, "-c", "from assay.validate.cli import app; app()"]
    with said.open("w") as out:
        running = subprocess.Popen(
            [*command, "watch", str(log), "--interval", "0.05"], stdout=out, stderr=subprocess.PIPE
        )
        for at, change in enumerate([
            lambda: log.open("a").write(line.format(n=2)),
            lambda: log.write_text(""),
            lambda: (log.rename(tmp_path / "old.log"), log.write_text(line.format(n=7))),
        ], 1):  # fmt: skip
            _until(said, at)
            change()
        _until(said, 4)
        running.send_signal(signal.SIGINT)
        _, complaint = running.communicate(timeout=60)
    assert running.returncode == 0
    assert complaint == b"assay: stopped\n"
    assert "iteration 7 of 90" in said.read_text()


def _until(said: Path, updates: int) -> None:
    """Wait until so many summaries stand there; each ends with an empty line."""
    for _ in range(600):
        if said.read_text().count("\n\n") >= updates:
            return
        time.sleep(0.1)
    raise AssertionError(said.read_text())


def test_diff_of_a_run_with_itself_changes_nothing(assay: Run) -> None:
    done = assay("diff", JOB, JOB, "--json", "--fail-if", "step_time>+1%")
    assert done.code == 0
    found = json.loads(done.out)
    assert found["arguments"] == []
    assert {change["change"] for change in found["changes"]} == {0.0}


def test_diff_writes_no_number_where_a_log_printed_none(assay: Run, tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    losses = ("2.5", "NaN", "NaN", "Infinity")
    log.write_text("".join(f'{{"step": {at}, "loss": {loss}}}\n' for at, loss in enumerate(losses)))
    done = assay("diff", log, log, "--json")
    assert done.code == 0, done.err
    (change,) = json.loads(done.out, parse_constant=str)["changes"]
    assert (change["name"], change["b"], change["change"]) == ("lm_loss", None, None)


def test_a_gate_fails_where_a_run_has_no_number(assay: Run, tmp_path: Path) -> None:
    """A run that diverged is not one whose loss did not rise."""
    for name, last in (("sound", "2.1"), ("diverged", "NaN")):
        losses = ("2.5", "2.3", last)
        text = "".join(f'{{"step": {at}, "loss": {each}}}\n' for at, each in enumerate(losses))
        (tmp_path / name).write_text(text)
    done = assay("diff", tmp_path / "sound", tmp_path / "diverged", "--fail-if", "lm_loss>+5%")
    assert (done.code, "lm_loss is no number" in done.err) == (1, True)


def test_diff_fails_where_a_gate_says_so(assay: Run) -> None:
    done = assay("diff", JOB, OTHER, "--machine", "V100-32g", "--fail-if", "step_time>+5%")
    assert done.code == 1
    assert "step_time changed by" in done.err
    assert "megatron.hidden_size" in done.out
    assert assay("diff", JOB, OTHER, "--fail-if", "nonsense").code == 2


def test_diff_without_a_run_ends_with_four(assay: Run, tmp_path: Path) -> None:
    (tmp_path / "new.log").write_text("nothing yet\n")
    assert assay("diff", JOB, str(tmp_path / "new.log")).code == 4
