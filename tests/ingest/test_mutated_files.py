"""Whole files, damaged as disks, pipes and people damage them: nothing crashes, nothing is lost."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest
import zstandard
from assay.ingest.formats import FORMATS
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.record import Diagnostic
from assay.ingest.source.opening import Source, source

from ..conftest import FIXTURES
from .test_mutations import conserved

JOBS = sorted(
    path
    for name in ("arguments", "deepspeed", "megatron_iteration", "megatron_memory",
                 "megatron_parameters", "megatron_timers", "megatron_validation", "step_rate")
    for path in (FIXTURES / name).glob("*.log")
)  # fmt: skip
TABLES = sorted(path for path in FIXTURES.glob("*/*") if path.suffix in {".md", ".csv", ".txt"})
QUICK, MANY = 27, 2_000
LINES = 150  # of a file, at most

Files = tuple[bytes, bytes]
Damage = Callable[[Files, random.Random], bytes]


def cut(files: Files, rng: random.Random) -> bytes:
    return files[0][: rng.randrange(len(files[0]) + 1)]


def lose(files: Files, rng: random.Random) -> bytes:
    at = rng.randrange(len(files[0]))
    return files[0][:at] + files[0][at + rng.randrange(4096) :]


def splice(files: Files, rng: random.Random) -> bytes:
    one, other = files
    return one[: rng.randrange(len(one) + 1)] + other[rng.randrange(len(other) + 1) :]


def interleave(files: Files, rng: random.Random) -> bytes:
    lines = [data.split(b"\n") for data in files]
    mixed = []
    while lines[0] or lines[1]:
        side = lines[rng.randrange(2)] or lines[0] or lines[1]
        mixed.append(side.pop(0))
    return b"\n".join(mixed)


def write_at_once(files: Files, rng: random.Random) -> bytes:
    """Two writers of one stream that tear each other's lines."""
    rest, found = list(files), b""
    while rest[0] or rest[1]:
        side = rng.randrange(2) if rest[0] and rest[1] else int(not rest[0])
        width = rng.randrange(1, 400)
        found, rest[side] = found + rest[side][:width], rest[side][width:]
    return found


def duplicate(files: Files, rng: random.Random) -> bytes:
    lines = files[0].split(b"\n")
    at = rng.randrange(len(lines))
    block = lines[at : at + rng.randrange(1, 40)]
    return b"\n".join(lines[:at] + block * rng.randrange(2, 4) + lines[at:])


def encode(files: Files, rng: random.Random) -> bytes:
    text = files[0].decode("utf-8", "replace")
    match rng.randrange(6):
        case 0:
            return text.encode("utf-16")
        case 1:
            return text.encode("utf-8-sig")
        case 2:
            return text.replace("e", "é").encode("latin-1", "replace")
        case 3:
            return text.replace("\n", "\r\n").encode()
        case 4:
            return text.replace("\n", "\r").encode()
        case _:
            return text.replace(" ", "\xa0").encode()


def wrap(files: Files, rng: random.Random) -> bytes:
    width = rng.randrange(40, 200)
    lines = files[0].split(b"\n")
    return b"\n".join(
        line[at : at + width] for line in lines for at in range(0, len(line) or 1, width)
    )


def compress(files: Files, rng: random.Random) -> bytes:
    """A compressed stream, cut off or with a bit turned over."""
    packs: list[Callable[[bytes], bytes]] = [
        gzip.compress, bz2.compress, lzma.compress, zstandard.ZstdCompressor().compress,
    ]  # fmt: skip
    packed = bytearray(rng.choice(packs)(files[0]))
    at = rng.randrange(6, len(packed))
    if rng.randrange(2):
        return bytes(packed[:at])
    packed[at] ^= 1 << rng.randrange(8)
    return bytes(packed)


DAMAGES: tuple[Damage, ...] = (
    cut, lose, splice, interleave, write_at_once, duplicate, encode, wrap, compress,
)  # fmt: skip


def excerpt(path: Path, rng: random.Random) -> bytes:
    lines = path.read_bytes().split(b"\n")
    at = rng.randrange(max(1, len(lines) - LINES // 2))
    return b"\n".join(lines[at : at + LINES]) + b"\n"


def survive(count: int, seed: str) -> None:
    rng = random.Random(seed)
    for number in range(count):
        paths = [rng.choice(JOBS), rng.choice(JOBS if rng.randrange(4) else TABLES)]
        files = (excerpt(paths[0], rng), excerpt(paths[1], rng))
        damage = DAMAGES[number % len(DAMAGES)]
        data = damage(files, rng)
        whole = source("damaged.log", data)
        if isinstance(whole, Diagnostic):
            assert whole.message, (damage.__name__, paths)
            continue
        assert isinstance(whole, Source)
        conserved(read_source(whole, FORMATS), whole)


def test_damaged_files_lose_nothing() -> None:
    survive(QUICK, "quick")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_many_damaged_files_lose_nothing(seed: int) -> None:
    survive(MANY // 4, str(seed))


def calls(data: bytes) -> int:
    """Calls of Python functions that reading takes: work without a clock."""
    count = 0

    def count_one(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal count
        count += event == "call"

    whole = source("damaged.log", data)
    assert isinstance(whole, Source)
    sys.setprofile(count_one)
    try:
        read_source(whole, FORMATS)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.slow
@pytest.mark.parametrize("damage", [write_at_once, interleave, wrap, duplicate])
def test_the_work_is_linear_in_the_input(damage: Damage) -> None:
    rng = random.Random(damage.__name__)
    parts = []
    for _ in range(40):
        files = (excerpt(rng.choice(JOBS), rng), excerpt(rng.choice(JOBS), rng))
        parts.append(damage(files, rng))
    calls(parts[0])  # grammars are built once
    small, large = calls(b"\n".join(parts[:10])), calls(b"\n".join(parts[:10] * 4))
    assert large < 5 * small
