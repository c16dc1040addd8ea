"""Every log abridged as if it were long: runs, findings and figures are those of all its rows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from assay.ingest.inputs import abridge, read, sift
from assay.ingest.schema import reading
from assay.ingest.store import parquet
from assay.validate.runs.run_record import records
from assay.validate.score.assess import Report, assess

from tests.conftest import FIXTURES

CORPUS = Path(os.environ.get("ASSAY_CORPUS", "")) / "corpus"

KINDS = ("megatron_iteration", "deepspeed", "generic_step", "step_logs", "step_rate", "mlperf_log")
"""Folders of fixtures with steps."""


OTHERS = (".toml", ".golden", ".tsv")
"""Suffixes of what lies beside logs."""


def logs() -> list[Path]:
    """The logs of the fixtures and, where there is one, of the corpus."""
    own = [path for kind in KINDS for path in sorted((FIXTURES / kind).glob("*"))]
    more = [*CORPUS.glob("megatron_log/*"), *CORPUS.glob("wild/log/*/*")]
    known = own + sorted(more if os.environ.get("ASSAY_CORPUS") else [])
    return [path for path in known if path.name != "FACTS.md" and path.suffix not in OTHERS]


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dozen rows are many, and few of them come together."""
    monkeypatch.setattr(read, "FULL", -1)
    monkeypatch.setattr(abridge, "LONG", 12)
    for name, value in (("FIRST", 2), ("LAST", 2), ("LEAST", 3), ("SHARE", 2), ("ODD", 4)):
        monkeypatch.setattr(sift, name, value)
    monkeypatch.setattr(parquet, "ROWS", 64)
    monkeypatch.setattr(reading, "PORTION", 64)


def told(report: Report) -> list[tuple[object, ...]]:
    """The findings, without the cases that they count."""
    return [(f.law, f.severity, f.spans, f.explanation) for f in report.findings]


LARGE = 60_000
"""Bytes of a log that is read twice only in the slow runs; there are small ones of each kind."""

EVERY = 8
"""One of so many is read with every change, the others in the slow runs."""

LOGS = [
    pytest.param(
        path,
        id=f"{path.parent.name}/{path.name}",
        marks=[pytest.mark.slow] if at % EVERY or path.stat().st_size > LARGE else [],
    )
    for at, path in enumerate(logs())
]


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("log", LOGS)
def test_few_rows_say_what_all_of_them_say(log: Path) -> None:
    some, every = (assess([log], machine="A100-80g", every_row=each) for each in (False, True))
    if not some.outcome.reading.long:
        pytest.skip("no input of it has steps enough to be abridged")
    assert records(some) == records(every)
    assert told(some) == told(every)
    ours, theirs = some.scores.accuracy.to_dicts(), every.scores.accuracy.to_dicts()
    assert [one["n"] for one in ours] == [one["n"] for one in theirs]
    for one, other in zip(ours, theirs, strict=True):
        assert one == pytest.approx(other)
