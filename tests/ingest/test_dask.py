"""The same work on a dask.distributed cluster of separate processes, some of which die."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from assay.ingest.inputs import chunks
from assay.ingest.inputs.chunks import Chunk
from assay.ingest.inputs.dask_engine import NoEngine, cluster
from assay.ingest.inputs.parts import ingest
from assay.ingest.inputs.read import recipe

from tests.ingest.test_parts import bytes_of, deadly, rows_once, write_logs

HOW = recipe({})


@pytest.fixture(scope="module")
def workers() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
        silence_logs=50,
    ) as made:  # fmt: skip
        yield made


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_costs_nothing(
    workers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "MANY", 3)
    logs = write_logs(tmp_path / "logs", 40)
    killed: list[int] = []

    def kill_once(_chunk: Chunk) -> None:
        if not killed:
            killed.append(next(iter(workers.workers.values())).process.process.pid)
            os.kill(killed[0], signal.SIGKILL)

    done = ingest(
        [tmp_path / "logs"], tmp_path / "out", HOW,
        engine=cluster(workers.scheduler_address), watch=kill_once,
    )  # fmt: skip
    assert killed
    assert done.unreadable == ()
    rows_once(tmp_path / "out", logs)
    ingest([tmp_path / "logs"], tmp_path / "here", HOW)
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "here")


@pytest.mark.slow
def test_an_input_that_kills_every_worker_is_given_up_alone(workers: Any) -> None:
    engine = cluster(workers.scheduler_address)
    todo = [Chunk((("1a",), ("1b",))), Chunk((("2a",), ("2b",)))]
    seen = {}
    for chunk, result in engine(partial(deadly, frozenset({"2b"})), todo):
        seen.update(dict.fromkeys(chunk.paths, result is not None))
    assert seen == {"1a": True, "1b": True, "2a": True, "2b": False}


def test_without_the_extra_one_line_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(NoEngine, match=r"pip install 'assay\[dask\]'"):
        cluster("tcp://127.0.0.1:1")


def test_no_scheduler_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    monkeypatch.setattr("assay.ingest.inputs.dask_engine.PATIENCE", "0.5s")
    with pytest.raises(NoEngine, match="no Dask scheduler at"):
        cluster("tcp://127.0.0.1:1")
