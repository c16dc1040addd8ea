"""Every fixture against its golden, and how little of how it is written reaches that."""

from __future__ import annotations

import gzip
import random
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.inputs.paths import COMPANIONS
from assay.ingest.inputs.read import read
from assay.ingest.source.opening import packed
from assay.validate.golden.canonical import document
from assay.validate.golden.document import write
from assay.validate.golden.folder import Case, cases, check
from assay.validate.golden.model_entries import settings

from tests.conftest import FIXTURES, mostly_slow

INPUTS = sorted(
    path
    for fmt in FORMATS
    for path in (FIXTURES / fmt.name).glob("*")
    if path.suffix not in COMPANIONS
)


CASES = [case for fmt in FORMATS for case in cases(FIXTURES / fmt.name)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_fixture_stands(case: Case) -> None:
    assert case.input is not None
    assert case.golden.is_file()
    found = check(case, settings())
    assert not found.difference.reasons, str(found.difference)  # refusals and reasons included


@cache
def plain(path: Path) -> str:
    return text(path)


def text(path: Path) -> str:
    outcome = read([path])
    assert not outcome.unreadable
    return write(document(outcome.reading))


def is_binary(path: Path) -> bool:
    return b"\0" in path.read_bytes()[:64]


def carriage_returns(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


# what reads lines reads either end: a document of every eighth kind shows that nothing else does
@pytest.mark.parametrize("path", mostly_slow(INPUTS, 8), ids=lambda path: path.name)
def test_line_ends_change_no_golden(path: Path, tmp_path: Path) -> None:
    if packed(path.read_bytes()[:8]) or is_binary(path):
        pytest.skip("no lines that could end otherwise")
    unchanged(path, "", carriage_returns, tmp_path)


# what is unpacked is the same whatever it is then read as: a few formats are enough
@pytest.mark.parametrize("path", mostly_slow(INPUTS, 8), ids=lambda path: path.name)
def test_compression_changes_no_golden(path: Path, tmp_path: Path) -> None:
    if packed(path.read_bytes()[:8]):
        pytest.skip("compressed already")
    unchanged(path, ".gz", gzip.compress, tmp_path)


def unchanged(path: Path, suffix: str, change: Callable[[bytes], bytes], tmp_path: Path) -> None:
    side = path.with_suffix(".toml")
    if side.is_file():
        shutil.copy(side, tmp_path)
    other = tmp_path / f"{path.name}{suffix}"
    other.write_bytes(change(path.read_bytes()))
    assert text(other) == plain(path)


@pytest.mark.parametrize("name", ["megatron_iteration/bloom_176b.log", "gemm_table/h100_bf16.csv"])
def test_the_order_of_records_changes_no_golden(name: str, tmp_path: Path) -> None:
    path = FIXTURES / name
    shutil.copy(path.with_suffix(".toml"), tmp_path)
    lines = path.read_text().splitlines(keepends=True)
    head = 1 if path.suffix == ".csv" else 0
    rows = lines[head:]
    random.Random(1).shuffle(rows)
    other = tmp_path / path.name
    other.write_text("".join(lines[:head] + rows))
    assert text(other) == plain(path)
