"""Carriers: files that hold the lines of a log as strings, in outputs of a notebook or as JSON.

In: the lines of a file as they stand on disk. Out: as many lines, each with what it carries in the
place of its string: blanks stand for what is before it, so that columns stay, and what is several
lines in one string comes apart at carriage returns, as an overwritten line does. A line that
carries nothing stays as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

KEYS = (b"text", b"text/plain")
"""Keys of a notebook's outputs under which lines stand as they were printed."""

MESSAGES = ("log", "message", "msg", "line", "textPayload", "MESSAGE")
"""Keys under which collectors of logs keep a line, as `docker logs` and `kubectl` do."""

PAYLOADS = ("jsonPayload", "attributes", "fields", "body")
"""Keys of objects in which that key may stand."""

BESIDE = re.compile(
    r"(?i)(?:@?time(?:stamp)?|ts|asctime|created|date|level(?:no)?|severity|lineno|pid|process|"
    r"thread|seq|offset|partial|rank|stream|tag|name|logger|module|file(?:name)?|func(?:name)?|"
    r"function|host(?:name)?|pod|container|namespace|source|node|insertId|labels|resource|"
    r"logName|receiveTimestamp|kubernetes|docker|(?-i:_[A-Z_]*|[A-Z_]+)|id|status|service|"
    r"dd(?:source|tags)|trace(?:_?id)?|span_?id|ingestionTime|event_?id|level_?name|taskName|"
    r"(?:process|thread)Name)"
)
"""Keys beside it whose numbers are none of the program's."""

SEEN = 40
"""Lines that are looked at before a file is taken for such a collection."""

_STRING = rb'"((?:[^"\\]|\\.)*)"'

_KEY = re.compile(rb"\s*" + _STRING + rb"\s*:\s*(.*)$", re.DOTALL)

_OPENED = re.compile(
    rb'\s*(?:"(?:outputs|data)"\s*:\s*(?:\[\s*)?)?\{(?:\s*"\w{1,40}"\s*:\s*'
    rb'(?:"[^"\\]{0,80}"|\{[^{}]{0,200}\}|[0-9]{1,9}|null)\s*,){0,6}'
    rb'\s*(?:"data"\s*:\s*\{\s*)?"(text|text/plain)"\s*:\s*(.*)$',
    re.DOTALL,
)
"""An output that is opened on one line, or its data, with the keys before that of its text."""

_STRINGS = re.compile(_STRING)

_NUMBER = re.compile(r"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?")

_ENVELOPE = re.compile(rb"\s*\{.*\}\s*,?\s*$", re.DOTALL)


def carrier(begin: bytes) -> Callable[[bytes], bytes] | None:
    """The function that takes carried lines out of a file that begins so; None where none are.

    It is called with one chunk of whole lines after the other.
    """
    head = begin[:2].lstrip(b"\xef\xbb\xbf \t\r\n") or begin[:64].strip()
    if not head.startswith(b"{"):
        return None
    lines = begin.split(b"\n", SEEN + 10)[: SEEN + 10]
    if any(b'"cells"' in line for line in lines) and b'"cell_type"' in begin:
        return _Notebook().carried
    some = [line for line in lines[:-1] or lines if line.strip()][:SEEN]
    held = [_held(line) for line in some]
    if held and all(held) and any(_is_envelope(*each) for each in held if each):
        return lambda data: _each(data, _unwrapped)
    return None


def _each(data: bytes, work: Callable[[bytes], bytes]) -> bytes:
    return b"\n".join([work(line) for line in data.split(b"\n")])


def _held(line: bytes) -> tuple[str, dict[str, Any]] | None:
    """A JSON object that has a line of a log under one of its keys: that key, and all it holds."""
    if not _ENVELOPE.match(line):
        return None
    try:
        held = json.loads(line.decode("utf-8", "replace").strip().rstrip(","))
    except (ValueError, RecursionError):
        return None
    inner = next((held[name] for name in PAYLOADS if isinstance(held.get(name), dict)), None)
    if inner is not None:
        held = {name: each for name, each in held.items() if name not in PAYLOADS} | inner
    key = next((key for key in MESSAGES if isinstance(held.get(key), str)), None)
    return (key, held) if key else None


def _is_envelope(key: str, held: dict[str, Any]) -> bool:
    """Whether the line under a key is all that an object holds, and no number stands beside it.

    `{"msg": "train", "iter": 10, "loss": 9.5}` is a record itself.
    """
    others = (name for name in held if name != key and _numbers(held[name]))
    return all(BESIDE.fullmatch(name) for name in others)


def _numbers(value: object) -> bool:
    """Whether there is a number in a value of JSON."""
    if isinstance(value, dict):
        return any(map(_numbers, value.values()))
    if isinstance(value, list):
        return any(map(_numbers, value))
    number = isinstance(value, str) and _NUMBER.fullmatch(value) is not None
    return number or (isinstance(value, int | float) and not isinstance(value, bool))


def _unwrapped(line: bytes) -> bytes:
    """The line that an object of JSON holds."""
    held = _held(line)
    if held is None or not _is_envelope(*held):
        return line
    key = re.escape(json.dumps(held[0]).encode())
    found = re.search(key + rb"\s*:\s*" + _STRING, line)
    return _placed(line, [(found.start(1), found[1])]) if found else line


def _placed(line: bytes, strings: list[tuple[int, bytes]]) -> bytes:
    """The strings of a line behind blanks, one after a carriage return to the other."""
    if not strings:
        return line
    texts = [_decoded(inner) for _, inner in strings]
    end = b"\r" if line.endswith(b"\r") else b""
    return b" " * strings[0][0] + b"\r".join(texts) + end


def _decoded(inner: bytes) -> bytes:
    """A string of JSON without its last line end, other line ends as carriage returns."""
    try:
        text = json.loads(b'"%s"' % inner, strict=False)
    except ValueError:
        return inner
    lines = str(text).replace("\r\n", "\n").removesuffix("\n").replace("\n", "\r")
    return lines.encode("utf-8", "replace")


@dataclass
class _Notebook:
    """Where the lines so far end: inside printed output, or elsewhere."""

    inside: bool = False

    def carried(self, data: bytes) -> bytes:
        """The lines with what was printed in the place of its strings."""
        if len(data.split(b"\n", 2)) < 3 and not self.inside:
            whole = self._whole(data)
            if whole is not None:
                return whole
        return _each(data, self._line)

    def _line(self, line: bytes) -> bytes:
        key = _OPENED.match(line) or _KEY.match(line)
        if key is None and not self.inside:
            return line
        rest, at = line, 0
        if key:
            self.inside, rest, at = key[1] in KEYS, key[2], key.start(2)
        if not self.inside:
            return line
        strings = [(at + found.start(1), found[1]) for found in _STRINGS.finditer(rest)]
        bare = _STRINGS.sub(b"", rest).strip()
        # a list goes on below; a string alone, or the end of a list, ends the output
        self.inside = bare.startswith(b"[") if key else True
        if bare.rstrip(b",}").endswith(b"]"):
            self.inside = False
        return _placed(line, strings)

    def _whole(self, data: bytes) -> bytes | None:
        """A notebook that stands on one line: what was written and printed, on that line."""
        try:
            cells = json.loads(data.decode("utf-8", "replace"))["cells"]
            texts = [text for cell in cells for text in _texts(cell)]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        text = "\r".join(each.replace("\r\n", "\n").strip("\n") for each in texts if each)
        end = b"\n" if data.endswith(b"\n") else b""
        return text.replace("\n", "\r").encode("utf-8", "replace") + end


def _texts(cell: dict[str, Any]) -> Iterator[str]:
    """Texts that a cell shows: what was written, or what was printed."""
    outputs = cell.get("outputs", ())
    held = [each.get("text") or each.get("data", {}).get("text/plain") or "" for each in outputs]
    if cell.get("cell_type") == "markdown":
        held = [cell.get("source") or "", "\n"]
    for text in held:
        yield "".join(text) if isinstance(text, list) else str(text)
