"""An input, read once: its lines with their numbers, its digest, its bytes for the quarantine.

Compressed streams (gz, zst, bz2, xz) are recognised by their first bytes; a stream that is cut off
gives the lines that are whole and a remark. Bytes that are not UTF-8 are replaced for parsing and
kept as they are for the quarantine. This is the only module of ingest that reads inputs from the
disk.
"""

from __future__ import annotations

import bz2
import hashlib
import io
import lzma
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import polars as pl
from assay.ingest.types import Code, Diagnostic, Span

MAX_LINE = 16 * 2**20
"""A line longer than this many bytes is refused, its length given, and not parsed."""

STDIN = "-"
_CHUNK = 2**20
_ESCAPES = r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-Z\\-_]|\x00"


@dataclass(frozen=True)
class Source:
    """One input. `lines` has the columns line (UInt32, from 1), text (String) and end (Int64)."""

    name: str
    sha256: str
    lines: pl.DataFrame
    data: bytes = field(repr=False)
    refused: tuple[Diagnostic, ...] = ()
    remarks: tuple[Diagnostic, ...] = ()

    def cut(self, line: int) -> bool:
        """Whether the input ends inside this line: it is the last, without a line end."""
        return line == self.lines.height and not self.data.endswith(b"\n")

    def raw(self, line: int) -> bytes:
        """Line number `line` as it stands on disk, without its line end."""
        row = self.lines.row(line - 1, named=True)
        begin = self.lines["end"][line - 2] + 1 if line > 1 else 0
        return self.data[begin : row["end"]]


def open_source(path: str | Path, name: str | None = None) -> Source | Diagnostic:
    """Read one input; `-` is stdin. A diagnostic where it cannot be opened."""
    # a file name may hold bytes that are no UTF-8; they are spelled out, as no frame can hold them
    shown = name if name is not None else Path(path).as_posix()
    shown = shown.encode("utf-8", "backslashreplace").decode("utf-8")
    try:
        if str(path) == STDIN:
            shown, data = "<stdin>", sys.stdin.buffer.read()
        else:
            data = Path(path).read_bytes()
    except OSError as fault:
        reason = fault.strerror or type(fault).__name__
        return Diagnostic(Span(shown, 1), Code.UNREADABLE, f"cannot be read: {reason}")
    return source(shown, data)


def source(name: str, data: bytes) -> Source | Diagnostic:
    """A `Source` from bytes, decompressed by what they begin with."""
    digest = hashlib.sha256(data).hexdigest()
    remarks: list[Diagnostic] = []
    for magic, (kind, new) in _COMPRESSED.items():
        if data.startswith(magic):
            data, fault = _expand(new, data)
            if fault and not data:
                return Diagnostic(
                    Span(name, 1), Code.UNREADABLE, f"not a readable {kind} stream: {fault}"
                )
            if fault:
                last = data.count(b"\n") + 1
                message = f"the {kind} stream is cut off ({fault}); what came before it is read"
                remarks.append(Diagnostic(Span(name, last), Code.TRUNCATED, message))
            break
    lines, refused = _lines(name, data)
    return Source(name, digest, lines, data, tuple(refused), tuple(remarks))


def _lines(name: str, data: bytes) -> tuple[pl.DataFrame, list[Diagnostic]]:
    """Split at LF; CR before it, a byte-order mark, escape sequences and NUL are taken off."""
    parts = data.split(b"\n")
    if parts and not parts[-1]:
        parts.pop()
    ends, at, refused = [], 0, []
    for number, part in enumerate(parts, 1):
        at += len(part)
        ends.append(at)
        at += 1
        if len(part) > MAX_LINE:
            message = f"a line of {len(part):,} bytes; the limit is {MAX_LINE:,}"
            refused.append(Diagnostic(Span(name, number), Code.TOO_LONG, message))
            parts[number - 1] = b""
    text = b"\n".join(parts).decode("utf-8-sig", "replace")
    column = text.split("\n") if parts else []
    lines = pl.DataFrame(
        {"text": column, "end": ends}, schema={"text": pl.String, "end": pl.Int64}
    ).with_row_index("line", offset=1)
    clean = pl.col("text").str.strip_chars_end("\r")
    if "\x1b" in text or "\x00" in text:
        clean = clean.str.replace_all(_ESCAPES, "")
    return lines.with_columns(clean), refused


class _Stream(Protocol):
    """What the decompressors of the standard library and of zstandard have in common."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


def _zstd() -> _Stream:
    import zstandard  # noqa: PLC0415 - only where such a file is met

    return zstandard.ZstdDecompressor().decompressobj()


_COMPRESSED: dict[bytes, tuple[str, Callable[[], _Stream]]] = {
    b"\x1f\x8b": ("gzip", lambda: zlib.decompressobj(wbits=31)),
    b"BZh": ("bzip2", bz2.BZ2Decompressor),
    b"\xfd7zXZ\x00": ("xz", lzma.LZMADecompressor),
    b"\x28\xb5\x2f\xfd": ("zstd", _zstd),
}


def _expand(new: Callable[[], _Stream], data: bytes) -> tuple[bytes, str]:
    """Every member of a compressed stream, and why the last one stopped early ("" where whole)."""
    out = io.BytesIO()
    while data:
        member = new()
        for start in range(0, len(data), _CHUNK):
            try:
                out.write(member.decompress(data[start : start + _CHUNK]))
            except Exception as fault:  # each library has its own; all mean a broken stream
                return out.getvalue(), str(fault) or type(fault).__name__
            if member.eof:
                data = (member.unused_data + data[start + _CHUNK :]).lstrip(b"\x00")
                break
        else:
            return out.getvalue(), "it ends early"
    return out.getvalue(), ""
