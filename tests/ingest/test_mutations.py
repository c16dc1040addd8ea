"""Damage: whatever happens to an input, nothing crashes, nothing is lost, refusals have reasons."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.reading import Reading
from assay.ingest.source.opening import Source, source

from ..conftest import FIXTURES, mostly_slow

CASES = sorted(
    path
    for each in FORMATS
    if each.lines != "whole"  # counts events, not lines
    for path in (FIXTURES / each.name).glob("*")
    if path.suffix in {".md", ".log", ".csv", ".txt"}
)
PER_FIXTURE = 5_000
QUICK = 50  # of them, in every run of the tests; all of them in the slow ones
PER_DOCUMENT = 50
WINDOW = 8
NASTY = [b"|", b"\r", b"\x00", b"\xff", b"\x1b[31m", b"=", b":", b"-", b"nan", b",", b'"', b"1e999"]


def excerpts(data: bytes, rng: random.Random) -> list[bytes]:
    """A few lines that follow each other, with what stands at the top of the file before them."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    return lines[:2] + lines[at : at + WINDOW]


def mutate(lines: list[bytes], rng: random.Random) -> list[bytes]:
    """One change: a character, a token, a line, an order, an end."""
    lines = list(lines)
    at = rng.randrange(len(lines))
    line = lines[at]
    cut = rng.randrange(len(line) + 1)
    match rng.randrange(8):
        case 0:
            lines[at] = line[:cut] + line[cut + 1 :]
        case 1:
            lines[at] = line[:cut] + rng.choice(NASTY) + line[cut:]
        case 2:
            lines[at] = line[:cut]
        case 3:
            lines.insert(at, line)
        case 4:
            lines[at : at + 2] = [b"".join(lines[at : at + 2])]
        case 5:
            lines[at] = line[:cut] + bytes([rng.randrange(256)]) + line[cut + 1 :]
        case 6:
            rng.shuffle(lines)
        case _:
            lines[at] = line[cut:] + line[:cut]
    return lines


def conserved(read: Reading, whole: Source) -> None:
    account = read.accounting[0]
    total = account.claimed + account.refused + account.blank + account.not_ours
    assert total == account.lines == whole.lines.height
    assert {d.span.line for d in read.refused} <= set(range(1, account.lines + 1))
    assert len({d.span.line for d in read.refused}) == account.refused
    assert all(d.message for d in read.refused)
    rows = [at for name, frame in read.frames.items() if name != "runs"  # of many lines
            for at in frame.select("line", "column").rows()]  # fmt: skip
    assert len(set(rows)) == len(rows)
    lines = {line for line, _ in rows}
    assert len(lines) <= account.claimed
    assert not lines & {d.span.line for d in read.refused}


@pytest.mark.parametrize("path", mostly_slow(CASES, 12), ids=lambda path: path.name)
def test_every_fixture_is_conserved(path: Path) -> None:
    whole = source(path.name, path.read_bytes())
    assert isinstance(whole, Source)
    read = read_source(whole, FORMATS)
    conserved(read, whole)
    assert read.refused == ()


@pytest.mark.parametrize("path", mostly_slow(CASES, 16), ids=lambda path: path.name)
def test_mutations_lose_nothing(path: Path) -> None:
    lose_nothing(path, QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
def test_many_mutations_lose_nothing(path: Path) -> None:
    lose_nothing(path, PER_FIXTURE)


def lose_nothing(path: Path, mutations: int) -> None:
    """Read so many mutated excerpts of an input, batched into documents."""
    rng = random.Random(f"{path.name} {mutations}")
    data = path.read_bytes()
    for _ in range(mutations // PER_DOCUMENT):
        parts = [b"\n".join(mutate(excerpts(data, rng), rng)) for _ in range(PER_DOCUMENT)]
        whole = source("mutant", b"\n\n".join(parts))
        assert isinstance(whole, Source)
        conserved(read_source(whole, FORMATS), whole)


@pytest.mark.parametrize(
    "share", [0, *(pytest.param(at, marks=pytest.mark.slow) for at in range(1, 8))]
)
def test_every_real_input_is_conserved(corpus: Path, share: int) -> None:
    files = [
        p
        for p in (corpus / "corpus").rglob("*")
        if p.is_file() and p.suffix != ".tsv" and "trace" not in p.parts
    ]  # an account of events, see test_traces

    files += sorted((corpus / "measured").glob("*.csv"))
    assert len(files) > 50
    for path in sorted(files)[share::8]:
        whole = source(path.name, path.read_bytes())
        assert isinstance(whole, Source)
        conserved(read_source(whole, FORMATS), whole)
