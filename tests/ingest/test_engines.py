"""Two engines, one result: what columns read is what the folds read, to the bit."""

from __future__ import annotations

import random
from pathlib import Path

import polars as pl
import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.pipeline.scan import scan
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.acceptance import by_row
from assay.ingest.schema.reading import Reading
from assay.ingest.schema.record import Code
from assay.ingest.source.opening import Source, source
from polars.testing import assert_frame_equal

from ..conftest import FIXTURES

CELLS = (
    "consumed samples: {n}", "elapsed time per iteration (ms): {a}.{b}",
    "learning rate: {a}.{b}E-05",
    "lm loss: 2.46355{b}E+00", "loss scale: 1.0", "grad norm: 0.{b}", "grad norm: nan",
    "number of skipped iterations:   {z}", "TFLOPs: 14{z}.{b}", "global batch size:  2048",
    "elapsed time per iteration (s): {a}.{b}/{b}.{z}", "mem usages: 0.{b}", "mtp_1 loss: {z}.{b}",
    "hip mem usage/free/total: {a}.10GB/{b}.88GB/255.98GB",
    "iteration time: {a}.{b} s samples/sec: {z}.4",
    "approx flops per GPU: {a}.9TFLOPS", "lm_loss=3.1{b}", "shards: a{b}/b", "actual seqlen: {n}",
    "tokens per gpu per second (tgs): {a}.{b}", "loss scale: 1.{b}e6", "params norm: inf", "step",
    "loss: {a}.5", "{a}.{b} TFLOP/s per GPU", "iteration time: {a}.{b}",
    "throughput (flops): {a}e12",
    "compute per GPU (TFLOP/s/GPU): {a}.4 (avg {b}.1)", "ETA Time: {z} day, {z}:03:{s}",
    "tokens/s/GPU inst/harmonic mean: {a}.8/{b}.1", "tokens_per_gpu_per_second: {a}.5 /s",
)  # fmt: skip
LEADS = (
    "", " ", "[default7]: ", "3:  ", "[node0137:0]: [2024-06-02 10:02:{s}] ",
    "[NeMo I 2024-01-0{z}] ",
    "[2025-03-02 10:11:12,131415][I][megatron/training_log:402:training_log]  ", "worker-{z}: ",
    "10.7.21.{z}: ", "samples/sec: 7.{b} | ", "i.pretrain/{z} ", "==> ",
)  # fmt: skip
NOISE = (
    "", "some words", "[default3]: words of another rank", "loss: 5", "tokens/s: 400 | lr: 0.1 |",
    "time (ms) | forward: {a}.{b} | backward: {z}.5", "world size: {z}", "TP={z}, PP=1, DP=8",
    "epoch {z} of iteration 5", "  12 | x: 3", "12", "[default1]:", "# head {z}", "seq_len: 4096",
    "[Rank {z}] (after 20 iterations) memory (MB) | allocated: {a}.5 | max allocated: {b}.5",
    "global batch size: 1024", "0.5 TFLOPs in {a} ms", "--", "caf\u00e9 iteration 7/ 9 |",
    "validation loss at iteration {z} | lm loss value: {a}.0 |", "7 s/it\r8 s/it", "\x1b[31mred",
    "setting number of micro-batches to constant {a}", "model: x{z}", "\t",
)  # fmt: skip


def log(rng: random.Random, lines: int) -> bytes:
    """Some kinds of records and noise of one job, in any order, restarts and cuts among them."""
    kinds = [
        (rng.choice(LEADS), rng.sample(CELLS, rng.randrange(1, 9)), rng.choice([" |", "", " | "]))
        for _ in range(rng.randrange(1, 4))
    ]
    spoken = rng.sample(NOISE, rng.randrange(1, len(NOISE)))
    share = rng.choice([0.0, 0.2, 0.7])
    out, step = [], rng.randrange(50)
    for _ in range(lines):
        step = step + 1 if rng.random() < 0.97 else max(0, step - 5)
        numbers = {
            "n": step * 2048, "a": rng.randrange(10, 20000), "b": f"{rng.randrange(1000):03}",
            "z": rng.randrange(10), "s": f"{rng.randrange(60):02}",
        }  # fmt: skip
        if rng.random() < share:
            out.append(rng.choice(spoken).format(**numbers))
        else:
            lead, cells, end = rng.choice(kinds)
            text = " | ".join([f"iteration {step:8}/  {rng.choice(['500', '0500'])}", *cells])
            out.append((lead + text + end).format(**numbers))
    text = "\n".join(out) + rng.choice(["\n", ""])
    return text.encode()


def mutated(data: bytes, rng: random.Random, changes: int) -> bytes:
    """The same with bytes changed, lost and put in, and lines torn and glued."""
    lines = data.split(b"\n")
    for _ in range(changes):
        at = rng.randrange(len(lines))
        line = lines[at]
        cut = rng.randrange(len(line) + 1)
        new = rng.choice([b"", b"|", b":", b"-", b"+", b"00", b".", b"e", b" ", b"/", b"x", b"nan",
                          b"\n", b"\r", b"\xff", b"9" * 20, b"="])  # fmt: skip
        keep = rng.choice([0, 0, 1, 2])
        lines[at] = line[:cut] + new + line[cut + keep :]
        if rng.random() < 0.05:
            lines[at : at + 2] = [b"".join(lines[at : at + 2])]
    return b"\n".join(lines)


def both(data: bytes) -> Reading:
    """The reading of the columns, which is that of the folds."""
    whole = source("a.log", data)
    assert isinstance(whole, Source)
    one, other = (read_source(whole, FORMATS, engine=engine) for engine in ("cells", "folds"))
    assert one.accounting == other.accounting
    assert one.refused == other.refused
    assert one.remarks == other.remarks
    assert one.raw == other.raw
    assert one.overridden == other.overridden
    assert list(one.frames) == list(other.frames)
    for name, frame in one.frames.items():
        assert_frame_equal(frame, other.frames[name], check_exact=True)
    by = pl.all()
    said = [by_row(each.provenance, each.frames).sort(by) for each in (one, other)]
    assert_frame_equal(*said, check_exact=True)
    return one


def taken(data: bytes) -> int:
    """How many lines the columns read."""
    whole = source("a.log", data)
    assert isinstance(whole, Source)
    return scan(whole, FORMATS, "cells").taken


def agree(seed: int, lines: int, changes: int) -> tuple[int, int]:
    """How many lines were read by columns before the changes and after them."""
    rng = random.Random(seed)
    data = log(rng, lines)
    hurt = mutated(data, rng, changes)
    both(data)
    both(hurt)
    return taken(data), taken(hurt)


def test_generated_logs_and_mutations() -> None:
    before, after = agree(0, 100, 30)
    assert before > 100 * 0.2
    assert after > before / 3


@pytest.mark.slow
def test_many_generated_logs_and_mutations() -> None:
    for seed in range(100, 350):
        agree(seed, 200, 60)


def test_a_piece_that_begins_with_a_label_of_a_rate() -> None:
    record = b"samples/sec: 7.%d | iteration %8d/ 500 | lm loss: 2.5 | shards: a/b |\n"
    lines = [record % (at, at) for at in range(1, 40)]
    lines[20:21] = [b"samples/sec: 7.718 | itera\n", b"tion 21/ 500 | lm loss: 2.5 |\n"]
    assert any("is torn" in remark.message for remark in both(b"".join(lines)).remarks)


@pytest.mark.parametrize("blanks", range(4))
def test_blanks_before_a_unit_within_a_cell(blanks: int) -> None:
    lines = [
        f"iteration {at:4}/ 500 | iteration time: 98.{at}{' ' * (at % 7 == 3 and blanks)}s "
        f"samples/sec: 8.{at} | lm loss: 2.5 |"
        for at in range(99)
    ]
    both("\n".join(lines).encode())
    both("\n".join(line.replace("s samples", " s samples") for line in lines).encode())


@pytest.mark.parametrize("odd", ["nan", "-0.0"])
def test_one_other_value_among_many_is_kept(odd: str) -> None:
    lines = [f" iteration {at:4}/ 500 | grad norm: 0.0 | lm loss: 2.{at} |" for at in range(99)]
    lines[50] = lines[50].replace("norm: 0.0", f"norm: {odd}")
    norms = both("\n".join(lines).encode()).frames["megatron_iteration"]["grad_norm"].to_list()
    assert [str(norms[at]) for at in (49, 50, 51)] == ["0.0", odd, "0.0"]


@pytest.mark.parametrize(
    "text", ["1e999", "-2.5E+4000", "0.1e999463838", "9" * 400, "1e-400", "-0.02E-999463838"]
)
def test_a_number_that_no_double_holds_costs_its_cell(text: str) -> None:
    lines = [f" iteration {at:4}/ 500 | grad norm: 0.{at} | lm loss: 2.{at} |" for at in range(99)]
    lines[50] = lines[50].replace("norm: 0.50", f"norm: {text}")
    reading = both("\n".join(lines).encode())
    assert reading.refused == ()
    assert [(each.span.line, each.code) for each in reading.remarks] == [(51, Code.UNDECODABLE)]
    assert "expected a number from 5e-324 to 1.8e308, or zero" in reading.remarks[0].message
    norms = reading.frames["megatron_iteration"]["grad_norm"]
    assert [at for at, norm in enumerate(norms) if norm is None] == [50]


@pytest.mark.parametrize("text", ["0e-999", "-0.000E+4000", "5e-324", "1.7E308"])
def test_zero_and_the_edges_of_doubles_are_numbers(text: str) -> None:
    lines = [f" iteration {at:4}/ 500 | grad norm: 0.{at} | lm loss: 2.{at} |" for at in range(99)]
    lines[50] = lines[50].replace("norm: 0.50", f"norm: {text}")
    assert both("\n".join(lines).encode()).frames["megatron_iteration"]["grad_norm"][50] == float(
        text
    )


def test_a_line_with_a_metric_in_front_goes_on_with_no_record() -> None:
    lines = [
        f"samples/sec: 7.{at} | iteration {at:6}/ 500 | lm loss: 2.{at} |" for at in range(400)
    ]
    lines[200] = lines[200].replace("iteration ", "iteration :")
    reading = both("\n".join(lines).encode())
    assert reading.frames["megatron_iteration"].height == 400
    assert not reading.remarks


@pytest.mark.parametrize("text", ["inf", "-inf", "nan"])
def test_what_is_printed_as_infinite_is(text: str) -> None:
    lines = [f" iteration {at:4}/ 500 | grad norm: {text} | lm loss: 2.{at} |" for at in range(99)]
    reading = both("\n".join(lines).encode())
    norms = reading.frames["megatron_iteration"]["grad_norm"].to_list()
    assert {str(norm) for norm in norms} == {str(float(text))}


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("megatron_*/*.log")), ids=lambda p: p.name)
def test_fixtures(path: Path) -> None:
    both(path.read_bytes())


@pytest.mark.slow
def test_every_real_input(corpus: Path) -> None:
    files = [p for p in (corpus / "corpus").rglob("*") if p.is_file() and p.suffix != ".tsv"]
    assert len(files) > 50
    for path in files:
        both(path.read_bytes())
