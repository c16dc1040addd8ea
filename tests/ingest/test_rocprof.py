"""Profiles of ROCm: JSON and database say the same, damaged records are refused."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest
from assay.ingest.formats.traces import rocprof
from assay.ingest.inputs.read import read
from assay.ingest.source.opening import Source, source

from .rocprof_export import DISPATCHES, GPU, database, document, process


def test_kernels_are_joined_to_what_launched_them(tmp_path: Path) -> None:
    (tmp_path / "a_results.json").write_bytes(document())
    outcome = read([tmp_path / "a_results.json"])
    rows = outcome.reading.frames["trace_kernel"].to_dicts()
    (account,) = outcome.reading.accounting
    assert account.lines == account.claimed == 3 + 4 + 1 + 2 + 1
    assert [row["kind"] for row in rows] == ["gemm", "pointwise", "collective", "copy"]
    assert [row["operator"] for row in rows] == ["aten::mm", None, None, None]
    assert [row["layer"] for row in rows][:1] == ["layer 3"]
    assert [row["stream"] for row in rows] == [7, 7, 7, None]
    assert {row["gpu"] for row in rows} == {GPU}
    assert rows[0]["duration"] == pytest.approx(50e-6)
    assert rows[0]["kernel"].endswith("MT256x256x64")
    assert rows[3]["bytes"] == 64
    step = outcome.reading.frames["trace_step"].row(0, named=True)
    assert step["exposed"] == pytest.approx(100e-6)


def test_json_and_database_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(document())
    database(tmp_path / "a.db")
    (tmp_path / "b.db.gz").write_bytes(gzip.compress((tmp_path / "a.db").read_bytes()))
    said, base, pressed = (
        read([tmp_path / name]).reading.frames["trace_kernel"].drop("source")
        for name in ("a.json", "a.db", "b.db.gz")
    )
    assert said.drop("kernel").equals(base.drop("kernel"))
    assert said["kernel"][:3].equals(base["kernel"][:3])
    assert base.equals(pressed)


def test_processes_have_numbers_of_their_own(tmp_path: Path) -> None:
    other = process([(2_000_000, 2_000_100, 1, 99)], late=True)
    other["kernel_symbols"] = [{"kernel_id": 1, "kernel_name": "triton_poi_fused_add_0.kd"}]
    (tmp_path / "a.json").write_bytes(document(process(), other))
    rows = read([tmp_path / "a.json"]).reading.frames["trace_kernel"]
    names = rows["kernel"].to_list()
    assert "triton_poi_fused_add_0" in names
    assert len(names) == 6
    assert sorted(rows["device"].unique()) == [0, 1]


def test_records_without_times_are_refused(tmp_path: Path) -> None:
    bad = [DISPATCHES[0], (5, 1, 1, 12), (None, 7, 1, 12), ("x", 7, 1, 12), (True, 7, 1, 12)]
    (tmp_path / "a.json").write_bytes(document(process(bad)))
    outcome = read([tmp_path / "a.json"])
    assert [fault.span.line for fault in outcome.reading.refused] == [2, 3, 4, 5]
    assert all("kernel_dispatch" in fault.message for fault in outcome.reading.refused)
    (account,) = outcome.reading.accounting
    assert account.lines == account.claimed + account.refused + account.not_ours


@pytest.mark.parametrize("share", [0.3, 0.5, 0.8, 0.95, 0.999])
def test_a_cut_profile_gives_what_came_before_the_cut(tmp_path: Path, share: float) -> None:
    text = document()
    (tmp_path / "a.json").write_bytes(text[: int(len(text) * share)])
    outcome = read([tmp_path / "a.json"])
    assert all("bug" not in fault.message for fault in outcome.unreadable)
    if share == 0.999:
        assert outcome.reading.frames["trace_kernel"].height == 4
        assert any("beyond record" in each.message for each in outcome.reading.remarks)
    database(tmp_path / "a.db")
    data = (tmp_path / "a.db").read_bytes()
    (tmp_path / "a.db").write_bytes(data[: int(len(data) * share)])
    outcome = read([tmp_path / "a.db"])
    assert all("bug" not in fault.message for fault in outcome.unreadable)


def test_odd_values_are_no_crash(tmp_path: Path) -> None:
    odd = process()
    odd["agents"] = [3, None, {"type": 2}]
    odd["strings"]["buffer_records"] = [None, {"kind": 3, "operations": 4}]
    odd["strings"]["marker_api"] = [{"key": "x"}, 7]
    odd["kernel_symbols"] = [[], {"kernel_id": "x"}, {"kernel_id": 0, "kernel_name": 4}]
    odd["buffer_records"]["kernel_dispatch"] += [7, [], {"dispatch_info": 3}, None]
    odd["buffer_records"]["memory_copy"][0]["bytes"] = 2**70
    (tmp_path / "a.json").write_bytes(document(odd))
    outcome = read([tmp_path / "a.json"])
    assert all("bug" not in fault.message for fault in outcome.unreadable)
    (account,) = outcome.reading.accounting
    assert account.lines == account.claimed + account.refused + account.not_ours
    assert account.refused == 4


def test_other_files_are_none() -> None:
    for data in (b"", b"{}", b'{"traceEvents": []}', b"SQLite format 3\x00rest", b"iteration 1/2"):
        found = source("a", data)
        assert isinstance(found, Source)
        assert rocprof.read(found) is None


@pytest.mark.parametrize("count", [30, pytest.param(120, marks=pytest.mark.slow)])
def test_damaged_profiles_are_no_crash(count: int, tmp_path: Path) -> None:
    database(tmp_path / "a.db")
    whole = [document(), (tmp_path / "a.db").read_bytes()]
    chance = random.Random(3)
    for number in range(count):
        data = bytearray(whole[number % 2])
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(data))
            data[at : at + chance.randint(0, 9)] = chance.choice([b"", b'"', b"\x8e", b"9" * 30])
        (tmp_path / "a").write_bytes(bytes(data))
        outcome = read([tmp_path / "a"])
        assert all("bug" not in fault.message for fault in outcome.unreadable)
        for account in outcome.reading.accounting:
            told = account.claimed + account.refused + account.blank + account.not_ours
            assert account.lines == told
