"""Hurt tables in every syntax: every line is accounted for, and no exception is met."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.source.opening import Source, source

from tests.conftest import mostly_slow
from tests.ingest.test_engines import mutated

FOLDER = Path(__file__).parent / "published"

NAMES = (
    "aligned.txt", "triton_matmul.txt", "rocm_listtable.rst", "lumi.rst", "hpc_guide.rst",
    "groups.html", "two_machines.html", "decimal_commas.csv", "unit_row.csv", "sweep.tsv",
    "notebook_html.ipynb", "te_formats.md", "nccl_md.md", "attention_speed.md", "twohead.md",
)  # fmt: skip
"""One document and more of each syntax, and of each kind of table."""


def survives(path: Path, times: int) -> None:
    """So many mutations of one document, three at a time."""
    data = path.read_bytes()
    rng = random.Random(path.name)
    for _ in range(times):
        opened = source(f"hurt{path.suffix}", mutated(data, rng, 3))
        if not isinstance(opened, Source):
            continue
        (account,) = read_source(opened, FORMATS).accounting
        parts = account.claimed + account.refused + account.blank + account.not_ours
        assert parts == account.lines


@pytest.mark.parametrize("name", mostly_slow(NAMES, 5))
def test_mutations_are_accounted_for(name: str) -> None:
    survives(FOLDER / name, 8)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_many_mutations_are_accounted_for(name: str) -> None:
    survives(FOLDER / name, 5_000)
