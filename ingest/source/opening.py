"""An input: its lines in blocks, its digest, and the bytes of single lines for the quarantine.

Compressed streams (gz, zst, bz2, xz) are recognised by their first bytes; a stream that is cut off
gives the lines that are whole and a remark. Bytes that are not UTF-8 are replaced for parsing and
kept as they are for the quarantine. Inputs are read here; `assay.ingest.inputs.chunks` looks only
at their sizes and digests. An input is read from its beginning as often as it is asked for its
blocks, a block at a time.
"""

from __future__ import annotations

import bz2
import errno
import hashlib
import io
import lzma
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Protocol

import numpy as np
import polars as pl
from assay.ingest.schema.record import Code, Diagnostic, Span
from assay.ingest.source.blocks import Block
from assay.ingest.source.carriers import carrier
from assay.ingest.source.pages import page
from assay.ingest.source.restructured_pages import in_markdown, restructured
from assay.ingest.source.soft_wraps import Seam, holds_tables, joined

MAX_LINE = 16 * 2**20
"""A line longer than this many bytes is refused, its length given, and not parsed."""

BLOCK = 8 * 2**20
"""Bytes that are read at a time; a block ends with the last line that ends in them."""

FIRST = 2**18
"""Bytes of the first block: it is read without knowing how the records of the input look."""

STDIN = "-"

_STEPS = {"gzip": 2**16}  # compressed bytes that are expanded at a time: at most 64 MiB come of it

_STEP = 2**11  # of streams of which a byte may give more than 20,000

_MOST, _TIMES = 2**28, 300  # bytes that a stream may give in any case, and for each of its own

_AFTER = 2**15  # bytes shown of what comes behind a block

_PIECE = 2**20  # bytes of stdin that are kept at a time

_KEPT = 2**16  # bytes kept of a line that is too long


class Source:
    """One input. What is known of it as a whole is known once its blocks have been read."""

    def __init__(self, name: str, begin: Callable[[], BinaryIO]) -> None:
        self.name = name
        self.begin = begin
        self._sha256 = ""
        self.fault = ""  # why a compressed stream stopped early
        self.height = 0  # lines
        self.open_end = False  # the input ends inside its last line
        self.refused: list[Diagnostic] = []
        self.remarks: list[Diagnostic] = []
        self._long: dict[int, bytes] = {}
        self._carried: Callable[[bytes], bytes] | None = None
        self._page: Callable[[bytes], bytes] | None = None  # writes headings in one spelling
        self._small = False  # all of it is one block, and is spelled as a whole
        self.seams: Mapping[int, Sequence[Seam]] = {}  # by the line that a paragraph begins in
        self.moved: Mapping[int, Sequence[Seam]] = {}  # by the line that the words stand in now
        self.emptied: Set[int] = frozenset()  # lines that held something before they were spelled

    @property
    def sha256(self) -> str:
        """The digest of the input as it stands on disk."""
        if not self._sha256:
            for _ in self.chunks():
                pass
        return self._sha256

    def cut(self, line: int) -> bool:
        """Whether the input ends inside this line: it is the last, without a line end."""
        return self.open_end and line == self.height

    def place(self, line: int, column: int) -> tuple[int, int]:
        """Where on disk a place in a line stands, which may hold a paragraph of several."""
        return self.moved_from(*_behind(self.seams, line, column))

    def moved_from(self, line: int, column: int) -> tuple[int, int]:
        """Where on disk a place in a line stands that was spelled anew."""
        return _behind(self.moved, line, column)

    def spelled(self, data: bytes) -> bytes:
        """All lines of a small input, its texts in the one spelling that all know who read it."""
        if restructured(data):
            held = data.split(b"\n")
            data, self.moved = in_markdown(data)
            pairs = enumerate(zip(held, data.split(b"\n"), strict=False), start=1)
            self.emptied = {n for n, (was, now) in pairs if was.strip() and not now.strip()}
        if work := page(data):
            data = work(data)
        if holds_tables(data):
            data, self.seams = joined(data)
        return data

    @property
    def carries(self) -> bool:
        """Whether its lines are carried in strings; known once its blocks have been read."""
        return self._carried is not None

    @cached_property
    def on_disk(self) -> pl.DataFrame:
        """Every line as it stands there, whatever it carries."""
        blocks = [(block.disk or block).lines for block in self.blocks()]
        return pl.concat([pl.DataFrame(schema={"line": pl.UInt32, "text": pl.String}), *blocks])

    @cached_property
    def lines(self) -> pl.DataFrame:
        """Every line at once: columns line and text."""
        blocks = [block.lines for block in self.blocks()]
        types = {"line": pl.UInt32, "text": pl.String}
        return pl.concat([pl.DataFrame(schema=types), *blocks])

    def too_long(self, line: int) -> bytes | None:
        """How a line begins that is too long to be read; None for the others."""
        return self._long.get(line)

    def blocks(self) -> Iterator[Block]:
        """The lines in blocks, each with what begins behind it."""
        last: Block | None = None
        for block in self._blocks():
            if last is not None:
                last.after = block.data[:_AFTER]
                yield last
            last = block
        if last is not None:
            yield last

    def _blocks(self) -> Iterator[Block]:
        self.height, self.open_end = 0, False
        self.refused, self.remarks, self._long = [], [], {}
        rest, skipped = b"", 0
        begun = False
        for some in self.chunks():
            if begun:
                self._small = False
            else:
                begun, self._carried = True, carrier(some)
                self._small = len(some) < FIRST and not self._carried
                self._page = None if self._carried or self._small else page(some)
            chunk = some
            if skipped:  # inside a line that is too long
                end = chunk.find(b"\n")
                skipped += len(chunk) if end < 0 else end
                if end < 0:
                    continue
                self._refuse(skipped)
                chunk, skipped = chunk[end:], 0
            end = 0 if self._small else chunk.rfind(b"\n") + 1
            if end:
                yield self._block(b"".join((rest, memoryview(chunk)[:end])))
                rest = chunk[end:]
            else:
                rest += chunk
            if len(rest) > MAX_LINE:
                self._long[self.height + 1] = rest[:_KEPT]
                rest, skipped = b"", len(rest)
        self.open_end = bool(skipped or (rest and not rest.endswith(b"\n")))
        if skipped:
            self._refuse(skipped)
            rest = b"\n"
        if rest:
            yield self._block(rest)
        self._told()

    def _refuse(self, length: int) -> None:
        number = self.height + 1
        message = f"a line of {length:,} bytes; the limit is {MAX_LINE:,}"
        self.refused.append(Diagnostic(Span(self.name, number), Code.TOO_LONG, message))

    def _block(self, data: bytes) -> Block:
        """The next lines; those that are too long are refused."""
        block = Block(data, self.height + 1)
        long = []
        if len(data) > MAX_LINE:
            for at in np.flatnonzero(block.widths > MAX_LINE).tolist():
                number, length = block.first + at, int(block.widths[at])
                self._long[number] = data[block.starts[at] :][:_KEPT]
                message = f"a line of {length:,} bytes; the limit is {MAX_LINE:,}"
                self.refused.append(Diagnostic(Span(self.name, number), Code.TOO_LONG, message))
                long.append(number)
        self.height += block.height
        block.long = frozenset(long)
        made = data
        for work in filter(None, (self._carried, self._page)):
            made = work(made)
        if self._small:
            made = self.spelled(made)
        if made is not data:
            disk, block = block, Block(made, block.first, block.long)
            block.disk = disk
        return block

    def chunks(self) -> Iterator[bytes]:
        """The input, decompressed, in chunks of about `BLOCK` bytes; its digest on the way."""
        digest = hashlib.sha256()
        with self.begin() as stream, ThreadPoolExecutor(1) as other:
            chunks = _hashed(stream, digest, other)
            first = next(chunks, b"")
            chunks = chain([first], chunks)
            kind = next(
                (kind for magic, kind in _COMPRESSED.items() if first.startswith(magic)), ""
            )
            yield from self._expanded(kind, chunks) if kind else chunks
        self._sha256 = digest.hexdigest()

    def _expanded(self, kind: str, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Every member of a compressed stream; why the last one stopped early goes to `fault`."""
        self.fault = ""
        member: _Stream | None = None
        step, taken, given = _STEPS.get(kind, _STEP), 0, 0
        for chunk in chunks:
            if self.fault:  # the rest is of no use, but for the digest
                continue
            out, held = [], 0
            for piece in (chunk[at : at + step] for at in range(0, len(chunk), step)):
                taken += len(piece)
                data = piece
                while data and not self.fault:
                    member = member or _STREAMS[kind]()
                    try:
                        out.append(member.decompress(data))
                        held += len(out[-1])
                        given += len(out[-1])
                    except Exception as fault:  # each library has its own; all mean a broken stream
                        self.fault = f"{kind}: {str(fault) or type(fault).__name__}"
                    data = b""
                    if not self.fault and member.eof:
                        data, member = member.unused_data.lstrip(b"\x00"), None
                if not self.fault and given > max(_MOST, _TIMES * taken):
                    self.fault = f"{kind}: it expands to more than {_TIMES} times its size"
                if held >= BLOCK:
                    yield b"".join(out)
                    out, held = [], 0
            if out:
                yield b"".join(out)
        if member is not None and not self.fault:
            self.fault = f"{kind}: it ends early"

    def _told(self) -> None:
        """A remark on a compressed stream that is cut off."""
        if self.fault:
            kind, _, why = self.fault.partition(": ")
            message = f"the {kind} stream is cut off ({why}); what came before it is read"
            last = self.height + (not self.open_end)
            self.remarks.append(Diagnostic(Span(self.name, last), Code.CUT_SHORT, message))


def _behind(seams: Mapping[int, Sequence[Seam]], line: int, column: int) -> tuple[int, int]:
    """Where a place stood before the last seam in front of it."""
    for seam in reversed(seams.get(line, ())):
        if column > seam.at:
            return seam.line, column - seam.at + seam.column - 1
    return line, column


def _hashed(stream: BinaryIO, digest: _Digest, other: ThreadPoolExecutor) -> Iterator[bytes]:
    """The chunks of a stream; the next is read, and a large one hashed, while others work on it."""
    chunk = stream.read(FIRST)
    if len(chunk) < FIRST:  # all there is
        digest.update(chunk)
        yield chunk
        return
    while chunk:
        coming = other.submit(stream.read, BLOCK)
        other.submit(digest.update, chunk)
        yield chunk
        chunk = coming.result()


def open_source(path: str | Path, name: str | None = None) -> Source | Diagnostic:
    """An input by its path; `-` is stdin. A diagnostic where it cannot be opened."""
    # a file name may hold bytes that are no UTF-8; they are spelled out, as no frame can hold them
    shown = name if name is not None else Path(path).as_posix()
    shown = shown.encode("utf-8", "backslashreplace").decode("utf-8")
    try:
        if str(path) == STDIN:
            return _opened(Source("<stdin>", _spooled(sys.stdin.buffer)))
        if unfit := _unfit(Path(path)):
            return Diagnostic(Span(shown, 1), Code.UNREADABLE, f"cannot be read: {unfit}")
        return _opened(Source(shown, lambda: Path(path).open("rb")))
    except OSError as fault:
        reason = fault.strerror or type(fault).__name__
        return Diagnostic(Span(shown, 1), Code.UNREADABLE, f"cannot be read: {reason}")


def _unfit(path: Path) -> str | None:
    """Why a path is no input, before it is opened: a pipe may never begin, a device never end."""
    mode = path.stat().st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        return "it is a pipe, and inputs are read more than once; give it on stdin, as -"
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        return "it is a device and no file"
    return None


def source(name: str, data: bytes) -> Source | Diagnostic:
    """A `Source` from bytes."""
    return _opened(Source(name, lambda: io.BytesIO(data)))


def _opened(new: Source) -> Source | Diagnostic:
    """The source, unless it is a compressed stream of which nothing can be read, or that is of
    another one."""
    with new.begin() as stream:
        head = stream.read(8)
    first = next(new.chunks(), b"") if packed(head) else head
    if not first and new.fault:
        kind, _, why = new.fault.partition(": ")
        message = f"not a readable {kind} stream: {why}"
        return Diagnostic(Span(new.name, 1), Code.UNREADABLE, message)
    if packed(head) and packed(first):
        message = "a compressed stream that holds another one; unpack it once"
        return Diagnostic(Span(new.name, 1), Code.UNREADABLE, message)
    return new


def packed(head: bytes) -> bool:
    """Whether a compressed stream begins so."""
    return head.startswith(tuple(_COMPRESSED))


def _spooled(stream: BinaryIO) -> Callable[[], BinaryIO]:
    """Copy of a stream that can be read only once, in a file for as long as it is needed.

    Raises OSError where it takes more than half of what the disk has left: it may never end.
    """
    kept = tempfile.NamedTemporaryFile(prefix="assay-")  # noqa: SIM115
    left = shutil.disk_usage(tempfile.gettempdir()).free // 2
    while some := stream.read(_PIECE):
        left -= len(some)
        if left < 0:
            raise OSError(errno.EFBIG, "it is longer than half of the free disk, and may not end")
        kept.write(some)
    kept.flush()
    return lambda: open(kept.name, "rb")


class _Digest(Protocol):
    """A hash object of hashlib."""

    def update(self, data: bytes, /) -> None: ...


class _Stream(Protocol):
    """A decompressor of the standard library or of zstandard."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


def _zstd() -> _Stream:
    import zstandard  # noqa: PLC0415 - only where such a file is met

    return zstandard.ZstdDecompressor().decompressobj()


_COMPRESSED = {
    b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd",
}  # fmt: skip

_STREAMS: dict[str, Callable[[], _Stream]] = {
    "gzip": lambda: zlib.decompressobj(wbits=31),
    "bzip2": bz2.BZ2Decompressor,
    "xz": lzma.LZMADecompressor,
    "zstd": _zstd,
}
