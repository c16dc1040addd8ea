"""Dumps, per-layer tables and traces as they come: cut, torn, in other dresses, or with nothing."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.reading import Reading
from assay.ingest.schema.record import Code
from assay.ingest.source.opening import Source, source

from tests.conftest import FIXTURES

DUMP = (FIXTURES / "deepflow_dump" / "lstm_core_0.26.txt").read_text()
TRACE = (FIXTURES / "ulysses_trace" / "eight_ranks.log").read_text()
WRAPPED = FIXTURES / "layer_estimates" / "gpt3_wrapped.txt"
PLACE = ("source", "line", "column", "table")


def read(text: str, name: str = "input.txt") -> Reading:
    opened = source(name, text.encode())
    assert isinstance(opened, Source)
    return read_source(opened, FORMATS)


# ---- dumps


def test_every_line_of_a_dump_is_read() -> None:
    reading = read(DUMP)
    (account,) = reading.accounting
    assert (account.refused, account.not_ours) == (0, 0)
    assert reading.remarks == ()
    gemm = reading.frames["deepflow_gemm"]
    assert gemm["name"].to_list()[:3] == ["Cf", "Cb_act", "Cb_wt"]
    assert gemm.row(2, named=True)["intensity_t"] == 129.67
    kernels = reading.frames["deepflow_kernel"]
    clip = kernels.filter(pl.col("name") == "gradclip_hidden").row(0, named=True)
    assert (clip["flop"], clip["intensity"]) == (12_759_072_768, 0.33)
    apply = kernels.filter(pl.col("name") == "apply_grad_hidden").row(0, named=True)
    assert apply["intensity"] == 0.11  # printed before the other, with the line of the other


def test_four_totals_have_four_roles() -> None:
    memory = read(DUMP).frames["deepflow_memory"]
    totals = memory.filter(pl.col("name").str.starts_with("total"))
    assert totals.select("name", "memory", "memory_per_shard").rows() == [
        ("total", 198.8 * 2**30, None),
        ("total_of_kinds", 198.8 * 2**30, None),
        ("total", None, 198.8 * 2**30),
        ("total_of_kinds", None, 198.8 * 2**30),
    ]


@pytest.mark.parametrize("keep", [1, 7, 20, 44, 60, 150, 191, 210, 240])
def test_a_dump_that_stops_gives_what_it_printed(keep: int) -> None:
    lines = DUMP.splitlines(keepends=True)[:keep]
    reading = read("".join(lines))
    (account,) = reading.accounting
    assert account.refused == 0
    whole = read(DUMP).frames
    for name, frame in reading.frames.items():
        if name not in ("deepflow_dump", "deepflow_machine"):
            both = frame.join(whole[name], on=frame.columns, how="semi", nulls_equal=True)
            unfinished = frame.height - both.height
            assert unfinished <= 1, name  # the row whose next line is missing
    (remark,) = reading.remarks
    assert remark.code is Code.INCOMPLETE
    assert "lacks" in remark.message


def test_a_missing_line_costs_itself() -> None:
    lines = DUMP.splitlines(keepends=True)
    del lines[31]  # the first reload triple
    reading = read("".join(lines))
    assert reading.frames["deepflow_reload"].height == 32  # no guess about the other three
    assert reading.frames["deepflow_gemm"].height == 9


def test_a_broken_line_is_refused_where_it_breaks() -> None:
    reading = read(DUMP.replace("GEMM_gmem: 25,681,723,392", "GEMM_gmem: many", 1))
    (fault,) = reading.refused
    assert (fault.span.line, fault.code) == (43, Code.SYNTAX)
    assert "count" in fault.message
    assert reading.frames["deepflow_gemm"].height == 9  # its time line still names it


def test_a_transposed_product_prints_other_names() -> None:
    text = DUMP.replace(
        "Cf GEMM_flop: 3,271,025,491,968, GEMM_gmem: 25,681,723,392, GEMM_l2mem: 16,112,418,816\n"
        "Cf GEMM_time: 0.715153169797531",
        "Cf GEMM_flop_t: 3,271,025,491,968, GEMM_gmem_t: 25,681,723,392\nCf GEMM_time_t: 1,234.5",
    )
    row = read(text).frames["deepflow_gemm"].row(0, named=True)
    assert (row["flop"], row["flop_t"], row["time_t"]) == (None, 3_271_025_491_968, 1234.5)


def test_two_dumps_in_one_file() -> None:
    reading = read(DUMP + DUMP)
    assert reading.frames["deepflow_dump"]["dump"].to_list() == [1, 252]
    assert reading.frames["deepflow_gemm"].height == 18


def test_no_known_line() -> None:
    reading = read("time_per_step: 0.3\nTime: 12\n=======\nTotal Memory: 3 GB\n")
    assert reading.frames == {}
    assert reading.accounting[0].claimed == 0


def test_second_generation_has_units() -> None:
    text = (FIXTURES / "deepflow_dump" / "second_generation.txt").read_text()
    reading = read(text)
    assert reading.accounting[0].not_ours == 0
    parts = reading.frames["deepflow_component"].rows_by_key("subject", named=True)
    assert parts["Core/eff_area"][0]["area"] == pytest.approx(244.47e-6)
    assert parts["DRAM/stack_bandwidth"][0]["bandwidth"] == 231.17 * 2**30
    assert parts["Core/tot_power util"][0]["share"] == 1.0
    assert parts["Hardware Configuration/L3 Size"][0]["capacity"] == 16 * 2**30
    assert reading.frames["deepflow_dump"]["generation"].to_list() == [2]
    assert "deepflow_machine" not in reading.frames


@pytest.mark.parametrize(
    ("old", "new", "capacity"),
    [
        ("", "", 32 * 2**10),  # 256 banks are 8 MB of L1
        ("L1 Size: 8.0000000000 MB", "L1 Size: 8.0000000000 TB", 32 * 2**30),
        ("L1 Size: 8.0000000000 MB", "L1 Size: 8.0000000000 GB", 32 * 2**20),
        ("L1 Size: 8.0000000000 MB", "L1 Size: 9.0000000000 MB", 32 * 2**30),  # nothing proven
    ],
)
def test_the_unit_of_a_bank_is_what_makes_as_many_of_them_a_memory(
    old: str, new: str, capacity: int
) -> None:
    text = (FIXTURES / "deepflow_dump" / "second_generation.txt").read_text()
    assert old in text
    reading = read(text.replace(old, new) if old else text)
    parts = reading.frames["deepflow_component"].rows_by_key("subject", named=True)
    assert parts["SRAM-L1/bank_capacity"][0]["capacity"] == capacity


CONFIG = (FIXTURES / "deepflow_dump" / "lstm_core_0.26.yaml").read_text()


def test_a_configuration_reads_text_sizes_and_nothing() -> None:
    quoted = CONFIG.replace("37e-6", "'37e-6'").replace("auto: False", "auto:")
    for text in (CONFIG, quoted):
        row = read(text, "exp_config.yaml").frames["deepflow_config"].row(0, named=True)
        assert row["launch_overhead"] == 37e-6
        assert row["stack_capacity"] == 4 * 2**30
        assert row["dram_energy"] == 6e-12 * 8
        assert row["parallel_degree"] == 1
    split = read(CONFIG.replace("dp: 1", "dp: 4"), "c.yaml").frames["deepflow_config"]
    assert split["parallel_degree"].to_list() == [4]


# ---- per-layer tables


def notebook(outputs: list[dict[str, object]]) -> str:
    cell = {"cell_type": "code", "metadata": {}, "outputs": outputs, "source": ["1 + 1"]}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4}, indent=1)


def test_a_notebook_without_outputs() -> None:
    reading = read(notebook([]), "empty.ipynb")
    assert reading.frames == {}
    assert reading.accounting[0].claimed == 0


@pytest.mark.parametrize("indent", [1, None])
def test_a_notebook_of_wrapped_text(indent: int | None) -> None:
    plain = WRAPPED.read_text().splitlines(keepends=True)
    text = notebook([{"output_type": "stream", "name": "stdout", "text": plain}])
    if indent is None:
        text = json.dumps(json.loads(text))  # saved on one line
    reading = read(text, "wrapped.ipynb")
    seen = read(WRAPPED.read_text()).frames["layer_estimates"]
    assert reading.frames["layer_estimates"].drop(PLACE).equals(seen.drop(PLACE))
    assert reading.refused == ()


def test_three_dresses_one_table() -> None:
    folder = FIXTURES / "layer_estimates"
    text = read((folder / "gpt3_tensor_parallel_4.txt").read_text()).frames
    wrapped = read(WRAPPED.read_text()).frames
    for name in ("layer_estimates", "layer_total"):
        assert text[name].drop(PLACE).equals(wrapped[name].drop(PLACE))


def test_missing_is_not_zero() -> None:
    frame = read(WRAPPED.read_text()).frames["layer_estimates"]
    act = frame.filter(pl.col("layer") == "act").row(0, named=True)
    assert (act["comm_fwd"], act["comm_size"], act["comm_topology"]) == (None, None, None)
    assert act["t_comm_fwd"] == 0.0


def test_seconds_and_milliseconds() -> None:
    path = FIXTURES / "layer_estimates" / "gpt3_tensor_parallel_4.txt"
    shown = read(path.read_text()).frames["layer_estimates"]
    header = next(line for line in path.read_text().splitlines() if line.startswith("Unnamed"))
    times = [at for at, name in enumerate(header.split(",")) if name.startswith("t_")]
    lines = []
    for line in path.read_text().splitlines():
        cells = line.split(",")
        if re.match("[0-9]+,", line):
            for at in times:
                cells[at] = f"{float(cells[at]) / 1e3:.9f}"
        lines.append(",".join(cells))
    seconds = read("\n".join(lines) + "\n").frames["layer_estimates"]
    for name in ("t_fwd", "t_mem_bwd", "t_total_bwd"):
        assert seconds[name].to_list() == pytest.approx(shown[name].to_list(), abs=1e-12)


def test_own_digits_say_how_a_number_was_rounded() -> None:
    text = (FIXTURES / "layer_estimates" / "gpt3_tensor_parallel_4.txt").read_text()
    assert "fixed(6)" not in set(read(text).provenance["kind"])  # the usual of these tables
    coarse = read(re.sub(r"(?<=[0-9]\.[0-9]{2})[0-9]+(?=,|$)", "", text, flags=re.MULTILINE))
    times = coarse.provenance.filter(frame="layer_estimates", field="t_fwd", kind="fixed(2)")
    low, high = times.sort("line").row(0, named=True)["low"], times.sort("line")["high"][0]
    assert (low, high) == (pytest.approx(1.975e-3), pytest.approx(1.985e-3))  # 1.98 ms


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        ("time for 1 itr = 519.5", 0.5195),  # in the unit of the table
        ("time for 1 itr = 0.5195 s", 0.5195),
        ("time for 1 itr (ms) = 519.5", 0.5195),
        ("time for 1 itr = 519500 us", 0.5195),
    ],
)
def test_the_time_of_an_iteration_has_the_unit_it_is_printed_with(
    line: str, seconds: float
) -> None:
    text = (FIXTURES / "layer_estimates" / "gpt3_tensor_parallel_4.txt").read_text()
    totals = read(f"{text}{line}\n").frames["layer_total"]
    assert totals["iteration_time"].drop_nulls().to_list() == [pytest.approx(seconds)]


def test_a_row_with_a_cell_too_many_is_refused() -> None:
    text = (FIXTURES / "layer_estimates" / "gpt3_tensor_parallel_4.txt").read_text()
    reading = read(text.replace("1,act,", "1,act,7,", 1))
    (fault,) = reading.refused
    assert fault.code is Code.CELL_COUNT
    assert reading.frames["layer_estimates"].height == 13


def test_a_notebook_cut_inside_a_row() -> None:
    text = (FIXTURES / "layer_estimates" / "bias_rows.ipynb").read_text()
    at = text.index("<td>dpr1</td>")
    frame = read(text[:at], "cut.ipynb").frames["layer_estimates"]
    assert frame["layer"].to_list() == ["fc1", "fc1-bias", "act1"]


# ---- traces


def test_a_trace_cut_inside_a_record() -> None:
    for cut in ("torch.Size([8, 32", "elements: 33", "size 67.1", "size 67.11 M"):
        at = TRACE.index(cut, TRACE.index("c = A x v_")) + len(cut)
        reading = read(TRACE[:at], "cut.log")
        (fault,) = reading.refused
        assert fault.code is Code.TRUNCATED
        assert fault.span.line == TRACE[:at].count("\n") + 1
        assert reading.frames["ulysses_tensor"].height == 15


def test_a_cut_value_is_not_believed() -> None:
    at = TRACE.index("TP: 4") + len("TP: 4")
    reading = read(TRACE[:at], "cut.log")
    (fault,) = reading.refused
    assert fault.code is Code.TRUNCATED
    assert reading.frames["ulysses_trace"]["tp"].to_list() == [None]


def test_lines_of_two_hosts_are_two_traces() -> None:
    other = TRACE.replace("192.0.2.17", "192.0.2.99")
    torn = [line for both in zip(TRACE.splitlines(), other.splitlines(), strict=True)
            for line in both]  # fmt: skip
    frames = read("\n".join(torn) + "\n").frames
    assert frames["ulysses_trace"]["host"].to_list() == ["192.0.2.17", "192.0.2.99"]
    assert frames["ulysses_tensor"].group_by("trace").len()["len"].to_list() == [25, 25]


OTHER_SECTIONS = """\
my_rank 7/16 my_device 7/8

seq length: 50000
hidden dim: 16384
num layers: 126
num heads: 128
HP: 2 head parallelism
SP: 8 sequence parallelism
HP x SP: 16 world size
head per GPU: 64tokens per GPU: 6250

2D Ulysses Attention
D (input): torch.Size([6250, 16384]), elements: 102400000, size: 0.20 GB
Q shape: torch.Size([64, 2048, 128]), elements: 16777216, size: 33.55 MB
all-gather Q, K, V
Q_ shape: torch.Size([8, 64, 2048, 128]), elements: 134217728, size: 268.44 MB
Torch memory allocation: 1.07 GB
compute q, k, v
inputxQ=q + inputxK=k + inputxV=v flops: 80.53 TFLOPs
DxQ=q + DxK=k + DxV=v flops: 5033.16 GFLOPs
A=qxk' flops: 81.92 TFLOPs
All-gather attention
Model parallel
QKV [L, h/TP, 3, d, d/h]: torch.Size([126, 16, 3, 16384, 128]), elements: 12683575296, size: 25.37 GB
activation f(inter)
DP ranks: [0, 8]
"""  # noqa: E501 lines as they are printed


def test_other_sections_of_the_same_program() -> None:
    reading = read(OTHER_SECTIONS)
    (account,) = reading.accounting
    assert (account.refused, account.not_ours) == (0, 0)
    header = reading.frames["ulysses_trace"].row(0, named=True)
    assert (header["hp"], header["sp"], header["p"], header["layers"]) == (2, 8, 16, 126)
    assert (header["heads_per_gpu"], header["tokens_per_gpu"]) == (64, 6250)
    assert reading.frames["ulysses_tensor"]["name"].to_list() == ["D (input)", "Q", "Q_", "QKV"]
    flops = reading.frames["ulysses_flops"]
    assert flops["flop"].to_list() == pytest.approx([80.53e12, 5.03316e12, 81.92e12])
    assert flops["equation"][2] == "A=qxk'"
    assert reading.frames["ulysses_memory"]["current_memory"][0] == pytest.approx(1.07e9)
