"""Lines of an input that follow each other: where each stands, and its text.

Escape sequences, as bytes, spelled out or without their first byte, NUL and carriage returns at
ends are taken out of the text; blanks at which no line may break are blanks in it; bytes that are
not UTF-8 are replaced in it, and kept as they are for the quarantine.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

Mask = npt.NDArray[np.bool_]
"""A truth for each line of a block, or for each of some rows."""

Places = npt.NDArray[np.int64]
"""Positions of lines in their block, from 0."""

_FEW = 2**18
"""Bytes of lines that Python cuts sooner than polars begins to."""

_CACHED = 2**18  # bytes that are looked at twice before others take their place

_MANY = 50  # one in so many lines is cut out sooner than all are looked through

_LISTED = 10_000  # values that are made a list sooner

_SHOWN = 12  # lines shown of what comes behind a block

_ESCAPES = (
    r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-Z\\-_]|\x00"
    r"|(?:\^\[|\\(?:x1[bB]|u001[bB]|033|e))\[[0-9;?]*[A-Za-z]"
)

_COLOURS = r"\[(?:[0-9]{1,3}(?:;[0-9]{1,3}){0,4})?m"
"""Colours whose first byte was lost, as in text that was copied from a terminal."""

SPELLED = (b"^[[", b"\\x1b[", b"\\x1B[", b"\\u001b[", b"\\033[", b"\\e[")
"""How escape sequences begin where they are spelled out."""

BARE = (b"[0m", b"[39m", b"[00m", b"[0;")
"""How colours end; where none does, `[5m` is none."""

_BARE = re.compile(b"|".join(map(re.escape, BARE)))
"""Any of `BARE`, which are bytes that begin alike: looked for once and not for each."""

ZEROS = bytes.maketrans(b"123456789", b"000000000")
"""Makes all digits alike: lines that differ in nothing else are the same then."""

BLANKS = (b"\xc2\xa0", b"\xe2\x80\xaf", b"\xe2\x80\x89")
"""Blanks at which no line may break, and thin ones, as word processors and blogs set them."""

_BLANK = "[\u00a0\u202f\u2009]"

_MARK = b"\xef\xbb\xbf"

_FEED, _RETURN = b"\n\r"

_TEXT = {"text": pl.String}


@dataclass
class Block:
    """Lines that follow each other, as they stand on disk; `first` is the number of the first.

    Those of a carrier (see `carriers`) hold what they carry; as they stand they are in `disk`.
    """

    data: bytes = field(repr=False)
    first: int
    long: frozenset[int] = frozenset()  # lines too long to be read
    after: bytes = field(default=b"", repr=False)  # what begins behind it
    disk: Block | None = field(default=None, repr=False)  # as it stands there, if it does not so

    @cached_property
    def codes(self) -> npt.NDArray[np.uint8]:
        """The bytes of the block as an array."""
        return np.frombuffer(self.data, np.uint8)

    @cached_property
    def _ends(self) -> Places:
        """Where each line ends: its line feed, or the end of the input."""
        made = vars(self)
        if "alike" in made or ("lines" in made and self.plain):  # what is cut is sooner measured
            texts = self.alike if "alike" in made else self.lines["text"]
            widths = texts.str.len_bytes().to_numpy().astype(np.int64)
            cut: Places = (widths + 1).cumsum() - 1
            return cut
        ends = np.flatnonzero(self.codes == _FEED)
        return ends if self.data.endswith(b"\n") else np.append(ends, len(self.data))

    @cached_property
    def starts(self) -> Places:
        """Where each line begins."""
        starts = np.empty_like(self._ends)
        starts[0] = 0
        starts[1:] = self._ends[:-1] + 1
        return starts

    @cached_property
    def stops(self) -> Places:
        """Where the text of each line ends, a carriage return before the line feed not counted."""
        if not self._odd.returns:
            return self._ends
        stops: Places = self._ends - (self.codes[self._ends - 1] == _RETURN)
        return np.maximum(stops, self.starts)

    @cached_property
    def height(self) -> int:
        """Number of lines; known before the place of each is."""
        feeds = 0 if self.data.endswith(b"\n") else 1
        for at in range(0, len(self.codes), _CACHED):
            feeds += int(np.count_nonzero(self.codes[at : at + _CACHED] == _FEED))
        return feeds

    @property
    def widths(self) -> Places:
        """Bytes of each line, without its line feed."""
        return self._ends - self.starts

    @cached_property
    def plain(self) -> bool:
        """Whether the text of each line is the line as it stands on disk."""
        return self.ascii and self.disk is None and not any(self._odd)

    @cached_property
    def ascii(self) -> bool:
        """Whether all bytes are ASCII."""
        return self.data.isascii()

    @cached_property
    def _odd(self) -> _Odd:
        return _Odd.of(self.data)

    @cached_property
    def lines(self) -> pl.DataFrame:
        """Every line: columns line (UInt32, from 1) and text, without what a terminal takes out."""
        data = self.data.removeprefix(_MARK) if self.first == 1 else self.data
        texts = (
            _texts(data, ascii=self.ascii)
            .to_frame("text")
            .with_row_index("line", offset=self.first)
        )
        return texts.select("line", self._clean())

    @cached_property
    def alike(self) -> pl.Series:
        """The text of every line of a `plain` block, with 0 for each digit."""
        return _texts(self.data.translate(ZEROS), ascii=True)

    @cached_property
    def behind(self) -> list[bytes]:
        """The first whole lines behind the block, as they stand on disk."""
        return self.after.split(b"\n", _SHOWN)[:-1]

    @cached_property
    def following(self) -> pl.DataFrame:
        """The lines `behind`, in columns as those of `lines`."""
        whole = b"".join(each + b"\n" for each in self.behind)
        if not whole:
            return pl.DataFrame(schema={"line": pl.UInt32, **_TEXT})
        texts = _texts(whole, ascii=whole.isascii()).to_frame("text")
        numbered = texts.with_row_index("line", offset=self.first + self.height)
        return numbered.select("line", _Odd.of(whole).taken_out())

    def some(self, which: Mask) -> pl.DataFrame:
        """The lines that a mask marks, in columns as those of `lines`."""
        count = np.count_nonzero(which)
        if count == self.height:
            return self.lines
        if not count:
            return pl.DataFrame(schema={"line": pl.UInt32, **_TEXT})
        made = "lines" in vars(self)
        if count > self.height / (_MANY if made else 2):
            return self.lines.filter(series(which))
        edges = np.flatnonzero(np.diff(which, prepend=False, append=False))
        starts, ends = self.starts[edges[::2]].tolist(), self._ends[edges[1::2] - 1].tolist()
        data = b"\n".join([self.data[a:b] for a, b in zip(starts, ends, strict=True)])
        if self.first == 1 and which[0]:
            data = data.removeprefix(_MARK)
        # a list: with an array polars imports what knows masked ones
        numbers = pl.Series("line", (np.flatnonzero(which) + self.first).tolist(), dtype=pl.UInt32)
        texts = _texts(data + b"\n", ascii=self.ascii).to_frame("text")
        return texts.with_columns(numbers).select("line", self._clean())

    def _clean(self) -> pl.Expr:
        clean = self._odd.taken_out()
        if self.long:
            long = pl.col("line").is_in(sorted(self.long))
            clean = pl.when(long).then(pl.lit("")).otherwise(clean).alias("text")
        return clean

    def raw(self, line: int) -> bytes:
        """Line number `line` as it stands on disk, without its line end."""
        if self.disk is not None:
            return self.disk.raw(line)
        at = line - self.first
        return self.data[self.starts[at] : self._ends[at]]


def series(values: Mask | Places) -> pl.Series:
    """Truths or numbers as polars takes them.

    A few as a list: given an array, polars imports what knows masked ones, for a tenth of the time
    that a short log takes.
    """
    if len(values) > _LISTED:
        return pl.Series(values)
    return pl.Series(values.tolist(), dtype=pl.Boolean if values.dtype == np.bool_ else pl.Int64)


class _Odd(NamedTuple):
    """Bytes among lines that a terminal would not show."""

    returns: bool
    escapes: bool
    colours: bool
    blanks: bool

    @classmethod
    def of(cls, data: bytes) -> _Odd:
        """Kinds of such bytes that occur in `data`."""
        escapes = b"\x1b" in data or b"\x00" in data
        if not escapes and (b"\\" in data or b"^" in data):  # one byte is found much sooner
            escapes = any(each in data for each in SPELLED)
        blanks = not data.isascii() and any(each in data for each in BLANKS)
        return cls(b"\r" in data, escapes, _BARE.search(data) is not None, blanks)

    def taken_out(self) -> pl.Expr:
        """Expression for the text without such bytes, but for carriage returns inside."""
        clean = pl.col("text")
        if self.returns:
            clean = clean.str.strip_chars_end("\r")
        if self.escapes:
            clean = clean.str.replace_all(_ESCAPES, "")
        if self.colours:
            clean = clean.str.replace_all(_COLOURS, "")
        if self.blanks:  # between digits they part thousands, as no other blank does
            clean = clean.str.replace_all(f"(^|[^0-9]){_BLANK}", "${1} ")
            clean = clean.str.replace_all(f"{_BLANK}([^0-9]|$)", " ${1}")
        return clean


def _texts(data: bytes, *, ascii: bool) -> pl.Series:
    """Whole lines as text; bytes that are not UTF-8 are replaced."""
    if len(data) <= _FEW:
        lines = data.decode("utf-8", "replace").removesuffix("\n").split("\n")
        return pl.Series(lines, dtype=pl.String)
    text = data if ascii else data.decode("utf-8", "replace").encode()
    return pl.read_lines(text).to_series()
