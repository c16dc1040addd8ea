"""Several files of one job are one run where they prove it, and only there."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.inputs.read import read
from assay.validate.cases import jobs
from assay.validate.cases.cases import cases
from assay.validate.cases.observe import about
from assay.validate.cases.steps import steps as steps_of
from assay.validate.runs.run import Run, runs

from tests.conftest import FIXTURES

JOB = (FIXTURES / "arguments" / "gpt2_18b_v100.log").read_text()
DUMP = "\n".join(line for line in JOB.splitlines() if "....." in line or "-----" in line) + "\n"
"""Its arguments alone: what else it prints takes most of the time to read and proves nothing."""


def line(n: int, *, loss: float = 1.0, ms: float = 1000.0, each: int = 4, clock: str = "") -> str:
    return (
        f" {clock}iteration {n}/ 900 | consumed samples: {n * each} | elapsed time per iteration "
        f"(ms): {ms} | global batch size: {each} | lm loss: {loss + n / 1000} |\n"
    )


def steps(numbers: Iterable[int], *, ms: float = 1000.0, loss: float = 1.0, clock: str = "") -> str:
    return "".join(line(n, loss=loss, ms=ms + n, clock=clock) for n in numbers)


def found(folder: Path, **files: str) -> tuple[Run, ...]:
    for name, text in files.items():
        (folder / f"{name}.log").write_text(text)
    reading = read([folder]).reading
    return runs(reading, cases(reading, about(FORMATS)))


def test_a_log_cut_in_two_is_the_log(tmp_path: Path) -> None:
    (whole,) = found(tmp_path, job=DUMP + steps(range(10, 200, 10)))
    (tmp_path / "job.log").unlink()
    (run,) = found(
        tmp_path, part1=DUMP + steps(range(10, 100, 10)), part2=steps(range(100, 200, 10))
    )
    assert run.case.endswith("part1.log#" + whole.case.rpartition("#")[2])
    assert [part.rpartition("/")[2].partition(".")[0] for part in run.parts] == ["part1", "part2"]
    assert "goes on at iteration 100 after 90" in run.why[0]
    assert (run.metrics, run.window) == (whole.metrics, whole.window)
    assert run.configuration == whole.configuration


def test_a_restart_in_another_file_supersedes_what_it_repeats(tmp_path: Path) -> None:
    (run,) = found(
        tmp_path,
        a=DUMP + steps(range(1, 11), ms=5000.0),
        b=DUMP + steps(range(8, 31), loss=2.0),
    )
    assert run.metrics["superseded"].value == 3
    assert run.rows == 30
    assert run.metrics["step_time"].value == pytest.approx(1.0, abs=0.05)
    assert "begins again at iteration 8 of 10" in run.why[0]


def test_outputs_of_several_ranks_count_once(tmp_path: Path) -> None:
    (run,) = found(tmp_path, **{f"rank{r}": DUMP + steps(range(1, 11)) for r in range(4)})
    assert (run.rows, len(run.parts)) == (10, 4)
    assert run.metrics["tokens_per_s"].value == pytest.approx(4096 / 1.006, rel=1e-3)


@pytest.mark.parametrize(
    "other",
    [
        DUMP + steps(range(1, 11), ms=1003.0),  # another measurement with the same losses
        DUMP.replace("0.02", "0.03") + steps(range(11, 21)),  # other arguments
        steps(range(12, 22)),  # a gap
        steps(range(11, 21)).replace("consumed samples: ", "consumed samples: 9"),
        steps(range(11, 21)).replace("/ 900", "/ 901"),
        DUMP + steps(range(5, 9), ms=1003.0),  # ends before the first does
    ],
)
def test_what_proves_nothing_stays_apart(tmp_path: Path, other: str) -> None:
    two = found(tmp_path, a=DUMP + steps(range(1, 11)), b=other)
    assert [run.parts for run in two] == [(), ()]
    assert len({run.case for run in two}) == 2


def test_the_order_of_the_files_does_not_matter(tmp_path: Path) -> None:
    (run,) = found(
        tmp_path, z=DUMP + steps(range(1, 11)), y=steps(range(11, 21)), x=steps(range(21, 31))
    )
    assert [part.rpartition("/")[2][0] for part in run.parts] == ["z", "y", "x"]
    assert run.window == (2, 30)


def test_iterations_that_begin_anew_with_other_samples_are_another_run(tmp_path: Path) -> None:
    def some(first: int, *, each: int, ms: float) -> str:
        return "".join(line(n, each=each, ms=ms) for n in range(first, 9))

    text = some(1, each=4, ms=2000.0) + some(1, each=8, ms=4000.0) + some(5, each=8, ms=4000.0)
    one, other = found(tmp_path, a=text)
    assert (one.rows, one.metrics["step_time"].value) == (8, 2.0)
    assert (other.rows, other.metrics["step_time"].value) == (8, 4.0)
    assert other.case == f"{one.case}#9"


BATCHES = {
    "ramps": ([(10, 160, 1.0, 16), (20, 320, 1.0, 16), (30, 560, 1.4, 32), (40, 880, 2.0, 32),
               (50, 1200, 2.0, 32), (60, 1520, 2.0, 32)], [2.0]),
    "falls": ([(10, 320, 2.0, 32), (20, 640, 2.0, 32), (30, 800, 1.0, 16), (40, 960, 1.0, 16)],
              [2.0, 1.0]),
    "jumps": ([(10, 160, 1.0, 16), (20, 320, 1.0, 16), (30, 9600, 2.0, 32), (40, 9920, 2.0, 32)],
              [1.0, 2.0]),
}  # fmt: skip


@pytest.mark.parametrize("name", BATCHES)
def test_no_median_is_taken_over_two_batches(tmp_path: Path, name: str) -> None:
    rows, times = BATCHES[name]
    log = tmp_path / "run.log"
    log.write_text("".join(
        f" iteration {n:8}/ 1000 | consumed samples: {c} | elapsed time per iteration (s): {t:.2f} "
        f"| global batch size: {b} | lm loss: 2.{n}E+00 |\n" for n, c, t, b in rows
    ))  # fmt: skip
    reading = read([log]).reading
    held = steps_of(reading)
    assert [one.steady["step_time"].median() for one in held] == times


BANNER = (
    "WARNING:torch.distributed.run:\n*****************************************\n"
    "Setting OMP_NUM_THREADS environment variable for each process to be 1 in default, to avoid "
    "your system being overloaded\n*****************************************\n"
)


def test_a_launcher_below_steps_begins_another_job(tmp_path: Path) -> None:
    first, second = found(
        tmp_path,
        job=BANNER * 4 + steps(range(1, 9)) + BANNER * 4 + steps(range(9, 17), ms=3000.0),
    )
    assert first.rows == second.rows == 8
    assert second.metrics["step_time"].value == pytest.approx(3.0125, abs=0.01)


@pytest.mark.parametrize(
    "banner",
    [
        "[2026-01-02 10:11:12,131] [INFO] [launch.py:163:main] Setting CUDA_VISIBLE_DEVICES=0,1\n",
        "srun: job 4711 has been allocated resources\n",
        "W0102 10:11:12.131000 4711 torch/distributed/run.py:792] Setting OMP_NUM_THREADS "
        "environment variable for each process to be 1 in default\n",
    ],
)
def test_every_launcher_is_known(tmp_path: Path, banner: str) -> None:
    generic = "".join(f"step {n} | loss {9 - n / 9:.3f} | 1.{n}1 s/step\n" for n in range(1, 9))
    later = generic.replace("step ", "step 1")
    assert len(found(tmp_path, job=banner + generic + banner + later)) == 2
    assert len(found(tmp_path, job=banner * 3 + generic + later)) == 1


def ramp(batches: Iterable[int]) -> str:
    return "".join(
        f" iteration {n}/ 900 | elapsed time per iteration (ms): {10.0 * batch + n % 3} | "
        f"global batch size: {batch} | lm loss: {9 - n / 100} |\n"
        for n, batch in enumerate(batches, 1)
    )


def test_steps_that_begin_again_with_an_epoch_are_of_one_job(tmp_path: Path) -> None:
    line = "epoch {e} step {n} | loss {l:.3f} | 1.{n}1 s/step\n"
    epochs = [
        "".join(line.format(e=e, n=n, l=9 - e - n / 9) for n in range(1, 7)) for e in range(3)
    ]
    assert len(found(tmp_path, job="".join(epochs))) == 1
    assert len(found(tmp_path, job=epochs[1] + epochs[1])) == 2


def test_a_batch_that_rises_as_the_job_states_is_its_own(tmp_path: Path) -> None:
    stated = DUMP.replace(
        "rampup_batch_size ............................... None",
        "rampup_batch_size ............................... ['16', '16', '300']",
    )
    assert stated != DUMP
    batches = [16] * 6 + [32] * 6 + [48] * 6 + [64] * 6
    (run,) = found(tmp_path, job=stated + ramp(batches))
    assert run.rows == len(batches)
    assert len(found(tmp_path, job=DUMP + ramp(batches))) == 4
    odd = [16] * 6 + [40] * 6  # not what it adds
    assert len(found(tmp_path, job=stated + ramp(odd))) == 2


# --- many files


def a_part(draw: random.Random, at: int) -> jobs.Part:
    """A few iterations of one of few jobs, with some of what a line may print of them."""
    told = draw.choice([None, "a", "b"])
    part = jobs.Part(f"{at:03}", f"{at:03}.log", told, draw.choice([None, 9]))
    first, step = draw.randrange(1, 8), draw.choice([1, 1, 2])
    loss, shift = draw.choice([None, 2.5, 2.5]), draw.choice([0, 0, 8])
    for n in range(first, first + step * draw.choice([1, 2, 3, 3, 80]), step):
        consumed = draw.choice([None, n * 4 + shift]) if draw.random() < 0.2 else n * 4 + shift
        time = draw.choice([None, 1.0, 1.5]) if draw.random() < 0.2 else 1.0
        part.steps[n] = jobs.Step(consumed, loss, time, draw.choice([None, f"12:0{n % 10}"]))
    return part


@pytest.mark.parametrize("seed", range(8))
def test_who_is_not_asked_would_not_go_on(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(seed)
    known = [a_part(draw, at) for at in range(60)]
    found = jobs._joined(known)
    assert any("goes on" in said for why in found[1].values() for said in why)
    monkeypatch.setattr(jobs._Ends, "before", lambda self, _part: self._every)
    assert jobs._joined(known) == found


def test_many_files_of_one_step_are_not_asked_for_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []
    same = jobs._same
    monkeypatch.setattr(jobs, "_same", lambda *two: asked.append(1) or same(*two))
    for loss in (None, 2.5):
        steps = [{1: jobs.Step(64, loss, 1.0 + at, None)} for at in range(400)]
        known = [jobs.Part(f"{at}", f"{at}", None, 9, each) for at, each in enumerate(steps)]
        assert jobs._joined(known) == ({}, {})
    assert len(asked) < 400
