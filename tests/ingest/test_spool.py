"""Long inputs go to the disk block by block; what is written is what would be held in memory."""

from __future__ import annotations

import random
from pathlib import Path

import polars as pl
import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.inputs.parts import ingest
from assay.ingest.inputs.read import recipe
from assay.ingest.pipeline import scan as gather_module
from assay.ingest.pipeline import scan as scan_module
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.acceptance import by_row
from assay.ingest.schema.reading import Outcome
from assay.ingest.source import opening as source_module
from assay.ingest.source.opening import Source, open_source
from assay.ingest.store.load import load
from polars.testing import assert_frame_equal

from ..conftest import mostly_slow
from .test_engines import log, mutated


@pytest.mark.parametrize("seed", mostly_slow(range(6), 3))
def test_what_is_written(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_module, "FIRST", 3000)
    monkeypatch.setattr(source_module, "BLOCK", 3000)
    monkeypatch.setattr(scan_module, "FEW", 0)
    monkeypatch.setattr(gather_module, "KEPT", 0)
    monkeypatch.setattr(gather_module, "ENOUGH", 20 * seed)
    monkeypatch.chdir(tmp_path)
    rng = random.Random(f"spool {seed}")
    head = b"NHIDDEN=4096\nNLAYERS=32\nGBS=512\n" if seed % 2 else b""
    Path("a.log").write_bytes(head + mutated(log(rng, 120), rng, 10))
    opened = open_source("a.log")
    assert isinstance(opened, Source)
    wanted = read_source(opened, FORMATS)
    ingest(["a.log"], tmp_path / "out", recipe(None, FORMATS))
    outcome = load(tmp_path / "out", FORMATS)
    assert isinstance(outcome, Outcome)
    written = outcome.reading
    assert written.accounting == wanted.accounting
    assert written.refused == wanted.refused
    assert written.remarks == wanted.remarks
    assert sorted(written.frames) == sorted(wanted.frames)
    for name, frame in wanted.frames.items():
        assert_frame_equal(written.frames[name], frame, check_exact=True)
    by = pl.all()
    said = [by_row(each.provenance, each.frames).sort(by) for each in (written, wanted)]
    assert_frame_equal(*said, check_exact=True)
    assert {path.name for path in tmp_path.iterdir()} == {"a.log", "out"}
