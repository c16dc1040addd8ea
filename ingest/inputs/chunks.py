"""Inputs in portions of work: large ones alone, small ones together, identical ones side by side.

Inputs are identical where their side files are as well.

The portions decide how work is shared and nothing of what comes out.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.ingest.inputs.paths import beside
from assay.ingest.source.opening import STDIN

FULL = 4 * 2**20
"""Bytes of input in a portion; a larger input is one alone."""

MANY = 64
"""Inputs in a portion."""

_BLOCK = 2**20


@dataclass(frozen=True)
class Chunk:
    """Inputs that one process reads; each unit holds inputs that are alike byte for byte."""

    units: tuple[tuple[str, ...], ...]
    size: int = 0  # bytes, of the first of each unit, `unpacked`

    @property
    def paths(self) -> list[str]:
        """Every input of the chunk."""
        return [path for unit in self.units for path in unit]

    @property
    def here(self) -> bool:
        """Whether it can only be read in this process: standard input."""
        return STDIN in self.paths

    def parts(self) -> Iterator[Chunk]:
        """A chunk for each input, for when they cannot be read together."""
        for path in self.paths:
            yield Chunk(((path,),), unpacked(path))


Watch = Callable[[Chunk], None]
"""A function that is told of each chunk that is done."""


def unwatched(_chunk: Chunk) -> None:
    """Ignore a chunk that is done: a `Watch` for callers that show no progress."""


def plan(paths: Sequence[str]) -> list[Chunk]:
    """The inputs in portions, in order."""
    chunks: list[Chunk] = []
    units: list[tuple[str, ...]] = []
    held = 0
    for unit in _alike(paths):
        size = unpacked(unit[0])
        if units and (held + size > FULL or len(units) == MANY or STDIN in unit):
            chunks.append(Chunk(tuple(units), held))
            units, held = [], 0
        units.append(unit)
        held += size
        if STDIN in unit:
            chunks.append(Chunk(tuple(units), held))
            units, held = [], 0
    return [*chunks, Chunk(tuple(units), held)] if units else chunks


def _alike(paths: Sequence[str]) -> list[tuple[str, ...]]:
    """Groups of identical files with like side files, in the order of their first; others alone."""
    by_size: dict[int, list[str]] = defaultdict(list)
    for path in paths:
        by_size[_size(path)].append(path)
    groups: dict[object, list[str]] = {}
    for path in paths:
        size = _size(path)
        # only a file of the same length can be the same
        held = digest(path) if size and len(by_size[size]) > 1 else None
        key = (held, digest(beside(Path(path)).as_posix())) if held else path
        groups.setdefault(key, []).append(path)
    return [tuple(group) for group in groups.values()]


def digest(path: str) -> str | None:
    """SHA-256 of a file's bytes as they stand on disk; None where it cannot be read."""
    if path == STDIN:
        return None
    found = hashlib.sha256()
    try:
        with Path(path).open("rb") as file:
            while block := file.read(_BLOCK):
                found.update(block)
    except OSError:
        return None
    return found.hexdigest()


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size if path != STDIN else 0
    except OSError:
        return 0


_GZIP = b"\x1f\x8b"

_TRAILER = 4
"""Bytes at the end of a gzip member that say how many its last one holds, modulo 2**32."""


def unpacked(path: str) -> int:
    """Bytes that an input holds, as far as it says so without being read; at least those on disk.

    Source: RFC 1952, ISIZE. Of several members only the last one is told.
    """
    size = _size(path)
    if not path.endswith(".gz") or size < len(_GZIP) + _TRAILER:
        return size
    try:
        with Path(path).open("rb") as file:
            if file.read(len(_GZIP)) != _GZIP:
                return size
            file.seek(-_TRAILER, 2)
            return max(size, int.from_bytes(file.read(_TRAILER), "little"))
    except OSError:
        return size
