"""A JSON document of trace events, cut into events without ever being held whole.

In: the decompressed bytes of an input whose outermost value is an array of events, or an object
with such an array under `traceEvents` (the Chrome trace format). Out: events in batches, each with
its line and column, and what stands around the array. An event that cannot be read costs itself:
it is refused where it stands, and reading goes on at the next thing that looks like one and is one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from assay.ingest.schema.format import Whole
from assay.ingest.schema.record import Code, Diagnostic, Span
from assay.ingest.source.opening import packed

WINDOW = 4 * 2**20
"""Bytes that are cut at a time; fewer behind a damaged event."""
LEAST = 4096
MOST = 16 * 2**20
"""An event longer than this is refused."""
FAR = 2**18
"""Bytes in which the first event behind a damaged one must end."""
PATIENCE = 1000
"""Places that may look like an event and be none, until they are tried ever more rarely."""
HEAD = 32 * 2**20
"""Bytes in which the array must begin, and that are kept of what stands around it."""

ARRAY = re.compile(rb'"traceEvents"\s*:\s*\[')
BEGINS = re.compile(rb'\s*\{\s*"(?:ph|cat|name|pid|tid|ts|dur|id|args|s|bp)"\s*:')
"""How an event begins, whichever member its writer puts first."""
NEXT = re.compile(rb'[,\[\s}]\s*(\{\s*"(?:ph|cat|name|pid|tid|ts|dur|id|args|s|bp)"\s*:)')
_BLANK = re.compile(rb"\s*")
_BETWEEN = re.compile(rb"\s*,\s*")
_NOT_JSON = re.compile(rb"(?<=[:,\[])(\s*)-?(?:nan|inf(?:inity)?)(?=\s*[,\]}])", re.IGNORECASE)
_SHOWN = 200  # bytes of a refused event that are shown
_PEEK = 512  # bytes that tell an object or an array from other text
_LEAD = b"\xef\xbb\xbf \t\r\n"
_OPENS = (b"{", b"[")
_TRIED = 64  # places behind the array that may look like events and be none
_TOKEN = 12  # bytes: a word or an escape that is cut may be as long
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_JSON = json.JSONDecoder(strict=False)

_STRUCTURE = np.zeros(256, np.bool_)
_STRUCTURE[list(b'"\\{}[]')] = True


class Event(msgspec.Struct, gc=False):
    """One event; members that no rule needs are left out. Times are in µs, `args` not read yet."""

    ph: str = ""
    cat: str | None = ""
    name: str | None = ""
    pid: int | str | float | None = None
    tid: int | str | float | None = None
    ts: float | str | None = None
    dur: float | str | None = None
    args: msgspec.Raw = msgspec.Raw(b"")


class Batch(NamedTuple):
    """Events in order, with line and column (in bytes) of each, from 1."""

    events: list[Event]
    lines: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]


class Elements(NamedTuple):
    """Whole elements of an array in a piece of text: where each begins and ends.

    `open` is where one begins that does not end here; `closed` where the array ends.
    """

    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    open: int | None
    closed: int | None


def elements(text: npt.NDArray[np.uint8]) -> Elements:
    """The objects and arrays that stand in a text that begins between two elements of an array.

    >>> found = elements(np.frombuffer(b'{"a": "}"}, {"b": [1]}, {"c"', np.uint8))
    >>> found.starts.tolist(), found.ends.tolist(), found.open, found.closed
    ([0, 12], [10, 22], 24, None)
    """
    at = np.flatnonzero(_STRUCTURE[text])
    kind = text[at]
    if (kind == ord("\\")).any():
        at, kind = _unescaped(text, at, kind)
    quoted = np.cumsum(kind == ord('"'), dtype=np.int32) & 1
    plain = (quoted == 0) & (kind != ord('"'))
    at, kind = at[plain], kind[plain]
    opens = (kind == ord("{")) | (kind == ord("["))
    depth = np.cumsum(np.where(opens, np.int8(1), np.int8(-1)), dtype=np.int32)
    under = np.flatnonzero(depth < 0)
    closed = None
    if len(under):
        first = int(under[0])
        closed = int(at[first])
        at, opens, depth = at[:first], opens[:first], depth[:first]
    starts, ends = at[opens & (depth == 1)], at[~opens & (depth == 0)] + 1
    left = int(starts[len(ends)]) if len(starts) > len(ends) else None
    return Elements(starts[: len(ends)], ends, left, closed)


def _unescaped(
    text: npt.NDArray[np.uint8], at: npt.NDArray[np.int64], kind: npt.NDArray[np.uint8]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Without backslashes, and without the quotes that an odd run of them escapes."""
    slashes = at[kind == ord("\\")]
    breaks = np.flatnonzero(np.diff(slashes) != 1)
    first = slashes[np.concatenate([[0], breaks + 1])]
    last = slashes[np.concatenate([breaks, [len(slashes) - 1]])]
    escaped = last[(last - first) % 2 == 0] + 1
    kept = (kind != ord("\\")) & ~np.isin(at, escaped)
    return at[kept], kind[kept]


class EventStream:
    """The events of one source. What stands around them is known once they have been read."""

    def __init__(self, source: Whole, *, key: re.Pattern[bytes] = ARRAY) -> None:
        self.source = source
        self.key = key
        self.head = b""  # the text before the array, its key left out
        self.tail = b""  # the text behind it
        self.faults: list[Diagnostic] = []
        self.remarks: list[Diagnostic] = []
        self.raw: dict[Span, bytes] = {}
        self.complete = False  # whether the array was closed
        self._chunks = source.chunks()
        self._data = b""
        self._at = 0  # where in `_data` reading goes on
        self._line = 1  # of `_data`'s first byte
        self._column = 0  # bytes of that line before `_data`
        self._last = False
        self._seen = (0, 1, 0)  # a byte of `_data`, its line, and the bytes of that before it
        self._behind = Span(source.name, 1)  # where the array ends

    def found(self) -> bool:
        """Whether there is an array of events; reads as far as its beginning."""
        with self.source.begin() as file:
            head = file.read(_PEEK)
        if not packed(head) and head.strip(_LEAD) and not head.lstrip(_LEAD).startswith(_OPENS):
            return False
        while self._more():
            text = self._data.lstrip(_LEAD)
            if not text:
                continue
            if not text.startswith(_OPENS):
                return False
            if text.startswith(b"["):
                return self._bare(text)
            if begin := self._array():
                self.head = self._data[: begin.start()]
                self._at = begin.end()
                return True
            if len(self._data) > HEAD:
                return False
        return False

    def _bare(self, text: bytes) -> bool:
        """Whether the document is an array whose first element is an event."""
        if not BEGINS.match(text, 1):
            return False
        self._at = len(self._data) - len(text) + 1
        first = elements(self._window(WINDOW))
        if not len(first.starts):
            return False
        event = self._one(self._data[self._at + first.starts[0] : self._at + first.ends[0]])
        return isinstance(event, Event) and bool(event.ph)

    def _array(self) -> re.Match[bytes] | None:
        """Where the array begins: the key stands in the outermost object.

        In a document whose head is damaged it stands where events follow it.
        """
        damaged = None
        for begin in self.key.finditer(self._data):
            if _outermost(np.frombuffer(self._data, np.uint8, begin.start())):
                return begin
            if damaged is None and BEGINS.match(self._data, begin.end()):
                damaged = begin
        return damaged

    def batches(self) -> Iterator[Batch]:
        """Every event; `found` must have said that there are some."""
        window, between = WINDOW, False
        while True:
            cut = elements(self._window(window))
            if not len(cut.starts):
                if cut.closed is not None and self._closes(cut.closed):
                    self.complete = True
                    self._drop(cut.closed + 1)
                    break
                size = len(self._data) - self._at
                begun = cut.closed is None and (cut.open is None or self._may_end(cut.open, window))
                if begun and size <= MOST and (window < size or self._more()):
                    window = min(max(window * 2, LEAST), MOST + WINDOW)
                    continue
                if begun and cut.open is None:
                    break  # the input ends between two events
                self._drop(cut.open or 0)
                why = "stops before its end" if size <= MOST else "is too long"
                if not self._resumed(why if begun else "is no JSON"):
                    break
                window, between = LEAST, False
                continue
            batch, bad = self._read(cut, between=between)
            if len(batch.events):
                yield batch
            between = bad is None
            if bad is not None:
                self._drop(int(cut.starts[bad[0]]))
                window = LEAST
                if not self._resumed(bad[1]):
                    break
                continue
            self._drop(int(cut.ends[-1]))
            window = min(window * 2, WINDOW)
        self._finish()

    def header(self) -> dict[str, object]:
        """The object around the events, as far as it can be read; call it behind `batches`."""
        head = self.head.strip().removeprefix(b"\xef\xbb\xbf").rstrip().rstrip(b",")
        tail = self.tail.strip().lstrip(b",")
        comma = b"," if head.strip() != b"{" and tail != b"}" else b""
        texts = (head + comma + tail, head + b"}", b"{" + tail)
        for number, text in enumerate(texts):
            found = _object(text)
            if found is not None:
                if number != 1 or not self.complete:
                    return found
                break
        if self.head or self.tail:
            where = "around" if found is None else "behind"
            message = f"what stands {where} the events is no JSON: it is not read"
            self.remarks.append(Diagnostic(self._behind, Code.SYNTAX, message))
        return found or {}

    def _read(self, cut: Elements, *, between: bool) -> tuple[Batch, tuple[int, str] | None]:
        """The events of a window, up to the first that is no JSON; which that is, and why."""
        begin, base = int(cut.starts[0]), self._at
        lines, columns = self._places(cut.starts)
        if not (_BETWEEN if between else _BLANK).fullmatch(self._data, base, base + begin):
            expected = "one comma between two events" if between else "an event"
            self._refuse(base, base + begin, f"expected {expected}")
        text = self._data[base + begin : base + int(cut.ends[-1])]
        try:
            return Batch(_EVENTS.decode(b"[" + text + b"]"), lines, columns), None
        except _UNREADABLE:
            pass
        events, kept, last = [], [], None
        for number, (start, end) in enumerate(
            zip(cut.starts.tolist(), cut.ends.tolist(), strict=True)
        ):
            if last is not None and not _BETWEEN.fullmatch(self._data, last, base + start):
                self._refuse(last, base + start, "expected one comma between two events")
            last = base + end
            event = self._one(self._data[base + start : base + end])
            if isinstance(event, Event):
                events.append(event)
                kept.append(number)
            elif event[1]:
                self._refuse(base + start, base + end, event[0])
            else:
                held = np.array(kept, np.int64)
                return Batch(events, lines[held], columns[held]), (number, event[0])
        held = np.array(kept, np.int64)
        return Batch(events, lines[held], columns[held]), None

    def _one(self, text: bytes) -> Event | tuple[str, bool]:
        """One event; else why not, and whether its text is JSON for all that.

        Not-a-number and infinity, which JSON cannot write and profilers do, are nothing. Bytes that
        are not UTF-8 are replaced.
        """
        try:
            return _EVENT.decode(text)
        except _UNREADABLE:
            mended = _NOT_JSON.sub(rb"\1null", text).decode("utf-8", "replace").encode()
        try:
            return _EVENT.decode(mended)
        except msgspec.ValidationError as fault:
            return f"is no event: {_said(fault)}", True
        except (msgspec.DecodeError, RecursionError) as fault:
            return f"is no JSON: {_said(fault)}", False

    def _resumed(self, why: str) -> bool:
        """Refuse what stands here and go to the next event; False where there is none."""
        ahead, tried = 1, 0  # bytes from here that have been looked at, places that were none
        while True:
            following = NEXT.search(self._data, self._at + ahead)
            start = following.start(1) if following else len(self._data)
            size = len(self._data) - self._at
            if following is None and size > MOST:  # nothing for so long: only its end is kept
                self._refuse(self._at, len(self._data) - LEAST, why)
                self._at, ahead, why = len(self._data) - LEAST, 0, "is no event"
                continue
            if len(self._data) - start < FAR and self._more():
                if following is None:
                    ahead = max(1, size - LEAST)
                continue
            if following is None:
                self._refuse(self._at, len(self._data), why)
                self._at = len(self._data)
                return False
            if self._is_event(start):
                self._refuse(self._at, start, why)
                self._at = start
                return True
            tried += 1
            step = 1 if tried < PATIENCE else min(LEAST * tried // PATIENCE, FAR)
            ahead = start - self._at + step

    def _is_event(self, start: int) -> bool:
        """Whether a whole event stands here, which ends in `FAR` bytes."""
        size = LEAST
        while True:
            text = self._data[start : start + size]
            end = _parsed(text)
            if end > 0:
                event = self._one(text[:end])
                return isinstance(event, Event) and bool(event.ph)
            if not end or size >= FAR or len(text) < size:
                return False
            size *= 4

    def _may_end(self, start: int, window: int) -> bool:
        """Whether what begins in the window can be an event that ends behind it.

        The parser stops at the first thing that cannot be, so that damage costs no reading ahead.
        """
        return _parsed(self._data[self._at + start : self._at + window]) != 0

    def _closes(self, at: int) -> bool:
        """Whether the array ends at this place of the window: no event follows in what is there."""
        at += self._at
        if self._data[at : at + 1] != b"]":
            return False
        following = islice(NEXT.finditer(self._data, at), _TRIED)
        return not any(self._is_event(each.start(1)) for each in following)

    def _finish(self) -> None:
        """Keep the text behind the array, and say a word where the input is cut."""
        parts, size = [self._data[self._at :]], 0
        for chunk in self._chunks:
            size += len(chunk)
            if size <= HEAD:
                parts.append(chunk)
        self.tail = b"".join(parts) if self.complete else b""
        here = self._behind = Span(self.source.name, *self._place(self._at))
        if self.source.fault:
            kind, _, reason = self.source.fault.partition(": ")
            message = f"the {kind} stream is cut off ({reason}); what came before it is read"
            self.remarks.append(Diagnostic(here, Code.CUT_SHORT, message))
        elif not self.complete:
            message = "the trace ends before its array of events is closed: it is cut"
            self.remarks.append(Diagnostic(here, Code.CUT_SHORT, message))

    def _refuse(self, begin: int, end: int, why: str) -> None:
        span = Span(self.source.name, *self._place(begin))
        text = self._data[begin : min(end, begin + _SHOWN)]
        size = end - begin
        code = Code.TRUNCATED if why.startswith("stops") else Code.SYNTAX
        message = f"an event of {size:,} bytes {why}" if why.startswith(("is", "stops")) else why
        self.faults.append(Diagnostic(span, code, message, text.decode("utf-8", "replace")))
        self.raw[span] = text

    def _window(self, size: int) -> npt.NDArray[np.uint8]:
        return np.frombuffer(self._data, np.uint8)[self._at : self._at + size]

    def _more(self) -> bool:
        """Take the next chunk; what has been read is let go of."""
        chunk = next(self._chunks, None)
        if chunk is None:
            self._last = True
            return False
        if self._at:
            self._line, self._column = self._before(self._at)
        self._data = self._data[self._at :] + chunk
        self._at = 0
        self._seen = (0, self._line, self._column)
        return True

    def _drop(self, size: int) -> None:
        self._at += size

    def _before(self, at: int) -> tuple[int, int]:
        """Line of a byte of `_data`, and how many bytes of that line stand before it."""
        seen, line, before = self._seen if self._seen[0] <= at else (0, self._line, self._column)
        count = self._data.count(b"\n", seen, at)
        before = before + at - seen if not count else at - self._data.rfind(b"\n", seen, at) - 1
        self._seen = (at, line + count, before)
        return line + count, before

    def _place(self, at: int) -> tuple[int, int]:
        line, before = self._before(at)
        return line, before + 1

    def _places(
        self, starts: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Lines and columns of places of the window."""
        base = self._at
        line, before = self._before(base)
        text = np.frombuffer(self._data, np.uint8)[base : base + int(starts[-1]) + 1]
        breaks = np.flatnonzero(text == ord("\n"))
        above = np.searchsorted(breaks, starts)
        first = np.concatenate([[-1 - before], breaks])[above]
        return line + above, starts - first


def _outermost(text: npt.NDArray[np.uint8]) -> bool:
    """Whether exactly one brace is open at the end of a text, and no string."""
    at = np.flatnonzero(_STRUCTURE[text])
    kind = text[at]
    if (kind == ord("\\")).any():
        at, kind = _unescaped(text, at, kind)
    quotes = kind == ord('"')
    if int(quotes.sum()) % 2:
        return False
    kind = kind[(np.cumsum(quotes) & 1 == 0) & ~quotes]
    opened = int(np.isin(kind, list(b"{[")).sum())
    return opened - (len(kind) - opened) == 1


def _object(text: bytes) -> dict[str, object] | None:
    """The JSON object of a text; None where it is none."""
    if not text.startswith(b"{"):
        return None
    try:
        found = msgspec.json.decode(text)
    except _UNREADABLE:
        try:
            mended = _NOT_JSON.sub(rb"\1null", text).decode("utf-8", "replace").encode()
            found = msgspec.json.decode(mended)
        except msgspec.DecodeError:
            return None
    return found if isinstance(found, dict) else None


def _parsed(text: bytes) -> int:
    """Bytes of the JSON value a text begins with; 0 where there is none, -1 where it is cut.

    The parser stops at the first thing that cannot be, so that damage costs no reading ahead.
    """
    plain = _NOT_JSON.sub(_blanked, text).decode("latin-1")
    try:
        return int(_JSON.raw_decode(plain)[1])
    except json.JSONDecodeError as fault:
        cut = fault.msg.startswith("Unterminated") or fault.pos >= len(plain.rstrip()) - _TOKEN
        return -1 if cut else 0
    except (ValueError, RecursionError):
        return 0


def _blanked(found: re.Match[bytes]) -> bytes:
    """A zero as wide as what is no number."""
    return b"0".rjust(len(found[0]))


def _said(fault: Exception) -> str:
    """Words of a JSON parser, without those on the place."""
    return re.sub(r"^JSON is malformed: | \(byte [0-9]+\)", "", str(fault))


_EVENT = msgspec.json.Decoder(Event)
_EVENTS = msgspec.json.Decoder(list[Event])
