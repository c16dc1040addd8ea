"""Traces of the PyTorch profiler: what is read, what is refused, and that nothing is lost."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from assay.ingest.formats.traces import events as cutting
from assay.ingest.formats.traces import kineto
from assay.ingest.formats.traces.events import EventStream
from assay.ingest.inputs.read import read
from assay.ingest.schema.format import Made
from assay.ingest.source.opening import Source, open_source, source
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.conftest import FIXTURES, examples

BERT = FIXTURES / "kineto" / "bert_small_h100.json.gz"
CORPUS = os.environ.get("ASSAY_CORPUS")
needs_corpus = pytest.mark.skipif(not CORPUS, reason="ASSAY_CORPUS is not set")
TRACES = sorted(Path(CORPUS or "", "corpus", "trace").rglob("*.json.gz")) if CORPUS else []

GPU = {"id": 0, "name": "NVIDIA H100 80GB HBM3"}


def opened(data: bytes | str) -> Source:
    found = source("t.json", data.encode() if isinstance(data, str) else data)
    assert isinstance(found, Source)
    return found


def made(data: bytes | str) -> Made:
    found = kineto.read(opened(data))
    assert found is not None
    return found


def trace(events: Sequence[dict[str, Any]], **header: Any) -> str:
    lines = ",\n".join(json.dumps(event) for event in events)
    head = {"schemaVersion": 1, "deviceProperties": [GPU], **header}
    return json.dumps(head)[:-1] + f', "traceEvents": [\n{lines}\n]}}'


def op(name: str, number: int, ts: float, dur: float, **args: Any) -> dict[str, Any]:
    tid = args.pop("tid", 1)
    said = {"External id": number, **args}
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur,
            "args": said}  # fmt: skip


def launch(number: int, ts: float, tid: int = 1, name: str = "cudaLaunchKernel") -> dict[str, Any]:
    return {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 1, "tid": tid, "ts": ts,
            "dur": 1, "args": {"correlation": number}}  # fmt: skip


def kernel(name: str, ts: float, dur: float, **args: Any) -> dict[str, Any]:
    said = {"device": 0, "stream": 7, **args}
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": ts, "dur": dur,
            "args": said}  # fmt: skip


def annotation(name: str, ts: float, dur: float) -> dict[str, Any]:
    return {"ph": "X", "cat": "user_annotation", "name": name, "pid": 1, "tid": 1, "ts": ts,
            "dur": dur, "args": {}}  # fmt: skip


def module(name: str, ts: float, dur: float) -> dict[str, Any]:
    return {"ph": "X", "cat": "python_function", "name": f"nn.Module: {name}", "pid": 1, "tid": 1,
            "ts": ts, "dur": dur, "args": {}}  # fmt: skip


MM = {"Input Dims": [[64, 32], [32, 16]], "Input type": ["c10::BFloat16", "c10::BFloat16"],
      "Input Strides": [[32, 1], [1, 32]]}  # fmt: skip


def conserved(found: Made, count: int) -> None:
    """Every event is a row, a part of one, understood, not ours or refused; once each."""
    told = found.frames["trace_event"].select(pl.sum("rows", "parts", "understood", "not_ours"))
    assert sum(told.row(0)) + len(found.refused) == count
    assert found.claimed + found.not_ours + len(found.refused) == count
    rows = found.frames.get("trace_kernel", pl.DataFrame()).height
    assert rows == found.frames["trace_event"]["rows"].sum()


PRODUCTS = ("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm")


def short_reader(path: Path) -> tuple[dict[tuple[Any, ...], tuple[int, float]], int]:
    """Calls and µs of each product of a trace, read whole with the standard library."""
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    ops = {e["args"]["External id"]: e for e in events if e.get("cat") == "cpu_op"}
    spent: defaultdict[int, float] = defaultdict(float)
    for event in events:
        known = ops.get(event.get("args", {}).get("External id"))
        if event.get("cat") == "kernel" and known and known["name"] in PRODUCTS:
            spent[known["args"]["External id"]] += event["dur"]
    found: defaultdict[tuple[Any, ...], list[float]] = defaultdict(list)
    for number, time in spent.items():
        known = ops[number]
        a, b = [dims for dims in known["args"]["Input Dims"] if len(dims) >= 2][-2:]
        batch = a[0] if len(a) == 3 else 1
        found[known["name"], batch, a[-2], b[-1], a[-1]].append(time)
    return {key: (len(times), sum(times)) for key, times in found.items()}, len(events)


@needs_corpus
@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.name[:20])
def test_every_product_is_counted_as_an_independent_reader_does(path: Path) -> None:
    wanted, count = short_reader(path)
    outcome = read([path])
    frames, (account,) = outcome.reading.frames, outcome.reading.accounting
    table = frames["trace_gemm"].group_by("operator", "b", "m", "n", "k").agg(
        pl.sum("calls", "total")
    )  # fmt: skip
    found = {tuple(row[:5]): (row[5], row[6] * 1e6) for row in table.iter_rows()}
    assert found.keys() == wanted.keys()
    for key, (calls, time) in wanted.items():
        assert found[key][0] == calls
        assert found[key][1] == pytest.approx(time, rel=1e-9)
    assert account.lines == count == account.claimed + account.refused + account.not_ours
    assert account.of == "event"


@needs_corpus
@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.name[:20])
def test_every_activity_is_a_row(path: Path) -> None:
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    wanted = Counter(e["name"] for e in events if e.get("cat") in ("kernel", "gpu_memcpy",
                                                                   "gpu_memset"))  # fmt: skip
    kernels = read([path]).reading.frames["trace_kernel"]
    assert Counter(kernels["kernel"].to_list()) == wanted
    lines = gzip.decompress(path.read_bytes()).decode().split("\n")
    for line, column, name in kernels.sample(20, seed=1).select("line", "column",
                                                              "kernel").iter_rows():  # fmt: skip
        assert lines[line - 1][column - 1] == "{"
        assert json.dumps(name)[1:-1] in "".join(lines[line - 1 : line + 8])


def test_the_fixture_is_read_whole() -> None:
    outcome = read([BERT])
    frames, (account,) = outcome.reading.frames, outcome.reading.accounting
    count = len(json.loads(gzip.decompress(BERT.read_bytes()))["traceEvents"])
    assert account.lines == account.claimed == count
    assert not outcome.reading.refused
    assert not outcome.reading.remarks
    assert frames["trace_kernel"]["layer"].null_count() == 0
    attention = frames["trace_attention"].select("batch", "seq", "heads", "head_dim", "calls")
    assert attention.row(0) == (1, 141, 8, 64, 4)
    assert frames["trace_gemm"]["gpu"].unique().to_list() == [GPU["name"]]


def test_a_kernel_is_joined_to_its_operator_layer_step_and_pass() -> None:
    events = [
        annotation("ProfilerStep#3", 0, 1000),
        module("Block_0", 10, 400),
        module("Linear_7", 20, 100),
        op("aten::linear", 1, 25, 80, **{"Sequence number": 5}),
        op("aten::mm", 2, 30, 50, **{"Sequence number": 5}, **MM),
        launch(100, 40),
        op("autograd::engine::evaluate_function: MmBackward0", 3, 600, 100, tid=2,
           **{"Sequence number": 5, "Fwd thread id": 1}),
        op("aten::mm", 4, 620, 50, tid=2, **MM),
        launch(101, 630, tid=2),
        launch(102, 700),
        kernel("sm90_xmma_gemm_bf16", 800, 10.5, correlation=100, **{"External id": 2}),
        kernel("splitKreduce_kernel", 811, 2, correlation=100, **{"External id": 2}),
        kernel("sm90_xmma_gemm_bf16", 820, 12, correlation=101),
        kernel("mystery", 840, 1, correlation=102),
        kernel("late", 860, 1, correlation=999),
    ]  # fmt: skip
    found = made(trace(events, distributedInfo={"rank": 3, "world_size": 8}))
    conserved(found, len(events))
    rows = found.frames["trace_kernel"].to_dicts()
    assert [row["operator"] for row in rows] == ["aten::mm"] * 3 + [None] * 2
    assert [row["layer"] for row in rows] == ["Block_0/Linear_7"] * 3 + [None] * 2
    assert [row["direction"] for row in rows] == ["forward", "forward", "backward", None, None]
    assert [row["step"] for row in rows] == [3, 3, 3, 3, None]
    assert [row["reason"] for row in rows[3:]] == [
        "no operator was recorded at its launch", "its launch was not recorded"
    ]  # fmt: skip
    assert {row["rank"] for row in rows} == {"3"}
    gemm = found.frames["trace_gemm"].to_dicts()
    assert len(gemm) == 1
    assert {name: gemm[0][name] for name in ("b", "m", "n", "k", "layout", "calls", "kernels")} == {
        "b": 1, "m": 64, "n": 16, "k": 32, "layout": "nt", "calls": 2, "kernels": 3
    }  # fmt: skip
    assert gemm[0]["time"] == pytest.approx(12.25e-6)
    assert gemm[0]["total"] == pytest.approx(24.5e-6)
    step = found.frames["trace_step"].to_dicts()[0]
    assert step["duration"] == pytest.approx(41e-6)
    assert step["busy"] == pytest.approx(25.5e-6)
    assert step["idle"] == pytest.approx(15.5e-6)


def test_messages_carry_bytes_and_group_and_what_they_expose() -> None:
    said = {"Collective name": "_allgather_base", "In msg nelems": 1024, "Out msg nelems": 8192,
            "Group size": 8, "dtype": "BFloat16", "Process Group Name": "1"}  # fmt: skip
    events = [
        kernel("gemm", 0, 10),
        {**kernel("ncclDevKernel_AllGather_RING_LL", 5, 20, **said), "tid": 20},
        kernel("gemm", 40, 10),
    ]
    found = made(trace(events))
    row = found.frames["trace_collective"].row(0, named=True)
    assert (row["op"], row["ranks"], row["elements"], row["bytes"], row["group"]) == (
        "all_gather", 8, 8192, 16384, "1")  # fmt: skip
    step = found.frames["trace_step"].row(0, named=True)
    assert step["exposed"] == pytest.approx(15e-6)
    assert step["idle"] == pytest.approx(15e-6)


def test_what_a_graph_replays_has_no_operator() -> None:
    events = [
        op("aten::mm", 2, 30, 50, **MM),
        launch(7, 40, name="cudaGraphLaunch"),
        kernel("gemm_a", 100, 10, correlation=7),
        kernel("gemm_b", 110, 10, correlation=7),
    ]
    found = made(trace(events))
    assert found.frames["trace_kernel"]["reason"].unique().to_list() == [
        "replayed from a graph: its operators were not recorded"
    ]
    assert "trace_gemm" not in found.frames


def test_older_spellings_are_read() -> None:
    dims = {"Input dims": [[64, 32], [32, 16]], "Input type": ["float", "float"],
            "external id": 9}  # fmt: skip
    events = [
        {**op("ProfilerStep#1", 1, 0, 200), "cat": "Operator"},
        {"ph": "X", "cat": "Operator", "name": "aten::mm", "pid": 1, "tid": "1", "ts": 10,
         "dur": 50, "args": dims},
        {"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": "1",
         "ts": "20", "dur": "1", "args": {"correlation": 5, "external id": 9}},
        {"ph": "X", "cat": "Kernel", "name": "volta_sgemm", "pid": 0, "tid": "stream 7",
         "ts": 70, "dur": 8, "args": {"correlation": 5, "external id": 9}},
        {"ph": "X", "cat": "Memcpy", "name": "Memcpy DtoD", "pid": 0, "tid": "stream 7", "ts": 90,
         "dur": 2, "args": {"bytes": 512}},
    ]  # fmt: skip
    found = made(trace(events))
    conserved(found, len(events))
    assert found.frames["trace_gemm"].select("m", "n", "k", "dtype").row(0) == (64, 16, 32, "fp32")
    assert found.frames["trace_gemm"]["time_ulp"].item() == 1e-6  # whole microseconds
    assert found.frames["trace_kernel"]["step"].to_list() == [1, None]
    assert found.frames["trace_kernel"]["bytes"].to_list() == [None, 512]


def test_a_bare_array_of_events_is_a_trace() -> None:
    found = made(json.dumps([kernel("gemm", 0, 10), {}, {"ph": "M", "name": "x"}]))
    assert found.frames["trace_kernel"].height == 1
    assert found.frames["trace_kernel"]["gpu"].to_list() == [None]


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "[1, 2]", '{"a": [1]}', "iteration 1/ 2 | lm loss: 1.0", '{"step": 1}\n' * 3,
     '{"cells": [], "source": "traceEvents"}', '[{"a": 1}]', "{"],
)  # fmt: skip
def test_other_documents_are_none(text: str) -> None:
    assert kineto.read(opened(text)) is None


BAD = [
    ('"dur": 10.5', '"dur": -1', "dur is -1"),
    ('"dur": 10.5', '"dur": "long"', "dur is 'long'"),
    ('"dur": 10.5', '"dur": 1e999', "is no"),
    ('"dur": 10.5', '"dur": null', "has no dur"),
    ('"dur": 10.5', '"dur": [1]', "is no event"),
    ('"dur": 10.5', '"dur": abc', "is no JSON"),
    ('"ts": 800', '"ts": ', "is no JSON"),
    ('"stream": 7, "corr', '"stream": [7, "corr', "is no JSON"),
    ('"name": "sm90_xmma_gemm_bf16"', '"name": "sm90_xmma', "is no JSON"),
    ('"correlation": 100, "External id": 2}', '"External id": 2', "is no JSON"),
]


@pytest.mark.parametrize(("old", "new", "said"), BAD)
def test_a_broken_event_is_refused_where_it_stands(old: str, new: str, said: str) -> None:
    good = [kernel(f"k{at}", at, 1) for at in range(50)]
    bad = kernel("sm90_xmma_gemm_bf16", 800, 10.5, correlation=100, **{"External id": 2})
    text = trace([*good[:25], bad, *good[25:]]).replace(old, new, 1)
    found = made(text)
    assert found.frames["trace_kernel"].height == 50
    (fault,) = found.refused
    assert fault.span.line == 27
    assert said in fault.message
    assert fault.span in found.raw


def test_what_is_no_number_in_json_is_nothing() -> None:
    text = trace([kernel("k", 0, 1, **{"blocks per SM": 12345})]).replace("12345", "-inf")
    assert made(text).frames["trace_kernel"].height == 1


@pytest.mark.parametrize("missing", [",\n", "]", "}", "\n]}"])
def test_a_lost_separator_costs_no_event(missing: str) -> None:
    text = trace([kernel(f"k{at}", at, 1) for at in range(9)])
    at = text.rindex(missing) if missing != ",\n" else text.index(missing, 300)
    found = made(text[:at] + text[at + len(missing) :])
    assert found.frames["trace_kernel"].height >= 8


def test_a_cut_trace_gives_what_came_before() -> None:
    text = trace([kernel(f"k{at}", at, 1) for at in range(40)])
    begin = text.index('{"ph"')
    for end in range(begin + 1, len(text), 97):
        found = made(text[:end])
        whole = len(re.findall(r"\}\}", text[begin:end]))
        assert found.frames.get("trace_kernel", pl.DataFrame()).height == min(whole, 40)
        assert any(remark.code == "cut-short" for remark in found.remarks)
        assert len(found.refused) <= 1


def test_a_cut_stream_gives_what_came_before() -> None:
    packed = gzip.compress(trace([kernel(f"k{at}", at, at) for at in range(4000)]).encode())
    found = made(packed[: len(packed) // 2])
    assert 0 < found.frames["trace_kernel"].height < 4000
    assert "gzip" in found.remarks[-1].message


SMALL = trace(
    [
        annotation("ProfilerStep#3", 0, 1000),
        module("Linear_7", 20, 100),
        op("aten::mm", 2, 30, 50, **MM),
        launch(100, 40),
        *(kernel(f'gemm {at} \\ "', 800 + at, 1.5, correlation=100) for at in range(6)),
    ]
).encode()


@settings(max_examples=examples(150), deadline=None)
@example(edits=[(533, b"\xff", 0)])  # inside the dimensions of an operator
@example(edits=[(493, b"999999999999999999999999999999", 1)])  # a size that no call has
@example(edits=[(493, b"9" * 30, 0), (493, b"9" * 30, 1)])
@given(
    st.lists(
        st.tuples(
            st.integers(0, len(SMALL) - 1),
            st.sampled_from([b"", b'"', b"{", b"}", b"[", b"]", b",", b"\\", b"\n", b"\xff",
                             b"9" * 30, b"nan", b'{"ph": ']),
            st.integers(0, 3),
        ),
        max_size=4,
    )
)  # fmt: skip
def test_mutated_traces_are_refused_by_event(edits: list[tuple[int, bytes, int]]) -> None:
    data = SMALL
    for at, text, gone in sorted(edits, reverse=True):
        data = data[:at] + text + data[at + gone :]
    found = kineto.read(opened(data))
    if found is None:
        return
    told = found.frames.get("trace_event")
    counted = 0 if told is None else sum(
        told.select(pl.sum("rows", "parts", "understood", "not_ours")).row(0)
    )  # fmt: skip
    assert counted == found.claimed + found.not_ours
    for fault in found.refused:
        assert fault.span.line >= 1
        assert fault.span.column >= 1
        assert fault.message
    kernels = found.frames.get("trace_kernel")
    if kernels is not None:
        assert kernels["duration"].is_finite().all()
        assert (kernels["duration"] >= 0).all()


def test_a_long_trace_is_held_in_a_window() -> None:
    """What is held does not grow with the input, and no byte is looked at again and again."""
    event = json.dumps(kernel("some kernel", 1, 2, correlation=3, **{"External id": 4}))
    held: list[int] = []
    seen: list[int] = []

    class Watched(EventStream):
        def _window(self, size: int) -> Any:
            held.append(len(self._data))
            found = super()._window(size)
            seen.append(len(found))
            return found

    count = 200_000
    text = '{"traceEvents": [' + ",\n".join([event] * count) + "]}"
    stream = Watched(opened(gzip.compress(text.encode(), 1)))
    assert stream.found()
    assert sum(len(batch.events) for batch in stream.batches()) == count
    assert max(held) <= 4 * cutting.WINDOW
    assert sum(seen) <= 2 * len(text)


def test_damage_everywhere_is_not_looked_at_again_and_again() -> None:
    event = json.dumps(kernel("k", 1, 2)).replace('"dur": 2', '"dur": x')
    seen: list[int] = []

    class Watched(EventStream):
        def _window(self, size: int) -> Any:
            found = super()._window(size)
            seen.append(len(found))
            return found

    text = '{"traceEvents": [' + ",\n".join([event] * 2000) + "]}"
    stream = Watched(opened(text))
    assert stream.found()
    assert sum(len(batch.events) for batch in stream.batches()) == 0
    assert len(stream.faults) >= 1
    assert sum(seen) <= 60 * len(text)


def test_fixture_opens_by_its_path() -> None:
    assert isinstance(open_source(BERT), Source)


def unnamed(pid: int, tid: int, name: str, ts: float | str, dur: float | str) -> dict[str, Any]:
    return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur}


def label(kind: str, pid: int, name: str, tid: int = 0) -> dict[str, Any]:
    return {"ph": "M", "pid": pid, "tid": tid, "name": f"{kind}_name", "args": {"name": name}}


def test_processes_tell_events_without_a_category() -> None:
    events = [
        label("process", 1, "/device:GPU:3"), label("thread", 1, "Stream #16(Compute)", 16),
        label("thread", 1, "Steps", 17), label("thread", 1, "XLA Ops", 18),
        label("process", 9, "/host:CPU"), unnamed(9, 1, "PjitFunction", 1.0, 3.0),
        unnamed(1, 17, "4", 1000.0, 900.0), unnamed(1, 17, "9" * 5000, 5000.0, 900.0),
        unnamed(1, 16, "sm90_xmma_gemm_bf16bf16", 1005.0, 300.25),
        unnamed(1, 18, "custom-call.3", 1005.0, 300.25),
        unnamed(1, 16, "MemcpyD2H", 1400.0, 10.0), unnamed(1, 16, "bad", "x", 10.0),
        label("process", 2, "/device:TPU:0"), label("thread", 2, "XLA Ops", 1),
        unnamed(2, 1, "fusion.7", 1000.0, 50.0),
    ]  # fmt: skip
    found = made(trace(events))
    rows = found.frames["trace_kernel"].to_dicts()
    names = ["sm90_xmma_gemm_bf16bf16", "MemcpyD2H", "fusion.7"]
    assert [row["kernel"] for row in rows] == names
    assert [row["kind"] for row in rows] == ["gemm", "copy", "other"]
    assert [row["device"] for row in rows] == [3, 3, 0]
    assert [row["stream"] for row in rows] == [16, 16, None]
    assert rows[0]["step"] == 4
    assert rows[0]["duration"] == pytest.approx(300.25e-6)
    assert [fault.span.line for fault in found.refused] == [13]
    assert found.claimed == len(events) - 1
    assert found.not_ours == 0


def test_older_profiles_of_rocm_name_their_devices() -> None:
    events = [
        label("process", 1, "COPY"), label("process", 2, "CPU HIP API"),
        label("process", 6, "GPU0"), unnamed(2, 9, "hipLaunchKernel", "5", "3"),
        unnamed(6, 1, "Cijk_Ailk_Bljk_HHS_BH", "10", "30"), unnamed(1, 0, "hipMemcpy", "50", "4"),
    ]  # fmt: skip
    rows = made(trace(events)).frames["trace_kernel"].to_dicts()
    assert [row["kind"] for row in rows] == ["gemm", "copy"]
    assert [row["device"] for row in rows] == [0, None]
