from pathlib import Path

import polars as pl
import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.inputs.read import read
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.reading import Reading
from assay.ingest.source.opening import Source, source

from ..conftest import FIXTURES

HEADER = "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"


def parse(text: str) -> Reading:
    whole = source("a.log", text.encode())
    assert isinstance(whole, Source)
    return read_source(whole, FORMATS)


def frame(path: object, name: str) -> pl.DataFrame:
    found = read([str(path)])
    assert not found.reading.refused
    return found.reading.frames[name]


def test_rows_take_operation_devices_and_ranks_from_above() -> None:
    rows = frame(FIXTURES / "nccl_tests" / "all_reduce_8.log", "nccl_tests")
    last, in_place = rows[-2:].to_dicts()
    assert (last["op"], last["ranks"], last["ranks_per_node"]) == ("all_reduce", 8, 8)
    assert (last["bytes"], last["elements"], last["dtype"]) == (268435456, 67108864, "float")
    assert last["time"] == pytest.approx(1092.1e-6)
    assert last["busbw"] == pytest.approx(430.15e9)
    assert (last["in_place"], in_place["in_place"]) == (False, True)
    assert in_place["time"] == pytest.approx(1090.4e-6)
    assert rows["wrong"].to_list() == [0, 0, 0, None, 0, 0]  # `N/A` of the second in place


def test_a_header_with_one_time_does_not_say_where_the_result_goes() -> None:
    (row,) = parse(HEADER + _row()).frames["nccl_tests"].to_dicts()
    assert (row["in_place"], row["time"]) == (None, pytest.approx(14.54e-6))


def test_a_reduction_is_told_by_its_size_and_hosts_by_their_names() -> None:
    reading = read([FIXTURES / "nccl_tests" / "two_nodes.log"]).reading
    rows = reading.frames["nccl_tests"]
    assert rows["op"].unique().to_list() == ["all_reduce"]
    assert rows.select("ranks", "ranks_per_node").unique().rows() == [(4, 2)]
    said = reading.provenance.filter(pl.col("field") == "op")
    assert set(said["value_origin"]) == {"solved"}


def test_a_gather_without_a_name_stays_unknown(tmp_path: object) -> None:
    path = tmp_path / "a.log"  # type: ignore[operator]
    path.write_text(HEADER + "  67108864  1048576  float  none  -1  1914.8  35.05  32.86  0\n")
    assert frame(path, "nccl_tests")["op"].to_list() == [None]


def test_a_row_with_a_value_too_few_is_refused(tmp_path: object) -> None:
    path = tmp_path / "a.log"  # type: ignore[operator]
    path.write_text(HEADER + "  67108864  1048576  float  sum  -1  1914.8  35.05  32.86\n")
    (fault,) = read([path]).reading.refused
    assert "8 values, the header has 9 columns" in fault.message


def test_payloads_of_a_table_are_binary_and_of_the_sentence_decimal() -> None:
    rows = frame(FIXTURES / "all_reduce_bench", "all_reduce_bench").sort("bytes")
    assert rows["bytes"].to_list() == [2**20, 2**24, 2**28, 4e9, 2**32]
    assert rows["ranks"].to_list() == [4, 4, 4, 16, 4]
    sentence = rows.filter(pl.col("ranks") == 16).to_dicts()[0]
    assert sentence["algbw"] == pytest.approx(176.59e9)
    assert sentence["busbw"] == pytest.approx(331.106e9)
    assert sentence["gpu"] is None
    table = rows.filter(pl.col("ranks") == 4)
    assert (table["busbw"] / table["algbw"]).to_list() == pytest.approx([1.5] * 4, rel=1e-3)
    assert set(table["gpu"]) == {"NVIDIA H100 80GB HBM3"}


def test_csv_tables_name_their_columns_freely(tmp_path: object) -> None:
    path = tmp_path / "a.csv"  # type: ignore[operator]
    path.write_text("collective,world_size,size_bytes,latency_ms\nall_reduce,8,1048576,0.05\n")
    row = frame(path, "collective_table").to_dicts()[0]
    assert (row["op"], row["ranks"], row["bytes"]) == ("all_reduce", 8, 2**20)
    assert row["time"] == pytest.approx(5e-5)
    path.write_text("batch_size,seq_len,num_heads,head_dim,causal,time_us\n1,128,8,64,true,9.5\n")
    row = frame(path, "attention_table").to_dicts()[0]
    assert (row["batch"], row["seq"], row["heads"], row["kv_heads"]) == (1, 128, 8, None)
    assert row["causal"] is True


def test_rows_under_a_bad_heading_are_refused_where_they_stand(tmp_path: Path) -> None:
    whole = (FIXTURES / "all_reduce_bench" / "payloads.log").read_text()
    path = tmp_path / "a.log"
    path.write_text(whole.replace("over 4 ranks", "over -4 ranks"))
    good = frame(FIXTURES / "all_reduce_bench" / "payloads.log", "all_reduce_bench")
    reading = read([path]).reading
    assert [fault.span.line for fault in reading.refused] == good["line"].to_list()
    assert {fault.message for fault in reading.refused} == {"ranks was -4, expected at least 1"}
    assert reading.accounting[0].refused == good.height


BEGIN = (
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 1024 step: 2(factor) warmup iters: 5 iters: 20\n#\n"
)


def _devices(*hosts: str, rank: int | None = None) -> str:
    lines = (
        f"#  Rank {at if rank is None else rank:2} Group  0 Pid {at:6} on {host} device  {at} "
        "[0x0f] NVIDIA H100 80GB HBM3\n"
        for at, host in enumerate(hosts)
    )
    return "# Using devices\n" + "".join(lines) + "#\n"


def _row(redop: str = "sum", count: int = 256) -> str:
    return (
        f"        1024  {count:12}     float  {redop:>6}      -1    14.54    0.07    0.12      0\n"
    )


def test_nothing_that_is_said_of_one_run_holds_for_the_next() -> None:
    first = "# Collective test starting: alltoall_perf\n" + BEGIN + _devices("n1", "n2") + HEADER
    second = BEGIN + _devices("n1", "n1", "n1", "n1") + HEADER
    text = first + _row("none", 128) + second + _row() + "# Out of bounds values : 0 OK\n"
    rows = parse(text + HEADER + _row()).frames["nccl_tests"]
    assert rows.select("op", "ranks", "ranks_per_node").rows() == [
        ("alltoall", 2, 1), ("all_reduce", 4, 4), (None, None, None)]  # fmt: skip


def test_runs_that_print_at_once_leave_their_ranks_open() -> None:
    text = BEGIN + _devices("n1", "n2", rank=0) + HEADER + _row()
    rows = parse(text).frames["nccl_tests"]
    assert rows.select("op", "ranks", "gpu").rows() == [(None, None, None)]


def test_a_table_pasted_without_its_hashes() -> None:
    text = (BEGIN + _devices("n1", "n1") + HEADER + _row()).replace("#wrong", "%").replace("#", " ")
    reading = parse(text.replace("%", "#wrong"))
    assert reading.frames["nccl_tests"].select("op", "ranks", "bytes", "time").rows() == [
        ("all_reduce", 2, 1024, pytest.approx(14.54e-6))]  # fmt: skip


@pytest.mark.parametrize(
    ("program", "labels", "cells"),
    [
        ("all_gather", "", ""),
        ("all_gather_perf_mpi", "", ""),
        ("broadcast", "root", "0"),
        ("reduce", "redop root", "sum 0"),
    ],
)
def test_headers_of_2019(program: str, labels: str, cells: str) -> None:
    text = (
        f"$ ./build/{program.removesuffix('_perf_mpi')}_perf"
        f"{'_mpi' * program.endswith('_mpi')} -b 8 -e 1K\n" + BEGIN + _devices("n1", "n1")
        + f"#   size  count  type  {labels}  time  algbw  busbw  error\n"
        + f"   1024   256  float  {cells}  14.54  0.07  0.12  5e-07\n"
    )  # fmt: skip
    rows = parse(text).frames["nccl_tests"]
    assert rows.select("op", "ranks", "bytes", "busbw").rows() == [
        (program.removesuffix("_perf_mpi"), 2, 1024, pytest.approx(0.12e9))]  # fmt: skip


def test_a_sentence_that_is_refused_ends_what_the_one_above_it_said() -> None:
    text = (
        "The average bandwidth of all_reduce with a 4.0GB payload (5 trials, 8 ranks):\n"
        " algbw: 17.5 GBps (140.0 Gbps)\n busbw: 30.5 GBps (244.0 Gbps)\n"
        "The average bandwidth of all_gather with a huge payload (5 trials, 4 ranks):\n"
        " algbw: 1.5 GBps (12.0 Gbps)\n busbw: 2.5 GBps (20.0 Gbps)\n"
    )
    reading = parse(text)
    assert [each.span.line for each in reading.refused] == [4]
    assert reading.frames["all_reduce_bench"].select("ranks", "algbw").rows() == [(8, 17.5e9)]


@pytest.mark.parametrize(("op", "ranks"), [("all_reduce", 8), ("broadcast", None)])
def test_ranks_that_are_not_all_listed_are_what_bandwidths_prove(op: str, ranks: int) -> None:
    text = (FIXTURES / "nccl_tests" / "all_reduce_8.log").read_text().replace("all_reduce", op)
    lines = [
        line for line in text.splitlines(keepends=True)
        if "Rank  3" not in line and not line.startswith("$")  # the command says how many
    ]  # fmt: skip
    assert len(lines) == len(text.splitlines()) - 2
    rows = parse("".join(lines)).frames["nccl_tests"]
    assert rows["busbw"].len() > 1
    assert rows["ranks"].to_list() == [ranks] * rows.height
