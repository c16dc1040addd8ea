"""Lines read from their bytes, in many small blocks: the rows that folds give, to the bit."""

from __future__ import annotations

import random

import polars as pl
import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.lines.bytewise import Shapes
from assay.ingest.lines.template import Found
from assay.ingest.pipeline import scan as scanning
from assay.ingest.pipeline.scan import scan
from assay.ingest.source import opening as sources
from assay.ingest.source.blocks import Block
from assay.ingest.source.opening import Source, source

from ..conftest import mostly_slow
from .test_engines import both, log, mutated


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Small blocks, few lines to learn from; how many lines were read by their shapes."""
    counts: list[int] = []
    read = Shapes.read

    def told(shapes: Shapes, block: Block, free: scanning.Mask) -> Found:
        found = read(shapes, block, free)
        counts.append(sum(frame.height for _, frame in found))
        return found

    monkeypatch.setattr(Shapes, "read", told)
    monkeypatch.setattr(sources, "FIRST", 2**10)
    monkeypatch.setattr(sources, "BLOCK", 2**12)
    monkeypatch.setattr(scanning, "FEW", 16)
    return counts


def agree(seed: int, lines: int, changes: int) -> None:
    rng = random.Random(seed)
    data = log(rng, lines)
    both(data)
    both(mutated(data, rng, changes))


def test_generated_logs_and_mutations(counted: list[int]) -> None:
    agree(0, 80, 10)
    assert sum(counted) > 20


@pytest.mark.slow
def test_many_generated_logs_and_mutations(counted: list[int]) -> None:
    for seed in range(1000, 1060):
        agree(seed, 300, 40)
    assert sum(counted) > 60 * 40


def lines_of(cells: str, count: int, *, first: int = 1) -> bytes:
    """Records with numbers drawn for `{a}` (digits) and `{e}` (a digit)."""
    rng = random.Random(first)
    texts = (
        f" iteration {first + at:8}/  9000 | "
        + cells.format(a=rng.randrange(10**6), e=rng.randrange(1, 10), n=first + at)
        + " |"
        for at in range(count)
    )
    return "\n".join(texts).encode() + b"\n"


@pytest.mark.parametrize(
    "cells",
    mostly_slow(
        [
            "consumed samples: {n:12} | lm loss: {e}.{a:06}E-0{e}",  # padded, exponents that vary
            "lm loss: -0.{a:06} | grad norm: {e}. | learning rate: {e}.5e+1{e}",
            "loss scale: {a:09}.0 | grad norm: {e}e{e}{e}",  # exponents beyond what is exact
            "elapsed time per iteration (ms): {a:06}.{e}/{a:06}.{e} | mtp_1 loss: {e}.5 | word",
            "consumed samples: 0{a:06} | global batch size: {n:06}",  # zeros before integers
            "consumed samples: {n:4} {e} | lm loss: 1.0",  # a blank inside
            "consumed tokens: {a:06}{a:06}{a:06}{a:06} | lm loss: {e}.{a:06}{a:06}{a:06}",  # long
            "number of nan iterations: -{e} | loss scale: +{e}.0",
            "hip mem usage/free/total: {e}.10GB/{e}.88GB/255.98GB | actual seqlen: {n:05}",
        ],
        2,
    ),
)
def test_numbers_of_every_kind(cells: str) -> None:
    both(lines_of(cells, 120))


def test_digits_that_grow_do_not_end_a_shape(counted: list[int]) -> None:
    data = lines_of("consumed samples: {n:12} | lm loss: {e}.5", 600, first=900)
    reading = both(data)
    assert reading.frames["megatron_iteration"].height == 600
    assert sum(counted) >= 600 - 2 * len(counted)  # the last of a block may go on


def test_a_value_that_fails_a_check_is_refused_where_it_stands(counted: list[int]) -> None:
    data = lines_of("elapsed time per iteration (s): {e}.{a:06} | lm loss: 1.0", 300)
    lines = data.split(b"\n")
    lines[250] = lines[250][: lines[250].index(b"(s): ")] + b"(s): 0.000000 | lm loss: 1.0 |"
    reading = both(b"\n".join(lines))
    assert not reading.refused  # the cell is lost, the record stays
    assert [remark.span.line for remark in reading.remarks] == [251]
    assert sum(counted) > 150


def test_carriage_returns_before_line_feeds(counted: list[int]) -> None:
    data = lines_of("lm loss: {e}.{a:06}", 200).replace(b"\n", b"\r\n")
    assert both(data).frames["megatron_iteration"].height == 200
    assert sum(counted) > 100


def test_prefixes_are_columns(counted: list[int]) -> None:
    lines = lines_of("lm loss: {e}.{a:06}", 200).split(b"\n")[:-1]
    data = b"\n".join(b"[default%d]:%s" % (at % 8, line) for at, line in enumerate(lines))
    ranks = both(data).frames["megatron_iteration"]["rank"]
    assert ranks.to_list() == [str(at % 8) for at in range(200)]
    assert sum(counted) > 100


def test_what_is_taken_is_taken_once() -> None:
    whole = source("a.log", lines_of("lm loss: {e}.5", 100))
    assert isinstance(whole, Source)
    found = scan(whole, FORMATS, "cells")
    left = found.lines.filter(~pl.col("line").is_in(sorted(found.read)))["line"]
    lines = pl.concat([*(rows.frame()["line"] for rows in found.rows["megatron_iteration"]), left])
    assert lines.sort().to_list() == list(range(1, 101))
