"""Hurt logs of any trainer: every line is accounted for, and no exception is met."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.source.opening import Source, source

from tests.conftest import FIXTURES, mostly_slow
from tests.ingest.test_engines import mutated

NEW = [
    path
    for folder in ("generic_step", "mlperf_log", "all_reduce_bench")
    for path in sorted((FIXTURES / folder).glob("*.log"))
]


def survives(path: Path, times: int) -> None:
    """So many mutations of one fixture, three at a time."""
    data = path.read_bytes()
    rng = random.Random(path.name)
    for _ in range(times):
        hurt = mutated(data, rng, 3)
        opened = source("hurt.log", hurt)
        if not isinstance(opened, Source):
            continue
        (account,) = read_source(opened, FORMATS).accounting
        parts = account.claimed + account.refused + account.blank + account.not_ours
        assert parts == account.lines


@pytest.mark.parametrize("path", mostly_slow(NEW), ids=lambda path: path.stem)
def test_mutations_are_accounted_for(path: Path) -> None:
    survives(path, 8)


@pytest.mark.slow
@pytest.mark.parametrize("path", NEW, ids=lambda path: path.stem)
def test_many_mutations_are_accounted_for(path: Path) -> None:
    survives(path, 5_000)
