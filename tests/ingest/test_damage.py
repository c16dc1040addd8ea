"""Damaged logs: torn, glued, wrapped, cut, repeated. What stands is read; the rest has a reason."""

from __future__ import annotations

import gzip
from typing import Any

import polars as pl
import pytest
from assay.ingest.schema.record import Code

from ..conftest import mostly_slow
from .test_job_logs import parse

LINE = (
    " iteration    12695/  115311 | consumed samples:     9841584 | consumed tokens:  20155564032 |"
    " elapsed time per iteration (s):105.22 | learning rate: 5.969E-05 | global batch size:  2048 |"
    " lm loss: 2.463556E+00 | grad norm: 0.174 | num zeros: 0.0 | number of skipped iterations: 0 |"
    " number of nan iterations:   0 | samples per second: 19.463 | TFLOPs: 149.02"
)
MEMORY = "[Rank {}] (after 20 iterations) memory (MB) | allocated: 1.5 | max allocated: 2.5 | " \
    "reserved: 3.0 | max reserved: 4.0"  # fmt: skip
POSITION = {"line", "column", "mark", "rank", "host"}


def values(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in POSITION}


WHOLE = values(parse(LINE + " |\n").frames["megatron_iteration"].row(0, named=True))


@pytest.mark.parametrize("width", mostly_slow(range(50, 330, 7), 8))
@pytest.mark.parametrize("end", [" |", ""])
@pytest.mark.parametrize("indent", ["", "    "])
def test_a_hard_wrapped_record_is_put_together(width: int, end: str, indent: str) -> None:
    text = LINE + end
    wrapped = "\n".join(indent + text[at : at + width] for at in range(0, len(text), width))
    reading = parse(f"{wrapped}\n{LINE.replace('12695', '12696')} |\nsome other words: 5\n")
    assert reading.refused == ()
    rows = reading.frames["megatron_iteration"]
    assert rows["mark"].to_list() == ["repaired", None]
    assert values(rows.row(0, named=True)) == WHOLE
    assert [remark.code for remark in reading.remarks] == [Code.REPAIRED]
    assert reading.accounting[0].not_ours == 1


@pytest.mark.parametrize("cut", mostly_slow(range(60, 300, 11)))
def test_a_record_torn_by_other_ranks_is_put_together(cut: int) -> None:
    text = f"[default7]:{LINE} |"
    head, tail = text[:cut], text[cut:]
    foreign = f"[default3]: words of another rank\n{MEMORY.format(3)}\n\n"
    reading = parse(f"{head}\n{foreign}[default7]:{tail}\n")
    rows = reading.frames["megatron_iteration"]
    assert values(rows.row(0, named=True)) == WHOLE
    assert reading.frames["megatron_memory"].height == 1
    assert reading.refused == ()


def test_what_does_not_go_on_is_not_joined() -> None:
    cut = LINE[: LINE.index("learning rate") + 8]
    for other in ("5 apples", "rate of change: 7", "done", "0.5", "| a | b |", "12 | x: 3"):
        reading = parse(f"{cut}\n{other}\n")
        row = reading.frames["megatron_iteration"].row(0, named=True)
        assert (row["mark"], row["learning_rate"]) == ("truncated", None), other
        assert row["step_time"] == 105.22
        assert [remark.code for remark in reading.remarks] == [Code.TRUNCATED]
        assert reading.accounting[0].claimed == 1


def test_glued_records_are_taken_apart() -> None:
    two = f"{LINE} |{LINE.replace('12695', '12696')}"
    line = f"{two}{MEMORY.format(1)}{MEMORY.format(2)}time (ms) | forward: 1.5 | backward: 2.5"
    reading = parse(line + "\n")
    assert reading.refused == ()
    assert reading.frames["megatron_iteration"]["iteration"].to_list() == [12695, 12696]
    assert reading.frames["megatron_memory"]["rank"].to_list() == ["1", "2"]
    assert reading.frames["megatron_memory"]["max_reserved"].to_list() == [4 * 2.0**20] * 2
    assert reading.frames["megatron_timers"]["time"].to_list() == [0.0015, 0.0025]
    account = reading.accounting[0]
    assert (account.lines, account.claimed) == (1, 1)


def test_a_glued_record_with_a_bad_value_loses_its_cell() -> None:
    bad = MEMORY.format(2).replace("max reserved: 4.0", "max reserved: many")
    reading = parse(f"{MEMORY.format(1)}{bad}\n{MEMORY.format(3)}\n")
    assert reading.refused == ()
    assert [d.code for d in reading.remarks] == [Code.UNDECODABLE]
    memory = reading.frames["megatron_memory"]
    assert memory["rank"].to_list() == ["1", "2", "3"]
    assert memory["max_reserved"].null_count() == 1


def test_progress_bars_and_carriage_returns() -> None:
    bar = " 45%|####5     | 9/20 [00:12<00:15,  1.39s/it]"
    reading = parse(f"\r{bar}\r{bar}{LINE} |\r{bar}\n{bar}\n".encode())
    assert reading.frames["megatron_iteration"]["iteration"].to_list() == [12695]
    assert reading.refused == ()


def test_bad_bytes_and_escapes() -> None:
    data = b"\xff\xfe\x1b[31m" + LINE.encode() + b" |\x1b[0m\r\n\x80\x81 noise\n"
    data = data.replace(b"\xff\xfe", b"")
    reading = parse(data)
    assert reading.frames["megatron_iteration"]["lm_loss"].to_list() == [2.463556]


def test_a_cut_stream_gives_what_came_before() -> None:
    lines = "".join(LINE.replace("12695", str(n)) + " |\n" for n in range(3000))
    packed = gzip.compress(lines.encode())
    reading = parse(packed[: len(packed) // 2])
    assert 0 < reading.frames["megatron_iteration"].height < 3000
    assert Code.CUT_SHORT in {remark.code for remark in reading.remarks}
    assert reading.refused == ()


def test_the_end_of_the_input_drops_an_open_value() -> None:
    row = parse(LINE[:-1]).frames["megatron_iteration"].row(0, named=True)
    assert (row["mark"], row["model_flops_rate"], row["samples_per_s"]) == (
        "truncated", None, 19.463)  # fmt: skip


def test_a_restart_supersedes_what_it_repeats() -> None:
    def line(n: int, loss: float) -> str:
        return f" iteration {n}/ 100 | consumed samples: {n * 8} | lm loss: {loss} |\n"

    text = "".join(line(n, 1.0) for n in range(1, 6)) + "restarting\n"
    text += "".join(line(n, 2.0) for n in range(4, 8))
    reading = parse(text)
    rows = reading.frames["megatron_iteration"]
    assert rows["iteration"].to_list() == [1, 2, 3, 4, 5, 4, 5, 6, 7]
    marked = rows.filter(pl.col("mark") == "superseded").select("iteration", "lm_loss").rows()
    assert marked == [(4, 1.0), (5, 1.0)]
    assert [remark.code for remark in reading.remarks] == [Code.SUPERSEDED] * 2


def test_ranks_that_print_the_same_iteration_are_no_restart() -> None:
    text = "".join(f"[default{r}]:{LINE} |\n" for r in range(3))
    assert parse(text).frames["megatron_iteration"]["mark"].null_count() == 3
