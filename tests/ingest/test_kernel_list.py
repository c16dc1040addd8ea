"""Lists of kernels as CSV: three writers, refused lines, and CSV of other kinds."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest
from assay.ingest.formats.traces import kernel_list
from assay.ingest.inputs.read import read
from assay.ingest.source.opening import Source, source

from tests.conftest import FIXTURES

ROCPROFV3 = """"Kind","Agent_Id","Queue_Id","Stream_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp"
"KERNEL_DISPATCH","Agent 7",17,26,"void add<float>(float*, int)",101,1551401624448706,1551401624459226
"KERNEL_DISPATCH","Agent 7",17,26,"Cijk_Ailk_Bljk_BBS_BH.kd",102,1551401624469226,1551401624569226
"""  # noqa: E501
ROCPROF = """"Index","KernelName","gpu-id","queue-id","BeginNs","EndNs","DurationNs"
0,"Cijk_Ailk_Bljk_BBS_BH.kd",2,0,1000,51000,50000
"""
COPIES = """"Kind","Direction","Source_Agent_Id","Destination_Agent_Id","Correlation_Id","Start_Timestamp","End_Timestamp"
"MEMORY_COPY","MEMORY_COPY_HOST_TO_DEVICE","Agent 0","Agent 4",5,1000,3000
"""  # noqa: E501
NSYS = """NOTICE: exporting a report
Processing [a.sqlite] with [cuda_gpu_trace.py]...
Start (us),Duration (us),CorrId,GrdX,Bytes (MB),Device,Ctx,Strm,Name
100.5,50.25,11,2,,NVIDIA A100-SXM4-80GB (0),1,7,"void sm80_gemm<float, 2>(float*)"
200,5,12,,4.096,NVIDIA A100-SXM4-80GB (0),1,7,[CUDA memcpy HtoD]
300,5,13,,4.096,NVIDIA A100-SXM4-80GB (0),1,7,[CUDA memset]
"""


def rows(folder: Path, text: str) -> pl.DataFrame:
    (folder / "a.csv").write_text(text)
    outcome = read([folder / "a.csv"])
    (account,) = outcome.reading.accounting
    assert account.lines == account.claimed + account.refused
    return outcome.reading.frames["trace_kernel"]


def test_rocprofv3(tmp_path: Path) -> None:
    found = rows(tmp_path, ROCPROFV3).to_dicts()
    assert [row["kind"] for row in found] == ["other", "gemm"]
    assert [row["duration"] for row in found] == pytest.approx([10.52e-6, 100e-6])
    assert {(row["device"], row["stream"]) for row in found} == {(7, 26)}
    assert found[1]["kernel"] == "Cijk_Ailk_Bljk_BBS_BH"
    assert [row["line"] for row in found] == [2, 3]
    (copy,) = rows(tmp_path, COPIES).to_dicts()
    assert (copy["kind"], copy["device"], copy["duration"]) == ("copy", 4, pytest.approx(2e-6))


def test_older_rocprof(tmp_path: Path) -> None:
    (row,) = rows(tmp_path, ROCPROF).to_dicts()
    assert (row["kind"], row["device"], row["duration"]) == ("gemm", 2, pytest.approx(50e-6))


def test_nsys_behind_what_it_prints_first(tmp_path: Path) -> None:
    found = rows(tmp_path, NSYS).to_dicts()
    assert [row["kind"] for row in found] == ["gemm", "copy", "copy"]
    assert found[0]["duration"] == pytest.approx(50.25e-6)
    assert found[0]["gpu"] == "NVIDIA A100-SXM4-80GB"
    assert [row["line"] for row in found] == [4, 5, 6]


def test_packed_and_with_a_mark(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + ROCPROFV3.encode()))
    assert read([tmp_path / "a.csv.gz"]).reading.frames["trace_kernel"].height == 2


def test_lines_that_are_no_rows_are_refused(tmp_path: Path) -> None:
    bad = (
        ROCPROF + '1,"k",0,0,5,1,9\n2,"k",0,0,x,1,9\n3,"k",0\n4,"",0,0,1,2,1\n\n5,"k",0,0,1,1e3,1\n'
    )
    (tmp_path / "a.csv").write_text(bad)
    outcome = read([tmp_path / "a.csv"])
    assert [fault.span.line for fault in outcome.reading.refused] == [3, 4, 5, 6, 8]
    assert outcome.reading.frames["trace_kernel"].height == 1


@pytest.mark.parametrize(
    "text",
    ["", "a,b\n1,2\n", "Name,Start (ns),Duration (ns)\nrange,1,2\n",
     '"Kernel_Name","Counter_Name","Start_Timestamp","End_Timestamp"\n"k","Busy",1,2\n',
     "start_timestamp,end_timestamp\n1,2\n", "| name | Start (ns) |\n|---|---|\n"],
)  # fmt: skip
def test_other_files_are_none(text: str) -> None:
    found = source("a", text.encode())
    assert text == "" or isinstance(found, Source)
    assert kernel_list.read(found) is None  # type: ignore[arg-type]


def test_the_fixture_is_what_nsys_prints() -> None:
    found = read([FIXTURES / "kernel_list" / "three_kernels.csv"]).reading.frames
    assert found["trace_step"].height == 1
