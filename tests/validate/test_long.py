"""Long inputs: what a report says of them does not depend on how many rows are held in memory."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from assay.ingest.inputs import sift
from assay.ingest.inputs.parts import ingest
from assay.ingest.inputs.read import read, recipe
from assay.ingest.store import load
from assay.validate.report import json_document
from assay.validate.report.sections import sections
from assay.validate.report.terminal import render
from assay.validate.runs.run_record import records
from assay.validate.score.assess import Report, assess

from tests.benchmarks.inputs import ARGUMENTS, ITERATION
from tests.conftest import mostly_slow

ROWS = 12_000
"""Iterations of a log: more than are held."""


def dump(**others: int) -> str:
    """What a job says of itself before it begins."""
    said = "".join(f"  {n} {'.' * (48 - len(n))} {v}\n" for n, v in (ARGUMENTS | others).items())
    return f"{'-' * 24} arguments {'-' * 24}\n{said}{'-' * 20} end of arguments {'-' * 20}\n"


def lines(
    seed: int, *, begin: int = 1, rows: int = ROWS, bad: float = 0.0, nan: float = 0.0,
    ramp: bool = False,
) -> Iterator[str]:  # fmt: skip
    """Iterations, the first slow; shares of them with a wrong rate or a loss that is no number."""
    draw = random.Random(seed)
    for n in range(begin, begin + rows):
        batch = 512 + 64 * ((n - begin) * 8 // rows) if ramp else 2048
        time = 300.0 if n == begin else 100 + 10 * draw.random()
        flops = 15_680 * batch / 2048 / time * (2.0 if draw.random() < bad else 1.0)
        text = ITERATION.format(
            n=n, samples=batch * n, tokens=2048 * batch * n, time=time, rate=6e-5, batch=batch,
            loss=1.5 + draw.random(), norm=draw.random(), zeros=1.0, skipped=draw.randrange(2),
            speed=batch / time, flops=flops,
        )  # fmt: skip
        yield text.replace("lm loss: 1.", "lm loss: NAN 1.") if draw.random() < nan else text


LOGS = {
    "wrong rates": lambda: [dump(), *lines(2, bad=0.004)],
    "plain": lambda: [dump(), *lines(1)],
    "a batch that grows": lambda: [dump(), *lines(3, ramp=True)],
    "a restart": lambda: [dump(), *lines(6), dump(), *lines(7, begin=9_000, rows=5_000)],
    "two jobs": lambda: [
        dump(), *lines(4, rows=8_000),
        dump(tensor_model_parallel_size=4, data_parallel_size=8), *lines(5, rows=8_000),
    ],
    "no arguments": lambda: list(lines(8)),
}  # fmt: skip


@pytest.fixture(params=mostly_slow(LOGS, 3), scope="module")
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Report, Report]:
    """Reports of one log: of the rows that tell something new, and of every row."""
    log = tmp_path_factory.mktemp("long") / "job.log"
    log.write_text("".join(LOGS[request.param]()), encoding="utf-8")
    some, every = (assess([log], machine="A100-80g", every_row=each) for each in (False, True))
    return some, every


def test_few_rows_are_held(both: tuple[Report, Report]) -> None:
    some, every = both
    (long,) = some.outcome.reading.long
    held = some.outcome.reading.frames["megatron_iteration"]
    assert not every.outcome.reading.long
    assert long.height == every.outcome.reading.frames["megatron_iteration"].height
    assert held.height < 0.6 * long.height
    assert long.kept["rows"].sum() == pytest.approx(long.height)


def test_the_report_is_the_same(both: tuple[Report, Report]) -> None:
    some, every = (render(sections(each), width=160) for each in both)
    assert some == every


def test_runs_findings_and_figures_are_the_same(both: tuple[Report, Report]) -> None:
    some, every = both
    assert records(some) == records(every)
    assert some.findings == every.findings or [
        (f.law, f.severity, f.spans, f.explanation) for f in some.findings
    ] == [(f.law, f.severity, f.spans, f.explanation) for f in every.findings]
    ours, theirs = some.scores.accuracy.to_dicts(), every.scores.accuracy.to_dicts()
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert one == pytest.approx(other)


def test_json_tells_of_runs_and_not_of_lines(both: tuple[Report, Report]) -> None:
    some, _ = both
    said = json_document.document(some)
    assert said["runs"]
    assert len(said["cases"]) <= 10
    assert not said["pairs"]
    assert not said["unpredicted"]


@pytest.mark.slow
def test_a_hundred_thousand_lines_are_few_cases(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text("".join([dump(), *lines(9, rows=100_000)]), encoding="utf-8")
    said = assess([log], machine="A100-80g")
    assert len(json_document.document(said)["cases"]) <= 10
    assert said.cases.configuration.height < 3_000
    assert said.outcome.reading.provenance.height < 100_000
    (run,) = records(said)
    assert (run.steps, run.settled) == (100_000, 99_999)


def test_odd_rows_are_held(tmp_path: Path) -> None:
    text = list(lines(10))
    text[7_000] = text[7_000].replace("lm loss: ", "lm loss: NAN ignored: ")
    odd = text[5_000].split("TFLOPs: ")
    text[5_000] = f"{odd[0]}TFLOPs: 9{odd[1]}"
    log = tmp_path / "job.log"
    log.write_text(dump() + "".join(text), encoding="utf-8")
    reading = read([log], long=True).reading
    held = reading.frames["megatron_iteration"]["iteration"].to_list()
    assert {1, ROWS, 5_001} <= set(held)
    assert len(held) < sift.LONG


@pytest.mark.parametrize("count", mostly_slow([2, 1]))
def test_a_folder_of_long_logs_says_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(load, "PORTION", 5_000)
    logs = [tmp_path / f"job{n}.log" for n in range(count)]
    for n, log in enumerate(logs):
        log.write_text("".join([dump(), *lines(20 + n)]), encoding="utf-8")
    ingest(logs, tmp_path / "out", recipe({}))
    read_back = assess([tmp_path / "out"], machine="A100-80g")
    assert [long.height for long in read_back.outcome.reading.long] == [ROWS] * count
    assert records(read_back) == records(assess(logs, machine="A100-80g"))
