"""Exports of Nsight Systems: joined like other traces, damaged rows refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from assay.ingest.formats.traces import nsys
from assay.ingest.inputs.read import read
from assay.ingest.source.opening import Source, source

from .nsys_export import KERNELS, export


def test_kernels_are_joined_to_what_launched_them(tmp_path: Path) -> None:
    export(tmp_path / "a.sqlite")
    outcome = read([tmp_path / "a.sqlite"])
    rows = outcome.reading.frames["trace_kernel"].to_dicts()
    (account,) = outcome.reading.accounting
    assert account.lines == account.claimed == 3 + 1 + 4 + 2
    assert [row["kind"] for row in rows] == ["gemm", "pointwise", "collective", "copy"]
    assert [row["operator"] for row in rows] == ["aten::mm", None, None, None]
    assert {row["layer"] for row in rows[:1]} == {"layer 3"}
    assert rows[0]["reason"] == "the dimensions of its operands were not recorded"
    assert rows[0]["duration"] == pytest.approx(50e-6)
    assert rows[0]["gpu"] == "NVIDIA H100 80GB HBM3"
    assert rows[3]["bytes"] == 64
    step = outcome.reading.frames["trace_step"].row(0, named=True)
    assert step["exposed"] == pytest.approx(100e-6)


def test_a_packed_export_is_read(tmp_path: Path) -> None:
    export(tmp_path / "a.sqlite")
    (tmp_path / "b.sqlite.gz").write_bytes(gzip.compress((tmp_path / "a.sqlite").read_bytes()))
    frames = read([tmp_path / "b.sqlite.gz"]).reading.frames
    assert frames["trace_kernel"].height == 4


def test_rows_without_times_are_refused(tmp_path: Path) -> None:
    bad = [KERNELS[0], (5, 1, *KERNELS[1][2:]), (None, 7, *KERNELS[1][2:]),
           ("x", 7, *KERNELS[1][2:])]  # fmt: skip
    export(tmp_path / "a.sqlite", bad)
    outcome = read([tmp_path / "a.sqlite"])
    assert outcome.reading.frames["trace_kernel"].height == 2
    assert [fault.span.line for fault in outcome.reading.refused] == [2, 3, 4]
    (account,) = outcome.reading.accounting
    assert account.lines == account.claimed + account.refused


@pytest.mark.parametrize("share", [0.3, 0.5, 0.8, 0.95])
def test_a_cut_export_is_no_crash(tmp_path: Path, share: float) -> None:
    export(tmp_path / "a.sqlite")
    data = (tmp_path / "a.sqlite").read_bytes()
    (tmp_path / "a.sqlite").write_bytes(data[: int(len(data) * share)])
    outcome = read([tmp_path / "a.sqlite"])
    assert all("bug" not in fault.message for fault in outcome.unreadable)


def test_other_files_are_none() -> None:
    for data in (b"", b"SQLite format 3\x00", b"SQLite format 3\x00" + b"\x01" * 5000, b"text"):
        opened = source("a", data)
        assert isinstance(opened, Source)
        assert nsys.read(opened) is None
