"""Rows of blocks put together: all of them, in order of lines, whatever the blocks held."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.lines.template import Layout, learn
from assay.ingest.pipeline import scan as gather_module
from assay.ingest.pipeline.scan import Gathered
from assay.ingest.source.opening import Source, source

FORMAT = next(fmt for fmt in FORMATS if fmt.name == "megatron_iteration")


def layout(text: str) -> Layout:
    opened = source("a.log", text.encode() + b"\n")
    assert isinstance(opened, Source)
    found = learn(FORMAT, opened, 1, text)
    assert found is not None
    return found


@pytest.mark.parametrize("seed", range(8))
def test_order_and_completeness(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    monkeypatch.setattr(gather_module, "ENOUGH", rng.choice([1, 7, 30, 10**6]))
    monkeypatch.setattr(gather_module, "KEPT", rng.choice([0, 10**9]))
    layouts = [
        layout(" iteration 1/ 9 | lm loss: 1.0 |"),
        layout(" iteration 1/ 9 | grad norm: 1.0 |"),
    ]
    gathered = Gathered(tmp_path)
    wanted: dict[Layout, list[int]] = {each: [] for each in layouts}
    last = 1
    for _ in range(12):  # blocks; of one layout there may be two frames in each
        lines = sorted(rng.sample(range(last, last + 40), 20))
        last += 40
        frames = [(rng.choice(layouts), sorted(lines[at::3])) for at in range(3)]
        gathered.add("some", [(kind, frame_of(said)) for kind, said in frames])
        for kind, said in frames:
            wanted[kind] += said
    rows = gathered.rows()["some"]
    for kind, said in wanted.items():
        mine = [each for each in rows if each.layout is kind]
        assert [line for each in mine for line in each.lines] == sorted(said)
        assert [value for each in mine for value in each.frame()["value"]] == sorted(said)
    assert gathered.layouts == {kind for kind, said in wanted.items() if said}
    files = [each for each in rows if isinstance(each.held, Path)]
    assert len(files) == (len(rows) if gather_module.KEPT == 0 else 0)
    edges = sorted((each.first, each.last) for each in rows)
    among = sum(later < end for (_, end), (later, _) in pairwise(edges))
    assert among <= len(rows) // 2  # only the two layouts of one portion


def frame_of(lines: list[int]) -> pl.DataFrame:
    types = {"line": pl.UInt32, "value": pl.Int64, "same": pl.Float64}
    return pl.DataFrame({"line": lines, "value": lines, "same": [2.5] * len(lines)}, schema=types)


def test_nothing(tmp_path: Path) -> None:
    gathered = Gathered(tmp_path)
    gathered.add("some", [])
    assert gathered.rows() == {}
    assert gathered.layouts == set()
